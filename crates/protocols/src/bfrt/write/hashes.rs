//! Updates of hashes that can be set at run time.

use super::{Verb, Writer};
use crate::bfrt::bfrt_json::field;
use crate::bfrt::crc;
use crate::bfrt::fields::{Datum, Row, is_set, number_in, row};
use crate::bfrt::schema::{Field, Table};
use crate::failure::Failure;
use crate::wire::bfrt_proto as bfrt;
use crate::wire::bfrt_proto::data_field::Value as ProtoValue;
use sojourn_control::{HashRead, Operation, Query, Reply};
use sojourn_externs::hash_setting::{HashFunction, HashPart, HashSetting};

impl Writer<'_> {
    /// Sets the selection of a hash's inputs.
    pub(super) fn hash_inputs(
        &mut self,
        table: &Table,
        verb: Verb,
        entry: &bfrt::TableEntry,
    ) -> Result<(), Failure> {
        let inputs = match verb {
            Verb::Delete | Verb::Reset => None,
            _ => {
                let fields: Vec<&Field> = table.fields.iter().collect();
                let data = entry.data.as_ref().map_or(&[][..], |data| &data.fields);
                let parts = parts(&row(&table.name, &fields, data)?, table)?;
                // As in the vendor's driver, an empty list restores the program's.
                (!parts.is_empty()).then_some(parts)
            }
        };
        let before = self.hash_now(table)?.setting;
        self.set_hash(table, HashSetting { inputs, seed: None, ..before })
    }

    /// Updates the algorithm of a hash.
    pub(super) fn hash_algorithm(
        &mut self,
        table: &Table,
        verb: Verb,
        entry: &bfrt::TableEntry,
    ) -> Result<(), Failure> {
        let before = self.hash_now(table)?.setting;
        if matches!(verb, Verb::Delete | Verb::Reset) {
            let inputs = before.inputs;
            return self.set_hash(table, HashSetting { inputs, ..HashSetting::default() });
        }
        let mut data = entry.data.clone().unwrap_or_default();
        let action = match data.action_id {
            0 => None,
            id => Some(table.action(id)?),
        };
        if action.is_some_and(|action| action.id == field::HASH_PREDEFINED) {
            for given in &mut data.fields {
                // The driver ignores the case of names.
                if let (field::HASH_NAME, Some(ProtoValue::StrVal(name))) =
                    (given.field_id, &mut given.value)
                {
                    name.make_ascii_uppercase();
                }
            }
        }
        let own = action.map_or(&[][..], |action| &action.fields);
        let fields: Vec<&Field> = own.iter().chain(&table.fields).collect();
        let row = row(&table.name, &fields, &data.fields)?;
        let seed = number_in(&row, field::HASH_SEED);
        let function = match action {
            Some(action) => Some(function(table, action.id, &row)?),
            None => None,
        };
        let rotate = number_in(&row, field::HASH_ROTATE);
        let seed_alone = function.is_none() && rotate.is_none();
        let setting = HashSetting {
            rotate: match rotate {
                Some(by) => u32::try_from(by).map_err(Failure::invalid)?,
                None if seed_alone => before.rotate,
                None => 0,
            },
            algorithm: function.or(before.algorithm),
            inputs: before.inputs,
            seed: seed.or(before.seed.filter(|_| seed_alone)),
        };
        self.set_hash(table, setting)
    }

    fn hash_now(&mut self, table: &Table) -> Result<HashRead, Failure> {
        let query = Query::Hash { name: table.inner.clone(), inputs: Vec::new() };
        match self.batch.read(&query)? {
            Reply::Hash(read) => Ok(read),
            _ => Err(Failure::invalid(format!("`{}` is of no hash", table.name))),
        }
    }

    fn set_hash(&mut self, table: &Table, setting: HashSetting) -> Result<(), Failure> {
        let name = table.inner.clone();
        self.apply(&Operation::SetHash { name, setting }).map(drop)
    }
}

/// Parts of inputs, in the order of the inputs.
fn parts(row: &Row, table: &Table) -> Result<Vec<HashPart>, Failure> {
    let mut found = Vec::new();
    for (input, known) in table.fields.iter().enumerate() {
        let Some(Datum::Rows(parts)) = row.get(&known.id) else { continue };
        for part in parts {
            let number = |id: u32| match number_in(part, id) {
                Some(value) => u32::try_from(value).map(Some).map_err(Failure::invalid),
                None => Ok(None),
            };
            let missing =
                || Failure::invalid(format!("`{}` of `{}`: no `order`", known.name, table.name));
            found.push(HashPart {
                input,
                start: number(field::HASH_START)?.unwrap_or(0),
                length: number(field::HASH_LENGTH)?.unwrap_or(u32::MAX),
                order: number(field::HASH_ORDER)?.ok_or_else(missing)?,
            });
        }
    }
    Ok(found)
}

/// Hash function of an action.
fn function(table: &Table, action: u32, row: &Row) -> Result<HashFunction, Failure> {
    let extended = is_set(row, field::HASH_EXTEND).unwrap_or(false);
    if action == field::HASH_PREDEFINED {
        let name = match row.get(&field::HASH_NAME) {
            Some(Datum::Text(name)) => name.as_str(),
            _ => crc::RANDOM,
        };
        let unknown = || Failure::invalid(format!("`{}`: no algorithm `{name}`", table.name));
        return crc::named(name, extended).ok_or_else(unknown);
    }
    let number = |id: u32| number_in(row, id).unwrap_or(0);
    let width = number_in(row, field::HASH_WIDTH);
    let missing = || Failure::invalid(format!("`{}`: no `hash_bit_width`", table.name));
    Ok(HashFunction::Crc {
        width: u32::try_from(width.ok_or_else(missing)?).map_err(Failure::invalid)?,
        coeff: number(field::HASH_POLYNOMIAL),
        reversed: is_set(row, field::HASH_REVERSE).unwrap_or(false),
        init: number(field::HASH_INIT),
        xor: number(field::HASH_FINAL_XOR),
        extended,
    })
}

/// Readable form of a hash's algorithm: the action and its data.
pub fn algorithm_read(read: &HashRead) -> (u32, Row) {
    let mut row = Row::from([
        (field::HASH_ROTATE, Datum::number(read.setting.rotate)),
        // The table has 32 bits for the seed.
        (field::HASH_SEED, Datum::Number(&read.seed.0 & num_bigint::BigUint::from(u32::MAX))),
        (field::HASH_MSB, Datum::Bool(false)),
        (field::HASH_EXTEND, Datum::Bool(false)),
    ]);
    let Some(function) = &read.function else { return (0, row) };
    if let HashFunction::Crc { extended, .. } = function {
        row.insert(field::HASH_EXTEND, Datum::Bool(*extended));
    }
    if let Some(name) = crc::name(function) {
        row.insert(field::HASH_NAME, Datum::text(name));
        return (field::HASH_PREDEFINED, row);
    }
    if let HashFunction::Crc { width, coeff, reversed, init, xor, .. } = function {
        row.insert(field::HASH_REVERSE, Datum::Bool(*reversed));
        row.insert(field::HASH_POLYNOMIAL, Datum::number(*coeff));
        row.insert(field::HASH_INIT, Datum::number(*init));
        row.insert(field::HASH_FINAL_XOR, Datum::number(*xor));
        row.insert(field::HASH_WIDTH, Datum::number(*width));
    }
    (field::HASH_USER_DEFINED, row)
}

/// Readable form of the selection of a hash's inputs: all bits, unless some were chosen.
pub fn inputs_read(table: &Table, read: &HashRead) -> Row {
    let width = |input: usize| read.inputs.get(input).copied().unwrap_or(0);
    let part = |part: &HashPart| {
        Row::from([
            (field::HASH_START, Datum::number(part.start)),
            (field::HASH_LENGTH, Datum::number(part.length.min(width(part.input) - part.start))),
            (field::HASH_ORDER, Datum::number(part.order)),
        ])
    };
    let whole = |input: usize, order: u32| HashPart { input, start: 0, length: u32::MAX, order };
    let of = |input: usize| match &read.setting.inputs {
        None => vec![part(&whole(input, input as u32 + 1))],
        Some(parts) => {
            let mine = parts.iter().filter(|known| known.input == input).map(part);
            let mine: Vec<Row> = mine.collect();
            if mine.is_empty() { vec![part(&whole(input, 0))] } else { mine }
        }
    };
    let fields = table.fields.iter().enumerate();
    fields.map(|(input, known)| (known.id, Datum::Rows(of(input)))).collect()
}

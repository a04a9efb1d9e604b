//! Conversion of BfRt's keys and data to values, validated against their table, and back.

use super::bfrt_json::field::MATCH_PRIORITY;
use super::schema::{Field, Key, Match, Table, Type};
use crate::failure::Failure;
use crate::wire::bfrt_proto as bfrt;
use crate::wire::bfrt_proto::data_field::{self as data, Value as ProtoValue};
use crate::wire::bfrt_proto::key_field::{self, MatchType};
use num_bigint::BigUint;
use sojourn_control::{MatchValue, Matched, NamedValues, Number};
use std::collections::BTreeMap;

/// The value of a field.
#[derive(Clone, Debug, PartialEq)]
pub enum Datum {
    /// A number.
    Number(BigUint),
    /// A boolean.
    Bool(bool),
    /// A number with a fraction.
    Float(f32),
    /// A text.
    Text(String),
    /// Texts.
    Texts(Vec<String>),
    /// Numbers.
    Numbers(Vec<u32>),
    /// Booleans.
    Bools(Vec<bool>),
    /// Rows.
    Rows(Vec<Row>),
    /// A number for each pipe.
    Each(Vec<BigUint>),
}

impl Datum {
    /// A small number.
    pub fn number(value: impl Into<BigUint>) -> Datum {
        Datum::Number(value.into())
    }

    /// A text.
    pub fn text(value: &str) -> Datum {
        Datum::Text(value.to_owned())
    }
}

/// Values by field id.
pub type Row = BTreeMap<u32, Datum>;

/// Decodes a byte string of exactly its field's length.
fn number(bytes: &[u8], width: u32, what: &str) -> Result<BigUint, Failure> {
    let wanted = width.div_ceil(8) as usize;
    if bytes.len() != wanted {
        let why = format!("{what}: {wanted} bytes make its value, not {}", bytes.len());
        return Err(Failure::invalid(why));
    }
    let value = BigUint::from_bytes_be(bytes);
    if value.bits() > u64::from(width) {
        return Err(Failure::invalid(format!("{what}: {value:#x} does not fit into {width} bits")));
    }
    Ok(value)
}

/// Encodes a number as a byte string of its field's length.
fn stream(value: &BigUint, width: u32) -> Vec<u8> {
    let (digits, wanted) = (value.to_bytes_be(), width.div_ceil(8) as usize);
    let mut bytes = vec![0; wanted.saturating_sub(digits.len())];
    bytes.extend_from_slice(&digits[digits.len().saturating_sub(wanted)..]);
    bytes
}

fn width(ty: &Type) -> u32 {
    match ty {
        Type::Bits(width) => *width,
        Type::Bool => 1,
        Type::Float | Type::Text(_) | Type::Rows(_) => 0,
    }
}

fn ones(width: u32) -> BigUint {
    (BigUint::from(1_u8) << width) - 1_u8
}

/// Key of a match table: a missing element matches anything; a missing exact one is 0, as in the
/// vendor's driver.
///
/// # Errors
/// It does not fit the table.
pub fn matched(table: &Table, given: &bfrt::TableKey) -> Result<Matched, Failure> {
    let mut found = Matched::default();
    for field in &given.fields {
        let key = find_key(table, field)?;
        if key.id == MATCH_PRIORITY {
            found.priority = small(&exact(table, key, field)?);
            continue;
        }
        if found.matches.contains(&key.inner) {
            return Err(Failure::invalid(format!("key `{}` of `{}` twice", key.name, table.name)));
        }
        if let Some(value) = one(table, key, field)? {
            found.matches.insert(key.inner.clone(), value);
        }
    }
    let exact = table.keys.iter().filter(|key| key.matched == Match::Exact);
    for key in exact.filter(|key| key.id != MATCH_PRIORITY) {
        if !found.matches.contains(&key.inner) {
            let zero = MatchValue::Exact(Number(BigUint::ZERO));
            found.matches.insert(key.inner.clone(), zero);
        }
    }
    Ok(found)
}

/// Masks of a table's key elements by number; an element without a mask counts in full.
///
/// # Errors
/// They do not fit the table.
pub fn masks(table: &Table, given: &bfrt::DynKeyMask) -> Result<BTreeMap<u32, BigUint>, Failure> {
    let mut found: BTreeMap<u32, BigUint> = full_masks(table);
    for field in &given.fields {
        let key = table.keys.iter().find(|key| key.id == field.field_id);
        let key = key.ok_or_else(|| {
            Failure::invalid(format!("`{}` has no key {}", table.name, field.field_id))
        })?;
        let what = format!("the mask of key `{}` of `{}`", key.name, table.name);
        found.insert(key.id, number(&field.mask, width(&key.ty), &what)?);
    }
    Ok(found)
}

/// All bits of all key elements of a table.
pub fn full_masks(table: &Table) -> BTreeMap<u32, BigUint> {
    table.keys.iter().map(|key| (key.id, ones(width(&key.ty)))).collect()
}

/// Message form of key masks.
pub fn masks_read(table: &Table, masks: &BTreeMap<u32, BigUint>) -> bfrt::DynKeyMask {
    let field = |key: &Key| {
        let mask = masks.get(&key.id)?;
        Some(bfrt::KeyFieldMask { field_id: key.id, mask: stream(mask, width(&key.ty)) })
    };
    bfrt::DynKeyMask { fields: table.keys.iter().filter_map(field).collect() }
}

/// A member of a value set: a match for each column.
///
/// # Errors
/// It does not fit the value set.
pub fn columns(table: &Table, given: &bfrt::TableKey) -> Result<Vec<MatchValue>, Failure> {
    let mut found = BTreeMap::new();
    for field in &given.fields {
        let key = find_key(table, field)?;
        found.insert(key.id, one(table, key, field)?);
    }
    let any = || MatchValue::Ternary { value: Number(BigUint::ZERO), mask: Number(BigUint::ZERO) };
    let column = |key: &Key| found.remove(&key.id).flatten().unwrap_or_else(any);
    Ok(table.keys.iter().map(column).collect())
}

/// Numbers of a key whose elements are all exact; a text counts as its place among the choices.
///
/// # Errors
/// It does not fit the table, or is incomplete.
pub fn exact_key(table: &Table, given: &bfrt::TableKey) -> Result<Vec<u64>, Failure> {
    table
        .keys
        .iter()
        .map(|key| {
            let field = given.fields.iter().find(|field| field.field_id == key.id);
            let missing =
                || Failure::invalid(format!("key `{}` of `{}` is missing", key.name, table.name));
            let value = exact(table, key, field.ok_or_else(missing)?)?;
            Ok(value.iter_u64_digits().next().unwrap_or(0))
        })
        .collect()
}

/// Numbers of a key whose elements are all exact; a missing one is 0.
///
/// # Errors
/// It does not fit the table.
pub fn numbers_of_key(table: &Table, given: &bfrt::TableKey) -> Result<Vec<Number>, Failure> {
    given.fields.iter().try_for_each(|field| find_key(table, field).map(drop))?;
    let number = |key: &Key| {
        let field = given.fields.iter().find(|field| field.field_id == key.id);
        field.map_or(Ok(Number::default()), |field| exact(table, key, field).map(Number))
    };
    table.keys.iter().map(number).collect()
}

fn find_key<'t>(table: &'t Table, field: &bfrt::KeyField) -> Result<&'t Key, Failure> {
    let key = table.keys.iter().find(|key| key.id == field.field_id);
    key.ok_or_else(|| Failure::invalid(format!("`{}` has no key {}", table.name, field.field_id)))
}

fn exact(table: &Table, key: &Key, field: &bfrt::KeyField) -> Result<BigUint, Failure> {
    let what = || format!("key `{}` of `{}`", key.name, table.name);
    match (&field.match_type, &key.ty) {
        (Some(MatchType::Exact(exact)), Type::Text(choices)) => {
            let place = choices.iter().position(|choice| choice.as_bytes() == exact.value);
            place.map(BigUint::from).ok_or_else(|| {
                let given = String::from_utf8_lossy(&exact.value);
                let why = format!("{} is one of {}, not `{given}`", what(), choices.join(", "));
                Failure::invalid(why)
            })
        }
        (Some(MatchType::Exact(exact)), ty) => number(&exact.value, width(ty), &what()),
        _ => Err(Failure::invalid(format!("{} is exact, and this is no such match", what()))),
    }
}

/// Match value of one key element; `None` for any value.
fn one(table: &Table, key: &Key, field: &bfrt::KeyField) -> Result<Option<MatchValue>, Failure> {
    let what = || format!("key `{}` of `{}`", key.name, table.name);
    let width = width(&key.ty);
    let read = |bytes: &[u8]| number(bytes, width, &what());
    Ok(match (key.matched, &field.match_type) {
        (Match::Exact, Some(MatchType::Exact(exact))) => {
            Some(MatchValue::Exact(Number(read(&exact.value)?)))
        }
        (Match::Ternary, Some(MatchType::Ternary(ternary))) => {
            let (value, mask) = (read(&ternary.value)?, read(&ternary.mask)?);
            let value = Number(value & &mask);
            (mask != BigUint::ZERO).then_some(MatchValue::Ternary { value, mask: Number(mask) })
        }
        (Match::Lpm, Some(MatchType::Lpm(lpm))) => {
            let value = read(&lpm.value)?;
            let length = u32::try_from(lpm.prefix_len).ok().filter(|length| *length <= width);
            let wrong = || {
                let given = lpm.prefix_len;
                Failure::invalid(format!("{}: a prefix has 0 to {width} bits, not {given}", what()))
            };
            let prefix = length.ok_or_else(wrong)?;
            let mask = ones(width) ^ ones(width - prefix);
            let value = Number(value & mask);
            (prefix > 0).then_some(MatchValue::Prefix { value, prefix })
        }
        (Match::Range, Some(MatchType::Range(range))) => {
            let (low, high) = (read(&range.low)?, read(&range.high)?);
            if low > high {
                return Err(Failure::invalid(format!("{}: the range is empty", what())));
            }
            let any = low == BigUint::ZERO && high == ones(width);
            (!any).then_some(MatchValue::Range { low: Number(low), high: Number(high) })
        }
        (Match::Optional, Some(MatchType::Optional(optional))) => {
            let value = if optional.is_valid { Some(read(&optional.value)?) } else { None };
            value.map(|value| MatchValue::Exact(Number(value)))
        }
        (kind, _) => {
            let kind = format!("{kind:?}").to_lowercase();
            return Err(Failure::invalid(format!(
                "{} is {kind}, and this is no such match",
                what()
            )));
        }
    })
}

/// Message form of an entry's key.
pub fn key_read(table: &Table, matches: &NamedValues<MatchValue>, priority: u32) -> bfrt::TableKey {
    let field = |key: &Key| {
        let bits = width(&key.ty);
        let bytes = |value: &BigUint| stream(value, bits);
        if key.id == MATCH_PRIORITY {
            let value = bytes(&priority.into());
            return keyed(key, MatchType::Exact(key_field::Exact { value }));
        }
        let given = matches.get(&key.inner);
        let found = match (key.matched, given) {
            // Clients may have restricted the bits of the key that count.
            (Match::Exact, Some(MatchValue::Exact(value) | MatchValue::Ternary { value, .. })) => {
                exactly(bytes(&value.0))
            }
            (Match::Exact, _) => exactly(bytes(&BigUint::ZERO)),
            (Match::Ternary, given) => {
                let (value, mask) = masked(given, bits);
                ternary(bytes(&value), bytes(&mask))
            }
            (Match::Lpm, Some(MatchValue::Prefix { value, prefix })) => {
                lpm(bytes(&value.0), *prefix)
            }
            (Match::Lpm, Some(MatchValue::Exact(value))) => lpm(bytes(&value.0), bits),
            (Match::Lpm, _) => lpm(bytes(&BigUint::ZERO), 0),
            (Match::Range, Some(MatchValue::Range { low, high })) => {
                range(bytes(&low.0), bytes(&high.0))
            }
            (Match::Range, Some(MatchValue::Exact(value))) => {
                range(bytes(&value.0), bytes(&value.0))
            }
            (Match::Range, _) => range(bytes(&BigUint::ZERO), bytes(&ones(bits))),
            (Match::Optional, given) => {
                let value = match given {
                    Some(MatchValue::Exact(value)) => Some(bytes(&value.0)),
                    _ => None,
                };
                let (is_valid, value) = (value.is_some(), value.unwrap_or_default());
                MatchType::Optional(key_field::Optional { value, is_valid })
            }
        };
        keyed(key, found)
    };
    bfrt::TableKey { fields: table.keys.iter().map(field).collect() }
}

/// Message form of a row's numeric key.
pub fn exact_key_read(table: &Table, numbers: &[u64]) -> bfrt::TableKey {
    let field = |(key, number): (&Key, &u64)| {
        let value = match &key.ty {
            Type::Text(choices) => {
                choices.get(*number as usize).map_or(Vec::new(), |choice| choice.clone().into())
            }
            ty => stream(&BigUint::from(*number), width(ty)),
        };
        keyed(key, exactly(value))
    };
    bfrt::TableKey { fields: table.keys.iter().zip(numbers).map(field).collect() }
}

/// Message form of a value set's member.
pub fn columns_read(table: &Table, member: &[MatchValue]) -> bfrt::TableKey {
    let field = |(key, value): (&Key, &MatchValue)| {
        let bits = width(&key.ty);
        let (value, mask) = masked(Some(value), bits);
        keyed(key, ternary(stream(&value, bits), stream(&mask, bits)))
    };
    bfrt::TableKey { fields: table.keys.iter().zip(member).map(field).collect() }
}

fn keyed(key: &Key, found: MatchType) -> bfrt::KeyField {
    bfrt::KeyField { field_id: key.id, match_type: Some(found) }
}

fn exactly(value: Vec<u8>) -> MatchType {
    MatchType::Exact(key_field::Exact { value })
}

fn ternary(value: Vec<u8>, mask: Vec<u8>) -> MatchType {
    MatchType::Ternary(key_field::Ternary { value, mask })
}

fn lpm(value: Vec<u8>, prefix: u32) -> MatchType {
    MatchType::Lpm(key_field::Lpm { value, prefix_len: prefix as i32 })
}

fn range(low: Vec<u8>, high: Vec<u8>) -> MatchType {
    MatchType::Range(key_field::Range { low, high })
}

/// A match as value and mask.
fn masked(given: Option<&MatchValue>, width: u32) -> (BigUint, BigUint) {
    match given {
        Some(MatchValue::Exact(value)) => (value.0.clone(), ones(width)),
        Some(MatchValue::Ternary { value, mask }) => (value.0.clone(), mask.0.clone()),
        Some(MatchValue::Prefix { value, prefix }) => {
            (value.0.clone(), ones(width) ^ ones(width.saturating_sub(*prefix)))
        }
        _ => (BigUint::ZERO, BigUint::ZERO),
    }
}

/// Data of an entry: values of `fields`, each at most once.
///
/// # Errors
/// They do not fit the table, or not their types.
pub fn row<'g>(
    of: &str,
    fields: &[&Field],
    given: impl IntoIterator<Item = &'g bfrt::DataField>,
) -> Result<Row, Failure> {
    let mut row = Row::new();
    for datum in given {
        let field = fields.iter().find(|field| field.id == datum.field_id);
        let field = field.ok_or_else(|| {
            Failure::invalid(format!("`{of}` has no data field {}", datum.field_id))
        })?;
        if field.read_only {
            let why = format!("field `{}` of `{of}` can only be read", field.name);
            return Err(Failure::invalid(why));
        }
        let value = value(of, field, datum.value.as_ref())?;
        if row.insert(field.id, value).is_some() {
            return Err(Failure::invalid(format!("field `{}` of `{of}` twice", field.name)));
        }
    }
    Ok(row)
}

fn value(of: &str, field: &Field, given: Option<&ProtoValue>) -> Result<Datum, Failure> {
    let what = || format!("field `{}` of `{of}`", field.name);
    Ok(match (&field.ty, field.repeated, given) {
        (Type::Bits(width), false, Some(ProtoValue::Stream(bytes))) => {
            Datum::Number(number(bytes, *width, &what())?)
        }
        (Type::Bits(width), true, Some(ProtoValue::IntArrVal(array))) => {
            let fits = |value: &u32| *width >= 32 || value >> *width == 0;
            if let Some(wide) = array.val.iter().find(|value| !fits(value)) {
                let why = format!("{}: {wide} does not fit into {width} bits", what());
                return Err(Failure::invalid(why));
            }
            Datum::Numbers(array.val.clone())
        }
        (Type::Rows(fields), _, given) => {
            let fields: Vec<&Field> = fields.iter().collect();
            let rows = match given {
                Some(ProtoValue::ContainerArrVal(array)) => array.container.iter(),
                None => [].iter(),
                Some(_) => {
                    let why = format!("{} is made of fields of its own", what());
                    return Err(Failure::invalid(why));
                }
            };
            let rows = rows.map(|container| {
                // A field without a value stays unchanged.
                let given = container.val.iter().filter(|datum| datum.value.is_some());
                row(&field.name, &fields, given)
            });
            Datum::Rows(rows.collect::<Result<_, _>>()?)
        }
        // Bytes are stored unchanged.
        (Type::Bits(8), true, Some(ProtoValue::Stream(bytes))) => {
            Datum::Numbers(bytes.iter().map(|byte| u32::from(*byte)).collect())
        }
        // An empty list is absent on the wire.
        (Type::Bits(_), true, None) => Datum::Numbers(Vec::new()),
        (Type::Bool, true, None) => Datum::Bools(Vec::new()),
        (Type::Bool, false, Some(ProtoValue::BoolVal(value))) => Datum::Bool(*value),
        (Type::Float, false, Some(ProtoValue::FloatVal(value))) => Datum::Float(*value),
        (Type::Bool, true, Some(ProtoValue::BoolArrVal(array))) => Datum::Bools(array.val.clone()),
        (Type::Text(choices), false, Some(ProtoValue::StrVal(text))) => {
            if !choices.is_empty() && !choices.contains(text) {
                let why = format!("{} is one of {}, not `{text}`", what(), choices.join(", "));
                return Err(Failure::invalid(why));
            }
            Datum::Text(text.clone())
        }
        (ty, repeated, _) => {
            let kind = match ty {
                Type::Bits(width) => format!("a number of {width} bits"),
                Type::Bool => "a boolean".to_owned(),
                Type::Float => "a number with a fraction".to_owned(),
                Type::Text(_) => "a text".to_owned(),
                Type::Rows(_) => "made of fields".to_owned(),
            };
            let several = if repeated { ", several of them" } else { "" };
            return Err(Failure::invalid(format!("{} is {kind}{several}", what())));
        }
    })
}

/// Message form of a field; values per pipe become one field for each.
pub fn field_read(field: &Field, datum: &Datum) -> Vec<bfrt::DataField> {
    let made = |value| bfrt::DataField { field_id: field.id, value: Some(value) };
    let bits = width(&field.ty);
    let value = match datum {
        Datum::Each(all) => {
            return all.iter().map(|value| made(ProtoValue::Stream(stream(value, bits)))).collect();
        }
        Datum::Number(value) => ProtoValue::Stream(stream(value, bits)),
        Datum::Bool(value) => ProtoValue::BoolVal(*value),
        Datum::Float(value) => ProtoValue::FloatVal(*value),
        Datum::Text(text) => ProtoValue::StrVal(text.clone()),
        Datum::Texts(all) => ProtoValue::StrArrVal(data::StrArray { val: all.clone() }),
        Datum::Rows(rows) => {
            let Type::Rows(fields) = &field.ty else { return Vec::new() };
            let made =
                |row: &Row| data::container_array::Container { val: row_read(fields, row, &[]) };
            let container = rows.iter().map(made).collect();
            ProtoValue::ContainerArrVal(data::ContainerArray { container })
        }
        Datum::Numbers(all) => ProtoValue::IntArrVal(data::IntArray { val: all.clone() }),
        Datum::Bools(all) => ProtoValue::BoolArrVal(data::BoolArray { val: all.clone() }),
    };
    vec![made(value)]
}

/// Message form of the wanted fields; of all if `wanted` is empty.
pub fn row_read<'f>(
    fields: impl IntoIterator<Item = &'f Field>,
    row: &Row,
    wanted: &[u32],
) -> Vec<bfrt::DataField> {
    let shown = |field: &&Field| wanted.is_empty() || wanted.contains(&field.id);
    let read = |field: &Field| row.get(&field.id).map(|datum| field_read(field, datum));
    fields.into_iter().filter(shown).filter_map(read).flatten().collect()
}

/// A digest message: its fields from adjacent bits, zeros in front.
pub fn learned(fields: &[(u32, u32)], bytes: &[u8]) -> bfrt::TableData {
    let mut bits = BigUint::from_bytes_be(bytes);
    let mut found = Vec::with_capacity(fields.len());
    for (id, width) in fields.iter().rev() {
        let value = ProtoValue::Stream(stream(&(&bits & ones(*width)), *width));
        found.push(bfrt::DataField { field_id: *id, value: Some(value) });
        bits >>= *width;
    }
    found.reverse();
    bfrt::TableData { action_id: 0, fields: found }
}

/// Number in a field, if it has one; the lowest 64 bits of a larger one.
pub fn number_in(row: &Row, id: u32) -> Option<u64> {
    match row.get(&id) {
        Some(Datum::Number(value)) => Some(value.iter_u64_digits().next().unwrap_or(0)),
        _ => None,
    }
}

/// Numbers in a field.
pub fn numbers_in(row: &Row, id: u32) -> Vec<u32> {
    match row.get(&id) {
        Some(Datum::Numbers(all)) => all.clone(),
        _ => Vec::new(),
    }
}

/// Boolean in a field, if it is present.
pub fn is_set(row: &Row, id: u32) -> Option<bool> {
    match row.get(&id) {
        Some(Datum::Bool(value)) => Some(*value),
        _ => None,
    }
}

/// The low 32 bits of a number.
pub fn small(value: &BigUint) -> u32 {
    value.iter_u32_digits().next().unwrap_or(0)
}

//! Conversion of P4Runtime's matches and actions to control operations, and back.
//!
//! Every rule of the specification about a match or an action is checked here, so the result is
//! valid.

use super::bytes::{canonical, unsigned};
use super::schema::{Action, Field, Key, Kind, Schema, Table};
use super::store::Store;
use crate::failure::Failure;
use crate::wire::p4::v1 as p4;
use crate::wire::p4::v1::field_match::{self, FieldMatchType as ProtoMatch};
use num_bigint::BigUint;
use sojourn_control::{ActionCall, EntryRead, MatchValue, Matched, NamedValues, Number};
use std::collections::BTreeMap;

/// Match fields in the form of the operations.
pub type Matches = NamedValues<MatchValue>;

/// Decodes a value of a field.
///
/// # Errors
/// It does not fit the wire format, or the program.
pub fn value(bytes: &[u8], field: &Field, store: &mut Store) -> Result<BigUint, Failure> {
    let number = match &field.strings {
        Some(of) => {
            let text = std::str::from_utf8(bytes);
            let text = text.map_err(|_| Failure::invalid("this is no text in UTF-8"))?;
            store.number(of, text).into()
        }
        None => unsigned(bytes, field.width).map_err(Failure::invalid)?,
    };
    if number.bits() > u64::from(field.inside) {
        let why = format!("{number:#x} does not fit into the {} bits of the program", field.inside);
        return Err(Failure::invalid(why));
    }
    Ok(number)
}

/// Encodes a value of a field.
pub fn bytes(number: &BigUint, field: &Field, store: &Store) -> Vec<u8> {
    match &field.strings {
        Some(of) => store.string(of, number.iter_u32_digits().next().unwrap_or(0)).into_bytes(),
        None => canonical(number),
    }
}

fn all_ones(width: u32) -> BigUint {
    (BigUint::from(1_u8) << width) - 1_u8
}

/// The key elements of match fields, each at most once.
fn columns<'k>(
    keys: &'k [Key],
    given: &[p4::FieldMatch],
    of: &str,
) -> Result<Vec<&'k Key>, Failure> {
    let mut seen: Vec<&Key> = Vec::with_capacity(given.len());
    for field in given {
        let key = keys.iter().find(|key| key.id == field.field_id);
        let key = key.ok_or_else(|| {
            Failure::invalid(format!("`{of}` has no match field {}", field.field_id))
        })?;
        if seen.iter().any(|other| other.id == key.id) {
            return Err(Failure::invalid(format!("match field {} of `{of}` twice", key.id)));
        }
        seen.push(key);
    }
    Ok(seen)
}

fn one(key: &Key, given: &p4::FieldMatch, store: &mut Store) -> Result<MatchValue, Failure> {
    let wrong = |why: &str| Failure::invalid(format!("match field `{}`: {why}", key.name));
    let mut read = |bytes: &[u8]| {
        let number = value(bytes, &key.field, store);
        number
            .map_err(|error| Failure::invalid(format!("match field `{}`: {}", key.name, error.why)))
    };
    let width = key.field.inside;
    Ok(match (key.kind, given.field_match_type.as_ref()) {
        (Kind::Exact, Some(ProtoMatch::Exact(exact))) => {
            MatchValue::Exact(Number(read(&exact.value)?))
        }
        (Kind::Optional, Some(ProtoMatch::Optional(exact))) => {
            MatchValue::Exact(Number(read(&exact.value)?))
        }
        (Kind::Lpm, Some(ProtoMatch::Lpm(lpm))) => {
            let (value, length) = (read(&lpm.value)?, lpm.prefix_len);
            if length <= 0 || length as u32 > width {
                return Err(wrong(
                    "a prefix has 1 to all of the field's bits; leave it out for any",
                ));
            }
            let outside = width - length as u32;
            if value.trailing_zeros().is_some_and(|zeros| zeros < u64::from(outside)) {
                return Err(wrong("bits behind the prefix are not 0"));
            }
            MatchValue::Prefix { value: Number(value), prefix: length as u32 }
        }
        (Kind::Ternary, Some(ProtoMatch::Ternary(ternary))) => {
            let (value, mask) = (read(&ternary.value)?, read(&ternary.mask)?);
            if mask == BigUint::ZERO {
                return Err(wrong("a mask of 0 matches anything: leave it out"));
            }
            if &value & &mask != value {
                return Err(wrong("bits outside the mask are not 0"));
            }
            MatchValue::Ternary { value: Number(value), mask: Number(mask) }
        }
        (Kind::Range, Some(ProtoMatch::Range(range))) => {
            let (low, high) = (read(&range.low)?, read(&range.high)?);
            if low > high {
                return Err(wrong("the range is empty"));
            }
            if low == BigUint::ZERO && high == all_ones(width) {
                return Err(wrong("a range of all values matches anything: leave it out"));
            }
            MatchValue::Range { low: Number(low), high: Number(high) }
        }
        (kind, _) => {
            let kind = kind.as_str_name().to_lowercase();
            return Err(wrong(&format!("it is {kind}, and this is no such match")));
        }
    })
}

/// Match fields of an entry.
///
/// # Errors
/// They violate a rule.
pub fn matches(
    table: &Table,
    given: &[p4::FieldMatch],
    store: &mut Store,
) -> Result<Matches, Failure> {
    let columns = columns(&table.keys, given, &table.name)?;
    let mut found = Matches::default();
    for (key, field) in columns.iter().zip(given) {
        found.insert(key.name.clone(), one(key, field, store)?);
    }
    let exact = table.keys.iter().filter(|key| key.kind == Kind::Exact);
    for key in exact {
        if !found.contains(&key.name) {
            let why =
                format!("match field `{}` of `{}` is exact: give a value", key.name, table.name);
            return Err(Failure::invalid(why));
        }
    }
    Ok(found)
}

/// A member of a value set: a match for each column.
///
/// # Errors
/// It violates a rule.
pub fn columns_of(
    keys: &[Key],
    given: &[p4::FieldMatch],
    of: &str,
    store: &mut Store,
) -> Result<Vec<MatchValue>, Failure> {
    let columns = columns(keys, given, of)?;
    let mut found = BTreeMap::new();
    for (key, field) in columns.iter().zip(given) {
        found.insert(key.id, one(key, field, store)?);
    }
    let missing = |key: &Key| match key.kind {
        Kind::Exact => {
            Err(Failure::invalid(format!("column `{}` of `{of}` is exact: give a value", key.name)))
        }
        Kind::Range => Ok(MatchValue::Range {
            low: Number(BigUint::ZERO),
            high: Number(all_ones(key.field.inside)),
        }),
        _ => Ok(MatchValue::Ternary { value: Number(BigUint::ZERO), mask: Number(BigUint::ZERO) }),
    };
    keys.iter().map(|key| found.remove(&key.id).map_or_else(|| missing(key), Ok)).collect()
}

/// Match and priority of an entry.
///
/// # Errors
/// They violate a rule.
pub fn matched(
    table: &Table,
    given: &p4::TableEntry,
    store: &mut Store,
) -> Result<Matched, Failure> {
    let matches = matches(table, &given.r#match, store)?;
    let rank = match (table.prioritised, given.priority) {
        (true, 1..) => Some(given.priority),
        (false, 0) => None,
        (true, _) => {
            let why = format!("entries of `{}` need a priority of at least 1", table.name);
            return Err(Failure::invalid(why));
        }
        (false, _) => {
            let why = format!("entries of `{}` have no priority: it must be 0", table.name);
            return Err(Failure::invalid(why));
        }
    };
    Ok(Matched { matches, priority: 0, rank })
}

/// An action with its arguments.
///
/// # Errors
/// There is no such action, or the arguments do not fit its parameters.
pub fn call(schema: &Schema, given: &p4::Action, store: &mut Store) -> Result<ActionCall, Failure> {
    let unknown = || Failure::invalid(format!("there is no action {:#x}", given.action_id));
    let action = schema.actions.get(&given.action_id).ok_or_else(unknown)?;
    let mut args = NamedValues::default();
    for param in &given.params {
        let known = action.parameters.iter().find(|known| known.id == param.param_id);
        let known = known.ok_or_else(|| {
            let why = format!("action `{}` has no parameter {}", action.name, param.param_id);
            Failure::invalid(why)
        })?;
        let number = value(&param.value, &known.field, store).map_err(|error| {
            let why = format!("parameter `{}` of `{}`: {}", known.name, action.name, error.why);
            Failure::invalid(why)
        })?;
        if args.insert(known.name.clone(), Number(number)).is_some() {
            let why = format!("parameter `{}` of `{}` is given twice", known.name, action.name);
            return Err(Failure::invalid(why));
        }
    }
    if let Some(known) = action.parameters.iter().find(|known| !args.contains(&known.name)) {
        let why = format!("parameter `{}` of `{}` is missing", known.name, action.name);
        return Err(Failure::invalid(why));
    }
    Ok(ActionCall { action: action.name.clone(), args })
}

/// P4Runtime form of an action with its arguments.
pub fn called(
    schema: &Schema,
    name: &str,
    args: &NamedValues<Number>,
    store: &Store,
) -> Option<p4::Action> {
    let action: &Action = schema.actions.get(schema.action_ids.get(name)?)?;
    let param = |known: &super::schema::Parameter| {
        let number = args.get(&known.name).map(|number| &number.0);
        let number = number.cloned().unwrap_or_default();
        let value = bytes(&number, &known.field, store);
        p4::action::Param { param_id: known.id, value }
    };
    let params = action.parameters.iter().map(param).collect();
    Some(p4::Action { action_id: action.id, params })
}

/// P4Runtime form of an entry's match.
pub fn matches_read(table: &Table, read: &EntryRead, store: &Store) -> Vec<p4::FieldMatch> {
    let field = |key: &Key| {
        let given = read.entry.matches.get(&key.name)?;
        let bytes = |number: &Number| bytes(&number.0, &key.field, store);
        let found = match (key.kind, given) {
            (Kind::Exact, MatchValue::Exact(value)) => {
                ProtoMatch::Exact(field_match::Exact { value: bytes(value) })
            }
            (Kind::Optional, MatchValue::Exact(value)) => {
                ProtoMatch::Optional(field_match::Optional { value: bytes(value) })
            }
            (Kind::Lpm, MatchValue::Prefix { value, prefix }) => {
                ProtoMatch::Lpm(field_match::Lpm {
                    value: bytes(value),
                    prefix_len: *prefix as i32,
                })
            }
            (Kind::Lpm, MatchValue::Exact(value)) => ProtoMatch::Lpm(field_match::Lpm {
                value: bytes(value),
                prefix_len: key.field.inside as i32,
            }),
            (Kind::Ternary, MatchValue::Ternary { value, mask }) => {
                ProtoMatch::Ternary(field_match::Ternary { value: bytes(value), mask: bytes(mask) })
            }
            (Kind::Ternary, MatchValue::Exact(value)) => {
                ProtoMatch::Ternary(field_match::Ternary {
                    value: bytes(value),
                    mask: canonical(&all_ones(key.field.inside)),
                })
            }
            (Kind::Range, MatchValue::Range { low, high }) => {
                ProtoMatch::Range(field_match::Range { low: bytes(low), high: bytes(high) })
            }
            (Kind::Range, MatchValue::Exact(value)) => {
                ProtoMatch::Range(field_match::Range { low: bytes(value), high: bytes(value) })
            }
            _ => return None,
        };
        Some(p4::FieldMatch { field_id: key.id, field_match_type: Some(found) })
    };
    table.keys.iter().filter_map(field).collect()
}

//! STF statements that change tables, `add` and `setdefault`, as operations.
//!
//! The rules are those of p4c's bmv2 driver: a ternary value matches the written digits other than
//! `*`; a prefix value without a length matches the bits of its digits. In STF a higher priority
//! wins. A statement is already divided into words; reads no file.

use super::value_parser::{index, number};
use super::{ActionCall, ControlError, MatchValue, NamedValues, Number, Operation, TableEntry};
use crate::describe::{KeyDescription, ProgramDescription, TableDescription};
use num_bigint::BigUint;
use serde::Deserialize;

const HIGHEST_PRIORITY: u32 = 1_000_000;

/// One statement; key values and arguments are unparsed text.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "statement", rename_all = "lowercase", deny_unknown_fields)]
pub enum Statement {
    /// `add TABLE [PRIORITY] KEY:VALUE... ACTION(ARG:VALUE, ...)`
    Add {
        /// The table.
        table: String,
        /// The higher wins; 0 if absent.
        priority: Option<u32>,
        /// Key elements and their values.
        matches: Vec<(String, String)>,
        /// Action of the entry.
        call: Call,
    },
    /// `setdefault TABLE ACTION(ARG:VALUE, ...)`
    SetDefault {
        /// The table.
        table: String,
        /// Action of the default entry.
        call: Call,
    },
}

/// An action with its arguments.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Call {
    /// The action.
    pub action: String,
    /// Its arguments by name.
    pub args: Vec<(String, String)>,
}

fn refuse<T>(why: String) -> Result<T, ControlError> {
    Err(ControlError::Message(why))
}

impl Statement {
    /// Operation of the statement.
    ///
    /// # Errors
    /// Returns an error for an unknown name, or a value that does not fit.
    pub fn operation(&self, program: &ProgramDescription) -> Result<Operation, ControlError> {
        match self {
            Statement::Add { table, priority, matches: given, call } => {
                let table = program.table(table)?;
                let mut matches = NamedValues::default();
                for (name, text) in given {
                    let key = table.key(name)?;
                    if matches.contains(&key.name) {
                        let (key, table) = (&key.name, &table.name);
                        return refuse(format!("key {key} of table {table} is given twice"));
                    }
                    matches.insert(key.name.clone(), matched(key, text)?);
                }
                let priority = priority.unwrap_or(0);
                // Here as on bmv2 the lowest number wins.
                let Some(priority) = HIGHEST_PRIORITY.checked_sub(priority) else {
                    return refuse(format!("priority {priority} is above {HIGHEST_PRIORITY}"));
                };
                let ActionCall { action, args } = call.resolve(table)?;
                let action = Some(action);
                let entry = TableEntry { matches, action, args, priority, ..Default::default() };
                Ok(Operation::AddEntry { table: table.name.clone(), entry })
            }
            Statement::SetDefault { table, call } => {
                let table = program.table(table)?;
                Ok(Operation::SetDefault {
                    table: table.name.clone(),
                    call: call.resolve(table)?.into(),
                })
            }
        }
    }
}

impl Call {
    fn resolve(&self, table: &TableDescription) -> Result<ActionCall, ControlError> {
        let action = table.action(&self.action)?;
        let mut args = NamedValues::default();
        for (name, text) in &self.args {
            let width = action.parameter(name)?.width;
            if args.contains(name) {
                return refuse(format!("argument {name} of action {} is given twice", action.name));
            }
            let value = number(text, &format!("argument {name}"), Some(width))?;
            args.insert(name.clone(), value);
        }
        let missing = action.parameters.iter().filter(|one| !args.contains(&one.name));
        let missing = missing.map(|one| &*one.name).collect::<Vec<_>>().join(", ");
        if !missing.is_empty() {
            return refuse(format!("action {} needs {missing} as well", action.name));
        }
        Ok(ActionCall { action: action.name.clone(), args })
    }
}

/// Match value of a text, by the key element's match kind.
fn matched(key: &KeyDescription, text: &str) -> Result<MatchValue, ControlError> {
    let KeyDescription { name, match_kind: kind, width } = key;
    let what = format!("key {name}");
    let of_key = |text: &str| number(text, &what, Some(*width));
    if let Some((low, high)) = text.split_once("..") {
        if kind != "range" {
            return refuse(format!("{what} is {kind}, not range: write a value"));
        }
        let (low, high) = (of_key(low)?, of_key(high)?);
        if high.0 < low.0 {
            let why = format!("{what}: the range {text} is empty; write the lower end first");
            return refuse(why);
        }
        return Ok(MatchValue::Range { low, high });
    }
    if let Some((value, length)) = text.split_once('/') {
        if !matches!(&**kind, "lpm" | "ternary") {
            return refuse(format!("{what} is {kind}: it has no prefix length"));
        }
        let length = index(length, &format!("prefix length of {what}"), u64::MAX)?;
        if length > u64::from(*width) {
            return refuse(format!("{what} has {width} bits: prefix length {length} is too long"));
        }
        let value = of_key(&value.replace('*', "0"))?;
        return Ok(MatchValue::Prefix { value, prefix: length as u32 });
    }
    match &**kind {
        "ternary" => ternary(key, text),
        "lpm" => prefix(key, text),
        "range" => Ok(MatchValue::Range { low: of_key(text)?, high: of_key(text)? }),
        _ if text.contains('*') => {
            refuse(format!("{what} is {kind}: it has to have a whole value, not {text}"))
        }
        _ => Ok(MatchValue::Exact(of_key(text)?)),
    }
}

/// The digits behind `0x`, `0o` or `0b`, and the bits per digit.
fn digits(text: &str) -> Option<(&str, u32)> {
    let bits = match text.get(..2)? {
        "0x" | "0X" => 4,
        "0o" | "0O" => 3,
        "0b" | "0B" => 1,
        _ => return None,
    };
    Some((&text[2..], bits))
}

fn ternary(key: &KeyDescription, text: &str) -> Result<MatchValue, ControlError> {
    let of_key = |text: &str| number(text, &format!("key {}", key.name), Some(key.width));
    let full = (BigUint::from(1u8) << key.width) - 1u8;
    let Some((digits, bits)) = digits(text) else {
        return Ok(MatchValue::Ternary { value: of_key(text)?, mask: Number(full) });
    };
    let counts = |digit| BigUint::from(if digit == '*' { 0u8 } else { (1 << bits) - 1 });
    let mask = digits.chars().fold(BigUint::ZERO, |mask, digit| (mask << bits) | counts(digit));
    // Leading digits may exceed the key's width: three nibbles for nine bits.
    Ok(MatchValue::Ternary { value: of_key(&text.replace('*', "0"))?, mask: Number(mask & full) })
}

fn prefix(key: &KeyDescription, text: &str) -> Result<MatchValue, ControlError> {
    let what = format!("key {}", key.name);
    let value = number(&text.replace('*', "0"), &what, Some(key.width))?;
    let prefix = match digits(text) {
        None => key.width,
        Some((digits, bits)) => {
            let counted = digits.trim_end_matches('*');
            if counted.contains('*') {
                return refuse(format!(
                    "{what} is lpm: * stands only at the end, not as in {text}"
                ));
            }
            (counted.len() as u32).saturating_mul(bits).min(key.width)
        }
    };
    Ok(MatchValue::Prefix { value, prefix })
}

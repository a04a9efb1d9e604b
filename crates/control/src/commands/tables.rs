//! Commands about tables: entries, default actions, entries that lead to members and groups.

use super::super::value_parser::{handle, index, number};
use super::super::{
    ActionCall, ControlError, MatchValue, NamedValues, Number, Operation, TableEntry, Which,
};
use super::session::{CommandError, Outcome, Session, first, misfit, one, these};
use crate::describe::{ActionDescription, KeyDescription, TableDescription};
use num_bigint::BigUint;

/// Bits of a handle in bmv2 below its count of reuses; here a handle has no count.
const HANDLE_BITS: u32 = 24;

/// `table_add TABLE ACTION MATCH... => ARGUMENT... [PRIORITY]`
pub(super) fn add(words: &[&str], session: &mut Session) -> Outcome {
    let ([name, action], rest) = first(words)?;
    let table = session.program.table(name)?;
    let action = table.action(action)?;
    let Parts { matches, arguments, priority } = parts(table, rest)?;
    let ActionCall { action, args } = call(action, &arguments)?;
    let entry = TableEntry { matches, action: Some(action), args, priority, ..Default::default() };
    one(Operation::AddEntry { table: table.name.clone(), entry })
}

/// `table_set_default TABLE ACTION ARGUMENT...`
pub(super) fn set_default(words: &[&str], session: &mut Session) -> Outcome {
    let ([name, action], rest) = first(words)?;
    let table = session.program.table(name)?;
    let call = call(table.action(action)?, without_arrow(rest))?;
    one(Operation::SetDefault { table: table.name.clone(), call: call.into() })
}

/// `table_reset_default TABLE`
pub(super) fn reset_default(words: &[&str], session: &mut Session) -> Outcome {
    let [name] = these(words)?;
    one(Operation::ResetDefault { table: session.program.table(name)?.name.clone() })
}

/// `table_modify TABLE ACTION HANDLE ARGUMENT...`
pub(super) fn modify(words: &[&str], session: &mut Session) -> Outcome {
    let ([name, action, at], rest) = first(words)?;
    let table = session.program.table(name)?;
    let ActionCall { action, args } = call(table.action(action)?, without_arrow(rest))?;
    let to = TableEntry { action: Some(action), args, ..TableEntry::default() };
    one(Operation::ModifyEntry { table: table.name.clone(), at: entry_handle(at)?, to })
}

/// `table_delete TABLE HANDLE`
pub(super) fn delete(words: &[&str], session: &mut Session) -> Outcome {
    let [name, at] = these(words)?;
    let table = session.program.table(name)?.name.clone();
    one(Operation::DeleteEntry { table, at: entry_handle(at)? })
}

/// `table_clear TABLE`
pub(super) fn clear(words: &[&str], session: &mut Session) -> Outcome {
    let [name] = these(words)?;
    one(Operation::ClearTable { table: session.program.table(name)?.name.clone() })
}

/// `table_indirect_add TABLE MATCH... => MEMBER [PRIORITY]`
pub(super) fn indirect_add(words: &[&str], session: &mut Session) -> Outcome {
    indirect(words, session, |member| TableEntry { member: Some(member), ..Default::default() })
}

/// `table_indirect_add_with_group TABLE MATCH... => GROUP [PRIORITY]`
pub(super) fn indirect_add_with_group(words: &[&str], session: &mut Session) -> Outcome {
    indirect(words, session, |group| TableEntry { group: Some(group), ..Default::default() })
}

fn indirect(words: &[&str], session: &mut Session, leads_to: fn(u32) -> TableEntry) -> Outcome {
    super::session::take(words, 2, usize::MAX)?;
    let ([name], rest) = first(words)?;
    let table = session.program.table(name)?;
    if table.implementation.is_none() {
        return misfit(format!("table {} has no action profile; use table_add", table.name));
    }
    let Parts { matches, arguments, priority } = parts(table, rest)?;
    let [to] = arguments[..] else {
        return Err(CommandError::Form("one handle expected behind =>".into()));
    };
    let entry = TableEntry { matches, priority, ..leads_to(handle(to, "handle")?) };
    one(Operation::AddEntry { table: table.name.clone(), entry })
}

/// An action with its arguments in order.
pub(super) fn call(
    action: &ActionDescription,
    arguments: &[&str],
) -> Result<ActionCall, ControlError> {
    let (name, expected) = (&action.name, &action.parameters);
    if arguments.len() != expected.len() {
        let listed = expected.iter().map(|p| format!("{} ({} bits)", p.name, p.width));
        let listed = listed.collect::<Vec<_>>().join(", ");
        let listed = if listed.is_empty() { "none" } else { &listed };
        return Err(ControlError::Message(format!(
            "action {name} takes {} arguments, not {}: {listed}",
            expected.len(),
            arguments.len()
        )));
    }
    let mut args = NamedValues::default();
    for (parameter, text) in expected.iter().zip(arguments) {
        let what = format!("argument {}", parameter.name);
        args.insert(parameter.name.clone(), number(text, &what, Some(parameter.width))?);
    }
    Ok(ActionCall { action: name.clone(), args })
}

/// An entry as written, except for the action.
struct Parts<'t> {
    matches: NamedValues<MatchValue>,
    arguments: Vec<&'t str>,
    priority: u32,
}

fn parts<'t>(table: &TableDescription, words: &[&'t str]) -> Result<Parts<'t>, CommandError> {
    let Some(arrow) = words.iter().position(|word| *word == "=>") else {
        return Err(CommandError::Form("=> is missing between matches and arguments".into()));
    };
    let (given, mut arguments) = (&words[..arrow], words[arrow + 1..].to_vec());
    let mut priority = 0;
    if table.is_ordered() {
        let Some(last) = arguments.pop() else {
            return Err(CommandError::Form(format!(
                "table {} has ternary or range keys: a priority is missing",
                table.name
            )));
        };
        priority = handle(last, "priority (the last word)")?;
    }
    let keys: Vec<_> = table.keys.iter().filter(|key| key.match_kind != "selector").collect();
    if given.len() != keys.len() {
        let listed = keys.iter().map(|key| format!("{} ({})", key.name, key.match_kind));
        let listed = listed.collect::<Vec<_>>().join(", ");
        let listed = if listed.is_empty() { "none" } else { &listed };
        return misfit(format!(
            "table {} has {} keys, not {}: {listed}",
            table.name,
            keys.len(),
            given.len()
        ));
    }
    let mut matches = NamedValues::default();
    for (key, text) in keys.into_iter().zip(given) {
        if let Some(matched) = match_of(key, text)? {
            matches.insert(key.name.clone(), matched);
        }
    }
    Ok(Parts { matches, arguments, priority })
}

/// Match value of a word, by the match kind of the key element; `None` if any value matches.
fn match_of(key: &KeyDescription, text: &str) -> Result<Option<MatchValue>, ControlError> {
    let KeyDescription { name, match_kind, width } = key;
    let what = format!("key {name}");
    let exact = || Ok(Some(MatchValue::Exact(number(text, &what, Some(*width))?)));
    let (sign, form) = match &**match_kind {
        "exact" => return exact(),
        "lpm" => ("/", "VALUE/LENGTH"),
        "ternary" | "optional" => ("&&&", "VALUE&&&MASK"),
        "range" => ("->", "LOW->HIGH"),
        _ => ("", "VALUE"),
    };
    let halves = if sign.is_empty() { None } else { text.split_once(sign) };
    let Some((value, second)) = halves else {
        if match_kind == "optional" {
            return exact();
        }
        return Err(ControlError::Message(format!(
            "{what} is {match_kind}: write {form}, not {text}"
        )));
    };
    let value = number(value, &what, Some(*width))?;
    match &**match_kind {
        "lpm" => {
            let length = index(second, &format!("prefix length of {what}"), u64::MAX)?;
            if length > u64::from(*width) {
                let why = format!("{what} has {width} bits: prefix length {length} is too long");
                return Err(ControlError::Message(why));
            }
            Ok(Some(MatchValue::Prefix { value, prefix: length as u32 }))
        }
        "range" => {
            let high = number(second, &what, Some(*width))?;
            if high.0 < value.0 {
                let why = format!("{what}: the range {text} is empty; write the lower end first");
                return Err(ControlError::Message(why));
            }
            Ok(Some(MatchValue::Range { low: value, high }))
        }
        kind => {
            let mask = number(second, &format!("mask of {what}"), Some(*width))?;
            if kind == "ternary" {
                return Ok(Some(MatchValue::Ternary { value, mask }));
            }
            optional(key, value, &mask)
        }
    }
}

/// An optional key matches all of its bits or none.
fn optional(
    key: &KeyDescription,
    value: Number,
    mask: &Number,
) -> Result<Option<MatchValue>, ControlError> {
    let full = (BigUint::from(1u8) << key.width) - 1u8;
    if mask.0 == BigUint::ZERO {
        return Ok(None);
    }
    if mask.0 != full {
        let why = format!("key {} is optional: its mask is 0 or {full:#x}", key.name);
        return Err(ControlError::Message(why));
    }
    Ok(Some(MatchValue::Exact(value)))
}

/// bmv2 tolerates `=>` in front of the arguments.
fn without_arrow<'w, 't>(arguments: &'w [&'t str]) -> &'w [&'t str] {
    match arguments {
        ["=>", rest @ ..] => rest,
        all => all,
    }
}

fn entry_handle(text: &str) -> Result<Which, ControlError> {
    let handle = index(text, "entry handle", u64::MAX)? & ((1 << HANDLE_BITS) - 1);
    Ok(Which::Handle(handle as u32))
}

//! Table entries of one shape as rows of numbers: an entry with names and wide numbers takes a
//! kilobyte, and files have tens of thousands.

use super::execute::{led, value_of};
use super::{MatchValue, Number, Operation, TableEntry};
use smallvec::SmallVec;
use sojourn_p4::interp::tables::{EntryTemplate, Form, Rows};
use std::sync::Arc;

/// The numbers of an entry.
type Numbers = SmallVec<[u128; 8]>;

/// An entry as the first of its rows; `None` if rows cannot represent it.
fn begun(entry: &TableEntry) -> Option<Rows> {
    let numbers = numbers(entry, entry.priority != 0)?;
    let mut rows = Rows::new(EntryTemplate {
        keys: entry.matches.iter().map(|(name, given)| (name.to_owned(), form(given))).collect(),
        action: entry.action.clone()?,
        args: entry.args.iter().map(|(name, _)| name.to_owned()).collect(),
        prioritised: entry.priority != 0,
    });
    rows.push(numbers);
    Some(rows)
}

/// Appends an operation; an entry of the same shape as the previous one becomes a row of it.
pub fn append(operations: &mut Vec<Operation>, operation: Operation) {
    let Operation::AddEntry { table, entry } = operation else {
        return operations.push(operation);
    };
    if let Some(Operation::AddEntries { table: last, rows }) = operations.last_mut()
        && *last == table
        && Arc::get_mut(rows).is_some_and(|rows| append_similar(rows, &entry))
    {
        return;
    }
    operations.push(added(table, entry));
}

/// Operation that adds an entry, as rows if they can represent it.
pub(super) fn added(table: String, entry: TableEntry) -> Operation {
    match begun(&entry) {
        Some(rows) => Operation::AddEntries { table, rows: Arc::new(rows) },
        None => Operation::AddEntry { table, entry },
    }
}

/// Appends an entry to rows of its shape; false if it has another.
pub(super) fn append_similar(rows: &mut Rows, entry: &TableEntry) -> bool {
    let template = rows.template();
    let keys = template.keys.iter().map(|(name, form)| (name.as_str(), *form));
    let args = template.args.iter().map(String::as_str);
    let is_like = entry.action.as_ref() == Some(&template.action)
        && entry.matches.iter().map(|(name, given)| (name, form(given))).eq(keys)
        && entry.args.iter().map(|(name, _)| name).eq(args)
        && (template.prioritised || entry.priority == 0);
    match numbers(entry, template.prioritised).filter(|_| is_like) {
        Some(numbers) => {
            rows.push(numbers);
            true
        }
        None => false,
    }
}

/// Expands rows into entries.
pub fn expand_rows(rows: &Rows) -> impl Iterator<Item = TableEntry> + '_ {
    (0..rows.len()).map(|at| {
        let spec = rows.spec(at);
        let matches = spec.keys.into_iter().filter_map(|(key, m)| Some((key, value_of(&m)?)));
        let priority = u32::try_from(-spec.priority).unwrap_or(0);
        TableEntry { matches: matches.collect(), priority, ..led(spec.target) }
    })
}

fn form(given: &MatchValue) -> Form {
    match given {
        MatchValue::Exact(_) => Form::Exact,
        MatchValue::Ternary { .. } => Form::Ternary,
        MatchValue::Prefix { .. } => Form::Prefix,
        MatchValue::Range { .. } => Form::Range,
    }
}

fn narrow(number: &Number) -> Option<u128> {
    u128::try_from(&number.0).ok()
}

fn numbers(entry: &TableEntry, prioritised: bool) -> Option<Numbers> {
    if (entry.member, entry.group, entry.rank) != (None, None, None) {
        return None;
    }
    let mut numbers = Numbers::new();
    for (_, given) in entry.matches.iter() {
        match given {
            MatchValue::Exact(value) => numbers.push(narrow(value)?),
            MatchValue::Ternary { value, mask } => {
                numbers.extend([narrow(value)?, narrow(mask)?]);
            }
            MatchValue::Prefix { value, prefix } => {
                numbers.extend([narrow(value)?, (*prefix).into()]);
            }
            MatchValue::Range { low, high } => numbers.extend([narrow(low)?, narrow(high)?]),
        }
    }
    for (_, value) in entry.args.iter() {
        numbers.push(narrow(value)?);
    }
    if prioritised {
        numbers.push(entry.priority.into());
    }
    Some(numbers)
}

#[cfg(test)]
mod tests {
    use super::super::NamedValues;
    use super::*;

    fn entry(key: MatchValue, priority: u32) -> TableEntry {
        TableEntry {
            matches: NamedValues::from([("k".to_owned(), key)]),
            action: Some("send".into()),
            args: NamedValues::from([("port".to_owned(), Number::from(7))]),
            priority,
            ..TableEntry::default()
        }
    }

    #[test]
    fn entries_that_are_alike_become_rows_and_come_back_as_they_were() {
        let ternary = |value: u64, priority| {
            let (value, mask) = (Number::from(value), Number::from(0xff));
            entry(MatchValue::Ternary { value, mask }, priority)
        };
        let given = [ternary(1, 5), ternary(2, 0), ternary(3, 9)];
        let mut rows = begun(&given[0]).unwrap();
        assert!(given[1..].iter().all(|entry| append_similar(&mut rows, entry)));
        assert_eq!(expand_rows(&rows).collect::<Vec<_>>(), given);
    }

    #[test]
    fn entries_of_another_form_are_not_merged() {
        let mut rows = begun(&entry(MatchValue::Exact(1.into()), 0)).unwrap();
        let mut is_taken = |entry: TableEntry| append_similar(&mut rows, &entry);
        let plain = || entry(MatchValue::Exact(2.into()), 0);
        assert!(!is_taken(entry(MatchValue::Exact(2.into()), 1)));
        assert!(!is_taken(entry(MatchValue::Prefix { value: 2.into(), prefix: 3 }, 0)));
        assert!(!is_taken(TableEntry { args: NamedValues::default(), ..plain() }));
        assert!(!is_taken(TableEntry { action: Some("drop".into()), ..plain() }));
        assert!(!is_taken(TableEntry { rank: Some(1), ..plain() }));
        let wide: Number = serde_json::from_str("\"0x100000000000000000000000000000000\"").unwrap();
        assert!(!is_taken(entry(MatchValue::Exact(wide), 0)));
        assert!(begun(&TableEntry { action: None, member: Some(1), ..plain() }).is_none());
        assert_eq!(expand_rows(&rows).count(), 1);
    }
}

//! Bulk entries: thousands of plain entries that match the same key elements in the same way, run
//! one action and have numbers of at most 128 bits.
//!
//! The first is added by name, which checks the names; its resolved names are used for the others.
//! An entry that does not fit is added by name, too, for its error message.

use super::control_api::{self, EntrySpec, EntryTarget, Match};
use super::{ActionData, Datum, Entry, TableState, Target};
use crate::ir::{self, Layout};
use num_bigint::BigUint;
use smallvec::SmallVec;
use std::sync::Arc;

/// Form of a key element, as in [`Match`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// By a value.
    Exact,
    /// By a value and a mask.
    Ternary,
    /// By a value and a length.
    Prefix,
    /// By the lowest and the highest value.
    Range,
}

impl Form {
    /// Number of row numbers that it takes.
    pub fn numbers(self) -> usize {
        match self {
            Form::Exact => 1,
            Form::Ternary | Form::Prefix | Form::Range => 2,
        }
    }
}

/// Common properties of the entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryTemplate {
    /// Key elements by name. An omitted element matches anything, which is not possible for an
    /// exact one.
    pub keys: Vec<(String, Form)>,
    /// Name of the action, or a suffix of it that is unique in the table.
    pub action: String,
    /// Names of the action's data.
    pub args: Vec<String>,
    /// Whether each has a priority of its own; 0 if not.
    pub prioritised: bool,
}

impl EntryTemplate {
    /// Number of numbers per row.
    pub fn width(&self) -> usize {
        let keys: usize = self.keys.iter().map(|(_, form)| form.numbers()).sum();
        keys + self.args.len() + usize::from(self.prioritised)
    }
}

/// Entries as rows of numbers: for each key element those of its form, for each argument one, and
/// the priority if they have any, of which the lowest wins.
///
/// ```
/// use sojourn_p4::interp::tables::{EntryTemplate, Form, Rows};
/// let template = EntryTemplate {
///     keys: vec![("hdr.ip.dst".into(), Form::Prefix)],
///     action: "forward".into(),
///     args: vec!["port".into()],
///     prioritised: false,
/// };
/// let mut routes = Rows::new(template);
/// routes.push([0x0a00_0000, 8, 1]);
/// routes.push([0x0a01_0000, 16, 2]);
/// assert_eq!((routes.len(), routes.row(1)), (2, &[0x0a01_0000, 16, 2][..]));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rows {
    template: EntryTemplate,
    width: usize,
    /// Number of rows, which may have no numbers at all.
    len: usize,
    numbers: Vec<u128>,
}

impl Rows {
    /// Creates an empty list.
    pub fn new(template: EntryTemplate) -> Rows {
        Rows { width: template.width(), template, len: 0, numbers: Vec::new() }
    }

    /// Reserves memory for `more` further rows.
    pub fn reserve(&mut self, more: usize) {
        self.numbers.reserve_exact(more * self.width);
    }

    /// Appends a row.
    ///
    /// # Panics
    /// If the row has another number of numbers than the template requires.
    pub fn push(&mut self, numbers: impl IntoIterator<Item = u128>) {
        let before = self.numbers.len();
        self.numbers.extend(numbers);
        assert_eq!(self.numbers.len() - before, self.width, "numbers of {:?}", self.template);
        self.len += 1;
    }

    /// Common properties of the entries.
    pub fn template(&self) -> &EntryTemplate {
        &self.template
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.len
    }

    /// True if there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Numbers of a row.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn row(&self, at: usize) -> &[u128] {
        &self.numbers[at * self.width..(at + 1) * self.width]
    }

    /// A row as an entry by name.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn spec(&self, at: usize) -> EntrySpec {
        let mut numbers = self.row(at).iter().copied();
        let mut number = || BigUint::from(numbers.next().unwrap_or(0));
        let EntryTemplate { keys, action, args, .. } = &self.template;
        let keys = keys.iter().map(|(name, form)| {
            let value = number();
            let given = match form {
                Form::Exact => Match::Exact(value),
                Form::Ternary => Match::Ternary { value, mask: number() },
                Form::Prefix => {
                    Match::Prefix { value, length: u32::try_from(number()).unwrap_or(u32::MAX) }
                }
                Form::Range => Match::Range { low: value, high: number() },
            };
            (name.clone(), given)
        });
        let keys = keys.collect();
        let data = args.iter().map(|name| (name.clone(), number())).collect();
        let target = EntryTarget::Action(action.clone(), data);
        let priority = i64::try_from(number()).map_or(i64::MIN, |priority| -priority);
        EntrySpec { keys, target, priority }
    }
}

/// A number of a row: its index, and its width in bits.
#[derive(Clone, Copy)]
struct RowNumber {
    at: usize,
    bits: u32,
}

impl RowNumber {
    fn read(self, numbers: &[u128]) -> Option<u128> {
        let value = *numbers.get(self.at)?;
        (u128::BITS - value.leading_zeros() <= self.bits).then_some(value)
    }
}

/// Resolved columns of rows, for one table.
pub(super) struct RowLayout {
    /// For each column its number and form; `None` if it matches anything.
    columns: Vec<Option<(RowNumber, Form)>>,
    action: u32,
    data: Vec<RowNumber>,
    priority: Option<usize>,
    /// Masks of the previous row: most rows share theirs.
    masks: Arc<[u128]>,
}

impl RowLayout {
    /// Layout of rows whose first one has been added; `None` if a key element or a range needs more
    /// than a comparison under a mask of 128 bits.
    pub fn new(
        table: &ir::Table,
        state: &TableState,
        template: &EntryTemplate,
    ) -> Option<RowLayout> {
        let mut columns = vec![None; state.columns.len()];
        let mut at = 0;
        for (name, form) in &template.keys {
            let key = control_api::find_key(table, name)?;
            let column = state.columns.iter().position(|column| column.key == key);
            let bits = table.keys[key].expr.scalar.width();
            if bits > u128::BITS || *form == Form::Range {
                return None;
            }
            // A selector takes no part in matching.
            if let Some(column) = column {
                columns[column] = Some((RowNumber { at, bits }, *form));
            }
            at += form.numbers();
        }
        let wide = |column: &super::Column| column.scalar.width() > u128::BITS;
        if state.columns.iter().any(wide) {
            return None;
        }
        let action = control_api::find_action(table, &template.action, false).ok()?;
        let layouts = &table.actions[action].data;
        let place = |(name, layout): &(Arc<str>, Layout)| {
            let bits = control_api::bits(layout);
            let nth = template.args.iter().position(|arg| arg.as_str() == &**name)?;
            Some(RowNumber { at: at + nth, bits })
        };
        let data = layouts.iter().map(place).collect::<Option<Vec<RowNumber>>>()?;
        let priority = template.prioritised.then(|| at + template.args.len());
        Some(RowLayout { columns, action: action as u32, data, priority, masks: Arc::default() })
    }

    /// Entry of a row; `None` if a number does not fit.
    pub fn entry(&mut self, state: &mut TableState, numbers: &[u128]) -> Option<Entry> {
        let mut values = SmallVec::new();
        let mut masks = SmallVec::<[u128; 8]>::new();
        for column in &self.columns {
            let (value, mask) = match column {
                Some((place, form)) => masked(*place, *form, numbers)?,
                None => (0, 0),
            };
            values.push(value & mask);
            masks.push(mask);
        }
        if *self.masks != *masks {
            self.masks = masks.as_slice().into();
        }
        let mut data = SmallVec::with_capacity(self.data.len());
        for place in &self.data {
            data.push(Datum::Narrow(place.read(numbers)?));
        }
        let priority = match self.priority {
            Some(at) => -i64::try_from(*numbers.get(at)?).ok()?,
            None => 0,
        };
        let row = state.masked_row(values, self.masks.clone(), priority);
        let target = Target::Action(ActionData { action: self.action, data });
        Some(Entry { target, row, is_const: false })
    }
}

/// Value and mask of a key element.
fn masked(place: RowNumber, form: Form, numbers: &[u128]) -> Option<(u128, u128)> {
    let value = place.read(numbers)?;
    let full = u128::MAX.checked_shr(u128::BITS - place.bits).unwrap_or(0);
    let mask = match form {
        Form::Exact => full,
        Form::Ternary => RowNumber { at: place.at + 1, ..place }.read(numbers)?,
        Form::Prefix => {
            let length = u32::try_from(*numbers.get(place.at + 1)?).ok()?;
            let rest = place.bits.checked_sub(length)?;
            full & u128::MAX.checked_shl(rest).unwrap_or(0)
        }
        Form::Range => return None,
    };
    Some((value, mask))
}

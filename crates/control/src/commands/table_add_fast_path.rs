//! Fast path for repeated `table_add` lines with the same table and the same action.
//!
//! Files contain thousands of such lines. The previous line determines all but the numbers, which
//! are read directly into the rows of the batch. A line that differs otherwise, or is invalid, is
//! left to its command.

use super::super::batch::Batch;
use super::super::value_parser::narrow;
use super::session::Session;
use smallvec::SmallVec;
use sojourn_p4::interp::tables::Form;

/// Parser for a line that begins like the one before it.
pub(super) struct RepeatedTableAdd {
    /// Table and action as written.
    begins: [String; 2],
    /// The table's name.
    table: String,
    /// In the order of the rows: index of the word, its form, and its width in bits.
    elements: Vec<(usize, Form, u32)>,
    /// Index of the word `=>`, and the number of words.
    arrow: usize,
    words: usize,
    /// Whether the last word is a priority; if so, whether rows have it, or else it is 0.
    priority: Option<bool>,
}

type Words<'t> = SmallVec<[&'t str; 16]>;

const ADD: &str = "table_add";

impl RepeatedTableAdd {
    /// Parser for the lines after `text`, which has added the last of the batch's rows.
    pub fn after(text: &str, session: &Session, batch: &mut Batch) -> Option<RepeatedTableAdd> {
        let words: Words = text.split_ascii_whitespace().collect();
        let [ADD, table, action, ..] = words[..] else { return None };
        let begins = [table, action].map(str::to_owned);
        let table = session.program().table(table).ok()?;
        let action = table.action(action).ok()?;
        let (rows, _) = batch.last_rows(&table.name)?;
        let template = rows.template();
        let keys = || table.keys.iter().filter(|key| key.match_kind != "selector");
        let arrow = begins.len() + 1 + keys().count();
        let mut elements = Vec::with_capacity(keys().count() + action.parameters.len());
        for (name, form) in &template.keys {
            let nth = keys().position(|key| key.name == *name)?;
            elements.push((begins.len() + 1 + nth, *form, keys().nth(nth)?.width));
        }
        for name in &template.args {
            let nth = action.parameters.iter().position(|one| one.name == *name)?;
            elements.push((arrow + 1 + nth, Form::Exact, action.parameters[nth].width));
        }
        let priority = table.is_ordered().then_some(template.prioritised);
        let every = keys().count() + action.parameters.len();
        (words.get(arrow) == Some(&"=>") && elements.len() == every).then(|| RepeatedTableAdd {
            begins,
            table: table.name.clone(),
            elements,
            arrow,
            words: arrow + 1 + action.parameters.len() + usize::from(priority.is_some()),
            priority,
        })
    }

    /// Adds the entry of a line to the batch's last rows; false if its command must parse the line.
    pub fn takes(&self, text: &str, line: u32, batch: &mut Batch) -> bool {
        let words: Words = text.split_ascii_whitespace().collect();
        let same = words.len() == self.words
            && words[0] == ADD
            && words[1..=2] == self.begins
            && words[self.arrow] == "=>";
        let Some(numbers) = same.then(|| self.numbers(&words)).flatten() else { return false };
        batch.row(&self.table, line, &numbers)
    }

    fn numbers(&self, words: &[&str]) -> Option<SmallVec<[u128; 8]>> {
        let mut numbers = SmallVec::new();
        for (word, form, width) in &self.elements {
            let (text, width) = (words[*word], *width);
            match form {
                Form::Exact => numbers.push(narrow(text, width)?),
                Form::Ternary => {
                    let (value, mask) = text.split_once("&&&")?;
                    numbers.extend([narrow(value, width)?, narrow(mask, width)?]);
                }
                Form::Prefix => {
                    let (value, length) = text.split_once('/')?;
                    let length = length.parse::<u32>().ok().filter(|length| *length <= width)?;
                    numbers.extend([narrow(value, width)?, length.into()]);
                }
                Form::Range => {
                    let (low, high) = text.split_once("->")?;
                    let (low, high) = (narrow(low, width)?, narrow(high, width)?);
                    (low <= high).then(|| numbers.extend([low, high]))?;
                }
            }
        }
        if let Some(kept) = self.priority {
            let priority = words.last()?.parse::<u32>().ok().filter(|it| kept || *it == 0)?;
            numbers.extend(kept.then_some(u128::from(priority)));
        }
        Some(numbers)
    }
}

//! Extracts the entries of a control plane's TOML that have the usual plain form, thousands in some
//! files, before it is parsed.
//!
//! This is not a TOML parser. A section `[[tables.entries]]` is taken if each of its lines has one
//! of a few plain forms, and only plain lines and other such sections separate it from a line
//! `[[tables]]`. Such a line can also occur in an array or in a string: in an array it is an error
//! and is left for the parser to report; if the text has multi-line strings, nothing is taken. The
//! rest goes to a parser, which finds the same tables without these entries.

use smallvec::SmallVec;
use sojourn_p4::interp::tables::{EntryTemplate, Form, Rows};
use std::sync::Arc;

/// A text without its extracted entries.
#[derive(Clone, Debug, Default)]
pub struct Extracted {
    /// Remaining text.
    pub left: String,
    /// For each `[[tables]]` its leading entries, which were extracted.
    pub tables: Vec<Vec<Arc<Rows>>>,
}

const TABLE: &str = "[[tables]]";
const ENTRY: &str = "[[tables.entries]]";

/// Extracts entries from a text.
///
/// ```
/// use sojourn_control::take_entries;
/// let entry = "[[tables.entries]]\nmatch = { port = 1 }\naction = \"send\"\n";
/// let extracted = take_entries(&format!("[[tables]]\nname = \"forward\"\n\n{entry}{entry}"));
/// assert_eq!(extracted.left, "[[tables]]\nname = \"forward\"\n\n");
/// assert_eq!(extracted.tables[0][0].len(), 2);
/// ```
pub fn take_entries(text: &str) -> Extracted {
    let mut extracted = Extracted::default();
    let (mut rest, mut plain, mut long_strings) = (text, false, false);
    let mut section = Section::default();
    while let Some((line, behind)) = next_line(rest) {
        if plain
            && line == ENTRY
            && let Some(behind) = section.read_from(behind)
            && let Some(rows) = extracted.tables.last_mut()
        {
            section.put_into(rows);
            rest = behind;
            continue;
        }
        long_strings |= line.contains("\"\"\"") || line.contains("'''");
        plain = match line {
            TABLE => {
                extracted.tables.push(Vec::new());
                !long_strings
            }
            _ => plain && (is_nothing(line) || is_name(line)),
        };
        extracted.left.push_str(&rest[..rest.len() - behind.len()]);
        rest = behind;
    }
    extracted
}

/// The next line without surrounding spaces, and the rest.
fn next_line(text: &str) -> Option<(&str, &str)> {
    if text.is_empty() {
        return None;
    }
    let bytes = text.as_bytes();
    let (mut end, behind) = match bytes.iter().position(|byte| *byte == b'\n') {
        Some(end) if bytes[..end].ends_with(b"\r") => (end - 1, &text[end + 1..]),
        Some(end) => (end, &text[end + 1..]),
        None => (text.len(), ""),
    };
    while end > 0 && is_blank(bytes[end - 1]) {
        end -= 1;
    }
    Some((without_blanks(&text[..end]), behind))
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

/// The text without leading spaces.
fn without_blanks(text: &str) -> &str {
    &text[text.bytes().take_while(|byte| is_blank(*byte)).count()..]
}

/// A line that is empty except for a comment.
fn is_nothing(line: &str) -> bool {
    line.is_empty() || line.starts_with('#') && line.bytes().all(is_printed)
}

/// True for bytes allowed in strings and comments.
fn is_printed(byte: u8) -> bool {
    byte == b'\t' || byte >= b' ' && byte != 0x7f
}

fn is_name(line: &str) -> bool {
    let mut at = Cursor(line);
    at.key() == Some("name") && at.sign('=') && at.string().is_some() && at.is_at_end()
}

/// Whether a line begins a section that cannot belong to the entry before it.
fn is_of_something_else(line: &str) -> bool {
    let name = line.trim_start_matches('[');
    let own = |of: &str| bare(of) > 0 && &of[..bare(of)] != "entries";
    match name.strip_prefix("tables.") {
        Some(of) => line == ENTRY || own(of),
        None => line == TABLE || bare(name) > 0 && &name[..bare(name)] != "tables",
    }
}

/// Length of the bare key at the start of a text.
fn bare(text: &str) -> usize {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
    text.bytes().take_while(|byte| plain(*byte)).count()
}

/// An entry as written.
#[derive(Default)]
struct Section<'t> {
    keys: Vec<(&'t str, Form)>,
    action: Option<&'t str>,
    args: Vec<&'t str>,
    /// Numbers of the keys.
    matched: Vec<u128>,
    /// Numbers of the arguments.
    given: Vec<u128>,
    priority: Option<u32>,
}

impl<'t> Section<'t> {
    /// Reads the lines of a section, if all of them are plain; returns the rest.
    fn read_from(&mut self, text: &'t str) -> Option<&'t str> {
        self.keys.clear();
        self.args.clear();
        self.matched.clear();
        self.given.clear();
        (self.action, self.priority) = (None, None);
        let mut rest = text;
        while let Some((line, behind)) = next_line(rest) {
            if line.starts_with('[') {
                is_of_something_else(line).then_some(())?;
                break;
            }
            if !is_nothing(line) {
                self.read(line)?;
            }
            rest = behind;
        }
        self.action.is_some().then_some(rest)
    }

    fn read(&mut self, line: &'t str) -> Option<()> {
        let mut at = Cursor(line);
        match at.key()? {
            "match" if self.keys.is_empty() && at.sign('=') => {
                at.table(|name, at| self.key(name, at))?;
                (!self.keys.is_empty()).then_some(())?;
            }
            "action" if self.action.is_none() && at.sign('=') => self.action = Some(at.string()?),
            "args" if self.args.is_empty() && at.sign('=') => {
                at.table(|name, at| {
                    self.given.push(at.integer()?.into());
                    (!self.args.contains(&name)).then(|| self.args.push(name))
                })?;
                (!self.args.is_empty()).then_some(())?;
            }
            "priority" if self.priority.is_none() && at.sign('=') => {
                self.priority = Some(u32::try_from(at.integer()?).ok()?);
            }
            _ => return None,
        }
        at.is_at_end().then_some(())
    }

    /// Match value of a key element in an entry.
    fn key(&mut self, name: &'t str, at: &mut Cursor<'t>) -> Option<()> {
        let form = if at.0.starts_with('{') {
            let [(one, first), (two, second)] = at.pair()?;
            let (form, numbers) = match (one, two) {
                ("value", "mask") => (Form::Ternary, [first, second]),
                ("mask", "value") => (Form::Ternary, [second, first]),
                ("value", "prefix") => (Form::Prefix, [first, second]),
                ("prefix", "value") => (Form::Prefix, [second, first]),
                ("low", "high") => (Form::Range, [first, second]),
                ("high", "low") => (Form::Range, [second, first]),
                _ => return None,
            };
            (form != Form::Prefix || numbers[1] <= u32::MAX.into()).then_some(())?;
            self.matched.extend(numbers.map(u128::from));
            form
        } else {
            self.matched.push(at.integer()?.into());
            Form::Exact
        };
        let is_new = self.keys.iter().all(|(known, _)| *known != name);
        is_new.then(|| self.keys.push((name, form)))
    }

    /// Appends the entry to rows of its shape, or starts new rows.
    fn put_into(&self, all: &mut Vec<Arc<Rows>>) {
        let action = self.action.unwrap_or("");
        let last = all.last_mut().and_then(Arc::get_mut).filter(|rows| {
            let template = rows.template();
            let keys = template.keys.iter().map(|(name, form)| (name.as_str(), *form));
            template.action == action
                && keys.eq(self.keys.iter().copied())
                && template.args.iter().eq(self.args.iter())
                && template.prioritised == self.priority.is_some()
        });
        let numbers = self.matched.iter().chain(&self.given).copied();
        let numbers = numbers.chain(self.priority.map(u128::from));
        match last {
            Some(rows) => rows.push(numbers),
            None => {
                let keys = self.keys.iter().map(|(name, form)| ((*name).to_owned(), *form));
                let mut rows = Rows::new(EntryTemplate {
                    keys: keys.collect(),
                    action: action.to_owned(),
                    args: self.args.iter().map(|name| (*name).to_owned()).collect(),
                    prioritised: self.priority.is_some(),
                });
                rows.push(numbers);
                all.push(Arc::new(rows));
            }
        }
    }
}

/// Remainder of a line.
struct Cursor<'t>(&'t str);

impl<'t> Cursor<'t> {
    fn skip(&mut self) {
        self.0 = without_blanks(self.0);
    }

    /// Takes `bytes` bytes, and the spaces behind them.
    fn take(&mut self, bytes: usize) -> &'t str {
        let (extracted, rest) = self.0.split_at(bytes);
        self.0 = rest;
        self.skip();
        extracted
    }

    fn sign(&mut self, sign: char) -> bool {
        let there = self.0.starts_with(sign);
        if there {
            self.take(sign.len_utf8());
        }
        there
    }

    fn is_at_end(&self) -> bool {
        is_nothing(self.0)
    }

    /// A key with one part.
    fn key(&mut self) -> Option<&'t str> {
        if self.0.starts_with(['"', '\'']) {
            return self.string();
        }
        let length = bare(self.0);
        (length > 0).then(|| self.take(length))
    }

    /// A string without escapes.
    fn string(&mut self) -> Option<&'t str> {
        let (quote, rest) = self.0.as_bytes().split_first()?;
        let plain = |byte: &&u8| is_printed(**byte) && **byte != b'\\' && *byte != quote;
        let length = rest.iter().take_while(plain).count();
        let whole = matches!(quote, b'"' | b'\'') && rest.get(length) == Some(quote);
        whole.then(|| &self.take(length + 2)[1..=length])
    }

    /// An unsigned integer of 64 bits.
    fn integer(&mut self) -> Option<u64> {
        let (radix, begins) = if self.0.starts_with("0x") { (16, 2) } else { (10, 0) };
        let is_digit = |byte: u8| char::from(byte).is_digit(radix);
        let length = self.0.bytes().skip(begins).take_while(|byte| is_digit(*byte)).count();
        let digits = &self.take(begins + length)[begins..];
        // TOML has no leading zeros; digits followed by a point or the like are no integer.
        let plain = radix == 16 || digits == "0" || !digits.starts_with('0');
        u64::from_str_radix(digits, radix).ok().filter(|_| plain)
    }

    /// Two named numbers.
    fn pair(&mut self) -> Option<[(&'t str, u64); 2]> {
        let mut pairs = SmallVec::<[(&str, u64); 2]>::new();
        self.table(|name, at| {
            pairs.push((name, at.integer()?));
            Some(())
        })?;
        pairs.into_inner().ok()
    }

    /// An inline table, whose values `read` parses.
    fn table(
        &mut self,
        mut read: impl FnMut(&'t str, &mut Cursor<'t>) -> Option<()>,
    ) -> Option<()> {
        self.sign('{').then_some(())?;
        if self.sign('}') {
            return Some(());
        }
        loop {
            let name = self.key()?;
            self.sign('=').then_some(())?;
            read(name, self)?;
            if self.sign('}') {
                return Some(());
            }
            self.sign(',').then_some(())?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::ControlPlane;
    use super::*;

    fn read(text: &str) -> Result<ControlPlane, toml::de::Error> {
        toml::from_str(text)
    }

    /// The same control plane by way of extraction, and the number of extracted entries.
    fn by_way_of_rows(text: &str) -> (Result<ControlPlane, toml::de::Error>, usize) {
        let extracted = take_entries(text);
        let count = extracted.tables.iter().flatten().map(|rows| rows.len()).sum();
        let whole = read(&extracted.left).map(|mut control| {
            for (table, rows) in control.tables.iter_mut().zip(extracted.tables) {
                table.rows = rows;
            }
            control.plain()
        });
        (whole, count)
    }

    #[test]
    fn extracted_entries_and_the_rest_together_equal_the_text() {
        let entry = |key: &str, more: &str| {
            format!("[[tables.entries]]\nmatch = {{ {key} }}\naction = \"a\"\n{more}\n")
        };
        let text = [
            "[[mirror_sessions]]\nsession = 5\n[[tables]]\nname = \"one\" # the first\n".to_owned(),
            entry("k = 1", "args = { x = 0x10, y = 3 }"),
            entry("\"k.f\" = { value = 1, mask = 3 }, 'j' = 2", "priority = 4 # low"),
            entry("k = { prefix = 8, value = 1 }", ""),
            "[tables.default]\naction = \"b\"\n[[tables]]\n\nname = 'two'\r\n".to_owned(),
            entry("k = { high = 9, low = 2 }", ""),
            entry("k = \"3\"", ""),
            entry("k = 4", ""),
        ];
        let text = text.concat();
        let (whole, extracted) = by_way_of_rows(&text);
        assert_eq!(whole.unwrap(), read(&text).unwrap());
        assert_eq!(extracted, 4);
    }

    #[test]
    fn invalid_lines_remain_in_the_rest_of_the_text() {
        let entry = "[[tables.entries]]\naction = \"a\"\n";
        for wrong in [
            format!("[[tables]]\nname = \"t\"\n{entry}action = \"b\"\n"),
            format!("[[tables]]\nname = \"t\"\n{entry}args = {{ x = 01 }}\n"),
            format!("x = [\n[[tables]]\n{entry}]\n"),
            format!("[[tables]]\n{entry}nonsense"),
        ] {
            assert!(read(&wrong).is_err() && by_way_of_rows(&wrong).0.is_err(), "{wrong}");
        }
    }
}

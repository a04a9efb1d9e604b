//! Source text and places in it: one numbering of bytes for all files of a program.
//!
//! Every file that a program includes has its own section of one 32-bit space, in the order of
//! reading; a [`Span`] is a range of that space, small enough for every token and tree node. Must
//! not depend on the meaning of the text, nor on how positions are printed (`diagnostic` does
//! that).

use std::{fmt, sync::Arc};

/// A range of bytes `start..end` in the space of a source map.
///
/// Offset 0 is in no file, so [`Span::DUMMY`] is never a real position.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The span of things that come from no source text.
    pub const DUMMY: Span = Span { start: 0, end: 0 };

    /// The bytes `start..end`.
    pub const fn new(start: u32, end: u32) -> Span {
        Span { start, end }
    }

    /// The smallest span that holds both; a dummy span adds nothing.
    pub fn to(self, other: Span) -> Span {
        if self.is_dummy() {
            other
        } else if other.is_dummy() {
            self
        } else {
            Span { start: self.start.min(other.start), end: self.end.max(other.end) }
        }
    }

    /// The empty span just behind this one: where something is missing.
    pub const fn after(self) -> Span {
        Span { start: self.end, end: self.end }
    }

    /// True for [`Span::DUMMY`].
    pub const fn is_dummy(self) -> bool {
        self.start == 0 && self.end == 0
    }
}

impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..{}", self.start, self.end)
    }
}

/// Index of a file in a [`SourceMap`], in the order of reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileId(u32);

/// A file as it was read.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// The path by which it was opened.
    pub path: Arc<str>,
    /// Its text.
    pub text: Arc<str>,
    /// The `#include` that brought it, unless it is the program itself.
    pub included_from: Option<Span>,
    /// Offset of its first byte in the space of spans.
    pub start: u32,
    /// Offsets (in the file) at which lines begin.
    lines: Vec<u32>,
    /// `#line` directives, in order of offset.
    renumbered: Vec<Renumbering>,
}

/// From `offset` on, lines count from `line` and the file calls itself `path`.
#[derive(Clone, Debug)]
struct Renumbering {
    offset: u32,
    line: u32,
    path: Arc<str>,
}

/// A macro's replacement, put in place of one use of it.
#[derive(Clone, Debug)]
pub struct Expansion {
    /// The macro's name.
    pub name: Arc<str>,
    /// The use that was replaced.
    pub site: Span,
    /// The replacement text in the macro's definition.
    pub definition: Span,
    /// Offset of the replacement's first byte in the space of spans.
    start: u32,
}

/// A stretch of the space of spans.
#[derive(Clone, Debug)]
enum Stretch {
    File(FileId),
    Expansion(Box<Expansion>),
}

/// A place as a person reads it: path, and lines and columns counted from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The file's path, or what `#line` calls it.
    pub path: Arc<str>,
    /// Line of the first character.
    pub line: u32,
    /// Column of the first character, in characters.
    pub column: u32,
    /// Line of the last character.
    pub end_line: u32,
    /// One past the column of the last character.
    pub end_column: u32,
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.path, self.line, self.column)
    }
}

/// All files and macro expansions of a program.
#[derive(Clone, Debug, Default)]
pub struct SourceMap {
    files: Vec<SourceFile>,
    /// In order of their start; each lasts until one before the next.
    stretches: Vec<(u32, Stretch)>,
    /// First free offset.
    end: u32,
}

impl SourceMap {
    /// A map without files.
    pub fn new() -> SourceMap {
        SourceMap { files: Vec::new(), stretches: Vec::new(), end: 1 }
    }

    /// Takes a stretch of `len` bytes and one that separates it from the next.
    fn reserve(&mut self, len: usize) -> Option<u32> {
        let start = self.end.max(1);
        let len = u32::try_from(len).ok()?;
        self.end = start.checked_add(len)?.checked_add(1)?;
        Some(start)
    }

    /// Adds a file. `None` when the space of 4 GiB is used up.
    pub fn add_file(
        &mut self,
        path: impl Into<Arc<str>>,
        text: impl Into<Arc<str>>,
        included_from: Option<Span>,
    ) -> Option<FileId> {
        let (path, text) = (path.into(), text.into());
        let start = self.reserve(text.len())?;
        let id = FileId(self.files.len() as u32);
        let newlines = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let lines = std::iter::once(0).chain(newlines.map(|(at, _)| at as u32 + 1)).collect();
        let renumbered = Vec::new();
        self.files.push(SourceFile { path, text, included_from, start, lines, renumbered });
        self.stretches.push((start, Stretch::File(id)));
        Some(id)
    }

    /// Adds one use of a macro whose replacement is written at `definition`; the answer is where
    /// the replacement's bytes now lie. `None` when the space of 4 GiB is used up.
    pub fn add_expansion(&mut self, name: Arc<str>, site: Span, definition: Span) -> Option<u32> {
        let start = self.reserve((definition.end - definition.start) as usize)?;
        let expansion = Expansion { name, site, definition, start };
        self.stretches.push((start, Stretch::Expansion(Box::new(expansion))));
        Some(start)
    }

    /// From `at` (just behind a `#line`) on, lines count from `line`.
    pub fn renumber(&mut self, at: u32, line: u32, path: Option<&str>) {
        let Some(&Stretch::File(id)) = self.stretch(at) else { return };
        let file = &mut self.files[id.0 as usize];
        let current = file.renumbered.last().map_or(&file.path, |last| &last.path);
        let path = path.map_or_else(|| current.clone(), Arc::from);
        file.renumbered.push(Renumbering { offset: at - file.start, line, path });
    }

    /// The file with this number.
    pub fn file(&self, id: FileId) -> &SourceFile {
        &self.files[id.0 as usize]
    }

    /// All files, in the order of reading.
    pub fn files(&self) -> impl Iterator<Item = &SourceFile> {
        self.files.iter()
    }

    /// The end of the text of the program's own file, behind its last visible character.
    pub fn end_of_program(&self) -> Span {
        let main = self.files.iter().rev().find(|file| file.included_from.is_none());
        let end = main.map_or(0, |file| file.start + file.text.trim_end().len() as u32);
        Span::new(end, end)
    }

    fn stretch_index(&self, at: u32) -> Option<usize> {
        self.stretches.partition_point(|(start, _)| *start <= at).checked_sub(1)
    }

    fn stretch(&self, at: u32) -> Option<&Stretch> {
        self.stretch_index(at).map(|index| &self.stretches[index].1)
    }

    /// One step out: from a macro's replacement to its use.
    fn site_of(&self, span: Span) -> Option<Span> {
        match self.stretch(span.start)? {
            Stretch::File(_) => None,
            Stretch::Expansion(expansion) => Some(expansion.site),
        }
    }

    /// The place in a file at which a reader finds `span`: uses of macros, not their replacement.
    ///
    /// `None` for a dummy span, or one that no single file holds.
    pub fn in_file(&self, span: Span) -> Option<(FileId, Span)> {
        if span.is_dummy() {
            return None;
        }
        let (first, start) = self.point_in_file(span.start)?;
        let (last, end) = self.point_in_file(span.end)?;
        if first != last {
            return Some((first, start));
        }
        let end = if start.start > end.start { self.word_end(first, start, end) } else { end };
        Some((first, Span::new(start.start.min(end.start), start.end.max(end.end))))
    }

    /// Ends may have been joined the wrong way round, since replacements lie behind all text that
    /// was read before: the later end in the file then needs the rest of its token.
    fn word_end(&self, file: FileId, later: Span, earlier: Span) -> Span {
        let file = self.file(file);
        let rest = &file.text.as_bytes()[(later.end - file.start) as usize..];
        let word = rest.iter().take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count();
        Span::new(earlier.start, later.end + word as u32)
    }

    fn point_in_file(&self, at: u32) -> Option<(FileId, Span)> {
        let mut span = Span::new(at, at);
        loop {
            match self.stretch(span.start)? {
                Stretch::File(id) => {
                    let file = self.file(*id);
                    let end = file.start + file.text.len() as u32;
                    return Some((*id, Span::new(span.start.min(end), span.end.min(end))));
                }
                Stretch::Expansion(expansion) => span = self.one_stretch(expansion.site),
            }
        }
    }

    /// A use of a macro whose ends lie in different stretches is lifted until they do not.
    fn one_stretch(&self, span: Span) -> Span {
        if self.stretch_index(span.start) == self.stretch_index(span.end) {
            return span;
        }
        match self.in_file(span) {
            Some((_, span)) => span,
            None => Span::new(span.start, span.start),
        }
    }

    /// The uses of macros that `span` comes from, innermost first.
    pub fn expansions(&self, span: Span) -> Vec<&Expansion> {
        let mut found = Vec::new();
        let mut span = span;
        while let Some(Stretch::Expansion(expansion)) = self.stretch(span.start) {
            found.push(&**expansion);
            span = expansion.site;
        }
        found
    }

    /// Span of the text of `span` in the source: inside a macro's definition if it came from one.
    pub fn spelling(&self, span: Span) -> Span {
        let Some(Stretch::Expansion(expansion)) = self.stretch(span.start) else { return span };
        if self.stretch_index(span.start) != self.stretch_index(span.end) {
            return self.site_of(span).unwrap_or(span);
        }
        let place = |at: u32| expansion.definition.start + (at - expansion.start);
        Span::new(place(span.start), place(span.end))
    }

    /// Path, line and column of `span`.
    pub fn location(&self, span: Span) -> Option<Location> {
        let (id, span) = self.in_file(span)?;
        let file = self.file(id);
        let (line, column) = file.line_column(span.start);
        let (end_line, end_column) = file.line_column(span.end);
        let (path, shift) = file.presumed(span.start);
        let shifted = |line: u32| (i64::from(line) + shift).clamp(0, i64::from(u32::MAX)) as u32;
        let (line, end_line) = (shifted(line), shifted(end_line));
        Some(Location { path: path.clone(), line, column, end_line, end_column })
    }

    /// The `#include`s that lead to the file of `span`, innermost first.
    pub fn includes(&self, span: Span) -> Vec<Location> {
        let mut found = Vec::new();
        let mut file = self.in_file(span).map(|(id, _)| self.file(id));
        while let Some(site) = file.and_then(|file| file.included_from) {
            found.extend(self.location(site));
            file = self.in_file(site).map(|(id, _)| self.file(id));
        }
        found
    }

    /// The text at `span`, as a reader of the file sees it.
    pub fn text(&self, span: Span) -> &str {
        let Some((id, span)) = self.in_file(span) else { return "" };
        let file = self.file(id);
        let range = (span.start - file.start) as usize..(span.end - file.start) as usize;
        file.text.get(range).unwrap_or("")
    }

    /// Text in front of `span` in its file.
    pub fn text_before(&self, span: Span) -> &str {
        let Some((id, span)) = self.in_file(span) else { return "" };
        let file = self.file(id);
        file.text.get(..(span.start - file.start) as usize).unwrap_or("")
    }
}

impl SourceFile {
    /// Line and column, counted from 1, of an offset in the space of spans.
    pub fn line_column(&self, at: u32) -> (u32, u32) {
        let offset = at.saturating_sub(self.start).min(self.text.len() as u32);
        let line = self.lines.partition_point(|start| *start <= offset) - 1;
        let before = self.text.get(self.lines[line] as usize..offset as usize).unwrap_or("");
        (line as u32 + 1, before.chars().count() as u32 + 1)
    }

    /// The bytes of the text that hold the lines `first..=last` (from 1), without the last break.
    pub fn line_range(&self, first: u32, last: u32) -> std::ops::Range<usize> {
        let start = self.lines[(first.max(1) as usize - 1).min(self.lines.len() - 1)] as usize;
        let end = self.lines.get(last as usize).map_or(self.text.len(), |next| *next as usize - 1);
        start..end.max(start)
    }

    /// Position of `at` according to `#line`: the path, and the offset to add to the line.
    pub fn presumed(&self, at: u32) -> (&Arc<str>, i64) {
        let offset = at.saturating_sub(self.start);
        let index = self.renumbered.partition_point(|entry| entry.offset <= offset);
        let Some(entry) = index.checked_sub(1).map(|index| &self.renumbered[index]) else {
            return (&self.path, 0);
        };
        let real = self.lines.partition_point(|start| *start <= entry.offset) as i64;
        (&entry.path, i64::from(entry.line) - real)
    }
}

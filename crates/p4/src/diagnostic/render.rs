//! Terminal rendering of diagnostics: the message, the marked source and the suggestion.
//!
//! Uses `annotate-snippets` for the drawing. Adds the positions inside macros and included files,
//! and limits lines to the width of the terminal.

use super::{Diagnostic, Severity};
use crate::source::{FileId, SourceMap, Span};
use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Message, Renderer, Snippet};

/// Options of the rendered text.
#[derive(Clone, Copy, Debug)]
pub struct RenderOptions {
    /// Available columns.
    pub width: usize,
    /// True for ANSI colours.
    pub colour: bool,
}

/// Maximum number of diagnostics drawn for one program.
const MOST_DRAWN: usize = 100;

impl Default for RenderOptions {
    fn default() -> RenderOptions {
        RenderOptions { width: 100, colour: false }
    }
}

/// All diagnostics, separated by empty lines, with a last line that counts them.
pub fn render_all(
    diagnostics: &[Diagnostic],
    sources: &SourceMap,
    options: &RenderOptions,
) -> String {
    let mut text = String::new();
    let drawn = most_important(diagnostics);
    for diagnostic in &drawn {
        text.push_str(&render(diagnostic, sources, options));
        text.push('\n');
    }
    if drawn.len() < diagnostics.len() {
        text.push_str(&format!("{} more are not shown\n\n", diagnostics.len() - drawn.len()));
    }
    let count = |severity| diagnostics.iter().filter(|d| d.severity == severity).count();
    let counted = |number: usize, word: &str| match number {
        0 => None,
        1 => Some(format!("1 {word}")),
        _ => Some(format!("{number} {word}s")),
    };
    let errors = counted(count(Severity::Error), "error");
    let warnings = counted(count(Severity::Warning), "warning");
    let counts: Vec<String> = errors.into_iter().chain(warnings).collect();
    if !counts.is_empty() {
        text.push_str(&counts.join(", "));
        text.push('\n');
    }
    text
}

/// Diagnostics to draw: all, or errors before others if there are too many to read.
fn most_important(diagnostics: &[Diagnostic]) -> Vec<&Diagnostic> {
    if diagnostics.len() <= MOST_DRAWN {
        return diagnostics.iter().collect();
    }
    let (errors, others): (Vec<_>, Vec<_>) = diagnostics.iter().partition(|d| d.is_error());
    errors.into_iter().chain(others).take(MOST_DRAWN).collect()
}

/// One diagnostic, with a line break at its end.
pub fn render(diagnostic: &Diagnostic, sources: &SourceMap, options: &RenderOptions) -> String {
    let plain = RenderOptions { colour: false, ..*options };
    let fits = |text: &str| text.lines().all(|line| line.chars().count() <= options.width);
    // The drawing library respects its width only roughly, and not at all with long labels.
    let narrower = |by: usize| options.width.saturating_sub(by).max(20);
    let ways = [(narrower(0), true), (narrower(12), true), (narrower(12), false)];
    let fitting = ways.into_iter().find_map(|(margin, inline)| {
        let text = draw(diagnostic, sources, &plain, margin, inline);
        fits(&text).then_some((text, margin, inline))
    });
    match fitting {
        Some((text, ..)) if !options.colour => text,
        Some((_, margin, inline)) => draw(diagnostic, sources, options, margin, inline),
        None => {
            let text = draw(diagnostic, sources, options, narrower(30), false);
            cut(&text, options.width)
        }
    }
}

/// Truncates lines that are still too long. Colour codes have no width and are preserved.
fn cut(text: &str, width: usize) -> String {
    let mut shortened = String::with_capacity(text.len());
    let (mut column, mut in_code) = (0, false);
    for c in text.chars() {
        in_code |= c == '\u{1b}';
        if c == '\n' {
            column = 0;
        } else if !in_code {
            column += 1;
        }
        if column <= width {
            shortened.push(c);
        }
        in_code &= c != 'm';
    }
    shortened
}

/// Draws a diagnostic, with source lines up to about `margin`. Labels follow their marks if
/// `inline`, otherwise they become notes below.
fn draw(
    diagnostic: &Diagnostic,
    sources: &SourceMap,
    options: &RenderOptions,
    margin: usize,
    inline: bool,
) -> String {
    let renderer = if options.colour { Renderer::styled() } else { Renderer::plain() };
    let renderer = renderer.term_width(margin);
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    };
    let head = format!("{}[{}]: ", diagnostic.severity, diagnostic.code).len();
    let title = wrap(&diagnostic.message, options.width.saturating_sub(head));
    let mut main = level
        .primary_title(title)
        .id(diagnostic.code)
        .elements(snippets(diagnostic, sources, inline));
    let room = options.width.saturating_sub(16);
    if !inline {
        for text in demoted_labels(diagnostic, sources) {
            main = main.element(Level::NOTE.message(wrap(&text, room)));
        }
    }
    for message in trailing_messages(diagnostic, sources, room) {
        main = main.element(message);
    }
    let groups: Vec<Group<'_>> =
        std::iter::once(main).chain(macro_group(diagnostic, sources)).collect();
    let mut text = renderer.render(&groups);
    text.push('\n');
    text
}

/// Labels that do not fit next to their marks, as sentences.
fn demoted_labels(diagnostic: &Diagnostic, sources: &SourceMap) -> Vec<String> {
    let others = diagnostic.labels.iter().map(|label| match sources.location(label.span) {
        Some(place) => format!("line {}: {}", place.line, label.text),
        None => label.text.clone(),
    });
    diagnostic.label.iter().cloned().chain(others).collect()
}

/// Notes, suggestions and the chain of includes.
fn trailing_messages<'a>(
    diagnostic: &Diagnostic,
    sources: &SourceMap,
    room: usize,
) -> Vec<Message<'a>> {
    let includes = sources.includes(diagnostic.primary);
    let chain = includes.iter().map(|place| format!("included from {}:{}", place.path, place.line));
    let notes = diagnostic.notes.iter().cloned().chain(chain);
    let suggestions = diagnostic.suggestions.iter().map(|suggestion| suggestion.text.clone());
    let helps = diagnostic.help.iter().cloned().chain(suggestions);
    let notes = notes.map(|text| Level::NOTE.message(wrap(&text, room)));
    notes.chain(helps.map(|text| Level::HELP.message(wrap(&text, room)))).collect()
}

/// The source around the primary span, then around labels in other files.
fn snippets<'a>(
    diagnostic: &'a Diagnostic,
    sources: &'a SourceMap,
    inline: bool,
) -> Vec<Snippet<'a, Annotation<'a>>> {
    let label = diagnostic.label.as_deref().filter(|_| inline);
    let mut places: Vec<(FileId, Vec<Mark<'a>>)> = Vec::new();
    let primary = (AnnotationKind::Primary, diagnostic.primary, label);
    let others = diagnostic.labels.iter().map(|label| {
        let text = Some(label.text.as_str()).filter(|_| inline);
        (AnnotationKind::Context, label.span, text)
    });
    for (kind, span, label) in std::iter::once(primary).chain(others) {
        let Some((file, span)) = sources.in_file(span) else { continue };
        let mark = Mark { kind, span, label };
        match places.iter_mut().find(|(id, _)| *id == file) {
            Some((_, marks)) => marks.push(mark),
            None => places.push((file, vec![mark])),
        }
    }
    places.iter().map(|(file, marks)| excerpt(sources, *file, marks)).collect()
}

/// A span to be marked in a file.
struct Mark<'a> {
    kind: AnnotationKind,
    span: Span,
    label: Option<&'a str>,
}

/// The lines of a file from the first mark to the last.
fn excerpt<'a>(
    sources: &'a SourceMap,
    id: FileId,
    marks: &[Mark<'a>],
) -> Snippet<'a, Annotation<'a>> {
    let file = sources.file(id);
    let first = marks.iter().map(|mark| file.line_column(mark.span.start).0).min().unwrap_or(1);
    let last = marks.iter().map(|mark| file.line_column(mark.span.end).0).max().unwrap_or(first);
    let range = file.line_range(first, last);
    let window = &file.text[range.clone()];
    let start = marks.first().map_or(file.start, |mark| mark.span.start);
    let (path, shift) = file.presumed(start);
    let line = (i64::from(first) + shift).max(1) as usize;
    let place = |at: u32| {
        let mut offset = ((at - file.start) as usize).clamp(range.start, range.end) - range.start;
        while !window.is_char_boundary(offset) {
            offset -= 1;
        }
        offset
    };
    let annotations = marks
        .iter()
        .map(|mark| mark.kind.span(place(mark.span.start)..place(mark.span.end)).label(mark.label));
    Snippet::source(window).line_start(line).path(&**path).annotations(annotations)
}

/// Source position of a span inside a macro.
fn macro_group<'a>(diagnostic: &Diagnostic, sources: &'a SourceMap) -> Option<Group<'a>> {
    let expansions = sources.expansions(diagnostic.primary);
    let innermost = expansions.first()?;
    let (file, span) = sources.in_file(sources.spelling(diagnostic.primary))?;
    let names: Vec<String> = expansions.iter().map(|e| format!("`{}`", e.name)).collect();
    let title = match names.len() {
        1 => format!("it comes from the macro `{}`", innermost.name),
        2..=4 => format!("it comes from the macro {}", names.join(", which comes from ")),
        more => format!("it comes from the macro {}, {} macros deep", names[0], more),
    };
    let mark = Mark { kind: AnnotationKind::Primary, span, label: None };
    Some(Level::NOTE.secondary_title(title).element(excerpt(sources, file, &[mark])))
}

/// Breaks text at spaces so that no line is longer than `width`, where words allow it.
fn wrap(text: &str, width: usize) -> String {
    let mut lines = Vec::new();
    for paragraph in text.lines() {
        let mut line = String::new();
        let mut columns = 0;
        for word in paragraph.split(' ') {
            let letters = word.chars().count();
            if columns > 0 && columns + 1 + letters > width {
                lines.push(std::mem::take(&mut line));
                columns = 0;
            }
            if columns > 0 {
                line.push(' ');
                columns += 1;
            }
            columns += push_word(&mut line, word, letters, width);
        }
        lines.push(line);
    }
    lines.join("\n")
}

/// Adds a word; one that is longer than a line loses its middle. Returns its number of columns.
fn push_word(line: &mut String, word: &str, letters: usize, width: usize) -> usize {
    let width = width.max(16);
    if letters <= width {
        line.push_str(word);
        return letters;
    }
    let half = (width - 3) / 2;
    line.extend(word.chars().take(half));
    line.push_str("...");
    line.extend(word.chars().skip(letters - half));
    2 * half + 3
}

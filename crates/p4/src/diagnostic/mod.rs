//! Diagnostics of the front end: the error, its position and a suggested correction.
//!
//! A [`Diagnostic`] is data; [`render`] formats it as text with source excerpts, [`to_json`] as
//! JSON for tools. This module must not depend on P4, so that any stage can use it.
//!
//! Codes begin with `E` for errors and `W` for warnings: `E01xx` preprocessor, `E02xx` tokens,
//! `E03xx` syntax; later stages take the ranges above.

mod json;
mod render;
mod suggest;

pub use json::{to_json, to_json_string};
pub use render::{RenderOptions, render, render_all};
pub use suggest::near_name;

use crate::source::Span;
use std::fmt;

/// Severity of a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Information.
    Note,
    /// Legal, but suspicious.
    Warning,
    /// The program is rejected.
    Error,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        })
    }
}

/// A secondary span with a label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// Span.
    pub span: Span,
    /// Label text.
    pub text: String,
}

/// A source change that corrects the error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suggestion {
    /// Effect of the change, as a whole clause: "a name that is near: `hdr`".
    pub text: String,
    /// Span to replace; empty to insert.
    pub span: Span,
    /// Replacement text.
    pub replacement: String,
}

/// One message about the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Severity.
    pub severity: Severity,
    /// A stable code, such as `E0301`; the stages' ranges are in the module's documentation.
    pub code: &'static str,
    /// One sentence without a full stop.
    pub message: String,
    /// Primary span; a dummy span if there is none.
    pub primary: Span,
    /// Short label at the primary span.
    pub label: Option<String>,
    /// Secondary spans.
    pub labels: Vec<Label>,
    /// Explanatory notes.
    pub notes: Vec<String>,
    /// Suggestions.
    pub help: Vec<String>,
    /// Source changes that correct the error.
    pub suggestions: Vec<Suggestion>,
}

impl Diagnostic {
    /// A diagnostic with a message and a primary span only.
    pub fn new(
        severity: Severity,
        code: &'static str,
        span: Span,
        message: impl Into<String>,
    ) -> Diagnostic {
        Diagnostic {
            severity,
            code,
            message: message.into(),
            primary: span,
            label: None,
            labels: Vec::new(),
            notes: Vec::new(),
            help: Vec::new(),
            suggestions: Vec::new(),
        }
    }

    /// An error at `span`.
    pub fn error(code: &'static str, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Severity::Error, code, span, message)
    }

    /// A warning at `span`.
    pub fn warning(code: &'static str, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Severity::Warning, code, span, message)
    }

    /// A note at `span`.
    pub fn remark(code: &'static str, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Severity::Note, code, span, message)
    }

    /// Sets the label at the primary span.
    #[must_use]
    pub fn with_label(mut self, text: impl Into<String>) -> Diagnostic {
        self.label = Some(text.into());
        self
    }

    /// Adds a secondary span.
    #[must_use]
    pub fn with_place(mut self, span: Span, text: impl Into<String>) -> Diagnostic {
        self.labels.push(Label { span, text: text.into() });
        self
    }

    /// Adds an explanatory note.
    #[must_use]
    pub fn with_note(mut self, text: impl Into<String>) -> Diagnostic {
        self.notes.push(text.into());
        self
    }

    /// Adds a suggestion.
    #[must_use]
    pub fn with_help(mut self, text: impl Into<String>) -> Diagnostic {
        self.help.push(text.into());
        self
    }

    /// Adds a source change that corrects the error.
    #[must_use]
    pub fn with_suggestion(
        mut self,
        span: Span,
        replacement: impl Into<String>,
        text: impl Into<String>,
    ) -> Diagnostic {
        let (text, replacement) = (text.into(), replacement.into());
        self.suggestions.push(Suggestion { text, span, replacement });
        self
    }

    /// Suggests the nearest of `known` as a replacement for `unknown` at the primary span, if one
    /// is near.
    #[must_use]
    pub fn with_near_name<'a>(
        self,
        unknown: &str,
        known: impl IntoIterator<Item = &'a str>,
    ) -> Diagnostic {
        match near_name(unknown, known) {
            Some(near) => {
                let text = format!("did you mean `{near}`?");
                let span = self.primary;
                self.with_suggestion(span, near, text)
            }
            None => self,
        }
    }

    /// True for an error.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

//! The rules of the chip that a program can break, each with its code, its reason and its cure.
//!
//! A diagnostic names the rule it is about; the reason on the silicon and the suggestion come from
//! here, so that every message about a rule gives the same ones. Each rule has a program that
//! breaks it and keeps it, in the crate's folder `rules`: what `--explain` shows is what the tests
//! run. It stands on diagnostics and must not know how a rule is checked.
//!
//! | file | rules |
//! |---|---|
//! | `registers` | `T01` to `T06`: registers and their actions |
//! | `passes` | `T07` to `T09`: accesses, the program, deparsers |
//! | `controls` | `T10` to `T12`: conditions, actions, stages, surprises |
//! | `example` | the parts of a rule's program that show it |
//! | `explain` | the story of a rule as text, the list of all, the page of `docs` |

mod example;
mod explain;
#[cfg(test)]
mod tests;

use sojourn_p4::diagnostic::Diagnostic;
use sojourn_p4::source::Span;

pub use self::controls::*;
pub use self::explain::{list, page};
pub use self::passes::*;
pub use self::registers::*;

/// A rule of the chip.
#[derive(Debug, PartialEq, Eq)]
pub struct Rule {
    /// Stable code.
    pub code: &'static str,
    /// The rule in one line.
    pub title: &'static str,
    /// Why the silicon has it.
    pub reason: &'static str,
    /// What to do instead.
    pub cure: &'static str,
    /// A program that breaks the rule where the macro `BROKEN` is defined, and keeps it otherwise.
    pub program: &'static str,
}

/// Why a program is refused: an error that is cheap to hand upwards.
#[derive(Debug)]
pub struct Refusal(Box<Diagnostic>);

impl Refusal {
    /// Another place that matters.
    #[must_use]
    pub fn with_place(self, span: Span, text: impl Into<String>) -> Refusal {
        Refusal(Box::new(self.0.with_place(span, text)))
    }

    /// Words beside the mark at the primary place.
    #[must_use]
    pub fn with_label(self, text: impl Into<String>) -> Refusal {
        Refusal(Box::new(self.0.with_label(text)))
    }
}

impl From<Refusal> for Diagnostic {
    fn from(refusal: Refusal) -> Diagnostic {
        *refusal.0
    }
}

impl Rule {
    /// An error about this rule, with its reason and cure.
    pub fn refuse(&'static self, span: Span, message: impl Into<String>) -> Refusal {
        let error = Diagnostic::error(self.code, span, message);
        Refusal(Box::new(error.with_note(self.reason).with_help(self.cure)))
    }

    /// A warning about this rule, with its reason and cure.
    pub fn warning(&'static self, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic::warning(self.code, span, message).with_note(self.reason).with_help(self.cure)
    }
}

/// All rules in the order of their codes.
pub fn all() -> impl Iterator<Item = &'static Rule> {
    [registers::ALL, passes::ALL, controls::ALL].into_iter().flatten().copied()
}

/// The rule with this code, in either case of its letter.
pub fn find(code: &str) -> Option<&'static Rule> {
    all().find(|rule| rule.code.eq_ignore_ascii_case(code))
}

macro_rules! rules {
    ($($name:ident $code:literal $title:literal $reason:literal $cure:literal)*) => {
        use super::Rule;

        $(#[doc = $title]
        pub static $name: Rule = Rule {
            code: $code,
            title: $title,
            reason: $reason,
            cure: $cure,
            program: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/rules/", $code, ".p4")),
        };)*

        pub(super) static ALL: &[&Rule] = &[$(&$name),*];
    };
}

mod controls;
mod passes;
mod registers;

//! Form of a target's rules, and of the diagnostics about them.
//!
//! Uses the language crate's diagnostics. Each architecture defines its own rules.

mod example;
mod explanation;

pub use explanation::paragraph;

use sojourn_p4::diagnostic::Diagnostic;
use sojourn_p4::source::Span;

/// Declares rules, each by name, code, title, reason and cure, and the list `ALL` of them in their
/// order. `with programs`: the file of each code in the crate's folder `rules` shows it.
#[macro_export]
macro_rules! rules {
    (with programs: $($rules:tt)*) => { $crate::rules! { @list shown $($rules)* } };
    (without programs: $($rules:tt)*) => { $crate::rules! { @list none $($rules)* } };
    (@list $how:ident
        $($name:ident $code:literal $title:literal $reason:literal $cure:literal)*) => {
        $(#[doc = $title]
        pub static $name: $crate::Rule = $crate::Rule {
            code: $code,
            title: $title,
            reason: $reason,
            cure: $cure,
            program: $crate::rules!(@program $how $code),
        };)*

        /// All rules in the order of their codes.
        pub(crate) static ALL: &[&$crate::Rule] = &[$(&$name),*];
    };
    (@program shown $code:literal) => {
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/rules/", $code, ".p4"))
    };
    (@program none $code:literal) => { "" };
}

/// A rule of a target.
#[derive(Debug, PartialEq, Eq)]
pub struct Rule {
    /// Stable code.
    pub code: &'static str,
    /// The rule in one line.
    pub title: &'static str,
    /// Reason of the rule on the target.
    pub reason: &'static str,
    /// Suggested alternative.
    pub cure: &'static str,
    /// A program that breaks the rule if the macro `BROKEN` is defined, and follows it otherwise;
    /// empty if there is none.
    pub program: &'static str,
}

/// Rejection of a program: an error that is cheap to return.
#[derive(Debug)]
pub struct Refusal(Box<Diagnostic>);

impl Refusal {
    /// Adds a secondary span.
    #[must_use]
    pub fn with_place(self, span: Span, text: impl Into<String>) -> Refusal {
        Refusal(Box::new(self.0.with_place(span, text)))
    }

    /// Sets the label at the primary span.
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

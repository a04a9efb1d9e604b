//! Keys of `select` and conditions of `if` in parsers (T1302, T1303).
//!
//! The parser matches four bytes of the packet like a TCAM row. A condition of an `if` is a key of
//! one bit. Uses `fields`; must not depend on the enclosing states.

use super::fields::computed;
use crate::constant_folding::constant;

use crate::rules;
use sojourn_p4::diagnostic::Diagnostic;
use sojourn_p4::ir::{Expr, ExprKind, Pattern, Scalar, SelectCase};
use sojourn_p4::source::Span;

/// Bits that a parser state matches.
const MATCH_BITS: u32 = 32;

/// Checks the keys of a `select`, with known values in them.
pub fn check(keys: &[Expr], cases: &[SelectCase], span: Span, found: &mut Vec<Diagnostic>) {
    // A key that no case looks at is not matched.
    let matched = |at: usize| cases.iter().any(|case| case.patterns.get(at) != Some(&Pattern::Any));
    let fields =
        keys.iter().enumerate().filter(|(at, key)| matched(*at) && constant(key).is_none());
    let mut width = 0;
    for (_, key) in fields {
        match reason(key) {
            Some((part, message)) => {
                found.push(rules::PARSER_BRANCH.refuse(part.span, message).into());
            }
            None => width += key.scalar.width(),
        }
    }
    if width > MATCH_BITS {
        let message = format!("a `select` looks at {width} bits");
        found.push(rules::SELECT_WIDTH.refuse(span, message).into());
    }
}

/// Checks the condition of an `if` in a parser state.
pub fn check_condition(condition: &Expr, span: Span, found: &mut Vec<Diagnostic>) {
    if computed(condition).is_some() {
        let message = "an `if` in a parser state compares or computes";
        found.push(rules::PARSER_BRANCH.refuse(span, message).into());
    }
}

/// The part of a key that is no field, and what it is.
fn reason(key: &Expr) -> Option<(&Expr, &'static str)> {
    if let Some(part) = computed(key) {
        let message = match part.scalar {
            Scalar::Bool => "a `select` compares",
            _ => "a `select` computes",
        };
        return Some((part, message));
    }
    match &key.kind {
        ExprKind::Cast(inner) if inner.scalar.width() < key.scalar.width() => {
            Some((key, "a `select` widens a field"))
        }
        _ => None,
    }
}

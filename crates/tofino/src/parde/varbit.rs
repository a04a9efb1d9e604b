//! Lengths of fields of variable size (T1306).
//!
//! The compiler generates one parser branch for each value of the field from which the length is
//! computed, and computes the length of each branch itself. Uses `copy_propagation`.

use super::copy_propagation::Known;
use crate::constant_folding::constant;
use crate::rules;
use sojourn_p4::diagnostic::Diagnostic;
use sojourn_p4::ir::{Expr, ExprKind, Layout, Slot};
use sojourn_p4::source::Span;
use sojourn_p4::visit;

/// Branches that the compiler writes at most.
const MAX_BRANCHES: u64 = 1024;

/// Checks the length of a header's field of variable size, with known values in it.
pub fn check(header: &Layout, bits: &Expr, span: Span, found: &mut Vec<Diagnostic>) {
    if let Some(message) = fault(header, bits) {
        found.push(rules::VARBIT_LENGTH.refuse(span, message).into());
    }
}

fn fault(header: &Layout, bits: &Expr) -> Option<String> {
    let most = longest(header)?;
    if let Some(length) = constant(bits) {
        return match length {
            0 => Some("a length of 0 bits".to_owned()),
            _ => unaligned(length, most).map(|_| format!("a length of {length} bits")),
        };
    }
    let mut sources = Vec::new();
    variables(bits, &mut sources);
    let Some(&source) = sources.first() else {
        return Some("a length that is no function of a field".to_owned());
    };
    if sources.iter().any(|other| *other != source) {
        return Some("a length that is computed of two fields".to_owned());
    }
    let branches = 1_u64.checked_shl(source.width).unwrap_or(u64::MAX);
    if branches > MAX_BRANCHES {
        return Some(format!("a length that a field of {} bits decides", source.width));
    }
    (0..u128::from(branches)).find_map(|value| {
        let length = constant(&Known::default().resolved(&replaced(bits, source, value)))?;
        unaligned(length, most)
            .map(|length| format!("a length of {length} bits where the field is {value}"))
    })
}

/// The bits of a field from which a length is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Source {
    slot: Slot,
    low: u32,
    width: u32,
}

impl Source {
    /// A field, or the part of one that a slice or cast takes.
    fn new(expr: &Expr) -> Option<Source> {
        let width = expr.scalar.width();
        match &expr.kind {
            ExprKind::Slot(slot) => Some(Source { slot: *slot, low: 0, width }),
            ExprKind::Slice(inner, low) => match inner.kind {
                ExprKind::Slot(slot) => Some(Source { slot, low: *low, width }),
                _ => None,
            },
            ExprKind::Cast(inner) if width < inner.scalar.width() => match inner.kind {
                ExprKind::Slot(slot) => Some(Source { slot, low: 0, width }),
                _ => None,
            },
            _ => None,
        }
    }
}

fn variables(expr: &Expr, found: &mut Vec<Source>) {
    match Source::new(expr) {
        Some(source) => found.push(source),
        None => {
            visit::operands(expr).into_iter().for_each(|operand| variables(operand, found));
        }
    }
}

/// The expression with a value in place of its source.
fn replaced(expr: &Expr, source: Source, value: u128) -> Expr {
    let mut expr = expr.clone();
    visit::change_expression(&mut expr, &mut |part| {
        let here = Source::new(part) == Some(source);
        if here {
            part.kind = ExprKind::Const(value);
        }
        !here
    });
    expr
}

/// A length that fits the field and is no whole number of bytes; longer ones the parser rejects.
fn unaligned(length: u128, most: u32) -> Option<u128> {
    (length <= u128::from(most) && !length.is_multiple_of(8)).then_some(length)
}

/// The largest length of the header's field of variable size.
fn longest(header: &Layout) -> Option<u32> {
    let Layout::Header { fields, .. } = header else { return None };
    fields.iter().find_map(|field| match field {
        Layout::VarBit { max, .. } => Some(*max),
        _ => None,
    })
}

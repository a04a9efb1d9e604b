//! Lengths of fields of variable size (T1306).
//!
//! The compiler writes one parser branch for each value of the field that the length is computed of,
//! and computes the length of each branch itself. Stands on `known`.

use super::known::{Known, constant};
use crate::tna::rules;
use crate::visit;
use sojourn_p4::diagnostic::Diagnostic;
use sojourn_p4::ir::{Expr, ExprKind, Layout, Scalar, Slot, Stmt, StmtKind};
use sojourn_p4::source::Span;

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
    let (slot, scalar) = match &sources[..] {
        [] => return Some("a length that is no function of a field".to_owned()),
        [(slot, scalar), others @ ..] if others.iter().all(|(other, _)| other == slot) => {
            (*slot, *scalar)
        }
        _ => return Some("a length that is computed of two fields".to_owned()),
    };
    let branches = 1_u64.checked_shl(scalar.width()).unwrap_or(u64::MAX);
    if scalar.width() >= 64 || branches > MAX_BRANCHES {
        return Some(format!("a length that a field of {} bits decides", scalar.width()));
    }
    let mut known = Known::default();
    (0..u128::from(branches)).find_map(|value| {
        let constant_of = Expr { kind: ExprKind::Const(value), scalar, span: bits.span };
        known.step(&Stmt { kind: StmtKind::Set(slot, constant_of), span: bits.span });
        let length = constant(&known.resolved(bits))?;
        unaligned(length, most).map(|length| format!("a length of {length} bits where the field is {value}"))
    })
}

/// A length that fits the field and is no whole number of bytes; longer ones the parser rejects.
fn unaligned(length: u128, most: u32) -> Option<u128> {
    (length <= u128::from(most) && length % 8 != 0).then_some(length)
}

/// The largest length of the header's field of variable size.
fn longest(header: &Layout) -> Option<u32> {
    let Layout::Header { fields, .. } = header else { return None };
    fields.iter().find_map(|field| match field {
        Layout::VarBit { max, .. } => Some(*max),
        _ => None,
    })
}

fn variables(expr: &Expr, found: &mut Vec<(Slot, Scalar)>) {
    match &expr.kind {
        ExprKind::Slot(slot) => found.push((*slot, expr.scalar)),
        _ => visit::operands(expr).into_iter().for_each(|operand| variables(operand, found)),
    }
}

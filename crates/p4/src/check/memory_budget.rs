//! Memory budget of a program's constants.
//!
//! A constant's value is copied to each place that names it, and a fold can produce a number or a
//! string longer than its text. A short program could therefore require unlimited memory: values
//! are counted where they are created. Literal text is not counted: its tokens have a limit.

use super::Checker;
use super::messages::code;
use super::operand::{Operand, broken};
use crate::ast;
use crate::diagnostic::Diagnostic;
use crate::hir::{Expr, ExprKind, Value};
use crate::source::Span;

/// Budget of all copies, in units: a node of an aggregate, or 64 bits of a number or a string.
const MAX_UNITS: u64 = 1 << 21;

/// Remaining units; `None` once a value has exceeded them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budget(Option<u64>);

impl Default for Budget {
    fn default() -> Budget {
        Budget(Some(MAX_UNITS))
    }
}

/// Units of a value; counting stops above `most`.
fn units(expr: &Expr, most: u64) -> u64 {
    match &expr.kind {
        ExprKind::Const(Value::Int(number)) => number.bits() / 64,
        ExprKind::Const(Value::String(text)) => text.len() as u64 / 8,
        ExprKind::Aggregate(items) => items
            .iter()
            .fold(1, |sum, item| if sum > most { sum } else { sum + 1 + units(item, most - sum) }),
        _ => 0,
    }
}

impl Checker<'_> {
    /// Returns an operand if the memory of its value is within the limit of a program. A braced
    /// literal is as long as its text and is not counted again.
    pub(super) fn affordable(&mut self, operand: Operand, from: &ast::Expr) -> Operand {
        let Operand::Value(value) = operand else { return operand };
        let written = matches!(from.kind, ast::ExprKind::List(_) | ast::ExprKind::Paren(_));
        if written || self.afford(units(&value, MAX_UNITS), from.span) {
            return Operand::Value(value);
        }
        Operand::Value(broken(from.span))
    }

    /// Takes units off the budget; reports the first time that it is exceeded.
    pub(super) fn afford(&mut self, units: u64, span: Span) -> bool {
        let Some(left) = self.budget.0 else { return units == 0 };
        self.budget.0 = left.checked_sub(units);
        if self.budget.0.is_none() {
            let message = "the constants of this program take too much memory";
            self.report(Diagnostic::error(code::TOO_LARGE, span, message).with_note(format!(
                "each use of a constant is a copy; all copies together have at most {MAX_UNITS} \
                 elements, or {MAX_UNITS} times 64 bits of numbers and text"
            )));
        }
        self.budget.0.is_some()
    }
}

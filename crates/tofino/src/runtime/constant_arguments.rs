//! Checks of call arguments that the chip fixes when a program is built.
//!
//! Uses the IR. Arguments of an extern's constructor are checked where its object is created
//! (`prepare`).

use crate::rules::{self, Refusal};
use sojourn_externs::call::{argument_bits, value};
use sojourn_p4::ir::{Expr, ExprKind, ExternCall, Program, UnitId, Value};
use sojourn_p4::visit;

/// Refuses a call whose arguments the chip cannot be configured with; `of` is its object's extern.
pub fn check(program: &Program, unit: UnitId, of: &str, call: &ExternCall) -> Result<(), Refusal> {
    // If it is optional, the constant is the last argument.
    let last = call.args.len().saturating_sub(1);
    let constant = |what: &str| match value(call, last) {
        Some(Value::Scalar(expr)) if reads_a_field(program, unit, expr) => {
            Err(rules::WIRED_ARGUMENT.refuse(expr.span, format!("{what} is not a constant")))
        }
        _ => Ok(()),
    };
    match (of, &*call.name) {
        ("Hash", "get") if argument_bits(call, 0) == 0 => {
            Err(rules::EXTERN_ARGUMENT.refuse(call.span, "a hash of no fields"))
        }
        ("ParserCounter", "increment" | "decrement") => constant("the step of a parser counter"),
        ("Counter" | "DirectCounter", "count") if last > 0 || of == "DirectCounter" => {
            constant("the adjustment of a counter")
        }
        ("Meter" | "DirectMeter", "execute") if last > 0 || of == "DirectMeter" => {
            constant("the adjustment of a meter")
        }
        _ => Ok(()),
    }
}

/// True if a value depends on the packet or on action data. The elaborator's own variables may hold
/// what `sizeInBytes` and the like have computed, which is known.
fn reads_a_field(program: &Program, unit: UnitId, expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Slot(slot) => !program.units[unit.index()].slots[slot.index()].temporary,
        ExprKind::WideSlot(_) | ExprKind::Element { .. } | ExprKind::WideElement { .. } => true,
        _ => visit::operands(expr).into_iter().any(|part| reads_a_field(program, unit, part)),
    }
}

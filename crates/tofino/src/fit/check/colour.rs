//! Results of meters in fields wider than they are (T1022), observed with p4c.
//!
//! In an action the result is a part of the instruction's source. The bits beside it would be a second
//! part, and the compiler finds no container. In `apply` it makes a field of the result first. Metadata whose
//! upper bits nothing reads is as narrow as the result for it.

use super::sign::is_read_whole;
use super::values::{Evaluated, Executor, slots};
use crate::fit::bits::{Bits, Place};
use crate::rules;
use sojourn_p4::diagnostic::Diagnostic;
use sojourn_p4::ir::{Binary, Expr, ExprKind, Slot, Unit};
use std::collections::HashSet;

/// Checks what the actions of a control evaluate.
pub fn check(
    unit: &Unit,
    all: &[&Evaluated],
    colours: &HashSet<Slot>,
    found: &mut Vec<Diagnostic>,
) {
    for evaluated in all.iter().filter(|evaluated| evaluated.in_action) {
        let Executor::Instruction(Some(Bits { place, .. })) = evaluated.by else { continue };
        if widens(&evaluated.expr, colours)
            && (!is_metadata(unit, place) || is_read_whole(all, place))
        {
            let message = "an action puts a meter's result beside other bits";
            found.push(rules::SHARED_CONTAINER.refuse(evaluated.at, message).into());
        }
    }
}

/// True for a variable of the control and for the metadata that the program declares.
fn is_metadata(unit: &Unit, place: Place) -> bool {
    let Place::Narrow(slot) = place else { return false };
    let behind = |layout| slots(layout).contains(&slot);
    !unit.params.iter().enumerate().any(|(at, param)| at != 1 && behind(&param.layout))
}

/// True if an expression puts bits beside the result of a meter.
fn widens(expr: &Expr, colours: &HashSet<Slot>) -> bool {
    match &expr.kind {
        ExprKind::Cast(inner) => {
            expr.scalar.width() > inner.scalar.width() && is_colour(inner, colours)
        }
        ExprKind::Binary(Binary::Concat, a, b) => is_colour(a, colours) || is_colour(b, colours),
        _ => false,
    }
}

/// True for a meter's result and bits of it.
fn is_colour(expr: &Expr, colours: &HashSet<Slot>) -> bool {
    match &expr.kind {
        ExprKind::Slot(slot) => colours.contains(slot),
        ExprKind::Cast(inner) | ExprKind::Slice(inner, _) => is_colour(inner, colours),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Parts;

    const METER: &str = "Meter<bit<8>>(256, MeterType_t.BYTES) meter; action colour()";

    fn codes(action: &str, after: &str) -> Vec<&'static str> {
        let egress = format!("{METER} {{ {action} }}");
        let apply = format!("colour(); {after}");
        let parts = Parts { egress: &egress, apply: &apply, ..Parts::default() };
        match crate::testing::load_text(&parts.text()) {
            Ok(_) => Vec::new(),
            Err(error) => error.diagnostics.iter().map(|found| found.code).collect(),
        }
    }

    #[test]
    fn an_action_that_widens_the_result_of_a_meter_is_refused() {
        let seen = "if (m.d == 3) { h.ethernet.src = 1; }";
        for (action, after) in [
            ("h.ethernet.kind = (bit<16>)meter.execute(8w1);", ""),
            ("h.ethernet.kind = 8w0 ++ meter.execute(8w1);", ""),
            ("h.ethernet.kind = meter.execute(8w1) ++ 8w0;", ""),
            ("bit<8> x = meter.execute(8w1); h.ethernet.kind = (bit<16>)x;", ""),
            ("m.d = (bit<16>)meter.execute(8w1);", seen),
        ] {
            assert_eq!(codes(action, after), ["T1022"], "{action}");
        }
    }

    #[test]
    fn a_meter_may_fill_its_field_and_be_widened_afterwards() {
        for (action, after) in [
            ("h.ethernet.kind[7:0] = meter.execute(8w1);", ""),
            ("m.e = meter.execute(8w1);", "h.ethernet.kind = (bit<16>)m.e;"),
            (
                "m.d = (bit<16>)meter.execute(8w1);",
                "m.e = (bit<8>)m.d; h.ethernet.kind[7:0] = m.e;",
            ),
            ("m.d = (bit<16>)meter.execute(8w1);", ""),
        ] {
            assert!(codes(action, after).is_empty(), "{action}");
        }
    }
}

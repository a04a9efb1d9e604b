//! Headers of variable size in controls (T1311), after `bf-p4c/midend/desugar_varbit_extract.cpp`.
//!
//! The compiler cuts such a header into headers of fixed size, of which the parser extracts some. A
//! control cannot choose them.

use crate::rules;
use sojourn_p4::diagnostic::Diagnostic;
use sojourn_p4::ir::{ExprKind, Layout, Program, Slot, StmtKind, UnitId};
use sojourn_p4::visit;
use std::collections::HashSet;

/// Refuses `setValid` of a header with a field of variable size.
pub fn check(program: &Program, control: UnitId, found: &mut Vec<Diagnostic>) {
    let unit = &program.units[control.index()];
    let mut variable = HashSet::new();
    unit.params.iter().for_each(|param| validities(&param.layout, &mut variable));
    if variable.is_empty() {
        return;
    }
    visit::unit_statements(program, control, &mut |stmt| {
        if let StmtKind::Set(slot, value) = &stmt.kind
            && variable.contains(slot)
            && matches!(value.kind, ExprKind::Const(1))
        {
            let message = "a control makes a header of variable size valid";
            found.push(rules::VARBIT_VALID.refuse(stmt.span, message).into());
        }
    });
}

/// The validity of each header that has a field of variable size.
fn validities(layout: &Layout, found: &mut HashSet<Slot>) {
    match layout {
        Layout::Header { valid, fields, .. }
            if fields.iter().any(|field| matches!(field, Layout::VarBit { .. })) =>
        {
            found.insert(*valid);
        }
        Layout::Union { members: inner, .. }
        | Layout::Struct { fields: inner, .. }
        | Layout::Stack { elements: inner, .. } => {
            inner.iter().for_each(|part| validities(part, found));
        }
        _ => {}
    }
}

//! Hashes that a control plane can set: those with a single call.
//!
//! The vendor's compiler creates no tables for the others, either (`getDynHash` of its
//! control-plane part).

use super::annotation::read;
use super::types::width;
use super::{Hash, HashInput, Named};
use num_bigint::BigUint;
use sojourn_externs::call::value;
use sojourn_p4::ir::{
    Expr, ExprKind, ExternCall, Layout, ObjectId, Program, Slot, StmtKind, Unit, UnitId, Value,
};
use sojourn_p4::visit;

/// All of a program's, by their objects.
pub fn hashes(program: &Program) -> Vec<(ObjectId, Hash)> {
    let mut calls: Vec<(ObjectId, UnitId, &ExternCall)> = Vec::new();
    visit::calls(program, &mut |unit, call| {
        if let Some(id) = call.object
            && &*program.objects[id.index()].of == "Hash"
            && &*call.name == "get"
        {
            calls.push((id, unit, call));
        }
    });
    let mut found = Vec::new();
    for (id, unit, call) in &calls {
        if calls.iter().filter(|(other, _, _)| other == id).count() > 1 {
            continue;
        }
        let object = &program.objects[id.index()];
        let Some(inputs) = inputs(&program.units[unit.index()], call) else { continue };
        let wide = object.type_args.first().map_or(0, width);
        let named = Named { name: object.name.to_string(), annotations: read(&object.annotations) };
        let used = used(program, *unit, call, wide);
        found.push((*id, Hash { named, inputs, width: wide, used }));
    }
    found
}

/// Inputs of a hash call, if every one has a name.
fn inputs(unit: &Unit, call: &ExternCall) -> Option<Vec<HashInput>> {
    let parts = match value(call, 0)? {
        Value::Struct { fields, .. } => fields,
        _ => return None,
    };
    let mut scalars = Vec::new();
    for part in parts {
        // A header or a struct among them has no name in the vendor's tables.
        let Value::Scalar(expr) = part else { return None };
        scalars.push(expr);
    }
    let named = scalars.into_iter().map(|expr| {
        let constant = match &expr.kind {
            ExprKind::Const(value) => Some(BigUint::from(*value)),
            ExprKind::WideConst(value) => Some(value.clone()),
            _ => None,
        };
        Some(HashInput { name: text(unit, expr)?, width: expr.scalar.width(), constant })
    });
    named.collect()
}

/// An input as the program writes it.
fn text(unit: &Unit, expr: &Expr) -> Option<String> {
    Some(match &expr.kind {
        ExprKind::Slot(slot) => unit.slots[slot.index()].name.to_string(),
        ExprKind::WideSlot(slot) => unit.wide_slots[slot.index()].name.to_string(),
        ExprKind::Slice(of, low) => {
            format!("{}[{}:{low}]", text(unit, of)?, low + expr.scalar.width() - 1)
        }
        ExprKind::Guarded { read, .. } => text(unit, read)?,
        ExprKind::Const(value) => value.to_string(),
        ExprKind::WideConst(value) => value.to_string(),
        _ => return None,
    })
}

/// The bits of a result that the program uses: the lowest, and their number.
fn used(program: &Program, unit: UnitId, call: &ExternCall, width: u32) -> (u32, u32) {
    let whole = (0, width);
    let Some(Layout::Narrow(slot, _)) = &call.result else { return whole };
    if !program.units[unit.index()].slots[slot.index()].temporary {
        return whole;
    }
    let mut bits: Option<(u32, u32)> = Some((u32::MAX, 0));
    visit::unit_statements(program, unit, &mut |stmt| {
        for expr in visit::expressions(stmt) {
            reads(expr, *slot, &mut bits);
        }
        if let StmtKind::Call(other) = &stmt.kind
            && !std::ptr::eq(other, call)
            && matches!(&other.result, Some(Layout::Narrow(same, _)) if same == slot)
        {
            bits = None;
        }
    });
    match bits {
        Some((low, end)) if low < end => (low, end - low),
        _ => whole,
    }
}

/// Extends `bits` by those of `slot` that an expression reads; `None` if it reads all.
fn reads(expr: &Expr, slot: Slot, bits: &mut Option<(u32, u32)>) {
    match &expr.kind {
        ExprKind::Slot(read) if *read == slot => *bits = None,
        ExprKind::Slice(of, low) if matches!(of.kind, ExprKind::Slot(read) if read == slot) => {
            if let Some((first, end)) = bits {
                *first = (*first).min(*low);
                *end = (*end).max(low + expr.scalar.width());
            }
        }
        ExprKind::Cast(of) if matches!(of.kind, ExprKind::Slot(read) if read == slot) => {
            // Cut to its low bits, or the whole slot.
            if let Some((first, end)) = bits {
                *first = 0;
                *end = (*end).max(expr.scalar.width().min(of.scalar.width()));
            }
        }
        _ => visit::operands(expr).into_iter().for_each(|part| reads(part, slot, bits)),
    }
}

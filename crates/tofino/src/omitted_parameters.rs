//! Intrinsic parameters that a control leaves out although the blocks around it have them.
//!
//! All intrinsic parameters of TNA are optional, and the containers behind them belong to a pass,
//! not to a block: a port that an ingress parser sets reaches the traffic manager although the
//! control does not have the parameter. [`complete`] adds such parameters to the control, so that a
//! value passes from block to block in one way only. Must not depend on the meaning of the fields.

use super::metadata::Role;
use sojourn_p4::ast::Direction;
use sojourn_p4::ir::{Layout, Param, Program, Slot, SlotInfo, UnitId};
use std::collections::BTreeMap;

/// Adds to the control of a pass the intrinsic parameters that only its parser or its deparser has.
pub fn complete(program: &mut Program, [parser, control, deparser]: [UnitId; 3]) {
    let mut missing: BTreeMap<Role, (Param, Vec<SlotInfo>)> = BTreeMap::new();
    for unit in [parser, deparser].map(|unit| &program.units[unit.index()]) {
        for param in &unit.params {
            if let Some(role) = Role::of_type(&param.ty) {
                let slots = unit.slots[param.layout.range().narrow()].to_vec();
                missing.entry(role).or_insert_with(|| (param.clone(), slots));
            }
        }
    }
    let control = &mut program.units[control.index()];
    for role in control.params.iter().filter_map(|param| Role::of_type(&param.ty)) {
        missing.remove(&role);
    }
    for (param, slots) in missing.into_values() {
        let from = param.layout.range().narrow().start;
        let layout = moved(&param.layout, from, control.slots.len());
        control.slots.extend(slots);
        control.params.push(Param { direction: Direction::InOut, layout, ..param });
    }
}

/// A layout of scalars whose first slot moves to another place.
fn moved(layout: &Layout, from: usize, to: usize) -> Layout {
    let slot = |slot: &Slot| Slot((slot.index() - from + to) as u32);
    let parts = |parts: &[Layout]| parts.iter().map(|part| moved(part, from, to)).collect();
    match layout {
        Layout::Narrow(at, scalar) => Layout::Narrow(slot(at), *scalar),
        Layout::Header { valid, fields, ty } => {
            Layout::Header { valid: slot(valid), fields: parts(fields), ty: ty.clone() }
        }
        Layout::Struct { fields, ty } => Layout::Struct { fields: parts(fields), ty: ty.clone() },
        // Intrinsic metadata has narrow scalars only.
        _ => Layout::Object,
    }
}

//! Metadata fields that are valid only once they are assigned: mirror, resubmit and digest type,
//! unicast port, multicast groups (TNA p. 34-35).
//!
//! The chip stores a valid bit for each container. Here an invalid field holds [`INVALID`], a
//! pattern that no value of its width has; copies propagate it, and every other read yields zero,
//! as on the chip. [`mask_reads`] rewrites a program so that this holds.

use crate::chip::Chip;
use sojourn_p4::ir::{
    Arg, Body, Expr, ExprKind, Program, Slot, Stmt, StmtKind, Transition, UnitId,
};
use sojourn_p4::visit;
use std::collections::HashSet;

/// Slot value of an invalid field.
pub const INVALID: u128 = 1 << 127;

/// The fields, by the last part of their names, with their widths; 0 stands for the chip's.
const FIELDS: [(&str, u32); 6] = [
    ("mirror_type", 0),
    ("resubmit_type", 3),
    ("digest_type", 3),
    ("ucast_egress_port", 9),
    ("mcast_grp_a", 16),
    ("mcast_grp_b", 16),
];

/// Further such fields of chips whose requests to the deparser all have valid bits.
const REQUESTS: [(&str, u32); 7] = [
    ("mirror_deflect_on_drop", 1),
    ("mirror_io_select", 1),
    ("mirror_ingress_cos", 3),
    ("mirror_egress_port", 9),
    ("mirror_qid", 7),
    ("mtu_trunc_len", 14),
    ("adv_flow_ctl", 32),
];

/// True for the names of fields with a valid bit.
pub fn has_valid_bit(field: &str) -> bool {
    FIELDS.iter().chain(&REQUESTS).any(|(name, _)| *name == field)
}

/// Makes all reads of such fields that are not plain copies read the value without [`INVALID`].
pub fn mask_reads(program: &mut Program, chip: &Chip) {
    for index in 0..program.units.len() {
        let unit = UnitId(index as u32);
        let carriers = carriers(program, chip, unit);
        if !carriers.is_empty() {
            mask_unit(program, unit, &carriers);
        }
    }
}

/// The slots of a unit that may hold such a field, copies in inlined controls included.
fn carriers(program: &Program, chip: &Chip, unit: UnitId) -> HashSet<Slot> {
    let slots = program.units[unit.index()].slots.iter().enumerate();
    let requests: &[(&str, u32)] = if chip.shared_validity { &REQUESTS } else { &[] };
    let fields = FIELDS.iter().chain(requests);
    let named = slots.filter(|(_, slot)| {
        let last = slot.name.rsplit('.').next().unwrap_or_default();
        fields.clone().any(|(name, width)| {
            let width = if *width == 0 { chip.front.mirror_type_bits } else { *width };
            *name == last && width == slot.scalar.width()
        })
    });
    let mut carriers: HashSet<Slot> = named.map(|(at, _)| Slot(at as u32)).collect();
    loop {
        let before = carriers.len();
        visit::unit_statements(program, unit, &mut |stmt| follow_copies(stmt, &mut carriers));
        if carriers.len() == before {
            return carriers;
        }
    }
}

fn follow_copies(stmt: &Stmt, carriers: &mut HashSet<Slot>) {
    match &stmt.kind {
        StmtKind::Set(to, Expr { kind: ExprKind::Slot(from), .. }) if carriers.contains(from) => {
            carriers.insert(*to);
        }
        StmtKind::Copy { narrow: (from, to, count), .. } => {
            for i in 0..*count {
                if carriers.contains(&Slot(from.0 + i)) {
                    carriers.insert(Slot(to.0 + i));
                }
            }
        }
        _ => {}
    }
}

fn mask_unit(program: &mut Program, unit: UnitId, carriers: &HashSet<Slot>) {
    let list = |stmts: &mut [Stmt]| mask_list(stmts, carriers);
    match &mut program.units[unit.index()].body {
        Body::Control { stmts, .. } => list(stmts),
        Body::Parser(parser) => {
            list(&mut parser.init);
            for state in &mut parser.states {
                list(&mut state.body);
                if let Transition::Select { keys, .. } = &mut state.transition {
                    keys.iter_mut().for_each(|key| mask_expression(key, carriers));
                }
            }
        }
    }
    for table in program.tables.iter_mut().filter(|table| table.unit == unit) {
        table.actions.iter_mut().for_each(|action| list(&mut action.body));
        table.keys.iter_mut().for_each(|key| mask_expression(&mut key.expr, carriers));
    }
    for object in program.objects.iter_mut().filter(|object| object.unit == Some(unit)) {
        object.methods.iter_mut().for_each(|method| list(&mut method.body));
    }
}

/// Makes reads of carriers in an expression read the bits of their width only.
fn mask_expression(expr: &mut Expr, carriers: &HashSet<Slot>) {
    visit::change_expression(expr, &mut |expr| mask(expr, carriers));
}

fn mask(expr: &mut Expr, carriers: &HashSet<Slot>) -> bool {
    let ExprKind::Slot(slot) = &expr.kind else { return true };
    if carriers.contains(slot) {
        let inner = Box::new(expr.clone());
        expr.kind = ExprKind::Slice(inner, 0);
    }
    false
}

fn mask_list(stmts: &mut [Stmt], carriers: &HashSet<Slot>) {
    for stmt in stmts {
        match &mut stmt.kind {
            StmtKind::Set(to, Expr { kind: ExprKind::Slot(_), .. }) if carriers.contains(to) => {}
            StmtKind::Call(call) if matches!(&*call.name, "invalidate" | "is_validated") => {}
            StmtKind::If { condition, then, otherwise } => {
                mask_expression(condition, carriers);
                mask_list(then, carriers);
                mask_list(otherwise, carriers);
            }
            StmtKind::Switch { subject, cases, default } => {
                mask_expression(subject, carriers);
                cases.iter_mut().for_each(|(_, body)| mask_list(body, carriers));
                mask_list(default, carriers);
            }
            StmtKind::Block { body, .. } | StmtKind::Loop { body, .. } => {
                mask_list(body, carriers);
            }
            _ => visit::change_list(std::slice::from_mut(stmt), &mut |e| mask(e, carriers)),
        }
    }
}

/// The slot that `invalidate` and `is_validated` are given.
pub fn field_argument(args: &[Arg]) -> Option<Slot> {
    use sojourn_p4::ir::Value;
    match args.first()? {
        Arg::In(Value::Scalar(Expr { kind: ExprKind::Slot(slot), .. })) => Some(*slot),
        Arg::In(Value::Header { valid: Expr { kind: ExprKind::Slot(slot), .. }, .. }) => {
            Some(*slot)
        }
        _ => None,
    }
}

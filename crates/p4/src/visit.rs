//! Walks over the IR that several parts of this folder need: every statement, every expression.
//!
//! Depends on the shape of the IR, not on its meaning.

use crate::ir::{
    Arg, Body, Expr, ExprKind, ExternCall, Layout, Program, Slot, Stmt, StmtKind, Table, Unit,
    UnitId, Value,
};

/// The statement lists directly inside a statement.
pub fn inner_lists(stmt: &Stmt) -> Vec<&[Stmt]> {
    match &stmt.kind {
        StmtKind::If { then, otherwise, .. } => vec![then, otherwise],
        StmtKind::Switch { cases, default, .. } => {
            cases.iter().map(|(_, body)| body.as_slice()).chain([default.as_slice()]).collect()
        }
        StmtKind::Block { body, .. } | StmtKind::Loop { body, .. } => vec![body],
        _ => Vec::new(),
    }
}

/// The statement lists at the top of a unit, in the order in which they may run.
pub fn unit_lists(unit: &Unit) -> Vec<&[Stmt]> {
    match &unit.body {
        Body::Control { stmts, .. } => vec![stmts],
        Body::Parser(parser) => {
            let states = parser.states.iter().map(|state| state.body.as_slice());
            std::iter::once(parser.init.as_slice()).chain(states).collect()
        }
    }
}

/// Calls `see` for every statement of `stmts` and inside them.
pub fn statements<'p>(stmts: &'p [Stmt], see: &mut dyn FnMut(&'p Stmt)) {
    for stmt in stmts {
        see(stmt);
        inner_lists(stmt).into_iter().for_each(|list| statements(list, see));
    }
}

/// Calls `see` for every statement that runs for packets of `unit`: its own, those of its tables'
/// actions, those of its objects' methods.
pub fn unit_statements<'p>(program: &'p Program, unit: UnitId, see: &mut dyn FnMut(&'p Stmt)) {
    for list in unit_lists(&program.units[unit.index()]) {
        statements(list, see);
    }
    for table in program.tables.iter().filter(|table| table.unit == unit) {
        table.actions.iter().for_each(|action| statements(&action.body, see));
    }
    for object in program.objects.iter().filter(|object| object.unit == Some(unit)) {
        object.methods.iter().for_each(|method| statements(&method.body, see));
    }
}

/// The same without the methods of objects.
pub fn statements_outside_methods<'p>(
    program: &'p Program,
    unit: &'p Unit,
    see: &mut dyn FnMut(&'p Stmt),
) {
    unit_lists(unit).into_iter().for_each(|list| statements(list, see));
    let mine = |table: &&Table| std::ptr::eq(&program.units[table.unit.index()], unit);
    for table in program.tables.iter().filter(mine) {
        table.actions.iter().for_each(|action| statements(&action.body, see));
    }
}

/// Calls `see` for every external call of the program, with its unit.
pub fn calls<'p>(program: &'p Program, see: &mut dyn FnMut(UnitId, &'p ExternCall)) {
    for index in 0..program.units.len() {
        let unit = UnitId(index as u32);
        unit_statements(program, unit, &mut |stmt| {
            if let StmtKind::Call(call) = &stmt.kind {
                see(unit, call);
            }
        });
    }
}

/// The expressions of a statement, not those of statements inside it.
pub fn expressions(stmt: &Stmt) -> Vec<&Expr> {
    match &stmt.kind {
        StmtKind::Set(_, value)
        | StmtKind::SetWide(_, value)
        | StmtKind::SetSlice { value, .. }
        | StmtKind::SetWideSlice { value, .. } => vec![value],
        StmtKind::SetElement { index, value, .. }
        | StmtKind::SetWideElement { index, value, .. } => vec![index, value],
        StmtKind::If { condition, .. } => vec![condition],
        StmtKind::Switch { subject, .. } => vec![subject],
        StmtKind::ExtractVar { bits, .. } | StmtKind::Advance { bits } => vec![bits],
        StmtKind::Verify { condition, error } => vec![condition, error],
        StmtKind::Call(call) => call.args.iter().flat_map(argument_expressions).collect(),
        _ => Vec::new(),
    }
}

/// The scalar expressions of an argument that is a value, in order.
pub fn argument_expressions(arg: &Arg) -> Vec<&Expr> {
    let mut found = Vec::new();
    if let Arg::In(value) = arg {
        value_expressions(value, &mut found);
    }
    found
}

/// The scalar expressions of a value, in order.
pub fn value_expressions<'p>(value: &'p Value, found: &mut Vec<&'p Expr>) {
    match value {
        Value::Scalar(expr) => found.push(expr),
        Value::VarBit(length, bits) => found.extend([length, bits]),
        Value::Header { valid, fields, .. } => {
            found.push(valid);
            fields.iter().for_each(|field| value_expressions(field, found));
        }
        Value::Union { members: parts, .. } | Value::Struct { fields: parts, .. } => {
            parts.iter().for_each(|part| value_expressions(part, found));
        }
        Value::Stack { next, elements, .. } => {
            found.push(next);
            elements.iter().for_each(|element| value_expressions(element, found));
        }
        Value::String(_) => {}
    }
}

/// The operands of an expression.
pub fn operands(expr: &Expr) -> Vec<&Expr> {
    match &expr.kind {
        ExprKind::Element { index, .. } | ExprKind::WideElement { index, .. } => vec![index],
        ExprKind::Unary(_, a) | ExprKind::Slice(a, _) | ExprKind::Cast(a) => vec![a],
        ExprKind::Binary(_, a, b) | ExprKind::Guarded { valid: a, read: b } => vec![a, b],
        ExprKind::Mux(c, a, b) => vec![c, a, b],
        _ => Vec::new(),
    }
}

/// True if the expression reads the slot.
pub fn reads(expr: &Expr, slot: Slot) -> bool {
    match &expr.kind {
        ExprKind::Slot(read) => *read == slot,
        ExprKind::Element { base, stride, count, index } => {
            let offset = slot.0.wrapping_sub(base.0);
            let inside = *stride > 0 && offset / stride < *count && offset % stride == 0;
            inside && slot.0 >= base.0 || reads(index, slot)
        }
        _ => operands(expr).into_iter().any(|operand| reads(operand, slot)),
    }
}

/// The narrow slots that a statement writes, not counting statements inside it.
pub fn written(stmt: &Stmt, see: &mut dyn FnMut(Slot)) {
    let mut range = |first: Slot, count: u32| (0..count).for_each(|i| see(Slot(first.0 + i)));
    let whole = |layout: &Layout| {
        let range = layout.range();
        (range.narrow_start, range.narrow_len)
    };
    match &stmt.kind {
        StmtKind::Set(slot, _) | StmtKind::SetSlice { target: slot, .. } => range(*slot, 1),
        StmtKind::SetElement { base, stride, count, .. } => {
            range(*base, stride.saturating_mul(*count));
        }
        StmtKind::Copy { narrow: (_, to, count), .. } => range(*to, *count),
        StmtKind::Apply { hit, action, .. } => {
            [hit, action].into_iter().flatten().for_each(|slot| range(*slot, 1));
        }
        StmtKind::Extract { header: layout, .. }
        | StmtKind::ExtractVar { header: layout, .. }
        | StmtKind::ExtractNext { stack: layout }
        | StmtKind::PushFront { stack: layout, .. }
        | StmtKind::PopFront { stack: layout, .. } => {
            let (first, count) = whole(layout);
            range(first, count);
        }
        StmtKind::Call(call) => {
            let outs = call.args.iter().filter_map(|arg| match arg {
                Arg::Out(layout) | Arg::InOut(layout) => Some(layout),
                _ => None,
            });
            for layout in outs.chain(&call.result) {
                let (first, count) = whole(layout);
                range(first, count);
            }
        }
        _ => {}
    }
}

/// Calls `change` for every expression that a list of statements evaluates, from the outside in;
/// where it answers false the operands are left alone.
pub fn change_list(stmts: &mut [Stmt], change: &mut dyn FnMut(&mut Expr) -> bool) {
    for stmt in stmts {
        change_statement(&mut stmt.kind, change);
    }
}

fn change_statement(kind: &mut StmtKind, change: &mut dyn FnMut(&mut Expr) -> bool) {
    match kind {
        StmtKind::Set(_, value)
        | StmtKind::SetWide(_, value)
        | StmtKind::SetSlice { value, .. }
        | StmtKind::SetWideSlice { value, .. } => change_expression(value, change),
        StmtKind::SetElement { index, value, .. }
        | StmtKind::SetWideElement { index, value, .. } => {
            change_expression(index, change);
            change_expression(value, change);
        }
        StmtKind::If { condition, then, otherwise } => {
            change_expression(condition, change);
            change_list(then, change);
            change_list(otherwise, change);
        }
        StmtKind::Switch { subject, cases, default } => {
            change_expression(subject, change);
            cases.iter_mut().for_each(|(_, body)| change_list(body, change));
            change_list(default, change);
        }
        StmtKind::Block { body, .. } | StmtKind::Loop { body, .. } => change_list(body, change),
        StmtKind::ExtractVar { bits, .. } | StmtKind::Advance { bits } => {
            change_expression(bits, change);
        }
        StmtKind::Verify { condition, error } => {
            change_expression(condition, change);
            change_expression(error, change);
        }
        StmtKind::Call(call) => {
            for arg in &mut call.args {
                if let Arg::In(value) = arg {
                    change_value(value, change);
                }
            }
        }
        _ => {}
    }
}

fn change_value(value: &mut Value, change: &mut dyn FnMut(&mut Expr) -> bool) {
    match value {
        Value::Scalar(expr) => change_expression(expr, change),
        Value::VarBit(length, bits) => {
            change_expression(length, change);
            change_expression(bits, change);
        }
        Value::Header { valid, fields: parts, .. } => {
            change_expression(valid, change);
            parts.iter_mut().for_each(|part| change_value(part, change));
        }
        Value::Union { members: parts, .. } | Value::Struct { fields: parts, .. } => {
            parts.iter_mut().for_each(|part| change_value(part, change));
        }
        Value::Stack { next, elements, .. } => {
            change_expression(next, change);
            elements.iter_mut().for_each(|element| change_value(element, change));
        }
        Value::String(_) => {}
    }
}

/// [`change_list`] for one expression.
pub fn change_expression(expr: &mut Expr, change: &mut dyn FnMut(&mut Expr) -> bool) {
    if !change(expr) {
        return;
    }
    match &mut expr.kind {
        ExprKind::Element { index, .. } | ExprKind::WideElement { index, .. } => {
            change_expression(index, change);
        }
        ExprKind::Unary(_, a) | ExprKind::Slice(a, _) | ExprKind::Cast(a) => {
            change_expression(a, change);
        }
        ExprKind::Binary(_, a, b) | ExprKind::Guarded { valid: a, read: b } => {
            change_expression(a, change);
            change_expression(b, change);
        }
        ExprKind::Mux(c, a, b) => {
            change_expression(c, change);
            change_expression(a, change);
            change_expression(b, change);
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::Scalar;
    use crate::source::Span;

    #[test]
    fn a_guarded_read_is_a_dependency() {
        let expr = |kind| Expr { kind, scalar: Scalar::Bit(8), span: Span::default() };
        let slot = |at| Box::new(expr(ExprKind::Slot(Slot(at))));
        let guarded = || Box::new(expr(ExprKind::Guarded { valid: slot(1), read: slot(2) }));
        let sum = expr(ExprKind::Binary(crate::ir::Binary::Add, guarded(), slot(3)));
        let seen: Vec<u32> = (0..5).filter(|at| reads(&sum, Slot(*at))).collect();
        assert_eq!(seen, [1, 2, 3]);
        let mut changed = sum;
        change_expression(&mut changed, &mut |expr| {
            if let ExprKind::Slot(slot) = &mut expr.kind {
                slot.0 += 10;
            }
            true
        });
        assert!([11, 12, 13].into_iter().all(|at| reads(&changed, Slot(at))));
    }
}

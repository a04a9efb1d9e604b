//! Removes default actions of tables with an action profile or selector, which have no effect.
//!
//! p4c reports this when it compiles for bmv2 ("Target does not support default_action ... due to
//! action profiles") and omits them; `simple_switch` then runs no action until a control plane sets
//! a default *member* (`MatchTableIndirect::lookup`). After such a miss execution continues behind
//! the whole `switch` on `action_run`: p4c generates it as `base_default_next`, and its `default`
//! is for actions without a label.

use super::rules;
use super::runtime::is_profile;
use sojourn_p4::diagnostic::Diagnostic;
use sojourn_p4::interp::NO_ACTION_RAN;
use sojourn_p4::ir::{
    Body, Expr, ExprKind, Object, ObjectArg, Program, Slot, Stmt, StmtKind, Table,
};
use sojourn_p4::visit;
use std::collections::HashSet;

/// Removes the default actions of such tables, with a warning for each that is not empty.
pub(super) fn take_away(program: &mut Program) -> Vec<Diagnostic> {
    let objects = &program.objects;
    let profiled: HashSet<usize> =
        (0..program.tables.len()).filter(|at| has_profile(&program.tables[*at], objects)).collect();
    for unit in &mut program.units {
        if let Body::Control { stmts, .. } = &mut unit.body {
            let mut tested = HashSet::new();
            collect_tested(stmts, &profiled, &mut tested);
            pass_switches_on_a_miss(stmts, &tested);
        }
    }
    let tables = program.tables.iter_mut().enumerate();
    tables
        .filter(|(at, _)| profiled.contains(at))
        .filter_map(|(_, table)| without_default(table))
        .collect()
}

fn has_profile(table: &Table, objects: &[Object]) -> bool {
    table.properties.iter().any(|(_, value)| match value {
        ObjectArg::Object(object) => is_profile(&objects[object.index()]),
        _ => false,
    })
}

/// Collects the variables that hold the action of such a table.
fn collect_tested(stmts: &[Stmt], profiled: &HashSet<usize>, tested: &mut HashSet<Slot>) {
    visit::statements(stmts, &mut |stmt| {
        if let StmtKind::Apply { table, action: Some(slot), .. } = stmt.kind
            && profiled.contains(&table.index())
        {
            tested.insert(slot);
        }
    });
}

/// Adds an empty case for the absence of an action to each `switch` on such a variable.
fn pass_switches_on_a_miss(stmts: &mut [Stmt], tested: &HashSet<Slot>) {
    for stmt in stmts {
        match &mut stmt.kind {
            StmtKind::Switch { subject, cases, default } => {
                for (_, body) in cases.iter_mut() {
                    pass_switches_on_a_miss(body, tested);
                }
                pass_switches_on_a_miss(default, tested);
                if matches!(subject, Expr { kind: ExprKind::Slot(slot), .. } if tested.contains(slot))
                {
                    cases.push((vec![NO_ACTION_RAN.into()], Vec::new()));
                }
            }
            StmtKind::If { then, otherwise, .. } => {
                pass_switches_on_a_miss(then, tested);
                pass_switches_on_a_miss(otherwise, tested);
            }
            StmtKind::Block { body, .. } | StmtKind::Loop { body, .. } => {
                pass_switches_on_a_miss(body, tested);
            }
            _ => {}
        }
    }
}

fn without_default(table: &mut Table) -> Option<Diagnostic> {
    let (action, _) = table.default_action.take()?;
    table.const_default_action = false;
    let action = &table.actions.get(action as usize)?.name;
    if &**action == "NoAction" {
        return None;
    }
    let message = format!("`{action}` is not run when nothing matches in table `{}`", table.name);
    Some(rules::PROFILE_DEFAULT.warning(table.span, message))
}

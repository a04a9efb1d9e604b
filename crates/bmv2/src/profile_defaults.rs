//! Tables with an action profile or selector do nothing on a miss, whatever their `default_action`.
//!
//! p4c says so when it compiles for bmv2 ("Target does not support default_action ... due to action
//! profiles") and writes none; `simple_switch` then runs nothing until a control plane sets a
//! default *member* (`MatchTableIndirect::lookup`). What follows such a miss is what follows the
//! whole `switch` on `action_run`: p4c writes it as `base_default_next`, its `default` is for actions
//! that have no label.

use super::rules;
use super::runtime::is_profile;
use sojourn_p4::diagnostic::Diagnostic;
use sojourn_p4::interp::NO_ACTION_RAN;
use sojourn_p4::ir::{
    Body, Expr, ExprKind, Object, ObjectArg, Program, Slot, Stmt, StmtKind, Table,
};
use sojourn_p4::visit;
use std::collections::HashSet;

/// Takes the default actions of such tables away, with a warning for each that would do something.
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

/// The variables that hold which action of such a table ran.
fn collect_tested(stmts: &[Stmt], profiled: &HashSet<usize>, tested: &mut HashSet<Slot>) {
    visit::statements(stmts, &mut |stmt| {
        if let StmtKind::Apply { table, action: Some(slot), .. } = stmt.kind
            && profiled.contains(&table.index())
        {
            tested.insert(slot);
        }
    });
}

/// Gives the `switch` on such a variable an empty case for no action at all.
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

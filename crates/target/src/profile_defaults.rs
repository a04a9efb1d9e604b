//! Removes default actions of tables with an action profile or selector, which have no effect.
//!
//! p4c reports this when it compiles for bmv2 ("Target does not support default_action ... due to
//! action profiles") and omits them; `simple_switch` then runs no action until a control plane sets
//! a default *member* (`MatchTableIndirect::lookup`). After such a miss execution continues behind
//! the whole `switch` on `action_run`: p4c generates it as `base_default_next`, and its `default`
//! is for actions without a label. `psa_switch` does the same.
//!
//! Must not depend on an architecture, which says which objects are profiles.

use crate::rule::Rule;
use sojourn_p4::diagnostic::Diagnostic;
use sojourn_p4::interp::NO_ACTION_RAN;
use sojourn_p4::ir::{
    Body, Expr, ExprKind, Object, ObjectArg, Program, Slot, Stmt, StmtKind, Table,
};
use sojourn_p4::visit;
use std::collections::HashSet;

/// Removes the default actions of such tables, with a warning about `rule` for each that is not empty.
pub fn take_away(
    program: &mut Program,
    is_profile: impl Fn(&Object) -> bool,
    rule: &'static Rule,
) -> Vec<Diagnostic> {
    let has_profile = |table: &Table| {
        table.properties.iter().any(|(_, value)| match value {
            ObjectArg::Object(object) => is_profile(&program.objects[object.index()]),
            _ => false,
        })
    };
    let all = program.tables.iter().enumerate();
    let profiled: HashSet<usize> =
        all.filter(|(_, table)| has_profile(table)).map(|(at, _)| at).collect();
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
        .filter_map(|(_, table)| without_default(table, rule))
        .collect()
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

fn without_default(table: &mut Table, rule: &'static Rule) -> Option<Diagnostic> {
    let (action, _) = table.default_action.take()?;
    table.const_default_action = false;
    let action = &table.actions.get(action as usize)?.name;
    if &**action == "NoAction" {
        return None;
    }
    let message = format!("`{action}` is not run when nothing matches in table `{}`", table.name);
    Some(rule.warning(table.span, message))
}

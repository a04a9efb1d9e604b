//! Limits that p4c enforces for every switch of bmv2, after `backends/bmv2/common`:
//! `controlFlowGraph.cpp`, `control.h` and `check_unsupported.h`.
//!
//! Uses the IR; must not depend on an architecture, which passes its own rules.

use crate::applied_tables::applied;
use crate::rule::Rule;
use crate::successors;
use crate::table_order::{Cycle, Order};
use sojourn_p4::diagnostic::Diagnostic;
use sojourn_p4::ir::{Program, Stmt, StmtKind, UnitId};
use sojourn_p4::source::Span;
use sojourn_p4::types::Type;
use sojourn_p4::visit;
use std::collections::{BTreeMap, HashSet};

/// The rule to report for each limit.
#[derive(Clone, Copy, Debug)]
pub struct CommonRules {
    /// Order in which tables are applied.
    pub apply_order: &'static Rule,
    /// More than one successor of a table.
    pub one_successor: &'static Rule,
    /// Loops over ranges and lists.
    pub for_in: &'static Rule,
    /// A second lpm key.
    pub one_lpm: &'static Rule,
    /// Action data that are no numbers.
    pub action_data: &'static Rule,
    /// A second field of variable size.
    pub one_varbit: &'static Rule,
    /// On the second copy of an `exit`.
    pub exit_once: &'static Rule,
}

/// A diagnostic for each statement, table or header of `controls` that breaks one of the rules. Headers are those
/// of the controls' parameters.
pub fn check(program: &Program, controls: &[UnitId], rules: CommonRules) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for control in controls {
        match cycle(program, *control, rules.apply_order) {
            Some(diagnostic) => found.push(diagnostic),
            None => successors::check(program, *control, rules.one_successor, &mut found),
        }
    }
    prefixes(program, rules.one_lpm, &mut found);
    ranges(program, rules.for_in, &mut found);
    action_data(program, rules.action_data, &mut found);
    variable_sizes(program, controls, rules.one_varbit, &mut found);
    exits(program, rules.exit_once, &mut found);
    found
}

/// True for a type that bmv2 has as one number.
pub fn is_number(ty: &Type) -> bool {
    match ty {
        Type::Bit(_) | Type::Int(_) | Type::SerializableEnum(_) | Type::Enum(_) => true,
        Type::New(of) => is_number(&of.target),
        _ => false,
    }
}

/// The first table of a control that a packet can meet twice, or before and behind another one.
fn cycle(program: &Program, control: UnitId, rule: &'static Rule) -> Option<Diagnostic> {
    let order = Order::new(program, control);
    let cycle = order.repeated().or_else(|| order.cycles().into_iter().next())?;
    let Cycle { first, second, .. } = cycle;
    let refused = rule.refuse(second, cycle.message(program));
    Some(match first == second {
        true => refused.into(),
        false => refused.with_place(first, "applied before").into(),
    })
}

/// Tables with two lpm keys.
fn prefixes(program: &Program, rule: &'static Rule, found: &mut Vec<Diagnostic>) {
    for table in applied(program) {
        let mut keys = table.keys.iter().filter(|key| &*key.match_kind == "lpm");
        if let (Some(first), Some(second)) = (keys.next(), keys.next()) {
            let refused = rule.refuse(second.span, "a second lpm key");
            found.push(refused.with_place(first.span, "the first").into());
        }
    }
}

/// Loops over ranges and lists. The IR has a loop over a range in an `if` of the same place.
fn ranges(program: &Program, rule: &'static Rule, found: &mut Vec<Diagnostic>) {
    let mut places: BTreeMap<u32, Span> =
        program.declared.unrolled.iter().map(|(_, span)| (span.start, *span)).collect();
    for unit in 0..program.units.len() {
        visit::unit_statements(program, UnitId(unit as u32), &mut |stmt| {
            let StmtKind::If { then, .. } = &stmt.kind else { return };
            let is_loop = |inner: &Stmt| matches!(inner.kind, StmtKind::Loop { .. });
            if then.iter().any(|inner| is_loop(inner) && inner.span == stmt.span) {
                places.insert(stmt.span.start, stmt.span);
            }
        });
    }
    let refused = places.into_values().map(|span| rule.refuse(span, "a loop with `in`"));
    found.extend(refused.map(Diagnostic::from));
}

/// Tables whose actions have data that are no numbers.
fn action_data(program: &Program, rule: &'static Rule, found: &mut Vec<Diagnostic>) {
    for table in applied(program) {
        for action in &table.actions {
            let declared = program.declared.actions.iter().find(|known| known.name == action.name);
            let params = declared.map_or(&[][..], |known| &known.params);
            if let Some(param) = params.iter().find(|param| !is_number(&param.ty)) {
                let message =
                    format!("`{}` of `{}` is no number but {}", param.name, action.name, param.ty);
                let refused = rule.refuse(action.span, message);
                found.push(refused.with_place(table.span, "the table").into());
            }
        }
    }
}

/// Headers of controls with two fields of variable size.
fn variable_sizes(
    program: &Program,
    controls: &[UnitId],
    rule: &'static Rule,
    found: &mut Vec<Diagnostic>,
) {
    let mut headers = BTreeMap::new();
    for control in controls {
        for param in &program.units[control.index()].params {
            headers_of(&param.ty, &mut headers);
        }
    }
    for (name, span) in headers.into_values() {
        let message = format!("`{name}` has two fields of variable size");
        found.push(rule.refuse(span, message).into());
    }
}

/// Headers with two such fields, each once.
fn headers_of(ty: &Type, found: &mut BTreeMap<u32, (String, Span)>) {
    match ty {
        Type::Struct(of) | Type::HeaderUnion(of) => {
            of.fields.iter().for_each(|field| headers_of(&field.ty, found));
        }
        Type::Stack(element, _) => headers_of(element, found),
        Type::Header(of) => {
            let fields = of.fields.iter().filter(|field| matches!(field.ty, Type::VarBit(_)));
            if fields.count() > 1 {
                found.insert(of.span.start, (of.name.to_string(), of.span));
            }
        }
        _ => {}
    }
}

/// An `exit` of a control that the program applies a second time.
fn exits(program: &Program, rule: &'static Rule, found: &mut Vec<Diagnostic>) {
    let (mut once, mut twice) = (HashSet::new(), HashSet::new());
    for span in &program.declared.exits {
        if !once.insert(*span) && twice.insert(*span) {
            let message = "an `exit` of a control that is applied twice";
            found.push(rule.refuse(*span, message).into());
        }
    }
}

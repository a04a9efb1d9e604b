//! Entries and direct meters of tables (V0223, V0224), after `backends/bmv2`: `common/control.h` and
//! `common/metermap.cpp`.
//!
//! Uses the IR and the types of keys; must not depend on how a table runs.

use super::rules;
use sojourn_p4::diagnostic::Diagnostic;
use sojourn_p4::ir::{
    Arg, ExternCall, Layout, ObjectArg, ObjectId, Pattern, Program, Stmt, StmtKind, TableId, UnitId,
};
use sojourn_p4::source::Span;
use sojourn_p4::types::Type;
use sojourn_p4::visit;
use sojourn_target::applied_tables::applied_ids;
use std::collections::{BTreeSet, HashMap};

/// A diagnostic for each entry and direct meter of `controls` that p4c refuses.
pub(super) fn check(program: &Program, controls: [UnitId; 2], found: &mut Vec<Diagnostic>) {
    let applied = applied_ids(program);
    entries(program, &applied, found);
    meters(program, controls, &applied, found);
}

/// Entries whose keys p4c cannot write.
fn entries(program: &Program, applied: &BTreeSet<TableId>, found: &mut Vec<Diagnostic>) {
    for id in applied {
        let (table, declared) = (&program.tables[id.index()], &program.declared.tables[id.index()]);
        for entry in &table.entries {
            let keys = entry.patterns.iter().zip(&table.keys).zip(&declared.keys);
            for ((pattern, key), ty) in keys {
                let any = matches!(pattern, Pattern::Any);
                let message = match (any, &*key.match_kind, ty) {
                    (true, "exact", _) => "an entry with `_` for an exact key",
                    (false, _, Type::Error) => "an entry with an error",
                    _ => continue,
                };
                let refused = rules::ENTRY_KEY.refuse(entry.span, message);
                found.push(refused.with_place(key.span, "the key").into());
            }
        }
    }
}

/// Direct meters without a table, that no action reads, or that actions read into two fields.
fn meters(
    program: &Program,
    controls: [UnitId; 2],
    applied: &BTreeSet<TableId>,
    found: &mut Vec<Diagnostic>,
) {
    let owners: HashMap<ObjectId, &str> = (program.tables.iter())
        .flat_map(|table| table.properties.iter().map(move |(name, value)| (table, name, value)))
        .filter_map(|(table, name, value)| match value {
            ObjectArg::Object(id) if &**name == "meters" => Some((*id, &*table.name)),
            _ => None,
        })
        .collect();
    let mut reads: HashMap<ObjectId, Vec<(Layout, Span)>> = HashMap::new();
    for list in controls.iter().flat_map(|unit| visit::unit_lists(&program.units[unit.index()])) {
        note_reads(list, &mut reads);
    }
    for table in applied.iter().map(|id| &program.tables[id.index()]) {
        table.actions.iter().for_each(|action| note_reads(&action.body, &mut reads));
        for (name, value) in &table.properties {
            if let (ObjectArg::Object(id), "meters") = (value, &**name)
                && !table.actions.iter().any(|action| calls(&action.body, *id))
            {
                let message = format!("no action of `{}` reads its direct meter", table.name);
                found.push(rules::DIRECT_METER.refuse(table.span, message).into());
            }
        }
    }
    for (at, object) in program.objects.iter().enumerate() {
        let id = ObjectId(at as u32);
        let Some(((first, place), others)) = reads.get(&id).and_then(|all| all.split_first())
        else {
            continue;
        };
        if &*object.of != "direct_meter" {
            continue;
        }
        if !owners.contains_key(&id) {
            let message = format!("`{}` is the direct meter of no table", object.name);
            found.push(rules::DIRECT_METER.refuse(*place, message).into());
        } else if let Some((_, other)) = others.iter().find(|(layout, _)| layout != first) {
            let message = format!("`{}` is read into another field here", object.name);
            let refused = rules::DIRECT_METER.refuse(*other, message);
            found.push(refused.with_place(*place, "than here").into());
        }
    }
}

/// The fields that direct meters are read into.
fn note_reads(stmts: &[Stmt], reads: &mut HashMap<ObjectId, Vec<(Layout, Span)>>) {
    visit::statements(stmts, &mut |stmt| {
        if let StmtKind::Call(ExternCall { object: Some(id), name, args, span, .. }) = &stmt.kind
            && let ("read", Some(Arg::Out(to))) = (&**name, args.first())
        {
            reads.entry(*id).or_default().push((to.clone(), *span));
        }
    });
}

fn calls(stmts: &[Stmt], object: ObjectId) -> bool {
    let mut calls = false;
    visit::statements(stmts, &mut |stmt| {
        calls |= matches!(&stmt.kind, StmtKind::Call(call) if call.object == Some(object));
    });
    calls
}

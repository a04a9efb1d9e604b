//! Limits on the registers, meters and counters that a table shares: one index for each action
//! (rule T0704), and the actions that use them (rules T0707 to T0711).

use super::super::register_action::{is_action, is_direct_action, same_expression};
use super::super::rules;
use sojourn_p4::diagnostic::Diagnostic;
use sojourn_p4::ir::{
    Arg, Expr, ExternCall, ObjectArg, ObjectId, Program, Stmt, StmtKind, Table, TableAction, Value,
};
use sojourn_p4::source::Span;
use sojourn_p4::visit;
use sojourn_target::applied_tables::{SharedObject, applied, shared_objects};
use sojourn_target::arguments::first_object;

/// Diagnostics about table actions that use registers or meters, or counters, at different indices.
pub fn check_indices(program: &Program) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for action in applied(program).into_iter().flat_map(|table| &table.actions) {
        let registers = |call| index_of(program, call);
        one_index(&action.body, "registers or meters", &registers, &mut found);
        one_index(&action.body, "counters", &|call| counted_at(program, call), &mut found);
    }
    found
}

fn one_index<'p>(
    body: &'p [Stmt],
    of: &str,
    index: &dyn Fn(&'p ExternCall) -> Option<&'p Expr>,
    found: &mut Vec<Diagnostic>,
) {
    let mut first: Option<&Expr> = None;
    visit::statements(body, &mut |stmt| {
        let StmtKind::Call(call) = &stmt.kind else { return };
        let Some(index) = index(call) else { return };
        match first {
            Some(other) if !same_expression(other, index) => {
                let message = format!("two indices for {of} in one table action");
                let refused = rules::ONE_INDEX.refuse(index.span, message);
                found.push(refused.with_place(other.span, "the other index").into());
            }
            Some(_) => {}
            None => first = Some(index),
        }
    });
}

/// The two ways from a table to what its actions use.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Bus {
    Counters,
    RegistersAndMeters,
}

/// Diagnostics about actions that leave out what others of their table use.
pub fn check_buses(program: &Program) -> Vec<Diagnostic> {
    let buses = [Bus::Counters, Bus::RegistersAndMeters];
    let each = applied(program).into_iter().flat_map(|table| buses.map(|bus| (table, bus)));
    each.filter_map(|(table, bus)| left_out(program, table, bus)).collect()
}

fn left_out(program: &Program, table: &Table, bus: Bus) -> Option<Diagnostic> {
    // An action that runs on a miss only has another source of its address.
    let actions = table.actions.iter().filter(|action| !action.default_only);
    let used: Vec<_> = actions.map(|action| (action, used(program, &action.body, bus))).collect();
    let all = used.iter().flat_map(|(_, uses)| uses);
    for (other, place) in all {
        for (action, uses) in &used {
            let name = |object: &ObjectId| &program.objects[object.index()].name;
            let Some((mine, at)) = uses.first() else {
                if table.keys.is_empty() && !works_by_default(program, table, *other) {
                    let message = format!(
                        "`{}` has no key, and `{}` does not use `{}`",
                        table.name,
                        action.name,
                        name(other)
                    );
                    let refused = rules::USED_BY_ALL.refuse(*place, message);
                    return Some(refused.with_place(action.span, "the action").into());
                }
                continue;
            };
            if uses.iter().all(|(object, _)| object != other) {
                let message = format!(
                    "`{}` uses `{}` and not `{}`, which another action of `{}` uses",
                    action.name,
                    name(mine),
                    name(other),
                    table.name
                );
                let refused = rules::SHARED_BUS.refuse(*at, message);
                return Some(refused.with_place(*place, "the other").into());
            }
        }
    }
    None
}

/// True for a register that the default action of a table accesses: that action says by its
/// instruction whether the register works, where a counter or meter has no such word.
fn works_by_default(program: &Program, table: &Table, object: ObjectId) -> bool {
    let default = table.default_action.as_ref().map(|(action, _)| &table.actions[*action as usize]);
    let accesses = default.map(|action| used(program, &action.body, Bus::RegistersAndMeters));
    &*program.objects[object.index()].of == "Register"
        && accesses.iter().flatten().any(|(used, _)| *used == object)
}

/// Diagnostics about direct objects that some actions of their table's entries use and others do not,
/// or use otherwise (rules T0709, T0710).
pub fn check_direct(program: &Program) -> Vec<Diagnostic> {
    let tables = applied(program);
    let mut found: Vec<Diagnostic> =
        tables.iter().flat_map(|table| direct(program, table)).collect();
    check_owners(program, &tables, &mut found);
    found
}

/// Refuses a direct object of two tables, or of none (T0711).
fn check_owners(program: &Program, tables: &[&Table], found: &mut Vec<Diagnostic>) {
    tables.iter().for_each(|table| check_named(program, table, found));
    for SharedObject { object, owner, other } in
        shared_objects(program, |of| of.starts_with("Direct"))
    {
        let message = format!("two tables name `{}`", object.name);
        let refused = rules::DIRECT_OF_ONE.refuse(other.span, message);
        found.push(refused.with_place(owner.span, "the other table").into());
    }
}

/// The direct objects that a table names.
fn properties<'p>(program: &'p Program, table: &'p Table) -> impl Iterator<Item = ObjectId> + 'p {
    table.properties.iter().filter_map(|(_, value)| match value {
        ObjectArg::Object(id) if program.objects[id.index()].of.starts_with("Direct") => Some(*id),
        _ => None,
    })
}

/// Refuses a direct object that an action of a table uses and no property of the table names.
fn check_named(program: &Program, table: &Table, found: &mut Vec<Diagnostic>) {
    let named = |object: ObjectId| properties(program, table).any(|id| id == object);
    let uses = table.actions.iter().flat_map(|action| direct_uses(program, &action.body));
    if let Some(used) = uses.into_iter().find(|used| !named(used.object)) {
        let object = &program.objects[used.object.index()];
        let message = format!("`{}` names no `{}`", table.name, object.name);
        let refused = rules::DIRECT_OF_ONE.refuse(table.span, message);
        found.push(refused.with_place(used.place, "used here").into());
    }
}

fn direct(program: &Program, table: &Table) -> Vec<Diagnostic> {
    let actions: Vec<&TableAction> =
        table.actions.iter().filter(|action| !action.default_only).collect();
    let used: Vec<Vec<DirectUse>> =
        actions.iter().map(|action| direct_uses(program, &action.body)).collect();
    let mut found = Vec::new();
    let mut known: Vec<DirectUse> = Vec::new();
    for one in used.iter().flatten() {
        if known.iter().any(|other| other.object == one.object) {
            continue;
        }
        known.push(*one);
        let name = &program.objects[one.object.index()].name;
        for (action, uses) in actions.iter().zip(&used) {
            let message = match uses.iter().find(|other| other.object == one.object) {
                None => {
                    let message = format!("`{}` does not use `{name}`", action.name);
                    let refused = rules::DIRECT_IN_ALL.refuse(one.place, message);
                    found.push(refused.with_place(action.span, "the action").into());
                    break;
                }
                Some(other) if other.how == one.how => continue,
                Some(other) => (other.place, format!("`{}` uses `{name}` otherwise", action.name)),
            };
            let refused = rules::DIRECT_ALIKE.refuse(message.0, message.1);
            found.push(refused.with_place(one.place, "the other").into());
            break;
        }
    }
    let unused = properties(program, table).find(|id| known.iter().all(|used| used.object != *id));
    if let (Some(id), false) = (unused, actions.is_empty()) {
        let name = &program.objects[id.index()].name;
        let message = format!("no action of `{}` uses `{name}`", table.name);
        found.push(rules::DIRECT_IN_ALL.refuse(table.span, message).into());
    }
    found
}

/// A call of a direct object.
#[derive(Clone, Copy)]
struct DirectUse {
    object: ObjectId,
    /// The instruction that runs, or whether a colour is given.
    how: usize,
    place: Span,
}

fn direct_uses(program: &Program, body: &[Stmt]) -> Vec<DirectUse> {
    let mut uses = Vec::new();
    visit::statements(body, &mut |stmt| {
        let StmtKind::Call(call) = &stmt.kind else { return };
        let Some((object, _)) = on_bus(program, call) else { return };
        if !program.objects[object.index()].of.starts_with("Direct") {
            return;
        }
        let how = match (&*program.objects[object.index()].of, call.object) {
            ("DirectRegister", Some(action)) => action.index(),
            ("DirectMeter", _) => usize::from(call.args.len() > 1),
            _ => 0,
        };
        uses.push(DirectUse { object, how, place: call.span });
    });
    uses
}

/// Objects that a list of statements uses on a bus, each with its first call.
fn used(program: &Program, body: &[Stmt], bus: Bus) -> Vec<(ObjectId, Span)> {
    let mut used: Vec<(ObjectId, Span)> = Vec::new();
    visit::statements(body, &mut |stmt| {
        let StmtKind::Call(call) = &stmt.kind else { return };
        if let Some((object, its_bus)) = on_bus(program, call)
            && its_bus == bus
            && used.iter().all(|(known, _)| *known != object)
        {
            used.push((object, call.span));
        }
    });
    used
}

/// Object that a call uses, and the bus of a table's access to it.
fn on_bus(program: &Program, call: &ExternCall) -> Option<(ObjectId, Bus)> {
    let id = call.object?;
    let object = &program.objects[id.index()];
    Some(match (&*object.of, &*call.name) {
        ("Counter" | "DirectCounter", "count") => (id, Bus::Counters),
        (of, "execute") if is_action(of) => (first_object(object)?, Bus::RegistersAndMeters),
        ("Register" | "DirectRegister", "read" | "write")
        | ("Meter" | "DirectMeter" | "Lpf" | "DirectLpf" | "Wred" | "DirectWred", "execute") => {
            (id, Bus::RegistersAndMeters)
        }
        _ => return None,
    })
}

/// The index at which a counter counts.
fn counted_at<'p>(program: &Program, call: &'p ExternCall) -> Option<&'p Expr> {
    let object = &program.objects[call.object?.index()];
    match (&*object.of, &*call.name, call.args.first()?) {
        ("Counter", "count", Arg::In(Value::Scalar(index))) => Some(index),
        _ => None,
    }
}

/// The address that a call sends to the memory of a register, meter, counter or filter.
pub(crate) fn address_of<'p>(program: &Program, call: &'p ExternCall) -> Option<&'p Expr> {
    index_of(program, call)
        .or_else(|| counted_at(program, call))
        .or_else(|| filtered_at(program, call))
}

/// The index of an access to a low-pass filter or to random early detection.
fn filtered_at<'p>(program: &Program, call: &'p ExternCall) -> Option<&'p Expr> {
    let object = &program.objects[call.object?.index()];
    match (&*object.of, &*call.name, call.args.get(1)?) {
        ("Lpf" | "Wred", "execute", Arg::In(Value::Scalar(index))) => Some(index),
        _ => None,
    }
}

/// The input of a low-pass filter or of random early detection, or the colour that a meter starts from.
pub(crate) fn measured<'p>(program: &Program, call: &'p ExternCall) -> Option<&'p Expr> {
    let object = &program.objects[call.object?.index()];
    let place = match (&*object.of, &*call.name, call.args.len()) {
        ("Lpf" | "DirectLpf" | "Wred" | "DirectWred", "execute", _) => 0,
        ("Meter", "execute", 3) => 1,
        ("DirectMeter", "execute", 2) => 0,
        _ => return None,
    };
    match call.args.get(place)? {
        Arg::In(Value::Scalar(value)) => Some(value),
        _ => None,
    }
}

/// The index of an access to an indexed register or meter.
pub(crate) fn index_of<'p>(program: &Program, call: &'p ExternCall) -> Option<&'p Expr> {
    let object = &program.objects[call.object?.index()];
    match (&*object.of, &*call.name) {
        ("Meter", "execute") | ("Register", "read" | "write") => {}
        (of, "execute") if is_action(of) && !is_direct_action(of) => {}
        _ => return None,
    }
    match call.args.first()? {
        Arg::In(Value::Scalar(index)) => Some(index),
        _ => None,
    }
}

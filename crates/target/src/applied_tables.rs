//! The tables that a program applies, and the objects that two of them name.
//!
//! Compilers drop the other tables. Uses the IR; must not depend on an architecture.

use sojourn_p4::ir::{Object, ObjectArg, ObjectId, Program, StmtKind, Table, TableId, UnitId};
use sojourn_p4::visit;
use std::collections::{BTreeSet, HashMap};

/// The tables that a program applies.
pub fn applied(program: &Program) -> Vec<&Table> {
    applied_ids(program).into_iter().map(|id| &program.tables[id.index()]).collect()
}

/// The tables that a program applies, by number, in their order.
pub fn applied_ids(program: &Program) -> BTreeSet<TableId> {
    let mut ids = BTreeSet::new();
    for unit in 0..program.units.len() {
        visit::unit_statements(program, UnitId(unit as u32), &mut |stmt| {
            if let StmtKind::Apply { table, .. } = &stmt.kind {
                ids.insert(*table);
            }
        });
    }
    ids
}

/// An object that the properties of two tables name.
#[derive(Clone, Copy, Debug)]
pub struct SharedObject<'p> {
    /// The object.
    pub object: &'p Object,
    /// The first table.
    pub owner: &'p Table,
    /// Another table.
    pub other: &'p Table,
}

/// The objects of a type that `is_direct` accepts, once for each table behind the first that names them.
pub fn shared_objects<'p>(
    program: &'p Program,
    is_direct: impl Fn(&str) -> bool,
) -> Vec<SharedObject<'p>> {
    let mut owners: HashMap<ObjectId, &Table> = HashMap::new();
    let mut shared = Vec::new();
    for other in applied(program) {
        for (_, value) in &other.properties {
            let ObjectArg::Object(id) = value else { continue };
            let object = &program.objects[id.index()];
            let owner = *owners.entry(*id).or_insert(other);
            if is_direct(&object.of) && owner.span != other.span {
                shared.push(SharedObject { object, owner, other });
            }
        }
    }
    shared
}

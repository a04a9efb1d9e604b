//! One access to a register, one count of a counter and one application of a table, for each packet
//! and pass: checked when a program is loaded.
//!
//! A walk over all paths of a packet collects the accesses so far, with their conditions. A second
//! access on the same path is reported (rules T07, T1011). Uses the IR; must not depend on the
//! effect of an access.
//!
//! | file | part |
//! |---|---|
//! | `path` | conditions and uses on the way to a point |
//! | `index` | two indices in one table action |

mod index;
mod path;

pub use self::index::{check_buses, check_direct, check_indices};

pub(crate) use self::index::{address_of, measured};

use self::index::index_of;
use self::path::{Fact, Kind, Overlap, Path, Thing, join};
use super::fit::is_plain;
use super::metadata::Role;
use super::register_action::same_expression;
use super::rules::{self, Rule};
use sojourn_p4::diagnostic::Diagnostic;
use sojourn_p4::ir::{
    Body, Expr, ExprKind, ExternCall, Label, ObjectId, Program, Slot, Stmt, StmtKind, TableId,
    UnitId,
};
use sojourn_p4::source::Span;
use sojourn_p4::visit;
use sojourn_target::table_order::Order;
use std::collections::{HashMap, HashSet};

/// Register of a call, if it is an access to one.
pub type RegisterOf<'a> = &'a dyn Fn(&ExternCall) -> Option<ObjectId>;

struct Walk<'a> {
    program: &'a Program,
    register_of: RegisterOf<'a>,
    /// Slots whose values occur in every combination.
    free: HashSet<Slot>,
    /// Slots that hold the action that a table ran.
    outcomes: HashSet<Slot>,
    diagnostics: Vec<Diagnostic>,
    /// Paths that have left a block and wait behind it.
    leaving: HashMap<Label, Vec<Path>>,
    /// Number of exits that left facts.
    left: u32,
}

/// Diagnostics about registers and tables that a packet could use twice in a pass of `unit`.
pub fn check_unit(program: &Program, unit: UnitId, register_of: RegisterOf<'_>) -> Vec<Diagnostic> {
    let Body::Control { stmts, .. } = &program.units[unit.index()].body else { return Vec::new() };
    let mut walk = Walk {
        program,
        register_of,
        free: free_slots(program, unit),
        outcomes: HashSet::new(),
        diagnostics: Vec::new(),
        leaving: HashMap::new(),
        left: 0,
    };
    walk.list(stmts, Some(Path::default()));
    walk.diagnostics.extend(check_order(program, unit));
    walk.diagnostics
}

/// Tables that are applied in different orders on different paths (T1025), after
/// `bf-p4c/common/multiple_apply.cpp`.
fn check_order(program: &Program, unit: UnitId) -> Vec<Diagnostic> {
    let cycles = Order::new(program, unit).cycles().into_iter();
    let diagnostics = cycles.map(|cycle| {
        let refused = rules::APPLY_ORDER.refuse(cycle.second, cycle.message(program));
        refused.with_place(cycle.first, "applied before").into()
    });
    diagnostics.collect()
}

/// Fields of headers and of intrinsic metadata, as long as they are not assigned. Metadata of the
/// program may depend on each other, and so may the validities of headers.
fn free_slots(program: &Program, unit: UnitId) -> HashSet<Slot> {
    let unit_ref = &program.units[unit.index()];
    let mut own = [Role::Headers, Role::Metadata].into_iter();
    let mut free = HashSet::new();
    for param in &unit_ref.params {
        let role = Role::of_type(&param.ty).or_else(|| own.next());
        if matches!(role, Some(Role::Headers | Role::Intrinsic | Role::FromParser | Role::Ghost)) {
            free.extend(param.layout.range().narrow().map(|at| Slot(at as u32)));
        }
    }
    free.retain(|slot| {
        slot.index() < unit_ref.slots.len() && unit_ref.validity_of(*slot).is_none()
    });
    visit::unit_statements(program, unit, &mut |stmt| {
        visit::written(stmt, &mut |slot| {
            free.remove(&slot);
        });
    });
    free
}

impl Walk<'_> {
    fn list(&mut self, stmts: &[Stmt], mut path: Option<Path>) -> Option<Path> {
        for stmt in stmts {
            path = self.statement(stmt, path?);
        }
        path
    }

    fn statement(&mut self, stmt: &Stmt, mut path: Path) -> Option<Path> {
        match &stmt.kind {
            StmtKind::Set(_, value) if is_plain(value) => {}
            StmtKind::Copy { .. } => {}
            StmtKind::Set(slot, _) => path.computed(*slot),
            StmtKind::Call(call) => {
                visit::written(stmt, &mut |slot| path.computed(slot));
                self.call(call, &mut path);
            }
            StmtKind::Leave(label) => {
                self.leaving.entry(*label).or_default().push(path);
                self.left += 1;
                return None;
            }
            _ => {
                path.close_reads();
                let (opaque, left) = (path.opaque, self.left);
                let mut end = self.branches(stmt, path)?;
                // All ways through came together again: what decided between them is no condition.
                end.opaque = if self.left == left { opaque } else { true };
                end.close_reads();
                path = end;
            }
        }
        let mut known = None;
        if let StmtKind::Set(slot, Expr { kind: ExprKind::Const(value), .. }) = &stmt.kind {
            known = Some((*slot, Fact::is(*value)));
        }
        if !matches!(stmt.kind, StmtKind::Apply { .. }) {
            visit::written(stmt, &mut |slot| path.forget(slot));
        }
        path.facts.extend(known);
        Some(path)
    }

    fn branches(&mut self, stmt: &Stmt, path: Path) -> Option<Path> {
        match &stmt.kind {
            StmtKind::If { condition, then, otherwise } => {
                let yes = self.list(then, path.clone().assume(condition, true));
                let no = self.list(otherwise, path.assume(condition, false));
                join([yes, no])
            }
            StmtKind::Switch { subject, cases, default } => {
                let mut ends = Vec::new();
                for (labels, body) in cases {
                    let path = match (&subject.kind, labels.as_slice()) {
                        (ExprKind::Slot(slot), [label]) => {
                            path.clone().learn(*slot, Fact::is(low(label)))
                        }
                        _ => Some(path.clone().unclear()),
                    };
                    ends.push(self.list(body, path));
                }
                ends.push(self.list(default, Some(path.unclear())));
                join(ends)
            }
            StmtKind::Block { label, body } => {
                let end = self.list(body, Some(path));
                let left = self.leaving.remove(label).unwrap_or_default();
                join(left.into_iter().map(Some).chain([end]))
            }
            StmtKind::Loop { label, body } => {
                // Twice round, so that the second round meets the uses of the first.
                let once = self.list(body, Some(path));
                let twice = once.clone().and_then(|path| self.list(body, Some(path)));
                let left = self.leaving.remove(label).unwrap_or_default();
                join(left.into_iter().map(Some).chain([once, twice]))
            }
            StmtKind::Apply { table, action, .. } => self.apply(*table, *action, stmt, path),
            _ => Some(path),
        }
    }

    fn apply(
        &mut self,
        table: TableId,
        chosen: Option<Slot>,
        stmt: &Stmt,
        mut path: Path,
    ) -> Option<Path> {
        self.outcomes.extend(chosen);
        self.see(Thing::Table(table), stmt.span, Kind::Other, &mut path);
        let mut ends: Vec<Option<Path>> = vec![Some(path.clone())];
        for (index, action) in self.program.tables[table.index()].actions.iter().enumerate() {
            let end = self.list(&action.body, Some(path.clone().unclear()));
            ends.push(end.map(|mut end| {
                visit::written(stmt, &mut |slot| end.forget(slot));
                if let Some(slot) = chosen {
                    end.note_since(&path, slot, Fact::is(index as u128));
                }
                end
            }));
        }
        if let Some(Some(missed)) = ends.first_mut() {
            visit::written(stmt, &mut |slot| missed.forget(slot));
        }
        join(ends)
    }

    fn call(&mut self, call: &ExternCall, path: &mut Path) {
        let Some(register) = (self.register_of)(call) else {
            if let Some(counter) = self.counter_of(call) {
                self.see(Thing::Counter(counter), call.span, Kind::Other, path);
            }
            return;
        };
        let kind = match &*call.name {
            "read" => {
                let index = index_of(self.program, call).cloned().map(Box::new);
                Kind::Read(index, Vec::new())
            }
            "write" => Kind::Plain,
            _ => Kind::Other,
        };
        let thing = Thing::Register(register);
        if &*call.name == "write" && self.writes_back(call, thing, path) {
            return;
        }
        self.see(thing, call.span, kind, path);
    }

    /// The counter or meter with entries of its own that a call uses. A direct one is used when its
    /// table hits.
    fn counter_of(&self, call: &ExternCall) -> Option<ObjectId> {
        let indirect = |id: &ObjectId| {
            let of = &*self.program.objects[id.index()].of;
            matches!(of, "Counter" | "Meter" | "Lpf" | "Wred")
        };
        call.object.filter(indirect)
    }

    /// True for a `write` to the entry that the `read` before it in the same list has read: the
    /// compiler makes one access of the two.
    fn writes_back(&self, call: &ExternCall, thing: Thing, path: &mut Path) -> bool {
        let index = index_of(self.program, call);
        let Some(first) = path.uses.get_mut(&thing).and_then(|uses| uses.last_mut()) else {
            return false;
        };
        let Kind::Read(read_at, computed) = &first.kind else { return false };
        let same_entry = match (read_at, index) {
            (Some(read_at), Some(index)) => same_expression(read_at, index),
            (None, None) => true,
            _ => false,
        };
        let values = call.args.last().map(visit::argument_expressions).unwrap_or_default();
        let depends = values.iter().any(|v| computed.iter().any(|slot| visit::reads(v, *slot)));
        let is_part = same_entry && !depends && first.certain;
        if is_part {
            first.kind = Kind::Plain;
        }
        is_part
    }

    fn see(&mut self, thing: Thing, span: Span, kind: Kind, path: &mut Path) {
        let Some((first, overlap)) = path.conflict(thing, &self.free, &self.outcomes) else {
            path.record(thing, span, kind);
            return;
        };
        let both_plain = ![&kind, &first.kind].into_iter().any(|kind| matches!(kind, Kind::Other));
        let (rule, message) = self.words(thing, overlap, both_plain);
        let refused = match (overlap, thing) {
            (Overlap::Unknown, Thing::Register(_) | Thing::Table(_)) => rule.warning(span, message),
            _ => rule.refuse(span, message).into(),
        };
        let (again, before) = match thing {
            Thing::Register(_) => ("the second access", "the first access"),
            Thing::Table(_) => ("applied again", "applied before"),
            Thing::Counter(_) => ("the second call", "the first call"),
        };
        let mut refused = refused.with_label(again);
        if first.span != span {
            refused = refused.with_place(first.span, before);
        }
        if !self.diagnostics.contains(&refused) {
            self.diagnostics.push(refused);
        }
    }

    /// The rule that is broken, and how it is said.
    fn words(&self, thing: Thing, overlap: Overlap, both_plain: bool) -> (&'static Rule, String) {
        let register = match thing {
            Thing::Table(table) => {
                let name = &self.program.tables[table.index()].name;
                let message = match overlap {
                    Overlap::Unknown => format!("a packet may meet table `{name}` twice"),
                    _ => format!("a packet can meet table `{name}` twice"),
                };
                return (&rules::APPLIED_TWICE, message);
            }
            Thing::Counter(counter) => {
                let object = &self.program.objects[counter.index()];
                let what = object.of.to_lowercase();
                let name = &object.name;
                let message = match overlap {
                    Overlap::Always => format!("a packet meets {what} `{name}` twice"),
                    _ => format!(
                        "two calls of {what} `{name}` are not in branches that exclude each other"
                    ),
                };
                return (&rules::COUNTED_ONCE, message);
            }
            Thing::Register(register) => &self.program.objects[register.index()].name,
        };
        match overlap {
            Overlap::Always if both_plain => {
                let message = format!("`{register}` is read and written in two accesses");
                (&rules::READ_AND_WRITE, message)
            }
            Overlap::Always => {
                let message =
                    format!("a packet can access register `{register}` twice in one pass");
                (&rules::ONE_ACCESS, message)
            }
            Overlap::Possible => {
                let message =
                    format!("two accesses to register `{register}` do not exclude each other");
                (&rules::EXCLUSIVE_ACCESSES, message)
            }
            Overlap::Unknown => {
                let message = format!(
                    "two accesses to register `{register}` are not known to exclude each other"
                );
                (&rules::EXCLUSIVE_ACCESSES, message)
            }
        }
    }
}

fn low(label: &num_bigint::BigUint) -> u128 {
    u128::try_from(label).unwrap_or(u128::MAX)
}

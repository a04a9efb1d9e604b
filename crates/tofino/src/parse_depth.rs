//! Detection of programs that read Ethernet headers alone, so that later bytes pass unchanged.
//!
//! The analysis sums, on every path through a pass, the bytes that the parser extracts and the
//! bytes that the deparser emits. The answer is yes if both passes together emit as many bytes as
//! they extract, neither reads further, and no copy is made. The answer is no if this cannot be
//! shown, as behind loops, stacks and variable fields. It is also no if the validity of a header
//! depends on a table.

use super::block_frame::Block;
use super::fused_pass::{has_call, makes_copies, reads_the_rest};
use super::gress::Gress;
use super::metadata::Role;
use super::parameter_passing::shared;
use sojourn_p4::ir::{
    Arg, Body, Expr, ExprKind, Layout, Next, ParserBody, Pattern, Program, Slot, State, StateId,
    Stmt, StmtKind, Transition, UnitId,
};
use sojourn_p4::visit;
use sojourn_packet::ETHERNET_HEADER_LEN;
use sojourn_target::def_use::{read_by_call, written_by};
use std::collections::{HashMap, HashSet};

/// Limit of states on all paths through a parser; a program that reads Ethernet headers only has
/// fewer. A cycle of states exceeds it.
const STATES: usize = 256;

/// True if the two passes of a program are such, with `fronts` bytes in front of each parser.
pub fn reads_ethernet_alone(
    program: &Program,
    ingress: &Gress,
    egress: &Gress,
    fronts: [usize; 2],
) -> bool {
    let past_egress = ingress.control.answer(Role::ForTrafficManager, "bypass_egress").0.is_some();
    let ethernet = 8 * ETHERNET_HEADER_LEN as u64;
    let behind = |gress, front: usize, there| behind_pass(program, gress, 8 * front as u64, there);
    let left =
        behind(ingress, fronts[0], ethernet).and_then(|between| behind(egress, fronts[1], between));
    !past_egress && left == Some(ethernet)
}

/// Number of bits in front of those behind the Ethernet header after a pass, from `before` bits
/// there and `front` bits added by the chip; `None` if it is not constant or more is read.
fn behind_pass(program: &Program, gress: &Gress, front: u64, before: u64) -> Option<u64> {
    let ways = Walk::through(program, gress)?;
    let mut left = ways.iter().map(|way| {
        let written = written(program, gress, &way.known)?;
        let is_near = way.read <= front + before && way.taken >= front;
        is_near.then(|| front + before - way.taken + written)
    });
    let first = left.next()??;
    (left.all(|other| other == Some(first)) && first.is_multiple_of(8)).then_some(first)
}

/// Slots whose values are known to be zero or not, validity included.
type Known = HashMap<Slot, bool>;

/// A way through a parser.
#[derive(Clone, Default)]
struct Way {
    /// Bits that were taken off, and as far as was looked.
    taken: u64,
    read: u64,
    known: Known,
}

/// All ways through a parser.
struct Walk<'p> {
    body: &'p ParserBody,
    ways: Vec<Way>,
    /// States that may still be entered.
    left: usize,
}

impl<'p> Walk<'p> {
    /// Those of a pass, up to where it goes on; none if there is something that cannot be added up.
    fn through(program: &'p Program, gress: &Gress) -> Option<Vec<Way>> {
        let Body::Parser(body) = &program.units[gress.parser.unit.index()].body else {
            return None;
        };
        if has_call(program, gress.parser.unit, reads_the_rest) {
            return None;
        }
        let mut way = Way::default();
        // Nothing is valid at the beginning.
        let headers = gress.parser.params.get(&Role::Headers)?.range();
        way.known.extend(headers.narrow().map(|at| (Slot(at as u32), false)));
        way.statements(&body.init)?;
        let mut walk = Walk { body, ways: Vec::new(), left: STATES };
        walk.from(body.start, way)?;
        Some(walk.ways)
    }

    /// Goes on at a state.
    fn from(&mut self, state: StateId, mut way: Way) -> Option<()> {
        let State { body, transition, .. } = &self.body.states[state.index()];
        self.left = self.left.checked_sub(1)?;
        way.statements(body)?;
        match transition {
            Transition::Direct(next) => self.on(*next, way),
            Transition::Select { keys, cases, .. } => {
                keys.iter().for_each(|key| way.look(key));
                for case in cases {
                    self.on(case.next, way.clone())?;
                }
                let is_any = |pattern: &Pattern| matches!(pattern, Pattern::Any);
                if cases.iter().any(|case| case.patterns.iter().all(is_any)) {
                    return Some(());
                }
                // Nothing may match, and the packet go on all the same.
                self.on(Next::Accept, way)
            }
        }
    }

    fn on(&mut self, next: Next, way: Way) -> Option<()> {
        match next {
            Next::State(state) => self.from(state, way)?,
            Next::Reject => {}
            Next::Accept => self.ways.push(way),
        }
        Some(())
    }
}

impl Way {
    fn statements(&mut self, stmts: &[Stmt]) -> Option<()> {
        stmts.iter().try_for_each(|stmt| self.statement(stmt))
    }

    fn statement(&mut self, stmt: &Stmt) -> Option<()> {
        visit::expressions(stmt).into_iter().for_each(|expr| self.look(expr));
        match &stmt.kind {
            StmtKind::Extract { header: Layout::Header { valid, .. }, bits } => {
                forget(&mut self.known, stmt);
                self.known.insert(*valid, true);
                self.take((*bits).into())
            }
            StmtKind::Skip { bits, .. } => self.take((*bits).into()),
            StmtKind::Advance { bits: Expr { kind: ExprKind::Const(bits), .. } } => {
                self.take(u64::try_from(*bits).ok()?)
            }
            StmtKind::Set(slot, value) => {
                set(&mut self.known, *slot, value);
                Some(())
            }
            StmtKind::Copy { .. } => {
                forget(&mut self.known, stmt);
                Some(())
            }
            StmtKind::Call(call) if !call.args.iter().any(|arg| matches!(arg, Arg::Packet)) => {
                forget(&mut self.known, stmt);
                Some(())
            }
            _ => None,
        }
    }

    fn take(&mut self, bits: u64) -> Option<()> {
        self.taken = self.taken.checked_add(bits)?;
        self.read = self.read.max(self.taken);
        Some(())
    }

    /// Looks ahead as far as an expression does.
    fn look(&mut self, expr: &Expr) {
        if let ExprKind::Lookahead { offset } = expr.kind {
            let end = self.taken + u64::from(offset) + u64::from(expr.scalar.width());
            self.read = self.read.max(end);
        }
        visit::operands(expr).into_iter().for_each(|operand| self.look(operand));
    }
}

/// Number of bits that a deparser writes behind a parser with these results.
fn written(program: &Program, gress: &Gress, known: &Known) -> Option<u64> {
    let handed = |known: &Known, from: &Block, to: &Block| {
        let both = shared(from, to);
        let slots = both.iter().flat_map(|(from, to)| from.narrow().zip(to.narrow()));
        let at = |(from, to)| Some((Slot(to as u32), *known.get(&Slot(from as u32))?));
        slots.filter_map(at).collect::<Known>()
    };
    let mut known = handed(known, &gress.parser, &gress.control);
    let control = Effects::new(program, gress.control.unit);
    control.list(control.stmts()?, &mut known);
    control.doubt(&mut known);
    let mut known = handed(&known, &gress.control, &gress.deparser);
    let deparser = Effects::new(program, gress.deparser.unit);
    if has_call(program, gress.deparser.unit, |call| makes_copies(program, call)) {
        return None;
    }
    let mut bits = 0;
    for stmt in deparser.stmts()? {
        match &stmt.kind {
            StmtKind::Emit(layout) => {
                deparser.doubt(&mut known);
                bits += emitted(layout, &known)?;
            }
            _ if emits(stmt) => return None,
            _ => deparser.statement(stmt, &mut known),
        }
    }
    Some(bits)
}

/// Effects of statements on the known facts, in a control or a deparser.
struct Effects<'p> {
    program: &'p Program,
    unit: UnitId,
    /// Slots written under unknown conditions.
    doubtful: HashSet<Slot>,
}

impl<'p> Effects<'p> {
    fn new(program: &'p Program, unit: UnitId) -> Effects<'p> {
        let mut doubtful = HashSet::new();
        let methods = program.objects.iter().filter(|object| object.unit == Some(unit));
        for method in methods.flat_map(|object| &object.methods) {
            visit::statements(&method.body, &mut |stmt| {
                visit::written(stmt, &mut |slot| {
                    doubtful.insert(slot);
                });
            });
        }
        // A jump skips statements.
        let mut jumps = false;
        visit::unit_statements(program, unit, &mut |stmt| {
            jumps |= matches!(stmt.kind, StmtKind::Leave(_));
        });
        if jumps {
            doubtful.extend(written_by(program, unit));
        }
        Effects { program, unit, doubtful }
    }

    fn stmts(&self) -> Option<&'p [Stmt]> {
        match &self.program.units[self.unit.index()].body {
            Body::Control { stmts, .. } => Some(stmts),
            Body::Parser(_) => None,
        }
    }

    fn doubt(&self, known: &mut Known) {
        known.retain(|slot, _| !self.doubtful.contains(slot));
    }

    fn list(&self, stmts: &[Stmt], known: &mut Known) {
        stmts.iter().for_each(|stmt| self.statement(stmt, known));
    }

    fn statement(&self, stmt: &Stmt, known: &mut Known) {
        match &stmt.kind {
            StmtKind::Set(slot, value) => set(known, *slot, value),
            StmtKind::Block { body, .. } => self.list(body, known),
            StmtKind::If { then, otherwise, .. } => {
                self.either([then.as_slice(), otherwise].into_iter(), known);
            }
            StmtKind::Switch { cases, default, .. } => {
                let cases = cases.iter().map(|(_, body)| body.as_slice());
                self.either(cases.chain([default.as_slice()]), known);
            }
            StmtKind::Apply { table, .. } => {
                forget(known, stmt);
                let actions = &self.program.tables[table.index()].actions;
                // Without a default action a miss does nothing.
                let bodies = actions.iter().map(|action| action.body.as_slice());
                self.either(bodies.chain([[].as_slice()]), known);
            }
            StmtKind::Loop { body, .. } => {
                visit::statements(body, &mut |inner| self.forget_all(inner, known));
            }
            _ => forget(known, stmt),
        }
    }

    /// Facts that hold behind all of some lists, of which one runs.
    fn either<'s>(&self, lists: impl Iterator<Item = &'s [Stmt]>, known: &mut Known) {
        let behind = |list| {
            let mut known = known.clone();
            self.list(list, &mut known);
            known
        };
        let same = |mut a: Known, b: Known| {
            a.retain(|slot, value| b.get(slot) == Some(value));
            a
        };
        if let Some(all) = lists.map(behind).reduce(same) {
            *known = all;
        }
    }

    /// Removes the facts that a statement in a loop may change.
    fn forget_all(&self, stmt: &Stmt, known: &mut Known) {
        forget(known, stmt);
        if let StmtKind::Apply { table, .. } = stmt.kind {
            for action in &self.program.tables[table.index()].actions {
                visit::statements(&action.body, &mut |inner| forget(known, inner));
            }
        }
    }
}

/// A slot gets a value.
fn set(known: &mut Known, slot: Slot, value: &Expr) {
    match value.kind {
        ExprKind::Const(value) => known.insert(slot, value != 0),
        _ => known.remove(&slot),
    };
}

/// A statement writes something.
fn forget(known: &mut Known, stmt: &Stmt) {
    visit::written(stmt, &mut |slot| {
        known.remove(&slot);
    });
    // Some externs change what they are only given to read.
    if let StmtKind::Call(call) = &stmt.kind {
        let read = read_by_call(call);
        known.retain(|slot, _| !read.contains(slot));
    }
}

/// True if something is emitted within a statement.
fn emits(stmt: &Stmt) -> bool {
    let mut found = false;
    visit::statements(std::slice::from_ref(stmt), &mut |inner| {
        found |= matches!(inner.kind, StmtKind::Emit(_));
    });
    found
}

/// The bits that the valid ones of some headers have; none if it is not known which those are.
fn emitted(layout: &Layout, known: &Known) -> Option<u64> {
    match layout {
        Layout::Header { valid, fields, .. } => match known.get(valid)? {
            true => fields.iter().map(bits).sum(),
            false => Some(0),
        },
        Layout::Struct { fields, .. } => fields.iter().map(|field| emitted(field, known)).sum(),
        _ => None,
    }
}

/// The bits of a field, if they are always as many.
fn bits(field: &Layout) -> Option<u64> {
    match field {
        Layout::Narrow(_, scalar) | Layout::Wide(_, scalar) => Some(scalar.width().into()),
        Layout::Struct { fields, .. } => fields.iter().map(bits).sum(),
        _ => None,
    }
}

#[cfg(test)]
mod tests;

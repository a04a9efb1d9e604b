//! Fused pass: the blocks of a pass that can be one chain of code, with the operations between
//! them.
//!
//! A chain has the same effect as the blocks one by one: a block's inputs are moves, zeros and
//! constants, and the chip's inputs from the control are still present behind the deparser.
//! Otherwise the deparser runs separately, or each block does.

use super::block_frame::Block;
use super::gress::Gress;
use super::metadata::Role;
use super::parameter_passing::Handover;
use super::validity::INVALID;
use sojourn_p4::interp::{Calls, Chain, Interpreter, Link, Plan};
use sojourn_p4::ir::{ExternCall, Program, Slot, StmtKind, UnitId};
use sojourn_p4::visit;
use std::collections::HashSet;

/// A parser and what is joined to it.
#[derive(Clone, Copy, Debug)]
pub struct Joined {
    /// Its one input is the chip's time.
    pub chain: Chain,
    /// The deparser is a part of it.
    pub whole: bool,
}

/// Builds the chain of a pass, as far as possible, with `front` bytes in front of its packets and
/// the code of calls. The parser's values in slots that are `unread` are never read.
pub fn join(
    interpreter: &mut Interpreter,
    gress: &Gress,
    front: usize,
    unread: &HashSet<Slot>,
    calls: &dyn Calls,
) -> Option<Joined> {
    let program = interpreter.program().clone();
    let parser = Link::plain(gress.parser.unit);
    // A residual checksum is stored once the parser has ended.
    if has_call(&program, parser.unit, reads_the_rest) {
        return None;
    }
    let [to_control, to_deparser] = gress.handovers();
    let [invalid_control, invalid_deparser] = gress.invalid();
    let control = link(&gress.control, to_control, invalid_control)?;
    let deparser = link(&gress.deparser, to_deparser, invalid_deparser)
        .filter(|link| is_left(&gress.control, &gress.deparser, link))
        .filter(|link| !has_call(&program, link.unit, |call| makes_copies(&program, call)))
        .filter(|_| !gress.fields.cuts() && !gress.fields.controls_flow());
    let first: Vec<(Slot, u128)> =
        gress.parser.invalid.iter().map(|slot| (*slot, INVALID)).collect();
    let answers: Vec<Slot> = gress.control.answers().collect();
    // The chip's time is behind the slots of all blocks.
    let mut make = |mut links: Vec<Link>| {
        let units = links.iter().map(|link| program.units[link.unit.index()].slots.len());
        let time = Slot(units.max().unwrap_or(0) as u32);
        let from_parser = |name| gress.control.field(Role::FromParser, name).0;
        // Zeros come behind the moves.
        let clock = from_parser("global_tstamp");
        links[1].sets.retain(|(slot, _)| Some(*slot) != clock);
        links[1].moves.extend(clock.map(|slot| (time, slot)));
        links[1].sets.extend(from_parser("parser_err").map(|slot| (slot, 0)));
        interpreter.chain(Plan {
            links: &links,
            given: &[],
            given_wide: 0,
            inputs: 1,
            front,
            first: &first,
            // The deparser may need all of the remaining slots.
            left: (links.len() == 3).then_some(&answers),
            unread: &|slot| unread.contains(&slot),
            stay: &[],
            calls,
            loads_once: true,
            keeps_widths: false,
        })
    };
    let two = [parser, control];
    let three = deparser.map(|deparser| [two.as_slice(), &[deparser]].concat());
    let whole = three.and_then(&mut make).map(|chain| Joined { chain, whole: true });
    whole.or_else(|| make(two.into()).map(|chain| Joined { chain, whole: false }))
}

/// Inputs of a block as operations; `None` if they are more than moves and numbers.
fn link(block: &Block, handover: &Handover, invalid: &[Slot]) -> Option<Link> {
    let Handover::Frame { moves, cleared, cleared_wide, .. } = handover else { return None };
    if !cleared_wide.is_empty() {
        return None;
    }
    let zeros = cleared.iter().map(|slot| (*slot, 0));
    let sets = zeros.chain(invalid.iter().map(|slot| (*slot, INVALID))).collect();
    Some(Link { moves: moves.clone(), sets, ..Link::plain(block.unit) })
}

/// True if the control's outputs to the chip are still present behind the deparser.
fn is_left(control: &Block, deparser: &Block, link: &Link) -> bool {
    let moved = link.moves.iter().map(|(_, to)| *to);
    let mut written: HashSet<Slot> = moved.chain(link.sets.iter().map(|(to, _)| *to)).collect();
    written.extend(deparser.written());
    control.answers().all(|slot| !written.contains(&slot))
}

/// True for a call in a parser that is about all that is behind it in the packet.
pub fn reads_the_rest(call: &ExternCall) -> bool {
    &*call.name == "subtract_all_and_deposit"
}

/// True for a call that asks for a copy: what kind of copy is made is read in front of the deparser.
pub fn makes_copies(program: &Program, call: &ExternCall) -> bool {
    let of = call.object.map(|object| &*program.objects[object.index()].of);
    matches!(of, Some("Mirror" | "Resubmit" | "Digest"))
}

/// True if a unit has such a call.
pub fn has_call(program: &Program, unit: UnitId, is_one: impl Fn(&ExternCall) -> bool) -> bool {
    let mut found = false;
    visit::unit_statements(program, unit, &mut |stmt| {
        found |= matches!(&stmt.kind, StmtKind::Call(call) if is_one(call));
    });
    found
}

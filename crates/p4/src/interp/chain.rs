//! Several units that run one behind the other on one frame, as one piece of code.
//!
//! What a chip does to a packet between two blocks is mostly moving fields: here those moves are
//! operations like others, and a packet goes through parser, control and deparser without coming back
//! to whoever drives it. Knows no architecture: which units can be joined, and what lies between
//! them, is said by the caller.

use super::context::Externs;
use super::flat::{self, End, Op, Place, UnitCode};
use super::{Code, Frame, Halt, Interpreter, PacketIn, PacketOut, Parsed, Tables, machine};
use crate::ir::{Program, Slot, UnitId};
use std::sync::Arc;

/// A unit of a chain, and what is done to the frame in front of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The unit.
    pub unit: UnitId,
    /// Slots that are copied, from and to, in this order.
    pub moves: Vec<(Slot, Slot)>,
    /// Slots that get constants, behind the moves.
    pub sets: Vec<(Slot, u128)>,
}

/// A chain that an interpreter has made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chain {
    number: usize,
    /// The first of the slots that the caller fills: behind those of all units.
    pub input: Slot,
    /// Slots that a frame needs to be filled.
    pub slots: usize,
}

/// A chain as code.
#[derive(Clone, Debug)]
pub(super) struct Joined {
    pub unit: machine::Unit,
    /// The only unit that may read fields of invalid headers, if there is one.
    noted: Option<UnitId>,
}

impl Interpreter {
    /// Makes one piece of code of units, of which only the first may be a parser; none if a run of it
    /// could not be told from runs of the units one by one. `inputs` slots are the caller's to fill.
    /// Nobody reads what the parser puts into slots that are `unread`.
    pub fn chain(
        &mut self,
        links: &[Link],
        inputs: usize,
        unread: impl Fn(Slot) -> bool,
    ) -> Option<Chain> {
        let codes = links.iter().map(|link| Some(&self.code[link.unit.index()].as_ref()?.code));
        let codes: Vec<&UnitCode> = codes.collect::<Option<_>>()?;
        // Steps are counted for each unit, and so are reads of invalid headers.
        if codes.iter().skip(1).any(|code| code.is_parser)
            || codes.iter().filter(|code| code.ops().iter().any(is_counted)).count() > 1
        {
            return None;
        }
        let notes = |code: &&UnitCode| code.ops().iter().any(|op| matches!(op, Op::Note { .. }));
        let mut noted =
            links.iter().zip(&codes).filter(|(_, code)| notes(code)).map(|(l, _)| l.unit);
        let (first, second) = (noted.next(), noted.next());
        if second.is_some() {
            return None;
        }
        let (noted, own) = (first, own_slots(&self.program, links));
        let mut code = flat::chain(&self.program, links, inputs)?;
        code.leave_unread(unread);
        let (number, joined) =
            (self.chains.len(), Joined { unit: machine::Unit::new(code), noted });
        Arc::make_mut(&mut self.chains).push(joined);
        Some(Chain { number, input: Slot(own as u32), slots: own + inputs })
    }

    /// Runs a chain that begins with a parser, on a packet from its cursor on. Where the parser
    /// rejects, the frame is as that has left it, and nothing behind it has run.
    ///
    /// # Errors
    /// As for [`Interpreter::run_control`].
    pub fn run_chain<E: Externs + ?Sized>(
        &self,
        chain: &Chain,
        frame: &mut Frame,
        (packet, out): (PacketIn<'_>, Option<&mut PacketOut>),
        tables: &Tables,
        externs: &mut E,
    ) -> Result<Parsed, Halt> {
        let joined = &self.chains[chain.number];
        let code: Code<'_> = (&joined.unit.code, joined.unit.machine(self.compiler));
        let mut context = self.context(frame, tables, Some(packet), out);
        let ended = context.execute(code, &mut Place::default(), externs);
        if let Some(unit) = joined.noted {
            context.invalid.tell(&self.program, unit, externs);
        }
        match ended {
            Ok(End::Reject(error)) => Ok(context.parsed(false, error)),
            Ok(End::Accept | End::Done) => Ok(context.parsed(true, self.errors.no_error)),
            Err(halt) => Err(self.completed(halt)),
        }
    }
}

fn is_counted(op: &Op) -> bool {
    matches!(op, Op::State | Op::Round)
}

/// Slots of the unit that has most.
fn own_slots(program: &Program, links: &[Link]) -> usize {
    links.iter().map(|link| program.units[link.unit.index()].slots.len()).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::compile_with;
    use crate::interp::{Executor, NoExterns};
    use crate::preprocess::{MemoryLoader, PreprocessOptions};

    /// A parser and two controls with the same parameters; `PARSE` and `MORE` are the tests' own.
    const PROGRAM: &str = "
        error { NoError, PacketTooShort, NoMatch, StackOutOfBounds, HeaderTooShort, ParserTimeout }
        extern packet_in { void extract<T>(out T headers); }
        header h_t { bit<8> a; }
        struct hs_t { h_t h; }
        parser P(packet_in packet, out hs_t hdr, inout bit<32> m) {
            state start {
                packet.extract(hdr.h);
                m = 1;
                transition select(hdr.h.a) { 7: reject; 9: again; default: accept; }
            }
            state again { PARSE }
        }
        control C(inout hs_t hdr, inout bit<32> m) {
            bit<32> own;
            apply {
                own = (bit<32>)hdr.h.a;
                if (own == 3) { exit; }
                m = m * 100 + own;
                MORE
            }
        }
        control D(inout hs_t hdr, inout bit<32> m) { apply { m = m + 1000; } }
        parser AnyP<H>(packet_in packet, out H hdr, inout bit<32> m);
        control AnyC<H>(inout H hdr, inout bit<32> m);
        package S<H>(AnyP<H> p, AnyC<H> c, AnyC<H> d);
        S(P(), C(), D()) main;";

    /// An interpreter of the program, and its units in order.
    fn interpreter(parse: &str, more: &str) -> (Interpreter, [UnitId; 3]) {
        let text = PROGRAM.replace("PARSE", parse).replace("MORE", more);
        let loader = MemoryLoader::new().with("chain.p4", text);
        let program = compile_with(&loader, "chain.p4".as_ref(), &PreprocessOptions::default())
            .expect("it compiles")
            .program;
        let named = |name: &str| {
            let at = program.units.iter().position(|unit| &*unit.name == name);
            UnitId(at.expect("it is one of the units") as u32)
        };
        let units = ["P", "C", "D"].map(named);
        (Interpreter::with_executor(program, Executor::Flat), units)
    }

    fn plain(unit: UnitId) -> Link {
        Link { unit, moves: Vec::new(), sets: Vec::new() }
    }

    /// The slot of `m`: behind the header, in all three.
    const M: Slot = Slot(2);

    #[test]
    fn a_chain_does_what_its_units_do_one_by_one() {
        let (mut interpreter, units) = interpreter("transition accept;", "");
        let chain = interpreter.chain(&units.map(plain), 0, |_| false).expect("there is one");
        let tables = Tables::new(interpreter.program().clone());
        for byte in 0..=20 {
            let mut one = interpreter.frame(units[1]);
            one.narrow.resize(chain.slots, 0);
            let mut all = one.clone();
            let bytes = [byte];
            let packet = || PacketIn::new(&bytes, 0);
            let parsed = interpreter
                .run_parser(units[0], &mut one, packet(), &tables, &mut NoExterns)
                .expect("the parser runs");
            if parsed.accepted {
                for unit in &units[1..] {
                    interpreter
                        .run_control(*unit, &mut one, None, &tables, &mut NoExterns)
                        .expect("the control runs");
                }
            }
            let ends = (packet(), None);
            let ran = interpreter
                .run_chain(&chain, &mut all, ends, &tables, &mut NoExterns)
                .expect("the chain runs");
            assert_eq!(ran, parsed, "{byte}");
            assert_eq!(all.get(M), one.get(M), "{byte}");
        }
    }

    #[test]
    fn what_lies_between_units_is_done_in_order_moves_first() {
        let (mut interpreter, units) = interpreter("transition accept;", "");
        let mut links = units.map(plain);
        let input = Slot(interpreter.frame(units[1]).narrow.len() as u32);
        links[1].moves = vec![(input, M)];
        links[2].sets = vec![(M, 5)];
        let chain = interpreter.chain(&links[..2], 1, |_| false).expect("there is one");
        assert_eq!(chain.input, input);
        let tables = Tables::new(interpreter.program().clone());
        let run = |chain: &Chain| {
            let mut frame = interpreter.frame(units[1]);
            frame.narrow.resize(chain.slots, 0);
            frame.set(chain.input, 42);
            let ends = (PacketIn::new(&[8], 0), None);
            interpreter
                .run_chain(chain, &mut frame, ends, &tables, &mut NoExterns)
                .expect("the chain runs");
            frame.get(M)
        };
        assert_eq!(run(&chain), 42 * 100 + 8);
        let mut more = interpreter.clone();
        let whole = more.chain(&links, 1, |_| false).expect("there is one");
        let mut frame = more.frame(units[1]);
        frame.narrow.resize(whole.slots, 0);
        let ends = (PacketIn::new(&[8], 0), None);
        more.run_chain(&whole, &mut frame, ends, &tables, &mut NoExterns).expect("it runs");
        assert_eq!(frame.get(M), 5 + 1000);
    }

    #[test]
    fn units_that_count_steps_each_for_itself_are_not_joined() {
        let rounds = "for (bit<32> i = 0; i < 3; i = i + 1) { m = m + i; }";
        let (mut one, units) = interpreter("transition accept;", rounds);
        assert!(one.chain(&units.map(plain), 0, |_| false).is_some());
        let (mut two, units) = interpreter("transition start;", rounds);
        assert!(two.chain(&units.map(plain), 0, |_| false).is_none());
    }

    #[test]
    fn the_tree_has_no_chains() {
        let (interpreter, units) = interpreter("transition accept;", "");
        let mut tree = Interpreter::with_executor(interpreter.program().clone(), Executor::Tree);
        assert!(tree.chain(&units.map(plain), 0, |_| false).is_none());
    }
}

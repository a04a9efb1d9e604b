//! Tests of chains of units.

use super::*;
use crate::compile::compile_with;
use crate::interp::{Executor, NoExterns};
use crate::preprocess::{MemoryLoader, PreprocessOptions};

/// A parser and two controls with the same parameters; tests replace `PARSE` and `MORE`.
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

/// A chain of all of it, without omissions.
pub(in crate::interp) fn whole(links: &[Link], inputs: usize) -> Plan<'_> {
    Plan {
        links,
        given: &[],
        given_wide: 0,
        inputs,
        front: 0,
        first: &[],
        left: None,
        unread: &|_| false,
        stay: &[],
        calls: &NoCode,
        loads_once: true,
        keeps_widths: true,
    }
}

/// The slot of `m`: behind the header, in all three.
const M: Slot = Slot(2);

#[test]
fn a_chain_equals_its_units_one_by_one() {
    let (mut interpreter, units) = interpreter("transition accept;", "");
    let chain = interpreter.chain(whole(&units.map(Link::plain), 0)).expect("there is one");
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
        let ends = (Some(packet()), None);
        let ran = interpreter
            .run_chain(&chain, &mut all, ends, &tables, &mut NoExterns)
            .expect("the chain runs");
        assert_eq!(ran, parsed, "{byte}");
        assert_eq!(all.get(M), one.get(M), "{byte}");
    }
}

#[test]
fn operations_between_units_run_in_order_with_moves_first() {
    let (mut interpreter, units) = interpreter("transition accept;", "");
    let mut links = units.map(Link::plain);
    let input = Slot(interpreter.frame(units[1]).narrow.len() as u32);
    links[1].moves = vec![(input, M)];
    links[2].sets = vec![(M, 5)];
    let chain = interpreter.chain(whole(&links[..2], 1)).expect("there is one");
    assert_eq!(chain.input, input);
    let tables = Tables::new(interpreter.program().clone());
    let run = |chain: &Chain| {
        let mut frame = interpreter.frame(units[1]);
        frame.narrow.resize(chain.slots, 0);
        frame.set(chain.input, 42);
        let ends = (Some(PacketIn::new(&[8], 0)), None);
        interpreter
            .run_chain(chain, &mut frame, ends, &tables, &mut NoExterns)
            .expect("the chain runs");
        frame.get(M)
    };
    assert_eq!(run(&chain), 42 * 100 + 8);
    let mut more = interpreter.clone();
    let all = more.chain(whole(&links, 1)).expect("there is one");
    let mut frame = more.frame(units[1]);
    frame.narrow.resize(all.slots, 0);
    let ends = (Some(PacketIn::new(&[8], 0)), None);
    more.run_chain(&all, &mut frame, ends, &tables, &mut NoExterns).expect("it runs");
    assert_eq!(frame.get(M), 5 + 1000);
}

#[test]
fn units_that_count_steps_each_for_itself_are_not_joined() {
    let rounds = "for (bit<32> i = 0; i < 3; i = i + 1) { m = m + i; }";
    let (mut one, units) = interpreter("transition accept;", rounds);
    assert!(one.chain(whole(&units.map(Link::plain), 0)).is_some());
    let (mut two, units) = interpreter("transition start;", rounds);
    assert!(two.chain(whole(&units.map(Link::plain), 0)).is_none());
}

#[test]
fn a_chain_ends_before_a_unit_where_a_slot_requires_it() {
    let (mut interpreter, units) = interpreter("transition accept;", "");
    let mut links = units.map(Link::plain);
    links[2].ends_if = vec![(M, 108)];
    let chain = interpreter.chain(whole(&links, 0)).expect("there is one");
    let tables = Tables::new(interpreter.program().clone());
    // The second unit leaves 100 plus the header's byte.
    for (byte, left) in [(8, 108), (11, 1111)] {
        let mut frame = interpreter.frame(units[1]);
        frame.narrow.resize(chain.slots, 0);
        let bytes = [byte];
        let ends = (Some(PacketIn::new(&bytes, 0)), None);
        let ran = interpreter.run_chain(&chain, &mut frame, ends, &tables, &mut NoExterns);
        assert!(ran.expect("the chain runs").accepted);
        assert_eq!(frame.get(M), left, "{byte}");
    }
}

#[test]
fn a_chain_without_a_parser_begins_with_its_inputs_and_zeros() {
    let (mut interpreter, units) = interpreter("transition accept;", "");
    let links = [Link::plain(units[1]), Link::plain(units[2])];
    let plan = Plan { given: &[Slot(1)], ..whole(&links, 0) };
    let chain = interpreter.chain(plan).expect("there is one");
    let tables = Tables::new(interpreter.program().clone());
    let mut frame = interpreter.frame(units[1]);
    frame.narrow.resize(chain.slots, 0);
    // `m` is not given, whatever its slot contains.
    frame.set(Slot(1), 42);
    frame.set(M, 77);
    let ran = interpreter.run_chain(&chain, &mut frame, (None, None), &tables, &mut NoExterns);
    assert!(ran.expect("the chain runs").accepted);
    assert_eq!(frame.get(M), 42 + 1000);
}

#[test]
fn a_header_that_stays_is_not_taken_off_the_packet_but_has_to_be_there() {
    let (mut interpreter, units) = interpreter("transition accept;", "");
    let links = units.map(Link::plain);
    let plan = Plan { stay: &[Slot(0)], ..whole(&links, 0) };
    let chain = interpreter.chain(plan).expect("there is one");
    let tables = Tables::new(interpreter.program().clone());
    let run = |bytes: &[u8]| {
        let mut frame = interpreter.frame(units[1]);
        frame.narrow.resize(chain.slots, 0);
        let ends = (Some(PacketIn::new(bytes, 0)), None);
        let ran = interpreter.run_chain(&chain, &mut frame, ends, &tables, &mut NoExterns);
        (ran.expect("the chain runs"), frame.get(Slot(0)))
    };
    let (parsed, valid) = run(&[8]);
    assert!(parsed.accepted);
    assert_eq!((parsed.consumed, valid), (0, 0));
    let (parsed, _) = run(&[]);
    assert_eq!(parsed.error, interpreter.errors().packet_too_short);
    assert!(!parsed.accepted);
}

#[test]
fn the_tree_has_no_chains() {
    let (interpreter, units) = interpreter("transition accept;", "");
    let mut tree = Interpreter::with_executor(interpreter.program().clone(), Executor::Tree);
    assert!(tree.chain(whole(&units.map(Link::plain), 0)).is_none());
}

//! Parsers on real bytes: extraction, lookahead, stacks, unions, sub-parsers, value sets, errors;
//! and packets without sense, which must never do worse than be rejected.

use crate::common::Machine;
use num_bigint::BigUint;
use proptest::prelude::*;
use sojourn_p4::interp::tables::Match;
use sojourn_p4::ir::Program;
use std::sync::{Arc, LazyLock};

/// Ethernet, VLAN tags, IPv4 with options, TCP options as a stack of unions.
const STACKED: &str = r#"
#include <core.p4>
error { BadVersion }
header Ethernet { bit<48> dst; bit<48> src; bit<16> kind; }
header Vlan { bit<3> pcp; bit<1> dei; bit<12> vid; bit<16> kind; }
header Ipv4 { bit<4> version; bit<4> ihl; bit<8> tos; bit<16> len; bit<16> id; bit<16> frag;
    bit<8> ttl; bit<8> protocol; bit<16> sum; bit<32> src; bit<32> dst; }
header Options { varbit<320> data; }
header End { bit<8> kind; }
header Nop { bit<8> kind; }
header Mss { bit<8> kind; bit<8> length; bit<16> value; }
header_union Option { End end; Nop nop; Mss mss; }
struct H { Ethernet eth; Vlan[2] vlan; Ipv4 ip; Options opts; Option[4] tcp; bit<8> seen; }
parser P(packet_in packet, out H h);
control D(packet_out packet, in H h);
package Main(P p, D d);
parser Tcp(packet_in packet, inout H h) {
    state start {
        transition select(packet.lookahead<bit<8>>()) {
            0: end;
            1: nop;
            2: mss;
            default: reject;
        }
    }
    state end { packet.extract(h.tcp.next.end); transition accept; }
    state nop { packet.extract(h.tcp.next.nop); transition start; }
    state mss { packet.extract(h.tcp.next.mss); transition start; }
}
parser Parse(packet_in packet, out H h) {
    value_set<bit<16>>(2) tags;
    Tcp() tcp;
    state start {
        h.seen = 0;
        packet.extract(h.eth);
        transition select(h.eth.kind) {
            0x0800: ip;
            tags: vlan;
            default: accept;
        }
    }
    state vlan {
        packet.extract(h.vlan.next);
        transition select(h.vlan.last.kind) {
            0x0800: ip;
            tags: vlan;
            default: accept;
        }
    }
    state ip {
        packet.extract(h.ip);
        verify(h.ip.version == 4, error.BadVersion);
        packet.extract(h.opts, (bit<32>)(((bit<16>)h.ip.ihl - 5) * 32));
        if (h.ip.protocol == 6) {
            tcp.apply(packet, h);
            h.seen = 1;
        } else {
            h.seen = 2;
        }
        transition accept;
    }
}
control Deparse(packet_out packet, in H h) {
    apply {
        packet.emit(h.eth);
        packet.emit(h.vlan);
        packet.emit(h.ip);
        packet.emit(h.opts);
        packet.emit(h.tcp);
    }
}
Main(Parse(), Deparse()) main;
"#;

static PROGRAM: LazyLock<Arc<Program>> = LazyLock::new(|| crate::common::compile(STACKED));

fn ethernet(kind: u16) -> Vec<u8> {
    let mut bytes = vec![1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12];
    bytes.extend(kind.to_be_bytes());
    bytes
}

fn ipv4(ihl: u8, protocol: u8) -> Vec<u8> {
    let mut bytes = vec![0x40 | ihl, 0, 0, 40, 0, 1, 0, 0, 64, protocol, 0, 0];
    bytes.extend([10, 0, 0, 1, 10, 0, 0, 2]);
    bytes.extend((0..(ihl.saturating_sub(5)) * 4).map(|at| 0xa0 + at));
    bytes
}

fn machine() -> Machine {
    let mut machine = Machine::from_program(PROGRAM.clone());
    let tags = machine.tables.find_value_set("tags").expect("the value set");
    let member = Match::Exact(BigUint::from(0x8100u32));
    machine.tables.add_to_value_set(tags, &[member]).expect("there is room");
    machine
}

#[test]
fn fields_are_taken_in_network_order_and_the_rest_is_payload() {
    let mut machine = machine();
    let packet = [ethernet(0x8100), vec![0x61, 0x23, 0x08, 0x00], ipv4(6, 17), vec![9; 5]].concat();
    let parsed = machine.parse(0, &packet, 1000);
    assert!(parsed.accepted);
    assert_eq!(parsed.consumed, 8 * (14 + 4 + 24));
    assert_eq!(machine.get(0, "h.eth.dst"), 0x0102_0304_0506);
    assert_eq!(machine.get(0, "h.vlan[0].pcp"), 3);
    assert_eq!(machine.get(0, "h.vlan[0].vid"), 0x123);
    assert_eq!(machine.get(0, "h.ip.dst"), 0x0a00_0002);
    assert_eq!(machine.get(0, "h.opts.data.$length$"), 32);
    assert_eq!(machine.get(0, "h.seen"), 2);
}

#[test]
fn a_parsed_header_is_emitted_unchanged() {
    let mut machine = machine();
    let head =
        [ethernet(0x8100), vec![0x61, 0x23, 0x08, 0x00], ipv4(7, 6), vec![1, 2, 4, 5, 180, 1, 0]];
    let head = head.concat();
    let parsed = machine.parse(0, &[head.clone(), vec![7; 9]].concat(), 0);
    assert!(parsed.accepted, "{}", machine.error(parsed));
    assert_eq!(parsed.consumed, 8 * head.len() as u64);
    assert_eq!(machine.get(0, "h.seen"), 1);
    let (from, to) = (
        machine.program().units[0].params[1].layout.clone(),
        machine.program().units[1].params[1].layout.clone(),
    );
    let mut frame = machine.frames[1].clone();
    sojourn_p4::interp::copy_layout(&machine.frames[0], &from, &mut frame, &to);
    machine.frames[1] = frame;
    assert_eq!(machine.deparse(1), head);
}

#[test]
fn a_second_packet_does_not_see_the_headers_of_the_first() {
    let mut machine = machine();
    let first = [ethernet(0x8100), vec![0, 5, 0x08, 0x00], ipv4(5, 17)].concat();
    assert!(machine.parse(0, &first, 0).accepted);
    assert_eq!(machine.get(0, "h.vlan.$next$"), 1);
    assert!(machine.parse(0, &ethernet(0x1234), 0).accepted);
    for header in ["h.vlan[0].$valid$", "h.ip.$valid$", "h.opts.$valid$", "h.vlan.$next$"] {
        assert_eq!(machine.get(0, header), 0, "{header}");
    }
}

#[test]
fn headers_may_reach_into_counted_zeros() {
    let mut machine = machine();
    let parsed = machine.parse(0, &ethernet(0x0800), 20);
    assert_eq!((parsed.accepted, &*machine.error(parsed)), (false, "BadVersion"));
    let parsed = machine.parse(0, &ethernet(0x0800), 19);
    assert_eq!((parsed.accepted, &*machine.error(parsed)), (false, "PacketTooShort"));
    assert_eq!(parsed.consumed, 8 * 14, "what does not fit is not consumed");
}

#[test]
fn a_full_stack_ends_the_parser() {
    let mut machine = machine();
    let tag = |kind: u16| [vec![0, 1], kind.to_be_bytes().to_vec()].concat();
    let packet = [ethernet(0x8100), tag(0x8100), tag(0x8100), tag(0x0800)].concat();
    let parsed = machine.parse(0, &packet, 100);
    assert_eq!((parsed.accepted, &*machine.error(parsed)), (false, "StackOutOfBounds"));
}

#[test]
fn a_variable_field_longer_than_its_type_is_refused() {
    let text = STACKED.replace("varbit<320>", "varbit<32>");
    let mut machine = Machine::new(&text);
    let packet = [ethernet(0x0800), ipv4(7, 17)].concat();
    let parsed = machine.parse(0, &packet, 0);
    assert_eq!((parsed.accepted, &*machine.error(parsed)), (false, "HeaderTooShort"));
}

#[test]
fn a_sub_parser_that_rejects_rejects_the_packet() {
    let mut machine = machine();
    let packet = [ethernet(0x0800), ipv4(5, 6), vec![1, 99]].concat();
    let parsed = machine.parse(0, &packet, 0);
    assert_eq!((parsed.accepted, &*machine.error(parsed)), (false, "NoError"));
    assert_eq!(machine.get(0, "h.tcp[0].nop.$valid$"), 1);
}

#[test]
fn a_parser_that_does_not_move_on_times_out() {
    let text = "#include <core.p4>
    struct S { bit<8> a; }
    parser P(packet_in packet, inout S s);
    package Main(P p);
    parser Loop(packet_in packet, inout S s) { state start {
            transition select(s.a) { 0: start; default: accept; } } }
    Main(Loop()) main;";
    let mut machine = Machine::new(text);
    let parsed = machine.parse(0, &[], 0);
    assert_eq!((parsed.accepted, &*machine.error(parsed)), (false, "ParserTimeout"));
}

#[test]
fn lookahead_skipping_and_ranges_work_at_any_width() {
    let text = "#include <core.p4>
    header Wide { bit<200> x; bit<3> low; int<5> signed; }
    struct S { Wide w; bit<8> peek; bit<8> r; }
    parser P(packet_in packet, inout S s);
    package Main(P p);
    parser Q(packet_in packet, inout S s) {
        state start {
            Wide w = packet.lookahead<Wide>();
            s.peek = w.x[199:192];
            packet.extract(s.w);
            packet.advance(8);
            packet.extract<Wide>(_);
            transition select(s.w.signed, s.w.x) {
                (-3 .. 2, 0 &&& 1): even;
                (-3 .. 2, _): odd;
                default: accept;
            }
        }
        state even { s.r = 1; transition accept; }
        state odd { s.r = 2; transition accept; }
    }
    Main(Q()) main;";
    let mut machine = Machine::new(text);
    for (last, low_bit, expected) in
        [(0x1e, 0, 1), (0x1d, 1, 2), (0x1c, 0, 0), (2, 1, 2), (3, 0, 0)]
    {
        machine.frames[0].clear();
        let mut packet = vec![0xab; 24];
        packet.push(low_bit);
        packet.push(0x60 | last);
        let parsed = machine.parse(0, &packet, 27);
        assert!(parsed.accepted);
        assert_eq!(parsed.consumed, 8 * 53);
        assert_eq!(machine.get(0, "s.peek"), 0xab);
        assert_eq!(machine.get(0, "s.w.low"), 3);
        assert_eq!(machine.get(0, "s.r"), expected, "{last:#x}");
    }
}

proptest! {
    #[test]
    fn packets_without_sense_are_parsed_or_rejected(
        bytes in prop::collection::vec(any::<u8>(), 0..120),
        zeros in 0u32..80,
        shape in 0u8..4,
    ) {
        let mut machine = machine();
        let mut packet = bytes;
        // Most random bytes end at the first select; lead some further in.
        if packet.len() > 34 && shape > 0 {
            packet[12..14].copy_from_slice(if shape == 1 { &[0x81, 0] } else { &[8, 0] });
            packet[14] = 0x40 | (packet[14] & 15);
            packet[23] = 6;
        }
        let parsed = machine.parse(0, &packet, zeros);
        prop_assert!(parsed.consumed <= 8 * (packet.len() as u64 + u64::from(zeros)));
        prop_assert!((parsed.error as usize) < machine.program().errors.len());
    }
}

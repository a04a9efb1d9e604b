//! Registers from packet to packet.

use super::*;
use sojourn_control::RuntimeControl;

#[test]
fn a_register_remembers_from_packet_to_packet() {
    let parts = Parts {
        egress: "Register<bit<32>, bit<9>>(16, 40) count;
                 RegisterAction<bit<32>, bit<9>, bit<32>>(count) next = {
                     void apply(inout bit<32> v, out bit<32> r) { v = v + 1; r = v; }
                 };",
        apply: "h.ethernet.dst = (bit<48>)next.execute(e.egress_port);",
        ..Parts::default()
    };
    let mut plane = parts.loaded().plane;
    let mut ask = |port| finding(plane.egress(&leaving(port, 0), frame()).packet);
    assert_eq!([ask(1), ask(1), ask(2), ask(1)], [41, 42, 41, 43]);
    assert_eq!(plane.register_mut("count").unwrap().get(1), Some([43, 0]));
}

#[test]
fn an_index_beyond_a_register_reaches_the_rest_of_its_blocks_and_no_more() {
    let parts = Parts {
        egress: "Register<bit<32>, bit<16>>(16, 40) count;
                 RegisterAction<bit<32>, bit<16>, bit<32>>(count) next = {
                     void apply(inout bit<32> v, out bit<32> r) { v = v + 1; r = v; }
                 };",
        apply: "h.ethernet.dst = (bit<48>)next.execute(e.pkt_length);",
        ..Parts::default()
    };
    let mut plane = parts.loaded().plane;
    let mut ask = |length| {
        let input = EgressInput { length, ..leaving(0, 0) };
        finding(plane.egress(&input, frame()).packet)
    };
    // A block has 4,096 entries of 32 bits.
    assert_eq!([ask(16), ask(16), ask(4_095), ask(4_095)], [41, 42, 41, 42]);
    assert_eq!([ask(4_096), ask(4_096)], [0, 0]);
    let register = plane.register_mut("count").unwrap();
    assert_eq!([register.get(16), register.get(4_095)], [Some([42, 0]); 2]);
    assert_eq!((register.get(4_096), register.len()), (None, 16));
}

#[test]
fn the_next_packet_sees_what_this_one_wrote_and_this_one_does_not() {
    let parts = Parts {
        types: "struct pair_t { bit<32> a; bit<32> b; }",
        egress: "Register<pair_t, bit<9>>(16) pair;
                 RegisterAction<pair_t, bit<9>, bit<32>>(pair) turn = {
                     void apply(inout pair_t v, out bit<32> r) {
                         v.a = m.now; v.b = v.a; r = v.b;
                     }
                 };",
        apply: "m.now = e.pkt_length ++ 16w0; h.ethernet.dst = (bit<48>)turn.execute(0);",
        ..Parts::default()
    };
    let mut plane = parts.loaded().plane;
    let mut ask = |length| {
        let input = EgressInput { length, ..leaving(0, 0) };
        finding(plane.egress(&input, frame()).packet) >> 16
    };
    assert_eq!([ask(7), ask(8), ask(9)], [0, 7, 8]);
}

#[test]
fn read_and_write_of_a_register_are_accesses_too() {
    let egress = "Register<bit<32>, bit<9>>(16, 5) reg;";
    let parts = Parts {
        egress,
        apply: "if (e.egress_port == 1) { reg.write(3, 99); } else { m.a = reg.read(3); }
                h.ethernet.dst = (bit<48>)m.a;",
        ..Parts::default()
    };
    let mut plane = parts.loaded().plane;
    let mut ask = |port| finding(plane.egress(&leaving(port, 0), frame()).packet);
    assert_eq!([ask(2), ask(1), ask(2)], [5, 0, 99]);
    let apply = "m.a = reg.read(3); reg.write(3, m.a + 2); h.ethernet.dst = (bit<48>)m.a;";
    let mut plane = Parts { egress, apply, ..Parts::default() }.loaded().plane;
    let mut ask = || finding(plane.egress(&leaving(1, 0), frame()).packet);
    assert_eq!([ask(), ask()], [5, 7]);
    assert_eq!(*plane.faults(), Faults::default(), "a read and the write behind it are one access");
}

#[test]
fn a_direct_register_has_an_entry_for_each_table_entry() {
    let parts = Parts {
        egress: "DirectRegister<bit<32>>() seen;
                 DirectRegisterAction<bit<32>, bit<32>>(seen) next = {
                     void apply(inout bit<32> v, out bit<32> r) { v = v + 1; r = v; }
                 };
                 action count() { m.a = next.execute(); }
                 table ports {
                     key = { e.egress_port : exact; }
                     actions = { count; }
                     registers = seen;
                     size = 16;
                 }",
        apply: "ports.apply(); h.ethernet.dst = (bit<48>)m.a;",
        ..Parts::default()
    };
    let mut plane = parts.loaded().plane;
    plane.configure(&entries("Eg.ports", "e.egress_port", &[1, 2], "count")).unwrap();
    let mut ask = |port| finding(plane.egress(&leaving(port, 0), frame()).packet);
    assert_eq!([ask(1), ask(2), ask(1), ask(3)], [1, 1, 2, 0]);
}

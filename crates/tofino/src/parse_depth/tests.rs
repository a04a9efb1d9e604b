//! Tests of the limit on parse depth.

use crate::load::{LoadOptions, load};
use crate::pipeline::Tofino;
use crate::testing::{Parts, load_text, p4_folder};
use proptest::prelude::*;
use sojourn_packet::dataplane::{DataPlane, EgressInput, IngressInput, PortId};
use sojourn_packet::{Packet, Time};

/// A program whose ingress puts a header in front that its egress takes off.
struct Bridged<'t> {
    declared: &'t str,
    ingress: &'t str,
    egress_parser: &'t str,
    egress_deparser: &'t str,
}

const USUAL: Bridged<'static> = Bridged {
    declared: "",
    ingress: "h.bridge.setValid(); h.bridge.arrival = ip.global_tstamp;",
    egress_parser: "p.extract(e); p.extract(h.bridge); p.extract(h.ethernet); transition accept;",
    egress_deparser: "p.emit(h.ethernet);",
};

impl Bridged<'_> {
    fn text(&self) -> String {
        let Bridged { declared, ingress, egress_parser, egress_deparser } = self;
        let wire = "t.ucast_egress_port = 2;";
        let text = Parts {
            types: "header bridge_h { bit<48> arrival; }",
            ingress: declared,
            ingress_apply: &format!("{wire} {ingress}"),
            ingress_deparser: ("", "p.emit(h.bridge);"),
            ..Parts::default()
        }
        .text();
        text.replace("{ ethernet_h ethernet; }", "{ bridge_h bridge; ethernet_h ethernet; }")
            .replace("p.extract(e); p.extract(h.ethernet); transition accept;", egress_parser)
            .replace("apply {  p.emit(h.ethernet); }", &format!("apply {{ {egress_deparser} }}"))
    }
}

fn alone(text: &str) -> bool {
    let loaded =
        load_text(text).unwrap_or_else(|error| panic!("{}", error.render(&Default::default())));
    loaded.plane.reads_ethernet_alone()
}

fn shipped(name: &str) -> Tofino {
    let include_paths = vec![p4_folder().join("include")];
    let options = LoadOptions { include_paths, ..LoadOptions::default() };
    load(p4_folder().join("tna").join(name), &options).expect("it ships")
}

#[test]
fn of_the_shipped_programs_it_is_the_one_that_neither_routes_nor_makes_copies() {
    let programs = ["p4_codel.p4", "codel_act.p4", "codel_exact.p4", "fq_codel.p4"];
    let found = programs.map(|name| shipped(name).reads_ethernet_alone());
    assert_eq!(found, [true, false, false, false]);
}

#[test]
fn a_header_that_ingress_puts_in_front_and_egress_takes_off_does_not_matter() {
    assert!(alone(&USUAL.text()));
    let both = "if (i.ingress_port == 1) { h.bridge.setValid(); } else { h.bridge.setValid(); }";
    assert!(alone(&Bridged { ingress: both, ..USUAL }.text()));
    let addresses = "h.bridge.setValid(); h.ethernet.dst = 5; h.ethernet.kind = 0x86dd;";
    assert!(alone(&Bridged { ingress: addresses, ..USUAL }.text()));
    let turned = "p.extract(e); transition select(p.lookahead<bit<8>>()) { 0: on; default: on; } }
        state on { p.extract(h.bridge); p.extract(h.ethernet); transition accept;";
    assert!(alone(&Bridged { egress_parser: turned, ..USUAL }.text()));
}

#[test]
fn a_header_that_may_be_there_or_not_does() {
    for ingress in [
        "",
        "if (i.ingress_port == 1) { h.bridge.setValid(); }",
        "if (i.ingress_port == 1) { exit; } h.bridge.setValid();",
        "h.bridge.setValid(); h.bridge.setInvalid();",
        "h.bridge.setValid(); h.ethernet.setInvalid();",
        "with.apply();",
        "h.bridge.setValid(); with.apply();",
    ] {
        let declared =
            "action on() { h.bridge.setValid(); } action off() { h.bridge.setInvalid(); }
            table with { key = { i.ingress_port : exact; } actions = { on; off; } size = 4; }";
        assert!(!alone(&Bridged { declared, ingress, ..USUAL }.text()), "{ingress}");
    }
}

#[test]
fn a_program_that_reads_further_does_not_read_ethernet_alone() {
    let ahead = "p.extract(e); p.extract(h.bridge); p.extract(h.ethernet);
        transition select(p.lookahead<bit<8>>()) { 0x45: accept; default: accept; }";
    let instead = "p.extract(e); p.advance(160); p.extract(h.ethernet); transition accept;";
    let twice = "p.extract(e); p.extract(h.bridge); transition select(h.bridge.arrival[31:0]) {
            0: again; default: once; } }
        state again { p.extract(h.bridge); transition once; }
        state once { p.extract(h.ethernet); transition accept;";
    let again = "p.extract(e); transition next; }
        state next { p.extract(h.bridge); transition select(h.bridge.arrival[31:0]) {
            0: next; default: accept; }";
    for egress_parser in [ahead, instead, twice, again] {
        assert!(!alone(&Bridged { egress_parser, ..USUAL }.text()), "{egress_parser}");
    }
}

#[test]
fn nor_does_one_whose_packets_leave_without_their_ethernet_header_or_with_more() {
    for egress_deparser in ["", "p.emit(h.bridge);", "p.emit(h.bridge); p.emit(h.ethernet);"] {
        assert!(!alone(&Bridged { egress_deparser, ..USUAL }.text()), "{egress_deparser}");
    }
    let past = "h.bridge.setValid(); t.bypass_egress = 1;";
    assert!(!alone(&Bridged { ingress: past, ..USUAL }.text()));
}

#[test]
fn nor_does_one_that_makes_copies() {
    let mirror = Parts {
        deparser: ("Mirror() mirror;", "if (d.mirror_type == 1) { mirror.emit(5); }"),
        apply: "d.mirror_type = 1;",
        ..Parts::default()
    };
    assert!(!alone(&mirror.text()));
    assert!(alone(&Parts::default().text()));
}

/// Result of both passes for a packet, and whether it is sent.
fn passed(plane: &mut Tofino, packet: Packet) -> (bool, Packet) {
    let now = Time::from_micros(5);
    let input = IngressInput { port: PortId(1), arrived: now, now, resubmitted: false };
    let Some(between) = plane.ingress(&input, packet).packet else {
        return (false, Packet::default());
    };
    let length = between.len().0 as u32;
    let input =
        EgressInput { port: PortId(2), now, dequeued: now, length, ..EgressInput::default() };
    let out = plane.egress(&input, between);
    (out.packet.is_some(), out.packet.unwrap_or_default())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases / 4))]

    #[test]
    fn what_is_behind_ethernet_headers_makes_no_difference_and_goes_through(
        front in prop::array::uniform14(any::<u8>()), rest in prop::collection::vec(any::<u8>(), 0..60),
        zeros in 0u32..1_000,
    ) {
        let packet = |rest: &[u8]| Packet {
            bytes: [&front, rest].concat(), zeros, ..Packet::default()
        };
        let load = || load_text(&USUAL.text()).expect("a program").plane;
        let (sent, one) = passed(&mut load(), packet(&rest));
        let (same, other) = passed(&mut load(), packet(&vec![0; rest.len()]));
        prop_assert!(sent && same);
        prop_assert_eq!(&one.bytes[..14], &other.bytes[..14]);
        prop_assert_eq!(&one.bytes[14..], &rest[..]);
        prop_assert_eq!((one.zeros, other.zeros), (zeros, zeros));
    }
}

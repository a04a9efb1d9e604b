//! Tests of the decisions of the ingress pass: port, queue, groups, drop.

use super::*;

#[test]
fn a_packet_for_which_no_port_was_set_goes_nowhere() {
    let out = ingress(Parts::default());
    assert!(out.packet.is_none() && out.admission.unicast.is_none() && !out.parser_rejected);
}

#[test]
fn port_zero_is_a_port_once_it_is_set() {
    let out = ingress(Parts { ingress_apply: "t.ucast_egress_port = 0;", ..Parts::default() });
    assert_eq!(out.admission.unicast, Some(PortId(0)));
    assert_eq!(out.packet, Some(frame()));
}

#[test]
fn invalidate_takes_a_port_back_and_an_unset_field_reads_as_zero() {
    let apply = "t.ucast_egress_port = 3; invalidate(t.ucast_egress_port);";
    assert_eq!(ingress(Parts { ingress_apply: apply, ..Parts::default() }).admission.unicast, None);
    let apply = "if (id.mirror_type == 0) { t.ucast_egress_port = 9; }";
    let out = ingress(Parts { ingress_apply: apply, ..Parts::default() });
    assert_eq!(out.admission.unicast, Some(PortId(9)));
}

#[test]
fn drop_ctl_bit_0_stops_unicast_and_multicast() {
    let apply = "t.ucast_egress_port = 3; t.mcast_grp_a = 7; id.drop_ctl = 1;";
    let out = ingress(Parts { ingress_apply: apply, ..Parts::default() });
    assert!(out.packet.is_none());
    assert_eq!((out.admission.unicast, out.admission.replication), (None, None));
}

#[test]
fn the_traffic_manager_gets_queue_class_colour_and_groups() {
    let apply = "t.ucast_egress_port = 3; t.qid = 17; t.ingress_cos = 5; t.packet_color = 3;
                 t.bypass_egress = 1; t.mcast_grp_b = 0x1234; t.rid = 9;
                 t.level1_exclusion_id = 8; t.level2_exclusion_id = 7;";
    let admission = ingress(Parts { ingress_apply: apply, ..Parts::default() }).admission;
    assert_eq!((admission.queue, admission.cos, admission.color), (17, 5, 3));
    assert!(admission.bypass_egress);
    let copies = admission.replication.unwrap();
    assert_eq!(copies.groups, [None, Some(0x1234)]);
    assert_eq!((copies.rid, copies.l1_exclusion, copies.l2_exclusion), (9, 8, 7));
}

#[test]
fn ingress_sees_its_port_and_the_two_clocks() {
    let apply = "h.ethernet.dst = ip.global_tstamp; h.ethernet.src = i.ingress_mac_tstamp;
                 t.ucast_egress_port = i.ingress_port;";
    let text = Parts { ingress_apply: apply, ..Parts::default() }.text();
    let clock = Clock { offset: Time(1 << 40), timestamp_shift: 0 };
    let options = LoadOptions { clock, ..LoadOptions::default() };
    let mut plane = load_text_with(&text, options).unwrap().plane;
    let out = plane.ingress(&arriving(5), frame());
    let bytes = out.packet.clone().unwrap().bytes;
    assert_eq!(finding(out.packet), (1 << 40) + 1_600);
    assert_eq!(bytes[6..12], [1, 0, 0, 0, 0x03, 0xe8]);
    assert_eq!(out.admission.unicast, Some(PortId(5)));
}

/// A program whose ingress parser has the order to the traffic manager and does `set`.
fn set_in_parser(parts: Parts<'_>, set: &str) -> String {
    parts
        .text()
        .replace(
            "out ingress_intrinsic_metadata_t i) {",
            "out ingress_intrinsic_metadata_t i,
             out ingress_intrinsic_metadata_for_tm_t tm) {",
        )
        .replace("p.extract(i); p.adv", &format!("p.extract(i); {set} p.adv"))
}

fn admission(text: &str) -> sojourn_packet::dataplane::Admission {
    let mut plane = load_text(text).unwrap_or_else(|e| panic!("{e}")).plane;
    plane.ingress(&arriving(1), frame()).admission
}

#[test]
fn settings_of_the_parser_for_the_traffic_manager_are_applied() {
    let set = "tm.ucast_egress_port = 140; tm.bypass_egress = 1; tm.qid = 3; tm.ingress_cos = 2;
               tm.packet_color = 1; tm.deflect_on_drop = 1; tm.mcast_grp_a = 7; tm.rid = 5; tm.level1_exclusion_id = 6;";
    for apply in ["", "h.ethernet.kind = 1;", "if (t.qid == 3) { h.ethernet.kind = 1; }"] {
        let text = set_in_parser(Parts { ingress_apply: apply, ..Parts::default() }, set);
        let found = admission(&text);
        assert_eq!(found.unicast, Some(PortId(140)), "{apply}");
        assert!(found.bypass_egress && found.deflect_on_drop, "{apply}");
        assert_eq!((found.queue, found.cos, found.color), (3, 2, 1), "{apply}");
        let copies = found.replication.expect("copies");
        assert_eq!((copies.groups[0], copies.rid, copies.l1_exclusion), (Some(7), 5, 6), "{apply}");
    }
}

#[test]
fn the_control_has_the_last_word_on_what_the_parser_orders() {
    let set = "tm.ucast_egress_port = 140; tm.bypass_egress = 1;";
    let apply = "t.ucast_egress_port = 9; t.bypass_egress = 0;";
    let text = set_in_parser(Parts { ingress_apply: apply, ..Parts::default() }, set);
    let found = admission(&text);
    assert_eq!((found.unicast, found.bypass_egress), (Some(PortId(9)), false));
    let dropped = Parts { ingress_apply: "id.drop_ctl = 1;", ..Parts::default() };
    assert_eq!(admission(&set_in_parser(dropped, set)).unicast, None);
    let taken_back =
        Parts { ingress_apply: "invalidate(t.ucast_egress_port);", ..Parts::default() };
    assert_eq!(admission(&set_in_parser(taken_back, set)).unicast, None);
}

#[test]
fn a_control_without_the_parameter_leaves_what_the_parser_orders() {
    let set = "tm.ucast_egress_port = 140; tm.qid = 3;";
    let text = set_in_parser(Parts { ingress_apply: "m.tag = 1;", ..Parts::default() }, set);
    let without = text.replace(
        "inout ingress_intrinsic_metadata_for_deparser_t id,
           inout ingress_intrinsic_metadata_for_tm_t t) {",
        "inout ingress_intrinsic_metadata_for_deparser_t id) {",
    );
    assert_ne!(text, without);
    let found = admission(&without);
    assert_eq!((found.unicast, found.queue), (Some(PortId(140)), 3));
}

#[test]
fn an_egress_parser_may_drop_and_ask_for_a_copy() {
    let parts = Parts { apply: "m.e = 1;", ..Parts::default() };
    let text = parts
        .text()
        .replace(
            "out egress_intrinsic_metadata_t e) {",
            "out egress_intrinsic_metadata_t e, out egress_intrinsic_metadata_from_parser_t ep,
             out egress_intrinsic_metadata_for_deparser_t ed) {",
        )
        .replace("p.extract(e); p.ext", "p.extract(e); ed.drop_ctl = 1; p.ext");
    let mut plane = load_text(&text).unwrap_or_else(|e| panic!("{e}")).plane;
    assert!(plane.egress(&leaving(5, 2_000), frame()).packet.is_none());
}

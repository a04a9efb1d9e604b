//! Tests of the actions after ingress and after egress, in `simple_switch`'s order.

use super::{Parts, bytes, frame};
use sojourn_packet::dataplane::{IngressOutput, PortId};

fn after_ingress(statements: &str) -> IngressOutput {
    let parts = Parts { ingress: ("", statements), ..Parts::default() };
    parts.load().ingress(&frame(0x800, &[9; 50]))
}

fn unicast(out: &IngressOutput) -> Option<u16> {
    out.packet.as_ref().and(out.admission.unicast).map(|PortId(port)| port)
}

fn group(out: &IngressOutput) -> Option<u16> {
    out.packet.as_ref().and(out.admission.replication).and_then(|request| request.groups[0])
}

#[test]
fn a_packet_goes_to_the_port_in_egress_spec_and_to_port_0_if_it_is_unset() {
    assert_eq!(unicast(&after_ingress("s.egress_spec = 5;")), Some(5));
    assert_eq!(unicast(&after_ingress("")), Some(0));
}

#[test]
fn egress_spec_511_drops_whether_set_by_hand_or_by_mark_to_drop() {
    for statements in
        ["s.egress_spec = 511;", "mark_to_drop(s);", "s.egress_spec = 4; mark_to_drop();"]
    {
        let out = after_ingress(statements);
        assert!(out.packet.is_none() && out.resubmit.is_none(), "{statements}");
    }
}

#[test]
fn a_port_set_behind_mark_to_drop_counts() {
    assert_eq!(unicast(&after_ingress("mark_to_drop(s); s.egress_spec = 6;")), Some(6));
}

#[test]
fn a_multicast_group_wins_over_the_drop_port_but_mark_to_drop_clears_the_group() {
    let out = after_ingress("mark_to_drop(s); s.mcast_grp = 12;");
    assert_eq!((group(&out), unicast(&out)), (Some(12), None));
    let out = after_ingress("s.mcast_grp = 12; mark_to_drop(s);");
    assert!(out.packet.is_none());
}

#[test]
fn a_multicast_group_wins_over_the_unicast_port() {
    let out = after_ingress("s.mcast_grp = 12; s.egress_spec = 3;");
    assert_eq!((group(&out), unicast(&out)), (Some(12), None));
}

#[test]
fn a_resubmission_wins_over_multicast_and_drop() {
    for statements in ["s.mcast_grp = 12;", "mark_to_drop(s);", "s.egress_spec = 2;"] {
        let text = format!("resubmit_preserving_field_list(0); {statements}");
        let out = after_ingress(&text);
        assert!(out.resubmit.is_some() && out.packet.is_none(), "{statements}");
    }
}

#[test]
fn a_clone_is_made_of_a_packet_that_is_dropped_or_resubmitted_too() {
    for statements in ["mark_to_drop(s);", "resubmit_preserving_field_list(0);", ""] {
        let out = after_ingress(&format!("clone(CloneType.I2E, 7); {statements}"));
        assert_eq!(out.mirror.map(|mirror| mirror.session), Some(7), "{statements}");
    }
}

#[test]
fn the_queue_is_the_packets_priority() {
    assert_eq!(after_ingress("s.priority = 5;").admission.queue, 5);
}

fn after_egress(statements: &str) -> sojourn_packet::dataplane::EgressOutput {
    let parts =
        Parts { ingress: ("", "s.egress_spec = 2;"), egress: ("", statements), ..Parts::default() };
    let mut pass = parts.load();
    let admitted = pass.ingress(&frame(0x800, &[9; 50]));
    pass.egress(admitted)
}

#[test]
fn egress_drops_marked_packets_and_sends_the_others_unchanged() {
    assert!(after_egress("mark_to_drop(s);").packet.is_none());
    let sent = after_egress("").packet.unwrap();
    assert_eq!(bytes(&sent), frame(0x800, &[9; 50]));
}

#[test]
fn an_egress_port_written_in_egress_does_not_move_the_packet() {
    let out = after_egress("s.egress_port = 9; s.egress_spec = 9;");
    assert!(out.packet.is_some() && !out.recirculate);
}

#[test]
fn a_drop_in_egress_wins_over_recirculation_and_not_over_a_clone() {
    let out = after_egress(
        "recirculate_preserving_field_list(0); clone(CloneType.E2E, 4); mark_to_drop(s);",
    );
    assert!(out.packet.is_none() && !out.recirculate);
    assert_eq!(out.mirror.map(|mirror| mirror.session), Some(4));
}

#[test]
fn a_recirculated_packet_is_what_the_deparser_has_written() {
    let out = after_egress("recirculate_preserving_field_list(0); h.eth.kind = 0x1234;");
    assert!(out.recirculate);
    assert_eq!(bytes(&out.packet.unwrap()), frame(0x1234, &[9; 50]));
}

#[test]
fn of_several_clones_the_last_counts() {
    let out = after_ingress("clone(CloneType.I2E, 7); clone(CloneType.I2E, 0);");
    assert_eq!(out.mirror.map(|mirror| mirror.session), Some(0));
}

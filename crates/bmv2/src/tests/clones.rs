//! Tests of clones, resubmitted and recirculated packets: contents, instance type, field lists.

use super::{Parts, Pass, bytes, frame, note};
use sojourn_p4::diagnostic::RenderOptions;
use sojourn_packet::dataplane::IngressOutput;

/// Ingress modifies all fields, then runs the test's statements; egress records its inputs.
fn program(ingress: &str) -> Pass {
    let statements = format!(
        "if (s.instance_type == 0) {{
             m.one = 11; m.both = 12; m.none = 13; h.eth.kind = 0x9999; s.egress_spec = 2; {ingress}
         }}"
    );
    let note = "h.note.setValid(); h.note.a = m.one; h.note.b = m.both;
                h.note.c = (bit<16>) m.none; h.note.d = s.instance_type;
                h.note.e = (bit<48>) s.ingress_port;";
    let parts = Parts { ingress: ("", &statements), egress: ("", note), ..Parts::default() };
    parts.load()
}

fn clone_of(pass: &mut Pass) -> Vec<u8> {
    let out = pass.ingress(&frame(0x800, &[5; 50]));
    let sent = pass.egress_of_copy(out.mirror.expect("a clone")).packet.expect("a packet");
    bytes(&sent)
}

#[test]
fn an_ingress_clone_is_the_packet_as_it_came_and_keeps_the_list_that_is_named() {
    let lists = [(0, [0, 0]), (1, [11, 12]), (2, [0, 12]), (9, [0, 0])];
    for (list, [one, both]) in lists {
        let call = format!("clone_preserving_field_list(CloneType.I2E, 7, {list});");
        let sent = clone_of(&mut program(&call));
        assert_eq!(sent[12..14], [0x08, 0x00], "the type that the packet came with");
        // All other metadata is zero again, including the port.
        assert_eq!(note(&sent), [one, both, 0, 1, 0], "list {list}");
    }
}

#[test]
fn the_kept_values_are_those_at_the_end_of_ingress() {
    let call = "clone_preserving_field_list(CloneType.I2E, 7, 1); m.one = 99;";
    assert_eq!(note(&clone_of(&mut program(call)))[0], 99);
}

#[test]
fn the_original_of_a_clone_goes_its_own_way() {
    let mut pass = program("clone_preserving_field_list(CloneType.I2E, 7, 1);");
    let sent = pass.both(&frame(0x800, &[5; 50])).unwrap();
    assert_eq!(sent[12..14], [0x99, 0x99]);
    assert_eq!(note(&sent), [11, 12, 13, 0, 3]);
}

#[test]
fn the_older_clone3_keeps_the_fields_it_is_handed() {
    assert_eq!(
        note(&clone_of(&mut program("clone3(CloneType.I2E, 7, { m.none });"))),
        [0, 0, 13, 1, 0]
    );
    let whole = "clone3(CloneType.I2E, 7, { m, s });";
    assert_eq!(note(&clone_of(&mut program(whole))), [11, 12, 13, 1, 3]);
}

fn again(pass: &mut Pass, out: IngressOutput) -> Vec<u8> {
    let packet = out.resubmit.expect("a packet to resubmit");
    let out = pass.ingress_again(packet, out.packet_metadata);
    let sent = pass.egress(out).packet.expect("a packet");
    bytes(&sent)
}

#[test]
fn a_resubmitted_packet_begins_again_as_it_came_with_the_list_that_is_named() {
    for (call, [one, both, none]) in [
        ("resubmit_preserving_field_list(1);", [11, 12, 0]),
        ("resubmit_preserving_field_list(2);", [0, 12, 0]),
        ("resubmit({ m.none });", [0, 0, 13]),
    ] {
        let mut pass = program(call);
        let out = pass.ingress(&frame(0x800, &[5; 50]));
        let sent = again(&mut pass, out);
        assert_eq!(sent[12..14], [0x08, 0x00]);
        // The copy for egress is an ordinary unicast packet again.
        assert_eq!(note(&sent), [one, both, none, 0, 0], "{call}");
    }
}

#[test]
fn ingress_sees_that_a_packet_is_resubmitted_or_recirculated() {
    let parts = Parts {
        ingress: (
            "",
            "m.one = (bit<8>) s.instance_type; s.egress_spec = 2;
             if (s.instance_type == 0) { resubmit_preserving_field_list(0); }",
        ),
        egress: (
            "",
            "if (m.one == 6) { recirculate_preserving_field_list(0); }
             else { h.note.setValid(); h.note.a = m.one; }",
        ),
        ..Parts::default()
    };
    let mut pass = parts.load();
    let out = pass.ingress(&frame(0x800, &[5; 50]));
    let out = pass.ingress_again(out.resubmit.unwrap(), out.packet_metadata);
    let out = pass.egress(out);
    assert!(out.recirculate);
    let out = pass.ingress_again(out.packet.unwrap(), out.packet_metadata);
    let sent = pass.egress(out).packet.unwrap();
    assert_eq!(note(&bytes(&sent))[0], 4);
}

#[test]
fn a_recirculated_packet_keeps_the_values_at_the_end_of_egress() {
    for (call, kept) in [
        ("recirculate_preserving_field_list(2);", [0, 42, 0]),
        ("recirculate({ m.one, m.none });", [41, 0, 43]),
    ] {
        let egress = format!(
            "if (s.packet_length == 64) {{ m.one = 41; m.both = 42; m.none = 43; h.note.setValid();
             h.note.a = 1; {call} }} else {{ h.note.setValid(); h.note.a = m.one;
             h.note.b = m.both; h.note.c = (bit<16>) m.none; h.note.d = s.packet_length; }}"
        );
        let parts = Parts { egress: ("", &egress), ..Parts::default() };
        let mut pass = parts.load();
        let out = pass.ingress(&frame(0x800, &[5; 50]));
        let out = pass.egress(out);
        // The note is part of the packet now: 64 bytes and 14 of the note.
        let out = pass.ingress_again(out.packet.unwrap(), out.packet_metadata);
        let sent = bytes(&pass.egress(out).packet.unwrap());
        assert_eq!(note(&sent)[..4], [kept[0], kept[1], kept[2], 78], "{call}");
    }
}

#[test]
fn an_egress_clone_has_the_headers_as_egress_has_left_them_and_is_not_parsed_again() {
    let parts = Parts {
        ingress: ("", "s.egress_spec = 2; m.one = 11; m.both = 12; m.none = 13;"),
        egress: (
            "",
            "if (s.instance_type == 0) {
                 clone_preserving_field_list(CloneType.E2E, 7, 1);
                 h.eth.kind = 0x4242; m.one = 21; h.eth.dst = 6;
             } else {
                 h.note.setValid(); h.note.a = m.one; h.note.b = m.both;
                 h.note.c = (bit<16>) m.none; h.note.d = s.instance_type; h.note.e = h.eth.dst;
             }",
        ),
        ..Parts::default()
    };
    let mut pass = parts.load();
    let out = pass.ingress(&frame(0x800, &[5; 50]));
    let out = pass.egress(out);
    assert_eq!(bytes(&out.packet.unwrap()).len(), 64);
    let sent = bytes(&pass.egress_of_copy(out.mirror.unwrap()).packet.unwrap());
    assert_eq!(sent[12..14], [0x42, 0x42]);
    assert_eq!(note(&sent), [21, 12, 0, 2, 6]);
    assert_eq!(sent[28..], [5; 50]);
}

#[test]
fn an_egress_clone_has_headers_within_the_metadata_too() {
    let parts = Parts {
        metadata: "note_t noted;",
        ingress: ("", "s.egress_spec = 2;"),
        egress: (
            "",
            "if (m.noted.isValid()) {
                 h.note.setValid(); h.note.a = m.noted.a; h.note.d = s.instance_type;
             } else {
                 m.noted.setValid(); m.noted.a = 9; clone(CloneType.E2E, 7);
             }",
        ),
        ..Parts::default()
    };
    let mut pass = parts.load();
    let out = pass.ingress(&frame(0x800, &[5; 50]));
    let out = pass.egress(out);
    let copy = pass.egress_of_copy(out.mirror.unwrap());
    assert!(copy.mirror.is_none(), "it knows that it is one");
    let sent = note(&bytes(&copy.packet.unwrap()));
    assert_eq!((sent[0], sent[3]), (9, 2));
}

#[test]
fn a_multicast_copy_keeps_everything_and_knows_that_it_is_one() {
    let mut pass = program("s.mcast_grp = 3;");
    let sent = pass.both(&frame(0x800, &[5; 50])).unwrap();
    assert_eq!(sent[12..14], [0x99, 0x99]);
    assert_eq!(note(&sent), [11, 12, 13, 5, 3]);
}

#[test]
fn a_field_list_may_be_named_by_a_constant_or_an_enum_member() {
    let parts = Parts {
        types: "const bit<8> LIST = 3; enum bit<8> Lists { none = 0, four = 4 }",
        metadata: "@field_list(LIST) bit<8> by_constant; @field_list(Lists.four) bit<8> by_member;",
        ingress: (
            "",
            "m.by_constant = 1; m.by_member = 2;
             clone_preserving_field_list(CloneType.I2E, 1, Lists.four);",
        ),
        egress: ("", "h.note.setValid(); h.note.a = m.by_constant; h.note.b = m.by_member;"),
        ..Parts::default()
    };
    let sent = clone_of(&mut parts.load());
    assert_eq!(note(&sent)[..2], [0, 2]);
}

#[test]
fn a_field_list_may_be_named_by_a_constant_that_is_computed() {
    let parts = Parts {
        types: "const bit<8> ONE = 1; const bit<8> LIST = ONE + 2;
                enum bit<8> Lists { none = 0, five = LIST + 2 }",
        metadata: "@field_list(LIST) bit<8> by_constant;
                   @field_list(0b11_00, Lists.five) bit<8> by_member;",
        ingress: (
            "",
            "m.by_constant = 7; m.by_member = 9;
             if (h.eth.kind == 3) { clone_preserving_field_list(CloneType.I2E, 1, LIST); }
             else { clone_preserving_field_list(CloneType.I2E, 1, Lists.five); }",
        ),
        egress: ("", "h.note.setValid(); h.note.a = m.by_constant; h.note.b = m.by_member;"),
        ..Parts::default()
    };
    for (kind, kept) in [(3, [7, 0]), (5, [0, 9])] {
        let mut pass = parts.load();
        let mirror = pass.ingress(&frame(kind, &[])).mirror.expect("a clone");
        assert_eq!(
            note(&bytes(&pass.egress_of_copy(mirror).packet.expect("a packet")))[..2],
            kept,
            "{kind}"
        );
    }
}

#[test]
fn a_field_list_that_is_no_number_is_refused_and_not_left_out() {
    for list in ["1 + 2", "256", "LOST", "-1", "\"one\""] {
        let metadata = format!("@field_list({list}) bit<8> kept;");
        let parts = Parts { metadata: &metadata, ..Parts::default() };
        let text = parts.try_load(1).expect_err("not taken").render(&RenderOptions::default());
        assert!(text.contains("is not the number of a field list"), "{list}: {text}");
        assert!(text.contains("@field_list("), "{text}");
    }
}

#[test]
fn a_digest_has_the_values_at_its_call_and_of_several_the_last_is_sent() {
    let parts = Parts {
        types: "struct seen_t { bit<16> kind; bit<9> port; }",
        ingress: (
            "",
            "digest<seen_t>(1, { 0x1111, 0 });
             digest<seen_t>(1, { h.eth.kind, s.ingress_port });",
        ),
        ..Parts::default()
    };
    let mut pass = parts.load();
    pass.ingress(&frame(0x800, &[]));
    let digests = pass.plane.take_digests();
    assert_eq!(digests.len(), 1);
    assert_eq!(&*digests[0].name, "seen_t");
    // Sixteen bits, nine bits, padded behind.
    assert_eq!(*digests[0].bytes, [0x08, 0x00, 0x01, 0x80]);
}

#[test]
fn truncate_cuts_what_is_sent_to_the_smallest_length_asked_for() {
    let parts =
        Parts { ingress: ("", "truncate(40);"), egress: ("", "truncate(60);"), ..Parts::default() };
    let sent = parts.load().both(&frame(0x800, &[5; 50])).unwrap();
    assert_eq!(sent, frame(0x800, &[5; 26]));
}

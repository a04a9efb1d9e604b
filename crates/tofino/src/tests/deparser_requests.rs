//! Tests of the copies that deparsers make: mirrors, resubmissions, digests, and their selection by
//! type.

use super::*;

const MIRROR: &str = "header mirror_h { bit<8> kind; bit<16> word; }";

#[test]
fn an_egress_mirror_copies_the_packet_as_written_behind_its_header() {
    let parts = Parts {
        types: MIRROR,
        metadata: "bit<10> session;",
        apply: "h.ethernet.dst = 0x0a0b0c0d0e0f; d.mirror_type = 2; m.session = 33; m.d = 0x1122;
                m.e = 7; d.drop_ctl = 1;",
        deparser: (
            "Mirror(2) mirror;",
            "if (d.mirror_type == 2) { mirror.emit<mirror_h>(m.session, { m.e, m.d }); }",
        ),
        ..Parts::default()
    };
    let out = egress(parts);
    assert!(out.packet.is_none(), "drop_ctl 1 drops the packet and not the copy");
    let mirror = out.mirror.unwrap();
    assert_eq!((mirror.session, mirror.direction), (33, MirrorDirection::Egress));
    assert_eq!(mirror.header_len, 3);
    assert_eq!(mirror.packet.bytes[..9], [7, 0x11, 0x22, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f]);
    assert_eq!(mirror.packet.len().0, frame().len().0 + 3);
}

#[test]
fn of_two_mirrors_the_type_chooses_wherever_they_stand() {
    let parts = |apply: &'static str| Parts {
        types: MIRROR,
        metadata: "MirrorId_t one; MirrorId_t two;",
        apply,
        deparser: (
            "Mirror(1) first; Mirror(2) second;",
            "first.emit<mirror_h>(m.one, { 8w0, 16w0 }); second.emit<mirror_h>(m.two, { m.e, m.d });",
        ),
        ..Parts::default()
    };
    let session = |apply| egress(parts(apply)).mirror.map(|mirror| mirror.session);
    assert_eq!(session("m.one = 11; m.two = 22; d.mirror_type = 1;"), Some(11));
    assert_eq!(session("m.one = 11; m.two = 22; d.mirror_type = 2;"), Some(22));
    assert_eq!(session("m.one = 11; m.two = 22; d.mirror_type = 3;"), None);
    assert_eq!(session("m.one = 11; m.two = 22;"), None);
}

#[test]
fn drop_ctl_bit_2_suppresses_the_egress_mirror() {
    let parts = |drop_ctl: &'static str| Parts {
        types: MIRROR,
        apply: drop_ctl,
        deparser: ("Mirror(1) mirror;", "if (d.mirror_type == 1) { mirror.emit(10w5); }"),
        ..Parts::default()
    };
    let out = egress(parts("d.mirror_type = 1; d.drop_ctl = 4;"));
    assert!(out.packet.is_some() && out.mirror.is_none());
    let out = egress(parts("d.mirror_type = 1; d.drop_ctl = 5;"));
    assert!(out.packet.is_none() && out.mirror.is_none());
    let out = egress(parts("d.mirror_type = 1;"));
    assert!(out.packet.is_some() && out.mirror.is_some());
}

#[test]
fn an_egress_mirror_type_of_zero_is_valid_once_assigned() {
    let parts = |apply: &'static str| Parts {
        apply,
        deparser: ("Mirror(0) mirror;", "if (d.mirror_type == 0) { mirror.emit(10w5); }"),
        ..Parts::default()
    };
    assert!(egress(parts("d.mirror_type = 0;")).mirror.is_some());
    assert!(egress(parts("")).mirror.is_none());
}

#[test]
fn an_ingress_mirror_copies_the_packet_as_received() {
    let parts = Parts {
        types: MIRROR,
        ingress_apply: "h.ethernet.dst = 0; id.mirror_type = 1; t.ucast_egress_port = 4;
                        m.tag = 7; m.word = 0x1122; m.session = 9;",
        ingress_deparser: (
            "Mirror() mirror;",
            "if (d.mirror_type == 1) { mirror.emit<mirror_h>(m.session, { m.tag, m.word }); }",
        ),
        ..Parts::default()
    };
    let out = ingress(parts);
    let mirror = out.mirror.unwrap();
    assert_eq!(mirror.direction, MirrorDirection::Ingress);
    assert_eq!(mirror.packet.bytes[..3], [7, 0x11, 0x22]);
    assert_eq!(mirror.packet.bytes[3..], frame().bytes[..]);
    assert_eq!(finding(out.packet), 0);
}

#[test]
fn a_resubmitted_packet_comes_back_with_its_data_in_place_of_port_metadata() {
    let text = Parts {
        types: "header again_h { bit<16> word; bit<48> rest; }",
        ingress_apply:
            "if (i.resubmit_flag == 0) { id.resubmit_type = 1; id.drop_ctl = 1; m.word = 0xbeef; }
                        else { t.ucast_egress_port = 8; h.ethernet.dst = m.seen; }",
        ingress_deparser: (
            "Resubmit(1) resubmit;",
            "if (d.resubmit_type == 1) { resubmit.emit<again_h>({ m.word, 48w0 }); }",
        ),
        ..Parts::default()
    }
    .text()
    .replace("struct ig_md_t {", "struct ig_md_t { bit<48> seen; again_h again;")
    .replace(
        "p.extract(i); p.advance(PORT_METADATA_SIZE); p.extract(h.ethernet); transition accept;",
        "p.extract(i);
         transition select(i.resubmit_flag) { 1: again; default: fresh; }
     }
     state fresh { p.advance(PORT_METADATA_SIZE); transition ethernet; }
     state again { p.extract(m.again); m.seen = (bit<48>)m.again.word; transition ethernet; }
     state ethernet { p.extract(h.ethernet); transition accept;",
    );
    let mut plane = load_text(&text).unwrap_or_else(|e| panic!("{e}")).plane;
    let out = plane.ingress(&arriving(1), frame());
    assert!(out.packet.is_none(), "a resubmitted packet does not go on");
    let again = out.resubmit.unwrap();
    assert_eq!(again.bytes[..3], [0xbe, 0xef, 0]);
    assert_eq!(again.len().0, frame().len().0 + 8);
    let input = IngressInput { resubmitted: true, ..arriving(1) };
    let out = plane.ingress(&input, again);
    assert_eq!(out.admission.unicast, Some(PortId(8)));
    assert_eq!(finding(out.packet), 0xbeef);
}

#[test]
fn resubmitted_data_of_no_whole_bytes_begins_at_the_front() {
    let parts = Parts {
        types: "header flag_h { bit<1> again; bit<6> rest; }",
        ingress_apply: "id.resubmit_type = 1; id.drop_ctl = 1; m.tag = 1;",
        ingress_deparser: (
            "Resubmit(1) resubmit;",
            "if (d.resubmit_type == 1) { resubmit.emit<flag_h>({ m.tag[0:0], 6w0 }); }",
        ),
        ..Parts::default()
    };
    let again = ingress(parts).resubmit.unwrap();
    assert_eq!(again.bytes[..8], [0x80, 0, 0, 0, 0, 0, 0, 0]);
}

#[test]
fn digests_wait_for_the_control_plane() {
    let parts = Parts {
        types: "struct note_t { bit<16> word; bit<48> address; }",
        ingress_apply: "id.digest_type = 1; m.word = 0x0102;",
        ingress_deparser: (
            "Digest<note_t>(1) digest; Digest<note_t>(2) other;",
            "digest.pack({ m.word, h.ethernet.dst }); other.pack({ m.word, h.ethernet.dst });",
        ),
        ..Parts::default()
    };
    let mut plane = parts.loaded().plane;
    plane.ingress(&arriving(1), frame());
    let digests = plane.take_digests();
    assert_eq!(digests.len(), 1);
    assert_eq!(*digests[0].bytes, [1, 2, 0, 1, 2, 3, 4, 5]);
    assert!(digests[0].name.ends_with("digest"));
    assert!(plane.take_digests().is_empty());
}

#[test]
fn deparsers_copy_by_type_and_nothing_else() {
    let emit = "mirror.emit<copy_h>(m.session, { m.a });";
    let codes = |statements: &str| {
        let parts = Parts {
            types: "header copy_h { bit<32> a; }",
            metadata: "MirrorId_t session;",
            deparser: ("Mirror() mirror;", statements),
            ..Parts::default()
        };
        match load_text(&parts.text()) {
            Ok(_) => Vec::new(),
            Err(error) => error.diagnostics.iter().map(|d| d.code).collect(),
        }
    };
    let none: [&str; 0] = [];
    assert_eq!(codes(&format!("if (d.mirror_type == 1) {{ {emit} }}")), none);
    assert_eq!(codes(&format!("if (d.mirror_type == 1 && m.e != 2) {{ {emit} }}")), ["T0903"]);
    let inner = format!("if (h.ethernet.isValid()) {{ if (d.mirror_type == 1) {{ {emit} }} }}");
    assert_eq!(codes(&inner), none);
    let arms = format!("if (d.mirror_type == 1) {{ }} else if (d.mirror_type == 2) {{ {emit} }}");
    assert_eq!(codes(&arms), none);
    assert_eq!(codes(emit), ["T0903"]);
    assert_eq!(codes(&format!("if (d.mirror_type != 0) {{ {emit} }}")), ["T0903"]);
    assert_eq!(codes(&format!("if (d.mirror_type > 1) {{ {emit} }}")), ["T0903"]);
    let either = format!("if (d.mirror_type == 1 || d.mirror_type == 2) {{ {emit} }}");
    assert_eq!(codes(&either), ["T0903"]);
}

#[test]
fn a_condition_around_a_copy_does_not_contradict_the_type_of_its_object() {
    let codes = |condition: &str| {
        let statements =
            format!("if ({condition}) {{ mirror.emit<copy_h>(m.session, {{ m.a }}); }}");
        let parts = Parts {
            types: "header copy_h { bit<32> a; }",
            metadata: "MirrorId_t session;",
            deparser: ("Mirror(1) mirror;", &statements),
            ..Parts::default()
        };
        match load_text(&parts.text()) {
            Ok(_) => Vec::new(),
            Err(error) => error.diagnostics.iter().map(|d| d.code).collect(),
        }
    };
    let none: [&str; 0] = [];
    assert_eq!(codes("d.mirror_type == 1"), none);
    for condition in [
        "d.mirror_type == 2",
        "m.e > 3",
        "d.mirror_type == 1 && m.e == 2",
        "d.mirror_type == 1 || d.mirror_type == 2",
        "d.mirror_type != 2",
        "!(d.mirror_type == 2)",
    ] {
        assert_eq!(codes(condition), ["T0903"], "{condition}");
    }
}

#[test]
fn tofino_1_has_no_typed_mirror_in_ingress_or_beside_one_without_a_type() {
    let emit = |mirror: &str| format!("{mirror}.emit<copy_h>(m.session, {{ m.tag }});");
    let own = emit("mirror");
    let both = format!("if (d.mirror_type == 2) {{ {} }} {}", emit("other"), emit("mirror"));
    let types = "header copy_h { bit<8> a; }";
    let ingress = ("Mirror(1) mirror;", &*own);
    let parts = Parts { types, ingress_deparser: ingress, ..Parts::default() };
    assert_eq!(parts.refused()[0].0, "T0903");
    Parts { second_chip: true, ..parts }.loaded();
    let (own, both) = (own.replace("m.tag", "m.e"), both.replace("m.tag", "m.e"));
    let egress = |objects, statements| Parts {
        types,
        metadata: "MirrorId_t session;",
        deparser: (objects, statements),
        ..Parts::default()
    };
    egress("Mirror(1) mirror;", &own).loaded();
    let parts = egress("Mirror(1) mirror; Mirror() other;", &both);
    assert_eq!(parts.refused()[0].0, "T0903");
    Parts { second_chip: true, ..parts }.loaded();
}

#[test]
fn a_mirror_header_longer_than_the_chips_buffer_is_refused() {
    let parts = Parts {
        types: "header long_h { bit<128> a; bit<128> b; bit<8> c; }",
        metadata: "MirrorId_t session;",
        deparser: ("Mirror(1) mirror;", "mirror.emit<long_h>(m.session, { 128w0, 128w0, 8w0 });"),
        ..Parts::default()
    };
    assert_eq!(parts.refused()[0], ("T0901", "a mirror header of 264 bits".to_owned()));
}

/// A program that resubmits a header of type `again_h` once and takes it off by `taken`.
fn resubmitting(header: &str, taken: &str, emitted: &str) -> String {
    Parts {
        types: header,
        ingress_apply: "if (i.resubmit_flag == 0) { id.resubmit_type = 1; m.word = 0xbeef; }
                        else { t.ucast_egress_port = 8; }",
        ingress_deparser: ("Resubmit(1) resubmit;", emitted),
        ..Parts::default()
    }
    .text()
    .replace("struct ig_md_t {", "struct ig_md_t { again_h again; again_h[2] more;")
    .replace(
        "p.extract(i); p.advance(PORT_METADATA_SIZE); p.extract(h.ethernet); transition accept;",
        &format!(
            "p.extract(i);
             transition select(i.resubmit_flag) {{ 1: again; default: fresh; }}
         }}
         state fresh {{ p.advance(PORT_METADATA_SIZE); transition ethernet; }}
         state again {{ {taken} transition ethernet; }}
         state ethernet {{ p.extract(h.ethernet); transition accept;"
        ),
    )
}

/// The frame behind the second pass of such a program.
fn resubmitted(text: &str) -> Packet {
    let mut plane = load_text(text).unwrap_or_else(|e| panic!("{e}")).plane;
    let again = plane.ingress(&arriving(1), frame()).resubmit.expect("a resubmission");
    assert_eq!(again.len().0, frame().len().0 + 8);
    let out = plane.ingress(&IngressInput { resubmitted: true, ..arriving(1) }, again);
    assert_eq!(out.admission.unicast, Some(PortId(8)));
    out.packet.expect("a packet")
}

#[test]
fn a_resubmit_header_of_any_length_takes_eight_bytes() {
    let word = "if (d.resubmit_type == 1) { resubmit.emit<again_h>({ m.word }); }";
    for taken in [
        "p.extract(m.again);",
        "p.extract<again_h>(_);",
        "p.extract(m.more.next);",
        "again_h ahead = p.lookahead<again_h>(); p.extract(m.again);",
    ] {
        let text = resubmitting("header again_h { bit<16> word; }", taken, word);
        assert_eq!(resubmitted(&text).bytes, frame().bytes, "{taken}");
    }
    let emitted = "if (d.resubmit_type == 1) { resubmit.emit<again_h>({ m.word, 32w0, m.tag }); }";
    let seven = "header again_h { bit<16> word; bit<32> rest; bit<8> tag; }";
    let text = resubmitting(seven, "p.extract(m.again);", emitted);
    assert_eq!(resubmitted(&text).bytes, frame().bytes);
    let bits = "header again_h { bit<9> port; @flexible bit<3> rest; }";
    let emitted =
        "if (d.resubmit_type == 1) { resubmit.emit<again_h>({ m.word[8:0], m.tag[2:0] }); }";
    let text = resubmitting(bits, "p.extract(m.again);", emitted);
    assert_eq!(resubmitted(&text).bytes, frame().bytes);
}

#[test]
fn a_resubmit_header_that_is_sent_on_has_its_padding_too() {
    let emitted = "resubmit.emit<again_h>({ m.word }); p.emit(m.again);";
    let text = resubmitting("header again_h { bit<16> word; }", "p.extract(m.again);", emitted);
    let bytes = resubmitted(&text).bytes;
    assert_eq!(bytes[..8], [0xbe, 0xef, 0, 0, 0, 0, 0, 0]);
    assert_eq!(bytes[8..], frame().bytes[..]);
}

#[test]
fn a_flexible_mirror_header_is_padded_wherever_its_fields_come_from() {
    let types = "header mirror_h { bit<8> kind; @flexible bit<2> few; @flexible bit<3> more; }";
    let header = |emitted: &'static str| {
        let parts = Parts {
            types,
            metadata: "mirror_h copy; MirrorId_t session;",
            apply: "d.mirror_type = 1; m.session = 5; m.copy = { 7, 2, 5 }; m.e = 7;",
            deparser: ("Mirror(1) mirror;", emitted),
            ..Parts::default()
        };
        let mirror = egress(parts).mirror.expect("a copy");
        assert_eq!(mirror.header_len, 2);
        mirror.packet.bytes[..2].to_vec()
    };
    let expected = [7, 0b1010_1000];
    assert_eq!(
        header("mirror.emit<mirror_h>(m.session, { m.copy.kind, m.copy.few, m.copy.more });"),
        expected
    );
    assert_eq!(
        header("mirror.emit<mirror_h>(m.session, { m.e, m.copy.few, m.copy.more });"),
        expected
    );
    assert_eq!(header("mirror.emit<mirror_h>(m.session, m.copy);"), expected);
}

#[test]
fn a_header_is_flexible_by_its_type_or_a_struct_in_it() {
    for types in [
        "@flexible header mirror_h { bit<8> kind; bit<2> few; bit<3> more; }",
        "@flexible struct part_t { bit<2> few; bit<3> more; } header mirror_h { bit<8> kind; part_t part; }",
        "struct part_t { @flexible bit<2> few; bit<3> more; } header mirror_h { bit<8> kind; part_t part; }",
    ] {
        let parts = Parts {
            types,
            metadata: "mirror_h copy; MirrorId_t session;",
            apply: "d.mirror_type = 1; m.session = 5; m.copy.kind = 7;",
            deparser: ("Mirror(1) mirror;", "mirror.emit<mirror_h>(m.session, m.copy);"),
            ..Parts::default()
        };
        assert_eq!(egress(parts).mirror.expect("a copy").header_len, 2, "{types}");
    }
}

#[test]
fn a_flexible_digest_has_the_declared_fields_alone() {
    let bytes = |packed: &'static str| {
        let parts = Parts {
            types: "header note_h { bit<8> kind; @flexible bit<2> few; }",
            ingress: "note_h note;",
            ingress_apply: "id.digest_type = 1; m.tag = 7; m.word = 2;",
            ingress_deparser: ("Digest<note_h>(1) digest; note_h note;", packed),
            ..Parts::default()
        };
        let mut plane = parts.loaded().plane;
        plane.ingress(&arriving(1), frame());
        plane.take_digests()[0].bytes.to_vec()
    };
    // Ten bits, filled up in front.
    let expected = [0, 0b01_1110];
    assert_eq!(bytes("digest.pack({ m.tag, m.word[1:0] });"), expected);
    assert_eq!(bytes("note = { m.tag, m.word[1:0] }; digest.pack(note);"), expected);
}

/// The codes of the errors about a mirror with these arguments.
fn codes_of_mirror(arguments: &str) -> Vec<&'static str> {
    let emit = format!("if (d.mirror_type == 1) {{ mirror.emit{arguments}; }}");
    let parts = Parts {
        types: MIRROR,
        metadata: "MirrorId_t session;",
        deparser: ("Mirror() mirror;", &emit),
        ..Parts::default()
    };
    let Err(error) = load_text(&parts.text()) else { return Vec::new() };
    error.diagnostics.iter().filter(|found| found.is_error()).map(|found| found.code).collect()
}

#[test]
fn a_session_alone_is_a_whole_field() {
    assert_eq!(codes_of_mirror("(m.session)"), [""; 0]);
    assert_eq!(codes_of_mirror("(h.ethernet.dst[9:0])"), ["T0904"]);
    assert_eq!(codes_of_mirror("(m.a[9:0])"), ["T0904"]);
    assert_eq!(codes_of_mirror("((MirrorId_t)m.e)"), ["T0904"]);
}

#[test]
fn the_field_of_a_session_fits_a_container() {
    let with = |session: &str| codes_of_mirror(&format!("<mirror_h>({session}, {{ m.e, m.d }})"));
    assert_eq!(with("m.session"), [""; 0]);
    assert_eq!(with("m.a[9:0]"), [""; 0]);
    assert_eq!(with("h.ethernet.dst[9:0]"), ["T0904"]);
    assert_eq!(with("(MirrorId_t)((bit<48>)h.ethernet.dst[47:1])"), ["T0904"]);
}

//! Parsers: errors, rejects, counters, checksums.

use super::*;

fn short() -> Packet {
    Packet { bytes: vec![1, 2, 3], ..Packet::default() }
}

#[test]
fn a_short_packet_is_dropped_by_the_ingress_parser() {
    let parts = Parts { ingress_apply: "t.ucast_egress_port = 1;", ..Parts::default() };
    let out = parts.loaded().plane.ingress(&arriving(1), short());
    assert!(out.parser_rejected && out.packet.is_none());
}

#[test]
fn a_program_that_looks_at_parser_err_gets_the_short_packet() {
    let apply = "if (ip.parser_err != 0) { t.ucast_egress_port = ip.parser_err[8:0]; }";
    let parts = Parts { ingress_apply: apply, ..Parts::default() };
    let out = parts.loaded().plane.ingress(&arriving(1), short());
    assert!(!out.parser_rejected);
    let error = "PARSER_ERROR_PARTIAL_HDR | PARSER_ERROR_SRC_EXT";
    assert_eq!(out.admission.unicast, Some(PortId(0x22)), "{error}");
    assert_eq!(out.packet, Some(short()), "no header was extracted, so none is written");
}

#[test]
fn a_program_that_copies_parser_err_into_a_header_looks_at_it() {
    for apply in ["h.ethernet.kind = ip.parser_err;", "m.word = ip.parser_err;"] {
        let apply = format!("{apply} t.ucast_egress_port = 1;");
        let parts = Parts { ingress_apply: &apply, ..Parts::default() };
        let out = parts.loaded().plane.ingress(&arriving(1), short());
        assert_eq!(out.admission.unicast, Some(PortId(1)), "{apply}");
    }
}

#[test]
fn the_egress_parser_drops_no_short_packet() {
    let parts = Parts::default();
    let out = parts.loaded().plane.egress(&leaving(1, 0), short());
    assert_eq!(out.packet, Some(short()));
    assert!(!out.parser_rejected);
}

#[test]
fn an_explicit_reject_drops_in_both_passes() {
    let text = Parts { ingress_apply: "t.ucast_egress_port = 1;", ..Parts::default() }.text();
    let text = text.replace("p.extract(h.ethernet); transition accept;", "transition reject;");
    let mut plane = load_text(&text).unwrap().plane;
    assert!(plane.ingress(&arriving(1), frame()).parser_rejected);
    assert!(plane.egress(&leaving(1, 0), frame()).parser_rejected);
}

#[test]
fn the_parser_counter_walks_a_list_of_tags() {
    // Three tags of two bytes.
    let text = Parts {
        types: "header tag_h { bit<16> value; } ",
        apply: "h.ethernet.dst = (bit<48>)h.tags[2].value; h.tags.pop_front(3);",
        second_chip: true,
        ..Parts::default()
    }
    .text()
    .replace("struct headers_t { ethernet_h", "struct headers_t { tag_h[4] tags; ethernet_h")
    .replace(
        "state start { p.extract(e); p.extract(h.ethernet); transition accept; }",
        "ParserCounter() counter;
         state start {
             p.extract(e); p.extract(h.ethernet);
             counter.set(8w3);
             transition next;
         }
         state next { transition select(counter.is_zero()) { true: accept; false: tag; } }
         state tag {
             p.extract(h.tags.next); counter.decrement(1); transition next;
         }",
    );
    let mut plane = load_text(&text).unwrap_or_else(|e| panic!("{e}")).plane;
    let mut bytes = frame().bytes;
    bytes.truncate(14);
    bytes.extend_from_slice(&[0, 1, 0, 2, 0, 3, 0xff]);
    let out = plane.egress(&leaving(1, 0), Packet { bytes, ..Packet::default() });
    let packet = out.packet.unwrap();
    assert_eq!(packet.bytes[14..], [0xff], "three tags were taken off the front");
    assert_eq!(finding(Some(packet)), 3);
}

#[test]
fn a_parser_counter_starts_from_a_constant() {
    for (set, right) in [
        ("8w3", None),
        ("h.ethernet.src[7:0]", Some("T1313")),
        ("h.ethernet.kind", Some("T1313")),
        ("h.ethernet.kind, 255, 0, 7, 0", Some("T1313")),
        ("p.lookahead<bit<8>>()", Some("T1313")),
    ] {
        let state = format!(
            "ParserCounter() counter;
             state start {{
                 p.extract(e); p.extract(h.ethernet); p.advance(192); counter.set({set}); transition next;
             }}
             state next {{ transition select(counter.is_zero()) {{ true: accept; false: more; }} }}
             state more {{ counter.decrement(1); transition next; }}"
        );
        assert_eq!(refusal(&state), right, "{set}");
    }
}

#[test]
fn a_field_is_filled_from_one_bit_of_a_byte() {
    // Bits 23:16 and 7:0 begin bytes; 11:4 begins at bit 4 of one.
    for (statements, right) in [
        ("m.e = h.ethernet.src[7:0];", None),
        ("m.e = h.ethernet.src[11:4];", None),
        ("m.e = (bit<8>)h.ethernet.src[7:4];", None),
        ("m.e = h.ethernet.src[11:4]; m.e = h.ethernet.src[7:0];", None),
        ("m.e = h.ethernet.src[7:4] ++ h.ethernet.dst[3:0];", Some("T1314")),
        ("m.e[3:0] = h.ethernet.src[3:0]; m.e[7:4] = h.ethernet.dst[7:4];", Some("T1314")),
        ("h.ethernet.kind = h.ethernet.src[27:12];", Some("T1314")),
        ("h.ethernet.kind = h.ethernet.src[31:16];", None),
        ("m.e = p.lookahead<bit<8>>();", None),
        ("m.e = p.lookahead<bit<12>>()[7:4] ++ h.ethernet.dst[7:4];", Some("T1314")),
    ] {
        let state = format!(
            "state start {{ p.extract(e); p.extract(h.ethernet); {statements} transition accept; }}"
        );
        assert_eq!(refusal(&state), right, "{statements}");
    }
}

/// The first refusal of a program with these states of the egress parser.
fn refusal(states: &str) -> Option<&'static str> {
    let text = Parts::default()
        .text()
        .replace("state start { p.extract(e); p.extract(h.ethernet); transition accept; }", states);
    let error = load_text(&text).err()?;
    error.diagnostics.iter().find(|found| found.is_error()).map(|found| found.code)
}

#[test]
fn verify_answers_one_for_an_error() {
    let text = Parts {
        metadata: "bit<1> bad; bool worse;",
        apply: "h.ethernet.dst = (bit<48>)m.bad; if (m.worse) { h.ethernet.dst[7:4] = 1; }",
        ..Parts::default()
    }
    .text()
    .replace(
        "state start { p.extract(e); p.extract(h.ethernet); transition accept; }",
        "Checksum() sum;
         state start {
             p.extract(e); p.extract(h.ethernet); sum.add(h.ethernet);
             m.bad = (bit<1>)sum.verify();
             m.worse = sum.verify();
             transition accept;
         }",
    );
    let mut plane = load_text(&text).unwrap_or_else(|e| panic!("{e}")).plane;
    let mut sum = sojourn_externs::checksum::OnesComplement::new();
    let mut bytes = frame().bytes;
    sum.add(&bytes[..12]);
    bytes[12..14].copy_from_slice(&sum.checksum(false).to_be_bytes());
    let mut verdict = |bytes: &[u8]| {
        let packet = Packet { bytes: bytes.to_vec(), ..Packet::default() };
        finding(plane.egress(&leaving(1, 0), packet).packet)
    };
    assert_eq!(verdict(&bytes), 0);
    bytes[3] ^= 1;
    assert_eq!(verdict(&bytes), 0x11);
}

#[test]
fn a_checksum_over_parts_of_odd_length_is_one_over_them_joined() {
    let text = Parts {
        types: "header odd_h { bit<8> a; } header word_h { bit<16> b; } ",
        metadata: "bit<16> sum;",
        apply: "h.ethernet.dst = (bit<48>)m.sum;",
        ..Parts::default()
    }
    .text()
    .replace(
        "struct headers_t { ethernet_h",
        "struct headers_t { odd_h odd; word_h word; ethernet_h",
    )
    .replace(
        "state start { p.extract(e); p.extract(h.ethernet); transition accept; }",
        "Checksum() sum;
         state start {
             p.extract(e); p.extract(h.ethernet); p.extract(h.odd);
             sum.subtract({ h.odd });
             transition next;
         }
         state next {
             p.extract(h.word); sum.subtract({ h.word }); m.sum = sum.get();
             transition accept;
         }",
    );
    let mut plane = load_text(&text).unwrap_or_else(|e| panic!("{e}")).plane;
    let mut bytes = frame().bytes;
    bytes.truncate(14);
    bytes.extend_from_slice(&[0xff, 0x80, 0x05]);
    let out = plane.egress(&leaving(1, 0), Packet { bytes, ..Packet::default() });
    let mut whole = sojourn_externs::checksum::OnesComplement::new();
    whole.subtract(&[0xff, 0x80, 0x05]);
    assert_eq!(finding(out.packet), u64::from(whole.sum()));
}

#[test]
fn checksums_are_verified_and_updated_with_a_residual_over_the_payload() {
    // A UDP-like header: the checksum covers itself, one word and the payload.
    let text = Parts {
        types: "header sum_h { bit<16> word; bit<16> checksum; bit<16> tail; }",
        metadata: "bit<16> residual;",
        apply: "h.sum.word = 0x4321;",
        deparser: (
            "Checksum() sum;",
            "h.sum.checksum = sum.update({ h.sum.word, h.sum.tail, m.residual });",
        ),
        ..Parts::default()
    }
    .text()
    .replace("struct headers_t { ethernet_h", "struct headers_t { sum_h sum; ethernet_h")
    .replace(
        "state start { p.extract(e); p.extract(h.ethernet); transition accept; }",
        "Checksum() sum;
         state start {
             p.extract(e); p.extract(h.ethernet);
             transition next;
         }
         state next {
             sum.subtract_all_and_deposit(m.residual);
             p.extract(h.sum);
             transition accept;
         }",
    )
    .replace(
        "p.emit(h.ethernet); }\n}\nPipeline",
        "p.emit(h.ethernet); p.emit(h.sum); }\n}\nPipeline",
    );
    let mut plane = load_text(&text).unwrap_or_else(|e| panic!("{e}")).plane;
    let checksum = |word: u16, tail: u16, payload: &[u8]| {
        let mut sum = sojourn_externs::checksum::OnesComplement::new();
        sum.add(&word.to_be_bytes());
        sum.add(&tail.to_be_bytes());
        sum.add(payload);
        sum.checksum(false)
    };
    let payload = [0x12, 0x34, 0xff, 0xff, 0x01];
    let mut bytes = frame().bytes;
    bytes.truncate(14);
    bytes.extend_from_slice(&0x1234u16.to_be_bytes());
    bytes.extend_from_slice(&checksum(0x1234, 0x0203, &payload).to_be_bytes());
    bytes.extend_from_slice(&0x0203u16.to_be_bytes());
    bytes.extend_from_slice(&payload);
    let out = plane.egress(&leaving(1, 0), Packet { bytes, ..Packet::default() });
    let packet = out.packet.unwrap();
    let written = u16::from_be_bytes([packet.bytes[16], packet.bytes[17]]);
    assert_eq!(packet.bytes[14..16], [0x43, 0x21]);
    assert_eq!(written, checksum(0x4321, 0x0203, &payload));
}

//! Programs from text to packets: what the two passes, the metadata and the externs do.

use super::testing::{Parts, load_text, load_text_with, p4_folder};
use super::*;
use crate::dataplane::{
    DataPlane, EgressInput, EgressOutput, IngressInput, IngressOutput, MirrorDirection, PortId,
};
use proptest::prelude::*;
use sojourn_packet::{Packet, Time};

fn frame() -> Packet {
    let mut bytes: Vec<u8> = (0..14).collect();
    bytes.extend([0xaa, 0xbb]);
    Packet { bytes, zeros: 50, ..Packet::default() }
}

fn arriving(port: u16) -> IngressInput {
    let (arrived, now) = (Time(1_000), Time(1_600));
    IngressInput { port: PortId(port), arrived, now, resubmitted: false }
}

fn leaving(port: u16, now: u64) -> EgressInput {
    EgressInput { port: PortId(port), now: Time(now), length: 70, ..EgressInput::default() }
}

fn ingress(parts: Parts<'_>) -> IngressOutput {
    parts.loaded().plane.ingress(&arriving(5), frame())
}

fn egress(parts: Parts<'_>) -> EgressOutput {
    parts.loaded().plane.egress(&leaving(5, 2_000), frame())
}

/// The destination address of a packet that went through, where tests leave their findings.
fn finding(packet: Option<Packet>) -> u64 {
    let bytes = packet.expect("a packet").bytes;
    bytes[..6].iter().fold(0, |word, byte| word << 8 | u64::from(*byte))
}

/// The finding of an egress program that assigns `expression` to the destination address.
fn observed(input: EgressInput, expression: &str) -> u64 {
    let apply = format!("h.ethernet.dst = (bit<48>)({expression});");
    let parts = Parts { apply: &apply, ..Parts::default() };
    finding(parts.loaded().plane.egress(&input, frame()).packet)
}

// ---- Ingress decisions ------------------------------------------------------------------------

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

// ---- Copies -----------------------------------------------------------------------------------

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
                        m.tag = 7; m.word = 0x1122;",
        ingress_deparser: (
            "Mirror(1) mirror;",
            "if (d.mirror_type == 1) { mirror.emit<mirror_h>(9, { m.tag, m.word }); }",
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
            "Digest<note_t>(1) digest;",
            "if (d.digest_type == 1) { digest.pack({ m.word, h.ethernet.dst }); }",
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

// ---- Parsers ----------------------------------------------------------------------------------

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
    assert_eq!(out.admission.unicast, Some(PortId(2)), "PARSER_ERROR_PARTIAL_HDR");
    assert_eq!(out.packet, Some(short()), "no header was extracted, so none is written");
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
    // The last byte of the addresses says how many two-byte tags follow them; each is 7.
    let text = Parts {
        types: "header tag_h { bit<16> value; } ",
        apply: "h.ethernet.dst = (bit<48>)h.tags[2].value; h.tags.pop_front(3);",
        ..Parts::default()
    }
    .text()
    .replace("struct headers_t { ethernet_h", "struct headers_t { tag_h[4] tags; ethernet_h")
    .replace(
        "state start { p.extract(e); p.extract(h.ethernet); transition accept; }",
        "ParserCounter() counter;
         state start {
             p.extract(e); p.extract(h.ethernet);
             counter.set(h.ethernet.src[7:0], 255, 0, 7, 0);
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
    bytes[11] = 3;
    bytes.extend_from_slice(&[0, 1, 0, 2, 0, 3, 0xff]);
    let out = plane.egress(&leaving(1, 0), Packet { bytes, ..Packet::default() });
    let packet = out.packet.unwrap();
    assert_eq!(packet.bytes[14..], [0xff], "three tags were taken off the front");
    assert_eq!(finding(Some(packet)), 3);
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
        let mut sum = crate::externs::checksum::OnesComplement::new();
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

// ---- Egress metadata --------------------------------------------------------------------------

#[test]
fn egress_sees_what_the_traffic_manager_measured() {
    let input = EgressInput {
        queue: 21,
        cos: 3,
        enqueued: Time(300_000),
        dequeued: Time(350_000),
        enqueue_depth: 1_000,
        dequeue_depth: 2_000,
        enqueue_congestion: 2,
        dequeue_congestion: 3,
        pool_congestion: 0x1b,
        rid: 77,
        rid_first: true,
        ..leaving(0x155, 400_000)
    };
    for (expression, expected) in [
        ("e.egress_port", 0x155),
        ("e.egress_qid", 21),
        ("e.egress_cos", 3),
        ("e.enq_tstamp", 300_000 - 262_144),
        ("e.deq_timedelta", 50_000),
        ("e.enq_qdepth", 1_000),
        ("e.deq_qdepth", 2_000),
        ("e.enq_congest_stat", 2),
        ("e.deq_congest_stat", 3),
        ("e.app_pool_congest_stat", 0x1b),
        ("e.egress_rid", 77),
        ("e.egress_rid_first", 1),
        ("e.pkt_length", 70),
        ("ep.global_tstamp", 400_000),
    ] {
        assert_eq!(observed(input, expression), expected, "{expression}");
    }
}

// ---- Registers --------------------------------------------------------------------------------

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
    assert_eq!(ask(16), 0, "an index beyond the register reads nothing");
    assert_eq!(plane.register_mut("count").unwrap().get(1), Some([43, 0]));
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

fn entries(table: &str, key: &str, values: &[u64], action: &str) -> ControlPlane {
    let entry = |value: &u64| TableEntry {
        matches: [(key.to_owned(), MatchValue::Exact(Number::from(*value)))].into(),
        action: Some(action.to_owned()),
        ..TableEntry::default()
    };
    let entries = values.iter().map(entry).collect();
    let tables = vec![TableEntries { name: table.to_owned(), entries, default: None }];
    ControlPlane { tables, ..ControlPlane::default() }
}

// ---- One access a pass ------------------------------------------------------------------------

const COUNTER: &str = "Register<bit<32>, bit<9>>(16) reg;
    RegisterAction<bit<32>, bit<9>, bit<32>>(reg) up = {
        void apply(inout bit<32> v) { v = v + 1; }
    };
    RegisterAction<bit<32>, bit<9>, bit<32>>(reg) down = {
        void apply(inout bit<32> v) { v = v - 1; }
    };";

/// The codes with which two accesses placed by `apply` are refused; none if they are accepted.
fn accesses(declarations: &str, apply: &str) -> Vec<&'static str> {
    let egress = format!("{COUNTER}{declarations}");
    let text = Parts { egress: &egress, apply, ..Parts::default() }.text();
    match load_text(&text) {
        Ok(_) => Vec::new(),
        Err(error) => error.diagnostics.iter().filter(|d| d.is_error()).map(|d| d.code).collect(),
    }
}

#[test]
fn two_accesses_one_after_the_other_are_refused() {
    assert_eq!(accesses("", "up.execute(0); down.execute(0);"), ["T0701"]);
    let action = "action both() { up.execute(0); down.execute(1); }";
    assert_eq!(accesses(action, "both();"), ["T0701"]);
    assert_eq!(accesses("", "up.execute(0); if (m.a == 1) { down.execute(0); }"), ["T0701"]);
}

/// The severities and codes of what is said about two accesses.
fn told(declarations: &str, apply: &str) -> Vec<String> {
    let egress = format!("{COUNTER}{declarations}");
    let found = match load_text(&Parts { egress: &egress, apply, ..Parts::default() }.text()) {
        Ok(loaded) => loaded.warnings,
        Err(error) => error.diagnostics,
    };
    found.iter().map(|d| format!("{} {}", d.severity, d.code)).collect()
}

#[test]
fn conditions_that_both_can_hold_are_refused_where_that_is_sure() {
    let both = |first: &str, second: &str| {
        told("", &format!("if ({first}) {{ up.execute(0); }} if ({second}) {{ down.execute(0); }}"))
    };
    let none: [&str; 0] = [];
    assert_eq!(both("m.e >= 5", "m.e >= 9"), ["error T0705"]);
    assert_eq!(both("m.e < 5", "m.e >= 5"), none);
    assert_eq!(both("m.e < 5", "!(m.e < 5)"), none);
    assert_eq!(both("m.e <= 5", "m.e > 4"), ["error T0705"]);
    // Fields of packets come in every combination; metadata may exclude each other.
    assert_eq!(both("h.ethernet.kind == 1", "e.egress_qid == 2"), ["error T0705"]);
    assert_eq!(both("m.a == 1", "m.b == 1"), ["warning T0705"]);
    assert_eq!(both("m.a == 1", "m.a + 1 == 5 || m.b == 1")[0], "warning T0705");
}

#[test]
fn the_branch_of_an_action_excludes_what_the_other_actions_did() {
    let table = "action inc() { up.execute(0); } action rest() { }
        table choose { key = { m.a : exact; } actions = { inc; rest; } size = 4; }";
    let none: [&str; 0] = [];
    let apply = "switch (choose.apply().action_run) { rest: { down.execute(0); } }";
    assert_eq!(told(table, apply), none);
    let apply = "switch (choose.apply().action_run) { inc: { down.execute(0); } }";
    assert_eq!(told(table, apply).len(), 1);
}

#[test]
fn a_write_behind_a_read_of_the_same_entry_is_one_access() {
    let none: [&str; 0] = [];
    assert_eq!(told("", "m.a = reg.read(0); reg.write(0, m.b);"), none);
    assert_eq!(told("", "m.a = reg.read(0); reg.write(0, m.a + 1);"), none);
    assert_eq!(told("", "m.a = reg.read(0); reg.write(1, m.b);"), ["error T0703"]);
    let apply = "m.a = reg.read(0); m.a = m.a + 1; reg.write(0, m.a);";
    assert_eq!(told("", apply), ["error T0703"]);
    let apply = "m.a = reg.read(0); if (m.e == 1) { reg.write(0, m.b); }";
    assert_eq!(told("", apply), ["error T0703"]);
}

#[test]
fn a_packet_meets_a_table_once() {
    let table = "action set() { m.b = 1; }
        table once { key = { m.a : exact; } actions = { set; } size = 4; }";
    let none: [&str; 0] = [];
    assert_eq!(told(table, "once.apply(); once.apply();"), ["error T1011"]);
    let apply = "if (m.e == 1) { once.apply(); } else { m.c = 1; once.apply(); }";
    assert_eq!(told(table, apply), none);
    let apply = "if (m.e == 1) { once.apply(); } if (m.e == 2) { once.apply(); }";
    assert_eq!(told(table, apply), none);
}

#[test]
fn deparsers_copy_by_type_and_nothing_else() {
    let emit = "mirror.emit<copy_h>(1, { m.a });";
    let codes = |statements: &str| {
        let parts = Parts {
            types: "header copy_h { bit<32> a; }",
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
    assert_eq!(codes(&format!("if (d.mirror_type == 1 && m.e != 2) {{ {emit} }}")), none);
    let arms = format!("if (d.mirror_type == 1) {{ }} else if (d.mirror_type == 2) {{ {emit} }}");
    assert_eq!(codes(&arms), none);
    assert_eq!(codes(emit), ["T0903"]);
    assert_eq!(codes(&format!("if (d.mirror_type != 0) {{ {emit} }}")), ["T0903"]);
    assert_eq!(codes(&format!("if (d.mirror_type > 1) {{ {emit} }}")), ["T0903"]);
    let either = format!("if (d.mirror_type == 1 || d.mirror_type == 2) {{ {emit} }}");
    assert_eq!(codes(&either), ["T0903"]);
}

#[test]
fn what_is_not_simulated_can_be_checked() {
    let parts = Parts {
        egress: "Lpf<bit<32>, bit<9>>(16) filter; Register<bit<64>, bit<9>>(16) wide;",
        apply: "m.a = filter.execute(m.b, 0); wide.write(0, 5);",
        ..Parts::default()
    };
    let options = LoadOptions { check_only: true, ..LoadOptions::default() };
    let loaded = load_text_with(&parts.text(), options).unwrap();
    let told: Vec<&str> = loaded.warnings.iter().map(|warning| warning.code).collect();
    assert_eq!(told, ["T0804"]);
    assert_eq!(parts.refused()[0].0, "T0804");
}

#[test]
fn accesses_in_exclusive_branches_are_accepted() {
    let none: [&str; 0] = [];
    let apply = "if (m.a == 1) { up.execute(0); } else { down.execute(0); }";
    assert_eq!(accesses("", apply), none);
    let apply = "if (m.a == 1) { up.execute(0); exit; } down.execute(0);";
    assert_eq!(accesses("", apply), none);
    let apply = "if (m.a == 1) { up.execute(0); } if (m.a == 2) { down.execute(0); }";
    assert_eq!(accesses("", apply), none);
    let apply = "if (m.a == 1) { up.execute(0); return; } else if (m.b == 3) { down.execute(0); }";
    assert_eq!(accesses("", apply), none);
    let table = "action inc() { up.execute(0); } action dec() { down.execute(0); }
        table choose { key = { m.a : exact; } actions = { inc; dec; } size = 4; }";
    assert_eq!(accesses(table, "choose.apply();"), none);
}

#[test]
fn a_condition_that_changed_in_between_excludes_nothing() {
    let apply = "if (m.a == 1) { up.execute(0); } m.a = m.b; if (m.a == 2) { down.execute(0); }";
    assert_eq!(told("", apply), ["warning T0705"]);
    let table = "action inc() { up.execute(0); }
        table choose { key = { m.a : exact; } actions = { inc; } size = 4; }";
    assert_eq!(accesses(table, "choose.apply(); down.execute(0);"), ["T0705"]);
}

#[test]
fn one_table_action_uses_its_registers_at_one_index() {
    let none: [&str; 0] = [];
    let table = |second: &str| {
        format!(
            "Register<bit<32>, bit<9>>(16) other;
             RegisterAction<bit<32>, bit<9>, bit<32>>(other) set = {{
                 void apply(inout bit<32> v) {{ v = 1; }}
             }};
             action both() {{ up.execute(e.egress_port); set.execute({second}); }}
             table choose {{ key = {{ m.a : exact; }} actions = {{ both; }} size = 4; }}"
        )
    };
    assert_eq!(accesses(&table("e.egress_port"), "choose.apply();"), none);
    assert_eq!(accesses(&table("(bit<9>)m.e"), "choose.apply();"), ["T0704"]);
}

#[test]
fn a_register_of_both_passes_is_refused() {
    let text = Parts {
        types: "Register<bit<32>, bit<9>>(16) shared;",
        ingress_apply: "shared.write(0, 1);",
        apply: "m.a = shared.read(0);",
        ..Parts::default()
    };
    assert_eq!(text.refused()[0].0, "T0702");
}

// ---- Other externs ----------------------------------------------------------------------------

#[test]
fn hashes_join_their_fields() {
    let hash = |algorithm: &str, width: u32, data: &str| {
        let egress = format!("Hash<bit<{width}>>({algorithm}) hash;");
        let apply = format!("m.a = 0x31323334; h.ethernet.dst = (bit<48>)hash.get({data});");
        finding(
            super::tests::egress(Parts { egress: &egress, apply: &apply, ..Parts::default() })
                .packet,
        )
    };
    let identity = "HashAlgorithm_t.IDENTITY";
    assert_eq!(hash(identity, 16, "{ 2w0, e.egress_port, 5w9 }"), 5 << 5 | 9);
    let digits = "{ m.a, 40w0x3536373839 }";
    assert_eq!(hash("HashAlgorithm_t.CRC32", 32, digits), 0xcbf4_3926);
    assert_eq!(hash("HashAlgorithm_t.CRC16", 16, digits), 0xbb3d);
    assert_eq!(hash("HashAlgorithm_t.XOR16", 16, "{ m.a, 8w0xff }"), 0x3132 ^ 0x3334 ^ 0xff00);
}

#[test]
fn a_custom_polynomial_is_used_as_it_is_given() {
    let parts = Parts {
        egress: "CRCPolynomial<bit<32>>(0x04C11DB7, false, false, false, 0xFFFFFFFF, 0xFFFFFFFF)
                     bzip2;
                 Hash<bit<32>>(HashAlgorithm_t.CUSTOM, bzip2) hash;",
        apply: "h.ethernet.dst = (bit<48>)hash.get({ 72w0x313233343536373839 });",
        ..Parts::default()
    };
    assert_eq!(finding(egress(parts).packet), 0xfc89_1918, "CRC-32/BZIP2 of \"123456789\"");
}

#[test]
fn random_numbers_repeat_with_the_seed() {
    let text = Parts {
        egress: "Random<bit<32>>() dice;",
        apply: "h.ethernet.dst = (bit<48>)dice.get();",
        ..Parts::default()
    }
    .text();
    let draw = |seed| {
        let options = LoadOptions { seed, ..LoadOptions::default() };
        let mut plane = load_text_with(&text, options).unwrap().plane;
        let mut one = || finding(plane.egress(&leaving(1, 0), frame()).packet);
        [one(), one()]
    };
    assert_eq!(draw(1), draw(1));
    assert_ne!(draw(1), draw(2));
    assert_ne!(draw(1)[0], draw(1)[1]);
}

#[test]
fn meters_colour_by_configured_rates() {
    let parts = Parts {
        egress: "Meter<bit<9>>(16, MeterType_t.PACKETS) meter;",
        apply: "h.ethernet.dst = (bit<48>)meter.execute(e.egress_port);",
        ..Parts::default()
    };
    let mut plane = parts.loaded().plane;
    let spec = crate::externs::meter::MeterSpec { cir: 1, cbs: 1, pir: 1, pbs: 2 };
    let meters = vec![MeterCell { name: "meter".into(), index: 3, spec }];
    plane.configure(&ControlPlane { meters, ..ControlPlane::default() }).unwrap();
    let mut ask = |port, now| finding(plane.egress(&leaving(port, now), frame()).packet);
    assert_eq!([ask(3, 0), ask(3, 0), ask(3, 0)], [0, 1, 3]);
    assert_eq!([ask(4, 0), ask(4, 0)], [0, 0], "a cell without a configuration is green");
    assert_eq!(ask(3, 2_000_000_000), 0);
}

#[test]
fn small_functions_compute_what_they_say() {
    for (expression, expected) in [
        ("min(8w200, 8w100)", 100),
        ("max(8w200, 8w100)", 200),
        ("(bit<8>)min(-8s3, 8s5)", 0xfd),
        ("sizeInBits(h.ethernet)", 112),
        ("sizeInBytes(h.ethernet)", 14),
    ] {
        assert_eq!(observed(leaving(1, 0), expression), expected, "{expression}");
    }
}

#[test]
fn an_action_selector_chooses_a_member_by_hash() {
    let parts = Parts {
        ingress: "Hash<bit<14>>(HashAlgorithm_t.IDENTITY) hash;
                  ActionProfile(64) profile;
                  ActionSelector(profile, hash, SelectorMode_t.FAIR, 8, 8) selector;
                  action send(bit<9> port) { t.ucast_egress_port = port; }
                  table choose {
                      key = { i.ingress_port : exact; h.ethernet.kind : selector; }
                      actions = { send; }
                      implementation = selector;
                      size = 16;
                  }",
        ingress_apply: "choose.apply();",
        ..Parts::default()
    };
    let mut plane = parts.loaded().plane;
    let member = |id, port: u64| ProfileMember {
        id,
        action: "send".into(),
        args: [("port".to_owned(), Number::from(port))].into(),
    };
    let mut control = entries("choose", "i.ingress_port", &[5], "send");
    control.tables[0].entries[0].action = None;
    control.tables[0].entries[0].group = Some(1);
    control.action_profiles = vec![ProfileEntries {
        name: "selector".into(),
        members: vec![member(1, 11), member(2, 12), member(3, 13)],
        groups: vec![(1, vec![(1, true), (2, false), (3, true)])],
    }];
    plane.configure(&control).unwrap();
    let mut ask = |kind: u8| {
        let mut packet = frame();
        packet.bytes[13] = kind;
        plane.ingress(&arriving(5), packet).admission.unicast.unwrap().0
    };
    // Ethernet type 0x0c00 + kind, of which the lowest 14 bits are the hash; two members are up.
    assert_eq!([ask(0), ask(1), ask(2), ask(3)], [11, 13, 11, 13]);
}

#[test]
fn what_is_not_simulated_is_refused_by_name() {
    let parts = Parts {
        egress: "Lpf<bit<32>, bit<9>>(16) filter;",
        apply: "m.a = filter.execute(m.b, 0);",
        ..Parts::default()
    };
    let refused = parts.refused();
    assert_eq!(refused[0], ("T0804", "Lpf.execute is not simulated".to_owned()));
}

// ---- Control plane ----------------------------------------------------------------------------

const FORWARD: &str = "action send(bit<9> port) { t.ucast_egress_port = port; }
    table forward {
        key = { i.ingress_port : ternary; h.ethernet.kind : range; }
        actions = { send; }
        size = 16;
    }";

fn configured(json: &str) -> Result<Tofino, ControlError> {
    let parts = Parts { ingress: FORWARD, ingress_apply: "forward.apply();", ..Parts::default() };
    let mut plane = parts.loaded().plane;
    let control: ControlPlane = serde_json::from_str(json).unwrap();
    plane.configure(&control).map(|()| plane)
}

#[test]
fn the_lowest_priority_number_wins_as_on_the_chip() {
    let json = r#"{"tables":[{"name":"Ig.forward","entries":[
        {"match":{"i.ingress_port":{"value":4,"mask":4}},"action":"send","args":{"port":1},"priority":9},
        {"match":{"i.ingress_port":{"value":5,"mask":"0x1ff"},
                  "h.ethernet.kind":{"low":3000,"high":4000}},
         "action":"send","args":{"port":2},"priority":3}]}]}"#;
    let mut plane = configured(json).unwrap();
    let mut ask = |port| plane.ingress(&arriving(port), frame()).admission.unicast;
    assert_eq!(ask(5), Some(PortId(2)), "type 0x0c0d lies between 3000 and 4000");
    assert_eq!(ask(4), Some(PortId(1)));
    assert_eq!(ask(3), None);
}

#[test]
fn mistakes_of_a_control_plane_file_are_named_with_the_near_name() {
    let complain = |json| configured(json).unwrap_err().to_string();
    let near = complain(r#"{"tables":[{"name":"Ig.foward","entries":[]}]}"#);
    assert!(near.contains("no table `Ig.foward` (did you mean `Ig.forward`?)"), "{near}");
    let action = complain(
        r#"{"tables":[{"name":"forward","entries":[{"action":"sent","args":{"port":1}}]}]}"#,
    );
    assert!(action.contains("entry 1 of table `forward`"), "{action}");
    assert!(action.contains("no action `sent`"), "{action}");
    let wide = complain(
        r#"{"tables":[{"name":"forward","entries":[{"action":"send","args":{"port":512}}]}]}"#,
    );
    assert!(wide.contains("512 does not fit"), "{wide}");
    let none = complain(r#"{"tables":[{"name":"forward","entries":[{"args":{}}]}]}"#);
    assert!(none.contains("exactly one of `action`, `member`, `group`"), "{none}");
    let meter =
        complain(r#"{"meters":[{"name":"m","index":0,"spec":{"cir":1,"cbs":1,"pir":1,"pbs":1}}]}"#);
    assert_eq!(meter, "there is no meter `m`");
}

#[test]
fn value_sets_and_register_parameters_are_filled_by_the_control_plane() {
    let text = Parts {
        egress: "Register<bit<32>, bit<9>>(16) reg;
                 RegisterParam<bit<32>>(1000) limit;
                 RegisterAction<bit<32>, bit<9>, bit<32>>(reg) act = {
                     void apply(inout bit<32> v, out bit<32> r) { v = limit.read(); r = v; }
                 };",
        apply: "h.ethernet.dst = (bit<48>)(act.execute(0) + m.a);",
        ..Parts::default()
    }
    .text()
    .replace(
        "state start { p.extract(e); p.extract(h.ethernet); transition accept; }",
        "value_set<bit<9>>(4) special;
         state start {
             p.extract(e); p.extract(h.ethernet); m.a = 0;
             transition select(e.egress_port) { special: mark; _: accept; }
         }
         state mark { m.a = 5; transition accept; }",
    );
    let mut plane = load_text(&text).unwrap_or_else(|error| panic!("{error}")).plane;
    let ask = |plane: &mut Tofino, port| finding(plane.egress(&leaving(port, 0), frame()).packet);
    assert_eq!(ask(&mut plane, 7), 1_000);
    let json = r#"{"value_sets":[{"name":"special","members":[[7]]}],
                   "register_params":[{"name":"limit","value":2000}]}"#;
    plane.configure(&serde_json::from_str(json).unwrap()).unwrap();
    assert_eq!([ask(&mut plane, 7), ask(&mut plane, 8)], [2_005, 2_000]);
}

#[test]
fn counters_count_what_passes_and_can_be_read() {
    let parts = Parts {
        egress: "Counter<bit<64>, bit<9>>(16, CounterType_t.PACKETS_AND_BYTES) seen;",
        apply: "seen.count(e.egress_port);",
        ..Parts::default()
    };
    let mut plane = parts.loaded().plane;
    (0..3).for_each(|_| drop(plane.egress(&leaving(4, 0), frame())));
    let count = crate::externs::counter::Count { packets: 3, bytes: 210 };
    assert_eq!(plane.counter("seen", 4), Some(count));
    assert_eq!((plane.counter("seen", 16), plane.counter("sean", 4)), (None, None));
}

#[test]
fn the_shipped_control_planes_fit_their_programs() {
    for name in ["p4_codel", "codel_act"] {
        let folder = p4_folder().join("tna");
        let options =
            LoadOptions { include_paths: vec![p4_folder().join("include")], ..Default::default() };
        let mut plane = load(folder.join(format!("{name}.p4")), &options).unwrap();
        let text = std::fs::read_to_string(folder.join(format!("{name}.toml"))).unwrap();
        let control: ControlPlane = toml::from_str(&text).unwrap();
        plane.configure(&control).unwrap();
        let out = plane.ingress(&arriving(1), frame());
        assert_eq!(out.admission.unicast, Some(PortId(2)), "{name}");
    }
}

// ---- Programs that are not for this chip ------------------------------------------------------

fn refused_text(text: &str) -> String {
    let Err(error) = load_text(text) else { panic!("accepted") };
    error.to_string()
}

#[test]
fn a_program_for_another_architecture_is_told_which() {
    let text = "#include <core.p4>
        struct headers_t {}
        parser P(packet_in p, out headers_t h) { state start { transition accept; } }
        control C(inout headers_t h) { apply {} }
        parser Parser<H>(packet_in p, out H h);
        control Pipe<H>(inout H h);
        package V1Switch<H>(Parser<H> p, Pipe<H> c);
        V1Switch(P(), C()) main;";
    let message = refused_text(text);
    assert!(message.contains("`main` is a `V1Switch`: this program is for v1model"), "{message}");
}

#[test]
fn a_program_that_includes_another_architecture_is_told_which() {
    let message = refused_text("#include <core.p4>\n#include <psa.p4>\n");
    assert!(message.contains("for the Portable Switch Architecture"), "{message}");
}

#[test]
fn a_text_without_main_or_with_mistakes_is_refused_and_not_a_panic() {
    assert!(refused_text("#include <core.p4>\n#include <tna.p4>\n").contains("main"));
    assert!(refused_text("controll X() {}").contains("program.p4:1:1"));
    assert!(!refused_text("#include <nothing.p4>").is_empty());
}

#[test]
fn a_mirror_header_longer_than_the_chips_buffer_is_refused() {
    let parts = Parts {
        types: "header long_h { bit<128> a; bit<128> b; bit<8> c; }",
        deparser: ("Mirror(1) mirror;", "mirror.emit<long_h>(1, { 128w0, 128w0, 8w0 });"),
        ..Parts::default()
    };
    assert_eq!(parts.refused()[0], ("T0901", "a mirror header of 264 bits".to_owned()));
}

// ---- The papers' programs, packet by packet ---------------------------------------------------

fn plane_of(program: &str, math_unit: math_unit::Reading) -> Tofino {
    let include_paths = vec![p4_folder().join("include")];
    let options = LoadOptions { include_paths, math_unit, ..LoadOptions::default() };
    load(p4_folder().join("tna").join(program), &options).unwrap_or_else(|error| panic!("{error}"))
}

/// A data packet as `common/ingress.p4` makes it: kind, time of arrival, then the frame.
fn bridged(arrived: u64) -> Packet {
    let mut bytes = vec![0];
    bytes.extend_from_slice(&arrived.to_be_bytes()[2..]);
    bytes.extend_from_slice(&frame().bytes);
    Packet { bytes, zeros: 1_000, ..Packet::default() }
}

/// Instants (in us) at which packets with a delay of 6 ms, one every 0.1 ms, are dropped.
fn drops(plane: &mut Tofino, duration_us: u64) -> Vec<u64> {
    let mut drops = Vec::new();
    for us in (10_000..10_000 + duration_us).step_by(100) {
        let out = plane.egress(&leaving(2, us * 1_000), bridged(us * 1_000 - 6_000_000));
        if out.packet.is_none() {
            drops.push(us - 10_000);
        }
    }
    drops
}

#[test]
fn p4_codel_drops_an_interval_after_the_first_violation_and_then_by_the_square_root() {
    let drops = drops(&mut plane_of("p4_codel.p4", math_unit::Reading::Vendor), 400_000);
    // 100 ms, then + 100.66, + 70.78, + 58.20, + 50.33 ms of the chip's table, on the next packet.
    assert_eq!(drops, [100_100, 200_700, 271_500, 329_700, 380_000]);
}

#[test]
fn the_papers_math_unit_stretches_p4_codels_schedule() {
    let drops = drops(&mut plane_of("p4_codel.p4", math_unit::Reading::Paper), 400_000);
    // 100 ms, then + 141.56, + 100.66 ms.
    assert_eq!(drops, [100_100, 241_600, 342_300]);
}

#[test]
fn the_bridge_header_does_not_leave_the_switch() {
    let mut plane = plane_of("p4_codel.p4", math_unit::Reading::Vendor);
    let out = plane.egress(&leaving(2, 50_000), bridged(40_000));
    assert_eq!(out.packet.unwrap().bytes, frame().bytes);
}

#[test]
fn codel_act_opens_a_cycle_with_a_mirrored_packet_and_closes_it_with_another() {
    let mut plane = plane_of("codel_act.p4", math_unit::Reading::Vendor);
    let above = |at: u64| bridged(at - 6_000_000);
    let first = plane.egress(&leaving(2, 20_000_000), above(20_000_000));
    assert!(first.packet.is_some());
    let init = first.mirror.expect("an init synchronisation");
    assert_eq!((init.session, init.header_len, init.packet.bytes[0]), (100, 15, 1));
    // It comes back through the recirculation port and is used up there.
    let synchronised = plane.egress(&leaving(68, 20_001_000), init.packet.clone());
    assert!(synchronised.packet.is_none() && synchronised.mirror.is_none());
    // The first drop is due after INTERVAL / sqrt(1) = 100.66 ms.
    let at = |plane: &mut Tofino, now: u64| plane.egress(&leaving(2, now), above(now));
    assert!(at(&mut plane, 20_000_000 + 100_600_000).packet.is_some());
    assert!(at(&mut plane, 20_000_000 + 100_700_000).packet.is_none());
    let below = plane.egress(&leaving(2, 140_000_000), bridged(139_000_000));
    assert!(below.packet.is_some());
    let end = below.mirror.expect("an end synchronisation");
    assert_eq!(end.packet.bytes[0], 2);
    assert_eq!(*plane.faults(), Faults::default());
}

#[test]
fn no_packet_makes_a_program_panic() {
    let reading = math_unit::Reading::Vendor;
    let mut planes = [plane_of("p4_codel.p4", reading), plane_of("codel_act.p4", reading)];
    let packets = (proptest::collection::vec(any::<u8>(), 0..80), 0u32..20, 0u16..512);
    let planes = std::cell::RefCell::new(&mut planes);
    let run = |(bytes, zeros, port): (Vec<u8>, u32, u16)| {
        let packet = Packet { bytes, zeros, ..Packet::default() };
        for plane in planes.borrow_mut().iter_mut() {
            plane.ingress(&arriving(port), packet.clone());
            plane.egress(&leaving(port, 5), packet.clone());
            prop_assert_eq!(plane.faults().halted, 0);
        }
        Ok(())
    };
    proptest::test_runner::TestRunner::default().run(&packets, run).unwrap();
}

//! `standard_metadata`: the value and unit of each field.

use super::{Parts, bytes, frame, note, packet};
use sojourn_p4::preprocess::{MemoryLoader, OverlayLoader};
use sojourn_packet::Time;
use sojourn_packet::dataplane::{DataPlane, EgressInput, IngressInput, PortId};
use sojourn_target::phv::PacketMetadata;

fn noting(ingress: &str, egress: &str) -> super::Pass {
    let ingress = format!("h.note.setValid(); s.egress_spec = 7; {ingress}");
    Parts { ingress: ("", &ingress), egress: ("", egress), ..Parts::default() }.load()
}

#[test]
fn ingress_sees_port_length_and_time_of_arrival_in_microseconds() {
    let mut pass = noting(
        "h.note.a = (bit<8>) s.ingress_port; h.note.d = s.packet_length;
         h.note.e = s.ingress_global_timestamp; h.note.b = (bit<8>) s.instance_type;",
        "",
    );
    pass.now = Time(1_234_567_999);
    assert_eq!(pass.note(&frame(0x800, &[9; 50])), [3, 0, 0, 64, 1_234_567]);
}

#[test]
fn egress_sees_times_in_whole_microseconds_and_depths_in_packets() {
    let mut pass = noting(
        "",
        "h.note.a = (bit<8>) s.egress_port; h.note.b = (bit<8>) s.enq_qdepth;
         h.note.c = (bit<16>) s.deq_qdepth; h.note.d = s.enq_timestamp;
         h.note.e = (bit<48>) s.deq_timedelta;",
    );
    let input =
        IngressInput { port: PortId(3), arrived: Time::ZERO, now: Time::ZERO, resubmitted: false };
    let out = pass.plane.ingress(&input, packet(&frame(0x800, &[])));
    let input = EgressInput {
        port: PortId(7),
        // From 10.999 us to 5,030.001 us: bmv2 takes the difference of whole microseconds.
        enqueued: Time(10_999),
        dequeued: Time(5_030_001),
        now: Time(5_030_001),
        enqueue_depth: 190,
        enqueue_packets: 10,
        dequeue_depth: 380,
        dequeue_packets: 20,
        ..EgressInput::default()
    };
    let sent = pass.plane.egress_carrying(&input, out.packet.unwrap(), out.packet_metadata);
    assert_eq!(note(&bytes(&sent.packet.unwrap())), [7, 10, 20, 10, 5_020]);
}

#[test]
fn the_32_bit_timestamp_wraps_and_the_48_bit_one_does_not() {
    let mut pass = noting("", "h.note.d = s.enq_timestamp; h.note.e = s.egress_global_timestamp;");
    pass.now = Time::from_micros((1 << 32) + 5);
    assert_eq!(pass.note(&frame(0x800, &[]))[3..], [5, (1 << 32) + 45]);
}

#[test]
fn egress_sees_the_length_with_the_headers_that_ingress_has_added() {
    let mut pass = noting("", "h.note.d = s.packet_length;");
    assert_eq!(pass.note(&frame(0x800, &[9; 50]))[3], 64 + 14);
}

#[test]
fn a_copy_of_a_group_knows_its_replication_id() {
    let mut pass = noting("s.mcast_grp = 1;", "h.note.c = s.egress_rid;");
    let out = pass.ingress(&frame(0x800, &[]));
    let input = EgressInput { port: PortId(7), rid: 33, ..EgressInput::default() };
    let sent = pass.plane.egress_carrying(&input, out.packet.unwrap(), out.packet_metadata);
    assert_eq!(note(&bytes(&sent.packet.unwrap()))[2], 33);
}

#[test]
fn metadata_goes_from_ingress_to_egress_and_begins_with_zero() {
    let mut pass = noting("h.note.a = m.none; m.none = 5;", "h.note.b = m.none;");
    for _ in 0..2 {
        assert_eq!(pass.note(&frame(0x800, &[]))[..2], [0, 5]);
    }
}

#[test]
fn a_packet_without_what_ingress_knew_of_it_does_not_pass_egress() {
    let mut pass = noting("", "");
    assert!(pass.egress_of(packet(&frame(0x800, &[])), PacketMetadata::default()).packet.is_none());
}

/// Loads a program with the newer signatures that names this version of v1model.
fn of_version(version: u32) -> Result<sojourn_target::Loaded, sojourn_target::LoadError> {
    let text = format!(
        "#define V1MODEL_VERSION {version}
        #include <v1model.p4>
        struct h_t {{}} struct m_t {{ PortId_t port; }}
        parser P(packet_in p, out h_t h, inout m_t m, inout standard_metadata_t s) {{
            state start {{ transition accept; }}
        }}
        control V(inout h_t h, inout m_t m) {{ apply {{}} }}
        control I(inout h_t h, inout m_t m, inout standard_metadata_t s) {{
            register<bit<32>, PortId_t>(512) seen;
            counter<PortId_t>(512, CounterType.packets) counted;
            meter<PortId_t>(512, MeterType.bytes) metered;
            apply {{
                bit<32> n;
                seen.read(n, s.ingress_port);
                seen.write(s.ingress_port, n + 1);
                counted.count(s.ingress_port);
                metered.execute_meter(s.ingress_port, m.port);
            }}
        }}
        control E(inout h_t h, inout m_t m, inout standard_metadata_t s) {{ apply {{}} }}
        control D(packet_out p, in h_t h) {{ apply {{}} }}
        V1Switch(P(), V(), I(), E(), V(), D()) main;"
    );
    let include = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../p4/include");
    let options = sojourn_target::LoadOptions {
        targets: sojourn_target::Targets(&[&crate::Bmv2]),
        include_paths: vec![include],
        ..sojourn_target::LoadOptions::default()
    };
    let loader = OverlayLoader(MemoryLoader::new().with("program.p4", text));
    sojourn_target::load_with(&loader, "program.p4", &options)
}

#[test]
fn the_newer_signatures_take_the_type_of_an_index() {
    assert_eq!(of_version(20_200_408).unwrap().plane.target().name(), "v1model");
}

#[test]
fn a_version_of_v1model_that_is_not_known_is_refused_with_those_that_are() {
    for version in [0, 20_180_100, 20_200_409, 20_991_231] {
        let Err(error) = of_version(version) else { panic!("{version} was accepted") };
        let said = error.diagnostics.first().map(|found| found.message.as_str());
        assert!(said.is_some_and(|said| said.contains("20180101 to 20200408")), "{said:?}");
    }
}

//! The ghost thread and advanced flow control of Tofino 2, on programs of a few lines.

use sojourn_p4::preprocess::{MemoryLoader, OverlayLoader};
use sojourn_packet::{
    Admission, DataPlane, DepthReport, FlowControl, IngressInput, Packet, PortId, Time, WordOrder,
};
use sojourn_tofino::{LoadError, LoadOptions, Loaded, fit, load_with};
use std::path::Path;

/// A program whose ghost writes the depths that its ingress reads into a header.
///
/// `ghost` and `ingress` are the statements of the two controls, with `write` and `read` for the
/// register.
fn text(report: &str, ghost: &str, ingress: &str) -> String {
    format!(
        "#include <core.p4>
#include <t2na.p4>
header h_t {{ bit<32> depth; bit<16> qid; }}
struct headers {{ h_t h; }}
struct md_t {{ }}
Register<bit<32>, bit<16>>(16) depths;
control G(in ghost_intrinsic_metadata_t g) {{
    RegisterAction<bit<32>, bit<16>, bit<32>>(depths) write = {{
        void apply(inout bit<32> state) {{ state = (bit<32>)g.qlength; }}
    }};
    apply {{ {ghost} }}
}}
parser IP(packet_in p, out headers h, out md_t m, out ingress_intrinsic_metadata_t i) {{
    state start {{
        p.extract(i);
        p.advance(PORT_METADATA_SIZE);
        p.extract(h.h);
        transition accept;
    }}
}}
control I(inout headers h, inout md_t m, in ingress_intrinsic_metadata_t i,
          in ingress_intrinsic_metadata_from_parser_t f,
          inout ingress_intrinsic_metadata_for_deparser_t d,
          inout ingress_intrinsic_metadata_for_tm_t t{report}) {{
    RegisterAction<bit<32>, bit<16>, bit<32>>(depths) read = {{
        void apply(inout bit<32> state, out bit<32> word) {{ word = state; }}
    }};
    RegisterAction<bit<32>, bit<16>, bit<32>>(depths) add = {{
        void apply(inout bit<32> state, out bit<32> word) {{ state = state + 100; word = state; }}
    }};
    apply {{ t.ucast_egress_port = 9; {ingress} }}
}}
control ID(packet_out p, inout headers h, in md_t m,
           in ingress_intrinsic_metadata_for_deparser_t d) {{ apply {{ p.emit(h); }} }}
parser EP(packet_in p, out headers h, out md_t m, out egress_intrinsic_metadata_t e) {{
    state start {{ p.extract(e); transition accept; }}
}}
control E(inout headers h, inout md_t m, in egress_intrinsic_metadata_t e,
          in egress_intrinsic_metadata_from_parser_t f,
          inout egress_intrinsic_metadata_for_deparser_t d,
          inout egress_intrinsic_metadata_for_output_port_t o) {{ apply {{ }} }}
control ED(packet_out p, inout headers h, in md_t m,
           in egress_intrinsic_metadata_for_deparser_t d) {{ apply {{ }} }}
Pipeline(IP(), I(), ID(), EP(), E(), ED(), G()) pipe;
Switch(pipe) main;
"
    )
}

const REPORT: &str = ", in ghost_intrinsic_metadata_t g";

fn load(text: &str) -> Result<Loaded, LoadError> {
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../p4/include");
    let options = LoadOptions { include_paths: vec![include], ..LoadOptions::default() };
    let loader = OverlayLoader(MemoryLoader::new().with("program.p4", text));
    load_with(&loader, "program.p4", &options)
}

fn loaded(text: &str) -> Loaded {
    load(text).unwrap_or_else(|error| panic!("{}", error.render(&Default::default())))
}

fn report(depth: u32) -> DepthReport {
    DepthReport { now: Time(10), port: PortId(9), queue: 2, depth, order: WordOrder::Compiler }
}

/// The header that ingress leaves: depth and queue.
fn seen(plane: &mut dyn DataPlane) -> (u32, u16) {
    let input =
        IngressInput { port: PortId(1), arrived: Time(20), now: Time(20), resubmitted: false };
    let packet = Packet { bytes: vec![0; 40].into_iter().collect(), ..Packet::default() };
    let out = plane.ingress(&input, packet);
    assert_eq!(out.admission, Admission { unicast: Some(PortId(9)), ..Admission::default() });
    let bytes = out.packet.expect("it goes on").bytes;
    let word = |range: std::ops::Range<usize>| {
        bytes[range].iter().fold(0u32, |number, byte| number << 8 | u32::from(*byte))
    };
    (word(0..4), word(4..6) as u16)
}

#[test]
fn ingress_reads_what_ghost_has_written_with_and_without_a_parameter_of_its_own() {
    for (parameter, qid) in [("", ""), (REPORT, "h.h.qid = 5w0 ++ g.qid;")] {
        let ingress = format!("h.h.depth = read.execute(3); {qid}");
        let mut plane = loaded(&text(parameter, "write.execute(3);", &ingress)).plane;
        assert!(plane.takes_depth_reports());
        assert_eq!(seen(&mut plane), (0, 0));
        plane.depth_report(&report(77));
        // Port 9 is the second of group 1; its queue 2 is 16 + 2 there.
        let queue = if qid.is_empty() { 0 } else { 1 << 7 | 18 };
        assert_eq!(seen(&mut plane), (77, queue));
    }
}

#[test]
fn a_report_comes_twice_with_ping_pong_0_and_1() {
    let ghost = "if (g.ping_pong == 0) { write.execute(0); } else { write.execute(1); }";
    let ingress = "h.h.depth = read.execute(0);";
    let mut plane = loaded(&text(REPORT, ghost, ingress)).plane;
    plane.depth_report(&report(5));
    let register = plane.register_mut("depths").expect("it is there");
    assert_eq!([register.get(0), register.get(1)], [Some([5, 0]), Some([5, 0])]);
}

#[test]
fn a_field_that_ingress_writes_reaches_one_of_the_two_copies() {
    let mut plane = loaded(&text(REPORT, "write.execute(0);", "h.h.depth = add.execute(0);")).plane;
    // Before the first report the word is zero, which selects the copy that the control plane sees.
    assert_eq!(seen(&mut plane).0, 100);
    plane.depth_report(&report(7));
    assert_eq!(seen(&mut plane).0, 107);
    assert_eq!(plane.register_mut("depths").expect("it is there").get(0), Some([7, 0]));
    // Without the parameter the compiler makes no second copy.
    let mut plane = loaded(&text("", "write.execute(0);", "h.h.depth = add.execute(0);")).plane;
    plane.depth_report(&report(7));
    assert_eq!(seen(&mut plane).0, 107);
    assert_eq!(plane.register_mut("depths").expect("it is there").get(0), Some([107, 0]));
}

#[test]
fn a_test_of_ping_pong_in_one_control_only_gets_a_warning() {
    let ghost = "if (g.ping_pong == 1) { write.execute(0); }";
    let found = loaded(&text(REPORT, ghost, "h.h.depth = read.execute(0);")).warnings;
    let codes: Vec<&str> = found.iter().map(|warning| warning.code).collect();
    assert_eq!(codes, ["T0808"]);
}

#[test]
fn ghost_and_ingress_share_the_stage_of_a_register() {
    let text = text(REPORT, "write.execute(3);", "h.h.depth = read.execute(3);");
    let estimate = fit::estimate(&loaded(&text));
    let with_ghost: Vec<u32> = estimate
        .stages
        .iter()
        .filter(|stage| stage.placed.iter().any(|placed| placed.name.starts_with("ghost: ")))
        .map(|stage| stage.stage)
        .collect();
    assert_eq!(with_ghost.len(), 1);
    let stage = &estimate.stages[with_ghost[0] as usize];
    let sharing = stage.placed.iter().filter(|placed| placed.detail.contains("16")).count();
    assert_eq!(sharing, 2, "{:?}", stage.placed);
}

#[test]
fn a_word_of_advanced_flow_control_names_a_queue_of_a_port() {
    // Bit 31, pipe 1, group 2, queue 3 * 16 + 4 of the group, credit 1.
    let word = 1u32 << 31 | 1 << 29 | 2 << 25 | 52 << 15 | 1;
    let port = PortId(128 + 2 * 8 + 3);
    for (word, expected) in [
        (word, Some(FlowControl { port, queue: 4, pause: true })),
        (word - 1, Some(FlowControl { port, queue: 4, pause: false })),
        (word & 0x7fff_ffff, None),
    ] {
        let ingress = format!("d.adv_flow_ctl = {word};");
        let mut plane = loaded(&text("", "write.execute(0);", &ingress)).plane;
        let input =
            IngressInput { port: PortId(1), arrived: Time(20), now: Time(20), resubmitted: false };
        let packet = Packet { bytes: vec![0; 40].into_iter().collect(), ..Packet::default() };
        assert_eq!(plane.ingress(&input, packet).flow_control, expected);
    }
}

#[test]
fn a_ghost_thread_of_tofino_1_is_refused() {
    let text = text("", "write.execute(0);", "").replace("t2na.p4", "tna.p4");
    assert!(load(&text).is_err());
}

//! Tests of a loaded program without a switch, on programs of a few lines.
//!
//! The packet tests of `tests/stf/psa` run the same data plane in a switch.

use super::{Psa, PsaSwitch};
use sojourn_p4::preprocess::{MemoryLoader, OverlayLoader};
use sojourn_packet::dataplane::{DataPlane, EgressInput, IngressInput, PortId};
use sojourn_packet::{Packet, PacketMetadata, Time};
use sojourn_target::load::{LoadError, LoadOptions, load_with};
use sojourn_target::{Target, Targets};
use std::path::Path;

static TARGETS: &[&dyn Target] = &[&PsaSwitch];

/// Parts of a program that differ between tests: declarations and statements of ingress, statements
/// of the ingress deparser, and `main`.
struct Parts<'t> {
    locals: &'t str,
    ingress: &'t str,
    deparser: &'t str,
    main: &'t str,
}

const MAIN: &str = "IngressPipeline(P(), I(), D()) ip; EgressPipeline(EP(), E(), ED()) ep;
PSA_Switch(ip, PacketReplicationEngine(), ep, BufferingQueueingEngine()) main;";

impl Default for Parts<'_> {
    fn default() -> Self {
        Parts { locals: "", ingress: "", deparser: "", main: MAIN }
    }
}

impl Parts<'_> {
    fn text(&self) -> String {
        let Parts { locals, ingress, deparser, main } = self;
        format!(
            "#include <psa.p4>
header h_t {{ bit<16> a; bit<16> b; }}
struct hs {{ h_t h; }} struct ms {{}} struct no {{}} struct note_t {{ bit<16> a; }}
extern void odd();
parser P(packet_in p, out hs h, inout ms m, in psa_ingress_parser_input_metadata_t s, in no r,
         in no c) {{ state start {{ p.extract(h.h); transition accept; }} }}
control I(inout hs h, inout ms m, in psa_ingress_input_metadata_t s,
          inout psa_ingress_output_metadata_t o) {{ {locals} apply {{ {ingress} }} }}
control D(packet_out p, out no c, out no r, out no n, inout hs h, in ms m,
          in psa_ingress_output_metadata_t o) {{
    Digest<note_t>() notes;
    apply {{ {deparser} p.emit(h.h); }}
}}
parser EP(packet_in p, out hs h, inout ms m, in psa_egress_parser_input_metadata_t s, in no n,
          in no i, in no e) {{ state start {{ transition accept; }} }}
control E(inout hs h, inout ms m, in psa_egress_input_metadata_t s,
          inout psa_egress_output_metadata_t o) {{ apply {{}} }}
control ED(packet_out p, out no c, out no r, inout hs h, in ms m,
           in psa_egress_output_metadata_t o, in psa_egress_deparser_input_metadata_t d) {{
    apply {{}}
}}
{main}"
        )
    }

    fn load(&self) -> Result<Psa, LoadError> {
        load(&self.text())
    }

    fn codes(&self) -> Vec<&'static str> {
        codes(&self.text())
    }
}

fn load(text: &str) -> Result<Psa, LoadError> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let loader = OverlayLoader(MemoryLoader::new().with("test.p4", text.as_bytes()));
    let include_paths = vec![root.join("p4/include")];
    let targets = Targets(TARGETS);
    let options = LoadOptions { include_paths, targets, ..LoadOptions::default() };
    let loaded = load_with(&loader, "test.p4", &options)?;
    Ok(*loaded.plane.into_loaded().expect("a program for PSA"))
}

/// The codes of a program's errors.
fn codes(text: &str) -> Vec<&'static str> {
    let Err(error) = load(text) else { return Vec::new() };
    error.diagnostics.iter().filter(|found| found.is_error()).map(|found| found.code).collect()
}

fn ingress(psa: &mut Psa, bytes: &[u8]) -> sojourn_packet::IngressOutput {
    let now = Time::from_millis(1);
    let input = IngressInput { port: PortId(1), arrived: now, now, resubmitted: false };
    psa.ingress(&input, Packet { bytes: bytes.to_vec(), ..Packet::default() })
}

#[test]
fn each_rule_is_broken_by_a_program_and_kept_without_the_fault() {
    assert_eq!(Parts::default().codes(), [""; 0]);
    let locals = |locals| Parts { locals, ..Parts::default() }.codes();
    let ingress = |ingress| Parts { ingress, ..Parts::default() }.codes();
    assert_eq!(ingress("odd();"), ["S0201"]);
    assert_eq!(locals("Register<ms, bit<8>>(8) r;"), ["S0202"]);
    assert_eq!(locals("Register<bit<8>, bit<32>>(0x7fffffff) r;"), ["S0202"]);
    assert_eq!(locals("Random<bit<8>>(3, 2) r;"), ["S0202"]);
    assert_eq!(ingress("h.h.a = h.h.a / h.h.b;"), ["S0205"]);
    assert_eq!(ingress("h.h.a = h.h.a << h.h.b;"), ["S0206"]);
    let direct = "DirectCounter<bit<32>>(PSA_CounterType_t.BYTES) c; action x() { c.count(); }
        table t { key = { h.h.a : exact; } actions = { x; } psa_direct_counter = c; }";
    assert_eq!(
        Parts { locals: direct, ingress: "t.apply();", ..Parts::default() }.codes(),
        [""; 0]
    );
    let unnamed = direct.replace("psa_direct_counter = c;", "");
    let parts = Parts { locals: &unnamed, ingress: "t.apply();", ..Parts::default() };
    assert_eq!(parts.codes(), ["S0208"]);
    let other = "table u { key = { h.h.b : exact; } actions = { x; } psa_direct_counter = c; }";
    let two = format!("{direct} {other}");
    let parts = Parts { locals: &two, ingress: "t.apply(); u.apply();", ..Parts::default() };
    assert_eq!(parts.codes(), ["S0207"]);
}

#[test]
fn a_program_keeps_within_what_p4c_accepts_for_psa_switch() {
    let tables = "action go() { h.h.a = 1; }
        table t { key = { h.h.a: exact; } actions = { go; } }
        table u { key = { h.h.b: exact; } actions = { go; } }";
    let with = |ingress| Parts { locals: tables, ingress, ..Parts::default() }.codes();
    assert_eq!(with("t.apply(); u.apply();"), [] as [&str; 0]);
    assert_eq!(with("t.apply(); t.apply();"), ["S0209"]);
    assert_eq!(with("if (h.h.a == 3) { t.apply(); u.apply(); } else { t.apply(); }"), ["S0210"]);
    assert_eq!(with("for (bit<16> i in 0 .. 3) { h.h.a = h.h.a + i; }"), ["S0211"]);
    let locals = |locals, ingress| Parts { locals, ingress, ..Parts::default() }.codes();
    let two = "action go() {} table t { key = { h.h.a: lpm; h.h.b: lpm; } actions = { go; } }";
    assert_eq!(locals(two, "t.apply();"), ["S0212"]);
    let truth = "action go(bool x) { if (x) { h.h.a = 1; } }
        table t { key = { h.h.a: exact; } actions = { go; NoAction; } }";
    assert_eq!(locals(truth, "t.apply();"), ["S0213"]);
    assert_eq!(locals("Register<bool, bit<8>>(8) r;", ""), ["S0202"]);
    let text = Parts::default().text();
    let more = "header two_h { varbit<32> x; varbit<16> y; } struct hs { two_h two; h_t h; }";
    assert_eq!(codes(&text.replace("struct hs { h_t h; }", more)), ["S0214"]);
    let sub = "control Sub(inout hs h) { apply { if (h.h.a == 4) { exit; } h.h.b = 9; } }\n";
    let text =
        Parts { locals: "Sub() sub;", ingress: "sub.apply(h); sub.apply(h);", ..Parts::default() };
    let text = text.text().replace("control I(", &format!("{sub}control I("));
    assert_eq!(codes(&text), ["S0215"]);
    let deparser = |declared: &str, deparser: &str| {
        let text = Parts { deparser, ..Parts::default() }.text();
        codes(&text.replace("Digest<note_t>() notes;", declared))
    };
    let sum = "InternetChecksum() sum;";
    assert_eq!(deparser(sum, "sum.clear(); sum.add(h.h.a); h.h.b = sum.get();"), [""; 0]);
    let register = "Register<bit<16>, bit<32>>(4) cells;";
    assert_eq!(deparser(register, "h.h.b = cells.read(0);"), ["S0216"]);
    let table = "action go() {} table t { actions = { go; } default_action = go(); }";
    assert_eq!(deparser(table, "t.apply();"), ["S0216"]);
    let text = Parts::default().text();
    let late = text.replace(
        "    apply {}\n}\nI",
        "    Digest<note_t>() notes; apply { notes.pack({ h.h.b }); }\n}\nI",
    );
    assert_eq!((codes(&late), text == late), (vec!["S0216"], false));
}

#[test]
fn a_package_of_another_form_is_refused_and_never_runs() {
    let six = "C a, C b, C c, C d, C e, C f";
    for (parameters, arguments) in [("C c", "X()"), (six, "X(), X(), X(), X(), X(), X()")] {
        let text = format!(
            "control C(); package PSA_Switch({parameters}); control X() {{ apply {{}} }}
             PSA_Switch({arguments}) main;"
        );
        assert_eq!(codes(&text), ["S0101"], "{text}");
    }
}

#[test]
fn a_packet_without_a_decision_is_dropped_and_an_unconfigured_class_has_the_last_queue() {
    let mut idle = Parts::default().load().expect("it loads");
    assert!(ingress(&mut idle, &[1; 4]).packet.is_none());
    let text = "send_to_port(o, (PortId_t) 7); o.class_of_service = (ClassOfService_t) 200;";
    let mut sent = Parts { ingress: text, ..Parts::default() }.load().expect("it loads");
    let out = ingress(&mut sent, &[1; 4]);
    assert_eq!(out.admission.unicast, Some(PortId(7)));
    assert_eq!((out.admission.queue, out.admission.cos), (7, 200));
}

#[test]
fn a_packet_that_is_too_short_reaches_ingress_with_the_parsers_error() {
    let text = "if (s.parser_error == error.PacketTooShort) { send_to_port(o, (PortId_t) 3); }";
    let mut psa = Parts { ingress: text, ..Parts::default() }.load().expect("it loads");
    let out = ingress(&mut psa, &[1; 3]);
    assert!(out.parser_rejected);
    assert_eq!(out.packet.expect("it goes on").bytes, [1; 3]);
    assert!(ingress(&mut psa, &[1; 4]).packet.is_none());
}

#[test]
fn a_digest_of_the_deparser_has_the_name_of_its_object() {
    let deparser = "notes.pack({ h.h.b });";
    let ingress_text = "o.drop = h.h.a == 0;";
    let parts = Parts { ingress: ingress_text, deparser, ..Parts::default() };
    let mut psa = parts.load().expect("it loads");
    ingress(&mut psa, &[0, 0, 1, 2]);
    ingress(&mut psa, &[0, 1, 3, 4]);
    let digests = psa.take_digests();
    assert_eq!(digests.len(), 1, "a packet that is dropped has no deparser");
    assert_eq!((&*digests[0].name, &*digests[0].bytes), ("D.notes", &[3, 4][..]));
}

#[test]
fn a_false_claim_drops_the_packet_and_is_counted() {
    let text = "o.drop = false; assert(h.h.a == 1);";
    let mut psa = Parts { ingress: text, ..Parts::default() }.load().expect("it loads");
    assert!(ingress(&mut psa, &[0, 1, 0, 0]).packet.is_some());
    assert!(ingress(&mut psa, &[0, 2, 0, 0]).packet.is_none());
    assert_eq!(psa.faults().failed_claims.count, 1);
}

#[test]
fn a_packet_with_the_metadata_of_nobody_leaves_egress_unchanged() {
    let mut psa = Parts::default().load().expect("it loads");
    let packet = Packet { bytes: vec![7; 60], ..Packet::default() };
    let out = psa.egress_carrying(&EgressInput::default(), packet, PacketMetadata::default());
    assert_eq!(out.packet.expect("it is sent").bytes, [7; 60]);
}

#[test]
fn a_meter_is_described_with_its_cells() {
    let locals = "Meter<bit<16>>(1024, PSA_MeterType_t.BYTES) m;";
    let ingress = "o.drop = m.execute(h.h.a) == PSA_MeterColor_t.RED;";
    let psa = Parts { locals, ingress, ..Parts::default() }.load().expect("it loads");
    let described = sojourn_control::describe(psa.interpreter.program());
    let meter = described.objects.iter().find(|object| object.of == "Meter").expect("a meter");
    assert_eq!(meter.size, Some(1024));
}

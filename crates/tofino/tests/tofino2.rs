//! Programs of `p4/t2na` on Tofino 2: they load with this chip's declarations, and its numbers hold.

use sojourn_p4::preprocess::FileLoader;
use sojourn_packet::{DataPlane, EgressInput, EgressOutput, MirrorOverrides, Packet, PortId, Time};
use sojourn_target::{Program, Target, Targets};
use sojourn_tofino::{LoadError, LoadOptions, TOFINO1, TOFINO2, TOFINO2M, Tofino, fit, load_with};
use std::path::{Path, PathBuf};

static CHIPS: Targets = Targets(&[&TOFINO1 as &dyn Target, &TOFINO2, &TOFINO2M]);

fn p4() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../p4")
}

fn options(target: Option<&'static dyn Target>) -> LoadOptions {
    let include_paths = vec![p4().join("include"), p4().join("tna")];
    LoadOptions { include_paths, targets: CHIPS, target, ..LoadOptions::default() }
}

fn compiled(program: &str, target: Option<&'static dyn Target>) -> Result<Program, LoadError> {
    Program::read(p4().join(program), &options(target))
}

fn stages(program: &str, target: Option<&'static dyn Target>) -> serde_json::Value {
    let checked = compiled(program, target).expect("it is P4").check();
    assert!(checked.ok, "{program}: {:?}", checked.diagnostics);
    serde_json::from_str(&checked.stages.expect("the chip has stages").json).expect("JSON")
}

#[test]
fn each_program_of_t2na_is_for_tofino_2_and_fits_its_20_stages() {
    let files = std::fs::read_dir(p4().join("t2na")).expect("the folder");
    let names = files.map(|file| file.expect("a file").file_name().into_string().expect("UTF-8"));
    let programs: Vec<String> = names.filter(|name| name.ends_with(".p4")).collect();
    assert!(programs.len() >= 7, "{programs:?}");
    for program in programs {
        let program = format!("t2na/{program}");
        assert_eq!(compiled(&program, None).expect("it is P4").target().name(), "tofino2");
        let stages = stages(&program, None);
        assert_eq!(
            (&stages["chip"], &stages["stages_available"]),
            (&"Tofino 2".into(), &20.into())
        );
        assert_eq!(stages["fits"], true, "{program}");
    }
}

#[test]
fn the_stages_are_those_of_the_open_source_back_end() {
    let compiler = [("p4_codel", [2, 7]), ("ghost_pi2", [15, 0]), ("pie", [2, 9]), ("red", [2, 6])];
    for (program, expected) in compiler {
        let stages = stages(&format!("t2na/{program}.p4"), None);
        let found = [0, 1].map(|pass| stages["passes"][pass]["stages"].as_u64().expect("a number"));
        assert_eq!(found, expected, "{program}");
    }
}

#[test]
fn a_tofino_1_program_compiles_for_tofino_2_on_request() {
    let of = |target| compiled("tna/codel_exact.p4", target).expect("it is P4").target().name();
    assert_eq!(
        [of(None), of(Some(&TOFINO1)), of(Some(&TOFINO2))],
        ["tofino1", "tofino1", "tofino2"]
    );
    assert_eq!(of(Some(&TOFINO2M)), "tofino2m");
    assert_eq!(stages("tna/codel_exact.p4", Some(&TOFINO2M))["stages_available"], 12);
}

#[test]
fn a_macro_of_a_chip_among_others_keeps_the_targets_own_away() {
    let given = |names: &[&str]| -> Vec<(String, String)> {
        names.iter().map(|name| ((*name).to_owned(), "2".to_owned())).collect()
    };
    let both = given(&["QUEUES", "__TARGET_TOFINO__"]);
    assert_eq!(CHIPS.macros(&TOFINO1, &both), both);
    assert_eq!(CHIPS.macros(&TOFINO1, &given(&["QUEUES"])).len(), 2);
}

#[test]
fn declarations_of_the_other_chip_are_one_error_with_the_cure() {
    let error = |program, target| {
        let error = compiled(program, target).expect_err("the other chip's declarations");
        let errors: Vec<String> = error
            .diagnostics
            .iter()
            .filter(|diagnostic| diagnostic.is_error())
            .map(|diagnostic| diagnostic.message.clone())
            .collect();
        assert_eq!(errors.len(), 1, "{errors:?}");
        errors[0].clone()
    };
    let told = error("t2na/codel_exact.p4", Some(&TOFINO1 as &dyn Target));
    assert!(told.contains("t2na.p4 is for Tofino 2") && told.contains("include tna.p4"), "{told}");
    let told = error("plain/codel_rfc8289.p4", Some(&TOFINO2 as &dyn Target));
    assert!(told.contains("tna.p4 is for Tofino 1") && told.contains("include t2na.p4"), "{told}");
}

#[test]
fn the_switch_of_tofino_2_has_larger_cells_and_recirculates_at_ports_6_and_7() {
    let traits = TOFINO2.switch();
    let manager = traits.traffic_manager.expect("a chip has one");
    assert_eq!((manager.cell.0, manager.cells), (176, 256_000));
    assert_eq!(traits.recirculating[..4], [6, 7, 128, 129]);
    assert_eq!(manager.mirror_sessions, (1, 239));
}

#[test]
fn load_takes_the_chip_from_the_program_s_package() {
    let loaded = load_with(&FileLoader, p4().join("t2na/red.p4"), &options(None));
    let loaded = loaded.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(fit::estimate(&loaded).stages_available, 20);
}

/// A program whose egress control does `requests` and shows queue and delay in its header.
fn text(requests: &str) -> String {
    format!(
        "#include <core.p4>
#include <t2na.p4>
header h_t {{ bit<32> delay; bit<16> queue; }}
struct headers {{ h_t h; }}
struct md_t {{ MirrorId_t session; }}
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
          inout ingress_intrinsic_metadata_for_tm_t t) {{
    apply {{ t.ucast_egress_port = 9; }}
}}
control ID(packet_out p, inout headers h, in md_t m,
           in ingress_intrinsic_metadata_for_deparser_t d) {{ apply {{ p.emit(h); }} }}
parser EP(packet_in p, out headers h, out md_t m, out egress_intrinsic_metadata_t e) {{
    state start {{ p.extract(e); p.extract(h.h); transition accept; }}
}}
control E(inout headers h, inout md_t m, in egress_intrinsic_metadata_t e,
          in egress_intrinsic_metadata_from_parser_t f,
          inout egress_intrinsic_metadata_for_deparser_t d,
          inout egress_intrinsic_metadata_for_output_port_t o) {{
    {requests}
}}
control ED(packet_out p, inout headers h, in md_t m,
           in egress_intrinsic_metadata_for_deparser_t d) {{
    Mirror(1) copy;
    apply {{
        if (d.mirror_type == 1) {{ copy.emit(m.session); }}
        p.emit(h);
    }}
}}
Pipeline(IP(), I(), ID(), EP(), E(), ED()) pipe;
Switch(pipe) main;
"
    )
}

const SHOW: &str = "h.h.delay = e.deq_timedelta; h.h.queue = 9w0 ++ e.egress_qid;";

fn file(name: &str, text: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("sojourn-{name}-{}.p4", std::process::id()));
    std::fs::write(&path, text).expect("a temporary file");
    path
}

fn egress(name: &str, requests: &str) -> EgressOutput {
    egress_of(name, &text(&format!("apply {{ {SHOW} {requests} }}")))
}

fn egress_of(name: &str, text: &str) -> EgressOutput {
    let path = file(name, text);
    let loaded = load_with(&FileLoader, &path, &options(None));
    let mut plane: Tofino = loaded.unwrap_or_else(|error| panic!("{error}")).plane;
    let input = EgressInput {
        port: PortId(9),
        queue: 3,
        enqueued: Time(1_000),
        dequeued: Time(1_000 + 300_000_000),
        ..EgressInput::default()
    };
    let packet = Packet { bytes: (0..40).collect(), zeros: 60, ..Packet::default() };
    plane.egress(&input, packet)
}

#[test]
fn egress_sees_the_time_in_the_queue_with_32_bits_and_the_queue_of_the_port_group() {
    let sent = egress("stamps", "").packet.expect("it is sent");
    assert_eq!(sent.bytes[..4], 300_000_000u32.to_be_bytes());
    assert_eq!(sent.bytes[4..6], [0, 16 + 3]);
}

#[test]
fn a_packet_sets_port_queue_and_form_of_its_copy_and_the_length_that_the_deparser_leaves() {
    let mirror = "m.session = 5; d.mirror_type = 1;";
    let copy = egress("session", mirror).mirror.expect("a copy");
    assert_eq!(copy.overrides, MirrorOverrides::default());
    assert_eq!((copy.packet.bytes[4..6].to_vec(), copy.packet.len().0), (vec![0, 19], 100));
    let own = format!(
        "{mirror} d.mirror_egress_port = 7; d.mirror_qid = 2; d.mirror_io_select = 0; d.mirror_deflect_on_drop = 1;"
    );
    let out = egress("own", &own);
    let copy = out.mirror.expect("a copy");
    assert_eq!(copy.overrides.port, Some(PortId(7)));
    assert_eq!((copy.overrides.queue, copy.overrides.deflect_on_drop), (Some(2), Some(true)));
    assert_eq!(copy.packet.bytes[4..6], [4, 5], "the packet as it was received");
    assert_eq!(out.packet.expect("it is sent").bytes[4..6], [0, 19]);
    let cut = egress("cut", "d.mtu_trunc_len = 64;");
    assert_eq!(cut.packet.expect("it is sent").len().0, 64);
}

#[test]
fn stateful_alu_features_that_are_not_simulated_pass_the_check_with_a_warning() {
    let action = "Register<bit<32>, bit<9>>(512) r;
    RegisterAction<bit<32>, bit<9>, bit<32>>(r) act = {
        void apply(inout bit<32> v, out bit<32> rv) { rv = v; }
    };
    apply { h.h.delay = act.execute_log(); }";
    let program = Program::read(file("third", &text(action)), &options(None)).expect("it is P4");
    let checked = program.check();
    assert!(checked.ok);
    let codes = checked.diagnostics.iter().map(|diagnostic| diagnostic.code);
    assert_eq!(codes.collect::<Vec<_>>(), ["T0804"]);
    assert!(program.instantiate(1).is_err());
}

//! Programs that are incomplete, huge or invalid: each gives an answer within seconds, and none a
//! panic.

use sojourn_p4::preprocess::{MemoryLoader, OverlayLoader};
use sojourn_tofino::{LoadError, LoadOptions, Loaded, fit, load_with};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Each takes a second or two; a loaded machine has a minute.
const PATIENCE: Duration = Duration::from_secs(60);

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name)
}

fn load(text: &str) -> Result<Loaded, LoadError> {
    let loader = OverlayLoader(MemoryLoader::new().with("program.p4", text));
    let include_paths = vec![
        folder("p4/include"),
        folder("p4/tna"),
        folder("crates/tofino/rules"),
        folder("crates/npu/rules"),
    ];
    let options =
        LoadOptions { include_paths, check_only: true, ..sojourn_engine::builtin::load_options() };
    load_with(&loader, "program.p4", &options)
}

/// A program with these declarations and statements in its egress control.
fn program(declarations: &str, apply: &str) -> String {
    format!(
        "#include \"shared/egress.p4\"\n{declarations}\napply {{\n{apply}\n}}\n\
         #include \"shared/egress_end.p4\"\n"
    )
}

/// Loads the program and estimates its stages, within the time limit.
fn answered(text: &str) -> Result<fit::Fit, LoadError> {
    let begin = Instant::now();
    let answer = load(text).map(|loaded| fit::estimate(&loaded));
    let took = begin.elapsed();
    assert!(took < PATIENCE, "it took {took:?}");
    answer
}

fn shown(error: &LoadError) -> String {
    error.render(&Default::default())
}

/// Checks a program for bmv2 with these declarations in its ingress control.
fn v1model(declarations: &str, check_only: bool) -> Result<sojourn_target::Loaded, LoadError> {
    let text = format!(
        "#include <core.p4>\n#include <v1model.p4>\nconst bit<64> LAW_NS = 100000000;\n\
         struct hdrs {{ }} struct meta {{ }}\n\
         parser P(packet_in b, out hdrs h, inout meta m, inout standard_metadata_t s) {{ \
             state start {{ transition accept; }} }}\n\
         control V(inout hdrs h, inout meta m) {{ apply {{ }} }}\n\
         control I(inout hdrs h, inout meta m, inout standard_metadata_t s) {{ {declarations} }}\n\
         control E(inout hdrs h, inout meta m, inout standard_metadata_t s) {{ apply {{ }} }}\n\
         control D(packet_out b, in hdrs h) {{ apply {{ }} }}\n\
         V1Switch(P(), V(), I(), E(), V(), D()) main;\n"
    );
    let loader = OverlayLoader(MemoryLoader::new().with("program.p4", text));
    let include_paths = vec![folder("p4/include")];
    let options =
        LoadOptions { include_paths, check_only, ..sojourn_engine::builtin::load_options() };
    sojourn_target::load_with(&loader, "program.p4", &options)
}

#[test]
fn memory_beyond_that_of_a_program_is_refused_before_it_is_allocated() {
    let many = |of: &str, count: usize| -> String {
        let declared = (0..count).map(|n| format!("{of} r{n};\n"));
        format!("{} apply {{ }}", declared.collect::<String>())
    };
    for declared in [
        many("register<bit<2048>>(1048576)", 60),
        many("register<bit<32>>(67108864)", 60),
        many("register<bit<200000>>(1048576)", 1),
        many("counter(67108864, CounterType.packets)", 60),
        many("meter(67108864, MeterType.bytes)", 60),
    ] {
        for check_only in [true, false] {
            let error = v1model(&declared, check_only).unwrap_err();
            let text = shown(&error);
            assert!(text.contains("that all registers, counters and meters"), "{text}");
        }
    }
    let wide = many("register<bit<2048>>(1048576)", 1);
    assert!(v1model(&wide, false).is_ok(), "cells take memory where they are used");
}

#[test]
fn computed_entries_beyond_a_table_are_refused_before_they_are_made() {
    let text = "action set(bit<32> v) { }\n\
                table t { key = { s.packet_length : exact; } actions = { set; } SIZE }\n\
                apply { t.apply(); }";
    for (size, most) in [("", 1u64 << 24), ("size = 1000;", 1000)] {
        let declared = text.replace("SIZE", size);
        let mut loaded = v1model(&declared, false).unwrap_or_else(|error| panic!("{error}"));
        let control = serde_json::json!({"tables": [{"name": "t", "entries_from": {
            "control_law": {"interval": "LAW_NS", "counts": [1, 4294967295u64]}
        }}]});
        let control: sojourn_control::ControlPlane = serde_json::from_value(control).unwrap();
        let refused = loaded.plane.configure(&control).unwrap_err().to_string();
        assert!(refused.contains(&most.to_string()), "{refused}");
    }
}

#[test]
fn a_hundred_thousand_table_entries_are_answered() {
    let entries: String = (0..100_000).map(|n| format!("{n} : mark({});\n", n % 256)).collect();
    let declarations = format!(
        "action mark(bit<8> v) {{ hdr.report.verdict = v; }}
         table t {{
             key = {{ hdr.ipv4.src_addr : exact; }}
             actions = {{ mark; }}
             const entries = {{ {entries} }}
             size = 100000;
         }}"
    );
    let fit = answered(&program(&declarations, "t.apply();")).unwrap_or_else(|e| panic!("{e}"));
    assert!(fit.stages_used >= 1);
}

#[test]
fn a_thousand_registers_are_answered() {
    let declarations: String = (0..1000)
        .map(|n| {
            format!(
                "Register<bit<32>, bit<9>>(512) r{n};
                 RegisterAction<bit<32>, bit<9>, bit<32>>(r{n}) a{n} = {{
                     void apply(inout bit<32> v, out bit<32> old) {{ old = v; v = v + 1; }}
                 }};"
            )
        })
        .collect();
    let apart: String = (0..1000).map(|n| format!("a{n}.execute(eg.egress_port);\n")).collect();
    let fit = answered(&program(&declarations, &apart)).unwrap_or_else(|e| panic!("{e}"));
    assert!(!fit.fits);
    // Each at the index that the one before gave: a chain of a thousand stages.
    let chain: String = (0..1000)
        .map(|n| format!("hdr.report.count = a{n}.execute(hdr.report.count[8:0]);\n"))
        .collect();
    let error = answered(&program(&declarations, &chain)).unwrap_err();
    assert!(shown(&error).contains("needs 1000 stages"), "{}", shown(&error));
}

#[test]
fn a_thousand_accesses_to_one_register_are_answered() {
    let register = "Register<bit<32>, bit<9>>(512) r;
        RegisterAction<bit<32>, bit<9>, bit<32>>(r) a = {
            void apply(inout bit<32> v) { v = v + 1; }
        };";
    let branches: String = (0..1000)
        .map(|n| format!("if (meta.size == {n}) {{ a.execute(eg.egress_port); }}\n"))
        .collect();
    let told = answered(&program(register, &branches));
    assert!(told.is_ok(), "the conditions exclude each other: {}", told.err().unwrap());
    let twice: String = (0..1000).map(|_| "a.execute(eg.egress_port);\n").collect();
    let error = answered(&program(register, &twice)).unwrap_err();
    assert!(shown(&error).contains("T0701"));
}

#[test]
fn ten_thousand_statements_are_answered() {
    let apart: String = (0..10_000)
        .map(|n| format!("hdr.report.count = hdr.report.count + {};\n", n % 7 + 1))
        .collect();
    let error = answered(&program("", &apart)).unwrap_err();
    assert!(shown(&error).contains("T1101"));
}

#[test]
fn deep_nesting_is_answered() {
    for depth in [50, 5000] {
        let open: String = (0..depth).map(|n| format!("if (meta.size == {n}) {{\n")).collect();
        let text = program("", &format!("{open} dprs.drop_ctl = 1; {}", "}".repeat(depth)));
        // Accepted or rejected with a message, within the time limit.
        if let Err(error) = answered(&text) {
            assert!(!error.diagnostics.is_empty());
        }
    }
}

/// The text of a built-in program with the files included behind its AQM in place.
fn with_its_skeleton(name: &str) -> String {
    let read = |path: &str| std::fs::read_to_string(folder("p4/tna").join(path)).unwrap();
    ["common/egress.p4", "common/switch.p4"].iter().fold(read(name), |text, path| {
        let part = read(path);
        let guarded = part.split_once("_P4\n\n").expect("a guard").1;
        let inside = guarded.trim_end().strip_suffix("#endif").expect("the guard's end");
        let include = format!("#include \"{path}\"");
        assert!(text.contains(&include), "{name} does not include {path}");
        text.replace(&include, inside)
    })
}

#[test]
fn a_shipped_program_cut_off_anywhere_is_answered_with_a_place() {
    for name in ["p4_codel.p4", "codel_act.p4"] {
        let text = with_its_skeleton(name);
        let all_of_it = text.find("Switch(").unwrap();
        for end in (0..all_of_it).step_by(211) {
            let Some(cut) = text.get(..end) else { continue };
            let error = load(cut).err().unwrap_or_else(|| panic!("{name} is whole at {end}"));
            assert!(error.diagnostics.iter().any(|d| d.is_error() && !d.message.is_empty()));
        }
    }
}

#[test]
fn a_shipped_program_without_one_of_its_lines_is_answered() {
    let text = std::fs::read_to_string(folder("p4/tna/aqm/p4_codel.p4")).unwrap();
    let whole = std::fs::read_to_string(folder("p4/tna/p4_codel.p4")).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    for left_out in 0..lines.len() {
        let kept: String = (0..lines.len())
            .filter(|at| *at != left_out)
            .map(|at| format!("{}\n", lines[at]))
            .collect();
        let whole = whole.replace("#include \"aqm/p4_codel.p4\"", &kept);
        if let Err(error) = load(&whole) {
            assert!(error.diagnostics.iter().any(|d| d.is_error()));
        }
    }
}

#[test]
fn programs_for_something_else_are_distinguished() {
    let of = |text: &str| shown(&load(text).unwrap_err());
    assert!(of("#include <t3na.p4>\n").contains("this program is for Tofino 3"));
    assert!(of("#include <pna.p4>\n").contains("the Portable NIC Architecture"));
    assert!(of("#include <core.p4>\n#include <tna.p4>\n").contains("the program has no `main`"));
    assert!(!of("").is_empty());
    assert!(!of("\u{0}\u{1}\u{2}").is_empty());
}

//! The library in Rust: loads, describes, checks and controls a built-in program.

use sojourn_engine::builtin::{TARGETS, load_options};
use std::error::Error;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn options() -> sojourn_target::LoadOptions {
    sojourn_target::LoadOptions { include_paths: vec![root().join("p4/include")], ..load_options() }
}

#[test]
fn commands_of_a_file_are_installed_as_a_batch() -> Result<(), Box<dyn Error>> {
    use sojourn_control::{CommandFile, ControlPlane};
    use sojourn_target::Program;
    let program = Program::read(root().join("tests/stf/v1model/wire.p4"), &options())?;
    let file =
        CommandFile { name: "wire.txt".into(), text: "table_add forward send 1 => 2".into() };
    let control = ControlPlane { commands: Some(file), ..ControlPlane::default() };
    let mut plane = program.instantiate(1)?;
    control.batch(program.ir())?.install(plane.control())?;
    Ok(())
}

#[test]
fn a_description_and_a_schema_name_the_same_tables() -> Result<(), Box<dyn Error>> {
    use sojourn_control::{Schema, describe};
    use sojourn_target::Program;
    let program = Program::read(root().join("tests/stf/v1model/wire.p4"), &options())?;
    let known = describe(program.ir());
    assert!(known.tables.iter().any(|table| table.name.ends_with("forward")));
    let whole: Schema = program.schema(); // What servers of control protocols ask for.
    assert_eq!(whole.tables.len(), known.tables.len());
    Ok(())
}

#[test]
fn a_program_compiles_again_from_its_text() -> Result<(), Box<dyn Error>> {
    use sojourn_target::{Program, ProgramText, Sources};
    let here = Program::read(root().join("tests/stf/v1model/wire.p4"), &options())?;
    let sent: ProgramText = here.text();
    let there = Program::from_text(&sent, &load_options())?;
    assert_eq!(there.digest(), here.digest());
    let sources: &Sources = there.sources();
    assert_eq!(sources.files[0].sha256().len(), 64);
    Ok(())
}

#[test]
fn a_watched_packet_is_followed_through_its_pass() -> Result<(), Box<dyn Error>> {
    use sojourn_packet::{DataPlane, IngressInput, Packet, PortId, Time};
    use sojourn_target::observer::{self, TraceRequest};
    use sojourn_target::{load, trace_json};
    let mut plane = load(root().join("tests/stf/v1model/wire.p4"), &options())?;
    let seen = plane.observe(TraceRequest { every_packet: true, ..TraceRequest::default() })?;
    let (port, arrived, now) = (PortId(1), Time::ZERO, Time::ZERO);
    let input = IngressInput { port, arrived, now, resubmitted: false };
    plane.ingress(&input, Packet { bytes: vec![0; 60], ..Packet::default() });
    let pass = trace_json::pass(&observer::lock(&seen).passes[0], plane.sources());
    assert_eq!(pass["pass"], "ingress");
    Ok(())
}

#[test]
fn a_file_loads_in_one_call() -> Result<(), Box<dyn Error>> {
    use sojourn_control::RuntimeControl;
    use sojourn_target::{Plane, load};
    let mut plane: Plane = load(root().join("p4/v1model/codel.p4"), &options())?;
    let control: &mut dyn RuntimeControl = plane.control();
    assert!(!control.registers().is_empty());
    Ok(())
}

#[test]
fn a_mistake_is_reported_with_its_line() -> Result<(), Box<dyn Error>> {
    use sojourn_p4::preprocess::MemoryLoader;
    use sojourn_target::load_with;
    let loader = MemoryLoader::new().with("wrong.p4", "const bit<8> ONE = two;");
    let refused = load_with(&loader, "wrong.p4", &load_options()).unwrap_err();
    assert!(refused.to_string().starts_with("wrong.p4:1"), "{refused}");
    Ok(())
}

#[test]
fn a_rule_makes_a_diagnostic_with_its_code() -> Result<(), Box<dyn Error>> {
    use sojourn_p4::diagnostic::Diagnostic;
    use sojourn_p4::source::Span;
    use sojourn_target::{Refusal, Rule};
    let rule: &Rule = TARGETS.rule("T0705").expect("one access a pass");
    let refusal: Refusal = rule.refuse(Span::DUMMY, "`count` is accessed twice");
    assert_eq!(Diagnostic::from(refusal).code, "T0705");
    Ok(())
}

#[test]
fn a_target_is_found_by_name() -> Result<(), Box<dyn Error>> {
    use sojourn_target::Target;
    let tofino: &dyn Target = TARGETS.named("tofino1").expect("it ships");
    assert!(tofino.claims("Switch", Some("TNA")) && !tofino.claims("V1Switch", None));
    assert_eq!(tofino.switch().recirculating.first(), Some(&68));
    Ok(())
}

#[test]
fn one_program_serves_several_switches() -> Result<(), Box<dyn Error>> {
    use sojourn_target::Program;
    let program = Program::read(root().join("p4/v1model/router.p4"), &options())?;
    assert_eq!(program.target().name(), "v1model");
    let (one, other) = (program.instantiate(1)?, program.instantiate(2)?); // two switches
    assert_eq!(one.target().name(), other.target().name());
    Ok(())
}

#[test]
fn state_that_one_step_must_update_is_found() -> Result<(), Box<dyn Error>> {
    use sojourn_analysis as state;
    use sojourn_target::Program;
    let codel = Program::read(root().join("p4/v1model/codel.p4"), &options())?;
    let found = state::dependencies(codel.ir(), codel.source_map());
    assert!(!found.controls.is_empty(), "some variables have to be written in one step");
    Ok(())
}

//! A target defined by this test: one type and one line in a table suffice for all queries on its
//! programs.

use sojourn_control::RuntimeControl;
use sojourn_control::profiles::Profiles;
use sojourn_control::runtime_control::{Parts, RegisterCells};
use sojourn_engine::{
    Aqm, P4Aqm, PacketSwitch, PacketSwitchConfig, Programs, config, simulation_with,
};
use sojourn_p4::diagnostic::Diagnostic;
use sojourn_p4::interp::Tables;
use sojourn_p4::ir;
use sojourn_p4::preprocess::MemoryLoader;
use sojourn_p4::source::{SourceMap, Span};
use sojourn_packet::{
    Admission, DataPlane, EgressDecision, EgressFate, EgressInput, IngressDecision, IngressInput,
    Packet, PacketMetadata, PortId, Time,
};
use sojourn_target::target::{Copies, LoadedProgram, SwitchTraits};
use sojourn_target::{Faults, LoadOptions, Program, ProgramText, Rule, Target, Targets};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A patch panel: a packet from one port goes to the port of a constant, and back.
#[derive(Debug)]
struct Panel;

static TARGETS: &[&dyn Target] = &[&Panel];

static NO_PORT: Rule = Rule {
    code: "P0101",
    title: "a program says which port it connects",
    reason: "there is nothing else in it",
    cure: "declare `const bit<9> OUT`",
    program: "",
};

impl Target for Panel {
    fn name(&self) -> &'static str {
        "panel"
    }

    fn title(&self) -> &'static str {
        "the patch panel"
    }

    fn folder(&self) -> &'static str {
        "panel"
    }

    fn declarations(&self) -> &'static str {
        "panel.p4"
    }

    fn macros(&self) -> &'static [(&'static str, &'static str)] {
        &[("__TARGET_PANEL__", "1")]
    }

    fn claims(&self, package: &str, _: Option<&str>) -> bool {
        package == "Panel"
    }

    fn load(
        &self,
        program: ir::Program,
        _: &SourceMap,
        _: &LoadOptions,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Option<Box<dyn LoadedProgram>> {
        let Some(out) = program.constants.get("OUT").and_then(|out| u16::try_from(out).ok()) else {
            diagnostics.push(NO_PORT.refuse(Span::DUMMY, "it has no OUT").into());
            return None;
        };
        let program = Arc::new(program);
        let (tables, faults) = (Tables::new(program.clone()), Faults::default());
        let profiles = Profiles::default();
        Some(Box::new(Wired { out: PortId(out), program, tables, profiles, faults }))
    }

    fn switch(&self) -> SwitchTraits {
        SwitchTraits {
            ports: 4,
            pipe_ports: 4,
            queues: 2,
            queues_chosen: false,
            recirculating: Vec::new(),
            packet_generator: None,
            traffic_manager: None,
            copies: Copies::Unlimited,
            disciplines: true,
        }
    }

    fn rules(&self) -> Vec<&'static Rule> {
        vec![&NO_PORT]
    }
}

#[derive(Debug)]
struct Wired {
    out: PortId,
    program: Arc<ir::Program>,
    tables: Tables,
    profiles: Profiles,
    faults: Faults,
}

impl DataPlane for Wired {
    fn ingress_pass(
        &mut self,
        input: &IngressInput,
        _: &mut Packet,
        _: &mut PacketMetadata,
    ) -> IngressDecision {
        let port = if input.port == self.out { PortId(1) } else { self.out };
        let admission = Admission { unicast: Some(port), ..Admission::default() };
        IngressDecision::admit(admission)
    }

    fn egress_pass(
        &mut self,
        _: &EgressInput,
        _: &mut Packet,
        _: &mut PacketMetadata,
    ) -> EgressDecision {
        EgressFate::Sent.into()
    }
}

impl RuntimeControl for Wired {
    fn program(&self) -> &Arc<ir::Program> {
        &self.program
    }

    fn tables(&mut self) -> &mut Tables {
        &mut self.tables
    }

    fn parts(&mut self) -> Parts<'_> {
        let (tables, profiles) = (&mut self.tables, &mut self.profiles);
        Parts { tables, profiles, counters: &mut [], meters: &mut [], filters: &mut [] }
    }

    fn registers(&mut self) -> Vec<&mut dyn RegisterCells> {
        Vec::new()
    }
}

impl LoadedProgram for Wired {
    fn counted(&self) -> &Faults {
        &self.faults
    }
}

const DECLARATIONS: &str = "control Nothing(); package Panel(Nothing n);";

fn text(out: &str) -> ProgramText {
    let program = format!(
        "#include <panel.p4>\n#ifdef __TARGET_PANEL__\n{out}\n#endif\n\
         control C() {{ apply {{}} }}\nPanel(C()) main;\n"
    );
    ProgramText {
        program: "patch.p4".into(),
        files: BTreeMap::from([
            ("patch.p4".into(), program),
            ("include/panel.p4".into(), DECLARATIONS.into()),
        ]),
        include_paths: vec!["include".into()],
        ..ProgramText::default()
    }
}

fn compiled(out: &str) -> Program {
    let options = LoadOptions { targets: Targets(TARGETS), ..LoadOptions::default() };
    Program::from_text(&text(out), &options).expect("it compiles")
}

#[test]
fn a_target_of_a_table_claims_its_programs_and_checks_them() {
    let program = compiled("const bit<9> OUT = 2;");
    assert_eq!(program.target().name(), "panel");
    assert_eq!(program.describe().package, "Panel");
    assert!(program.check().ok && program.check().stages.is_none());
    let refused = compiled("").check();
    assert!(!refused.ok);
    assert_eq!(refused.diagnostics[0].code, "P0101");
    assert_eq!(Targets(TARGETS).rule("p0101"), Some(&NO_PORT));
}

#[test]
fn packets_pass_on_the_switch_that_the_target_describes() {
    let plane = compiled("const bit<9> OUT = 3;").instantiate(1).expect("it loads");
    let config = PacketSwitchConfig::new(plane.target());
    let mut bench = PacketSwitch::new(plane, &config).expect("a switch of four ports");
    bench.receive(PortId(1), &[7; 64]);
    assert!(bench.settle(Time::from_millis(1)));
    assert_eq!(bench.take()[0].port, PortId(3));
}

#[test]
fn tcp_runs_over_it_with_a_discipline_under_it() {
    let program = Arc::new(compiled("const bit<9> OUT = 2;"));
    let text = serde_json::json!({
        "duration": 1_000_000_000_u64,
        "aqm": {
            "kind": "p4",
            "program": "patch.p4",
            "include_paths": ["include"],
            "architecture": "panel",
            "discipline": {"name": "codel"},
        },
        "flows": [{"kind": "tcp", "rtt": 20_000_000}],
    });
    let config = config::read(&text.to_string()).expect("a configuration");
    let mut run = simulation_with(&config, &Programs::new([program])).expect("a run");
    run.advance(Time::MAX, usize::MAX);
    assert!(run.take_packets().len() > 1_000);
}

#[test]
fn a_program_for_another_target_than_wanted_is_refused_by_both_names() {
    let program = Arc::new(compiled("const bit<9> OUT = 2;"));
    let p4 = P4Aqm {
        program: "patch.p4".into(),
        include_paths: vec!["include".into()],
        architecture: Some("v1model".into()),
        ..P4Aqm::default()
    };
    let refused = Programs::new([program]).plane(&p4, 1).expect_err("it is for the panel");
    assert!(refused.to_string().contains("v1model: patch.p4 is for panel"), "{refused}");
    assert!(Aqm::P4(Box::new(p4.clone())).check().is_ok());
}

#[test]
fn a_program_compiled_from_its_own_text_is_the_same_program() {
    let program = compiled("const bit<9> OUT = 2;");
    let text = program.text();
    assert_eq!(text.files.len(), 2);
    let options = LoadOptions { targets: Targets(TARGETS), ..LoadOptions::default() };
    let again = Program::compile(&text.loader(), &text.program, program.options());
    assert_eq!(again.expect("it compiles").digest(), program.digest());
    let other = Program::from_text(&self::text("const bit<9> OUT = 1;"), &options);
    assert_ne!(other.expect("it compiles").digest(), program.digest());
    let alone = MemoryLoader::new().with("patch.p4", text.files["patch.p4"].as_bytes());
    assert!(Program::compile(&alone, "patch.p4", &options).is_err());
}

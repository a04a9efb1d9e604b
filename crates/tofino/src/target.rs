//! Chips of the Tofino family as targets: names of their programs, properties of their switches.

use super::blocks::find_blocks;
use super::chip::{self, Chip};
use super::load::build;
use super::pipeline::Tofino;
use super::{fit, rules};
use sojourn_p4::diagnostic::Diagnostic;
use sojourn_p4::interp::trace::Trace;
use sojourn_p4::ir::Program;
use sojourn_p4::source::SourceMap;
use sojourn_target::faults::Faults;
use sojourn_target::load::LoadOptions;
use sojourn_target::rule::Rule;
use sojourn_target::target::{Copies, DeviceTables, LoadedProgram, Stages, SwitchTraits, Target};
use std::any::Any;
use std::sync::Arc;

/// A chip of the Tofino family with its architecture.
#[derive(Clone, Copy, Debug)]
pub struct TofinoTarget(&'static Chip);

/// Tofino 1 and TNA.
pub const TOFINO1: TofinoTarget = TofinoTarget(&chip::TOFINO1);
/// Tofino 2 and T2NA.
pub const TOFINO2: TofinoTarget = TofinoTarget(&chip::TOFINO2);
/// The parts of Tofino 2 with 12 stages, and T2NA.
pub const TOFINO2M: TofinoTarget = TofinoTarget(&chip::TOFINO2M);

impl Target for TofinoTarget {
    fn name(&self) -> &'static str {
        self.0.name
    }

    fn title(&self) -> &'static str {
        self.0.title
    }

    fn folder(&self) -> &'static str {
        self.0.folder
    }

    fn declarations(&self) -> &'static str {
        self.0.declarations
    }

    fn macros(&self) -> &'static [(&'static str, &'static str)] {
        // The vendor's driver defines them.
        self.0.macros
    }

    fn claims(&self, package: &str, architecture: Option<&str>) -> bool {
        // Declarations that state no architecture are those of the first chip.
        let stated = architecture.unwrap_or(chip::TOFINO1.architecture);
        self.0.packages.contains(&package) && stated == self.0.architecture
    }

    fn load(
        &self,
        program: Program,
        sources: &SourceMap,
        options: &LoadOptions,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Option<Box<dyn LoadedProgram>> {
        Some(Box::new(build(self.0, program, sources, options, diagnostics)?))
    }

    fn switch(&self) -> SwitchTraits {
        let chip = self.0;
        SwitchTraits {
            ports: chip.pipes * chip.pipe_ports,
            pipe_ports: chip.pipe_ports,
            queues: chip.queues,
            queues_chosen: false,
            recirculating: self.recirculating(),
            packet_generator: Some(chip.packet_generator),
            traffic_manager: Some(chip.traffic_manager),
            copies: Copies::Chip,
            disciplines: false,
        }
    }

    fn device_tables(&self) -> Option<DeviceTables> {
        let chip = self.0;
        Some(DeviceTables {
            generation: chip.table_generation,
            group_ports: chip.front.group_ports,
            port_queues: chip.port_queues,
            stages: chip.stages,
            recirculating: self.recirculating(),
            processor: (chip.processor.0.clone(), chip.processor.1),
        })
    }

    fn takes_depth_reports(&self, program: &Program) -> bool {
        let pipelines = find_blocks(self.0, program).unwrap_or_default();
        pipelines.iter().any(|blocks| blocks.ghost.is_some())
    }

    fn math_unit(&self) -> bool {
        true
    }

    fn rules(&self) -> Vec<&'static Rule> {
        rules::all().collect()
    }

    fn stages(&self, loaded: &dyn LoadedProgram, sources: &SourceMap) -> Option<Stages> {
        let any: &dyn Any = loaded;
        let program = any.downcast_ref::<Tofino>()?.elaborated();
        let fit = fit::fit_of_program(self.0, program, sources);
        let doubt = fit::doubt_of(self.0, program, &fit).map(Box::new);
        Some(Stages { json: fit.to_json(), text: fit.render(), doubt })
    }

    fn foreign(&self, found: &[Diagnostic], sources: &SourceMap) -> Option<Diagnostic> {
        if let Some(other) = self.of_another_chip(found, sources) {
            return Some(other);
        }
        let errors = found.iter().filter(|diagnostic| diagnostic.is_error());
        let included = errors.filter_map(|error| {
            let text = sources.text(error.primary);
            Some((error.primary, other_architecture(text.trim_matches(['<', '>', '"']))?))
        });
        let (place, architecture) = included.into_iter().next()?;
        let message = format!("this program is for {architecture}");
        Some(rules::ARCHITECTURE.refuse(place, message).into())
    }
}

impl TofinoTarget {
    /// Ports that recirculate: in pipes behind the first all that can generate.
    fn recirculating(self) -> Vec<u16> {
        let chip = self.0;
        let (first, last) = chip.packet_generator.ports;
        let of = |pipe: u16| if pipe == 0 { chip.recirculation.clone() } else { first..=last };
        (0..chip.pipes)
            .flat_map(|pipe| of(pipe).map(move |port| pipe * chip.pipe_ports + port))
            .collect()
    }

    /// An error about a stateful ALU that this chip does not have and Tofino 2 has.
    fn of_another_chip(self, found: &[Diagnostic], sources: &SourceMap) -> Option<Diagnostic> {
        let mut files = sources.files().map(|file| file.path.rsplit(['/', '\\']).next());
        let included = files.any(|name| name == Some(self.0.declarations));
        if self.0.stateful_alu.outputs > 1 || !included {
            return None;
        }
        let errors = found.iter().filter(|diagnostic| diagnostic.is_error());
        let mut named = errors.filter_map(|error| {
            let name = sources.text(error.primary);
            let rule = match (name.trim_end_matches(['2', '3', '4']), error.code) {
                ("RegisterAction" | "DirectRegisterAction", NO_TYPE) | ("apply", PARAMETERS) => {
                    &rules::ONE_OUTPUT
                }
                ("MinMaxAction", NO_TYPE) => &rules::SEARCH,
                ("address" | "min8" | "max8" | "min16" | "max16", NO_METHOD) => &rules::CALL,
                _ => return None,
            };
            let title = self.0.title;
            let message = match error.code {
                PARAMETERS => {
                    format!("several outputs of an action are of Tofino 2: {title} has one")
                }
                _ => format!("`{name}` is of Tofino 2: {title} does not have it"),
            };
            Some(rule.refuse(error.primary, message).into())
        });
        named.next()
    }
}

/// Codes of errors: a type, a method that is not declared, a wrong number of parameters.
const NO_TYPE: &str = "E0401";
const NO_METHOD: &str = "E0404";
const PARAMETERS: &str = "E1102";

/// The unsupported architecture of a file of declarations.
fn other_architecture(file: &str) -> Option<&'static str> {
    Some(match file {
        "pna.p4" => "the Portable NIC Architecture",
        "t3na.p4" => "Tofino 3",
        "ebpf_model.p4" | "ubpf_model.p4" => "eBPF",
        _ => return None,
    })
}

impl LoadedProgram for Tofino {
    fn counted(&self) -> &Faults {
        self.faults()
    }

    fn trace(&mut self) -> Option<&mut Option<Box<Trace>>> {
        Some(&mut self.runtime.trace)
    }

    fn keep_text(&mut self, sources: &Arc<SourceMap>) {
        self.sources = Some(sources.clone());
    }
}

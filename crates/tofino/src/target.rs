//! Tofino 1 as a target: what programs for it are called, and what its switch is like.

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
use sojourn_target::target::{Copies, LoadedProgram, Stages, SwitchTraits, Target};
use std::any::Any;
use std::sync::Arc;

/// The Tofino Native Architecture, on Tofino 1.
#[derive(Clone, Copy, Debug)]
pub struct Tofino1;

/// Ports of one pipe, and where its recirculation ports begin and end.
const PIPE: u16 = 128;
const LOOPS: std::ops::Range<u16> = 68..72;

impl Target for Tofino1 {
    fn name(&self) -> &'static str {
        "tofino1"
    }

    fn title(&self) -> &'static str {
        "Tofino"
    }

    fn folder(&self) -> &'static str {
        "tna"
    }

    fn declarations(&self) -> &'static str {
        "tna.p4"
    }

    fn macros(&self) -> &'static [&'static str] {
        // The vendor's driver defines it.
        &["__TARGET_TOFINO__"]
    }

    fn claims(&self, package: &str) -> bool {
        matches!(package, "Switch" | "MultiParserSwitch")
    }

    fn load(
        &self,
        program: Program,
        sources: &SourceMap,
        options: &LoadOptions,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Option<Box<dyn LoadedProgram>> {
        Some(Box::new(build(program, sources, options, diagnostics)?))
    }

    fn switch(&self) -> SwitchTraits {
        SwitchTraits {
            ports: 4 * PIPE,
            pipe_ports: PIPE,
            queues: 32,
            queues_chosen: false,
            recirculating: (0..4).flat_map(|pipe| LOOPS.map(move |p| pipe * PIPE + p)).collect(),
            copies: Copies::Chip,
            disciplines: false,
        }
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
        let fit = fit::fit_of_program(program, sources);
        let doubt = fit::doubt_of(program, &fit).map(Box::new);
        Some(Stages { json: fit.to_json(), text: fit.render(), doubt })
    }

    fn foreign(&self, found: &[Diagnostic], sources: &SourceMap) -> Option<Diagnostic> {
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

/// The unsupported architecture of a file of declarations.
fn other_architecture(file: &str) -> Option<&'static str> {
    Some(match file {
        "psa.p4" => "the Portable Switch Architecture",
        "pna.p4" => "the Portable NIC Architecture",
        "t2na.p4" => "Tofino 2",
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

//! bmv2's `psa_switch` as a target: its names and its properties.

use super::load::build;
use super::metadata::{PORTS, RECIRCULATE};
use super::pipeline::Psa;
use super::rules;
use sojourn_p4::diagnostic::Diagnostic;
use sojourn_p4::elaborate::Fresh;
use sojourn_p4::interp::trace::Trace;
use sojourn_p4::ir::Program;
use sojourn_p4::source::SourceMap;
use sojourn_target::faults::Faults;
use sojourn_target::load::LoadOptions;
use sojourn_target::rule::Rule;
use sojourn_target::target::{LoadedProgram, SwitchTraits, Target};

/// Queues of a port, one for each class of service, as in a `psa_switch` built with priority
/// queueing.
pub(crate) const QUEUES: u8 = 8;

/// PSA, as bmv2's `psa_switch` runs it.
#[derive(Clone, Copy, Debug)]
pub struct PsaSwitch;

impl Target for PsaSwitch {
    fn name(&self) -> &'static str {
        "psa"
    }

    fn title(&self) -> &'static str {
        "PSA"
    }

    fn declarations(&self) -> &'static str {
        "psa.p4"
    }

    fn macros(&self) -> &'static [(&'static str, &'static str)] {
        &[("__TARGET_PSA__", "1")]
    }

    fn claims(&self, package: &str, _: Option<&str>) -> bool {
        package == "PSA_Switch"
    }

    fn fresh(&self) -> Fresh {
        // As in bmv2.
        Fresh::Zero
    }

    fn load(
        &self,
        program: Program,
        _sources: &SourceMap,
        options: &LoadOptions,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Option<Box<dyn LoadedProgram>> {
        Some(Box::new(build(program, options, diagnostics)?))
    }

    fn switch(&self) -> SwitchTraits {
        let recirculating = vec![RECIRCULATE.0];
        SwitchTraits { queues: QUEUES, recirculating, ..SwitchTraits::software(PORTS) }
    }

    fn rules(&self) -> Vec<&'static Rule> {
        rules::ALL.to_vec()
    }
}

impl LoadedProgram for Psa {
    fn counted(&self) -> &Faults {
        self.faults()
    }

    fn trace(&mut self) -> Option<&mut Option<Box<Trace>>> {
        Some(&mut self.runtime.trace)
    }
}

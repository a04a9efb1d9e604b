//! bmv2's `simple_switch` as a target: its names and its properties.

use super::load::build;
use super::pipeline::V1Model;
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

/// v1model, as bmv2's `simple_switch` runs it.
#[derive(Clone, Copy, Debug)]
pub struct Bmv2;

impl Target for Bmv2 {
    fn name(&self) -> &'static str {
        "v1model"
    }

    fn declarations(&self) -> &'static str {
        "v1model.p4"
    }

    fn macros(&self) -> &'static [(&'static str, &'static str)] {
        // p4c defines it.
        &[("__TARGET_BMV2__", "1")]
    }

    fn claims(&self, package: &str, _: Option<&str>) -> bool {
        package == "V1Switch"
    }

    fn fresh(&self) -> Fresh {
        // As in bmv2; programs for this architecture rely on it.
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
        SwitchTraits::software(512)
    }

    fn rules(&self) -> Vec<&'static Rule> {
        rules::ALL.to_vec()
    }
}

impl LoadedProgram for V1Model {
    fn counted(&self) -> &Faults {
        self.faults()
    }

    fn trace(&mut self) -> Option<&mut Option<Box<Trace>>> {
        Some(&mut self.runtime.trace)
    }
}

//! The processor as a target: its names and the properties of its switch.

use super::load::build;
use super::plane::Npu;
use super::rules;
use sojourn_p4::diagnostic::Diagnostic;
use sojourn_p4::ir::Program;
use sojourn_p4::source::SourceMap;
use sojourn_target::faults::Faults;
use sojourn_target::load::LoadOptions;
use sojourn_target::rule::Rule;
use sojourn_target::target::{LoadedProgram, SwitchTraits, Target};

/// The network processor of `npu.p4`.
#[derive(Clone, Copy, Debug)]
pub struct NetworkProcessor;

impl Target for NetworkProcessor {
    fn name(&self) -> &'static str {
        "npu"
    }

    fn title(&self) -> &'static str {
        "the NPU"
    }

    fn declarations(&self) -> &'static str {
        "npu.p4"
    }

    fn macros(&self) -> &'static [(&'static str, &'static str)] {
        &[("__TARGET_NPU__", "1")]
    }

    fn claims(&self, package: &str, _: Option<&str>) -> bool {
        package == "NPU"
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
        SwitchTraits::software(64)
    }

    fn rules(&self) -> Vec<&'static Rule> {
        rules::ALL.to_vec()
    }
}

impl LoadedProgram for Npu {
    fn counted(&self) -> &Faults {
        self.faults()
    }
}

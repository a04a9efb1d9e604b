//! Target: the interface of an architecture to the other crates.
//!
//! A loader queries the targets of a [`Targets`] for the one that claims a program. Higher layers
//! query the program's target for the properties of its switch, never for its identity. A target in
//! an external crate is added to a table of that crate. This module must not depend on any
//! architecture.

use crate::faults::Faults;
use crate::load::LoadOptions;
use crate::rule::Rule;
use sojourn_control::runtime_control::RuntimeControl;
use sojourn_p4::diagnostic::Diagnostic;
use sojourn_p4::elaborate::Fresh;
use sojourn_p4::interp::trace::Trace;
use sojourn_p4::ir::Program;
use sojourn_p4::source::SourceMap;
use sojourn_packet::{Bytes, DataPlane};
use std::fmt::Debug;
use std::sync::Arc;

/// An architecture, and the chip or the switch that runs its programs.
pub trait Target: Debug + Sync {
    /// Its name on the command line and in files: `tofino1`.
    fn name(&self) -> &'static str;

    /// What messages call it: `Tofino`.
    fn title(&self) -> &'static str;

    /// The folder of shipped programs that are for it, below `p4/`.
    fn folder(&self) -> &'static str;

    /// The file with its declarations, which programs include: `tna.p4`.
    fn declarations(&self) -> &'static str;

    /// The macros that its compiler defines before the first line, with their values.
    fn macros(&self) -> &'static [(&'static str, &'static str)];

    /// Whether a program whose `main` is of this package is for it. `architecture` is what the
    /// package's declaration states, if anything (`@pkginfo(arch = "TNA")`).
    fn claims(&self, package: &str, architecture: Option<&str>) -> bool;

    /// Makes a data plane of a program, or says what is against it; warnings go there, too. With
    /// `check_only`, parts that are not simulated are warnings.
    fn load(
        &self,
        program: Program,
        sources: &SourceMap,
        options: &LoadOptions,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Option<Box<dyn LoadedProgram>>;

    /// What its switch is like.
    fn switch(&self) -> SwitchTraits;

    /// What is in the fields of a header that becomes valid.
    fn fresh(&self) -> Fresh {
        Fresh::Kept
    }

    /// Whether it has a math unit, which a run may choose a description of.
    fn math_unit(&self) -> bool {
        false
    }

    /// What its programs cannot ask for.
    fn rules(&self) -> Vec<&'static Rule>;

    /// The stages of a program that it has loaded, if it has stages.
    fn stages(&self, _loaded: &dyn LoadedProgram, _sources: &SourceMap) -> Option<Stages> {
        None
    }

    /// That a program is for an architecture that nobody here has, if its errors show that.
    fn foreign(&self, _found: &[Diagnostic], _sources: &SourceMap) -> Option<Diagnostic> {
        None
    }
}

/// A program as its target runs it.
pub trait LoadedProgram: DataPlane + RuntimeControl + Debug {
    /// What it did that its switch cannot do, counted.
    fn counted(&self) -> &Faults;

    /// Where a trace is put for the passes that are to be followed; none for a target whose passes
    /// cannot be.
    fn trace(&mut self) -> Option<&mut Option<Box<Trace>>> {
        None
    }

    /// Gives it the text that it was made of, for what is worked out of that when somebody asks.
    fn keep_text(&mut self, _sources: &Arc<SourceMap>) {}
}

/// A program's stages, by estimate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stages {
    /// What is placed where, as JSON.
    pub json: String,
    /// The same for a terminal.
    pub text: String,
    /// The warning that it may not fit, if so.
    pub doubt: Option<Box<Diagnostic>>,
}

/// What a switch is like that runs programs for a target, as far as targets differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SwitchTraits {
    /// Ports that a program can name, from 0.
    pub ports: u16,
    /// Ports of a pipe, where a chip has several that each run the program for themselves; else all.
    pub pipe_ports: u16,
    /// Queues of each port, unless a control plane says otherwise.
    pub queues: u8,
    /// Whether a control plane may choose how many, 1 to 8.
    pub queues_chosen: bool,
    /// Ports whose packets come back to ingress.
    pub recirculating: Vec<u16>,
    /// Its traffic manager; the switch's defaults if absent.
    pub traffic_manager: Option<TrafficManager>,
    /// How copies and second passes are made.
    pub copies: Copies,
    /// Whether a native discipline may manage the queues under a program: where packets carry what
    /// ingress wrote in front of them, it cannot find their headers.
    pub disciplines: bool,
}

/// The traffic manager of a chip, as far as chips differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrafficManager {
    /// Size of a cell of the packet buffer.
    pub cell: Bytes,
    /// Cells of the buffer.
    pub cells: u32,
    /// The first and the last number of a mirror session.
    pub mirror_sessions: (u16, u16),
    /// Registers of the shapers.
    pub shapers: ShaperRegisters,
}

/// Widths of a shaper's registers, and the clock that counts its refills.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShaperRegisters {
    /// Hz; a shaper is refilled every 80 clocks.
    pub clock: u64,
    /// Bits of a rate's mantissa.
    pub rate_bits: u32,
    /// Bits of a burst's mantissa.
    pub burst_bits: u32,
    /// A mantissa that a small burst shortens is rounded to the nearest.
    pub shortened_to_nearest: bool,
}

/// How copies and second passes of packets are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Copies {
    /// By a mirror buffer with so many entries, one resubmission, and sessions of one direction.
    Chip,
    /// In software: without limits, and every session serves both passes.
    Unlimited,
}

/// A table of targets. The first one speaks up for programs that nobody claims.
#[derive(Clone, Copy, Debug, Default)]
pub struct Targets(pub &'static [&'static dyn Target]);

impl Targets {
    /// All of them.
    pub fn iter(self) -> impl Iterator<Item = &'static dyn Target> {
        self.0.iter().copied()
    }

    /// The one called `name`.
    pub fn named(self, name: &str) -> Option<&'static dyn Target> {
        self.iter().find(|target| target.name() == name)
    }

    /// The one that claims a package.
    pub fn claiming(
        self,
        package: &str,
        architecture: Option<&str>,
    ) -> Option<&'static dyn Target> {
        self.iter().find(|target| target.claims(package, architecture))
    }

    /// The one whose declarations are among the files, if it is not the first.
    pub fn included(self, sources: &SourceMap) -> Option<&'static dyn Target> {
        let name = |path: &str| path.rsplit(['/', '\\']).next().unwrap_or_default().to_owned();
        let names: Vec<String> = sources.files().map(|file| name(&file.path)).collect();
        self.iter().skip(1).find(|target| names.iter().any(|n| n == target.declarations()))
    }

    /// The macros of a program for `target`, unless the caller has named a target already.
    pub fn macros(self, target: &dyn Target, given: &[(String, String)]) -> Vec<(String, String)> {
        let mut all = given.to_vec();
        let mut named = self.iter().flat_map(|target| target.macros());
        if !given.iter().any(|(given, _)| named.any(|(name, _)| name == given)) {
            let own = target.macros().iter();
            all.extend(own.map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        }
        all
    }

    /// The rule of any target with this code, in either case of its letter.
    pub fn rule(self, code: &str) -> Option<&'static Rule> {
        let mut rules = self.iter().flat_map(|target| target.rules());
        rules.find(|rule| rule.code.eq_ignore_ascii_case(code))
    }
}

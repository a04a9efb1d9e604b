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
use sojourn_packet::{Bytes, DataPlane, PacketGenerator, SchedulerNodes, ShaperRegisters};
use std::fmt::Debug;
use std::ops::RangeInclusive;
use std::sync::Arc;

/// An architecture, and the chip or the switch that runs its programs.
pub trait Target: Debug + Sync {
    /// Its name on the command line and in files: `tofino1`.
    fn name(&self) -> &'static str;

    /// Name in messages: `Tofino`. Default: the name.
    fn title(&self) -> &'static str {
        self.name()
    }

    /// The folder of its built-in programs, below `p4/`. Default: the name.
    fn folder(&self) -> &'static str {
        self.name()
    }

    /// The file with its declarations, which programs include: `tna.p4`.
    fn declarations(&self) -> &'static str;

    /// The macros that its compiler defines before the first line, with their values.
    fn macros(&self) -> &'static [(&'static str, &'static str)];

    /// Whether a program whose `main` is of this package is for it. `architecture` is what the
    /// package's declaration states, if anything (`@pkginfo(arch = "TNA")`).
    fn claims(&self, package: &str, architecture: Option<&str>) -> bool;

    /// Builds a data plane of a program, or reports errors; warnings are reported, too. With
    /// `check_only`, parts that are not simulated become warnings.
    fn load(
        &self,
        program: Program,
        sources: &SourceMap,
        options: &LoadOptions,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Option<Box<dyn LoadedProgram>>;

    /// Properties of its switch.
    fn switch(&self) -> SwitchTraits;

    /// Properties of its fixed tables, if its control planes have such.
    fn device_tables(&self) -> Option<DeviceTables> {
        None
    }

    /// Initial fields of a header that becomes valid.
    fn fresh(&self) -> Fresh {
        Fresh::Kept
    }

    /// True if an elaborated program takes reports of queue depths.
    fn takes_depth_reports(&self, _: &Program) -> bool {
        false
    }

    /// Whether it has a math unit, whose model a run may choose.
    fn math_unit(&self) -> bool {
        false
    }

    /// Rules on its programs.
    fn rules(&self) -> Vec<&'static Rule>;

    /// The stages of a program that it has loaded, if it has stages.
    fn stages(&self, _loaded: &dyn LoadedProgram, _sources: &SourceMap) -> Option<Stages> {
        None
    }

    /// Error for a program of an unsupported architecture, if its diagnostics show that.
    fn foreign(&self, _found: &[Diagnostic], _sources: &SourceMap) -> Option<Diagnostic> {
        None
    }
}

/// A program as loaded by its target.
pub trait LoadedProgram: DataPlane + RuntimeControl + Debug {
    /// Faults of the switch's limits, counted.
    fn counted(&self) -> &Faults;

    /// The trace of the passes to be traced; `None` for a target that cannot trace.
    fn trace(&mut self) -> Option<&mut Option<Box<Trace>>> {
        None
    }

    /// Stores the source text, for data that is computed from it on demand.
    fn keep_text(&mut self, _sources: &Arc<SourceMap>) {}
}

/// Estimated stages of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stages {
    /// Placement of the program, as JSON.
    pub json: String,
    /// The same for a terminal.
    pub text: String,
    /// The warning that it may not fit, if any.
    pub doubt: Option<Box<Diagnostic>>,
}

/// Properties in which the switches of targets differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SwitchTraits {
    /// Number of ports that a program can name, from 0.
    pub ports: u16,
    /// Number of ports of a pipe, if a chip has several that each run the program separately; else
    /// of all.
    pub pipe_ports: u16,
    /// Default number of queues of each port.
    pub queues: u8,
    /// Whether a control plane may choose the number, 1 to 8.
    pub queues_chosen: bool,
    /// Ports that recirculate their packets to ingress.
    pub recirculating: Vec<u16>,
    /// Its packet generator, if it has one.
    pub packet_generator: Option<PacketGenerator>,
    /// Its traffic manager; the switch's defaults if absent.
    pub traffic_manager: Option<TrafficManager>,
    /// Copies and second passes.
    pub copies: Copies,
    /// Whether a native discipline may manage the queues under a program: if packets carry
    /// ingress's headers in front, it cannot find theirs.
    pub disciplines: bool,
}

impl SwitchTraits {
    /// Properties of a switch in software with so many ports: one queue a port unless a control plane
    /// chooses more, copies without limits, no packet generator.
    pub fn software(ports: u16) -> SwitchTraits {
        SwitchTraits {
            ports,
            pipe_ports: ports,
            queues: 1,
            queues_chosen: true,
            recirculating: Vec::new(),
            packet_generator: None,
            traffic_manager: None,
            copies: Copies::Unlimited,
            disciplines: true,
        }
    }
}

/// Fixed tables of a chip, as far as chips differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceTables {
    /// Number in the tables' names: 2 for `tf2.tm.port.cfg`.
    pub generation: u8,
    /// Ports of a port group, by whose queues some tables count.
    pub group_ports: u16,
    /// Queues of a group for each of its ports.
    pub port_queues: u16,
    /// Match-action stages.
    pub stages: u32,
    /// Ports that recirculate.
    pub recirculating: Vec<u16>,
    /// Ports of a pipe that the processor can have over Ethernet, and the one over its bus.
    pub processor: (RangeInclusive<u16>, u16),
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
    /// Its scheduler nodes between queues and ports, if it has any.
    pub nodes: Option<SchedulerNodes>,
}

/// Means of a target for copies and second passes of packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Copies {
    /// By a mirror buffer of limited size, one resubmission, and sessions of one direction.
    Chip,
    /// In software: without limits, and every session serves both passes.
    Unlimited,
}

/// A table of targets. The first one reports errors of programs that no target claims.
#[derive(Clone, Copy, Debug, Default)]
pub struct Targets(pub &'static [&'static dyn Target]);

impl Targets {
    /// All of them.
    pub fn iter(self) -> impl Iterator<Item = &'static dyn Target> {
        self.0.iter().copied()
    }

    /// The target with this name.
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

    /// The target whose declarations are among the files, if it is not the first.
    pub fn included(self, sources: &SourceMap) -> Option<&'static dyn Target> {
        let name = |path: &str| path.rsplit(['/', '\\']).next().unwrap_or_default().to_owned();
        let names: Vec<String> = sources.files().map(|file| name(&file.path)).collect();
        self.iter().skip(1).find(|target| names.iter().any(|n| n == target.declarations()))
    }

    /// The macros of a program for `target`, unless the caller has named a target already.
    pub fn macros(self, target: &dyn Target, given: &[(String, String)]) -> Vec<(String, String)> {
        let mut all = given.to_vec();
        let names_target = |name: &str| {
            self.iter().any(|target| target.macros().iter().any(|(own, _)| *own == name))
        };
        if !given.iter().any(|(name, _)| names_target(name)) {
            let own = target.macros().iter();
            all.extend(own.map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        }
        all
    }

    /// The rule of any target with this code, ignoring the case of its letter.
    pub fn rule(self, code: &str) -> Option<&'static Rule> {
        let mut rules = self.iter().flat_map(|target| target.rules());
        rules.find(|rule| rule.code.eq_ignore_ascii_case(code))
    }
}

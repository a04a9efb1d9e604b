//! Configuration of a run, including its P4 programs, as plain data for JSON.
//!
//! `sojourn_net` configures network, flows and native disciplines; this module configures P4
//! programs. It names files and does not read them.

use serde::{Deserialize, Serialize};
use sojourn_control::ControlPlane;
use sojourn_control::Operation;
use sojourn_net::ConfigError;
use sojourn_net::config::{NativeAqm, invalid, within};
use sojourn_packet::{ReportMode, Time, WordOrder};
use sojourn_switch::DepthReportConfig;
use sojourn_target::observer::TraceRequest;
use sojourn_target::{Executor, ExponentParity, LoadOptions, ProgramText};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// One run.
pub type RunConfig = sojourn_net::RunConfig<Aqm>;

/// AQM of a bottleneck's queue.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Aqm {
    /// A discipline built into the switch.
    Native(NativeAqm),
    /// A P4 program.
    P4(Box<P4Aqm>),
}

/// A P4 program and how to load it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct P4Aqm {
    /// Path of the program's source text.
    pub program: String,
    /// The program's text, instead of a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<ProgramText>,
    /// Target that the program must be for; any if absent.
    #[serde(default)]
    pub architecture: Option<String>,
    /// Rounding of the mantissa in the stateful ALU's math unit.
    #[serde(default)]
    pub math_unit: ExponentParity,
    /// Executor of the program.
    #[serde(default, skip_serializing_if = "is_default")]
    pub executor: Executor,
    /// Search path of `#include`.
    #[serde(default)]
    pub include_paths: Vec<String>,
    /// Preprocessor definitions.
    #[serde(default)]
    pub defines: BTreeMap<String, String>,
    /// Table entries, mirror sessions, queues.
    #[serde(default)]
    pub control: ControlPlane,
    /// Control-plane operations during the run, in order of time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub later: Vec<ControlStep>,
    /// Discipline of the queues under the program; tail drop if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub discipline: Option<NativeAqm>,
    /// Depth reports to the program's ghost thread; the defaults if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ghost: Option<Ghost>,
    /// Time from a deparser that writes `adv_flow_ctl` to the effect, ns; the default if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow_control_delay: Option<u64>,
    /// Registers whose values are recorded over time, by name: `codel.count`, `codel.count[0..7]`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub trace: Vec<String>,
    /// Packets, by number, whose passes are traced step by step.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub follow: Vec<u64>,
}

/// Depth reports of the traffic manager to a ghost thread.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Ghost {
    /// From a change of a queue to the pass of the ghost thread, ns.
    pub delay: u64,
    /// Least time between two reports, ns.
    pub interval: u64,
    /// Reports that may wait.
    pub waiting: u32,
    /// Cells in one unit of `qlength`.
    pub cells: u32,
    /// Bit order of the word.
    pub order: WordOrder,
    /// Changes that are reported.
    pub mode: ReportMode,
}

impl Default for Ghost {
    fn default() -> Ghost {
        let DepthReportConfig { delay, interval, waiting, cells, order, mode } =
            DepthReportConfig::default();
        let (delay, interval, waiting) = (delay.0, interval.0, waiting as u32);
        Ghost { delay, interval, waiting, cells, order, mode }
    }
}

impl Ghost {
    /// The same as the switch takes it.
    pub fn depth_reports(self) -> DepthReportConfig {
        let Ghost { delay, interval, waiting, cells, order, mode } = self;
        let (delay, interval, waiting) = (Time(delay), Time(interval), waiting as usize);
        DepthReportConfig { delay, interval, waiting, cells, order, mode }
    }

    fn check(&self) -> Result<(), ConfigError> {
        let second = 1_000_000_000;
        within("aqm.ghost.delay", self.delay, 0..=second)?;
        within("aqm.ghost.interval", self.interval, 0..=second)?;
        within("aqm.ghost.waiting", self.waiting.into(), 1..=65_536)?;
        within("aqm.ghost.cells", self.cells.into(), 1..=2)
    }
}

fn is_default(executor: &Executor) -> bool {
    *executor == Executor::default()
}

/// A further program of a chip, in pipes of its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FurtherProgram {
    /// The pipes that run it; the first pipe runs the first program.
    pub pipes: Vec<u16>,
    /// The program.
    pub p4: P4Aqm,
}

/// A batch of operations at a given time: all of them are applied, or none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ControlStep {
    /// Time, ns.
    pub at: u64,
    /// Operations at that time.
    pub operations: Vec<Operation>,
}

impl P4Aqm {
    /// Requested observations of the program.
    pub fn trace_request(&self) -> TraceRequest {
        let packets = self.follow.iter().copied().collect();
        TraceRequest { packets, registers: self.trace.clone(), ..TraceRequest::default() }
    }

    /// Options for loading its program.
    pub fn load_options(&self) -> LoadOptions {
        LoadOptions {
            include_paths: self.include_paths.iter().map(PathBuf::from).collect(),
            defines: self.defines.clone().into_iter().collect(),
            math_unit: self.math_unit,
            executor: self.executor,
            ..crate::builtin::load_options()
        }
    }
}

impl Aqm {
    /// Validates everything that does not need a program's text.
    ///
    /// # Errors
    /// Returns an error for an unknown discipline or parameter, a value out of range, or a missing
    /// program.
    pub fn check(&self) -> Result<(), ConfigError> {
        match self {
            Aqm::P4(p4) if p4.program.is_empty() => {
                Err(invalid("aqm.program", "\"\"", "the path of a P4 program"))
            }
            Aqm::P4(p4) => {
                p4.ghost.as_ref().map_or(Ok(()), Ghost::check)?;
                let delay = p4.flow_control_delay.unwrap_or_default();
                within("aqm.flow_control_delay", delay, 0..=1_000_000_000)?;
                match &p4.discipline {
                    Some(discipline) => Aqm::Native(discipline.clone()).check(),
                    None => Ok(()),
                }
            }
            Aqm::Native(_) => self.on_switch().check(),
        }
    }

    /// The same as a configuration of a switch, which receives a loaded program.
    pub fn on_switch(&self) -> sojourn_net::config::Aqm {
        match self {
            Aqm::Native(native) => sojourn_net::config::Aqm::Native(native.clone()),
            Aqm::P4(_) => sojourn_net::config::Aqm::SwitchPlane,
        }
    }
}

/// Parses and validates a run's configuration in JSON.
///
/// # Errors
/// [`ConfigError`] names the key and the allowed values.
pub fn read(json: &str) -> Result<RunConfig, ConfigError> {
    let config: RunConfig =
        serde_json::from_str(json).map_err(|error| ConfigError::Json(error.to_string()))?;
    config.aqms().into_iter().chain([&config.aqm]).try_for_each(Aqm::check)?;
    config.with_aqms(Aqm::on_switch).check()?;
    Ok(config)
}

#[cfg(test)]
mod tests;

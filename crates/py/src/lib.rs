//! The extension module `sojourn._core`: the interface between the engine and Python.
//!
//! Uses the crates below and translates: JSON to configurations, columns to bytes, typed errors to
//! exceptions. Must not contain behaviour of its own.

mod agent;
mod columns;
mod commands;
mod discipline;
mod entries;
mod errors;
mod links;
mod live;
mod operations;
mod packet_switch;
mod program;
mod replay;
mod rules;
mod servers;
mod simulation;
mod tofino;
mod virtual_server;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sojourn_net::tcp::congestion;
use sojourn_switch::discipline::{self as disciplines, DisciplineError, REGISTRY, Registered};
use std::collections::BTreeMap;
use std::path::PathBuf;

#[pymodule(gil_used = false)]
mod _core {
    use super::*;

    #[pymodule_export]
    use super::agent::{ControlledQueue, add_controlled_queue};
    #[pymodule_export]
    use super::columns::{Columns, row_columns, verdicts};
    #[pymodule_export]
    use super::commands::{Commands, uncommented};
    #[pymodule_export]
    use super::discipline::{QueueState, QueuedPacket, add_python_discipline};
    #[pymodule_export]
    use super::entries::{Entries, Text, take_entries};
    #[pymodule_export]
    use super::errors::{ConfigError, ProgramError, SojournError};
    #[pymodule_export]
    use super::live::{LiveSwitch, drive_switch};
    #[pymodule_export]
    use super::operations::Operations;
    #[pymodule_export]
    use super::packet_switch::PacketSwitch;
    #[pymodule_export]
    use super::program::{Program, Verdict, check, inspect, targets};
    #[pymodule_export]
    use super::replay::{QueueReplay, Replay, SyntheticTrace};
    #[pymodule_export]
    use super::rules::{explain, rule_list};
    #[pymodule_export]
    use super::servers::ControlServer;
    #[pymodule_export]
    use super::simulation::{
        Configuration, Simulation, check_config, default_network, shaper_as_built, start_jitter,
        workload,
    };
    #[pymodule_export]
    use super::tofino::run_salu;
    #[pymodule_export]
    use super::virtual_server::VirtualServer;

    #[pymodule_init]
    fn init(_: &Bound<'_, PyModule>) -> PyResult<()> {
        sojourn_verilog::declare();
        Ok(())
    }

    /// Name, kind, unit, default and one-line description of a parameter.
    type Parameter = (&'static str, &'static str, &'static str, Option<u64>, &'static str);

    /// Name, one-line description and parameters of every native queue discipline, and of the
    /// reference of hardware modules, whose parameters are those of every module.
    #[pyfunction]
    fn native_disciplines() -> Vec<(&'static str, &'static str, Vec<Parameter>)> {
        let parameters = |d: &Registered| {
            d.parameters
                .iter()
                .map(|p| (p.name, p.kind.name(), p.kind.unit(), p.default, p.summary))
                .collect()
        };
        REGISTRY.all().into_iter().map(|d| (d.name, d.summary, parameters(d))).collect()
    }

    /// The interface definitions of P4Runtime and BfRt, a `FileDescriptorSet` with all their
    /// imports.
    #[pyfunction]
    fn definitions(py: Python<'_>) -> Bound<'_, PyBytes> {
        PyBytes::new(py, sojourn_protocols::DEFINITIONS)
    }

    /// Names of the supported `simple_switch_CLI` commands.
    #[pyfunction]
    fn switch_commands() -> Vec<&'static str> {
        sojourn_control::commands::names().collect()
    }

    /// Name, one-line description and the Linux kernel's name of every congestion control.
    #[pyfunction]
    fn congestion_controls() -> Vec<(&'static str, &'static str, Option<&'static str>)> {
        congestion::REGISTRY.all().into_iter().map(|c| (c.name, c.summary, c.linux)).collect()
    }

    /// Adds the hardware module in the library at `path` to the disciplines, under `name`; an
    /// existing one remains.
    #[pyfunction]
    fn add_hardware_module(name: &str, path: PathBuf) -> PyResult<()> {
        sojourn_verilog::add(name, &path).map_err(|error| SojournError::new_err(error.to_string()))
    }

    /// Name, value, minimum and maximum of a parameter that is out of range, if there is one.
    #[pyfunction]
    fn check_discipline(
        name: &str,
        parameters: BTreeMap<String, u64>,
    ) -> PyResult<Option<(&'static str, u64, u64, u64)>> {
        let given: Vec<_> =
            parameters.iter().map(|(name, value)| (name.as_str(), *value)).collect();
        match disciplines::build(name, &given) {
            Ok(_) => Ok(None),
            Err(DisciplineError::Value { parameter, value, allowed, .. }) => {
                Ok(Some((parameter, value, allowed.least, allowed.most)))
            }
            Err(other) => Err(PyValueError::new_err(other.to_string())),
        }
    }
}

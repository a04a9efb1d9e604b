//! Replays and synthetic traces as Python objects; rows are passed as little-endian columns.

use crate::columns::columns;
use crate::errors::ConfigError;
use crate::program::{Program, handed, run_refused};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use sojourn_engine::replay::{self, ReplayConfig, StepRows, SyntheticConfig, TraceRows};
use sojourn_net::records::Rows;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// Replay of a trace's packets through an AQM, from a configuration in JSON.
#[pyclass(module = "sojourn._core")]
pub struct Replay {
    // Never contended: Python may pass the object to another thread, which requires a mutex.
    replay: Mutex<replay::Replay>,
}

#[pymethods]
impl Replay {
    /// `programs` are the compiled programs that the configuration names.
    #[new]
    #[pyo3(signature = (config, programs = Vec::new()))]
    fn new(py: Python<'_>, config: &str, programs: Vec<PyRef<'_, Program>>) -> PyResult<Replay> {
        let config = ReplayConfig::from_json(config).map_err(refused)?;
        let programs = handed(&programs);
        let replay = py.detach(|| replay::Replay::with(&config, &programs));
        let replay = replay.map_err(|error| run_refused(&error))?;
        Ok(Replay { replay: Mutex::new(replay) })
    }

    /// The decisions about the next rows of the trace, one byte each.
    fn decide<'py>(
        &mut self,
        py: Python<'py>,
        rows: BTreeMap<String, Vec<u8>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let rows = TraceRows::read(|name| rows.get(name).map(Vec::as_slice))
            .map_err(|name| ConfigError::new_err(format!("the trace has no column `{name}`")))?;
        let replay = self.replay.get_mut().unwrap_or_else(PoisonError::into_inner);
        let decisions = py.detach(|| {
            let decide = |row| replay.decide(&row).map(replay::Decision::bits);
            rows.rows().map(decide).collect::<Result<Vec<u8>, _>>()
        });
        Ok(PyBytes::new(py, &decisions.map_err(refused)?))
    }

    /// Mirrored copies so far: requested, without a session, and their passes.
    fn copies(&mut self) -> (u64, u64, u64) {
        let copies = self.replay.get_mut().unwrap_or_else(PoisonError::into_inner).copies();
        (copies.requested, copies.no_session, copies.passes)
    }

    /// Faults of the program so far, by kind, as JSON.
    fn faults(&mut self) -> PyResult<String> {
        let replay = self.replay.get_mut().unwrap_or_else(PoisonError::into_inner);
        serde_json::to_string(&replay.faults()).map_err(refused)
    }
}

/// Replay of arrivals and departures through a discipline with a queue of its own, from a
/// configuration in JSON.
#[pyclass(module = "sojourn._core")]
pub struct QueueReplay {
    replay: Mutex<replay::QueueReplay>,
}

#[pymethods]
impl QueueReplay {
    #[new]
    fn new(config: &str) -> PyResult<QueueReplay> {
        let native = serde_json::from_str(config).map_err(refused)?;
        let replay = replay::QueueReplay::new(&native).map_err(refused)?;
        Ok(QueueReplay { replay: Mutex::new(replay) })
    }

    /// Executes steps; returns the fates of packets meanwhile.
    fn carry_out<'py>(
        &mut self,
        py: Python<'py>,
        steps: BTreeMap<String, Vec<u8>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let steps = StepRows::read(|name| steps.get(name).map(Vec::as_slice))
            .map_err(|name| ConfigError::new_err(format!("the steps have no column `{name}`")))?;
        let replay = self.replay.get_mut().unwrap_or_else(PoisonError::into_inner);
        let fates = py.detach(|| replay.execute(&steps));
        columns(py, &fates)
    }

    /// The discipline's own counters.
    fn counters(&mut self) -> BTreeMap<&'static str, u64> {
        let replay = self.replay.get_mut().unwrap_or_else(PoisonError::into_inner);
        replay.counters().into_iter().collect()
    }

    /// Faults of a hardware module, as JSON.
    fn faults(&mut self) -> PyResult<String> {
        let replay = self.replay.get_mut().unwrap_or_else(PoisonError::into_inner);
        serde_json::to_string(&replay.faults()).map_err(refused)
    }
}

/// A synthetic trace, from a configuration in JSON.
#[pyclass(module = "sojourn._core")]
pub struct SyntheticTrace {
    trace: Mutex<replay::Synthetic>,
}

#[pymethods]
impl SyntheticTrace {
    #[new]
    fn new(config: &str) -> PyResult<SyntheticTrace> {
        let config = SyntheticConfig::from_json(config).map_err(refused)?;
        let trace = replay::Synthetic::new(config).map_err(refused)?;
        Ok(SyntheticTrace { trace: Mutex::new(trace) })
    }

    /// The next rows, at most `most`; none at the end of the trace.
    fn take<'py>(&mut self, py: Python<'py>, most: usize) -> PyResult<Bound<'py, PyDict>> {
        let trace = self.trace.get_mut().unwrap_or_else(PoisonError::into_inner);
        let mut rows = TraceRows::default();
        py.detach(|| trace.take(most).for_each(|row| rows.push(&row)));
        columns(py, &rows)
    }
}

fn refused(error: impl ToString) -> PyErr {
    ConfigError::new_err(error.to_string())
}

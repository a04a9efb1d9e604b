//! A run as a Python object: advanced without the interpreter lock, with columns as output.

use crate::columns::{self, Columns, PacketRoom};
use crate::entries::EntriesOrText;
use crate::errors::{ConfigError, SojournError};
use crate::operations::{OperationsArg, batch_refused};
use crate::packet_switch::{read, wrong};
use crate::program::{Program, handed, run_refused};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sojourn_control::Query;
use sojourn_control::describe;
use sojourn_engine::config::{self, Aqm, RunConfig};
use sojourn_engine::control;
use sojourn_engine::{Watched, WatchedRegisters};
use sojourn_net::RunReport;
use sojourn_packet::{Packet, Rate, Time};
use sojourn_switch::Switch;
use std::sync::{Arc, Mutex, PoisonError};

/// Validates a run's configuration and loads its program, without building the run.
#[pyfunction]
#[pyo3(signature = (config, programs = Vec::new()))]
pub fn check_config(
    py: Python<'_>,
    config: ConfigArg<'_>,
    programs: Vec<PyRef<'_, Program>>,
) -> PyResult<()> {
    let (config, programs) = (config.read()?, handed(&programs));
    py.detach(|| programs.planes(&config)).map(|_| ()).map_err(|error| run_refused(&error))
}

/// Random delay of a flow's start under a seed, ns.
#[pyfunction]
pub fn start_jitter(seed: u64, flow: u32) -> u64 {
    sojourn_net::start_jitter(seed, flow).as_nanos()
}

/// Default network of a run, as JSON, with all default values.
#[pyfunction]
pub fn default_network() -> PyResult<String> {
    serde_json::to_string(&sojourn_net::config::NetworkSection::<Aqm>::default())
        .map_err(|error| pyo3::exceptions::PyRuntimeError::new_err(error.to_string()))
}

/// Shaper as the switch's hardware implements it: rate in bit/s and burst in bytes.
#[pyfunction]
pub fn shaper_as_built(rate: u64, burst: u64) -> PyResult<(u64, u64)> {
    sojourn_engine::switch_setup::shaper_as_built(Rate(rate), burst)
        .map_err(|refused| ConfigError::new_err(refused.to_string()))
}

/// Flows that the simulator would draw for a configuration, as JSON: a list in their order.
#[pyfunction]
pub fn workload(py: Python<'_>, config: &str) -> PyResult<String> {
    let config = read_config(config)?;
    let drawn = py.detach(|| sojourn_net::workload(&config.with_aqms(Aqm::on_switch)));
    serde_json::to_string(&drawn)
        .map_err(|error| pyo3::exceptions::PyRuntimeError::new_err(error.to_string()))
}

fn read_config(config: &str) -> PyResult<RunConfig> {
    config::read(config).map_err(|error| ConfigError::new_err(error.to_string()))
}

/// A run's configuration, parsed from JSON and validated once.
#[pyclass(module = "sojourn._core", frozen)]
pub struct Configuration {
    config: Arc<RunConfig>,
}

#[pymethods]
impl Configuration {
    /// Entries of `beside` replace empty parts in the control planes of `config`: the index of a
    /// switch with an AQM of its own, the index of a table, and the table's entries; or the text of
    /// the commands.
    #[new]
    #[pyo3(signature = (config, beside = Vec::new()))]
    fn new(
        config: &str,
        beside: Vec<(Option<usize>, usize, EntriesOrText<'_>)>,
    ) -> PyResult<Configuration> {
        let mut config = read_config(config)?;
        for (switch, table, given) in beside {
            let aqm = match switch {
                None => Some(&mut config.aqm),
                Some(place) => {
                    let switch = config.network.switches.get_mut(place);
                    switch.and_then(|switch| switch.aqm.as_mut())
                }
            };
            let put = match aqm {
                Some(Aqm::P4(p4)) => given.put_into(&mut p4.control, table),
                _ => None,
            };
            put.ok_or_else(|| wrong("what is beside the configuration has no place in it"))?;
        }
        Ok(Configuration { config: Arc::new(config) })
    }
}

/// A configuration as JSON, or already parsed.
#[derive(FromPyObject)]
pub enum ConfigArg<'py> {
    Read(PyRef<'py, Configuration>),
    Json(String),
}

impl ConfigArg<'_> {
    fn read(&self) -> PyResult<Arc<RunConfig>> {
        match self {
            ConfigArg::Read(read) => Ok(read.config.clone()),
            ConfigArg::Json(json) => read_config(json).map(Arc::new),
        }
    }
}

/// One run, from a configuration in JSON. Reads no clock: the caller sets how far it runs.
#[pyclass(module = "sojourn._core")]
pub struct Simulation {
    config: Arc<RunConfig>,
    // Never contended: Python may pass the object to another thread, which requires a mutex.
    run: Mutex<sojourn_net::Simulation>,
    /// Observations of its programs, if requested.
    watched: WatchedRegisters,
    room: PacketRoom,
}

impl Simulation {
    /// Its configuration.
    pub fn config(&self) -> &Arc<RunConfig> {
        &self.config
    }

    /// The run.
    pub fn run(&mut self) -> &mut sojourn_net::Simulation {
        self.run.get_mut().unwrap_or_else(PoisonError::into_inner)
    }

    /// Executes work on a switch.
    fn with_switch<T>(
        &mut self,
        place: u16,
        work: impl FnOnce(&mut Switch, Time) -> PyResult<T>,
    ) -> PyResult<T> {
        let done = self.run().with_switch(place, work);
        done.ok_or_else(|| wrong(format!("there is no switch {place}")))?
    }
}

#[pymethods]
impl Simulation {
    /// `programs` are the compiled programs that the configuration names.
    #[new]
    #[pyo3(signature = (config, programs = Vec::new()))]
    fn new(
        py: Python<'_>,
        config: ConfigArg<'_>,
        programs: Vec<PyRef<'_, Program>>,
    ) -> PyResult<Simulation> {
        let (config, programs) = (config.read()?, handed(&programs));
        let run = py.detach(|| sojourn_engine::watched_simulation(&config, &programs));
        let (run, watched) = run.map_err(|error| run_refused(&error))?;
        let watched = WatchedRegisters::new(watched);
        let run = Mutex::new(run);
        Ok(Simulation { config, run, watched, room: PacketRoom::default() })
    }

    /// Sets the maximum number of threads; results do not depend on it.
    fn use_threads(&mut self, threads: usize) {
        self.run().use_threads(threads);
    }

    /// Runs until `until` ns, the end, or until `max_rows` packet rows wait. `SojournError` if a
    /// discipline ends the run; the rows until then can be taken.
    fn advance(&mut self, py: Python<'_>, until: u64, max_rows: usize) -> PyResult<()> {
        // Not when rows are taken: whoever is done with them at once gives their own room back.
        let room = self.room.clone();
        let run = self.run();
        run.reuse_room(|| room.take());
        py.detach(|| run.advance(Time(until), max_rows));
        match run.halted() {
            Some(reason) => Err(SojournError::new_err(reason.to_owned())),
            None => Ok(()),
        }
    }

    /// Current virtual time, ns.
    #[getter]
    fn now(&mut self) -> u64 {
        self.run().now().as_nanos()
    }

    /// True once the configured duration has passed.
    #[getter]
    fn finished(&mut self) -> bool {
        self.run().finished()
    }

    /// Number of observed ports.
    #[getter]
    fn bottlenecks(&mut self) -> usize {
        self.run().bottlenecks()
    }

    /// Number of pending rows of all kinds and captured frames.
    #[getter]
    fn waiting(&mut self) -> usize {
        self.run().waiting()
    }

    /// Pending packet rows of a bottleneck, as little-endian columns.
    #[pyo3(signature = (bottleneck = 0))]
    fn take_packets(&mut self, bottleneck: usize) -> Columns {
        let rows = self.run().take_packets_of(bottleneck);
        Columns::of_packets(rows, &self.room)
    }

    /// Pending flow samples, as little-endian columns.
    fn take_flows(&mut self) -> Columns {
        Columns::new(self.run().take_flows())
    }

    /// Pending transfers and requests, as little-endian columns.
    fn take_exchanges(&mut self) -> Columns {
        Columns::new(self.run().take_exchanges())
    }

    /// Pending voice datagrams, as little-endian columns.
    fn take_datagrams(&mut self) -> Columns {
        Columns::new(self.run().take_datagrams())
    }

    /// Pending captured frames of a measured queue: time in ns, point (0 entered, 1 left), bytes,
    /// length on wire.
    #[pyo3(signature = (bottleneck = 0))]
    fn take_capture<'py>(
        &mut self,
        py: Python<'py>,
        bottleneck: usize,
    ) -> Vec<columns::Frame<'py>> {
        columns::frames(py, &self.run().take_capture_of(bottleneck))
    }

    /// Full names of the registers that have appeared in rows; with several programs each is
    /// prefixed with its program's number.
    fn watched_registers(&self) -> Vec<String> {
        self.watched.names()
    }

    /// Pending register changes, as little-endian columns.
    fn take_registers(&mut self) -> Columns {
        Columns::new(self.watched.take())
    }

    /// Traced passes since the last call, as JSON.
    fn take_passes(&mut self) -> PyResult<String> {
        let passes: Vec<_> =
            self.watched.programs().iter().flat_map(Watched::take_passes).collect();
        serde_json::to_string(&passes)
            .map_err(|error| pyo3::exceptions::PyRuntimeError::new_err(error.to_string()))
    }

    /// Lines that the program wrote into its log since the last call: the number of lost ones, then
    /// time in ns and text of each.
    fn take_log(&mut self) -> (u64, Vec<(u64, String)>) {
        let log = self.run().take_log();
        let lines = log.lines.into_iter().map(|line| (line.at.as_nanos(), line.text));
        (log.lost, lines.collect())
    }

    /// Tables, actions, registers and other objects of a switch's program, as JSON; `switch` is its
    /// index in the network.
    fn describe(&mut self, switch: u16) -> PyResult<String> {
        self.with_switch(switch, |switch, _| {
            let program = control::program(switch).map_err(wrong)?;
            serde_json::to_string(&describe(program.program())).map_err(wrong)
        })
    }

    /// Applies operations to a switch now, collected or a list in JSON, all of them or none;
    /// returns the handle of each entry that was added individually.
    fn apply(&mut self, switch: u16, operations: OperationsArg<'_>) -> PyResult<Vec<Option<u32>>> {
        let batch = operations.read()?;
        self.with_switch(switch, |switch, now| {
            control::apply(switch, &batch, now).map_err(batch_refused(&batch))
        })
    }

    /// Answers a query in JSON, as JSON.
    #[pyo3(signature = (switch, query, pipe=0))]
    fn read(&mut self, switch: u16, query: &str, pipe: usize) -> PyResult<String> {
        let query: Query = read(query)?;
        self.with_switch(switch, |switch, _| {
            let pipes = control::pipes(switch);
            if pipe >= pipes.max(1) {
                let last = pipes.saturating_sub(1);
                let refused = format!("the switch has no pipe {pipe}; its pipes are 0 to {last}");
                return Err(wrong(refused));
            }
            let reply = control::read_of(switch, pipe, &query).map_err(wrong)?;
            serde_json::to_string(&reply).map_err(wrong)
        })
    }

    /// Messages of a switch's program to its control plane since the last call: name, time in ns,
    /// bytes.
    fn take_digests<'py>(
        &mut self,
        py: Python<'py>,
        switch: u16,
    ) -> PyResult<Vec<crate::packet_switch::Message<'py>>> {
        let taken = self.with_switch(switch, |switch, _| {
            Ok(control::program(switch).map_err(wrong)?.take_digests())
        });
        Ok(crate::packet_switch::messages(py, taken?))
    }

    /// Packets that a switch sent to its controller since the last call: time in ns, bytes.
    fn take_controllers_packets<'py>(
        &mut self,
        py: Python<'py>,
        switch: u16,
    ) -> Vec<(u64, Bound<'py, PyBytes>)> {
        let frame = |(at, packet): (Time, Packet)| (at.0, PyBytes::new(py, &packet.into_frame()));
        self.run().take_controllers_packets(switch).into_iter().map(frame).collect()
    }

    /// Injects a controller's frame at its port of a switch now.
    fn packet_out(&mut self, switch: u16, frame: Vec<u8>) -> PyResult<()> {
        match self.run().packet_out(switch, frame) {
            true => Ok(()),
            false => Err(wrong("this switch has no port for its controller")),
        }
    }

    /// Counters of a switch, as JSON.
    fn switch_report(&mut self, switch: u16) -> PyResult<String> {
        self.with_switch(switch, |switch, _| {
            serde_json::to_string(&switch.statistics()).map_err(wrong)
        })
    }

    /// The counters so far, with the number of log lines of programs, as JSON, one a line.
    fn counters(&mut self, log_lines: u64) -> PyResult<String> {
        let report = self.run().report();
        serde_json::to_string_pretty(&Counters { report, log_lines })
            .map_err(|error| pyo3::exceptions::PyRuntimeError::new_err(error.to_string()))
    }
}

/// Contents of a run's file of counters.
#[derive(serde::Serialize)]
struct Counters {
    #[serde(flatten)]
    report: RunReport,
    log_lines: u64,
}

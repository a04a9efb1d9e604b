//! A run as a Python object: advanced without the interpreter lock, read as columns.

use crate::columns::{self, Columns, PacketRoom};
use crate::entries::EntriesOrText;
use crate::errors::ConfigError;
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

/// Checks a run's configuration, and that its program can be loaded, without building the run.
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
    sojourn_engine::switch_setup::shaper_as_built(Rate(rate), burst).map_err(|refused| {
        let (what, value, allowed) = (refused.what, refused.value, refused.allowed);
        ConfigError::new_err(format!("{what} is {value}, allowed is {allowed}"))
    })
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

/// A run's configuration, read from JSON once and checked for itself.
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

/// A configuration as JSON, or read already.
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
    // Never contended: Python may pass the object to another thread, which requires a mutex.
    run: Mutex<sojourn_net::Simulation>,
    /// Observations of its programs, if requested.
    watched: WatchedRegisters,
    room: PacketRoom,
}

impl Simulation {
    fn run(&mut self) -> &mut sojourn_net::Simulation {
        self.run.get_mut().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does something with a switch.
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
    /// `programs` are those that the configuration names as compiled.
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
        Ok(Simulation { run: Mutex::new(run), watched, room: PacketRoom::default() })
    }

    /// Uses up to so many threads from here on; what happens is the same with any number.
    fn use_threads(&mut self, threads: usize) {
        self.run().use_threads(threads);
    }

    /// Runs until `until` ns, the end, or until `max_rows` packet rows wait.
    fn advance(&mut self, py: Python<'_>, until: u64, max_rows: usize) {
        // Set here, not when rows are taken: a consumer that finishes its rows at once returns
        // their memory itself.
        let room = self.room.clone();
        let run = self.run();
        run.reuse_room(|| room.take());
        py.detach(|| run.advance(Time(until), max_rows));
    }

    /// The instant up to which everything has happened, ns.
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

    /// Rows of all kinds and captured frames that wait to be taken.
    #[getter]
    fn waiting(&mut self) -> usize {
        self.run().waiting()
    }

    /// The packet rows that wait at a bottleneck, as little-endian columns.
    #[pyo3(signature = (bottleneck = 0))]
    fn take_packets(&mut self, bottleneck: usize) -> Columns {
        let rows = self.run().take_packets_of(bottleneck);
        Columns::of_packets(rows, &self.room)
    }

    /// The flow samples that wait, as little-endian columns.
    fn take_flows(&mut self) -> Columns {
        Columns::new(self.run().take_flows())
    }

    /// The transfers and requests that wait, as little-endian columns.
    fn take_exchanges(&mut self) -> Columns {
        Columns::new(self.run().take_exchanges())
    }

    /// The datagrams of voices that wait, as little-endian columns.
    fn take_datagrams(&mut self) -> Columns {
        Columns::new(self.run().take_datagrams())
    }

    /// The captured frames that wait at a measured queue: time in ns, point (0 entered, 1 left),
    /// bytes, length on wire.
    #[pyo3(signature = (bottleneck = 0))]
    fn take_capture<'py>(
        &mut self,
        py: Python<'py>,
        bottleneck: usize,
    ) -> Vec<columns::Frame<'py>> {
        columns::frames(py, &self.run().take_capture_of(bottleneck))
    }

    /// The registers that rows were of so far, by full name; with several programs each behind the
    /// number of its program.
    fn watched_registers(&self) -> Vec<String> {
        self.watched.names()
    }

    /// The changes of registers that wait, as little-endian columns.
    fn take_registers(&mut self) -> Columns {
        Columns::new(self.watched.take())
    }

    /// The passes of packets that were followed since the last call, as JSON.
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

    /// Tables, actions, registers and the rest of a switch's program, as JSON; `switch` is its place
    /// in the network.
    fn describe(&mut self, switch: u16) -> PyResult<String> {
        self.with_switch(switch, |switch, _| {
            let program = control::program(switch).map_err(wrong)?;
            serde_json::to_string(&describe(program.program())).map_err(wrong)
        })
    }

    /// Carries out operations on a switch now, gathered or a list in JSON, all of them or none; the
    /// handle of each entry that was added alone.
    fn apply(&mut self, switch: u16, operations: OperationsArg<'_>) -> PyResult<Vec<Option<u32>>> {
        let batch = operations.read()?;
        self.with_switch(switch, |switch, now| {
            control::apply(switch, &batch, now).map_err(batch_refused(&batch))
        })
    }

    /// Answers a query in JSON, as JSON.
    fn read(&mut self, switch: u16, query: &str) -> PyResult<String> {
        let query: Query = read(query)?;
        self.with_switch(switch, |switch, _| {
            let reply = control::read(switch, &query).map_err(wrong)?;
            serde_json::to_string(&reply).map_err(wrong)
        })
    }

    /// The messages of a switch's program to its control plane since the last call: name, time in
    /// ns, bytes.
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
        let told = |(at, packet): (Time, Packet)| {
            let mut bytes = packet.bytes;
            bytes.resize(bytes.len() + packet.zeros as usize, 0);
            (at.0, PyBytes::new(py, &bytes))
        };
        self.run().take_controllers_packets(switch).into_iter().map(told).collect()
    }

    /// Has a frame of the controller's reach its port of a switch now.
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

    /// The counters so far with how many lines programs have logged, as JSON, a line each.
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

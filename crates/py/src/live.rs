//! Live switch as a Python object: start, queries, stop, and rows as columns.

use crate::columns::{self, Columns};
use crate::errors::{ConfigError, SojournError};
use crate::links::LinkSet;
use crate::packet_switch::{read, wrong};
use crate::program::{Program, handed, run_refused};
use crate::servers::{LiveDevice, ToController};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sojourn_control::describe;
use sojourn_control::{Operation, Query};
use sojourn_engine::control::{self, BatchError};
use sojourn_engine::{StandaloneConfig, drive, standalone};
use sojourn_live::{
    Arrived, CpuSender, Direction, FlowKey, Flows, Link, Live, LivePort, LiveReport, Options,
    WayChange, cpu_port, open,
};
use sojourn_net::{CapturedFrame, PacketRows};
use sojourn_packet::{Packet, PacketId, PortId, Rate, Time};
use sojourn_switch::{Observation, Statistics, Switch};
use std::collections::BTreeMap;
use std::mem;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Maximum number of recorded arrivals waiting to be taken.
const ARRIVALS: usize = 1 << 18;

/// Pending rows and frames of one port.
#[derive(Default)]
struct Waiting {
    rows: PacketRows,
    frames: Vec<CapturedFrame>,
}

enum State {
    Running(Live),
    Stopped(Box<Stopped>),
    Lost,
}

/// Final state of a stopped switch.
struct Stopped {
    told: (LiveReport, Statistics),
    flows: Vec<FlowKey>,
}

type ByPort = BTreeMap<u16, Waiting>;
/// A received frame: time in ns, port, bytes.
type Arrival<'py> = (u64, u16, Bound<'py, PyBytes>);
/// A flow's source, destination, protocol, and ports.
type FlowEnds = (String, String, u8, u16, u16);

/// A switch between real interfaces, from a configuration in JSON and the interface of each port.
/// It runs in a thread of its own from its construction on.
#[pyclass(module = "sojourn._core", frozen)]
pub struct LiveSwitch {
    state: Mutex<State>,
    waiting: Mutex<ByPort>,
    arrived: Mutex<Vec<Arrived>>,
    /// Its configuration, and the interface of each port.
    built: (StandaloneConfig, BTreeMap<u16, String>),
    /// Sender into the controller's port, if it has one.
    cpu: Option<CpuSender>,
    to_controller: ToController,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[pymethods]
impl LiveSwitch {
    /// `programs` are the compiled programs that the configuration names; `around` describes its
    /// links, in JSON. With `record`, arrivals are recorded until they are taken. Port `cpu`, if
    /// given, is the controllers'.
    #[new]
    #[expect(clippy::too_many_arguments, reason = "they are named where it is called")]
    #[pyo3(signature = (config, interfaces, spin, programs, around = "{}", record = false, cpu = None))]
    fn new(
        py: Python<'_>,
        config: &str,
        interfaces: BTreeMap<u16, String>,
        spin: u64,
        programs: Vec<PyRef<'_, Program>>,
        around: &str,
        record: bool,
        cpu: Option<u16>,
    ) -> PyResult<LiveSwitch> {
        let config: StandaloneConfig = serde_json::from_str(config)
            .map_err(|error| ConfigError::new_err(error.to_string()))?;
        let mut around: LinkSet = read(around)?;
        let programs = handed(&programs);
        let switch = py.detach(|| standalone(&config, &programs));
        let switch = switch.map_err(|error| run_refused(&error))?;
        let arrivals = if record { ARRIVALS } else { 0 };
        let refused = |error: sojourn_live::LiveError| SojournError::new_err(error.to_string());
        let mut ports = Vec::with_capacity(interfaces.len());
        for (&id, name) in &interfaces {
            let shapes = config.ports.iter().any(|port| port.id == id && port.is_shaped());
            let interface = open(name).map_err(refused)?;
            let link = around.links.remove(&id).unwrap_or_default().link().map_err(refused)?;
            ports.push(LivePort { id: PortId(id), interface, shapes, link });
        }
        let to_controller = ToController::default();
        let mut sender = None;
        if let Some(id) = cpu {
            let to = to_controller.clone();
            let take = move |frame| match &*locked(&to) {
                Some(to) => to.try_send(frame).is_ok(),
                None => false,
            };
            let (port, into) = cpu_port(Box::new(take)).map_err(wrong)?;
            let (shapes, link) = (false, Link::default());
            ports.push(LivePort { id: PortId(id), interface: Box::new(port), shapes, link });
            sender = Some(into);
        }
        let identify = around.identify;
        let options = Options { spin: Time(spin), arrivals, identify, ..Options::default() };
        let live = Live::start(switch, ports, options).map_err(refused)?;
        let state = Mutex::new(State::Running(live));
        Ok(LiveSwitch {
            state,
            waiting: Mutex::default(),
            arrived: Mutex::default(),
            built: (config, interfaces),
            cpu: sender,
            to_controller,
        })
    }

    /// Tables, actions, registers and the rest by name, as JSON.
    fn describe(&self, py: Python<'_>) -> PyResult<String> {
        let program = self.with(py, |switch, _| {
            control::program(switch).map(|program| program.program().clone())
        })?;
        let program = program.map_err(wrong)?;
        serde_json::to_string(&describe(&program)).map_err(wrong)
    }

    /// Applies operations given as a list in JSON, all of them or none; returns the handle of each
    /// added entry.
    fn apply(&self, py: Python<'_>, operations: &str) -> PyResult<Vec<Option<u32>>> {
        let batch: Vec<Operation> = read(operations)?;
        let alone = batch.len() == 1;
        let refused = |error: BatchError| match alone {
            true => wrong(error.error),
            false => wrong(error),
        };
        let done = self.with(py, move |switch, now| control::apply(switch, &batch, now))?;
        done.map_err(refused)
    }

    /// Answers a query in JSON, as JSON.
    fn read(&self, py: Python<'_>, query: &str) -> PyResult<String> {
        let query: Query = read(query)?;
        let reply = self.with(py, move |switch, _| control::read(switch, &query))?;
        serde_json::to_string(&reply.map_err(wrong)?).map_err(wrong)
    }

    /// Answers to several queries at one time, as a list in JSON; null where there is none.
    fn read_all(&self, py: Python<'_>, queries: &str) -> PyResult<String> {
        let queries: Vec<Query> = read(queries)?;
        let replies = self.with(py, move |switch, _| {
            queries.iter().map(|query| control::read(switch, query).ok()).collect::<Vec<_>>()
        })?;
        serde_json::to_string(&replies).map_err(wrong)
    }

    /// Sets the delay, ns, of a class of destinations in a direction of a port's link.
    fn set_delay(&self, py: Python<'_>, port: u16, outgoing: bool, class: usize, delay: u64) {
        self.change(py, port, outgoing, WayChange::Delay(class, Time(delay)));
    }

    /// Sets the rate, bit/s, of the direction to the switch of a port's link.
    fn set_rate(&self, py: Python<'_>, port: u16, rate: u64) {
        self.change(py, port, false, WayChange::Rate(Rate(rate.max(1))));
    }

    /// The flows of a switch that was stopped, by number from 1 on: source, destination, protocol,
    /// both ports.
    fn flows(&self) -> Vec<FlowEnds> {
        let ends = |key: &FlowKey| {
            let (from, to) = key.ports();
            (key.source().to_string(), key.destination().to_string(), key.protocol, from, to)
        };
        match &*locked(&self.state) {
            State::Stopped(stopped) => stopped.flows.iter().map(ends).collect(),
            State::Running(_) | State::Lost => Vec::new(),
        }
    }

    /// Fetches the pending rows and frames; returns their number.
    fn fetch(&self, py: Python<'_>) -> usize {
        py.detach(|| match &*locked(&self.state) {
            State::Running(live) => {
                locked(&self.arrived).extend(live.take_arrivals());
                sort(&mut locked(&self.waiting), live.take())
            }
            State::Stopped(_) | State::Lost => 0,
        })
    }

    /// Fetched packet rows of a port, as little-endian columns.
    fn take_packets(&self, port: u16) -> Columns {
        let rows = locked(&self.waiting).get_mut(&port).map(|at| mem::take(&mut at.rows));
        Columns::new(rows.unwrap_or_default())
    }

    /// Fetched captured frames of a port: time in ns, point (0 entered, 1 left), bytes, length on
    /// wire.
    fn take_capture<'py>(&self, py: Python<'py>, port: u16) -> Vec<columns::Frame<'py>> {
        let frames = locked(&self.waiting).get_mut(&port).map(|at| mem::take(&mut at.frames));
        columns::frames(py, &frames.unwrap_or_default())
    }

    /// Arrivals since the last call, in the order in which they were passed to the switch.
    fn take_arrivals<'py>(&self, py: Python<'py>) -> Vec<Arrival<'py>> {
        let arrived = mem::take(&mut *locked(&self.arrived));
        let told = |one: Arrived| (one.at.0, one.port.0, PyBytes::new(py, &one.packet.bytes));
        arrived.into_iter().map(told).collect()
    }

    /// Lines that the program wrote into its log since the last call, after the number of lost
    /// ones.
    fn take_log(&self, py: Python<'_>) -> (u64, Vec<(u64, String)>) {
        let taken = py.detach(|| match &*locked(&self.state) {
            State::Running(live) => live.with(|switch, _| switch.data_plane().take_log()),
            State::Stopped(_) | State::Lost => None,
        });
        let log = taken.unwrap_or_default();
        let lines = log.lines.into_iter().map(|line| (line.at.as_nanos(), line.text));
        (log.lost, lines.collect())
    }

    /// Report of interfaces and switch so far, as JSON.
    fn report(&self, py: Python<'_>) -> PyResult<String> {
        let told = py.detach(|| match &*locked(&self.state) {
            State::Running(live) => live.report().zip(live.with(|switch, _| switch.statistics())),
            State::Stopped(stopped) => Some(stopped.told.clone()),
            State::Lost => None,
        });
        let (live, switch) = told.ok_or_else(|| {
            SojournError::new_err("the switch's thread has ended by an error of ours")
        })?;
        let both = serde_json::json!({"live": live, "switch": switch});
        Ok(both.to_string())
    }

    /// Faults of the program so far, by kind, as JSON; empty for a switch that has ended.
    fn faults(&self, py: Python<'_>) -> PyResult<String> {
        let faults = py.detach(|| match &*locked(&self.state) {
            State::Running(live) => live.with(|switch, _| switch.faults()).unwrap_or_default(),
            State::Stopped(_) | State::Lost => Vec::new(),
        });
        serde_json::to_string(&faults).map_err(wrong)
    }

    /// Ends the thread; pending rows are fetched.
    fn stop(&self, py: Python<'_>) {
        py.detach(|| {
            let mut state = locked(&self.state);
            if let State::Running(_) = &*state
                && let State::Running(live) = mem::replace(&mut *state, State::Lost)
            {
                let stopped = live.stop();
                if let Some(end) = stopped {
                    sort(&mut locked(&self.waiting), end.rows);
                    locked(&self.arrived).extend(end.arrivals);
                    let told = (end.report, end.switch.statistics());
                    *state = State::Stopped(Box::new(Stopped { told, flows: end.flows }));
                }
            }
        });
    }
}

impl LiveSwitch {
    /// Device of a server while the switch runs, and the destination of the controller's frames.
    pub fn device(&self) -> Option<(LiveDevice, ToController)> {
        let State::Running(live) = &*locked(&self.state) else { return None };
        let (config, interfaces) = self.built.clone();
        let (handle, cpu) = (live.handle().clone(), self.cpu.clone());
        Some((LiveDevice { handle, cpu, config, interfaces }, self.to_controller.clone()))
    }

    fn change(&self, py: Python<'_>, port: u16, outgoing: bool, change: WayChange) {
        let direction = if outgoing { Direction::Outgoing } else { Direction::Incoming };
        py.detach(|| {
            if let State::Running(live) = &*locked(&self.state) {
                live.change(PortId(port), direction, change);
            }
        });
    }

    /// Result of work on the switch while it runs.
    fn with<T: Send + 'static>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Switch, Time) -> T + Send + 'static,
    ) -> PyResult<T> {
        let done = py.detach(|| match &*locked(&self.state) {
            State::Running(live) => live.with(work),
            State::Stopped(_) | State::Lost => None,
        });
        done.ok_or_else(|| wrong("the switch runs no longer"))
    }
}

/// Distributes observations to their ports; returns their number.
fn sort(waiting: &mut ByPort, observations: Vec<Observation>) -> usize {
    let count = observations.len();
    for observation in observations {
        match observation {
            Observation::Packet(packet) => {
                waiting.entry(packet.port.0).or_default().rows.push(&packet);
            }
            Observation::Frame(frame) => {
                waiting.entry(frame.port.0).or_default().frames.push(frame.into());
            }
        }
    }
    count
}

/// Drives a switch in virtual time with frames given by time in ns, port and bytes, in the order of
/// time, until `until`, ns. Returns the rows of each port, and the switch's statistics as JSON.
#[pyfunction]
pub fn drive_switch(
    py: Python<'_>,
    config: &str,
    programs: Vec<PyRef<'_, Program>>,
    arrivals: Vec<(u64, u16, Vec<u8>)>,
    until: u64,
) -> PyResult<(BTreeMap<u16, Columns>, String)> {
    let config: StandaloneConfig =
        serde_json::from_str(config).map_err(|error| ConfigError::new_err(error.to_string()))?;
    let programs = handed(&programs);
    let driven = py.detach(|| {
        let mut switch = standalone(&config, &programs)?;
        let mut flows = Flows::default();
        // Numbered as in the live switch.
        let frames = arrivals.into_iter().enumerate().map(|(place, (at, port, bytes))| {
            let id = PacketId(place as u64 + 1);
            let mut packet = Packet { id, bytes, ..Packet::default() };
            packet.flow = flows.number(&packet);
            (Time(at), PortId(port), packet)
        });
        let mut waiting = ByPort::new();
        sort(&mut waiting, drive(&mut switch, frames, Time(until)));
        Ok((waiting, switch.statistics()))
    });
    let (waiting, statistics) = driven.map_err(|error| run_refused(&error))?;
    let rows = waiting.into_iter().map(|(port, at)| (port, Columns::new(at.rows)));
    let statistics = serde_json::to_string(&statistics).map_err(wrong)?;
    Ok((rows.collect(), statistics))
}

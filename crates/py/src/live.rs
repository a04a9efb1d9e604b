//! A live switch as a Python object: started, asked, stopped; its rows as columns.

use crate::columns;
use crate::errors::{ConfigError, SojournError};
use crate::program::{Program, handed, run_refused};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use sojourn_engine::{StandaloneConfig, standalone};
use sojourn_live::{Live, LivePort, LiveReport, Options, open};
use sojourn_net::{CapturePoint, CapturedFrame, PacketRows};
use sojourn_packet::{PortId, Time};
use sojourn_switch::{Observation, Statistics};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Rows and frames of one port that wait to be taken.
#[derive(Default)]
struct Waiting {
    rows: PacketRows,
    frames: Vec<CapturedFrame>,
}

enum State {
    Running(Live),
    Stopped(Box<(LiveReport, Statistics)>),
    Lost,
}

/// A switch between real interfaces, from a configuration in JSON and the interface of each port. It
/// runs in a thread of its own from the start on.
#[pyclass(module = "sojourn._core", frozen)]
pub struct LiveSwitch {
    state: Mutex<State>,
    waiting: Mutex<BTreeMap<u16, Waiting>>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[pymethods]
impl LiveSwitch {
    /// `programs` are those that the configuration names as compiled.
    #[new]
    fn new(
        py: Python<'_>,
        config: &str,
        interfaces: BTreeMap<u16, String>,
        spin: u64,
        programs: Vec<PyRef<'_, Program>>,
    ) -> PyResult<LiveSwitch> {
        let config: StandaloneConfig = serde_json::from_str(config)
            .map_err(|error| ConfigError::new_err(error.to_string()))?;
        let programs = handed(&programs);
        let switch = py.detach(|| standalone(&config, &programs));
        let switch = switch.map_err(|error| run_refused(&error))?;
        let refused = |error: sojourn_live::LiveError| SojournError::new_err(error.to_string());
        let mut ports = Vec::with_capacity(interfaces.len());
        for (id, name) in interfaces {
            let shapes = config.ports.iter().any(|port| port.id == id && port.rate.is_some());
            let interface = open(&name).map_err(refused)?;
            ports.push(LivePort { id: PortId(id), interface, shapes });
        }
        let options = Options { spin: Time(spin), ..Options::default() };
        let live = Live::start(switch, ports, options).map_err(refused)?;
        Ok(LiveSwitch { state: Mutex::new(State::Running(live)), waiting: Mutex::default() })
    }

    /// Fetches the rows and frames that wait in the ring; how many they were.
    fn fetch(&self, py: Python<'_>) -> usize {
        py.detach(|| match &*locked(&self.state) {
            State::Running(live) => self.sort(live.take()),
            State::Stopped(_) | State::Lost => 0,
        })
    }

    /// The packet rows of a port that were fetched, as little-endian columns.
    fn take_packets<'py>(&self, py: Python<'py>, port: u16) -> PyResult<Bound<'py, PyDict>> {
        let rows = locked(&self.waiting).get_mut(&port).map(|at| std::mem::take(&mut at.rows));
        columns::packets(py, &rows.unwrap_or_default())
    }

    /// The captured frames of a port that were fetched: time in ns, point (0 entered, 1 left), bytes,
    /// length on wire.
    fn take_capture<'py>(&self, py: Python<'py>, port: u16) -> Vec<columns::Frame<'py>> {
        let frames = locked(&self.waiting).get_mut(&port).map(|at| std::mem::take(&mut at.frames));
        columns::frames(py, &frames.unwrap_or_default())
    }

    /// What the program has written into its log since the last call.
    fn take_log(&self, py: Python<'_>) -> (u64, Vec<(u64, String)>) {
        let taken = py.detach(|| match &*locked(&self.state) {
            State::Running(live) => live.with(|switch, _| switch.data_plane().take_log()),
            State::Stopped(_) | State::Lost => None,
        });
        let log = taken.unwrap_or_default();
        let lines = log.lines.into_iter().map(|line| (line.at.as_nanos(), line.text));
        (log.lost, lines.collect())
    }

    /// What is to be said of interfaces and switch so far, as JSON.
    fn report(&self, py: Python<'_>) -> PyResult<String> {
        let told = py.detach(|| match &*locked(&self.state) {
            State::Running(live) => live.report().zip(live.with(|switch, _| switch.statistics())),
            State::Stopped(told) => Some((**told).clone()),
            State::Lost => None,
        });
        let (live, switch) = told.ok_or_else(|| {
            SojournError::new_err("the switch's thread has ended by an error of ours")
        })?;
        let both = serde_json::json!({"live": live, "switch": switch});
        Ok(both.to_string())
    }

    /// Ends the thread; rows that still wait are fetched.
    fn stop(&self, py: Python<'_>) {
        py.detach(|| {
            let mut state = locked(&self.state);
            if let State::Running(_) = &*state
                && let State::Running(live) = std::mem::replace(&mut *state, State::Lost)
            {
                let stopped = live.stop();
                if let Some(end) = stopped {
                    self.sort(end.rows);
                    *state = State::Stopped(Box::new((end.report, end.switch.statistics())));
                }
            }
        });
    }
}

impl LiveSwitch {
    /// Puts observations to the ports that they are of.
    fn sort(&self, observations: Vec<Observation>) -> usize {
        let count = observations.len();
        let mut waiting = locked(&self.waiting);
        for observation in observations {
            let (point, frame) = match observation {
                Observation::Packet(packet) if packet.mirrored => continue,
                Observation::Packet(packet) => {
                    waiting.entry(packet.port.0).or_default().rows.push(&packet);
                    continue;
                }
                Observation::Entered(frame) => (CapturePoint::Entered, frame),
                Observation::Left(frame) => (CapturePoint::Left, frame),
            };
            waiting.entry(frame.port.0).or_default().frames.push(CapturedFrame {
                time: frame.time.0,
                point,
                original_len: frame.packet.len().0 as u32,
                bytes: frame.packet.bytes,
            });
        }
        count
    }
}

//! Packet test switch as a Python object: packets in and out one by one, and its control plane.
//!
//! Requests are JSON as in a control-plane file; numbers that are too wide for the interface are
//! strings of digits.

use crate::errors::ConfigError;
use crate::operations::{OperationsArg, batch_refused};
use crate::program::{Program, refused};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde::de::DeserializeOwned;
use sojourn_control::ControlPlane;
use sojourn_control::{Digest, RuntimeControl, describe};
use sojourn_engine::Watched;
use sojourn_engine::packet_switch::{self, PacketSwitchConfig};
use sojourn_packet::Time;
use sojourn_switch::PortId;
use std::fmt::Display;
use std::sync::{Mutex, PoisonError};

/// One program on one switch without connections.
#[pyclass(module = "sojourn._core")]
pub struct PacketSwitch {
    // Never contended: Python may pass the object to another thread, which requires a mutex.
    bench: Mutex<packet_switch::PacketSwitch>,
    watched: Option<Watched>,
}

/// Exception for an invalid argument.
pub fn wrong(error: impl Display) -> PyErr {
    ConfigError::new_err(error.to_string())
}

/// Parses JSON of an expected type.
pub fn read<T: DeserializeOwned>(json: &str) -> PyResult<T> {
    serde_json::from_str(json).map_err(wrong)
}

/// A message to the control plane: name, time in ns, bytes.
pub type Message<'py> = (String, u64, Bound<'py, PyBytes>);

/// Messages to the control plane for Python.
pub fn messages(py: Python<'_>, taken: Vec<Digest>) -> Vec<Message<'_>> {
    let told = |one: Digest| (one.name.to_string(), one.at.0, PyBytes::new(py, &one.bytes));
    taken.into_iter().map(told).collect()
}

impl PacketSwitch {
    fn bench(&mut self) -> &mut packet_switch::PacketSwitch {
        self.bench.get_mut().unwrap_or_else(PoisonError::into_inner)
    }

    fn control(&mut self) -> PyResult<&mut dyn RuntimeControl> {
        self.bench().control().ok_or_else(|| wrong("this program has no control plane"))
    }
}

#[pymethods]
impl PacketSwitch {
    /// `priority_queues` is the number of queues of each port, for targets whose switch has some.
    #[new]
    #[pyo3(signature = (program, priority_queues = None))]
    fn new(
        py: Python<'_>,
        program: PyRef<'_, Program>,
        priority_queues: Option<u8>,
    ) -> PyResult<PacketSwitch> {
        let program = program.program.clone();
        let bench = py.detach(|| {
            let plane = program.instantiate(1).map_err(|error| refused(&error))?;
            let config = PacketSwitchConfig::new(plane.target());
            let config = config.with_priority_queues(plane.target(), priority_queues);
            packet_switch::PacketSwitch::new(plane, &config.map_err(wrong)?).map_err(wrong)
        })?;
        Ok(PacketSwitch { bench: Mutex::new(bench), watched: None })
    }

    /// Tables, actions, registers and the rest by name, as JSON.
    fn describe(&mut self) -> PyResult<String> {
        serde_json::to_string(&describe(self.control()?.program())).map_err(wrong)
    }

    /// Installs a control plane given as JSON.
    fn configure(&mut self, control: &str) -> PyResult<()> {
        let control: ControlPlane = read(control)?;
        self.bench().configure(&control).map_err(wrong)
    }

    /// Executes a line of `simple_switch_CLI`; returns its output, if it only reads.
    fn command(&mut self, line: &str) -> PyResult<Vec<String>> {
        self.bench().command(line).map_err(wrong)
    }

    /// Operation of an STF statement, as JSON.
    fn operation_of(&mut self, statement: &str) -> PyResult<String> {
        let operation = self.bench().operation_of(&read(statement)?).map_err(wrong)?;
        serde_json::to_string(&operation).map_err(wrong)
    }

    /// Applies operations, collected or a list in JSON, all of them or none; returns the handle of
    /// each entry that was added individually.
    fn apply(&mut self, operations: OperationsArg<'_>) -> PyResult<Vec<Option<u32>>> {
        let batch = operations.read()?;
        self.bench().apply(&batch).map_err(batch_refused(&batch))
    }

    /// Answers a query in JSON, as JSON.
    fn read(&mut self, query: &str) -> PyResult<String> {
        let reply = self.bench().read(&read(query)?).map_err(wrong)?;
        serde_json::to_string(&reply).map_err(wrong)
    }

    /// One cell of a register: a number, in decimal digits, for each field.
    fn read_register(&mut self, name: &str, index: usize) -> PyResult<Vec<String>> {
        let words = self.control()?.read_register(name, index).map_err(wrong)?;
        Ok(words.iter().map(ToString::to_string).collect())
    }

    /// Packets and bytes in one cell of a counter.
    fn read_counter(&mut self, name: &str, index: usize) -> PyResult<(u64, u64)> {
        let count = self.control()?.read_counter(name, index).map_err(wrong)?;
        Ok((count.packets, count.bytes))
    }

    /// The messages of the program to its control plane since the last call: name, time in ns,
    /// bytes.
    fn take_digests<'py>(&mut self, py: Python<'py>) -> PyResult<Vec<Message<'py>>> {
        Ok(messages(py, self.control()?.take_digests()))
    }

    /// Injects a frame.
    fn receive(&mut self, port: u16, frame: &[u8]) {
        self.bench().receive(PortId(port), frame);
    }

    /// Runs for at most `limit` ns until no event is pending; false if one is.
    fn settle(&mut self, py: Python<'_>, limit: u64) -> bool {
        let bench = self.bench();
        py.detach(|| bench.settle(Time(limit)))
    }

    /// Advances the time by `span` ns.
    fn wait(&mut self, py: Python<'_>, span: u64) {
        let bench = self.bench();
        py.detach(|| bench.wait(Time(span)));
    }

    /// Current virtual time, ns.
    #[getter]
    fn now(&mut self) -> u64 {
        self.bench().now().as_nanos()
    }

    /// Time of the next event, ns, if one is pending.
    #[getter]
    fn next_timer(&mut self) -> Option<u64> {
        self.bench().next_timer().map(Time::as_nanos)
    }

    /// Port and frame of each packet that left since the last call.
    fn take<'py>(&mut self, py: Python<'py>) -> PyResult<Vec<(u16, Bound<'py, PyBytes>)>> {
        let frame = |transmit: sojourn_switch::Transmit| {
            let packet = transmit.packet;
            let length = packet.len().0 as usize;
            let bytes = PyBytes::new_with(py, length, |buffer| {
                buffer[..packet.bytes.len()].copy_from_slice(&packet.bytes);
                Ok(())
            })?;
            Ok((transmit.port.0, bytes))
        };
        self.bench().take().into_iter().map(frame).collect()
    }

    /// Enables tracing of all later packets.
    fn follow(&mut self) -> PyResult<()> {
        self.watched = Some(self.bench().follow().map_err(wrong)?);
        Ok(())
    }

    /// Traced passes since the last call, as JSON.
    fn take_passes(&mut self) -> PyResult<String> {
        let passes = self.watched.as_ref().map(Watched::take_passes).unwrap_or_default();
        serde_json::to_string(&passes).map_err(wrong)
    }

    /// Faults of the program so far, by kind, as JSON.
    fn faults(&mut self) -> PyResult<String> {
        serde_json::to_string(&self.bench().faults()).map_err(wrong)
    }
}

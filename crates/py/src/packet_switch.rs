//! A switch on a bench as a Python object: packets in and out one by one, and its control plane.
//!
//! Requests are JSON as in a control-plane file; numbers wider than Python's door are digits.

use crate::errors::ConfigError;
use crate::program::{Program, refused};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde::de::DeserializeOwned;
use sojourn_engine::packet_switch::{self, PacketSwitchConfig};
use sojourn_engine::switch_setup::{self, session};
use sojourn_p4::interp::tables::EntryHandle;
use sojourn_packet::Time;
use sojourn_switch::PortId;
use sojourn_targets::control::{self, ActionCall, ControlPlane, Number, TableEntry};
use sojourn_targets::externs::counter::Count;
use sojourn_targets::runtime_control::{entry_spec, named};
use sojourn_targets::{RuntimeControl, describe};
use std::fmt::Display;
use std::sync::{Mutex, PoisonError};

/// A multicast group: its number and, for each node, replication id and ports.
type Nodes = Vec<(u16, Vec<u16>)>;

/// One program on one switch that nothing is connected to.
#[pyclass(module = "sojourn._core")]
pub struct PacketSwitch {
    // Never locked: Python may hand the object to another thread, and a mutex is what allows that.
    bench: Mutex<packet_switch::PacketSwitch>,
}

fn wrong(error: impl Display) -> PyErr {
    ConfigError::new_err(error.to_string())
}

fn read<T: DeserializeOwned>(json: &str) -> PyResult<T> {
    serde_json::from_str(json).map_err(wrong)
}

impl PacketSwitch {
    fn bench(&mut self) -> &mut packet_switch::PacketSwitch {
        self.bench.get_mut().unwrap_or_else(PoisonError::into_inner)
    }

    fn control(&mut self) -> PyResult<&mut dyn RuntimeControl> {
        self.bench().control().ok_or_else(|| wrong("this program has no control plane"))
    }

    /// An entry's target as the tables take it; its keys do not count.
    fn entry(json: &str) -> PyResult<sojourn_p4::interp::tables::EntrySpec> {
        let entry: TableEntry = read(json)?;
        entry_spec(&entry).ok_or_else(|| wrong("an entry needs an action, a member or a group"))
    }
}

#[pymethods]
impl PacketSwitch {
    /// `priority_queues` is for targets whose switch has some: queues of each port.
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
            let config = PacketSwitchConfig::of(plane.target());
            let config = config.with_priority_queues(plane.target(), priority_queues);
            packet_switch::PacketSwitch::new(plane, &config.map_err(wrong)?).map_err(wrong)
        })?;
        Ok(PacketSwitch { bench: Mutex::new(bench) })
    }

    /// Tables, actions, registers and the rest by name, as JSON.
    fn describe(&mut self) -> PyResult<String> {
        serde_json::to_string(&describe(self.control()?.program())).map_err(wrong)
    }

    /// Installs a control plane given as JSON.
    fn configure(&mut self, control: &str) -> PyResult<()> {
        let control: ControlPlane = read(control)?;
        self.control()?.configure(&control).map_err(wrong)
    }

    /// Adds a table entry; returns its handle.
    fn add_entry(&mut self, table: &str, entry: &str) -> PyResult<u32> {
        let spec = Self::entry(entry)?;
        let tables = self.control()?.tables();
        let id = tables.find(table).map_err(wrong)?;
        tables.add(id, &spec).map(|handle| handle.0).map_err(wrong)
    }

    /// Gives an entry another action, member or group.
    fn modify_entry(&mut self, table: &str, handle: u32, entry: &str) -> PyResult<()> {
        let spec = Self::entry(entry)?;
        let tables = self.control()?.tables();
        let id = tables.find(table).map_err(wrong)?;
        tables.modify(id, EntryHandle(handle), &spec.target).map_err(wrong)
    }

    /// Takes an entry out.
    fn delete_entry(&mut self, table: &str, handle: u32) -> PyResult<()> {
        let tables = self.control()?.tables();
        let id = tables.find(table).map_err(wrong)?;
        tables.delete(id, EntryHandle(handle)).map_err(wrong)
    }

    /// Takes out all entries that are not part of the program.
    fn clear_table(&mut self, table: &str) -> PyResult<()> {
        let tables = self.control()?.tables();
        let id = tables.find(table).map_err(wrong)?;
        tables.clear(id).map_err(wrong)
    }

    /// Sets what runs on a miss.
    fn set_default(&mut self, table: &str, call: &str) -> PyResult<()> {
        let ActionCall { action, args } = read(call)?;
        let tables = self.control()?.tables();
        let id = tables.find(table).map_err(wrong)?;
        tables.set_default(id, &action, &named(&args)).map_err(wrong)
    }

    /// One cell of a register: a number, in decimal digits, for each field.
    fn read_register(&mut self, name: &str, index: usize) -> PyResult<Vec<String>> {
        let words = self.control()?.read_register(name, index).map_err(wrong)?;
        Ok(words.iter().map(ToString::to_string).collect())
    }

    /// Sets one cell of a register, or all.
    fn write_register(
        &mut self,
        name: &str,
        index: Option<usize>,
        value: Vec<String>,
    ) -> PyResult<()> {
        let number = |digits: &String| read::<Number>(&format!("{digits:?}")).map(|n| n.0);
        let value = value.iter().map(number).collect::<PyResult<Vec<_>>>()?;
        self.control()?.write_register(name, index, &value).map_err(wrong)
    }

    /// Packets and bytes in one cell of a counter.
    fn read_counter(&mut self, name: &str, index: usize) -> PyResult<(u64, u64)> {
        let count = self.control()?.read_counter(name, index).map_err(wrong)?;
        Ok((count.packets, count.bytes))
    }

    /// Sets one cell of a counter, or all.
    fn write_counter(
        &mut self,
        name: &str,
        index: Option<usize>,
        packets: u64,
        bytes: u64,
    ) -> PyResult<()> {
        let count = Count { packets, bytes };
        self.control()?.write_counter(name, index, count).map_err(wrong)
    }

    /// Sets a mirror session, given as JSON.
    fn set_mirror_session(&mut self, given: &str) -> PyResult<()> {
        let session = session(&read::<control::MirrorSession>(given)?);
        self.bench().switch().set_mirror_session(session).map_err(wrong)
    }

    /// Takes a mirror session away; false if there was none.
    fn remove_mirror_session(&mut self, session: u16) -> bool {
        self.bench().switch().remove_mirror_session(session)
    }

    /// Sets a multicast group.
    fn set_multicast_group(&mut self, group: u16, nodes: Nodes) -> PyResult<()> {
        let node = |(rid, ports)| control::MulticastNode { rid, ports };
        let nodes = nodes.into_iter().map(node).collect();
        let group = switch_setup::group(&control::MulticastGroup { id: group, nodes });
        self.bench().switch().set_multicast_group(group).map_err(wrong)
    }

    /// A frame arrives.
    fn receive(&mut self, port: u16, frame: &[u8]) {
        self.bench().receive(PortId(port), frame);
    }

    /// Lets at most `limit` ns pass until nothing is left to do; false if something is.
    fn settle(&mut self, py: Python<'_>, limit: u64) -> bool {
        let bench = self.bench();
        py.detach(|| bench.settle(Time(limit)))
    }

    /// Lets `span` ns pass.
    fn wait(&mut self, py: Python<'_>, span: u64) {
        let bench = self.bench();
        py.detach(|| bench.wait(Time(span)));
    }

    /// The instant up to which everything has happened, ns.
    #[getter]
    fn now(&mut self) -> u64 {
        self.bench().now().as_nanos()
    }

    /// What has left since the last call: port and frame.
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

    /// The first thing that the program did and its target cannot do.
    fn fault(&mut self) -> PyResult<Option<String>> {
        Ok(self.control()?.fault())
    }
}

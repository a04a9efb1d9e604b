//! Queue disciplines that are Python objects, in the switch's register of disciplines.
//!
//! A class is registered under a name; each queue has an object of it. The queue is first in, first
//! out; the object decides about a packet that arrives and about the packet at the head. A call
//! attaches the thread to the interpreter for as long as the decision takes. This file must not
//! depend on how a class is found or how an exception is described.

use crate::errors::SojournError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use sojourn_packet::Time;
use sojourn_switch::discipline::{
    Backlog, Discipline, DisciplineError, DropKind, Drops, Kind, Parameter, QueueLength, Queued,
    REGISTRY, Registered, Settings, flow_hash,
};
use sojourn_switch::ecn;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// A class with what turns settings into an object of it.
#[derive(Debug)]
struct Class {
    /// `make(settings) -> object`.
    make: Py<PyAny>,
    /// `explain(exception, packet number or None, method or None) -> message`.
    explain: Py<PyAny>,
}

static CLASSES: Mutex<BTreeMap<&'static str, Arc<Class>>> = Mutex::new(BTreeMap::new());

/// Adds a class to the disciplines for as long as the process lives. `parameters` are name, kind
/// and default; `make` turns a dictionary of their values into an object with `enqueue` and
/// `dequeue`, either of which may be `None`; `explain` describes an exception of its.
#[pyfunction]
pub fn add_python_discipline(
    name: &str,
    parameters: Vec<(String, String, u64)>,
    make: Py<PyAny>,
    explain: Py<PyAny>,
) -> PyResult<()> {
    // A register's names live as long as the process.
    let name: &'static str = name.to_owned().leak();
    let mut known = Vec::new();
    for (parameter, kind, default) in parameters {
        let found = Kind::ALL.into_iter().find(|one| one.name() == kind);
        let kind = found.ok_or_else(|| SojournError::new_err(format!("no kind `{kind}`")))?;
        known.push(Parameter::new(parameter.leak(), kind, default, "a parameter of the class"));
    }
    let registered =
        Registered { name, summary: "a discipline in Python", parameters: known.leak(), build };
    let mut classes = CLASSES.lock().unwrap_or_else(PoisonError::into_inner);
    let added = REGISTRY.add(Box::leak(Box::new(registered)));
    added.map_err(|taken| SojournError::new_err(taken.to_string()))?;
    classes.insert(name, Arc::new(Class { make, explain }));
    Ok(())
}

fn build(settings: &Settings) -> Result<Box<dyn Discipline>, DisciplineError> {
    // The lock is not held while the thread waits for the interpreter.
    let classes = CLASSES.lock().unwrap_or_else(PoisonError::into_inner);
    let class = classes.get(settings.discipline()).cloned();
    drop(classes);
    let name = || settings.discipline().to_owned();
    let class = class.ok_or_else(|| DisciplineError::Unknown(name()))?;
    Python::attach(|py| match made(py, &class, settings) {
        Ok((enqueue, dequeue)) => Ok(PythonDiscipline::boxed(class, enqueue, dequeue)),
        Err(error) => Err(DisciplineError::Made(explained(py, &class, &error, None))),
    })
}

type Method = Option<Py<PyAny>>;

fn made(py: Python<'_>, class: &Class, settings: &Settings) -> PyResult<(Method, Method)> {
    let values = PyDict::new(py);
    let registered = REGISTRY.find(settings.discipline());
    for parameter in registered.map_or(&[][..], |one| one.parameters) {
        values.set_item(parameter.name, settings.get(parameter.name))?;
    }
    class.make.call1(py, (values,))?.extract(py)
}

/// The words for an exception; its own if those cannot be had.
fn explained(
    py: Python<'_>,
    class: &Class,
    error: &PyErr,
    at: Option<(u64, &'static str)>,
) -> String {
    // A stable-ABI exception has its traceback apart.
    let value = error.value(py);
    let _ = value.setattr("__traceback__", error.traceback(py));
    let said = class.explain.call1(py, (value, at));
    said.and_then(|text| text.extract(py)).unwrap_or_else(|_| error.to_string())
}

/// A packet, as a discipline in Python sees it.
#[pyclass(module = "sojourn._core", frozen)]
pub struct QueuedPacket {
    /// Number of the packet in the run.
    #[pyo3(get)]
    number: u64,
    /// Length without FCS, bytes.
    #[pyo3(get)]
    size: u64,
    /// Arrival at the queue, ns.
    #[pyo3(get)]
    enqueued: u64,
    /// Time since it arrived, ns.
    #[pyo3(get)]
    sojourn: u64,
    /// ECN field: 0 for a transport without ECN, 1 for ECT(1), 2 for ECT(0), 3 for CE.
    #[pyo3(get)]
    ecn: u8,
    /// Hash of protocol, addresses and ports.
    #[pyo3(get)]
    flow: u64,
}

impl QueuedPacket {
    fn new(packet: &Queued, now: Time) -> QueuedPacket {
        QueuedPacket {
            number: packet.packet.id.0,
            size: packet.size().0,
            enqueued: packet.enqueued.0,
            sojourn: now.saturating_sub(packet.enqueued).0,
            ecn: ecn::codepoint(&packet.packet),
            flow: flow_hash(&packet.packet, 0),
        }
    }
}

/// A queue's state, as a discipline in Python sees it. The packet that is decided about does not
/// count as held.
#[pyclass(module = "sojourn._core", frozen)]
pub struct QueueState {
    /// Packets held.
    #[pyo3(get)]
    packets: usize,
    /// Their bytes.
    #[pyo3(get)]
    bytes: u64,
    /// Packets that the discipline has dropped.
    #[pyo3(get)]
    dropped: u64,
    /// Packets that it has marked.
    #[pyo3(get)]
    marked: u64,
}

/// Decision about a packet.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Decision {
    Keep,
    Drop,
    Mark,
}

/// The queue and its object.
#[derive(Debug)]
struct PythonDiscipline {
    class: Arc<Class>,
    enqueue: Method,
    dequeue: Method,
    backlog: Backlog,
    drops: u64,
    marks: u64,
    calls: u64,
    failed: bool,
}

impl PythonDiscipline {
    fn boxed(class: Arc<Class>, enqueue: Method, dequeue: Method) -> Box<dyn Discipline> {
        let backlog = Backlog::default();
        let (drops, marks, calls, failed) = (0, 0, 0, false);
        Box::new(PythonDiscipline { class, enqueue, dequeue, backlog, drops, marks, calls, failed })
    }

    /// The method's decision about a packet; none if it has failed.
    fn decide(
        &mut self,
        method: &'static str,
        now: Time,
        packet: &Queued,
        held: QueueLength,
        drops: &mut Drops,
    ) -> Option<Decision> {
        let call = if method == "enqueue" { &self.enqueue } else { &self.dequeue };
        let Some(call) = call else { return Some(Decision::Keep) };
        self.calls += 1;
        let state = QueueState {
            packets: held.packets,
            bytes: held.bytes.0,
            dropped: self.drops,
            marked: self.marks,
        };
        let decided = Python::attach(|py| {
            let said = called(py, call, QueuedPacket::new(packet, now), state, now);
            let at = Some((packet.packet.id.0, method));
            said.map_err(|error| explained(py, &self.class, &error, at))
        });
        match decided {
            Ok(decision) => Some(decision),
            Err(reason) => {
                self.failed = true;
                drops.halt(reason);
                None
            }
        }
    }

    /// Empties the queue, so that nothing is sent without a decision. The packet that has no decision is
    /// the first to go.
    fn give_up(&mut self, packet: Queued, drops: &mut Drops) {
        drops.push(packet, DropKind::Aqm);
        while let Some(held) = self.backlog.pop() {
            drops.push(held, DropKind::Aqm);
        }
    }

    /// Carries a decision out: true if the packet is to be dropped. A packet that cannot be marked is
    /// dropped (RFC 7567 section 4.2.1: a mark replaces a drop where the transport understands it).
    fn drops_by(&mut self, decision: Decision, packet: &mut Queued) -> bool {
        let marked = decision == Decision::Mark && ecn::mark(&mut packet.packet);
        let dropped = decision != Decision::Keep && !marked;
        self.marks += u64::from(marked);
        self.drops += u64::from(dropped);
        dropped
    }
}

fn called(
    py: Python<'_>,
    method: &Py<PyAny>,
    packet: QueuedPacket,
    state: QueueState,
    now: Time,
) -> PyResult<Decision> {
    let said = method.bind(py).call1((packet, state, now.0))?;
    match said.extract::<u8>() {
        Ok(0) => Ok(Decision::Keep),
        Ok(1) => Ok(Decision::Drop),
        Ok(2) => Ok(Decision::Mark),
        _ => {
            let wrong = format!("returned {}; return KEEP, DROP or MARK", said.repr()?);
            Err(pyo3::exceptions::PyTypeError::new_err(wrong))
        }
    }
}

impl Discipline for PythonDiscipline {
    fn enqueue(&mut self, now: Time, mut packet: Queued, drops: &mut Drops) {
        if self.failed {
            return self.give_up(packet, drops);
        }
        let held = self.backlog.length();
        match self.decide("enqueue", now, &packet, held, drops) {
            None => self.give_up(packet, drops),
            Some(decision) if self.drops_by(decision, &mut packet) => {
                drops.push(packet, DropKind::Aqm);
            }
            Some(_) => self.backlog.push(packet),
        }
    }

    fn dequeue(&mut self, now: Time, drops: &mut Drops) -> Option<Queued> {
        loop {
            let mut packet = self.backlog.pop()?;
            let held = self.backlog.length();
            let Some(decision) = self.decide("dequeue", now, &packet, held, drops) else {
                self.give_up(packet, drops);
                return None;
            };
            if !self.drops_by(decision, &mut packet) {
                return Some(packet);
            }
            drops.push(packet, DropKind::Aqm);
        }
    }

    fn length(&self) -> QueueLength {
        self.backlog.length()
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        vec![("drops", self.drops), ("marks", self.marks), ("calls", self.calls)]
    }
}

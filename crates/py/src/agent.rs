//! Queues that an agent in Python controls between two steps of a run.
//!
//! Each agent has an entry in the register of disciplines, under a name of its own, because a run's
//! configuration names its disciplines. The queue's behaviour is `sojourn_switch`'s.

use crate::errors::SojournError;
use pyo3::prelude::*;
use sojourn_packet::Time;
use sojourn_switch::discipline::controlled::{Controlled, Handle, Setting};
use sojourn_switch::discipline::{
    Discipline, DisciplineError, Kind, Parameter, REGISTRY, Registered, SEED, Settings,
};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

static HANDLES: Mutex<BTreeMap<&'static str, Handle>> = Mutex::new(BTreeMap::new());

const PARAMETERS: &[Parameter] =
    &[Parameter::new("ecn", Kind::Flag, 0, "mark packets of ECN-capable transports"), SEED];

/// Adds an agent's queue to the disciplines under `name`, for as long as the process lives.
#[pyfunction]
pub fn add_controlled_queue(name: &str) -> PyResult<()> {
    let name: &'static str = name.to_owned().leak();
    let summary = "a queue that an agent controls";
    let registered = Registered { name, summary, parameters: PARAMETERS, build };
    let added = REGISTRY.add(Box::leak(Box::new(registered)));
    added.map_err(|taken| SojournError::new_err(taken.to_string()))?;
    handles(|handles| handles.insert(name, Handle::new(Setting::Probability(0))));
    Ok(())
}

fn handles<T>(work: impl FnOnce(&mut BTreeMap<&'static str, Handle>) -> T) -> T {
    work(&mut HANDLES.lock().unwrap_or_else(PoisonError::into_inner))
}

fn build(settings: &Settings) -> Result<Box<dyn Discipline>, DisciplineError> {
    let handle = handles(|handles| handles.get(settings.discipline()).cloned());
    let unknown = || DisciplineError::Unknown(settings.discipline().to_owned());
    let seed = settings.get(SEED.name).unwrap_or_default();
    let queue = Controlled::new(handle.ok_or_else(unknown)?, settings.switch("ecn")?, seed);
    Ok(Box::new(queue))
}

/// The agent's side of the queue of that name, with counts that begin at zero. Queues of runs that
/// were built earlier are no longer controlled.
#[pyclass(module = "sojourn._core", frozen)]
pub struct ControlledQueue {
    handle: Handle,
}

#[pymethods]
impl ControlledQueue {
    #[new]
    fn new(name: &str) -> PyResult<ControlledQueue> {
        let handle = Handle::new(Setting::Probability(0));
        let known =
            handles(|handles| handles.get_mut(name).map(|known| *known = handle.clone()).is_some());
        match known {
            true => Ok(ControlledQueue { handle }),
            false => Err(SojournError::new_err(format!("no agent's queue is named {name}"))),
        }
    }

    /// Drops each arriving packet with a probability, in millionths.
    fn set_probability(&self, ppm: u64) {
        self.handle.set(Setting::Probability(ppm));
    }

    /// Runs CoDel with a TARGET, ns.
    fn set_target(&self, target: u64) {
        self.handle.set(Setting::Target(Time(target)));
    }

    /// Packets and bytes held; packets that arrived, were dropped, were marked and were sent, the
    /// bytes of the last, and the sum of their sojourn times in ns.
    fn counts(&self) -> (u64, u64, u64, u64, u64, u64, u64, u64) {
        let c = self.handle.counts();
        (c.packets, c.bytes, c.arrived, c.dropped, c.marked, c.sent, c.sent_bytes, c.sojourn)
    }
}

//! Operations of a control plane, carried out on a running switch at an instant.
//!
//! A batch is done wholly or not at all. What is about the program goes to the program, what is
//! about the switch to the switch, in the order of the batch. Servers of control protocols, packet
//! tests and a run's control plane come through here. Must not know any language or protocol.

use crate::switch_setup::{group, session};
use sojourn_packet::{PortId, Rate, Time};
use sojourn_switch::{Change, QueueChange, Replaced, ShaperConfig, Switch};
use sojourn_targets::control::{self, Before, ControlError, Operation, Query, QueueSetting, Reply};
use sojourn_targets::{Plane, RuntimeControl};
use thiserror::Error;

/// Why an operation cannot be carried out.
#[derive(Debug, Error)]
pub enum OperationError {
    /// It does not fit the program.
    #[error(transparent)]
    Program(#[from] ControlError),
    /// It does not fit the switch.
    #[error(transparent)]
    Switch(#[from] sojourn_switch::ConfigError),
    /// The switch runs no program.
    #[error("this switch runs no program with a control plane")]
    NoProgram,
}

/// Which operation of a batch was refused, and why. Nothing of the batch was done.
#[derive(Debug, Error)]
#[error("operation {}: {error}", .at + 1)]
pub struct BatchError {
    /// Its place, from 0.
    pub at: usize,
    /// Why.
    pub error: OperationError,
}

/// Carries out a batch at `now`, all of it or nothing: for each operation the handle of the entry
/// that it has added, if it has added one.
///
/// # Errors
/// The first operation that is refused; program and switch are as they were.
pub fn apply(
    switch: &mut Switch,
    batch: &[Operation],
    now: Time,
) -> Result<Vec<Option<u32>>, BatchError> {
    switch.advance(now);
    // An operation alone is done wholly or not at all anyway.
    let keeps = batch.len() > 1;
    let mut undo = Undo::default();
    let mut handles = Vec::with_capacity(batch.len());
    for (at, operation) in batch.iter().enumerate() {
        match one(switch, operation, now, keeps.then_some(&mut undo)) {
            Ok(handle) => handles.push(handle),
            Err(error) => {
                undo.restore(switch);
                return Err(BatchError { at, error });
            }
        }
    }
    Ok(handles)
}

/// Answers a question about the program of a switch.
///
/// # Errors
/// The program has no such object or no such cell, or there is no program.
pub fn read(switch: &mut Switch, query: &Query) -> Result<Reply, OperationError> {
    Ok(control::read(program(switch)?, query)?)
}

/// The program of a switch, for its control plane.
///
/// # Errors
/// There is none.
pub fn program(switch: &mut Switch) -> Result<&mut dyn RuntimeControl, OperationError> {
    let plane = Plane::of(switch.data_plane());
    plane.map(Plane::control).ok_or(OperationError::NoProgram)
}

#[derive(Default)]
struct Undo {
    before: Before,
    replaced: Vec<Replaced>,
}

impl Undo {
    fn restore(self, switch: &mut Switch) {
        self.replaced.into_iter().rev().for_each(|replaced| switch.put_back(replaced));
        if let Ok(program) = program(switch) {
            self.before.restore(program);
        }
    }
}

fn one(
    switch: &mut Switch,
    operation: &Operation,
    now: Time,
    undo: Option<&mut Undo>,
) -> Result<Option<u32>, OperationError> {
    if let Some(change) = change(operation) {
        let replaced = switch.change(now, &change)?;
        if let Some(undo) = undo {
            undo.replaced.push(replaced);
        }
        return Ok(None);
    }
    let program = program(switch)?;
    if let Some(undo) = undo {
        undo.before.keep(program, operation);
    }
    Ok(control::carry_out(program, operation, now)?)
}

/// Whether an operation is about the switch, and not about the program in it.
pub(crate) fn is_of_the_switch(operation: &Operation) -> bool {
    change(operation).is_some()
}

/// What an operation means for the switch, if it is about the switch.
fn change(operation: &Operation) -> Option<Change> {
    Some(match operation {
        Operation::SetMirrorSession(given) => Change::Session(session(given)),
        Operation::RemoveMirrorSession { session } => Change::NoSession(*session),
        Operation::SetMulticastGroup(given) => Change::Group(group(given)),
        Operation::RemoveMulticastGroup { group } => Change::NoGroup(*group),
        Operation::SetQueue(setting) => Change::Queues(queues(setting)),
        Operation::ShapePort { port, rate, burst } => {
            let burst = burst.unwrap_or_else(sojourn_net::config::burst);
            let shaper = rate.map(|rate| ShaperConfig::bits(Rate(rate), burst));
            Change::Shaper(PortId(*port), shaper)
        }
        _ => return None,
    })
}

fn queues(setting: &QueueSetting) -> QueueChange {
    QueueChange {
        port: setting.port.map(PortId),
        queue: setting.priority,
        packet_pace: setting.packets_per_second.map(|rate| (rate > 0).then_some(rate)),
        bit_pace: setting.bits_per_second.map(|rate| (rate > 0).then_some(Rate(rate))),
        packet_limit: setting.depth,
    }
}

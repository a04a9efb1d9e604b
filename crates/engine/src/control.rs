//! Execution of control-plane operations on a running switch.
//!
//! A batch is atomic. Its operations apply to the program or to the switch, in the order of the
//! batch. Servers of control protocols, packet tests and a run's control plane use this module.
//! Must not depend on a command language or protocol.

use crate::switch_setup::{colors, deflection, dynamic, generator, group, scheduler_node, session};
use sojourn_control::RuntimeControl;
use sojourn_control::{Checkpoint, ControlError, Operation, Query, QueueSetting, Reply};
use sojourn_packet::{PortId, Rate, Time};
use sojourn_switch::{
    Change, GeneratorChange, QueueChange, Replaced, ShaperConfig, ShareChange, Switch,
};
use sojourn_target::Plane;
use thiserror::Error;

/// Reason why an operation cannot be carried out.
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

/// Index of the rejected operation of a batch, and the reason. No operation of the batch has taken
/// effect.
#[derive(Debug, Error)]
#[error("operation {}: {error}", .at + 1)]
pub struct BatchError {
    /// Its index, from 0.
    pub at: usize,
    /// Reason.
    pub error: OperationError,
}

impl BatchError {
    /// Index counted in plain data, where each entry of a group of rows is one operation.
    fn new(batch: &[Operation], at: usize, error: OperationError) -> BatchError {
        let before: usize = batch[..at].iter().map(Operation::count).sum();
        match (&batch[at], error) {
            (
                Operation::AddEntries { .. },
                OperationError::Program(ControlError::Entry { number, why, .. }),
            ) => BatchError { at: before + number - 1, error: ControlError::Table(why).into() },
            (_, error) => BatchError { at: before, error },
        }
    }
}

/// Applies a batch at `now`, all of it or nothing; returns for each operation the handle of the
/// entry that it added, if any.
///
/// ```
/// use sojourn_engine::control::apply;
/// use sojourn_engine::{Aqm, P4Aqm, Programs, StandaloneConfig, StandalonePort, standalone};
/// use sojourn_packet::Time;
/// use sojourn_control::Operation;
/// # let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
/// let p4 = P4Aqm {
///     program: root.join("tests/stf/v1model/wire.p4").display().to_string(),
///     include_paths: vec![root.join("p4/include").display().to_string()],
///     ..P4Aqm::default()
/// };
/// let config = serde_json::json!({"ports": [{"id": 1}, {"id": 2}], "aqm": Aqm::P4(Box::new(p4))});
/// let config: StandaloneConfig = serde_json::from_value(config)?;
/// let mut switch = standalone(&config, &Programs::default())?;
/// let batch: Vec<Operation> = serde_json::from_value(serde_json::json!([{
///     "op": "add_entry", "table": "forward",
///     "entry": {"match": {"standard_metadata.ingress_port": 1}, "action": "send", "args": {"port": 2}},
/// }]))?;
/// let handles = apply(&mut switch, &batch, Time::from_millis(5))?;
/// assert!(handles[0].is_some());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Returns the first rejected operation; program and switch are unchanged.
pub fn apply(
    switch: &mut Switch,
    batch: &[Operation],
    now: Time,
) -> Result<Vec<Option<u32>>, BatchError> {
    // A single operation is atomic anyway.
    let mut all = match batch.len() > 1 {
        true => Transaction::begin(switch, now),
        false => Transaction::lasting(switch, now),
    };
    let mut handles = Vec::with_capacity(batch.len());
    for (at, operation) in batch.iter().enumerate() {
        match all.apply(operation) {
            Ok(handle) => handles.push(handle),
            Err(error) => {
                all.roll_back();
                return Err(BatchError::new(batch, at, error));
            }
        }
    }
    Ok(handles)
}

/// Operations at one time that can be rolled back together, for callers that need the result of
/// each before the next. They take effect unless they are rolled back.
pub struct Transaction<'s> {
    switch: &'s mut Switch,
    now: Time,
    revertible: bool,
    pipes: Pipes,
    undo: Undo,
}

/// Pipes of a chip, each of which runs the program separately: a bit for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pipes(pub u32);

impl Pipes {
    /// All pipes.
    pub const ALL: Pipes = Pipes(u32::MAX);

    /// Numbers of the selected pipes among `count`.
    pub fn numbers(self, count: usize) -> impl Iterator<Item = usize> {
        (0..count).filter(move |pipe| self.0 >> pipe & 1 == 1)
    }
}

impl<'s> Transaction<'s> {
    /// Begins a transaction.
    pub fn begin(switch: &'s mut Switch, now: Time) -> Transaction<'s> {
        switch.advance(now);
        Transaction { switch, now, revertible: true, pipes: Pipes::ALL, undo: Undo::default() }
    }

    /// Selects the pipes of the following operations on the program; the default is all.
    pub fn choose(&mut self, pipes: Pipes) {
        self.pipes = pipes;
    }

    /// Answers a query to the program in the first of the pipes.
    ///
    /// # Errors
    /// As for [`read`].
    pub fn read(&mut self, query: &Query) -> Result<Reply, OperationError> {
        let pipe = self.pipes.0.trailing_zeros() as usize;
        read_of(self.switch, pipe, query)
    }

    /// A transaction that cannot be rolled back, and records nothing for that.
    pub fn lasting(switch: &'s mut Switch, now: Time) -> Transaction<'s> {
        Transaction { revertible: false, ..Transaction::begin(switch, now) }
    }

    /// Changes the switch.
    ///
    /// # Errors
    /// The change is rejected; earlier ones remain.
    pub fn change(&mut self, change: &Change) -> Result<(), OperationError> {
        let replaced = self.switch.change(self.now, change)?;
        if self.revertible {
            self.undo.replaced.push(replaced);
        }
        Ok(())
    }

    /// Applies one operation atomically; returns the handle of an added entry.
    ///
    /// # Errors
    /// The operation is rejected; earlier ones remain.
    pub fn apply(&mut self, operation: &Operation) -> Result<Option<u32>, OperationError> {
        if let Some(change) = change(operation) {
            return self.change(&change).map(|()| None);
        }
        let Transaction { switch, now, revertible, pipes, undo } = self;
        let count = crate::control::pipes(switch);
        if !*revertible && count <= 1 {
            return Ok(sojourn_control::execute(program(switch)?, operation, *now)?);
        }
        // All pipes reject the same operations, except for entries that clients added to some pipes
        // only: if one rejects, none applies it.
        let entries = matches!(
            operation,
            Operation::AddEntry { .. }
                | Operation::AddEntries { .. }
                | Operation::ModifyEntry { .. }
                | Operation::DeleteEntry { .. }
        );
        let (mut alone, mut handle) = (Undo::default(), None);
        let undo = if *revertible { undo } else { &mut alone };
        undo.before.resize_with(count.max(undo.before.len()), Checkpoint::default);
        for pipe in pipes.numbers(count) {
            let program = program_of(switch, pipe)?;
            let done = match *revertible || entries {
                true => undo.before[pipe].execute(program, operation, *now),
                false => sojourn_control::execute(program, operation, *now),
            };
            match done {
                Ok(added) => handle = handle.or(added),
                Err(error) => {
                    if !*revertible {
                        alone.restore(switch);
                    }
                    return Err(error.into());
                }
            }
        }
        Ok(handle)
    }

    /// The switch in its present state.
    pub fn switch(&mut self) -> &mut Switch {
        self.switch
    }

    /// Rolls the transaction back: program and switch are as before.
    pub fn roll_back(self) {
        self.undo.restore(self.switch);
    }
}

/// Answers a query to the program of a switch.
///
/// # Errors
/// The program has no such object or no such cell, or there is no program.
pub fn read(switch: &mut Switch, query: &Query) -> Result<Reply, OperationError> {
    read_of(switch, 0, query)
}

/// The same of one of its pipes.
///
/// # Errors
/// As for [`read`], or there is no such pipe.
pub fn read_of(switch: &mut Switch, pipe: usize, query: &Query) -> Result<Reply, OperationError> {
    Ok(sojourn_control::read(program_of(switch, pipe)?, query)?)
}

/// Number of pipes that run the switch's program, each with its own state; 0 without a program.
pub fn pipes(switch: &mut Switch) -> usize {
    Plane::downcast(switch.data_plane()).map_or(0, |plane| plane.pipes())
}

/// The pipes of a switch that run a pipeline of its program.
pub fn running(switch: &mut Switch, pipeline: usize) -> Pipes {
    Pipes(Plane::downcast(switch.data_plane()).map_or(0, |plane| plane.running(pipeline)))
}

/// The program in one of a switch's pipes, for its control plane.
///
/// # Errors
/// There is none.
pub fn program_of(
    switch: &mut Switch,
    pipe: usize,
) -> Result<&mut dyn RuntimeControl, OperationError> {
    let plane = Plane::downcast(switch.data_plane());
    plane.and_then(|plane| plane.control_of(pipe)).ok_or(OperationError::NoProgram)
}

/// The program of a switch, for its control plane.
///
/// # Errors
/// There is none.
pub fn program(switch: &mut Switch) -> Result<&mut dyn RuntimeControl, OperationError> {
    program_of(switch, 0)
}

#[derive(Default)]
struct Undo {
    /// Saved state of each pipe.
    before: Vec<Checkpoint>,
    replaced: Vec<Replaced>,
}

impl Undo {
    fn restore(self, switch: &mut Switch) {
        self.replaced.into_iter().rev().for_each(|replaced| switch.revert(replaced));
        for (pipe, before) in self.before.into_iter().enumerate() {
            if let Ok(program) = program_of(switch, pipe) {
                before.restore(program);
            }
        }
    }
}

/// Whether an operation concerns the switch, not its program.
pub(crate) fn is_of_the_switch(operation: &Operation) -> bool {
    change(operation).is_some()
}

/// Change of the switch that an operation requests, if it concerns the switch.
fn change(operation: &Operation) -> Option<Change> {
    Some(match operation {
        Operation::SetMirrorSession(given) => Change::Session(session(given)),
        Operation::RemoveMirrorSession { session } => Change::NoSession(*session),
        Operation::SetMulticastGroup(given) => Change::Group(group(given)),
        Operation::RemoveMulticastGroup { group } => Change::NoGroup(*group),
        Operation::SetCpuPort { port } => Change::CpuPort(port.map(PortId)),
        Operation::SetPacketGenerator(given) => {
            Change::Generator(GeneratorChange::Whole(Box::new(generator(given))))
        }
        Operation::RemovePacketGenerator { pipe, app } => {
            Change::Generator(GeneratorChange::Disable(*pipe, *app))
        }
        Operation::SetQueue(setting) => Change::Queues(queues(setting)),
        Operation::SetSchedulerNode(given) => Change::Node(scheduler_node(given)),
        Operation::FreeSchedulerNode { port, node } => Change::NoNode(PortId(*port), *node),
        Operation::SetDepthReports { pipe, mode } => Change::Reports(*pipe, *mode),
        Operation::SetBufferPool(pool) => Change::Pool(pool.pool, pool.cells),
        Operation::SetDeflection(queue) => Change::Deflection(deflection(queue)),
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
        paused: setting.paused,
        weight: setting.weight,
        level: setting.level,
        node: setting.node,
        reports: setting.reports,
        share: ShareChange {
            limit: setting.limit_cells,
            alpha: setting.alpha.map(dynamic),
            floor: setting.base_cells,
            pool: setting.pool,
            guaranteed: setting.guaranteed_cells,
            headroom: setting.headroom_cells,
            colors: colors(setting),
        },
    }
}

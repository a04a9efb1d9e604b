//! Errors of building a run.

use sojourn_control::ControlError;
use sojourn_net::ConfigError;
use sojourn_target::LoadError;
use thiserror::Error;

/// Reason why a run, a replay or a switch of packet tests cannot begin.
#[derive(Debug, Error)]
pub enum RunError {
    /// A value of the configuration is out of range.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A program cannot be loaded.
    #[error(transparent)]
    Program(#[from] LoadError),
    /// A program is for another architecture than the configuration requires.
    #[error("aqm.architecture = {wanted}: {program} is for {found}")]
    Architecture {
        /// Target that the configuration requires.
        wanted: String,
        /// The program's path.
        program: String,
        /// Target of the program.
        found: &'static str,
    },
    /// A control plane does not fit its program.
    #[error("{}{}", about(.0), .0)]
    Control(#[from] ControlError),
    /// An operation of a control plane's later steps does not fit its program.
    #[error("control at {at} ns: operation {place}: {error}")]
    Later {
        /// Time of the operation, ns.
        at: u64,
        /// Its index in the step, from 1.
        place: usize,
        /// Reason.
        error: ControlError,
    },
    /// A register that cannot be recorded, or a packet that cannot be traced.
    #[error("trace: {0}")]
    Trace(ControlError),
    /// A switch of packet tests cannot be built.
    #[error(transparent)]
    Switch(#[from] sojourn_switch::ConfigError),
    /// A discipline under a program whose packets carry ingress's headers in front.
    #[error(
        "aqm.discipline: {program} is for {found}, whose queues drop from the tail alone; a program \
         for {others} may have a discipline under it"
    )]
    NoDisciplines {
        /// The program's path.
        program: String,
        /// Target of the program.
        found: &'static str,
        /// Targets whose programs may have one.
        others: String,
    },
    /// A replay of a program with asynchronous, overlapping passes.
    #[error(
        "{program} is for {found}, whose threads ask how full a queue is before a packet enters it: a \
         trace is of packets that leave one. A run asks the program about a queue of its own"
    )]
    NoQueueToAsk {
        /// The program's path.
        program: String,
        /// Target of the program.
        found: &'static str,
    },
    /// Priority queues for a switch without any.
    #[error("priority queues are bmv2's; this program is for {found}")]
    NoPriorityQueues {
        /// Target of the program.
        found: &'static str,
    },
}

/// Prefix of a message without a position of its own.
fn about(error: &ControlError) -> &'static str {
    match error {
        ControlError::Line { .. } | ControlError::Lines(_) => "",
        _ => "control plane: ",
    }
}

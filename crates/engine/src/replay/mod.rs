//! Replay: a recorded queue presented to an AQM packet by packet, without feedback.
//!
//! A trace lists for each packet that left a queue the time of departure, its sojourn time and the
//! backlog behind it. A [`Replay`] passes these packets to an AQM in turn: a P4 program through the
//! two passes of its data plane, or RFC 8289's law. Because no sender reacts to a drop, all AQMs
//! see the same packets, and their decisions can be compared one by one.
//!
//! On the switch a P4 program decides behind the scheduler, where a dropped packet has used its
//! turn already. So a trace is a sequence of dequeues, not of arrivals: no decision moves the
//! packets that follow. Uses the data plane and the native law; reads no clock and no file, and
//! must not depend on the comparison.

mod config;
mod depth_reports;
mod frames;
mod native_aqm;
mod program;
mod queue;
mod synthetic;
#[cfg(test)]
mod tests;
mod trace;

pub use config::ReplayConfig;
pub use program::Copies;
pub use queue::{FateRows, QueueReplay, StepRows};
pub use synthetic::{Profile, Synthetic, SyntheticConfig};
pub use trace::{DECISION_DROPPED, DECISION_UNSYNCHRONISED, Decision, Dequeue, TraceRows};

use crate::RunError;
use crate::config::Aqm;
use crate::load::Programs;
use crate::switch_setup;
use depth_reports::Depths;
use native_aqm::NativeLaw;
use program::Program;
use sojourn_control::ControlError;
use sojourn_packet::{DataPlane, FaultReport};
use sojourn_switch::CELL;
use thiserror::Error;

/// Refusal of packet generators. A program with a ghost thread decides in ingress, where a replay
/// presents the packets of the trace alone.
const NO_GENERATOR: &str = "pktgen[0]: a replay of a program with a ghost thread has no packet \
                            generator; a run has one";

/// Reason why a replay cannot continue.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ReplayError {
    /// The program's ingress did not send the packet to a port.
    #[error(
        "ingress does not forward packet {packet} of the trace, an IPv4 packet from 10.0.0.1 to \
         10.128.0.1 that came in by port 1: the program's tables need an entry for it"
    )]
    NotForwarded {
        /// Its number, from 0.
        packet: u64,
    },
    /// The program's ingress forwarded packets of the trace and then dropped one of the same flow:
    /// it decides before the queue.
    #[error(
        "ingress drops packet {packet} of the trace, after it has sent others like it to their \
         port: the program decides before the queue, which its drops would then change. A trace is \
         of packets that leave a queue; a run asks the program about a queue of its own"
    )]
    DecidesBeforeQueue {
        /// Its number, from 0.
        packet: u64,
    },
    /// The times of a trace must not decrease.
    #[error("packet {packet} of the trace leaves the queue before the one in front of it")]
    Order {
        /// Its number, from 0.
        packet: u64,
    },
}

/// An AQM under replay.
///
/// ```
/// use sojourn_engine::replay::{Dequeue, Replay, ReplayConfig};
/// use sojourn_packet::{Bytes, Time};
/// let config = ReplayConfig::from_json(r#"{"aqm": {"kind": "native", "name": "codel"}}"#)?;
/// let mut codel = Replay::new(&config)?;
/// let late = |ms| Dequeue {
///     time: Time::from_millis(ms),
///     sojourn: Time::from_millis(20),
///     backlog: Bytes(30_000),
///     size: 1514,
///     ..Dequeue::default()
/// };
/// // RFC 8289: the first drop comes when the delay has been above 5 ms for 100 ms.
/// let first = (0..).find(|&ms| codel.decide(&late(ms)).is_ok_and(|decision| decision.dropped));
/// assert_eq!(first, Some(100));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Replay {
    subject: Subject,
    decided: u64,
    last: u64,
}

enum Subject {
    NativeLaw(NativeLaw),
    Program(Box<Program>),
}

impl Replay {
    /// Creates an AQM before its first packet, with its program loaded and configured.
    ///
    /// # Errors
    /// If the configuration is invalid, names a discipline without decisions apart from its queue,
    /// or a program that cannot be loaded.
    pub fn new(config: &ReplayConfig) -> Result<Replay, RunError> {
        Replay::with(config, &Programs::default())
    }

    /// The same with compiled programs.
    ///
    /// # Errors
    /// As for [`Replay::new`].
    pub fn with(config: &ReplayConfig, programs: &Programs) -> Result<Replay, RunError> {
        config.check()?;
        let subject = match &config.aqm {
            Aqm::Native(native) => Subject::NativeLaw(NativeLaw::new(native)?),
            Aqm::P4(p4) => {
                let (mut plane, control) = programs.plane(p4, config.seed)?;
                if plane.overlapping().is_some() {
                    let (program, found) = (p4.program.clone(), plane.target().title());
                    return Err(RunError::NoQueueToAsk { program, found });
                }
                let traits = plane.target().switch();
                let generators =
                    switch_setup::generators(&control.pktgen, traits.packet_generator, 1)?;
                let sessions = control.mirror_sessions;
                let has_ghost = plane.takes_depth_reports();
                if has_ghost && !control.pktgen.is_empty() {
                    return Err(ControlError::Message(NO_GENERATOR.into()).into());
                }
                let depths = has_ghost.then(|| {
                    let reports = p4.ghost.unwrap_or_default().depth_reports();
                    let cell = traits.traffic_manager.map_or(CELL, |manager| manager.cell);
                    Depths::new(reports, cell.0)
                });
                let program = Program::new(Box::new(plane), sessions, config.latency());
                let program =
                    program.with_generators(generators, traits.recirculating).with_depths(depths);
                Subject::Program(Box::new(program))
            }
        };
        Ok(Replay::from_subject(subject))
    }

    fn from_subject(subject: Subject) -> Replay {
        Replay { subject, decided: 0, last: 0 }
    }

    /// Decision of the AQM about the next packet of the trace.
    ///
    /// # Errors
    /// If the packet is older than the last one, or the program does not forward it.
    pub fn decide(&mut self, dequeue: &Dequeue) -> Result<Decision, ReplayError> {
        let packet = self.decided;
        if dequeue.time.0 < self.last {
            return Err(ReplayError::Order { packet });
        }
        (self.decided, self.last) = (packet + 1, dequeue.time.0);
        match &mut self.subject {
            Subject::NativeLaw(law) => Ok(law.decide(dequeue)),
            Subject::Program(program) => {
                program.decide(dequeue).ok_or_else(|| not_forwarded(packet))
            }
        }
    }

    /// Counters of the program's mirrored copies; all zero for a native law.
    pub fn copies(&self) -> Copies {
        match &self.subject {
            Subject::NativeLaw(_) => Copies::default(),
            Subject::Program(program) => program.copies(),
        }
    }

    /// Faults of the program so far, by kind.
    pub fn faults(&self) -> Vec<FaultReport> {
        match &self.subject {
            Subject::NativeLaw(_) => Vec::new(),
            Subject::Program(program) => program.faults(),
        }
    }
}

/// All packets of a trace are of one flow, so a table that forwards the first forwards all.
fn not_forwarded(packet: u64) -> ReplayError {
    match packet {
        0 => ReplayError::NotForwarded { packet },
        _ => ReplayError::DecidesBeforeQueue { packet },
    }
}

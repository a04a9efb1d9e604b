//! Device: the switch behind a server, independent of its driver and its clock.

use crate::request_queue::Turn;
use sojourn_packet::Time;
use sojourn_switch::Switch;
use sojourn_target::Program;
use std::collections::BTreeSet;
use std::future::{Future, ready};
use std::pin::Pin;
use std::sync::Arc;

/// Work on the switch at a time between two packets.
pub type Work = Box<dyn FnOnce(&mut Switch, Time) + Send>;

/// Wait of a request for its turn; nothing if it needs none.
pub type Admission = Pin<Box<dyn Future<Output = Option<Turn>> + Send>>;

/// A program, and the pipes of the chip that run it.
#[derive(Clone, Debug)]
pub struct Placed {
    /// The program.
    pub program: Arc<Program>,
    /// The pipes; for the first of several programs, all that no other has.
    pub pipes: Vec<u16>,
}

impl Placed {
    /// A program that all pipes run.
    pub fn everywhere(program: Arc<Program>) -> Placed {
        Placed { program, pipes: Vec::new() }
    }
}

/// A switch that another thread drives.
pub trait Device: Send + Sync + 'static {
    /// Submits work. False if the switch has ended; the work is then dropped.
    fn submit(&self, work: Work) -> bool;

    /// Builds an idle switch like this one with another program and empty tables; or with several,
    /// of which all but the first have pipes of their own.
    ///
    /// # Errors
    /// The switch cannot run them.
    fn build(&self, programs: &[Placed]) -> Result<Switch, String>;

    /// Injects a controller's frame at the controller's port. False if that fails.
    fn packet_out(&self, frame: Vec<u8>) -> bool;

    /// The ports whose links are down.
    fn down(&self) -> BTreeSet<u16>;

    /// Waits until a controller's message may be executed, which is until the result is dropped. A
    /// switch in real time admits every message at once.
    fn admit(&self) -> Admission {
        Box::pin(ready(None))
    }

    /// Whether the switch's clock is that of the machine.
    fn is_in_real_time(&self) -> bool {
        true
    }
}

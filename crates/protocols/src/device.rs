//! Device: the switch behind a server, independent of its driver and its clock.

use sojourn_packet::Time;
use sojourn_switch::Switch;
use sojourn_target::Program;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Something to be done with the switch at an instant, between two packets.
pub type Work = Box<dyn FnOnce(&mut Switch, Time) + Send>;

/// A program, and the pipes of the chip that run it.
#[derive(Clone, Debug)]
pub struct Placed {
    /// It.
    pub program: Arc<Program>,
    /// The pipes; of the first of several all that no other has.
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

    /// A switch like this one that runs another program, at rest and with empty tables; or several,
    /// where those behind the first have pipes of their own.
    ///
    /// # Errors
    /// They do not run on it.
    fn build(&self, programs: &[Placed]) -> Result<Switch, String>;

    /// Has a frame of the controller's enter the switch at the controller's port. False if it cannot.
    fn packet_out(&self, frame: Vec<u8>) -> bool;

    /// The ports whose links are down.
    fn down(&self) -> BTreeSet<u16>;
}

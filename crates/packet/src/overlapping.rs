//! Data planes whose ingress passes take time and overlap: many threads on shared memory.
//!
//! A pass is submitted at one instant and completes at a later one, others in between. The data
//! plane keeps its threads and what they wait for; the switch keeps time and what it noted of the
//! packet. Egress passes stay calls: the wire is held while one decides.

use crate::carried::Carried;
use crate::dataplane::{IngressInput, IngressOutput, PortId};
use crate::packet::Packet;
use crate::units::Time;

/// Names a pass from its submission to its completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PassId(pub u64);

/// How full the queues are at this instant; what a thread may read while it runs.
pub trait QueueDepths {
    /// Packets in a queue; 0 if there is no such queue.
    fn packets(&self, port: PortId, queue: u8) -> u64;
}

/// A data plane whose ingress passes take time.
///
/// The switch submits packets in the order of their arrival, asks for [`Overlapping::next`] after
/// each call, and at that instant calls [`Overlapping::complete`] until nothing is left.
pub trait Overlapping {
    /// A pass begins at `input.now`; it may have to wait for a thread.
    fn submit(&mut self, pass: PassId, input: &IngressInput, packet: Packet, carried: Carried);

    /// When something happens inside next: a thread reads, writes or ends.
    fn next(&self) -> Option<Time>;

    /// Does what is due up to `now`, up to the next pass that completes, and hands that over. The
    /// passes may complete in another order than they were submitted in.
    fn complete(&mut self, now: Time, depths: &dyn QueueDepths) -> Option<(PassId, IngressOutput)>;
}

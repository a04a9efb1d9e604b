//! Data planes with asynchronous, overlapping ingress passes: many threads on shared memory.
//!
//! A pass is submitted at one time and completes at a later one, with others in between. The data
//! plane holds its threads and their wait conditions. The switch holds time and the metadata of the
//! packet. Egress passes remain calls, because an egress decision holds the wire.

use crate::dataplane::{IngressInput, PortId};
use crate::packet::Packet;
use crate::packet_metadata::PacketMetadata;
use crate::pass_output::IngressOutput;
use crate::units::Time;

/// Id of a pass from its submission to its completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PassId(pub u64);

/// Current queue depths, as read by a running thread.
pub trait QueueDepths {
    /// Packets in a queue; 0 if there is no such queue.
    fn packets(&self, port: PortId, queue: u8) -> u64;
}

/// A data plane whose ingress passes take time.
///
/// The switch submits packets in the order of their arrival, calls [`Overlapping::next`] after each
/// call, and at that time calls [`Overlapping::complete`] until it returns `None`.
///
/// ```
/// use sojourn_packet::*;
/// use std::collections::BTreeMap;
/// /// As many threads as packets: a pass takes a microsecond for each byte.
/// #[derive(Default)]
/// struct Threads(BTreeMap<(Time, PassId), Packet>);
/// impl Overlapping for Threads {
///     fn submit(&mut self, pass: PassId, input: &IngressInput, packet: Packet, _: PacketMetadata) {
///         let end = input.now + Time::from_micros(packet.len().0);
///         self.0.insert((end, pass), packet);
///     }
///     fn next(&self) -> Option<Time> {
///         self.0.keys().next().map(|(end, _)| *end)
///     }
///     fn complete(&mut self, now: Time, _: &dyn QueueDepths) -> Option<(PassId, IngressOutput)> {
///         let first = self.0.first_entry().filter(|entry| entry.key().0 <= now)?;
///         let ((_, pass), packet) = first.remove_entry();
///         Some((pass, IngressOutput { packet: Some(packet), ..IngressOutput::default() }))
///     }
/// }
/// let mut threads = Threads::default();
/// let now = Time::ZERO;
/// let input = IngressInput { port: PortId(1), arrived: now, now, resubmitted: false };
/// for (pass, bytes) in [(0, 90), (1, 60)] {
///     let packet = Packet { zeros: bytes, ..Packet::default() };
///     threads.submit(PassId(pass), &input, packet, PacketMetadata::default());
/// }
/// assert_eq!(threads.next(), Some(Time::from_micros(60)), "the second is ready first");
/// ```
pub trait Overlapping {
    /// A pass begins at `input.now`; it may have to wait for a thread.
    fn submit(
        &mut self,
        pass: PassId,
        input: &IngressInput,
        packet: Packet,
        packet_metadata: PacketMetadata,
    );

    /// Time of the next internal event: a thread reads, writes or ends.
    fn next(&self) -> Option<Time>;

    /// Processes events up to `now`, until the next pass completes, and returns that. Passes may
    /// complete in another order than they were submitted in.
    fn complete(&mut self, now: Time, depths: &dyn QueueDepths) -> Option<(PassId, IngressOutput)>;
}

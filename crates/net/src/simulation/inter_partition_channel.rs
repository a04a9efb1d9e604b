//! Inter-partition channel: the links between partitions, the frames in flight on them, and the
//! exchange.
//!
//! A frame waits in its sender's partition until the partitions synchronize, then in its
//! destination's. Frames are stored contiguously, so that another core reads them sequentially.
//! Their buffers do not move. The instants alone decide which of several links has the next frame.
//! The result therefore does not depend on how often the partitions synchronize, nor on their
//! driver.

use super::node::PortRef;
use super::partition::Partition;
use super::slab::PacketSlab;
use sojourn_packet::{FlowId, Packet, PacketId, Time};
use std::collections::VecDeque;

/// The attributes of a frame in a channel.
struct CrossingFrame {
    /// Arrival at the other end.
    at: Time,
    /// Time at which its switch transmitted it.
    sent: Time,
    id: PacketId,
    flow: FlowId,
    zeros: u32,
    /// Number of its bytes in addition to the zeros.
    len: u32,
}

/// Frames that cross in one window, in the order of the link.
#[derive(Default)]
struct Batch {
    frames: Vec<CrossingFrame>,
    bytes: Vec<u8>,
    /// Number of frames and bytes taken.
    taken: (usize, usize),
}

impl Batch {
    fn front(&self) -> Option<&CrossingFrame> {
        self.frames.get(self.taken.0)
    }

    fn take(&mut self, slab: &mut PacketSlab) -> Option<Packet> {
        let CrossingFrame { id, flow, zeros, len, .. } = *self.front()?;
        let mut bytes = slab.buffer();
        bytes.extend_from_slice(&self.bytes[self.taken.1..][..len as usize]);
        self.taken = (self.taken.0 + 1, self.taken.1 + len as usize);
        Some(Packet { id, flow, bytes, zeros })
    }

    /// The same room, empty.
    fn emptied(mut self) -> Batch {
        self.frames.clear();
        self.bytes.clear();
        Batch { taken: (0, 0), ..self }
    }
}

/// A link out of the partition.
pub(super) struct OutgoingChannel {
    /// The receiving partition, and the index of the incoming channel there.
    partition: u8,
    incoming_index: usize,
    batch: Batch,
}

impl OutgoingChannel {
    pub(super) fn new(partition: u8, incoming_index: usize) -> OutgoingChannel {
        OutgoingChannel { partition, incoming_index, batch: Batch::default() }
    }

    /// Adds a frame that was transmitted at `sent` and arrives at `at`.
    pub(super) fn put(&mut self, at: Time, sent: Time, packet: Packet, slab: &mut PacketSlab) {
        let Packet { id, flow, bytes, zeros } = packet;
        let len = bytes.len() as u32;
        self.batch.frames.push(CrossingFrame { at, sent, id, flow, zeros, len });
        self.batch.bytes.extend_from_slice(&bytes);
        slab.recycle(bytes);
    }
}

/// A link into the partition. No frame overtakes another.
pub(super) struct IncomingChannel {
    port_ref: PortRef,
    /// None of them is empty.
    batches: VecDeque<Batch>,
    /// Those that were.
    room: Vec<Batch>,
}

impl IncomingChannel {
    pub(super) fn new(port_ref: PortRef) -> IncomingChannel {
        IncomingChannel { port_ref, batches: VecDeque::new(), room: Vec::new() }
    }

    fn front(&self) -> Option<&CrossingFrame> {
        self.batches.front()?.front()
    }
}

/// All links between a partition and others.
#[derive(Default)]
pub(super) struct Channels {
    pub(super) outgoing: Vec<OutgoingChannel>,
    pub(super) incoming: Vec<IncomingChannel>,
}

impl Channels {
    /// The arrival of the next frame, and its channel: of equal instants the one that was sent first.
    pub(super) fn next(&self) -> Option<(Time, usize)> {
        let fronts = self.incoming.iter().zip(0..);
        let fronts = fronts.filter_map(|(way, place)| Some((way.front()?, place)));
        let first = fronts.min_by_key(|(frame, place)| (frame.at, frame.sent, *place));
        first.map(|(frame, place)| (frame.at, place))
    }

    /// Takes the next frame of an incoming channel, with its port.
    pub(super) fn take(
        &mut self,
        incoming_index: usize,
        slab: &mut PacketSlab,
    ) -> Option<(PortRef, Packet)> {
        let way = &mut self.incoming[incoming_index];
        let batch = way.batches.front_mut()?;
        let packet = batch.take(slab)?;
        if batch.front().is_none() {
            way.room.extend(way.batches.pop_front().map(Batch::emptied));
        }
        Some((way.port_ref, packet))
    }
}

/// Delivers the frames that left their partition. `partitions` are all of them, in order.
pub(super) fn exchange(partitions: &mut [&mut Partition]) {
    for from in 0..partitions.len() {
        for way in 0..partitions[from].channels.outgoing.len() {
            let to = usize::from(partitions[from].channels.outgoing[way].partition);
            let Ok([from, to]) = partitions.get_disjoint_mut([from, to]) else { continue };
            let out = &mut from.channels.outgoing[way];
            if out.batch.front().is_some() {
                let incoming = &mut to.channels.incoming[out.incoming_index];
                let room = incoming.room.pop().unwrap_or_default();
                incoming.batches.push_back(std::mem::replace(&mut out.batch, room));
            }
        }
    }
}

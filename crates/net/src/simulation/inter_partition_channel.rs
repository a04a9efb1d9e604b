//! Inter-partition channel: the links between partitions, the frames in flight on them, and the
//! exchange.
//!
//! A frame waits in its sender's partition until the partitions synchronize, then in its
//! destination's. Frames are stored contiguously, so that another core reads them sequentially.
//! Their buffers do not move. The instants alone decide which of several links has the next frame.
//! The result therefore does not depend on how often the partitions synchronize, nor on their
//! driver.

use super::node::Door;
use super::partition::Region;
use super::slab::PacketSlab;
use sojourn_packet::{FlowId, Packet, PacketId, Time};
use std::collections::VecDeque;

/// What is said of a frame beside its bytes.
struct Crossing {
    /// When it is at the other end.
    at: Time,
    /// When its switch handed it out.
    sent: Time,
    id: PacketId,
    flow: FlowId,
    zeros: u32,
    /// How many bytes it has beside the zeros.
    len: u32,
}

/// Frames that cross in one window, in the order of the link.
#[derive(Default)]
struct Batch {
    frames: Vec<Crossing>,
    bytes: Vec<u8>,
    /// How many frames and bytes have been taken.
    taken: (usize, usize),
}

impl Batch {
    fn front(&self) -> Option<&Crossing> {
        self.frames.get(self.taken.0)
    }

    fn take(&mut self, slab: &mut PacketSlab) -> Option<Packet> {
        let Crossing { id, flow, zeros, len, .. } = *self.front()?;
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

/// A link out of the region.
pub(super) struct WayOut {
    /// Where it leads: a region, and the place of the way in there.
    region: u8,
    way_in: usize,
    batch: Batch,
}

impl WayOut {
    pub(super) fn new(region: u8, way_in: usize) -> WayOut {
        WayOut { region, way_in, batch: Batch::default() }
    }

    /// A frame that was handed out at `sent` is at the other end at `at`.
    pub(super) fn put(&mut self, at: Time, sent: Time, packet: Packet, slab: &mut PacketSlab) {
        let Packet { id, flow, bytes, zeros } = packet;
        let len = bytes.len() as u32;
        self.batch.frames.push(Crossing { at, sent, id, flow, zeros, len });
        self.batch.bytes.extend_from_slice(&bytes);
        slab.recycle(bytes);
    }
}

/// A link into the region. No frame overtakes another.
pub(super) struct WayIn {
    door: Door,
    /// None of them is empty.
    batches: VecDeque<Batch>,
    /// Those that were.
    room: Vec<Batch>,
}

impl WayIn {
    pub(super) fn new(door: Door) -> WayIn {
        WayIn { door, batches: VecDeque::new(), room: Vec::new() }
    }

    fn front(&self) -> Option<&Crossing> {
        self.batches.front()?.front()
    }
}

/// All links between a region and others.
#[derive(Default)]
pub(super) struct Border {
    pub(super) ways_out: Vec<WayOut>,
    pub(super) ways_in: Vec<WayIn>,
}

impl Border {
    /// When the next frame comes in, and by which way: of equal instants the one that was sent first.
    pub(super) fn next(&self) -> Option<(Time, usize)> {
        let fronts = self.ways_in.iter().zip(0..);
        let fronts = fronts.filter_map(|(way, place)| Some((way.front()?, place)));
        let first = fronts.min_by_key(|(frame, place)| (frame.at, frame.sent, *place));
        first.map(|(frame, place)| (frame.at, place))
    }

    /// Takes the next frame of a way in, with where it goes.
    pub(super) fn take(&mut self, way_in: usize, slab: &mut PacketSlab) -> Option<(Door, Packet)> {
        let way = &mut self.ways_in[way_in];
        let batch = way.batches.front_mut()?;
        let packet = batch.take(slab)?;
        if batch.front().is_none() {
            way.room.extend(way.batches.pop_front().map(Batch::emptied));
        }
        Some((way.door, packet))
    }
}

/// Hands on what has left its region. `regions` are all of them, in their order.
pub(super) fn exchange(regions: &mut [&mut Region]) {
    for from in 0..regions.len() {
        for way in 0..regions[from].border.ways_out.len() {
            let to = usize::from(regions[from].border.ways_out[way].region);
            let Ok([from, to]) = regions.get_disjoint_mut([from, to]) else { continue };
            let out = &mut from.border.ways_out[way];
            if out.batch.front().is_some() {
                let way_in = &mut to.border.ways_in[out.way_in];
                let room = way_in.room.pop().unwrap_or_default();
                way_in.batches.push_back(std::mem::replace(&mut out.batch, room));
            }
        }
    }
}

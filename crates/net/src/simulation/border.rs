//! The links from one region to another: what is on its way over them, and how it is handed on.
//!
//! A frame waits with its sender's region until the regions meet, then in the order of the link with the
//! region that it goes to. Which of several links has the next one is decided by instants alone, so
//! that it is the same however often the regions meet and whoever drives them.

use super::region::Region;
use sojourn_packet::{Packet, Time};
use sojourn_switch::PortId;
use std::collections::VecDeque;

/// A frame that leaves its region.
pub(super) struct Crossing {
    /// When it is at the other end.
    pub(super) at: Time,
    /// When its switch handed it out.
    pub(super) sent: Time,
    pub(super) packet: Packet,
}

/// A link out of the region.
pub(super) struct WayOut {
    /// Where it leads: a region, and the place of the way in there.
    pub(super) region: u8,
    pub(super) way_in: usize,
    pub(super) frames: Vec<Crossing>,
}

/// A link into the region. No frame overtakes another.
pub(super) struct WayIn {
    pub(super) node: u16,
    pub(super) port: PortId,
    frames: VecDeque<Crossing>,
}

impl WayIn {
    pub(super) fn new(node: u16, port: PortId) -> WayIn {
        WayIn { node, port, frames: VecDeque::new() }
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
        let fronts = fronts.filter_map(|(way, place)| Some((way.frames.front()?, place)));
        let first = fronts.min_by_key(|(frame, place)| (frame.at, frame.sent, *place));
        first.map(|(frame, place)| (frame.at, place))
    }

    /// Takes the next frame of a way in, with where it goes.
    pub(super) fn take(&mut self, way_in: usize) -> Option<(u16, PortId, Packet)> {
        let way = &mut self.ways_in[way_in];
        way.frames.pop_front().map(|frame| (way.node, way.port, frame.packet))
    }
}

/// Hands on what has left its region. `regions` are all of them, in their order.
pub(super) fn exchange(regions: &mut [&mut Region]) {
    for from in 0..regions.len() {
        for way in 0..regions[from].border.ways_out.len() {
            let to = usize::from(regions[from].border.ways_out[way].region);
            let Ok([from, to]) = regions.get_disjoint_mut([from, to]) else { continue };
            let out = &mut from.border.ways_out[way];
            // As many buffers come back as have gone.
            from.slab.take_spare(&mut to.slab, out.frames.len());
            to.border.ways_in[out.way_in].frames.extend(out.frames.drain(..));
        }
    }
}

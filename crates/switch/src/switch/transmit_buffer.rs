//! Buffer of transmitted packets until the driver takes them.
//!
//! Packets are written field by field in their final position. A packet built elsewhere and copied
//! would stall the copy on its fields.

use crate::observation::Transmit;
use sojourn_packet::{Packet, PortId, Time};
use std::vec::Drain;

/// The packets for wires, in the order of their departure per port.
#[derive(Debug, Default)]
pub(super) struct Outgoing {
    /// Behind those that wait there is room of others.
    list: Vec<Transmit>,
    waiting: usize,
}

impl Outgoing {
    #[inline(always)]
    pub(super) fn push(&mut self, port: PortId, packet: Packet, start: Time, end: Time) {
        if self.waiting == self.list.len() {
            self.add_room();
        }
        let place = &mut self.list[self.waiting];
        (place.port, place.packet, place.start, place.end) = (port, packet, start, end);
        self.waiting += 1;
    }

    #[cold]
    #[inline(never)]
    fn add_room(&mut self) {
        self.list.push(Transmit::default());
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.waiting == 0
    }

    /// Those that wait, to be emptied where they are.
    #[inline]
    pub(super) fn waiting(&mut self) -> &mut [Transmit] {
        &mut self.list[..self.waiting]
    }

    /// Those that wait were looked at.
    #[inline]
    pub(super) fn clear(&mut self) {
        self.waiting = 0;
    }

    /// Takes out those that wait.
    pub(super) fn take(&mut self) -> Drain<'_, Transmit> {
        self.list.drain(..std::mem::take(&mut self.waiting))
    }
}

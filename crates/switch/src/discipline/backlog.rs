//! The packets of one queue, first in, first out, with their bytes counted.

use super::Queued;
use sojourn_packet::{Bytes, make_room};
use std::collections::VecDeque;

/// The length of a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueLength {
    /// Packets.
    pub packets: usize,
    /// Their bytes.
    pub bytes: Bytes,
}

/// A queue of packets.
#[derive(Debug, Default)]
pub struct Backlog {
    packets: VecDeque<Queued>,
    bytes: Bytes,
}

impl Backlog {
    /// Puts a packet at the tail.
    pub fn push(&mut self, packet: Queued) {
        self.bytes += packet.size();
        make_room(&mut self.packets);
        self.packets.push_back(packet);
    }

    /// Takes the packet at the head.
    pub fn pop(&mut self) -> Option<Queued> {
        let packet = self.packets.pop_front()?;
        self.bytes -= packet.size();
        Some(packet)
    }

    /// The packet at the head.
    pub fn front(&self) -> Option<&Queued> {
        self.packets.front()
    }

    /// The same to change it; its length stays.
    pub fn front_mut(&mut self) -> Option<&mut Queued> {
        self.packets.front_mut()
    }

    /// Packets held.
    pub fn len(&self) -> usize {
        self.packets.len()
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    /// Its length.
    pub fn length(&self) -> QueueLength {
        QueueLength { packets: self.len(), bytes: self.bytes }
    }

    /// Bytes held.
    pub fn bytes(&self) -> Bytes {
        self.bytes
    }
}

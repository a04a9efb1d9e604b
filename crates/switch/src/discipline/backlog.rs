//! The packets of one queue, first in, first out, with their bytes counted.

use super::Queued;
use sojourn_packet::{Bytes, Time, make_room};
use std::collections::VecDeque;

/// How much a queue holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Held {
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
    /// If there are packets, of the one at the head. Read when it comes there, one departure before it
    /// is asked for: who asks does not wait for memory that nobody has touched for long.
    head: Head,
}

/// What is asked of the packet at the head.
#[derive(Clone, Copy, Debug, Default)]
struct Head {
    enqueued: Time,
    size: Bytes,
}

impl Head {
    #[inline(always)]
    fn of(packet: &Queued) -> Head {
        Head { enqueued: packet.enqueued, size: packet.size() }
    }
}

impl Backlog {
    /// Puts a packet at the tail.
    pub fn push(&mut self, packet: Queued) {
        self.bytes += packet.size();
        if self.packets.is_empty() {
            self.head = Head::of(&packet);
        }
        make_room(&mut self.packets);
        self.packets.push_back(packet);
    }

    /// Takes the packet at the head.
    pub fn pop(&mut self) -> Option<Queued> {
        let packet = self.packets.pop_front()?;
        self.bytes -= self.head.size;
        if let Some(next) = self.packets.front() {
            self.head = Head::of(next);
        }
        Some(packet)
    }

    /// When the packet at the head was enqueued, and its length.
    #[inline]
    pub fn head(&self) -> Option<(Time, Bytes)> {
        (!self.is_empty()).then_some((self.head.enqueued, self.head.size))
    }

    /// The packet at the head, to change it; its length stays, and when it was enqueued.
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

    /// What it holds.
    pub fn held(&self) -> Held {
        Held { packets: self.len(), bytes: self.bytes }
    }

    /// Bytes held.
    pub fn bytes(&self) -> Bytes {
        self.bytes
    }
}

//! Tail drop: first in, first out; packets beyond the limit are dropped.
//!
//! Without parameters it holds whatever the queue's share of the packet buffer holds, which is
//! what a Tofino queue does; limits in bytes or packets make it Linux's `bfifo` or `pfifo`.

use super::{
    Backlog, Discipline, DisciplineError, DropKind, Drops, LIMIT_BYTES, LIMIT_PACKETS, Limits,
    QueueLength, Queued, Registered, Settings,
};
use sojourn_packet::Time;

/// The line for the table of disciplines.
pub const REGISTRATION: Registered = Registered {
    name: "fifo",
    summary: "tail drop: first in, first out, what does not fit is dropped",
    parameters: &[LIMIT_BYTES, LIMIT_PACKETS],
    build,
};

fn build(settings: &Settings) -> Result<Box<dyn Discipline>, DisciplineError> {
    Ok(Box::new(Fifo::new(settings.limits()?)))
}

/// Statistics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Packets refused for one of the limits.
    pub over_limit: u64,
}

/// A queue with tail drop.
#[derive(Debug, Default)]
pub struct Fifo {
    limits: Limits,
    backlog: Backlog,
    stats: Stats,
}

impl Fifo {
    /// An empty queue.
    pub fn new(limits: Limits) -> Fifo {
        Fifo { limits, ..Fifo::default() }
    }
}

impl Discipline for Fifo {
    fn enqueue(&mut self, _now: Time, packet: Queued, drops: &mut Drops) {
        if self.limits.have_room(self.length(), packet.size()) {
            self.backlog.push(packet);
        } else {
            self.stats.over_limit += 1;
            drops.push(packet, DropKind::Tail);
        }
    }

    fn dequeue(&mut self, _now: Time, _drops: &mut Drops) -> Option<Queued> {
        self.backlog.pop()
    }

    fn reads_frames(&self) -> bool {
        false
    }

    fn marks(&self) -> bool {
        false
    }

    fn length(&self) -> QueueLength {
        self.backlog.length()
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        vec![("over_limit", self.stats.over_limit)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_packet::Bytes;
    use sojourn_packet::Packet;

    fn fill(limits: Limits, size: u32) -> (usize, usize) {
        let (mut fifo, mut drops) = (Fifo::new(limits), Drops::default());
        for _ in 0..10 {
            let packet = Packet { zeros: size, ..Packet::default() };
            fifo.enqueue(Time::ZERO, Queued::new(packet, Time::ZERO), &mut drops);
        }
        (fifo.packets(), drops.drain().filter(|d| d.1 == DropKind::Tail).count())
    }

    #[test]
    fn the_byte_limit_is_filled_to_the_byte() {
        let limit = |n| Limits { bytes: Some(Bytes(n)), ..Limits::default() };
        assert_eq!(fill(limit(300), 100), (3, 7));
        assert_eq!(fill(limit(299), 100), (2, 8));
    }

    #[test]
    fn the_packet_limit_counts_packets() {
        let limits = Limits { packets: Some(4), ..Limits::default() };
        assert_eq!(fill(limits, 1500), (4, 6));
    }

    #[test]
    fn without_limits_nothing_is_dropped() {
        assert_eq!(fill(Limits::default(), 9000), (10, 0));
    }
}

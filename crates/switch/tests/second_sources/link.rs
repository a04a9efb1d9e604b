//! One discipline before a link of 10 Mbit/s: its signals, each with packet and time.
//!
//! The programs that run the second sources do the same steps in the same order: when the link has sent
//! a packet it takes the next, also if a packet comes at that instant; a packet that comes while the
//! link is idle passes the discipline and is taken at once.

use crate::trace::Arrival;
use sojourn_packet::{FlowId, Packet, PacketId, Time};
use sojourn_switch::discipline::{Discipline, Drops, Queued};

/// ns that a byte takes.
const BYTE: u64 = 800;

/// Kind of a packet's event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Dropped.
    Drop,
    /// Sent with Congestion Experienced, with which it did not come.
    Mark,
}

/// A packet that was dropped or marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Signal {
    /// ns: when it was dropped, or when it was sent with its mark.
    pub time: u64,
    /// Its place in the trace, from 0.
    pub packet: u64,
    /// Dropped or marked.
    pub kind: Kind,
}

/// Runs a trace through a discipline until it is empty.
pub fn signals(discipline: &mut dyn Discipline, arrivals: &[Arrival]) -> Vec<Signal> {
    let mut link = Link { discipline, drops: Drops::default(), free_at: None, signals: Vec::new() };
    for (id, arrival) in (0..).zip(arrivals) {
        link.send_until(arrival.time);
        let packet = Queued::new(frame(id, arrival), Time(arrival.time));
        link.discipline.enqueue(Time(arrival.time), packet, &mut link.drops);
        link.note_drops(arrival.time);
        if link.free_at.is_none() {
            link.take(arrival.time);
        }
    }
    link.send_until(u64::MAX);
    link.signals
}

struct Link<'a> {
    discipline: &'a mut dyn Discipline,
    drops: Drops,
    /// Time at which the packet on the link will have been sent; absent if there is none.
    free_at: Option<u64>,
    signals: Vec<Signal>,
}

impl Link<'_> {
    fn send_until(&mut self, time: u64) {
        while let Some(free) = self.free_at.filter(|free| *free <= time) {
            self.take(free);
        }
    }

    fn take(&mut self, now: u64) {
        let sent = self.discipline.dequeue(Time(now), &mut self.drops);
        self.note_drops(now);
        if let Some(sent) = &sent
            && sent.packet.bytes[ECN_FIELD] & 3 == 3
        {
            self.signals.push(Signal { time: now, packet: sent.packet.id.0, kind: Kind::Mark });
        }
        self.free_at = sent.map(|sent| now + sent.size().0 * BYTE);
    }

    fn note_drops(&mut self, time: u64) {
        let drops = self.drops.drain();
        self.signals.extend(drops.map(|(dropped, _)| Signal {
            time,
            packet: dropped.packet.id.0,
            kind: Kind::Drop,
        }));
    }
}

/// Offset of the ECN field in a frame.
const ECN_FIELD: usize = 15;

/// An IPv4 UDP frame; the flow is in its source address and port.
pub fn frame(id: u64, arrival: &Arrival) -> Packet {
    let [high, low] = arrival.flow.to_be_bytes();
    let flow = FlowId(arrival.flow.into());
    let mut packet = Packet { id: PacketId(id), flow, ..Packet::default() };
    packet.bytes.extend_from_slice(&[2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x08, 0x00]);
    packet.bytes.extend_from_slice(&[0x45, arrival.codepoint, 0, 0, 0, 0, 0, 0, 64, 17, 0, 0]);
    packet.bytes.extend_from_slice(&[10, 0, high, low, 10, 1, 0, 1, high, low, 0, 53, 0, 0, 0, 0]);
    packet.zeros = arrival.size - packet.bytes.len() as u32;
    packet
}

//! Replay of a discipline with a queue of its own: packets are enqueued and dequeued at given
//! times, and the fate of each is recorded.
//!
//! Unlike a trace of dequeues ([`super::Replay`]) this lets a discipline choose the order. The
//! steps are fixed in advance, so that two disciplines can be compared packet by packet.

use sojourn_net::ConfigError;
use sojourn_net::config::{NativeAqm, invalid};
use sojourn_packet::{FaultReport, FlowId, HeaderBytes, Packet, PacketId, Time};
use sojourn_switch::discipline::{Discipline, DropKind, Drops, Queued};
use sojourn_switch::ecn;

/// Headers of a frame: Ethernet, IPv4, UDP.
const HEADERS: u32 = 42;

sojourn_net::rows! {
    /// Steps of a queue's replay, one row each.
    pub struct StepRows {
        /// Time of the step.
        time: u64 => .time(),
        /// 0 enqueues a packet, 1 an ECN-capable one, 2 dequeues one, 3 requests space.
        step: u8,
        /// Length of an enqueued packet without FCS, at least 42.
        size: u32 => .unit("B"),
        /// Its flow.
        flow: u32,
    }
}

sojourn_net::rows! {
    /// Fates of packets, in the order of decision.
    pub struct FateRows {
        /// Index of the packet's step, from 0.
        packet: u32,
        /// 0 sent, 1 sent with a mark, 2 dropped by the discipline, 3 dropped at the tail.
        fate: u8,
        /// Index of the step of the decision.
        step: u32,
    }
}

/// A queue and its discipline.
#[derive(Debug)]
pub struct QueueReplay {
    discipline: Box<dyn Discipline>,
    drops: Drops,
    steps: u32,
}

impl QueueReplay {
    /// Creates an empty queue with a discipline.
    ///
    /// # Errors
    /// If there is no such discipline or parameter, or a value is out of range.
    pub fn new(native: &NativeAqm) -> Result<QueueReplay, ConfigError> {
        let discipline = native.build(0).map_err(|error| {
            invalid("aqm", &native.name, format!("a discipline and its parameters: {error}"))
        })?;
        Ok(QueueReplay { discipline, drops: Drops::default(), steps: 0 })
    }

    /// Executes the next steps; returns the fates of packets meanwhile.
    pub fn execute(&mut self, steps: &StepRows) -> FateRows {
        let mut fates = FateRows::default();
        for row in 0..steps.time.len() {
            let now = Time(steps.time[row]);
            let sent = match steps.step[row] {
                kind @ 0..=1 => {
                    let packet = frame(self.steps, steps.flow[row], kind == 1, steps.size[row]);
                    self.discipline.enqueue(now, Queued::new(packet, now), &mut self.drops);
                    None
                }
                2 => self.discipline.dequeue(now, &mut self.drops),
                _ => {
                    self.discipline.shed(&mut self.drops);
                    None
                }
            };
            let dropped = self.drops.drain().map(|(packet, kind)| match kind {
                DropKind::Aqm => (packet, 2),
                DropKind::Tail => (packet, 3),
            });
            let sent = sent.map(|packet| {
                let fate = u8::from(ecn::is_marked(&packet.packet));
                (packet, fate)
            });
            for (packet, fate) in dropped.chain(sent) {
                fates.packet.push(packet.packet.id.0 as u32);
                fates.fate.push(fate);
                fates.step.push(self.steps);
            }
            self.steps += 1;
        }
        fates
    }

    /// The discipline's own counters.
    pub fn counters(&self) -> Vec<(&'static str, u64)> {
        self.discipline.counters()
    }

    /// Faults of the discipline.
    pub fn faults(&self) -> Vec<FaultReport> {
        self.discipline.faults()
    }
}

/// A UDP frame over IPv4, with the flow in its source address and port.
fn frame(number: u32, flow: u32, capable: bool, size: u32) -> Packet {
    let [a, b, c, d] = flow.to_be_bytes();
    let mut bytes = HeaderBytes::new();
    bytes.extend_from_slice(&[2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x08, 0x00]);
    bytes.extend_from_slice(&[0x45, if capable { 2 } else { 0 }, 0, 0, 0, 0, 0, 0, 64, 17, 0, 0]);
    bytes.extend_from_slice(&[10, 0, a, b, 10, 1, 0, 1, c, d, 0, 53, 0, 0, 0, 0]);
    let zeros = size.saturating_sub(HEADERS);
    Packet { id: PacketId(number.into()), flow: FlowId(0), bytes, zeros }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fifo_sends_what_was_put_in_and_a_full_one_refuses_it() {
        let native = NativeAqm {
            name: "fifo".to_owned(),
            parameters: [("limit_packets".to_owned(), 2)].into(),
        };
        let mut replay = QueueReplay::new(&native).expect("it is known");
        let mut steps = StepRows::default();
        for (time, step) in [(0, 0), (1, 1), (2, 0), (3, 2), (4, 2), (5, 2)] {
            steps.time.push(time);
            steps.step.push(step);
            steps.size.push(100);
            steps.flow.push(0);
        }
        let fates = replay.execute(&steps);
        assert_eq!(fates.packet, [2, 0, 1]);
        assert_eq!(fates.fate, [3, 0, 0]);
        assert_eq!(fates.step, [2, 3, 4]);
    }
}

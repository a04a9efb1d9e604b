//! Scheduler modules: the module keeps the order of packets, knows them by number, and returns
//! which one is sent or dropped.

use crate::dut::{Dut, Verdict, is_capable};
use crate::library::{Kind, Question};
use sojourn_packet::{Bytes, FaultReport, Time};
use sojourn_switch::discipline::{
    Backlog, Discipline, DropKind, Drops, QueueLength, Queued, flow_hash,
};
use sojourn_switch::ecn;

/// Number of packet numbers, which have 16 bits.
pub(crate) const NUMBERS: usize = 1 << 16;

/// The packets by number, and the module.
#[derive(Debug)]
pub(crate) struct Scheduler {
    dut: Dut,
    seed: u64,
    /// Packets, each with its order of arrival.
    packets: Vec<Option<(u64, Queued)>>,
    free: Vec<u16>,
    held: QueueLength,
    arrived: u64,
    overlimit: u64,
    /// Packets that are left when the module fails.
    left: Backlog,
}

impl Scheduler {
    pub fn new(dut: Dut, seed: u64) -> Scheduler {
        Scheduler {
            dut,
            seed,
            packets: std::iter::repeat_with(|| None).take(NUMBERS).collect(),
            free: (0..=u16::MAX).rev().collect(),
            held: QueueLength::default(),
            arrived: 0,
            overlimit: 0,
            left: Backlog::default(),
        }
    }

    /// Takes the packet of a verdict; `None` if it is not stored.
    fn take(&mut self, said: Verdict) -> Option<Queued> {
        let Some((_, packet)) = self.packets[usize::from(said.packet)].take() else {
            let number = said.packet;
            let wrong = format!("it says something of packet {number}, which it does not hold");
            self.dut.is_wrong("module_wrong", wrong);
            return None;
        };
        self.free.push(said.packet);
        self.held.packets -= 1;
        self.held.bytes -= packet.size();
        Some(packet)
    }

    /// Drops the packets of an answer, up to its end.
    fn dropped(&mut self, mut said: Option<Verdict>, drops: &mut Drops) {
        while let Some(verdict) = said {
            if !verdict.drop {
                let wrong = "it sends a packet that nobody has asked for".to_owned();
                return self.dut.is_wrong("module_wrong", wrong);
            }
            let Some(packet) = self.take(verdict) else { return };
            self.overlimit += 1;
            drops.push(packet, DropKind::Aqm);
            said = self.dut.next();
        }
    }

    /// Without the module, packets are sent in the order of arrival.
    fn by_arrival(&mut self) -> &mut Backlog {
        if self.free.len() < NUMBERS {
            let mut held: Vec<_> = self.packets.iter_mut().filter_map(Option::take).collect();
            held.sort_unstable_by_key(|&(arrived, _)| arrived);
            for (_, packet) in held {
                self.left.push(packet);
            }
            self.free = (0..=u16::MAX).collect();
        }
        &mut self.left
    }
}

impl Discipline for Scheduler {
    fn enqueue(&mut self, now: Time, packet: Queued, drops: &mut Drops) {
        if self.dut.is_broken() {
            return self.by_arrival().push(packet);
        }
        let Some(number) = self.free.pop() else {
            return drops.push(packet, DropKind::Tail);
        };
        let question = Question {
            kind: Kind::Put,
            packet: number,
            enqueued: now.0,
            hash: flow_hash(&packet.packet, self.seed) as u32,
            ..self.dut.about(now, packet.size(), is_capable(&packet))
        };
        self.held.packets += 1;
        self.held.bytes += packet.size();
        self.packets[usize::from(number)] = Some((self.arrived, packet));
        self.arrived += 1;
        let said = self.dut.ask(&question);
        self.dropped(said, drops);
    }

    fn sheds(&self) -> bool {
        self.dut.sheds() && !self.dut.is_broken()
    }

    fn shed(&mut self, drops: &mut Drops) {
        let now = self.dut.now();
        let question = Question { kind: Kind::Shed, ..self.dut.about(now, Bytes(0), false) };
        let said = self.dut.ask(&question);
        self.dropped(said, drops);
    }

    fn dequeue(&mut self, now: Time, drops: &mut Drops) -> Option<Queued> {
        let mut said = self.dut.ask(&self.dut.about(now, Bytes(0), false));
        while let Some(verdict) = said {
            let Some(mut packet) = self.take(verdict) else { break };
            if !verdict.drop {
                if verdict.mark {
                    self.dut.marks += u64::from(ecn::mark(&mut packet.packet));
                }
                return Some(packet);
            }
            self.dut.drops += 1;
            drops.push(packet, DropKind::Aqm);
            said = self.dut.next();
        }
        if self.dut.is_broken() { self.by_arrival().pop() } else { None }
    }

    fn length(&self) -> QueueLength {
        if self.free.len() < NUMBERS { self.held } else { self.left.length() }
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        let mut counters = self.dut.counters();
        counters.push(("drop_overlimit", self.overlimit));
        counters
    }

    fn faults(&self) -> Vec<FaultReport> {
        self.dut.faults()
    }
}

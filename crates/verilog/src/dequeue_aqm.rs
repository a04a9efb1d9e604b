//! FIFO queue whose hardware module decides about the packet at the head.

use crate::dut::{Dut, Verdict, is_capable};
use crate::library::Question;
use sojourn_packet::{Bytes, FaultReport, Time};
use sojourn_switch::discipline::{Backlog, Discipline, DropKind, Drops, QueueLength, Queued};
use sojourn_switch::ecn;

/// The queue and its module.
#[derive(Debug)]
pub(crate) struct DequeueAqm {
    dut: Dut,
    backlog: Backlog,
}

impl DequeueAqm {
    pub fn new(dut: Dut) -> DequeueAqm {
        DequeueAqm { dut, backlog: Backlog::default() }
    }

    /// Verdict on the packet; it is sent if the module gives none.
    fn ask(
        &mut self,
        now: Time,
        enqueued: Time,
        backlog: Bytes,
        size: Bytes,
        capable: bool,
    ) -> Verdict {
        let question = Question {
            enqueued: enqueued.0,
            backlog: backlog.0.min(u64::from(u32::MAX)) as u32,
            ..self.dut.about(now, size, capable)
        };
        let sent = Verdict { packet: 0, drop: false, mark: false };
        self.dut.ask(&question).unwrap_or(sent)
    }
}

impl Discipline for DequeueAqm {
    fn enqueue(&mut self, _now: Time, packet: Queued, _drops: &mut Drops) {
        self.backlog.push(packet);
    }

    fn dequeue(&mut self, now: Time, drops: &mut Drops) -> Option<Queued> {
        loop {
            let mut packet = self.backlog.pop()?;
            let (capable, behind) = (is_capable(&packet), self.backlog.bytes());
            let said = self.ask(now, packet.enqueued, behind, packet.size(), capable);
            if said.drop {
                self.dut.drops += 1;
                drops.push(packet, DropKind::Aqm);
                continue;
            }
            if said.mark {
                self.dut.marks += u64::from(ecn::mark(&mut packet.packet));
            }
            return Some(packet);
        }
    }

    fn length(&self) -> QueueLength {
        self.backlog.length()
    }

    fn decides(&mut self, now: Time, sojourn: Time, backlog: Bytes, size: Bytes) -> Option<bool> {
        Some(self.ask(now, now.saturating_sub(sojourn), backlog, size, false).drop)
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        self.dut.counters()
    }

    fn faults(&self) -> Vec<FaultReport> {
        self.dut.faults()
    }
}

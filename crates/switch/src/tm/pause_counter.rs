//! Priority flow control as a counter: when a switch would have paused what sends into a port.
//!
//! The buffer's cells are counted by the port by which their packets came (IEEE 802.1Qbb; threshold and
//! resumption as in HPCC's simulator, alibaba-edu/High-Precision-Congestion-Control, `switch-mmu.cc`).
//! Beyond the threshold the sender would be paused, and what is on its way would fill the port's
//! headroom. Nobody is paused here: packets go on coming, and drops stay as they are. A multicast's copies
//! count each, copies of mirror sessions and packets of the switch's own do not. Must not decide anything
//! about a packet.

use super::buffer_cells::Buffer;
use super::queued_packet::Queued;
use sojourn_packet::Time;

/// The unit of a multiple in millionths.
const ONE: u64 = 1_000_000;

/// The cells of a port from which its sender is paused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PauseThreshold {
    /// More than so many.
    Cells(u32),
    /// More than so many millionths of what the buffer has free.
    Free(u32),
}

/// When senders are paused, and when they go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PauseRule {
    /// The port's cells.
    pub threshold: PauseThreshold,
    /// Cells below the threshold at which the sender goes on.
    pub resume_below: u32,
    /// Cells beyond the threshold for packets on their way.
    pub headroom: u32,
}

impl PauseRule {
    fn threshold(&self, free: u32) -> u32 {
        match self.threshold {
            PauseThreshold::Cells(cells) => cells,
            PauseThreshold::Free(alpha) => {
                let cells = u64::from(free) * u64::from(alpha) / ONE;
                u32::try_from(cells).unwrap_or(u32::MAX)
            }
        }
    }
}

/// Pauses of what sends into a port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct PauseStatistics {
    /// How often it would have been paused.
    pub pauses: u64,
    /// For how long together.
    pub paused: Time,
    /// Packets that came when the headroom was full.
    pub beyond_headroom: u64,
}

/// The cells that hold packets from one port.
#[derive(Clone, Copy, Debug, Default)]
struct PortCells {
    cells: u32,
    since: Option<Time>,
    statistics: PauseStatistics,
}

/// The counters of all ports.
#[derive(Clone, Debug)]
pub(crate) struct PauseCounter {
    rule: PauseRule,
    ports: Vec<PortCells>,
}

impl PauseCounter {
    /// Of so many ports.
    pub(crate) fn new(rule: PauseRule, ports: usize) -> PauseCounter {
        PauseCounter { rule, ports: vec![PortCells::default(); ports] }
    }

    /// A packet has got cells of the buffer.
    #[inline]
    pub(crate) fn note_entry(&mut self, now: Time, packet: &Queued, buffer: &Buffer) {
        if let Some(port) = packet.tag.came_by.checked_sub(1) {
            self.entered(now, port.into(), packet.noted.cells, buffer.free());
        }
    }

    /// A packet has given the cells back that it had.
    #[inline]
    pub(crate) fn note_exit(&mut self, now: Time, packet: &Queued, buffer: &Buffer) {
        if let Some(port) = packet.tag.came_by.checked_sub(1) {
            self.left(now, port.into(), packet.noted.cells, buffer.free());
        }
    }

    /// A packet that came by a port has got cells, and `free` are left.
    fn entered(&mut self, now: Time, port: usize, cells: u32, free: u32) {
        let threshold = self.rule.threshold(free);
        let held = &mut self.ports[port];
        held.cells += cells;
        if held.cells <= threshold {
            return;
        }
        if held.since.is_none() {
            held.since = Some(now);
            held.statistics.pauses += 1;
        }
        let is_beyond = held.cells - threshold > self.rule.headroom;
        held.statistics.beyond_headroom += u64::from(is_beyond);
    }

    /// A packet that came by a port has given its cells back, and `free` are left.
    fn left(&mut self, now: Time, port: usize, cells: u32, free: u32) {
        let held = &mut self.ports[port];
        held.cells -= cells;
        let Some(since) = held.since else { return };
        let enough = self.rule.threshold(free).saturating_sub(self.rule.resume_below);
        if held.cells <= enough {
            held.since = None;
            held.statistics.paused += now.saturating_sub(since);
        }
    }

    /// What was counted of a port until now.
    pub(crate) fn statistics(&self, now: Time, port: usize) -> PauseStatistics {
        let held = &self.ports[port];
        let mut statistics = held.statistics;
        statistics.paused += held.since.map_or(Time::ZERO, |since| now.saturating_sub(since));
        statistics
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(threshold: PauseThreshold) -> PauseRule {
        PauseRule { threshold, resume_below: 3, headroom: 5 }
    }

    #[test]
    fn a_sender_is_paused_beyond_the_threshold_until_enough_has_gone() {
        let mut counter = PauseCounter::new(rule(PauseThreshold::Cells(10)), 2);
        counter.entered(Time(1), 0, 10, 100);
        assert_eq!(counter.statistics(Time(9), 0), PauseStatistics::default());
        // Cells 11 to 15 are in the headroom, the sixteenth is beyond it.
        (2..=7).for_each(|at| counter.entered(Time(at), 0, 1, 100));
        counter.left(Time(20), 0, 8, 100);
        let of = |pauses, paused, beyond_headroom| PauseStatistics {
            pauses,
            paused: Time(paused),
            beyond_headroom,
        };
        assert_eq!(counter.statistics(Time(22), 0), of(1, 20, 1), "8 cells are not 3 below 10");
        counter.left(Time(30), 0, 1, 100);
        assert_eq!(counter.statistics(Time(40), 0), of(1, 28, 1));
        counter.entered(Time(50), 0, 4, 100);
        assert_eq!(counter.statistics(Time(51), 0), of(2, 29, 1));
        assert_eq!(counter.statistics(Time(51), 1), PauseStatistics::default());
    }

    #[test]
    fn a_threshold_may_be_a_part_of_what_is_free() {
        let mut counter = PauseCounter::new(rule(PauseThreshold::Free(125_000)), 1);
        counter.entered(Time(1), 0, 10, 80);
        assert_eq!(counter.statistics(Time(1), 0).pauses, 0);
        counter.entered(Time(2), 0, 1, 79);
        assert_eq!(counter.statistics(Time(2), 0).pauses, 1);
    }
}

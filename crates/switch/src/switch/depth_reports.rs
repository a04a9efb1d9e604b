//! Reports of queue depths: the traffic manager reports changes to the data plane, each or those across
//! a limit of the queue for packets of a colour.
//!
//! A report waits for its turn in a short FIFO and reaches the data plane a fixed delay later. Must
//! not depend on the use that the data plane makes of a report.

use super::ingress::pipe_of;
use super::{Event, Switch};
use crate::config::DepthReportConfig;
use crate::statistics::DepthReportStatistics;
use sojourn_packet::{DepthReport, ReportMode, Time};
use std::collections::{BTreeMap, VecDeque};

/// The reports under way.
#[derive(Debug)]
pub(super) struct DepthReports {
    config: DepthReportConfig,
    /// In the order of their arrival at the data plane.
    under_way: VecDeque<DepthReport>,
    /// Earliest time at which the next one may leave the FIFO.
    free_at: Time,
    /// Cells of each queue, by port and queue, and the limits that it has reached, after its last change.
    seen: BTreeMap<(usize, usize), (u32, usize)>,
    delivered: u64,
    lost: u64,
}

impl DepthReports {
    pub fn new(config: DepthReportConfig) -> DepthReports {
        let (under_way, seen) = (VecDeque::new(), BTreeMap::new());
        DepthReports { config, under_way, free_at: Time::ZERO, seen, delivered: 0, lost: 0 }
    }

    /// Accepts a report of a change at `now`; the time at which it reaches the data plane, unless
    /// the FIFO is full.
    fn accept(&mut self, now: Time, mut report: DepthReport) -> Option<Time> {
        let delay = self.config.delay;
        // Reports that have left the FIFO reach the data plane before `now + delay`.
        let left = self.under_way.partition_point(|other| other.now <= now + delay);
        if self.under_way.len() - left >= self.config.waiting {
            self.lost += 1;
            return None;
        }
        let leaves = now.max(self.free_at);
        self.free_at = leaves + self.config.interval;
        report.now = leaves + delay;
        self.under_way.push_back(report);
        Some(report.now)
    }

    pub fn statistics(&self) -> DepthReportStatistics {
        let DepthReportConfig { delay, interval, cells, order, mode, .. } = self.config;
        let (delivered, lost) = (self.delivered, self.lost);
        DepthReportStatistics { delivered, lost, delay, interval, cells, order, mode }
    }
}

impl Switch {
    /// Reports the depth of a queue that has changed.
    #[inline(always)]
    pub(super) fn report_depth(&mut self, index: usize, number: usize) {
        if self.reports.is_some() {
            self.send_report(index, number);
        }
    }

    #[inline(never)]
    fn send_report(&mut self, index: usize, number: usize) {
        let Some(reports) = &mut self.reports else { return };
        let port = &self.ports[index];
        let queue = &port.queues[number];
        let (cells, reached) = (queue.share.usage().cells, queue.share.limits_reached());
        let before = reports.seen.insert((index, number), (cells, reached)).unwrap_or_default();
        let mode = self.report_modes.get(&pipe_of(port.id)).unwrap_or(&reports.config.mode);
        let is_reported = match mode {
            ReportMode::Any => before.0 != cells,
            ReportMode::Color => before.1 != reached,
        };
        if !queue.reports || !is_reported {
            return;
        }
        let report = DepthReport {
            now: self.now,
            port: port.id,
            queue: number as u8,
            depth: cells / reports.config.cells,
            order: reports.config.order,
        };
        if let Some(at) = reports.accept(self.now, report) {
            self.events.set(at, Event::DepthReport);
        }
    }

    /// Chooses the changes that the queues of a pipe report, or of every pipe; the choices before.
    pub(super) fn set_report_mode(
        &mut self,
        pipe: Option<u16>,
        mode: ReportMode,
    ) -> BTreeMap<u16, ReportMode> {
        let before = self.report_modes.clone();
        let pipes: Vec<u16> = self.ports.iter().map(|port| pipe_of(port.id)).collect();
        let chosen = pipes.into_iter().filter(|of| pipe.is_none_or(|only| only == *of));
        self.report_modes.extend(chosen.map(|pipe| (pipe, mode)));
        before
    }

    /// The changes that the queues of a pipe report.
    pub fn report_mode(&self, pipe: u16) -> ReportMode {
        let of_all = self.reports.as_ref().map(|reports| reports.config.mode);
        self.report_modes.get(&pipe).copied().or(of_all).unwrap_or_default()
    }

    /// The oldest report reaches the data plane.
    pub(super) fn deliver_report(&mut self, at: Time) {
        let Some(reports) = &mut self.reports else { return };
        let Some(report) = reports.under_way.pop_front() else { return };
        debug_assert_eq!(report.now, at);
        reports.delivered += 1;
        self.plane.depth_report(&report);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_packet::{PortId, WordOrder};

    fn report() -> DepthReport {
        let order = WordOrder::Compiler;
        DepthReport { now: Time(0), port: PortId(1), queue: 0, depth: 3, order }
    }

    #[test]
    fn reports_keep_their_distance_and_the_fifo_loses_what_it_cannot_hold() {
        let (delay, interval) = (Time(100), Time(10));
        let config = DepthReportConfig { delay, interval, waiting: 2, ..Default::default() };
        let mut reports = DepthReports::new(config);
        let mut accept = |at| reports.accept(Time(at), report());
        assert_eq!(accept(5), Some(Time(105)));
        assert_eq!(accept(5), Some(Time(115)));
        assert_eq!(accept(5), Some(Time(125)));
        assert_eq!(accept(5), None);
        // At 15 the second has left the FIFO.
        assert_eq!(accept(15), Some(Time(135)));
        assert_eq!(reports.statistics().lost, 1);
    }
}

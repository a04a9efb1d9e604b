//! Depth reports of a replayed queue, for a program with a ghost thread.
//!
//! A trace says when each packet arrived and left, so the depth at any instant is known. No decision
//! changes it. A report of a change reaches the program the configured delay later. Must not depend
//! on the program.

use sojourn_packet::{DepthReport, PortId, Time};
use sojourn_switch::DepthReportConfig;
use std::collections::VecDeque;

/// A change of the depth: its time and the packet's cells.
type Change = (Time, u32);

/// The queue as its reports show it.
#[derive(Debug)]
pub(super) struct Depths {
    config: DepthReportConfig,
    /// Bytes of a cell.
    cell: u64,
    /// Port and queue, once the program has forwarded a packet.
    pub place: Option<(PortId, u8)>,
    /// Changes that no report has covered.
    arrivals: VecDeque<Change>,
    departures: VecDeque<Change>,
    /// Cells in the last report.
    cells: u32,
}

impl Depths {
    pub fn new(config: DepthReportConfig, cell: u64) -> Depths {
        let (arrivals, departures) = (VecDeque::new(), VecDeque::new());
        Depths { config, cell, place: None, arrivals, departures, cells: 0 }
    }

    /// A packet of `bytes`, with its check sequence, that is in the queue between two instants.
    pub fn pass(&mut self, arrived: Time, left: Time, bytes: u64) {
        let cells = bytes.div_ceil(self.cell) as u32;
        self.arrivals.push_back((arrived, cells));
        self.departures.push_back((left, cells));
    }

    /// Delivers the reports that are due by `now`, in the order of the changes.
    pub fn deliver(&mut self, now: Time, mut report: impl FnMut(&DepthReport)) {
        let delay = self.config.delay;
        while let Some((at, cells)) = now.0.checked_sub(delay.0).and_then(|t| self.next(Time(t))) {
            self.cells = cells;
            let Some((port, queue)) = self.place else { continue };
            report(&DepthReport {
                now: at + delay,
                port,
                queue,
                depth: cells / self.config.cells,
                order: self.config.order,
            });
        }
    }

    /// The next change up to `until`, with the cells behind it. A packet leaves behind its arrival,
    /// and before another one arrives in its instant.
    fn next(&mut self, until: Time) -> Option<Change> {
        let due = |changes: &VecDeque<Change>| changes.front().copied().filter(|c| c.0 <= until);
        let arrival = due(&self.arrivals);
        let inside = self.departures.len() > self.arrivals.len();
        let departure = due(&self.departures).filter(|_| inside);
        match (departure, arrival) {
            (Some((at, cells)), arrival) if arrival.is_none_or(|arrival| at <= arrival.0) => {
                self.departures.pop_front();
                Some((at, self.cells.saturating_sub(cells)))
            }
            (_, Some((at, cells))) => {
                self.arrivals.pop_front();
                Some((at, self.cells + cells))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_depth_report_follows_each_change_after_the_delay() {
        let config = DepthReportConfig { delay: Time(10), cells: 1, ..Default::default() };
        let mut depths = Depths::new(config, 100);
        depths.place = Some((PortId(1), 0));
        let mut reports = Vec::new();
        let mut deliver = |depths: &mut Depths, now| {
            depths.deliver(Time(now), |report| reports.push((report.now.0, report.depth)));
            std::mem::take(&mut reports)
        };
        depths.pass(Time(0), Time(0), 250);
        depths.pass(Time(5), Time(20), 250);
        depths.pass(Time(20), Time(40), 50);
        assert_eq!(deliver(&mut depths, 14), [(10, 3), (10, 0)]);
        assert_eq!(deliver(&mut depths, 60), [(15, 3), (30, 0), (30, 1), (50, 0)]);
    }
}

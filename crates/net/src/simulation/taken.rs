//! Rows, captured frames and log lines, handed over to whoever stores them.

use super::Simulation;
use crate::records::{CapturedFrame, DatagramRows, ExchangeRows, FlowRows, PacketRows};
use sojourn_packet::ProgramLog;

impl Simulation {
    /// How many observed ports there are.
    pub fn bottlenecks(&self) -> usize {
        self.region.bottlenecks.len()
    }

    /// Rows of all kinds and captured frames that wait to be taken.
    pub fn waiting(&self) -> usize {
        let others =
            self.region.flows.len() + self.region.exchanges.len() + self.region.datagrams.len();
        let frames: usize = self.region.bottlenecks.iter().map(|place| place.capture.len()).sum();
        self.region.rows + others + frames
    }

    /// Hands over the packet rows that wait at the first bottleneck, which in a run with one switch
    /// is all that there is.
    pub fn take_packets(&mut self) -> PacketRows {
        self.take_packets_of(0)
    }

    /// Hands over the packet rows that wait at a bottleneck, counted from 0; none if there is no
    /// such bottleneck.
    pub fn take_packets_of(&mut self, bottleneck: usize) -> PacketRows {
        let Some(bottleneck) = self.region.bottlenecks.get_mut(bottleneck) else {
            return PacketRows::default();
        };
        let rows = bottleneck.rows.take();
        self.region.rows -= rows.len();
        rows
    }

    /// Hands over the flow samples that wait.
    pub fn take_flows(&mut self) -> FlowRows {
        std::mem::take(&mut self.region.flows)
    }

    /// Hands over the transfers and requests that wait.
    pub fn take_exchanges(&mut self) -> ExchangeRows {
        std::mem::take(&mut self.region.exchanges)
    }

    /// Hands over the datagrams of voices that wait.
    pub fn take_datagrams(&mut self) -> DatagramRows {
        std::mem::take(&mut self.region.datagrams)
    }

    /// Hands over the captured frames that wait at a bottleneck, counted from 0; none unless
    /// `capture` is set, or if there is no such bottleneck.
    pub fn take_capture_of(&mut self, bottleneck: usize) -> Vec<CapturedFrame> {
        let found = self.region.bottlenecks.get_mut(bottleneck);
        found.map(|bottleneck| std::mem::take(&mut bottleneck.capture)).unwrap_or_default()
    }

    /// Hands over what programs have written into their logs since the last call, in order of time.
    pub fn take_log(&mut self) -> ProgramLog {
        let mut all = ProgramLog::default();
        for node in &mut self.region.nodes {
            let mut log = node.switch.data_plane().take_log();
            all.lost += log.lost;
            all.lines.append(&mut log.lines);
        }
        all.lines.sort_by_key(|line| line.at);
        all
    }
}

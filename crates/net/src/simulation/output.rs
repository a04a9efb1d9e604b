//! Output of a run: rows, captured frames and log lines, held until the consumer takes them.

use super::Simulation;
use super::partition::Partition;
use super::records::{Delivered, FlowSample};
use crate::records::{CapturedFrame, DatagramRows, ExchangeRows, FlowRows, PacketRows};
use sojourn_packet::{PacketId, ProgramLog};

impl Simulation {
    /// Number of observed ports.
    pub fn bottlenecks(&self) -> usize {
        self.observed.len()
    }

    /// Rows of all kinds and captured frames that wait to be taken.
    pub fn waiting(&self) -> usize {
        let of_partition = |partition: &Partition| {
            let others =
                partition.flows.len() + partition.exchanges.len() + partition.datagrams.len();
            let frames: usize = partition.bottlenecks.iter().map(|place| place.capture.len()).sum();
            partition.rows + others + frames
        };
        self.partitions.iter().map(of_partition).sum::<usize>() + self.unfinished.len()
    }

    /// Takes the pending packet rows of the first bottleneck, the only one in a run with one
    /// switch.
    pub fn take_packets(&mut self) -> PacketRows {
        self.take_packets_of(0)
    }

    /// Takes the pending packet rows of a bottleneck, counted from 0; empty if there is no such
    /// bottleneck.
    pub fn take_packets_of(&mut self, bottleneck: usize) -> PacketRows {
        self.packets_of(bottleneck).map(std::mem::take).unwrap_or_default()
    }

    /// Supplies bottlenecks whose packet rows were taken with the memory of other rows, which are
    /// discarded: allocating as much new memory is slow.
    pub fn reuse_room(&mut self, mut room: impl FnMut() -> Option<PacketRows>) {
        let bottlenecks =
            self.partitions.iter_mut().flat_map(|partition| &mut partition.bottlenecks);
        let without = bottlenecks.filter(|bottleneck| bottleneck.rows.packet.capacity() == 0);
        for (bottleneck, mut rows) in without.map_while(|without| Some((without, room()?))) {
            rows.clear();
            bottleneck.rows = rows;
        }
    }

    /// Shows the pending packet rows of a bottleneck, as [`Simulation::take_packets_of`] returns
    /// them, and reuses their memory.
    pub fn read_packets_of<T>(
        &mut self,
        bottleneck: usize,
        read: impl FnOnce(&PacketRows) -> T,
    ) -> T {
        match self.packets_of(bottleneck) {
            Some(rows) => {
                let delivery = read(rows);
                rows.clear();
                delivery
            }
            None => read(&PacketRows::default()),
        }
    }

    /// The packet rows that wait, which no longer count as waiting.
    fn packets_of(&mut self, bottleneck: usize) -> Option<&mut PacketRows> {
        let location = self.locations.bottlenecks.get(bottleneck)?;
        let partition = &mut self.partitions[location.partition()];
        partition.record_all();
        let rows = &mut partition.bottlenecks[location.place()].rows;
        partition.rows -= rows.len();
        if let Some(numbering) = &self.numbering {
            let in_run = |packet: &mut u64| *packet = numbering.in_run(PacketId(*packet)).0;
            rows.packet.iter_mut().for_each(in_run);
        }
        Some(rows)
    }

    /// Takes the pending flow samples.
    pub fn take_flows(&mut self) -> FlowRows {
        let mut samples = self.gather(|partition| &mut partition.flows, |s| (s.time, s.flow));
        let delivered = self.gather(|partition| &mut partition.delivered, |d| (d.time, d.flow));
        add_delivered(&mut samples, &delivered);
        FlowRows {
            time: samples.iter().map(|sample| sample.time.0).collect(),
            flow: samples.iter().map(|sample| sample.flow).collect(),
            cwnd: samples.iter().map(|sample| sample.cwnd).collect(),
            ssthresh: samples.iter().map(|sample| sample.ssthresh).collect(),
            srtt: samples.iter().map(|sample| sample.srtt.0).collect(),
            delivered: samples.iter().map(|sample| sample.delivered).collect(),
            retransmits: samples.iter().map(|sample| sample.retransmits).collect(),
            in_flight: samples.iter().map(|sample| sample.in_flight).collect(),
        }
    }

    /// Takes the pending transfers and requests.
    pub fn take_exchanges(&mut self) -> ExchangeRows {
        let mut exchanges = self.gather(|partition| &mut partition.exchanges, |(_, e)| e.finished);
        exchanges.append(&mut self.unfinished);
        let each = || exchanges.iter();
        ExchangeRows {
            flow: each().map(|(flow, _)| *flow).collect(),
            source: each().map(|(flow, _)| self.sources.source(*flow)).collect(),
            number: each().map(|(_, exchange)| exchange.number).collect(),
            size: each().map(|(_, exchange)| exchange.size).collect(),
            started: each().map(|(_, exchange)| exchange.started.0).collect(),
            finished: each().map(|(_, exchange)| exchange.finished.0).collect(),
        }
    }

    /// Takes the pending voice datagrams.
    pub fn take_datagrams(&mut self) -> DatagramRows {
        let datagrams = self.gather(|partition| &mut partition.datagrams, |(_, d)| d.received);
        DatagramRows {
            flow: datagrams.iter().map(|(flow, _)| *flow).collect(),
            number: datagrams.iter().map(|(_, datagram)| datagram.number).collect(),
            sent: datagrams.iter().map(|(_, datagram)| datagram.sent.0).collect(),
            received: datagrams.iter().map(|(_, datagram)| datagram.received.0).collect(),
        }
    }

    /// Takes what waits in the partitions, in the order of `key`; what has equal ones in that of the
    /// partitions.
    fn gather<T, K: Ord>(
        &mut self,
        of: fn(&mut Partition) -> &mut Vec<T>,
        key: fn(&T) -> K,
    ) -> Vec<T> {
        if let [only] = &mut self.partitions[..] {
            let waiting = of(only);
            // As many will wait the next time.
            let room = Vec::with_capacity(waiting.len());
            return std::mem::replace(waiting, room);
        }
        let mut all: Vec<T> =
            self.partitions.iter_mut().flat_map(|partition| of(partition).drain(..)).collect();
        all.sort_by_key(key);
        all
    }

    /// Takes the pending captured frames of a bottleneck, counted from 0; empty unless `capture` is
    /// set, or if there is no such bottleneck.
    pub fn take_capture_of(&mut self, bottleneck: usize) -> Vec<CapturedFrame> {
        let Some(location) = self.locations.bottlenecks.get(bottleneck) else { return Vec::new() };
        std::mem::take(
            &mut self.partitions[location.partition()].bottlenecks[location.place()].capture,
        )
    }

    /// Takes the log lines of programs since the last call, in order of time.
    pub fn take_log(&mut self) -> ProgramLog {
        let mut all = ProgramLog::default();
        for location in &self.locations.switches {
            let node = &mut self.partitions[location.partition()].nodes[location.place()];
            let mut log = node.switch.data_plane().take_log();
            all.lost += log.lost;
            all.lines.append(&mut log.lines);
        }
        all.lines.sort_by_key(|line| line.at);
        all
    }
}

/// Writes what flows have delivered into samples of which the receiver is in another partition; both
/// are in order.
fn add_delivered(samples: &mut [FlowSample], delivered: &[Delivered]) {
    let mut delivered = delivered.iter().peekable();
    for sample in samples {
        let place = (sample.time, sample.flow);
        while let Some(delivery) =
            delivered.next_if(|delivery| (delivery.time, delivery.flow) <= place)
        {
            if (delivery.time, delivery.flow) == place {
                sample.delivered = delivery.bytes;
            }
        }
    }
}

//! Rows that a run records: observations of switches and samples of flows.

use super::node::Node;
use super::partition::{HostId, HostPlace, Partition};
use crate::host::Exchange;
use sojourn_packet::Time;

/// So many rows are made columns at a time: each column is then looked for once, not for each packet.
pub(super) const BATCH: usize = 256;
/// At most so many rows get their room before they are there.
const ROOM: usize = 1 << 16;

impl Partition {
    /// Writes down the rows and frames that wait in all switches.
    pub(super) fn record_all(&mut self) {
        (0..self.nodes.len() as u16).for_each(|place| self.record(place));
    }

    /// Writes down the rows, which are counted by then, and the frames that wait in a switch.
    #[inline(never)]
    pub(super) fn record(&mut self, place: u16) {
        let room = self.max_rows.saturating_add(BATCH);
        let Partition { nodes, bottlenecks, rows, .. } = self;
        let Node { switch, port_links, counted, .. } = &mut nodes[usize::from(place)];
        let observed = |port| {
            let wire = port_links.iter().find(|wire| wire.port == port);
            wire.and_then(|wire| wire.bottleneck).map(usize::from)
        };
        for of_port in switch.rows().chunk_by(|one, next| one.port == next.port) {
            match observed(of_port[0].port) {
                Some(bottleneck) => {
                    let rows = &mut bottlenecks[bottleneck].rows;
                    // Allocated at once, if that is not too much: a growing vector is copied
                    // repeatedly, to untouched memory.
                    if rows.packet.capacity() == 0 && room <= ROOM {
                        rows.reserve(room);
                    }
                    rows.extend(of_port);
                }
                None => *rows -= of_port.len(),
            }
        }
        switch.forget_rows();
        *counted = 0;
        for frame in switch.take_frames() {
            if let Some(bottleneck) = observed(frame.port) {
                bottlenecks[bottleneck].capture.push(frame.into());
            }
        }
    }
}

/// A flow at an instant.
#[derive(Clone, Copy, Debug)]
pub(super) struct FlowSample {
    pub(super) time: Time,
    pub(super) flow: u32,
    pub(super) cwnd: u32,
    pub(super) ssthresh: u64,
    pub(super) srtt: Time,
    /// Nothing if that end is in another partition.
    pub(super) delivered: u64,
    pub(super) retransmits: u64,
    pub(super) in_flight: u32,
}

/// Bytes that a flow had delivered at a given time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Delivered {
    pub(super) time: Time,
    pub(super) flow: u32,
    pub(super) bytes: u64,
}

impl Partition {
    /// One sample of each flow that has started.
    #[inline(never)]
    pub(super) fn sample(&mut self) {
        let time = self.now;
        let saturated = |bytes| u32::try_from(bytes).unwrap_or(u32::MAX);
        // Transfers are too many and too short to be sampled.
        let mut hosts = self.host_states[..self.configured].iter().peekable();
        while let Some(state) = hosts.next() {
            let flow = state.id.flow();
            if state.id.receives() {
                self.delivered.push(Delivered { time, flow, bytes: state.host.delivered() });
                continue;
            }
            let receiver = hosts.next_if(|next| next.id.flow() == flow);
            let sample = state.host.sample(time);
            if sample.started {
                self.flows.push(FlowSample {
                    time,
                    flow,
                    cwnd: saturated(sample.cwnd),
                    ssthresh: sample.ssthresh,
                    srtt: sample.srtt,
                    delivered: receiver.map_or(0, |receiver| receiver.host.delivered()),
                    retransmits: sample.totals.retransmits,
                    in_flight: saturated(sample.in_flight),
                });
            }
        }
    }

    /// Writes down what a frame completed at its host.
    #[inline(never)]
    pub(super) fn record_delivery(&mut self, host: HostPlace) {
        let state = &mut self.host_states[host.0 as usize];
        let (flow, host) = (state.id.flow(), &mut state.host);
        self.exchanges.extend(host.take_exchange().map(|done| (flow, done)));
        self.datagrams.extend(host.take_datagram().map(|arrived| (flow, arrived)));
    }

    /// Exchanges that have begun and are not complete.
    pub(super) fn unfinished(&self) -> impl Iterator<Item = (HostId, Exchange)> {
        let states = self.host_states.iter();
        states.filter_map(|state| Some((state.id, state.host.unfinished()?)))
    }
}

//! Transfers that arrive at random: drawn before the run, given hosts when they begin.

use super::events::Event;
use super::hosts::{self, FlowHosts};
use super::layout::Layout;
use super::node::Scheduled;
use super::partition::Partition;
use crate::app::{Arrival, RandomStream, StreamPurpose, arrivals};
use crate::config::{FlowConfig, RunConfig, TransfersFlow, sizes_of};
use sojourn_packet::Time;
use std::sync::Arc;

/// Room for so many plans is not given back.
const KEPT: usize = 1_024;

/// A transfer that will begin.
#[derive(Clone)]
pub(super) struct Planned {
    pub(super) flow: u32,
    /// The configured flow that is its source.
    pub(super) source: u32,
    pub(super) place: FlowHosts,
    settings: Arc<TransfersFlow>,
    seed: u64,
    size: u64,
    /// The place of its receiver among those of its source; 0 with one alone.
    receiver: u32,
}

/// An arrival, its source, its receiver's place and the settings of the source.
type Drawn = (Arrival, u32, u32, Arc<TransfersFlow>);

/// Draws all transfers of a run, in the order of their beginning, which is that of their flows.
pub(super) fn planned(config: &RunConfig, layout: &Layout) -> Vec<Scheduled<Planned>> {
    let mut drawn = Vec::new();
    for (source, settings) in (0..).zip(&config.flows) {
        let FlowConfig::Transfers(settings) = settings else { continue };
        let settings = Arc::new(settings.clone());
        let draws = RandomStream::new(config.seed, source, StreamPurpose::Traffic);
        let end = settings.stop.unwrap_or(config.duration).min(config.duration);
        let span = (Time(settings.start), Time(end));
        let among = settings.receivers.len() as u64;
        let found = arrivals(draws, &sizes_of(&settings), &settings, span);
        let mut receivers = RandomStream::new(config.seed, source, StreamPurpose::Receiver);
        drawn.extend(found.into_iter().map(|arrival| {
            let receiver = receivers.before(Time(among)).0 as u32;
            (arrival, source, receiver, settings.clone())
        }));
    }
    // Stable, so that among equal times the first source comes first.
    drawn.sort_by_key(|(arrival, ..)| arrival.at);
    let first = config.flows.len() as u32;
    let plan = |(flow, (arrival, source, receiver, settings)): (u32, Drawn)| {
        let of_source = &config.flows[source as usize];
        let to = settings.receivers.get(receiver as usize);
        let to = to.map(String::as_str).or(of_source.common().to);
        let place = FlowHosts::new(layout, config.netem.at, flow, of_source, to);
        let (seed, size) = (config.seed, arrival.size);
        (arrival.at, Planned { flow, source, place, settings, seed, size, receiver })
    };
    Scheduled::each((first..).zip(drawn).map(plan))
}

/// Configured flow of each flow.
pub(super) struct Sources {
    /// Number of configured flows: those of transfers follow.
    configured: u32,
    /// By transfer.
    sources: Vec<u32>,
}

impl Sources {
    pub(super) fn new(config: &RunConfig, planned: &[Scheduled<Planned>]) -> Sources {
        Sources {
            configured: config.flows.len() as u32,
            sources: planned.iter().map(|due| due.what.source).collect(),
        }
    }

    /// Number of configured flows.
    pub(super) fn configured(&self) -> usize {
        self.configured as usize
    }

    /// The flow itself, or the source of a transfer.
    pub(super) fn source(&self, flow: u32) -> u32 {
        let transfer = flow.checked_sub(self.configured);
        transfer.and_then(|place| self.sources.get(place as usize)).map_or(flow, |source| *source)
    }
}

impl Planned {
    /// The same for a partition, which has its own indices of places.
    pub(super) fn at(&self, place: FlowHosts) -> Planned {
        Planned { place, ..self.clone() }
    }

    /// The hosts of a transfer that begins.
    fn hosts(&self, at: Time) -> [crate::host::Host; 2] {
        let ends = &self.place.ends;
        let begun = (self.receiver, at, self.size);
        hosts::short_transfer(&self.settings, begun, self.seed, self.flow, ends)
    }
}

impl Partition {
    /// Puts an event at the beginning of the next transfer.
    pub(super) fn schedule_arrival(&mut self) {
        if let Some(planned) = self.transfers.last() {
            self.events.push(planned.at, Event::Arrival);
        }
    }

    /// Gives hosts to the transfers that begin now.
    #[cold]
    pub(super) fn begin_transfers(&mut self) {
        self.release_closed();
        let mut first = false;
        while let Some(due) = self.transfers.pop_if(|due| due.at <= self.now) {
            first |= due.first;
            let planned = due.what;
            let flow_and_source = (planned.flow, planned.source);
            let client = self.attach(flow_and_source, &planned.place, planned.hosts(due.at));
            if let Some(client) = client {
                self.serve(client);
            }
        }
        // What has begun needs no plan.
        if self.transfers.capacity() > KEPT.max(4 * self.transfers.len()) {
            self.transfers.shrink_to(2 * self.transfers.len());
        }
        self.await_arrivals();
        self.count_shared(first);
        self.schedule_arrival();
    }
}

//! Transfers that arrive at random: drawn before the run, given hosts when they begin.

use super::directory::Attachment;
use super::hosts::{self, Place};
use super::layout::Layout;
use super::parts::HostState;
use super::region::{Event, HostId, Region};
use crate::app::{Arrival, Draws, Purpose, arrivals};
use crate::config::{FlowConfig, RunConfig, TransfersFlow, sizes_of};
use sojourn_packet::Time;

/// All transfers of a run.
pub(super) struct Transfers {
    /// The flow of the first one: as many flows are configured.
    first: u32,
    /// In the order of their beginning.
    plans: Vec<Plan>,
    /// How many have begun.
    begun: usize,
    sources: Vec<Source>,
    seed: u64,
}

/// One transfer.
#[derive(Clone, Copy, Debug)]
struct Plan {
    at: Time,
    size: u64,
    /// Place of its source.
    source: u32,
}

/// A configured flow that is a source of transfers.
struct Source {
    flow: u32,
    settings: TransfersFlow,
    /// Where each of its transfers is, but for addresses and ports.
    place: Vec<Place>,
}

impl Transfers {
    /// Draws all transfers of the configuration.
    pub(super) fn new(config: &RunConfig, layout: &Layout) -> Transfers {
        let first = config.flows.len() as u32;
        let mut transfers = Transfers {
            first,
            plans: Vec::new(),
            begun: 0,
            sources: Vec::new(),
            seed: config.seed,
        };
        for (flow, settings) in (0..).zip(&config.flows) {
            let FlowConfig::Transfers(settings) = settings else { continue };
            let draws = Draws::new(config.seed, flow, Purpose::Traffic);
            let end = settings.stop.unwrap_or(config.duration).min(config.duration);
            let span = (Time(settings.start), Time(end));
            let source = transfers.sources.len() as u32;
            let found = arrivals(draws, &sizes_of(settings), settings.load, span);
            let plan = |a: Arrival| Plan { at: a.at, size: a.size, source };
            transfers.plans.extend(found.into_iter().map(plan));
            let settings = settings.clone();
            transfers.sources.push(Source { flow, settings, place: Vec::new() });
        }
        // Stable, so that among equal instants the first source comes first.
        transfers.plans.sort_by_key(|plan| plan.at);
        transfers.place(config, layout);
        transfers
    }

    /// Finds where each transfer is.
    fn place(&mut self, config: &RunConfig, layout: &Layout) {
        for (flow, plan) in (self.first..).zip(&self.plans) {
            let source = &mut self.sources[plan.source as usize];
            let settings = &config.flows[source.flow as usize];
            source.place.push(Place::of(layout, config.netem.at, flow, settings));
        }
        // They are taken from the end.
        self.sources.iter_mut().for_each(|source| source.place.reverse());
    }

    /// The flow of the first transfer.
    pub(super) fn first(&self) -> u32 {
        self.first
    }

    /// The configured flow that a flow belongs to: itself, or the source of a transfer.
    pub(super) fn source(&self, flow: u32) -> u32 {
        match flow.checked_sub(self.first) {
            None => flow,
            Some(place) => {
                let plan = self.plans.get(place as usize);
                plan.map_or(flow, |plan| self.sources[plan.source as usize].flow)
            }
        }
    }

    /// The hosts of the next transfer, if it begins by `now`.
    fn next(&mut self, now: Time) -> Option<[(HostState, Attachment); 2]> {
        let plan = *self.plans.get(self.begun).filter(|plan| plan.at <= now)?;
        let flow = self.first + self.begun as u32;
        self.begun += 1;
        let source = &mut self.sources[plan.source as usize];
        let place = source.place.pop()?;
        let hosts = hosts::short_transfer(
            &source.settings,
            (plan.at, plan.size),
            self.seed,
            flow,
            &place.ends,
        );
        Some(place.host_states(hosts))
    }
}

impl Region {
    /// Puts an event at the beginning of the next transfer.
    pub(super) fn schedule_arrival(&mut self) {
        if let Some(plan) = self.transfers.plans.get(self.transfers.begun) {
            self.events.push(plan.at, Event::Arrival);
        }
    }

    /// Gives hosts to the transfers that begin now.
    #[cold]
    pub(super) fn begin_transfers(&mut self) {
        while let Some(pair) = self.transfers.next(self.now) {
            let client = HostId(self.host_states.len() as u32);
            for (host_state, attachment) in pair {
                self.host_states.push(host_state);
                self.directory.attach(attachment);
            }
            self.serve(client);
        }
        self.schedule_arrival();
    }
}

//! Random part of a run's traffic, for traffic generators other than the simulator.
//!
//! The workload uses the same applications and random number streams as the simulated hosts. A
//! scenario and a seed therefore mean the same traffic wherever it runs. It must not depend on the
//! generator.

use super::hosts;
use crate::app::{OnOff, RandomStream, Spans, StreamPurpose, arrivals};
use crate::config::{FlowConfig, RequestsFlow, RunConfig, TransfersFlow, UdpFlow, sizes_of};
use serde::Serialize;
use sojourn_packet::{Bytes, Time};

/// Traffic of one configured flow. Times in ns from the run's beginning.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FlowWorkload {
    /// Start time: as configured, plus its jitter.
    pub start: u64,
    /// UDP with exponential spans: from when until before when each burst sends.
    pub bursts: Vec<(u64, u64)>,
    /// Requests: how long the client waits after each of its answers.
    pub thinks: Vec<u64>,
    /// Transfers: when each connects, and how many bytes it has.
    pub transfers: Vec<(u64, u64)>,
}

/// Traffic that the simulator draws for the flows of a run, in their order.
///
/// ```
/// use sojourn_net::{RunConfig, workload, start_jitter};
/// let config = RunConfig::from_json(
///     r#"{
///         "duration": 1000000000,
///         "seed": 7,
///         "aqm": {"kind": "native", "name": "fifo"},
///         "flows": [{"kind": "tcp", "rtt": 20000000}]
///     }"#,
/// )?;
/// assert_eq!(workload(&config)[0].start, start_jitter(7, 0).as_nanos());
/// # Ok::<(), sojourn_net::ConfigError>(())
/// ```
pub fn workload(config: &RunConfig) -> Vec<FlowWorkload> {
    (0..).zip(&config.flows).map(|(flow, settings)| of_flow(config, flow, settings)).collect()
}

fn of_flow(config: &RunConfig, flow: u32, settings: &FlowConfig) -> FlowWorkload {
    let common = settings.common();
    let start = Time(common.start) + hosts::jitter_within(config.seed, flow, common.start_jitter);
    let draws = RandomStream::new(config.seed, flow, StreamPurpose::Traffic);
    let mut found = FlowWorkload { start: start.0, ..FlowWorkload::default() };
    match settings {
        FlowConfig::Udp(udp) if udp.exponential => {
            found.bursts = bursts(udp, start, config.duration, draws);
        }
        FlowConfig::Requests(requests) => found.thinks = thinks(requests, config.duration, draws),
        FlowConfig::Transfers(transfers) => found.transfers = sizes(transfers, config, draws),
        _ => {}
    }
    found
}

fn bursts(udp: &UdpFlow, start: Time, duration: u64, draws: RandomStream) -> Vec<(u64, u64)> {
    let (Some(on), Some(off)) = (udp.on, udp.off) else { return Vec::new() };
    let spans = Spans { on: Time(on), off: Time(off), exponential: true };
    let frame = Bytes(u64::from(udp.packet_size));
    let source = OnOff::new((start, udp.stop.map(Time)), udp.rate, frame, spans, draws);
    source.bursts(Time(duration)).into_iter().map(|(from, to)| (from.0, to.0)).collect()
}

/// As many as fill the run even if each answer is there at once.
fn thinks(requests: &RequestsFlow, duration: u64, mut draws: RandomStream) -> Vec<u64> {
    let Some(mean) = requests.think else { return Vec::new() };
    let mut found = Vec::new();
    let mut passed = requests.start;
    while passed < duration {
        let span = draws.exponential(Time(mean)).0;
        found.push(span);
        passed = passed.saturating_add(span.max(1));
    }
    found
}

fn sizes(transfers: &TransfersFlow, config: &RunConfig, draws: RandomStream) -> Vec<(u64, u64)> {
    let end = transfers.stop.unwrap_or(config.duration).min(config.duration);
    let span = (Time(transfers.start), Time(end));
    let found = arrivals(draws, &sizes_of(transfers), transfers, span);
    found.into_iter().map(|arrival| (arrival.at.0, arrival.size)).collect()
}

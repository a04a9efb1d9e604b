//! Counters of a run that its rows do not contain. They are read during the run or at its end.

use serde::Serialize;
use sojourn_packet::FaultReport;
use sojourn_switch::{DepthReportStatistics, FlowControlStatistics};
use std::collections::BTreeMap;

/// Counters of one run up to [`Simulation::now`](crate::Simulation::now).
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct RunReport {
    /// Simulated time that has passed, ns.
    pub simulated: u64,
    /// Events that the simulator handled, the switch's timers included.
    pub events: u64,
    /// Copies that mirror sessions made.
    pub mirrored_packets: u64,
    /// Their bytes, after truncation.
    pub mirrored_bytes: u64,
    /// Copies that found the mirror buffer or their queue full, or their session not configured.
    pub mirror_drops: u64,
    /// Packets that went through the recirculation port.
    pub recirculated_packets: u64,
    /// Their bytes.
    pub recirculated_bytes: u64,
    /// Bytes through the recirculation port's queue as a share of the bytes received from hosts.
    pub recirculated_share: f64,
    /// Share of the recirculation port's bandwidth in use.
    pub recirculation_utilisation: f64,
    /// Packets that the egress pass dropped at the recirculation port: copies that had done their
    /// work there and did not come back to ingress.
    pub recirculation_drops: u64,
    /// Packets that packet generators made.
    pub generated_packets: u64,
    /// Their bytes, with the generators' headers.
    pub generated_bytes: u64,
    /// Time for which mirrored copies were in transit, during which a program's state is
    /// unsynchronised.
    pub unsynchronised: SpanReport,
    /// Packets for which a parser ended in an error; Tofino drops them unless the program looks at
    /// the error, v1model goes on with them.
    pub parser_errors: u64,
    /// Packets that the ingress pass dropped.
    pub ingress_drops: u64,
    /// Packets that the program sent to a port or queue that does not exist.
    pub unroutable_packets: u64,
    /// The first of them: its switch, port, queue, and what chose them.
    pub unroutable_first: Option<String>,
    /// Depth reports to the ghost thread of the first switch that has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depth_reports: Option<DepthReportStatistics>,
    /// Requests to pause or resume queues of the first switch that has any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flow_control: Option<FlowControlStatistics>,
    /// Faults of programs, including failed assertions: switch by switch, by kind.
    pub faults: Vec<FaultReport>,
    /// The bottleneck shaper's rate as hardware quantises it, or the mean rate of its link's trace,
    /// bit/s; 0 without either.
    pub shaper_rate: u64,
    /// The bottleneck shaper's burst as hardware quantises it, bytes.
    pub shaper_burst: u64,
    /// Bytes that the bottleneck port sent towards the receivers.
    pub forward_bytes: u64,
    /// Frames that the bottleneck port sent towards the receivers.
    pub forward_packets: u64,
    /// Bytes that port 1 sent back towards the senders.
    pub reverse_bytes: u64,
    /// Frames that port 1 sent back towards the senders.
    pub reverse_packets: u64,
    /// Frames towards the senders that found port 1's queue full.
    pub reverse_drops: u64,
    /// Frames that reached a host which could not read them: a bad checksum or length.
    pub malformed_frames: u64,
    /// Frames that reached no host: their addresses are unknown.
    pub stray_frames: u64,
    /// What hosts with telemetry got back from their receivers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub telemetry: Option<TelemetryReport>,
    /// Frames that were sent into links which were down.
    #[serde(skip_serializing_if = "is_zero")]
    pub frames_into_down_links: u64,
    /// Packets that the shapers and delays on hosts dropped.
    pub host_drops: u64,
    /// One entry per observed port, in the order in which the network's links name them.
    pub bottlenecks: Vec<BottleneckReport>,
    /// One entry per direction of a link with random loss, jitter, reordering or duplication, in the
    /// order of the network's links.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<LinkReport>,
    /// One entry per direction of each link, if the network has several switches: the switches' ports
    /// in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub link_loads: Vec<LinkLoad>,
    /// One entry per flow, in the configuration's order.
    pub flows: Vec<FlowReport>,
}

/// One observed port.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct BottleneckReport {
    /// Its switch.
    pub switch: String,
    /// Other end of its link.
    pub towards: String,
    /// The shaper's rate as hardware quantises it, at the end, or the mean rate of the link's trace,
    /// bit/s; 0 without either.
    pub shaper_rate: u64,
    /// Its burst as hardware quantises it, bytes.
    pub shaper_burst: u64,
    /// Bytes that the port sent.
    pub bytes: u64,
    /// Frames that the port sent.
    pub packets: u64,
    /// The counters of its first queue's discipline, by the names that it gives them.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub discipline: BTreeMap<&'static str, u64>,
}

/// One direction of a link that treats frames at random. `frames + duplicated - lost` frames have
/// arrived or are on their way. A queue's drops are not among the losses.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LinkReport {
    /// Start of the direction.
    pub from: String,
    /// End of the direction.
    pub to: String,
    /// Frames that the link took.
    pub frames: u64,
    /// Frames and copies that it lost.
    pub lost: u64,
    /// Copies that it made.
    pub duplicated: u64,
    /// Frames and copies that did not take its delay.
    pub reordered: u64,
}

/// Load of one direction of a link.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LinkLoad {
    /// Start of the direction.
    pub from: String,
    /// End of the direction.
    pub to: String,
    /// Frames that passed it.
    pub frames: u64,
    /// Their bytes without FCS.
    pub bytes: u64,
    /// How often priority flow control of the switch at its end would have paused it.
    #[serde(skip_serializing_if = "is_zero")]
    pub pauses: u64,
    /// For how long together, ns.
    #[serde(skip_serializing_if = "is_zero")]
    pub paused: u64,
    /// Frames that found the headroom full.
    #[serde(skip_serializing_if = "is_zero")]
    pub beyond_headroom: u64,
}

/// INT that was returned to senders.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TelemetryReport {
    /// Segments that had it.
    pub returned: u64,
    /// Hops in them: none if no switch wrote any.
    pub hops: u64,
}

/// Spans of one kind: how many, how long together, the longest.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SpanReport {
    /// Number of occurrences.
    pub count: u64,
    /// Their sum, ns.
    pub total: u64,
    /// The longest, ns.
    pub max: u64,
}

/// Totals of one flow.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FlowReport {
    /// Start of its application, jitter included, ns.
    pub started: u64,
    /// Payload bytes delivered to the receiving application.
    pub delivered: u64,
    /// Data segments or datagrams sent for the first time.
    pub segments: u64,
    /// Segments retransmitted.
    pub retransmits: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Times that the window was reduced, timeouts not counted.
    pub congestion_events: u64,
}

impl FlowReport {
    /// Adds another of the same source, which has begun when the first of those began that sent something,
    /// or when the last began if none has.
    pub(crate) fn add(&mut self, other: &FlowReport) {
        self.started = match (self.segments > 0, other.segments > 0) {
            (true, true) => self.started.min(other.started),
            (false, false) => self.started.max(other.started),
            (true, false) => self.started,
            (false, true) => other.started,
        };
        self.delivered += other.delivered;
        self.segments += other.segments;
        self.retransmits += other.retransmits;
        self.timeouts += other.timeouts;
        self.congestion_events += other.congestion_events;
    }
}

/// True if there is nothing to report.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

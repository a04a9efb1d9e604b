//! Configuration of a run's flows: the parameters of each kind of traffic.
//!
//! The types are plain data. Every kind begins with the same fields: its path, its times, its IP
//! version. The file must not depend on TCP, UDP or any application.

use crate::tcp::{Hz, congestion};
use serde::{Deserialize, Serialize};

/// One flow between two hosts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum FlowConfig {
    /// A long-lived TCP transfer.
    Tcp(TcpFlow),
    /// UDP at a constant rate, or on and off by turns.
    Udp(UdpFlow),
    /// Short TCP transfers that arrive at random.
    Transfers(TransfersFlow),
    /// Requests and responses over one TCP connection, which the receiver of the responses opens.
    Requests(RequestsFlow),
    /// A voice: equally spaced datagrams with RTP headers.
    Voip(VoipFlow),
}

/// Common settings of flows of all kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Common<'a> {
    /// The host that sends; the group of clients if absent.
    pub from: Option<&'a str>,
    /// The host that receives; the group of servers if absent.
    pub to: Option<&'a str>,
    /// Round-trip time without any queue or serialisation, ns, in addition to that of the links.
    pub rtt: u64,
    /// Start of the application, ns, before jitter.
    pub start: u64,
    /// It starts up to so much later, ns, drawn from the seed.
    pub start_jitter: u64,
    /// End of the application, ns.
    pub stop: Option<u64>,
    /// The version of IP.
    pub ip_version: IpVersion,
    /// The port of the end that listens; 5201 and up if absent.
    pub dst_port: Option<u16>,
}

/// A kind of traffic: its own fields and those of [`Common`].
macro_rules! flow_kind {
    ($(#[$meta:meta])* $name:ident { $($(#[$of:meta])* $field:ident: $type:ty,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            $($(#[$of])* pub $field: $type,)*
            /// The host that sends; the group of clients if absent.
            #[serde(default)]
            pub from: Option<String>,
            /// The host that receives; the group of servers if absent.
            #[serde(default)]
            pub to: Option<String>,
            /// Round-trip time without any queue or serialisation, ns, in addition to that of the
            /// links.
            pub rtt: u64,
            /// Start of the application, ns, before jitter.
            #[serde(default)]
            pub start: u64,
            /// It starts up to so much later, ns, drawn from the seed.
            #[serde(default = "default_start_jitter")]
            pub start_jitter: u64,
            /// End of the application, ns.
            #[serde(default)]
            pub stop: Option<u64>,
            /// The version of IP.
            #[serde(default)]
            pub ip_version: IpVersion,
            /// The port of the end that listens; 5201 and up if absent.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub dst_port: Option<u16>,
        }

        impl $name {
            fn common(&self) -> Common<'_> {
                Common {
                    from: self.from.as_deref(),
                    to: self.to.as_deref(),
                    rtt: self.rtt,
                    start: self.start,
                    start_jitter: self.start_jitter,
                    stop: self.stop,
                    ip_version: self.ip_version,
                    dst_port: self.dst_port,
                }
            }
        }
    };
}

flow_kind! {
    /// A long-lived TCP transfer.
    TcpFlow {
        /// The sender's congestion control.
        #[serde(default)]
        congestion_control: CongestionControlName,
        /// Most bit/s that the application writes on average, in bursts as iperf3 does.
        #[serde(default)]
        rate_cap: Option<u64>,
        /// Bytes that a capped application writes at once.
        #[serde(default = "default_block")]
        block: u64,
        /// Pacing of the sender's segments.
        #[serde(default)]
        pacing: PacingSetting,
        /// Negotiate ECN (RFC 3168).
        #[serde(default)]
        ecn: bool,
        /// Deviations of both ends from Linux's defaults.
        #[serde(default, skip_serializing_if = "TcpChoices::is_default")]
        tcp: TcpChoices,
        /// Bursts of segmentation offload at the sender.
        #[serde(default)]
        segmentation_offload: SegmentationOffload,
    }
}

flow_kind! {
    /// UDP at a constant rate, or on and off by turns.
    UdpFlow {
        /// Rate in bit/s, counted over whole frames without FCS.
        rate: u64,
        /// Size of each frame in bytes, Ethernet header included, FCS not.
        #[serde(default = "default_packet_size")]
        packet_size: u32,
        /// First bytes of each payload; zeros follow.
        #[serde(default)]
        payload_begins: Vec<u8>,
        /// Differentiated services code point of each packet (RFC 2474).
        #[serde(default)]
        dscp: u8,
        /// ECN field of each packet (RFC 3168); the flow does not react to marks.
        #[serde(default)]
        ecn: EcnField,
        /// Length of the on period at that rate, ns; always on if absent.
        #[serde(default)]
        on: Option<u64>,
        /// Length of the off period, ns; with `on`.
        #[serde(default)]
        off: Option<u64>,
        /// Both are means of exponential distributions.
        #[serde(default)]
        exponential: bool,
    }
}

flow_kind! {
    /// Short TCP transfers: a Poisson process of arrivals, sizes of a bounded Pareto distribution, unless
    /// it gives others.
    /// Each is a flow of its own, numbered behind the configured ones in the order of arrival.
    TransfersFlow {
        /// Payload that they offer together, bit/s.
        load: u64,
        /// The hosts of which each transfer goes to one, each as likely, in place of `to`.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        receivers: Vec<String>,
        /// The distribution of the times between arrivals.
        #[serde(default, skip_serializing_if = "ArrivalProcess::is_poisson")]
        arrivals: ArrivalProcess,
        /// Their sizes, in place of the bounded Pareto distribution of the three keys below: bytes and
        /// the share of transfers that have at most so many, in parts of 10^9.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        sizes: Vec<(u64, u64)>,
        /// Interpolation between two points of `sizes`.
        #[serde(default)]
        interpolate: Interpolation,
        /// The smallest transfer, bytes.
        min_size: u64,
        /// The largest, bytes.
        max_size: u64,
        /// Shape of the distribution in thousandths: 1200 is 1.2.
        #[serde(default = "default_shape")]
        shape: u32,
        /// The senders' congestion control.
        #[serde(default)]
        congestion_control: CongestionControlName,
        /// Negotiate ECN (RFC 3168).
        #[serde(default)]
        ecn: bool,
        /// Deviations of both ends from Linux's defaults.
        #[serde(default, skip_serializing_if = "TcpChoices::is_default")]
        tcp: TcpChoices,
        /// Bursts of segmentation offload at the senders.
        #[serde(default)]
        segmentation_offload: SegmentationOffload,
    }
}

flow_kind! {
    /// Requests and responses: `from` answers what `to` asks.
    RequestsFlow {
        /// Bytes of a request.
        request: u64,
        /// Bytes of a response.
        response: u64,
        /// Mean time from a response to the next request, ns, of exponential distribution.
        #[serde(default)]
        think: Option<u64>,
        /// Time between requests, ns, at the same instants for all flows that start together; in
        /// place of `think`.
        #[serde(default)]
        every: Option<u64>,
        /// The congestion control of both ends.
        #[serde(default)]
        congestion_control: CongestionControlName,
        /// Negotiate ECN (RFC 3168).
        #[serde(default)]
        ecn: bool,
        /// Deviations of both ends from Linux's defaults.
        #[serde(default, skip_serializing_if = "TcpChoices::is_default")]
        tcp: TcpChoices,
        /// Bursts of segmentation offload at the end that answers.
        #[serde(default)]
        segmentation_offload: SegmentationOffload,
    }
}

flow_kind! {
    /// A voice: equally spaced datagrams with RTP headers.
    VoipFlow {
        /// Bytes of voice in a datagram; 160 are 20 ms of G.711.
        #[serde(default = "default_voice")]
        payload: u32,
        /// Time between two datagrams, ns.
        #[serde(default = "default_voice_interval")]
        interval: u64,
    }
}

impl FlowConfig {
    /// Common settings of flows of all kinds.
    pub fn common(&self) -> Common<'_> {
        match self {
            FlowConfig::Tcp(flow) => flow.common(),
            FlowConfig::Udp(flow) => flow.common(),
            FlowConfig::Transfers(flow) => flow.common(),
            FlowConfig::Requests(flow) => flow.common(),
            FlowConfig::Voip(flow) => flow.common(),
        }
    }

    /// True if its ends read the telemetry of switches.
    pub(crate) fn reads_telemetry(&self) -> bool {
        match self {
            FlowConfig::Tcp(flow) => flow.congestion_control.reads_telemetry(),
            FlowConfig::Transfers(flow) => flow.congestion_control.reads_telemetry(),
            FlowConfig::Requests(flow) => flow.congestion_control.reads_telemetry(),
            FlowConfig::Udp(_) | FlowConfig::Voip(_) => false,
        }
    }
}

/// The ECN field of datagrams; JSON has the name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EcnField {
    /// Not ECN-capable: dropped where others are marked.
    #[default]
    NotEct,
    /// ECN-capable, codepoint 0: Classic.
    Ect0,
    /// ECN-capable, codepoint 1: L4S.
    Ect1,
}

/// Interpolation between two points of a table of sizes; JSON has the name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Interpolation {
    /// Each size between the two is as likely; below the first point they begin at 0.
    #[default]
    Linear,
    /// All have the size of the lower point; below the first point that is the least, one byte.
    Lower,
}

/// Distribution of the times between arrivals of transfers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum ArrivalProcess {
    /// Exponential.
    #[default]
    Poisson,
    /// Log-normal, with the same mean: bursts and long silences.
    Lognormal {
        /// Standard deviation of the logarithm, in thousandths.
        sigma: u32,
    },
}

impl ArrivalProcess {
    fn is_poisson(&self) -> bool {
        *self == ArrivalProcess::Poisson
    }
}

/// Settings of both ends of a connection that differ from Linux's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TcpChoices {
    /// Least distance of the retransmission timeout from the smoothed round-trip time, ns; 200 ms
    /// if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_rto: Option<u64>,
    /// Ticks a second of the kernel, in which timers count; 1000 if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hz: Option<Hz>,
    /// Segments that a sender begins with; 10 if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial_window: Option<u32>,
    /// Longest delay of an acknowledgement, ns, with 0 for none; 40 to 200 ms, as it adapts, if
    /// absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delayed_ack: Option<u64>,
    /// Round-trip time of the path without queues, ns, for a control that needs it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_rtt: Option<u64>,
    /// Differentiated services code point of each packet (RFC 2474).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dscp: Option<u8>,
    /// Each data packet of a transfer carries such a rank in the IPv4 identification, which has no other
    /// meaning in a packet that must not be fragmented (RFC 6864). Others have rank 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank: Option<Rank>,
}

/// Rank that the data packets of a transfer carry: the lower, the sooner to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Rank {
    /// The bytes that remain, this packet's included, in units of 1,024 bytes, rounded up; 65,535 for
    /// more.
    Remaining,
    /// The instant so many ns after the transfer's start, in whole units of 0.1 ms since the run's.
    Deadline(u64),
}

impl TcpChoices {
    fn is_default(&self) -> bool {
        *self == TcpChoices::default()
    }
}

/// Each flow starts up to this much later than configured, so that flows do not march in step and
/// seeds differ.
pub(crate) const START_JITTER: u64 = 10_000_000;

fn default_start_jitter() -> u64 {
    START_JITTER
}

/// iperf3's block for TCP.
fn default_block() -> u64 {
    128 * 1024
}

fn default_shape() -> u32 {
    1_200
}

fn default_voice() -> u32 {
    160
}

fn default_voice_interval() -> u64 {
    20_000_000
}

fn default_packet_size() -> u32 {
    1514
}

/// A registered congestion control; JSON has its name.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(try_from = "String", into = "&'static str")]
pub struct CongestionControlName(&'static congestion::Registered);

impl CongestionControlName {
    /// The one of that name, if it is registered.
    pub fn new(name: &str) -> Option<CongestionControlName> {
        congestion::REGISTRY.find(name).map(CongestionControlName)
    }

    /// ECN feedback that it needs.
    pub(crate) fn ecn_feedback(self) -> congestion::EcnFeedback {
        self.0.ecn_feedback
    }

    /// True if it reads the telemetry of switches.
    pub(crate) fn reads_telemetry(self) -> bool {
        self.0.telemetry
    }

    /// A fresh control.
    pub(crate) fn start(self, start: &congestion::Start) -> Box<dyn congestion::CongestionControl> {
        (self.0.start)(start)
    }
}

impl Default for CongestionControlName {
    fn default() -> CongestionControlName {
        CongestionControlName(congestion::REGISTRY.first())
    }
}

impl PartialEq for CongestionControlName {
    fn eq(&self, other: &CongestionControlName) -> bool {
        self.0.name == other.0.name
    }
}

impl Eq for CongestionControlName {}

impl std::fmt::Debug for CongestionControlName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0.name)
    }
}

impl From<CongestionControlName> for &'static str {
    fn from(control: CongestionControlName) -> &'static str {
        control.0.name
    }
}

impl TryFrom<String> for CongestionControlName {
    type Error = String;
    fn try_from(name: String) -> Result<Self, String> {
        CongestionControlName::new(&name).ok_or_else(|| {
            let known = congestion::REGISTRY.all();
            let known: Vec<_> = known.iter().map(|known| format!("`{}`", known.name)).collect();
            format!("congestion_control is `{name}`, allowed is one of {}", known.join(", "))
        })
    }
}

/// Number of segments that a sender passes to its interface at once, which leave back to back. In
/// JSON `false`, `true` for as many as Linux would, or a number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "OffloadValue", into = "OffloadValue")]
pub enum SegmentationOffload {
    /// One: no offload.
    #[default]
    Off,
    /// As many as Linux would, about a millisecond at the sender's rate.
    Sized,
    /// So many, 2 to 64.
    Segments(u32),
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum OffloadValue {
    Switch(bool),
    Segments(u32),
}

impl TryFrom<OffloadValue> for SegmentationOffload {
    type Error = String;
    fn try_from(value: OffloadValue) -> Result<Self, String> {
        match value {
            OffloadValue::Switch(false) => Ok(SegmentationOffload::Off),
            OffloadValue::Switch(true) => Ok(SegmentationOffload::Sized),
            OffloadValue::Segments(n @ 2..=64) => Ok(SegmentationOffload::Segments(n)),
            OffloadValue::Segments(other) => Err(format!(
                "segmentation_offload = {other}: allowed are false, true and 2 to 64 segments"
            )),
        }
    }
}

impl From<SegmentationOffload> for OffloadValue {
    fn from(offload: SegmentationOffload) -> OffloadValue {
        match offload {
            SegmentationOffload::Off => OffloadValue::Switch(false),
            SegmentationOffload::Sized => OffloadValue::Switch(true),
            SegmentationOffload::Segments(n) => OffloadValue::Segments(n),
        }
    }
}

/// Pacing of a long transfer's segments, whatever its congestion control. In JSON `false`, `true`,
/// or bit/s.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "PacingValue", into = "PacingValue")]
pub enum PacingSetting {
    /// Only a control that asks for it (BBR) is paced.
    #[default]
    Control,
    /// At the rate that Linux computes of window and round trip, as under its `fq`.
    Window,
    /// The same, and never faster than so many bit/s of payload (`SO_MAX_PACING_RATE`).
    AtMost(u64),
}

impl PacingSetting {
    /// True if a sender paces that would not by its control.
    pub fn is_asked_for(self) -> bool {
        self != PacingSetting::Control
    }

    /// The most payload bytes per second.
    pub fn limit(self) -> Option<u64> {
        match self {
            PacingSetting::AtMost(rate) => Some((rate / 8).max(1)),
            _ => None,
        }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum PacingValue {
    Switch(bool),
    Rate(u64),
}

impl From<PacingValue> for PacingSetting {
    fn from(value: PacingValue) -> PacingSetting {
        match value {
            PacingValue::Switch(false) => PacingSetting::Control,
            PacingValue::Switch(true) => PacingSetting::Window,
            PacingValue::Rate(rate) => PacingSetting::AtMost(rate),
        }
    }
}

impl From<PacingSetting> for PacingValue {
    fn from(pacing: PacingSetting) -> PacingValue {
        match pacing {
            PacingSetting::Control => PacingValue::Switch(false),
            PacingSetting::Window => PacingValue::Switch(true),
            PacingSetting::AtMost(rate) => PacingValue::Rate(rate),
        }
    }
}

/// The version of IP; JSON has the number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "u8", into = "u8")]
pub enum IpVersion {
    /// IPv4.
    #[default]
    V4,
    /// IPv6.
    V6,
}

impl TryFrom<u8> for IpVersion {
    type Error = String;
    fn try_from(version: u8) -> Result<Self, String> {
        match version {
            4 => Ok(IpVersion::V4),
            6 => Ok(IpVersion::V6),
            other => Err(format!("ip_version = {other}: allowed are 4 and 6")),
        }
    }
}

impl From<IpVersion> for u8 {
    fn from(version: IpVersion) -> u8 {
        match version {
            IpVersion::V4 => 4,
            IpVersion::V6 => 6,
        }
    }
}

//! The run configuration: what one simulated run is told, as plain data that JSON carries.
//!
//! Times are nanoseconds, rates bit/s, sizes bytes, all integers. Stands on nothing but serde; it
//! must not know how any of it is simulated, nor TOML, units with suffixes or file names of
//! scenarios, which are the business of the floor above.

mod check;
mod error;

pub(crate) use check::{invalid, within};
pub use error::ConfigError;

use serde::{Deserialize, Serialize};
use sojourn_targets::{Architecture, ControlPlane};
use std::collections::BTreeMap;

/// One run: a switch, an AQM, the flows through it, a duration and a seed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunConfig {
    /// Simulated time in ns; 1 ns to 100,000 s.
    pub duration: u64,
    /// Seed of everything random in the run: start jitter, initial sequence numbers.
    #[serde(default = "default_seed")]
    pub seed: u64,
    /// Keep a copy of every frame that enters and leaves the bottleneck.
    #[serde(default)]
    pub capture: bool,
    /// The switch in the middle.
    #[serde(default)]
    pub switch: SwitchSection,
    /// What manages the bottleneck's queue.
    pub aqm: Aqm,
    /// Who sends; flow `i` has its own pair of hosts.
    pub flows: Vec<FlowConfig>,
    /// Rate in bit/s of the link that all senders share towards port 1, and of the one that all
    /// receivers share behind port 2.
    #[serde(default = "default_port_speed")]
    pub access_rate: u64,
}

/// The switch's ports, queue and latencies.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SwitchSection {
    /// Speed of a front-panel port in bit/s.
    pub port_speed: u64,
    /// Rate of the shaper at the bottleneck port, bit/s as asked for; hardware quantises it.
    pub rate: u64,
    /// Burst of that shaper in bytes, as asked for.
    pub burst: u64,
    /// Tail-drop limit of each queue in bytes (counted in 80-byte cells).
    pub queue_limit: u64,
    /// Time from the last bit received to the traffic manager, ns.
    pub ingress_latency: u64,
    /// Time from the scheduler to the first bit sent, ns.
    pub egress_latency: u64,
    /// Rate of the recirculation port in bit/s.
    pub recirculation_rate: u64,
    /// Time from the end of egress to the ingress parser over the recirculation port, ns.
    pub recirculation_latency: u64,
}

impl Default for SwitchSection {
    fn default() -> Self {
        SwitchSection {
            port_speed: default_port_speed(),
            rate: 100_000_000,
            burst: 1_600,
            queue_limit: 1_940_000,
            ingress_latency: 600,
            egress_latency: 500,
            recirculation_rate: 100_000_000_000,
            recirculation_latency: 400,
        }
    }
}

/// What manages the bottleneck's queue.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Aqm {
    /// A discipline built into the switch.
    Native(NativeAqm),
    /// A P4 program; the queue under it is plain tail drop.
    P4(Box<P4Aqm>),
}

/// A native discipline by its registered name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NativeAqm {
    /// Name, as the switch registers it: `fifo`, `codel` and so on.
    pub name: String,
    /// Parameters that differ from the defaults, by the names of the discipline's source; all
    /// other keys beside `kind` and `name`.
    #[serde(flatten)]
    pub parameters: BTreeMap<String, u64>,
}

/// A P4 program and how to load it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct P4Aqm {
    /// Path of the program's source text.
    pub program: String,
    /// Architecture that the program must be for; any if absent.
    #[serde(default)]
    pub architecture: Option<Architecture>,
    /// How the stateful ALU's math unit rounds its mantissa.
    #[serde(default)]
    pub math_unit: MathUnitReading,
    /// Where `#include` looks.
    #[serde(default)]
    pub include_paths: Vec<String>,
    /// Preprocessor definitions.
    #[serde(default)]
    pub defines: BTreeMap<String, String>,
    /// Table entries, mirror sessions, queues.
    #[serde(default)]
    pub control: ControlPlane,
}

/// The two published readings of the math unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MathUnitReading {
    /// As the vendor's reference model computes.
    #[default]
    Vendor,
    /// As the CoDel-ACT paper's figures imply.
    Paper,
}

/// One flow between its own pair of hosts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum FlowConfig {
    /// A long-lived TCP transfer.
    Tcp(TcpFlow),
    /// Constant-rate UDP.
    Udp(UdpFlow),
}

impl FlowConfig {
    /// Round-trip time without any queue or serialisation, ns.
    pub fn rtt(&self) -> u64 {
        match self {
            FlowConfig::Tcp(flow) => flow.rtt,
            FlowConfig::Udp(flow) => flow.rtt,
        }
    }

    /// When the application starts, ns, before jitter.
    pub fn start(&self) -> u64 {
        match self {
            FlowConfig::Tcp(flow) => flow.start,
            FlowConfig::Udp(flow) => flow.start,
        }
    }

    /// When the application stops writing, ns; never if absent.
    pub fn stop(&self) -> Option<u64> {
        match self {
            FlowConfig::Tcp(flow) => flow.stop,
            FlowConfig::Udp(flow) => flow.stop,
        }
    }

    /// The version of IP that the flow's hosts speak.
    pub fn ip_version(&self) -> IpVersion {
        match self {
            FlowConfig::Tcp(flow) => flow.ip_version,
            FlowConfig::Udp(flow) => flow.ip_version,
        }
    }
}

/// A long-lived TCP transfer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TcpFlow {
    /// The sender's congestion control.
    #[serde(default)]
    pub congestion_control: CongestionControlName,
    /// Round-trip time without any queue or serialisation, ns.
    pub rtt: u64,
    /// When the application connects, ns, before jitter.
    #[serde(default)]
    pub start: u64,
    /// When the application stops writing and closes, ns.
    #[serde(default)]
    pub stop: Option<u64>,
    /// Most bit/s that the application writes on average, in bursts as iperf3 does.
    #[serde(default)]
    pub rate_cap: Option<u64>,
    /// Negotiate ECN (RFC 3168).
    #[serde(default)]
    pub ecn: bool,
    /// Bursts of segmentation offload at the sender.
    #[serde(default)]
    pub segmentation_offload: SegmentationOffload,
    /// The version of IP.
    #[serde(default)]
    pub ip_version: IpVersion,
}

/// Constant-rate UDP.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UdpFlow {
    /// Rate in bit/s, counted over whole frames without FCS.
    pub rate: u64,
    /// Size of each frame in bytes, Ethernet header included, FCS not.
    #[serde(default = "default_packet_size")]
    pub packet_size: u32,
    /// Twice the one-way delay without any queue or serialisation, ns.
    pub rtt: u64,
    /// When the first packet is sent, ns, before jitter.
    #[serde(default)]
    pub start: u64,
    /// When sending stops, ns.
    #[serde(default)]
    pub stop: Option<u64>,
    /// The version of IP.
    #[serde(default)]
    pub ip_version: IpVersion,
}

/// The congestion controls by the names that scenarios use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CongestionControlName {
    /// RFC 9438.
    #[default]
    Cubic,
    /// RFC 5681 and RFC 6582.
    NewReno,
    /// BBR, version 1.
    Bbr,
}

/// How many segments a sender hands to its interface as one, which leave back to back. In JSON
/// `false`, `true` for as many as Linux would, or a number.
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

impl RunConfig {
    /// Reads a configuration from JSON and checks it.
    ///
    /// # Errors
    /// [`ConfigError`] names the key and what is allowed there.
    pub fn from_json(text: &str) -> Result<RunConfig, ConfigError> {
        let config: RunConfig =
            serde_json::from_str(text).map_err(|error| ConfigError::Json(error.to_string()))?;
        config.check()?;
        Ok(config)
    }
}

fn default_seed() -> u64 {
    1
}

fn default_port_speed() -> u64 {
    10_000_000_000
}

fn default_packet_size() -> u32 {
    1514
}

#[cfg(test)]
mod tests;

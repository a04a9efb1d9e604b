//! The run configuration: what one simulated run is told, as plain data that JSON carries.
//!
//! Times are nanoseconds, rates bit/s, sizes bytes, all integers. Stands on serde and on the registers
//! of what can be chosen by name; it must not know how any of it is simulated, nor TOML, units with suffixes or file names of
//! scenarios, which are the business of the floor above.

mod bounds;
mod check;
mod error;
mod flows;
mod network;
mod network_check;
pub(crate) mod routes;

pub use bounds::{invalid, within};
pub(crate) use check::sizes_of;
pub use error::ConfigError;
pub(crate) use flows::START_JITTER;
pub use flows::{
    CongestionControlName, FlowConfig, IpVersion, PacingSetting, RequestsFlow, SegmentationOffload,
    TcpFlow, TransfersFlow, UdpFlow, VoipFlow,
};
pub use network::{HostSection, LinkSection, LinkStep, NetworkSection, SwitchNode};

use serde::{Deserialize, Serialize};
use sojourn_switch::discipline::{self, Discipline, DisciplineError};
use std::collections::BTreeMap;

/// One run: a switch, an AQM, the flows through it, a duration and a seed.
///
/// `A` is what is said of an AQM. Who knows more than this floor says more of it, and brings it to
/// this floor's terms with [`RunConfig::with_aqms`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, bound(deserialize = "A: Deserialize<'de>"))]
pub struct RunConfig<A = Aqm> {
    /// Simulated time in ns; 1 ns to 100,000 s.
    pub duration: u64,
    /// Seed of everything random in the run: start jitter, initial sequence numbers.
    #[serde(default = "default_seed")]
    pub seed: u64,
    /// Keep a copy of every frame that enters and leaves a bottleneck.
    #[serde(default)]
    pub capture: bool,
    /// The switch in the middle, if it is the only one.
    #[serde(default)]
    pub switch: SwitchSection,
    /// Several switches, or hosts that have names, in place of `switch` and `access_rate`.
    #[serde(default)]
    pub network: Option<NetworkSection<A>>,
    /// What manages the bottleneck's queue.
    pub aqm: A,
    /// Who sends; without a network, flow `i` has its own pair of hosts.
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
    /// Packets a second that leave the bottleneck port at most, exactly spaced as bmv2 does it,
    /// beside the shaper.
    pub packets_per_second: Option<u64>,
    /// Tail-drop limit of each queue in bytes (counted in 80-byte cells).
    pub queue_limit: u64,
    /// One-way delay of the link behind the bottleneck, ns, which every packet has beside its
    /// flow's round-trip time; on the way back, too.
    pub delay: u64,
    /// What changes of that link while the run goes on, in the order of time.
    pub schedule: Vec<LinkStep>,
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
            packets_per_second: None,
            queue_limit: 1_940_000,
            delay: 0,
            schedule: Vec::new(),
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
    /// A data plane that is handed over with the configuration; the queue under it is plain tail
    /// drop.
    HandedOver,
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

impl NativeAqm {
    /// The discipline; one that draws random numbers draws them from `seed`, unless it was given one
    /// of its own.
    ///
    /// # Errors
    /// If there is no such discipline or parameter, or a value is not allowed.
    pub fn build(&self, seed: u64) -> Result<Box<dyn Discipline>, DisciplineError> {
        let given: Vec<_> = self.parameters.iter().map(|(k, v)| (k.as_str(), *v)).collect();
        discipline::build_seeded(&self.name, &given, seed)
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

impl<A> RunConfig<A> {
    /// The same run with its AQMs told in other terms.
    pub fn with_aqms<B>(&self, told: impl Fn(&A) -> B) -> RunConfig<B> {
        RunConfig {
            duration: self.duration,
            seed: self.seed,
            capture: self.capture,
            switch: self.switch.clone(),
            network: self.network.as_ref().map(|network| network.with_aqms(&told)),
            aqm: told(&self.aqm),
            flows: self.flows.clone(),
            access_rate: self.access_rate,
        }
    }

    /// What manages the queues of each switch, in the order in which a network names them.
    pub fn aqms(&self) -> Vec<&A> {
        match &self.network {
            None => vec![&self.aqm],
            Some(network) => {
                network.switches.iter().map(|s| s.aqm.as_ref().unwrap_or(&self.aqm)).collect()
            }
        }
    }
}

fn default_seed() -> u64 {
    1
}

fn default_port_speed() -> u64 {
    10_000_000_000
}

#[cfg(test)]
mod tests;

//! Configuration of one simulated run, as plain data that JSON carries.
//!
//! Times are nanoseconds, rates bit/s, sizes bytes, all integers. The module depends on serde and
//! on the registers of named choices. It must not depend on the simulation, nor on TOML, units with
//! suffixes or file names of scenarios, which higher layers handle.

mod check;
mod error;
mod flows;
mod link_netem;
mod network;
mod network_check;
pub(crate) mod routes;
mod validate;

pub(crate) use check::sizes_of;
pub use error::ConfigError;
pub(crate) use flows::START_JITTER;
pub use flows::{
    ArrivalProcess, CongestionControlName, EcnField, FlowConfig, Interpolation, IpVersion,
    PacingSetting, Rank, RequestsFlow, SegmentationOffload, TcpChoices, TcpFlow, TransfersFlow,
    UdpFlow, VoipFlow,
};
pub use link_netem::{CERTAIN, DelayDistribution, LinkNetem};
pub(crate) use network::place_of;
pub use network::{
    Addresses, BufferPool, HostSection, HostShaper, LinkSection, LinkStep, Multipath,
    MultipathMode, NetemPlace, NetemSection, NetworkSection, PIPE_PORTS, PauseSection,
    SharedBuffer, Sharing, SwitchNode, burst, port_speed, queue_limit, recirculates,
    recirculation_ports,
};
pub use validate::{invalid, within};

use serde::{Deserialize, Serialize};
use sojourn_switch::discipline::{self, Discipline, DisciplineError};
use sojourn_switch::{Disciplines, PortId, SwitchConfig};
use std::collections::BTreeMap;

/// One run: a network, an AQM, the flows through it, a duration and a seed.
///
/// `A` is the configuration of an AQM. A crate with further AQMs defines a type of its own, and
/// converts it to this crate's with [`RunConfig::with_aqms`].
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
    /// Network between the hosts; one switch if absent.
    #[serde(default)]
    pub network: NetworkSection<A>,
    /// Emulation of the flows' round-trip times.
    #[serde(default)]
    pub netem: NetemSection,
    /// AQM of the bottleneck's queue.
    pub aqm: A,
    /// Flows.
    pub flows: Vec<FlowConfig>,
}

/// AQM of the bottleneck's queue.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Aqm {
    /// A discipline built into the switch.
    Native(NativeAqm),
    /// A data plane supplied with the configuration; the queue under it is plain tail drop.
    SwitchPlane,
}

/// A native discipline by its registered name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NativeAqm {
    /// Name, as the switch registers it: `fifo`, `codel` and so on.
    pub name: String,
    /// Parameters that differ from the defaults, by the names of the discipline's source; all keys
    /// other than `kind` and `name`.
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

    /// One for each queue of the switch's ports that are `managed`. No two queues of a network draw
    /// the same random numbers; those of port 2 of the first switch are drawn from the run's seed.
    ///
    /// # Errors
    /// As for [`NativeAqm::build`].
    pub fn in_queues(
        &self,
        switch: &SwitchConfig,
        managed: impl Fn(PortId) -> bool,
        seed: u64,
    ) -> Result<Disciplines, ConfigError> {
        let mut made = Disciplines::new();
        for port in switch.ports.iter().filter(|port| managed(port.id)) {
            let own = u64::from(port.id.0).wrapping_sub(2) << 16;
            for queue in 0..port.queues.len() as u8 {
                let seed = seed.wrapping_add(queue.into()).wrapping_add(own);
                let discipline = self.build(seed);
                let refused = |error: DisciplineError| ConfigError::Switch(error.to_string());
                made.insert((port.id, queue), discipline.map_err(refused)?);
            }
        }
        Ok(made)
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
    /// The same run with its AQMs converted.
    pub fn with_aqms<B>(&self, convert: impl Fn(&A) -> B) -> RunConfig<B> {
        RunConfig {
            duration: self.duration,
            seed: self.seed,
            capture: self.capture,
            network: self.network.with_aqms(&convert),
            netem: self.netem,
            aqm: convert(&self.aqm),
            flows: self.flows.clone(),
        }
    }

    /// AQM of each switch, in the order in which a network names them.
    pub fn aqms(&self) -> Vec<&A> {
        self.network.switches.iter().map(|s| s.aqm.as_ref().unwrap_or(&self.aqm)).collect()
    }
}

fn default_seed() -> u64 {
    1
}

#[cfg(test)]
mod tests;

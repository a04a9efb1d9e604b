//! Configuration of a replay: the AQM, the seed, and the latency of mirrored copies.

use crate::config::Aqm;
use serde::{Deserialize, Serialize};
use sojourn_net::ConfigError;
use sojourn_net::config::within;
use sojourn_packet::Time;

/// One AQM under replay.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReplayConfig {
    /// AQM: a P4 program, or `codel`, the native law.
    pub aqm: Aqm,
    /// Seed of the program's random externs.
    #[serde(default = "default_seed")]
    pub seed: u64,
    /// Time from the egress pass that requests a mirrored copy to the copy's own egress pass, ns.
    #[serde(default = "default_latency")]
    pub recirculation_latency: u64,
}

fn default_seed() -> u64 {
    1
}

/// Approximate latency of the simulated switch: 500 ns through egress, a truncated copy at 100
/// Gbit/s, and its wait in the queue of the recirculation port.
fn default_latency() -> u64 {
    1_000
}

impl ReplayConfig {
    /// Parses and validates a configuration in JSON.
    ///
    /// # Errors
    /// It has another form, or a value out of range.
    pub fn from_json(text: &str) -> Result<ReplayConfig, ConfigError> {
        let config: ReplayConfig =
            serde_json::from_str(text).map_err(|error| ConfigError::Json(error.to_string()))?;
        config.check()?;
        Ok(config)
    }

    /// Checks every value.
    ///
    /// # Errors
    /// The first value out of range, with its key and the range.
    pub fn check(&self) -> Result<(), ConfigError> {
        self.aqm.check()?;
        within("recirculation_latency", self.recirculation_latency, 0..=1_000_000_000)
    }

    /// Time from a request for a copy to the copy's egress pass.
    pub fn latency(&self) -> Time {
        Time(self.recirculation_latency)
    }
}

//! Links around a live switch, with rates and delays, deserialized from Python's JSON.

use serde::Deserialize;
use sojourn_live::{DelayClass, Link, LiveError, Way};
use sojourn_packet::{Rate, Time};
use std::collections::BTreeMap;

/// All links.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LinkSet {
    /// Link behind each port; a port without an entry has no delay or rate limit.
    pub links: BTreeMap<u16, LinkConfig>,
    /// Packets have the ids by which other switches know them.
    pub identify: bool,
}

/// A port's link.
#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LinkConfig {
    incoming: WayConfig,
    outgoing: WayConfig,
    /// The Ethernet address of the only host behind it.
    peer: Option<[u8; 6]>,
}

/// One direction of it.
#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct WayConfig {
    /// bit/s
    rate: Option<u64>,
    /// Delays in ns, each with its prefixes.
    classes: Vec<(u64, Vec<String>)>,
}

impl LinkConfig {
    /// The link in the live switch's form.
    ///
    /// # Errors
    /// A prefix is invalid.
    pub fn link(self) -> Result<Link, LiveError> {
        Ok(Link { incoming: self.incoming.way()?, outgoing: self.outgoing.way()?, peer: self.peer })
    }
}

impl WayConfig {
    fn way(self) -> Result<Way, LiveError> {
        let class = |(delay, prefixes): (u64, Vec<String>)| {
            let prefixes = prefixes.iter().map(|text| text.parse()).collect::<Result<_, _>>()?;
            Ok(DelayClass { delay: Time(delay), prefixes })
        };
        let classes = self.classes.into_iter().map(class).collect::<Result<_, LiveError>>()?;
        Ok(Way { rate: self.rate.filter(|rate| *rate > 0).map(Rate), classes })
    }
}

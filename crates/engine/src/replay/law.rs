//! The native law under replay: the state machine that [`codel`] runs on its queue, told the same.

use super::trace::{Decision, Dequeue};
use sojourn_net::ConfigError;
use sojourn_net::config::{NativeAqm, invalid};
use sojourn_packet::{Bytes, Time};
use sojourn_switch::discipline::codel::{Params, State};

/// RFC 8289's decisions.
#[derive(Debug)]
pub(super) struct Law {
    params: Params,
    state: State,
}

impl Law {
    /// The law that a native discipline follows; its parameters have been checked.
    pub fn new(native: &NativeAqm) -> Result<Law, ConfigError> {
        if native.name != "codel" {
            let allowed = "`codel`, or a P4 program: other disciplines decide only about a queue \
                           that their own drops change";
            return Err(invalid("aqm.name", format!("`{}`", native.name), allowed));
        }
        let mut params = Params::default();
        for (name, &value) in &native.parameters {
            match name.as_str() {
                "target" => params.target = Time(value),
                "interval" => params.interval = Time(value),
                "maxpacket" => params.maxpacket = Bytes(value),
                "ecn" if value == 0 => {}
                _ => return Err(invalid(&format!("aqm.{name}"), value, "nothing in a replay")),
            }
        }
        Ok(Law { params, state: State::default() })
    }

    pub fn decide(&mut self, row: &Dequeue) -> Decision {
        let dropped = self.state.drops(&self.params, row.time, row.sojourn, row.backlog);
        Decision { dropped, unsynchronised: false }
    }
}

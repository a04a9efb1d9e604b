//! Native AQMs under replay: the state machine that [`codel`] runs on its queue, or a discipline
//! that decides about packets of an external queue (a hardware module).
//!
//! [`codel`]: sojourn_switch::discipline::codel

use super::trace::{Decision, Dequeue};
use sojourn_net::ConfigError;
use sojourn_net::config::{NativeAqm, invalid};
use sojourn_packet::{Bytes, Time};
use sojourn_switch::discipline::Discipline;
use sojourn_switch::discipline::codel::{Params, State};

/// Native AQM of a replay.
#[derive(Debug)]
pub(super) enum NativeLaw {
    /// RFC 8289.
    Codel { params: Params, state: State },
    /// A discipline that decides about single packets.
    PerPacket(Box<dyn Discipline>),
}

impl NativeLaw {
    /// The AQM of a native discipline with validated parameters.
    pub fn new(native: &NativeAqm) -> Result<NativeLaw, ConfigError> {
        if native.name != "codel" {
            return NativeLaw::per_packet(native);
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
        Ok(NativeLaw::Codel { params, state: State::default() })
    }

    fn per_packet(native: &NativeAqm) -> Result<NativeLaw, ConfigError> {
        let built = || native.build(0).ok();
        // A request to an unused instance shows whether it supports decisions.
        let answers = built().and_then(|mut d| d.decides(Time(0), Time(0), Bytes(0), Bytes(0)));
        match (answers, built()) {
            (Some(_), Some(discipline)) => Ok(NativeLaw::PerPacket(discipline)),
            _ => {
                let allowed = "`codel`, or a P4 program: other disciplines decide only about a \
                               queue that their own drops change";
                Err(invalid("aqm.name", format!("`{}`", native.name), allowed))
            }
        }
    }

    pub fn decide(&mut self, row: &Dequeue) -> Decision {
        let &Dequeue { time, sojourn, backlog, size, .. } = row;
        let dropped = match self {
            NativeLaw::Codel { params, state } => state.drops(params, time, sojourn, backlog),
            NativeLaw::PerPacket(discipline) => {
                discipline.decides(time, sojourn, backlog, Bytes(size.into())).unwrap_or(false)
            }
        };
        Decision { dropped, unsynchronised: false }
    }
}

//! A switch on its own: what ports it has and what runs in it; what drives it is not known here.
//!
//! Its passes take no time of their own: whoever drives it by the wall clock spends real time on
//! them.

use crate::RunError;
use crate::config::Aqm;
use crate::load::Programs;
use serde::{Deserialize, Serialize};
use sojourn_net::ConfigError;
use sojourn_net::config::{burst, invalid, queue_limit, within};
use sojourn_packet::{Bytes, DataPlane, Packet, PortId, Rate, Time};
use sojourn_switch::{
    Disciplines, Observation, PortConfig, QueueConfig, ShaperConfig, Switch, SwitchConfig, Wire,
    cells_for_bytes,
};

/// The port of Tofino's first pipe that goes back to ingress.
const RECIRCULATION: PortId = PortId(68);
/// Its rate.
const RECIRCULATION_RATE: Rate = Rate(100_000_000_000);
/// Ports have nine bits.
const LAST_PORT: u64 = 511;

/// The switch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StandaloneConfig {
    /// Its ports.
    pub ports: Vec<StandalonePort>,
    /// What runs in it: a program, or a discipline in the queues of a wire between two ports.
    pub aqm: Aqm,
    /// Where random choices begin.
    #[serde(default = "one")]
    pub seed: u64,
    /// Keep a copy of every frame that enters and leaves a measured port.
    #[serde(default)]
    pub capture: bool,
}

/// A port.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StandalonePort {
    /// Its number.
    pub id: u16,
    /// Rate of its shaper, bit/s; without one it is not shaped, and not measured.
    #[serde(default)]
    pub rate: Option<u64>,
    /// Burst of that shaper in bytes.
    #[serde(default = "burst")]
    pub burst: u64,
    /// Tail-drop limit of each of its queues in bytes.
    #[serde(default = "queue_limit")]
    pub queue_limit: u64,
    /// Its speed in bit/s.
    #[serde(default = "speed")]
    pub speed: u64,
}

fn one() -> u64 {
    1
}

fn speed() -> u64 {
    100_000_000_000
}

/// Builds the switch, at rest, with its program configured, if it has one: one of `programs` if it is
/// compiled already.
///
/// # Errors
/// What is wrong with the configuration, the program or its control plane.
pub fn standalone(config: &StandaloneConfig, programs: &Programs) -> Result<Switch, RunError> {
    check(config)?;
    let mut switch = SwitchConfig {
        ports: config.ports.iter().map(|port| front(port, config.capture)).collect(),
        ingress_latency: Time::ZERO,
        egress_latency: Time::ZERO,
        ..SwitchConfig::default()
    };
    if config.ports.iter().all(|port| PortId(port.id) != RECIRCULATION) {
        let back = PortConfig::recirculation(RECIRCULATION, RECIRCULATION_RATE, Time::ZERO);
        switch.ports.push(back);
    }
    let room = config.ports.iter().map(|port| cells_for_bytes(Bytes(port.queue_limit)));
    switch.cells = switch.cells.max(room.fold(0, u32::saturating_add));
    let (plane, native): (Box<dyn DataPlane>, _) = match &config.aqm {
        Aqm::Native(native) => (Box::new(wire(&config.ports)?), Some(native.clone())),
        Aqm::P4(p4) => {
            let handed_over = programs.handed_over(p4, config.seed)?;
            (handed_over.set_up)(&mut switch);
            (handed_over.plane, handed_over.discipline)
        }
    };
    let disciplines = match &native {
        Some(native) => {
            let is_shaped =
                |id| config.ports.iter().any(|port| port.rate.is_some() && PortId(port.id) == id);
            native.in_queues(&switch, is_shaped, config.seed)?
        }
        None => Disciplines::new(),
    };
    Ok(Switch::with_disciplines(switch, plane, disciplines)?)
}

/// Drives a switch at rest in virtual time, as the simulator does, with frames that arrive at instants
/// in order; what was measured until `until`.
pub fn drive(
    switch: &mut Switch,
    arrivals: impl IntoIterator<Item = (Time, PortId, Packet)>,
    until: Time,
) -> Vec<Observation> {
    let mut seen = Vec::new();
    let mut take = |switch: &mut Switch| {
        while switch.poll_transmit().is_some() {}
        seen.extend(std::iter::from_fn(|| switch.poll_observation()));
    };
    let mut pass = |switch: &mut Switch, until: Time| {
        while let Some(due) = switch.next_timer().filter(|due| *due <= until) {
            switch.advance(due);
            take(switch);
        }
    };
    for (at, port, packet) in arrivals {
        pass(switch, at);
        switch.receive(at, port, packet);
    }
    pass(switch, until);
    take(switch);
    seen
}

fn check(config: &StandaloneConfig) -> Result<(), ConfigError> {
    for (place, port) in config.ports.iter().enumerate() {
        let key = |name: &str| format!("ports[{place}].{name}");
        within(&key("id"), u64::from(port.id), 0..=LAST_PORT)?;
        within(&key("speed"), port.speed, 1_000..=400_000_000_000)?;
        within(&key("rate"), port.rate.unwrap_or(port.speed), 1_000..=port.speed)?;
        within(&key("burst"), port.burst, 1..=1 << 32)?;
        within(&key("queue_limit"), port.queue_limit, 1_600..=1 << 40)?;
    }
    config.aqm.check()
}

fn front(port: &StandalonePort, capture: bool) -> PortConfig {
    let limit = cells_for_bytes(Bytes(port.queue_limit));
    let observed = port.rate.is_some();
    PortConfig {
        queues: vec![QueueConfig { limit, ..QueueConfig::default() }],
        shaper: port.rate.map(|rate| ShaperConfig::bits(Rate(rate), port.burst)),
        observed,
        capture: capture && observed,
        ..PortConfig::front(PortId(port.id), Rate(port.speed))
    }
}

/// Without a program there is nothing to choose, so there must be two ports.
fn wire(ports: &[StandalonePort]) -> Result<Wire, ConfigError> {
    match ports {
        [one, other] => Ok(Wire::between(PortId(one.id), PortId(other.id))),
        _ => Err(invalid(
            "ports",
            format!("{} ports", ports.len()),
            "two ports for a discipline, which is in the queues of a wire; a program may have more",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_packet::PacketId;

    fn built(config: &serde_json::Value) -> Result<Switch, RunError> {
        let config = serde_json::from_value(config.clone()).expect("a configuration");
        standalone(&config, &Programs::default())
    }

    #[test]
    fn a_discipline_is_in_the_queues_of_a_wire_between_two_ports() {
        let mut switch = built(&serde_json::json!({
            "ports": [{"id": 1}, {"id": 2, "rate": 100_000_000}],
            "aqm": {"kind": "native", "name": "codel"},
        }))
        .expect("a switch");
        for number in 0..4 {
            let packet =
                Packet { id: PacketId(number), bytes: vec![0; 1_500], ..Packet::default() };
            switch.receive(Time(number), PortId(1), packet);
        }
        while let Some(due) = switch.next_timer() {
            switch.advance(due);
        }
        let out: Vec<_> = std::iter::from_fn(|| switch.poll_transmit()).collect();
        let ports: Vec<_> = out.iter().map(|transmit| transmit.port.0).collect();
        assert_eq!(ports, [2, 2, 2, 2]);
        // 1,520 bytes each as the shaper counts them.
        let apart = out[3].start.0 - out[2].start.0;
        assert!((121_000..122_200).contains(&apart), "{apart} ns");
    }

    #[test]
    fn a_discipline_for_three_ports_and_a_rate_above_the_speed_are_refused_by_name() {
        let refused = |text| built(&text).err().expect("refused").to_string();
        let three = serde_json::json!({
            "ports": [{"id": 1}, {"id": 2}, {"id": 3}],
            "aqm": {"kind": "native", "name": "codel"},
        });
        assert!(refused(three).contains("two ports"));
        let fast = serde_json::json!({
            "ports": [{"id": 1}, {"id": 2, "rate": 200_000_000_000_u64}],
            "aqm": {"kind": "native", "name": "codel"},
        });
        assert!(refused(fast).contains("ports[1].rate"));
    }
}

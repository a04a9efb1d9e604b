//! Standalone switch: its ports, and its program or discipline. Must not depend on its driver.
//!
//! Its passes take no virtual time: a driver in real time spends real time on them.

use crate::RunError;
use crate::config::{Aqm, FurtherProgram};
use crate::load::Programs;
use serde::{Deserialize, Serialize};
use sojourn_net::config::{burst, invalid, queue_limit, recirculation_ports, within};
use sojourn_net::{ConfigError, SwitchPlane};
use sojourn_packet::{Bytes, DataPlane, Packet, PortId, Rate, Time};
use sojourn_switch::{
    CrossConnect, Disciplines, Observation, PortConfig, QueueConfig, RoundLimit, Routes,
    ShaperConfig, Switch, SwitchConfig, cells_for_bytes,
};
use std::net::IpAddr;

/// Rate of recirculation ports.
const RECIRCULATION_RATE: Rate = Rate(100_000_000_000);
/// Recirculation is limited to a rate below what runs in real time: a pass takes a microsecond or
/// two.
const ROUNDS: RoundLimit = RoundLimit { at_once: 10_000, every: Time(4_000) };
/// Ports have nine bits.
const LAST_PORT: u64 = 511;

/// The switch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StandaloneConfig {
    /// Its ports.
    pub ports: Vec<StandalonePort>,
    /// AQM: a program, or a discipline in the queues between two connected ports.
    pub aqm: Aqm,
    /// Seed of random choices.
    #[serde(default = "one")]
    pub seed: u64,
    /// Record every frame that enters and leaves a measured port.
    #[serde(default)]
    pub capture: bool,
    /// Number of pipes of the chip, each of which runs the program separately on the packets of its
    /// ports.
    #[serde(default = "one_pipe")]
    pub pipes: u16,
    /// Further programs, in pipes of their own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub beside: Vec<FurtherProgram>,
    /// Routes of a discipline's switch, if it does not have exactly two ports.
    #[serde(default)]
    pub routes: Vec<StandaloneRoute>,
}

/// Output port of an address prefix.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StandaloneRoute {
    /// Address of the prefix.
    pub to: IpAddr,
    /// Number of leading bits that count.
    pub bits: u8,
    /// The port.
    pub port: u16,
}

/// A port.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StandalonePort {
    /// Its number.
    pub id: u16,
    /// Rate of its shaper, bit/s; without this and `packets_per_second` it is neither shaped nor
    /// measured.
    #[serde(default)]
    pub rate: Option<u64>,
    /// Packets per second of its shaper.
    #[serde(default)]
    pub packets_per_second: Option<u64>,
    /// Whether it is measured, if it has a shaper.
    #[serde(default = "yes")]
    pub rows: bool,
    /// Burst of that shaper in bytes.
    #[serde(default = "burst")]
    pub burst: u64,
    /// Tail-drop limit of each of its queues in bytes.
    #[serde(default = "queue_limit")]
    pub queue_limit: u64,
    /// Its speed in bit/s.
    #[serde(default = "speed")]
    pub speed: u64,
    /// The port loops its output back to its input, like a port without a front panel connector.
    #[serde(default)]
    pub loops: bool,
}

impl StandalonePort {
    /// Whether it has a shaper, so that an AQM manages its queues.
    pub fn is_shaped(&self) -> bool {
        self.rate.is_some() || self.packets_per_second.is_some()
    }
}

fn one() -> u64 {
    1
}

fn one_pipe() -> u16 {
    1
}

fn yes() -> bool {
    true
}

fn speed() -> u64 {
    100_000_000_000
}

/// Builds the idle switch with its program, if any, configured: one of `programs` if it is compiled
/// already.
///
/// # Errors
/// Returns an error for an invalid configuration, program or control plane.
pub fn standalone(config: &StandaloneConfig, programs: &Programs) -> Result<Switch, RunError> {
    check(config)?;
    let handed = match &config.aqm {
        Aqm::P4(p4) => programs.handed_over_to(p4, config.seed, config.pipes, &config.beside)?,
        Aqm::Native(native) => SwitchPlane {
            discipline: Some(native.clone()),
            ..SwitchPlane::plain(forwarder(config)?)
        },
    };
    let SwitchPlane { plane, set_up, cell, discipline: native, .. } = handed;
    let mut switch = SwitchConfig {
        ports: config.ports.iter().map(|port| front(port, cell, config.capture)).collect(),
        ingress_latency: Time::ZERO,
        egress_latency: Time::ZERO,
        rounds: ROUNDS,
        ..SwitchConfig::default()
    };
    for back in recirculation_ports(config.pipes).into_iter().map(PortId) {
        if config.ports.iter().all(|port| PortId(port.id) != back) {
            switch.ports.push(PortConfig::recirculation(back, RECIRCULATION_RATE, Time::ZERO));
        }
    }
    let room = config.ports.iter().map(|port| cells_for_bytes(Bytes(port.queue_limit), cell));
    switch.needed_cells = room.fold(0, u32::saturating_add);
    set_up(&mut switch);
    let loops = |known: &PortConfig| {
        config.ports.iter().any(|port| port.loops && PortId(port.id) == known.id)
    };
    switch.ports.iter_mut().filter(|port| loops(port)).for_each(|port| {
        port.recirculation = Some(Time::ZERO);
    });
    let disciplines = match &native {
        Some(native) => {
            let is_shaped =
                |id| config.ports.iter().any(|port| port.is_shaped() && PortId(port.id) == id);
            native.in_queues(&switch, is_shaped, config.seed)?
        }
        None => Disciplines::new(),
    };
    Ok(Switch::with_disciplines(switch, plane, disciplines)?)
}

/// Drives an idle switch in virtual time, as the simulator does, with frames in order of time;
/// returns the measurements until `until`.
///
/// ```
/// use sojourn_engine::{Programs, StandaloneConfig, drive, standalone};
/// use sojourn_packet::{Packet, PortId, Time};
/// let config: StandaloneConfig = serde_json::from_str(
///     r#"{
///         "ports": [{"id": 1}, {"id": 2, "rate": 10000000}],
///         "aqm": {"kind": "native", "name": "codel"}
///     }"#,
/// )?;
/// let mut switch = standalone(&config, &Programs::default())?;
/// let frame = Packet { bytes: vec![0; 60], ..Packet::default() };
/// let seen = drive(&mut switch, [(Time(0), PortId(1), frame)], Time::from_secs(1));
/// assert_eq!(seen.len(), 1, "the frame's row, at the port that is shaped");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn drive(
    switch: &mut Switch,
    arrivals: impl IntoIterator<Item = (Time, PortId, Packet)>,
    until: Time,
) -> Vec<Observation> {
    let mut seen = Vec::new();
    let mut take = |switch: &mut Switch| {
        switch.take_transmits();
        seen.extend(switch.take_observations());
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

fn front(port: &StandalonePort, cell: Bytes, capture: bool) -> PortConfig {
    let limit = cells_for_bytes(Bytes(port.queue_limit), cell);
    let observed = port.is_shaped() && port.rows;
    PortConfig {
        queues: vec![QueueConfig { limit, ..QueueConfig::default() }],
        shaper: port.rate.map(|rate| ShaperConfig::bits(Rate(rate), port.burst)),
        packet_pace: port.packets_per_second,
        observed,
        capture: capture && observed,
        ..PortConfig::front(PortId(port.id), Rate(port.speed))
    }
}

/// Without a program: a wire between two ports, or routes.
fn forwarder(config: &StandaloneConfig) -> Result<Box<dyn DataPlane>, ConfigError> {
    match &config.ports[..] {
        [one, other] => Ok(Box::new(CrossConnect::between(PortId(one.id), PortId(other.id)))),
        ports if config.routes.is_empty() => Err(invalid(
            "ports",
            format!("{} ports", ports.len()),
            "two ports for a discipline, which is in the queues of a wire; a program may have more",
        )),
        _ => Ok(Box::new(routes(&config.routes)?)),
    }
}

fn routes(given: &[StandaloneRoute]) -> Result<Routes, ConfigError> {
    let mut routes = Routes::default();
    for (place, route) in given.iter().enumerate() {
        let whole = if route.to.is_ipv4() { 32 } else { 128 };
        within(&format!("routes[{place}].bits"), u64::from(route.bits), 0..=whole)?;
        match u64::from(route.bits) == whole {
            true => routes.set(route.to, PortId(route.port)),
            false => routes.set_network(route.to, route.bits, PortId(route.port)),
        }
    }
    Ok(routes)
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
        let out: Vec<_> = switch.take_transmits().collect();
        let ports: Vec<_> = out.iter().map(|transmit| transmit.port.0).collect();
        assert_eq!(ports, [2, 2, 2, 2]);
        // 1,520 bytes each, as counted by the shaper.
        let apart = out[3].start.0 - out[2].start.0;
        assert!((121_000..122_200).contains(&apart), "{apart} ns");
    }

    #[test]
    fn a_discipline_with_routes_sends_each_frame_where_its_address_is() {
        let mut switch = built(&serde_json::json!({
            "ports": [{"id": 1}, {"id": 2, "rate": 100_000_000}, {"id": 3, "rate": 8_000_000}],
            "aqm": {"kind": "native", "name": "codel"},
            "routes": [
                {"to": "10.0.2.1", "bits": 32, "port": 2},
                {"to": "10.0.0.0", "bits": 8, "port": 3},
            ],
        }))
        .expect("a switch");
        for (number, to) in (0..).zip([[10, 0, 2, 1], [10, 9, 9, 9], [11, 0, 0, 1]]) {
            let mut bytes = vec![0; 60];
            bytes[12..14].copy_from_slice(&[0x08, 0x00]);
            bytes[14] = 0x45;
            bytes[30..34].copy_from_slice(&to);
            let packet = Packet { id: PacketId(number), bytes, ..Packet::default() };
            switch.receive(Time(number), PortId(1), packet);
        }
        while let Some(due) = switch.next_timer() {
            switch.advance(due);
        }
        let out = switch.take_transmits();
        let mut went: Vec<_> = out.map(|sent| (sent.packet.id.0, sent.port.0)).collect();
        went.sort_unstable();
        assert_eq!(went, [(0, 2), (1, 3)]);
    }

    #[test]
    fn a_switch_generates_what_its_control_plane_sets_and_refuses_a_pipe_that_it_lacks() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let path = |name: &str| root.join(name).display().to_string();
        let with = |pipe: u8| {
            let application = serde_json::json!({
                "pipe": pipe, "app": 1, "trigger": {"periodic": 16_000_000}, "packets": 2,
                "packet": vec![0; 60],
            });
            serde_json::json!({
                "ports": [{"id": 1}, {"id": 2, "rate": 100_000_000}],
                "aqm": {
                    "kind": "p4", "program": path("docs/examples/timer_blue.p4"),
                    "include_paths": [path("p4/include"), path("p4/tna")],
                    "control": {"pktgen": [application]},
                },
            })
        };
        let mut switch = built(&with(0)).expect("a switch");
        drive(&mut switch, [], Time::from_millis(100));
        let statistics = switch.statistics();
        assert_eq!((statistics.generated.packets, statistics.generated.bytes), (12, 12 * 66));
        assert_eq!(statistics.ingress.passes, 12);
        let why = built(&with(1)).err().expect("refused").to_string();
        assert!(
            why.starts_with("control plane: pktgen[0].pipe: the switch has no pipe 1"),
            "{why}"
        );
    }

    #[test]
    fn a_packet_for_the_recirculation_port_of_psa_comes_back_with_what_egress_sends_along() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let path = |name: &str| root.join(name).display().to_string();
        let mut switch = built(&serde_json::json!({
            "ports": [{"id": 1}, {"id": 4}],
            "aqm": {
                "kind": "p4", "program": path("tests/stf/psa/paths.p4"),
                "include_paths": [path("p4/include")],
            },
        }))
        .expect("a switch");
        let mut bytes = vec![0; 60];
        bytes[13] = 4;
        switch.receive(Time::ZERO, PortId(1), Packet { bytes, ..Packet::default() });
        while let Some(due) = switch.next_timer() {
            switch.advance(due);
        }
        let out: Vec<_> = switch.take_transmits().collect();
        assert_eq!(out.iter().map(|sent| sent.port.0).collect::<Vec<_>>(), [4]);
        // Its path in ingress, that in egress, and the metadata of the recirculation.
        assert_eq!(out[0].packet.bytes[14..18], [6, 1, 0x55, 0x55]);
        assert_eq!(switch.statistics().recirculation.recirculated.packets, 1);
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

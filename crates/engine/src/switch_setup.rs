//! Control-plane configuration of the switch itself: mirror sessions, multicast groups, queues.
//!
//! Tables and registers are the program's; this module configures the traffic manager. The limits
//! of Tofino's mirror buffer and its single resubmission do not apply to bmv2.

use sojourn_control::{
    Batch, Bits, BufferPool, ControlError, ControlPlane, GeneratorApplication, GeneratorTrigger,
    Multiple, Operation, QueueSetting, SchedulerNode,
};
use sojourn_packet::{PacketGenerator, Rate, Time};
use sojourn_switch::tm::shaper::{TokenBucket, Unencodable};
use sojourn_switch::{
    ColorLimits, ConfigError, DeflectionQueue, GeneratorSetting, Generators, MAX_QUEUES,
    MirrorConfig, MirrorSession, MulticastGroup, MulticastNode, NodeChange, PortConfig, PortId,
    QueueConfig, SessionDirection, ShapedRate, ShaperConfig, SwitchConfig, Trigger,
};
use sojourn_target::target::{Copies, SwitchTraits};
use std::collections::BTreeSet;

/// The highest session number in bmv2.
const LAST_SESSION: u16 = 0x7fff;
/// As many queues as a port of `simple_switch` can have: it was seen to run with 32, and to crash with
/// 33. A packet's `priority` has three bits, unless the architecture's file is configured otherwise.
const PRIORITIES: u8 = 32;
/// Eighths of a queue's limit that packets of a colour may take at most.
const EIGHTHS: u8 = 8;
/// The highest priority of a queue of the chip.
const LAST_PRIORITY: u8 = 7;

/// Checks that a target's switch supports the operations of a batch.
///
/// # Errors
/// The first operation that it does not support, with its position.
pub(crate) fn check(batch: &Batch, traits: &SwitchTraits) -> Result<(), ControlError> {
    let numbers = match (traits.copies, traits.traffic_manager) {
        (Copies::Unlimited, _) => 0..=LAST_SESSION,
        (Copies::Chip, None) => MirrorConfig::default().numbers,
        (Copies::Chip, Some(manager)) => manager.mirror_sessions.0..=manager.mirror_sessions.1,
    };
    for (at, operation) in batch.operations().enumerate() {
        let refused = |why: ConfigError| batch.refused(at, ControlError::Message(why.to_string()));
        let (what, ports) = match operation {
            Operation::SetMirrorSession(sojourn_control::MirrorSession { session, .. })
                if !numbers.contains(session) =>
            {
                let numbers = numbers.clone();
                return Err(refused(ConfigError::SessionNumber { session: *session, numbers }));
            }
            Operation::SetMirrorSession(session) => {
                ("a mirror session", session.port.into_iter().collect())
            }
            Operation::SetMulticastGroup(group) => {
                let ports = group.nodes.iter().flat_map(|node| node.ports.iter().copied());
                ("a multicast group", ports.collect::<Vec<u16>>())
            }
            _ => continue,
        };
        if let Some(port) = ports.into_iter().find(|port| *port >= traits.ports) {
            let port = PortId(port);
            return Err(refused(ConfigError::NoSuchQueue { what, port, queue: 0 }));
        }
    }
    Ok(())
}

/// Packet generators of a control plane on a chip with so many pipes.
///
/// # Errors
/// The first application that exceeds a limit of the chip, with its key.
pub(crate) fn generators(
    applications: &[GeneratorApplication],
    chip: Option<PacketGenerator>,
    pipes: u8,
) -> Result<Generators, ControlError> {
    let settings: Vec<GeneratorSetting> = applications.iter().map(generator).collect();
    let made = Generators::with(chip, pipes, &settings);
    made.map_err(|why| ControlError::Message(why.to_string()))
}

/// Configures a switch from the control plane, and applies the limits of its target.
pub(crate) fn configure(switch: &mut SwitchConfig, control: &ControlPlane, traits: &SwitchTraits) {
    switch.mirror.sessions = control.mirror_sessions.iter().map(session).collect();
    switch.multicast = control.multicast_groups.iter().map(group).collect();
    switch.deflection = control.deflection.iter().map(deflection).collect();
    switch.generated.extend(control.pktgen.iter().map(generator));
    if traits.copies == Copies::Unlimited {
        unlimited(switch, traits);
    }
    adopt(switch, traits);
    match control.fair_queues {
        // If a control plane may choose the number of queues, the packet's priority selects its
        // queue.
        Some(count) if traits.queues_chosen => queues(switch, count.min(PRIORITIES), |_| 0),
        Some(count) => queues(switch, count.min(traits.queues), |_| 0),
        None if traits.queues_chosen => {
            priority_queues(switch, control.priority_queues.unwrap_or(traits.queues));
        }
        // The chip has eight priorities for its queues; further queues share the highest.
        None => {
            if let Some(count) = control.priority_queues {
                queues(switch, count.min(traits.queues), |queue| queue.min(LAST_PRIORITY));
            }
        }
    }
    control.buffer_pools.iter().for_each(|pool| set_pool(&mut switch.pools, pool));
    switch.node_changes = control.scheduler_nodes.iter().map(scheduler_node).collect();
    control.queues.iter().for_each(|setting| set_queues(&mut switch.ports, setting));
}

/// Gives a switch its target's packet generators, traffic manager and recirculation ports.
pub(crate) fn adopt(switch: &mut SwitchConfig, traits: &SwitchTraits) {
    switch.generator = traits.packet_generator;
    if let Some(manager) = traits.traffic_manager {
        switch.cells = manager.cells;
        switch.cell = manager.cell;
        let (first, last) = manager.mirror_sessions;
        switch.mirror.numbers = first..=last;
        switch.shapers = manager.shapers;
        switch.nodes = manager.nodes;
    }
    move_recirculation(switch, traits);
}

/// Moves the recirculation ports of a network to the numbers that the target's chip has for them,
/// except for numbers that front-panel ports take.
fn move_recirculation(switch: &mut SwitchConfig, traits: &SwitchTraits) {
    let is_strange = |port: &PortConfig| {
        port.recirculation.is_some() && !traits.recirculating.contains(&port.id.0)
    };
    let Some(example) = switch.ports.iter().find(|port| is_strange(port)).cloned() else { return };
    if traits.recirculating.is_empty() {
        return;
    }
    let pipe = |port: u16| port / traits.pipe_ports;
    let pipes: BTreeSet<u16> =
        switch.ports.iter().filter(|port| is_strange(port)).map(|port| pipe(port.id.0)).collect();
    switch.ports.retain(|port| !is_strange(port));
    let taken: BTreeSet<u16> = switch.ports.iter().map(|port| port.id.0).collect();
    let own = traits.recirculating.iter().copied();
    let free = own.filter(|port| pipes.contains(&pipe(*port)) && !taken.contains(port));
    switch.ports.extend(free.map(|port| PortConfig { id: PortId(port), ..example.clone() }));
}

/// A mirror session as the switch takes it.
pub fn session(given: &sojourn_control::MirrorSession) -> MirrorSession {
    MirrorSession {
        id: given.session,
        direction: match given.direction {
            sojourn_control::SessionDirection::Ingress => SessionDirection::Ingress,
            sojourn_control::SessionDirection::Egress => SessionDirection::Egress,
            sojourn_control::SessionDirection::Both => SessionDirection::Both,
        },
        port: given.port.map(PortId),
        group: given.group,
        queue: given.queue,
        max_length: given.max_length.unwrap_or(0),
        cos: 0,
        color: 0,
    }
}

/// Converts a multicast group to the switch's form.
pub fn group(given: &sojourn_control::MulticastGroup) -> MulticastGroup {
    let node = |node: &sojourn_control::MulticastNode| MulticastNode {
        rid: node.rid,
        l1_exclusion: None,
        ports: node.ports.iter().copied().map(PortId).collect(),
    };
    MulticastGroup { id: given.id, nodes: given.nodes.iter().map(node).collect() }
}

/// Converts an application of a packet generator to the switch's form.
pub fn generator(given: &GeneratorApplication) -> GeneratorSetting {
    let mut going_down = Vec::new();
    let trigger = match &given.trigger {
        GeneratorTrigger::OneShot(timer) => Trigger::Once(Time(*timer)),
        GeneratorTrigger::Periodic(timer) => Trigger::Every(Time(*timer)),
        GeneratorTrigger::PortDown(ports) => {
            going_down.clone_from(ports);
            Trigger::PortDown
        }
        GeneratorTrigger::Pattern(pattern) => {
            let (Bits(value), Bits(mask)) = (pattern.value, pattern.mask);
            Trigger::Pattern { value, mask }
        }
    };
    GeneratorSetting {
        pipe: given.pipe,
        number: given.app,
        trigger,
        contents: given.packet.0.clone(),
        batches: given.batches,
        packets: given.packets,
        batch_gap: Time(given.batch_gap),
        packet_gap: Time(given.packet_gap),
        port: given.port,
        source_port: given.source_port,
        increments: given.increment_source_port,
        going_down,
    }
}

/// A port's shaper as the hardware implements it: rate in bit/s and burst in bytes.
///
/// ```
/// use sojourn_engine::switch_setup::shaper_as_built;
/// use sojourn_packet::Rate;
/// let (rate, _) = shaper_as_built(Rate(10_000_000), 3_000).expect("the chip has it");
/// assert!((10_000_000..10_100_000).contains(&rate));
/// ```
///
/// # Errors
/// The hardware cannot represent the rate or the burst.
pub fn shaper_as_built(rate: Rate, burst: u64) -> Result<(u64, u64), Unencodable> {
    let hardware = SwitchConfig::default().shapers;
    let built = TokenBucket::new(&ShaperConfig::bits(rate, burst), hardware)?.effective();
    let ShapedRate::Bits(rate) = built.rate else { return Ok((0, built.burst)) };
    Ok((rate.0, built.burst))
}

/// Removes Tofino's limits of copies and resubmission, which bmv2 lacks. Recirculation ports of a
/// target without any become ordinary ports.
pub(crate) fn unlimited(switch: &mut SwitchConfig, traits: &SwitchTraits) {
    switch.resubmit_limit = u32::MAX;
    let mirror = &mut switch.mirror;
    mirror.numbers = 0..=LAST_SESSION;
    mirror.buffer_entries = u32::MAX;
    mirror.session_entries = u32::MAX;
    mirror.rate = Rate(u64::MAX);
    for session in &mut mirror.sessions {
        session.direction = SessionDirection::Both;
    }
    if traits.recirculating.is_empty() {
        switch.ports.iter_mut().for_each(|port| port.recirculation = None);
    }
}

/// Sets queues 0 to `count - 1` at each port, the highest served first.
pub(crate) fn priority_queues(switch: &mut SwitchConfig, count: u8) {
    queues(switch, count.min(PRIORITIES), |queue| queue);
}

/// Sets queues 0 to `count - 1` at each port; the highest priority is served first, equal ones in
/// turns.
fn queues(switch: &mut SwitchConfig, count: u8, priority: impl Fn(u8) -> u8) {
    for port in &mut switch.ports {
        let model = port.queues.first().cloned().unwrap_or_default();
        let queue = |number| {
            let priority = priority(number);
            QueueConfig { priority, min_priority: priority, ..model.clone() }
        };
        port.queues = (0..count.clamp(1, MAX_QUEUES as u8)).map(queue).collect();
    }
}

fn set_queues(ports: &mut [PortConfig], setting: &QueueSetting) {
    let wanted = |port: &&mut PortConfig| setting.port.is_none_or(|id| port.id == PortId(id));
    for port in ports.iter_mut().filter(wanted) {
        for (number, queue) in port.queues.iter_mut().enumerate() {
            if setting.priority.is_none_or(|priority| usize::from(priority) == number) {
                set_queue(queue, setting);
            }
        }
    }
}

fn set_queue(queue: &mut QueueConfig, setting: &QueueSetting) {
    if let Some(rate) = setting.packets_per_second {
        queue.packet_pace = (rate > 0).then_some(rate);
    }
    if let Some(rate) = setting.bits_per_second {
        queue.bit_pace = (rate > 0).then_some(Rate(rate));
    }
    if let Some(depth) = setting.depth {
        queue.packet_limit = Some(depth);
    }
    queue.paused = setting.paused.unwrap_or(queue.paused);
    if let Some(weight) = setting.weight {
        queue.weight = weight;
    }
    queue.priority = setting.level.unwrap_or(queue.priority);
    queue.limit = setting.limit_cells.unwrap_or(queue.limit);
    queue.alpha = setting.alpha.map_or(queue.alpha, dynamic);
    queue.floor = setting.base_cells.unwrap_or(queue.floor);
    let reserve = &mut queue.reserve;
    reserve.pool = setting.pool.unwrap_or(reserve.pool);
    reserve.guaranteed = setting.guaranteed_cells.unwrap_or(reserve.guaranteed);
    reserve.headroom = setting.headroom_cells.unwrap_or(reserve.headroom);
    queue.colors = colors(setting).unwrap_or(queue.colors);
    queue.node = setting.node.or(queue.node);
    queue.reports = setting.reports.unwrap_or(queue.reports);
}

/// The limits by colour that a setting changes; both of 8 eighths are those of every packet.
pub(crate) fn colors(setting: &QueueSetting) -> Option<Option<ColorLimits>> {
    let (yellow, red) = (setting.yellow_eighths, setting.red_eighths);
    let all = |eighths: Option<u8>| eighths.unwrap_or(EIGHTHS);
    match (yellow, red) {
        (None, None) => None,
        _ if all(yellow) == EIGHTHS && all(red) == EIGHTHS => Some(None),
        _ => Some(Some(ColorLimits { yellow: all(yellow), red: all(red) })),
    }
}

/// A scheduler node in the switch's form.
pub(crate) fn scheduler_node(given: &SchedulerNode) -> NodeChange {
    let shaper = |rate: u64, burst: Option<u64>| {
        let burst = burst.unwrap_or_else(sojourn_net::config::burst);
        let per_second = match given.packets {
            true => ShapedRate::Packets(rate),
            false => ShapedRate::Bits(Rate(rate)),
        };
        let shaper = ShaperConfig { rate: per_second, ..ShaperConfig::bits(Rate(0), burst) };
        (rate > 0).then_some(shaper)
    };
    NodeChange {
        port: PortId(given.port),
        node: given.node,
        level: given.level,
        min_level: given.min_level,
        weight: given.weight,
        propagates: given.priority_propagation,
        paused: given.paused,
        min_shaper: given.min_rate.map(|rate| shaper(rate, given.min_burst)),
        max_shaper: given.max_rate.map(|rate| shaper(rate, given.max_burst)),
    }
}

/// The multiple of a dynamic threshold; none without a threshold.
pub(crate) fn dynamic(alpha: Multiple) -> Option<u32> {
    (alpha.0 > 0).then_some(alpha.0)
}

/// Sets a pool; a number that no switch has is refused when the switch is made.
fn set_pool(pools: &mut Vec<Option<u32>>, setting: &BufferPool) {
    let place = usize::from(setting.pool);
    pools.resize(pools.len().max(place + 1), None);
    pools[place] = setting.cells;
}

/// A deflection queue in the switch's form.
pub(crate) fn deflection(given: &sojourn_control::DeflectionQueue) -> DeflectionQueue {
    DeflectionQueue { port: PortId(given.port), queue: given.queue }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_recirculates_where_its_target_does() {
        let ports = |target: &str| {
            let traits = crate::builtin::TARGETS.named(target).expect("a built-in target").switch();
            let front = PortConfig::front(PortId(1), Rate(1));
            let returning = PortConfig::recirculation(PortId(68), Rate(1), Time(1));
            let ports = vec![front, returning];
            let mut switch = SwitchConfig { ports, ..SwitchConfig::default() };
            configure(&mut switch, &ControlPlane::default(), &traits);
            let port = |port: &PortConfig| (port.id.0, port.recirculation.is_some());
            switch.ports.iter().map(port).collect::<Vec<_>>()
        };
        assert_eq!(ports("psa"), [(1, false), (511, true)]);
        assert_eq!(ports("v1model"), [(1, false), (68, false)]);
    }

    #[test]
    fn a_run_that_sets_as_many_cells_as_the_first_chip_has_keeps_them_on_the_second() {
        let second = crate::builtin::TARGETS.named("tofino2").expect("a built-in target");
        let traits = second.switch();
        let cells = |needed_cells, set_cells| {
            let mut switch = SwitchConfig { needed_cells, set_cells, ..SwitchConfig::default() };
            adopt(&mut switch, &traits);
            switch.buffer_cells()
        };
        let first = SwitchConfig::default().cells;
        assert_eq!(cells(0, Some(first)), first);
        assert_eq!(cells(0, None), 256_000);
        assert_eq!(cells(first + 1, None), 256_000, "the limits of its queues fit the chip");
        assert_eq!(cells(300_000, None), 300_000);
    }

    #[test]
    fn a_control_plane_carves_the_buffer() {
        let read = |document| serde_json::from_value::<ControlPlane>(document);
        let queue = serde_json::json!({
            "pool": 1, "alpha": 0.015625, "base_cells": 4, "guaranteed_cells": 20,
        });
        let pools = serde_json::json!([{ "pool": 1, "cells": 900 }]);
        let control = read(serde_json::json!({ "buffer_pools": pools, "queues": [queue] }));
        let traits = crate::builtin::TARGETS.named("tofino1").expect("a built-in target").switch();
        let ports = vec![PortConfig::front(PortId(1), Rate(1))];
        let mut switch = SwitchConfig { ports, ..SwitchConfig::default() };
        configure(&mut switch, &control.expect("a control plane"), &traits);
        let queue = &switch.ports[0].queues[0];
        assert_eq!(switch.pools, [None, Some(900)]);
        assert_eq!((queue.alpha, queue.floor, queue.limit), (Some(15_625), 4, 24_250));
        assert_eq!((queue.reserve.pool, queue.reserve.guaranteed), (1, 20));
        let wrong = read(serde_json::json!({ "queues": [{ "alpha": -1.0 }] })).unwrap_err();
        assert!(wrong.to_string().contains("allowed is 0 to 1024"), "{wrong}");
    }
}

//! From a configuration to a switch at rest; everything that can be wrong is said here.

use super::depth_reports::DepthReports;
use super::flow_control::FlowControlRequests;
use super::ingress::pipe_of;
use super::loop_guard::LoopGuard;
use super::measurement::Observations;
use super::multithreaded::Passes;
use super::transmit_buffer::Outgoing;
use super::{Disciplines, ObservationFlags, Switch};
use crate::config::{ConfigError, SwitchConfig};
use crate::discipline::Drops;
use crate::generator::Generators;
use crate::statistics::{Count, IngressStatistics, RecirculationStatistics};
use crate::switch::events::Events;
use crate::tm::buffer_cells::Buffer;
use crate::tm::mirror::MirrorBuffer;
use crate::tm::pause_counter::PauseCounter;
use crate::tm::port::Port;
use crate::tm::queued_packet::Places;
use crate::tm::replication::ReplicationEngine;
use sojourn_packet::{DataPlane, PacketGenerator, PortId, Time};
use std::collections::{BTreeMap, VecDeque};

impl Switch {
    /// A switch at rest at time zero whose queues drop from the tail.
    ///
    /// # Errors
    /// If the configuration contradicts itself or the hardware cannot express it.
    pub fn new(config: SwitchConfig, plane: Box<dyn DataPlane>) -> Result<Switch, ConfigError> {
        Switch::with_disciplines(config, plane, Disciplines::new())
    }

    /// A switch at rest at time zero with disciplines in its queues, whatever its data plane is.
    ///
    /// # Errors
    /// If the configuration contradicts itself or the hardware cannot express it.
    pub fn with_disciplines(
        config: SwitchConfig,
        mut plane: Box<dyn DataPlane>,
        disciplines: Disciplines,
    ) -> Result<Switch, ConfigError> {
        check(&config)?;
        let pools = config.pool_cells()?;
        for &(port, queue) in disciplines.keys() {
            require(&config, "a discipline", port, queue)?;
        }
        let chosen = plane.forwarder().map(|forwarder| forwarder.ports()).unwrap_or_default();
        chosen.into_iter().try_for_each(|port| require(&config, "the forwarding", port, 0))?;
        let mut ports = make_ports(&config, disciplines)?;
        let port_index = index_of(&ports);
        if let Some(forwarder) = plane.forwarder() {
            for port in &mut ports {
                let peer_port = forwarder.peer(port.id).map(|out| usize::from(out.0));
                let found = peer_port.and_then(|number| port_index.get(number)?.checked_sub(1));
                port.peer = found;
            }
        }
        let forwards = plane.forwarder().is_some();
        let observation_flags = ObservationFlags {
            frames: ports.iter().any(|port| port.capture),
            marks: ports.iter().any(Port::marks) || !forwards && !plane.reads_ethernet_alone(),
        };
        let reports =
            plane.takes_depth_reports().then(|| Box::new(DepthReports::new(config.depth_reports)));
        let recirculating = config.ports.iter().filter(|p| p.recirculation.is_some());
        let generators = make_generators(&config)?;
        let mut switch = Switch {
            now: Time::ZERO,
            forwards,
            passes: plane.overlapping().is_some().then(Passes::default),
            plane,
            port_index,
            observation_flags,
            pauses: config.pause.map(|rule| Box::new(PauseCounter::new(rule, ports.len()))),
            ports,
            pools: std::array::from_fn(|pool| config.pools.get(pool).copied().flatten()),
            buffer: Buffer::new(config.buffer_cells(), config.cell).with_pools(&pools),
            shapers: config.shapers,
            node_numbers: config.nodes,
            report_modes: BTreeMap::new(),
            mirror: MirrorBuffer::new(&config.mirror),
            recirculation: RecirculationStatistics {
                capacity: recirculating.map(|p| p.speed.0).sum(),
                ..RecirculationStatistics::default()
            },
            rounds: LoopGuard::new(config.rounds),
            replication: ReplicationEngine::new(config.multicast, config.exclusions),
            deflection: config.deflection,
            ingress_latency: config.ingress_latency,
            egress_latency: config.egress_latency,
            events: Events::new(),
            admitted: VecDeque::new(),
            places: Places::default(),
            resubmitted: VecDeque::new(),
            resubmit_limit: config.resubmit_limit,
            returned: VecDeque::new(),
            drops: Drops::default(),
            outgoing: Outgoing::default(),
            observations: Observations::default(),
            ingress_statistics: IngressStatistics::default(),
            egress_parser_rejected: 0,
            generators,
            generation_due: None,
            generated: Count::default(),
            reports,
            flow_control: FlowControlRequests::new(config.flow_control_delay),
        };
        switch.set_nodes(&config.node_changes, &config.ports)?;
        switch.expect_generated();
        Ok(switch)
    }
}

/// The generators of as many pipes as the ports are of.
fn make_generators(config: &SwitchConfig) -> Result<Generators, ConfigError> {
    let pipe = |chip: &PacketGenerator| config.ports.iter().map(|port| chip.pipe(port.id)).max();
    let last = config.generator.as_ref().and_then(pipe);
    let pipes = last.map_or(0, |last| last.saturating_add(1));
    Ok(Generators::with(config.generator, pipes, &config.generated)?)
}

fn make_ports(
    config: &SwitchConfig,
    mut disciplines: Disciplines,
) -> Result<Vec<Port>, ConfigError> {
    let make = |port: &crate::PortConfig| {
        let discipline = |queue: u8| disciplines.remove(&(port.id, queue));
        Port::new(port, discipline, config.shapers, config.ifg_compensation)
    };
    config.ports.iter().map(make).collect()
}

fn index_of(ports: &[Port]) -> Vec<u16> {
    let size = ports.iter().map(|p| usize::from(p.id.0) + 1).max().unwrap_or(0);
    let mut index = vec![0; size];
    for (i, port) in ports.iter().enumerate() {
        index[usize::from(port.id.0)] = i as u16 + 1;
    }
    index
}

fn check(config: &SwitchConfig) -> Result<(), ConfigError> {
    for (value, name) in [
        (config.shapers.clock, "the core clock"),
        (u64::from(config.buffer_cells()), "the number of buffer cells"),
        (config.mirror.rate.0, "the rate of the mirror buffer"),
        (u64::from(config.depth_reports.cells), "the unit of queue depths in reports"),
        (config.depth_reports.waiting as u64, "the number of waiting depth reports"),
    ] {
        if value == 0 {
            return Err(ConfigError::Zero(name));
        }
    }
    if let Some(port) = repeated(config.ports.iter().map(|p| p.id)) {
        return Err(ConfigError::DuplicatePort(port));
    }
    for session in &config.mirror.sessions {
        let numbers = &config.mirror.numbers;
        if !numbers.contains(&session.id) {
            let (session, numbers) = (session.id, numbers.clone());
            return Err(ConfigError::SessionNumber { session, numbers });
        }
        if let Some(port) = session.port {
            require(config, "a mirror session", port, session.queue)?;
        }
    }
    let duplicate = |what, id: Option<u16>| match id {
        Some(id) => Err(ConfigError::Duplicate { what, id }),
        None => Ok(()),
    };
    duplicate("mirror session", repeated(config.mirror.sessions.iter().map(|s| s.id)))?;
    duplicate("multicast group", repeated(config.multicast.iter().map(|g| g.id)))?;
    duplicate("exclusion set", repeated(config.exclusions.iter().map(|e| e.id)))?;
    for queue in &config.deflection {
        require(config, "deflection", queue.port, queue.queue)?;
    }
    duplicate(
        "deflection queue of pipe",
        repeated(config.deflection.iter().map(|q| pipe_of(q.port))),
    )?;
    let nodes = config.multicast.iter().flat_map(|g| &g.nodes);
    for &port in nodes.flat_map(|n| &n.ports) {
        require(config, "a multicast group", port, 0)?;
    }
    Ok(())
}

fn require(
    config: &SwitchConfig,
    what: &'static str,
    port: PortId,
    queue: u8,
) -> Result<(), ConfigError> {
    let found = config.ports.iter().any(|p| p.id == port && usize::from(queue) < p.queues.len());
    if found { Ok(()) } else { Err(ConfigError::NoSuchQueue { what, port, queue }) }
}

fn repeated<T: Ord + Copy>(items: impl Iterator<Item = T>) -> Option<T> {
    let mut seen = std::collections::BTreeSet::new();
    items.into_iter().find(|item| !seen.insert(*item))
}

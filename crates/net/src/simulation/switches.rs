//! Construction of idle switches, and of the peers of their ports, from a layout.

use super::host_qdisc::HostQdisc;
use super::layout::{AccessLayout, Change, End, Layout, PortLayout, SwitchLayout};
use super::node::{AccessLink, LinkEnd, Node, PortLink, PortRef, Scheduled};
use super::random_links::RandomWay;
use super::{SwitchAction, SwitchPlane};
use crate::config::{
    Aqm, BufferPool, ConfigError, FlowConfig, Multipath, MultipathMode, NetemSection, PauseSection,
    RunConfig, SharedBuffer, Sharing,
};
use crate::link::Link;
use crate::wire::FrameDetail;
use sojourn_packet::{Bytes, DataPlane, Time};
use sojourn_switch::tm::shaper::TokenBucket;
use sojourn_switch::{
    CELL, Disciplines, PauseRule, PauseThreshold, PortConfig, QueueConfig, Reserve, Spreading,
    SpreadingRoutes, Switch, SwitchConfig, cells_for_bytes,
};

type Planes<'a> = &'a mut dyn Iterator<Item = SwitchPlane>;

/// Actions on switches, in order of time.
type Actions = Vec<Scheduled<(u16, SwitchAction)>>;

/// All switches, in the order of the layout, and what is done to them later.
pub(super) fn nodes(
    config: &RunConfig,
    layout: &Layout,
    planes: Planes,
) -> Result<(Vec<Node>, Actions), ConfigError> {
    let mut nodes = Vec::with_capacity(layout.switches.len());
    let mut actions = Vec::new();
    for (place, given) in layout.switches.iter().enumerate() {
        let mut plane = match given.aqm {
            Aqm::SwitchPlane => Some(planes.next().ok_or(ConfigError::PlaneMissing)?),
            Aqm::Native(_) => None,
        };
        let later = plane.iter_mut().flat_map(|plane| std::mem::take(&mut plane.later));
        actions.extend(later.map(|(at, act)| (at, (place as u16, act))));
        let switch = switch(config, given, place as u64, layout, plane)?;
        nodes.push(Node {
            name: given.name.into(),
            passage: switch.passage(),
            switch,
            cpu: given.cpu,
            for_controller: Vec::new(),
            port_links: Vec::with_capacity(given.ports.len()),
            counted: 0,
        });
    }
    // Stable: actions of equal time keep their order.
    actions.sort_by_key(|(at, _)| *at);
    Ok((nodes, Scheduled::each(actions.into_iter())))
}

/// Link behind a port: the other end, and the passage of a switch there.
pub(super) fn port_link(
    layout: &Layout,
    port: &PortLayout,
    end: LinkEnd,
    passage: Time,
    seed: u64,
) -> PortLink {
    let shared = match port.end {
        End::Hosts(access) => layout.access_links[usize::from(access)].shared,
        End::Switch(..) => None,
    };
    PortLink {
        port: port.id,
        end,
        shared: shared.map(|rate| Link::new(rate, Time::ZERO)),
        delay: port.delay,
        passage,
        last: Time::ZERO,
        random: RandomWay::new(port.netem.as_ref(), seed),
        up: true,
        bottleneck: None,
    }
}

/// One switch with its front-panel ports and its recirculation ports.
fn switch(
    config: &RunConfig,
    given: &SwitchLayout,
    place: u64,
    layout: &Layout,
    plane: Option<SwitchPlane>,
) -> Result<Switch, ConfigError> {
    let latencies = given.latencies;
    let cell = plane.as_ref().map_or(CELL, |plane| plane.cell);
    let ports = given.ports.iter().map(|port| front(port, cell, config.capture, given.buffer));
    let (rate, latency) = (latencies.recirculation_rate, latencies.recirculation);
    let recirculation =
        given.recirculating.iter().map(|port| PortConfig::recirculation(*port, rate, latency));
    let cpu = given.cpu.map(|port| PortConfig::front(port, latencies.recirculation_rate));
    let mut switch = SwitchConfig {
        ports: ports.chain(recirculation).chain(cpu).collect(),
        ingress_latency: latencies.ingress,
        egress_latency: latencies.egress,
        ..SwitchConfig::default()
    };
    // The queues' own limits are what drops, however large they were asked to be.
    let limits = || given.ports.iter().map(|port| cells_for_bytes(port.queue_limit, cell));
    let room = limits().fold(limits().max().unwrap_or(0), u32::saturating_add);
    switch.needed_cells = room;
    if let Some(buffer) = given.buffer {
        switch.set_cells = Some(cells_for_bytes(Bytes(buffer.size), cell));
        switch.pools = pools(buffer, cell);
        switch.pause = buffer.pfc.map(|pfc| pause_rule(pfc, cell));
    }
    let (plane, below) = match plane {
        Some(SwitchPlane { plane, set_up, discipline, .. }) => {
            set_up(&mut switch);
            (Some(plane), discipline)
        }
        None => (None, None),
    };
    try_shapers(&switch, layout, place as u16)?;
    let seed = config.seed.wrapping_add(place);
    let managed = match given.aqm {
        Aqm::Native(native) => Some(native),
        Aqm::SwitchPlane => below.as_ref(),
    };
    let is_managed = |id| given.ports.iter().any(|port| port.managed && port.id == id);
    let disciplines = match managed {
        Some(native) => native.in_queues(&switch, is_managed, seed)?,
        None => Disciplines::new(),
    };
    let plane = data_plane(given, plane)?;
    Switch::with_disciplines(switch, plane, disciplines).map_err(|error| refused(&error))
}

fn refused(error: &dyn std::fmt::Display) -> ConfigError {
    ConfigError::Switch(error.to_string())
}

/// The pools of a shared buffer in cells: first that of the queues without a pool of their own, which
/// has the rest.
fn pools(buffer: &SharedBuffer, cell: Bytes) -> Vec<Option<u32>> {
    let cells = |size| cells_for_bytes(Bytes(size), cell);
    let named = buffer.pools.iter().map(|pool| cells(pool.size));
    std::iter::once(None).chain(named.map(Some)).collect()
}

/// When senders into a switch's ports would be paused.
fn pause_rule(given: PauseSection, cell: Bytes) -> PauseRule {
    let cells = |size| cells_for_bytes(Bytes(size), cell);
    let free = PauseThreshold::Free(given.alpha * 1_000);
    PauseRule {
        threshold: given.xoff.map_or(free, |xoff| PauseThreshold::Cells(cells(xoff))),
        resume_below: cells(given.resume_below),
        headroom: cells(given.headroom),
    }
}

/// The threshold (millionths) and the share of a queue towards `towards`.
fn share_of(buffer: &SharedBuffer, towards: &str, cell: Bytes) -> (u32, Reserve) {
    let cells = |size| cells_for_bytes(Bytes(size), cell);
    let (guaranteed, headroom) = (cells(buffer.guaranteed), cells(buffer.headroom));
    let named = |pool: &BufferPool| pool.towards.iter().any(|name| name == towards);
    let place = buffer.pools.iter().position(named);
    let alpha = place.map_or(buffer.alpha, |place| buffer.pools[place].alpha);
    let pool = place.map_or(0, |place| place as u8 + 1);
    (alpha * 1_000, Reserve { pool, guaranteed, headroom })
}

fn front(
    port: &PortLayout,
    cell: Bytes,
    capture: bool,
    buffer: Option<&SharedBuffer>,
) -> PortConfig {
    let limit = cells_for_bytes(port.queue_limit, cell);
    let share = buffer.map(|buffer| share_of(buffer, &port.towards, cell));
    let (alpha, reserve) = share.map_or((None, Reserve::default()), |(a, r)| (Some(a), r));
    let active = buffer.is_some_and(|buffer| buffer.sharing == Sharing::Abm);
    PortConfig {
        queues: vec![QueueConfig { limit, alpha, active, reserve, ..QueueConfig::default() }],
        shaper: port.shaper,
        packet_pace: port.packet_pace,
        trace: port.trace.clone(),
        observed: port.observed,
        capture: port.captured || capture && port.observed,
        ..PortConfig::front(port.id, port.speed)
    }
}

/// Rates that the schedule sets later must be such that the hardware can express them.
fn try_shapers(switch: &SwitchConfig, layout: &Layout, place: u16) -> Result<(), ConfigError> {
    for (_, change) in &layout.changes {
        if let Change::Shaper(node, _, Some(shaper)) = change
            && *node == place
        {
            TokenBucket::new(shaper, switch.shapers)
                .map_err(|refused| ConfigError::Switch(format!("schedule: {refused}")))?;
        }
    }
    Ok(())
}

/// Data plane of a switch: the supplied one, or routes; between two ports no choice is needed.
fn data_plane(
    given: &SwitchLayout,
    handed_over: Option<Box<dyn DataPlane>>,
) -> Result<Box<dyn DataPlane>, ConfigError> {
    match (given.aqm, &given.ports[..]) {
        (Aqm::SwitchPlane, _) => handed_over.ok_or(ConfigError::PlaneMissing),
        (Aqm::Native(_), [one, other]) => {
            Ok(Box::new(sojourn_switch::CrossConnect::between(one.id, other.id)))
        }
        (Aqm::Native(_), _) => Ok(router(given)),
    }
}

/// A router by a switch's routes, with its choice among links of equal cost.
fn router(given: &SwitchLayout) -> Box<dyn DataPlane> {
    let routes = given.routes.clone();
    let spreading = match given.multipath {
        Some(Multipath { mode: MultipathMode::Spray, .. }) => Spreading::Spray,
        Some(Multipath { mode: MultipathMode::Flowlet, gap, .. }) => {
            Spreading::Flowlet(Time(gap.unwrap_or_default()))
        }
        _ => return Box::new(routes),
    };
    Box::new(SpreadingRoutes::new(routes, spreading))
}

/// Hosts leave checksums out where no program, no telemetry, no capture and no controller reads frames, and all that
/// need not be on a wire where no switch does; before programs that read Ethernet headers alone they have
/// those in front.
pub(super) fn written(config: &RunConfig, layout: &Layout, nodes: &[Node]) -> FrameDetail {
    let none_controls = layout.switches.iter().all(|switch| switch.cpu.is_none());
    let runs_program = |switch: &SwitchLayout| matches!(switch.aqm, Aqm::SwitchPlane);
    let mut ports = layout.switches.iter().flat_map(|switch| &switch.ports);
    let measured = config.flows.iter().any(FlowConfig::reads_telemetry);
    if measured || config.capture || !none_controls || ports.any(|port| port.captured) {
        FrameDetail::Whole
    } else if layout.switches.iter().any(runs_program) {
        let ethernet_alone = nodes.iter().all(|node| node.switch.reads_ethernet_alone());
        if ethernet_alone { FrameDetail::Framed } else { FrameDetail::Whole }
    } else if nodes.iter().any(|node| node.switch.reads_frames()) {
        FrameDetail::Unsummed
    } else {
        FrameDetail::Compact
    }
}

/// The link from hosts to their switch, which it leads to by `port_ref`.
pub(super) fn access_link(
    given: &AccessLayout,
    netem: &NetemSection,
    port_ref: PortRef,
    passage: Time,
    seed: u64,
) -> AccessLink {
    AccessLink {
        port_ref,
        passage,
        qdisc: HostQdisc::new(given.shaper.as_ref(), netem),
        to_switch: Link::new(given.rate, given.delay),
        random: RandomWay::new(given.netem.as_ref(), seed),
    }
}

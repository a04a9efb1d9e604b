//! Configuration of a switch: ports, queues, shapers, mirror sessions, multicast groups.
//!
//! The types are plain data, checked once by [`Switch::new`](crate::Switch::new). Values are those
//! that a user gives to the switch's API. The statistics report the values that the hardware
//! derives from them. This file must not depend on how a queue or a shaper works.

use crate::generator::{GeneratorError, GeneratorSetting, SettingError};
use crate::switch::NodeChange;
use crate::tm::link_trace::LinkTrace;
use crate::tm::pause_counter::PauseRule;
use crate::tm::shaper::ShaperConfig;
use sojourn_packet::{Bytes, Rate, SchedulerNodes, ShaperRegisters, Time};
use sojourn_packet::{MirrorDirection, PacketGenerator, PortId, ReportMode, WordOrder};
use std::ops::RangeInclusive;
use thiserror::Error;

/// Bytes in one cell of the packet buffer, by default (TNA p. 32).
pub const CELL: Bytes = Bytes(80);

/// Most pools of a buffer, as many as Tofino has for its queues.
pub const MOST_POOLS: usize = 4;

/// The largest multiple of a pool's free cells in a dynamic threshold: 1024, in millionths.
pub const MOST_ALPHA: u32 = 1_024_000_000;

/// Number of whole cells of `cell` bytes in `size` bytes of buffer: the tail-drop limit in
/// cells of a queue whose limit is given in bytes.
///
/// ```
/// use sojourn_packet::Bytes;
/// use sojourn_switch::{CELL, cells_for_bytes};
/// assert_eq!(cells_for_bytes(Bytes(64_000), CELL), 800);
/// ```
pub fn cells_for_bytes(size: Bytes, cell: Bytes) -> u32 {
    u32::try_from(size.0 / cell.0.max(1)).unwrap_or(u32::MAX)
}

/// The whole switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SwitchConfig {
    /// Ports, front panel and recirculation.
    pub ports: Vec<PortConfig>,
    /// From a packet's last bit at the port to its admission to the traffic manager. Default
    /// 600 ns.
    pub ingress_latency: Time,
    /// From the traffic manager's dequeue to the first bit on the wire, and to the mirror buffer.
    /// Default 500 ns.
    pub egress_latency: Time,
    /// Cells in the shared packet buffer of the chip. Default 102,400, the carving of the vendor's
    /// driver.
    pub cells: u32,
    /// Cells that the limits of all queues need: without `set_cells` the buffer has at least these.
    pub needed_cells: u32,
    /// Cells that a run sets instead.
    pub set_cells: Option<u32>,
    /// Size of a cell. Default 80 bytes.
    pub cell: Bytes,
    /// Cells of the pools that queues share, at most four. The first has the rest of the buffer
    /// unless its cells are set, any other none. What pools leave of it is guaranteed to queues, or
    /// headroom.
    pub pools: Vec<Option<u32>>,
    /// When priority flow control would pause senders, counted if given.
    pub pause: Option<PauseRule>,
    /// Registers and clock of the shapers. Default those of Tofino 1.
    pub shapers: ShaperRegisters,
    /// Scheduler nodes between queues and ports, off if absent.
    pub nodes: Option<SchedulerNodes>,
    /// The nodes that differ from the chip's at the start.
    pub node_changes: Vec<NodeChange>,
    /// Bytes that the shapers add to each packet's length (`packet_ifg_compensation`). Default 20:
    /// preamble and inter-frame gap, so that a shaped rate is the rate on the wire.
    pub ifg_compensation: u32,
    /// Mirror sessions and their buffer.
    pub mirror: MirrorConfig,
    /// Maximum number of resubmissions of a packet. Default 1, as on Tofino.
    pub resubmit_limit: u32,
    /// Limit of returning packets in total.
    pub rounds: RoundLimit,
    /// Multicast groups of the packet replication engine.
    pub multicast: Vec<MulticastGroup>,
    /// Queues for packets that ask for deflection on drop, at most one for the ports of a pipe.
    pub deflection: Vec<DeflectionQueue>,
    /// Ports that a level-2 exclusion id prunes.
    pub exclusions: Vec<ExclusionSet>,
    /// Reports of queue depths to a data plane with a ghost thread.
    pub depth_reports: DepthReportConfig,
    /// From the deparser that writes a request to pause or resume a queue to its effect. Default
    /// 125 ns. The one public measurement (ConWeave, native_afc) saw 8 packets of 10 cells leave at
    /// 25 Gbit/s behind a pause in egress: with their gaps at most 625 ns, of which 500 ns are the
    /// default egress latency.
    pub flow_control_delay: Time,
    /// Numbers of the packet generators, off if absent.
    pub generator: Option<PacketGenerator>,
    /// Their applications at the start.
    pub generated: Vec<GeneratorSetting>,
}

/// The queue that takes the packets of its port's pipe that have no room in their own, if they ask for
/// it (`deflect_on_drop`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeflectionQueue {
    /// Its port.
    pub port: PortId,
    /// Its number at the port.
    pub queue: u8,
}

/// Reports of queue depths from the traffic manager to the data plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DepthReportConfig {
    /// From a change to the ghost thread's pass. Default 1 us; the real figure is not published.
    pub delay: Time,
    /// Least time between two reports. Default 2 ns: two passes of one clock each.
    pub interval: Time,
    /// Reports that may wait for their turn; further ones are lost. Default 16, the FIFO of the
    /// vendor's reference model.
    pub waiting: usize,
    /// Cells in one unit of the reported depth. Default 2, as in the vendor's reference model.
    pub cells: u32,
    /// Bit order of the word.
    pub order: WordOrder,
    /// Changes that are reported. Default each; on the chip those across a limit for a colour.
    pub mode: ReportMode,
}

impl Default for DepthReportConfig {
    fn default() -> DepthReportConfig {
        DepthReportConfig {
            delay: Time(1_000),
            interval: Time(2),
            waiting: 16,
            cells: 2,
            order: WordOrder::default(),
            mode: ReportMode::default(),
        }
    }
}

impl SwitchConfig {
    /// Cells of the packet buffer.
    pub fn buffer_cells(&self) -> u32 {
        self.set_cells.unwrap_or(self.cells.max(self.needed_cells))
    }

    /// Cells of the pools, or the cells that they and the queues' own would take if those are more
    /// than there are.
    pub(crate) fn pool_cells(&self) -> Result<[u32; MOST_POOLS], ConfigError> {
        if self.pools.len() > MOST_POOLS {
            return Err(ConfigError::Pools(self.pools.len()));
        }
        let queues = self.ports.iter().flat_map(|port| &port.queues);
        let reserved = queues.map(|queue| queue.reserve.cells()).sum();
        carve(self.buffer_cells(), reserved, &self.pools)
    }
}

/// Cells of the pools of a buffer of `total` cells, `reserved` of which are queues' own: those that
/// are set; the first has the rest unless it is set.
pub(crate) fn carve(
    total: u32,
    reserved: u64,
    set: &[Option<u32>],
) -> Result<[u32; MOST_POOLS], ConfigError> {
    let taken = reserved + set.iter().flatten().map(|cells| u64::from(*cells)).sum::<u64>();
    let Some(rest) = u64::from(total).checked_sub(taken) else {
        return Err(ConfigError::BufferTooSmall { taken, total });
    };
    let mut pools = [rest as u32, 0, 0, 0];
    for (pool, cells) in pools.iter_mut().zip(set) {
        *pool = cells.unwrap_or(*pool);
    }
    Ok(pools)
}

impl Default for SwitchConfig {
    fn default() -> SwitchConfig {
        SwitchConfig {
            ports: Vec::new(),
            ingress_latency: Time(600),
            egress_latency: Time(500),
            cells: 100 * 1024,
            needed_cells: 0,
            set_cells: None,
            pools: Vec::new(),
            pause: None,
            cell: CELL,
            shapers: ShaperRegisters::default(),
            nodes: None,
            node_changes: Vec::new(),
            ifg_compensation: 20,
            mirror: MirrorConfig::default(),
            resubmit_limit: 1,
            rounds: RoundLimit::default(),
            multicast: Vec::new(),
            deflection: Vec::new(),
            exclusions: Vec::new(),
            depth_reports: DepthReportConfig::default(),
            flow_control_delay: Time(125),
            generator: None,
            generated: Vec::new(),
        }
    }
}

/// Limit of returning packets: copies of mirror sessions, resubmitted and recirculated ones.
/// Packets beyond it are dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoundLimit {
    /// So many at one instant, if there were none for long. Default 10,000.
    pub at_once: u32,
    /// One more after each interval. Default 1 ns, in which a chip's pipe begins with one packet:
    /// whatever takes time on the switch's clock is below it.
    pub every: Time,
}

impl Default for RoundLimit {
    fn default() -> RoundLimit {
        RoundLimit { at_once: 10_000, every: Time(1) }
    }
}

/// One port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortConfig {
    /// The port's number.
    pub id: PortId,
    /// Speed of the wire (or of the recirculation path).
    pub speed: Rate,
    /// Port shaper, off if absent.
    pub shaper: Option<ShaperConfig>,
    /// Packets per second of all queues together, exactly spaced and without a burst, off if absent.
    pub packet_pace: Option<u64>,
    /// The trace of a link that decides when packets go, off if absent.
    pub trace: Option<LinkTrace>,
    /// Queues, number 0 first; at least one, at most 32.
    pub queues: Vec<QueueConfig>,
    /// For a recirculation port: from a packet's last bit out of egress to its arrival at ingress.
    pub recirculation: Option<Time>,
    /// Emit one [`PacketObservation`](crate::PacketObservation) for each packet of this port.
    pub observed: bool,
    /// Emit the frames that enter and leave this port's queues.
    pub capture: bool,
}

impl PortConfig {
    /// A front-panel port with one queue, unshaped and unobserved.
    pub fn front(id: PortId, speed: Rate) -> PortConfig {
        PortConfig {
            id,
            speed,
            shaper: None,
            packet_pace: None,
            trace: None,
            queues: vec![QueueConfig::default()],
            recirculation: None,
            observed: false,
            capture: false,
        }
    }

    /// A recirculation port (68 to 71 of a Tofino pipe): what egress sends comes back to ingress.
    pub fn recirculation(id: PortId, rate: Rate, latency: Time) -> PortConfig {
        PortConfig { recirculation: Some(latency), ..PortConfig::front(id, rate) }
    }
}

/// One queue of a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueConfig {
    /// Tail-drop limit in cells. Default 24,250 (1.94 MB).
    pub limit: u32,
    /// Strict priority for the bandwidth above the guaranteed one: 0 (low) to 7. Default 0.
    pub priority: u8,
    /// Strict priority for the guaranteed bandwidth: 0 (low) to 7. Default 0.
    pub min_priority: u8,
    /// DWRR weight inside a priority, 1 to 1023; 0 takes the queue out of scheduling. Default 1023.
    pub weight: u16,
    /// Guaranteed rate, off if absent.
    pub min_shaper: Option<ShaperConfig>,
    /// Maximum rate, off if absent.
    pub max_shaper: Option<ShaperConfig>,
    /// Thresholds in cells for the congestion status: red, yellow, green, ascending (TNA p. 30).
    pub congestion: Option<[u32; 3]>,
    /// Lower limits for yellow and red packets, off if absent.
    pub colors: Option<ColorLimits>,
    /// Millionths of its pool's free cells that the queue may hold at most, besides its limit
    /// (dynamic threshold), off if absent.
    pub alpha: Option<u32>,
    /// Active buffer management divides the multiple by the congested queues of the same number, and
    /// gives the queue a part of it as of its port. Default false.
    pub active: bool,
    /// Cells of its pool that the dynamic threshold leaves the queue in any case. Default 0.
    pub floor: u32,
    /// Its pool, and cells of its own. Default none in the first pool.
    pub reserve: Reserve,
    /// Tail-drop limit in packets, in addition to the one in cells, off if absent (bmv2).
    pub packet_limit: Option<u32>,
    /// Packets per second, exactly spaced and without a burst, off if absent (bmv2).
    pub packet_pace: Option<u64>,
    /// Bit/s on the wire, exactly spaced and without a burst, off if absent.
    pub bit_pace: Option<Rate>,
    /// The queue takes packets and gives none until the control plane resumes it. Default false.
    pub paused: bool,
    /// Its scheduler node. Default its port's own.
    pub node: Option<u8>,
    /// It reports its depth. Default true.
    pub reports: bool,
}

impl Default for QueueConfig {
    fn default() -> QueueConfig {
        QueueConfig {
            limit: 24_250,
            priority: 0,
            min_priority: 0,
            weight: 1023,
            min_shaper: None,
            max_shaper: None,
            congestion: None,
            colors: None,
            alpha: None,
            active: false,
            floor: 0,
            reserve: Reserve::default(),
            packet_limit: None,
            packet_pace: None,
            bit_pace: None,
            paused: false,
            node: None,
            reports: true,
        }
    }
}

/// A scheduler node between the queues and the port.
///
/// ```
/// use sojourn_switch::NodeConfig;
///
/// let half = NodeConfig { weight: NodeConfig::own().weight / 2, ..NodeConfig::default() };
/// assert!(half.weight == 511 && half.max_shaper.is_none());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NodeConfig {
    /// Strict priority for the bandwidth above the guaranteed one: 0 (low) to 7. Default 0.
    pub level: u8,
    /// Strict priority for the guaranteed bandwidth: 0 (low) to 7. Default 0.
    pub min_level: u8,
    /// Weight among nodes of equal priority, 1 to 1023; with 0, the default, nodes take turns.
    pub weight: u16,
    /// It has the highest priority of its queues that may send, in place of its own. Default false.
    pub propagates: bool,
    /// Its queues send nothing. Default false.
    pub paused: bool,
    /// Guaranteed rate, off if absent.
    pub min_shaper: Option<ShaperConfig>,
    /// Maximum rate, off if absent.
    pub max_shaper: Option<ShaperConfig>,
}

impl NodeConfig {
    /// A port's own node at the start, as the vendor's driver sets it.
    pub fn own() -> NodeConfig {
        NodeConfig { weight: 1023, ..NodeConfig::default() }
    }
}

/// The cells that are a queue's own, and the pool of all others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reserve {
    /// The pool, from 0. Default 0.
    pub pool: u8,
    /// Cells that the queue finds whatever others hold. Default 0.
    pub guaranteed: u32,
    /// Cells for packets beyond the queue's limit. Default 0.
    pub headroom: u32,
}

impl Reserve {
    /// Cells of the queue's own.
    pub(crate) fn cells(self) -> u64 {
        u64::from(self.guaranteed) + u64::from(self.headroom)
    }
}

/// Tail-drop limits by colour, in eighths of the queue's limit (the hardware's 12.5 % steps).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ColorLimits {
    /// For yellow packets, 1 to 8.
    pub yellow: u8,
    /// For red packets, 1 to 8.
    pub red: u8,
}

/// The mirror sessions and the buffer that their copies share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MirrorConfig {
    /// The sessions.
    pub sessions: Vec<MirrorSession>,
    /// The numbers that a session may have. Default 1 to 1015, as on Tofino.
    pub numbers: RangeInclusive<u16>,
    /// Entries of 240 bytes in the mirror buffer. Default 512.
    pub buffer_entries: u32,
    /// Entries that one session may hold. Default 56, the driver's cap.
    pub session_entries: u32,
    /// Rate at which the buffer is emptied into the traffic manager. Default 100 Gbit/s; the real
    /// figure is not published.
    pub rate: Rate,
}

impl Default for MirrorConfig {
    fn default() -> MirrorConfig {
        MirrorConfig {
            sessions: Vec::new(),
            numbers: 1..=1015,
            buffer_entries: 512,
            session_entries: 56,
            rate: Rate(100_000_000_000),
        }
    }
}

/// Requests that a mirror session serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionDirection {
    /// Requests of the ingress deparser.
    Ingress,
    /// Requests of the egress deparser.
    Egress,
    /// Either.
    Both,
}

impl SessionDirection {
    /// True if the session serves requests made there.
    pub fn serves(self, direction: MirrorDirection) -> bool {
        match self {
            SessionDirection::Ingress => direction == MirrorDirection::Ingress,
            SessionDirection::Egress => direction == MirrorDirection::Egress,
            SessionDirection::Both => true,
        }
    }
}

/// Destination of the copies of one session.
///
/// ```
/// use sojourn_packet::MirrorDirection;
/// use sojourn_switch::{MirrorSession, PortId, SessionDirection};
/// let session = MirrorSession { max_length: 100, ..MirrorSession::egress(7, PortId(68), 0) };
/// assert!(session.direction.serves(MirrorDirection::Egress));
/// assert!(!SessionDirection::Egress.serves(MirrorDirection::Ingress));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MirrorSession {
    /// Session number.
    pub id: u16,
    /// Requests that it serves.
    pub direction: SessionDirection,
    /// Egress port of the copies; none if they go to a multicast group only.
    pub port: Option<PortId>,
    /// Multicast group of copies, alone or in addition to a port.
    pub group: Option<u16>,
    /// Queue at that port.
    pub queue: u8,
    /// Longest copy in bytes, mirror header counted, FCS not; 0 means no truncation.
    pub max_length: u32,
    /// Class of service of the copies.
    pub cos: u8,
    /// Colour of the copies.
    pub color: u8,
}

impl MirrorSession {
    /// A session for egress copies without truncation.
    pub fn egress(id: u16, port: PortId, queue: u8) -> MirrorSession {
        MirrorSession {
            id,
            direction: SessionDirection::Egress,
            port: Some(port),
            group: None,
            queue,
            max_length: 0,
            cos: 0,
            color: 0,
        }
    }
}

/// A multicast group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MulticastGroup {
    /// Group number.
    pub id: u16,
    /// Level-1 nodes, in the order of replication.
    pub nodes: Vec<MulticastNode>,
}

/// A level-1 node: the copies that share a replication id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MulticastNode {
    /// Replication id of the copies.
    pub rid: u16,
    /// Pruned when equal to the packet's level-1 exclusion id.
    pub l1_exclusion: Option<u16>,
    /// Ports of the copies, in the order of replication.
    pub ports: Vec<PortId>,
}

/// Ports pruned from nodes with the packet's own replication id (split horizon).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExclusionSet {
    /// Level-2 exclusion id.
    pub id: u16,
    /// The pruned ports.
    pub ports: Vec<PortId>,
}

/// Reason why a configuration is rejected.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum ConfigError {
    /// Two ports with one number.
    #[error("port {} is configured twice", .0.0)]
    DuplicatePort(PortId),
    /// A speed of zero.
    #[error("port {} has a speed of 0", .0.0)]
    ZeroSpeed(PortId),
    /// Not 1 to 32 queues.
    #[error("port {} has {count} queues; a port has 1 to 32", .port.0)]
    QueueCount {
        /// The port.
        port: PortId,
        /// Its queues.
        count: usize,
    },
    /// A value of a queue is out of its range.
    #[error("port {} queue {queue}: {what} is {value}, allowed is {allowed}", .port.0)]
    QueueValue {
        /// The port.
        port: PortId,
        /// The queue.
        queue: usize,
        /// The setting.
        what: &'static str,
        /// Its value.
        value: u64,
        /// Allowed values.
        allowed: &'static str,
    },
    /// A shaper that the hardware cannot express.
    #[error("shaper of port {}: {what} is {value}, allowed is {allowed}", .port.0)]
    Shaper {
        /// The port.
        port: PortId,
        /// The setting.
        what: &'static str,
        /// Its value.
        value: u64,
        /// Allowed values.
        allowed: String,
    },
    /// The chip has no scheduler nodes between queues and ports.
    #[error(
        "this switch has no scheduler nodes between queues and ports: the architecture is of a chip without"
    )]
    NoNodes,
    /// A node that the port does not have.
    #[error("port {} has no scheduler node {node} in use; {help}", .port.0)]
    NoNode {
        /// The port.
        port: PortId,
        /// The node.
        node: u8,
        /// What would be right.
        help: &'static str,
    },
    /// A node of another port of the group.
    #[error("scheduler node {node} is that of port {}; port {} has others or it is freed first", .of.0, .port.0)]
    NodeOfOther {
        /// The node.
        node: u8,
        /// The port that has it.
        of: PortId,
        /// The port that wants it.
        port: PortId,
    },
    /// A node that has queues cannot be freed.
    #[error("scheduler node {node} of port {} has queues; they go to other nodes first", .port.0)]
    NodeHasQueues {
        /// The port.
        port: PortId,
        /// The node.
        node: u8,
    },
    /// No mirror session has the number.
    #[error("there is no mirror session {0}")]
    NoSession(u16),
    /// No multicast group has the number.
    #[error("there is no multicast group {0}")]
    NoGroup(u16),
    /// A packet generator cannot be set so.
    #[error(transparent)]
    Generator(#[from] GeneratorError),
    /// An initial application of a packet generator is rejected.
    #[error(transparent)]
    GeneratorSetting(#[from] SettingError),
    /// Something refers to a port or queue that does not exist.
    #[error("{what} refers to port {} queue {queue}, which is not configured", .port.0)]
    NoSuchQueue {
        /// The referring item.
        what: &'static str,
        /// The port.
        port: PortId,
        /// The queue.
        queue: u8,
    },
    /// A mirror session's number is not one that sessions can have.
    #[error("mirror session {session} is outside {} to {}", .numbers.start(), .numbers.end())]
    SessionNumber {
        /// The session.
        session: u16,
        /// The numbers that there are.
        numbers: RangeInclusive<u16>,
    },
    /// A session, group or exclusion set is defined twice.
    #[error("{what} {id} is defined twice")]
    Duplicate {
        /// Kind of the item.
        what: &'static str,
        /// Its number.
        id: u16,
    },
    /// No such pool.
    #[error("there is no pool {0} of the buffer; allowed is 0 to 3")]
    NoPool(u8),
    /// More pools than there can be.
    #[error("{0} pools of the buffer; at most {MOST_POOLS} are allowed")]
    Pools(usize),
    /// Pools, guaranteed cells and headroom are larger than the buffer.
    #[error("pools, guaranteed cells and headroom take {taken} cells of a buffer of {total}")]
    BufferTooSmall {
        /// Their cells.
        taken: u64,
        /// The buffer's cells.
        total: u32,
    },
    /// A setting of the whole switch is zero that must not be.
    #[error("{0} must not be 0")]
    Zero(&'static str),
}

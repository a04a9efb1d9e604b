//! FQ-CoDel, RFC 8290: a queue for each flow, served in turns by DRR++, each managed by CoDel.
//!
//! Flows are distinguished by a hash (section 4.1); a flow that has just begun to send is served
//! before those with a backlog (section 4.2); a full queue drops from the head of the flow with the
//! most bytes (section 4.1), whether `limit` or the queue's own limit is reached. CoDel is that of
//! [`codel`], with one queue and one state for each flow.
//!
//! With `linux` it does as Linux 6.1 (`net/sched/sch_fq_codel.c`):
//! - each flow's CoDel is the kernel's, [`codel_linux`];
//! - "no drops at or below a full frame" looks at the bytes of all flows;
//! - an empty new flow is forgotten at once if there are no old ones;
//! - a full queue drops half of the fattest flow's bytes, not of its packets, and informs its CoDel, whose
//!   `count` grows by as many.

use super::codel::{self, CodelQueue, INTERVAL_PARAMETER, TARGET_PARAMETER};
use super::codel_linux;
use super::flow_hash::flow_hash;
use super::{
    Backlog, Discipline, DisciplineError, DropKind, Drops, FULL_FRAME, Kind, LIMIT_BYTES, LONGEST,
    Parameter, QueueLength, Queued, Registered, SEED, Settings,
};
use crate::ecn;
use sojourn_packet::{Bytes, Time};
use std::collections::VecDeque;

const LIMIT: u64 = 10_240;
const FLOWS: u64 = 1024;
const DROP_BATCH: u64 = 64;

/// The line for the table of disciplines.
pub const REGISTRATION: Registered = Registered {
    name: "fq_codel",
    summary: "RFC 8290 FQ-CoDel: flows in turns (DRR++), each with its own CoDel",
    parameters: &[
        TARGET_PARAMETER,
        INTERVAL_PARAMETER,
        Parameter::new(
            "limit",
            Kind::Packets,
            LIMIT,
            "most packets held; more are dropped in batches",
        ),
        LIMIT_BYTES,
        Parameter::new("quantum", Kind::Size, FULL_FRAME.0, "what a flow may send in its turn"),
        Parameter::new("flows", Kind::Number, FLOWS, "queues that flows are hashed into"),
        Parameter::new(
            "drop_batch",
            Kind::Packets,
            DROP_BATCH,
            "most packets dropped at once if full",
        ),
        Parameter::new(
            "ecn",
            Kind::Flag,
            1,
            "mark packets of ECN-capable transports, do not drop them",
        ),
        Parameter::off("ce_threshold", Kind::Time, "mark all packets that waited longer than this"),
        Parameter::new(
            "linux",
            Kind::Flag,
            0,
            "as Linux has it: codel_linux for each flow, half the bytes dropped if full",
        ),
        SEED,
    ],
    build,
};

fn build(settings: &Settings) -> Result<Box<dyn Discipline>, DisciplineError> {
    build_by(codel::spacing, settings)
}

/// The same with another INTERVAL / sqrt(count): the behaviour of an approximation.
///
/// # Errors
/// If a value is not allowed.
pub fn build_by(
    spacing: Spacing,
    settings: &Settings,
) -> Result<Box<dyn Discipline>, DisciplineError> {
    let count = |name| settings.within(name, 1..=u64::from(u32::MAX));
    let linux = settings.switch("linux")?;
    // The kernel's clock has coarser ticks and fewer bits.
    let span = if linux { codel_linux::SPAN } else { 1..=LONGEST.0 };
    let time = |name| settings.within(name, span.clone()).map(Time);
    let ce_threshold = settings.optional("ce_threshold", span.clone())?;
    let fq_codel = FqCodel::new(
        Params {
            codel: codel::Params {
                target: time("target")?,
                interval: time("interval")?,
                ..codel::Params::default()
            },
            limit: count("limit")? as usize,
            limit_bytes: settings.limit_bytes()?,
            quantum: settings.within("quantum", 1..=1_000_000)? as i64,
            flows: settings.within("flows", 1..=65_536)? as usize,
            drop_batch: count("drop_batch")? as usize,
            ecn: settings.switch("ecn")?,
            ce_threshold: ce_threshold.map(Time),
            linux,
        },
        settings.get("seed").unwrap_or_default(),
    );
    Ok(Box::new(FqCodel { spacing, ..fq_codel }))
}

/// INTERVAL / sqrt(count), of an interval and a count.
pub type Spacing = fn(Time, u32) -> Time;

/// Parameters (RFC 8290 section 5.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Params {
    /// Of each flow's CoDel: interval (5.2.1) and target (5.2.2).
    pub codel: codel::Params,
    /// Most packets held, all flows together (5.2.3). Default 10240.
    pub limit: usize,
    /// Most bytes held, all flows together. Default: no limit but the packet buffer's.
    pub limit_bytes: Option<Bytes>,
    /// Bytes that a flow may send in its turn (5.2.4). Default 1514.
    pub quantum: i64,
    /// Queues that flows are hashed into (5.2.5). Default 1024.
    pub flows: usize,
    /// Most packets dropped at once from the fattest flow (4.1). Default 64.
    pub drop_batch: usize,
    /// Mark instead of dropping (5.2.6). Default: on.
    pub ecn: bool,
    /// Packets that waited longer are marked (5.2.7). Default: off.
    pub ce_threshold: Option<Time>,
    /// As Linux has it. Default: off, as RFC 8290 has it, with RFC 8289's CoDel.
    pub linux: bool,
}

impl Default for Params {
    fn default() -> Params {
        Params {
            codel: codel::Params::default(),
            limit: LIMIT as usize,
            limit_bytes: None,
            quantum: FULL_FRAME.0 as i64,
            flows: FLOWS as usize,
            drop_batch: DROP_BATCH as usize,
            ecn: true,
            ce_threshold: None,
            linux: false,
        }
    }
}

/// State of one flow's CoDel; the kernel's is used with `linux`.
#[derive(Debug, Default)]
struct CodelState {
    rfc8289: codel::State,
    linux: codel_linux::State,
}

/// State of one flow's queue.
#[derive(Debug, Default)]
struct Flow {
    backlog: Backlog,
    codel: CodelState,
    /// Bytes that it may still send in this turn.
    credits: i64,
    /// It is in one of the two lists.
    active: bool,
}

/// Statistics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Of all flows' CoDel.
    pub codel: codel::Stats,
    /// Packets dropped from the fattest flow because the queue was full.
    pub drop_overlimit: u64,
    /// Flows that entered the list of new ones.
    pub new_flows: u64,
    /// Packets marked for `ce_threshold`.
    pub ce_mark: u64,
}

/// The queues of all flows.
#[derive(Debug)]
pub struct FqCodel {
    params: Params,
    seed: u64,
    flows: Vec<Flow>,
    new: VecDeque<u32>,
    old: VecDeque<u32>,
    packets: usize,
    bytes: Bytes,
    stats: Stats,
    /// Of RFC 8289's CoDel.
    spacing: Spacing,
    /// Parameters of the kernel's CoDel, if it is used.
    linux: Option<codel_linux::Params>,
}

/// One flow's queue, managed by CoDel.
struct Managed<'a> {
    backlog: &'a mut Backlog,
    packets: &'a mut usize,
    bytes: &'a mut Bytes,
    linux: bool,
    ecn: bool,
    drops: &'a mut Drops,
}

impl CodelQueue for Managed<'_> {
    type Packet = Queued;

    fn pop(&mut self) -> Option<Queued> {
        let packet = self.backlog.pop()?;
        *self.packets -= 1;
        *self.bytes -= packet.size();
        Some(packet)
    }

    /// Behind it are the flow's own, in the kernel those of all flows.
    fn head(&self) -> Option<(Time, Bytes)> {
        let head = self.backlog.front()?;
        let bytes = if self.linux { *self.bytes } else { self.backlog.bytes() };
        Some((head.enqueued, bytes - head.size()))
    }

    fn drop(&mut self, packet: Queued) {
        self.drops.push(packet, DropKind::Aqm);
    }

    fn mark_head(&mut self) -> bool {
        self.ecn && self.backlog.front_mut().is_some_and(|head| ecn::mark(&mut head.packet))
    }
}

impl FqCodel {
    /// Empty queues. The seed is mixed into the hash.
    pub fn new(params: Params, seed: u64) -> FqCodel {
        FqCodel {
            params,
            seed,
            flows: std::iter::repeat_with(Flow::default).take(params.flows).collect(),
            new: VecDeque::new(),
            old: VecDeque::new(),
            packets: 0,
            bytes: Bytes(0),
            stats: Stats::default(),
            spacing: codel::spacing,
            linux: params.linux.then(|| codel_linux::Params {
                target: codel_linux::ticks(params.codel.target),
                interval: codel_linux::ticks(params.codel.interval),
                mtu: params.codel.maxpacket,
                ..codel_linux::Params::default()
            }),
        }
    }

    /// Section 4.1: half the packets of the flow with the most bytes, at most a batch, from the head;
    /// in the kernel half the bytes. They were queued, so they count as dropped by the discipline, not at
    /// the tail.
    fn drop_from_fattest(&mut self, drops: &mut Drops) {
        let Some(fattest) = self.flows.iter_mut().rev().max_by_key(|flow| flow.backlog.bytes())
        else {
            return;
        };
        let half_of_packets = fattest.backlog.len().div_ceil(2);
        let half_of_bytes = Bytes(fattest.backlog.bytes().0 / 2);
        let (mut packets, mut bytes) = (0, Bytes(0));
        let is_half = |packets: usize, bytes: Bytes| match self.params.linux {
            true => packets > 0 && bytes >= half_of_bytes,
            false => packets >= half_of_packets,
        };
        while packets < self.params.drop_batch && !is_half(packets, bytes) {
            let Some(packet) = fattest.backlog.pop() else { break };
            packets += 1;
            bytes += packet.size();
            drops.push(packet, DropKind::Aqm);
        }
        let count = &mut fattest.codel.linux.count;
        *count = count.wrapping_add(packets as u32);
        self.packets -= packets;
        self.bytes -= bytes;
        self.stats.drop_overlimit += packets as u64;
    }

    fn is_over_limit(&self) -> bool {
        self.packets > self.params.limit
            || self.params.limit_bytes.is_some_and(|limit| self.bytes > limit)
    }

    /// CoDel's turn at a flow: the packet to send, if CoDel leaves one.
    fn take(&mut self, flow: u32, now: Time, drops: &mut Drops) -> Option<Queued> {
        let flow = &mut self.flows[flow as usize];
        let mut queue = Managed {
            backlog: &mut flow.backlog,
            packets: &mut self.packets,
            bytes: &mut self.bytes,
            linux: self.params.linux,
            ecn: self.params.ecn,
            drops,
        };
        let (params, stats) = (&self.params.codel, &mut self.stats.codel);
        let mut packet = match &self.linux {
            None => {
                let state = &mut flow.codel.rfc8289;
                codel::dequeue_by(self.spacing, params, state, stats, now, &mut queue)?
            }
            Some(params) => {
                let mut counted = codel_linux::Stats::default();
                let state = &mut flow.codel.linux;
                let packet = codel_linux::dequeue(params, state, &mut counted, now, &mut queue);
                stats.drops += counted.drop_count;
                stats.marks += counted.ecn_mark;
                packet?
            }
        };
        flow.credits -= packet.size().0 as i64;
        let waited = |most: Time| match self.params.linux {
            true => codel_linux::after(flow.codel.linux.ldelay, codel_linux::ticks(most)),
            false => now.saturating_sub(packet.enqueued) > most,
        };
        if self.params.ce_threshold.is_some_and(waited) && ecn::mark(&mut packet.packet) {
            self.stats.ce_mark += 1;
        }
        Some(packet)
    }
}

impl Discipline for FqCodel {
    fn enqueue(&mut self, _now: Time, packet: Queued, drops: &mut Drops) {
        let index = (flow_hash(&packet.packet, self.seed) % self.params.flows as u64) as u32;
        self.packets += 1;
        self.bytes += packet.size();
        let flow = &mut self.flows[index as usize];
        flow.backlog.push(packet);
        if !flow.active {
            flow.active = true;
            flow.credits = self.params.quantum;
            self.new.push_back(index);
            self.stats.new_flows += 1;
        }
        while self.is_over_limit() {
            self.drop_from_fattest(drops);
        }
    }

    /// Section 4.1: a full queue drops from the flow with the most bytes, not the arriving packet.
    fn sheds(&self) -> bool {
        true
    }

    fn shed(&mut self, drops: &mut Drops) {
        self.drop_from_fattest(drops);
    }

    /// Section 4.2. A flow whose credits are exactly zero has sent its quantum: its turn is over, as
    /// with negative credits.
    fn dequeue(&mut self, now: Time, drops: &mut Drops) -> Option<Queued> {
        loop {
            let is_new = !self.new.is_empty();
            let list = if is_new { &mut self.new } else { &mut self.old };
            let &index = list.front()?;
            let flow = &mut self.flows[index as usize];
            if flow.credits <= 0 {
                flow.credits += self.params.quantum;
                list.pop_front();
                self.old.push_back(index);
                continue;
            }
            if let Some(packet) = self.take(index, now, drops) {
                return Some(packet);
            }
            // The flow is empty. A new one goes to the end of the old ones, so that a flow which
            // sends a packet now and then cannot be new for ever; in the kernel not if there are none.
            if is_new {
                self.new.pop_front()
            } else {
                self.old.pop_front()
            };
            if is_new && !(self.params.linux && self.old.is_empty()) {
                self.old.push_back(index);
            } else {
                self.flows[index as usize].active = false;
            }
        }
    }

    fn length(&self) -> QueueLength {
        QueueLength { packets: self.packets, bytes: self.bytes }
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        vec![
            ("drops", self.stats.codel.drops),
            ("marks", self.stats.codel.marks),
            ("drop_overlimit", self.stats.drop_overlimit),
            ("new_flows", self.stats.new_flows),
            ("ce_mark", self.stats.ce_mark),
            ("max_sojourn_ns", self.stats.codel.max_sojourn.0),
        ]
    }
}

#[cfg(test)]
#[path = "fq_codel_tests.rs"]
mod tests;

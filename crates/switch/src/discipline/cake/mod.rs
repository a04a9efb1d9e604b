//! CAKE's flow isolation, as Linux 6.1 has it (`net/sched/sch_cake.c`): a queue for each flow, found by set-associative
//! hashing, served in turns by DRR++, each managed by COBALT. It corresponds to `cake unlimited besteffort`.
//!
//! - **Queues**: 1024 in sets of eight ([`set_associative`]), so that flows hardly ever share one.
//! - **Turns**: a flow that has just begun to send (sparse) is served before those with a backlog (bulk). An empty flow
//!   stays listed (decaying) until its COBALT is at rest; each request visits one such flow first.
//! - **Host isolation**: a flow's quantum is 1514 bytes over the number of bulk flows of its host, at that end at which it
//!   has more. `srchost`, `dsthost` and `flows` are the bits of the kernel's flow mode: all three are triple-isolate,
//!   `flows` and one of them dual-srchost or dual-dsthost, none is flowblind.
//! - **Overflow**: the oldest packet of the longest queue is dropped, and its BLUE learns of it.
//!
//! The rate is the port's: CAKE's own shaper, tins for DSCPs, ACK filter and NAT look-up are not here. `memlimit` counts
//! frames, the kernel its buffers. It must not know the rate at which it drains.

mod set_associative;

use super::cobalt::{self, MEMLIMIT_PARAMETER, SPAN, State, Stats};
use super::flow_hash::{End, flow_hash, host_hash};
use super::probability::Dice;
use super::{
    Backlog, Discipline, DisciplineError, DropKind, Drops, FULL_FRAME, Kind, Parameter,
    QueueLength, Queued, Registered, SEED, Settings,
};
use set_associative::{Found, Hosts, PLACES, Tags};
use sojourn_packet::{Bytes, Packet, Time};
use std::collections::VecDeque;

const RTT: Time = Time::from_millis(100);
/// A target is this part of the round-trip time.
const RTT_PER_TARGET: u64 = 20;
const QUANTUM: u64 = FULL_FRAME.0;

/// The line for the table of disciplines.
pub const REGISTRATION: Registered = Registered {
    name: "cake",
    summary: "CAKE's flow and host isolation with COBALT for each flow, without its shaper and tins",
    parameters: &[
        Parameter::new(
            "rtt",
            Kind::Time,
            RTT.0,
            "COBALT's interval; its target is a twentieth of it",
        ),
        MEMLIMIT_PARAMETER,
        Parameter::new("srchost", Kind::Flag, 1, "hosts that send share evenly"),
        Parameter::new("dsthost", Kind::Flag, 1, "hosts that receive share evenly"),
        Parameter::new("flows", Kind::Flag, 1, "a queue for each flow; without, for each host"),
        SEED,
    ],
    build,
};

fn build(settings: &Settings) -> Result<Box<dyn Discipline>, DisciplineError> {
    let rtt = settings.within("rtt", SPAN)?;
    // As `tc` has it: a twentieth in whole microseconds, one at least.
    let target = (rtt / 1_000 / RTT_PER_TARGET).max(1) * 1_000;
    let params = Params {
        cobalt: cobalt::Params { target, interval: rtt.max(2 * target) },
        memlimit: Bytes(settings.within("memlimit", 1..=u64::MAX)?),
        isolation: Isolation {
            srchost: settings.switch("srchost")?,
            dsthost: settings.switch("dsthost")?,
            flows: settings.switch("flows")?,
        },
    };
    Ok(Box::new(Cake::new(params, settings.get("seed").unwrap_or_default())))
}

/// Keys of the queues, and of the even shares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Isolation {
    /// Sources; without `flows`, each has a queue.
    pub srchost: bool,
    /// Destinations, likewise.
    pub dsthost: bool,
    /// Flows.
    pub flows: bool,
}

impl Isolation {
    /// Sources share evenly, whatever the number of their flows.
    fn by_source(self) -> bool {
        self.flows && self.srchost
    }

    fn by_destination(self) -> bool {
        self.flows && self.dsthost
    }
}

/// Parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Params {
    /// Of each flow. Default: a target of 5 ms and an interval of 100 ms.
    pub cobalt: cobalt::Params,
    /// Most bytes held. Default: 10240 full frames.
    pub memlimit: Bytes,
    /// Default: all three.
    pub isolation: Isolation,
}

/// List that a flow is in, and what it counts as.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Set {
    #[default]
    Idle,
    /// It has just begun to send.
    Sparse,
    /// It is empty and waits among the old flows; a packet makes it bulk.
    SparseWait,
    /// It counts in its hosts' loads.
    Bulk,
    /// It is empty, and its COBALT is not at rest.
    Decaying,
}

/// State of one flow's queue.
#[derive(Debug, Default)]
struct Flow {
    backlog: Backlog,
    cobalt: State,
    /// Bytes that it may still send in this turn.
    deficit: i64,
    set: Set,
    /// Places of its source and destination, if hosts are isolated.
    source: u16,
    destination: u16,
}

/// The lists, in the order in which a request looks through them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum List {
    Decaying,
    New,
    Old,
}

/// The queues of all flows.
#[derive(Debug)]
pub struct Cake {
    params: Params,
    seed: u64,
    dice: Dice,
    flows: Vec<Flow>,
    tags: Tags,
    sources: Hosts,
    destinations: Hosts,
    decaying: VecDeque<u16>,
    new: VecDeque<u16>,
    old: VecDeque<u16>,
    length: QueueLength,
    stats: Stats,
    way_misses: u64,
    way_collisions: u64,
    /// Time of the last arrival, at which the queues may be without room.
    now: Time,
}

impl Cake {
    /// Empty queues. The seed is mixed into the hashes and gives the random numbers.
    pub fn new(params: Params, seed: u64) -> Cake {
        Cake {
            params,
            seed,
            dice: Dice::new(seed),
            flows: std::iter::repeat_with(Flow::default).take(PLACES).collect(),
            tags: Tags::new(),
            sources: Hosts::new(),
            destinations: Hosts::new(),
            decaying: VecDeque::new(),
            new: VecDeque::new(),
            old: VecDeque::new(),
            length: QueueLength::default(),
            stats: Stats::default(),
            way_misses: 0,
            way_collisions: 0,
            now: Time::ZERO,
        }
    }

    /// The queue of a packet. A flow that gets one finds its hosts' places, too.
    fn classify(&mut self, packet: &Packet) -> usize {
        let isolation = self.params.isolation;
        let source = host_hash(packet, End::Source, self.seed) as u32;
        let destination = host_hash(packet, End::Destination, self.seed) as u32;
        let key = match isolation {
            Isolation { flows: true, .. } => flow_hash(packet, self.seed) as u32,
            Isolation { srchost: false, dsthost: false, .. } => 0,
            Isolation { srchost: true, dsthost: false, .. } => source,
            Isolation { srchost: false, dsthost: true, .. } => destination,
            Isolation { .. } => source ^ destination,
        };
        let flows = &self.flows;
        let (place, found) = self.tags.find(key, |place| flows[place].set == Set::Idle);
        self.way_misses += u64::from(found == Found::Free);
        self.way_collisions += u64::from(found == Found::Shared);
        let set = self.flows[place].set;
        if found == Found::Own && set != Set::Idle {
            return place;
        }
        if set == Set::Bulk {
            self.count_bulk(place, false);
        }
        if isolation.by_source() {
            self.flows[place].source = self.sources.find(source);
        }
        if isolation.by_destination() {
            self.flows[place].destination = self.destinations.find(destination);
        }
        if set == Set::Bulk {
            self.count_bulk(place, true);
        }
        place
    }

    /// Counts a flow in the loads of its hosts, or no longer.
    fn count_bulk(&mut self, index: usize, counts: bool) {
        let Flow { source, destination, .. } = self.flows[index];
        let (by_source, by_destination) =
            (self.params.isolation.by_source(), self.params.isolation.by_destination());
        for (hosts, host, isolated) in [
            (&mut self.sources, source, by_source),
            (&mut self.destinations, destination, by_destination),
        ] {
            match (isolated, counts) {
                (true, true) => hosts.add(host),
                (true, false) => hosts.remove(host),
                (false, _) => {}
            }
        }
    }

    /// Bytes of a turn: the quantum over the greater load of the flow's two hosts, rounded by a random number so that it
    /// is right on average.
    fn quantum(&mut self, index: usize) -> i64 {
        let Flow { source, destination, .. } = self.flows[index];
        let mut load = 1;
        if self.params.isolation.by_source() {
            load = load.max(self.sources.load(source));
        }
        if self.params.isolation.by_destination() {
            load = load.max(self.destinations.load(destination));
        }
        let share = u64::from(u16::MAX / load);
        ((QUANTUM * share + self.dice.bits(16)) >> 16) as i64
    }

    fn list(&mut self, list: List) -> &mut VecDeque<u16> {
        match list {
            List::Decaying => &mut self.decaying,
            List::New => &mut self.new,
            List::Old => &mut self.old,
        }
    }

    /// The flow whose turn it is, and its list, at the front of which it is.
    fn first(&mut self, decaying_first: bool) -> Option<(List, usize)> {
        use List::{Decaying, New, Old};
        let order = if decaying_first { [Decaying, New, Old] } else { [New, Old, Decaying] };
        order.into_iter().find_map(|list| Some((list, usize::from(*self.list(list).front()?))))
    }

    /// The turn of a flow is over: it gets the next one among the old flows.
    fn end_turn(&mut self, list: List, index: usize) {
        if self.flows[index].set == Set::Sparse {
            if self.flows[index].backlog.is_empty() {
                self.flows[index].set = Set::SparseWait;
            } else {
                self.count_bulk(index, true);
                self.flows[index].set = Set::Bulk;
            }
        }
        let quantum = self.quantum(index);
        self.flows[index].deficit += quantum;
        self.list(list).pop_front();
        self.old.push_back(index as u16);
    }

    /// Lists a flow that has got a packet.
    fn wake(&mut self, index: usize) {
        let set = self.flows[index].set;
        match set {
            Set::Idle | Set::Decaying => {
                if set == Set::Decaying {
                    self.decaying.retain(|&other| usize::from(other) != index);
                }
                self.flows[index].set = Set::Sparse;
                self.flows[index].deficit = self.quantum(index);
                self.new.push_back(index as u16);
            }
            Set::SparseWait => {
                self.flows[index].set = Set::Bulk;
                self.count_bulk(index, true);
            }
            Set::Sparse | Set::Bulk => {}
        }
    }

    /// A flow that had its turn is empty: it decays, or is forgotten.
    fn found_empty(&mut self, list: List, index: usize, now: Time) {
        let flow = &mut self.flows[index];
        flow.cobalt.queue_empty(&self.params.cobalt, now);
        let (rests, was_bulk) = (flow.cobalt.is_at_rest(now), flow.set == Set::Bulk);
        flow.set = if rests { Set::Idle } else { Set::Decaying };
        if was_bulk {
            self.count_bulk(index, false);
        }
        self.list(list).pop_front();
        if !rests {
            self.decaying.push_back(index as u16);
        }
    }

    /// COBALT's turn at a flow: the packet to send, if there is one.
    fn take(&mut self, index: usize, now: Time, drops: &mut Drops) -> Option<Queued> {
        let flow = &mut self.flows[index];
        let before = flow.backlog.length();
        let (queue, sinks) = ((now, &mut flow.backlog), (&mut self.dice, drops));
        let taken =
            cobalt::take(&self.params.cobalt, &mut flow.cobalt, &mut self.stats, queue, sinks);
        let after = flow.backlog.length();
        self.length.packets -= before.packets - after.packets;
        self.length.bytes -= before.bytes - after.bytes;
        flow.deficit -= taken.as_ref().map_or(0, |packet| packet.size().0 as i64);
        taken
    }
}

impl Discipline for Cake {
    fn enqueue(&mut self, now: Time, packet: Queued, drops: &mut Drops) {
        self.now = now;
        let index = self.classify(&packet.packet);
        self.length.packets += 1;
        self.length.bytes += packet.size();
        self.flows[index].backlog.push(packet);
        self.wake(index);
        while self.length.bytes > self.params.memlimit {
            self.shed(drops);
        }
    }

    /// Full queues drop the oldest packet of the longest, not the arriving one.
    fn sheds(&self) -> bool {
        true
    }

    fn shed(&mut self, drops: &mut Drops) {
        let longest = self.flows.iter_mut().max_by_key(|flow| flow.backlog.bytes());
        let Some((flow, oldest)) = longest.and_then(|flow| {
            let oldest = flow.backlog.pop()?;
            Some((flow, oldest))
        }) else {
            return;
        };
        flow.cobalt.queue_full(&self.params.cobalt, self.now);
        self.length.packets -= 1;
        self.length.bytes -= oldest.size();
        self.stats.drop_overlimit += 1;
        drops.push(oldest, DropKind::Aqm);
    }

    fn dequeue(&mut self, now: Time, drops: &mut Drops) -> Option<Queued> {
        let mut decaying_first = true;
        while self.length.packets > 0 {
            let (list, index) = self.first(decaying_first)?;
            decaying_first = false;
            if self.flows[index].deficit <= 0 {
                self.end_turn(list, index);
            } else if let Some(packet) = self.take(index, now, drops) {
                return Some(packet);
            } else {
                self.found_empty(list, index, now);
            }
        }
        None
    }

    fn length(&self) -> QueueLength {
        self.length
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        let Stats { drops, marks, drop_overlimit } = self.stats;
        vec![
            ("drops", drops),
            ("marks", marks),
            ("drop_overlimit", drop_overlimit),
            ("way_misses", self.way_misses),
            ("way_collisions", self.way_collisions),
        ]
    }
}

#[cfg(test)]
mod tests;

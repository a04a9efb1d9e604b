//! Scheduler nodes between a port and its queues: a port serves a node, the node serves a queue.
//!
//! As in the vendor's reference model of Tofino 2 (L1 nodes): nodes within their minimum rate come
//! first, then those within their maximum rate; strict priority decides, then weights. A node of
//! weight 0 takes turns. The module must not depend on the state of a queue.

use crate::config::{ConfigError, NodeConfig};
use crate::tm::queue::Queue;
use crate::tm::scheduler::{Band, MAX_QUEUES, NodeTurn, QueueSet, Scheduler, Turn};
use crate::tm::shaper::{EffectiveShaper, TokenBucket, Unencodable};
use sojourn_packet::{PortId, ShaperRegisters, Time};

/// The nodes of one port.
#[derive(Clone, Debug)]
pub(crate) struct Nodes {
    /// By number; those of other ports, and free ones, are absent.
    nodes: Vec<Option<Node>>,
    of_queue: Vec<u8>,
    arbiter: Scheduler,
}

#[derive(Clone, Debug)]
struct Node {
    config: NodeConfig,
    min_shaper: Option<TokenBucket>,
    max_shaper: Option<TokenBucket>,
    queues: QueueSet,
    scheduler: Scheduler,
}

/// A node as it is set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeSettings {
    /// Its number in the port group.
    pub number: u8,
    /// Priorities, weight and rates, as they were given.
    pub config: NodeConfig,
    /// Guaranteed rate of the hardware.
    pub min_shaper: Option<EffectiveShaper>,
    /// Maximum rate of the hardware.
    pub max_shaper: Option<EffectiveShaper>,
    /// Its queues, by their numbers at the port.
    pub queues: Vec<u8>,
}

impl Nodes {
    /// One node, its port's own, that has all queues.
    pub fn new(home: u8, queues: usize, scheduler: &Scheduler) -> Nodes {
        let mut nodes = Nodes {
            nodes: vec![None; MAX_QUEUES],
            of_queue: vec![home; queues],
            arbiter: Scheduler::turns(&[(0, 0, 0); MAX_QUEUES]),
        };
        nodes.put(home, Node::new(NodeConfig::own(), scheduler));
        nodes.attach();
        nodes
    }

    /// Sets a node and puts it in use; what its shapers owe remains.
    pub fn set(
        &mut self,
        now: Time,
        number: u8,
        config: NodeConfig,
        scheduler: &Scheduler,
        registers: ShaperRegisters,
    ) -> Result<(), Unencodable> {
        let bucket = |shaper: &Option<_>, old: Option<&mut TokenBucket>| {
            let made = shaper.as_ref().map(|shaper| TokenBucket::new(shaper, registers));
            let mut made = made.transpose()?;
            if let (Some(made), Some(old)) = (&mut made, old) {
                made.take_over(now, old);
            }
            Ok(made)
        };
        let before = self.nodes[usize::from(number)].take();
        let mut node = before.clone().unwrap_or_else(|| Node::new(config, scheduler));
        let min = bucket(&config.min_shaper, node.min_shaper.as_mut());
        let max = bucket(&config.max_shaper, node.max_shaper.as_mut());
        match (min, max) {
            (Ok(min), Ok(max)) => {
                (node.config, node.min_shaper, node.max_shaper) = (config, min, max);
                self.put(number, node);
                Ok(())
            }
            (min, max) => {
                self.nodes[usize::from(number)] = before;
                min.and(max).map(drop)
            }
        }
    }

    fn put(&mut self, number: u8, node: Node) {
        let place = usize::from(number);
        self.arbiter.set_weight(place, node.config.weight);
        self.arbiter.set_level(place, node.config.level);
        self.arbiter.set_min_level(place, node.config.min_level);
        self.nodes[place] = Some(node);
    }

    /// Frees a node; its queues, if it has any.
    pub fn free(&mut self, number: u8) -> Result<(), QueueSet> {
        match self.nodes.get_mut(usize::from(number)) {
            Some(Some(node)) if node.queues != 0 => Err(node.queues),
            Some(node) => {
                *node = None;
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// Whether the port has the node.
    pub fn has(&self, number: u8) -> bool {
        self.nodes.get(usize::from(number)).is_some_and(Option::is_some)
    }

    /// The node of a queue.
    pub fn node_of(&self, queue: usize) -> u8 {
        self.of_queue[queue]
    }

    /// Puts a queue below a node that the port has.
    pub fn assign(&mut self, queue: usize, number: u8) {
        self.of_queue[queue] = number;
        self.attach();
    }

    fn attach(&mut self) {
        for (number, node) in self.nodes.iter_mut().enumerate() {
            let Some(node) = node else { continue };
            let of_queue = self.of_queue.iter().enumerate();
            let mine = of_queue.filter(|(_, of)| usize::from(**of) == number);
            node.queues = mine.fold(0, |set, (queue, _)| set | 1 << queue);
        }
    }

    /// The node's settings; those of a free one that is put in use where it has none.
    pub fn config(&self, number: u8) -> NodeConfig {
        let node = self.nodes.get(usize::from(number)).and_then(Option::as_ref);
        node.map_or_else(NodeConfig::default, |node| node.config)
    }

    /// The nodes in use.
    pub fn settings(&self) -> impl Iterator<Item = NodeSettings> {
        self.nodes.iter().zip(0..).filter_map(|(node, number)| {
            let node = node.as_ref()?;
            let queues = (0..self.of_queue.len()).filter(|queue| node.queues >> queue & 1 == 1);
            Some(NodeSettings {
                number,
                config: node.config,
                min_shaper: node.min_shaper.as_ref().map(TokenBucket::effective),
                max_shaper: node.max_shaper.as_ref().map(TokenBucket::effective),
                queues: queues.map(|queue| queue as u8).collect(),
            })
        })
    }

    /// Changes a queue's weight, as its port does.
    pub fn reweigh(&mut self, queue: usize, weight: u16) {
        let nodes = self.nodes.iter_mut().flatten();
        nodes.for_each(|node| node.scheduler.set_weight(queue, weight));
    }

    /// Changes a queue's strict priority, as its port does.
    pub fn set_level(&mut self, queue: usize, level: u8) {
        let nodes = self.nodes.iter_mut().flatten();
        nodes.for_each(|node| node.scheduler.set_level(queue, level));
    }

    /// The next queue among those that may send, within their minimum rate and in general; or the
    /// time at which a node may send again, [`Time::MAX`] if no queue waits for one.
    pub fn pick(
        &mut self,
        now: Time,
        guaranteed: QueueSet,
        remaining: QueueSet,
    ) -> Result<Turn, Time> {
        let (mut first, mut others, mut soonest) = (0, 0, Time::MAX);
        for (number, node) in self.nodes.iter_mut().enumerate() {
            let Some(node) = node else { continue };
            let set = remaining & node.queues & node.scheduler.members();
            if set == 0 || node.config.paused {
                continue;
            }
            let ready = node.max_shaper.as_mut().map_or(now, |shaper| shaper.ready(now));
            if ready > now {
                soonest = soonest.min(ready);
                continue;
            }
            others |= 1 << number;
            if node.min_shaper.as_mut().is_some_and(|shaper| shaper.ready(now) == now) {
                first |= 1 << number;
            }
            if node.config.propagates {
                self.arbiter.set_level(number, node.scheduler.highest_level(set));
                let guaranteed = node.scheduler.highest_min_level(set & guaranteed);
                self.arbiter.set_min_level(number, guaranteed);
            }
        }
        let chosen = self.arbiter.pick(first, others).ok_or(soonest)?;
        let node = self.nodes[chosen.queue].as_mut().ok_or(soonest)?;
        let turn = node.scheduler.pick(guaranteed & node.queues, remaining & node.queues);
        let of = NodeTurn { node: chosen.queue as u8, band: chosen.band };
        turn.map(|turn| Turn { node: Some(of), ..turn }).ok_or(soonest)
    }

    /// A packet of `length` bytes, of `shaped` bytes for shapers, was taken in that turn; `backlog` is
    /// of the queues that still have packets.
    pub fn served(&mut self, now: Time, turn: Turn, length: u32, shaped: u32, backlog: QueueSet) {
        let Some(NodeTurn { node, band }) = turn.node else { return };
        let Some(Some(of)) = self.nodes.get_mut(usize::from(node)) else { return };
        let min = of.min_shaper.as_mut().filter(|_| band == Band::Guaranteed);
        for bucket in [min, of.max_shaper.as_mut()].into_iter().flatten() {
            bucket.charge(now, shaped);
        }
        of.scheduler.served(turn, length, backlog >> turn.queue & 1 == 0);
        let empty = backlog & of.queues == 0;
        let above = Turn { queue: usize::from(node), band, node: None };
        self.arbiter.served(above, length, empty);
    }
}

impl Node {
    fn new(config: NodeConfig, scheduler: &Scheduler) -> Node {
        let scheduler = scheduler.clone();
        Node { config, min_shaper: None, max_shaper: None, queues: 0, scheduler }
    }
}

/// Checks the values of a node that have a range.
pub(crate) fn check(port: PortId, config: &NodeConfig) -> Result<(), ConfigError> {
    Queue::check_level(port, 0, "level of a node", config.level)?;
    Queue::check_level(port, 0, "min_level of a node", config.min_level)?;
    Queue::check_weight(port, 0, config.weight)
}

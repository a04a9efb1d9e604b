//! Reconfiguration of scheduler nodes: their ports, their rates, the queues below them.
//!
//! A node is used by one port of its port group. A port's own node has all its queues until they are
//! put elsewhere. Must not depend on the caller.

use super::Switch;
use super::reconfigure::QueueChange;
use crate::config::{ConfigError, NodeConfig, PortConfig};
use crate::tm::nodes::{NodeSettings, Nodes, check};
use crate::tm::port::Port;
use crate::tm::scheduler::MAX_QUEUES;
use crate::tm::shaper::{ShaperConfig, Unencodable};
use sojourn_packet::{PortId, SchedulerNodes};

/// Priorities, weight and rates of a scheduler node; what is absent stays as it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NodeChange {
    /// Its port.
    pub port: PortId,
    /// Its number in the port group.
    pub node: u8,
    /// Strict priority for bandwidth beyond the guaranteed rate, 0 to 7.
    pub level: Option<u8>,
    /// Strict priority for the guaranteed rate, 0 to 7.
    pub min_level: Option<u8>,
    /// Weight among nodes of equal priority; 0: they take turns.
    pub weight: Option<u16>,
    /// It has the highest priority of its queues.
    pub propagates: Option<bool>,
    /// True takes the node and its queues out of scheduling.
    pub paused: Option<bool>,
    /// Guaranteed rate; none takes it away.
    pub min_shaper: Option<Option<ShaperConfig>>,
    /// Maximum rate; none takes it away.
    pub max_shaper: Option<Option<ShaperConfig>>,
}

impl NodeChange {
    fn applied_to(&self, config: NodeConfig) -> NodeConfig {
        NodeConfig {
            level: self.level.unwrap_or(config.level),
            min_level: self.min_level.unwrap_or(config.min_level),
            weight: self.weight.unwrap_or(config.weight),
            propagates: self.propagates.unwrap_or(config.propagates),
            paused: self.paused.unwrap_or(config.paused),
            min_shaper: self.min_shaper.unwrap_or(config.min_shaper),
            max_shaper: self.max_shaper.unwrap_or(config.max_shaper),
        }
    }
}

/// The place of a port, and its nodes before a change.
type Before = (usize, Option<Box<Nodes>>);

impl Switch {
    /// The scheduler nodes that a port has in use; none on a chip without any.
    pub fn nodes(&self, port: PortId) -> Vec<NodeSettings> {
        let (Some(numbers), Some(index)) = (self.node_numbers, self.find_port(port)) else {
            return Vec::new();
        };
        let port = &self.ports[index];
        match &port.nodes {
            Some(nodes) => nodes.settings().collect(),
            None => vec![NodeSettings {
                number: numbers.home(port.id),
                config: NodeConfig::own(),
                min_shaper: None,
                max_shaper: None,
                queues: (0..port.queues.len()).map(|queue| queue as u8).collect(),
            }],
        }
    }

    /// The chip's scheduler nodes.
    pub fn node_numbers(&self) -> Option<SchedulerNodes> {
        self.node_numbers
    }

    /// The nodes of a configuration.
    pub(super) fn set_nodes(
        &mut self,
        changes: &[NodeChange],
        ports: &[PortConfig],
    ) -> Result<(), ConfigError> {
        for change in changes {
            self.change_node(change)?;
        }
        for (index, port) in ports.iter().enumerate() {
            for (queue, of) in port.queues.iter().enumerate() {
                if let Some(node) = of.node {
                    self.put_below(index, queue, node)?;
                }
            }
        }
        Ok(())
    }

    /// The node of a queue.
    pub(super) fn node_of(&self, port: &Port, queue: usize) -> Option<u8> {
        let numbers = self.node_numbers?;
        let own = numbers.home(port.id);
        Some(port.nodes.as_ref().map_or(own, |nodes| nodes.node_of(queue)))
    }

    /// Sets a node; what its port had before.
    pub(super) fn change_node(&mut self, change: &NodeChange) -> Result<Before, ConfigError> {
        let numbers = self.node_numbers.ok_or(ConfigError::NoNodes)?;
        let (id, number) = (change.port, change.node);
        self.require("a scheduler node", id, 0)?;
        let index = self.find_port(id).ok_or(ConfigError::NoNodes)?;
        if number >= numbers.count || usize::from(number) >= MAX_QUEUES {
            let help = "a port group has nodes 0 to 31";
            return Err(ConfigError::NoNode { port: id, node: number, help });
        }
        let has = |port: &&Port| match &port.nodes {
            Some(nodes) => nodes.has(number),
            None => numbers.home(port.id) == number,
        };
        let others = self.ports.iter().filter(|port| port.id != id);
        let mut group = others.filter(|port| numbers.group(port.id) == numbers.group(id));
        if let Some(other) = group.find(has) {
            return Err(ConfigError::NodeOfOther { node: number, of: other.id, port: id });
        }
        let (now, registers) = (self.now, self.shapers);
        let port = &mut self.ports[index];
        let before = port.nodes.clone();
        let (nodes, scheduler) = port.nodes_from(numbers.home(id));
        let config = change.applied_to(nodes.config(number));
        let done = check(id, &config).and_then(|()| {
            let set = nodes.set(now, number, config, scheduler, registers);
            set.map_err(|Unencodable { what, value, allowed }| ConfigError::Shaper {
                port: id,
                what,
                value,
                allowed,
            })
        });
        if let Err(why) = done {
            port.nodes = before;
            return Err(why);
        }
        port.update_fast_path();
        self.serve(index);
        Ok((index, before))
    }

    /// Frees a node of a port; what the port had before.
    pub(super) fn free_node(&mut self, id: PortId, number: u8) -> Result<Before, ConfigError> {
        let numbers = self.node_numbers.ok_or(ConfigError::NoNodes)?;
        self.require("a scheduler node", id, 0)?;
        let index = self.find_port(id).ok_or(ConfigError::NoNodes)?;
        let port = &mut self.ports[index];
        let before = port.nodes.clone();
        let (nodes, _) = port.nodes_from(numbers.home(id));
        if nodes.free(number).is_err() {
            port.nodes = before;
            return Err(ConfigError::NodeHasQueues { port: id, node: number });
        }
        Ok((index, before))
    }

    /// Puts queues below another node, if a change says so; what their ports had before.
    pub(super) fn change_node_of_queues(
        &mut self,
        change: &QueueChange,
    ) -> Result<Vec<Before>, ConfigError> {
        let Some(node) = change.node else { return Ok(Vec::new()) };
        let mut replaced = Vec::new();
        for index in 0..self.ports.len() {
            if change.port.is_some_and(|only| only != self.ports[index].id) {
                continue;
            }
            replaced.push((index, self.ports[index].nodes.clone()));
            for queue in 0..self.ports[index].queues.len() {
                if change.queue.is_some_and(|only| usize::from(only) != queue) {
                    continue;
                }
                if let Err(why) = self.put_below(index, queue, node) {
                    self.restore_nodes(replaced);
                    return Err(why);
                }
            }
        }
        Ok(replaced)
    }

    /// Gives ports the nodes that they had.
    pub(super) fn restore_nodes(&mut self, before: Vec<Before>) {
        for (index, nodes) in before {
            self.ports[index].nodes = nodes;
            self.ports[index].update_fast_path();
            self.serve(index);
        }
    }

    fn put_below(&mut self, index: usize, queue: usize, node: u8) -> Result<(), ConfigError> {
        let numbers = self.node_numbers.ok_or(ConfigError::NoNodes)?;
        let port = &mut self.ports[index];
        let id = port.id;
        let (nodes, _) = port.nodes_from(numbers.home(id));
        if !nodes.has(node) {
            let help = "a queue goes to one that its port has";
            return Err(ConfigError::NoNode { port: id, node, help });
        }
        nodes.assign(queue, node);
        port.update_fast_path();
        Ok(())
    }
}

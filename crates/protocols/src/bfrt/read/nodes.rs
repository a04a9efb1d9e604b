//! Scheduler nodes of Tofino 2, as the switch has them.

use super::Reader;
use super::messages::absent;
use crate::bfrt::device_tables::{Fixed, field};
use crate::bfrt::fields::{Datum, Row};
use crate::bfrt::schema::Table;
use crate::bfrt::store::Entry;
use crate::bfrt::write::{holder, place_of, ports_of_group};
use crate::failure::Failure;
use sojourn_switch::{EffectiveShaper, NodeSettings, PortId, PortStatistics, ShapedRate};

impl Reader<'_> {
    /// A node, or its rates.
    pub(super) fn scheduler_node(
        &self,
        table: &Table,
        fixed: Fixed,
        key: &[u64],
        ports: &[PortStatistics],
    ) -> Result<Entry, Failure> {
        let &[group, number] = key else { return Err(absent(table)) };
        let of_group = ports_of_group(ports, group, &self.schema.chip);
        let first = *of_group.first().ok_or_else(|| absent(table))?;
        let found = holder(self.switch, &of_group, number);
        let kept = self.store.entry(table.id, key).map(|entry| entry.row.clone());
        if fixed == Fixed::NodeShaping {
            let mut row = kept.unwrap_or_default();
            if let Some((_, node)) = &found {
                row.extend(rates(node));
            }
            return Ok(Entry { action: 0, row });
        }
        let Some((port, node)) = found else {
            let config = sojourn_switch::NodeConfig::default();
            let free = NodeSettings {
                number: number as u8,
                config,
                min_shaper: None,
                max_shaper: None,
                queues: Vec::new(),
            };
            let mut row = settings(&free, 0);
            row.insert(field::FREE_PORT, Datum::number(first));
            return Ok(Entry { action: field::FREE, row });
        };
        let of = ports.iter().find(|of| of.port.0 == port);
        let first_queue = of.map_or(0, |of| place_of(of, &self.schema.chip).first as u32);
        let mut row = settings(&node, first_queue);
        row.insert(field::NODE_PORT, Datum::number(port));
        row.insert(field::NODE_SCHEDULED, Datum::Bool(!node.config.paused));
        Ok(Entry { action: field::IN_USE, row })
    }

    /// The nodes that a port has in use.
    pub(super) fn nodes_of(&self, port: PortId) -> Row {
        if self.switch.node_numbers().is_none() {
            return Row::new();
        }
        let nodes = self.switch.nodes(port);
        let numbers = nodes.iter().map(|node| node.number.into()).collect();
        Row::from([
            (field::NODES_COUNT, Datum::number(nodes.len())),
            (field::PORT_NODES, Datum::Numbers(numbers)),
        ])
    }

    /// Numbers of the nodes of all port groups.
    pub(super) fn node_keys(&self) -> Vec<Vec<u64>> {
        let Some(numbers) = self.switch.node_numbers() else { return Vec::new() };
        let ports = self.switch.statistics().ports;
        let mut groups: Vec<u64> =
            ports.iter().map(|port| place_of(port, &self.schema.chip).group).collect();
        groups.sort_unstable();
        groups.dedup();
        let of = |group: u64| (0..numbers.count).map(move |node| vec![group, node.into()]);
        groups.into_iter().flat_map(of).collect()
    }
}

fn settings(node: &NodeSettings, first_queue: u32) -> Row {
    let level = |level: u8| Datum::Text(level.to_string());
    let queues = node.queues.iter().map(|queue| first_queue + u32::from(*queue)).collect();
    Row::from([
        (field::NODE_GUARANTEED, Datum::Bool(node.config.min_shaper.is_some())),
        (field::NODE_MIN_PRIORITY, level(node.config.min_level)),
        (field::NODE_SHAPED, Datum::Bool(node.config.max_shaper.is_some())),
        (field::NODE_PRIORITY, level(node.config.level)),
        (field::NODE_WEIGHT, Datum::number(node.config.weight)),
        (field::PROPAGATION, Datum::Bool(node.config.propagates)),
        (field::CHILDREN_COUNT, Datum::number(node.queues.len())),
        (field::CHILDREN, Datum::Numbers(queues)),
    ])
}

/// Rates as the hardware has them.
fn rates(node: &NodeSettings) -> Row {
    let mut row = Row::new();
    let mut add = |shaper: Option<EffectiveShaper>, rate: u32, burst: u32| {
        let Some(shaper) = shaper else { return };
        let (unit, value) = match shaper.rate {
            ShapedRate::Bits(rate) => ("BPS", rate.0 / 1_000),
            ShapedRate::Packets(rate) => ("PPS", rate),
        };
        row.insert(field::UNIT, Datum::text(unit));
        row.insert(rate, Datum::number(value));
        row.insert(burst, Datum::number(shaper.burst));
    };
    add(node.min_shaper, field::NODE_MIN_RATE, field::NODE_MIN_BURST);
    add(node.max_shaper, field::NODE_RATE, field::NODE_BURST);
    row
}

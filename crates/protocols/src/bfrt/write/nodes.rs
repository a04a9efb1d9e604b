//! Updates of scheduler nodes, of limits by colour, and of the depths that queues report.
//!
//! A node belongs to a port group; the switch knows which port has it in use. Enabled rates come from
//! the table of rates, as those of ports and queues do.

use super::ports::{only_modify, place_of};
use super::{Verb, Writer};
use crate::bfrt::device_tables::{Fixed, field};
use crate::bfrt::fields::{Datum, Row, is_set, number_in};
use crate::bfrt::schema::Table;
use crate::failure::Failure;
use sojourn_control::{Operation, QueueSetting, SchedulerNode};
use sojourn_packet::ReportMode;
use sojourn_switch::{ColorLimits, NodeSettings, PortId, PortStatistics, Switch};
use sojourn_target::target::DeviceTables;
use tonic::Code;

/// The ports of a port group, in their order.
pub fn ports_of_group(ports: &[PortStatistics], group: u64, chip: &DeviceTables) -> Vec<u16> {
    let mine = ports.iter().filter(|port| place_of(port, chip).group == group);
    let mut found: Vec<u16> = mine.map(|port| port.port.0).collect();
    found.sort_unstable();
    found
}

/// The port that has a node of a group in use, and the node.
pub fn holder(switch: &Switch, ports: &[u16], number: u64) -> Option<(u16, NodeSettings)> {
    ports.iter().find_map(|port| {
        let nodes = switch.nodes(PortId(*port)).into_iter();
        let found = nodes.into_iter().find(|node| u64::from(node.number) == number);
        found.map(|node| (*port, node))
    })
}

/// A percentage of a limit by colour, 1 to 8 eighths.
pub fn percentage(eighths: u8) -> &'static str {
    ["12.5%", "25%", "37.5%", "50%", "62.5%", "75%", "87.5%", "100%"]
        [usize::from(eighths.clamp(1, 8)) - 1]
}

fn eighths(name: &str) -> Option<u8> {
    (1..=8).find(|eighths| percentage(*eighths) == name)
}

/// A strict priority, `LOW` to `HIGH`.
pub fn level(row: &Row, id: u32) -> Option<u8> {
    let Datum::Text(name) = row.get(&id)? else { return None };
    Some(match name.as_str() {
        "LOW" => 0,
        "HIGH" => 7,
        number => number.parse().ok()?,
    })
}

/// A rate that is enabled, from the table of rates; 0 if it is not, none if nothing is said.
fn rate(rates: &Row, id: u32, enabled: Option<bool>) -> Result<Option<u64>, Failure> {
    let in_packets = rates.get(&field::UNIT) == Some(&Datum::text("PPS"));
    match (enabled, number_in(rates, id)) {
        (None, _) => Ok(None),
        (Some(false), _) => Ok(Some(0)),
        (Some(true), None) => {
            Err(Failure::invalid("the node has no such rate in `sched_shaping` yet"))
        }
        (Some(true), Some(rate)) if in_packets => Ok(Some(rate)),
        (Some(true), Some(rate)) => Ok(Some(rate.saturating_mul(1_000))),
    }
}

impl Writer<'_> {
    /// Puts a node in use, sets or frees it.
    pub(super) fn scheduler_node(
        &mut self,
        table: &Table,
        verb: Verb,
        key: Vec<u64>,
        action: u32,
        given: Row,
    ) -> Result<(), Failure> {
        only_modify(table, verb)?;
        let (ports, number) = self.group_and_node(&key)?;
        let node = u8::try_from(number).map_err(|_| no_node(&key))?;
        let before = holder(self.batch.switch(), &ports, number).map(|(port, _)| port);
        if action == field::FREE {
            if let Some(port) = before {
                self.apply(&Operation::FreeSchedulerNode { port, node })?;
            }
            self.keep(table, key, None);
            return Ok(());
        }
        let wanted = number_in(&given, field::NODE_PORT).map(|port| port as u16);
        let port = match (wanted.or(before), action) {
            (Some(port), _) => port,
            (None, field::IN_USE) => ports[0],
            (None, _) => {
                let why = format!("node {key:?} is free: action `in_use` with `dev_port` first");
                return Err(Failure::invalid(why));
            }
        };
        if !ports.contains(&port) {
            let why = format!("port {port} is not of port group {} of this switch", key[0]);
            return Err(Failure::invalid(why));
        }
        if let Some(other) = before.filter(|before| *before != port) {
            self.apply(&Operation::FreeSchedulerNode { port: other, node })?;
        }
        let row = self.merged(table, &key, given.clone());
        let rates = self.row_of(Fixed::NodeShaping, &key);
        let setting = SchedulerNode {
            port,
            node,
            level: level(&given, field::NODE_PRIORITY),
            min_level: level(&given, field::NODE_MIN_PRIORITY),
            weight: number_in(&given, field::NODE_WEIGHT).map(|weight| weight as u16),
            priority_propagation: is_set(&given, field::PROPAGATION),
            paused: is_set(&given, field::NODE_SCHEDULED).map(|scheduled| !scheduled),
            ..self.rates(&row, &rates)?
        };
        self.apply(&Operation::SetSchedulerNode(setting))?;
        self.keep(table, key, Some(row));
        Ok(())
    }

    /// The ports of a key's port group, at least one, and the number of its node.
    fn group_and_node(&mut self, key: &[u64]) -> Result<(Vec<u16>, u64), Failure> {
        let &[group, number] = key else { return Err(no_node(key)) };
        let all = self.batch.switch().statistics().ports;
        let ports = ports_of_group(&all, group, &self.schema.chip);
        if ports.is_empty() { Err(no_node(key)) } else { Ok((ports, number)) }
    }

    /// The rates that a row of `sched_cfg` enables.
    fn rates(&self, enables: &Row, rates: &Row) -> Result<SchedulerNode, Failure> {
        Ok(SchedulerNode {
            max_rate: rate(rates, field::NODE_RATE, is_set(enables, field::NODE_SHAPED))?,
            max_burst: number_in(rates, field::NODE_BURST),
            min_rate: rate(rates, field::NODE_MIN_RATE, is_set(enables, field::NODE_GUARANTEED))?,
            min_burst: number_in(rates, field::NODE_MIN_BURST),
            packets: rates.get(&field::UNIT) == Some(&Datum::text("PPS")),
            ..SchedulerNode::default()
        })
    }

    /// Sets the rates of a node, which take effect if they are enabled.
    pub(super) fn node_rates(
        &mut self,
        table: &Table,
        verb: Verb,
        key: Vec<u64>,
        given: Row,
    ) -> Result<(), Failure> {
        only_modify(table, verb)?;
        let (ports, number) = self.group_and_node(&key)?;
        let row = self.merged(table, &key, given);
        if let Some((port, settings)) = holder(self.batch.switch(), &ports, number) {
            let enables = self.row_of(Fixed::NodeScheduling, &key);
            let rates = self.rates(&enables, &row)?;
            let setting = SchedulerNode { port, node: settings.number, ..rates };
            self.apply(&Operation::SetSchedulerNode(setting))?;
        }
        self.keep(table, key, Some(row));
        Ok(())
    }

    /// Sets the limits of a queue for packets of a colour.
    pub(super) fn queue_color(
        &mut self,
        table: &Table,
        verb: Verb,
        key: &[u64],
        given: &Row,
    ) -> Result<(), Failure> {
        only_modify(table, verb)?;
        let (port, queue) = self.queue_of(key)?;
        let row = self.merged(table, key, given.clone());
        let drops = is_set(&row, field::COLOR_DROPS) == Some(true);
        let of = |id: u32| match row.get(&id) {
            Some(Datum::Text(name)) if drops => eighths(name).unwrap_or(8),
            _ => 8,
        };
        let setting = QueueSetting {
            port: Some(port),
            priority: Some(queue),
            yellow_eighths: Some(of(field::YELLOW_LIMIT)),
            red_eighths: Some(of(field::RED_LIMIT)),
            ..QueueSetting::default()
        };
        self.apply(&Operation::SetQueue(setting))?;
        self.keep(table, key.to_vec(), Some(row));
        Ok(())
    }

    /// Whether a queue reports its depth.
    pub(super) fn queue_reports(
        &mut self,
        table: &Table,
        verb: Verb,
        key: &[u64],
        given: &Row,
    ) -> Result<(), Failure> {
        only_modify(table, verb)?;
        let (port, queue) = self.queue_of(key)?;
        let Some(reports) = is_set(given, field::REPORTS) else { return Ok(()) };
        let setting = QueueSetting {
            port: Some(port),
            priority: Some(queue),
            reports: Some(reports),
            ..QueueSetting::default()
        };
        self.apply(&Operation::SetQueue(setting)).map(drop)
    }

    /// The changes of depths that the addressed pipes report.
    pub(super) fn report_mode(&mut self, name: &Datum) -> Result<(), Failure> {
        let mode = match *name == Datum::text("COLOR") {
            true => ReportMode::Color,
            false => ReportMode::Any,
        };
        let count = self.count.max(1);
        for pipe in self.pipes.numbers(count) {
            let pipe = (count > 1).then_some(pipe as u16);
            self.apply(&Operation::SetDepthReports { pipe, mode })?;
        }
        Ok(())
    }
}

/// A row of the table of limits by colour.
pub fn color_read(colors: Option<ColorLimits>) -> Row {
    let limits = colors.unwrap_or(ColorLimits { yellow: 8, red: 8 });
    Row::from([
        (field::COLOR_DROPS, Datum::Bool(colors.is_some())),
        (field::YELLOW_LIMIT, Datum::text(percentage(limits.yellow))),
        (field::RED_LIMIT, Datum::text(percentage(limits.red))),
    ])
}

fn no_node(key: &[u64]) -> Failure {
    let why = format!("this switch has no scheduler node {key:?} (`pg_id`, `pg_l1_node`)");
    Failure::new(Code::NotFound, why)
}

//! Updates of ports, their shapers and their queues.

use super::nodes::level;
use super::{Verb, Writer};
use crate::bfrt::device_tables::{Fixed, field};
use crate::bfrt::fields::{Datum, Row, is_set, number_in};
use crate::bfrt::schema::Table;
use crate::failure::Failure;
use sojourn_control::{Operation, QueueSetting};
use sojourn_switch::{PortStatistics, Switch};
use sojourn_target::target::DeviceTables;
use tonic::Code;

/// Queues of a port in the numbers of its port group.
pub struct PlaceInGroup {
    /// The port group.
    pub group: u64,
    /// Number of its first queue.
    pub first: u64,
    /// Number of its queues that have one.
    pub count: u64,
}

/// Location of a port's queues. A port of Tofino 1 with more queues than its share has all numbers of
/// the group; one of Tofino 2 has those of its share.
pub fn place_of(port: &PortStatistics, chip: &DeviceTables) -> PlaceInGroup {
    let (local, each, count) = (port.port.0 & 0x7f, chip.port_queues, port.queues.len() as u64);
    let group = u64::from(local / chip.group_ports);
    if count > u64::from(each) && chip.generation == 1 {
        return PlaceInGroup { group, first: 0, count };
    }
    let first = u64::from(local % chip.group_ports * each);
    PlaceInGroup { group, first, count: count.min(each.into()) }
}

/// Port and queue of a group's queue number.
pub fn port_and_queue(
    ports: &[PortStatistics],
    key: &[u64],
    chip: &DeviceTables,
) -> Option<(u16, u8)> {
    let &[group, queue] = key else { return None };
    ports.iter().find_map(|port| {
        let place = place_of(port, chip);
        let queue = queue.checked_sub(place.first)?;
        (place.group == group && queue < place.count).then_some((port.port.0, queue as u8))
    })
}

/// The port with this number.
pub(super) fn find_port(switch: &Switch, key: &[u64]) -> Result<PortStatistics, Failure> {
    let wanted = key.first().copied().unwrap_or(0);
    let mut ports = switch.statistics().ports.into_iter();
    ports
        .find(|port| u64::from(port.port.0) == wanted)
        .ok_or_else(|| Failure::new(Code::NotFound, format!("this switch has no port {wanted}")))
}

pub(super) fn no_queue(key: &[u64]) -> Failure {
    let why = format!("this switch has no queue {key:?} (`pg_id`, `pg_queue`)");
    Failure::new(Code::NotFound, why)
}

/// Rejects every change but a modification of an entry that always exists.
pub(super) fn only_modify(table: &Table, verb: Verb) -> Result<(), Failure> {
    match verb {
        Verb::Modify | Verb::Set | Verb::Insert => Ok(()),
        _ => {
            let why = format!("an entry of `{}` is always there: it is modified", table.name);
            Err(Failure::invalid(why))
        }
    }
}

impl Writer<'_> {
    /// Port and queue of a key of group and queue number.
    pub(super) fn queue_of(&mut self, key: &[u64]) -> Result<(u16, u8), Failure> {
        let ports = self.batch.switch().statistics().ports;
        port_and_queue(&ports, key, &self.schema.chip).ok_or_else(|| no_queue(key))
    }

    pub(super) fn port(
        &mut self,
        table: &Table,
        verb: Verb,
        key: Vec<u64>,
        given: Row,
    ) -> Result<(), Failure> {
        let found = find_port(self.batch.switch(), &key);
        if verb == Verb::Delete {
            // Deleting a missing port is no error in the vendor's driver.
            let Ok(port) = found else { return Ok(()) };
            self.store.removed_ports.insert(port.port.0);
            self.keep(table, key, None);
            return Ok(());
        }
        let port = found?.port.0;
        if is_set(&given, field::PORT_ENABLE) == Some(false) {
            let why = format!("port {port} cannot be switched off while this switch runs");
            return Err(Failure::unimplemented(why));
        }
        if let Some(Datum::Text(mode)) = given.get(&field::LOOPBACK) {
            let loops = recirculates(port, &self.schema.chip);
            if loops != (mode != "BF_LPBK_NONE") {
                let does = if loops { "loops" } else { "does not loop" };
                let why =
                    format!("port {port} {does} on this switch, so $LOOPBACK_MODE is not {mode}");
                return Err(Failure::unimplemented(why));
            }
        }
        only_modify(table, verb)?;
        // All ports exist from the start; a client may still add one.
        if verb == Verb::Insert {
            let is_there = self.store.entry(table.id, &key).is_some();
            verb.check(is_there, || format!("port {port}"))?;
        }
        self.store.removed_ports.remove(&port);
        let row = self.merged(table, &key, given);
        self.keep(table, key, Some(row));
        Ok(())
    }

    /// Row of the same key in another fixed table.
    pub(super) fn row_of(&self, wanted: Fixed, key: &[u64]) -> Row {
        let entry = self.store.entry(self.other(wanted), key);
        entry.map(|entry| entry.row.clone()).unwrap_or_default()
    }

    pub(super) fn shape(
        &mut self,
        table: &Table,
        fixed: Fixed,
        verb: Verb,
        key: Vec<u64>,
        given: Row,
    ) -> Result<(), Failure> {
        only_modify(table, verb)?;
        let port = find_port(self.batch.switch(), &key)?;
        let row = self.merged(table, &key, given);
        let (rates, enables) = match fixed {
            Fixed::PortShaping => (row.clone(), self.row_of(Fixed::PortScheduling, &key)),
            _ => (self.row_of(Fixed::PortShaping, &key), row.clone()),
        };
        if rates.get(&field::UNIT) == Some(&Datum::text("PPS")) {
            let why = "a port's shaper counts bytes on this switch: `unit` is BPS";
            return Err(Failure::unimplemented(why));
        }
        let rate = number_in(&rates, field::PORT_RATE).map(|kbit| kbit.saturating_mul(1_000));
        let enabled = is_set(&enables, field::PORT_SHAPED).unwrap_or(port.shaper.is_some());
        let number_of = port.port.0;
        let shaped = match (enabled, rate) {
            (true, Some(rate)) => Some(Operation::ShapePort {
                port: number_of,
                rate: Some(rate),
                burst: number_in(&rates, field::PORT_BURST),
            }),
            (true, None) if port.shaper.is_none() => {
                let why = format!("port {number_of} has no `max_rate` in `sched_shaping` yet");
                return Err(Failure::invalid(why));
            }
            (true, None) => None,
            (false, _) => Some(Operation::ShapePort { port: number_of, rate: None, burst: None }),
        };
        if let Some(operation) = shaped {
            self.apply(&operation)?;
        }
        self.keep(table, key, Some(row));
        Ok(())
    }

    /// A setting of Tofino 2 that has one value on this switch: a client may ask for that one.
    pub(super) fn assumed(&mut self, table: &Table, verb: Verb, given: Row) -> Result<(), Failure> {
        only_modify(table, verb)?;
        let other = given.iter().find(|(_, value)| !matches!(value, Datum::Bool(true)));
        if let Some((id, _)) = other {
            let name = table.fields.iter().find(|field| field.id == *id);
            let name = name.map_or("", |field| field.name.as_str());
            let why = format!("`{name}` of `{}` has one value on this switch", table.name);
            return Err(Failure::unimplemented(why));
        }
        self.keep(table, Vec::new(), Some(given));
        Ok(())
    }

    pub(super) fn pace(
        &mut self,
        table: &Table,
        fixed: Fixed,
        verb: Verb,
        key: Vec<u64>,
        given: Row,
    ) -> Result<(), Failure> {
        only_modify(table, verb)?;
        let (port, queue) = self.queue_of(&key)?;
        let known = match fixed {
            Fixed::QueueShaping => {
                &[field::UNIT, field::PROVISIONING, field::QUEUE_RATE, field::QUEUE_BURST][..]
            }
            _ => &[
                field::QUEUE_SHAPED,
                field::QUEUE_SCHEDULED,
                field::FLOW_CONTROL,
                field::QUEUE_PRIORITY,
                field::QUEUE_MIN_PRIORITY,
                field::QUEUE_WEIGHT,
                field::QUEUE_GUARANTEED,
                field::QUEUE_NODE,
            ],
        };
        let scheduling = if fixed == Fixed::QueueScheduling { given.clone() } else { Row::new() };
        if is_set(&scheduling, field::QUEUE_GUARANTEED) == Some(true) {
            let why = "`min_rate_enable` is false on this switch: queues have no guaranteed rate";
            return Err(Failure::unimplemented(why));
        }
        if given.get(&field::FLOW_CONTROL) == Some(&Datum::text("CREDIT")) {
            let why = "mode CREDIT is documented nowhere outside the vendor (unit of a credit, whether \
                       it adds or replaces, what an underrun does): `advanced_flow_control` is XOFF";
            return Err(Failure::unimplemented(why));
        }
        if let Some(id) = given.keys().find(|id| !known.contains(id)) {
            let name = table.fields.iter().find(|field| field.id == *id);
            let name = name.map_or("", |field| field.name.as_str());
            let why = format!("`{name}` of `{}`: queues have no such setting here", table.name);
            return Err(Failure::unimplemented(why));
        }
        let row = self.merged(table, &key, given);
        let (rates, enables) = match fixed {
            Fixed::QueueShaping => (row.clone(), self.row_of(Fixed::QueueScheduling, &key)),
            _ => (self.row_of(Fixed::QueueShaping, &key), row.clone()),
        };
        let mut setting =
            QueueSetting { port: Some(port), priority: Some(queue), ..QueueSetting::default() };
        setting.weight = number_in(&scheduling, field::QUEUE_WEIGHT).map(|weight| weight as u16);
        setting.level = level(&scheduling, field::QUEUE_PRIORITY);
        setting.node = number_in(&scheduling, field::QUEUE_NODE).map(|node| node as u8);
        setting.paused = is_set(&enables, field::QUEUE_SCHEDULED).map(|scheduled| !scheduled);
        if let Some(enabled) = is_set(&enables, field::QUEUE_SHAPED) {
            let rate = number_in(&rates, field::QUEUE_RATE);
            let rate = if enabled { rate } else { Some(0) };
            let rate = rate.ok_or_else(|| {
                let why = format!("queue {key:?} has no `max_rate` in `sched_shaping` yet");
                Failure::invalid(why)
            })?;
            let in_packets = rates.get(&field::UNIT) == Some(&Datum::text("PPS"));
            let bits = if in_packets { 0 } else { rate.saturating_mul(1_000) };
            setting.packets_per_second = Some(if in_packets { rate } else { 0 });
            setting.bits_per_second = Some(bits);
        }
        self.apply(&Operation::SetQueue(setting))?;
        self.keep(table, key, Some(row));
        Ok(())
    }
}

/// Whether a port recirculates its packets.
pub fn recirculates(port: u16, chip: &DeviceTables) -> bool {
    chip.recirculating.contains(&port)
}

//! Updates of mirror sessions and multicast groups.

use super::{Verb, Writer};
use crate::bfrt::device_tables::{Fixed, field};
use crate::bfrt::fields::{Datum, Row, is_set, number_in, numbers_in};
use crate::bfrt::schema::{Kind, Table};
use crate::bfrt::store::Entry;
use crate::failure::Failure;
use sojourn_control::{MirrorSession, MulticastGroup, MulticastNode, Operation, SessionDirection};
use tonic::Code;

/// Value of a 32-bit field.
fn number(row: &Row, id: u32) -> Option<u32> {
    number_in(row, id).and_then(|value| u32::try_from(value).ok())
}

fn on(row: &Row, id: u32) -> bool {
    is_set(row, id) == Some(true)
}

fn short(value: u32, what: &str) -> Result<u16, Failure> {
    u16::try_from(value).map_err(|_| Failure::invalid(format!("there is no {what} {value}")))
}

/// Rejects a feature that the switch lacks.
fn refuse(asked: bool, what: &str) -> Result<(), Failure> {
    match asked {
        true => Err(Failure::unimplemented(format!("{what}: not on this switch"))),
        false => Ok(()),
    }
}

impl Writer<'_> {
    pub(super) fn mirror(
        &mut self,
        table: &Table,
        verb: Verb,
        key: Vec<u64>,
        given: Row,
    ) -> Result<(), Failure> {
        let session = short(key.first().copied().unwrap_or(0) as u32, "mirror session")?;
        let before = self.store.entry(table.id, &key);
        verb.check(before.is_some(), || format!("mirror session {session}"))?;
        let enabled = before.is_some_and(|entry| on(&entry.row, field::SESSION_ENABLE));
        if verb == Verb::Delete {
            if enabled {
                self.apply(&Operation::RemoveMirrorSession { session })?;
            }
            self.keep(table, key, None);
            return Ok(());
        }
        let row = self.merged(table, &key, given);
        refuse(on(&row, field::GROUP_B_VALID), "`$mcast_grp_b`")?;
        refuse(on(&row, field::COPY_TO_CPU), "`$copy_to_cpu` of a mirror session")?;
        let direction = match row.get(&field::DIRECTION) {
            Some(Datum::Text(text)) if text == "INGRESS" => SessionDirection::Ingress,
            Some(Datum::Text(text)) if text == "BOTH" => SessionDirection::Both,
            Some(_) => SessionDirection::Egress,
            None => {
                let why = format!("mirror session {session} has no `$direction`");
                return Err(Failure::invalid(why));
            }
        };
        let to = |valid, id| match on(&row, valid) {
            true => number(&row, id).map(|value| short(value, "port")).transpose(),
            false => Ok(None),
        };
        let queue = number(&row, field::EGRESS_QUEUE).unwrap_or(0);
        let made = MirrorSession {
            session,
            direction,
            port: to(field::EGRESS_PORT_VALID, field::EGRESS_PORT)?,
            group: to(field::GROUP_A_VALID, field::GROUP_A)?,
            queue: u8::try_from(queue)
                .map_err(|_| Failure::invalid(format!("there is no queue {queue}")))?,
            max_length: number(&row, field::MAX_LENGTH).filter(|length| *length > 0),
        };
        match (on(&row, field::SESSION_ENABLE), enabled) {
            (true, _) => drop(self.apply(&Operation::SetMirrorSession(made))?),
            (false, true) => drop(self.apply(&Operation::RemoveMirrorSession { session })?),
            (false, false) => {}
        }
        self.keep(table, key, Some(row));
        Ok(())
    }

    /// Id of the fixed table of another kind.
    pub(super) fn other(&self, wanted: Fixed) -> u32 {
        let mut all = self.schema.tables.values();
        all.find(|table| table.kind == Kind::Fixed(wanted)).map_or(0, |table| table.id)
    }

    pub(super) fn multicast_group(
        &mut self,
        table: &Table,
        verb: Verb,
        key: Vec<u64>,
        given: Row,
    ) -> Result<(), Failure> {
        let group = short(key.first().copied().unwrap_or(0) as u32, "multicast group")?;
        let before = self.store.entry(table.id, &key);
        verb.check(before.is_some(), || format!("multicast group {group}"))?;
        if verb == Verb::Delete {
            self.apply(&Operation::RemoveMulticastGroup { group })?;
            self.keep(table, key, None);
            return Ok(());
        }
        refuse(!numbers_in(&given, field::ECMPS).is_empty(), "`$MULTICAST_ECMP_ID`")?;
        let pruned = matches!(given.get(&field::NODE_XIDS_VALID),
            Some(Datum::Bools(all)) if all.contains(&true));
        refuse(pruned, "`$MULTICAST_NODE_L1_XID_VALID`")?;
        let mut nodes =
            before.map(|entry| numbers_in(&entry.row, field::NODES)).unwrap_or_default();
        change(&mut nodes, verb, &given, field::NODES);
        let table_of_nodes = self.other(Fixed::Node);
        let missing =
            nodes.iter().find(|node| self.store.entry(table_of_nodes, &[**node as u64]).is_none());
        if let Some(node) = missing {
            return Err(Failure::new(Code::NotFound, format!("there is no multicast node {node}")));
        }
        self.set_group(group, &nodes)?;
        self.keep(table, key, Some(group_row(nodes)));
        Ok(())
    }

    pub(super) fn replication_port(
        &mut self,
        table: &Table,
        verb: Verb,
        key: Vec<u64>,
        given: Row,
    ) -> Result<(), Failure> {
        let port = key.first().copied().unwrap_or(0);
        let known = self.batch.switch().statistics().ports;
        if !known.iter().any(|known| u64::from(known.port.0) == port) {
            let why = format!("this switch has no port {port}");
            return Err(Failure::new(Code::NotFound, why));
        }
        let given = if matches!(verb, Verb::Delete | Verb::Reset) { Row::new() } else { given };
        refuse(given.contains_key(&field::BACKUP_PORT), "`$MULTICAST_BACKUP_PORT`")?;
        let stopped = is_set(&given, field::FORWARDS) == Some(false);
        refuse(stopped, "`$MULTICAST_FORWARD_STATE` of a port that copies do not go to")?;
        let before = self.store.entry(table.id, &key);
        let was = before.is_some_and(|entry| on(&entry.row, field::TO_CPU));
        let becomes = is_set(&given, field::TO_CPU).unwrap_or(was && !given.is_empty());
        if becomes != was {
            let to = becomes.then_some(short(port as u32, "port")?);
            self.apply(&Operation::SetCpuPort { port: to })?;
            // There is one such port.
            for other in self.store.keys(table.id) {
                self.keep(table, other, None);
            }
        }
        let row = becomes.then(|| Row::from([(field::TO_CPU, Datum::Bool(true))]));
        self.keep(table, key, row);
        Ok(())
    }

    fn set_group(&mut self, group: u16, nodes: &[u32]) -> Result<(), Failure> {
        let table = self.other(Fixed::Node);
        let node = |id: &u32| {
            let row = &self.store.entry(table, &[u64::from(*id)])?.row;
            let ports = numbers_in(row, field::NODE_PORTS);
            let ports = ports.into_iter().filter_map(|port| u16::try_from(port).ok()).collect();
            let rid = number(row, field::NODE_RID).unwrap_or(0) as u16;
            Some(MulticastNode { rid, ports })
        };
        let nodes = nodes.iter().filter_map(node).collect();
        self.apply(&Operation::SetMulticastGroup(MulticastGroup { id: group, nodes }))?;
        Ok(())
    }

    pub(super) fn node(
        &mut self,
        table: &Table,
        verb: Verb,
        key: Vec<u64>,
        given: Row,
    ) -> Result<(), Failure> {
        let node = key.first().copied().unwrap_or(0) as u32;
        let before = self.store.entry(table.id, &key);
        verb.check(before.is_some(), || format!("multicast node {node}"))?;
        refuse(!numbers_in(&given, field::NODE_LAGS).is_empty(), "`$MULTICAST_LAG_ID`")?;
        let mut ports =
            before.map(|entry| numbers_in(&entry.row, field::NODE_PORTS)).unwrap_or_default();
        let was = before.cloned();
        change(&mut ports, verb, &given, field::NODE_PORTS);
        for port in &ports {
            short(*port, "port")?;
        }
        let row = (verb != Verb::Delete).then(|| {
            let mut row = self.merged(table, &key, given);
            row.insert(field::NODE_PORTS, Datum::Numbers(ports));
            row
        });
        let is_gone = row.is_none();
        self.keep(table, key.clone(), row);
        let done = self.renew_groups(node, is_gone);
        if done.is_err() {
            self.store.set(table.id, key, was);
        }
        done
    }

    /// Updates the groups that contain a node.
    fn renew_groups(&mut self, node: u32, is_gone: bool) -> Result<(), Failure> {
        let table = self.other(Fixed::Group);
        let groups: Vec<(Vec<u64>, Vec<u32>)> = self
            .store
            .entries(table)
            .map(|(key, entry)| (key.clone(), numbers_in(&entry.row, field::NODES)))
            .filter(|(_, nodes)| nodes.contains(&node))
            .collect();
        for (key, mut nodes) in groups {
            if is_gone {
                nodes.retain(|other| *other != node);
            }
            self.set_group(key.first().copied().unwrap_or(0) as u16, &nodes)?;
            self.store.set(table, key, Some(Entry { action: 0, row: group_row(nodes) }));
        }
        Ok(())
    }
}

/// Row of a group of these nodes, without ECMP.
fn group_row(nodes: Vec<u32>) -> Row {
    Row::from([
        (field::ECMPS, Datum::Numbers(Vec::new())),
        (field::ECMP_XIDS_VALID, Datum::Bools(Vec::new())),
        (field::ECMP_XIDS, Datum::Numbers(Vec::new())),
        (field::NODE_XIDS_VALID, Datum::Bools(vec![false; nodes.len()])),
        (field::NODE_XIDS, Datum::Numbers(vec![0; nodes.len()])),
        (field::NODES, Datum::Numbers(nodes)),
    ])
}

/// Applies an update to a list.
fn change(list: &mut Vec<u32>, verb: Verb, given: &Row, id: u32) {
    let named = numbers_in(given, id);
    match verb {
        Verb::Add => {
            list.retain(|known| !named.contains(known));
            list.extend(named);
        }
        Verb::Remove => list.retain(|known| !named.contains(known)),
        _ if given.contains_key(&id) => *list = named,
        _ => {}
    }
}

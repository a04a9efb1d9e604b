//! Updates of multicast groups and clone sessions.
//!
//! A session with several copies, or with an instance other than 0, copies to a hidden multicast
//! group.

use super::Writer;
use super::profiles::exists;
use crate::failure::Failure;
use crate::p4runtime::bytes::unsigned;
use crate::p4runtime::schema::Schema;
use crate::p4runtime::store::Store;
use crate::wire::p4::v1 as p4;
use crate::wire::p4::v1::replica::PortKind;
use crate::wire::p4::v1::update::Type;
use sojourn_control::{MirrorSession, MulticastGroup, MulticastNode, Operation, SessionDirection};
use sojourn_engine::control::Transaction;
use sojourn_packet::Time;
use sojourn_switch::Switch;
use std::collections::{BTreeMap, BTreeSet};

/// Last id of a multicast group or clone session; hidden groups have higher ones.
const LAST: u32 = 0x7fff;
/// Bit of hidden groups' ids.
const HIDDEN: u16 = 0x8000;
/// Number of classes of service.
const CLASSES: u32 = 8;
/// Port number of the controller in P4Runtime.
const CPU: u32 = 0xffff_fffd;

/// A port of the switch.
///
/// # Errors
/// There is no such port.
pub(super) fn port(bytes: &[u8], cpu: Option<u16>) -> Result<u16, Failure> {
    let number = unsigned(bytes, 32).map_err(Failure::invalid)?;
    let number = number.iter_u32_digits().next().unwrap_or(0);
    old(number, cpu)
}

fn old(number: u32, cpu: Option<u16>) -> Result<u16, Failure> {
    let wrong = || Failure::invalid(format!("there is no port {number}"));
    match (number, cpu) {
        (CPU, Some(cpu)) => Ok(cpu),
        _ => u16::try_from(number).map_err(|_| wrong()),
    }
}

/// A copy: its first port, and the alternatives if that is down.
struct Copy {
    instance: u16,
    ports: Vec<(u16, u16)>,
}

fn copies(replicas: &[p4::Replica], cpu: Option<u16>) -> Result<Vec<Copy>, Failure> {
    let mut seen = BTreeSet::new();
    let instance = |instance: u32| {
        let wrong = |_| Failure::invalid(format!("an instance has 16 bits; {instance} has more"));
        u16::try_from(instance).map_err(wrong)
    };
    let mut all = Vec::with_capacity(replicas.len());
    for replica in replicas {
        let first = match &replica.port_kind {
            Some(PortKind::Port(bytes)) => port(bytes, cpu)?,
            #[allow(deprecated)]
            Some(PortKind::EgressPort(number)) => old(*number, cpu)?,
            None => return Err(Failure::invalid("a replica without a port")),
        };
        let mut ports = vec![(first, instance(replica.instance)?)];
        for backup in &replica.backup_replicas {
            let backup = (port(&backup.port, cpu)?, instance(backup.instance)?);
            if backup.0 == first {
                return Err(Failure::invalid(format!("a replica and its backup at port {first}")));
            }
            ports.push(backup);
        }
        if let Some((port, instance)) = ports.iter().find(|one| !seen.insert(**one)) {
            let why = format!("port {port} with instance {instance} is there twice");
            return Err(Failure::invalid(why));
        }
        all.push(Copy { instance: ports[0].1, ports });
    }
    Ok(all)
}

/// Nodes of a group, each at the first of its ports that is up; at the very first if none is.
fn nodes(copies: &[Copy], store: &Store) -> Vec<MulticastNode> {
    let mut by_instance: BTreeMap<u16, Vec<u16>> = BTreeMap::new();
    for copy in copies {
        let up = copy.ports.iter().find(|(port, _)| !store.down.contains(port));
        let (port, instance) = *up.unwrap_or(&copy.ports[0]);
        by_instance.entry(instance).or_default().push(port);
    }
    let node = |(rid, ports)| MulticastNode { rid, ports };
    by_instance.into_iter().map(node).collect()
}

fn in_range(id: u32, what: &str) -> Result<u16, Failure> {
    match id {
        1..=LAST => Ok(id as u16),
        _ => Err(Failure::invalid(format!("a {what} has a number from 1 to {LAST}, not {id}"))),
    }
}

impl Writer<'_> {
    /// An update of a multicast group.
    pub(super) fn multicast(
        &mut self,
        kind: Type,
        given: &p4::MulticastGroupEntry,
    ) -> Result<(), Failure> {
        let id = given.multicast_group_id;
        let group = in_range(id, "multicast group")?;
        exists(kind, self.store.multicast.contains_key(&id), "multicast group", id)?;
        if kind == Type::Delete {
            self.apply(&Operation::RemoveMulticastGroup { group })?;
            self.store.set_multicast(id, None);
            return Ok(());
        }
        let copies = copies(&given.replicas, self.cpu)?;
        let nodes = nodes(&copies, self.store);
        self.apply(&Operation::SetMulticastGroup(MulticastGroup { id: group, nodes }))?;
        self.store.set_multicast(id, Some(given.clone()));
        Ok(())
    }

    /// An update of a clone session.
    pub(super) fn clone_session(
        &mut self,
        kind: Type,
        given: &p4::CloneSessionEntry,
    ) -> Result<(), Failure> {
        let id = given.session_id;
        let session = in_range(id, "clone session")?;
        let before = self.store.clones.get(&id);
        exists(kind, before.is_some(), "clone session", id)?;
        let had_group = before.map(|before| copies(&before.replicas, self.cpu)).transpose()?;
        let had_group = had_group.is_some_and(|copies| alone(&copies).is_none());
        if kind == Type::Delete {
            self.apply(&Operation::RemoveMirrorSession { session })?;
            if had_group {
                self.apply(&Operation::RemoveMulticastGroup { group: HIDDEN | session })?;
            }
            self.store.set_clone(id, None);
            return Ok(());
        }
        if given.class_of_service >= CLASSES {
            let why = format!("there are classes of service 0 to {}", CLASSES - 1);
            return Err(Failure::invalid(why));
        }
        let max_length = match u32::try_from(given.packet_length_bytes) {
            Ok(0) => None,
            Ok(length) => Some(length),
            Err(_) => return Err(Failure::invalid("a length that is negative")),
        };
        let copies = copies(&given.replicas, self.cpu)?;
        self.set_session(session, &copies, given.class_of_service as u8, max_length)?;
        if had_group && alone(&copies).is_some() {
            self.apply(&Operation::RemoveMulticastGroup { group: HIDDEN | session })?;
        }
        self.store.set_clone(id, Some(given.clone()));
        Ok(())
    }

    fn set_session(
        &mut self,
        session: u16,
        copies: &[Copy],
        queue: u8,
        max_length: Option<u32>,
    ) -> Result<(), Failure> {
        let (port, group) = match alone(copies) {
            Some(port) => (Some(port), None),
            None => {
                let group = HIDDEN | session;
                let nodes = nodes(copies, self.store);
                self.apply(&Operation::SetMulticastGroup(MulticastGroup { id: group, nodes }))?;
                (None, Some(group))
            }
        };
        let direction = SessionDirection::Both;
        let given = MirrorSession { session, direction, port, group, queue, max_length };
        self.apply(&Operation::SetMirrorSession(given)).map(|_| ())
    }

    /// Redirects copies to ports that are up.
    fn reroute(&mut self) -> Result<(), Failure> {
        let mut groups = Vec::new();
        for (id, group) in &self.store.multicast {
            groups.push((*id as u16, copies(&group.replicas, self.cpu)?));
        }
        for (id, session) in &self.store.clones {
            let copies = copies(&session.replicas, self.cpu)?;
            if alone(&copies).is_none() {
                groups.push((HIDDEN | *id as u16, copies));
            }
        }
        for (id, copies) in groups {
            if copies.iter().any(|copy| copy.ports.len() > 1) {
                let nodes = nodes(&copies, self.store);
                self.apply(&Operation::SetMulticastGroup(MulticastGroup { id, nodes }))?;
            }
        }
        Ok(())
    }
}

/// The port of a single copy that needs no group.
fn alone(copies: &[Copy]) -> Option<u16> {
    match copies {
        [Copy { instance: 0, ports }] if ports.len() == 1 => Some(ports[0].0),
        _ => None,
    }
}

/// Redirects copies after ports went up or down.
pub fn reroute(
    (schema, store): (&Schema, &mut Store),
    (switch, now): (&mut Switch, Time),
    cpu: Option<u16>,
) -> Result<(), Failure> {
    let batch = Transaction::lasting(switch, now);
    let mut writer = Writer { schema, store, batch, now, cpu };
    writer.rewatch()?;
    writer.reroute()
}

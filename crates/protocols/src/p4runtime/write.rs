//! Execution of updates on a switch: each atomic, a batch by its atomicity.
//!
//! An update becomes operations, which are applied at once, and state that the program does not
//! hold goes into the store. Runs in the switch's thread; must not depend on the transport.

pub(super) mod counters_registers;
mod digests;
mod direct;
mod entries;
mod meters;
mod profiles;
mod replication;
mod value_sets;

pub use replication::reroute;

use super::role_access::Access;
use super::schema::Schema;
use super::store::Store;
use crate::failure::Failure;
use crate::wire::p4::v1 as p4;
use crate::wire::p4::v1::entity::Entity;
use crate::wire::p4::v1::packet_replication_engine_entry::Type as Replicated;
use crate::wire::p4::v1::update::Type;
use crate::wire::p4::v1::write_request::Atomicity;
use sojourn_control::Operation;
use sojourn_engine::control::{Transaction, program};
use sojourn_p4::interp::Tables;
use sojourn_packet::Time;
use sojourn_switch::Switch;
use tonic::Code;

/// Context of an update.
pub struct Writer<'a> {
    pub(super) schema: &'a Schema,
    pub(super) store: &'a mut Store,
    pub(super) batch: Transaction<'a>,
    pub(super) now: Time,
    /// The port of the controller.
    pub(super) cpu: Option<u16>,
}

/// Executes updates one by one; returns the result of each.
pub fn each(
    (schema, store): (&Schema, &mut Store),
    (switch, now): (&mut Switch, Time),
    (access, cpu): (Option<&Access>, Option<u16>),
    updates: &[p4::Update],
) -> Vec<Result<(), Failure>> {
    let batch = Transaction::lasting(switch, now);
    let mut writer = Writer { schema, store, batch, now, cpu };
    updates.iter().map(|update| writer.update(update, access)).collect()
}

/// Executes all updates or none, between two packets; returns the result of each.
pub fn all(
    (schema, store): (&Schema, &mut Store),
    (switch, now): (&mut Switch, Time),
    (access, cpu): (Option<&Access>, Option<u16>),
    updates: &[p4::Update],
) -> Vec<Result<(), Failure>> {
    store.begin();
    let batch = Transaction::begin(switch, now);
    let mut writer = Writer { schema, store, batch, now, cpu };
    for (at, update) in updates.iter().enumerate() {
        let Err(failure) = writer.update(update, access) else { continue };
        writer.batch.roll_back();
        store.roll_back();
        let why = format!("nothing was done because update {} failed", at + 1);
        let mut results = vec![Err(Failure::new(Code::Aborted, why)); updates.len()];
        results[at] = Err(failure);
        return results;
    }
    store.commit();
    vec![Ok(()); updates.len()]
}

/// Whether a batch may be executed in pieces.
pub fn in_pieces(atomicity: Atomicity) -> bool {
    atomicity == Atomicity::ContinueOnError
}

/// Rejects every change but a modification of an object that always exists.
fn only_modify(kind: Type, what: &str) -> Result<(), Failure> {
    match kind {
        Type::Modify => Ok(()),
        _ => Err(Failure::invalid(format!("{what} is always there: it can only be modified"))),
    }
}

impl Writer<'_> {
    fn update(&mut self, update: &p4::Update, access: Option<&Access>) -> Result<(), Failure> {
        let kind = update.r#type();
        if kind == Type::Unspecified {
            return Err(Failure::invalid(
                "an update inserts, modifies or deletes; this one is unset",
            ));
        }
        let entity = update.entity.as_ref().and_then(|entity| entity.entity.as_ref());
        let entity = entity.ok_or_else(|| Failure::invalid("an update without an entity"))?;
        if access.is_some_and(|access| !access.covers(entity)) {
            let why = "this is none of the objects of the controller's role";
            return Err(Failure::new(Code::PermissionDenied, why));
        }
        match entity {
            Entity::TableEntry(entry) => self.table_entry(kind, entry),
            Entity::ActionProfileMember(member) => self.member(kind, member),
            Entity::ActionProfileGroup(group) => self.group(kind, group),
            Entity::MeterEntry(meter) => {
                only_modify(kind, "a cell of a meter")?;
                self.meter(meter)
            }
            Entity::DirectMeterEntry(meter) => {
                only_modify(kind, "a direct meter")?;
                self.direct_meter(meter)
            }
            Entity::CounterEntry(counter) => {
                only_modify(kind, "a cell of a counter")?;
                self.counter(counter)
            }
            Entity::DirectCounterEntry(counter) => {
                only_modify(kind, "a direct counter")?;
                self.direct_counter(counter)
            }
            Entity::PacketReplicationEngineEntry(entry) => match &entry.r#type {
                Some(Replicated::MulticastGroupEntry(group)) => self.multicast(kind, group),
                Some(Replicated::CloneSessionEntry(session)) => self.clone_session(kind, session),
                None => Err(Failure::invalid("neither a multicast group nor a clone session")),
            },
            Entity::ValueSetEntry(set) => {
                only_modify(kind, "a value set")?;
                self.value_set(set)
            }
            Entity::RegisterEntry(register) => {
                only_modify(kind, "a cell of a register")?;
                self.register(register)
            }
            Entity::DigestEntry(digest) => self.digest(kind, digest),
            Entity::ExternEntry(_) => {
                Err(Failure::unimplemented("no extern has entries of its own here"))
            }
        }
    }

    fn apply(&mut self, operation: &Operation) -> Result<Option<u32>, Failure> {
        Ok(self.batch.apply(operation)?)
    }

    fn tables(&mut self) -> Result<&mut Tables, Failure> {
        Ok(program(self.batch.switch())?.tables())
    }
}

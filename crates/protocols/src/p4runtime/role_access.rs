//! Access rights of a role, in the format of Stratum's controllers (`P4RoleConfig`).

use crate::failure::Failure;
use crate::wire::p4::v1 as p4;
use crate::wire::p4::v1::entity::Entity;
use prost::Message;
use prost_types::Any;
use std::collections::BTreeSet;

/// `stratum.P4RoleConfig`.
#[derive(Clone, PartialEq, Message)]
struct RoleConfig {
    #[prost(uint32, repeated, tag = "1")]
    exclusive: Vec<u32>,
    #[prost(uint32, repeated, tag = "2")]
    shared: Vec<u32>,
    #[prost(message, optional, tag = "3")]
    filter: Option<PacketFilter>,
    #[prost(bool, tag = "4")]
    receives: bool,
    #[prost(bool, tag = "5")]
    pushes: bool,
}

/// `stratum.P4RoleConfig.PacketFilter`.
#[derive(Clone, PartialEq, Message)]
struct PacketFilter {
    #[prost(uint32, tag = "1")]
    metadata: u32,
    #[prost(bytes = "vec", tag = "2")]
    value: Vec<u8>,
}

/// Permissions of a role.
#[derive(Clone, Debug, PartialEq)]
pub struct Access {
    /// Unparsed form.
    pub given: Any,
    /// Ids of its objects; all if empty.
    objects: BTreeSet<u32>,
    /// Field and value of the packets that it receives.
    filter: Option<(u32, Vec<u8>)>,
    /// True if it receives packets.
    pub receives_packets: bool,
    /// True if it may set the pipeline.
    pub sets_pipeline: bool,
}

impl Access {
    /// Parses the configuration of a role.
    ///
    /// # Errors
    /// The configuration has another type.
    pub fn read(given: &Any) -> Result<Access, Failure> {
        let name = given.type_url.rsplit('/').next().unwrap_or_default();
        if name != "stratum.P4RoleConfig" {
            let why = format!("a role is configured by `stratum.P4RoleConfig`, not by `{name}`");
            return Err(Failure::invalid(why));
        }
        let config = RoleConfig::decode(given.value.as_slice()).map_err(Failure::invalid)?;
        Ok(Access {
            given: given.clone(),
            objects: config.exclusive.into_iter().chain(config.shared).collect(),
            filter: config.filter.map(|filter| (filter.metadata, filter.value)),
            receives_packets: config.receives,
            sets_pipeline: config.pushes,
        })
    }

    /// Whether a role may access the object with this id.
    pub fn has(&self, id: u32) -> bool {
        self.objects.is_empty() || self.objects.contains(&id)
    }

    /// Whether an entity belongs to one of the role's objects.
    pub fn covers(&self, entity: &Entity) -> bool {
        let of = |entry: &Option<p4::TableEntry>| entry.as_ref().map_or(0, |entry| entry.table_id);
        let id = match entity {
            Entity::TableEntry(entry) => entry.table_id,
            Entity::ActionProfileMember(member) => member.action_profile_id,
            Entity::ActionProfileGroup(group) => group.action_profile_id,
            Entity::MeterEntry(meter) => meter.meter_id,
            Entity::DirectMeterEntry(meter) => of(&meter.table_entry),
            Entity::CounterEntry(counter) => counter.counter_id,
            Entity::DirectCounterEntry(counter) => of(&counter.table_entry),
            Entity::ValueSetEntry(set) => set.value_set_id,
            Entity::RegisterEntry(register) => register.register_id,
            Entity::DigestEntry(digest) => digest.digest_id,
            // Entities of the switch, which are not among a program's objects.
            Entity::PacketReplicationEngineEntry(_) | Entity::ExternEntry(_) => 0,
        };
        self.has(id)
    }

    /// Whether the role receives a packet.
    pub fn wants(&self, packet: &p4::PacketIn) -> bool {
        let fits = |(id, value): &(u32, Vec<u8>)| {
            let mut fields = packet.metadata.iter();
            fields.any(|field| field.metadata_id == *id && field.value == *value)
        };
        self.receives_packets && self.filter.as_ref().is_none_or(fits)
    }
}

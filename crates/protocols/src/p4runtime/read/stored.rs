//! Answers from the store: objects that a controller writes and no program holds.
//!
//! Must not depend on the switch.

use crate::p4runtime::role_access::Access;
use crate::p4runtime::store::Store;
use crate::wire::p4::v1 as p4;
use crate::wire::p4::v1::entity::Entity;
use crate::wire::p4::v1::packet_replication_engine_entry::Type as Replicated;

/// Stored entities that a wanted one names and the role may read. An id of 0 stands for all.
pub(super) fn entities(store: &Store, access: Option<&Access>, wanted: &Entity) -> Vec<Entity> {
    let may = |id: u32| access.is_none_or(|access| access.has(id));
    match wanted {
        Entity::ActionProfileMember(wanted) => {
            let all = store.members.iter().filter(|((profile, member), _)| {
                named(wanted.action_profile_id, *profile)
                    && named(wanted.member_id, *member)
                    && may(*profile)
            });
            all.map(|(_, member)| Entity::ActionProfileMember(member.clone())).collect()
        }
        Entity::ActionProfileGroup(wanted) => {
            let all = store.groups.iter().filter(|((profile, group), _)| {
                named(wanted.action_profile_id, *profile)
                    && named(wanted.group_id, *group)
                    && may(*profile)
            });
            all.map(|(_, group)| Entity::ActionProfileGroup(group.clone())).collect()
        }
        Entity::ValueSetEntry(wanted) => {
            let value_set_id = wanted.value_set_id;
            let members = store.value_sets.get(&value_set_id).cloned().unwrap_or_default();
            vec![Entity::ValueSetEntry(p4::ValueSetEntry { value_set_id, members })]
        }
        Entity::DigestEntry(wanted) => {
            let all = store.digests.iter();
            let all = all.filter(|(id, _)| named(wanted.digest_id, **id) && may(**id));
            let entity = |(id, config): (&u32, &p4::digest_entry::Config)| {
                let config = Some(*config);
                Entity::DigestEntry(p4::DigestEntry { digest_id: *id, config })
            };
            all.map(entity).collect()
        }
        Entity::PacketReplicationEngineEntry(wanted) => replicated(store, wanted),
        _ => Vec::new(),
    }
}

/// Multicast groups or clone sessions.
fn replicated(store: &Store, wanted: &p4::PacketReplicationEngineEntry) -> Vec<Entity> {
    let entity = |one| {
        let entry = p4::PacketReplicationEngineEntry { r#type: Some(one) };
        Entity::PacketReplicationEngineEntry(entry)
    };
    match &wanted.r#type {
        Some(Replicated::MulticastGroupEntry(wanted)) => {
            let all = store.multicast.iter();
            let all = all.filter(|(id, _)| named(wanted.multicast_group_id, **id));
            all.map(|(_, group)| entity(Replicated::MulticastGroupEntry(group.clone()))).collect()
        }
        Some(Replicated::CloneSessionEntry(wanted)) => {
            let all = store.clones.iter().filter(|(id, _)| named(wanted.session_id, **id));
            all.map(|(_, session)| entity(Replicated::CloneSessionEntry(session.clone()))).collect()
        }
        None => Vec::new(),
    }
}

/// Whether a wanted id names an id: it is equal, or 0.
fn named(wanted: u32, id: u32) -> bool {
    wanted == 0 || wanted == id
}

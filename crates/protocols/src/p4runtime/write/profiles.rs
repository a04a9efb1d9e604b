//! Updates of members and groups of action profiles, and of one-shot groups.

use super::Writer;
use crate::failure::Failure;
use crate::p4runtime::schema::{Profile, Table};
use crate::p4runtime::store::{OWN, OneShot, Reference, Store};
use crate::wire::p4::config::v1::action_ref::Scope;
use crate::wire::p4::v1 as p4;
use crate::wire::p4::v1::action_profile_action_set::{ActionSelectionMode, SizeSemantics};
use crate::wire::p4::v1::update::Type;
use sojourn_control::{Operation, ProfileEntries, ProfileMember};
use tonic::Code;

/// Maximum size of a group, with weights counted.
const MOST: i64 = 65_536;

/// A member of a group as the selector needs it, with its weight.
#[derive(Clone, Debug)]
struct WeightedMember {
    member: u32,
    weight: i32,
    watch: Option<u16>,
}

impl Writer<'_> {
    /// An update of a member.
    pub(super) fn member(
        &mut self,
        kind: Type,
        given: &p4::ActionProfileMember,
    ) -> Result<(), Failure> {
        let key = (given.action_profile_id, given.member_id);
        let schema = self.schema;
        let profile = schema.profile(key.0)?;
        number(key.1, "member")?;
        exists(kind, self.store.members.contains_key(&key), "member", key.1)?;
        if kind == Type::Delete {
            let in_group = |group: &p4::ActionProfileGroup| {
                group.members.iter().any(|member| member.member_id == key.1)
            };
            let of_profile = self.store.groups.iter().filter(|((id, _), _)| *id == key.0);
            let used = of_profile.into_iter().any(|(_, group)| in_group(group))
                || referred(self.store, profile, &Reference::Member(key.1));
            if used {
                return Err(Failure::new(Code::FailedPrecondition, "the member is in use"));
            }
            let (profile, member) = (profile.name.clone(), key.1);
            self.apply(&Operation::DeleteMember { profile, member })?;
            self.store.set_member(key, None);
            return Ok(());
        }
        if kind == Type::Insert {
            let members = self.store.members.range((key.0, 0)..=(key.0, u32::MAX)).count();
            if profile.size > 0 && members as i64 >= profile.size {
                let why = format!("`{}` has room for {} members", profile.name, profile.size);
                return Err(Failure::new(Code::ResourceExhausted, why));
            }
            self.exclusive_profile(profile, false)?;
        }
        let action = given.action.as_ref();
        let action = action.ok_or_else(|| Failure::invalid("a member needs an action"))?;
        let member = self.profile_member(profile, key.1, action)?;
        self.set_profile(profile, vec![member], Vec::new())?;
        self.store.set_member(key, Some(given.clone()));
        Ok(())
    }

    /// An update of a group.
    pub(super) fn group(
        &mut self,
        kind: Type,
        given: &p4::ActionProfileGroup,
    ) -> Result<(), Failure> {
        let key = (given.action_profile_id, given.group_id);
        let schema = self.schema;
        let profile = schema.profile(key.0)?;
        number(key.1, "group")?;
        if !profile.selector {
            return Err(Failure::invalid(format!("`{}` is no selector: no groups", profile.name)));
        }
        let before = self.store.groups.get(&key);
        exists(kind, before.is_some(), "group", key.1)?;
        if kind == Type::Delete {
            if referred(self.store, profile, &Reference::Group(key.1)) {
                return Err(Failure::new(Code::FailedPrecondition, "the group is in use"));
            }
            let (profile, group) = (profile.name.clone(), key.1);
            self.apply(&Operation::DeleteGroup { profile, group })?;
            self.store.set_group(key, None);
            return Ok(());
        }
        if before.is_some_and(|before| before.max_size != given.max_size) {
            return Err(Failure::invalid("`max_size` of a group cannot be changed"));
        }
        max_size(profile, given.max_size)?;
        if kind == Type::Insert {
            self.exclusive_profile(profile, false)?;
        }
        let mut weighed = Vec::with_capacity(given.members.len());
        for member in &given.members {
            if !self.store.members.contains_key(&(key.0, member.member_id)) {
                return Err(Failure::no("member", member.member_id));
            }
            if weighed.iter().any(|other: &WeightedMember| other.member == member.member_id) {
                return Err(Failure::invalid(format!(
                    "member {} is there twice",
                    member.member_id
                )));
            }
            let watch = watch_of_member(member)?;
            weighed.push(WeightedMember { member: member.member_id, weight: member.weight, watch });
        }
        let most = if given.max_size > 0 { given.max_size } else { profile.max_group_size };
        check_weights(
            profile,
            profile.of_members,
            &weighed,
            i64::from(most),
            Code::ResourceExhausted,
        )?;
        let places = places(&weighed, self.store);
        self.set_profile(profile, Vec::new(), vec![(key.1, places)])?;
        self.store.set_group(key, Some(given.clone()));
        Ok(())
    }

    /// Adds the actions of an entry as a one-shot group.
    pub(super) fn add_one_shot(
        &mut self,
        table: &Table,
        id: u32,
        set: &p4::ActionProfileActionSet,
    ) -> Result<OneShot, Failure> {
        let schema = self.schema;
        let profile = schema.profile(id)?;
        if set.group_action.is_some() {
            return Err(Failure::unimplemented("a group has no action of its own here"));
        }
        if set.action_selection_mode() == ActionSelectionMode::Random {
            return Err(Failure::unimplemented("a group selects by its hash"));
        }
        let of_members = match set.size_semantics() {
            SizeSemantics::DefaultSizeDeterminedByActionSelector => profile.of_members,
            SizeSemantics::SumOfWeights => None,
            SizeSemantics::SumOfMembers => Some(profile.of_members.unwrap_or(0)),
        };
        let (mut members, mut weighed) = (Vec::new(), Vec::new());
        for one in &set.action_profile_actions {
            let action = one.action.as_ref();
            let action =
                action.ok_or_else(|| Failure::invalid("an action set without an action"))?;
            let call = self.call(table, action, Scope::DefaultOnly)?;
            let member = self.store.own();
            use p4::action_profile_action::WatchKind;
            let watch = match &one.watch_kind {
                Some(WatchKind::WatchPort(port)) => port_of(port)?,
                #[allow(deprecated)]
                Some(WatchKind::Watch(port)) => old_port(*port)?,
                None => None,
            };
            members.push(ProfileMember { id: member, action: call.action, args: call.args });
            weighed.push(WeightedMember { member, weight: one.weight, watch });
        }
        let most = i64::from(profile.max_group_size);
        check_weights(profile, of_members, &weighed, most, Code::InvalidArgument)?;
        let group = self.store.own();
        let ids = members.iter().map(|member| member.id).collect();
        let places = places(&weighed, self.store);
        self.set_profile(profile, members, vec![(group, places)])?;
        Ok(OneShot { set: set.clone(), group, members: ids })
    }

    /// Removes a one-shot group.
    pub(super) fn remove_one_shot(&mut self, id: u32, shot: &OneShot) -> Result<(), Failure> {
        let schema = self.schema;
        let profile = schema.profile(id)?.name.clone();
        self.apply(&Operation::DeleteGroup { profile: profile.clone(), group: shot.group })?;
        for member in &shot.members {
            self.apply(&Operation::DeleteMember { profile: profile.clone(), member: *member })?;
        }
        Ok(())
    }

    /// Checks that a table's selector is used by groups or by one-shot entries only, not both.
    pub(super) fn exclusive(&mut self, table: &Table, one_shot: bool) -> Result<(), Failure> {
        let schema = self.schema;
        match table.implementation {
            Some(profile) => self.exclusive_profile(schema.profile(profile)?, one_shot),
            None => Ok(()),
        }
    }

    fn exclusive_profile(&mut self, profile: &Profile, one_shot: bool) -> Result<(), Failure> {
        let of_profile =
            |id: &u32| self.schema.profiles.get(id).is_some_and(|known| known.name == profile.name);
        let other = if one_shot {
            self.store.members.keys().chain(self.store.groups.keys()).any(|(id, _)| of_profile(id))
        } else {
            let tables = profile.tables.iter();
            // All entries of a table are of one kind, so the first decides.
            let mut firsts = tables.filter_map(|table| self.store.extras_of(*table).next());
            firsts.any(|(_, extras)| matches!(extras.reference, Some(Reference::OneShot(_))))
        };
        if other {
            let why =
                format!("`{}`: either members and groups, or action sets, not both", profile.name);
            return Err(Failure::invalid(why));
        }
        Ok(())
    }

    fn profile_member(
        &mut self,
        profile: &Profile,
        id: u32,
        action: &p4::Action,
    ) -> Result<ProfileMember, Failure> {
        let schema = self.schema;
        let Some(table) = profile.tables.iter().find_map(|table| schema.tables.get(table)) else {
            return Err(Failure::invalid(format!("no table uses `{}`", profile.name)));
        };
        let call = self.call(table, action, Scope::DefaultOnly)?;
        Ok(ProfileMember { id, action: call.action, args: call.args })
    }

    fn set_profile(
        &mut self,
        profile: &Profile,
        members: Vec<ProfileMember>,
        groups: Vec<(u32, Vec<(u32, bool)>)>,
    ) -> Result<(), Failure> {
        let name = profile.name.clone();
        self.apply(&Operation::SetProfile(ProfileEntries { name, members, groups })).map(|_| ())
    }

    /// Sets the members of all groups up or down by the ports that they watch.
    pub(super) fn rewatch(&mut self) -> Result<(), Failure> {
        let schema = self.schema;
        let mut changed = Vec::new();
        for ((profile, id), group) in &self.store.groups {
            let mut weighed = Vec::with_capacity(group.members.len());
            for member in &group.members {
                let (watch, weight) = (watch_of_member(member)?, member.weight);
                weighed.push(WeightedMember { member: member.member_id, weight, watch });
            }
            if weighed.iter().any(|member| member.watch.is_some()) {
                changed.push((*profile, *id, places(&weighed, self.store)));
            }
        }
        for table in schema.tables.values().filter(|table| table.implementation.is_some()) {
            for (_, extras) in self.store.extras_of(table.id) {
                let Some(Reference::OneShot(shot)) = &extras.reference else { continue };
                let mut weighed = Vec::with_capacity(shot.members.len());
                for (one, member) in shot.set.action_profile_actions.iter().zip(&shot.members) {
                    use p4::action_profile_action::WatchKind;
                    let watch = match &one.watch_kind {
                        Some(WatchKind::WatchPort(port)) => port_of(port)?,
                        #[allow(deprecated)]
                        Some(WatchKind::Watch(port)) => old_port(*port)?,
                        None => None,
                    };
                    weighed.push(WeightedMember { member: *member, weight: one.weight, watch });
                }
                if weighed.iter().any(|member| member.watch.is_some()) {
                    let profile = table.implementation.unwrap_or(0);
                    changed.push((profile, shot.group, places(&weighed, self.store)));
                }
            }
        }
        for (profile, group, places) in changed {
            self.set_profile(schema.profile(profile)?, Vec::new(), vec![(group, places)])?;
        }
        Ok(())
    }
}

fn number(id: u32, what: &str) -> Result<(), Failure> {
    match id {
        0 => Err(Failure::invalid(format!("0 is no number of a {what}"))),
        OWN.. => Err(Failure::invalid(format!("numbers of a {what} are below {OWN:#x}"))),
        _ => Ok(()),
    }
}

/// Checks that a change fits the existence of its object.
pub(super) fn exists(kind: Type, is_there: bool, what: &str, id: u32) -> Result<(), Failure> {
    match (kind, is_there) {
        (Type::Insert, true) => {
            Err(Failure::new(Code::AlreadyExists, format!("there is a {what} {id} already")))
        }
        (Type::Modify | Type::Delete, false) => Err(Failure::no(what, id)),
        _ => Ok(()),
    }
}

fn referred(store: &Store, profile: &Profile, reference: &Reference) -> bool {
    let mut all = profile.tables.iter().flat_map(|table| store.extras_of(*table));
    all.any(|(_, extras)| extras.reference.as_ref() == Some(reference))
}

fn max_size(profile: &Profile, given: i32) -> Result<(), Failure> {
    let most = profile.max_group_size;
    if given < 0 || (most > 0 && given > most) {
        return Err(Failure::invalid(format!("a group of `{}` has at most {most}", profile.name)));
    }
    if i64::from(given) > MOST {
        let why = format!("a group of {given}: it has at most {MOST} places");
        return Err(Failure::new(Code::ResourceExhausted, why));
    }
    Ok(())
}

fn check_weights(
    profile: &Profile,
    of_members: Option<i32>,
    weighed: &[WeightedMember],
    most: i64,
    too_many: Code,
) -> Result<(), Failure> {
    let wrong = |member: &&WeightedMember| match profile.no_weights {
        true => member.weight != 0,
        false => member.weight < 1,
    };
    if let Some(member) = weighed.iter().find(wrong) {
        return Err(Failure::invalid(format!(
            "a member cannot have a weight of {}",
            member.weight
        )));
    }
    let places: i64 = weighed.iter().map(|member| i64::from(member.weight.max(1))).sum();
    if let Some(heaviest) = of_members.filter(|heaviest| *heaviest > 0)
        && let Some(member) = weighed.iter().find(|member| member.weight > heaviest)
    {
        let why = format!("a member weighs at most {heaviest}, not {}", member.weight);
        return Err(Failure::invalid(why));
    }
    let size = if of_members.is_some() { weighed.len() as i64 } else { places };
    if most > 0 && size > most {
        return Err(Failure::new(too_many, format!("a group of {size}, where {most} fit")));
    }
    if places > MOST {
        let why = format!("a group with weights of {places} in all: at most {MOST}");
        return Err(Failure::new(Code::ResourceExhausted, why));
    }
    Ok(())
}

/// Slots of a group: each member by its weight, down if its watched port is.
fn places(weighed: &[WeightedMember], store: &Store) -> Vec<(u32, bool)> {
    let place = |member: &WeightedMember| {
        let up = member.watch.is_none_or(|port| !store.down.contains(&port));
        std::iter::repeat_n((member.member, up), member.weight.max(1) as usize)
    };
    weighed.iter().flat_map(place).collect()
}

fn watch_of_member(member: &p4::action_profile_group::Member) -> Result<Option<u16>, Failure> {
    use p4::action_profile_group::member::WatchKind;
    match &member.watch_kind {
        Some(WatchKind::WatchPort(port)) => port_of(port),
        #[allow(deprecated)]
        Some(WatchKind::Watch(port)) => old_port(*port),
        None => Ok(None),
    }
}

fn port_of(bytes: &[u8]) -> Result<Option<u16>, Failure> {
    if bytes.is_empty() {
        return Ok(None);
    }
    super::replication::port(bytes, None).map(Some)
}

fn old_port(port: i32) -> Result<Option<u16>, Failure> {
    match u16::try_from(port) {
        Ok(0) => Ok(None),
        Ok(port) => Ok(Some(port)),
        Err(_) => Err(Failure::invalid(format!("there is no port {port}"))),
    }
}

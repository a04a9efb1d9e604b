//! Action profiles and selectors: a packet's hash chooses a member of a group.
//!
//! A member is an action with its data, stored by the caller and identified by a number; a group is
//! a list of members, some of which may be down. Source: TNA p. 69-71 (`SelectorMode_t`).

use sojourn_packet::mix;
use std::collections::BTreeMap;

/// Distribution of the hash values among the members of a group (`SelectorMode_t`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SelectorMode {
    /// Hash modulo the number of members that are up; a change moves many flows.
    Fair,
    /// A flow keeps its member as long as that is up: a hash that selects a member that is down is
    /// hashed again.
    Resilient,
}

/// Id of an action with its data.
pub type MemberId = u32;

/// Id of a group.
pub type GroupId = u32;

/// The groups of one action selector.
#[derive(Clone, Debug)]
pub struct Selector {
    mode: SelectorMode,
    groups: BTreeMap<GroupId, Vec<(MemberId, bool)>>,
    /// Number of groups that contain each member, counted with repetitions.
    uses: BTreeMap<MemberId, u32>,
}

impl Selector {
    /// A selector without groups.
    pub fn new(mode: SelectorMode) -> Selector {
        Selector { mode, groups: BTreeMap::new(), uses: BTreeMap::new() }
    }

    /// Sets the members of a group and their states. They are ordered by number, as in bmv2.
    pub fn set_group(&mut self, group: GroupId, mut members: Vec<(MemberId, bool)>) {
        members.sort_unstable();
        for (member, _) in &members {
            *self.uses.entry(*member).or_default() += 1;
        }
        let before = self.groups.insert(group, members);
        self.release(before.as_deref().unwrap_or(&[]));
    }

    fn release(&mut self, members: &[(MemberId, bool)]) {
        for (member, _) in members {
            if let Some(count) = self.uses.get_mut(member) {
                *count -= 1;
                if *count == 0 {
                    self.uses.remove(member);
                }
            }
        }
    }

    /// Whether a group contains a member, up or down.
    pub fn is_used(&self, member: MemberId) -> bool {
        self.uses.contains_key(&member)
    }

    /// The members of a group and their states; `None` if there is no such group.
    pub fn group(&self, group: GroupId) -> Option<&[(MemberId, bool)]> {
        self.groups.get(&group).map(Vec::as_slice)
    }

    /// Removes a group; false if there was none.
    pub fn remove_group(&mut self, group: GroupId) -> bool {
        let before = self.groups.remove(&group);
        self.release(before.as_deref().unwrap_or(&[]));
        before.is_some()
    }

    /// All groups with their members, in the order of their numbers.
    pub fn groups(&self) -> impl Iterator<Item = (GroupId, Vec<(MemberId, bool)>)> + '_ {
        self.groups.iter().map(|(group, members)| (*group, members.clone()))
    }

    /// Sets one member up or down; false if the group does not have it.
    pub fn set_up(&mut self, group: GroupId, member: MemberId, up: bool) -> bool {
        let members = self.groups.get_mut(&group);
        let slot = members.and_then(|members| members.iter_mut().find(|(id, _)| *id == member));
        slot.map(|slot| slot.1 = up).is_some()
    }

    /// The member that `hash` chooses; none if no member is up or the group does not exist.
    pub fn select(&self, group: GroupId, hash: u64) -> Option<MemberId> {
        let members = self.groups.get(&group)?;
        let up = members.iter().filter(|(_, up)| *up).count() as u64;
        if up == 0 {
            return None;
        }
        if self.mode == SelectorMode::Resilient {
            let (member, is_up) = members[(hash % members.len() as u64) as usize];
            if is_up {
                return Some(member);
            }
            let again = mix(hash);
            return members.iter().filter(|(_, up)| *up).nth((again % up) as usize).map(|m| m.0);
        }
        members.iter().filter(|(_, up)| *up).nth((hash % up) as usize).map(|member| member.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn four(mode: SelectorMode) -> Selector {
        let mut selector = Selector::new(mode);
        selector.set_group(1, (10..14).map(|member| (member, true)).collect());
        selector
    }

    #[test]
    fn a_fair_group_shares_hashes_evenly_among_the_members_that_are_up() {
        let mut selector = four(SelectorMode::Fair);
        selector.set_up(1, 12, false);
        let mut seen = BTreeMap::new();
        (0..300).for_each(|h| *seen.entry(selector.select(1, h).unwrap()).or_insert(0) += 1);
        assert_eq!(seen, BTreeMap::from([(10, 100), (11, 100), (13, 100)]));
    }

    #[test]
    fn a_resilient_group_moves_only_the_flows_of_the_member_that_went_down() {
        let before = four(SelectorMode::Resilient);
        let mut after = before.clone();
        after.set_up(1, 12, false);
        for hash in 0..1000 {
            let old = before.select(1, hash).unwrap();
            let new = after.select(1, hash).unwrap();
            assert!(new != 12 && (old == 12 || old == new));
        }
    }

    #[test]
    fn a_member_is_used_as_long_as_a_group_has_it() {
        let mut selector = four(SelectorMode::Fair);
        selector.set_group(2, vec![(13, true), (13, true), (20, false)]);
        assert!([10, 13, 20].iter().all(|member| selector.is_used(*member)));
        selector.set_group(2, vec![(20, true)]);
        assert!(selector.is_used(13) && selector.remove_group(1));
        assert!(!selector.is_used(13) && selector.is_used(20));
        assert!(selector.remove_group(2) && !selector.is_used(20));
        assert_eq!(selector.group(2), None);
    }

    #[test]
    fn a_group_without_active_members_selects_none() {
        let mut selector = four(SelectorMode::Fair);
        (10..14).for_each(|member| assert!(selector.set_up(1, member, false)));
        assert_eq!((selector.select(1, 5), selector.select(2, 5)), (None, None));
    }
}

//! Set-associative tables: a place for each flow and each host of CAKE (Linux 6.1, `cake_hash`).
//!
//! A hash chooses a set of eight places and one of them to begin with. A key that has a place in its set keeps it; a new one
//! gets the next free place. Only if all eight are taken does it share the first. Must not depend on what a place holds.

/// Places of a table.
pub(super) const PLACES: usize = 1024;
/// Places of a set.
const WAYS: usize = 8;

/// Outcome of a look-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// The key has this place.
    Own,
    /// The place was free.
    Free,
    /// The place is another key's too, which has lost its tag.
    Shared,
}

/// The keys of all places. 0 is the key of an unused place.
#[derive(Debug)]
pub(super) struct Tags([u32; PLACES]);

impl Tags {
    pub(super) fn new() -> Tags {
        Tags([0; PLACES])
    }

    /// The place of a key, which is its own from now on.
    pub(super) fn find(&mut self, key: u32, is_free: impl Fn(usize) -> bool) -> (usize, Found) {
        let first = key as usize % PLACES;
        let set = first - first % WAYS;
        let mut ways = (0..WAYS).map(|way| set + (first + way) % WAYS);
        let (place, found) = match ways.clone().find(|&place| self.0[place] == key) {
            Some(own) => (own, Found::Own),
            None => ways
                .find(|&place| is_free(place))
                .map_or((first, Found::Shared), |free| (free, Found::Free)),
        };
        self.0[place] = key;
        (place, found)
    }
}

/// The hosts at one end, with the flows of each that have a backlog.
#[derive(Debug)]
pub(super) struct Hosts {
    tags: Tags,
    bulk: [u16; PLACES],
}

impl Hosts {
    pub(super) fn new() -> Hosts {
        Hosts { tags: Tags::new(), bulk: [0; PLACES] }
    }

    /// The place of a host. One without such flows may lose it.
    pub(super) fn find(&mut self, key: u32) -> u16 {
        let bulk = &self.bulk;
        self.tags.find(key, |place| bulk[place] == 0).0 as u16
    }

    /// Flows with a backlog of the host there.
    pub(super) fn load(&self, host: u16) -> u16 {
        self.bulk[usize::from(host)]
    }

    /// A flow more.
    pub(super) fn add(&mut self, host: u16) {
        let bulk = &mut self.bulk[usize::from(host)];
        *bulk = (*bulk + 1).min(PLACES as u16);
    }

    /// A flow less.
    pub(super) fn remove(&mut self, host: u16) {
        let bulk = &mut self.bulk[usize::from(host)];
        *bulk = bulk.saturating_sub(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eight_keys_of_a_set_have_places_of_their_own_and_the_ninth_shares_one() {
        let mut tags = Tags::new();
        let mut taken = Vec::new();
        for number in 1..=8u32 {
            let (place, found) = tags.find(number * 1024 + 21, |place| !taken.contains(&place));
            assert_eq!(found, Found::Free);
            taken.push(place);
        }
        // The set of 21 is 16 to 23; it begins at 21.
        assert_eq!(taken, [21, 22, 23, 16, 17, 18, 19, 20]);
        assert_eq!(tags.find(3 * 1024 + 21, |_| false), (23, Found::Own));
        assert_eq!(tags.find(9 * 1024 + 21, |_| false), (21, Found::Shared));
        assert_eq!(tags.find(1024 + 21, |_| false), (21, Found::Shared), "its tag is lost");
    }

    #[test]
    fn a_host_with_a_backlog_keeps_its_place() {
        let mut hosts = Hosts::new();
        let first = hosts.find(1024 + 5);
        hosts.add(first);
        assert_ne!(hosts.find(2048 + 5), first);
        hosts.remove(first);
        hosts.remove(first);
        assert_eq!((hosts.load(first), hosts.find(3072 + 5)), (0, first));
    }
}

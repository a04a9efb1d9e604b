//! The queue of future events: earliest first, and among equal instants in order of insertion, or of
//! when a place among them was taken.
//!
//! A hierarchical timing wheel (Varghese and Lauck 1987), because there are many flows with timers
//! that hardly ever expire, and a heap's cost grows with them. (Frequent events of hosts are in a
//! [winner tree](crate::winner_tree).) Level `l` has a slot for each value of the `l`-th digit of a
//! time, written in base 64. An event is on the level of the highest digit in which its time
//! differs from the present; time does not go backwards, so all events of a level are earlier than
//! all on the levels above. When the events of a slot become the earliest, they are taken out of
//! the wheel and sorted if they are few, as they usually are; else they move down. Events are
//! numbered in the order of insertion, and equal times are ordered by number. Must not depend on
//! the kind of an event.

use sojourn_packet::Time;
use std::cmp::Ordering;
use std::marker::PhantomData;

/// Bits of a digit.
const DIGIT: u32 = 6;
/// Slots of a level.
const SLOTS: usize = 1 << DIGIT;
/// Digits of a 64-bit instant.
const LEVELS: usize = u64::BITS.div_ceil(DIGIT) as usize;
/// Maximum number of events of a slot that are sorted, and of sorted events.
const FEW: usize = 16;
const MANY: usize = 64;

/// Level of each bit of a time.
const LEVEL_OF: [u8; 64] = {
    let mut levels = [0; 64];
    let mut bit = 0;
    while bit < 64 {
        levels[bit] = (bit as u32 / DIGIT) as u8;
        bit += 1;
    }
    levels
};

/// A digit of an instant.
#[inline]
fn digit(at: Time, level: usize) -> usize {
    (at.0 >> (level as u32 * DIGIT)) as usize % SLOTS
}

/// Order among the events of one time. Numbers wrap: of two that are compared neither was assigned
/// two billion events before the other, or their order does not matter, since it is deterministic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Number(pub(crate) u32);

impl Number {
    #[inline]
    pub(crate) fn is_before(self, other: Number) -> bool {
        (self.0.wrapping_sub(other.0) as i32) < 0
    }
}

/// An event as two numbers, which stay in registers until they are where they wait: what is put
/// together in memory from smaller fields and then copied waits for the memory.
pub(crate) type EventWords = (u32, u64);

/// Element of a queue.
pub(crate) trait AsWords {
    fn words(self) -> EventWords;
    /// Converts the words back.
    fn from_words(words: EventWords) -> Self;
}

/// An event and its place.
#[derive(Clone, Copy, Debug)]
struct Entry {
    at: Time,
    number: Number,
    head: u32,
    body: u64,
}

impl Entry {
    #[inline]
    fn is_before(&self, other: &Entry) -> bool {
        if self.at != other.at {
            return self.at < other.at;
        }
        self.number.is_before(other.number)
    }
}

/// A priority queue over time whose order never depends on its internals.
#[derive(Debug)]
pub(crate) struct EventQueue<E> {
    /// The instant of the last event taken.
    taken: Time,
    /// Of the next event.
    number: Number,
    /// The instant of the earliest event; the end of time if there is none.
    first: Time,
    /// Events before `horizon`, the next one last: most insertions there are the next event.
    near: Vec<Entry>,
    horizon: Time,
    /// Not behind any event: what the levels of those in the wheel are counted from.
    present: Time,
    /// Of the earliest event of the wheel, if there is one.
    earliest: Time,
    /// The wheel, level by level: events from `horizon` on.
    slots: Vec<Slot>,
    /// The slots of each level that have events, one bit each.
    occupied: [u64; LEVELS],
    /// The levels that have events, one bit each.
    levels: u32,
    /// Room of slots of each level that had many events and were emptied: those of a level have about as
    /// many. Slots that have few keep theirs.
    room: [Vec<Vec<Entry>>; LEVELS],
    of: PhantomData<E>,
}

/// Events whose instants have all digits from a level on in common.
#[derive(Debug)]
struct Slot {
    /// The first instant, if there are events.
    earliest: Time,
    events: Vec<Entry>,
}

impl<E: AsWords> EventQueue<E> {
    pub(crate) fn new() -> EventQueue<E> {
        let slot = || Slot { earliest: Time::MAX, events: Vec::new() };
        EventQueue {
            taken: Time::ZERO,
            number: Number(0),
            first: Time::MAX,
            near: Vec::with_capacity(MANY),
            horizon: Time::ZERO,
            present: Time::ZERO,
            earliest: Time::MAX,
            slots: std::iter::repeat_with(slot).take(LEVELS * SLOTS).collect(),
            occupied: [0; LEVELS],
            levels: 0,
            room: [const { Vec::new() }; LEVELS],
            of: PhantomData,
        }
    }

    /// Puts an event at an instant, which must not be before that of an event already taken.
    #[inline]
    pub(crate) fn push(&mut self, at: Time, event: E) {
        let number = self.take_number();
        self.push_numbered(at, number, event);
    }

    /// Takes a place for an event that will be put later, as if it were put now.
    #[inline]
    pub(crate) fn take_number(&mut self) -> Number {
        let number = self.number;
        self.number = Number(number.0.wrapping_add(1));
        number
    }

    /// Puts an event to the place that was taken for it, at an instant that is not before that of an
    /// event already taken.
    #[inline(always)]
    pub(crate) fn push_numbered(&mut self, at: Time, number: Number, event: E) {
        debug_assert!(at >= self.taken, "{at} is before {}", self.taken);
        let (at, words) = (at.max(self.taken), event.words());
        self.first = self.first.min(at);
        if at >= self.horizon {
            if at >= self.earliest || self.levels == 0 || self.near.len() >= FEW {
                return self.put(at, number, words.0, words.1);
            }
            // It comes before all that is in the wheel.
            self.horizon = Time(at.0 + 1);
        }
        if self.near.len() >= MANY {
            self.spread();
            return self.put(at, number, words.0, words.1);
        }
        let entry = Entry { at, number, head: words.0, body: words.1 };
        if self.near.last().is_none_or(|next| entry.is_before(next)) {
            self.near.push(entry);
        } else {
            self.insert(at, number, words.0, words.1);
        }
    }

    /// Puts an event among the near ones.
    #[inline(never)]
    fn insert(&mut self, at: Time, number: Number, head: u32, body: u64) {
        let entry = Entry { at, number, head, body };
        let len = self.near.len();
        if len > FEW && !entry.is_before(&self.near[len - FEW]) {
            let place = self.near.partition_point(|other| entry.is_before(other));
            return self.near.insert(place, entry);
        }
        insert(&mut self.near, entry);
    }

    /// Puts an event into the wheel.
    #[inline(never)]
    fn put(&mut self, at: Time, number: Number, head: u32, body: u64) {
        let differing = (at.0 ^ self.present.0) | 1;
        let level = usize::from(LEVEL_OF[differing.ilog2() as usize]);
        let digit = digit(at, level);
        let place = level * SLOTS + digit;
        let slot = &mut self.slots[place];
        if slot.events.len() == slot.events.capacity() {
            self.widen(level, place);
            return self.put(at, number, head, body);
        }
        slot.events.push(Entry { at, number, head, body });
        slot.earliest = slot.earliest.min(at);
        // Whether these are so already no processor foresees, so nothing asks.
        self.occupied[level] |= 1 << digit;
        self.levels |= 1 << level;
        self.earliest = self.earliest.min(at);
    }

    /// Makes room in a slot that has none left: that of one of its level that had many events and was
    /// emptied, if it has none at all.
    #[cold]
    #[inline(never)]
    fn widen(&mut self, level: usize, place: usize) {
        let events = &mut self.slots[place].events;
        if events.capacity() == 0
            && let Some(room) = self.room[level].pop()
        {
            *events = room;
        }
        events.reserve(FEW / 4);
    }

    /// Moves the near events into the wheel: there are too many to keep sorted.
    #[cold]
    fn spread(&mut self) {
        self.horizon = self.present;
        while let Some(Entry { at, number, head, body }) = self.near.pop() {
            self.put(at, number, head, body);
        }
    }

    /// Finds the level and the digit of the slot that has the earliest events of the wheel, in which
    /// there are some.
    fn first(&self) -> (usize, usize) {
        let level = self.levels.trailing_zeros() as usize;
        (level, self.occupied[level].trailing_zeros() as usize)
    }

    /// Notes that a slot has no events any more.
    fn vacate(&mut self, level: usize, digit: usize) {
        self.occupied[level] &= !(1 << digit);
        self.levels &= !(u32::from(self.occupied[level] == 0) << level);
        self.earliest = match self.levels {
            0 => Time::MAX,
            _ => {
                let (level, digit) = self.first();
                self.slots[level * SLOTS + digit].earliest
            }
        };
    }

    /// The instant of the earliest event; the end of time if there is none.
    #[inline]
    pub(crate) fn next_time(&self) -> Time {
        self.first
    }

    /// The place of the earliest event among those of its instant.
    pub(crate) fn next_number(&mut self) -> Option<Number> {
        self.bring_near();
        self.near.last().map(|next| next.number)
    }

    /// Takes the earliest event.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<(Time, E)> {
        self.bring_near();
        let Entry { at, head, body, .. } = self.near.pop()?;
        self.taken = at;
        self.first = match self.near.last() {
            Some(next) => next.at,
            None => self.earliest,
        };
        Some((at, E::from_words((head, body))))
    }

    /// Has the earliest event among the near ones, if there is one.
    #[inline(always)]
    fn bring_near(&mut self) {
        while self.near.is_empty() && self.levels != 0 {
            self.open_slot();
        }
    }

    /// Empties the slot that has the earliest events: they become near, or move to lower levels. There
    /// must be no near ones.
    #[inline(never)]
    fn open_slot(&mut self) {
        let (level, digit) = self.first();
        let place = level * SLOTS + digit;
        let earliest = std::mem::replace(&mut self.slots[place].earliest, Time::MAX);
        self.vacate(level, digit);
        // The slot's first instant, and its last.
        let bit = level as u32 * DIGIT;
        let begin = earliest.0 >> bit << bit;
        let end = begin | ((1 << bit) - 1);
        debug_assert_eq!(self::digit(earliest, level), digit);
        self.present = Time(begin);
        // All events of a slot of the lowest level are at one instant.
        if self.slots[place].events.len() <= FEW || level == 0 {
            let events = &mut self.slots[place].events;
            sort(events, &mut self.near);
            events.clear();
            self.horizon = Time(end.saturating_add(1));
        } else {
            self.horizon = self.present;
            let mut events = std::mem::take(&mut self.slots[place].events);
            for entry in events.drain(..) {
                self.put(entry.at, entry.number, entry.head, entry.body);
            }
            self.room[level].push(events);
        }
    }
}

/// Puts events into an empty list, the next one last.
#[inline(always)]
fn sort(events: &[Entry], into: &mut Vec<Entry>) {
    if events.len() <= FEW {
        events.iter().for_each(|entry| insert(into, *entry));
        return;
    }
    into.extend_from_slice(events);
    into.sort_unstable_by(|one, other| match other.is_before(one) {
        true => Ordering::Less,
        false => Ordering::Greater,
    });
}

/// Puts an event among few sorted ones, the next one last.
#[inline(always)]
fn insert(sorted: &mut Vec<Entry>, entry: Entry) {
    let mut place = sorted.len();
    sorted.push(entry);
    while place > 0 && !entry.is_before(&sorted[place - 1]) {
        sorted[place] = sorted[place - 1];
        place -= 1;
    }
    sorted[place] = entry;
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    impl AsWords for usize {
        fn words(self) -> EventWords {
            (0, self as u64)
        }

        fn from_words(words: EventWords) -> usize {
            words.1 as usize
        }
    }

    impl AsWords for char {
        fn words(self) -> EventWords {
            (self.into(), 0)
        }

        fn from_words(words: EventWords) -> char {
            char::from_u32(words.0).expect("it was a letter")
        }
    }

    #[test]
    fn events_come_by_time_and_then_in_the_order_they_were_put_in() {
        let mut queue = EventQueue::new();
        for (at, name) in [(5, 'a'), (3, 'b'), (5, 'c'), (3, 'd'), (1, 'e')] {
            queue.push(Time(at), name);
        }
        assert_eq!(queue.next_time(), Time(1));
        let order: String = std::iter::from_fn(|| queue.pop()).map(|(_, name)| name).collect();
        assert_eq!(order, "ebdac");
    }

    #[test]
    fn an_event_that_is_put_late_comes_where_its_place_was_taken() {
        for at in [Time(7), Time(1_000_000)] {
            for others in [1, 40] {
                let mut queue = EventQueue::new();
                (0..others).for_each(|n| queue.push(at, n));
                let number = queue.take_number();
                (0..others).for_each(|n| queue.push(at, 100 + n));
                queue.push_numbered(at, number, 50);
                let order: Vec<_> = std::iter::from_fn(|| queue.pop()).map(|(_, n)| n).collect();
                assert!(order.is_sorted() && order.len() == 2 * others + 1, "{order:?}");
            }
        }
    }

    #[test]
    fn looking_at_a_far_event_does_not_keep_a_nearer_one_from_coming_first() {
        let mut queue = EventQueue::new();
        queue.push(Time::MAX, 'z');
        queue.push(Time(1_000_000), 'b');
        assert_eq!(queue.next_time(), Time(1_000_000));
        queue.push(Time(70), 'a');
        let order: String = std::iter::from_fn(|| queue.pop()).map(|(_, name)| name).collect();
        assert_eq!(order, "abz");
    }

    #[test]
    fn events_of_one_slot_come_in_order_whether_few_or_many_come_before_or_after_it_is_opened() {
        for (before, after) in [(3, 5), (3, 500), (40, 5), (40, 500)] {
            let mut queue = EventQueue::new();
            let scattered = |n: usize| Time(1_000_000 + n as u64 * 37 % 3_000);
            (0..before).for_each(|n| queue.push(scattered(n), n));
            queue.push(Time(1_000_000), before);
            let first = queue.pop().map(|(_, n)| n);
            assert_eq!(first, Some(0));
            (before + 1..before + after).for_each(|n| queue.push(scattered(n), n));
            let order: Vec<_> = std::iter::from_fn(|| queue.pop()).collect();
            assert_eq!(order.len(), before + after - 1);
            assert!(order.is_sorted(), "{order:?}");
        }
    }

    /// Distance of the next insertion from the last event taken: none, near, far.
    fn ahead() -> impl Strategy<Value = u64> {
        prop_oneof![Just(0), 0..70u64, 0..5_000u64, 0..10_000_000u64, any::<u64>()]
    }

    /// Number of consecutive insertions, which may exceed the limit of sorted events.
    fn burst() -> impl Strategy<Value = u64> {
        prop_oneof![20 => Just(1), 1 => 2..200u64]
    }

    proptest! {
        #[test]
        fn the_order_is_that_of_a_sorted_map_however_pushes_and_pops_alternate(
            steps in proptest::collection::vec((ahead(), burst(), 0..3usize), 1..200)
        ) {
            let mut queue = EventQueue::new();
            let mut model = BTreeMap::new();
            let mut now = 0u64;
            let check = |queue: &mut EventQueue<usize>, model: &mut BTreeMap<_, _>| {
                let expected = model.pop_first().map(|((at, number), ())| (Time(at), number));
                let next = expected.map_or(Time::MAX, |(at, _)| at);
                prop_assert_eq!(queue.next_time(), next);
                prop_assert_eq!(queue.pop(), expected);
                Ok(expected.map(|(at, _)| at.0))
            };
            let mut number = 0;
            for (ahead, burst, pops) in steps {
                for behind in 0..burst {
                    let at = now.saturating_add(ahead).saturating_add(behind);
                    queue.push(Time(at), number);
                    model.insert((at, number), ());
                    number += 1;
                }
                for _ in 0..pops {
                    now = check(&mut queue, &mut model)?.unwrap_or(now);
                }
            }
            while !model.is_empty() {
                check(&mut queue, &mut model)?;
            }
            prop_assert_eq!(queue.pop(), None);
        }
    }
}

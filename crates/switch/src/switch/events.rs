//! Event queue of a switch, ordered by instant and first in, first out among equals.
//!
//! The queue holds one event per waiting port and per packet in a pipeline. At this size a sorted
//! list is cheaper than a heap.

use sojourn_packet::Time;

/// Kind of an event. Packets are not in the events but at the heads of their lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The oldest admitted packet reaches the traffic manager.
    Admit,
    /// The oldest resubmitted packet reaches ingress again.
    Resubmit,
    /// The oldest mirrored copy reaches the traffic manager.
    MirrorCopy,
    /// A port may be able to send.
    Port(u16),
    /// The oldest recirculated packet of a port reaches ingress.
    Return(u16),
    /// The oldest packet that egress has sent back past the ports reaches ingress.
    Again,
    /// The packet generators have something to do.
    Generate,
    /// Something happens inside the passes that overlap.
    Passes,
    /// The oldest depth report reaches the data plane.
    DepthReport,
    /// The oldest request to pause or resume a queue takes effect.
    FlowControl,
}

/// The event queue.
#[derive(Debug)]
pub struct Events {
    /// Time of the next one; the end of time if there is none.
    first: Time,
    /// The next one last.
    queue: Vec<(Time, Event)>,
}

impl Events {
    /// Nothing is due.
    pub fn new() -> Events {
        Events { first: Time::MAX, queue: Vec::new() }
    }

    /// Sets an event.
    #[inline]
    pub fn set(&mut self, at: Time, event: Event) {
        if at < self.first {
            self.first = at;
            self.queue.push((at, event));
        } else {
            self.insert(at, event);
        }
    }

    /// Sets one that is not the next, behind those of its instant.
    #[inline(never)]
    fn insert(&mut self, at: Time, event: Event) {
        let place = self.queue.partition_point(|other| other.0 > at);
        self.queue.insert(place, (at, event));
    }

    /// Time of the next event.
    #[inline]
    pub fn next(&self) -> Option<Time> {
        (self.first < Time::MAX).then_some(self.first)
    }

    /// True if every event is of a kind.
    pub fn all(&self, is_of_it: impl Fn(Event) -> bool) -> bool {
        self.queue.iter().all(|(_, event)| is_of_it(*event))
    }

    /// Takes the next event that is due at `now` or was before.
    #[inline]
    pub fn pop_due(&mut self, now: Time) -> Option<(Time, Event)> {
        if self.first > now {
            return None;
        }
        let taken = self.queue.pop();
        self.first = self.queue.last().map_or(Time::MAX, |(at, _)| *at);
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_instants_keep_the_order_in_which_they_were_set() {
        let mut events = Events::new();
        events.set(Time(5), Event::Port(9));
        events.set(Time(3), Event::MirrorCopy);
        events.set(Time(5), Event::Admit);
        let mut order = std::iter::from_fn(|| events.pop_due(Time(5)));
        assert_eq!(order.next(), Some((Time(3), Event::MirrorCopy)));
        assert_eq!(order.next(), Some((Time(5), Event::Port(9))));
        assert_eq!(order.next(), Some((Time(5), Event::Admit)));
        assert_eq!(order.next(), None);
    }

    #[test]
    fn events_that_are_not_due_remain() {
        let mut events = Events::new();
        events.set(Time(5), Event::Admit);
        assert_eq!(events.pop_due(Time(4)), None);
        assert_eq!(events.next(), Some(Time(5)));
    }
}

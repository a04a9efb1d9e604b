//! Host queueing: a shaper shared by a group's hosts, then a delay with a limit.
//!
//! It models `tbf` and `netem` as `tc` configures them on a host. Each queue is FIFO and stores
//! only instants, because a packet's departure time is known on arrival. It must not depend on a
//! packet's content or destination.

use crate::config::{HostShaper, NetemSection};
use sojourn_packet::{Bytes, Time};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// ns in a second times bits in a byte.
const BIT_TIMES: u128 = 8_000_000_000;

/// The shaper and the delay queue of the hosts behind one access link.
#[derive(Debug, Default)]
pub(super) struct HostQdisc {
    shaper: Option<Shaper>,
    netem: Netem,
}

impl HostQdisc {
    pub(super) fn new(shaper: Option<&HostShaper>, netem: &NetemSection) -> HostQdisc {
        HostQdisc {
            shaper: shaper.map(Shaper::new),
            netem: Netem { limit: netem.limit, shared: netem.shared, delayed: Vec::new() },
        }
    }

    /// Time at which a host's packet, with a delay of `delay`, is on its link; `None` if it is
    /// dropped.
    #[inline(always)]
    pub(super) fn enqueue(
        &mut self,
        now: Time,
        size: Bytes,
        host: usize,
        delay: Time,
    ) -> Option<Time> {
        if self.shaper.is_none() && delay == Time::ZERO {
            return Some(now);
        }
        self.enqueue_shaped(now, size, host, delay)
    }

    #[inline(never)]
    fn enqueue_shaped(&mut self, now: Time, size: Bytes, host: usize, delay: Time) -> Option<Time> {
        let shaped = match &mut self.shaper {
            Some(shaper) => shaper.enqueue(now, size)?,
            None => now,
        };
        if delay == Time::ZERO { Some(shaped) } else { self.netem.enqueue(shaped, host, delay) }
    }
}

/// A token bucket with a queue of packets in front of it.
#[derive(Debug)]
struct Shaper {
    rate: u64,
    /// Duration of a full bucket at the rate.
    bucket: Time,
    limit: usize,
    /// Time at which the bucket would be full again.
    full: Time,
    /// Departures of waiting packets.
    waiting: VecDeque<Time>,
}

impl Shaper {
    fn new(given: &HostShaper) -> Shaper {
        let mut shaper = Shaper {
            rate: given.rate,
            bucket: Time::ZERO,
            limit: given.limit as usize,
            full: Time::ZERO,
            waiting: VecDeque::new(),
        };
        shaper.bucket = shaper.lasts(Bytes(given.burst));
        shaper
    }

    /// Time in which the tokens for this size accumulate, rounded up.
    fn lasts(&self, size: Bytes) -> Time {
        let bits = u128::from(size.0) * BIT_TIMES;
        Time(bits.div_ceil(u128::from(self.rate)).min(u128::from(u64::MAX)) as u64)
    }

    fn enqueue(&mut self, now: Time, size: Bytes) -> Option<Time> {
        while self.waiting.front().is_some_and(|at| *at <= now) {
            self.waiting.pop_front();
        }
        if self.waiting.len() >= self.limit {
            return None;
        }
        let cost = self.lasts(size);
        // The bucket has tokens for the packet from here on.
        let enough = Time((self.full.max(now) + cost).0.saturating_sub(self.bucket.0));
        let before = self.waiting.back().copied().unwrap_or(now);
        let at = now.max(before).max(enough);
        self.full = self.full.max(at) + cost;
        if at > now {
            self.waiting.push_back(at);
        }
        Some(at)
    }
}

/// Packets that wait for their delay to pass.
#[derive(Debug, Default)]
struct Netem {
    /// The most that one queue holds.
    limit: Option<u32>,
    /// One queue for all hosts of the group; else one for each host.
    shared: bool,
    /// Departures of the packets in each queue; empty if there is no limit.
    delayed: Vec<BinaryHeap<Reverse<Time>>>,
}

impl Netem {
    /// `from` does not decrease.
    fn enqueue(&mut self, from: Time, host: usize, delay: Time) -> Option<Time> {
        let Some(limit) = self.limit else { return Some(from + delay) };
        let place = if self.shared { 0 } else { host };
        if self.delayed.len() <= place {
            self.delayed.resize_with(place + 1, BinaryHeap::new);
        }
        let delayed = &mut self.delayed[place];
        while delayed.peek().is_some_and(|at| at.0 <= from) {
            delayed.pop();
        }
        if delayed.len() >= limit as usize {
            return None;
        }
        delayed.push(Reverse(from + delay));
        Some(from + delay)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRAME: Bytes = Bytes(1_000);

    fn qdisc(shaper: Option<HostShaper>, limit: Option<u32>, shared: bool) -> HostQdisc {
        let netem = NetemSection { limit, shared, ..NetemSection::default() };
        HostQdisc::new(shaper.as_ref(), &netem)
    }

    #[test]
    fn a_burst_goes_at_once_and_what_follows_at_the_rate() {
        // 8 Mbit/s: 1 ms a frame; three frames of tokens; two may wait.
        let shaper = HostShaper { rate: 8_000_000, burst: 3_000, limit: 2 };
        let mut out = qdisc(Some(shaper), None, false);
        let mut at = |now: u64| out.enqueue(Time(now), FRAME, 0, Time::ZERO).map(|t| t.0);
        assert_eq!([at(0), at(0), at(0)], [Some(0); 3]);
        assert_eq!([at(0), at(0), at(0)], [Some(1_000_000), Some(2_000_000), None]);
        // Half a millisecond later the first two still wait; after one there is room again.
        assert_eq!(at(500_000), None);
        assert_eq!(at(1_000_000), Some(3_000_000));
        // Silence fills the bucket, and not more than it.
        let later = 20_000_000;
        assert_eq!([at(later), at(later), at(later)], [Some(later); 3]);
        assert_eq!(at(later), Some(later + 1_000_000));
    }

    #[test]
    fn a_delay_holds_as_many_as_its_limit_for_each_host_or_for_all() {
        for (shared, fourth) in [(false, Some(Time(30))), (true, None)] {
            let mut out = qdisc(None, Some(3), shared);
            let mut at = |now: u64, host| out.enqueue(Time(now), FRAME, host, Time(30));
            assert_eq!([at(0, 0), at(0, 0), at(0, 0)], [Some(Time(30)); 3]);
            assert_eq!(at(0, 0), None);
            assert_eq!(at(0, 1), fourth);
            assert_eq!(at(30, 0), Some(Time(60)));
        }
    }

    #[test]
    fn shaped_packets_are_delayed_after_the_shaper() {
        let shaper = HostShaper { rate: 8_000_000, burst: 1_000, limit: 9 };
        let mut out = qdisc(Some(shaper), None, false);
        let at = [0, 1].map(|host| out.enqueue(Time(0), FRAME, host, Time(7)));
        assert_eq!(at, [Some(Time(7)), Some(Time(1_000_007))]);
    }
}

//! Exact pacing of a queue: a fixed number of packets or bits per second, evenly spaced.
//!
//! It implements bmv2's queue rate: a packet may leave 1/rate after its predecessor. An idle queue
//! accumulates no credit. Times are integer nanoseconds with the fraction preserved, so the rate
//! never drifts. The pacer must not depend on the traffic that it paces.

use crate::tm::serializer::Serializer;
use sojourn_packet::{Bytes, Rate, Time};

/// The rates of a queue, none or both. Hardly ever is there one, so they take no room among what each
/// packet needs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pace(Option<Box<Rates>>);

#[derive(Clone, Copy, Debug, Default)]
struct Rates {
    /// A line on which every packet is one byte long.
    packets: Option<Serializer>,
    bits: Option<Serializer>,
}

/// The line of so many packets a second.
fn packets_line(rate: u64) -> Serializer {
    Serializer::new(Rate(rate.saturating_mul(8)))
}

impl Pace {
    /// A pace of so many packets and bits a second; neither must be 0.
    pub fn new(packets: Option<u64>, bits: Option<Rate>) -> Pace {
        Pace::from_rates(Rates {
            packets: packets.map(packets_line),
            bits: bits.map(Serializer::new),
        })
    }

    fn from_rates(rates: Rates) -> Pace {
        let is_some = rates.packets.is_some() || rates.bits.is_some();
        Pace(is_some.then(|| Box::new(rates)))
    }

    /// The same with another rate of packets or bits, where one is given; the other goes on.
    pub fn with(&self, packets: Option<Option<u64>>, bits: Option<Option<Rate>>) -> Pace {
        let was = self.0.as_deref().copied().unwrap_or_default();
        Pace::from_rates(Rates {
            packets: packets.map_or(was.packets, |rate| rate.map(packets_line)),
            bits: bits.map_or(was.bits, |rate| rate.map(Serializer::new)),
        })
    }

    /// True if there is no rate.
    #[inline]
    pub fn is_none(&self) -> bool {
        self.0.is_none()
    }

    /// Earliest departure of the next packet.
    #[inline]
    pub fn ready(&self) -> Time {
        let Some(Rates { packets, bits }) = self.0.as_deref() else { return Time::ZERO };
        let ready = |line: &Option<Serializer>| line.as_ref().map_or(Time::ZERO, Serializer::ready);
        ready(packets).max(ready(bits))
    }

    /// A packet that takes `bytes` bytes on the wire goes now.
    #[inline]
    pub fn charge(&mut self, now: Time, bytes: u32) {
        let Some(Rates { packets, bits }) = self.0.as_deref_mut() else { return };
        if let Some(line) = packets {
            line.occupy(now, Bytes(1));
        }
        if let Some(line) = bits {
            line.occupy(now, Bytes(bytes.into()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn departures(mut pace: Pace, bytes: u32, count: usize) -> Vec<u64> {
        let mut now = Time::ZERO;
        let next = |_| {
            now = now.max(pace.ready());
            pace.charge(now, bytes);
            now.0
        };
        (0..count).map(next).collect()
    }

    #[test]
    fn two_thousand_packets_a_second_go_every_500_microseconds() {
        let times = departures(Pace::new(Some(2_000), None), 1_538, 4);
        assert_eq!(times, [0, 500_000, 1_000_000, 1_500_000]);
    }

    #[test]
    fn a_rate_that_is_no_whole_number_of_nanoseconds_does_not_drift() {
        let times = departures(Pace::new(Some(3), None), 64, 3 * 1_000 + 1);
        assert_eq!(times.last(), Some(&1_000_000_000_000));
    }

    #[test]
    fn an_idle_queue_saves_nothing_up() {
        let mut pace = Pace::new(Some(1_000), None);
        pace.charge(Time::ZERO, 64);
        let later = Time::from_secs(5);
        assert!(pace.ready() < later);
        pace.charge(later, 64);
        assert_eq!(pace.ready(), later + Time::from_millis(1));
    }

    #[test]
    fn the_slower_of_two_rates_counts() {
        // 1250 bytes at 1 Mbit/s take 10 ms, at 200 packets/s 5 ms.
        let times = departures(Pace::new(Some(200), Some(Rate(1_000_000))), 1_250, 3);
        assert_eq!(times, [0, 10_000_000, 20_000_000]);
    }
}

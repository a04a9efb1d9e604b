//! Traffic that does not react: drops fall due faster than packets leave, and `drop_next` falls
//! behind the clock for as long as that lasts.

use super::rfc8289::{Codel, INTERVAL, TARGET};
use super::rig::{Departure, Rig, START, Verdict};

const MS: i64 = 1_000_000;
const SECOND: i64 = 1_000 * MS;
/// LONGEST_LAG of the program.
const LONGEST_LAG: i64 = 2 * SECOND;

fn above(now: i64) -> Departure {
    Departure { now, sojourn: 2 * TARGET, ..Departure::default() }
}

fn below(now: i64) -> Departure {
    Departure { sojourn: TARGET - 1, ..above(now) }
}

/// The program and RFC 8289's listing, with the same packets.
struct Both {
    rig: Rig,
    codel: Codel,
    /// Packets that the RFC drops, those that the program drops, those that both drop.
    drops: [u64; 3],
}

impl Both {
    fn new() -> Both {
        Both { rig: Rig::new(), codel: Codel::default(), drops: [0; 3] }
    }

    fn leave(&mut self, packet: Departure) {
        let expected = self.codel.drops(packet.now, packet.sojourn, packet.cells <= 20);
        let found = self.rig.leave(packet) == Verdict::Dropped;
        for (count, is) in self.drops.iter_mut().zip([expected, found, expected && found]) {
            *count += u64::from(is);
        }
    }

    /// Packets above TARGET, one each `spacing`; the drops of this stretch.
    fn flood(&mut self, start: i64, end: i64, spacing: i64) -> [u64; 3] {
        let before = self.drops;
        (start..end).step_by(spacing as usize).for_each(|now| self.leave(above(now)));
        std::array::from_fn(|i| self.drops[i] - before[i])
    }

    /// Lag of the program's drop_next.
    fn lag(&mut self, now: i64) -> i64 {
        i64::from((now as u32).wrapping_sub(self.rig.memory(2, 0).drop_next).cast_signed())
    }
}

#[test]
fn a_lasting_flood_is_dropped_from_as_by_rfc_8289_at_every_slow_rate() {
    // 1,500 bytes at 2 and at 10 Mbit/s: 2^31 ns are reached after 9 s and after 27 s.
    for (spacing, end) in [(6 * MS, 40 * SECOND), (6 * MS / 5, 60 * SECOND)] {
        let mut both = Both::new();
        let [expected, found, same] = both.flood(START, START + end, spacing);
        assert!(expected * 10 > end as u64 / spacing as u64 * 8, "{expected}");
        assert_eq!([found, same], [expected; 2], "a packet each {spacing} ns");
        let lag = both.lag(START + end);
        assert!((LONGEST_LAG - INTERVAL..LONGEST_LAG + 10 * MS).contains(&lag), "{lag}");
    }
}

#[test]
fn a_flood_of_an_hour_never_has_a_silence() {
    // A packet each 50 ms: an hour is 838 wraps of the clock.
    let mut both = Both::new();
    let [expected, found, same] = both.flood(START, START + 3_600 * SECOND, 50 * MS);
    assert!(expected > 71_000, "{expected}");
    assert_eq!([found, same], [expected; 2]);
}

#[test]
fn after_a_flood_no_more_than_the_longest_lag_is_worked_off() {
    let (mut both, flood) = (Both::new(), START + 30 * SECOND);
    both.flood(START, flood, 6 * MS);
    assert!(both.drops[0] == both.drops[1] && both.drops[0] > 4_000);
    // The line is fifty times as fast now. The RFC goes on with every packet until it has made all
    // the drops that fell due in 30 s; the program has forgotten those of more than 2 s ago.
    let [expected, found, same] = both.flood(flood, flood + 2 * SECOND, 6 * MS / 50);
    assert!(same == found && found < expected, "{found} of {expected}, {same} of them the same");
    // It makes those of 1.9 s at least, at the spacings of these counts, each below 1.6 ms.
    assert!(found as i64 * 16 * MS / 10 > LONGEST_LAG - INTERVAL, "{found} of {expected}");
    assert!(found < expected / 2, "{found} of {expected}");
}

#[test]
fn a_cycle_soon_after_a_flood_starts_from_one_as_in_rfc_8289_however_soon() {
    // drop_next is more than 16 INTERVALs ago already when the flood ends.
    for pause in [50, 500, 1_000, 1_590, 1_650, 1_750, 2_000, 2_140, 2_200, 3_000, 4_250, 4_400] {
        let (mut both, end) = (Both::new(), START + 20 * SECOND);
        both.flood(START, end, 6 * MS);
        both.leave(below(end));
        let next = end + pause * MS;
        both.flood(next, next + 2 * INTERVAL + MS, MS);
        both.rig.deliver_until(next + 3 * INTERVAL);
        assert_eq!(both.rig.memory(2, 0).last_count, 1, "after {pause} ms");
        assert_eq!(both.drops, [both.drops[0]; 3], "after {pause} ms");
    }
}

#[test]
fn a_line_that_stood_still_for_seconds_is_dropped_from_at_once() {
    for pause in [1_900, 2_100, 2_200, 3_000, 4_000, 4_140] {
        let (mut both, stop) = (Both::new(), START + SECOND);
        both.flood(START, stop, MS);
        let [expected, found, same] =
            both.flood(stop + pause * MS, stop + (pause + 10) * MS, 100_000);
        assert_eq!([expected, found, same], [100; 3], "{pause} ms");
    }
}

#[test]
fn after_a_stop_as_long_as_the_clock_it_is_silent_for_no_longer_than_an_interval_and_a_half() {
    for pause in (4_100..4_400).step_by(7) {
        let (mut both, stop) = (Both::new(), START + SECOND);
        both.flood(START, stop, MS);
        let again = stop + pause * MS;
        let [_, found, _] = both.flood(again, again + INTERVAL * 3 / 2, MS);
        assert!(found > 0, "{pause} ms");
    }
}

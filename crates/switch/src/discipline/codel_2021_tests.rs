//! Tests of `codel_2021`.

use super::*;
use crate::discipline;

const ABOVE: Time = Time::from_millis(6);
const BELOW: Time = Time::from_millis(4);
const BEHIND: Bytes = Bytes(100_000);

fn params() -> Params {
    Params { target: Time::from_millis(5), interval: Time::from_millis(100), mtu: FULL_FRAME }
}

/// Whole milliseconds at which packets with that sojourn time, one each millisecond, are dropped.
fn drops(state: &mut State, span: std::ops::Range<u64>, sojourn: Time) -> Vec<u64> {
    span.filter(|ms| state.drops(&params(), Time::from_millis(*ms), sojourn, BEHIND)).collect()
}

#[test]
fn the_first_packet_above_target_is_sent_and_the_first_drop_comes_an_interval_later() {
    let mut state = State::default();
    // 100 ms, then + 70.7 and + 57.7 ms from the instant of the drop, on the next packet.
    assert_eq!(drops(&mut state, 1_000..1_300, ABOVE), [1_100, 1_171, 1_229, 1_279]);
    assert_eq!(state.count, 5);
}

#[test]
fn a_late_packet_delays_the_drops_behind_it() {
    let mut state = State::default();
    drops(&mut state, 1_000..1_001, ABOVE);
    // Nothing leaves until 50 ms after the first drop was due: the next is 70.7 ms after it.
    assert_eq!(drops(&mut state, 1_150..1_230, ABOVE), [1_150, 1_221]);
}

#[test]
fn the_next_cycle_begins_with_the_drops_that_the_last_one_had_more_than_the_one_before() {
    let mut state = State::default();
    drops(&mut state, 1_000..1_300, ABOVE);
    drops(&mut state, 1_300..1_301, BELOW);
    // count 5, last_count 0: it begins with 5, and waits 44.7 ms.
    assert_eq!(drops(&mut state, 1_310..1_360, ABOVE), [1_355]);
    assert_eq!((state.count, state.last_count), (6, 5));
    // A difference of one is no memory.
    drops(&mut state, 1_360..1_361, BELOW);
    drops(&mut state, 1_361..1_362, ABOVE);
    assert_eq!((state.count, state.last_count), (1, 6));
    // Nor is a negative one.
    drops(&mut state, 1_362..1_363, BELOW);
    drops(&mut state, 1_363..1_364, ABOVE);
    assert_eq!((state.count, state.last_count), (1, 1));
}

#[test]
fn a_cycle_that_is_long_ago_is_forgotten() {
    for (again, count) in [(2_900, 5), (3_000, 1)] {
        let mut state = State::default();
        drops(&mut state, 1_000..1_300, ABOVE);
        drops(&mut state, 1_300..1_301, BELOW);
        drops(&mut state, again..again + 1, ABOVE);
        assert_eq!(state.count, count, "drop_next is at 1,324 ms, 16 intervals end at 2,924 ms");
    }
}

#[test]
fn less_than_a_frame_behind_is_no_queue() {
    let mut state = State::default();
    let now = Time::from_millis(10);
    assert!(!state.drops(&params(), now, ABOVE, Bytes(1_513)) && !state.dropping);
    assert!(!state.drops(&params(), now, ABOVE, Bytes(1_514)) && state.dropping);
}

#[test]
fn an_own_queue_and_an_external_queue_get_the_same_decisions() {
    let mut law = State::default();
    let mut own = discipline::build("codel_2021", &[]).unwrap();
    for ms in 0..2_000 {
        let now = Time::from_millis(ms);
        let sojourn = if ms % 700 < 600 { ABOVE } else { BELOW };
        let expected = law.drops(&params(), now, sojourn, BEHIND);
        assert_eq!(own.decides(now, sojourn, BEHIND, FULL_FRAME), Some(expected));
    }
    let counted = own.counters();
    assert!(counted.contains(&("drop_states", 3)), "{counted:?}");
}

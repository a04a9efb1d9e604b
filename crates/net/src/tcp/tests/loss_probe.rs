//! Tail loss probes, RFC 8985 section 7.

use super::*;

/// A sender whose application has written `segments` full segments, all of them sent at 40 ms
/// after a handshake of 40 ms.
fn with_tail(segments: u64) -> Drill {
    let mut drill = Drill::quiet_sender(new_reno(), ms(40));
    drill.end.set_written(segments * u64::from(MSS));
    assert_eq!(drill.sent().len() as u64, segments);
    drill
}

#[test]
fn the_last_segment_is_sent_again_two_round_trips_after_it_was_sent() {
    let mut drill = with_tail(5);
    // PTO = 2 * SRTT and Linux's 2 ms for its timers (section 7.2), at the next multiple of 8 ms.
    assert_eq!(drill.timer(), ms(40 + 80 + 2 + 6));
    assert_eq!(drill.sent(), [seq(4)]);
    // Then the timeout takes over, counted from the probe, not doubled.
    assert_eq!(drill.timer(), ms(128 + 240 + 8));
    assert_eq!(drill.sent(), [seq(0)]);
    let statistics = drill.end.sender().statistics();
    assert_eq!((statistics.probes, statistics.timeouts), (1, 1));
}

#[test]
fn a_probe_of_a_short_path_goes_at_the_tick_after() {
    // 2 * 1.2 ms and 2 ms are 5 ticks, counted from the one that began at 1 ms.
    let mut drill = Drill::quiet_sender(new_reno(), Time::from_micros(1_200));
    drill.end.set_written(5 * u64::from(MSS));
    assert_eq!(drill.sent().len(), 5);
    assert_eq!(drill.timer(), ms(1 + 5 + 1));
    assert_eq!(drill.sent(), [seq(4)]);
}

#[test]
fn new_data_are_the_better_probe_and_do_not_wait_for_the_window() {
    let mut drill = Drill::sender(new_reno(), ms(40));
    assert_eq!(drill.sent().len(), 10);
    drill.timer();
    assert_eq!(drill.sent(), [seq(10)], "section 7.3: the eleventh, with a window of ten");
    assert_eq!(drill.end.sender().statistics().retransmits, 0);
}

#[test]
fn a_single_segment_gives_the_receiver_time_to_delay_its_acknowledgement() {
    // 2 * 40 + 200 ms would be later than the timeout after 40 + 200 ms, which bounds it.
    assert_eq!(with_tail(1).timer(), ms(40 + 240 + 8));
}

#[test]
fn a_probe_that_repaired_a_loss_reduces_the_window_when_later_data_are_acknowledged() {
    let mut drill = with_tail(10);
    drill.at(ms(80));
    drill.ack(seq(9));
    drill.nothing();
    drill.timer();
    assert_eq!(drill.sent(), [seq(9)]);
    drill.at(drill.now + ms(40));
    drill.ack(seq(10));
    assert_eq!(drill.end.sender().statistics().congestion_events, 0, "not yet known");
    drill.end.set_written(12 * u64::from(MSS));
    drill.sent();
    drill.at(drill.now + ms(40));
    drill.ack(seq(12));
    // Section 7.4.2: one loss, answered once.
    assert_eq!(drill.end.sender().statistics().congestion_events, 1);
    assert_eq!(drill.end.sender().ssthresh(), drill.end.sender().window());
}

#[test]
fn a_probe_that_arrives_as_a_duplicate_shows_that_nothing_was_lost() {
    let mut drill = with_tail(10);
    drill.timer();
    assert_eq!(drill.sent(), [seq(9)]);
    // The acknowledgement was only late; then the receiver reports the probe as a duplicate.
    drill.at(drill.now + ms(40));
    drill.ack(seq(10));
    drill.ack_with(seq(10), &[(seq(9), seq(10))]);
    drill.end.set_written(12 * u64::from(MSS));
    drill.sent();
    drill.at(drill.now + ms(40));
    drill.ack(seq(12));
    assert_eq!(drill.end.sender().statistics().congestion_events, 0);
    assert!(drill.window() >= 10);
}

#[test]
fn a_probe_makes_a_lost_tail_known_without_a_timeout() {
    let mut drill = with_tail(10);
    drill.timer();
    assert_eq!(drill.sent(), [seq(9)]);
    // Only the probe has arrived: what was sent a round trip before it is lost (RACK).
    drill.at(drill.now + ms(40));
    drill.ack_with(seq(0), &[(seq(9), seq(10))]);
    assert!(drill.end.sender().in_recovery());
    assert_eq!(drill.sent()[0], seq(0));
    assert_eq!(drill.end.sender().statistics().timeouts, 0);
}

#[test]
fn without_selective_acknowledgements_there_is_no_probe() {
    let mut drill = Drill::plain_sender(new_reno(), ms(40));
    drill.sent();
    drill.timer();
    assert_eq!(drill.end.sender().statistics().timeouts, 1);
}

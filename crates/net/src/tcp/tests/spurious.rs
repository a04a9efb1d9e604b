//! Losses that were none: F-RTO (RFC 5682), timestamps (RFC 3522), duplicates (RFC 3708), and what
//! loss detection learns of reordering (RFC 8985 section 6.2).

use super::*;

/// Ten segments sent at 40 ms, a loss probe at 128 ms, and the timer at 376 ms.
fn timed_out(config: TcpConfig) -> Drill {
    let mut drill = Drill::sender(config, ms(40));
    assert_eq!(drill.sent().len(), 10);
    drill.timer();
    assert_eq!(drill.sent(), [seq(10)]);
    assert_eq!(drill.timer(), ms(376));
    assert_eq!(drill.sent(), [seq(0)]);
    assert_eq!(drill.end.sender().ssthresh(), 5 * u64::from(MSS));
    drill
}

/// Acknowledges what is below `ack`, echoing what the clock showed at `echo`.
fn ack_echoing(drill: &mut Drill, ack: u32, echo: Time) {
    let mut options = peer_options(drill.now);
    let echo = (echo.0 / 1_000_000) as u32;
    options.timestamps = options.timestamps.map(|t| Timestamps { echo, ..t });
    drill.inject(TcpSegment { ack, options, ..peer(1) });
}

#[test]
fn a_timeout_is_undone_when_the_echo_is_older_than_the_retransmission() {
    let mut drill = timed_out(new_reno());
    drill.at(ms(384));
    ack_echoing(&mut drill, seq(1), ms(40));
    let sender = drill.end.sender();
    assert_eq!(sender.ssthresh(), u64::MAX);
    assert_eq!(sender.statistics().undone, 1);
    assert!(drill.window() >= 10);
    assert!(drill.sent().iter().all(|s| *s > seq(10)), "nothing is sent again");
}

#[test]
fn a_timeout_stands_when_the_echo_is_that_of_the_retransmission() {
    let mut drill = timed_out(new_reno());
    drill.at(ms(416));
    ack_echoing(&mut drill, seq(1), ms(376));
    assert_eq!(drill.end.sender().statistics().undone, 0);
    assert_eq!(drill.end.sender().ssthresh(), 5 * u64::from(MSS));
}

#[test]
fn a_timeout_is_undone_when_segments_arrive_that_were_never_sent_again() {
    // RFC 5682 section 3.1 step 3b: the first acknowledgement covers more than the retransmission.
    let mut drill = timed_out(new_reno());
    drill.at(ms(416));
    ack_echoing(&mut drill, seq(4), ms(376));
    assert_eq!(drill.end.sender().statistics().undone, 1);
    assert!(drill.window() >= 10);
}

#[test]
fn after_the_first_acknowledgement_new_data_are_sent_to_see_whether_the_timeout_was_spurious() {
    let mut drill = timed_out(new_reno());
    drill.at(ms(416));
    ack_echoing(&mut drill, seq(1), ms(376));
    // Step 2b: two new segments, where slow start would send segments 1 and 2 again.
    let new = drill.sent();
    assert_eq!(new, [seq(11), seq(12)]);
    // Step 3a: they arrive, and nothing of what is missing: the loss was real.
    drill.at(ms(456));
    let mut options = peer_options(ms(456));
    options.sack.push(seq(11), seq(13));
    drill.inject(TcpSegment { ack: seq(1), options, ..peer(1) });
    assert_eq!(drill.sent()[0], seq(1));
    assert_eq!(drill.end.sender().statistics().undone, 0);
}

#[test]
fn a_fast_retransmission_is_undone_when_it_is_reported_as_a_duplicate() {
    let mut drill = Drill::sender(new_reno(), ms(40));
    drill.sent();
    drill.at(ms(80));
    drill.ack_with(seq(0), &[(seq(1), seq(4))]);
    assert_eq!(drill.sent()[0], seq(0));
    assert_eq!(drill.end.sender().ssthresh(), 5 * u64::from(MSS));
    // The original arrives, so that the retransmission will be a duplicate.
    drill.at(ms(84));
    drill.ack_with(seq(10), &[]);
    drill.sent();
    drill.at(ms(120));
    drill.ack_with(seq(10), &[(seq(0), seq(1))]);
    assert_eq!(drill.end.sender().statistics().undone, 1);
    assert_eq!(drill.end.sender().ssthresh(), u64::MAX);
    assert!(drill.window() >= 10);
}

#[test]
fn a_late_segment_teaches_that_the_path_reorders_and_the_next_is_given_time() {
    let mut drill = Drill::sender(TcpConfig { initial_window: 20, ..new_reno() }, ms(40));
    drill.sent();
    drill.at(ms(80));
    drill.ack_with(seq(0), &[(seq(1), seq(4))]);
    assert_eq!(drill.sent()[0], seq(0), "three out of order: lost");
    ack_echoing(&mut drill, seq(4), ms(40));
    assert_eq!(drill.end.sender().statistics().undone, 1);
    drill.sent();
    drill.ack_with(seq(4), &[(seq(5), seq(12))]);
    let now: Vec<u32> = drill.sent();
    assert!(!now.contains(&seq(4)), "it may be late, too");
    // A quarter of the least round trip of 40 ms later, and 2 ms for the timer, it is lost.
    assert_eq!(drill.timer(), ms(80 + 10 + 2 + 1), "the tick after");
    assert_eq!(drill.sent()[0], seq(4));
}

#[test]
fn more_duplicates_than_retransmissions_are_not_believed() {
    let mut drill = Drill::sender(new_reno(), ms(40));
    drill.sent();
    drill.at(ms(80));
    drill.ack_with(seq(2), &[(seq(0), seq(2))]);
    drill.sent();
    assert_eq!(drill.end.sender().statistics().undone, 0);
    assert!(!drill.end.sender().in_recovery());
}

//! Tests of loss recovery.

use super::*;

/// A NewReno sender with `n` segments outstanding, in avoidance or not, and an RTT of 10 ms.
fn with_flight(config: TcpConfig, n: u32) -> Drill {
    let mut drill = Drill::sender(TcpConfig { initial_window: n, ..config }, ms(10));
    assert_eq!(drill.sent().len(), n as usize);
    drill.at(ms(20));
    drill
}

#[test]
fn two_duplicates_send_new_data_and_the_third_sends_the_lost_segment_again() {
    let mut drill = with_flight(new_reno(), 10);
    drill.ack_with(seq(0), &[(seq(1), seq(2))]);
    assert_eq!(drill.sent(), [seq(10)], "limited transmit, RFC 3042");
    drill.ack_with(seq(0), &[(seq(1), seq(3))]);
    assert_eq!(drill.sent(), [seq(11)]);
    drill.ack_with(seq(0), &[(seq(1), seq(4))]);
    assert_eq!(drill.sent(), [seq(0)], "fast retransmit");
    assert!(drill.end.sender().in_recovery());
    drill.ack_with(seq(0), &[(seq(1), seq(5))]);
    assert!(!drill.sent().contains(&seq(0)), "once is enough");
    assert_eq!(drill.end.sender().statistics().retransmits, 1);
}

#[test]
fn a_jump_by_three_segments_in_one_acknowledgement_is_enough() {
    let mut drill = with_flight(new_reno(), 10);
    drill.ack_with(seq(0), &[(seq(1), seq(4))]);
    assert_eq!(drill.sent()[0], seq(0));
}

#[test]
fn new_reno_leaves_the_recovery_with_half_the_window() {
    let mut drill = with_flight(new_reno(), 20);
    let mut sent = 0;
    for n in 2..=20 {
        drill.ack_with(seq(0), &[(seq(1), seq(n))]);
        sent += drill.sent().len() as u64;
    }
    // Two by limited transmit; then RFC 6937's share of the 17 segments delivered in the recovery,
    // which began with 22 outstanding: 17 * 10 / 22, rounded up.
    assert_eq!(sent, 2 + 8);
    assert_eq!(drill.end.sender().ssthresh(), 10 * u64::from(MSS));
    assert_eq!(drill.end.sender().in_flight(), 10 * u64::from(MSS), "half of 20");
    drill.ack(seq(20));
    assert!(drill.end.sender().in_recovery(), "20 and 21 were outstanding, too, when it began");
    drill.sent();
    drill.ack(seq(22));
    assert!(!drill.end.sender().in_recovery());
    assert_eq!(drill.window(), 10);
}

#[test]
fn cubic_leaves_the_recovery_with_seven_tenths_of_the_window() {
    let mut drill = with_flight(TcpConfig::default(), 20);
    for n in 2..=20 {
        drill.ack_with(seq(0), &[(seq(1), seq(n))]);
        drill.sent();
    }
    drill.ack(seq(23));
    assert!(!drill.end.sender().in_recovery());
    assert_eq!(drill.window(), 14);
}

#[test]
fn several_holes_are_filled_in_order_and_in_one_recovery() {
    let mut drill = with_flight(new_reno(), 20);
    // Segments 0, 5 and 9 are lost.
    drill.ack_with(seq(0), &[(seq(1), seq(5))]);
    let mut again: Vec<u32> = drill.sent();
    for n in 11..=20 {
        let blocks = [(seq(10), seq(n)), (seq(6), seq(9)), (seq(1), seq(5))];
        drill.ack_with(seq(0), &blocks);
        again.extend(drill.sent());
    }
    let holes: Vec<u32> = again.into_iter().filter(|s| *s < seq(20)).collect();
    assert_eq!(holes, [seq(0), seq(5), seq(9)]);
    // A partial acknowledgement neither ends the recovery nor reduces again (RFC 6582).
    drill.ack_with(seq(5), &[(seq(10), seq(20)), (seq(6), seq(9))]);
    assert!(drill.end.sender().in_recovery());
    assert_eq!(drill.end.sender().statistics().congestion_events, 1);
}

#[test]
fn acknowledgements_in_a_recovery_do_not_grow_the_window() {
    let mut drill = with_flight(new_reno(), 20);
    drill.ack_with(seq(0), &[(seq(1), seq(8))]);
    drill.sent();
    for n in 9..=20 {
        drill.ack_with(seq(0), &[(seq(1), seq(n))]);
        drill.sent();
        assert!(drill.end.sender().window() <= 20 * u64::from(MSS));
    }
    assert_eq!(drill.end.sender().ssthresh(), 10 * u64::from(MSS));
}

#[test]
fn a_loss_among_what_was_sent_in_a_recovery_begins_another_one() {
    let mut drill = with_flight(new_reno(), 20);
    let mut sent = Vec::new();
    for n in 4..=20 {
        drill.ack_with(seq(0), &[(seq(1), seq(n))]);
        sent.extend(drill.sent());
    }
    // Of the new data of the recovery, from segment 20 on, the first is lost.
    let last = sent.iter().max().copied().expect("new data") + MSS;
    assert!(last >= seq(24), "three segments behind the second hole");
    drill.at(ms(30));
    drill.ack_with(seq(20), &[(seq(21), last)]);
    assert!(drill.end.sender().in_recovery());
    assert_eq!(drill.sent()[0], seq(20));
    assert_eq!(drill.end.sender().statistics().congestion_events, 2);
    assert_eq!(drill.end.sender().ssthresh(), 5 * u64::from(MSS));
}

#[test]
fn a_retransmission_is_lost_when_something_sent_after_it_has_arrived() {
    let mut drill = with_flight(new_reno(), 20);
    drill.ack_with(seq(0), &[(seq(1), seq(4))]);
    assert_eq!(drill.sent()[0], seq(0));
    // Earlier transmissions give no information about the retransmission.
    drill.at(ms(25));
    let mut later = Vec::new();
    for n in 5..=20 {
        drill.ack_with(seq(0), &[(seq(1), seq(n))]);
        later.extend(drill.sent());
    }
    assert!(later.iter().all(|s| *s >= seq(20)), "{later:?}");
    // New data sent after it have arrived, and it has not.
    drill.at(ms(36));
    drill.ack_with(seq(0), &[(seq(1), later[0] + MSS)]);
    assert_eq!(drill.sent()[0], seq(0));
    let statistics = drill.end.sender().statistics();
    assert_eq!((statistics.retransmits, statistics.timeouts), (2, 0));
    assert_eq!(statistics.congestion_events, 1, "still the same recovery");
}

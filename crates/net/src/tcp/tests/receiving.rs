//! Tests of the receiving half.

use super::*;

fn sack(segment: &TcpSegment) -> Vec<(u32, u32)> {
    let relative = |(left, right): &(u32, u32)| (left - PEER, right - PEER);
    segment.options.sack.as_slice().iter().map(relative).collect()
}

#[test]
fn the_first_sixteen_segments_are_acknowledged_at_once_and_then_every_second() {
    // Linux's TCP_MAX_QUICKACKS; RFC 5681 section 4.2 for the rest.
    let mut drill = Drill::settled_receiver(TcpConfig::default());
    for n in QUICK..QUICK + 6 {
        drill.data(n);
        if n % 2 == 0 {
            drill.nothing();
        } else {
            assert_eq!(drill.one().ack, PEER + seq(n + 1));
        }
    }
}

#[test]
fn a_single_segment_is_acknowledged_at_the_tick_after_40_ms() {
    let mut drill = Drill::settled_receiver(TcpConfig::default());
    drill.at(ms(5));
    drill.data(QUICK);
    drill.nothing();
    drill.at(Time(ms(46).0 - 1));
    drill.nothing();
    assert_eq!(drill.timer(), ms(46));
    assert_eq!(drill.one().ack, PEER + seq(QUICK + 1));
    assert_eq!(drill.end.next_timer(), None);
}

/// A segment of the peer's data with more flags.
fn flagged(drill: &mut Drill, n: u32, flags: TcpFlags) {
    let options = peer_options(drill.now);
    let seq = PEER + seq(n);
    drill.inject(TcpSegment { seq, payload: MSS, options, flags: ACK | flags, ..peer(1) });
}

#[test]
fn pushed_data_are_acknowledged_at_once_because_the_application_reads_them() {
    let mut drill = Drill::settled_receiver(TcpConfig::default());
    flagged(&mut drill, QUICK, TcpFlags::PSH);
    assert_eq!(drill.one().ack, PEER + seq(QUICK + 1));
}

#[test]
fn an_end_that_answers_lets_its_acknowledgements_ride_on_the_answers() {
    let mut drill = Drill::settled_receiver(TcpConfig::default());
    flagged(&mut drill, QUICK, TcpFlags::PSH);
    drill.end.set_written(100);
    let answer = drill.one();
    assert_eq!((answer.payload, answer.ack), (100, PEER + seq(QUICK + 1)));
    // In ping-pong mode the next request waits for its answer.
    drill.at(ms(1));
    flagged(&mut drill, QUICK + 1, TcpFlags::PSH);
    drill.nothing();
    drill.end.set_written(200);
    drill.inject(TcpSegment { ack: 101, options: peer_options(drill.now), ..peer(1) });
    assert_eq!(drill.one().ack, PEER + seq(QUICK + 2));
}

#[test]
fn a_duplicate_is_reported_once_in_the_first_block() {
    // RFC 2883 section 4.1: below what is acknowledged.
    let mut drill = Drill::settled_receiver(TcpConfig::default());
    drill.data(3);
    let ack = drill.one();
    assert_eq!((ack.ack, sack(&ack)), (PEER + seq(QUICK), vec![(seq(3), seq(4))]));
    drill.data(QUICK);
    assert_eq!(sack(&drill.one()), []);
    // Section 4.2: within what waits behind a gap, whose block follows.
    drill.data(QUICK + 2);
    drill.one();
    drill.data(QUICK + 3);
    drill.one();
    drill.data(QUICK + 2);
    let blocks = sack(&drill.one());
    let waiting = (seq(QUICK + 2), seq(QUICK + 4));
    assert_eq!(blocks, [(seq(QUICK + 2), seq(QUICK + 3)), waiting]);
}

#[test]
fn after_three_reports_of_a_gap_one_acknowledgement_goes_for_those_of_a_twentieth_round_trip() {
    // Linux's tcp_comp_sack_delay_ns: at most 1 ms; the handshake has measured 10 ms.
    let mut drill = Drill::new(Connection::listen(TcpConfig::default()));
    let options = full_offer();
    drill.inject(TcpSegment { flags: TcpFlags::SYN, options, ..peer(0) });
    drill.one();
    drill.at(ms(10));
    drill.inject(peer(1));
    for n in 0..QUICK {
        drill.data(n);
        drill.one();
    }
    for n in 1..=3 {
        drill.data(QUICK + n);
        assert_eq!(sack(&drill.one()), [(seq(QUICK + 1), seq(QUICK + n + 1))]);
    }
    for n in 4..=6 {
        drill.data(QUICK + n);
        drill.nothing();
    }
    // And a tenth of a millisecond, by which the kernel lets this timer be late.
    assert_eq!(drill.timer(), ms(10) + Time::from_micros(500 + 100));
    assert_eq!(sack(&drill.one()), [(seq(QUICK + 1), seq(QUICK + 7))]);
    drill.data(QUICK);
    assert_eq!(drill.one().ack, PEER + seq(QUICK + 7), "the gap is closed");
}

#[test]
fn data_behind_a_gap_is_reported_at_once_with_every_segment() {
    let mut drill = Drill::receiver(TcpConfig::default());
    drill.data(0);
    drill.one();
    drill.data(2);
    let first = drill.one();
    assert_eq!(first.ack, PEER + seq(1));
    assert_eq!(sack(&first), [(seq(2), seq(3))]);
    drill.data(3);
    assert_eq!(sack(&drill.one()), [(seq(2), seq(4))]);
}

#[test]
fn closing_a_gap_is_acknowledged_at_once() {
    let mut drill = Drill::receiver(TcpConfig::default());
    drill.data(1);
    drill.one();
    drill.data(0);
    let ack = drill.one();
    assert_eq!(ack.ack, PEER + seq(2));
    assert_eq!(sack(&ack), []);
    assert_eq!(drill.end.receiver().delivered(), 2 * u64::from(MSS));
}

#[test]
fn the_block_that_changed_last_comes_first_and_three_fit_next_to_timestamps() {
    // RFC 2018 section 4: the first block is the one with the segment that has just arrived.
    let mut drill = Drill::receiver(TcpConfig::default());
    for n in [2, 4, 6, 8] {
        drill.data(n);
        drill.all();
    }
    drill.data(5);
    drill.timer();
    let blocks = sack(&drill.one());
    assert_eq!(blocks, [(seq(4), seq(7)), (seq(8), seq(9)), (seq(2), seq(3))]);
}

#[test]
fn a_duplicate_is_acknowledged_at_once() {
    let mut drill = Drill::receiver(TcpConfig::default());
    drill.data(0);
    drill.one();
    drill.data(1);
    drill.one();
    drill.data(0);
    assert_eq!(drill.one().ack, PEER + seq(2));
    assert_eq!(drill.end.receiver().delivered(), 2 * u64::from(MSS));
}

#[test]
fn a_delayed_acknowledgement_echoes_the_older_of_two_timestamps() {
    // RFC 7323 section 4.3 case A, so that the sender's measure includes the delay.
    let mut drill = Drill::settled_receiver(TcpConfig::default());
    drill.at(ms(10));
    drill.data(QUICK);
    drill.at(ms(30));
    drill.data(QUICK + 1);
    assert_eq!(drill.one().options.timestamps, Some(Timestamps { value: 30, echo: 10 }));
}

#[test]
fn behind_a_gap_the_timestamp_of_the_last_segment_in_order_is_echoed() {
    // RFC 7323 section 4.3 case B.
    let mut drill = Drill::receiver(TcpConfig::default());
    drill.at(ms(10));
    drill.data(0);
    drill.at(ms(20));
    drill.data(2);
    assert_eq!(drill.one().options.timestamps.map(|t| t.echo), Some(10));
    // Case C: the segment that fills the gap brings its own.
    drill.at(ms(60));
    drill.data(1);
    assert_eq!(drill.one().options.timestamps.map(|t| t.echo), Some(60));
}

#[test]
fn a_segment_with_an_older_timestamp_is_answered_and_dropped() {
    // RFC 7323 section 5.3 (PAWS).
    let mut drill = Drill::receiver(TcpConfig::default());
    drill.at(ms(50));
    drill.data(0);
    drill.data(1);
    drill.one();
    let options = peer_options(ms(49));
    drill.inject(TcpSegment { seq: PEER + seq(2), payload: MSS, options, ..peer(1) });
    assert_eq!(drill.one().ack, PEER + seq(2));
}

#[test]
fn the_window_is_announced_in_units_of_its_scale() {
    let mut drill = Drill::receiver(TcpConfig::default());
    drill.data(0);
    drill.data(1);
    // For 64 MiB the scale is 11. Half of the first buffer of 128 KiB less a segment, rounded up,
    // but the handshake announced 65,535: 32 units are 65,536.
    assert_eq!(drill.one().window, 32);
}

/// A receiver whose handshake took 20 ms, so that reports wait for 1 ms, past the first segments.
fn receiver_that_compresses() -> Drill {
    let mut drill = Drill::new(Connection::listen(TcpConfig::default()));
    let options = full_offer();
    drill.inject(TcpSegment { seq: PEER, flags: TcpFlags::SYN, options, ..peer(0) });
    drill.one();
    drill.at(ms(20));
    drill.inject(peer(1));
    (0..QUICK).for_each(|n| {
        drill.data(n);
        drill.one();
    });
    drill
}

/// Segments `from` up to `to` behind the first ones.
fn behind(from: u32, to: u32) -> (u32, u32) {
    (seq(QUICK + from), seq(QUICK + to))
}

#[test]
fn a_compressed_report_goes_before_a_third_range_crowds_one_out() {
    // Linux's tcp_sack_new_ofo_skb: an acknowledgement holds three ranges, and two are counted on.
    let mut drill = receiver_that_compresses();
    for n in [1, 3, 5] {
        drill.data(QUICK + n);
        assert_eq!(sack(&drill.one())[0], behind(n, n + 1), "the first three at once");
    }
    drill.data(QUICK + 7);
    drill.nothing();
    // Every second segment is lost. What waits is said before the next range is.
    drill.data(QUICK + 9);
    assert_eq!(sack(&drill.one()), [behind(7, 8), behind(5, 6), behind(3, 4)]);
    assert_eq!(drill.end.next_timer(), None, "of that range nothing is said by itself");
    // Data of a range that was reported last can wait.
    drill.data(QUICK + 10);
    drill.nothing();
    drill.data(QUICK + 8);
    drill.nothing();
    drill.timer();
    assert_eq!(sack(&drill.one()), [behind(7, 11), behind(5, 6), behind(3, 4)]);
}

#[test]
fn repairs_of_every_second_segment_behind_a_loss_are_acknowledged_two_at_a_time() {
    // Linux stores four ranges: a repair between two segments that are not among them is a range of
    // its own, and waiting reports precede it.
    let mut drill = receiver_that_compresses();
    (0..8).for_each(|n| {
        drill.data(QUICK + 2 * n + 1);
        drill.all();
    });
    if drill.end.next_timer().is_some() {
        drill.timer();
        drill.all();
    }
    let reported = [2, 4, 6, 8, 10, 12].map(|n| {
        drill.data(QUICK + n);
        drill.all().iter().map(sack).collect::<Vec<_>>()
    });
    let repaired = |n: u32| behind(n, n + 1);
    assert_eq!(reported[1], [[repaired(2), repaired(15), repaired(13)]]);
    assert_eq!(reported[3], [[repaired(6), repaired(4), repaired(2)]]);
    assert_eq!(reported[5], [[repaired(10), repaired(8), repaired(6)]]);
    assert!(reported[0].is_empty() && reported[2].is_empty() && reported[4].is_empty());
    drill.data(QUICK);
    assert_eq!(drill.one().ack, PEER + seq(QUICK + 14), "what arrived counts, told or not");
}

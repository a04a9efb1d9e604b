//! Tests of the sending half.

use super::*;

#[test]
fn the_initial_window_has_ten_segments() {
    let mut drill = Drill::sender(TcpConfig::default(), ms(10));
    assert_eq!(drill.sent(), (0..10).map(seq).collect::<Vec<_>>());
}

#[test]
fn slow_start_doubles_the_flight_each_round_trip() {
    let mut drill = Drill::sender(TcpConfig::default(), ms(10));
    let mut flight = drill.sent();
    for expected in [20, 40, 80] {
        drill.at(drill.now + ms(10));
        let mut next = Vec::new();
        // The receiver acknowledges every second segment; each releases four.
        for pair in flight.chunks(2) {
            drill.ack(pair[1] + MSS);
            let sent = drill.sent();
            assert_eq!(sent.len(), 4);
            next.extend(sent);
        }
        assert_eq!(next.len(), expected);
        flight = next;
    }
}

#[test]
fn the_round_trip_time_is_measured_in_nanoseconds_from_the_oldest_segment() {
    let mut drill = Drill::sender(TcpConfig::default(), Time(10_000_000));
    drill.all();
    drill.at(Time(10_000_000 + 10_800_008));
    drill.ack(seq(2));
    // 7/8 of 10 ms and 1/8 of 10.800008 ms.
    assert_eq!(drill.end.sender().rtt().srtt(), Time(10_100_001));
}

#[test]
fn the_peers_scaled_window_is_never_exceeded() {
    let mut drill = Drill::sender(TcpConfig::default(), ms(10));
    drill.all();
    drill.at(ms(20));
    // 100 << 7 = 12,800 bytes from the acknowledged byte on.
    let options = peer_options(drill.now);
    drill.inject(TcpSegment { ack: seq(10), window: 100, options, ..peer(1) });
    // A window never shrinks: what the handshake had opened, 65,535 bytes, still counts.
    let edge = 1 + 0xffff;
    let last = drill.all().last().copied().expect("data");
    assert!(last.seq + last.payload <= edge.max(seq(10) + 12_800));
    for n in (12..60).step_by(2) {
        drill.at(drill.now + ms(1));
        let options = peer_options(drill.now);
        drill.inject(TcpSegment { ack: seq(n), window: 100, options, ..peer(1) });
        for segment in drill.all() {
            assert!(segment.seq + segment.payload <= edge.max(seq(n) + 12_800));
        }
        if drill.end.sender().in_flight() == 0 {
            break;
        }
    }
}

#[test]
fn one_segment_that_is_not_full_may_be_out_and_the_next_waits_until_it_is_acknowledged() {
    let mut drill = Drill::quiet_sender(TcpConfig::default(), ms(10));
    drill.end.set_written(u64::from(MSS) + 100);
    let all = drill.all();
    assert_eq!(all.iter().map(|segment| segment.payload).collect::<Vec<_>>(), [MSS, 100]);
    drill.end.set_written(u64::from(MSS) + 150);
    drill.nothing();
    drill.at(ms(20));
    drill.ack(seq(1));
    drill.nothing();
    drill.ack(seq(1) + 100);
    assert_eq!(drill.one().payload, 50);
}

#[test]
fn the_last_segment_of_what_was_written_is_pushed() {
    let mut drill = Drill::quiet_sender(TcpConfig::default(), ms(10));
    drill.end.set_written(2 * u64::from(MSS));
    let pushed = |segment: &TcpSegment| segment.flags.contains(TcpFlags::PSH);
    assert_eq!(drill.all().iter().map(pushed).collect::<Vec<_>>(), [false, true]);
}

#[test]
fn an_application_that_does_not_use_the_window_does_not_grow_it() {
    let mut drill = Drill::quiet_sender(TcpConfig::default(), ms(10));
    let mut written = 0;
    for round in 1..50 {
        written += 2 * u64::from(MSS);
        drill.end.set_written(written);
        drill.all();
        drill.at(ms(10 + 10 * round));
        drill.ack(1 + written as u32);
        drill.nothing();
    }
    assert_eq!(drill.window(), 10);
}

#[test]
fn after_a_long_idle_time_the_window_is_the_initial_one_again() {
    let mut drill = Drill::quiet_sender(TcpConfig::default(), ms(10));
    drill.end.set_written(30 * u64::from(MSS));
    drill.sent();
    for n in (2..=30).step_by(2) {
        drill.at(drill.now + ms(1));
        drill.ack(seq(n));
        drill.sent();
    }
    assert!(drill.window() > 20);
    drill.at(drill.now + Time::from_secs(2));
    drill.end.set_written(u64::MAX);
    assert_eq!(drill.sent().len(), 10);
}

#[test]
fn segments_carry_the_clock_and_the_peers_last_timestamp() {
    let config = TcpConfig { timestamp_offset: 1_000, ..TcpConfig::default() };
    let mut drill = Drill::new(Connection::connect(config));
    drill.one();
    drill.at(ms(7));
    let timestamps = Some(Timestamps { value: 500, echo: 1_000 });
    drill.inject(syn_ack(TcpOptions { timestamps, ..full_offer() }));
    drill.end.set_written(u64::MAX);
    for segment in drill.all() {
        assert_eq!(segment.options.timestamps, Some(Timestamps { value: 1_007, echo: 500 }));
    }
}

#[test]
fn an_acknowledgement_of_data_never_sent_is_ignored() {
    let mut drill = Drill::sender(TcpConfig::default(), ms(10));
    drill.sent();
    drill.ack(seq(11));
    drill.nothing();
    assert_eq!(drill.end.sender().in_flight(), 10 * u64::from(MSS));
}

#[test]
fn a_segment_that_does_not_fit_the_peers_window_whole_waits_for_it() {
    let mut drill = Drill::sender(TcpConfig::default(), ms(10));
    drill.all();
    let mut acknowledge = |at: u64, n: u32, window: u16| {
        drill.at(ms(at));
        let options = peer_options(drill.now);
        drill.inject(TcpSegment { ack: seq(n), window, options, ..peer(1) });
        drill.sent()
    };
    assert_eq!(acknowledge(20, 10, 0).len(), 20);
    // The congestion window has 40, but the handshake has opened 65,535 bytes: 45 and 375 bytes.
    assert_eq!(acknowledge(30, 30, 0).last(), Some(&seq(44)));
    assert_eq!(acknowledge(40, 44, 0).len(), 0);
    // 10 << 7 = 1280 bytes beyond the 44th are less than what was open; 30 << 7 hold two and more.
    assert_eq!(acknowledge(41, 44, 10).len(), 0);
    assert_eq!(acknowledge(42, 44, 30), [seq(45)]);
}

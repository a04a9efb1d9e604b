//! Tests of the handshake.

use super::*;

#[test]
fn a_syn_offers_mss_sack_timestamps_and_window_scale() {
    let config = TcpConfig { initial_sequence: 77, timestamp_offset: 9, ..TcpConfig::default() };
    let mut drill = Drill::new(Connection::connect(config));
    drill.at(ms(3));
    let syn = drill.one();
    assert_eq!((syn.flags, syn.seq, syn.payload), (TcpFlags::SYN, 77, 0));
    assert_eq!(syn.window, 0xffff);
    let expected = TcpOptions {
        mss: Some(1460),
        // 64 MiB fit 16 bits after a shift of 11.
        window_scale: Some(11),
        sack_permitted: true,
        timestamps: Some(Timestamps { value: 12, echo: 0 }),
        sack: SackBlocks::default(),
        acc_ecn: None,
    };
    assert_eq!(syn.options, expected);
}

#[test]
fn a_syn_ack_offers_what_the_syn_offered_and_echoes_its_timestamp() {
    let mut drill = Drill::new(Connection::listen(TcpConfig::default()));
    let options =
        TcpOptions { timestamps: Some(Timestamps { value: 42, echo: 0 }), ..full_offer() };
    drill.inject(TcpSegment { seq: PEER, flags: TcpFlags::SYN, options, ..peer(0) });
    let answer = drill.one();
    assert_eq!(answer.flags, TcpFlags::SYN | ACK);
    assert_eq!(answer.ack, PEER + 1);
    assert_eq!(answer.options.timestamps, Some(Timestamps { value: 0, echo: 42 }));
    assert!(answer.options.sack_permitted && answer.options.window_scale.is_some());
}

#[test]
fn a_syn_without_options_gets_none_back_but_the_mss() {
    let mut drill = Drill::new(Connection::listen(TcpConfig::default()));
    drill.inject(TcpSegment { flags: TcpFlags::SYN, ..peer(0) });
    let expected = TcpOptions { mss: Some(1460), ..TcpOptions::default() };
    assert_eq!(drill.one().options, expected);
}

#[test]
fn the_client_acknowledges_before_it_sends_data() {
    let mut drill = Drill::new(Connection::connect(TcpConfig::default()));
    drill.one();
    drill.at(ms(20));
    drill.inject(syn_ack(full_offer()));
    drill.end.set_written(u64::MAX);
    let all = drill.all();
    assert_eq!((all[0].payload, all[0].flags, all[0].ack), (0, ACK, PEER + 1));
    assert_eq!((all[1].payload, all[1].seq), (MSS, 1));
    assert_eq!(drill.end.sender().rtt().srtt(), ms(20));
}

#[test]
fn a_syn_is_repeated_after_1_2_and_4_seconds_and_three_times_costs_the_initial_window() {
    let mut drill = Drill::new(Connection::connect(TcpConfig::default()));
    drill.one();
    // A timer of more than half a second expires at a multiple of 64 ticks.
    for at in [1024, 1024 + 2000 + 48, 3072 + 4000 + 32] {
        assert_eq!(drill.timer(), ms(at));
        assert_eq!(drill.one().flags, TcpFlags::SYN);
    }
    drill.inject(syn_ack(full_offer()));
    drill.one();
    drill.end.set_written(u64::MAX);
    assert_eq!(drill.sent(), [seq(0)]);
    // Karn's rule, and an echo of zero, which is none.
    assert_eq!(drill.end.sender().rtt().srtt(), Time::ZERO);
}

/// A client whose first `lost` SYNs are lost; the answer takes 50 ms and echoes the `echoed`-th SYN.
fn after_lost_syns(lost: usize, timestamps: bool, echoed: usize) -> Drill {
    let config = TcpConfig { timestamps, timestamp_offset: 1_000, ..TcpConfig::default() };
    let mut drill = Drill::new(Connection::connect(config));
    let mut syns = vec![drill.one()];
    for _ in 0..lost {
        drill.timer();
        syns.push(drill.one());
    }
    drill.at(drill.now + ms(50));
    let value = syns[echoed].options.timestamps.map(|timestamps| timestamps.value);
    let timestamps = value.map(|echo| Timestamps { value: 7, echo });
    drill.inject(syn_ack(TcpOptions { timestamps, ..full_offer() }));
    drill.one();
    drill.end.set_written(u64::MAX);
    drill
}

#[test]
fn one_lost_syn_leaves_the_initial_window_and_the_echo_measures_the_round_trip() {
    let mut drill = after_lost_syns(1, true, 1);
    assert_eq!(drill.all().len(), 10);
    assert_eq!(drill.end.sender().rtt().srtt(), ms(50));
}

#[test]
fn two_lost_syns_cost_the_initial_window_unless_the_first_is_answered() {
    let mut drill = after_lost_syns(2, true, 2);
    assert_eq!(drill.all().len(), 1);
    assert_eq!(drill.end.sender().rtt().srtt(), ms(50));
    // The first SYN was only late: Linux undoes (`tcp_try_undo_spurious_syn`).
    assert_eq!(after_lost_syns(2, true, 0).all().len(), 10);
}

#[test]
fn without_timestamps_a_repeated_syn_measures_nothing_and_data_wait_3_seconds() {
    // RFC 6298 section 5.7.
    let mut drill = after_lost_syns(1, false, 1);
    assert_eq!(drill.all().len(), 10);
    assert_eq!(drill.end.sender().rtt().srtt(), Time::ZERO);
    assert_eq!(drill.end.sender().rtt().rto(), Time::from_secs(3));
}

/// A server whose SYN-ACK was lost; whether its own timer or the client's SYN repeats it.
fn after_a_lost_syn_ack(by_timer: usize, by_client: usize) -> Drill {
    let config = TcpConfig { timestamp_offset: 1_000, ..TcpConfig::default() };
    let mut drill = Drill::new(Connection::listen(config));
    let syn = TcpSegment { seq: PEER, flags: TcpFlags::SYN, options: full_offer(), ..peer(0) };
    drill.inject(syn);
    let mut echo = drill.one().options.timestamps.unwrap().value;
    for n in 0..by_timer + by_client {
        if n < by_timer {
            drill.timer();
        } else {
            drill.at(drill.now + ms(400));
            drill.inject(syn);
        }
        echo = drill.one().options.timestamps.unwrap().value;
    }
    drill.at(drill.now + ms(50));
    let timestamps = Some(Timestamps { value: 9, echo });
    drill.inject(TcpSegment {
        options: TcpOptions { timestamps, ..TcpOptions::default() },
        ..peer(1)
    });
    drill.end.set_written(u64::MAX);
    drill
}

#[test]
fn one_lost_syn_ack_leaves_the_servers_initial_window_and_the_echo_measures_the_round_trip() {
    for (by_timer, by_client) in [(1, 0), (0, 1), (0, 2)] {
        let mut drill = after_a_lost_syn_ack(by_timer, by_client);
        assert_eq!(drill.all().len(), 10, "{by_timer} {by_client}");
        assert_eq!(drill.end.sender().rtt().srtt(), ms(50));
    }
    assert_eq!(after_a_lost_syn_ack(2, 0).all().len(), 1);
}

#[test]
fn a_repeated_syn_is_answered_again() {
    let mut drill = Drill::new(Connection::listen(TcpConfig::default()));
    let syn = TcpSegment { flags: TcpFlags::SYN, options: full_offer(), ..peer(0) };
    drill.inject(syn);
    let first = drill.one();
    drill.at(ms(500));
    drill.inject(syn);
    assert_eq!(drill.one().flags, first.flags);
}

#[test]
fn data_instead_of_the_last_acknowledgement_opens_the_connection() {
    let mut drill = Drill::new(Connection::listen(TcpConfig::default()));
    drill.inject(TcpSegment { flags: TcpFlags::SYN, options: full_offer(), ..peer(0) });
    drill.one();
    drill.data(0);
    drill.data(1);
    assert!(drill.end.is_established());
    assert_eq!(drill.one().ack, PEER + seq(2));
}

#[test]
fn an_mss_smaller_than_ours_bounds_our_segments() {
    let mut drill = Drill::new(Connection::connect(TcpConfig::default()));
    drill.one();
    drill.inject(syn_ack(TcpOptions { mss: Some(1000), ..full_offer() }));
    drill.one();
    drill.end.set_written(u64::MAX);
    // The timestamps option is taken off the MSS (RFC 6691).
    assert!(drill.all().iter().all(|segment| segment.payload == 988));
}

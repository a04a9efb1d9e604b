//! Tests of ECN, DCTCP and accurate ECN.

use super::*;
use crate::wire::Ecn;

fn ecn() -> TcpConfig {
    TcpConfig { ecn: true, ..new_reno() }
}

/// A sender that has agreed on ECN with its peer.
fn sender() -> Drill {
    let mut drill = Drill::new(Connection::connect(ecn()));
    assert_eq!(drill.one().flags, TcpFlags::SYN | TcpFlags::ECE | TcpFlags::CWR);
    drill.at(ms(10));
    let mut answer = syn_ack(full_offer());
    answer.flags = answer.flags | TcpFlags::ECE;
    drill.inject(answer);
    drill.one();
    drill.end.set_written(u64::MAX);
    drill
}

fn echo(drill: &mut Drill, ack: u32) {
    let options = peer_options(drill.now);
    drill.inject(TcpSegment { ack, options, flags: ACK | TcpFlags::ECE, ..peer(1) });
}

#[test]
fn data_are_ecn_capable_only_if_both_ends_agreed() {
    assert!(sender().all().iter().all(|segment| segment.ecn == Ecn::Ect0));
    let mut without = Drill::sender(ecn(), ms(10));
    assert!(without.all().iter().all(|segment| segment.ecn == Ecn::NotEct));
}

#[test]
fn an_echoed_mark_halves_the_window_once_per_window_and_is_answered_with_cwr_once() {
    let mut drill = sender();
    assert_eq!(drill.sent().len(), 10);
    drill.at(ms(20));
    let mut sent = Vec::new();
    for n in [2, 4, 6, 8, 10] {
        echo(&mut drill, seq(n));
        sent.extend(drill.all());
    }
    assert_eq!(drill.end.sender().ssthresh(), 5 * u64::from(MSS));
    assert_eq!(drill.end.sender().statistics().congestion_events, 1);
    assert_eq!(drill.end.sender().statistics().retransmits, 0);
    let cwr: Vec<bool> = sent.iter().map(|s| s.flags.contains(TcpFlags::CWR)).collect();
    assert!(cwr[0] && cwr[1..].iter().all(|flag| !flag), "{cwr:?}");
    // Behind the segment with CWR the receiver has stopped, and the window is at its threshold.
    drill.at(ms(30));
    drill.ack(seq(12));
    assert!(!drill.end.sender().in_recovery());
    assert_eq!(drill.window(), 5);
}

#[test]
fn a_retransmission_is_not_ecn_capable() {
    let mut drill = sender();
    drill.all();
    drill.at(ms(20));
    drill.ack_with(seq(0), &[(seq(1), seq(4))]);
    let all = drill.all();
    assert_eq!((all[0].seq, all[0].ecn), (seq(0), Ecn::NotEct));
}

#[test]
fn a_receiver_echoes_a_mark_until_the_sender_says_that_it_has_reduced() {
    let mut drill = Drill::new(Connection::listen(ecn()));
    let flags = TcpFlags::SYN | TcpFlags::ECE | TcpFlags::CWR;
    drill.inject(TcpSegment { flags, options: full_offer(), ..peer(0) });
    assert_eq!(drill.one().flags, TcpFlags::SYN | ACK | TcpFlags::ECE);
    drill.inject(peer(1));
    let mut arrive = |n: u32, ecn, flags| {
        let options = peer_options(drill.now);
        drill.inject(TcpSegment {
            seq: PEER + seq(n),
            payload: MSS,
            options,
            ecn,
            flags: ACK | flags,
            ..peer(1)
        });
        drill.all().iter().any(|ack| ack.flags.contains(TcpFlags::ECE))
    };
    let none = TcpFlags::default();
    assert!(!arrive(0, Ecn::Ect0, none) && !arrive(1, Ecn::Ect0, none));
    assert!(arrive(2, Ecn::Ce, none), "the mark is echoed");
    assert!(arrive(3, Ecn::Ect0, none), "and again");
    assert!(!arrive(4, Ecn::Ect0, TcpFlags::CWR), "until CWR");
    assert!(!arrive(5, Ecn::Ect0, none));
}

#[test]
fn the_first_mark_and_cwr_are_acknowledged_at_once() {
    // The sender's window may be so small that it waits for each acknowledgement.
    let mut drill = Drill::new(Connection::listen(ecn()));
    let flags = TcpFlags::SYN | TcpFlags::ECE | TcpFlags::CWR;
    drill.inject(TcpSegment { flags, options: full_offer(), ..peer(0) });
    drill.one();
    drill.inject(peer(1));
    let mut arrive = |n: u32, ecn, flags| {
        let options = peer_options(drill.now);
        let seq = PEER + seq(n);
        drill.inject(TcpSegment { seq, payload: MSS, options, ecn, flags: ACK | flags, ..peer(1) });
        drill.all().len()
    };
    let none = TcpFlags::default();
    assert!((0..QUICK).all(|n| arrive(n, Ecn::Ect0, none) == 1));
    assert_eq!(arrive(QUICK, Ecn::Ect0, none), 0);
    assert_eq!(arrive(QUICK + 1, Ecn::Ce, none), 1);
    assert_eq!(arrive(QUICK + 2, Ecn::Ce, none), 1, "two quick ones");
    assert_eq!(arrive(QUICK + 3, Ecn::Ce, none), 0);
    assert_eq!(arrive(QUICK + 4, Ecn::Ce, TcpFlags::CWR), 1);
    assert_eq!(arrive(QUICK + 5, Ecn::Ect0, TcpFlags::CWR), 1, "the window was reduced");
}

#[test]
fn a_loss_sets_cwr_so_that_the_receiver_stops_its_echo() {
    // RFC 3168 section 6.1.2: CWR whenever the window is reduced.
    let mut drill = sender();
    drill.all();
    drill.at(ms(20));
    drill.ack_with(seq(0), &[(seq(1), seq(4))]);
    let mut sent = drill.all();
    for n in 5..=10 {
        drill.ack_with(seq(0), &[(seq(1), seq(n))]);
        sent.extend(drill.all());
    }
    let cwr: Vec<(u32, bool)> =
        sent.iter().map(|s| (s.seq, s.flags.contains(TcpFlags::CWR))).collect();
    assert_eq!(cwr[0], (seq(0), false), "not on a retransmission");
    assert_eq!(cwr[1], (seq(10), true));
    assert!(cwr[2..].iter().all(|(_, flag)| !flag));
}

fn dctcp() -> TcpConfig {
    let congestion_control = CongestionControlName::new("dctcp").expect("it ships");
    TcpConfig { congestion_control, ..TcpConfig::default() }
}

#[test]
fn every_packet_of_dctcp_is_ecn_capable_the_syn_and_what_is_sent_again_too() {
    let mut drill = Drill::new(Connection::connect(dctcp()));
    let syn = drill.one();
    assert_eq!((syn.flags, syn.ecn), (TcpFlags::SYN | TcpFlags::ECE | TcpFlags::CWR, Ecn::Ect0));
    drill.at(ms(10));
    let mut answer = syn_ack(full_offer());
    answer.flags = answer.flags | TcpFlags::ECE;
    drill.inject(answer);
    assert_eq!(drill.one().ecn, Ecn::Ect0, "an acknowledgement without data");
    drill.end.set_written(u64::MAX);
    drill.all();
    drill.at(ms(20));
    drill.ack_with(seq(0), &[(seq(1), seq(4))]);
    let all = drill.all();
    assert_eq!((all[0].seq, all[0].ecn), (seq(0), Ecn::Ect0));
}

#[test]
fn dctcp_acknowledgements_report_whether_their_data_were_marked() {
    // RFC 8257 section 3.2, figure 1.
    let mut drill = Drill::new(Connection::listen(dctcp()));
    let flags = TcpFlags::SYN | TcpFlags::ECE | TcpFlags::CWR;
    drill.inject(TcpSegment { flags, options: full_offer(), ..peer(0) });
    assert_eq!(drill.one().ecn, Ecn::Ect0);
    drill.inject(peer(1));
    let mut arrive = |n: u32, ecn| {
        let options = peer_options(drill.now);
        let seq = PEER + seq(n);
        drill.inject(TcpSegment { seq, payload: MSS, options, ecn, flags: ACK, ..peer(1) });
        let reported = |ack: &TcpSegment| (ack.ack, ack.flags.contains(TcpFlags::ECE));
        drill.all().iter().map(reported).collect::<Vec<_>>()
    };
    let expects = |n: u32| PEER + seq(n);
    assert!((0..QUICK).all(|n| arrive(n, Ecn::Ect0) == [(expects(n + 1), false)]));
    assert!(arrive(QUICK, Ecn::Ect0).is_empty(), "it waits for a second one");
    let first = QUICK + 1;
    let both = [(expects(first), false), (expects(first + 1), true)];
    assert_eq!(arrive(first, Ecn::Ce), both, "what waited, not marked, and the marked one");
    assert!(arrive(first + 1, Ecn::Ce).is_empty());
    assert_eq!(arrive(first + 2, Ecn::Ce), [(expects(first + 3), true)], "two marked ones");
    assert_eq!(arrive(first + 3, Ecn::Ect0), [(expects(first + 4), false)], "none waited");
}

#[test]
fn dctcp_shrinks_by_half_the_share_that_was_marked() {
    let mut drill = Drill::new(Connection::connect(dctcp()));
    drill.one();
    drill.at(ms(10));
    let mut answer = syn_ack(full_offer());
    answer.flags = answer.flags | TcpFlags::ECE;
    drill.inject(answer);
    drill.one();
    drill.end.set_written(u64::MAX);
    drill.all();
    // The first acknowledgement ends the first round, in which nothing was marked: of all, 15/16 are left.
    drill.at(ms(20));
    echo(&mut drill, seq(2));
    assert_eq!(drill.end.sender().ssthresh(), 6 * u64::from(MSS), "10 less 10 * 15 / 32");
    assert_eq!(drill.end.sender().statistics().congestion_events, 1);
}

fn prague() -> TcpConfig {
    let congestion_control = CongestionControlName::new("prague").expect("it ships");
    TcpConfig { congestion_control, ..TcpConfig::default() }
}

/// Field of accurate feedback in the flags.
fn ace(segment: &TcpSegment) -> u16 {
    segment.flags.0 >> 6 & 7
}

#[test]
fn ends_that_count_marks_find_each_other_in_the_handshake() {
    // RFC 9768 section 3.1.1.
    let mut client = Drill::new(Connection::connect(prague()));
    let syn = client.one();
    assert_eq!((ace(&syn), syn.ecn), (0b111, Ecn::NotEct));
    let mut server = Drill::new(Connection::listen(prague()));
    server.inject(TcpSegment { flags: syn.flags, options: full_offer(), ..peer(0) });
    let syn_ack_sent = server.one();
    assert_eq!(ace(&syn_ack_sent), 0b010, "the SYN was not ECN-capable");
    assert_eq!(syn_ack_sent.options.acc_ecn.unwrap().ce, Some(0), "the counters as they begin");
    client.at(ms(10));
    let answer = syn_ack(full_offer());
    let flags = answer.flags | TcpFlags::CWR;
    client.inject(TcpSegment { flags, ecn: Ecn::Ect0, ..answer });
    assert_eq!(ace(&client.one()), 0b100, "the SYN-ACK was ECT(0)");
    client.end.set_written(u64::MAX);
    let sent = client.all();
    assert!(sent.iter().all(|segment| ace(segment) == 5 && segment.ecn == Ecn::Ect1));
    assert!(sent.iter().all(|segment| segment.options.acc_ecn.is_none()), "no room beside data");
}

#[test]
fn acknowledgements_report_the_marked_bytes_unless_sack_needs_the_room() {
    let mut server = Drill::new(Connection::listen(prague()));
    let flags = TcpFlags::SYN | TcpFlags::AE | TcpFlags::CWR | TcpFlags::ECE;
    server.inject(TcpSegment { flags, options: full_offer(), ..peer(0) });
    server.one();
    server.at(ms(10));
    let options = peer_options(server.now);
    server.inject(TcpSegment { ack: 1, options, flags: ACK, ..peer(1) });
    let data = TcpSegment { ack: 1, options, payload: 100, ecn: Ecn::Ce, flags: ACK, ..peer(1) };
    server.inject(data);
    let reported = server.all();
    assert_eq!(reported.last().unwrap().options.acc_ecn.unwrap().ce, Some(100), "{reported:?}");
    // A hole, and another: two ranges and the timestamps leave eight bytes, three leave none.
    let mut fields = Vec::new();
    for gap in [301, 501, 701] {
        server.inject(TcpSegment { ecn: Ecn::Ect1, seq: PEER + gap, ..data });
        let option = server.all().last().unwrap().options.acc_ecn;
        fields.push(option.map(|counters| counters.ect0.is_some()));
    }
    assert_eq!(fields, [Some(true), Some(false), None]);
}

#[test]
fn an_end_that_counts_marks_speaks_classic_ecn_with_one_that_does_not() {
    let mut server = Drill::new(Connection::listen(prague()));
    let flags = TcpFlags::SYN | TcpFlags::ECE | TcpFlags::CWR;
    server.inject(TcpSegment { flags, options: full_offer(), ..peer(0) });
    assert_eq!(server.one().flags, TcpFlags::SYN | ACK | TcpFlags::ECE);
}

#[test]
fn each_mark_is_counted_and_the_sender_shrinks_by_their_share() {
    let mut client = Drill::new(Connection::connect(prague()));
    client.one();
    client.at(ms(10));
    let answer = syn_ack(full_offer());
    client.inject(TcpSegment { flags: answer.flags | TcpFlags::CWR, ..answer });
    client.one();
    client.end.set_written(u64::MAX);
    client.all();
    client.at(ms(20));
    let options = peer_options(client.now);
    // Six: one more than both began with.
    let flags = ACK | TcpFlags::AE | TcpFlags::CWR;
    client.inject(TcpSegment { ack: seq(2), options, flags, ..peer(1) });
    // The share is one until a round trip with a mark has been averaged: half of ten.
    assert_eq!(client.end.sender().ssthresh(), 5 * u64::from(MSS));
    assert_eq!(client.end.sender().statistics().congestion_events, 1);
    let sent = client.all();
    assert!(sent.iter().all(|segment| ace(segment) == 5), "no CWR among the counter");
}

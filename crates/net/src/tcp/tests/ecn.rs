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
fn a_loss_is_told_to_the_receiver_too_so_that_it_stops_to_echo() {
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

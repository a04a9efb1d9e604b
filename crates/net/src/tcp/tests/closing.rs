//! Tests of how a connection closes.

use super::*;

#[test]
fn the_last_segment_carries_the_fin_and_both_directions_close() {
    let mut drill = Drill::quiet_sender(TcpConfig::default(), ms(10));
    drill.end.set_written(u64::from(MSS) + 10);
    drill.end.close();
    let all = drill.all();
    assert_eq!(all.len(), 2);
    assert_eq!(all[1].payload, 10);
    assert!(!all[0].flags.contains(TcpFlags::FIN) && all[1].flags.contains(TcpFlags::FIN));
    drill.at(ms(20));
    drill.ack(seq(1) + 10 + 1);
    assert_eq!(drill.end.next_timer(), None, "the FIN is acknowledged");
    drill.inject(TcpSegment {
        ack: seq(1) + 11,
        flags: ACK | TcpFlags::FIN,
        options: peer_options(drill.now),
        ..peer(1)
    });
    assert_eq!(drill.one().ack, PEER + 2);
    assert!(drill.end.receiver().is_finished());
}

#[test]
fn a_connection_closed_with_nothing_left_to_send_sends_a_bare_fin_and_repeats_it() {
    let mut drill = Drill::quiet_sender(TcpConfig::default(), ms(10));
    drill.end.set_written(0);
    drill.end.close();
    let fin = drill.one();
    assert_eq!((fin.payload, fin.seq), (0, 1));
    assert!(fin.flags.contains(TcpFlags::FIN));
    drill.timer();
    let again = drill.one();
    assert_eq!((again.payload, again.seq, again.flags), (0, 1, fin.flags));
}

#[test]
fn a_fin_is_acknowledged_at_once_and_is_not_delivered_as_data() {
    let mut drill = Drill::receiver(TcpConfig::default());
    let options = peer_options(drill.now);
    drill.inject(TcpSegment { payload: 10, flags: ACK | TcpFlags::FIN, options, ..peer(1) });
    assert_eq!(drill.one().ack, PEER + 12);
    assert_eq!(drill.end.receiver().delivered(), 10);
    drill.end.close();
    assert!(drill.one().flags.contains(TcpFlags::FIN));
}

#[test]
fn what_remains_of_a_closed_end_acknowledges_a_repeated_fin_and_no_acknowledgement() {
    let mut drill = Drill::quiet_sender(TcpConfig::default(), ms(10));
    drill.end.set_written(10);
    drill.end.close();
    drill.one();
    drill.at(ms(20));
    drill.ack(12);
    assert_eq!(drill.end.linger(), None, "the peer may still send");
    let options = peer_options(drill.now);
    let fin = TcpSegment { ack: 12, flags: ACK | TcpFlags::FIN, options, ..peer(1) };
    drill.inject(fin);
    assert_eq!(drill.end.linger(), None, "an acknowledgement is owed");
    let last = drill.one();
    let rto = drill.end.sender().rtt().rto();
    assert_eq!(drill.end.linger(), Some(Time(rto.0 / 2 * 7)));
    let Drill { end, now } = drill;
    let mut remains = end.into_time_wait();
    remains.receive(&&TcpSegment { flags: ACK, seq: PEER + 2, ..fin });
    assert_eq!(remains.poll_transmit(now), None);
    remains.receive(&&fin);
    assert_eq!(remains.poll_transmit(now), Some(last));
    assert_eq!(remains.poll_transmit(now), None);
}

//! Tests of retransmission timeouts.

use super::*;
use crate::tcp::Hz;

#[test]
fn the_timer_expires_200_ms_after_the_smoothed_round_trip() {
    // One measurement of 40 ms: 4 * 20 ms of variation are below the minimum of 200 ms. Timers of
    // more than 62 ms expire at the next multiple of 8 ms.
    let mut drill = Drill::plain_sender(TcpConfig::default(), ms(40));
    drill.sent();
    assert_eq!(drill.timer(), ms(40 + 40 + 200 + 8));
    assert_eq!(drill.sent(), [seq(0)], "one segment");
    assert_eq!(drill.window(), 1);
    assert_eq!(drill.end.sender().ssthresh(), 7 * u64::from(MSS));
}

#[test]
fn timeouts_expire_at_the_ticks_of_the_kernel() {
    // 40 ms and 200 ms of variation are 24, 60, and 72 ticks; of 63 and more the wheel makes eights.
    for (hz, expires) in [(Hz::Hz100, ms(290)), (Hz::Hz250, ms(284)), (Hz::Hz1000, ms(288))] {
        let mut drill = Drill::plain_sender(TcpConfig { hz, ..TcpConfig::default() }, ms(40));
        drill.sent();
        assert_eq!(drill.timer(), expires);
    }
}

#[test]
fn the_least_timeout_is_a_tick() {
    // A round trip of 0.2 ms varies by 0.4 ms; the least of 1 ms is a tick of 10 ms.
    let short = TcpConfig { hz: Hz::Hz100, min_rto: ms(1), ..TcpConfig::default() };
    let mut drill = Drill::plain_sender(short, Time::from_micros(200));
    drill.sent();
    assert_eq!(drill.end.sender().rtt().rto(), ms(20), "10.2 ms in whole ticks");
    assert_eq!(drill.timer(), ms(30), "the tick after");
}

#[test]
fn a_large_variation_counts_instead_of_the_minimum() {
    let mut drill = Drill::plain_sender(TcpConfig::default(), ms(400));
    drill.sent();
    assert_eq!(drill.timer(), ms(400 + 400 + 4 * 200 + 64), "the next multiple of 64");
}

#[test]
fn the_timeout_doubles_until_something_is_acknowledged_and_the_threshold_falls_once() {
    let plain = TcpConfig { sack: false, ..TcpConfig::default() };
    let mut drill = Drill::quiet_sender(plain, ms(40));
    // Nothing new that F-RTO could send.
    drill.end.set_written(10 * u64::from(MSS));
    drill.sent();
    // 240 ms from 40 on, and so forth: at the next multiple of 8 ms, from 504 ms on of 64 ms.
    for at in [288, 288 + 480 + 8, 776 + 960 + 56, 1792 + 1920 + 64, 3776 + 3840 + 64] {
        assert_eq!(drill.timer(), ms(at));
        assert_eq!(drill.sent(), [seq(0)]);
    }
    let at = drill.now;
    assert_eq!(drill.end.sender().ssthresh(), 7 * u64::from(MSS));
    assert_eq!(drill.end.sender().statistics().timeouts, 5);
    drill.at(at + ms(40));
    drill.ack(seq(1));
    assert_eq!(drill.sent(), [seq(1), seq(2)], "slow start over what is still missing");
    // The echoed timestamp has measured a round trip, so the backoff is forgotten.
    let rto = drill.end.sender().rtt().rto();
    assert_eq!(drill.timer(), Hz::default().expiry(at + ms(40), rto));
}

#[test]
fn without_timestamps_a_segment_sent_twice_measures_nothing() {
    let mut drill = Drill::new(Connection::connect(TcpConfig::default()));
    drill.one();
    drill.at(ms(40));
    let offer = TcpOptions { timestamps: None, sack_permitted: false, ..full_offer() };
    drill.inject(syn_ack(offer));
    drill.end.set_written(1460);
    drill.all();
    assert_eq!(drill.timer(), ms(288));
    drill.one();
    drill.at(ms(300));
    drill.inject(TcpSegment { ack: 1461, ..peer(1) });
    assert_eq!(drill.end.sender().rtt().srtt(), ms(40));
    assert_eq!(drill.end.next_timer(), None);
    // Karn: the backed-off timeout stays until a segment sent once is acknowledged.
    drill.end.set_written(2 * 1460);
    drill.one();
    assert_eq!(drill.timer(), ms(300 + 2 * 240 + 4));
}

#[test]
fn an_acknowledgement_of_new_data_starts_the_timer_anew() {
    let mut drill = Drill::plain_sender(TcpConfig::default(), ms(40));
    drill.sent();
    drill.at(ms(80));
    drill.ack(seq(2));
    drill.sent();
    let rto = drill.end.sender().rtt().rto();
    assert_eq!(drill.timer(), Hz::default().expiry(ms(80), rto));
}

#[test]
fn a_duplicate_does_not_start_the_timer_anew() {
    let mut drill = Drill::plain_sender(TcpConfig::default(), ms(40));
    drill.sent();
    drill.at(ms(100));
    drill.ack(seq(0));
    drill.sent();
    assert_eq!(drill.timer(), ms(288));
}

/// Lets timers expire until the retransmission timer has; what is sent then.
fn until_timeout(drill: &mut Drill) -> Vec<u32> {
    let before = drill.end.sender().statistics().timeouts;
    loop {
        drill.timer();
        if drill.end.sender().statistics().timeouts > before {
            return drill.sent();
        }
        drill.sent();
    }
}

#[test]
fn after_a_timeout_what_was_selectively_acknowledged_is_not_sent_again() {
    let mut drill = Drill::sender(new_reno(), ms(40));
    drill.sent();
    drill.at(ms(80));
    drill.ack_with(seq(0), &[(seq(2), seq(3)), (seq(5), seq(6))]);
    drill.sent();
    assert_eq!(until_timeout(&mut drill), [seq(0)]);
    let mut again = Vec::new();
    for n in [1, 3, 4, 6] {
        drill.at(drill.now + ms(40));
        drill.ack_with(seq(n), &[]);
        again.extend(drill.sent());
    }
    again.retain(|s| *s < seq(10));
    assert_eq!(again, [1, 3, 4, 6, 7, 8, 9].map(seq));
}

#[test]
fn a_threshold_stays_when_only_selective_acknowledgements_come_between_two_timeouts() {
    let mut drill = Drill::sender(new_reno(), ms(40));
    drill.sent();
    until_timeout(&mut drill);
    let threshold = drill.end.sender().ssthresh();
    drill.at(drill.now + ms(10));
    drill.ack_with(seq(0), &[(seq(1), seq(2))]);
    drill.sent();
    until_timeout(&mut drill);
    assert_eq!(drill.end.sender().statistics().timeouts, 2);
    assert_eq!(drill.end.sender().ssthresh(), threshold);
}

#[test]
fn nothing_outstanding_means_no_timer() {
    let mut drill = Drill::quiet_sender(TcpConfig::default(), ms(40));
    drill.end.set_written(u64::from(MSS));
    drill.sent();
    drill.at(ms(80));
    drill.ack(seq(1));
    assert_eq!(drill.end.next_timer(), None);
}

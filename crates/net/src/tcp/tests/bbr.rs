//! BBR through the sender: pacing. The control's own decisions are tested next to it.

use super::*;

fn bbr() -> TcpConfig {
    TcpConfig {
        congestion_control: CongestionControlName::new("bbr").unwrap(),
        ..TcpConfig::default()
    }
}

#[test]
fn the_initial_window_is_not_paced_and_what_follows_is() {
    let mut drill = Drill::sender(bbr(), ms(40));
    // 10 segments a round trip of 40 ms, times 2/ln 2 = 739/256 in Linux's units, less 1 %.
    let rate = drill.end.sender().pacing_rate().expect("BBR paces");
    let expected = 10.0 / 0.040 * 1448.0 * 739.0 / 256.0 * 0.99;
    assert!((rate as f64 / expected - 1.0).abs() < 1e-4, "{rate}");
    assert_eq!(drill.sent().len(), 10);
    drill.at(ms(80));
    drill.ack(seq(2));
    assert_eq!(drill.sent(), [seq(10)], "the window has room for four");
    // The first departure came late, so half of the gap is made up for.
    let gap = Time(u64::from(MSS) * 1_000_000_000 / rate);
    assert_eq!(drill.timer(), ms(80) + gap - Time(gap.0 / 2));
    assert_eq!(drill.sent(), [seq(11)]);
    assert_eq!(drill.timer(), ms(80) + gap - Time(gap.0 / 2) + gap);
    assert_eq!(drill.sent(), [seq(12)]);
}

#[test]
fn a_loss_does_not_halve_the_window() {
    let mut drill = Drill::sender(TcpConfig { initial_window: 20, ..bbr() }, ms(40));
    let mut sent = drill.sent().len();
    while sent < 20 {
        drill.timer();
        sent += drill.sent().len();
    }
    let now = drill.now.max(ms(80));
    drill.at(now);
    drill.ack_with(seq(0), &[(seq(1), seq(5))]);
    assert!(drill.end.sender().in_recovery());
    // Packet conservation: what was delivered may go, and the window is restored afterwards.
    assert_eq!(drill.end.sender().in_flight() / u64::from(MSS), 15);
    drill.timer();
    drill.sent();
    drill.at(drill.now + ms(40));
    drill.ack(seq(20));
    assert!(!drill.end.sender().in_recovery());
    assert!(drill.window() >= 20, "{}", drill.window());
}

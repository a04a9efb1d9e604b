//! Prague against a model of its reference's arithmetic, and against marks on a whole connection.
//!
//! [`Reference`] restates `tcp_prague.c` (module version 0.6, default parameters) in its own units:
//! microseconds, round trips of 128 us, one segment of change with each acknowledgement. Both run over
//! [`Path`], which acknowledges each segment after a round trip. The tables of `docs/tcp.md` are printed here.

use super::transfer::Transfer;
use super::*;
use crate::tcp::PacingRate;
use crate::tcp::congestion::{Ack, CongestionControl, Marked, RttSample, Start, Window};
use crate::wire::Ecn;
use std::collections::VecDeque;

/// One acknowledgement of one segment, as a sender sees it; offsets count segments.
#[derive(Clone, Copy)]
struct Seen {
    now: Time,
    una: u64,
    next: u64,
    is_marked: bool,
    /// Segments delivered so far, and of them with a mark.
    delivered: u64,
    marked: u64,
}

trait Flow {
    fn window(&self) -> u32;
    /// Continues at another window.
    fn restart(&mut self, cwnd: u32);
    /// A mark, before its acknowledgement is counted; `is_first` for the first of a round trip.
    fn on_mark(&mut self, seen: &Seen, is_first: bool);
    fn on_ack(&mut self, seen: &Seen);
}

const ONE: i64 = 1 << 20;

/// The model, in the reference's order: the mark, growth, the average.
struct Reference {
    cwnd: i64,
    ssthresh: i64,
    cwnd_cnt: i64,
    upscaled_alpha: i64,
    saw_ce: bool,
    round: u32,
    srtt_us: i64,
    ai_ack_increase: i64,
    alpha_stamp_us: u64,
    cwr_stamp_us: u64,
    next_seq: u64,
    old_delivered: u64,
    old_delivered_ce: u64,
}

impl Reference {
    /// In congestion avoidance at this window.
    fn new(cwnd: u32, rtt: Time) -> Reference {
        let mut model = Reference {
            cwnd: cwnd.into(),
            ssthresh: cwnd.into(),
            cwnd_cnt: 0,
            upscaled_alpha: ONE << 4,
            saw_ce: false,
            round: 0,
            srtt_us: (rtt.0 / 1_000) as i64,
            ai_ack_increase: 0,
            alpha_stamp_us: 0,
            cwr_stamp_us: 0,
            next_seq: 0,
            old_delivered: 0,
            old_delivered_ce: 0,
        };
        model.scale();
        model
    }

    fn scale(&mut self) {
        let (rtt, target) = (self.srtt_us >> 7, 25_000 >> 7);
        let scaled = self.round >= 500 && rtt != 0 && rtt < target;
        let square = target * target;
        self.ai_ack_increase = if scaled { (ONE * rtt * rtt + square / 2) / square } else { ONE };
    }

    fn is_rtt_independent(&self) -> bool {
        self.cwnd >= self.ssthresh && self.round >= 500
    }

    fn adjust(&mut self) {
        if self.cwnd_cnt <= -ONE {
            self.cwnd_cnt += ONE;
            self.cwnd -= 1;
            if self.cwnd < 2 {
                (self.cwnd, self.cwnd_cnt) = (2, 0);
            }
            self.ssthresh = self.cwnd;
        } else if self.cwnd_cnt >= ONE {
            self.cwnd_cnt -= ONE;
            self.cwnd += 1;
        }
        self.scale();
    }

    fn update_alpha(&mut self, seen: &Seen) {
        if self.saw_ce {
            let marked = (seen.marked - self.old_delivered_ce) as i64;
            let delivered = (seen.delivered - self.old_delivered) as i64;
            let alpha = self.upscaled_alpha - (self.upscaled_alpha >> 4);
            self.upscaled_alpha = (alpha + (marked << 20) / delivered.max(1)).min(ONE << 4);
            self.alpha_stamp_us = seen.now.0 / 1_000;
        }
        self.next_seq = seen.next;
        (self.old_delivered, self.old_delivered_ce) = (seen.delivered, seen.marked);
        self.round += u32::from(self.cwnd >= self.ssthresh);
        self.scale();
    }
}

impl Flow for Reference {
    fn window(&self) -> u32 {
        self.cwnd as u32
    }

    fn restart(&mut self, cwnd: u32) {
        (self.cwnd, self.ssthresh, self.cwnd_cnt) = (cwnd.into(), cwnd.into(), 0);
    }

    fn on_mark(&mut self, seen: &Seen, is_first: bool) {
        let now_us = seen.now.0 / 1_000;
        if !is_first {
            return;
        }
        if self.is_rtt_independent() && now_us - self.cwr_stamp_us < 24_960 {
            return;
        }
        self.cwr_stamp_us = now_us;
        self.cwnd_cnt -= ((self.upscaled_alpha >> 4) * (self.cwnd << 20) + ONE) >> 21;
    }

    fn on_ack(&mut self, seen: &Seen) {
        self.saw_ce |= seen.is_marked;
        if !seen.is_marked {
            self.cwnd_cnt += ((self.ai_ack_increase + self.cwnd / 2) / self.cwnd).max(1);
        }
        self.adjust();
        let elapsed = seen.now.0 / 1_000 - self.alpha_stamp_us;
        if seen.una >= self.next_seq && (!self.is_rtt_independent() || elapsed >= 24_960) {
            self.update_alpha(seen);
        }
    }
}

/// The shipped control in the same place.
struct Shipped {
    control: Box<dyn CongestionControl>,
    window: Window,
}

impl Shipped {
    fn new(cwnd: u32, rtt: Time) -> Shipped {
        let control = CongestionControlName::new("prague").expect("it ships");
        let start = Start {
            now: Time::ZERO,
            mss: MSS,
            window: cwnd,
            rtt: Some(rtt),
            base_rtt: None,
            hz: crate::tcp::Hz::default(),
            seed: 0,
        };
        Shipped { control: control.start(&start), window: Window::with_threshold(cwnd, cwnd) }
    }
}

impl Flow for Shipped {
    fn window(&self) -> u32 {
        self.window.cwnd
    }

    fn restart(&mut self, cwnd: u32) {
        self.window = Window::with_threshold(cwnd, cwnd);
    }

    fn on_mark(&mut self, seen: &Seen, is_first: bool) {
        self.control.reduce(&mut self.window, seen.now, is_first);
    }

    fn on_ack(&mut self, seen: &Seen) {
        let acked = u32::from(!seen.is_marked);
        self.control.on_ack(&mut self.window, &Ack { now: seen.now, acked, window_limited: true });
        let Seen { now, una, next, delivered, marked, .. } = *seen;
        // The control counts the SYN.
        let delivered = delivered + 1;
        self.control.on_marked(&self.window, &Marked { now, una, next, delivered, marked });
    }
}

/// Segments that are acknowledged one by one after a round trip.
struct Path<M> {
    rtt: Time,
    /// Whether the n-th segment, sent at that time, is marked.
    marks: M,
    /// Arrivals of acknowledgements.
    wire: VecDeque<(Time, bool)>,
    now: Time,
    sent: u64,
    delivered: u64,
    marked: u64,
    /// The window is being reduced until this segment is acknowledged.
    episode: Option<u64>,
}

impl<M: FnMut(u64, Time) -> bool> Path<M> {
    fn new(rtt: Time, marks: M) -> Path<M> {
        let (now, wire) = (Time::ZERO, VecDeque::new());
        Path { rtt, marks, wire, now, sent: 0, delivered: 0, marked: 0, episode: None }
    }

    fn send(&mut self, at: Time) {
        let is_marked = (self.marks)(self.sent, at);
        self.sent += 1;
        self.wire.push_back((at + self.rtt, is_marked));
    }

    /// Runs until `end`.
    fn run(&mut self, flow: &mut impl Flow, end: Time) {
        if self.sent == 0 {
            let window = u64::from(flow.window());
            (0..window).for_each(|n| self.send(Time(n * self.rtt.0 / window)));
        }
        while let Some((now, is_marked)) = self.wire.front().copied().filter(|(at, _)| *at <= end) {
            self.wire.pop_front();
            self.now = now;
            self.delivered += 1;
            self.marked += u64::from(is_marked);
            let Path { sent: next, delivered, marked, .. } = *self;
            let seen = Seen { now, una: delivered, next, is_marked, delivered, marked };
            self.episode = self.episode.filter(|end| delivered <= *end);
            if is_marked {
                let is_first = self.episode.is_none();
                self.episode = self.episode.or(Some(next));
                flow.on_mark(&seen, is_first);
            }
            flow.on_ack(&seen);
            while self.sent - self.delivered < u64::from(flow.window()) {
                self.send(now);
            }
        }
        self.now = end;
    }

    /// Segments delivered in each virtual round trip between two instants.
    fn mean(&mut self, flow: &mut impl Flow, from: Time, end: Time) -> f64 {
        self.run(flow, from);
        let before = self.delivered;
        self.run(flow, end);
        let rounds = (end - from).0 as f64 / virtual_rtt(self.rtt).0 as f64;
        (self.delivered - before) as f64 / rounds
    }
}

fn virtual_rtt(rtt: Time) -> Time {
    rtt.max(ms(25))
}

/// Spacing of marks: at random or even.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Spread {
    Even,
    Random,
}

/// Marks this share of segments, in parts of 10,000.
fn marking(share: u64, spread: Spread) -> impl FnMut(u64, Time) -> bool {
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    move |n, _| match spread {
        Spread::Even => n * share / 10_000 != (n + 1) * share / 10_000,
        Spread::Random => {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            (random >> 11) % 10_000 < share
        }
    }
}

/// The window at which growth and reductions balance: each virtual round trip adds a segment for the
/// unmarked share and takes half the marked share.
fn law(share: u64) -> f64 {
    2.0 * (10_000 - share) as f64 / share as f64
}

/// Mean segments in a virtual round trip: the model's and the control's, from the same start.
fn settled(share: u64, spread: Spread, rtt: Time) -> [f64; 2] {
    let mut reference = Reference::new(2, rtt);
    let mut shipped = Shipped::new(2, rtt);
    shipped.control.on_rtt(&mut shipped.window, &measured(rtt));
    [settle(&mut reference, share, spread, rtt), settle(&mut shipped, share, spread, rtt)]
}

/// After 500 round trips and those of the first averages the flow starts where growth and reductions balance.
fn settle(flow: &mut impl Flow, share: u64, spread: Spread, rtt: Time) -> f64 {
    let rounds = |n: u64| Time(n * virtual_rtt(rtt).0);
    let mut path = Path::new(rtt, marking(share, spread));
    let young = Time(520 * rtt.0).max(rounds(60));
    path.run(flow, young);
    flow.restart((law(share) * rtt.0 as f64 / virtual_rtt(rtt).0 as f64).max(2.0) as u32);
    path.mean(flow, young + rounds(200), young + rounds(800))
}

fn measured(rtt: Time) -> RttSample {
    let (now, pacing_rate) = (Time::ZERO, PacingRate::new(0));
    RttSample { now, rtt, srtt: rtt, una: 1, next: 1, pacing_rate }
}

const SHARES: [u64; 5] = [10, 100, 500, 2_000, 5_000];
const ROUND_TRIPS: [u64; 8] = [1, 5, 10, 17, 20, 24, 25, 200];

/// Prints `docs/data/tcp-prague.csv`: segments in each virtual round trip.
#[test]
fn the_window_settles_where_the_arithmetic_of_the_reference_has_it() {
    println!(r#""marks, %","RTT, ms",even: reference,even: ours,random: reference,random: ours"#);
    let mut wrong = Vec::new();
    for share in SHARES {
        for rtt in ROUND_TRIPS {
            let cell = [Spread::Even, Spread::Random].map(|spread| settled(share, spread, ms(rtt)));
            let [even, random] = cell.map(|[model, ours]| format!("{model:.1},{ours:.1}"));
            let name = format!("{},{rtt}", share as f64 / 100.0);
            println!("{name},{even},{random}");
            // If a virtual round trip is not a whole number of real ones, the reference answers
            // later. It counts round trips in units of 128 us, an eighth of the shortest.
            let whole = 25 % rtt == 0 || rtt >= 25;
            if whole && cell.iter().any(|[model, ours]| (ours / model - 1.0).abs() > 0.125) {
                wrong.push(name);
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new(), "more than an eighth apart");
}

/// Marks of 5 %, but for a time without any.
fn paused(from: Time, end: Time) -> impl FnMut(u64, Time) -> bool {
    let mut marks = marking(500, Spread::Random);
    move |n, at| marks(n, at) && !(from..end).contains(&at)
}

#[test]
fn after_a_pause_of_marks_the_window_returns_to_where_it_was() {
    for rtt in [ms(5), ms(30), ms(100)] {
        let rounds = |n: u64| Time(n * virtual_rtt(rtt).0);
        let marks = || paused(rounds(400), rounds(500));
        let mut model = (Path::new(rtt, marks()), Reference::new(40, rtt));
        let mut ours = (Path::new(rtt, marks()), Shipped::new(40, rtt));
        ours.1.control.on_rtt(&mut ours.1.window, &measured(rtt));
        for (from, end) in [(200, 400), (490, 500), (600, 1_000)] {
            let theirs = model.0.mean(&mut model.1, rounds(from), rounds(end));
            let mean = ours.0.mean(&mut ours.1, rounds(from), rounds(end));
            assert!(
                (mean / theirs - 1.0).abs() < 0.05,
                "{rtt}: {mean} for {theirs} from {from} on"
            );
        }
    }
}

/// A bulk transfer over the whole of TCP; the n-th segment of data, sent at that time, may be marked.
fn bulk(rtt: Time) -> Transfer {
    let congestion_control = CongestionControlName::new("prague").expect("it ships");
    let config = TcpConfig { congestion_control, ..TcpConfig::default() };
    let mut transfer = Transfer::new(config, u64::MAX);
    transfer.one_way = Time(rtt.0 / 2);
    transfer
}

/// Runs a transfer until `end`; returns the mean window in segments from `from` on.
fn mean_window(
    transfer: &mut Transfer,
    (from, end): (Time, Time),
    mut marks: impl FnMut(u64, Time) -> bool,
) -> f64 {
    let (mut n, mut sum, mut span) = (0, 0.0, 0.0);
    while transfer.now < end {
        let before = transfer.now;
        let window = transfer.client.sender().window() / u64::from(MSS);
        transfer.step(&mut |_, segment: &mut TcpSegment| {
            if segment.payload > 0 {
                if marks(n, before) {
                    segment.ecn = Ecn::Ce;
                }
                n += 1;
            }
            true
        });
        if before >= from {
            let passed = (transfer.now - before).0 as f64;
            sum += window as f64 * passed;
            span += passed;
        }
    }
    sum / span
}

#[test]
fn a_whole_connection_settles_at_two_marks_a_round_trip() {
    // The reference's arithmetic, acknowledgement by acknowledgement, gives 38.8 for one in 20.
    let mut transfer = bulk(ms(30));
    let window = mean_window(&mut transfer, (ms(10_000), ms(30_000)), marking(500, Spread::Even));
    assert!((36.0..41.0).contains(&window), "{window}");
}

#[test]
fn a_short_round_trip_has_the_rate_of_one_of_25_ms() {
    let rate = |tenths: u64| {
        let rtt = Time::from_micros(100 * tenths);
        let marks = marking(500, Spread::Random);
        let window = mean_window(&mut bulk(rtt), (ms(15_000), ms(40_000)), marks);
        window * 250.0 / tenths as f64
    };
    let right = rate(250);
    for tenths in [50, 100, 176, 177] {
        let short = rate(tenths);
        assert!((short / right - 1.0).abs() < 0.15, "{tenths}: {short} for {right}");
    }
}

#[test]
fn a_long_flow_halves_its_window_at_its_first_mark() {
    let mut transfer = bulk(ms(30));
    let (mut before, mut first) = (0, None);
    while transfer.now < ms(1_000) {
        let now = transfer.now;
        let window = transfer.client.sender().window();
        transfer.step(&mut |forward, segment: &mut TcpSegment| {
            if forward && first.is_none() && now > ms(300) && segment.payload > 0 {
                segment.ecn = Ecn::Ce;
                first = Some(now);
            }
            true
        });
        if first.is_some() && transfer.client.sender().window() < window {
            before = window;
            break;
        }
    }
    let after = transfer.client.sender().window();
    assert!(first.is_some() && before > 100 * u64::from(MSS), "{before}");
    assert!(after.abs_diff(before / 2) <= u64::from(MSS), "{before} {after}");
}

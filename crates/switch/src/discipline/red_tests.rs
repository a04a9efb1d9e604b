//! RED against the paper's figure 2 in floats, and against figures computed by hand.

use super::super::testing::{ECT0, NOT_ECT, frame, queued};
use super::*;
use proptest::prelude::*;

fn share(ppm: u64) -> Probability {
    Probability::from_ppm(ppm)
}

/// The paper's figure 2, in floats, with the probability p_a as written there. It receives the
/// queue size and uses random numbers of the same seed.
struct Model {
    params: Params,
    dice: Dice,
    avg: f64,
    count: i64,
}

impl Model {
    fn float(p: Probability) -> f64 {
        p.raw() as f64 / (1u64 << 60) as f64
    }

    /// Whether the packet is dropped, and if so whether at random. `idle` is the idle time before
    /// an empty queue's packet.
    fn arrival(&mut self, q: f64, idle: Option<u64>, size: u64) -> Option<bool> {
        let w_q = Model::float(self.params.w_q);
        match idle {
            Some(idle) => {
                let m = (idle / self.params.s.0) as i32;
                self.avg *= (1.0 - w_q).powi(m);
            }
            None => self.avg = (1.0 - w_q) * self.avg + w_q * q,
        }
        let unit = self.params.packet_size.map_or(1.0, |s| s.0 as f64);
        let (min_th, max_th) = (self.params.min_th as f64 * unit, self.params.max_th as f64 * unit);
        let max_p = Model::float(self.params.max_p);
        if self.avg < min_th {
            self.count = -1;
            return None;
        }
        let mut p_b = if self.avg < max_th {
            max_p * (self.avg - min_th) / (max_th - min_th)
        } else if self.params.gentle && self.avg < 2.0 * max_th {
            max_p + (1.0 - max_p) * (self.avg - max_th) / max_th
        } else {
            self.count = 0;
            return Some(false);
        };
        if unit > 1.0 {
            p_b *= (size as f64 / unit).min(1.0);
        }
        self.count += 1;
        let left = 1.0 - self.count as f64 * p_b;
        let p_a = if left > p_b { p_b / left } else { 1.0 };
        let thrown = self.dice.throw() as f64 / (1u64 << 60) as f64;
        (thrown < p_a).then(|| self.count = 0).map(|()| true)
    }
}

/// Follows a trace of (gap in ns, size, packets taken before) and compares each decision.
fn compare(params: Params, trace: &[(u64, u32, u32)]) -> Result<(), TestCaseError> {
    let mut red = Red::new(params, 3);
    let mut model = Model { params, dice: Dice::new(3), avg: 0.0, count: -1 };
    let (mut drops, mut now, mut empty_since) = (Drops::default(), Time::ZERO, Some(Time::ZERO));
    for (i, &(gap, size, taken)) in trace.iter().enumerate() {
        for _ in 0..taken {
            now += Time(gap / 4);
            let sent = red.dequeue(now, &mut drops);
            if sent.is_some() && red.packets() == 0 {
                empty_since = Some(now);
            }
        }
        now += Time(gap);
        let counted = match params.packet_size {
            Some(_) => red.bytes().0,
            None => red.packets() as u64,
        };
        let idle = empty_since.map(|since| (now - since).0);
        let expected = model.arrival(counted as f64, idle, size.into());
        let before = red.stats;
        red.enqueue(now, queued(frame(i as u64, 1, NOT_ECT, size), now.0), &mut drops);
        let early = red.stats.early_drops > before.early_drops;
        let forced = red.stats.forced_drops > before.forced_drops;
        let happened = if early || forced { Some(early) } else { None };
        prop_assert_eq!(happened, expected, "packet {} at average {}", i, model.avg);
        prop_assert_eq!(drops.drain().count(), usize::from(early || forced));
        if happened.is_none() {
            empty_since = None;
        }
    }
    Ok(())
}

proptest! {
    #[test]
    fn any_trace_is_decided_as_in_the_paper(
        // More comes than is taken, so that all regions of the average are passed through.
        trace in prop::collection::vec((0..300_000u64, 60..1514u32, 0..2u32), 1..400),
        gentle in any::<bool>(),
        bytes in any::<bool>(),
        w_q in prop_oneof![Just(2_000), 10_000..400_000u64],
        max_p in 10_000..500_000u64,
    ) {
        let packet_size = bytes.then_some(Bytes(1514));
        let (w_q, max_p) = (share(w_q), share(max_p));
        compare(Params { gentle, packet_size, w_q, max_p, ..Params::default() }, &trace)?;
    }
}

#[test]
fn the_average_moves_by_its_weight_and_decays_while_idle() {
    // w_q = 1/4: 0, then sizes 1, 2, 3 before the arrivals: 0.25, 0.6875, 1.265625.
    let mut red = Red::new(Params { w_q: share(250_000), ..Params::default() }, 1);
    let mut drops = Drops::default();
    for (id, expected) in [(0, 0.0), (1, 0.25), (2, 0.6875), (3, 1.265_625)] {
        red.enqueue(Time::ZERO, queued(frame(id, 1, NOT_ECT, 100), 0), &mut drops);
        assert_eq!(red.state.avg as f64, expected * f64::from(2).powi(32));
    }
    // Empty at 1 ms, next packet 350 us later: m = 3, (3/4)^3 = 0.421875.
    while red.dequeue(Time::from_millis(1), &mut drops).is_some() {}
    red.enqueue(Time::from_micros(1350), queued(frame(4, 1, NOT_ECT, 100), 0), &mut drops);
    assert_eq!(red.state.avg as f64, 1.265_625 * 0.421_875 * f64::from(2).powi(32));
}

/// A queue whose average stays where it is put.
fn pinned(avg: u64, params: Params) -> Red {
    let mut red = Red::new(Params { w_q: Probability::ZERO, ..params }, 11);
    red.state.avg = avg << 32;
    red
}

/// Sizes of the runs of packets that end with an early drop.
fn runs(red: &mut Red, size: u32, packets: u64) -> Vec<u64> {
    let (mut drops, mut runs, mut run) = (Drops::default(), Vec::new(), 0);
    for id in 0..packets {
        red.enqueue(Time::ZERO, queued(frame(id, 1, NOT_ECT, size), 0), &mut drops);
        run += 1;
        if drops.drain().count() == 1 {
            runs.push(run);
            run = 0;
        }
    }
    runs
}

#[test]
fn gaps_between_drops_are_uniform() {
    // Halfway between the thresholds p_b = 0.01, so p_a reaches one at the 99th packet: gaps are
    // uniform on 1 to 99, 50 in the mean.
    let mut red = pinned(10, Params::default());
    let runs = &runs(&mut red, 100, 200_000)[1..];
    assert!(runs.iter().all(|run| (1..=99).contains(run)));
    let mean = runs.iter().sum::<u64>() as f64 / runs.len() as f64;
    assert!((mean - 50.0).abs() < 1.5, "{mean}");
    // In each of nine classes of eleven 444 +- 20 are expected.
    for class in 0..9 {
        let within = runs.iter().filter(|&&run| (run - 1) / 11 == class).count();
        assert!((360..530).contains(&within), "class {class}: {within}");
    }
}

#[test]
fn counting_bytes_spares_small_packets() {
    // A tenth of the size, a tenth of p_b: gaps up to 999.
    let params = Params { packet_size: Some(Bytes(1000)), ..Params::default() };
    let mut red = pinned(10_000, params);
    let runs = runs(&mut red, 100, 200_000);
    let mean = runs.iter().sum::<u64>() as f64 / runs.len() as f64;
    assert!((mean - 500.0).abs() < 50.0, "{mean}");
}

#[test]
fn above_the_upper_threshold_everything_is_dropped() {
    for (gentle, below, above) in [(false, 14, 15), (true, 29, 30)] {
        let params = Params { gentle, ..Params::default() };
        assert_eq!(pinned(above, params).p_b(), Some(Probability::ONE));
        assert!(pinned(below, params).p_b() < Some(Probability::ONE));
        assert_eq!(runs(&mut pinned(above, params), 100, 50), [1; 50]);
    }
    assert!(runs(&mut pinned(4, Params::default()), 100, 1000).is_empty());
}

#[test]
fn capable_packets_are_marked_and_above_the_upper_threshold_only_without_harddrop() {
    let mut drops = Drops::default();
    let mut feed = |red: &mut Red| {
        for id in 0..1000 {
            red.enqueue(Time::ZERO, queued(frame(id, 1, ECT0, 100), 0), &mut drops);
        }
        drops.drain().count()
    };
    let params = Params { ecn: true, ..Params::default() };
    let mut between = pinned(10, params);
    assert_eq!((feed(&mut between), between.packets()), (0, 1000));
    let sent: Vec<_> =
        std::iter::from_fn(|| between.dequeue(Time::ZERO, &mut Drops::default())).collect();
    let marked = sent.iter().filter(|p| ecn::is_marked(&p.packet)).count() as u64;
    assert!(marked >= 10 && marked == between.stats.marks && between.stats.early_drops == 0);
    let mut beyond = pinned(30, params);
    assert_eq!((feed(&mut beyond), beyond.stats.forced_drops), (1000, 1000));
    let mut lenient = pinned(30, Params { harddrop: false, ..params });
    assert_eq!((feed(&mut lenient), lenient.stats.marks), (0, 1000));
    let mut deaf = pinned(30, Params { ecn: false, harddrop: false, ..params });
    assert_eq!((feed(&mut deaf), deaf.stats.forced_drops), (1000, 1000));
}

#[test]
fn thresholds_must_ascend() {
    let error = super::super::build("red", &[("min_th", 20)]).unwrap_err();
    let expected = "red: `max_th` is 15, allowed is 21 to 1000000 packets";
    assert_eq!(error.to_string(), expected);
    assert!(super::super::build("red", &[("gentle", 2)]).is_err());
}

#[test]
fn below_a_shaper_an_empty_queue_counts_once_an_arrival() {
    // An average of 8 with a weight of a half: after a second without packets half of it is left,
    // and again half for the next packet that finds the queue empty.
    let params = Params { idle: false, w_q: Probability::from_ppm(500_000), ..Params::default() };
    let (mut red, mut drops) = (Red::new(params, 1), Drops::default());
    red.state.avg = 8 << 32;
    for (second, avg) in [(1, 4 << 32), (2, 2 << 32)] {
        let now = second * 1_000_000_000;
        red.enqueue(Time(now), queued(frame(second, 1, NOT_ECT, 1514), now), &mut drops);
        assert_eq!(red.state.avg, avg);
        assert!(red.dequeue(Time(now), &mut drops).is_some());
    }
}

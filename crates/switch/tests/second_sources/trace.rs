//! Fixed arrival traces: which packet comes when, made from integers alone.
//!
//! The same arrivals are given to our disciplines and, as text, to those of the second sources, so
//! nothing here may depend on a discipline. Jitter of some microseconds keeps arrivals apart from the
//! instants at which a link or a timer does something.

use sojourn_packet::SplitMix64;

/// A packet that comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// ns.
    pub time: u64,
    /// Bytes, Ethernet header included, FCS not.
    pub size: u32,
    /// Its flow; 0 is not used.
    pub flow: u16,
    /// ECN field.
    pub codepoint: u8,
}

/// The traces. All are for a link of 10 Mbit/s, on which a full packet takes 1.2112 ms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trace {
    /// 121 % of the link's rate for 1.5 s, 75 % for 1 s, 121 % for 1 s.
    Overload,
    /// 180 ms at twice the link's rate, 320 ms of silence, for 3 s; packets of three sizes.
    Bursts,
    /// From half of the link's rate to one and a half times and back, within 4 s.
    Ramp,
    /// Five flows of different rates and sizes, 130 % in all, for 3 s: two steady, one in bursts, one
    /// that comes late, one that sends a small packet now and then.
    Flows,
}

/// The ECN fields that flows have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ecn {
    /// All are Not-ECT.
    Plain,
    /// Not-ECT, ECT(1), ECT(0) by the flow's number modulo 3.
    Mixed,
    /// Not-ECT, ECT(0), ECT(0) so.
    Classic,
}

impl Ecn {
    fn codepoint(self, flow: u16) -> u8 {
        match (self, flow % 3) {
            (Ecn::Plain, _) | (_, 0) => 0,
            (Ecn::Mixed, 1) => 1,
            _ => 2,
        }
    }
}

const FULL: u32 = 1514;
const MS: u64 = 1_000_000;

impl Trace {
    /// As in the names of files.
    pub fn name(self) -> &'static str {
        match self {
            Trace::Overload => "overload",
            Trace::Bursts => "bursts",
            Trace::Ramp => "ramp",
            Trace::Flows => "flows",
        }
    }

    /// Its packets in the order of their times.
    pub fn arrivals(self, ecn: Ecn) -> Vec<Arrival> {
        let mut arrivals = match self {
            Trace::Overload => overload(),
            Trace::Bursts => bursts(),
            Trace::Ramp => ramp(),
            Trace::Flows => flows(),
        };
        arrivals.sort_by_key(|arrival| arrival.time);
        arrivals.iter_mut().for_each(|arrival| arrival.codepoint = ecn.codepoint(arrival.flow));
        arrivals
    }
}

/// A flow that sends a packet each `gap(time)` ns within a span, each a little late.
fn steady(flow: u16, size: u32, (from, to): (u64, u64), gap: impl Fn(u64) -> u64) -> Vec<Arrival> {
    let (mut time, mut random, mut arrivals) = (from, SplitMix64::new(flow.into()), Vec::new());
    while time < to {
        let late = random.next() % 20_000;
        arrivals.push(Arrival { time: (time + late) / 64 * 64, size, flow, codepoint: 0 });
        time += gap(time);
    }
    arrivals
}

fn overload() -> Vec<Arrival> {
    steady(1, FULL, (0, 3_500 * MS), |time| match time / MS {
        1_500..2_500 => 1_615_000,
        _ => MS,
    })
}

fn bursts() -> Vec<Arrival> {
    let starts = (0..6).map(|burst| 500 * MS * burst);
    let burst = |start| {
        let gap = |size: u32| u64::from(size) * 800 * 3 / 2;
        let span = (start, start + 180 * MS);
        [(1, FULL), (2, 1_002), (3, 590)]
            .map(|(flow, size)| steady(flow, size, span, |_| gap(size)))
    };
    starts.flat_map(burst).flatten().collect()
}

fn ramp() -> Vec<Arrival> {
    // The rate in thousandths of the link's, from 500 to 1500 and back.
    let permille = |time: u64| 1_500 - (2_000 * MS).abs_diff(time) / (2 * MS);
    steady(1, FULL, (0, 4_000 * MS), |time| 1_211_200 * 1_000 / permille(time))
}

fn flows() -> Vec<Arrival> {
    let end = 3_000 * MS;
    let mut arrivals = steady(1, FULL, (0, end), |_| 4_000_000);
    arrivals.extend(steady(2, 1_203, (0, end), |_| 2_100_000));
    for start in [300, 1_100, 1_900] {
        arrivals.extend(steady(3, 607, (start * MS, (start + 400) * MS), |_| 900_000));
    }
    arrivals.extend(steady(4, 101, (7 * MS, end), |_| 23 * MS));
    arrivals.extend(steady(5, 1_009, (1_500 * MS, end), |_| 3_300_000));
    arrivals
}

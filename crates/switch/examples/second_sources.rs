//! The jobs of the second sources, the traces that they are given, and the table of what came of it.
//!
//! For `bench/second_sources/make.py`; the rest is in `tests/second_sources/`.
//!
//!     cargo run -p sojourn-switch --example second_sources -- jobs
//!     cargo run -p sojourn-switch --example second_sources -- trace NAME plain|mixed|classic
//!     cargo run -p sojourn-switch --example second_sources -- table
//!
//! Also replays an externally recorded queue, for `bench/second_sources/kernel_run.py`: reads lines
//! of `in TIME PACKET SIZE FLOW` and `out TIME`, and writes lines of `sent TIME PACKET` and `drop
//! TIME PACKET`.
//!
//!     cargo run -p sojourn-switch --example second_sources -- follow DISCIPLINE NAME=VALUE...

#[path = "../tests/second_sources/cases/mod.rs"]
mod cases;
#[path = "../tests/second_sources/link.rs"]
mod link;
#[path = "../tests/second_sources/recorded.rs"]
mod recorded;
#[path = "../tests/second_sources/trace.rs"]
mod trace;

use cases::{Case, Source};
use link::frame;
use recorded::{Comparison, as_text, fingerprint};
use sojourn_packet::Time;
use sojourn_switch::discipline::{self, Drops, Queued};
use std::iter::repeat;
use trace::{Arrival, Ecn, Trace};

fn main() {
    let words: Vec<_> = std::env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["jobs"] => each(job),
        ["table"] => {
            println!("discipline,variant,source,trace,packets,ours,theirs,equal");
            each(row);
        }
        ["trace", name, ecn] => {
            let mut all = cases::all().flat_map(|case| case.traces.iter().zip(repeat(case.ecn)));
            let wanted = |t: &(&Trace, Ecn)| (t.0.name(), ecn_name(t.1)) == (name, ecn);
            let (trace, ecn) = all.find(wanted).expect("a trace of trace.rs");
            print!("{}", as_text(&trace.arrivals(ecn)));
        }
        ["follow", discipline, ref parameters @ ..] => follow(discipline, parameters),
        _ => eprintln!(
            "jobs, table, trace NAME plain|mixed|classic, or follow DISCIPLINE NAME=VALUE..."
        ),
    }
}

/// Gives a discipline the arrivals and departures of a recorded queue.
fn follow(name: &str, parameters: &[&str]) {
    let parameters: Vec<_> = parameters.iter().map(|pair| pair.split_once('=')).collect();
    let number = |text: &str| text.parse::<u64>().expect("a number");
    let parameters: Vec<_> =
        parameters.iter().flatten().map(|(name, value)| (*name, number(value))).collect();
    let mut queue = discipline::build(name, &parameters).expect("allowed parameters");
    let mut drops = Drops::default();
    for line in std::io::stdin().lines() {
        let line = line.expect("text");
        let mut words = line.split(' ').skip(1).map(number);
        let mut next = || words.next().expect("a number more");
        let time = next();
        if line.starts_with("in ") {
            let (id, size, flow) = (next(), next() as u32, next() as u16);
            let packet = frame(id, &Arrival { time, size, flow, codepoint: 0 });
            queue.enqueue(Time(time), Queued::new(packet, Time(time)), &mut drops);
        } else if let Some(sent) = queue.dequeue(Time(time), &mut drops) {
            println!("sent {time} {}", sent.packet.id.0);
        }
        drops.drain().for_each(|(dropped, _)| println!("drop {time} {}", dropped.packet.id.0));
    }
}

fn each(show: impl Fn(&Case, Trace) -> String) {
    for case in cases::all() {
        case.traces.iter().for_each(|&trace| println!("{}", show(case, trace)));
    }
}

/// File, trace, its ECN fields, its fingerprint, job: apart by tabs.
fn job(case: &Case, trace: Trace) -> String {
    let arrivals = trace.arrivals(case.ecn);
    let words =
        [&case.file(trace), trace.name(), ecn_name(case.ecn), &fingerprint(&arrivals), &case.job()];
    words.join("\t")
}

fn ecn_name(ecn: Ecn) -> &'static str {
    match ecn {
        Ecn::Plain => "plain",
        Ecn::Mixed => "mixed",
        Ecn::Classic => "classic",
    }
}

/// A line of CSV; only the second and third fields may contain a comma.
fn row(case: &Case, trace: Trace) -> String {
    let c = Comparison::new(case, trace);
    format!(
        "{},\"{}\",\"{}\",{},{},{},{},{}",
        case.discipline,
        case.about,
        match case.source {
            Source::Ns3 { .. } if case.undo => "ns-3, put right",
            Source::Ns3 { .. } => "ns-3",
            Source::Linux { .. } => "Linux",
            Source::Rfc { .. } => "the listing",
        },
        trace.name(),
        c.packets,
        c.ours.len(),
        c.theirs.len(),
        c.equal(),
    )
}

//! The jobs of the second sources, the traces that they are given, and the table of what came of it.
//!
//! For `bench/second_sources/make.py`; the rest is in `tests/second_sources/`.
//!
//!     cargo run -p sojourn-switch --example second_sources -- jobs
//!     cargo run -p sojourn-switch --example second_sources -- trace NAME plain|capable
//!     cargo run -p sojourn-switch --example second_sources -- table

#[path = "../tests/second_sources/cases.rs"]
mod cases;
#[path = "../tests/second_sources/link.rs"]
mod link;
#[path = "../tests/second_sources/recorded.rs"]
mod recorded;
#[path = "../tests/second_sources/trace.rs"]
mod trace;

use cases::{CASES, Case, Source};
use recorded::{Comparison, as_text, fingerprint};
use trace::Trace;

fn main() {
    let words: Vec<_> = std::env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["jobs"] => each(job),
        ["table"] => {
            println!("| discipline | | source | trace | packets | ours | theirs | equal |");
            println!("|---|---|---|---|---|---|---|---|");
            each(row);
        }
        ["trace", name, ecn] => {
            let mut all = CASES.iter().flat_map(|case| case.traces);
            let trace = all.find(|trace| trace.name() == name).expect("a trace of trace.rs");
            print!("{}", as_text(&trace.arrivals(ecn == "capable")));
        }
        _ => eprintln!("jobs, table, or trace NAME plain|capable"),
    }
}

fn each(show: impl Fn(&Case, Trace) -> String) {
    for case in CASES {
        case.traces.iter().for_each(|&trace| println!("{}", show(case, trace)));
    }
}

/// File, trace, its ECN fields, its fingerprint, job: apart by tabs.
fn job(case: &Case, trace: Trace) -> String {
    let arrivals = trace.arrivals(case.capable);
    let ecn = if case.capable { "capable" } else { "plain" };
    let words = [&case.file(trace), trace.name(), ecn, &fingerprint(&arrivals), &case.job()];
    words.join("\t")
}

fn row(case: &Case, trace: Trace) -> String {
    let c = Comparison::of(case, trace);
    format!(
        "| {} | {} | {} | {} | {} | {} | {} | {} |",
        case.discipline,
        case.about,
        match case.source {
            Source::Ns3 { .. } if case.undo => "ns-3, put right",
            Source::Ns3 { .. } => "ns-3",
            Source::Linux { .. } => "Linux",
        },
        trace.name(),
        c.packets,
        c.ours.len(),
        c.theirs.len(),
        c.equal(),
    )
}

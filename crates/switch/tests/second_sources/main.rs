//! Comparison of the disciplines with second sources: the same arrivals, the same link, the times
//! of the drops.
//!
//! `cases/` lists the comparisons. `docs/second-sources.md` describes the sources, their deviations
//! from the RFCs, and how to rebuild the files in `drops.tar.gz`.

mod cases;
mod link;
mod recorded;
mod trace;

use cases::Case;
use link::Signal;
use recorded::{Comparison, FILES};
use std::collections::BTreeSet;
use std::fmt::Write;
use trace::Trace;

/// Compares all cases of a discipline, and reports the first difference of each.
fn compare(discipline: &str) {
    let mut wrong = String::new();
    let mut compared = 0;
    for case in cases::all().filter(|case| case.equal && case.discipline == discipline) {
        for &trace in case.traces {
            let comparison = Comparison::new(case, trace);
            compared += comparison.packets;
            assert!(!comparison.theirs.is_empty(), "{} shows nothing", case.file(trace));
            if comparison.ours != comparison.theirs {
                let (ours, theirs) = (comparison.ours.len(), comparison.theirs.len());
                let (equal, first) = (comparison.equal(), first_difference(&comparison));
                let file = case.file(trace);
                let _ = writeln!(wrong, "{file}: {ours} and {theirs}, {equal} equal; {first:?}");
            }
        }
    }
    assert!(compared > 0 && wrong.is_empty(), "ours and theirs differ:\n{wrong}");
}

/// The first difference: number, ours, theirs.
fn first_difference(c: &Comparison) -> Option<(usize, Option<&Signal>, Option<&Signal>)> {
    let most = c.ours.len().max(c.theirs.len());
    (0..most).map(|i| (i, c.ours.get(i), c.theirs.get(i))).find(|(_, ours, theirs)| ours != theirs)
}

#[test]
fn fifo_drops_the_same_packets_as_ns3() {
    compare("fifo");
}

#[test]
fn codel_drops_when_ns3_with_exact_square_roots_does() {
    compare("codel");
}

#[test]
fn linuxs_codel_drops_the_same_packets_as_the_kernel_and_ns3() {
    compare("codel_linux");
}

#[test]
fn fq_codel_drops_when_ns3_with_exact_square_roots_and_the_kernel_do() {
    compare("fq_codel");
}

#[test]
fn cobalt_with_the_same_random_numbers_signals_to_the_same_packets_as_the_kernels() {
    compare("cobalt");
}

#[test]
fn cake_with_the_same_random_numbers_signals_to_the_same_packets_as_the_kernel() {
    compare("cake");
}

#[test]
fn red_with_the_same_random_numbers_drops_the_same_packets_as_ns3() {
    compare("red");
}

#[test]
fn pie_with_the_same_random_numbers_drops_the_same_packets_as_ns3() {
    compare("pie");
}

#[test]
fn linuxs_pie_with_the_same_random_numbers_drops_the_same_packets_as_the_kernel() {
    compare("pie_linux");
}

#[test]
fn pi2_with_the_same_random_numbers_drops_the_same_packets_as_the_kernel() {
    compare("pi2");
}

#[test]
fn dualpi2_signals_what_the_kernel_signals_if_it_counts_up_too() {
    compare("dualpi2");
}

#[test]
fn the_archive_has_a_file_for_each_case_and_no_other() {
    let of_case = |case: &'static Case| case.traces.iter().map(|&trace| case.file(trace));
    let wanted: BTreeSet<_> = cases::all().flat_map(of_case).collect();
    assert_eq!(FILES.keys().cloned().collect::<BTreeSet<_>>(), wanted);
}

/// A case whose recording agrees with ours, one of its traces, and the recording's text.
fn recording() -> (&'static Case, Trace, &'static str) {
    let case = cases::all().find(|case| case.equal).expect("a case");
    (case, case.traces[0], &FILES[&case.file(case.traces[0])])
}

#[test]
fn a_recorded_drop_a_nanosecond_later_is_a_difference() {
    let (case, trace, text) = recording();
    let last = text.trim_end();
    let later = format!("{}{}", &last[..last.len() - 1], if last.ends_with('9') { 8 } else { 9 });
    let comparison = Comparison::with(case, trace, &later);
    assert_eq!(comparison.equal() + 1, comparison.ours.len());
    assert_ne!(comparison.ours, comparison.theirs);
}

#[test]
#[should_panic(expected = "was made for something else")]
fn a_recording_of_another_job_is_refused() {
    let (case, trace, text) = recording();
    Comparison::with(case, trace, &text.replace(&case.job(), "another job"));
}

#[test]
#[should_panic(expected = "was made for something else")]
fn a_recording_of_another_trace_is_refused() {
    let (case, _, text) = recording();
    Comparison::with(case, case.traces[1], text);
}

#[test]
#[should_panic(expected = ": not a drop")]
fn a_recording_with_a_line_that_is_no_drop_is_refused() {
    let (case, trace, text) = recording();
    Comparison::with(case, trace, &format!("{text}not a drop\n"));
}

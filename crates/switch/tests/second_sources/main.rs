//! Our disciplines against second sources: the same fixed arrivals, the same link, the times of the drops.
//!
//! What is compared is in `cases.rs`; `docs/second-sources.md` tells what the sources are, where they
//! depart from the RFCs, and how to make the files of `drops/` again.

mod cases;
mod link;
mod recorded;
mod trace;

use link::Signal;
use recorded::Comparison;
use std::fmt::Write;

/// Compares all cases of a discipline; what does not agree is told with the first difference.
fn compare(discipline: &str) {
    let mut wrong = String::new();
    let mut compared = 0;
    for case in cases::all().filter(|case| case.equal && case.discipline == discipline) {
        for &trace in case.traces {
            let comparison = Comparison::of(case, trace);
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

/// Where the two part for the first time: number, ours, theirs.
fn first_difference(c: &Comparison) -> Option<(usize, Option<&Signal>, Option<&Signal>)> {
    let most = c.ours.len().max(c.theirs.len());
    (0..most).map(|i| (i, c.ours.get(i), c.theirs.get(i))).find(|(_, ours, theirs)| ours != theirs)
}

#[test]
fn fifo_drops_what_ns3_drops() {
    compare("fifo");
}

#[test]
fn codel_drops_when_ns3_with_exact_square_roots_does() {
    compare("codel");
}

#[test]
fn linuxs_codel_drops_what_the_kernel_and_ns3_drop() {
    compare("codel_linux");
}

#[test]
fn fq_codel_drops_when_ns3_with_exact_square_roots_and_the_kernel_do() {
    compare("fq_codel");
}

#[test]
fn red_with_the_same_dice_drops_what_ns3_drops() {
    compare("red");
}

#[test]
fn pie_with_the_same_dice_drops_what_ns3_drops() {
    compare("pie");
}

#[test]
fn linuxs_pie_with_the_same_dice_drops_what_the_kernel_drops() {
    compare("pie_linux");
}

#[test]
fn pi2_with_the_same_dice_drops_what_the_kernel_drops() {
    compare("pi2");
}

#[test]
fn dualpi2_signals_what_the_kernel_signals_if_it_counts_up_too() {
    compare("dualpi2");
}

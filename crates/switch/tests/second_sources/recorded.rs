//! Recorded signals of the second sources, and their comparison with the disciplines of this crate.
//!
//! The recordings are in the archive `drops.tar.gz`; `bench/second_sources/make.py` writes it.

use crate::cases::{Case, SEED};
use crate::link::{Kind, Signal, signals};
use crate::trace::{Arrival, Trace};
use flate2::read::GzDecoder;
use sojourn_switch::discipline;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::sync::LazyLock;
use tar::Archive;

const DROPS: &[u8] = include_bytes!("drops.tar.gz");

/// The texts of the archive by the names of their files.
pub static FILES: LazyLock<BTreeMap<String, String>> = LazyLock::new(|| {
    let mut archive = Archive::new(GzDecoder::new(DROPS));
    let mut files = BTreeMap::new();
    for file in archive.entries().expect("drops.tar.gz is a tar file") {
        let mut file = file.expect("drops.tar.gz is whole");
        let mut text = String::new();
        file.read_to_string(&mut text).expect("a file of drops.tar.gz is text");
        let name = file.path().expect("a file of drops.tar.gz has a name").display().to_string();
        files.insert(name, text);
    }
    files
});

/// A trace as the programs of the second sources read it.
pub fn as_text(arrivals: &[Arrival]) -> String {
    let line = |a: &Arrival| format!("{} {} {} {}\n", a.time, a.size, a.flow, a.codepoint);
    arrivals.iter().map(line).collect()
}

/// Fingerprint of a trace: FNV-1a of the text.
pub fn fingerprint(arrivals: &[Arrival]) -> String {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let hash = as_text(arrivals).bytes().fold(0xcbf2_9ce4_8422_2325, step);
    format!("{hash:016x}")
}

/// The two lists of signals of a case and trace.
#[derive(Debug)]
pub struct Comparison {
    /// Packets of the trace.
    pub packets: usize,
    /// Events of our discipline, in the order of time.
    pub ours: Vec<Signal>,
    /// Events of the second source.
    pub theirs: Vec<Signal>,
}

impl Comparison {
    /// Runs our discipline and reads what the other did.
    ///
    /// # Panics
    /// If the file is missing, was made for another trace or job, or cannot be read.
    pub fn new(case: &Case, trace: Trace) -> Comparison {
        let file = case.file(trace);
        let text = FILES.get(&file).unwrap_or_else(|| panic!("{file} is not in drops.tar.gz"));
        Comparison::with(case, trace, text)
    }

    /// The same with the text of a file.
    ///
    /// # Panics
    /// If it was made for another trace or job, or cannot be read.
    pub fn with(case: &Case, trace: Trace, text: &str) -> Comparison {
        let arrivals = trace.arrivals(case.ecn);
        let file = case.file(trace);
        let stale = "was made for something else: run bench/second_sources/make.py";
        for expected in [fingerprint(&arrivals), case.job()] {
            let mut told = text.lines().take_while(|line| line.starts_with('#'));
            assert!(told.any(|line| line.ends_with(&expected)), "{file} {stale}");
        }
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        let mut theirs: Vec<_> =
            lines.map(|line| signal(line).unwrap_or_else(|| panic!("{file}: {line}"))).collect();
        theirs.sort_unstable();
        Comparison { packets: arrivals.len(), ours: ours(case, &arrivals), theirs }
    }

    /// Signals that both have: same packet, same time, same kind.
    pub fn equal(&self) -> usize {
        let ours: BTreeSet<_> = self.ours.iter().collect();
        self.theirs.iter().filter(|signal| ours.contains(signal)).count()
    }
}

fn ours(case: &Case, arrivals: &[Arrival]) -> Vec<Signal> {
    let registered = discipline::REGISTRY.find(case.discipline);
    let registered = registered.expect("a discipline of ours");
    let mut parameters = case.parameters.to_vec();
    if registered.parameters.iter().any(|p| p.name == "seed") {
        parameters.push(("seed", SEED));
    }
    let built = discipline::build(case.discipline, &parameters);
    let mut found = signals(&mut *built.expect("allowed parameters"), arrivals);
    found.sort_unstable();
    found
}

fn signal(line: &str) -> Option<Signal> {
    let mut words = line.split(' ');
    let packet = words.next()?.parse().ok()?;
    let time = words.next()?.parse().ok()?;
    let kind = match words.next() {
        None => Kind::Drop,
        Some("mark") => Kind::Mark,
        Some(_) => return None,
    };
    Some(Signal { time, packet, kind })
}

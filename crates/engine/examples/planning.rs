//! Measurement of the planning time of a run with many table entries, step by step:
//! `cargo run --release -p sojourn-engine --example planning [PROGRAM]`.

use sojourn_engine::{Aqm, P4Aqm, Programs};
use std::error::Error;
use std::time::{Duration, Instant};

/// Number of repetitions of each step; the minimum is printed.
const TIMES: usize = 5;

fn main() -> Result<(), Box<dyn Error>> {
    let program = std::env::args().nth(1).unwrap_or_else(|| "p4/tna/codel_exact.p4".into());
    let control = std::fs::read_to_string(program.replace(".p4", ".toml"))?;
    let p4 = P4Aqm {
        program,
        include_paths: vec!["p4/include".into()],
        control: toml::from_str(&control)?,
        ..P4Aqm::default()
    };
    let empty = P4Aqm { control: Default::default(), ..p4.clone() };
    let programs = Programs::default();
    let least = |of: &P4Aqm| -> Result<Duration, Box<dyn Error>> {
        let mut least = Duration::MAX;
        for _ in 0..TIMES {
            let begin = Instant::now();
            programs.plane(of, 1)?;
            least = least.min(begin.elapsed());
        }
        Ok(least)
    };
    Aqm::P4(Box::new(p4.clone())).check()?;
    let (bare, whole) = (least(&empty)?, least(&p4)?);
    let resident = || -> Option<u64> {
        let pages = std::fs::read_to_string("/proc/self/statm").ok()?;
        pages.split(' ').nth(1)?.parse::<u64>().ok().map(|pages| pages * 4096)
    };
    let planes = [programs.plane(&empty, 1)?];
    let before = resident();
    let filled = [programs.plane(&p4, 1)?];
    let (after, _kept) = (resident(), (planes, filled));
    println!("compiled and loaded       {:6.1} ms", bare.as_secs_f64() * 1e3);
    println!("with its table entries    {:6.1} ms", whole.as_secs_f64() * 1e3);
    if let (Some(before), Some(after)) = (before, after) {
        println!("in memory                 {:6.1} MB", (after - before) as f64 / 1e6);
    }
    Ok(())
}

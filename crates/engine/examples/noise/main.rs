//! Sends millions of frames into programs: noise, and valid frames with a fault.
//!
//!     cargo run --release -p sojourn-engine --example noise -- [FRAMES [SEED [PROGRAM...]]]
//!
//! Without arguments, uses all built-in programs and those of the packet tests. The same seed sends
//! the same frames. Machine code, bytecode and the tree run in turn. It panics if any of them fails
//! in a way that no frame may cause, or if their results differ.

mod entries;
mod frames;
mod passes;

use passes::{folder, programs, withstand_by};
use sojourn_target::Executor;
use std::path::PathBuf;

const FOLDERS: [&str; 7] = [
    "p4/tna",
    "p4/v1model",
    "p4/npu",
    "p4/psa",
    "tests/stf/tna",
    "tests/stf/v1model",
    "tests/stf/psa",
];

fn main() {
    let mut arguments = std::env::args().skip(1);
    let frames: u64 = arguments.next().map_or(1_000_000, |text| text.parse().expect("FRAMES"));
    let seed: u64 = arguments.next().map_or(1, |text| text.parse().expect("SEED"));
    let named: Vec<PathBuf> = arguments.map(PathBuf::from).collect();
    let shipped = || FOLDERS.iter().flat_map(|name| programs(&folder(name))).collect();
    let chosen: Vec<PathBuf> = if named.is_empty() { shipped() } else { named };
    for program in chosen {
        let begin = std::time::Instant::now();
        let tally = withstand_by(&program, frames, seed, Executor::Native);
        let seconds = begin.elapsed().as_secs_f64();
        println!("{}: {tally}; {seconds:.1} s", program.display());
        for other in [Executor::Flat, Executor::Tree] {
            let same = withstand_by(&program, frames, seed, other).digest == tally.digest;
            assert!(same, "{}: machine code and {other:?} differ", program.display());
        }
    }
}

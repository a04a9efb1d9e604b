//! Sends packets through programs, or through the hand-written baseline, and does nothing else: for
//! instruction counts.
//!
//!     valgrind --tool=callgrind target/release/examples/passes 20000 p4/tna/p4_codel.p4
//!
//! The difference between two numbers of packets is the cost of the packets, without loading. `-`
//! is the baseline: `p4_codel.p4` in Rust, behind the same interface.

use sojourn_bench::by_hand::P4CodelByHand;
use sojourn_bench::passes::{frame, loaded, pass};
use sojourn_packet::DataPlane;
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let Some(packets) = arguments.next().and_then(|text| text.parse::<u64>().ok()) else {
        eprintln!("usage: passes PACKETS (PROGRAM.p4 | -)...");
        return ExitCode::from(2);
    };
    for program in arguments {
        let mut plane: Box<dyn DataPlane> = if program == "-" {
            Box::new(P4CodelByHand::default())
        } else {
            match loaded(Path::new(&program)) {
                Some(plane) => Box::new(plane),
                None => return ExitCode::from(2),
            }
        };
        let frame = frame();
        let sent = (0..packets).filter(|number| pass(&mut *plane, *number, &frame)).count();
        println!("{program}: {sent} of {packets} packets got through ingress");
    }
    ExitCode::SUCCESS
}

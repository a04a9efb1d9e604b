//! A run of the simulator alone from a run's configuration in JSON, for counting what a fabric costs.
//!
//!     cargo run --release -p sojourn-net --example configured -- CONFIG.json [THREADS]
//!
//! Prints the frames that all links carried, in both directions. `bench/fabric.py --write` makes such a
//! configuration: a fat tree of 128 hosts, 100 Gbit/s, a permutation of endless NewReno flows, tail drop at
//! 150 kB. Measured on 2026-11-28 beside other work on two cores, as the difference of runs of 500 and 1500 us,
//! the median of five in turn, for each frame that a link carried:
//!
//! | simulator | processor time |
//! |---|---|
//! | this, as one partition | 0.81 us |
//! | this, a partition for each pod | 0.58 us |
//! | csg-htsim | 0.44 us |
//!
//! csg-htsim is Broadcom/csg-htsim at 841d9e7 (`make` with -O3), `datacenter/htsim_tcp -nodes 128 -conns
//! 128 -sub 1 UNCOUPLED`, whose end, seed and buffer (100 packets) were set in `main_tcp.cpp` and whose served
//! packets were counted in `queue.cpp`. Its sources hold the route, its packets have no bytes, its permutation
//! is random. As one partition, `perf` finds 24 % of the time in `Routes::ports_for`, which executes 3 % of the
//! instructions: it is the first to read a frame's bytes at a switch, and waits for the memory. The packets of
//! one pod in a window fit the cache more often: with a partition for each pod it is 19 %, the next are the
//! partition's loop with 12 %, the switch's ingress with 8 % and copies of frames with 7 %.

use sojourn_net::{RunConfig, Simulation};
use sojourn_packet::Time;
use std::hint::black_box;

fn main() {
    let given: Vec<String> = std::env::args().skip(1).collect();
    let (path, threads) = match given.as_slice() {
        [path] => (path, Some(1)),
        [path, threads] => (path, threads.parse().ok()),
        _ => {
            eprintln!("usage: configured CONFIG.json [THREADS]");
            std::process::exit(2);
        }
    };
    let text = std::fs::read_to_string(path).expect("a file that can be read");
    let config = RunConfig::from_json(&text).expect("a run's configuration");
    let mut run = Simulation::new(config, None).expect("a configuration without programs");
    run.use_threads(threads.expect("a number of threads"));
    while !run.finished() {
        run.advance(Time::MAX, 65_536);
        run.read_packets_of(0, |rows| black_box(rows).len());
        black_box(run.take_flows());
    }
    println!("{}", run.report().link_loads.iter().map(|load| load.frames).sum::<u64>());
}

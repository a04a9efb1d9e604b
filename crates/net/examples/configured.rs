//! A run of the simulator alone from a run's configuration in JSON, for counting what a fabric costs.
//!
//!     cargo run --release -p sojourn-net --example configured -- CONFIG.json [THREADS]
//!
//! Prints the frames that all links carried, in both directions. `bench/fabric.py --write` makes such a
//! configuration.

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

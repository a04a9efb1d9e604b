//! How the time to simulate grows: with packets, with flows, up to 10,000 flows at 10 Gbit/s.
//!
//! Three tables. The processor's time of each run is taken from the kernel (`/proc/self/schedstat`),
//! so that a busy machine disturbs it less than it would disturb a clock. Three numbers behind `--`,
//! flows, Mbit/s and milliseconds, make one line of one's own.

use sojourn_net::{RunConfig, Simulation};
use sojourn_packet::Time;
use std::hint::black_box;

/// Runs of each line, of which the shortest counts.
const REPEAT: usize = 3;

/// CUBIC flows with round-trip times of 50 to 100 ms behind one CoDel.
#[derive(Clone, Copy)]
struct Line {
    flows: u64,
    mbit_per_second: u64,
    milliseconds: u64,
}

/// What a run of a line took.
struct Cost {
    packets: u64,
    nanoseconds: u64,
}

impl Line {
    fn config(&self) -> RunConfig {
        let flows: Vec<String> = (0..self.flows)
            .map(|i| {
                let rtt = 50_000_000 + 50_000_000 * i / self.flows;
                format!(r#"{{"kind": "tcp", "congestion_control": "cubic", "rtt": {rtt}}}"#)
            })
            .collect();
        let (rate, duration) = (self.mbit_per_second * 1_000_000, self.milliseconds * 1_000_000);
        let text = format!(
            r#"{{"duration": {duration},
                 "switch": {{"rate": {rate}, "queue_limit": {}}},
                 "aqm": {{"kind": "native", "name": "codel"}}, "flows": [{}]}}"#,
            (rate / 8 / 10).max(100_000),
            flows.join(", ")
        );
        RunConfig::from_json(&text).expect("the benchmark's own configuration")
    }

    fn cost(&self) -> Cost {
        let config = self.config();
        let runs = (0..REPEAT).map(|_| run(&config));
        runs.min_by_key(|cost| cost.nanoseconds).expect("at least one run")
    }
}

fn run(config: &RunConfig) -> Cost {
    let mut run = Simulation::new(config.clone(), None).expect("a valid configuration");
    let begin = processor_time();
    let mut packets = 0;
    while !run.finished() {
        run.advance(Time::MAX, 65_536);
        packets += black_box(run.take_packets()).len() as u64;
        black_box(run.take_flows());
    }
    Cost { packets, nanoseconds: processor_time() - begin }
}

/// Nanoseconds that this process has been on a processor.
fn processor_time() -> u64 {
    let text = std::fs::read_to_string("/proc/self/schedstat").expect("a Linux kernel");
    let first = text.split(' ').next().and_then(|number| number.parse().ok());
    first.expect("nanoseconds come first")
}

fn table(title: &str, lines: &[Line]) {
    println!("\n{title}\n");
    println!(
        "{:>8}{:>10}{:>12}{:>12}{:>10}{:>12}{:>12}",
        "flows", "Mbit/s", "simulated s", "packets", "seconds", "ns/packet", "packets/s"
    );
    for line in lines {
        let Cost { packets, nanoseconds } = line.cost();
        println!(
            "{:>8}{:>10}{:>12}{:>12}{:>10.3}{:>12}{:>12}",
            line.flows,
            line.mbit_per_second,
            line.milliseconds as f64 / 1000.0,
            packets,
            nanoseconds as f64 / 1e9,
            nanoseconds / packets.max(1),
            packets * 1_000_000_000 / nanoseconds.max(1),
        );
    }
}

fn main() {
    let line = |flows, mbit_per_second, milliseconds| Line { flows, mbit_per_second, milliseconds };
    let given: Vec<u64> = std::env::args().filter_map(|word| word.parse().ok()).collect();
    if let [flows, mbit_per_second, milliseconds] = given[..] {
        return table("As asked for", &[line(flows, mbit_per_second, milliseconds)]);
    }
    let longer: Vec<Line> = [1_000, 2_000, 4_000, 8_000].map(|ms| line(50, 1_000, ms)).to_vec();
    table("Longer runs: packets grow with time", &longer);
    let more: Vec<Line> = [100, 1_000, 10_000].map(|n| line(n, n, 2_000)).to_vec();
    table("More flows, 1 Mbit/s each: packets grow with flows", &more);
    let shared: Vec<Line> = [10, 100, 1_000, 10_000].map(|n| line(n, 10_000, 1_000)).to_vec();
    table("More flows at the same 10 Gbit/s", &shared);
}

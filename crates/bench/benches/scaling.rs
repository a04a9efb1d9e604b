//! Scaling benchmark: simulation time against packets and flows, up to 10,000 flows at 10 Gbit/s.
//!
//! Prints three tables, each with its allowed growth and whether it holds: linear in packets, n log
//! n in flows. The CPU time of each run comes from the kernel (`/proc/self/schedstat`), which a
//! busy machine disturbs less than wall time. Three numbers after `--` (flows, Mbit/s and
//! milliseconds) measure a single configuration.

use sojourn_net::config::{LinkSection, NetworkSection, port_speed};
use sojourn_net::{RunConfig, Simulation};
use sojourn_packet::Time;
use std::hint::black_box;

/// Runs of each line, of which the shortest counts.
const REPEAT: usize = 3;

/// Threshold between disturbance of a measurement and growth.
const NOISE: f64 = 1.1;

/// CUBIC flows with round-trip times of 50 to 100 ms behind one CoDel.
#[derive(Clone, Copy)]
struct Line {
    flows: u64,
    mbit_per_second: u64,
    milliseconds: u64,
}

/// Allowed growth of a table's times from its first line on.
#[derive(Clone, Copy)]
enum Bound {
    /// With the packets.
    Packets,
    /// With n log n, where n are the flows.
    Flows,
}

impl Bound {
    fn name(self) -> &'static str {
        match self {
            Bound::Packets => "the packets",
            Bound::Flows => "n log n of the flows",
        }
    }

    fn of(self, line: &Line, cost: &Cost) -> f64 {
        let flows = line.flows as f64;
        match self {
            Bound::Packets => cost.packets as f64,
            Bound::Flows => flows * flows.ln(),
        }
    }
}

/// Cost of a line's run.
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
                 "aqm": {{"kind": "native", "name": "codel"}}, "flows": [{}]}}"#,
            flows.join(", ")
        );
        let mut config = RunConfig::from_json(&text).expect("the benchmark's own configuration");
        let bottleneck = LinkSection {
            rate: Some(rate),
            queue_limit: (rate / 8 / 10).max(100_000),
            ..LinkSection::bottleneck()
        };
        config.network = NetworkSection::one_switch(bottleneck);
        // Nothing else is to be slower.
        let faster = if rate > port_speed() { 4 * rate } else { 0 };
        for switch in &mut config.network.switches {
            switch.port_speed = switch.port_speed.max(faster);
        }
        for host in &mut config.network.hosts {
            host.access_rate = host.access_rate.map(|access| access.max(faster));
        }
        config
    }
}

/// Cost of each line. The lines run in turns, so that a disturbance does not affect a single line.
fn costs(lines: &[Line]) -> Vec<Cost> {
    let configs: Vec<RunConfig> = lines.iter().map(Line::config).collect();
    let mut best: Vec<Cost> = configs.iter().map(run).collect();
    for _ in 1..REPEAT {
        for (best, config) in best.iter_mut().zip(&configs) {
            let cost = run(config);
            if cost.nanoseconds < best.nanoseconds {
                *best = cost;
            }
        }
    }
    best
}

fn run(config: &RunConfig) -> Cost {
    let mut run = Simulation::new(config.clone(), None).expect("a valid configuration");
    let begin = processor_time();
    let mut packets = 0;
    while !run.finished() {
        run.advance(Time::MAX, 65_536);
        packets += run.read_packets_of(0, |rows| black_box(rows).len()) as u64;
        black_box(run.take_flows());
    }
    Cost { packets, nanoseconds: processor_time() - begin }
}

/// Nanoseconds that this process has been on a processor.
fn processor_time() -> u64 {
    // The kernel counts at its ticks, 4 ms apart, and whenever a thread lets others go first.
    std::thread::yield_now();
    let text = std::fs::read_to_string("/proc/self/schedstat").expect("a Linux kernel");
    let first = text.split(' ').next().and_then(|number| number.parse().ok());
    first.expect("nanoseconds come first")
}

fn show(line: &Line, cost: &Cost) {
    let Cost { packets, nanoseconds } = *cost;
    print!(
        "{:>8}{:>8}{:>13}{:>10}{:>9.3}{:>11}{:>11}",
        line.flows,
        line.mbit_per_second,
        line.milliseconds as f64 / 1000.0,
        packets,
        nanoseconds as f64 / 1e9,
        nanoseconds / packets.max(1),
        packets * 1_000_000_000 / nanoseconds.max(1),
    );
}

/// Shows the lines; with a bound, how much longer than the first each took and was allowed to take.
fn table(title: &str, lines: &[Line], bound: Option<Bound>) {
    println!("\n{title}\n");
    print!(
        "{:>8}{:>8}{:>13}{:>10}{:>9}{:>11}{:>11}",
        "flows", "Mbit/s", "simulated s", "packets", "seconds", "ns/packet", "packets/s"
    );
    println!("{}", if bound.is_some() { "   times allowed" } else { "" });
    let (mut first, mut worst) = (None, 0.0_f64);
    for (number, (line, cost)) in lines.iter().zip(&costs(lines)).enumerate() {
        show(line, cost);
        if let Some(bound) = bound {
            let (time, allowed) = (cost.nanoseconds as f64, bound.of(line, cost));
            let (first_time, first_allowed) = *first.get_or_insert((time, allowed));
            let (time, allowed) = (time / first_time, allowed / first_allowed);
            if number > 0 {
                worst = worst.max(time / allowed);
            }
            print!("{time:>8.1}{allowed:>8.1}");
        }
        println!();
    }
    if let Some(bound) = bound {
        let holds = if worst <= NOISE { "holds" } else { "DOES NOT HOLD" };
        let name = bound.name();
        println!(
            "\nTime grows no faster than {name}: {holds} (at most {worst:.2} of what is allowed)"
        );
    }
}

fn main() {
    let line = |flows, mbit_per_second, milliseconds| Line { flows, mbit_per_second, milliseconds };
    let given: Vec<u64> = std::env::args().filter_map(|word| word.parse().ok()).collect();
    if let [flows, mbit_per_second, milliseconds] = given[..] {
        return table("As asked for", &[line(flows, mbit_per_second, milliseconds)], None);
    }
    let longer: Vec<Line> = [1_000, 2_000, 4_000, 8_000].map(|ms| line(50, 1_000, ms)).to_vec();
    table("Longer runs: packets grow with time", &longer, Some(Bound::Packets));
    let more: Vec<Line> = [100, 1_000, 10_000].map(|n| line(n, n, 2_000)).to_vec();
    table("More flows, 1 Mbit/s each: packets grow with flows", &more, Some(Bound::Flows));
    let shared: Vec<Line> = [10, 100, 1_000, 10_000].map(|n| line(n, 10_000, 1_000)).to_vec();
    table("More flows at the same 10 Gbit/s", &shared, Some(Bound::Flows));
}

//! Two bottlenecks in a row, on one thread and on two: the clock's seconds and the processor's.
//!
//! The two take turns, and of each the shortest counts; a machine that does something else meanwhile
//! cannot show what two cores are good for. Three numbers behind `--`, flows, Mbit/s and milliseconds,
//! make one line of one's own.

use serde_json::{Value, json};
use sojourn_net::{RunConfig, Simulation};
use sojourn_packet::Time;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// Runs of each line on either number of threads.
const REPEAT: usize = 5;

/// CUBIC flows with round-trip times of 16 to 62 ms through a CoDel, half of them through a narrower
/// one behind it.
struct Line {
    flows: u64,
    mbit_per_second: u64,
    milliseconds: u64,
}

impl Line {
    fn config(&self) -> RunConfig {
        let rate = self.mbit_per_second * 1_000_000;
        let host = |number: usize| {
            let own =
                json!({"ipv4": format!("10.0.{number}.1"), "ipv6": format!("fd00:{number}::1")});
            json!({"name": format!("h{number}"), "addresses": {"own": own}})
        };
        let link = |between: [&str; 2], rate: Option<u64>, milliseconds: u64| -> Value {
            json!({"between": between, "rate": rate, "delay": milliseconds * 1_000_000,
                   "queue_limit": (self.mbit_per_second * 12_500).max(100_000)})
        };
        let switch = |name| json!({"name": name, "port_speed": 4 * rate.max(2_500_000_000)});
        let flow = |number: u64| {
            let [from, to] = [["h1", "h3"], ["h2", "h4"]][number as usize % 2];
            json!({"kind": "tcp", "congestion_control": "cubic", "from": from, "to": to,
                   "rtt": 40_000_000 * number / self.flows})
        };
        let config = json!({
            "duration": self.milliseconds * 1_000_000,
            "aqm": {"kind": "native", "name": "codel"},
            "network": {
                "hosts": (1..=4).map(host).collect::<Vec<_>>(),
                "switches": [switch("r1"), switch("s2")],
                "links": [
                    link(["h1", "r1"], None, 2), link(["h2", "r1"], None, 5),
                    link(["r1", "s2"], Some(rate), 5),
                    link(["s2", "h3"], Some(rate * 9 / 20), 1), link(["s2", "h4"], None, 1),
                ],
            },
            "flows": (0..self.flows).map(flow).collect::<Vec<_>>(),
        });
        RunConfig::from_json(&config.to_string()).expect("the benchmark's own configuration")
    }
}

/// Cost of a run.
#[derive(Clone, Copy)]
struct Cost {
    packets: usize,
    clock: Duration,
    processor: Duration,
}

fn run(config: &RunConfig, threads: usize) -> Cost {
    let mut run = Simulation::new(config.clone(), None).expect("a valid configuration");
    run.use_threads(threads);
    let (begin, before) = (Instant::now(), processor_time());
    let mut packets = 0;
    while !run.finished() {
        // As many rows as `sojourn run` reads at a time.
        run.advance(Time::MAX, 8_192 * threads);
        for place in 0..run.bottlenecks() {
            packets += run.read_packets_of(place, |rows| black_box(rows).len());
        }
        black_box(run.take_flows());
    }
    Cost { packets, clock: begin.elapsed(), processor: processor_time() - before }
}

/// CPU time of all threads of this process, in the kernel's ticks of 10 ms.
fn processor_time() -> Duration {
    let text = std::fs::read_to_string("/proc/self/stat").expect("a Linux kernel");
    let (_, behind_name) = text.rsplit_once(')').expect("the process's name");
    let fields = behind_name.split_whitespace().skip(11).take(2);
    let ticks: u64 = fields.map(|field| field.parse::<u64>().expect("ticks")).sum();
    Duration::from_millis(10 * ticks)
}

/// The shortest of several runs on one thread and on two.
fn costs(config: &RunConfig) -> [Cost; 2] {
    let mut best: [Option<Cost>; 2] = [None; 2];
    for _ in 0..REPEAT {
        for (best, threads) in best.iter_mut().zip(1..) {
            let cost = run(config, threads);
            if best.is_none_or(|best| cost.clock < best.clock) {
                *best = Some(cost);
            }
        }
    }
    best.map(|best| best.expect("at least one run"))
}

fn main() {
    let given: Vec<u64> = std::env::args().filter_map(|word| word.parse().ok()).collect();
    let line = |flows, mbit_per_second, milliseconds| Line { flows, mbit_per_second, milliseconds };
    let lines = match given[..] {
        [flows, mbit_per_second, milliseconds] => vec![line(flows, mbit_per_second, milliseconds)],
        _ => vec![line(1_000, 1_000, 4_000), line(1_000, 10_000, 1_000), line(10, 100, 10_000)],
    };
    println!(
        "{:>8}{:>8}{:>13}{:>10}{:>10}{:>10}{:>10}{:>10}{:>8}",
        "flows",
        "Mbit/s",
        "simulated s",
        "rows",
        "1 thread",
        "its CPU",
        "2 threads",
        "their CPU",
        "times"
    );
    for line in lines {
        let [one, two] = costs(&line.config());
        assert_eq!(one.packets, two.packets);
        println!(
            "{:>8}{:>8}{:>13}{:>10}{:>10.3}{:>10.2}{:>10.3}{:>10.2}{:>8.2}",
            line.flows,
            line.mbit_per_second,
            line.milliseconds as f64 / 1000.0,
            one.packets,
            one.clock.as_secs_f64(),
            one.processor.as_secs_f64(),
            two.clock.as_secs_f64(),
            two.processor.as_secs_f64(),
            one.clock.as_secs_f64() / two.clock.as_secs_f64(),
        );
    }
}

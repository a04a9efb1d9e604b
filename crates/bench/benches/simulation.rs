//! Benchmark of a whole simulation: ten CUBIC flows through 100 Mbit/s for one second.
//!
//! Criterion's throughput is the number of packets at the bottleneck per second of wall time. The
//! benchmark also prints the events per second of one run.

use criterion::{Criterion, Throughput};
use sojourn_net::{RunConfig, Simulation};
use sojourn_packet::Time;
use std::hint::black_box;
use std::time::Instant;

fn config(flows: usize, rate: u64, aqm: &str) -> RunConfig {
    let flows: Vec<String> = (0..flows)
        .map(|i| {
            let rtt = 5_000_000 + 5_000_000 * i as u64 / flows as u64;
            format!(r#"{{"kind": "tcp", "congestion_control": "cubic", "rtt": {rtt}}}"#)
        })
        .collect();
    let text = format!(
        r#"{{"duration": 1000000000,
             "aqm": {{"kind": "native", "name": "{aqm}"}}, "flows": [{}]}}"#,
        flows.join(", ")
    );
    let mut config = RunConfig::from_json(&text).expect("the benchmark's own configuration");
    config.network.links[1].rate = Some(rate);
    config
}

/// Runs to the end; packets at the bottleneck and events.
fn run(config: &RunConfig) -> (u64, u64) {
    let mut run = Simulation::new(config.clone(), None).expect("a valid configuration");
    let mut packets = 0;
    while !run.finished() {
        run.advance(Time::MAX, 65_536);
        packets += run.read_packets_of(0, |rows| black_box(rows).len()) as u64;
        black_box(run.take_flows());
    }
    (packets, run.report().events)
}

fn simulation(criterion: &mut Criterion) {
    let cases =
        [("fifo", 10, 100_000_000), ("codel", 10, 100_000_000), ("fifo", 50, 1_000_000_000)];
    for (aqm, flows, rate) in cases {
        let config = config(flows, rate, aqm);
        let begin = Instant::now();
        let (packets, events) = run(&config);
        let rate_of_events = events as f64 / begin.elapsed().as_secs_f64();
        let name = format!("{aqm}, {flows} cubic flows, {} Mbit/s, 1 s", rate / 1_000_000);
        println!("{name}: {packets} packets, {events} events, {rate_of_events:.0} events/s");
        let mut group = criterion.benchmark_group("simulation");
        group.sample_size(20).throughput(Throughput::Elements(packets));
        group.bench_function(&name, |bencher| bencher.iter(|| run(black_box(&config))));
        group.finish();
    }
}

fn main() {
    let mut criterion = Criterion::default().without_plots().configure_from_args();
    simulation(&mut criterion);
    criterion.final_summary();
}

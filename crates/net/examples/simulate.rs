//! A run of the simulator alone, for counting what it costs: ten CUBIC flows behind a native CoDel
//! at 100 Mbit/s, or so many, round-trip times of 50 ms and 5 ms more each, for so many milliseconds.
//!
//!     cargo run --release -p sojourn-net --example simulate -- MILLISECONDS [FLOWS]
//!
//! Prints how many packets came to the bottleneck.

use sojourn_net::config::{LinkSection, NetworkSection};
use sojourn_net::{RunConfig, Simulation};
use sojourn_packet::Time;
use std::hint::black_box;

const RATE: u64 = 100_000_000;

fn config(milliseconds: u64, flows: u64) -> RunConfig {
    let flow = |i: u64| {
        let rtt = 50_000_000 + 5_000_000 * i;
        format!(r#"{{"kind": "tcp", "congestion_control": "cubic", "rtt": {rtt}}}"#)
    };
    let flows = (0..flows).map(flow).collect::<Vec<_>>().join(", ");
    let text = format!(
        r#"{{"duration": {}, "aqm": {{"kind": "native", "name": "codel"}}, "flows": [{flows}]}}"#,
        milliseconds * 1_000_000
    );
    let mut config = RunConfig::from_json(&text).expect("the example's own configuration");
    let bottleneck =
        LinkSection { rate: Some(RATE), queue_limit: RATE / 80, ..LinkSection::bottleneck() };
    config.network = NetworkSection::one_switch(bottleneck);
    config
}

fn main() {
    let given: Result<Vec<u64>, _> = std::env::args().skip(1).map(|word| word.parse()).collect();
    let (milliseconds, flows) = match given.as_deref() {
        Ok(&[milliseconds]) => (milliseconds, 10),
        Ok(&[milliseconds, flows]) => (milliseconds, flows),
        _ => {
            eprintln!("usage: simulate MILLISECONDS [FLOWS]");
            std::process::exit(2);
        }
    };
    let mut run =
        Simulation::new(config(milliseconds, flows), None).expect("a valid configuration");
    let mut packets = 0;
    while !run.finished() {
        run.advance(Time::MAX, 65_536);
        packets += run.read_packets_of(0, |rows| black_box(rows).len());
        black_box(run.take_flows());
    }
    println!("{packets}");
}

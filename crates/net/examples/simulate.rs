//! A run of the simulator alone, for counting what it costs: ten CUBIC flows behind a native CoDel
//! at 100 Mbit/s, round-trip times of 50 to 95 ms, for so many milliseconds.
//!
//!     cargo run --release -p sojourn-net --example simulate -- MILLISECONDS
//!
//! Prints how many packets came to the bottleneck.

use sojourn_net::config::{LinkSection, NetworkSection};
use sojourn_net::{RunConfig, Simulation};
use sojourn_packet::Time;
use std::hint::black_box;

const RATE: u64 = 100_000_000;

fn config(milliseconds: u64) -> RunConfig {
    let flow = |i: u64| {
        let rtt = 50_000_000 + 5_000_000 * i;
        format!(r#"{{"kind": "tcp", "congestion_control": "cubic", "rtt": {rtt}}}"#)
    };
    let flows = (0..10).map(flow).collect::<Vec<_>>().join(", ");
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
    let given = std::env::args().nth(1).and_then(|word| word.parse().ok());
    let Some(milliseconds) = given else {
        eprintln!("usage: simulate MILLISECONDS");
        std::process::exit(2);
    };
    let mut run = Simulation::new(config(milliseconds), None).expect("a valid configuration");
    let mut packets = 0;
    while !run.finished() {
        run.advance(Time::MAX, 65_536);
        packets += run.read_packets_of(0, |rows| black_box(rows).len());
        black_box(run.take_flows());
    }
    println!("{packets}");
}

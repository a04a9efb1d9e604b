//! TCP through a P4 program that manages the queue, in Rust.
//!
//!     cargo run --release -p sojourn-engine --example tcp_over_p4
//!
//! The configuration is the data that the Python package passes to the engine: times in ns, rates in
//! bit/s. The program gets the same control plane as on a switch: table entries and a mirror session.

use serde_json::json;
use sojourn_engine::{config, simulation};
use sojourn_net::Verdict;
use sojourn_packet::Time;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Runs two flows for `seconds`; prints and returns the number of packets, and of those that the
/// program dropped.
///
/// # Errors
/// The program cannot be loaded.
pub fn run(seconds: u64) -> Result<(usize, usize), Box<dyn std::error::Error>> {
    let forward = |from: u64, to: u64| {
        let key = json!({"ig_intr_md.ingress_port": from});
        json!({"match": key, "action": "send", "args": {"port": to}})
    };
    let config = json!({
        "duration": seconds * 1_000_000_000,
        "aqm": {
            "kind": "p4",
            "program": format!("{ROOT}/p4/tna/codel_act.p4"),
            "include_paths": [format!("{ROOT}/p4/include")],
            "control": {
                "tables": [{"name": "Ingress.forward", "entries": [forward(1, 2), forward(2, 1)]}],
                "mirror_sessions": [{"session": 100, "port": 68, "max_length": 100}],
            },
        },
        "flows": [{"kind": "tcp", "rtt": 20_000_000}, {"kind": "tcp", "rtt": 40_000_000}],
    });
    let mut run = simulation(&config::read(&config.to_string())?)?;
    run.advance(Time::MAX, usize::MAX);
    let rows = run.take_packets();
    let dropped = rows.verdict.iter().filter(|verdict| **verdict == Verdict::Aqm as u8).count();
    println!("{} packets, {dropped} dropped by the program", rows.len());
    Ok((rows.len(), dropped))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    run(5).map(|_| ())
}

//! TCP through a P4 program: `cargo run --release -p sojourn-engine --example tcp_over_p4`.

use serde_json::json;
use sojourn_engine::{config, simulation};
use sojourn_net::Verdict;
use sojourn_packet::Time;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let forward = |from: u64, to: u64| json!({"match": {"ig_intr_md.ingress_port": from}, "action": "send", "args": {"port": to}});
    let config = json!({
        "duration": 5_000_000_000_u64,
        "aqm": {
            "kind": "p4",
            "program": "p4/tna/codel_act.p4",
            "include_paths": ["p4/include"],
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
    let dropped = rows.verdict.iter().filter(|v| **v == Verdict::Aqm as u8).count();
    println!("{} packets, {dropped} dropped by the program", rows.len());
    Ok(())
}

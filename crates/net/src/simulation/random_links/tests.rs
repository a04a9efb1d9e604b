//! Runs through links that lose, delay, reorder and duplicate frames.

use super::*;
use crate::config::RunConfig;
use crate::records::{CapturePoint, CapturedFrame};
use serde_json::{Value, json};
use std::collections::BTreeSet;

const MS: u64 = 1_000_000;

/// h1 - r1 - s2 - h2; `netem` acts from r1 to s2, which the bottleneck is, `last` from s2 to h2 and
/// `first` from h1 to r1.
fn chain(flows: Value, [first, netem, last]: [Value; 3]) -> RunConfig {
    let host = |n: u8| {
        let own = json!({"ipv4": format!("10.0.{n}.1"), "ipv6": format!("fd00:{n}::1")});
        json!({"name": format!("h{n}"), "addresses": {"own": own}})
    };
    let text = json!({
        "duration": 2_000 * MS,
        "capture": true,
        "aqm": {"kind": "native", "name": "fifo"},
        "network": {
            "hosts": [host(1), host(2)],
            "switches": [{"name": "r1"}, {"name": "s2"}],
            "links": [
                {"between": ["h1", "r1"], "delay": MS, "netem": first},
                {"between": ["r1", "s2"], "rate": 20_000_000, "delay": 2 * MS, "netem": netem},
                {"between": ["s2", "h2"], "rate": 19_000_000, "delay": MS, "netem": last},
            ],
        },
        "flows": flows,
    });
    RunConfig::from_json(&text.to_string()).expect("a valid configuration")
}

fn udp() -> Value {
    json!([{"kind": "udp", "rtt": 0, "rate": 8_000_000, "from": "h1", "to": "h2"}])
}

fn tcp() -> Value {
    json!([{"kind": "tcp", "rtt": 0, "from": "h1", "to": "h2"}])
}

fn done(config: RunConfig, threads: usize) -> (Simulation, Vec<Vec<CapturedFrame>>) {
    let mut run = Simulation::new(config, None).expect("a valid configuration");
    run.use_threads(threads);
    run.advance(Time::MAX, usize::MAX);
    let captures = (0..run.bottlenecks()).map(|place| run.take_capture_of(place)).collect();
    (run, captures)
}

#[test]
fn losses_and_duplicates_of_a_link_are_counted_separately_from_drops() {
    let some = json!({"loss": 100_000_000, "duplicate": 50_000_000});
    for place in 0..3 {
        let mut netem = [Value::Null, Value::Null, Value::Null];
        netem[place] = some.clone();
        let (run, _) = done(chain(udp(), netem), 1);
        let report = run.report();
        let [link] = &report.links[..] else { panic!("{:?}", report.links) };
        let ends = [("h1", "r1"), ("r1", "s2"), ("s2", "h2")][place];
        assert_eq!((link.from.as_str(), link.to.as_str()), ends);
        assert!(link.lost > link.frames / 20 && link.duplicated > link.frames / 50, "{link:?}");
        let (sent, delivered) = (report.flows[0].segments, report.flows[0].delivered);
        let arrived = delivered / (1_514 - 42);
        let way = sent + link.duplicated - link.lost;
        assert!(way - arrived < 10, "{sent} sent, {arrived} arrived, {link:?}");
    }
}

#[test]
fn a_duplicate_has_the_bytes_of_its_frame_and_a_number_of_its_own() {
    let twice = json!({"duplicate": 1_000_000_000});
    let (mut run, captures) = done(chain(udp(), [twice, Value::Null, Value::Null]), 1);
    let enters: Vec<_> =
        captures[0].iter().filter(|frame| frame.point == CapturePoint::Entered).collect();
    assert!(enters.len() > 1_000);
    for pair in enters.chunks_exact(2) {
        let content = |frame: &CapturedFrame| (frame.bytes.clone(), frame.original_len);
        assert_eq!(content(pair[0]), content(pair[1]));
    }
    let numbers = run.take_packets_of(0).packet;
    assert_eq!(numbers.iter().collect::<BTreeSet<_>>().len(), numbers.len());
}

#[test]
fn jitter_and_reordering_let_frames_overtake_and_tcp_still_delivers() {
    let jitter = json!({"jitter": 2 * MS});
    let reorder = json!({"reorder": 100_000_000, "gap": 3});
    let steady = done(chain(tcp(), [Value::Null, Value::Null, Value::Null]), 1).0.report();
    assert_eq!(steady.flows[0].retransmits, 0);
    for given in [jitter, reorder] {
        for place in 0..3 {
            let mut netem = [Value::Null, Value::Null, Value::Null];
            netem[place] = given.clone();
            let report = done(chain(tcp(), netem), 1).0.report();
            assert!(report.flows[0].delivered > 500_000, "{place}: {report:?}");
            assert_eq!(report.links[0].lost, 0);
        }
    }
}

#[test]
fn a_seed_makes_the_same_run_on_any_number_of_threads_and_another_seed_another() {
    let netem = json!({"loss": 20_000_000, "duplicate": 10_000_000});
    let config =
        |seed| RunConfig { seed, ..chain(tcp(), [netem.clone(), netem.clone(), netem.clone()]) };
    let reports: Vec<_> = [1, 2].map(|threads| done(config(1), threads).0.report()).into();
    assert_eq!(reports[0], reports[1]);
    assert!(reports[0].links.iter().all(|link| link.lost > 0), "{:?}", reports[0].links);
    assert_ne!(reports[0].links, done(config(2), 1).0.report().links);
}

#[test]
fn values_out_of_range_and_reordering_without_a_delay_are_refused_by_key() {
    let refused = |link: Value| {
        let text = json!({
            "duration": MS,
            "aqm": {"kind": "native", "name": "fifo"},
            "network": {
                "hosts": [
                    {"name": "a", "addresses": "clients"}, {"name": "b", "addresses": "servers"}
                ],
                "switches": [{"name": "s"}],
                "links": [{"between": ["a", "s"]}, link],
            },
            "flows": [{"kind": "tcp", "rtt": 0}],
        });
        RunConfig::from_json(&text.to_string()).expect_err("not allowed").to_string()
    };
    let link =
        |key: &str, netem: Value| json!({"between": ["s", "b"], "rate": 10_000_000, key: netem});
    let said = refused(link("netem", json!({"loss": 1_000_000_001})));
    assert!(said.starts_with("network.links[1].netem.loss = 1000000001"), "{said}");
    let said = refused(link("netem_back", json!({"reorder": 1})));
    assert!(said.starts_with("network.links[1].netem_back.reorder"), "{said}");
    assert!(said.contains("needs a delay"), "{said}");
    let said = refused(link("netem", json!({"jitter": 1, "gap": 0})));
    assert!(said.contains("gap = 0"), "{said}");
}

//! Networks driven partition by partition, on one thread or several, held against the same networks whole.

use super::*;
use crate::records::{CapturedFrame, DatagramRows, ExchangeRows, FlowRows, PacketRows};
use oorandom::Rand32;
use serde_json::{Value, json};
use sojourn_packet::ProgramLog;
use std::collections::BTreeSet;

const MS: u64 = 1_000_000;

/// Everything that a run yields.
#[derive(Debug, Default, PartialEq)]
struct Done {
    packets: Vec<PacketRows>,
    frames: Vec<Vec<CapturedFrame>>,
    flows: FlowRows,
    exchanges: ExchangeRows,
    datagrams: DatagramRows,
    log: ProgramLog,
    report: RunReport,
}

/// Driver of a run.
#[derive(Clone, Copy, Debug)]
enum Driven {
    /// All of it as one partition.
    Whole,
    /// Partition by partition, on so many threads.
    Apart(usize),
}

fn build(config: &Value, driven: Driven) -> Simulation {
    build_with(config, driven, Vec::new())
}

fn build_with(config: &Value, driven: Driven, planes: Vec<SwitchPlane>) -> Simulation {
    let config = RunConfig::from_json(&config.to_string()).expect("a valid configuration");
    let whole = |_: &Layout, nodes: &[Node]| Partitioning {
        partitions: 1,
        by_switch: vec![0; nodes.len()],
        ahead: Time::ZERO,
    };
    let mut run = match driven {
        Driven::Whole => Simulation::with_cut(config, planes, whole),
        Driven::Apart(_) => Simulation::new(config, planes),
    }
    .expect("a valid configuration");
    // Small networks are divided among threads too.
    run.worth = 0;
    if let Driven::Apart(threads) = driven {
        run.use_threads(threads);
    }
    run
}

fn take(run: &mut Simulation) -> Done {
    Done {
        packets: (0..run.bottlenecks()).map(|place| run.take_packets_of(place)).collect(),
        frames: (0..run.bottlenecks()).map(|place| run.take_capture_of(place)).collect(),
        flows: run.take_flows(),
        exchanges: run.take_exchanges(),
        datagrams: run.take_datagrams(),
        log: run.take_log(),
        report: run.report(),
    }
}

fn done(config: &Value, driven: Driven) -> Done {
    let mut run = build(config, driven);
    run.advance(Time::MAX, usize::MAX);
    assert!(run.finished());
    take(&mut run)
}

/// Switches in a row, the links between them of that delay, and a host at each.
fn row(switches: usize, delay: u64, flows: &[Value]) -> Value {
    let between = (1..switches).map(|at| {
        json!({"between": [format!("s{}", at - 1), format!("s{at}")], "rate": 20_000_000,
               "delay": delay})
    });
    network(switches, between.collect(), flows)
}

fn network(switches: usize, mut links: Vec<Value>, flows: &[Value]) -> Value {
    let host = |at: usize| {
        let own = json!({"ipv4": format!("10.0.{at}.1"), "ipv6": format!("fd00:{at}::1")});
        json!({"name": format!("h{at}"), "addresses": {"own": own}})
    };
    links.extend((0..switches).map(
        |at| json!({"between": [format!("h{at}"), format!("s{at}")], "delay": 70_001 * at as u64}),
    ));
    json!({
        "duration": 500 * MS,
        "aqm": {"kind": "native", "name": "codel"},
        "network": {
            "hosts": (0..switches).map(host).collect::<Vec<_>>(),
            "switches": (0..switches).map(|at| json!({"name": format!("s{at}")})).collect::<Vec<_>>(),
            "links": links,
        },
        "flows": flows,
    })
}

fn tcp(from: usize, to: usize) -> Value {
    json!({"kind": "tcp", "rtt": 0, "from": format!("h{from}"), "to": format!("h{to}")})
}

/// A network drawn by a seed: a tree, perhaps with one more link; delays that are worth a cut or not,
/// some of which change; traffic of all kinds.
fn drawn(seed: u64) -> Value {
    let mut draws = Rand32::new(seed);
    let mut below = |n: usize| draws.rand_range(0..n as u32) as usize;
    let switches = 2 + below(4);
    let delays = [0, 20_000, 300_000, MS, 5 * MS];
    let mut links = Vec::new();
    let mut pairs = BTreeSet::new();
    for at in 1..=switches {
        // The last one makes a circle, or would be there already.
        let (a, b) = (below(at.min(switches - 1)), at.min(switches - 1));
        if a == b || !pairs.insert((a, b)) {
            continue;
        }
        let delay = delays[below(5)] + below(1_000) as u64;
        let rate = (5 + below(40)) as u64 * 1_000_000 + below(1_000) as u64;
        let mut link = json!({"between": [format!("s{a}"), format!("s{b}")], "delay": delay,
                              "rate": rate, "queue_limit": 60_000});
        if below(3) == 0 {
            let step = json!({"at": 200 * MS, "rate": rate / 2, "delay": delay / 2 + 11});
            link["schedule"] = json!([step, {"at": 400 * MS, "rate": rate}]);
        }
        links.push(link);
    }
    let flows: Vec<Value> = (0..6)
        .map(|kind| {
            let from = below(switches);
            let to = (from + 1 + below(switches - 1)) % switches;
            let rtt = below(3) as u64 * 7 * MS;
            let mut flow = match kind {
                0 | 1 => json!({"kind": "tcp", "ecn": kind == 1}),
                2 => json!({"kind": "udp", "rate": 3_000_000, "packet_size": 700}),
                3 => json!({"kind": "transfers", "load": 4_000_000,
                            "min_size": 1_000, "max_size": 100_000}),
                4 => json!({"kind": "requests", "request": 300, "response": 40_000,
                            "think": 20 * MS}),
                _ => json!({"kind": "voip"}),
            };
            flow["rtt"] = rtt.into();
            flow["from"] = format!("h{from}").into();
            flow["to"] = format!("h{to}").into();
            flow
        })
        .collect();
    let mut config = network(switches, links, &flows);
    config["seed"] = seed.into();
    config["netem"]["at"] = ["behind", "senders", "receivers", "both"][below(4)].into();
    config["capture"] = (below(2) == 0).into();
    config
}

#[test]
fn results_do_not_depend_on_partitions_or_threads() {
    let mut partitions = BTreeSet::new();
    for seed in 0..12 {
        let config = drawn(seed);
        let whole = done(&config, Driven::Whole);
        assert!(whole.packets.iter().any(|rows| rows.len() > 50), "seed {seed}: {config}");
        partitions.insert(build(&config, Driven::Apart(1)).partitions.len());
        for threads in 1..=3 {
            let apart = done(&config, Driven::Apart(threads));
            assert!(apart == whole, "seed {seed}, {threads} threads: {config}");
        }
    }
    assert!(partitions.contains(&1) && partitions.len() >= 3, "{partitions:?}");
}

#[test]
fn a_network_is_cut_at_links_that_always_take_their_time() {
    let partitions = |config: &Value| build(config, Driven::Apart(1)).partitions.len();
    assert_eq!(partitions(&row(4, MS, &[tcp(0, 3)])), 4);
    assert_eq!(partitions(&row(4, 0, &[tcp(0, 3)])), 1);
    let mut one_short = row(4, MS, &[tcp(0, 3)]);
    let later = json!([{"at": 100 * MS, "delay": 1_000}]);
    one_short["network"]["links"][1]["schedule"] = later;
    assert_eq!(partitions(&one_short), 3);
    // One way is enough to keep its ends together.
    one_short["network"]["links"][2]["delay_back"] = 0.into();
    assert_eq!(partitions(&one_short), 2);
}

#[test]
fn switches_that_nothing_connects_are_driven_apart() {
    let mut config = row(4, MS, &[tcp(0, 1), tcp(3, 2)]);
    config["network"]["links"].as_array_mut().expect("links").remove(1);
    assert!(done(&config, Driven::Apart(2)) == done(&config, Driven::Whole));
}

/// Drives a run in pieces, and at each end has the controller of the last switch send a frame.
fn in_pieces(config: &Value, driven: Driven, rows: usize) -> Done {
    let mut run = build(config, driven);
    let mut all = Done::default();
    let mut until = Time::ZERO;
    while !run.finished() {
        until += Time(7_654_321);
        while run.now() < until && !run.finished() {
            run.advance(until, rows);
            all.packets.resize_with(run.bottlenecks(), PacketRows::default);
            for (all, rows) in all.packets.iter_mut().zip(take(&mut run).packets) {
                all.packet.extend(rows.packet);
                all.dequeued.extend(rows.dequeued);
            }
        }
        assert!(run.packet_out(2, vec![0; 60]));
    }
    all.report = run.report();
    all
}

#[test]
fn pieces_in_which_a_run_is_driven_change_nothing() {
    let mut config = row(3, MS, &[tcp(0, 2), tcp(2, 0), tcp(1, 2)]);
    config["network"]["switches"][2]["cpu_port"] = 9.into();
    let whole = in_pieces(&config, Driven::Whole, usize::MAX);
    assert!(whole.packets[0].packet.len() > 500);
    for rows in [1, 100, usize::MAX] {
        assert!(in_pieces(&config, Driven::Apart(2), rows) == whole, "{rows} rows");
    }
}

#[test]
fn operations_on_several_switches_at_one_instant_are_one_event_in_order() {
    let mut config = row(2, MS, &[tcp(0, 1)]);
    config["aqm"] = json!({"kind": "switchplane"});
    let plane = |name: &'static str| {
        let wire = sojourn_switch::CrossConnect::between(PortId(1), PortId(2));
        let refuse = |times: u64| -> (Time, SwitchAction) {
            let message = format!("{name} will not, {times}");
            (Time(times * 100 * MS), Box::new(move |_, _| Err(message)))
        };
        SwitchPlane { later: vec![refuse(1), refuse(2)], ..SwitchPlane::plain(Box::new(wire)) }
    };
    let report = |driven| {
        let mut run = build_with(&config, driven, vec![plane("s0"), plane("s1")]);
        run.advance(Time::MAX, usize::MAX);
        take(&mut run)
    };
    let whole = report(Driven::Whole);
    let refused = &whole.report.faults[0];
    assert_eq!((refused.count, refused.first.as_str()), (4, "s0 will not, 1"));
    assert!(report(Driven::Apart(2)) == whole);
}

/// Two leaves with two hosts each and two spines, 0.2 ms apart, one link of which fails and returns.
fn fabric(multipath: &Value) -> Value {
    let (leaves, hosts) = ([0, 1], [0, 1, 2, 3]);
    let failing =
        json!([{"at": 60 * MS, "up": false, "reroute": 7 * MS}, {"at": 120 * MS, "up": true}]);
    let up = leaves.iter().flat_map(|leaf| leaves.map(|spine| (*leaf, spine)));
    let mut links: Vec<Value> = up
        .map(|(leaf, spine)| {
            let fails = (leaf, spine) == (0, 1);
            json!({"between": [format!("l{leaf}"), format!("s{spine}")], "rate": 50_000_000,
                   "delay": 200_000, "schedule": if fails { failing.clone() } else { json!([]) }})
        })
        .collect();
    links.extend(hosts.map(
        |at| json!({"between": [format!("h{at}"), format!("l{}", at / 2)], "rate": 50_000_000}),
    ));
    let host = |at: usize| {
        let own = json!({"ipv4": format!("10.0.{at}.1"), "ipv6": format!("fd00:{at}::1")});
        json!({"name": format!("h{at}"), "addresses": {"own": own}})
    };
    let flow = |at: usize| {
        let others = hosts.iter().filter(|other| **other != at).map(|other| format!("h{other}"));
        json!({"kind": "transfers", "rtt": 0, "load": 10_000_000, "min_size": 5_000,
               "max_size": 200_000, "from": format!("h{at}"), "to": format!("h{}", (at + 1) % 4),
               "receivers": others.collect::<Vec<_>>(), "tcp": {"min_rto": 5 * MS, "rank": "remaining"},
               "arrivals": {"lognormal": {"sigma": 1_500}}})
    };
    let switch = |name: &str| {
        json!({"name": name, "multipath": multipath,
                                     "shared_buffer": {"size": 300_000, "alpha": 1_000}})
    };
    let switches = ["l0", "l1", "s0", "s1"].map(switch);
    json!({
        "duration": 200 * MS,
        "aqm": {"kind": "native", "name": "sp_pifo"},
        "network": {
            "hosts": hosts.map(host),
            "switches": switches,
            "links": links,
        },
        "flows": hosts.map(flow),
    })
}

#[test]
fn a_fabric_leaves_the_same_rows_on_any_number_of_threads() {
    for multipath in [
        json!({"mode": "ecmp"}),
        json!({"mode": "spray"}),
        json!({"mode": "flowlet", "gap": 100_000, "seed": 5}),
    ] {
        let config = fabric(&multipath);
        let whole = done(&config, Driven::Whole);
        assert!(whole.report.frames_into_down_links > 0, "{multipath}");
        let finished = whole.exchanges.finished.iter().filter(|at| **at > 0).count();
        assert!(finished > 50, "{multipath}: {finished}");
        for threads in [1, 2] {
            assert!(done(&config, Driven::Apart(threads)) == whole, "{multipath} {threads}");
        }
    }
}

/// Eight switches that are all connected, a host at each, over links of that rate and some 70 us.
fn mesh(rate: u64) -> Value {
    let mut links = Vec::new();
    for a in 0..8_u64 {
        links.extend((0..a).map(|b| {
            json!({"between": [format!("s{a}"), format!("s{b}")], "rate": rate,
                   "delay": 70_000 + 101 * a + 13 * b})
        }));
    }
    let flows: Vec<Value> = (0..8).map(|at| tcp(at, (at + 3) % 8)).collect();
    let mut config = network(8, links, &flows);
    config["duration"] = json!(20 * MS);
    config
}

#[test]
fn short_links_are_cut_where_they_carry_much_and_the_run_is_that_of_any_number_of_threads() {
    let fast = mesh(10_000_000_000);
    assert_eq!(build(&fast, Driven::Apart(1)).partitions.len(), 8);
    assert_eq!(build(&mesh(100_000_000), Driven::Apart(1)).partitions.len(), 1);
    let one = done(&fast, Driven::Apart(1));
    assert!(one.report.flows.iter().all(|flow| flow.delivered > 0));
    assert_eq!(one, done(&fast, Driven::Apart(3)));
}

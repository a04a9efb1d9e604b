//! Runs through several switches, and runs whose links change on the way.

use super::*;
use crate::config::{Aqm, LinkSection, NetworkSection};
use crate::records::{CapturePoint, PacketRows, Verdict};
use serde_json::{Value, json};

const MS: u64 = 1_000_000;

fn host(number: usize) -> Value {
    let own = json!({"ipv4": format!("10.0.{number}.1"), "ipv6": format!("fd00:{number}::1")});
    json!({"name": format!("h{number}"), "addresses": {"own": own}})
}

fn switch(name: &str, aqm: Option<&str>) -> Value {
    let aqm = aqm.map(|name| json!({"kind": "native", "name": name}));
    json!({"name": name, "aqm": aqm})
}

fn link(a: &str, b: &str, rate: Option<u64>, delay_ms: u64) -> Value {
    json!({"between": [a, b], "rate": rate, "delay": delay_ms * MS, "schedule": []})
}

/// Two hosts, two switches in a row, two more hosts behind: h1 and h2 - r1 - s2 - h3 and h4.
fn chain(flows: &[Value]) -> Value {
    json!({
        "duration": 2_000 * MS,
        "aqm": {"kind": "native", "name": "codel"},
        "network": {
            "hosts": (1..=4).map(host).collect::<Vec<_>>(),
            "switches": [switch("r1", None), switch("s2", Some("fifo"))],
            "links": [
                link("h1", "r1", None, 1), link("h2", "r1", None, 1),
                link("r1", "s2", Some(20_000_000), 1),
                link("s2", "h3", Some(10_000_000), 0), link("s2", "h4", None, 0),
            ],
        },
        "flows": flows,
    })
}

/// One switch with a bottleneck of 10 Mbit/s that a schedule changes.
fn one_switch(schedule: Value) -> Value {
    let schedule = serde_json::from_value(schedule).expect("steps");
    let link = LinkSection { rate: Some(10_000_000), schedule, ..LinkSection::bottleneck() };
    json!(NetworkSection::<Aqm>::one_switch(link))
}

fn tcp(from: &str, to: &str) -> Value {
    json!({"kind": "tcp", "rtt": 0, "from": from, "to": to})
}

fn udp(from: &str, to: &str, rate: u64) -> Value {
    json!({"kind": "udp", "rate": rate, "packet_size": 1000, "rtt": 0, "from": from, "to": to})
}

fn build(config: &Value) -> Simulation {
    let config = RunConfig::from_json(&config.to_string()).expect("a valid configuration");
    Simulation::new(config, None).expect("a valid configuration")
}

fn run(config: &Value) -> Simulation {
    let mut run = build(config);
    run.advance(Time::MAX, usize::MAX);
    assert!(run.finished());
    let report = run.report();
    assert_eq!((report.stray_frames, report.malformed_frames), (0, 0));
    run
}

fn refusal(config: &Value) -> String {
    RunConfig::from_json(&config.to_string()).expect_err("a mistake").to_string()
}

#[test]
fn a_packet_has_a_row_under_its_number_at_each_bottleneck_that_it_passes() {
    let mut run = run(&chain(&[udp("h1", "h3", 2_000_000), udp("h2", "h4", 2_000_000)]));
    let names: Vec<_> =
        run.report().bottlenecks.iter().map(|b| format!("{}>{}", b.switch, b.towards)).collect();
    assert_eq!(names, ["r1>s2", "s2>r1", "s2>h3"]);
    let [first, back, second] = [0, 1, 2].map(|place| run.take_packets_of(place));
    assert!(back.is_empty());
    let of_flow_0: Vec<_> = (0..first.len()).filter(|row| first.flow[*row] == 0).collect();
    assert!(second.len() > 400 && second.len().abs_diff(of_flow_0.len()) <= 1);
    for (row, before) in (0..second.len()).zip(of_flow_0) {
        assert_eq!(second.packet[row], first.packet[before]);
        // Serialised at 10 Gbit/s, 1 ms under way, through the switch.
        let between = second.enqueued[row] - first.dequeued[before];
        assert_eq!(between, 500 + 810 + MS + 600);
    }
}

#[test]
fn each_bottleneck_has_its_own_capture_which_agrees_with_its_rows() {
    let mut config = chain(&[udp("h1", "h3", 2_000_000), tcp("h2", "h4")]);
    config["capture"] = true.into();
    let mut run = run(&config);
    for (place, expected) in [(0, 2), (1, 1), (2, 1)] {
        let (rows, frames) = (run.take_packets_of(place), run.take_capture_of(place));
        let times = |wanted: CapturePoint| -> Vec<u64> {
            frames.iter().filter(|f| f.point == wanted).map(|f| f.time).collect()
        };
        let mut flows = rows.flow.clone();
        flows.sort_unstable();
        flows.dedup();
        assert_eq!(flows.len(), expected, "flows at {place}");
        // At the end packets wait in the queue that have no row yet.
        let mut enqueued = rows.enqueued.clone();
        enqueued.sort_unstable();
        assert_eq!(times(CapturePoint::Entered)[..enqueued.len()], enqueued);
        let sent = rows.verdict.iter().zip(&rows.dequeued);
        let left: Vec<u64> =
            sent.filter(|(v, _)| **v == Verdict::Sent as u8).map(|(_, at)| *at).collect();
        assert_eq!(times(CapturePoint::Left), left);
    }
    assert!(run.take_capture_of(3).is_empty());
}

#[test]
fn a_link_with_capture_is_captured_alone_and_the_run_stays_the_same() {
    let mut config = chain(&[udp("h1", "h3", 2_000_000)]);
    let mut plain = run(&config);
    config["network"]["links"][3]["capture"] = true.into();
    let mut captured = run(&config);
    assert_eq!(captured.take_packets_of(2).dequeued, plain.take_packets_of(2).dequeued);
    assert!(captured.take_capture_of(0).is_empty());
    assert!(captured.take_capture_of(2).len() > 800);
}

#[test]
fn the_round_trip_is_the_sum_of_the_links_delays() {
    let mut config = chain(&[tcp("h1", "h4")]);
    // Sampled at 30 ms: the handshake is over, no data is acknowledged, so nothing has queued.
    config["seed"] = 1.into();
    config["flows"][0]["start"] = (24 * MS - start_jitter(1, 0).0).into();
    let mut run = run(&config);
    let first = run.take_flows().srtt.into_iter().find(|srtt| *srtt > 0).expect("a measurement");
    // 1 ms to r1, 1 ms to s2, and back; latencies and serialisation are less than 10 us.
    assert!((4 * MS..4 * MS + 10_000).contains(&first), "{first}");
}

#[test]
fn each_switch_has_its_own_aqm_and_the_run_manages_those_that_name_none() {
    // To h3 the narrow place is the tail drop of s2, to h4 the CoDel of r1.
    let verdicts = |to: &str| {
        let mut run = run(&chain(&[tcp("h1", to), tcp("h2", to)]));
        let count = |rows: &PacketRows, verdict: Verdict| {
            rows.verdict.iter().filter(|v| **v == verdict as u8).count()
        };
        let (first, _, second) =
            (run.take_packets_of(0), run.take_packets_of(1), run.take_packets_of(2));
        (count(&first, Verdict::Aqm), count(&second, Verdict::Aqm))
    };
    let (at_r1, at_s2) = verdicts("h4");
    assert!(at_r1 > 5 && at_s2 == 0, "{at_r1} {at_s2}");
    assert_eq!(verdicts("h3"), (0, 0));
}

#[test]
fn two_bottlenecks_in_a_row_share_out_by_the_narrower_one() {
    let run = run(&chain(&[tcp("h1", "h3"), tcp("h2", "h4")]));
    let flows = run.report().flows;
    let megabits = |flow: usize| flows[flow].delivered as f64 * 8.0 / 2.0 / 1e6;
    let (behind, other) = (megabits(0), megabits(1));
    assert!(behind > 4.0 && behind < 10.0, "{behind}");
    assert!(behind + other > 16.0 && behind + other < 19.5, "{behind} {other}");
}

#[test]
fn ipv6_and_many_flows_between_one_pair_of_hosts_find_their_sockets() {
    let mut flows = vec![udp("h1", "h4", 100_000); 40];
    flows.iter_mut().skip(20).for_each(|flow| flow["ip_version"] = 6.into());
    let run = run(&chain(&flows));
    let flows = run.report().flows;
    assert!(flows.iter().all(|flow| flow.delivered > 20_000), "{flows:?}");
}

#[test]
fn a_lower_rate_holds_from_its_instant_on_and_a_higher_one_lets_the_queue_go() {
    let mut config = json!({
        "duration": 3_000 * MS, "aqm": {"kind": "native", "name": "fifo"},
        "flows": [{"kind": "udp", "rate": 8_000_000, "packet_size": 1000, "rtt": 0}],
        "network": one_switch(json!([
            {"at": 1_000 * MS, "rate": 2_000_000}, {"at": 1_500 * MS, "rate": 50_000_000}])),
    });
    let rows = run(&config).take_packets();
    let sent = |from: u64, to: u64| {
        let within = rows.dequeued.iter().filter(|at| (from * MS..to * MS).contains(*at));
        within.count() as u64 * 1_020 * 8 * 1000 / (to - from)
    };
    // The shaper counts 20 bytes more; the silicon rounds by less than 0.2 %.
    assert!(sent(1_010, 1_490).abs_diff(2_000_000) < 40_000, "{}", sent(1_010, 1_490));
    let delay_at = |at: u64| {
        let row = rows.dequeued.partition_point(|d| *d < at * MS);
        rows.dequeued[row] - rows.enqueued[row]
    };
    assert!(delay_at(990) < MS);
    assert!(delay_at(1_490) > 300 * MS, "{}", delay_at(1_490));
    assert!(sent(1_510, 1_550).abs_diff(50_000_000) < 2_000_000);
    assert!(delay_at(1_600) < MS);
    // Nothing else changes: without the schedule the first second is the same.
    config["network"] = one_switch(json!([]));
    let plain = run(&config).take_packets();
    let before = rows.dequeued.partition_point(|at| *at < 1_000 * MS);
    assert_eq!(rows.dequeued[..before], plain.dequeued[..before]);
}

#[test]
fn a_scheduled_delay_holds_from_its_instant_on_without_reordering() {
    let mut config = chain(&[udp("h1", "h3", 1_000_000)]);
    config["network"]["links"][2]["schedule"] =
        json!([{"at": 500 * MS, "delay": 30 * MS}, {"at": 1_500 * MS, "delay": 2 * MS}]);
    let mut run = run(&config);
    let (first, second) = (run.take_packets_of(0), run.take_packets_of(2));
    assert!(second.packet.windows(2).all(|pair| pair[0] < pair[1]));
    let under_way = |at: u64| {
        let row = first.dequeued.partition_point(|dequeued| *dequeued < at * MS);
        second.enqueued[row] - first.dequeued[row]
    };
    let own = under_way(400) - MS;
    assert_eq!(under_way(505), 30 * MS + own);
    assert_eq!(under_way(1_450), 30 * MS + own);
    // A datagram each 8 ms: the first ones arrive together with the last that took 30 ms.
    assert!((13 * MS..30 * MS).contains(&under_way(1_501)), "{}", under_way(1_501));
    assert_eq!(under_way(1_540), 2 * MS + own);
}

#[test]
fn a_flow_that_runs_backwards_passes_the_bottleneck_with_its_acknowledgements() {
    let config = json!({
        "duration": 1_000 * MS, "aqm": {"kind": "native", "name": "fifo"},
        "flows": [{"kind": "tcp", "rtt": 5 * MS, "rate_cap": 20_000_000,
                   "from": "receivers", "to": "senders"}],
        "network": one_switch(json!([])),
    });
    let mut run = run(&config);
    let rows = run.take_packets();
    assert!(rows.size.iter().all(|size| *size < 100));
    let delivered = run.report().flows[0].delivered;
    assert!(delivered * 8 > 19_000_000, "{delivered}");
}

#[test]
fn a_delay_of_one_way_alone_is_met_on_that_way_alone() {
    let mut config = chain(&[udp("h1", "h3", 1_000_000), udp("h3", "h1", 1_000_000)]);
    config["network"]["links"][2]["delay_back"] = json!(20 * MS);
    config["network"]["links"][2]["schedule"] = json!([{"at": 1_000 * MS, "delay_back": 7 * MS}]);
    let mut run = run(&config);
    let (there, back) = (run.take_packets_of(0), run.take_packets_of(1));
    let arrived = run.take_packets_of(2);
    assert_eq!(arrived.enqueued[0] - there.dequeued[0], 500 + 810 + MS + 600);
    // h3 sends and h1 receives what r1 let pass: 20 ms later at first, then 7 ms.
    let delivered = |until: u64, delay: u64| {
        back.dequeued.iter().filter(|at| **at + delay * MS < until * MS).count() as u64
    };
    assert!(back.len() > 200 && delivered(900, 20) > 100);
    let flow = &run.report().flows[1];
    // 1,000 bytes less 42 of headers; the last 1 ms of the link to h1 is that link's own.
    assert_eq!(flow.delivered, delivered(2_000, 7 + 1) * 958);
}

#[test]
fn groups_and_single_hosts_share_a_switch_that_knows_the_way_to_each() {
    let host =
        json!({"name": "h", "addresses": {"own": {"ipv4": "192.168.0.1", "ipv6": "fd01::1"}}});
    let flow = |from: &str, to: &str, ip: u32| json!({"kind": "tcp", "rtt": 2 * MS, "from": from, "to": to, "ip_version": ip});
    let config = json!({
        "duration": 1_000 * MS, "aqm": {"kind": "native", "name": "codel"},
        "network": {
            "hosts": [{"name": "many", "addresses": "clients", "access_rate": 1_000_000_000},
                      {"name": "others", "addresses": "servers"}, host],
            "switches": [switch("s", None)],
            "links": [link("many", "s", None, 0), link("s", "others", Some(10_000_000), 1),
                      link("s", "h", Some(10_000_000), 1)],
        },
        "flows": [flow("many", "others", 4), flow("many", "h", 6), flow("h", "others", 6),
                  flow("others", "h", 4), flow("others", "many", 6)],
    });
    let flows = run(&config).report().flows;
    assert!(flows.iter().all(|flow| flow.delivered > 100_000), "{flows:?}");
}

#[test]
fn mistakes_in_a_network_are_named_with_what_may_stand_there() {
    let flows = [tcp("h1", "h3")];
    let group = |name: &str| json!({"name": name, "addresses": "clients"});
    let cases: [(&str, Value, &str); 9] = [
        ("/flows/0/to", "h9".into(), "flows[0].to = `h9`: allowed is one of the hosts h1, h2"),
        ("/flows/0/to", "h1".into(), "flows[0] = h1 to h1: allowed is two different hosts"),
        ("/flows/0/from", Value::Null, "flows[0].from = missing"),
        ("/network/links/2/between/1", "s3".into(), "links[2].between = `s3`: allowed is names"),
        ("/network/links/4/between/0", "h3".into(), "links[4].between = h3, h4"),
        ("/network/hosts/1/name", "h1".into(), "`h1`: allowed is each name once"),
        (
            "/network/hosts",
            json!([group("a"), group("b")]),
            "network.hosts: b: addresses = another group: allowed is one group of clients",
        ),
        (
            "/network/hosts/3",
            group("a"),
            "network.hosts: h1: addresses = 10.0.1.1, fd00:1::1: allowed is ones that no flow has",
        ),
        (
            "/network/links/2/schedule",
            json!([{"at": 5, "delay": 1}, {"at": 5, "delay": 2}]),
            "network.links[2].schedule[1].at = 5: allowed is later than the step before it",
        ),
    ];
    for (place, value, message) in cases {
        let mut config = chain(&flows);
        *config.pointer_mut(place).expect("a place") = value;
        let error = refusal(&config);
        assert!(error.contains(message), "{place}: {error}");
    }
}

#[test]
fn a_host_that_no_way_leads_to_is_named() {
    let mut config = chain(&[tcp("h1", "h3")]);
    config["network"]["links"].as_array_mut().expect("links").remove(2);
    let error = refusal(&config);
    assert!(error.contains("h1 to h3: allowed is hosts between which links lead"), "{error}");
}

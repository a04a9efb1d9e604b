//! TCP over a P4 program, from a configuration to rows, without Python.

use serde_json::{Value, json};
use sojourn_engine::{config, simulation};
use sojourn_net::Verdict;
use sojourn_net::config::{Aqm, LinkSection, NetworkSection};
use sojourn_packet::Time;

/// Four long-lived flows through 20 Mbit/s for two seconds, in a queue that `aqm` manages.
fn run(aqm: &Value) -> sojourn_net::PacketRows {
    run_capturing(aqm, false)
}

/// The same, with or without the data for a capture of all frames.
fn run_capturing(aqm: &Value, capture: bool) -> sojourn_net::PacketRows {
    let flow = json!({"kind": "tcp", "rtt": 20_000_000});
    let config = json!({
        "duration": 2_000_000_000_u64,
        "network": NetworkSection::<Aqm>::one_switch(LinkSection {
            rate: Some(20_000_000),
            queue_limit: 200_000,
            ..LinkSection::bottleneck()
        }),
        "aqm": aqm,
        "capture": capture,
        "flows": [flow, flow, flow, flow],
    });
    let config = config::read(&config.to_string()).expect("a configuration");
    let mut run = simulation(&config).expect("a run");
    run.advance(Time::MAX, usize::MAX);
    assert!(run.finished());
    run.take_packets()
}

/// Number of packets with this fate, and the median sojourn time of the last second, ns.
fn seen(rows: &sojourn_net::PacketRows, fate: Verdict) -> (usize, u64) {
    let fates = rows.verdict.iter().filter(|verdict| **verdict == fate as u8).count();
    let late = (0..rows.len()).filter(|row| rows.enqueued[*row] > 1_000_000_000);
    let mut waited: Vec<u64> = late
        .filter(|row| rows.dequeued[*row] > rows.enqueued[*row])
        .map(|row| rows.dequeued[row] - rows.enqueued[row])
        .collect();
    waited.sort_unstable();
    (fates, waited[waited.len() / 2])
}

/// A program as a wire between ports 1 and 2, with its copies, if any, through the recirculation
/// port.
fn wire(program: &str) -> Value {
    let forward = |from: u64, to: u64| json!({"match": {"ig_intr_md.ingress_port": from}, "action": "send", "args": {"port": to}});
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../p4");
    json!({
        "kind": "p4",
        "program": format!("{root}/tna/{program}.p4"),
        "include_paths": [format!("{root}/include")],
        "control": {
            "tables": [{"name": "Ingress.forward", "entries": [forward(1, 2), forward(2, 1)]}],
            "mirror_sessions": [{"session": 100, "port": 68, "max_length": 100}],
        },
    })
}

fn codel_act() -> Value {
    wire("codel_act")
}

#[test]
fn fields_that_a_program_does_not_read_may_be_missing_in_frames() {
    let [framed, whole] = [false, true].map(|capture| run_capturing(&wire("p4_codel"), capture));
    assert!(seen(&framed, Verdict::Aqm).0 > 10);
    assert!(framed == whole, "rows differ");
}

#[test]
fn a_p4_codel_keeps_the_queue_of_tcp_short_where_tail_drop_fills_it() {
    let codel = run(&codel_act());
    let tail_drop = run(&json!({"kind": "native", "name": "fifo"}));
    let (drops, delay) = seen(&codel, Verdict::Aqm);
    let (lost, without) = seen(&tail_drop, Verdict::Tail);
    assert!(drops > 0 && lost > 0, "{drops} and {lost} drops");
    assert!(delay * 3 < without, "{delay} ns with the program, {without} ns without");
}

#[test]
fn a_program_gives_the_same_rows_each_time() {
    let first = run(&codel_act());
    assert!(first.len() > 1_000, "{} rows", first.len());
    assert_eq!(first, run(&codel_act()));
}

/// The P4 router between the two ports, with or without a discipline in its queues.
fn router(discipline: Option<&str>) -> Value {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../p4");
    let route = |address: &str, port: u64| {
        json!({
            "match": {"hdr.ipv4.destination": {"value": address, "prefix": 9}},
            "action": "send",
            "args": {"port": port, "own": "0x02ff00000001", "next_hop": "0x020000000001"},
        })
    };
    let entries = [route("0x0a000000", 1), route("0x0a800000", 2)];
    let mut aqm = json!({
        "kind": "p4",
        "program": format!("{root}/v1model/router.p4"),
        "include_paths": [format!("{root}/include")],
        "control": {"tables": [{"name": "Router.routes", "entries": entries}]},
    });
    if let Some(name) = discipline {
        aqm["discipline"] = json!({"name": name});
    }
    aqm
}

/// CoDel-ACT with control-plane operations one second after the start.
fn with_later(operations: Value) -> Value {
    let mut aqm = codel_act();
    aqm["later"] = json!([{"at": 1_000_000_000, "operations": operations}]);
    aqm
}

#[test]
fn a_control_plane_changes_a_running_switch_at_its_instant_and_not_before() {
    let slower = json!({"op": "shape_port", "port": 2, "rate": 5_000_000, "burst": 1600});
    let (plain, changed) = (run(&codel_act()), run(&with_later(json!([slower]))));
    let until = |rows: &sojourn_net::PacketRows, end: u64| {
        rows.dequeued.partition_point(|dequeued| *dequeued < end)
    };
    let half = until(&plain, 1_000_000_000);
    assert_eq!(plain.dequeued[..half], changed.dequeued[..half]);
    // 20 Mbit/s in the first second, 5 Mbit/s in the other.
    let (whole, slow) = (half, changed.len() - half);
    assert!(slow * 3 < whole && slow * 5 > whole, "{whole} and {slow} packets");
}

#[test]
fn of_a_batch_that_the_running_switch_refuses_nothing_is_done_and_the_run_tells() {
    let slower = json!({"op": "shape_port", "port": 2, "rate": 5_000_000, "burst": 1600});
    let nowhere = json!({"op": "shape_port", "port": 9, "rate": 5_000_000, "burst": 1600});
    let aqm = with_later(json!([slower, nowhere]));
    assert_eq!(run(&aqm).dequeued, run(&codel_act()).dequeued);
    let flow = json!({"kind": "tcp", "rtt": 20_000_000});
    let config = json!({"duration": 1_500_000_000_u64, "aqm": aqm, "flows": [flow]});
    let config = config::read(&config.to_string()).expect("a configuration");
    let mut run = simulation(&config).expect("a run");
    run.advance(Time::MAX, usize::MAX);
    let faults = run.report().faults;
    assert_eq!((faults.len(), faults[0].kind, faults[0].count), (1, "refused", 1));
    assert!(faults[0].first.starts_with("at 1000000000 ns: operation 2: "), "{faults:?}");
}

#[test]
fn an_operation_that_does_not_fit_the_program_is_refused_before_the_run() {
    let good = json!({"op": "clear_table", "table": "Ingress.forward"});
    let bad = json!({"op": "clear_table", "table": "Ingress.forwrad"});
    let flow = json!({"kind": "tcp", "rtt": 20_000_000});
    let aqm = with_later(json!([good, bad]));
    let config = json!({"duration": 1, "aqm": aqm, "flows": [flow]});
    let config = config::read(&config.to_string()).expect("a configuration");
    let refused = simulation(&config).err().expect("no such table").to_string();
    assert!(refused.starts_with("control at 1000000000 ns: operation 2: "), "{refused}");
    assert!(refused.contains("forwrad"), "{refused}");
}

#[test]
fn a_discipline_in_the_queues_of_a_p4_router_keeps_them_short() {
    let (tail, managed) = (run(&router(None)), run(&router(Some("fq_codel"))));
    let (lost, full) = seen(&tail, Verdict::Tail);
    let (drops, delay) = seen(&managed, Verdict::Aqm);
    assert!(lost > 0 && drops > 0, "{lost} and {drops} drops");
    assert!(delay * 3 < full, "{delay} ns with fq_codel, {full} ns without");
}

#[test]
fn a_discipline_under_a_tofino_program_is_refused() {
    let mut aqm = codel_act();
    aqm["discipline"] = json!({"name": "fq_codel"});
    let flow = json!({"kind": "tcp", "rtt": 20_000_000});
    let config = json!({"duration": 1, "aqm": aqm, "flows": [flow]});
    let config = config::read(&config.to_string()).expect("a configuration");
    let refused = simulation(&config).err().expect("no run").to_string();
    assert!(refused.starts_with("aqm.discipline: ") && refused.contains("v1model"), "{refused}");
}

#[test]
fn programs_on_two_switches_do_the_same_on_one_thread_and_on_two() {
    let hosts = ["clients", "servers"].map(|name| json!({"name": name, "addresses": name}));
    let link = |between: [&str; 2], rate: Option<u64>, delay: u64| json!({"between": between, "rate": rate, "delay": delay});
    let flow = json!({"kind": "tcp", "rtt": 2_000_000});
    let config = json!({
        "duration": 300_000_000,
        "network": {
            "hosts": hosts,
            "switches": [{"name": "s1"}, {"name": "s2"}],
            "links": [
                link(["clients", "s1"], None, 0),
                link(["s1", "s2"], Some(1_000_000_000), 4_000_000),
                link(["s2", "servers"], Some(700_000_000), 0),
            ],
        },
        "aqm": codel_act(),
        "flows": vec![flow; 20],
    });
    let config = config::read(&config.to_string()).expect("a configuration");
    let done = |threads| {
        let mut run = simulation(&config).expect("a run");
        run.use_threads(threads);
        run.advance(Time::MAX, usize::MAX);
        let rows: Vec<_> = (0..run.bottlenecks()).map(|place| run.take_packets_of(place)).collect();
        (rows, run.take_flows(), run.report())
    };
    let one = done(1);
    assert!(one.0.iter().filter(|rows| rows.len() > 5_000).count() >= 2);
    assert!(one.2.mirrored_packets > 0);
    assert!(done(2) == one);
}

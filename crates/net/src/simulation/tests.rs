//! Tests of whole runs against values that can be computed by hand.

use super::*;
use crate::config::Aqm;
use crate::records::{CapturePoint, CapturedFrame, FlowRows, PacketRows, Verdict};
use crate::wire::{Frame, FrameDetail, Role, Transport, flow_of, read_frame};
use serde_json::{Value, json};
use sojourn_packet::{Admission, EgressDecision, EgressFate, EgressInput, PacketMetadata};
use sojourn_packet::{IngressDecision, IngressInput};

/// Preamble, FCS and gap, which hold a wire but are not counted in a frame's length.
const FRAMING: u64 = 24;

/// A run of a few flows through a native discipline, 100 Mbit/s unless changed.
fn config(seconds: f64, aqm: Value, flows: &[Value]) -> RunConfig {
    let duration = (seconds * 1e9) as u64;
    let mut aqm = aqm;
    aqm["kind"] = "native".into();
    let text = json!({ "duration": duration, "aqm": aqm, "flows": flows }).to_string();
    RunConfig::from_json(&text).expect("a valid configuration")
}

fn fifo() -> Value {
    json!({"name": "fifo"})
}

fn tcp(rtt_ms: u64) -> Value {
    json!({"kind": "tcp", "rtt": rtt_ms * 1_000_000})
}

/// Everything that a run yields.
struct Done {
    packets: PacketRows,
    flows: FlowRows,
    capture: Vec<CapturedFrame>,
    report: RunReport,
}

fn run(config: &RunConfig) -> Done {
    let mut run = Simulation::new(config.clone(), None).expect("a valid configuration");
    run.advance(Time::MAX, usize::MAX);
    assert!(run.finished());
    let report = run.report();
    Done {
        packets: run.take_packets(),
        flows: run.take_flows(),
        capture: run.take_capture_of(0),
        report,
    }
}

impl Done {
    fn delivered(&self, flow: usize) -> u64 {
        self.report.flows[flow].delivered
    }

    fn count(&self, verdict: Verdict) -> usize {
        self.packets.verdict.iter().filter(|v| **v == verdict as u8).count()
    }

    /// Mean sojourn time in ns of what was sent after the first second.
    fn mean_sojourn(&self) -> u64 {
        let rows = &self.packets;
        let spans = rows.enqueued.iter().zip(&rows.dequeued).zip(&rows.verdict);
        let sent: Vec<u64> = spans
            .filter(|(_, verdict)| **verdict == Verdict::Sent as u8)
            .filter(|((enqueued, _), _)| **enqueued > 1_000_000_000)
            .map(|((enqueued, dequeued), _)| dequeued - enqueued)
            .collect();
        sent.iter().sum::<u64>() / sent.len() as u64
    }
}

#[test]
fn hosts_that_write_little_do_as_those_whose_frames_are_looked_at() {
    for (discipline, written) in [
        (json!({"name": "codel", "ecn": 1}), FrameDetail::Compact),
        (json!({"name": "fq_codel", "ecn": 1}), FrameDetail::Unsummed),
    ] {
        frames_do_not_matter(discipline, written);
    }
}

/// Runs a discipline under which hosts write so much of their frames, and with a capture, which reads all.
fn frames_do_not_matter(discipline: Value, written: FrameDetail) {
    let flows = [
        tcp(10),
        json!({"kind": "tcp", "rtt": 20_000_000, "ecn": true}),
        json!({"kind": "tcp", "rtt": 30_000_000, "ip_version": 6}),
        json!({"kind": "udp", "rtt": 0, "rate": 5_000_000}),
    ];
    let unseen = config(2.0, discipline, &flows);
    let seen = RunConfig { capture: true, ..unseen.clone() };
    let written_by = |config: &RunConfig| {
        Simulation::new(config.clone(), None).expect("a valid configuration").partitions[0].written
    };
    assert_eq!((written_by(&unseen), written_by(&seen)), (written, FrameDetail::Whole));
    let (unseen, seen) = (run(&unseen), run(&seen));
    assert!(unseen.count(Verdict::Mark) > 0 && unseen.count(Verdict::Aqm) > 0);
    assert_eq!(unseen.packets, seen.packets);
    assert_eq!(unseen.flows, seen.flows);
    assert_eq!(unseen.report, seen.report);
    assert_eq!(unseen.report.malformed_frames, 0);
}

#[test]
fn one_flow_fills_100_mbit() {
    let done = run(&config(10.0, fifo(), &[tcp(10)]));
    let goodput = done.delivered(0) * 8 / 10;
    // 1448 of the 1538 bytes that a full segment holds the wire are payload.
    let possible = 100_000_000 * 1448 / (1514 + FRAMING);
    assert!(goodput >= 93_000_000, "{goodput}");
    assert!(goodput <= possible * 1001 / 1000, "{goodput} of {possible}");
}

#[test]
fn the_round_trip_without_a_queue_is_the_configured_one_and_serialisation() {
    // Too slow to queue: one segment now and then, acknowledged after 40 ms.
    let mut flow = tcp(20);
    flow["rate_cap"] = 100_000.into();
    let mut quick = config(0.5, fifo(), &[flow]);
    let switch = quick.network.switches[0].clone();
    quick.network.links[1].rate = Some(switch.port_speed);
    let done = run(&quick);
    // The SYN and the SYN-ACK: 74 bytes each over two links and two ports of 10 Gbit/s, without
    // the gap behind them, and twice through the switch.
    let hop = ((74 + 12) * 8u64).div_ceil(10);
    let through_switch = switch.ingress_latency + switch.egress_latency;
    let expected = 20_000_000 + 2 * (2 * hop + hop + through_switch);
    let first = done.flows.srtt.iter().find(|srtt| **srtt > 0).copied().expect("a measurement");
    // The handshake's measurement; data measures come later and may wait for the burst's end.
    assert!(first.abs_diff(expected) <= 2_000, "{first}, not {expected}");
}

#[test]
fn every_byte_sent_is_delivered_dropped_or_under_way() {
    let mut steep = tcp(8);
    steep["congestion_control"] = "newreno".into();
    let flows = [tcp(5), steep, tcp(10)];
    let done = run(&config(3.0, fifo(), &flows));
    let rows = &done.packets;
    let count = |flow: u32, verdict: Verdict| {
        let segments = rows.flow.iter().zip(&rows.size).zip(&rows.verdict);
        let data =
            segments.filter(|((f, size), v)| **f == flow && **size == 1514 && **v == verdict as u8);
        data.count() as u64
    };
    for (flow, report) in (0..).zip(&done.report.flows) {
        let sent = report.segments + report.retransmits;
        let (passed, dropped) = (count(flow, Verdict::Sent), count(flow, Verdict::Tail));
        assert!(passed + dropped <= sent, "flow {flow}");
        assert!(sent - passed - dropped <= 1_500, "no more than a queue is under way");
        // Nothing is lost behind the bottleneck and nothing is sent twice in vain.
        assert!(report.delivered <= passed * 1448);
        assert!(report.delivered + 1_500 * 1448 >= passed * 1448, "flow {flow}");
    }
    assert!(done.count(Verdict::Tail) > 0, "something was dropped");
    assert_eq!((done.report.malformed_frames, done.report.stray_frames), (0, 0));
    assert_eq!(done.report.forward_packets as usize, done.count(Verdict::Sent));
}

#[test]
fn no_packet_waits_longer_than_the_full_queue_takes_to_drain() {
    // NewReno's slow start overshoots until the queue is full.
    let mut flow = tcp(10);
    flow["congestion_control"] = "newreno".into();
    let config = config(3.0, fifo(), &[flow.clone(), flow]);
    let done = run(&config);
    assert!(done.count(Verdict::Tail) > 0, "the queue was full at least once");
    // A full segment takes 19 cells of 80 bytes; 24,250 cells hold 1,276 of them.
    let most = config.network.links[1].queue_limit / 80 / 19;
    let drain = (most + 2) * (1514 + FRAMING) * 8 * 10;
    let rows = &done.packets;
    let worst = rows.dequeued.iter().zip(&rows.enqueued).map(|(d, e)| d - e).max();
    assert!(worst.expect("rows") <= drain, "{worst:?} of {drain}");
    assert!(worst.expect("rows") >= drain * 95 / 100, "{worst:?} of {drain}");
}

#[test]
fn codel_keeps_the_queue_far_shorter_than_tail_drop_does() {
    let flows: Vec<Value> = (0..10).map(|_| tcp(8)).collect();
    let tail = run(&config(5.0, fifo(), &flows));
    let codel = run(&config(5.0, json!({"name": "codel"}), &flows));
    let (tail_mean, codel_mean) = (tail.mean_sojourn(), codel.mean_sojourn());
    assert!(codel_mean * 5 < tail_mean, "{codel_mean}, {tail_mean}");
    assert!(codel_mean < 3 * 5_000_000, "three times TARGET: {codel_mean}");
    assert!(codel.count(Verdict::Aqm) > 0);
    let goodput: u64 = (0..10).map(|flow| codel.delivered(flow)).sum::<u64>() * 8 / 5;
    assert!(goodput > 85_000_000, "{goodput}");
}

#[test]
fn bbr_fills_the_link_with_a_short_queue_and_cubic_with_a_long_one() {
    let mut flow = tcp(20);
    flow["congestion_control"] = "bbr".into();
    let bbr = run(&config(8.0, fifo(), &[flow]));
    let cubic = run(&config(8.0, fifo(), &[tcp(20)]));
    // BBR paces at 99 % of what it measures; twice the bandwidth-delay product, the most that it
    // has in flight, would be a queue of one round trip.
    assert!(bbr.delivered(0) * 8 / 8 >= 88_000_000, "{}", bbr.delivered(0));
    assert!(bbr.mean_sojourn() < 5_000_000, "{} ns", bbr.mean_sojourn());
    assert!(cubic.mean_sojourn() > 2 * bbr.mean_sojourn());
    assert_eq!(bbr.report.flows[0].timeouts, 0);
}

#[test]
fn bursts_of_offload_reach_the_queue_back_to_back() {
    let mut flow = tcp(20);
    flow["segmentation_offload"] = 8.into();
    let bursts = run(&config(3.0, json!({"name": "codel"}), &[flow]));
    // Share of the data that arrives less than two frame times at 10 Gbit/s after other data.
    let near = |done: &Done| {
        let rows = &done.packets;
        let arrivals: Vec<u64> = rows
            .enqueued
            .iter()
            .zip(&rows.size)
            .filter(|(at, size)| **size == 1514 && **at > 1_000_000_000)
            .map(|(at, _)| *at)
            .collect();
        let near = arrivals.windows(2).filter(|pair| pair[1] - pair[0] < 2_500).count();
        near as f64 / arrivals.len() as f64
    };
    let single = run(&config(3.0, json!({"name": "codel"}), &[tcp(20)]));
    // Seven of eight; without offload one of the two that an acknowledgement lets go.
    assert!(near(&bursts) > 0.8, "{}", near(&bursts));
    assert!((0.4..0.6).contains(&near(&single)), "{}", near(&single));
}

#[test]
fn the_same_seed_gives_the_same_rows_and_another_seed_others() {
    let flows = [tcp(5), tcp(6), json!({"kind": "udp", "rate": 5_000_000, "rtt": 4_000_000})];
    let mut config = config(1.0, json!({"name": "codel"}), &flows);
    let (first, second) = (run(&config), run(&config));
    assert_eq!(first.packets, second.packets);
    assert_eq!(first.flows, second.flows);
    assert_eq!(first.report, second.report);
    config.seed = 2;
    assert_ne!(first.packets, run(&config).packets);
}

/// Three flows of 10 ms through RED, in the run `run_seed` and, if so, with a seed of RED's own.
fn red(run_seed: u64, own_seed: Option<u64>) -> PacketRows {
    let mut aqm = json!({"name": "red"});
    if let Some(seed) = own_seed {
        aqm["seed"] = seed.into();
    }
    let config = RunConfig { seed: run_seed, ..config(2.0, aqm, &[tcp(10), tcp(10), tcp(10)]) };
    run(&config).packets
}

#[test]
fn a_random_discipline_repeats_with_the_same_seed_and_differs_with_another() {
    let rows = red(7, None);
    assert!(rows.verdict.contains(&(Verdict::Aqm as u8)));
    assert_eq!(rows, red(7, None));
    assert_ne!(rows, red(8, None));
}

#[test]
fn a_discipline_draws_from_the_runs_seed_unless_it_is_given_its_own() {
    let rows = red(7, None);
    // The flows start as the run's seed says in all three, so only the drops can differ.
    assert_eq!(rows, red(7, Some(7)));
    assert_ne!(rows, red(7, Some(8)));
}

#[test]
fn a_run_in_small_steps_gives_the_same_rows_as_a_run_in_one() {
    let config = config(0.5, fifo(), &[tcp(5), tcp(6)]);
    let whole = run(&config);
    let mut run = Simulation::new(config, None).expect("a valid configuration");
    let mut rows = PacketRows::default();
    let mut target = Time::ZERO;
    while !run.finished() {
        target += Time::from_micros(1_700);
        loop {
            run.advance(target, 7);
            let some = run.take_packets();
            let full = some.len() >= 7;
            rows.packet.extend(some.packet);
            rows.dequeued.extend(some.dequeued);
            if !full {
                break;
            }
        }
        assert!(run.now() == target || run.finished());
    }
    assert_eq!(rows.packet, whole.packets.packet);
    assert_eq!(rows.dequeued, whole.packets.dequeued);
}

#[test]
fn adding_a_flow_leaves_the_others_starts_as_they_were() {
    let starts = |flows: &[Value]| -> Vec<u64> {
        run(&config(0.05, fifo(), flows)).report.flows.iter().map(|f| f.started).collect()
    };
    let two = starts(&[tcp(5), tcp(6)]);
    let three = starts(&[tcp(5), tcp(6), tcp(7)]);
    assert_eq!(two, three[..2]);
    assert!(two[0] != two[1] && three.iter().all(|start| *start < START_LIMIT));
}

/// Ten milliseconds of jitter.
const START_LIMIT: u64 = 10_000_000;

#[test]
fn constant_rate_udp_arrives_at_the_queue_with_exact_spacing() {
    let flow = json!({"kind": "udp", "rate": 10_000_000, "packet_size": 1000, "rtt": 2_000_000});
    let done = run(&config(1.0, fifo(), &[flow]));
    let gaps: Vec<u64> = done.packets.enqueued.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(gaps.len() > 1_230);
    assert!(gaps.iter().all(|gap| *gap == 800_000), "{gaps:?}");
    assert_eq!(done.count(Verdict::Sent), done.packets.len());
    // Delivered one way: half the round trip later, without the headers of 42 bytes.
    let in_time = done.packets.dequeued.iter().filter(|at| **at + 1_010_000 < 1_000_000_000);
    assert!(done.delivered(0).abs_diff(in_time.count() as u64 * 958) <= 958);
}

#[test]
fn udp_faster_than_the_shaper_loses_exactly_the_excess() {
    let flow = json!({"kind": "udp", "rate": 110_000_000, "packet_size": 1514, "rtt": 2_000_000});
    let done = run(&config(5.0, fifo(), &[flow]));
    let sent = done.count(Verdict::Sent) as u64;
    // The shaper counts 20 bytes of preamble and gap with each frame of 1514 bytes and FCS.
    let possible = 5 * done.report.shaper_rate / ((1514 + FRAMING) * 8);
    assert!(sent.abs_diff(possible) * 500 < possible, "{sent} of {possible}");
    assert!(done.count(Verdict::Tail) > 1_000);
}

#[test]
fn a_rate_cap_holds_on_average() {
    let mut flow = tcp(10);
    flow["rate_cap"] = 9_000_000.into();
    let done = run(&config(10.0, fifo(), &[flow]));
    let goodput = done.delivered(0) * 8 / 10;
    assert!(goodput.abs_diff(9_000_000) < 150_000, "{goodput}");
}

#[test]
fn a_capped_application_writes_in_bursts_that_queue() {
    let longest_wait = |block: u64, pacing: Option<u64>| {
        let mut flow = tcp(10);
        flow["rate_cap"] = 9_000_000.into();
        flow["block"] = block.into();
        if let Some(rate) = pacing {
            flow["pacing"] = rate.into();
        }
        let done = run(&config(5.0, fifo(), &[flow]));
        let goodput = done.delivered(0) * 8 / 5;
        assert!(goodput.abs_diff(9_000_000) < 300_000, "{goodput}");
        let waits = done.packets.enqueued.iter().zip(&done.packets.dequeued);
        waits.map(|(from, to)| to.saturating_sub(*from)).max().expect("rows")
    };
    let (whole, eighth) = (longest_wait(131_072, None), longest_wait(16_384, None));
    assert!(whole > 3 * eighth, "{whole} {eighth}");
    // Paced at 20 Mbit/s, even a whole block, except its first ten segments, waits for no other on
    // 100 Mbit/s.
    let paced = longest_wait(131_072, Some(20_000_000));
    assert!(paced < 1_300_000, "{paced}");
}

#[test]
fn a_flow_starts_within_its_jitter_after_its_start() {
    let start = |jitter: u64, seed: u64| {
        let mut flow = tcp(5);
        flow["start_jitter"] = jitter.into();
        let mut config = config(0.5, fifo(), &[flow]);
        config.seed = seed;
        run(&config).report.flows[0].started
    };
    assert_eq!(start(0, 1), 0);
    let late: Vec<u64> = (1..=8).map(|seed| start(200_000_000, seed)).collect();
    assert!(late.iter().all(|at| *at < 200_000_000));
    assert!(late.iter().any(|at| *at > 20_000_000), "{late:?}");
}

#[test]
fn a_flow_that_stops_closes_and_leaves_the_link_to_the_others() {
    let mut short = tcp(5);
    short["stop"] = 1_000_000_000u64.into();
    let done = run(&config(4.0, fifo(), &[short, tcp(5)]));
    let last = |flow: u32| {
        let rows = done.packets.flow.iter().zip(&done.packets.dequeued);
        rows.filter(|(f, _)| **f == flow).map(|(_, at)| *at).max().expect("rows")
    };
    assert!(last(0) < 2_000_000_000, "{}", last(0));
    assert!(last(1) > 3_900_000_000);
    // Nothing that was written is missing: the connection could close.
    let report = &done.report.flows[0];
    assert!(report.delivered > 0 && report.delivered <= report.segments * 1448);
}

#[test]
fn ipv6_flows_run_next_to_ipv4_flows() {
    let mut six = tcp(5);
    six["ip_version"] = 6.into();
    let udp = json!({"kind": "udp", "rate": 1_000_000, "rtt": 2_000_000, "ip_version": 6});
    let done = run(&config(2.0, fifo(), &[six, tcp(5), udp]));
    assert!((0..3).all(|flow| done.delivered(flow) > 200_000));
    assert_eq!((done.report.malformed_frames, done.report.stray_frames), (0, 0));
}

#[test]
fn the_capture_has_valid_frames_in_and_out_in_the_order_of_time() {
    let mut config = config(0.2, fifo(), &[tcp(5)]);
    config.capture = true;
    let done = run(&config);
    let (entered, left): (Vec<_>, Vec<_>) =
        done.capture.iter().partition(|frame| frame.point == CapturePoint::Entered);
    assert!(entered.len() >= left.len() && left.len() > 1_000);
    for frame in &done.capture {
        let packet = Packet {
            bytes: frame.bytes.as_slice().into(),
            zeros: frame.original_len - frame.bytes.len() as u32,
            ..Packet::default()
        };
        let read: Frame = read_frame(&packet).expect("a valid frame");
        assert!(matches!(read.transport, Transport::Tcp(_)));
        assert_eq!(flow_of(read.destination), Some((0, Role::Server)));
    }
    for point in [entered, left] {
        assert!(point.windows(2).all(|pair| pair[0].time <= pair[1].time));
    }
}

#[test]
fn samples_come_every_10_ms_from_the_start_of_each_flow() {
    let mut late = tcp(5);
    late["start"] = 500_000_000u64.into();
    let done = run(&config(1.0, fifo(), &[tcp(5), late]));
    let times = |flow: u32| -> Vec<u64> {
        let rows = done.flows.flow.iter().zip(&done.flows.time);
        rows.filter(|(f, _)| **f == flow).map(|(_, at)| *at).collect()
    };
    assert_eq!(times(0), (1..=100).map(|n| n * 10_000_000).collect::<Vec<_>>());
    assert_eq!(times(1)[0], 510_000_000);
    assert!(done.flows.delivered.windows(2).len() > 100);
}

#[test]
fn a_data_plane_is_wanted_where_one_is_handed_over_and_nowhere_else() {
    let mut waiting = config(1.0, fifo(), &[tcp(5)]);
    waiting.aqm = Aqm::SwitchPlane;
    assert_eq!(Simulation::new(waiting, None).err(), Some(ConfigError::PlaneMissing));
    let plain = SwitchPlane::plain(Box::new(Forwarder));
    let refused = Simulation::new(config(1.0, fifo(), &[tcp(5)]), [plain]).err();
    assert_eq!(refused, Some(ConfigError::PlaneUnexpected));
}

/// A data plane that does what the native switch does: ports 1 and 2 into each other.
struct Forwarder;

impl DataPlane for Forwarder {
    fn ingress_pass(
        &mut self,
        input: &IngressInput,
        _: &mut Packet,
        _: &mut PacketMetadata,
    ) -> IngressDecision {
        let unicast = Some(if input.port == SENDERS { PortId(2) } else { SENDERS });
        IngressDecision::admit(Admission { unicast, ..Admission::default() })
    }

    fn egress_pass(
        &mut self,
        _: &EgressInput,
        _: &mut Packet,
        _: &mut PacketMetadata,
    ) -> EgressDecision {
        EgressFate::Sent.into()
    }
}

#[test]
fn a_program_that_only_forwards_gives_the_same_rows_as_native_tail_drop() {
    let mut steep = tcp(8);
    steep["congestion_control"] = "newreno".into();
    let native = config(1.0, fifo(), &[steep, tcp(5)]);
    let mut waiting = native.clone();
    waiting.aqm = Aqm::SwitchPlane;
    let plane = SwitchPlane::plain(Box::new(Forwarder));
    let mut simulation = Simulation::new(waiting, [plane]).expect("a program");
    simulation.advance(Time::MAX, usize::MAX);
    let (expected, got) = (run(&native), simulation.take_packets());
    assert!(expected.count(Verdict::Tail) > 0);
    assert_eq!(got, expected.packets);
}

#[test]
fn a_round_trip_time_is_met_where_the_configuration_has_it_and_once() {
    let rtt = 40_000_000;
    for (at, before) in [("behind", 0), ("senders", rtt), ("receivers", 0), ("both", rtt / 2)] {
        let mut config = config(0.5, fifo(), &[tcp(40)]);
        config.netem = serde_json::from_value(json!({ "at": at })).unwrap();
        let done = run(&config);
        let started = done.report.flows[0].started;
        let syn = done.packets.enqueued[0] - started;
        assert!((before..before + 100_000).contains(&syn), "{at}: {syn}");
        // The first data come a round trip after the SYN.
        let data = done.packets.enqueued[2] - started;
        assert!((before + rtt..before + rtt + 500_000).contains(&data), "{at}: {data}");
    }
}

#[test]
fn frames_beyond_a_hosts_queue_limit_are_dropped_and_counted() {
    let mut config = config(2.0, fifo(), &[tcp(40), tcp(40)]);
    config.netem = serde_json::from_value(json!({ "at": "senders" })).unwrap();
    assert_eq!(run(&config).report.host_drops, 0);
    config.netem.limit = Some(30);
    config.netem.shared = true;
    let done = run(&config);
    assert!(done.report.host_drops > 0);
    // 30 packets in 40 ms are 9 Mbit/s.
    let rate = (done.delivered(0) + done.delivered(1)) * 8 / 2;
    assert!((5_000_000..9_100_000).contains(&rate), "{rate}");
}

#[test]
fn a_senders_shaper_leaves_no_queue_at_the_switch() {
    let mut config = config(2.0, fifo(), &[tcp(10), tcp(10)]);
    let shaper = crate::config::HostShaper { rate: 90_000_000, burst: 1_600, limit: 200 };
    config.network.hosts[0].shaper = Some(shaper);
    let done = run(&config);
    let waited = done.packets.dequeued.iter().zip(&done.packets.enqueued).map(|(d, e)| d - e);
    assert!(waited.max().unwrap() < 300_000);
    let rate = (done.delivered(0) + done.delivered(1)) * 8 / 2;
    assert!((80_000_000..90_000_000).contains(&rate), "{rate}");
}

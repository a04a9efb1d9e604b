//! The egress pass: its inputs, its time, and the cost of a drop in it.

use crate::harness::*;
use sojourn_packet::EgressOutput;
use sojourn_packet::{Bytes, Packet, Rate, Time};
use sojourn_switch::{CapturePoint, Observation, QueueConfig, ShaperConfig, Verdict};

#[test]
fn a_packet_takes_the_latencies_of_the_pipelines_and_its_time_on_the_wire() {
    let mut driver = Driver::p4(config(), Fake::new());
    driver.receive(1_000, IN, packet(1, 1514));
    driver.finish();
    let sent = &driver.sent[0];
    // 1000 + 600 ingress + 500 egress; 8 + 1514 + 4 bytes at 10 Gbit/s are 1220.8 ns.
    assert_eq!((sent.start, sent.end, sent.port), (Time(2_100), Time(3_321), OUT));
}

#[test]
fn egress_gets_the_measurements_of_the_traffic_manager() {
    let mut config = config();
    config.ports[1].queues[0].congestion = Some([19, 30, 50]);
    let mut driver = Driver::p4(config, Fake::new());
    (1..=4).for_each(|id| driver.receive(0, IN, packet(id, 1514)));
    driver.finish();
    let log = driver.egress_log.lock().unwrap();
    let seen: Vec<_> = log
        .iter()
        .map(|(i, _)| {
            (i.enqueued.0, i.dequeued.0, i.enqueue_depth, i.dequeue_depth, i.enqueue_packets)
        })
        .collect();
    // 1518 bytes are 19 cells. The first goes at once; the others a slot of 1230.4 ns apart.
    assert_eq!(
        seen,
        [
            (600, 600, 0, 0, 0),
            (600, 1_831, 0, 38, 0),
            (600, 3_061, 19, 19, 1),
            (600, 4_292, 38, 0, 2)
        ]
    );
    let status: Vec<_> =
        log.iter().map(|(i, _)| (i.enqueue_congestion, i.dequeue_congestion)).collect();
    assert_eq!(status, [(0, 0), (0, 2), (1, 1), (2, 0)]);
    assert!(log.iter().all(|(i, _)| i.length == 1518 && i.now == i.dequeued && !i.mirrored));
}

#[test]
fn a_packet_that_finds_its_port_free_is_treated_as_one_that_goes_through_a_queue() {
    // With a second queue, a packet is put into its own and taken out again, however free the port.
    let run = |queues: usize, drop: bool| {
        let mut config = config();
        let congestion = Some([0, 1, 20]);
        let queue = QueueConfig { congestion, limit: 25, ..QueueConfig::default() };
        config.ports[1].queues = vec![queue; queues];
        let egress = move |_: &_, packet| if drop { EgressOutput::default() } else { pass(packet) };
        let mut driver = Driver::p4(config, Fake::new().egress(egress));
        // The last one is too long for its queue, the one before finds the wire held.
        for (id, (at, size)) in
            [(0, 60), (5_000, 1514), (5_001, 200), (9_000, 4_000)].iter().enumerate()
        {
            driver.receive(*at, IN, packet(id as u64, *size));
        }
        driver.finish();
        let told = format!("{:?}", driver.egress_log.lock().unwrap());
        let queue = driver.switch.statistics().ports[1].queues[0];
        (told, driver.sent.clone(), driver.rows(), queue)
    };
    for drop in [false, true] {
        assert_eq!(run(1, drop), run(2, drop));
    }
}

#[test]
fn bridged_bytes_count_in_the_traffic_manager_and_not_on_the_wire() {
    let add = |_: &_, mut packet: Packet| {
        packet.bytes.splice(0..0, [7; 8]).for_each(drop);
        to(OUT, 0, packet)
    };
    let remove = |_: &_, mut packet: Packet| {
        packet.bytes.drain(..8);
        pass(packet)
    };
    let mut driver = Driver::p4(config(), Fake::new().ingress(add).egress(remove));
    driver.receive(0, IN, packet(1, 1514));
    driver.receive(0, IN, packet(2, 1514));
    driver.receive(0, IN, packet(3, 1514));
    driver.finish();
    let lengths: Vec<_> = driver.egress_log.lock().unwrap().iter().map(|(i, _)| i.length).collect();
    assert_eq!(lengths, [1526; 3]);
    assert_eq!(driver.egress_log.lock().unwrap()[1].0.dequeue_depth, 20);
    assert_eq!(driver.departures(), [(1, 1_100), (2, 2_331), (3, 3_561)]);
    assert!(driver.rows().iter().all(|row| row.size == Bytes(1514)));
}

/// Departures of five packets that come at once, with and without the third dropped in egress.
fn with_a_drop(config: sojourn_switch::SwitchConfig, drop: bool) -> Vec<(u64, u64)> {
    let egress = move |_: &_, packet: Packet| {
        if drop && packet.id.0 == 3 { EgressOutput::default() } else { pass(packet) }
    };
    let mut driver = Driver::p4(config, Fake::new().egress(egress));
    (1..=5).for_each(|id| driver.receive(0, IN, packet(id, 1514)));
    driver.finish();
    driver.departures()
}

#[test]
fn a_drop_in_egress_leaves_an_idle_gap_on_the_wire() {
    let mut all = with_a_drop(config(), false);
    let fewer = with_a_drop(config(), true);
    all.retain(|(id, _)| *id != 3);
    assert_eq!(all, fewer);
}

#[test]
fn a_drop_in_egress_has_spent_its_shaper_tokens() {
    let mut shaped = config();
    shaped.ports[1].shaper = Some(ShaperConfig::bits(Rate(100_000_000), 1600));
    let mut all = with_a_drop(shaped.clone(), false);
    let fewer = with_a_drop(shaped, true);
    all.retain(|(id, _)| *id != 3);
    assert_eq!(all, fewer);
    // Three packets of 1538 bytes have been paid before the fourth: 1536 - 4614 = -3078 bytes,
    // 246.05 us at 100.078 Mbit/s after the first, and up to one refill (66 ns) later.
    let wait = fewer[2].1 - fewer[0].1;
    assert!((246_047..246_114).contains(&wait), "{wait}");
}

#[test]
fn a_drop_in_egress_is_counted_and_gets_a_row() {
    let egress = |_: &_, _| EgressOutput { parser_rejected: true, ..EgressOutput::default() };
    let mut driver = Driver::p4(config(), Fake::new().egress(egress));
    driver.receive(0, IN, packet(1, 1000));
    driver.finish();
    let statistics = driver.switch.statistics();
    assert_eq!(statistics.ports[1].queues[0].egress_drops.bytes, 1000);
    assert_eq!((statistics.egress_parser_rejected, statistics.sent.packets), (1, 0));
    let row = driver.rows()[0];
    assert_eq!((row.verdict, row.enqueued, row.dequeued), (Verdict::Aqm, Time(600), Time(600)));
}

#[test]
fn a_packet_that_bypasses_egress_never_sees_the_program() {
    let ingress = |_: &_, packet| {
        let mut out = to(OUT, 0, packet);
        out.admission.bypass_egress = true;
        out
    };
    let mut driver = Driver::p4(config(), Fake::new().ingress(ingress));
    driver.receive(0, IN, packet(1, 1000));
    driver.finish();
    assert_eq!(driver.sent.len(), 1);
    assert!(driver.egress_log.lock().unwrap().is_empty());
}

#[test]
fn a_packet_marked_on_its_way_through_gets_the_verdict_mark() {
    let ipv4 = |id, tos| {
        let mut packet = packet(id, 1000);
        packet.bytes[12] = 0x08;
        packet.bytes.extend_from_slice(&[0x45, tos]);
        packet
    };
    let egress = |_: &_, mut packet: Packet| {
        packet.bytes[15] |= 3;
        pass(packet)
    };
    let mut driver = Driver::p4(config(), Fake::new().egress(egress));
    driver.receive(0, IN, ipv4(1, 2));
    driver.receive(0, IN, ipv4(2, 3));
    driver.finish();
    let verdicts: Vec<_> = driver.rows().iter().map(|row| row.verdict).collect();
    assert_eq!(verdicts, [Verdict::Mark, Verdict::Sent]);
    assert_eq!(driver.switch.statistics().ports[1].queues[0].marked.packets, 1);
}

#[test]
fn captured_frames_are_those_that_arrived_and_those_that_leave() {
    let mut config = config();
    config.ports[1].capture = true;
    config.ports[1].queues = vec![QueueConfig { limit: 19, ..QueueConfig::default() }];
    let add = |_: &_, mut packet: Packet| {
        packet.bytes.insert(0, 9);
        to(OUT, 0, packet)
    };
    let rewrite = |_: &_, mut packet: Packet| {
        packet.bytes.remove(0);
        packet.bytes[0] = 0xee;
        pass(packet)
    };
    let mut driver = Driver::p4(config, Fake::new().ingress(add).egress(rewrite));
    // The first leaves at once, the second waits, the third finds the queue full.
    (1..=3).for_each(|id| driver.receive(0, IN, packet(id, 1500)));
    driver.finish();
    let frame = |o: &Observation| match o {
        Observation::Frame(f) => Some((f.packet.id.0, f.point, f.time.0, f.packet.bytes[0])),
        Observation::Packet(_) => None,
    };
    let frames: Vec<_> = driver.observed.iter().filter_map(frame).collect();
    let slot = 600 + 1220; // 8 + 1500 + 4 + 12 bytes at 10 Gbit/s are 1219.2 ns.
    let expected = [
        (1, CapturePoint::Entered, 600, 0),
        (1, CapturePoint::Left, 600, 0xee),
        (2, CapturePoint::Entered, 600, 0),
        (3, CapturePoint::Entered, 600, 0),
        (2, CapturePoint::Left, slot, 0xee),
    ];
    assert_eq!(frames, expected);
}

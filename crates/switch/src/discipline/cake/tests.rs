//! Shares of flows and hosts, sparse flows, overflow and hashing of `cake`.

use super::super::testing::{NOT_ECT, frame, queued};
use super::*;
use std::collections::BTreeMap;

const MS: u64 = 1_000_000;

const ISOLATION: Isolation = Isolation { srchost: true, dsthost: true, flows: true };

fn cake(isolation: Isolation) -> Cake {
    let cobalt = cobalt::Params { target: 5 * MS, interval: 100 * MS };
    Cake::new(Params { cobalt, memlimit: Bytes(1_000_000_000), isolation }, 1)
}

/// A flow from a host to a host, with that port.
fn flow(id: u64, (from, to, port): (u8, u8, u8), size: u32) -> Queued {
    let mut packet = frame(id, 0, NOT_ECT, size);
    packet.bytes[29] = from;
    packet.bytes[33] = to;
    packet.bytes[35] = port;
    queued(packet, 0)
}

/// Sends so many packets of queues that are always full, all at one instant; the bytes of each flow.
fn sent(queue: &mut Cake, flows: &[((u8, u8, u8), u32)], packets: u64) -> Vec<u64> {
    let mut drops = Drops::default();
    for round in 0..packets {
        for (number, &(key, size)) in (0..).zip(flows) {
            queue.enqueue(Time::ZERO, flow(round * 100 + number, key, size), &mut drops);
        }
    }
    let mut bytes = BTreeMap::new();
    for _ in 0..packets {
        let packet = queue.dequeue(Time::ZERO, &mut drops).expect("full");
        *bytes.entry(packet.packet.id.0 % 100).or_default() += packet.size().0;
    }
    assert!(drops.is_empty());
    bytes.into_values().collect()
}

fn shares(bytes: &[u64]) -> Vec<f64> {
    let all: u64 = bytes.iter().sum();
    bytes.iter().map(|&part| (part as f64 / all as f64 * 100.0).round() / 100.0).collect()
}

#[test]
fn flows_share_bytes_not_packets() {
    let flows = [((1, 9, 1), 1500), ((1, 9, 2), 500), ((1, 9, 3), 100)];
    assert_eq!(shares(&sent(&mut cake(ISOLATION), &flows, 6_000)), [0.33, 0.33, 0.33]);
}

#[test]
fn hosts_share_whatever_the_number_of_their_flows() {
    let by_source = [((1, 7, 1), 1000), ((1, 7, 2), 1000), ((1, 7, 3), 1000), ((2, 8, 1), 1000)];
    let by_destination = by_source.map(|((from, to, port), size)| ((to, from, port), size));
    let even = [0.25; 4];
    let hosts = [0.17, 0.17, 0.17, 0.5];
    let dual_srchost = Isolation { dsthost: false, ..ISOLATION };
    let dual_dsthost = Isolation { srchost: false, ..ISOLATION };
    let flows = Isolation { srchost: false, dsthost: false, ..ISOLATION };
    for (isolation, of_source, of_destination) in [
        (ISOLATION, hosts, hosts),
        (dual_srchost, hosts, hosts),
        (dual_dsthost, hosts, hosts),
        (flows, even, even),
    ] {
        assert_eq!(shares(&sent(&mut cake(isolation), &by_source, 4_000)), of_source);
        assert_eq!(shares(&sent(&mut cake(isolation), &by_destination, 4_000)), of_destination);
    }
    // One host to two others: only the receivers are apart.
    let fan_out = [((1, 7, 1), 1000), ((1, 7, 2), 1000), ((1, 7, 3), 1000), ((1, 8, 1), 1000)];
    assert_eq!(shares(&sent(&mut cake(dual_srchost), &fan_out, 4_000)), even);
    assert_eq!(shares(&sent(&mut cake(dual_dsthost), &fan_out, 4_000)), hosts);
}

#[test]
fn without_flows_a_queue_is_a_hosts_or_all_share_one() {
    let keys = [(1, 7, 1), (1, 7, 2), (2, 7, 3), (2, 8, 4)];
    for (srchost, dsthost, queues) in
        [(true, false, 2), (false, true, 2), (true, true, 3), (false, false, 1)]
    {
        let mut queue = cake(Isolation { srchost, dsthost, flows: false });
        for key in keys {
            queue.enqueue(Time::ZERO, flow(0, key, 100), &mut Drops::default());
        }
        assert_eq!(queue.new.len(), queues, "{srchost} {dsthost}");
    }
}

#[test]
fn a_flow_that_begins_to_send_is_served_before_those_with_a_backlog() {
    let (mut queue, mut drops) = (cake(ISOLATION), Drops::default());
    for id in 0..20 {
        queue.enqueue(Time::ZERO, flow(id, (1, 9, 1), 1514), &mut drops);
    }
    for _ in 0..3 {
        queue.dequeue(Time::ZERO, &mut drops);
    }
    queue.enqueue(Time::ZERO, flow(77, (2, 9, 1), 100), &mut drops);
    let next = queue.dequeue(Time::ZERO, &mut drops).expect("many");
    assert_eq!(next.packet.id.0, 77);
}

#[test]
fn the_longest_queue_loses_its_oldest_packet() {
    let mut queue = cake(ISOLATION);
    queue.params.memlimit = Bytes(10_000);
    let mut drops = Drops::default();
    queue.enqueue(Time::ZERO, flow(50, (2, 9, 1), 1000), &mut drops);
    for id in 0..12 {
        queue.enqueue(Time(10 * MS), flow(id, (1, 9, 1), 1000), &mut drops);
    }
    assert_eq!(drops.iter().map(|dropped| dropped.packet.id.0).collect::<Vec<_>>(), [0, 1, 2]);
    let blue: Vec<_> = queue.flows.iter().filter(|flow| flow.cobalt.p_drop > 0).collect();
    assert_eq!(blue.len(), 1, "one flow's BLUE");
    assert_eq!((queue.packets(), queue.bytes()), (10, Bytes(10_000)));
}

#[test]
fn a_hundred_flows_share_no_queue() {
    let (mut queue, mut drops) = (cake(ISOLATION), Drops::default());
    for number in 0..100 {
        queue.enqueue(Time::ZERO, flow(number.into(), (number, 9, number), 100), &mut drops);
    }
    assert_eq!((queue.way_misses, queue.way_collisions, queue.new.len()), (100, 0, 100));
}

#[test]
fn an_empty_flow_decays_and_is_then_forgotten() {
    let (mut queue, mut drops) = (cake(ISOLATION), Drops::default());
    let listed = |queue: &Cake| queue.flows.iter().filter(|flow| flow.set != Set::Idle).count();
    // The other flow's packets make the requests.
    for ms in 0..400 {
        let now = Time(ms * MS);
        let mut others = flow(ms, (2, 9, 1), 1000);
        others.enqueued = now;
        queue.enqueue(now, others, &mut drops);
        if ms == 0 {
            queue.enqueue(now, flow(1000, (1, 9, 1), 1000), &mut drops);
        }
        queue.dequeue(now, &mut drops);
        if ms == 50 {
            assert_eq!(listed(&queue), 2, "within an interval");
        }
    }
    assert_eq!((listed(&queue), queue.decaying.len()), (1, 0));
}

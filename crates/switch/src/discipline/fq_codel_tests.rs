//! FQ-CoDel's order of service as computed from RFC 8290 section 4 by hand, and its drops against
//! plain CoDel.

use super::super::codel::Codel;
use super::super::testing::{ECT0, NOT_ECT, frame, queued};
use super::*;
use proptest::prelude::*;

fn enqueue(queue: &mut dyn Discipline, at: u64, id: u64, flow: u16, size: u32) -> Vec<u64> {
    let mut drops = Drops::default();
    queue.enqueue(Time(at), queued(frame(id, flow, NOT_ECT, size), at), &mut drops);
    drops.drain().map(|(packet, _)| packet.packet.id.0).collect()
}

/// The packet sent, and those dropped on the way.
fn dequeue(queue: &mut dyn Discipline, at: u64) -> (Option<u64>, Vec<u64>) {
    let mut drops = Drops::default();
    let sent = queue.dequeue(Time(at), &mut drops).map(|packet| packet.packet.id.0);
    (sent, drops.drain().map(|(packet, _)| packet.packet.id.0).collect())
}

fn send(queue: &mut FqCodel, packets: usize) -> Vec<u64> {
    (0..packets).filter_map(|_| dequeue(queue, 0).0).collect()
}

const A: u16 = 1;
const B: u16 = 2;
const D: u16 = 3;

#[test]
fn flows_are_served_in_the_order_of_the_rfc() {
    let mut queue = FqCodel::new(Params::default(), 1);
    for (id, flow, size) in [(0, A, 1500), (1, A, 1500), (2, A, 1500), (3, B, 1000), (4, B, 1000)] {
        enqueue(&mut queue, 0, id, flow, size);
    }
    // New: A, B. A sends 0 (14 credits left), is still in its turn, sends 1 (-1486). Then it gets
    // 1514 (28) and goes to the old ones. B sends 3 (514) and 4 (-486).
    assert_eq!(send(&mut queue, 4), [0, 1, 3, 4]);
    // D is new. B gets 1514 (1028) and is old; D comes before both.
    enqueue(&mut queue, 0, 5, D, 100);
    assert_eq!(send(&mut queue, 1), [5]);
    // D is empty and becomes old, behind A and B. A sends 2 with its 28 credits (-1472).
    assert_eq!(send(&mut queue, 1), [2]);
    // D has a packet again, but it is old now. A gets 1514 (42) and goes behind D; B is empty and
    // leaves; D sends 6, then A sends 7.
    enqueue(&mut queue, 0, 7, A, 100);
    enqueue(&mut queue, 0, 6, D, 100);
    assert_eq!(send(&mut queue, 2), [6, 7]);
    assert_eq!((send(&mut queue, 1), queue.packets()), (vec![], 0));
    // Everybody has left the lists, so everybody is new again.
    enqueue(&mut queue, 0, 8, B, 100);
    assert_eq!(queue.stats.new_flows, 4);
}

#[test]
fn a_turn_ends_when_exactly_a_quantum_is_sent() {
    let mut queue = FqCodel::new(Params::default(), 1);
    for (id, flow) in [(0, A), (1, A), (2, B), (3, B)] {
        enqueue(&mut queue, 0, id, flow, 1514);
    }
    assert_eq!(send(&mut queue, 4), [0, 2, 1, 3]);
}

#[test]
fn flows_get_equal_shares_of_bytes_whatever_their_packets() {
    let mut queue = FqCodel::new(Params::default(), 1);
    for id in 0..4000 {
        let (flow, size) = if id % 2 == 0 { (A, 1514) } else { (B, 200) };
        enqueue(&mut queue, 0, id, flow, size);
    }
    let mut bytes = [0i64; 2];
    for _ in 0..1000 {
        let id = dequeue(&mut queue, 0).0.unwrap();
        bytes[(id % 2) as usize] += [1514, 200][(id % 2) as usize];
        // Never further apart than a quantum and the two packets that overdraw.
        assert!((bytes[0] - bytes[1]).abs() <= 1514 + 1514 + 200, "{bytes:?}");
    }
}

#[test]
fn a_sparse_flow_passes_a_standing_queue() {
    let mut queue = FqCodel::new(Params::default(), 1);
    (0..500).for_each(|id| drop(enqueue(&mut queue, 0, id, A, 1514)));
    send(&mut queue, 10);
    for id in 1000..1010 {
        enqueue(&mut queue, 0, id, B, 100);
        // B's turn comes at once or after what is left of A's.
        let sent = send(&mut queue, 3);
        assert!(sent.contains(&id), "{sent:?}");
    }
}

#[test]
fn a_full_queue_drops_half_the_fattest_flow_from_its_head() {
    let mut queue = FqCodel::new(Params { limit: 10, ..Params::default() }, 1);
    // Three big packets are more bytes than seven small ones.
    for id in 0..10 {
        let (flow, size) = if id < 3 { (A, 1500) } else { (B, 100) };
        assert!(enqueue(&mut queue, 0, id, flow, size).is_empty());
    }
    assert_eq!(enqueue(&mut queue, 0, 10, B, 100), [0, 1]);
    assert_eq!((queue.packets(), queue.bytes()), (9, Bytes(1500 + 8 * 100)));
    // Half of a very fat flow is more than a batch.
    let mut queue = FqCodel::new(Params { limit: 200, ..Params::default() }, 1);
    (0..200).for_each(|id| drop(enqueue(&mut queue, 0, id, A, 1500)));
    assert_eq!(enqueue(&mut queue, 0, 200, B, 100), (0..64).collect::<Vec<_>>());
    assert_eq!(queue.stats.drop_overlimit, 64);
}

#[test]
fn linux_drops_half_the_fattest_flows_bytes_and_informs_its_codel() {
    // 9000 bytes, six packets, the large ones in front: half of them are gone after two, in the RFC three.
    for (linux, dropped) in [(true, vec![0, 1]), (false, vec![0, 1, 2])] {
        let mut queue = FqCodel::new(Params { limit: 6, linux, ..Params::default() }, 1);
        for id in 0..6 {
            enqueue(&mut queue, 0, id, A, if id < 2 { 2500 } else { 1000 });
        }
        assert_eq!(enqueue(&mut queue, 0, 6, B, 100), dropped);
        let fattest = queue.flows.iter().max_by_key(|flow| flow.backlog.len()).unwrap();
        assert!(!linux || fattest.codel.linux.count == 2);
    }
}

#[test]
fn a_flows_last_full_packet_is_spared_unless_linux_sees_others() {
    // Two flows, each of whose packets waits for 50 ms while one more of it is queued.
    for (linux, spared) in [(false, true), (true, false)] {
        let mut queue = FqCodel::new(Params { ecn: false, linux, ..Params::default() }, 1);
        let mut dropped = 0;
        for id in 0..40 {
            let at = 25_000_000 * id;
            enqueue(&mut queue, at, id, if id % 2 == 0 { A } else { B }, 1514);
            if id >= 2 {
                dropped += dequeue(&mut queue, at).1.len();
            }
        }
        assert_eq!(dropped == 0, spared, "{dropped}");
    }
}

#[test]
fn a_limit_in_bytes_counts_all_flows() {
    let params = Params { limit_bytes: Some(Bytes(3000)), ..Params::default() };
    let mut queue = FqCodel::new(params, 1);
    assert!(enqueue(&mut queue, 0, 0, A, 1500).is_empty());
    assert!(enqueue(&mut queue, 0, 1, B, 1500).is_empty());
    assert_eq!(enqueue(&mut queue, 0, 2, B, 100), [1]);
}

/// Offers to each of two flows twice its share of a link that takes one packet per ms, for 2 s.
fn overload(queue: &mut dyn Discipline, codepoint: u8) -> (Vec<(u64, u64)>, usize) {
    let (mut dropped, mut marked, mut drops) = (Vec::new(), 0, Drops::default());
    for ms in 0..2000u64 {
        let now = Time::from_millis(ms);
        for flow in [A, B] {
            let packet = queued(frame(2 * ms + u64::from(flow), flow, codepoint, 1514), now.0);
            queue.enqueue(now, packet, &mut drops);
        }
        let sent = queue.dequeue(now, &mut drops).expect("an overloaded queue has a packet");
        marked += usize::from(ecn::is_marked(&sent.packet));
        dropped.extend(drops.drain().map(|(p, _)| (ms, u64::from(p.packet.flow.0))));
    }
    (dropped, marked)
}

#[test]
fn each_flow_has_a_control_law_of_its_own() {
    // Two flows take turns, one packet of 1514 bytes each, so each is dequeued every other ms and
    // is dropped from at the times of the control law from its own first drop on, each up to two
    // ms late.
    let mut queue = FqCodel::new(Params::default(), 1);
    let (dropped, _) = overload(&mut queue, NOT_ECT);
    for flow in [A, B] {
        let times: Vec<_> =
            dropped.iter().filter(|d| d.1 == u64::from(flow)).map(|d| d.0).collect();
        // TARGET is passed when the queue's head is 5 ms old, some 10 ms in; INTERVAL later the
        // first drop.
        assert!((108..=116).contains(&times[0]), "{times:?}");
        let mut due = times[0] as f64;
        for (time, count) in times[1..].iter().zip(1..) {
            due += 100.0 / f64::from(count).sqrt();
            assert!((0.0..=2.0).contains(&(*time as f64 - due)), "{time} instead of {due}");
        }
        assert!(times.len() > 80, "{}", times.len());
    }
}

#[test]
fn capable_flows_are_marked_by_default() {
    let mut queue = FqCodel::new(Params::default(), 1);
    let (dropped, marked) = overload(&mut queue, ECT0);
    assert!(dropped.is_empty() && marked > 100, "{} and {marked}", dropped.len());
}

#[test]
fn ce_threshold_marks_without_the_control_law() {
    let ce_threshold = Some(Time::from_millis(1));
    let mut queue = FqCodel::new(Params { ce_threshold, ..Params::default() }, 1);
    let mut drops = Drops::default();
    for id in 0..2 {
        queue.enqueue(Time::ZERO, queued(frame(id, A, ECT0, 100), 0), &mut drops);
    }
    let at = |ns: u64| Time(1_000_000 + ns);
    assert!(!ecn::is_marked(&queue.dequeue(at(0), &mut drops).unwrap().packet));
    assert!(ecn::is_marked(&queue.dequeue(at(1), &mut drops).unwrap().packet));
    assert_eq!(queue.stats.ce_mark, 1);
}

proptest! {
    #[test]
    fn with_one_queue_it_is_plain_codel(
        trace in prop::collection::vec((0..4_000_000u64, 60..1514u32, any::<bool>()), 1..800),
    ) {
        let params = Params { flows: 1, ecn: false, ..Params::default() };
        let (mut fair, mut plain) = (FqCodel::new(params, 0), Codel::new(params.codel));
        let mut now = 0;
        for (id, &(gap, size, twice)) in trace.iter().enumerate() {
            now += gap;
            for k in 0..=u64::from(twice) {
                let id = 2 * id as u64 + k;
                enqueue(&mut fair, now, id, A, size);
                enqueue(&mut plain, now, id, A, size);
            }
            prop_assert_eq!(dequeue(&mut fair, now), dequeue(&mut plain, now));
        }
    }
}

#[test]
fn the_kernel_forgets_an_empty_new_flow_at_once_if_there_are_no_old_ones() {
    let order = |linux| {
        let mut queue = FqCodel::new(Params { linux, ..Params::default() }, 1);
        enqueue(&mut queue, 0, 0, A, 100);
        enqueue(&mut queue, 0, 1, B, 100);
        // A sends its packet, is found empty, and B sends.
        assert_eq!(send(&mut queue, 2), [0, 1]);
        // To the kernel A is new again; to the RFC it is old and comes after D.
        enqueue(&mut queue, 0, 2, A, 100);
        enqueue(&mut queue, 0, 3, D, 100);
        send(&mut queue, 2)
    };
    assert_eq!(order(false), [3, 2]);
    assert_eq!(order(true), [2, 3]);
}

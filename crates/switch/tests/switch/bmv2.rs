//! Tests of features that bmv2's switch has and Tofino lacks.
//!
//! These are queues counted and paced in packets, strict priorities, clones to groups, and packets
//! that recirculate without passing a port.

use crate::harness::*;
use sojourn_packet::{
    EgressInput, EgressOutput, IngressInput, IngressOutput, Mirror, MirrorDirection,
    MirrorOverrides, PacketMetadata, PortId,
};
use sojourn_packet::{Packet, Rate, Time};
use sojourn_switch::{
    MirrorSession, MulticastGroup, MulticastNode, QueueConfig, SwitchConfig, Verdict,
};

/// Port 2 with these queues.
fn with_queues(queues: Vec<QueueConfig>) -> SwitchConfig {
    let mut config = config();
    config.ports[1].queues = queues;
    config
}

#[test]
fn a_queue_of_three_packets_drops_the_fourth_whatever_their_size() {
    let queue =
        QueueConfig { packet_limit: Some(3), packet_pace: Some(1), ..QueueConfig::default() };
    let mut driver = Driver::p4(with_queues(vec![queue]), Fake::new());
    // The first leaves at once; three wait, then there is no room.
    for id in 0..6 {
        driver.receive(id * 10_000, IN, packet(id, if id % 2 == 0 { 60 } else { 9_000 }));
    }
    driver.advance(Time(100_000));
    let tail: Vec<u64> = driver
        .rows()
        .iter()
        .filter(|row| row.verdict == Verdict::Tail)
        .map(|row| row.packet.0)
        .collect();
    assert_eq!(tail, [4, 5]);
}

#[test]
fn a_queue_paced_in_packets_sends_one_each_500_microseconds_at_2000_a_second() {
    let queue = QueueConfig { packet_pace: Some(2_000), ..QueueConfig::default() };
    let mut driver = Driver::p4(with_queues(vec![queue]), Fake::new());
    for id in 0..5 {
        driver.receive(id, IN, packet(id, 1_514));
    }
    driver.finish();
    let starts: Vec<u64> = driver.departures().iter().map(|(_, start)| *start).collect();
    let gaps: Vec<u64> = starts.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert_eq!(gaps, [500_000; 4]);
}

#[test]
fn a_queue_paced_in_bits_counts_what_the_wire_carries() {
    let queue = QueueConfig { bit_pace: Some(Rate(12_304_000)), ..QueueConfig::default() };
    let mut driver = Driver::p4(with_queues(vec![queue]), Fake::new());
    for id in 0..4 {
        driver.receive(id, IN, packet(id, 1_514));
    }
    driver.finish();
    let starts: Vec<u64> = driver.departures().iter().map(|(_, start)| *start).collect();
    // 1,514 bytes, 4 of FCS, 20 of preamble and gap: 12,304 bits, a thousand times a second.
    assert!(starts.windows(2).all(|pair| pair[1] - pair[0] == 1_000_000), "{starts:?}");
}

#[test]
fn a_higher_priority_goes_first_and_another_queues_rate_does_not_hold_it_up() {
    let queue = |priority, packet_pace| QueueConfig {
        priority,
        min_priority: priority,
        packet_pace,
        ..QueueConfig::default()
    };
    let queues = vec![queue(0, None), queue(1, Some(1_000)), queue(2, None)];
    let fake = Fake::new().ingress(|_, packet| to(OUT, (packet.id.0 % 3) as u8, packet));
    let mut config = with_queues(queues);
    config.ports[1].speed = Rate(10_000_000);
    let mut driver = Driver::p4(config, fake);
    for id in 0..9 {
        driver.receive(id, IN, packet(id, 100));
    }
    driver.finish();
    let order: Vec<u64> = driver.departures().iter().map(|(id, _)| *id).collect();
    // Packet 0 finds an idle wire. Then all of queue 2, one of queue 1, and while that waits for
    // its pace, queue 0.
    assert_eq!(order, [0, 2, 5, 8, 1, 3, 6, 4, 7]);
}

#[test]
fn a_packet_for_a_queue_that_a_port_does_not_have_is_lost() {
    let fake = Fake::new().ingress(|_, packet| to(OUT, 1, packet));
    let mut driver = Driver::p4(config(), fake);
    driver.receive(0, IN, packet(0, 100));
    driver.finish();
    assert!(driver.sent.is_empty());
    assert_eq!(driver.switch.statistics().ingress.unroutable.packets, 1);
}

#[test]
fn a_packet_is_resubmitted_as_often_as_the_switch_allows() {
    for (limit, passes) in [(1, 2), (4, 5)] {
        let fake = Fake::new().ingress(|_, packet| IngressOutput {
            resubmit: Some(packet),
            ..IngressOutput::default()
        });
        let mut driver = Driver::p4(SwitchConfig { resubmit_limit: limit, ..config() }, fake);
        driver.receive(0, IN, packet(0, 100));
        driver.finish();
        let log = driver.ingress_log.lock().unwrap();
        assert_eq!(log.len(), passes);
        assert!(log[1..].iter().all(|(input, _)| input.resubmitted));
    }
}

#[test]
fn a_packet_that_egress_recirculates_enters_ingress_and_no_wire() {
    let mut rounds = 0;
    let fake = Fake::new().egress(move |_, packet| {
        rounds += 1;
        EgressOutput { recirculate: rounds < 4, ..pass(packet) }
    });
    let mut driver = Driver::p4(config(), fake);
    driver.receive(0, IN, packet(0, 100));
    driver.finish();
    assert_eq!(driver.sent.len(), 1);
    assert_eq!(driver.ingress_log.lock().unwrap().len(), 4);
    assert_eq!(driver.switch.statistics().recirculation.recirculated.packets, 3);
}

#[test]
fn a_packet_that_goes_round_for_ever_lets_time_pass() {
    let fake = Fake::new().egress(|_, packet| EgressOutput { recirculate: true, ..pass(packet) });
    let still = SwitchConfig { ingress_latency: Time(0), egress_latency: Time(0), ..config() };
    let mut driver = Driver::p4(still, fake);
    driver.receive(0, IN, packet(0, 100));
    driver.advance(Time(1_000));
    assert!(driver.ingress_log.lock().unwrap().len() <= 1_001);
}

fn cloning(session: MirrorSession) -> Driver {
    let mirror = |session, packet: &Packet| Mirror {
        session,
        direction: MirrorDirection::Ingress,
        packet: packet.clone(),
        header_len: 0,
        packet_metadata: PacketMetadata::default(),
        overrides: MirrorOverrides::default(),
    };
    let id = session.id;
    let fake = Fake::new().ingress(move |_: &IngressInput, packet| {
        let mirror = Some(mirror(id, &packet));
        IngressOutput { mirror, ..IngressOutput::default() }
    });
    let mut config = config();
    config.mirror.numbers = 0..=0x7fff;
    config.mirror.sessions.push(session);
    let node = |rid, ports: &[u16]| MulticastNode {
        rid,
        l1_exclusion: None,
        ports: ports.iter().copied().map(PortId).collect(),
    };
    config.multicast.push(MulticastGroup { id: 9, nodes: vec![node(5, &[1, 2]), node(6, &[2])] });
    Driver::p4(config, fake)
}

#[test]
fn a_clone_goes_to_its_sessions_group_and_port() {
    let both = sojourn_switch::SessionDirection::Both;
    let session = MirrorSession { direction: both, ..MirrorSession::egress(0, OUT, 0) };
    for (session, copies) in [
        (session, vec![(2, 0)]),
        (MirrorSession { group: Some(9), ..session }, vec![(1, 5), (2, 5), (2, 6), (2, 0)]),
        (MirrorSession { group: Some(9), port: None, ..session }, vec![(1, 5), (2, 5), (2, 6)]),
    ] {
        let mut driver = cloning(session);
        driver.receive(0, IN, packet(0, 100));
        driver.finish();
        let log = driver.egress_log.lock().unwrap();
        let seen = |(input, _): &(EgressInput, Packet)| (input.port.0, input.rid);
        let mut seen: Vec<(u16, u16)> = log.iter().map(seen).collect();
        let mut copies = copies;
        seen.sort_unstable();
        copies.sort_unstable();
        assert_eq!(seen, copies);
    }
}

#[test]
fn a_port_paced_in_packets_shares_its_rate_among_queues_of_equal_weight() {
    let mut config = with_queues(vec![QueueConfig::default(); 2]);
    config.ports[1].packet_pace = Some(2_000);
    let plane = Fake::new().ingress(|_, packet| {
        let queue = (packet.id.0 % 2) as u8;
        to(OUT, queue, packet)
    });
    let mut driver = Driver::p4(config, plane);
    (0..8).for_each(|id| driver.receive(id, IN, packet(id, 1500)));
    driver.finish();
    let rows = driver.rows();
    let gaps = rows.windows(2).map(|pair| pair[1].dequeued.0 - pair[0].dequeued.0);
    assert!(gaps.into_iter().all(|gap| gap == 500_000));
    let turns: Vec<u8> = rows.iter().map(|row| row.queue).collect();
    assert_eq!(turns.iter().filter(|&&queue| queue == 0).count(), 4);
    assert!(turns.windows(2).filter(|pair| pair[0] != pair[1]).count() >= 3, "{turns:?}");
}

#[test]
fn a_drop_in_ingress_is_a_row_of_the_bottleneck_unless_it_came_in_there() {
    let plane = || Fake::new().ingress(|_, _| IngressOutput::default());
    let mut driver = Driver::p4(with_queues(vec![QueueConfig::default()]), plane());
    driver.receive(10, IN, packet(7, 1000));
    driver.receive(20, OUT, packet(8, 1000));
    driver.finish();
    let rows: Vec<_> =
        driver.rows().iter().map(|row| (row.packet.0, row.port, row.size.0, row.verdict)).collect();
    assert_eq!(rows, [(7, OUT, 1000, Verdict::Ingress)]);
    assert!(driver.rows().iter().all(|row| row.enqueued == row.dequeued));
}

#[test]
fn a_recirculated_packet_that_ingress_drops_is_no_loss_of_a_queue() {
    let plane = Fake::new()
        .ingress(|input, packet| match input.now {
            Time::ZERO => to(IN, 0, packet),
            _ => IngressOutput::default(),
        })
        .egress(|_, packet| EgressOutput { recirculate: true, ..pass(packet) });
    let mut driver = Driver::p4(with_queues(vec![QueueConfig::default()]), plane);
    driver.receive(0, IN, packet(1, 1000));
    driver.finish();
    assert_eq!(driver.rows(), []);
    assert_eq!(driver.switch.statistics().ingress.dropped.packets, 1);
}

//! Packets that take more than one way: mirrored, recirculated, resubmitted, replicated.

use crate::harness::*;
use sojourn_packet::{Bytes, Packet, Time};
use sojourn_packet::{
    EgressInput, EgressOutput, IngressInput, IngressOutput, Mirror, MirrorDirection,
    MirrorOverrides, PacketMetadata, PortId, Replication,
};
use sojourn_switch::{
    DeflectionQueue, ExclusionSet, MirrorSession, MulticastGroup, MulticastNode, PortConfig,
    RoundLimit, SessionDirection, SwitchConfig,
};

fn copy_of(packet: &Packet, direction: MirrorDirection) -> Option<Mirror> {
    let mut copy = packet.clone();
    copy.bytes.splice(0..0, [0xaa; 8]).for_each(drop);
    Some(Mirror {
        session: 100,
        direction,
        packet: copy,
        header_len: 8,
        packet_metadata: PacketMetadata::default(),
        overrides: MirrorOverrides::default(),
    })
}

fn mirroring() -> SwitchConfig {
    let mut config = config();
    let session = MirrorSession { max_length: 100, ..MirrorSession::egress(100, LOOP, 0) };
    config.mirror.sessions.push(session);
    config
}

/// Mirrors every original at egress; copies that come back to ingress are dropped there.
fn mirroring_plane() -> Fake {
    let ingress = |input: &IngressInput, packet| {
        if input.port == LOOP { IngressOutput::default() } else { to(OUT, 0, packet) }
    };
    let egress = |input: &EgressInput, packet: Packet| {
        let mirror = (!input.mirrored).then(|| copy_of(&packet, MirrorDirection::Egress)).flatten();
        EgressOutput { packet: Some(packet), mirror, ..EgressOutput::default() }
    };
    Fake::new().ingress(ingress).egress(egress)
}

#[test]
fn a_mirrored_copy_goes_through_egress_of_its_session_and_back_to_ingress() {
    let mut driver = Driver::p4(mirroring(), mirroring_plane());
    driver.receive(0, IN, packet(1, 1514));
    driver.finish();
    let egress = driver.egress_log.lock().unwrap();
    let (copy, bytes) = &egress[1];
    // Requested at 600, written at 1100; 100 bytes leave the mirror buffer in 8 ns at 100 Gbit/s.
    assert_eq!((copy.port, copy.mirrored, copy.enqueued), (LOOP, true, Time(1_108)));
    // The length counts the mirror header and the FCS.
    assert_eq!((copy.length, bytes.len(), bytes.bytes[0]), (104, Bytes(100), 0xaa));
    let ingress = driver.ingress_log.lock().unwrap();
    // 8 + 100 + 4 bytes at 100 Gbit/s are 8.96 ns; 500 ns egress, 400 ns recirculation.
    assert_eq!((ingress[1].0.port, ingress[1].0.arrived), (LOOP, Time(1_108 + 9 + 500 + 400)));
    assert_eq!(driver.sent.len(), 1);
}

#[test]
fn the_report_has_mirrored_and_recirculated_packets_and_the_unsynchronised_time() {
    let mut driver = Driver::p4(mirroring(), mirroring_plane());
    driver.receive(0, IN, packet(1, 1514));
    driver.receive(10_000, IN, packet(2, 1514));
    driver.finish();
    driver.switch.advance(Time(1_000_000));
    let s = driver.switch.statistics();
    assert_eq!(
        (s.mirror.requested, s.mirror.mirrored.packets, s.mirror.mirrored.bytes),
        (2, 2, 200)
    );
    assert_eq!((s.mirror.drops(), s.recirculation.recirculated.bytes), (0, 200));
    // From the requesting pass (600) to the copy's own egress pass (1108).
    let u = s.mirror.unsynchronised;
    assert_eq!((u.total, u.max, u.count), (Time(1_016), Time(508), 2));
    // 2 x (100 + 24) bytes in 1 ms at 100 Gbit/s: 1984 of 10^8 bits.
    assert!((s.recirculation.share_of_capacity() - 1984e-8).abs() < 1e-12);
    assert!((s.recirculation.share_of_traffic() - 200.0 / 3028.0).abs() < 1e-12);
}

#[test]
fn a_packet_dropped_in_egress_is_still_mirrored() {
    let egress = |input: &EgressInput, packet: Packet| {
        if input.mirrored {
            return pass(packet);
        }
        let mirror = copy_of(&packet, MirrorDirection::Egress);
        EgressOutput { packet: None, mirror, ..EgressOutput::default() }
    };
    let mut driver = Driver::p4(mirroring(), mirroring_plane().egress(egress));
    driver.receive(0, IN, packet(1, 1514));
    driver.finish();
    let s = driver.switch.statistics();
    assert_eq!((s.sent.packets, s.recirculation.recirculated.packets), (0, 1));
}

#[test]
fn a_burst_of_requests_overflows_the_mirror_buffer_silently_but_counted() {
    let mut config = mirroring();
    config.mirror.sessions[0].max_length = 0;
    config.mirror.rate = sojourn_packet::Rate(GIGABIT);
    let mut driver = Driver::p4(config, mirroring_plane());
    // Copies of 1522 bytes take seven entries of 56 and 12 us each at 1 Gbit/s; requests come every
    // 1.2 us.
    (0..20).for_each(|id| driver.receive(0, IN, packet(id, 1514)));
    driver.finish();
    let s = driver.switch.statistics();
    assert_eq!((driver.sent.len(), s.mirror.requested), (20, 20));
    // Eight fit; in the 19 slots of 1.23 us, one leaves (0.5 + 12.2 us after the first request),
    // and a second would at 24.9 us, after the last request.
    assert_eq!((s.mirror.mirrored.packets, s.mirror.buffer_drops), (9, 11));
    assert_eq!((s.mirror.held, s.held), (0, 0));
}

#[test]
fn an_ingress_session_serves_no_egress_requests() {
    let mut config = mirroring();
    config.mirror.sessions[0].direction = sojourn_switch::SessionDirection::Ingress;
    let mut driver = Driver::p4(config, mirroring_plane());
    driver.receive(0, IN, packet(1, 1514));
    driver.finish();
    let s = driver.switch.statistics();
    assert_eq!((s.mirror.no_session, s.mirror.mirrored.packets), (1, 0));
}

#[test]
fn a_full_session_queue_drops_copies_at_the_tail() {
    let mut config = mirroring();
    config.ports[2].queues[0].limit = 1;
    let mut driver = Driver::p4(config, mirroring_plane());
    driver.receive(0, IN, packet(1, 1514));
    driver.finish();
    let s = driver.switch.statistics();
    // 104 bytes need two cells.
    assert_eq!((s.mirror.tail_drops, s.mirror.mirrored.packets), (1, 0));
    assert_eq!(s.ports[2].queues[0].tail_drops.packets, 1);
}

#[test]
fn a_copy_without_room_goes_to_the_deflection_queue_if_its_packet_asks_for_that() {
    for (asks, deflected) in [(None, 0), (Some(false), 0), (Some(true), 1)] {
        let mut config = mirroring();
        config.ports[2].queues[0].limit = 1;
        config.deflection = vec![DeflectionQueue { port: IN, queue: 0 }];
        let egress = move |input: &EgressInput, packet: Packet| {
            let copy = (!input.mirrored).then(|| copy_of(&packet, MirrorDirection::Egress));
            let mut mirror = copy.flatten();
            if let Some(mirror) = &mut mirror {
                mirror.overrides.deflect_on_drop = asks;
            }
            EgressOutput { packet: Some(packet), mirror, ..EgressOutput::default() }
        };
        let mut driver = Driver::p4(config, mirroring_plane().egress(egress));
        driver.receive(0, IN, packet(1, 1514));
        driver.finish();
        let s = driver.switch.statistics();
        assert_eq!(s.ingress.deflected.packets, deflected);
        assert_eq!(s.ports[2].queues[0].tail_drops.packets, 1 - deflected);
        assert_eq!(driver.sent.iter().filter(|sent| sent.port == IN).count() as u64, deflected);
    }
}

#[test]
fn recirculation_takes_the_paths_rate_and_latency() {
    let ingress =
        |input: &IngressInput, packet| to(if input.port == LOOP { OUT } else { LOOP }, 0, packet);
    let mut driver = Driver::p4(config(), Fake::new().ingress(ingress));
    driver.receive(0, IN, packet(1, 1514));
    driver.receive(0, IN, packet(2, 1514));
    driver.finish();
    let log = driver.ingress_log.lock().unwrap();
    let back: Vec<_> = log[2..].iter().map(|(i, _)| i.arrived.0).collect();
    // 1526 bytes at 100 Gbit/s are 122.08 ns; the second follows 1538 bytes = 123.04 ns later.
    assert_eq!(back, [600 + 123 + 500 + 400, 600 + 246 + 500 + 400]);
    assert_eq!(driver.sent[0].start, Time(1_623 + 600 + 500));
}

#[test]
fn a_packet_is_resubmitted_once_and_no_more() {
    let ingress = |_: &IngressInput, packet: Packet| IngressOutput {
        resubmit: Some(packet.clone()),
        ..to(OUT, 0, packet)
    };
    let mut driver = Driver::p4(config(), Fake::new().ingress(ingress));
    driver.receive(100, IN, packet(1, 500));
    driver.finish();
    let log = driver.ingress_log.lock().unwrap();
    let passes: Vec<_> = log.iter().map(|(i, _)| (i.resubmitted, i.arrived.0, i.now.0)).collect();
    assert_eq!(passes, [(false, 100, 100), (true, 100, 700)]);
    assert_eq!(driver.departures(), [(1, 1_800)]);
    let s = driver.switch.statistics().ingress;
    assert_eq!((s.passes, s.resubmitted, s.resubmits_refused), (2, 1, 1));
}

#[test]
fn a_multicast_packet_is_replaced_by_its_copies() {
    let mut config = config();
    config.ports.push(PortConfig::front(PortId(3), sojourn_packet::Rate(10 * GIGABIT)));
    let node =
        |rid, ports: &[PortId]| MulticastNode { rid, l1_exclusion: None, ports: ports.to_vec() };
    let nodes = vec![node(5, &[OUT, PortId(3)]), node(6, &[IN])];
    config.multicast.push(MulticastGroup { id: 1, nodes });
    config.exclusions.push(ExclusionSet { id: 1, ports: vec![IN] });
    let ingress = |_: &IngressInput, packet| {
        let mut out = to(OUT, 0, packet);
        out.admission.unicast = None;
        let groups = [Some(1), None];
        out.admission.replication =
            Some(Replication { groups, rid: 6, l2_exclusion: 1, ..Replication::default() });
        out
    };
    let mut driver = Driver::p4(config, Fake::new().ingress(ingress));
    driver.receive(0, IN, packet(1, 500));
    driver.finish();
    let log = driver.egress_log.lock().unwrap();
    let copies: Vec<_> = log.iter().map(|(i, _)| (i.port.0, i.rid, i.rid_first)).collect();
    assert_eq!(copies, [(2, 5, true), (3, 5, false)]);
    let s = driver.switch.statistics().ingress;
    assert_eq!((s.multicast_copies, s.multicast_originals), (2, 1));
}

#[test]
fn a_packet_without_a_destination_is_an_ingress_drop() {
    let ingress = |_: &IngressInput, packet| IngressOutput {
        packet: Some(packet),
        parser_rejected: true,
        ..IngressOutput::default()
    };
    let mut driver = Driver::p4(config(), Fake::new().ingress(ingress));
    driver.receive(0, IN, packet(1, 500));
    driver.receive(0, PortId(9), packet(2, 500));
    let s = driver.switch.statistics().ingress;
    assert_eq!((s.dropped.bytes, s.parser_rejected, s.unknown_port.packets), (500, 1, 1));
    assert_eq!(driver.switch.next_timer(), None);
}

#[test]
fn a_packet_to_a_port_or_queue_that_does_not_exist_is_counted() {
    for (port, queue) in [(PortId(511), 0), (PortId(9), 0), (OUT, 1)] {
        let ingress = move |_: &IngressInput, packet| to(port, queue, packet);
        let mut driver = Driver::p4(config(), Fake::new().ingress(ingress));
        driver.receive(0, IN, packet(1, 500));
        driver.finish();
        assert_eq!(driver.switch.statistics().ingress.unroutable.packets, 1);
    }
}

/// A switch whose passes take no time and whose copies are made at once; session 100 leads to port 2.
fn at_once() -> SwitchConfig {
    let mut config = SwitchConfig {
        ingress_latency: Time::ZERO,
        egress_latency: Time::ZERO,
        resubmit_limit: u32::MAX,
        rounds: RoundLimit { at_once: 50, every: Time(1_000_000) },
        ..config()
    };
    config.mirror.rate = sojourn_packet::Rate(u64::MAX);
    let session = MirrorSession::egress(100, OUT, 0);
    config.mirror.sessions.push(MirrorSession { direction: SessionDirection::Both, ..session });
    config
}

#[test]
fn a_packet_that_loops_forever_is_dropped_and_reported_and_others_are_served() {
    let resubmits = Fake::new().ingress(|_, packet| {
        let ever = packet.id.0 == 1;
        let resubmit = ever.then(|| packet.clone());
        IngressOutput { resubmit, ..to(OUT, 0, packet) }
    });
    let copies = Fake::new().egress(|_, packet| {
        let ever = packet.id.0 == 1;
        let mirror = ever.then(|| copy_of(&packet, MirrorDirection::Egress)).flatten();
        EgressOutput { packet: (!ever).then_some(packet), mirror, ..EgressOutput::default() }
    });
    let recirculates = Fake::new()
        .egress(|_, packet| EgressOutput { recirculate: packet.id.0 == 1, ..pass(packet) });
    let through_a_port =
        Fake::new().ingress(|_, packet| to(if packet.id.0 == 1 { LOOP } else { OUT }, 0, packet));
    for (plane, by) in [
        (resubmits, "resubmitted from port 1"),
        (copies, "copied by mirror session 100"),
        (recirculates, "recirculated from egress at port 2"),
        (through_a_port, "come back through port 68"),
    ] {
        let mut driver = Driver::p4(at_once(), plane);
        driver.receive(10, IN, packet(1, 100));
        driver.receive(100_000, IN, packet(2, 100));
        driver.finish();
        let sent: Vec<u64> = driver.sent.iter().map(|sent| sent.packet.id.0).collect();
        assert_eq!(sent, [2], "{by}");
        let s = driver.switch.statistics();
        assert_eq!((s.rounds_dropped.packets, s.held), (1, 0), "{by}");
        let told: Vec<_> = s.faults.iter().map(|fault| (fault.kind, fault.count)).collect();
        assert_eq!(told, [("rounds", 1)], "{by}");
        assert!(s.faults[0].first.starts_with(&format!("packet 1, {by}, at ")), "{:?}", s.faults);
    }
}

#[test]
fn copies_of_copies_are_bounded_however_many_each_makes() {
    let fake = Fake::new().egress(|_, packet| {
        let mirror = copy_of(&packet, MirrorDirection::Egress);
        EgressOutput { recirculate: true, mirror, ..pass(packet) }
    });
    let mut driver = Driver::p4(at_once(), fake);
    driver.receive(10, IN, packet(1, 100));
    driver.finish();
    let passes = driver.egress_log.lock().unwrap().len();
    assert_eq!(passes, 51, "its own and 50 rounds");
    assert_eq!(driver.switch.statistics().held, 0);
}

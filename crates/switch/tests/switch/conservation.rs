//! Conservation tests under arbitrary programs: every lost packet is counted, and every cell is in
//! use by a packet. The outcome does not depend on how often the driver polls.

use crate::harness::*;
use proptest::prelude::*;
use sojourn_packet::{
    EgressInput, EgressOutput, IngressInput, IngressOutput, Mirror, MirrorDirection,
    MirrorOverrides, PacketMetadata, PortId, Replication,
};
use sojourn_packet::{Packet, Rate, Time};
use sojourn_switch::{
    MirrorSession, MulticastGroup, MulticastNode, QueueConfig, ShaperConfig, Statistics,
    SwitchConfig,
};

/// First byte of packets that have been recirculated.
const PLAIN: u8 = 1;

/// A program whose decisions are scattered over everything there is, by the packet's number.
fn wild_plane() -> Fake {
    let ingress = |input: &IngressInput, mut packet: Packet| {
        let id = packet.id.0;
        if input.port == LOOP {
            // Returning packets take a plain path, so that none loops for ever.
            packet.bytes[0] = PLAIN;
            let dropped = id.is_multiple_of(3);
            return if dropped { IngressOutput::default() } else { to(OUT, 0, packet) };
        }
        let port = match id % 7 {
            0 => LOOP,
            1 => PortId(77),
            _ => OUT,
        };
        let mut out = to(port, (id % 3) as u8, packet.clone());
        out.admission.color = (id % 4) as u8;
        out.admission.bypass_egress = id.is_multiple_of(11);
        if id.is_multiple_of(13) {
            out.resubmit = Some(packet.clone());
        }
        if id.is_multiple_of(5) {
            let groups = [Some((id % 2) as u16), Some(1)];
            out.admission.replication = Some(Replication { groups, ..Replication::default() });
            out.admission.unicast = (id.is_multiple_of(10)).then_some(port);
        }
        if id.is_multiple_of(17) {
            out.mirror = Some(mirror(&packet, MirrorDirection::Ingress));
        }
        out
    };
    let egress = |input: &EgressInput, packet: Packet| {
        let plain = input.mirrored || packet.bytes[0] == PLAIN;
        let wants_copy = !plain && packet.id.0.is_multiple_of(2);
        let copy = wants_copy.then(|| mirror(&packet, MirrorDirection::Egress));
        let sent = (!packet.id.0.is_multiple_of(9)).then_some(packet);
        EgressOutput { packet: sent, mirror: copy, ..EgressOutput::default() }
    };
    Fake::new().ingress(ingress).egress(egress)
}

fn mirror(packet: &Packet, direction: MirrorDirection) -> Mirror {
    let session = (packet.id.0 % 3) as u16;
    Mirror {
        session,
        direction,
        packet: packet.clone(),
        header_len: 0,
        packet_metadata: PacketMetadata::default(),
        overrides: MirrorOverrides::default(),
    }
}

/// Tight enough that everything that can be full gets full.
fn tight() -> SwitchConfig {
    let mut config = config();
    config.cells = 300;
    let queue = |limit, priority| QueueConfig { limit, priority, ..QueueConfig::default() };
    let max = ShaperConfig::bits(Rate(GIGABIT), 1600);
    config.ports[1].queues = vec![
        queue(100, 0),
        queue(60, 3),
        QueueConfig { max_shaper: Some(max), min_shaper: Some(max), ..queue(90, 0) },
    ];
    config.ports[1].shaper = Some(ShaperConfig::bits(Rate(2 * GIGABIT), 3000));
    config.ports[2].queues = vec![queue(40, 0), queue(30, 1), queue(30, 1)];
    config.mirror.rate = Rate(GIGABIT);
    config.mirror.buffer_entries = 20;
    config.mirror.sessions.push(MirrorSession::egress(1, LOOP, 1));
    let both = sojourn_switch::SessionDirection::Both;
    let short =
        MirrorSession { max_length: 70, direction: both, ..MirrorSession::egress(2, OUT, 2) };
    config.mirror.sessions.push(short);
    let node = MulticastNode { rid: 3, l1_exclusion: None, ports: vec![OUT, LOOP, IN] };
    config.multicast.push(MulticastGroup { id: 1, nodes: vec![node] });
    config
}

fn came_into_being(s: &Statistics) -> u64 {
    s.received.packets + s.mirror.requested + s.ingress.multicast_copies
}

fn accounted_for(s: &Statistics) -> u64 {
    let queues = s.ports.iter().flat_map(|p| &p.queues);
    let dropped =
        queues.map(|q| q.tail_drops.packets + q.discipline_drops.packets + q.egress_drops.packets);
    s.sent.packets
        + dropped.sum::<u64>()
        + s.ingress.dropped.packets
        + s.ingress.unroutable.packets
        + s.ingress.multicast_originals
        + s.mirror.no_session
        + s.mirror.buffer_drops
        + s.rounds_dropped.packets
        + s.held
}

/// Arrivals: gap before it in ns, size, port.
fn arrivals() -> impl Strategy<Value = Vec<(u64, u32, bool)>> {
    prop::collection::vec((0..2_000u64, 60..1600u32, any::<bool>()), 1..300)
}

/// The same as instants, ports and packets.
fn coming(arrivals: &[(u64, u32, bool)]) -> impl Iterator<Item = (u64, PortId, Packet)> {
    let mut at = 0;
    arrivals.iter().zip(0..).map(move |(&(gap, size, front), id)| {
        at += gap;
        (at, if front { IN } else { OUT }, packet(id, size))
    })
}

fn feed(
    driver: &mut Driver,
    arrivals: &[(u64, u32, bool)],
    mut each: impl FnMut(&mut Driver, u64),
) {
    for (at, port, packet) in coming(arrivals) {
        each(driver, at);
        driver.receive(at, port, packet);
    }
}

#[test]
fn a_packet_that_nothing_comes_behind_for_an_ingress_latency_reaches_its_wire_at_once() {
    let latency = config().ingress_latency.0;
    for (quiet, reached) in [(latency, latency), (latency - 1, 0)] {
        let mut switch = Driver::p4(config(), Fake::new()).switch;
        let now = switch.receive_until(Time(0), IN, packet(1, 100), Time(quiet));
        assert_eq!(now, Time(reached));
        assert_eq!(switch.has_transmits(), reached == latency);
        switch.advance(Time(latency));
        assert!(switch.has_transmits());
    }
}

proptest! {
    #[test]
    fn every_packet_is_found_again(arrivals in arrivals()) {
        let mut driver = Driver::p4(tight(), wild_plane());
        let mut balanced = true;
        feed(&mut driver, &arrivals, |driver, at| {
            driver.run_until(at);
            let s = driver.switch.statistics();
            balanced &= came_into_being(&s) == accounted_for(&s);
            let in_queues: u32 = s.ports.iter().flat_map(|p| &p.queues).map(|q| q.cells).sum();
            balanced &= in_queues == s.buffer.cells;
        });
        prop_assert!(balanced);
        driver.finish();
        let s = driver.switch.statistics();
        prop_assert_eq!(came_into_being(&s), accounted_for(&s));
        prop_assert_eq!((s.held, s.buffer.cells, s.mirror.held), (0, 0, 0));
        prop_assert_eq!(s.sent.packets, driver.sent.len() as u64);
        for queue in s.ports.iter().flat_map(|p| &p.queues) {
            let out = queue.dequeued.packets + queue.discipline_drops.packets;
            prop_assert_eq!(queue.enqueued.packets, out);
            prop_assert_eq!((queue.cells, queue.packets), (0, 0));
        }
    }

    #[test]
    fn the_outcome_does_not_depend_on_how_often_the_driver_looks(arrivals in arrivals()) {
        let mut often = Driver::p4(tight(), wild_plane());
        feed(&mut often, &arrivals, |driver, at| driver.run_until(at));
        often.finish();
        let mut seldom = Driver::p4(tight(), wild_plane());
        feed(&mut seldom, &arrivals, |_, _| ());
        seldom.advance(Time::from_secs(1));
        prop_assert_eq!(seldom.switch.next_timer(), None);
        prop_assert_eq!(often.sent, seldom.sent);
        prop_assert_eq!(often.observed, seldom.observed);
    }

    #[test]
    fn the_outcome_does_not_depend_on_knowing_when_the_next_packet_comes(arrivals in arrivals()) {
        let mut ignorant = Driver::p4(tight(), wild_plane());
        feed(&mut ignorant, &arrivals, |driver, at| driver.run_until(at));
        ignorant.finish();
        let mut knowing = Driver::p4(tight(), wild_plane());
        let mut coming = coming(&arrivals).peekable();
        while let Some((at, port, packet)) = coming.next() {
            knowing.run_until(at);
            let next = coming.peek().map_or(u64::MAX, |(next, ..)| *next);
            let reached = knowing.switch.receive_until(Time(at), port, packet, Time(next));
            prop_assert!((at..=next).contains(&reached.0));
        }
        knowing.finish();
        prop_assert_eq!(ignorant.sent, knowing.sent);
        prop_assert_eq!(ignorant.observed, knowing.observed);
    }

    #[test]
    fn packets_on_one_wire_do_not_overlap(arrivals in arrivals()) {
        let mut driver = Driver::p4(tight(), wild_plane());
        feed(&mut driver, &arrivals, |driver, at| driver.run_until(at));
        driver.finish();
        for port in [IN, OUT] {
            let on_port: Vec<_> = driver.sent.iter().filter(|t| t.port == port).collect();
            for pair in on_port.windows(2) {
                // 12 bytes of gap at 10 Gbit/s are 9.6 ns; both instants are rounded up.
                prop_assert!(pair[0].end.0 + 9 <= pair[1].start.0);
            }
        }
    }
}

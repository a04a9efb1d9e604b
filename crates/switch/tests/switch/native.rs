//! A switch without a program: port-to-port forwarding and disciplines at the queues.

use crate::harness::*;
use sojourn_packet::{Packet, PacketId, Rate, Time};
use sojourn_switch::{CrossConnect, ShaperConfig, SwitchConfig, Transmit, Verdict, discipline};
use std::collections::BTreeMap;

fn native(config: SwitchConfig, name: &str, parameters: &[(&str, u64)]) -> Driver {
    let forwarding = BTreeMap::from([(IN, OUT), (OUT, IN)]);
    let discipline = discipline::build(name, parameters).unwrap();
    let disciplines = BTreeMap::from([((OUT, 0), discipline)]);
    Driver::with_disciplines(config, Box::new(CrossConnect::from(forwarding)), disciplines)
}

#[test]
fn packets_go_both_ways() {
    let mut driver = native(config(), "fifo", &[]);
    driver.receive(0, IN, packet(1, 1514));
    driver.receive(0, OUT, packet(2, 66));
    driver.finish();
    let ports: Vec<_> = driver.sent.iter().map(|t| (t.packet.id.0, t.port)).collect();
    assert_eq!(ports, [(1, OUT), (2, IN)]);
    // Port 68 is not in the map.
    driver.receive(10_000, LOOP, packet(3, 66));
    assert_eq!(driver.switch.statistics().ingress.dropped.packets, 1);
}

#[test]
fn a_packet_handed_in_after_its_passage_fares_as_one_that_was_handed_in_on_arrival() {
    let shaped = || {
        let mut config = config();
        config.ports[1].shaper = Some(ShaperConfig::bits(Rate(100_000_000), 1600));
        native(config, "codel", &[])
    };
    let (mut on_arrival, mut passed) = (shaped(), shaped());
    let passage = passed.switch.passage().expect("no program");
    assert_eq!(passage, SwitchConfig::default().ingress_latency);
    for (id, at) in (0..300_000_000).step_by(61_003).enumerate() {
        on_arrival.run_until(at);
        on_arrival.receive(at, IN, packet(id as u64, 1514));
        let due = Time(at) + passage;
        passed.run_until(due.0);
        passed.switch.receive_passed(due, IN, packet(id as u64, 1514));
    }
    on_arrival.finish();
    passed.finish();
    assert!(passed.rows().iter().any(|row| row.verdict == Verdict::Aqm));
    assert_eq!(passed.rows(), on_arrival.rows());
    assert_eq!(passed.sent, on_arrival.sent);
    assert_eq!(passed.switch.statistics(), on_arrival.switch.statistics());
    assert_eq!(Driver::p4(config(), Fake::new()).switch.passage(), None, "a program sees arrivals");
}

#[test]
fn a_packet_that_finds_its_port_free_fares_as_one_that_was_queued() {
    let plain = || {
        let mut config = config();
        // Room for one full frame, and not for the longest.
        config.ports[1].queues[0].limit = 20;
        let forwarding = BTreeMap::from([(IN, OUT), (OUT, IN)]);
        Driver::new(config, Box::new(CrossConnect::from(forwarding)))
    };
    let (mut queued, mut passed) = (plain(), plain());
    let passage = passed.switch.passage().expect("no program");
    let mut at = 0;
    for id in 0..20_000_u64 {
        let random = sojourn_packet::mix(id);
        at += random % 3_000;
        let (port, size) =
            (if random >> 40 & 1 == 0 { IN } else { OUT }, 60 + (random >> 20 & 2_047));
        let packet = packet(id, size as u32);
        queued.run_until(at);
        queued.receive(at, port, packet.clone());
        let due = Time(at) + passage;
        passed.run_until(due.0);
        passed.switch.receive_passed(due, port, packet);
        // No timer announces the output.
        passed.advance(due);
    }
    queued.finish();
    passed.finish();
    let verdicts = |of| passed.rows().iter().filter(|row| row.verdict == of).count();
    assert!(verdicts(Verdict::Sent) > 1_000 && verdicts(Verdict::Tail) > 1_000);
    assert_eq!(passed.rows(), queued.rows());
    assert_eq!(passed.sent, queued.sent);
    assert_eq!(passed.switch.statistics(), queued.switch.statistics());
}

#[test]
fn a_fifo_with_a_limit_drops_at_the_tail() {
    let mut driver = native(config(), "fifo", &[("limit_packets", 2)]);
    (0..5).for_each(|id| driver.receive(0, IN, packet(id, 1514)));
    driver.finish();
    let verdicts: Vec<_> = driver.rows().iter().map(|row| (row.packet.0, row.verdict)).collect();
    use Verdict::{Sent, Tail};
    assert_eq!(verdicts, [(0, Sent), (3, Tail), (4, Tail), (1, Sent), (2, Sent)]);
    let port = &driver.switch.statistics().ports[1];
    assert_eq!(port.discipline, [("over_limit", 2)]);
    assert_eq!((port.queues[0].tail_drops.packets, port.queues[0].cells), (2, 0));
    assert_eq!(port.queues[0].enqueued.packets, 3);
}

/// Ten times as much as a 100 Mbit/s port can take, for 400 ms.
fn overload(name: &str) -> Driver {
    offer(name, &[], |id| packet(id, 1514))
}

fn offer(name: &str, parameters: &[(&str, u64)], packet: impl Fn(u64) -> Packet) -> Driver {
    let mut config = config();
    config.ports[1].shaper = Some(ShaperConfig::bits(Rate(100_000_000), 1600));
    let mut driver = native(config, name, parameters);
    for (id, at) in (0..400_000_000).step_by(12_304).enumerate() {
        driver.run_until(at);
        driver.receive(at, IN, packet(id as u64));
    }
    driver
}

/// An IPv4 frame with that ECN field.
fn capable(id: u64, codepoint: u8) -> Packet {
    let mut packet = packet(id, 1514);
    packet.bytes.resize(34, 0);
    packet.bytes[12..16].copy_from_slice(&[0x08, 0x00, 0x45, codepoint]);
    packet.zeros = 1480;
    packet
}

#[test]
fn every_discipline_keeps_an_overloaded_port_busy_and_accounts_for_all_packets() {
    for registered in discipline::REGISTRY.all() {
        let mut driver = overload(registered.name);
        driver.finish();
        let statistics = driver.switch.statistics();
        let queue = statistics.ports[1].queues[0];
        let out = queue.dequeued.packets + queue.discipline_drops.packets;
        assert_eq!(queue.enqueued.packets, out, "{}", registered.name);
        assert_eq!(statistics.received.packets, out + queue.tail_drops.packets);
        assert_eq!((queue.packets, queue.cells, statistics.held), (0, 0, 0));
        // 400 ms at one packet per 122.95 us, whatever was dropped.
        assert!(queue.dequeued.packets >= 3250, "{}: {:?}", registered.name, queue.dequeued);
    }
}

#[test]
fn marks_of_a_discipline_are_seen_in_the_rows() {
    let marks = |driver: &Driver, verdict| {
        driver.rows().iter().filter(|row| row.verdict == verdict).count()
    };
    for (name, parameters, codepoint) in [
        ("codel", &[("ecn", 1)][..], 2),
        ("codel_linux", &[("ecn", 1)], 2),
        ("fq_codel", &[], 2),
        ("red", &[("ecn", 1)], 2),
        ("pie", &[("ecn", 1), ("max_burst", 0)], 2),
        ("pi2", &[("ecn", 1)], 1),
        ("dualpi2", &[], 1),
    ] {
        let driver = offer(name, parameters, |id| capable(id, codepoint));
        let counted = driver.switch.statistics().ports[1].queues[0].marked.packets;
        assert!(marks(&driver, Verdict::Mark) > 0, "{name}");
        assert_eq!(marks(&driver, Verdict::Mark) as u64, counted, "{name}");
        let incapable = offer(name, parameters, |id| capable(id, 0));
        assert_eq!(marks(&incapable, Verdict::Mark), 0, "{name}");
    }
}

#[test]
fn codel_at_a_shaped_port_drops_at_the_times_of_the_rfc() {
    let driver = overload("codel");
    let drops: Vec<_> = driver.rows().into_iter().filter(|r| r.verdict == Verdict::Aqm).collect();
    // The sojourn time of the packet dequeued at t grows with 0.9 t, so TARGET is passed at the
    // first dequeue after 5.56 ms (one each 122.95 us), and the first drop is INTERVAL after that
    // or up to one dequeue later. From then on the control law, again up to one dequeue later.
    let first = drops[0].dequeued.0;
    assert!((105_500_000..106_000_000).contains(&first), "{first}");
    let mut due = first as f64;
    for (drop, count) in drops.iter().skip(1).zip(1..) {
        due += 1e8 / f64::from(count).sqrt();
        let late = drop.dequeued.0 as f64 - due;
        assert!((-1.0..123_100.0).contains(&late), "drop {count} is {late} ns late");
    }
    // 100 + 70.7 + 57.7 + 50 > 294 ms: drops at about 106, 206, 276, 334 and 384 ms.
    assert_eq!(drops.len(), 5);
}

#[test]
fn a_native_drop_does_not_use_the_wire() {
    let (codel, fifo) = (overload("codel"), overload("fifo"));
    let starts = |driver: &Driver| driver.sent.iter().map(|t| t.start).collect::<Vec<Time>>();
    assert_eq!(starts(&codel), starts(&fifo));
    let queue = codel.switch.statistics().ports[1].queues[0];
    assert_eq!(queue.discipline_drops.packets, 5);
    assert_eq!(queue.dequeued.packets, codel.sent.len() as u64);
}

#[test]
fn a_discipline_manages_the_queue_of_any_program() {
    let discipline = discipline::build("codel", &[]).unwrap();
    let disciplines = BTreeMap::from([((OUT, 0), discipline)]);
    let shaper = Some(ShaperConfig::bits(Rate(10_000_000), 1600));
    let mut config = config();
    config.ports[1].shaper = shaper;
    let plane = Fake::new().ingress(|_, packet| to(OUT, 0, packet));
    let program = Box::new(plane);
    let mut driver = Driver::with_disciplines(config, program, disciplines);
    // Twice what the port can carry, for two seconds.
    for number in 0..3_300 {
        driver.receive(number * 606_000, IN, packet(number, 1514));
    }
    driver.finish();
    let rows = driver.rows();
    let verdicts = || rows.iter().map(|row| row.verdict);
    assert!(verdicts().filter(|verdict| *verdict == Verdict::Aqm).count() > 10);
    assert!(verdicts().filter(|verdict| *verdict == Verdict::Sent).count() > 1_500);
}

#[test]
fn a_mark_of_the_queue_survives_a_program_that_writes_headers_anew() {
    let frame = |number: u64| {
        let mut bytes = vec![0; 34];
        bytes[12..14].copy_from_slice(&[0x08, 0x00]);
        bytes[14..16].copy_from_slice(&[0x45, 0b10]);
        Packet { id: PacketId(number), bytes, zeros: 1_480, ..Packet::default() }
    };
    let discipline = discipline::build("codel", &[("ecn", 1)]).unwrap();
    let disciplines = BTreeMap::from([((OUT, 0), discipline)]);
    let mut config = config();
    config.ports[1].shaper = Some(ShaperConfig::bits(Rate(10_000_000), 1600));
    // As bmv2's deparser does it: the headers that were parsed on arrival.
    let anew = move |_: &_, packet: Packet| pass(Packet { id: packet.id, ..frame(0) });
    let plane = Fake::new().ingress(|_, packet| to(OUT, 0, packet)).egress(anew);
    let program = Box::new(plane);
    let mut driver = Driver::with_disciplines(config, program, disciplines);
    for number in 0..3_300 {
        driver.receive(number * 606_000, IN, frame(number));
    }
    driver.finish();
    let marked = |sent: &&Transmit| sent.packet.bytes[15] & 3 == 3;
    assert!(driver.sent.iter().filter(marked).count() > 10);
    assert!(driver.rows().iter().all(|row| row.verdict != Verdict::Aqm), "none is dropped");
}

/// An IPv4 packet of one of two hosts.
fn flow_packet(id: u64, host: u8, size: u32) -> Packet {
    let mut bytes = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x08, 0x00];
    bytes.extend_from_slice(&[0x45, 0, 0, 0, 0, 0, 0, 0, 64, 17, 0, 0]);
    bytes.extend_from_slice(&[10, 0, 0, host, 10, 1, 0, 1, 0, host, 0, 53, 0, 0, 0, 0]);
    let zeros = size - bytes.len() as u32;
    Packet { bytes, zeros, ..packet(id, size) }
}

#[test]
fn a_full_queue_under_fq_codel_drops_from_the_fattest_flow_and_not_what_comes_next() {
    let mut config = config();
    // 190 cells: ten full frames.
    config.ports[1].queues[0].limit = 190;
    let mut driver = native(config, "fq_codel", &[]);
    // The first packet is on the wire; the queue holds ten when a packet of another flow comes.
    (0..11).for_each(|id| driver.receive(0, IN, flow_packet(id, 1, 1514)));
    driver.receive(0, IN, flow_packet(11, 2, 1514));
    driver.finish();
    let fates = driver.rows();
    let dropped: Vec<_> = fates.iter().filter(|row| row.verdict == Verdict::Aqm).collect();
    assert!(fates.iter().all(|row| row.verdict != Verdict::Tail));
    assert_eq!(dropped.iter().map(|row| row.packet.0).collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
    assert!(fates.iter().any(|row| row.packet.0 == 11 && row.verdict == Verdict::Sent));
    let queue = driver.switch.statistics().ports[1].queues[0];
    assert_eq!((queue.cells, queue.tail_drops.packets, queue.discipline_drops.packets), (0, 0, 5));
    assert!(queue.peak_cells <= 190);
}

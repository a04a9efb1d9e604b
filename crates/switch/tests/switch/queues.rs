//! Queues, schedulers and shapers as a port shows them from outside.

use crate::harness::*;
use sojourn_packet::{Bytes, Rate, Time};
use sojourn_switch::{
    CELL, Change, DeflectionQueue, Provisioning, QueueChange, QueueConfig, ShapedRate,
    ShaperConfig, SwitchConfig, Verdict, cells_for_bytes,
};

/// A switch whose packets choose their queue at port 2 by their number.
fn by_queue(queues: Vec<QueueConfig>) -> Driver {
    let mut config = config();
    let count = queues.len() as u64;
    config.ports[1].queues = queues;
    let ingress =
        move |_: &_, packet: sojourn_packet::Packet| to(OUT, (packet.id.0 % count) as u8, packet);
    Driver::p4(config, Fake::new().ingress(ingress))
}

fn shaped(rate: u64, burst: u64) -> SwitchConfig {
    let mut config = config();
    config.ports[1].shaper = Some(ShaperConfig::bits(Rate(rate), burst));
    config
}

#[test]
fn tail_drop_begins_exactly_at_the_cell_limit() {
    let mut config = config();
    // Three packets of 19 cells fit, in addition to one on the wire.
    config.ports[1].queues[0].limit = 3 * 19;
    for (limit, sent) in [(3 * 19, 4), (3 * 19 - 1, 3)] {
        config.ports[1].queues[0].limit = limit;
        let mut driver = Driver::p4(config.clone(), Fake::new());
        (1..=6).for_each(|id| driver.receive(0, IN, packet(id, 1514)));
        driver.finish();
        assert_eq!(driver.sent.len(), sent);
        let queue = driver.switch.statistics().ports[1].queues[0];
        assert_eq!(queue.tail_drops.packets, 6 - sent as u64);
        assert_eq!(queue.peak_cells, 19 * (sent as u32 - 1));
    }
}

#[test]
fn a_tail_drop_has_a_row_with_no_time_in_the_queue() {
    let mut config = config();
    config.ports[1].queues[0].limit = 19;
    let mut driver = Driver::p4(config, Fake::new());
    (1..=3).for_each(|id| driver.receive(50, IN, packet(id, 1514)));
    driver.finish();
    let rows = driver.rows();
    let dropped = rows.iter().find(|row| row.verdict == Verdict::Tail).unwrap();
    assert_eq!((dropped.packet.0, dropped.enqueued, dropped.dequeued), (3, Time(650), Time(650)));
}

#[test]
fn the_whole_buffer_bounds_what_queues_may_hold_together() {
    let mut config = config();
    config.cells = 40;
    let mut driver = Driver::p4(config, Fake::new());
    (1..=6).for_each(|id| driver.receive(0, IN, packet(id, 1514)));
    driver.finish();
    assert_eq!(driver.sent.len(), 3);
    assert_eq!(driver.switch.statistics().buffer.peak_cells, 38);
    assert_eq!(driver.switch.statistics().buffer.cells, 0);
}

#[test]
fn a_limit_in_bytes_becomes_whole_cells() {
    assert_eq!(cells_for_bytes(Bytes(1_940_000), CELL), 24_250);
    assert_eq!(cells_for_bytes(Bytes(159), CELL), 1);
}

#[test]
fn a_shaped_port_sends_at_the_quantised_rate_on_the_wire() {
    let mut driver = Driver::p4(shaped(100_000_000, 1600), Fake::new());
    // Offered: a packet each 100 us, 123 Mbit/s, for one second.
    for (id, at) in (0..1_000_000_000).step_by(100_000).enumerate() {
        driver.run_until(at);
        driver.receive(at, IN, packet(id as u64, 1514));
    }
    let (first, last) = (driver.sent[0].start.0, driver.sent.last().unwrap().start.0);
    // The burst lets the second packet follow the first at once: count from the second on.
    let bits = (driver.sent.len() as u64 - 2) * 1538 * 8;
    let rate = bits * 1_000_000_000 / (last - driver.sent[1].start.0);
    assert!(rate.abs_diff(100_078_125) < 10_000, "{rate} bit/s from {first} on");
    let effective = driver.switch.statistics().ports[1].shaper.unwrap();
    assert_eq!(effective.rate, ShapedRate::Bits(Rate(100_078_125)));
    assert_eq!(effective.burst, 1536);
}

#[test]
fn an_idle_shaped_port_sends_its_burst_at_line_rate() {
    let mut driver = Driver::p4(shaped(100_000_000, 9216), Fake::new());
    (1..=8).for_each(|id| driver.receive(0, IN, packet(id, 1514)));
    driver.finish();
    let gaps: Vec<_> =
        driver.sent.windows(2).map(|pair| pair[1].start.0 - pair[0].start.0).collect();
    // 9216 bytes and the packet that crosses: six packets at 10 Gbit/s. While these leave, tokens
    // come in, enough for a seventh (12 bytes were missing). The eighth waits for its own 1538.
    assert!(gaps[..6].iter().all(|&gap| gap <= 1_231), "{gaps:?}");
    assert!(gaps[6] > 100_000, "{gaps:?}");
}

#[test]
fn the_compensation_is_part_of_what_shapers_count() {
    let mut config = shaped(100_000_000, 1600);
    config.ifg_compensation = 0;
    let mut driver = Driver::p4(config, Fake::new());
    (0..1000).for_each(|id| driver.receive(0, IN, packet(id, 1514)));
    driver.finish();
    let time = driver.sent[999].start.0 - driver.sent[1].start.0;
    let rate = 998 * 1518 * 8 * 1_000_000_000 / time;
    assert!(rate.abs_diff(100_078_125) < 15_000, "{rate}");
}

#[test]
fn a_queue_with_a_higher_priority_is_served_first() {
    let low = QueueConfig::default();
    let high = QueueConfig { priority: 7, ..QueueConfig::default() };
    let mut driver = by_queue(vec![low, high]);
    // Packet 0 (low) is on the wire when the others come.
    (0..8).for_each(|id| driver.receive(0, IN, packet(id, 1514)));
    driver.finish();
    let order: Vec<_> = driver.departures().iter().map(|d| d.0).collect();
    assert_eq!(order, [0, 1, 3, 5, 7, 2, 4, 6]);
}

#[test]
fn weights_divide_the_bandwidth_of_a_port() {
    let weight = |weight| QueueConfig { weight, ..QueueConfig::default() };
    let mut driver = by_queue(vec![weight(100), weight(300)]);
    for id in 0..2_000 {
        // Small packets in the heavy queue, large ones in the other: shares are of bytes.
        driver.receive(0, IN, packet(id, if id % 2 == 0 { 1514 } else { 1014 }));
    }
    // Both queues are still backlogged after 500 us (625,000 bytes of wire).
    driver.run_until(500_000);
    let bytes = |queue| {
        let sent = driver.sent.iter().filter(|t| t.packet.id.0 % 2 == queue);
        sent.map(|t| t.packet.len().0 + 4).sum::<u64>()
    };
    let share = bytes(1) as f64 / (bytes(0) + bytes(1)) as f64;
    assert!((share - 0.75).abs() < 0.005, "{share}");
}

#[test]
fn a_queue_changes_its_level_while_packets_wait() {
    let mut driver = by_queue(vec![QueueConfig::default(), QueueConfig::default()]);
    let level = |queue, level| {
        let at = QueueChange { port: Some(OUT), queue: Some(queue), ..QueueChange::default() };
        Change::Queues(QueueChange { level: Some(level), ..at })
    };
    driver.switch.change(Time::ZERO, &level(1, 7)).unwrap();
    let replaced = driver.switch.change(Time::ZERO, &level(0, 9));
    assert!(replaced.unwrap_err().to_string().contains("level is 9, allowed is 0 to 7"));
    (0..8).for_each(|id| driver.receive(0, IN, packet(id, 1514)));
    // Packets 0 and 1 leave; then queue 0 goes first.
    driver.run_until(3_000);
    driver.switch.change(Time(3_000), &level(0, 7)).unwrap();
    let replaced = driver.switch.change(Time(3_000), &level(1, 0)).unwrap();
    driver.switch.revert(replaced);
    driver.switch.change(Time(3_000), &level(1, 0)).unwrap();
    driver.finish();
    let order: Vec<_> = driver.departures().iter().map(|d| d.0).collect();
    let evens = |order: &[u64]| order.iter().filter(|id| *id % 2 == 0).count();
    assert_eq!((order[0], order[1]), (0, 1));
    assert!(order.ends_with(&[5, 7]) && evens(&order) == 4, "{order:?}");
}

/// A port of one packet's queue, whose packets ask for deflection.
fn deflecting(deflection: Vec<DeflectionQueue>) -> Driver {
    let mut config = SwitchConfig { deflection, ..config() };
    config.ports[1].queues[0].packet_limit = Some(1);
    let ask = |_: &sojourn_packet::IngressInput, packet| {
        let mut output = to(OUT, 0, packet);
        output.admission.deflect_on_drop = true;
        output
    };
    Driver::p4(config, Fake::new().ingress(ask))
}

#[test]
fn a_packet_without_room_goes_to_the_deflection_queue_of_its_pipe() {
    let mut driver = deflecting(vec![DeflectionQueue { port: IN, queue: 0 }]);
    (0..5).for_each(|id| driver.receive(0, IN, packet(id, 1514)));
    driver.finish();
    let by = |port| driver.sent.iter().filter(move |sent| sent.port == port).count();
    let statistics = driver.switch.statistics();
    let drops: u64 = statistics.ports.iter().map(|port| port.queues[0].tail_drops.packets).sum();
    assert_eq!((by(OUT) + by(IN), drops), (5, 0));
    assert_eq!(statistics.ingress.deflected.packets, by(IN) as u64);
    assert!(by(IN) > 0 && by(OUT) > 0);
}

#[test]
fn without_a_deflection_queue_the_packet_is_dropped_at_its_own() {
    // Port 68 + 128 would be another pipe's; this switch has none.
    let mut driver = deflecting(Vec::new());
    (0..5).for_each(|id| driver.receive(0, IN, packet(id, 1514)));
    driver.finish();
    let statistics = driver.switch.statistics();
    assert_eq!(statistics.ingress.deflected.packets, 0);
    let dropped = statistics.ports[1].queues[0].tail_drops.packets;
    assert_eq!(dropped as usize + driver.sent.len(), 5);
    assert!(dropped > 0);
}

#[test]
fn a_deflection_queue_is_set_and_reverted() {
    let mut driver = deflecting(Vec::new());
    let queue = |queue| Change::Deflection(DeflectionQueue { port: IN, queue });
    let refused = driver.switch.change(Time::ZERO, &queue(9)).unwrap_err();
    assert!(refused.to_string().contains("deflection"), "{refused}");
    let replaced = driver.switch.change(Time::ZERO, &queue(0)).unwrap();
    driver.switch.revert(replaced);
    (0..5).for_each(|id| driver.receive(0, IN, packet(id, 1514)));
    driver.finish();
    assert_eq!(driver.switch.statistics().ingress.deflected.packets, 0);
}

#[test]
fn a_maximum_rate_leaves_the_rest_to_lower_priorities() {
    let max = ShaperConfig::bits(Rate(GIGABIT), 16384);
    let high = QueueConfig { priority: 7, max_shaper: Some(max), ..QueueConfig::default() };
    let mut driver = by_queue(vec![QueueConfig::default(), high]);
    (0..4_000).for_each(|id| driver.receive(0, IN, packet(id, 1514)));
    driver.run_until(1_000_000);
    let high = driver.sent.iter().filter(|t| t.packet.id.0 % 2 == 1).count() as u64;
    // 1 Gbit/s (1000.78) for 1 ms and a burst of 16384 bytes: 141.5 kB / 1538 = 92 packets.
    assert!(high.abs_diff(92) <= 1, "{high}");
    let all = driver.sent.len() as u64;
    assert!(all.abs_diff(1_000_000 * 10 / (1538 * 8)) <= 1, "{all}");
}

#[test]
fn a_guaranteed_rate_holds_against_a_higher_priority() {
    let min = ShaperConfig::bits(Rate(2 * GIGABIT), 3200);
    let low = QueueConfig { min_shaper: Some(min), ..QueueConfig::default() };
    let high = QueueConfig { priority: 7, ..QueueConfig::default() };
    let mut driver = by_queue(vec![low, high]);
    (0..4_000).for_each(|id| driver.receive(0, IN, packet(id, 1514)));
    driver.run_until(1_000_000);
    let low = driver.sent.iter().filter(|t| t.packet.id.0 % 2 == 0).count() as f64;
    // 2001.6 Mbit/s for 1 ms and a burst of 3072 bytes: 253.3 kB / 1538 = 165 packets.
    assert!((low - 165.0).abs() <= 1.0, "{low}");
}

#[test]
fn a_packet_rate_counts_packets() {
    let mut config = config();
    config.ports[1].shaper = Some(ShaperConfig {
        rate: ShapedRate::Packets(100_000),
        burst: 1024,
        provisioning: Provisioning::MinError,
    });
    let mut driver = Driver::p4(config, Fake::new());
    (0..2025).for_each(|id| driver.receive(0, IN, packet(id, 64 + id as u32 % 100)));
    driver.finish();
    let effective = driver.switch.statistics().ports[1].shaper.unwrap().rate.per_second();
    // The first 1025 are the burst, a few more pay with what came in meanwhile; then one by one.
    let time = driver.sent[2024].start.0 - driver.sent[1100].start.0;
    let rate = 924 * 1_000_000_000 / time;
    assert!(rate.abs_diff(effective) * 10_000 < effective, "{rate} {effective}");
}

#[test]
fn a_port_is_used_to_the_last_nanosecond() {
    let mut driver = Driver::p4(config(), Fake::new());
    (0..1000).for_each(|id| driver.receive(0, IN, packet(id, 1514)));
    driver.finish();
    // 999 slots of 1230.4 ns.
    let time = driver.sent[999].start.0 - driver.sent[0].start.0;
    assert!(time.abs_diff(1_229_170) <= 1, "{time}");
    assert_eq!(driver.bytes_sent(), Bytes(1_514_000));
}

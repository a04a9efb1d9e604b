//! Pools of the packet buffer and dynamic thresholds, set while the switch runs.

use crate::harness::*;
use sojourn_packet::Time;
use sojourn_switch::{
    Change, PauseRule, PauseStatistics, PauseThreshold, QueueChange, QueueConfig, ShareChange,
    SwitchConfig,
};

/// A switch whose packets choose one of `queues` paused queues at port 2 by their number.
fn paused(queues: u64, cells: u32) -> Driver {
    let mut config = SwitchConfig { cells, ..config() };
    let queue = QueueConfig { paused: true, limit: u32::MAX, ..QueueConfig::default() };
    config.ports[1].queues = vec![queue; queues as usize];
    let ingress =
        move |_: &_, packet: sojourn_packet::Packet| to(OUT, (packet.id.0 % queues) as u8, packet);
    Driver::p4(config, Fake::new().ingress(ingress))
}

fn share(queue: Option<u8>, share: ShareChange) -> Change {
    Change::Queues(QueueChange { port: Some(OUT), queue, share, ..QueueChange::default() })
}

fn cells(driver: &Driver) -> Vec<u32> {
    driver.switch.statistics().ports[1].queues.iter().map(|queue| queue.cells).collect()
}

#[test]
fn thresholds_that_are_set_while_packets_wait_hold_for_the_next_ones() {
    let mut driver = paused(2, 3_000);
    driver.switch.change(Time::ZERO, &Change::Pool(1, Some(900))).unwrap();
    let dynamic = ShareChange { pool: Some(1), alpha: Some(Some(1_000_000)), ..Default::default() };
    driver.switch.change(Time::ZERO, &share(None, dynamic)).unwrap();
    (0..1_200).for_each(|id| driver.receive(0, IN, packet(id, 60)));
    driver.finish();
    // alpha B / (1 + n alpha) = 900 / 3.
    assert_eq!(cells(&driver), [300, 300]);
    let pools = driver.switch.pools().map(|pool| (pool.size, pool.usage.cells, pool.usage.peak));
    assert_eq!(pools, [(2_100, 0, 0), (900, 600, 600), (0, 0, 0), (0, 0, 0)]);
    // Queue 1 moves to the rest of the buffer, with cells of its own.
    let own = ShareChange { pool: Some(0), guaranteed: Some(100), ..Default::default() };
    let replaced = driver.switch.change(driver.now(), &share(Some(1), own)).unwrap();
    let used = |driver: &Driver| driver.switch.pools().map(|pool| (pool.size, pool.usage.cells));
    assert_eq!(used(&driver)[..2], [(2_000, 200), (900, 300)]);
    driver.switch.revert(replaced);
    assert_eq!(used(&driver)[..2], [(2_100, 0), (900, 600)]);
    // A floor lets a queue in that the threshold would refuse.
    let floor = ShareChange { floor: Some(310), ..Default::default() };
    driver.switch.change(driver.now(), &share(Some(0), floor)).unwrap();
    let now = driver.now().0;
    (0..40).for_each(|id| driver.receive(now, IN, packet(2_000 + id, 60)));
    driver.finish();
    assert_eq!(cells(&driver), [310, 300]);
}

#[test]
fn a_pool_that_becomes_smaller_than_what_it_holds_takes_nothing_until_it_has_room() {
    let mut driver = paused(1, 1_000);
    (0..600).for_each(|id| driver.receive(0, IN, packet(id, 60)));
    driver.finish();
    driver.switch.change(driver.now(), &Change::Pool(0, Some(500))).unwrap();
    let now = driver.now().0;
    driver.receive(now, IN, packet(700, 60));
    driver.finish();
    assert_eq!(cells(&driver), [600]);
    let resume = QueueChange { paused: Some(false), ..QueueChange::default() };
    driver.switch.change(driver.now(), &Change::Queues(resume)).unwrap();
    driver.finish();
    assert_eq!((cells(&driver), driver.switch.pools()[0].usage.cells), (vec![0], 0));
}

#[test]
fn more_cells_than_the_buffer_has_are_refused_and_change_nothing() {
    let mut driver = paused(2, 1_000);
    let refused = |driver: &mut Driver, change| {
        let before = driver.switch.pools();
        let why = driver.switch.change(Time::ZERO, &change).unwrap_err().to_string();
        assert_eq!(driver.switch.pools(), before);
        why
    };
    let change = |share| QueueChange { share, ..QueueChange::default() };
    let why = refused(&mut driver, Change::Pool(1, Some(1_001)));
    assert!(why.contains("take 1001 cells of a buffer of 1000"), "{why}");
    let why = refused(&mut driver, Change::Pool(4, Some(1)));
    assert!(why.contains("no pool 4") && why.contains("0 to 3"), "{why}");
    driver.switch.change(Time::ZERO, &Change::Pool(1, Some(900))).unwrap();
    let own = ShareChange { guaranteed: Some(30), headroom: Some(21), ..Default::default() };
    let why = refused(&mut driver, Change::Queues(change(own)));
    assert!(why.contains("cells of a buffer of 1000"), "{why}");
    let far = ShareChange { alpha: Some(Some(1_024_000_001)), ..Default::default() };
    let why = refused(&mut driver, Change::Queues(change(far)));
    assert!(why.contains("up to 1024 times"), "{why}");
    let settings = driver.switch.queue_settings(OUT, 1).unwrap();
    assert_eq!((settings.share.reserve.guaranteed, settings.share.alpha), (0, None));
    assert!(settings.paused && driver.switch.queue_settings(OUT, 2).is_none());
}

#[test]
fn pauses_are_counted_at_the_port_by_which_packets_come() {
    let threshold = PauseThreshold::Cells(3 * 19);
    let rule = PauseRule { threshold, resume_below: 19, headroom: 19 };
    let mut driver = Driver::p4(SwitchConfig { pause: Some(rule), ..config() }, Fake::new());
    // One is on the wire; of the others the fourth is in the headroom, the fifth beyond it.
    (1..=6).for_each(|id| driver.receive(0, IN, packet(id, 1514)));
    driver.run_until(600);
    let counted = |driver: &Driver| driver.switch.statistics().ports[0].pauses;
    let pauses = PauseStatistics { pauses: 1, paused: Time::ZERO, beyond_headroom: 1 };
    assert_eq!(counted(&driver), pauses);
    driver.finish();
    // Two packets are left when three have gone, a slot of 1,230.4 ns each, to the next whole ns.
    assert_eq!(counted(&driver), PauseStatistics { paused: Time(3 * 1_230 + 2), ..pauses });
    assert_eq!(driver.switch.statistics().ports[1].pauses, PauseStatistics::default());
    driver.receive(100_000, IN, packet(7, 1514));
    driver.finish();
    assert_eq!(counted(&driver).pauses, 1);
}

#[test]
fn saturated_queues_of_active_buffer_management_hold_by_what_they_send() {
    let mut config = SwitchConfig { cells: 30_000, ..config() };
    let queue = |weight| QueueConfig {
        weight,
        limit: u32::MAX,
        alpha: Some(1_000_000),
        active: true,
        ..QueueConfig::default()
    };
    config.ports[1].queues = vec![queue(250), queue(750)];
    let ingress = |_: &_, packet: sojourn_packet::Packet| to(OUT, (packet.id.0 % 2) as u8, packet);
    let mut driver = Driver::p4(config, Fake::new().ingress(ingress));
    // Twice what the port sends.
    (0..9_000).for_each(|id| {
        driver.run_until(id * 615);
        driver.receive(id * 615, IN, packet(id, 1514));
    });
    // alpha B / (1 + alpha), a quarter of it the first queue's.
    for (cells, settled) in cells(&driver).into_iter().zip([3_750.0, 11_250.0]) {
        assert!((f64::from(cells) / settled - 1.0).abs() < 0.08, "{cells} {settled}");
    }
}

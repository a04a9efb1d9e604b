//! Scheduler nodes between queues and port: priority, weight, rate, and the queues attached.

use crate::harness::*;
use sojourn_packet::{Rate, SchedulerNodes, Time};
use sojourn_switch::{
    Change, ConfigError, NodeChange, PortConfig, QueueChange, QueueConfig, ShaperConfig,
    SwitchConfig,
};

/// Four queues at port 2, of which packets choose one by their number.
fn four() -> SwitchConfig {
    let mut config = config();
    config.nodes = Some(SchedulerNodes { group_ports: 8, count: 32 });
    config.ports[1].queues = vec![QueueConfig::default(); 4];
    config
}

fn driver(config: SwitchConfig) -> Driver {
    let ingress = |_: &_, packet: sojourn_packet::Packet| to(OUT, (packet.id.0 % 4) as u8, packet);
    Driver::p4(config, Fake::new().ingress(ingress))
}

fn node(node: u8) -> NodeChange {
    NodeChange { port: OUT, node, ..NodeChange::default() }
}

/// Puts queues 1 to 3 below node 8; queue 0 stays below the port's own.
fn split(driver: &mut Driver, change: NodeChange) {
    driver.switch.change(Time::ZERO, &Change::Node(change)).unwrap();
    for queue in 1..4 {
        put(driver, queue, 8).unwrap();
    }
}

fn put(driver: &mut Driver, queue: u8, node: u8) -> Result<(), ConfigError> {
    let at = QueueChange { port: Some(OUT), queue: Some(queue), ..QueueChange::default() };
    let change = Change::Queues(QueueChange { node: Some(node), ..at });
    driver.switch.change(driver.now(), &change).map(drop)
}

/// Bytes of each queue in the first 500 us, all of which are backlogged.
fn bytes(driver: &mut Driver) -> [u64; 4] {
    (0..4_000).for_each(|id| driver.receive(0, IN, packet(id, 1014)));
    driver.run_until(500_000);
    let mut bytes = [0; 4];
    for sent in &driver.sent {
        bytes[(sent.packet.id.0 % 4) as usize] += sent.packet.len().0 + 4;
    }
    bytes
}

#[track_caller]
fn shares(bytes: [u64; 4], expected: [f64; 4]) {
    let total: u64 = bytes.iter().sum();
    for (got, expected) in bytes.iter().zip(expected) {
        let got = *got as f64 / total as f64;
        assert!((got - expected).abs() < 0.01, "{bytes:?}");
    }
}

#[test]
fn a_port_divides_its_rate_among_nodes_and_a_node_among_its_queues() {
    let mut own = driver(four());
    shares(bytes(&mut own), [0.25; 4]);
    let mut two = driver(four());
    split(&mut two, NodeChange { weight: Some(1023), ..node(8) });
    let each = 1.0 / 6.0;
    shares(bytes(&mut two), [0.5, each, each, each]);
    let mut heavy = driver(four());
    split(&mut heavy, NodeChange { weight: Some(341), ..node(8) });
    let each = 0.25 / 3.0;
    shares(bytes(&mut heavy), [0.75, each, each, each]);
}

#[test]
fn a_node_with_a_higher_priority_goes_first_and_its_rate_bounds_it() {
    let shaper = Some(Some(ShaperConfig::bits(Rate(2 * GIGABIT), 16_384)));
    let mut first = driver(four());
    let change = NodeChange { level: Some(3), max_shaper: shaper, ..node(8) };
    split(&mut first, change);
    let bytes = bytes(&mut first);
    let bits = bytes[1..].iter().sum::<u64>() * 8 * 1_038 / 1_018;
    // 2 Gbit/s on the wire for 500 us, and one burst.
    assert!((1_000_000..1_000_000 + 16_384 * 8 + 20_000).contains(&bits), "{bytes:?}");
    let settings = first.switch.nodes(OUT);
    assert_eq!(settings[1].queues, [1, 2, 3]);
    // As the registers of the shaper hold it.
    let rate = settings[1].max_shaper.unwrap().rate.per_second();
    assert_eq!(rate, 2_001_562_500);
}

#[test]
fn a_node_has_its_guaranteed_rate_whatever_its_priority() {
    let mut last = driver(four());
    let own = NodeChange { level: Some(7), ..node(2) };
    last.switch.change(Time::ZERO, &Change::Node(own)).unwrap();
    let min_shaper = Some(Some(ShaperConfig::bits(Rate(GIGABIT), 4_096)));
    split(&mut last, NodeChange { min_shaper, ..node(8) });
    let bytes = bytes(&mut last);
    let share = bytes[1..].iter().sum::<u64>() as f64 / bytes.iter().sum::<u64>() as f64;
    assert!((share - 0.1).abs() < 0.01, "{bytes:?}");
}

#[test]
fn priority_propagation_gives_a_node_the_highest_priority_of_its_queues() {
    for (propagates, share) in [(false, [0.5, 0.0, 0.0, 0.5]), (true, [0.0, 0.0, 0.0, 1.0])] {
        let mut driver = driver(four());
        let change = NodeChange { weight: Some(1023), propagates: Some(propagates), ..node(8) };
        split(&mut driver, change);
        let at = QueueChange { port: Some(OUT), queue: Some(3), ..QueueChange::default() };
        let high = Change::Queues(QueueChange { level: Some(5), ..at });
        driver.switch.change(Time::ZERO, &high).unwrap();
        shares(bytes(&mut driver), share);
    }
}

#[test]
fn a_paused_node_sends_nothing_until_it_is_resumed() {
    let mut driver = driver(four());
    split(&mut driver, NodeChange { paused: Some(true), ..node(8) });
    (0..8).for_each(|id| driver.receive(0, IN, packet(id, 1014)));
    driver.finish();
    assert_eq!(driver.sent.len(), 2);
    let resume = NodeChange { paused: Some(false), ..node(8) };
    driver.switch.change(Time(50_000), &Change::Node(resume)).unwrap();
    driver.finish();
    assert_eq!(driver.sent.len(), 8);
}

#[test]
fn a_rejected_change_of_nodes_has_no_effect_and_a_revert_restores() {
    let mut driver = driver(four());
    let before = driver.switch.nodes(OUT);
    assert_eq!(
        put(&mut driver, 1, 8).unwrap_err().to_string(),
        "port 2 has no scheduler node 8 in use; a queue goes to one that its port has"
    );
    let refused = |driver: &mut Driver, change| {
        driver.switch.change(Time::ZERO, &change).unwrap_err().to_string()
    };
    let of_other = refused(&mut driver, Change::Node(node(1)));
    assert!(of_other.starts_with("scheduler node 1 is that of port 1"), "{of_other}");
    let level = refused(&mut driver, Change::Node(NodeChange { level: Some(8), ..node(8) }));
    assert!(level.contains("level of a node is 8, allowed is 0 to 7"), "{level}");
    let number = refused(&mut driver, Change::Node(node(32)));
    assert!(number.contains("has nodes 0 to 31"), "{number}");
    let busy = refused(&mut driver, Change::NoNode(OUT, 2));
    assert_eq!(busy, "scheduler node 2 of port 2 has queues; they go to other nodes first");
    let replaced = driver.switch.change(Time::ZERO, &Change::Node(node(8))).unwrap();
    assert_eq!(driver.switch.nodes(OUT).len(), 2);
    driver.switch.revert(replaced);
    assert_eq!(driver.switch.nodes(OUT), before);
    let ports = vec![PortConfig::front(IN, Rate(1)), PortConfig::front(OUT, Rate(1))];
    let mut first = Driver::p4(SwitchConfig { ports, ..SwitchConfig::default() }, Fake::new());
    let none = refused(&mut first, Change::Node(node(8)));
    assert_eq!(
        none,
        "this switch has no scheduler nodes between queues and ports: the architecture is of a chip without"
    );
}

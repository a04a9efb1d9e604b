//! Packet generators: what triggers them, when their packets come and what is in front of them.

use crate::harness::*;
use sojourn_packet::{IngressInput, IngressOutput, Packet, PortId, Time};
use sojourn_switch::{Application, Change, GeneratorChange, Switch, Trigger};

fn change(switch: &mut Switch, now: u64, change: GeneratorChange) {
    switch.change(Time(now), &Change::Generator(change)).unwrap();
}

fn set(switch: &mut Switch, now: u64, application: Application) {
    change(switch, now, GeneratorChange::Application(0, 3, Box::new(application)));
}

/// Two batches of two packets of 60 bytes, far apart.
fn application(trigger: Trigger) -> Application {
    Application {
        trigger,
        length: 60,
        offset: 32,
        source_port: 5,
        batches: 1,
        packets: 1,
        batch_gap: Time(1_000),
        packet_gap: Time(100),
        enabled: true,
        ..Application::default()
    }
}

/// A switch that generates, and drops what comes from its generator.
fn driver() -> Driver {
    let ingress = |input: &IngressInput, packet: Packet| match input.port {
        PortId(5 | 6) => IngressOutput::default(),
        IN => to(LOOP, 0, packet),
        _ => to(OUT, 0, packet),
    };
    let mut driver = Driver::p4(config(), Fake::new().ingress(ingress));
    change(&mut driver.switch, 0, GeneratorChange::Generates(0, true));
    change(&mut driver.switch, 0, GeneratorChange::Buffer(0, 32, (1..=60).collect()));
    driver
}

/// Times of packets from the generator, and their headers.
fn generated(driver: &Driver) -> Vec<(u64, Vec<u8>)> {
    let log = driver.ingress_log.lock().unwrap();
    let mine = log.iter().filter(|(input, _)| matches!(input.port, PortId(5 | 6)));
    let shown = mine.map(|(input, packet)| {
        assert_eq!(packet.bytes[6..], (1..=60).collect::<Vec<u8>>());
        (input.now.0, packet.bytes[..6].to_vec())
    });
    shown.collect()
}

#[test]
fn a_timer_makes_batches_of_numbered_packets() {
    let mut driver = driver();
    set(&mut driver.switch, 10, application(Trigger::Once(Time(500))));
    driver.switch.advance(Time(1_000_000));
    let head = |batch, packet| vec![3, 0, 0, batch, 0, packet];
    let made = [(510, head(0, 0)), (610, head(0, 1)), (1_510, head(1, 0)), (1_610, head(1, 1))];
    assert_eq!(generated(&driver), made);
    let now = driver.switch.generators().application(0, 3);
    assert_eq!((now.triggered, now.batches_made, now.packets_made), (1, 2, 4));
}

#[test]
fn packets_without_gaps_follow_each_other_at_100_gigabits() {
    let mut driver = driver();
    let close = Application {
        batch_gap: Time::ZERO,
        packet_gap: Time::ZERO,
        increments: true,
        ..application(Trigger::Once(Time(500)))
    };
    set(&mut driver.switch, 0, Application { batches: 0, ..close });
    driver.switch.advance(Time(1_000_000));
    // 60 + 6 + 24 bytes are 7.2 ns.
    let times: Vec<u64> = generated(&driver).iter().map(|(at, _)| *at).collect();
    assert_eq!(times, [500, 508]);
    let ports: Vec<u16> =
        driver.ingress_log.lock().unwrap().iter().map(|(i, _)| i.port.0).collect();
    assert_eq!(ports, [5, 6]);
}

#[test]
fn a_periodic_timer_goes_on_until_it_is_switched_off() {
    let mut driver = driver();
    let often = Application { batches: 0, packets: 0, ..application(Trigger::Every(Time(1_000))) };
    set(&mut driver.switch, 0, often);
    driver.switch.advance(Time(3_500));
    set(&mut driver.switch, 3_500, Application { enabled: false, ..often });
    driver.switch.advance(Time(1_000_000));
    assert_eq!(generated(&driver).len(), 3);
    assert_eq!(driver.switch.next_timer(), None);
}

#[test]
fn a_port_that_goes_down_triggers_once_each_time_that_it_is_armed() {
    let mut driver = driver();
    let down = Application { batches: 0, packets: 0, ..application(Trigger::PortDown) };
    set(&mut driver.switch, 0, down);
    driver.switch.link_down(Time(5), IN);
    change(&mut driver.switch, 6, GeneratorChange::Arm(IN));
    driver.switch.link_down(Time(7), IN);
    driver.switch.link_down(Time(8), IN);
    driver.switch.link_down(Time(9), OUT);
    driver.switch.advance(Time(1_000_000));
    assert_eq!(generated(&driver), [(7, vec![3, 0, 0, IN.0 as u8, 0, 0])]);
}

#[test]
fn a_packet_that_comes_back_triggers_if_it_begins_as_it_should() {
    let mut driver = driver();
    let trigger = Trigger::Pattern { value: 0xaa12_3400, mask: 0xffff_ff00 };
    set(&mut driver.switch, 0, Application { batches: 0, packets: 0, ..application(trigger) });
    let mut own = packet(1, 100);
    own.bytes.splice(0..4, [0xaa, 0x12, 0x34, 0x56]).for_each(drop);
    driver.receive(0, IN, own.clone());
    driver.switch.advance(Time(100_000));
    assert_eq!(generated(&driver), []);
    change(&mut driver.switch, 100_000, GeneratorChange::Matches(0, true));
    driver.receive(100_000, IN, packet(2, 100));
    driver.receive(200_000, IN, own);
    driver.switch.advance(Time(1_000_000));
    let heads: Vec<Vec<u8>> = generated(&driver).into_iter().map(|(_, head)| head).collect();
    assert_eq!(heads, [vec![3, 0x12, 0x34, 0x56, 0, 0]]);
}

#[test]
fn a_trigger_waits_for_the_one_before_it() {
    let mut driver = driver();
    let slow = Application {
        batches: 0,
        packets: 1,
        packet_gap: Time(1_500),
        ..application(Trigger::Every(Time(1_000)))
    };
    set(&mut driver.switch, 0, slow);
    driver.switch.advance(Time(4_100));
    let times: Vec<u64> = generated(&driver).iter().map(|(at, _)| *at).collect();
    assert_eq!(times, [1_000, 2_500, 2_508, 4_008, 4_016]);
}

#[test]
fn what_is_taken_back_was_never_set() {
    let mut driver = driver();
    let often = Application { batches: 0, packets: 0, ..application(Trigger::Every(Time(1_000))) };
    set(&mut driver.switch, 0, often);
    let off = Application { enabled: false, ..often };
    let off = Change::Generator(GeneratorChange::Application(0, 3, Box::new(off)));
    let off = driver.switch.change(Time(500), &off).unwrap();
    let other = Change::Generator(GeneratorChange::Application(0, 4, Box::new(often)));
    let other = driver.switch.change(Time(500), &other).unwrap();
    driver.switch.revert(other);
    driver.switch.revert(off);
    driver.switch.advance(Time(2_600));
    let heads: Vec<u8> = generated(&driver).iter().map(|(_, head)| head[0]).collect();
    assert_eq!(heads, [3, 3]);
}

#[test]
fn what_the_chip_cannot_do_is_refused() {
    let mut driver = driver();
    let mut refused = |number, application: Application| {
        let set = GeneratorChange::Application(0, number, Box::new(application));
        driver.switch.change(Time(0), &Change::Generator(set)).unwrap_err().to_string()
    };
    let good = application(Trigger::Every(Time(1)));
    assert_eq!(refused(8, good), "a packet generator has applications 0 to 7, not 8");
    let why = refused(0, Application { offset: 16_368, ..good });
    assert_eq!(why, "60 bytes at 16368 are not in a buffer of 16384 bytes");
    let why = refused(0, Application { offset: 8, ..good });
    assert_eq!(why, "packets begin with a line of 16 bytes, not at 8");
    assert_eq!(refused(0, application(Trigger::Every(Time::ZERO))), "a timer of 0 ns");
    assert_eq!(refused(0, Application { length: 0, ..good }), "packets of 0 bytes");
}

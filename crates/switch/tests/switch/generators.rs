//! Packet generators: triggers, times of their packets, headers, and the limits of the chip.

use crate::harness::*;
use sojourn_packet::{IngressInput, IngressOutput, Packet, PacketGenerator, PortId, Time};
use sojourn_switch::{
    Application, Change, GeneratorChange, GeneratorSetting, Generators, Switch, Trigger,
};

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
    change(&mut driver.switch, 0, GeneratorChange::Generates(LOOP, true));
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
    change(&mut driver.switch, 100_000, GeneratorChange::Matches(LOOP, true));
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
fn rollback_removes_a_setting() {
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
fn bytes_that_are_taken_back_were_never_written() {
    let mut driver = driver();
    let write = Change::Generator(GeneratorChange::Buffer(0, 32, vec![9; 60]));
    let written = driver.switch.change(Time(500), &write).unwrap();
    assert_eq!(driver.switch.generators().buffer(0, 32, 2), [9, 9]);
    driver.switch.revert(written);
    assert_eq!(driver.switch.generators().buffer(0, 32, 2), [1, 2]);
    let beyond = Change::Generator(GeneratorChange::Buffer(0, 16_380, vec![9; 5]));
    let why = driver.switch.change(Time(500), &beyond).unwrap_err().to_string();
    assert_eq!(why, "5 bytes at 16380 are not in a buffer of 16384 bytes");
}

#[test]
fn a_batch_that_is_shortened_behind_its_pending_packet_makes_that_packet_by_a_port_of_the_pipe() {
    let long = GeneratorSetting { packets: 65_536, ..setting(1, 11) };
    let mut generators = Generators::with(Some(GENERATOR), 1, &[long]).unwrap();
    // All but the last packet of the batch.
    let last = std::iter::from_fn(|| generators.step(Time::MAX)).nth(65_534);
    assert_eq!(last.unwrap().1.bytes[4..6], [0xff, 0xfe]);
    let shorter = Application { packets: 0, increments: true, ..generators.application(0, 1) };
    let shorter = GeneratorChange::Application(0, 1, Box::new(shorter));
    generators.change(Time::MAX, &shorter).unwrap();
    let (port, packet) = generators.step(Time::MAX).unwrap();
    assert_eq!(packet.bytes[4..6], [0xff, 0xff]);
    // 68 + 65,535 in 16 bits.
    assert_eq!(port, PortId(67));
}

#[test]
fn operations_that_the_chip_lacks_are_refused() {
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
    let why = refused(0, application(Trigger::Every(Time::ZERO)));
    assert_eq!(why, "a period of 0 ns; a periodic timer has 1 ns at least");
    let why = refused(0, Application { length: 10, ..good });
    assert_eq!(why, "a packet of 10 bytes; the generator makes 11 at least behind its header");
    let why = refused(0, Application { source_port: 127, increments: true, ..good });
    assert_eq!(why, "packets of a batch come in by port 128; ports of a pipe are 0 to 127");
    let why = refused(0, application(Trigger::PortDown));
    assert!(why.starts_with("2 batches; a port that goes down makes one"), "{why}");
}

/// A periodic application with contents of its own.
fn setting(number: u8, length: usize) -> GeneratorSetting {
    GeneratorSetting {
        number,
        trigger: Trigger::Every(Time(1_000)),
        contents: vec![number; length],
        batches: 1,
        packets: 1,
        ..GeneratorSetting::default()
    }
}

#[test]
fn a_whole_setting_finds_a_place_in_the_buffer_and_comes_in_by_the_generators_port() {
    let generated = vec![setting(1, 20), setting(7, 11)];
    let ingress = |_: &IngressInput, _: Packet| IngressOutput::default();
    let config = sojourn_switch::SwitchConfig { generated, ..config() };
    let mut driver = Driver::p4(config, Fake::new().ingress(ingress));
    driver.switch.advance(Time(1_500));
    let log = driver.ingress_log.lock().unwrap();
    let seen: Vec<_> = log.iter().map(|(input, p)| (input.now.0, input.port, &p.bytes)).collect();
    let bytes = |number: u8, length| [vec![number, 0, 0, 0, 0, 0], vec![number; length]].concat();
    assert_eq!(seen, [(1_000, LOOP, &bytes(1, 20)), (1_000, LOOP, &bytes(7, 11))]);
    assert!(log.iter().all(|(_, packet)| packet.id.is_generated()));
    let generators = driver.switch.generators();
    assert_eq!([1, 7].map(|number| generators.application(0, number).offset), [0, 32]);
    assert_eq!(driver.switch.statistics().generated.packets, 2);
    assert_eq!(driver.switch.statistics().generated.bytes, 26 + 17);
}

#[test]
fn a_setting_at_run_time_replaces_its_application_and_begins_anew() {
    let mut driver = driver();
    change(&mut driver.switch, 0, GeneratorChange::Whole(Box::new(setting(3, 20))));
    driver.switch.advance(Time(500));
    change(&mut driver.switch, 500, GeneratorChange::Whole(Box::new(setting(3, 30))));
    driver.switch.advance(Time(2_600));
    let times = driver.ingress_log.lock().unwrap().iter().map(|(i, _)| i.now.0).collect::<Vec<_>>();
    assert_eq!(times, [1_500, 2_500]);
    change(&mut driver.switch, 2_600, GeneratorChange::Disable(0, 3));
    driver.switch.advance(Time(10_000));
    assert_eq!(driver.ingress_log.lock().unwrap().len(), 2);
    assert_eq!(driver.switch.next_timer(), None);
}

#[test]
fn a_row_is_not_written_for_a_generated_packet() {
    let mut driver = Driver::p4(config(), Fake::new());
    change(&mut driver.switch, 0, GeneratorChange::Whole(Box::new(setting(3, 60))));
    driver.switch.advance(Time(5_900));
    assert_eq!(driver.switch.take_transmits().count(), 5);
    assert_eq!(driver.switch.take_observations().count(), 0);
}

#[test]
fn settings_beyond_the_chip_are_refused_with_their_key() {
    let refused = |settings: &[GeneratorSetting]| {
        Generators::with(Some(GENERATOR), 2, settings).unwrap_err().to_string()
    };
    let good = setting(1, 60);
    let with = |change: &dyn Fn(&mut GeneratorSetting)| {
        let mut changed = good.clone();
        change(&mut changed);
        refused(&[setting(0, 60), changed])
    };
    let why = with(&|s| s.number = 8);
    assert_eq!(why, "pktgen[1].app: a packet generator has applications 0 to 7, not 8");
    assert_eq!(with(&|s| s.number = 0), "pktgen[1].app: application 0 of pipe 0 is set twice");
    let why = with(&|s| s.pipe = 2);
    assert_eq!(why, "pktgen[1].pipe: the switch has no pipe 2; its pipes are 0 to 1");
    let why = with(&|s| s.port = Some(5));
    let reason = "port 5 is not the packet generator's; ports 68 to 71 of a pipe are";
    assert_eq!(why, format!("pktgen[1].port: {reason}"));
    let why = with(&|s| s.contents = vec![0; 16_385]);
    assert!(why.starts_with("pktgen[1].packet: a packet of 16385 bytes; the buffer"), "{why}");
    let why = with(&|s| s.contents = vec![0; 16_384]);
    assert!(why.contains("and 16320 in one piece are free"), "{why}");
    let why = with(&|s| s.trigger = Trigger::Every(Time::ZERO));
    assert!(why.starts_with("pktgen[1].trigger.periodic: a period of 0 ns"), "{why}");
    let why = with(&|s| s.trigger = Trigger::Once(Time(1 << 32)));
    assert!(why.starts_with("pktgen[1].trigger.one_shot: 4294967296 ns"), "{why}");
    let why = with(&|s| s.packet_gap = Time(1 << 32));
    assert!(why.starts_with("pktgen[1].packet_gap: 4294967296 ns"), "{why}");
    assert_eq!(with(&|s| s.batches = 0), "pktgen[1].batches: 0; it can be 1 to 65536");
    assert_eq!(with(&|s| s.packets = 65_537), "pktgen[1].packets: 65537; it can be 1 to 65536");
    let why = with(&|s| s.trigger = Trigger::Pattern { value: 1 << 32, mask: 0 });
    assert!(why.starts_with("pktgen[1].trigger.pattern: the pattern has more bits"), "{why}");
    let none = Generators::with(None, 1, std::slice::from_ref(&good)).unwrap_err().to_string();
    assert!(none.starts_with("pktgen[0]: this switch has no packet generator"), "{none}");
}

#[test]
fn the_second_chip_has_sixteen_applications_and_repeats_the_pattern_behind_the_header() {
    let chip = PacketGenerator {
        application_bits: 4,
        ports: (0, 7),
        default_port: 6,
        shortest: 59,
        pattern_bytes: 16,
        repeats_pattern: true,
        ..GENERATOR
    };
    let first: [u8; 16] = std::array::from_fn(|at| at as u8);
    let pattern = Trigger::Pattern { value: u128::from_be_bytes(first), mask: u128::MAX };
    let by_pattern = GeneratorSetting { pipe: 1, batches: 2, trigger: pattern, ..setting(15, 60) };
    let mut generators = Generators::with(Some(chip), 2, &[by_pattern]).unwrap();
    let back = Packet { bytes: [&first[..], &[9; 48]].concat(), ..Packet::default() };
    generators.came_back(Time(5), PortId(134), &Packet { bytes: vec![0; 64], ..back.clone() });
    assert_eq!(generators.next(), None);
    generators.came_back(Time(5), PortId(134), &back);
    let mut made = std::iter::from_fn(|| generators.step(Time(1_000)));
    for batch in 0..2 {
        let (port, packet) = made.next().unwrap();
        assert_eq!((port, &packet.bytes[..6]), (PortId(134), &[0x1f, 0, 0, batch, 0, 0][..]));
        assert_eq!((&packet.bytes[6..22], packet.bytes.len()), (&first[..], 82));
    }
    assert!(made.next().is_none());
}

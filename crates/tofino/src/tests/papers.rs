//! The papers' programs, packet by packet.

use super::*;

fn plane_of(program: &str, math_unit: math_unit::ExponentParity) -> Tofino {
    let include_paths = vec![p4_folder().join("include")];
    let options = LoadOptions { include_paths, math_unit, ..LoadOptions::default() };
    load(p4_folder().join("tna").join(program), &options).unwrap_or_else(|error| panic!("{error}"))
}

/// A data packet as `common/ingress.p4` makes it: kind, time of arrival, then the frame.
fn bridged(arrived: u64) -> Packet {
    let mut bytes = vec![0];
    bytes.extend_from_slice(&arrived.to_be_bytes()[2..]);
    bytes.extend_from_slice(&frame().bytes);
    Packet { bytes, zeros: 1_000, ..Packet::default() }
}

/// Instants (in us) at which packets with a delay of 6 ms, one every 0.1 ms, are dropped.
fn drops(plane: &mut Tofino, duration_us: u64) -> Vec<u64> {
    let mut drops = Vec::new();
    for us in (10_000..10_000 + duration_us).step_by(100) {
        let out = plane.egress(&leaving(2, us * 1_000), bridged(us * 1_000 - 6_000_000));
        if out.packet.is_none() {
            drops.push(us - 10_000);
        }
    }
    drops
}

#[test]
fn p4_codel_drops_an_interval_after_the_first_violation_and_then_by_the_square_root() {
    let drops = drops(&mut plane_of("p4_codel.p4", math_unit::ExponentParity::Vendor), 400_000);
    // 100 ms, then + 100.66, + 70.78, + 58.20, + 50.33 ms of the chip's table, on the next packet.
    assert_eq!(drops, [100_100, 200_700, 271_500, 329_700, 380_000]);
}

#[test]
fn the_papers_math_unit_stretches_p4_codels_schedule() {
    let drops = drops(&mut plane_of("p4_codel.p4", math_unit::ExponentParity::Paper), 400_000);
    // 100 ms, then + 141.56, + 100.66 ms.
    assert_eq!(drops, [100_100, 241_600, 342_300]);
}

#[test]
fn the_bridge_header_does_not_leave_the_switch() {
    let mut plane = plane_of("p4_codel.p4", math_unit::ExponentParity::Vendor);
    let out = plane.egress(&leaving(2, 50_000), bridged(40_000));
    assert_eq!(out.packet.unwrap().bytes, frame().bytes);
}

#[test]
fn codel_act_opens_a_cycle_with_a_mirrored_packet_and_closes_it_with_another() {
    let mut plane = plane_of("codel_act.p4", math_unit::ExponentParity::Vendor);
    let above = |at: u64| bridged(at - 6_000_000);
    let first = plane.egress(&leaving(2, 20_000_000), above(20_000_000));
    assert!(first.packet.is_some());
    let init = first.mirror.expect("an init synchronisation");
    assert_eq!((init.session, init.header_len, init.packet.bytes[0]), (100, 15, 1));
    // It comes back through the recirculation port and is used up there.
    let synchronised = plane.egress(&leaving(68, 20_001_000), init.packet.clone());
    assert!(synchronised.packet.is_none() && synchronised.mirror.is_none());
    // The first drop is due after INTERVAL / sqrt(1) = 100.66 ms.
    let at = |plane: &mut Tofino, now: u64| plane.egress(&leaving(2, now), above(now));
    assert!(at(&mut plane, 20_000_000 + 100_600_000).packet.is_some());
    assert!(at(&mut plane, 20_000_000 + 100_700_000).packet.is_none());
    let below = plane.egress(&leaving(2, 140_000_000), bridged(139_000_000));
    assert!(below.packet.is_some());
    let end = below.mirror.expect("an end synchronisation");
    assert_eq!(end.packet.bytes[0], 2);
    assert_eq!(*plane.faults(), Faults::default());
}

#[test]
fn by_the_slides_the_first_packet_above_target_is_dropped_and_each_later_one_is_counted() {
    let mut plane = plane_of("codel_act_slides.p4", math_unit::ExponentParity::Vendor);
    let at =
        |plane: &mut Tofino, now: u64| plane.egress(&leaving(2, now), bridged(now - 6_000_000));
    let first = at(&mut plane, 20_000_000);
    assert!(first.packet.is_none(), "DROP the first packet");
    // Its copy goes round all the same, and carries count = 1 and dropNext 100.66 ms later.
    let init = first.mirror.expect("an init synchronisation");
    plane.egress(&leaving(68, 20_001_000), init.packet);
    // 50 packets are sent until dropNext, and the drop comes at once with count = 1 + 2 * 50, whose
    // interval is 9.96 ms by the unit's table.
    for now in (0..50).map(|n| 21_000_000 + n * 1_000_000) {
        assert!(at(&mut plane, now).packet.is_some());
    }
    let dropped: Vec<_> = (120_000_000..145_000_000)
        .step_by(100_000)
        .filter(|now| at(&mut plane, *now).packet.is_none())
        .map(|now| now / 100_000 - 200)
        .collect();
    assert_eq!(dropped.first(), Some(&1_007));
    assert!(dropped.len() >= 3 && dropped[1] - dropped[0] <= 101, "{dropped:?}");
    assert_eq!(*plane.faults(), Faults::default());
}

#[test]
fn no_packet_makes_a_program_panic() {
    let parity = math_unit::ExponentParity::Vendor;
    let mut planes = [plane_of("p4_codel.p4", parity), plane_of("codel_act.p4", parity)];
    let packets = (proptest::collection::vec(any::<u8>(), 0..80), 0u32..20, 0u16..512);
    let planes = std::cell::RefCell::new(&mut planes);
    let run = |(bytes, zeros, port): (Vec<u8>, u32, u16)| {
        let packet = Packet { bytes, zeros, ..Packet::default() };
        for plane in planes.borrow_mut().iter_mut() {
            plane.ingress(&arriving(port), packet.clone());
            plane.egress(&leaving(port, 5), packet.clone());
            prop_assert_eq!(plane.faults().halted.count, 0);
        }
        Ok(())
    };
    proptest::test_runner::TestRunner::default().run(&packets, run).unwrap();
}

//! With `CODEL_ECN`, ECN-capable packets are marked instead of dropped, at the same positions.

use super::rfc8289::TARGET;
use super::rig::{Departure, Rig, START, Verdict, ones_complement_sum};

const ECN: &[(&str, &str)] = &[("CODEL_ECN", "1")];

fn verdicts(rig: &mut Rig, ecn: u8, ipv6: bool) -> Vec<Verdict> {
    let packet = |at: i64| {
        let now = START + at * 500_000;
        Departure { now, sojourn: 2 * TARGET, ecn, ipv6, ..Departure::default() }
    };
    (0..2_000).map(|at| rig.leave(packet(at))).collect()
}

#[test]
fn packets_of_a_capable_transport_are_marked_where_others_are_dropped() {
    let dropped = verdicts(&mut Rig::new(), 0, false);
    assert!(dropped.iter().filter(|verdict| **verdict == Verdict::Dropped).count() > 20);
    let marked: Vec<Verdict> = dropped
        .iter()
        .map(|verdict| if *verdict == Verdict::Dropped { Verdict::Marked } else { Verdict::Sent })
        .collect();
    for ecn in [1, 2] {
        assert_eq!(verdicts(&mut Rig::with(ECN, 0), ecn, false), marked);
        assert_eq!(verdicts(&mut Rig::with(ECN, 0), ecn, true), marked);
    }
    assert_eq!(verdicts(&mut Rig::with(ECN, 0), 0, false), dropped);
    assert_eq!(verdicts(&mut Rig::with(ECN, 0), 0, true), dropped);
}

#[test]
fn a_packet_that_is_marked_already_is_sent() {
    let verdicts = verdicts(&mut Rig::with(ECN, 0), 3, false);
    assert!(verdicts.iter().all(|verdict| *verdict == Verdict::Sent));
}

#[test]
fn without_the_option_the_ecn_field_is_not_looked_at() {
    assert_eq!(verdicts(&mut Rig::new(), 2, false), verdicts(&mut Rig::new(), 0, false));
}

#[test]
fn a_marked_ipv4_packet_differs_in_two_bits_and_its_checksum_which_is_right() {
    for ecn in [1, 2] {
        let mut rig = Rig::with(ECN, 0);
        let packet = |at: i64| {
            let now = START + at * 500_000;
            Departure { now, sojourn: 2 * TARGET, ecn, ..Departure::default() }
        };
        let frames: Vec<_> = (0..500).map(|at| rig.pass(packet(at)).expect("sent").bytes).collect();
        let (plain, marked) = (&frames[0], frames.iter().find(|frame| frame[15] & 3 == 3).unwrap());
        for frame in [plain, marked] {
            assert_eq!(ones_complement_sum(&frame[14..34]), 0xffff);
        }
        let differing: Vec<usize> =
            (0..plain.len()).filter(|at| plain[*at] != marked[*at]).collect();
        assert!(differing.iter().all(|at| [15, 24, 25].contains(at)), "{differing:?}");
        assert_eq!(plain[15] ^ marked[15], ecn ^ 3);
    }
}

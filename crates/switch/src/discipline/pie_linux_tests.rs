//! The kernel's PIE against the kernel's own code: the functions of `sch_pie.c` and `pie.h` of Linux
//! 6.1 compiled as a user-space program, with a clock, a queue and random numbers of its own.

use super::super::testing::{ECT0, NOT_ECT, frame, queued};
use super::*;
use sojourn_packet::SplitMix64;

const MS: u64 = 1_000_000;

/// Updates of 15 ms each at which the latency is so many ms.
const COURSE: &[(u64, u64)] =
    &[(3, 0), (12, 40), (8, 8), (6, 300), (60, 400), (20, 3), (40, 0), (10, 20)];

/// `prob` of the kernel's code after the given numbers of updates.
const PROBABILITIES: &[(u64, u64)] = &[
    (1, 0),
    (2, 0),
    (3, 0),
    (4, 1_869_168_906_250),
    (5, 3_628_387_265_625),
    (6, 5_387_605_625_000),
    (7, 7_146_823_984_375),
    (8, 8_906_042_343_750),
    (12, 37_053_539_218_750),
    (18, 0),
    (24, 1_455_247_611_977_308),
    (30, 18_276_192_218_179_330),
    (36, 35_570_014_787_282_026),
    (42, 52_863_837_356_384_722),
    (48, 70_157_659_925_487_418),
    (54, 87_451_482_494_590_114),
    (60, 104_745_305_063_692_810),
    (66, 122_039_127_632_795_506),
    (72, 139_332_950_201_898_202),
    (78, 156_626_772_771_000_898),
    (84, 173_920_595_340_103_594),
    (90, 152_465_446_721_782_924),
    (96, 151_816_928_375_782_924),
    (102, 151_168_410_029_782_924),
    (108, 150_519_891_683_782_924),
    (114, 140_328_883_707_675_061),
    (120, 126_908_916_777_929_789),
    (126, 114_698_938_299_774_757),
    (132, 103_589_851_726_203_082),
    (138, 93_482_397_014_476_319),
    (144, 84_286_263_734_477_770),
    (150, 78_700_612_013_904_665),
    (156, 78_970_827_991_404_665),
];

#[test]
fn the_probability_is_the_kernels_update_by_update() {
    let (params, mut state) = (Params::default(), State::default());
    let (mut updates, mut seen) = (0, Vec::new());
    for &(times, ms) in COURSE {
        for _ in 0..times {
            state.qdelay = ticks(Time(ms * MS));
            state.calculate_probability(&params, Bytes(if ms > 0 { 100_000 } else { 0 }));
            updates += 1;
            if updates <= 8 || updates % 6 == 0 {
                seen.push((updates, state.prob));
            }
        }
    }
    assert_eq!(seen, PROBABILITIES);
    // 84 updates in, everything is dropped twice over.
    assert!(seen.iter().any(|&(_, prob)| prob > 2 * MAX_PROB));
}

/// A packet of 1514 bytes comes each 800 us, one leaves each ms, an update is made each 20 ms, each
/// arrival has its number of SplitMix64: when the kernel's code drops, in units of 100 us. The first
/// hundred and twenty of its 999 drops in 4 s.
const DROPS: &[u64] = &[
    3_848, 4_520, 4_664, 4_912, 5_192, 5_312, 5_440, 5_600, 5_768, 5_856, 5_944, 6_120, 6_200,
    6_288, 6_456, 6_600, 6_680, 6_728, 6_808, 6_872, 6_912, 6_960, 7_000, 7_056, 7_104, 7_144,
    7_272, 7_328, 7_408, 7_440, 7_488, 7_520, 7_552, 7_608, 7_648, 7_728, 7_800, 7_872, 7_936,
    7_984, 8_008, 8_032, 8_072, 8_104, 8_160, 8_200, 8_232, 8_312, 8_344, 8_376, 8_440, 8_464,
    8_512, 8_544, 8_600, 8_632, 8_672, 8_696, 8_728, 8_752, 8_776, 8_816, 8_848, 8_880, 8_912,
    8_968, 8_992, 9_016, 9_040, 9_064, 9_128, 9_184, 9_208, 9_232, 9_264, 9_296, 9_352, 9_448,
    9_464, 9_512, 9_528, 9_552, 9_592, 9_608, 9_624, 9_680, 9_760, 9_792, 9_808, 9_840, 9_864,
    9_928, 9_952, 9_968, 9_984, 10_008, 10_032, 10_048, 10_064, 10_088, 10_128, 10_144, 10_176,
    10_192, 10_224, 10_248, 10_296, 10_336, 10_360, 10_392, 10_416, 10_448, 10_496, 10_512, 10_528,
    10_544, 10_560, 10_576, 10_592, 10_608,
];
const ALL_DROPS: usize = 999;

#[test]
fn the_drops_are_the_kernels_packet_by_packet() {
    let (params, mut state) = (Params::default(), State::default());
    let mut random = SplitMix64::new(1);
    let (mut queue, mut dropped) = (std::collections::VecDeque::new(), Vec::new());
    let bytes = |queue: &std::collections::VecDeque<u64>| Bytes(queue.len() as u64 * 1514);
    for us in (0..4_000_000).step_by(100) {
        let now = ticks(Time::from_micros(us));
        if us > 0 && us % 20_000 == 0 {
            state.calculate_probability(&params, bytes(&queue));
        }
        if us % 1000 == 0
            && let Some(enqueued) = queue.pop_front()
        {
            state.process_dequeue(now, enqueued, bytes(&queue));
        }
        if us % 800 == 0 {
            if state.drop_early(&params, bytes(&queue), random.next() >> 8) {
                state.accu_prob = 0;
                dropped.push(us / 100);
            } else {
                queue.push_back(now);
            }
        }
    }
    assert_eq!(dropped.len(), ALL_DROPS);
    assert_eq!(&dropped[..DROPS.len()], DROPS);
}

#[test]
fn ecn_capable_packets_are_marked_up_to_ten_per_cent() {
    for (prob, marks, drops) in [(MAX_PROB / 10, 1, 0), (MAX_PROB / 10 + 1, 0, 1)] {
        let mut pie = PieLinux::new(Params { ecn: true, ..Params::default() }, 1);
        let mut gone = Drops::default();
        for id in 0..3 {
            pie.enqueue(Time::ZERO, queued(frame(id, 1, NOT_ECT, 1514), 0), &mut gone);
        }
        let (accu_prob, qdelay) = (MAX_PROB * 9, ticks(Time(20 * MS)));
        pie.state = State { burst_time: 0, prob, accu_prob, qdelay, ..State::default() };
        pie.enqueue(Time(MS), queued(frame(3, 1, ECT0, 1514), MS), &mut gone);
        assert_eq!((pie.stats.ecn_mark, pie.stats.drops), (marks, drops));
    }
}

#[test]
fn the_thousand_and_first_packet_is_refused_and_counts_as_a_drop() {
    let (mut pie, mut drops) = (PieLinux::new(Params::default(), 1), Drops::default());
    pie.state.accu_prob = MAX_PROB / 2;
    for id in 0..1001 {
        pie.enqueue(Time::ZERO, queued(frame(id, 1, NOT_ECT, 100), 0), &mut drops);
    }
    assert_eq!((pie.packets(), pie.stats.overlimit, pie.state.accu_prob), (1000, 1, 0));
    assert!(
        drops.drain().all(|(packet, kind)| (packet.packet.id.0, kind) == (1000, DropKind::Tail))
    );
}

#[test]
fn an_empty_queue_that_has_come_to_rest_has_its_burst_allowance_again() {
    let (mut pie, mut drops) = (PieLinux::new(Params::default(), 1), Drops::default());
    pie.state = State { burst_time: 5, prob: 40, qdelay: ticks(Time(20 * MS)), ..State::default() };
    pie.enqueue(Time(MS), queued(frame(0, 1, NOT_ECT, 1514), MS), &mut drops);
    assert!(pie.dequeue(Time(2 * MS), &mut drops).is_some());
    assert!(pie.dequeue(Time::from_secs(3_000), &mut drops).is_none());
    assert_eq!((pie.state.prob, pie.state.burst_time), (0, BURST));
}

//! Tests of timing: the duration of passes, their order of completion, and overruns.

use super::{STEADY, bench, bench_with, program, program_stamping};
use sojourn_control::runtime_control::RuntimeControl;
use sojourn_packet::Time;

#[test]
fn a_pass_takes_its_processing_and_its_accesses() {
    let mut bench = bench(program("Memory<bit<8>>(1) m;", "m.write(0, 1); m.read(0);", STEADY));
    bench.receive(Time(1_000), 3);
    bench.settle();
    assert_eq!(bench.left[0].1, Time(1_000 + 10_000 + 2 * 400));
    assert_eq!(bench.left[0].2.admission.unicast.map(|port| port.0), Some(3));
}

#[test]
fn a_packet_waits_for_a_thread_and_threads_work_side_by_side() {
    let ends = |threads: u32| {
        let figures = format!("threads = {threads}, {STEADY}");
        let mut bench = bench(program("", "", &figures));
        (0..3).for_each(|_| {
            bench.receive(Time(0), 1);
        });
        bench.settle();
        bench.left.iter().map(|(_, at, _)| at.0).collect::<Vec<_>>()
    };
    assert_eq!(ends(1), [10_000, 20_000, 30_000]);
    assert_eq!(ends(2), [10_000, 10_000, 20_000]);
}

#[test]
fn order_is_restored_or_not() {
    let leave = |in_order: bool| {
        let statements = "if (npu.ingress_port == 1) { m.read(0); m.read(0); }";
        let figures = format!("in_order = {in_order}, {STEADY}");
        let mut bench = bench(program("Memory<bit<8>>(1) m;", statements, &figures));
        bench.receive(Time(0), 1);
        bench.receive(Time(0), 2);
        bench.settle();
        bench.left.iter().map(|(id, at, _)| (id.0, at.0)).collect::<Vec<_>>()
    };
    assert_eq!(leave(true), [(0, 10_800), (1, 10_800)]);
    assert_eq!(leave(false), [(1, 10_000), (0, 10_800)]);
}

#[test]
fn a_packet_that_finds_the_input_buffer_full_is_dropped_and_counted() {
    let figures = format!("threads = 1, input_buffer = 1, {STEADY}");
    let mut bench = bench(program("", "", &figures));
    (0..4).for_each(|_| {
        bench.receive(Time(0), 1);
    });
    bench.settle();
    let sent = bench.left.iter().filter(|(_, _, out)| out.packet.is_some()).count();
    assert_eq!((sent, bench.npu.faults().overruns.count), (2, 2));
    assert!(bench.npu.fault().is_some_and(|fault| fault.contains("input buffer")));
}

#[test]
fn a_depth_is_the_queue_s_when_the_engine_looks_and_old_when_it_is_used() {
    let statements = "bit<32> d = queue_packets(1, 0); bit<64> t = now();
                      seen.write(0, (bit<64>)d); seen.write(1, t);";
    // The queue's depth in packets is the time in ns.
    let npu = program("Memory<bit<64>>(2) seen;", statements, STEADY);
    let mut bench = bench_with(npu, |now| now.0);
    bench.receive(Time(0), 1);
    bench.settle();
    assert_eq!((bench.cell("seen", 0), bench.cell("seen", 1)), (5_200, 5_400));
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let run = || {
        let figures = "threads = 7, processing_min = 100, processing_max = 9000";
        let declared = "Memory<bit<32>>(1) m;";
        let mut bench = bench(program(declared, "m.test_and_add(0, 1); m.read(0);", figures));
        (0..200).for_each(|number| {
            bench.receive(Time(300 * number), 1);
        });
        bench.settle();
        bench.left.iter().map(|(id, at, _)| (id.0, at.0)).collect::<Vec<_>>()
    };
    let first = run();
    assert_eq!(first, run());
    let gaps: Vec<u64> = first.windows(2).map(|pair| pair[1].1 - pair[0].1).collect();
    assert!(gaps.iter().any(|gap| *gap != gaps[0]), "times are drawn");
}

#[test]
fn a_packet_that_is_sent_nowhere_is_dropped() {
    let mut bench = bench(program("", "npu.egress_port = NPU_DROP_PORT;", STEADY));
    bench.receive(Time(0), 1);
    bench.settle();
    assert!(bench.left[0].2.packet.is_none());
}

#[test]
fn a_program_that_never_ends_is_ended_with_its_packet() {
    let declared = "Memory<bit<8>>(1) m;";
    let statements = "for (bit<8> i = 0; i < 2; i = i) { m.read(0); }";
    let mut bench = bench(program(declared, statements, STEADY));
    bench.receive(Time(0), 1);
    bench.settle();
    assert!(bench.left[0].2.packet.is_none());
    assert_eq!(bench.npu.faults().halted.count, 1);
}

#[test]
fn the_thread_s_clock_goes_on_from_parser_to_deparser() {
    let npu = program_stamping(
        ("bit<64> parsed;", "m.parsed = now();"),
        ("Memory<bit<64>>(2) seen;", "seen.write(0, m.parsed); seen.write(1, now());"),
        "stamp.setValid(); stamp.at = now(); p.emit(stamp);",
        &format!("threads = 1, {STEADY}"),
    );
    let mut bench = bench(npu);
    bench.receive(Time(0), 1);
    bench.receive(Time(0), 1);
    bench.settle();
    // The second packet waited for the thread.
    let begins = 10_000 + 2 * 400;
    assert_eq!(bench.left[0].1, Time(begins));
    assert_eq!(bench.cell("seen", 0), begins);
    assert_eq!(bench.cell("seen", 1), begins + 5_000 + 400);
    let packet = bench.left[1].2.packet.as_ref().expect("it is sent");
    assert_eq!(packet.bytes[..8], (2 * begins).to_be_bytes());
}

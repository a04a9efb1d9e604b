//! Threads that share cells: lost updates, and their prevention by locks and single accesses.

use super::{Bench, STEADY, bench, program};
use sojourn_packet::Time;

const PACKETS: u64 = 2_000;

/// Counts fast arriving packets, processed by many threads at once, in the cell `packets[0]`.
fn counted(declared: &str, statements: &str, threads: u32) -> Bench<impl Fn(Time) -> u64> {
    let declared = format!("Memory<bit<32>>(1) packets; {declared}");
    let figures = format!("threads = {threads}, {STEADY}");
    let mut bench = bench(program(&declared, statements, &figures));
    (0..PACKETS).for_each(|number| {
        bench.receive(Time(150 * number), 1);
    });
    bench.settle();
    bench
}

const READ_AND_WRITE: &str = "bit<32> n = packets.read(0); packets.write(0, n + 1);";

#[test]
fn an_update_is_lost_between_a_read_and_a_write_and_counted_with_its_line() {
    let alone = counted("", READ_AND_WRITE, 1);
    assert_eq!((alone.cell("packets", 0), alone.npu.faults().lost_updates.count), (PACKETS, 0));
    let many = counted("", READ_AND_WRITE, 100);
    let lost = &many.npu.faults().lost_updates;
    assert!(many.cell("packets", 0) < PACKETS && lost.count > 100, "{lost:?}");
    assert!(lost.place.is_some());
    assert!(lost.first.as_ref().is_some_and(|text| text.contains("I.packets")), "{lost:?}");
}

#[test]
fn nothing_is_lost_by_one_access() {
    let many = counted("", "packets.test_and_add(0, 1);", 100);
    assert_eq!((many.cell("packets", 0), many.npu.faults().lost_updates.count), (PACKETS, 0));
}

#[test]
fn nothing_is_lost_under_a_mutex() {
    let statements = format!("door.lock(0); {READ_AND_WRITE} door.unlock(0);");
    let many = counted("Mutex(1) door;", &statements, 100);
    assert_eq!((many.cell("packets", 0), many.npu.faults().lost_updates.count), (PACKETS, 0));
}

#[test]
fn nothing_is_lost_by_compare_and_swap() {
    let statements = "bit<32> seen = packets.read(0); bool done = false;
        for (bit<16> i = 0; i < 1000 && !done; i = i + 1) {
            bit<32> found = packets.compare_and_swap(0, seen, seen + 1);
            done = found == seen; seen = found;
        }";
    let many = counted("", statements, 100);
    assert_eq!((many.cell("packets", 0), many.npu.faults().lost_updates.count), (PACKETS, 0));
}

#[test]
fn threads_that_wait_for_each_other_are_ended_and_the_others_go_on() {
    // Odd ports lock in one order, even ports in the other.
    let statements = "bit<32> first = (bit<32>)(npu.ingress_port & 1);
        door.lock(first); door.lock(1 - first); packets.test_and_add(0, 1);
        door.unlock(1 - first); door.unlock(first);";
    let declared = "Memory<bit<32>>(1) packets; Mutex(2) door;";
    let mut bench = bench(program(declared, statements, STEADY));
    (0..100).for_each(|number| {
        bench.receive(Time(100 * number), number as u16 % 2);
    });
    bench.settle();
    let deadlocks = &bench.npu.faults().deadlocks;
    assert!(deadlocks.count > 0 && deadlocks.place.is_some());
    assert_eq!(bench.cell("packets", 0), 100 - deadlocks.count);
}

#[test]
fn a_lock_that_is_not_given_back_is_taken_back_at_the_end_of_the_pass() {
    let declared = "Memory<bit<32>>(1) packets; Mutex(1) door;";
    let mut bench = bench(program(declared, "door.lock(0); packets.test_and_add(0, 1);", STEADY));
    (0..10).for_each(|_| {
        bench.receive(Time(0), 1);
    });
    bench.settle();
    assert_eq!(bench.cell("packets", 0), 10);
}

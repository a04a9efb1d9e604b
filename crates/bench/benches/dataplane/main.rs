//! Packets per second through each built-in program: one ingress and one egress pass a packet.
//!
//! Runs every program of `p4/tna` and `p4/v1model` as in `src/passes.rs`. Measures CPU time, so that
//! other work on the machine does not count.

mod cpu_time;

use cpu_time::CpuTime;
use criterion::{Criterion, Throughput};
use sojourn_bench::passes::{frame, loaded, pass, programs};
use sojourn_target::Plane;

/// Number of packets in one measured round.
const PACKETS: u64 = 10_000;

/// True for a program that forwards the measured packets.
fn forwards(name: &str, plane: &mut Plane, frame: &[u8]) -> bool {
    let forwarded = (0..PACKETS).filter(|number| pass(plane, *number, frame)).count();
    if forwarded < PACKETS as usize / 2 {
        eprintln!("{name} forwards {forwarded} of {PACKETS} packets and is not measured");
        return false;
    }
    true
}

fn dataplane(criterion: &mut Criterion<CpuTime>, architecture: &str) {
    let mut group = criterion.benchmark_group(architecture);
    group.throughput(Throughput::Elements(PACKETS)).sample_size(10);
    for program in programs(architecture) {
        let Some(mut plane) = loaded(&program) else { continue };
        let name = program.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let (frame, mut number) = (frame(), PACKETS);
        if !forwards(&name, &mut plane, &frame) {
            continue;
        }
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                for _ in 0..PACKETS {
                    pass(&mut plane, number, &frame);
                    number += 1;
                }
            });
        });
    }
    group.finish();
}

fn main() {
    let mut criterion = Criterion::default().with_measurement(CpuTime).configure_from_args();
    dataplane(&mut criterion, "tna");
    dataplane(&mut criterion, "v1model");
    criterion.final_summary();
}

//! Packets per second through each shipped program: one ingress and one egress pass a packet.
//!
//! Every program of `p4/tna` is run with the control plane beside it. The delay of the packets
//! swings around CoDel's TARGET, so that first violations, drops and ends of cycles all occur;
//! mirrored copies go through egress once more and count as work of the packet that caused them.

use criterion::{Criterion, Throughput};
use sojourn_packet::{Packet, Time};
use sojourn_targets::tna::{ControlPlane, LoadOptions, Tofino, load};
use sojourn_targets::{DataPlane, EgressInput, IngressInput, PortId};
use std::path::{Path, PathBuf};

/// Packets in one measured round.
const PACKETS: u64 = 10_000;
/// Between two packets of 1,514 bytes at 100 Mbit/s, in ns.
const GAP: u64 = 121_120;

fn p4_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../p4")
}

fn programs() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(p4_folder().join("tna")).expect("the folder of programs");
    let mut programs: Vec<PathBuf> = entries
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.extension().is_some_and(|ending| ending == "p4"))
        .collect();
    programs.sort();
    programs
}

fn loaded(program: &Path) -> Option<Tofino> {
    let options =
        LoadOptions { include_paths: vec![p4_folder().join("include")], ..LoadOptions::default() };
    let mut plane = load(program, &options)
        .map_err(|error| eprintln!("{}: {error}", program.display()))
        .ok()?;
    if let Ok(text) = std::fs::read_to_string(program.with_extension("toml")) {
        let control: ControlPlane = toml::from_str(&text).expect("a control plane file");
        plane.configure(&control).expect("entries that fit the program");
    }
    Some(plane)
}

/// An Ethernet frame with IPv4 and TCP headers and a payload of zeros.
fn frame() -> Packet {
    let mut bytes = [0u8; 66];
    bytes[12..15].copy_from_slice(&[0x08, 0x00, 0x45]);
    bytes[23] = 6;
    Packet { bytes: bytes.to_vec(), zeros: 1_448, ..Packet::default() }
}

/// Sends one packet through both passes; its delay is 4 to 6 ms.
fn pass(plane: &mut Tofino, frame: &Packet, number: u64) {
    let arrived = Time(1_000_000_000 + number * GAP);
    let input = IngressInput { port: PortId(1), arrived, now: arrived, resubmitted: false };
    let Some(packet) = plane.ingress(&input, frame.clone()).packet else { return };
    let delay = 4_000_000 + number / 1_000 % 2 * 2_000_000;
    let now = arrived + Time(delay);
    let input = EgressInput {
        port: PortId(2),
        enqueued: arrived,
        dequeued: now,
        now,
        enqueue_depth: 800,
        dequeue_depth: 800,
        length: 1_518,
        ..EgressInput::default()
    };
    if let Some(copy) = plane.egress(&input, packet).mirror {
        let input = EgressInput { port: PortId(68), now: now + Time(1_000), ..input };
        plane.egress(&input, copy.packet);
    }
}

fn dataplane(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("dataplane");
    group.throughput(Throughput::Elements(PACKETS)).sample_size(10);
    for program in programs() {
        let Some(mut plane) = loaded(&program) else { continue };
        let name = program.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let (frame, mut number) = (frame(), 0);
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                for _ in 0..PACKETS {
                    pass(&mut plane, &frame, number);
                    number += 1;
                }
            });
        });
    }
    group.finish();
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    dataplane(&mut criterion);
    criterion.final_summary();
}

//! Workload of the data-plane benchmark: one packet through both passes, and its copies.
//!
//! Every program runs with its control plane. The delay of the packets swings around CoDel's
//! TARGET, so that first violations, drops and ends of cycles all occur. Mirrored copies pass
//! egress once more, recirculated packets ingress; both count as work of the packet that caused
//! them. This module must not depend on the method of measurement.

use sojourn_control::ControlPlane;
use sojourn_packet::{
    DataPlane, EgressFate, EgressInput, HEADER_ROOM, IngressInput, Mirror, PacketMetadata, PortId,
};
use sojourn_packet::{Packet, Time};
use sojourn_target::{LoadOptions, Plane, load};
use std::path::{Path, PathBuf};

/// Time between two packets of 1,514 bytes at 100 Mbit/s, in ns.
const GAP: u64 = 121_120;

fn p4_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../p4")
}

/// The built-in programs of an architecture.
pub fn programs(architecture: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(p4_folder().join(architecture)).into_iter().flatten();
    let mut programs: Vec<PathBuf> = entries
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.extension().is_some_and(|ending| ending == "p4"))
        .collect();
    programs.sort();
    programs
}

/// Loads a program with its control plane; messages go to standard error.
pub fn loaded(program: &Path) -> Option<Plane> {
    let options = LoadOptions {
        include_paths: vec![p4_folder().join("include")],
        ..sojourn_engine::builtin::load_options()
    };
    let mut plane = load(program, &options)
        .map_err(|error| eprintln!("{}: {error}", program.display()))
        .ok()?;
    if let Ok(text) = std::fs::read_to_string(program.with_extension("toml")) {
        let mut file: toml::Table = toml::from_str(&text).expect("a control plane file");
        write_out_control_laws(&mut file);
        let control: ControlPlane = file.try_into().expect("a control plane");
        plane.configure(&control).expect("entries that fit the program");
    }
    Some(plane)
}

/// Expands computed entries, which is the command line's task elsewhere, for the counts that the
/// measured packets look up: INTERVAL / sqrt(count) for the first thousand counts.
fn write_out_control_laws(file: &mut toml::Table) {
    let entry = |count: i64| {
        let mut entry = toml::Table::new();
        let spacing = (100_000_000.0 / (count as f64).sqrt()).round() as i64;
        entry.insert(
            "match".into(),
            toml::Table::from_iter([("md.count".into(), count.into())]).into(),
        );
        entry.insert("action".into(), "set_spacing".into());
        entry.insert("args".into(), toml::Table::from_iter([("ns".into(), spacing.into())]).into());
        toml::Value::from(entry)
    };
    let tables = file.get_mut("tables").and_then(|tables| tables.as_array_mut());
    for table in tables.into_iter().flatten().filter_map(|table| table.as_table_mut()) {
        let is_law =
            table.get("name").and_then(|name| name.as_str()) == Some("Egress.codel.control_law");
        if table.remove("entries_from").is_some() && is_law {
            table.insert("entries".into(), (1..=1_000).map(entry).collect::<Vec<_>>().into());
        }
    }
}

/// Ethernet, IPv4 and TCP headers of a frame of 1,514 bytes from a server (10.0.0.1) to a
/// client (10.128.0.1).
pub fn frame() -> [u8; 66] {
    let mut bytes = [0u8; 66];
    bytes[12..14].copy_from_slice(&[0x08, 0x00]);
    bytes[14..34].copy_from_slice(&[
        0x45, 0, 0x05, 0xdc, 0, 0, 0x40, 0, 64, 6, 0x20, 0x9b, 10, 0, 0, 1, 10, 128, 0, 1,
    ]);
    bytes[46] = 0x80;
    bytes
}

/// Sends one packet through both passes; its delay is 4 to 6 ms. False if ingress drops it.
pub fn pass(plane: &mut dyn DataPlane, number: u64, frame: &[u8]) -> bool {
    // With the capacity of the simulator's packets.
    let mut bytes = Vec::with_capacity(HEADER_ROOM);
    bytes.extend_from_slice(frame);
    let mut packet = Packet { bytes, zeros: 1_448, ..Packet::default() };
    let mut packet_metadata = PacketMetadata::default();
    let arrived = Time(1_000_000_000 + number * GAP);
    let input = IngressInput { port: PortId(1), arrived, now: arrived, resubmitted: false };
    if plane.ingress_pass(&input, &mut packet, &mut packet_metadata).admission.is_nowhere() {
        return false;
    }
    let delay = 4_000_000 + number / 1_000 % 2 * 2_000_000;
    let now = arrived + Time(delay);
    let out = EgressInput {
        port: PortId(2),
        enqueued: arrived,
        dequeued: now,
        now,
        enqueue_depth: 800,
        dequeue_depth: 800,
        enqueue_packets: 42,
        dequeue_packets: 42,
        length: 1_518,
        ..EgressInput::default()
    };
    let sent = plane.egress_pass(&out, &mut packet, &mut packet_metadata);
    if let Some(copy) = sent.mirror {
        let again = EgressInput { port: PortId(68), now: now + Time(1_000), mirrored: true, ..out };
        let Mirror { mut packet, mut packet_metadata, .. } = *copy;
        let fate = plane.egress_pass(&again, &mut packet, &mut packet_metadata).fate;
        recirculated(plane, now, fate, (packet, packet_metadata));
    }
    recirculated(plane, now, sent.fate, (packet, packet_metadata));
    true
}

/// The ingress pass of a recirculated packet.
fn recirculated(
    plane: &mut dyn DataPlane,
    now: Time,
    fate: EgressFate,
    (mut packet, mut packet_metadata): (Packet, PacketMetadata),
) {
    if fate == EgressFate::Recirculated {
        let input = IngressInput { port: PortId(2), arrived: now, now, resubmitted: false };
        plane.ingress_pass(&input, &mut packet, &mut packet_metadata);
    }
}

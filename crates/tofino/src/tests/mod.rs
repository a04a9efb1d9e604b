//! Programs from text to packets: the two passes, the metadata and the externs, a file a subject.
//! Here is what they share: frames, inputs, and programs of which a test gives a part.

mod accesses;
mod control_plane;
mod deparser_requests;
mod egress;
mod externs;
mod ingress;
mod papers;
mod parde;
mod parsers;
mod refused;
mod registers;
mod snapshots;

use super::testing::{Parts, load_text, load_text_with, p4_folder};
use super::*;
use proptest::prelude::*;
use sojourn_packet::dataplane::{
    DataPlane, EgressInput, EgressOutput, IngressInput, IngressOutput, MirrorDirection, PortId,
};
use sojourn_packet::{Packet, Time};

fn frame() -> Packet {
    let mut bytes: Vec<u8> = (0..14).collect();
    bytes.extend([0xaa, 0xbb]);
    Packet { bytes, zeros: 50, ..Packet::default() }
}

fn arriving(port: u16) -> IngressInput {
    let (arrived, now) = (Time(1_000), Time(1_600));
    IngressInput { port: PortId(port), arrived, now, resubmitted: false }
}

fn leaving(port: u16, now: u64) -> EgressInput {
    EgressInput { port: PortId(port), now: Time(now), length: 70, ..EgressInput::default() }
}

fn ingress(parts: Parts<'_>) -> IngressOutput {
    parts.loaded().plane.ingress(&arriving(5), frame())
}

fn egress(parts: Parts<'_>) -> EgressOutput {
    parts.loaded().plane.egress(&leaving(5, 2_000), frame())
}

/// The destination address of a packet that went through, where tests leave their findings.
fn finding(packet: Option<Packet>) -> u64 {
    let bytes = packet.expect("a packet").bytes;
    bytes[..6].iter().fold(0, |word, byte| word << 8 | u64::from(*byte))
}

/// The finding of an egress program that assigns `expression` to the destination address.
fn observed(input: EgressInput, expression: &str) -> u64 {
    let apply = format!("h.ethernet.dst = (bit<48>)({expression});");
    let parts = Parts { apply: &apply, ..Parts::default() };
    finding(parts.loaded().plane.egress(&input, frame()).packet)
}

fn entries(table: &str, key: &str, values: &[u64], action: &str) -> ControlPlane {
    let entry = |value: &u64| TableEntry {
        matches: [(key.to_owned(), MatchValue::Exact(Number::from(*value)))].into(),
        action: Some(action.to_owned()),
        ..TableEntry::default()
    };
    let entries = values.iter().map(entry).collect();
    let tables = vec![TableEntries { name: table.to_owned(), entries, ..TableEntries::default() }];
    ControlPlane { tables, ..ControlPlane::default() }
}

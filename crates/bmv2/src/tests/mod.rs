//! Tests of the documented behavior of `simple_switch`, on programs of a few lines.
//!
//! One file a subject. A program consists of the parts under test; the test passes packets through
//! it directly, without a switch.

mod after_passes;
mod assertions;
mod builtin;
mod checksums;
mod clones;
mod in_place;
mod invalid;
mod malformed;
mod metadata;
mod restrictions;
mod state;
mod tables;

use super::V1Model;
use sojourn_p4::preprocess::{MemoryLoader, OverlayLoader};
use sojourn_packet::dataplane::{
    DataPlane, EgressInput, EgressOutput, IngressInput, IngressOutput, Mirror, PortId,
};
use sojourn_packet::{Packet, Time};
use sojourn_target::load::{LoadError, LoadOptions, Loaded, load_with};
use sojourn_target::phv::PacketMetadata;
use std::path::Path;

/// Parts of a program that differ between tests.
#[derive(Clone, Copy, Default)]
struct Parts<'t> {
    /// Types and constants.
    types: &'t str,
    /// Fields of the headers' struct behind `eth` and `note`.
    headers: &'t str,
    /// Fields of the metadata.
    metadata: &'t str,
    /// Controls that others apply.
    controls: &'t str,
    /// Declarations of the parser.
    locals: &'t str,
    /// Parser statements behind Ethernet.
    parser: &'t str,
    /// Other parser states.
    states: &'t str,
    verify: &'t str,
    /// Declarations and statements of ingress.
    ingress: (&'t str, &'t str),
    /// Declarations and statements of egress.
    egress: (&'t str, &'t str),
    compute: &'t str,
    /// Emit statements behind `eth` and `note`.
    emit: &'t str,
}

impl Parts<'_> {
    fn text(&self) -> String {
        let Parts { types, headers, metadata, locals, parser, states, .. } = self;
        let Parts { verify, compute, emit, controls, .. } = self;
        let ((ig_declared, ig), (eg_declared, eg)) = (self.ingress, self.egress);
        let parser = if parser.is_empty() { "transition accept;" } else { parser };
        format!(
            "#include <core.p4>
#include <v1model.p4>
header eth_t {{ bit<48> dst; bit<48> src; bit<16> kind; }}
header note_t {{ bit<8> a; bit<8> b; bit<16> c; bit<32> d; bit<48> e; }}
{types}
struct headers_t {{ eth_t eth; note_t note; {headers} }}
struct meta_t {{
    @field_list(1) bit<8> one; @field_list(1, 2) bit<8> both; bit<8> none; {metadata}
}}
{controls}
parser P(packet_in p, out headers_t h, inout meta_t m, inout standard_metadata_t s) {{
    {locals}
    state start {{ p.extract(h.eth); {parser} }}
    {states}
}}
control Verify(inout headers_t h, inout meta_t m) {{ apply {{ {verify} }} }}
control Ig(inout headers_t h, inout meta_t m, inout standard_metadata_t s) {{
    {ig_declared} apply {{ {ig} }}
}}
control Eg(inout headers_t h, inout meta_t m, inout standard_metadata_t s) {{
    {eg_declared} apply {{ {eg} }}
}}
control Compute(inout headers_t h, inout meta_t m) {{ apply {{ {compute} }} }}
control Dep(packet_out p, in headers_t h) {{
    apply {{ p.emit(h.eth); p.emit(h.note); {emit} }}
}}
V1Switch(P(), Verify(), Ig(), Eg(), Compute(), Dep()) main;
"
        )
    }

    fn try_load(&self, seed: u64) -> Result<V1Model, LoadError> {
        let plane = self.try_load_with_warnings(seed)?.plane;
        Ok(*plane.into_loaded().expect("the program is for v1model"))
    }

    fn try_load_with_warnings(&self, seed: u64) -> Result<Loaded, LoadError> {
        let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../p4/include");
        let options = LoadOptions {
            targets: sojourn_target::Targets(&[&crate::Bmv2]),
            include_paths: vec![include],
            seed,
            ..LoadOptions::default()
        };
        let text = self.text();
        let loader = OverlayLoader(MemoryLoader::new().with("program.p4", text));
        load_with(&loader, "program.p4", &options)
    }

    fn load(&self) -> Pass {
        let plane = self.try_load(1);
        let plane = plane.unwrap_or_else(|error| panic!("{}", error.render(&Default::default())));
        Pass { plane, now: Time::from_millis(1) }
    }
}

/// A program and the passes of its packets.
struct Pass {
    plane: V1Model,
    now: Time,
}

impl Pass {
    fn ingress(&mut self, frame: &[u8]) -> IngressOutput {
        self.ingress_again(packet(frame), PacketMetadata::default())
    }

    fn ingress_again(&mut self, packet: Packet, packet_metadata: PacketMetadata) -> IngressOutput {
        let input = IngressInput {
            port: PortId(3),
            arrived: self.now,
            now: self.now,
            resubmitted: !packet_metadata.is_empty(),
        };
        self.plane.ingress_carrying(&input, packet, packet_metadata)
    }

    /// Egress pass of an admitted packet, 40 us later at port 7.
    fn egress(&mut self, admitted: IngressOutput) -> EgressOutput {
        let packet = admitted.packet.expect("a packet for egress");
        self.egress_of(packet, admitted.packet_metadata)
    }

    fn egress_of(&mut self, packet: Packet, packet_metadata: PacketMetadata) -> EgressOutput {
        let now = self.now + Time::from_micros(40);
        let input = EgressInput {
            port: PortId(7),
            enqueued: self.now,
            dequeued: now,
            now,
            ..EgressInput::default()
        };
        self.plane.egress_carrying(&input, packet, packet_metadata)
    }

    fn egress_of_copy(&mut self, mirror: Mirror) -> EgressOutput {
        self.egress_of(mirror.packet, mirror.packet_metadata)
    }

    /// Result of both passes for a frame; `None` if it is dropped.
    fn both(&mut self, frame: &[u8]) -> Option<Vec<u8>> {
        let admitted = self.ingress(frame);
        admitted.packet.as_ref()?;
        let sent = self.egress(admitted).packet?;
        Some(bytes(&sent))
    }

    /// The note of a frame's output.
    fn note(&mut self, frame: &[u8]) -> [u64; 5] {
        note(&self.both(frame).expect("a packet"))
    }
}

/// The fields of the note behind Ethernet.
fn note(sent: &[u8]) -> [u64; 5] {
    let field = |from: usize, to: usize| {
        sent[14 + from..14 + to].iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
    };
    [field(0, 1), field(1, 2), field(2, 4), field(4, 8), field(8, 14)]
}

fn packet(frame: &[u8]) -> Packet {
    Packet { bytes: frame.to_vec(), ..Packet::default() }
}

fn bytes(packet: &Packet) -> Vec<u8> {
    packet.clone().into_frame()
}

/// Ethernet with this type, and a payload.
fn frame(kind: u16, payload: &[u8]) -> Vec<u8> {
    let mut frame = vec![1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2];
    frame.extend_from_slice(&kind.to_be_bytes());
    frame.extend_from_slice(payload);
    frame
}

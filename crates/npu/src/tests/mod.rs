//! Tests of threads on programs of a few lines, and of the decisions of the shipped programs.
//!
//! The test submits packets and sets the time; queue depths are a function of time.

mod codel;
mod memory;
mod rules;
mod time;

use super::Npu;
use sojourn_control::fits;
use sojourn_control::runtime_control::RuntimeControl;
use sojourn_p4::preprocess::{FileLoader, MemoryLoader, OverlayLoader, SourceLoader};
use sojourn_packet::dataplane::{IngressInput, IngressOutput, PortId};
use sojourn_packet::{Overlapping, Packet, PassId, QueueDepths, Time};
use sojourn_target::load::{LoadOptions, load_with};
use sojourn_target::phv::PacketMetadata;
use std::path::{Path, PathBuf};

fn p4_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../p4")
}

fn load(loader: &dyn SourceLoader, path: &Path, defines: &[(&str, &str)]) -> Npu {
    let defines = defines.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
    let include_paths = vec![p4_folder().join("include")];
    let options = LoadOptions {
        targets: sojourn_target::Targets(&[&crate::NetworkProcessor]),
        include_paths,
        defines,
        seed: 1,
        ..LoadOptions::default()
    };
    let loaded = load_with(loader, path, &options);
    let loaded = loaded.unwrap_or_else(|error| panic!("{}", error.render(&Default::default())));
    *loaded.plane.into_loaded().expect("the program is for the NPU")
}

/// A program with these ingress declarations and statements; `figures` are the processor's
/// parameters.
fn program(declared: &str, statements: &str, figures: &str) -> Npu {
    program_stamping(("", ""), (declared, statements), "", figures)
}

/// The same with statements in parser and deparser; `stamp_h` is a header of 64 bits.
fn program_stamping(
    (parsed, set): (&str, &str),
    (declared, statements): (&str, &str),
    emitted: &str,
    figures: &str,
) -> Npu {
    let text = format!(
        "#include <core.p4>
#include <npu.p4>
struct headers_t {{}}
header stamp_h {{ bit<64> at; }}
struct metadata_t {{ {parsed} }}
parser P(packet_in p, out headers_t h, inout metadata_t m, inout npu_metadata_t npu) {{
    state start {{ {set} transition accept; }}
}}
control I(inout headers_t h, inout metadata_t m, inout npu_metadata_t npu) {{
    {declared}
    apply {{ npu.egress_port = npu.ingress_port; {statements} }}
}}
control D(packet_out p, in headers_t h, in metadata_t m) {{
    stamp_h stamp; apply {{ {emitted} }}
}}
NPU(parse = P(), ingress = I(), deparse = D(), {figures}) main;"
    );
    load(&OverlayLoader(MemoryLoader::new().with("program.p4", text)), "program.p4".as_ref(), &[])
}

/// A built-in program of `p4/npu`, as a wire between ports 1 and 2.
fn shipped(name: &str, defines: &[(&str, &str)]) -> Npu {
    let path = p4_folder().join("npu").join(name);
    let mut npu = load(&FileLoader, &path.with_extension("p4"), defines);
    for (from, to) in [(1, 2), (2, 1)] {
        let text = format!(
            r#"{{"tables": [{{"name": "Wire.forward", "entries": [{{
                "match": {{"npu.ingress_port": {from}}}, "action": "send", "args": {{"port": {to}}}
            }}]}}]}}"#
        );
        let control = serde_json::from_str(&text).expect("a control plane");
        npu.configure(&control).expect("the wire is installed");
    }
    npu
}

/// Constant latencies: half of 10 us before ingress, half after, 400 ns an access.
const STEADY: &str =
    "processing_min = 10000, processing_max = 10000, access_min = 400, access_max = 400";

/// A processor in virtual time.
struct Bench<D: Fn(Time) -> u64> {
    npu: Npu,
    depth: D,
    now: Time,
    passes: u64,
    /// Completed passes with time and output, in the order of completion.
    left: Vec<(PassId, Time, IngressOutput)>,
}

struct Depths(u64);

impl QueueDepths for Depths {
    fn packets(&self, _: PortId, _: u8) -> u64 {
        self.0
    }
}

fn bench(npu: Npu) -> Bench<impl Fn(Time) -> u64> {
    bench_with(npu, |_| 0)
}

fn bench_with<D: Fn(Time) -> u64>(npu: Npu, depth: D) -> Bench<D> {
    Bench { npu, depth, now: Time(0), passes: 0, left: Vec::new() }
}

impl<D: Fn(Time) -> u64> Bench<D> {
    /// A packet arrives at a port.
    fn receive(&mut self, at: Time, port: u16) -> PassId {
        self.run_to(at);
        let id = PassId(self.passes);
        self.passes += 1;
        let input = IngressInput { port: PortId(port), arrived: at, now: at, resubmitted: false };
        let packet = Packet { bytes: vec![0; 64], ..Packet::default() };
        self.npu.submit(id, &input, packet, PacketMetadata::default());
        id
    }

    fn run_to(&mut self, until: Time) {
        while let Some(next) = self.npu.next().filter(|next| *next <= until) {
            self.now = self.now.max(next);
            let depths = Depths((self.depth)(self.now));
            while let Some((id, out)) = self.npu.complete(self.now, &depths) {
                self.left.push((id, self.now, out));
            }
        }
        self.now = self.now.max(until);
    }

    /// Runs until all passes are complete.
    fn settle(&mut self) {
        self.run_to(Time(u64::MAX));
        assert_eq!(self.left.len() as u64, self.passes, "every pass ends");
    }

    fn cell(&self, name: &str, index: usize) -> u64 {
        let mut memories = self.npu.shared.memories.iter();
        let memory = memories.find(|memory| fits(&memory.name, name)).expect("a memory");
        memory.get(index as u64).expect("a cell")
    }
}

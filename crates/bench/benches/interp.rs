//! Benchmark of the interpreter: packets per second through an ordinary pipeline.
//!
//! The pipeline has a parser of three headers, a control with an exact, an LPM and a ternary table,
//! and a deparser.

#![allow(missing_docs)] // What `criterion_group` makes has none.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use num_bigint::BigUint;
use sojourn_p4::compile_with;
use sojourn_p4::interp::tables::{EntrySpec, EntryTarget, Match};
use sojourn_p4::interp::{Frame, Interpreter, NoExterns, PacketIn, PacketOut, SlotRange};
use sojourn_p4::interp::{Tables, copy_range};
use sojourn_p4::ir::UnitId;
use sojourn_p4::preprocess::{MemoryLoader, PreprocessOptions};
use std::path::Path;

const PROGRAM: &str = r#"
#include <core.p4>
header Ethernet { bit<48> dst; bit<48> src; bit<16> kind; }
header Ipv4 { bit<4> version; bit<4> ihl; bit<6> dscp; bit<2> ecn; bit<16> len; bit<16> id;
    bit<3> flags; bit<13> frag; bit<8> ttl; bit<8> protocol; bit<16> sum; bit<32> src; bit<32> dst; }
header Tcp { bit<16> src; bit<16> dst; bit<32> seq; bit<32> ack; bit<4> offset; bit<4> res;
    bit<8> flags; bit<16> window; bit<16> sum; bit<16> urgent; }
struct H { Ethernet eth; Ipv4 ip; Tcp tcp; bit<9> port; bit<5> queue; bit<1> drop; bit<9> in_port; }
parser P(packet_in packet, out H h);
control C(inout H h);
control D(packet_out packet, in H h);
package Main(P p, C c, D d);
parser Parse(packet_in packet, out H h) {
    state start {
        packet.extract(h.eth);
        transition select(h.eth.kind) { 0x0800: ip; default: accept; }
    }
    state ip {
        packet.extract(h.ip);
        transition select(h.ip.ihl, h.ip.frag, h.ip.protocol) {
            (5, 0, 6): tcp;
            default: accept;
        }
    }
    state tcp { packet.extract(h.tcp); transition accept; }
}
control Ingress(inout H h) {
    action send(bit<9> port, bit<48> mac) { h.port = port; h.eth.dst = mac; h.ip.ttl = h.ip.ttl - 1; }
    action drop() { h.drop = 1; }
    action set_queue(bit<5> queue) { h.queue = queue; }
    table source { key = { h.eth.src : exact; } actions = { NoAction; drop; } default_action = drop(); size = 1024; }
    table route { key = { h.ip.dst : lpm; } actions = { send; drop; } default_action = drop(); size = 1024; }
    table classify {
        key = { h.tcp.src : ternary; h.tcp.dst : ternary; h.ip.dscp : ternary; }
        actions = { set_queue; NoAction; } default_action = NoAction(); size = 64;
    }
    apply {
        h.drop = 0;
        if (h.ip.isValid() && h.ip.ttl > 1) {
            source.apply();
            if (h.drop == 0) { route.apply(); }
            if (h.tcp.isValid()) { classify.apply(); }
            if (h.ip.ecn != 0 && h.queue > 3) { h.ip.ecn = 3; }
        } else { h.drop = 1; }
    }
}
control Deparse(packet_out packet, in H h) { apply { packet.emit(h.eth); packet.emit(h.ip); packet.emit(h.tcp); } }
Main(Parse(), Ingress(), Deparse()) main;
"#;

/// The pipeline with its state.
struct Pipeline {
    interpreter: Interpreter,
    tables: Tables,
    frames: [Frame; 3],
    headers: [SlotRange; 3],
    out: PacketOut,
}

impl Pipeline {
    fn new() -> Pipeline {
        let core = include_str!("../../../p4/include/core.p4");
        let loader = MemoryLoader::new().with("bench.p4", PROGRAM).with("include/core.p4", core);
        let include_paths = vec!["include".into()];
        let options = PreprocessOptions { include_paths, ..PreprocessOptions::default() };
        let compiled = compile_with(&loader, Path::new("bench.p4"), &options);
        let program = compiled.expect("the program is correct").program;
        let frame = |at: usize| Frame::new(&program.units[at]);
        let headers = |unit: usize, param: usize| program.units[unit].params[param].layout.range();
        let mut tables = Tables::new(program.clone());
        fill(&mut tables);
        Pipeline {
            frames: [frame(0), frame(1), frame(2)],
            headers: [headers(0, 1), headers(1, 0), headers(2, 1)],
            interpreter: Interpreter::new(program),
            tables,
            out: PacketOut::new(),
        }
    }

    /// One packet through parser, control and deparser; the bytes that come out.
    fn packet(&mut self, bytes: &[u8], zeros: u32) -> usize {
        let [parser, control, deparser] = &mut self.frames;
        let packet = PacketIn::new(bytes, zeros);
        let parsed = self
            .interpreter
            .run_parser(UnitId(0), parser, packet, &self.tables, &mut NoExterns)
            .expect("the parser ends");
        assert!(parsed.accepted);
        copy_range(parser, self.headers[0], control, self.headers[1]);
        self.interpreter
            .run_control(UnitId(1), control, None, &self.tables, &mut NoExterns)
            .expect("the control ends");
        copy_range(control, self.headers[1], deparser, self.headers[2]);
        self.out.clear();
        self.interpreter
            .run_control(UnitId(2), deparser, Some(&mut self.out), &self.tables, &mut NoExterns)
            .expect("the deparser ends");
        self.out.bytes().len()
    }
}

fn fill(tables: &mut Tables) {
    let number = |value: u64| BigUint::from(value);
    let mut add =
        |table: &str, keys: Vec<(&str, Match)>, action: &str, args: Vec<(&str, u64)>, priority| {
            let id = tables.find(table).expect("the table is there");
            let keys = keys.into_iter().map(|(name, given)| (name.to_owned(), given)).collect();
            let args =
                args.into_iter().map(|(name, value)| (name.to_owned(), number(value))).collect();
            let target = EntryTarget::Action(action.to_owned(), args);
            tables.add(id, &EntrySpec { keys, target, priority }).expect("the entry fits");
        };
    for host in 0..500 {
        add("source", vec![("h.eth.src", Match::Exact(number(host)))], "NoAction", vec![], 0);
        let prefix = Match::Prefix { value: number(0x0a00_0000 + (host << 8)), length: 24 };
        let args = vec![("port", host % 64), ("mac", host)];
        add("route", vec![("h.ip.dst", prefix)], "send", args, 0);
    }
    for class in 0..16 {
        let port = Match::Ternary { value: number(class << 8), mask: number(0xff00) };
        let key = if class % 2 == 0 { "h.tcp.src" } else { "h.tcp.dst" };
        add("classify", vec![(key, port)], "set_queue", vec![("queue", class)], class as i64);
    }
}

fn packet(host: u8) -> Vec<u8> {
    let mut bytes = vec![0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, host, 8, 0];
    bytes.extend([0x45, 1, 5, 0xdc, 0, 1, 0x40, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, host, 9]);
    bytes.extend([5, 1, 3, 1, 0, 0, 0, 1, 0, 0, 0, 2, 0x50, 0x10, 0xff, 0xff, 0, 0, 0, 0]);
    bytes
}

fn benchmark(c: &mut Criterion) {
    let mut pipeline = Pipeline::new();
    let packets: Vec<Vec<u8>> = (0..=255).map(packet).collect();
    assert_eq!(pipeline.packet(&packets[7], 1460), 54);
    let mut group = c.benchmark_group("interpreter");
    group.throughput(Throughput::Elements(1));
    let mut at = 0usize;
    group.bench_function("three tables, 54 header bytes", |b| {
        b.iter(|| {
            at = (at + 1) % packets.len();
            pipeline.packet(&packets[at], 1460)
        });
    });
    group.finish();
}

criterion_group!(benches, benchmark);
criterion_main!(benches);

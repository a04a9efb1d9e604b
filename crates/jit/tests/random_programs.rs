//! Machine code and bytecode have the same results as the tree, on random programs.

use sojourn_jit::COMPILER;
use sojourn_p4::compile_with;
use sojourn_p4::interp::copy_layout;
use sojourn_p4::interp::{Executor, Frame, Interpreter, NoExterns, PacketIn, PacketOut, Tables};
use sojourn_p4::ir::{Body, Layout, UnitId};
use sojourn_p4::preprocess::{MemoryLoader, PreprocessOptions};
use std::fmt::Write as _;

/// Pseudo-random numbers from a seed (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % end
    }

    fn choose<'a>(&mut self, texts: &[&'a str]) -> &'a str {
        texts[self.below(texts.len() as u64) as usize]
    }
}

/// Names and widths of the variables of a program: unsigned, then signed.
const UNSIGNED: [(&str, u32); 8] = [
    ("h.a", 1),
    ("h.b", 7),
    ("h.c", 24),
    ("h.d", 32),
    ("h.e", 64),
    ("h.f", 65),
    ("h.g", 127),
    ("h.x", 192),
];
const SIGNED: [(&str, u32); 4] = [("m.i", 8), ("m.j", 32), ("m.k", 64), ("m.l", 100)];

/// An unsigned expression of this width.
fn value(random: &mut Random, width: u32, depth: u32) -> String {
    let same: Vec<&str> = UNSIGNED.iter().filter(|of| of.1 == width).map(|of| of.0).collect();
    if depth == 0 {
        return match (random.below(2), same.first()) {
            (0, Some(name)) => (*name).to_owned(),
            _ => {
                let (name, _) = UNSIGNED[random.below(8) as usize];
                let small = random.below(40);
                let number = random.below(1 << small) % (1 << width.min(40));
                let from = random.choose(&["cast", "number", "number"]);
                if from == "cast" {
                    format!("(bit<{width}>) {name}")
                } else {
                    format!("{width}w{number}")
                }
            }
        };
    }
    let inner = |random: &mut Random| value(random, width, depth - 1);
    match random.below(9) {
        0..=2 => {
            let op = random.choose(&["+", "-", "*", "&", "|", "^", "|+|", "|-|"]);
            format!("({} {op} {})", inner(random), inner(random))
        }
        3 => format!("({}{})", random.choose(&["~", "-"]), inner(random)),
        4 => {
            let by_width = [1, 7, 32][random.below(3) as usize];
            let by = value(random, by_width, depth - 1);
            format!("({} {} {by})", inner(random), random.choose(&["<<", ">>"]))
        }
        5 => format!("({} ? {} : {})", truth(random, depth - 1), inner(random), inner(random)),
        6 => {
            let (name, from) = UNSIGNED[random.below(8) as usize];
            if from < width {
                return format!("((bit<{width}>) {name})");
            }
            let low = random.below(u64::from(from - width) + 1) as u32;
            format!("{name}[{}:{low}]", low + width - 1)
        }
        7 if width > 1 => {
            let right = 1 + random.below(u64::from(width) - 1) as u32;
            let (a, b) = (value(random, width - right, depth - 1), value(random, right, depth - 1));
            format!("({a} ++ {b})")
        }
        8 => {
            let (name, from) = SIGNED[random.below(4) as usize];
            format!("((bit<{width}>) (int<{width}>) ({name} + {from}s1))")
        }
        _ => inner(random),
    }
}

/// A condition.
fn truth(random: &mut Random, depth: u32) -> String {
    if depth > 0 && random.below(3) == 0 {
        let (a, b) = (truth(random, depth - 1), truth(random, depth - 1));
        return match random.below(3) {
            0 => format!("(!{a})"),
            1 => format!("({a} && {b})"),
            _ => format!("({a} || {b})"),
        };
    }
    let op = random.choose(&["==", "!=", "<", "<=", ">", ">="]);
    if random.below(3) == 0 {
        let (name, width) = SIGNED[random.below(4) as usize];
        return format!("({name} {op} {width}s{})", random.below(3));
    }
    let (_, width) = UNSIGNED[random.below(8) as usize];
    format!("({} {op} {})", value(random, width, depth), value(random, width, depth))
}

fn statements(random: &mut Random, depth: u32) -> String {
    let mut text = String::new();
    for _ in 0..1 + random.below(4) {
        let (name, width) = UNSIGNED[random.below(8) as usize];
        let _ = match random.below(10) {
            0 | 1 if depth > 0 => {
                let (condition, then) = (truth(random, 2), statements(random, depth - 1));
                write!(
                    text,
                    "if ({condition}) {{ {then} }} else {{ {} }}",
                    statements(random, depth - 1)
                )
            }
            2 if depth > 0 => {
                let (one, two) = (statements(random, depth - 1), statements(random, depth - 1));
                let end = random.choose(&["break;", "continue;", ""]);
                write!(
                    text,
                    "for (bit<8> i{depth} = 0; i{depth} < 3; i{depth} = i{depth} + 1) {{
                    switch (h.b) {{ 3: {{ {one} }} 0: {{ {two} }} default: {{ h.b = h.b + 1; }} }}
                    if ({}) {{ {end} }} }}",
                    truth(random, 1)
                )
            }
            3 => {
                let (name, width) = SIGNED[random.below(4) as usize];
                write!(text, "{name} = (int<{width}>) {};", value(random, width, 2))
            }
            4 if width > 2 => {
                let low = random.below(u64::from(width) / 2) as u32;
                let high = low + random.below(u64::from(width - low)) as u32;
                write!(text, "{name}[{high}:{low}] = {};", value(random, high - low + 1, 2))
            }
            5 => write!(text, "t.apply();"),
            6 if depth < 2 => {
                write!(
                    text,
                    "if ({}) {{ {} }}",
                    truth(random, 1),
                    random.choose(&["return;", "exit;"])
                )
            }
            _ => write!(text, "{name} = {};", value(random, width, 3)),
        };
    }
    text
}

fn program(random: &mut Random) -> String {
    let (first, action) = (statements(random, 0).replace("t.apply();", ""), value(random, 32, 2));
    format!("
        error {{ NoError, PacketTooShort, NoMatch, StackOutOfBounds, HeaderTooShort, ParserTimeout }}
        match_kind {{ exact, ternary, lpm }}
        extern packet_in {{ void extract<T>(out T h); T lookahead<T>(); void advance(in bit<32> n); }}
        extern packet_out {{ void emit<T>(in T h); }}
        extern void verify(in bool check, in error toSignal);
        header H {{ bit<1> a; bit<7> b; bit<24> c; bit<32> d; bit<64> e; bit<65> f; bit<127> g; bit<192> x; }}
        header S {{ bit<3> p; bit<65> q; bit<4> r; bit<128> s; }}
        struct M {{ int<8> i; int<32> j; int<64> k; int<100> l; S s; }}
        parser P(packet_in p, out H h, inout M m) {{
            state start {{
                m.j = (int<32>) p.lookahead<bit<32>>();
                transition select(p.lookahead<bit<8>>(), p.lookahead<bit<16>>()[3:0]) {{
                    (0x80 &&& 0x80, _): both; (0..0x20, 1..7): short; (_, 9): reject; default: both; }}
            }}
            state short {{ p.extract(m.s); verify(m.s.p != 7, error.NoMatch); transition select(m.s.s) {{
                1: reject; default: rest; }} }}
            state both {{ p.extract(h); p.advance((bit<32>) h.b[1:0]); transition rest; }}
            state rest {{ transition select(p.lookahead<bit<1>>()) {{ 0: both; 1: accept; }} }}
        }}
        control C(inout H h, inout M m) {{
            action one(bit<32> data) {{ {first} h.d = h.d + data; }}
            action two() {{ h.d = {action}; exit; }}
            action none() {{}}
            table t {{ key = {{ h.b : exact; h.c : ternary; h.f : exact; }} actions = {{ one; two; none; }}
                default_action = one(5);
                const entries = {{ (1, _, 0) : two(); (2, 0x10 &&& 0x10, 1) : one(9); }} }}
            apply {{ {} }}
        }}
        control D(packet_out p, in H h, in M m) {{ apply {{ p.emit(h); p.emit(m.s); }} }}
        parser Ps(packet_in p, out H h, inout M m);
        control Cs(inout H h, inout M m);
        control Ds(packet_out p, in H h, in M m);
        package Pipe(Ps p, Cs c, Ds d);
        Pipe(P(), C(), D()) main;", statements(random, 2))
}

/// All observable results of a processed packet.
fn run(interpreter: &Interpreter, packet: &[u8], units: [UnitId; 3]) -> String {
    let program = interpreter.program();
    let tables = Tables::new(program.clone());
    let [parser, control, deparser] = units;
    let mut seen = String::new();
    let mut handed: Vec<(Frame, Layout)> = Vec::new();
    let mut out = PacketOut::new();
    for unit in [parser, control, deparser] {
        let mut frame = interpreter.frame(unit);
        let params = &program.units[unit.index()].params;
        let shared = || params.iter().filter(|p| !matches!(p.layout, Layout::Object));
        for ((from, source), to) in handed.iter().zip(shared()) {
            copy_layout(from, source, &mut frame, &to.layout);
        }
        let ended = match &program.units[unit.index()].body {
            Body::Parser(_) => {
                let input = PacketIn::new(packet, 3);
                let parsed =
                    interpreter.run_parser(unit, &mut frame, input, &tables, &mut NoExterns);
                format!("{parsed:?}")
            }
            Body::Control { .. } => {
                let out = (unit == deparser).then_some(&mut out);
                let ended = interpreter.run_control(unit, &mut frame, out, &tables, &mut NoExterns);
                format!("{ended:?}")
            }
        };
        let own = program.units[unit.index()].slots.len();
        let named = program.units[unit.index()].slots.iter().filter(|slot| !slot.temporary).count();
        let slots = program.units[unit.index()].slots.iter().zip(&frame.narrow[..own]);
        let slots: Vec<_> = slots.map(|(slot, value)| (&slot.name, value)).collect();
        let _ = writeln!(seen, "{ended} {named} {slots:?} {:?}", frame.wide);
        handed = shared().map(|param| (frame.clone(), param.layout.clone())).collect();
    }
    let _ = writeln!(seen, "{:?}", out.take());
    seen
}

/// The number in an environment variable of proptest, which this test follows.
fn setting(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

#[test]
fn random_programs_do_the_same_in_machine_code_bytecode_and_tree() {
    let mut random = Random(setting("PROPTEST_RNG_SEED").unwrap_or(1).max(1));
    let mut compiled_units = 0;
    let programs = setting("PROPTEST_CASES").unwrap_or(256).div_ceil(2);
    for number in 0..programs {
        let text = program(&mut random);
        let loader = MemoryLoader::new().with("chance.p4", text.as_str());
        let compiled = compile_with(&loader, "chance.p4".as_ref(), &PreprocessOptions::default())
            .unwrap_or_else(|error| panic!("{number}: {error}\n{text}"));
        let program = compiled.program;
        let unit = |name: &str| {
            let at = program.units.iter().position(|unit| &*unit.name == name);
            UnitId(at.expect("it is there") as u32)
        };
        let units = ["P", "C", "D"].map(unit);
        let mut machine = Interpreter::with_executor(program.clone(), Executor::Native);
        machine.compile_by(&COMPILER);
        compiled_units += machine.compile_all();
        let flat = Interpreter::with_executor(program.clone(), Executor::Flat);
        let tree = Interpreter::with_executor(program.clone(), Executor::Tree);
        for _ in 0..25 {
            let length = random.below(160);
            let packet: Vec<u8> = (0..length)
                .map(|_| if random.below(3) == 0 { random.below(3) } else { random.below(256) } as u8)
                .collect();
            let by_tree = run(&tree, &packet, units);
            for (how, code) in [("machine code", &machine), ("flat code", &flat)] {
                let by_code = run(code, &packet, units);
                assert_eq!(by_code, by_tree, "{how}, program {number}, {packet:02x?}\n{text}");
            }
        }
    }
    assert_eq!(compiled_units as u64, 3 * programs, "a unit was left to the tree");
}

//! Register actions of Tofino 2 as P4 text: their instructions, what packets see of them by each
//! executor, and the refusals. The expected instructions are those of the open-source back end.

use crate::LoadOptions;
use crate::testing::{Parts, action, load_text_with};
use proptest::prelude::*;
use sojourn_packet::Packet;
use sojourn_packet::dataplane::{DataPlane, EgressInput};
use sojourn_target::load::Executor;

const TYPES: &str = "struct pair_t { bit<32> first; bit<32> second; }
struct wide_pair_t { bit<64> first; bit<64> second; }";

fn parts<'t>(egress: &'t str, apply: &'t str) -> Parts<'t> {
    Parts { types: TYPES, egress, apply, second_chip: true, ..Parts::default() }
}

/// The instruction of the action `act` of these declarations.
fn instruction(egress: &str, apply: &str) -> String {
    action(&parts(egress, apply).loaded(), "act").instruction.to_string()
}

/// A register of `entry` with an action of one 32-bit output.
fn one(entry: &str, body: &str) -> String {
    format!(
        "Register<{entry}, bit<9>>(512) reg;
         RegisterAction<{entry}, bit<9>, bit<32>>(reg) act = {{
             void apply(inout {entry} v, out bit<32> r) {{ {body} }}
         }};"
    )
}

const CALL: &str = "m.a = act.execute(0); h.ethernet.dst = 16w0 ++ m.a;";

#[test]
fn four_comparisons_and_three_outputs_are_one_instruction() {
    let egress = "Register<pair_t, bit<9>>(512) reg;
        RegisterAction3<pair_t, bit<9>, bit<32>, bit<32>, bit<32>>(reg) act = {
            void apply(inout pair_t v, out bit<32> x, out bit<32> y, out bit<32> z) {
                if ((v.first > m.a && v.second < 50) || (v.first == 7 && m.b >= 100)) {
                    v.first = v.first + 1; v.second = m.a;
                }
                x = v.first; y = v.second; z = this.address<bit<32>>();
            }
        };";
    let apply = "m.a = act.execute(0, m.b, m.c); h.ethernet.dst = m.a[15:0] ++ m.b;
        h.ethernet.src = 16w0 ++ m.c;";
    assert_eq!(
        instruction(egress, apply),
        "cmp0: grt.u lo -phv_lo\n\
         cmp1: lss.u hi row0\n\
         cmp2: equ lo -7\n\
         cmp3: geq.u phv_hi row1\n\
         lo1: add lo 1 if cmp in 0xf888\n\
         hi1: alu_b phv_lo if cmp in 0xf888\n\
         output: alu_lo\n\
         output2: alu_hi\n\
         output3: address"
    );
}

#[test]
fn a_comparison_has_a_mask_and_constants_of_six_bits() {
    let text =
        instruction(&one("bit<32>", "r = 0; if ((v & 0xff) > 20 && v != 31) { r = 1; }"), CALL);
    assert_eq!(
        text,
        "cmplo: grt.u (lo & 255) -20\n\
         cmphi: neq lo -31\n\
         hi1: alu_a 1 if cmplo & cmphi\n\
         output: alu_hi if cmplo & cmphi"
    );
    let text = instruction(&one("bit<32>", "r = 0; if (v > 0xf0000000) { r = v; }"), CALL);
    assert!(text.starts_with("cmplo: grt.u lo row0"), "{text}");
}

#[test]
fn a_wide_word_is_copied_whole_and_put_out_by_halves() {
    let egress = "Register<wide_pair_t, bit<9>>(512) reg;
        RegisterAction2<wide_pair_t, bit<9>, bit<32>, bit<32>>(reg) act = {
            void apply(inout wide_pair_t v, out bit<32> low, out bit<32> high) {
                low = v.second[31:0]; high = v.second[63:32];
                v.second = v.first; v.first = 16w0 ++ h.ethernet.src;
            }
        };";
    let apply = "m.a = act.execute(0, m.b); h.ethernet.dst = m.b[15:0] ++ m.a;";
    let frames = [frame([1, 2, 3, 4, 5, 6], 0), frame([9; 6], 0), frame([0; 6], 0)];
    let seen = everywhere(&parts(egress, apply), &frames);
    assert_eq!(seen[2][..6], [1, 2, 3, 4, 5, 6]);
}

/// Ethernet headers of the frames behind egress, in their order through one switch.
fn passes(parts: &Parts<'_>, executor: Executor, frames: &[[u8; 14]]) -> Vec<[u8; 14]> {
    let compiler = Some(&sojourn_jit::COMPILER as _);
    let options = LoadOptions { executor, compiler, ..LoadOptions::default() };
    let loaded = load_text_with(&parts.text(), options);
    let mut plane =
        loaded.unwrap_or_else(|error| panic!("{}", error.render(&Default::default()))).plane;
    let run = |bytes: &[u8; 14]| {
        let packet = Packet { bytes: bytes.to_vec(), ..Packet::default() };
        let out = plane.egress(&EgressInput::default(), packet).packet.expect("it is sent");
        out.bytes[..14].try_into().expect("14 bytes")
    };
    frames.iter().map(run).collect()
}

const EXECUTORS: [Executor; 3] = [Executor::Tree, Executor::Flat, Executor::Native];

/// The same by all executors.
fn everywhere(parts: &Parts<'_>, frames: &[[u8; 14]]) -> Vec<[u8; 14]> {
    let [tree, flat, native] = EXECUTORS.map(|executor| passes(parts, executor, frames));
    assert_eq!(tree, flat);
    assert_eq!(tree, native);
    tree
}

fn frame(src: [u8; 6], kind: u16) -> [u8; 14] {
    let mut bytes = [0; 14];
    bytes[6..12].copy_from_slice(&src);
    bytes[12..].copy_from_slice(&kind.to_be_bytes());
    bytes
}

#[test]
fn the_upper_half_of_a_word_of_64_bits_is_copied_and_not_carried_into() {
    let egress = "Register<bit<64>, bit<9>>(512, 0x1ffffffff) reg;
        RegisterAction2<bit<64>, bit<9>, bit<32>, bit<32>>(reg) act = {
            void apply(inout bit<64> v, out bit<32> low, out bit<32> high) {
                if (h.ethernet.kind == 1) { v = v + 1; } else { v = 16w0 ++ h.ethernet.src; }
                low = v[31:0]; high = v[63:32];
            }
        };";
    let apply = "m.a = act.execute(0, m.b); h.ethernet.dst = m.b[15:0] ++ m.a;";
    let parts = parts(egress, apply);
    let warned: Vec<_> = parts.loaded().warnings.iter().map(|warning| warning.code).collect();
    assert_eq!(warned, ["T0352", "T0352"]);
    let frames = [frame([0; 6], 1), frame([1, 2, 3, 4, 5, 6], 0), frame([0; 6], 1)];
    let seen = everywhere(&parts, &frames).into_iter().map(|bytes| bytes[..6].to_vec());
    assert_eq!(
        seen.collect::<Vec<_>>(),
        [[0, 1, 0, 0, 0, 0], [1, 2, 3, 4, 5, 6], [1, 2, 3, 4, 5, 7]]
    );
}

#[test]
fn a_number_of_128_bits_is_set_whole_and_counted_in_its_lowest_32_bits() {
    let egress = "Register<bit<128>, bit<9>>(512, 0x50000000600000007ffffffff) reg;
        RegisterAction3<bit<128>, bit<9>, bit<32>, bit<32>, bit<32>>(reg) act = {
            void apply(inout bit<128> v, out bit<32> w, out bit<32> x, out bit<32> y) {
                if (h.ethernet.kind == 1) { v = v + 1; } else { v = (bit<128>)h.ethernet.src; }
                w = v[31:0]; x = v[95:64]; y = v[127:96];
            }
        };";
    let apply = "m.a = act.execute(0, m.b, m.c);
        h.ethernet.dst = m.a[15:0] ++ m.b; h.ethernet.src = 16w0 ++ m.c;";
    let parts = parts(egress, apply);
    let warned: Vec<_> = parts.loaded().warnings.iter().map(|warning| warning.code).collect();
    // The comparison of `kind` and the sum see 32 bits.
    assert_eq!(warned, ["T0352", "T0352"]);
    let frames = [frame([0; 6], 1), frame([1, 2, 3, 4, 5, 6], 0), frame([0; 6], 1)];
    let seen = everywhere(&parts, &frames).into_iter().map(|bytes| bytes[..12].to_vec());
    // No carry: the lowest word wraps around and the others stay.
    assert_eq!(
        seen.collect::<Vec<_>>(),
        [
            [0, 0, 0, 0, 0, 6, 0, 0, 0, 0, 0, 5],
            [5, 6, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
            [5, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
        ]
    );
}

#[test]
fn a_number_of_128_bits_has_the_instructions_and_the_refusals_of_the_compiler() {
    let on = |body: &str| instruction(&one("bit<128>", body), CALL);
    assert_eq!(
        on("r = v[127:96]; v = 0x10000000000000005;"),
        "lo1: alu_a 5\nhi1: alu_a 1\noutput: mem_hi"
    );
    assert_eq!(on("r = v[31:0]; v = v | (bit<128>)m.a;"), "lo1: or lo phv_lo\noutput: mem_lo");
    let compared = on("r = v[31:0]; if (v == 0) { v = 7; }");
    assert_eq!(
        compared,
        "cmplo: equ lo\nlo1: alu_a 7 if cmplo\nhi1: alu_a 0 if cmplo\noutput: mem_lo"
    );
    for (body, code) in [
        ("r = v[39:8]; v = 5;", "T0408"),
        ("r = v[31:0]; v = ~v;", "T0313"),
        ("r = v[31:0]; if (v[31:0] > m.a) { v = 1; }", "T0204"),
    ] {
        let refused = parts(&one("bit<128>", body), CALL).refused();
        let codes: Vec<_> = refused.iter().map(|(code, _)| *code).collect();
        assert_eq!(codes, [code], "{body}: {refused:?}");
    }
}

#[test]
fn an_action_that_learns_is_refused_by_its_name() {
    let egress = "Register<bit<32>, bit<9>>(512, 3) reg;
        LearnAction<bit<32>, bit<9>, bit<32>, bit<32>>(reg) act = {
            void apply(inout bit<32> v, in bit<32> digest, in bool learn, out bit<32> r) {
                if (learn) { v = digest; } r = v;
            }
        };";
    let refused = parts(egress, "m.a = act.execute(0);").refused();
    assert_eq!(refused[0], ("T0804", "LearnAction.execute is not simulated".to_owned()));
}

#[test]
fn clear_sets_all_entries_to_a_constant() {
    let egress = "Register<bit<32>, bit<9>>(512, 3) reg;
        RegisterAction<bit<32>, bit<9>, bit<32>>(reg) act = {
            void apply(inout bit<32> v, out bit<32> r) { v = v + 1; r = v; }
        };";
    let apply = "if (h.ethernet.kind == 1) { reg.clear(20, 0); }
        else { m.a = act.execute(h.ethernet.kind[8:0]); h.ethernet.dst = 16w0 ++ m.a; }";
    let frames = [2, 2, 9, 1, 2, 9].map(|kind| frame([0; 6], kind));
    let seen = everywhere(&parts(egress, apply), &frames);
    let found: Vec<_> = seen.iter().map(|bytes| bytes[5]).collect();
    assert_eq!(found, [4, 5, 4, 0, 21, 21]);
    let other = "if (h.ethernet.kind == 1) { reg.clear(m.a); } m.a = act.execute(0);";
    let refused = parts(egress, other).refused();
    assert!(refused[0].1.contains("no constant"), "{refused:?}");
}

#[test]
fn a_search_finds_the_least_of_16_entries_and_changes_it() {
    let egress = "Register<bit<8>, bit<13>>(64, 9) reg;
        RegisterAction<bit<8>, bit<13>, bit<8>>(reg) fill = {
            void apply(inout bit<8> v) { v = h.ethernet.src[7:0]; }
        };
        MinMaxAction2<bit<8>, bit<9>, bit<8>, bit<4>>(reg) act = {
            void apply(inout bit<128> v, out bit<8> least, out bit<4> at) {
                least = this.min8(v, 0xfff0, at, 3);
            }
        };";
    let apply = "bit<4> at = 0; bit<8> least = 0;
        if (h.ethernet.kind[7:0] < 100) { fill.execute(h.ethernet.kind[12:0]); }
        else { least = act.execute(1, at); }
        h.ethernet.dst = 36w0 ++ least ++ at;";
    // Entries 16 to 31 are the word 1; the mask leaves the first four of them out.
    let fill = |at: u16, value: u8| frame([0, 0, 0, 0, 0, value], at);
    let ask = frame([0; 6], 200);
    let frames = [fill(17, 1), fill(21, 4), fill(30, 4), ask, ask, ask, ask];
    let seen = everywhere(&parts(egress, apply), &frames);
    let found: Vec<_> =
        seen[3..].iter().map(|bytes| (bytes[4] << 4 | bytes[5] >> 4, bytes[5] & 15)).collect();
    assert_eq!(found, [(4, 14), (4, 5), (7, 14), (7, 5)]);
}

#[test]
fn quotient_and_remainder_are_put_out_together() {
    let egress = "Register<bit<16>, bit<9>>(512, 1000) reg;
        RegisterAction<bit<16>, bit<9>, bit<16>>(reg) act = {
            void apply(inout bit<16> v, out bit<16> quotient, out bit<16> remainder) {
                quotient = v / h.ethernet.kind; remainder = v % h.ethernet.kind;
            }
        };";
    let apply = "bit<16> rest; m.d = act.execute(0, rest); h.ethernet.dst = 16w0 ++ m.d ++ rest;";
    let seen = everywhere(&parts(egress, apply), &[frame([0; 6], 7), frame([0; 6], 0)]);
    let found: Vec<_> = seen.iter().map(|bytes| bytes[2..6].to_vec()).collect();
    assert_eq!(found, [[0, 142, 0, 6], [0x7f, 0xff, 3, 0xe8]]);
}

#[test]
fn predicate_puts_out_one_bit_of_16_for_the_outcome() {
    let egress = "Register<bit<16>, bit<9>>(512, 5) reg;
        RegisterAction<bit<16>, bit<9>, bit<16>>(reg) act = {
            void apply(inout bit<16> v, out bit<16> r) {
                r = this.predicate(v > 1, v > 100, v == 5, h.ethernet.kind > 7);
            }
        };";
    let apply = "m.d = act.execute(0); h.ethernet.dst = 32w0 ++ m.d;";
    let seen = everywhere(&parts(egress, apply), &[frame([0; 6], 7), frame([0; 6], 8)]);
    let found: Vec<_> = seen.iter().map(|bytes| bytes[4..6].to_vec()).collect();
    assert_eq!(found, [[0, 1 << 5], [1 << 5, 0]]);
}

#[test]
fn a_fifth_comparison_names_the_chip() {
    let body = "r = 0; if (v > 1 && v > 2 && v > 3 && v > 4 && v > 5) { r = 1; }";
    let refused = parts(&one("bit<32>", body), CALL).refused();
    assert_eq!(refused.len(), 1);
    assert_eq!(refused[0].0, "T0201");
    assert!(refused[0].1.ends_with("Tofino 2 has 4"), "{}", refused[0].1);
}

#[test]
fn a_program_for_tofino_1_with_an_extern_of_tofino_2_gets_one_line_that_names_the_chip() {
    for egress in [
        "Register<bit<32>, bit<9>>(512) reg;
         RegisterAction2<bit<32>, bit<9>, bit<32>, bit<32>>(reg) act = {
             void apply(inout bit<32> v, out bit<32> r, out bit<32> s) { r = v; s = v; }
         };",
        "Register<bit<32>, bit<9>>(512) reg;
         RegisterAction<bit<32>, bit<9>, bit<32>>(reg) act = {
             void apply(inout bit<32> v, out bit<32> r, out bit<32> s) { r = v; s = v; }
         };",
        "Register<bit<32>, bit<9>>(512) reg;
         RegisterAction<bit<32>, bit<9>, bit<32>>(reg) act = {
             void apply(inout bit<32> v, out bit<32> r) { r = this.address(); }
         };",
    ] {
        let parts = Parts { second_chip: false, ..parts(egress, "m.a = act.execute(0);") };
        let refused = parts.refused();
        assert_eq!(refused.len(), 1, "{refused:?}");
        assert!(refused[0].1.contains("Tofino 2"), "{}", refused[0].1);
    }
}

/// A condition on the words `v.x`, `v.y` and the fields `m.a`, `m.b`.
type Condition = (&'static str, fn([u32; 4]) -> bool);

const CONDITIONS: [Condition; 8] = [
    ("v.first == m.a", |[x, _, a, _]| x == a),
    ("v.second < m.b", |[_, y, _, b]| y < b),
    ("(v.first & 12) != 0", |[x, _, _, _]| x & 12 != 0),
    ("(m.b & 3) == 1", |[_, _, _, b]| b & 3 == 1),
    ("v.second > 0xfffffff0", |[_, y, _, _]| y > 0xffff_fff0),
    ("m.a >= 20", |[_, _, a, _]| a >= 20),
    ("v.first > m.b + 20", |[x, _, _, b]| u64::from(x) > u64::from(b) + 20),
    ("v.second != 5", |[_, y, _, _]| y != 5),
];

/// Junction of four conditions.
type Junction = (&'static str, fn([bool; 4]) -> bool);

const JUNCTIONS: [Junction; 4] = [
    ("(A && B) || (C && D)", |[a, b, c, d]| (a && b) || (c && d)),
    ("A && (B || !C) && D", |[a, b, c, d]| a && (b || !c) && d),
    ("!(A || B) && (C || D)", |[a, b, c, d]| !(a || b) && (c || d)),
    ("A || (!B && C && !D)", |[a, b, c, d]| a || (!b && c && !d)),
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases / 8))]
    #[test]
    fn an_action_of_four_comparisons_does_what_its_text_says_by_every_executor(
        chosen in prop::array::uniform4(0..CONDITIONS.len()),
        junction in 0..JUNCTIONS.len(),
        inputs in prop::collection::vec((0u32..40, prop_oneof![0u32..40, any::<u32>()]), 12),
    ) {
        let mut condition = JUNCTIONS[junction].0.to_owned();
        for (name, index) in ["A", "B", "C", "D"].iter().zip(chosen) {
            condition = condition.replace(name, &format!("({})", CONDITIONS[index].0));
        }
        let egress = format!(
            "Register<pair_t, bit<9>>(512, {{ 3, 5 }}) reg;
             RegisterAction2<pair_t, bit<9>, bit<16>, bit<32>>(reg) act = {{
                 void apply(inout pair_t v, out bit<16> old, out bit<32> new) {{
                     old = v.first[15:0];
                     if ({condition}) {{ v.first = v.first + m.a; v.second = m.b; }}
                     else {{ v.first = m.b; v.second = v.second - 3; }}
                     new = v.second;
                 }}
             }};"
        );
        let apply = "m.a = 16w0 ++ h.ethernet.kind; m.b = h.ethernet.src[31:0];
            bit<32> new; m.d = act.execute(0, new); h.ethernet.dst = m.d ++ new;";
        let frames: Vec<_> = inputs
            .iter()
            .map(|(a, b)| {
                let [p, q, r, s] = b.to_be_bytes();
                frame([0, 0, p, q, r, s], *a as u16)
            })
            .collect();
        let seen = everywhere(&parts(&egress, apply), &frames);
        let (mut x, mut y) = (3u32, 5u32);
        for ((a, b), bytes) in inputs.iter().zip(seen) {
            let old = x as u16;
            let holds = chosen.map(|index| CONDITIONS[index].1([x, y, *a, *b]));
            (x, y) = if JUNCTIONS[junction].1(holds) {
                (x.wrapping_add(*a), *b)
            } else {
                (*b, y.wrapping_sub(3))
            };
            let expected = [old.to_be_bytes().to_vec(), y.to_be_bytes().to_vec()].concat();
            prop_assert_eq!(&bytes[..6], &expected, "{}", condition);
        }
    }
}

//! Register actions as P4 text against the instructions that the open-source Tofino back end
//! chooses for them, and the refusals.

use super::super::testing::{Parts, action, load_text_with, p4_folder};
use crate::{LoadOptions, Loaded, load};
use sojourn_packet::Packet;
use sojourn_packet::dataplane::{DataPlane, EgressInput};

/// A register of `entry` with the action `act` of the given output and body, executed once.
fn with_action(entry: &str, output: &str, body: &str) -> String {
    let (ty, out, call) = match output {
        "" => ("bit<32>", String::new(), "act.execute(0);"),
        ty => (ty, format!(", out {ty} r"), "act.execute(0);"),
    };
    let _ = call;
    format!(
        "Register<{entry}, bit<9>>(512) reg;
         RegisterAction<{entry}, bit<9>, {ty}>(reg) act = {{
             void apply(inout {entry} v{out}) {{ {body} }}
         }};"
    )
}

const TYPES: &str = "struct pair_t { bit<32> first; bit<32> second; }
struct signed_pair_t { int<32> first; int<32> second; }
enum verdict_t { keep, mark, drop }";

fn parts<'t>(egress: &'t str) -> Parts<'t> {
    Parts { types: TYPES, egress, apply: "act.execute(0);", ..Parts::default() }
}

/// The instruction of an action.
fn compiled(entry: &str, output: &str, body: &str) -> String {
    let egress = with_action(entry, output, body);
    action(&parts(&egress).loaded(), "act").instruction.to_string()
}

/// The code of the one error with which an action is refused.
fn refusal(entry: &str, output: &str, body: &str) -> &'static str {
    let egress = with_action(entry, output, body);
    let refused = parts(&egress).refused();
    assert_eq!(refused.len(), 1, "{refused:?}");
    refused[0].0
}

/// The codes of the warnings about an accepted action.
fn warnings(entry: &str, output: &str, body: &str) -> Vec<&'static str> {
    let egress = with_action(entry, output, body);
    parts(&egress).loaded().warnings.iter().map(|warning| warning.code).collect()
}

fn shipped(program: &str) -> Loaded {
    let path = p4_folder().join("tna").join(program);
    let text = std::fs::read_to_string(&path).unwrap();
    let options =
        LoadOptions { include_paths: vec![p4_folder().join("tna")], ..Default::default() };
    load_text_with(&text, options)
        .unwrap_or_else(|error| panic!("{}", error.render(&Default::default())))
}

// ---- The programs of the papers ---------------------------------------------------------------

#[test]
fn p4_codels_first_register_asks_for_a_zero_state_and_the_violation() {
    let loaded = shipped("p4_codel.p4");
    assert_eq!(
        action(&loaded, "check_first_violation").instruction.to_string(),
        "cmplo: equ lo\n\
         cmphi: equ phv_lo -1\n\
         lo1: alu_a 1 if cmphi\n\
         lo2: alu_a 0 if !cmphi\n\
         hi1: alu_a 1 if cmplo & cmphi\n\
         output: alu_hi if cmplo & cmphi"
    );
}

#[test]
fn p4_codels_second_register_uses_the_unit_up() {
    let loaded = shipped("p4_codel.p4");
    assert_eq!(
        action(&loaded, "update_schedule").instruction.to_string(),
        "cmplo: equ phv_lo -1\n\
         cmphi: grt.u -lo phv_hi\n\
         lo1: add row0 phv_hi if cmplo\n\
         lo2: add lo math if !cmplo & cmphi\n\
         hi1: alu_a 1 if cmplo\n\
         hi2: add hi 1 if !cmplo & cmphi\n\
         math: mem_hi\n\
         output: predicate if !cmplo & cmphi"
    );
}

#[test]
fn codel_acts_schedule_is_compared_modulo_the_clock() {
    let loaded = shipped("codel_act.p4");
    assert_eq!(
        action(&loaded, "update_u_step").instruction.to_string(),
        "cmplo: geq.uus -lo phv_lo\n\
         lo2: add lo math if cmplo\n\
         hi1: add hi 2 if cmplo\n\
         math: mem_hi\n\
         output: predicate if cmplo"
    );
    assert_eq!(
        action(&loaded, "update_u_write").instruction.to_string(),
        "lo1: alu_b phv_lo\nhi1: alu_b phv_hi"
    );
    assert_eq!(action(&loaded, "update_u_read").instruction.to_string(), "output: mem_lo");
}

#[test]
fn all_registers_of_the_shipped_programs_fit_the_chip() {
    for program in ["p4_codel.p4", "codel_act.p4"] {
        let path = p4_folder().join("tna").join(program);
        let include_paths = vec![p4_folder().join("include")];
        let options = LoadOptions { include_paths, ..LoadOptions::default() };
        if let Err(error) = load(&path, &options) {
            panic!("{}", error.render(&Default::default()));
        }
    }
}

// ---- Comparisons ------------------------------------------------------------------------------

#[test]
fn signed_differences_of_the_registers_width_are_compared_modulo_it() {
    let body = "r = 0; if ((int<32>)m.now - v >= 0) { r = 1; }";
    assert_eq!(
        compiled("int<32>", "bit<8>", body),
        "cmplo: geq.uus -lo phv_lo\nhi1: alu_a 1 if cmplo\noutput: alu_hi if cmplo"
    );
}

/// `(a - b - c) OP 0` as the vendor's model of the chip computes `.uus`: in `width` bits, of which
/// the highest is the sign.
fn modular(operator: &str, sum: i64, width: u32) -> bool {
    let sum = (sum as u32) << (32 - width);
    let (negative, zero) = (sum >> 31 == 1, sum == 0);
    match operator {
        ">" => !negative && !zero,
        "<=" => zero || negative,
        ">=" => zero || !negative,
        _ => negative && !zero,
    }
}

/// Whether a comparison of the register `v` with the field `x` holds, for each of the pairs.
fn holds(width: u32, condition: &str, pairs: &[(u32, u32)]) -> Vec<bool> {
    let egress = format!(
        "Register<bit<{width}>, bit<9>>(16) reg;
         RegisterAction<bit<{width}>, bit<9>, bit<8>>(reg) act = {{
             void apply(inout bit<{width}> v, out bit<8> r) {{
                 r = 0; if ({condition}) {{ r = 1; }}
             }}
         }};"
    );
    let apply =
        format!("m.x = h.ethernet.src[{}:0]; h.ethernet.dst = (bit<48>)act.execute(0);", width - 1);
    let metadata = format!("bit<{width}> x;");
    let parts = Parts { metadata: &metadata, egress: &egress, apply: &apply, ..Parts::default() };
    let mut plane = parts.loaded().plane;
    let mut one = |(v, x): (u32, u32)| {
        plane.register_mut("reg").unwrap().set(0, [v.into(), 0]);
        let mut bytes = vec![0; 14];
        bytes[8..12].copy_from_slice(&x.to_be_bytes());
        let packet = Packet { bytes, ..Packet::default() };
        plane.egress(&EgressInput::default(), packet).packet.unwrap().bytes[5] == 1
    };
    pairs.iter().map(|pair| one(*pair)).collect()
}

#[test]
fn a_signed_cast_of_a_difference_compares_modulo_the_registers_width() {
    for width in [8, 16, 32] {
        let top = u32::MAX >> (32 - width);
        let half = top / 2;
        let marks = [0, 1, half - 1, half, half + 1, half + 2, top - 1, top];
        let pairs: Vec<_> = marks.iter().flat_map(|v| marks.map(|x| (*v, x))).collect();
        for operator in [">", "<=", ">=", "<"] {
            for (text, sum) in [
                ("(int<W>)(m.x - v) OP 0", (|v, x| x - v) as fn(i64, i64) -> i64),
                ("(int<W>)(v - m.x) OP 0", |v, x| v - x),
                ("(int<W>)(v + m.x) OP 0", |v, x| v + x),
                ("0 OP (int<W>)(m.x - v)", |v, x| v - x),
                ("(int<W>)(m.x - v) OP 5", |v, x| x - v - 5),
                ("(int<W>)(v - 3) OP 0", |v, _| v - 3),
                ("(int<W>)(m.x - v - 3) OP 0", |v, x| x - v - 3),
                ("(int<W>)m.x - (int<W>)v OP 0", |v, x| x - v),
            ] {
                let text = text.replace('W', &width.to_string()).replace("OP", operator);
                let expected: Vec<bool> = pairs
                    .iter()
                    .map(|(v, x)| modular(operator, sum((*v).into(), (*x).into()), width))
                    .collect();
                assert_eq!(holds(width, &text, &pairs), expected, "{text}");
            }
        }
    }
}

#[test]
fn a_variable_that_holds_a_difference_compares_like_it() {
    let local = "bit<32> ago = m.now - v; r = 0; if ((int<32>)ago > 0) { r = 1; }";
    let text = compiled("bit<32>", "bit<8>", local);
    assert!(text.starts_with("cmplo: grt.uus -lo phv_lo\n"), "{text}");
    let unsigned = compiled("int<32>", "bit<8>", "r = 0; if ((bit<32>)(v - 7) > 0) { r = 1; }");
    assert!(unsigned.starts_with("cmplo: grt.u lo -7\n"), "{unsigned}");
}

#[test]
fn unsigned_and_bare_signed_comparisons_are_exact() {
    let unsigned = compiled("bit<32>", "", "if (m.now > v) { v = m.now; }");
    assert!(unsigned.starts_with("cmplo: grt.u -lo phv_lo\n"), "{unsigned}");
    let signed = compiled("int<32>", "", "if ((int<32>)m.now > v) { v = (int<32>)m.now; }");
    assert!(signed.starts_with("cmplo: grt.s -lo phv_lo\n"), "{signed}");
}

#[test]
fn a_comparison_made_again_or_negated_shares_its_unit() {
    let body = "if (v == 3) { v = 1; } else if (m.a < 5) { v = 2; }
                r = 0; if (v != 3 && m.a >= 5) { r = 1; }";
    let text = compiled("bit<32>", "bit<8>", body);
    assert!(text.starts_with("cmplo: equ lo -3\ncmphi: lss.u phv_lo -5\n"), "{text}");
    assert!(text.ends_with("output: alu_hi if !cmplo & !cmphi"), "{text}");
}

#[test]
fn a_third_comparison_is_refused() {
    let body = "if (v == 3) { v = 1; } else if (v == 4) { v = 2; } else if (v == 5) { v = 2; }";
    assert_eq!(refusal("bit<32>", "", body), "T0201");
}

#[test]
fn two_fields_or_two_memory_words_in_a_comparison_are_refused() {
    assert_eq!(refusal("bit<32>", "", "if (m.a > m.b) { v = 1; }"), "T0202");
    assert_eq!(refusal("pair_t", "", "if (v.first > v.second) { v.first = 1; }"), "T0202");
}

#[test]
fn bits_of_memory_masks_and_narrow_differences_cannot_be_compared() {
    assert_eq!(refusal("bit<32>", "", "if (v[7:0] == 3) { v = 1; }"), "T0204");
    assert_eq!(refusal("bit<32>", "", "if (m.a & 3 == 0) { v = 1; }"), "T0203");
    assert_eq!(refusal("int<32>", "", "if ((int<16>)m.d - 5 > 0) { v = 1; }"), "T0205");
}

#[test]
fn an_unsigned_constant_beyond_31_bits_is_refused() {
    assert_eq!(refusal("bit<32>", "", "if (v > 0x90000000) { v = 1; }"), "T0206");
}

#[test]
fn a_constant_that_an_8_bit_unit_cuts_is_reported() {
    assert_eq!(warnings("bit<8>", "", "if (v >= 200) { v = 1; }"), ["T0207"]);
}

#[test]
fn a_bare_flag_is_compared_with_zero() {
    let text = compiled("bit<32>", "", "if (m.f == 1) { v = 1; }");
    assert!(text.starts_with("cmplo: equ phv_lo -1\n"), "{text}");
    let text = compiled("bit<32>", "", "if ((bool)m.f) { v = 1; }");
    assert!(text.starts_with("cmplo: neq phv_lo\n"), "{text}");
}

// ---- Updates ----------------------------------------------------------------------------------

#[test]
fn operands_find_the_side_that_can_take_them() {
    let one = |body| compiled("bit<32>", "", body);
    assert_eq!(one("v = v + m.a;"), "lo1: add lo phv_lo");
    assert_eq!(one("v = m.a - v;"), "lo1: rsub lo phv_lo");
    assert_eq!(one("v = 1000 - m.a;"), "lo1: sub row0 phv_lo");
    assert_eq!(one("v = m.a - 1000;"), "lo1: rsub row0 phv_lo");
    assert_eq!(one("v = v |+| m.a;"), "lo1: saddu lo phv_lo");
    assert_eq!(one("v = m.a |-| v;"), "lo1: srsubu lo phv_lo");
    assert_eq!(one("v = ~m.a;"), "lo1: notb phv_lo");
    assert_eq!(one("v = v & ~m.a;"), "lo1: logic0100 lo phv_lo");
    assert_eq!(one("v = ~(v | m.a);"), "lo1: logic0001 lo phv_lo");
    assert_eq!(one("v = max(v, m.a);"), "lo1: maxu lo phv_lo");
    assert_eq!(compiled("int<32>", "", "v = min(v, 5);"), "lo1: mins lo 5");
    assert_eq!(compiled("int<32>", "", "v = -v;"), "lo1: rsub lo 0");
}

#[test]
fn an_or_of_two_operations_takes_both_alus_of_a_half() {
    let text = compiled("bit<32>", "", "v = (v & 0xff) | (m.a & 0xff00);");
    assert_eq!(text, "lo1: and lo row0\nlo2: and row1 phv_lo");
}

#[test]
fn branches_that_compute_the_same_share_an_alu() {
    let body = "if (v == 0) { v = m.a; } else if (m.b == 0) { v = m.a; } else { v = v + 1; }";
    assert_eq!(
        compiled("bit<32>", "", body),
        "cmplo: equ lo\n\
         cmphi: equ phv_lo\n\
         lo1: alu_b phv_hi if cmplo | cmphi\n\
         lo2: add lo 1 if !cmplo & !cmphi"
    );
}

#[test]
fn a_conditional_expression_is_two_assignments() {
    assert_eq!(
        compiled("bit<32>", "", "v = m.a > 5 ? m.a : 0;"),
        "cmplo: grt.u phv_lo -5\nlo1: alu_a 0 if !cmplo\nlo2: alu_b phv_lo if cmplo"
    );
}

#[test]
fn an_action_that_no_alu_can_compute_is_refused_with_its_rule() {
    let refuse = |body| refusal("pair_t", "", body);
    assert_eq!(refuse("v.first = v.first + v.second;"), "T0304");
    assert_eq!(refuse("v.first = m.a + m.b;"), "T0305");
    assert_eq!(refuse("v.first = v.first + m.a + 1;"), "T0303");
    assert_eq!(refuse("v.first = v.first << 1;"), "T0309");
    assert_eq!(refuse("v.first = v.first * 3;"), "T0309");
    let third = "if (m.a == 1) { v.first = 1; } else if (m.b == 2) { v.first = 2; }
                 else { v.first = 3; }";
    assert_eq!(refuse(third), "T0301");
    assert_eq!(refuse("v.first = 1; v.first = m.a;"), "T0302");
    assert_eq!(refusal("bit<8>", "", "v = (bit<8>)(m.a + 1);"), "T0310");
    assert_eq!(refusal("bit<16>", "", "if (m.a > 3) { v = 1; }"), "T0311");
}

#[test]
fn two_assignments_that_may_coincide_are_or_ed_and_reported() {
    let body = "if (m.a == 1) { v = 1; } if (m.b == 1) { v = 2; }";
    assert_eq!(warnings("bit<32>", "", body), ["T0351"]);
    let text = compiled("bit<32>", "", body);
    assert!(text.ends_with("lo1: alu_a 1 if cmplo\nlo2: alu_a 2 if cmphi"), "{text}");
}

#[test]
fn a_zero_that_is_always_assigned_first_changes_nothing() {
    let text = compiled("bit<32>", "", "v = 0; if (m.a == 1) { v = m.b; }");
    assert!(text.ends_with("lo1: alu_a 0\nlo2: alu_b phv_hi if cmplo"), "{text}");
}

#[test]
fn a_read_behind_an_assignment_means_the_old_value_and_is_reported() {
    let body = "v.first = m.a; v.second = v.first;";
    assert_eq!(warnings("pair_t", "", body), ["T0350"]);
    assert_eq!(compiled("pair_t", "", body), "lo1: alu_b phv_lo\nhi1: alu_a lo");
}

#[test]
fn only_the_first_half_gets_the_math_unit_and_never_with_a_field() {
    let unit = "MathUnit<bit<32>>(MathOp_t.RSQRT, 1000) mu;";
    let refuse = |body| {
        let egress = format!("{unit}{}", with_action("pair_t", "", body));
        parts(&egress).refused()[0].0
    };
    assert_eq!(refuse("v.second = mu.execute(v.first);"), "T0307");
    assert_eq!(refuse("v.first = mu.execute(v.second) + m.a;"), "T0308");
    assert_eq!(refuse("v.first = mu.execute(v.first + 1);"), "T0312");
}

// ---- Outputs ----------------------------------------------------------------------------------

#[test]
fn an_output_after_an_assignment_is_the_new_value_and_before_it_the_old() {
    assert_eq!(
        compiled("bit<32>", "bit<32>", "v = v + 1; r = v;"),
        "lo1: add lo 1\noutput: alu_lo"
    );
    assert_eq!(
        compiled("bit<32>", "bit<32>", "r = v; v = v + 1;"),
        "lo1: add lo 1\noutput: mem_lo"
    );
}

#[test]
fn a_single_register_computes_outputs_in_its_free_half_and_a_pair_does_not() {
    assert_eq!(compiled("bit<32>", "bit<32>", "r = v + 1;"), "hi1: add lo 1\noutput: alu_hi");
    assert_eq!(refusal("pair_t", "bit<32>", "r = v.first + 1;"), "T0403");
    let either = "if (m.a == 0) { r = m.b; } else { r = 5; }";
    assert_eq!(
        compiled("bit<32>", "bit<32>", either),
        "cmplo: equ phv_lo\n\
         hi1: alu_b phv_hi if cmplo\n\
         hi2: alu_a 5 if !cmplo\n\
         output: alu_hi"
    );
    let halves = "if (m.a == 0) { r = v.first; } else { r = v.second; }";
    assert_eq!(refusal("pair_t", "bit<32>", halves), "T0401");
}

#[test]
fn an_output_takes_any_bits_of_a_word() {
    for body in ["r = v[31:16]; v = v + 1;", "r = v[23:8];", "v = v + 1; r = v[31:16];"] {
        let text = compiled("bit<32>", "bit<16>", body);
        assert!(text.contains("output:"), "{text}");
    }
    assert_eq!(refusal("bit<32>", "bit<16>", "v = v + (bit<32>)v[31:16];"), "T0310");
}

#[test]
fn the_predicate_is_one_of_four_bits() {
    let body = "r = this.predicate(m.a >= 5, v == 1); if (m.a >= 5) { v = 1; } else { v = 0; }";
    assert_eq!(
        compiled("bit<32>", "bit<8>", body),
        "cmplo: geq.u phv_lo -5\n\
         cmphi: equ lo -1\n\
         lo1: alu_a 1 if cmplo\n\
         lo2: alu_a 0 if !cmplo\n\
         output: predicate"
    );
}

#[test]
fn the_arguments_of_predicate_may_stand_in_variables() {
    let body = "bool lo = (m.a >= 5); bool hi = (v == 1); r = this.predicate(lo, hi);
                if (lo && !hi) { v = 1; } else if (!lo && hi) { v = 0; }";
    assert_eq!(
        compiled("bit<32>", "bit<8>", body),
        "cmplo: geq.u phv_lo -5\n\
         cmphi: equ lo -1\n\
         lo1: alu_a 1 if cmplo & !cmphi\n\
         lo2: alu_a 0 if !cmplo & cmphi\n\
         output: predicate"
    );
    let swapped = "bool lo = (m.a >= 5); bool hi = (v == 1); r = this.predicate(hi, lo);";
    assert_eq!(refusal("bit<32>", "bit<8>", swapped), "T0406");
}

#[test]
fn the_arguments_of_predicate_must_be_the_first_comparisons() {
    let body = "if (v == 1) { v = 0; } r = this.predicate(m.a >= 5, v == 1);";
    assert_eq!(refusal("bit<32>", "bit<8>", body), "T0406");
}

#[test]
fn outputs_through_the_second_half_come_in_the_order_that_the_compiler_follows() {
    let both = |first: &str, second: &str| {
        format!("if (v == 3) {{ r = {first}; }} else {{ r = {second}; }}")
    };
    let (word, field, other, sum, constant) = ("v", "m.a", "m.b", "v + m.a", "5");
    let refused = [
        (word, field),
        (word, sum),
        (field, word),
        (field, other),
        (field, sum),
        (constant, field),
        (sum, field),
    ];
    for (first, second) in refused {
        let body = both(first, second);
        assert_eq!(refusal("bit<32>", "bit<32>", &body), "T0407", "{body}");
    }
    let taken = [
        (word, constant),
        (field, constant),
        (constant, word),
        (constant, sum),
        (sum, word),
        (sum, constant),
        (field, "0"),
    ];
    for (first, second) in taken {
        let body = both(first, second);
        let text = compiled("bit<32>", "bit<32>", &body);
        assert!(text.contains("output: "), "{body}: {text}");
    }
}

#[test]
fn outputs_that_a_pair_cannot_have_are_refused() {
    assert_eq!(refusal("pair_t", "bit<8>", "r = 3;"), "T0403");
    assert_eq!(refusal("bit<32>", "bit<32>", "r = v; v = r;"), "T0402");
}

#[test]
fn an_enumeration_is_put_out_as_the_outcome_of_the_comparisons() {
    let body = "if (v == 1) { r = verdict_t.drop; }
                else if (m.a > 9) { r = verdict_t.mark; } else { r = verdict_t.keep; }";
    let egress = with_action("bit<32>", "verdict_t", body);
    let loaded = parts(&egress).loaded();
    let compiled = action(&loaded, "act");
    assert!(compiled.instruction.to_string().ends_with("output: predicate"));
    let format = compiled.formats[0];
    let members: Vec<u64> = (0..4).map(|outcome| format.read(16 << outcome)).collect();
    assert_eq!(members, [0, 2, 1, 2]);
}

// ---- What actions share -----------------------------------------------------------------------

#[test]
fn a_register_gets_two_packet_fields_over_all_its_actions() {
    let egress = "Register<bit<32>, bit<9>>(512) reg;
        RegisterAction<bit<32>, bit<9>, bit<32>>(reg) act = {
            void apply(inout bit<32> v) { if (m.a > 5) { v = m.b; } }
        };
        RegisterAction<bit<32>, bit<9>, bit<32>>(reg) other = {
            void apply(inout bit<32> v) { v = m.c; }
        };";
    let apply = "if (m.e == 0) { act.execute(0); } else { other.execute(0); }";
    let refused = Parts { egress, apply, ..Parts::default() }.refused();
    assert_eq!(refused[0].0, "T0501");
}

#[test]
fn small_constants_are_free_and_large_ones_take_four_rows() {
    let four = "if (m.a > 100) { v = 200; } else { v = 300; } r = 0; if (m.a > 100) { r = 400; }";
    let text = compiled("bit<32>", "bit<32>", four);
    assert!(text.starts_with("cmplo: grt.u phv_lo row"), "{text}");
    let five = "if (m.a > 100) { v = 200; } else if (m.a > 500) { v = 300; }
                r = 0; if (m.a > 100) { r = 400; }";
    assert_eq!(refusal("bit<32>", "bit<32>", five), "T0502");
}

#[test]
fn a_register_has_at_most_four_actions() {
    let mut egress = String::from("Register<bit<32>, bit<9>>(512) reg;");
    let mut apply = String::from("m.e = 0;");
    for n in 0..5 {
        egress += &format!(
            "RegisterAction<bit<32>, bit<9>, bit<32>>(reg) act{n} = {{
                 void apply(inout bit<32> v) {{ v = {n}; }}
             }};"
        );
        apply += &format!("if (m.e == {n}) {{ act{n}.execute(0); }}");
    }
    let refused = Parts { egress: &egress, apply: &apply, ..Parts::default() }.refused();
    assert_eq!(refused[0].0, "T0503");
}

#[test]
fn a_parameter_takes_a_row_and_stands_alone() {
    let egress = format!(
        "RegisterParam<bit<32>>(1234) limit;{}",
        with_action("bit<32>", "", "if (v > limit.read()) { v = 0; }")
    );
    let loaded = parts(&egress).loaded();
    let text = action(&loaded, "act").instruction.to_string();
    assert_eq!(text, "cmplo: lss.u -lo row0\nlo1: alu_a 0 if cmplo");
}

// ---- Statements -------------------------------------------------------------------------------

#[test]
fn an_action_writes_its_entry_and_output_only() {
    assert_eq!(refusal("bit<32>", "", "m.a = v;"), "T0604");
}

#[test]
fn a_one_bit_register_is_set_cleared_and_read() {
    assert_eq!(compiled("bit<1>", "bit<1>", "r = v; v = 1;"), "lo1: set\noutput: mem_lo");
    assert_eq!(compiled("bit<1>", "bit<1>", "r = ~v;"), "output: !mem_lo");
    assert_eq!(refusal("bit<1>", "", "if (m.f == 1) { v = 1; }"), "T0603");
    assert_eq!(refusal("bit<1>", "", "v = m.f;"), "T0603");
}

#[test]
fn entries_of_other_types_are_refused() {
    assert_eq!(refusal("bit<48>", "", "v = 1;"), "T0101");
    let narrow = "Register<bit<8>, bit<9>>(512) reg;
        RegisterAction<bit<3>, bit<9>, bit<3>>(reg) act = { void apply(inout bit<3> v) { v = 1; } };";
    assert_eq!(parts(narrow).refused()[0].0, "T0102");
    let open = "Register<bit<8>, bit<9>>(512) reg;
        RegisterAction<_, _, bit<8>>(reg) act = { void apply(inout bit<8> v) { v = 1; } };";
    assert_eq!(action(&parts(open).loaded(), "act").instruction.to_string(), "lo1: alu_a 1");
    assert_eq!(refusal("bit<64>", "", "v = 1;"), "T0101", "packets cannot reach both words");
    assert_eq!(refusal("bit<12>", "", "v = 1;"), "T0101");
}

#[test]
fn a_local_variable_stands_for_its_expression() {
    assert_eq!(
        compiled("bit<32>", "bit<32>", "bit<32> old = v; v = m.a; r = old;"),
        "lo1: alu_b phv_lo\noutput: mem_lo"
    );
    assert_eq!(
        compiled("bit<32>", "bit<32>", "bit<32> next; next = v + 1; r = v & 0xffffff; v = next;"),
        "lo1: add lo 1\nhi1: and lo row0\noutput: alu_hi"
    );
    let body = "int<32> age = (int<32>)m.now - v; if (age > 0) { v = (int<32>)m.now; }";
    assert_eq!(
        compiled("int<32>", "", body),
        "cmplo: grt.uus -lo phv_lo\nlo1: alu_b phv_lo if cmplo"
    );
}

#[test]
fn writing_a_half_back_as_it_is_needs_no_alu() {
    let body = "if (v.first == 0xffffff) { v.first = 0; }
                else if (m.a == 1) { v.first = v.first + 1; } else { v.first = v.first; }";
    let text = compiled("pair_t", "", body);
    assert!(text.ends_with("lo1: alu_a 0 if cmplo\nlo2: add lo 1 if !cmplo & cmphi"), "{text}");
}

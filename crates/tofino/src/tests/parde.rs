//! Parsers and deparsers: refused operations, and operations that the compiler folds away.

use super::*;

const PARSER: &str = "p.extract(e); p.extract(h.ethernet); transition accept;";

/// The codes about a program whose egress parser's start state is `state`, with `more` states.
fn parsed(state: &str, more: &str) -> Vec<&'static str> {
    codes(&parsed_with("", state, more))
}

/// Such a program, whose egress parser declares `objects`.
fn parsed_with(objects: &str, state: &str, more: &str) -> String {
    let parts = Parts {
        types: "header tag_h { bit<16> value; } header opt_h { varbit<320> data; }",
        metadata: "bit<16> u; bit<16> v; bool t;",
        apply: "h.ethernet.kind = m.u;",
        ..Parts::default()
    };
    let text =
        parts.text().replace("struct headers_t {", "struct headers_t { tag_h[4] tags; opt_h opt;");
    text.replace(
        &format!("state start {{ {PARSER} }}"),
        &format!("{objects} state start {{ p.extract(e); p.extract(h.ethernet); {state} }} {more}"),
    )
}

/// The codes about a program whose egress deparser has these objects and statements.
fn deparsed(objects: &str, statements: &str) -> Vec<&'static str> {
    let apply = "d.mirror_type = 1; m.a = ep.global_tstamp[31:0]; m.e = 3;";
    let types = "header copy_h { bit<8> e; bit<32> a; } struct seen_t { bit<32> a; }";
    let metadata = "MirrorId_t session;";
    codes(
        &Parts { types, metadata, apply, deparser: (objects, statements), ..Parts::default() }
            .text(),
    )
}

fn codes(text: &str) -> Vec<&'static str> {
    match load_text(text) {
        Ok(_) => Vec::new(),
        Err(error) => error
            .diagnostics
            .iter()
            .filter(|found| found.is_error())
            .map(|found| found.code)
            .collect(),
    }
}

const NOTHING: [&str; 0] = [];

#[test]
fn a_parser_assigns_fields_and_constants() {
    for value in [
        "h.ethernet.kind",
        "h.ethernet.dst[15:0]",
        "(bit<16>)h.ethernet.dst",
        "h.ethernet.dst[7:0] ++ h.ethernet.src[7:0]",
        "(bit<16>)h.ethernet.dst[7:0]",
        "p.lookahead<bit<16>>()",
        "5",
        "3 + 4",
        "m.v | 0",
        "h.ethernet.kind + 0",
        "h.ethernet.kind * 1",
    ] {
        assert_eq!(parsed(&format!("m.u = {value}; transition accept;"), ""), NOTHING, "{value}");
    }
    for value in [
        "h.ethernet.kind + 1",
        "h.ethernet.kind - m.v",
        "h.ethernet.kind * m.v",
        "h.ethernet.kind & 7",
        "~h.ethernet.kind",
        "h.ethernet.kind << 2",
        "h.ethernet.kind |+| 2",
        "h.ethernet.kind == 1 ? 16w3 : 16w4",
        "(bit<16>)(bit<1>)(h.ethernet.kind == 1)",
    ] {
        assert_eq!(parsed(&format!("m.u = {value}; transition accept;"), ""), ["T1301"], "{value}");
    }
}

#[test]
fn values_that_are_known_in_a_state_are_no_arithmetic() {
    assert_eq!(parsed("m.v = 3; m.u = m.v + 1; transition accept;", ""), NOTHING);
    assert_eq!(
        parsed("m.v = 3; transition next;", "state next { m.u = m.v + 1; transition accept; }"),
        NOTHING
    );
    let apart = "state next { m.u = m.v + 1; transition accept; }";
    let states = "m.v = 3; transition select(h.ethernet.kind) { 1: next; default: accept; }";
    assert_eq!(parsed(states, apart), ["T1301"]);
    // An unused local variable is not computed.
    assert_eq!(parsed("bit<16> x = h.ethernet.kind + 1; transition accept;", ""), NOTHING);
    assert_eq!(
        parsed("bit<16> x = h.ethernet.kind + 1; m.u = x; transition accept;", ""),
        ["T1301"]
    );
}

#[test]
fn bits_are_accumulated_by_or() {
    assert_eq!(parsed("m.u = m.u | h.ethernet.kind; transition accept;", ""), NOTHING);
    assert_eq!(parsed("m.u = m.v | h.ethernet.kind; transition accept;", ""), ["T1301"]);
}

#[test]
fn a_parser_decides_by_fields_alone() {
    let next = "state next { transition accept; }";
    for select in [
        "h.ethernet.kind) { 5: next; default: accept; }",
        "h.ethernet.dst[31:0]) { 5: next; default: accept; }",
        "p.lookahead<bit<16>>()) { 5: next; default: accept; }",
        "h.ethernet.kind, h.ethernet.dst[15:0]) { (5, 3 &&& 7): next; default: accept; }",
    ] {
        assert_eq!(parsed(&format!("transition select({select}"), next), NOTHING, "{select}");
    }
    for select in [
        "h.ethernet.kind + 1) { 5: next; default: accept; }",
        "h.ethernet.kind == 1) { true: next; false: accept; }",
        "h.ethernet.kind < 7) { true: next; false: accept; }",
        "h.ethernet.kind & 7) { 5: next; default: accept; }",
        "(h.ethernet.kind == 1) && (h.ethernet.dst == 3)) { true: next; false: accept; }",
    ] {
        assert_eq!(parsed(&format!("transition select({select}"), next), ["T1302"], "{select}");
    }
    let wide = "transition select(h.ethernet.dst) { 5: next; default: accept; }";
    assert_eq!(parsed(wide, next), ["T1303"]);
    let condition = "if (h.ethernet.kind == 1) { m.u = 7; } transition accept;";
    assert_eq!(parsed(condition, ""), ["T1302"]);
    assert_eq!(parsed("if (3 == 3) { m.u = 7; } transition accept;", ""), NOTHING);
}

#[test]
fn a_select_looks_at_what_was_read_from_the_packet() {
    let split = "transition select(h.ethernet.kind) { 1: one; 2: two; default: accept; }";
    let states = |one: &str, two: &str| {
        format!(
            "state one {{ {one} transition last; }} state two {{ {two} transition last; }}
             state last {{ transition select(m.u) {{ 1: accept; default: reject; }} }}"
        )
    };
    let field = "m.u = h.ethernet.kind;";
    assert_eq!(parsed(split, &states(field, "m.u = h.ethernet.dst[15:0];")), NOTHING);
    assert_eq!(parsed(split, &states(field, "m.u = 7;")), ["T1309"]);
    assert_eq!(parsed(split, &states(field, "")), ["T1309"]);
}

#[test]
fn a_parser_advances_by_constants_and_whole_bytes() {
    assert_eq!(parsed("p.advance(16); transition accept;", ""), NOTHING);
    assert_eq!(parsed("m.u = 16; p.advance((bit<32>)m.u); transition accept;", ""), NOTHING);
    assert_eq!(parsed("p.advance((bit<32>)h.ethernet.kind); transition accept;", ""), ["T1304"]);
    let size = "p.advance(64 - sizeInBits(h.tags[0])); p.advance(8 * sizeInBytes(h.ethernet)); transition accept;";
    assert_eq!(parsed(size, ""), NOTHING);
    assert_eq!(parsed("p.advance(12); transition accept;", ""), ["T1304"]);
    assert_eq!(parsed("p.advance(12); p.advance(4); transition accept;", ""), NOTHING);
}

#[test]
fn a_constant_chooses_an_element_of_a_stack() {
    let extract = "p.extract(h.tags.next); p.extract(h.tags.next);";
    let with = |rest: &str| parsed(&format!("{extract} {rest} transition accept;"), "");
    assert_eq!(with("m.u = h.tags[1].value;"), NOTHING);
    assert_eq!(with("m.u = h.tags.last.value;"), NOTHING);
    assert_eq!(with("m.u = h.tags[h.ethernet.kind[1:0]].value;"), ["T1305"]);
}

#[test]
fn validity_is_no_key() {
    let next = "state next { transition accept; }";
    let select = "transition select(h.ethernet.isValid()) { true: next; false: accept; }";
    assert_eq!(parsed(select, next), ["T1309"]);
    assert_eq!(parsed("if (h.ethernet.isValid()) { m.u = 7; } transition accept;", ""), ["T1309"]);
    assert_eq!(parsed("m.t = h.ethernet.isValid(); transition accept;", ""), ["T1301"]);
    let number = "m.u = (bit<16>)(bit<1>)h.ethernet.isValid(); transition accept;";
    assert_eq!(parsed(number, ""), ["T1301"]);
}

#[test]
fn a_constant_chooses_an_element_in_a_control_too() {
    let with = |apply: &str| {
        let parts = Parts { types: "header tag_h { bit<16> value; }", apply, ..Parts::default() };
        codes(&parts.text().replace("struct headers_t {", "struct headers_t { tag_h[4] tags;"))
    };
    assert_eq!(with("m.d = h.tags[1].value;"), NOTHING);
    assert_eq!(with("h.tags[1].value = m.d;"), NOTHING);
    assert!(with("m.d = h.tags[m.e[1:0]].value;").contains(&"T1305"));
    assert!(with("h.tags[m.e[1:0]].value = m.d;").contains(&"T1305"));
}

#[test]
fn the_length_of_a_varbit_is_a_function_of_one_narrow_field() {
    let with = |bits: &str| parsed(&format!("p.extract(h.opt, {bits}); transition accept;"), "");
    assert_eq!(with("(bit<32>)h.ethernet.dst[3:0] * 8"), NOTHING);
    assert_eq!(with("((bit<32>)h.ethernet.dst[3:0] - 5) * 32"), NOTHING);
    assert_eq!(with("32"), NOTHING);
    for bits in [
        "(bit<32>)h.ethernet.dst[3:0]",
        "(bit<32>)h.ethernet.kind * 8",
        "(bit<32>)h.ethernet.dst[3:0] * (bit<32>)h.ethernet.src[3:0]",
        "0",
        "12",
    ] {
        assert_eq!(with(bits), ["T1306"], "{bits}");
    }
}

#[test]
fn a_deparser_requests_generated_packets() {
    let deparser = ("Pktgen() made;", "made.emit({ 16w5 });");
    let text = Parts { second_chip: true, deparser, ..Parts::default() }.text();
    assert_eq!(codes(&text), ["T0804"]);
}

#[test]
fn a_register_is_not_reached_from_a_parser() {
    let text = Parts::default().text().replace(
        &format!("state start {{ {PARSER} }}"),
        "Register<bit<32>, bit<9>>(512) seen;
         state start { p.extract(e); m.a = seen.read(1); p.extract(h.ethernet); transition accept; }",
    );
    assert!(codes(&text).contains(&"T0806"), "{:?}", codes(&text));
}

#[test]
fn a_deparser_copies_fields() {
    let mirror = |session: &str, fields: &str| {
        deparsed(
            "Mirror() mirror;",
            &format!(
                "if (d.mirror_type == 1) {{ mirror.emit<copy_h>({session}, {{ {fields} }}); }}"
            ),
        )
    };
    assert_eq!(mirror("m.session", "m.e, m.a"), NOTHING);
    assert_eq!(mirror("m.session", "m.a[7:0], m.a"), NOTHING);
    assert_eq!(mirror("m.session", "0, m.a"), NOTHING);
    assert_eq!(mirror("m.session", "m.e, (bit<32>)m.a[31:8]"), NOTHING);
    assert_eq!(mirror("m.session", "m.e, (bit<32>)m.a[31:1]"), ["T0904"]);
    assert_eq!(mirror("m.session", "m.e, (bit<32>)m.a[30:0]"), ["T0904"]);
    assert_eq!(mirror("(MirrorId_t)(m.a << 3)", "m.e, m.a"), NOTHING);
    assert_eq!(mirror("m.session", "m.e, m.a + 1"), ["T0904"]);
    assert_eq!(mirror("m.session", "m.e, m.a * m.b"), ["T0904"]);
    assert_eq!(mirror("m.session + 1", "m.e, m.a"), ["T0904"]);
    let when = |condition: &str| {
        let emit = "mirror.emit<copy_h>(m.session, { m.e, m.a });";
        deparsed("Mirror() mirror;", &format!("if ({condition}) {{ {emit} }}"))
    };
    assert_eq!(when("d.mirror_type == 1"), NOTHING);
    assert_eq!(when("d.mirror_type + 1 == 2"), ["T0903"]);
    assert_eq!(when("m.e == 1"), ["T0903"]);
    let found = deparsed(
        "Mirror() mirror; copy_h own;",
        "own.setValid(); own.e = m.e; own.a = m.a; own.a = own.a + 1;
         if (d.mirror_type == 1) { mirror.emit<copy_h>(m.session, own); }",
    );
    assert_eq!(found, ["T0904"]);
    let pack = "if (d.digest_type == 1) { digest.pack({ m.a * m.b }); }";
    let parts = Parts {
        types: "struct seen_t { bit<32> a; }",
        ingress_deparser: (
            "Digest<seen_t>() digest;",
            &pack.replace("m.a * m.b", "(bit<32>)(m.word + 1)"),
        ),
        ..Parts::default()
    };
    assert_eq!(codes(&parts.text()), ["T0904"]);
}

#[test]
fn a_deparser_emits_without_conditions_and_assigns_checksums_alone() {
    assert_eq!(deparsed("", "if (m.e == 1) { p.emit(h.ethernet); }"), ["T0906"]);
    assert_eq!(deparsed("", "h.ethernet.kind = 5;"), ["T0907"]);
    let sum = |condition: &str, fields: &str| {
        deparsed(
            "Checksum() sum;",
            &format!("{condition} {{ h.ethernet.kind = sum.update({{ {fields} }}); }}"),
        )
    };
    assert_eq!(sum("", "h.ethernet.dst, h.ethernet.src"), NOTHING);
    assert_eq!(sum("if (h.ethernet.isValid())", "h.ethernet.dst, h.ethernet.src"), NOTHING);
    assert_eq!(sum("if (m.f == 1)", "h.ethernet.dst, h.ethernet.src"), NOTHING);
    assert_eq!(sum("", "h.ethernet.dst, m.a + 1"), ["T0908"]);
    assert_eq!(sum("", "h.ethernet.dst, m.a, 16w7"), ["T0908"]);
    assert_eq!(sum("if (m.e == 1)", "h.ethernet.dst, h.ethernet.src"), ["T0909"]);
    let alone = "h.ethernet.kind = sum.update(h.ethernet.dst);";
    assert_eq!(deparsed("Checksum() sum;", alone), ["T0908"]);
    let repeated = "for (bit<8> i in 0 .. 3) { p.emit(h.ethernet); }";
    assert_eq!(deparsed("", repeated), ["T1007"]);
}

#[test]
fn a_parser_state_does_not_decide_by_a_call_of_verify() {
    let with = |rest: &str| {
        let state = format!("{rest} transition accept;");
        let text = parsed_with("Checksum() sum;", &state, "");
        codes(&text)
    };
    assert_eq!(with("sum.add(h.ethernet); m.t = sum.verify();"), NOTHING);
    assert_eq!(with("sum.add(h.ethernet); if (sum.verify()) { m.u = 1; }"), ["T1302"]);
}

#[test]
fn ways_that_part_and_meet_again_are_not_followed_one_by_one() {
    // 2^30 ways of different lengths.
    let fork = |at: u32| {
        let bits = 8_u32 << (29 - at).min(20);
        format!(
            "state fork{at} {{ transition select(p.lookahead<bit<8>>()) {{ 1: far{at}; default: near{at}; }} }}
             state far{at} {{ p.advance({bits}); transition fork{next}; }}
             state near{at} {{ p.advance(8); transition fork{next}; }}",
            next = at + 1
        )
    };
    let forks: String = (0..30).map(fork).collect();
    let more = format!("{forks} state fork30 {{ transition accept; }}");
    assert_eq!(parsed("transition fork0;", &more), ["T1315"]);
}

#[test]
fn a_way_through_the_egress_parser_of_tofino_1_has_at_most_160_bytes_and_65_beside_a_counter() {
    let more = |bytes: u32, rest: &str| {
        let state = format!("p.advance({}); {rest} transition accept;", 8 * bytes);
        codes(&parsed_with("ParserCounter() left;", &state, ""))
    };
    // Metadata of 27 bytes and an Ethernet header are in front.
    assert_eq!(more(160 - 27 - 14, ""), NOTHING);
    assert_eq!(more(161 - 27 - 14, ""), ["T1315"]);
    assert_eq!(more(65 - 27 - 14, "left.set(8w2);"), NOTHING);
    assert_eq!(more(64 - 27 - 14, "left.set(8w2);"), ["T1315"]);
}

//! Small programs that the open-source Tofino compiler takes or refuses, by kind: an operation, the
//! place that has to execute it, the variable that it works on. The checker says the same, and
//! names the rule.

use sojourn_p4::preprocess::{MemoryLoader, OverlayLoader};
use sojourn_tofino::{LoadOptions, load_with};
use std::path::{Path, PathBuf};

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name)
}

/// The codes of the errors about an egress control with these declarations and statements.
fn codes(declarations: &str, apply: &str) -> Vec<&'static str> {
    let text = format!(
        "#include \"shared/types.p4\"\n#include \"shared/ingress.p4\"\n{TYPES}
         control Egress(inout headers_t hdr, inout metadata_t meta,
                        in egress_intrinsic_metadata_t eg,
                        in egress_intrinsic_metadata_from_parser_t prsr,
                        inout egress_intrinsic_metadata_for_deparser_t dprs,
                        inout egress_intrinsic_metadata_for_output_port_t oport) {{
         {LOCALS}\n{declarations}\napply {{\n{START}\n{apply}\n{END}\n}}
         #include \"shared/egress_end.p4\"\n"
    );
    let loader = OverlayLoader(MemoryLoader::new().with("program.p4", text));
    let include_paths = vec![folder("p4/include"), folder("crates/tofino/rules")];
    let options = LoadOptions { include_paths, check_only: true, ..LoadOptions::default() };
    let found = match load_with(&loader, "program.p4", &options) {
        Ok(loaded) => loaded.warnings,
        Err(error) => error.diagnostics,
    };
    let errors = found.into_iter().filter(|found| found.is_error());
    let mut codes: Vec<&str> = errors.map(|error| error.code).collect();
    codes.dedup();
    codes
}

/// Declarations that programs use or leave.
const TYPES: &str = "
    struct pair_t { bit<32> a; bit<32> b; }
    bit<32> product(in bit<32> x, in bit<32> y) { return x * y; }
    control Inner(in bit<32> x, in bit<32> y, out bit<32> z) { apply { z = x * y; } }";
const LOCALS: &str = "bit<32> x; bit<32> y; bit<32> z; bit<8> n; bit<1> one; bool truth;";
/// Variables of every kind get a value, and what is computed leaves with the packet.
const START: &str = "x = hdr.report.delay; y = hdr.report.extra; z = 0; n = hdr.report.state;";
const END: &str = "hdr.report.count = z;";

/// A kind, declarations, statements, and the rule that they break; none if the compiler takes them.
type Case<'t> = (&'static str, &'t str, &'t str, Option<&'static str>);

fn check(cases: &[Case<'_>]) {
    let mut wrong = String::new();
    for (kind, declarations, apply, rule) in cases {
        let found = codes(declarations, apply);
        let right = match rule {
            Some(code) => found.contains(code),
            None => found.is_empty(),
        };
        if !right {
            wrong +=
                &format!("{kind}: {found:?} instead of {rule:?}\n    {declarations} {apply}\n");
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

#[test]
fn a_product_is_refused_whatever_is_multiplied_and_wherever() {
    let act = "action act() { z = x * y; }";
    let local = "bit<8> one_more = 1; action act() { one_more = one_more * n; }";
    let data = "action act(bit<32> k) { z = x * k; }
        table t { key = { hdr.report.state : exact; } actions = { act; NoAction; }
            size = 16; default_action = NoAction; }";
    let key = "action act() { z = 1; }
        table t { key = { x * y : exact @name(\"k\"); } actions = { act; NoAction; }
            size = 16; default_action = NoAction; }";
    let earlier = "action fill() { x = hdr.report.drop_next; }";
    let hash = "Hash<bit<32>>(HashAlgorithm_t.CRC32) h;";
    check(&[
        ("locals in apply", "", "z = x * y;", Some("T1005")),
        ("locals in an action", act, "act();", Some("T1005")),
        ("a local with a first value, in an action", local, "act();", Some("T1005")),
        ("a local that an action wrote", earlier, "fill(); z = x * y;", Some("T1005")),
        ("a local and action data", data, "t.apply();", Some("T1005")),
        ("compound assignment", "", "z = x; z *= y;", Some("T1005")),
        ("a function", "", "z = product(x, y);", Some("T1005")),
        ("a sub-control", "Inner() inner;", "inner.apply(x, y, z);", Some("T1005")),
        (
            "fields of a local struct",
            "pair_t p; pair_t q;",
            "p.a = x; p.b = y; q = p; z = q.a * q.b;",
            Some("T1005"),
        ),
        (
            "a header variable",
            "report_h r;",
            "r.setValid(); r.delay = x; z = r.delay * y;",
            Some("T1005"),
        ),
        ("a condition", "", "if (x * y == 0) { z = 1; }", Some("T1005")),
        ("a key", key, "t.apply();", Some("T1005")),
        ("a hash", hash, "z = h.get({ x * y });", Some("T1005")),
        ("a constant that is no power of two", "", "bit<32> k = 10; z = x * k;", Some("T1005")),
        ("a power of two", "", "bit<32> k = 8; z = x * k;", None),
        ("constants", "", "bit<32> k = 10; bit<32> l = 3; z = k * l;", None),
        ("a result that nothing reads", "bit<32> unread;", "unread = x * y;", None),
    ]);
}

#[test]
fn a_quotient_and_a_shift_by_a_variable_are_refused() {
    let index = "Register<bit<32>, bit<8>>(256) r;
        RegisterAction<bit<32>, bit<8>, bit<32>>(r) ra = {
            void apply(inout bit<32> v, out bit<32> o) { v = v + 1; o = v; } };";
    let shift = "action act(bit<8> k) { z = x >> k; }
        table t { key = { hdr.report.state : exact; } actions = { act; NoAction; }
            size = 16; default_action = NoAction; }";
    check(&[
        ("quotient", "", "z = x / y;", Some("T1005")),
        ("remainder by ten", "", "z = x % 10;", Some("T1005")),
        ("quotient by a power of two", "", "z = x / 16;", None),
        ("shift by a local", "", "z = x << n;", Some("T1006")),
        ("shift by action data", shift, "t.apply();", Some("T1006")),
        ("shift in an index", index, "z = ra.execute(n << one);", Some("T1006")),
        ("shift by a local constant", "", "bit<8> k = 3; z = x >> k;", None),
        (
            "shift by what only one branch knows",
            "",
            "bit<8> k = 3; if (n == 1) { k = n; } z = x >> k;",
            Some("T1006"),
        ),
        (
            "shift by what both branches set alike",
            "",
            "bit<8> k; if (n == 1) { k = 2; } else { k = 2; } z = x >> k;",
            None,
        ),
        ("a loop up to a field", "", "for (bit<8> i in 0 .. n) { z = z + 1; }", Some("T1007")),
    ]);
}

#[test]
fn a_condition_orders_no_two_variables() {
    check(&[
        ("locals", "", "if (x < y) { z = 1; }", Some("T1001")),
        ("a local and a constant one", "", "bit<8> k = 5; if (n < k) { z = 1; }", None),
        ("a truth value of locals", "", "truth = x > y; if (truth) { z = 1; }", Some("T1001")),
        ("a truth value of 12 bits", "", "truth = n > 5; if (truth) { z = 1; }", None),
        (
            "the number of a validity",
            "",
            "one = (bit<1>)hdr.ipv4.isValid(); if (one == 1) { z = 1; }",
            Some("T1003"),
        ),
        (
            "the number of a variable",
            "action set() { truth = true; }",
            "truth = false; if (n == 1) { set(); } if ((bit<1>)truth == 1) { z = 1; }",
            None,
        ),
    ]);
}

#[test]
fn a_condition_reads_four_bytes_and_twelve_bits() {
    check(&[
        ("48 bits and a constant", "", "if (hdr.ethernet.dst_addr == 5) { z = 1; }", Some("T1015")),
        (
            "48 bits of two fields",
            "",
            "if (hdr.ethernet.dst_addr == hdr.ethernet.src_addr) { z = 1; }",
            Some("T1015"),
        ),
        (
            "48 bits that differ",
            "",
            "if (hdr.ethernet.dst_addr != hdr.ethernet.src_addr) { z = 1; }",
            Some("T1015"),
        ),
        ("44 bits", "", "if (hdr.ethernet.dst_addr[43:0] == 5) { z = 1; }", None),
        ("45 bits", "", "if (hdr.ethernet.dst_addr[44:0] == 5) { z = 1; }", Some("T1015")),
        ("32 bits of two locals", "", "if (x == y) { z = 1; }", None),
        ("two times 32 bits", "", "if (x == 5 && y == 6) { z = 1; }", Some("T1015")),
        ("one of two times 32 bits", "", "if (x == 5 || y == 6) { z = 1; }", None),
        ("neither of two", "", "if (x != 5 && y != 6) { z = 1; }", None),
        ("not both of two", "", "if (!(x == 5 && y == 6)) { z = 1; }", Some("T1015")),
        ("32 bits and 8", "", "if (x == 5 && n == 6) { z = 1; }", None),
        (
            "32 bits, 16 and 8",
            "",
            "if (x == 5 && hdr.report.size == 6 && n == 1) { z = 1; }",
            Some("T1015"),
        ),
        (
            "two orders of 8 bits",
            "",
            "if (n > 5 && hdr.report.verdict > 9) { z = 1; }",
            Some("T1015"),
        ),
        ("one in the other", "", "if (x == 5) { if (y == 6) { z = 1; } }", None),
        ("masked", "", "if (hdr.ethernet.dst_addr & 0xff00 == 0x1200) { z = 1; }", None),
        (
            "a copy",
            "",
            "bit<48> copy = hdr.ethernet.dst_addr; if (copy == 5) { z = 1; }",
            Some("T1015"),
        ),
    ]);
}

#[test]
fn an_action_neither_compares_nor_chooses() {
    let of = |body: &str| -> String { format!("action act() {{ {body} }}") };
    let table = |body: &str| {
        format!(
            "Counter<bit<32>, bit<8>>(256, CounterType_t.PACKETS) c;
             action act(bit<1> v, bit<32> w, bool b) {{ {body} }}
             table t {{ key = {{ hdr.report.state : exact; }} actions = {{ act; NoAction; }}
                 size = 16; default_action = NoAction; }}"
        )
    };
    for (kind, declarations, apply, rule) in [
        ("if on a field", of("if (x == 5) { z = 1; }"), "act();", Some("T1016")),
        ("a truth value", of("one = (bit<1>) (x > y); z[0:0] = one;"), "act();", Some("T1016")),
        (
            "a truth value in apply",
            String::new(),
            "one = (bit<1>) (x == y); z[0:0] = one;",
            Some("T1016"),
        ),
        ("?: on a field", of("z = n == 1 ? x : y;"), "act();", Some("T1016")),
        ("?: in apply", String::new(), "z = n == 1 ? x : y;", Some("T1016")),
        ("maximum", of("z = x > y ? x : y;"), "act();", None),
        ("minimum by if", of("if (x > y) { x = y; } z = 1;"), "act();", None),
        ("if on action data", table("if (v != 0) { z = 1; }"), "t.apply();", None),
        ("a bit that is 1", table("if (v == 1) { z = 1; }"), "t.apply();", None),
        ("a truth value", table("if (b == true) { z = 1; }"), "t.apply();", None),
        ("a number that is not 0", table("if (w != 0) { z = 1; }"), "t.apply();", None),
        ("a number that is 0", table("if (w == 0) { z = 1; }"), "t.apply();", Some("T1016")),
        ("a number of a value", table("if (w == 3) { z = 1; }"), "t.apply();", Some("T1016")),
        ("a bit that is not set", table("if (v == 0) { z = 1; }"), "t.apply();", Some("T1016")),
        ("one bit of a number", table("if (w[0:0] == 1) { z = 1; }"), "t.apply();", Some("T1016")),
        ("an order", table("if (w > 3) { z = 1; }"), "t.apply();", Some("T1016")),
        ("two parameters", table("if (v == 1 && b) { z = 1; }"), "t.apply();", Some("T1016")),
        (
            "one in the other",
            table("if (v == 1) { if (b) { z = 1; } }"),
            "t.apply();",
            Some("T1016"),
        ),
        ("an exit", table("if (v == 1) { exit; } z = 1;"), "t.apply();", Some("T1016")),
        ("a return", table("if (v == 1) { return; } z = 1;"), "t.apply();", Some("T1016")),
        ("a call", table("if (v == 1) { c.count(0); }"), "t.apply();", Some("T1016")),
        (
            "a validity",
            table("if (v == 1) { hdr.report.setInvalid(); }"),
            "t.apply();",
            Some("T1016"),
        ),
        ("exit on a field", of("if (x == 5) { exit; } z = 1;"), "act();", Some("T1016")),
        ("exit on a constant", of("if (3 == 3) { exit; } z = 1;"), "act();", None),
        (
            "if on action data that moves a field",
            table("if (v == 1) { z = x; }"),
            "t.apply();",
            Some("T1016"),
        ),
        (
            "else on action data",
            table("if (v == 1) { } else { z = 1; }"),
            "t.apply();",
            Some("T1016"),
        ),
        (
            "if on a field in a table's action",
            table("if (n == 1) { z = w; }"),
            "t.apply();",
            Some("T1016"),
        ),
    ] {
        let found = codes(&declarations, apply);
        match rule {
            Some(code) => assert!(found.contains(&code), "{kind}: {found:?}"),
            None => assert!(found.is_empty(), "{kind}: {found:?}"),
        }
    }
}

#[test]
fn a_hash_has_one_list_of_fields_and_an_action_32_bits_of_results() {
    let hashes = "Hash<bit<16>>(HashAlgorithm_t.CRC16) h; Hash<bit<16>>(HashAlgorithm_t.CRC16) g;
        Hash<bit<32>>(HashAlgorithm_t.CRC32) w; Hash<bit<48>>(HashAlgorithm_t.CRC64) l;
        Hash<bit<8>>(HashAlgorithm_t.CRC8) b;";
    let of = |body: &str| format!("{hashes} action act() {{ {body} }}");
    let mixed = "hdr.report.count = w.get({ x }); hdr.report.size = g.get({ y });";
    let (small, none) = (of("hdr.report.count = w.get({ x });"), of(""));
    let (both, own) = (of(mixed), "hdr.report.size = g.get({ y });");
    let behind = format!("act(); {own}");
    check(&[
        (
            "two lists",
            hashes,
            "hdr.report.state = b.get({ x }); hdr.report.verdict = b.get({ y });",
            Some("T1034"),
        ),
        (
            "two lists in branches",
            hashes,
            "if (n == 1) { hdr.report.state = b.get({ x }); } else { hdr.report.state = b.get({ y }); }",
            Some("T1034"),
        ),
        (
            "one list twice",
            hashes,
            "hdr.report.state = b.get({ x }); hdr.report.verdict = b.get({ x });",
            None,
        ),
        ("48 bits", hashes, "hdr.ethernet.dst_addr = l.get({ x });", Some("T1035")),
        ("32 of 48 bits", hashes, "hdr.report.count = l.get({ x })[31:0];", None),
        ("32 bits and 16 in an action", &both, "act();", Some("T1035")),
        ("32 bits and 16 in apply", hashes, mixed, Some("T1035")),
        (
            "16 bits behind a condition",
            &none,
            "hdr.report.count = w.get({ x }); if (n == 1) { hdr.report.size = g.get({ y }); }",
            None,
        ),
        ("16 bits behind an action", &small, &behind, None),
    ]);
}

#[test]
fn a_sum_of_a_sum_and_constants_is_one_sum() {
    check(&[("two constants", "action act() { x = y + 1; z = x + 4; }", "act();", None)]);
}

#[test]
fn a_table_runs_the_matching_action_and_a_keyless_one_its_default() {
    let table = |keys: &str| {
        format!(
            "action act() {{ z = 1; }}
             table t {{ key = {{ {keys} }} actions = {{ act; NoAction; }}
                 size = 16; default_action = NoAction; }}"
        )
    };
    let delay_and = |kind: &str| {
        codes(&table(&format!("hdr.report.delay : lpm; hdr.report.extra : {kind};")), "t.apply();")
    };
    assert_eq!(delay_and("lpm"), ["T1017"]);
    assert_eq!(delay_and("ternary"), ["T1017"]);
    assert!(delay_and("exact").is_empty());
    let keyless = |default: &str| {
        format!(
            "Register<bit<32>, bit<1>>(2) r;
             RegisterAction<bit<32>, bit<1>, bit<3>>(r) ra = {{
                 void apply(inout bit<32> v, out bit<3> o) {{ v = v + 1; o = 0; }} }};
             action nop() {{ }} action act() {{ dprs.drop_ctl = ra.execute(0); }}
             table t {{ actions = {{ act; nop; }} size = 1; default_action = {default}; }}"
        )
    };
    assert!(codes(&keyless("act"), "t.apply();").is_empty());
    assert_eq!(codes(&keyless("nop"), "t.apply();"), ["T0708"]);
}

#[test]
fn an_action_takes_one_step() {
    let act = |body: &str| format!("action act() {{ {body} }}");
    for (body, rule) in [
        ("z = x | y | 5;", Some("T1004")),
        ("z = x ^ y ^ meta.now;", Some("T1004")),
        ("z = (x & y) | meta.now;", Some("T1004")),
        ("z = (x ^ y) + 1;", Some("T1004")),
        ("z = (x & 0xff) + y;", Some("T1004")),
        ("z = (x + y) >> 1;", Some("T1004")),
        ("z = ~x + 1;", Some("T1004")),
        ("z = (x << 8) | (y >> 24);", Some("T1004")),
        ("z = max(x, y + 1);", Some("T1004")),
        ("x = x + 1; z = x + y;", Some("T1004")),
        ("x[7:0] = n + 3; z = x + y;", Some("T1004")),
        ("hdr.report.size = (n ++ hdr.report.verdict) + meta.size;", Some("T1004")),
        ("z = x + 5 + 7;", None),
        ("z = max(x, y);", None),
        ("z = (x >> 3) >> 2;", None),
        ("z = ~(x & y);", None),
        ("z = (bit<32>)(hdr.report.size - meta.size);", None),
        ("x = y + 1; x = z + y; z = x;", None),
    ] {
        let found = codes(&act(body), "act();");
        match rule {
            Some(code) => assert!(found.contains(&code), "{body}: {found:?}"),
            None => assert!(found.is_empty(), "{body}: {found:?}"),
        }
    }
}

#[test]
fn the_result_of_apply_is_inlined_into_later_statements() {
    check(&[
        ("a condition", "", "z = x + 5; if (z == 0) { n = 1; }", Some("T1003")),
        (
            "a field of a header",
            "",
            "hdr.report.count = x ^ 5; if (hdr.report.count == 0) { z = 1; }",
            Some("T1003"),
        ),
        ("a block of its own", "", "{ z = x ^ y; } if (z == 0) { n = 1; }", Some("T1003")),
        ("a sum", "", "x = y ^ meta.now; z = x | 7;", Some("T1012")),
        (
            "two branches",
            "",
            "if (n == 1) { z = x + 1; } else { z = x + 2; } if (z == 0) { n = 1; }",
            None,
        ),
        ("an action", "action act() { z = x ^ y; }", "act(); if (z == 0) { n = 1; }", None),
    ]);
}

#[test]
fn a_condition_compares_fields_and_masked_fields() {
    check(&[
        ("exclusive or", "", "if (x ^ y == 0) { z = 1; }", Some("T1003")),
        ("and", "", "if (x & y == 0) { z = 1; }", Some("T1003")),
        ("shift", "", "if (x >> 20 == 0) { z = 1; }", Some("T1003")),
        ("complement", "", "if (~n == 0) { z = 1; }", Some("T1003")),
        ("sign of a difference", "", "if ((x - y)[31:31] == 1) { z = 1; }", Some("T1003")),
        ("two truths", "", "if ((n == 1) == (one == 1)) { z = 1; }", Some("T1003")),
        ("mask", "", "if (n & 5 == 5) { z = 1; }", None),
        ("slice of a shift", "", "if ((x >> 22)[9:0] < 5) { z = 1; }", None),
        ("concatenation", "", "if (n ++ hdr.report.verdict == 5) { z = 1; }", None),
    ]);
}

#[test]
fn a_key_and_what_a_hash_takes_in_are_computed_before() {
    let key = |expr: &str| {
        format!(
            "action act() {{ z = 1; }}
             table t {{ key = {{ {expr} : exact @name(\"k\"); }} actions = {{ act; NoAction; }}
                 size = 16; default_action = NoAction; }}"
        )
    };
    for (expr, rule) in [
        ("x > y", Some("T1016")),
        ("!hdr.report.isValid()", Some("T1016")),
        ("n == 1 ? x : y", Some("T1016")),
        ("x + y", None),
    ] {
        let found = codes(&key(expr), "t.apply();");
        assert_eq!(found.first().copied(), rule, "{expr}: {found:?}");
    }
    let hash = "Hash<bit<16>>(HashAlgorithm_t.CRC16) h;";
    for (expr, rule) in [
        ("(bit<1>)(x > y)", Some("T1016")),
        ("(x + y)[7:0]", Some("T1019")),
        ("x + y", None),
        ("x ^ y", None),
    ] {
        let found = codes(hash, &format!("hdr.report.size = h.get({{ {expr}, n }});"));
        assert_eq!(found.first().copied(), rule, "{expr}: {found:?}");
    }
}

#[test]
fn the_address_of_a_register_is_a_field() {
    let register = |width: u32| {
        format!(
            "Register<bit<32>, bit<{width}>>(256) r;
             RegisterAction<bit<32>, bit<{width}>, bit<32>>(r) ra = {{
                 void apply(inout bit<32> v, out bit<32> o) {{ v = v + 1; o = v; }} }};"
        )
    };
    for (width, index, rule) in [
        (32, "x + y", Some("T1018")),
        (32, "x ^ y", Some("T1018")),
        (32, "x & 0xff", Some("T1018")),
        (8, "(bit<8>)(bit<1>)(x == y)", Some("T1018")),
        (16, "n ++ hdr.report.verdict", None),
        (16, "n ++ 8w0", None),
    ] {
        let found = codes(&register(width), &format!("z = ra.execute({index});"));
        assert_eq!(found.first().copied(), rule, "{index}: {found:?}");
    }
    let local = "z = x + y; z = ra.execute(z);";
    assert_eq!(codes(&register(32), local), ["T1018"]);
    let named = format!("{} action act() {{ z = x + y; }}", register(32));
    assert!(codes(&named, "act(); z = ra.execute(z);").is_empty());
}

#[test]
fn a_headers_field_of_48_bits_is_no_operand_of_a_sum() {
    check(&[
        ("a field", "", "hdr.ethernet.dst_addr = hdr.ethernet.src_addr + 1;", Some("T1009")),
        ("its low bits", "", "z = hdr.ethernet.src_addr[31:0] + 1;", None),
    ]);
}

#[test]
fn no_loop_is_written_out() {
    check(&[
        ("numbers", "", "for (bit<8> i in 0 .. 3) { z = z ^ 1; }", Some("T1007")),
        ("list", "", "for (bit<8> i in {1, 2, 3}) { n = n ^ i; }", Some("T1007")),
        ("typed list", "", "for (bit<8> i in (list<bit<8>>){1, 2}) { n = n ^ i; }", Some("T1007")),
        (
            "action",
            "action act() { for (bit<8> i in {1, 2}) { n = n ^ i; } }",
            "act();",
            Some("T1007"),
        ),
    ]);
}

#[test]
fn action_data_is_the_first_operand_of_an_instruction() {
    let table = |value: &str| {
        format!(
            "action act(bit<32> p, bit<32> q, bit<8> r, bool c) {{ z = {value}; }}
             table t {{ key = {{ n : exact; }} actions = {{ act; NoAction; }}
                 size = 16; default_action = NoAction; }}"
        )
    };
    for (value, rule) in [
        ("x - p", Some("T1020")),
        ("x |-| p", Some("T1020")),
        ("x - (bit<32>)r", Some("T1020")),
        ("-p", Some("T1020")),
        ("p - x", None),
        ("p |-| x", None),
        ("p + q", Some("T1021")),
        ("p & q", Some("T1021")),
        ("p >> 1", Some("T1021")),
        ("x + p", None),
        ("p + 5", None),
        ("c ? p : x", None),
        ("c ? 32w5 : z", None),
        ("r != 0 ? p : x", None),
        ("c ? x : p", Some("T1016")),
        ("c ? x : y", Some("T1016")),
        ("r == 1 ? p : x", Some("T1016")),
    ] {
        let found = codes(&table(value), "t.apply();");
        assert_eq!(found.first().copied(), rule, "{value}: {found:?}");
    }
    let called = "action act(bit<32> p) { z = x - p; }";
    assert!(codes(called, "act(y);").is_empty(), "an argument of `apply` is no action data");
}

#[test]
fn the_address_of_a_counter_is_a_field() {
    let counter = "Counter<bit<32>, bit<32>>(1024, CounterType_t.PACKETS) c;
        action sum() { y = x + 1; }";
    check(&[
        ("a sum", counter, "c.count(x + 1);", Some("T1018")),
        ("a local sum", counter, "z = x + 1; c.count(z);", Some("T1018")),
        ("a field", counter, "c.count(x);", None),
        ("the result of an action", counter, "sum(); c.count(y);", None),
    ]);
}

#[test]
fn a_minimum_is_an_instruction() {
    check(&[
        ("of a maximum", "", "z = min(x, max(y, 5));", Some("T1012")),
        ("a sum", "", "z = max(x, y) + 1;", Some("T1012")),
        ("a local", "", "bit<32> low = max(x, 5); z = min(low, 9);", None),
        ("in an action", "action act() { z = max(x, y) + 1; }", "act();", Some("T1004")),
        ("in a condition", "", "if (max(x, y) == 3) { z = 1; }", Some("T1003")),
        ("alone", "", "z = max(x, y);", None),
        (
            "of another action's result",
            "action up() { x = max(x, 5); } action down() { z = min(x, 9); }",
            "up(); down();",
            None,
        ),
    ]);
}

#[test]
fn tables_are_applied_in_one_order() {
    let tables = "action s() { x = 1; } action r() { y = 1; }
        table t { key = { n : exact; } actions = { s; } size = 16; }
        table u { key = { n : exact; } actions = { r; } size = 16; }";
    let either = |yes: &str, no: &str| format!("if (n == 1) {{ {yes} }} else {{ {no} }}");
    let (tu, ut) = ("t.apply(); u.apply();", "u.apply(); t.apply();");
    assert_eq!(codes(tables, &either(tu, ut)), ["T1025"]);
    assert_eq!(codes(tables, &either(tu, tu)), [""; 0]);
    assert_eq!(codes(tables, &either("t.apply();", ut)), [""; 0]);
}

#[test]
fn a_table_that_is_not_applied_breaks_no_rule() {
    let table = "action s() { x = 1; }
        table t { key = { hdr.report.delay : range; } actions = { s; } size = 16; }";
    assert_eq!(codes(table, "z = 1;"), [""; 0]);
    assert_eq!(codes(table, "t.apply();"), ["T1010"]);
}

#[test]
fn a_table_names_the_direct_objects_of_its_actions() {
    let table = |property: &str| {
        format!(
            "DirectCounter<bit<32>>(CounterType_t.PACKETS) c; action s() {{ c.count(); }}
             table t {{ key = {{ n : exact; }} actions = {{ s; }} size = 16; {property} }}"
        )
    };
    assert_eq!(codes(&table(""), "t.apply();"), ["T0711"]);
    assert_eq!(codes(&table("counters = c;"), "t.apply();"), [""; 0]);
    let unused = "DirectCounter<bit<32>>(CounterType_t.PACKETS) c; action s() { x = 1; }
        table t { key = { n : exact; } actions = { s; } size = 16; counters = c; }";
    assert_eq!(codes(unused, "t.apply();"), ["T0709"]);
}

#[test]
fn the_tables_of_a_selector_have_the_same_selector_keys_and_actions() {
    let tables = |key: &str, action: &str| {
        format!(
            "Hash<bit<14>>(HashAlgorithm_t.CRC16) h; ActionProfile(64) p;
             ActionSelector(p, h, SelectorMode_t.FAIR, 8, 4) s;
             action mark(bit<32> v) {{ x = v; }} action judge(bit<32> v) {{ y = v; }}
             table t {{ key = {{ n : exact; hdr.ipv4.src_addr : selector; }}
                 actions = {{ mark; }} implementation = s; size = 16; }}
             table u {{ key = {{ n : exact; {key} : selector; }}
                 actions = {{ {action}; }} implementation = s; size = 16; }}"
        )
    };
    let apply = "if (n == 1) { t.apply(); } else { u.apply(); }";
    assert_eq!(codes(&tables("hdr.ipv4.src_addr", "mark"), apply), [""; 0]);
    let both = "t.apply(); u.apply();";
    assert_eq!(codes(&tables("hdr.ipv4.src_addr", "mark"), both), ["T1028"]);
    // On a miss the first table reads no member, unless its default action may have data.
    let second = "if (!t.apply().hit) { u.apply(); }";
    let fixed = |text: String| {
        text.replace(
            "actions = { mark; }",
            "actions = { mark; NoAction; } const default_action = NoAction;",
        )
    };
    assert_eq!(codes(&fixed(tables("hdr.ipv4.src_addr", "mark")), second), [""; 0]);
    assert_eq!(codes(&tables("hdr.ipv4.src_addr", "mark"), second), ["T1028"]);
    let behind_hit = "if (t.apply().hit) { u.apply(); }";
    assert_eq!(codes(&fixed(tables("hdr.ipv4.src_addr", "mark")), behind_hit), ["T1028"]);
    assert_eq!(codes(&tables("hdr.ipv4.dst_addr", "mark"), apply), ["T1024"]);
    assert_eq!(codes(&tables("hdr.ipv4.src_addr", "judge"), apply), ["T1027"]);
    assert_eq!(codes(&tables("hdr.ipv4.dst_addr", "judge"), "t.apply();"), [""; 0]);
}

#[test]
fn a_switch_looks_at_no_value() {
    check(&[
        ("a field", "", "switch (n) { 1: { z = 1; } default: { z = 2; } }", Some("T1003")),
        ("a mask", "", "switch (n & 3) { 1: { z = 1; } default: { z = 2; } }", Some("T1003")),
    ]);
}

#[test]
fn a_cast_does_not_widen_what_another_cast_has_cut() {
    check(&[
        ("cut and widened", "", "z = (bit<32>)(bit<8>)hdr.report.size;", Some("T1026")),
        ("a slice", "", "z = (bit<32>)hdr.report.size[7:0];", None),
        ("cut twice", "", "n = (bit<8>)(bit<16>)x;", None),
        ("widened twice", "", "z = (bit<32>)(bit<16>)n;", None),
        ("widened with its sign", "", "z = (bit<32>)(int<32>)(int<8>)n;", Some("T1026")),
    ]);
}

#[test]
fn a_condition_that_applies_a_table_asks_for_nothing_else() {
    let tables = "action s() { x = 1; } action r() { y = 1; }
        table t { key = { n : exact; } actions = { s; } size = 16; }
        table u { key = { n : exact; } actions = { r; } size = 16; }";
    for (apply, right) in [
        ("if (t.apply().hit) { z = 1; }", &[][..]),
        ("if (!t.apply().hit) { if (u.apply().hit) { z = 1; } }", &[]),
        ("truth = t.apply().hit; if (truth) { z = 1; }", &[]),
        ("if (t.apply().hit && u.apply().hit) { z = 1; }", &["T1003"]),
        ("if (t.apply().hit && n == 1) { z = 1; }", &["T1003"]),
    ] {
        assert_eq!(codes(tables, apply), right, "{apply}");
    }
}

#[test]
fn a_filter_and_a_meters_colour_take_in_one_field() {
    let objects = "Wred<bit<32>, bit<9>>(512, 1, 0) early;
        Meter<bit<9>>(512, MeterType_t.BYTES) meter;
        bit<8> a; bit<8> b;";
    let action = |body: &str| {
        let after = "hdr.report.state = a; hdr.report.verdict = b;";
        codes(&format!("{objects} action m() {{ {body} }}"), &format!("m(); {after}"))
    };
    let early = |input: &str| action(&format!("a = early.execute({input}, eg.egress_port);"));
    for field in ["hdr.report.delay", "x"] {
        assert_eq!(early(field), [""; 0], "{field}");
    }
    assert_eq!(early("100"), ["T1029"]);
    let colored = |color: &str| action(&format!("a = meter.execute(eg.egress_port, {color}, 0);"));
    assert_eq!(colored("MeterColor_t.GREEN"), ["T1029"]);
    assert_eq!(colored("(MeterColor_t)hdr.report.state"), [""; 0]);
}

#[test]
fn what_is_overwritten_before_it_is_read_is_not_computed() {
    let act = "action act() { z = x * y; z = 3; }";
    let two = "action act() { hdr.report.extra = x * y; } action other() { hdr.report.extra = 3; }";
    check(&[
        ("in apply", "", "hdr.report.extra = x * y; hdr.report.extra = 3;", None),
        ("in an action", act, "act();", None),
        ("in two actions", two, "act(); other();", None),
        ("read between", "", "z = x * y; hdr.report.extra = z; z = 3;", Some("T1005")),
        ("read by the second", "", "z = x * y; z = z + 3;", Some("T1005")),
        ("on one way", "", "z = x * y; if (n == 1) { z = 3; }", Some("T1005")),
    ]);
}

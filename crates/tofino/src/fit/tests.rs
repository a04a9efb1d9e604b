//! Tests of stage allocation, on programs of a few lines and on the shipped ones.

use super::{Dependency, Fit, Resource, estimate};
use crate::load::{LoadOptions, load_with};
use crate::testing::{Parts, load_text, p4_folder};
use sojourn_p4::preprocess::FileLoader;

/// Makes everything that the tests compute visible behind the control.
const OUT: &str = "header out_h { bit<32> a; bit<32> b; bit<32> c; bit<16> d; bit<8> e; }
struct digest_t { bit<32> a; }";

/// The estimate of an egress control with these declarations and statements. The fields a to e of
/// the metadata are mirrored, so that nothing computed into them is dead.
fn egress(declarations: &str, apply: &str) -> Fit {
    let parts = Parts {
        types: OUT,
        metadata: "MirrorId_t session;",
        egress: declarations,
        apply,
        deparser: (
            "Mirror() mirror;",
            "if (d.mirror_type == 1) {
                 mirror.emit<out_h>(m.session, { m.a, m.b, m.c, m.d, m.e });
             }",
        ),
        ..Parts::default()
    };
    estimate(&parts.loaded())
}

fn stages(declarations: &str, apply: &str) -> u32 {
    egress(declarations, apply).passes[1].stages
}

fn refused(declarations: &str, apply: &str) -> Vec<&'static str> {
    let parts = Parts { egress: declarations, apply, ..Parts::default() };
    parts.refused().into_iter().map(|(code, _)| code).collect()
}

fn warned(declarations: &str, apply: &str) -> Vec<&'static str> {
    let parts = Parts { egress: declarations, apply, ..Parts::default() };
    parts.loaded().warnings.into_iter().map(|warning| warning.code).collect()
}

/// The estimate of a shipped program.
fn shipped(name: &str) -> Fit {
    let options =
        LoadOptions { include_paths: vec![p4_folder().join("include")], ..LoadOptions::default() };
    let loaded = load_with(&FileLoader, p4_folder().join("tna").join(name), &options);
    estimate(&loaded.unwrap_or_else(|error| panic!("{error}")))
}

const TABLE: &str = "action put(bit<32> x) { m.b = x; }
    table t { key = { m.a : exact; } actions = { put; } size = 16; }";

const STATE: &str = "Register<bit<32>, bit<9>>(512) state;
    RegisterAction<bit<32>, bit<9>, bit<32>>(state) add = {
        void apply(inout bit<32> v, out bit<32> r) { v = v + m.a; r = v; }
    };
    RegisterAction<bit<32>, bit<9>, bit<32>>(state) read = {
        void apply(inout bit<32> v, out bit<32> r) { r = v; }
    };";

#[test]
fn independent_steps_share_a_stage() {
    assert_eq!(stages("", "m.a = m.now + 1; m.b = m.now - 1; m.c = m.now;"), 1);
}

#[test]
fn a_match_on_a_field_that_an_action_wrote_takes_one_more_stage() {
    assert_eq!(stages(TABLE, "t.apply();"), 1);
    let fit = egress(TABLE, "m.a = m.now + 1; t.apply();");
    assert_eq!(fit.passes[1].stages, 2);
    let last = fit.passes[1].critical_path.last().and_then(|step| step.reason.as_ref()).unwrap();
    assert_eq!(last.dependency, Some(Dependency::Match));
    assert_eq!(last.field.as_deref(), Some("m.a"));
}

#[test]
fn an_operand_that_an_action_wrote_takes_one_more_stage() {
    let fit = egress("action first() { m.a = m.now + 1; }", "first(); m.b = m.a + m.c;");
    assert_eq!(fit.passes[1].stages, 2);
    let last = fit.passes[1].critical_path.last().and_then(|step| step.reason.as_ref()).unwrap();
    assert_eq!(last.dependency, Some(Dependency::Action));
}

#[test]
fn a_second_write_of_a_field_takes_one_more_stage() {
    assert_eq!(stages("", "m.a = m.now; if (m.e == 1) { m.a = m.c; }"), 2);
}

#[test]
fn overwriting_a_field_after_it_was_read_costs_nothing() {
    assert_eq!(stages("", "m.b = m.a + 1; m.a = m.now;"), 1);
}

#[test]
fn a_gateway_on_a_computed_field_costs_a_stage_and_nothing_for_the_tables_it_guards() {
    assert_eq!(stages("", "if (m.e == 1) { m.a = m.now; }"), 1);
    assert_eq!(stages("", "m.e = m.e + 1; if (m.e == 1) { m.a = m.now; }"), 2);
    assert_eq!(stages("", "m.e = m.e + 1; if (m.e == 1) { if (m.d == 2) { m.a = m.now; } }"), 2);
}

#[test]
fn exclusive_branches_share_a_stage() {
    let apply = "if (m.e == 1) { m.a = m.now; } else { m.a = m.c; }";
    assert_eq!(stages("", apply), 1);
    let apart = "if (m.e == 1) { m.a = m.now; } if (m.e == 2) { m.a = m.c; }";
    assert_eq!(stages("", apart), 2, "that two values exclude each other is not seen");
}

#[test]
fn statements_after_a_return_exclude_those_before_it() {
    assert_eq!(stages("", "if (m.e == 1) { m.a = m.now; return; } m.a = m.c;"), 1);
}

#[test]
fn an_action_that_swaps_fields_of_a_header_takes_one_step() {
    // Guards, which a running program has before fields of a header that may be invalid, are no
    // instructions.
    let swap = "action swap() {
            bit<48> t = h.ethernet.src; h.ethernet.src = h.ethernet.dst; h.ethernet.dst = t; m.e = 1;
        }
        table u { key = { m.a : exact; } actions = { swap; } size = 16; }";
    assert_eq!(stages(swap, "u.apply(); if (m.e == 1) { m.a = m.now; }"), 2);
}

#[test]
fn statements_that_a_hit_decides_are_in_the_tables_stage() {
    assert_eq!(stages(TABLE, "if (t.apply().hit) { m.c = m.now; }"), 1);
    assert_eq!(stages(TABLE, "switch (t.apply().action_run) { put: { m.c = m.now; } }"), 1);
}

#[test]
fn an_input_of_a_stateful_alu_and_its_output_take_a_stage_each() {
    let apply = "m.a = m.now + 1; m.b = add.execute(e.egress_port); m.c = m.b + 1;";
    assert_eq!(stages(STATE, apply), 3);
}

#[test]
fn a_result_that_is_cut_on_its_way_out_costs_nothing() {
    let apply = "m.e = (bit<8>) read.execute(e.egress_port)[7:0];";
    assert_eq!(stages(STATE, apply), 1);
}

#[test]
fn all_accesses_to_a_register_are_in_the_stage_of_the_latest() {
    let apply = "if (m.e == 1) { first(); second(); m.b = add.execute(e.egress_port); }
         else { m.b = read.execute(e.egress_port); }";
    let actions = "action first() { m.c = m.now + 1; } action second() { m.a = m.c + 1; }";
    let fit = egress(&format!("{STATE} {actions}"), apply);
    assert_eq!(fit.passes[1].stages, 3);
    let with_state: Vec<u32> = fit
        .stages
        .iter()
        .filter(|stage| stage.placed.iter().any(|placed| placed.kind == "stateful"))
        .map(|stage| stage.stage)
        .collect();
    assert_eq!(with_state, [2]);
    assert_eq!(fit.stages[2].used[&Resource::StatefulAlus], 1);
}

/// The estimate for a program that uses so many registers, each for itself.
fn of_registers(count: u32) -> Fit {
    let register = |n: u32| {
        format!(
            "Register<bit<32>, bit<9>>(512) r{n};
             RegisterAction<bit<32>, bit<9>, bit<32>>(r{n}) a{n} = {{
                 void apply(inout bit<32> v) {{ v = v + 1; }}
             }};"
        )
    };
    let declarations: String = (0..count).map(register).collect();
    let apply: String = (0..count).map(|n| format!("a{n}.execute(e.egress_port);")).collect();
    egress(&declarations, &apply)
}

#[test]
fn a_fifth_register_goes_to_the_next_stage() {
    let fit = of_registers(5);
    assert_eq!(fit.passes[1].critical_stages, 1);
    assert_eq!(fit.passes[1].stages, 2);
    assert_eq!(fit.stages[0].used[&Resource::StatefulAlus], 4);
    assert!(fit.notes.iter().any(|note| note.contains("stateful")), "{:?}", fit.notes);
}

#[test]
fn a_hash_that_is_an_index_is_computed_on_the_way() {
    let declarations = format!("Hash<bit<9>>(HashAlgorithm_t.CRC16) hash; {STATE}");
    let apply = "bit<9> i = hash.get({ m.now }); m.b = read.execute(i);";
    assert_eq!(stages(&declarations, apply), 1);
}

#[test]
fn dead_writes_take_no_stage() {
    assert_eq!(stages("", "m.f = m.f + 1;"), 0);
    assert_eq!(stages("", "m.a = m.a + 1;"), 1, "but m.a is mirrored");
}

#[test]
fn a_table_larger_than_a_stage_goes_on_in_the_next() {
    let table = "action put(bit<32> x) { m.b = x; }
        table t { key = { m.a : exact; } actions = { put; } size = 500000; }";
    let fit = egress(table, "t.apply(); m.c = m.b + 1;");
    assert!(fit.stages[0].used[&Resource::SramBlocks] == 80);
    assert!(fit.stages[1].placed.iter().any(|placed| placed.name == "t (continued)"));
    assert!(fit.passes[1].stages > 2, "what follows comes after its last stage");
}

#[test]
fn ingress_and_egress_share_the_stages() {
    let table = "action send(PortId_t port) { t.ucast_egress_port = port; }
        table forward { key = { i.ingress_port : exact; } actions = { send; } }";
    let parts = Parts {
        ingress: table,
        ingress_apply: "forward.apply();",
        egress: "action drop() { d.drop_ctl = 1; }
            table filter { key = { e.egress_port : exact; } actions = { drop; } }",
        apply: "filter.apply();",
        ..Parts::default()
    };
    let fit = estimate(&parts.loaded());
    assert_eq!(fit.stages_used, 1);
    assert_eq!(fit.stages[0].used[&Resource::LogicalTables], 2);
}

/// A table of as many actions as a stage has instruction words for a pass.
fn many_actions(field: &str) -> String {
    let names: Vec<String> = (0..32).map(|at| format!("a{at}")).collect();
    let actions = names.iter().map(|name| format!("action {name}(bit<3> x) {{ {field} = x; }} "));
    let actions: String = actions.collect();
    format!(
        "{actions} table many {{ key = {{ i.PORT : exact; }} actions = {{ {}; }} }}",
        names.join("; ")
    )
}

#[test]
fn ingress_and_egress_do_not_share_instruction_words() {
    let ingress = many_actions("id.digest_type").replace("PORT", "ingress_port");
    let egress = many_actions("d.drop_ctl").replace("i.PORT", "e.egress_port");
    let parts = Parts {
        ingress: &ingress,
        ingress_apply: "many.apply();",
        egress: &egress,
        apply: "many.apply();",
        ..Parts::default()
    };
    let fit = estimate(&parts.loaded());
    assert_eq!(fit.stages_used, 1);
    assert_eq!(fit.stages[0].used[&Resource::IngressWords], 32);
    assert_eq!(fit.stages[0].used[&Resource::EgressWords], 32);
}

#[test]
fn thirteen_steps_that_need_each_other_are_refused() {
    let chain = |steps: u32| {
        let step = |n| match n % 2 {
            0 => "to_b();",
            _ => "to_a();",
        };
        let chain: String = (0..steps).map(step).collect();
        format!("{chain} if (m.a == 5) {{ d.drop_ctl = 1; }} if (m.b == 5) {{ d.drop_ctl = 1; }}")
    };
    let egress = "action to_a() { m.a = m.b + 1; } action to_b() { m.b = m.a + 1; }";
    let parts = |apply| Parts { egress, apply, ..Parts::default() };
    assert!(estimate(&parts(&chain(11)).loaded()).stages_used >= 12);
    assert_eq!(refused(egress, &chain(13)), ["T1101"]);
}

#[test]
fn a_chain_that_a_hash_can_compute_at_once_is_no_proof() {
    let step = |n| if n % 2 == 0 { "m.a = m.b ^ m.now;" } else { "m.b = ~m.a;" };
    let chain: String = (0..14).map(step).collect();
    let fit = egress("", &format!("{chain} if (m.b == 5) {{ d.drop_ctl = 1; }}"));
    assert!(fit.stages_used > 12 && fit.stages_at_least <= 12);
}

#[test]
fn more_than_twelve_stages_that_are_not_proven_are_no_error() {
    let copies: String =
        (0..14).map(|n| if n % 2 == 0 { "m.a = m.b;" } else { "m.b = m.a;" }).collect();
    let fit = egress("", &format!("{copies} if (m.a == 5) {{ d.drop_ctl = 1; }}"));
    assert!(!fit.fits);
    assert!(fit.stages_at_least <= 12);
    assert!(fit.render().starts_with("may not fit"));
}

#[test]
fn a_condition_orders_no_two_fields() {
    assert_eq!(refused("", "if (m.a < m.b) { d.drop_ctl = 1; }"), ["T1001"]);
    assert!(warned("", "if (m.a == m.b) { d.drop_ctl = 1; }").is_empty());
}

#[test]
fn a_condition_orders_twelve_bits_and_a_constant() {
    assert_eq!(refused("", "if (m.a < 5000000) { d.drop_ctl = 1; }"), ["T1002"]);
    assert!(warned("", "if (m.a[11:0] < 1000) { d.drop_ctl = 1; }").is_empty());
}

#[test]
fn a_comparison_that_is_an_equality_of_upper_bits_has_any_width() {
    assert!(warned("", "if (m.a > 0) { d.drop_ctl = 1; }").is_empty());
    assert!(warned("", "if (m.a >= 4096) { d.drop_ctl = 1; }").is_empty());
    assert!(warned("", "if (m.a <= 0xfffff) { d.drop_ctl = 1; }").is_empty());
    assert!(warned("", "if (m.a < 0x5000000) { d.drop_ctl = 1; }").is_empty());
    assert!(warned("", "if ((int<32>) m.a < 0) { d.drop_ctl = 1; }").is_empty());
}

#[test]
fn a_local_constant_in_a_condition_is_no_field() {
    assert!(warned("", "bit<8> limit = 5; if (m.e < limit) { d.drop_ctl = 1; }").is_empty());
}

#[test]
fn a_condition_that_computes_is_refused() {
    assert_eq!(refused("", "if (m.a - m.b == 5) { d.drop_ctl = 1; }"), ["T1003"]);
    for computed in ["m.a & m.b", "m.a + 5", "m.a >> 20", "~m.a", "m.a ^ m.b"] {
        let condition = format!("if ({computed} == 5) {{ d.drop_ctl = 1; }}");
        assert_eq!(refused("", &condition), ["T1003"], "{computed}");
    }
    for read in ["(m.a & 0xff0)", "m.a % 16", "(m.a >> 20)[7:0]", "(m.d ++ m.d)"] {
        let condition = format!("if ({read} == 5) {{ d.drop_ctl = 1; }}");
        assert!(warned("", &condition).is_empty(), "{read}");
    }
}

#[test]
fn a_condition_on_what_the_statement_before_it_computes_is_one_that_computes() {
    let condition = "if (m.a == 5) { d.drop_ctl = 1; }";
    assert_eq!(refused("", &format!("m.a = m.b - m.c; {condition}")), ["T1003"]);
    let named = "action difference() { m.a = m.b - m.c; }";
    assert!(warned(named, &format!("difference(); {condition}")).is_empty());
}

#[test]
fn a_statement_of_apply_does_not_compute_with_the_result_of_another() {
    let chain = "m.a = m.b >> 16; m.c = m.now + m.a;";
    assert_eq!(refused("", chain), ["T1012"]);
    let inside = "m.a = m.b >> 16; if (m.e == 1) { m.c = m.now + m.a; }";
    assert_eq!(refused("", inside), ["T1012"]);
    let named = "action shift() { m.a = m.b >> 16; }";
    assert!(warned(named, "shift(); m.c = m.now + m.a;").is_empty());
    let changed = "m.a = m.b >> 16; m.b = m.now; m.c = m.now + m.a;";
    assert!(warned("", changed).is_empty(), "the expression no longer stands for the result");
}

#[test]
fn two_sums_in_one_assignment_are_refused() {
    assert_eq!(refused("", "m.c = (m.b >> 16) + m.a;"), ["T1004"]);
    assert!(!refused_or_warned("m.c = m.b[31:16] ++ m.a[15:0];").contains(&"T1004"));
}

fn refused_or_warned(apply: &str) -> Vec<&'static str> {
    warned("", apply)
}

const COUNTERS: &str = "Counter<bit<32>, bit<9>>(512, CounterType_t.PACKETS) packets;
    action c0() { packets.count(0); } action c1() { packets.count(1); }
    action c2() { packets.count(2); } action c3() { packets.count(3); }
    action c4() { packets.count(4); }
    table kinds { key = { m.e : exact; } actions = { c0; c1; c2; c3; c4; } size = 16; }";

#[test]
fn a_counter_has_one_alu_however_many_actions_count_with_it() {
    let fit = egress(COUNTERS, "kinds.apply();");
    assert!(fit.fits && fit.unplaced.is_empty(), "{}", fit.render());
    assert_eq!(fit.stages[0].used[&Resource::StatisticsAlus], 1);
}

#[test]
fn a_meter_has_one_alu_however_many_actions_ask_it() {
    let actions: String =
        (0..5).map(|n| format!("action c{n}() {{ m.e = (bit<8>)rate.execute({n}); }} ")).collect();
    let meter = "Meter<bit<9>>(512, MeterType_t.PACKETS) rate;";
    let table =
        "table kinds { key = { m.d : exact; } actions = { c0; c1; c2; c3; c4; } size = 16; }";
    let fit = egress(&format!("{meter} {actions} {table}"), "kinds.apply();");
    assert!(fit.fits && fit.unplaced.is_empty(), "{}", fit.render());
    assert_eq!(fit.stages[0].used[&Resource::StatefulAlus], 1);
}

#[test]
fn a_checksum_under_a_condition_has_a_table_behind_what_it_asks() {
    let stages = |condition: &str| {
        let kind = "h.ethernet.kind = sum.update({ h.ethernet.dst, h.ethernet.src });";
        let update = format!("{condition} {{ {kind} }}");
        let parts = Parts {
            ingress_apply: "t.ucast_egress_port = 1; m.flag = ~m.flag;",
            ingress_deparser: ("Checksum() sum;", &update),
            ..Parts::default()
        };
        estimate(&parts.loaded()).passes[0].stages
    };
    assert_eq!(stages("if (h.ethernet.isValid())"), 1);
    assert_eq!(stages("if (m.flag == 1)"), 2);
}

#[test]
fn a_node_larger_than_a_stage_is_named_without_a_number_of_stages() {
    let counter = |n: u32| format!("Counter<bit<32>, bit<9>>(512, CounterType_t.PACKETS) n{n};");
    let declarations: String = (0..5).map(counter).collect();
    let calls: String = (0..5).map(|n| format!("n{n}.count(0);")).collect();
    let table = "table kinds { key = { m.e : exact; } actions = { count; } size = 4; }";
    let text = format!("{declarations} action count() {{ {calls} }} {table}");
    let fit = egress(&text, "kinds.apply();");
    assert!(!fit.fits);
    assert_eq!(fit.unplaced, ["`kinds` of egress"]);
    let first = fit.render().lines().next().unwrap_or_default().to_owned();
    assert_eq!(first, "may not fit: a step finds no stage of Tofino 1 (estimate)");
}

#[test]
fn a_packet_is_counted_once_by_a_counter() {
    let counter = "Counter<bit<32>, bit<9>>(512, CounterType_t.PACKETS) packets;";
    let both = "if (m.e == 1) { packets.count(1); } if (m.e == 2) { packets.count(2); }";
    assert_eq!(refused(counter, both), ["T0706"], "the compiler goes by branches");
    let one = "if (m.e == 1) { packets.count(1); } else { packets.count(2); }";
    assert!(warned(counter, one).is_empty());
    let before = refused(COUNTERS, "packets.count(9); kinds.apply();");
    assert_eq!(before, ["T0706"; 5], "with each of the five actions");
}

#[test]
fn the_actions_of_a_table_share_what_they_count_in_and_their_registers() {
    let declared = "Counter<bit<32>, bit<9>>(512, CounterType_t.PACKETS) one;
        Counter<bit<32>, bit<9>>(512, CounterType_t.PACKETS) two;
        Register<bit<32>, bit<9>>(512) first; Register<bit<32>, bit<9>>(512) second;
        RegisterAction<bit<32>, bit<9>, bit<32>>(first) bump = {
            void apply(inout bit<32> value) { value = value + 1; } };
        RegisterAction<bit<32>, bit<9>, bit<32>>(second) raise = {
            void apply(inout bit<32> value) { value = value + 1; } };";
    // The verdicts of p4c were determined.
    let codes = |a: &str, b: &str, key: &str| {
        let table = format!(
            "{declared} action a() {{ {a} }} action b() {{ {b} }}
             table kinds {{ {key} actions = {{ a; b; }} default_action = b(); size = 1; }}"
        );
        refused_or_none(&table, "kinds.apply();")
    };
    let key = "key = { m.e: exact; }";
    assert_eq!(codes("bump.execute(0);", "raise.execute(0);", key), ["T0707"]);
    assert_eq!(codes("one.count(0);", "two.count(0);", key), ["T0707"]);
    assert_eq!(codes("one.count(0); two.count(0);", "two.count(0);", key), ["T0707"]);
    assert_eq!(codes("one.count(0); two.count(1);", "", key), ["T0704"]);
    assert!(codes("one.count(0); two.count(0);", "", key).is_empty());
    assert!(codes("one.count(0);", "bump.execute(0);", key).is_empty());
    assert!(codes("one.count(0);", "one.count(1);", key).is_empty());
    assert_eq!(codes("one.count(0);", "", ""), ["T0708"]);
    assert_eq!(codes("", "one.count(0);", ""), ["T0708"]);
    assert!(codes("one.count(0);", "one.count(1);", "").is_empty());
    assert!(codes("", "bump.execute(0);", "").is_empty(), "the default action accesses a register");
    assert_eq!(codes("bump.execute(0);", "", ""), ["T0708"]);
}

#[test]
fn small_fields_of_one_byte_are_written_in_different_stages() {
    let ingress = |declarations: &'static str, apply: &'static str| {
        let parts = Parts { ingress: declarations, ingress_apply: apply, ..Parts::default() };
        estimate(&parts.loaded()).passes[0].stages
    };
    let table = "action send(PortId_t port) { t.ucast_egress_port = port; }
        table forward { key = { i.ingress_port : exact; } actions = { send; } }";
    assert_eq!(ingress(table, "forward.apply(); t.bypass_egress = 1;"), 1);
    let table = "action drop() { id.drop_ctl = 1; }
        table forward { key = { i.ingress_port : exact; } actions = { drop; } }";
    assert_eq!(ingress(table, "forward.apply(); t.bypass_egress = 1;"), 2);
    assert_eq!(ingress(table, "forward.apply(); t.qid = 1;"), 2);
    let all = "forward.apply(); t.bypass_egress = 0; t.qid = 1;";
    assert_eq!(ingress(table, all), 2, "the three have nine bits");
}

#[test]
fn a_field_of_the_program_with_the_name_of_a_request_shares_no_byte_with_requests() {
    let with = |name: &str| {
        let metadata = format!("bit<32> {name};");
        let tables = format!(
            "action drop() {{ d.drop_ctl = 1; }} action mark() {{ h.ethernet.kind = 1; }}
             action sum() {{ m.b = m.a + m.c; }} action next() {{ m.{name} = m.b + 1; }}
             table t {{ key = {{ m.b : exact; }} actions = {{ drop; }} }}
             table u {{ key = {{ m.{name} : exact; }} actions = {{ mark; }} }}"
        );
        let apply =
            "sum(); t.apply(); next(); u.apply(); if (d.drop_ctl == 1) { h.ethernet.dst = 5; }";
        let parts = Parts { metadata: &metadata, egress: &tables, apply, ..Parts::default() };
        estimate(&parts.loaded()).passes[1].stages
    };
    assert_eq!(with("qid"), with("other"));
}

#[test]
fn each_pipeline_has_its_own_stages() {
    let more = "Pipeline(IgParser(), Ig(), IgDeparser(), EgParser(), Eg(), EgDeparser()) second;
        Switch(pipe, second) main;";
    let parts = Parts { apply: "h.ethernet.kind = m.d;", ..Parts::default() };
    let text = parts.text().replace("Switch(pipe) main;", more);
    let fit = estimate(&load_text(&text).unwrap_or_else(|error| panic!("{error}")));
    assert_eq!(fit.others.len(), 1);
    assert_eq!(fit.others[0].passes[1].stages, 1);
    assert!(fit.render().contains("\npipeline 2: fits: 1 of 12 stages"));
}

#[test]
fn a_table_with_alpm_has_one_in_front_of_it() {
    let table = "Alpm(number_partitions = 1024, subtrees_per_partition = 2) alpm;
        action put(bit<32> x) { m.b = x; }
        table t { key = { m.a : lpm; } actions = { put; } size = 10240; implementation = alpm; }";
    let fit = egress(table, "t.apply();");
    assert_eq!(fit.passes[1].stages, 2);
    assert_eq!(fit.stages[1].used[&Resource::TcamBlocks], 0, "its entries are in SRAM");
    let annotated = |number: u32| {
        let table = "table t { key = { m.a : lpm; } actions = { put; } size = 10240; }";
        stages(
            &format!("action put(bit<32> x) {{ m.b = x; }} @alpm({number}) {table}"),
            "t.apply();",
        )
    };
    assert_eq!((annotated(1), annotated(0)), (2, 1));
}

fn table_action(body: &str) -> String {
    format!(
        "action act() {{ {body} }}
         table t {{ key = {{ m.e : exact; }} actions = {{ act; }} size = 4; }}"
    )
}

#[test]
fn a_sum_of_three_fields_in_one_action_is_refused() {
    assert_eq!(refused(&table_action("m.a = m.a + m.b + m.c;"), "t.apply();"), ["T1004"]);
    let apart = table_action("m.a = m.b + m.c; m.b = m.a + m.now;");
    assert_eq!(refused(&apart, "t.apply();"), ["T1004"]);
    assert!(warned(&table_action("m.a = m.b + m.c; m.b = m.a;"), "t.apply();").is_empty());
}

#[test]
fn the_hash_unit_computes_what_in_hash_asks_for_if_it_can() {
    let codes = |body: &str| refused_or_none(&table_action(body), "t.apply();");
    let three = "m.a = m.b ^ m.c ^ m.now;";
    assert_eq!(codes(three), ["T1004"]);
    assert!(codes(&format!("@in_hash {{ {three} }}")).is_empty());
    assert!(refused_or_none("", &format!("@in_hash {{ {three} }}")).is_empty());
    let rotated = "@in_hash { m.a = m.b ^ (m.b[18:0] ++ m.b[31:19]) ^ ~m.c ^ (m.now & 255); }";
    assert!(codes(rotated).is_empty());
    assert!(codes("m.d = m.b[15:0] ^ m.c[15:0]; @in_hash { m.a = m.a ^ m.c ^ m.now; }").is_empty());
    assert_eq!(codes("@in_hash { m.a = m.a + m.b + m.c; }"), ["T1004"], "a sum has carries");
    assert_eq!(codes("@in_hash { m.a = (m.b & m.c) ^ m.now; }"), ["T1004"]);
    assert_eq!(codes("@in_hash { m.a = (m.b << 3) ^ m.c ^ m.now; }"), ["T1004"]);
}

#[test]
fn products_and_quotients_are_refused_unless_they_are_shifts() {
    assert_eq!(refused("", "m.a = m.b * m.c;"), ["T1005"]);
    assert_eq!(refused("", "m.a = m.b / 10;"), ["T1005"]);
    assert_eq!(refused("", "m.a = m.b % 10;"), ["T1005"]);
    assert!(warned("", "m.a = m.b * 8; m.c = m.b / 4;").is_empty());
}

#[test]
fn a_shift_by_a_field_is_refused() {
    assert_eq!(refused("", "m.a = m.b << m.e;"), ["T1006"]);
    assert!(warned("", "m.a = m.b << 3;").is_empty());
}

#[test]
fn a_loop_is_refused() {
    assert_eq!(refused("", "for (bit<8> n in 1 .. 4) { m.e = m.e + n; }"), ["T1007"]);
}

#[test]
fn arithmetic_wider_than_a_container_is_reported() {
    let wide = "bit<48> x = ep.global_tstamp";
    assert_eq!(refused("", &format!("{wide} |-| 5; h.ethernet.dst = x;")), ["T1008"]);
    assert_eq!(refused("", &format!("{wide} - 5; h.ethernet.dst = x;")), ["T1009"]);
    let apart = "bit<48> x; action measure() { x = ep.global_tstamp - 5; }";
    assert_eq!(warned(apart, "measure(); h.ethernet.dst = x;"), ["T1009"]);
    let cut = "m.a = (bit<32>) (ep.global_tstamp - h.ethernet.dst);";
    assert!(warned("", cut).is_empty(), "only the low 32 bits are wanted");
}

fn time_register(ty: &str, condition: &str) -> String {
    format!(
        "Register<{ty}, bit<9>>(512) next;
         RegisterAction<{ty}, bit<9>, bit<1>>(next) due = {{
             void apply(inout {ty} v, out bit<1> r) {{ r = 0; if ({condition}) {{ r = 1; }} }}
         }};"
    )
}

#[test]
fn an_unsigned_comparison_of_32_bit_times_is_warned_of() {
    let apply = "m.now = ep.global_tstamp[31:0]; m.f = due.execute(e.egress_port);";
    assert_eq!(warned(&time_register("bit<32>", "m.now > v"), apply), ["T1201"]);
    assert!(warned(&time_register("int<32>", "(int<32>) m.now - v > 0"), apply).is_empty());
    let other = "m.now = h.ethernet.dst[31:0]; m.f = due.execute(e.egress_port);";
    assert!(warned(&time_register("bit<32>", "m.now > v"), other).is_empty());
}

#[test]
fn the_queues_short_timestamps_are_warned_of() {
    assert_eq!(warned("", "m.a = (bit<32>) e.enq_tstamp;"), ["T1202"]);
    assert_eq!(warned("", "m.a = (bit<32>) e.deq_timedelta;"), ["T1202"]);
}

#[test]
fn p4_codel_takes_six_stages_as_with_the_open_source_back_end() {
    let fit = shipped("p4_codel.p4");
    assert_eq!(fit.passes.each_ref().map(|pass| pass.stages), [1, 6]);
    let kinds: Vec<(u32, &str)> =
        fit.passes[1].critical_path.iter().map(|step| (step.stage, step.kind)).collect();
    let expected = [
        (0, "action"),
        (1, "action"),
        (2, "gateway"),
        (2, "action"),
        (3, "stateful"),
        (4, "stateful"),
        (5, "gateway"),
        (5, "action"),
    ];
    assert_eq!(kinds, expected);
}

#[test]
fn codel_act_takes_seven_stages_as_with_the_open_source_back_end() {
    for program in ["codel_act.p4", "codel_act_slides.p4"] {
        let fit = shipped(program);
        assert_eq!(fit.passes.each_ref().map(|pass| pass.stages), [1, 7], "{program}");
        assert_eq!(fit.passes[1].critical_stages, 7, "{program}");
    }
}

#[test]
fn the_text_fits_100_columns() {
    for program in ["p4_codel.p4", "codel_act.p4"] {
        let text = shipped(program).render();
        let longest = text.lines().map(|line| line.chars().count()).max();
        assert!(longest <= Some(100), "{program}: {longest:?}");
    }
}

#[test]
fn a_thousand_registers_are_answered() {
    let fit = of_registers(1000);
    assert_eq!(fit.stages_used, 250);
    assert!(!fit.fits);
}

const COUNTED: &str = "Counter<bit<32>, bit<8>>(256, CounterType_t.PACKETS) seen;
    Hash<bit<8>>(HashAlgorithm_t.CRC8) hash; Random<bit<8>>() dice;
    Register<bit<32>, bit<8>>(256) sums;
    RegisterAction<bit<32>, bit<8>, bit<32>>(sums) sum = {
        void apply(inout bit<32> v) { v = v + 1; }
    };";

#[test]
fn an_action_called_by_name_has_no_large_constant_next_to_what_needs_the_hash_unit() {
    let codes = |set: &str, hashed: &str| {
        let action = format!("{COUNTED} action both() {{ {set} {hashed} }}");
        let parts = Parts {
            egress: &action,
            apply: "both();",
            metadata: "bit<10> session;",
            ..Parts::default()
        };
        match load_text(&parts.text()) {
            Ok(loaded) => loaded.warnings.iter().map(|found| found.code).collect::<Vec<_>>(),
            Err(error) => error.diagnostics.iter().map(|found| found.code).collect(),
        }
    };
    let hashed = ["seen.count(m.e);", "sum.execute(m.e);", "m.b = (bit<32>) dice.get();"];
    for hashed in hashed {
        for set in ["m.session = 100;", "m.a = 0x7BCDEF01;", "m.a = m.a + 100;", "m.a = m.a - 9;"] {
            assert_eq!(codes(set, hashed), ["T1013"], "{set} {hashed}");
        }
        for set in ["m.session = 7;", "m.a = 0xABCDE;", "m.a = m.a + 3;", "m.a = m.b;"] {
            assert!(codes(set, hashed).is_empty(), "{set} {hashed}");
        }
    }
    // Whether a field of eight bits has a container of its own is not known here.
    assert_eq!(codes("m.e = 200;", "seen.count(h.ethernet.kind[7:0]);"), ["T1013"]);
    assert!(codes("m.session = 100;", "seen.count(3);").is_empty(), "nothing is hashed");
}

#[test]
fn a_table_without_key_has_no_action_data_next_to_what_needs_the_hash_unit() {
    let codes = |body: &str| {
        let table = format!(
            "{COUNTED} action both(bit<8> p) {{ {body} }}
             table set {{ actions = {{ both; }} default_action = both(5); }}"
        );
        refused_or_none(&table, "set.apply();")
    };
    assert_eq!(codes("m.e = p; seen.count(h.ethernet.kind[7:0]);"), ["T1013"]);
    assert_eq!(codes("m.e = p; m.a = (bit<32>) hash.get({m.b});"), ["T1013"]);
    assert!(codes("m.e = p; seen.count(3);").is_empty());
    assert!(codes("seen.count(h.ethernet.kind[7:0]);").is_empty(), "data that nobody uses");
}

#[test]
fn a_default_action_of_a_table_with_a_key_needs_no_hash_unit() {
    let codes = |action: &str, default: &str| {
        let table = format!(
            "{COUNTED} action act() {{ {action} }}
             table set {{ key = {{ m.d: ternary; }} actions = {{ act; NoAction; }} {default} size = 16; }}"
        );
        refused_or_none(&table, "set.apply();")
    };
    for action in ["seen.count(m.e);", "sum.execute(m.e);", "m.e = dice.get();"] {
        assert_eq!(codes(action, "default_action = act();"), ["T1014"], "{action}");
        assert_eq!(codes(action, "const default_action = act();"), ["T1014"], "{action}");
        assert!(codes(action, "default_action = NoAction();").is_empty(), "{action}");
    }
    assert!(codes("seen.count(3);", "default_action = act();").is_empty());
}

/// The codes with which a program is refused, none if it is not.
fn refused_or_none(egress: &str, apply: &str) -> Vec<&'static str> {
    match load_text(&Parts { egress, apply, ..Parts::default() }.text()) {
        Ok(_) => Vec::new(),
        Err(error) => error.diagnostics.iter().map(|found| found.code).collect(),
    }
}

#[test]
fn a_write_that_is_overwritten_before_anything_reads_it_costs_nothing() {
    assert_eq!(stages(TABLE, "t.apply(); m.b = m.now;"), 1);
    assert_eq!(stages(TABLE, "t.apply(); m.c = m.b; m.b = m.now;"), 2, "it is read in between");
    let sometimes = "t.apply(); if (m.e == 1) { m.b = m.now; }";
    assert_eq!(stages(TABLE, sometimes), 2, "the table's value leaves if the condition fails");
}

#[test]
fn a_constant_condition_takes_no_gateway() {
    // Without a sign nothing is below 0, and a byte is at most 255.
    for never in ["m.e < 0", "(bit<16>)m.e > 255", "m.e & 2 == 1", "m.e | 1 == 2"] {
        let apply = format!("m.e = m.e + 1; if ({never}) {{ m.a = m.now; }} else {{ m.b = m.c; }}");
        assert_eq!(stages("", &apply), 1, "{never}");
    }
    assert_eq!(stages("", "m.e = m.e + 1; if (m.e > 254) { m.a = m.now; }"), 2);
}

#[test]
fn a_gateway_compares_under_a_mask_by_itself() {
    assert_eq!(stages("", "if (m.e & 6 == 2) { m.a = m.now; }"), 1);
    assert_eq!(stages("", "if (m.e & 2 != 0 && m.d == 1) { m.a = m.now; }"), 1);
}

#[test]
fn a_table_waits_for_the_stage_that_the_program_names() {
    let pinned = |how: &str| TABLE.replace("table t", &format!("{how} table t"));
    assert_eq!(stages(&pinned("@stage(3)"), "t.apply();"), 4);
    assert_eq!(stages(&pinned("@pragma stage 5\n"), "t.apply();"), 6);
    assert_eq!(stages(&pinned("@stage(0)"), "m.a = m.now + 1; t.apply();"), 2);
}

#[test]
fn a_key_of_fewer_bits_than_a_row_address_takes_one_way_of_the_hash() {
    let bits = |key: &str| {
        let table = TABLE.replace("m.a : exact", key);
        egress(&table, "t.apply();").stages[0].used[&Resource::HashBits]
    };
    assert_eq!((bits("m.a[8:0] : exact"), bits("m.a : exact")), (10, 52));
}

#[test]
fn a_register_of_a_long_chain_comes_before_those_of_short_ones() {
    let register = |name: &str| {
        let entry = "void apply(inout bit<32> v, out bit<32> r)";
        format!(
            "Register<bit<32>, bit<9>>(512) {name};
             RegisterAction<bit<32>, bit<9>, bit<32>>({name}) take_{name} = {{ {entry} {{ r = v; }} }};
             RegisterAction<bit<32>, bit<9>, bit<32>>({name}) put_{name} = {{ {entry} {{ v = m.now; r = 0; }} }};\n"
        )
    };
    let declarations: String = ["p", "q", "r", "s", "long"].map(register).concat();
    let short = ["p", "q", "r", "s"].map(|name| format!("m.c = m.c + take_{name}.execute(0);"));
    let apply = format!(
        "if (m.e == 1) {{
             {}
             m.a = take_long.execute(0);
             m.a = m.a + 1; m.a = m.a + m.now; m.a = m.a + 3; m.a = m.a + m.now; m.a = m.a + 5;
         }} else if (m.d == 2) {{
             if (m.d[3:0] == 2) {{ put_long.execute(0); }}
         }}",
        short[..3].concat() + &short[3]
    );
    assert_eq!(stages(&declarations, &apply), 6);
}

#[test]
fn two_actions_that_write_different_fields_share_a_row_of_instruction_memory() {
    let table = |name: &str, field: &str, count: usize| {
        let names: Vec<String> = (0..count).map(|at| format!("{name}{at}")).collect();
        let actions =
            names.iter().map(|name| format!("action {name}() {{ {field} = {field} + 1; }}"));
        let actions: String = actions.collect();
        format!(
            "{actions} table {name} {{ key = {{ m.d : exact; }} actions = {{ {}; }} size = 64; }}",
            names.join("; ")
        )
    };
    let rows = |first: usize, second: usize, field: &str| {
        let tables = table("x", "m.a", first) + &table("y", field, second);
        let fit = egress(&tables, "x.apply(); y.apply();");
        (fit.passes[1].stages, fit.stages[0].used[&Resource::EgressWords])
    };
    assert_eq!(
        rows(20, 20, "m.b"),
        (1, 21),
        "the first row has one place, the other is that of nop"
    );
    assert_eq!(rows(20, 20, "m.a"), (2, 20));
    assert_eq!(rows(32, 31, "m.b"), (1, 32));
    assert_eq!(rows(32, 32, "m.b"), (2, 32));
}

#[test]
fn flags_share_bytes_of_the_ternary_crossbar() {
    let bytes = |count: u32| {
        let flags = (0..count).map(|at| format!("m.a[{at}:{at}] : ternary @name(\"f{at}\");"));
        let table = TABLE.replace("m.a : exact;", &flags.collect::<String>());
        egress(&table, "t.apply();").stages[0].used[&Resource::TernaryCrossbarBytes]
    };
    assert_eq!((bytes(1), bytes(8), bytes(9)), (1, 1, 2));
}

#[test]
fn an_address_is_a_field_a_concatenation_or_a_hash() {
    let state = "Register<bit<8>, bit<32>>(256) cells;
        RegisterAction<bit<8>, bit<32>, bit<8>>(cells) read = {
            void apply(inout bit<8> cell, out bit<8> result) { result = cell; }
        };
        Register<bit<32>, bit<8>>(256) counts;
        RegisterAction<bit<32>, bit<8>, bit<32>>(counts) count = {
            void apply(inout bit<32> cell, out bit<32> result) { result = cell; cell = cell + 1; }
        };
        Hash<bit<32>>(HashAlgorithm_t.CRC32) hash;";
    let execute = |address: &str| refused(state, &format!("m.e = read.execute({address});"));
    for address in
        ["(bit<32>)(m.e | 5)", "(bit<32>)(m.e & 5)", "(bit<32>)(m.e ^ 5)", "count.execute(0)"]
    {
        assert_eq!(execute(address), ["T1018"], "{address}");
    }
    let loads = |statement: &str| warned(state, statement).is_empty();
    assert!(loads("m.e = read.execute((bit<32>)m.e);"));
    assert!(loads("m.e = read.execute(24w0 ++ (m.e | 5));"));
    assert!(loads("m.e = read.execute(hash.get({ m.a, m.b }));"));
    assert!(loads("bit<32> at = count.execute(0); m.e = read.execute(at);"));
}

#[test]
fn a_hash_of_another_action_than_its_use_takes_a_stage() {
    let declarations = format!(
        "Hash<bit<9>>(HashAlgorithm_t.CRC16) hash; {STATE}
         bit<9> i;
         action find() {{ i = hash.get({{ m.now }}); }}
         action look() {{ m.b = read.execute(i); }}
         table at {{ actions = {{ look; }} const default_action = look(); size = 1; }}"
    );
    assert_eq!(stages(&declarations, "i = hash.get({ m.now }); m.b = read.execute(i);"), 1);
    assert_eq!(stages(&declarations, "find(); m.b = read.execute(i);"), 2);
    assert_eq!(stages(&declarations, "find(); at.apply();"), 2);
}

#[test]
fn the_halves_of_what_apply_makes_wider_are_two_steps_where_they_share_a_byte_of_a_header() {
    assert_eq!(stages("", "h.ethernet.src = (bit<48>)e.egress_port;"), 2);
    assert_eq!(stages("", "h.ethernet.src = m.now[27:0] ++ m.c[19:0];"), 2);
    assert_eq!(stages("", "h.ethernet.src = (bit<48>)m.now;"), 1);
    assert_eq!(stages("", "m.a = (bit<32>)e.egress_port;"), 1, "metadata can be cut anywhere");
    let action = "action widen() { h.ethernet.src = (bit<48>)e.egress_port; }";
    assert_eq!(stages(action, "widen();"), 1, "an action is one step");
}

#[test]
fn a_gateway_is_in_the_stage_of_a_table_that_it_guards() {
    let apply = |last: &str| {
        format!("m.c = m.now; if (m.e == 1) {{ m.c = m.b; }} else {{ m.a = m.now; {last} }}")
    };
    assert_eq!(stages("", &apply("")), 2);
    let next = "m.d = m.d + 1;";
    let behind = format!("{} m.a = m.a + 1;", apply(next));
    assert_eq!(stages("", &behind), 2, "its other branch has a table for the first stage");
    let apply = "m.c = m.now; if (m.e == 1) { m.c = m.b; } else if (m.d == 1) { m.a = m.now; } \
                 m.a = m.a + 1;";
    assert_eq!(stages("", apply), 3);
}

/// The egress stages on Tofino 2 of a control whose flag decides about a drop.
fn with_flag(statements: &str) -> u32 {
    let egress = "bit<1> flag;";
    let parts = Parts { egress, apply: statements, second_chip: true, ..Parts::default() };
    estimate(&parts.loaded()).passes[1].stages
}

#[test]
fn a_flag_in_the_byte_of_valid_bits_takes_the_place_of_another_field_there() {
    let drop = "if (flag == 1) { d.drop_ctl = 1; }";
    // Its four valid bits, `drop_ctl` and `mirror_io_select` fill the byte.
    let set = "if (h.ethernet.kind == 1) { flag = 1; }";
    assert_eq!(with_flag(&format!("flag = 0; {set} {drop}")), 4, "it moves back behind the drop");
    let free = format!("flag = 0; d.mirror_type = 1; {set} {drop}");
    assert_eq!(with_flag(&free), 3, "with a fifth valid bit `drop_ctl` goes elsewhere");
}

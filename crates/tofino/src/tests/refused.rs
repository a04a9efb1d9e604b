//! Programs for other chips, and programs with features that are not simulated.

use super::*;
use sojourn_control::RuntimeControl;

fn refused_text(text: &str) -> String {
    let Err(error) = load_text(text) else { panic!("accepted") };
    error.to_string()
}

#[test]
fn the_message_about_another_architecture_names_it() {
    let text = "#include <core.p4>
        struct headers_t {}
        parser P(packet_in p, out headers_t h) { state start { transition accept; } }
        control C(inout headers_t h) { apply {} }
        parser Parser<H>(packet_in p, out H h);
        control Pipe<H>(inout H h);
        package V1Switch<H>(Parser<H> p, Pipe<H> c);
        V1Switch(P(), C()) main;";
    let message = refused_text(text);
    assert!(message.contains("`main` is a `V1Switch`: this program is for v1model"), "{message}");
}

#[test]
fn the_message_about_declarations_of_another_architecture_names_it() {
    let message = refused_text("#include <core.p4>\n#include <pna.p4>\n");
    assert!(message.contains("for the Portable NIC Architecture"), "{message}");
}

#[test]
fn a_text_without_main_or_with_mistakes_is_refused_and_not_a_panic() {
    assert!(refused_text("#include <core.p4>\n#include <tna.p4>\n").contains("main"));
    assert!(refused_text("controll X() {}").contains("program.p4:1:1"));
    assert!(!refused_text("#include <nothing.p4>").is_empty());
}

const SELECTOR_ACTION: &str = "
    Register<bit<1>, bit<17>>(131072) alive;
    Hash<bit<14>>(HashAlgorithm_t.IDENTITY) hash;
    ActionProfile(64) profile;
    ActionSelector(profile, hash, SelectorMode_t.FAIR, alive, 8, 8) selector;
    SelectorAction(selector) down = { void apply(inout bit<1> value) { value = 0; } };";

#[test]
fn features_that_are_not_simulated_are_refused_by_name() {
    let parts = Parts { egress: SELECTOR_ACTION, apply: "down.execute(0);", ..Parts::default() };
    let refused = parts.refused();
    assert_eq!(refused[0], ("T0804", "SelectorAction.execute is not simulated".to_owned()));
}

#[test]
fn programs_with_features_that_are_not_simulated_can_be_checked() {
    let parts = Parts { egress: SELECTOR_ACTION, apply: "down.execute(0);", ..Parts::default() };
    let options = LoadOptions { check_only: true, ..LoadOptions::default() };
    let loaded = load_text_with(&parts.text(), options).unwrap();
    let told: Vec<&str> = loaded.warnings.iter().map(|warning| warning.code).collect();
    assert_eq!(told, ["T0804"]);
    assert_eq!(parts.refused()[0].0, "T0804");
}

/// The open-source back end: "Wide operations not supported in Stateful ALU".
#[test]
fn an_entry_of_64_bits_is_the_control_planes_alone() {
    let parts =
        |apply| Parts { egress: "Register<bit<64>, bit<9>>(16) wide;", apply, ..Parts::default() };
    assert_eq!(parts("wide.write(0, 5);").refused()[0].0, "T0101");
    let mut plane = parts("").loaded().plane;
    let value = [(7_u64 << 40) + 5].map(num_bigint::BigUint::from);
    plane.write_register("wide", Some(3), &value).unwrap();
    assert_eq!(plane.read_register("wide", 3).unwrap(), value);
}

#[test]
fn a_table_that_no_stage_can_hold_is_refused() {
    for (object, call) in [
        ("Register<bit<32>, bit<32>>(32w0x80000000) r;", "r.write(0, 5);"),
        ("Counter<bit<32>, bit<32>>(32w0x80000000, CounterType_t.PACKETS) r;", "r.count(0);"),
        ("Meter<bit<32>>(32w0x80000000, MeterType_t.BYTES) r;", "m.a = (bit<32>)r.execute(0);"),
    ] {
        let parts = Parts { egress: object, apply: call, ..Parts::default() };
        let refused = parts.refused();
        assert_eq!(refused[0].0, "T0803", "{object}: {refused:?}");
        assert!(refused[0].1.contains("a stage holds"), "{refused:?}");
    }
}

#[test]
fn a_register_takes_35_blocks_of_its_stage() {
    let pair = "struct pair_t { bit<32> a; bit<32> b; }";
    let most =
        [("bit<8>", 573_440), ("bit<16>", 286_720), ("bit<32>", 143_360), ("pair_t", 71_680)];
    for (entry, most) in most {
        let parts = |egress| Parts { types: pair, egress, ..Parts::default() };
        let fits = format!("Register<{entry}, bit<32>>({most}) r;");
        assert!(load_text(&parts(&fits).text()).is_ok(), "{fits}");
        let too_many = format!("Register<{entry}, bit<32>>({}) r;", most + 1);
        let refused = parts(&too_many).refused();
        assert_eq!(refused[0].0, "T0803", "{refused:?}");
        assert!(refused[0].1.contains(&format!("a stage holds {most}")), "{refused:?}");
    }
}

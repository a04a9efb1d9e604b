//! Tests of dependencies between state variables, on programs of a few lines and on the RFC's
//! algorithm.

use sojourn_analysis::{Control, Dependencies};
use sojourn_p4::preprocess::{MemoryLoader, OverlayLoader};
use sojourn_target::{LoadOptions, Program};
use std::path::{Path, PathBuf};

/// The repository's folder of P4 programs.
fn p4_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../p4")
}

/// A TNA program with these declarations and statements in its egress control.
fn with_egress(declarations: &str, apply: &str) -> String {
    let program = include_str!("state_dependencies.p4");
    program.replace("DECLARATIONS", declarations).replace("STATEMENTS", apply)
}

fn options() -> LoadOptions {
    let include_paths = vec![p4_folder().join("include")];
    LoadOptions { include_paths, ..sojourn_engine::builtin::load_options() }
}

fn dependencies(program: Result<Program, sojourn_target::LoadError>) -> Dependencies {
    program.unwrap_or_else(|error| panic!("{}", error.render(&Default::default()))).dependencies()
}

/// The only control with state of a program with these declarations and statements in egress. The
/// chip need not accept it.
fn egress(declarations: &str, apply: &str) -> Control {
    let text = with_egress(declarations, apply);
    let loader = OverlayLoader(MemoryLoader::new().with("program.p4", text));
    let mut found = dependencies(Program::compile(&loader, "program.p4", &options())).controls;
    assert_eq!(found.len(), 1);
    found.remove(0)
}

fn of(path: &Path) -> Vec<Control> {
    of_program(path).controls
}

fn of_program(path: &Path) -> Dependencies {
    dependencies(Program::read(path, &options()))
}

fn shipped(path: &str) -> Control {
    let mut found = of(&p4_folder().join(path));
    assert_eq!(found.len(), 1);
    found.remove(0)
}

fn groups(control: &Control) -> Vec<Vec<&str>> {
    control.blocks.iter().map(|b| b.variables.iter().map(String::as_str).collect()).collect()
}

const TWO: &str = "Register<bit<32>, bit<9>>(512) a; Register<bit<32>, bit<9>>(512) b;";

#[test]
fn a_value_that_is_copied_on_is_no_circle() {
    let control = egress(TWO, "bit<32> x = a.read(e.egress_port); b.write(e.egress_port, x + 1);");
    assert_eq!(groups(&control), [["a"], ["b"]]);
    assert!(!control.blocks[0].read_modify_write);
}

#[test]
fn two_that_are_written_from_each_other_are_one_block() {
    let apply = "bit<32> x = a.read(e.egress_port); bit<32> y = b.read(e.egress_port);
        a.write(e.egress_port, y); b.write(e.egress_port, x);";
    let control = egress(TWO, apply);
    assert_eq!(groups(&control), [["a", "b"]]);
    assert_eq!(control.blocks[0].registers, 2);
}

#[test]
fn a_decision_binds_as_a_value_does() {
    let apply = "bit<32> x = a.read(e.egress_port);
        if (b.read(e.egress_port) == 0) { a.write(e.egress_port, 1); }
        if (x == 0) { b.write(e.egress_port, 1); }";
    assert_eq!(groups(&egress(TWO, apply)), [["a", "b"]]);
}

#[test]
fn statements_after_a_return_depend_on_its_condition() {
    let apply = "if (a.read(e.egress_port) == 0) { return; } b.write(e.egress_port, 1);";
    let control = egress(TWO, apply);
    assert_eq!(control.flows.len(), 1);
    assert_eq!((&*control.flows[0].from, &*control.flows[0].to), ("a", "b"));
}

#[test]
fn a_value_that_is_overwritten_decides_nothing() {
    let apply = "bit<32> x = a.read(e.egress_port); x = 5; b.write(e.egress_port, x);";
    assert!(egress(TWO, apply).flows.is_empty());
}

#[test]
fn a_field_that_an_arm_leaves_as_it_was_depends_on_the_condition() {
    let apply = "m.a = 0; if (a.read(e.egress_port) == 0) { m.a = 1; }
        b.write(e.egress_port, m.a);";
    let flows = egress(TWO, apply).flows;
    assert_eq!((&*flows[0].from, &*flows[0].to), ("a", "b"));
}

#[test]
fn an_index_that_comes_from_state_decides_too() {
    let apply = "bit<32> x = a.read(e.egress_port); b.write(x[8:0], 1);";
    assert_eq!(egress(TWO, apply).flows.len(), 1);
}

#[test]
fn the_outcome_of_a_table_depends_on_its_key() {
    let declarations = format!(
        "{TWO} action set() {{ b.write(e.egress_port, 1); }}
         table t {{ key = {{ m.a : exact; }} actions = {{ set; }} size = 4; }}"
    );
    let apply = "m.a = a.read(e.egress_port); t.apply();";
    assert_eq!(egress(&declarations, apply).flows.len(), 1);
}

#[test]
fn the_fields_of_an_entry_are_variables_of_their_own() {
    let control = shipped("tna/p4_codel.p4");
    let names: Vec<&str> = control.variables.iter().map(|v| &*v.name).collect();
    assert_eq!(names, ["dropping", "schedule.drop_next", "schedule.count"]);
    // Listing 2 of the 2021 paper: `dropping` first, then one stateful ALU for the other two.
    assert_eq!(groups(&control), [vec!["dropping"], vec!["schedule.drop_next", "schedule.count"]]);
    assert_eq!(control.blocks[1].registers, 1);
}

#[test]
fn the_blocks_of_rfc_8289_are_those_of_figure_2_of_the_2021_paper() {
    let control = shipped("plain/codel_rfc8289.p4");
    let expected =
        [vec!["first_above_time"], vec!["dropping"], vec!["drop_next", "count", "lastcount"]];
    assert_eq!(groups(&control), expected);
    assert_eq!(control.blocks[2].registers, 3);
}

#[test]
fn a_program_that_fits_the_chip_has_no_block_of_two_registers() {
    for program in ["tna/p4_codel.p4", "tna/codel_act.p4", "tna/codel_exact.p4"] {
        let control = shipped(program);
        assert!(control.blocks.iter().all(|block| block.registers == 1), "{program}");
    }
}

#[test]
fn steps_stand_in_the_order_of_the_program_with_calls_in_their_statement() {
    let apply = "if (a.read(e.egress_port) == 1 && b.read(e.egress_port) == 2) {
            a.write(e.egress_port, 0);
        } else { d.drop_ctl = 1; }";
    let steps = egress(TWO, apply).steps;
    let texts: Vec<&str> = steps.iter().map(|step| &*step.text).collect();
    let condition = "if (a.read(e.egress_port) == 1 && b.read(e.egress_port) == 2)";
    let expected = [condition, "a.write(e.egress_port, 0)", "else", "d.drop_ctl = 1"];
    assert_eq!(texts, expected);
    assert_eq!(steps[0].reads, ["a", "b"]);
    assert!(steps[3].drops);
    assert_eq!(steps[3].uses, ["a", "b"]);
}

#[test]
fn a_thousand_registers_are_answered() {
    let declarations: String =
        (0..1000).map(|n| format!("Register<bit<32>, bit<9>>(512) r{n};")).collect();
    let apply: String = (1..1000)
        .map(|n| format!("if (r{}.read(0) == 1) {{ r{n}.write(0, r{n}.read(0) + 1); }}", n - 1))
        .collect();
    let control = egress(&declarations, &apply);
    assert_eq!(control.blocks.len(), 1000);
    assert!(control.blocks.iter().skip(1).all(|block| block.read_modify_write));
}

#[test]
fn the_text_fits_100_columns() {
    for program in ["tna/codel_act.p4", "tna/codel_exact.p4", "plain/codel_rfc8289.p4"] {
        let text = of_program(&p4_folder().join(program)).render();
        let longest = text.lines().map(|line| line.chars().count()).max();
        assert!(longest <= Some(100), "{program}: {longest:?}");
    }
}

#[test]
fn an_npus_shared_memory_is_state_and_its_exchanges_read_and_write() {
    // As on any target: the variables that determine the times of drops form one block.
    let published = shipped("npu/codel.p4");
    let control = vec!["state_of", "drop_next_of", "count_of", "lastcount_of"];
    assert_eq!(groups(&published), [vec!["first_above_time_of"], control]);
    // The compared and swapped word contains all state; the number of failed attempts is added to
    // separately.
    let swapped = shipped("npu/codel_cas.p4");
    assert_eq!(groups(&swapped), [["state_of"], ["gave_up"]]);
    assert!(swapped.blocks.iter().all(|block| block.read_modify_write));
}

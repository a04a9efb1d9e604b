//! Tests of the interface that the interpreter offers to implementations of an architecture's
//! externs.

use crate::common::{Machine, Recorder};
use num_bigint::BigUint;
use sojourn_p4::interp::tables::{EntrySpec, EntryTarget, Match, TableError};
use sojourn_p4::interp::{ActionRun, Context, EntryHandle, Externs};
use sojourn_p4::interp::{Frame, Halt, Matched, NoExterns};
use sojourn_p4::ir::{ExternCall, TableId};

const PROGRAM: &str = "#include <core.p4>
match_kind { selector }
struct S { bit<8> key; bit<16> flow; bit<8> r; bit<8> hit; }
control Test(inout S s);
package Main(Test t);
extern Counter { Counter(); void count(in bit<8> by); }
extern Profile { Profile(bit<32> size); }
control C(inout S s) {
    Counter() hits;
    action set(bit<8> v) { s.r = v; hits.count(v); }
    action none() { s.r = 99; }
    table members {
        key = { s.key : exact; s.flow : selector; }
        actions = { set; none; }
        default_action = none();
        implementation = Profile(16);
        size = 4;
    }
    apply { if (members.apply().hit) { s.hit = 1; } else { s.hit = 0; } }
}
Main(C()) main;";

/// Group 7 spreads over two values by the selector; other references are gone.
#[derive(Default)]
struct Profiles {
    looked_up: Vec<Option<EntryHandle>>,
    counted: Vec<(Option<EntryHandle>, u128)>,
}

impl Externs for Profiles {
    fn call(&mut self, call: &ExternCall, ctx: &mut Context<'_>) -> Result<(), Halt> {
        let sojourn_p4::ir::Arg::In(by) = &call.args[0] else { panic!("a value") };
        let entry = ctx.matched().and_then(|matched| matched.entry);
        self.counted.push((entry, ctx.eval_value(by)));
        Ok(())
    }

    fn select_action(
        &mut self,
        _: TableId,
        reference: u32,
        selector: &[u128],
        _: &mut Context<'_>,
    ) -> Result<Option<ActionRun>, Halt> {
        let data = [10 + selector[0] % 2].into_iter().collect();
        Ok((reference == 7).then_some(ActionRun { action: 0, data }))
    }

    fn looked_up(&mut self, matched: &Matched, _: &mut Frame) {
        self.looked_up.push(matched.entry);
    }
}

fn machine() -> Machine {
    let mut machine = Machine::new(PROGRAM);
    let id = machine.tables.find("members").expect("the table");
    for (key, reference) in [(1u8, 7), (2, 8)] {
        let keys = vec![("s.key".to_owned(), Match::Exact(BigUint::from(key)))];
        let spec = EntrySpec { keys, target: EntryTarget::Reference(reference), priority: 0 };
        machine.tables.add(id, &spec).expect("the entry fits");
    }
    machine
}

fn apply(machine: &mut Machine, externs: &mut Profiles, key: u128, flow: u128) -> (u128, u128) {
    machine.set(0, "s.key", key);
    machine.set(0, "s.flow", flow);
    machine.control_with(0, externs).expect("the control ends");
    (machine.get(0, "s.r"), machine.get(0, "s.hit"))
}

#[test]
fn the_target_chooses_among_the_members_of_a_group_by_the_selector() {
    let (mut machine, mut externs) = (machine(), Profiles::default());
    assert_eq!(apply(&mut machine, &mut externs, 1, 4), (10, 1));
    assert_eq!(apply(&mut machine, &mut externs, 1, 5), (11, 1));
    assert_eq!(apply(&mut machine, &mut externs, 3, 5), (99, 0));
}

#[test]
fn a_reference_to_nothing_is_a_miss() {
    let (mut machine, mut externs) = (machine(), Profiles::default());
    assert_eq!(apply(&mut machine, &mut externs, 2, 0), (99, 0));
}

#[test]
fn an_action_knows_the_entry_that_it_runs_for() {
    let (mut machine, mut externs) = (machine(), Profiles::default());
    apply(&mut machine, &mut externs, 1, 1);
    apply(&mut machine, &mut externs, 9, 1);
    let entry = Some(EntryHandle(0));
    assert_eq!(externs.looked_up, [entry, None]);
    assert_eq!(externs.counted, [(entry, 11)]);
}

#[test]
fn entries_that_name_members_need_an_implementation() {
    let text = PROGRAM.replace("implementation = Profile(16);", "");
    let mut machine = Machine::new(&text);
    let id = machine.tables.find("members").expect("the table");
    let keys = vec![("s.key".to_owned(), Match::Exact(BigUint::from(1u8)))];
    let spec = EntrySpec { keys, target: EntryTarget::Reference(1), priority: 0 };
    let refused = machine.tables.add(id, &spec);
    assert!(matches!(refused, Err(TableError::NoImplementation { .. })), "{refused:?}");
}

#[test]
fn an_unimplemented_call_ends_the_run_with_its_name() {
    let text = PROGRAM.replace("default_action = none()", "default_action = set(1)");
    let mut machine = Machine::new(&text);
    let halted = machine.control_with(0, &mut NoExterns).expect_err("nobody counts");
    assert!(halted.to_string().contains("`count`"), "{halted}");
}

#[test]
fn arguments_are_named_objects_values_and_places() {
    let text = "
    struct S { bit<8> a; bit<8> b; bit<8> c; bit<8> d; }
    control Test(inout S s);
    package Main(Test t);
    extern Store { Store(); }
    extern bit<8> use(Store store, in bit<8> x, inout bit<8> y, out bit<8> z);
    control C(inout S s) {
        Store() kept;
        apply { s.d = use(kept, s.a + 1, s.b, s.c); }
    }
    Main(C()) main;";
    let mut machine = Machine::new(text);
    machine.set(0, "s.a", 1);
    machine.set(0, "s.b", 2);
    let mut recorder = Recorder::default();
    machine.control_with(0, &mut recorder).expect("the control ends");
    assert_eq!(recorder.calls, ["use C.kept 2 2"]);
    let values = ["s.a", "s.b", "s.c", "s.d"].map(|name| machine.get(0, name));
    assert_eq!(values, [1, 100, 200, 300 & 255]);
}

//! Snapshots: fields and results of the stages for the packet that triggers one.

use super::*;
use sojourn_control::snapshot::{
    SnapshotRead, SnapshotSetting, SnapshotState, StageSeen, TriggerField,
};
use sojourn_control::{Checkpoint, Operation, Query, Reply, execute, read};
use sojourn_p4::preprocess::{MemoryLoader, OverlayLoader};
use sojourn_target::{LoadOptions, Plane, Targets, load_with};

/// `classify` writes what `rewrite` is matched on, which writes what the packet leaves with.
const TABLES: &str = "action mark(bit<16> word) { m.word = word; }
    table classify { key = { h.ethernet.kind : exact; } actions = { mark; NoAction; }
                     const default_action = NoAction; size = 4; }
    action set(bit<48> dst) { h.ethernet.dst = dst; }
    table rewrite { key = { m.word : exact; } actions = { set; NoAction; }
                    const default_action = NoAction; size = 4; }
    table other { key = { h.ethernet.src : exact; } actions = { NoAction; }
                  const default_action = NoAction; size = 4; }";
const APPLY: &str = "t.ucast_egress_port = 3; classify.apply(); rewrite.apply();
    if (h.ethernet.kind == 1) { other.apply(); }";

fn plane() -> Plane {
    let text = Parts { ingress: TABLES, ingress_apply: APPLY, ..Parts::default() }.text();
    let include_paths = vec![p4_folder().join("include")];
    let targets = Targets(&[&crate::TOFINO1]);
    let options = LoadOptions { include_paths, targets, ..LoadOptions::default() };
    let loader = OverlayLoader(MemoryLoader::new().with("program.p4", &*text));
    let mut plane = load_with(&loader, "program.p4", &options).unwrap().plane;
    for (table, key, value, action, arg, given) in [
        ("classify", "h.ethernet.kind", 0x0c0d, "mark", "word", 7),
        ("rewrite", "m.word", 7, "set", "dst", 0x99),
    ] {
        let mut control = entries(table, key, &[value], action);
        let args = &mut control.tables[0].entries[0].args;
        args.insert(arg.to_owned(), Number::from(given));
        plane.configure(&control).unwrap();
    }
    plane
}

fn on(field: &str, value: u64, mask: u64) -> TriggerField {
    TriggerField { field: field.to_owned(), value: value.into(), mask: mask.into() }
}

fn arm(plane: &mut Plane, setting: SnapshotSetting) -> Result<(), String> {
    let armed = execute(plane.control(), &Operation::ArmSnapshot(setting), Time(0));
    armed.map(drop).map_err(|error| error.to_string())
}

fn seen(plane: &mut Plane, egress: bool) -> SnapshotRead {
    let asked = Query::Snapshot { egress, first: 0 };
    let Ok(Reply::Snapshot(read)) = read(plane.control(), &asked) else { panic!("no snapshot") };
    read
}

fn field(stage: &StageSeen, name: &str) -> Option<u64> {
    let value = &stage.fields.get(name)?.0;
    Some(value.iter_u64_digits().next().unwrap_or(0))
}

fn of_kind(kind: u8) -> Packet {
    let mut packet = frame();
    packet.bytes[13] = kind;
    packet
}

const DST: u64 = 0x0001_0203_0405;

#[test]
fn each_stage_shows_what_came_to_it_and_what_its_tables_did() {
    let mut plane = plane();
    let trigger = vec![on("h.ethernet.kind", 0x0c0d, 0xffff), on("h.ethernet.$valid$", 1, 1)];
    arm(&mut plane, SnapshotSetting { last: 2, trigger, ..SnapshotSetting::default() }).unwrap();
    plane.ingress(&arriving(5), of_kind(0x0e));
    assert_eq!(seen(&mut plane, false).state, SnapshotState::Armed);
    let out = plane.ingress(&arriving(5), frame());
    assert_eq!(finding(out.packet), 0x99);
    let SnapshotRead { state: SnapshotState::Full, stages } = seen(&mut plane, false) else {
        panic!("it met its packet");
    };
    let word = |at: usize| field(&stages[at], "m.word");
    assert_eq!((stages.len(), word(0), word(1)), (3, None, Some(7)));
    let dst = |at: usize| field(&stages[at], "h.ethernet.dst");
    assert_eq!([dst(0), dst(1), dst(2)], [Some(DST), Some(DST), Some(0x99)]);
    // Fields that no step accesses are in containers that no stage sees.
    assert_eq!(field(&stages[0], "m.tag"), None);
    assert_eq!(field(&stages[1], "t.ucast_egress_port"), Some(3));
    let steps = |at: usize| {
        let tables = stages[at].steps.iter().filter(|step| step.step.is_table);
        tables.map(|s| (&*s.step.name, s.executed, s.hit, s.entry.is_some())).collect::<Vec<_>>()
    };
    assert_eq!(steps(0), [("Ig.classify", true, true, true), ("Ig.other", false, false, false),]);
    assert_eq!(steps(1), [("Ig.rewrite", true, true, true)]);
    let next = |at: usize| stages[at].next.as_ref().map(|next| &*next.name);
    assert_eq!([next(0), next(1), next(2)], [Some("Ig.rewrite"), None, None]);
    // Each field is in containers of its own: the addresses in two, the flag of a header in one.
    let held: Vec<u32> = stages[2].containers.values().copied().collect();
    assert_eq!(held.iter().filter(|value| **value == 0x99).count(), 1, "{held:x?}");
    assert!([0x0c0d, 3].iter().all(|value| held.contains(value)), "{held:x?}");
    assert!(stages[0].containers.len() < held.len(), "the port is seen behind its step");
}

#[test]
fn a_full_snapshot_stays_as_it_is_until_it_is_armed_again() {
    let mut plane = plane();
    let setting = SnapshotSetting { last: 1, ..SnapshotSetting::default() };
    arm(&mut plane, setting.clone()).unwrap();
    plane.ingress(&arriving(5), frame());
    let first = seen(&mut plane, false);
    plane.ingress(&arriving(5), of_kind(0x0e));
    assert_eq!(seen(&mut plane, false), first);
    arm(&mut plane, setting).unwrap();
    assert_eq!(seen(&mut plane, false).state, SnapshotState::Armed);
    plane.ingress(&arriving(5), of_kind(0x0e));
    let again = seen(&mut plane, false);
    let kind = |read: &SnapshotRead| field(&read.stages[0], "h.ethernet.kind");
    assert_eq!((kind(&first), kind(&again)), (Some(0x0c0d), Some(0x0c0e)));
    let gone = Operation::DisarmSnapshot { egress: false, first: 0 };
    execute(plane.control(), &gone, Time(0)).unwrap();
    assert_eq!(seen(&mut plane, false), SnapshotRead::default());
}

#[test]
fn a_snapshot_of_one_pass_does_not_look_at_the_other() {
    let mut plane = plane();
    arm(&mut plane, SnapshotSetting { egress: true, ..SnapshotSetting::default() }).unwrap();
    plane.ingress(&arriving(5), frame());
    assert_eq!(seen(&mut plane, true).state, SnapshotState::Armed);
    plane.egress(&leaving(5, 2_000), frame());
    assert_eq!(seen(&mut plane, true).state, SnapshotState::Full);
    assert_eq!(seen(&mut plane, false).state, SnapshotState::Passive);
}

#[test]
fn a_field_that_a_stage_does_not_see_cannot_trigger_a_snapshot() {
    let mut plane = plane();
    let mut asked = |first, last, field: &str| {
        let trigger = vec![on(field, 0, 1)];
        arm(&mut plane, SnapshotSetting { egress: false, first, last, trigger })
    };
    assert_eq!(asked(0, 1, "m.tag").unwrap_err(), "stage 0 does not see `m.tag`");
    assert_eq!(asked(0, 1, "m.word").unwrap_err(), "stage 0 does not see `m.word`");
    assert_eq!(asked(1, 1, "m.word"), Ok(()));
    assert!(asked(0, 1, "m.words").unwrap_err().contains("did you mean `m.word`"));
    assert!(asked(2, 1, "m.word").unwrap_err().contains("there are 0 to 11"));
    assert!(asked(0, 12, "h.ethernet.dst").unwrap_err().contains("there are 0 to 11"));
}

#[test]
fn rollback_of_a_batch_disarms_its_snapshots() {
    let mut plane = plane();
    let mut before = Checkpoint::default();
    let arm = Operation::ArmSnapshot(SnapshotSetting::default());
    before.execute(plane.control(), &arm, Time(0)).unwrap();
    assert_eq!(seen(&mut plane, false).state, SnapshotState::Armed);
    before.restore(plane.control());
    assert_eq!(seen(&mut plane, false).state, SnapshotState::Passive);
}

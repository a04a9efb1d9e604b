//! Snapshots of the stages over BfRt, and handles of tables with numeric keys.

use crate::bench::{codes, receive};
use crate::tofino::{Client, client, client_of, client_with, exact, frame, number, numbers};
use sojourn_protocols::device::Device;
use sojourn_protocols::wire::bfrt_proto as bfrt;
use sojourn_protocols::wire::bfrt_proto::data_field::Value as Datum;
use sojourn_protocols::wire::bfrt_proto::entity::Entity;
use sojourn_protocols::wire::bfrt_proto::handle_id;
use sojourn_protocols::wire::bfrt_proto::key_field::{self, MatchType};
use sojourn_protocols::wire::bfrt_proto::table_entry::Value as At;
use sojourn_protocols::wire::bfrt_proto::update::Type::{Delete, Insert, Modify};
use sojourn_protocols::wire::bfrt_proto::write_request::Atomicity;
use std::collections::BTreeMap;
use std::time::Duration;
use tonic::{Code, Status};

const CFG: &str = "snapshot.cfg";
const TRIGGER: &str = "snapshot.ingress_trigger";
const SEEN: &str = "snapshot.ingress_data";

fn of_pipe(entry: bfrt::TableEntry, pipe_id: u32) -> bfrt::TableEntry {
    let target = bfrt::TargetDevice { pipe_id, ..Default::default() };
    bfrt::TableEntry { entry_tgt: Some(target), ..entry }
}

fn text(value: &str) -> Datum {
    Datum::StrVal(value.to_owned())
}

fn settings(one: &Client, first: u64, last: u64, data: &[(&str, Datum)]) -> bfrt::TableEntry {
    let key = [("start_stage", exact(first, 4)), ("end_stage", exact(last, 4))];
    of_pipe(one.entry(CFG, &key, "", data), 0xffff)
}

fn trigger(one: &Client, stage: u64, data: &[(&str, Datum)]) -> bfrt::TableEntry {
    of_pipe(one.entry(TRIGGER, &[("stage", exact(stage, 4))], "", data), 0xffff)
}

/// Trigger of a snapshot for packets to an address.
fn for_address(dst: u64) -> Vec<(&'static str, Datum)> {
    vec![
        ("enable", Datum::BoolVal(true)),
        ("trig.hdr.ethernet.$valid", number(1, 1)),
        ("trig.hdr.ethernet.$valid_mask", number(1, 1)),
        ("trig.hdr.ethernet.dst", number(dst, 6)),
        ("trig.hdr.ethernet.dst_mask", number(0xffff_ffff_ffff, 6)),
    ]
}

/// Reads an entry; returns its values by field id.
async fn read(one: &mut Client, entry: bfrt::TableEntry) -> Result<BTreeMap<u32, Datum>, Code> {
    let entry = bfrt::TableEntry { data: None, ..entry };
    let all = one.read(entry).await.map_err(|no: Status| codes(&no)[0])?;
    let [Entity::TableEntry(entry)] = &all[..] else { panic!("{all:?}") };
    let fields = entry.data.clone().unwrap_or_default().fields;
    Ok(fields.into_iter().map(|field| (field.field_id, field.value.unwrap())).collect())
}

async fn states(one: &mut Client) -> Vec<String> {
    let asked = trigger(one, 0, &[]);
    let row = read(one, asked).await.unwrap();
    match &row[&one.id(TRIGGER, "trigger_state")] {
        Datum::StrArrVal(states) => states.val.clone(),
        other => panic!("{other:?}"),
    }
}

async fn armed(one: &mut Client, dst: u64) {
    let key = [("dst", exact(dst, 6))];
    let entry = one.entry("exact_t", &key, "send", &[("port", number(2, 2))]);
    assert_eq!(one.write(Insert, entry).await, Code::Ok);
    let entry = settings(one, 0, 2, &[("thread", text("INGRESS"))]);
    assert_eq!(one.write(Insert, entry).await, Code::Ok);
    let entry = trigger(one, 0, &for_address(dst));
    assert_eq!(one.write(Insert, entry).await, Code::Ok);
}

fn send(one: &Client, port: u16, dst: u64) {
    assert!(one.server.bench.submit(receive(port, frame(dst))));
}

async fn handle(one: &mut Client, table: &str, key: &[(&str, MatchType)]) -> Result<u32, Code> {
    let Some(At::Key(key)) = one.entry(table, key, "", &[]).value else { panic!("no key") };
    let (table_id, value) = (one.id(table, ""), Some(handle_id::Value::Key(key)));
    let asked = Entity::Handle(bfrt::HandleId { table_id, value });
    let request = bfrt::ReadRequest {
        client_id: one.number,
        entities: vec![bfrt::Entity { entity: Some(asked) }],
        ..Default::default()
    };
    let mut stream = one.wire.read(request).await.map_err(|no| codes(&no)[0])?.into_inner();
    let told = stream.message().await.map_err(|no| codes(&no)[0])?.unwrap();
    match told.entities.into_iter().find_map(|entity| entity.entity) {
        Some(Entity::Handle(bfrt::HandleId {
            value: Some(handle_id::Value::HandleId(id)),
            ..
        })) => Ok(id),
        other => panic!("{other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_snapshot_shows_what_each_stage_did_with_the_packet_that_it_waited_for() {
    let mut one = client().await;
    armed(&mut one, 0x77).await;
    assert_eq!(states(&mut one).await, ["ARMED"]);
    let asked = of_pipe(one.entry(SEEN, &[("stage", exact(0, 4))], "", &[]), 0);
    assert_eq!(read(&mut one, asked).await, Err(Code::NotFound), "it has not met its packet");
    send(&one, 1, 0x78);
    assert_eq!(states(&mut one).await, ["ARMED"]);
    send(&one, 1, 0x77);
    let wait = Duration::from_secs(20);
    assert_eq!(one.server.left.recv_timeout(wait).unwrap(), (2, frame(0x77)), "as without one");
    assert_eq!(states(&mut one).await, ["FULL"]);
    let asked = settings(&one, 0, 2, &[]);
    let row = read(&mut one, asked).await.unwrap();
    assert_eq!(row[&one.id(CFG, "ingress_capture")], numbers(&[0]));
    assert!(!row.contains_key(&one.id(CFG, "egress_capture")));

    let entry = handle(&mut one, "exact_t", &[("dst", exact(0x77, 6))]).await.unwrap();
    let mut seen = Vec::new();
    for stage in 0..3 {
        let asked = of_pipe(one.entry(SEEN, &[("stage", exact(stage, 4))], "", &[]), 0);
        let row = read(&mut one, asked).await.unwrap();
        let is = |name: &str, value: bool| row[&one.id(SEEN, name)] == Datum::BoolVal(value);
        assert!(is("local_stage_trigger", stage == 0) && is("prev_stage_trigger", stage != 0));
        assert_eq!(row[&one.id(SEEN, "hdr.ethernet.dst")], number(0x77, 6));
        assert_eq!(row[&one.id(SEEN, "hdr.ethernet.$valid")], number(1, 1));
        let Datum::ContainerArrVal(tables) = &row[&one.id(SEEN, "table_info")] else { panic!() };
        for table in &tables.container {
            seen.push(
                table.val.iter().map(|field| field.value.clone().unwrap()).collect::<Vec<_>>(),
            );
        }
    }
    let of = |name: &str| {
        let mut rows = seen.iter().filter(|row| row[0] == text(name));
        let row = rows.next().unwrap_or_else(|| panic!("{name}: {seen:?}"));
        assert!(rows.next().is_none(), "{name} is in one stage");
        row[1..].to_vec()
    };
    let [yes, no] = [true, false].map(Datum::BoolVal);
    let hit = vec![number(entry.into(), 4), yes.clone(), no.clone(), yes.clone()];
    assert_eq!(of("pipe.Ingress.exact_t"), hit);
    assert_eq!(of("pipe.Ingress.aging_t"), [number(0, 4), no.clone(), no, yes], "a miss");

    // The containers hold it, too.
    let asked = of_pipe(one.entry("tf1.snapshot.phv", &[("stage", exact(0, 4))], "", &[]), 0);
    let row = read(&mut one, asked.clone()).await.unwrap();
    assert_eq!(row.values().filter(|value| **value == number(0x77, 4)).count(), 1, "{row:?}");
    assert_eq!(read(&mut one, of_pipe(asked, 0xffff)).await, Err(Code::InvalidArgument));
    // A full snapshot does not change.
    send(&one, 1, 0x77);
    assert_eq!(states(&mut one).await, ["FULL"]);
    let again = trigger(&one, 0, &[("enable", Datum::BoolVal(true))]);
    assert_eq!(one.write(Modify, again).await, Code::Ok);
    assert_eq!(states(&mut one).await, ["ARMED"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_pipe_meets_its_own_packet() {
    let mut one = client_of(2).await;
    armed(&mut one, 0x77).await;
    send(&one, 130, 0x77);
    assert_eq!(one.server.left.recv_timeout(Duration::from_secs(20)).unwrap().0, 2);
    assert_eq!(states(&mut one).await, ["ARMED", "FULL"]);
    let asked = one.entry(SEEN, &[("stage", exact(1, 4))], "", &[]);
    assert_eq!(read(&mut one, of_pipe(asked.clone(), 0)).await, Err(Code::NotFound));
    assert!(read(&mut one, of_pipe(asked.clone(), 1)).await.is_ok());
    assert_eq!(read(&mut one, of_pipe(asked, 0xffff)).await, Err(Code::InvalidArgument));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_pipeline_has_snapshots_of_its_own_in_the_pipes_that_run_it() {
    let mut one = client_with("pipelines", 2).await;
    for (pipeline, thread, pass) in [
        ("outer", "EGRESS", "egress"),
        ("inner", "INGRESS", "ingress"),
        ("inner", "EGRESS", "egress"),
    ] {
        let first = if pass == "egress" { 4 } else { 0 };
        let stages = [("start_stage", exact(first, 4)), ("end_stage", exact(first, 4))];
        let data = [("thread", text(thread))];
        let entry = one.entry(&format!("{pipeline}.snapshot.cfg"), &stages, "", &data);
        assert_eq!(one.write(Insert, of_pipe(entry, 0xffff)).await, Code::Ok);
        let (table, key) = (format!("{pipeline}.snapshot.{pass}_trigger"), exact(first, 4));
        let entry = one.entry(&table, &[("stage", key)], "", &[("enable", Datum::BoolVal(true))]);
        assert_eq!(one.write(Insert, of_pipe(entry, 0xffff)).await, Code::Ok, "{table}");
    }
    let key = [("mark", exact(0, 8))];
    let entry = one.entry("inner.Inner.forward_t", &key, "Inner.send", &[("port", number(3, 2))]);
    assert_eq!(one.write(Insert, entry).await, Code::Ok);
    send(&one, 130, 7);
    assert_eq!(one.server.left.recv_timeout(Duration::from_secs(20)).unwrap().0, 3);
    let mut told = Vec::new();
    for (table, stage) in [
        ("outer.snapshot.egress_trigger", 4),
        ("inner.snapshot.ingress_trigger", 0),
        ("inner.snapshot.egress_trigger", 4),
    ] {
        let asked = of_pipe(one.entry(table, &[("stage", exact(stage, 4))], "", &[]), 0xffff);
        let row = read(&mut one, asked).await.unwrap();
        let Datum::StrArrVal(states) = &row[&one.id(table, "trigger_state")] else { panic!() };
        told.push(states.val.join(" "));
    }
    // A packet enters by a port of the second pipe, which runs the inner one, and leaves by one of
    // the first.
    assert_eq!(told, ["FULL PASSIVE", "PASSIVE FULL", "PASSIVE ARMED"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_field_that_no_stage_can_show_is_refused() {
    let mut one = client().await;
    let ingress = || [("thread", text("INGRESS"))];
    let both = settings(&one, 3, 5, &[("thread", text("ALL"))]);
    assert_eq!(one.write(Insert, both).await, Code::InvalidArgument);
    let beyond = settings(&one, 3, 12, &ingress());
    assert_eq!(one.write(Insert, beyond).await, Code::InvalidArgument);
    let timed = [("thread", text("INGRESS")), ("timer_enable", Datum::BoolVal(true))];
    let timed = settings(&one, 3, 5, &timed);
    assert_eq!(one.write(Insert, timed).await, Code::Unimplemented);
    armed(&mut one, 0x77).await;
    let twice = settings(&one, 2, 5, &[("thread", text("EGRESS"))]);
    assert_eq!(one.write(Insert, twice).await, Code::Unimplemented, "stage 2 is taken");
    let unseen = [
        ("enable", Datum::BoolVal(true)),
        ("trig.ig.resubmit_flag", number(0, 1)),
        ("trig.ig.resubmit_flag_mask", number(1, 1)),
    ];
    let unseen = trigger(&one, 0, &unseen);
    assert_eq!(one.write(Modify, unseen).await, Code::InvalidArgument, "no step looks at it");
    let none = trigger(&one, 1, &[("enable", Datum::BoolVal(true))]);
    assert_eq!(one.write(Modify, none).await, Code::NotFound);
    let whole = settings(&one, 0, 2, &[]);
    assert_eq!(one.write(Delete, whole.clone()).await, Code::InvalidArgument, "it has a trigger");
    let all = of_pipe(one.entry(TRIGGER, &[], "", &[]), 0xffff);
    assert_eq!(one.write(Delete, all).await, Code::Ok);
    assert_eq!(states(&mut one).await, ["PASSIVE"]);
    assert_eq!(one.write(Delete, whole.clone()).await, Code::Ok);
    assert_eq!(read(&mut one, whole).await, Err(Code::NotFound));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_atomic_batch_that_fails_arms_nothing() {
    let mut one = client().await;
    let entry = settings(&one, 0, 2, &[("thread", text("INGRESS"))]);
    assert_eq!(one.write(Insert, entry.clone()).await, Code::Ok);
    let updates = vec![(Insert, trigger(&one, 0, &for_address(0x77))), (Insert, entry)];
    assert!(one.write_as(Atomicity::RollbackOnError, updates).await.is_err());
    assert_eq!(states(&mut one).await, ["PASSIVE"]);
    let row = trigger(&one, 0, &[]);
    let row = read(&mut one, row).await.unwrap();
    assert!(!row.contains_key(&one.id(TRIGGER, "trig.hdr.ethernet.dst")));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_stages_that_see_a_field_are_told_by_its_name() {
    let mut one = client().await;
    let stages = async |one: &mut Client, name: &str| {
        let value = name.as_bytes().to_vec();
        let key = [("field_name", MatchType::Exact(key_field::Exact { value }))];
        let asked = one.entry("snapshot.ingress_liveness", &key, "", &[]);
        let row = read(one, asked).await?;
        match row.into_values().next() {
            Some(Datum::IntArrVal(stages)) => Ok(stages.val),
            other => panic!("{other:?}"),
        }
    };
    let all: Vec<u32> = (0..12).collect();
    assert_eq!(stages(&mut one, "hdr.ethernet.dst").await, Ok(all.clone()));
    assert_eq!(stages(&mut one, "hdr.ethernet.$valid").await, Ok(all));
    assert_eq!(stages(&mut one, "ig.resubmit_flag").await, Ok(Vec::new()));
    assert_eq!(stages(&mut one, "hdr.ethernet.dest").await, Err(Code::NotFound));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_entry_is_found_again_by_its_handle_in_every_table_with_numbers_for_keys() {
    let mut one = client().await;
    let kind = |value: u64| {
        let (value, mask) = (value.to_be_bytes()[6..].to_vec(), vec![0xff, 0xff]);
        MatchType::Ternary(key_field::Ternary { value, mask })
    };
    let member = one.entry(
        "members",
        &[("$ACTION_MEMBER_ID", exact(7, 4))],
        "mark",
        &[("color", number(1, 1))],
    );
    assert_eq!(one.write(Insert, member).await, Code::Ok);
    for value in [0x800, 0x806] {
        let entry = one.entry("IgParser.learnt_kinds", &[("f1", kind(value))], "", &[]);
        assert_eq!(one.write(Insert, entry).await, Code::Ok);
    }
    let entry = settings(&one, 4, 6, &[("thread", text("EGRESS"))]);
    assert_eq!(one.write(Insert, entry).await, Code::Ok);
    let keys: [(&str, Vec<(&str, MatchType)>); 6] = [
        ("members", vec![("$ACTION_MEMBER_ID", exact(7, 4))]),
        ("IgParser.learnt_kinds", vec![("f1", kind(0x806))]),
        ("pairs", vec![("$REGISTER_INDEX", exact(9, 4))]),
        ("seen", vec![("$COUNTER_INDEX", exact(3, 4))]),
        ("tf1.tm.queue.map", vec![("pg_id", exact(0, 1)), ("pg_queue", exact(8, 1))]),
        (CFG, vec![("start_stage", exact(4, 4)), ("end_stage", exact(6, 4))]),
    ];
    for (table, key) in keys {
        let id =
            handle(&mut one, table, &key).await.unwrap_or_else(|code| panic!("{table}: {code}"));
        let asked = one.entry(table, &key, "", &[]);
        let wanted = asked.value.clone();
        let flags = bfrt::TableFlags { key_only: true, ..Default::default() };
        let by_handle = bfrt::TableEntry {
            value: Some(At::HandleId(id)),
            data: None,
            table_flags: Some(flags),
            ..asked
        };
        let found = one.read(by_handle).await.unwrap();
        let [Entity::TableEntry(found)] = &found[..] else { panic!("{table}: {found:?}") };
        assert_eq!((&found.value, &found.data), (&wanted, &None), "{table}");
    }
    // A handle requires an existing entry.
    let absent = [
        ("members", ("$ACTION_MEMBER_ID", exact(8, 4))),
        ("IgParser.learnt_kinds", ("f1", kind(0x86dd))),
        ("pairs", ("$REGISTER_INDEX", exact(64, 4))),
    ];
    for (table, key) in absent {
        assert_eq!(handle(&mut one, table, &[key]).await, Err(Code::NotFound), "{table}");
    }
}

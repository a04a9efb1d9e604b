//! BfRt on a chip of several pipes, and the driver's software state.

use crate::bench::{codes, receive, text_of};
use crate::tofino::{Client, client, client_of, exact, frame, number, streams};
use sojourn_protocols::device::Device;
use sojourn_protocols::wire::bfrt_proto as bfrt;
use sojourn_protocols::wire::bfrt_proto::entity::Entity;
use sojourn_protocols::wire::bfrt_proto::mode::{PredefinedMode, Scope};
use sojourn_protocols::wire::bfrt_proto::set_forwarding_pipeline_config_request::{
    Action as Pipe, DevInitMode as Mode,
};
use sojourn_protocols::wire::bfrt_proto::stream_message_response::Update as StreamResponse;
use sojourn_protocols::wire::bfrt_proto::table_attribute::Attribute;
use sojourn_protocols::wire::bfrt_proto::update::Type::{Delete, Insert, Modify};
use std::time::Duration;
use tonic::{Code, Request};

const ALL: u32 = 0xffff;

fn of_pipe(entry: bfrt::TableEntry, pipe_id: u32) -> bfrt::TableEntry {
    let target = bfrt::TargetDevice { pipe_id, ..Default::default() };
    bfrt::TableEntry { entry_tgt: Some(target), ..entry }
}

fn from_chip(entry: bfrt::TableEntry) -> bfrt::TableEntry {
    let flags = bfrt::TableFlags { from_hw: true, ..Default::default() };
    bfrt::TableEntry { table_flags: Some(flags), ..entry }
}

async fn write_attribute(one: &mut Client, table: &str, attribute: Attribute) -> Code {
    let attribute =
        bfrt::TableAttribute { table_id: one.id(table, ""), attribute: Some(attribute) };
    let entity = bfrt::Entity { entity: Some(Entity::TableAttribute(attribute)) };
    let update = bfrt::Update { r#type: Insert as i32, entity: Some(entity) };
    let (client_id, updates) = (one.number, vec![update]);
    let request = bfrt::WriteRequest { client_id, updates, ..Default::default() };
    one.wire.write(request).await.map_or_else(|no| codes(&no)[0], |_| Code::Ok)
}

pub async fn scope(one: &mut Client, table: &str, scope: Scope) -> Code {
    let mode = bfrt::Mode { scope: Some(scope), args: 0 };
    let scope = bfrt::EntryScope { pipe_scope: Some(mode), ..Default::default() };
    write_attribute(one, table, Attribute::EntryScope(scope)).await
}

async fn code_of(one: &mut Client, entry: bfrt::TableEntry) -> Code {
    one.read(entry).await.map_or_else(|no| codes(&no)[0], |_| Code::Ok)
}

fn goes_to(one: &Client, from: u16, dst: u64) -> Option<u16> {
    assert!(one.server.bench.submit(receive(from, frame(dst))));
    let wait = Duration::from_millis(300);
    one.server.left.recv_timeout(wait).ok().map(|(port, _)| port)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_table_of_single_pipes_is_looked_up_by_the_ports_of_each() {
    let mut one = client_of(2).await;
    let single = Scope::Predef(PredefinedMode::Single as i32);
    assert_eq!(scope(&mut one, "exact_t", single).await, Code::Ok);
    let key = [("dst", exact(0x77, 6))];
    for (pipe, port) in [(0, 2), (1, 3)] {
        let entry = one.entry("exact_t", &key, "send", &[("port", number(port, 2))]);
        assert_eq!(one.write(Insert, of_pipe(entry, pipe)).await, Code::Ok);
    }
    assert_eq!(goes_to(&one, 1, 0x77), Some(2));
    assert_eq!(goes_to(&one, 130, 0x77), Some(3));
    let entry = one.entry("exact_t", &key, "", &[]);
    let asked = from_chip(bfrt::TableEntry { data: None, ..entry });
    let port = one.id("exact_t", "send.port");
    for (pipe, to) in [(0, 2), (1, 3)] {
        let read = one.read(of_pipe(asked.clone(), pipe)).await.unwrap();
        assert!(streams(&read[0]).contains(&(port, vec![0, to])));
    }
    assert_eq!(code_of(&mut one, of_pipe(asked.clone(), ALL)).await, Code::NotFound);
    assert_eq!(code_of(&mut one, of_pipe(asked.clone(), 2)).await, Code::NotFound);
    // A read of a key only returns its pipe.
    let flags = bfrt::TableFlags { key_only: true, ..Default::default() };
    let keys = one.entry("exact_t", &[], "", &[]);
    let keys = bfrt::TableEntry { table_flags: Some(flags), ..keys };
    let places = one.read(keys).await.unwrap().into_iter().map(|read| match read {
        Entity::TableEntry(entry) => entry.entry_tgt.unwrap().pipe_id,
        other => panic!("{other:?}"),
    });
    assert_eq!(places.collect::<Vec<_>>(), [0, 1]);
    let every = one.entry("exact_t", &[], "", &[]);
    assert_eq!(one.read(of_pipe(every, ALL)).await.unwrap().len(), 2);
    let default = bfrt::TableEntry { value: None, is_default_entry: true, ..asked };
    assert_eq!(code_of(&mut one, of_pipe(default.clone(), ALL)).await, Code::InvalidArgument);
    assert_eq!(code_of(&mut one, of_pipe(default, 1)).await, Code::Ok);
    let entry = one.entry("exact_t", &key, "drop", &[]);
    assert_eq!(one.write(Insert, of_pipe(entry.clone(), ALL)).await, Code::InvalidArgument);
    assert_eq!(one.write(Delete, of_pipe(entry, 1)).await, Code::Ok);
    assert_eq!(goes_to(&one, 130, 0x77), None);
    assert_eq!(goes_to(&one, 1, 0x77), Some(2));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn groups_of_pipes_are_called_by_their_first() {
    let mut one = client_of(2).await;
    assert_eq!(scope(&mut one, "exact_t", Scope::UserDefined(0x0303)).await, Code::InvalidArgument);
    assert_eq!(scope(&mut one, "exact_t", Scope::UserDefined(0x0003)).await, Code::Ok);
    let key = [("dst", exact(0x77, 6))];
    let entry = one.entry("exact_t", &key, "send", &[("port", number(2, 2))]);
    assert_eq!(one.write(Insert, of_pipe(entry.clone(), 1)).await, Code::InvalidArgument);
    assert_eq!(one.write(Insert, of_pipe(entry.clone(), 0)).await, Code::Ok);
    assert_eq!(goes_to(&one, 130, 0x77), Some(2));
    let software = bfrt::TableFlags::default();
    let asked = bfrt::TableEntry { data: None, table_flags: Some(software), ..entry };
    assert_eq!(code_of(&mut one, of_pipe(asked.clone(), 0)).await, Code::Ok);
    assert_eq!(code_of(&mut one, of_pipe(asked.clone(), 1)).await, Code::NotFound);
    assert_eq!(code_of(&mut one, of_pipe(from_chip(asked), 1)).await, Code::Ok);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn registers_have_a_value_for_each_pipe_and_counts_are_of_all() {
    let mut one = client_of(2).await;
    let (cell, first) =
        ([("$REGISTER_INDEX", exact(4, 4))], one.id("pairs", "Ingress.pairs.first"));
    let new = one.entry("pairs", &cell, "", &[("Ingress.pairs.first", number(9, 4))]);
    assert_eq!(one.write(Modify, of_pipe(new, 1)).await, Code::Ok);
    let read = one.read_one("pairs", &cell).await;
    let of_pipes: Vec<_> = streams(&read).into_iter().filter(|(id, _)| *id == first).collect();
    assert_eq!(of_pipes, [(first, vec![0, 0, 0, 5]), (first, vec![0, 0, 0, 9])]);
    let key = [("dst", exact(0x77, 6))];
    let entry = one.entry("exact_t", &key, "send", &[("port", number(2, 2))]);
    assert_eq!(one.write(Insert, entry).await, Code::Ok);
    for port in [1, 130, 130] {
        assert_eq!(goes_to(&one, port, 0x77), Some(2));
    }
    let packets = one.id("exact_t", "$COUNTER_SPEC_PKTS");
    let read = one.read_one("exact_t", &key).await;
    assert!(streams(&read).contains(&(packets, 3_u64.to_be_bytes().to_vec())));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn software_has_the_chips_counts_of_the_last_synchronisation() {
    let mut one = client().await;
    let key = [("dst", exact(0x77, 6))];
    let entry = one.entry("exact_t", &key, "send", &[("port", number(2, 2))]);
    assert_eq!(one.write(Insert, entry.clone()).await, Code::Ok);
    let packets = one.id("exact_t", "$COUNTER_SPEC_PKTS");
    let count = async |one: &mut Client| {
        let asked = bfrt::TableEntry { data: None, ..entry.clone() };
        let read = one.read(asked).await.unwrap();
        let found = streams(&read[0]).into_iter().find(|(id, _)| *id == packets).unwrap().1;
        u64::from_be_bytes(found.try_into().unwrap())
    };
    assert_eq!(goes_to(&one, 1, 0x77), Some(2));
    assert_eq!(count(&mut one).await, 0);
    let table_id = one.id("exact_t", "");
    let operation = bfrt::TableOperation { table_id, table_operations_type: "SyncCounters".into() };
    let entity = bfrt::Entity { entity: Some(Entity::TableOperation(operation)) };
    let update = bfrt::Update { r#type: Insert as i32, entity: Some(entity) };
    let (client_id, updates) = (one.number, vec![update]);
    let request = bfrt::WriteRequest { client_id, updates, ..Default::default() };
    one.wire.write(request).await.unwrap();
    assert_eq!(count(&mut one).await, 1);
    assert_eq!(goes_to(&one, 1, 0x77), Some(2));
    assert_eq!(count(&mut one).await, 1);
    one.read_one("exact_t", &key).await;
    assert_eq!(count(&mut one).await, 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bits_of_a_key_that_do_not_count_match_anything() {
    let mut one = client().await;
    let key = [("dst", exact(0x1122, 6))];
    let entry = one.entry("exact_t", &key, "send", &[("port", number(2, 2))]);
    assert_eq!(one.write(Insert, entry.clone()).await, Code::Ok);
    let (field_id, mask) = (one.id("exact_t", "dst"), vec![0, 0, 0, 0, 0xff, 0xff]);
    let fields = vec![bfrt::KeyFieldMask { field_id, mask }];
    let masks = Attribute::DynKeyMask(bfrt::DynKeyMask { fields });
    let refused = write_attribute(&mut one, "exact_t", masks.clone()).await;
    assert_eq!(refused, Code::FailedPrecondition, "it has an entry");
    assert_eq!(one.write(Delete, entry.clone()).await, Code::Ok);
    assert_eq!(write_attribute(&mut one, "exact_t", masks.clone()).await, Code::Ok);
    assert_eq!(one.write(Insert, entry).await, Code::Ok);
    assert_eq!(goes_to(&one, 1, 0xabcd_1122), Some(2));
    assert_eq!(goes_to(&one, 1, 0xabcd_1123), None);
    let same = [("dst", exact(0x5555_1122, 6))];
    let twin = one.entry("exact_t", &same, "drop", &[]);
    assert_eq!(one.write(Insert, twin).await, Code::AlreadyExists);
    let refused = write_attribute(&mut one, "met_t", masks).await;
    assert_eq!(refused, Code::InvalidArgument, "it is not declared for that");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_ends_with_the_time_that_its_client_waits() {
    let mut one = client().await;
    let update = |number: u64| {
        let entry = one.entry("exact_t", &[("dst", exact(number, 6))], "drop", &[]);
        let entity = bfrt::Entity { entity: Some(Entity::TableEntry(entry)) };
        bfrt::Update { r#type: Insert as i32, entity: Some(entity) }
    };
    let updates: Vec<_> = (0..100_000).map(update).collect();
    let request = bfrt::WriteRequest { client_id: one.number, updates, ..Default::default() };
    let mut request = Request::new(request);
    request.metadata_mut().insert("deadline_sec", "0".parse().unwrap());
    request.metadata_mut().insert("deadline_nsec", "1000000".parse().unwrap());
    let late = one.wire.write(request).await.unwrap_err();
    assert_eq!(late.code(), Code::DeadlineExceeded);
    let all = one.entry("exact_t", &[], "", &[]);
    let written = one.read(all).await.unwrap().len();
    assert!(written < 100_000, "{written} in a millisecond");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn copies_for_the_processor_have_a_port() {
    let mut one = client().await;
    let key = [("$DEV_PORT", exact(3, 4))];
    let on = bfrt::data_field::Value::BoolVal(true);
    let entry = one.entry("$pre.port", &key, "", &[("$COPY_TO_CPU_PORT_ENABLE", on.clone())]);
    assert_eq!(one.write(Modify, entry).await, Code::Ok);
    let mut bytes = frame(0x99);
    bytes[12..14].copy_from_slice(&[0xc0, 0xc0]);
    assert!(one.server.bench.submit(receive(1, bytes)));
    assert_eq!(one.server.left.recv_timeout(Duration::from_secs(20)).unwrap().0, 3);
    let key = [("$DEV_PORT", exact(77, 4))];
    let entry = one.entry("$pre.port", &key, "", &[("$COPY_TO_CPU_PORT_ENABLE", on)]);
    assert_eq!(one.write(Modify, entry).await, Code::NotFound);
}

async fn set(
    one: &mut Client,
    action: Pipe,
    config: Option<bfrt::ForwardingPipelineConfig>,
) -> Code {
    set_in(one, action, config, Mode::FastReconfig).await
}

async fn set_in(
    one: &mut Client,
    action: Pipe,
    config: Option<bfrt::ForwardingPipelineConfig>,
    mode: Mode,
) -> Code {
    let request = bfrt::SetForwardingPipelineConfigRequest {
        client_id: one.number,
        action: action as i32,
        dev_init_mode: mode as i32,
        config: config.into_iter().collect(),
        ..Default::default()
    };
    let done = one.wire.set_forwarding_pipeline_config(request).await;
    done.map_or_else(|no| no.code(), |_| Code::Ok)
}

fn config(p4_name: &str, binary: Vec<u8>) -> Option<bfrt::ForwardingPipelineConfig> {
    let profile = bfrt::forwarding_pipeline_config::Profile { binary, ..Default::default() };
    let profiles = vec![profile];
    Some(bfrt::ForwardingPipelineConfig { p4_name: p4_name.into(), profiles, ..Default::default() })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn packets_meet_what_is_replayed_when_the_warm_initialisation_ends() {
    let mut one = client().await;
    let key = [("dst", exact(0x77, 6))];
    let entry =
        |one: &Client, port| one.entry("exact_t", &key, "send", &[("port", number(port, 2))]);
    let first = entry(&one, 2);
    assert_eq!(one.write(Insert, first).await, Code::Ok);
    assert_eq!(set(&mut one, Pipe::WarmInitEnd, None).await, Code::InvalidArgument);
    let same = config("tofino", Vec::new());
    assert_eq!(set(&mut one, Pipe::VerifyAndWarmInitBegin, same).await, Code::Ok);
    let StreamResponse::SetForwardingPipelineConfigResponse(told) = one.next_update().await else {
        panic!()
    };
    assert_eq!(told.set_forwarding_pipeline_config_response_type, 0);
    let other = entry(&one, 3);
    assert_eq!(one.write(Insert, other).await, Code::Ok, "nothing is replayed yet");
    assert_eq!(goes_to(&one, 1, 0x77), Some(2), "packets pass by what was");
    assert_eq!(set(&mut one, Pipe::WarmInitEnd, None).await, Code::Ok);
    let StreamResponse::SetForwardingPipelineConfigResponse(told) = one.next_update().await else {
        panic!()
    };
    assert_eq!(told.set_forwarding_pipeline_config_response_type, 1);
    assert_eq!(goes_to(&one, 1, 0x77), Some(3));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_scopes_of_tables_outlast_a_warm_initialisation_without_a_hit() {
    for (mode, outlasts) in [(Mode::Hitless, true), (Mode::FastReconfig, false)] {
        let mut one = client_of(2).await;
        let single = Scope::Predef(PredefinedMode::Single as i32);
        assert_eq!(scope(&mut one, "exact_t", single).await, Code::Ok);
        let (same, all) = (config("tofino", Vec::new()), Pipe::VerifyAndWarmInitBeginAndEnd);
        assert_eq!(set_in(&mut one, all, same, mode).await, Code::Ok);
        let entry = one.entry("exact_t", &[("dst", exact(1, 6))], "drop", &[]);
        let of_second = one.write(Insert, of_pipe(entry, 1)).await;
        assert_eq!(of_second == Code::Ok, outlasts, "{mode:?}: {of_second:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_brings_a_program_as_its_text() {
    let mut one = client().await;
    let unknown = config("another", b"\xff\x00".to_vec());
    assert_eq!(set(&mut one, Pipe::Verify, unknown).await, Code::InvalidArgument);
    let broken = config("another", b"header h {".to_vec());
    assert_eq!(set(&mut one, Pipe::Verify, broken).await, Code::InvalidArgument);
    let text = text_of("tofino.p4").replace("table exact_t", "table renamed_t");
    let text = text.replace("exact_t.apply", "renamed_t.apply");
    let brought = config("another", text.into_bytes());
    let begin_and_end = Pipe::VerifyAndWarmInitBeginAndEnd;
    assert_eq!(set(&mut one, begin_and_end, brought).await, Code::Ok);
    let request = bfrt::GetForwardingPipelineConfigRequest::default();
    let got = one.wire.get_forwarding_pipeline_config(request).await.unwrap().into_inner();
    assert_eq!(got.config[0].p4_name, "another");
    let document = String::from_utf8_lossy(&got.config[0].bfruntime_info);
    assert!(document.contains("renamed_t") && !document.contains("exact_t"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_entry_of_a_single_pipe_is_idle_there_and_hit_there() {
    let mut one = client_of(2).await;
    let single = Scope::Predef(PredefinedMode::Single as i32);
    assert_eq!(scope(&mut one, "aging_t", single).await, Code::Ok);
    let idle = bfrt::IdleTable {
        enable: true,
        idle_table_mode: bfrt::idle_table::IdleTableMode::IdleTableNotifyMode as i32,
        ttl_query_interval: 100,
        ..Default::default()
    };
    assert_eq!(write_attribute(&mut one, "aging_t", Attribute::IdleTable(idle)).await, Code::Ok);
    let (key, ttl) = ([("hdr.ethernet.src", exact(7, 6))], [("$ENTRY_TTL", number(200, 4))]);
    let entry = one.entry("aging_t", &key, "mark_early", &ttl);
    assert_eq!(one.write(Insert, of_pipe(entry, 1)).await, Code::Ok);
    let mut bytes = frame(5);
    bytes[11] = 7;
    for kind in [1, 0] {
        let StreamResponse::IdleTimeoutNotification(told) = one.next_update().await else {
            panic!()
        };
        assert_eq!((told.r#type, told.target.unwrap().pipe_id), (kind, 1));
        assert!(one.server.bench.submit(receive(130, bytes.clone())));
    }
}

//! Controllers against the server over loopback, with a client that was not written in this
//! project.
#![allow(deprecated)] // As the protocol's own.

mod bench;
mod buffers;
mod hostile;
mod pipelines;
mod pipes;
mod programs;
mod selectors;
mod snapshots;
mod tofino;

use bench::{
    CPU, Controller, RunningServer, arbitration, codes, controller, id, receive, start_server,
    text, update,
};
use sojourn_protocols::wire::p4::v1 as p4;
use sojourn_protocols::wire::p4::v1::entity::Entity;
use sojourn_protocols::wire::p4::v1::field_match::{self, FieldMatchType};
use sojourn_protocols::wire::p4::v1::set_forwarding_pipeline_config_request::Action as Pipe;
use sojourn_protocols::wire::p4::v1::stream_message_request::Update as StreamRequest;
use sojourn_protocols::wire::p4::v1::stream_message_response::Update as StreamResponse;
use sojourn_protocols::wire::p4::v1::table_action::Type as Leads;
use sojourn_protocols::wire::p4::v1::update::Type::{Delete, Insert, Modify};
use sojourn_protocols::wire::p4::v1::write_request::Atomicity;
use std::time::{Duration, Instant};
use tonic::Code;

fn exact(field_id: u32, value: &[u8]) -> p4::FieldMatch {
    let value = value.to_vec();
    let found = FieldMatchType::Exact(field_match::Exact { value });
    p4::FieldMatch { field_id, field_match_type: Some(found) }
}

fn action(server: &RunningServer, name: &str, params: &[&[u8]]) -> p4::Action {
    let param = |(at, value): (usize, &&[u8])| p4::action::Param {
        param_id: at as u32 + 1,
        value: value.to_vec(),
    };
    let params = params.iter().enumerate().map(param).collect();
    p4::Action { action_id: id(&server.info, name), params }
}

fn leads(action: p4::Action) -> Option<p4::TableAction> {
    Some(p4::TableAction { r#type: Some(Leads::Action(action)) })
}

/// An entry of a table with one exact key.
fn entry(
    server: &RunningServer,
    table: &str,
    key: &[u8],
    to: &str,
    params: &[&[u8]],
) -> p4::TableEntry {
    p4::TableEntry {
        table_id: id(&server.info, table),
        r#match: vec![exact(1, key)],
        action: leads(action(server, to, params)),
        ..Default::default()
    }
}

fn frame(dst: u64, src: u64, kind: u16) -> Vec<u8> {
    let mut bytes = Vec::new();
    bytes.extend_from_slice(&dst.to_be_bytes()[2..]);
    bytes.extend_from_slice(&src.to_be_bytes()[2..]);
    bytes.extend_from_slice(&kind.to_be_bytes());
    bytes.resize(60, 0);
    bytes
}

fn table(entry: p4::TableEntry) -> Entity {
    Entity::TableEntry(entry)
}

async fn primary(server: &RunningServer) -> Controller {
    let (controller, told) = controller(server, 10).await;
    assert_eq!(told.status.map(|status| status.code), Some(0));
    controller
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_the_primary_writes_and_every_controller_is_notified() {
    let server = start_server();
    let (mut first, _) = controller(&server, 10).await;
    let (mut second, told) = controller(&server, 9).await;
    assert_eq!(told.status.unwrap().code, Code::AlreadyExists as i32);
    assert_eq!(told.election_id.unwrap().low, 10);
    let one = || update(Insert, table(entry(&server, "exact_t", &[1], "send", &[&[2]])));
    assert_eq!(second.write(vec![one()]).await.unwrap_err().code(), Code::PermissionDenied);
    let mut nobody = bench::client(&server).await;
    let request = p4::WriteRequest { device_id: 1, updates: vec![one()], ..Default::default() };
    assert_eq!(nobody.write(request).await.unwrap_err().code(), Code::PermissionDenied);
    first.write(vec![one()]).await.unwrap();
    second.election = Some(p4::Uint128 { high: 1, low: 0 });
    second.requests.send(arbitration(second.election)).await.unwrap();
    for (who, code) in [(&mut first, Code::AlreadyExists), (&mut second, Code::Ok)] {
        let StreamResponse::Arbitration(told) = who.next_update().await else {
            panic!("no arbitration")
        };
        assert_eq!((told.status.unwrap().code, told.election_id.unwrap().high), (code as i32, 1));
    }
    assert_eq!(first.write(vec![one()]).await.unwrap_err().code(), Code::PermissionDenied);
    assert_eq!(second.code(one()).await, Code::AlreadyExists);
    drop(second);
    let StreamResponse::Arbitration(told) = first.next_update().await else {
        panic!("no arbitration")
    };
    assert_eq!(told.status.unwrap().code, Code::NotFound as i32);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn entries_of_every_match_kind_are_read_back() {
    let server = start_server();
    let mut one = primary(&server).await;
    let ternary =
        FieldMatchType::Ternary(field_match::Ternary { value: vec![2], mask: vec![0xf, 0xff] });
    let range = FieldMatchType::Range(field_match::Range { low: vec![1], high: vec![8, 0] });
    let optional = FieldMatchType::Optional(field_match::Optional { value: vec![3] });
    let lpm =
        FieldMatchType::Lpm(field_match::Lpm { value: vec![10, 0, 0, 0, 0, 0], prefix_len: 8 });
    let matched = |field_id, found| p4::FieldMatch { field_id, field_match_type: Some(found) };
    let written = vec![
        p4::TableEntry {
            metadata: b"cookie".to_vec(),
            idle_timeout_ns: 1 << 50,
            ..entry(&server, "exact_t", &[1, 0], "send", &[&[1, 0]])
        },
        p4::TableEntry {
            table_id: id(&server.info, "ternary_t"),
            r#match: vec![matched(1, ternary), matched(2, range), matched(3, optional)],
            priority: 7,
            action: leads(action(&server, "drop", &[])),
            ..Default::default()
        },
        p4::TableEntry {
            table_id: id(&server.info, "ternary_t"),
            priority: 1,
            action: leads(action(&server, "send", &[&[0]])),
            ..Default::default()
        },
        p4::TableEntry {
            table_id: id(&server.info, "lpm_t"),
            r#match: vec![matched(1, lpm)],
            action: leads(action(&server, "send", &[&[3]])),
            ..Default::default()
        },
    ];
    let updates = written.iter().map(|entry| update(Insert, table(entry.clone()))).collect();
    one.write(updates).await.unwrap();
    for entry in &written {
        let mut filter = p4::TableEntry { action: None, ..entry.clone() };
        filter.idle_timeout_ns = 0;
        let read = one.read(vec![table(filter)]).await.unwrap();
        assert_eq!(read, [table(entry.clone())]);
    }
    let all = one.read(vec![table(p4::TableEntry::default())]).await.unwrap();
    // Including the constant entry.
    assert_eq!(all.len(), written.len() + 1);
    let gone = written
        .iter()
        .map(|entry| update(Delete, table(p4::TableEntry { action: None, ..entry.clone() })));
    one.write(gone.collect()).await.unwrap();
    assert_eq!(one.read(vec![table(p4::TableEntry::default())]).await.unwrap().len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_update_has_its_code_and_a_batch_the_atomicity_that_it_asks_for() {
    let server = start_server();
    let mut one = primary(&server).await;
    let good = |key| update(Insert, table(entry(&server, "exact_t", &[key], "send", &[&[1]])));
    let wide = update(Insert, table(entry(&server, "exact_t", &[1; 7], "send", &[&[1]])));
    let failed = one.write(vec![good(1), wide.clone(), good(2), good(1)]).await.unwrap_err();
    assert_eq!(failed.code(), Code::Unknown);
    assert_eq!(codes(&failed), [Code::Ok, Code::InvalidArgument, Code::Ok, Code::AlreadyExists]);
    for atomicity in [Atomicity::RollbackOnError, Atomicity::DataplaneAtomic] {
        let batch = vec![good(3), good(4), wide.clone()];
        let failed = one.write_as(atomicity, batch).await.unwrap_err();
        assert_eq!(codes(&failed), [Code::Aborted, Code::Aborted, Code::InvalidArgument]);
    }
    let wanted = p4::TableEntry { table_id: id(&server.info, "exact_t"), ..Default::default() };
    assert_eq!(one.read(vec![table(wanted)]).await.unwrap().len(), 2);

    let of =
        |name: &str, key: &[u8], to: &str, params: &[&[u8]]| entry(&server, name, key, to, params);
    let exact_entry = of("exact_t", &[9], "send", &[&[1]]);
    let unknown = p4::TableEntry { table_id: 0x0200_0001, ..exact_entry.clone() };
    let priority = p4::TableEntry { priority: 1, ..exact_entry.clone() };
    let no_action = p4::TableEntry { action: None, ..exact_entry.clone() };
    let no_match = p4::TableEntry { r#match: vec![], ..exact_entry.clone() };
    let twice =
        p4::TableEntry { r#match: vec![exact(1, &[1]), exact(1, &[1])], ..exact_entry.clone() };
    let constant = of("const_t", &[1], "learn", &[]);
    let foreign = of("lpm_t", &[1], "set_first", &[&[1]]);
    for (why, kind, entry, code) in [
        ("no such table", Insert, unknown, Code::NotFound),
        ("a priority", Insert, priority, Code::InvalidArgument),
        ("no action", Insert, no_action, Code::InvalidArgument),
        ("no match", Insert, no_match, Code::InvalidArgument),
        ("a match twice", Insert, twice, Code::InvalidArgument),
        ("a constant table", Insert, constant, Code::PermissionDenied),
        ("an action of another table", Insert, foreign, Code::InvalidArgument),
        (
            "an argument too many",
            Insert,
            of("exact_t", &[9], "send", &[&[1], &[1]]),
            Code::InvalidArgument,
        ),
        ("no argument", Insert, of("exact_t", &[9], "send", &[]), Code::InvalidArgument),
        ("an empty argument", Insert, of("exact_t", &[9], "send", &[&[]]), Code::InvalidArgument),
        ("a wide argument", Insert, of("exact_t", &[9], "send", &[&[2, 0]]), Code::InvalidArgument),
        ("nothing to modify", Modify, exact_entry.clone(), Code::NotFound),
        ("nothing to delete", Delete, exact_entry, Code::NotFound),
    ] {
        assert_eq!(one.code(update(kind, table(entry))).await, code, "{why}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn packets_go_out_and_come_in_with_their_metadata() {
    let server = start_server();
    let mut one = primary(&server).await;
    let metadata = |metadata_id, value: u8| p4::PacketMetadata { metadata_id, value: vec![value] };
    let payload = frame(1, 2, 0x0800);
    let out = |metadata| {
        let packet = p4::PacketOut { payload: frame(1, 2, 0x0800), metadata };
        p4::StreamMessageRequest { update: Some(StreamRequest::Packet(packet)) }
    };
    one.requests.send(out(vec![metadata(1, 3), metadata(2, 0)])).await.unwrap();
    let left = server.left.recv_timeout(Duration::from_secs(20)).unwrap();
    assert_eq!(left, (3, payload.clone()));
    one.requests.send(out(vec![metadata(1, 3)])).await.unwrap();
    let StreamResponse::Error(error) = one.next_update().await else { panic!("no error") };
    assert_eq!(error.canonical_code, Code::InvalidArgument as i32);

    let up = entry(&server, "exact_t", &[1], "to_controller", &[&[5]]);
    one.write(vec![update(Insert, table(up))]).await.unwrap();
    use sojourn_protocols::device::Device;
    server.bench.submit(receive(2, payload.clone()));
    let StreamResponse::Packet(packet) = one.next_update().await else { panic!("no packet") };
    assert_eq!(packet.payload, payload);
    assert_eq!(packet.metadata, [metadata(1, 2), metadata(2, 5)]);
    assert_ne!(CPU, 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn digests_and_idle_entries_are_told_to_the_primary() {
    let server = start_server();
    let mut one = primary(&server).await;
    let digest_id = id(&server.info, "learned_t");
    let config =
        p4::digest_entry::Config { max_timeout_ns: 0, max_list_size: 1, ack_timeout_ns: 1 << 50 };
    let digest = Entity::DigestEntry(p4::DigestEntry { digest_id, config: Some(config) });
    one.write(vec![update(Insert, digest)]).await.unwrap();
    use sojourn_protocols::device::Device;
    for source in [7, 7, 8] {
        server.bench.submit(receive(2, frame(1, source, 0x88b5)));
    }
    for source in [7, 8] {
        let StreamResponse::Digest(list) = one.next_update().await else { panic!("no digest") };
        let members = [vec![source], vec![2]]
            .map(|bytes| p4::P4Data { data: Some(p4::p4_data::Data::Bitstring(bytes)) });
        let wanted = p4::p4_data::Data::Struct(p4::P4StructLike { members: members.into() });
        assert_eq!(list.data, [p4::P4Data { data: Some(wanted) }]);
        let ack = p4::DigestListAck { digest_id, list_id: list.list_id };
        let message = p4::StreamMessageRequest { update: Some(StreamRequest::DigestAck(ack)) };
        one.requests.send(message).await.unwrap();
    }
    let short = p4::TableEntry {
        idle_timeout_ns: 20_000_000,
        metadata: b"short".to_vec(),
        ..entry(&server, "exact_t", &[1], "drop", &[])
    };
    one.write(vec![update(Insert, table(short.clone()))]).await.unwrap();
    let StreamResponse::IdleTimeoutNotification(told) = one.next_update().await else {
        panic!("not idle")
    };
    assert_eq!(told.table_entry, [p4::TableEntry { action: None, ..short }]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn direct_and_indirect_resources_are_written_and_read() {
    let server = start_server();
    let mut one = primary(&server).await;
    let info = &server.info;
    let index = Some(p4::Index { index: 3 });
    let data = Some(p4::CounterData { byte_count: 5, packet_count: 6 });
    let config = Some(p4::MeterConfig { cir: 1, cburst: 2, pir: 3, pburst: 4, eburst: 0 });
    let value = |bytes: &[u8]| {
        Some(p4::P4Data { data: Some(p4::p4_data::Data::Bitstring(bytes.to_vec())) })
    };
    let counter =
        Entity::CounterEntry(p4::CounterEntry { counter_id: id(info, "frames"), index, data });
    let meter = Entity::MeterEntry(p4::MeterEntry {
        meter_id: id(info, "rates"),
        index,
        config,
        ..Default::default()
    });
    let register = Entity::RegisterEntry(p4::RegisterEntry {
        register_id: id(info, "kept"),
        index,
        data: value(&[1, 2]),
    });
    let set = Entity::ValueSetEntry(p4::ValueSetEntry {
        value_set_id: id(info, "known"),
        members: vec![p4::ValueSetMember { r#match: vec![exact(1, &[8, 0])] }],
    });
    let replica = |port: u8, instance| p4::Replica {
        port_kind: Some(p4::replica::PortKind::Port(vec![port])),
        instance,
        ..Default::default()
    };
    use p4::packet_replication_engine_entry::Type as Replicated;
    let group = |replicas| {
        let group =
            p4::MulticastGroupEntry { multicast_group_id: 5, replicas, ..Default::default() };
        let r#type = Some(Replicated::MulticastGroupEntry(group));
        Entity::PacketReplicationEngineEntry(p4::PacketReplicationEngineEntry { r#type })
    };
    let session = p4::CloneSessionEntry {
        session_id: 9,
        replicas: vec![replica(1, 1), replica(2, 1)],
        ..Default::default()
    };
    let session =
        p4::PacketReplicationEngineEntry { r#type: Some(Replicated::CloneSessionEntry(session)) };
    let session = Entity::PacketReplicationEngineEntry(session);
    for (kind, entity) in [
        (Modify, counter),
        (Modify, meter),
        (Modify, register),
        (Modify, set),
        (Insert, group(vec![replica(1, 0), replica(3, 0)])),
        (Insert, session),
    ] {
        one.write(vec![update(kind, entity.clone())]).await.unwrap();
        assert_eq!(one.read(vec![entity.clone()]).await.unwrap(), [entity]);
    }
    // RFC 2698, section 2: the peak rate is at least the committed rate.
    let below = |pir| {
        let config = Some(p4::MeterConfig { cir: 100, cburst: 2, pir, pburst: 4, eburst: 0 });
        let meter_id = id(info, "rates");
        Entity::MeterEntry(p4::MeterEntry { meter_id, index, config, ..Default::default() })
    };
    assert_eq!(one.code(update(Modify, below(50))).await, Code::InvalidArgument);
    one.write(vec![update(Modify, below(100))]).await.unwrap();
    let beyond = p4::RegisterEntry {
        register_id: id(info, "kept"),
        index: Some(p4::Index { index: 16 }),
        data: value(&[1]),
    };
    assert_eq!(
        one.code(update(Modify, Entity::RegisterEntry(beyond.clone()))).await,
        Code::OutOfRange
    );
    assert_eq!(
        one.code(update(Insert, Entity::RegisterEntry(beyond))).await,
        Code::InvalidArgument
    );

    // The group copies, and the entry counts.
    let copied = p4::TableEntry {
        counter_data: Some(Default::default()),
        meter_config: config,
        ..entry(&server, "exact_t", &[1], "copy", &[&[5]])
    };
    one.write(vec![update(Insert, table(copied.clone()))]).await.unwrap();
    use sojourn_protocols::device::Device;
    server.bench.submit(receive(2, frame(1, 2, 0x0800)));
    let mut ports: Vec<u16> =
        (0..2).map(|_| server.left.recv_timeout(Duration::from_secs(20)).unwrap().0).collect();
    ports.sort_unstable();
    assert_eq!(ports, [1, 3]);
    let read =
        one.read(vec![table(p4::TableEntry { action: None, ..copied.clone() })]).await.unwrap();
    let Entity::TableEntry(read) = &read[0] else { panic!("{read:?}") };
    assert_eq!(read.counter_data, Some(p4::CounterData { byte_count: 60, packet_count: 1 }));
    assert_eq!(read.meter_config, config);
    // An entry that takes the place of a deleted one counts from zero.
    one.write(vec![update(Delete, table(copied.clone()))]).await.unwrap();
    let next = entry(&server, "exact_t", &[2], "drop", &[]);
    one.write(vec![update(Insert, table(next.clone()))]).await.unwrap();
    let direct =
        Entity::DirectCounterEntry(p4::DirectCounterEntry { table_entry: Some(next), data: None });
    let read = one.read(vec![direct]).await.unwrap();
    assert!(
        matches!(&read[..], [Entity::DirectCounterEntry(one)] if one.data == Some(Default::default()))
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn groups_choose_among_members_whose_ports_are_up() {
    let server = start_server();
    let mut one = primary(&server).await;
    let send = |port: u8| Some(action(&server, "send", &[&[port]]));
    use p4::action_profile_action::WatchKind;
    let watched = |port: u8| p4::ActionProfileAction {
        action: send(port),
        weight: 2,
        watch_kind: Some(WatchKind::WatchPort(vec![port])),
    };
    let set = p4::ActionProfileActionSet {
        action_profile_actions: vec![watched(1), watched(3)],
        ..Default::default()
    };
    let shot = p4::TableEntry {
        table_id: id(&server.info, "spread_t"),
        r#match: vec![exact(1, &[8, 0])],
        action: Some(p4::TableAction { r#type: Some(Leads::ActionProfileActionSet(set)) }),
        ..Default::default()
    };
    one.write(vec![update(Insert, table(shot.clone()))]).await.unwrap();
    let filter = p4::TableEntry { action: None, ..shot.clone() };
    assert_eq!(one.read(vec![table(filter.clone())]).await.unwrap(), [table(shot.clone())]);
    use sojourn_protocols::device::Device;
    let ports = || {
        for source in 0..32 {
            server.bench.submit(receive(2, frame(9, source * 0x0173_9d51, 0x0800)));
        }
        let port = |_| server.left.recv_timeout(Duration::from_secs(20)).unwrap().0;
        (0..32).map(port).collect::<std::collections::BTreeSet<u16>>()
    };
    assert_eq!(ports(), [1, 3].into());
    server.bench.down.lock().unwrap().insert(3);
    let end = Instant::now() + Duration::from_secs(20);
    while ports() != [1].into() {
        assert!(Instant::now() < end, "a port that is down is chosen");
    }
    let profile = id(&server.info, "spread");
    let member =
        p4::ActionProfileMember { action_profile_id: profile, member_id: 1, action: send(1) };
    let member = update(Insert, Entity::ActionProfileMember(member));
    assert_eq!(one.code(member.clone()).await, Code::InvalidArgument, "both ways at once");
    one.write(vec![update(Delete, table(shot))]).await.unwrap();
    one.write(vec![member.clone()]).await.unwrap();
    assert_eq!(one.code(member.clone()).await, Code::AlreadyExists);
    let group = |weight| {
        let member =
            p4::action_profile_group::Member { member_id: 1, weight, ..Default::default() };
        Entity::ActionProfileGroup(p4::ActionProfileGroup {
            action_profile_id: profile,
            group_id: 1,
            members: vec![member],
            max_size: 4,
        })
    };
    assert_eq!(one.code(update(Insert, group(0))).await, Code::InvalidArgument);
    one.write(vec![update(Insert, group(2))]).await.unwrap();
    let gone = p4::Update { r#type: Delete.into(), ..member };
    assert_eq!(one.code(gone).await, Code::FailedPrecondition);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_that_is_pushed_runs_and_what_was_there_can_stay() {
    let server = start_server();
    let mut one = primary(&server).await;
    let set = |action: Pipe, config: &[u8], cookie| p4::SetForwardingPipelineConfigRequest {
        device_id: 1,
        election_id: Some(p4::Uint128 { high: 0, low: 10 }),
        action: action.into(),
        config: (action != Pipe::Commit).then(|| p4::ForwardingPipelineConfig {
            p4info: Some(server.info.clone()),
            p4_device_config: config.to_vec(),
            cookie: Some(p4::forwarding_pipeline_config::Cookie { cookie }),
        }),
        ..Default::default()
    };
    let kept = entry(&server, "exact_t", &[1], "send", &[&[3]]);
    one.write(vec![update(Insert, table(kept.clone()))]).await.unwrap();
    let code = |result: Result<_, tonic::Status>| {
        result.map(|_: tonic::Response<_>| ()).unwrap_err().code()
    };
    let refused =
        one.client.set_forwarding_pipeline_config(set(Pipe::Verify, b"control {", 1)).await;
    assert_eq!(code(refused), Code::InvalidArgument);
    let outside = br#"#include "/etc/hostname""#;
    let refused = one.client.set_forwarding_pipeline_config(set(Pipe::Verify, outside, 1)).await;
    assert_eq!(code(refused), Code::InvalidArgument);
    let refused = one.client.set_forwarding_pipeline_config(set(Pipe::Commit, b"", 1)).await;
    assert_eq!(code(refused), Code::NotFound);
    let reconciled = set(Pipe::ReconcileAndCommit, &text(), 7);
    one.client.set_forwarding_pipeline_config(reconciled).await.unwrap();
    let filter = p4::TableEntry { table_id: kept.table_id, ..Default::default() };
    assert_eq!(one.read(vec![table(filter.clone())]).await.unwrap(), [table(kept.clone())]);
    let wanted = p4::GetForwardingPipelineConfigRequest { device_id: 1, ..Default::default() };
    let config = one
        .client
        .get_forwarding_pipeline_config(wanted)
        .await
        .unwrap()
        .into_inner()
        .config
        .unwrap();
    assert_eq!(config.cookie.unwrap().cookie, 7);
    assert!(config.p4_device_config == text() && config.p4info.as_ref() == Some(&server.info));
    // Saved, written to, and only then run.
    one.client.set_forwarding_pipeline_config(set(Pipe::VerifyAndSave, b"", 8)).await.unwrap();
    let later = entry(&server, "exact_t", &[1], "send", &[&[1]]);
    one.write(vec![update(Insert, table(later))]).await.unwrap();
    use sojourn_protocols::device::Device;
    let port = || {
        server.bench.submit(receive(2, frame(1, 2, 0x0800)));
        server.left.recv_timeout(Duration::from_secs(20)).unwrap().0
    };
    assert_eq!(port(), 3);
    one.client.set_forwarding_pipeline_config(set(Pipe::Commit, b"", 0)).await.unwrap();
    assert_eq!(port(), 1);
    one.client.set_forwarding_pipeline_config(set(Pipe::VerifyAndCommit, b"", 9)).await.unwrap();
    assert_eq!(one.read(vec![table(filter)]).await.unwrap(), []);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_of_nothing_but_empty_updates_is_refused_before_it_is_large() {
    let server = start_server();
    let mut one = primary(&server).await;
    let refused = one.write(vec![p4::Update::default(); 1_000_000]).await.unwrap_err();
    assert_eq!(refused.code(), Code::ResourceExhausted);
    assert_eq!(one.code(p4::Update::default()).await, Code::InvalidArgument);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_packet_sees_half_of_an_atomic_batch() {
    let server = start_server();
    let mut one = primary(&server).await;
    let kind = &[0x88, 0xb6];
    let versions = |version: u8, how| {
        let first = entry(&server, "first_t", kind, "set_first", &[&[version]]);
        let second = entry(&server, "second_t", kind, "set_second", &[&[version]]);
        vec![update(how, table(first)), update(how, table(second))]
    };
    one.write(vec![update(Insert, table(entry(&server, "exact_t", &[1], "send", &[&[1]])))])
        .await
        .unwrap();
    one.write_as(Atomicity::DataplaneAtomic, versions(0, Insert)).await.unwrap();
    let bench = server.bench.clone();
    let (stop, stopped) = std::sync::mpsc::channel::<()>();
    let traffic = std::thread::spawn(move || {
        use sojourn_protocols::device::Device;
        while stopped.try_recv().is_err() {
            for _ in 0..16 {
                bench.submit(receive(2, frame(1, 2, 0x88b6)));
            }
            std::thread::sleep(Duration::from_micros(200));
        }
    });
    for batch in 0..1_000_u32 {
        let next = versions((batch % 251) as u8, Modify);
        one.write_as(Atomicity::DataplaneAtomic, next).await.unwrap();
    }
    stop.send(()).unwrap();
    traffic.join().unwrap();
    tokio::time::sleep(Duration::from_millis(50)).await;
    let seen: Vec<_> = server.left.try_iter().map(|(_, bytes)| (bytes[10], bytes[11])).collect();
    let versions: std::collections::BTreeSet<u8> = seen.iter().map(|(first, _)| *first).collect();
    assert!(versions.len() > 10, "{} packets saw {} versions", seen.len(), versions.len());
    assert!(seen.iter().all(|(first, second)| first == second));
}

//! BfRt with several programs on one device, each in pipes of its own.

use crate::bench::{receive, text_of};
use crate::tofino::{Client, client_of, exact, frame, number};
use sojourn_protocols::device::Device;
use sojourn_protocols::wire::bfrt_proto as bfrt;
use sojourn_protocols::wire::bfrt_proto::entity::Entity;
use sojourn_protocols::wire::bfrt_proto::set_forwarding_pipeline_config_request::Action as Pipe;
use sojourn_protocols::wire::bfrt_proto::update::Type::{self, Delete, Insert};
use std::time::Duration;
use tonic::{Code, Status};

/// A program with this name in one pipe; the tables of all of them have the same names and ids.
fn config(name: &str, pipes: &[u32]) -> bfrt::ForwardingPipelineConfig {
    let profile = bfrt::forwarding_pipeline_config::Profile {
        profile_name: "pipe".to_owned(),
        binary: text_of("tofino.p4").into_bytes(),
        pipe_scope: pipes.to_vec(),
        ..Default::default()
    };
    let profiles = vec![profile];
    bfrt::ForwardingPipelineConfig { p4_name: name.into(), profiles, ..Default::default() }
}

async fn set(one: &mut Client, config: Vec<bfrt::ForwardingPipelineConfig>) -> Code {
    let request = bfrt::SetForwardingPipelineConfigRequest {
        client_id: one.number,
        action: Pipe::VerifyAndWarmInitBeginAndEnd as i32,
        config,
        ..Default::default()
    };
    let done = one.wire.set_forwarding_pipeline_config(request).await;
    done.map_or_else(|status| status.code(), |_| Code::Ok)
}

async fn write(one: &mut Client, program: &str, kind: Type, entry: bfrt::TableEntry) -> Code {
    let entity = Some(bfrt::Entity { entity: Some(Entity::TableEntry(entry)) });
    let request = bfrt::WriteRequest {
        p4_name: program.to_owned(),
        updates: vec![bfrt::Update { r#type: kind as i32, entity }],
        ..Default::default()
    };
    one.wire.write(request).await.map_or_else(|status| status.code(), |_| Code::Ok)
}

/// Number of entries of a program's table.
async fn count(one: &mut Client, program: &str, table_id: u32) -> Result<usize, Status> {
    let asked = bfrt::TableEntry { table_id, ..Default::default() };
    let entity = bfrt::Entity { entity: Some(Entity::TableEntry(asked)) };
    let p4_name = program.to_owned();
    let request = bfrt::ReadRequest { p4_name, entities: vec![entity], ..Default::default() };
    let mut stream = one.wire.read(request).await?.into_inner();
    let mut found = 0;
    while let Some(response) = stream.message().await? {
        found += response.entities.len();
    }
    Ok(found)
}

fn goes_to(one: &Client, from: u16) -> Option<u16> {
    assert!(one.server.bench.submit(receive(from, frame(7))));
    let wait = Duration::from_millis(300);
    one.server.left.recv_timeout(wait).ok().map(|(port, _)| port)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_program_has_its_pipes_and_what_is_said_of_it() {
    let mut one = client_of(2).await;
    let refused = [
        vec![config("left", &[0]), config("right", &[0])],
        vec![config("left", &[0]), config("right", &[])],
        vec![config("left", &[0]), config("left", &[1])],
    ];
    for configs in refused {
        assert_eq!(set(&mut one, configs).await, Code::InvalidArgument);
    }
    // The first pipe is that of the program named second.
    assert_eq!(set(&mut one, vec![config("left", &[1]), config("right", &[0])]).await, Code::Ok);
    let table = one.id("exact_t", "");
    for (program, port) in [("left", 3), ("right", 2)] {
        let to = [("port", number(port, 2))];
        let entry = one.entry("exact_t", &[("dst", exact(7, 6))], "send", &to);
        assert_eq!(write(&mut one, program, Insert, entry).await, Code::Ok);
    }
    assert_eq!((goes_to(&one, 1), goes_to(&one, 130)), (Some(2), Some(3)));
    let all = bfrt::TableEntry { table_id: table, ..Default::default() };
    assert_eq!(write(&mut one, "tofino", Delete, all.clone()).await, Code::NotFound);
    assert_eq!(write(&mut one, "right", Delete, all).await, Code::Ok);
    assert_eq!((goes_to(&one, 1), goes_to(&one, 130)), (None, Some(3)));
    assert_eq!(count(&mut one, "left", table).await.unwrap(), 1);
    assert_eq!(count(&mut one, "right", table).await.unwrap(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fixed_tables_are_those_of_all_programs() {
    let mut one = client_of(2).await;
    assert_eq!(set(&mut one, vec![config("left", &[0]), config("right", &[1])]).await, Code::Ok);
    let table = one.id("$pre.mgid", "");
    let entry = one.entry("$pre.mgid", &[("$MGID", exact(5, 2))], "", &[]);
    assert_eq!(write(&mut one, "right", Insert, entry.clone()).await, Code::Ok);
    for program in ["left", "right"] {
        assert_eq!(count(&mut one, program, table).await.unwrap(), 1, "{program}");
    }
    assert_eq!(write(&mut one, "left", Insert, entry).await, Code::Unknown, "it is there already");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_is_bound_to_a_program_that_runs_no_longer_hears_that() {
    let mut one = client_of(2).await;
    assert_eq!(set(&mut one, vec![config("left", &[0]), config("tofino", &[1])]).await, Code::Ok);
    for told in [0, 1] {
        assert_eq!(one.set_told().await.unwrap(), told, "its program is among them");
    }
    assert_eq!(set(&mut one, vec![config("left", &[0]), config("right", &[1])]).await, Code::Ok);
    for told in [0, 1] {
        assert_eq!(one.set_told().await.unwrap(), told);
    }
    assert_eq!(one.set_told().await.unwrap_err().code(), Code::Cancelled);
}

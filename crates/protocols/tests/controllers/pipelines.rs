//! BfRt with a program of several pipelines, each of which some of the chip's pipes run.

use crate::bench::receive;
use crate::pipes::scope;
use crate::tofino::{Client, client_with, exact, frame, number, streams};
use sojourn_protocols::device::Device;
use sojourn_protocols::wire::bfrt_proto as bfrt;
use sojourn_protocols::wire::bfrt_proto::data_field::Value as Datum;
use sojourn_protocols::wire::bfrt_proto::key_field::MatchType;
use sojourn_protocols::wire::bfrt_proto::mode::{PredefinedMode, Scope};
use sojourn_protocols::wire::bfrt_proto::update::Type::Insert;
use std::time::Duration;
use tonic::Code;

const OUTER: &str = "outer.Outer.forward_t";
const INNER: &str = "inner.Inner.forward_t";

/// Egress port of a packet that enters by a port; port 130 is in the second pipe.
fn goes_to(one: &Client, from: u16) -> Option<u16> {
    assert!(one.server.bench.submit(receive(from, frame(7))));
    let wait = Duration::from_millis(300);
    one.server.left.recv_timeout(wait).ok().map(|(port, _)| port)
}

async fn add(
    one: &mut Client,
    table: &str,
    key: (&str, MatchType),
    action: &str,
    data: &[(&str, Datum)],
) {
    let entry = one.entry(table, &[key], action, data);
    assert_eq!(one.write(Insert, entry).await, Code::Ok, "{table}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_pipe_runs_its_pipeline_with_tables_of_its_own() {
    let mut one = client_with("pipelines", 2).await;
    let send = |port| [("port", number(port, 2))];
    add(&mut one, OUTER, ("dst", exact(7, 6)), "Outer.send", &send(2)).await;
    assert_eq!((goes_to(&one, 1), goes_to(&one, 130)), (Some(2), None));
    // The same parser twice: its port metadata is each pipeline's own.
    let mark = |value| [("mark", number(value, 8))];
    for (table, value) in [("outer", 5), ("inner", 9)] {
        let table = format!("{table}.IgParser.$PORT_METADATA");
        add(&mut one, &table, ("ig.ingress_port", exact(130, 2)), "", &mark(value)).await;
    }
    add(&mut one, INNER, ("mark", exact(9, 8)), "Inner.send", &send(3)).await;
    assert_eq!((goes_to(&one, 1), goes_to(&one, 130)), (Some(2), Some(3)));
    // Packets leave by the egress of the pipe that has their port.
    let leaving = [("inner", 3, Some(3)), ("outer", 3, None)];
    for (pipeline, port, to) in leaving {
        let table = format!("{pipeline}.Egress.leave_t");
        add(&mut one, &table, ("port", exact(port, 2)), "Egress.stop", &[]).await;
        assert_eq!(goes_to(&one, 130), to, "{pipeline}");
    }
    assert_eq!(goes_to(&one, 1), Some(2));
    // A register exists in the pipes that run its pipeline: there is one value, and no second.
    let read = one.read_one("inner.Inner.seen", &[("$REGISTER_INDEX", exact(0, 4))]).await;
    let values: Vec<_> = streams(&read).into_iter().map(|(_, value)| value).collect();
    assert_eq!(values, [vec![0, 0, 0, 4]]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_table_is_not_written_in_a_pipe_that_runs_another_pipeline() {
    let mut one = client_with("pipelines", 2).await;
    let single = Scope::Predef(PredefinedMode::Single as i32);
    assert_eq!(scope(&mut one, INNER, single).await, Code::Ok);
    for (pipe_id, code) in [(0, Code::InvalidArgument), (1, Code::Ok)] {
        let target = bfrt::TargetDevice { pipe_id, ..Default::default() };
        let key = [("mark", exact(9, 8))];
        let entry = one.entry(INNER, &key, "Inner.send", &[("port", number(3, 2))]);
        let entry = bfrt::TableEntry { entry_tgt: Some(target), ..entry };
        assert_eq!(one.write(Insert, entry.clone()).await, code, "pipe {pipe_id}");
        let read = one.read(bfrt::TableEntry { data: None, ..entry }).await;
        assert_eq!(read.is_ok(), code == Code::Ok, "pipe {pipe_id}");
    }
}

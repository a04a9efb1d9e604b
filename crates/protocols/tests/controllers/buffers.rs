//! Pools, cells and priorities of queues by the traffic manager's tables.

use crate::bench::receive;
use crate::tofino::{Client, client, client_with, exact, frame, number};
use sojourn_protocols::device::Device;
use sojourn_protocols::wire::bfrt_proto as bfrt;
use sojourn_protocols::wire::bfrt_proto::data_field::Value as Datum;
use sojourn_protocols::wire::bfrt_proto::entity::Entity;
use sojourn_protocols::wire::bfrt_proto::key_field::{self, MatchType};
use sojourn_protocols::wire::bfrt_proto::update::Type::{self, Delete, Insert, Modify};
use sojourn_protocols::wire::bfrt_proto::write_request::Atomicity;
use tonic::Code;

/// First queues of ports 1 to 3 in their port group of Tofino 1.
const QUEUES: [u64; 3] = [8, 16, 24];
/// Cells of the buffer: as many as the limits of its five queues.
const CELLS: u64 = 5 * 24_250;
const POOL: &str = "tf1.tm.pool.cfg";
const BUFFER: &str = "tf1.tm.queue.buffer";
const SCHEDULING: &str = "tf1.tm.queue.sched_cfg";

fn text(value: &str) -> Datum {
    Datum::StrVal(value.to_owned())
}

fn pool(name: &str) -> [(&'static str, MatchType); 1] {
    [("pool", MatchType::Exact(key_field::Exact { value: name.as_bytes().to_vec() }))]
}

fn queue(number: u64) -> [(&'static str, MatchType); 2] {
    [("pg_id", exact(0, 1)), ("pg_queue", exact(number, 1))]
}

/// A queue that may hold a multiple of the free cells of a pool.
fn shared(one: &Client, of: u64, pool: &str, most: u64, factor: &str) -> bfrt::TableEntry {
    let data = [
        ("pool_id", text(pool)),
        ("pool_max_cells", number(most, 4)),
        ("dynamic_baf", text(factor)),
    ];
    one.entry(BUFFER, &queue(of), "shared_pool", &data)
}

fn field(one: &Client, table: &str, name: &str, read: &Entity) -> Datum {
    let Entity::TableEntry(entry) = read else { panic!("{read:?}") };
    let data = entry.data.as_ref().unwrap();
    let action = if data.action_id == 1 && table == BUFFER { "shared_pool." } else { "" };
    let ids = ["", action].map(|of| one.find_id(table, &format!("{of}{name}")));
    let found = data.fields.iter().find(|field| ids.contains(&Some(field.field_id)));
    found.and_then(|field| field.value.clone()).unwrap()
}

async fn write(one: &mut Client, kind: Type, entry: bfrt::TableEntry) -> Result<(), String> {
    match one.write_as(Atomicity::ContinueOnError, vec![(kind, entry)]).await {
        Ok(()) => Ok(()),
        Err(status) => {
            let codes = crate::bench::codes(&status);
            Err(format!("{codes:?} {}", String::from_utf8_lossy(status.details())))
        }
    }
}

async fn cells(one: &mut Client, of: u64) -> u64 {
    let read = one.read_one("tf1.tm.counter.queue", &queue(of)).await;
    value(&field(one, "tf1.tm.counter.queue", "usage_cells", &read))
}

fn value(datum: &Datum) -> u64 {
    let Datum::Stream(bytes) = datum else { panic!("{datum:?}") };
    bytes.iter().fold(0, |value, byte| value << 8 | u64::from(*byte))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn saturated_queues_settle_where_choudhury_and_hahne_say() {
    for (factor, alpha, queues) in [("80%", 4.0, 2), ("50%", 1.0, 3), ("11%", 0.125, 3)] {
        let mut one = client().await;
        let cells_of_pool = 1_200_u32;
        let size = [("size_cells", number(cells_of_pool.into(), 4))];
        let entry = one.entry(POOL, &pool("EG_APP_POOL_2"), "", &size);
        write(&mut one, Modify, entry).await.unwrap();
        for (port, of) in (1..).zip(QUEUES) {
            let entry = shared(&one, of, "EG_APP_POOL_2", 0, factor);
            write(&mut one, Modify, entry).await.unwrap();
            let paused = [("scheduling_enable", Datum::BoolVal(false))];
            let entry = one.entry(SCHEDULING, &queue(of), "", &paused);
            write(&mut one, Modify, entry).await.unwrap();
            let entry = one.entry(
                "exact_t",
                &[("dst", exact(port, 6))],
                "send",
                &[("port", number(port, 2))],
            );
            write(&mut one, Insert, entry).await.unwrap();
        }
        // A packet of 64 bytes is one cell; all queues are offered the same.
        for _ in 0..cells_of_pool {
            for port in 1..=queues {
                assert!(one.server.bench.submit(receive(1, frame(port))));
            }
        }
        let settled = alpha * f64::from(cells_of_pool) / (1.0 + queues as f64 * alpha);
        // What was submitted before is done before a read.
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        let mut held = 0;
        for of in &QUEUES[..queues as usize] {
            let found = cells(&mut one, *of).await;
            assert!((found as f64 - settled).abs() <= alpha.max(1.0), "{factor} {found} {settled}");
            held += found;
        }
        let read = one.read_one("tf1.tm.counter.pool", &pool("EG_APP_POOL_2")).await;
        let usage = field(&one, "tf1.tm.counter.pool", "usage_cells", &read);
        assert_eq!(value(&usage), held);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_buffer_s_tables_read_what_was_written_until_they_are_reset() {
    let mut one = client().await;
    let before = one.read_one(BUFFER, &queue(16)).await;
    let whole = one.read_one(POOL, &pool("EG_APP_POOL_0")).await;
    assert_eq!(value(&field(&one, POOL, "size_cells", &whole)), CELLS);
    let entry = one.entry(POOL, &pool("EG_APP_POOL_1"), "", &[("size_cells", number(2_000, 4))]);
    write(&mut one, Modify, entry.clone()).await.unwrap();
    assert_eq!(one.read_one(POOL, &pool("EG_APP_POOL_1")).await, Entity::TableEntry(entry));
    // The first pool has the rest.
    let rest = one.read_one(POOL, &pool("EG_APP_POOL_0")).await;
    assert_eq!(value(&field(&one, POOL, "size_cells", &rest)), CELLS - 2_000);
    let data = [
        ("guaranteed_cells", number(20, 4)),
        ("hysteresis_cells", number(0, 4)),
        ("tail_drop_enable", Datum::BoolVal(true)),
        ("pool_id", text("EG_APP_POOL_1")),
        ("pool_max_cells", number(13, 4)),
        ("dynamic_baf", text("66%")),
    ];
    let entry = one.entry(BUFFER, &queue(16), "shared_pool", &data);
    write(&mut one, Modify, entry.clone()).await.unwrap();
    let read = one.read_one(BUFFER, &queue(16)).await;
    for (name, value) in &data {
        assert_eq!(field(&one, BUFFER, name, &read), *value, "{name}");
    }
    // A write of some fields leaves the others.
    let entry = one.entry(BUFFER, &queue(16), "", &[("guaranteed_cells", number(30, 4))]);
    write(&mut one, Modify, entry).await.unwrap();
    let read = one.read_one(BUFFER, &queue(16)).await;
    assert_eq!(field(&one, BUFFER, "guaranteed_cells", &read), number(30, 4));
    assert_eq!(field(&one, BUFFER, "dynamic_baf", &read), text("66%"));
    let entry = one.entry(BUFFER, &queue(16), "buffer_only", &[]);
    write(&mut one, Modify, entry).await.unwrap();
    let Entity::TableEntry(read) = one.read_one(BUFFER, &queue(16)).await else { panic!() };
    assert_eq!(read.data.unwrap().action_id, one.id(BUFFER, "buffer_only"));
    for table in [BUFFER, POOL] {
        let all = one.entry(table, &[], "", &[]);
        write(&mut one, Delete, all).await.unwrap();
    }
    assert_eq!(one.read_one(BUFFER, &queue(16)).await, before);
    assert_eq!(one.read_one(POOL, &pool("EG_APP_POOL_0")).await, whole);
    let all = one.entry(POOL, &[], "", &[]);
    assert_eq!(one.read(all).await.unwrap().len(), 4);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_buffer_cannot_hold_or_the_chip_does_not_know_is_refused_with_what_would_be_right()
{
    let mut one = client().await;
    let size = |cells| [("size_cells", number(cells, 4))];
    let refused = [
        (one.entry(POOL, &pool("EG_APP_POOL_9"), "", &size(1)), "is one of IG_APP_POOL_0, "),
        (one.entry(POOL, &pool("IG_APP_POOL_0"), "", &size(1)), "EG_APP_POOL_0 to EG_APP_POOL_3"),
        (
            one.entry(POOL, &pool("EG_APP_POOL_1"), "", &size(CELLS + 1)),
            "take 121251 cells of a buffer of 121250",
        ),
        (shared(&one, 16, "EG_APP_POOL_0", 5, "75%"), "50%, 66%, 80%, DISABLE, not `75%`"),
        (shared(&one, 16, "EG_APP_POOL_4", 5, "80%"), "EG_APP_POOL_3, not `EG_APP_POOL_4`"),
        (shared(&one, 7, "EG_APP_POOL_0", 5, "80%"), "no queue [0, 7]"),
        (
            one.entry(BUFFER, &queue(16), "", &[("guaranteed_cells", number(CELLS + 1, 4))]),
            "take 121251 cells of a buffer of 121250",
        ),
        (
            one.entry(BUFFER, &queue(16), "", &[("hysteresis_cells", number(1, 4))]),
            "`hysteresis_cells` is 0",
        ),
        (
            one.entry(BUFFER, &queue(16), "", &[("tail_drop_enable", Datum::BoolVal(false))]),
            "`tail_drop_enable` is true",
        ),
        (
            one.entry(SCHEDULING, &queue(16), "", &[("dwrr_weight", number(1_024, 2))]),
            "weight is 1024, allowed is 0 to 1023",
        ),
        (
            one.entry(SCHEDULING, &queue(16), "", &[("max_priority", text("8"))]),
            "is one of LOW, 0, 1",
        ),
        (
            one.entry(SCHEDULING, &queue(16), "", &[("min_rate_enable", Datum::BoolVal(true))]),
            "`min_rate_enable` is false",
        ),
    ];
    for (entry, why) in refused {
        let found = write(&mut one, Modify, entry).await.unwrap_err();
        assert!(found.contains(why), "{found} lacks {why}");
    }
    let counter = one.entry("tf1.tm.counter.pool", &pool("EG_APP_POOL_0"), "", &[]);
    assert_eq!(one.write(Modify, counter).await, Code::InvalidArgument);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn priorities_and_weights_reach_the_scheduler() {
    let mut one = client().await;
    let data = [
        ("max_priority", text("HIGH")),
        ("min_priority", text("3")),
        ("dwrr_weight", number(100, 2)),
        ("min_rate_enable", Datum::BoolVal(false)),
    ];
    let entry = one.entry(SCHEDULING, &queue(16), "", &data);
    write(&mut one, Modify, entry).await.unwrap();
    let (answer, answered) = std::sync::mpsc::channel();
    one.server.bench.submit(Box::new(move |switch, _| {
        let found = switch.queue_settings(sojourn_switch::PortId(2), 0).unwrap();
        answer.send((found.level, found.weight)).unwrap();
    }));
    assert_eq!(answered.recv().unwrap(), (7, 100));
    let read = one.read_one(SCHEDULING, &queue(16)).await;
    for (name, value) in [("max_priority", text("7")), ("min_priority", text("3"))] {
        assert_eq!(field(&one, SCHEDULING, name, &read), value, "{name}");
    }
    assert_eq!(field(&one, SCHEDULING, "dwrr_weight", &read), number(100, 2));
    let Entity::TableEntry(_) = one.read_one(SCHEDULING, &queue(8)).await else { panic!() };
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_queue_of_deflected_packets_is_that_of_a_pipe() {
    for (program, chip, first) in [("tofino", "tf1", 16), ("../../../p4/t2na/red", "tf2", 32)] {
        let mut one = client_with(program, 1).await;
        let table = format!("{chip}.tm.pipe.cfg");
        let group = [("mirror_drop_pg_id", number(0, 1))];
        let data = [group[0].clone(), ("mirror_drop_pg_queue", number(first, 1))];
        let nowhere = one.entry(&table, &[], "", &group);
        let why = write(&mut one, Modify, nowhere).await.unwrap_err();
        assert!(why.contains("no queue [0, 0]"), "{why}");
        let entry = one.entry(&table, &[], "", &data);
        write(&mut one, Modify, entry).await.unwrap();
        let asked = one.entry(&table, &[], "", &[]);
        let read = one.read(asked).await.unwrap().remove(0);
        assert_eq!(field(&one, &table, "mirror_drop_dev_port", &read), number(2, 4));
        assert_eq!(field(&one, &table, "mirror_drop_pg_queue", &read), number(first, 1));
    }
    let one = client().await;
    assert!(one.find_id("tf1.tm.pipe.cfg", "mirror_drop_enable").is_none());
}

const NODE: &str = "tf2.tm.l1_node.sched_cfg";

fn node(number: u64) -> [(&'static str, MatchType); 2] {
    [("pg_id", exact(0, 1)), ("pg_l1_node", exact(number, 1))]
}

async fn node_field(one: &mut Client, number: u64, action: &str, name: &str) -> Option<Datum> {
    let read = one.read_one(NODE, &node(number)).await;
    let Entity::TableEntry(entry) = read else { panic!("{read:?}") };
    let data = entry.data.unwrap();
    let of = |name: &str| one.find_id(NODE, name);
    let wanted = of(&format!("{action}.{name}")).or_else(|| of(name));
    assert_eq!(Some(data.action_id), of(action), "node {number}");
    data.fields.into_iter().find(|field| Some(field.field_id) == wanted)?.value
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn queues_of_tofino_2_are_put_below_scheduler_nodes() {
    let mut one = client_with("../../../p4/t2na/red", 1).await;
    let one = &mut one;
    // Port 2 has queues 32 to 47 of its group, and node 2.
    assert_eq!(node_field(one, 2, "in_use", "dev_port").await, Some(number(2, 4)));
    assert_eq!(node_field(one, 2, "in_use", "dwrr_weight").await, Some(number(1023, 2)));
    assert_eq!(node_field(one, 9, "free", "dwrr_weight").await, Some(number(0, 2)));
    let rates = [("unit", text("BPS")), ("max_rate", number(2_000_000, 4))];
    let shaping = one.entry("tf2.tm.l1_node.sched_shaping", &node(9), "", &rates);
    assert_eq!(write(one, Modify, shaping).await, Ok(()));
    let weight = [("dwrr_weight", number(300, 2))];
    let free = one.entry(NODE, &node(9), "", &weight);
    assert!(write(one, Modify, free).await.unwrap_err().contains("action `in_use` with"));
    let data = [
        ("dev_port", number(2, 4)),
        ("dwrr_weight", number(300, 2)),
        ("max_priority", text("HIGH")),
        ("max_rate_enable", Datum::BoolVal(true)),
    ];
    let used = one.entry(NODE, &node(9), "in_use", &data);
    assert_eq!(write(one, Modify, used).await, Ok(()));
    let scheduling = "tf2.tm.queue.sched_cfg";
    let below = |one: &Client, number_of: u64| {
        one.entry(scheduling, &queue(32), "", &[("pg_l1_node", number(number_of, 1))])
    };
    assert_eq!(write(one, Modify, below(one, 9)).await, Ok(()));
    let nowhere = below(one, 12);
    assert!(write(one, Modify, nowhere).await.unwrap_err().contains("no scheduler node 12"));
    let read = one.read_one(scheduling, &queue(32)).await;
    assert_eq!(field(one, scheduling, "pg_l1_node", &read), number(9, 1));
    let held = one.entry(NODE, &node(9), "free", &[]);
    assert!(write(one, Modify, held).await.unwrap_err().contains("has queues"));
    let (answer, answered) = std::sync::mpsc::channel();
    one.server.bench.submit(Box::new(move |switch, _| {
        answer.send(switch.nodes(sojourn_switch::PortId(2))).unwrap();
    }));
    let nodes = answered.recv().unwrap();
    let found = nodes.iter().find(|node| node.number == 9).unwrap();
    assert_eq!((found.config.weight, found.config.level, &found.queues[..]), (300, 7, &[0][..]));
    assert_eq!(found.max_shaper.unwrap().rate.per_second(), 2_000_000_000);
    let port = one.read_one("tf2.tm.port.sched_cfg", &[("dev_port", exact(2, 4))]).await;
    assert_eq!(field(one, "tf2.tm.port.sched_cfg", "l1_nodes_count", &port), number(2, 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn queues_have_limits_for_packets_of_a_colour() {
    let mut one = client_with("../../../p4/t2na/red", 1).await;
    let one = &mut one;
    let table = "tf2.tm.queue.color";
    let data = [("drop_enable", Datum::BoolVal(true)), ("drop_limit_yellow", text("62.5%"))];
    let entry = one.entry(table, &queue(32), "", &data);
    assert_eq!(write(one, Modify, entry).await, Ok(()));
    let read = one.read_one(table, &queue(32)).await;
    assert_eq!(field(one, table, "drop_limit_yellow", &read), text("62.5%"));
    assert_eq!(field(one, table, "drop_limit_red", &read), text("100%"));
    let size = one.read_one("tf2.tm.cfg", &[]).await;
    assert_eq!(field(one, "tf2.tm.cfg", "cell_size_bytes", &size), number(176, 4));
}

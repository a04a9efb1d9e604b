//! Clients of BfRt against the server, over loopback.

use crate::bench::{self, Bench, SentFrame, receive};
use sojourn_protocols::bfrt::service::Server;
use sojourn_protocols::device::{Device, Placed};
use sojourn_protocols::serve::{Served, Serving, serve};
use sojourn_protocols::wire::bfrt_proto as bfrt;
use sojourn_protocols::wire::bfrt_proto::bf_runtime_client::BfRuntimeClient;
use sojourn_protocols::wire::bfrt_proto::data_field::{self, Value as Datum};
use sojourn_protocols::wire::bfrt_proto::entity::Entity;
use sojourn_protocols::wire::bfrt_proto::key_field::{self, MatchType};
use sojourn_protocols::wire::bfrt_proto::set_forwarding_pipeline_config_request::Action as Pipe;
use sojourn_protocols::wire::bfrt_proto::stream_message_request::Update as StreamRequest;
use sojourn_protocols::wire::bfrt_proto::stream_message_response::Update as StreamResponse;
use sojourn_protocols::wire::bfrt_proto::table_entry::Value as At;
use sojourn_protocols::wire::bfrt_proto::update::Type::{
    self, Delete, Insert, InsertOrModify, Modify, ModifyInc,
};
use sojourn_protocols::wire::bfrt_proto::write_request::Atomicity;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::Channel;
use tonic::{Code, Status, Streaming};

pub struct RunningServer {
    pub serving: Serving,
    pub bench: Arc<Bench>,
    pub left: Receiver<SentFrame>,
    /// Ids of tables, keys, fields and actions, by table name and name within it.
    ids: BTreeMap<(String, String), u32>,
}

fn start_server(program: &str, pipes: u16) -> RunningServer {
    let (program, bench, left, _) = bench::switch_of(&format!("{program}.p4"), pipes);
    let server = Server::new(bench.clone(), 0, vec![Placed::everywhere(program)]).unwrap();
    let address = "127.0.0.1:0".parse().unwrap();
    let serving = serve(Served::bfrt(server), address, None, false).unwrap();
    RunningServer { serving, bench, left, ids: BTreeMap::new() }
}

pub struct Client {
    pub server: RunningServer,
    pub wire: BfRuntimeClient<Channel>,
    pub number: u32,
    requests: mpsc::Sender<bfrt::StreamMessageRequest>,
    responses: Streaming<bfrt::StreamMessageResponse>,
}

async fn wire(server: &RunningServer) -> BfRuntimeClient<Channel> {
    let address = format!("http://{}", server.serving.address());
    BfRuntimeClient::new(Channel::from_shared(address).unwrap().connect().await.unwrap())
}

fn subscribe(client_id: u32) -> bfrt::StreamMessageRequest {
    let notifications = Some(bfrt::subscribe::Notifications {
        enable_learn_notifications: true,
        enable_idletimeout_notifications: true,
        enable_entry_active_notifications: true,
        ..Default::default()
    });
    let update = StreamRequest::Subscribe(bfrt::Subscribe { notifications, ..Default::default() });
    bfrt::StreamMessageRequest { client_id, update: Some(update) }
}

async fn bind(wire: &mut BfRuntimeClient<Channel>, client_id: u32, name: &str) -> Code {
    let config = bfrt::ForwardingPipelineConfig { p4_name: name.into(), ..Default::default() };
    let request = bfrt::SetForwardingPipelineConfigRequest {
        client_id,
        config: vec![config],
        ..Default::default()
    };
    wire.set_forwarding_pipeline_config(request).await.map_or_else(|no| no.code(), |_| Code::Ok)
}

/// A client that is bound to the program, and has read its schema.
pub async fn client() -> Client {
    client_of(1).await
}

/// The same for a switch with this number of pipes.
pub async fn client_of(pipes: u16) -> Client {
    client_with("tofino", pipes).await
}

/// The same with a program of its own.
pub async fn client_with(program: &str, pipes: u16) -> Client {
    let mut server = start_server(program, pipes);
    let program = program.rsplit('/').next().unwrap();
    let mut wire = wire(&server).await;
    let (requests, asks) = mpsc::channel(16);
    requests.send(subscribe(3)).await.unwrap();
    let responses = wire.stream_channel(ReceiverStream::new(asks)).await.unwrap().into_inner();
    let request = bfrt::GetForwardingPipelineConfigRequest::default();
    let got = wire.get_forwarding_pipeline_config(request).await.unwrap().into_inner();
    assert_eq!(got.config[0].p4_name, program);
    let fixed = got.non_p4_config.unwrap().bfruntime_info;
    for document in [&got.config[0].bfruntime_info, &fixed] {
        read_ids(&serde_json::from_slice(document).unwrap(), &mut server.ids);
    }
    let mut client = Client { server, wire, number: 3, requests, responses };
    let StreamResponse::Subscribe(told) = client.next_update().await else {
        panic!("no subscription")
    };
    assert_eq!(told.status.unwrap().code, Code::Ok as i32);
    assert_eq!(bind(&mut client.wire, 3, program).await, Code::Ok);
    client
}

fn read_ids(document: &serde_json::Value, ids: &mut BTreeMap<(String, String), u32>) {
    let list =
        |value: &serde_json::Value, name: &str| value[name].as_array().cloned().unwrap_or_default();
    for table in list(document, "tables") {
        let name = table["name"].as_str().unwrap();
        let name = name.trim_start_matches("pipe.").trim_start_matches("Ingress.").to_owned();
        let kind = table["table_type"].as_str().unwrap();
        let name = if kind == "Selector" { format!("{name}+") } else { name };
        let mut note = |of: &str, value: &serde_json::Value| {
            ids.insert((name.clone(), of.to_owned()), value["id"].as_u64().unwrap() as u32);
        };
        note("", &table);
        list(&table, "key").iter().for_each(|key| note(key["name"].as_str().unwrap(), key));
        for data in list(&table, "data") {
            let choice = data["oneof"].as_array().cloned();
            let fields = choice.unwrap_or_else(|| vec![data["singleton"].clone()]);
            fields.iter().for_each(|field| note(field["name"].as_str().unwrap(), field));
        }
        for action in list(&table, "action_specs") {
            let called = action["name"].as_str().unwrap().trim_start_matches("Ingress.").to_owned();
            note(&called, &action);
            for field in list(&action, "data") {
                note(&format!("{called}.{}", field["name"].as_str().unwrap()), &field);
            }
        }
    }
}

pub fn number(value: u64, bytes: usize) -> Datum {
    Datum::Stream(value.to_be_bytes()[8 - bytes..].to_vec())
}

pub fn numbers(val: &[u32]) -> Datum {
    Datum::IntArrVal(data_field::IntArray { val: val.to_vec() })
}

pub fn exact(value: u64, bytes: usize) -> MatchType {
    let value = value.to_be_bytes()[8 - bytes..].to_vec();
    MatchType::Exact(key_field::Exact { value })
}

pub fn streams(entity: &Entity) -> Vec<(u32, Vec<u8>)> {
    let Entity::TableEntry(entry) = entity else { panic!("{entity:?}") };
    let stream = |field: &bfrt::DataField| match &field.value {
        Some(Datum::Stream(bytes)) => (field.field_id, bytes.clone()),
        other => panic!("{other:?}"),
    };
    entry.data.as_ref().unwrap().fields.iter().map(stream).collect()
}

impl Client {
    pub async fn next_update(&mut self) -> StreamResponse {
        let message = tokio::time::timeout(Duration::from_secs(20), self.responses.message()).await;
        message.expect("a message in time").unwrap().expect("a stream that goes on").update.unwrap()
    }

    /// Next notification of a set program, or the reason that ended the stream.
    pub async fn set_told(&mut self) -> Result<i32, Status> {
        let message = tokio::time::timeout(Duration::from_secs(20), self.responses.message()).await;
        match message.expect("a message in time")?.and_then(|message| message.update) {
            Some(StreamResponse::SetForwardingPipelineConfigResponse(told)) => {
                Ok(told.set_forwarding_pipeline_config_response_type)
            }
            other => panic!("{other:?}"),
        }
    }

    pub fn id(&self, table: &str, name: &str) -> u32 {
        self.server.ids[&(table.to_owned(), name.to_owned())]
    }

    /// The id of a name, if the table has it.
    pub fn find_id(&self, table: &str, name: &str) -> Option<u32> {
        self.server.ids.get(&(table.to_owned(), name.to_owned())).copied()
    }

    fn key(&self, table: &str, key: &[(&str, MatchType)]) -> Option<At> {
        let field = |(name, found): &(&str, MatchType)| bfrt::KeyField {
            field_id: self.id(table, name),
            match_type: Some(found.clone()),
        };
        (!key.is_empty())
            .then(|| At::Key(bfrt::TableKey { fields: key.iter().map(field).collect() }))
    }

    /// An entry: its key, its action, and its data, with `ACTION.FIELD` for the action's.
    pub fn entry(
        &self,
        table: &str,
        key: &[(&str, MatchType)],
        action: &str,
        data: &[(&str, Datum)],
    ) -> bfrt::TableEntry {
        let field = |(name, value): &(&str, Datum)| {
            let own = self.server.ids.get(&(table.to_owned(), (*name).to_owned())).copied();
            let field_id = own.unwrap_or_else(|| self.id(table, &format!("{action}.{name}")));
            bfrt::DataField { field_id, value: Some(value.clone()) }
        };
        let action_id = if action.is_empty() { 0 } else { self.id(table, action) };
        let data = bfrt::TableData { action_id, fields: data.iter().map(field).collect() };
        bfrt::TableEntry {
            table_id: self.id(table, ""),
            value: self.key(table, key),
            data: Some(data),
            ..Default::default()
        }
    }

    pub async fn write_as(
        &mut self,
        atomicity: Atomicity,
        updates: Vec<(Type, bfrt::TableEntry)>,
    ) -> Result<(), Status> {
        let update = |(kind, entry): (Type, bfrt::TableEntry)| bfrt::Update {
            r#type: kind as i32,
            entity: Some(bfrt::Entity { entity: Some(Entity::TableEntry(entry)) }),
        };
        let request = bfrt::WriteRequest {
            client_id: self.number,
            updates: updates.into_iter().map(update).collect(),
            atomicity: atomicity as i32,
            ..Default::default()
        };
        self.wire.write(request).await.map(drop)
    }

    pub async fn write(&mut self, kind: Type, entry: bfrt::TableEntry) -> Code {
        match self.write_as(Atomicity::ContinueOnError, vec![(kind, entry)]).await {
            Ok(()) => Code::Ok,
            Err(status) => bench::codes(&status)[0],
        }
    }

    pub async fn read(&mut self, entry: bfrt::TableEntry) -> Result<Vec<Entity>, Status> {
        let entity = bfrt::Entity { entity: Some(Entity::TableEntry(entry)) };
        let request = bfrt::ReadRequest {
            client_id: self.number,
            entities: vec![entity],
            ..Default::default()
        };
        let mut stream = self.wire.read(request).await?.into_inner();
        let mut found = Vec::new();
        while let Some(response) = stream.message().await? {
            found.extend(response.entities.into_iter().filter_map(|entity| entity.entity));
        }
        Ok(found)
    }

    /// Reads an entry from hardware.
    pub async fn read_one(&mut self, table: &str, key: &[(&str, MatchType)]) -> Entity {
        let table_flags = Some(bfrt::TableFlags { from_hw: true, ..Default::default() });
        let asked = self.entry(table, key, "", &[]);
        let asked = bfrt::TableEntry { data: None, table_flags, ..asked };
        self.read(asked).await.unwrap().remove(0)
    }
}

/// A frame that `exact_t` forwards.
pub fn frame(dst: u64) -> Vec<u8> {
    let mut bytes = dst.to_be_bytes()[2..].to_vec();
    bytes.resize(60, 0);
    bytes
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_client_is_bound_to_the_program_and_others_name_it() {
    let mut one = client().await;
    let (requests, asks) = mpsc::channel(16);
    let mut other = wire(&one.server).await;
    let mut responses = other.stream_channel(ReceiverStream::new(asks)).await.unwrap().into_inner();
    for (number, code) in [(3, Code::AlreadyExists), (4, Code::Ok)] {
        requests.send(subscribe(number)).await.unwrap();
        let told = responses.message().await.unwrap().unwrap().update.unwrap();
        let StreamResponse::Subscribe(told) = told else { panic!("{told:?}") };
        assert_eq!(told.status.unwrap().code, code as i32);
    }
    assert_eq!(bind(&mut other, 4, "tofino").await, Code::AlreadyExists);
    assert_eq!(bind(&mut other, 4, "another").await, Code::NotFound);
    assert_eq!(bind(&mut other, 5, "tofino").await, Code::AlreadyExists);
    one.number = 4;
    let table = bfrt::TableEntry { table_id: one.id("exact_t", ""), ..Default::default() };
    assert_eq!(one.read(table.clone()).await.unwrap_err().code(), Code::FailedPrecondition);
    let entity = bfrt::Entity { entity: Some(Entity::TableEntry(table)) };
    let mut request = bfrt::ReadRequest {
        client_id: 77,
        entities: vec![entity],
        p4_name: "tofino".into(),
        ..Default::default()
    };
    other.read(request.clone()).await.unwrap();
    request.target = Some(bfrt::TargetDevice { device_id: 9, ..Default::default() });
    assert_eq!(other.read(request).await.unwrap_err().code(), Code::NotFound);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn entries_forward_count_and_go() {
    let mut one = client().await;
    let key = [("dst", exact(0x1122, 6))];
    let entry = one.entry("exact_t", &key, "send", &[("port", number(2, 2))]);
    assert_eq!(one.write(Insert, entry.clone()).await, Code::Ok);
    assert_eq!(one.write(Insert, entry.clone()).await, Code::AlreadyExists);
    assert!(one.server.bench.submit(receive(1, frame(0x1122))));
    let (port, bytes) = one.server.left.recv_timeout(Duration::from_secs(20)).unwrap();
    assert_eq!((port, bytes), (2, frame(0x1122)));
    let read = one.read_one("exact_t", &key).await;
    let data = streams(&read);
    assert!(data.contains(&(one.id("exact_t", "send.port"), vec![0, 2])));
    assert!(
        data.contains(&(one.id("exact_t", "$COUNTER_SPEC_PKTS"), vec![0, 0, 0, 0, 0, 0, 0, 1]))
    );
    let of_another_action = one.entry("exact_t", &key, "drop", &[]);
    let refused = one.read(of_another_action).await.unwrap_err();
    assert_eq!(bench::codes(&refused), [Code::InvalidArgument]);
    let other = one.entry("exact_t", &key, "send", &[("port", number(3, 2))]);
    assert_eq!(one.write(Modify, other.clone()).await, Code::Ok);
    assert_eq!(one.write(InsertOrModify, other).await, Code::Ok);
    assert!(one.server.bench.submit(receive(1, frame(0x1122))));
    assert_eq!(one.server.left.recv_timeout(Duration::from_secs(20)).unwrap().0, 3);
    assert_eq!(one.write(Delete, entry.clone()).await, Code::Ok);
    assert_eq!(one.write(Delete, entry.clone()).await, Code::NotFound);
    assert_eq!(one.write(Modify, entry).await, Code::NotFound);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn entries_of_every_match_kind_are_read_back() {
    let mut one = client().await;
    let bytes = |value: u64, count: usize| value.to_be_bytes()[8 - count..].to_vec();
    let lpm = MatchType::Lpm(key_field::Lpm { value: bytes(0xa00 << 32, 6), prefix_len: 16 });
    let ternary =
        MatchType::Ternary(key_field::Ternary { value: bytes(2, 6), mask: bytes(0xff, 6) });
    let range = MatchType::Range(key_field::Range { low: bytes(1, 2), high: bytes(0x800, 2) });
    let written = [
        ("lpm_t", vec![("hdr.ethernet.src", lpm)]),
        (
            "ternary_t",
            vec![
                ("hdr.ethernet.src", ternary),
                ("hdr.ethernet.kind", range),
                ("$MATCH_PRIORITY", exact(7, 4)),
            ],
        ),
    ];
    for (table, key) in written {
        let entry = one.entry(table, &key, "mark", &[("color", number(3, 1))]);
        assert_eq!(one.write(Insert, entry.clone()).await, Code::Ok);
        assert_eq!(one.read_one(table, &key).await, Entity::TableEntry(entry.clone()));
        assert_eq!(one.read_one(table, &[]).await, Entity::TableEntry(entry));
        let all = one.entry(table, &[], "", &[]);
        assert_eq!(one.write(Delete, all.clone()).await, Code::Ok);
        assert_eq!(one.read(all).await.unwrap(), []);
    }
    let mut default = one.entry("lpm_t", &[], "mark", &[("color", number(9, 1))]);
    default.is_default_entry = true;
    assert_eq!(one.write(Modify, default.clone()).await, Code::Ok);
    assert_eq!(one.read(default.clone()).await.unwrap(), [Entity::TableEntry(default.clone())]);
    assert_eq!(one.write(Delete, default.clone()).await, Code::Ok);
    let Entity::TableEntry(read) = one.read(default).await.unwrap().remove(0) else { panic!() };
    assert_eq!(read.data.unwrap().action_id, one.id("lpm_t", "NoAction"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn registers_counters_and_meters_are_cells() {
    let mut one = client().await;
    let at = |name: &'static str| [(name, exact(9, 4))];
    let fields = |one: &Client| {
        ["first", "second"].map(|name| one.id("pairs", &format!("Ingress.pairs.{name}")))
    };
    let [first, second] = fields(&one);
    let was = streams(&one.read_one("pairs", &at("$REGISTER_INDEX")).await);
    assert_eq!(was, [(first, vec![0, 0, 0, 5]), (second, vec![0, 0, 0, 7])]);
    let one_field = [("Ingress.pairs.second", number(70_000, 4))];
    let entry = one.entry("pairs", &at("$REGISTER_INDEX"), "", &one_field);
    assert_eq!(one.write(Insert, entry).await, Code::Ok);
    let now = streams(&one.read_one("pairs", &at("$REGISTER_INDEX")).await);
    assert_eq!(now, [(first, vec![0, 0, 0, 5]), (second, vec![0, 1, 0x11, 0x70])]);
    // After a reset, each cell has the program's initial value.
    let all = one.entry("pairs", &[], "", &[]);
    assert_eq!(one.write(Delete, all.clone()).await, Code::Ok);
    let cells = one.read(all).await.unwrap();
    assert_eq!(cells.len(), 64);
    assert!(cells.iter().all(|cell| streams(cell) == was));
    let count = [("$COUNTER_SPEC_PKTS", number(5, 8)), ("$COUNTER_SPEC_BYTES", number(500, 8))];
    let entry = one.entry("seen", &at("$COUNTER_INDEX"), "", &count);
    assert_eq!(one.write(Modify, entry.clone()).await, Code::Ok);
    let read = streams(&one.read_one("seen", &at("$COUNTER_INDEX")).await);
    assert!(
        read.contains(&(one.id("seen", "$COUNTER_SPEC_BYTES"), 500_u64.to_be_bytes().to_vec()))
    );
    let rates = ["CIR_KBPS", "PIR_KBPS", "CBS_KBITS", "PBS_KBITS"]
        .map(|name| format!("$METER_SPEC_{name}"));
    let given: Vec<_> =
        rates.iter().zip(1..).map(|(name, n)| (name.as_str(), number(n * 1_000, 8))).collect();
    let entry = one.entry("rates", &at("$METER_INDEX"), "", &given);
    assert_eq!(one.write(Modify, entry.clone()).await, Code::Ok);
    assert_eq!(one.read_one("rates", &at("$METER_INDEX")).await, Entity::TableEntry(entry));
    // RFC 2698, section 2: the peak rate is at least the committed rate.
    let below = [("$METER_SPEC_CIR_KBPS", number(3_000, 8))];
    let below = one.entry("rates", &at("$METER_INDEX"), "", &below);
    assert_eq!(one.write(Modify, below).await, Code::InvalidArgument);
    let beyond = one.entry("pairs", &[("$REGISTER_INDEX", exact(64, 4))], "", &[]);
    assert_eq!(one.write(Modify, beyond).await, Code::OutOfRange);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn members_groups_nodes_and_sessions_are_tables() {
    let mut one = client().await;
    let member = |id| [("$ACTION_MEMBER_ID", exact(id, 4))];
    for id in [1, 2] {
        let entry = one.entry("members", &member(id), "mark", &[("color", number(id, 1))]);
        assert_eq!(one.write(Insert, entry.clone()).await, Code::Ok);
        assert_eq!(one.write(Insert, entry.clone()).await, Code::AlreadyExists);
        assert_eq!(one.read_one("members", &member(id)).await, Entity::TableEntry(entry));
    }
    let group = [("$SELECTOR_GROUP_ID", exact(5, 4))];
    let of = |members: &[u32], states: &[bool]| {
        let val = states.to_vec();
        let states = Datum::BoolArrVal(data_field::BoolArray { val });
        [("$ACTION_MEMBER_ID", numbers(members)), ("$ACTION_MEMBER_STATUS", states)]
    };
    let wrong = one.entry("groups+", &group, "", &of(&[1, 9], &[true, true]));
    assert_eq!(one.write(Insert, wrong).await, Code::InvalidArgument);
    let entry = one.entry("groups+", &group, "", &of(&[1], &[true]));
    assert_eq!(one.write(Insert, entry).await, Code::Ok);
    let more = one.entry("groups+", &group, "", &of(&[2], &[false]));
    assert_eq!(one.write(ModifyInc, more).await, Code::Ok);
    let whole = one.entry("groups+", &group, "", &of(&[1, 2], &[true, false]));
    assert_eq!(one.read_one("groups+", &group).await, Entity::TableEntry(whole));
    let key = [("hdr.ethernet.kind", exact(0x800, 2))];
    let entry = one.entry("chosen_t", &key, "", &[("$SELECTOR_GROUP_ID", number(5, 4))]);
    assert_eq!(one.write(Insert, entry.clone()).await, Code::Ok);
    assert_eq!(one.read_one("chosen_t", &key).await, Entity::TableEntry(entry));
    // A multicast group: unset fields are not listed, and the switch copies by the setting.
    let mgid = [("$MGID", exact(9, 2))];
    let entry = one.entry("$pre.mgid", &mgid, "", &[("$MULTICAST_NODE_ID", numbers(&[4]))]);
    assert_eq!(one.write(Insert, entry.clone()).await, Code::NotFound);
    let node = [("$MULTICAST_RID", number(1, 2)), ("$DEV_PORT", numbers(&[2, 3]))];
    let node = one.entry("$pre.node", &[("$MULTICAST_NODE_ID", exact(4, 4))], "", &node);
    assert_eq!(one.write(Insert, node).await, Code::Ok);
    assert_eq!(one.write(Insert, entry).await, Code::Ok);
    let copies = one.entry("members", &member(3), "replicate", &[("group", number(9, 2))]);
    assert_eq!(one.write(Insert, copies).await, Code::Ok);
    let key = [("hdr.ethernet.kind", exact(0, 2))];
    let entry = one.entry("chosen_t", &key, "", &[("$ACTION_MEMBER_ID", number(3, 4))]);
    assert_eq!(one.write(Insert, entry).await, Code::Ok);
    let key = [("dst", exact(7, 6))];
    let entry = one.entry("exact_t", &key, "send", &[("port", number(511, 2))]);
    assert_eq!(one.write(Insert, entry).await, Code::Ok);
    assert!(one.server.bench.submit(receive(1, frame(7))));
    let mut ports =
        [0, 0].map(|_| one.server.left.recv_timeout(Duration::from_secs(20)).unwrap().0);
    ports.sort_unstable();
    assert_eq!(ports, [2, 3]);
    // A mirror session.
    let sid = [("$sid", exact(27, 2))];
    let direction = ("$direction", Datum::StrVal("EGRESS".into()));
    let to = [
        ("$session_enable", Datum::BoolVal(true)),
        direction.clone(),
        ("$ucast_egress_port", number(3, 4)),
        ("$ucast_egress_port_valid", Datum::BoolVal(true)),
    ];
    let entry = one.entry("$mirror.cfg", &sid, "$normal", &to);
    assert_eq!(one.write(Insert, entry.clone()).await, Code::Ok);
    assert_eq!(one.write(Insert, entry.clone()).await, Code::AlreadyExists);
    assert_eq!(one.read_one("$mirror.cfg", &sid).await, Entity::TableEntry(entry.clone()));
    let to = [direction, ("$copy_to_cpu", Datum::BoolVal(true))];
    let cpu = one.entry("$mirror.cfg", &[("$sid", exact(28, 2))], "$normal", &to);
    assert_eq!(one.write(Insert, cpu).await, Code::Unimplemented);
    assert_eq!(one.write(Delete, entry).await, Code::Ok);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ports_and_queues_are_shaped() {
    let mut one = client().await;
    let port = [("dev_port", exact(2, 4))];
    let enabled = |on| [("max_rate_enable", Datum::BoolVal(on))];
    let entry = one.entry("tf1.tm.port.sched_cfg", &port, "", &enabled(true));
    assert_eq!(one.write(Modify, entry.clone()).await, Code::InvalidArgument);
    let rate = [
        ("unit", Datum::StrVal("BPS".into())),
        ("max_rate", number(10_000, 4)),
        ("max_burst_size", number(9_000, 4)),
    ];
    let shaping = one.entry("tf1.tm.port.sched_shaping", &port, "", &rate);
    assert_eq!(one.write(Modify, shaping).await, Code::Ok);
    assert_eq!(one.write(Modify, entry).await, Code::Ok);
    let (answer, answered) = std::sync::mpsc::channel();
    one.server.bench.submit(Box::new(move |switch, _| {
        let ports = switch.statistics().ports;
        let of = ports.iter().find(|port| port.port.0 == 2).and_then(|port| port.shaper);
        answer.send(of.map(|shaper| shaper.rate.per_second())).unwrap();
    }));
    let rate = answered.recv().unwrap().expect("a shaper");
    assert!(rate.abs_diff(10_000_000) < 20_000, "{rate}");
    let queue = [("pg_id", exact(0, 1)), ("pg_queue", exact(16, 1))];
    let map = one.read_one("tf1.tm.queue.map", &queue).await;
    assert_eq!(streams(&map)[0], (one.id("tf1.tm.queue.map", "dev_port"), vec![0, 0, 0, 2]));
    for on in [false, true] {
        let scheduled = [("scheduling_enable", Datum::BoolVal(on))];
        let entry = one.entry("tf1.tm.queue.sched_cfg", &queue, "", &scheduled);
        assert_eq!(one.write(Modify, entry).await, Code::Ok);
        let (answer, answered) = std::sync::mpsc::channel();
        one.server.bench.submit(Box::new(move |switch, _| {
            let ports = switch.statistics().ports;
            let of = ports.iter().find(|port| port.port.0 == 2);
            answer.send(of.map(|port| port.queues[0].paused)).unwrap();
        }));
        assert_eq!(answered.recv().unwrap(), Some(!on));
    }
    let nowhere = one.entry("tf1.tm.port.sched_cfg", &[("dev_port", exact(77, 4))], "", &[]);
    assert_eq!(one.write(Modify, nowhere).await, Code::NotFound);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tofino_2_has_its_own_fixed_tables_with_its_port_groups() {
    let mut one = client_with("../../../p4/t2na/red", 1).await;
    assert!(one.server.ids.keys().all(|(table, _)| !table.starts_with("tf1.")));
    // A port has 16 of its group's queues: the first of port 2.
    let queue = [("pg_id", exact(0, 1)), ("pg_queue", exact(32, 1))];
    let map = one.read_one("tf2.tm.queue.map", &queue).await;
    assert_eq!(streams(&map)[0], (one.id("tf2.tm.queue.map", "dev_port"), vec![0, 0, 0, 2]));
    for (table, field, value, code) in [
        ("tf2.tm.queue.sched_cfg", "advanced_flow_control", Datum::StrVal("XOFF".into()), Code::Ok),
        (
            "tf2.tm.queue.sched_cfg",
            "advanced_flow_control",
            Datum::StrVal("CREDIT".into()),
            Code::Unimplemented,
        ),
        ("tf2.tm.queue.cfg", "depth_report_enable", Datum::BoolVal(true), Code::Ok),
        ("tf2.tm.queue.cfg", "depth_report_enable", Datum::BoolVal(false), Code::Ok),
    ] {
        let entry = one.entry(table, &queue, "", &[(field, value)]);
        assert_eq!(one.write(Modify, entry).await, code, "{table} {field}");
    }
    for (table, field, value, code) in [
        ("tf2.tm.pipe.sched_cfg", "advanced_flow_control_enable", Datum::BoolVal(true), Code::Ok),
        ("tf2.tm.pipe.cfg", "queue_depth_report_mode", Datum::StrVal("ANY".into()), Code::Ok),
        ("tf2.tm.pipe.cfg", "queue_depth_report_mode", Datum::StrVal("COLOR".into()), Code::Ok),
    ] {
        let entry = one.entry(table, &[], "", &[(field, value)]);
        assert_eq!(one.write(Modify, entry).await, code, "{table} {field}");
    }
    let scheduled = one.read_one("tf2.tm.queue.sched_cfg", &queue).await;
    let Entity::TableEntry(scheduled) = scheduled else { panic!("{scheduled:?}") };
    let mode = one.id("tf2.tm.queue.sched_cfg", "advanced_flow_control");
    let mut fields = scheduled.data.unwrap().fields.into_iter();
    let xoff = Some(Datum::StrVal("XOFF".into()));
    assert_eq!(fields.find(|f| f.field_id == mode).and_then(|f| f.value), xoff);
    // The queues of a port, and no port that loops unless it was started so.
    let of_port = one.read_one("tf2.tm.port.cfg", &[("dev_port", exact(2, 4))]).await;
    let queues = one.id("tf2.tm.port.cfg", "egress_qid_queues");
    let Entity::TableEntry(of_port) = of_port else { panic!("{of_port:?}") };
    let mut fields = of_port.data.unwrap().fields.into_iter();
    let Some(Datum::IntArrVal(found)) = fields.find(|f| f.field_id == queues).and_then(|f| f.value)
    else {
        panic!("no queues")
    };
    assert_eq!(found.val[0], 32);
    for (mode, code) in [("BF_LPBK_NONE", Code::Ok), ("BF_LPBK_MAC_NEAR", Code::Unimplemented)] {
        let loopback = [("$LOOPBACK_MODE", Datum::StrVal(mode.into()))];
        let entry = one.entry("$PORT", &[("$DEV_PORT", exact(2, 4))], "", &loopback);
        assert_eq!(one.write(Modify, entry).await, code, "{mode}");
    }
    // 16 bytes of a pattern.
    let app = [("app_id", exact(15, 4))];
    let pattern = [
        ("pattern_value", Datum::Stream(0x1234_u128.to_be_bytes().to_vec())),
        ("pattern_mask", Datum::Stream(0xffff_u128.to_be_bytes().to_vec())),
        ("pkt_len", number(60, 2)),
    ];
    let entry = one.entry("tf2.pktgen.app_cfg", &app, "trigger_recirc_pattern", &pattern);
    assert_eq!(one.write(Modify, entry).await, Code::Ok);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_batch_has_the_atomicity_that_it_asks_for() {
    let mut one = client().await;
    let good = |one: &Client, key| {
        let key = [("dst", exact(key, 6))];
        (Insert, one.entry("exact_t", &key, "send", &[("port", number(1, 2))]))
    };
    let wrong = one.entry("exact_t", &[("dst", exact(1, 5))], "drop", &[]);
    let batch = vec![good(&one, 1), (Insert, wrong), good(&one, 2)];
    for (atomicity, left) in [
        (Atomicity::RollbackOnError, 0),
        (Atomicity::DataplaneAtomic, 0),
        (Atomicity::ContinueOnError, 2),
    ] {
        let failed = one.write_as(atomicity, batch.clone()).await.unwrap_err();
        assert_eq!(failed.code(), Code::Unknown);
        // A rolled-back batch reports only its errors.
        let told = &[Code::Ok, Code::InvalidArgument, Code::Ok][..if left == 0 { 2 } else { 3 }];
        assert_eq!(bench::codes(&failed), told);
        let all = one.entry("exact_t", &[], "", &[]);
        assert_eq!(one.read(all).await.unwrap().len(), left);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn names_that_the_program_lacks_are_refused() {
    let mut one = client().await;
    let key = [("dst", exact(1, 6))];
    let good = one.entry("exact_t", &key, "send", &[("port", number(1, 2))]);
    let mut no_table = good.clone();
    no_table.table_id = 1;
    let mut no_action = good.clone();
    no_action.data.as_mut().unwrap().action_id = 1;
    let mut no_field = good.clone();
    no_field.data.as_mut().unwrap().fields[0].field_id = 99;
    let wide = one.entry("exact_t", &key, "send", &[("port", number(512, 2))]);
    let long = one.entry("exact_t", &key, "send", &[("port", number(1, 3))]);
    let kind = one.entry("exact_t", &key, "send", &[("port", Datum::BoolVal(true))]);
    let none = one.entry("exact_t", &key, "", &[]);
    let mut elsewhere = good.clone();
    elsewhere.entry_tgt = Some(bfrt::TargetDevice { pipe_id: 2, ..Default::default() });
    let cases = [
        (no_table, Code::NotFound),
        (no_action, Code::InvalidArgument),
        (no_field, Code::InvalidArgument),
        (wide, Code::InvalidArgument),
        (long, Code::InvalidArgument),
        (kind, Code::InvalidArgument),
        (none, Code::InvalidArgument),
        (elsewhere, Code::NotFound),
    ];
    for (entry, code) in cases {
        assert_eq!(one.write(Insert, entry.clone()).await, code, "{entry:?}");
    }
    assert_eq!(one.write(Insert, good.clone()).await, Code::Ok);
    // As in the vendor's driver: an existing entry keeps a missing argument, in a new one it is 0.
    let bare = one.entry("exact_t", &key, "send", &[]);
    for (kind, port) in [(Modify, 1), (Delete, 1), (Insert, 0)] {
        assert_eq!(one.write(kind, bare.clone()).await, Code::Ok);
        if kind != Delete {
            let data = streams(&one.read_one("exact_t", &key).await);
            assert!(data.contains(&(one.id("exact_t", "send.port"), vec![0, port])));
        }
    }
    drop(one.requests);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_that_is_set_again_is_as_it_was_at_first() {
    let mut one = client().await;
    let key = [("dst", exact(1, 6))];
    let entry = one.entry("exact_t", &key, "drop", &[]);
    assert_eq!(one.write(Insert, entry).await, Code::Ok);
    let config = bfrt::ForwardingPipelineConfig { p4_name: "tofino".into(), ..Default::default() };
    let request = bfrt::SetForwardingPipelineConfigRequest {
        client_id: 3,
        action: Pipe::VerifyAndWarmInitBeginAndEnd as i32,
        config: vec![config],
        ..Default::default()
    };
    one.wire.set_forwarding_pipeline_config(request).await.unwrap();
    for done in [0, 1] {
        let StreamResponse::SetForwardingPipelineConfigResponse(told) = one.next_update().await
        else {
            panic!()
        };
        assert_eq!(told.set_forwarding_pipeline_config_response_type, done);
    }
    let all = one.entry("exact_t", &[], "", &[]);
    assert_eq!(one.read(all).await.unwrap(), []);
}

/// Fields of an entry other than byte strings.
fn others(entity: &Entity) -> Vec<(u32, Datum)> {
    let Entity::TableEntry(entry) = entity else { panic!("{entity:?}") };
    let fields = entry.data.as_ref().unwrap().fields.iter();
    let found = fields.filter_map(|field| Some((field.field_id, field.value.clone()?)));
    found.filter(|(_, value)| !matches!(value, Datum::Stream(_))).collect()
}

fn text(value: &str) -> Datum {
    Datum::StrVal(value.to_owned())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn filters_are_cells_and_parts_of_entries() {
    let mut one = client().await;
    let at = [("$LPF_INDEX", exact(9, 4))];
    let [kind, gain, decay, scale] = [
        "$LPF_SPEC_TYPE",
        "$LPF_SPEC_GAIN_TIME_CONSTANT_NS",
        "$LPF_SPEC_DECAY_TIME_CONSTANT_NS",
        "$LPF_SPEC_OUT_SCALE_DOWN_FACTOR",
    ];
    let cell = |time| {
        [
            (kind, text("RATE")),
            (gain, Datum::FloatVal(1_000.0)),
            (decay, Datum::FloatVal(time)),
            (scale, number(3, 4)),
        ]
    };
    let wrong = one.entry("means", &at, "", &cell(1_500.0));
    assert_eq!(one.write(Modify, wrong).await, Code::InvalidArgument, "they share a mantissa");
    let entry = one.entry("means", &at, "", &cell(8_000.0));
    assert_eq!(one.write(Modify, entry).await, Code::Ok);
    let read = one.read_one("means", &at).await;
    assert_eq!(streams_among(&read), [(one.id("means", scale), vec![0, 0, 0, 3])]);
    let found: BTreeMap<u32, Datum> = others(&read).into_iter().collect();
    assert_eq!(found[&one.id("means", kind)], text("RATE"));
    for (name, ideal) in [(gain, 1_000.0), (decay, 8_000.0)] {
        let Datum::FloatVal(time) = found[&one.id("means", name)] else { panic!("{found:?}") };
        assert!(time <= ideal && time > ideal * 0.998, "{name}: {time}");
    }
    let beyond = one.entry("means", &[("$LPF_INDEX", exact(16, 4))], "", &[]);
    assert_eq!(one.write(Modify, beyond).await, Code::OutOfRange);
    let key = [("hdr.ethernet.src", exact(7, 6))];
    let early = [
        ("$WRED_SPEC_TIME_CONSTANT_NS", Datum::FloatVal(10.0)),
        ("$WRED_SPEC_MIN_THRESH_CELLS", number(16, 4)),
        ("$WRED_SPEC_MAX_THRESH_CELLS", number(64, 4)),
        ("$WRED_SPEC_MAX_PROBABILITY", Datum::FloatVal(1.0)),
    ];
    let entry = one.entry("aging_t", &key, "mark_early", &early);
    assert_eq!(one.write(Insert, entry).await, Code::Ok);
    let read = one.read_one("aging_t", &key).await;
    let min = one.id("aging_t", "$WRED_SPEC_MIN_THRESH_CELLS");
    assert!(streams_among(&read).contains(&(min, vec![0, 0, 0, 16])));
}

/// Byte-string fields of an entry.
fn streams_among(entity: &Entity) -> Vec<(u32, Vec<u8>)> {
    let Entity::TableEntry(entry) = entity else { panic!("{entity:?}") };
    let fields = entry.data.as_ref().unwrap().fields.iter();
    let stream = |field: &bfrt::DataField| match &field.value {
        Some(Datum::Stream(bytes)) => Some((field.field_id, bytes.clone())),
        _ => None,
    };
    fields.filter_map(stream).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn members_of_a_value_set_are_learnt_with_the_metadata_of_their_port() {
    let mut one = client().await;
    let group = [("group", number(0xbeef, 2)), ("color", number(1, 1))];
    let ports = "IgParser.$PORT_METADATA";
    let key = [("ig.ingress_port", exact(1, 2))];
    let entry = one.entry(ports, &key, "", &group);
    assert_eq!(one.write(Insert, entry).await, Code::Ok);
    let set = "IgParser.learnt_kinds";
    let value = 0x88b5_u16.to_be_bytes().to_vec();
    let mask = vec![0xff, 0xff];
    let kind = [("f1", MatchType::Ternary(key_field::Ternary { value, mask }))];
    let member = one.entry(set, &kind, "", &[]);
    assert_eq!(one.write(Insert, member.clone()).await, Code::Ok);
    assert_eq!(one.write(Insert, member.clone()).await, Code::AlreadyExists);
    let all = one.entry(set, &[], "", &[]);
    assert_eq!(one.read(all).await.unwrap().len(), 1);
    let mut bytes = frame(5);
    bytes[6..14].copy_from_slice(&[0, 1, 2, 3, 4, 5, 0x88, 0xb5]);
    assert!(one.server.bench.submit(receive(1, bytes.clone())));
    let StreamResponse::Digest(list) = one.next_update().await else { panic!("no digest") };
    let fields = list.data[0].fields.iter().map(|field| field.value.clone().unwrap());
    let stream = |bytes: &[u8]| Datum::Stream(bytes.to_vec());
    let learnt = [stream(&[0, 1, 2, 3, 4, 5]), stream(&[0x88, 0xb5]), stream(&[0xbe, 0xef])];
    assert_eq!(fields.collect::<Vec<_>>(), learnt);
    // A deleted member is not learnt any more; the next digest is of a remaining one.
    assert_eq!(one.write(Delete, member).await, Code::Ok);
    assert_eq!(one.write(Delete, one.entry(ports, &key, "", &[])).await, Code::Ok);
    assert!(one.server.bench.submit(receive(1, bytes.clone())));
    let value = 0x88b6_u16.to_be_bytes().to_vec();
    let all_but_one = MatchType::Ternary(key_field::Ternary { value, mask: vec![0xff, 0xfe] });
    assert_eq!(one.write(Insert, one.entry(set, &[("f1", all_but_one)], "", &[])).await, Code::Ok);
    bytes[13] = 0xb7;
    assert!(one.server.bench.submit(receive(1, bytes)));
    let StreamResponse::Digest(list) = one.next_update().await else { panic!("no digest") };
    assert_eq!(list.data.len(), 1);
    assert_eq!(list.data[0].fields[1].value, Some(stream(&[0x88, 0xb7])));
    assert_eq!(list.data[0].fields[2].value, Some(stream(&[0, 0])));
}

/// Parts of a hash's input: first bit, length, and order.
fn parts(all: &[(u64, u64, u64)]) -> Datum {
    let datum =
        |(field_id, value): (u32, u64)| bfrt::DataField { field_id, value: Some(number(value, 8)) };
    let container = |(start, length, order): &(u64, u64, u64)| {
        // `start_bit`, `length` and `order`, with their ids in the document.
        let val = [(65_584, *start), (65_585, *length), (65_586, *order)];
        data_field::container_array::Container { val: val.into_iter().map(datum).collect() }
    };
    let container = all.iter().map(container).collect();
    Datum::ContainerArrVal(data_field::ContainerArray { container })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hash_is_set_computed_and_met_by_packets() {
    let mut one = client().await;
    let (value, mask) = (0xabcd_u16.to_be_bytes().to_vec(), vec![0xff, 0xff]);
    let kind = [("f1", MatchType::Ternary(key_field::Ternary { value, mask }))];
    let member = one.entry("IgParser.learnt_kinds", &kind, "", &[]);
    assert_eq!(one.write(Insert, member).await, Code::Ok);
    let mut bytes = b"123456789abc\xab\xcd".to_vec();
    bytes.resize(60, 0);
    let inputs = |bytes: &[u8]| {
        let of = |bytes: &[u8]| MatchType::Exact(key_field::Exact { value: bytes.to_vec() });
        [("hdr.ethernet.dst", of(&bytes[..6])), ("hdr.ethernet.src", of(&bytes[6..12]))]
    };
    async fn met(one: &mut Client, bytes: &[u8]) -> Option<Datum> {
        assert!(one.server.bench.submit(receive(1, bytes.to_vec())));
        let StreamResponse::Digest(list) = one.next_update().await else { panic!("no digest") };
        list.data[0].fields[2].value.clone()
    }
    async fn computed(one: &mut Client, key: &[(&str, MatchType)]) -> Option<Datum> {
        let read = one.read_one("mixed.compute", key).await;
        Some(Datum::Stream(streams(&read)[0].1.clone()))
    }
    async fn default_of(one: &mut Client, table: &str) -> bfrt::TableData {
        let asked = one.entry(table, &[], "", &[]);
        let asked = bfrt::TableEntry { is_default_entry: true, data: None, ..asked };
        let Entity::TableEntry(read) = one.read(asked).await.unwrap().remove(0) else {
            panic!("no entry")
        };
        read.data.unwrap()
    }
    let first = met(&mut one, &bytes).await;
    assert_eq!(computed(&mut one, &inputs(&bytes)).await, first);
    let algorithm = default_of(&mut one, "mixed.algorithm").await;
    assert_eq!(algorithm.action_id, one.id("mixed.algorithm", "pre_defined"));
    assert_eq!(algorithm.fields[0].value, Some(Datum::StrVal("CRC_16".into())));

    // CRC-16/XMODEM of "123456789": the last three bytes are not selected.
    let set = [("algorithm_name", Datum::StrVal("xmodem".into()))];
    let set = one.entry("mixed.algorithm", &[], "pre_defined", &set);
    assert_eq!(one.write(Modify, set).await, Code::Ok);
    let chosen = [
        ("hdr.ethernet.dst", parts(&[(0, 48, 1)])),
        ("hdr.ethernet.src", parts(&[(24, 99, 2), (0, 8, 0)])),
    ];
    let set = one.entry("mixed.configure", &[], "", &chosen);
    assert_eq!(one.write(Modify, set).await, Code::Ok);
    assert_eq!(met(&mut one, &bytes).await, Some(number(0x31c3, 2)));
    assert_eq!(computed(&mut one, &inputs(&bytes)).await, Some(number(0x31c3, 2)));
    let read = default_of(&mut one, "mixed.configure").await;
    assert_eq!(read.fields[1].value, Some(parts(&[(24, 24, 2), (0, 8, 0)])));

    let own = [
        ("polynomial", number(0x07, 8)),
        ("hash_bit_width", number(8, 8)),
        ("extend", Datum::BoolVal(true)),
        ("seed", number(0x1234, 4)),
    ];
    let set = one.entry("mixed.algorithm", &[], "user_defined", &own);
    assert_eq!(one.write(Modify, set).await, Code::Ok);
    // CRC-8 of the same is 0xf4, of zeros 0.
    assert_eq!(met(&mut one, &bytes).await, Some(number(0xf4f4 ^ 0x1234, 2)));

    let overlapping = [("hdr.ethernet.dst", parts(&[(0, 8, 1), (4, 8, 2)]))];
    let set = one.entry("mixed.configure", &[], "", &overlapping);
    assert_eq!(one.write(Modify, set).await, Code::InvalidArgument);
    let unknown = [("algorithm_name", Datum::StrVal("CRC_7".into()))];
    let set = one.entry("mixed.algorithm", &[], "pre_defined", &unknown);
    assert_eq!(one.write(Modify, set).await, Code::InvalidArgument);
    for table in ["mixed.configure", "mixed.algorithm"] {
        let reset = one.entry(table, &[], "", &[]);
        assert_eq!(one.write(Type::Reset, reset).await, Code::Ok);
    }
    assert_eq!(met(&mut one, &bytes).await, first);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_packet_generator_makes_what_a_client_has_put_into_its_buffer() {
    let mut one = client().await;
    let (port, app, buffer) =
        ("tf1.pktgen.port_cfg", "tf1.pktgen.app_cfg", "tf1.pktgen.pkt_buffer");
    let generates = [("pktgen_enable", Datum::BoolVal(true))];
    let entry = one.entry(port, &[("dev_port", exact(1, 4))], "", &generates);
    assert_eq!(one.write(Modify, entry).await, Code::InvalidArgument);
    let entry = one.entry(port, &[("dev_port", exact(68, 4))], "", &generates);
    assert_eq!(one.write(Modify, entry).await, Code::Ok);
    // The program parses the six bytes in front and these as Ethernet.
    let made = frame(0x1122)[6..].to_vec();
    let place = [("pkt_buffer_offset", exact(160, 4)), ("pkt_buffer_size", exact(54, 4))];
    let entry = one.entry(buffer, &place, "", &[("buffer", Datum::Stream(made.clone()))]);
    assert_eq!(one.write(Modify, entry).await, Code::Ok);
    let Entity::TableEntry(read) = one.read_one(buffer, &place).await else { panic!("no entry") };
    let shown = made.iter().map(|byte| u32::from(*byte)).collect::<Vec<_>>();
    assert_eq!(read.data.unwrap().fields[0].value, Some(numbers(&shown)));
    // Application 0 of pipe 0, batch 0, packet 0: the address is six zero bytes.
    let key = [("dst", exact(0, 6))];
    let entry = one.entry("exact_t", &key, "send", &[("port", number(3, 2))]);
    assert_eq!(one.write(Insert, entry).await, Code::Ok);
    let of = [("app_id", exact(0, 4))];
    let data = [
        ("timer_nanosec", number(1_000, 4)),
        ("pkt_len", number(54, 2)),
        ("pkt_buffer_offset", number(160, 2)),
        ("app_enable", Datum::BoolVal(true)),
    ];
    let entry = one.entry(app, &of, "trigger_timer_one_shot", &data);
    assert_eq!(one.write(Modify, entry).await, Code::Ok);
    let (out, bytes) = one.server.left.recv_timeout(Duration::from_secs(20)).unwrap();
    assert_eq!((out, &bytes[..6], &bytes[6..]), (3, &[0; 6][..], &made[..]));
    let Entity::TableEntry(read) = one.read_one(app, &of).await else { panic!("no entry") };
    let read = read.data.unwrap();
    assert_eq!(read.action_id, one.id(app, "trigger_timer_one_shot"));
    let counted = |name: &str| {
        let id = one.id(app, name);
        read.fields.iter().find(|field| field.field_id == id).and_then(|f| f.value.clone())
    };
    for name in ["trigger_counter", "batch_counter", "pkt_counter"] {
        assert_eq!(counted(name), Some(number(1, 8)), "{name}");
    }
    let jitter = one.entry(app, &of, "", &[("ipg_jitter", number(5, 4))]);
    assert_eq!(one.write(Modify, jitter).await, Code::Unimplemented);
    let far = one.entry(app, &of, "", &[("pkt_buffer_offset", number(16_368, 2))]);
    assert_eq!(one.write(Modify, far).await, Code::InvalidArgument);
    let beyond = one.entry(app, &[("app_id", exact(8, 4))], "", &[("pkt_len", number(60, 2))]);
    assert_eq!(one.write(Modify, beyond).await, Code::InvalidArgument);
    assert_eq!(one.write(Delete, one.entry(app, &[], "", &[])).await, Code::Ok);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clients_can_query_the_member_that_a_hash_chooses() {
    let mut one = client().await;
    for member in [4, 9] {
        let key = [("$ACTION_MEMBER_ID", exact(member, 4))];
        let entry = one.entry("members", &key, "mark", &[("color", number(1, 1))]);
        assert_eq!(one.write(Insert, entry).await, Code::Ok);
    }
    let group = [
        ("$ACTION_MEMBER_ID", numbers(&[4, 9])),
        ("$ACTION_MEMBER_STATUS", Datum::BoolArrVal(data_field::BoolArray { val: vec![true; 2] })),
        ("$MAX_GROUP_SIZE", number(8, 4)),
    ];
    let key = [("$SELECTOR_GROUP_ID", exact(1, 4))];
    let entry = one.entry("groups+", &key, "", &group);
    assert_eq!(one.write(Insert, entry).await, Code::Ok);
    for (hash, member) in [(0, 4), (1, 9), (6, 4)] {
        let key = [("$SELECTOR_GROUP_ID", exact(1, 8)), ("hash_value", exact(hash, 8))];
        let read = one.read_one("groups_get_member", &key).await;
        assert_eq!(streams(&read)[0].1, u64::to_be_bytes(member));
    }
    let key = [("$SELECTOR_GROUP_ID", exact(2, 8)), ("hash_value", exact(0, 8))];
    let asked = one.entry("groups_get_member", &key, "", &[]);
    assert_eq!(bench::codes(&one.read(asked).await.unwrap_err()), [Code::NotFound]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clients_hear_of_entries_that_are_idle_and_that_are_hit_again() {
    use bfrt::idle_timeout_notification::NotificationType::{EntryActive, EntryIdle};
    let mut one = client().await;
    let attribute = bfrt::TableAttribute {
        table_id: one.id("aging_t", ""),
        attribute: Some(bfrt::table_attribute::Attribute::IdleTable(bfrt::IdleTable {
            enable: true,
            idle_table_mode: bfrt::idle_table::IdleTableMode::IdleTableNotifyMode as i32,
            ttl_query_interval: 100,
            ..Default::default()
        })),
    };
    let update = bfrt::Update {
        r#type: Insert as i32,
        entity: Some(bfrt::Entity { entity: Some(Entity::TableAttribute(attribute)) }),
    };
    let request = bfrt::WriteRequest { client_id: 3, updates: vec![update], ..Default::default() };
    one.wire.write(request).await.unwrap();
    let key = [("hdr.ethernet.src", exact(7, 6))];
    let data = [("$ENTRY_TTL", number(200, 4))];
    let entry = one.entry("aging_t", &key, "mark_early", &data);
    assert_eq!(one.write(Insert, entry.clone()).await, Code::Ok);
    let told = |requests: StreamResponse| match requests {
        StreamResponse::IdleTimeoutNotification(told) => {
            (told.table_entry.unwrap().value, told.r#type)
        }
        other => panic!("{other:?}"),
    };
    assert_eq!(told(one.next_update().await), (entry.value.clone(), EntryIdle as i32));
    let mut bytes = frame(5);
    bytes[11] = 7;
    assert!(one.server.bench.submit(receive(1, bytes)));
    assert_eq!(told(one.next_update().await), (entry.value.clone(), EntryActive as i32));
    assert_eq!(told(one.next_update().await), (entry.value, EntryIdle as i32));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn parameters_of_registers_and_registers_of_entries_are_set_and_read() {
    let mut one = client().await;
    let value = one.id("step", "value");
    assert_eq!(streams(&one.read_one("step", &[]).await), [(value, vec![0, 0, 0, 100])]);
    let set = |one: &Client, to| bfrt::TableEntry {
        is_default_entry: true,
        ..one.entry("step", &[], "", &[("value", number(to, 4))])
    };
    let seven = set(&one, 7);
    assert_eq!(one.write(Modify, seven).await, Code::Ok);
    assert_eq!(streams(&one.read_one("step", &[]).await), [(value, vec![0, 0, 0, 7])]);
    let key = [("hdr.ethernet.kind", exact(0x88b5, 2))];
    let word = "Ingress.meetings.f1";
    let entry = one.entry("met_t", &key, "meet", &[("color", number(3, 1)), (word, number(40, 4))]);
    assert_eq!(one.write(Insert, entry).await, Code::Ok);
    let dst = [("dst", exact(5, 6))];
    let forward = one.entry("exact_t", &dst, "send", &[("port", number(2, 2))]);
    assert_eq!(one.write(Insert, forward).await, Code::Ok);
    let mut bytes = frame(5);
    bytes[12..14].copy_from_slice(&[0x88, 0xb5]);
    assert!(one.server.bench.submit(receive(1, bytes)));
    one.server.left.recv_timeout(Duration::from_secs(20)).unwrap();
    let data = streams(&one.read_one("met_t", &key).await);
    assert!(data.contains(&(one.id("met_t", word), vec![0, 0, 0, 41])), "{data:?}");
    // The packet has updated the register of pairs, too, with the present constant.
    let pair = streams(&one.read_one("pairs", &[("$REGISTER_INDEX", exact(1, 4))]).await);
    assert_eq!(pair[1].1, vec![0, 0, 0, 14]);
    let again = bfrt::TableEntry { data: None, ..set(&one, 0) };
    assert_eq!(one.write(Delete, again).await, Code::Ok);
    assert_eq!(streams(&one.read_one("step", &[]).await), [(value, vec![0, 0, 0, 100])]);
}

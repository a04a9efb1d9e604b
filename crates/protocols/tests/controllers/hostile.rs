//! Tests of hostile clients against the servers, which must answer with an error and continue.
//!
//! The inputs are random bytes, corrupted messages, oversized messages, many streams, and batches
//! whose sender has disconnected.
//!
//! `SOJOURN_HOSTILE=1000000` sets the number of messages and `SOJOURN_STREAMS=10000` the number of
//! streams. `SOJOURN_BYTES=1073741824` is the length of the long message. With `--nocapture` the
//! test prints the longest time for which the switch processed no packets, and the peak memory.

use crate::bench::{self, Bench, start_server};
use crate::tofino::{client, exact, number};
use prost::Message;
use sojourn_protocols::bfrt::service::Server;
use sojourn_protocols::device::{Device, Placed};
use sojourn_protocols::serve::{Served, serve};
use sojourn_protocols::wire::bfrt_proto as bfrt;
use sojourn_protocols::wire::p4::v1 as p4;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tonic::client::Grpc;
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};
use tonic::codegen::http::uri::PathAndQuery;
use tonic::transport::Channel;
use tonic::{Code, Request, Status};

/// Codec of unparsed bytes.
#[derive(Clone, Copy, Default)]
struct Raw;

impl Codec for Raw {
    type Encode = Vec<u8>;
    type Decode = Vec<u8>;
    type Encoder = Raw;
    type Decoder = Raw;

    fn encoder(&mut self) -> Raw {
        Raw
    }

    fn decoder(&mut self) -> Raw {
        Raw
    }
}

impl Encoder for Raw {
    type Item = Vec<u8>;
    type Error = Status;

    fn encode(&mut self, item: Vec<u8>, buffer: &mut EncodeBuf<'_>) -> Result<(), Status> {
        use prost::bytes::BufMut;
        buffer.put_slice(&item);
        Ok(())
    }
}

impl Decoder for Raw {
    type Item = Vec<u8>;
    type Error = Status;

    fn decode(&mut self, buffer: &mut DecodeBuf<'_>) -> Result<Option<Vec<u8>>, Status> {
        use prost::bytes::Buf;
        let mut item = vec![0; buffer.remaining()];
        buffer.copy_to_slice(&mut item);
        Ok(Some(item))
    }
}

/// Deterministic pseudo-random numbers (xorshift).
struct Draw(u64);

impl Draw {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, most: usize) -> usize {
        (self.next() % most.max(1) as u64) as usize
    }

    /// A message with some of its bytes changed, removed or duplicated.
    fn mutated(&mut self, message: &[u8]) -> Vec<u8> {
        let mut bytes = message.to_vec();
        for _ in 0..=self.below(4) {
            let at = self.below(bytes.len());
            match self.below(4) {
                0 => bytes.truncate(at),
                1 => bytes.insert(at.min(bytes.len()), self.next() as u8),
                2 if !bytes.is_empty() => drop(bytes.remove(at)),
                _ if !bytes.is_empty() => bytes[at] ^= 1 << self.below(8),
                _ => {}
            }
        }
        bytes
    }

    fn random(&mut self) -> Vec<u8> {
        let length = self.below(200);
        (0..length).map(|_| self.next() as u8).collect()
    }
}

fn asked(name: &str, otherwise: usize) -> usize {
    std::env::var(name).ok().and_then(|n| n.parse().ok()).unwrap_or(otherwise)
}

fn how_many() -> usize {
    asked("SOJOURN_HOSTILE", 1_500)
}

/// Peak memory of this process in MB, where the kernel reports it.
fn memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|n| n.parse::<u64>().ok()).unwrap_or(0) / 1_000
}

/// Measures the longest time for which the switch was busy, by repeated requests.
struct Watch {
    ends: Arc<AtomicBool>,
    longest: JoinHandle<Duration>,
}

impl Watch {
    fn over(bench: &Arc<Bench>) -> Watch {
        let (ends, bench) = (Arc::new(AtomicBool::new(false)), bench.clone());
        let ended = ends.clone();
        let longest = std::thread::spawn(move || {
            let mut longest = Duration::ZERO;
            while !ended.load(Ordering::Relaxed) {
                let (answer, answered) = std::sync::mpsc::channel();
                let begun = Instant::now();
                assert!(bench.submit(Box::new(move |_, _| {
                    let _ = answer.send(());
                })));
                answered.recv().expect("the switch goes on");
                longest = longest.max(begun.elapsed());
                std::thread::sleep(Duration::from_millis(2));
            }
            longest
        });
        Watch { ends, longest }
    }

    fn tell(self, what: &str) {
        self.ends.store(true, Ordering::Relaxed);
        let longest = self.longest.join().unwrap().as_secs_f64() * 1e3;
        println!("{what}: packets waited {longest:.1} ms at most, {} MB", memory());
    }
}

async fn channel(address: SocketAddr) -> Channel {
    Channel::from_shared(format!("http://{address}")).unwrap().connect().await.unwrap()
}

/// Sends bytes to a call whose answer is one message or a stream, and reads it to its end.
async fn send(channel: &Channel, path: &'static str, bytes: Vec<u8>) -> Code {
    let mut grpc = Grpc::new(channel.clone());
    grpc.ready().await.unwrap();
    let path = PathAndQuery::from_static(path);
    match grpc.server_streaming(Request::new(bytes), path, Raw).await {
        Err(status) => status.code(),
        Ok(answer) => {
            let mut answer = answer.into_inner();
            loop {
                match answer.message().await {
                    Ok(Some(_)) => {}
                    Ok(None) => return Code::Ok,
                    Err(status) => return status.code(),
                }
            }
        }
    }
}

/// Sends malformed requests made from `messages`, each listed with its call.
async fn harass(address: SocketAddr, messages: &[(&'static str, Vec<u8>)], longest: usize) {
    let (channel, mut draw) = (channel(address).await, Draw(0x5050_1234_9876_0001));
    for _ in 0..how_many() {
        let (path, message) = &messages[draw.below(messages.len())];
        let bytes = match draw.below(8) {
            0 => draw.random(),
            _ => draw.mutated(message),
        };
        let code = send(&channel, path, bytes.clone()).await;
        // Neither a thread nor the switch has ended.
        assert_ne!(code, Code::Unavailable, "{path}: {bytes:02x?}");
    }
    // A message longer than the limit.
    let (path, _) = messages[0];
    let long = asked("SOJOURN_BYTES", longest + 1);
    assert_eq!(send(&channel, path, vec![0; long]).await, Code::OutOfRange);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn p4runtime_survives_hostile_messages() {
    let server = start_server();
    let (mut one, _) = bench::controller(&server, 10).await;
    let election_id = Some(p4::Uint128 { high: 0, low: 10 });
    let entities: Vec<p4::Entity> = {
        let all =
            p4::Entity { entity: Some(p4::entity::Entity::TableEntry(p4::TableEntry::default())) };
        let request = p4::ReadRequest { device_id: 1, entities: vec![all], ..Default::default() };
        let mut stream = one.client.read(request).await.unwrap().into_inner();
        let mut found = Vec::new();
        while let Some(response) = stream.message().await.unwrap() {
            found.extend(response.entities);
        }
        found
    };
    let updates =
        entities.iter().cloned().map(|entity| p4::Update { r#type: 1, entity: Some(entity) });
    let write = p4::WriteRequest {
        device_id: 1,
        election_id,
        updates: updates.collect(),
        ..Default::default()
    };
    let read = p4::ReadRequest { device_id: 1, entities, ..Default::default() };
    let messages = [
        ("/p4.v1.P4Runtime/Write", write.encode_to_vec()),
        ("/p4.v1.P4Runtime/Read", read.encode_to_vec()),
        ("/p4.v1.P4Runtime/StreamChannel", bench::arbitration(election_id).encode_to_vec()),
        ("/p4.v1.P4Runtime/GetForwardingPipelineConfig", vec![8, 1]),
        ("/p4.v1.P4Runtime/Capabilities", vec![8, 1]),
    ];
    let watch = Watch::over(&server.bench);
    harass(server.serving.address(), &messages, 64 << 20).await;
    watch.tell("P4Runtime");
    let mut client = bench::client(&server).await;
    client.capabilities(p4::CapabilitiesRequest::default()).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bfrt_survives_hostile_messages() {
    let (program, bench, _left, _packets) = bench::switch("tofino.p4");
    let server = Server::new(bench.clone(), 0, vec![Placed::everywhere(program)]).unwrap();
    let address = "127.0.0.1:0".parse().unwrap();
    let serving = serve(Served::bfrt(server), address, None, false).unwrap();
    let ids: Vec<u32> = {
        let channel = channel(serving.address()).await;
        let mut client = bfrt::bf_runtime_client::BfRuntimeClient::new(channel);
        let request = bfrt::GetForwardingPipelineConfigRequest::default();
        let got = client.get_forwarding_pipeline_config(request).await.unwrap().into_inner();
        let documents = [&got.config[0].bfruntime_info, &got.non_p4_config.unwrap().bfruntime_info]
            .map(|bytes| serde_json::from_slice::<serde_json::Value>(bytes).unwrap());
        let tables = documents.iter().flat_map(|of| of["tables"].as_array().unwrap().clone());
        tables.map(|table| table["id"].as_u64().unwrap() as u32).collect()
    };
    let entries = ids.iter().map(|id| {
        let exact = bfrt::key_field::Exact { value: vec![0, 0, 0, 1] };
        let field = bfrt::KeyField {
            field_id: 1,
            match_type: Some(bfrt::key_field::MatchType::Exact(exact)),
        };
        let stream = bfrt::data_field::Value::Stream(vec![0, 0, 0, 1]);
        let data = bfrt::DataField { field_id: 1, value: Some(stream) };
        bfrt::TableEntry {
            table_id: *id,
            value: Some(bfrt::table_entry::Value::Key(bfrt::TableKey { fields: vec![field] })),
            data: Some(bfrt::TableData { action_id: 0, fields: vec![data] }),
            ..Default::default()
        }
    });
    let entities: Vec<bfrt::Entity> = entries
        .map(|entry| bfrt::Entity { entity: Some(bfrt::entity::Entity::TableEntry(entry)) })
        .collect();
    let mut messages = Vec::new();
    for entity in entities {
        for kind in [1, 2, 3, 4, 5] {
            let updates = vec![bfrt::Update { r#type: kind, entity: Some(entity.clone()) }];
            let write =
                bfrt::WriteRequest { updates, p4_name: "tofino".into(), ..Default::default() };
            messages.push(("/bfrt_proto.BfRuntime/Write", write.encode_to_vec()));
        }
        let read = bfrt::ReadRequest {
            entities: vec![entity],
            p4_name: "tofino".into(),
            ..Default::default()
        };
        messages.push(("/bfrt_proto.BfRuntime/Read", read.encode_to_vec()));
    }
    let subscribe = bfrt::StreamMessageRequest { client_id: 1, ..Default::default() };
    messages.push(("/bfrt_proto.BfRuntime/StreamChannel", subscribe.encode_to_vec()));
    messages.push(("/bfrt_proto.BfRuntime/SetForwardingPipelineConfig", vec![16, 1]));
    let watch = Watch::over(&bench);
    harass(serving.address(), &messages, 128 << 20).await;
    watch.tell("BfRt");
    let channel = channel(serving.address()).await;
    let mut client = bfrt::bf_runtime_client::BfRuntimeClient::new(channel);
    let request = bfrt::GetForwardingPipelineConfigRequest::default();
    client.get_forwarding_pipeline_config(request).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn more_streams_than_anybody_needs_are_held_and_let_go() {
    let server = start_server();
    let watch = Watch::over(&server.bench);
    let mut held = Vec::new();
    let count = asked("SOJOURN_STREAMS", 400);
    let mut client = bench::client(&server).await;
    for number in 0..count as u64 {
        // Many on one connection: a process has a limited number of open files.
        if number % 50 == 0 {
            client = bench::client(&server).await;
        }
        let (requests, asks) = tokio::sync::mpsc::channel(1);
        requests
            .send(bench::arbitration(Some(p4::Uint128 { high: 0, low: number })))
            .await
            .unwrap();
        let asks = tokio_stream::wrappers::ReceiverStream::new(asks);
        held.push((requests, client.stream_channel(asks).await.unwrap().into_inner()));
    }
    // Each is accepted, or rejected because its role has too many controllers.
    let (_, last) = held.last_mut().unwrap();
    match last.message().await {
        Ok(said) => drop(said.expect("an answer")),
        Err(status) => assert_eq!(status.code(), Code::ResourceExhausted),
    }
    watch.tell(&format!("{count} streams of P4Runtime"));
    drop(held);
    bench::controller(&server, 1_000).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn more_streams_of_bfrt_than_anybody_needs_are_held_and_let_go() {
    let mut one = client().await;
    let watch = Watch::over(&one.server.bench);
    let mut held = Vec::new();
    let count = asked("SOJOURN_STREAMS", 400);
    let address = one.server.serving.address();
    for number in 0..count as u32 {
        if number % 50 == 0 {
            let channel = channel(address).await;
            one.wire = bfrt::bf_runtime_client::BfRuntimeClient::new(channel);
        }
        let (requests, asks) = tokio::sync::mpsc::channel(1);
        let update = bfrt::stream_message_request::Update::Subscribe(bfrt::Subscribe::default());
        let message = bfrt::StreamMessageRequest { client_id: 100 + number, update: Some(update) };
        requests.send(message).await.unwrap();
        let asks = tokio_stream::wrappers::ReceiverStream::new(asks);
        held.push((requests, one.wire.stream_channel(asks).await.unwrap().into_inner()));
    }
    let (_, last) = held.last_mut().unwrap();
    last.message().await.unwrap().expect("the last is heard");
    watch.tell(&format!("{count} streams of BfRt"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_is_gone_amid_a_batch_leaves_all_of_it_or_nothing() {
    let mut one = client().await;
    let entry = |one: &crate::tofino::Client, dst: u64| {
        one.entry("exact_t", &[("dst", exact(dst, 6))], "send", &[("port", number(2, 2))])
    };
    const BATCH: u64 = 20_000;
    for round in 0..4_u64 {
        let updates = (0..BATCH).map(|n| bfrt::Update {
            r#type: 1,
            entity: Some(bfrt::Entity {
                entity: Some(bfrt::entity::Entity::TableEntry(entry(&one, round * BATCH + n))),
            }),
        });
        let request = bfrt::WriteRequest {
            client_id: one.number,
            updates: updates.collect(),
            atomicity: bfrt::write_request::Atomicity::RollbackOnError as i32,
            ..Default::default()
        };
        let mut wire = one.wire.clone();
        let writing = tokio::spawn(async move { wire.write(request).await.map(drop) });
        tokio::time::sleep(Duration::from_millis(4 * round)).await;
        writing.abort();
    }
    let all = one.entry("exact_t", &[], "", &[]);
    let count = one.read(all).await.unwrap().len() as u64;
    assert!(count.is_multiple_of(BATCH), "{count} entries");
}

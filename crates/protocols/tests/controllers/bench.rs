//! A switch in a thread of its own, a server in front of it, and a controller.

use prost::Message;
use sojourn_engine::{Aqm, FurtherProgram, P4Aqm, Programs, StandaloneConfig, standalone};
use sojourn_packet::{Packet, PacketId, PortId, Time};
use sojourn_protocols::device::{Device, Placed, Work};
use sojourn_protocols::p4runtime::pipeline::{KnownPrograms, Pipeline};
use sojourn_protocols::p4runtime::service::{Server, Settings};
use sojourn_protocols::serve::{Served, Serving, serve};
use sojourn_protocols::wire::p4::config::v1::P4Info;
use sojourn_protocols::wire::p4::v1 as p4;
use sojourn_protocols::wire::p4::v1::p4_runtime_client::P4RuntimeClient;
use sojourn_protocols::wire::p4::v1::stream_message_request::Update as StreamRequest;
use sojourn_protocols::wire::p4::v1::stream_message_response::Update as StreamResponse;
use sojourn_switch::Switch;
use sojourn_target::{LoadOptions, Program};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::Channel;
use tonic::{Code, Status, Streaming};

pub const CPU: u16 = 255;

/// A frame that left the switch: port and bytes.
pub type SentFrame = (u16, Vec<u8>);

pub struct Bench {
    work: Mutex<Sender<Work>>,
    pub down: Mutex<BTreeSet<u16>>,
    /// Pipes of the chip.
    pipes: u16,
}

impl Device for Bench {
    fn submit(&self, work: Work) -> bool {
        self.work.lock().unwrap().send(work).is_ok()
    }

    fn build(&self, programs: &[Placed]) -> Result<Switch, String> {
        build_switch(programs, self.pipes)
    }

    fn packet_out(&self, frame: Vec<u8>) -> bool {
        self.submit(receive(CPU, frame))
    }

    fn down(&self) -> BTreeSet<u16> {
        self.down.lock().unwrap().clone()
    }
}

pub fn receive(port: u16, bytes: Vec<u8>) -> Work {
    Box::new(move |switch, now| {
        let packet = Packet { id: PacketId(1), bytes, ..Packet::default() };
        switch.receive(now, PortId(port), packet);
    })
}

fn p4_aqm_of(program: &Program) -> P4Aqm {
    let folders = program.options().include_paths.iter();
    P4Aqm {
        program: program.path().display().to_string(),
        include_paths: folders.map(|path| path.display().to_string()).collect(),
        ..P4Aqm::default()
    }
}

fn build_switch(programs: &[Placed], pipes: u16) -> Result<Switch, String> {
    let [first, beside @ ..] = programs else { return Err("no program".to_owned()) };
    let aqm = p4_aqm_of(&first.program);
    let ports: Vec<_> = [1, 2, 3, 130, CPU].map(|id| serde_json::json!({ "id": id })).into();
    let config =
        serde_json::json!({ "ports": ports, "aqm": { "kind": "native", "name": "codel" } });
    let mut config: StandaloneConfig = serde_json::from_value(config).unwrap();
    config.pipes = pipes;
    config.aqm = Aqm::P4(Box::new(aqm));
    let beside = beside.iter();
    let beside = beside
        .map(|other| FurtherProgram { pipes: other.pipes.clone(), p4: p4_aqm_of(&other.program) });
    config.beside = beside.collect();
    let programs = Programs::new(programs.iter().map(|placed| placed.program.clone()));
    standalone(&config, &programs).map_err(|error| error.to_string())
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

pub fn text() -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/controlled.p4")).unwrap()
}

pub fn text_of(file: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(file);
    std::fs::read_to_string(path).unwrap()
}

pub fn options() -> LoadOptions {
    LoadOptions {
        include_paths: vec![root().join("p4/include")],
        ..sojourn_engine::builtin::load_options()
    }
}

/// The switch, its server, and the frames that leave its ports.
pub struct RunningServer {
    pub serving: Serving,
    pub bench: Arc<Bench>,
    pub left: Receiver<SentFrame>,
    pub info: P4Info,
}

/// Runs submitted work on the switch, in wall-clock time.
fn run(
    mut switch: Switch,
    work: &Receiver<Work>,
    left: &Sender<SentFrame>,
    cpu: &mpsc::Sender<Vec<u8>>,
) {
    let start = Instant::now();
    let now = || Time(start.elapsed().as_nanos() as u64);
    loop {
        match work.recv_timeout(Duration::from_millis(1)) {
            Ok(work) => {
                switch.advance(now());
                work(&mut switch, now());
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        switch.advance(now());
        for transmit in switch.take_transmits() {
            match transmit.port.0 {
                CPU => drop(cpu.try_send(transmit.packet.bytes)),
                port => drop(left.send((port, transmit.packet.bytes))),
            }
        }
        drop(switch.take_observations());
    }
}

/// Test bench of a switch: its program, the switch, the packets that leave its ports and those to
/// the controllers.
pub type Running = (Arc<Program>, Arc<Bench>, Receiver<SentFrame>, mpsc::Receiver<Vec<u8>>);

/// A switch with a test program, and the frames that leave its ports.
pub fn switch(file: &str) -> Running {
    switch_of(file, 1)
}

/// The same with this number of pipes; port 130 is in the second.
pub fn switch_of(file: &str, pipes: u16) -> Running {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(file);
    let program = Arc::new(Program::read(path, &options()).unwrap());
    let switch = build_switch(&[Placed::everywhere(program.clone())], pipes).unwrap();
    let (sender, work) = channel();
    let (out, left) = channel();
    let (cpu, packets) = mpsc::channel(1_024);
    std::thread::spawn(move || run(switch, &work, &out, &cpu));
    let bench = Arc::new(Bench { work: Mutex::new(sender), down: Mutex::default(), pipes });
    (program, bench, left, packets)
}

/// The switch with `controlled.p4`; its P4Info was generated by p4c.
pub fn start_server() -> RunningServer {
    let (program, bench, left, packets) = switch("controlled.p4");
    let known = KnownPrograms { programs: vec![program.clone()], options: options() };
    let info = P4Info::decode(include_bytes!("../controlled.p4info.bin").as_slice()).unwrap();
    let config = p4::ForwardingPipelineConfig { p4info: Some(info.clone()), ..Default::default() };
    let running = Pipeline::new(config, &known, Some(&program)).unwrap();
    let settings = Settings { device: 1, cpu: Some(CPU), known };
    let server = Server::new(bench.clone(), settings, Some(running));
    let address = "127.0.0.1:0".parse().unwrap();
    let serving = serve(Served::p4runtime(server, packets), address, None, false).unwrap();
    RunningServer { serving, bench, left, info }
}

/// A controller with its stream.
pub struct Controller {
    pub client: P4RuntimeClient<Channel>,
    pub requests: mpsc::Sender<p4::StreamMessageRequest>,
    pub responses: Streaming<p4::StreamMessageResponse>,
    pub election: Option<p4::Uint128>,
}

pub async fn client(server: &RunningServer) -> P4RuntimeClient<Channel> {
    let address = format!("http://{}", server.serving.address());
    let channel = Channel::from_shared(address).unwrap().connect().await.unwrap();
    P4RuntimeClient::new(channel)
        .max_decoding_message_size(64 << 20)
        .max_encoding_message_size(64 << 20)
}

/// Connects a controller with an election id; returns its first arbitration update.
pub async fn controller(
    server: &RunningServer,
    id: u64,
) -> (Controller, p4::MasterArbitrationUpdate) {
    let mut client = client(server).await;
    let (requests, asks) = mpsc::channel(64);
    let election = Some(p4::Uint128 { high: 0, low: id });
    requests.send(arbitration(election)).await.unwrap();
    let responses = client.stream_channel(ReceiverStream::new(asks)).await.unwrap().into_inner();
    let mut controller = Controller { client, requests, responses, election };
    let told = match controller.next_update().await {
        StreamResponse::Arbitration(update) => update,
        other => panic!("{other:?}"),
    };
    (controller, told)
}

pub fn arbitration(election_id: Option<p4::Uint128>) -> p4::StreamMessageRequest {
    let update = p4::MasterArbitrationUpdate { device_id: 1, election_id, ..Default::default() };
    p4::StreamMessageRequest { update: Some(StreamRequest::Arbitration(update)) }
}

impl Controller {
    pub async fn next_update(&mut self) -> StreamResponse {
        let message = tokio::time::timeout(Duration::from_secs(20), self.responses.message()).await;
        message.expect("a message in time").unwrap().expect("a stream that goes on").update.unwrap()
    }

    pub async fn write_as(
        &mut self,
        atomicity: p4::write_request::Atomicity,
        updates: Vec<p4::Update>,
    ) -> Result<(), Status> {
        let request = p4::WriteRequest {
            device_id: 1,
            election_id: self.election,
            updates,
            atomicity: atomicity.into(),
            ..Default::default()
        };
        self.client.write(request).await.map(|_| ())
    }

    pub async fn write(&mut self, updates: Vec<p4::Update>) -> Result<(), Status> {
        self.write_as(p4::write_request::Atomicity::ContinueOnError, updates).await
    }

    /// The code of the only update of a batch.
    pub async fn code(&mut self, update: p4::Update) -> Code {
        match self.write(vec![update]).await {
            Ok(()) => Code::Ok,
            Err(status) => codes(&status)[0],
        }
    }

    pub async fn read(
        &mut self,
        entities: Vec<p4::entity::Entity>,
    ) -> Result<Vec<p4::entity::Entity>, Status> {
        let entities =
            entities.into_iter().map(|entity| p4::Entity { entity: Some(entity) }).collect();
        let request = p4::ReadRequest { device_id: 1, entities, ..Default::default() };
        let mut stream = self.client.read(request).await?.into_inner();
        let mut found = Vec::new();
        while let Some(response) = stream.message().await? {
            found.extend(response.entities.into_iter().filter_map(|entity| entity.entity));
        }
        Ok(found)
    }
}

/// The codes in the details of a status.
pub fn codes(status: &Status) -> Vec<Code> {
    let details = sojourn_protocols::wire::google::rpc::Status::decode(status.details()).unwrap();
    assert_eq!(details.code, Code::Unknown as i32);
    let error = |any: &prost_types::Any| p4::Error::decode(any.value.as_slice()).unwrap();
    details.details.iter().map(|any| Code::from_i32(error(any).canonical_code)).collect()
}

pub fn id(info: &P4Info, name: &str) -> u32 {
    let preambles = info
        .tables
        .iter()
        .map(|one| &one.preamble)
        .chain(info.actions.iter().map(|one| &one.preamble))
        .chain(info.counters.iter().map(|one| &one.preamble))
        .chain(info.meters.iter().map(|one| &one.preamble))
        .chain(info.registers.iter().map(|one| &one.preamble))
        .chain(info.digests.iter().map(|one| &one.preamble))
        .chain(info.value_sets.iter().map(|one| &one.preamble))
        .chain(info.action_profiles.iter().map(|one| &one.preamble));
    let mut all = preambles
        .flatten()
        .filter(|one| one.name == name || one.name.ends_with(&format!(".{name}")));
    all.next().unwrap_or_else(|| panic!("{name}")).id
}

pub fn update(kind: p4::update::Type, entity: p4::entity::Entity) -> p4::Update {
    p4::Update { r#type: kind.into(), entity: Some(p4::Entity { entity: Some(entity) }) }
}

//! P4Runtime service: validates each call, executes it on the switch, and answers.

use super::digests::{Digests, List};
use super::packets;
use super::pipeline::{KnownPrograms, Pipeline};
use super::read::{Piece, Reader, last_hit, pieces};
use super::role_access::Access;
use super::schema::Schema;
use super::store::Store;
use super::streams::{Hub, Message, QUEUE_LENGTH};
use super::write;
use crate::device::{Device, Placed, Work};
use crate::failure::{Failure, status};
use crate::wire::p4::v1 as p4;
use crate::wire::p4::v1::entity::Entity;
use crate::wire::p4::v1::get_forwarding_pipeline_config_request::ResponseType;
use crate::wire::p4::v1::p4_runtime_server::P4Runtime;
use crate::wire::p4::v1::set_forwarding_pipeline_config_request::Action;
use crate::wire::p4::v1::stream_error::Details;
use crate::wire::p4::v1::stream_message_request::Update as StreamRequest;
use crate::wire::p4::v1::stream_message_response::Update as StreamResponse;
use crate::wire::p4::v1::update::Type;
use sojourn_engine::control;
use sojourn_packet::Time;
use sojourn_switch::Switch;
use std::collections::BTreeSet;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::sync::{Mutex as Turn, mpsc, oneshot};
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Code, Request, Response, Status, Streaming};

/// Implemented version of P4Runtime.
const VERSION: &str = "1.5.0";
/// Maximum number of updates executed between two packets, unless they are one.
const MAX_BATCH: usize = 64;
/// Maximum number of entities in one message of an answer.
const ENTITIES: usize = 512;
/// Polling interval for digests, idle entries and links.
const POLL_PERIOD: Duration = Duration::from_millis(10);
/// Number of polls between two polls of the links.
const POLLS_PER_LINK_POLL: u32 = 10;
/// Type name of a status's details.
const ERROR: &str = "p4.v1.Error";

/// Settings of a server.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The number of the device.
    pub device: u64,
    /// The port of the controller.
    pub cpu: Option<u16>,
    /// Programs that a controller may name.
    pub known: KnownPrograms,
}

/// An active pipeline, with the controllers' state.
#[derive(Clone)]
struct Set {
    pipeline: Arc<Pipeline>,
    store: Arc<Mutex<Store>>,
}

/// A saved pipeline, with a switch of its own that receives no packets yet.
struct Saved {
    set: Set,
    switch: Switch,
}

/// State that one request at a time changes.
struct Core {
    saved: Option<Saved>,
}

/// The server.
pub struct Server {
    device: Arc<dyn Device>,
    settings: Settings,
    hub: Hub,
    core: Turn<Core>,
    /// The active pipeline.
    set: Mutex<Option<Set>>,
    digests: Mutex<Digests>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn gone() -> Failure {
    Failure::new(Code::Unavailable, "the switch runs no longer")
}

fn no_pipeline() -> Failure {
    Failure::new(Code::FailedPrecondition, "no forwarding pipeline is set")
}

impl Server {
    /// Packets, digests and notifications lost because controllers read too slowly.
    pub fn missed(&self) -> Arc<AtomicU64> {
        self.hub.missed().clone()
    }

    /// Number of messages sent to controllers on their streams, without those about roles.
    pub fn sent(&self) -> u64 {
        self.hub.sent()
    }

    /// Creates a server for a switch; `running` is its pipeline, if there is one.
    pub fn new(
        device: Arc<dyn Device>,
        settings: Settings,
        running: Option<Pipeline>,
    ) -> Arc<Server> {
        let set = running.map(|pipeline| Set { pipeline: pipeline.into(), store: Arc::default() });
        let server = Server {
            device,
            hub: Hub::new(settings.device),
            settings,
            core: Turn::new(Core { saved: None }),
            set: Mutex::new(None),
            digests: Mutex::default(),
        };
        if let Some(set) = set {
            server.begin(set);
        }
        Arc::new(server)
    }

    /// Time stamp of a message: since 1970, or since the beginning of virtual time, ns.
    fn time_stamp(&self, now: Time) -> i64 {
        let since = match self.device.is_in_real_time() {
            true => SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos(),
            false => now.0.into(),
        };
        i64::try_from(since).unwrap_or(i64::MAX)
    }

    /// Activates a pipeline.
    fn begin(&self, set: Set) {
        let noted = set.pipeline.schema.tables.values().filter(|table| table.idle_timeout);
        let names: Vec<String> = noted.map(|table| table.name.clone()).collect();
        if !names.is_empty() {
            // A switch that has ended is ignored.
            self.device.submit(Box::new(move |switch, _| {
                let Ok(program) = control::program(switch) else { return };
                for name in &names {
                    if let Ok(id) = program.tables().find(name) {
                        program.note_hits(id);
                    }
                }
            }));
        }
        *locked(&self.digests) = Digests::default();
        *locked(&self.set) = Some(set);
    }

    fn running(&self) -> Option<Set> {
        locked(&self.set).clone()
    }

    /// Executes work on the running switch and the controllers' state.
    async fn at_running<T: Send + 'static>(
        &self,
        set: &Set,
        work: impl FnOnce(&Schema, &mut Store, &mut Switch, Time) -> T + Send + 'static,
    ) -> Result<T, Failure> {
        let (answer, answered) = oneshot::channel();
        let set = set.clone();
        let work: Work = Box::new(move |switch, now| {
            let done = work(&set.pipeline.schema, &mut locked(&set.store), switch, now);
            // The caller may have dropped its request.
            let _ = answer.send(done);
        });
        if !self.device.submit(work) {
            return Err(gone());
        }
        answered.await.map_err(|_| gone())
    }

    /// The same on the switch of reads and writes: the saved one, if there is one.
    async fn at<T: Send + 'static>(
        &self,
        core: &mut Core,
        work: impl FnOnce(&Schema, &mut Store, &mut Switch, Time) -> T + Send + 'static,
    ) -> Result<T, Failure> {
        if let Some(Saved { set, switch }) = &mut core.saved {
            return Ok(work(&set.pipeline.schema, &mut locked(&set.store), switch, Time::ZERO));
        }
        let set = self.running().ok_or_else(no_pipeline)?;
        self.at_running(&set, work).await
    }

    fn schema(&self, core: &Core) -> Result<Arc<Schema>, Failure> {
        let saved = core.saved.as_ref().map(|saved| saved.set.clone());
        let set = saved.or_else(|| self.running()).ok_or_else(no_pipeline)?;
        Ok(set.pipeline.schema.clone())
    }

    async fn verified(
        self: &Arc<Self>,
        config: p4::ForwardingPipelineConfig,
    ) -> Result<Saved, Failure> {
        let running = self.running().map(|set| set.pipeline.program.clone());
        let running = running.or_else(|| self.settings.known.programs.first().cloned());
        let server = self.clone();
        let work = move || {
            let pipeline = Pipeline::new(config, &server.settings.known, running.as_ref())?;
            let switch = {
                let placed = [Placed::everywhere(pipeline.program.clone())];
                server.device.build(&placed).map_err(Failure::invalid)?
            };
            let set = Set { pipeline: pipeline.into(), store: Arc::default() };
            Ok(Saved { set, switch })
        };
        // Compilation takes time; other calls continue meanwhile.
        let done = tokio::task::spawn_blocking(work).await;
        done.map_err(|error| Failure::new(Code::Internal, error))?
    }

    /// Replaces the running switch.
    async fn commit(&self, saved: Saved) -> Result<(), Failure> {
        let Saved { set, mut switch } = saved;
        locked(&set.store).down = self.device.down();
        let (answer, answered) = oneshot::channel();
        let work: Work = Box::new(move |running, now| {
            switch.advance(now);
            *running = switch;
            // The caller may have dropped its request.
            let _ = answer.send(());
        });
        if !self.device.submit(work) {
            return Err(gone());
        }
        answered.await.map_err(|_| gone())?;
        self.begin(set);
        Ok(())
    }

    async fn set_pipeline(
        self: &Arc<Self>,
        given: p4::SetForwardingPipelineConfigRequest,
    ) -> Result<(), Failure> {
        let action = given.action();
        let mut core = self.core.lock().await;
        if action == Action::Commit {
            if given.config.is_some() {
                return Err(Failure::invalid("a commit takes no configuration"));
            }
            let nothing = || Failure::new(Code::NotFound, "no configuration is saved");
            let saved = core.saved.take().ok_or_else(nothing)?;
            return self.commit(saved).await;
        }
        if action == Action::Unspecified {
            return Err(Failure::invalid("what is to be done with the configuration is unset"));
        }
        let config = given.config.ok_or_else(|| Failure::invalid("no configuration"))?;
        let mut saved = self.verified(config).await?;
        match action {
            Action::Verify => Ok(()),
            Action::VerifyAndSave => {
                core.saved = Some(saved);
                Ok(())
            }
            Action::ReconcileAndCommit => {
                if let Some(set) = self.running() {
                    self.reconcile(&set, &mut saved).await?;
                }
                core.saved = None;
                self.commit(saved).await
            }
            _ => {
                core.saved = None;
                self.commit(saved).await
            }
        }
    }

    /// Copies the state of the running switch into its replacement.
    async fn reconcile(&self, from: &Set, to: &mut Saved) -> Result<(), Failure> {
        let schema = from.pipeline.schema.clone();
        let counted = p4::TableEntry {
            counter_data: Some(p4::CounterData::default()),
            meter_config: Some(p4::MeterConfig::default()),
            ..p4::TableEntry::default()
        };
        let defaults = schema
            .tables
            .values()
            .filter(|table| !table.const_default && table.implementation.is_none());
        let default =
            |id| p4::TableEntry { table_id: id, is_default_action: true, ..Default::default() };
        let replicated = |one| {
            let entry = p4::PacketReplicationEngineEntry { r#type: Some(one) };
            Entity::PacketReplicationEngineEntry(entry)
        };
        use p4::packet_replication_engine_entry::Type as Replicated;
        let mut all = vec![
            Entity::ActionProfileMember(Default::default()),
            Entity::ActionProfileGroup(Default::default()),
            Entity::TableEntry(counted),
            Entity::MeterEntry(Default::default()),
            Entity::CounterEntry(Default::default()),
            Entity::RegisterEntry(Default::default()),
            Entity::ValueSetEntry(Default::default()),
            Entity::DigestEntry(Default::default()),
            replicated(Replicated::MulticastGroupEntry(Default::default())),
            replicated(Replicated::CloneSessionEntry(Default::default())),
        ];
        all.extend(defaults.map(|table| Entity::TableEntry(default(table.id))));
        let mut updates = Vec::new();
        for entity in &all {
            for piece in pieces(&schema, Some(entity), None)? {
                let entities = self.whole(from, piece).await?;
                updates.extend(entities.into_iter().filter_map(again));
            }
        }
        let cpu = self.settings.cpu;
        let Saved { set, switch } = to;
        let parts = (&*set.pipeline.schema, &mut *locked(&set.store));
        let results = write::all(parts, (switch, Time::ZERO), (None, cpu), &updates);
        let failed = results
            .into_iter()
            .find_map(|result| result.err().filter(|failure| failure.code != Code::Aborted));
        match failed {
            None => Ok(()),
            Some(failure) => {
                let why = format!("what is in the switch cannot stay: {}", failure.why);
                Err(Failure::invalid(why))
            }
        }
    }

    /// All entities of a piece of a request, from the running switch.
    async fn whole(&self, set: &Set, piece: Piece) -> Result<Vec<p4::Entity>, Failure> {
        let (mut out, mut left) = (Vec::new(), Some(piece));
        while let Some(piece) = left {
            let done = self.at_running(set, move |schema, store, switch, now| {
                let mut reader = Reader { schema, store, switch, now, access: None };
                let mut out = Vec::new();
                reader.read(piece, &mut out).map(|left| (left, out))
            });
            let (next, some) = done.await??;
            out.extend(some);
            left = next;
        }
        Ok(out)
    }

    async fn write_all(&self, given: p4::WriteRequest) -> Result<(), Status> {
        let (device, election) = (given.device_id, given.election_id);
        self.hub.check(device, &given.role, election.as_ref())?;
        let mut core = self.core.lock().await;
        // Another controller may have become primary meanwhile.
        let access = self.hub.check(device, &given.role, election.as_ref())?;
        let atomicity = given.atomicity();
        let cpu = self.settings.cpu;
        if core.saved.is_none() && self.running().is_none() {
            return Err(no_pipeline().into());
        }
        let count = given.updates.len();
        let updates = Arc::new(given.updates);
        let pieces = write::in_pieces(atomicity);
        let together = if pieces { MAX_BATCH } else { count.max(1) };
        let mut results = Vec::with_capacity(count);
        for from in (0..count).step_by(together) {
            let (updates, access) = (updates.clone(), access.clone());
            let done = self.at(&mut core, move |schema, store, switch, now| {
                let some = &updates[from..(from + together).min(updates.len())];
                let parts = (access.as_ref(), cpu);
                match pieces {
                    true => write::each((schema, store), (switch, now), parts, some),
                    false => write::all((schema, store), (switch, now), parts, some),
                }
            });
            results.extend(done.await?);
        }
        status(&results, ERROR)
    }

    async fn read_all(&self, given: p4::ReadRequest) -> Result<Vec<Message2>, Status> {
        let access = self.hub.sees(given.device_id, &given.role)?;
        let mut core = self.core.lock().await;
        let schema = self.schema(&core)?;
        let (mut messages, mut results) = (Vec::new(), Vec::new());
        let mut waiting = Vec::new();
        for entity in &given.entities {
            let mut out = |entities| {
                waiting.extend(entities);
                while waiting.len() >= ENTITIES {
                    let rest = waiting.split_off(ENTITIES);
                    let entities = std::mem::replace(&mut waiting, rest);
                    messages.push(Ok(p4::ReadResponse { entities }));
                }
            };
            results.push(self.read_one(&mut core, &schema, entity, &access, &mut out).await);
        }
        if !waiting.is_empty() {
            messages.push(Ok(p4::ReadResponse { entities: waiting }));
        }
        messages.extend(status(&results, ERROR).err().map(Err));
        Ok(messages)
    }

    async fn read_one(
        &self,
        core: &mut Core,
        schema: &Arc<Schema>,
        entity: &p4::Entity,
        access: &Option<Access>,
        out: &mut (dyn FnMut(Vec<p4::Entity>) + Send),
    ) -> Result<(), Failure> {
        for piece in pieces(schema, entity.entity.as_ref(), access.as_ref())? {
            let mut left = Some(piece);
            while let Some(piece) = left {
                let access = access.clone();
                let done = self.at(core, move |schema, store, switch, now| {
                    let mut reader = Reader { schema, store, switch, now, access: access.as_ref() };
                    let mut some = Vec::new();
                    reader.read(piece, &mut some).map(|left| (left, some))
                });
                let (next, some) = done.await??;
                out(some);
                left = next;
            }
        }
        Ok(())
    }

    /// Handles a message of a stream.
    async fn on_message(&self, id: u64, given: p4::StreamMessageRequest) -> Result<(), Status> {
        match given.update {
            Some(StreamRequest::Arbitration(update)) => {
                let primary = self.hub.arbitrate(id, update)?;
                if !primary.is_empty() {
                    // Waits until the previous primary's writes are done.
                    drop(self.core.lock().await);
                    self.hub.confirm(&primary);
                }
            }
            Some(StreamRequest::Packet(packet)) => {
                let copy = packet.clone();
                if let Err(failure) = self.packet_out(id, packet) {
                    let details = p4::PacketOutError { packet_out: Some(copy) };
                    self.complain(id, failure, Details::PacketOut(details));
                }
            }
            Some(StreamRequest::DigestAck(ack)) => {
                if let Err(failure) = self.acknowledged(id, &ack) {
                    let details = p4::DigestListAckError { digest_list_ack: Some(ack) };
                    self.complain(id, failure, Details::DigestListAck(details));
                }
            }
            Some(StreamRequest::Other(other)) => {
                let why = format!("no message of type `{}` is known here", other.type_url);
                let details = p4::StreamOtherError { other: Some(other) };
                self.complain(id, Failure::unimplemented(why), Details::Other(details));
            }
            None => {
                let details = Details::Other(p4::StreamOtherError::default());
                self.complain(id, Failure::invalid("a message without content"), details);
            }
        }
        Ok(())
    }

    fn complain(&self, id: u64, failure: Failure, details: Details) {
        let p4::Error { canonical_code, message, space, .. } = failure.detail();
        let details = Some(details);
        let error = p4::StreamError { canonical_code, message, space, code: 0, details };
        self.hub.send(id, StreamResponse::Error(error));
    }

    fn packet_out(&self, id: u64, packet: p4::PacketOut) -> Result<(), Failure> {
        self.hub.require_primary(id)?;
        let set = self.running().ok_or_else(no_pipeline)?;
        if self.settings.cpu.is_none() {
            return Err(Failure::unimplemented("this switch has no port for its controller"));
        }
        let header = &set.pipeline.schema.packet_out;
        let frame = packets::frame(header, packet, &mut locked(&set.store))?;
        if self.device.packet_out(frame) {
            return Ok(());
        }
        Err(Failure::new(Code::ResourceExhausted, "too many packets wait to enter the switch"))
    }

    fn acknowledged(&self, id: u64, ack: &p4::DigestListAck) -> Result<(), Failure> {
        self.hub.require_primary(id)?;
        let set = self.running().ok_or_else(no_pipeline)?;
        if !set.pipeline.schema.digests.contains_key(&ack.digest_id) {
            let why = format!("there is no digest {:#x}", ack.digest_id);
            return Err(Failure::invalid(why));
        }
        locked(&self.digests).acknowledge(ack.digest_id, ack.list_id);
        Ok(())
    }

    /// Handles a frame from the switch's controller port.
    pub fn packet_in(&self, frame: &[u8]) {
        let Some(set) = self.running() else { return };
        let header = &set.pipeline.schema.packet_in;
        let Some(packet) = packets::message(header, frame, &locked(&set.store)) else { return };
        let copy = packet.clone();
        self.hub.send_to_primaries(StreamResponse::Packet(packet), |access| {
            access.is_none_or(|access| access.wants(&copy))
        });
    }

    /// Polls digests and idle entries; returns the time until the next poll.
    ///
    /// # Errors
    /// The switch has ended.
    pub async fn poll(&self) -> Result<Duration, Failure> {
        let Some(set) = self.running() else { return Ok(POLL_PERIOD) };
        let schema = &set.pipeline.schema;
        if schema.digests.is_empty() && !schema.tables.values().any(|table| table.idle_timeout) {
            return Ok(POLL_PERIOD);
        }
        let asked = self.at_running(&set, |schema, store, switch, now| {
            let digests = match control::program(switch) {
                Ok(program) if !schema.digests.is_empty() => program.take_digests(),
                _ => Vec::new(),
            };
            (digests, idle(schema, store, switch, now), store.digests.clone(), now)
        });
        let (digests, (idle, seen), configs, now) = asked.await?;
        let mut lists = Vec::new();
        {
            let mut gathered = locked(&self.digests);
            for digest in digests {
                let of = |id: &&u32| {
                    schema.digests.get(id).is_some_and(|known| known.name == *digest.name)
                };
                let Some(id) = configs.keys().find(of) else { continue };
                let list = gathered.push(*id, &configs[id], &digest.bytes, digest.at);
                lists.extend(list);
            }
            lists.extend(gathered.due(&configs, now));
        }
        for list in lists {
            self.say_list(schema, list, now);
        }
        for (table, entries) in idle {
            let timestamp = self.time_stamp(now);
            let notification = p4::IdleTimeoutNotification { table_entry: entries, timestamp };
            self.hub.send_to_primaries(
                StreamResponse::IdleTimeoutNotification(notification),
                |access| access.is_none_or(|access| access.has(table)),
            );
        }
        // Polling many entries takes time: at most a hundredth of the interval.
        Ok(POLL_PERIOD.max(Duration::from_micros(10 * seen as u64)))
    }

    fn say_list(&self, schema: &Schema, List { digest, list, messages }: List, now: Time) {
        let Some(known) = schema.digests.get(&digest) else { return };
        let data = messages.iter().map(|message| known.leaf.encode_bits(message)).collect();
        let timestamp = self.time_stamp(now);
        let list = p4::DigestList { digest_id: digest, list_id: list, data, timestamp };
        self.hub.send_to_primaries(StreamResponse::Digest(list), |access| {
            access.is_none_or(|access| access.has(digest))
        });
    }

    /// Polls the links of the ports.
    async fn look_at_links(&self, before: &mut BTreeSet<u16>) -> Result<(), Failure> {
        let down = self.device.down();
        if down == *before {
            return Ok(());
        }
        before.clone_from(&down);
        let Some(set) = self.running() else { return Ok(()) };
        let cpu = self.settings.cpu;
        self.at_running(&set, move |schema, store, switch, now| {
            store.down = down;
            write::reroute((schema, store), (switch, now), cpu)
        })
        .await?
    }

    /// Forwards the switch's own events until the switch ends.
    pub async fn attend(self: Arc<Self>, mut packets: mpsc::Receiver<Vec<u8>>) {
        let (mut each, mut looks, mut down) = (POLL_PERIOD, 0_u32, BTreeSet::new());
        loop {
            match tokio::time::timeout(each, packets.recv()).await {
                Ok(Some(frame)) => {
                    self.packet_in(&frame);
                    while let Ok(frame) = packets.try_recv() {
                        self.packet_in(&frame);
                    }
                    continue;
                }
                Ok(None) => return,
                Err(_) => {}
            }
            each = self.poll().await.unwrap_or(POLL_PERIOD);
            looks = looks.wrapping_add(1);
            if looks.is_multiple_of(POLLS_PER_LINK_POLL) {
                // Errors are ignored: a controller's write was validated when it arrived.
                let _ = self.look_at_links(&mut down).await;
            }
        }
    }
}

/// A message of the answer to a read.
type Message2 = Result<p4::ReadResponse, Status>;

/// Update that writes an entity into a switch with empty tables.
fn again(entity: p4::Entity) -> Option<p4::Update> {
    let kind = match &entity.entity {
        Some(Entity::TableEntry(entry)) if entry.is_const => return None,
        Some(Entity::TableEntry(entry)) if entry.is_default_action => Type::Modify,
        Some(
            Entity::CounterEntry(_)
            | Entity::MeterEntry(_)
            | Entity::RegisterEntry(_)
            | Entity::ValueSetEntry(_),
        ) => Type::Modify,
        _ => Type::Insert,
    };
    Some(p4::Update { r#type: kind.into(), entity: Some(entity) })
}

/// Idle entries by table, with their clocks restarted, and the number of entries examined.
fn idle(
    schema: &Schema,
    store: &mut Store,
    switch: &mut Switch,
    now: Time,
) -> (Vec<(u32, Vec<p4::TableEntry>)>, usize) {
    let (mut found, mut seen) = (Vec::new(), 0);
    for table in schema.tables.values().filter(|table| table.idle_timeout) {
        let mut over = Vec::new();
        for (handle, extras) in store.extras_of(table.id) {
            seen += 1;
            if extras.idle_timeout <= 0 {
                continue;
            }
            let since = last_hit(switch, &table.name, handle).unwrap_or_default();
            if now.0.saturating_sub(since.max(extras.since).0) >= extras.idle_timeout as u64 {
                over.push(handle);
            }
        }
        let mut entries = Vec::with_capacity(over.len());
        for handle in over {
            let Some(extras) = store.extras_mut(table.id, handle) else { continue };
            extras.since = now;
            entries.push(p4::TableEntry {
                table_id: table.id,
                r#match: extras.matches.clone(),
                priority: extras.priority,
                controller_metadata: extras.controller_metadata,
                metadata: extras.metadata.clone(),
                idle_timeout_ns: extras.idle_timeout,
                ..p4::TableEntry::default()
            });
        }
        if !entries.is_empty() {
            found.push((table.id, entries));
        }
    }
    (found, seen)
}

/// The server as a gRPC service.
#[derive(Clone)]
pub struct Service(pub Arc<Server>);

#[tonic::async_trait]
impl P4Runtime for Service {
    type StreamChannelStream = ReceiverStream<Message>;
    type ReadStream = ReceiverStream<Message2>;

    async fn write(
        &self,
        request: Request<p4::WriteRequest>,
    ) -> Result<Response<p4::WriteResponse>, Status> {
        let _turn = self.0.device.admit().await;
        self.0.write_all(request.into_inner()).await?;
        Ok(Response::new(p4::WriteResponse {}))
    }

    async fn read(
        &self,
        request: Request<p4::ReadRequest>,
    ) -> Result<Response<Self::ReadStream>, Status> {
        let _turn = self.0.device.admit().await;
        let messages = self.0.read_all(request.into_inner()).await?;
        let (sender, receiver) = mpsc::channel(4);
        tokio::spawn(async move {
            for message in messages {
                // A client that has disconnected is not waited for.
                if sender.send(message).await.is_err() {
                    return;
                }
            }
        });
        Ok(Response::new(ReceiverStream::new(receiver)))
    }

    async fn set_forwarding_pipeline_config(
        &self,
        request: Request<p4::SetForwardingPipelineConfigRequest>,
    ) -> Result<Response<p4::SetForwardingPipelineConfigResponse>, Status> {
        let _turn = self.0.device.admit().await;
        let given = request.into_inner();
        let election = given.election_id.as_ref();
        let access = self.0.hub.check(given.device_id, &given.role, election)?;
        if access.is_some_and(|access| !access.sets_pipeline) {
            return Err(Status::permission_denied("the controller's role sets no pipeline"));
        }
        self.0.set_pipeline(given).await?;
        Ok(Response::new(p4::SetForwardingPipelineConfigResponse {}))
    }

    async fn get_forwarding_pipeline_config(
        &self,
        request: Request<p4::GetForwardingPipelineConfigRequest>,
    ) -> Result<Response<p4::GetForwardingPipelineConfigResponse>, Status> {
        let _turn = self.0.device.admit().await;
        let given = request.into_inner();
        self.0.hub.is_device(given.device_id)?;
        let wanted = given.response_type();
        let config = self.0.running().map(|set| {
            let mut config = set.pipeline.config.clone();
            if !matches!(wanted, ResponseType::All | ResponseType::P4infoAndCookie) {
                config.p4info = None;
            }
            if !matches!(wanted, ResponseType::All | ResponseType::DeviceConfigAndCookie) {
                config.p4_device_config.clear();
            }
            config
        });
        Ok(Response::new(p4::GetForwardingPipelineConfigResponse { config }))
    }

    async fn stream_channel(
        &self,
        request: Request<Streaming<p4::StreamMessageRequest>>,
    ) -> Result<Response<Self::StreamChannelStream>, Status> {
        let (id, receiver) = self.0.hub.open()?;
        let mut asked = request.into_inner();
        let server = self.0.clone();
        tokio::spawn(async move {
            let why = loop {
                match asked.message().await {
                    Ok(Some(message)) => {
                        let _turn = server.device.admit().await;
                        if let Err(status) = server.on_message(id, message).await {
                            break Some(status);
                        }
                    }
                    Ok(None) | Err(_) => break None,
                }
            };
            server.hub.close(id, why);
        });
        debug_assert!(receiver.max_capacity() == QUEUE_LENGTH);
        Ok(Response::new(ReceiverStream::new(receiver)))
    }

    async fn capabilities(
        &self,
        request: Request<p4::CapabilitiesRequest>,
    ) -> Result<Response<p4::CapabilitiesResponse>, Status> {
        let _turn = self.0.device.admit().await;
        let device = request.into_inner().device_id;
        if device != 0 {
            self.0.hub.is_device(device)?;
        }
        let p4runtime_api_version = VERSION.to_owned();
        Ok(Response::new(p4::CapabilitiesResponse {
            p4runtime_api_version,
            ..p4::CapabilitiesResponse::default()
        }))
    }
}

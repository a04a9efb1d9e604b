//! The service: each call as it comes from the wire, checked, put to the switch, answered.

use super::clients::{Clients, Message, Stream, WAITING, say};
use super::fields::{Datum, exact_key_read, key_read, learned};
use super::fixed::{self, Fixed};
use super::idle::{Became, Idle};
use super::read::{Cursor, Reader};
use super::schema::{Kind, Schema};
use super::store::{Entry, Store};
use super::write;
use crate::device::{Device, Work};
use crate::failure::{Failure, status};
use crate::wire::bfrt_proto as bfrt;
use crate::wire::bfrt_proto::bf_runtime_server::BfRuntime;
use crate::wire::bfrt_proto::entity::Entity;
use crate::wire::bfrt_proto::set_forwarding_pipeline_config_request::Action;
use crate::wire::bfrt_proto::stream_message_request::Update as Asks;
use crate::wire::bfrt_proto::stream_message_response::Update as Says;
use crate::wire::bfrt_proto::write_request::Atomicity;
use crate::wire::google::rpc;
use sojourn_engine::control;
use sojourn_packet::Time;
use sojourn_switch::Switch;
use sojourn_targets::Program;
use sojourn_targets::control::{ProfileEntries, Query, Reply};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{Mutex as Turn, mpsc, oneshot};
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Code, Request, Response, Status, Streaming};

/// Updates that are carried out between two packets, where they need not be one.
const TOGETHER: usize = 64;
/// Entities in one message of an answer.
const ENTITIES: usize = 512;
/// How often digests are looked at.
const EACH: Duration = Duration::from_millis(10);
/// How many looks there are between two at the links.
const LINKS: u32 = 10;
/// What the details of a status are.
const ERROR: &str = "bfrt_proto.Error";
/// Messages to clients in one list.
const LIST: usize = 1_024;

/// The server.
pub struct Server {
    device: Arc<dyn Device>,
    /// The number of the device.
    number: u32,
    program: Arc<Program>,
    schema: Arc<Schema>,
    store: Arc<Mutex<Store>>,
    clients: Clients,
    /// One request at a time.
    turn: Turn<()>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn gone() -> Failure {
    Failure::new(Code::Unavailable, "the switch runs no longer")
}

impl Server {
    /// A server in front of a switch that runs a program.
    ///
    /// # Errors
    /// No other switch like that one can be made, from which it is known what registers begin with.
    pub fn new(
        device: Arc<dyn Device>,
        number: u32,
        program: Arc<Program>,
    ) -> Result<Arc<Server>, String> {
        let mut schema = Schema::of(&program);
        let mut fresh = device.build(&program)?;
        for table in schema.tables.values_mut() {
            if let Kind::Register(first) = &mut table.kind {
                let query = Query::Register { name: table.inner.clone(), index: 0 };
                if let Ok(Reply::Register(words)) = control::read(&mut fresh, &query) {
                    *first = words.into_iter().map(|word| word.0).collect();
                }
            }
        }
        let (schema, store) = (Arc::new(schema), Arc::new(Mutex::new(Store::default())));
        let (known, kept) = (schema.clone(), store.clone());
        // What the switch was started with; a switch that is gone has nothing.
        device.submit(Box::new(move |switch, _| begin(&known, &mut locked(&kept), switch)));
        let (clients, turn) = (Clients::default(), Turn::new(()));
        Ok(Arc::new(Server { device, number, program, schema, store, clients, turn }))
    }

    /// Does something with the switch and what clients have said of it.
    async fn at<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Schema, &mut Store, &mut Switch, Time) -> T + Send + 'static,
    ) -> Result<T, Failure> {
        let (answer, answered) = oneshot::channel();
        let (schema, store) = (self.schema.clone(), self.store.clone());
        let work: Work = Box::new(move |switch, now| {
            // Who asked may have gone.
            let _ = answer.send(work(&schema, &mut locked(&store), switch, now));
        });
        if !self.device.submit(work) {
            return Err(gone());
        }
        answered.await.map_err(|_| gone())
    }

    /// That a request is about this device and program, and comes from somebody who may ask.
    fn check(
        &self,
        target: Option<&bfrt::TargetDevice>,
        client: u32,
        p4_name: &str,
    ) -> Result<bfrt::TargetDevice, Failure> {
        let target = target.copied().unwrap_or(bfrt::TargetDevice {
            device_id: self.number,
            pipe_id: write::ALL_PIPES,
            ..Default::default()
        });
        self.is_device(target.device_id)?;
        match p4_name {
            "" => self.clients.is_bound(client)?,
            name => self.is_program(name)?,
        }
        Ok(target)
    }

    fn is_device(&self, device: u32) -> Result<(), Failure> {
        if device == self.number {
            return Ok(());
        }
        let why = format!("there is no device {device}; this is device {}", self.number);
        Err(Failure::new(Code::NotFound, why))
    }

    fn is_program(&self, name: &str) -> Result<(), Failure> {
        if name == self.schema.name {
            return Ok(());
        }
        let why = format!("no program `{name}` runs here, but `{}`", self.schema.name);
        Err(Failure::new(Code::NotFound, why))
    }

    async fn write_all(
        &self,
        given: bfrt::WriteRequest,
        lenient: bool,
    ) -> Result<Vec<write::Done>, Failure> {
        let target = self.check(given.target.as_ref(), given.client_id, &given.p4_name)?;
        let _turn = self.turn.lock().await;
        let pieces = given.atomicity() == Atomicity::ContinueOnError;
        let count = given.updates.len();
        let updates = Arc::new(given.updates);
        let together = if pieces { TOGETHER } else { count.max(1) };
        let mut results = Vec::with_capacity(count);
        for from in (0..count).step_by(together) {
            let updates = updates.clone();
            let done = self.at(move |schema, store, switch, now| {
                let some = &updates[from..(from + together).min(updates.len())];
                match pieces {
                    true => write::each((schema, store), (switch, now), some, &target),
                    false => write::all((schema, store), (switch, now), some, &target, lenient),
                }
            });
            results.extend(done.await?);
        }
        Ok(results)
    }

    async fn read_all(&self, given: bfrt::ReadRequest) -> Result<Answer, Failure> {
        let target = self.check(given.target.as_ref(), given.client_id, &given.p4_name)?;
        let _turn = self.turn.lock().await;
        let down = Arc::new(self.down(&given.entities));
        let (mut messages, mut waiting, mut results) = (Vec::new(), Vec::new(), Vec::new());
        for entity in given.entities {
            let mut result = Ok(());
            let mut left = Some(Cursor::new(entity));
            while let Some(cursor) = left.take() {
                let down = down.clone();
                let done = self.at(move |schema, store, switch, now| {
                    let (down, target) = (&*down, &target);
                    let mut reader = Reader { schema, store, switch, down, now, target };
                    let mut some = Vec::new();
                    reader.read(cursor, &mut some).map(|left| (left, some))
                });
                match done.await? {
                    Ok((next, some)) => {
                        left = next;
                        waiting.extend(some);
                    }
                    Err(failure) => result = Err(failure),
                }
                while waiting.len() >= ENTITIES {
                    let rest = waiting.split_off(ENTITIES);
                    let entities = std::mem::replace(&mut waiting, rest);
                    messages.push(bfrt::ReadResponse { entities, status: Vec::new() });
                }
            }
            results.push(result);
        }
        if !waiting.is_empty() {
            messages.push(bfrt::ReadResponse { entities: waiting, status: Vec::new() });
        }
        Ok(Answer { messages, results })
    }

    /// Ports that are down, if anybody asks for ports.
    fn down(&self, asked: &[bfrt::Entity]) -> BTreeSet<u16> {
        let is_port = |entity: &bfrt::Entity| match &entity.entity {
            Some(Entity::TableEntry(entry)) => {
                let table = self.schema.tables.get(&entry.table_id);
                table.is_some_and(|table| table.kind == Kind::Fixed(Fixed::Port))
            }
            _ => false,
        };
        match asked.iter().any(is_port) {
            true => self.device.down(),
            false => BTreeSet::new(),
        }
    }

    /// A message of a stream.
    fn hear(&self, stream: &Stream, given: bfrt::StreamMessageRequest) {
        // An acknowledgement says nothing that is to be done: nothing is kept until it comes.
        let Some(Asks::Subscribe(asked)) = given.update else { return };
        let wants = asked.notifications.unwrap_or_default();
        let done = self.is_device(asked.device_id);
        let done = done.and_then(|()| self.clients.subscribe(given.client_id, wants, stream));
        let (code, message) = match done {
            Ok(()) => (Code::Ok, String::new()),
            Err(failure) => (failure.code, failure.why),
        };
        let status = Some(rpc::Status { code: code as i32, message, details: Vec::new() });
        say(stream, Says::Subscribe(bfrt::Subscribe { status, ..asked }));
    }

    async fn set_pipeline(
        &self,
        given: bfrt::SetForwardingPipelineConfigRequest,
    ) -> Result<(), Failure> {
        let (action, client) = (given.action(), given.client_id);
        // Who binds names the program alone; the device is the one that the client has subscribed to.
        if action != Action::Bind {
            self.is_device(given.device_id)?;
        }
        let config = given.config.first();
        let config = config.ok_or_else(|| Failure::invalid("no program is named"))?;
        self.is_program(&config.p4_name)?;
        if action == Action::Bind {
            return self.clients.bind(client);
        }
        self.clients.is_bound(client)?;
        match action {
            Action::Verify => Ok(()),
            Action::VerifyAndWarmInitBeginAndEnd => {
                self.begin_anew().await?;
                for done in [0, 1] {
                    let told = bfrt::SetForwardingPipelineConfigResponse {
                        set_forwarding_pipeline_config_response_type: done,
                    };
                    self.clients.say(client, Says::SetForwardingPipelineConfigResponse(told));
                }
                Ok(())
            }
            _ => {
                let why = "a program is set in one step (VERIFY_AND_WARM_INIT_BEGIN_AND_END)";
                Err(Failure::unimplemented(why))
            }
        }
    }

    /// The program as it is at first, in a switch at rest.
    async fn begin_anew(&self) -> Result<(), Failure> {
        let _turn = self.turn.lock().await;
        let (device, program) = (self.device.clone(), self.program.clone());
        let built = tokio::task::spawn_blocking(move || device.build(&program)).await;
        let built = built.map_err(|error| Failure::new(Code::Internal, error))?;
        let mut fresh = built.map_err(|error| Failure::new(Code::Internal, error))?;
        self.at(move |schema, store, switch, now| {
            fresh.advance(now);
            *switch = fresh;
            *store = Store::default();
            begin(schema, store, switch);
        })
        .await
    }

    /// Hands on what comes from the switch by itself, until it is gone.
    pub async fn attend(self: Arc<Self>) {
        let (mut looks, mut down) = (0_u32, self.device.down());
        loop {
            tokio::time::sleep(EACH).await;
            if self.look().await.is_err() {
                return;
            }
            looks = looks.wrapping_add(1);
            if looks.is_multiple_of(LINKS) {
                self.look_at_links(&mut down);
                if self.look_at_idle_entries().await.is_err() {
                    return;
                }
            }
        }
    }

    /// Looks at digests, if anybody wants them.
    async fn look(&self) -> Result<(), Failure> {
        let wanted = |wants: &bfrt::subscribe::Notifications| wants.enable_learn_notifications;
        if self.schema.learns.is_empty() || !self.clients.anybody(wanted) {
            return Ok(());
        }
        let digests = self.at(|_, _, switch, _| {
            control::program(switch).map(|program| program.take_digests()).unwrap_or_default()
        });
        let mut lists: BTreeMap<u32, Vec<bfrt::TableData>> = BTreeMap::new();
        for digest in digests.await? {
            let mut all = self.schema.learns.values();
            if let Some(learn) = all.find(|learn| learn.inner == *digest.name) {
                let list = lists.entry(learn.id).or_default();
                list.push(learned(&learn.fields, &digest.bytes));
            }
        }
        let target = bfrt::TargetDevice { device_id: self.number, ..Default::default() };
        for (id, list) in lists {
            for data in list.chunks(LIST) {
                let list = bfrt::DigestList {
                    digest_id: id,
                    list_id: 0,
                    data: data.to_vec(),
                    target: Some(target),
                };
                self.clients.say_to(&Says::Digest(list), wanted);
            }
        }
        Ok(())
    }

    /// Looks at entries that nothing has hit for as long as they may be idle.
    async fn look_at_idle_entries(&self) -> Result<(), Failure> {
        let is_noted = |idle: &Idle| idle.enabled && !idle.polled;
        if !locked(&self.store).idle.values().any(is_noted) {
            return Ok(());
        }
        let target = bfrt::TargetDevice { device_id: self.number, ..Default::default() };
        for (table_entry, became) in self.at(idle_entries).await? {
            use bfrt::idle_timeout_notification::NotificationType;
            let told = |kind: NotificationType| {
                Says::IdleTimeoutNotification(bfrt::IdleTimeoutNotification {
                    target: Some(target),
                    table_entry: Some(table_entry.clone()),
                    r#type: kind as i32,
                })
            };
            match became {
                Became::Idle => self.clients.say_to(&told(NotificationType::EntryIdle), |wants| {
                    wants.enable_idletimeout_notifications
                }),
                Became::Active => {
                    self.clients.say_to(&told(NotificationType::EntryActive), |wants| {
                        wants.enable_entry_active_notifications
                    });
                }
            }
        }
        Ok(())
    }

    /// Looks at the links of the ports.
    fn look_at_links(&self, before: &mut BTreeSet<u16>) {
        let down = self.device.down();
        let changed: Vec<u16> = down.symmetric_difference(before).copied().collect();
        let mut all = self.schema.tables.values();
        let table = all.find(|table| table.kind == Kind::Fixed(Fixed::Port));
        if let Some(table) = table.filter(|_| locked(&self.store).tells_ports) {
            for port in changed {
                let key = exact_key_read(table, &[u64::from(port)]);
                let table_entry = bfrt::TableEntry {
                    table_id: table.id,
                    value: Some(bfrt::table_entry::Value::Key(key)),
                    ..Default::default()
                };
                let told = bfrt::PortStatusChgNotification {
                    table_entry: Some(table_entry),
                    port_up: !down.contains(&port),
                };
                self.clients.say_to(&Says::PortStatusChangeNotification(told), |wants| {
                    wants.enable_port_status_change_notifications
                });
            }
        }
        *before = down;
    }
}

/// Entries that have become idle, or are no longer, by their keys.
fn idle_entries(
    schema: &Schema,
    store: &mut Store,
    switch: &mut Switch,
    now: Time,
) -> Vec<(bfrt::TableEntry, Became)> {
    let mut found = Vec::new();
    for (id, idle) in store.idle.iter_mut().filter(|(_, idle)| idle.enabled && !idle.polled) {
        let Some(table) = schema.tables.get(id) else { continue };
        for handle in idle.handles() {
            let hit = write::last_hit(switch, &table.inner, handle);
            let Some(became) = idle.entry(handle).and_then(|aged| aged.look(hit, now)) else {
                continue;
            };
            let query = Query::Page { table: table.inner.clone(), from: handle, most: 1 };
            let page = match control::read(switch, &query) {
                Ok(Reply::Page { page, .. }) => page,
                _ => Vec::new(),
            };
            let Some(read) = page.into_iter().find(|read| read.handle == handle) else {
                idle.forget(handle);
                continue;
            };
            let key = key_read(table, &read.entry.matches, read.entry.priority);
            let value = Some(bfrt::table_entry::Value::Key(key));
            let entry = bfrt::TableEntry { table_id: *id, value, ..Default::default() };
            found.push((entry, became));
        }
    }
    found
}

/// Members and groups that are in the switch are there for clients, too.
fn begin(schema: &Schema, store: &mut Store, switch: &mut Switch) {
    for table in schema.tables.values().filter(|table| table.has_idle_times()) {
        if let Ok(program) = control::program(switch)
            && let Ok(id) = program.tables().find(&table.inner)
        {
            program.note_hits(id);
        }
    }
    for table in schema.tables.values() {
        if !matches!(table.kind, Kind::Members | Kind::Groups) {
            continue;
        }
        let query = Query::Profile { name: table.inner.clone() };
        let Ok(Reply::Profile(ProfileEntries { members, groups, .. })) =
            control::read(switch, &query)
        else {
            continue;
        };
        if table.kind == Kind::Groups {
            for (group, members) in groups {
                let (ids, states) = members.into_iter().unzip();
                let row = [
                    (super::document::field::ACTION_MEMBER_ID, Datum::Numbers(ids)),
                    (super::document::field::MEMBER_STATUS, Datum::Bools(states)),
                ];
                let entry = Entry { action: 0, row: row.into() };
                store.set(table.id, vec![u64::from(group)], Some(entry));
            }
            continue;
        }
        for member in members {
            let Some(action) = table.action_called(&member.action) else { continue };
            let value = |field: &super::schema::Field| {
                Some((field.id, Datum::Number(member.args.get(&field.inner)?.0.clone())))
            };
            let row = action.fields.iter().filter_map(value).collect();
            let entry = Entry { action: action.id, row };
            store.set(table.id, vec![u64::from(member.id)], Some(entry));
        }
    }
}

/// What came of an update.
type Failed = Result<(), Failure>;

/// What was read, and what came of each request.
struct Answer {
    messages: Vec<bfrt::ReadResponse>,
    results: Vec<Failed>,
}

/// Errors as elements of an answer.
fn listed(results: &[Failed]) -> Vec<bfrt::Error> {
    let one = |result: &Failed| match result {
        Ok(()) => bfrt::Error::default(),
        Err(failure) => {
            let detail = failure.detail();
            bfrt::Error {
                canonical_code: detail.canonical_code,
                message: detail.message,
                space: detail.space,
                ..Default::default()
            }
        }
    };
    results.iter().map(one).collect()
}

/// Whether a client asks for something beside its request.
fn asks<T>(request: &Request<T>, what: &str) -> bool {
    request.metadata().get(what).is_some_and(|value| value.as_bytes() == b"1")
}

/// The server as the wire sees it.
#[derive(Clone)]
pub struct Service(pub Arc<Server>);

#[tonic::async_trait]
impl BfRuntime for Service {
    type ReadStream = ReceiverStream<Result<bfrt::ReadResponse, Status>>;
    type StreamChannelStream = ReceiverStream<Message>;

    async fn write(
        &self,
        request: Request<bfrt::WriteRequest>,
    ) -> Result<Response<bfrt::WriteResponse>, Status> {
        let listed_here = asks(&request, "error_in_resp");
        let lenient = asks(&request, "ignore_not_found");
        let results = self.0.write_all(request.into_inner(), lenient).await?;
        let severe = |result: &write::Done| match result {
            Err(failure) if lenient && failure.code == Code::NotFound => Ok(()),
            Err(failure) => Err(failure.clone()),
            Ok(_) => Ok(()),
        };
        // Who fails hears of it by the status, listed or not, as from the vendor's server.
        status(&results.iter().map(severe).collect::<Vec<_>>(), ERROR)?;
        let note = |result: &write::Done| match result {
            Ok(noted) => bfrt::Error { code: *noted as i32, ..Default::default() },
            Err(failure) => bfrt::Error {
                code: failure.code as i32,
                message: failure.why.clone(),
                ..Default::default()
            },
        };
        let list = if listed_here { results.iter().map(note).collect() } else { Vec::new() };
        Ok(Response::new(bfrt::WriteResponse { status: list }))
    }

    async fn read(
        &self,
        request: Request<bfrt::ReadRequest>,
    ) -> Result<Response<Self::ReadStream>, Status> {
        let listed_here = asks(&request, "error_in_resp");
        let Answer { mut messages, results } = self.0.read_all(request.into_inner()).await?;
        let mut end = None;
        if listed_here {
            messages.push(bfrt::ReadResponse { entities: Vec::new(), status: listed(&results) });
        } else {
            end = status(&results, ERROR).err();
        }
        let (sender, receiver) = mpsc::channel(4);
        tokio::spawn(async move {
            let all = messages.into_iter().map(Ok).chain(end.map(Err));
            for message in all {
                // One that takes no more is not waited for.
                if sender.send(message).await.is_err() {
                    return;
                }
            }
        });
        Ok(Response::new(ReceiverStream::new(receiver)))
    }

    async fn set_forwarding_pipeline_config(
        &self,
        request: Request<bfrt::SetForwardingPipelineConfigRequest>,
    ) -> Result<Response<bfrt::SetForwardingPipelineConfigResponse>, Status> {
        self.0.set_pipeline(request.into_inner()).await?;
        Ok(Response::new(bfrt::SetForwardingPipelineConfigResponse::default()))
    }

    async fn get_forwarding_pipeline_config(
        &self,
        request: Request<bfrt::GetForwardingPipelineConfigRequest>,
    ) -> Result<Response<bfrt::GetForwardingPipelineConfigResponse>, Status> {
        self.0.is_device(request.into_inner().device_id)?;
        let schema = &self.0.schema;
        let config = bfrt::ForwardingPipelineConfig {
            p4_name: schema.name.clone(),
            bfruntime_info: schema.document.clone(),
            profiles: Vec::new(),
        };
        let fixed = fixed::document().to_string().into_bytes();
        Ok(Response::new(bfrt::GetForwardingPipelineConfigResponse {
            config: vec![config],
            non_p4_config: Some(bfrt::NonP4Config { bfruntime_info: fixed }),
        }))
    }

    async fn stream_channel(
        &self,
        request: Request<Streaming<bfrt::StreamMessageRequest>>,
    ) -> Result<Response<Self::StreamChannelStream>, Status> {
        let mut asked = request.into_inner();
        let (sender, receiver) = mpsc::channel(WAITING);
        let server = self.0.clone();
        tokio::spawn(async move {
            while let Ok(Some(message)) = asked.message().await {
                server.hear(&sender, message);
            }
            server.clients.gone(&sender);
        });
        Ok(Response::new(ReceiverStream::new(receiver)))
    }
}

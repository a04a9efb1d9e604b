//! BfRt service: validates each call, executes it on the switch, and answers.

use super::clients::{Clients, Message, QUEUE_LENGTH, Stream};
use super::device_tables::{self, Fixed};
use super::fields::{Datum, exact_key_read, key_read, learned};
use super::idle::{Idle, IdleChange};
use super::pipe_scope::Scope;
use super::pipeline::{self, Pending, Programs};
use super::read::{Cursor, Reader, place_of_handle};
use super::schema::{Kind, Schema};
use super::store::{Entry, Store};
use super::write;
use crate::device::{Device, Placed, Work};
use crate::failure::{Failure, status};
use crate::wire::bfrt_proto as bfrt;
use crate::wire::bfrt_proto::SetForwardingPipelineConfigResponseType as Told;
use crate::wire::bfrt_proto::bf_runtime_server::BfRuntime;
use crate::wire::bfrt_proto::entity::Entity;
use crate::wire::bfrt_proto::set_forwarding_pipeline_config_request::{Action, DevInitMode};
use crate::wire::bfrt_proto::stream_message_request::Update as StreamRequest;
use crate::wire::bfrt_proto::stream_message_response::Update as StreamResponse;
use crate::wire::bfrt_proto::write_request::Atomicity;
use crate::wire::google::rpc;
use sojourn_control::{ProfileEntries, Query, Reply};
use sojourn_engine::control::{self, Pipes};
use sojourn_packet::Time;
use sojourn_switch::{PortId, Switch};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{Mutex as Turn, mpsc, oneshot};
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Code, Request, Response, Status, Streaming};

/// Maximum number of updates executed between two packets, unless they are one.
const MAX_BATCH: usize = 64;
/// Maximum number of entities in one message of an answer.
const ENTITIES: usize = 512;
/// Polling interval for digests.
const POLL_PERIOD: Duration = Duration::from_millis(10);
/// Number of polls between two polls of the links.
const POLLS_PER_LINK_POLL: u32 = 10;
/// Type name of a status's details.
const ERROR: &str = "bfrt_proto.Error";
/// Maximum number of digest messages in one list.
const LIST: usize = 1_024;

/// The server.
pub struct Server {
    device: Arc<dyn Device>,
    /// The number of the device.
    number: u32,
    running: Mutex<Programs>,
    /// Configuration to activate at the end of a warm initialisation.
    pending: Arc<Mutex<Option<Pending>>>,
    /// Client state of each program; the fixed tables, shared by all programs, are in the first.
    stores: Arc<Mutex<Vec<Store>>>,
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
    /// Notifications lost because clients read too slowly.
    pub fn missed(&self) -> Arc<AtomicU64> {
        self.clients.missed().clone()
    }

    /// Number of messages sent to clients on their streams.
    pub fn sent(&self) -> u64 {
        self.clients.sent()
    }

    /// Creates a server for a switch that runs these programs.
    ///
    /// # Errors
    /// No switch like the given one can be built, from which the initial values of registers are
    /// read.
    pub fn new(
        device: Arc<dyn Device>,
        number: u32,
        programs: Vec<Placed>,
    ) -> Result<Arc<Server>, String> {
        let wanted = programs.into_iter().map(|placed| (placed, None)).collect();
        let (running, _) = pipeline::make(wanted, &*device)?;
        let stores = Arc::new(Mutex::new(vec![Store::default(); running.len()]));
        let (known, kept) = (running.clone(), stores.clone());
        // Reads the switch's initial configuration; a switch that has ended has none.
        device.submit(Box::new(move |switch, _| begin(&known, &mut locked(&kept), switch)));
        let (clients, turn) = (Clients::default(), Turn::new(()));
        let (running, pending) = (Mutex::new(running), Arc::default());
        Ok(Arc::new(Server { device, number, running, pending, stores, clients, turn }))
    }

    /// Programs that requests refer to: the pending ones during a warm initialisation, else the
    /// running ones.
    fn current_programs(&self) -> Programs {
        let pending = locked(&self.pending).as_ref().map(|pending| pending.running.clone());
        pending.unwrap_or_else(|| locked(&self.running).clone())
    }

    /// Schema of a program, by its index among those that requests refer to.
    fn schema(&self, of: usize) -> Result<Arc<Schema>, Failure> {
        let program = self.current_programs().into_iter().nth(of);
        // Other programs may have been activated meanwhile.
        program.map(|program| program.schema).ok_or_else(gone)
    }

    /// Executes work on the switch and the client state of one of its programs.
    async fn at<T: Send + 'static>(
        &self,
        of: usize,
        work: impl FnOnce(&Schema, &mut Store, &mut Switch, Time) -> T + Send + 'static,
    ) -> Result<T, Failure> {
        let (answer, answered) = oneshot::channel();
        let (schema, stores, pending) =
            (self.schema(of)?, self.stores.clone(), self.pending.clone());
        let work: Work = Box::new(move |switch, now| {
            let mut work = Some(work);
            let mut done = |stores: &mut Vec<Store>, switch: &mut Switch| {
                with_store(stores, of, |store| {
                    work.take().map(|work| work(&schema, store, switch, now))
                })
            };
            let done = match &mut *locked(&pending) {
                Some(Pending { switch, stores, .. }) => done(stores, switch),
                None => done(&mut locked(&stores), switch),
            };
            // The caller may have dropped its request.
            let _ = answer.send(done.flatten());
        });
        if !self.device.submit(work) {
            return Err(gone());
        }
        answered.await.ok().flatten().ok_or_else(gone)
    }

    /// Checks that a request names this device and one of its programs, and that its client may
    /// send it; returns the index of the program.
    fn check(
        &self,
        target: Option<&bfrt::TargetDevice>,
        client: u32,
        p4_name: &str,
    ) -> Result<(bfrt::TargetDevice, usize), Failure> {
        let target = target.copied().unwrap_or(bfrt::TargetDevice {
            device_id: self.number,
            pipe_id: write::ALL_PIPES,
            ..Default::default()
        });
        self.is_device(target.device_id)?;
        let of = match p4_name {
            "" => self.program(&self.clients.bound_program(client)?)?,
            name => self.program(name)?,
        };
        Ok((target, of))
    }

    fn is_device(&self, device: u32) -> Result<(), Failure> {
        if device == self.number {
            return Ok(());
        }
        let why = format!("there is no device {device}; this is device {}", self.number);
        Err(Failure::new(Code::NotFound, why))
    }

    /// Index of a program.
    fn program(&self, name: &str) -> Result<usize, Failure> {
        let running = self.current_programs();
        let found = pipeline::called(&running, name).map(|(of, _)| of);
        found.ok_or_else(|| {
            let why = format!("no program `{name}` runs here, but {}", pipeline::names(&running));
            Failure::new(Code::NotFound, why)
        })
    }

    async fn write_all(
        &self,
        given: bfrt::WriteRequest,
        lenient: bool,
        until: Option<Instant>,
    ) -> Result<Vec<write::Done>, Failure> {
        let (target, of) = self.check(given.target.as_ref(), given.client_id, &given.p4_name)?;
        let _turn = self.turn.lock().await;
        let pieces = given.atomicity() == Atomicity::ContinueOnError;
        let count = given.updates.len();
        let updates = Arc::new(given.updates);
        let together = if pieces { MAX_BATCH } else { count.max(1) };
        let mut results = Vec::with_capacity(count);
        for from in (0..count).step_by(together) {
            if until.is_some_and(|until| Instant::now() > until) {
                let why = format!("{from} of {count} updates were done when the time was over");
                return Err(Failure::new(Code::DeadlineExceeded, why));
            }
            let updates = updates.clone();
            let done = self.at(of, move |schema, store, switch, now| {
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
        let (target, of) = self.check(given.target.as_ref(), given.client_id, &given.p4_name)?;
        let _turn = self.turn.lock().await;
        let down = Arc::new(self.down(&*self.schema(of)?, &given.entities));
        let (mut messages, mut waiting, mut results) = (Vec::new(), Vec::new(), Vec::new());
        for entity in given.entities {
            let mut result = Ok(());
            let mut left = Some(Cursor::new(entity));
            while let Some(cursor) = left.take() {
                let down = down.clone();
                let done = self.at(of, move |schema, store, switch, now| {
                    let (down, target) = (&*down, &target);
                    let (count, pipes) = (control::pipes(switch), Pipes::ALL);
                    let mut reader =
                        Reader { schema, store, switch, down, now, target, count, pipes };
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

    /// Ports that are down, if the request reads ports.
    fn down(&self, schema: &Schema, asked: &[bfrt::Entity]) -> BTreeSet<u16> {
        let is_port = |entity: &bfrt::Entity| match &entity.entity {
            Some(Entity::TableEntry(entry)) => {
                let table = schema.tables.get(&entry.table_id);
                table.is_some_and(|table| table.kind == Kind::Fixed(Fixed::Port))
            }
            _ => false,
        };
        match asked.iter().any(is_port) {
            true => self.device.down(),
            false => BTreeSet::new(),
        }
    }

    /// Handles a message of a stream.
    fn on_message(&self, stream: &Stream, given: bfrt::StreamMessageRequest) {
        // An acknowledgement needs no action: nothing waits for it.
        let Some(StreamRequest::Subscribe(asked)) = given.update else { return };
        let wants = asked.notifications.unwrap_or_default();
        let done = self.is_device(asked.device_id);
        let done = done.and_then(|()| self.clients.subscribe(given.client_id, wants, stream));
        let (code, message) = match done {
            Ok(()) => (Code::Ok, String::new()),
            Err(failure) => (failure.code, failure.why),
        };
        let status = Some(rpc::Status { code: code as i32, message, details: Vec::new() });
        self.clients
            .try_send(stream, StreamResponse::Subscribe(bfrt::Subscribe { status, ..asked }));
    }

    async fn set_pipeline(
        &self,
        given: bfrt::SetForwardingPipelineConfigRequest,
    ) -> Result<(), Failure> {
        let (action, client) = (given.action(), given.client_id);
        let hitless = given.dev_init_mode() == DevInitMode::Hitless;
        // A bind request names only the program; the device is that of the subscription.
        if action != Action::Bind {
            self.is_device(given.device_id)?;
        }
        let config = given.config.first();
        // A client without a subscription may set a program, as it may write: by name.
        let responses: &[_] = match action {
            Action::Bind => {
                let config = config.ok_or_else(|| Failure::invalid("no program is named"))?;
                self.program(&config.p4_name)?;
                return self.clients.bind(client, &config.p4_name);
            }
            Action::Verify => {
                let running = locked(&self.running).clone();
                return pipeline::wanted(&running, &given.config).map(drop);
            }
            Action::VerifyAndWarmInitBegin => {
                self.prepare(&given.config, hitless).await?;
                &[Told::WarmInitStarted]
            }
            Action::VerifyAndWarmInitBeginAndEnd => {
                self.prepare(&given.config, hitless).await?;
                self.activate_pending().await?;
                &[Told::WarmInitStarted, Told::WarmInitFinished]
            }
            Action::WarmInitEnd if config.is_some() => {
                return Err(Failure::invalid("what ends names no program"));
            }
            Action::WarmInitEnd => {
                self.activate_pending().await?;
                &[Told::WarmInitFinished]
            }
            Action::ReconcileAndWarmInitEnd => {
                let why = "RECONCILE_AND_WARM_INIT_END: the vendor's server has none, either";
                return Err(Failure::unimplemented(why));
            }
        };
        for response in responses {
            let response = bfrt::SetForwardingPipelineConfigResponse {
                set_forwarding_pipeline_config_response_type: *response as i32,
            };
            let update = StreamResponse::SetForwardingPipelineConfigResponse(response);
            self.clients.send_to_client_and_bound(client, &update);
        }
        // Clients bound to another program receive only the end of their stream.
        let programs = self.current_programs();
        let names: Vec<_> = programs.iter().map(|known| &*known.schema.name).collect();
        self.clients.disconnect_unless_bound_to(&names);
        Ok(())
    }

    /// Builds an idle switch for clients' programs. The scopes of tables remain as clients set them
    /// until the first packet, as with the vendor's driver.
    async fn prepare(
        &self,
        configs: &[bfrt::ForwardingPipelineConfig],
        hitless: bool,
    ) -> Result<(), Failure> {
        let _turn = self.turn.lock().await;
        if locked(&self.pending).is_some() {
            let why = "a warm initialisation has begun already";
            return Err(Failure::new(Code::FailedPrecondition, why));
        }
        let (device, configs) = (self.device.clone(), configs.to_vec());
        let before = locked(&self.running).clone();
        let known = before.clone();
        let made = tokio::task::spawn_blocking(move || {
            let wanted = pipeline::wanted(&known, &configs)?;
            let made = pipeline::make(wanted, &*device);
            made.map_err(|error| Failure::new(Code::Internal, error))
        });
        let made = made.await.map_err(|error| Failure::new(Code::Internal, error))?;
        let (running, mut switch) = made?;
        let mut stores = vec![Store::default(); running.len()];
        if hitless {
            let kept = locked(&self.stores);
            for (at, (store, program)) in stores.iter_mut().zip(&running).enumerate() {
                let called = pipeline::called(&before, &program.schema.name).map(|(of, _)| of);
                if let Some(kept) = kept.get(called.unwrap_or(at)) {
                    store.scopes.clone_from(&kept.scopes);
                }
            }
        }
        begin(&running, &mut stores, &mut switch);
        *locked(&self.pending) = Some(Pending { running, switch, stores });
        Ok(())
    }

    /// Activates the pending configuration.
    async fn activate_pending(&self) -> Result<(), Failure> {
        let _turn = self.turn.lock().await;
        let Some(pending) = locked(&self.pending).take() else {
            return Err(Failure::invalid("no warm initialisation has begun"));
        };
        let Pending { running, switch: mut fresh, stores: said } = pending;
        *locked(&self.running) = running;
        let (answer, answered) = oneshot::channel();
        let stores = self.stores.clone();
        let submitted = self.device.submit(Box::new(move |switch, now| {
            fresh.advance(now);
            *switch = fresh;
            *locked(&stores) = said;
            let _ = answer.send(());
        }));
        if !submitted {
            return Err(gone());
        }
        answered.await.map_err(|_| gone())
    }

    /// Forwards the switch's own events until the switch ends.
    pub async fn attend(self: Arc<Self>) {
        let (mut looks, mut down) = (0_u32, self.device.down());
        loop {
            tokio::time::sleep(POLL_PERIOD).await;
            if self.poll_digests().await.is_err() {
                return;
            }
            looks = looks.wrapping_add(1);
            if looks.is_multiple_of(POLLS_PER_LINK_POLL) {
                let fallen = self.look_at_links(&mut down);
                if !fallen.is_empty() && self.tell_of_links(fallen).await.is_err() {
                    return;
                }
                if self.look_at_idle_entries().await.is_err() {
                    return;
                }
            }
        }
    }

    /// Polls digests and idle clocks once.
    ///
    /// # Errors
    /// The switch has ended.
    pub async fn poll(&self) -> Result<(), Failure> {
        self.poll_digests().await?;
        self.look_at_idle_entries().await
    }

    /// Polls digests, if any client subscribed to them.
    async fn poll_digests(&self) -> Result<(), Failure> {
        let wanted = |wants: &bfrt::subscribe::Notifications| wants.enable_learn_notifications;
        if !self.clients.has_subscriber(wanted) {
            return Ok(());
        }
        for (of, program) in self.current_programs().into_iter().enumerate() {
            let schema = program.schema;
            if schema.learns.is_empty() {
                continue;
            }
            // A pending program has seen no packet.
            let digests = self.at(of, |schema, _, switch, _| {
                let pipes = schema.pipes.numbers(control::pipes(switch));
                let of_pipe = |pipe| {
                    let program = control::program_of(switch, pipe);
                    program.map(|program| program.take_digests()).unwrap_or_default()
                };
                pipes.flat_map(of_pipe).collect::<Vec<_>>()
            });
            let mut lists: BTreeMap<u32, Vec<bfrt::TableData>> = BTreeMap::new();
            for digest in digests.await? {
                let mut all = schema.learns.values();
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
                    self.clients.send_to_subscribers(
                        Some(&schema.name),
                        &StreamResponse::Digest(list),
                        wanted,
                    );
                }
            }
        }
        Ok(())
    }

    /// Polls idle clocks, and notifies clients of idle entries.
    async fn look_at_idle_entries(&self) -> Result<(), Failure> {
        let is_noted = |idle: &Idle| idle.enabled && !idle.polled;
        for (of, program) in self.current_programs().into_iter().enumerate() {
            let store_notes = |store: &Store| store.idle.values().any(is_noted);
            if locked(&self.stores).get(of).is_some_and(store_notes) {
                self.tell_of_idle_entries(of, &program.schema.name).await?;
            }
        }
        Ok(())
    }

    async fn tell_of_idle_entries(&self, of: usize, program: &str) -> Result<(), Failure> {
        for (table_entry, became, pipe_id) in self.at(of, idle_entries).await? {
            let target =
                bfrt::TargetDevice { device_id: self.number, pipe_id, ..Default::default() };
            use bfrt::idle_timeout_notification::NotificationType;
            let told = |kind: NotificationType| {
                StreamResponse::IdleTimeoutNotification(bfrt::IdleTimeoutNotification {
                    target: Some(target),
                    table_entry: Some(table_entry.clone()),
                    r#type: kind as i32,
                })
            };
            let told_to = |kind, wants: fn(&bfrt::subscribe::Notifications) -> bool| {
                self.clients.send_to_subscribers(Some(program), &told(kind), wants);
            };
            match became {
                IdleChange::Idle => told_to(NotificationType::EntryIdle, |wants| {
                    wants.enable_idletimeout_notifications
                }),
                IdleChange::Active => told_to(NotificationType::EntryActive, |wants| {
                    wants.enable_entry_active_notifications
                }),
            }
        }
        Ok(())
    }

    /// Reports links that went down to the switch.
    async fn tell_of_links(&self, fallen: Vec<u16>) -> Result<(), Failure> {
        self.at(0, move |_, _, switch, now| {
            fallen.into_iter().for_each(|port| switch.link_down(now, PortId(port)));
        })
        .await
    }

    /// Polls the links of the ports; returns those that went down.
    fn look_at_links(&self, before: &mut BTreeSet<u16>) -> Vec<u16> {
        let down = self.device.down();
        let fallen: Vec<u16> = down.difference(before).copied().collect();
        let changed: Vec<u16> = down.symmetric_difference(before).copied().collect();
        let first = self.current_programs().into_iter().next();
        let mut all = first.iter().flat_map(|program| program.schema.tables.values());
        let table = all.find(|table| table.kind == Kind::Fixed(Fixed::Port));
        let tells = locked(&self.stores).first().is_some_and(|store| store.tells_ports);
        if let Some(table) = table.filter(|_| tells) {
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
                self.clients.send_to_subscribers(
                    None,
                    &StreamResponse::PortStatusChangeNotification(told),
                    |wants| wants.enable_port_status_change_notifications,
                );
            }
        }
        *before = down;
        fallen
    }
}

/// Entries that became idle or active, by their keys, with the first pipe of each.
fn idle_entries(
    schema: &Schema,
    store: &mut Store,
    switch: &mut Switch,
    now: Time,
) -> Vec<(bfrt::TableEntry, IdleChange, u32)> {
    let mut found = Vec::new();
    for (id, idle) in store.idle.iter_mut().filter(|(_, idle)| idle.enabled && !idle.polled) {
        let Some(table) = schema.tables.get(id) else { continue };
        let scope = Scope::new(store.scopes.get(id)).unwrap_or(Scope::All);
        let looked = idle.polled_at(now);
        for handle in idle.handles() {
            let hit = write::last_hit(switch, (&table.inner, schema.pipes), handle, &scope);
            let Some(became) = idle.entry(handle).and_then(|aged| aged.poll(hit, looked)) else {
                continue;
            };
            let (pipe, inside) = place_of_handle(handle);
            let query = Query::Page { table: table.inner.clone(), from: inside, most: 1 };
            let has = |other: &usize| scope.first(*other as u32) == pipe;
            let place = schema.pipes.numbers(control::pipes(switch)).find(has).unwrap_or(0);
            let page = match control::read_of(switch, place, &query) {
                Ok(Reply::Page { page, .. }) => page,
                _ => Vec::new(),
            };
            let Some(read) = page.into_iter().find(|read| read.handle == inside) else {
                idle.forget(handle);
                continue;
            };
            let key = key_read(table, &read.entry.matches, read.entry.priority);
            let value = Some(bfrt::table_entry::Value::Key(key));
            let entry = bfrt::TableEntry { table_id: *id, value, ..Default::default() };
            found.push((entry, became, pipe));
        }
    }
    found
}

/// Executes work on the client state of a program, and of the tables that all programs share.
fn with_store<T>(stores: &mut [Store], of: usize, work: impl FnOnce(&mut Store) -> T) -> Option<T> {
    let [first, others @ ..] = stores else { return None };
    let Some(at) = of.checked_sub(1) else { return Some(work(first)) };
    let store = others.get_mut(at)?;
    first.share(store);
    let done = work(store);
    store.share(first);
    Some(done)
}

/// Copies the programs' initial state in the switch into the stores.
fn begin(programs: &Programs, stores: &mut [Store], switch: &mut Switch) {
    for (program, store) in programs.iter().zip(stores) {
        begin_program(&program.schema, store, switch);
    }
}

/// Copies members and groups in the switch into the store.
fn begin_program(schema: &Schema, store: &mut Store, switch: &mut Switch) {
    let first = schema.pipes.0.trailing_zeros() as usize;
    for table in schema.tables.values().filter(|table| table.has_idle_times()) {
        for pipe in schema.pipes.numbers(control::pipes(switch)) {
            if let Ok(program) = control::program_of(switch, pipe)
                && let Ok(id) = program.tables().find(&table.inner)
            {
                program.note_hits(id);
            }
        }
    }
    for table in schema.tables.values() {
        if !matches!(table.kind, Kind::Members | Kind::Groups(_)) {
            continue;
        }
        let query = Query::Profile { name: table.inner.clone() };
        let Ok(Reply::Profile(ProfileEntries { members, groups, .. })) =
            control::read_of(switch, first, &query)
        else {
            continue;
        };
        if matches!(table.kind, Kind::Groups(_)) {
            for (group, members) in groups {
                let (ids, states) = members.into_iter().unzip();
                let row = [
                    (super::bfrt_json::field::ACTION_MEMBER_ID, Datum::Numbers(ids)),
                    (super::bfrt_json::field::MEMBER_STATUS, Datum::Bools(states)),
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

/// Result of an update.
type Failed = Result<(), Failure>;

/// Entities read, and the result of each request.
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

/// Whether a client sets an option in addition to its request.
fn asks<T>(request: &Request<T>, what: &str) -> bool {
    request.metadata().get(what).is_some_and(|value| value.as_bytes() == b"1")
}

/// Deadline of a request, after which its remaining work is dropped: the client gives a timeout in
/// seconds and nanoseconds.
fn deadline<T>(request: &Request<T>) -> Option<Instant> {
    let number =
        |name: &str| -> Option<u64> { request.metadata().get(name)?.to_str().ok()?.parse().ok() };
    let (seconds, rest) = (number("deadline_sec"), number("deadline_nsec"));
    if seconds.is_none() && rest.is_none() {
        return None;
    }
    let wait = Duration::from_secs(seconds.unwrap_or(0));
    Instant::now().checked_add(wait + Duration::from_nanos(rest.unwrap_or(0).min(999_999_999)))
}

/// The server as a gRPC service.
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
        let _turn = self.0.device.admit().await;
        let until = deadline(&request);
        let results = self.0.write_all(request.into_inner(), lenient, until).await?;
        let severe = |result: &write::Done| match result {
            Err(failure) if lenient && failure.code == Code::NotFound => Ok(()),
            Err(failure) => Err(failure.clone()),
            Ok(_) => Ok(()),
        };
        // The status reports failures, listed or not, as the vendor's server does.
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
        let _turn = self.0.device.admit().await;
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
        request: Request<bfrt::SetForwardingPipelineConfigRequest>,
    ) -> Result<Response<bfrt::SetForwardingPipelineConfigResponse>, Status> {
        let _turn = self.0.device.admit().await;
        self.0.set_pipeline(request.into_inner()).await?;
        Ok(Response::new(bfrt::SetForwardingPipelineConfigResponse::default()))
    }

    async fn get_forwarding_pipeline_config(
        &self,
        request: Request<bfrt::GetForwardingPipelineConfigRequest>,
    ) -> Result<Response<bfrt::GetForwardingPipelineConfigResponse>, Status> {
        let _turn = self.0.device.admit().await;
        self.0.is_device(request.into_inner().device_id)?;
        let told = |program: pipeline::Running| bfrt::ForwardingPipelineConfig {
            p4_name: program.schema.name.clone(),
            bfruntime_info: program.schema.document.clone(),
            profiles: Vec::new(),
        };
        let programs = self.0.current_programs();
        let fixed = programs.first().map(|first| device_tables::document(&first.schema.chip));
        let fixed = fixed.unwrap_or_default().to_string().into_bytes();
        let config = programs.into_iter().map(told).collect();
        Ok(Response::new(bfrt::GetForwardingPipelineConfigResponse {
            config,
            non_p4_config: Some(bfrt::NonP4Config { bfruntime_info: fixed }),
        }))
    }

    async fn stream_channel(
        &self,
        request: Request<Streaming<bfrt::StreamMessageRequest>>,
    ) -> Result<Response<Self::StreamChannelStream>, Status> {
        let mut asked = request.into_inner();
        let (sender, receiver) = mpsc::channel(QUEUE_LENGTH);
        let server = self.0.clone();
        tokio::spawn(async move {
            while let Ok(Some(message)) = asked.message().await {
                let _turn = server.device.admit().await;
                server.on_message(&sender, message);
            }
            server.clients.remove(&sender);
        });
        Ok(Response::new(ReceiverStream::new(receiver)))
    }
}

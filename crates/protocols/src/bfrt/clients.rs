//! Connected clients: their subscriptions, the programs that they are bound to, and their
//! notifications.

use crate::failure::Failure;
use crate::wire::bfrt_proto as bfrt;
use crate::wire::bfrt_proto::stream_message_response::Update as StreamResponse;
use crate::wire::bfrt_proto::subscribe::Notifications;
use std::collections::BTreeMap;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::mpsc;
use tonic::{Code, Status};

/// Maximum number of clients.
const MAX_CLIENTS: usize = 4_096;
/// Maximum number of messages waiting for a client; further ones are lost.
pub const QUEUE_LENGTH: usize = 1_024;

/// Message of a client's stream.
pub type Message = Result<bfrt::StreamMessageResponse, Status>;

/// Sender of a client's stream.
pub type Stream = mpsc::Sender<Message>;

struct Client {
    stream: Stream,
    wants: Notifications,
    /// The program that it is bound to.
    bound: Option<String>,
}

impl Client {
    fn is_of(&self, program: &str) -> bool {
        self.bound.as_deref() == Some(program)
    }
}

/// All clients, by the id that each chooses.
#[derive(Default)]
pub struct Clients {
    all: Mutex<BTreeMap<u32, Client>>,
    /// Messages lost because a stream's queue was full.
    missed: Arc<AtomicU64>,
    /// Messages put into streams.
    sent: AtomicU64,
}

impl Clients {
    fn all(&self) -> MutexGuard<'_, BTreeMap<u32, Client>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Number of messages lost because a stream's queue was full.
    pub fn missed(&self) -> &Arc<AtomicU64> {
        &self.missed
    }

    /// Number of messages put into streams.
    pub fn sent(&self) -> u64 {
        self.sent.load(Relaxed)
    }

    /// Registers a client.
    ///
    /// # Errors
    /// Another client has this id, or there are too many.
    pub fn subscribe(&self, id: u32, wants: Notifications, stream: &Stream) -> Result<(), Failure> {
        let mut all = self.all();
        if let Some(known) = all.get_mut(&id) {
            if known.stream.same_channel(stream) {
                known.wants = wants;
                return Ok(());
            }
            let why = format!("another client has the number {id}");
            return Err(Failure::new(Code::AlreadyExists, why));
        }
        if all.len() >= MAX_CLIENTS {
            let why = format!("{MAX_CLIENTS} clients are connected");
            return Err(Failure::new(Code::ResourceExhausted, why));
        }
        all.insert(id, Client { stream: stream.clone(), wants, bound: None });
        Ok(())
    }

    /// Removes the client of a stream.
    pub fn remove(&self, stream: &Stream) {
        self.all().retain(|_, client| !client.stream.same_channel(stream));
    }

    /// Binds a client to a program.
    ///
    /// # Errors
    /// It has not subscribed, or another client is bound to the program.
    pub fn bind(&self, id: u32, program: &str) -> Result<(), Failure> {
        let mut all = self.all();
        let is_taken = |(other, client): &(&u32, &Client)| **other != id && client.is_of(program);
        if let Some((other, _)) = all.iter().find(is_taken) {
            let why = format!("client {other} is bound to the program");
            return Err(Failure::new(Code::AlreadyExists, why));
        }
        let client = all.get_mut(&id).ok_or_else(|| unknown(id))?;
        client.bound = Some(program.to_owned());
        Ok(())
    }

    /// Program of a client whose request names none.
    ///
    /// # Errors
    /// It is bound to none.
    pub fn bound_program(&self, id: u32) -> Result<String, Failure> {
        match self.all().get(&id) {
            Some(Client { bound: Some(program), .. }) => Ok(program.clone()),
            Some(_) => {
                let why = format!("client {id} is bound to no program: bind it, or name one");
                Err(Failure::new(Code::FailedPrecondition, why))
            }
            None => Err(unknown(id)),
        }
    }

    /// Sends an update to one client and to all clients that are bound to a program.
    pub fn send_to_client_and_bound(&self, id: u32, update: &StreamResponse) {
        for (other, client) in &*self.all() {
            if *other == id || client.bound.is_some() {
                self.try_send(&client.stream, update.clone());
            }
        }
    }

    /// Sends an update to the clients that subscribed to it and are bound to a program, or to any
    /// if none is named.
    pub fn send_to_subscribers(
        &self,
        program: Option<&str>,
        update: &StreamResponse,
        wants: impl Fn(&Notifications) -> bool,
    ) {
        for client in self.all().values() {
            let is_meant = program.map_or(client.bound.is_some(), |program| client.is_of(program));
            if is_meant && wants(&client.wants) {
                self.try_send(&client.stream, update.clone());
            }
        }
    }

    /// Sends an update to the client of a stream, without waiting if its queue is full.
    pub fn try_send(&self, stream: &Stream, update: StreamResponse) {
        let message = bfrt::StreamMessageResponse { update: Some(update) };
        if stream.try_send(Ok(message)).is_err() {
            self.missed.fetch_add(1, Relaxed);
        } else {
            self.sent.fetch_add(1, Relaxed);
        }
    }

    /// Whether any bound client subscribed to such notifications.
    pub fn has_subscriber(&self, wants: impl Fn(&Notifications) -> bool) -> bool {
        self.all().values().any(|client| client.bound.is_some() && wants(&client.wants))
    }

    /// Ends the streams of clients that are bound to none of these programs.
    pub fn disconnect_unless_bound_to(&self, programs: &[&str]) {
        self.all().retain(|_, client| {
            let bound = client.bound.as_deref();
            let stays = bound.is_none_or(|bound| programs.contains(&bound));
            if !stays {
                let why = "the program that this client is bound to runs no longer";
                let _ = client.stream.try_send(Err(Status::cancelled(why)));
            }
            stays
        });
    }
}

fn unknown(id: u32) -> Failure {
    let why = format!("client {id} has not subscribed, and its request names no program");
    Failure::new(Code::FailedPrecondition, why)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest() -> StreamResponse {
        StreamResponse::Digest(Default::default())
    }

    #[test]
    fn notifications_beyond_a_full_queue_are_counted_as_lost() {
        let clients = Clients::default();
        let (stream, mut queue) = mpsc::channel(2);
        clients.subscribe(1, Notifications::default(), &stream).unwrap();
        clients.bind(1, "codel").unwrap();
        for _ in 0..5 {
            clients.send_to_subscribers(Some("codel"), &digest(), |_| true);
        }
        assert_eq!((clients.sent(), clients.missed().load(Relaxed)), (2, 3));
        queue.try_recv().unwrap().unwrap();
        clients.send_to_subscribers(None, &digest(), |_| true);
        clients.send_to_subscribers(Some("another program"), &digest(), |_| true);
        assert_eq!((clients.sent(), clients.missed().load(Relaxed)), (3, 3));
    }
}

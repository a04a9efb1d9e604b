//! Who is connected: subscriptions, which client is bound to the program, and who is told what.

use crate::failure::Failure;
use crate::wire::bfrt_proto as bfrt;
use crate::wire::bfrt_proto::stream_message_response::Update as Says;
use crate::wire::bfrt_proto::subscribe::Notifications;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::mpsc;
use tonic::{Code, Status};

/// Clients at once.
const MOST: usize = 4_096;
/// Messages that may wait for a client; more are lost.
pub const WAITING: usize = 1_024;

/// What goes into a stream.
pub type Message = Result<bfrt::StreamMessageResponse, Status>;

/// The way to a client.
pub type Stream = mpsc::Sender<Message>;

struct Client {
    stream: Stream,
    wants: Notifications,
    is_bound: bool,
}

/// All of them, by the number that each gives itself.
#[derive(Default)]
pub struct Clients(Mutex<BTreeMap<u32, Client>>);

impl Clients {
    fn all(&self) -> MutexGuard<'_, BTreeMap<u32, Client>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A client is there from now on.
    ///
    /// # Errors
    /// Another is there with its number, or there are too many.
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
        if all.len() >= MOST {
            let why = format!("{MOST} clients are connected");
            return Err(Failure::new(Code::ResourceExhausted, why));
        }
        all.insert(id, Client { stream: stream.clone(), wants, is_bound: false });
        Ok(())
    }

    /// The client behind a stream is gone.
    pub fn gone(&self, stream: &Stream) {
        self.all().retain(|_, client| !client.stream.same_channel(stream));
    }

    /// A client works with the program from now on.
    ///
    /// # Errors
    /// It has not subscribed, or another client is bound to the program.
    pub fn bind(&self, id: u32) -> Result<(), Failure> {
        let mut all = self.all();
        if let Some((other, _)) =
            all.iter().find(|(other, client)| client.is_bound && **other != id)
        {
            let why = format!("client {other} is bound to the program");
            return Err(Failure::new(Code::AlreadyExists, why));
        }
        let client = all.get_mut(&id).ok_or_else(|| unknown(id))?;
        client.is_bound = true;
        Ok(())
    }

    /// That a client may ask for something without naming the program.
    ///
    /// # Errors
    /// It is not bound to it.
    pub fn is_bound(&self, id: u32) -> Result<(), Failure> {
        match self.all().get(&id) {
            Some(client) if client.is_bound => Ok(()),
            Some(_) => {
                let why = format!("client {id} is bound to no program: bind it, or name one");
                Err(Failure::new(Code::FailedPrecondition, why))
            }
            None => Err(unknown(id)),
        }
    }

    /// Says something to one client.
    pub fn say(&self, id: u32, update: Says) {
        if let Some(client) = self.all().get(&id) {
            say(&client.stream, update);
        }
    }

    /// Says something to those who want it and are bound.
    pub fn say_to(&self, update: &Says, wants: impl Fn(&Notifications) -> bool) {
        for client in self.all().values() {
            if client.is_bound && wants(&client.wants) {
                say(&client.stream, update.clone());
            }
        }
    }

    /// Whether anybody who is bound wants something.
    pub fn anybody(&self, wants: impl Fn(&Notifications) -> bool) -> bool {
        self.all().values().any(|client| client.is_bound && wants(&client.wants))
    }
}

fn unknown(id: u32) -> Failure {
    let why = format!("client {id} has not subscribed, and its request names no program");
    Failure::new(Code::FailedPrecondition, why)
}

/// One that takes nothing is not waited for.
pub fn say(stream: &Stream, update: Says) {
    let _ = stream.try_send(Ok(bfrt::StreamMessageResponse { update: Some(update) }));
}

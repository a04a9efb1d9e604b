//! Hub of all controllers' streams: tracks the primaries and routes messages to controllers.

use super::arbitration::{Arbitration, Notice, StreamId, Update};
use super::role_access::Access;
use crate::failure::Failure;
use crate::wire::google::rpc;
use crate::wire::p4::v1 as p4;
use crate::wire::p4::v1::stream_message_response::Update as StreamResponse;
use std::collections::HashMap;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::mpsc;
use tonic::{Code, Status};

/// Maximum number of messages waiting for a controller; further ones are lost unless they concern
/// its role.
pub const QUEUE_LENGTH: usize = 1_024;
/// Part of the queue reserved for messages about the controller's role.
const RESERVED: usize = 64;
/// Maximum number of streams.
const MAX_STREAMS: usize = 16_384;

/// Message of a controller's stream.
pub type Message = Result<p4::StreamMessageResponse, Status>;

/// All streams.
pub struct Hub {
    device: u64,
    inner: Mutex<Inner>,
    /// Messages lost because a stream's queue was full.
    missed: Arc<AtomicU64>,
    /// Messages put into streams, without those about roles.
    sent: AtomicU64,
}

struct Inner {
    arbitration: Arbitration<Access>,
    streams: HashMap<StreamId, mpsc::Sender<Message>>,
    last: StreamId,
}

fn message(update: StreamResponse) -> p4::StreamMessageResponse {
    p4::StreamMessageResponse { update: Some(update) }
}

impl Hub {
    /// Creates a hub without controllers.
    pub fn new(device: u64) -> Hub {
        let (arbitration, streams) = (Arbitration::new(device), HashMap::new());
        let inner = Mutex::new(Inner { arbitration, streams, last: 0 });
        Hub { device, inner, missed: Arc::default(), sent: AtomicU64::new(0) }
    }

    /// Number of messages lost because a stream's queue was full.
    pub fn missed(&self) -> &Arc<AtomicU64> {
        &self.missed
    }

    /// Number of messages put into streams, without those about roles.
    pub fn sent(&self) -> u64 {
        self.sent.load(Relaxed)
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens a stream; returns its id and the receiver of its messages.
    ///
    /// # Errors
    /// There are too many.
    pub fn open(&self) -> Result<(StreamId, mpsc::Receiver<Message>), Status> {
        let mut inner = self.inner();
        if inner.streams.len() >= MAX_STREAMS {
            return Err(Status::resource_exhausted(format!("{MAX_STREAMS} streams are open")));
        }
        inner.last += 1;
        let (sender, receiver) = mpsc::channel(QUEUE_LENGTH);
        let id = inner.last;
        inner.streams.insert(id, sender);
        Ok((id, receiver))
    }

    /// Closes a stream, with a reason if there is one.
    pub fn close(&self, id: StreamId, why: Option<Status>) {
        let mut inner = self.inner();
        if let Some(stream) = inner.streams.remove(&id)
            && let Some(why) = why
        {
            // A full stream does not receive the reason.
            let _ = stream.try_send(Err(why));
        }
        let notices = inner.arbitration.remove_stream(id);
        self.notify(&inner, &notices);
    }

    /// Applies a controller's arbitration update. All but a new primary are notified at once; the
    /// new primary by [`Hub::confirm`], when the previous primary's writes are done.
    ///
    /// # Errors
    /// Its stream ends.
    pub fn arbitrate(
        &self,
        id: StreamId,
        given: p4::MasterArbitrationUpdate,
    ) -> Result<Vec<Notice<Access>>, Status> {
        let role = given.role.unwrap_or_default();
        let config = role.config.as_ref().map(Access::read).transpose()?;
        let update = Update {
            device: given.device_id,
            role: role.name,
            config,
            election: given.election_id.as_ref().map(number),
        };
        let mut inner = self.inner();
        let notices = inner.arbitration.update(id, update);
        let notices = notices.map_err(|refused| Status::new(refused.code, refused.why))?;
        let (primary, others): (Vec<_>, Vec<_>) =
            notices.into_iter().partition(|notice| notice.status == Code::Ok);
        self.notify(&inner, &others);
        Ok(primary)
    }

    /// Notifies a new primary of its role.
    pub fn confirm(&self, notices: &[Notice<Access>]) {
        self.notify(&self.inner(), notices);
    }

    fn notify(&self, inner: &Inner, notices: &[Notice<Access>]) {
        for notice in notices {
            let Some(stream) = inner.streams.get(&notice.to) else { continue };
            let config = notice.config.as_ref().map(|access| access.given.clone());
            let role = (!notice.role.is_empty() || config.is_some()).then(|| p4::Role {
                name: notice.role.clone(),
                config,
                ..p4::Role::default()
            });
            let text = match notice.status {
                Code::Ok => "",
                Code::AlreadyExists => "another controller is primary",
                _ => "there is no primary controller",
            };
            let update = p4::MasterArbitrationUpdate {
                device_id: self.device,
                role,
                election_id: notice
                    .election
                    .map(|id| p4::Uint128 { high: (id >> 64) as u64, low: id as u64 }),
                status: Some(rpc::Status {
                    code: notice.status as i32,
                    message: text.to_owned(),
                    details: Vec::new(),
                }),
            };
            // A full stream is not waited for.
            let _ = stream.try_send(Ok(message(StreamResponse::Arbitration(update))));
        }
    }

    /// Checks that a request comes from the primary of its role; returns the role's permissions.
    ///
    /// # Errors
    /// It does not.
    pub fn check(
        &self,
        device: u64,
        role: &str,
        election: Option<&p4::Uint128>,
    ) -> Result<Option<Access>, Status> {
        let inner = self.inner();
        let checked = inner.arbitration.check(device, role, election.map(number));
        checked.map(|access| access.cloned()).map_err(|no| Status::new(no.code, no.why))
    }

    /// Read permissions of a role; `None` for all.
    ///
    /// # Errors
    /// There is no such device or role.
    pub fn sees(&self, device: u64, role: &str) -> Result<Option<Access>, Status> {
        self.is_device(device)?;
        match self.inner().arbitration.config(role) {
            Some(access) => Ok(access.cloned()),
            None => Err(Status::not_found(format!("nobody has a role `{role}`"))),
        }
    }

    /// Checks the device id.
    ///
    /// # Errors
    /// It is another device.
    pub fn is_device(&self, device: u64) -> Result<(), Status> {
        if device == self.device {
            return Ok(());
        }
        Err(Status::not_found(format!(
            "there is no device {device}; this is device {}",
            self.device
        )))
    }

    /// Permissions of the role of a stream.
    ///
    /// # Errors
    /// The stream is not that of the primary of its role.
    pub fn require_primary(&self, id: StreamId) -> Result<Option<Access>, Failure> {
        match self.inner().arbitration.primary(id) {
            Some((_, access)) => Ok(access.cloned()),
            None => Err(Failure::new(Code::PermissionDenied, "not the primary controller")),
        }
    }

    /// Sends an update to a stream, unless its queue is full.
    pub fn send(&self, id: StreamId, update: StreamResponse) {
        if let Some(stream) = self.inner().streams.get(&id) {
            self.enqueue(stream, message(update));
        }
    }

    /// Sends an update to the primaries selected by `wants`.
    pub fn send_to_primaries(
        &self,
        update: StreamResponse,
        wants: impl Fn(Option<&Access>) -> bool,
    ) {
        let inner = self.inner();
        let whole = message(update);
        for (id, access) in inner.arbitration.primaries() {
            if let (true, Some(stream)) = (wants(access), inner.streams.get(&id)) {
                self.enqueue(stream, whole.clone());
            }
        }
    }

    /// Sends a message if the stream's queue has space beyond the part reserved for role messages.
    fn enqueue(&self, stream: &mpsc::Sender<Message>, message: p4::StreamMessageResponse) {
        // Another thread may have taken the last free place in between.
        if stream.capacity() <= RESERVED || stream.try_send(Ok(message)).is_err() {
            self.missed.fetch_add(1, Relaxed);
        } else {
            self.sent.fetch_add(1, Relaxed);
        }
    }
}

fn number(id: &p4::Uint128) -> u128 {
    u128::from(id.high) << 64 | u128::from(id.low)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_that_a_controller_does_not_read_are_counted() {
        let hub = Hub::new(1);
        let (id, mut stream) = hub.open().unwrap();
        let election_id = Some(p4::Uint128 { high: 0, low: 7 });
        let update =
            p4::MasterArbitrationUpdate { device_id: 1, election_id, role: None, status: None };
        hub.arbitrate(id, update).unwrap();
        let sent = QUEUE_LENGTH as u64 * 3;
        for _ in 0..sent {
            hub.send_to_primaries(StreamResponse::Packet(p4::PacketIn::default()), |_| true);
        }
        let mut read = 0;
        while stream.try_recv().is_ok() {
            read += 1;
        }
        assert_eq!(hub.missed().load(Relaxed), sent - read);
        assert!(read < sent);
    }
}

//! Request and response over one connection: a client that sends requests and a server that
//! answers.
//!
//! The client opens the connection and reuses it. The module depends on sockets and on the request
//! schedule. It must not depend on the path between the two hosts.

use super::tcp::{Socket, sample_of};
use super::{Exchange, FrameSink, SenderSample};
use crate::app::RequestSchedule;
use crate::tcp::{Connection, SegmentForm, TcpConfig};
use crate::wire::{Endpoint, FrameDetail};
use sojourn_packet::Time;

/// Sizes of a request and its response, in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ExchangeSizes {
    pub(crate) request: u64,
    pub(crate) response: u64,
}

/// The end that asks.
pub(crate) struct Requester {
    socket: Socket,
    config: TcpConfig,
    /// Time of the connection.
    start: Time,
    sizes: ExchangeSizes,
    schedule: RequestSchedule,
    connected: bool,
    requests: u64,
    answered: u64,
    done: Option<Exchange>,
}

impl Requester {
    pub(crate) fn new(
        config: TcpConfig,
        start: Time,
        sizes: ExchangeSizes,
        schedule: RequestSchedule,
        (local, remote): (&Endpoint, &Endpoint),
    ) -> Requester {
        Requester {
            socket: Socket::new(Connection::closed(config.clone()), local, remote),
            config,
            start,
            sizes,
            schedule,
            connected: false,
            requests: 0,
            answered: 0,
            done: None,
        }
    }

    pub(super) fn receive(
        &mut self,
        now: Time,
        ports: (u16, u16),
        segment: impl SegmentForm,
    ) -> bool {
        let mine = self.socket.receive(now, ports, segment);
        if self.delivered() >= self.sizes.response * (self.answered + 1)
            && let Some((number, started)) = self.schedule.answered(now)
        {
            self.answered += 1;
            let size = self.sizes.response;
            self.done = Some(Exchange { number, size, started, finished: now });
        }
        mine
    }

    pub(super) fn socket_mut(&mut self) -> &mut Socket {
        &mut self.socket
    }

    pub(super) fn next_timer(&self) -> Option<Time> {
        if !self.connected {
            return Some(self.start);
        }
        // No request can be sent before the connection is open; its opening triggers another check.
        let established = self.socket.connection.is_established();
        let question = self.schedule.next().filter(|_| established);
        [self.socket.connection.next_timer(), question].into_iter().flatten().min()
    }

    #[cold]
    fn connect(&mut self) {
        self.socket.connection = Connection::connect(self.config.clone());
        self.connected = true;
    }

    pub(super) fn transmit(&mut self, now: Time, written: FrameDetail, out: &mut impl FrameSink) {
        if now < self.start {
            return;
        }
        if !self.connected {
            self.connect();
        }
        self.socket.connection.advance(now);
        loop {
            if self.socket.connection.is_established() && self.schedule.begin_request(now) {
                self.requests += 1;
                self.socket.connection.set_written(self.requests * self.sizes.request);
            }
            if !self.socket.send_one(now, written, out) {
                return;
            }
        }
    }

    pub(super) fn has_completed(&self) -> bool {
        self.done.is_some()
    }

    pub(super) fn delivered(&self) -> u64 {
        self.socket.connection.receiver().delivered()
    }

    pub(super) fn take_exchange(&mut self) -> Option<Exchange> {
        self.done.take()
    }

    pub(super) fn unfinished(&self) -> Option<Exchange> {
        let (number, started) = self.schedule.outstanding()?;
        Some(Exchange { number, size: self.sizes.response, started, finished: Time::ZERO })
    }
}

/// The end that answers.
pub(crate) struct Responder {
    socket: Socket,
    start: Time,
    sizes: ExchangeSizes,
}

impl Responder {
    pub(crate) fn new(
        config: TcpConfig,
        start: Time,
        sizes: ExchangeSizes,
        (local, remote): (&Endpoint, &Endpoint),
    ) -> Responder {
        Responder { socket: Socket::new(Connection::listen(config), local, remote), start, sizes }
    }

    pub(super) fn receive(
        &mut self,
        now: Time,
        ports: (u16, u16),
        segment: impl SegmentForm,
    ) -> bool {
        let mine = self.socket.receive(now, ports, segment);
        let connection = &mut self.socket.connection;
        let requests = connection.receiver().delivered() / self.sizes.request;
        connection.set_written(requests * self.sizes.response);
        mine
    }

    pub(super) fn socket_mut(&mut self) -> &mut Socket {
        &mut self.socket
    }

    pub(super) fn next_timer(&self) -> Option<Time> {
        self.socket.connection.next_timer()
    }

    pub(super) fn transmit(&mut self, now: Time, written: FrameDetail, out: &mut impl FrameSink) {
        self.socket.transmit(now, written, out);
    }

    pub(super) fn sample(&self) -> SenderSample {
        let connection = &self.socket.connection;
        sample_of(connection, connection.is_established(), self.start)
    }
}

//! The two ends of a TCP transfer: a client that connects and writes, a server that reads.

use super::{Exchange, FrameSink, SenderSample};
use crate::app::{Bulk, Cap};
use crate::report::FlowReport;
use crate::tcp::{Connection, SegmentForm, Segments, TcpConfig, earliest};
use crate::wire::{
    Endpoint, FrameDetail, FrameTemplate, PredictedHeader, Protocol, SackBlocks, TcpSegment,
    Telemetry, add_telemetry, write_predicted, write_tcp,
};
use sojourn_packet::Time;

/// A connection with its addresses.
pub(super) struct Socket {
    pub(super) connection: Connection,
    pub(super) template: FrameTemplate,
    /// Ours and the peer's.
    pub(super) ports: (u16, u16),
    /// Of a connection whose data collect telemetry: what is returned with the next acknowledgement.
    telemetry: Option<Box<Telemetry>>,
}

impl Socket {
    pub(super) fn new(connection: Connection, local: &Endpoint, remote: &Endpoint) -> Socket {
        let config = connection.config();
        let mut template = FrameTemplate::new(local, remote, Protocol::Tcp).with_dscp(config.dscp);
        if let Some(ranks) = config.ranks {
            template = template.with_ranks(ranks);
        }
        let telemetry = config.uses_telemetry().then(Box::default);
        Socket { connection, template, ports: (local.port, remote.port), telemetry }
    }

    #[inline(never)]
    pub(super) fn receive(
        &mut self,
        now: Time,
        ports: (u16, u16),
        segment: impl SegmentForm,
    ) -> bool {
        let mine = ports == (self.ports.1, self.ports.0);
        if mine {
            self.connection.receive(now, segment);
        }
        mine
    }

    /// INT was in front of the last segment.
    #[cold]
    pub(super) fn on_telemetry(&mut self, telemetry: &Telemetry) {
        if let Some(owed) = self.telemetry.as_deref_mut() {
            if !telemetry.returned {
                *owed = Telemetry::new(true, telemetry.hops());
            }
            self.connection.on_telemetry(telemetry);
        }
    }

    /// Sends all that is to be sent at `now`.
    #[inline(always)]
    pub(super) fn transmit(&mut self, now: Time, written: FrameDetail, out: &mut impl FrameSink) {
        self.connection.advance(now);
        if self.connection.is_preempted() && !self.send_first(now, written, out) {
            return;
        }
        if self.connection.may_send_data() {
            self.send_data(now, written, out);
        }
        if self.connection.owes_acknowledgement(now) {
            self.acknowledge(now, written, out);
        }
    }

    /// Sends what goes before data; false if nothing else can.
    #[cold]
    #[inline(never)]
    fn send_first(&mut self, now: Time, written: FrameDetail, out: &mut impl FrameSink) -> bool {
        while self.connection.is_preempted() {
            if !self.send_one(now, written, out) {
                return false;
            }
        }
        true
    }

    #[inline(never)]
    fn send_data(&mut self, now: Time, written: FrameDetail, out: &mut impl FrameSink) {
        let Socket { connection, template, ports, telemetry } = self;
        let telemetry = telemetry.as_deref_mut();
        connection.send_data(now, &mut Frames { template, ports: *ports, telemetry, written, out });
    }

    #[inline(never)]
    fn acknowledge(&mut self, now: Time, written: FrameDetail, out: &mut impl FrameSink) {
        let Socket { connection, template, ports, telemetry } = self;
        let telemetry = telemetry.as_deref_mut();
        connection
            .acknowledge(now, &mut Frames { template, ports: *ports, telemetry, written, out });
    }

    /// Sends the next segment; false if there is none.
    pub(super) fn send_one(
        &mut self,
        now: Time,
        written: FrameDetail,
        out: &mut impl FrameSink,
    ) -> bool {
        let Some(segment) = self.connection.poll_transmit(now) else { return false };
        let Socket { template, ports, telemetry, .. } = self;
        let telemetry = telemetry.as_deref_mut();
        Frames { template, ports: *ports, telemetry, written, out }.take(&segment);
        true
    }
}

/// Makes frames of a connection's segments.
struct Frames<'a, O> {
    template: &'a mut FrameTemplate,
    ports: (u16, u16),
    telemetry: Option<&'a mut Telemetry>,
    written: FrameDetail,
    out: &'a mut O,
}

impl<O: FrameSink> Frames<'_, O> {
    /// Sends a segment with INT: data collect it, an acknowledgement returns what there is.
    #[cold]
    fn send_measured(&mut self, segment: &TcpSegment, owed: Telemetry) {
        let mut headers = self.out.buffer();
        write_tcp(self.template, self.ports, segment, self.written, &mut headers);
        let collects = segment.payload > 0;
        let telemetry = if collects { Telemetry::default() } else { owed };
        if collects || telemetry.returned {
            let entropy = self.ports.0.max(self.ports.1);
            add_telemetry(&mut headers, &telemetry, entropy);
        }
        self.out.send(headers, segment.payload);
    }

    /// What is to be returned, once; nothing of a connection without telemetry.
    #[inline(always)]
    fn owed(&mut self, payload: u32) -> Option<Telemetry> {
        let owed = self.telemetry.as_deref_mut()?;
        Some(if payload > 0 { *owed } else { std::mem::take(owed) })
    }
}

impl<O: FrameSink> Segments for Frames<'_, O> {
    #[inline(always)]
    fn take(&mut self, segment: &TcpSegment) {
        if let Some(owed) = self.owed(segment.payload) {
            return self.send_measured(segment, owed);
        }
        send_whole(self.template, self.ports, segment, self.written, self.out);
    }

    #[inline(always)]
    fn take_usual(&mut self, segment: &PredictedHeader, sack: Option<&SackBlocks>) {
        if let Some(owed) = self.owed(segment.payload) {
            return self.send_measured(&segment.with_ranges(sack), owed);
        }
        let segment = PredictedHeader { ports: self.ports, ..*segment };
        let mut headers = self.out.buffer();
        let zeros = write_predicted(self.template, &segment, sack, self.written, &mut headers);
        self.out.send(headers, zeros);
    }
}

/// Sends a segment of any form.
#[inline(never)]
pub(super) fn send_whole(
    template: &mut FrameTemplate,
    ports: (u16, u16),
    segment: &TcpSegment,
    written: FrameDetail,
    out: &mut impl FrameSink,
) {
    let mut headers = out.buffer();
    write_tcp(template, ports, segment, written, &mut headers);
    out.send(headers, segment.payload);
}

/// The end that connects at `start`, writes until `stop` or what there is, and closes.
pub(crate) struct TcpClient {
    socket: Socket,
    config: TcpConfig,
    cap: Option<Cap>,
    /// All that there is to send; without a limit if absent.
    size: Option<u64>,
    start: Time,
    stop: Option<Time>,
    /// Absent until the connection is open.
    app: Option<Bulk>,
    connected: bool,
    closed: bool,
}

/// Period of a client, and its write rate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClientPlan {
    pub(crate) start: Time,
    pub(crate) stop: Option<Time>,
    pub(crate) cap: Option<Cap>,
    pub(crate) size: Option<u64>,
}

impl TcpClient {
    pub(crate) fn new(
        config: TcpConfig,
        plan: ClientPlan,
        local: &Endpoint,
        remote: &Endpoint,
    ) -> TcpClient {
        TcpClient {
            socket: Socket::new(Connection::closed(config.clone()), local, remote),
            config,
            cap: plan.cap,
            size: plan.size,
            start: plan.start,
            stop: plan.stop,
            app: None,
            connected: false,
            closed: false,
        }
    }

    pub(super) fn receive(
        &mut self,
        now: Time,
        ports: (u16, u16),
        segment: impl SegmentForm,
    ) -> bool {
        self.socket.receive(now, ports, segment)
    }

    pub(super) fn socket_mut(&mut self) -> &mut Socket {
        &mut self.socket
    }

    pub(super) fn into_socket(self) -> Socket {
        self.socket
    }

    /// [`Connection::linger`] of a transfer of some size.
    pub(super) fn linger(&self) -> Option<Time> {
        self.size.and_then(|_| self.socket.connection.linger())
    }

    fn stopped(&self, now: Time) -> bool {
        self.stop.is_some_and(|stop| now >= stop)
    }

    #[inline(always)]
    pub(super) fn next_timer(&self) -> Option<Time> {
        if !self.connected {
            let worth_it = self.stop.is_none_or(|stop| self.start < stop);
            return worth_it.then_some(self.start);
        }
        let stop = if self.closed { None } else { self.stop };
        let write = self.app.as_ref().filter(|_| !self.closed).and_then(Bulk::next_write);
        earliest([self.socket.connection.next_timer(), stop, write])
    }

    #[inline]
    pub(super) fn transmit(&mut self, now: Time, written: FrameDetail, out: &mut impl FrameSink) {
        if now < self.start || (!self.connected && self.stopped(now)) {
            return;
        }
        if !self.connected {
            self.connect();
        }
        self.write(now);
        self.socket.transmit(now, written, out);
    }

    #[cold]
    fn connect(&mut self) {
        self.socket.connection = Connection::connect(self.config.clone());
        self.connected = true;
    }

    /// Operations of the application on its socket.
    fn write(&mut self, now: Time) {
        let connection = &mut self.socket.connection;
        if self.closed || !connection.is_established() {
            // Before the handshake is done there is nothing to close either.
            self.closed |= self.stop.is_some_and(|stop| now >= stop);
            return;
        }
        if let Some(size) = self.size {
            connection.set_written(size);
            connection.close();
            self.closed = true;
            return;
        }
        let app = self.app.get_or_insert_with(|| Bulk::new(now, self.cap));
        if self.stop.is_some_and(|stop| now >= stop) {
            if self.cap.is_none() {
                // Data that the send buffer did not take were never written.
                connection.set_written(0);
            }
            connection.close();
            self.closed = true;
        } else {
            connection.set_written(app.written(now));
        }
    }

    pub(super) fn sample(&self, now: Time) -> SenderSample {
        let started = self.connected && now >= self.start;
        sample_of(&self.socket.connection, started, self.start)
    }
}

/// Sample of a connection's sending half.
pub(super) fn sample_of(connection: &Connection, started: bool, start: Time) -> SenderSample {
    let sender = connection.sender();
    let statistics = sender.statistics();
    SenderSample {
        started,
        cwnd: sender.window(),
        ssthresh: sender.ssthresh(),
        srtt: sender.rtt().srtt(),
        in_flight: sender.in_flight(),
        totals: FlowReport {
            started: start.0,
            delivered: 0,
            segments: statistics.segments,
            retransmits: statistics.retransmits,
            timeouts: statistics.timeouts,
            congestion_events: statistics.congestion_events,
        },
    }
}

/// A transfer whose completion time is measured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ExpectedTransfer {
    /// For its row.
    pub(crate) number: u32,
    /// Bytes in all.
    pub(crate) size: u64,
    /// When its client begins.
    pub(crate) started: Time,
}

impl ExpectedTransfer {
    fn finished(self, finished: Time) -> Exchange {
        Exchange { number: self.number, size: self.size, started: self.started, finished }
    }
}

/// The end that listens and reads; it closes when it has read everything.
pub(crate) struct TcpServer {
    socket: Socket,
    /// The transfer that is to come, if it is timed.
    expected: Option<ExpectedTransfer>,
    done: Option<Exchange>,
}

impl TcpServer {
    pub(crate) fn new(
        config: TcpConfig,
        expected: Option<ExpectedTransfer>,
        local: &Endpoint,
        remote: &Endpoint,
    ) -> TcpServer {
        let socket = Socket::new(Connection::listen(config), local, remote);
        TcpServer { socket, expected, done: None }
    }

    pub(super) fn receive(
        &mut self,
        now: Time,
        ports: (u16, u16),
        segment: impl SegmentForm,
    ) -> bool {
        let mine = self.socket.receive(now, ports, segment);
        if let Some(expected) = self.expected
            && self.delivered() >= expected.size
        {
            self.expected = None;
            self.done = Some(expected.finished(now));
        }
        if self.socket.connection.receiver().is_finished() {
            self.socket.connection.close();
        }
        mine
    }

    pub(super) fn socket_mut(&mut self) -> &mut Socket {
        &mut self.socket
    }

    pub(super) fn into_socket(self) -> Socket {
        self.socket
    }

    /// [`Connection::linger`] of an end whose transfer has been taken.
    pub(super) fn linger(&self) -> Option<Time> {
        let taken = self.expected.is_none() && self.done.is_none();
        self.socket.connection.linger().filter(|_| taken)
    }

    pub(super) fn next_timer(&self) -> Option<Time> {
        self.socket.connection.next_timer()
    }

    #[inline]
    pub(super) fn transmit(&mut self, now: Time, written: FrameDetail, out: &mut impl FrameSink) {
        self.socket.transmit(now, written, out);
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
        self.expected.map(|expected| expected.finished(Time::ZERO))
    }
}

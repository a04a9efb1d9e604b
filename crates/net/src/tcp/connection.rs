//! A connection as a state machine: a handshake, then a sender and a receiver that share segments.
//!
//! Translates between segments with 32-bit numbers and the halves' 64-bit offsets, and keeps the
//! timestamps (RFC 7323) and the ECN bits (RFC 3168, RFC 8257, RFC 9768). Either end may write; each closes its
//! direction with a FIN of its own.

mod opening;

use super::accurate::{self, Accurate};
use super::config::TcpConfig;
use super::handshake::{Agreement, Handshake};
use super::receiver::{Incoming, Path, Receiver};
use super::sender::{Acknowledgement, FIRST_BYTE, Outgoing, Sender, SenderSettings};
use super::sequence::Numbering;
use super::ticks::earliest;
use crate::wire::{Ecn, SackBlocks, TcpFlags, TcpOptions, TcpSegment, Timestamps};
use smallvec::SmallVec;
use sojourn_packet::Time;

/// The states of RFC 9293 section 3.3.2 up to the open connection; closing is the halves' own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Closed,
    Listen,
    SynSent,
    SynReceived,
    Established,
}

/// One end of a connection.
#[derive(Debug)]
pub struct Connection {
    config: TcpConfig,
    state: State,
    handshake: Handshake,
    /// The peer's SYN, which a SYN-ACK answers.
    peer_syn: TcpSegment,
    agreement: Agreement,
    local: Numbering,
    remote: Numbering,
    sender: Sender,
    receiver: Receiver,
    /// TS.Recent: the timestamp to echo.
    ts_recent: u32,
    /// Last.ACK.sent, as an offset.
    last_ack_sent: u64,
    /// An acknowledgement goes out before any data.
    ack_first: bool,
    /// The counters of marks, if both ends count them.
    accurate: Option<Accurate>,
    /// The codepoint of the SYN-ACK, which the segment behind it tells.
    answered: Option<Ecn>,
}

/// Where the segments of a connection go.
pub(crate) trait Segments {
    fn take(&mut self, segment: &TcpSegment);
}

/// What a sender is built with before anything is known of the peer.
fn settings(config: &TcpConfig, now: Time) -> SenderSettings {
    SenderSettings {
        now,
        mss: u32::from(config.mss),
        control: config.congestion_control,
        initial_window: config.initial_window,
        min_rto: config.min_rto,
        rtt: None,
        peer_window: 0,
        sack: false,
        offload: config.segmentation_offload,
        pacing: config.pacing,
        seed: u64::from(config.initial_sequence) << 32 | u64::from(config.timestamp_offset),
    }
}

impl Connection {
    /// An end that opens the connection as soon as it is polled.
    pub fn connect(config: TcpConfig) -> Connection {
        let mut connection = Connection::new(config, State::SynSent);
        connection.handshake.pending = true;
        connection
    }

    /// An end that waits for a SYN.
    pub fn listen(config: TcpConfig) -> Connection {
        Connection::new(config, State::Listen)
    }

    /// An end that does nothing until it is replaced.
    pub fn closed(config: TcpConfig) -> Connection {
        Connection::new(config, State::Closed)
    }

    fn new(config: TcpConfig, state: State) -> Connection {
        Connection {
            state,
            handshake: Handshake::default(),
            peer_syn: TcpSegment::default(),
            agreement: Agreement::default(),
            local: Numbering::new(config.initial_sequence),
            remote: Numbering::new(0),
            sender: Sender::new(&settings(&config, Time::ZERO)),
            receiver: Receiver::new(config.receive_window, u32::from(config.mss)),
            ts_recent: 0,
            last_ack_sent: 0,
            ack_first: false,
            accurate: None,
            answered: None,
            config,
        }
    }

    /// True once the handshake is done.
    pub fn is_established(&self) -> bool {
        self.state == State::Established
    }

    /// The sending half.
    pub fn sender(&self) -> &Sender {
        &self.sender
    }

    /// The receiving half.
    pub fn receiver(&self) -> &Receiver {
        &self.receiver
    }

    /// The application has written `bytes` in all; [`u64::MAX`] for more than ever can be sent.
    /// Counts only while the connection is open.
    pub fn set_written(&mut self, bytes: u64) {
        if self.is_established() {
            self.sender.set_written(bytes.saturating_add(FIRST_BYTE));
        }
    }

    /// The application writes no more: what it has written is sent, then a FIN.
    pub fn close(&mut self) {
        if self.is_established() {
            self.sender.close();
        }
    }

    /// When [`Connection::advance`] must be called next.
    #[inline]
    pub fn next_timer(&self) -> Option<Time> {
        let of_halves = self.sender.deadline().min(self.receiver.deadline());
        earliest([self.handshake.deadline, Some(of_halves)])
    }

    /// Does what is due at `now`; segments that follow are polled.
    #[inline(always)]
    pub fn advance(&mut self, now: Time) {
        self.handshake.on_timer(now);
        self.sender.on_timer(now);
    }

    /// A segment arrived.
    #[inline(always)]
    pub fn receive(&mut self, now: Time, segment: &TcpSegment) {
        if self.state == State::Established || self.opens(now, segment) {
            self.on_segment(now, segment);
        }
    }

    /// True if each mark is told, and every packet may be marked.
    fn hears_exactly(&self) -> bool {
        self.agreement.ecn && self.config.hears_exactly()
    }

    fn acknowledged_offset(&self, segment: &TcpSegment) -> Option<u64> {
        if !segment.flags.contains(TcpFlags::ACK) {
            return None;
        }
        self.local.offset_of(segment.ack, self.sender.next())
    }

    /// A segment on an open connection.
    #[inline(always)]
    fn on_segment(&mut self, now: Time, segment: &TcpSegment) {
        let Some(start) = self.remote.offset_of(segment.seq, self.receiver.next()) else { return };
        if segment.flags.contains(TcpFlags::SYN) || !self.accept_timestamp(segment, start) {
            self.receiver.acknowledge_at_once();
            return;
        }
        let at_once =
            self.accurate.as_mut().is_some_and(|own| own.arrived(segment.ecn, segment.payload));
        let echo = self.echoed(now, segment);
        self.on_acknowledgement(now, segment, echo);
        let classic = self.agreement.ecn && self.accurate.is_none();
        let fin = segment.flags.contains(TcpFlags::FIN);
        if segment.payload > 0 || fin {
            let incoming = Incoming {
                start,
                payload: segment.payload,
                fin,
                push: segment.flags.contains(TcpFlags::PSH),
                marked: classic && segment.ecn == Ecn::Ce,
                capable: classic && segment.ecn != Ecn::NotEct,
                cwr: !self.agreement.accurate && segment.flags.contains(TcpFlags::CWR),
                echo,
            };
            let path = self.path();
            self.receiver.on_data(now, &incoming, &path);
            if at_once {
                self.receiver.acknowledge_at_once();
            }
        }
    }

    /// What the sending half knows of the path.
    fn path(&self) -> Path {
        Path { srtt: self.sender.rtt().measured(), rto: self.sender.rtt().rto() }
    }

    /// PAWS and TS.Recent (RFC 7323 sections 5.3 and 4.3); false if the segment is an old one.
    fn accept_timestamp(&mut self, segment: &TcpSegment, start: u64) -> bool {
        let Some(timestamps) = segment.options.timestamps.filter(|_| self.agreement.timestamps)
        else {
            return true;
        };
        let older = (timestamps.value.wrapping_sub(self.ts_recent) as i32) < 0;
        if !older && start <= self.last_ack_sent {
            self.ts_recent = timestamps.value;
        }
        !older
    }

    #[inline(always)]
    fn on_acknowledgement(&mut self, now: Time, segment: &TcpSegment, echo: Option<u64>) {
        let Some(ack) = self.acknowledged_offset(segment) else { return };
        let window = u64::from(segment.window) << self.agreement.peer_shift;
        let plain = segment.options.sack.as_slice().is_empty() && self.accurate.is_none();
        if !plain || !self.sender.hears_at_rest(ack, window) {
            self.hear(now, segment, (ack, window), echo);
        }
    }

    /// The sender hears what a segment acknowledges, and the window that it announces.
    #[inline(never)]
    fn hear(
        &mut self,
        now: Time,
        segment: &TcpSegment,
        (ack, window): (u64, u64),
        echo: Option<u64>,
    ) {
        let ranges = segment.options.sack.as_slice();
        let mut blocks = SmallVec::<[(u64, u64); 4]>::new();
        for (left, right) in ranges {
            let offsets = (self.local.offset_of(*left, ack), self.local.offset_of(*right, ack));
            if let (Some(start), Some(end)) = offsets {
                blocks.push((start, end));
            }
        }
        // The last segment of the handshake tells of the SYN-ACK in place of the counter.
        let of_handshake = self.sender.next() == FIRST_BYTE && segment.payload == 0;
        let counted = self.accurate.as_mut().filter(|_| !of_handshake);
        let counted = counted.map(|own| own.heard(segment.flags, segment.options.acc_ecn));
        let ece = match counted {
            Some(heard) => heard.packets > 0,
            None => {
                self.agreement.ecn
                    && !self.agreement.accurate
                    && segment.flags.contains(TcpFlags::ECE)
            }
        };
        self.sender.on_ack(
            now,
            &Acknowledgement {
                ack,
                sack: &blocks,
                window,
                echo,
                carries_data: segment.payload > 0,
                ece,
                counted,
            },
        );
    }

    /// The millisecond of ours that a segment echoes.
    fn echoed(&self, now: Time, segment: &TcpSegment) -> Option<u64> {
        let timestamps = segment.options.timestamps.filter(|_| self.agreement.timestamps)?;
        let ago = self.config.timestamp(now).wrapping_sub(timestamps.echo);
        Some((now.0 / 1_000_000).saturating_sub(u64::from(ago)))
    }

    /// Hands over the segments that are to be sent now, where nothing goes before data.
    #[inline(always)]
    pub(crate) fn transmit(&mut self, now: Time, to: &mut impl Segments) {
        debug_assert!(!self.is_preempted());
        loop {
            while let Some(outgoing) = self.sender.poll_transmit(now) {
                to.take(&self.data(now, &outgoing));
            }
            if !self.receiver.owes_acknowledgement(now) {
                return;
            }
            to.take(&self.acknowledgement(now));
        }
    }

    /// True if nothing is to be sent now: this end only receives, and owes no acknowledgement yet.
    #[inline(always)]
    pub(crate) fn is_quiet(&self, now: Time) -> bool {
        self.sender.is_at_rest() && !self.receiver.owes_acknowledgement(now) && !self.is_preempted()
    }

    /// True if something goes before data, or the connection is not open.
    #[inline(always)]
    pub(crate) fn is_preempted(&self) -> bool {
        let is_open = self.state == State::Established && !self.handshake.pending;
        !is_open | self.ack_first | self.receiver.is_urgent()
    }

    /// The next segment to be sent now, if any.
    pub fn poll_transmit(&mut self, now: Time) -> Option<TcpSegment> {
        if self.is_preempted() {
            return self.poll_first(now);
        }
        if let Some(outgoing) = self.sender.poll_transmit(now) {
            return Some(self.data(now, &outgoing));
        }
        self.receiver.owes_acknowledgement(now).then(|| self.acknowledgement(now))
    }

    /// The next segment where something goes before data.
    #[cold]
    fn poll_first(&mut self, now: Time) -> Option<TcpSegment> {
        if self.handshake.pending {
            return Some(self.handshake_segment(now));
        }
        if self.state != State::Established {
            return None;
        }
        if std::mem::take(&mut self.ack_first) {
            return Some(self.acknowledgement(now));
        }
        if let Some((next, marked)) = self.receiver.take_early() {
            return Some(self.early(now, next, marked));
        }
        let ranges = self.receiver.take_overdue()?;
        Some(self.report(now, &ranges))
    }

    #[inline(always)]
    fn data(&mut self, now: Time, outgoing: &Outgoing) -> TcpSegment {
        let mut segment = self.acknowledgement(now);
        segment.seq = self.local.number_of(outgoing.start);
        segment.payload = outgoing.payload;
        // A full segment has no room for it.
        segment.options.acc_ecn = None;
        self.receiver.data_sent(now);
        if outgoing.push {
            segment.flags = segment.flags | TcpFlags::PSH;
        }
        if outgoing.fin {
            segment.flags = segment.flags | TcpFlags::FIN;
        }
        if outgoing.cwr && self.agreement.ecn && !self.agreement.accurate {
            segment.flags = segment.flags | TcpFlags::CWR;
        }
        if self.agreement.accurate {
            segment.ecn = Ecn::Ect1;
            return segment;
        }
        // Retransmissions are not ECN-capable (RFC 3168 section 6.1.5).
        if self.agreement.ecn && (!outgoing.retransmission || self.hears_exactly()) {
            segment.ecn = Ecn::Ect0;
        }
        segment
    }

    /// A segment without data; whatever is owed to the peer is in it.
    #[inline(always)]
    fn acknowledgement(&mut self, now: Time) -> TcpSegment {
        if self.agreement.ecn || !self.receiver.reports_nothing() {
            return self.full_acknowledgement(now);
        }
        // Nearly always there is nothing more to tell.
        let path = self.path();
        let window = self.receiver.acknowledged(now, &path, self.agreement.own_shift);
        let options = TcpOptions { timestamps: self.timestamps(now), ..TcpOptions::default() };
        self.last_ack_sent = self.receiver.next();
        TcpSegment {
            seq: self.local.number_of(self.sender.next()),
            ack: self.remote.number_of(self.receiver.next()),
            flags: TcpFlags::ACK,
            window,
            options,
            ..TcpSegment::default()
        }
    }

    /// The timestamps of a segment sent now.
    #[inline]
    fn timestamps(&self, now: Time) -> Option<Timestamps> {
        let value = self.config.timestamp(now);
        self.agreement.timestamps.then_some(Timestamps { value, echo: self.ts_recent })
    }

    /// An acknowledgement with ranges or with what it says of marks.
    #[inline(never)]
    fn full_acknowledgement(&mut self, now: Time) -> TcpSegment {
        let ranges = self.ranges();
        let path = self.path();
        let window = self.receiver.acknowledged(now, &path, self.agreement.own_shift);
        self.bare(now, &ranges, window)
    }

    /// The ranges that an acknowledgement reports.
    #[inline]
    fn ranges(&self) -> SmallVec<[(u64, u64); 4]> {
        // Nearly always there are none.
        if self.receiver.reports_nothing() {
            return SmallVec::new();
        }
        self.receiver.reported().take(4).collect()
    }

    /// A report of these ranges; what else is owed to the peer stays so.
    fn report(&mut self, now: Time, ranges: &[(u64, u64)]) -> TcpSegment {
        let window = self.receiver.announced(self.agreement.own_shift);
        self.bare(now, ranges, window)
    }

    /// An acknowledgement of what arrived before the last packet; what is owed to the peer stays so.
    fn early(&mut self, now: Time, next: u64, marked: bool) -> TcpSegment {
        let ranges = self.ranges();
        let mut segment = self.report(now, &ranges);
        segment.ack = self.remote.number_of(next);
        segment.flags = if marked { TcpFlags::ACK | TcpFlags::ECE } else { TcpFlags::ACK };
        segment
    }

    fn bare(&mut self, now: Time, ranges: &[(u64, u64)], window: u16) -> TcpSegment {
        let timestamps = self.timestamps(now);
        let mut sack = SackBlocks::default();
        if self.agreement.sack {
            let room = if timestamps.is_some() { SackBlocks::BESIDE_TIMESTAMPS } else { 4 };
            for (start, end) in ranges.iter().take(room) {
                sack.push(self.remote.number_of(*start), self.remote.number_of(*end));
            }
        }
        let mut options = TcpOptions { timestamps, sack, ..TcpOptions::default() };
        let mut flags = TcpFlags::ACK;
        if let Some(own) = &mut self.accurate {
            options.acc_ecn = own.option(options.room());
            let told = own.tell();
            flags = flags | self.answered.take().map_or(told, accurate::answer_to);
        } else if self.agreement.ecn && self.receiver.echoes_mark() {
            flags = flags | TcpFlags::ECE;
        }
        self.last_ack_sent = self.receiver.next();
        TcpSegment {
            seq: self.local.number_of(self.sender.next()),
            ack: self.remote.number_of(self.receiver.next()),
            flags,
            window,
            options,
            payload: 0,
            // RFC 8257 section 3: of a flow that hears of each mark, acknowledgements may be marked, too.
            ecn: if self.hears_exactly() { Ecn::Ect0 } else { Ecn::NotEct },
        }
    }
}

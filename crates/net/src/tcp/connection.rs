//! A connection as a state machine: a handshake, then a sender and a receiver that share segments.
//!
//! Translates between segments with 32-bit numbers and the halves' 64-bit offsets, and keeps the
//! timestamps (RFC 7323) and the ECN bits (RFC 3168, RFC 8257, RFC 9768). Either end may write; each closes its
//! direction with a FIN of its own.

mod handshake;
mod segment_input;
mod segment_output;
mod time_wait;

pub use segment_input::{Arrival, PredictedSegment, SegmentForm};
pub(crate) use time_wait::TimeWait;

use super::accecn::AccEcnCounters;
use super::config::TcpConfig;
use super::receiver::{Path, Receiver};
use super::sender::{FIRST_BYTE, Sender, SenderSettings};
use super::sequence::SequenceSpace;
use super::syn_options::Negotiated;
use super::syn_retransmission::SynRetransmission;
use crate::wire::{Ecn, PredictedHeader, SackBlocks, TcpFlags, TcpSegment, Telemetry};
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
    syn: SynRetransmission,
    /// The peer's SYN, which a SYN-ACK answers.
    peer_syn: Option<Box<TcpSegment>>,
    negotiated: Negotiated,
    local: SequenceSpace,
    remote: SequenceSpace,
    sender: Sender,
    receiver: Receiver,
    /// TS.Recent: the timestamp to echo.
    ts_recent: u32,
    /// Last.ACK.sent, as an offset.
    last_ack_sent: u64,
    /// An acknowledgement goes out before any data.
    ack_first: bool,
    /// The counters of marks, if both ends count them.
    accurate: Option<AccEcnCounters>,
    /// The codepoint of the SYN-ACK, which the segment behind it reports.
    answered: Option<Ecn>,
}

/// Destination of a connection's segments.
pub(crate) trait Segments {
    fn take(&mut self, segment: &TcpSegment);

    /// One that has timestamps alone, as nearly all have, or ranges besides; its ports are not filled
    /// in.
    fn take_usual(&mut self, segment: &PredictedHeader, sack: Option<&SackBlocks>);
}

/// One segment.
impl Segments for Option<TcpSegment> {
    fn take(&mut self, segment: &TcpSegment) {
        *self = Some(*segment);
    }

    fn take_usual(&mut self, segment: &PredictedHeader, sack: Option<&SackBlocks>) {
        *self = Some(segment.with_ranges(sack));
    }
}

/// Parameters of a sender before the peer is known.
fn settings(config: &TcpConfig, now: Time) -> SenderSettings {
    SenderSettings {
        now,
        mss: u32::from(config.mss),
        control: config.congestion_control,
        initial_window: config.initial_window,
        min_rto: config.min_rto,
        hz: config.hz,
        base_rtt: config.base_rtt,
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
        connection.syn.pending = true;
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

    /// Its settings.
    pub(crate) fn config(&self) -> &TcpConfig {
        &self.config
    }

    fn new(config: TcpConfig, state: State) -> Connection {
        Connection {
            state,
            syn: SynRetransmission::new(config.hz),
            peer_syn: None,
            negotiated: Negotiated::default(),
            local: SequenceSpace::new(config.initial_sequence),
            remote: SequenceSpace::new(0),
            sender: Sender::new(&settings(&config, Time::ZERO)),
            receiver: Receiver::new(
                config.receive_window,
                u32::from(config.mss),
                (config.hz, config.delayed_ack),
            ),
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

    /// Time of the next call of [`Connection::advance`].
    #[inline]
    pub fn next_timer(&self) -> Option<Time> {
        let of_halves = self.sender.deadline().min(self.receiver.deadline());
        Some(of_halves.min(self.syn.deadline)).filter(|at| *at < Time::MAX)
    }

    /// Does what is due at `now`; segments that follow are polled.
    #[inline(always)]
    pub fn advance(&mut self, now: Time) {
        self.syn.on_timer(now);
        self.sender.on_timer(now);
    }

    /// Telemetry arrived: of a data segment, which is acknowledged at once, or returned to its sender.
    #[cold]
    pub(crate) fn on_telemetry(&mut self, telemetry: &Telemetry) {
        if telemetry.returned {
            self.sender.on_telemetry(telemetry);
        } else {
            self.receiver.acknowledge_at_once();
        }
    }

    /// True if each mark is reported, and every packet may be marked.
    fn uses_dctcp_echo(&self) -> bool {
        self.negotiated.ecn && self.config.uses_dctcp_echo()
    }

    fn acknowledged_offset(&self, flags: TcpFlags, ack: u32) -> Option<u64> {
        if !flags.contains(TcpFlags::ACK) {
            return None;
        }
        self.local.offset_of(ack, self.sender.next())
    }

    /// The sending half's knowledge of the path.
    fn path(&self) -> Path {
        Path { srtt: self.sender.rtt().measured(), rto: self.sender.rtt().rto() }
    }

    /// True if something goes before data, or the connection is not open.
    #[inline(always)]
    pub(crate) fn is_preempted(&self) -> bool {
        let is_open = self.state == State::Established && !self.syn.pending;
        !is_open | self.ack_first | self.receiver.is_urgent()
    }

    /// False if nothing goes out before something is written or arrives: this end only receives.
    #[inline(always)]
    pub(crate) fn may_send_data(&self) -> bool {
        !self.sender.is_at_rest()
    }

    /// Emits the data that are due, if there may be some and nothing has precedence.
    #[inline(always)]
    pub(crate) fn send_data(&mut self, now: Time, to: &mut impl Segments) {
        debug_assert!(!self.is_preempted());
        while let Some(outgoing) = self.sender.poll_busy(now) {
            self.tell_data(now, &outgoing, to);
        }
    }

    /// True if an acknowledgement must go out now, where no data have taken it along.
    #[inline(always)]
    pub(crate) fn owes_acknowledgement(&self, now: Time) -> bool {
        self.receiver.owes_acknowledgement(now)
    }

    /// Emits an acknowledgement.
    #[inline(always)]
    pub(crate) fn acknowledge(&mut self, now: Time, to: &mut impl Segments) {
        self.emit(now, to);
    }

    /// The next segment to be sent now, if any.
    pub fn poll_transmit(&mut self, now: Time) -> Option<TcpSegment> {
        if self.is_preempted() {
            return self.poll_first(now);
        }
        let mut segment = None;
        if let Some(outgoing) = self.sender.poll_transmit(now) {
            self.tell_data(now, &outgoing, &mut segment);
        } else if self.owes_acknowledgement(now) {
            self.emit(now, &mut segment);
        }
        segment
    }

    /// The next segment where something goes before data.
    #[cold]
    fn poll_first(&mut self, now: Time) -> Option<TcpSegment> {
        if self.syn.pending {
            return Some(self.handshake_segment(now));
        }
        if self.state != State::Established {
            return None;
        }
        if std::mem::take(&mut self.ack_first) {
            return Some(self.full_acknowledgement(now));
        }
        if let Some((next, marked)) = self.receiver.take_early() {
            return Some(self.early(now, next, marked));
        }
        let ranges = self.receiver.take_overdue()?;
        Some(self.report(now, &ranges))
    }
}

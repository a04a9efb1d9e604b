//! The sending half of a connection: which bytes go out, when, and when again.
//!
//! Stands on the scoreboard (what is outstanding), loss detection, recovery, the round-trip
//! estimate, the timer and a congestion control, a file each. Works in 64-bit offsets of its
//! stream; must not know wire formats, nor the receiving half.

mod loss;
mod recovery;
mod rtt;
mod scoreboard;
mod timer;
mod usage;

pub use rtt::RttEstimator;
pub(crate) use rtt::{INITIAL_RTO, MAX_RTO};

use crate::tcp::congestion::{Ack, CongestionControl};
use recovery::{Cause, Recovery};
use scoreboard::{Delivered, Scoreboard, Transmission};
use sojourn_packet::Time;
use timer::RetransmissionTimer;
use usage::WindowUsage;

/// The offset of the first byte of data: offset 0 is the SYN.
pub(crate) const FIRST_BYTE: u64 = 1;

/// What an acknowledgement says, in offsets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Acknowledgement<'a> {
    /// Next offset expected.
    pub(crate) ack: u64,
    /// Ranges that arrived out of order.
    pub(crate) sack: &'a [(u64, u64)],
    /// Bytes that may be sent from `ack` on.
    pub(crate) window: u64,
    /// Round-trip time by the echoed timestamp.
    pub(crate) echo_rtt: Option<Time>,
    /// A congestion mark is echoed.
    pub(crate) ece: bool,
}

/// A segment to be sent, in offsets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Outgoing {
    pub(crate) start: u64,
    pub(crate) payload: u32,
    pub(crate) fin: bool,
    pub(crate) retransmission: bool,
    /// Tells the receiver that the window was reduced for its mark.
    pub(crate) cwr: bool,
}

/// What a sender has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SenderStatistics {
    /// Segments sent for the first time.
    pub segments: u64,
    /// Segments sent again.
    pub retransmits: u64,
    /// Expiries of the retransmission timer.
    pub timeouts: u64,
    /// Recoveries begun, for losses or marks.
    pub congestion_events: u64,
}

/// Where the sender stands in the life of its window.
#[derive(Clone, Debug)]
enum Phase {
    /// Nothing is wrong, or not yet known to be.
    Open,
    /// The window is being reduced for a loss or a mark.
    Recovery(Recovery),
    /// After a timeout, until what was outstanding then, up to `end`, is acknowledged; `una` was
    /// the oldest segment then.
    Loss { una: u64, end: u64 },
}

/// The sending half.
#[derive(Debug)]
pub struct Sender {
    mss: u32,
    control: Box<dyn CongestionControl>,
    scoreboard: Scoreboard,
    rtt: RttEstimator,
    timer: RetransmissionTimer,
    phase: Phase,
    usage: WindowUsage,
    /// Offset up to which the peer takes data.
    window_edge: u64,
    /// Offset up to which the application has written.
    written: u64,
    /// The application will not write any more.
    closing: bool,
    /// The last transmission that is known to have arrived.
    latest_delivered: Transmission,
    /// A round trip ends when something behind this offset is acknowledged.
    round_end: u64,
    cwr_pending: bool,
    sent_since_poll: bool,
    last_sent: Time,
    statistics: SenderStatistics,
}

impl Sender {
    /// A sender at the first byte of its stream; `peer_window` in bytes.
    pub(crate) fn new(
        mss: u32,
        control: Box<dyn CongestionControl>,
        rtt: RttEstimator,
        peer_window: u64,
    ) -> Sender {
        Sender {
            mss,
            control,
            scoreboard: Scoreboard::new(FIRST_BYTE),
            rtt,
            timer: RetransmissionTimer::default(),
            phase: Phase::Open,
            usage: WindowUsage::default(),
            window_edge: FIRST_BYTE + peer_window,
            written: FIRST_BYTE,
            closing: false,
            latest_delivered: 0,
            round_end: FIRST_BYTE,
            cwr_pending: false,
            sent_since_poll: false,
            last_sent: Time::ZERO,
            statistics: SenderStatistics::default(),
        }
    }

    /// The application has written up to `offset` in all.
    pub(crate) fn set_written(&mut self, offset: u64) {
        if !self.closing {
            self.written = offset.max(self.scoreboard.next());
        }
    }

    /// The application writes no more; what it has written is sent, then a FIN.
    pub(crate) fn close(&mut self) {
        self.closing = true;
    }

    /// The window that counts now, in bytes.
    pub fn window(&self) -> u64 {
        match &self.phase {
            Phase::Recovery(recovery) => recovery.window(),
            Phase::Open | Phase::Loss { .. } => self.control.window(),
        }
    }

    /// The slow-start threshold in bytes, [`u64::MAX`] while there is none.
    pub fn ssthresh(&self) -> u64 {
        self.control.ssthresh()
    }

    /// The round-trip estimate.
    pub fn rtt(&self) -> &RttEstimator {
        &self.rtt
    }

    /// Bytes believed to be in the network.
    pub fn in_flight(&self) -> u64 {
        self.scoreboard.pipe()
    }

    /// Offset of the next new byte (SND.NXT).
    pub(crate) fn next(&self) -> u64 {
        self.scoreboard.next()
    }

    /// Counters.
    pub fn statistics(&self) -> SenderStatistics {
        self.statistics
    }

    /// True in a recovery from losses or marks.
    pub fn in_recovery(&self) -> bool {
        matches!(self.phase, Phase::Recovery(_))
    }

    /// When [`Sender::on_timer`] must be called.
    pub(crate) fn deadline(&self) -> Option<Time> {
        self.timer.deadline()
    }

    /// An acknowledgement arrived.
    pub(crate) fn on_ack(&mut self, now: Time, info: &Acknowledgement) {
        if info.ack > self.scoreboard.next() {
            return;
        }
        self.window_edge = self.window_edge.max(info.ack + info.window);
        let advanced = info.ack > self.scoreboard.una();
        let mut acked = Delivered::new(now, self.rtt.min());
        let mut sacked = acked;
        self.scoreboard.acknowledge(info.ack, &mut acked);
        for (start, end) in info.sack {
            self.scoreboard.sack(*start, *end, &mut sacked);
        }
        let sample = self.measure(now, &acked, &sacked, info.echo_rtt.filter(|_| advanced));
        if advanced {
            self.rearm(now);
        }
        let delivered = acked.bytes + sacked.bytes;
        self.latest_delivered = self.latest_delivered.max(acked.latest).max(sacked.latest);
        loss::detect(&mut self.scoreboard, self.latest_delivered, self.mss);
        self.change_phase(now, delivered, info.ece);
        if advanced && !self.in_recovery() {
            self.grow(now, delivered, sample);
        }
    }

    /// Takes the round-trip time that the acknowledgement shows: of segments sent once, or by
    /// timestamp (RFC 7323 section 4).
    fn measure(
        &mut self,
        now: Time,
        acked: &Delivered,
        sacked: &Delivered,
        echo: Option<Time>,
    ) -> Option<Time> {
        let since = |at: Time| now.saturating_sub(at);
        let sample = acked.oldest.or(sacked.oldest).map(since).or(echo)?;
        self.rtt.sample(sample);
        self.timer.forget_backoff();
        Some(acked.newest.or(sacked.newest).map_or(sample, since))
    }

    fn rearm(&mut self, now: Time) {
        if self.scoreboard.outstanding() == 0 {
            self.timer.stop();
        } else {
            self.timer.restart(now, self.rtt.rto());
        }
    }

    fn change_phase(&mut self, now: Time, delivered: u64, ece: bool) {
        let una = self.scoreboard.una();
        // Losses among what was sent during a recovery begin the next one when it ends.
        let lost = self.scoreboard.has_lost();
        match &self.phase {
            Phase::Recovery(recovery) if recovery.ends_at(una) => self.phase = Phase::Open,
            Phase::Loss { end, .. } if una >= *end => self.phase = Phase::Open,
            _ => {}
        }
        match &mut self.phase {
            Phase::Open if lost => self.enter_recovery(now, Cause::Loss, delivered),
            Phase::Open if ece => {
                self.cwr_pending = true;
                self.enter_recovery(now, Cause::Mark, delivered);
            }
            Phase::Recovery(recovery) => {
                if lost {
                    recovery.found_loss(self.scoreboard.next());
                }
                recovery.on_ack(delivered, self.scoreboard.pipe(), self.mss);
            }
            Phase::Open | Phase::Loss { .. } => {}
        }
    }

    fn enter_recovery(&mut self, now: Time, cause: Cause, delivered: u64) {
        self.control.on_congestion(now);
        self.statistics.congestion_events += 1;
        let board = &self.scoreboard;
        let ssthresh = self.control.ssthresh();
        let mut recovery = Recovery::new(cause, board.next(), ssthresh, board.outstanding());
        recovery.on_ack(delivered, board.pipe(), self.mss);
        self.phase = Phase::Recovery(recovery);
    }

    fn grow(&mut self, now: Time, delivered: u64, rtt: Option<Time>) {
        let window = self.control.window();
        let slow_start = window < self.control.ssthresh();
        let new_round = self.scoreboard.una() > self.round_end;
        if new_round {
            self.round_end = self.scoreboard.next();
        }
        self.control.on_ack(&Ack {
            now,
            delivered,
            rtt,
            srtt: self.rtt.srtt(),
            in_flight: self.scoreboard.pipe(),
            new_round,
            window_limited: self.usage.is_limited(window, slow_start),
        });
    }

    /// The retransmission timer may have expired.
    pub(crate) fn on_timer(&mut self, now: Time) {
        if self.timer.deadline().is_none_or(|deadline| now < deadline) {
            return;
        }
        // A recovery has reduced the threshold for these data already, an earlier timeout too.
        let again = match self.phase {
            Phase::Open => false,
            Phase::Recovery(_) => true,
            Phase::Loss { una, .. } => self.scoreboard.una() == una,
        };
        self.control.on_timeout(now, again);
        self.scoreboard.lose_all();
        let board = &self.scoreboard;
        self.phase = Phase::Loss { una: board.una(), end: board.next() };
        self.timer.back_off(now, self.rtt.rto());
        self.statistics.timeouts += 1;
    }

    /// The next segment that may be sent now.
    pub(crate) fn poll_transmit(&mut self, now: Time) -> Option<Outgoing> {
        let outgoing = self.retransmit(now).or_else(|| self.send_new(now));
        match outgoing {
            Some(_) => self.sent_since_poll = true,
            None if self.sent_since_poll => {
                self.sent_since_poll = false;
                let limited = self.scoreboard.pipe() + u64::from(self.mss) > self.window();
                self.usage.sent(self.scoreboard.una(), self.scoreboard.next(), limited);
            }
            None => {}
        }
        outgoing
    }

    /// RFC 6675 section 5, `NextSeg` rule 1: the first lost segment that was not sent again.
    fn retransmit(&mut self, now: Time) -> Option<Outgoing> {
        let (start, end) = self.scoreboard.next_lost()?;
        if self.scoreboard.pipe() + (end - start) > self.window() {
            return None;
        }
        self.scoreboard.resend(now, start);
        self.statistics.retransmits += 1;
        if start == self.scoreboard.una() {
            // As Linux does: the timer is for the oldest segment, which has just been sent.
            self.timer.restart(now, self.rtt.rto());
        }
        self.after_send(now, end - start);
        let fin = end > self.written;
        let payload = (end - start - u64::from(fin)) as u32;
        Some(Outgoing { start, payload, fin, retransmission: true, cwr: false })
    }

    /// RFC 6675 section 5, `NextSeg` rule 2: new data.
    fn send_new(&mut self, now: Time) -> Option<Outgoing> {
        let start = self.scoreboard.next();
        if start > self.written {
            return None; // The FIN is out.
        }
        let payload = self.new_payload(start);
        let fin = self.closing && start + u64::from(payload) == self.written;
        if payload == 0 && !fin {
            return None;
        }
        let len = u64::from(payload) + u64::from(fin);
        self.note_idle(now);
        if self.scoreboard.pipe() + u64::from(payload) > self.window() {
            return None;
        }
        self.scoreboard.send(now, start + len);
        self.statistics.segments += 1;
        self.timer.start(now, self.rtt.rto());
        self.after_send(now, len);
        let cwr = std::mem::take(&mut self.cwr_pending);
        Some(Outgoing { start, payload, fin, retransmission: false, cwr })
    }

    /// How much of what was written fits the peer's window and a segment. A segment that is not
    /// full waits while anything is outstanding (RFC 9293 section 3.7.4), unless it is the last.
    fn new_payload(&self, start: u64) -> u32 {
        let available = self.written.min(self.window_edge).saturating_sub(start);
        let payload = available.min(u64::from(self.mss)) as u32;
        let last = self.closing && start + u64::from(payload) == self.written;
        if payload < self.mss && self.scoreboard.outstanding() > 0 && !last {
            return 0;
        }
        payload
    }

    fn note_idle(&mut self, now: Time) {
        if self.scoreboard.outstanding() == 0 && self.last_sent > Time::ZERO {
            let idle = now.saturating_sub(self.last_sent);
            if idle > Time::ZERO {
                self.control.on_idle(idle, idle > self.rtt.rto());
                self.last_sent = now;
            }
        }
    }

    fn after_send(&mut self, now: Time, bytes: u64) {
        self.last_sent = now;
        if let Phase::Recovery(recovery) = &mut self.phase {
            recovery.on_sent(bytes);
        }
    }
}

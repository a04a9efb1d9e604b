//! Sending half of a connection: selects the bytes to send, and the time of each transmission.
//!
//! `ack_fast_path.rs` processes nearly all acknowledgements, and `acknowledge.rs` the others.
//! Either may change the state in `recovery.rs`. `transmit.rs` selects the output, and
//! `retransmission_timeout.rs` acts without an acknowledgement. They depend on the scoreboard (outstanding
//! segments), RACK (lost segments), rate, round-trip time, pacing, proportional reduction and undo,
//! one file each. They also depend on a congestion control. The sender works in 64-bit stream
//! offsets and in segments. It must not depend on wire formats, nor on the receiving half.

mod ack_fast_path;
mod acknowledge;
mod app_limited;
mod offload;
mod pacing;
mod prr;
mod rack;
mod rate;
mod recovery;
mod retransmission_timeout;
mod rtt;
mod scoreboard;
mod send_buffer;
mod timer;
mod transmit;
mod undo;

pub use rtt::RttEstimator;
pub(crate) use rtt::{INITIAL_RTO, MAX_RTO};

use crate::config::{CongestionControlName, PacingSetting, SegmentationOffload};
use crate::tcp::Hz;
use crate::tcp::accecn::AccEcnFeedback;
use crate::tcp::congestion::{CongestionControl, EcnFeedback, Start, State, Window};
use crate::tcp::timestamp_clock::Echo;
use app_limited::WindowUsage;
use pacing::Pacing;
use prr::Reduction;
use rack::Rack;
use rate::DeliveryRate;
use recovery::Retransmit;
use retransmission_timeout::{Forced, LossProbe};
use scoreboard::Scoreboard;
use send_buffer::SendBuffer;
use sojourn_packet::Time;
use timer::SenderTimer;
use undo::Undo;

/// The offset of the first byte of data: offset 0 is the SYN.
pub(crate) const FIRST_BYTE: u64 = 1;
/// Slack that Linux adds to a probe's or a reordering timer, whose clock is coarse.
const TIMER_SLACK: Time = Time::from_millis(2);

/// Contents of an acknowledgement, in offsets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Acknowledgement<'a> {
    /// Next offset expected.
    pub(crate) ack: u64,
    /// Ranges that arrived out of order; the first may be one that arrived twice (RFC 2883).
    pub(crate) sack: &'a [(u64, u64)],
    /// Bytes that may be sent from `ack` on.
    pub(crate) window: u64,
    /// Local timestamp clock at the sending of the echoed timestamp.
    pub(crate) echo: Option<Echo>,
    /// A congestion mark is echoed.
    pub(crate) ece: bool,
    /// Marks that it reports, if they are counted.
    pub(crate) counted: Option<AccEcnFeedback>,
    /// The segment that brings it has data.
    pub(crate) carries_data: bool,
}

impl Acknowledgement<'_> {
    /// Neither ranges nor marks.
    pub(crate) const PLAIN: Acknowledgement<'static> = Acknowledgement {
        ack: 0,
        sack: &[],
        window: 0,
        echo: None,
        ece: false,
        counted: None,
        carries_data: false,
    };
}

/// A segment to be sent, in offsets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Outgoing {
    pub(crate) start: u64,
    pub(crate) payload: u32,
    pub(crate) fin: bool,
    /// Nothing is left to send behind it.
    pub(crate) push: bool,
    pub(crate) retransmission: bool,
    /// CWR: the window was reduced.
    pub(crate) cwr: bool,
}

/// Statistics of a sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SenderStatistics {
    /// Segments sent for the first time.
    pub segments: u64,
    /// Segments sent again.
    pub retransmits: u64,
    /// Expiries of the retransmission timer.
    pub timeouts: u64,
    /// Reductions of the window begun, for losses or marks, timeouts not counted.
    pub congestion_events: u64,
    /// Loss probes sent.
    pub probes: u64,
    /// Reductions, by loss or timeout, that were undone because nothing had been lost.
    pub undone: u64,
}

/// Parameters of a sender's construction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SenderSettings {
    pub(crate) now: Time,
    pub(crate) mss: u32,
    pub(crate) control: CongestionControlName,
    /// In segments.
    pub(crate) initial_window: u32,
    pub(crate) min_rto: Time,
    /// Ticks a second of the kernel.
    pub(crate) hz: Hz,
    /// Of the path without queues, if it is known.
    pub(crate) base_rtt: Option<Time>,
    /// The round-trip time of the handshake, if it was measured.
    pub(crate) rtt: Option<Time>,
    /// In bytes.
    pub(crate) peer_window: u64,
    /// The peer sends selective acknowledgements.
    pub(crate) sack: bool,
    pub(crate) offload: SegmentationOffload,
    pub(crate) pacing: PacingSetting,
    /// Seed of the control's random choices.
    pub(crate) seed: u64,
}

/// The sending half.
#[derive(Debug)]
pub struct Sender {
    hz: Hz,
    mss: u32,
    initial_window: u32,
    sack: bool,
    offload: SegmentationOffload,
    control: Box<dyn CongestionControl>,
    window: Window,
    scoreboard: Scoreboard,
    rack: Rack,
    rate: DeliveryRate,
    rtt: RttEstimator,
    pacing: Pacing,
    timer: SenderTimer,
    usage: WindowUsage,
    state: State,
    /// SND.NXT when the state was entered (RecoveryPoint of RFC 6675).
    episode_end: u64,
    reduction: Reduction,
    undo: Undo,
    /// It is not yet known whether the timeout was spurious.
    frto: bool,
    probe: Option<LossProbe>,
    /// Timeouts since something was last acknowledged.
    timeouts_in_row: u32,
    /// Segments that the receiver has reported as duplicates.
    duplicates: u64,
    retransmit: Retransmit,
    forced: Option<Forced>,
    /// Segments of the present burst that have not gone.
    burst_left: u32,
    /// Less than a burst waits for more room.
    deferred: bool,
    sent_since_poll: bool,
    probe_sent: bool,
    /// Offset up to which the peer takes data, and its window as last announced.
    window_edge: u64,
    peer_window: u64,
    /// Bytes written by the application.
    buffer: SendBuffer,
    /// End of the last segment that was not full.
    last_small: u64,
    /// The application will not write any more.
    closing: bool,
    cwr_pending: bool,
    /// The feedback of marks that the control reads.
    ecn_feedback: EcnFeedback,
    /// Segments that were acknowledged as marked.
    delivered_marked: u64,
    last_sent: Time,
    statistics: SenderStatistics,
}

impl Sender {
    /// A sender at the first byte of its stream.
    pub(crate) fn new(settings: &SenderSettings) -> Sender {
        let SenderSettings { now, mss, rtt, base_rtt, hz, seed, .. } = *settings;
        let window = settings.initial_window;
        let control = settings.control.start(&Start { now, mss, window, rtt, base_rtt, hz, seed });
        let together = settings.offload.largest_burst(mss);
        let mut buffer = SendBuffer::new(FIRST_BYTE, mss, together, control.buffered_windows());
        buffer.see_window(settings.peer_window);
        let mut estimator = RttEstimator::new(hz, settings.min_rto);
        if let Some(rtt) = rtt {
            estimator.sample(rtt, FIRST_BYTE, FIRST_BYTE);
            estimator.see_min(now, rtt);
        } else {
            estimator.distrust();
        }
        Sender {
            hz,
            mss,
            initial_window: window,
            sack: settings.sack,
            offload: settings.offload,
            pacing: Pacing::new(control.pacing_rate(), settings.pacing),
            control,
            window: Window::new(window),
            scoreboard: Scoreboard::new(FIRST_BYTE),
            rack: Rack::new(),
            rate: DeliveryRate::new(),
            rtt: estimator,
            timer: SenderTimer::new(hz),
            usage: WindowUsage::default(),
            state: State::Open,
            episode_end: 0,
            reduction: Reduction::default(),
            undo: Undo::default(),
            frto: false,
            probe: None,
            timeouts_in_row: 0,
            duplicates: 0,
            retransmit: Retransmit::Nothing,
            forced: None,
            burst_left: 0,
            deferred: false,
            sent_since_poll: false,
            probe_sent: false,
            window_edge: FIRST_BYTE + settings.peer_window,
            peer_window: settings.peer_window,
            buffer,
            last_small: 0,
            closing: false,
            cwr_pending: false,
            ecn_feedback: settings.control.ecn_feedback(),
            delivered_marked: 0,
            last_sent: Time::ZERO,
            statistics: SenderStatistics::default(),
        }
    }

    /// The application wants to have written up to `offset` in all. What the buffer has taken goes
    /// out, even if `offset` is less.
    pub(crate) fn set_written(&mut self, offset: u64) {
        if self.closing || offset == self.buffer.offered() {
            return;
        }
        self.buffer.offer(offset);
        if !self.buffer.waits() {
            self.fill_buffer();
        }
    }

    /// The application writes what the buffer takes.
    fn fill_buffer(&mut self) {
        if self.buffer.has_all() {
            return;
        }
        let next = self.scoreboard.next();
        // It writes after there was nothing left to send: what is in flight shows its rate, not the
        // path's.
        let ran_dry = self.buffer.written().saturating_sub(next) < u64::from(self.mss);
        let in_flight = self.scoreboard.in_flight();
        if ran_dry && in_flight < self.window.cwnd && !self.scoreboard.has_unsent_loss() {
            self.rate.limit(in_flight);
        }
        self.buffer.fill(self.scoreboard.una(), next);
    }

    /// An application that waits writes more if there is space again; true if it did.
    fn write_more(&mut self) -> bool {
        if !self.buffer.waits() {
            return false;
        }
        let cwnd = self.window.cwnd;
        if self.buffer.may_expand(cwnd) && self.scoreboard.in_flight() < cwnd {
            self.buffer.reckon(cwnd);
        }
        let has_space = self.buffer.has_space(self.scoreboard.una());
        if has_space {
            self.fill_buffer();
        }
        has_space
    }

    /// The application writes no more; what it has written is sent, then a FIN.
    pub(crate) fn close(&mut self) {
        self.closing = true;
    }

    /// The window in bytes.
    pub fn window(&self) -> u64 {
        u64::from(self.window.cwnd) * u64::from(self.mss)
    }

    /// Segments that were acknowledged as marked.
    pub fn delivered_marked(&self) -> u64 {
        self.delivered_marked
    }

    /// The slow-start threshold in bytes, [`u64::MAX`] while there is none.
    pub fn ssthresh(&self) -> u64 {
        if self.window.has_threshold() {
            u64::from(self.window.ssthresh) * u64::from(self.mss)
        } else {
            u64::MAX
        }
    }

    /// The round-trip estimate.
    pub fn rtt(&self) -> &RttEstimator {
        &self.rtt
    }

    /// Bytes believed to be in the network, every segment counted as a full one.
    pub fn in_flight(&self) -> u64 {
        u64::from(self.scoreboard.in_flight()) * u64::from(self.mss)
    }

    /// Payload bytes per second at which the sender paces; absent if it does not.
    pub fn pacing_rate(&self) -> Option<u64> {
        self.pacing.is_enforced().then(|| self.pacing.rate().bytes_per_second())
    }

    /// Offset of the next new byte (SND.NXT).
    pub(crate) fn next(&self) -> u64 {
        self.scoreboard.next()
    }

    /// Counters.
    pub fn statistics(&self) -> SenderStatistics {
        self.statistics
    }

    /// State of the sender.
    pub fn state(&self) -> State {
        self.state
    }

    /// True while the window is being reduced for losses or marks.
    pub fn in_recovery(&self) -> bool {
        self.state.is_reducing()
    }

    /// Time at which [`Sender::on_timer`] must be called, or there is a segment to poll;
    /// [`Time::MAX`] if never.
    #[inline]
    pub(crate) fn deadline(&self) -> Time {
        self.timer.deadline().min(self.pacing.deadline())
    }
}

//! Congestion controls: window and pacing rate, from acknowledged, lost and marked segments.
//!
//! Each control is one file with the same inner order: source, registration, constants, state,
//! algorithm; to add one, write its file and add one line to [`REGISTRY`], or from a crate of its
//! own call [`Registry::add`]. A window-based control defines the growth and the reduction of the
//! window; the sender spreads the reduction over the recovery (RFC 6937). A rate-based one takes
//! every acknowledgement with its delivery rate and sets window and pacing itself. Must not depend
//! on segments' numbers, timers or retransmission.

mod bbr;
mod cube_root;
mod cubic;
mod dctcp;
mod hpcc;
mod hystart;
mod new_reno;
mod prague;
mod window;

pub use bbr::Bbr;
pub use cubic::Cubic;
pub use dctcp::Dctcp;
pub use hpcc::Hpcc;
pub use new_reno::NewReno;
pub use prague::Prague;
pub use window::Window;

use crate::tcp::{Hz, PacingRate};
use crate::wire::Telemetry;
use sojourn_packet::{Named, Registry, Time};
use std::fmt::Debug;

/// State of a sender's window (Linux's congestion avoidance states), in the order of severity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// Nothing is wrong.
    #[default]
    Open,
    /// Something arrived out of order, or was sent again, and it is not yet clear why.
    Disorder,
    /// The window is being reduced for a congestion mark (RFC 3168 section 6.1.2).
    Cwr,
    /// The window is being reduced for losses: fast recovery.
    Recovery,
    /// The retransmission timer has expired.
    Loss,
}

impl State {
    /// True while the reduction is spread over acknowledgements.
    pub fn is_reducing(self) -> bool {
        matches!(self, State::Cwr | State::Recovery)
    }
}

/// Information about one acknowledgement of new data, for a window-based control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ack {
    /// Time of its arrival.
    pub now: Time,
    /// Segments that it reports as delivered for the first time, SACKed ones included.
    pub acked: u32,
    /// True if the window, not the application, has limited the sender lately (RFC 7661).
    pub window_limited: bool,
}

/// A round-trip time that an acknowledgement has measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RttSample {
    /// Time of its arrival.
    pub now: Time,
    /// The round-trip time of the last segment that it reports.
    pub rtt: Time,
    /// The smoothed round-trip time of the timeout (RFC 6298), with this sample in it.
    pub srtt: Time,
    /// The oldest offset not acknowledged, and the next to be sent.
    pub una: u64,
    /// See `una`.
    pub next: u64,
    /// Rate of a paced sender; 0 if nothing was measured.
    pub pacing_rate: PacingRate,
}

/// Delivery rate up to an acknowledgement (the sample of Linux's `tcp_rate.c` and of
/// draft-cheng-iccrg-delivery-rate-estimation).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RateSample {
    /// Segments delivered when the newest segment that is reported was sent.
    pub prior_delivered: u64,
    /// Segments delivered since then, and in what time; absent if unknown.
    pub rate: Option<(u64, Time)>,
    /// The round-trip time of the last segment that is reported.
    pub rtt: Option<Time>,
    /// Segments delivered by this acknowledgement, and found lost.
    pub acked: u32,
    /// See `acked`.
    pub lost: u32,
    /// Segments in flight before it.
    pub prior_in_flight: u32,
    /// The application had nothing to send while it was measured.
    pub app_limited: bool,
    /// The receiver may have delayed the acknowledgement.
    pub ack_delayed: bool,
}

/// Information about a flow, for a rate-based control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flow {
    /// The instant of the acknowledgement.
    pub now: Time,
    /// Payload of a full segment in bytes.
    pub mss: u32,
    /// Segments delivered so far.
    pub delivered: u64,
    /// Time of the last one.
    pub delivered_at: Time,
    /// Segments found lost so far.
    pub lost: u64,
    /// Segments in flight.
    pub in_flight: u32,
    /// The smoothed round-trip time, once there is one.
    pub srtt: Option<Time>,
    /// State of the sender.
    pub state: State,
    /// Time at which pacing releases the next segment.
    pub next_departure: Time,
    /// The application, not the network, limits the rate.
    pub app_limited: bool,
}

#[cfg(test)]
impl Flow {
    /// A flow of which nothing is known but the time.
    pub(crate) fn default_at(now: Time) -> Flow {
        Flow {
            now,
            mss: 1448,
            delivered: 1,
            delivered_at: now,
            lost: 0,
            in_flight: 0,
            srtt: None,
            state: State::Open,
            next_departure: now,
            app_limited: false,
        }
    }
}

/// ECN feedback that a congestion control needs from the receiver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EcnFeedback {
    /// As losses: one for a window is enough, echoed until it is answered (RFC 3168), if the flow is
    /// set to ECN at all.
    #[default]
    Classic,
    /// Each acknowledgement says of what it acknowledges whether it was marked, and every packet is
    /// ECN-capable (RFC 8257 section 3).
    Dctcp,
    /// Counted, with the count in every segment (RFC 9768); data are ECT(1), as L4S requires (RFC
    /// 9331).
    AccEcn,
}

/// Delivered data, and the marked part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Marked {
    /// Time of the acknowledgement's arrival.
    pub now: Time,
    /// The oldest offset not acknowledged, and the next to be sent.
    pub una: u64,
    /// See `una`.
    pub next: u64,
    /// Segments delivered so far.
    pub delivered: u64,
    /// Of them, those that were acknowledged as marked.
    pub marked: u64,
}

/// Telemetry that an acknowledgement returned, and the state of the sequence numbers then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measured {
    /// The hops of the packet that was acknowledged.
    pub telemetry: Telemetry,
    /// The oldest offset not acknowledged, and the next to be sent.
    pub una: u64,
    /// See `una`.
    pub next: u64,
}

/// A congestion control.
pub trait CongestionControl: Debug + Send {
    /// New data were acknowledged and the window is not being reduced: it may grow.
    fn on_ack(&mut self, window: &mut Window, ack: &Ack);

    /// An acknowledgement measured a round-trip time.
    fn on_rtt(&mut self, _window: &mut Window, _sample: &RttSample) {}

    /// An acknowledgement arrived. With [`EcnFeedback::Dctcp`] its cumulative part is not yet counted, as in
    /// Linux's `in_ack_event`; with [`EcnFeedback::AccEcn`] all of it is, and the window has grown, as in
    /// `cong_control`.
    fn on_marked(&mut self, _window: &Window, _seen: &Marked) {}

    /// An acknowledgement returned the telemetry of a data packet.
    fn on_telemetry(&mut self, _window: &mut Window, _seen: &Measured) {}

    /// True if [`CongestionControl::reduce`] answers marks and the window goes on to grow by unmarked
    /// segments; else the reduction is spread over a round trip in which nothing grows.
    fn reduces_at_once(&self) -> bool {
        false
    }

    /// Reduces the window at once for a mark; `is_first` is true for the first of a round trip. False if
    /// the control leaves the window as it is.
    fn reduce(&mut self, _window: &mut Window, _now: Time, _is_first: bool) -> bool {
        false
    }

    /// The window is reduced for a loss, whose threshold may be another than a mark's.
    fn on_loss(&mut self, _window: &mut Window) {}

    /// The threshold of a reduction for a loss or a timeout, and for a mark unless the control reduces
    /// at once.
    fn reduced_threshold(&mut self, window: &Window) -> u32;

    /// The reduction was for nothing: the window to go on with; `prior` is that of before.
    fn restored_window(&mut self, window: &Window, prior: u32) -> u32 {
        window.cwnd.max(prior)
    }

    /// The retransmission timer has expired and the window is set.
    fn on_timeout(&mut self, _flow: &Flow) {}

    /// Something is sent after nothing was in flight, `idle` after the last time.
    fn on_transmit_start(&mut self, _window: &mut Window, _flow: &Flow, _idle: Time) {}

    /// A rate-based control sets the window and its pacing rate by each acknowledgement and
    /// returns what to do; nothing for the others.
    fn on_rate(
        &mut self,
        _window: &mut Window,
        _flow: &Flow,
        _sample: &RateSample,
    ) -> Option<Verdict> {
        None
    }

    /// The rate in bytes per second at which the sender must pace; absent if it need not.
    fn pacing_rate(&self) -> Option<u64> {
        None
    }

    /// Windows that the send buffer has room for: while what was lost is sent again, that many may
    /// be written (`sndbuf_expand`).
    fn buffered_windows(&self) -> u64 {
        2
    }

    /// The least burst, in segments, that segmentation offload may make.
    fn least_burst(&self) -> u32 {
        2
    }
}

/// Requests of a rate-based control beyond its window and rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// The data in flight now must not count as a measure of the path's rate.
    pub ignore_flight: bool,
}

/// Parameters of a control's construction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Start {
    /// Time of construction.
    pub now: Time,
    /// Payload of a full segment in bytes.
    pub mss: u32,
    /// The initial window in segments.
    pub window: u32,
    /// The round-trip time of the handshake, if it was measured.
    pub rtt: Option<Time>,
    /// The round-trip time of the path without queues, if it is known.
    pub base_rtt: Option<Time>,
    /// Ticks a second of the kernel's coarse clock.
    pub hz: Hz,
    /// Seed of random choices.
    pub seed: u64,
}

/// A congestion control that can be chosen by name.
#[derive(Clone, Copy)]
pub struct Registered {
    /// Name.
    pub name: &'static str,
    /// One line.
    pub summary: &'static str,
    /// Name in the Linux kernel, if it exists there.
    pub linux: Option<&'static str>,
    /// Feedback of marks that it needs.
    pub ecn_feedback: EcnFeedback,
    /// It reads what switches write into data packets, which the receiver returns.
    pub telemetry: bool,
    /// A fresh one.
    pub start: fn(&Start) -> Box<dyn CongestionControl>,
}

impl Named for Registered {
    fn name(&self) -> &'static str {
        self.name
    }
}

/// The congestion controls: those of this crate, one line each, and what others add. The first is
/// the one of flows that name none.
pub static REGISTRY: Registry<Registered> = Registry::new(&[
    cubic::REGISTRATION,
    new_reno::REGISTRATION,
    bbr::REGISTRATION,
    dctcp::REGISTRATION,
    prague::REGISTRATION,
    hpcc::REGISTRATION,
]);

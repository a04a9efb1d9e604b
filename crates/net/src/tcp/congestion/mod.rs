//! Congestion controls: how large the window is, told by what is acknowledged, lost or marked.
//!
//! Each control is one file with the same inner order: source, constants, state, algorithm. None
//! of them knows segments, timers or retransmission; during a recovery the sender paces the
//! reduction itself (RFC 6937), so a control sets its new window at once.

mod cube_root;
mod cubic;
mod hystart;
mod new_reno;

pub use cubic::Cubic;
pub use new_reno::NewReno;

use crate::config::CongestionControlName;
use sojourn_packet::Time;
use std::fmt::Debug;

/// What a control may know of one acknowledgement of new data outside a recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ack {
    /// When it arrived.
    pub now: Time,
    /// Bytes that it reports as delivered for the first time, SACKed ones included.
    pub delivered: u64,
    /// The latest round-trip time, if this acknowledgement measured one.
    pub rtt: Option<Time>,
    /// The smoothed round-trip time.
    pub srtt: Time,
    /// Bytes believed to be in the network after it.
    pub in_flight: u64,
    /// True if it is the first of a round trip.
    pub new_round: bool,
    /// True if the window, not the application, has limited the sender lately (RFC 7661).
    pub window_limited: bool,
}

/// A congestion control.
pub trait CongestionControl: Debug + Send {
    /// The congestion window in bytes.
    fn window(&self) -> u64;

    /// The slow-start threshold in bytes, [`u64::MAX`] while there is none.
    fn ssthresh(&self) -> u64;

    /// New data was acknowledged outside a recovery.
    fn on_ack(&mut self, ack: &Ack);

    /// A loss was detected or a mark came back: once per window, before any retransmission.
    fn on_congestion(&mut self, now: Time);

    /// The retransmission timer has expired. `again` is true if it expires for data that it has
    /// expired for before, when the threshold stays (RFC 5681 section 3.1).
    fn on_timeout(&mut self, now: Time, again: bool);

    /// The sender starts to send after nothing was outstanding for `idle`; `restart` is true if
    /// that is longer than the retransmission timeout (RFC 5681 section 4.1).
    fn on_idle(&mut self, idle: Time, restart: bool);
}

/// A fresh control; `mss` in bytes, `initial_window` in segments.
pub fn control(
    name: CongestionControlName,
    mss: u32,
    initial_window: u32,
) -> Box<dyn CongestionControl> {
    match name {
        CongestionControlName::Cubic => Box::new(Cubic::new(mss, initial_window)),
        CongestionControlName::NewReno => Box::new(NewReno::new(mss, initial_window)),
    }
}

//! TCP without a clock and without a socket: segments and instants in, segments and timers out.
//!
//! A [`Connection`] is a handshake, a [`sender`](sender::Sender) for outgoing bytes and a
//! [`receiver`](receiver::Receiver) for incoming ones; each congestion control is one file in
//! [`congestion`]. Uses the wire format. Must not depend on hosts, links or queues, nor on the
//! application beyond the number of bytes that it has written.
//!
//! The driver's loop: pass arrivals to [`Connection::receive`], call [`Connection::advance`] when
//! [`Connection::next_timer`] is due, and after either take segments from
//! [`Connection::poll_transmit`] until there are none.

mod accecn;
mod burst;
mod config;
pub mod congestion;
mod connection;
mod jiffies;
mod minmax;
mod pacing_rate;
mod ranges;
pub mod receiver;
pub mod sender;
mod sequence;
mod syn_options;
mod syn_retransmission;
mod timestamp_clock;

pub use config::TcpConfig;
pub use connection::{Arrival, Connection, PredictedSegment, SegmentForm};
pub(crate) use connection::{Segments, TimeWait};
pub use jiffies::Hz;
pub(crate) use jiffies::earliest;
pub use pacing_rate::PacingRate;

#[cfg(test)]
mod tests;

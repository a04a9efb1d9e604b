//! TCP without a clock and without a socket: segments and instants in, segments and timers out.
//!
//! A [`Connection`] is a handshake, a [`sender`](sender::Sender) for the bytes that go out and a
//! [`receiver`](receiver::Receiver) for those that come in; each congestion control is one file in
//! [`congestion`]. Stands on the wire format; must not know hosts, links, queues or what the
//! application wants beyond how many bytes it has written.
//!
//! The driver's loop: hand in what arrives with [`Connection::receive`], call
//! [`Connection::advance`] when [`Connection::next_timer`] is due, and after either take segments
//! from [`Connection::poll_transmit`] until there are none.

mod accecn;
mod burst;
mod config;
pub mod congestion;
mod connection;
mod handshake;
mod jiffies;
mod minmax;
mod pacing_rate;
mod ranges;
pub mod receiver;
pub mod sender;
mod sequence;

pub use config::TcpConfig;
pub(crate) use connection::Segments;
pub use connection::{Arrival, Connection, PredictedSegment, SegmentForm};
pub(crate) use jiffies::earliest;
pub use pacing_rate::PacingRate;

#[cfg(test)]
mod tests;

//! What travels through every floor and the units it is measured in.
//!
//! Time, rates and sizes are integer newtypes; a [`Packet`] is the bytes a wire would carry plus a
//! payload that is only counted; random numbers that a seed determines. This crate must not know who makes, forwards or reads a packet.

mod packet;
mod split_mix;
mod units;

pub use packet::{FlowId, HEADER_ROOM, HeaderBytes, Packet, PacketId};
pub use split_mix::{SplitMix64, mix};
pub use units::{Bytes, Rate, Time};

//! Packet header vector: a program's data about a packet between two passes, in addition to its
//! bytes.
//!
//! In bmv2 a packet keeps its headers and metadata from ingress to egress; a switch forwards them
//! as an opaque [`PacketMetadata`].

use num_bigint::BigUint;
pub use sojourn_packet::PacketMetadata;

/// Headers and metadata as slots of a frame, with the state of the fixed-function parts.
#[derive(Clone, Debug, Default)]
pub struct Phv {
    /// Values of at most 128 bits: headers, then metadata, then standard metadata.
    pub narrow: Vec<u128>,
    /// Wider values, in the same order.
    pub wide: Vec<BigUint>,
    /// Bits that the parser has consumed.
    pub consumed: u64,
    /// Length in bytes, including headers that were added and removed since.
    pub length: u32,
    /// Length in bytes when the packet last began ingress, for counters and meters.
    pub ingress_length: u32,
    /// The shortest length to which the packet is to be truncated.
    pub truncated: Option<u32>,
    /// The field list of the packet's recirculation, once it leaves egress.
    pub recirculate: Option<u32>,
}

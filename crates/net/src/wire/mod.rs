//! Codecs for Ethernet, IPv4, IPv6, TCP and UDP headers, and for the abstract segments that replace
//! frames whose bytes no component reads (`abstract_segment.rs`).
//!
//! The crate has its own codecs because a payload is counted, not stored. Existing codecs sum a
//! payload slice for the checksum, but a payload of zeros contributes only its length. The packet
//! crate provides the offset of an IP header and the checksum. This module depends on that crate
//! alone, and must not depend on connections, hosts or time.

mod abstract_segment;
mod address;
mod error;
mod frame;
mod frame_detail;
mod header_prediction;
mod ip;
mod options;
mod ranks;
mod tcp;
mod telemetry;
mod udp;

pub use abstract_segment::AbstractSegment;
pub use address::{
    EPHEMERAL, Endpoint, Endpoints, IpAddress, Role, endpoints, flow_endpoints, flow_in_group,
    flow_of, flow_of_ports, networks_of,
};
pub use error::WireError;
pub use frame::{
    Frame, Transport, addressee, destination, read_frame, read_predicted, untagged_ipv4_destination,
};
pub use frame_detail::FrameDetail;
pub use header_prediction::{LEN as PREDICTED_LEN, PredictedHeader};
pub use ip::{Ecn, FrameTemplate, Protocol};
pub use options::{AccEcn, SackBlocks, TcpOptions, Timestamps};
pub(crate) use ranks::LATEST_DEADLINE;
pub use ranks::Ranks;
pub use sojourn_packet::ETHERNET_HEADER_LEN;
pub use tcp::{TcpFlags, TcpSegment, write_predicted, write_tcp};
pub use telemetry::{Hop, INT_PORT, MAX_HOPS, TELEMETRY_ROOM, Telemetry, add_telemetry};
pub use udp::{RTP_HEADER_LEN, Rtp, UDP_HEADER_LEN, UdpDatagram, write_udp};

/// The largest IP packet on our links (Ethernet's usual MTU), in bytes.
pub const MTU: u32 = 1500;

#[cfg(test)]
mod tests;

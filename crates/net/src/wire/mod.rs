//! What lies on the wire: Ethernet, IPv4, IPv6, TCP and UDP headers, written and read, and what goes in
//! their place where nobody looks (`written.rs`).
//!
//! The codecs are our own because the payload is counted, not stored: ready-made ones want to sum
//! a payload slice for the checksum, and a payload of zeros adds nothing to it but its length.
//! Where an IP header lies, and the checksum, are the packet crate's. Stands on it alone; must not know connections, hosts or time.

mod abstract_segment;
mod address;
mod error;
mod frame;
mod frame_detail;
mod header_prediction;
mod ip;
mod options;
mod tcp;
mod udp;

pub use abstract_segment::CompactSegment;
pub use address::{
    EPHEMERAL, Endpoint, Endpoints, IpAddress, Role, endpoints, flow_endpoints, flow_in_group,
    flow_of, flow_of_ports, networks_of,
};
pub use error::WireError;
pub use frame::{
    Frame, Transport, addressee, destination, read_frame, read_usual, untagged_ipv4_destination,
};
pub use frame_detail::Written;
pub use header_prediction::{LEN as USUAL_LEN, UsualSegment};
pub use ip::{Ecn, FrameTemplate, Protocol};
pub use options::{AccEcn, SackBlocks, TcpOptions, Timestamps};
pub use sojourn_packet::ETHERNET_HEADER_LEN;
pub use tcp::{TcpFlags, TcpSegment, write_tcp, write_usual};
pub use udp::{RTP_HEADER_LEN, Rtp, UDP_HEADER_LEN, UdpDatagram, write_udp};

/// The largest IP packet on our links (Ethernet's usual MTU), in bytes.
pub const MTU: u32 = 1500;

#[cfg(test)]
mod tests;

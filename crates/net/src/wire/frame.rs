//! Reading a frame as a host does: addresses, checksums, then the transport.

use super::ETHERNET_HEADER_LEN;
use super::address::IpAddress;
use super::error::WireError;
use super::frame_detail::FrameDetail;
use super::header_prediction::{self, PredictedHeader};
use super::ip::{Ecn, IPV4_FRONT_LEN, IPV4_HEADER_LEN, IPV6_HEADER_LEN, Protocol};
use super::tcp::{TcpSegment, read_tcp};
use super::telemetry::{self, Telemetry};
use super::udp::{UdpDatagram, read_udp};
use sojourn_packet::{ETHERTYPE_IPV4, IpHeader, OnesComplementSum, Packet};
use std::net::{Ipv4Addr, Ipv6Addr};

/// A frame that a host could read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// IP source.
    pub source: IpAddress,
    /// IP destination.
    pub destination: IpAddress,
    /// Source and destination port.
    pub ports: (u16, u16),
    /// Payload of the IP header.
    pub transport: Transport,
    /// INT in front of the transport.
    pub telemetry: Option<Telemetry>,
}

/// Payload of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// A TCP segment.
    Tcp(TcpSegment),
    /// A UDP datagram.
    Udp(UdpDatagram),
}

/// Fields of the IP header.
struct Ip {
    source: IpAddress,
    destination: IpAddress,
    ecn: Ecn,
    protocol: u8,
    header_len: usize,
    transport_len: usize,
    addresses: OnesComplementSum,
}

/// Fields of a frame of the usual form with valid checksums, if it has any; for any other,
/// [`read_frame`] gives details.
#[inline]
pub fn read_predicted(packet: &Packet, written: FrameDetail) -> Option<PredictedHeader> {
    header_prediction::read(packet, written)
}

/// Reads a frame and checks what a host checks. It has no VLAN: a frame with a tag is not for it.
///
/// # Errors
/// [`WireError`]: the host would drop the frame.
#[inline(never)]
pub fn read_frame(packet: &Packet) -> Result<Frame, WireError> {
    let bytes = packet.bytes.as_slice();
    let after = bytes.get(ETHERNET_HEADER_LEN..).ok_or(WireError::Truncated)?;
    let ip = match IpHeader::find(packet) {
        Some(IpHeader::V4(ETHERNET_HEADER_LEN)) => read_ipv4(after)?,
        Some(IpHeader::V6(ETHERNET_HEADER_LEN)) => read_ipv6(after)?,
        _ => return Err(WireError::Protocol),
    };
    let room = packet.len().0 as usize - ETHERNET_HEADER_LEN - ip.header_len;
    if ip.transport_len > room {
        return Err(WireError::Length);
    }
    let stored = &after[ip.header_len..];
    // Ethernet padding is behind the transport's length.
    let mut stored = &stored[..stored.len().min(ip.transport_len)];
    let (mut protocol, mut len, mut telemetry) = (ip.protocol, ip.transport_len, None);
    if let Some(stack) = telemetry::find(stored, protocol) {
        stored = &stored[stack.len..];
        (protocol, len, telemetry) = (stack.protocol, len - stack.len, stack.telemetry);
    }
    let pseudo = ip.addresses.word(u16::from(protocol)).word(len as u16);
    let (ports, transport) = if protocol == Protocol::Tcp as u8 {
        let (ports, segment) = read_tcp(stored, len, pseudo, ip.ecn)?;
        (ports, Transport::Tcp(segment))
    } else if protocol == Protocol::Udp as u8 {
        let (ports, datagram) = read_udp(stored, len, pseudo, ip.ecn)?;
        (ports, Transport::Udp(datagram))
    } else {
        return Err(WireError::Protocol);
    };
    let Ip { source, destination, .. } = ip;
    Ok(Frame { source, destination, ports, transport, telemetry })
}

/// Destination of a frame of IPv4 without tags, the usual form; no other check.
#[inline(always)]
pub fn untagged_ipv4_destination(packet: &Packet) -> Option<Ipv4Addr> {
    let front = packet.bytes.first_chunk::<IPV4_FRONT_LEN>()?;
    let is_one = front[12..14] == ETHERTYPE_IPV4.to_be_bytes();
    is_one.then(|| Ipv4Addr::new(front[30], front[31], front[32], front[33]))
}

/// Destination of a frame by its IP header, if it has one, also behind VLAN tags; no other check.
pub fn destination(packet: &Packet) -> Option<IpAddress> {
    Some(match IpHeader::find(packet)? {
        IpHeader::V4(at) => {
            let octets: [u8; 4] = packet.bytes.get(at + 16..at + 20)?.try_into().ok()?;
            IpAddress::V4(Ipv4Addr::from(octets))
        }
        IpHeader::V6(at) => {
            let octets: [u8; 16] = packet.bytes.get(at + 24..at + 40)?.try_into().ok()?;
            IpAddress::V6(Ipv6Addr::from(octets))
        }
    })
}

/// Destination of a frame by its IP header, and its source and destination port, behind INT if there is
/// some; no other check.
pub fn addressee(packet: &Packet) -> Option<(IpAddress, (u16, u16))> {
    let address = destination(packet)?;
    let (at, protocol) = match IpHeader::find(packet)? {
        IpHeader::V4(at) => {
            (at + usize::from(packet.bytes.get(at)? & 0xf) * 4, *packet.bytes.get(at + 9)?)
        }
        IpHeader::V6(at) => (at + IPV6_HEADER_LEN, *packet.bytes.get(at + 6)?),
    };
    let behind = packet.bytes.get(at..)?;
    let at = at + telemetry::find(behind, protocol).map_or(0, |stack| stack.len);
    let ports = packet.bytes.get(at..at + 4)?;
    let port = |at: usize| u16::from_be_bytes([ports[at], ports[at + 1]]);
    Some((address, (port(0), port(2))))
}

fn read_ipv4(bytes: &[u8]) -> Result<Ip, WireError> {
    let fixed = bytes.first_chunk::<IPV4_HEADER_LEN>().ok_or(WireError::Truncated)?;
    let header_len = usize::from(fixed[0] & 0xf) * 4;
    let total_len = usize::from(u16::from_be_bytes([fixed[2], fixed[3]]));
    if fixed[0] >> 4 != 4 || header_len < IPV4_HEADER_LEN || total_len < header_len {
        return Err(WireError::Length);
    }
    let header = bytes.get(..header_len).ok_or(WireError::Truncated)?;
    if !OnesComplementSum::default().bytes(header).is_valid() {
        return Err(WireError::Checksum);
    }
    let is_fragment = u16::from_be_bytes([fixed[6], fixed[7]]) & 0x3fff != 0;
    if is_fragment {
        return Err(WireError::Protocol);
    }
    let address = |at: usize| {
        IpAddress::V4(Ipv4Addr::new(fixed[at], fixed[at + 1], fixed[at + 2], fixed[at + 3]))
    };
    Ok(Ip {
        source: address(12),
        destination: address(16),
        ecn: Ecn::from_bits(fixed[1]),
        protocol: fixed[9],
        header_len,
        transport_len: total_len - header_len,
        addresses: OnesComplementSum::default().bytes(&fixed[12..20]),
    })
}

fn read_ipv6(bytes: &[u8]) -> Result<Ip, WireError> {
    let fixed = bytes.first_chunk::<IPV6_HEADER_LEN>().ok_or(WireError::Truncated)?;
    if fixed[0] >> 4 != 6 {
        return Err(WireError::Length);
    }
    let address = |at: usize| {
        let mut octets = [0; 16];
        octets.copy_from_slice(&fixed[at..at + 16]);
        IpAddress::V6(Ipv6Addr::from(octets))
    };
    Ok(Ip {
        source: address(8),
        destination: address(24),
        ecn: Ecn::from_bits(fixed[1] >> 4),
        protocol: fixed[6],
        header_len: IPV6_HEADER_LEN,
        transport_len: usize::from(u16::from_be_bytes([fixed[4], fixed[5]])),
        addresses: OnesComplementSum::default().bytes(&fixed[8..40]),
    })
}

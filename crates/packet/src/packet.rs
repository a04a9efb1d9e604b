//! Packet: real header bytes in front of a payload of zeros that is counted, not stored.
//!
//! P4 programs parse the bytes on a wire, and a long simulation does not move unread payloads. A
//! write into the payload materialises the bytes up to its position.

use crate::units::Bytes;

/// Bytes in front of the payload. They stay in place while their packet moves between components; a
/// source of many packets reuses the buffers of earlier ones.
pub type HeaderBytes = Vec<u8>;

/// Buffer size for Ethernet, IPv6, TCP with options and a bridged header, with room for writers of
/// whole words, bytes. A packet with such a buffer can exchange it with a deparser.
pub const HEADER_ROOM: usize = 256;

/// Id of one packet of a run; copies (mirror, multicast) have the id of their original.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PacketId(pub u64);

/// Bit of the ids of packets that a switch's packet generator makes.
const GENERATED: u64 = 1 << 63;

impl PacketId {
    /// Id of the packet with this number among those that a switch generates, from 0. No packet of a
    /// host has it.
    ///
    /// ```
    /// use sojourn_packet::PacketId;
    /// let id = PacketId::generated(3);
    /// assert!(id.is_generated() && !PacketId(3).is_generated());
    /// assert_eq!(id.number(), 3);
    /// ```
    pub const fn generated(number: u64) -> PacketId {
        PacketId(GENERATED | number)
    }

    /// Its number among the packets of hosts, or among those that a switch generates.
    pub const fn number(self) -> u64 {
        self.0 & !GENERATED
    }

    /// True if a switch generated the packet.
    pub const fn is_generated(self) -> bool {
        self.0 & GENERATED != 0
    }
}

/// Id of the packet's flow, for measurement only: P4 programs do not see it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlowId(pub u32);

impl FlowId {
    /// Flow of packets that no host sent.
    pub const NONE: FlowId = FlowId(u32::MAX);
}

/// A packet on a link, from the first byte of Ethernet to the last byte before the FCS.
///
/// ```
/// use sojourn_packet::{Bytes, Packet};
/// let mut packet = Packet { bytes: vec![0; 54], zeros: 1460, ..Packet::default() };
/// assert_eq!(packet.len(), Bytes(1514));
/// packet.truncate(Bytes(100));
/// assert_eq!((packet.bytes.len(), packet.zeros), (54, 46));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Packet {
    /// Identity within the run.
    pub id: PacketId,
    /// Its flow.
    pub flow: FlowId,
    /// The leading bytes, verbatim.
    pub bytes: HeaderBytes,
    /// Number of zero bytes after `bytes`.
    pub zeros: u32,
}

impl Packet {
    /// Length on the wire without the FCS.
    #[inline]
    pub fn len(&self) -> Bytes {
        Bytes(self.bytes.len() as u64 + u64::from(self.zeros))
    }

    /// True if there is not a single byte.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty() && self.zeros == 0
    }

    /// The packet without its bytes, for uses that need its identity only.
    #[inline]
    pub fn name(&self) -> Packet {
        Packet { id: self.id, flow: self.flow, ..Packet::default() }
    }

    /// Cuts the packet to at most `max` bytes.
    pub fn truncate(&mut self, max: Bytes) {
        let max = max.0 as usize;
        if self.bytes.len() >= max {
            self.bytes.truncate(max);
            self.zeros = 0;
        } else {
            self.zeros = self.zeros.min((max - self.bytes.len()) as u32);
        }
    }

    /// All bytes of the packet, those of the payload included.
    ///
    /// ```
    /// use sojourn_packet::Packet;
    /// let packet = Packet { bytes: vec![1, 2], zeros: 3, ..Packet::default() };
    /// assert_eq!(packet.into_frame(), [1, 2, 0, 0, 0]);
    /// ```
    pub fn into_frame(self) -> Vec<u8> {
        let mut frame = self.bytes;
        frame.resize(frame.len() + self.zeros as usize, 0);
        frame
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(bytes: &[u8], zeros: u32) -> Packet {
        Packet { bytes: bytes.to_vec(), zeros, ..Packet::default() }
    }

    #[test]
    fn truncation_takes_the_payload_before_the_header() {
        let mut p = packet(&[1, 2, 3], 10);
        p.truncate(Bytes(5));
        assert_eq!(p, packet(&[1, 2, 3], 2));
        p.truncate(Bytes(2));
        assert_eq!(p, packet(&[1, 2], 0));
    }
}

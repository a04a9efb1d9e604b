//! A packet as its deparser leaves it: other headers in front of the same payload.

use sojourn_p4::interp::PacketOut;
use sojourn_packet::Packet;

/// Puts what a deparser has written in place of the bits that the parser took.
#[inline]
pub(crate) fn deparse(packet: &mut Packet, written: &mut PacketOut, consumed: u64) {
    let consumed = consumed.div_ceil(8) as usize;
    let (len, headers) = (packet.bytes.len(), written.bytes());
    let kept = consumed.min(len);
    if headers.len() > kept {
        // The packet gets the buffer of the deparser, and that the packet's.
        written.exchange(&mut packet.bytes, kept);
    } else {
        let first = kept - headers.len();
        if !headers.is_empty() {
            packet.bytes[first..kept].copy_from_slice(headers);
        }
        if first > 0 {
            packet.bytes.copy_within(first.., 0);
            packet.bytes.truncate(len - first);
        }
    }
    packet.zeros = packet.zeros.saturating_sub((consumed - kept) as u32);
}

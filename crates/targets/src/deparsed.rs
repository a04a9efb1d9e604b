//! A packet as its deparser leaves it: other headers in front of the same payload.

use sojourn_p4::interp::PacketOut;
use sojourn_packet::Packet;

/// Puts what a deparser has written in place of the bits that the parser took.
#[inline]
pub(crate) fn deparse(packet: &mut Packet, written: &mut PacketOut, consumed: u64) {
    let consumed = consumed.div_ceil(8) as usize;
    let (bytes, capacity) = (&mut packet.bytes, written.capacity());
    let (len, headers) = (bytes.len(), written.bytes());
    let kept = consumed.min(len);
    if headers.len() <= kept {
        let first = kept - headers.len();
        if !headers.is_empty() {
            bytes[first..kept].copy_from_slice(headers);
        }
        if first > 0 {
            bytes.copy_within(first.., 0);
            bytes.truncate(len - first);
        }
    } else if bytes.capacity() >= capacity {
        // The packet gets the buffer of the deparser, and that the packet's, which is as large.
        written.exchange(bytes, kept);
    } else {
        let more = headers.len() - kept;
        bytes.resize(len + more, 0);
        bytes.copy_within(kept..len, kept + more);
        bytes[..headers.len()].copy_from_slice(headers);
    }
    packet.zeros = packet.zeros.saturating_sub((consumed - kept) as u32);
}

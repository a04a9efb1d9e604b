//! Deparser output: other headers in front of the same payload.

use sojourn_p4::interp::PacketOut;
use sojourn_packet::{HeaderBytes, Packet};

/// Replaces the bits that the parser consumed by the deparser's output.
#[inline(always)]
pub fn deparse(packet: &mut Packet, written: &mut PacketOut, consumed: u64) {
    let consumed = consumed.div_ceil(8) as usize;
    let retained = consumed.min(packet.bytes.len());
    let more = (consumed - retained) as u32;
    let (bytes, headers) = (&mut packet.bytes, written.bytes().len());
    if headers <= retained {
        // Bytes behind the headers move to the headers' end, if they are not there.
        if headers < retained {
            bytes.copy_within(retained.., headers);
            bytes.truncate(bytes.len() - (retained - headers));
        }
        if headers > 0 {
            bytes[..headers].copy_from_slice(written.bytes());
        }
    } else if bytes.capacity() >= written.capacity() {
        // The packet takes the deparser's buffer, and the deparser the packet's, which is as large.
        written.exchange(bytes, retained);
    } else {
        widen(bytes, written.bytes(), retained);
    }
    packet.zeros = packet.zeros.saturating_sub(more);
}

/// Replaces the first bytes by longer headers.
#[inline(never)]
fn widen(bytes: &mut HeaderBytes, headers: &[u8], retained: usize) {
    let (len, more) = (bytes.len(), headers.len() - retained);
    bytes.resize(len + more, 0);
    bytes.copy_within(retained..len, retained + more);
    bytes[..headers.len()].copy_from_slice(headers);
}

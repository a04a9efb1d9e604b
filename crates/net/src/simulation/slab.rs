//! Slab of packets in flight, and a pool of the buffers of packets that have arrived.
//!
//! The slab keeps events small. The pool avoids an allocation per packet.

use super::in_flight::Arriving;
use crate::wire::{
    AbstractSegment, FrameDetail, PREDICTED_LEN, PredictedHeader, SackBlocks, read_predicted,
};
use sojourn_packet::{HEADER_ROOM, HeaderBytes, Packet};

/// Index of a stored packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slot(pub(super) u32);

/// The packets under way.
#[derive(Debug, Default)]
pub(super) struct PacketSlab {
    packets: Vec<Option<Packet>>,
    free: Vec<u32>,
    buffers: Vec<HeaderBytes>,
    /// Bytes that a new buffer has room for.
    room: usize,
}

impl PacketSlab {
    /// Empty. Without programs that read frames, frames do not become longer either.
    pub(super) fn new(written: FrameDetail) -> PacketSlab {
        let room = match written {
            FrameDetail::Whole | FrameDetail::Framed => HEADER_ROOM,
            FrameDetail::Unsummed => PREDICTED_LEN,
            FrameDetail::Compact => AbstractSegment::LEN,
        };
        PacketSlab { room, ..PacketSlab::default() }
    }

    #[inline]
    pub(super) fn put(&mut self, packet: Packet) -> Slot {
        match self.free.pop() {
            Some(index) => {
                // Nothing is there: it was taken.
                std::mem::forget(self.packets[index as usize].replace(packet));
                Slot(index)
            }
            None => {
                self.packets.push(Some(packet));
                Slot(self.packets.len() as u32 - 1)
            }
        }
    }

    /// Each slot is taken once.
    #[inline]
    pub(super) fn take(&mut self, slot: Slot) -> Packet {
        self.free.push(slot.0);
        self.packets[slot.0 as usize].take().expect("it was put there")
    }

    /// Puts down what is on its way to a host with a frame: the segment that it has, if it is of the
    /// usual form. Each kind for itself, where it stays: put together first, it would be moved once more.
    #[inline(always)]
    pub(super) fn write(&mut self, packet: &mut Packet, written: FrameDetail, at: &mut Arriving) {
        if written == FrameDetail::Compact
            && let Some(segment) = AbstractSegment::from_packet(packet)
        {
            *at = Arriving::Compact(segment);
        } else if written == FrameDetail::Framed
            && let Some(segment) = AbstractSegment::framed(packet)
        {
            *at = Arriving::Compact(segment);
        } else if let Some(segment) = read_predicted(packet, written) {
            *at = Arriving::Segment(segment);
        } else {
            *at = Arriving::Frame(self.put(std::mem::take(packet)));
            return;
        }
        self.recycle(std::mem::take(&mut packet.bytes));
    }

    /// Takes a frame that has come to its host, if it is a compact segment with ranges.
    #[inline(never)]
    pub(super) fn take_sacked(
        &mut self,
        slot: Slot,
        written: FrameDetail,
    ) -> Option<(PredictedHeader, SackBlocks)> {
        let packet = self.packets[slot.0 as usize].as_ref()?;
        let read = match written {
            FrameDetail::Compact => AbstractSegment::with_ranges(packet)?,
            FrameDetail::Framed => AbstractSegment::framed_with_ranges(packet)?,
            FrameDetail::Whole | FrameDetail::Unsummed => return None,
        };
        let packet = self.take(slot);
        self.recycle(packet.bytes);
        Some(read)
    }

    /// An empty buffer for the headers of a new packet.
    #[inline]
    pub(super) fn buffer(&mut self) -> HeaderBytes {
        self.buffers.pop().unwrap_or_else(|| HeaderBytes::with_capacity(self.room))
    }

    /// Takes a buffer back that is no longer needed.
    #[inline]
    pub(super) fn recycle(&mut self, mut buffer: HeaderBytes) {
        buffer.clear();
        self.buffers.push(buffer);
    }
}

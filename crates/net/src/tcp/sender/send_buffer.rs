//! Send buffer with Linux's sizing (`tcp_sndbuf_expand`).
//!
//! It determines how far ahead of the network the application writes, and therefore which segments
//! carry PSH. It grows with the congestion window and does not limit the data in flight. It affects
//! the peer's acknowledgements: the peer acknowledges a full segment with PSH as soon as it is
//! read. In slow start this changes the pairing of the following segments. The buffer works in
//! stream offsets, and must not depend on losses or on transmission times.

use super::FIRST_BYTE;
use std::collections::VecDeque;

/// The buffer that a socket begins with (the second number of `tcp_wmem`), and what it may become.
const FIRST: u64 = 16_384;
const LARGEST: u64 = 64 << 20;
/// Overhead of a buffer: `struct sk_buff`, and headers with `struct skb_shared_info` in an
/// allocation of 1 KiB.
const BOOKKEEPING: u64 = 256 + 1024;
/// Overhead assumed for the window: headers and `struct skb_shared_info`, the whole rounded up to a
/// power of two, and `struct sk_buff`.
const ALLOWANCE: u64 = 320 + 320;
const STRUCTURE: u64 = 256;
/// Segments that the buffer has room for at least, whatever the window.
const LEAST_WINDOW: u64 = 10;
/// Bytes that the application writes with one call: iperf3's block.
const BLOCK: u64 = 128 * 1024;

/// Bytes that the application has written, intends to write, and has pushed.
#[derive(Clone, Debug)]
pub(super) struct SendBuffer {
    /// Payload of what takes one `struct sk_buff`: a full segment, or what offload cuts later.
    unit: u64,
    /// Memory that a segment of the window is reckoned at, and how many windows there is room for.
    reckoned: u64,
    windows: u64,
    /// Memory that there may be (`sk_sndbuf`), the largest window for which it was reckoned, and up to
    /// how many bytes there is space for more.
    capacity: u64,
    reckoned_for: u32,
    spacious: u64,
    /// Up to where the application wants to write, and has written.
    offered: u64,
    written: u64,
    /// The application waits for space (`SOCK_NOSPACE`).
    waits: bool,
    /// Up to where what was written is pushed or will be, and the largest window of the peer: half
    /// of it is pushed at the latest (`forced_push`).
    pushed: u64,
    largest_window: u64,
    /// Ends of the segments that carry PSH, of those that are not acknowledged.
    pushes: VecDeque<u64>,
    /// No segment that begins from the first of these on ends with PSH before the second.
    ahead: (u64, u64),
}

impl SendBuffer {
    /// The empty buffer of a stream that begins at `first`, full segments having `mss` bytes and
    /// `together` of them going out as one. There is room for `windows` windows.
    pub(super) fn new(first: u64, mss: u32, together: u32, windows: u64) -> SendBuffer {
        let mss = u64::from(mss);
        let reckoned = (mss + ALLOWANCE).next_power_of_two() + STRUCTURE;
        let mut buffer = SendBuffer {
            unit: mss * u64::from(together.max(1)),
            reckoned,
            windows,
            capacity: FIRST,
            reckoned_for: 0,
            spacious: 0,
            offered: first,
            written: first,
            waits: false,
            pushed: first,
            largest_window: 0,
            pushes: VecDeque::new(),
            ahead: (0, 0),
        };
        buffer.reckon(0);
        buffer
    }

    /// Up to where there is something to send.
    pub(super) fn written(&self) -> u64 {
        self.written
    }

    /// Up to where the application wants to write.
    pub(super) fn offered(&self) -> u64 {
        self.offered
    }

    /// True if the application has never wanted to write.
    #[inline]
    pub(super) fn is_untouched(&self) -> bool {
        self.offered == FIRST_BYTE
    }

    /// True if the buffer has taken all that the application wants to write.
    pub(super) fn has_all(&self) -> bool {
        self.written == self.offered
    }

    /// True if the application waits for space.
    pub(super) fn waits(&self) -> bool {
        self.waits
    }

    /// The peer announces `window` bytes.
    pub(super) fn see_window(&mut self, window: u64) {
        self.largest_window = self.largest_window.max(window);
    }

    /// The application wants to have written up to `offset`; what the buffer has taken it keeps.
    pub(super) fn offer(&mut self, offset: u64) {
        self.offered = offset.max(self.written);
    }

    /// True if there is more room once a window of `cwnd` segments is not filled.
    #[inline]
    pub(super) fn may_expand(&self, cwnd: u32) -> bool {
        cwnd > self.reckoned_for
    }

    /// There is the room that a window of `cwnd` segments asks for.
    #[inline(never)]
    pub(super) fn reckon(&mut self, cwnd: u32) {
        self.reckoned_for = cwnd;
        let window = u64::from(cwnd).max(LEAST_WINDOW);
        let wanted = self.windows * window * self.reckoned;
        self.capacity = self.capacity.max(wanted.min(LARGEST));
        // A third of the memory is free (`sk_stream_is_writeable`): what is taken and half of it fit.
        let taken = (2 * self.capacity + 1) / 3;
        let each = self.unit + BOOKKEEPING;
        self.spacious = taken / each * self.unit + (taken % each).saturating_sub(BOOKKEEPING);
    }

    /// The memory that is taken while everything before `una` is acknowledged.
    fn taken(&self, una: u64) -> u64 {
        let queued = self.written.saturating_sub(una);
        queued + queued.div_ceil(self.unit) * BOOKKEEPING
    }

    /// True if an application that waits is woken.
    #[inline]
    pub(super) fn has_space(&self, una: u64) -> bool {
        self.written.saturating_sub(una) <= self.spacious
    }

    /// Everything before `una` is acknowledged.
    pub(super) fn acknowledged(&mut self, una: u64) {
        while self.pushes.front().is_some_and(|end| *end <= una) {
            self.pushes.pop_front();
        }
    }

    /// True if a segment `[start, end)` carries PSH.
    #[inline]
    pub(super) fn is_pushed(&mut self, start: u64, end: u64) -> bool {
        // Nearly always nothing was pushed since the segment before.
        let (from, push) = self.ahead;
        if from <= start && start < push { push <= end } else { self.find_push(start) <= end }
    }

    /// Position of the next push behind `start`; [`u64::MAX`] if there is none.
    #[inline(never)]
    fn find_push(&mut self, start: u64) -> u64 {
        let at = self.pushes.partition_point(|push| *push <= start);
        let push = self.pushes.get(at).copied().unwrap_or(u64::MAX);
        self.ahead = (start, push);
        push
    }

    /// The application writes until the memory is taken or there is nothing left, while everything
    /// before `una` is acknowledged and before `next` sent.
    pub(super) fn fill(&mut self, una: u64, next: u64) {
        if self.has_all() {
            return;
        }
        let begun = self.written.saturating_sub(next) % self.unit;
        let free = self.capacity.saturating_sub(self.taken(una));
        let room = free.div_ceil(self.unit + BOOKKEEPING) * self.unit;
        // A partial segment is filled first, and its end moves.
        let rest = if begun == 0 { 0 } else { self.unit - begun };
        if rest > 0 && self.pushes.back() == Some(&self.written) {
            self.pushes.pop_back();
            self.ahead = (0, 0);
        }
        let mut boundary = self.written + rest;
        let last = boundary.saturating_add(room).min(self.offered);
        let mut block = self.written.saturating_add(BLOCK);
        while boundary < last {
            boundary = boundary.saturating_add(self.unit);
            if boundary > block {
                self.pushed = block;
                block += BLOCK;
            }
            if boundary <= last && boundary > self.pushed + self.largest_window / 2 {
                self.push_at(boundary);
            }
        }
        self.written = last;
        self.push_at(last);
        self.waits = !self.has_all();
    }

    fn push_at(&mut self, end: u64) {
        self.pushed = end;
        self.ahead = (0, 0);
        if self.pushes.back() != Some(&end) {
            self.pushes.push_back(end);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1448;

    fn unlimited() -> SendBuffer {
        let mut buffer = SendBuffer::new(0, 1448, 1, 2);
        buffer.see_window(65_160);
        buffer.offer(u64::MAX);
        buffer.fill(0, 0);
        buffer
    }

    /// Segments that carry PSH, counted from 0.
    fn pushed(buffer: &mut SendBuffer) -> Vec<u64> {
        (0..1000).filter(|n| buffer.is_pushed(n * MSS, (n + 1) * MSS)).collect()
    }

    #[test]
    fn it_is_filled_and_grows_by_the_numbers_of_the_kernel() {
        // Values of Linux 6.1 in a slow start: `sk_sndbuf`, and the bytes written when it is full.
        let mut buffer = unlimited();
        assert_eq!((buffer.capacity, buffer.written), (87_040, 32 * MSS));
        for acknowledged in 1..=3 {
            buffer.reckon(10 + acknowledged as u32);
            assert!(!buffer.has_space(acknowledged * MSS), "after {acknowledged}");
        }
        buffer.reckon(14);
        assert!(buffer.has_space(4 * MSS));
        buffer.fill(4 * MSS, 20 * MSS);
        assert_eq!((buffer.capacity, buffer.written), (121_856, 49 * MSS));
        buffer.reckon(19);
        assert!(buffer.has_space(9 * MSS));
        buffer.fill(9 * MSS, 29 * MSS);
        assert_eq!((buffer.capacity, buffer.written), (165_376, 70 * MSS));
        // As Linux sends them: 33,304 bytes are more than half of the largest window, and each
        // time the buffer is full the last segment is pushed.
        assert_eq!(pushed(&mut buffer), [22, 31, 48, 69]);
    }

    #[test]
    fn acknowledged_digests_are_removed() {
        let mut buffer = unlimited();
        buffer.acknowledged(23 * MSS);
        assert_eq!(pushed(&mut buffer), [31]);
    }

    #[test]
    fn the_end_of_what_was_written_is_pushed_until_more_is_written_behind_it() {
        let mut buffer = SendBuffer::new(0, 1448, 1, 2);
        buffer.see_window(65_160);
        buffer.offer(2 * MSS + 100);
        buffer.fill(0, 0);
        assert!(buffer.has_all() && !buffer.waits());
        assert!(buffer.is_pushed(2 * MSS, 2 * MSS + 100) && !buffer.is_pushed(0, 2 * MSS));
        buffer.offer(4 * MSS);
        buffer.fill(0, 0);
        assert_eq!(pushed(&mut buffer), [3]);
    }

    #[test]
    fn buffered_data_are_sent_after_the_application_closes() {
        let mut buffer = unlimited();
        buffer.offer(0);
        assert_eq!((buffer.written, buffer.has_all()), (32 * MSS, true));
    }
}

//! The receive window as Linux chooses it (`tcp_grow_window`, `tcp_rcv_space_adjust`,
//! `__tcp_select_window`): half of the buffer that no data occupy, and the buffer grows with what the
//! application reads in a round trip.
//!
//! It matters in two ways. While it grows, Linux acknowledges every segment: a slow start over a
//! long path is acknowledged segment by segment for most of its rounds, and CUBIC's HyStart sees
//! those trains. And in a long recovery data wait for the missing segments, nothing is read, the
//! window does not advance, and the sender stops although its congestion window would let it
//! continue. Depends on the arrivals and their times; sends nothing. Memory is counted as in the
//! kernel, bookkeeping included.

use crate::tcp::timestamp_clock::{Echo, milliseconds};
use sojourn_packet::Time;

/// The buffer that a socket begins with: the second number of `tcp_rmem`.
const FIRST_BUFFER: u64 = 131_072;
/// Bytes of memory for a byte of window (`tcp_adv_win_scale` 1).
const SHARE: u64 = 2;
/// The window of a SYN has 16 bits and no scale.
const FIRST_WINDOW: u64 = 0xffff;
/// A buffer's bookkeeping: `struct sk_buff` of 256 bytes, and headers with `struct skb_shared_info`
/// in an allocation of 1 KiB.
const BOOKKEEPING: u64 = 256 + 1024;
/// Segments that one buffer takes in when they follow each other (`MAX_SKB_FRAGS`).
const FRAGMENTS: u64 = 17;
/// Overhead of a segment in `tcp_rcv_space_adjust`: headers and structures; and the steps in which
/// it is raised until half of it holds the payload.
const ALLOWANCE: u64 = 320 + 256 + 320;
const ALLOWANCE_STEP: u64 = 128;
/// Segments that an application is expected to have read after the first round trip.
const INITIAL_SEGMENTS: u64 = 10;
/// Growth of a round trip over the previous one, in segments.
const CUSHION: u64 = 16;

/// The window of one connection's receiving half.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ReceiveWindow {
    /// Payload of a full segment from the peer, as far as this end knows (`advmss`): its announced
    /// value, without the options that every segment carries.
    segment: u64,
    /// The buffer's size in memory (`sk_rcvbuf`), and what it may become.
    buffer: u64,
    most: u64,
    /// The window's bound (`window_clamp`) and where it has grown to (`rcv_ssthresh`), in payload.
    clamp: u64,
    grown: u64,
    /// The window's right edge as announced last: it never moves back.
    edge: u64,
    /// Bytes that the application read in the last round trip, and the offset and time at which
    /// this one began.
    read: u64,
    begin: (u64, Time),
    /// The round-trip time in 1/8 us, as the peer's echoes show it; zero before the first.
    rtt: u64,
    last_echo: Option<Echo>,
    /// The window announced last, and the end of the one that is being timed, with its beginning.
    announced: u64,
    timed: Option<(u64, Time)>,
}

/// Data received out of order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct OutOfOrder {
    pub(super) bytes: u64,
    /// Runs without a gap.
    pub(super) ranges: u64,
}

impl ReceiveWindow {
    /// The window of a connection that opens; at most `window` bytes will be announced.
    pub(super) fn new(window: u64, segment: u32, next: u64) -> ReceiveWindow {
        let segment = u64::from(segment);
        let most = SHARE * window;
        let buffer = FIRST_BUFFER.min(most);
        let space = buffer / SHARE;
        let clamp = space.saturating_sub(segment).max(2 * segment);
        ReceiveWindow {
            segment,
            buffer,
            most,
            clamp,
            grown: clamp,
            edge: next + window.min(FIRST_WINDOW),
            read: clamp.min(INITIAL_SEGMENTS * segment),
            begin: (next, Time::ZERO),
            rtt: 0,
            last_echo: None,
            announced: window.min(FIRST_WINDOW),
            timed: None,
        }
    }

    /// The memory that data take which wait.
    fn memory(&self, buffered: OutOfOrder) -> u64 {
        if buffered.ranges == 0 {
            return 0;
        }
        let buffers = buffered.ranges + buffered.bytes / (FRAGMENTS * self.segment);
        buffered.bytes + buffers * BOOKKEEPING
    }

    /// The window that the free memory is worth.
    fn free(&self, memory: u64) -> u64 {
        self.buffer.saturating_sub(memory) / SHARE
    }

    /// The window to announce when everything before `next` was read and `buffered` waits, in bytes: a
    /// multiple of `unit`, a power of two that the window scale gives, and at most `limit`.
    pub(super) fn announce(
        &mut self,
        next: u64,
        buffered: OutOfOrder,
        unit: u64,
        limit: u64,
    ) -> u64 {
        let down = |bytes: u64| bytes & !(unit - 1);
        let up = |bytes: u64| down(bytes + unit - 1);
        let full = (self.buffer / SHARE).min(self.clamp);
        let mut free = self.free(self.memory(buffered));
        if free < full / 2 {
            free = down(free);
            if free < self.buffer / SHARE / 16 || free < self.segment {
                free = 0;
            }
        }
        let mut window = up(free.min(self.grown));
        let standing = self.edge.saturating_sub(next);
        if window < standing {
            window = up(standing);
        }
        self.edge = next + window;
        self.announced = window;
        window.min(limit)
    }

    /// The connection is open, its options agreed: the first round trip begins.
    pub(super) fn open(&mut self, now: Time, segment: u32) {
        let (next, _) = self.begin;
        *self = ReceiveWindow {
            edge: self.edge,
            begin: (next, now),
            ..ReceiveWindow::new(self.most / SHARE, segment, next)
        };
    }

    /// A full segment echoes the millisecond `echo`. Each echo counts once.
    pub(super) fn on_echo(&mut self, now: Time, echo: Option<Echo>) {
        let Some(echo) = echo.filter(|_| echo != self.last_echo) else { return };
        self.last_echo = Some(echo);
        let sample = 1000 * milliseconds(now).saturating_sub(echo.millisecond(now)).max(1);
        if !self.falls(sample) {
            self.rtt += sample - self.rtt / 8;
        }
    }

    /// The round-trip time falls at once to a `sample` below it, in us; true if it has.
    fn falls(&mut self, sample: u64) -> bool {
        let falls = self.rtt == 0 || 8 * sample < self.rtt;
        if falls {
            self.rtt = 8 * sample;
        }
        falls
    }

    /// Data have come up to `next`. A window takes a round trip to arrive, or longer: without
    /// timestamps there is no other measure (`tcp_rcv_rtt_measure`).
    pub(super) fn on_progress(&mut self, now: Time, next: u64) {
        if let Some((end, since)) = self.timed {
            if next < end {
                return;
            }
            self.falls((now.saturating_sub(since).0 / 1000).max(1));
        }
        self.timed = Some((next + self.announced, now));
    }

    /// A segment of `payload` bytes is queued to be read while `buffered` waits, or is part of what
    /// waits; true if the window grows with it.
    #[inline(always)]
    pub(super) fn on_segment(
        &mut self,
        payload: u32,
        buffered: OutOfOrder,
        in_order: bool,
    ) -> bool {
        const SMALL: u32 = 128;
        if payload < SMALL || self.grown >= self.clamp {
            return false;
        }
        let size = u64::from(payload);
        let queued = if in_order { size + BOOKKEEPING } else { 0 };
        let most = self.clamp.min(self.free(self.memory(buffered) + queued));
        if self.grown >= most {
            return false;
        }
        self.grown = most.min(self.grown + 2 * self.segment.max(size));
        true
    }

    /// The application reads, at first the bytes before `next`. Once in a round trip the buffer
    /// becomes large enough for twice the bytes of that round trip, and for twice again the excess
    /// over the previous one. The kernel checks after each piece that is read: where a gap closes,
    /// the segment that closes it is the first piece, and all data behind it count for the next
    /// round.
    #[inline(always)]
    pub(super) fn on_read(&mut self, now: Time, next: u64) {
        let (first, since) = self.begin;
        let elapsed = now.saturating_sub(since).0;
        if self.rtt == 0 || elapsed < self.rtt / 8 * 1000 {
            return;
        }
        let read = next.saturating_sub(first);
        if read > self.read {
            let steady = 2 * read + CUSHION * self.segment;
            let rise = u128::from(steady) * u128::from(read - self.read) / u128::from(self.read);
            let segments = (u128::from(steady) + 2 * rise) / u128::from(self.segment);
            let wanted = segments * u128::from(self.reckoned());
            let wanted = wanted.min(u128::from(self.most)) as u64;
            if wanted > self.buffer {
                self.buffer = wanted;
                self.clamp = wanted / SHARE;
            }
            self.read = read;
        }
        self.begin = (next, now);
    }

    /// The memory that a full segment is reckoned at.
    fn reckoned(&self) -> u64 {
        let least = self.segment + ALLOWANCE;
        let lacking = (SHARE * self.segment).saturating_sub(least);
        least + lacking.next_multiple_of(ALLOWANCE_STEP)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Time = Time::from_millis;
    const PAYLOAD: u32 = 1448;

    fn window() -> ReceiveWindow {
        ReceiveWindow::new(64 << 20, 1460, 1)
    }

    /// Segments that arrive at `now`, all of them read; how many made the window grow.
    fn round(window: &mut ReceiveWindow, now: Time, next: &mut u64, segments: u64) -> usize {
        let grew = (0..segments).filter(|_| {
            let grows = window.on_segment(PAYLOAD, OutOfOrder::default(), true);
            *next += u64::from(PAYLOAD);
            window.on_read(now, *next);
            grows
        });
        grew.count()
    }

    #[test]
    fn it_begins_full_and_grows_after_a_round_trip_that_brought_more_than_ten_segments() {
        let (mut window, mut next) = (window(), 1);
        window.on_echo(MS(100), Some(Echo(0)));
        assert_eq!(round(&mut window, MS(100), &mut next, 10), 0, "64 kB are announced at once");
        window.on_echo(MS(200), Some(Echo(100)));
        // The first read of a round closes the one before: ten segments were expected.
        assert_eq!(round(&mut window, MS(200), &mut next, 20), 0);
        window.on_echo(MS(300), Some(Echo(200)));
        // 20 segments are 28,960 bytes: 2 * 28,960 + 16 * 1460 = 81,280 would be steady, and twice
        // the rise of 81,280 * 14,360 / 14,600 = 79,943 is added: 241,166 or 165 segments, of which
        // each is reckoned at 1460 + 896 and 5 * 128 more, for half of it must hold 1460: 2996.
        let grew = round(&mut window, MS(300), &mut next, 40);
        assert_eq!((window.buffer, window.clamp), (165 * 2996, 165 * 1498));
        assert_eq!(grew, 39, "all that follow the read");
    }

    #[test]
    fn the_buffer_grows_by_the_numbers_of_the_kernel() {
        // Values of Linux 6.1 when it reads twelve segments and then 24 (`rcvbuf`, `window_clamp`).
        let mut window = ReceiveWindow::new(64 << 20, 1448, 1);
        assert_eq!((window.read, window.clamp), (14_480, 64_088));
        window.on_echo(MS(100), Some(Echo(0)));
        window.on_read(MS(100), 1 + 17_376);
        assert_eq!((window.buffer, window.clamp), (167_104, 83_552));
        window.on_read(MS(200), 1 + 17_376 + 34_752);
        assert_eq!((window.buffer, window.clamp), (572_928, 286_464));
    }

    #[test]
    fn without_timestamps_an_arrived_window_measures_the_round_trip_time() {
        let mut window = window();
        window.on_progress(MS(0), 1);
        window.on_progress(MS(100), 65_000);
        assert_eq!(window.rtt, 0, "65,535 bytes were announced");
        window.on_progress(MS(200), 65_536);
        assert_eq!(window.rtt, 8 * 200_000);
        // It is never less than a round trip, so it counts only where it is below what is known.
        window.on_progress(MS(500), 65_536 + 65_535);
        assert_eq!(window.rtt, 8 * 200_000);
        window.on_progress(MS(650), 65_536 + 2 * 65_535);
        assert_eq!(window.rtt, 8 * 150_000);
    }

    #[test]
    fn data_that_wait_take_room_and_the_edge_never_moves_back() {
        let mut window = ReceiveWindow::new(64 << 20, 1460, 1);
        (window.buffer, window.clamp, window.grown) = (400_000, 200_000, 200_000);
        assert_eq!(window.announce(1, OutOfOrder::default(), 2048, u64::MAX), 200_704, "98 units");
        // 100 segments in two runs: 144,800 bytes in 2 + 5 buffers of 17 and their bookkeeping take
        // 153,760; half of the rest is 123,120. The edge remains at 200,704 from the start.
        let buffered = OutOfOrder { bytes: 100 * 1448, ranges: 2 };
        assert_eq!(window.announce(1, buffered, 2048, u64::MAX), 200_704);
        // 60,000 later it also remains, except for rounding: 140,704 are 69 units. 100,000 later
        // the memory decides.
        assert_eq!(window.announce(60_001, buffered, 2048, u64::MAX), 69 * 2048);
        assert_eq!(window.announce(100_001, buffered, 2048, u64::MAX), 61 * 2048);
        // A field of 16 bits holds no more.
        assert_eq!(window.announce(100_001, OutOfOrder::default(), 1, 0xffff), 0xffff);
    }

    #[test]
    fn it_closes_when_nearly_all_memory_is_taken() {
        let mut window = ReceiveWindow::new(64 << 20, 1460, 1);
        let buffered = OutOfOrder { bytes: 120_000, ranges: 1 };
        assert_eq!(
            window.announce(65_536, buffered, 1, u64::MAX),
            0,
            "less than a sixteenth is free"
        );
    }

    #[test]
    fn data_that_waited_behind_a_gap_count_for_the_next_round_trip() {
        let mut window = window();
        window.on_echo(MS(100), Some(Echo(0)));
        window.on_read(MS(100), 1);
        // The gap closes after two round trips with one segment; 100 segments behind it are read in
        // the same instant, but the round trip has ended before them.
        window.on_read(MS(300), 1 + 1448);
        assert_eq!(window.buffer, FIRST_BUFFER);
        window.on_read(MS(400), 1 + 102 * 1448);
        assert_eq!(window.read, 101 * 1448);
    }

    #[test]
    fn a_steady_flow_lets_it_be() {
        let (mut window, mut next) = (window(), 1);
        let grew: Vec<usize> = (1..20)
            .map(|n| {
                window.on_echo(MS(100 * n), Some(Echo(100 * (n as u32 - 1))));
                round(&mut window, MS(100 * n), &mut next, 30)
            })
            .collect();
        assert!(grew[2] > 0 && grew[8..].iter().all(|count| *count == 0), "{grew:?}");
    }

    #[test]
    fn the_rate_never_exceeds_the_limit() {
        let (mut window, mut next) = (ReceiveWindow::new(100_000, 1460, 1), 1);
        for n in 1..20 {
            window.on_echo(MS(100 * n), Some(Echo(100 * (n as u32 - 1))));
            round(&mut window, MS(100 * n), &mut next, 20 * n);
        }
        assert!(window.grown <= 100_000 && window.grown > 97_000, "{}", window.grown);
    }

    #[test]
    fn the_round_trip_time_falls_at_once_and_rises_slowly() {
        let mut window = window();
        window.on_echo(MS(100), Some(Echo(0)));
        window.on_echo(MS(100), Some(Echo(60)));
        assert_eq!(window.rtt, 8 * 40_000);
        window.on_echo(MS(220), Some(Echo(100)));
        assert_eq!(window.rtt, 8 * 50_000);
        window.on_echo(MS(230), Some(Echo(100)));
        assert_eq!(window.rtt, 8 * 50_000, "an echo seen before says nothing");
    }
}

//! How the receive window grows, as Linux grows it (`tcp_grow_window`, `tcp_rcv_space_adjust`).
//!
//! What is announced here never limits the sender, but while the window that Linux would announce
//! grows, Linux acknowledges every segment: a slow start over a long path is acknowledged segment by
//! segment for most of its rounds, and CUBIC's HyStart sees those trains. Stands on what arrived and
//! when; sends nothing. Sizes are in bytes of payload, of which the kernel reserves twice as many.

use sojourn_packet::Time;

/// The buffer that a socket begins with (the second number of `tcp_rmem`), in payload.
const FIRST_SPACE: u64 = 65_536;
/// Segments that an application is expected to have read after the first round trip.
const INITIAL_SEGMENTS: u64 = 10;
/// What a round trip may bring beyond what the last one did, in segments.
const CUSHION: u64 = 16;

/// The window of one connection's receiving half.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ReceiveWindow {
    /// The full segment that this end announced, options included.
    segment: u64,
    /// The buffer's size, and what it may become.
    space: u64,
    most: u64,
    /// The window's bound (`window_clamp`) and where it has grown to (`rcv_ssthresh`).
    clamp: u64,
    grown: u64,
    /// What the application read in the last round trip, and where and when this one began.
    read: u64,
    begin: (u64, Time),
    /// The round-trip time in 1/8 us, as the peer's echoes show it; zero before the first.
    rtt: u64,
    last_echo: Option<u64>,
}

impl ReceiveWindow {
    /// The window of a connection that opens; at most `window` bytes will be announced.
    pub(super) fn new(window: u64, segment: u32, next: u64) -> ReceiveWindow {
        let segment = u64::from(segment);
        let space = FIRST_SPACE.min(window);
        let clamp = space.saturating_sub(segment).max(2 * segment);
        ReceiveWindow {
            segment,
            space,
            most: window,
            clamp,
            grown: clamp,
            read: clamp.min(INITIAL_SEGMENTS * segment),
            begin: (next, Time::ZERO),
            rtt: 0,
            last_echo: None,
        }
    }

    /// A full segment echoes the millisecond `echo`. Each echo counts once.
    pub(super) fn on_echo(&mut self, now: Time, echo: Option<u64>) {
        let Some(echo) = echo.filter(|_| echo != self.last_echo) else { return };
        self.last_echo = Some(echo);
        let sample = 1000 * (now.0 / 1_000_000).saturating_sub(echo).max(1);
        self.rtt = if self.rtt == 0 || 8 * sample < self.rtt {
            8 * sample
        } else {
            self.rtt - self.rtt / 8 + sample
        };
    }

    /// A segment of `payload` bytes is queued; true if the window grows with it.
    pub(super) fn on_segment(&mut self, payload: u32) -> bool {
        const SMALL: u32 = 128;
        let held = u64::from(payload);
        let most = self.clamp.min(self.space.saturating_sub(held));
        if payload < SMALL || self.grown >= most {
            return false;
        }
        self.grown = most.min(self.grown + 2 * self.segment.max(held));
        true
    }

    /// The application has read everything before `next`. Once in a round trip the buffer becomes
    /// large enough for twice what that brought, and for twice again what was more than before.
    pub(super) fn on_read(&mut self, now: Time, next: u64) {
        let (first, since) = self.begin;
        let elapsed = now.saturating_sub(since).0 / 1000;
        if self.rtt == 0 || elapsed < self.rtt / 8 {
            return;
        }
        let read = next.saturating_sub(first);
        if read > self.read {
            let steady = 2 * read + CUSHION * self.segment;
            let rise = u128::from(steady) * u128::from(read - self.read) / u128::from(self.read);
            let wanted = u128::from(steady) + 2 * rise;
            let wanted = wanted.min(u128::from(self.most)) as u64 / self.segment * self.segment;
            if wanted > self.space {
                (self.space, self.clamp) = (wanted, wanted);
            }
            self.read = read;
        }
        self.begin = (next, now);
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
            let grows = window.on_segment(PAYLOAD);
            *next += u64::from(PAYLOAD);
            window.on_read(now, *next);
            grows
        });
        grew.count()
    }

    #[test]
    fn it_begins_full_and_grows_after_a_round_trip_that_brought_more_than_ten_segments() {
        let (mut window, mut next) = (window(), 1);
        window.on_echo(MS(100), Some(0));
        assert_eq!(round(&mut window, MS(100), &mut next, 10), 0, "64 kB are announced at once");
        window.on_echo(MS(200), Some(100));
        // The first read of a round closes the one before: ten segments were expected.
        assert_eq!(round(&mut window, MS(200), &mut next, 20), 0);
        window.on_echo(MS(300), Some(200));
        // 20 segments are 28,960 bytes: 2 * 28,960 + 16 * 1460 = 81,280 would be steady, and twice
        // the rise of 81,280 * 14,360 / 14,600 = 79,943 is added: 241,166, in whole segments 240,900.
        let grew = round(&mut window, MS(300), &mut next, 40);
        assert_eq!(window.clamp, 240_900);
        assert_eq!(grew, 39, "all that follow the read");
    }

    #[test]
    fn a_steady_flow_lets_it_be() {
        let (mut window, mut next) = (window(), 1);
        let grew: Vec<usize> = (1..20)
            .map(|n| {
                window.on_echo(MS(100 * n), Some(100 * (n - 1)));
                round(&mut window, MS(100 * n), &mut next, 30)
            })
            .collect();
        assert!(grew[2] > 0 && grew[8..].iter().all(|count| *count == 0), "{grew:?}");
    }

    #[test]
    fn it_never_exceeds_what_is_allowed() {
        let (mut window, mut next) = (ReceiveWindow::new(100_000, 1460, 1), 1);
        for n in 1..20 {
            window.on_echo(MS(100 * n), Some(100 * (n - 1)));
            round(&mut window, MS(100 * n), &mut next, 20 * n);
        }
        assert!(window.grown <= 100_000 && window.grown > 97_000, "{}", window.grown);
    }

    #[test]
    fn the_round_trip_time_falls_at_once_and_rises_slowly() {
        let mut window = window();
        window.on_echo(MS(100), Some(0));
        window.on_echo(MS(100), Some(60));
        assert_eq!(window.rtt, 8 * 40_000);
        window.on_echo(MS(220), Some(100));
        assert_eq!(window.rtt, 8 * 50_000);
        window.on_echo(MS(230), Some(100));
        assert_eq!(window.rtt, 8 * 50_000, "an echo seen before says nothing");
    }
}

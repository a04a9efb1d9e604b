//! Whether the window or the application limits the sender: a window that was not used must not
//! grow (RFC 7661 section 4.2, with the once-per-window judgement that Linux makes).

/// How far the window was used in the current round trip.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct WindowUsage {
    limited: bool,
    /// Most bytes outstanding in this round trip.
    most: u64,
    /// When this offset is acknowledged, a new round trip begins.
    round_end: u64,
}

impl WindowUsage {
    /// A burst has been sent; `limited` if the window has no room for another segment.
    pub(crate) fn sent(&mut self, una: u64, next: u64, limited: bool) {
        let new_round = una >= self.round_end;
        if new_round || limited || (!self.limited && next - una > self.most) {
            self.limited = limited;
            self.most = next - una;
            self.round_end = next;
        }
    }

    /// True if the window is what limits. In slow start half a window in use is enough, because
    /// the window doubles in each round trip.
    pub(crate) fn is_limited(&self, window: u64, slow_start: bool) -> bool {
        self.limited || (slow_start && window < 2 * self.most)
    }
}

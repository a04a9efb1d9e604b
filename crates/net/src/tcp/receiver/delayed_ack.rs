//! When an acknowledgement goes out: at once, with the second full segment, or after a delay
//! (RFC 5681 section 4.2).

use sojourn_packet::Time;

/// What is owed to the sender.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DelayedAck {
    delay: Time,
    /// The largest payload seen: what a full segment is.
    full: u32,
    /// Bytes received in order since the last acknowledgement went out.
    unacknowledged: u64,
    due: Due,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Due {
    Nothing,
    At(Time),
    Now,
}

impl DelayedAck {
    /// Nothing is owed; an acknowledgement waits for at most `delay`.
    pub(crate) fn new(delay: Time) -> DelayedAck {
        DelayedAck { delay, full: 1, unacknowledged: 0, due: Due::Nothing }
    }

    /// Data arrived in order.
    pub(crate) fn on_data(&mut self, now: Time, payload: u32) {
        self.full = self.full.max(payload);
        self.unacknowledged += u64::from(payload);
        if self.unacknowledged > u64::from(self.full) {
            self.due = Due::Now;
        } else if self.due == Due::Nothing {
            self.due = Due::At(now + self.delay);
        }
    }

    /// Something arrived that the sender must hear of at once.
    pub(crate) fn at_once(&mut self) {
        self.due = Due::Now;
    }

    /// An acknowledgement went out, alone or with data.
    pub(crate) fn sent(&mut self) {
        self.unacknowledged = 0;
        self.due = Due::Nothing;
    }

    pub(crate) fn is_due(&self, now: Time) -> bool {
        match self.due {
            Due::Nothing => false,
            Due::At(deadline) => now >= deadline,
            Due::Now => true,
        }
    }

    pub(crate) fn deadline(&self) -> Option<Time> {
        match self.due {
            Due::Nothing => None,
            Due::At(deadline) => Some(deadline),
            Due::Now => Some(Time::ZERO),
        }
    }
}

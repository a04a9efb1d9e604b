//! Retransmission of a SYN or SYN-ACK (RFC 6298 section 5), and the round trip that its answer measures.
//!
//! Must not depend on the options that a segment carries.

use super::jiffies::Hz;
use super::sender::{INITIAL_RTO, MAX_RTO};
use sojourn_packet::Time;

/// The SYN or SYN-ACK of this end: whether it is to be sent, and sent again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SynRetransmission {
    hz: Hz,
    pub(crate) pending: bool,
    /// Time of its retransmission; [`Time::MAX`] for never.
    pub(crate) deadline: Time,
    /// Transmissions, and expiries of the timer.
    tries: u32,
    timeouts: u32,
    /// The timestamp of the first transmission.
    first_timestamp: u32,
    sent: Time,
}

/// The measurements that a handshake passes to the sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HandshakeResult {
    /// The round-trip time, if one was measured.
    pub(crate) rtt: Option<Time>,
    /// The handshake lost enough that the first flight is one segment.
    pub(crate) congested: bool,
}

/// The timestamp of ours that an answer echoes; Linux reads zero as none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AnswerEcho {
    pub(crate) timestamp: u32,
    /// The round-trip time that it shows.
    pub(crate) rtt: Time,
}

impl SynRetransmission {
    /// Nothing was sent.
    pub(crate) fn new(hz: Hz) -> SynRetransmission {
        SynRetransmission {
            hz,
            pending: false,
            deadline: Time::MAX,
            tries: 0,
            timeouts: 0,
            first_timestamp: 0,
            sent: Time::ZERO,
        }
    }

    /// The segment goes out with this timestamp.
    pub(crate) fn sent(&mut self, now: Time, timestamp: u32) {
        let rto = Time(INITIAL_RTO.0 << self.timeouts.min(8)).min(MAX_RTO);
        self.pending = false;
        self.deadline = self.hz.expiry(now, rto);
        if self.tries == 0 {
            self.first_timestamp = timestamp;
        }
        self.tries += 1;
        self.sent = now;
    }

    /// The timer may have expired.
    pub(crate) fn on_timer(&mut self, now: Time) {
        if now >= self.deadline {
            self.pending = true;
            self.deadline = Time::MAX;
            self.timeouts += 1;
        }
    }

    /// The answer arrived. A segment that was sent once measures the round trip; after repetitions only
    /// the echoed timestamp does (Karn's rule, RFC 7323 section 4). The first flight is one segment if the
    /// segment was repeated more than once (RFC 5681 section 3.1 as Linux reads it, with the timeout of
    /// 1 s of RFC 6298 in mind), unless the answer is to the first of them.
    pub(crate) fn answered(&mut self, now: Time, echo: Option<AnswerEcho>) -> HandshakeResult {
        self.pending = false;
        self.deadline = Time::MAX;
        let rtt = match self.tries {
            1 => Some(now.saturating_sub(self.sent)),
            _ => echo.map(|echo| echo.rtt),
        };
        let spurious = echo.is_some_and(|echo| echo.timestamp == self.first_timestamp);
        HandshakeResult { rtt, congested: self.tries > 2 && self.timeouts > 0 && !spurious }
    }
}

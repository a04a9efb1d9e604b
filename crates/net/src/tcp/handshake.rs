//! Handshake: the options that two ends negotiate, and the retransmission of a SYN.

use super::accecn;
use super::config::TcpConfig;
use super::congestion::Marks;
use super::jiffies::expiry;
use super::sender::{INITIAL_RTO, MAX_RTO};
use crate::wire::{TcpFlags, TcpOptions, TcpSegment, Timestamps};
use sojourn_packet::Time;

/// The options that both ends negotiated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Negotiated {
    /// Payload of a full segment, options taken off (RFC 6691).
    pub(crate) mss: u32,
    /// The same of the other direction, as far as what this end announced bounds it.
    pub(crate) peer_mss: u32,
    pub(crate) timestamps: bool,
    pub(crate) sack: bool,
    pub(crate) ecn: bool,
    /// Both count marks (RFC 9768).
    pub(crate) accurate: bool,
    /// Shift of the windows that we announce and of those that the peer announces.
    pub(crate) own_shift: u8,
    pub(crate) peer_shift: u8,
}

/// Bytes that the timestamps option takes in every segment.
const TIMESTAMPS_LEN: u32 = 12;
/// MSS of a peer that announces none (RFC 9293 section 3.7.1).
const DEFAULT_MSS: u16 = 536;

impl Negotiated {
    /// Result of the local settings and the peer's SYN or SYN-ACK.
    pub(crate) fn new(config: &TcpConfig, peer: &TcpSegment) -> Negotiated {
        let options = &peer.options;
        let timestamps = config.timestamps && options.timestamps.is_some();
        let mss = config.mss.min(options.mss.unwrap_or(DEFAULT_MSS));
        let in_all = if timestamps { TIMESTAMPS_LEN } else { 0 };
        let payload = |mss| u32::from(mss).saturating_sub(in_all).max(1);
        let accurate = config.marks() == Marks::AccEcn
            && if peer.flags.contains(TcpFlags::ACK) {
                accecn::is_answer(peer.flags)
            } else {
                peer.flags.contains(TcpFlags::AE | TcpFlags::CWR | TcpFlags::ECE)
            };
        let asks_ecn = if peer.flags.contains(TcpFlags::ACK) {
            peer.flags.contains(TcpFlags::ECE) && !peer.flags.contains(TcpFlags::CWR)
        } else {
            peer.flags.contains(TcpFlags::ECE | TcpFlags::CWR)
        };
        Negotiated {
            mss: payload(mss),
            peer_mss: payload(config.mss),
            timestamps,
            sack: config.sack && options.sack_permitted,
            ecn: accurate || config.offers_ecn() && asks_ecn,
            accurate,
            own_shift: options.window_scale.map_or(0, |_| config.window_scale()),
            peer_shift: options.window_scale.map_or(0, |shift| shift.min(14)),
        }
    }
}

/// The options of a SYN; of a SYN-ACK, if `agreed` is there.
pub(crate) fn syn_options(
    config: &TcpConfig,
    agreed: Option<(&Negotiated, &TcpSegment)>,
    now: Time,
    echo: u32,
) -> TcpOptions {
    let timestamps = agreed.map_or(config.timestamps, |(negotiated, _)| negotiated.timestamps);
    let scale = agreed.is_none_or(|(_, syn)| syn.options.window_scale.is_some());
    TcpOptions {
        mss: Some(config.mss),
        window_scale: scale.then(|| config.window_scale()),
        sack_permitted: agreed.map_or(config.sack, |(negotiated, _)| negotiated.sack),
        timestamps: timestamps.then(|| Timestamps { value: config.timestamp(now), echo }),
        ..TcpOptions::default()
    }
}

/// The SYN or SYN-ACK of this end: whether it is to be sent, and sent again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Handshake {
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

impl Handshake {
    /// Nothing was sent.
    pub(crate) fn new() -> Handshake {
        Handshake {
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
        self.deadline = expiry(now, rto);
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

//! Options of SYN and SYN-ACK, and the values that both ends negotiate from them: MSS, window scale,
//! SACK, timestamps, ECN.
//!
//! `connection/handshake.rs` is the three-way handshake, `syn_retransmission` the timer of a SYN.

use super::accecn;
use super::config::TcpConfig;
use super::congestion::EcnFeedback;
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
        let accurate = config.ecn_feedback() == EcnFeedback::AccEcn
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

//! Settings of one end of a connection. Defaults are those of Linux 6.1 where it has one.

use super::jiffies::Hz;
use super::timestamp_clock::{Echo, milliseconds};
use crate::config::{CongestionControlName, PacingSetting, SegmentationOffload};
use crate::tcp::congestion::EcnFeedback;
use crate::wire::Ranks;
use sojourn_packet::Time;

/// Settings of one end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TcpConfig {
    /// MSS that this end announces, in bytes without options. Default 1460 (Ethernet, IPv4).
    pub mss: u16,
    /// Receive window in bytes; by default larger than any bottleneck here needs: 64 MiB.
    pub receive_window: u64,
    /// Offer timestamps (RFC 7323).
    pub timestamps: bool,
    /// Offer SACK (RFC 2018).
    pub sack: bool,
    /// Offer ECN (RFC 3168); a congestion control that wants each mark offers it anyway.
    pub ecn: bool,
    /// Ticks a second of this end's kernel, in which timers and coarse clocks count.
    pub hz: Hz,
    /// Initial window in segments (RFC 6928).
    pub initial_window: u32,
    /// Least distance between the smoothed RTT and the retransmission timeout. Linux applies its
    /// 200 ms here, where RFC 6298 section 2.4 would have the whole timeout be at least 1 s.
    pub min_rto: Time,
    /// Longest delay of an acknowledgement, zero for none; if absent Linux's 40 to 200 ms, as they
    /// adapt.
    pub delayed_ack: Option<Time>,
    /// Round-trip time of the path without queues, if a control needs it.
    pub base_rtt: Option<Time>,
    /// The sender's congestion control.
    pub congestion_control: CongestionControlName,
    /// Bursts of segmentation offload.
    pub segmentation_offload: SegmentationOffload,
    /// Pacing of the segments.
    pub pacing: PacingSetting,
    /// Differentiated services code point of each packet.
    pub dscp: u8,
    /// Ranks of the data packets, if they carry any.
    pub ranks: Option<Ranks>,
    /// Initial sequence number. With the timestamp offset it also is where random choices begin.
    pub initial_sequence: u32,
    /// Value of the timestamp clock at time zero, in ms.
    pub timestamp_offset: u32,
}

impl Default for TcpConfig {
    fn default() -> TcpConfig {
        TcpConfig {
            mss: 1460,
            receive_window: 64 << 20,
            timestamps: true,
            sack: true,
            ecn: false,
            hz: Hz::default(),
            initial_window: 10,
            min_rto: Time::from_millis(200),
            delayed_ack: None,
            base_rtt: None,
            congestion_control: CongestionControlName::default(),
            segmentation_offload: SegmentationOffload::Off,
            pacing: PacingSetting::Control,
            dscp: 0,
            ranks: None,
            initial_sequence: 0,
            timestamp_offset: 0,
        }
    }
}

impl TcpConfig {
    /// The smallest shift with which the receive window fits its field (RFC 7323 section 2.3).
    pub fn window_scale(&self) -> u8 {
        (0..14).find(|shift| self.receive_window >> shift <= 0xffff).unwrap_or(14)
    }

    /// True if ECN is offered.
    pub fn offers_ecn(&self) -> bool {
        self.ecn || self.ecn_feedback() != EcnFeedback::Classic
    }

    /// True if data segments collect the telemetry of switches and acknowledgements return it.
    pub fn uses_telemetry(&self) -> bool {
        self.congestion_control.reads_telemetry()
    }

    /// Feedback of marks that its congestion control needs.
    pub fn ecn_feedback(&self) -> EcnFeedback {
        self.congestion_control.ecn_feedback()
    }

    /// True if its congestion control needs feedback of each mark.
    pub fn uses_dctcp_echo(&self) -> bool {
        self.ecn_feedback() == EcnFeedback::Dctcp
    }

    /// The millisecond at which the timestamp clock showed `value`.
    pub(crate) fn echo_of(&self, value: u32) -> Echo {
        Echo(value.wrapping_sub(self.timestamp_offset))
    }

    /// Value of the timestamp clock at `now`; it ticks once a millisecond.
    pub fn timestamp(&self, now: Time) -> u32 {
        self.timestamp_offset.wrapping_add(milliseconds(now) as u32)
    }
}

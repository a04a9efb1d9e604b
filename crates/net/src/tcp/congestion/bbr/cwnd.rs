//! BBR's window: twice the bandwidth-delay product, an allowance for the end hosts, and the window
//! after a recovery.

use super::{Bbr, CYCLE, Gain, Mode, UNIT, bandwidth::Bandwidth};
use crate::tcp::burst::{MAX_BURST_BYTES, burst_bytes};
use crate::tcp::congestion::{Flow, RateSample, State, Window};
use sojourn_packet::Time;

/// The least window in segments: two exchanges of two segments keep delayed acknowledgements going.
pub(super) const MIN_CWND: u32 = 4;
/// The window while nothing was measured.
const INITIAL_CWND: u32 = 10;
/// Lumps of acknowledgements are covered for at most this long.
const LONGEST_LUMP: Time = Time::from_millis(100);
/// Below this rate, in bytes per second (1.2 Mbit/s), single segments are sent.
const SINGLE_SEGMENTS_BELOW: u64 = 150_000;
/// Largest burst that counts, in segments.
const MAX_BURST: u32 = 127;

/// The least burst of segmentation offload at this pacing rate.
pub(super) fn least_burst(pacing_rate: u64) -> u32 {
    if pacing_rate < SINGLE_SEGMENTS_BELOW { 1 } else { 2 }
}

impl Bbr {
    /// A burst that segmentation offload would make at the present rate.
    fn burst(&self, mss: u32) -> u32 {
        let bytes = burst_bytes(self.pacing_rate).min(MAX_BURST_BYTES);
        ((bytes / u64::from(mss)) as u32).max(least_burst(self.pacing_rate)).min(MAX_BURST)
    }

    /// The bandwidth-delay product in segments, times `gain`.
    fn bdp(&self, bandwidth: Bandwidth, gain: Gain) -> u32 {
        self.min_rtt.map_or(INITIAL_CWND, |min_rtt| bandwidth.segments(min_rtt, gain))
    }

    /// Adds the data held by both hosts: three bursts; an even number, for delayed
    /// acknowledgements; and two more for the probing phase, however small the path.
    fn with_quanta(&self, segments: u32, mss: u32) -> u32 {
        let segments = segments.saturating_add(3 * self.burst(mss)).next_multiple_of(2);
        let probing = self.mode == Mode::ProbeBw && CYCLE[self.phase] > UNIT;
        segments + if probing { 2 } else { 0 }
    }

    /// The flight that fills the path `gain` times.
    pub(super) fn inflight(&self, bandwidth: Bandwidth, gain: Gain, mss: u32) -> u32 {
        self.with_quanta(self.bdp(bandwidth, gain), mss)
    }

    /// Data in the network when pacing releases the next segment.
    pub(super) fn in_network_at_departure(&self, flow: &Flow, in_flight: u32) -> u32 {
        let wait = flow.next_departure.saturating_sub(flow.now);
        let delivered = self.bandwidth().whole_segments(wait);
        let rising = self.pacing_gain() > UNIT;
        let then = in_flight + if rising { self.burst(flow.mss) } else { 0 };
        then.saturating_sub(delivered)
    }

    /// The window is good enough to come back to, unless it is cut already.
    pub(super) fn save_cwnd(&mut self, window: &Window) {
        let cut = self.prior_state >= State::Recovery || matches!(self.mode, Mode::ProbeRtt { .. });
        self.prior_cwnd = if cut { self.prior_cwnd.max(window.cwnd) } else { window.cwnd };
    }

    pub(super) fn set_cwnd(&mut self, window: &mut Window, flow: &Flow, sample: &RateSample) {
        if sample.acked > 0 {
            let cwnd = self.recover_or_restore(window.cwnd, flow, sample);
            window.cwnd = if self.packet_conservation {
                cwnd.max(flow.in_flight + sample.acked)
            } else {
                self.towards_target(cwnd, flow, sample.acked)
            };
        }
        if matches!(self.mode, Mode::ProbeRtt { .. }) {
            window.cwnd = window.cwnd.min(MIN_CWND);
        }
    }

    /// In the first round of a recovery as much is sent as is delivered, later up to twice as
    /// much; after it the window is what it was before.
    fn recover_or_restore(&mut self, mut cwnd: u32, flow: &Flow, sample: &RateSample) -> u32 {
        if sample.lost > 0 {
            cwnd = cwnd.saturating_sub(sample.lost).max(1);
        }
        if flow.state == State::Recovery && self.prior_state != State::Recovery {
            self.packet_conservation = true;
            self.round_end = flow.delivered;
            cwnd = flow.in_flight + sample.acked;
        } else if self.prior_state >= State::Recovery && flow.state < State::Recovery {
            cwnd = cwnd.max(self.prior_cwnd);
            self.packet_conservation = false;
        }
        self.prior_state = flow.state;
        cwnd
    }

    fn towards_target(&self, cwnd: u32, flow: &Flow, acked: u32) -> u32 {
        let bandwidth = self.bandwidth();
        let target = self.bdp(bandwidth, self.cwnd_gain()) + self.lumps(bandwidth);
        let target = self.with_quanta(target, flow.mss);
        let grown = cwnd + acked;
        let cwnd = if self.full {
            grown.min(target)
        } else if cwnd < target || flow.delivered < u64::from(INITIAL_CWND) {
            grown
        } else {
            cwnd
        };
        cwnd.max(MIN_CWND)
    }

    fn lumps(&self, bandwidth: Bandwidth) -> u32 {
        let longest = bandwidth.whole_segments(LONGEST_LUMP);
        if self.full { self.aggregation.greatest().min(longest) } else { 0 }
    }
}

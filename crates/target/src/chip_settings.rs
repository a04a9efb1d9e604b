//! Settings of a chip that a run may choose: the reading of its math unit and its clock.
//!
//! [`LoadOptions`](crate::LoadOptions) carries them to the architecture, which alone interprets
//! them. This file must not depend on any architecture.

use serde::{Deserialize, Serialize};
use sojourn_packet::Time;

/// Rounding of an odd exponent of a `sqrt` or `rsqrt` operand to an even one.
///
/// Two descriptions of the unit are in circulation and differ in one bit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ExponentParity {
    /// The chip's reference model: an odd exponent is rounded up to even.
    #[default]
    Vendor,
    /// The opposite parity, known from training material. Results of `rsqrt` are sqrt(2) larger;
    /// the figures of the CoDel-ACT paper (2024) follow from this one.
    Paper,
}

/// Settings of the chip that affect timestamps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Clock {
    /// Value of the chip's counter at the start of the run.
    pub offset: Time,
    /// `tf1.tm.cfg timestamp_shift_bits`: how far `enq_tstamp` and `deq_timedelta` are shifted
    /// right before they are cut to their width. 0 is the driver's default.
    pub timestamp_shift: u8,
}

impl Clock {
    /// The 48-bit counter at a time of the run.
    #[inline]
    pub fn global(&self, at: Time) -> u64 {
        self.offset.as_nanos().wrapping_add(at.as_nanos()) & ((1 << 48) - 1)
    }

    /// The traffic manager's timestamp, not yet cut to its width.
    #[inline]
    pub fn enqueued(&self, at: Time) -> u64 {
        self.global(at) >> self.timestamp_shift.min(16)
    }

    /// The time in the queue, in the same unit and likewise.
    #[inline]
    pub fn in_queue(&self, span: Time) -> u64 {
        span.as_nanos() >> self.timestamp_shift.min(16)
    }
}

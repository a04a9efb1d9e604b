//! Ranks that the data packets of a transfer carry, for disciplines and programs that send the lowest
//! first. Must not depend on headers: the frame template places a rank.

use sojourn_packet::Time;

/// Bytes of one step of a rank of remaining bytes.
const BYTES: u64 = 1_024;
/// Time of one step of a rank of deadlines.
const STEP: Time = Time::from_micros(100);
/// The last deadline that has a rank of its own.
pub(crate) const LATEST_DEADLINE: Time = Time(u16::MAX as u64 * STEP.0);

/// Ranks of one transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ranks {
    /// What remains before the sequence number `end`, of `bytes` in all.
    Remaining {
        /// Behind the last byte.
        end: u32,
        /// Size of the transfer.
        bytes: u64,
    },
    /// The same for each packet.
    Constant(u16),
}

impl Ranks {
    /// The bytes that a transfer of `bytes` has left, whose first byte has the sequence number `first`: in
    /// units of 1,024, rounded up, at most 65,535.
    pub fn remaining(first: u32, bytes: u64) -> Ranks {
        Ranks::Remaining { end: first.wrapping_add(bytes as u32), bytes }
    }

    /// The instant at which a transfer should be over: in whole units of 0.1 ms, at most 65,535.
    pub fn deadline(at: Time) -> Ranks {
        Ranks::Constant(u16::try_from(at.0 / STEP.0).unwrap_or(u16::MAX))
    }

    /// The rank of the packet whose payload begins at `seq`.
    #[inline(always)]
    pub(super) fn rank_at(self, seq: u32) -> u16 {
        match self {
            Ranks::Constant(rank) => rank,
            Ranks::Remaining { end, bytes } => {
                // Sequence numbers tell apart what is less than half their space.
                let left = u64::from(end.wrapping_sub(seq)).min(bytes);
                let left = if bytes >= 1 << 31 { bytes } else { left };
                u16::try_from(left.div_ceil(BYTES)).unwrap_or(u16::MAX)
            }
        }
    }
}

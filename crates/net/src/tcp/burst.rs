//! Size of the back-to-back bursts that Linux passes to the network interface.
//!
//! The sender's offload splits data by this size. BBR and HyStart include it in their calculations.

/// The most bytes that one burst carries: 64 KiB less the room for headers.
pub(crate) const MAX_BURST_BYTES: u64 = 65_536 - 321;
/// A burst lasts about so long at the pacing rate: 2^-10 s.
const PACING_SHIFT: u32 = 10;

/// Size of a burst that the pacing rate allows.
pub(crate) fn burst_bytes(pacing_rate: u64) -> u64 {
    pacing_rate >> PACING_SHIFT
}

//! Registers of a chip's shapers, as data: the widths of their mantissas, and the clock of their refills.

/// Registers of a chip's shapers.
///
/// ```
/// use sojourn_packet::ShaperRegisters;
/// let fine = ShaperRegisters { rate_bits: 12, burst_bits: 8, ..ShaperRegisters::default() };
/// assert_eq!(fine.clock, 1_220_000_000);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShaperRegisters {
    /// Core clock in Hz; a shaper is refilled every 80 clocks.
    pub clock: u64,
    /// Bits of a rate's mantissa M.
    pub rate_bits: u32,
    /// Bits of a burst's mantissa m.
    pub burst_bits: u32,
    /// Rounds a mantissa that a small burst shortens to the nearest, whatever the provisioning.
    pub shortened_to_nearest: bool,
}

impl Default for ShaperRegisters {
    /// Those of Tofino 1.
    fn default() -> ShaperRegisters {
        ShaperRegisters {
            clock: 1_220_000_000,
            rate_bits: 10,
            burst_bits: 4,
            shortened_to_nearest: false,
        }
    }
}

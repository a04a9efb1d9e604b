//! Shapers (in the making).
use sojourn_packet::Rate;

/// What a shaper counts, and how much of it per second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShapedRate {
    /// Bits per second; the burst is in bytes.
    Bits(Rate),
    /// Packets per second; the burst is in packets.
    Packets(u64),
}

/// How a rate that the hardware cannot express exactly is rounded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Provisioning {
    /// Up: at least the rate asked for. The driver's default.
    #[default]
    Upper,
    /// Down: at most the rate asked for.
    Lower,
    /// To the nearest.
    MinError,
}

/// A shaper as its API takes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShaperConfig {
    /// Rate.
    pub rate: ShapedRate,
    /// Burst in bytes, or in packets for a rate in packets.
    pub burst: u64,
    /// Rounding of the rate.
    pub provisioning: Provisioning,
}

impl ShaperConfig {
    /// A shaper in bit/s with a burst in bytes, provisioned as the driver does by default.
    pub fn bits(rate: Rate, burst: u64) -> ShaperConfig {
        ShaperConfig { rate: ShapedRate::Bits(rate), burst, provisioning: Provisioning::Upper }
    }
}

/// What the hardware makes of a shaper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EffectiveShaper {
    /// The rate that results, rounded to whole bit/s or packets/s.
    pub rate: ShapedRate,
    /// The burst that results, in bytes or packets.
    pub burst: u64,
}

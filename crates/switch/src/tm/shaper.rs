//! Shapers: token buckets with the rates and bursts that the hardware can express.
//!
//! A chip's port and queue shapers add `M * 2^-E` bytes (or `M * 4^-E` packets) every 80 core
//! clocks, E of 4 bits, and hold at most `m << e` bytes, e of 4 bits. The widths of M and m are a
//! chip's ([`ShaperRegisters`]); sources are the driver's conversion functions in open-p4studio
//! (`tm_tofino_hw_intf.c`, `tm_tof2_hw_intf.c`). The buckets here count in units of 2^-E bytes and
//! in whole refills, so they are exact and never drift. This file must not know what is shaped.

use sojourn_packet::{Rate, ShaperRegisters, Time};

/// Core clocks between two refills.
const REFILL_CLOCKS: u64 = 80;
const EXPONENT_MAX: u32 = 15;

/// Largest mantissa of a rate.
fn largest_rate_mantissa(registers: ShaperRegisters) -> u128 {
    (1 << registers.rate_bits) - 1
}

/// Longest burst in bytes or packets: the largest mantissa, shifted by 15.
fn longest_burst(registers: ShaperRegisters) -> u64 {
    ((1 << registers.burst_bits) - 1) << EXPONENT_MAX
}

/// Unit of a shaper, and its amount per second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub enum ShapedRate {
    /// Bits per second; the burst is in bytes.
    Bits(Rate),
    /// Packets per second; the burst is in packets.
    Packets(u64),
}

impl ShapedRate {
    /// The number alone: bit/s or packets/s.
    pub fn per_second(self) -> u64 {
        match self {
            ShapedRate::Bits(rate) => rate.0,
            ShapedRate::Packets(rate) => rate,
        }
    }
}

/// Rounding of a rate that the hardware cannot represent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Provisioning {
    /// Up: at least the requested rate. The driver's default.
    #[default]
    Upper,
    /// Down: at most the requested rate.
    Lower,
    /// To the nearest.
    MinError,
}

impl Provisioning {
    fn divide(self, numerator: u128, denominator: u128) -> u128 {
        match self {
            Provisioning::Upper => numerator.div_ceil(denominator),
            Provisioning::Lower => numerator / denominator,
            Provisioning::MinError => (numerator + denominator / 2) / denominator,
        }
    }
}

/// A shaper as its API takes it.
///
/// ```
/// use sojourn_packet::{Rate, ShaperRegisters};
/// use sojourn_switch::tm::shaper::TokenBucket;
/// use sojourn_switch::{ShapedRate, ShaperConfig};
/// let requested = ShaperConfig::bits(Rate(10_000_000), 3_000);
/// let hardware = ShaperRegisters::default();
/// let built = TokenBucket::new(&requested, hardware).expect("the hardware has it").effective();
/// // At least what was requested for, and within 1 %.
/// assert!((10_000_000..10_100_000).contains(&built.rate.per_second()));
/// assert!(matches!(built.rate, ShapedRate::Bits(_)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShaperConfig {
    /// Rate. The driver's API takes kbit/s; here any bit/s.
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

/// A shaper as the hardware implements it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct EffectiveShaper {
    /// The rate that results, rounded to whole bit/s or packets/s.
    pub rate: ShapedRate,
    /// The burst that results, in bytes or packets.
    pub burst: u64,
    /// M of the rate.
    pub mantissa: u16,
    /// E of the rate.
    pub exponent: u8,
}

/// A value that the hardware cannot express.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} is {value}, allowed is {allowed}")]
pub struct Unencodable {
    /// The setting.
    pub what: &'static str,
    /// Its value.
    pub value: u64,
    /// Allowed values.
    pub allowed: String,
}

/// The registers of one shaper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Encoded {
    mantissa: u64,
    exponent: u32,
    /// Bits of fraction in the bucket's unit: E for bytes, 2 E for packets.
    fraction: u32,
    burst: u64,
}

fn encode(config: &ShaperConfig, hardware: ShaperRegisters) -> Result<Encoded, Unencodable> {
    let burst = encode_burst(config.burst, hardware)?;
    // Tokens per refill, as a fraction numerator / clock, before the shift by E or 2 E.
    let (numerator, step) = match config.rate {
        ShapedRate::Bits(rate) => (u128::from(rate.0) * u128::from(REFILL_CLOCKS / 8), 1),
        ShapedRate::Packets(rate) => (u128::from(rate) * u128::from(REFILL_CLOCKS), 2),
    };
    let clock = u128::from(hardware.clock);
    let rounded_at = |by: Provisioning, e: u32| by.divide(numerator << (step * e), clock);
    let mantissa_at = |e: u32| rounded_at(config.provisioning, e);

    // The driver normalises M: the largest E at which M still fits its bits.
    let value = config.rate.per_second();
    let refused = |allowed: String| Unencodable { what: "rate", value, allowed };
    let largest = largest_rate_mantissa(hardware);
    let normalised = (0..=EXPONENT_MAX).rev().find(|&e| mantissa_at(e) <= largest);
    let mut exponent = normalised.ok_or_else(|| {
        refused(format!("at most {largest} bytes (or packets) per 80 core clocks"))
    })?;
    let first = exponent;
    // It then gives precision away while the burst is smaller than M, which never falls to zero.
    // Where the rounding of a shortened M is not known, it is that of the provisioning.
    while exponent > 0
        && u128::from(config.burst) < mantissa_at(exponent)
        && mantissa_at(exponent - 1) > 0
    {
        exponent -= 1;
    }
    let nearest = hardware.shortened_to_nearest && exponent < first;
    let by = if nearest { Provisioning::MinError } else { config.provisioning };
    let mantissa = rounded_at(by, exponent) as u64;
    if mantissa == 0 {
        let allowed = "at least 2^-15 byte (or 4^-15 packet) per 80 core clocks";
        return Err(refused(allowed.to_owned()));
    }
    Ok(Encoded { mantissa, exponent, fraction: step * exponent, burst })
}

/// The burst as `m << e`, rounded down. The driver's own conversion overflows its register from
/// 65,536 on; that is not reproduced.
fn encode_burst(burst: u64, hardware: ShaperRegisters) -> Result<u64, Unencodable> {
    let longest = longest_burst(hardware);
    if burst == 0 || burst > longest {
        let allowed = format!("1 to {longest}");
        return Err(Unencodable { what: "burst", value: burst, allowed });
    }
    let shift = (u64::BITS - burst.leading_zeros()).saturating_sub(hardware.burst_bits);
    Ok(burst >> shift << shift)
}

/// Counts refills: `t` nanoseconds hold `t * numerator / denominator` of them.
#[derive(Clone, Copy, Debug)]
struct RefillClock {
    numerator: u64,
    denominator: u64,
}

impl RefillClock {
    fn new(core_clock: u64) -> RefillClock {
        let per_second = REFILL_CLOCKS * 1_000_000_000;
        let common = gcd(core_clock, per_second);
        RefillClock { numerator: core_clock / common, denominator: per_second / common }
    }

    /// Refills up to and including `now`.
    fn count(&self, now: Time) -> u64 {
        match now.0.checked_mul(self.numerator) {
            Some(product) => product / self.denominator,
            None => {
                let product = u128::from(now.0) * u128::from(self.numerator);
                (product / u128::from(self.denominator)) as u64
            }
        }
    }

    /// The first nanosecond with that many refills.
    fn time_of(&self, count: u64) -> Time {
        Time(match count.checked_mul(self.denominator) {
            Some(product) => product.div_ceil(self.numerator),
            None => {
                let product = u128::from(count) * u128::from(self.denominator);
                product.div_ceil(u128::from(self.numerator)) as u64
            }
        })
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// A token bucket.
///
/// A packet may go while the level is not negative, and its whole length is then subtracted: the
/// hardware decides before it knows the length, and a burst of 1,536 bytes must let a frame of
/// 1,538 pass. So a full bucket passes the burst and the rest of the packet that crosses it.
#[derive(Clone, Copy, Debug)]
pub struct TokenBucket {
    encoded: Encoded,
    in_packets: bool,
    core_clock: u64,
    clock: RefillClock,
    /// In units of 2^-fraction bytes or packets.
    level: i64,
    full: i64,
    refills: u64,
    /// The instant up to which those were counted.
    counted: Time,
}

impl TokenBucket {
    /// A full bucket.
    ///
    /// # Errors
    /// If the hardware cannot express the rate or the burst.
    pub fn new(
        config: &ShaperConfig,
        hardware: ShaperRegisters,
    ) -> Result<TokenBucket, Unencodable> {
        let encoded = encode(config, hardware)?;
        let full = (encoded.burst << encoded.fraction) as i64;
        let in_packets = matches!(config.rate, ShapedRate::Packets(_));
        let clock = RefillClock::new(hardware.clock);
        Ok(TokenBucket {
            encoded,
            in_packets,
            core_clock: hardware.clock,
            clock,
            level: full,
            full,
            refills: 0,
            counted: Time::ZERO,
        })
    }

    /// The settings as the hardware implements them.
    pub fn effective(&self) -> EffectiveShaper {
        let bits = if self.in_packets { 1 } else { 8 };
        let per_second = u128::from(self.encoded.mantissa) * bits * u128::from(self.core_clock);
        let divisor = u128::from(REFILL_CLOCKS) << self.encoded.fraction;
        let rate = ((per_second + divisor / 2) / divisor) as u64;
        EffectiveShaper {
            rate: if self.in_packets {
                ShapedRate::Packets(rate)
            } else {
                ShapedRate::Bits(Rate(rate))
            },
            burst: self.encoded.burst,
            mantissa: self.encoded.mantissa as u16,
            exponent: self.encoded.exponent as u8,
        }
    }

    /// Earliest departure of the next packet: `now` or later.
    #[inline(always)]
    pub fn ready(&mut self, now: Time) -> Time {
        self.refill(now);
        if self.level >= 0 {
            return now;
        }
        let missing = self.level.unsigned_abs().div_ceil(self.encoded.mantissa);
        self.clock.time_of(self.refills + missing)
    }

    /// Takes the tokens of a packet of `length` bytes.
    pub fn charge(&mut self, now: Time, length: u32) {
        self.refill(now);
        let tokens = if self.in_packets { 1 } else { i64::from(length) };
        self.level -= tokens << self.encoded.fraction;
    }

    /// Goes on from `now` with the level of a bucket that this one replaces, in bytes or packets.
    pub fn take_over(&mut self, now: Time, old: &mut TokenBucket) {
        old.refill(now);
        self.refill(now);
        let level = i128::from(old.level) << self.encoded.fraction >> old.encoded.fraction;
        self.level = i64::try_from(level).unwrap_or(i64::MIN).min(self.full);
    }

    fn refill(&mut self, now: Time) {
        if now == self.counted {
            return;
        }
        self.counted = now;
        let refills = self.clock.count(now);
        let added = (refills - self.refills).saturating_mul(self.encoded.mantissa);
        let added = i64::try_from(added).unwrap_or(i64::MAX);
        self.level = self.level.saturating_add(added).min(self.full);
        self.refills = refills;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hardware() -> ShaperRegisters {
        ShaperRegisters::default()
    }

    const WIDE: ShaperRegisters = ShaperRegisters {
        clock: 1_000_000_000,
        rate_bits: 12,
        burst_bits: 8,
        shortened_to_nearest: true,
    };

    #[test]
    fn wide_registers_have_more_rates_and_bursts() {
        let of = |rate, burst| {
            let e = TokenBucket::new(&ShaperConfig::bits(Rate(rate), burst), WIDE).unwrap();
            (e.effective().rate.per_second(), e.effective().burst)
        };
        assert_eq!(of(100_000_000, 9216), (100_000_000, 9216));
        assert_eq!(of(10_000_000, 4096), (10_000_610, 4096));
        assert_eq!(of(10_000_000, 1600), (9_997_559, 1600));
        assert_eq!(of(400_000_000_000, 18_000), (400_000_000_000, 17_920));
        let refused = |rate, burst| {
            TokenBucket::new(&ShaperConfig::bits(Rate(rate), burst), WIDE).unwrap_err()
        };
        assert_eq!(refused(410_000_000_000, 9216).what, "rate");
        assert_eq!(refused(1_000_000, 9_000_000).allowed, "1 to 8355840");
    }

    fn bucket(rate: u64, burst: u64, provisioning: Provisioning) -> TokenBucket {
        let rate = ShapedRate::Bits(Rate(rate));
        TokenBucket::new(&ShaperConfig { rate, burst, provisioning }, hardware()).unwrap()
    }

    fn effective(rate: u64, provisioning: Provisioning) -> (u64, u16, u8) {
        let e = bucket(rate, 16384, provisioning).effective();
        (e.rate.per_second(), e.mantissa, e.exponent)
    }

    #[test]
    fn rates_are_those_of_the_hardware() {
        // M * 8 * 1.22e9 / 80 / 2^E = M * 122e6 / 2^E bit/s.
        use Provisioning::Upper;
        assert_eq!(effective(10_000_000, Upper), (10_007_813, 672, 13));
        assert_eq!(effective(100_000_000, Upper), (100_078_125, 840, 10));
        assert_eq!(effective(1_000_000_000, Upper), (1_000_781_250, 525, 6));
        assert_eq!(effective(10_000_000_000, Upper), (10_004_000_000, 656, 3));
        assert_eq!(effective(100_000_000_000, Upper), (100_040_000_000, 820, 0));
    }

    #[test]
    fn provisioning_chooses_the_side_of_the_error() {
        // 100 Mbit/s is M = 839.34 at E = 10.
        assert_eq!(effective(100_000_000, Provisioning::Lower), (99_958_984, 839, 10));
        assert_eq!(effective(100_000_000, Provisioning::MinError), (99_958_984, 839, 10));
        // 1 Gbit/s is M = 524.59 at E = 6.
        assert_eq!(effective(1_000_000_000, Provisioning::MinError), (1_000_781_250, 525, 6));
    }

    #[test]
    fn a_rate_that_rounds_up_to_eleven_bits_takes_the_next_exponent() {
        // M = 1023.6 at E = 6 rounds up to 1024, which is 512 at E = 5.
        assert_eq!(effective(1_951_237_500, Provisioning::Upper), (1_952_000_000, 512, 5));
    }

    #[test]
    fn rates_beyond_the_registers_are_refused() {
        let of = |rate| TokenBucket::new(&ShaperConfig::bits(Rate(rate), 1600), hardware());
        assert!(of(124_806_000_000).is_ok());
        assert_eq!(of(125_000_000_000).unwrap_err().what, "rate");
        let lower = ShaperConfig {
            provisioning: Provisioning::Lower,
            ..ShaperConfig::bits(Rate(3_000), 1600)
        };
        assert_eq!(TokenBucket::new(&lower, hardware()).unwrap_err().what, "rate");
        assert_eq!(of(1).unwrap().effective().rate, ShapedRate::Bits(Rate(3_723)));
    }

    #[test]
    fn bursts_are_rounded_down_to_four_bits() {
        let cases = [(1, 1), (15, 15), (1600, 1536), (9216, 9216), (16384, 16384), (18000, 16384)];
        for (requested, got) in cases {
            assert_eq!(encode_burst(requested, hardware()), Ok(got), "{requested}");
        }
        assert_eq!(encode_burst(15 << 15, hardware()), Ok(15 << 15));
        assert!(encode_burst((15 << 15) + 1, hardware()).is_err());
        assert!(encode_burst(0, hardware()).is_err());
    }

    #[test]
    fn a_burst_below_the_mantissa_costs_precision() {
        // 100 Mbit/s: M = 840 at E = 10, 420 at E = 9 (419.67 rounded up).
        let e = bucket(100_000_000, 512, Provisioning::Upper).effective();
        assert_eq!((e.mantissa, e.exponent, e.burst), (420, 9, 512));
    }

    #[test]
    fn packet_rates_use_powers_of_four() {
        // 100,000 packets/s are 0.0065574 per refill: 429.7 at 4^-8.
        let rate = ShapedRate::Packets(100_000);
        let config = ShaperConfig { rate, burst: 1024, provisioning: Provisioning::Upper };
        let e = TokenBucket::new(&config, hardware()).unwrap().effective();
        assert_eq!((e.mantissa, e.exponent), (430, 8));
        assert_eq!(e.rate, ShapedRate::Packets(100_060));
    }

    /// Sends packets of `length` as early as the bucket allows and returns the instants.
    fn send(bucket: &mut TokenBucket, length: u32, count: usize) -> Vec<Time> {
        let mut now = Time::ZERO;
        let one = |_| {
            now = bucket.ready(now);
            bucket.charge(now, length);
            now
        };
        (0..count).map(one).collect()
    }

    #[test]
    fn the_long_run_rate_is_the_effective_rate() {
        for rate in [1_000_000, 100_000_000, 999_999_999, 40_000_000_000] {
            let mut bucket = bucket(rate, 1600, Provisioning::Upper);
            let effective = bucket.effective().rate.per_second();
            let count = 200_000;
            let end = *send(&mut bucket, 1538, count).last().unwrap();
            // The last packet is paid after it has gone, and the burst came for free.
            let bits = (1538 * (count as u128 - 1) - u128::from(bucket.effective().burst)) * 8;
            let measured = bits * 1_000_000_000 / u128::from(end.0);
            let error = measured.abs_diff(u128::from(effective));
            assert!(error * 10_000 < u128::from(effective), "{rate}: {measured} {effective}");
        }
    }

    #[test]
    fn a_full_bucket_passes_the_burst_and_the_packet_that_crosses_it() {
        // 9216 bytes: six packets of 1538 leave -12, so six go at once and the seventh waits.
        let mut bucket = bucket(100_000_000, 9216, Provisioning::Upper);
        let times = send(&mut bucket, 1538, 7);
        assert!(times[..6].iter().all(|&t| t == Time::ZERO));
        // 12 bytes at 840/1024 byte per refill: 15 refills of 80 / 1.22 GHz = 983.6 ns.
        assert_eq!(times[6], Time(984));
    }

    #[test]
    fn an_idle_bucket_does_not_save_more_than_its_burst() {
        let mut bucket = bucket(100_000_000, 1600, Provisioning::Upper);
        let later = Time::from_secs(3_000_000_000);
        assert_eq!(bucket.ready(later), later);
        bucket.charge(later, 1536);
        assert_eq!(bucket.ready(later), later);
        bucket.charge(later, 1);
        assert!(bucket.ready(later) > later);
    }

    #[test]
    fn a_bucket_that_replaces_another_pays_its_debt_at_its_own_rate() {
        let mut fast = bucket(100_000_000, 1600, Provisioning::Upper);
        let now = Time::from_millis(50);
        fast.charge(now, 1536 + 1_250);
        let mut slow = bucket(1_000_000, 1600, Provisioning::Upper);
        slow.take_over(now, &mut fast);
        // 1,250 bytes at 1 Mbit/s are 10 ms; the hardware's rate is up to 0.2 % above the requested
        // one.
        let wait = slow.ready(now).saturating_sub(now);
        assert!(wait <= Time::from_millis(10) && wait > Time::from_micros(9_950), "{wait:?}");
    }

    #[test]
    fn ready_is_the_first_instant_at_which_the_level_is_not_negative() {
        let mut bucket = bucket(333_000_000, 1600, Provisioning::Upper);
        bucket.charge(Time::ZERO, 5000);
        let at = bucket.ready(Time::ZERO);
        let mut before = bucket;
        assert_eq!(before.ready(Time(at.0 - 1)), at);
        assert_eq!(bucket.ready(at), at);
    }
}

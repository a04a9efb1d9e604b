//! Probabilities in fixed point, and the dice they are thrown with.
//!
//! A probability is an integer of 60 fractional bits, so a decision never depends on how a float
//! rounds, and a run with the same seed makes the same decisions on every machine.

use oorandom::Rand64;

const BITS: u32 = 60;

/// A number from 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Probability(u64);

impl Probability {
    /// Never.
    pub const ZERO: Probability = Probability(0);
    /// Always.
    pub const ONE: Probability = Probability(1 << BITS);

    /// From millionths.
    pub const fn from_ppm(ppm: u64) -> Probability {
        Probability::from_ratio(ppm as u128, 1_000_000)
    }

    /// `part / whole`, at most one; a `whole` of zero makes one. Exact for parts below 2^68.
    pub const fn from_ratio(part: u128, whole: u128) -> Probability {
        if part >= whole {
            return Probability::ONE;
        }
        Probability(((part << BITS) / whole) as u64)
    }

    /// True if a number of [`Dice::throw`] is below it.
    pub const fn exceeds(self, thrown: u64) -> bool {
        thrown < self.0
    }

    /// In units of 2^-60.
    pub const fn raw(self) -> u64 {
        self.0
    }

    /// Its complement.
    pub const fn not(self) -> Probability {
        Probability(Probability::ONE.0 - self.0)
    }

    /// The product of two, cut.
    pub const fn and(self, other: Probability) -> Probability {
        Probability(((self.0 as u128 * other.0 as u128) >> BITS) as u64)
    }

    /// The sum of two, at most one.
    pub fn plus(self, other: Probability) -> Probability {
        Probability(self.0 + other.0).min(Probability::ONE)
    }

    /// Its multiple, at most one.
    pub fn times(self, factor: u64) -> Probability {
        let product = u128::from(self.0) * u128::from(factor);
        Probability(product.min(u128::from(Probability::ONE.0)) as u64)
    }

    /// Its power, by squaring.
    pub fn power(self, mut exponent: u64) -> Probability {
        let (mut base, mut result) = (self, Probability::ONE);
        while exponent > 0 {
            if exponent & 1 == 1 {
                result = result.and(base);
            }
            base = base.and(base);
            exponent >>= 1;
        }
        result
    }

    /// Changed by a signed number of units of 2^-60, limited to the range from zero to `most`.
    pub fn changed(self, units: i128, most: Probability) -> Probability {
        let sum = i128::from(self.0).saturating_add(units);
        Probability(sum.clamp(0, i128::from(most.0)) as u64)
    }
}

/// Change of a proportional-integral controller's probability in one update, in units of 2^-60:
/// `alpha (delay - target) + beta (delay - previous)`, gains in mHz, delays in ns.
pub fn proportional_integral(
    (alpha, beta): (u64, u64),
    target: u64,
    previous: u64,
    delay: u64,
) -> i128 {
    let above = |reference: u64| i128::from(delay) - i128::from(reference);
    let sum = i128::from(alpha) * above(target) + i128::from(beta) * above(previous);
    // mHz times ns make 10^-12. A sum so large that the product ends at 2^127 is far above one.
    sum.saturating_mul(i128::from(Probability::ONE.0)) / 1_000_000_000_000
}

/// A source of decisions.
#[derive(Debug)]
pub struct Dice {
    random: Rand64,
}

impl Dice {
    /// The same seed, the same decisions.
    pub fn new(seed: u64) -> Dice {
        Dice { random: Rand64::new(u128::from(seed)) }
    }

    /// A number that is below a probability as often as that probability says.
    pub fn throw(&mut self) -> u64 {
        self.random.rand_u64() >> (u64::BITS - BITS)
    }

    /// A number of so many bits, at most 60.
    pub fn bits(&mut self, count: u32) -> u64 {
        self.throw() >> (BITS - count)
    }

    /// True with that probability.
    pub fn hits(&mut self, probability: Probability) -> bool {
        probability.exceeds(self.throw())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn float(p: Probability) -> f64 {
        p.0 as f64 / Probability::ONE.0 as f64
    }

    #[test]
    fn powers_are_those_of_floats() {
        let p = Probability::from_ppm(998_000);
        for exponent in [0, 1, 2, 7, 100, 12_345] {
            let error = float(p.power(exponent)) - 0.998f64.powi(exponent as i32);
            assert!(error.abs() < 1e-14, "{exponent}: {error}");
        }
        assert_eq!(p.power(u64::MAX), Probability::ZERO);
        assert_eq!(Probability::ONE.power(u64::MAX), Probability::ONE);
    }

    #[test]
    fn a_probability_stays_between_its_bounds() {
        let half = Probability::from_ppm(500_000);
        assert_eq!(half.changed(i128::MAX, Probability::ONE), Probability::ONE);
        assert_eq!(half.changed(i128::MIN, Probability::ONE), Probability::ZERO);
        assert_eq!((half.times(3), half.times(2)), (Probability::ONE, Probability::ONE));
        assert_eq!(half.and(half), Probability::from_ppm(250_000));
        assert_eq!(Probability::from_ratio(5, 0), Probability::ONE);
    }

    #[test]
    fn the_controller_weighs_the_error_and_its_change() {
        // 0.125 /s * 5 ms + 1.25 /s * 10 ms = 0.000625 + 0.0125.
        let change = proportional_integral((125, 1250), 15_000_000, 10_000_000, 20_000_000);
        assert!((change as f64 / (1u64 << 60) as f64 - 0.013_125).abs() < 1e-12);
    }

    #[test]
    fn the_largest_gains_and_delays_mean_a_certainty() {
        let hour = 3_600_000_000_000;
        let gains = (1_000_000_000, 1_000_000_000);
        for (target, delay, certain) in [(1, hour, Probability::ONE), (hour, 0, Probability::ZERO)]
        {
            let change = proportional_integral(gains, target, target, delay);
            let half = Probability::from_ppm(500_000);
            assert_eq!(half.changed(change / 2048, Probability::ONE), certain);
        }
    }

    #[test]
    fn random_decisions_have_the_configured_frequency() {
        let mut dice = Dice::new(7);
        let tenth = Probability::from_ppm(100_000);
        let hits = (0..100_000).filter(|_| dice.hits(tenth)).count();
        // Five standard deviations of 95.
        assert!((9_525..10_475).contains(&hits), "{hits}");
        assert!((0..1000).all(|_| dice.hits(Probability::ONE)));
        assert!(!(0..1000).any(|_| dice.hits(Probability::ZERO)));
    }
}

//! Seeded random numbers: the same seed gives the same numbers on every machine.
//!
//! In this crate because every layer draws some. Must not depend on their use. Traffic, disciplines
//! and BBR draw from `oorandom`, whose ranges and floats are platform-independent, too; another
//! generator there would change the rows of every seeded run.

const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// SplitMix64 (Steele, Lea, Flood, OOPSLA 2014): one addition and three mixing steps a number.
///
/// ```
/// use sojourn_packet::SplitMix64;
/// let (mut one, mut other) = (SplitMix64::new(7), SplitMix64::new(7));
/// assert_eq!(one.next(), other.next());
/// assert!((0..100).all(|_| one.up_to(5) <= 5));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// A generator that starts at `seed`.
    pub fn new(seed: u64) -> SplitMix64 {
        SplitMix64(seed)
    }

    /// The next 64 bits.
    #[inline]
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> u64 {
        let word = mix(self.0);
        self.0 = self.0.wrapping_add(STEP);
        word
    }

    /// A number from 0 to `most`, all with equal probability: bits are drawn until they fit.
    pub fn up_to(&mut self, most: u128) -> u128 {
        let mask = u128::MAX.checked_shr(most.leading_zeros()).unwrap_or(0);
        loop {
            let high = if most > u128::from(u64::MAX) { u128::from(self.next()) << 64 } else { 0 };
            let drawn = (high | u128::from(self.next())) & mask;
            if drawn <= most {
                return drawn;
            }
        }
    }
}

/// A bijection of 64-bit words in which each bit depends on all others: the first number of the
/// generator that starts at `word`.
///
/// ```
/// let neighbours = [1, 2].map(sojourn_packet::mix);
/// assert!((neighbours[0] ^ neighbours[1]).count_ones() > 10, "one bit in changes many");
/// ```
#[inline]
pub fn mix(word: u64) -> u64 {
    let word = word.wrapping_add(STEP);
    let word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generator_is_the_published_one() {
        let mut generator = SplitMix64::new(1_234_567);
        let first: Vec<u64> = (0..3).map(|_| generator.next()).collect();
        assert_eq!(
            first,
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]
        );
    }

    #[test]
    fn numbers_up_to_a_bound_reach_it_and_do_not_pass_it() {
        let mut random = SplitMix64::new(3);
        let drawn: Vec<u128> = (0..2_000).map(|_| random.up_to(9)).collect();
        assert_eq!((drawn.iter().min(), drawn.iter().max()), (Some(&0), Some(&9)));
        let wide = 1_u128 << 100;
        assert!((0..100).map(|_| random.up_to(wide)).any(|drawn| drawn > wide >> 2));
    }
}

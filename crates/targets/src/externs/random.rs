//! Random numbers that a seed determines: the same run gives the same numbers on every machine.

/// SplitMix64 (Steele, Lea, Flood, OOPSLA 2014): one addition and three mixing steps a number.
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
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ word >> 31
    }
}

impl SplitMix64 {
    /// A number from 0 to `most`, all equally likely: bits are drawn until they fit.
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

/// The extern `Random<W>`: uniform over all values of its width.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Random {
    bits: u32,
    generator: SplitMix64,
}

impl Random {
    /// Numbers of `bits` bits (1 to 128).
    pub fn new(bits: u32, seed: u64) -> Random {
        Random { bits: bits.clamp(1, 128), generator: SplitMix64::new(seed) }
    }

    /// The next number.
    pub fn get(&mut self) -> u128 {
        let high = if self.bits > 64 { u128::from(self.generator.next()) << 64 } else { 0 };
        (high | u128::from(self.generator.next())) & (u128::MAX >> (128 - self.bits))
    }
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
    fn all_values_of_a_narrow_width_occur_about_equally_often() {
        let mut random = Random::new(3, 7);
        let mut seen = [0u32; 8];
        (0..8000).for_each(|_| seen[random.get() as usize] += 1);
        assert!(seen.iter().all(|n| (900..1100).contains(n)), "{seen:?}");
    }

    #[test]
    fn numbers_wider_than_64_bits_have_random_high_bits() {
        let mut random = Random::new(100, 7);
        let (a, b) = (random.get(), random.get());
        assert!(a < 1 << 100 && a >> 64 != b >> 64);
    }
}

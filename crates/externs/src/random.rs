//! The extern `Random<W>` of both architectures, with a seeded generator.

use sojourn_packet::SplitMix64;

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

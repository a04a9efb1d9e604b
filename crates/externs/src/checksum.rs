//! The checksum engine: 16-bit ones' complement sums (RFC 1071), also incremental (RFC 1624).
//!
//! A checksum over a payload outside the pipeline is carried as a residual: the parser subtracts
//! the old header fields from the packet's own checksum, the deparser adds the new ones.

use sojourn_packet::OnesComplementSum;

/// Adds a sum of 64-bit words to a sum of 16-bit words.
#[inline]
pub fn with_words(sum: OnesComplementSum, words: u64) -> OnesComplementSum {
    let word = |at: u32| (words >> at) as u16;
    sum.word(word(0)).word(word(16)).word(word(32)).word(word(48))
}

/// A running ones' complement sum.
///
/// Consecutive additions and subtractions form one run of bytes: a part behind an odd number of
/// them begins in the lower half of a word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OnesComplement {
    sum: u16,
    odd: bool,
}

impl OnesComplement {
    /// The empty sum.
    pub const fn new() -> OnesComplement {
        OnesComplement { sum: 0, odd: false }
    }

    /// Adds bytes as big-endian 16-bit words, an odd last byte padded with a zero.
    pub fn add(&mut self, bytes: &[u8]) {
        self.take(OnesComplementSum::default().bytes(bytes), bytes.len());
    }

    /// Adds the sum of 64-bit words.
    pub fn add_words(&mut self, words: u64) {
        self.take(with_words(OnesComplementSum::default(), words), 0);
    }

    /// Subtracts bytes: adds the complement of each word.
    pub fn subtract(&mut self, bytes: &[u8]) {
        let sum = words(bytes).fold(OnesComplementSum::default(), |sum, word| sum.word(!word));
        self.take(sum, bytes.len());
    }

    /// Adds a sum of words of `bytes` bytes; the sum of byte-swapped words is the byte-swapped sum
    /// (RFC 1071 section 2 B).
    fn take(&mut self, words: OnesComplementSum, bytes: usize) {
        let part = if self.odd { words.folded().swap_bytes() } else { words.folded() };
        self.sum = OnesComplementSum::default().word(part).word(self.sum).folded();
        self.odd ^= bytes % 2 == 1;
    }

    /// The same sum, continued at the beginning of a word.
    pub fn aligned(self) -> OnesComplement {
        OnesComplement { odd: false, ..self }
    }

    /// The sum itself, which a parser passes on as a residual.
    pub fn sum(self) -> u16 {
        self.sum
    }

    /// The complement of the sum, as in a header's checksum field.
    ///
    /// With `zeros_as_ones` (UDP, RFC 768) a result of 0 becomes 0xffff.
    pub fn checksum(self, zeros_as_ones: bool) -> u16 {
        match !self.sum() {
            0 if zeros_as_ones => 0xffff,
            checksum => checksum,
        }
    }

    /// True if the added data, its checksum field included, sums up to "all ones".
    pub fn verify(self) -> bool {
        self.checksum(false) == 0
    }
}

fn words(bytes: &[u8]) -> impl Iterator<Item = u16> + '_ {
    bytes.chunks(2).map(|pair| u16::from_be_bytes([pair[0], pair.get(1).copied().unwrap_or(0)]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The example of RFC 1071 section 3.
    const EXAMPLE: [u8; 8] = [0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7];

    #[test]
    fn the_example_of_rfc_1071_sums_up_to_ddf2() {
        let mut sum = OnesComplement::new();
        sum.add(&EXAMPLE);
        assert_eq!((sum.sum(), sum.checksum(false)), (0xddf2, 0x220d));
    }

    #[test]
    fn a_header_with_its_checksum_verifies_and_one_with_a_flipped_bit_does_not() {
        let mut header = [
            0x45, 0, 0, 0x73, 0, 0, 0x40, 0, 0x40, 0x11, 0xb8, 0x61, 0xc0, 0xa8, 0, 1, 0xc0, 0xa8,
            0, 0xc7,
        ];
        let verify = |bytes: &[u8]| {
            let mut sum = OnesComplement::new();
            sum.add(bytes);
            sum.verify()
        };
        assert!(verify(&header));
        header[8] ^= 1;
        assert!(!verify(&header));
    }

    #[test]
    fn parts_of_odd_length_sum_up_like_the_whole() {
        for subtract in [false, true] {
            let run = |parts: &[&[u8]]| {
                let mut sum = OnesComplement::new();
                for part in parts {
                    if subtract { sum.subtract(part) } else { sum.add(part) }
                }
                sum.sum() % 0xffff
            };
            let whole = run(&[&EXAMPLE]);
            for at in 0..EXAMPLE.len() {
                let (a, b) = EXAMPLE.split_at(at);
                assert_eq!(run(&[a, b]), whole, "cut at {at}");
            }
            assert_eq!(run(&[&EXAMPLE[..1], &EXAMPLE[1..4], &EXAMPLE[4..]]), whole);
        }
    }

    #[test]
    fn udp_writes_ones_where_the_checksum_would_be_zero() {
        let mut sum = OnesComplement::new();
        sum.add(&[0xff, 0xff]);
        assert_eq!((sum.checksum(false), sum.checksum(true)), (0, 0xffff));
    }

    proptest! {
        #[test]
        fn an_update_through_a_residual_equals_the_checksum_of_the_new_bytes(
            payload in proptest::collection::vec(any::<u8>(), 0..40),
            old: [u8; 6], new: [u8; 6],
        ) {
            let whole = |field: &[u8]| {
                let mut sum = OnesComplement::new();
                sum.add(field);
                sum.add(&payload);
                sum.checksum(false)
            };
            let mut residual = OnesComplement::new();
            residual.subtract(&whole(&old).to_be_bytes());
            residual.subtract(&old);
            let mut update = OnesComplement::new();
            update.add(&new);
            update.add(&residual.sum().to_be_bytes());
            // Ones' complement has two equivalent zeros.
            let same = |a: u16, b: u16| a % 0xffff == b % 0xffff;
            prop_assert!(same(update.checksum(false), whole(&new)));
        }
    }
}

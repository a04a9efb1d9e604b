//! Internet checksum (RFC 1071) as an unfolded sum, so that parts can be added.
//!
//! Hosts verify and write it, disciplines update it when they mark, and P4's checksum externs use
//! it. Must not depend on headers.

/// A running ones' complement sum of 16-bit words.
///
/// ```
/// use sojourn_packet::OnesComplementSum;
/// // The example of RFC 1071 section 3.
/// let sum = OnesComplementSum::default().bytes(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]);
/// assert_eq!((sum.folded(), sum.checksum()), (0xddf2, 0x220d));
/// assert!(sum.word(0x220d).is_valid());
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct OnesComplementSum(
    /// In native byte order: the bytes are swapped once at the end (section 2 B), and until then
    /// the sum may be taken in any width (section 2 C).
    u64,
);

impl OnesComplementSum {
    /// Adds bytes that start at an even offset; an odd last byte is padded with zero.
    #[inline]
    pub fn bytes(self, bytes: &[u8]) -> OnesComplementSum {
        let (eights, rest) = bytes.as_chunks::<8>();
        let (fours, rest) = rest.as_chunks::<4>();
        let last = match *rest {
            [a, b, c] => u32::from_ne_bytes([a, b, c, 0]),
            [a, b] => u16::from_ne_bytes([a, b]).into(),
            [a] => u16::from_ne_bytes([a, 0]).into(),
            _ => 0,
        };
        let mut sum = self;
        for eight in eights {
            sum = sum.add(u64::from_ne_bytes(*eight));
        }
        // Neither has more than 32 bits.
        let mut short = u64::from(last);
        for four in fours {
            short += u64::from(u32::from_ne_bytes(*four));
        }
        sum.add(short)
    }

    /// Adds one word.
    #[inline]
    pub fn word(self, word: u16) -> OnesComplementSum {
        self.add(u16::to_be(word).into())
    }

    /// Adds pairs of words, the first one of each in the highest bits.
    #[inline(always)]
    pub fn pairs<const N: usize>(self, pairs: [u32; N]) -> OnesComplementSum {
        // Fewer than 2^32 of them have a sum of 64 bits.
        self.add(pairs.iter().map(|pair| u64::from(pair.to_be())).sum())
    }

    /// Adds four words, the first one in the highest bits.
    #[inline]
    pub fn words(self, words: u64) -> OnesComplementSum {
        self.add(words.to_be())
    }

    #[inline]
    fn add(self, more: u64) -> OnesComplementSum {
        let (sum, carry) = self.0.overflowing_add(more);
        OnesComplementSum(sum + u64::from(carry))
    }

    /// The sum in 16 bits. It is 0 if all words are; other multiples of 0xffff are 0xffff.
    #[inline]
    pub fn folded(self) -> u16 {
        u16::from_be(folded(self.0))
    }

    /// The value for a checksum field: the complement of the sum.
    #[inline]
    pub fn checksum(self) -> u16 {
        !self.folded()
    }

    /// True if the summed bytes contained a correct checksum field.
    #[inline]
    pub fn is_valid(self) -> bool {
        self.0 > 0 && self.0.is_multiple_of(0xffff)
    }
}

/// The sum in 16 bits: the high part is added to the low part until nothing is left above. The
/// result is the remainder modulo 2^16 - 1, except that a sum other than 0 never gives 0.
#[inline]
fn folded(sum: u64) -> u16 {
    let remainder = (sum % 0xffff) as u16;
    if remainder == 0 && sum > 0 { 0xffff } else { remainder }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_rfc_1071_section_3_comes_out() {
        let sum =
            OnesComplementSum::default().bytes(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]);
        assert_eq!(sum.folded(), 0xddf2);
    }

    #[test]
    fn parts_of_any_even_length_add_up_to_the_whole() {
        let bytes: Vec<u8> = (0..101u8).map(|n| n.wrapping_mul(37)).collect();
        let of_words = |bytes: &[u8]| {
            bytes.chunks(2).fold(OnesComplementSum::default(), |sum, word| {
                sum.word(u16::from_be_bytes([word[0], word.get(1).copied().unwrap_or(0)]))
            })
        };
        for cut in (0..100).step_by(2) {
            let (front, back) = bytes.split_at(cut);
            let parts = OnesComplementSum::default().bytes(front).bytes(back).checksum();
            assert_eq!(parts, of_words(&bytes).checksum(), "{cut}");
        }
    }

    #[test]
    fn words_add_up_the_same_by_one_two_and_four() {
        let none = OnesComplementSum::default();
        let by_one =
            [0x8001, 0xfffe, 0xffff, 0x1234].iter().fold(none, |sum, word| sum.word(*word));
        assert_eq!(none.pairs([0x8001_fffe, 0xffff_1234]).folded(), by_one.folded());
        assert_eq!(none.words(0x8001_fffe_ffff_1234).folded(), by_one.folded());
    }

    #[test]
    fn a_sum_is_zero_only_if_all_words_are() {
        let folded = |words: &[u16]| {
            words.iter().fold(OnesComplementSum::default(), |sum, word| sum.word(*word)).folded()
        };
        assert_eq!(folded(&[0, 0]), 0);
        assert_eq!(folded(&[1, 0xfffe]), 0xffff);
        assert_eq!(folded(&[0xffff, 0xffff]), 0xffff);
        assert_eq!(OnesComplementSum::default().bytes(&[0xff; 64]).folded(), 0xffff);
    }

    #[test]
    fn an_odd_byte_counts_as_the_high_half_of_a_word() {
        let odd = OnesComplementSum::default().bytes(&[0xab]).checksum();
        assert_eq!(odd, OnesComplementSum::default().bytes(&[0xab, 0]).checksum());
    }
}

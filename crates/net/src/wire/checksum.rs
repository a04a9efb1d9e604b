//! The Internet checksum (RFC 1071), kept as an unfolded sum so that parts can be added.

/// A running ones' complement sum of 16-bit words.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sum(u32);

impl Sum {
    /// Adds bytes that start at an even offset; an odd last byte is padded with zero.
    ///
    /// At most 64 KiB may be summed in all, which is what IP allows.
    pub(crate) fn bytes(self, bytes: &[u8]) -> Sum {
        let mut sum = self.0;
        let words = bytes.chunks_exact(2);
        if let [last] = words.remainder() {
            sum += u32::from(*last) << 8;
        }
        for word in words {
            sum += u32::from(u16::from_be_bytes([word[0], word[1]]));
        }
        Sum(sum)
    }

    /// Adds one word.
    pub(crate) fn word(self, word: u16) -> Sum {
        Sum(self.0 + u32::from(word))
    }

    /// The value for a checksum field.
    pub(crate) fn checksum(self) -> u16 {
        let folded = (self.0 & 0xffff) + (self.0 >> 16);
        let folded = (folded & 0xffff) + (folded >> 16);
        !(folded as u16)
    }

    /// True if the summed bytes contained a correct checksum field.
    pub(crate) fn is_valid(self) -> bool {
        self.checksum() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_rfc_1071_section_3_comes_out() {
        let sum = Sum::default().bytes(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]);
        assert_eq!(!sum.checksum(), 0xddf2);
    }

    #[test]
    fn an_odd_byte_counts_as_the_high_half_of_a_word() {
        let odd = Sum::default().bytes(&[0xab]).checksum();
        assert_eq!(odd, Sum::default().bytes(&[0xab, 0]).checksum());
    }
}

//! The hash engine: CRCs of any polynomial up to 128 bits, XOR folding, identity and random.
//!
//! On the chip each is a matrix over single bits, computed when the program is built; here each is
//! computed from the input as bytes: the fields in sequence, the first most significant, padded
//! with zeros *in front* so that the last field ends on a byte boundary. Sources: TNA (extern
//! `Hash`, `CRCPolynomial`), the chip's public hash library (bit order, defaults), and the CRC
//! catalogue of reveng.sourceforge.net (check values in the tests).

use super::checksum::OnesComplement;
use sojourn_packet::SplitMix64;
use thiserror::Error;

/// A CRC: the parameters of TNA's `CRCPolynomial`.
#[derive(Clone, Debug)]
pub struct Crc {
    width: u32,
    reversed: bool,
    init: u128,
    xor: u128,
    /// One entry a byte for a CRC of up to 64 bits, which includes every common one.
    table: Option<Box<[u64; 256]>>,
    /// Polynomial in the form of the state: mirrored, or in the topmost bits.
    coeff: u128,
}

/// The parameters of a CRC, with the names of `CRCPolynomial`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Polynomial {
    /// Width in bits, 1 to 128.
    pub width: u32,
    /// The polynomial without its leading term.
    pub coeff: u128,
    /// Bytes are processed lowest bit first, and the result is mirrored.
    pub reversed: bool,
    /// Value before the first byte.
    pub init: u128,
    /// Value XORed into the result.
    pub xor: u128,
}

/// A polynomial that the chip does not support.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum PolynomialError {
    /// The hardware's matrix needs the constant term.
    #[error("the polynomial {0:#x} is even; a CRC polynomial has its lowest bit set")]
    Even(u128),
    /// A value has more bits than the CRC.
    #[error("the {what} value {value:#x} does not fit a CRC of {width} bits")]
    TooWide {
        /// The value.
        what: &'static str,
        /// The value.
        value: u128,
        /// Width of the CRC.
        width: u32,
    },
    /// An unsupported width.
    #[error("a CRC of {0} bits; the widest is 128")]
    Width(u32),
}

impl Polynomial {
    /// CRC-8/SMBUS, `HashAlgorithm_t.CRC8`.
    pub const CRC8: Polynomial =
        Polynomial { width: 8, coeff: 0x07, reversed: false, init: 0, xor: 0 };
    /// CRC-16/ARC, `HashAlgorithm_t.CRC16`.
    pub const CRC16: Polynomial =
        Polynomial { width: 16, coeff: 0x8005, reversed: true, init: 0, xor: 0 };
    /// CRC-32/ISO-HDLC (Ethernet), `HashAlgorithm_t.CRC32`.
    pub const CRC32: Polynomial = Polynomial {
        width: 32,
        coeff: 0x04c1_1db7,
        reversed: true,
        init: 0xffff_ffff,
        xor: 0xffff_ffff,
    };
    /// CRC-64/ECMA-182, `HashAlgorithm_t.CRC64`.
    pub const CRC64: Polynomial =
        Polynomial { width: 64, coeff: 0x42f0_e1eb_a9ea_3693, reversed: false, init: 0, xor: 0 };
}

impl Crc {
    /// A CRC of these parameters.
    ///
    /// ```
    /// use sojourn_externs::hash::{Crc, Polynomial};
    /// let ccitt = Polynomial { width: 16, coeff: 0x1021, reversed: false, init: 0xffff, xor: 0 };
    /// assert_eq!(Crc::new(ccitt)?.compute(b"123456789"), 0x29b1);
    /// # Ok::<(), sojourn_externs::hash::PolynomialError>(())
    /// ```
    pub fn new(polynomial: Polynomial) -> Result<Crc, PolynomialError> {
        let Polynomial { width, coeff, reversed, init, xor } = polynomial;
        if !(1..=128).contains(&width) {
            return Err(PolynomialError::Width(width));
        }
        let mask = u128::MAX >> (128 - width);
        for (what, value) in [("polynomial", coeff), ("initial", init), ("final XOR", xor)] {
            if value & !mask != 0 {
                return Err(PolynomialError::TooWide { what, value, width });
            }
        }
        if coeff & 1 == 0 {
            return Err(PolynomialError::Even(coeff));
        }
        // In the topmost bits, so that widths below eight need no special case.
        let place = |value: u128| {
            if reversed { value.reverse_bits() >> (128 - width) } else { value << (128 - width) }
        };
        let (coeff, init) = (place(coeff), place(init));
        let table = (width <= 64).then(|| {
            Box::new(if reversed {
                std::array::from_fn(|byte| reflected_row(byte as u128, coeff) as u64)
            } else {
                std::array::from_fn(|byte| (row((byte as u128) << 120, coeff) >> 64) as u64)
            })
        });
        Ok(Crc { width, reversed, init, xor, table, coeff })
    }

    /// Its parameters.
    pub fn polynomial(&self) -> Polynomial {
        let Crc { width, reversed, init, xor, coeff, .. } = *self;
        let value = |placed: u128| match reversed {
            true => placed.reverse_bits() >> (128 - width),
            false => placed >> (128 - width),
        };
        Polynomial { width, coeff: value(coeff), reversed, init: value(init), xor }
    }

    /// The CRC of these bytes.
    pub fn compute(&self, bytes: &[u8]) -> u128 {
        let state = match &self.table {
            Some(table) if self.reversed => {
                u128::from(bytes.iter().fold(self.init as u64, |state, byte| {
                    state >> 8 ^ table[usize::from(state as u8 ^ byte)]
                }))
            }
            Some(table) => {
                u128::from(bytes.iter().fold((self.init >> 64) as u64, |state, byte| {
                    state << 8 ^ table[usize::from((state >> 56) as u8 ^ byte)]
                })) << 64
            }
            None if self.reversed => bytes.iter().fold(self.init, |state, byte| {
                state >> 8 ^ reflected_row((state as u8 ^ byte).into(), self.coeff)
            }),
            None => bytes.iter().fold(self.init, |state, byte| {
                state << 8 ^ row(u128::from((state >> 120) as u8 ^ byte) << 120, self.coeff)
            }),
        };
        (if self.reversed { state } else { state >> (128 - self.width) }) ^ self.xor
    }
}

/// The remainder of one byte, lowest bit first, in the low bits.
fn reflected_row(byte: u128, polynomial: u128) -> u128 {
    (0..8).fold(byte, |state, _| state >> 1 ^ if state & 1 == 1 { polynomial } else { 0 })
}

/// The remainder of one byte, highest bit first, in the topmost bits.
fn row(byte: u128, polynomial: u128) -> u128 {
    (0..8).fold(byte, |state, _| state << 1 ^ if state >> 127 == 1 { polynomial } else { 0 })
}

/// Algorithm of a `Hash`.
#[derive(Clone, Debug)]
pub enum Algorithm {
    /// The low bits of the input.
    Identity,
    /// The first eight bytes of the input, or fewer if it is shorter (bmv2's `identity`).
    Leading,
    /// The Internet checksum: the complement of the ones' complement sum of 16-bit words.
    Checksum,
    /// A fixed random matrix over the input bits, different for each instance.
    Random {
        /// Seed of the matrix.
        seed: u64,
    },
    /// XOR of all words of this many bits, the last word padded with zeros behind it.
    Xor(u32),
    /// A CRC; `msb` takes its highest bits if the output is narrower, `extended` repeats it if the
    /// output is wider.
    Crc {
        /// The CRC.
        crc: Crc,
        /// Highest instead of lowest bits.
        msb: bool,
        /// Repeat instead of padding with zeros.
        extended: bool,
    },
}

impl Algorithm {
    /// Algorithm of a value of `HashAlgorithm_t`; `CUSTOM` needs a polynomial.
    pub fn named(name: &str, seed: u64) -> Option<Algorithm> {
        let crc = |polynomial| {
            Crc::new(polynomial).ok().map(|crc| Algorithm::Crc { crc, msb: false, extended: false })
        };
        match name {
            "IDENTITY" => Some(Algorithm::Identity),
            "RANDOM" => Some(Algorithm::Random { seed }),
            "XOR8" => Some(Algorithm::Xor(8)),
            "XOR16" => Some(Algorithm::Xor(16)),
            "XOR32" => Some(Algorithm::Xor(32)),
            "CRC8" => crc(Polynomial::CRC8),
            "CRC16" => crc(Polynomial::CRC16),
            "CRC32" => crc(Polynomial::CRC32),
            "CRC64" => crc(Polynomial::CRC64),
            _ => None,
        }
    }

    /// A CRC that is repeated if the output is wider, like TNA's `CRC16`.
    #[must_use]
    pub fn repeating(self) -> Algorithm {
        match self {
            Algorithm::Crc { crc, msb, .. } => Algorithm::Crc { crc, msb, extended: true },
            other => other,
        }
    }

    /// The hash of whole bytes, 64 bits wide.
    pub fn of_bytes(&self, bytes: &[u8]) -> u64 {
        self.hash(bytes, bytes.len() as u32 * 8, 64) as u64
    }

    /// True if zero bytes behind the input change nothing.
    pub fn ignores_zeros_behind(&self) -> bool {
        matches!(self, Algorithm::Checksum | Algorithm::Xor(_))
    }

    /// The hash of an input of `bits` bits in `bytes`, `width` bits wide (1 to 128).
    pub fn hash(&self, bytes: &[u8], bits: u32, width: u32) -> u128 {
        let word = match self {
            Algorithm::Identity => low_bits(bytes),
            Algorithm::Leading => low_bits(bytes.get(..8).unwrap_or(bytes)),
            Algorithm::Checksum => {
                let mut sum = OnesComplement::new();
                sum.add(bytes);
                (!sum.sum()).into()
            }
            Algorithm::Random { seed } => random_matrix(*seed, bytes),
            Algorithm::Xor(fold) => xor_fold(bytes, bits, *fold),
            Algorithm::Crc { crc, msb, extended } => {
                let value = crc.compute(bytes);
                if *msb && width < crc.width {
                    value >> (crc.width - width)
                } else if *extended && width > crc.width {
                    repeat(value, crc.width)
                } else {
                    value
                }
            }
        };
        word & (u128::MAX >> (128 - width.clamp(1, 128)))
    }
}

fn repeat(value: u128, width: u32) -> u128 {
    (0..128).step_by(width as usize).fold(0, |word, shift| word | value << shift)
}

fn low_bits(bytes: &[u8]) -> u128 {
    bytes.iter().skip(bytes.len().saturating_sub(16)).fold(0, |word, b| word << 8 | u128::from(*b))
}

fn random_matrix(seed: u64, bytes: &[u8]) -> u128 {
    let mut rows = SplitMix64::new(seed);
    let mut draw = || u128::from(rows.next()) << 64 | u128::from(rows.next());
    let mut word = draw();
    for byte in bytes.iter().rev() {
        for bit in 0..8 {
            let row = draw();
            if byte >> bit & 1 == 1 {
                word ^= row;
            }
        }
    }
    word
}

/// Words are counted from the first bit of the input; the last one is padded behind it.
fn xor_fold(bytes: &[u8], bits: u32, fold: u32) -> u128 {
    let skipped = bytes.len() as u32 * 8 - bits.min(bytes.len() as u32 * 8);
    let mut word = 0;
    for at in 0..bits {
        let position = skipped + at;
        let bit = bytes[(position / 8) as usize] >> (7 - position % 8) & 1;
        word ^= u128::from(bit) << (fold - 1 - at % fold);
    }
    word
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIGITS: &[u8] = b"123456789";

    fn check(name: &str, width: u32) -> u128 {
        Algorithm::named(name, 0).unwrap().hash(DIGITS, 72, width)
    }

    #[test]
    fn the_default_crcs_give_the_check_values_of_the_catalogue() {
        assert_eq!(check("CRC8", 8), 0xf4);
        assert_eq!(check("CRC16", 16), 0xbb3d);
        assert_eq!(check("CRC32", 32), 0xcbf4_3926);
        assert_eq!(check("CRC64", 64), 0x6c40_df5f_0b49_7347);
    }

    #[test]
    fn every_catalogued_crc_agrees_with_an_independent_crate() {
        use ::crc::*;
        macro_rules! agree {
            ($type:ty: $($name:ident),*) => {$({
                static ALGORITHM: ::crc::Algorithm<$type> = $name;
                let ours = super::Crc::new(Polynomial {
                    width: ALGORITHM.width.into(),
                    coeff: ALGORITHM.poly.into(),
                    reversed: ALGORITHM.refin,
                    init: ALGORITHM.init.into(),
                    xor: ALGORITHM.xorout.into(),
                })
                .unwrap();
                assert_eq!(ours.polynomial().coeff, u128::from(ALGORITHM.poly));
                assert_eq!(ours.polynomial().init, u128::from(ALGORITHM.init));
                let reference = ::crc::Crc::<$type>::new(&ALGORITHM);
                for bytes in [&b""[..], b"\0", b"123456789", b"\xff\x00\x80\x01 queue delay"] {
                    let want = u128::from(reference.checksum(bytes));
                    assert_eq!(ours.compute(bytes), want, "{}", stringify!($name));
                }
            })*};
        }
        agree!(u8: CRC_3_GSM, CRC_5_USB, CRC_7_MMC, CRC_8_SMBUS, CRC_8_AUTOSAR, CRC_8_MAXIM_DOW,
            CRC_8_ROHC, CRC_8_I_432_1);
        agree!(u16: CRC_10_ATM, CRC_15_CAN, CRC_16_ARC, CRC_16_DNP, CRC_16_IBM_SDLC, CRC_16_USB,
            CRC_16_T10_DIF, CRC_16_GENIBUS, CRC_16_RIELLO, CRC_16_KERMIT);
        agree!(u32: CRC_24_OPENPGP, CRC_24_BLE, CRC_32_ISO_HDLC, CRC_32_BZIP2, CRC_32_ISCSI,
            CRC_32_BASE91_D, CRC_32_MPEG_2, CRC_32_CKSUM, CRC_32_AIXM, CRC_32_JAMCRC, CRC_32_XFER);
        agree!(u128: CRC_82_DARC);
        agree!(u64: CRC_40_GSM, CRC_64_ECMA_182, CRC_64_GO_ISO, CRC_64_WE, CRC_64_XZ);
    }

    #[test]
    fn a_custom_crc_can_give_its_high_bits_or_repeat_itself() {
        let crc = Crc::new(Polynomial::CRC16).unwrap();
        let ask = |msb, extended, width| {
            let algorithm = Algorithm::Crc { crc: crc.clone(), msb, extended };
            algorithm.hash(DIGITS, 72, width)
        };
        assert_eq!(ask(false, false, 8), 0x3d);
        assert_eq!(ask(true, false, 8), 0xbb);
        assert_eq!(ask(false, false, 24), 0x00_bb3d);
        assert_eq!(ask(false, true, 24), 0x3d_bb3d);
    }

    #[test]
    fn impossible_polynomials_are_refused_with_the_reason() {
        let refuse = |change: fn(&mut Polynomial)| {
            let mut polynomial = Polynomial::CRC16;
            change(&mut polynomial);
            Crc::new(polynomial).unwrap_err().to_string()
        };
        assert_eq!(
            refuse(|p| p.coeff = 0x8004),
            "the polynomial 0x8004 is even; a CRC polynomial has its lowest bit set"
        );
        assert_eq!(
            refuse(|p| p.init = 0x1_0000),
            "the initial value 0x10000 does not fit a CRC of 16 bits"
        );
        assert_eq!(refuse(|p| p.width = 129), "a CRC of 129 bits; the widest is 128");
    }

    #[test]
    fn identity_gives_the_last_bits_of_the_input() {
        // Twelve bits 0xabc, then one bit 1.
        let value: u16 = 0xabc << 1 | 1;
        assert_eq!(Algorithm::Identity.hash(&value.to_be_bytes(), 13, 9), 0xabc << 1 & 0x1ff | 1);
    }

    #[test]
    fn xor_folds_words_from_the_front_and_fills_up_the_last() {
        let fold = |bits| Algorithm::Xor(bits).hash(&[0x12, 0x34, 0x56], 24, bits);
        assert_eq!(fold(16), 0x1234 ^ 0x5600);
        assert_eq!(fold(8), 0x12 ^ 0x34 ^ 0x56);
        assert_eq!(fold(32), 0x1234_5600);
        // Nine bits 1_1111_0100: the word 0xfa, and the bit 0 at the top of the next word.
        assert_eq!(Algorithm::Xor(8).hash(&[0x01, 0xf4], 9, 8), 0xfa);
    }

    #[test]
    fn a_random_hash_is_linear_fixed_by_its_seed_and_differs_between_seeds() {
        let hash = |seed, value: u32| Algorithm::Random { seed }.hash(&value.to_be_bytes(), 32, 32);
        let (a, b) = (0x1234_5678, 0x0f0f_00ff);
        assert_eq!(hash(1, a) ^ hash(1, b), hash(1, a ^ b) ^ hash(1, 0));
        assert_eq!(hash(1, a), hash(1, a));
        assert_ne!(hash(1, a), hash(2, a));
    }
}

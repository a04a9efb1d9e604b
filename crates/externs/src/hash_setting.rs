//! Run-time settings of a hash: other inputs, another algorithm, a seed, a rotation.
//!
//! The inputs are a sequence of bits; this module must not depend on programs. Source: the vendor's
//! public driver and its library for dynamic hashes (`update_symmetric_bits`, `determine_seed`,
//! `rotate_matrix`).

use super::hash::{Algorithm, Crc, Polynomial};
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

/// Setting of a hash; the default is that of the program.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HashSetting {
    /// The parts of its inputs that are hashed; all of the program's if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inputs: Option<Vec<HashPart>>,
    /// Another algorithm than the program's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub algorithm: Option<HashFunction>,
    /// Rotation of the result towards its front, in bits.
    pub rotate: u32,
    /// Result for inputs that are all zeros; the algorithm's own if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
}

/// A part of an input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HashPart {
    /// Index of the input, in the program's order.
    pub input: usize,
    /// Its first bit, counted from the last of the input.
    pub start: u32,
    /// Number of bits; clipped to those present.
    pub length: u32,
    /// Position among the parts, the first most significant. Two parts with the same position are
    /// symmetric; a part with position 0 is not hashed.
    pub order: u32,
}

/// An algorithm that a hash can be set to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum HashFunction {
    /// The last bits of the inputs.
    Identity,
    /// A matrix of random bits.
    Random,
    /// XOR of words as wide as the hash.
    Xor,
    /// A CRC.
    Crc {
        /// Its width in bits.
        width: u32,
        /// The polynomial without its leading term.
        coeff: u64,
        /// Bytes are processed lowest bit first, and the result is mirrored.
        reversed: bool,
        /// Value before the first byte.
        init: u64,
        /// Value XORed into the result.
        xor: u64,
        /// Repeated where the hash is wider.
        extended: bool,
    },
}

/// Properties of a hash that no setting changes.
#[derive(Clone, Debug)]
pub struct HashShape {
    /// Widths of its inputs.
    pub inputs: Vec<u32>,
    /// Width of its result.
    pub width: u32,
    /// The bits of the result that the program uses: the lowest, and their number. The chip
    /// computes no others.
    pub used: (u32, u32),
    /// Seed of the matrix of [`HashFunction::Random`].
    pub seed: u64,
}

impl HashShape {
    fn bits(&self) -> u32 {
        self.inputs.iter().sum()
    }
}

/// A hash with its setting, ready for packets.
#[derive(Clone, Debug)]
pub struct SetHash {
    /// Offsets in the joined inputs, from their front, and lengths; `None` if all are hashed in
    /// order.
    parts: Option<Vec<(u32, u32)>>,
    /// Symmetric pairs: two offsets in the hashed bits, from their front, and their length.
    pairs: Vec<(u32, u32, u32)>,
    /// Bits that are hashed.
    bits: u32,
    algorithm: Algorithm,
    width: u32,
    used: (u32, u32),
    rotate: u32,
    /// XORed into the result, so that zeros give the seed.
    seed: u128,
}

impl SetHash {
    /// A hash of this shape with this setting; the algorithm is the program's unless it is set,
    /// too.
    ///
    /// # Errors
    /// Returns an error if the setting is not possible, with the reason.
    pub fn new(
        setting: &HashSetting,
        shape: &HashShape,
        program: &Algorithm,
    ) -> Result<SetHash, String> {
        let algorithm = match &setting.algorithm {
            None => program.clone(),
            Some(function) => function.algorithm(shape)?,
        };
        let mut made = SetHash {
            parts: None,
            pairs: Vec::new(),
            bits: shape.bits(),
            algorithm,
            width: shape.width,
            used: shape.used,
            rotate: setting.rotate % shape.used.1.max(1),
            seed: 0,
        };
        if setting.rotate >= shape.used.1.max(1) {
            let (bits, by) = (shape.used.1, setting.rotate);
            return Err(format!("a result of {bits} bits is not rotated by {by}"));
        }
        if let Some(parts) = &setting.inputs {
            made.choose(parts, shape)?;
        }
        if let Some(seed) = setting.seed {
            made.seed = made.plain(&zeros(made.bits)) ^ u128::from(seed);
        }
        Ok(made)
    }

    fn choose(&mut self, given: &[HashPart], shape: &HashShape) -> Result<(), String> {
        let mut parts = checked(given, &shape.inputs)?;
        parts.retain(|part| part.order > 0);
        parts.sort_by_key(|part| part.order);
        let mut firsts = Vec::new();
        self.bits = 0;
        for part in &parts {
            firsts.push(self.bits);
            self.bits += part.length;
        }
        for (at, pair) in parts.windows(2).enumerate() {
            if pair[0].order == pair[1].order {
                self.pairs.push((firsts[at], firsts[at + 1], pair[0].length));
            }
        }
        let place = |part: &HashPart| {
            let end: u32 = shape.inputs[..=part.input].iter().sum();
            (end - part.start - part.length, part.length)
        };
        self.parts = Some(parts.iter().map(place).collect());
        Ok(())
    }

    /// Its algorithm.
    pub fn algorithm(&self) -> &Algorithm {
        &self.algorithm
    }

    /// Whether all inputs are hashed as the program has them.
    pub fn has_all_inputs(&self) -> bool {
        self.parts.is_none()
    }

    /// The hash of joined inputs, padded with zeros in front to whole bytes.
    pub fn compute(&self, inputs: &[u8], bits: u32) -> u128 {
        let word = match &self.parts {
            None => self.plain(inputs),
            Some(parts) => {
                let skipped = inputs.len() as u32 * 8 - bits;
                let mut chosen = zeros(self.bits);
                let mut to = chosen.len() as u32 * 8 - self.bits;
                for (first, length) in parts {
                    for at in skipped + first..skipped + first + length {
                        set(&mut chosen, to, bit(inputs, at));
                        to += 1;
                    }
                }
                self.mix(&mut chosen);
                self.plain(&chosen)
            }
        };
        self.rotated(word ^ self.seed)
    }

    /// Result for zeros, before rotation: the seed.
    pub fn seed(&self) -> u128 {
        let (low, count) = self.used;
        (self.plain(&zeros(self.bits)) ^ self.seed) & mask(low, count)
    }

    /// Replaces both of two symmetric parts by their XOR.
    fn mix(&self, bytes: &mut [u8]) {
        let front = bytes.len() as u32 * 8 - self.bits;
        for (first, second, length) in &self.pairs {
            for at in front..front + length {
                let both = bit(bytes, first + at) ^ bit(bytes, second + at);
                set(bytes, first + at, both);
                set(bytes, second + at, both);
            }
        }
    }

    fn plain(&self, bytes: &[u8]) -> u128 {
        // Without input bits the chip's matrix gives 0, whatever the algorithm's initial value.
        if self.bits == 0 { 0 } else { self.algorithm.hash(bytes, self.bits, self.width) }
    }

    fn rotated(&self, word: u128) -> u128 {
        let (low, count) = self.used;
        if self.rotate == 0 {
            return word;
        }
        let inside = (word & mask(low, count)) >> low;
        let turned = inside << self.rotate | inside >> (count - self.rotate);
        turned << low & mask(low, count)
    }
}

impl HashFunction {
    /// Function of an algorithm; `None` for those that cannot be set.
    pub fn from_algorithm(algorithm: &Algorithm) -> Option<HashFunction> {
        Some(match algorithm {
            Algorithm::Identity => HashFunction::Identity,
            Algorithm::Random { .. } => HashFunction::Random,
            Algorithm::Xor(_) => HashFunction::Xor,
            Algorithm::Crc { crc, msb: false, extended } => {
                let Polynomial { width, coeff, reversed, init, xor } = crc.polynomial();
                HashFunction::Crc {
                    width,
                    coeff: coeff.try_into().ok()?,
                    reversed,
                    init: init.try_into().ok()?,
                    xor: xor.try_into().ok()?,
                    extended: *extended,
                }
            }
            _ => return None,
        })
    }

    fn algorithm(&self, shape: &HashShape) -> Result<Algorithm, String> {
        Ok(match self {
            HashFunction::Identity => Algorithm::Identity,
            HashFunction::Random => Algorithm::Random { seed: shape.seed },
            HashFunction::Xor => Algorithm::Xor(shape.width),
            HashFunction::Crc { width, coeff, reversed, init, xor, extended } => {
                let crc = Crc::new(Polynomial {
                    width: *width,
                    coeff: (*coeff).into(),
                    reversed: *reversed,
                    init: (*init).into(),
                    xor: (*xor).into(),
                });
                let crc = crc.map_err(|why| why.to_string())?;
                Algorithm::Crc { crc, msb: false, extended: *extended }
            }
        })
    }
}

/// Parts with their actual lengths.
fn checked(given: &[HashPart], inputs: &[u32]) -> Result<Vec<HashPart>, String> {
    let mut known: Vec<HashPart> = Vec::new();
    for part in given {
        let wide = inputs.get(part.input).copied();
        let wide = wide.ok_or_else(|| format!("the hash has no input {}", part.input))?;
        if part.start >= wide {
            return Err(format!("bit {} of an input of {wide} bits", part.start));
        }
        let length = part.length.min(wide - part.start);
        // A part without bits is not hashed.
        let order = if length == 0 { 0 } else { part.order };
        let part = HashPart { length, order, ..*part };
        let overlaps = |other: &&HashPart| {
            other.input == part.input
                && part.start < other.start + other.length
                && other.start < part.start + part.length
        };
        if let Some(other) = known.iter().find(overlaps) {
            let (input, start) = (other.input, other.start);
            return Err(format!(
                "input {input}: the parts from bits {start} and {} overlap",
                part.start
            ));
        }
        let same = || known.iter().filter(|other| order > 0 && other.order == order);
        if same().count() > 1 {
            return Err(format!("three parts have the order {order}; two can be symmetric"));
        }
        if let Some(other) = same().find(|other| other.length != length) {
            let both = format!("{} and {length}", other.length);
            return Err(format!("two parts of {both} bits have the order {order}"));
        }
        known.push(part);
    }
    Ok(known)
}

fn zeros(bits: u32) -> SmallVec<[u8; 64]> {
    SmallVec::from_elem(0, bits.div_ceil(8) as usize)
}

fn bit(bytes: &[u8], at: u32) -> u8 {
    bytes[(at / 8) as usize] >> (7 - at % 8) & 1
}

fn set(bytes: &mut [u8], at: u32, value: u8) {
    let byte = &mut bytes[(at / 8) as usize];
    *byte = *byte & !(1 << (7 - at % 8)) | value << (7 - at % 8);
}

fn mask(low: u32, count: u32) -> u128 {
    (u128::MAX >> (128 - count.clamp(1, 128))) << low
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two addresses and two ports, 32 of 64 bits used.
    fn shape() -> HashShape {
        HashShape { inputs: vec![32, 32, 16, 16], width: 64, used: (0, 32), seed: 1 }
    }

    const INPUTS: [u8; 12] = [10, 0, 0, 1, 10, 0, 0, 2, 0x12, 0x34, 0x56, 0x78];

    fn made(setting: &HashSetting) -> SetHash {
        SetHash::new(setting, &shape(), &Algorithm::named("CRC32", 0).unwrap()).unwrap()
    }

    fn part(input: usize, start: u32, length: u32, order: u32) -> HashPart {
        HashPart { input, start, length, order }
    }

    fn with(parts: &[HashPart]) -> HashSetting {
        HashSetting { inputs: Some(parts.to_vec()), ..HashSetting::default() }
    }

    fn refused(parts: &[HashPart]) -> String {
        SetHash::new(&with(parts), &shape(), &Algorithm::Identity).unwrap_err()
    }

    #[test]
    fn parts_are_hashed_in_their_order_and_no_other_bits() {
        let hash = made(&with(&[part(1, 8, 24, 1), part(0, 0, 99, 2)]));
        let crc = Crc::new(Polynomial::CRC32).unwrap();
        assert_eq!(hash.compute(&INPUTS, 96), crc.compute(&[10, 0, 0, 10, 0, 0, 1]));
        let mut others = INPUTS;
        others[7..].fill(0xff);
        assert_eq!(hash.compute(&others, 96), hash.compute(&INPUTS, 96));
    }

    #[test]
    fn two_parts_with_one_order_may_change_places() {
        let hash = made(&with(&[part(0, 0, 32, 2), part(1, 0, 32, 2), part(2, 0, 16, 1)]));
        let mut turned = INPUTS;
        turned[..8].rotate_left(4);
        assert_eq!(hash.compute(&turned, 96), hash.compute(&INPUTS, 96));
        assert_ne!(made(&HashSetting::default()).compute(&turned, 96), hash.compute(&INPUTS, 96));
    }

    #[test]
    fn a_result_is_rotated_within_the_bits_that_are_used() {
        let plain = made(&HashSetting::default()).compute(&INPUTS, 96) as u32;
        let turned = made(&HashSetting { rotate: 2, ..HashSetting::default() });
        assert_eq!(turned.compute(&INPUTS, 96), plain.rotate_left(2).into());
    }

    #[test]
    fn zeros_give_the_seed() {
        let seeded = made(&HashSetting { seed: Some(0x1234), ..HashSetting::default() });
        assert_eq!(seeded.compute(&[0; 12], 96), 0x1234);
        assert_eq!(seeded.seed(), 0x1234);
        let plain = made(&HashSetting::default());
        assert_eq!(plain.compute(&[0; 12], 96), plain.seed());
        assert_eq!(seeded.compute(&INPUTS, 96) ^ plain.compute(&INPUTS, 96), 0x1234 ^ plain.seed());
    }

    #[test]
    fn another_crc_is_repeated_if_it_is_to_be() {
        let crc = |extended| HashFunction::Crc {
            width: 16,
            coeff: 0x8005,
            reversed: true,
            init: 0,
            xor: 0,
            extended,
        };
        let of = |function| {
            let setting = HashSetting { algorithm: Some(function), ..HashSetting::default() };
            made(&setting).compute(&INPUTS, 96)
        };
        let short = Crc::new(Polynomial::CRC16).unwrap().compute(&INPUTS);
        assert_eq!(of(crc(false)), short);
        assert_eq!(of(crc(true)) as u32, (short << 16 | short) as u32);
    }

    #[test]
    fn updates_that_the_vendors_driver_refuses_are_refused() {
        assert_eq!(refused(&[part(4, 0, 1, 1)]), "the hash has no input 4");
        assert_eq!(refused(&[part(2, 16, 1, 1)]), "bit 16 of an input of 16 bits");
        assert_eq!(
            refused(&[part(0, 3, 4, 3), part(0, 1, 9, 1)]),
            "input 0: the parts from bits 3 and 1 overlap"
        );
        assert_eq!(
            refused(&[part(0, 0, 5, 2), part(0, 5, 5, 2), part(0, 10, 5, 2)]),
            "three parts have the order 2; two can be symmetric"
        );
        assert_eq!(
            refused(&[part(0, 0, 3, 2), part(0, 5, 5, 2)]),
            "two parts of 3 and 5 bits have the order 2"
        );
        let even = HashFunction::Crc {
            width: 8,
            coeff: 6,
            reversed: false,
            init: 0,
            xor: 0,
            extended: false,
        };
        let setting = HashSetting { algorithm: Some(even), ..HashSetting::default() };
        let why = SetHash::new(&setting, &shape(), &Algorithm::Identity).unwrap_err();
        assert!(why.contains("is even"), "{why}");
        let far = HashSetting { rotate: 32, ..HashSetting::default() };
        assert!(SetHash::new(&far, &shape(), &Algorithm::Identity).is_err());
    }

    #[test]
    fn of_nothing_comes_nothing() {
        assert_eq!(made(&with(&[part(0, 0, 0, 1)])).compute(&INPUTS, 96), 0);
    }
}

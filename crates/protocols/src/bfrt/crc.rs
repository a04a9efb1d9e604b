//! Names of the algorithms that a hash can be set to, and their parameters.
//!
//! Source: the vendor's public library for dynamic hashes. Its `crc_16_dect` and `crc_64_jones`
//! differ from the catalogue of CRCs (reveng.sourceforge.net), or are missing there.

use sojourn_externs::hash_setting::HashFunction;

/// Name of a function without a name of its own.
pub const RANDOM: &str = "RANDOM";
const IDENTITY: &str = "IDENTITY";
const XOR: &str = "XOR";

/// Name, width, polynomial, reversal, initial value, final XOR.
type Crc = (&'static str, u32, u64, bool, u64, u64);

const W: u64 = u64::MAX;
const CRCS: [Crc; 41] = [
    ("CRC_8", 8, 0x07, false, 0, 0),
    ("CRC_8_DARC", 8, 0x39, true, 0, 0),
    ("CRC_8_I_CODE", 8, 0x1d, false, 0xfd, 0),
    ("CRC_8_ITU", 8, 0x07, false, 0x55, 0x55),
    ("CRC_8_MAXIM", 8, 0x31, true, 0, 0),
    ("CRC_8_ROHC", 8, 0x07, true, 0xff, 0),
    ("CRC_8_WCDMA", 8, 0x9b, true, 0, 0),
    ("CRC_16", 16, 0x8005, true, 0, 0),
    ("CRC_16_BYPASS", 16, 0x8005, false, 0, 0),
    ("CRC_16_DDS_110", 16, 0x8005, false, 0x800d, 0),
    ("CRC_16_DECT", 16, 0x0589, false, 1, 1),
    ("CRC_16_DECT_R", 16, 0x0589, false, 0, 1),
    ("CRC_16_DECT_X", 16, 0x0589, false, 0, 0),
    ("CRC_16_DNP", 16, 0x3d65, true, 0, 0xffff),
    ("CRC_16_EN_13757", 16, 0x3d65, false, 0, 0xffff),
    ("CRC_16_GENIBUS", 16, 0x1021, false, 0xffff, 0xffff),
    ("CRC_16_MAXIM", 16, 0x8005, true, 0, 0xffff),
    ("CRC_16_MCRF4XX", 16, 0x1021, true, 0xffff, 0),
    ("CRC_16_RIELLO", 16, 0x1021, true, 0xb2aa, 0),
    ("CRC_16_T10_DIF", 16, 0x8bb7, false, 0, 0),
    ("CRC_16_TELEDISK", 16, 0xa097, false, 0, 0),
    ("CRC_16_USB", 16, 0x8005, true, 0xffff, 0xffff),
    ("X_25", 16, 0x1021, true, 0xffff, 0xffff),
    ("XMODEM", 16, 0x1021, false, 0, 0),
    ("MODBUS", 16, 0x8005, true, 0xffff, 0),
    ("KERMIT", 16, 0x1021, true, 0, 0),
    ("CRC_CCITT_FALSE", 16, 0x1021, false, 0xffff, 0),
    ("CRC_AUG_CCITT", 16, 0x1021, false, 0x1d0f, 0),
    ("CRC_32", 32, 0x04c1_1db7, true, 0xffff_ffff, 0xffff_ffff),
    ("CRC_32_BZIP2", 32, 0x04c1_1db7, false, 0xffff_ffff, 0xffff_ffff),
    ("CRC_32C", 32, 0x1edc_6f41, true, 0xffff_ffff, 0xffff_ffff),
    ("CRC_32D", 32, 0xa833_982b, true, 0xffff_ffff, 0xffff_ffff),
    ("CRC_32_MPEG", 32, 0x04c1_1db7, false, 0xffff_ffff, 0),
    ("POSIX", 32, 0x04c1_1db7, false, 0, 0xffff_ffff),
    ("CRC_32Q", 32, 0x8141_41ab, false, 0, 0),
    ("JAMCRC", 32, 0x04c1_1db7, true, 0xffff_ffff, 0),
    ("XFER", 32, 0x0000_00af, false, 0, 0),
    ("CRC_64", 64, 0x42f0_e1eb_a9ea_3693, false, 0, 0),
    ("CRC_64_GO_ISO", 64, 0x1b, true, W, W),
    ("CRC_64_WE", 64, 0x42f0_e1eb_a9ea_3693, false, W, W),
    ("CRC_64_JONES", 64, 0xad93_d235_94c9_35a9, true, W, 0),
];

/// All names, in the order of the vendor's document.
pub fn names() -> impl Iterator<Item = &'static str> {
    [IDENTITY, RANDOM, XOR].into_iter().chain(CRCS.iter().map(|crc| crc.0))
}

/// Hash function of a name; a CRC is repeated in a wider hash if `extended` is set.
pub fn named(name: &str, extended: bool) -> Option<HashFunction> {
    Some(match name {
        IDENTITY => HashFunction::Identity,
        RANDOM => HashFunction::Random,
        XOR => HashFunction::Xor,
        _ => {
            let (_, width, coeff, reversed, init, xor) = *CRCS.iter().find(|crc| crc.0 == name)?;
            HashFunction::Crc { width, coeff, reversed, init, xor, extended }
        }
    })
}

/// The name of an algorithm, if it has one.
pub fn name(function: &HashFunction) -> Option<&'static str> {
    let extended = matches!(function, HashFunction::Crc { extended: true, .. });
    names().find(|known| named(known, extended).as_ref() == Some(function))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_stands_for_something_that_has_a_name() {
        for known in names() {
            let function = named(known, true).expect("a name of the list");
            assert_eq!(name(&function).and_then(|name| named(name, true)), Some(function));
        }
        assert_eq!((names().count(), named("CRC_7", false)), (44, None));
    }
}

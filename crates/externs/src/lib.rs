//! Fixed-function blocks that architectures offer as externs, one file each.
//!
//! They use numbers, bits and times only. Must not depend on packets, programs or tables.

pub mod call;
pub mod checksum;
pub mod checksum_code;
pub mod counter;
pub mod field_input;
pub mod filter;
pub mod hash;
pub mod hash_setting;
pub mod meter;
pub mod random;
pub mod register;
pub mod selector;

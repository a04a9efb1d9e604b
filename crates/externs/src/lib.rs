//! The fixed-function blocks that architectures offer as externs, one file each.
//!
//! They know numbers, bits and instants only: no packet, no program, no table.

pub mod call;
pub mod checksum;
pub mod checksum_code;
pub mod counter;
pub mod filter;
pub mod hash;
pub mod hash_setting;
pub mod meter;
pub mod random;
pub mod selector;

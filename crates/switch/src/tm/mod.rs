//! The traffic manager, one idea per file.
pub mod shaper;

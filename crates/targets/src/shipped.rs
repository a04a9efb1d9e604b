//! The targets that ship. A new one is its folder and its line here.

use crate::target::Target;
use crate::{npu, tna, v1model};

/// All of them, in the order in which people are told of them.
pub(crate) static TARGETS: &[&dyn Target] = &[
    &tna::Tofino1,          // p4/tna
    &v1model::Bmv2,         // p4/v1model
    &npu::NetworkProcessor, // p4/npu
];

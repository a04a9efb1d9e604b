//! Table of the built-in targets.
//!
//! A new architecture needs its crate and one line here. Only this file names architectures.

use sojourn_bmv2::Bmv2;
use sojourn_npu::NetworkProcessor;
use sojourn_psa::PsaSwitch;
use sojourn_target::{LoadOptions, Target, Targets};
use sojourn_tofino::{TOFINO1, TOFINO2, TOFINO2M};

/// The built-in targets in the order in which messages list them. The first one reports programs
/// that no target claims.
pub static TARGETS: Targets = Targets(&[
    &TOFINO1 as &dyn Target, // p4/tna
    &Bmv2,                   // p4/v1model
    &NetworkProcessor,       // p4/npu
    &TOFINO2,                // p4/t2na
    &TOFINO2M,               // p4/t2na
    &PsaSwitch,              // p4/psa
]);

/// [`LoadOptions`] with the built-in targets and the compiler of hot units.
pub fn load_options() -> LoadOptions {
    LoadOptions {
        targets: TARGETS,
        compiler: Some(&sojourn_jit::COMPILER),
        ..LoadOptions::default()
    }
}

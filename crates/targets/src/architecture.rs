//! Which architectures there are.

use serde::{Deserialize, Serialize};

/// Which architecture a program is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Architecture {
    /// The Tofino Native Architecture, on Tofino 1.
    #[default]
    Tofino1,
    /// v1model, as bmv2's `simple_switch` runs it.
    V1Model,
}

impl Architecture {
    /// Its name on the command line and in files.
    pub const fn name(self) -> &'static str {
        match self {
            Architecture::Tofino1 => "tofino1",
            Architecture::V1Model => "v1model",
        }
    }
}

//! The stateful ALU on a raw configuration, for external test vectors.

use crate::errors::ConfigError;
use pyo3::prelude::*;
use sojourn_tofino::salu::run_salu_json;

/// Executes one instruction; returns the new 128-bit memory word and the 32-bit output.
#[pyfunction]
pub fn run_salu(setup: &str, case: &str) -> PyResult<(u128, u32)> {
    let malformed = |error: String| ConfigError::new_err(error);
    let setup = serde_json::from_str(setup).map_err(|error| malformed(error.to_string()))?;
    let case = serde_json::from_str(case).map_err(|error| malformed(error.to_string()))?;
    run_salu_json(&setup, &case).map_err(|error| malformed(error.to_string()))
}

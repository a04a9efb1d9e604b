//! What a P4 program declares for its control plane: tables with keys and actions, constants.
//!
//! It stands on the language and on what every target describes; it knows no architecture.

use crate::errors::ConfigError;
use crate::program::language_error;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use sojourn_p4::compile;
use sojourn_p4::preprocess::PreprocessOptions;
use sojourn_targets::{ControlPlane, describe};
use std::collections::BTreeMap;
use std::fmt::Display;
use std::path::PathBuf;

/// The declarations of the program at `path`, as JSON.
#[pyfunction]
pub fn declarations(
    py: Python<'_>,
    path: PathBuf,
    include_paths: Vec<PathBuf>,
    defines: BTreeMap<String, String>,
) -> PyResult<String> {
    let defines = defines.into_iter().collect();
    let options = PreprocessOptions { include_paths, defines, ..PreprocessOptions::default() };
    py.detach(|| match compile(&path, &options) {
        Ok(compiled) => serde_json::to_string(&describe(&compiled.program))
            .map_err(|error| PyRuntimeError::new_err(error.to_string())),
        Err(error) => Err(language_error(&error)),
    })
}

/// A control plane, as JSON, with its computed entries written out for the program at `path`.
#[pyfunction]
pub fn written_out(
    py: Python<'_>,
    path: PathBuf,
    include_paths: Vec<PathBuf>,
    defines: BTreeMap<String, String>,
    control: &str,
) -> PyResult<String> {
    let wrong = |error: &dyn Display| ConfigError::new_err(error.to_string());
    let control: ControlPlane = serde_json::from_str(control).map_err(|error| wrong(&error))?;
    let defines = defines.into_iter().collect();
    let options = PreprocessOptions { include_paths, defines, ..PreprocessOptions::default() };
    py.detach(|| {
        let compiled = compile(&path, &options).map_err(|error| language_error(&error))?;
        let whole = control.written_out(&compiled.program).map_err(|error| wrong(&error))?;
        serde_json::to_string(&whole).map_err(|error| PyRuntimeError::new_err(error.to_string()))
    })
}

//! What a P4 program declares for its control plane: tables with keys and actions, constants.
//!
//! It stands on the language and on what every target describes; it knows no architecture.

use crate::program::language_error;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use sojourn_p4::compile;
use sojourn_p4::preprocess::PreprocessOptions;
use sojourn_targets::describe;
use std::collections::BTreeMap;
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

//! The stage estimate of a P4 program, its state variables, and the story of a rule.

use crate::program::{language_error, refused};
use pyo3::prelude::*;
use sojourn_p4::preprocess::FileLoader;
use sojourn_targets::find_rule;
use sojourn_targets::state;
use sojourn_targets::tna::{LoadOptions, fit, load_with, rules};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The stages of the program at `path`: as JSON, and as text for a terminal.
#[pyfunction]
pub fn stages(
    py: Python<'_>,
    path: PathBuf,
    include_paths: Vec<PathBuf>,
    defines: BTreeMap<String, String>,
) -> PyResult<(String, String)> {
    let defines = defines.into_iter().collect();
    let options =
        LoadOptions { include_paths, defines, check_only: true, ..LoadOptions::default() };
    py.detach(|| {
        let loaded = load_with(&FileLoader, &path, &options).map_err(|error| refused(&error))?;
        let fit = fit::estimate(&loaded);
        Ok((fit.to_json(), fit.render()))
    })
}

/// The state variables of the program at `path` and what they depend on: as JSON, and as text. A
/// program that no target takes has some, too.
#[pyfunction]
pub fn dependencies(
    py: Python<'_>,
    path: PathBuf,
    include_paths: Vec<PathBuf>,
    defines: BTreeMap<String, String>,
) -> PyResult<(String, String)> {
    py.detach(|| {
        let found = state::of_file(&path, include_paths, defines.into_iter().collect());
        let found = found.map_err(|error| language_error(&error))?;
        Ok((found.to_json(), found.render()))
    })
}

/// The story of a rule of the target as text; none if there is no such rule.
#[pyfunction]
pub fn explain(code: &str) -> Option<String> {
    find_rule(code).map(|rule| rule.explanation())
}

/// The rules of the target, one a line, as text.
#[pyfunction]
pub fn rule_list() -> String {
    rules::list()
}

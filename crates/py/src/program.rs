//! P4 programs: loading one for a run, and asking what language and target say of one.

use crate::errors::{ConfigError, ProgramError};
use pyo3::prelude::*;
use sojourn_net::config::{Aqm, MathUnitReading, P4Aqm};
use sojourn_p4::check_program;
use sojourn_p4::diagnostic::{Diagnostic, RenderOptions, render_all, to_json_string};
use sojourn_p4::preprocess::{FileLoader, PreprocessOptions};
use sojourn_p4::source::SourceMap;
use sojourn_targets::DataPlane;
use sojourn_targets::tna::math_unit::Reading;
use sojourn_targets::tna::{ControlPlane, LoadError, LoadOptions, fit, load, load_with};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The loaded and configured program of a P4 AQM; none for a native discipline. `seed` is that of
/// its random externs.
pub fn plane(aqm: &Aqm, seed: u64) -> PyResult<Option<Box<dyn DataPlane>>> {
    let Aqm::P4(p4) = aqm else { return Ok(None) };
    let options = LoadOptions {
        include_paths: p4.include_paths.iter().map(PathBuf::from).collect(),
        defines: p4.defines.clone().into_iter().collect(),
        math_unit: match p4.math_unit {
            MathUnitReading::Vendor => Reading::Vendor,
            MathUnitReading::Paper => Reading::Paper,
        },
        seed,
        ..LoadOptions::default()
    };
    let mut plane = load(&p4.program, &options).map_err(|error| refused(&error))?;
    let fits = plane.configure(&control(p4)?);
    fits.map_err(|error| ConfigError::new_err(format!("control plane: {error}")))?;
    Ok(Some(Box::new(plane)))
}

/// The run's tables and sessions as the program takes them. Both sides have the same JSON.
fn control(p4: &P4Aqm) -> PyResult<ControlPlane> {
    serde_json::to_value(&p4.control)
        .and_then(serde_json::from_value)
        .map_err(|error| ConfigError::new_err(format!("control plane: {error}")))
}

pub fn refused(error: &LoadError) -> PyErr {
    ProgramError::new_err((error.render(&RenderOptions::default()), error.to_json()))
}

/// Whether there was no error; the diagnostics drawn for a terminal; the same as JSON.
type Verdict = (bool, String, String);

/// Checks the program at `path`: the language, and unless `language_only`, that Tofino loads it.
#[pyfunction]
pub fn check(
    py: Python<'_>,
    path: PathBuf,
    language_only: bool,
    include_paths: Vec<PathBuf>,
    defines: BTreeMap<String, String>,
    colour: bool,
) -> Verdict {
    let defines = defines.into_iter().collect();
    py.detach(|| match language_only {
        true => check_language(&path, include_paths, defines, colour),
        false => check_loading(&path, include_paths, defines, colour),
    })
}

fn check_language(
    path: &Path,
    include_paths: Vec<PathBuf>,
    defines: Vec<(String, String)>,
    colour: bool,
) -> Verdict {
    let options = PreprocessOptions { include_paths, defines, ..PreprocessOptions::default() };
    match check_program(&FileLoader, path, &options) {
        Ok((_, sources, warnings)) => verdict(true, &warnings, &sources, colour),
        Err(error) => verdict(false, &error.diagnostics, &error.sources, colour),
    }
}

fn check_loading(
    path: &Path,
    include_paths: Vec<PathBuf>,
    defines: Vec<(String, String)>,
    colour: bool,
) -> Verdict {
    let options =
        LoadOptions { include_paths, defines, check_only: true, ..LoadOptions::default() };
    match load_with(&FileLoader, path, &options) {
        Ok(mut loaded) => {
            let doubt = fit::doubt(&loaded, &fit::estimate(&loaded));
            loaded.warnings.extend(doubt);
            verdict(true, &loaded.warnings, &loaded.sources, colour)
        }
        Err(error) => verdict(false, &error.diagnostics, &error.sources, colour),
    }
}

fn verdict(ok: bool, diagnostics: &[Diagnostic], sources: &SourceMap, colour: bool) -> Verdict {
    let options = RenderOptions { colour, ..RenderOptions::default() };
    (ok, render_all(diagnostics, sources, &options), to_json_string(diagnostics, sources))
}

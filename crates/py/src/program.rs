//! P4 programs: loading one for a run, and asking what language and target say of one.

use crate::errors::{ConfigError, ProgramError};
use pyo3::prelude::*;
use sojourn_net::RunConfig;
use sojourn_net::config::{Aqm, MathUnitReading};
use sojourn_p4::diagnostic::{Diagnostic, RenderOptions, render_all, to_json_string};
use sojourn_p4::preprocess::{FileLoader, PreprocessOptions};
use sojourn_p4::source::SourceMap;
use sojourn_p4::{CompileError, check_program};
use sojourn_targets::tna::fit;
use sojourn_targets::tna::math_unit::Reading;
use sojourn_targets::{Architecture, DataPlane, LoadError, LoadOptions, load, load_with};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The loaded and configured programs of a run, one for each switch that runs one.
pub fn planes(config: &RunConfig) -> PyResult<Vec<Box<dyn DataPlane>>> {
    let loaded = config.aqms().into_iter().map(|aqm| plane(aqm, config.seed));
    loaded.filter_map(PyResult::transpose).collect()
}

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
    if let Some(wanted) = p4.architecture.filter(|wanted| *wanted != plane.architecture()) {
        let (wanted, found) = (wanted.name(), plane.architecture().name());
        let message = format!("aqm.architecture = {wanted}: {} is for {found}", p4.program);
        return Err(ConfigError::new_err(message));
    }
    let fits = plane.configure(&p4.control);
    fits.map_err(|error| ConfigError::new_err(format!("control plane: {error}")))?;
    Ok(Some(Box::new(plane)))
}

pub fn refused(error: &LoadError) -> PyErr {
    ProgramError::new_err((error.render(&RenderOptions::default()), error.to_json()))
}

/// What the language has against a program, as an exception.
pub fn language_error(error: &CompileError) -> PyErr {
    let json = to_json_string(&error.diagnostics, &error.sources);
    ProgramError::new_err((error.text(&RenderOptions::default()), json))
}

/// Whether there was no error; the diagnostics drawn for a terminal; the same as JSON; and the
/// architecture of a program that was loaded.
type Verdict = (bool, String, String, Option<&'static str>);

/// Checks the program at `path`: the language, and unless `language_only`, that its target loads it.
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
        Ok((_, sources, warnings)) => verdict(None, true, &warnings, &sources, colour),
        Err(error) => verdict(None, false, &error.diagnostics, &error.sources, colour),
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
        Ok(loaded) => {
            let architecture = loaded.plane.architecture();
            let (mut warnings, sources) = (loaded.warnings.clone(), loaded.sources.clone());
            if let Some(loaded) = loaded.into_tofino() {
                warnings.extend(fit::doubt(&loaded, &fit::estimate(&loaded)));
            }
            verdict(Some(architecture), true, &warnings, &sources, colour)
        }
        Err(error) => verdict(None, false, &error.diagnostics, &error.sources, colour),
    }
}

fn verdict(
    architecture: Option<Architecture>,
    ok: bool,
    diagnostics: &[Diagnostic],
    sources: &SourceMap,
    colour: bool,
) -> Verdict {
    let options = RenderOptions { colour, ..RenderOptions::default() };
    let rendered = render_all(diagnostics, sources, &options);
    (ok, rendered, to_json_string(diagnostics, sources), architecture.map(Architecture::name))
}

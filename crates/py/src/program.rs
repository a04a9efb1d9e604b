//! What language and target say of a program, and their refusals as exceptions.

use crate::errors::{ConfigError, ProgramError};
use pyo3::prelude::*;
use sojourn_engine::RunError;
use sojourn_engine::load::{self, Checked};
use sojourn_p4::CompileError;
use sojourn_p4::diagnostic::{RenderOptions, render_all, to_json_string};
use sojourn_p4::preprocess::PreprocessOptions;
use sojourn_targets::{Architecture, LoadError, LoadOptions};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Why a run cannot be had, as an exception.
pub fn run_refused(error: &RunError) -> PyErr {
    match error {
        RunError::Program(error) => refused(error),
        other => ConfigError::new_err(other.to_string()),
    }
}

/// What a target has against a program, as an exception.
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
    py.detach(|| {
        let checked = if language_only {
            let options =
                PreprocessOptions { include_paths, defines, ..PreprocessOptions::default() };
            load::check_language(&path, &options)
        } else {
            let options =
                LoadOptions { include_paths, defines, check_only: true, ..LoadOptions::default() };
            load::check(&path, &options)
        };
        verdict(&checked, colour)
    })
}

fn verdict(checked: &Checked, colour: bool) -> Verdict {
    let Checked { ok, diagnostics, sources, architecture } = checked;
    let options = RenderOptions { colour, ..RenderOptions::default() };
    let rendered = render_all(diagnostics, sources, &options);
    (*ok, rendered, to_json_string(diagnostics, sources), architecture.map(Architecture::name))
}

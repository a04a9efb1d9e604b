//! P4 programs: loading one for a run, and asking what language and target say of one.

use crate::RunError;
use crate::config::{Aqm, P4Aqm, RunConfig};
use crate::switch_setup;
use sojourn_net::HandedOver;
use sojourn_p4::check_program;
use sojourn_p4::diagnostic::Diagnostic;
use sojourn_p4::preprocess::{FileLoader, PreprocessOptions};
use sojourn_p4::source::SourceMap;
use sojourn_targets::tna::fit;
use sojourn_targets::{Architecture, LoadOptions, Plane, load, load_with};
use std::path::Path;
use std::sync::Arc;

/// The loaded and configured programs of a run, one for each switch that runs one.
///
/// # Errors
/// The first that cannot be loaded or configured.
pub fn planes(config: &RunConfig) -> Result<Vec<HandedOver>, RunError> {
    let programs = config.aqms().into_iter().filter_map(|aqm| match aqm {
        Aqm::P4(p4) => Some(p4),
        Aqm::Native(_) => None,
    });
    programs.map(|p4| handed_over(p4, config.seed)).collect()
}

/// A program ready for a switch; `seed` is that of its random externs.
///
/// # Errors
/// It cannot be loaded or configured.
pub fn handed_over(p4: &P4Aqm, seed: u64) -> Result<HandedOver, RunError> {
    let plane = plane(p4, seed)?;
    if p4.discipline.is_some() && plane.architecture() != Architecture::V1Model {
        return Err(RunError::NoDisciplines { program: p4.program.clone() });
    }
    let (control, architecture) = (p4.control.for_switch(), plane.architecture());
    let set_up = move |switch: &mut _| switch_setup::configure(switch, &control, architecture);
    let discipline = p4.discipline.clone();
    Ok(HandedOver { plane: Box::new(plane), set_up: Box::new(set_up), discipline })
}

/// The loaded and configured program of an AQM; `seed` is that of its random externs.
///
/// # Errors
/// It cannot be loaded or configured.
pub fn plane(p4: &P4Aqm, seed: u64) -> Result<Plane, RunError> {
    let mut plane = load(&p4.program, &p4.load_options(seed))?;
    if let Some(wanted) = p4.architecture.filter(|wanted| *wanted != plane.architecture()) {
        let (wanted, found) = (wanted.name(), plane.architecture().name());
        return Err(RunError::Architecture { wanted, program: p4.program.clone(), found });
    }
    plane.configure(&p4.control)?;
    Ok(plane)
}

/// What is said of a program.
pub struct Checked {
    /// There was no error.
    pub ok: bool,
    /// Errors, warnings and notes.
    pub diagnostics: Vec<Diagnostic>,
    /// The files that they point into.
    pub sources: Arc<SourceMap>,
    /// What the program is for, if it was loaded.
    pub architecture: Option<Architecture>,
}

/// What the language says of the program at `path`; whether a target takes it is not asked.
pub fn check_language(path: &Path, options: &PreprocessOptions) -> Checked {
    let (ok, diagnostics, sources) = match check_program(&FileLoader, path, options) {
        Ok((_, sources, warnings)) => (true, warnings, sources),
        Err(error) => (false, error.diagnostics, *error.sources),
    };
    Checked { ok, diagnostics, sources: Arc::new(sources), architecture: None }
}

/// What language and target say of the program at `path`.
pub fn check(path: &Path, options: &LoadOptions) -> Checked {
    match load_with(&FileLoader, path, options) {
        Ok(loaded) => {
            let architecture = Some(loaded.plane.architecture());
            let (mut diagnostics, sources) = (loaded.warnings.clone(), loaded.sources.clone());
            if let Some(loaded) = loaded.into_tofino() {
                diagnostics.extend(fit::doubt(&loaded, &fit::estimate(&loaded)));
            }
            Checked { ok: true, diagnostics, sources, architecture }
        }
        Err(error) => {
            let (diagnostics, sources) = (error.diagnostics, error.sources);
            Checked { ok: false, diagnostics, sources, architecture: None }
        }
    }
}

//! A compiled program as a Python object, and errors of language and target as exceptions.

use crate::errors::{ConfigError, ProgramError};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use serde::Serialize;
use sojourn_control::ControlPlane;
use sojourn_engine::RunError;
use sojourn_engine::load::{self, Programs};
use sojourn_p4::diagnostic::{Diagnostic, RenderOptions, render_all, to_json_string};
use sojourn_p4::preprocess::{FileLoader, PreprocessOptions};
use sojourn_p4::source::SourceMap;
use sojourn_target::{LoadError, LoadOptions, Target};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

/// Exception for a run that cannot be built.
pub fn run_refused(error: &RunError) -> PyErr {
    match error {
        RunError::Program(error) => refused(error),
        other => ConfigError::new_err(other.to_string()),
    }
}

/// Exception for a program that the language or its target rejects.
pub fn refused(error: &LoadError) -> PyErr {
    let raised = ProgramError::new_err(error.render(&RenderOptions::default()));
    Python::attach(|py| {
        let loads = py.import("json").and_then(|json| json.getattr("loads"));
        let found = loads.and_then(|loads| loads.call1((error.to_json(),)));
        match found.and_then(|found| raised.value(py).setattr("diagnostics", found)) {
            Ok(()) => raised,
            Err(other) => other,
        }
    })
}

fn json(of: &impl Serialize) -> PyResult<String> {
    serde_json::to_string(of).map_err(|error| PyRuntimeError::new_err(error.to_string()))
}

/// A P4 program, compiled once; `check` returns its target's diagnostics.
#[pyclass(module = "sojourn._core", frozen)]
pub struct Program {
    pub program: Arc<sojourn_target::Program>,
}

impl Program {
    fn compile(
        path: &PathBuf,
        include_paths: Vec<PathBuf>,
        defines: BTreeMap<String, String>,
        target: Option<&'static dyn Target>,
    ) -> Result<Program, LoadError> {
        let defines = defines.into_iter().collect();
        let known = sojourn_engine::builtin::load_options();
        let options = LoadOptions { include_paths, defines, target, ..known };
        let program = Arc::new(sojourn_target::Program::read(path, &options)?);
        Ok(Program { program })
    }
}

/// Programs passed with a configuration.
pub fn handed(programs: &[PyRef<'_, Program>]) -> Programs {
    Programs::new(programs.iter().map(|program| program.program.clone()))
}

#[pymethods]
impl Program {
    #[new]
    fn new(
        py: Python<'_>,
        path: PathBuf,
        include_paths: Vec<PathBuf>,
        defines: BTreeMap<String, String>,
    ) -> PyResult<Program> {
        py.detach(|| Program::compile(&path, include_paths, defines, None)).map_err(|e| refused(&e))
    }

    /// Name of its target.
    #[getter]
    fn target(&self) -> &'static str {
        self.program.target().name()
    }

    /// Whether its pipeline has a ghost thread.
    #[getter]
    fn has_ghost(&self) -> bool {
        self.program.takes_depth_reports()
    }

    /// Whether its target has a math unit.
    #[getter]
    fn math_unit(&self) -> bool {
        self.program.target().math_unit()
    }

    /// Whether its source files are unchanged.
    fn is_current(&self) -> bool {
        self.program.sources().are_in(&FileLoader)
    }

    /// The SHA-256 of its text and of everything else that determines its meaning.
    #[getter]
    fn digest(&self) -> &str {
        self.program.digest()
    }

    /// The SHA-256 of each source file, by path.
    #[getter]
    fn sources(&self) -> BTreeMap<PathBuf, String> {
        let files = self.program.sources().files.iter();
        files.map(|file| (file.path.clone(), file.sha256())).collect()
    }

    /// The program as text, to be compiled elsewhere, as JSON.
    fn text(&self) -> PyResult<String> {
        json(&self.program.text())
    }

    /// Its declarations for the control plane, as JSON.
    fn declarations(&self) -> PyResult<String> {
        json(&self.program.describe())
    }

    /// Its P4Info: as text and in binary.
    fn p4info(&self, py: Python<'_>) -> (String, Vec<u8>) {
        py.detach(|| {
            let info = sojourn_protocols::p4info(&self.program.schema());
            (sojourn_protocols::p4info_text(&info), sojourn_protocols::p4info_bytes(&info))
        })
    }

    /// Its `bf-rt.json`, the schema of Tofino's runtime interface.
    fn bfrt(&self, py: Python<'_>) -> String {
        py.detach(|| sojourn_protocols::bfrt::text(&self.program.schema()))
    }

    /// A control plane, as JSON, with its computed entries expanded.
    fn expand_control_plane(&self, py: Python<'_>, control: &str) -> PyResult<String> {
        let wrong = |error: &dyn std::fmt::Display| ConfigError::new_err(error.to_string());
        let control: ControlPlane = serde_json::from_str(control).map_err(|e| wrong(&e))?;
        let whole =
            py.detach(|| self.program.expand_control_plane(control)).map_err(|e| wrong(&e))?;
        json(&whole)
    }

    /// Its stages: as JSON, and as text for a terminal.
    fn stages(&self, py: Python<'_>) -> PyResult<(String, String)> {
        let stages = py.detach(|| self.program.stages()).map_err(|error| refused(&error))?;
        Ok((stages.json, stages.text))
    }

    /// Reason why its target's chip may reject it although it runs here; `None` if none is known.
    fn doubt(&self, py: Python<'_>) -> Option<String> {
        py.detach(|| self.program.doubt())
            .map(|doubt| format!("{} ({})", doubt.message, doubt.code))
    }

    /// Its state variables and their dependencies: as JSON and as text.
    fn dependencies(&self, py: Python<'_>) -> (String, String) {
        let found = py.detach(|| self.program.dependencies());
        (found.to_json(), found.render())
    }
}

/// Verdict on a program.
#[pyclass(module = "sojourn._core", frozen, get_all)]
pub struct Verdict {
    /// True if there was no error.
    ok: bool,
    /// The diagnostics rendered for a terminal.
    rendered: String,
    /// The diagnostics as JSON.
    diagnostics: String,
    /// The program, if the language accepts it; `None` if only the language was checked.
    program: Option<Py<Program>>,
    /// Its stages as JSON and as text, if it fits a target with stages.
    stages: Option<(String, String)>,
}

/// Checks the program at `path` against the language and, unless `language_only`, its target.
#[pyfunction]
pub fn check(
    py: Python<'_>,
    path: PathBuf,
    language_only: bool,
    include_paths: Vec<PathBuf>,
    defines: BTreeMap<String, String>,
    colour: bool,
    target: Option<String>,
) -> PyResult<Verdict> {
    let said = |ok, found: &[Diagnostic], sources: &SourceMap| {
        let options = RenderOptions { colour, ..RenderOptions::default() };
        let rendered = render_all(found, sources, &options);
        let diagnostics = to_json_string(found, sources);
        Verdict { ok, rendered, diagnostics, program: None, stages: None }
    };
    if language_only {
        let defines = defines.into_iter().collect();
        let options = PreprocessOptions { include_paths, defines, ..PreprocessOptions::default() };
        let checked = py.detach(|| load::check_language(&path, &options));
        return Ok(said(checked.ok, &checked.diagnostics, &checked.sources));
    }
    let target = target.and_then(|name| sojourn_engine::builtin::TARGETS.named(&name));
    let compiled = py.detach(|| Program::compile(&path, include_paths, defines, target));
    let program = match compiled {
        Ok(program) => program,
        Err(error) => return Ok(said(false, &error.diagnostics, &error.sources)),
    };
    let checked = py.detach(|| program.program.check());
    let verdict = said(checked.ok, &checked.diagnostics, program.program.source_map());
    let stages = checked.stages.map(|stages| (stages.json, stages.text));
    Ok(Verdict { program: Some(Py::new(py, program)?), stages, ..verdict })
}

/// Editor information on the program at `path`, as JSON; `texts` replace files.
#[pyfunction]
pub fn inspect(
    py: Python<'_>,
    path: PathBuf,
    include_paths: Vec<PathBuf>,
    defines: BTreeMap<String, String>,
    texts: BTreeMap<PathBuf, String>,
) -> String {
    let defines = defines.into_iter().collect();
    let options = LoadOptions { include_paths, defines, ..sojourn_engine::builtin::load_options() };
    let texts = texts.into_iter().collect();
    py.detach(|| sojourn_engine::editor::inspect(&path, &options, texts)).to_string()
}

/// Name of every target and folder of its built-in programs, in the order of presentation.
#[pyfunction]
pub fn targets() -> Vec<(&'static str, &'static str)> {
    sojourn_engine::builtin::TARGETS.iter().map(|target| (target.name(), target.folder())).collect()
}

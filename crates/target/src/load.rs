//! Loading: from the text of a program to a data plane, or to diagnostics, in one call.
//!
//! Uses [`Program`]; a shortcut for a single data plane from a single file.

use crate::chip_settings::{Clock, ExponentParity};
use crate::plane::Plane;
use crate::program::Program;
use crate::target::{Target, Targets};
use sojourn_p4::diagnostic::{Diagnostic, RenderOptions, render_all, to_json_string};
pub use sojourn_p4::interp::Executor;
use sojourn_p4::interp::Interpreter;
use sojourn_p4::interp::jit_tier::Compiler;
use sojourn_p4::ir;
use sojourn_p4::preprocess::{FileLoader, SourceLoader};
use sojourn_p4::source::SourceMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use thiserror::Error;

/// Options for loading a program.
#[derive(Clone, Debug, Default)]
pub struct LoadOptions {
    /// Folders to search for included files, in order.
    pub include_paths: Vec<PathBuf>,
    /// Macros defined before the first line: name and replacement.
    pub defines: Vec<(String, String)>,
    /// Model of Tofino's math unit.
    pub math_unit: ExponentParity,
    /// Tofino's counter and the unit of its queue timestamps.
    pub clock: Clock,
    /// Executor of the program's statements.
    pub executor: Executor,
    /// Compiler of [`Executor::Native`]. Without one, such a program is interpreted.
    pub compiler: Option<&'static dyn Compiler>,
    /// Seed of random numbers and random hashes.
    pub seed: u64,
    /// Index of the pipeline, if the program has several for the pipes of a chip.
    pub pipeline: usize,
    /// The program is checked and not run: parts that are not simulated become warnings, and the
    /// result cannot run them.
    pub check_only: bool,
    /// Targets that the program may be for.
    pub targets: Targets,
    /// The target that it is compiled for, if the caller chooses: its macros are defined, and it
    /// comes before others that claim the program.
    pub target: Option<&'static dyn Target>,
}

impl LoadOptions {
    /// Target of a package: the chosen one if it claims the package, else the first that does.
    pub(crate) fn claiming(
        &self,
        package: &str,
        architecture: Option<&str>,
    ) -> Option<&'static dyn Target> {
        let chosen = self.target.filter(|target| target.claims(package, architecture));
        chosen.or_else(|| self.targets.claiming(package, architecture))
    }

    /// Interpreter of an elaborated program.
    pub fn interpreter(&self, program: ir::Program) -> Interpreter {
        let mut interpreter = Interpreter::with_executor(Arc::new(program), self.executor);
        if let (Executor::Native, Some(compiler)) = (self.executor, self.compiler) {
            interpreter.compile_by(compiler);
        }
        interpreter
    }
}

/// A program that cannot be loaded, with all its diagnostics.
#[derive(Clone, Debug, Error)]
#[error("{}", self.summary())]
pub struct LoadError {
    /// All diagnostics, warnings included.
    pub diagnostics: Vec<Diagnostic>,
    /// The files that the diagnostics point into.
    pub sources: Arc<SourceMap>,
}

impl LoadError {
    /// The diagnostics as text with excerpts of the source.
    pub fn render(&self, options: &RenderOptions) -> String {
        render_all(&self.diagnostics, &self.sources, options)
    }

    /// The diagnostics as JSON.
    pub fn to_json(&self) -> String {
        to_json_string(&self.diagnostics, &self.sources)
    }

    fn summary(&self) -> String {
        let mut errors = self.diagnostics.iter().filter(|diagnostic| diagnostic.is_error());
        let Some(first) = errors.next() else { return "the program cannot be loaded".to_owned() };
        let place = self.sources.location(first.primary).map(|at| format!("{at}: "));
        let more = match errors.count() {
            0 => String::new(),
            more => format!(" (and {more} more)"),
        };
        format!("{}{}{more}", place.unwrap_or_default(), first.message)
    }
}

/// A loaded program.
#[derive(Debug)]
pub struct Loaded<P = Plane> {
    /// The data plane.
    pub plane: P,
    /// Warnings about legal but suspicious constructs.
    pub warnings: Vec<Diagnostic>,
    /// The files that the warnings point into.
    pub sources: Arc<SourceMap>,
}

/// Loads the program in the file `path`, whatever its architecture.
///
/// # Errors
/// Returns the errors of language and target.
pub fn load(path: impl AsRef<Path>, options: &LoadOptions) -> Result<Plane, LoadError> {
    load_with(&FileLoader, path, options).map(|loaded| loaded.plane)
}

/// [`load`] with the warnings, and with files from any loader.
///
/// # Errors
/// As for [`load`].
pub fn load_with(
    loader: &dyn SourceLoader,
    path: impl AsRef<Path>,
    options: &LoadOptions,
) -> Result<Loaded, LoadError> {
    Program::compile(loader, path, options)?.instantiate_with(options.clone())
}

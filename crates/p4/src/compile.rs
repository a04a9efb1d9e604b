//! Compilation from a path to an executable program in one call.
//!
//! Runs the stages in order: preprocess, parse, check, elaborate, each only if the one before
//! reported no error. Adds nothing of its own.

use crate::diagnostic::{Diagnostic, RenderOptions, render_all};
use crate::hir;
use crate::ir;
use crate::preprocess::{FileLoader, PreprocessOptions, SourceLoader};
use crate::source::SourceMap;
use std::path::Path;
use std::sync::Arc;

/// An executable program with its sources.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// The IR.
    pub program: Arc<ir::Program>,
    /// All files and macro expansions, for messages.
    pub sources: SourceMap,
    /// Warnings and notes.
    pub diagnostics: Vec<Diagnostic>,
}

/// Compilation failure: diagnostics, at least one of them an error.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{}", self.text(&RenderOptions::default()))]
pub struct CompileError {
    /// All diagnostics, in the order of detection.
    pub diagnostics: Vec<Diagnostic>,
    /// The sources that the diagnostics point into.
    pub sources: Box<SourceMap>,
}

impl CompileError {
    /// All messages with excerpts of the source.
    pub fn text(&self, options: &RenderOptions) -> String {
        render_all(&self.diagnostics, &self.sources, options)
    }
}

/// Parses and checks the program at `path`.
///
/// ```
/// use sojourn_p4::check_program;
/// use sojourn_p4::preprocess::{MemoryLoader, PreprocessOptions};
/// let loader = MemoryLoader::new().with("one.p4", "const bit<8> ONE = 1;");
/// let (typed, sources, found) =
///     check_program(&loader, "one.p4".as_ref(), &PreprocessOptions::default())?;
/// assert!(typed.controls.is_empty() && found.is_empty() && sources.files().count() == 1);
/// # Ok::<(), sojourn_p4::CompileError>(())
/// ```
///
/// # Errors
/// Returns all errors of the preprocessor, the parser and the checker.
pub fn check_program(
    loader: &dyn SourceLoader,
    path: &Path,
    options: &PreprocessOptions,
) -> Result<(hir::Program, SourceMap, Vec<Diagnostic>), CompileError> {
    let (tree, sources, mut diagnostics) = crate::parse::parse_program(loader, path, options);
    let refuse = |diagnostics, sources| CompileError { diagnostics, sources: Box::new(sources) };
    if diagnostics.iter().any(Diagnostic::is_error) {
        return Err(refuse(diagnostics, sources));
    }
    let (typed, found) = crate::check::check(&tree, &sources);
    diagnostics.extend(found);
    match typed {
        Some(typed) => Ok((typed, sources, diagnostics)),
        None => Err(refuse(diagnostics, sources)),
    }
}

/// Compiles the program at `path`; `loader` supplies the files.
///
/// ```
/// use sojourn_p4::compile_with;
/// use sojourn_p4::diagnostic::RenderOptions;
/// use sojourn_p4::preprocess::{MemoryLoader, PreprocessOptions};
/// let compiled = |text: &str| {
///     let loader = MemoryLoader::new().with("ones.p4", text);
///     compile_with(&loader, "ones.p4".as_ref(), &PreprocessOptions::default())
/// };
/// let wrong = compiled("const bit<8> ONE = two;").unwrap_err();
/// let text = wrong.text(&RenderOptions::default());
/// assert!(text.contains("ones.p4:1") && text.contains("two"), "{text}");
/// ```
///
/// # Errors
/// Returns all errors of the first stage with errors.
pub fn compile_with(
    loader: &dyn SourceLoader,
    path: &Path,
    options: &PreprocessOptions,
) -> Result<Compiled, CompileError> {
    let (typed, sources, mut diagnostics) = check_program(loader, path, options)?;
    match crate::elaborate::elaborate(&typed) {
        Ok(program) => Ok(Compiled { program: Arc::new(program), sources, diagnostics }),
        Err(found) => {
            diagnostics.extend(found);
            Err(CompileError { diagnostics, sources: Box::new(sources) })
        }
    }
}

/// Compiles the program at `path`.
///
/// ```
/// use sojourn_p4::{CompileError, compile};
/// use sojourn_p4::preprocess::PreprocessOptions;
/// let missing: CompileError =
///     compile("no/such.p4".as_ref(), &PreprocessOptions::default()).unwrap_err();
/// assert!(missing.to_string().contains("no/such.p4"));
/// ```
///
/// # Errors
/// As for [`compile_with`].
pub fn compile(path: &Path, options: &PreprocessOptions) -> Result<Compiled, CompileError> {
    compile_with(&FileLoader, path, options)
}

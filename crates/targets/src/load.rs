//! Loading: from the text of a program to a data plane, or to diagnostics.
//!
//! ```text
//! text -> tokens -> tree -> typed tree -> IR -> a target's pipeline
//!         (the language crate)                  (tna/, v1model/)
//! ```
//!
//! The architecture follows from the program: the package of its `main` says whether it is for
//! Tofino or for bmv2. What a target refuses is the business of its own folder.

use crate::plane::Plane;
use crate::tna;
use crate::tna::math_unit::Reading;
use crate::v1model;
use sojourn_p4::check::check;
use sojourn_p4::diagnostic::{Diagnostic, RenderOptions, render_all, to_json_string};
use sojourn_p4::elaborate::elaborate;
use sojourn_p4::ir::Program;
use sojourn_p4::parse::parse_program;
use sojourn_p4::preprocess::{FileLoader, PreprocessOptions, SourceLoader};
use sojourn_p4::source::SourceMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use thiserror::Error;

/// How a program is loaded.
#[derive(Clone, Debug, Default)]
pub struct LoadOptions {
    /// Folders to search for included files, in order.
    pub include_paths: Vec<PathBuf>,
    /// Macros that are defined before the first line: name and replacement.
    pub defines: Vec<(String, String)>,
    /// Which description of Tofino's math unit is believed.
    pub math_unit: Reading,
    /// Tofino's counter and the unit of its queue timestamps.
    pub clock: tna::Clock,
    /// Seeds random numbers and random hashes.
    pub seed: u64,
    /// The program is looked at and not run: parts that are not simulated are warnings, and what
    /// comes of it cannot run them.
    pub check_only: bool,
}

/// A program that cannot be loaded, with everything found in it.
#[derive(Debug, Error)]
#[error("{}", self.summary())]
pub struct LoadError {
    /// What was found, warnings included.
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

/// A program that was loaded.
#[derive(Debug)]
pub struct Loaded<P = Plane> {
    /// The data plane.
    pub plane: P,
    /// What is legal but probably not meant.
    pub warnings: Vec<Diagnostic>,
    /// The files that the warnings point into.
    pub sources: Arc<SourceMap>,
}

impl Loaded {
    /// The same as a program for Tofino, if it is one.
    pub fn into_tofino(self) -> Option<Loaded<tna::Tofino>> {
        let Loaded { plane, warnings, sources } = self;
        match plane {
            Plane::Tofino(plane) => Some(Loaded { plane: *plane, warnings, sources }),
            Plane::V1Model(_) => None,
        }
    }
}

/// Loads the program in the file `path`, whatever its architecture.
///
/// # Errors
/// Everything that language and target have against it.
pub fn load(path: impl AsRef<Path>, options: &LoadOptions) -> Result<Plane, LoadError> {
    load_with(&FileLoader, path, options).map(|loaded| loaded.plane)
}

/// [`load`] with the warnings, and with files from anywhere.
///
/// # Errors
/// As for [`load`].
pub fn load_with(
    loader: &dyn SourceLoader,
    path: impl AsRef<Path>,
    options: &LoadOptions,
) -> Result<Loaded, LoadError> {
    let mut loaded = build_with(loader, path, options, |program, sources, diagnostics| {
        if program.main.as_ref().is_some_and(|main| v1model::is_package(&main.of)) {
            let plane = v1model::build(program, options, diagnostics)?;
            return Some(Plane::V1Model(Box::new(plane)));
        }
        let plane = tna::build(program, sources, options, diagnostics)?;
        Some(Plane::Tofino(Box::new(plane)))
    })?;
    loaded.plane.keep_sources(&loaded.sources);
    Ok(loaded)
}

/// Brings a program up to its IR and lets `build` make a data plane of it.
pub(crate) fn build_with<P>(
    loader: &dyn SourceLoader,
    path: impl AsRef<Path>,
    options: &LoadOptions,
    build: impl FnOnce(Program, &SourceMap, &mut Vec<Diagnostic>) -> Option<P>,
) -> Result<Loaded<P>, LoadError> {
    let parse = |target: &str| {
        let preprocess = PreprocessOptions {
            include_paths: options.include_paths.clone(),
            defines: with_target(&options.defines, target),
            ..PreprocessOptions::default()
        };
        parse_program(loader, path.as_ref(), &preprocess)
    };
    let mut parsed = parse(TOFINO);
    if is_for_bmv2(&parsed.1) {
        parsed = parse(BMV2);
    }
    let (tree, sources, mut diagnostics) = parsed;
    let sources = Arc::new(sources);
    tell_other_architecture(&mut diagnostics, &sources);
    let program = if diagnostics.iter().any(Diagnostic::is_error) {
        None
    } else {
        let (typed, mut found) = check(&tree, &sources);
        diagnostics.append(&mut found);
        typed.and_then(|typed| match elaborate(&typed) {
            Ok(program) => Some(program),
            Err(mut found) => {
                diagnostics.append(&mut found);
                None
            }
        })
    };
    let plane = program.and_then(|program| build(program, &sources, &mut diagnostics));
    match plane {
        Some(plane) => Ok(Loaded { plane, warnings: diagnostics, sources }),
        None => Err(LoadError { diagnostics, sources }),
    }
}

/// A program that includes another architecture's file is told so first: that file not being there
/// is not what is wrong with it.
fn tell_other_architecture(diagnostics: &mut Vec<Diagnostic>, sources: &SourceMap) {
    let included = diagnostics.iter().filter(|diagnostic| diagnostic.is_error()).find_map(|d| {
        let text = sources.text(d.primary);
        let architecture = match text.trim_matches(['<', '>', '"']) {
            "psa.p4" => "the Portable Switch Architecture",
            "pna.p4" => "the Portable NIC Architecture",
            "t2na.p4" => "Tofino 2",
            "ebpf_model.p4" | "ubpf_model.p4" => "eBPF",
            _ => return None,
        };
        Some((d.primary, architecture))
    });
    if let Some((place, architecture)) = included {
        let message = format!("this program is for {architecture}");
        diagnostics.insert(0, tna::rules::ARCHITECTURE.refuse(place, message).into());
    }
}

/// The macro that the vendor's driver defines.
pub(crate) const TOFINO: &str = "__TARGET_TOFINO__";
/// The macro that p4c defines for bmv2.
pub(crate) const BMV2: &str = "__TARGET_BMV2__";

/// The macros of a program for `target`, unless the caller has named a target already.
pub(crate) fn with_target(defines: &[(String, String)], target: &str) -> Vec<(String, String)> {
    let mut all = defines.to_vec();
    if !all.iter().any(|(known, _)| known == TOFINO || known == BMV2) {
        all.push((target.to_owned(), "1".to_owned()));
    }
    all
}

/// Whether a program is for bmv2: seen with Tofino's macro it includes v1model.p4 all the same.
pub(crate) fn is_for_bmv2(sources: &SourceMap) -> bool {
    sources.files().any(|file| file.path.rsplit(['/', '\\']).next() == Some("v1model.p4"))
}

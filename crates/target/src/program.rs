//! A compiled program: its text, IR and target, and all queries on them.
//!
//! ```text
//! text -> tokens -> tree -> typed tree -> IR -> a target's pipeline, as often as one likes
//!         (the language crate)                  (the target's folder)
//! ```
//!
//! The package of `main` determines the target. A program that its target rejects is a [`Program`]
//! too, because its declarations and the dependencies of its state are known without a target. Must
//! not depend on an architecture.

use crate::chip_settings::ExponentParity;
use crate::load::{Executor, LoadError, LoadOptions, Loaded};
use crate::plane::Plane;
use crate::sources::{ProgramText, Recorder, Sources};
use crate::target::{LoadedProgram, Stages, Target};
use sojourn_analysis::{Dependencies, dependencies};
use sojourn_control::describe::{ProgramDescription, describe};
use sojourn_control::schema::Schema;
use sojourn_control::{ControlError, ControlPlane};
use sojourn_p4::diagnostic::Diagnostic;
use sojourn_p4::elaborate::{Fresh, elaborate_with};
use sojourn_p4::preprocess::{FileLoader, PreprocessOptions, SourceLoader};
use sojourn_p4::source::SourceMap;
use sojourn_p4::{check::check, hir, ir, parse::parse_program};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A compiled program.
#[derive(Clone, Debug)]
pub struct Program {
    path: PathBuf,
    options: LoadOptions,
    target: &'static dyn Target,
    ir: Arc<ir::Program>,
    map: Arc<SourceMap>,
    sources: Sources,
    warnings: Vec<Diagnostic>,
    digest: String,
}

/// Diagnostics of language and target for a program.
#[derive(Clone, Debug)]
pub struct Checked {
    /// True if there was no error.
    pub ok: bool,
    /// Errors, warnings and notes.
    pub diagnostics: Vec<Diagnostic>,
    /// Its stages, if its target has stages and accepts it.
    pub stages: Option<Stages>,
}

impl Program {
    /// Compiles the program in the file `path`.
    ///
    /// # Errors
    /// Returns the language's diagnostics.
    pub fn read(path: impl AsRef<Path>, options: &LoadOptions) -> Result<Program, LoadError> {
        Program::compile(&FileLoader, path, options)
    }

    /// Compiles a program from its text; the text's folders and macros come before those of
    /// `options`.
    ///
    /// # Errors
    /// As for [`Program::read`].
    pub fn from_text(text: &ProgramText, options: &LoadOptions) -> Result<Program, LoadError> {
        let mut options = options.clone();
        options.include_paths.splice(..0, text.include_paths.iter().map(PathBuf::from));
        options.defines.splice(..0, text.defines.clone());
        Program::compile(&text.loader(), &text.program, &options)
    }

    /// Compiles the program at `path` in `loader`.
    ///
    /// # Errors
    /// As for [`Program::read`].
    pub fn compile(
        loader: &dyn SourceLoader,
        path: impl AsRef<Path>,
        options: &LoadOptions,
    ) -> Result<Program, LoadError> {
        let (path, targets) = (path.as_ref(), options.targets);
        let recorder = Recorder::new(loader);
        let parse = |target: &dyn Target| {
            let preprocess = PreprocessOptions {
                include_paths: options.include_paths.clone(),
                defines: targets.macros(target, &options.defines),
                ..PreprocessOptions::default()
            };
            recorder.take();
            parse_program(&recorder, path, &preprocess)
        };
        let Some(first) = options.target.or_else(|| targets.iter().next()) else {
            return Err(LoadError { diagnostics: Vec::new(), sources: Arc::default() });
        };
        let mut parsed = parse(first);
        // This parse used the first target's macros. A program that includes another target's
        // declarations is parsed again with that target's.
        if options.target.is_none()
            && let Some(other) = targets.included(&parsed.1)
        {
            parsed = parse(other);
        }
        let (tree, map, mut diagnostics) = parsed;
        let map = Arc::new(map);
        // A missing include file of another architecture is not the program's fault.
        if let Some(foreign) = targets.iter().find_map(|t| t.foreign(&diagnostics, &map)) {
            diagnostics.insert(0, foreign);
        }
        let mut program = None;
        if !diagnostics.iter().any(Diagnostic::is_error) {
            let (typed, mut found) = check(&tree, &map);
            diagnostics.append(&mut found);
            match typed.map(|typed| elaborate_with(&typed, fresh(&typed, options))) {
                Some(Ok(made)) => program = Some(made),
                Some(Err(mut found)) => diagnostics.append(&mut found),
                None => {}
            }
            // A name that only another chip declares is reported once, by that diagnostic.
            let foreign = || targets.iter().find_map(|t| t.foreign(&diagnostics, &map));
            if program.is_none()
                && let Some(foreign) = foreign()
            {
                diagnostics.retain(|found| found.primary != foreign.primary);
                diagnostics.insert(0, foreign);
            }
        }
        let Some(program) = program else {
            return Err(LoadError { diagnostics, sources: map });
        };
        let claimed = program.main.as_ref().and_then(|main| {
            let architecture = main.architecture.as_deref();
            options.claiming(&main.of, architecture)
        });
        let sources = recorder.take();
        Ok(Program {
            path: path.to_owned(),
            digest: digest(path, &sources, options),
            options: options.clone(),
            target: claimed.unwrap_or(first),
            ir: Arc::new(program),
            map,
            sources,
            warnings: diagnostics,
        })
    }

    /// The path of its source.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Target of the program; for a program that no target claims, the one that will reject it.
    pub fn target(&self) -> &'static dyn Target {
        self.target
    }

    /// Options of the compilation.
    pub fn options(&self) -> &LoadOptions {
        &self.options
    }

    /// Its IR.
    pub fn ir(&self) -> &Arc<ir::Program> {
        &self.ir
    }

    /// Its files, for the positions of messages.
    pub fn source_map(&self) -> &Arc<SourceMap> {
        &self.map
    }

    /// The files that it was compiled from, including all its includes.
    pub fn sources(&self) -> &Sources {
        &self.sources
    }

    /// The SHA-256 of its text and of everything else that determines its meaning, in hexadecimal
    /// digits: programs with equal digests are equivalent.
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// The program as text, to be compiled elsewhere. Bytes that are not UTF-8 are Latin-1, as the
    /// compiler reads them.
    pub fn text(&self) -> ProgramText {
        let shown = |path: &Path| path.to_string_lossy().into_owned();
        let text = |bytes: &[u8]| match std::str::from_utf8(bytes) {
            Ok(text) => text.to_owned(),
            Err(_) => bytes.iter().map(|byte| char::from(*byte)).collect(),
        };
        ProgramText {
            program: shown(&self.path),
            files: self.sources.files.iter().map(|t| (shown(&t.path), text(&t.bytes))).collect(),
            include_paths: self.options.include_paths.iter().map(|path| shown(path)).collect(),
            defines: self.options.defines.iter().cloned().collect(),
        }
    }

    /// Description for the control plane.
    pub fn describe(&self) -> ProgramDescription {
        describe(&self.ir)
    }

    /// All its declarations for the control plane, in the order of its text.
    pub fn schema(&self) -> Schema {
        let declarations = self.target.declarations();
        Schema::new(&self.ir, declarations.strip_suffix(".p4").unwrap_or(declarations))
    }

    /// Dependencies of its state variables, whether a target accepts it or not.
    pub fn dependencies(&self) -> Dependencies {
        dependencies(&self.ir, &self.map)
    }

    /// Diagnostics of language and target.
    pub fn check(&self) -> Checked {
        match self.load_for(self.target, self.check_options()) {
            Ok((loaded, mut diagnostics)) => {
                let stages = self.target.stages(&*loaded, &self.map);
                let doubt = stages.as_ref().and_then(|stages| stages.doubt.as_deref().cloned());
                diagnostics.extend(doubt);
                Checked { ok: true, diagnostics, stages }
            }
            Err(error) => Checked { ok: false, diagnostics: error.diagnostics, stages: None },
        }
    }

    /// Reason why the target's chip may reject it although it runs here; `None` if none is known.
    pub fn doubt(&self) -> Option<Diagnostic> {
        let (loaded, _) = self.load_for(self.target, self.check_options()).ok()?;
        self.target.stages(&*loaded, &self.map)?.doubt.map(|doubt| *doubt)
    }

    /// Its estimated stages. A program for a target without stages is checked against one with
    /// stages, which reports its errors.
    ///
    /// # Errors
    /// Returns the target's diagnostics.
    pub fn stages(&self) -> Result<Stages, LoadError> {
        let others = self.options.targets.iter().filter(|other| other.name() != self.target.name());
        let mut refused = None;
        for target in std::iter::once(self.target).chain(others) {
            match self.load_for(target, self.check_options()) {
                Ok((loaded, _)) => match target.stages(&*loaded, &self.map) {
                    Some(stages) => return Ok(stages),
                    None => continue,
                },
                Err(error) if refused.is_none() => refused = Some(error),
                Err(_) => {}
            }
        }
        Err(refused.unwrap_or(LoadError { diagnostics: Vec::new(), sources: self.map.clone() }))
    }

    /// True if it takes reports of queue depths.
    pub fn takes_depth_reports(&self) -> bool {
        self.target.takes_depth_reports(self.ir())
    }

    /// Instantiates it for one switch: tables, registers and externs before the first packet.
    /// `seed` is that of its random externs.
    ///
    /// # Errors
    /// Returns the target's diagnostics.
    pub fn instantiate(&self, seed: u64) -> Result<Plane, LoadError> {
        let options = LoadOptions { seed, ..self.options.clone() };
        self.instantiate_with(options).map(|loaded| loaded.plane)
    }

    /// [`Program::instantiate`] with a run's choices: a math unit, for targets that have one, and
    /// the executor.
    ///
    /// # Errors
    /// As for [`Program::instantiate`].
    pub fn instantiate_as(
        &self,
        seed: u64,
        math_unit: ExponentParity,
        executor: Executor,
    ) -> Result<Plane, LoadError> {
        self.instantiate_pipeline(0, seed, math_unit, executor)
    }

    /// The same for one of the program's pipelines, if it has several for the pipes of a chip.
    ///
    /// # Errors
    /// As for [`Program::instantiate`].
    pub fn instantiate_pipeline(
        &self,
        pipeline: usize,
        seed: u64,
        math_unit: ExponentParity,
        executor: Executor,
    ) -> Result<Plane, LoadError> {
        let options = LoadOptions { pipeline, seed, math_unit, executor, ..self.options.clone() };
        self.instantiate_with(options).map(|loaded| loaded.plane)
    }

    /// [`Program::instantiate`] with all options, warnings included.
    ///
    /// # Errors
    /// As for [`Program::instantiate`].
    pub fn instantiate_with(&self, options: LoadOptions) -> Result<Loaded, LoadError> {
        let pipeline = options.pipeline;
        let (loaded, warnings) = self.load_for(self.target, options)?;
        let plane = Plane::new(self.target, loaded, self.map.clone(), pipeline);
        Ok(Loaded { plane, warnings, sources: self.map.clone() })
    }

    /// Converts a control plane to a document with an entry for each table entry: computed entries
    /// are expanded, and commands are replaced by their effects.
    ///
    /// # Errors
    /// Returns an error with its position if an entry does not fit the program, or if its target
    /// rejects the program.
    pub fn expand_control_plane(
        &self,
        control: ControlPlane,
    ) -> Result<ControlPlane, ControlError> {
        if control.commands.is_none() {
            return control.expand(&self.ir);
        }
        let refused = |error: LoadError| ControlError::Message(error.render(&Default::default()));
        let mut plane = self.instantiate(1).map_err(refused)?;
        let batch = control.batch(&self.ir)?;
        batch.install(plane.control())?;
        batch.left_in(plane.control())
    }

    fn check_options(&self) -> LoadOptions {
        LoadOptions { check_only: true, ..self.options.clone() }
    }

    fn load_for(
        &self,
        target: &dyn Target,
        options: LoadOptions,
    ) -> Result<(Box<dyn LoadedProgram>, Vec<Diagnostic>), LoadError> {
        self.build_with(|program, sources, diagnostics| {
            target.load(program, sources, &options, diagnostics)
        })
    }

    /// Builds from the IR; the language's warnings come first.
    pub fn build_with<P>(
        &self,
        build: impl FnOnce(ir::Program, &SourceMap, &mut Vec<Diagnostic>) -> Option<P>,
    ) -> Result<(P, Vec<Diagnostic>), LoadError> {
        let mut diagnostics = self.warnings.clone();
        match build((*self.ir).clone(), &self.map, &mut diagnostics) {
            Some(made) => Ok((made, diagnostics)),
            None => Err(LoadError { diagnostics, sources: self.map.clone() }),
        }
    }
}

/// Initial fields of headers that become valid, by the architecture of `main`.
fn fresh(typed: &hir::Program, options: &LoadOptions) -> Fresh {
    let main = typed.main.and_then(|main| match typed.instances[main.index()].of {
        hir::InstanceOf::Package(id) => {
            let package = &typed.packages[id.index()];
            options.claiming(&package.name, package.architecture().as_deref())
        }
        _ => None,
    });
    main.map_or(Fresh::default(), |target| target.fresh())
}

fn digest(path: &Path, sources: &Sources, options: &LoadOptions) -> String {
    let mut others = vec![path.to_string_lossy().into_owned()];
    others.extend(options.defines.iter().map(|(name, value)| format!("{name}={value}")));
    others.push(format!("{:?} {:?}", options.math_unit, options.clock));
    sources.digest(&others.iter().map(String::as_str).collect::<Vec<_>>())
}

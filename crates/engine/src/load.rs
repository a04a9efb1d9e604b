//! Loads the P4 programs of a run's switches: compiles them, or takes compiled ones.

use crate::RunError;
use crate::config::{Aqm, ControlStep, FurtherProgram, P4Aqm, RunConfig};
use crate::switch_setup;
use sojourn_control::ControlPlane;
use sojourn_net::config::{PIPE_PORTS, invalid, within};
use sojourn_net::{SwitchAction, SwitchPlane};
use sojourn_p4::check_program;
use sojourn_p4::diagnostic::Diagnostic;
use sojourn_p4::preprocess::{FileLoader, PreprocessOptions};
use sojourn_p4::source::SourceMap;
use sojourn_packet::{DataPlane, Time};
use sojourn_switch::{Switch, SwitchConfig};
use sojourn_target::observer::{self, RegisterChange, SharedTrace};
use sojourn_target::{Plane, Program, trace_json};
use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

/// Compiled programs: a configuration with the same path, folders and macros refers to one of them.
///
/// ```
/// use sojourn_engine::{P4Aqm, Programs, load};
/// let p4 = P4Aqm { program: "no/such.p4".into(), ..P4Aqm::default() };
/// let refused = Programs::default().program(&p4).unwrap_err();
/// assert!(refused.to_string().contains("no/such.p4"));
/// let language = load::check_language("no/such.p4".as_ref(), &Default::default());
/// assert!(!language.ok);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Programs(Vec<Arc<Program>>);

impl Programs {
    /// Creates a set of compiled programs.
    pub fn new(programs: impl IntoIterator<Item = Arc<Program>>) -> Programs {
        Programs(programs.into_iter().collect())
    }

    /// The program of a configuration: a compiled one, or else compiled from its text or file.
    ///
    /// # Errors
    /// Returns the language's errors, or an error if the program is for another target than the
    /// configuration requires.
    pub fn program(&self, p4: &P4Aqm) -> Result<Arc<Program>, RunError> {
        let program = match self.known(p4) {
            Some(program) => program,
            None => Arc::new(compiled(p4)?),
        };
        let found = program.target().name();
        match &p4.architecture {
            Some(wanted) if wanted != found => Err(RunError::Architecture {
                wanted: wanted.clone(),
                program: p4.program.clone(),
                found,
            }),
            _ => Ok(program),
        }
    }

    fn known(&self, p4: &P4Aqm) -> Option<Arc<Program>> {
        let wanted = p4.load_options();
        let is_meant = |program: &&Arc<Program>| {
            let options = program.options();
            program.path() == Path::new(&p4.program)
                && options.include_paths == wanted.include_paths
                && options.defines == wanted.defines
        };
        self.0.iter().find(is_meant).cloned()
    }

    /// Loads the program of a configuration for one switch and applies its control plane; `seed` is
    /// that of its random externs. Also returns the part of the control plane that configures the
    /// switch.
    ///
    /// # Errors
    /// As for [`Programs::program`]; also if target or control plane do not fit the program.
    pub fn plane(&self, p4: &P4Aqm, seed: u64) -> Result<(Plane, ControlPlane), RunError> {
        self.plane_of(p4, seed, 0)
    }

    /// The same for one of the chip's pipes with the program, counted from 0. If the program has
    /// several pipelines, pipes run them in turn, as the vendor's `p4c-gen-bfrt-conf` assigns them
    /// for Tofino 1.
    fn plane_of(
        &self,
        p4: &P4Aqm,
        seed: u64,
        turn: usize,
    ) -> Result<(Plane, ControlPlane), RunError> {
        let program = self.program(p4)?;
        let pipeline = turn % pipelines(&program);
        let mut plane = program.instantiate_pipeline(pipeline, seed, p4.math_unit, p4.executor)?;
        let batch = p4.control.batch(program.ir())?;
        batch.install(plane.control())?;
        switch_setup::check(&batch, &plane.target().switch())?;
        Ok((plane, batch.for_switch()?))
    }

    /// The same, in the form that a switch needs.
    ///
    /// # Errors
    /// As for [`Programs::plane`]; also if the program does not support a discipline under it.
    pub fn handed_over(&self, p4: &P4Aqm, seed: u64) -> Result<SwitchPlane, RunError> {
        self.handed_over_to(p4, seed, 1, &[])
    }

    /// The same for a chip with several pipes, some of which may run further programs.
    ///
    /// # Errors
    /// As for [`Programs::handed_over`]; also if the target has fewer pipes, or a pipe has two
    /// programs.
    pub fn handed_over_to(
        &self,
        p4: &P4Aqm,
        seed: u64,
        pipes: u16,
        beside: &[FurtherProgram],
    ) -> Result<SwitchPlane, RunError> {
        self.handed_over_watched(p4, seed, pipes, beside).map(|(handed, _)| handed)
    }

    fn handed_over_watched(
        &self,
        p4: &P4Aqm,
        seed: u64,
        pipes: u16,
        beside: &[FurtherProgram],
    ) -> Result<(SwitchPlane, Option<Watched>), RunError> {
        let (mut plane, control) = self.plane(p4, seed)?;
        let traits = plane.target().switch();
        within("pipes", u64::from(pipes), 1..=u64::from(traits.ports / traits.pipe_ports))?;
        check_pipes(pipes, beside)?;
        let mut controls = vec![control];
        // Program of a pipe, the number of pipelines of the programs before it, and the number of
        // its pipes so far.
        let mut runs = vec![(Cow::Borrowed(p4), 0, 0)];
        for other in beside {
            let architecture = Some(plane.target().name().to_owned());
            let before = runs.last().map_or(Ok(0), |(p4, before, _)| {
                self.program(p4).map(|program| before + pipelines(&program))
            })?;
            runs.push((Cow::Owned(P4Aqm { architecture, ..other.p4.clone() }), before, 0));
        }
        runs[0].2 = 1;
        for pipe in 1..pipes {
            let of = beside.iter().position(|other| other.pipes.contains(&pipe));
            let (p4, before, turn) = &mut runs[of.map_or(0, |of| of + 1)];
            let seed = seed.wrapping_add(u64::from(pipe));
            let (made, control) = self.plane_of(p4, seed, *turn)?;
            if *before > 0 && *turn == 0 {
                controls.push(control);
            }
            *turn += 1;
            plane.add_pipe(made, *before);
        }
        for control in &controls {
            switch_setup::generators(&control.pktgen, traits.packet_generator, pipes as u8)?;
        }
        let wanted = p4.trace_request();
        let watched = match wanted.is_nothing() {
            true => None,
            false => {
                let seen = plane.observe(wanted).map_err(RunError::Trace)?;
                Some(Watched { sources: plane.sources().clone(), seen })
            }
        };
        let target = plane.target();
        if p4.discipline.is_some() && !traits.disciplines {
            let (program, found) = (p4.program.clone(), target.title());
            let others = crate::builtin::TARGETS.iter().filter(|other| other.switch().disciplines);
            let others = others.map(|other| other.title()).collect::<Vec<_>>().join(" or ");
            return Err(RunError::NoDisciplines { program, found, others });
        }
        if p4.ghost.is_some() && !plane.takes_depth_reports() {
            let for_ghosts = "none, for the program's pipeline has no ghost thread";
            return Err(invalid("aqm.ghost", "a table", for_ghosts).into());
        }
        let (ghost, flow_control_delay) = (p4.ghost, p4.flow_control_delay);
        let cell = traits.traffic_manager.map_or(sojourn_switch::CELL, |manager| manager.cell);
        let set_up = move |switch: &mut SwitchConfig| {
            if let Some(ghost) = ghost {
                switch.depth_reports = ghost.depth_reports();
            }
            if let Some(delay) = flow_control_delay {
                switch.flow_control_delay = Time(delay);
            }
            controls.iter().for_each(|control| switch_setup::configure(switch, control, &traits));
        };
        let discipline = p4.discipline.clone();
        self.try_later(p4, seed)?;
        let later = p4.later.iter().cloned().map(act).collect();
        let set_up = Box::new(set_up);
        let handed = SwitchPlane { plane: Box::new(plane), set_up, cell, discipline, later };
        Ok((handed, watched))
    }

    /// Applies the operations of the running control plane to an idle program, so that errors are
    /// reported before the run. Operations on the switch are only checked there.
    fn try_later(&self, p4: &P4Aqm, seed: u64) -> Result<(), RunError> {
        if p4.later.is_empty() {
            return Ok(());
        }
        let (mut plane, _) = self.plane(p4, seed)?;
        for step in &p4.later {
            for (place, operation) in step.operations.iter().enumerate() {
                if crate::control::is_of_the_switch(operation) {
                    continue;
                }
                sojourn_control::execute(plane.control(), operation, Time(step.at))
                    .map_err(|error| RunError::Later { at: step.at, place: place + 1, error })?;
            }
        }
        Ok(())
    }

    /// The programs of a run, one for each switch that runs one.
    ///
    /// # Errors
    /// Returns the first error of loading or configuration.
    pub fn planes(&self, config: &RunConfig) -> Result<Vec<SwitchPlane>, RunError> {
        Ok(self.planes_watched(config)?.into_iter().map(|(handed, _)| handed).collect())
    }

    /// The same, each with its observations, if requested.
    pub(crate) fn planes_watched(
        &self,
        config: &RunConfig,
    ) -> Result<Vec<(SwitchPlane, Option<Watched>)>, RunError> {
        let switches = config.network.switches.iter().zip(config.aqms());
        let programs = switches.filter_map(|(node, aqm)| match aqm {
            Aqm::P4(p4) => Some((&**p4, config.network.pipes_of(node))),
            Aqm::Native(_) => None,
        });
        let handed_over = |(p4, pipes): (&P4Aqm, u16)| {
            // A target with contiguous port numbers has one pipe.
            let one = self.program(p4)?.target().switch().pipe_ports != PIPE_PORTS;
            self.handed_over_watched(p4, config.seed, if one { 1 } else { pipes }, &[])
        };
        programs.map(handed_over).collect()
    }
}

/// Number of pipelines of a program; one for a program without a chip.
fn pipelines(program: &Program) -> usize {
    program.describe().pipelines.len().max(1)
}

/// Checks that each further program has pipes of its own, and that the first program keeps the
/// first pipe.
fn check_pipes(pipes: u16, beside: &[FurtherProgram]) -> Result<(), RunError> {
    let mut taken = std::collections::BTreeSet::from([0]);
    for other in beside {
        if other.pipes.is_empty() || other.pipes.iter().any(|pipe| !taken.insert(*pipe)) {
            let own = "pipes that no other program has; pipe 0 runs the first";
            return Err(invalid("beside.pipes", format!("{:?}", other.pipes), own).into());
        }
        for pipe in &other.pipes {
            within("beside.pipes", u64::from(*pipe), 1..=u64::from(pipes) - 1)?;
        }
    }
    Ok(())
}

/// Observations of a program in a run.
#[derive(Clone, Debug)]
pub struct Watched {
    /// Its text, for the positions of observations.
    pub sources: Arc<SourceMap>,
    /// Observations that have not been taken.
    pub seen: SharedTrace,
}

impl Watched {
    /// Passes since the last call, as JSON.
    pub fn take_passes(&self) -> Vec<serde_json::Value> {
        let passes = std::mem::take(&mut observer::lock(&self.seen).passes);
        passes.iter().map(|pass| trace_json::pass(pass, &self.sources)).collect()
    }

    /// Register changes since the last call.
    pub fn take_changes(&self) -> Vec<RegisterChange> {
        std::mem::take(&mut observer::lock(&self.seen).changes)
    }

    /// Observed registers, in the order in which changes count them.
    pub fn registers(&self) -> Vec<String> {
        observer::lock(&self.seen).names.clone()
    }
}

/// A batch on the running switch.
fn act(step: ControlStep) -> (Time, SwitchAction) {
    let act = move |switch: &mut Switch, now| {
        let done = crate::control::apply(switch, &step.operations, now);
        done.map(|_| ()).map_err(|error| format!("at {} ns: {error}", step.at))
    };
    (Time(step.at), Box::new(act))
}

fn compiled(p4: &P4Aqm) -> Result<Program, RunError> {
    let options = p4.load_options();
    Ok(match &p4.text {
        Some(text) => Program::from_text(text, &options)?,
        None => Program::read(&p4.program, &options)?,
    })
}

/// The language's verdict on a program.
pub struct LanguageChecked {
    /// True if there was no error.
    pub ok: bool,
    /// Errors, warnings and notes.
    pub diagnostics: Vec<Diagnostic>,
    /// Source files of the diagnostics.
    pub sources: Arc<SourceMap>,
}

/// Checks the program at `path` up to the type checker. Neither a target nor the completeness of
/// the program is checked.
pub fn check_language(path: &Path, options: &PreprocessOptions) -> LanguageChecked {
    let (ok, diagnostics, sources) = match check_program(&FileLoader, path, options) {
        Ok((_, sources, warnings)) => (true, warnings, sources),
        Err(error) => (false, error.diagnostics, *error.sources),
    };
    LanguageChecked { ok, diagnostics, sources: Arc::new(sources) }
}

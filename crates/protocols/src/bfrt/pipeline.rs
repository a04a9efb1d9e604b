//! Forwarding pipeline: the running programs, as clients see them, and programs that clients load.
//!
//! A client loads a program as source text instead of the chip's binary. If the data is not a text,
//! the program's name must be that of a running one. Several programs share the pipes. Between the
//! beginning and the end of a warm initialisation, clients write into a switch that receives no
//! packets.

use super::schema::{Kind, Schema};
use super::store::Store;
use crate::device::{Device, Placed};
use crate::failure::Failure;
use crate::p4runtime::pipeline::compiled;
use crate::wire::bfrt_proto as bfrt;
use sojourn_control::{Query, Reply};
use sojourn_engine::control::{self, Pipes};
use sojourn_switch::Switch;
use sojourn_target::Program;
use std::sync::Arc;

/// Running program, with its schema for clients.
#[derive(Clone)]
pub struct Running {
    /// The program, and the pipes that a client or the command line assigned to it.
    pub placed: Placed,
    /// Schema shown to clients.
    pub schema: Arc<Schema>,
}

/// All programs that run.
pub type Programs = Vec<Running>;

/// Configuration that takes effect when the warm initialisation ends.
pub struct Pending {
    /// Its programs.
    pub running: Programs,
    /// The switch that will run them.
    pub switch: Switch,
    /// Client state of each program.
    pub stores: Vec<Store>,
}

/// Programs under their clients' names, and an idle switch like the given one that runs them. A
/// program without a name takes that of its file.
///
/// # Errors
/// The device cannot run them.
pub fn make(
    wanted: Vec<(Placed, Option<String>)>,
    device: &dyn Device,
) -> Result<(Programs, Switch), String> {
    // The switch is built around the program of its first pipe; clients have their own order.
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by_key(|at| wanted[*at].0.pipes.iter().min().copied());
    let placed: Vec<Placed> = order.iter().map(|at| wanted[*at].0.clone()).collect();
    let mut fresh = device.build(&placed)?;
    let count = control::pipes(&mut fresh);
    let rest = |pipe: usize| {
        let mut others = placed.iter().skip(1).flat_map(|other| &other.pipes);
        !others.any(|other| usize::from(*other) == pipe)
    };
    let mut before = 0;
    let mut made: Vec<Option<Running>> = vec![None; wanted.len()];
    for (place, at) in order.into_iter().enumerate() {
        let (placed, name) = &wanted[at];
        let mut schema = Schema::new(&placed.program);
        if let Some(name) = name {
            schema.name.clone_from(name);
        }
        if wanted.len() > 1 {
            let own = |pipe: &usize| placed.pipes.iter().any(|own| usize::from(*own) == *pipe);
            let mine = (0..count).filter(|pipe| if place == 0 { rest(*pipe) } else { own(pipe) });
            schema.pipes = Pipes(mine.map(|pipe| 1 << pipe).sum());
            schema.before = before;
            before += placed.program.describe().pipelines.len().max(1);
        }
        let pipe = schema.pipes.0.trailing_zeros() as usize;
        for table in schema.tables.values_mut() {
            if let Kind::Register(first) = &mut table.kind {
                let query = Query::Register { name: table.inner.clone(), index: 0 };
                if let Ok(Reply::Register(words)) = control::read_of(&mut fresh, pipe, &query) {
                    *first = words.into_iter().map(|word| word.0).collect();
                }
            }
        }
        made[at] = Some(Running { placed: placed.clone(), schema: Arc::new(schema) });
    }
    Ok((made.into_iter().flatten().collect(), fresh))
}

/// The running program with this name.
pub fn called<'r>(running: &'r [Running], name: &str) -> Option<(usize, &'r Running)> {
    running.iter().enumerate().find(|(_, known)| known.schema.name == name)
}

/// Programs of the configurations, with their names.
///
/// # Errors
/// A configuration without a text names a program that is not running.
pub fn wanted(
    running: &[Running],
    configs: &[bfrt::ForwardingPipelineConfig],
) -> Result<Vec<(Placed, Option<String>)>, Failure> {
    if configs.is_empty() {
        return Err(Failure::invalid("no program is named"));
    }
    let mut wanted: Vec<(Placed, Option<String>)> = Vec::new();
    for (at, config) in configs.iter().enumerate() {
        let program = program_of(running, config, at)?;
        let mut pipes = Vec::new();
        if configs.len() > 1 {
            let all = config.profiles.iter().flat_map(|profile| &profile.pipe_scope);
            pipes.extend(all.filter_map(|pipe| u16::try_from(*pipe).ok()));
            let is_taken =
                |other: &(Placed, _)| other.0.pipes.iter().any(|pipe| pipes.contains(pipe));
            if pipes.is_empty() || wanted.iter().any(is_taken) {
                let why = format!("`{}` needs pipes of its own beside others", config.p4_name);
                return Err(Failure::invalid(why));
            }
        }
        let is_named = |other: &(Placed, Option<String>)| other.1.as_ref() == Some(&config.p4_name);
        if wanted.iter().any(is_named) {
            return Err(Failure::invalid(format!("two programs are called `{}`", config.p4_name)));
        }
        // Texts loaded together need distinct names, which may equal that of an earlier text.
        if wanted.iter().any(|other| other.0.program.path() == program.path()) {
            let why =
                format!("`{}` has come as a text: bring it again with others", config.p4_name);
            return Err(Failure::invalid(why));
        }
        wanted.push((Placed { program, pipes }, Some(config.p4_name.clone())));
    }
    Ok(wanted)
}

/// Program of a configuration; `at` distinguishes texts that are loaded together.
fn program_of(
    running: &[Running],
    config: &bfrt::ForwardingPipelineConfig,
    at: usize,
) -> Result<Arc<Program>, Failure> {
    let [first, others @ ..] = &config.profiles[..] else { return named(running, config) };
    if others.iter().any(|other| other.binary != first.binary) {
        let why = "profiles of one program with different texts: it is one text";
        return Err(Failure::unimplemented(why));
    }
    let Some(known) = running.first() else { return named(running, config) };
    match std::str::from_utf8(&first.binary) {
        Ok(text) if !text.trim().is_empty() => {
            compiled(text.as_bytes(), at, known.placed.program.options()).map(Arc::new)
        }
        _ => named(running, config),
    }
}

fn named(
    running: &[Running],
    config: &bfrt::ForwardingPipelineConfig,
) -> Result<Arc<Program>, Failure> {
    if let Some((_, known)) = called(running, &config.p4_name) {
        return Ok(known.placed.program.clone());
    }
    Err(Failure::invalid(format!(
        "this switch runs {}; of `{}` it needs the P4 text, as a profile's binary",
        names(running),
        config.p4_name
    )))
}

/// Names of the running programs.
pub fn names(running: &[Running]) -> String {
    let names: Vec<_> = running.iter().map(|known| format!("`{}`", known.schema.name)).collect();
    names.join(" and ")
}

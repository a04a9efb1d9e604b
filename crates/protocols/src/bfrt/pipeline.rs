//! What runs, as clients see it, and what is to run: programs that clients bring.
//!
//! A program comes as its text, in the place of the chip's binary. What is not a text counts by the
//! program's name only, which must be the one that runs. Between the beginning of a warm
//! initialisation and its end, clients write into a switch that no packet comes to.

use super::schema::{Kind, Schema};
use super::store::Store;
use crate::device::Device;
use crate::failure::Failure;
use crate::p4runtime::pipeline::compiled;
use crate::wire::bfrt_proto as bfrt;
use sojourn_engine::control;
use sojourn_switch::Switch;
use sojourn_targets::Program;
use sojourn_targets::control::{Query, Reply};
use std::sync::Arc;

/// A program with what clients are told of it.
#[derive(Clone)]
pub struct Running {
    /// The program.
    pub program: Arc<Program>,
    /// What it is to clients.
    pub schema: Arc<Schema>,
}

/// What is to run when the warm initialisation ends.
pub struct Pending {
    /// Its program.
    pub running: Running,
    /// The switch in which it will.
    pub switch: Switch,
    /// What clients have said of it.
    pub store: Store,
}

impl Running {
    /// A program under the name that clients call it by, and a switch like that one, at rest, that
    /// runs it.
    ///
    /// # Errors
    /// It does not run on the device.
    pub fn new(
        program: Arc<Program>,
        name: Option<&str>,
        device: &dyn Device,
    ) -> Result<(Running, Switch), String> {
        let mut schema = Schema::of(&program);
        if let Some(name) = name {
            name.clone_into(&mut schema.name);
        }
        let mut fresh = device.build(&program)?;
        for table in schema.tables.values_mut() {
            if let Kind::Register(first) = &mut table.kind {
                let query = Query::Register { name: table.inner.clone(), index: 0 };
                if let Ok(Reply::Register(words)) = control::read(&mut fresh, &query) {
                    *first = words.into_iter().map(|word| word.0).collect();
                }
            }
        }
        Ok((Running { program, schema: Arc::new(schema) }, fresh))
    }

    /// The program that a configuration means.
    ///
    /// # Errors
    /// It names another than the one that runs and brings no text.
    pub fn program_of(
        &self,
        config: &bfrt::ForwardingPipelineConfig,
    ) -> Result<Arc<Program>, Failure> {
        let [first, others @ ..] = &config.profiles[..] else { return self.named(config) };
        if others.iter().any(|other| other.binary != first.binary) {
            let why = "pipes that run different programs: all of this switch run one";
            return Err(Failure::unimplemented(why));
        }
        match std::str::from_utf8(&first.binary) {
            Ok(text) if !text.trim().is_empty() => {
                compiled(text.as_bytes(), self.program.options()).map(Arc::new)
            }
            _ => self.named(config),
        }
    }

    fn named(&self, config: &bfrt::ForwardingPipelineConfig) -> Result<Arc<Program>, Failure> {
        if config.p4_name == self.schema.name {
            return Ok(self.program.clone());
        }
        Err(Failure::invalid(format!(
            "this switch runs `{}`; of `{}` it needs the P4 text, as a profile's binary",
            self.schema.name, config.p4_name
        )))
    }
}

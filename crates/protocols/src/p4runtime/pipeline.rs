//! Pipeline configuration from a controller: the program that it selects, and its P4Info.
//!
//! The device configuration has three forms. It is the text of a P4 program, the output of p4c's
//! bmv2 back end, of which only the program's name counts, or empty for the running program.
//! Includes of a text resolve only in the switch's own include folders.

use super::schema::Schema;
use crate::failure::Failure;
use crate::wire::p4::v1::ForwardingPipelineConfig;
use prost::Message;
use sojourn_p4::preprocess::SourceLoader;
use sojourn_target::{LoadError, LoadOptions, Program};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// File name of a text that a controller sends; further texts of the same request are numbered.
fn pushed(at: usize) -> String {
    if at == 0 { "pushed.p4".to_owned() } else { format!("pushed-{at}.p4") }
}

/// Wrapper that some controllers put around the JSON (`p4.tmp.P4DeviceConfig`).
#[derive(Clone, PartialEq, Message)]
struct WrappedConfig {
    #[prost(bool, tag = "1")]
    reassign: bool,
    #[prost(bytes = "vec", tag = "3")]
    data: Vec<u8>,
}

/// Programs that a controller may name, and options for compiling texts.
#[derive(Clone, Debug, Default)]
pub struct KnownPrograms {
    /// Programs by name; the first is the one with which the switch was started.
    pub programs: Vec<Arc<Program>>,
    /// Compiler options.
    pub options: LoadOptions,
}

/// A pipeline that can run.
#[derive(Debug)]
pub struct Pipeline {
    /// Configuration as set.
    pub config: ForwardingPipelineConfig,
    /// Its program.
    pub program: Arc<Program>,
    /// Its objects.
    pub schema: Arc<Schema>,
}

impl Pipeline {
    /// The pipeline of the program that runs before a controller sets one, with a generated P4Info.
    ///
    /// # Errors
    /// P4Runtime cannot represent an object of the program.
    pub fn of_program(program: &Arc<Program>) -> Result<Pipeline, Failure> {
        let info = crate::p4info(&program.schema());
        let schema = Schema::new(info.clone(), &program.describe())?;
        let config = ForwardingPipelineConfig { p4info: Some(info), ..Default::default() };
        Ok(Pipeline { config, program: program.clone(), schema: schema.into() })
    }

    /// Pipeline of a configuration.
    ///
    /// # Errors
    /// There is none, or its P4Info is of another program.
    pub fn new(
        config: ForwardingPipelineConfig,
        known: &KnownPrograms,
        running: Option<&Arc<Program>>,
    ) -> Result<Pipeline, Failure> {
        let program = program(&config.p4_device_config, known, running)?;
        let description = program.describe();
        let info = match &config.p4info {
            Some(info) => info.clone(),
            None => return Err(Failure::invalid("a pipeline without P4Info")),
        };
        let schema = Arc::new(Schema::new(info, &description)?);
        Ok(Pipeline { config, program, schema })
    }
}

fn program(
    config: &[u8],
    known: &KnownPrograms,
    running: Option<&Arc<Program>>,
) -> Result<Arc<Program>, Failure> {
    if config.is_empty() {
        let missing = "no program runs: set `p4_device_config` to the text of one";
        return running.cloned().ok_or_else(|| Failure::invalid(missing));
    }
    // No text begins with the tag of that message's first or second field.
    let wrapped = matches!(config.first(), Some(0x08 | 0x1a));
    let wrapped = wrapped.then(|| WrappedConfig::decode(config).ok()).flatten();
    let config = wrapped.as_ref().map_or(config, |wrapped| wrapped.data.as_slice());
    let Ok(text) = std::str::from_utf8(config) else {
        let why = "`p4_device_config` is neither P4 text nor the JSON of p4c's bmv2 back end";
        return Err(Failure::invalid(why));
    };
    if text.trim_start().starts_with('{') {
        return named(text, known);
    }
    compiled(text.as_bytes(), 0, &known.options).map(Arc::new)
}

/// Compiles a program from its text; `at` is its index in the request.
///
/// # Errors
/// Compiles a text, or returns the compiler's message.
pub(crate) fn compiled(text: &[u8], at: usize, options: &LoadOptions) -> Result<Program, Failure> {
    let name = pushed(at);
    let loader = PushedProgram { text, name: &name, folders: &options.include_paths };
    let refused = |error: LoadError| Failure::invalid(error.render(&Default::default()));
    Program::compile(&loader, &name, options).map_err(refused)
}

/// Program named in the JSON of bmv2's back end.
fn named(text: &str, known: &KnownPrograms) -> Result<Arc<Program>, Failure> {
    let json: serde_json::Value = serde_json::from_str(text)
        .map_err(|error| Failure::invalid(format!("`p4_device_config` is no JSON: {error}")))?;
    let Some(name) = json.get("program").and_then(|name| name.as_str()) else {
        return Err(Failure::invalid("`p4_device_config` is JSON without `program`: not bmv2's"));
    };
    let stem = |path: &Path| path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let wanted = stem(Path::new(name));
    let found = known.programs.iter().find(|program| stem(program.path()) == wanted);
    found.cloned().ok_or_else(|| {
        let names: Vec<_> = known.programs.iter().filter_map(|p| stem(p.path())).collect();
        Failure::invalid(format!(
            "bmv2's JSON names `{name}`; this switch knows {}. Push the P4 text itself, or start \
             the switch with that program",
            if names.is_empty() { "no program".to_owned() } else { names.join(", ") }
        ))
    })
}

/// A text in memory, with includes from the include folders.
struct PushedProgram<'a> {
    text: &'a [u8],
    name: &'a str,
    folders: &'a [PathBuf],
}

impl SourceLoader for PushedProgram<'_> {
    fn load(&self, path: &Path) -> io::Result<Vec<u8>> {
        if path == Path::new(self.name) {
            return Ok(self.text.to_vec());
        }
        // A path sent by a client must not reach other files of this machine by `..` or a link.
        let real = path.canonicalize()?;
        let inside =
            |folder: &PathBuf| folder.canonicalize().is_ok_and(|folder| real.starts_with(folder));
        if self.folders.iter().any(inside) {
            std::fs::read(real)
        } else {
            Err(io::ErrorKind::NotFound.into())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_p4runtime_cannot_express_is_reported_with_the_reason() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let include_paths = vec![root.join("p4/include"), root.join("tests/stf/v1model")];
        let options = LoadOptions { include_paths, ..sojourn_engine::builtin::load_options() };
        let text = std::fs::read_to_string(root.join("tests/stf/v1model/wire.p4")).unwrap();
        let of = |text: &str| {
            let program =
                compiled(text.as_bytes(), 0, &options).unwrap_or_else(|no| panic!("{}", no.why));
            Pipeline::of_program(&Arc::new(program))
        };
        assert!(of(&text).is_ok());
        let header = "@controller_header(\"packet_by\") header by_h { bit<8> how; }\n";
        let behind = text.rfind("#include").and_then(|at| Some(at + text[at..].find('\n')? + 1));
        let mut with = text.clone();
        with.insert_str(behind.unwrap(), header);
        let refused = of(&with).unwrap_err();
        assert!(refused.why.contains("no packet has a header `packet_by`"), "{}", refused.why);
    }
}

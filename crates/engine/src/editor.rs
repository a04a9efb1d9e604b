//! Analysis of a program for an editor: diagnostics, the meaning of each name, and the stages.
//!
//! Unsaved texts replace files.

use serde_json::{Value, json};
use sojourn_p4::check::{Named, names};
use sojourn_p4::diagnostic::{Diagnostic, to_json_string};
use sojourn_p4::parse::parse_program;
use sojourn_p4::preprocess::{MemoryLoader, OverlayLoader, PreprocessOptions};
use sojourn_p4::source::{SourceMap, Span};
use sojourn_target::{LoadOptions, Program};
use std::path::{Path, PathBuf};

/// The whole analysis as JSON: `diagnostics`, `names`, `target`, `stages`.
///
/// Positions are path, line and column from 1, and the line and column behind the end.
///
/// ```
/// use sojourn_engine::editor::inspect;
/// let unsaved = vec![("new.p4".into(), "const bit<8> ONE = two;".to_owned())];
/// let diagnostics_json = inspect("new.p4".as_ref(), &sojourn_engine::builtin::load_options(), unsaved);
/// assert_eq!(diagnostics_json["diagnostics"][0]["severity"], "error");
/// ```
pub fn inspect(path: &Path, options: &LoadOptions, texts: Vec<(PathBuf, String)>) -> Value {
    let mut memory = MemoryLoader::new();
    for (path, text) in texts {
        memory = memory.with(path, text);
    }
    let loader = OverlayLoader(memory);
    let mut defines = options.defines.clone();
    let (diagnostics, target, stages) = match Program::compile(&loader, path, options) {
        Err(error) => {
            (diagnostics_json(&error.diagnostics, &error.sources), Value::Null, Value::Null)
        }
        Ok(program) => {
            let checked = program.check();
            let stages = checked.stages.and_then(|stages| serde_json::from_str(&stages.json).ok());
            let macros = program.target().macros().iter();
            defines.extend(macros.map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
            let found = diagnostics_json(&checked.diagnostics, program.source_map());
            (found, program.target().name().into(), stages.unwrap_or(Value::Null))
        }
    };
    json!({
        "diagnostics": diagnostics,
        "names": all_names(&loader, path, options, defines),
        "target": target,
        "stages": stages,
    })
}

fn diagnostics_json(found: &[Diagnostic], sources: &SourceMap) -> Value {
    serde_json::from_str(&to_json_string(found, sources)).unwrap_or(Value::Null)
}

/// Names that occur literally in files, outside macros.
fn all_names(
    loader: &OverlayLoader,
    path: &Path,
    options: &LoadOptions,
    defines: Vec<(String, String)>,
) -> Vec<Value> {
    let preprocess = PreprocessOptions {
        include_paths: options.include_paths.clone(),
        defines,
        ..PreprocessOptions::default()
    };
    let (tree, sources, _) = parse_program(loader, path, &preprocess);
    let found = names(&tree, &sources);
    let written = found.iter().filter(|name| sources.expansions(name.at).is_empty());
    written.filter_map(|name| one_name(name, &sources)).collect()
}

fn one_name(name: &Named, sources: &SourceMap) -> Option<Value> {
    let place = |span: Span| {
        let at = sources.location(span)?;
        Some(json!({
            "path": &*at.path,
            "line": at.line,
            "column": at.column,
            "end_line": at.end_line,
            "end_column": at.end_column,
        }))
    };
    Some(json!({
        "name": sources.text(name.at),
        "at": place(name.at)?,
        "declared": place(name.declared)?,
        "kind": name.kind,
        "type": name.ty,
    }))
}

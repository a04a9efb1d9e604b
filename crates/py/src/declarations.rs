//! What a P4 program declares for its control plane: tables with keys and actions, constants.
//!
//! It stands on the language crate alone and knows no architecture.

use crate::errors::ProgramError;
use pyo3::prelude::*;
use serde_json::{Value, json};
use sojourn_p4::compile;
use sojourn_p4::diagnostic::{RenderOptions, to_json_string};
use sojourn_p4::ir::{Program, Table};
use sojourn_p4::preprocess::PreprocessOptions;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The declarations of the program at `path`, as JSON.
#[pyfunction]
pub fn declarations(
    py: Python<'_>,
    path: PathBuf,
    include_paths: Vec<PathBuf>,
    defines: BTreeMap<String, String>,
) -> PyResult<String> {
    let defines = defines.into_iter().collect();
    let options = PreprocessOptions { include_paths, defines, ..PreprocessOptions::default() };
    py.detach(|| match compile(&path, &options) {
        Ok(compiled) => Ok(describe(&compiled.program).to_string()),
        Err(error) => Err(ProgramError::new_err((
            error.text(&RenderOptions::default()),
            to_json_string(&error.diagnostics, &error.sources),
        ))),
    })
}

fn describe(program: &Program) -> Value {
    // Numbers of any width, so as text.
    let constants: BTreeMap<&str, String> =
        program.constants.iter().map(|(name, value)| (&**name, value.to_string())).collect();
    json!({
        "constants": constants,
        "tables": program.tables.iter().map(table).collect::<Vec<_>>(),
    })
}

fn table(table: &Table) -> Value {
    let keys = table.keys.iter().map(|key| {
        json!({
            "name": &*key.name,
            "match_kind": &*key.match_kind,
            "width": key.expr.scalar.width(),
        })
    });
    let actions = table.actions.iter().map(|action| {
        let parameters: Vec<&str> = action.data.iter().map(|(name, _)| &**name).collect();
        json!({
            "name": &*action.name,
            "parameters": parameters,
            "default_only": action.default_only,
        })
    });
    json!({
        "name": &*table.name,
        "keys": keys.collect::<Vec<_>>(),
        "actions": actions.collect::<Vec<_>>(),
        "size": table.size,
        "const_entries": table.const_entries,
    })
}

//! Names of steps in the estimate, and their positions in the source.

use serde::Serialize;
use sojourn_p4::source::{SourceMap, Span};

pub(super) const PASSES: [&str; 2] = ["ingress", "egress"];

/// A place in the source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct At {
    /// The file.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
}

/// Id of a node.
pub(super) fn id(pass: usize, node: usize) -> String {
    format!("{}.{node}", PASSES[pass])
}

/// The place of a span.
pub(super) fn at(sources: &SourceMap, span: Span) -> Option<At> {
    let location = sources.location(span)?;
    Some(At { file: location.path.to_string(), line: location.line, column: location.column })
}

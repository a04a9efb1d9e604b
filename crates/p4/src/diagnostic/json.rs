//! Diagnostics as JSON for editors and other tools.
//!
//! One object per diagnostic; places are paths with lines and columns counted from 1, ends
//! excluded. Names and meaning of the keys are stable.

use super::Diagnostic;
use crate::source::{Location, SourceMap, Span};
use serde_json::{Value, json};

/// One diagnostic.
pub fn to_json(diagnostic: &Diagnostic, sources: &SourceMap) -> Value {
    let labels: Vec<Value> = diagnostic
        .labels
        .iter()
        .map(|label| json!({ "place": place(label.span, sources), "text": label.text }))
        .collect();
    let suggestions: Vec<Value> = diagnostic
        .suggestions
        .iter()
        .map(|suggestion| {
            json!({
                "place": place(suggestion.span, sources),
                "replacement": suggestion.replacement,
                "text": suggestion.text,
            })
        })
        .collect();
    let expansions: Vec<Value> = sources
        .expansions(diagnostic.primary)
        .iter()
        .map(|expansion| {
            let (site, definition) = (expansion.site, expansion.definition);
            json!({
                "macro": &*expansion.name,
                "site": place(site, sources),
                "definition": place(definition, sources),
            })
        })
        .collect();
    json!({
        "severity": diagnostic.severity.to_string(),
        "code": diagnostic.code,
        "message": diagnostic.message,
        "place": place(diagnostic.primary, sources),
        "label": diagnostic.label,
        "labels": labels,
        "notes": diagnostic.notes,
        "help": diagnostic.help,
        "suggestions": suggestions,
        "expansions": expansions,
        "included_from": sources.includes(diagnostic.primary).iter().map(point).collect::<Vec<_>>(),
    })
}

/// All diagnostics as one JSON array in a string.
pub fn to_json_string(diagnostics: &[Diagnostic], sources: &SourceMap) -> String {
    Value::Array(diagnostics.iter().map(|d| to_json(d, sources)).collect()).to_string()
}

fn place(span: Span, sources: &SourceMap) -> Value {
    sources.location(span).as_ref().map_or(Value::Null, point)
}

fn point(location: &Location) -> Value {
    json!({
        "path": &*location.path,
        "line": location.line,
        "column": location.column,
        "end_line": location.end_line,
        "end_column": location.end_column,
    })
}

//! Explanations of the targets' rules, and their list.

use pyo3::prelude::*;

use sojourn_tofino::rules;

/// Explanation of a target's rule as text; `None` if there is no such rule.
#[pyfunction]
pub fn explain(code: &str) -> Option<String> {
    sojourn_engine::builtin::TARGETS.rule(code).map(|rule| rule.explanation())
}

/// The rules of the chip as text, one a line.
#[pyfunction]
pub fn rule_list() -> String {
    rules::list()
}

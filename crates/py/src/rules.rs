//! The story of a target's rule, and the list of them.

use pyo3::prelude::*;

use sojourn_tofino::rules;

/// The story of a rule of a target as text; none if there is no such rule.
#[pyfunction]
pub fn explain(code: &str) -> Option<String> {
    sojourn_engine::builtin::TARGETS.rule(code).map(|rule| rule.explanation())
}

/// The rules of the chip, one a line, as text.
#[pyfunction]
pub fn rule_list() -> String {
    rules::list()
}

//! `simple_switch_CLI` commands as a Python object, for a remote switch.

use crate::errors::ConfigError;
use pyo3::prelude::*;
use sojourn_control::commands::{Request, Session, without_comment};
use std::fmt::Display;
use std::sync::{Mutex, PoisonError};

fn wrong(error: impl Display) -> PyErr {
    ConfigError::new_err(error.to_string())
}

/// A session of commands against a program, given by its description in JSON.
#[pyclass(module = "sojourn._core", frozen)]
pub struct Commands {
    session: Mutex<Session>,
}

#[pymethods]
impl Commands {
    #[new]
    fn new(description: &str) -> PyResult<Commands> {
        let program = serde_json::from_str(description).map_err(wrong)?;
        Ok(Commands { session: Mutex::new(Session::new(program)) })
    }

    /// Operations of a line, and its queries each with the name of its object, as JSON.
    fn read(&self, line: &str) -> PyResult<(String, String)> {
        let mut session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut operations, mut queries) = (Vec::new(), Vec::new());
        for asked in session.run(without_comment(line)).map_err(wrong)? {
            match asked {
                Request::Operation(operation) => operations.push(operation),
                Request::Question(question) => queries.extend(question.queries()),
            }
        }
        let json = |text: serde_json::Result<String>| text.map_err(wrong);
        let operations = json(serde_json::to_string(&operations))?;
        Ok((operations, json(serde_json::to_string(&queries))?))
    }
}

/// A line without its comment.
#[pyfunction]
#[pyo3(name = "without_comment")]
pub fn uncommented(line: &str) -> &str {
    without_comment(line).trim()
}

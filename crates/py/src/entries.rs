//! Table entries as rows, and the text of commands, passed from a file to a run outside its JSON.
//!
//! They bypass the JSON because they are large.

use crate::packet_switch::wrong;
use pyo3::prelude::*;
use sojourn_control::ControlPlane;
use sojourn_p4::interp::tables::Rows;
use std::sync::Arc;

/// Entries of a table, in their order.
#[pyclass(module = "sojourn._core", frozen)]
pub struct Entries {
    pub rows: Vec<Arc<Rows>>,
}

#[pymethods]
impl Entries {
    /// Number of entries.
    fn __len__(&self) -> usize {
        self.rows.iter().map(|rows| rows.len()).sum()
    }

    /// All entries as a list in JSON, in the control plane's form.
    fn json(&self) -> PyResult<String> {
        let mut entries = Vec::with_capacity(self.__len__());
        for rows in &self.rows {
            for entry in sojourn_control::expand_rows(rows) {
                let mut entry = serde_json::to_value(entry).map_err(wrong)?;
                if let Some(said) = entry.as_object_mut() {
                    said.retain(|_, value| value.as_object().is_none_or(|map| !map.is_empty()));
                    if !rows.template().prioritised {
                        said.remove("priority");
                    }
                }
                entries.push(entry);
            }
        }
        serde_json::to_string(&entries).map_err(wrong)
    }
}

/// A text that Python holds without reading it.
#[pyclass(module = "sojourn._core", frozen)]
pub struct Text {
    pub text: Arc<str>,
}

#[pymethods]
impl Text {
    #[new]
    fn new(text: &str) -> Text {
        Text { text: text.into() }
    }

    fn __str__(&self) -> &str {
        &self.text
    }
}

/// Entries or a text.
#[derive(FromPyObject)]
pub enum EntriesOrText<'py> {
    /// Entries of a table.
    Entries(PyRef<'py, Entries>),
    /// The text of commands.
    Text(PyRef<'py, Text>),
}

impl EntriesOrText<'_> {
    /// Inserts it into a control plane: entries into the table with this index, the text into the
    /// commands. `None` if there is no such table.
    pub fn put_into(&self, control: &mut ControlPlane, table: usize) -> Option<()> {
        match self {
            EntriesOrText::Entries(entries) => {
                control.tables.get_mut(table)?.rows.clone_from(&entries.rows);
            }
            EntriesOrText::Text(text) => control.commands.as_mut()?.text = text.text.clone(),
        }
        Some(())
    }
}

/// Extracts entries in plain form from a control plane's TOML: returns the remaining text, and for
/// each `[[tables]]` its leading entries that were extracted, if any. Nothing is extracted from
/// text that is not UTF-8.
#[pyfunction]
pub fn take_entries(py: Python<'_>, text: &[u8]) -> (String, Vec<Option<Entries>>) {
    let taken =
        std::str::from_utf8(text).map(|text| py.detach(|| sojourn_control::take_entries(text)));
    let taken = taken.unwrap_or_default();
    let given = |rows: Vec<Arc<Rows>>| (!rows.is_empty()).then_some(Entries { rows });
    (taken.left, taken.tables.into_iter().map(given).collect())
}

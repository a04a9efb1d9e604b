//! Operations from Python to a switch: as JSON, with entries of one shape as rows.

use crate::packet_switch::{read, wrong};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyInt, PyString};
use smallvec::{SmallVec, smallvec};
use sojourn_control::{Operation, append, expand_rows};
use sojourn_engine::control::BatchError;
use sojourn_p4::interp::tables::{Form, Rows};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Operations in order.
///
/// Consecutive entries of one Python form, thousands in a loop, are converted at once; all other
/// operations remain JSON until they are executed.
#[pyclass(module = "sojourn._core", frozen)]
#[derive(Default)]
pub struct Operations {
    list: Mutex<OperationList>,
}

#[derive(Default)]
struct OperationList {
    pieces: Vec<Piece>,
    /// Python form of the last entry, if further entries can share it.
    like: Option<Written>,
}

enum Piece {
    /// One operation.
    Json(String),
    /// Entries of a table.
    Entries(String, Arc<Rows>),
}

#[pymethods]
impl Operations {
    #[new]
    fn new() -> Operations {
        Operations::default()
    }

    /// Number of operations.
    fn __len__(&self) -> usize {
        self.list().pieces.iter().map(Piece::count).sum()
    }

    /// Appends an operation in JSON.
    fn add(&self, operation: String) {
        let mut list = self.list();
        list.pieces.push(Piece::Json(operation));
        list.like = None;
    }

    /// Registers the Python form of the last added entry, and the full names of the key elements of
    /// `matched`, in its order: further entries of the same form are added as rows.
    fn written_as(
        &self,
        matched: &Bound<'_, PyAny>,
        action: &Bound<'_, PyString>,
        args: Option<&Bound<'_, PyAny>>,
        keys: Vec<String>,
    ) {
        // An entry of another form is passed as JSON.
        let _ = self.list().written_as(matched, action, args, &keys);
    }

    /// Appends an entry of the same form as the last one; false, without effect, if it has another.
    fn another(
        &self,
        table: &Bound<'_, PyString>,
        matched: &Bound<'_, PyAny>,
        action: &Bound<'_, PyString>,
        args: Option<&Bound<'_, PyAny>>,
        priority: &Bound<'_, PyAny>,
    ) -> bool {
        self.list().another(table, matched, action, args, priority).is_some()
    }

    /// All operations as a list in JSON.
    fn __str__(&self) -> PyResult<String> {
        let mut all = Vec::new();
        for piece in &self.list().pieces {
            match piece {
                Piece::Json(text) => all.push(text.clone()),
                Piece::Entries(table, rows) => {
                    for entry in expand_rows(rows) {
                        let operation = Operation::AddEntry { table: table.clone(), entry };
                        all.push(serde_json::to_string(&operation).map_err(wrong)?);
                    }
                }
            }
        }
        Ok(format!("[{}]", all.join(",")))
    }
}

impl Operations {
    fn list(&self) -> MutexGuard<'_, OperationList> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Piece {
    fn count(&self) -> usize {
        match self {
            Piece::Json(_) => 1,
            Piece::Entries(_, rows) => rows.len(),
        }
    }
}

impl OperationList {
    fn written_as(
        &mut self,
        matched: &Bound<'_, PyAny>,
        action: &Bound<'_, PyString>,
        args: Option<&Bound<'_, PyAny>>,
        keys: &[String],
    ) -> Option<()> {
        let Piece::Json(text) = self.pieces.last()? else { return None };
        let mut entry = Vec::with_capacity(1);
        append(&mut entry, serde_json::from_str(text).ok()?);
        let Some(Operation::AddEntries { table, rows }) = entry.pop() else { return None };
        self.like = Some(Written::new(&rows, matched, action, args, keys)?);
        *self.pieces.last_mut()? = Piece::Entries(table, rows);
        Some(())
    }

    fn another(
        &mut self,
        table: &Bound<'_, PyString>,
        matched: &Bound<'_, PyAny>,
        action: &Bound<'_, PyString>,
        args: Option<&Bound<'_, PyAny>>,
        priority: &Bound<'_, PyAny>,
    ) -> Option<()> {
        let like = self.like.as_ref()?;
        let Some(Piece::Entries(name, rows)) = self.pieces.last_mut() else { return None };
        if table.to_str().ok()? != name {
            return None;
        }
        let numbers = like.numbers(matched, action, args, priority)?;
        Arc::get_mut(rows)?.push(numbers);
        Some(())
    }
}

/// Python form of an entry, and the positions of its numbers in a row.
struct Written {
    keys: Vec<(Py<PyString>, usize, Form)>,
    action: Py<PyString>,
    args: Vec<(Py<PyString>, usize)>,
    priority: Option<usize>,
    width: usize,
}

impl Written {
    fn new(
        rows: &Rows,
        matched: &Bound<'_, PyAny>,
        action: &Bound<'_, PyString>,
        args: Option<&Bound<'_, PyAny>>,
        names: &[String],
    ) -> Option<Written> {
        let template = rows.template();
        let place = |of: &str| {
            let nth = template.keys.iter().position(|(name, _)| name == of)?;
            let before = template.keys[..nth].iter().map(|(_, form)| form.numbers()).sum();
            Some((before, template.keys[nth].1))
        };
        let mut keys = Vec::with_capacity(names.len());
        for ((written, _), name) in matched.cast_exact::<PyDict>().ok()?.iter().zip(names) {
            let (at, form) = place(name)?;
            keys.push((written.cast_into::<PyString>().ok()?.unbind(), at, form));
        }
        let first = template.keys.iter().map(|(_, form)| form.numbers()).sum::<usize>();
        let mut given = Vec::new();
        if let Some(args) = args {
            for (written, _) in args.cast_exact::<PyDict>().ok()?.iter() {
                let written = written.cast_into::<PyString>().ok()?;
                let nth =
                    template.args.iter().position(|name| written.to_str().ok() == Some(name))?;
                given.push((written.unbind(), first + nth));
            }
        }
        let whole = keys.len() == template.keys.len() && given.len() == template.args.len();
        let priority = template.prioritised.then(|| first + given.len());
        let action = action.clone().unbind();
        whole.then_some(Written { keys, action, args: given, priority, width: template.width() })
    }

    /// The row of an entry of this form; `None` for another form.
    fn numbers(
        &self,
        matched: &Bound<'_, PyAny>,
        action: &Bound<'_, PyString>,
        args: Option<&Bound<'_, PyAny>>,
        priority: &Bound<'_, PyAny>,
    ) -> Option<SmallVec<[u128; 8]>> {
        same(action, &self.action).then_some(())?;
        let mut numbers: SmallVec<[u128; 8]> = smallvec![0; self.width];
        let matched = matched.cast_exact::<PyDict>().ok()?;
        (matched.len() == self.keys.len()).then_some(())?;
        for ((name, value), (known, at, form)) in matched.iter().zip(&self.keys) {
            same(&name, known).then_some(())?;
            match names_of(*form) {
                None => numbers[*at] = number(&value)?,
                Some(names) => {
                    let value = value.cast_exact::<PyDict>().ok()?;
                    (value.len() == names.len()).then_some(())?;
                    for (nth, name) in names.into_iter().enumerate() {
                        numbers[at + nth] = number(&value.get_item(name).ok()??)?;
                    }
                }
            }
            if *form == Form::Prefix {
                u32::try_from(numbers[at + 1]).ok()?;
            }
        }
        match args {
            None => self.args.is_empty().then_some(())?,
            Some(args) => {
                let args = args.cast_exact::<PyDict>().ok()?;
                (args.len() == self.args.len()).then_some(())?;
                for ((name, value), (known, at)) in args.iter().zip(&self.args) {
                    same(&name, known).then_some(())?;
                    numbers[*at] = number(&value)?;
                }
            }
        }
        let priority = u32::try_from(number(priority)?).ok()?;
        match self.priority {
            Some(at) => numbers[at] = priority.into(),
            None => (priority == 0).then_some(())?,
        }
        Some(numbers)
    }
}

/// Names of the two numbers of a form; `None` if it has one.
fn names_of(form: Form) -> Option<[&'static str; 2]> {
    match form {
        Form::Exact => None,
        Form::Ternary => Some(["value", "mask"]),
        Form::Prefix => Some(["value", "prefix"]),
        Form::Range => Some(["low", "high"]),
    }
}

/// Most names are the same object.
fn same(name: &Bound<'_, PyAny>, known: &Py<PyString>) -> bool {
    name.is(known) || name.eq(known).unwrap_or(false)
}

/// An integer of 0 to 128 bits; booleans are excluded.
fn number(value: &Bound<'_, PyAny>) -> Option<u128> {
    let value = value.cast_exact::<PyInt>().ok()?;
    value.extract::<u64>().map(u128::from).or_else(|_| value.extract()).ok()
}

/// Operations passed from Python.
#[derive(FromPyObject)]
pub enum OperationsArg<'py> {
    /// A collected list.
    OperationList(PyRef<'py, Operations>),
    /// A list in JSON.
    Json(String),
}

impl OperationsArg<'_> {
    /// All operations.
    pub fn read(self) -> PyResult<Vec<Operation>> {
        let list = match self {
            OperationsArg::Json(text) => return read(&text),
            OperationsArg::OperationList(list) => list,
        };
        let mut all = Vec::new();
        for piece in &list.list().pieces {
            match piece {
                Piece::Json(text) => append(&mut all, read(text)?),
                Piece::Entries(table, rows) => {
                    let (table, rows) = (table.clone(), rows.clone());
                    all.push(Operation::AddEntries { table, rows });
                }
            }
        }
        Ok(all)
    }
}

/// Converts the rejection of a batch to an exception. For a single operation it omits the index.
pub fn batch_refused(batch: &[Operation]) -> impl Fn(BatchError) -> PyErr {
    let count: usize = batch.iter().map(Operation::count).sum();
    move |refused| match count {
        1 => wrong(refused.error),
        _ => wrong(refused),
    }
}

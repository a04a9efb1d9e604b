//! Measurement rows as Python `bytes`, one per column, little-endian as in Arrow, with the
//! descriptions of the columns.
//!
//! pyarrow builds a table from them without copying (`arrow_tables.py`). The copy here takes 0.02
//! us a row, and writing a row to Parquet 0.25 us; the crate `arrow` with its dozen dependencies
//! would save only the former.

use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use sojourn_engine::RegisterRows;
use sojourn_engine::replay::TraceRows;
use sojourn_net::records::{Column, ColumnFormat, Rows, Values};
use sojourn_net::{CapturedFrame, DatagramRows, ExchangeRows, FlowRows, PacketRows, Verdict};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Rows of one kind. A column's bytes are built on request, by the requesting thread: a run that
/// continues does not wait for the processing of its rows.
#[pyclass(frozen, eq, module = "sojourn._core")]
pub struct Columns {
    rows: Box<dyn AnyRows>,
}

impl PartialEq for Columns {
    /// True if both have the same rows of one kind.
    fn eq(&self, other: &Columns) -> bool {
        self.rows.columns() == other.rows.columns() && self.rows.values() == other.rows.values()
    }
}

/// Rows of any kind.
trait AnyRows: Send + Sync {
    fn columns(&self) -> &'static [Column];
    fn values(&self) -> Vec<Values<'_>>;
}

impl<R: Rows + Send + Sync> AnyRows for R {
    fn columns(&self) -> &'static [Column] {
        R::COLUMNS
    }

    fn values(&self) -> Vec<Values<'_>> {
        Rows::values(self)
    }
}

impl Columns {
    /// Stores rows until their columns are requested.
    pub fn new(rows: impl Rows + Send + Sync + 'static) -> Columns {
        Columns { rows: Box::new(rows) }
    }

    /// Columns of a run's packets, whose memory returns to the run afterwards.
    pub fn of_packets(rows: PacketRows, room: &PacketRoom) -> Columns {
        Columns { rows: Box::new(Returned { rows, to: room.clone() }) }
    }
}

/// Memory of processed packet rows, for reuse: allocating new memory costs a run more than filling
/// it.
#[derive(Clone, Default)]
pub struct PacketRoom(Arc<Mutex<Vec<PacketRows>>>);

impl PacketRoom {
    /// Number of row batches that a run may be ahead of their writer.
    const MOST: usize = 8;

    /// A free buffer, if there is any.
    pub fn take(&self) -> Option<PacketRows> {
        self.rooms().pop()
    }

    fn rooms(&self) -> MutexGuard<'_, Vec<PacketRows>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Packet rows that return their memory on drop.
struct Returned {
    rows: PacketRows,
    to: PacketRoom,
}

impl AnyRows for Returned {
    fn columns(&self) -> &'static [Column] {
        PacketRows::COLUMNS
    }

    fn values(&self) -> Vec<Values<'_>> {
        Rows::values(&self.rows)
    }
}

impl Drop for Returned {
    fn drop(&mut self) {
        let mut rooms = self.to.rooms();
        if rooms.len() < PacketRoom::MOST {
            rooms.push(std::mem::take(&mut self.rows));
        }
    }
}

#[pymethods]
impl Columns {
    /// Number of rows.
    #[getter]
    fn count(&self) -> usize {
        self.rows.values().first().map_or(0, Values::len)
    }

    /// A column's bytes.
    fn __getitem__<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyBytes>> {
        let place = self.rows.columns().iter().position(|column| column.name == name);
        let place = place.ok_or_else(|| PyKeyError::new_err(name.to_owned()))?;
        bytes(py, self.rows.values()[place])
    }
}

/// The columns of rows by name.
pub fn columns<'py, R: Rows>(py: Python<'py>, rows: &R) -> PyResult<Bound<'py, PyDict>> {
    let columns = PyDict::new(py);
    for (column, values) in R::COLUMNS.iter().zip(rows.values()) {
        columns.set_item(column.name, bytes(py, values)?)?;
    }
    Ok(columns)
}

fn bytes<'py>(py: Python<'py>, values: Values) -> PyResult<Bound<'py, PyBytes>> {
    match values {
        Values::U8(values) => Ok(PyBytes::new(py, values)),
        Values::U32(values) => little_endian(py, values, u32::to_le_bytes),
        Values::U64(values) => little_endian(py, values, u64::to_le_bytes),
    }
}

fn little_endian<'py, T: Copy, const N: usize>(
    py: Python<'py>,
    values: &[T],
    to_bytes: fn(T) -> [u8; N],
) -> PyResult<Bound<'py, PyBytes>> {
    PyBytes::new_with(py, values.len() * N, |buffer| {
        for (place, value) in buffer.chunks_exact_mut(N).zip(values) {
            place.copy_from_slice(&to_bytes(*value));
        }
        Ok(())
    })
}

/// A column: name, bits of a value, `number`, `time` or `name`, unit, meaning.
type Described = (&'static str, u8, &'static str, &'static str, &'static str);

fn described(columns: &[Column]) -> Vec<Described> {
    let one = |column: &Column| {
        let format = match column.format {
            ColumnFormat::Number => "number",
            ColumnFormat::Time => "time",
            ColumnFormat::Name => "name",
        };
        (column.name, column.bits, format, column.unit, column.meaning)
    };
    columns.iter().map(one).collect()
}

/// The columns of each kind of rows: name, bits of a value, how it is shown (`number`, `time`,
/// `name`), unit, meaning.
#[pyfunction]
pub fn row_columns(rows: &str) -> Option<Vec<Described>> {
    Some(described(match rows {
        "packets" => PacketRows::COLUMNS,
        "flows" => FlowRows::COLUMNS,
        "exchanges" => ExchangeRows::COLUMNS,
        "datagrams" => DatagramRows::COLUMNS,
        "registers" => RegisterRows::COLUMNS,
        "trace" => TraceRows::COLUMNS,
        _ => return None,
    }))
}

/// Names of packet verdicts, by the number in the rows.
#[pyfunction]
pub fn verdicts() -> [&'static str; Verdict::NAMES.len()] {
    Verdict::NAMES
}

/// Time in ns, capture point, bytes, length on the wire.
pub type Frame<'py> = (u64, u8, Bound<'py, PyBytes>, u32);

/// Captured frames.
pub fn frames<'py>(py: Python<'py>, frames: &[CapturedFrame]) -> Vec<Frame<'py>> {
    frames
        .iter()
        .map(|f| (f.time, f.point as u8, PyBytes::new(py, &f.bytes), f.original_len))
        .collect()
}

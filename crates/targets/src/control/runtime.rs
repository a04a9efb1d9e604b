//! What a control plane can do to a loaded program while packets pass.
//!
//! Implemented by each architecture beside [`DataPlane`](crate::DataPlane). Tables are reached
//! directly; registers, counters and the rest by their names, or as much of the end as is unique.

use super::data::ControlPlane;
use super::error::ControlError;
use super::install::{fits, unknown};
use num_bigint::BigUint;
use sojourn_p4::interp::Tables;
use sojourn_p4::ir::{ObjectId, Program};
use std::sync::Arc;

/// One cell of a counter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Packets counted.
    pub packets: u64,
    /// Bytes counted.
    pub bytes: u64,
}

/// The way into a running program.
pub trait RuntimeControl {
    /// The program.
    fn program(&self) -> &Arc<Program>;

    /// Its tables and value sets.
    fn tables(&mut self) -> &mut Tables;

    /// Installs what `control` says, in addition to what is there.
    ///
    /// # Errors
    /// The first item that does not fit the program; what came before it stays.
    fn configure(&mut self, control: &ControlPlane) -> Result<(), ControlError>;

    /// One cell of a register, one number for each field of a pair.
    ///
    /// # Errors
    /// There is no such register or no such cell.
    fn read_register(&self, name: &str, index: usize) -> Result<Vec<BigUint>, ControlError>;

    /// Sets one cell of a register, or all of them, cut to the register's width.
    ///
    /// # Errors
    /// There is no such register or no such cell.
    fn write_register(
        &mut self,
        name: &str,
        index: Option<usize>,
        value: &[BigUint],
    ) -> Result<(), ControlError>;

    /// One cell of a counter; of a direct counter, the table entry with that handle.
    ///
    /// # Errors
    /// There is no such counter or no such cell.
    fn read_counter(&self, name: &str, index: usize) -> Result<Count, ControlError>;

    /// Sets one cell of a counter, or all of them.
    ///
    /// # Errors
    /// There is no such counter or no such cell.
    fn write_counter(
        &mut self,
        name: &str,
        index: Option<usize>,
        count: Count,
    ) -> Result<(), ControlError>;

    /// The first thing that the program did and the target cannot do, if there was one.
    fn fault(&self) -> Option<String> {
        None
    }
}

/// The object of one of the kinds `of` whose name is, or ends in, `name`.
///
/// # Errors
/// There is none; `what` and the nearest name are in the message.
pub fn find_object(
    program: &Program,
    what: &'static str,
    of: &[&str],
    name: &str,
) -> Result<ObjectId, ControlError> {
    let objects = program.objects.iter().enumerate().filter(|(_, o)| of.contains(&&*o.of));
    let known: Vec<(usize, &str)> = objects.map(|(at, object)| (at, &*object.name)).collect();
    let exact = known.iter().find(|(_, known)| *known == name);
    match exact.or_else(|| known.iter().find(|(_, known)| fits(known, name))) {
        Some((at, _)) => Ok(ObjectId(*at as u32)),
        None => {
            let names: Vec<&str> = known.iter().map(|(_, name)| *name).collect();
            Err(unknown(what, name, &names))
        }
    }
}

/// `found`, or that `what` `name` has no cell `index`.
///
/// # Errors
/// Nothing was found.
pub fn cell<T>(
    found: Option<T>,
    what: &'static str,
    name: &str,
    index: usize,
) -> Result<T, ControlError> {
    found.ok_or_else(|| ControlError::Cell { what, name: name.to_owned(), index })
}

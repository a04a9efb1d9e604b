//! What a control plane can do to a loaded program while packets pass.
//!
//! Implemented by each architecture beside [`DataPlane`](sojourn_packet::DataPlane). Tables are reached
//! directly; registers, counters and the rest by their names, or as much of the end as is unique.

use crate::control::{ControlError, ControlPlane, Number, TableEntry};
use crate::externs::counter::{Count, Counter};
use crate::externs::meter::Meter;
use crate::profiles::{GROUP, Profiles};
use num_bigint::BigUint;
use sojourn_p4::diagnostic::near_name;
use sojourn_p4::interp::Tables;
use sojourn_p4::interp::tables::{EntrySpec, EntryTarget};
use sojourn_p4::ir::Program;
use std::any::Any;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The way into a running program.
pub trait RuntimeControl {
    /// The program.
    fn program(&self) -> &Arc<Program>;

    /// Its tables and value sets.
    fn tables(&mut self) -> &mut Tables;

    /// What every architecture has beside registers.
    fn parts(&mut self) -> Parts<'_>;

    /// A register with all its cells, to be put back.
    ///
    /// # Errors
    /// There is no such register.
    fn save_register(&self, name: &str) -> Result<Box<dyn Any + Send>, ControlError>;

    /// Makes a register what it was when it was saved.
    fn restore_register(&mut self, name: &str, saved: Box<dyn Any + Send>);

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

/// What a control plane can change in a program of any architecture.
#[derive(Debug)]
pub struct Parts<'p> {
    /// Tables and value sets.
    pub tables: &'p mut Tables,
    /// Action profiles and selectors.
    pub profiles: &'p mut Profiles,
    /// Counters by name.
    pub counters: &'p mut [(Arc<str>, Counter)],
    /// Meters by name.
    pub meters: &'p mut [(Arc<str>, Meter)],
}

/// An entry as the tables take it; none unless it names exactly one of action, member and group.
pub fn entry_spec(entry: &TableEntry) -> Option<EntrySpec> {
    let target = match (&entry.action, entry.member, entry.group) {
        (Some(action), None, None) => EntryTarget::Action(action.clone(), named(&entry.args)),
        (None, Some(member), None) => EntryTarget::Reference(member),
        (None, None, Some(group)) => EntryTarget::Reference(group | GROUP),
        _ => return None,
    };
    let keys = entry.matches.iter().map(|(key, value)| (key.clone(), value.to_match())).collect();
    Some(EntrySpec { keys, target, priority: -i64::from(entry.priority) })
}

/// Arguments of an action as the tables take them.
pub fn named(args: &BTreeMap<String, Number>) -> Vec<(String, BigUint)> {
    args.iter().map(|(name, value)| (name.clone(), value.0.clone())).collect()
}

/// Where the name is that is, or ends in, the wanted one.
///
/// # Errors
/// There is none; `what` and the nearest name are in the message.
pub fn find_name<'a>(
    names: impl Iterator<Item = &'a str> + Clone,
    what: &'static str,
    wanted: &str,
) -> Result<usize, ControlError> {
    let exact = names.clone().position(|name| name == wanted);
    let end = |name: &str| name.strip_suffix(wanted).is_some_and(|rest| rest.ends_with('.'));
    let found = exact.or_else(|| names.clone().position(end));
    found.ok_or_else(|| {
        let near = near_name(wanted, names).map(String::from);
        ControlError::Unknown { what, name: wanted.to_owned(), near }
    })
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

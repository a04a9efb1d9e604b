//! Control-plane operations on a loaded program while packets pass.
//!
//! Each architecture implements them together with [`DataPlane`](sojourn_packet::DataPlane). Tables
//! are accessed directly; registers, counters and other objects by full name or by a unique suffix.

use crate::digest::Digest;
use crate::profiles::{GROUP, Profiles};
use crate::snapshot::Snapshots;
use crate::{ControlError, ControlPlane, DefaultEntry, HashRead, NamedValues, Number, TableEntry};
use num_bigint::BigUint;
use sojourn_externs::counter::{Count, Counter};
use sojourn_externs::filter::Filter;
use sojourn_externs::hash_setting::HashSetting;
use sojourn_externs::meter::Meter;
use sojourn_p4::diagnostic::near_name;
use sojourn_p4::interp::Tables;
use sojourn_p4::interp::tables::{EntryHandle, EntrySpec, EntryTarget};
use sojourn_p4::ir::{Program, TableId};
use sojourn_packet::Time;
use std::any::Any;
use std::sync::Arc;

/// Control-plane access to a running program.
pub trait RuntimeControl {
    /// The program.
    fn program(&self) -> &Arc<Program>;

    /// Its tables and value sets.
    fn tables(&mut self) -> &mut Tables;

    /// Objects that every architecture has, registers excepted.
    fn parts(&mut self) -> Parts<'_>;

    /// Its registers, in the order of the program.
    fn registers(&mut self) -> Vec<&mut dyn RegisterCells>;

    /// Whether the cells of a counter, by its index in [`Parts`], belong to table entries and are
    /// created on first access.
    fn counts_entries(&self, _counter: usize) -> bool {
        false
    }

    /// The same for a meter.
    fn meters_entries(&self, _meter: usize) -> bool {
        false
    }

    /// The same for a filter.
    fn filters_entries(&self, _filter: usize) -> bool {
        false
    }

    /// The value of a constant that registers take from the control plane (`RegisterParam`).
    ///
    /// # Errors
    /// There is no such constant.
    fn parameter(&self, name: &str) -> Result<u32, ControlError> {
        Err(ControlError::unknown("register parameter", name, &[]))
    }

    /// Sets such a constant.
    ///
    /// # Errors
    /// There is no such constant.
    fn set_parameter(&mut self, name: &str, _value: u32) -> Result<(), ControlError> {
        Err(ControlError::unknown("register parameter", name, &[]))
    }

    /// Sets a hash; returns the previous setting.
    ///
    /// # Errors
    /// There is no such hash, or the setting is not possible.
    fn set_hash(
        &mut self,
        name: &str,
        _setting: &HashSetting,
    ) -> Result<HashSetting, ControlError> {
        Err(ControlError::unknown("hash", name, &[]))
    }

    /// Setting of a hash, and its result for one number per input that is not a constant.
    ///
    /// # Errors
    /// There is no such hash, or an input is invalid.
    fn hash(&self, name: &str, _inputs: &[BigUint]) -> Result<HashRead, ControlError> {
        Err(ControlError::unknown("hash", name, &[]))
    }

    /// Sets the 64 bits of a port's metadata; returns the previous ones.
    ///
    /// # Errors
    /// There is no such port, or the target has no port metadata.
    fn set_port_metadata(&mut self, _port: u16, _value: u64) -> Result<u64, ControlError> {
        Err(ControlError::Message("ports of this target have no metadata of their own".to_owned()))
    }

    /// Messages of the program to its control plane since the last call; the oldest are lost if
    /// there were too many.
    fn take_digests(&mut self) -> Vec<Digest> {
        Vec::new()
    }

    /// Starts recording the hits of a table. False if this target cannot.
    fn note_hits(&mut self, _table: TableId) -> bool {
        false
    }

    /// Time of an entry's last hit since recording began.
    fn last_hit(&self, _table: TableId, _entry: EntryHandle) -> Option<Time> {
        None
    }

    /// Its snapshots; none if this target has no stages.
    fn snapshots(&mut self) -> Option<&mut Snapshots> {
        None
    }

    /// The first fault of the program, if there was one.
    fn fault(&self) -> Option<String> {
        None
    }

    /// Installs `control` in addition to the present state.
    ///
    /// # Errors
    /// Returns an error for the first item that does not fit the program; the ones before it
    /// remain.
    fn configure(&mut self, control: &ControlPlane) -> Result<(), ControlError>
    where
        Self: Sized,
    {
        control.batch(RuntimeControl::program(self))?.install(self)
    }

    /// One cell of a register, one number for each field of a pair.
    ///
    /// # Errors
    /// There is no such register or no such cell.
    fn read_register(&mut self, name: &str, index: usize) -> Result<Vec<BigUint>, ControlError> {
        let register = find_register(self.registers(), name)?;
        cell(register.read(index), "register", register.name(), index)
    }

    /// Sets one cell of a register, or all of them, cut to the register's width.
    ///
    /// # Errors
    /// There is no such register or no such cell.
    fn write_register(
        &mut self,
        name: &str,
        index: Option<usize>,
        value: &[BigUint],
    ) -> Result<(), ControlError> {
        let register = find_register(self.registers(), name)?;
        let cells = match index {
            Some(index) => index..=index,
            None if register.cells() == 0 => return Ok(()),
            None => 0..=register.cells() - 1,
        };
        for index in cells {
            let written = register.write(index, value).then_some(());
            cell(written, "register", register.name(), index)?;
        }
        Ok(())
    }

    /// One cell of a counter; of a direct counter, the table entry with that handle.
    ///
    /// # Errors
    /// There is no such counter or no such cell.
    fn read_counter(&mut self, name: &str, index: usize) -> Result<Count, ControlError> {
        let at = find_counter(self.parts().counters, name)?;
        // A direct counter grows when its entries are hit.
        let missing = self.counts_entries(at).then(Count::default);
        let (name, counter) = &self.parts().counters[at];
        cell(counter.get(index).or(missing), "counter", name, index)
    }

    /// Sets one cell of a counter, or all of them.
    ///
    /// # Errors
    /// There is no such counter or no such cell.
    fn write_counter(
        &mut self,
        name: &str,
        index: Option<usize>,
        count: Count,
    ) -> Result<(), ControlError> {
        let at = find_counter(self.parts().counters, name)?;
        let grows = self.counts_entries(at);
        let (name, counter) = &mut self.parts().counters[at];
        if let (true, Some(index @ ..=LAST_HANDLE)) = (grows, index) {
            counter.grow(index + 1);
        }
        cell(counter.set(index, count).then_some(()), "counter", name, index.unwrap_or(0))
    }
}

/// Handles of table entries have 24 bits, as in bmv2.
pub const LAST_HANDLE: usize = (1 << 24) - 1;

/// Control-plane view of a register: cells of one number, or one for each field.
pub trait RegisterCells {
    /// Its full name.
    fn name(&self) -> &str;

    /// Number of cells.
    fn cells(&self) -> usize;

    /// One cell; none beyond the register.
    fn read(&self, index: usize) -> Option<Vec<BigUint>>;

    /// Sets one cell, cut to the register's width; false beyond the register.
    fn write(&mut self, index: usize, value: &[BigUint]) -> bool;

    /// A copy of all cells, for `restore`.
    fn save(&self) -> Box<dyn Any + Send>;

    /// Cells that differ from the saved copy, which is then updated.
    fn changes(&self, saved: &mut (dyn Any + Send)) -> Vec<usize>;

    /// Restores a saved copy.
    fn restore(&mut self, saved: Box<dyn Any + Send>);
}

/// The register with this name or suffix.
pub fn find_register<'p>(
    registers: Vec<&'p mut dyn RegisterCells>,
    name: &str,
) -> Result<&'p mut dyn RegisterCells, ControlError> {
    let names: Vec<&str> = registers.iter().map(|register| register.name()).collect();
    let at = find_name(names.iter().copied(), "register", name)?;
    let mut registers = registers;
    Ok(registers.swap_remove(at))
}

/// Index of the counter with this name or with a name that ends in it.
pub fn find_counter(counters: &[(Arc<str>, Counter)], name: &str) -> Result<usize, ControlError> {
    find_name(counters.iter().map(|(known, _)| &**known), "counter", name)
}

/// Registers of one kind in the control-plane view.
pub fn as_cells<R: RegisterCells>(registers: &mut [R]) -> Vec<&mut dyn RegisterCells> {
    registers.iter_mut().map(|register| register as &mut dyn RegisterCells).collect()
}

/// State of a program of any architecture that a control plane can change.
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
    /// Low-pass filters and random early detection by name.
    pub filters: &'p mut [(Arc<str>, Filter)],
}

/// An entry in the tables' form; `None` unless it names exactly one of action, member and group.
pub fn entry_spec(entry: &TableEntry) -> Option<EntrySpec> {
    let target = target(entry.action.as_deref(), &entry.args, (entry.member, entry.group))?;
    let keys =
        entry.matches.iter().map(|(key, value)| (key.to_owned(), value.to_match())).collect();
    Some(EntrySpec { keys, target, priority: rank(entry.priority, entry.rank) })
}

/// Default entry in the tables' form; `None` unless it names exactly one of action, member and
/// group.
pub fn default_target(entry: &DefaultEntry) -> Option<EntryTarget> {
    target(entry.action.as_deref(), &entry.args, (entry.member, entry.group))
}

fn target(
    action: Option<&str>,
    args: &NamedValues<Number>,
    (member, group): (Option<u32>, Option<u32>),
) -> Option<EntryTarget> {
    match (action, member, group) {
        (Some(action), None, None) => Some(EntryTarget::Action(action.to_owned(), named(args))),
        (None, Some(member), None) => Some(EntryTarget::Reference(member)),
        (None, None, Some(group)) => Some(EntryTarget::Reference(group | GROUP)),
        _ => None,
    }
}

/// A priority or a rank in the tables' form: the highest wins.
pub fn rank(priority: u32, rank: Option<i32>) -> i64 {
    rank.map_or(-i64::from(priority), i64::from)
}

/// Arguments of an action in the tables' form.
pub fn named(args: &NamedValues<Number>) -> Vec<(String, BigUint)> {
    args.iter().map(|(name, value)| (name.to_owned(), value.0.clone())).collect()
}

/// Index of the name that equals, or ends in, the wanted one.
///
/// ```
/// use sojourn_control::runtime_control::find_name;
/// let names = ["Ingress.codel.count", "Ingress.codel.dropping"];
/// assert_eq!(find_name(names.into_iter(), "register", "codel.dropping")?, 1);
/// let wrong = find_name(names.into_iter(), "register", "cuont").unwrap_err();
/// assert!(wrong.to_string().contains("count"), "{wrong}");
/// # Ok::<(), sojourn_control::ControlError>(())
/// ```
///
/// # Errors
/// There is none; the message contains `what` and the nearest name.
pub fn find_name<'a>(
    names: impl Iterator<Item = &'a str> + Clone,
    what: &'static str,
    wanted: &str,
) -> Result<usize, ControlError> {
    let exact = names.clone().position(|name| name == wanted);
    let end = |name: &str| name.strip_suffix(wanted).is_some_and(|rest| rest.ends_with('.'));
    let found = exact.or_else(|| names.clone().position(end));
    found.ok_or_else(|| {
        // The wanted name is a suffix: it is compared with suffixes of as many components.
        let parts = wanted.split('.').count();
        let tail = |name: &'a str| match name.rmatch_indices('.').nth(parts - 1) {
            Some((dot, _)) => &name[dot + 1..],
            None => name,
        };
        let near = near_name(wanted, names.map(tail)).map(String::from);
        ControlError::Unknown { what, name: wanted.to_owned(), near }
    })
}

/// `found`, or an error that `what` `name` has no cell `index`.
///
/// # Errors
/// `found` is `None`.
pub fn cell<T>(
    found: Option<T>,
    what: &'static str,
    name: &str,
    index: usize,
) -> Result<T, ControlError> {
    found.ok_or_else(|| ControlError::Cell { what, name: name.to_owned(), index })
}

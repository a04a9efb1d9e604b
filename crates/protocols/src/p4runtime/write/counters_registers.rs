//! Updates of cells of counters and registers.

use super::Writer;
use crate::failure::Failure;
use crate::wire::p4::v1 as p4;
use sojourn_control::{Number, Operation};
use tonic::Code;

/// Cell of an index in an array of `size`; `None` for all.
///
/// # Errors
/// It is negative, or beyond the array.
pub fn cell(index: Option<&p4::Index>, size: u64) -> Result<Option<usize>, Failure> {
    let Some(index) = index else { return Ok(None) };
    match u64::try_from(index.index) {
        Err(_) => Err(Failure::invalid(format!("the index {} is negative", index.index))),
        Ok(index) if index >= size => {
            let why = format!("there are {size} cells: none has the index {index}");
            Err(Failure::new(Code::OutOfRange, why))
        }
        Ok(index) => Ok(Some(index as usize)),
    }
}

impl Writer<'_> {
    /// An update of a counter.
    pub(super) fn counter(&mut self, given: &p4::CounterEntry) -> Result<(), Failure> {
        let missing = || Failure::no("counter", given.counter_id);
        let known = self.schema.counters.get(&given.counter_id).ok_or_else(missing)?;
        if known.table.is_some() {
            return Err(missing());
        }
        let index = cell(given.index.as_ref(), known.size)?;
        match &given.data {
            Some(data) => self.count(given.counter_id, index, data),
            None => Ok(()),
        }
    }

    /// An update of a register.
    pub(super) fn register(&mut self, given: &p4::RegisterEntry) -> Result<(), Failure> {
        let schema = self.schema;
        let known = schema.registers.get(&given.register_id);
        let known = known.ok_or_else(|| Failure::no("register", given.register_id))?;
        let index = cell(given.index.as_ref(), known.size)?;
        let mut numbers = Vec::new();
        known.leaf.decode(given.data.as_ref(), &mut numbers)?;
        let value = numbers.into_iter().map(Number).collect();
        let name = known.name.clone();
        self.apply(&Operation::WriteRegister { name, index, value }).map(|_| ())
    }
}

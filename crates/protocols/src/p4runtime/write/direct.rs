//! Direct counters and meters of table entries.

use super::Writer;
use crate::failure::Failure;
use crate::p4runtime::schema::Table;
use crate::wire::p4::v1 as p4;
use sojourn_control::Operation;

impl Writer<'_> {
    /// Sets an entry's direct counter and meter from its message; a new entry's are 0 and
    /// unconfigured.
    pub(super) fn configure_direct(
        &mut self,
        table: &Table,
        handle: u32,
        given: &p4::TableEntry,
        is_new: bool,
    ) -> Result<(), Failure> {
        if let Some(counter) = table.counter {
            let nothing = is_new.then(p4::CounterData::default);
            if let Some(data) = given.counter_data.or(nothing) {
                self.count(counter, Some(handle as usize), &data)?;
            }
        }
        match table.meter {
            Some(meter) => self.meter_cell(meter, handle as usize, given.meter_config.as_ref()),
            None => Ok(()),
        }
    }

    /// Table and handle of the entry of a direct resource.
    fn entry_of(&mut self, given: Option<&p4::TableEntry>) -> Result<(&Table, u32), Failure> {
        let given = given.ok_or_else(|| Failure::invalid("no table entry is named"))?;
        let schema = self.schema;
        let table = schema.table(given.table_id)?;
        if given.is_default_action {
            let why = "a direct counter or meter of a default action is not counted here";
            return Err(Failure::unimplemented(why));
        }
        let handle = self.handle(table, given)?;
        Ok((table, handle))
    }

    /// An update of a direct counter.
    pub(super) fn direct_counter(&mut self, given: &p4::DirectCounterEntry) -> Result<(), Failure> {
        let (table, handle) = self.entry_of(given.table_entry.as_ref())?;
        let missing = || Failure::invalid(format!("table `{}` has no direct counter", table.name));
        let counter = table.counter.ok_or_else(missing)?;
        match &given.data {
            Some(data) => self.count(counter, Some(handle as usize), data),
            None => Ok(()),
        }
    }

    /// An update of a direct meter.
    pub(super) fn direct_meter(&mut self, given: &p4::DirectMeterEntry) -> Result<(), Failure> {
        if given.counter_data.is_some() {
            return Err(Failure::unimplemented("meters do not count by colour"));
        }
        let (table, handle) = self.entry_of(given.table_entry.as_ref())?;
        let missing = || Failure::invalid(format!("table `{}` has no direct meter", table.name));
        let meter = table.meter.ok_or_else(missing)?;
        self.meter_cell(meter, handle as usize, given.config.as_ref())
    }

    /// Sets a cell of a counter, or all of them.
    pub(super) fn count(
        &mut self,
        counter: u32,
        index: Option<usize>,
        data: &p4::CounterData,
    ) -> Result<(), Failure> {
        let schema = self.schema;
        let known = schema.counters.get(&counter).ok_or_else(|| Failure::no("counter", counter))?;
        let (Ok(packets), Ok(bytes)) =
            (u64::try_from(data.packet_count), u64::try_from(data.byte_count))
        else {
            return Err(Failure::invalid("a counter does not count less than nothing"));
        };
        let name = known.name.clone();
        self.apply(&Operation::WriteCounter { name, index, packets, bytes }).map(|_| ())
    }
}

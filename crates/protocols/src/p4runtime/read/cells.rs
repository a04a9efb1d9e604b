//! Reads of cells: counters, meters and registers.
//!
//! A piece of work names a range of cells that one step between two packets may read.

use super::Reader;
use crate::failure::Failure;
use crate::wire::p4::v1 as p4;
use crate::wire::p4::v1::entity::Entity;
use sojourn_control::{Query, Reply};
use sojourn_engine::control;
use std::ops::Range;
use tonic::Code;

fn at(index: usize) -> Option<p4::Index> {
    Some(p4::Index { index: index as i64 })
}

impl Reader<'_> {
    /// Cells of a counter; none if the program has no such counter.
    pub(super) fn counter_cells(
        &mut self,
        id: u32,
        cells: Range<usize>,
    ) -> Result<Vec<Entity>, Failure> {
        let Some(known) = self.schema.counters.get(&id) else { return Ok(Vec::new()) };
        let mut cell = |index| {
            let (data, index) = (Some(self.count(&known.name, index)?), at(index));
            Ok(Entity::CounterEntry(p4::CounterEntry { counter_id: id, index, data }))
        };
        cells.map(&mut cell).collect()
    }

    /// Cells of a meter; none if the program has no such meter.
    pub(super) fn meter_cells(
        &mut self,
        id: u32,
        cells: Range<usize>,
    ) -> Result<Vec<Entity>, Failure> {
        let Some(known) = self.schema.meters.get(&id) else { return Ok(Vec::new()) };
        let mut cell = |index| {
            let config = self.meter(&known.name, index)?;
            let (index, counter_data) = (at(index), None);
            Ok(Entity::MeterEntry(p4::MeterEntry { meter_id: id, index, config, counter_data }))
        };
        cells.map(&mut cell).collect()
    }

    /// Cells of a register; none if the program has no such register.
    pub(super) fn register_cells(
        &mut self,
        id: u32,
        cells: Range<usize>,
    ) -> Result<Vec<Entity>, Failure> {
        let Some(known) = self.schema.registers.get(&id) else { return Ok(Vec::new()) };
        let mut entities = Vec::new();
        for index in cells {
            let query = Query::Register { name: known.name.clone(), index };
            let Reply::Register(numbers) = control::read(self.switch, &query)? else { continue };
            let mut numbers = numbers.into_iter().map(|number| number.0);
            let data = Some(known.leaf.encode(&mut numbers));
            let index = at(index);
            entities.push(Entity::RegisterEntry(p4::RegisterEntry {
                register_id: id,
                index,
                data,
            }));
        }
        Ok(entities)
    }

    /// Count of a counter's cell.
    pub(super) fn count(&mut self, name: &str, index: usize) -> Result<p4::CounterData, Failure> {
        let query = Query::Counter { name: name.to_owned(), index };
        Ok(match control::read(self.switch, &query)? {
            Reply::Counter(count) => p4::CounterData {
                byte_count: i64::try_from(count.bytes).unwrap_or(i64::MAX),
                packet_count: i64::try_from(count.packets).unwrap_or(i64::MAX),
            },
            _ => p4::CounterData::default(),
        })
    }

    /// Configuration of a meter's cell, if it is set.
    pub(super) fn meter(
        &mut self,
        name: &str,
        index: usize,
    ) -> Result<Option<p4::MeterConfig>, Failure> {
        let query = Query::Meter { name: name.to_owned(), index };
        let number = |value| i64::try_from(value).unwrap_or(i64::MAX);
        match control::read(self.switch, &query).map_err(Failure::from) {
            Ok(Reply::Meter(spec)) => Ok(Some(p4::MeterConfig {
                cir: number(spec.cir),
                cburst: number(spec.cbs),
                pir: number(spec.pir),
                pburst: number(spec.pbs),
                eburst: 0,
            })),
            // A cell that was never configured has no configuration.
            Err(failure) if failure.code == Code::OutOfRange => Ok(None),
            Ok(_) => Ok(None),
            Err(failure) => Err(failure),
        }
    }
}

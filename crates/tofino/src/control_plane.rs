//! A running TNA program as its control plane reaches it.
//!
//! Uses the runtime's registers and counters. Writes are synchronised with packets by the caller
//! only: a write between two packets is visible to the second.

use super::pipeline::Tofino;
use super::runtime::RegisterState;
use num_bigint::BigUint;
use sojourn_control::digest::Digest;
use sojourn_control::runtime_control::{
    LAST_HANDLE, Parts, RegisterCells, RuntimeControl, as_cells, find_name,
};
use sojourn_control::snapshot::Snapshots;
use sojourn_control::{ControlError, HashRead};
use sojourn_externs::hash_setting::HashSetting;
use sojourn_p4::interp::Tables;
use sojourn_p4::interp::tables::EntryHandle;
use sojourn_p4::ir::{ObjectId, Program, TableId};
use sojourn_packet::Time;
use std::any::Any;
use std::sync::Arc;

impl RuntimeControl for Tofino {
    fn program(&self) -> &Arc<Program> {
        Tofino::program(self)
    }

    fn tables(&mut self) -> &mut Tables {
        &mut self.tables
    }

    fn parts(&mut self) -> Parts<'_> {
        let runtime = &mut self.runtime;
        Parts {
            tables: &mut self.tables,
            profiles: &mut runtime.profiles,
            counters: &mut runtime.counters,
            meters: &mut runtime.meters,
            filters: &mut runtime.filters,
        }
    }

    fn registers(&mut self) -> Vec<&mut dyn RegisterCells> {
        as_cells(&mut self.runtime.registers)
    }

    fn counts_entries(&self, counter: usize) -> bool {
        self.is_declared(&self.runtime.counters[counter].0, "DirectCounter")
    }

    fn meters_entries(&self, meter: usize) -> bool {
        self.is_declared(&self.runtime.meters[meter].0, "DirectMeter")
    }

    fn filters_entries(&self, filter: usize) -> bool {
        let name = &self.runtime.filters[filter].0;
        self.is_declared(name, "DirectLpf") || self.is_declared(name, "DirectWred")
    }

    fn parameter(&self, name: &str) -> Result<u32, ControlError> {
        let parameter = self.find_parameter(name)?;
        // A parameter that no register uses may have any value.
        let mut used = self.runtime.registers.iter().filter_map(|r| r.parameter(parameter));
        Ok(used.next().unwrap_or(0))
    }

    fn set_parameter(&mut self, name: &str, value: u32) -> Result<(), ControlError> {
        let parameter = self.find_parameter(name)?;
        let registers = self.runtime.registers.iter_mut();
        registers.for_each(|register| register.set_parameter(parameter, value));
        Ok(())
    }

    fn set_hash(&mut self, name: &str, setting: &HashSetting) -> Result<HashSetting, ControlError> {
        self.runtime.change_hash(name, setting)
    }

    fn hash(&self, name: &str, inputs: &[BigUint]) -> Result<HashRead, ControlError> {
        self.runtime.read_hash(name, inputs)
    }

    fn set_port_metadata(&mut self, port: u16, value: u64) -> Result<u64, ControlError> {
        let place = self.port_metadata.get_mut(usize::from(port));
        let place = place.ok_or_else(|| ControlError::unknown("port", &port.to_string(), &[]))?;
        Ok(std::mem::replace(place, value))
    }

    fn take_digests(&mut self) -> Vec<Digest> {
        self.runtime.digests.take()
    }

    fn note_hits(&mut self, table: TableId) -> bool {
        self.runtime.hits.begin(table);
        true
    }

    fn last_hit(&self, table: TableId, entry: EntryHandle) -> Option<Time> {
        self.runtime.hits.last(table, entry)
    }

    fn snapshots(&mut self) -> Option<&mut Snapshots> {
        Tofino::snapshots(self)
    }

    fn fault(&self) -> Option<String> {
        self.runtime.faults.first_drop().map(ToString::to_string)
    }
}

impl Tofino {
    /// Whether an object with this name is of an extern.
    fn is_declared(&self, name: &str, of: &str) -> bool {
        let objects = &Tofino::program(self).objects;
        objects.iter().any(|object| &*object.name == name && &*object.of == of)
    }

    /// The `RegisterParam` that a name, or the end of one, means.
    fn find_parameter(&self, name: &str) -> Result<ObjectId, ControlError> {
        let objects = Tofino::program(self).objects.iter().enumerate();
        let params: Vec<_> = objects.filter(|(_, object)| &*object.of == "RegisterParam").collect();
        let names = params.iter().map(|(_, object)| &*object.name);
        let at = find_name(names, "register parameter", name)?;
        Ok(ObjectId(params[at].0 as u32))
    }
}

impl RegisterCells for RegisterState {
    fn name(&self) -> &str {
        RegisterState::name(self)
    }

    fn cells(&self) -> usize {
        self.len()
    }

    fn read(&self, index: usize) -> Option<Vec<BigUint>> {
        // A direct register has cells where its table may have entries.
        let unmet = self.is_direct() && index <= LAST_HANDLE;
        let entry = self.get(index).or(unmet.then_some(self.compiled().initial))?;
        let shape = self.compiled().shape;
        if shape.joined {
            return Some(vec![BigUint::from(entry[1]) << 64 | BigUint::from(entry[0])]);
        }
        let words = if shape.dual { 2 } else { 1 };
        Some(entry[..words].iter().map(|word| BigUint::from(*word)).collect())
    }

    fn write(&mut self, index: usize, value: &[BigUint]) -> bool {
        if self.is_direct() && index <= LAST_HANDLE {
            self.grow(index);
        }
        let word = |at: usize| value.get(at).and_then(|v| v.iter_u64_digits().next()).unwrap_or(0);
        if self.compiled().shape.joined {
            let mut digits = value.first().into_iter().flat_map(|v| v.iter_u64_digits());
            let low = digits.next().unwrap_or(0);
            return self.set(index, [low, digits.next().unwrap_or(0)]);
        }
        self.set(index, [word(0), word(1)])
    }

    fn save(&self) -> Box<dyn Any + Send> {
        Box::new(self.clone())
    }

    fn changes(&self, saved: &mut (dyn Any + Send)) -> Vec<usize> {
        saved.downcast_mut().map(|saved| self.differs_from(saved)).unwrap_or_default()
    }

    fn restore(&mut self, saved: Box<dyn Any + Send>) {
        if let Ok(saved) = saved.downcast() {
            self.become_again(*saved);
        }
    }
}

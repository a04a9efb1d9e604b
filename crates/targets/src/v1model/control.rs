//! The control plane of a v1model program, before the first packet and while packets pass.

use super::pipeline::V1Model;
use super::runtime::RegisterArray;
use crate::control::{self, ControlError, ControlPlane, Objects, RegisterValue};
use crate::externs::counter::Count;
use crate::runtime_control::{Parts, RuntimeControl, cell, find_name};
use num_bigint::BigUint;
use sojourn_p4::interp::Tables;
use sojourn_p4::ir::Program;
use std::any::Any;
use std::sync::Arc;

impl V1Model {
    /// Installs everything that is the program's. What is refused leaves the rest installed.
    ///
    /// # Errors
    /// The first entry that does not fit the program, naming table, action or key.
    pub fn configure(&mut self, control: &ControlPlane) -> Result<(), ControlError> {
        let (tables, profiles) = (&mut self.tables, &mut self.runtime.profiles);
        let meters = &mut self.runtime.meters;
        control::install(control, &mut Objects { tables, profiles, meters })?;
        control.registers.iter().try_for_each(|value| self.set_register(value))
    }

    fn set_register(&mut self, given: &RegisterValue) -> Result<(), ControlError> {
        let value = std::slice::from_ref(&given.value.0);
        self.write_register(&given.name, given.index, value)
    }
}

impl RuntimeControl for V1Model {
    fn program(&self) -> &Arc<Program> {
        self.interpreter.program()
    }

    fn tables(&mut self) -> &mut Tables {
        &mut self.tables
    }

    fn configure(&mut self, control: &ControlPlane) -> Result<(), ControlError> {
        V1Model::configure(self, control)
    }

    fn parts(&mut self) -> Parts<'_> {
        let runtime = &mut self.runtime;
        Parts {
            tables: &mut self.tables,
            profiles: &mut runtime.profiles,
            counters: &mut runtime.counters,
            meters: &mut runtime.meters,
        }
    }

    fn save_register(&self, name: &str) -> Result<Box<dyn Any + Send>, ControlError> {
        let names = self.runtime.registers.iter().map(RegisterArray::name);
        let at = find_name(names, "register", name)?;
        Ok(Box::new(self.runtime.registers[at].clone()))
    }

    fn restore_register(&mut self, name: &str, saved: Box<dyn Any + Send>) {
        let names = self.runtime.registers.iter().map(RegisterArray::name);
        if let (Ok(at), Ok(saved)) = (find_name(names, "register", name), saved.downcast()) {
            self.runtime.registers[at] = *saved;
        }
    }

    fn read_register(&self, name: &str, index: usize) -> Result<Vec<BigUint>, ControlError> {
        let registers = &self.runtime.registers;
        let at = find_name(registers.iter().map(RegisterArray::name), "register", name)?;
        cell(registers[at].get(index), "register", registers[at].name(), index)
    }

    fn write_register(
        &mut self,
        name: &str,
        index: Option<usize>,
        value: &[BigUint],
    ) -> Result<(), ControlError> {
        let registers = &mut self.runtime.registers;
        let at = find_name(registers.iter().map(RegisterArray::name), "register", name)?;
        let register = &mut registers[at];
        let cells = index.map_or(0..register.len(), |index| index..index + 1);
        for index in cells {
            let done = register.set(index, value).then_some(());
            cell(done, "register", register.name(), index)?;
        }
        Ok(())
    }

    fn read_counter(&self, name: &str, index: usize) -> Result<Count, ControlError> {
        let counters = &self.runtime.counters;
        let at = find_name(counters.iter().map(|(name, _)| &**name), "counter", name)?;
        let (name, counter) = &counters[at];
        // A direct counter grows when its entries are hit.
        let missing = self.runtime.is_direct(at).then(Count::default);
        cell(counter.get(index).or(missing), "counter", name, index)
    }

    fn write_counter(
        &mut self,
        name: &str,
        index: Option<usize>,
        count: Count,
    ) -> Result<(), ControlError> {
        let counters = &self.runtime.counters;
        let at = find_name(counters.iter().map(|(name, _)| &**name), "counter", name)?;
        let direct = self.runtime.is_direct(at);
        let (name, counter) = &mut self.runtime.counters[at];
        if let (true, Some(index)) = (direct, index) {
            counter.grow(index + 1);
        }
        cell(counter.set(index, count).then_some(()), "counter", name, index.unwrap_or(0))
    }

    fn fault(&self) -> Option<String> {
        self.runtime.faults.first_drop().map(ToString::to_string)
    }
}

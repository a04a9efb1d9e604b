//! The control plane of an NPU program: its tables, and its memories as registers.

use super::memory::Memory;
use super::plane::Npu;
use crate::control::{self, ControlError, ControlPlane, Objects};
use crate::externs::counter::Count;
use crate::runtime_control::{Parts, RuntimeControl, cell, find_name};
use num_bigint::BigUint;
use sojourn_p4::interp::{Tables, arith};
use sojourn_p4::ir::Program;
use std::any::Any;
use std::sync::Arc;

impl Npu {
    fn memory(&self, name: &str) -> Result<usize, ControlError> {
        find_name(self.shared.memories.iter().map(|memory| &*memory.name), "register", name)
    }
}

fn no_counter(name: &str) -> ControlError {
    ControlError::Unknown { what: "counter", name: name.to_owned(), near: None }
}

impl RuntimeControl for Npu {
    fn program(&self) -> &Arc<Program> {
        self.interpreter.program()
    }

    fn tables(&mut self) -> &mut Tables {
        &mut self.tables
    }

    fn parts(&mut self) -> Parts<'_> {
        let (tables, profiles) = (&mut self.tables, &mut self.profiles);
        Parts { tables, profiles, counters: &mut [], meters: &mut [] }
    }

    fn save_register(&self, name: &str) -> Result<Box<dyn Any + Send>, ControlError> {
        Ok(Box::new(self.shared.memories[self.memory(name)?].clone()))
    }

    fn restore_register(&mut self, name: &str, saved: Box<dyn Any + Send>) {
        if let (Ok(at), Ok(saved)) = (self.memory(name), saved.downcast::<Memory>()) {
            self.shared.memories[at] = *saved;
        }
    }

    fn configure(&mut self, control: &ControlPlane) -> Result<(), ControlError> {
        let (tables, profiles) = (&mut self.tables, &mut self.profiles);
        control::install(control, &mut Objects { tables, profiles, meters: &mut [] })?;
        control.registers.iter().try_for_each(|given| {
            let value = std::slice::from_ref(&given.value.0);
            self.write_register(&given.name, given.index, value)
        })
    }

    fn read_register(&self, name: &str, index: usize) -> Result<Vec<BigUint>, ControlError> {
        let memory = &self.shared.memories[self.memory(name)?];
        let value = memory.get(index as u64).map(|value| vec![BigUint::from(value)]);
        cell(value, "register", &memory.name, index)
    }

    fn write_register(
        &mut self,
        name: &str,
        index: Option<usize>,
        value: &[BigUint],
    ) -> Result<(), ControlError> {
        let at = self.memory(name)?;
        let memory = &mut self.shared.memories[at];
        let value = value.first().map_or(0, |value| arith::narrowed(value) as u64);
        let cells = index.map_or(0..memory.len(), |index| index..index.saturating_add(1));
        for index in cells {
            let done = memory.set(index as u64, value).then_some(());
            cell(done, "register", &memory.name, index)?;
        }
        Ok(())
    }

    fn read_counter(&self, name: &str, _: usize) -> Result<Count, ControlError> {
        Err(no_counter(name))
    }

    fn write_counter(
        &mut self,
        name: &str,
        _: Option<usize>,
        _: Count,
    ) -> Result<(), ControlError> {
        Err(no_counter(name))
    }

    fn fault(&self) -> Option<String> {
        self.shared.faults.first_drop().map(ToString::to_string)
    }
}

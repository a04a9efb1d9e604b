//! A running TNA program as its control plane reaches it.
//!
//! Stands on the runtime's registers and counters. Writes are not synchronised with packets beyond
//! what the caller does: a write between two packets is seen by the second.

use super::pipeline::Tofino;
use super::runtime::RegisterState;
use crate::control::{ControlError, ControlPlane};
use crate::externs::counter::Count;
use crate::runtime_control::{Parts, RuntimeControl, cell, find_name};
use num_bigint::BigUint;
use sojourn_p4::interp::Tables;
use sojourn_p4::ir::Program;
use std::any::Any;
use std::sync::Arc;

impl RuntimeControl for Tofino {
    fn program(&self) -> &Arc<Program> {
        Tofino::program(self)
    }

    fn tables(&mut self) -> &mut Tables {
        &mut self.tables
    }

    fn configure(&mut self, control: &ControlPlane) -> Result<(), ControlError> {
        Tofino::configure(self, control)
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
        let names = self.runtime.registers.iter().map(RegisterState::name);
        let at = find_name(names, "register", name)?;
        Ok(Box::new(self.runtime.registers[at].clone()))
    }

    fn restore_register(&mut self, name: &str, saved: Box<dyn Any + Send>) {
        let names = self.runtime.registers.iter().map(RegisterState::name);
        if let (Ok(at), Ok(saved)) = (find_name(names, "register", name), saved.downcast()) {
            self.runtime.registers[at] = *saved;
        }
    }

    fn read_register(&self, name: &str, index: usize) -> Result<Vec<BigUint>, ControlError> {
        let at =
            find_name(self.runtime.registers.iter().map(RegisterState::name), "register", name)?;
        let register = &self.runtime.registers[at];
        let entry = cell(register.get(index), "register", register.name(), index)?;
        let words = if register.compiled().shape.dual { 2 } else { 1 };
        Ok(entry[..words].iter().map(|word| BigUint::from(*word)).collect())
    }

    fn write_register(
        &mut self,
        name: &str,
        index: Option<usize>,
        value: &[BigUint],
    ) -> Result<(), ControlError> {
        let at =
            find_name(self.runtime.registers.iter().map(RegisterState::name), "register", name)?;
        let register = &mut self.runtime.registers[at];
        let word = |at: usize| value.get(at).and_then(|v| v.iter_u32_digits().next()).unwrap_or(0);
        let entry = [word(0), word(1)];
        let cells = index.map_or(0..register.len(), |index| index..index + 1);
        for index in cells {
            let written = register.set(index, entry).then_some(());
            cell(written, "register", name, index)?;
        }
        Ok(())
    }

    fn read_counter(&self, name: &str, index: usize) -> Result<Count, ControlError> {
        let counters = &self.runtime.counters;
        let at = find_name(counters.iter().map(|(name, _)| &**name), "counter", name)?;
        cell(counters[at].1.get(index), "counter", &counters[at].0, index)
    }

    fn write_counter(
        &mut self,
        name: &str,
        index: Option<usize>,
        count: Count,
    ) -> Result<(), ControlError> {
        let counters = &mut self.runtime.counters;
        let at = find_name(counters.iter().map(|(name, _)| &**name), "counter", name)?;
        let written = counters[at].1.set(index, count).then_some(());
        cell(written, "counter", name, index.unwrap_or(0))
    }

    fn fault(&self) -> Option<String> {
        self.runtime.faults.first_drop().map(ToString::to_string)
    }
}

//! Control-plane access to an NPU program: its tables, and its memories as registers.

use super::memory::Memory;
use super::plane::Npu;
use num_bigint::BigUint;
use sojourn_control::runtime_control::{Parts, RegisterCells, RuntimeControl, as_cells};
use sojourn_p4::interp::{Tables, arith};
use sojourn_p4::ir::Program;
use std::any::Any;
use std::sync::Arc;

impl RuntimeControl for Npu {
    fn program(&self) -> &Arc<Program> {
        self.interpreter.program()
    }

    fn tables(&mut self) -> &mut Tables {
        &mut self.tables
    }

    fn parts(&mut self) -> Parts<'_> {
        let (tables, profiles) = (&mut self.tables, &mut self.profiles);
        Parts { tables, profiles, counters: &mut [], meters: &mut [], filters: &mut [] }
    }

    fn registers(&mut self) -> Vec<&mut dyn RegisterCells> {
        as_cells(&mut self.shared.memories)
    }

    fn fault(&self) -> Option<String> {
        self.shared.faults.first_drop().map(ToString::to_string)
    }
}

impl RegisterCells for Memory {
    fn name(&self) -> &str {
        &self.name
    }

    fn cells(&self) -> usize {
        self.len()
    }

    fn read(&self, index: usize) -> Option<Vec<BigUint>> {
        self.get(index as u64).map(|value| vec![BigUint::from(value)])
    }

    fn write(&mut self, index: usize, value: &[BigUint]) -> bool {
        let value = value.first().map_or(0, |value| arith::narrowed(value) as u64);
        self.set(index as u64, value)
    }

    fn save(&self) -> Box<dyn Any + Send> {
        Box::new(self.clone())
    }

    fn changes(&self, saved: &mut (dyn Any + Send)) -> Vec<usize> {
        saved.downcast_mut().map(|saved| self.differs_from(saved)).unwrap_or_default()
    }

    fn restore(&mut self, saved: Box<dyn Any + Send>) {
        if let Ok(saved) = saved.downcast() {
            *self = *saved;
        }
    }
}

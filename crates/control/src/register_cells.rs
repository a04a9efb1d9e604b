//! Control-plane view of the register arrays that architectures share.

use crate::runtime_control::RegisterCells;
use num_bigint::BigUint;
use sojourn_externs::register::RegisterArray;
use std::any::Any;

impl RegisterCells for RegisterArray {
    fn name(&self) -> &str {
        RegisterArray::name(self)
    }

    fn cells(&self) -> usize {
        self.len()
    }

    fn read(&self, index: usize) -> Option<Vec<BigUint>> {
        self.get(index)
    }

    fn write(&mut self, index: usize, value: &[BigUint]) -> bool {
        self.set(index, value)
    }

    fn save(&self) -> Box<dyn Any + Send> {
        Box::new(self.clone())
    }

    fn changes(&self, saved: &mut (dyn Any + Send)) -> Vec<usize> {
        saved.downcast_mut().map(|saved| self.differs_from(saved)).unwrap_or_default()
    }

    fn restore(&mut self, saved: Box<dyn Any + Send>) {
        if let Some(saved) = saved.downcast_ref() {
            self.take_over(saved);
        }
    }
}

//! Memory budget of a program's registers, counters and meters on this machine.
//!
//! Sizes come from the program's text, so they are added up before anything is allocated. A program
//! that is only checked has no cells at all. Architectures give the bytes of a cell.

use crate::arguments::ArgumentError;

/// Limit of all cells of a program, bytes.
const MOST_BYTES: u64 = 1 << 31;

/// Remaining bytes.
#[derive(Clone, Copy, Debug)]
pub struct MemoryBudget {
    left: u64,
    check_only: bool,
}

impl MemoryBudget {
    /// The budget of one program; no cells are allocated if it is only checked.
    pub fn new(check_only: bool) -> MemoryBudget {
        MemoryBudget { left: MOST_BYTES, check_only }
    }

    /// Takes `cells` cells of `bytes` bytes each off the budget. The answer is the number of cells to
    /// allocate.
    ///
    /// # Errors
    /// The program's cells take more than the budget.
    pub fn take(&mut self, cells: usize, bytes: u64) -> Result<usize, ArgumentError> {
        let wanted = u128::from(bytes) * cells as u128;
        let Some(left) =
            u64::try_from(wanted).ok().and_then(|wanted| self.left.checked_sub(wanted))
        else {
            return Err(ArgumentError(format!(
                "its {cells} cells take {wanted} bytes of memory, {} are left of the {MOST_BYTES} \
                 that all registers, counters and meters of a program may take",
                self.left
            )));
        };
        self.left = left;
        Ok(if self.check_only { 0 } else { cells })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_added_up_over_a_program_and_none_is_allocated_for_a_check() {
        for (check_only, allocated) in [(false, 1 << 20), (true, 0)] {
            let mut budget = MemoryBudget::new(check_only);
            for _ in 0..2 {
                assert_eq!(budget.take(1 << 20, 1 << 10), Ok(allocated));
            }
            assert!(budget.take(1, 1).is_err());
        }
    }

    #[test]
    fn no_number_of_cells_overflows_the_budget() {
        let mut budget = MemoryBudget::new(false);
        assert!(budget.take(usize::MAX, u64::MAX).is_err());
        assert_eq!(budget.take(1, 1), Ok(1));
    }
}

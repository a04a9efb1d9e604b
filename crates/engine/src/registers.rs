//! Traced registers of a run's programs as rows, numbered in the order of appearance.
//!
//! Uses the observations of [`Watched`]. Must not depend on files or Python.

use crate::Watched;

sojourn_net::rows! {
    /// Values of traced registers, each valid from a time on.
    pub struct RegisterRows {
        /// Time of the pass that set the value.
        time: u64 => .time().means("of the pass after which the value was there"),
        /// Index of the register in [`WatchedRegisters::names`].
        register: u32
            => .names().means("its full name, with the cell of one that has several"),
        /// The value.
        value: u64 => .means("from then on; of wider ones 64 bits"),
    }
}

/// Observations of a run's programs, if requested.
#[derive(Debug)]
pub struct WatchedRegisters {
    programs: Vec<Watched>,
    /// Registers in the order of appearance: program, and index in it.
    known: Vec<(usize, u32)>,
}

impl WatchedRegisters {
    /// Observations of `programs`.
    pub fn new(programs: Vec<Watched>) -> WatchedRegisters {
        WatchedRegisters { programs, known: Vec::new() }
    }

    /// The programs.
    pub fn programs(&self) -> &[Watched] {
        &self.programs
    }

    /// Changes of values since the last call.
    pub fn take(&mut self) -> RegisterRows {
        let mut rows = RegisterRows::default();
        for (program, watched) in self.programs.iter().enumerate() {
            for change in watched.take_changes() {
                let key = (program, change.name_index);
                let known = self.known.iter().position(|register| *register == key);
                let register = known.unwrap_or_else(|| {
                    self.known.push(key);
                    self.known.len() - 1
                });
                rows.time.push(change.at.0);
                rows.register.push(register as u32);
                rows.value.push(change.value);
            }
        }
        rows
    }

    /// Full names of the registers that have appeared in rows; with several programs each is
    /// prefixed with its program's number.
    pub fn names(&self) -> Vec<String> {
        let names: Vec<Vec<String>> = self.programs.iter().map(Watched::registers).collect();
        let several = names.len() > 1;
        let named = |&(program, of): &(usize, u32)| {
            let name = &names[program][of as usize];
            if several { format!("{program}:{name}") } else { name.clone() }
        };
        self.known.iter().map(named).collect()
    }
}

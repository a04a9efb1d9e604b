//! Execution of machine code and table lookups without a context, which suffices for most packets.
//!
//! At an operation that needs a context, the run stops in front of it and continues with a context.

use super::code::{At, End, FEW_KEYS, Op, Site, To, UnitCode};
use super::run::ResumePoint;
use crate::interp::context::{Externs, Matched};
use crate::interp::exec::{Applied, NO_ACTION_RAN};
use crate::interp::frame::Frame;
use crate::interp::jit_tier::{Ends, MachineCode};
use crate::interp::tables::{Datum, Found, Tables};
use crate::ir::Slot;

/// A run.
pub(in crate::interp) struct Direct<'r> {
    pub code: &'r UnitCode,
    pub machine: &'r dyn MachineCode,
    pub frame: &'r mut Frame,
    pub tables: &'r Tables,
}

impl Direct<'_> {
    /// Runs from a position; `None` at an operation that needs a context.
    #[inline]
    pub fn run<E: Externs + ?Sized>(
        &mut self,
        ends: &mut Ends<'_>,
        place: &mut ResumePoint,
        externs: &mut E,
    ) -> Option<End> {
        place.at = self.machine.run(&mut self.frame.narrow, ends, place.at);
        self.go_on(ends, place, externs)
    }

    /// Continues where machine code stopped.
    #[inline]
    pub fn go_on<E: Externs + ?Sized>(
        &mut self,
        ends: &mut Ends<'_>,
        place: &mut ResumePoint,
        externs: &mut E,
    ) -> Option<End> {
        loop {
            match self.code.ops[place.at as usize] {
                Op::Done => return Some(End::Done),
                Op::Accept => return Some(End::Accept),
                Op::Apply { site } => {
                    let site = &self.code.sites[site as usize];
                    place.at = site.begin(self.tables, self.frame, externs, &mut place.applied)?;
                }
                Op::Applied { site } => {
                    let site = &self.code.sites[site as usize];
                    if let Some(applied) = place.applied.take() {
                        applied.store_result(self.frame, site.hit, site.action);
                    }
                    place.at += 1;
                }
                _ => return None,
            }
            place.at = self.machine.run(&mut self.frame.narrow, ends, place.at);
        }
    }
}

impl Applied {
    /// Stores the result of a lookup in the program's slots.
    // Stored after the action, which may itself use the same slots through another apply.
    #[inline]
    pub fn store_result(&self, frame: &mut Frame, hit: Option<Slot>, action: Option<Slot>) {
        if let Some(slot) = hit {
            frame.set(slot, self.hit.into());
        }
        if let Some(slot) = action {
            frame.set(slot, self.action.unwrap_or(NO_ACTION_RAN).into());
        }
    }
}

impl Site {
    /// Looks the table up and returns the start of its action; `None` if that takes more than a few
    /// keys and narrow data. Stores the application in the caller's place.
    #[inline]
    pub fn begin<E: Externs + ?Sized>(
        &self,
        tables: &Tables,
        frame: &mut Frame,
        externs: &mut E,
        applied: &mut Option<Applied>,
    ) -> Option<To> {
        let keys = self.keys.as_deref().filter(|_| self.plain)?;
        let state = tables.get(self.table)?;
        let value = |at: &At| frame.narrow[usize::from(*at)];
        let entry = match keys {
            // The most common number of key elements.
            [one] => state.lookup(&[value(one)]),
            keys => {
                let mut key = [0; FEW_KEYS];
                key.iter_mut().zip(keys).for_each(|(to, at)| *to = value(at));
                state.lookup(&key[..keys.len()])
            }
        };
        let (action, data) = match state.found(entry) {
            Found::Action(found) => (Some(found.action), &*found.data),
            Found::Nothing => (None, [].as_slice()),
            Found::Reference(_) => return None,
        };
        let matched = Matched { table: self.table, entry };
        externs.looked_up(&matched, frame);
        if let (true, [one]) = (self.kept && !externs.hears_lookups(), keys) {
            let key = frame.narrow[usize::from(*one)];
            tables.inline_cache().insert(self.table, key, action, data);
        }
        *applied = Some(Applied { matched, before: None, action, hit: entry.is_some() });
        let Some(action) = action.map(|action| action as usize) else { return Some(self.none) };
        if let Some(places) = self.data.get(action) {
            for ((at, mask), datum) in places.iter().zip(data) {
                if let Datum::Narrow(value) = datum {
                    frame.narrow[usize::from(*at)] = value & mask;
                }
            }
        }
        Some(self.actions.get(action).copied().unwrap_or(self.none))
    }
}

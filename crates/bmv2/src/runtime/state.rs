//! Counters, meters, hashes and random numbers.
//!
//! A packet counts with its length at the start of ingress, as in bmv2. Operations beyond an array
//! have no effect.

use super::{Direct, Runtime, out, store};
use sojourn_externs::call::scalar;
use sojourn_externs::meter::Color;
use sojourn_p4::interp::{Context, Frame};
use sojourn_p4::ir::ExternCall;

impl Runtime {
    /// `counter.count(index)`
    pub(super) fn count(&mut self, counter: u32, call: &ExternCall, ctx: &Context<'_>) {
        let index = usize::try_from(scalar(call, 0, ctx)).unwrap_or(usize::MAX);
        self.counters[counter as usize].1.count(index, self.pass.bytes, 0);
    }

    /// `meter.execute_meter(index, result)`
    pub(super) fn meter(&mut self, meter: u32, call: &ExternCall, ctx: &mut Context<'_>) {
        let index = usize::try_from(scalar(call, 0, ctx)).unwrap_or(usize::MAX);
        let (now, bytes) = (self.pass.now, self.pass.bytes);
        let meter = &mut self.meters[meter as usize].1;
        if index >= meter.len() {
            return;
        }
        let color = meter.execute(index, now, bytes, 0, Color::Green);
        out(call, 1).inspect(|result| store(result, ctx, color.into()));
    }

    /// Handles a hit of an entry: counts in its direct counter and marks by its direct meter,
    /// whether or not an action uses them.
    pub(super) fn hit(&mut self, direct: Direct, entry: usize, frame: &mut Frame) {
        let (now, bytes) = (self.pass.now, self.pass.bytes);
        if let Some(counter) = direct.counter {
            let counter = &mut self.counters[counter as usize].1;
            counter.grow(entry + 1);
            counter.count(entry, bytes, 0);
        }
        if let Some(meter) = direct.meter {
            let meter = &mut self.meters[meter as usize].1;
            meter.grow(entry + 1);
            let color = meter.execute(entry, now, bytes, 0, Color::Green);
            self.color = color;
            if let Some(slot) = direct.color {
                frame.set(slot, color.into());
            }
        }
    }

    /// `direct_meter.read(result)`, in an action of the entry that was hit
    pub(super) fn read_direct_meter(&mut self, call: &ExternCall, ctx: &mut Context<'_>) {
        let hit = ctx.matched().is_some_and(|matched| matched.entry.is_some());
        if let (Some(result), true) = (out(call, 0), hit) {
            store(result, ctx, self.color.into());
        }
    }

    /// `hash(result, algorithm, base, data, max)`: base + H mod max, in 64 bits
    pub(super) fn hash(&mut self, input: u32, call: &ExternCall, ctx: &mut Context<'_>) {
        let input = &self.inputs[input as usize];
        if let Some(field) = input.write(ctx, &mut self.scratch) {
            self.faults.invalid_hash(field, call.span);
        }
        let hash = self.algorithms[input.algorithm as usize].of_bytes(self.scratch.bytes());
        let (base, max) = (scalar(call, 2, ctx) as u64, scalar(call, 4, ctx) as u64);
        let value = base.wrapping_add(hash % max.max(1));
        out(call, 0).inspect(|result| store(result, ctx, value.into()));
    }

    /// `random(result, lo, hi)`: uniform from `lo` to `hi`; no effect if there is no such number
    pub(super) fn draw(&mut self, call: &ExternCall, ctx: &mut Context<'_>) {
        let (low, high) = (scalar(call, 1, ctx), scalar(call, 2, ctx));
        let Some(span) = high.checked_sub(low) else { return };
        let value = low + self.random.up_to(span);
        out(call, 0).inspect(|result| store(result, ctx, value));
    }
}

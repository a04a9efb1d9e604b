//! Registers, counters and meters.
//!
//! A packet counts with its length at the start of the pass. An index beyond the array counts and
//! writes nothing, reads 0 and is green.

use super::Runtime;
use sojourn_externs::call::{answer, scalar, value};
use sojourn_externs::meter::Color;
use sojourn_p4::interp::Context;
use sojourn_p4::ir::ExternCall;

/// `PSA_MeterColor_t`: red, yellow, green.
pub(super) const COLORS: [u8; 3] = [0, 2, 1];

impl Runtime {
    /// `Register.read(index)`
    pub(super) fn read_register(&self, at: u32, call: &ExternCall, ctx: &mut Context<'_>) {
        let index = scalar(call, 0, ctx);
        if let Some(result) = &call.result
            && !self.registers[at as usize].read_into(index, result, ctx)
        {
            ctx.frame_mut().clear_layout(result);
        }
    }

    /// `Register.write(index, value)`
    pub(super) fn write_register(&mut self, at: u32, call: &ExternCall, ctx: &Context<'_>) {
        if let Some(value) = value(call, 1) {
            let index = scalar(call, 0, ctx);
            self.registers[at as usize].write_value(index, value, ctx);
        }
    }

    /// `Counter.count(index)`
    pub(super) fn count(&mut self, counter: u32, call: &ExternCall, ctx: &Context<'_>) {
        let index = usize::try_from(scalar(call, 0, ctx)).unwrap_or(usize::MAX);
        self.counters[counter as usize].1.count(index, self.bytes, 0);
    }

    /// `DirectCounter.count()`, in an action of the entry that was hit
    pub(super) fn count_entry(&mut self, counter: u32, ctx: &Context<'_>) {
        let Some(entry) = entry(ctx) else { return };
        let counter = &mut self.counters[counter as usize].1;
        counter.grow(entry + 1);
        counter.count(entry, self.bytes, 0);
    }

    /// `Meter.execute(index)`, `Meter.execute(index, color)`
    pub(super) fn meter(&mut self, meter: u32, call: &ExternCall, ctx: &mut Context<'_>) {
        let index = usize::try_from(scalar(call, 0, ctx)).unwrap_or(usize::MAX);
        let before = color(call, 1, ctx);
        let meter = &mut self.meters[meter as usize].1;
        let found = meter.execute(index, self.now, self.bytes, 0, before);
        answer(call, ctx, found.into());
    }

    /// `DirectMeter.execute()`, `DirectMeter.execute(color)`, in an action of the entry that was hit
    pub(super) fn meter_entry(&mut self, meter: u32, call: &ExternCall, ctx: &mut Context<'_>) {
        let before = color(call, 0, ctx);
        let meter = &mut self.meters[meter as usize].1;
        let index = entry(ctx).unwrap_or(usize::MAX);
        if index != usize::MAX {
            meter.grow(index + 1);
        }
        let found = meter.execute(index, self.now, self.bytes, 0, before);
        answer(call, ctx, found.into());
    }
}

/// The entry whose action runs.
fn entry(ctx: &Context<'_>) -> Option<usize> {
    Some(ctx.matched()?.entry?.index())
}

/// A colour argument; green if it is missing.
fn color(call: &ExternCall, argument: usize, ctx: &Context<'_>) -> Color {
    match call.args.get(argument) {
        Some(_) => match scalar(call, argument, ctx) {
            0 => Color::Red,
            2 => Color::Yellow,
            _ => Color::Green,
        },
        None => Color::Green,
    }
}

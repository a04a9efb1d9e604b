//! Calls of `register<T>`. An index beyond the array has no effect, as in bmv2.

use super::{Runtime, out};
use sojourn_externs::call::{scalar, value};
use sojourn_p4::interp::Context;
use sojourn_p4::ir::ExternCall;

impl Runtime {
    /// `register.read(result, index)`
    #[inline]
    pub(super) fn read_register(&mut self, at: u32, call: &ExternCall, ctx: &mut Context<'_>) {
        let index = scalar(call, 1, ctx);
        if let Some(result) = out(call, 0) {
            self.registers[at as usize].read_into(index, result, ctx);
        }
    }

    /// `register.write(index, value)`
    #[inline]
    pub(super) fn write_register(&mut self, at: u32, call: &ExternCall, ctx: &mut Context<'_>) {
        let index = scalar(call, 0, ctx);
        if let Some(value) = value(call, 1) {
            self.registers[at as usize].write_value(index, value, ctx);
        }
    }
}

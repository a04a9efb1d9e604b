//! `verify_checksum`, `update_checksum` and `Checksum16`.
//!
//! The payload, if included, is everything behind the parsed headers. A checksum in an invalid
//! header counts as correct (bmv2).

use super::{Runtime, out, store};
use sojourn_externs::call::{answer, scalar};
use sojourn_externs::hash::Algorithm;
use sojourn_p4::interp::Context;
use sojourn_p4::ir::{ExternCall, Slot};

impl Runtime {
    /// Checksum of an input, with or without the payload.
    fn checksum_of(&mut self, input: u32, payload: bool, ctx: &Context<'_>) -> u64 {
        let input = &self.inputs[input as usize];
        let algorithm = &self.algorithms[input.algorithm as usize];
        if let (false, Algorithm::Checksum) = (payload, algorithm)
            && let Some(sum) = input.sum(ctx.frame())
        {
            return sum.checksum().into();
        }
        input.write(ctx, &mut self.scratch);
        if !payload {
            return algorithm.of_bytes(self.scratch.bytes());
        }
        for byte in &self.payload {
            self.scratch.append((*byte).into(), 8);
        }
        // Trailing zeros do not change the sums, but they change every CRC.
        if !algorithm.ignores_zeros_behind() {
            (0..self.payload_zeros).for_each(|_| self.scratch.append(0, 8));
        }
        algorithm.of_bytes(self.scratch.bytes())
    }

    /// `verify_checksum(condition, data, checksum, algorithm)`
    pub(super) fn verify_checksum(
        &mut self,
        input: u32,
        target: Option<Slot>,
        payload: bool,
        call: &ExternCall,
        ctx: &mut Context<'_>,
    ) {
        let applies = target.is_none_or(|valid| ctx.frame().get(valid) != 0);
        if applies && scalar(call, 0, ctx) != 0 {
            let found = u128::from(self.checksum_of(input, payload, ctx));
            self.pass.checksum_error |= scalar(call, 2, ctx) != found;
        }
        if self.pass.checksum_error {
            self.wrong_at.inspect(|wrong| ctx.frame_mut().set(*wrong, 1));
        }
    }

    /// `update_checksum(condition, data, checksum, algorithm)`
    pub(super) fn update_checksum(
        &mut self,
        input: u32,
        payload: bool,
        call: &ExternCall,
        ctx: &mut Context<'_>,
    ) {
        if scalar(call, 0, ctx) != 0 {
            let found = self.checksum_of(input, payload, ctx);
            out(call, 2).inspect(|checksum| store(checksum, ctx, found.into()));
        }
    }

    /// `Checksum16.get(data)`
    pub(super) fn checksum16(&mut self, input: u32, call: &ExternCall, ctx: &mut Context<'_>) {
        let found = self.checksum_of(input, false, ctx);
        answer(call, ctx, found.into());
    }
}

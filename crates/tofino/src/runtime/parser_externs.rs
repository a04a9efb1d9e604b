//! Externs of the parsers and deparsers: checksums, the parser counter, port metadata.

use super::{ResidualChecksum, Runtime, answer, scalar};
use sojourn_externs::checksum::OnesComplement;
use sojourn_p4::interp::Context;
use sojourn_p4::ir::{Arg, ExternCall, Layout};

impl Runtime {
    /// `checksum.add(data)` or `checksum.subtract(data)`
    pub(super) fn sum(
        &mut self,
        checksum: u32,
        bits: u32,
        subtract: bool,
        call: &ExternCall,
        ctx: &Context<'_>,
    ) {
        if self.bytes_of_first(call, bits, ctx).is_none() {
            return;
        }
        let sum = &mut self.checksums[checksum as usize];
        if subtract {
            sum.subtract(self.scratch.bytes());
        } else {
            sum.add(self.scratch.bytes());
        }
    }

    /// `checksum.update(data, zeros_as_ones)`
    pub(super) fn update_checksum(&mut self, bits: u32, call: &ExternCall, ctx: &mut Context<'_>) {
        let zeros_as_ones = scalar(call, 1, ctx) != 0;
        let known = self.prepared.get(call.site.index()).and_then(|call| call.data.as_ref());
        let mut sum = OnesComplement::new();
        if let Some(words) = known.and_then(|fields| fields.sum(ctx.frame())) {
            sum.add_words(words);
        } else {
            let Some(data) = self.bytes_of_first(call, bits, ctx) else { return };
            sum.add(data);
        }
        answer(call, ctx, sum.checksum(zeros_as_ones).into());
    }

    /// `checksum.subtract_all_and_deposit(residual)`: what is extracted after it counts too, so
    /// the residual is stored when the parser has ended.
    pub(super) fn deposit_later(
        &mut self,
        checksum: u32,
        call: &ExternCall,
        ctx: &mut Context<'_>,
    ) {
        let from = ctx.packet_in().map_or(0, |packet| packet.position());
        if let Some(Arg::Out(Layout::Narrow(slot, _))) = call.args.first() {
            let sum = self.checksums[checksum as usize];
            self.pass.deposits.push(ResidualChecksum { sum, slot: *slot, from });
            self.pass.asked = true;
        }
    }

    /// `counter.set(value)` or `counter.set(value, max, rotate, mask, add)`; the value is a constant
    /// (T1313)
    pub(super) fn set_parser_counter(&mut self, call: &ExternCall, ctx: &mut Context<'_>) {
        let byte = scalar(call, 0, ctx) as u8;
        if call.args.len() < 5 {
            self.pass.parser_counter = i32::from(byte as i8);
            return;
        }
        let argument = |index| scalar(call, index, ctx) as u32;
        let (max, rotate, mask, add) = (argument(1), argument(2), argument(3), argument(4));
        let mask = if self.counter_mask_in_bits { mask } else { (2 << (mask & 7)) - 1 };
        let masked = u32::from(byte.rotate_right(rotate % 8)) & mask;
        if masked > max & 0xff {
            ctx.reject(self.counter_range);
            return;
        }
        self.pass.parser_counter = i32::from(masked.wrapping_add(add) as u8 as i8);
    }

    /// `counter.increment(value)` or `counter.decrement(value)`, in eight signed bits
    pub(super) fn add_to_parser_counter(
        &mut self,
        negative: bool,
        call: &ExternCall,
        ctx: &Context<'_>,
    ) {
        let step = scalar(call, 0, ctx) as u8 as i32;
        let counter = self.pass.parser_counter + if negative { -step } else { step };
        self.pass.parser_counter = i32::from(counter as i8);
    }
}

/// Bits of the port metadata that a control plane sets; the rest is zero.
const SET_BITS: u32 = 64;

/// `port_metadata_unpack<T>(packet)`: takes the port's metadata, `bytes` long, of which the first
/// bits are the fields.
pub fn port_metadata(bytes: u32, call: &ExternCall, ctx: &mut Context<'_>) {
    let too_short = ctx.errors().packet_too_short;
    let Some(packet) = ctx.packet_in() else { return };
    let (front, fits) = (packet.peek(0, SET_BITS), packet.advance(8 * u64::from(bytes)));
    if !fits {
        return ctx.reject(too_short);
    }
    let mut left = SET_BITS;
    if let Some(layout) = &call.result {
        unpack(layout, front, &mut left, ctx);
    }
}

fn unpack(layout: &Layout, front: u128, left: &mut u32, ctx: &mut Context<'_>) {
    match layout {
        Layout::Narrow(_, scalar) => {
            let width = scalar.width().min(*left);
            *left -= width;
            ctx.set(layout, front >> *left);
        }
        Layout::Header { valid, fields, .. } => {
            ctx.frame_mut().set(*valid, 1);
            fields.iter().for_each(|field| unpack(field, front, left, ctx));
        }
        Layout::Struct { fields, .. } => {
            fields.iter().for_each(|field| unpack(field, front, left, ctx));
        }
        _ => {}
    }
}

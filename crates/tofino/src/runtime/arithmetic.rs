//! Extern functions on numbers: `min`, `max`, `funnel_shift_right`.

use super::{answer, scalar};
use sojourn_p4::interp::Context;
use sojourn_p4::ir::{Arg, ExternCall};
use sojourn_p4::types::Type;

/// `min(a, b)` or `max(a, b)`, signed if their type is.
pub fn min_max(min: bool, call: &ExternCall, ctx: &mut Context<'_>) {
    let (a, b) = (scalar(call, 0, ctx), scalar(call, 1, ctx));
    let flip = match call.returns {
        Type::Int(width @ 1..=128) => 1u128 << (width - 1),
        _ => 0,
    };
    let first_is_less = (a ^ flip) <= (b ^ flip);
    answer(call, ctx, if first_is_less == min { a } else { b });
}

/// `dst = (src1 ++ src2) >> shift`, as wide as each of them.
pub fn funnel_shift(call: &ExternCall, ctx: &mut Context<'_>) {
    let Some(Arg::InOut(destination)) = call.args.first() else { return };
    let width = destination.wire_bits(None) as u32;
    let (high, low) = (scalar(call, 1, ctx), scalar(call, 2, ctx));
    let shift = scalar(call, 3, ctx).min(256) as u32;
    let from_low = low.checked_shr(shift).unwrap_or(0);
    let from_high = match width.checked_sub(shift) {
        Some(up) => high.checked_shl(up).unwrap_or(0),
        None => high.checked_shr(shift - width).unwrap_or(0),
    };
    ctx.set(destination, from_low | from_high);
}

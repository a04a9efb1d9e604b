//! `invalidate` and `is_validated`: the valid bits of some metadata fields, and of headers.

use super::answer;
use crate::validity::{INVALID, field_argument};
use sojourn_p4::interp::Context;
use sojourn_p4::ir::{Arg, ExternCall, Value};

/// `invalidate(field)` or `invalidate(header)`
pub fn invalidate(call: &ExternCall, ctx: &mut Context<'_>) {
    let is_header = matches!(call.args.first(), Some(Arg::In(Value::Header { .. })));
    if let Some(slot) = field_argument(&call.args) {
        ctx.frame_mut().set(slot, if is_header { 0 } else { INVALID });
    }
}

/// `is_validated(field)` or `is_validated(header)`
pub fn is_validated(call: &ExternCall, ctx: &mut Context<'_>) {
    let is_header = matches!(call.args.first(), Some(Arg::In(Value::Header { .. })));
    let held = field_argument(&call.args).map_or(0, |slot| ctx.frame().get(slot));
    let valid = if is_header { held != 0 } else { held & INVALID == 0 };
    answer(call, ctx, valid.into());
}

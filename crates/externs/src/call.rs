//! Calls of externs: their arguments, their results, and the wire width of values.
//!
//! Uses the IR and the interpreter's context. Must not depend on any extern.

use sojourn_p4::interp::Context;
use sojourn_p4::ir::{Arg, Expr, ExternCall, Value};
use sojourn_p4::types::Type;

/// A scalar argument; 0 if it is missing.
#[inline]
pub fn scalar(call: &ExternCall, index: usize, ctx: &Context<'_>) -> u128 {
    match call.args.get(index) {
        Some(Arg::In(value)) => ctx.eval_value(value),
        Some(Arg::InOut(layout)) => ctx.get(layout),
        _ => 0,
    }
}

/// An argument passed by value.
pub fn value(call: &ExternCall, index: usize) -> Option<&Value> {
    match call.args.get(index) {
        Some(Arg::In(value)) => Some(value),
        _ => None,
    }
}

/// Stores the result of a call, if it is used.
#[inline]
pub fn answer(call: &ExternCall, ctx: &mut Context<'_>, result: u128) {
    if let Some(layout) = &call.result {
        ctx.set(layout, result);
    }
}

/// Width of a value on the wire, validity bits not counted.
pub fn value_bits(value: &Value) -> u32 {
    let mut found = Vec::new();
    fn scalars<'v>(value: &'v Value, found: &mut Vec<&'v Expr>) {
        match value {
            Value::Scalar(expr) => found.push(expr),
            Value::Header { fields: parts, .. }
            | Value::Union { members: parts, .. }
            | Value::Struct { fields: parts, .. }
            | Value::Stack { elements: parts, .. } => {
                parts.iter().for_each(|part| scalars(part, found));
            }
            Value::VarBit(..) | Value::String(_) => {}
        }
    }
    scalars(value, &mut found);
    found.iter().map(|expr| expr.scalar.width()).sum()
}

/// Width of a type whose values are one number.
pub fn type_bits(ty: &Type) -> u32 {
    match ty {
        Type::Bool => 1,
        Type::Bit(width) | Type::Int(width) => *width,
        Type::New(new) => type_bits(&new.target),
        Type::SerializableEnum(e) => e.underlying.as_ref().map_or(32, type_bits),
        Type::Struct(fields) | Type::Header(fields) => {
            fields.fields.iter().map(|field| type_bits(&field.ty)).sum()
        }
        Type::Tuple(types) => types.iter().map(type_bits).sum(),
        Type::Stack(element, count) => type_bits(element) * count,
        _ => 32,
    }
}

/// Width of an argument passed by value, in bits.
pub fn argument_bits(call: &ExternCall, index: usize) -> u32 {
    match call.args.get(index) {
        Some(Arg::In(value)) => value_bits(value),
        _ => 0,
    }
}

/// A number derived from a name, so that two objects have different random numbers (FNV-1a).
pub fn name_number(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |number, byte| {
        (number ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

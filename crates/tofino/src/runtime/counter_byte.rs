//! The byte of a packet that a parser counter is set from.
//!
//! The chip loads a counter from a byte of its match registers: with a narrower field, the rest of
//! its byte is loaded too, and must be removed by rotation and a mask. Depends on headers in the
//! parser's frame.

use sojourn_externs::call::value;
use sojourn_p4::interp::Context;
use sojourn_p4::ir::{Binary, Expr, ExprKind, ExternCall, Layout, Program, Slot, UnitId, Value};

/// Bits that a field has in the byte: its value is shifted to the left by so many bits (to the
/// right if negative).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ByteOf {
    slot: Slot,
    shift: i32,
}

/// Fields of the byte that contains the argument of `counter.set`; `None` if the argument is a
/// number, a whole byte, or not a field of a header.
pub fn of_argument(program: &Program, unit: UnitId, call: &ExternCall) -> Option<Vec<ByteOf>> {
    let Some(Value::Scalar(expr)) = value(call, 0) else { return None };
    let (slot, low, width) = field(expr)?;
    let params = &program.units[unit.index()].params;
    params.iter().find_map(|param| in_layout(&param.layout, slot, low, width))
}

/// The field behind casts and zeros in front, the lowest of its bits that is wanted, and how many.
fn field(expr: &Expr) -> Option<(Slot, u32, u32)> {
    match &expr.kind {
        ExprKind::Slot(slot) => Some((*slot, 0, expr.scalar.width())),
        ExprKind::Slice(inner, low) => {
            let (slot, inside, _) = field(inner)?;
            Some((slot, inside + low, expr.scalar.width()))
        }
        ExprKind::Cast(inner) => {
            let (slot, low, width) = field(inner)?;
            Some((slot, low, width.min(expr.scalar.width())))
        }
        ExprKind::Binary(Binary::Concat, zero, inner)
            if matches!(zero.kind, ExprKind::Const(0)) =>
        {
            field(inner)
        }
        _ => None,
    }
}

fn in_layout(layout: &Layout, slot: Slot, low: u32, width: u32) -> Option<Vec<ByteOf>> {
    match layout {
        Layout::Header { fields, .. } => in_header(fields, slot, low, width),
        Layout::Struct { fields: parts, .. }
        | Layout::Union { members: parts, .. }
        | Layout::Stack { elements: parts, .. } => {
            parts.iter().find_map(|part| in_layout(part, slot, low, width))
        }
        _ => None,
    }
}

fn in_header(fields: &[Layout], slot: Slot, low: u32, width: u32) -> Option<Vec<ByteOf>> {
    let mut spans = Vec::new();
    let mut end = 0;
    for field in fields {
        // The position behind a field of variable size is unknown.
        let Layout::Narrow(slot, scalar) = field else {
            let Layout::Wide(_, scalar) = field else { break };
            end += scalar.width();
            continue;
        };
        end += scalar.width();
        spans.push((*slot, end - scalar.width(), end));
    }
    let (_, _, field_end) = *spans.iter().find(|(known, ..)| *known == slot)?;
    let last = field_end.checked_sub(low)?;
    let byte_end = last.next_multiple_of(8);
    // A field over two bytes is loaded as it is.
    if width >= 8 || last < width || byte_end - (last - width) > 8 {
        return None;
    }
    let inside = spans.iter().filter(|(_, from, to)| *from < byte_end && *to + 8 > byte_end);
    Some(
        inside
            .map(|(slot, _, to)| ByteOf { slot: *slot, shift: byte_end as i32 - *to as i32 })
            .collect(),
    )
}

/// The byte as the header holds it.
pub fn read(fields: &[ByteOf], ctx: &Context<'_>) -> u8 {
    fields.iter().fold(0, |byte, field| {
        let value = ctx.frame().get(field.slot);
        let moved = if field.shift < 0 {
            value >> field.shift.unsigned_abs()
        } else {
            value << field.shift.unsigned_abs()
        };
        byte | moved as u8
    })
}

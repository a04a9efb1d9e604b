//! `@symmetric("a", "b")` of a `Hash`: a hash that is the same whichever way round two fields are.
//!
//! The compiler gives both fields the position of the later one in the CRC (p4c's
//! `emit_ixbar_gather_map`), which hashes `a ^ b` there and zeros in the other position. Depends on
//! the calls and their inputs as bytes; `externs::hash` computes the hash.

use crate::rules::{self, Refusal};
use sojourn_externs::call::value;
use sojourn_p4::ast::{Annotation, AnnotationBody};
use sojourn_p4::ir::{Expr, ExprKind, ExternCall, Object, Program, UnitId, Value};

/// Two fields of a hash's input, by their first bits counted from its front.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    first: u32,
    second: u32,
    width: u32,
}

/// The pairs that a call of `Hash.get` exchanges.
pub fn pairs(
    program: &Program,
    unit: UnitId,
    hash: &Object,
    is_crc: bool,
    call: &ExternCall,
) -> Result<Vec<Pair>, Refusal> {
    let annotations: Vec<_> =
        hash.annotations.iter().filter(|a| &*a.name.text == "symmetric").collect();
    let mut pairs: Vec<Pair> = Vec::new();
    if annotations.is_empty() {
        return Ok(pairs);
    }
    if !is_crc {
        let why = "@symmetric needs a CRC";
        return Err(rules::EXTERN_ARGUMENT.refuse(hash.span, why));
    }
    let mut inputs = Vec::new();
    if let Some(data) = value(call, 0) {
        scalars(data, &mut inputs);
    }
    for annotation in annotations {
        let refuse = |why: String| Err(rules::EXTERN_ARGUMENT.refuse(annotation.span, why));
        let Some([a, b]) = names(annotation) else {
            return refuse("@symmetric has the names of two fields as strings".into());
        };
        let place = |name: &str| {
            let mut at = 0;
            for expr in &inputs {
                if is_field(program, unit, expr, name) {
                    return Some((at, expr.scalar.width()));
                }
                at += expr.scalar.width();
            }
            None
        };
        let (Some((first, width)), Some((second, other))) = (place(a), place(b)) else {
            let missing = if place(a).is_none() { a } else { b };
            return refuse(format!("@symmetric: `{missing}` is no field that this hash is given"));
        };
        if first == second || width != other {
            return refuse(format!("@symmetric: `{a}` and `{b}` are no two fields of one width"));
        }
        let taken = |at: u32| pairs.iter().any(|pair| pair.first == at || pair.second == at);
        if taken(first) || taken(second) {
            return refuse("@symmetric: a field is in two pairs".into());
        }
        pairs.push(Pair { first, second, width });
    }
    Ok(pairs)
}

fn names(annotation: &Annotation) -> Option<[&str; 2]> {
    let AnnotationBody::Tokens(tokens) = &annotation.body else { return None };
    let mut strings = tokens.iter().filter(|token| token.is_string).map(|token| &*token.text);
    let names = [strings.next()?, strings.next()?];
    strings.next().is_none().then_some(names)
}

fn scalars<'v>(value: &'v Value, found: &mut Vec<&'v Expr>) {
    match value {
        Value::Scalar(expr) => found.push(expr),
        Value::Header { fields: parts, .. } | Value::Struct { fields: parts, .. } => {
            parts.iter().for_each(|part| scalars(part, found));
        }
        _ => {}
    }
}

/// True if an input is the field of this name, in full or by the end of it.
fn is_field(program: &Program, unit: UnitId, expr: &Expr, name: &str) -> bool {
    let unit = &program.units[unit.index()];
    let known = match &expr.kind {
        ExprKind::Slot(slot) => &unit.slots[slot.index()].name,
        ExprKind::WideSlot(slot) => &unit.wide_slots[slot.index()].name,
        _ => return false,
    };
    known.strip_suffix(name).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

/// Puts the XOR of the two fields of each pair in the place of the later, zeros in the other. The
/// input of `bits` bits is
/// filled up in front.
pub fn mix(pairs: &[Pair], bits: u32, bytes: &mut [u8]) {
    let skipped = bytes.len() as u32 * 8 - bits;
    for pair in pairs {
        for bit in 0..pair.width {
            let order = [pair.first.min(pair.second), pair.first.max(pair.second)];
            let [early, late] = order.map(|first| {
                let at = skipped + first + bit;
                ((at / 8) as usize, 7 - at % 8)
            });
            let set = bytes[early.0] >> early.1 & 1;
            bytes[early.0] &= !(1 << early.1);
            bytes[late.0] ^= set << late.1;
        }
    }
}

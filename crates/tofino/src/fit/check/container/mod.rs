//! Instructions on fields that share a container (T1022, T1023), after
//! `bf-p4c/phv/action_phv_constraints.cpp` and `bf-p4c/midend/annotate_with_in_hash.cpp`.
//!
//! A move and a bitwise function with a constant leave the other bits of a container as they are.
//! Any other instruction writes all of it. The bits of one byte of a header are in one container,
//! and saturation, a minimum and a sum of two fields take a container of exactly their width. A sum
//! of a field and a constant may have fields below it, none above: a carry would change them.

#[cfg(test)]
mod tests;

use super::instruction::{assigned_steps, is_field};
use super::operations::CONTAINERS;
use super::values::{Evaluated, Executor, Extreme};
use crate::constant_folding::constant;
use crate::fit::bits::{Bits, Copies, Place};
use crate::rules::{self, Rule};
use sojourn_p4::diagnostic::Diagnostic;
use sojourn_p4::ir::{Binary, Expr, ExprKind, Layout, Slot, Unary, Unit};
use sojourn_p4::source::Span;
use std::collections::HashMap;
use std::ops::Range;

const BYTE: u32 = 8;

/// Checks the instructions of a control: all that it evaluates, and those of its variables that are
/// needed.
pub fn check(unit: &Unit, all: &[&Evaluated], extremes: &[Extreme], found: &mut Vec<Diagnostic>) {
    let headers = Headers::new(unit);
    for evaluated in all {
        let Executor::Instruction(Some(target)) = evaluated.by else { continue };
        let fault = misaligned(unit, &headers, &evaluated.expr)
            .or_else(|| extended(unit, &headers, &evaluated.expr))
            .or_else(|| shared(unit, &headers, kind(&evaluated.expr, target)?, target, all));
        found.extend(fault.map(|fault| fault.at(evaluated.at)));
    }
    for Extreme { target, operands, at } in extremes {
        let extended = operands.iter().find_map(|operand| is_extended(&headers, operand));
        let fault = match extended {
            Some(narrow) => Some(Fault::extended(unit, narrow)),
            None => shared(unit, &headers, Kind::Whole, *target, all),
        };
        found.extend(fault.map(|fault| fault.at(*at)));
    }
}

/// A rule that an instruction breaks, and how.
struct Fault {
    rule: &'static Rule,
    message: String,
}

impl Fault {
    fn extended(unit: &Unit, narrow: Bits) -> Fault {
        let message = format!("`{}` gets zeros in front for an instruction", narrow.name(unit));
        Fault { rule: &rules::EXTENDED_OPERAND, message }
    }

    fn at(self, span: Span) -> Diagnostic {
        self.rule.refuse(span, self.message).into()
    }
}

/// A field of a header: its first bit and the size of its header, in bits.
#[derive(Clone, Copy)]
struct Position {
    start: u32,
    header: u32,
}

impl Position {
    /// The bits of the header that are these bits of the field.
    fn range(&self, unit: &Unit, bits: Bits) -> Range<u32> {
        let end = self.start + bits.variable(unit).width();
        end - 1 - bits.high..end - bits.low
    }
}

/// The fields of the headers and metadata that the control is given first.
struct Headers(HashMap<Slot, Position>);

impl Headers {
    fn new(unit: &Unit) -> Headers {
        let mut fields = HashMap::new();
        unit.params.iter().take(2).for_each(|param| collect(&param.layout, &mut fields));
        Headers(fields)
    }

    fn position(&self, bits: Bits) -> Option<Position> {
        match bits.place {
            Place::Narrow(slot) => self.0.get(&slot).copied(),
            Place::Wide(_) => None,
        }
    }
}

fn collect(layout: &Layout, fields: &mut HashMap<Slot, Position>) {
    match layout {
        Layout::Header { fields: of, .. } => {
            let mut inside = Vec::new();
            of.iter().for_each(|field| flatten(field, &mut inside));
            let header = inside.iter().map(|(_, width)| width).sum();
            let mut start = 0;
            for (slot, width) in inside {
                if let Some(slot) = slot {
                    fields.insert(slot, Position { start, header });
                }
                start += width;
            }
        }
        Layout::Struct { fields: inner, .. }
        | Layout::Union { members: inner, .. }
        | Layout::Stack { elements: inner, .. } => {
            inner.iter().for_each(|inner| collect(inner, fields));
        }
        _ => {}
    }
}

/// The scalars of a header in order, each with its width.
fn flatten(layout: &Layout, into: &mut Vec<(Option<Slot>, u32)>) {
    match layout {
        Layout::Narrow(slot, scalar) => into.push((Some(*slot), scalar.width())),
        Layout::Wide(_, scalar) => into.push((None, scalar.width())),
        Layout::Struct { fields, .. } => fields.iter().for_each(|field| flatten(field, into)),
        Layout::VarBit { max, .. } => into.push((None, *max)),
        _ => {}
    }
}

/// An instruction by what it does with bits of its container that are not its target's.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Writes them, each from bits in the same place: may be done byte by byte.
    Bitwise,
    /// Leaves those below as they are: a sum of the target and a constant.
    Carry,
    /// Writes them.
    Whole,
}

/// The kind of an instruction; `None` for one that leaves the bits as they are.
fn kind(expr: &Expr, target: Bits) -> Option<Kind> {
    if assigned_steps(expr) == 0 && !matches!(expr.kind, ExprKind::Mux(..)) {
        return None;
    }
    match &expr.kind {
        ExprKind::Binary(op, a, b) => {
            let changes_target = is_target(a, target) && constant(b).is_some();
            let commuted = is_target(b, target) && constant(a).is_some();
            match op {
                Binary::BitAnd | Binary::BitOr | Binary::BitXor => {
                    (!changes_target && !commuted).then_some(Kind::Bitwise)
                }
                Binary::Shl | Binary::Shr => Some(Kind::Bitwise),
                Binary::Add if changes_target || commuted => Some(Kind::Carry),
                Binary::Sub if changes_target => Some(Kind::Carry),
                _ => Some(Kind::Whole),
            }
        }
        ExprKind::Unary(Unary::Complement, _) => Some(Kind::Bitwise),
        _ => Some(Kind::Whole),
    }
}

fn is_target(expr: &Expr, target: Bits) -> bool {
    source(expr) == Some(target)
}

/// The reason why an instruction cannot write its target, if there is one.
fn shared(
    unit: &Unit,
    headers: &Headers,
    kind: Kind,
    target: Bits,
    all: &[&Evaluated],
) -> Option<Fault> {
    let fault = match headers.position(target) {
        Some(position) => {
            let range = position.range(unit, target);
            fault_in_header(kind, target.width(), &range, position.header)
        }
        None => {
            let carries = kind != Kind::Bitwise && target.high < target.variable(unit).high;
            (carries && all.iter().any(|other| crosses(other, target)))
                .then_some("has bits above it that an instruction uses together with it")
        }
    };
    let message = format!("`{}` {}", target.name(unit), fault?);
    Some(Fault { rule: &rules::SHARED_CONTAINER, message })
}

fn fault_in_header(
    kind: Kind,
    width: u32,
    range: &Range<u32>,
    header: u32,
) -> Option<&'static str> {
    if !range.start.is_multiple_of(BYTE) {
        return Some("shares its first byte with the field before it");
    }
    let container = CONTAINERS.into_iter().find(|size| *size >= width)?;
    match kind {
        Kind::Bitwise => (!range.end.is_multiple_of(BYTE))
            .then_some("shares its last byte with the field behind it"),
        Kind::Whole => {
            (container != width).then_some("does not fill a container of 8, 16 or 32 bits")
        }
        Kind::Carry => (range.start + container > header)
            .then_some("has fewer bits behind it in its header than a container needs"),
    }
}

/// Two parts of headers that an instruction combines and whose lowest bits differ in their place in
/// a byte: an instruction does not shift its sources.
fn misaligned(unit: &Unit, headers: &Headers, expr: &Expr) -> Option<Fault> {
    let ExprKind::Binary(op, a, b) = &expr.kind else { return None };
    let combines =
        matches!(op, Binary::Add | Binary::Sub | Binary::BitAnd | Binary::BitOr | Binary::BitXor);
    let [a, b] = [a, b].map(|operand| source(operand).filter(|_| combines));
    let (a, b) = (a?, b?);
    let end = |bits| Some(headers.position(bits)?.range(unit, bits).end % BYTE);
    let message =
        format!("`{}` and `{}` begin at different bits of their bytes", a.name(unit), b.name(unit));
    (end(a)? != end(b)?).then_some(Fault { rule: &rules::SHARED_CONTAINER, message })
}

/// The bits that an operand is, if it is nothing but bits of one variable.
fn source(operand: &Expr) -> Option<Bits> {
    let mut read = Vec::new();
    Copies::default().read_all(operand, &mut |bits| read.push(bits));
    let [bits] = read[..] else { return None };
    (is_field(operand) && bits.width() == operand.scalar.width()).then_some(bits)
}

/// True if an expression reads bits of the target's variable on both sides of its upper end.
fn crosses(evaluated: &Evaluated, target: Bits) -> bool {
    let mut crosses = false;
    Copies::default().read_all(&evaluated.expr, &mut |bits| {
        crosses |= bits.place == target.place && bits.low <= target.high && target.high < bits.high;
    });
    crosses
}

/// A header's field that a sum takes in with zeros in front of it. The compiler does that in the hash
/// unit if one of the operands does not fill a container, and both are fields.
fn extended(unit: &Unit, headers: &Headers, expr: &Expr) -> Option<Fault> {
    let ExprKind::Binary(op, a, b) = &expr.kind else { return None };
    let commutes = matches!(op, Binary::Add | Binary::SatAdd);
    if !commutes && !matches!(op, Binary::Sub | Binary::SatSub) {
        return None;
    }
    [(a, b, true), (b, a, commutes)].into_iter().find_map(|(operand, other, hashable)| {
        let bits = is_extended(headers, operand)?;
        let both_fill =
            [bits.width(), other.scalar.width()].iter().all(|width| CONTAINERS.contains(width));
        let hashes = hashable && is_reference(other) && !both_fill;
        (!hashes).then(|| Fault::extended(unit, bits))
    })
}

/// True for a variable or a slice of one, as the program has it.
fn is_reference(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Slot(_) => true,
        ExprKind::Slice(inner, _) => is_reference(inner),
        _ => false,
    }
}

/// The bits of a header that an operand is, with zeros in front.
fn is_extended(headers: &Headers, operand: &Expr) -> Option<Bits> {
    let ExprKind::Cast(narrow) = &operand.kind else { return None };
    let bits = source(narrow)?;
    headers.position(bits)?;
    (!narrow.scalar.is_signed() && bits.width() < operand.scalar.width()).then_some(bits)
}

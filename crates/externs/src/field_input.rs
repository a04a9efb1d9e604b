//! Input of a hash, a checksum or a digest, with the rules of bmv2's two switches.
//!
//! The fields are concatenated, the last byte is padded with zeros *behind* them, and the fields of
//! an invalid header are omitted. Uses the IR; must not depend on an architecture.

use crate::checksum::with_words;
use sojourn_p4::interp::{Context, FieldList, Frame, PacketOut};
use sojourn_p4::ir::{Expr, ExprKind, Slot, Unit, Value};
use sojourn_packet::OnesComplementSum;
use std::sync::Arc;

/// Slots, each with its width.
pub type Slots = [(Slot, u32)];

/// A list of fields.
#[derive(Clone, Debug, Default)]
pub struct Input {
    groups: Vec<Group>,
    /// Algorithm of a hash or checksum: index into the runtime's list.
    pub algorithm: u32,
}

/// Adjacent fields that are omitted together.
#[derive(Clone, Debug)]
struct Group {
    /// Slot of their header's validity.
    valid: Option<Slot>,
    pieces: Vec<Piece>,
    /// Path of the first field.
    first: Arc<str>,
}

#[derive(Clone, Debug)]
enum Piece {
    /// Slots, each with its width: the usual form.
    Slots(Vec<(Slot, u32)>),
    /// The same in whole bytes, ready for writing.
    Fields(FieldList, Vec<(Slot, u32)>),
    Value(Value),
}

impl Input {
    /// The fields of a value in a unit.
    pub fn new(value: &Value, unit: &Unit, algorithm: u32) -> Input {
        let mut input = Input { groups: Vec::new(), algorithm };
        input.add(value, unit);
        for piece in input.groups.iter_mut().flat_map(|group| &mut group.pieces) {
            if let Piece::Slots(slots) = piece
                && let Some(fields) = FieldList::new(slots)
            {
                *piece = Piece::Fields(fields, std::mem::take(slots));
            }
        }
        input
    }

    fn add(&mut self, value: &Value, unit: &Unit) {
        match value {
            Value::Scalar(expr) => self.add_piece(header_of(expr, unit), value, unit),
            Value::VarBit(length, _) => self.add_piece(header_of(length, unit), value, unit),
            Value::Header { valid, fields, .. } => {
                fields.iter().for_each(|field| self.add_piece(slot(valid), field, unit));
            }
            Value::Union { members: parts, .. }
            | Value::Struct { fields: parts, .. }
            | Value::Stack { elements: parts, .. } => {
                parts.iter().for_each(|part| self.add(part, unit));
            }
            Value::String(_) => {}
        }
    }

    fn add_piece(&mut self, valid: Option<Slot>, value: &Value, unit: &Unit) {
        let piece = match value {
            Value::Scalar(Expr { kind: ExprKind::Slot(slot), scalar, .. })
                if scalar.is_narrow() =>
            {
                Piece::Slots(vec![(*slot, scalar.width())])
            }
            other => Piece::Value(other.clone()),
        };
        match self.groups.last_mut().filter(|group| group.valid == valid) {
            Some(group) => match (group.pieces.last_mut(), piece) {
                (Some(Piece::Slots(before)), Piece::Slots(slots)) => before.extend(slots),
                (_, piece) => group.pieces.push(piece),
            },
            None => {
                let first = valid.map(|valid| first_field(valid, value, unit)).unwrap_or_default();
                self.groups.push(Group { valid, pieces: vec![piece], first });
            }
        }
    }

    /// Groups: the slot of the validity that each depends on, if any, and the slots of its fields
    /// with their widths, if these are whole words of 16 bits.
    pub fn groups(&self) -> impl Iterator<Item = (Option<Slot>, Option<&Slots>)> {
        self.groups.iter().map(|Group { valid, pieces, .. }| {
            let [Piece::Fields(_, slots)] = &**pieces else { return (*valid, None) };
            let bits: u32 = slots.iter().map(|(_, width)| width).sum();
            (*valid, bits.is_multiple_of(16).then_some(&**slots))
        })
    }

    /// Ones' complement sum of the bytes, if it can be computed without them.
    #[inline]
    pub fn sum(&self, frame: &Frame) -> Option<OnesComplementSum> {
        let mut sum = OnesComplementSum::default();
        for Group { valid, pieces, .. } in &self.groups {
            if valid.is_some_and(|valid| frame.get(valid) == 0) {
                continue;
            }
            for piece in pieces {
                let Piece::Fields(fields, _) = piece else { return None };
                sum = with_words(sum, fields.sum(frame)?);
            }
        }
        Some(sum)
    }

    /// Writes the bytes. Returns the first omitted field, if any.
    pub fn write(&self, ctx: &Context<'_>, out: &mut PacketOut) -> Option<&str> {
        out.clear();
        let mut missing = None;
        for group in &self.groups {
            if group.valid.is_some_and(|valid| ctx.frame().get(valid) == 0) {
                missing = missing.or(Some(&*group.first));
                continue;
            }
            for piece in &group.pieces {
                match piece {
                    Piece::Fields(fields, _) => fields.write(ctx.frame(), out),
                    Piece::Slots(slots) => slots.iter().for_each(|(slot, width)| {
                        out.append(ctx.frame().get(*slot), *width);
                    }),
                    Piece::Value(value) => ctx.append_value(value, out),
                }
            }
        }
        out.align();
        missing
    }
}

/// Path of the field that a value refers to, in the header with this validity; the header's if it
/// is not a plain field.
fn first_field(valid: Slot, value: &Value, unit: &Unit) -> Arc<str> {
    let field = match value {
        Value::Scalar(expr) | Value::VarBit(expr, _) => slot(expr),
        _ => None,
    };
    let named = unit.slots.get(field.unwrap_or(valid).index());
    named.map(|info| info.name.clone()).unwrap_or_default()
}

fn slot(expr: &Expr) -> Option<Slot> {
    match &expr.kind {
        ExprKind::Slot(slot) => Some(*slot),
        _ => None,
    }
}

/// Slot of the validity of a plain field's header.
pub fn header_of(expr: &Expr, unit: &Unit) -> Option<Slot> {
    header_of_slot(slot(expr)?, unit)
}

/// The same for a slot: the nearest slot before it that is the validity of its name's header.
pub fn header_of_slot(slot: Slot, unit: &Unit) -> Option<Slot> {
    let name = &unit.slots.get(slot.index())?.name;
    let is_validity = |at: &usize| {
        let header = unit.validity_of(Slot(*at as u32));
        header.is_some_and(|header| {
            name.strip_prefix(header).is_some_and(|rest| rest.starts_with('.'))
        })
    };
    (0..slot.index()).rev().find(is_validity).map(|at| Slot(at as u32))
}

//! Bits of fields that an expression reads.
//!
//! Dependencies are between fields, and a slice of a field is a field of its own. Uses the IR's
//! expressions; must not depend on the chip.

use sojourn_p4::ir::{Binary, Expr, ExprKind, Scalar, Slot, Unary, Unit, WideSlot};
use std::collections::HashMap;

/// A variable of a unit's frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// At most 128 bits.
    Narrow(Slot),
    /// More.
    Wide(WideSlot),
}

/// Bits `low..=high` of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bits {
    /// The variable.
    pub place: Place,
    /// Lowest bit.
    pub low: u32,
    /// Highest bit.
    pub high: u32,
}

impl Bits {
    /// All bits of a narrow slot.
    pub fn whole(unit: &Unit, slot: Slot) -> Bits {
        let width = unit.slots.get(slot.index()).map_or(1, |info| info.scalar.width());
        Bits { place: Place::Narrow(slot), low: 0, high: width.max(1) - 1 }
    }

    /// All bits of a wide slot.
    pub fn whole_wide(unit: &Unit, slot: WideSlot) -> Bits {
        let width = unit.wide_slots.get(slot.index()).map_or(1, |info| info.scalar.width());
        Bits { place: Place::Wide(slot), low: 0, high: width.max(1) - 1 }
    }

    /// All bits of the variable.
    pub fn variable(&self, unit: &Unit) -> Bits {
        match self.place {
            Place::Narrow(slot) => Bits::whole(unit, slot),
            Place::Wide(slot) => Bits::whole_wide(unit, slot),
        }
    }

    /// True if the two share a bit.
    pub fn overlap(&self, other: &Bits) -> bool {
        self.place == other.place && self.low <= other.high && other.low <= self.high
    }

    /// The bytes that the bits are in.
    pub fn whole_bytes(&self) -> Bits {
        Bits { low: self.low / 8 * 8, high: self.high / 8 * 8 + 7, ..*self }
    }

    /// True if all bits of `other` are among these.
    pub fn covers(&self, other: &Bits) -> bool {
        self.place == other.place && self.low <= other.low && other.high <= self.high
    }

    /// Number of bits.
    pub fn width(&self) -> u32 {
        self.high - self.low + 1
    }

    /// Bytes that it takes on a crossbar.
    pub fn bytes(&self) -> u32 {
        self.width().div_ceil(8)
    }

    /// The field's name, with the bits if they are not all.
    pub fn name(&self, unit: &Unit) -> String {
        if let Place::Narrow(slot) = self.place
            && let Some(header) = unit.validity_of(slot)
        {
            return format!("{header}.isValid()");
        }
        let info = match self.place {
            Place::Narrow(slot) => unit.slots.get(slot.index()),
            Place::Wide(slot) => unit.wide_slots.get(slot.index()),
        };
        let Some(info) = info else { return "the partition".to_owned() };
        match (self.low, self.high + 1 == info.scalar.width()) {
            (0, true) => info.name.to_string(),
            _ => format!("{}[{}:{}]", info.name, self.high, self.low),
        }
    }
}

/// Slots that are copies of another slot or a constant.
#[derive(Clone, Debug, Default)]
pub struct Copies(HashMap<Slot, Expr>);

impl Copies {
    /// Records that `slot` is a copy of `value`, a slot or a constant.
    pub fn learn(&mut self, slot: Slot, value: Expr) {
        self.0.insert(slot, value);
    }

    /// Removes the copies from and to written bits.
    pub fn forget(&mut self, written: &Bits) {
        let Place::Narrow(slot) = written.place else { return };
        self.0.remove(&slot);
        self.0.retain(|_, value| !matches!(value.kind, ExprKind::Slot(other) if other == slot));
    }

    /// Original of a copy.
    pub fn get(&self, slot: Slot) -> Option<&Expr> {
        self.0.get(&slot)
    }

    /// Calls `see` for the bits that bits `low..=high` of `expr` depend on.
    pub fn read(&self, expr: &Expr, low: u32, high: u32, see: &mut dyn FnMut(Bits)) {
        let width = expr.scalar.width().max(1);
        let high = high.min(width - 1);
        if low > high {
            return;
        }
        let whole = |operand: &Expr, see: &mut dyn FnMut(Bits)| self.read_all(operand, see);
        match &expr.kind {
            ExprKind::Slot(slot) => match self.0.get(slot) {
                Some(stands_for) => self.read(stands_for, low, high, see),
                None => see(Bits { place: Place::Narrow(*slot), low, high }),
            },
            ExprKind::WideSlot(slot) => see(Bits { place: Place::Wide(*slot), low, high }),
            ExprKind::Element { base, stride, count, index } => {
                (0..*count).for_each(|at| {
                    see(Bits { place: Place::Narrow(Slot(base.0 + at * stride)), low, high });
                });
                whole(index, see);
            }
            ExprKind::WideElement { base, stride, count, index } => {
                (0..*count).for_each(|at| {
                    see(Bits { place: Place::Wide(WideSlot(base.0 + at * stride)), low, high });
                });
                whole(index, see);
            }
            ExprKind::Unary(Unary::Complement, a) => self.read(a, low, high, see),
            ExprKind::Unary(_, a) => self.read(a, 0, high, see),
            ExprKind::Binary(op, a, b) => self.read_binary(*op, (a, b), (low, high), see),
            ExprKind::Mux(condition, a, b) => {
                whole(condition, see);
                self.read(a, low, high, see);
                self.read(b, low, high, see);
            }
            ExprKind::Slice(inner, from) => self.read(inner, from + low, from + high, see),
            ExprKind::Cast(inner) => {
                let top = inner.scalar.width().max(1) - 1;
                let extended = high > top && inner.scalar.is_signed();
                self.read(inner, if extended { low.min(top) } else { low }, high.min(top), see);
            }
            ExprKind::Const(_)
            | ExprKind::WideConst(_)
            | ExprKind::Lookahead { .. }
            | ExprKind::PacketLength => {}
            ExprKind::Guarded { read, .. } => self.read(read, low, high, see),
        }
    }

    /// [`Copies::read`] for all bits.
    pub fn read_all(&self, expr: &Expr, see: &mut dyn FnMut(Bits)) {
        self.read(expr, 0, expr.scalar.width().max(1) - 1, see);
    }

    fn read_binary(
        &self,
        op: Binary,
        (a, b): (&Expr, &Expr),
        (low, high): (u32, u32),
        see: &mut dyn FnMut(Bits),
    ) {
        match op {
            // Carries go upwards only.
            Binary::Add | Binary::Sub | Binary::Mul => {
                self.read(a, 0, high, see);
                self.read(b, 0, high, see);
            }
            Binary::BitAnd | Binary::BitOr | Binary::BitXor => {
                self.read(a, low, high, see);
                self.read(b, low, high, see);
            }
            Binary::Concat => {
                let split = b.scalar.width();
                self.read(b, low, high.min(split.saturating_sub(1)), see);
                if high >= split {
                    self.read(a, low.saturating_sub(split), high - split, see);
                }
            }
            _ => {
                self.read_all(a, see);
                self.read_all(b, see);
            }
        }
    }
}

/// True for a constant.
pub fn is_constant(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Const(_) | ExprKind::WideConst(_) => true,
        ExprKind::Cast(inner) | ExprKind::Slice(inner, _) => is_constant(inner),
        _ => false,
    }
}

/// True for a field, a slice of one, or one made wider: what a container can be set to at once.
pub fn is_plain(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Slot(_) | ExprKind::WideSlot(_) => true,
        ExprKind::Cast(inner) => is_plain(inner),
        ExprKind::Slice(inner, _) => is_plain(inner),
        _ => is_constant(expr),
    }
}

/// The two parts of a value that the compiler assigns one after the other, the higher one first: those of
/// `a ++ b`, and the zeros that a cast puts in front of a field.
pub fn halves(value: &Expr) -> Option<(Expr, &Expr)> {
    match &value.kind {
        ExprKind::Binary(Binary::Concat, high, low) => Some(((**high).clone(), low)),
        ExprKind::Cast(low) if is_plain(low) && !is_constant(low) => {
            let more = value.scalar.width().checked_sub(low.scalar.width())?;
            let unsigned = !value.scalar.is_signed() && !low.scalar.is_signed();
            let zeros =
                Expr { kind: ExprKind::Const(0), scalar: Scalar::Bit(more), span: value.span };
            (more > 0 && unsigned).then_some((zeros, low))
        }
        _ => None,
    }
}

/// True for what a hash can compute of any number of fields in one go (bits moved and XOR-ed), so
/// that a chain of such steps can be one step.
pub fn is_linear(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Cast(inner) | ExprKind::Slice(inner, _) => is_linear(inner),
        ExprKind::Unary(Unary::Complement, inner) => is_linear(inner),
        ExprKind::Binary(Binary::BitXor | Binary::Concat, a, b) => is_linear(a) && is_linear(b),
        _ => is_plain(expr),
    }
}

/// Number of instructions in sequence that compute an expression; 0 for a plain move. An
/// instruction combines two sources of one container.
pub fn steps(expr: &Expr) -> u32 {
    match &expr.kind {
        ExprKind::Cast(a) | ExprKind::Slice(a, _) => steps(a),
        ExprKind::Unary(Unary::Not, a) => steps(a),
        ExprKind::Unary(_, a) => 1 + steps(a),
        // Two masked halves are one bit-masked set.
        ExprKind::Binary(Binary::BitOr, a, b) if masked(a).is_some() && masked(b).is_some() => {
            1 + masked(a).map_or(0, steps).max(masked(b).map_or(0, steps))
        }
        ExprKind::Binary(Binary::Concat | Binary::And | Binary::Or, a, b) => steps(a).max(steps(b)),
        ExprKind::Binary(
            Binary::Eq | Binary::Ne | Binary::Lt | Binary::Le | Binary::Gt | Binary::Ge,
            a,
            b,
        ) => steps(a).max(steps(b)),
        ExprKind::Binary(_, a, b) => 1 + steps(a).max(steps(b)),
        ExprKind::Mux(c, a, b) => steps(c).max(steps(a)).max(steps(b)),
        _ => 0,
    }
}

/// [`steps`] in front of a gateway, which compares bits under a mask by itself.
pub fn condition_steps(condition: &Expr) -> u32 {
    match &condition.kind {
        ExprKind::Unary(Unary::Not, a) => condition_steps(a),
        ExprKind::Binary(Binary::And | Binary::Or, a, b) => {
            condition_steps(a).max(condition_steps(b))
        }
        ExprKind::Binary(Binary::Eq | Binary::Ne, a, b) => {
            let side = |a: &Expr| steps(masked(a).unwrap_or(a));
            side(a).max(side(b))
        }
        _ => steps(condition),
    }
}

/// The operand of a mask with a constant.
fn masked(expr: &Expr) -> Option<&Expr> {
    match &expr.kind {
        ExprKind::Binary(Binary::BitAnd, a, b) if is_constant(b) => Some(a),
        ExprKind::Binary(Binary::BitAnd, a, b) if is_constant(a) => Some(b),
        _ => None,
    }
}

/// True if the value of the expression is decided by a gateway rather than an instruction.
pub fn is_condition(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Binary(op, ..) => matches!(
            op,
            Binary::Eq
                | Binary::Ne
                | Binary::Lt
                | Binary::Le
                | Binary::Gt
                | Binary::Ge
                | Binary::And
                | Binary::Or
        ),
        ExprKind::Unary(Unary::Not, _) | ExprKind::Mux(..) => true,
        ExprKind::Cast(inner) | ExprKind::Slice(inner, _) => is_condition(inner),
        _ => false,
    }
}

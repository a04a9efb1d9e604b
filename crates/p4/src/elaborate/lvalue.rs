//! Lvalues: locations of reads and writes, with indices evaluated once.

use super::effects::has_effects;
use super::value::{self, binary, cast_to, constant};
use super::{Binding, Elaborator, Fresh, plain};
use crate::hir::{self, ExprKind as H};
use crate::interp::arith;
use crate::ir::{Binary, Expr, ExprKind, Layout, Scalar, Slot, StmtKind, Unary, Value, WideSlot};
use crate::source::Span;
use crate::types::Type;
use num_traits::ToPrimitive;

/// A location in the frame.
#[derive(Clone, Debug)]
pub(super) enum FrameLocation {
    /// Always the same slots.
    Fixed(Layout),
    /// A part of an element chosen at run time.
    Element(Element),
    /// Bits of a scalar location.
    Slice { base: Box<FrameLocation>, high: u32, low: u32 },
    /// A part of a copy; a change is written back to the copy's origin.
    Copy { part: Box<FrameLocation>, whole: Layout, origin: Box<FrameLocation> },
}

/// A part of an element chosen at run time.
#[derive(Clone, Debug)]
pub(super) struct Element {
    /// Layout of the part in element 0.
    first: Layout,
    /// Narrow and wide slots from one element to the next.
    stride: (u32, u32),
    count: u32,
    index: Expr,
}

/// A location, and the headers that become invalid when it is written whole: other members of its
/// union.
#[derive(Clone, Debug)]
pub(super) struct Lvalue {
    pub place: FrameLocation,
    pub others: Vec<FrameLocation>,
}

impl Lvalue {
    fn only(place: FrameLocation) -> Lvalue {
        Lvalue { place, others: Vec::new() }
    }

    /// The layout of a fixed location outside unions.
    pub fn fixed(&self) -> Option<&Layout> {
        match &self.place {
            FrameLocation::Fixed(layout) if self.others.is_empty() => Some(layout),
            _ => None,
        }
    }

    /// Slots that a read or write may access.
    pub fn extent(&self) -> Layout {
        self.place.extent()
    }
}

/// The component of a layout with this index.
fn part(layout: &Layout, at: u32) -> Option<Layout> {
    match layout {
        Layout::Header { fields: parts, .. }
        | Layout::Union { members: parts, .. }
        | Layout::Struct { fields: parts, .. }
        | Layout::Stack { elements: parts, .. } => parts.get(at as usize).cloned(),
        _ => None,
    }
}

impl FrameLocation {
    /// A component of the location.
    fn part(&self, at: u32) -> Option<FrameLocation> {
        Some(match self {
            FrameLocation::Fixed(layout) => FrameLocation::Fixed(part(layout, at)?),
            FrameLocation::Element(element) => {
                let first = part(&element.first, at)?;
                FrameLocation::Element(Element { first, ..element.clone() })
            }
            FrameLocation::Copy { part, whole, origin } => {
                let (part, whole, origin) =
                    (Box::new(part.part(at)?), whole.clone(), origin.clone());
                FrameLocation::Copy { part, whole, origin }
            }
            FrameLocation::Slice { .. } => return None,
        })
    }

    /// Layout of the lvalue, or of its part in element 0 of an array.
    fn layout(&self) -> Option<&Layout> {
        match self {
            FrameLocation::Fixed(layout) => Some(layout),
            FrameLocation::Element(element) => Some(&element.first),
            FrameLocation::Copy { part, .. } => part.layout(),
            FrameLocation::Slice { .. } => None,
        }
    }

    /// Slots that a read or write may access, as if they were fields of a struct.
    fn extent(&self) -> Layout {
        match self {
            FrameLocation::Fixed(layout) => layout.clone(),
            FrameLocation::Slice { base, .. } => base.extent(),
            FrameLocation::Copy { origin, .. } => origin.extent(),
            FrameLocation::Element(element) => {
                let range = element.first.range();
                let bit = Scalar::Bit(1);
                // A range consists of first and count only, so the gaps count as part of it.
                let hull = |base: u32, stride: u32, len: u32| {
                    if len == 0 { 0..0 } else { base..base + stride * element.count }
                };
                let narrow = hull(range.narrow_start.0, element.stride.0, range.narrow_len);
                let wide = hull(range.wide_start.0, element.stride.1, range.wide_len);
                let mut fields: Vec<Layout> = Vec::new();
                fields.extend(narrow.map(|slot| Layout::Narrow(Slot(slot), bit)));
                fields.extend(wide.map(|slot| Layout::Wide(WideSlot(slot), bit)));
                Layout::Struct { fields, ty: Type::Void }
            }
        }
    }
}

impl Elaborator<'_> {
    /// The location that an expression names, if any. With `stable` set, later changes of an
    /// index's variables do not affect it (specification 6.8, step 3).
    pub(super) fn place(&mut self, expr: &hir::Expr, stable: bool) -> Option<Lvalue> {
        match &expr.kind {
            H::Var(id) => match self.bindings.get(id) {
                Some(Binding::Place(layout)) => {
                    Some(Lvalue::only(FrameLocation::Fixed(layout.clone())))
                }
                Some(_) => None,
                // A variable without a declaration so far: the checker has seen its declaration.
                None => {
                    let layout = self.local(*id);
                    Some(Lvalue::only(FrameLocation::Fixed(layout)))
                }
            },
            H::Field(base, at) => {
                let place = self.place(base, stable)?.place;
                let others = match plain(&base.ty) {
                    Type::HeaderUnion(of) => (0..of.fields.len() as u32)
                        .filter(|other| other != at)
                        .filter_map(|other| place.part(other))
                        .collect(),
                    _ => Vec::new(),
                };
                Some(Lvalue { place: place.part(*at)?, others })
            }
            H::Index(base, index) => {
                let place = self.place(base, stable)?.place;
                self.element_place(place, index, stable).map(Lvalue::only)
            }
            H::Slice(base, high, low) => {
                let place = self.place(base, stable)?.place;
                Some(Lvalue::only(slice_of(place, *high, *low)))
            }
            H::StackNext(base) | H::StackLast(base) => {
                let last = matches!(expr.kind, H::StackLast(_));
                let place = self.place(base, stable)?.place;
                self.next_place(place, last, expr.span).map(Lvalue::only)
            }
            // A cast between names of one type keeps the location.
            H::Cast(base) if plain(&base.ty) == plain(&expr.ty) => self.place(base, stable),
            _ => None,
        }
    }

    fn element_place(
        &mut self,
        place: FrameLocation,
        index: &hir::Expr,
        stable: bool,
    ) -> Option<FrameLocation> {
        if let Some(super::constant::Constant::Int(at)) = self.known(index) {
            if let Some(part) = at.to_u32().and_then(|at| place.part(at)) {
                return Some(part);
            }
            // Beyond the end: reads 0, writes nothing.
            let index = constant(u128::from(u32::MAX), Scalar::Bit(32), index.span);
            return self.chosen(place, index);
        }
        let index = self.scalar(index);
        let index = if stable { self.saved(index) } else { index };
        self.chosen(place, index)
    }

    /// `stack.next` or `stack.last`, with a check that it exists.
    fn next_place(
        &mut self,
        place: FrameLocation,
        last: bool,
        span: Span,
    ) -> Option<FrameLocation> {
        let Some(Layout::Stack { next, elements, .. }) = place.layout() else { return None };
        let (next, count) = (*next, elements.len() as u32);
        if !matches!(place, FrameLocation::Fixed(_)) {
            let message = "`next` and `last` of a stack inside an element chosen at run time";
            self.error("E1306", span, format!("{message} are not supported"));
            return None;
        }
        self.push(StmtKind::CheckStack { next, count, last }, span);
        let bit = Scalar::Bit(32);
        let mut index = Expr { kind: ExprKind::Slot(next), scalar: bit, span };
        if last {
            index = binary(Binary::Sub, index, constant(1, bit, span), bit, span);
        }
        let index = self.saved(index);
        self.chosen(place, index)
    }

    /// The element of a stack or tuple with an index known at run time.
    fn chosen(&mut self, place: FrameLocation, index: Expr) -> Option<FrameLocation> {
        match place {
            FrameLocation::Fixed(
                Layout::Stack { elements: parts, .. } | Layout::Struct { fields: parts, .. },
            ) => {
                let first = parts.first()?.clone();
                let range = first.range();
                let stride = (range.narrow_len, range.wide_len);
                let count = parts.len() as u32;
                Some(FrameLocation::Element(Element { first, stride, count, index }))
            }
            FrameLocation::Fixed(_) | FrameLocation::Slice { .. } => None,
            // An index inside an element chosen at run time: continues in a copy of that element.
            FrameLocation::Element(_) => {
                let ty = type_of(place.layout()?);
                let whole = self.temporary(&ty, index.span);
                let now = self.load(&place, index.span);
                self.store_fixed(&whole, now, index.span);
                let part = Box::new(self.chosen(FrameLocation::Fixed(whole.clone()), index)?);
                Some(FrameLocation::Copy { part, whole, origin: Box::new(place) })
            }
            FrameLocation::Copy { part, whole, origin } => {
                let part = Box::new(self.chosen(*part, index)?);
                Some(FrameLocation::Copy { part, whole, origin })
            }
        }
    }

    /// The value at a location.
    pub(super) fn load(&mut self, place: &FrameLocation, span: Span) -> Value {
        match place {
            FrameLocation::Fixed(layout) => value::of_layout(layout, span),
            FrameLocation::Element(element) => {
                let value = value::of_layout(&element.first, span);
                value::map(value, &mut |expr| element.read(expr))
            }
            FrameLocation::Slice { base, high, low } => match self.load(base, span) {
                Value::Scalar(base) => Value::Scalar(sliced(base, *high, *low, span)),
                other => other,
            },
            FrameLocation::Copy { part, .. } => self.load(part, span),
        }
    }

    /// Writes a value; other members of a union become invalid.
    pub(super) fn store(&mut self, lvalue: &Lvalue, value: Value, span: Span) {
        // A value that overlaps its destination is read first.
        let value = self.unaliased(&lvalue.place, value);
        let value = if lvalue.others.is_empty() { value } else { self.save(value) };
        for other in &lvalue.others {
            self.set_validity(other, false, span);
        }
        self.store_place(&lvalue.place, value, span);
    }

    fn unaliased(&mut self, place: &FrameLocation, value: Value) -> Value {
        let aggregate = !matches!(value, Value::Scalar(_));
        if aggregate && super::layout::reads(&value, &place.extent()) {
            self.save(value)
        } else {
            value
        }
    }

    fn store_place(&mut self, place: &FrameLocation, value: Value, span: Span) {
        match place {
            FrameLocation::Fixed(layout) => self.store_fixed(layout, value, span),
            FrameLocation::Element(element) => self.store_element(element, value, span),
            FrameLocation::Slice { base, high, low } => {
                if let Value::Scalar(value) = value {
                    self.store_slice(base, *high, *low, value, span);
                }
            }
            FrameLocation::Copy { part, whole, origin } => {
                self.store_place(part, value, span);
                let whole = value::of_layout(whole, span);
                self.store_place(origin, whole, span);
            }
        }
    }

    /// Writes a value to slots; the value does not read them, unless it is a scalar.
    pub(super) fn store_fixed(&mut self, layout: &Layout, value: Value, span: Span) {
        match (layout, value) {
            (Layout::Narrow(slot, _), Value::Scalar(expr)) => {
                self.push(StmtKind::Set(*slot, expr), span);
            }
            (Layout::Wide(slot, _), Value::Scalar(expr)) => {
                self.push(StmtKind::SetWide(*slot, expr), span);
            }
            (Layout::VarBit { length, value, .. }, Value::VarBit(bits, content)) => {
                self.push(StmtKind::Set(*length, bits), span);
                self.push(StmtKind::SetWide(*value, content), span);
            }
            (
                Layout::Header { valid: slot, fields: parts, .. },
                Value::Header { valid: first, fields, .. },
            )
            | (
                Layout::Stack { next: slot, elements: parts, .. },
                Value::Stack { next: first, elements: fields, .. },
            ) => {
                self.push(StmtKind::Set(*slot, first), span);
                self.store_parts(parts, fields, span);
            }
            (Layout::Union { members: parts, .. }, Value::Union { members: fields, .. })
            | (Layout::Struct { fields: parts, .. }, Value::Struct { fields, .. }) => {
                self.store_parts(parts, fields, span);
            }
            _ => {}
        }
    }

    fn store_parts(&mut self, parts: &[Layout], values: Vec<Value>, span: Span) {
        for (part, value) in parts.iter().zip(values) {
            self.store_fixed(part, value, span);
        }
    }

    fn store_element(&mut self, element: &Element, value: Value, span: Span) {
        let at = |first: &Layout| Element { first: first.clone(), ..element.clone() };
        match (&element.first, value) {
            (Layout::Narrow(slot, _), Value::Scalar(expr)) => {
                self.push(element.write(*slot, expr), span);
            }
            (Layout::Wide(slot, _), Value::Scalar(expr)) => {
                self.push(element.write_wide(*slot, expr), span);
            }
            (Layout::VarBit { length, value, .. }, Value::VarBit(bits, content)) => {
                self.push(element.write(*length, bits), span);
                self.push(element.write_wide(*value, content), span);
            }
            (
                Layout::Header { valid: slot, fields: parts, .. },
                Value::Header { valid: first, fields, .. },
            )
            | (
                Layout::Stack { next: slot, elements: parts, .. },
                Value::Stack { next: first, elements: fields, .. },
            ) => {
                self.push(element.write(*slot, first), span);
                for (part, value) in parts.iter().zip(fields) {
                    self.store_element(&at(part), value, span);
                }
            }
            (Layout::Union { members: parts, .. }, Value::Union { members: fields, .. })
            | (Layout::Struct { fields: parts, .. }, Value::Struct { fields, .. }) => {
                for (part, value) in parts.iter().zip(fields) {
                    self.store_element(&at(part), value, span);
                }
            }
            _ => {}
        }
    }

    fn store_slice(&mut self, base: &FrameLocation, high: u32, low: u32, value: Expr, span: Span) {
        match base {
            FrameLocation::Fixed(Layout::Narrow(target, _)) => {
                self.push(StmtKind::SetSlice { target: *target, high, low, value }, span);
            }
            FrameLocation::Fixed(Layout::Wide(target, _)) => {
                self.push(StmtKind::SetWideSlice { target: *target, high, low, value }, span);
            }
            _ => {
                let Value::Scalar(old) = self.load(base, span) else { return };
                let whole = old.scalar;
                let bits = Scalar::Bit(whole.width());
                let mask = (arith::wide_mask(high - low + 1)) << low;
                let kept = arith::wide_mask(whole.width()) ^ mask;
                let cast = |expr| recast(expr, bits, span);
                let kept = value::big_constant(&kept, bits, span);
                let kept = binary(Binary::BitAnd, cast(old), kept, bits, span);
                let by = constant(low.into(), Scalar::Bit(32), span);
                let moved = binary(Binary::Shl, cast(value), by, bits, span);
                let new = binary(Binary::BitOr, kept, moved, bits, span);
                self.store_place(base, Value::Scalar(recast(new, whole, span)), span);
            }
        }
    }

    /// `setValid` and `setInvalid`; other members of a union become invalid either way.
    pub(super) fn set_header_validity(&mut self, lvalue: &Lvalue, valid: bool, span: Span) {
        for other in &lvalue.others {
            self.set_validity(other, false, span);
        }
        if valid && self.fresh == Fresh::Zero {
            self.make_fresh(&lvalue.place, span);
        }
        self.set_validity(&lvalue.place, valid, span);
    }

    /// Clears the fields of a header that becomes invalid.
    fn make_fresh(&mut self, place: &FrameLocation, span: Span) {
        let Some(ty) = place.layout().map(type_of) else { return };
        let Value::Header { valid, .. } = self.load(place, span) else { return };
        let zero = self.zero(&ty, span);
        let then = self.nested(|this| this.store_place(place, zero, span));
        let condition = value::unary(Unary::Not, valid, span);
        self.push(StmtKind::If { condition, then, otherwise: Vec::new() }, span);
    }

    fn set_validity(&mut self, place: &FrameLocation, valid: bool, span: Span) {
        let value = value::truth(valid, span);
        match place {
            FrameLocation::Fixed(Layout::Header { valid, .. }) => {
                self.push(StmtKind::Set(*valid, value), span);
            }
            FrameLocation::Element(element) => {
                if let Layout::Header { valid, .. } = &element.first {
                    self.push(element.write(*valid, value), span);
                }
            }
            FrameLocation::Copy { part, whole, origin } => {
                self.set_validity(part, valid, span);
                let whole = value::of_layout(whole, span);
                self.store_place(origin, whole, span);
            }
            _ => {}
        }
    }

    /// True if an expression names a location and has no side effects.
    pub(super) fn is_plain_place(&self, expr: &hir::Expr) -> bool {
        match &expr.kind {
            H::Var(id) => {
                !matches!(self.bindings.get(id), Some(b) if !matches!(b, Binding::Place(_)))
            }
            H::Field(base, _) | H::Slice(base, ..) => self.is_plain_place(base),
            H::Index(base, index) => self.is_plain_place(base) && !has_effects(index),
            H::Cast(base) => plain(&base.ty) == plain(&expr.ty) && self.is_plain_place(base),
            _ => false,
        }
    }
}

impl Element {
    /// A slot of element 0 as the slot of the chosen element.
    fn read(&self, expr: Expr) -> Expr {
        let (count, index) = (self.count, Box::new(self.index.clone()));
        let kind = match expr.kind {
            ExprKind::Slot(base) => ExprKind::Element { base, stride: self.stride.0, count, index },
            ExprKind::WideSlot(base) => {
                ExprKind::WideElement { base, stride: self.stride.1, count, index }
            }
            other => other,
        };
        Expr { kind, ..expr }
    }

    fn write(&self, base: Slot, value: Expr) -> StmtKind {
        let (stride, count, index) = (self.stride.0, self.count, self.index.clone());
        StmtKind::SetElement { base, stride, count, index, value }
    }

    fn write_wide(&self, base: WideSlot, value: Expr) -> StmtKind {
        let (stride, count, index) = (self.stride.1, self.count, self.index.clone());
        StmtKind::SetWideElement { base, stride, count, index, value }
    }
}

/// Bits of a location; nested slices are combined.
fn slice_of(place: FrameLocation, high: u32, low: u32) -> FrameLocation {
    match place {
        FrameLocation::Slice { base, low: outer, .. } => {
            FrameLocation::Slice { base, high: outer + high, low: outer + low }
        }
        base => FrameLocation::Slice { base: Box::new(base), high, low },
    }
}

/// Bits of a value.
pub(super) fn sliced(base: Expr, high: u32, low: u32, span: Span) -> Expr {
    let scalar = Scalar::Bit((high + 1).saturating_sub(low));
    Expr { kind: ExprKind::Slice(Box::new(base), low), scalar, span }
}

/// A value converted to another scalar type.
pub(super) fn recast(expr: Expr, scalar: Scalar, span: Span) -> Expr {
    match scalar {
        Scalar::Bool => cast_to(expr, &Type::Bool, span),
        Scalar::Bit(width) => cast_to(expr, &Type::Bit(width), span),
        Scalar::Int(width) => cast_to(expr, &Type::Int(width), span),
    }
}

/// The type of a layout.
pub(super) fn type_of(layout: &Layout) -> Type {
    match layout {
        Layout::Narrow(_, scalar) | Layout::Wide(_, scalar) => match scalar {
            Scalar::Bool => Type::Bool,
            Scalar::Bit(width) => Type::Bit(*width),
            Scalar::Int(width) => Type::Int(*width),
        },
        Layout::VarBit { max, .. } => Type::VarBit(*max),
        Layout::Header { ty, .. }
        | Layout::Union { ty, .. }
        | Layout::Struct { ty, .. }
        | Layout::Stack { ty, .. } => ty.clone(),
        Layout::Object => Type::Void,
    }
}

/// True if any header of a union is valid.
pub(super) fn any_valid(value: &Value, span: Span) -> Expr {
    match value {
        Value::Header { valid, .. } => valid.clone(),
        Value::Union { members, .. } => {
            let members = members.iter().map(|member| any_valid(member, span));
            let or = |a, b| binary(Binary::Or, a, b, Scalar::Bool, span);
            members.reduce(or).unwrap_or_else(|| value::truth(false, span))
        }
        _ => value::truth(true, span),
    }
}

/// True if two values of one type are equal (specification 8.16 to 8.20).
pub(super) fn equal(a: &Value, b: &Value, span: Span) -> Expr {
    let bool2 = |op, a, b| binary(op, a, b, Scalar::Bool, span);
    let all = |a: &[Value], b: &[Value]| {
        let pairs = a.iter().zip(b).map(|(a, b)| equal(a, b, span));
        pairs.reduce(|a, b| bool2(Binary::And, a, b)).unwrap_or_else(|| value::truth(true, span))
    };
    match (a, b) {
        (Value::Scalar(a), Value::Scalar(b)) => bool2(Binary::Eq, a.clone(), b.clone()),
        (Value::VarBit(x, a), Value::VarBit(y, b)) => bool2(
            Binary::And,
            bool2(Binary::Eq, x.clone(), y.clone()),
            bool2(Binary::Eq, a.clone(), b.clone()),
        ),
        (Value::Header { valid: x, fields: a, ty }, Value::Header { valid: y, fields: b, .. }) => {
            // Padding is not part of the value.
            let declared = match plain(ty) {
                Type::Header(of) => of.fields.len().min(a.len()),
                _ => a.len(),
            };
            let a = &a[..declared];
            let neither = value::unary(Unary::Not, bool2(Binary::Or, x.clone(), y.clone()), span);
            let both = bool2(Binary::And, x.clone(), y.clone());
            bool2(Binary::Or, neither, bool2(Binary::And, both, all(a, b)))
        }
        (Value::String(a), Value::String(b)) => value::truth(a == b, span),
        _ => all(value::parts(a), value::parts(b)),
    }
}

//! Elaboration of the packet operations of core.p4: `packet_in`, `packet_out`, `verify`
//! (specification chapters 13 and 16).

use super::layout::LayoutUse;
use super::lvalue::{FrameLocation, Lvalue};
use super::{Elaborator, plain, value};
use crate::hir::{self, Arg, ExprKind as H};
use crate::ir::{Binary, Expr, ExprKind, Layout, Scalar, StmtKind, Value};
use crate::source::Span;
use crate::types::{FieldsType, Type};

impl Elaborator<'_> {
    /// A method of the packet.
    pub(super) fn packet_call(&mut self, name: &str, call: &hir::Call) -> Option<Value> {
        match (name, &call.args[..]) {
            ("extract", [Arg::DontCare]) => {
                let header = call.type_args.first()?.clone();
                let bits = width_of(&header);
                self.push(StmtKind::Skip { header, bits }, call.span);
                None
            }
            ("extract", [Arg::Out(header) | Arg::InOut(header), bits @ ..]) => {
                let bits = match bits {
                    [Arg::In(bits)] => Some(bits),
                    _ => None,
                };
                self.extract(header, bits, call.span);
                None
            }
            ("advance", [Arg::In(bits)]) => {
                let bits = self.scalar(bits);
                self.push(StmtKind::Advance { bits }, call.span);
                None
            }
            ("emit", [Arg::In(data)]) => {
                self.emit(data, call.span);
                None
            }
            ("lookahead", _) => Some(self.lookahead(&call.returns, call.span)),
            ("length", _) => {
                let kind = ExprKind::PacketLength;
                Some(Value::Scalar(Expr { kind, scalar: Scalar::Bit(32), span: call.span }))
            }
            _ => {
                let message = format!("`{name}` is not a method of a packet known here");
                self.error("E1306", call.span, message);
                None
            }
        }
    }

    fn extract(&mut self, header: &hir::Expr, bits: Option<&hir::Expr>, span: Span) {
        if let (H::StackNext(stack), None) = (&header.kind, bits)
            && let Some(lvalue) = self.place(stack, true)
            && let Some(layout @ Layout::Stack { elements, .. }) = lvalue.fixed()
            && matches!(elements.first(), Some(Layout::Header { .. }))
        {
            self.push(StmtKind::ExtractNext { stack: layout.clone() }, span);
            return;
        }
        let Some(lvalue) = self.place(header, true) else { return };
        let bits = bits.map(|bits| self.scalar(bits));
        match lvalue.fixed().cloned() {
            Some(layout) => self.extract_fixed(layout, bits, span),
            None => {
                let layout = self.temporary(&header.ty, span);
                self.extract_fixed(layout.clone(), bits, span);
                let extracted = value::of_layout(&layout, span);
                self.store(&lvalue, extracted, span);
            }
        }
        if let Some(stack) = stack_of_next(header) {
            self.count_next(stack, span);
        }
    }

    fn extract_fixed(&mut self, header: Layout, bits: Option<Expr>, span: Span) {
        self.push(
            match bits {
                Some(bits) => StmtKind::ExtractVar { header, bits },
                None => {
                    let bits = u32::try_from(header.wire_bits(None)).unwrap_or(u32::MAX);
                    StmtKind::Extract { header, bits }
                }
            },
            span,
        );
    }

    /// Increments `nextIndex` after an extraction into `next`.
    fn count_next(&mut self, stack: &hir::Expr, span: Span) {
        if let Some(Lvalue { place: FrameLocation::Fixed(Layout::Stack { next, .. }), .. }) =
            self.place(stack, true)
        {
            let bit = Scalar::Bit(32);
            let now = Expr { kind: ExprKind::Slot(next), scalar: bit, span };
            let more = value::binary(Binary::Add, now, value::constant(1, bit, span), bit, span);
            self.push(StmtKind::Set(next, more), span);
        }
    }

    /// A lookahead may end the parser, so it is evaluated in place, into a temporary.
    fn lookahead(&mut self, ty: &Type, span: Span) -> Value {
        let shape = self.zero(ty, span);
        let mut offset = 0;
        let ahead = self.ahead(shape, &mut offset);
        self.save(ahead)
    }

    /// The value with its fields read from the packet; headers are valid.
    fn ahead(&mut self, shape: Value, offset: &mut u32) -> Value {
        match shape {
            Value::Scalar(Expr { scalar, span, .. }) => {
                let kind = ExprKind::Lookahead { offset: *offset };
                *offset = offset.saturating_add(scalar.width());
                Value::Scalar(Expr { kind, scalar, span })
            }
            Value::Header { valid, fields, ty } => {
                let valid = value::truth(true, valid.span);
                Value::Header { valid, fields: self.ahead_all(fields, offset), ty }
            }
            Value::Struct { fields, ty } => {
                Value::Struct { fields: self.ahead_all(fields, offset), ty }
            }
            Value::Stack { next, elements, ty } => {
                Value::Stack { next, elements: self.ahead_all(elements, offset), ty }
            }
            other => other,
        }
    }

    fn ahead_all(&mut self, parts: Vec<Value>, offset: &mut u32) -> Vec<Value> {
        parts.into_iter().map(|part| self.ahead(part, offset)).collect()
    }

    fn emit(&mut self, data: &hir::Expr, span: Span) {
        if self.is_plain_place(data)
            && let Some(lvalue) = self.place(data, false)
            && let FrameLocation::Fixed(layout) = lvalue.place
        {
            self.push(StmtKind::Emit(layout), span);
            return;
        }
        let value = self.value(data);
        let purpose = LayoutUse { temporary: false, span };
        let layout = self.allocate(&data.ty, "$emitted$", purpose);
        self.store_fixed(&layout, value, span);
        self.push(StmtKind::Emit(layout), span);
    }

    /// `verify(condition, error)`
    pub(super) fn verify(&mut self, call: &hir::Call) -> Option<Value> {
        let [Arg::In(condition), Arg::In(error)] = &call.args[..] else { return None };
        let values = self.values(&[condition, error]);
        if let [Value::Scalar(condition), Value::Scalar(error)] = &values[..] {
            let (condition, error) = (condition.clone(), error.clone());
            self.push(StmtKind::Verify { condition, error }, call.span);
        }
        None
    }
}

/// The stack whose `next` an expression is, or is a member of.
fn stack_of_next(expr: &hir::Expr) -> Option<&hir::Expr> {
    match &expr.kind {
        H::StackNext(stack) => Some(stack),
        H::Field(base, _) => stack_of_next(base),
        _ => None,
    }
}

/// Bits of a type of fixed width on the wire, padding included.
fn width_of(ty: &Type) -> u32 {
    match plain(ty) {
        Type::Struct(of) => declared_width(of),
        Type::Header(of) => declared_width(of).saturating_add(padding_bits(of)),
        Type::Tuple(types) => types.iter().fold(0, |sum, ty| width_of(ty).saturating_add(sum)),
        Type::Stack(element, count) => width_of(element).saturating_mul(*count),
        other => super::components::scalar(other).map_or(0, Scalar::width),
    }
}

/// Bits of the fields that a type declares.
fn declared_width(of: &FieldsType) -> u32 {
    of.fields.iter().fold(0, |sum, field| width_of(&field.ty).saturating_add(sum))
}

/// Bits behind the fields of a header that fill its last byte, if it is flexible: the compiler lays
/// such a header out.
pub(super) fn padding_bits(of: &FieldsType) -> u32 {
    if of.is_flexible() { (8 - declared_width(of) % 8) % 8 } else { 0 }
}

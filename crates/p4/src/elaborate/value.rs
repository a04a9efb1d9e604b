//! Values as trees of scalar expressions: construction from constants and layouts, decomposition,
//! conversion.

use super::components::{part_types, scalar};
use super::constant::Constant;
use super::packet::padding_bits;
use super::{Elaborator, plain};
use crate::interp::arith;
use crate::ir::{Binary, Expr, ExprKind, Layout, Scalar, StmtKind, Unary, Value};
use crate::source::Span;
use crate::types::{FieldsType, Type};
use num_bigint::{BigInt, BigUint};

/// A constant of at most 128 bits.
pub(super) fn constant(value: u128, scalar: Scalar, span: Span) -> Expr {
    Expr { kind: ExprKind::Const(value), scalar, span }
}

/// A constant of any width.
pub(super) fn big_constant(value: &BigUint, scalar: Scalar, span: Span) -> Expr {
    let kind = if scalar.is_narrow() {
        ExprKind::Const(arith::narrowed(value))
    } else {
        ExprKind::WideConst(value.clone())
    };
    Expr { kind, scalar, span }
}

/// The scalar of a number that has no width of its own.
pub(super) fn natural_scalar(value: &BigInt) -> Scalar {
    match value.sign() {
        num_bigint::Sign::Minus => Scalar::Int((value.bits() as u32 + 1).max(32)),
        _ => Scalar::Bit((value.bits() as u32).max(32)),
    }
}

pub(super) fn unary(op: Unary, a: Expr, span: Span) -> Expr {
    let scalar = a.scalar;
    Expr { kind: ExprKind::Unary(op, Box::new(a)), scalar, span }
}

pub(super) fn binary(op: Binary, a: Expr, b: Expr, scalar: Scalar, span: Span) -> Expr {
    Expr { kind: ExprKind::Binary(op, Box::new(a), Box::new(b)), scalar, span }
}

pub(super) fn truth(value: bool, span: Span) -> Expr {
    constant(value.into(), Scalar::Bool, span)
}

fn slot(slot: crate::ir::Slot, scalar: Scalar, span: Span) -> Expr {
    Expr { kind: ExprKind::Slot(slot), scalar, span }
}

/// Value stored in a layout.
pub(super) fn of_layout(layout: &Layout, span: Span) -> Value {
    let parts = |parts: &[Layout]| parts.iter().map(|part| of_layout(part, span)).collect();
    match layout {
        Layout::Narrow(at, scalar) => Value::Scalar(slot(*at, *scalar, span)),
        Layout::Wide(at, scalar) => {
            Value::Scalar(Expr { kind: ExprKind::WideSlot(*at), scalar: *scalar, span })
        }
        Layout::VarBit { length, value, max } => {
            let scalar = Scalar::Bit(*max);
            let value = Expr { kind: ExprKind::WideSlot(*value), scalar, span };
            Value::VarBit(slot(*length, Scalar::Bit(32), span), value)
        }
        Layout::Header { valid, fields, ty } => Value::Header {
            valid: slot(*valid, Scalar::Bool, span),
            fields: parts(fields),
            ty: ty.clone(),
        },
        Layout::Union { members, ty } => Value::Union { members: parts(members), ty: ty.clone() },
        Layout::Struct { fields, ty } => Value::Struct { fields: parts(fields), ty: ty.clone() },
        Layout::Stack { next, elements, ty } => Value::Stack {
            next: slot(*next, Scalar::Bit(32), span),
            elements: parts(elements),
            ty: ty.clone(),
        },
        Layout::Object => Value::String("".into()),
    }
}

/// The components of a value that is not a scalar.
pub(super) fn parts(value: &Value) -> &[Value] {
    match value {
        Value::Header { fields: parts, .. }
        | Value::Union { members: parts, .. }
        | Value::Struct { fields: parts, .. }
        | Value::Stack { elements: parts, .. } => parts,
        Value::Scalar(_) | Value::VarBit(..) | Value::String(_) => &[],
    }
}

/// True if `test` holds for a scalar expression of the value.
pub(super) fn any_leaf(value: &Value, test: &mut dyn FnMut(&Expr) -> bool) -> bool {
    let own = match value {
        Value::Scalar(expr) => test(expr),
        Value::VarBit(length, bits) => test(length) || test(bits),
        Value::Header { valid: expr, .. } | Value::Stack { next: expr, .. } => test(expr),
        _ => false,
    };
    own || parts(value).iter().any(|part| any_leaf(part, test))
}

/// True if `test` holds for the expression or one inside it.
pub(super) fn any_node(expr: &Expr, test: &mut dyn FnMut(&Expr) -> bool) -> bool {
    test(expr)
        || match &expr.kind {
            ExprKind::Unary(_, a) | ExprKind::Slice(a, _) | ExprKind::Cast(a) => any_node(a, test),
            ExprKind::Element { index, .. } | ExprKind::WideElement { index, .. } => {
                any_node(index, test)
            }
            ExprKind::Binary(_, a, b) => any_node(a, test) || any_node(b, test),
            ExprKind::Mux(c, a, b) => any_node(c, test) || any_node(a, test) || any_node(b, test),
            _ => false,
        }
}

/// A value with each scalar expression replaced.
pub(super) fn map(value: Value, change: &mut dyn FnMut(Expr) -> Expr) -> Value {
    let all = |parts: Vec<Value>, change: &mut dyn FnMut(Expr) -> Expr| {
        parts.into_iter().map(|part| map(part, change)).collect::<Vec<_>>()
    };
    match value {
        Value::Scalar(expr) => Value::Scalar(change(expr)),
        Value::VarBit(length, bits) => Value::VarBit(change(length), change(bits)),
        Value::Header { valid, fields, ty } => {
            let valid = change(valid);
            Value::Header { valid, fields: all(fields, change), ty }
        }
        Value::Union { members, ty } => Value::Union { members: all(members, change), ty },
        Value::Struct { fields, ty } => Value::Struct { fields: all(fields, change), ty },
        Value::Stack { next, elements, ty } => {
            let next = change(next);
            Value::Stack { next, elements: all(elements, change), ty }
        }
        Value::String(text) => Value::String(text),
    }
}

impl Elaborator<'_> {
    /// A known value as a value of a type.
    pub(super) fn known_value(&mut self, known: &Constant, ty: &Type, span: Span) -> Value {
        match (plain(ty), known) {
            (_, Constant::String(text)) => Value::String(text.clone()),
            (Type::InfInt, Constant::Int(number)) => {
                let scalar = natural_scalar(number);
                let pattern = arith::pattern(number, scalar.width());
                Value::Scalar(big_constant(&pattern, scalar, span))
            }
            (_, Constant::Int(number)) => {
                let scalar = scalar(ty).unwrap_or_else(|| natural_scalar(number));
                let pattern = arith::pattern(number, scalar.width());
                Value::Scalar(big_constant(&pattern, scalar, span))
            }
            (_, Constant::Bool(value)) => Value::Scalar(truth(*value, span)),
            (ty, Constant::Invalid) => self.zero(ty, span),
            (shape, Constant::Aggregate(items)) => {
                let types = part_types(shape);
                let parts = items.iter().enumerate();
                let parts = parts.map(|(at, item)| match types(at) {
                    Some(ty) => self.known_value(item, &ty, span),
                    None => self.known_value(item, &Type::InfInt, span),
                });
                let parts = parts.collect();
                assemble(ty, parts, span)
            }
        }
    }

    /// The value of a type that is all zero: numbers 0, headers invalid, stacks empty.
    pub(super) fn zero(&mut self, ty: &Type, span: Span) -> Value {
        match plain(ty) {
            Type::VarBit(max) => Value::VarBit(
                constant(0, Scalar::Bit(32), span),
                big_constant(&BigUint::ZERO, Scalar::Bit(*max), span),
            ),
            Type::Header(of) => {
                let fields = of.fields.iter().map(|field| self.zero(&field.ty, span)).collect();
                let fields = padded(of, fields, span);
                Value::Header { valid: truth(false, span), fields, ty: ty.clone() }
            }
            Type::HeaderUnion(of) => {
                let members = of.fields.iter().map(|field| self.zero(&field.ty, span)).collect();
                Value::Union { members, ty: ty.clone() }
            }
            Type::Struct(of) => {
                let fields = of.fields.iter().map(|field| self.zero(&field.ty, span)).collect();
                Value::Struct { fields, ty: ty.clone() }
            }
            Type::Tuple(types) => {
                let fields = types.iter().map(|ty| self.zero(ty, span)).collect();
                Value::Struct { fields, ty: ty.clone() }
            }
            Type::Stack(element, count) => {
                let one = self.zero(element, span);
                let elements = vec![one; *count as usize];
                Value::Stack { next: constant(0, Scalar::Bit(32), span), elements, ty: ty.clone() }
            }
            Type::String | Type::Extern(..) | Type::Void | Type::List(_) => {
                Value::String("".into())
            }
            other => {
                let scalar = scalar(other).unwrap_or(Scalar::Bit(32));
                Value::Scalar(big_constant(&BigUint::ZERO, scalar, span))
            }
        }
    }

    /// Stores values that would be evaluated later in temporaries.
    pub(super) fn save(&mut self, value: Value) -> Value {
        map(value, &mut |expr| self.saved(expr))
    }

    /// The same for a scalar.
    pub(super) fn saved(&mut self, expr: Expr) -> Expr {
        let settled = match &expr.kind {
            ExprKind::Const(_) | ExprKind::WideConst(_) => true,
            ExprKind::Slot(slot) => self.unit.slots[slot.index()].temporary,
            ExprKind::WideSlot(slot) => self.unit.wide_slots[slot.index()].temporary,
            _ => false,
        };
        if settled { expr } else { self.in_temporary(expr) }
    }

    /// A temporary that holds the value, as an expression.
    pub(super) fn in_temporary(&mut self, expr: Expr) -> Expr {
        let (scalar, span) = (expr.scalar, expr.span);
        let ty = match scalar {
            Scalar::Bool => Type::Bool,
            Scalar::Bit(width) => Type::Bit(width),
            Scalar::Int(width) => Type::Int(width),
        };
        match self.temporary(&ty, span) {
            Layout::Narrow(to, _) => {
                self.push(StmtKind::Set(to, expr), span);
                slot(to, scalar, span)
            }
            Layout::Wide(to, _) => {
                self.push(StmtKind::SetWide(to, expr), span);
                Expr { kind: ExprKind::WideSlot(to), scalar, span }
            }
            _ => expr,
        }
    }
}

/// Builds a value of a type from its components; a header is valid.
pub(super) fn assemble(ty: &Type, parts: Vec<Value>, span: Span) -> Value {
    match plain(ty) {
        Type::Header(of) => {
            let fields = padded(of, parts, span);
            Value::Header { valid: truth(true, span), fields, ty: ty.clone() }
        }
        Type::HeaderUnion(_) => Value::Union { members: parts, ty: ty.clone() },
        Type::Stack(..) => Value::Stack {
            next: constant(0, Scalar::Bit(32), span),
            elements: parts,
            ty: ty.clone(),
        },
        _ => Value::Struct { fields: parts, ty: ty.clone() },
    }
}

/// The fields of a header value with its padding, which is zero in a value of the program.
fn padded(of: &FieldsType, mut fields: Vec<Value>, span: Span) -> Vec<Value> {
    let bits = padding_bits(of);
    if bits > 0 && fields.len() == of.fields.len() {
        fields.push(Value::Scalar(constant(0, Scalar::Bit(bits), span)));
    }
    fields
}

/// A value of a structural type read as one of another type of the same shape.
pub(super) fn retype(value: Value, ty: &Type, span: Span) -> Value {
    let same_kind = matches!(
        (&value, plain(ty)),
        (Value::Header { .. }, Type::Header(_))
            | (Value::Union { .. }, Type::HeaderUnion(_))
            | (Value::Stack { .. }, Type::Stack(..))
    );
    let types = part_types(ty);
    let change = |parts: Vec<Value>| -> Vec<Value> {
        let parts = parts.into_iter().enumerate();
        parts
            .map(|(at, part)| match types(at) {
                Some(ty) => retype(part, &ty, span),
                None => part,
            })
            .collect()
    };
    match value {
        Value::Scalar(expr) => Value::Scalar(cast_to(expr, ty, span)),
        Value::Header { valid, fields, .. } if same_kind => {
            Value::Header { valid, fields: change(fields), ty: ty.clone() }
        }
        Value::Union { members, .. } if same_kind => {
            Value::Union { members: change(members), ty: ty.clone() }
        }
        Value::Stack { next, elements, .. } if same_kind => {
            Value::Stack { next, elements: change(elements), ty: ty.clone() }
        }
        Value::Struct { fields: parts, .. }
        | Value::Header { fields: parts, .. }
        | Value::Union { members: parts, .. }
        | Value::Stack { elements: parts, .. } => assemble(ty, change(parts), span),
        other => other,
    }
}

/// A scalar as a value of another scalar type; the expression itself if nothing changes.
pub(super) fn cast_to(expr: Expr, ty: &Type, span: Span) -> Expr {
    match scalar(ty) {
        Some(scalar) if scalar != expr.scalar => {
            Expr { kind: ExprKind::Cast(Box::new(expr)), scalar, span }
        }
        _ => expr,
    }
}

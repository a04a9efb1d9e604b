//! Unary and binary operators (specification 8.5 to 8.10).
//!
//! For each operator: its operand types, its implicit casts, and folding of known operands.

use super::Checker;
use super::constant::{self, FoldError};
use super::messages::code;
use super::operand::{boolean, broken, integer, is_constant, typed};
use crate::ast::{self, BinaryOp, UnaryOp};
use crate::diagnostic::Diagnostic;
use crate::hir::{Expr, ExprKind, Value};
use crate::source::Span;
use crate::types::{MAX_WIDTH, Type};
use num_bigint::BigInt;
use num_traits::Signed;

/// Text of an operator.
pub(super) fn symbol(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Mul => "*",
        BinaryOp::Div => "/",
        BinaryOp::Mod => "%",
        BinaryOp::Add => "+",
        BinaryOp::Sub => "-",
        BinaryOp::SatAdd => "|+|",
        BinaryOp::SatSub => "|-|",
        BinaryOp::Shl => "<<",
        BinaryOp::Shr => ">>",
        BinaryOp::Le => "<=",
        BinaryOp::Ge => ">=",
        BinaryOp::Lt => "<",
        BinaryOp::Gt => ">",
        BinaryOp::Ne => "!=",
        BinaryOp::Eq => "==",
        BinaryOp::BitAnd => "&",
        BinaryOp::BitXor => "^",
        BinaryOp::BitOr => "|",
        BinaryOp::Concat => "++",
        BinaryOp::And => "&&",
        BinaryOp::Or => "||",
    }
}

fn is_comparison(op: BinaryOp) -> bool {
    use BinaryOp::{Eq, Ge, Gt, Le, Lt, Ne};
    matches!(op, Eq | Ge | Gt | Le | Lt | Ne)
}

/// True if two values of the type can be compared with `==`.
pub(super) fn has_equality(ty: &Type) -> bool {
    match ty {
        Type::Bool | Type::Bit(_) | Type::Int(_) | Type::VarBit(_) | Type::InfInt => true,
        Type::Error | Type::MatchKind | Type::Enum(_) | Type::SerializableEnum(_) => true,
        Type::New(new) => has_equality(&new.target),
        // Two untyped literals have no common type.
        Type::Struct(f) if f.name.is_empty() => false,
        Type::Struct(f) | Type::Header(f) | Type::HeaderUnion(f) => {
            f.fields.iter().all(|field| has_equality(&field.ty))
        }
        Type::Stack(element, _) => has_equality(element),
        Type::Tuple(elements) => elements.iter().all(has_equality),
        _ => false,
    }
}

impl Checker<'_> {
    /// An enum with representation as its number; anything else unchanged.
    pub(super) fn enum_as_number(&mut self, expr: Expr) -> Expr {
        let Type::SerializableEnum(e) = &expr.ty else { return expr };
        let Some(ty) = e.underlying.clone() else { return expr };
        let span = expr.span;
        match expr.kind {
            ExprKind::Const(value) => typed(ExprKind::Const(value), ty, span),
            _ => typed(ExprKind::Cast(Box::new(expr)), ty, span),
        }
    }

    pub(super) fn unary(&mut self, op: UnaryOp, operand: &ast::Expr, span: Span) -> Expr {
        let operand = self.expr(operand, None);
        if operand.ty == Type::Unknown {
            return broken(span);
        }
        let operand = if op == UnaryOp::Not { operand } else { self.enum_as_number(operand) };
        let allowed = match op {
            UnaryOp::Not => operand.ty == Type::Bool,
            UnaryOp::Complement => matches!(operand.ty, Type::Bit(_) | Type::Int(_)),
            UnaryOp::Negate | UnaryOp::Plus => {
                matches!(operand.ty, Type::Bit(_) | Type::Int(_) | Type::InfInt)
            }
        };
        if !allowed {
            let (symbol, wanted) = match op {
                UnaryOp::Not => ("!", "`bool`"),
                UnaryOp::Complement => ("~", "`bit<W>` or `int<W>`"),
                UnaryOp::Negate => ("-", "a number"),
                UnaryOp::Plus => ("+", "a number"),
            };
            let found = self.show(&operand.ty);
            let message = format!("`{symbol}` takes {wanted}, found `{found}`");
            self.error(code::OPERANDS, span, message);
            return broken(span);
        }
        let ty = operand.ty.clone();
        if let ExprKind::Const(value) = &operand.kind
            && let Some(value) = constant::unary(op, value, &ty)
        {
            return typed(ExprKind::Const(value), ty, span);
        }
        if op == UnaryOp::Plus {
            return Expr { span, ..operand };
        }
        typed(ExprKind::Unary(op, Box::new(operand)), ty, span)
    }

    pub(super) fn binary(
        &mut self,
        op: BinaryOp,
        left: &ast::Expr,
        right: &ast::Expr,
        span: Span,
    ) -> Expr {
        let left = self.expr(left, None);
        let expected = is_comparison(op).then(|| left.ty.clone());
        let right = self.expr(right, expected.as_ref());
        self.binary_values(op, left, right, span)
    }

    /// A binary operation on typed operands.
    pub(super) fn binary_values(
        &mut self,
        op: BinaryOp,
        left: Expr,
        right: Expr,
        span: Span,
    ) -> Expr {
        if left.ty == Type::Unknown || right.ty == Type::Unknown {
            return broken(span);
        }
        let typed_operands = match op {
            BinaryOp::Shl | BinaryOp::Shr => return self.shift(op, left, right, span),
            BinaryOp::Concat => self.concat_operands(left, right, span),
            BinaryOp::And | BinaryOp::Or => self.truth_operands(op, left, right, span),
            BinaryOp::Eq | BinaryOp::Ne => self.equality_operands(op, left, right, span),
            _ => self.number_operands(op, left, right, span),
        };
        match typed_operands {
            Some((left, right, ty)) => self.folded(op, left, right, ty, span),
            None => broken(span),
        }
    }

    fn folded(&mut self, op: BinaryOp, left: Expr, right: Expr, ty: Type, span: Span) -> Expr {
        if let (ExprKind::Const(a), ExprKind::Const(b)) = (&left.kind, &right.kind) {
            match constant::binary(op, (a, &left.ty), (b, &right.ty)) {
                Ok(Some(value)) => return typed(ExprKind::Const(value), ty, span),
                Ok(None) => {}
                Err(error) => return self.fold_error(error, span),
            }
        } else if is_constant(&left) && is_constant(&right) && is_comparison(op) {
            if let Some(equal) = constants_equal(&left, &right) {
                return boolean(equal == (op == BinaryOp::Eq), span);
            }
        } else if let (BinaryOp::Div | BinaryOp::Mod, ExprKind::Const(Value::Int(n))) =
            (op, &right.kind)
            && *n == BigInt::from(0)
        {
            return self.fold_error(FoldError::DivisionByZero, span);
        }
        typed(ExprKind::Binary(op, Box::new(left), Box::new(right)), ty, span)
    }

    fn fold_error(&mut self, error: FoldError, span: Span) -> Expr {
        self.error(code::ARITHMETIC, span, error.to_string());
        broken(span)
    }

    /// Reports that an operator does not support these operands.
    fn bad_operands(&mut self, op: BinaryOp, left: &Expr, right: &Expr, span: Span, why: &str) {
        let (a, b) = (self.show(&left.ty), self.show(&right.ty));
        let message = format!("`{}` cannot join `{a}` and `{b}`", symbol(op));
        let diagnostic = Diagnostic::error(code::OPERANDS, span, message)
            .with_place(left.span, format!("`{a}`"))
            .with_place(right.span, format!("`{b}`"));
        self.report(if why.is_empty() { diagnostic } else { diagnostic.with_note(why) });
    }

    /// Casts a plain number to the other operand's type, and enums to numbers where they differ.
    pub(super) fn balance(&mut self, left: Expr, right: Expr) -> (Expr, Expr) {
        if left.ty == right.ty {
            return (left, right);
        }
        let number = |ty: &Type| matches!(ty, Type::Bit(_) | Type::Int(_) | Type::InfInt);
        let is_enum = |ty: &Type| matches!(ty, Type::SerializableEnum(_));
        let (left, right) = if (is_enum(&left.ty) || number(&left.ty))
            && (is_enum(&right.ty) || number(&right.ty))
        {
            (self.enum_as_number(left), self.enum_as_number(right))
        } else {
            (left, right)
        };
        match (&left.ty, &right.ty) {
            (Type::InfInt, Type::Bit(_) | Type::Int(_)) => {
                let left = self.number_to(left, &right.ty);
                (left, right)
            }
            (Type::Bit(_) | Type::Int(_), Type::InfInt) => {
                let right = self.number_to(right, &left.ty);
                (left, right)
            }
            _ => (left, right),
        }
    }

    fn number_operands(
        &mut self,
        op: BinaryOp,
        left: Expr,
        right: Expr,
        span: Span,
    ) -> Option<(Expr, Expr, Type)> {
        use BinaryOp::{Div, Mod, SatAdd, SatSub};
        let (left, right) = (self.enum_as_number(left), self.enum_as_number(right));
        if matches!(op, Div | Mod) && (is_negative(&left) || is_negative(&right)) {
            self.fold_error(FoldError::NegativeDivision, span);
            return None;
        }
        let (left, right) = self.balance(left, right);
        let allowed = match (&left.ty, op) {
            (Type::Bit(_), _) => true,
            (Type::Int(_), _) => !matches!(op, Div | Mod),
            // The specification excludes `&`, `|` and `^` here; p4c computes them.
            (Type::InfInt, _) => !matches!(op, SatAdd | SatSub),
            _ => false,
        };
        if !allowed || left.ty != right.ty {
            let why = match (&left.ty, &right.ty) {
                (Type::Bit(_) | Type::Int(_), Type::Bit(_) | Type::Int(_))
                    if left.ty != right.ty =>
                {
                    "both operands must have the same width and sign; cast one of them"
                }
                (Type::Int(_), Type::Int(_)) => "division is defined for unsigned numbers only",
                (Type::InfInt, Type::InfInt) => "a width is needed, as in `8w5`",
                _ => "both operands must be numbers of the same type",
            };
            self.bad_operands(op, &left, &right, span, why);
            return None;
        }
        let ty = if is_comparison(op) { Type::Bool } else { left.ty.clone() };
        Some((left, right, ty))
    }

    fn truth_operands(
        &mut self,
        op: BinaryOp,
        left: Expr,
        right: Expr,
        span: Span,
    ) -> Option<(Expr, Expr, Type)> {
        if left.ty == Type::Bool && right.ty == Type::Bool {
            return Some((left, right, Type::Bool));
        }
        self.bad_operands(op, &left, &right, span, "both operands must be `bool`");
        None
    }

    fn equality_operands(
        &mut self,
        op: BinaryOp,
        left: Expr,
        right: Expr,
        span: Span,
    ) -> Option<(Expr, Expr, Type)> {
        let (left, right) = self.balance(left, right);
        let (left, right) = match self.try_convert(right, &left.ty) {
            Ok(right) => (left, right),
            Err(right) => match self.try_convert(left, &right.ty) {
                Ok(left) => (left, right),
                Err(left) => {
                    let why = "both operands must have the same type";
                    self.bad_operands(op, &left, &right, span, why);
                    return None;
                }
            },
        };
        if !has_equality(&left.ty) {
            let why = "values of this type cannot be compared";
            self.bad_operands(op, &left, &right, span, why);
            return None;
        }
        Some((left, right, Type::Bool))
    }

    fn concat_operands(
        &mut self,
        left: Expr,
        right: Expr,
        span: Span,
    ) -> Option<(Expr, Expr, Type)> {
        let (left, right) = (self.enum_as_number(left), self.enum_as_number(right));
        let width = |ty: &Type| match ty {
            Type::Bit(width) | Type::Int(width) => Some(*width),
            _ => None,
        };
        if left.ty == Type::String && right.ty == Type::String {
            return Some((left, right, Type::String));
        }
        if let (Some(a), Some(b)) = (width(&left.ty), width(&right.ty))
            && let Some(sum) = a.checked_add(b).filter(|sum| *sum <= MAX_WIDTH)
        {
            let signed = matches!(left.ty, Type::Int(_));
            let ty = if signed { Type::Int(sum) } else { Type::Bit(sum) };
            return Some((left, right, ty));
        }
        let why = "`++` joins two numbers with widths, or two strings";
        self.bad_operands(BinaryOp::Concat, &left, &right, span, why);
        None
    }

    /// The result has the left operand's type; the right one is never negative.
    fn shift(&mut self, op: BinaryOp, left: Expr, right: Expr, span: Span) -> Expr {
        let (left, right) = (self.enum_as_number(left), self.enum_as_number(right));
        let known = self.is_known(&right);
        let why = match (&left.ty, &right.ty) {
            (Type::Bit(_) | Type::Int(_), Type::Bit(_)) => None,
            // Action data is a constant of the entry: the number gets its width where it is used.
            (Type::InfInt, Type::Bit(_)) if self.is_known_or_action_data(&right) => None,
            (Type::InfInt, Type::Bit(_)) => {
                Some("a number without a width can be shifted only by a known amount")
            }
            (Type::Bit(_) | Type::Int(_) | Type::InfInt, Type::InfInt | Type::Int(_)) if known => {
                None
            }
            (Type::Bit(_) | Type::Int(_) | Type::InfInt, Type::Int(_)) => {
                Some("the amount must be unsigned: `bit<W>`")
            }
            _ => Some("shifts take numbers; the amount is `bit<W>` or a known number"),
        };
        if let Some(why) = why {
            self.bad_operands(op, &left, &right, span, why);
            return broken(span);
        }
        self.warn_large_shift(&left, &right);
        let ty = left.ty.clone();
        let folded = self.folded(op, left, right, ty, span);
        match folded.kind {
            ExprKind::Binary(op, left, right) => {
                let right = self.shift_amount(*right);
                typed(ExprKind::Binary(op, left, Box::new(right)), folded.ty, span)
            }
            _ => folded,
        }
    }

    /// A known amount as an unsigned number, since nothing at run time has the type `int`. It has 8
    /// bits or what it needs, so that a back end with a narrow count tells it from a typed one.
    fn shift_amount(&mut self, amount: Expr) -> Expr {
        match (&amount.kind, &amount.ty) {
            (ExprKind::Const(Value::Int(n)), Type::InfInt | Type::Int(_)) => {
                if n.is_negative() {
                    return self.fold_error(FoldError::NegativeShift, amount.span);
                }
                let width = (n.bits() as u32).max(8);
                integer(n.clone(), Type::Bit(width), amount.span)
            }
            (_, Type::InfInt) => {
                let span = amount.span;
                typed(ExprKind::Cast(Box::new(amount)), Type::Bit(32), span)
            }
            _ => amount,
        }
    }

    fn warn_large_shift(&mut self, left: &Expr, right: &Expr) {
        let (Type::Bit(width) | Type::Int(width)) = &left.ty else { return };
        let ExprKind::Const(Value::Int(n)) = &right.kind else { return };
        if *n >= BigInt::from(*width) {
            let message = format!("a shift by {n} moves all bits out of `{}`", self.show(&left.ty));
            self.warning(code::OVERFLOW, right.span, message);
        }
    }
}

/// True for a number below zero that is written in the program.
fn is_negative(expr: &Expr) -> bool {
    matches!(&expr.kind, ExprKind::Const(Value::Int(n)) if n.is_negative())
}

/// Whether two known values of one type are equal; `None` if that is not known here.
fn constants_equal(a: &Expr, b: &Expr) -> Option<bool> {
    match (&a.kind, &b.kind) {
        (ExprKind::Const(a), ExprKind::Const(b)) => Some(a == b),
        (ExprKind::Aggregate(a), ExprKind::Aggregate(b)) => a
            .iter()
            .zip(b)
            .try_fold(a.len() == b.len(), |equal, (a, b)| Some(equal && constants_equal(a, b)?)),
        (ExprKind::InvalidHeader, ExprKind::InvalidHeader) => Some(true),
        _ => None,
    }
}

//! Lvalues and the directions of parameters (specification 6.6 and 6.7).

use super::Checker;
use super::messages::code;
use super::operand::broken;
use crate::ast::{self, Direction};
use crate::diagnostic::Diagnostic;
use crate::hir::{Expr, ExprKind, VarId, VarKind};
use crate::source::Span;
use crate::types::Type;

/// Reason why an expression is not assignable.
enum ReadOnly {
    /// It is not an lvalue.
    NoPlace(&'static str),
    /// The variable is read-only.
    Var(VarId),
}

impl Checker<'_> {
    /// An expression to be assigned; reports it if it is not assignable.
    pub(super) fn lvalue(&mut self, expr: &ast::Expr) -> Expr {
        let value = self.expr(expr, None);
        if value.ty == Type::Unknown {
            return value;
        }
        if self.check_writable(&value) { value } else { broken(expr.span) }
    }

    /// Reports an expression that is not assignable.
    pub(super) fn check_writable(&mut self, value: &Expr) -> bool {
        match self.fixed(value) {
            None => true,
            Some(why) => {
                self.not_assignable(&why, value.span);
                false
            }
        }
    }

    fn fixed(&self, expr: &Expr) -> Option<ReadOnly> {
        match &expr.kind {
            ExprKind::Var(id) => match self.program.vars[id.index()].kind {
                VarKind::Local | VarKind::Parameter(Direction::Out | Direction::InOut) => None,
                _ => Some(ReadOnly::Var(*id)),
            },
            ExprKind::Field(base, _) | ExprKind::StackNext(base) => self.fixed(base),
            ExprKind::Slice(base, ..) => match &base.kind {
                ExprKind::Binary(..) => {
                    Some(ReadOnly::NoPlace("a slice from a moving bit is no place"))
                }
                _ => self.fixed(base),
            },
            ExprKind::Index(base, _) => match base.ty {
                Type::Tuple(_) => {
                    Some(ReadOnly::NoPlace("the elements of a tuple cannot be written"))
                }
                _ => self.fixed(base),
            },
            ExprKind::StackLast(_) => Some(ReadOnly::NoPlace("`last` can only be read")),
            ExprKind::Const(_) => Some(ReadOnly::NoPlace("this is a constant")),
            ExprKind::Call(_) => Some(ReadOnly::NoPlace("a call gives a value, not a place")),
            _ => Some(ReadOnly::NoPlace("this is a value, not a place")),
        }
    }

    fn not_assignable(&mut self, why: &ReadOnly, span: Span) {
        let written = self.sources.text(span).to_string();
        let message = format!("`{written}` cannot be written");
        let diagnostic = Diagnostic::error(code::NOT_ASSIGNABLE, span, message);
        let diagnostic = match why {
            ReadOnly::NoPlace(why) => diagnostic.with_label(*why),
            ReadOnly::Var(id) => {
                let var = &self.program.vars[id.index()];
                let text = match var.kind {
                    VarKind::Parameter(Direction::In) => "an `in` parameter is only read",
                    VarKind::Parameter(_) => "a parameter without direction is only read",
                    VarKind::ConstructorParameter => "a constructor parameter is only read",
                    VarKind::Local => "declared here",
                };
                diagnostic.with_place(var.span, text)
            }
        };
        self.report(diagnostic);
    }
}

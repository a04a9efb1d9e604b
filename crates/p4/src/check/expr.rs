//! Expressions: the entity that each form denotes, its type, and its value if known (specification
//! 8).
//!
//! An expression may denote more than a value: a table, a type, an instance. [`Operand`]
//! distinguishes them; [`Checker::expr`] requires a value. Operators, members, aggregates and calls
//! have their own files.

use super::Checker;
use super::call::CallResult;
use super::messages::code;
use super::operand::{Operand, boolean, broken, integer, is_constant, typed};
use super::scope::Entity;
use crate::ast;
use crate::diagnostic::Diagnostic;
use crate::hir::{self, Expr, ExprKind, Object, Value};
use crate::source::Span;
use crate::types::{MAX_WIDTH, Type};

impl Checker<'_> {
    /// An expression that must have a value. `expected` is the type required by the context, for
    /// forms without a type of their own; the result may have another type.
    pub(super) fn expr(&mut self, expr: &ast::Expr, expected: Option<&Type>) -> Expr {
        let operand = self.operand(expr, expected);
        self.as_value(operand, expr.span)
    }

    fn as_value(&mut self, operand: Operand, span: Span) -> Expr {
        let is_table_result = matches!(operand, Operand::TableResult(_));
        let what = match operand {
            Operand::Value(value) if value.ty != Type::Void => return value,
            Operand::Value(_) => "a call that gives no result",
            Operand::Broken => return broken(span),
            Operand::Object(..) => "an instance",
            Operand::Type(_) | Operand::Applied(_) => "a type",
            Operand::Table(_) => "a table",
            Operand::TableResult(_) => "the result of applying a table",
            Operand::Functions(_) => "a function",
            Operand::Action(_) => "an action",
            Operand::ValueSet => "a value set",
        };
        let message = format!("expected a value, found {what}");
        let mut diagnostic = Diagnostic::error(code::NO_VALUE, span, message);
        if is_table_result {
            diagnostic = diagnostic.with_help("`.hit` and `.miss` are values");
        }
        self.report(diagnostic);
        broken(span)
    }

    /// The operand that an expression denotes.
    pub(super) fn operand(&mut self, expr: &ast::Expr, expected: Option<&Type>) -> Operand {
        if !self.enter(expr.span) {
            return Operand::Broken;
        }
        let operand = self.operand_inner(expr, expected);
        self.leave();
        self.affordable(operand, expr)
    }

    fn operand_inner(&mut self, expr: &ast::Expr, expected: Option<&Type>) -> Operand {
        use ast::ExprKind as E;
        let span = expr.span;
        let value = match &expr.kind {
            E::Integer(literal) => self.literal(literal, span),
            E::String(text) => {
                typed(ExprKind::Const(Value::String(text.clone())), Type::String, span)
            }
            E::Bool(value) => boolean(*value, span),
            E::This => return self.this(span),
            E::Dots => self.dots(expected, span),
            E::Name { name, global } => return self.name_operand(name, *global, span),
            E::Type(written) => return self.type_operand(written),
            E::ErrorMember(name) => self.error_member(name, span),
            E::Member(base, name) => return self.member(base, name, span),
            E::Index(base, index) => self.index(base, index, span),
            E::Slice { base, high, low } => self.slice(base, high, low, span),
            E::SliceFrom { base, low, width } => self.slice_from(base, low, width, span),
            E::List(elements) => self.list(elements, expected, span),
            E::KeyValueList { entries, has_dots } => {
                self.key_values(entries, *has_dots, expected, span)
            }
            E::InvalidHeader => self.invalid_header(expected, span),
            E::Paren(inner) => return self.operand(inner, expected),
            E::Unary(op, operand) => self.unary(*op, operand, span),
            E::Binary(op, left, right) => self.binary(*op, left, right, span),
            E::Mux(condition, yes, no) => self.mux(condition, yes, no, expected, span),
            E::Cast(ty, operand) => self.cast(ty, operand, span),
            E::Call { callee, type_args, args } => {
                return self.call_operand(callee, type_args, args, span);
            }
            E::Error => return Operand::Broken,
        };
        Operand::Value(value)
    }

    fn call_operand(
        &mut self,
        callee: &ast::Expr,
        type_args: &[ast::TypeRef],
        args: &[ast::Argument],
        span: Span,
    ) -> Operand {
        match self.call(callee, type_args, args, span) {
            CallResult::Value(value) => Operand::Value(value),
            CallResult::Object(object, ty) => Operand::Object(object, ty),
            CallResult::TableResult(table) => Operand::TableResult(table),
            CallResult::Statement(_) => {
                Operand::Value(typed(ExprKind::Const(Value::Bool(false)), Type::Void, span))
            }
            CallResult::Broken => Operand::Broken,
        }
    }

    /// A literal; one that does not fit its own width is cut, with a warning.
    fn literal(&mut self, literal: &ast::IntegerLiteral, span: Span) -> Expr {
        let ty = match literal.width {
            None => return integer(literal.value.clone(), Type::InfInt, span),
            Some((width, false)) => Type::Bit(width),
            Some((0, true)) => {
                self.error(code::BAD_WIDTH, span, "a signed number has at least one bit");
                return broken(span);
            }
            Some((width, true)) => Type::Int(width),
        };
        if let Some((width, _)) = literal.width.filter(|(width, _)| *width > MAX_WIDTH) {
            let message = format!("a width of at most {MAX_WIDTH} is possible, found {width}");
            self.error(code::BAD_WIDTH, span, message);
            return broken(span);
        }
        let plain = integer(literal.value.clone(), Type::InfInt, span);
        self.number_to(plain, &ty)
    }

    fn this(&mut self, span: Span) -> Operand {
        match &self.place.this {
            Some((id, args)) => {
                Operand::Object(Object::This, Type::Extern(*id, args.clone().into()))
            }
            None => {
                let message = "`this` is known only to the functions of an instance's initializer";
                self.error(code::WRONG_PLACE, span, message);
                Operand::Broken
            }
        }
    }

    fn name_operand(&mut self, name: &ast::Name, global: bool, span: Span) -> Operand {
        match self.resolve(name, global) {
            Entity::Var(id) => {
                let ty = self.program.vars[id.index()].ty.clone();
                match ty {
                    Type::Extern(..) | Type::Parser(_) | Type::Control(_) | Type::Package(..) => {
                        Operand::Object(Object::Param(id), ty)
                    }
                    Type::Unknown => Operand::Broken,
                    ty => Operand::Value(typed(ExprKind::Var(id), ty, span)),
                }
            }
            Entity::Constant(value) => Operand::Value(Expr { span, ..(*value).clone() }),
            Entity::Instance(id) => {
                let ty = self.program.instances[id.index()].ty.clone();
                Operand::Object(Object::Instance(id), ty)
            }
            Entity::Type(entity) => Operand::Type(entity),
            Entity::Functions(functions) => Operand::Functions(functions),
            Entity::Action(id) => Operand::Action(id),
            Entity::Table(id) => Operand::Table(id),
            Entity::ValueSet(_) => Operand::ValueSet,
            Entity::Unfinished(_) | Entity::Broken => Operand::Broken,
        }
    }

    fn type_operand(&mut self, written: &ast::TypeRef) -> Operand {
        if let ast::TypeRefKind::Named { name, global } = &written.kind {
            return self.type_entity(name, *global).map_or(Operand::Broken, Operand::Type);
        }
        match self.resolve_type_with(written, super::type_ref::DontCare::Infer) {
            Type::Unknown => Operand::Broken,
            ty => Operand::Applied(ty),
        }
    }

    /// `c ? a : b`
    fn mux(
        &mut self,
        condition: &ast::Expr,
        yes: &ast::Expr,
        no: &ast::Expr,
        expected: Option<&Type>,
        span: Span,
    ) -> Expr {
        let condition = self.condition(condition);
        let yes = self.expr(yes, expected);
        let no = self.expr(no, expected);
        let (yes, no) = self.balance(yes, no);
        if yes.ty == Type::Unknown || no.ty == Type::Unknown {
            return broken(span);
        }
        let no = match self.try_convert(no, &yes.ty) {
            Ok(no) => no,
            Err(no) => {
                let (a, b) = (self.show(&yes.ty), self.show(&no.ty));
                let message = "both branches of `? :` must have the same type";
                let diagnostic = Diagnostic::error(code::OPERANDS, span, message)
                    .with_place(yes.span, format!("`{a}`"))
                    .with_place(no.span, format!("`{b}`"));
                self.report(diagnostic);
                return broken(span);
            }
        };
        if let ExprKind::Const(Value::Bool(truth)) = condition.kind
            && is_constant(&yes)
            && is_constant(&no)
        {
            return Expr { span, ..if truth { yes } else { no } };
        }
        if yes.ty == Type::InfInt && !self.is_known(&condition) {
            let message = "the width of the result is not known: both branches are plain numbers";
            let diagnostic = Diagnostic::error(code::OPERANDS, span, message);
            self.report(diagnostic.with_help("give one a width, as in `8w1` or `(bit<8>)1`"));
            return broken(span);
        }
        let ty = yes.ty.clone();
        typed(ExprKind::Mux(Box::new(condition), Box::new(yes), Box::new(no)), ty, span)
    }

    /// An expression that must be `bool`.
    pub(super) fn condition(&mut self, condition: &ast::Expr) -> Expr {
        let value = self.expr(condition, Some(&Type::Bool));
        if matches!(value.ty, Type::Bool | Type::Unknown) {
            return value;
        }
        let message = format!("expected `bool`, found `{}`", self.show(&value.ty));
        let mut diagnostic = Diagnostic::error(code::MISMATCH, value.span, message);
        if matches!(value.ty, Type::Bit(_) | Type::Int(_) | Type::InfInt) {
            diagnostic = diagnostic.with_help("compare it: `... != 0`");
        }
        self.report(diagnostic);
        broken(value.span)
    }

    /// True if the value is known when an instance is created (specification 18.1): it consists of
    /// constants and constructor parameters.
    pub(super) fn is_known(&self, expr: &Expr) -> bool {
        self.is_known_with(expr, false)
    }

    /// [`Checker::is_known`], with action data counted as known: an `int` may be shifted by it.
    pub(super) fn is_known_or_action_data(&self, expr: &Expr) -> bool {
        self.is_known_with(expr, true)
    }

    fn is_known_with(&self, expr: &Expr, data: bool) -> bool {
        let known = |expr: &Expr| self.is_known_with(expr, data);
        match &expr.kind {
            ExprKind::Const(_) | ExprKind::InvalidHeader => true,
            ExprKind::Var(id) => match self.program.vars[id.index()].kind {
                hir::VarKind::ConstructorParameter => true,
                hir::VarKind::Parameter(ast::Direction::None) => {
                    data || !self.action_data.contains(id)
                }
                _ => false,
            },
            ExprKind::Field(base, _)
            | ExprKind::Slice(base, ..)
            | ExprKind::Unary(_, base)
            | ExprKind::Cast(base) => known(base),
            ExprKind::Index(a, b) | ExprKind::Binary(_, a, b) => known(a) && known(b),
            ExprKind::Mux(a, b, c) => known(a) && known(b) && known(c),
            ExprKind::Aggregate(elements) => elements.iter().all(known),
            ExprKind::Call(_) | ExprKind::ApplyTable(..) | ExprKind::IsValid(_) => false,
            ExprKind::StackNext(_) | ExprKind::StackLast(_) | ExprKind::StackLastIndex(_) => false,
        }
    }
}

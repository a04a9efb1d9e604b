//! Statements (specification 12), except `switch`.

use super::Checker;
use super::call::CallResult;
use super::code_context::ContextKind;
use super::constant;
use super::messages::code;
use super::operand::{broken, integer, typed};
use super::scope::Entity;
use crate::ast::{self, BinaryOp, Block, Declaration, DeclarationKind, Name, Statement, TypeRef};
use crate::declared::AnnotatedBlock;
use crate::diagnostic::Diagnostic;
use crate::hir::{Expr, ExprKind, Stmt, StmtKind, Value, Var, VarId, VarKind};
use crate::source::Span;
use crate::types::Type;
use num_bigint::BigInt;
use std::sync::Arc;

fn statement(kind: StmtKind, span: Span) -> Stmt {
    Stmt { kind, span }
}

impl Checker<'_> {
    /// The statements of a block, in a scope of their own.
    pub(super) fn block_statements(&mut self, block: &Block) -> Vec<Stmt> {
        self.note_annotations(block);
        self.scopes.push();
        let made = self.statements(&block.statements);
        self.scopes.pop();
        made
    }

    fn note_annotations(&mut self, block: &Block) {
        if !block.annotations.is_empty() {
            let annotations = block.annotations.clone();
            self.program.annotated_blocks.push(AnnotatedBlock { span: block.span, annotations });
        }
    }

    /// Statements in the present scope.
    pub(super) fn statements(&mut self, statements: &[Statement]) -> Vec<Stmt> {
        let mut made = Vec::with_capacity(statements.len());
        for statement in statements {
            self.statement(statement, &mut made);
        }
        made
    }

    /// One statement as a body of its own: of an `if`, of a loop.
    fn substatement(&mut self, statement: &Statement) -> Vec<Stmt> {
        self.scopes.push();
        let mut made = Vec::new();
        match &statement.kind {
            ast::StatementKind::Block(block) => {
                self.note_annotations(block);
                made = self.statements(&block.statements);
            }
            _ => self.statement(statement, &mut made),
        }
        self.scopes.pop();
        made
    }

    fn statement(&mut self, written: &Statement, made: &mut Vec<Stmt>) {
        if !self.enter(written.span) {
            return;
        }
        self.statement_inner(written, made);
        self.leave();
    }

    fn statement_inner(&mut self, written: &Statement, made: &mut Vec<Stmt>) {
        use ast::StatementKind as S;
        let span = written.span;
        let kind = match &written.kind {
            S::Empty => return,
            S::Declaration(declaration) => return self.local_declaration(declaration, made),
            S::Assign { target, op, value } => {
                return self.assignment(target, *op, value, span, made);
            }
            S::Call(call) => self.call_statement(call),
            S::DirectApplication { ty, args } => self.direct_application(ty, args, span),
            S::If { condition, then, otherwise } => {
                let condition = self.condition(condition);
                let then = self.substatement(then);
                let otherwise = otherwise.as_ref().map(|s| self.substatement(s));
                Some(StmtKind::If(condition, then, otherwise.unwrap_or_default()))
            }
            S::Block(block) => Some(StmtKind::Block(self.block_statements(block))),
            S::Return(value) => self.return_statement(value.as_ref(), span),
            S::Exit => self.exit_statement(span),
            S::Break => self.loop_exit(StmtKind::Break, "break", span),
            S::Continue => self.loop_exit(StmtKind::Continue, "continue", span),
            S::Switch { subject, cases } => self.switch(subject, cases, span),
            S::For { init, condition, update, body, .. } => {
                Some(self.for_loop(init, condition, update, body, span))
            }
            S::ForIn { annotations, ty, name, collection, body } => {
                self.for_in(annotations, ty, name, collection, body)
            }
        };
        if let Some(kind) = kind {
            made.push(statement(kind, span));
        }
    }

    /// A variable, constant or instance declared among statements.
    fn local_declaration(&mut self, declaration: &Declaration, made: &mut Vec<Stmt>) {
        self.check_annotations(&declaration.annotations);
        match &declaration.kind {
            DeclarationKind::Variable { ty, name, init } => {
                let annotations = declaration.annotations.clone();
                let (var, init) = self.variable(ty, name, init.as_ref(), annotations);
                made.push(statement(StmtKind::Declare(var, init), declaration.span));
            }
            DeclarationKind::Constant { ty, name, value } => {
                self.declare_constant(ty, name, value);
            }
            DeclarationKind::Instantiation { ty, args, name, body } => {
                let annotations = &declaration.annotations;
                self.instantiation(ty, args, name, body.as_deref(), annotations);
            }
            _ => {
                let message = "only variables, constants and instances are declared in a block";
                self.error(code::STATEMENT_PLACE, declaration.span, message);
            }
        }
    }

    /// `T name;` or `T name = e;`
    pub(super) fn variable(
        &mut self,
        ty: &TypeRef,
        name: &Name,
        init: Option<&ast::Expr>,
        annotations: Vec<ast::Annotation>,
    ) -> (VarId, Option<Expr>) {
        let declared = ty.span;
        let ty = self.variable_type(ty, name);
        let init = init.map(|init| {
            let value = self.expr(init, Some(&ty));
            self.convert(value, &ty, &format!("variable `{}`", name.text), Some(declared))
        });
        if !matches!(self.place.kind, ContextKind::ParserLocals | ContextKind::ControlLocals) {
            self.check_shadowing(name);
        }
        let var = self.new_var(Var {
            name: name.text.clone(),
            ty,
            kind: VarKind::Local,
            annotations: annotations.into(),
            span: name.span,
        });
        self.declare(name, Entity::Var(var));
        (var, init)
    }

    /// Rejects a variable that hides a parameter, which is nearly always a mistake.
    fn check_shadowing(&mut self, name: &Name) {
        let Some(found) = self.scopes.find(&name.text, false) else { return };
        let Entity::Var(id) = found.entity else { return };
        let hidden = &self.program.vars[id.index()];
        if matches!(hidden.kind, VarKind::Local) {
            return;
        }
        let message = format!("the variable `{}` hides a parameter", name.text);
        let diagnostic = Diagnostic::error(code::DUPLICATE_NAME, name.span, message)
            .with_place(hidden.span, "the parameter");
        self.report(diagnostic);
    }

    fn variable_type(&mut self, written: &TypeRef, name: &Name) -> Type {
        let ty = self.resolve_type(written);
        if super::nesting::is_storable(&ty) {
            return ty;
        }
        let message =
            format!("the variable `{}` cannot have the type `{}`", name.text, self.show(&ty));
        let diagnostic = Diagnostic::error(code::NO_TYPE_HERE, written.span, message);
        self.report(match ty {
            Type::InfInt => diagnostic.with_help("give it a width: `bit<W>` or `int<W>`"),
            Type::Extern(..) | Type::Parser(_) | Type::Control(_) | Type::Package(..) => diagnostic
                .with_help("an instance needs its constructor's arguments: `T(...) name;`"),
            _ => diagnostic,
        });
        Type::Unknown
    }

    /// `target = value;`, `target += value;`
    fn assignment(
        &mut self,
        target: &ast::Expr,
        op: Option<BinaryOp>,
        value: &ast::Expr,
        span: Span,
        made: &mut Vec<Stmt>,
    ) {
        if let ast::ExprKind::SliceFrom { base, low, width } = &target.kind
            && let Some(kind) = self.moving_slice_target(base, low, width, op, value, span)
        {
            made.push(statement(kind, span));
            return;
        }
        let target_value = self.lvalue(target);
        let wanted = target_value.ty.clone();
        let value = self.expr(value, Some(&wanted));
        let what = "assignment";
        let kind = match op {
            None => {
                let value = self.convert(value, &wanted, what, Some(target.span));
                StmtKind::Assign(target_value, value)
            }
            Some(op) => {
                let mut before = Vec::new();
                let target_value = self.once(target_value, &mut before);
                let value = self.binary_values(op, target_value.clone(), value, span);
                let value = self.convert(value, &wanted, what, Some(target.span));
                let assign = StmtKind::Assign(target_value, value);
                if before.is_empty() {
                    assign
                } else {
                    before.push(statement(assign, span));
                    StmtKind::Block(before)
                }
            }
        };
        made.push(statement(kind, span));
    }

    /// An lvalue that can be read and written with each call evaluated once: indices with calls are
    /// stored in variables first.
    fn once(&mut self, place: Expr, before: &mut Vec<Stmt>) -> Expr {
        let span = place.span;
        let kind = match place.kind {
            ExprKind::Field(base, at) => ExprKind::Field(Box::new(self.once(*base, before)), at),
            ExprKind::Slice(base, high, low) => {
                ExprKind::Slice(Box::new(self.once(*base, before)), high, low)
            }
            ExprKind::Index(base, index) => {
                let base = Box::new(self.once(*base, before));
                let index = if calls(&index) { self.in_variable(*index, before) } else { *index };
                ExprKind::Index(base, Box::new(index))
            }
            other => other,
        };
        typed(kind, place.ty, span)
    }

    /// Stores a value in a new variable.
    fn in_variable(&mut self, value: Expr, before: &mut Vec<Stmt>) -> Expr {
        let (ty, span) = (value.ty.clone(), value.span);
        let var = self.new_var(Var {
            name: Arc::from("index"),
            ty: ty.clone(),
            kind: VarKind::Local,
            annotations: Arc::from([]),
            span,
        });
        before.push(statement(StmtKind::Declare(var, Some(value)), span));
        typed(ExprKind::Var(var), ty, span)
    }

    /// `base[low +: width] = value` with an unknown `low`: the bits are inserted by masks.
    fn moving_slice_target(
        &mut self,
        base: &ast::Expr,
        low: &ast::Expr,
        width: &ast::Expr,
        op: Option<BinaryOp>,
        value: &ast::Expr,
        span: Span,
    ) -> Option<StmtKind> {
        let (low_value, failed) = self.silently(|checker| checker.expr(low, None));
        if failed
            || super::operand::is_constant(&low_value)
            || !matches!(low_value.ty, Type::Bit(_))
        {
            return None;
        }
        let mut before = Vec::new();
        let place = self.lvalue(base);
        let place = self.once(place, &mut before);
        let low = self.expr(low, None);
        let low = if calls(&low) { self.in_variable(low, &mut before) } else { low };
        let width = self.known_count(width, "the width of a slice")?;
        let Type::Bit(whole) = place.ty else {
            let shown = self.show(&place.ty);
            let message = format!("a moving slice is written only in `bit<W>`, found `{shown}`");
            self.error(code::OPERANDS, place.span, message);
            return Some(StmtKind::Block(Vec::new()));
        };
        if width == 0 || width > whole {
            let message = format!("a slice of {width} bits does not go into `bit<{whole}>`");
            self.error(code::OUT_OF_RANGE, span, message);
            return Some(StmtKind::Block(Vec::new()));
        }
        let part = Type::Bit(width);
        let binary = |op, a: Expr, b: Expr, ty: &Type| {
            typed(ExprKind::Binary(op, Box::new(a), Box::new(b)), ty.clone(), span)
        };
        let value = self.expr(value, Some(&part));
        let value = match op {
            None => value,
            Some(op) => {
                let old = binary(BinaryOp::Shr, place.clone(), low.clone(), &place.ty);
                let old = typed(ExprKind::Slice(Box::new(old), width - 1, 0), part.clone(), span);
                self.binary_values(op, old, value, span)
            }
        };
        let value = self.convert(value, &part, "assignment", Some(base.span));
        let ty = place.ty.clone();
        if !self.afford(u64::from(width) / 64, span) {
            return Some(StmtKind::Block(before));
        }
        let mask = integer(constant::power_of_two(width) - 1, ty.clone(), span);
        let mask = binary(BinaryOp::Shl, mask, low.clone(), &ty);
        let keep = ExprKind::Unary(ast::UnaryOp::Complement, Box::new(mask));
        let keep = binary(BinaryOp::BitAnd, place.clone(), typed(keep, ty.clone(), span), &ty);
        let wide = typed(ExprKind::Cast(Box::new(value)), ty.clone(), span);
        let put = binary(BinaryOp::Shl, wide, low, &ty);
        let all = binary(BinaryOp::BitOr, keep, put, &ty);
        before.push(statement(StmtKind::Assign(place, all), span));
        Some(StmtKind::Block(before))
    }

    /// A call whose result is not used.
    fn call_statement(&mut self, call: &ast::Expr) -> Option<StmtKind> {
        let ast::ExprKind::Call { callee, type_args, args } = &call.kind else {
            self.expr(call, None);
            return None;
        };
        match self.call(callee, type_args, args, call.span) {
            CallResult::Value(Expr { kind: ExprKind::Call(call), .. }) => {
                Some(StmtKind::Call(*call))
            }
            CallResult::TableResult(table) => Some(StmtKind::ApplyTable(table)),
            CallResult::Statement(kind) => Some(kind),
            CallResult::Object(..) => {
                let message = "an instance that is made here cannot be used";
                self.error(code::STATEMENT_PLACE, call.span, message);
                None
            }
            CallResult::Value(_) | CallResult::Broken => None,
        }
    }

    /// `Type.apply(args);`
    fn direct_application(
        &mut self,
        ty: &TypeRef,
        args: &[ast::Argument],
        span: Span,
    ) -> Option<StmtKind> {
        let entity = match &ty.kind {
            ast::TypeRefKind::Named { name, global }
            | ast::TypeRefKind::Specialized { name, global, .. } => {
                self.type_entity(name, *global)?
            }
            _ => {
                self.error(code::NOT_CALLABLE, ty.span, "only parsers and controls are applied");
                return None;
            }
        };
        let apply = Name { text: Arc::from("apply"), span: ty.span };
        match self.type_call(&entity, &apply, args, ty.span, span) {
            CallResult::Value(Expr { kind: ExprKind::Call(call), .. }) => {
                Some(StmtKind::Call(*call))
            }
            _ => None,
        }
    }

    fn return_statement(&mut self, value: Option<&ast::Expr>, span: Span) -> Option<StmtKind> {
        if matches!(self.place.kind, ContextKind::ParserState | ContextKind::ParserLocals) {
            self.error(code::RETURN, span, "a parser does not return; it goes to a state");
            return None;
        }
        let returns = self.place.returns.clone();
        match value {
            None if returns == Type::Void || returns == Type::Unknown => {
                Some(StmtKind::Return(None))
            }
            None => {
                let message = format!("a `{}` must be returned here", self.show(&returns));
                self.error(code::RETURN, span, message);
                Some(StmtKind::Return(Some(broken(span))))
            }
            Some(value) if returns == Type::Void => {
                self.expr(value, None);
                self.error(code::RETURN, value.span, "there is nothing to return here");
                Some(StmtKind::Return(None))
            }
            Some(value) => {
                let value = self.expr(value, Some(&returns));
                let value = self.convert(value, &returns, "returned value", None);
                Some(StmtKind::Return(Some(value)))
            }
        }
    }

    fn exit_statement(&mut self, span: Span) -> Option<StmtKind> {
        if matches!(self.place.kind, ContextKind::ControlApply | ContextKind::Action) {
            return Some(StmtKind::Exit);
        }
        let message = "`exit` may stand only in controls and actions";
        self.error(code::STATEMENT_PLACE, span, message);
        None
    }

    fn loop_exit(&mut self, kind: StmtKind, word: &str, span: Span) -> Option<StmtKind> {
        if self.place.loops > 0 {
            return Some(kind);
        }
        self.error(code::LOOP, span, format!("`{word}` may stand only in a loop"));
        None
    }

    fn loop_body(&mut self, body: &Statement) -> Vec<Stmt> {
        self.place.loops += 1;
        let body = self.substatement(body);
        self.place.loops -= 1;
        body
    }

    fn for_loop(
        &mut self,
        init: &[Statement],
        condition: &ast::Expr,
        update: &[Statement],
        body: &Statement,
        span: Span,
    ) -> StmtKind {
        self.scopes.push();
        let mut made = self.statements(init);
        let condition = self.condition(condition);
        let update = self.statements(update);
        let body = self.loop_body(body);
        self.scopes.pop();
        made.push(statement(StmtKind::For { condition, update, body }, span));
        StmtKind::Block(made)
    }

    fn for_in(
        &mut self,
        annotations: &[ast::Annotation],
        ty: &TypeRef,
        name: &Name,
        collection: &ast::ForCollection,
        body: &Statement,
    ) -> Option<StmtKind> {
        let ty = self.variable_type(ty, name);
        let var = self.new_var(Var {
            name: name.text.clone(),
            ty: ty.clone(),
            kind: VarKind::Local,
            annotations: annotations.to_vec().into(),
            span: name.span,
        });
        let kind = match collection {
            ast::ForCollection::Range(low, high) => self.range_ends(low, high, &ty),
            ast::ForCollection::Expr(collection) => self.collection(collection, &ty),
        };
        self.scopes.push();
        self.declare(name, Entity::Var(var));
        let body = self.loop_body(body);
        self.scopes.pop();
        Some(match kind? {
            (low, Some(high)) => StmtKind::ForRange { var, low, high, body },
            (collection, None) => StmtKind::ForEach { var, collection, body },
        })
    }

    fn range_ends(
        &mut self,
        low: &ast::Expr,
        high: &ast::Expr,
        ty: &Type,
    ) -> Option<(Expr, Option<Expr>)> {
        let counts =
            matches!(ty, Type::Bit(_) | Type::Int(_) | Type::SerializableEnum(_) | Type::Unknown);
        if !counts {
            let message = format!("a range runs over numbers, not `{}`", self.show(ty));
            self.error(code::LOOP, low.span, message);
            return None;
        }
        let end = |checker: &mut Self, end: &ast::Expr| {
            let value = checker.expr(end, Some(ty));
            checker.convert(value, ty, "end of the range", None)
        };
        Some((end(self, low), Some(end(self, high))))
    }

    fn collection(&mut self, collection: &ast::Expr, ty: &Type) -> Option<(Expr, Option<Expr>)> {
        let wanted = Type::List(Arc::new(ty.clone()));
        let value = self.expr(collection, Some(&wanted));
        let element = match &value.ty {
            Type::Unknown => return None,
            Type::Stack(element, _) | Type::List(element) => (**element).clone(),
            Type::Tuple(elements) if elements.iter().all(|element| element == ty) => ty.clone(),
            other => {
                let message =
                    format!("a loop runs over lists and stacks, not `{}`", self.show(other));
                self.error(code::LOOP, collection.span, message);
                return None;
            }
        };
        if element != *ty && *ty != Type::Unknown && element != Type::Unknown {
            let (wanted, found) = (self.show(&element), self.show(ty));
            let message = format!("the elements are `{wanted}`, the loop's variable is `{found}`");
            self.error(code::MISMATCH, collection.span, message);
            return None;
        }
        Some((value, None))
    }

    /// `const T name = e;`; returns its number, if it is one.
    pub(super) fn declare_constant(
        &mut self,
        ty: &TypeRef,
        name: &Name,
        value: &ast::Expr,
    ) -> Option<BigInt> {
        let declared = ty.span;
        let ty = self.resolve_type(ty);
        let ty = match ty {
            Type::Extern(..) | Type::Parser(_) | Type::Control(_) | Type::Package(..) => {
                let message = format!("a constant cannot have the type `{}`", self.show(&ty));
                self.error(code::NO_TYPE_HERE, declared, message);
                Type::Unknown
            }
            ty => ty,
        };
        let value = self.expr(value, Some(&ty));
        let what = format!("constant `{}`", name.text);
        let value = self.convert(value, &ty, &what, Some(declared));
        if !super::operand::is_constant(&value) {
            let message = format!("the value of the constant `{}` is not known here", name.text);
            let diagnostic = Diagnostic::error(code::NOT_CONSTANT, value.span, message)
                .with_label("not a constant");
            self.report(diagnostic);
            self.declare(name, Entity::Broken);
            return None;
        }
        let number = Self::constant_number(&value);
        let entity = if value.ty == Type::Unknown {
            Entity::Broken
        } else {
            Entity::Constant(std::rc::Rc::new(value))
        };
        self.declare(name, entity);
        number
    }

    /// Number of a constant expression, for labels and entries.
    pub(super) fn constant_number(value: &Expr) -> Option<BigInt> {
        match &value.kind {
            ExprKind::Const(Value::Int(n)) => Some(n.clone()),
            ExprKind::Const(Value::Bool(b)) => Some(BigInt::from(*b)),
            _ => None,
        }
    }
}

/// True if evaluating the expression includes a call.
fn calls(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Call(_) | ExprKind::ApplyTable(..) => true,
        ExprKind::Const(_) | ExprKind::Var(_) | ExprKind::InvalidHeader => false,
        ExprKind::Field(a, _) | ExprKind::Slice(a, ..) | ExprKind::Unary(_, a) => calls(a),
        ExprKind::StackNext(a) | ExprKind::StackLast(a) | ExprKind::StackLastIndex(a) => calls(a),
        ExprKind::IsValid(a) | ExprKind::Cast(a) => calls(a),
        ExprKind::Index(a, b) | ExprKind::Binary(_, a, b) => calls(a) || calls(b),
        ExprKind::Mux(a, b, c) => calls(a) || calls(b) || calls(c),
        ExprKind::Aggregate(elements) => elements.iter().any(calls),
    }
}

//! Statements: blocks and their contents.

use super::{
    Parsed, Parser,
    expressions::{is_callable, is_lvalue},
    names::Meaning,
    recovery::described,
};
use crate::{
    ast::{
        Annotation, BinaryOp, Block, Declaration, DeclarationKind, Expr, ExprKind, ForCollection,
        Statement, StatementKind, SwitchCase,
    },
    diagnostic::Diagnostic,
    lex::{Keyword, Kind},
    source::Span,
};

/// Keywords with which a statement begins.
const STATEMENTS: &[Keyword] = &[
    Keyword::If,
    Keyword::Switch,
    Keyword::Return,
    Keyword::Exit,
    Keyword::For,
    Keyword::Break,
    Keyword::Continue,
    Keyword::Const,
];

impl Parser {
    /// `blockStatement`, without its annotations.
    pub(super) fn block(&mut self, annotations: Vec<Annotation>) -> Parsed<Block> {
        self.nested(|p| {
            let start = annotations.first().map_or(p.span(), |first| first.span);
            p.open_brace()?;
            p.names.enter();
            let statements = p.items_in_braces(Parser::statement);
            p.names.leave();
            p.close_brace("a statement or `}`");
            Ok(Block { annotations, statements, span: p.span_from(start) })
        })
    }

    /// `statementOrDeclaration`
    pub(super) fn statement(&mut self) -> Parsed<Statement> {
        self.nested(|p| {
            let start = p.span();
            let annotations = p.annotations()?;
            let kind = p.statement_kind(annotations, start)?;
            Ok(Statement { kind, span: p.span_from(start) })
        })
    }

    fn statement_kind(
        &mut self,
        annotations: Vec<Annotation>,
        start: Span,
    ) -> Parsed<StatementKind> {
        self.mend_statement();
        let Kind::Key(word) = self.kind() else {
            return self.unkeyed_statement(annotations, start);
        };
        if !matches!(word, Keyword::Const | Keyword::For) {
            self.refuse_annotations(&annotations);
        }
        match word {
            Keyword::Const => self.declaration_statement(annotations, start),
            Keyword::If => self.conditional(),
            Keyword::Switch => self.switch(),
            Keyword::For => self.for_statement(annotations),
            Keyword::Return => {
                self.bump();
                let value = if self.is(Kind::Semicolon) { None } else { Some(self.expression()?) };
                self.expect(Kind::Semicolon)?;
                Ok(StatementKind::Return(value))
            }
            Keyword::Exit => self.simple_statement(StatementKind::Exit),
            Keyword::Break => self.simple_statement(StatementKind::Break),
            Keyword::Continue => self.simple_statement(StatementKind::Continue),
            Keyword::This => self.assignment_or_call_statement(),
            _ if self.behind_type(self.at).is_some() => {
                self.declaration_statement(annotations, start)
            }
            _ => Err(self.misplaced_keyword(word)),
        }
    }

    /// A keyword with which no statement begins.
    fn misplaced_keyword(&mut self, word: Keyword) -> super::Reported {
        let error = match word {
            Keyword::Else => Some("`else` without `if`"),
            Keyword::Action => Some("an action is declared before `apply`, not in a block"),
            Keyword::Table => Some("a table is declared before `apply`, not in a block"),
            Keyword::Transition => Some("`transition` stands in parser states only"),
            _ => None,
        };
        match error {
            Some(message) => {
                let error = Diagnostic::error("E0308", self.span(), message);
                self.fail(error)
            }
            None => self.expected_of("a statement", STATEMENTS),
        }
    }

    fn simple_statement(&mut self, kind: StatementKind) -> Parsed<StatementKind> {
        self.bump();
        self.expect(Kind::Semicolon)?;
        Ok(kind)
    }

    /// Statements that begin with a name or a sign.
    fn unkeyed_statement(
        &mut self,
        annotations: Vec<Annotation>,
        start: Span,
    ) -> Parsed<StatementKind> {
        match self.kind() {
            Kind::LBrace => return Ok(StatementKind::Block(self.block(annotations)?)),
            Kind::Name(_) | Kind::Dot if self.declares() || self.instantiates() => {
                return self.declaration_statement(annotations, start);
            }
            _ => self.refuse_annotations(&annotations),
        }
        match self.kind() {
            Kind::Semicolon => {
                self.bump();
                Ok(StatementKind::Empty)
            }
            Kind::Name(_) | Kind::Dot if self.applies_directly() => self.direct_application(),
            Kind::Name(_) | Kind::Dot | Kind::LParen => self.assignment_or_call_statement(),
            _ => Err(self.expected("a statement")),
        }
    }

    fn refuse_annotations(&mut self, annotations: &[Annotation]) {
        if let Some(first) = annotations.first() {
            let message = "this statement takes no annotation";
            self.report(Diagnostic::error("E0309", first.span, message));
        }
    }

    /// A word before a name or a parenthesis and block that is nearly a keyword.
    fn mend_statement(&mut self) {
        let looks_like_one = match self.kind_at(1) {
            Kind::Name(_) | Kind::Number | Kind::Semicolon => true,
            Kind::Key(_) => true,
            Kind::LParen => self.behind_brackets(self.at + 1).is_some_and(|at| {
                let next = self.tokens.get(at).map(|token| token.kind);
                matches!(next, Some(Kind::LBrace))
            }),
            _ => false,
        };
        if looks_like_one {
            self.mend_keyword(STATEMENTS);
        }
    }

    /// `variableDeclaration`, `constantDeclaration` or `instantiation` in a block.
    fn declaration_statement(
        &mut self,
        annotations: Vec<Annotation>,
        start: Span,
    ) -> Parsed<StatementKind> {
        let declaration = if self.is_key(Keyword::Const) {
            self.constant(annotations, start)?
        } else {
            self.variable_or_instantiation(annotations, start)?
        };
        Ok(StatementKind::Declaration(Box::new(declaration)))
    }

    /// `if (c) s else s`
    fn conditional(&mut self) -> Parsed<StatementKind> {
        self.expect_key(Keyword::If)?;
        let opened = self.expect(Kind::LParen)?;
        let condition = self.expression()?;
        self.expect_close(Kind::RParen, opened)?;
        let then = Box::new(self.scoped_statement()?);
        let next_is_block = self.kind_at(1) == Kind::LBrace || self.kind_at(1) == key_if();
        if next_is_block && self.is(Kind::Name(None)) {
            self.mend_keyword(&[Keyword::Else]);
        }
        let otherwise = match self.eat_key(Keyword::Else) {
            true => Some(Box::new(self.scoped_statement()?)),
            false => None,
        };
        Ok(StatementKind::If { condition, then, otherwise })
    }

    /// A statement that is a scope of its own; `statement`, so no declaration.
    fn scoped_statement(&mut self) -> Parsed<Statement> {
        self.names.enter();
        let statement = self.statement();
        self.names.leave();
        let statement = statement?;
        if let StatementKind::Declaration(_) = statement.kind {
            let message = "a declaration cannot stand here alone";
            let error = Diagnostic::error("E0308", statement.span, message);
            self.report(error.with_help("put it in braces"));
        }
        Ok(statement)
    }

    /// `switch (e) { ... }`
    fn switch(&mut self) -> Parsed<StatementKind> {
        self.expect_key(Keyword::Switch)?;
        let opened = self.expect(Kind::LParen)?;
        let subject = self.expression()?;
        self.expect_close(Kind::RParen, opened)?;
        self.open_brace()?;
        let cases = self.items_in_braces(Parser::switch_case);
        self.close_brace("a case or `}`");
        Ok(StatementKind::Switch { subject, cases })
    }

    /// `switchCase`
    fn switch_case(&mut self) -> Parsed<SwitchCase> {
        let start = self.span();
        let label = if self.eat_key(Keyword::Default) {
            None
        } else if self.is(Kind::LBrace) {
            return Err(self.expected("a label"));
        } else {
            Some(self.expression()?)
        };
        self.expect(Kind::Colon)?;
        let annotations = if self.is(Kind::At) { self.annotations()? } else { Vec::new() };
        let body = match self.is(Kind::LBrace) || !annotations.is_empty() {
            true => Some(self.block(annotations)?),
            false => None,
        };
        Ok(SwitchCase { label, body, span: self.span_from(start) })
    }

    /// `forStatement`
    fn for_statement(&mut self, annotations: Vec<Annotation>) -> Parsed<StatementKind> {
        let depth = self.names.depth();
        self.names.enter();
        let statement = self.for_in_scope(annotations);
        self.names.leave_to(depth);
        statement
    }

    fn for_in_scope(&mut self, annotations: Vec<Annotation>) -> Parsed<StatementKind> {
        self.expect_key(Keyword::For)?;
        let opened = self.expect(Kind::LParen)?;
        if self.runs_over_collection() {
            return self.for_in(annotations, opened);
        }
        let init = self.clauses(Kind::Semicolon)?;
        self.expect(Kind::Semicolon)?;
        let condition = self.expression()?;
        self.expect(Kind::Semicolon)?;
        let update = self.clauses(Kind::RParen)?;
        self.expect_close(Kind::RParen, opened)?;
        let body = Box::new(self.scoped_statement()?);
        Ok(StatementKind::For { annotations, init, condition, update, body })
    }

    /// True if `Type name in` comes next, perhaps behind annotations.
    fn runs_over_collection(&self) -> bool {
        let mut at = self.at;
        let kind_of = |at: usize| self.tokens.get(at).map_or(Kind::End, |token| token.kind);
        while kind_of(at) == Kind::At {
            at += 2;
            if matches!(kind_of(at), Kind::LParen | Kind::LBracket) {
                let Some(behind) = self.behind_brackets(at) else { return false };
                at = behind;
            }
        }
        let Some(name) = self.behind_type(at) else { return false };
        matches!(kind_of(name), Kind::Name(_)) && kind_of(name + 1) == Kind::Key(Keyword::In)
    }

    /// `for (T name in collection) s`, behind the parenthesis.
    fn for_in(&mut self, mut annotations: Vec<Annotation>, opened: Span) -> Parsed<StatementKind> {
        annotations.extend(self.annotations()?);
        let ty = self.type_ref()?;
        let name = self.name("the name of a variable")?;
        self.expect_key(Keyword::In)?;
        let first = self.expression()?;
        let collection = match self.eat(Kind::Range) {
            true => ForCollection::Range(first, self.expression()?),
            false => ForCollection::Expr(first),
        };
        self.expect_close(Kind::RParen, opened)?;
        self.names.declare(&name.text, Meaning::Value);
        let body = Box::new(self.scoped_statement()?);
        Ok(StatementKind::ForIn { annotations, ty, name, collection, body })
    }

    /// The first or last part of a `for`: statements without `;`, with commas between.
    fn clauses(&mut self, end: Kind) -> Parsed<Vec<Statement>> {
        let may_declare = end == Kind::Semicolon;
        self.comma_list(end, false, |p| {
            let start = p.span();
            let annotations = p.annotations()?;
            if may_declare && p.declares() {
                let declaration = p.variable_without_semicolon(annotations, start)?;
                let kind = StatementKind::Declaration(Box::new(declaration));
                return Ok(Statement { kind, span: p.span_from(start) });
            }
            p.refuse_annotations(&annotations);
            let kind = p.assignment_or_call()?;
            Ok(Statement { kind, span: p.span_from(start) })
        })
    }

    /// `directApplication`
    fn direct_application(&mut self) -> Parsed<StatementKind> {
        let ty = self.type_ref()?;
        self.expect(Kind::Dot)?;
        self.expect_key(Keyword::Apply)?;
        let args = self.arguments()?;
        self.expect(Kind::Semicolon)?;
        Ok(StatementKind::DirectApplication { ty, args })
    }

    fn assignment_or_call_statement(&mut self) -> Parsed<StatementKind> {
        let kind = self.assignment_or_call()?;
        self.expect(Kind::Semicolon)?;
        Ok(kind)
    }

    /// `assignmentOrMethodCallStatementWithoutSemicolon`
    fn assignment_or_call(&mut self) -> Parsed<StatementKind> {
        let target = self.expression()?;
        let Some((op, length)) = self.assignment_operator() else {
            return self.call_statement(target);
        };
        if !is_lvalue(&target) {
            let message = "this cannot be assigned to";
            let error = Diagnostic::error("E0308", target.span, message);
            self.report(error.with_note("only variables, parameters, their fields and slices can"));
        }
        for _ in 0..length {
            self.bump();
        }
        Ok(StatementKind::Assign { target, op, value: self.expression()? })
    }

    /// An expression without `=`: it must be a call.
    fn call_statement(&mut self, expr: Expr) -> Parsed<StatementKind> {
        if let ExprKind::Call { callee, .. } = &expr.kind {
            if !is_callable(callee) {
                let message = "a statement cannot call this";
                let error = Diagnostic::error("E0308", callee.span, message);
                self.report(error.with_note("it can call a name, or a method of one"));
            }
            return Ok(StatementKind::Call(expr));
        }
        let ended = matches!(self.kind(), Kind::Semicolon | Kind::RBrace);
        if ended && !is_lvalue(&expr) {
            let message = "this value is not used";
            return Err(self.fail(Diagnostic::error("E0308", expr.span, message)));
        }
        let what = "`=` or `(`";
        let message = format!("expected {what}, found {}", described(self.token()));
        let error = Diagnostic::error("E0301", self.span(), message);
        let error = error.with_label(format!("expected {what}"));
        let error = match &expr.kind {
            ExprKind::Name { name, .. } if self.is_key(Keyword::In) => {
                error.with_help(format!("write the type of the variable: `bit<8> {}`", name.text))
            }
            ExprKind::Name { name, global: false } if self.names.meaning(&name.text).is_none() => {
                let at_start = Diagnostic { primary: name.span, ..error };
                let words = STATEMENTS.iter().map(|word| word.text());
                let near = at_start.with_near_name(&name.text, words);
                Diagnostic { primary: self.span(), ..near }
            }
            _ => error,
        };
        Err(self.fail(error))
    }

    /// The assignment operator at the current token and its number of tokens.
    fn assignment_operator(&self) -> Option<(Option<BinaryOp>, usize)> {
        let op = match self.kind() {
            Kind::Eq => return Some((None, 1)),
            Kind::StarEq => BinaryOp::Mul,
            Kind::SlashEq => BinaryOp::Div,
            Kind::PercentEq => BinaryOp::Mod,
            Kind::PlusEq => BinaryOp::Add,
            Kind::MinusEq => BinaryOp::Sub,
            Kind::SatAddEq => BinaryOp::SatAdd,
            Kind::SatSubEq => BinaryOp::SatSub,
            Kind::ShlEq => BinaryOp::Shl,
            Kind::AndEq => BinaryOp::BitAnd,
            Kind::OrEq => BinaryOp::BitOr,
            Kind::CaretEq => BinaryOp::BitXor,
            Kind::Gt if self.kind_at(1) == Kind::Ge && self.joined(1) => {
                return Some((Some(BinaryOp::Shr), 2));
            }
            _ => return None,
        };
        Some((Some(op), 1))
    }

    /// A variable declaration without its `;`.
    fn variable_without_semicolon(
        &mut self,
        annotations: Vec<Annotation>,
        start: Span,
    ) -> Parsed<Declaration> {
        let ty = self.type_ref()?;
        let name = self.name("the name of a variable")?;
        let init = if self.eat(Kind::Eq) { Some(self.expression()?) } else { None };
        self.names.declare(&name.text, Meaning::Value);
        let kind = DeclarationKind::Variable { ty, name, init };
        Ok(Declaration { annotations, kind, span: self.span_from(start) })
    }
}

const fn key_if() -> Kind {
    Kind::Key(Keyword::If)
}

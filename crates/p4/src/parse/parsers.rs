//! Parser declarations: local elements, states, transitions, value sets.

use super::{Parsed, Parser, names::Meaning};
use crate::{
    ast::{
        Annotation, Declaration, DeclarationKind, ParserDeclaration, SelectCase, State, Statement,
        StatementKind, Transition,
    },
    diagnostic::Diagnostic,
    lex::{Keyword, Kind},
    source::Span,
};

/// Keywords that may begin an element of a parser.
const ELEMENTS: &[Keyword] = &[Keyword::State, Keyword::Const, Keyword::ValueSet];

impl Parser {
    /// `parserDeclaration` or `parserTypeDeclaration ;`
    pub(super) fn parser_declaration(&mut self) -> Parsed<DeclarationKind> {
        self.expect_key(Keyword::Parser)?;
        let name = self.name("the name of a parser")?;
        self.names.declare(&name.text, Meaning::Type);
        self.in_scope(|p| {
            let type_params = p.type_params()?;
            let params = p.parameters()?;
            if p.eat(Kind::Semicolon) {
                return Ok(DeclarationKind::ParserType { name, type_params, params });
            }
            let constructor_params = p.constructor_params()?;
            p.open_brace()?;
            let (locals, states) = p.parser_body();
            if states.is_empty() {
                let message = format!("the parser `{}` has no state", name.text);
                let error = Diagnostic::error("E0301", name.span, message);
                p.fail(error.with_help("parsing begins in `state start { ... }`"));
            }
            p.close_brace("a state or `}`");
            Ok(DeclarationKind::Parser(ParserDeclaration {
                name,
                type_params,
                params,
                constructor_params,
                locals,
                states,
            }))
        })
    }

    /// `optConstructorParameters`, up to the `{`.
    pub(super) fn constructor_params(&mut self) -> Parsed<Vec<crate::ast::Parameter>> {
        match self.kind() {
            Kind::LParen => self.parameters(),
            Kind::LBrace => Ok(Vec::new()),
            _ => Err(self.expected("`;`, `(` or `{`")),
        }
    }

    /// `parserLocalElements parserStates`
    fn parser_body(&mut self) -> (Vec<Declaration>, Vec<State>) {
        let mut states = Vec::new();
        let locals = self.items_in_braces(|p| {
            let start = p.span();
            let annotations = p.annotations()?;
            if matches!(p.kind_at(1), Kind::Name(_)) {
                p.mend_keyword(ELEMENTS);
            }
            let is_state =
                p.is(Kind::Name(Some(Keyword::State))) && matches!(p.kind_at(1), Kind::Name(_));
            if is_state {
                let state = p.state(annotations, start)?;
                states.push(state);
                return Ok(None);
            }
            if !states.is_empty() {
                return Err(p.expected_of("a state or `}`", &[Keyword::State]));
            }
            p.parser_local(annotations, start).map(Some)
        });
        (locals.into_iter().flatten().collect(), states)
    }

    /// `parserLocalElement`
    fn parser_local(&mut self, annotations: Vec<Annotation>, start: Span) -> Parsed<Declaration> {
        match self.kind() {
            Kind::Key(Keyword::Const) => self.constant(annotations, start),
            Kind::Key(Keyword::ValueSet) => self.value_set(annotations, start),
            _ if self.begins_type() => self.variable_or_instantiation(annotations, start),
            _ => Err(self.expected_of("a state or a declaration", ELEMENTS)),
        }
    }

    /// `valueSetDeclaration`
    fn value_set(&mut self, annotations: Vec<Annotation>, start: Span) -> Parsed<Declaration> {
        self.expect_key(Keyword::ValueSet)?;
        let opened = self.expect(Kind::Lt)?;
        let element = self.type_ref()?;
        self.expect_close(Kind::Gt, opened)?;
        let opened = self.expect(Kind::LParen)?;
        let size = self.expression()?;
        self.expect_close(Kind::RParen, opened)?;
        let name = self.name("the name of a value set")?;
        self.expect(Kind::Semicolon)?;
        self.names.declare(&name.text, Meaning::Value);
        let kind = DeclarationKind::ValueSet { element, size, name };
        Ok(Declaration { annotations, kind, span: self.span_from(start) })
    }

    /// `parserState`
    fn state(&mut self, annotations: Vec<Annotation>, start: Span) -> Parsed<State> {
        self.expect_key(Keyword::State)?;
        let name = self.name("the name of a state")?;
        self.open_brace()?;
        self.names.enter();
        let mut transition = None;
        let body = self.items_in_braces(|p| {
            if transition.is_some() {
                return Err(p.expected("`}` behind the transition"));
            }
            if p.kind_at(1) != Kind::LParen {
                p.mend_keyword(&[Keyword::Transition]);
            }
            if p.is_key(Keyword::Transition) {
                transition = Some(p.transition()?);
                return Ok(None);
            }
            p.parser_statement().map(Some)
        });
        self.names.leave();
        self.close_brace("a statement, `transition` or `}`");
        let body = body.into_iter().flatten().collect();
        Ok(State { annotations, name, body, transition, span: self.span_from(start) })
    }

    /// `parserStatement`: a statement, but not every one.
    fn parser_statement(&mut self) -> Parsed<Statement> {
        let statement = self.statement()?;
        let refused = match &statement.kind {
            StatementKind::Switch { .. } => Some("`switch`"),
            StatementKind::Return(_) => Some("`return`"),
            StatementKind::Exit => Some("`exit`"),
            StatementKind::Break => Some("`break`"),
            StatementKind::Continue => Some("`continue`"),
            StatementKind::For { .. } | StatementKind::ForIn { .. } => Some("`for`"),
            _ => None,
        };
        if let Some(word) = refused {
            let message = format!("a parser state cannot hold {word}");
            let error = Diagnostic::error("E0308", statement.span, message);
            self.report(match word {
                "`return`" | "`exit`" => error.with_help("`transition accept;` ends the parser"),
                _ => error.with_help("branch with `select`, and loop with transitions"),
            });
        }
        Ok(statement)
    }

    /// `transitionStatement`
    fn transition(&mut self) -> Parsed<Transition> {
        self.expect_key(Keyword::Transition)?;
        if !matches!(self.kind_at(1), Kind::Semicolon) {
            self.mend_keyword(&[Keyword::Select]);
        }
        if !self.is_key(Keyword::Select) {
            let name = self.name("the name of a state or `select`")?;
            self.expect(Kind::Semicolon)?;
            return Ok(Transition::Direct(name));
        }
        let start = self.bump().span;
        let keys = self.enclosed(Kind::LParen, Kind::RParen, Parser::expression)?;
        self.open_brace()?;
        let cases = self.items_in_braces(Parser::select_case);
        self.close_brace("a case or `}`");
        Ok(Transition::Select { keys, cases, span: self.span_from(start) })
    }

    /// `selectCase`
    fn select_case(&mut self) -> Parsed<SelectCase> {
        let start = self.span();
        let keysets = self.keysets()?;
        self.expect(Kind::Colon)?;
        let next = self.name("the name of a state")?;
        self.expect(Kind::Semicolon)?;
        Ok(SelectCase { keysets, next, span: self.span_from(start) })
    }
}

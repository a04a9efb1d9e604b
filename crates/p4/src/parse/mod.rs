//! The parser: from tokens to the syntax tree of [`crate::ast`], by recursive descent.
//!
//! One function per rule of the grammar (specification 1.2.5, appendix G), one file per part of it.
//! The grammar depends on whether a name is a type, so `names` records the declarations parsed so
//! far. The parser must not depend on any other part of a program's meaning.
//!
//! It accepts any input: after an error it continues behind the next `;` or `}`. Nesting is
//! limited, so that neither this parser nor a traversal of its tree overflows the stack.

mod annotations;
mod controls;
mod declarations;
mod expressions;
mod literals;
mod names;
mod parsers;
mod recovery;
mod scan;
mod statements;
#[cfg(test)]
mod tests;
mod types;

use crate::{
    ast,
    diagnostic::Diagnostic,
    lex::{Keyword, Kind, Token},
    preprocess::{PreprocessOptions, SourceLoader, preprocess},
    source::{SourceMap, Span},
};
use names::Names;
use std::path::Path;

/// Maximum nesting of types, expressions and statements. Trees are no higher than twice this,
/// whatever the input.
pub const MAX_NESTING: usize = 200;

/// Number of errors after which the rest of the program is not parsed.
const MAX_ERRORS: usize = 100;

/// Reads the program at `path` with its includes, and parses it.
///
/// Never panics, whatever the bytes. The tree contains everything that could be parsed; it is
/// complete if no diagnostic is an error. Diagnostics are in the order of preprocessing, then of
/// parsing.
pub fn parse_program(
    loader: &dyn SourceLoader,
    path: impl AsRef<Path>,
    options: &PreprocessOptions,
) -> (ast::Program, SourceMap, Vec<Diagnostic>) {
    let done = preprocess(loader, path.as_ref(), options);
    let unreadable = done.sources.files().next().is_none();
    let mut parser = Parser::new(done.tokens);
    let program = if unreadable { ast::Program::default() } else { parser.program() };
    let mut diagnostics = done.diagnostics;
    diagnostics.append(&mut parser.diagnostics);
    (program, done.sources, diagnostics)
}

/// Marker of a reported error; the rule is abandoned.
#[derive(Debug)]
struct Reported;

/// Result of a grammar rule.
type Parsed<T> = Result<T, Reported>;

/// The state of a parse.
struct Parser {
    tokens: Vec<Token>,
    at: usize,
    names: Names,
    diagnostics: Vec<Diagnostic>,
    /// Index of the token of the last error: one token causes one error.
    last_error: Option<usize>,
    /// Number of open levels.
    depth: usize,
    /// Height of the type or expression parsed last.
    height: usize,
    /// Opening braces of what is being parsed, innermost last.
    open_braces: Vec<Span>,
}

impl Parser {
    fn new(tokens: Vec<Token>) -> Parser {
        Parser {
            tokens,
            at: 0,
            names: Names::default(),
            diagnostics: Vec::new(),
            last_error: None,
            depth: 0,
            height: 0,
            open_braces: Vec::new(),
        }
    }

    /// `p4program`
    fn program(&mut self) -> ast::Program {
        let mut program = ast::Program::default();
        while !self.is(Kind::End) {
            let start = self.at;
            if self.eat(Kind::Semicolon) {
                continue;
            }
            match self.top_level_declaration() {
                Ok(declaration) => program.declarations.push(declaration),
                Err(Reported) => self.skip_declaration(start),
            }
        }
        program
    }

    // Access to tokens.

    /// The kind of the token `ahead` tokens ahead.
    fn kind_at(&self, ahead: usize) -> Kind {
        self.tokens.get(self.at + ahead).map_or(Kind::End, |token| token.kind)
    }

    fn kind(&self) -> Kind {
        self.kind_at(0)
    }

    /// The current token; the last one is [`Kind::End`] and is never passed.
    fn token(&self) -> &Token {
        &self.tokens[self.at.min(self.tokens.len() - 1)]
    }

    fn span(&self) -> Span {
        self.token().span
    }

    /// The span of the token before this one.
    fn previous(&self) -> Span {
        self.at.checked_sub(1).map_or(self.span(), |at| self.tokens[at].span)
    }

    /// From `start` to the token before this one.
    fn span_from(&self, start: Span) -> Span {
        start.to(self.previous())
    }

    fn is(&self, kind: Kind) -> bool {
        self.kind() == kind
    }

    fn is_key(&self, word: Keyword) -> bool {
        self.kind() == key(word)
    }

    fn is_name(&self) -> bool {
        matches!(self.kind(), Kind::Name(_))
    }

    /// True if the token `ahead` directly follows the one before it.
    fn joined(&self, ahead: usize) -> bool {
        self.tokens.get(self.at + ahead).is_some_and(|token| !token.spaced)
    }

    // Consumption of tokens.

    fn bump(&mut self) -> Token {
        let token = self.token().clone();
        if token.kind != Kind::End {
            self.at += 1;
        }
        token
    }

    fn eat(&mut self, kind: Kind) -> bool {
        let found = self.is(kind);
        if found {
            self.bump();
        }
        found
    }

    fn eat_key(&mut self, word: Keyword) -> bool {
        self.eat(key(word))
    }

    fn expect(&mut self, kind: Kind) -> Parsed<Span> {
        if self.is(kind) {
            return Ok(self.bump().span);
        }
        Err(self.expected_sign(kind))
    }

    fn expect_key(&mut self, word: Keyword) -> Parsed<Span> {
        self.expect(key(word))
    }

    /// `name`; `what` describes it in errors.
    fn name(&mut self, what: &str) -> Parsed<ast::Name> {
        if !self.is_name() {
            return Err(self.expected_name(what));
        }
        let token = self.bump();
        Ok(ast::Name { text: token.text, span: token.span })
    }

    /// `nonTypeName`: a name, but not `list`.
    fn non_type_name(&mut self, what: &str) -> Parsed<ast::Name> {
        if self.is(Kind::Name(Some(Keyword::List))) {
            return Err(self.expected_name(what));
        }
        self.name(what)
    }

    /// Runs a rule one level deeper, if the limit allows it.
    fn nested<T>(&mut self, rule: impl FnOnce(&mut Parser) -> Parsed<T>) -> Parsed<T> {
        self.check_height(self.depth + 1)?;
        self.depth += 1;
        let result = rule(self);
        self.depth -= 1;
        result
    }

    /// Rejects trees that are too high for the passes that walk them.
    fn check_height(&mut self, height: usize) -> Parsed<()> {
        if height <= MAX_NESTING {
            return Ok(());
        }
        let message = format!("this is nested more than {MAX_NESTING} levels deep");
        let error = Diagnostic::error("E0303", self.span(), message);
        Err(self.fail(error.with_help("give a part of it a name of its own")))
    }

    /// Items up to `close`, with commas between. A comma before `close` is allowed if `trailing`.
    /// [`Parser::height`] becomes that of the highest item.
    fn comma_list<T>(
        &mut self,
        close: Kind,
        trailing: bool,
        mut item: impl FnMut(&mut Parser) -> Parsed<T>,
    ) -> Parsed<Vec<T>> {
        let mut items = Vec::new();
        let mut height = 0;
        if !self.is(close) {
            loop {
                self.height = 0;
                items.push(item(self)?);
                height = height.max(self.height);
                if !self.eat(Kind::Comma) || (trailing && self.is(close)) {
                    break;
                }
            }
        }
        self.height = height;
        Ok(items)
    }

    /// A comma list in parentheses or brackets, up to and with the closing one.
    fn enclosed<T>(
        &mut self,
        open: Kind,
        close: Kind,
        item: impl FnMut(&mut Parser) -> Parsed<T>,
    ) -> Parsed<Vec<T>> {
        let opened = self.expect(open)?;
        let items = self.comma_list(close, false, item)?;
        self.close_list(close, opened)?;
        Ok(items)
    }
}

/// The token kind of a keyword.
const fn key(word: Keyword) -> Kind {
    if word.may_be_name() { Kind::Name(Some(word)) } else { Kind::Key(word) }
}

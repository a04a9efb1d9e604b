//! Types: `typeRef` and its parts.

use super::{Parsed, Parser, recovery::described, scan::begins_type};
use crate::{
    ast::{Expr, ExprKind, Name, TypeRef, TypeRefKind},
    diagnostic::Diagnostic,
    lex::{Keyword, Kind},
    source::Span,
};

impl Parser {
    /// True if a type can begin here.
    pub(super) fn begins_type(&self) -> bool {
        match self.kind() {
            Kind::Key(word) => begins_type(word),
            Kind::Name(_) => true,
            Kind::Dot => matches!(self.kind_at(1), Kind::Name(_)),
            _ => false,
        }
    }

    /// `typeRef`. [`Parser::height`] becomes its height.
    pub(super) fn type_ref(&mut self) -> Parsed<TypeRef> {
        self.nested(|p| {
            let start = p.span();
            let kind = p.unindexed_type()?;
            let mut ty = TypeRef { kind, span: p.span_from(start) };
            let mut height = p.height + 1;
            while p.is(Kind::LBracket) {
                let opened = p.bump().span;
                let size = p.expression()?;
                p.expect_close(Kind::RBracket, opened)?;
                height = height.max(p.height) + 1;
                p.check_height(height)?;
                let kind = TypeRefKind::Stack(Box::new(ty), Box::new(size));
                ty = TypeRef { kind, span: p.span_from(start) };
            }
            p.height = height;
            Ok(ty)
        })
    }

    /// A type without `[...]` behind it.
    fn unindexed_type(&mut self) -> Parsed<TypeRefKind> {
        self.height = 0;
        let Kind::Key(word) = self.kind() else { return self.named_type() };
        let simple = match word {
            Keyword::Bool => TypeRefKind::Bool,
            Keyword::Error => TypeRefKind::Error,
            Keyword::MatchKind => TypeRefKind::MatchKind,
            Keyword::String => TypeRefKind::String,
            Keyword::Bit | Keyword::Int | Keyword::VarBit => return self.sized_type(word),
            Keyword::Tuple => {
                self.bump();
                return Ok(TypeRefKind::Tuple(self.type_args()?));
            }
            Keyword::Void => return Err(self.misplaced_void()),
            _ => return Err(self.expected_type()),
        };
        self.bump();
        Ok(simple)
    }

    fn misplaced_void(&mut self) -> super::Reported {
        let error = Diagnostic::error("E0305", self.span(), "`void` is no type of a value");
        self.fail(error.with_note("only functions and methods return `void`"))
    }

    fn expected_type(&mut self) -> super::Reported {
        self.expected("a type")
    }

    /// `typeName`, `specializedType` or `p4listType`.
    fn named_type(&mut self) -> Parsed<TypeRefKind> {
        let global = self.eat(Kind::Dot);
        if !self.is_name() {
            return Err(self.expected_type());
        }
        let is_list = self.is(Kind::Name(Some(Keyword::List)));
        let name = self.name("a type")?;
        if !self.is(Kind::Lt) {
            return Ok(TypeRefKind::Named { name, global });
        }
        let args = self.type_args()?;
        if !is_list || global {
            return Ok(TypeRefKind::Specialized { name, global, args });
        }
        match <[TypeRef; 1]>::try_from(args) {
            Ok([element]) => Ok(TypeRefKind::List(Box::new(element))),
            Err(args) => {
                let message = format!("`list` takes one type, not {}", args.len());
                Err(self.fail_at(&name, message))
            }
        }
    }

    /// `bit`, `bit<8>`, `bit<(e)>`, `int`, ...
    fn sized_type(&mut self, word: Keyword) -> Parsed<TypeRefKind> {
        self.bump();
        if !self.is(Kind::Lt) {
            return match word {
                Keyword::Bit => Ok(TypeRefKind::Bit(None)),
                Keyword::Int => Ok(TypeRefKind::InfInt),
                _ => Err(self.expected_sign(Kind::Lt)),
            };
        }
        let opened = self.bump().span;
        let width = self.width()?;
        self.expect_close(Kind::Gt, opened)?;
        Ok(match word {
            Keyword::Bit => TypeRefKind::Bit(Some(width)),
            Keyword::Int => TypeRefKind::Int(width),
            _ => TypeRefKind::VarBit(width),
        })
    }

    /// The width of a type: a number, or an expression in parentheses.
    fn width(&mut self) -> Parsed<Box<Expr>> {
        let span = self.span();
        match self.kind() {
            Kind::Number if self.kind_at(1) == Kind::Gt => {
                let literal = self.integer()?;
                self.height = 1;
                Ok(Box::new(Expr { kind: ExprKind::Integer(literal), span }))
            }
            Kind::LParen => {
                let opened = self.bump().span;
                let width = self.expression()?;
                self.expect_close(Kind::RParen, opened)?;
                if self.is(Kind::Gt) { Ok(Box::new(width)) } else { self.bare_width(span) }
            }
            _ => self.bare_width(span),
        }
    }

    /// An expression that lacks its parentheses: reported, and skipped up to the `>`.
    fn bare_width(&mut self, start: Span) -> Parsed<Box<Expr>> {
        let Some(length) = self.width_length() else { return Err(self.expected("a width")) };
        for _ in 0..length {
            self.bump();
        }
        let span = self.span_from(start);
        let message = "a width that is no plain number needs parentheses";
        let error = Diagnostic::error("E0306", span, message);
        let written = self.tokens_between(start);
        let cure = format!("({written})");
        let text = format!("write `{cure}`");
        self.report(error.with_suggestion(span, cure, text));
        self.height = 1;
        Ok(Box::new(Expr { kind: ExprKind::Error, span }))
    }

    /// Tokens up to the `>` that ends a width written without parentheses.
    fn width_length(&self) -> Option<usize> {
        let mut length = 0;
        while length < 100 {
            match self.kind_at(length) {
                Kind::Gt => return Some(length),
                Kind::LParen | Kind::LBracket => {
                    length = self.behind_brackets(self.at + length)? - self.at;
                    continue;
                }
                Kind::Semicolon | Kind::End | Kind::Comma | Kind::Eq => return None,
                Kind::RParen | Kind::RBracket | Kind::LBrace | Kind::RBrace => return None,
                _ => length += 1,
            }
        }
        None
    }

    /// The tokens from `start` to the one before this, as a reader would write them.
    fn tokens_between(&self, start: Span) -> String {
        let first = self.tokens[..self.at].iter().rposition(|token| token.span == start);
        let mut text = String::new();
        for (index, token) in self.tokens[first.unwrap_or(self.at)..self.at].iter().enumerate() {
            if index > 0 && token.spaced {
                text.push(' ');
            }
            text.push_str(token.spelling());
        }
        text
    }

    /// `< typeArgumentList >`
    pub(super) fn type_args(&mut self) -> Parsed<Vec<TypeRef>> {
        let opened = self.expect(Kind::Lt)?;
        let args = self.comma_list(Kind::Gt, false, Parser::type_arg)?;
        if self.is(Kind::Ge) {
            return Err(self.split_sign(opened));
        }
        self.close_list(Kind::Gt, opened)?;
        Ok(args)
    }

    fn split_sign(&mut self, opened: Span) -> super::Reported {
        let message = format!("expected `>`, found {}", described(self.token()));
        let error = Diagnostic::error("E0301", self.span(), message);
        self.fail(error.with_place(opened, "to close this").with_help("put a space behind `>`"))
    }

    /// `typeArg`
    fn type_arg(&mut self) -> Parsed<TypeRef> {
        let span = self.span();
        let kind = match self.kind() {
            Kind::Underscore => TypeRefKind::DontCare,
            Kind::Key(Keyword::Void) => TypeRefKind::Void,
            _ => return self.type_ref(),
        };
        self.bump();
        Ok(TypeRef { kind, span })
    }

    /// `typeOrVoid`: `None` is `void`.
    pub(super) fn type_or_void(&mut self) -> Parsed<Option<TypeRef>> {
        if self.eat_key(Keyword::Void) {
            return Ok(None);
        }
        self.type_ref().map(Some)
    }

    /// `optTypeParameters`. The names are declared as types in the innermost scope.
    pub(super) fn type_params(&mut self) -> Parsed<Vec<Name>> {
        if !self.is(Kind::Lt) {
            return Ok(Vec::new());
        }
        let opened = self.bump().span;
        let params = self.comma_list(Kind::Gt, false, |p| p.name("the name of a type"))?;
        self.close_list(Kind::Gt, opened)?;
        if params.is_empty() {
            let error = Diagnostic::error("E0301", opened, "expected a type parameter, found `>`");
            self.report(error);
        }
        for param in &params {
            self.names.declare(&param.text, super::names::Meaning::Type);
        }
        Ok(params)
    }
}

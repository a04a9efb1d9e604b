//! Annotations: `@name`, `@name(tokens)`, `@name[structured]`, and `@pragma` to the end of the line.

use super::{Parsed, Parser, literals::contents};
use crate::{
    ast::{Annotation, AnnotationBody, AnnotationToken, AnnotationValue, Expr, Name},
    lex::Kind,
};

impl Parser {
    /// `optAnnotations`
    pub(super) fn annotations(&mut self) -> Parsed<Vec<Annotation>> {
        let mut annotations = Vec::new();
        while self.is(Kind::At) {
            annotations.push(self.annotation()?);
        }
        Ok(annotations)
    }

    fn annotation(&mut self) -> Parsed<Annotation> {
        let start = self.expect(Kind::At)?;
        if self.is(Kind::Name(None)) && &*self.token().text == "pragma" {
            return self.pragma();
        }
        let name = self.name("the name of an annotation")?;
        let body = match self.kind() {
            Kind::LParen => AnnotationBody::Tokens(self.annotation_tokens()?),
            Kind::LBracket => self.structured_annotation()?,
            _ => AnnotationBody::Empty,
        };
        Ok(Annotation { name, body, span: self.span_from(start) })
    }

    /// `@pragma name tokens`, from programs for the vendor's compiler: the tokens behind the name
    /// on the same line are the body.
    fn pragma(&mut self) -> Parsed<Annotation> {
        let start = self.previous();
        let word = self.bump();
        let named = self.is_name() && !self.token().starts_line;
        let name = match named {
            true => self.name("the name of a pragma")?,
            false => Name { text: word.text, span: word.span },
        };
        let mut tokens = Vec::new();
        while !self.is(Kind::End) && !self.token().starts_line {
            tokens.push(self.annotation_token());
        }
        let body = match tokens.is_empty() {
            true => AnnotationBody::Empty,
            false => AnnotationBody::Tokens(tokens),
        };
        Ok(Annotation { name, body, span: self.span_from(start) })
    }

    fn annotation_token(&mut self) -> AnnotationToken {
        let token = self.bump();
        let is_string = token.kind == Kind::String;
        let text = if is_string { contents(&token.text) } else { token.spelling().into() };
        AnnotationToken { text, is_string, span: token.span }
    }

    /// `( annotationBody )`: any tokens, parentheses in pairs.
    fn annotation_tokens(&mut self) -> Parsed<Vec<AnnotationToken>> {
        let opened = self.expect(Kind::LParen)?;
        let mut tokens = Vec::new();
        let mut depth = 0_usize;
        loop {
            match self.kind() {
                Kind::RParen if depth == 0 => break,
                Kind::LParen => depth += 1,
                Kind::RParen => depth -= 1,
                Kind::End => {
                    self.expect_close(Kind::RParen, opened)?;
                }
                _ => {}
            }
            tokens.push(self.annotation_token());
        }
        self.bump();
        Ok(tokens)
    }

    /// `[ structuredAnnotationBody ]`
    fn structured_annotation(&mut self) -> Parsed<AnnotationBody> {
        let opened = self.expect(Kind::LBracket)?;
        let keyed = self.is_name() && self.kind_at(1) == Kind::Eq;
        let body = if keyed {
            let pairs = self.comma_list(Kind::RBracket, true, |parser| {
                let (name, written) = parser.key_value()?;
                Ok((name, value(written)))
            })?;
            AnnotationBody::KeyValues(pairs)
        } else {
            let values =
                self.comma_list(Kind::RBracket, true, |parser| parser.expression().map(value))?;
            AnnotationBody::Expressions(values)
        };
        self.close_list(Kind::RBracket, opened)?;
        Ok(body)
    }

    /// `kvPair`
    pub(super) fn key_value(&mut self) -> Parsed<(Name, Expr)> {
        let name = self.name("a key")?;
        self.expect(Kind::Eq)?;
        Ok((name, self.expression()?))
    }
}

fn value(written: Expr) -> AnnotationValue {
    AnnotationValue { written, value: Default::default() }
}

//! Macro definitions: `#define` and `#undef`.
//!
//! Macro expansion is in `expand`.

use super::Preprocessor;
use crate::{
    diagnostic::Diagnostic,
    lex::{Kind, Token},
    source::Span,
};
use std::{rc::Rc, sync::Arc};

/// A macro.
#[derive(Debug)]
pub(super) struct Macro {
    pub name: Arc<str>,
    /// Span of the name in the definition.
    pub place: Span,
    /// `None` for a macro without parentheses.
    pub params: Option<Params>,
    pub body: Vec<BodyToken>,
    /// From the first token of the replacement to the last; dummy if there is none.
    pub body_span: Span,
}

/// The parameters of a function-like macro.
#[derive(Debug, Default)]
pub(super) struct Params {
    pub names: Vec<Arc<str>>,
    /// The last parameter takes all further arguments.
    pub variadic: bool,
}

/// A token of a replacement.
#[derive(Clone, Debug)]
pub(super) struct BodyToken {
    pub token: Token,
    /// The parameter that it names.
    pub param: Option<usize>,
    /// `#` precedes it: the argument becomes a string.
    pub stringify: bool,
    /// `##` follows it: it is joined to the next.
    pub pasted: bool,
}

/// Names that are part of the preprocessor itself.
pub(super) const RESERVED: &[&str] = &["defined", "__FILE__", "__LINE__", "__VA_ARGS__"];

impl Macro {
    /// True if two definitions are equivalent, so that a redefinition is allowed.
    fn says_the_same(&self, other: &Macro) -> bool {
        let same_params = match (&self.params, &other.params) {
            (None, None) => true,
            (Some(a), Some(b)) => a.names == b.names && a.variadic == b.variadic,
            _ => false,
        };
        let same_token = |a: &BodyToken, b: &BodyToken| {
            (a.token.kind, a.stringify, a.pasted) == (b.token.kind, b.stringify, b.pasted)
                && a.token.text == b.token.text
        };
        same_params
            && self.body.len() == other.body.len()
            && self.body.iter().zip(&other.body).all(|(a, b)| same_token(a, b))
    }
}

impl Preprocessor<'_> {
    /// `#define`, the name onwards.
    pub(super) fn define(&mut self, hash: &Token) {
        let Some(name) = self.macro_name("#define", hash) else { return };
        let mut tokens = self.rest_of_directive().into_iter().peekable();
        let opens = tokens.peek().is_some_and(|next| next.kind == Kind::LParen && !next.spaced);
        let params = if opens {
            tokens.next();
            match self.macro_params(&name, &mut tokens) {
                Some(params) => Some(params),
                None => return,
            }
        } else {
            None
        };
        let tokens: Vec<Token> = tokens.collect();
        let body_span = match (tokens.first(), tokens.last()) {
            (Some(first), Some(last)) => first.span.to(last.span),
            _ => Span::DUMMY,
        };
        let Some(body) = self.macro_body(params.as_ref(), tokens) else { return };
        let defined = Macro { name: name.text.clone(), place: name.span, params, body, body_span };
        if let Some(before) = self.macros.get(&defined.name)
            && !before.says_the_same(&defined)
        {
            let message = format!("the macro `{}` is defined again, differently", defined.name);
            let warning = Diagnostic::warning("W0110", defined.place, message);
            let warning = warning.with_place(before.place, "it was defined here");
            self.report(warning.with_help("put `#undef` before it if that is meant"));
        }
        self.macros.insert(defined.name.clone(), Rc::new(defined));
    }

    /// `#undef`, the name onwards.
    pub(super) fn undefine(&mut self, hash: &Token) {
        if let Some(name) = self.macro_name("#undef", hash) {
            self.expect_end("#undef");
            self.macros.remove(&name.text);
        }
    }

    /// The name behind `#define`, `#undef`, `#ifdef`.
    pub(super) fn macro_name(&mut self, directive: &str, hash: &Token) -> Option<Token> {
        let token = self.next_of_directive();
        let problem = match &token {
            None => format!("`{directive}` needs a name"),
            Some(token) if token.kind != Kind::Word => {
                format!("`{directive}` needs a name, not `{}`", token.spelling())
            }
            Some(token) if RESERVED.contains(&&*token.text) && !directive.starts_with("#if") => {
                format!("`{}` cannot be the name of a macro", token.text)
            }
            Some(_) => return token,
        };
        let span = token.map_or(hash.span, |token| token.span);
        self.report(Diagnostic::error("E0111", span, problem));
        self.rest_of_directive();
        None
    }

    /// The parameters of a macro, behind the opening parenthesis.
    fn macro_params(
        &mut self,
        name: &Token,
        tokens: &mut impl Iterator<Item = Token>,
    ) -> Option<Params> {
        let mut params = Params::default();
        let mut wants_comma = false;
        let mut last = name.span;
        loop {
            let Some(token) = tokens.next() else {
                let error = Diagnostic::error("E0112", last.after(), "expected `)`");
                self.report(error.with_note("the parameters of a macro stand on one line"));
                return None;
            };
            last = token.span;
            match token.kind {
                Kind::RParen if wants_comma || params.names.is_empty() => return Some(params),
                Kind::Comma if wants_comma && !params.variadic => wants_comma = false,
                Kind::Dots if !params.variadic => {
                    params.variadic = true;
                    if !wants_comma {
                        params.names.push("__VA_ARGS__".into());
                    }
                    wants_comma = true;
                }
                Kind::Word if !wants_comma && !params.names.contains(&token.text) => {
                    params.names.push(token.text);
                    wants_comma = true;
                }
                _ => {
                    let message = match token.kind {
                        Kind::Word if !wants_comma => {
                            format!("the parameter `{}` is there twice", token.text)
                        }
                        _ if wants_comma => {
                            format!("expected `,` or `)`, found `{}`", token.spelling())
                        }
                        _ => format!("expected a parameter's name, found `{}`", token.spelling()),
                    };
                    self.report(Diagnostic::error("E0112", token.span, message));
                    return None;
                }
            }
        }
    }

    /// Finds parameters, `#` and `##` in a replacement.
    fn macro_body(
        &mut self,
        params: Option<&Params>,
        tokens: Vec<Token>,
    ) -> Option<Vec<BodyToken>> {
        let mut body: Vec<BodyToken> = Vec::with_capacity(tokens.len());
        let mut tokens = tokens.into_iter().peekable();
        while let Some(token) = tokens.next() {
            let param_of = |token: &Token| {
                let names = &params?.names;
                names.iter().position(|name| token.kind == Kind::Word && *name == token.text)
            };
            match token.kind {
                Kind::HashHash => {
                    let Some(left) = body.last_mut().filter(|_| tokens.peek().is_some()) else {
                        let message = "`##` needs a token on either side";
                        self.report(Diagnostic::error("E0113", token.span, message));
                        return None;
                    };
                    left.pasted = true;
                }
                Kind::Hash if params.is_some() => {
                    let next = tokens.next();
                    let Some((next, param)) = next.and_then(|next| {
                        let param = param_of(&next)?;
                        Some((next, param))
                    }) else {
                        let message = "`#` needs a parameter of the macro behind it";
                        self.report(Diagnostic::error("E0113", token.span, message));
                        return None;
                    };
                    let token = Token { spaced: token.spaced, ..next };
                    let param = Some(param);
                    body.push(BodyToken { token, param, stringify: true, pasted: false });
                }
                _ => {
                    let param = param_of(&token);
                    body.push(BodyToken { token, param, stringify: false, pasted: false });
                }
            }
        }
        Some(body)
    }
}

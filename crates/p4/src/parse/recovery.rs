//! Errors: how they are said, and where parsing goes on behind them.
//!
//! Each error says what was expected and what was found, and proposes a keyword where a word looks
//! like one. One token gives one error; what follows from it stays unsaid.

use super::{MAX_ERRORS, Parsed, Parser, Reported, key};
use crate::{
    ast::Name,
    diagnostic::{Diagnostic, near_name},
    lex::{Keyword, Kind, Token},
    source::Span,
};

/// Keywords with which only a top-level declaration begins.
const TOP_LEVEL: &[Keyword] = &[
    Keyword::Control,
    Keyword::Parser,
    Keyword::Package,
    Keyword::Extern,
    Keyword::Struct,
    Keyword::Header,
    Keyword::HeaderUnion,
    Keyword::Enum,
    Keyword::Typedef,
];

impl Parser {
    /// Reports an error, unless the same token gave one before.
    pub(super) fn fail(&mut self, error: Diagnostic) -> Reported {
        if self.last_error != Some(self.at) {
            self.last_error = Some(self.at);
            self.report(error);
        }
        Reported
    }

    /// Reports an error after which the rule goes on.
    pub(super) fn report(&mut self, error: Diagnostic) {
        if self.diagnostics.len() == MAX_ERRORS {
            let span = self.span();
            let message = format!("more than {MAX_ERRORS} errors; the rest is not parsed");
            self.diagnostics.push(Diagnostic::error("E0302", span, message));
            self.at = self.tokens.len() - 1;
        } else if self.diagnostics.len() < MAX_ERRORS {
            self.diagnostics.push(error);
        }
    }

    /// `expected ..., found ...` at the current token.
    pub(super) fn expected(&mut self, what: &str) -> Reported {
        let error = self.expectation(what);
        self.fail(error)
    }

    fn expectation(&self, what: &str) -> Diagnostic {
        let token = self.token();
        let message = format!("expected {what}, found {}", described(token));
        let span = if token.kind == Kind::End { self.previous() } else { token.span };
        Diagnostic::error("E0301", span, message).with_label(format!("expected {what}"))
    }

    /// `expected ..., found ...`, with the nearest of `words` proposed for a misspelt keyword.
    pub(super) fn expected_of(&mut self, what: &str, words: &[Keyword]) -> Reported {
        let error = self.expectation(what);
        let error = match self.kind() {
            Kind::Name(None) => {
                let found = self.token().text.clone();
                error.with_near_name(&found, words.iter().map(|word| word.text()))
            }
            _ => error,
        };
        self.fail(error)
    }

    /// A sign or keyword is missing. At the end of a line its place is behind the token before.
    pub(super) fn expected_sign(&mut self, kind: Kind) -> Reported {
        let what = match kind {
            Kind::Name(Some(word)) => format!("`{}`", word.text()),
            kind => format!("`{}`", kind.sign()),
        };
        let mut error = self.expectation(&what);
        let token = self.token();
        if token.starts_line || token.kind == Kind::End {
            error.primary = self.previous().after();
            error.label = Some(format!("expected {what} here"));
        }
        if kind == Kind::Semicolon {
            error = error.with_suggestion(self.previous().after(), ";", "add `;`");
            error.suggestions.retain(|_| token.starts_line);
        }
        if let (Kind::Key(word) | Kind::Name(Some(word)), Kind::Name(None)) = (kind, token.kind) {
            error = error.with_near_name(&token.text.clone(), [word.text()]);
        }
        self.fail(error)
    }

    /// A name is missing; a keyword may be in its place.
    pub(super) fn expected_name(&mut self, what: &str) -> Reported {
        let error = self.expectation(what);
        let error = match self.kind() {
            Kind::Key(word) => {
                error.with_note(format!("`{}` is a keyword and cannot be a name", word.text()))
            }
            _ => error,
        };
        self.fail(error)
    }

    /// A closing parenthesis or bracket.
    pub(super) fn expect_close(&mut self, close: Kind, opened: Span) -> Parsed<Span> {
        self.close_with(close, opened, &format!("`{}`", close.sign()))
    }

    /// A closing parenthesis or bracket, where a comma is also valid.
    pub(super) fn close_list(&mut self, close: Kind, opened: Span) -> Parsed<Span> {
        self.close_with(close, opened, &format!("`,` or `{}`", close.sign()))
    }

    fn close_with(&mut self, close: Kind, opened: Span, what: &str) -> Parsed<Span> {
        if self.is(close) {
            return Ok(self.bump().span);
        }
        let error = self.expectation(what);
        Err(self.fail(error.with_place(opened, "to close this")))
    }

    /// `{`, remembered until its `}`.
    pub(super) fn open_brace(&mut self) -> Parsed<Span> {
        let opened = self.expect(Kind::LBrace)?;
        self.open_braces.push(opened);
        Ok(opened)
    }

    /// `}`. If it is missing the error is reported, and parsing goes on as if it were there.
    pub(super) fn close_brace(&mut self, what: &str) -> Span {
        let opened = self.open_braces.pop();
        if self.is(Kind::RBrace) {
            return self.bump().span;
        }
        let error = self.expectation(what);
        self.fail(match opened {
            Some(opened) => error.with_place(opened, "this `{` is not closed"),
            None => error,
        });
        self.previous()
    }

    /// True at the end of a list in braces: at `}`, at the end of the text, or at a declaration
    /// that is only valid at top level, so that a `}` must be missing.
    pub(super) fn ends_braces(&self) -> bool {
        match self.kind() {
            Kind::RBrace | Kind::End => true,
            Kind::Key(word) => self.token().starts_line && TOP_LEVEL.contains(&word),
            _ => false,
        }
    }

    /// Items up to the `}` that ends them; each error costs one item.
    pub(super) fn items_in_braces<T>(
        &mut self,
        mut item: impl FnMut(&mut Parser) -> Parsed<T>,
    ) -> Vec<T> {
        let mut items = Vec::new();
        while !self.ends_braces() {
            let (start, scopes, braces) = (self.at, self.names.depth(), self.open_braces.len());
            match item(self) {
                Ok(item) => items.push(item),
                Err(Reported) => {
                    self.names.leave_to(scopes);
                    self.skip_item(start, self.open_braces.len().saturating_sub(braces));
                    self.open_braces.truncate(braces);
                }
            }
        }
        items
    }

    /// Goes on behind the item that began at `start` and failed with `open` braces still open.
    fn skip_item(&mut self, start: usize, open: usize) {
        let mut depth = open;
        loop {
            match self.kind() {
                Kind::End => return,
                Kind::Key(word)
                    if self.at > start && self.token().starts_line && TOP_LEVEL.contains(&word) =>
                {
                    return;
                }
                Kind::LBrace => depth += 1,
                Kind::RBrace if depth == 0 => {
                    return;
                }
                Kind::RBrace => {
                    depth -= 1;
                    if depth == 0 {
                        self.bump();
                        self.eat(Kind::Semicolon);
                        return;
                    }
                }
                Kind::Semicolon if depth == 0 => {
                    self.bump();
                    return;
                }
                _ => {}
            }
            self.bump();
        }
    }

    /// Goes on behind the top-level declaration that began at `start` and failed.
    pub(super) fn skip_declaration(&mut self, start: usize) {
        self.names.leave_to(0);
        self.skip_item(start, self.open_braces.len());
        self.open_braces.clear();
        if self.at == start || self.is(Kind::RBrace) {
            self.bump();
        }
    }

    /// A word that is no type but nearly a keyword is taken for the keyword: the slip is reported,
    /// and parsing goes on as if it had not happened.
    pub(super) fn mend_keyword(&mut self, words: &[Keyword]) {
        self.mend_as("type and no keyword", words);
    }

    /// The same, with another name for what was looked for.
    pub(super) fn mend_as(&mut self, what: &str, words: &[Keyword]) {
        if !self.is(Kind::Name(None)) || self.names.meaning(&self.token().text).is_some() {
            return;
        }
        let found = self.token().text.clone();
        let Some(near) = near_name(&found, words.iter().map(|word| word.text())) else { return };
        let Some(word) = Keyword::from_text(near) else { return };
        let message = format!("there is no {what} `{found}`");
        let error = Diagnostic::error("E0304", self.span(), message);
        let error = error.with_suggestion(self.span(), near, format!("did you mean `{near}`?"));
        self.report(error);
        if let Some(token) = self.tokens.get_mut(self.at)
            && token.kind != Kind::End
        {
            token.kind = key(word);
        }
    }

    /// An error about a name.
    pub(super) fn fail_at(&mut self, name: &Name, message: String) -> Reported {
        self.fail(Diagnostic::error("E0305", name.span, message))
    }
}

/// Name of a token in "found ...".
pub(super) fn described(token: &Token) -> String {
    match token.kind {
        Kind::End => "the end of the program".to_string(),
        Kind::Key(word) => format!("the keyword `{}`", word.text()),
        Kind::String => "a string".to_string(),
        Kind::Number => format!("the number `{}`", shortened(token.spelling())),
        Kind::Unknown => match token.text.chars().next() {
            Some(c) if !c.is_control() => format!("the character `{c}`"),
            Some(c) => format!("the character U+{:04X}", u32::from(c)),
            None => "nothing".to_string(),
        },
        _ => format!("`{}`", shortened(token.spelling())),
    }
}

/// At most 40 characters of a token.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(40) {
        Some((at, _)) => format!("{}...", &text[..at]),
        None => text.to_string(),
    }
}

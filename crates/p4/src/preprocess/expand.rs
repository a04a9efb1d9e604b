//! Macros as they are used: the replacement takes the place of the name.
//!
//! The rules are C's (ISO C 6.10.4): arguments are expanded on their own first, then the whole
//! replacement is read again; a macro is not expanded inside its own replacement.

use super::{
    Input, Preprocessor, Stop, TokenRun,
    arguments::Arguments,
    macros::{BodyToken, Macro},
};
use crate::{
    diagnostic::Diagnostic,
    lex::{Kind, Lexer, Token},
    source::Span,
};
use std::rc::Rc;

/// Maximum nesting of macro uses in one another's arguments.
const MAX_DEPTH: usize = 100;

impl Preprocessor<'_> {
    pub(super) fn is_disabled(&self, name: &str) -> bool {
        self.disabled.get(name).is_some_and(|count| *count > 0)
    }

    /// The next token that is no use of a macro.
    pub(super) fn next_expanded(&mut self) -> Result<Option<Token>, Stop> {
        loop {
            let Some(mut token) = self.next_raw()? else { return Ok(None) };
            if token.kind != Kind::Word || token.painted || !self.expand(&mut token)? {
                return Ok(Some(token));
            }
        }
    }

    /// Expands tokens on their own, as far as they go.
    pub(super) fn expand_all(&mut self, tokens: Vec<Token>) -> Result<Vec<Token>, Stop> {
        if tokens.iter().all(|token| token.kind != Kind::Word) {
            return Ok(tokens);
        }
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            let span = tokens.first().map_or(Span::DUMMY, |token| token.span);
            let message = "macros are used too deep inside the arguments of others";
            return Err(self.stop(Diagnostic::error("E0142", span, message)));
        }
        let was_collecting = std::mem::replace(&mut self.collecting, false);
        let run = TokenRun { tokens: tokens.into_iter(), disabled: None, fenced: true };
        self.inputs.push(Input::Tokens(run));
        let mut expanded = Vec::new();
        while let Some(token) = self.next_expanded()? {
            expanded.push(token);
        }
        self.inputs.pop();
        self.collecting = was_collecting;
        self.depth -= 1;
        Ok(expanded)
    }

    /// Replaces a use of a macro. True if the token was consumed and its replacement is queued;
    /// false if the token (perhaps changed) remains.
    fn expand(&mut self, token: &mut Token) -> Result<bool, Stop> {
        match &*token.text {
            "__LINE__" => {
                let line = self.sources.location(token.span).map_or(0, |place| place.line);
                token.text = self.interner.intern(&line.to_string());
                token.kind = Kind::Number;
                return Ok(false);
            }
            "__FILE__" => {
                let path = self.sources.location(token.span).map(|place| place.path);
                token.text = self.interner.intern(&quoted(&path.unwrap_or_default()));
                token.kind = Kind::String;
                return Ok(false);
            }
            _ => {}
        }
        let Some(used) = self.macros.get(&token.text).cloned() else { return Ok(false) };
        if self.is_disabled(&token.text) {
            token.painted = true;
            return Ok(false);
        }
        let mut site = token.span;
        let mut rows = Vec::new();
        if used.params.is_some() {
            if !self.parenthesis_follows() {
                return Ok(false);
            }
            let Some(arguments) = self.arguments(&used, site)? else { return Ok(true) };
            let Arguments { rows: found, close } = arguments;
            site = site.to(close);
            rows = found;
        }
        self.replace(&used, rows, site, token)?;
        Ok(true)
    }

    /// Puts the replacement of `used` in front of what is to be read.
    fn replace(
        &mut self,
        used: &Rc<Macro>,
        rows: Vec<Vec<Token>>,
        site: Span,
        token: &Token,
    ) -> Result<(), Stop> {
        if used.body.is_empty() {
            return Ok(());
        }
        let name = used.name.clone();
        let Some(start) = self.sources.add_expansion(name.clone(), site, used.body_span) else {
            return Err(self.out_of_space(site));
        };
        let shift = Shift { from: used.body_span.start, to: start };
        let mut tokens = Substitution::new(self, used, rows, shift).run()?;
        if let Some(first) = tokens.first_mut() {
            first.spaced = token.spaced;
            first.starts_line = token.starts_line;
        }
        *self.disabled.entry(name.clone()).or_default() += 1;
        let tokens = tokens.into_iter();
        self.inputs.push(Input::Tokens(TokenRun { tokens, disabled: Some(name), fenced: false }));
        Ok(())
    }
}

/// Maps positions in a definition to those of its replacement.
#[derive(Clone, Copy)]
struct Shift {
    from: u32,
    to: u32,
}

impl Shift {
    fn apply(self, span: Span) -> Span {
        Span::new(span.start - self.from + self.to, span.end - self.from + self.to)
    }
}

/// A replacement being put together.
struct Substitution<'p, 'a> {
    preprocessor: &'p mut Preprocessor<'a>,
    used: &'p Macro,
    rows: Vec<Vec<Token>>,
    /// The arguments after their own expansion, made when first needed.
    expanded: Vec<Option<Vec<Token>>>,
    shift: Shift,
    output: Vec<Token>,
    /// Start of the left side of a `##` in the output, while its right side is pending.
    pasting: Option<usize>,
}

impl<'p, 'a> Substitution<'p, 'a> {
    fn new(
        preprocessor: &'p mut Preprocessor<'a>,
        used: &'p Macro,
        rows: Vec<Vec<Token>>,
        shift: Shift,
    ) -> Self {
        let expanded = vec![None; rows.len()];
        let (output, pasting) = (Vec::new(), None);
        Substitution { preprocessor, used, rows, expanded, shift, output, pasting }
    }

    fn run(mut self) -> Result<Vec<Token>, Stop> {
        for index in 0..self.used.body.len() {
            let item = &self.used.body[index];
            let start = self.output.len();
            let comma_before = self.pasting.is_some()
                && self.is_variadic(item)
                && self.used.body[index - 1].token.kind == Kind::Comma;
            if comma_before {
                self.comma_and_rest(item)?;
            } else {
                let piece = self.piece(item)?;
                match self.pasting {
                    Some(left) => self.paste(left, piece, item),
                    None => self.output.extend(piece),
                }
            }
            self.pasting = item.pasted.then(|| self.pasting.unwrap_or(start));
            self.preprocessor.count_output(self.output.len(), item.token.span)?;
        }
        Ok(self.output)
    }

    fn is_variadic(&self, item: &BodyToken) -> bool {
        let params = self.used.params.as_ref();
        params.is_some_and(|p| p.variadic && item.param == Some(p.names.len() - 1))
    }

    /// `, ## __VA_ARGS__`: without further arguments the comma goes too.
    fn comma_and_rest(&mut self, item: &BodyToken) -> Result<(), Stop> {
        let index = item.param.unwrap_or_default();
        if self.rows[index].is_empty() {
            self.output.pop();
        } else {
            let rest = self.argument(index)?;
            self.output.extend(rest);
        }
        Ok(())
    }

    /// Replacement of one token of a macro's body.
    fn piece(&mut self, item: &BodyToken) -> Result<Vec<Token>, Stop> {
        let span = self.shift.apply(item.token.span);
        let Some(index) = item.param else {
            return Ok(vec![Token { span, starts_line: false, ..item.token.clone() }]);
        };
        if item.stringify {
            let text = stringified(&self.rows[index]);
            let text = self.preprocessor.interner.intern(&text);
            let token = Token { kind: Kind::String, span, text, ..item.token.clone() };
            return Ok(vec![token]);
        }
        let mut tokens = match item.pasted || self.pasting.is_some() {
            true => self.rows[index].clone(),
            false => self.argument(index)?,
        };
        if let Some(first) = tokens.first_mut() {
            first.spaced = item.token.spaced;
        }
        Ok(tokens)
    }

    /// An argument after its own expansion.
    fn argument(&mut self, index: usize) -> Result<Vec<Token>, Stop> {
        if let Some(tokens) = &self.expanded[index] {
            return Ok(tokens.clone());
        }
        let tokens = self.preprocessor.expand_all(self.rows[index].clone())?;
        self.expanded[index] = Some(tokens.clone());
        Ok(tokens)
    }

    /// Joins the last token of the output (if it is of the left side) to the first of `piece`.
    fn paste(&mut self, left: usize, piece: Vec<Token>, item: &BodyToken) {
        let mut piece = piece.into_iter();
        if self.output.len() > left
            && let Some(right) = piece.next()
            && let Some(before) = self.output.pop()
        {
            let text = format!("{}{}", before.spelling(), right.spelling());
            match self.preprocessor.single_token(&text) {
                Some(joined) => {
                    let span = self.shift.apply(item.token.span);
                    let Token { spaced, starts_line, .. } = before;
                    self.output.push(Token { span, spaced, starts_line, ..joined });
                }
                // Not an error for the compiler's preprocessor, and programs count on it
                // (`field[##n]`).
                None => self.output.extend([before, right]),
            }
        }
        self.output.extend(piece);
    }
}

impl Preprocessor<'_> {
    /// Stops a replacement that grows beyond all measure before it is read.
    fn count_output(&mut self, length: usize, span: Span) -> Result<(), Stop> {
        if self.read + length > super::MAX_TOKENS {
            self.read = super::MAX_TOKENS;
            return self.count(span);
        }
        Ok(())
    }

    /// The token that `text` is, if it is exactly one.
    fn single_token(&mut self, text: &str) -> Option<Token> {
        let mut problems = Vec::new();
        let mut lexer = Lexer::new(text.into(), 0);
        let token = lexer.next(&mut self.interner, &mut problems);
        let rest = lexer.next(&mut self.interner, &mut problems);
        let whole = rest.kind == Kind::End && token.kind != Kind::End && !token.spaced;
        (whole && problems.is_empty()).then_some(token)
    }
}

/// A string literal that holds `text`.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// `#argument`: the argument's spelling as a string literal.
fn stringified(tokens: &[Token]) -> String {
    let mut text = String::from("\"");
    for (index, token) in tokens.iter().enumerate() {
        if index > 0 && token.spaced {
            text.push(' ');
        }
        match token.kind {
            Kind::String => {
                text.push_str(&token.text.replace('\\', "\\\\").replace('"', "\\\""));
            }
            _ => text.push_str(token.spelling()),
        }
    }
    text.push('"');
    text
}

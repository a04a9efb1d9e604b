//! Lines that begin with `#`: which directive it is, and which groups of lines are skipped.
//!
//! The value of an `#if` is found in `condition`, files are opened in `include`, macros are defined
//! in `macros`.

use super::{Condition, Preprocessor, Stop};
use crate::{
    diagnostic::{Diagnostic, near_name},
    lex::{Kind, Token},
    source::Span,
};

/// All directives, for suggestions.
const DIRECTIVES: &[&str] = &[
    "define", "undef", "include", "if", "ifdef", "ifndef", "elif", "elifdef", "elifndef", "else",
    "endif", "error", "warning", "line", "pragma",
];

impl Preprocessor<'_> {
    /// The next token on the directive's line.
    pub(super) fn next_of_directive(&mut self) -> Option<Token> {
        let mut problems = Vec::new();
        let mut interner = std::mem::take(&mut self.interner);
        let token = self
            .current_file()
            .and_then(|file| file.lexer.next_in_line(&mut interner, &mut problems));
        self.interner = interner;
        self.diagnostics.append(&mut problems);
        token
    }

    /// All further tokens on the directive's line.
    pub(super) fn rest_of_directive(&mut self) -> Vec<Token> {
        std::iter::from_fn(|| self.next_of_directive()).collect()
    }

    /// Warns of tokens behind a complete directive.
    pub(super) fn expect_end(&mut self, directive: &str) {
        let rest = self.rest_of_directive();
        if let (Some(first), Some(last)) = (rest.first(), rest.last()) {
            let message = format!("unexpected text behind `{directive}` is ignored");
            let span = first.span.to(last.span);
            self.report(Diagnostic::warning("W0131", span, message));
        }
    }

    /// Obeys the directive whose `#` was just read.
    pub(super) fn directive(&mut self, hash: &Token) -> Result<(), Stop> {
        let Some(name) = self.next_of_directive() else { return Ok(()) };
        match (name.kind, &*name.text) {
            (Kind::Word, "define") => self.define(hash),
            (Kind::Word, "undef") => self.undefine(hash),
            (Kind::Word, "include") => self.include(hash)?,
            (Kind::Word, "if" | "ifdef" | "ifndef") => self.open_condition(hash, &name)?,
            (Kind::Word, "elif" | "elifdef" | "elifndef" | "else") => {
                self.next_branch(hash, &name)?;
            }
            (Kind::Word, "endif") => self.close_condition(hash),
            (Kind::Word, "error" | "warning") => self.user_message(hash, &name)?,
            (Kind::Word, "line") => self.line_directive(hash, None)?,
            (Kind::Number, _) => self.line_directive(hash, Some(name))?,
            (Kind::Word, "pragma") => self.pragma(),
            _ => self.unknown_directive(&name),
        }
        Ok(())
    }

    /// Reports an unknown directive: an error if it resembles a known one, else a warning, as p4c
    /// skips the line.
    fn unknown_directive(&mut self, name: &Token) {
        self.rest_of_directive();
        let message = format!("unknown directive `#{}`", name.spelling());
        let known = DIRECTIVES.iter().copied();
        self.report(match near_name(name.spelling(), known.clone()) {
            Some(_) => Diagnostic::error("E0132", name.span, message)
                .with_near_name(name.spelling(), known),
            None => Diagnostic::warning("W0132", name.span, message)
                .with_note("the line is passed over")
                .with_help("a remark begins with `//`"),
        });
    }

    /// `#error` and `#warning`: the rest of the line is the message.
    fn user_message(&mut self, hash: &Token, name: &Token) -> Result<(), Stop> {
        let Some(file) = self.current_file() else { return Ok(()) };
        let (text, place) = file.lexer.rest_of_line();
        let is_error = &*name.text == "error";
        let text = match (text.trim(), is_error) {
            ("", true) => "#error",
            ("", false) => "#warning",
            (text, _) => text,
        };
        let span = hash.span.to(name.span).to(place);
        let diagnostic = match is_error {
            true => Diagnostic::error("E0133", span, text),
            false => Diagnostic::warning("W0134", span, text),
        };
        self.report(diagnostic.with_label(match is_error {
            true => "the program asks for this error",
            false => "the program asks for this warning",
        }));
        Ok(())
    }

    /// `#pragma`: `once` is obeyed, all others are for other tools.
    fn pragma(&mut self) {
        let rest = self.rest_of_directive();
        if rest.first().is_some_and(|token| &*token.text == "once") {
            let path = self.current_file().map(|file| file.path.clone());
            self.once.extend(path);
        }
    }

    /// `#line number "file"`, and `# number "file" flags` as other preprocessors leave it.
    fn line_directive(&mut self, hash: &Token, number: Option<Token>) -> Result<(), Stop> {
        let mut tokens: Vec<Token> = number.into_iter().collect();
        let marker = !tokens.is_empty();
        tokens.append(&mut self.rest_of_directive());
        if !marker {
            tokens = self.expand_all(tokens)?;
        }
        let line = tokens.first().and_then(|token| token.text.parse::<u32>().ok());
        let path = match tokens.get(1) {
            None => Ok(None),
            Some(token) if token.kind == Kind::String => Ok(Some(token.text.trim_matches('"'))),
            Some(_) => Err(()),
        };
        let at = self.current_file().map(|file| file.lexer.position());
        match (line, path, at) {
            (Some(line), Ok(path), Some(at)) => self.sources.renumber(at + 1, line, path),
            _ => {
                let message = "`#line` needs a number and, perhaps, a file name in quotes";
                self.report(Diagnostic::error("E0135", hash.span, message));
            }
        }
        Ok(())
    }

    /// `#if`, `#ifdef`, `#ifndef`.
    fn open_condition(&mut self, hash: &Token, name: &Token) -> Result<(), Stop> {
        let holds = self.holds(hash, name)?;
        let opened = hash.span.to(name.span);
        if let Some(file) = self.current_file() {
            file.conditions.push(Condition { opened, otherwise: None, taken: holds });
        }
        if holds { Ok(()) } else { self.skip_branches() }
    }

    /// Evaluates the condition of `#if`, `#elif` and their short forms.
    fn holds(&mut self, hash: &Token, name: &Token) -> Result<bool, Stop> {
        let directive = format!("#{}", name.text);
        match &*name.text {
            "if" | "elif" => self.condition(&directive, hash),
            short => {
                let wanted = !short.ends_with("ndef");
                let Some(name) = self.macro_name(&directive, hash) else { return Ok(false) };
                self.expect_end(&directive);
                Ok(self.is_defined(&name.text) == wanted)
            }
        }
    }

    /// An `#else` or `#elif` that ends a branch which was read.
    fn next_branch(&mut self, hash: &Token, name: &Token) -> Result<(), Stop> {
        if !self.check_branch(hash.span.to(name.span), &name.text) {
            self.rest_of_directive();
            return Ok(());
        }
        if &*name.text == "else" {
            self.expect_end("#else");
        }
        self.skip_branches()
    }

    /// Reports a branch that is not allowed here. Records an `#else`.
    fn check_branch(&mut self, span: Span, name: &str) -> bool {
        let Some(condition) = self.current_file().and_then(|file| file.conditions.last_mut())
        else {
            let message = format!("`#{name}` without `#if`");
            self.report(Diagnostic::error("E0136", span, message));
            return false;
        };
        let before = condition.otherwise;
        if name == "else" && before.is_none() {
            condition.otherwise = Some(span);
        }
        if let Some(before) = before {
            let message = format!("`#{name}` behind `#else`");
            let error = Diagnostic::error("E0136", span, message);
            self.report(error.with_place(before, "the `#else` is here"));
        }
        true
    }

    fn close_condition(&mut self, hash: &Token) {
        self.expect_end("#endif");
        let closed = self.current_file().and_then(|file| file.conditions.pop());
        if closed.is_none() {
            self.report(Diagnostic::error("E0136", hash.span, "`#endif` without `#if`"));
        }
    }

    /// Skips lines up to the branch that is to be read, or behind the `#endif`.
    fn skip_branches(&mut self) -> Result<(), Stop> {
        let mut nested = 0_usize;
        loop {
            let Some(file) = self.current_file() else { return Ok(()) };
            let start = file.lexer.position();
            if !file.lexer.skip_to_directive() {
                return Ok(());
            }
            let end = file.lexer.position();
            self.count(Span::new(start, end))?;
            let before = self.diagnostics.len();
            let Some(name) = self.next_of_directive() else { continue };
            self.diagnostics.truncate(before);
            let goes_on = match &*name.text {
                "if" | "ifdef" | "ifndef" => {
                    nested += 1;
                    false
                }
                "endif" if nested > 0 => {
                    nested -= 1;
                    false
                }
                "endif" => {
                    self.close_condition(&name);
                    true
                }
                "else" | "elif" | "elifdef" | "elifndef" => {
                    nested == 0 && self.takes_branch(&name)?
                }
                _ => false,
            };
            if goes_on {
                return Ok(());
            }
        }
    }

    /// Whether the branch that begins here is read, after one that was skipped.
    fn takes_branch(&mut self, name: &Token) -> Result<bool, Stop> {
        self.check_branch(name.span, &name.text);
        let condition = self.current_file().and_then(|file| file.conditions.last_mut());
        if condition.is_none_or(|condition| condition.taken) {
            return Ok(false);
        }
        let holds = match &*name.text {
            "else" => {
                self.expect_end("#else");
                true
            }
            _ => self.holds(name, name)?,
        };
        if let Some(condition) = self.current_file().and_then(|file| file.conditions.last_mut()) {
            condition.taken |= holds;
        }
        Ok(holds)
    }
}

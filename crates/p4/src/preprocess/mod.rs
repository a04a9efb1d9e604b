//! The preprocessor: files and macros in, one sequence of tokens out, each with the place it came from.
//!
//! Implements the specification (section 6.2) and what C programmers expect beyond it: macros with
//! arguments, `#` and `##`, variadics, `#line`. Uses `lex`; must not depend on P4's grammar. Macros
//! whose value depends on the date or the machine (`__DATE__`, `__TIME__`) are not defined.

mod arguments;
mod condition;
mod directives;
mod expand;
mod include;
mod loader;
mod macros;
#[cfg(test)]
mod tests;

pub use loader::{FileLoader, MemoryLoader, OverlayLoader, SourceLoader};

use crate::{
    diagnostic::Diagnostic,
    lex::{Interner, Kind, Lexer, Token, classify},
    source::{SourceMap, Span},
};
use macros::Macro;
use std::{
    collections::{HashMap, HashSet},
    path::PathBuf,
    rc::Rc,
    sync::Arc,
};

/// Tokens that one program may have, comments and skipped groups not counted. A macro that doubles
/// itself at each step stops here instead of at the end of the memory.
const MAX_TOKENS: usize = 4_000_000;

/// Errors after which the rest of a program is no longer read.
const MAX_ERRORS: usize = 200;

/// Options of the preprocessor on the command line.
#[derive(Clone, Debug, Default)]
pub struct PreprocessOptions {
    /// `-I`: folders to search, in order.
    pub include_paths: Vec<PathBuf>,
    /// `-D`: names (also of the form `NAME(parameters)`) and their replacement.
    pub defines: Vec<(String, String)>,
    /// `-U`: names that are not defined, whatever `defines` says.
    pub undefines: Vec<String>,
}

/// A program after preprocessing.
#[derive(Debug)]
pub struct Preprocessed {
    /// All tokens, with keywords recognised; the last is [`Kind::End`].
    pub tokens: Vec<Token>,
    /// The files and macro expansions they come from.
    pub sources: SourceMap,
    /// Diagnostics.
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads the program at `path` and everything it includes.
pub fn preprocess(
    loader: &dyn SourceLoader,
    path: &std::path::Path,
    options: &PreprocessOptions,
) -> Preprocessed {
    let mut preprocessor = Preprocessor::new(loader, options);
    preprocessor.enter_command_line();
    preprocessor.run();
    preprocessor.enter_program(path);
    preprocessor.run();
    preprocessor.finish()
}

/// Preprocessing is over before the end of the text: the reason has been reported.
#[derive(Debug)]
struct Stop;

/// From where the next token is taken.
#[derive(Debug)]
enum Input {
    File(Box<OpenFile>),
    Tokens(TokenRun),
}

/// A file being read.
#[derive(Debug)]
struct OpenFile {
    path: PathBuf,
    lexer: Lexer,
    conditions: Vec<Condition>,
}

/// A group of `#if` that is open.
#[derive(Debug)]
struct Condition {
    /// The `#if`.
    opened: Span,
    /// The `#else`, if it came.
    otherwise: Option<Span>,
    /// True once one of the branches was taken.
    taken: bool,
}

/// Tokens waiting to be read: a macro's replacement, or an argument.
#[derive(Debug)]
struct TokenRun {
    tokens: std::vec::IntoIter<Token>,
    /// The macro that must not be expanded while these tokens last.
    disabled: Option<Arc<str>>,
    /// True for an argument that is expanded on its own: reading stops at its end.
    fenced: bool,
}

/// The state of a run.
struct Preprocessor<'a> {
    loader: &'a dyn SourceLoader,
    options: &'a PreprocessOptions,
    sources: SourceMap,
    interner: Interner,
    macros: HashMap<Arc<str>, Rc<Macro>>,
    /// For each macro, the number of its active expansions.
    disabled: HashMap<Arc<str>, u32>,
    /// Files with `#pragma once`.
    once: HashSet<PathBuf>,
    inputs: Vec<Input>,
    output: Vec<Token>,
    diagnostics: Vec<Diagnostic>,
    /// Tokens read so far.
    read: usize,
    /// Files entered so far.
    entered: usize,
    /// Arguments being expanded within one another.
    depth: usize,
    /// True while a macro's arguments are read: the end of a file ends them.
    collecting: bool,
    stopped: bool,
}

impl<'a> Preprocessor<'a> {
    fn new(loader: &'a dyn SourceLoader, options: &'a PreprocessOptions) -> Preprocessor<'a> {
        Preprocessor {
            loader,
            options,
            sources: SourceMap::new(),
            interner: Interner::default(),
            macros: HashMap::new(),
            disabled: HashMap::new(),
            once: HashSet::new(),
            inputs: Vec::new(),
            output: Vec::new(),
            diagnostics: Vec::new(),
            read: 0,
            entered: 0,
            depth: 0,
            collecting: false,
            stopped: false,
        }
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    /// Reports an error after which there is no point in going on.
    fn stop(&mut self, diagnostic: Diagnostic) -> Stop {
        if !self.stopped {
            self.diagnostics.push(diagnostic);
        }
        self.stopped = true;
        Stop
    }

    /// Reads all inputs to their end.
    fn run(&mut self) {
        while !self.stopped && !self.inputs.is_empty() {
            match self.next_expanded() {
                Ok(Some(token)) => self.output.push(token),
                Ok(None) | Err(Stop) => break,
            }
        }
        self.inputs.clear();
    }

    /// Counts a token, and stops a program that has too many.
    fn count(&mut self, span: Span) -> Result<(), Stop> {
        self.read += 1;
        if self.read > MAX_TOKENS {
            let message = format!("the program has more than {MAX_TOKENS} tokens");
            let error = Diagnostic::error("E0101", span, message);
            return Err(self.stop(error.with_note("macros and includes count as often as used")));
        }
        if self.diagnostics.len() > MAX_ERRORS {
            let error = Diagnostic::error("E0102", span, "too many errors; the rest is not read");
            return Err(self.stop(error));
        }
        Ok(())
    }

    /// The next token before macros are expanded. Directives are obeyed on the way. `None` at the
    /// end of everything, of a fenced run, or of a file while arguments are collected.
    fn next_raw(&mut self) -> Result<Option<Token>, Stop> {
        loop {
            match self.inputs.last_mut() {
                None => return Ok(None),
                Some(Input::Tokens(run)) => match run.tokens.next() {
                    Some(token) => {
                        self.count(token.span)?;
                        return Ok(Some(token));
                    }
                    None if run.fenced => return Ok(None),
                    None => self.leave_tokens(),
                },
                Some(Input::File(file)) => {
                    let token = file.lexer.next(&mut self.interner, &mut self.diagnostics);
                    self.count(token.span)?;
                    match token.kind {
                        Kind::End if self.collecting => return Ok(None),
                        Kind::End => self.leave_file(),
                        Kind::Hash if token.starts_line => self.directive(&token)?,
                        _ => return Ok(Some(token)),
                    }
                }
            }
        }
    }

    /// Closes a run of tokens; its macro may be expanded again.
    fn leave_tokens(&mut self) {
        if let Some(Input::Tokens(TokenRun { disabled: Some(name), .. })) = self.inputs.pop()
            && let Some(count) = self.disabled.get_mut(&name)
        {
            *count -= 1;
        }
    }

    fn finish(mut self) -> Preprocessed {
        for token in &mut self.output {
            classify(token);
        }
        let at = self.sources.end_of_program();
        let text = self.interner.intern("");
        let end = Token {
            kind: Kind::End,
            starts_line: true,
            spaced: true,
            painted: false,
            span: at,
            text,
        };
        self.output.push(end);
        let (sources, diagnostics) = (self.sources, self.diagnostics);
        Preprocessed { tokens: self.output, sources, diagnostics }
    }
}

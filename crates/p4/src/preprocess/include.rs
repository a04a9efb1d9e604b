//! Included files: the program, its includes, and the command line's definitions.

use super::{Input, OpenFile, Preprocessor, Stop};
use crate::{
    diagnostic::Diagnostic,
    lex::{Kind, Lexer, Token},
    source::Span,
};
use std::{
    io,
    path::{Path, PathBuf},
};

/// Files that may be open within one another. More is a circle.
const MAX_DEPTH: usize = 64;

/// Files that one program may include, counted as often as they are included.
const MAX_FILES: usize = 10_000;

/// Name of the command line's definitions in messages.
const COMMAND_LINE: &str = "<command line>";

impl Preprocessor<'_> {
    /// Opens the definitions of the command line as a file of its own, so that they have places.
    pub(super) fn enter_command_line(&mut self) {
        let mut text = String::new();
        for (name, value) in &self.options.defines {
            let line = format!("#define {name} {value}").replace(['\n', '\r', '\\'], " ");
            text.push_str(&line);
            text.push('\n');
        }
        for name in &self.options.undefines {
            text.push_str(&format!("#undef {name}").replace(['\n', '\r', '\\'], " "));
            text.push('\n');
        }
        if !text.is_empty() {
            self.enter(PathBuf::from(COMMAND_LINE), text, None);
        }
    }

    /// Opens the program itself.
    pub(super) fn enter_program(&mut self, path: &Path) {
        match self.loader.load(path) {
            Ok(bytes) => self.enter_bytes(path.to_path_buf(), bytes, None),
            Err(error) => {
                let message = format!("cannot read `{}`: {}", path.display(), reason(&error));
                self.report(Diagnostic::error("E0120", Span::DUMMY, message));
            }
        }
    }

    fn enter_bytes(&mut self, path: PathBuf, bytes: Vec<u8>, from: Option<Span>) {
        let (text, at) = decode(bytes);
        let start = self.enter(path, text, from);
        if let (Some(start), Some(at)) = (start, at) {
            let at = start + at as u32;
            let message = "the file is not UTF-8; it is read as Latin-1";
            self.report(Diagnostic::warning("W0121", Span::new(at, at), message));
        }
    }

    fn enter(&mut self, path: PathBuf, text: String, from: Option<Span>) -> Option<u32> {
        let shown = path.to_string_lossy().into_owned();
        let Some(id) = self.sources.add_file(shown, text, from) else {
            self.out_of_space(from.unwrap_or(Span::DUMMY));
            return None;
        };
        self.entered += 1;
        let file = self.sources.file(id);
        let (start, lexer) = (file.start, Lexer::new(file.text.clone(), file.start));
        let conditions = Vec::new();
        self.inputs.push(Input::File(Box::new(OpenFile { path, lexer, conditions })));
        Some(start)
    }

    /// The space of spans is used up.
    pub(super) fn out_of_space(&mut self, span: Span) -> Stop {
        let message = "the program is larger than 4 GiB with all its includes and macros";
        self.stop(Diagnostic::error("E0101", span, message))
    }

    /// Closes a file at its end.
    pub(super) fn leave_file(&mut self) {
        let Some(Input::File(file)) = self.inputs.pop() else { return };
        for condition in file.conditions {
            let error = Diagnostic::error("E0130", condition.opened, "`#if` without `#endif`");
            self.report(error.with_label("this group has no end"));
        }
    }

    /// The file being read, below any macros.
    pub(super) fn current_file(&mut self) -> Option<&mut OpenFile> {
        self.inputs.iter_mut().rev().find_map(|input| match input {
            Input::File(file) => Some(&mut **file),
            Input::Tokens(_) => None,
        })
    }

    /// `#include`, the name onwards.
    pub(super) fn include(&mut self, hash: &Token) -> Result<(), Stop> {
        let literal = self.current_file().and_then(|file| file.lexer.header_name());
        let named = match literal {
            Some(named) => {
                self.expect_end("#include");
                Some(named)
            }
            None => self.computed_header_name()?,
        };
        let Some((name, angled, span)) = named else {
            let message = "`#include` needs a file: \"name\" or <name>";
            self.report(Diagnostic::error("E0122", hash.span, message));
            return Ok(());
        };
        self.include_file(&name, angled, span)
    }

    /// The name of a file that macros make up.
    fn computed_header_name(&mut self) -> Result<Option<(String, bool, Span)>, Stop> {
        let tokens = self.rest_of_directive();
        let tokens = self.expand_all(tokens)?;
        let span = match (tokens.first(), tokens.last()) {
            (Some(first), Some(last)) => first.span.to(last.span),
            _ => return Ok(None),
        };
        match tokens.as_slice() {
            [string] if string.kind == Kind::String => {
                let name = string.text.trim_matches('"').to_string();
                Ok(Some((name, false, span)))
            }
            [first, inner @ .., last] if first.kind == Kind::Lt && last.kind == Kind::Gt => {
                Ok(Some((inner.iter().map(Token::spelling).collect(), true, span)))
            }
            _ => Ok(None),
        }
    }

    fn include_file(&mut self, name: &str, angled: bool, span: Span) -> Result<(), Stop> {
        self.check_nesting(name, span)?;
        let mut folders = Vec::new();
        if !angled {
            let beside =
                self.current_file().and_then(|file| file.path.parent().map(Path::to_owned));
            folders.extend(beside);
        }
        folders.extend(self.options.include_paths.iter().cloned());
        for folder in &folders {
            let path = folder.join(name);
            if self.once.contains(&path) {
                return Ok(());
            }
            match self.loader.load(&path) {
                Ok(bytes) => {
                    self.enter_bytes(path, bytes, Some(span));
                    return Ok(());
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => {
                    let message = format!("cannot read `{}`: {}", path.display(), reason(&error));
                    self.report(Diagnostic::error("E0120", span, message));
                    return Ok(());
                }
            }
        }
        self.report(not_found(name, angled, span, &folders));
        Ok(())
    }

    /// Refuses includes that go in a circle.
    fn check_nesting(&mut self, name: &str, span: Span) -> Result<(), Stop> {
        let open: Vec<&PathBuf> = self
            .inputs
            .iter()
            .filter_map(|input| match input {
                Input::File(file) => Some(&file.path),
                Input::Tokens(_) => None,
            })
            .collect();
        if open.len() >= MAX_DEPTH {
            let message = format!("`{name}` is included {MAX_DEPTH} files deep");
            let mut error = Diagnostic::error("E0123", span, message);
            let last = open.last().copied();
            if open.iter().filter(|path| Some(**path) == last).count() > 1 {
                error = error
                    .with_label("these files include one another in a circle")
                    .with_help("guard the file with `#ifndef NAME`, `#define NAME`, `#endif`");
            }
            return Err(self.stop(error));
        }
        if self.entered >= MAX_FILES {
            let message = format!("the program includes more than {MAX_FILES} files");
            return Err(self.stop(Diagnostic::error("E0123", span, message)));
        }
        Ok(())
    }
}

fn not_found(name: &str, angled: bool, span: Span, folders: &[PathBuf]) -> Diagnostic {
    let error = Diagnostic::error("E0124", span, format!("the file `{name}` is not found"));
    let shown = |folder: &PathBuf| match folder.as_os_str().is_empty() {
        true => "`.`".to_string(),
        false => format!("`{}`", folder.display()),
    };
    let searched: Vec<String> = folders.iter().map(shown).collect();
    let error = match searched.is_empty() {
        true => error.with_note("no folder was searched"),
        false => error.with_note(format!("searched in {}", searched.join(", "))),
    };
    let error = if angled {
        error.with_note("`<...>` does not search the folder of the including file")
    } else {
        error
    };
    error.with_help("name the folder that holds it with `-I`")
}

/// Text of an operating system's error, without its number.
fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such file".to_string(),
        io::ErrorKind::PermissionDenied => "permission denied".to_string(),
        _ => error.to_string(),
    }
}

/// Bytes as text, and where they first failed to be UTF-8. P4 allows any 8-bit character in
/// comments and strings, so such a file is read as Latin-1.
fn decode(bytes: Vec<u8>) -> (String, Option<usize>) {
    match String::from_utf8(bytes) {
        Ok(text) => match text.strip_prefix('\u{feff}') {
            Some(rest) => (rest.to_string(), None),
            None => (text, None),
        },
        Err(error) => {
            let valid = error.utf8_error().valid_up_to();
            let latin = |bytes: &[u8]| bytes.iter().map(|byte| *byte as char).collect::<String>();
            let (before, rest) = error.as_bytes().split_at(valid);
            let (before, rest) = (latin(before), latin(rest));
            let at = before.len();
            (before + &rest, Some(at))
        }
    }
}

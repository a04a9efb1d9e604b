//! Message codes of the checker and the functions that report messages.
//!
//! A code is stable: it identifies a rule, independently of the wording of the message. This module
//! must not decide whether a rule is broken.

use super::Checker;
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use crate::types::Type;
use std::collections::HashSet;

/// Codes of errors and warnings, one a rule.
#[rustfmt::skip]
pub(super) mod code {
    // E04xx: names
    pub const UNKNOWN_NAME: &str = "E0401";
    pub const DUPLICATE_NAME: &str = "E0402";
    pub const WRONG_KIND_OF_NAME: &str = "E0403";
    pub const NO_SUCH_MEMBER: &str = "E0404";
    pub const RECURSION: &str = "E0405";
    pub const CONTROL_PLANE_NAME: &str = "E0406";
    pub const ANNOTATION: &str = "E0407";
    // E05xx: types
    pub const MISMATCH: &str = "E0501";
    pub const TYPE_ARGUMENTS: &str = "E0502";
    pub const CANNOT_INFER: &str = "E0503";
    pub const BAD_WIDTH: &str = "E0504";
    pub const NESTING: &str = "E0505";
    pub const BAD_CAST: &str = "E0506";
    pub const NO_TYPE_HERE: &str = "E0507";
    pub const BAD_ENUM: &str = "E0508";
    pub const NO_DEFAULT: &str = "E0509";
    // E06xx: expressions
    pub const OPERANDS: &str = "E0601";
    pub const NOT_CONSTANT: &str = "E0602";
    pub const ARITHMETIC: &str = "E0603";
    pub const OUT_OF_RANGE: &str = "E0604";
    pub const NOT_ASSIGNABLE: &str = "E0605";
    pub const FIELDS: &str = "E0606";
    pub const NO_VALUE: &str = "E0607";
    pub const DOTS: &str = "E0608";
    // E07xx: calls
    pub const NOT_CALLABLE: &str = "E0701";
    pub const ARGUMENTS: &str = "E0702";
    pub const NO_OVERLOAD: &str = "E0703";
    pub const WRONG_PLACE: &str = "E0704";
    pub const DIRECTION: &str = "E0705";
    pub const ASSERTION: &str = "E0706";
    pub const PARAMETER: &str = "E0707";
    // E08xx: statements
    pub const RETURN: &str = "E0801";
    pub const STATEMENT_PLACE: &str = "E0802";
    pub const SWITCH: &str = "E0803";
    pub const LOOP: &str = "E0804";
    // E09xx: parsers
    pub const STATE: &str = "E0901";
    pub const SELECT: &str = "E0902";
    // E10xx: controls and tables
    pub const TABLE_PROPERTY: &str = "E1001";
    pub const ACTION_LIST: &str = "E1002";
    pub const ENTRY: &str = "E1003";
    pub const KEY: &str = "E1004";
    pub const PRIORITY: &str = "E1005";
    // E11xx: instances
    pub const INSTANTIATION: &str = "E1101";
    pub const ABSTRACT_METHOD: &str = "E1102";
    pub const MAIN: &str = "E1103";
    // E12xx: the checker's own limits
    pub const TOO_DEEP: &str = "E1201";
    pub const TOO_LARGE: &str = "E1202";
    // Warnings
    pub const OVERFLOW: &str = "W0501";
    pub const GENERIC_BLOCK: &str = "W0502";
    pub const UNREACHABLE: &str = "W0901";
    pub const ENTRY_ORDER: &str = "W1001";
}

/// Error if no thread could be started.
pub(super) fn no_thread(error: &std::io::Error) -> Diagnostic {
    Diagnostic::error(code::TOO_LARGE, Span::DUMMY, format!("cannot start checking: {error}"))
}

/// Messages in the order of the source, each once.
pub(super) fn in_order(mut diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let mut seen = HashSet::new();
    diagnostics.retain(|d| seen.insert((d.code, d.primary, d.message.clone())));
    diagnostics.sort_by_key(|d| d.primary.start);
    diagnostics
}

impl Checker<'_> {
    /// Adds a diagnostic.
    pub(super) fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    /// Adds an error that consists of a message only.
    pub(super) fn error(&mut self, code: &'static str, span: Span, message: impl Into<String>) {
        self.report(Diagnostic::error(code, span, message));
    }

    /// Adds a warning that consists of a message only.
    pub(super) fn warning(&mut self, code: &'static str, span: Span, message: impl Into<String>) {
        self.report(Diagnostic::warning(code, span, message));
    }

    /// Text of a type: inference variables by their inferred types, externs by name.
    pub(super) fn show(&self, ty: &Type) -> String {
        let ty = self.resolved(ty);
        self.show_resolved(&ty)
    }

    fn show_resolved(&self, ty: &Type) -> String {
        let list = |args: &[Type]| {
            args.iter().map(|arg| self.show_resolved(arg)).collect::<Vec<_>>().join(", ")
        };
        let applied = |name: &str, args: &[Type]| {
            if args.is_empty() { name.to_string() } else { format!("{name}<{}>", list(args)) }
        };
        match ty {
            Type::Extern(id, args) => {
                applied(self.program.externs.get(id.index()).map_or("extern", |e| &e.name), args)
            }
            Type::Package(id, args) => {
                applied(self.program.packages.get(id.index()).map_or("package", |p| &p.name), args)
            }
            Type::Tuple(args) => format!("tuple<{}>", list(args)),
            Type::Struct(f) | Type::Header(f) | Type::HeaderUnion(f) if !f.name.is_empty() => {
                applied(&f.name, &f.args)
            }
            Type::Struct(f) => {
                let fields = f.fields.iter();
                let fields = fields.map(|f| format!("{} {}", self.show_resolved(&f.ty), f.name));
                format!("{{ {} }}", fields.collect::<Vec<_>>().join("; "))
            }
            Type::Parser(block) | Type::Control(block) => applied(&block.name, &block.args),
            Type::Stack(element, size) => format!("{}[{size}]", self.show_resolved(element)),
            Type::List(element) => format!("list<{}>", self.show_resolved(element)),
            Type::Set(element) => format!("set of {}", self.show_resolved(element)),
            Type::Unknown => "_".to_string(),
            other => other.to_string(),
        }
    }

    /// Increases the nesting depth; at the limit reports it and returns false.
    pub(super) fn enter(&mut self, span: Span) -> bool {
        if self.depth >= super::MAX_DEPTH {
            let limit = super::MAX_DEPTH;
            self.error(code::TOO_DEEP, span, format!("nested more than {limit} levels deep"));
            return false;
        }
        self.depth += 1;
        true
    }

    /// Undoes [`Checker::enter`].
    pub(super) fn leave(&mut self) {
        self.depth -= 1;
    }

    /// Runs `work` and discards its diagnostics.
    pub(super) fn silently<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> (T, bool) {
        let before = self.diagnostics.len();
        let answer = work(self);
        let failed = self.diagnostics[before..].iter().any(Diagnostic::is_error);
        self.diagnostics.truncate(before);
        (answer, failed)
    }
}

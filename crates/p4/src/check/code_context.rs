//! Code contexts: the calls and statements that each place in a program allows (specification,
//! appendix F).
//!
//! `call`, `statement` and `instance` query the table.

use super::Checker;
use super::messages::code;
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use crate::types::{ExternId, Type};

/// Kind of the code's context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ContextKind {
    TopLevel,
    ParserLocals,
    ParserState,
    ControlLocals,
    ControlApply,
    Action,
    Function,
    /// A function in an instance's initializer.
    Method,
    /// Arguments in a table's action list.
    ActionArguments,
}

impl ContextKind {
    fn words(self) -> &'static str {
        match self {
            ContextKind::TopLevel => "at top level",
            ContextKind::ParserLocals => "among a parser's declarations",
            ContextKind::ParserState => "in a parser state",
            ContextKind::ControlLocals => "among a control's declarations",
            ContextKind::ControlApply => "in a control's apply block",
            ContextKind::Action => "in an action",
            ContextKind::Function => "in a function",
            ContextKind::Method => "in a method",
            ContextKind::ActionArguments => "in the arguments of a table's action",
        }
    }
}

/// Context of the code being checked.
#[derive(Clone, Debug)]
pub(super) struct CodeContext {
    pub kind: ContextKind,
    /// Type that `return` must have: `Void` for none.
    pub returns: Type,
    /// Number of enclosing loops, up to the enclosing body.
    pub loops: u32,
    /// In a method: the object's type.
    pub this: Option<(ExternId, Vec<Type>)>,
}

impl CodeContext {
    /// A context without a result.
    pub(super) fn new(kind: ContextKind) -> CodeContext {
        CodeContext { kind, returns: Type::Void, loops: 0, this: None }
    }

    /// Context of the top level.
    pub(super) fn top_level() -> CodeContext {
        CodeContext::new(ContextKind::TopLevel)
    }
}

/// Kind of the callee.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Called {
    Parser,
    Control,
    Extern,
    Table,
    Action,
    Function,
}

impl Called {
    fn words(self) -> &'static str {
        match self {
            Called::Parser => "a parser",
            Called::Control => "a control",
            Called::Extern => "an extern",
            Called::Table => "a table",
            Called::Action => "an action",
            Called::Function => "a function",
        }
    }

    fn allowed(self, place: ContextKind) -> bool {
        use ContextKind::{
            Action, ActionArguments, ControlApply, ControlLocals, Function, Method, ParserLocals,
            ParserState, TopLevel,
        };
        match self {
            Called::Parser => place == ParserState,
            Called::Control => place == ControlApply,
            Called::Table => place == ControlApply,
            Called::Action => matches!(place, ControlApply | Action),
            Called::Extern | Called::Function => match place {
                TopLevel => false,
                ParserLocals | ParserState | ControlLocals | ControlApply => true,
                Action | Function | Method | ActionArguments => true,
            },
        }
    }

    fn where_allowed(self) -> &'static str {
        match self {
            Called::Parser => "a parser is applied in the states of other parsers",
            Called::Control => "a control is applied in the apply block of other controls",
            Called::Table => "a table is applied in the apply block of its control",
            Called::Action => "an action is called by tables, other actions and apply blocks",
            Called::Extern | Called::Function => "at top level everything is known when compiled",
        }
    }
}

impl Checker<'_> {
    /// Checks that the callee may be called in the present context; reports it if not.
    pub(super) fn check_call_place(&mut self, called: Called, span: Span) -> bool {
        let place = self.place.kind;
        if called.allowed(place) {
            return true;
        }
        let message = format!("{} cannot be called {}", called.words(), place.words());
        let diagnostic = Diagnostic::error(code::WRONG_PLACE, span, message);
        self.report(diagnostic.with_note(called.where_allowed()));
        false
    }

    /// Runs `work` in another context.
    pub(super) fn at<T>(&mut self, place: CodeContext, work: impl FnOnce(&mut Self) -> T) -> T {
        let outer = std::mem::replace(&mut self.place, place);
        let answer = work(self);
        self.place = outer;
        answer
    }
}

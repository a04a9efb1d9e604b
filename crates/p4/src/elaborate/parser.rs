//! Parsers: states, and sub-parsers copied into them with the state to return to (specification
//! 13.10).

use super::call::CopyOut;
use super::effects::applies_parser;
use super::inline::BindingMode;
use super::{Binding, Elaborator};
use crate::ast::Annotation;
use crate::hir::{self, Callee, Object, StateRef, StmtKind as S};
use crate::ir::{self, Next, ParserBody, Pattern, SelectCase, StateId, Transition};
use crate::source::Span;
use num_bigint::BigUint;
use std::sync::Arc;

/// Maximum number of states of a parser, for programs that copy sub-parsers without end.
const MAX_STATES: usize = 1 << 16;

impl Elaborator<'_> {
    /// The body of a unit; its scope is entered.
    pub(super) fn parser_body(&mut self, parser: &hir::Parser) -> ParserBody {
        let init = self.nested(|this| this.statements(&parser.init));
        let start = self.parser_states(parser, "", Next::Accept);
        ParserBody { init, states: std::mem::take(&mut self.unit.states), start }
    }

    /// Copies a parser's states; `accept` becomes `done`. Returns the start state.
    fn parser_states(&mut self, parser: &hir::Parser, prefix: &str, done: Next) -> StateId {
        let first = self.unit.states.len() as u32;
        for state in &parser.states {
            let name = format!("{prefix}{}", state.name);
            self.new_state(name, state.annotations.clone(), state.span);
        }
        let next = move |to: StateRef| match to {
            StateRef::State(at) => Next::State(StateId(first + at)),
            StateRef::Accept => done,
            StateRef::Reject => Next::Reject,
        };
        for (at, state) in parser.states.iter().enumerate() {
            if self.exhausted {
                break;
            }
            self.begin_state(StateId(first + at as u32));
            self.parser_statements(&state.body);
            let transition = match &state.transition {
                hir::Transition::Direct(to) => Transition::Direct(next(*to)),
                hir::Transition::Select { keys, cases, span } => {
                    self.select(keys, cases, *span, &next)
                }
            };
            self.end_state(transition);
        }
        StateId(first + parser.start)
    }

    fn new_state(&mut self, name: String, annotations: Arc<[Annotation]>, span: Span) -> StateId {
        if self.unit.states.len() >= MAX_STATES && !self.exhausted {
            self.exhausted = true;
            self.error("E1302", span, "copying sub-parsers makes this parser too large");
        }
        self.unit.states.push(ir::State {
            name: name.into(),
            body: Vec::new(),
            transition: Transition::Direct(Next::Reject),
            annotations,
            span,
        });
        StateId(self.unit.states.len() as u32 - 1)
    }

    /// A state that continues where the current one was split.
    fn continuation(&mut self, span: Span) -> StateId {
        let number = self.unit.states.len();
        let current = self.unit.state.map_or(0, StateId::index);
        let name = match self.unit.states.get(current) {
            Some(state) => state.name.split('$').next().unwrap_or("").to_owned(),
            None => String::new(),
        };
        self.new_state(format!("{name}${number}"), Arc::from([]), span)
    }

    fn begin_state(&mut self, state: StateId) {
        self.unit.state = Some(state);
        self.code = Vec::new();
    }

    fn end_state(&mut self, transition: Transition) {
        let body = std::mem::take(&mut self.code);
        if let Some(state) = self.unit.state.and_then(|s| self.unit.states.get_mut(s.index())) {
            state.body = body;
            state.transition = transition;
        }
    }

    /// The statements of a state; those that apply sub-parsers split it.
    fn parser_statements(&mut self, stmts: &[hir::Stmt]) {
        for stmt in stmts {
            if self.exhausted {
                return;
            }
            let splits =
                applies_parser(std::slice::from_ref(stmt), &|object| self.is_parser(object));
            match &stmt.kind {
                _ if !splits => self.statement(stmt),
                S::Call(hir::Call { callee: Callee::Apply(object), args, .. }) => {
                    self.apply_parser(object, args, stmt.span);
                }
                S::Block(body) => self.parser_statements(body),
                S::If(condition, then, otherwise) => {
                    self.parser_if(condition, then, otherwise, stmt.span);
                }
                _ => {
                    let message = "a sub-parser applied in a loop or switch is not supported";
                    self.error("E1306", stmt.span, message);
                }
            }
        }
    }

    fn is_parser(&self, object: &Object) -> bool {
        let Object::Instance(id) = object else {
            return matches!(object, Object::Param(id) if matches!(
                self.bindings.get(id), Some(Binding::Block(_))
            ));
        };
        matches!(self.hir.instances[id.index()].of, hir::InstanceOf::Parser(_))
    }

    /// An `if` that applies a sub-parser: its branches become states.
    fn parser_if(
        &mut self,
        condition: &hir::Expr,
        then: &[hir::Stmt],
        otherwise: &[hir::Stmt],
        span: Span,
    ) {
        let condition = match self.condition(condition) {
            Ok(true) => return self.parser_statements(then),
            Ok(false) => return self.parser_statements(otherwise),
            Err(condition) => condition,
        };
        let yes = self.continuation(super::table::span_of(then, span));
        let no = self.continuation(super::table::span_of(otherwise, span));
        let after = self.continuation(span);
        let case = |pattern, next| SelectCase { patterns: vec![pattern], next: Next::State(next) };
        self.end_state(Transition::Select {
            keys: vec![condition],
            cases: vec![case(Pattern::Value(BigUint::from(1u8)), yes), case(Pattern::Any, no)],
            span,
        });
        for (state, body) in [(yes, then), (no, otherwise)] {
            self.begin_state(state);
            self.parser_statements(body);
            self.end_state(Transition::Direct(Next::State(after)));
        }
        self.begin_state(after);
    }

    /// A sub-parser: the state ends with a jump to its start, its `accept` is what follows.
    ///
    /// A sub-parser that rejects may have changed arguments passed by reference; the architecture
    /// defines the contents of a rejected packet's headers.
    fn apply_parser(&mut self, object: &Object, args: &[hir::Arg], span: Span) {
        let Some(Binding::Block(scope)) = self.resolve(object, span) else { return };
        let Some(hir::InstanceOf::Parser(id)) = self.unit.scopes[scope].of else { return };
        let parser = &self.hir.parsers[id.index()];
        let by_place = self.applied_once(object);
        let binding_mode = BindingMode { by_place, may_renew: false, owner: scope };
        let copies: Vec<CopyOut> = self.bind(&parser.params, args, binding_mode);
        let after = self.continuation(span);
        let before = self.unit.state;
        let caller = self.enter(scope);
        self.statements(&parser.init);
        let head = std::mem::take(&mut self.code);
        let name = match self.scope().name.rsplit('.').next() {
            Some(instance) => format!("{instance}."),
            None => String::new(),
        };
        let start = self.parser_states(parser, &name, Next::State(after));
        self.unit.current = caller;
        self.unit.state = before;
        self.code = head;
        self.end_state(Transition::Direct(Next::State(start)));
        self.begin_state(after);
        self.copy_out(copies);
    }
}

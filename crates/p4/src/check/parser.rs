//! Parsers: states, transitions, `select`, value sets (specification 13).

use super::Checker;
use super::block::{BlockKind, Header, OpenBlock};
use super::code_context::{CodeContext, ContextKind};
use super::keyset::span_of;
use super::messages::code;
use super::operand::{integer, typed};
use super::scope::Entity;
use super::signature::ParamsOf;
use crate::ast::{self, Annotation, Declaration, DeclarationKind, Name, ParserDeclaration};
use crate::diagnostic::{Diagnostic, near_name};
use crate::hir::{
    Expr, ExprKind, Keyset, Parser, ParserId, SelectCase, State, StateRef, Stmt, StmtKind,
    Transition, ValueSet, ValueSetId, VarKind,
};
use crate::source::Span;
use crate::types::Type;
use std::rc::Rc;
use std::sync::Arc;

impl Checker<'_> {
    /// The parameters and the body of a parser.
    pub(super) fn parser_body(
        &mut self,
        parser: &ParserDeclaration,
        annotations: &[Annotation],
        header: Header,
    ) -> ParserId {
        let name = &parser.name;
        let info = self.block_info(
            name,
            &parser.type_params,
            (&parser.params, &parser.constructor_params),
            (ParamsOf::Parser, ParamsOf::ParserConstructor),
            header,
        );
        // Other parsers may be instantiated meanwhile.
        let id = self.reserve_parser(Parser {
            name: name.text.clone(),
            params: Vec::new(),
            constructor_params: Vec::new(),
            instances: Vec::new(),
            value_sets: Vec::new(),
            init: Vec::new(),
            states: Vec::new(),
            start: 0,
            annotations: annotations.to_vec().into(),
            span: name.span,
        });
        self.parsers.push(Rc::new(info));
        let info = self.parsers[id.index()].clone();
        self.scopes.push();
        let constructor_params =
            self.declare_params(&info.constructor.params, |_| VarKind::ConstructorParameter);
        let params = self.declare_params(&info.apply.params, VarKind::Parameter);
        self.scopes.push();
        self.block = OpenBlock { kind: BlockKind::Parser, ..OpenBlock::default() };
        let mut init = Vec::new();
        self.at(CodeContext::new(ContextKind::ParserLocals), |checker| {
            for local in &parser.locals {
                checker.parser_local(local, &mut init);
            }
        });
        self.check_state_names(parser);
        let states: Vec<State> = self.at(CodeContext::new(ContextKind::ParserState), |checker| {
            parser.states.iter().map(|state| checker.state(state, &parser.states)).collect()
        });
        let start = self.start_of(parser);
        self.check_reachable(&states, start);
        self.scopes.pop();
        self.scopes.pop();
        let block = std::mem::take(&mut self.block);
        let made = &mut self.program.parsers[id.index()];
        (made.params, made.constructor_params) = (params, constructor_params);
        (made.instances, made.value_sets) = (block.instances, block.value_sets);
        (made.init, made.states, made.start) = (init, states, start);
        id
    }

    fn parser_local(&mut self, local: &Declaration, init: &mut Vec<Stmt>) {
        self.check_annotations(&local.annotations);
        match &local.kind {
            DeclarationKind::ValueSet { element, size, name } => {
                self.declare_value_set(element, size, name, &local.annotations);
            }
            _ => self.block_local(local, init),
        }
    }

    /// Declarations allowed in both parsers and controls.
    pub(super) fn block_local(&mut self, local: &Declaration, init: &mut Vec<Stmt>) {
        match &local.kind {
            DeclarationKind::Constant { ty, name, value } => {
                self.declare_constant(ty, name, value);
            }
            DeclarationKind::Variable { ty, name, init: value } => {
                let annotations = local.annotations.clone();
                let (var, value) = self.variable(ty, name, value.as_ref(), annotations);
                init.push(Stmt { kind: StmtKind::Declare(var, value), span: local.span });
            }
            DeclarationKind::Instantiation { ty, args, name, body } => {
                self.instantiation(ty, args, name, body.as_deref(), &local.annotations);
            }
            _ => {
                let message = "this cannot be declared here";
                self.error(code::STATEMENT_PLACE, local.span, message);
            }
        }
    }

    /// `value_set<T>(size) name;`
    pub(super) fn declare_value_set(
        &mut self,
        element: &ast::TypeRef,
        size: &ast::Expr,
        name: &Name,
        annotations: &[Annotation],
    ) {
        let element = self.resolve_type(element);
        let written = size.span;
        let size = self.expr(size, None);
        let is_number = matches!(size.ty, Type::InfInt | Type::Bit(_) | Type::Int(_));
        if size.ty != Type::Unknown && (!is_number || !self.is_known(&size)) {
            self.error(code::NOT_CONSTANT, written, "the size of a value set is a known number");
        }
        let id = ValueSetId(self.program.value_sets.len() as u32);
        self.program.value_sets.push(ValueSet {
            name: name.text.clone(),
            element,
            size,
            annotations: annotations.to_vec().into(),
            span: name.span,
        });
        self.block.value_sets.push(id);
        self.declare(name, Entity::ValueSet(id));
    }

    fn check_state_names(&mut self, parser: &ParserDeclaration) {
        self.check_distinct("the state", parser.states.iter().map(|state| &state.name));
        for state in &parser.states {
            if matches!(&*state.name.text, "accept" | "reject") {
                let message =
                    format!("the state `{}` is there without declaration", state.name.text);
                self.error(code::STATE, state.name.span, message);
            }
            if let Some(found) = self.scopes.here(&state.name.text) {
                let span = found.span;
                self.duplicate(&state.name, span);
            }
        }
    }

    fn start_of(&mut self, parser: &ParserDeclaration) -> u32 {
        match parser.states.iter().position(|state| &*state.name.text == "start") {
            Some(at) => at as u32,
            None => {
                let message = format!("the parser `{}` has no state `start`", parser.name.text);
                self.error(code::STATE, parser.name.span, message);
                0
            }
        }
    }

    fn state(&mut self, state: &ast::State, all: &[ast::State]) -> State {
        self.check_annotations(&state.annotations);
        self.scopes.push();
        let body = self.statements(&state.body);
        let transition = match &state.transition {
            None => Transition::Direct(StateRef::Reject),
            Some(ast::Transition::Direct(name)) => {
                Transition::Direct(self.state_ref(name, all).unwrap_or(StateRef::Reject))
            }
            Some(ast::Transition::Select { keys, cases, span }) => {
                self.select(keys, cases, *span, all)
            }
        };
        self.scopes.pop();
        State {
            name: state.name.text.clone(),
            body,
            transition,
            annotations: state.annotations.clone().into(),
            span: state.name.span,
        }
    }

    fn state_ref(&mut self, name: &Name, all: &[ast::State]) -> Option<StateRef> {
        match &*name.text {
            "accept" => return Some(StateRef::Accept),
            "reject" => return Some(StateRef::Reject),
            _ => {}
        }
        if let Some(at) = all.iter().position(|state| state.name.text == name.text) {
            return Some(StateRef::State(at as u32));
        }
        let known = all.iter().map(|state| &*state.name.text).chain(["accept", "reject"]);
        let message = format!("there is no state `{}` in this parser", name.text);
        let mut diagnostic = Diagnostic::error(code::STATE, name.span, message);
        if let Some(near) = near_name(&name.text, known) {
            let text = format!("did you mean `{near}`?");
            diagnostic = diagnostic.with_suggestion(name.span, near, text);
        }
        self.report(diagnostic);
        None
    }

    fn select(
        &mut self,
        keys: &[ast::Expr],
        cases: &[ast::SelectCase],
        span: Span,
        all: &[ast::State],
    ) -> Transition {
        let keys: Vec<Expr> = keys.iter().map(|key| self.expr(key, None)).collect();
        for key in &keys {
            self.check_select_key(key);
        }
        let keys = single_tuple(keys);
        let mut made = Vec::with_capacity(cases.len());
        let mut all_matched: Option<Span> = None;
        for case in cases {
            if let Some(first) = all_matched {
                let message = "this case is never reached";
                let diagnostic = Diagnostic::warning(code::UNREACHABLE, case.span, message)
                    .with_place(first, "this case takes everything");
                self.report(diagnostic);
            }
            let keysets = self.case_keysets(case, &keys);
            if keysets.iter().all(|keyset| matches!(keyset, Keyset::Any)) {
                all_matched = all_matched.or(Some(case.span));
            }
            let next = self.state_ref(&case.next, all).unwrap_or(StateRef::Reject);
            made.push(SelectCase { keysets, next, span: case.span });
        }
        Transition::Select { keys, cases: made, span }
    }

    fn case_keysets(&mut self, case: &ast::SelectCase, keys: &[Expr]) -> Vec<Keyset> {
        let everything = || keys.iter().map(|_| Keyset::Any).collect();
        match case.keysets.as_slice() {
            [ast::Keyset::Default(_)] => return everything(),
            [single] if keys.len() != 1 || self.value_set_of(single).is_some() => {
                if let Some((set, span)) = self.value_set_of(single) {
                    self.check_value_set(set, keys, span);
                    return vec![Keyset::ValueSet(set)];
                }
            }
            _ => {}
        }
        let types: Vec<&Type> = keys.iter().map(|key| &key.ty).collect();
        let written = Self::spread(&case.keysets, &types);
        if written.len() != keys.len() {
            let span = case.keysets.iter().fold(Span::DUMMY, |span, k| span.to(span_of(k)));
            let (wanted, found) = (keys.len(), case.keysets.len());
            let plural = if wanted == 1 { "" } else { "s" };
            let message = format!("`select` looks at {wanted} key{plural}, this case has {found}");
            self.error(code::SELECT, span, message);
            return everything();
        }
        let pairs = written.iter().zip(keys);
        pairs
            .map(|(written, key)| match self.value_set_of(written) {
                Some((set, span)) => {
                    self.check_value_set(set, std::slice::from_ref(key), span);
                    Keyset::ValueSet(set)
                }
                None => {
                    let keyset = self.keyset(written, &key.ty);
                    self.check_known_keyset(&keyset, span_of(written));
                    keyset
                }
            })
            .collect()
    }

    /// Checks that a case's keyset depends neither on the packet nor on a call. Local variables are
    /// allowed, since compilers propagate constants through them.
    fn check_known_keyset(&mut self, keyset: &Keyset, span: Span) {
        let settled = match keyset {
            Keyset::Value(value) => self.is_settled(value),
            Keyset::Mask(a, b) | Keyset::Range(a, b) => self.is_settled(a) && self.is_settled(b),
            Keyset::Any | Keyset::ValueSet(_) => true,
        };
        if !settled {
            let message = "the keyset of a `select` must be known when the program is compiled";
            let diagnostic = Diagnostic::error(code::NOT_CONSTANT, span, message)
                .with_label("not a constant")
                .with_help("select on a comparison instead: `select(a == b) { true: ...; }`");
            self.report(diagnostic);
        }
    }

    fn is_settled(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Var(id) => {
                self.program.vars[id.index()].kind == VarKind::Local || self.is_known(expr)
            }
            ExprKind::Field(base, _) | ExprKind::Slice(base, ..) => self.is_settled(base),
            ExprKind::Unary(_, base) | ExprKind::Cast(base) => self.is_settled(base),
            ExprKind::Index(a, b) | ExprKind::Binary(_, a, b) => {
                self.is_settled(a) && self.is_settled(b)
            }
            ExprKind::Aggregate(elements) => elements.iter().all(|e| self.is_settled(e)),
            _ => expr.ty == Type::Unknown || self.is_known(expr),
        }
    }

    /// Checks that a value set has the type of the key, or is a struct or tuple of the keys' types.
    fn check_value_set(&mut self, set: ValueSetId, keys: &[Expr], span: Span) {
        let set = &self.program.value_sets[set.index()];
        let (element, declared) = (set.element.clone(), set.span);
        let fits = |wanted: &[&Type]| {
            wanted.len() == keys.len()
                && wanted.iter().zip(keys).all(|(ty, key)| {
                    **ty == key.ty || key.ty == Type::Unknown || **ty == Type::Unknown
                })
        };
        let good = match &element {
            Type::Struct(f) | Type::Header(f) => {
                fits(&f.fields.iter().map(|field| &field.ty).collect::<Vec<_>>())
                    || fits(&[&element])
            }
            Type::Tuple(elements) => {
                fits(&elements.iter().collect::<Vec<_>>()) || fits(&[&element])
            }
            other => fits(&[other]),
        };
        if !good {
            let shown = self.show(&element);
            let message =
                format!("the value set holds `{shown}`, which is not what is selected on");
            let diagnostic = Diagnostic::error(code::SELECT, span, message)
                .with_place(declared, "the value set");
            self.report(diagnostic);
        }
    }

    fn check_reachable(&mut self, states: &[State], start: u32) {
        let mut reached = vec![false; states.len()];
        let mut waiting = vec![start];
        while let Some(at) = waiting.pop() {
            let Some(state) = states.get(at as usize) else { continue };
            if std::mem::replace(&mut reached[at as usize], true) {
                continue;
            }
            let next = |target: &StateRef| match target {
                StateRef::State(at) => Some(*at),
                _ => None,
            };
            match &state.transition {
                Transition::Direct(target) => waiting.extend(next(target)),
                Transition::Select { cases, .. } => {
                    waiting.extend(cases.iter().filter_map(|case| next(&case.next)));
                }
            }
        }
        let ends = |target: &StateRef| !matches!(target, StateRef::State(_));
        let reached_states = states.iter().zip(&reached).filter(|(_, reached)| **reached);
        let ends = reached_states.clone().any(|(state, _)| match &state.transition {
            Transition::Direct(target) => ends(target),
            Transition::Select { cases, .. } => cases.iter().any(|case| ends(&case.next)),
        });
        if let Some(start) = states.get(start as usize).filter(|_| !ends) {
            let message = "no path from `start` leads to `accept` or `reject`";
            self.error(code::STATE, start.span, message);
        }
        for (state, _) in states.iter().zip(&reached).filter(|(_, reached)| !**reached) {
            let message = format!("no transition leads to the state `{}`", state.name);
            self.warning(code::UNREACHABLE, state.span, message);
        }
    }
}

/// A single key that is a tuple is equivalent to its elements.
fn single_tuple(keys: Vec<Expr>) -> Vec<Expr> {
    let [Expr { ty: Type::Tuple(types), .. }] = keys.as_slice() else { return keys };
    let types: Arc<[Type]> = types.clone();
    let key = &keys[0];
    if let ExprKind::Aggregate(elements) = &key.kind {
        return elements.clone();
    }
    let element = |(at, ty): (usize, &Type)| {
        let index = integer(at, Type::Bit(32), key.span);
        typed(ExprKind::Index(Box::new(key.clone()), Box::new(index)), ty.clone(), key.span)
    };
    types.iter().enumerate().map(element).collect()
}

//! Tables: keys, actions, the default action and other properties (specification 14.2).
//!
//! Entries have their own file, `entries`.

use super::Checker;
use super::arguments::Slot;
use super::code_context::{CodeContext, ContextKind};
use super::key_name::name_annotation;
use super::messages::code;
use super::operand::{Operand, is_constant};
use super::scope::Entity;
use super::signature::Signature;
use crate::ast::{
    self, ActionRef, Annotation, AnnotationBody, Argument, Direction, KeyElement, Name,
    TableProperty, has_annotation,
};
use crate::diagnostic::{Diagnostic, near_name};
use crate::hir::{Arg, DefaultAction, Expr, Key, Property, Table, TableAction};
use crate::source::Span;
use crate::types::{TableId, Type};
use num_traits::ToPrimitive;
use std::rc::Rc;
use std::sync::Arc;

/// A table that is being checked.
pub(super) struct OpenTable<'t> {
    pub table: Table,
    /// The arguments in the action list as written, for comparison with later uses.
    pub written: Vec<&'t ActionRef>,
}

impl Checker<'_> {
    /// `table name { ... }`
    pub(super) fn declare_table(
        &mut self,
        name: &Name,
        properties: &[TableProperty],
        annotations: &[Annotation],
    ) {
        self.unfinished(name, "a table");
        self.check_properties(name, properties);
        let mut open = OpenTable {
            table: Table {
                name: name.text.clone(),
                keys: Vec::new(),
                actions: Vec::new(),
                default_action: None,
                entries: Vec::new(),
                const_entries: false,
                size: None,
                properties: Vec::new(),
                annotations: annotations.to_vec().into(),
                span: name.span,
            },
            written: Vec::new(),
        };
        self.at(CodeContext::new(ContextKind::ControlApply), |checker| {
            for property in properties {
                checker.keys_and_actions(property, &mut open);
            }
            for property in properties {
                checker.other_property(property, properties, &mut open);
            }
        });
        self.implied_no_action(&mut open.table);
        let id = TableId(self.program.tables.len() as u32);
        self.program.tables.push(open.table);
        self.block.tables.push(id);
        self.finish(name, Entity::Table(id));
    }

    /// Checks that each property occurs once, and that `actions` precedes `default_action`.
    fn check_properties(&mut self, name: &Name, properties: &[TableProperty]) {
        let mut seen: Vec<&str> = Vec::new();
        for property in properties {
            let (what, span) = match property {
                TableProperty::Key(keys) => {
                    ("key", keys.first().map_or(name.span, |key| key.expr.span))
                }
                TableProperty::Actions(actions) => {
                    ("actions", actions.first().map_or(name.span, |action| action.span))
                }
                TableProperty::Entries { span, .. } => ("entries", *span),
                TableProperty::Other { name, .. } => (&*name.text, name.span),
            };
            if seen.contains(&what) {
                let message = format!("the table `{}` has `{what}` twice", name.text);
                self.error(code::TABLE_PROPERTY, span, message);
            }
            if what == "entries" && !seen.contains(&"key") && has_key(properties) {
                let message = "`entries` must stand after `key`";
                self.error(code::TABLE_PROPERTY, span, message);
            }
            if what == "default_action" && !seen.contains(&"actions") {
                let message = "`default_action` must stand after `actions`";
                self.error(code::TABLE_PROPERTY, span, message);
            }
            seen.push(what);
        }
        if !seen.contains(&"actions") {
            let message = format!("the table `{}` has no `actions`", name.text);
            self.error(code::TABLE_PROPERTY, name.span, message);
        }
    }

    fn keys_and_actions<'t>(&mut self, property: &'t TableProperty, open: &mut OpenTable<'t>) {
        match property {
            TableProperty::Key(keys) => {
                open.table.keys = keys.iter().filter_map(|key| self.key(key)).collect();
            }
            TableProperty::Actions(actions) => {
                for action in actions {
                    self.listed_action(action, open);
                }
            }
            _ => {}
        }
    }

    fn key(&mut self, key: &KeyElement) -> Option<Key> {
        let expr = self.expr(&key.expr, None);
        let allowed = matches!(
            expr.ty,
            Type::Bit(_)
                | Type::Int(_)
                | Type::Bool
                | Type::Error
                | Type::Enum(_)
                | Type::SerializableEnum(_)
                | Type::New(_)
                | Type::Unknown
        );
        if !allowed {
            let message = format!("a key cannot have the type `{}`", self.show(&expr.ty));
            self.error(code::KEY, key.expr.span, message);
        }
        let kinds = &self.program.match_kinds;
        let match_kind = kinds.iter().position(|kind| *kind == key.match_kind.text);
        let Some(match_kind) = match_kind else {
            let known: Vec<&str> = kinds.iter().map(|kind| &**kind).collect();
            let near = near_name(&key.match_kind.text, known).map(str::to_string);
            let message = format!("`{}` is no match kind", key.match_kind.text);
            let mut diagnostic = Diagnostic::error(code::KEY, key.match_kind.span, message);
            if let Some(near) = near {
                let text = format!("did you mean `{near}`?");
                diagnostic = diagnostic.with_suggestion(key.match_kind.span, near, text);
            }
            self.report(diagnostic);
            return None;
        };
        self.check_annotations(&key.annotations);
        let name = match name_annotation(&key.annotations) {
            Some(name) => name,
            None => match self.key_name(&key.expr, Some(&expr)) {
                Some(name) => Arc::from(name),
                None => {
                    let message = "a key that is no plain name needs an annotation";
                    let diagnostic = Diagnostic::error(code::KEY, key.expr.span, message);
                    let help = "add the name for the control plane: `@name(\"...\")`";
                    self.report(diagnostic.with_help(help));
                    Arc::from(self.sources.text(key.expr.span))
                }
            },
        };
        Some(Key {
            expr,
            match_kind: match_kind as u32,
            name,
            annotations: key.annotations.clone().into(),
            span: key.expr.span,
        })
    }

    fn listed_action<'t>(&mut self, action: &'t ActionRef, open: &mut OpenTable<'t>) {
        let known = self.scopes.find(&action.name.text, action.global).is_some();
        if !known {
            self.unknown_name(&action.name, "action", |entity| matches!(entity, Entity::Action(_)));
            return;
        }
        let id = match self.resolve(&action.name, action.global) {
            Entity::Action(id) => id,
            Entity::Broken => return,
            _ => return self.wrong_kind(&action.name, action.global, "an action"),
        };
        let name = self.program.actions[id.index()].name.clone();
        let twice = open.written.iter().find(|other| other.name.text == name).map(|o| o.span);
        if let Some(first) = twice {
            let message = format!("the action `{name}` is listed twice");
            let diagnostic = Diagnostic::error(code::ACTION_LIST, action.span, message)
                .with_place(first, "first listed here");
            self.report(diagnostic);
            return;
        }
        self.check_annotations(&action.annotations);
        let signature = self.actions[id.index()].clone();
        let bound = self.listed_arguments(&signature, action);
        open.table.actions.push(TableAction {
            action: id,
            bound,
            default_only: has_annotation(&action.annotations, "defaultonly"),
            table_only: has_annotation(&action.annotations, "tableonly"),
            annotations: action.annotations.clone().into(),
            span: action.span,
        });
        open.written.push(action);
    }

    /// Checks that exactly the parameters with a direction are bound in the list.
    fn listed_arguments(&mut self, signature: &Signature, action: &ActionRef) -> Vec<Option<Arg>> {
        let directed: Vec<_> =
            signature.params.iter().filter(|p| p.direction != Direction::None).cloned().collect();
        let data = signature.params.len() - directed.len();
        let given = action.args.as_deref().unwrap_or_default();
        let directed = Signature { params: directed, ..signature.clone() };
        if given.len() > directed.params.len() && given.len() <= directed.params.len() + data {
            let message = format!("`{}` is given action data in the list", signature.name);
            let diagnostic = Diagnostic::error(code::ACTION_LIST, action.span, message)
                .with_place(signature.span, "parameters without direction are action data")
                .with_help("entries and the control plane give action data");
            self.report(diagnostic);
            return signature.params.iter().map(|_| None).collect();
        }
        let place = CodeContext::new(ContextKind::ActionArguments);
        let mut bound =
            self.at(place, |checker| checker.plain_arguments(&directed, given, action.span));
        bound.resize_with(directed.params.len(), || Arg::Absent);
        let mut bound = bound.into_iter();
        let is_data = |direction: Direction| direction == Direction::None;
        let params = signature.params.iter();
        params.map(|p| if is_data(p.direction) { None } else { bound.next() }).collect()
    }

    fn plain_arguments(
        &mut self,
        signature: &Signature,
        given: &[Argument],
        span: Span,
    ) -> Vec<Arg> {
        let Some((_, slots)) = self.choose(&[signature], given, span) else { return Vec::new() };
        let kind = super::arguments::CallKind::Action;
        let outer = super::infer::Substitution::new();
        let bound = self.bound_call(signature, &slots, Vec::new(), &outer, kind, span);
        bound.map_or(Vec::new(), |bound| bound.args)
    }

    fn other_property(
        &mut self,
        property: &TableProperty,
        all: &[TableProperty],
        open: &mut OpenTable<'_>,
    ) {
        match property {
            TableProperty::Key(_) | TableProperty::Actions(_) => {}
            TableProperty::Entries { is_const, entries, annotations, span } => {
                self.entries(*is_const, entries, annotations, *span, all, open);
            }
            TableProperty::Other { is_const, name, value, annotations } => match &*name.text {
                "default_action" => self.default_action(value, *is_const, open),
                "size" => self.table_size(name, value, *is_const, &mut open.table),
                // Folded into the entries' priorities.
                "largest_priority_wins" | "priority_delta" => {}
                _ => self.plain_property((name, annotations), value, *is_const, &mut open.table),
            },
        }
    }

    fn table_size(&mut self, name: &Name, value: &ast::Expr, is_const: bool, table: &mut Table) {
        let size = self.expr(value, None);
        if size.ty == Type::Unknown {
            return;
        }
        let is_number = matches!(size.ty, Type::InfInt | Type::Bit(_) | Type::Int(_));
        if !is_number || !self.is_known(&size) {
            let message = "the size of a table is a known number";
            self.error(code::TABLE_PROPERTY, value.span, message);
            return;
        }
        match Self::constant_number(&size) {
            Some(n) => match n.to_u64() {
                Some(n) => table.size = Some(n),
                None => {
                    let message = format!("a table cannot have the size {n}");
                    self.error(code::OUT_OF_RANGE, value.span, message);
                }
            },
            // It depends on a constructor parameter.
            None => table.properties.push(Property {
                name: name.text.clone(),
                value: Arg::In(size),
                is_const,
                annotations: Arc::default(),
                span: name.span,
            }),
        }
    }

    fn plain_property(
        &mut self,
        (name, annotations): (&Name, &[Annotation]),
        value: &ast::Expr,
        is_const: bool,
        table: &mut Table,
    ) {
        self.check_annotations(annotations);
        let arg = match self.operand(value, None) {
            Operand::Object(object, _) => Arg::Object(object),
            Operand::Value(value) => Arg::In(value),
            Operand::Broken => return,
            _ => {
                self.expr(value, None);
                return;
            }
        };
        if let Arg::In(value) = &arg
            && value.ty != Type::Unknown
            && !self.is_known(value)
        {
            let message = format!("the property `{}` must be a known value", name.text);
            self.error(code::NOT_CONSTANT, value.span, message);
            return;
        }
        let name_span = name.span;
        table.properties.push(Property {
            name: name.text.clone(),
            value: arg,
            is_const,
            annotations: annotations.to_vec().into(),
            span: name_span,
        });
    }

    fn default_action(&mut self, value: &ast::Expr, is_const: bool, open: &mut OpenTable<'_>) {
        let (name, global, args) = match &value.kind {
            ast::ExprKind::Name { name, global } => (name, *global, None),
            ast::ExprKind::Call { callee, args, .. } => match &callee.kind {
                ast::ExprKind::Name { name, global } => (name, *global, Some(args.clone())),
                _ => return self.no_action(value.span),
            },
            _ => return self.no_action(value.span),
        };
        let reference = ActionRef {
            annotations: Vec::new(),
            name: name.clone(),
            global,
            args,
            span: value.span,
        };
        let Some((action, data)) = self.chosen_action(&reference, open) else { return };
        if open.table.actions[action as usize].table_only {
            let message = format!("`{}` is `@tableonly`: it cannot be the default", name.text);
            self.error(code::ACTION_LIST, value.span, message);
        }
        open.table.default_action =
            Some(DefaultAction { action, data, is_const, span: value.span });
    }

    fn no_action(&mut self, span: Span) {
        self.error(code::TABLE_PROPERTY, span, "`default_action` must be an action");
    }

    /// An action of the table's list with all its action data, for a default action or an entry.
    pub(super) fn chosen_action(
        &mut self,
        reference: &ActionRef,
        open: &OpenTable<'_>,
    ) -> Option<(u32, Vec<Expr>)> {
        let name = &reference.name;
        if self.scopes.find(&name.text, reference.global).is_none() {
            self.unknown_name(name, "action", |entity| matches!(entity, Entity::Action(_)));
            return None;
        }
        let id = match self.resolve(name, reference.global) {
            Entity::Action(id) => id,
            Entity::Broken => return None,
            _ => {
                self.wrong_kind(name, reference.global, "an action");
                return None;
            }
        };
        let Some(at) = open.table.actions.iter().position(|action| action.action == id) else {
            let message = format!("`{}` is not in the action list of this table", name.text);
            let diagnostic = Diagnostic::error(code::ACTION_LIST, name.span, message)
                .with_place(open.table.span, "the table")
                .with_help(format!("add `{};` to `actions`", name.text));
            self.report(diagnostic);
            return None;
        };
        let signature = self.actions[id.index()].clone();
        let data = self.action_arguments(&signature, reference, open.written[at])?;
        Some((at as u32, data))
    }

    /// Values for the action data; arguments for the other parameters repeat those in the list.
    fn action_arguments(
        &mut self,
        signature: &Rc<Signature>,
        reference: &ActionRef,
        listed: &ActionRef,
    ) -> Option<Vec<Expr>> {
        let given = reference.args.as_deref().unwrap_or_default();
        let directed = signature.params.iter().filter(|p| p.direction != Direction::None).count();
        let (_, slots) = self.choose(&[signature], given, reference.span)?;
        let listed = listed.args.as_deref().unwrap_or_default();
        for (at, slot) in slots.iter().take(directed).enumerate() {
            let Slot::Given(arg) = slot else { continue };
            let param = &signature.params[at];
            let by_name = listed
                .iter()
                .find(|arg| arg.name.as_ref().is_some_and(|name| name.text == param.name));
            let same = by_name
                .or_else(|| listed.get(at))
                .is_some_and(|listed| self.same_text(listed.value.as_ref(), arg.value.as_ref()));
            if !same {
                let message =
                    format!("the argument for `{}` must be the one in the action list", param.name);
                self.error(code::ACTION_LIST, arg.span, message);
            }
        }
        let data =
            Signature { params: signature.params[directed..].to_vec(), ..(**signature).clone() };
        let kind = super::arguments::CallKind::Constructor;
        let outer = super::infer::Substitution::new();
        let span = reference.span;
        let bound = self.bound_call(&data, &slots[directed..], Vec::new(), &outer, kind, span)?;
        let values = bound.args.into_iter().filter_map(|arg| match arg {
            Arg::In(value) => Some(value),
            _ => None,
        });
        Some(values.collect())
    }

    /// True if two expressions have the same text.
    fn same_text(&self, a: Option<&ast::Expr>, b: Option<&ast::Expr>) -> bool {
        let words = |expr: &ast::Expr| -> String {
            self.sources.text(expr.span).chars().filter(|c| !c.is_whitespace()).collect()
        };
        match (a, b) {
            (Some(a), Some(b)) => words(a) == words(b),
            (None, None) => true,
            _ => false,
        }
    }

    /// Adds `NoAction` to the actions of a table without default action, which runs it.
    fn implied_no_action(&mut self, table: &mut Table) {
        if table.default_action.is_some() {
            return;
        }
        let found = self.scopes.find("NoAction", true).map(|found| found.entity.clone());
        let Some(Entity::Action(id)) = found else {
            let message = "a table without `default_action` runs `NoAction`, which is not declared";
            let diagnostic = Diagnostic::error(code::TABLE_PROPERTY, table.span, message);
            self.report(diagnostic.with_help("include `core.p4`, or give a `default_action`"));
            return;
        };
        if !self.actions[id.index()].params.is_empty() {
            let message = "a table without `default_action` runs `NoAction`, which has parameters";
            self.error(code::TABLE_PROPERTY, table.span, message);
            return;
        }
        let at = table.actions.iter().position(|action| action.action == id);
        let at = at.unwrap_or_else(|| {
            table.actions.push(TableAction {
                action: id,
                bound: Vec::new(),
                default_only: true,
                table_only: false,
                annotations: [annotation("defaultonly", table.span)].into(),
                span: table.span,
            });
            table.actions.len() - 1
        });
        table.default_action = Some(DefaultAction {
            action: at as u32,
            data: Vec::new(),
            is_const: false,
            span: table.span,
        });
    }

    /// A property that must be a constant.
    pub(super) fn constant_property(
        &mut self,
        all: &[TableProperty],
        wanted: &str,
    ) -> Option<(Expr, Span)> {
        for property in all {
            if let TableProperty::Other { name, value, .. } = property
                && &*name.text == wanted
            {
                let made = self.expr(value, None);
                if !is_constant(&made) {
                    let message = format!("`{wanted}` must be a constant");
                    self.error(code::NOT_CONSTANT, value.span, message);
                    return None;
                }
                return (made.ty != Type::Unknown).then_some((made, value.span));
            }
        }
        None
    }
}

fn has_key(properties: &[TableProperty]) -> bool {
    properties.iter().any(|property| matches!(property, TableProperty::Key(_)))
}

/// An implicit `@name` annotation.
fn annotation(name: &str, span: Span) -> Annotation {
    let name = Name { text: name.into(), span };
    Annotation { name, body: AnnotationBody::Empty, span }
}

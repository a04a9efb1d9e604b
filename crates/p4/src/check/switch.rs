//! `switch`, on the action that a table ran and on values (specification 12.7).

use super::Checker;
use super::code_context::ContextKind;
use super::messages::code;
use super::operand::Operand;
use crate::ast::{self, SwitchCase};
use crate::diagnostic::{Diagnostic, near_name};
use crate::hir::{Expr, Stmt, StmtKind};
use crate::source::Span;
use crate::types::{TableId, Type};
use num_bigint::BigInt;
use std::collections::HashMap;
use std::hash::Hash;

/// Cases with fall-through expanded, and the default.
type Cases<L> = (Vec<(Vec<L>, Vec<Stmt>)>, Vec<Stmt>);

impl Checker<'_> {
    /// `switch (subject) { cases }`
    pub(super) fn switch(
        &mut self,
        subject: &ast::Expr,
        cases: &[SwitchCase],
        span: Span,
    ) -> Option<StmtKind> {
        if matches!(self.place.kind, ContextKind::ParserState | ContextKind::ParserLocals) {
            self.error(code::STATEMENT_PLACE, span, "`switch` cannot stand in a parser");
        }
        self.check_default_last(cases);
        if let Some(applied) = action_run(subject) {
            return self.switch_on_action(applied, cases);
        }
        let subject = self.expr(subject, None);
        let allowed = matches!(
            subject.ty,
            Type::Bit(_)
                | Type::Int(_)
                | Type::Enum(_)
                | Type::SerializableEnum(_)
                | Type::Error
                | Type::Unknown
        );
        if !allowed {
            let shown = self.show(&subject.ty);
            let message = format!("`switch` takes numbers, enums and errors, found `{shown}`");
            let diagnostic = Diagnostic::error(code::SWITCH, subject.span, message);
            self.report(diagnostic.with_help("or the `.action_run` of a table's `apply()`"));
            return None;
        }
        let ty = subject.ty.clone();
        let (cases, default) = self.cases(cases, |checker, label| checker.value_label(label, &ty));
        Some(StmtKind::SwitchValue { subject, cases, default })
    }

    fn check_default_last(&mut self, cases: &[SwitchCase]) {
        let before_last = cases.split_last().map_or(&[][..], |(_, before)| before);
        if let Some(early) = before_last.iter().find(|case| case.label.is_none()) {
            self.error(code::SWITCH, early.span, "`default` must be the last label");
        }
    }

    fn value_label(&mut self, label: &ast::Expr, ty: &Type) -> Option<BigInt> {
        let value: Expr = self.expr(label, Some(ty));
        let value = self.convert(value, ty, "label", None);
        if value.ty == Type::Unknown {
            return None;
        }
        let number = Self::constant_number(&value);
        if number.is_none() {
            self.error(code::NOT_CONSTANT, label.span, "a label must be a constant");
        }
        number
    }

    fn switch_on_action(&mut self, applied: &ast::Expr, cases: &[SwitchCase]) -> Option<StmtKind> {
        let table = match self.operand(applied, None) {
            Operand::TableResult(table) => table,
            Operand::Broken => return None,
            _ => {
                let message = "`action_run` belongs to the result of a table's `apply()`";
                self.error(code::SWITCH, applied.span, message);
                return None;
            }
        };
        let (cases, default) =
            self.cases(cases, |checker, label| checker.action_label(label, table));
        Some(StmtKind::SwitchAction { table, cases, default })
    }

    fn action_label(&mut self, label: &ast::Expr, table: TableId) -> Option<u32> {
        let ast::ExprKind::Name { name, .. } = &label.kind else {
            self.error(code::SWITCH, label.span, "a label must be the name of an action");
            return None;
        };
        let actions = self.program.tables[table.index()].actions.iter();
        let names: Vec<&str> =
            actions.map(|a| &*self.program.actions[a.action.index()].name).collect();
        if let Some(at) = names.iter().position(|action| **action == *name.text) {
            return Some(at as u32);
        }
        let near = near_name(&name.text, names).map(str::to_string);
        let of = &self.program.tables[table.index()];
        let message = format!("`{}` is not an action of the table `{}`", name.text, of.name);
        let mut diagnostic =
            Diagnostic::error(code::SWITCH, name.span, message).with_place(of.span, "the table");
        if let Some(near) = near {
            let text = format!("did you mean `{near}`?");
            diagnostic = diagnostic.with_suggestion(name.span, near, text);
        }
        self.report(diagnostic);
        None
    }

    /// Labels and bodies; labels without a body use the next body.
    fn cases<L: Clone + Eq + Hash>(
        &mut self,
        cases: &[SwitchCase],
        mut label: impl FnMut(&mut Self, &ast::Expr) -> Option<L>,
    ) -> Cases<L> {
        let mut seen: HashMap<L, Span> = HashMap::new();
        let mut made = Vec::new();
        let mut default = Vec::new();
        let mut waiting: Vec<L> = Vec::new();
        for case in cases {
            match &case.label {
                Some(written) => {
                    if let Some(found) = label(self, written) {
                        if let Some(first) = seen.insert(found.clone(), written.span) {
                            let message = "this label stands here twice";
                            let diagnostic = Diagnostic::error(code::SWITCH, written.span, message)
                                .with_place(first, "first here");
                            self.report(diagnostic);
                        }
                        waiting.push(found);
                    }
                }
                None => {
                    if let Some(body) = &case.body {
                        default = self.block_statements(body);
                    }
                    if !waiting.is_empty() {
                        made.push((std::mem::take(&mut waiting), default.clone()));
                    }
                    continue;
                }
            }
            if let Some(body) = &case.body {
                let body = self.block_statements(body);
                made.push((std::mem::take(&mut waiting), body));
            }
        }
        if !waiting.is_empty() {
            made.push((waiting, Vec::new()));
        }
        (made, default)
    }
}

/// `t.apply()` of `t.apply().action_run`
fn action_run(subject: &ast::Expr) -> Option<&ast::Expr> {
    match &subject.kind {
        ast::ExprKind::Paren(inner) => action_run(inner),
        ast::ExprKind::Member(applied, name) if &*name.text == "action_run" => Some(applied),
        _ => None,
    }
}

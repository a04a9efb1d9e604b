//! The names by which a control plane knows the keys of a table (specification 18.3.1.3), and that
//! actions have names of their own.

use super::Checker;
use super::block::BlockKind;
use super::report::code;
use super::signature::has_annotation;
use crate::ast::{Annotation, AnnotationBody, BinaryOp, Block, Expr, ExprKind, Name, Parameter};
use crate::diagnostic::Diagnostic;
use std::sync::Arc;

/// The text of `@name("...")`, if it is there.
pub(super) fn name_annotation(annotations: &[Annotation]) -> Option<Arc<str>> {
    let named = annotations.iter().find(|annotation| &*annotation.name.text == "name")?;
    match &named.body {
        AnnotationBody::Tokens(tokens) => match tokens.as_slice() {
            [token] if token.is_string => Some(token.text.clone()),
            _ => None,
        },
        AnnotationBody::Expressions(expressions) => match expressions.as_slice() {
            [Expr { kind: ExprKind::String(text), .. }] => Some(text.clone()),
            _ => None,
        },
        _ => None,
    }
}

impl Checker<'_> {
    /// Two actions of one control are two names to a control plane.
    /// Actions that do nothing need not be told apart.
    pub(super) fn check_action_name(
        &mut self,
        name: &Name,
        params: &[Parameter],
        body: &Block,
        annotations: &[Annotation],
    ) {
        if has_annotation(annotations, "hidden")
            || (params.is_empty() && body.statements.is_empty())
        {
            return;
        }
        let full = name_annotation(annotations).unwrap_or_else(|| name.text.clone());
        // Also an absolute one: actions of several controls may share it, as two of the vendor's
        // diag.p4 do, which p4c's Tofino back end takes.
        let control = match self.block.kind {
            BlockKind::Control(id) => Some(id),
            _ => None,
        };
        let first = *self.action_names.entry((control, full.clone())).or_insert(name.span);
        // The copies of a generic control have one text.
        if first != name.span {
            let message = format!("two actions have the name `{full}` for the control plane");
            let diagnostic = Diagnostic::error(code::CONTROL_PLANE_NAME, name.span, message)
                .with_place(first, "the first")
                .with_help("give one of them another `@name`");
            self.report(diagnostic);
        }
    }

    /// The name that follows from the key's own text; `None` for expressions that have none.
    pub(super) fn key_name(&mut self, key: &Expr) -> Option<String> {
        match &key.kind {
            ExprKind::Name { name, global } => {
                Some(format!("{}{}", if *global { "." } else { "" }, name.text))
            }
            ExprKind::Member(base, name) => Some(format!("{}.{}", self.key_name(base)?, name.text)),
            ExprKind::Index(base, index) => {
                Some(format!("{}[{}]", self.key_name(base)?, self.key_name(index)?))
            }
            ExprKind::Slice { base, high, low } => {
                let base = self.key_name(base)?;
                Some(format!("{base}[{}:{}]", self.key_name(high)?, self.key_name(low)?))
            }
            ExprKind::Call { callee, args, .. } => match &callee.kind {
                ExprKind::Member(base, name) if &*name.text == "isValid" && args.is_empty() => {
                    Some(format!("{}.$valid$", self.key_name(base)?))
                }
                _ => None,
            },
            ExprKind::Integer(literal) => Some(literal.value.to_string()),
            ExprKind::Bool(value) => Some(value.to_string()),
            ExprKind::Paren(inner) => self.key_name(inner),
            ExprKind::Binary(BinaryOp::BitAnd, left, right) => {
                Some(format!("{} & {}", self.key_name(left)?, self.key_name(right)?))
            }
            _ => None,
        }
    }
}

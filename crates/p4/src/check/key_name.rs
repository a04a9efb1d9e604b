//! The names by which a control plane knows the keys of a table (specification 18.3.1.3).

use super::Checker;
use crate::ast::{Annotation, AnnotationBody, BinaryOp, Expr, ExprKind};
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

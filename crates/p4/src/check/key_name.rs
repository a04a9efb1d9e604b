//! Control-plane names of table keys (specification 18.3.1.3), and uniqueness of action names.

use super::Checker;
use super::block::BlockKind;
use super::messages::code;
use crate::ast::{
    Annotation, AnnotationBody, BinaryOp, Block, Expr, ExprKind, Name, Parameter, has_annotation,
};
use crate::diagnostic::Diagnostic;
use crate::escape::visible_name;
use crate::hir;
use crate::types::Type;
use num_bigint::BigInt;
use std::sync::Arc;

/// The text of `@name("...")`, if present.
pub(super) fn name_annotation(annotations: &[Annotation]) -> Option<Arc<str>> {
    let named = annotations.iter().find(|annotation| &*annotation.name.text == "name")?;
    let name = match &named.body {
        AnnotationBody::Tokens(tokens) => match tokens.as_slice() {
            [token] if token.is_string => Some(token.text.clone()),
            _ => None,
        },
        AnnotationBody::Expressions(values) => match values.as_slice() {
            [value] => value.text().cloned(),
            _ => None,
        },
        _ => None,
    };
    name.map(visible_name)
}

impl Checker<'_> {
    /// Checks that two actions of one control have different control-plane names. Actions without
    /// effect are exempt.
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
        // Even absolute names: actions of several controls may share one, as two of the vendor's
        // diag.p4 do, which p4c's Tofino back end accepts.
        let control = match self.block.kind {
            BlockKind::Control(id) => Some(id),
            _ => None,
        };
        let first = *self.action_names.entry((control, full.clone())).or_insert(name.span);
        // The instantiations of a generic control have one text.
        if first != name.span {
            let message = format!("two actions have the name `{full}` for the control plane");
            let diagnostic = Diagnostic::error(code::CONTROL_PLANE_NAME, name.span, message)
                .with_place(first, "the first")
                .with_help("give one of them another `@name`");
            self.report(diagnostic);
        }
    }

    /// The name derived from the key's own text; `None` for expressions without one. `made` is the
    /// checked key, as far as it has the same form: the control plane names a field by its `@name`.
    pub(super) fn key_name(&self, key: &Expr, made: Option<&hir::Expr>) -> Option<String> {
        let base_of = |made: Option<&'_ hir::Expr>| match &made?.kind {
            hir::ExprKind::Field(base, _)
            | hir::ExprKind::Slice(base, ..)
            | hir::ExprKind::Index(base, _)
            | hir::ExprKind::IsValid(base) => Some((**base).clone()),
            _ => None,
        };
        match &key.kind {
            ExprKind::Name { name, global } => {
                Some(format!("{}{}", if *global { "." } else { "" }, name.text))
            }
            ExprKind::Member(base, name) => {
                let outer = base_of(made);
                let named = outer.as_ref().and_then(|outer| field_name(&outer.ty, &name.text));
                let named = named.unwrap_or_else(|| name.text.clone());
                if let Some(absolute) = named.strip_prefix('.') {
                    return Some(absolute.to_owned());
                }
                Some(format!("{}.{named}", self.key_name(base, outer.as_ref())?))
            }
            ExprKind::Index(base, index) => {
                let base = self.key_name(base, base_of(made).as_ref())?;
                Some(format!("{base}[{}]", self.key_name(index, None)?))
            }
            ExprKind::Slice { base, high, low } => {
                let base = self.key_name(base, base_of(made).as_ref())?;
                Some(format!(
                    "{base}[{}:{}]",
                    self.key_name(high, None)?,
                    self.key_name(low, None)?
                ))
            }
            ExprKind::Call { callee, args, .. } => match &callee.kind {
                ExprKind::Member(base, name) if &*name.text == "isValid" && args.is_empty() => {
                    Some(format!("{}.$valid$", self.key_name(base, base_of(made).as_ref())?))
                }
                _ => None,
            },
            ExprKind::Integer(literal) => Some(self.number_name(key, &literal.value)),
            ExprKind::Bool(value) => Some(value.to_string()),
            ExprKind::Paren(inner) => self.key_name(inner, made),
            ExprKind::Binary(BinaryOp::BitAnd, left, right) => {
                let (first, second) = match made.map(|made| &made.kind) {
                    Some(hir::ExprKind::Binary(_, first, second)) => {
                        (Some(&**first), Some(&**second))
                    }
                    _ => (None, None),
                };
                let (left, right) = (self.key_name(left, first)?, self.key_name(right, second)?);
                Some(format!("{left} & {right}"))
            }
            _ => None,
        }
    }

    /// A number in the base of its literal.
    fn number_name(&self, written: &Expr, value: &BigInt) -> String {
        let text = self.sources.text(written.span).to_ascii_lowercase();
        let base = |mark: &str| text.contains(mark);
        match () {
            () if base("0x") => format!("0x{}", value.to_str_radix(16)),
            () if base("0o") => format!("0o{}", value.to_str_radix(8)),
            () if base("0b") => format!("0b{}", value.to_str_radix(2)),
            () => value.to_string(),
        }
    }
}

/// Name of a field given by `@name`.
fn field_name(of: &Type, field: &str) -> Option<Arc<str>> {
    let (Type::Struct(of) | Type::Header(of) | Type::HeaderUnion(of)) = of else { return None };
    let field = of.fields.iter().find(|known| &*known.name == field)?;
    name_annotation(&field.annotations)
}

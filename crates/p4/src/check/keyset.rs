//! Keysets: patterns of keys in `select` and in table entries (specification 8.14, 13.6, 14.2.1.4).

use super::Checker;
use super::messages::code;
use super::operators::has_equality;
use super::scope::Entity;
use crate::ast;
use crate::diagnostic::Diagnostic;
use crate::hir::{Expr, Keyset, ValueSetId};
use crate::source::Span;
use crate::types::Type;

impl Checker<'_> {
    /// One keyset for a key of type `ty`.
    pub(super) fn keyset(&mut self, written: &ast::Keyset, ty: &Type) -> Keyset {
        match written {
            ast::Keyset::Default(_) => Keyset::Any,
            ast::Keyset::Value(value) => Keyset::Value(self.keyset_value(value, ty)),
            ast::Keyset::Mask(value, mask) => {
                let (value, mask) = self.keyset_pair(value, mask, ty, "a mask");
                Keyset::Mask(value, mask)
            }
            ast::Keyset::Range(low, high) => {
                let (low, high) = self.keyset_pair(low, high, ty, "a range");
                Keyset::Range(low, high)
            }
        }
    }

    fn keyset_value(&mut self, value: &ast::Expr, ty: &Type) -> Expr {
        let value = self.expr(value, Some(ty));
        self.convert(value, ty, "keyset", None)
    }

    /// Splits keysets: `{ a, b }` on its own is equivalent to `(a, b)`.
    pub(super) fn spread(keysets: &[ast::Keyset], keys: &[&Type]) -> Vec<ast::Keyset> {
        if let [ast::Keyset::Value(ast::Expr { kind: ast::ExprKind::List(list), .. })] = keysets {
            let is_tuple = matches!(keys, [Type::Tuple(_) | Type::Struct(_)]);
            if list.len() == keys.len() && !is_tuple {
                return list.iter().cloned().map(ast::Keyset::Value).collect();
            }
        }
        keysets.to_vec()
    }

    /// Two numbers of the key's type; for an enum's type both may be its numbers.
    fn keyset_pair(&mut self, a: &ast::Expr, b: &ast::Expr, ty: &Type, what: &str) -> (Expr, Expr) {
        let number = match ty {
            Type::SerializableEnum(e) => e.underlying.clone().unwrap_or(Type::Unknown),
            Type::New(new) => new.target.clone(),
            other => other.clone(),
        };
        if !matches!(number, Type::Bit(_) | Type::Int(_) | Type::Unknown) {
            let message = format!("{what} is for numbers, the key is `{}`", self.show(ty));
            self.error(code::SELECT, a.span.to(b.span), message);
        }
        let one = |checker: &mut Self, written: &ast::Expr| {
            let value = checker.expr(written, Some(&number));
            let value = match (&value.ty, ty) {
                (Type::New(_), Type::New(_)) if value.ty == *ty => return value,
                _ => checker.enum_as_number(value),
            };
            checker.convert(value, &number, "keyset", None)
        };
        (one(self, a), one(self, b))
    }

    /// The value set that a keyset names, if any.
    pub(super) fn value_set_of(&mut self, written: &ast::Keyset) -> Option<(ValueSetId, Span)> {
        let ast::Keyset::Value(value) = written else { return None };
        let ast::ExprKind::Name { name, global } = &value.kind else { return None };
        match self.scopes.find(&name.text, *global)?.entity {
            Entity::ValueSet(id) => Some((id, value.span)),
            _ => None,
        }
    }

    /// Reports a key whose type `select` does not support.
    pub(super) fn check_select_key(&mut self, key: &Expr) {
        let allowed = match &key.ty {
            Type::Bit(_) | Type::Int(_) | Type::Bool | Type::Enum(_) => true,
            Type::SerializableEnum(_) | Type::New(_) | Type::Error | Type::Unknown => true,
            Type::Tuple(_) => has_equality(&key.ty),
            _ => false,
        };
        if !allowed {
            let message = format!("`select` cannot look at `{}`", self.show(&key.ty));
            let mut diagnostic = Diagnostic::error(code::SELECT, key.span, message);
            if key.ty == Type::InfInt {
                diagnostic = diagnostic.with_help("give the number a width, as in `8w5`");
            }
            self.report(diagnostic);
        }
    }
}

/// Source span of a keyset.
pub(super) fn span_of(keyset: &ast::Keyset) -> Span {
    match keyset {
        ast::Keyset::Value(value) => value.span,
        ast::Keyset::Mask(a, b) | ast::Keyset::Range(a, b) => a.span.to(b.span),
        ast::Keyset::Default(span) => *span,
    }
}

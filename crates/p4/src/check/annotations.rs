//! Annotations: structured ones, `@name[...]` (specification 20.2), and the bodies of those that
//! the language or P4Runtime defines (specification 20.1, P4Runtime 8.1.6).
//!
//! Only the form of a body is checked here; the reader of an annotation interprets it.

use super::Checker;
use super::messages::code;
use super::operand::is_constant;
use crate::ast::{
    Annotation, AnnotationBody, AnnotationConstant, AnnotationToken, AnnotationValue, Name,
};
use crate::diagnostic::Diagnostic;
use crate::hir::{self, ExprKind};
use crate::types::Type;

impl Checker<'_> {
    /// Checks that each structured name occurs once with numbers, texts and truth values as
    /// contents, and that known bodies are valid.
    pub(super) fn check_annotations(&mut self, annotations: &[Annotation]) {
        for (at, annotation) in annotations.iter().enumerate() {
            self.check_body(annotation);
            let same = |other: &&Annotation| other.name.text == annotation.name.text;
            let first = annotations[..at].iter().find(same);
            let structured = first.is_some_and(is_structured) || is_structured(annotation);
            if let Some(first) = first.filter(|_| structured) {
                let name = &annotation.name;
                let message = format!("the annotation `@{}[...]` stands here twice", name.text);
                let diagnostic = Diagnostic::error(code::DUPLICATE_NAME, name.span, message)
                    .with_place(first.name.span, "first here");
                self.report(diagnostic);
            }
        }
    }

    fn check_body(&mut self, annotation: &Annotation) {
        match &annotation.body {
            AnnotationBody::Expressions(values) => {
                for value in values {
                    self.annotation_value(value);
                }
            }
            AnnotationBody::KeyValues(pairs) => {
                self.check_distinct("the key", pairs.iter().map(|(name, _)| name));
                for (_, value) in pairs {
                    self.annotation_value(value);
                }
            }
            AnnotationBody::Empty => self.check_tokens(&annotation.name, &[]),
            AnnotationBody::Tokens(tokens) => self.check_tokens(&annotation.name, tokens),
        }
    }

    /// Checks the annotations whose bodies are defined.
    fn check_tokens(&mut self, name: &Name, tokens: &[AnnotationToken]) {
        let (good, wanted) = match &*name.text {
            "name" | "deprecated" | "noWarn" => (is_text(tokens), "a text, as in `(\"text\")`"),
            "match" => {
                let kinds = &self.program.match_kinds;
                let known = |text: &str| kinds.iter().any(|kind| &**kind == text);
                let good = matches!(tokens, [one] if !one.is_string && known(&one.text));
                (good, "one match kind, as in `(ternary)`")
            }
            "pkginfo" => (!tokens.is_empty(), "keys and values, as in `(name=\"program\")`"),
            "p4runtime_translation" => (
                is_translation(tokens),
                "a text and how the control plane sees the value: `(\"uri\", string)` or `(\"uri\", bit<32>)`",
            ),
            _ => return,
        };
        if !good {
            let message = format!("the annotation `@{}` needs {wanted}", name.text);
            let span = tokens.iter().fold(name.span, |span, token| span.to(token.span));
            self.error(code::ANNOTATION, span, message);
        }
    }

    /// Checks that `@length(...)` of a field names only earlier declarations.
    pub(super) fn check_length(&mut self, annotations: &[Annotation], earlier: &[&Name]) {
        for annotation in annotations.iter().filter(|a| &*a.name.text == "length") {
            let AnnotationBody::Tokens(tokens) = &annotation.body else { continue };
            for (at, token) in tokens.iter().enumerate() {
                let behind_dot = at > 0 && &*tokens[at - 1].text == ".";
                let first = token.text.chars().next().unwrap_or('0');
                let keyword =
                    matches!(&*token.text, "bit" | "int" | "varbit" | "bool" | "true" | "false");
                let is_name =
                    !token.is_string && !keyword && (first.is_alphabetic() || first == '_');
                let known = earlier.iter().any(|name| name.text == token.text)
                    || self.scopes.find(&token.text, false).is_some();
                if is_name && !behind_dot && !known {
                    let message = format!(
                        "`@length` names `{}`, which is not declared before this field",
                        token.text
                    );
                    self.error(code::UNKNOWN_NAME, token.span, message);
                }
            }
        }
    }

    /// Folds a value and stores the result.
    fn annotation_value(&mut self, of: &AnnotationValue) {
        let written = &of.written;
        let value = self.expr(written, None);
        let plain = matches!(value.ty, Type::InfInt | Type::Bool | Type::String | Type::Unknown);
        if !plain {
            let shown = self.show(&value.ty);
            let message = format!(
                "an annotation holds numbers without a width, texts and truth values, not `{shown}`"
            );
            self.error(code::MISMATCH, written.span, message);
        } else if !is_constant(&value) {
            self.error(code::NOT_CONSTANT, written.span, "an annotation's value must be known");
        } else if let ExprKind::Const(constant) = value.kind {
            of.value.get_or_init(|| match constant {
                hir::Value::Bool(truth) => AnnotationConstant::Truth(truth),
                hir::Value::Int(number) => AnnotationConstant::Number(number),
                hir::Value::String(text) => AnnotationConstant::Text(text),
            });
        }
    }
}

fn is_structured(annotation: &Annotation) -> bool {
    matches!(annotation.body, AnnotationBody::Expressions(_) | AnnotationBody::KeyValues(_))
}

/// Texts, perhaps joined by `++`, or names of constants; no numbers and no other operators.
fn is_text(tokens: &[AnnotationToken]) -> bool {
    let word = |token: &AnnotationToken| {
        token.text.starts_with(|first: char| first.is_alphabetic() || first == '_')
    };
    let glue = |text: &str| matches!(text, "++" | "(" | ")" | ",");
    !tokens.is_empty()
        && tokens.iter().all(|token| token.is_string || word(token) || glue(&token.text))
}

/// `"uri", string`, `"uri", bit<W>` or `"uri", W`.
fn is_translation(tokens: &[AnnotationToken]) -> bool {
    let number = |text: &str| text.starts_with(|first: char| first.is_ascii_digit());
    let [uri, comma, seen @ ..] = tokens else { return false };
    let seen: Vec<&str> = seen.iter().map(|token| &*token.text).collect();
    let seen_good = match seen.as_slice() {
        ["string"] => true,
        [width] => number(width),
        ["bit", "<", width, ">"] => number(width),
        _ => false,
    };
    uri.is_string && &*comma.text == "," && seen_good
}

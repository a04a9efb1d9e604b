//! Annotations that are structured: `@name[...]` (specification 20.2).
//!
//! What an annotation means is its reader's business; here only the rules that hold for all.

use super::Checker;
use super::operand::is_constant;
use super::report::code;
use crate::ast::{Annotation, AnnotationBody, Expr, Name};
use crate::diagnostic::Diagnostic;
use crate::types::Type;

impl Checker<'_> {
    /// Each structured name once, its contents numbers, texts and truth values.
    pub(super) fn check_annotations(&mut self, annotations: &[Annotation]) {
        let mut structured: Vec<&Name> = Vec::new();
        for annotation in annotations {
            match &annotation.body {
                AnnotationBody::Expressions(expressions) => {
                    for expression in expressions {
                        self.annotation_value(expression);
                    }
                }
                AnnotationBody::KeyValues(pairs) => {
                    self.check_distinct("the key", pairs.iter().map(|(name, _)| name));
                    for (_, expression) in pairs {
                        self.annotation_value(expression);
                    }
                }
                AnnotationBody::Empty | AnnotationBody::Tokens(_) => continue,
            }
            let name = &annotation.name;
            if let Some(first) = structured.iter().find(|first| first.text == name.text) {
                let message = format!("the annotation `@{}[...]` stands here twice", name.text);
                let diagnostic = Diagnostic::error(code::DUPLICATE_NAME, name.span, message)
                    .with_place(first.span, "first here");
                self.report(diagnostic);
            }
            structured.push(name);
        }
    }

    fn annotation_value(&mut self, written: &Expr) {
        let value = self.expr(written, None);
        let plain = matches!(
            value.ty,
            Type::InfInt | Type::Bit(_) | Type::Int(_) | Type::Bool | Type::String | Type::Unknown
        );
        if !plain {
            let shown = self.show(&value.ty);
            let message =
                format!("an annotation holds numbers, texts and truth values, not `{shown}`");
            self.error(code::MISMATCH, written.span, message);
        } else if !is_constant(&value) {
            self.error(code::NOT_CONSTANT, written.span, "an annotation's value must be known");
        }
    }
}

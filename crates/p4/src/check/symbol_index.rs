//! Table of the names in a program for editors: position, declaration, kind and type of each.
//!
//! Name resolution fills the table on request. A program with errors has entries for the names that
//! could be resolved.

use super::scope::{Declared, Entity, TypeEntity};
use super::{Checker, STACK};
use crate::ast;
use crate::hir::VarId;
use crate::source::{SourceMap, Span};
use crate::types::{FieldsType, Type};

/// A used or declared name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// Source span.
    pub at: Span,
    /// Span of the declaration; for a field, that of its type.
    pub declared: Span,
    /// Kind, with an article.
    pub kind: &'static str,
    /// Its type, if it has one.
    pub ty: String,
}

/// The names so far.
#[derive(Debug, Default)]
pub(super) struct Found {
    names: Vec<Named>,
    /// Variables, whose types are complete only at the end: index into `names`.
    variables: Vec<(usize, VarId)>,
}

/// Resolved names of a program, in the order in which they were checked.
pub fn names(program: &ast::Program, sources: &SourceMap) -> Vec<Named> {
    std::thread::scope(|scope| {
        let work = || {
            let mut checker = Checker::new(sources);
            checker.named = Some(Found::default());
            checker.go_through(program);
            checker.all_named()
        };
        let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work);
        // Without a thread of that size the list is empty.
        thread.ok().and_then(|thread| thread.join().ok()).unwrap_or_default()
    })
}

impl Checker<'_> {
    /// Records a resolved name.
    pub(super) fn note(&mut self, at: Span, found: &Declared) {
        if self.named.is_none() || found.span.is_dummy() {
            return;
        }
        let ty = match &found.entity {
            Entity::Constant(value) => self.show(&value.ty),
            Entity::Type(TypeEntity::Plain(ty)) => self.show(ty),
            _ => String::new(),
        };
        let named = Named { at, declared: found.span, kind: found.entity.kind(), ty };
        let Some(all) = &mut self.named else { return };
        if let Entity::Var(id) = found.entity {
            all.variables.push((all.names.len(), id));
        }
        all.names.push(named);
    }

    /// Records a use of a field.
    pub(super) fn note_field(&mut self, at: Span, of: &FieldsType, ty: &Type) {
        if self.named.is_some() {
            let named = Named { at, declared: of.span, kind: "a field", ty: self.show(ty) };
            self.named.iter_mut().for_each(|all| all.names.push(named.clone()));
        }
    }

    fn all_named(mut self) -> Vec<Named> {
        let Some(Found { mut names, variables }) = self.named.take() else { return Vec::new() };
        for (at, id) in variables {
            if let Some(var) = self.program.vars.get(id.index()) {
                let ty = var.ty.clone();
                names[at].ty = self.show(&ty);
            }
        }
        names
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::parse_program;
    use crate::preprocess::{MemoryLoader, PreprocessOptions};
    use std::path::Path;

    /// Each name with the text of the line where it is declared, its kind and type.
    fn messages(text: &str) -> Vec<String> {
        let loader = MemoryLoader::new().with("p.p4", text);
        let (tree, sources, _) =
            parse_program(&loader, Path::new("p.p4"), &PreprocessOptions::default());
        let line = |span| sources.location(span).map_or(0, |place| place.line);
        names(&tree, &sources)
            .iter()
            .map(|n| format!("{} {}: {} {}", sources.text(n.at), line(n.declared), n.kind, n.ty))
            .collect()
    }

    #[test]
    fn a_name_is_reported_with_its_declaration_kind_and_type_also_next_to_a_mistake() {
        let found = messages(
            "const bit<8> LIMIT = 4;
             struct pair { bit<8> low; }
             control C(inout pair p) {
                 action raise(bit<8> by) { p.low = p.low + by; }
                 apply { if (p.low < LIMIT) { raise(1); } missing = 1; }
             }",
        );
        for expected in [
            "LIMIT 1: a constant bit<8>",
            "pair 2: a type pair",
            "p 3: a variable pair",
            "low 2: a field bit<8>",
            "by 4: a variable bit<8>",
            "raise 4: an action ",
        ] {
            assert!(found.iter().any(|one| one == expected), "{expected}: {found:?}");
        }
        assert!(!found.iter().any(|one| one.starts_with("missing")));
    }
}

//! Scopes: names and their entities, resolved from the inside out (specification 6.7 and 6.8).
//!
//! A scope maps a name to one [`Entity`]; only functions may share a name (overloading). Must not
//! depend on the meaning of an entity.

use super::Checker;
use super::messages::code;
use crate::ast::Name;
use crate::diagnostic::{Diagnostic, near_name};
use crate::hir::{self, ActionId, ControlId, ExternFunctionId, InstanceId, ParserId};
use crate::hir::{TableId, ValueSetId, VarId};
use crate::source::Span;
use crate::types::{BlockType, ExternId, FieldsType, PackageId, Type, TypeVar};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

/// Entity that a name denotes.
#[derive(Clone, Debug)]
pub(super) enum Entity {
    /// A variable or parameter.
    Var(VarId),
    /// A constant, by its value.
    Constant(Rc<hir::Expr>),
    /// An instance of a type with a constructor.
    Instance(InstanceId),
    /// A type.
    Type(TypeEntity),
    /// Functions of one name.
    Functions(Rc<[FunctionRef]>),
    /// An action.
    Action(ActionId),
    /// A table.
    Table(TableId),
    /// A parser value set.
    ValueSet(ValueSetId),
    /// Under declaration: a use is recursion.
    Unfinished(&'static str),
    /// Its declaration has an error, already reported.
    Broken,
}

impl Entity {
    /// Kind of the entity, with an article.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Entity::Var(_) => "a variable",
            Entity::Constant(_) => "a constant",
            Entity::Instance(_) => "an instance",
            Entity::Type(_) => "a type",
            Entity::Functions(_) => "a function",
            Entity::Action(_) => "an action",
            Entity::Table(_) => "a table",
            Entity::ValueSet(_) => "a value set",
            Entity::Unfinished(what) => what,
            Entity::Broken => "a broken declaration",
        }
    }
}

/// A declared type, before type arguments are applied.
#[derive(Clone, Debug)]
pub(super) enum TypeEntity {
    /// A type without parameters.
    Plain(Type),
    /// A generic struct, header or union.
    Fields(Rc<Generic<FieldsType>>, crate::ast::FieldsKind),
    /// A parser type (true) or control type, generic or not.
    BlockType(Rc<Generic<BlockType>>, bool),
    /// A parser declaration.
    Parser(ParserId),
    /// A control declaration.
    Control(ControlId),
    /// An extern object.
    Extern(ExternId),
    /// A package type.
    Package(PackageId),
}

/// A declaration with type parameters.
#[derive(Debug)]
pub(super) struct Generic<T> {
    /// The parameters.
    pub params: Vec<TypeVar>,
    /// The declaration, with its type parameters as type arguments.
    pub body: Arc<T>,
}

/// One of the functions that share a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FunctionRef {
    /// Written in P4: index into `Checker::functions`.
    Defined(usize),
    /// Extern.
    Extern(ExternFunctionId),
}

/// An entity and the position of its declaration.
#[derive(Clone, Debug)]
pub(super) struct Declared {
    /// The entity.
    pub entity: Entity,
    /// Span of its name.
    pub span: Span,
}

#[derive(Debug, Default)]
struct Scope {
    names: HashMap<Arc<str>, Declared>,
}

/// The visible scopes, the outermost first.
#[derive(Debug)]
pub(super) struct Scopes {
    scopes: Vec<Scope>,
}

impl Scopes {
    pub(super) fn new() -> Self {
        Scopes { scopes: vec![Scope::default()] }
    }

    pub(super) fn push(&mut self) {
        self.scopes.push(Scope::default());
    }

    pub(super) fn pop(&mut self) {
        self.scopes.pop();
    }

    /// Hides all but the top level, for a function checked out of turn; see [`Scopes::unhide`].
    pub(super) fn hide(&mut self) -> HiddenScopes {
        HiddenScopes(self.scopes.split_off(1))
    }

    pub(super) fn unhide(&mut self, hidden: HiddenScopes) {
        self.scopes.truncate(1);
        self.scopes.extend(hidden.0);
    }

    /// The innermost declaration of `name`, or the top level's with `global`.
    pub(super) fn find(&self, name: &str, global: bool) -> Option<&Declared> {
        let seen = if global { &self.scopes[..1] } else { &self.scopes[..] };
        let mut found = seen.iter().rev().filter_map(|scope| scope.names.get(name));
        let first = found.next()?;
        match first.entity {
            // A name is valid behind its declaration: inside it, an outer one is meant.
            Entity::Unfinished(_) => Some(found.next().unwrap_or(first)),
            _ => Some(first),
        }
    }

    fn innermost(&mut self) -> &mut Scope {
        self.scopes.last_mut().expect("the top level is never popped")
    }

    /// Sets a name in the innermost scope, replacing any previous one.
    pub(super) fn set(&mut self, name: Arc<str>, entity: Entity, span: Span) {
        self.innermost().names.insert(name, Declared { entity, span });
    }

    /// Removes a name from the innermost scope.
    pub(super) fn forget(&mut self, name: &str) {
        self.innermost().names.remove(name);
    }

    /// The innermost scope's own declaration of `name`.
    pub(super) fn here(&self, name: &str) -> Option<&Declared> {
        self.scopes.last().and_then(|scope| scope.names.get(name))
    }

    /// All names in scope whose entity passes the filter.
    pub(super) fn names(&self, keep: impl Fn(&Entity) -> bool) -> Vec<&str> {
        let all = self.scopes.iter().rev().flat_map(|scope| &scope.names);
        all.filter(|(_, found)| keep(&found.entity)).map(|(name, _)| &**name).collect()
    }
}

/// Saved scopes.
pub(super) struct HiddenScopes(Vec<Scope>);

impl Checker<'_> {
    /// Declares a name in the innermost scope; reports it if it is taken there.
    pub(super) fn declare(&mut self, name: &Name, entity: Entity) -> bool {
        if let Some(previous) = self.scopes.here(&name.text) {
            let taken = !matches!(previous.entity, Entity::Broken | Entity::Unfinished(_));
            let span = previous.span;
            if taken {
                self.duplicate(name, span);
                return false;
            }
        }
        self.scopes.set(name.text.clone(), entity, name.span);
        true
    }

    /// Reports that a name is declared twice.
    pub(super) fn duplicate(&mut self, name: &Name, first: Span) {
        let message = format!("`{}` is declared twice in the same scope", name.text);
        let diagnostic = Diagnostic::error(code::DUPLICATE_NAME, name.span, message)
            .with_label("declared again here")
            .with_place(first, "first declared here");
        self.report(diagnostic);
    }

    /// Reports names that occur twice where each may occur once; `what` names the elements.
    pub(super) fn check_distinct<'n>(
        &mut self,
        what: &str,
        names: impl IntoIterator<Item = &'n Name>,
    ) {
        let mut seen: HashMap<&str, Span> = HashMap::new();
        for name in names {
            if &*name.text == "_" {
                continue;
            }
            match seen.get(&*name.text) {
                Some(first) => {
                    let message = format!("{what} `{}` is named twice", name.text);
                    let diagnostic = Diagnostic::error(code::DUPLICATE_NAME, name.span, message)
                        .with_place(*first, "first named here");
                    self.report(diagnostic);
                }
                None => {
                    seen.insert(&name.text, name.span);
                }
            }
        }
    }

    /// Entity that a name denotes; reports an unknown name.
    pub(super) fn resolve(&mut self, name: &Name, global: bool) -> Entity {
        match self.scopes.find(&name.text, global) {
            Some(Declared { entity: Entity::Unfinished(what), span }) => {
                let (what, span) = (*what, *span);
                let message = format!("`{}` uses itself; P4 has no recursion", name.text);
                let diagnostic = Diagnostic::error(code::RECURSION, name.span, message)
                    .with_place(span, format!("{what} whose declaration has not ended"));
                self.report(diagnostic);
                Entity::Broken
            }
            Some(found) => {
                let found = found.clone();
                self.note(name.span, &found);
                found.entity
            }
            None => {
                self.unknown_name(name, "name", |_| true);
                Entity::Broken
            }
        }
    }

    /// Reports that a name is not declared, with the nearest one of the right kind.
    pub(super) fn unknown_name(&mut self, name: &Name, what: &str, keep: impl Fn(&Entity) -> bool) {
        let known = self.scopes.names(keep);
        let near = near_name(&name.text, known).map(str::to_string);
        let message = format!("the {what} `{}` is not declared", name.text);
        let mut diagnostic = Diagnostic::error(code::UNKNOWN_NAME, name.span, message)
            .with_label("not known at this place");
        if let Some(near) = near {
            let text = format!("did you mean `{near}`?");
            diagnostic = diagnostic.with_suggestion(name.span, near, text);
        }
        self.report(diagnostic);
    }

    /// Reports that a name denotes the wrong kind of entity.
    pub(super) fn wrong_kind(&mut self, name: &Name, global: bool, expected: &str) {
        let Some(found) = self.scopes.find(&name.text, global).cloned() else { return };
        if matches!(found.entity, Entity::Broken) {
            return;
        }
        let kind = found.entity.kind();
        let message = format!("expected {expected}, found {kind}: `{}`", name.text);
        let diagnostic = Diagnostic::error(code::WRONG_KIND_OF_NAME, name.span, message)
            .with_label(format!("this is {kind}"));
        self.report(if found.span.is_dummy() {
            diagnostic
        } else {
            diagnostic.with_place(found.span, "declared here")
        });
    }
}

//! Parsers and controls with type parameters and a body: one instantiation per set of type
//! arguments.
//!
//! The specification allows type parameters only on types of parsers and controls (sections 13.2
//! and 14); p4c accepts them on declarations with a body, too, and programs use this. The body is
//! checked once with opaque types as its type parameters; each instantiation is then checked again
//! with the real types, as for functions.

use super::Checker;
use super::block::Header;
use super::infer::has_vars;
use super::messages::code;
use super::scope::{Entity, TypeEntity};
use crate::ast::{Annotation, ControlDeclaration, Name, ParserDeclaration};
use crate::diagnostic::Diagnostic;
use crate::hir::{ControlId, ParserId};
use crate::source::Span;
use crate::types::{DeclarationId, Type};

/// The text of a declaration.
#[derive(Clone, Copy)]
pub(super) enum BlockText<'a> {
    Parser(&'a ParserDeclaration),
    Control(&'a ControlDeclaration),
}

impl<'a> BlockText<'a> {
    fn name(self) -> &'a Name {
        match self {
            BlockText::Parser(parser) => &parser.name,
            BlockText::Control(control) => &control.name,
        }
    }

    fn type_params(self) -> &'a [Name] {
        match self {
            BlockText::Parser(parser) => &parser.type_params,
            BlockText::Control(control) => &control.type_params,
        }
    }
}

/// A generic declaration.
pub(super) struct GenericBlock<'a> {
    text: BlockText<'a>,
    annotations: &'a [Annotation],
    /// Instantiations by type arguments.
    copies: Vec<(Vec<Type>, TypeEntity)>,
    /// True if the generic body has errors: it is not instantiated, so that one mistake gives one
    /// message.
    broken: bool,
}

impl<'a> Checker<'a> {
    /// `parser Name(params)(constructor params) { ... }`, and the same for controls.
    pub(super) fn declare_block(&mut self, text: BlockText<'a>, annotations: &'a [Annotation]) {
        let name = text.name();
        let what = match text {
            BlockText::Parser(_) => "a parser",
            BlockText::Control(_) => "a control",
        };
        self.unfinished(name, what);
        let declaration = self.declaration_id();
        let said = self.diagnostics.len();
        let type_params = self.push_type_params(text.type_params());
        let args = type_params.iter().cloned().map(Type::Var).collect();
        let header = Header { declaration, type_params, args };
        let entity = self.block_body(text, annotations, header);
        self.scopes.pop();
        if let Some(first) = text.type_params().first() {
            self.warn_of_type_params(name, first.span);
            let broken = self.diagnostics[said..].iter().any(Diagnostic::is_error);
            let copies = Vec::new();
            let generic = GenericBlock { text, annotations, copies, broken };
            self.generic_blocks.insert(declaration, generic);
        }
        self.finish(name, Entity::Type(entity));
    }

    fn warn_of_type_params(&mut self, name: &Name, span: Span) {
        let message = format!("the declaration of `{}` has type parameters and a body", name.text);
        let diagnostic = Diagnostic::warning(code::GENERIC_BLOCK, span, message)
            .with_note("the specification does not have this; as with p4c, each set of type arguments gets a copy");
        self.report(diagnostic);
    }

    fn block_body(
        &mut self,
        text: BlockText<'a>,
        annotations: &'a [Annotation],
        header: Header,
    ) -> TypeEntity {
        match text {
            BlockText::Parser(parser) => {
                TypeEntity::Parser(self.parser_body(parser, annotations, header))
            }
            BlockText::Control(control) => {
                TypeEntity::Control(self.control_body(control, annotations, header))
            }
        }
    }

    /// The instantiation of a parser or control for these type arguments, created on first use; the
    /// declaration itself if it has no type parameters.
    pub(super) fn block_copy(
        &mut self,
        entity: &TypeEntity,
        args: &[Type],
        span: Span,
    ) -> Option<TypeEntity> {
        let info = match entity {
            TypeEntity::Parser(id) => self.parsers[id.index()].clone(),
            TypeEntity::Control(id) => self.controls[id.index()].clone(),
            _ => return Some(entity.clone()),
        };
        let declaration = info.ty.declaration;
        let Some(generic) = self.generic_blocks.get(&declaration) else {
            return Some(entity.clone());
        };
        // Inside an uninstantiated generic body, which is never executed.
        if info.type_params.is_empty() || generic.broken || args.iter().any(has_vars) {
            return Some(entity.clone());
        }
        if let Some((_, copy)) = generic.copies.iter().find(|(of, _)| of == args) {
            return Some(copy.clone());
        }
        let (text, annotations) = (generic.text, generic.annotations);
        self.copied(text, annotations, declaration, args, span)
    }

    fn copied(
        &mut self,
        text: BlockText<'a>,
        annotations: &'a [Annotation],
        declaration: DeclarationId,
        args: &[Type],
        span: Span,
    ) -> Option<TypeEntity> {
        if self.parsers.len() + self.controls.len() >= super::MAX_COPIES {
            let message = "too many copies of generic parsers and controls are needed";
            self.error(code::TOO_LARGE, span, message);
            return None;
        }
        if !self.enter(span) {
            return None;
        }
        let hidden = self.scopes.hide();
        let block = std::mem::take(&mut self.block);
        self.scopes.push();
        for (name, ty) in text.type_params().iter().zip(args) {
            let entity = Entity::Type(TypeEntity::Plain(ty.clone()));
            self.scopes.set(name.text.clone(), entity, name.span);
        }
        let header = Header { declaration, type_params: Vec::new(), args: args.to_vec() };
        let copy = self.block_body(text, annotations, header);
        self.scopes.pop();
        self.block = block;
        self.scopes.unhide(hidden);
        self.leave();
        if let Some(generic) = self.generic_blocks.get_mut(&declaration) {
            generic.copies.push((args.to_vec(), copy.clone()));
        }
        Some(copy)
    }

    /// Reserves an id and a place in the program for a parser.
    pub(super) fn reserve_parser(&mut self, parser: crate::hir::Parser) -> ParserId {
        self.program.parsers.push(parser);
        ParserId(self.program.parsers.len() as u32 - 1)
    }

    /// Reserves an id and a place in the program for a control.
    pub(super) fn reserve_control(&mut self, control: crate::hir::Control) -> ControlId {
        self.program.controls.push(control);
        ControlId(self.program.controls.len() as u32 - 1)
    }
}

//! Constructors: instantiated types, allowed places and arguments (specification 8.21, 10.3, 15).

use super::Checker;
use super::arguments::CallKind;
use super::block::{BlockInfo, BlockKind};
use super::call::CallResult;
use super::code_context::ContextKind;
use super::infer::{Substitution, substitute};
use super::messages::code;
use super::scope::{Entity, TypeEntity};
use super::signature::Signature;
use super::type_ref::DontCare;
use crate::ast::{self, Annotation, Argument, Name, TypeRef, TypeRefKind};
use crate::diagnostic::Diagnostic;
use crate::hir::{Arg, Instance, InstanceId, InstanceOf, Object};
use crate::source::Span;
use crate::types::Type;
use std::rc::Rc;
use std::sync::Arc;

/// Result of a constructor call.
struct Constructed {
    of: InstanceOf,
    ty: Type,
    args: Vec<Arg>,
}

/// The constructors of a type, and their common type parameters.
struct Constructors {
    signatures: Vec<Rc<Signature>>,
    type_params: Vec<crate::types::TypeVar>,
}

impl Checker<'_> {
    /// `Type<type_args>(args)` in an expression position.
    pub(super) fn constructor_call(
        &mut self,
        entity: &TypeEntity,
        type_args: &[TypeRef],
        args: &[Argument],
        span: Span,
    ) -> CallResult {
        let type_args: Vec<Type> =
            type_args.iter().map(|arg| self.type_argument(arg, DontCare::Infer)).collect();
        match self.construct(entity, &type_args, args, span) {
            Some(made) => self.anonymous_instance(made, span),
            None => CallResult::Broken,
        }
    }

    /// `Type<args>(args)` with an explicit type.
    pub(super) fn applied_constructor_call(
        &mut self,
        ty: &Type,
        args: &[Argument],
        span: Span,
    ) -> CallResult {
        let Some((entity, type_args)) = self.entity_of(ty) else {
            self.no_constructor(ty, span);
            return CallResult::Broken;
        };
        match self.construct(&entity, &type_args, args, span) {
            Some(made) => self.anonymous_instance(made, span),
            None => CallResult::Broken,
        }
    }

    fn entity_of(&self, ty: &Type) -> Option<(TypeEntity, Vec<Type>)> {
        Some(match ty {
            Type::Extern(id, args) => (TypeEntity::Extern(*id), args.to_vec()),
            Type::Package(id, args) => (TypeEntity::Package(*id), args.to_vec()),
            Type::Parser(block) => {
                let of = |info: &Rc<BlockInfo>| info.ty.declaration == block.declaration;
                let at = self.parsers.iter().position(of)?;
                (TypeEntity::Parser(crate::hir::ParserId(at as u32)), block.args.clone())
            }
            Type::Control(block) => {
                let of = |info: &Rc<BlockInfo>| info.ty.declaration == block.declaration;
                let at = self.controls.iter().position(of)?;
                (TypeEntity::Control(crate::hir::ControlId(at as u32)), block.args.clone())
            }
            _ => return None,
        })
    }

    fn no_constructor(&mut self, ty: &Type, span: Span) {
        if *ty == Type::Unknown {
            return;
        }
        let message = format!("`{}` has no constructor", self.show(ty));
        self.error(code::INSTANTIATION, span, message);
    }

    fn anonymous_instance(&mut self, made: Constructed, span: Span) -> CallResult {
        if let InstanceOf::Extern { id, .. } = made.of {
            self.check_nothing_abstract(id, span);
        }
        if self.place.kind == ContextKind::Function {
            let message = "nothing can be instantiated in a function";
            self.error(code::INSTANTIATION, span, message);
        }
        let id = InstanceId(self.program.instances.len() as u32);
        let ty = made.ty.clone();
        if self.is_open(&ty) {
            self.open_blocks.push(id);
        }
        self.program.instances.push(Instance {
            name: Arc::from(""),
            of: made.of,
            ty: made.ty,
            args: made.args,
            methods: Vec::new(),
            annotations: Arc::from([]),
            span,
        });
        CallResult::Object(Object::Instance(id), ty)
    }

    /// Checks a constructor's arguments.
    fn construct(
        &mut self,
        entity: &TypeEntity,
        type_args: &[Type],
        args: &[Argument],
        span: Span,
    ) -> Option<Constructed> {
        if let TypeEntity::Plain(ty) = entity {
            return self.construct_named(ty, type_args, args, span);
        }
        let constructors = self.constructors_of(entity, span)?;
        let Constructors { signatures, type_params } = &constructors;
        let written = !type_args.is_empty();
        let type_args = self.constructor_type_args(entity, type_params, type_args, span)?;
        let candidates: Vec<&Signature> = signatures.iter().map(|s| &**s).collect();
        let (chosen, slots) = self.choose(&candidates, args, span)?;
        // The type parameters are the object's, not those of one constructor.
        let signature =
            Signature { type_params: type_params.clone(), ..(*signatures[chosen]).clone() };
        let outer = Substitution::new();
        let is_block = matches!(entity, TypeEntity::Parser(_) | TypeEntity::Control(_));
        let kind = if is_block { CallKind::Block } else { CallKind::Constructor };
        let said = self.diagnostics.len();
        let bound = self.bound_call(&signature, &slots, type_args, &outer, kind, span)?;
        let entity = &self.block_copy(entity, &bound.type_args, span)?;
        let of = match entity {
            TypeEntity::Parser(id) => InstanceOf::Parser(*id),
            TypeEntity::Control(id) => InstanceOf::Control(*id),
            TypeEntity::Package(id) => InstanceOf::Package(*id),
            TypeEntity::Extern(id) => {
                if said == self.diagnostics.len() && !written {
                    self.check_all_inferred(&signature, &bound.type_args, span);
                }
                InstanceOf::Extern { id: *id, constructor: chosen as u32 }
            }
            _ => return None,
        };
        // An instantiated parser or control has its type arguments already.
        let open = self.type_param_count(entity);
        let type_args = if open == 0 { &[] } else { bound.type_args.as_slice() };
        let ty = self.type_of_entity(entity, type_args);
        let ty = self.well_formed(ty, span);
        Some(Constructed { of, ty, args: bound.args })
    }

    /// The constructor of a type with another name: through `typedef` or a type parameter.
    fn construct_named(
        &mut self,
        ty: &Type,
        type_args: &[Type],
        args: &[Argument],
        span: Span,
    ) -> Option<Constructed> {
        let Some((entity, of_type)) = self.entity_of(ty) else {
            self.no_constructor(ty, span);
            return None;
        };
        if !type_args.is_empty() {
            let message = format!("`{}` has its type arguments already", self.show(ty));
            self.error(code::TYPE_ARGUMENTS, span, message);
            return None;
        }
        self.construct(&entity, &of_type, args, span)
    }

    /// The constructors of a type; reports it if there are none.
    fn constructors_of(&mut self, entity: &TypeEntity, span: Span) -> Option<Constructors> {
        let (signatures, type_params) = match entity {
            TypeEntity::Plain(_) => return None,
            TypeEntity::Fields(generic, _) => {
                let message = format!("`{}` has no constructor", generic.body.name);
                self.error(code::INSTANTIATION, span, message);
                return None;
            }
            TypeEntity::BlockType(generic, is_parser) => {
                let (name, kind) =
                    (&generic.body.name, if *is_parser { "parser" } else { "control" });
                let message = format!("`{name}` is only the type of a {kind}: it has no body");
                self.error(code::INSTANTIATION, span, message);
                return None;
            }
            TypeEntity::Parser(id) => {
                let info = &self.parsers[id.index()];
                (vec![info.constructor.clone()], info.type_params.clone())
            }
            TypeEntity::Control(id) => {
                let info = &self.controls[id.index()];
                (vec![info.constructor.clone()], info.type_params.clone())
            }
            TypeEntity::Package(id) => {
                let signature = self.packages[id.index()].clone();
                let params = signature.type_params.clone();
                (vec![signature], params)
            }
            TypeEntity::Extern(id) => {
                let info = self.externs[id.index()].clone();
                if info.constructors.is_empty() {
                    let message = format!("the extern `{}` has no constructor", info.name);
                    let diagnostic = Diagnostic::error(code::INSTANTIATION, span, message);
                    self.report(diagnostic.with_place(info.span, "declared here"));
                    return None;
                }
                (info.constructors.clone(), info.type_params.clone())
            }
        };
        Some(Constructors { signatures, type_params })
    }

    /// Checks that missing type arguments follow from the constructor's arguments.
    fn check_all_inferred(&mut self, signature: &Signature, found: &[Type], span: Span) {
        for (param, found) in signature.type_params.iter().zip(found) {
            if matches!(found, Type::Unknown | Type::InfInt) {
                let message = format!("the type `{}` cannot be inferred", param.name);
                let diagnostic = Diagnostic::error(code::CANNOT_INFER, span, message)
                    .with_place(signature.span, "declared here")
                    .with_help(format!("write it out: `{}<...>(...)`", signature.name));
                self.report(diagnostic);
            }
        }
    }

    /// Reports that the type arguments of a parser or control cannot be inferred.
    fn not_inferred(&mut self, ty: &Type, span: Span) {
        let Some((entity, args)) = self.entity_of(ty) else { return };
        let Some(constructors) = self.constructors_of(&entity, span) else { return };
        let signature = Signature {
            type_params: constructors.type_params,
            ..(*constructors.signatures[0]).clone()
        };
        args.iter().for_each(|arg| self.close(arg));
        let args: Vec<Type> = args.iter().map(|arg| self.resolved(arg)).collect();
        self.check_all_inferred(&signature, &args, span);
    }

    /// Reports parsers and controls whose type arguments were neither given nor inferred.
    pub(super) fn check_open_blocks(&mut self) {
        for id in std::mem::take(&mut self.open_blocks) {
            let Instance { ty, span, .. } = self.program.instances[id.index()].clone();
            if self.is_open(&ty) {
                self.not_inferred(&ty, span);
            }
        }
    }

    /// The object bound to a parameter: a parser or control with type parameters takes those of
    /// this call.
    pub(super) fn default_object(
        &mut self,
        object: Object,
        by: &Substitution,
        span: Span,
    ) -> Object {
        let Object::Instance(id) = object else { return object };
        let instance = self.program.instances[id.index()].clone();
        let ty = self.resolved(&substitute(&instance.ty, by));
        if ty == instance.ty {
            return object;
        }
        let Some((entity, args)) = self.entity_of(&ty) else { return object };
        if args.contains(&Type::Unknown) {
            let message =
                format!("the types of the default `{}` cannot be inferred", self.show(&ty));
            let diagnostic = Diagnostic::error(code::CANNOT_INFER, span, message);
            self.report(diagnostic.with_help("write the type arguments out"));
            return object;
        }
        let of = match self.block_copy(&entity, &args, span) {
            Some(TypeEntity::Parser(id)) => InstanceOf::Parser(id),
            Some(TypeEntity::Control(id)) => InstanceOf::Control(id),
            _ => return object,
        };
        let id = InstanceId(self.program.instances.len() as u32);
        self.program.instances.push(Instance { of, ty, ..instance });
        Object::Instance(id)
    }

    /// Type arguments as given, or open ones to be inferred.
    fn constructor_type_args(
        &mut self,
        entity: &TypeEntity,
        type_params: &[crate::types::TypeVar],
        given: &[Type],
        span: Span,
    ) -> Option<Vec<Type>> {
        if given.is_empty() {
            return Some(type_params.iter().map(|param| self.fresh(&param.name)).collect());
        }
        match self.apply_type(entity, given, span) {
            Type::Unknown => None,
            _ => Some(given.to_vec()),
        }
    }

    /// `Type(args) name;` or `Type(args) name = { ... };`
    pub(super) fn instantiation(
        &mut self,
        ty: &TypeRef,
        args: &[Argument],
        name: &Name,
        body: Option<&[ast::Declaration]>,
        annotations: &[Annotation],
    ) -> Option<InstanceId> {
        let span = ty.span.to(name.span);
        let broken = |checker: &mut Self| {
            checker.declare(name, Entity::Broken);
            None
        };
        let Some((entity, type_args)) = self.instantiated_type(ty) else { return broken(self) };
        let made = self.construct(&entity, &type_args, args, span);
        let Some(made) = made else { return broken(self) };
        self.check_instantiation_place(&made.of, span);
        if self.is_open(&made.ty) {
            self.not_inferred(&made.ty, span);
        }
        let id = InstanceId(self.program.instances.len() as u32);
        self.program.instances.push(Instance {
            name: name.text.clone(),
            of: made.of.clone(),
            ty: made.ty.clone(),
            args: made.args,
            methods: Vec::new(),
            annotations: annotations.to_vec().into(),
            span: name.span,
        });
        let methods = self.initializer(&made.of, &made.ty, body, name);
        self.program.instances[id.index()].methods = methods;
        self.declare(name, Entity::Instance(id));
        match self.block.kind {
            BlockKind::None => self.program.top_level.push(id),
            _ => self.block.instances.push(id),
        }
        Some(id)
    }

    /// The type of an instantiation; without type arguments they are inferred.
    fn instantiated_type(&mut self, written: &TypeRef) -> Option<(TypeEntity, Vec<Type>)> {
        match &written.kind {
            TypeRefKind::Named { name, global } => {
                Some((self.type_entity(name, *global)?, Vec::new()))
            }
            TypeRefKind::Specialized { name, global, args } => {
                let entity = self.type_entity(name, *global)?;
                let args =
                    args.iter().map(|arg| self.type_argument(arg, DontCare::Infer)).collect();
                Some((entity, args))
            }
            _ => {
                let ty = self.resolve_type(written);
                self.no_constructor(&ty, written.span);
                None
            }
        }
    }

    /// Appendix F: checks that a type may be instantiated in this context.
    fn check_instantiation_place(&mut self, of: &InstanceOf, span: Span) {
        let what = match of {
            InstanceOf::Parser(_) => "a parser",
            InstanceOf::Control(_) => "a control",
            InstanceOf::Package(_) => "a package",
            InstanceOf::Extern { .. } => "an extern",
        };
        let place = match (self.place.kind, self.block.kind) {
            (ContextKind::Function | ContextKind::Method, _) => "a function",
            (ContextKind::Action, _) => "an action",
            (_, BlockKind::None) => "the top level",
            (_, BlockKind::Parser) => "a parser",
            (_, BlockKind::Control(_)) => "a control",
        };
        let allowed = match of {
            InstanceOf::Parser(_) => place == "a parser",
            InstanceOf::Control(_) => place == "a control",
            InstanceOf::Package(_) => place == "the top level",
            InstanceOf::Extern { .. } => !matches!(place, "a function" | "an action"),
        };
        if !allowed {
            let message = format!("{what} cannot be instantiated in {place}");
            self.error(code::INSTANTIATION, span, message);
        }
    }

    /// The instance created by `Type.apply()`.
    pub(super) fn direct_instance(
        &mut self,
        entity: &TypeEntity,
        span: Span,
    ) -> Option<(Object, Type)> {
        let made = self.construct(entity, &[], &[], span)?;
        let name = match &made.ty {
            Type::Parser(block) | Type::Control(block) => block.name.clone(),
            _ => return None,
        };
        let id = InstanceId(self.program.instances.len() as u32);
        let ty = made.ty.clone();
        self.program.instances.push(Instance {
            name,
            of: made.of,
            ty: made.ty,
            args: made.args,
            methods: Vec::new(),
            annotations: Arc::from([]),
            span,
        });
        if self.block.kind != BlockKind::None {
            self.block.instances.push(id);
        }
        Some((Object::Instance(id), ty))
    }

    /// Checks that there is an instance called `main`, without which the program cannot run.
    pub(super) fn check_main(&mut self) {
        let Some(found) = self.scopes.find("main", true).cloned() else {
            return;
        };
        let Entity::Instance(id) = found.entity else {
            if matches!(found.entity, Entity::Type(_)) {
                let message = format!("`main` is {}", found.entity.kind());
                let diagnostic = Diagnostic::error(code::MAIN, found.span, message);
                self.report(diagnostic.with_help("`main` names the package that is the program"));
            }
            return;
        };
        if matches!(self.program.instances[id.index()].of, InstanceOf::Package(_)) {
            self.program.main = Some(id);
        } else {
            self.error(code::MAIN, found.span, "`main` must be an instance of a package");
        }
    }
}

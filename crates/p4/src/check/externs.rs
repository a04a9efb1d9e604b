//! Extern objects and functions: declarations without bodies (specification 7.2.10).

use super::Checker;
use super::messages::code;
use super::scope::{Entity, FunctionRef, TypeEntity};
use super::signature::{ParamsOf, Signature};
use crate::ast::{self, Annotation, Method, Name, Prototype};
use crate::diagnostic::Diagnostic;
use crate::hir::{self, ExternFunctionId};
use crate::types::{ExternId, Type, TypeVar};
use std::rc::Rc;
use std::sync::Arc;

/// A declared extern object.
pub(super) struct ExternInfo {
    pub name: Arc<str>,
    pub type_params: Vec<TypeVar>,
    pub constructors: Vec<Rc<Signature>>,
    /// Methods; overloads are separate.
    pub methods: Vec<Rc<Signature>>,
    /// For each method, whether it is abstract.
    pub is_abstract: Vec<bool>,
    pub span: crate::source::Span,
}

impl Checker<'_> {
    /// `extern Name<T> { ... }`
    pub(super) fn declare_extern(
        &mut self,
        name: &Name,
        type_params: &[Name],
        methods: &[Method],
        annotations: &[Annotation],
    ) {
        // The methods may take instances of the extern itself.
        let id = ExternId(self.program.externs.len() as u32);
        let vars: Vec<TypeVar> = type_params.iter().map(|name| self.rigid(&name.text)).collect();
        let mut info = ExternInfo {
            name: name.text.clone(),
            type_params: vars.clone(),
            constructors: Vec::new(),
            methods: Vec::new(),
            is_abstract: Vec::new(),
            span: name.span,
        };
        self.externs.push(Rc::new(ExternInfo { type_params: vars.clone(), ..info.empty() }));
        self.program.externs.push(hir::ExternObject {
            name: name.text.clone(),
            type_params: type_params.iter().map(|name| name.text.clone()).collect(),
            constructors: Vec::new(),
            methods: Vec::new(),
            annotations: annotations.to_vec().into(),
            span: name.span,
        });
        self.declare(name, Entity::Type(TypeEntity::Extern(id)));
        self.scopes.push();
        self.check_distinct("the type parameter", type_params);
        for (var, name) in vars.iter().zip(type_params) {
            let entity = Entity::Type(TypeEntity::Plain(Type::Var(var.clone())));
            self.scopes.set(name.text.clone(), entity, name.span);
        }
        for method in methods {
            self.extern_method(&mut info, name, method);
        }
        self.check_takes_not_itself(id, &info);
        self.scopes.pop();
        self.finish_extern(id, info, methods);
    }

    fn extern_method(&mut self, info: &mut ExternInfo, name: &Name, method: &Method) {
        let prototype = &method.prototype;
        if method.is_constructor {
            if let Some(param) = prototype.type_params.first() {
                let message = "a constructor has no type parameters of its own";
                self.error(code::TYPE_ARGUMENTS, param.span, message);
            }
            let signature = self.prototype(prototype, ParamsOf::ExternConstructor);
            self.check_same_shape(&info.constructors, &signature);
            info.constructors.push(Rc::new(signature));
            return;
        }
        if prototype.name.text == name.text {
            let message = "a method cannot have the name of its extern";
            self.error(code::DUPLICATE_NAME, prototype.name.span, message);
        }
        let signature = self.prototype(prototype, ParamsOf::Extern);
        let of_name: Vec<Rc<Signature>> =
            info.methods.iter().filter(|other| other.name == signature.name).cloned().collect();
        self.check_same_shape(&of_name, &signature);
        info.methods.push(Rc::new(signature));
        info.is_abstract.push(method.is_abstract);
    }

    /// Checks that no method takes the extern itself, which is known only behind its declaration.
    fn check_takes_not_itself(&mut self, id: ExternId, info: &ExternInfo) {
        for method in info.methods.iter().chain(&info.constructors) {
            let itself =
                method.params.iter().find(|p| matches!(p.ty, Type::Extern(of, _) if of == id));
            if let Some(param) = itself {
                let message =
                    format!("`{}` uses itself: a method takes a `{}`", info.name, info.name);
                let diagnostic = Diagnostic::error(code::RECURSION, param.span, message)
                    .with_place(info.span, "the extern whose declaration has not ended");
                self.report(diagnostic);
            }
        }
    }

    /// Checks that overloads differ in the number or names of their parameters.
    fn check_same_shape(&mut self, others: &[Rc<Signature>], new: &Signature) {
        let same = others.iter().find(|other| same_shape(other, new));
        if let Some(same) = same {
            let message = format!("`{}` is declared twice with the same parameter names", new.name);
            let diagnostic = Diagnostic::error(code::DUPLICATE_NAME, new.span, message)
                .with_place(same.span, "first declared here");
            self.report(diagnostic);
        }
    }

    fn finish_extern(&mut self, id: ExternId, info: ExternInfo, methods: &[Method]) {
        methods.iter().for_each(|method| self.check_annotations(&method.annotations));
        let of_methods = methods.iter().filter(|method| !method.is_constructor);
        let object = &mut self.program.externs[id.index()];
        object.constructors = info.constructors.iter().map(|s| s.to_hir()).collect();
        object.methods = info
            .methods
            .iter()
            .zip(&info.is_abstract)
            .zip(of_methods)
            .map(|((signature, is_abstract), method)| hir::ExternMethod {
                name: signature.name.clone(),
                is_abstract: *is_abstract,
                signature: signature.to_hir(),
                annotations: method.annotations.clone().into(),
            })
            .collect();
        self.externs[id.index()] = Rc::new(info);
    }

    /// `extern R name<T>(params);`
    pub(super) fn declare_extern_function(
        &mut self,
        prototype: &Prototype,
        declaration: &ast::Declaration,
    ) {
        let signature = Rc::new(self.prototype(prototype, ParamsOf::Extern));
        let id = ExternFunctionId(self.program.extern_functions.len() as u32);
        self.program.extern_functions.push(hir::ExternFunction {
            name: prototype.name.text.clone(),
            signature: signature.to_hir(),
            annotations: declaration.annotations.clone().into(),
            span: prototype.name.span,
        });
        self.extern_functions.push(signature);
        self.declare_overload(&prototype.name, FunctionRef::Extern(id));
    }

    /// Adds a function to the overloads of its name.
    pub(super) fn declare_overload(&mut self, name: &Name, function: FunctionRef) {
        let Some(previous) = self.scopes.here(&name.text).cloned() else {
            self.declare(name, Entity::Functions(Rc::from([function])));
            return;
        };
        let Entity::Functions(others) = previous.entity else {
            self.declare(name, Entity::Functions(Rc::from([function])));
            return;
        };
        let new = self.function_signature(function);
        let signatures: Vec<Rc<Signature>> =
            others.iter().map(|other| self.function_signature(*other)).collect();
        if let Some(same) = signatures.iter().find(|other| same_shape(other, &new)) {
            self.duplicate(name, same.span);
            return;
        }
        let all: Rc<[FunctionRef]> = others.iter().copied().chain([function]).collect();
        self.scopes.set(name.text.clone(), Entity::Functions(all), previous.span);
    }

    /// Parameters of a function.
    pub(super) fn function_signature(&self, function: FunctionRef) -> Rc<Signature> {
        match function {
            FunctionRef::Defined(index) => self.functions[index].signature.clone(),
            FunctionRef::Extern(id) => self.extern_functions[id.index()].clone(),
        }
    }
}

impl ExternInfo {
    fn empty(&self) -> ExternInfo {
        ExternInfo {
            name: self.name.clone(),
            type_params: Vec::new(),
            constructors: Vec::new(),
            methods: Vec::new(),
            is_abstract: Vec::new(),
            span: self.span,
        }
    }
}

/// True if no call could distinguish the two: as many parameters, of the same names.
fn same_shape(a: &Signature, b: &Signature) -> bool {
    a.params.len() == b.params.len()
        && a.params.iter().zip(&b.params).all(|(a, b)| a.name == b.name)
}

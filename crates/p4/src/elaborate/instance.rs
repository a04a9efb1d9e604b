//! Instances: packages, units, extern objects, and their names for the control plane
//! (specification chapter 18.3).

use super::constant::Constant;
use super::layout::LayoutUse;
use super::{Binding, Elaborator, ExitTarget, MAX_DEPTH, ReturnTarget, Scope, UnitState};
use super::{annotated_name, value};
use crate::ast::{Annotation, Direction};
use crate::declared::SourceOrder;
use crate::hir::{self, InstanceId, InstanceOf, VarId, VarKind};
use crate::ir::{self, Body, Label, Layout, ObjectArg, ObjectId, PackageArg, Param, StmtKind};
use crate::ir::{Scalar, UnitId};
use crate::source::Span;
use crate::types::Type;
use std::sync::Arc;

/// The full name of something called `local` within `outer`.
pub(super) fn full_name(outer: &str, local: &str, annotations: &[Annotation]) -> String {
    let named = annotated_name(annotations);
    let local = named.as_deref().unwrap_or(local);
    match local.strip_prefix('.') {
        Some(absolute) => absolute.to_owned(),
        None if outer.is_empty() => local.to_owned(),
        None => format!("{outer}.{local}"),
    }
}

impl Elaborator<'_> {
    /// A package and its arguments.
    pub(super) fn package(&mut self, id: InstanceId, depth: usize) -> Option<ir::Package> {
        if let Some(done) = self.packages.get(&id) {
            return Some(done.clone());
        }
        let hir = self.hir;
        let instance = &hir.instances[id.index()];
        let InstanceOf::Package(of) = instance.of else {
            self.error("E1308", instance.span, "`main` must be an instance of a package");
            return None;
        };
        if depth > MAX_DEPTH {
            self.error("E1311", instance.span, "packages within packages never end");
            return None;
        }
        let package = &hir.packages[of.index()];
        let mut args = Vec::new();
        for (param, arg) in package.signature.params.iter().zip(&instance.args) {
            let lowered = self.package_arg(arg, &instance.name, depth);
            args.push((param.name.clone(), lowered));
        }
        let done = ir::Package {
            of: package.name.clone(),
            architecture: package.architecture(),
            name: instance.name.clone(),
            args,
            annotations: instance.annotations.clone(),
            span: instance.span,
        };
        self.packages.insert(id, done.clone());
        Some(done)
    }

    fn package_arg(&mut self, arg: &hir::Arg, package: &str, depth: usize) -> PackageArg {
        match arg {
            hir::Arg::Object(hir::Object::Instance(id)) => {
                let lowered = match self.hir.instances[id.index()].of {
                    InstanceOf::Package(_) => self.package(*id, depth + 1).map(PackageArg::Package),
                    InstanceOf::Extern { .. } => self.top_object(*id).map(PackageArg::Object),
                    InstanceOf::Parser(_) | InstanceOf::Control(_) => {
                        self.unit(*id, package).map(PackageArg::Unit)
                    }
                };
                lowered.unwrap_or(PackageArg::Absent)
            }
            hir::Arg::In(expr) => match self.must_know(expr, "a package's argument") {
                Some(known) => PackageArg::Const(known.constant(&expr.ty)),
                None => PackageArg::Absent,
            },
            _ => PackageArg::Absent,
        }
    }

    /// A parser or control with a frame of its own.
    fn unit(&mut self, id: InstanceId, package: &str) -> Option<UnitId> {
        if let Some(done) = self.units.get(&id) {
            return Some(*done);
        }
        let instance = &self.hir.instances[id.index()];
        let unit = UnitId(self.out.units.len() as u32);
        self.units.insert(id, unit);
        let (name, annotations) = self.declared(&instance.of)?;
        self.out.units.push(ir::Unit {
            name: name.clone(),
            params: Vec::new(),
            slots: Vec::new(),
            wide_slots: Vec::new(),
            body: Body::Control { exit_label: Label(0), stmts: Vec::new() },
            annotations: annotations.clone(),
            span: instance.span,
        });
        // Two pipelines may use one control: then the package's name distinguishes its tables. The
        // `@name` of a control or parser of a package is not part of its tables' names.
        let mut full = name.to_string();
        if self.out.units[..unit.index()].iter().any(|other| other.name == name) {
            full = full_name(package, &full, &[]);
        }
        self.unit = UnitState { id: Some(unit), ..UnitState::default() };
        let scope = self.instantiate(id, full, 0)?;
        self.enter_unit(scope, unit);
        Some(unit)
    }

    fn declared(&self, of: &InstanceOf) -> Option<(Arc<str>, Arc<[Annotation]>)> {
        match of {
            InstanceOf::Parser(id) => {
                let parser = &self.hir.parsers[id.index()];
                Some((parser.name.clone(), parser.annotations.clone()))
            }
            InstanceOf::Control(id) => {
                let control = &self.hir.controls[id.index()];
                Some((control.name.clone(), control.annotations.clone()))
            }
            _ => None,
        }
    }

    /// Lowers the body of a unit whose outermost scope exists.
    fn enter_unit(&mut self, scope: usize, unit: UnitId) {
        let hir = self.hir;
        let label = self.label();
        self.unit.exit = Some(ExitTarget { label, flagged: false });
        let (params, span) = match self.unit.scopes[scope].of {
            Some(InstanceOf::Parser(id)) => {
                (&hir.parsers[id.index()].params, hir.parsers[id.index()].span)
            }
            Some(InstanceOf::Control(id)) => {
                (&hir.controls[id.index()].params, hir.controls[id.index()].span)
            }
            _ => return,
        };
        let params = self.unit_params(params, scope);
        let mut init = self.nested(|this| {
            for param in &params {
                if param.direction == Direction::Out {
                    this.invalidate(&param.layout, span);
                }
            }
        });
        self.enter(scope);
        let body = match self.unit.scopes[scope].of {
            Some(InstanceOf::Parser(id)) => {
                let mut body = self.parser_body(&hir.parsers[id.index()]);
                init.append(&mut body.init);
                body.init = init;
                Body::Parser(body)
            }
            Some(InstanceOf::Control(id)) => {
                let control = &hir.controls[id.index()];
                let mut stmts = self.nested(|this| this.control_body(control, span));
                if let Some(flag) = self.unit.exit_flag {
                    let clear = StmtKind::Set(flag, value::truth(false, span));
                    init.push(ir::Stmt { kind: clear, span });
                }
                init.append(&mut stmts);
                Body::Control { exit_label: label, stmts: init }
            }
            _ => return,
        };
        let done = &mut self.out.units[unit.index()];
        done.params = params;
        done.span = span;
        done.slots = std::mem::take(&mut self.unit.slots);
        done.wide_slots = std::mem::take(&mut self.unit.wide_slots);
        done.body = body;
    }

    fn unit_params(&mut self, params: &[VarId], scope: usize) -> Vec<Param> {
        let mut done = Vec::new();
        for &id in params {
            let var = self.var(id);
            let direction = direction_of(var);
            let layout = match super::plain(&var.ty) {
                Type::Extern(of, args) => {
                    let binding = self.given_object(id, of.index(), args, scope);
                    self.bindings.insert(id, binding);
                    Layout::Object
                }
                _ => {
                    let purpose = LayoutUse { temporary: false, span: var.span };
                    let layout = self.allocate(&var.ty, &var.name, purpose);
                    self.unit.scopes[scope].vars.insert(id, layout.clone());
                    self.bindings.insert(id, Binding::Place(layout.clone()));
                    layout
                }
            };
            let (name, ty) = (var.name.clone(), var.ty.clone());
            done.push(Param { name, direction, ty, layout });
        }
        done
    }

    /// An object that the architecture passes to a unit.
    fn given_object(&mut self, id: VarId, of: usize, args: &[Type], scope: usize) -> Binding {
        let name = &self.hir.externs[of].name;
        if matches!(&**name, "packet_in" | "packet_out") {
            return Binding::Packet;
        }
        let var = self.var(id);
        let object = ir::Object {
            of: name.clone(),
            type_args: args.to_vec(),
            name: full_name(&self.unit.scopes[scope].name, &var.name, &var.annotations).into(),
            unit: self.unit.id,
            constructor: 0,
            args: Vec::new(),
            methods: Vec::new(),
            annotations: var.annotations.clone(),
            span: var.span,
        };
        Binding::Object(self.add_object(object))
    }

    fn add_object(&mut self, object: ir::Object) -> ObjectId {
        let place = match object.unit {
            Some(_) => self.standing(object.span),
            None => SourceOrder { unit: None, path: vec![object.span.start] },
        };
        self.out.declared.objects.push(place);
        self.out.objects.push(object);
        ObjectId(self.out.objects.len() as u32 - 1)
    }

    /// Creates the scope of a parser or control instance, with all its declarations.
    fn instantiate(&mut self, id: InstanceId, name: String, depth: usize) -> Option<usize> {
        let hir = self.hir;
        let instance = &hir.instances[id.index()];
        if depth > MAX_DEPTH {
            self.error("E1311", instance.span, "instances within instances never end");
            return None;
        }
        if !self.may_inline(instance.span) {
            return None;
        }
        let (constructor_params, inner) = match instance.of {
            InstanceOf::Parser(id) => {
                let parser = &hir.parsers[id.index()];
                (&parser.constructor_params, &parser.instances)
            }
            InstanceOf::Control(id) => {
                let control = &hir.controls[id.index()];
                (&control.constructor_params, &control.instances)
            }
            _ => return None,
        };
        let mut constants = Vec::new();
        for (param, arg) in constructor_params.iter().zip(&instance.args) {
            let local = &self.var(*param).name;
            if let Some(binding) = self.constructor_arg(arg, &name, local, depth) {
                constants.push((*param, binding));
            }
        }
        self.bindings.extend(constants.iter().cloned());
        let scope = self.unit.scopes.len();
        let of = Some(instance.of.clone());
        let path = if depth > 0 { self.standing(instance.span).path } else { Vec::new() };
        self.unit.scopes.push(Scope { of, name, constants, depth, path, ..Scope::default() });
        for &inner in inner {
            self.member(inner, scope);
        }
        Some(scope)
    }

    fn constructor_arg(
        &mut self,
        arg: &hir::Arg,
        name: &str,
        local: &str,
        depth: usize,
    ) -> Option<Binding> {
        match arg {
            hir::Arg::In(expr) => {
                self.must_know(expr, "a constructor's argument").map(Binding::Constant)
            }
            hir::Arg::Object(hir::Object::Instance(id)) if self.unnamed(*id) => {
                self.make(*id, full_name(name, local, &[]), depth + 1)
            }
            hir::Arg::Object(object) => self.resolve(object, Span::DUMMY),
            _ => None,
        }
    }

    fn unnamed(&self, id: InstanceId) -> bool {
        self.hir.instances[id.index()].name.is_empty()
    }

    /// A declaration in a scope.
    fn member(&mut self, id: InstanceId, scope: usize) -> Option<Binding> {
        if let Some(done) = self.unit.scopes[scope].members.get(&id) {
            return Some(done.clone());
        }
        let instance = &self.hir.instances[id.index()];
        let (outer, depth) = (&self.unit.scopes[scope].name, self.unit.scopes[scope].depth);
        let name = full_name(outer, &instance.name, &instance.annotations);
        // Members are resolved in their own scope.
        let caller = std::mem::replace(&mut self.unit.current, scope);
        let made = self.make(id, name, depth + 1);
        self.unit.current = caller;
        if let Some(made) = &made {
            self.unit.scopes[scope].members.insert(id, made.clone());
        }
        made
    }

    fn make(&mut self, id: InstanceId, name: String, depth: usize) -> Option<Binding> {
        match self.hir.instances[id.index()].of {
            InstanceOf::Extern { .. } => self.object(id, name, self.unit.id).map(Binding::Object),
            InstanceOf::Parser(_) | InstanceOf::Control(_) => {
                self.instantiate(id, name, depth).map(Binding::Block)
            }
            InstanceOf::Package(_) => None,
        }
    }

    /// An extern object at top level.
    pub(super) fn top_object(&mut self, id: InstanceId) -> Option<ObjectId> {
        if let Some(done) = self.top_objects.get(&id) {
            return Some(*done);
        }
        let instance = &self.hir.instances[id.index()];
        let name = full_name("", &instance.name, &instance.annotations);
        let object = self.object(id, name, None)?;
        self.top_objects.insert(id, object);
        Some(object)
    }

    /// An extern object; its methods are lowered once its scope is entered.
    fn object(&mut self, id: InstanceId, name: String, unit: Option<UnitId>) -> Option<ObjectId> {
        let hir = self.hir;
        let instance = &hir.instances[id.index()];
        let InstanceOf::Extern { id: of, constructor } = instance.of else { return None };
        let declaration = &hir.externs[of.index()];
        let params = declaration.constructors.get(constructor as usize).map(|c| &c.params[..]);
        let mut args = Vec::new();
        for (at, arg) in instance.args.iter().enumerate() {
            let param = params.and_then(|params| params.get(at));
            let local = param.map_or_else(|| Arc::from(""), |param| param.name.clone());
            let lowered = self.object_arg(arg, &name, &local);
            args.push((local, lowered));
        }
        let type_args = match super::plain(&instance.ty) {
            Type::Extern(_, args) => args.to_vec(),
            _ => Vec::new(),
        };
        Some(self.add_object(ir::Object {
            of: declaration.name.clone(),
            type_args,
            name: name.into(),
            unit,
            constructor,
            args,
            methods: Vec::new(),
            annotations: instance.annotations.clone(),
            span: instance.span,
        }))
    }

    /// An argument of an object's constructor, or the value of a table's property.
    pub(super) fn object_arg(&mut self, arg: &hir::Arg, name: &str, local: &str) -> ObjectArg {
        match arg {
            hir::Arg::In(expr) => match self.must_know(expr, "a constructor's argument") {
                Some(known) => ObjectArg::Const(known.constant(&expr.ty)),
                None => ObjectArg::Absent,
            },
            hir::Arg::Object(hir::Object::Instance(id)) if self.unnamed(*id) => {
                let name = full_name(name, local, &[]);
                match self.object(*id, name, self.unit.id) {
                    Some(object) => ObjectArg::Object(object),
                    None => ObjectArg::Absent,
                }
            }
            hir::Arg::Object(object) => match self.resolve(object, Span::DUMMY) {
                Some(Binding::Object(object)) => ObjectArg::Object(object),
                _ => ObjectArg::Absent,
            },
            _ => ObjectArg::Absent,
        }
    }

    /// The value of a table's property; an object created in it has the property's name and
    /// annotations.
    pub(super) fn object_of_property(
        &mut self,
        arg: &hir::Arg,
        name: &str,
        annotations: &Arc<[Annotation]>,
    ) -> ObjectArg {
        match arg {
            hir::Arg::Object(hir::Object::Instance(id)) if self.unnamed(*id) => {
                let name = name.strip_prefix('.').unwrap_or(name).to_owned();
                let Some(object) = self.object(*id, name, self.unit.id) else {
                    return ObjectArg::Absent;
                };
                self.out.objects[object.index()].annotations = annotations.clone();
                ObjectArg::Object(object)
            }
            other => self.object_arg(other, name, ""),
        }
    }

    /// Binding that an object's name denotes.
    pub(super) fn resolve(&mut self, object: &hir::Object, span: Span) -> Option<Binding> {
        let found = match object {
            hir::Object::Instance(id) => self.resolve_instance(*id, span),
            hir::Object::Param(id) => self.bindings.get(id).cloned(),
            hir::Object::This => self.unit.this.map(Binding::Object),
        };
        if found.is_none() && self.diagnostics.is_empty() {
            self.error("E1307", span, "this object is not there when the program runs");
        }
        found
    }

    fn resolve_instance(&mut self, id: InstanceId, span: Span) -> Option<Binding> {
        if self.unit.scopes.is_empty() || self.hir.top_level.contains(&id) {
            let object = self.top_object(id)?;
            self.top_methods(id, object, span);
            return Some(Binding::Object(object));
        }
        self.member(id, self.unit.current)
    }

    /// Methods of a top-level object are placed in the frame of the only unit that uses it.
    fn top_methods(&mut self, id: InstanceId, object: ObjectId, span: Span) {
        let instance = &self.hir.instances[id.index()];
        let Some(unit) = self.unit.id.filter(|_| !instance.methods.is_empty()) else { return };
        match self.out.objects[object.index()].unit {
            None => {
                self.out.objects[object.index()].unit = Some(unit);
                self.methods(id, object);
            }
            Some(owner) if owner == unit => {}
            Some(_) => {
                let message = format!(
                    "`{}` has methods and is used by two parsers or controls",
                    instance.name
                );
                let diagnostic = crate::diagnostic::Diagnostic::error("E1309", span, message)
                    .with_place(instance.span, "declared at top level")
                    .with_help("declare one object in each of them");
                self.report(diagnostic);
            }
        }
    }

    /// Makes a scope the current one; returns the previous one.
    pub(super) fn enter(&mut self, scope: usize) -> usize {
        let hir = self.hir;
        let caller = std::mem::replace(&mut self.unit.current, scope);
        let constants = self.scope().constants.clone();
        self.bindings.extend(constants);
        let (init, instances) = match self.scope().of {
            Some(InstanceOf::Control(id)) => {
                let control = &hir.controls[id.index()];
                (&control.init, &control.instances)
            }
            Some(InstanceOf::Parser(id)) => {
                let parser = &hir.parsers[id.index()];
                (&parser.init, &parser.instances)
            }
            _ => return caller,
        };
        for stmt in init {
            if let hir::StmtKind::Declare(id, _) = &stmt.kind
                && !matches!(
                    super::plain(self.var_type(*id)),
                    Type::InfInt | Type::String | Type::List(_)
                )
            {
                self.local(*id);
            }
        }
        if !std::mem::replace(&mut self.scope_mut().entered, true) {
            for &id in instances {
                if let Some(Binding::Object(object)) = self.scope().members.get(&id).cloned() {
                    self.methods(id, object);
                }
            }
        }
        caller
    }

    /// Lowers the methods that an instantiation implements.
    fn methods(&mut self, id: InstanceId, object: ObjectId) {
        let instance = &self.hir.instances[id.index()];
        let mut methods = Vec::new();
        for method in &instance.methods {
            methods.push(self.method(&method.function, object));
        }
        self.out.objects[object.index()].methods = methods;
    }

    fn method(&mut self, function: &hir::Function, object: ObjectId) -> ir::Method {
        let mut params = Vec::new();
        for &id in &function.params {
            let var = self.var(id);
            let name = format!("{}.{}", function.name, var.name);
            let purpose = LayoutUse { temporary: false, span: var.span };
            let layout = self.allocate(&var.ty, &name, purpose);
            self.bindings.insert(id, Binding::Place(layout.clone()));
            let direction = direction_of(var);
            params.push(Param { name: var.name.clone(), direction, ty: var.ty.clone(), layout });
        }
        let gives = function.returns != Type::Void;
        let returns = gives.then(|| self.temporary(&function.returns, function.span));
        let label = self.label();
        let this = self.unit.this.replace(object);
        let in_method = std::mem::replace(&mut self.unit.in_method, true);
        let exit = self.unit.exit.take();
        let outer = std::mem::take(&mut self.unit.returns);
        self.unit.returns.push(ReturnTarget { label, result: returns.clone() });
        let body = self.nested(|this| {
            let body = this.nested(|this| this.statements(&function.body));
            this.close_block(label, body, function.span);
        });
        self.unit.returns = outer;
        self.unit.exit = exit;
        self.unit.in_method = in_method;
        self.unit.this = this;
        ir::Method { name: function.name.clone(), params, returns, body, span: function.span }
    }

    /// A value set of the current scope.
    pub(super) fn value_set(&mut self, id: hir::ValueSetId) -> Option<ir::ValueSetId> {
        if let Some(done) = self.scope().value_sets.get(&id) {
            return Some(*done);
        }
        let set = &self.hir.value_sets[id.index()];
        let size = match self.must_know(&set.size, "the size of a value set")? {
            Constant::Int(size) => u64::try_from(size).unwrap_or(u64::MAX),
            _ => 0,
        };
        let mut columns = Vec::new();
        columns_of(&set.element, "exact", &mut columns);
        let name = full_name(&self.scope().name, &set.name, &set.annotations).into();
        self.declare_value_set(set);
        self.out.value_sets.push(ir::ValueSet { name, columns, size, span: set.span });
        let done = ir::ValueSetId(self.out.value_sets.len() as u32 - 1);
        self.scope_mut().value_sets.insert(id, done);
        Some(done)
    }
}

/// The scalars of a value set's element, each with its match kind.
fn columns_of(ty: &Type, kind: &str, out: &mut Vec<(Scalar, Arc<str>)>) {
    match super::plain(ty) {
        Type::Struct(of) | Type::Header(of) => {
            for field in &of.fields {
                let matched = field.annotations.iter().find(|a| &*a.name.text == "match");
                let written = matched.and_then(|annotation| match &annotation.body {
                    crate::ast::AnnotationBody::Tokens(tokens) => {
                        tokens.first().map(|token| token.text.clone())
                    }
                    _ => None,
                });
                columns_of(&field.ty, written.as_deref().unwrap_or(kind), out);
            }
        }
        Type::Tuple(types) => types.iter().for_each(|ty| columns_of(ty, kind, out)),
        other => {
            if let Some(scalar) = super::components::scalar(other) {
                out.push((scalar, kind.into()));
            }
        }
    }
}

fn direction_of(var: &hir::Var) -> Direction {
    match var.kind {
        VarKind::Parameter(direction) => direction,
        _ => Direction::None,
    }
}

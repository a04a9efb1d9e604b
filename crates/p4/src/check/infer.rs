//! Type variables: substitution of type arguments, and inference by unification.
//!
//! A type variable is either rigid (a parameter of the generic declaration being checked) or an
//! inference variable (created for one call, listed in `Checker::bindings`). Two types that an
//! implicit cast could make equal count as matching here; `convert` then makes the cast.

use super::Checker;
use crate::types::{BlockType, FieldType, FieldsType, Type, TypeVar};
use std::collections::HashMap;
use std::sync::Arc;

/// Type arguments by the number of their parameter.
pub(super) type Substitution = HashMap<u32, Type>;

/// True if the type contains a type variable of any kind.
pub(super) fn has_vars(ty: &Type) -> bool {
    match ty {
        Type::Var(_) => true,
        Type::Stack(t, _) | Type::List(t) | Type::Set(t) => has_vars(t),
        Type::Tuple(args) | Type::Extern(_, args) | Type::Package(_, args) => {
            args.iter().any(has_vars)
        }
        Type::Struct(f) | Type::Header(f) | Type::HeaderUnion(f) => {
            f.args.iter().any(has_vars)
                || (f.name.is_empty() && f.fields.iter().any(|field| has_vars(&field.ty)))
        }
        Type::Parser(b) | Type::Control(b) => b.args.iter().any(has_vars),
        _ => false,
    }
}

/// The type with each variable replaced by the result of `replace`, if any.
pub(super) fn map_vars(ty: &Type, replace: &mut dyn FnMut(&TypeVar) -> Option<Type>) -> Type {
    if !has_vars(ty) {
        return ty.clone();
    }
    let mut list =
        |args: &[Type]| -> Vec<Type> { args.iter().map(|arg| map_vars(arg, replace)).collect() };
    match ty {
        Type::Tuple(args) => Type::Tuple(list(args).into()),
        Type::Extern(id, args) => Type::Extern(*id, list(args).into()),
        Type::Package(id, args) => Type::Package(*id, list(args).into()),
        Type::Var(var) => replace(var).unwrap_or_else(|| ty.clone()),
        Type::Stack(t, n) => Type::Stack(Arc::new(map_vars(t, replace)), *n),
        Type::List(t) => Type::List(Arc::new(map_vars(t, replace))),
        Type::Set(t) => Type::Set(Arc::new(map_vars(t, replace))),
        Type::Struct(f) => Type::Struct(map_fields(f, replace)),
        Type::Header(f) => Type::Header(map_fields(f, replace)),
        Type::HeaderUnion(f) => Type::HeaderUnion(map_fields(f, replace)),
        Type::Parser(b) => Type::Parser(map_block(b, replace)),
        Type::Control(b) => Type::Control(map_block(b, replace)),
        other => other.clone(),
    }
}

fn map_fields(
    fields: &FieldsType,
    replace: &mut dyn FnMut(&TypeVar) -> Option<Type>,
) -> Arc<FieldsType> {
    let field = |f: &FieldType, replace: &mut dyn FnMut(&TypeVar) -> Option<Type>| FieldType {
        name: f.name.clone(),
        ty: map_vars(&f.ty, replace),
        annotations: f.annotations.clone(),
    };
    Arc::new(FieldsType {
        declaration: fields.declaration,
        name: fields.name.clone(),
        args: fields.args.iter().map(|arg| map_vars(arg, replace)).collect(),
        fields: fields.fields.iter().map(|f| field(f, replace)).collect(),
        annotations: fields.annotations.clone(),
        span: fields.span,
    })
}

fn map_block(
    block: &BlockType,
    replace: &mut dyn FnMut(&TypeVar) -> Option<Type>,
) -> Arc<BlockType> {
    let params = block.params.iter();
    Arc::new(BlockType {
        declaration: block.declaration,
        name: block.name.clone(),
        args: block.args.iter().map(|arg| map_vars(arg, replace)).collect(),
        params: params.map(|(n, d, ty)| (n.clone(), *d, map_vars(ty, replace))).collect(),
    })
}

/// The type with type arguments applied.
pub(super) fn substitute(ty: &Type, by: &Substitution) -> Type {
    if by.is_empty() {
        return ty.clone();
    }
    map_vars(ty, &mut |var| by.get(&var.id).cloned())
}

/// A substitution of `params` by `args`, in order.
pub(super) fn substitution(params: &[TypeVar], args: &[Type]) -> Substitution {
    params.iter().map(|param| param.id).zip(args.iter().cloned()).collect()
}

impl Checker<'_> {
    /// A new rigid variable: the type parameter of a declaration.
    pub(super) fn rigid(&mut self, name: &Arc<str>) -> TypeVar {
        self.next_type_var += 1;
        TypeVar { id: self.next_type_var, name: name.clone() }
    }

    /// A new inference variable.
    pub(super) fn fresh(&mut self, name: &Arc<str>) -> Type {
        let var = self.rigid(name);
        self.bindings.insert(var.id, None);
        Type::Var(var)
    }

    /// The type with each inferred variable replaced by its type.
    pub(super) fn resolved(&self, ty: &Type) -> Type {
        map_vars(ty, &mut |var| match self.bindings.get(&var.id) {
            Some(Some(bound)) => Some(self.resolved(bound)),
            _ => None,
        })
    }

    /// The type of a bound inference variable; any other type unchanged.
    fn shallow(&self, ty: &Type) -> Type {
        let mut ty = ty.clone();
        while let Type::Var(var) = &ty {
            match self.bindings.get(&var.id) {
                Some(Some(bound)) => ty = bound.clone(),
                _ => break,
            }
        }
        ty
    }

    /// True if the type contains an open inference variable.
    pub(super) fn is_open(&self, ty: &Type) -> bool {
        let mut open = false;
        if has_vars(ty) {
            map_vars(&self.resolved(ty), &mut |var| {
                open |= matches!(self.bindings.get(&var.id), Some(None));
                None
            });
        }
        open
    }

    /// The open inference variable of a type that is one.
    pub(super) fn open_var(&self, ty: &Type) -> Option<TypeVar> {
        match self.shallow(ty) {
            Type::Var(var) if matches!(self.bindings.get(&var.id), Some(None)) => Some(var),
            _ => None,
        }
    }

    fn bind(&mut self, var: &TypeVar, ty: &Type) -> bool {
        let ty = self.resolved(ty);
        let mut occurs = false;
        map_vars(&ty, &mut |other| {
            occurs |= other.id == var.id;
            None
        });
        if occurs {
            return ty == Type::Var(var.clone());
        }
        self.bindings.insert(var.id, Some(ty));
        true
    }

    /// Makes two types match by binding inference variables; false if that is impossible.
    pub(super) fn unify(&mut self, a: &Type, b: &Type) -> bool {
        let (a, b) = (self.shallow(a), self.shallow(b));
        if matches!(a, Type::Unknown) || matches!(b, Type::Unknown) {
            return true;
        }
        if let Some(var) = self.open_var(&a) {
            return self.bind(&var, &b);
        }
        if let Some(var) = self.open_var(&b) {
            return self.bind(&var, &a);
        }
        match (&a, &b) {
            (Type::InfInt, Type::Bit(_) | Type::Int(_)) => true,
            (Type::Bit(_) | Type::Int(_), Type::InfInt) => true,
            (Type::InfInt, Type::New(new)) | (Type::New(new), Type::InfInt) => {
                self.unify(&Type::InfInt, &new.target)
            }
            (Type::SerializableEnum(e), other) | (other, Type::SerializableEnum(e))
                if !matches!(other, Type::SerializableEnum(_)) =>
            {
                matches!(other, Type::InfInt) || e.underlying.as_ref() == Some(other)
            }
            (Type::Tuple(x), Type::Tuple(y)) => self.unify_all(x, y),
            (Type::Extern(i, x), Type::Extern(j, y)) => i == j && self.unify_all(x, y),
            (Type::Package(i, x), Type::Package(j, y)) => i == j && self.unify_all(x, y),
            (Type::Stack(x, n), Type::Stack(y, m)) => n == m && self.unify(x, y),
            (Type::List(x), Type::List(y)) | (Type::Set(x), Type::Set(y)) => self.unify(x, y),
            (Type::List(x) | Type::Stack(x, _), Type::Tuple(ys)) => {
                ys.iter().all(|y| self.unify(x, y))
            }
            (Type::Parser(x), Type::Parser(y)) | (Type::Control(x), Type::Control(y)) => {
                self.unify_blocks(x, y)
            }
            (Type::Struct(x) | Type::Header(x), Type::Struct(y)) if y.name.is_empty() => {
                self.unify_named_fields(x, y)
            }
            (Type::Struct(x), Type::Struct(y) | Type::Header(y)) if x.name.is_empty() => {
                self.unify_named_fields(y, x)
            }
            (Type::Struct(x) | Type::Header(x), Type::Tuple(y)) => {
                x.fields.len() >= y.len()
                    && x.fields.iter().zip(y.iter()).all(|(x, y)| self.unify(&x.ty, y))
            }
            (Type::Struct(x), Type::Struct(y))
            | (Type::Header(x), Type::Header(y))
            | (Type::HeaderUnion(x), Type::HeaderUnion(y)) => {
                x.declaration == y.declaration && self.unify_all(&x.args, &y.args)
            }
            _ => a == b,
        }
    }

    fn unify_all(&mut self, a: &[Type], b: &[Type]) -> bool {
        a.len() == b.len() && a.iter().zip(b).all(|(a, b)| self.unify(a, b))
    }

    fn unify_named_fields(&mut self, named: &FieldsType, literal: &FieldsType) -> bool {
        literal.fields.iter().all(|given| {
            let field = named.fields.iter().find(|field| field.name == given.name);
            field.is_some_and(|field| self.unify(&field.ty, &given.ty))
        })
    }

    /// A parser or control matches a type of parser or control whose parameters have the same
    /// directions and types; the type's optional parameters may be missing.
    fn unify_blocks(&mut self, a: &BlockType, b: &BlockType) -> bool {
        if a.declaration == b.declaration {
            return self.unify_all(&a.args, &b.args);
        }
        let shared = a.params.len().min(b.params.len());
        let all_optional = |block: &BlockType, checker: &Self| {
            let optional = checker.optional_params.get(&block.declaration);
            (shared..block.params.len())
                .all(|at| optional.is_some_and(|optional| optional.get(at) == Some(&true)))
        };
        all_optional(a, self)
            && all_optional(b, self)
            && a.params.iter().zip(&b.params).all(|((_, d, x), (_, e, y))| {
                d == e && self.unify(x, y) && self.same_kind_of_number(x, y)
            })
    }

    /// There are no implicit casts inside a block's type.
    fn same_kind_of_number(&self, a: &Type, b: &Type) -> bool {
        let (a, b) = (self.shallow(a), self.shallow(b));
        let is_number = |ty: &Type| {
            matches!(ty, Type::Bit(_) | Type::Int(_) | Type::InfInt | Type::SerializableEnum(_))
        };
        !is_number(&a) || !is_number(&b) || a == b
    }
}

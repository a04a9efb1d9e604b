//! Checks common to parsers and controls: parameters, constructor parameters, local declarations
//! (specification 13.2, 14, 15.1), and types of parsers and controls.

use super::Checker;
use super::scope::{Entity, Generic, TypeEntity};
use super::signature::{ParamsOf, Signature};
use crate::ast::{self, Name, Parameter};
use crate::hir::{ActionId, ControlId, InstanceId, TableId, ValueSetId};
use crate::types::{BlockType, DeclarationId, Type, TypeVar};
use std::rc::Rc;
use std::sync::Arc;

/// A declared parser or control.
pub(super) struct BlockInfo {
    /// Its type.
    pub ty: Arc<BlockType>,
    /// Parameters of `apply`.
    pub apply: Rc<Signature>,
    /// Parameters of the constructor.
    pub constructor: Rc<Signature>,
    /// Its type parameters, if it has some and is not an instantiation: see `generic`.
    pub type_params: Vec<TypeVar>,
}

/// Properties of a declaration outside its parameter lists.
pub(super) struct Header {
    /// Id of the declaration; its instantiations share it.
    pub declaration: DeclarationId,
    /// Its type parameters, empty for an instantiation.
    pub type_params: Vec<TypeVar>,
    /// Type arguments: the type parameters themselves, or types in an instantiation.
    pub args: Vec<Type>,
}

/// Kind of the block being checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum BlockKind {
    /// None: top level.
    #[default]
    None,
    Parser,
    Control(ControlId),
}

/// The parser or control being checked, with its declarations so far.
#[derive(Debug, Default)]
pub(super) struct OpenBlock {
    pub kind: BlockKind,
    pub instances: Vec<InstanceId>,
    pub actions: Vec<ActionId>,
    pub tables: Vec<TableId>,
    pub value_sets: Vec<ValueSetId>,
}

impl Checker<'_> {
    /// Checks both parameter lists of a parser or control declaration. Its type parameters are in
    /// scope as `ty.args` of `header`.
    pub(super) fn block_info(
        &mut self,
        name: &Name,
        type_params: &[Name],
        (params, constructor_params): (&[Parameter], &[Parameter]),
        of: (ParamsOf, ParamsOf),
        header: Header,
    ) -> BlockInfo {
        let all = params.iter().chain(constructor_params).map(|param| &param.name);
        self.check_distinct("the parameter", type_params.iter().chain(all));
        let params = self.params(params, of.0);
        let constructor_params = self.params(constructor_params, of.1);
        let shape = params.iter().map(|p| (p.name.clone(), p.direction, p.ty.clone()));
        let ty = Arc::new(BlockType {
            declaration: header.declaration,
            name: name.text.clone(),
            args: header.args,
            params: shape.collect(),
        });
        let signature = |params| Signature {
            name: name.text.clone(),
            type_params: Vec::new(),
            params,
            returns: Type::Void,
            span: name.span,
        };
        BlockInfo {
            ty,
            apply: Rc::new(signature(params)),
            constructor: Rc::new(signature(constructor_params)),
            type_params: header.type_params,
        }
    }

    /// `parser Name<T>(params);` (true) or `control Name<T>(params);`
    pub(super) fn declare_block_type(
        &mut self,
        name: &Name,
        type_params: &[Name],
        params: &[Parameter],
        is_parser: bool,
    ) {
        let vars = self.push_type_params(type_params);
        let of = if is_parser { ParamsOf::ParserType } else { ParamsOf::ControlType };
        let params = self.params(params, of);
        self.scopes.pop();
        let declaration = self.declaration_id();
        let optional: Arc<[bool]> =
            params.iter().map(|p| p.optional || p.default.is_some()).collect();
        self.optional_params.insert(declaration, optional);
        let body = Arc::new(BlockType {
            declaration,
            name: name.text.clone(),
            args: vars.iter().cloned().map(Type::Var).collect(),
            params: params.iter().map(|p| (p.name.clone(), p.direction, p.ty.clone())).collect(),
        });
        let generic = Rc::new(Generic { params: vars, body });
        self.declare(name, Entity::Type(TypeEntity::BlockType(generic, is_parser)));
    }

    /// `package Name<T>(params);`
    pub(super) fn declare_package(
        &mut self,
        name: &Name,
        type_params: &[Name],
        params: &[Parameter],
        annotations: &[ast::Annotation],
    ) {
        let type_params = self.push_type_params(type_params);
        let params = self.params(params, ParamsOf::Package);
        self.scopes.pop();
        let signature = Signature {
            name: name.text.clone(),
            type_params,
            params,
            returns: Type::Void,
            span: name.span,
        };
        let id = crate::types::PackageId(self.program.packages.len() as u32);
        self.program.packages.push(crate::hir::Package {
            name: name.text.clone(),
            signature: signature.to_hir(),
            annotations: annotations.to_vec().into(),
            span: name.span,
        });
        self.packages.push(Rc::new(signature));
        self.declare(name, Entity::Type(TypeEntity::Package(id)));
    }
}

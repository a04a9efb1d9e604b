//! Top-level declarations: dispatches each to the module of its kind (specification 6.6).

use super::Checker;
use super::generic::BlockText;
use super::messages::code;
use crate::ast::{Declaration, DeclarationKind};

impl<'a> Checker<'a> {
    pub(super) fn top_level_declaration(&mut self, declaration: &'a Declaration) {
        use DeclarationKind as D;
        let annotations = &declaration.annotations;
        self.check_annotations(annotations);
        match &declaration.kind {
            D::Constant { ty, name, value } => {
                if let Some(number) = self.declare_constant(ty, name, value) {
                    self.program.constants.insert(name.text.as_ref().into(), number);
                }
            }
            D::Instantiation { ty, args, name, body } => {
                self.instantiation(ty, args, name, body.as_deref(), annotations);
            }
            D::ExternObject { name, type_params, methods } => {
                self.declare_extern(name, type_params, methods, annotations);
            }
            D::ExternFunction(prototype) => self.declare_extern_function(prototype, declaration),
            D::Function { prototype, body } => self.declare_function(prototype, body),
            D::Action { name, params, body } => {
                self.declare_action(name, params, body, annotations);
                self.block = super::block::OpenBlock::default();
            }
            D::Parser(parser) => self.declare_block(BlockText::Parser(parser), annotations),
            D::Control(control) => self.declare_block(BlockText::Control(control), annotations),
            D::ParserType { name, type_params, params } => {
                self.declare_block_type(name, type_params, params, true);
            }
            D::ControlType { name, type_params, params } => {
                self.declare_block_type(name, type_params, params, false);
            }
            D::PackageType { name, type_params, params } => {
                self.declare_package(name, type_params, params, annotations);
            }
            D::Fields { kind, name, type_params, fields } => {
                self.declare_fields(*kind, name, type_params, fields, annotations);
            }
            D::Enum { name, underlying, members } => {
                for (member, number) in self.declare_enum(name, underlying.as_ref(), members) {
                    let name = format!("{}.{member}", name.text);
                    self.program.constants.insert(name.into(), number);
                }
            }
            D::Error(names) => self.declare_errors(names),
            D::MatchKind(names) => self.declare_match_kinds(names),
            D::Typedef { target, name } => self.declare_typedef(target, name),
            D::NewType { target, name } => self.declare_new_type(target, name, annotations),
            D::ValueSet { element, size, name } => {
                self.declare_value_set(element, size, name, annotations);
                self.block = super::block::OpenBlock::default();
            }
            D::Variable { name, .. } => {
                let message = format!("the variable `{}` cannot stand at top level", name.text);
                self.error(code::STATEMENT_PLACE, declaration.span, message);
                self.declare(name, super::scope::Entity::Broken);
            }
            D::Table { name, .. } => {
                let message = format!("the table `{}` must stand in a control", name.text);
                self.error(code::STATEMENT_PLACE, declaration.span, message);
                self.declare(name, super::scope::Entity::Broken);
            }
        }
    }
}

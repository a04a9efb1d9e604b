//! Controls and actions (specification 14 and 14.1).

use super::Checker;
use super::block::{BlockKind, Header, OpenBlock};
use super::code_context::{CodeContext, ContextKind};
use super::scope::Entity;
use super::signature::{ParamsOf, Signature};
use crate::ast::{Annotation, Block, ControlDeclaration, Direction, Name, Parameter};
use crate::ast::{Declaration, DeclarationKind};
use crate::hir::{Action, ActionId, Control, ControlId, Stmt, VarKind};
use crate::types::Type;
use std::rc::Rc;

impl Checker<'_> {
    /// The parameters and the body of a control.
    pub(super) fn control_body(
        &mut self,
        control: &ControlDeclaration,
        annotations: &[Annotation],
        header: Header,
    ) -> ControlId {
        let name = &control.name;
        let info = self.block_info(
            name,
            &control.type_params,
            (&control.params, &control.constructor_params),
            (ParamsOf::Control, ParamsOf::ControlConstructor),
            header,
        );
        // Other controls may be instantiated meanwhile.
        let id = self.reserve_control(Control {
            name: name.text.clone(),
            params: Vec::new(),
            constructor_params: Vec::new(),
            instances: Vec::new(),
            actions: Vec::new(),
            tables: Vec::new(),
            init: Vec::new(),
            body: Vec::new(),
            annotations: annotations.to_vec().into(),
            span: name.span,
        });
        self.controls.push(Rc::new(info));
        let info = self.controls[id.index()].clone();
        self.scopes.push();
        let constructor_params =
            self.declare_params(&info.constructor.params, |_| VarKind::ConstructorParameter);
        let params = self.declare_params(&info.apply.params, VarKind::Parameter);
        self.scopes.push();
        self.block = OpenBlock { kind: BlockKind::Control(id), ..OpenBlock::default() };
        let mut init = Vec::new();
        self.at(CodeContext::new(ContextKind::ControlLocals), |checker| {
            for local in &control.locals {
                checker.control_local(local, &mut init);
            }
        });
        let body = self.at(CodeContext::new(ContextKind::ControlApply), |checker| {
            checker.block_statements(&control.body)
        });
        self.scopes.pop();
        self.scopes.pop();
        let block = std::mem::take(&mut self.block);
        let made = &mut self.program.controls[id.index()];
        (made.params, made.constructor_params) = (params, constructor_params);
        (made.instances, made.actions) = (block.instances, block.actions);
        (made.tables, made.init, made.body) = (block.tables, init, body);
        id
    }

    fn control_local(&mut self, local: &Declaration, init: &mut Vec<Stmt>) {
        self.check_annotations(&local.annotations);
        match &local.kind {
            DeclarationKind::Action { name, params, body } => {
                self.declare_action(name, params, body, &local.annotations);
            }
            DeclarationKind::Table { name, properties } => {
                self.declare_table(name, properties, &local.annotations);
            }
            _ => self.block_local(local, init),
        }
    }

    /// `action name(params) { ... }`
    pub(super) fn declare_action(
        &mut self,
        name: &Name,
        params: &[Parameter],
        body: &Block,
        annotations: &[Annotation],
    ) {
        self.unfinished(name, "an action");
        self.check_action_name(name, params, body, annotations);
        let params = self.params(params, ParamsOf::Action);
        self.scopes.push();
        let vars = self.declare_params(&params, VarKind::Parameter);
        for (var, param) in vars.iter().zip(&params) {
            if param.direction == Direction::None {
                self.action_data.insert(*var);
            }
        }
        let statements = self
            .at(CodeContext::new(ContextKind::Action), |checker| checker.block_statements(body));
        self.scopes.pop();
        let id = ActionId(self.program.actions.len() as u32);
        let control = match self.block.kind {
            BlockKind::Control(id) => Some(id),
            _ => None,
        };
        self.program.actions.push(Action {
            name: name.text.clone(),
            params: vars,
            body: statements,
            control,
            annotations: annotations.to_vec().into(),
            span: name.span,
        });
        self.actions.push(Rc::new(Signature {
            name: name.text.clone(),
            type_params: Vec::new(),
            params,
            returns: Type::Void,
            span: name.span,
        }));
        self.block.actions.push(id);
        self.finish(name, Entity::Action(id));
    }
}

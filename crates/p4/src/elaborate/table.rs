//! Tables: keys, actions inlined per table, entries (specification chapter 14.2).

use super::effects::has_effects;
use super::inline::BindingMode;
use super::instance::full_name;
use super::layout::LayoutUse;
use super::{Binding, Elaborator, ExitTarget};
use crate::hir::{self, VarId};
use crate::ir::{self, Layout, ObjectArg, Pattern, Slot, StmtKind, Value};
use crate::source::Span;
use crate::types::Type;
use std::sync::Arc;

/// A lowered table, as its applications need it.
#[derive(Clone, Debug)]
pub(super) struct Lowered {
    id: ir::TableId,
    /// Destinations of key elements that are evaluated before the table is applied because they
    /// have side effects.
    keys: Option<Vec<Layout>>,
    /// True if an action may exit and set the flag.
    exits: bool,
}

impl Elaborator<'_> {
    /// `t.apply()`
    pub(super) fn apply_table(
        &mut self,
        id: hir::TableId,
        hit: Option<Slot>,
        action: Option<Slot>,
        span: Span,
    ) {
        let Some(table) = self.table(id) else { return };
        if let Some(places) = &table.keys {
            for (key, place) in self.hir.tables[id.index()].keys.iter().zip(places) {
                let value = self.value(&key.expr);
                self.store_fixed(place, value, key.span);
            }
        }
        self.push(StmtKind::Apply { table: table.id, hit, action }, span);
        if table.exits {
            self.go_on_exiting(span);
        }
    }

    /// The table in the scope being lowered, created on first use.
    pub(super) fn table(&mut self, id: hir::TableId) -> Option<Lowered> {
        if let Some(done) = self.scope().tables.get(&id) {
            return Some(done.clone());
        }
        let unit = self.unit.id?;
        let table = &self.hir.tables[id.index()];
        let name = full_name(&self.scope().name, &table.name, &table.annotations);
        let (keys, places) = self.keys(table);
        let mut exits = false;
        let actions = table.actions.iter().map(|action| {
            let (action, exit) = self.table_action(action);
            exits |= exit;
            action
        });
        let actions: Vec<ir::TableAction> = actions.collect();
        let entries = table.entries.iter().filter_map(|entry| self.entry(table, entry)).collect();
        let default_action = match &table.default_action {
            Some(default) => self.action_data(&default.data).map(|data| (default.action, data)),
            None => None,
        };
        let properties = table
            .properties
            .iter()
            .map(|property| (property.name.clone(), self.property(property, &name)));
        let properties = properties.collect();
        self.declare_table(table);
        self.out.tables.push(ir::Table {
            name: name.into(),
            unit,
            keys,
            actions,
            default_action,
            const_default_action: table.default_action.as_ref().is_some_and(|d| d.is_const),
            entries,
            const_entries: table.const_entries,
            size: table.size,
            properties,
            annotations: table.annotations.clone(),
            span: table.span,
        });
        let lowered =
            Lowered { id: ir::TableId(self.out.tables.len() as u32 - 1), keys: places, exits };
        self.scope_mut().tables.insert(id, lowered.clone());
        Some(lowered)
    }

    /// A property for the target only; an unknown value is omitted.
    fn property(&mut self, property: &hir::Property, table: &str) -> ObjectArg {
        match &property.value {
            hir::Arg::In(expr) if self.known(expr).is_none() => ObjectArg::Absent,
            // An object created here is in the control plane only under the property's `@name`.
            other => match super::annotated_name(&property.annotations) {
                Some(name) => self.object_of_property(other, &name, &property.annotations),
                None => self.object_arg(other, table, &property.name),
            },
        }
    }

    fn keys(&mut self, table: &hir::Table) -> (Vec<ir::Key>, Option<Vec<Layout>>) {
        let computed = table.keys.iter().any(|key| has_effects(&key.expr));
        let mut keys = Vec::new();
        let mut places = Vec::new();
        for key in &table.keys {
            let expr = if computed {
                let place = self.temporary(&key.expr.ty, key.span);
                let value = super::value::of_layout(&place, key.span);
                places.push(place);
                match value {
                    Value::Scalar(expr) => expr,
                    _ => super::value::truth(false, key.span),
                }
            } else {
                self.scalar(&key.expr)
            };
            let match_kind = self.hir.match_kinds.get(key.match_kind as usize).cloned();
            keys.push(ir::Key {
                expr,
                match_kind: match_kind.unwrap_or_else(|| "exact".into()),
                name: key.name.clone(),
                annotations: key.annotations.clone(),
                span: key.span,
            });
        }
        (keys, computed.then_some(places))
    }

    /// An action with its arguments from the table's list; true if it may exit by the flag.
    fn table_action(&mut self, listed: &hir::TableAction) -> (ir::TableAction, bool) {
        let action = &self.hir.actions[listed.action.index()];
        let outer =
            if action.control.is_some() { self.scope().name.clone() } else { String::new() };
        let name = full_name(&outer, &action.name, &action.annotations);
        let mut data: Vec<(Arc<str>, Layout)> = Vec::new();
        let (mut params, mut args) = (Vec::new(), Vec::new());
        for (at, param) in action.params.iter().enumerate() {
            match listed.bound.get(at).cloned().flatten() {
                Some(arg) => {
                    params.push(*param);
                    args.push(arg);
                }
                None => self.data_param(*param, &action.name, &mut data),
            }
        }
        // In a sub-control an exit must copy results out, at each application.
        let flagged = self.scope().depth > 0;
        let label = self.label();
        let outer = self.unit.exit;
        if flagged && outer.is_some() {
            self.unit.exit = Some(ExitTarget { label, flagged: true });
        }
        let mut exits = false;
        let body = self.nested(|this| {
            let body = this.nested(|this| {
                let binding_mode =
                    BindingMode { by_place: false, may_renew: true, owner: this.unit.current };
                let copies = this.bind(&params, &args, binding_mode);
                this.guarded(copies, listed.span, |this| this.action_body(action, listed.span));
            });
            exits = flagged && super::mentions(&body, label);
            this.close_block(label, body, listed.span);
        });
        self.unit.exit = outer;
        let lowered = ir::TableAction {
            name: name.into(),
            data,
            body,
            default_only: listed.default_only,
            table_only: listed.table_only,
            annotations: action.annotations.clone(),
            span: action.span,
        };
        (lowered, exits)
    }

    /// Slots for action data; a struct is passed field by field.
    fn data_param(&mut self, id: VarId, action: &str, data: &mut Vec<(Arc<str>, Layout)>) {
        let var = self.var(id);
        let purpose = LayoutUse { temporary: false, span: var.span };
        let layout = self.allocate(&var.ty, &format!("{action}.{}", var.name), purpose);
        self.bindings.insert(id, Binding::Place(layout.clone()));
        flatten(&layout, &var.name, data);
    }

    fn entry(&mut self, table: &hir::Table, entry: &hir::Entry) -> Option<ir::Entry> {
        let types: Vec<&Type> = table.keys.iter().map(|key| &key.expr.ty).collect();
        let mut patterns = self.entry_patterns(&entry.keysets, &types, entry.span)?;
        patterns.resize(table.keys.len(), Pattern::Any);
        Some(ir::Entry {
            patterns,
            action: entry.action,
            data: self.action_data(&entry.data)?,
            priority: entry.priority,
            is_const: entry.is_const,
            span: entry.span,
        })
    }
}

/// The scalars of a layout, with their control-plane names.
fn flatten(layout: &Layout, name: &str, out: &mut Vec<(Arc<str>, Layout)>) {
    match layout {
        Layout::Struct { fields, ty } | Layout::Header { fields, ty, .. } => {
            for (at, field) in fields.iter().enumerate() {
                let local = match super::plain(ty) {
                    Type::Struct(of) | Type::Header(of) => {
                        of.fields.get(at).map(|f| f.name.clone())
                    }
                    _ => None,
                };
                let local = local.map_or_else(|| at.to_string(), |local| local.to_string());
                flatten(field, &format!("{name}.{local}"), out);
            }
        }
        Layout::Narrow(..) | Layout::Wide(..) => out.push((name.into(), layout.clone())),
        _ => {}
    }
}

/// Used by parsers for conditions as selects.
pub(super) fn span_of(stmts: &[hir::Stmt], otherwise: Span) -> Span {
    stmts.first().map_or(otherwise, |stmt| stmt.span)
}

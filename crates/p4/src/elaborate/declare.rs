//! Recording of control-plane declarations: tables, actions and value sets with types, annotations
//! and source positions.

use super::Elaborator;
use super::instance::full_name;
use crate::declared::{DeclaredAction, DeclaredParam, DeclaredSet, DeclaredTable, SourceOrder};
use crate::hir;
use crate::source::Span;

impl Elaborator<'_> {
    /// Source order of a declaration in the scope being lowered.
    pub(super) fn standing(&self, declaration: Span) -> SourceOrder {
        let mut path =
            self.unit.scopes.get(self.unit.current).map_or(Vec::new(), |s| s.path.clone());
        path.push(declaration.start);
        SourceOrder { unit: self.unit.id, path }
    }

    /// Records the table being lowered, with its actions.
    pub(super) fn declare_table(&mut self, table: &hir::Table) {
        let place = self.standing(table.span);
        for (at, listed) in table.actions.iter().enumerate() {
            let action = &self.hir.actions[listed.action.index()];
            let free = |at: &usize| listed.bound.get(*at).is_none_or(Option::is_none);
            let params = (0..action.params.len()).filter(free).map(|at| {
                let var = self.var(action.params[at]);
                let annotations = var.annotations.clone();
                DeclaredParam { name: var.name.clone(), ty: var.ty.clone(), annotations }
            });
            let params = params.collect();
            let mut used = place.clone();
            used.path.push(at as u32);
            self.declare_action(action, Some(params), used);
        }
        self.out.declared.tables.push(DeclaredTable {
            place,
            keys: table.keys.iter().map(|key| key.expr.ty.clone()).collect(),
            references: table.actions.iter().map(|listed| listed.annotations.clone()).collect(),
        });
    }

    /// Records an action that a control calls directly, outside other actions: a control plane sets
    /// none of its parameters.
    pub(super) fn declare_called_action(&mut self, action: &hir::Action) {
        if self.unit.in_action.is_none() {
            let used = SourceOrder { unit: self.unit.id, path: vec![u32::MAX, self.statements] };
            self.declare_action(action, None, used);
        }
    }

    /// `params` are those of a table's action; a called action has none.
    fn declare_action(
        &mut self,
        action: &hir::Action,
        params: Option<Vec<DeclaredParam>>,
        used: SourceOrder,
    ) {
        let called = params.is_none();
        let params = params.unwrap_or_default();
        let (outer, place) = match action.control {
            Some(_) => (self.scope().name.clone(), self.standing(action.span)),
            // As if it were declared at the front of the unit, in the order of use.
            None => {
                let path = std::iter::once(0).chain(used.path).collect();
                (String::new(), SourceOrder { unit: used.unit, path })
            }
        };
        let name = full_name(&outer, &action.name, &action.annotations);
        let known = &mut self.out.declared.actions;
        match known.iter_mut().find(|known| *known.name == *name) {
            Some(known) => {
                known.place = known.place.clone().min(place);
                known.called |= called;
                if known.params.is_empty() {
                    known.params = params;
                }
            }
            None => known.push(DeclaredAction {
                name: name.into(),
                place,
                params,
                called,
                annotations: action.annotations.clone(),
            }),
        }
    }

    /// Records a value set of the scope being lowered.
    pub(super) fn declare_value_set(&mut self, set: &hir::ValueSet) {
        let place = self.standing(set.span);
        let (element, annotations) = (set.element.clone(), set.annotations.clone());
        self.out.declared.value_sets.push(DeclaredSet { place, element, annotations });
    }
}

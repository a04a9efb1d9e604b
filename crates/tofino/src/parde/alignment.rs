//! Bits of a byte from which a parser fills a field (T1314), after `ComputeFieldAlignments` in
//! `bf-p4c/phv/phv_fields.cpp`.
//!
//! The compiler notes for each field the bit of the packet's byte at which its lowest bit was
//! extracted, whatever part of the field gets it, and refuses a second number. A field of a header
//! has that of its place in the header. Uses the IR; must not depend on stages.

use super::copy_propagation::Known;
use super::state_merging::chains;
use crate::rules;
use sojourn_p4::diagnostic::Diagnostic;
use sojourn_p4::ir::{
    Binary, Body, Expr, ExprKind, Layout, Program, Slot, Stmt, StmtKind, Unit, UnitId,
};
use sojourn_p4::source::Span;
use sojourn_p4::types::Type;
use sojourn_p4::visit;
use std::collections::HashMap;

/// Checks the assignments of a parser to fields that leave it.
pub fn check(program: &Program, parser: UnitId, found: &mut Vec<Diagnostic>) {
    let unit = &program.units[parser.index()];
    let Body::Parser(body) = &unit.body else { return };
    let mut walk = Walk { unit, packet: HashMap::new(), noted: HashMap::new(), found };
    for param in &unit.params {
        walk.fields(&param.layout);
    }
    for chain in chains(body) {
        let mut known = Known::default();
        if chain.first() == Some(&body.start) {
            walk.list(&body.init, &mut known);
        }
        for state in chain {
            walk.list(&body.states[state.index()].body, &mut known);
        }
    }
}

struct Walk<'p, 'f> {
    unit: &'p Unit,
    /// The bit of its byte at which the lowest bit of a header's field is.
    packet: HashMap<Slot, u32>,
    /// The same for what assignments extract, with the first of them.
    noted: HashMap<Slot, (u32, Span)>,
    found: &'f mut Vec<Diagnostic>,
}

impl Walk<'_, '_> {
    /// Notes the places of the fields of headers.
    fn fields(&mut self, layout: &Layout) {
        match layout {
            // The compiler places the fields of a flexible header.
            Layout::Header { ty: Type::Header(of), .. } if of.is_flexible() => {}
            Layout::Header { fields, .. } => {
                fields.iter().fold(0, |at, field| self.place(field, at));
            }
            Layout::Union { members: parts, .. }
            | Layout::Struct { fields: parts, .. }
            | Layout::Stack { elements: parts, .. } => {
                parts.iter().for_each(|part| self.fields(part));
            }
            _ => {}
        }
    }

    /// Notes a field that begins `at` bits behind the header's first, and returns its end.
    fn place(&mut self, field: &Layout, at: u32) -> u32 {
        match field {
            Layout::Narrow(slot, scalar) => {
                let end = at + scalar.width();
                self.packet.insert(*slot, to_byte(end));
                end
            }
            Layout::Wide(_, scalar) => at + scalar.width(),
            Layout::Struct { fields, .. } => {
                fields.iter().fold(at, |at, field| self.place(field, at))
            }
            _ => at,
        }
    }

    fn list(&mut self, stmts: &[Stmt], known: &mut Known) {
        for (at, stmt) in stmts.iter().enumerate() {
            match &stmt.kind {
                StmtKind::Set(target, _) | StmtKind::SetSlice { target, .. }
                    if overwritten(&stmts[at + 1..], *target) => {}
                StmtKind::Set(target, value) | StmtKind::SetSlice { target, value, .. } => {
                    self.assign(*target, &known.resolved(value), stmt.span);
                }
                StmtKind::Block { body, .. } => self.list(body, known),
                StmtKind::If { then, otherwise, .. } => {
                    for list in [then, otherwise] {
                        self.list(list, &mut Known::default());
                    }
                }
                _ => {}
            }
            known.step(stmt);
        }
    }

    fn assign(&mut self, target: Slot, value: &Expr, span: Span) {
        let leaves = |param: &sojourn_p4::ir::Param| {
            param.layout.range().narrow().any(|at| at == target.index())
        };
        if !self.unit.params.iter().any(leaves) {
            return;
        }
        let mut bits = Vec::new();
        self.extracted(value, 0, value.scalar.width().max(1), &mut bits);
        let mut first = self.packet.get(&target).map(|at| (*at, None));
        first = first.or_else(|| self.noted.get(&target).map(|(at, span)| (*at, Some(*span))));
        for bit in bits {
            let (at, place) = *first.get_or_insert((bit, Some(span)));
            if at != bit {
                let name = self.unit.slots.get(target.index()).map_or("", |info| &*info.name);
                let message =
                    format!("`{name}` starts at bit {bit} of a byte here, elsewhere at {at}");
                let refused = rules::ALIGNMENT.refuse(span, message);
                self.found.push(match place.filter(|place| *place != span) {
                    Some(place) => refused.with_place(place, "the other assignment").into(),
                    None => refused.into(),
                });
                return;
            }
        }
        if let Some((at, _)) = first {
            self.noted.entry(target).or_insert((at, span));
        }
    }

    /// For each run of packet bits in `width` bits of an expression from `low` on, the bit of its
    /// byte at which it begins.
    fn extracted(&self, expr: &Expr, low: u32, width: u32, bits: &mut Vec<u32>) {
        let end = expr.scalar.width().max(1);
        if low >= end || width == 0 {
            return;
        }
        let width = width.min(end - low);
        match &expr.kind {
            ExprKind::Slot(slot) => {
                bits.extend(self.packet.get(slot).map(|at| (at + low) % 8));
            }
            ExprKind::Lookahead { offset } => bits.push((to_byte(offset + end) + low) % 8),
            ExprKind::Cast(inner) => self.extracted(inner, low, width, bits),
            ExprKind::Slice(inner, by) => self.extracted(inner, low + by, width, bits),
            ExprKind::Guarded { read, .. } => self.extracted(read, low, width, bits),
            ExprKind::Binary(Binary::Concat, upper, lower) => {
                let split = lower.scalar.width();
                if low < split {
                    self.extracted(lower, low, width.min(split - low), bits);
                }
                if low + width > split {
                    let from = low.max(split) - split;
                    self.extracted(upper, from, low + width - split - from, bits);
                }
            }
            _ => {}
        }
    }
}

/// True if a list assigns a whole variable before it reads it, so that the compiler drops what the
/// variable had.
fn overwritten(stmts: &[Stmt], slot: Slot) -> bool {
    for stmt in stmts {
        if visit::expressions(stmt).into_iter().any(|expr| visit::reads(expr, slot)) {
            return false;
        }
        match &stmt.kind {
            StmtKind::Set(target, _) if *target == slot => return true,
            StmtKind::Set(..) | StmtKind::SetSlice { .. } | StmtKind::Extract { .. } => {}
            _ => return false,
        }
    }
    false
}

/// Bits behind a place up to the end of its byte.
fn to_byte(end: u32) -> u32 {
    (8 - end % 8) % 8
}

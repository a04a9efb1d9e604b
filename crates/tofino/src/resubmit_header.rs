//! Resubmit headers fill the bytes that a resubmitted packet has in front.
//!
//! The chip carries a fixed number of bytes, whatever the header's own length. The compiler therefore appends padding to
//! every header type that a `Resubmit` object emits (`midend/check_header_alignment.cpp`,
//! `TransformResubmitHeaders`, in p4c's Tofino back end). [`pad`] does the same to the places that put
//! such a header on the wire or take it off. It must not depend on how a pass runs.

use sojourn_p4::ir::{
    Arg, Body, Expr, ExprKind, Layout, Program, Scalar, Slot, SlotInfo, Stmt, StmtKind, Value,
};
use sojourn_p4::source::Span;
use sojourn_p4::types::{DeclarationId, Type};
use sojourn_p4::visit;
use std::collections::HashSet;

/// Pads every extraction and emission of a header whose type a `Resubmit` emits to the `bits` that
/// a resubmitted packet carries.
pub fn pad(program: &mut Program, bits: u32) {
    let types = resubmitted(program);
    if types.is_empty() {
        return;
    }
    for unit in &mut program.units {
        let mut padding = Padding { types: &types, bits, slots: &mut unit.slots };
        match &mut unit.body {
            Body::Control { stmts, .. } => padding.list(stmts),
            Body::Parser(parser) => {
                padding.list(&mut parser.init);
                parser.states.iter_mut().for_each(|state| padding.list(&mut state.body));
            }
        }
    }
}

/// The header types that `Resubmit` objects emit.
fn resubmitted(program: &Program) -> HashSet<DeclarationId> {
    let mut found = HashSet::new();
    visit::calls(program, &mut |_, call| {
        let of = call.object.map(|object| &*program.objects[object.index()].of);
        if let (Some("Resubmit"), Some(Arg::In(Value::Header { ty: Type::Header(ty), .. }))) =
            (of, call.args.first())
        {
            found.insert(ty.declaration);
        }
    });
    found
}

/// Padding of the headers of one unit.
struct Padding<'u> {
    types: &'u HashSet<DeclarationId>,
    bits: u32,
    slots: &'u mut Vec<SlotInfo>,
}

impl Padding<'_> {
    fn list(&mut self, stmts: &mut Vec<Stmt>) {
        let before = std::mem::take(stmts);
        for stmt in before {
            self.statement(stmt, stmts);
        }
    }

    /// Appends a statement to `out`, and behind it what its padding takes.
    fn statement(&mut self, mut stmt: Stmt, out: &mut Vec<Stmt>) {
        let span = stmt.span;
        let mut skipped = 0;
        match &mut stmt.kind {
            StmtKind::Extract { header, .. } => skipped = self.missing_of(header),
            StmtKind::ExtractNext { stack: Layout::Stack { elements, .. } } => {
                skipped = elements.first().map_or(0, |element| self.missing_of(element));
            }
            StmtKind::Skip { header, bits } => *bits += self.missing(header, (*bits).into()),
            StmtKind::Emit(layout) if self.has_padding(layout) => {
                return self.emit(layout, span, out);
            }
            StmtKind::If { then, otherwise, .. } => {
                self.list(then);
                self.list(otherwise);
            }
            StmtKind::Switch { cases, default, .. } => {
                cases.iter_mut().for_each(|(_, body)| self.list(body));
                self.list(default);
            }
            StmtKind::Block { body, .. } | StmtKind::Loop { body, .. } => self.list(body),
            _ => {}
        }
        out.push(stmt);
        if skipped > 0 {
            let kind = ExprKind::Const(skipped.into());
            let bits = Expr { kind, scalar: Scalar::Bit(32), span };
            out.push(Stmt { kind: StmtKind::Advance { bits }, span });
        }
    }

    /// Emits headers one by one, each with its padding.
    fn emit(&mut self, layout: &Layout, span: Span, out: &mut Vec<Stmt>) {
        if let Layout::Struct { fields: parts, .. }
        | Layout::Union { members: parts, .. }
        | Layout::Stack { elements: parts, .. } = layout
        {
            return parts.iter().for_each(|part| self.emit(part, span, out));
        }
        out.push(Stmt { kind: StmtKind::Emit(layout.clone()), span });
        let (bits, Layout::Header { valid, ty, .. }) = (self.missing_of(layout), layout) else {
            return;
        };
        if bits == 0 {
            return;
        }
        let slot = |slot, scalar| Expr { kind: ExprKind::Slot(slot), scalar, span };
        let (own, zeros) = (self.slot(Scalar::Bool, span), self.slot(Scalar::Bit(bits), span));
        let fields = vec![Layout::Narrow(zeros, Scalar::Bit(bits))];
        let padding = Layout::Header { valid: own, fields, ty: ty.clone() };
        // The padding is valid where its header is.
        let valid = StmtKind::Set(own, slot(*valid, Scalar::Bool));
        out.extend([valid, StmtKind::Emit(padding)].map(|kind| Stmt { kind, span }));
    }

    fn slot(&mut self, scalar: Scalar, span: Span) -> Slot {
        let name = "$resubmit padding$".into();
        self.slots.push(SlotInfo { name, scalar, temporary: true, span });
        Slot(self.slots.len() as u32 - 1)
    }

    fn has_padding(&self, layout: &Layout) -> bool {
        match layout {
            Layout::Header { .. } => self.missing_of(layout) > 0,
            Layout::Struct { fields: parts, .. }
            | Layout::Union { members: parts, .. }
            | Layout::Stack { elements: parts, .. } => {
                parts.iter().any(|part| self.has_padding(part))
            }
            _ => false,
        }
    }

    /// Bits that a header lacks of what a resubmitted packet carries.
    fn missing_of(&self, header: &Layout) -> u32 {
        match header {
            Layout::Header { ty, .. } => self.missing(ty, header.wire_bits(None)),
            _ => 0,
        }
    }

    fn missing(&self, ty: &Type, bits: u64) -> u32 {
        match ty {
            Type::Header(of) if self.types.contains(&of.declaration) => {
                self.bits.saturating_sub(u32::try_from(bits).unwrap_or(u32::MAX))
            }
            _ => 0,
        }
    }
}

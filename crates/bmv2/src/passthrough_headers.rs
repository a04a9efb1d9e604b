//! Headers that are parsed last, emitted last, and not accessed in between: they may remain in
//! place, in front of the payload.

use super::blocks::Blocks;
use super::runtime::Runtime;
use sojourn_p4::interp::SlotRange;
use sojourn_p4::ir::{
    Body, Expr, ExprKind, Layout, Next, Program, Slot, State, Stmt, StmtKind, Transition, Unit,
    UnitId,
};
use sojourn_p4::visit;
use sojourn_target::def_use::{read_by, written_by};
use std::collections::HashSet;

/// A header that may remain in place in front of the payload.
#[derive(Clone, Copy, Debug)]
pub struct HeaderInPlace {
    /// The slot of its validity.
    pub valid: Slot,
    slots: SlotRange,
}

impl HeaderInPlace {
    fn new(header: &Layout) -> Option<HeaderInPlace> {
        match header {
            Layout::Header { valid, .. } => {
                Some(HeaderInPlace { valid: *valid, slots: header.range() })
            }
            _ => None,
        }
    }

    /// The slots of its fields.
    pub fn fields(&self) -> impl Iterator<Item = Slot> + use<> {
        let valid = self.valid;
        self.slots.narrow().map(|slot| Slot(slot as u32)).filter(move |slot| *slot != valid)
    }
}

/// The headers of a program that may remain in place. At most one of them is valid: each is extracted
/// only as the last action of the parser.
pub fn find_passthrough_headers(
    program: &Program,
    blocks: &Blocks,
    runtime: &Runtime,
) -> Vec<HeaderInPlace> {
    let Blocks { parser, verify, ingress, egress, compute, deparser, .. } = blocks;
    let unit = |unit: UnitId| &program.units[unit.index()];
    // Otherwise a header's slots differ between the blocks.
    let all = [parser, verify, ingress, egress, compute, deparser];
    if !all.iter().all(|block| block.is_joined()) {
        return Vec::new();
    }
    let Some(emitted) = emitted(unit(deparser.unit)) else { return Vec::new() };
    let mut touched = HashSet::new();
    visit::calls(program, &mut |_, call| touched.extend(runtime.read_by(call)));
    for block in [parser, verify, ingress, egress, compute] {
        touched.extend(read_by(program, block.unit));
    }
    for block in [verify, ingress, egress, compute] {
        touched.extend(written_by(program, block.unit));
    }
    let stays = |header: &&&Layout| {
        let same = emitted.iter().filter(|other| other.range() == header.range());
        header.range().narrow().all(|slot| !touched.contains(&Slot(slot as u32)))
            && is_last(unit(parser.unit), header)
            && same.count() == 1
    };
    let last = emitted.iter().rev().take_while(stays);
    last.filter_map(|header| HeaderInPlace::new(header)).collect()
}

/// Headers emitted by a deparser, in order; `None` if it does anything else.
fn emitted(deparser: &Unit) -> Option<Vec<&Layout>> {
    let Body::Control { stmts, .. } = &deparser.body else { return None };
    let mut headers = Vec::new();
    for stmt in stmts {
        let StmtKind::Emit(layout) = &stmt.kind else { return None };
        add_headers(layout, &mut headers)?;
    }
    Some(headers)
}

fn add_headers<'l>(layout: &'l Layout, headers: &mut Vec<&'l Layout>) -> Option<()> {
    match layout {
        Layout::Header { .. } => headers.push(layout),
        Layout::Struct { fields, .. } => {
            fields.iter().try_for_each(|field| add_headers(field, headers))?;
        }
        _ => return None,
    }
    Some(())
}

/// True if the parser's only operation on a header is to extract it, in whole bytes, and accept.
fn is_last(parser: &Unit, header: &Layout) -> bool {
    let Body::Parser(body) = &parser.body else { return false };
    let slots = header.range();
    let extracts = |kind: &StmtKind| match kind {
        StmtKind::Extract { header, .. } => header.range().overlaps(&slots),
        _ => false,
    };
    // A parser begins with invalid headers.
    let invalidates =
        |kind: &StmtKind| matches!(kind, StmtKind::Set(_, Expr { kind: ExprKind::Const(0), .. }));
    let writes = |stmt: &Stmt| {
        let mut writes = false;
        visit::written(stmt, &mut |slot| writes |= slots.narrow().contains(&slot.index()));
        writes && !extracts(&stmt.kind) && !invalidates(&stmt.kind)
    };
    let ends = |state: &State| {
        let Some((last, before)) = state.body.split_last() else { return true };
        let whole = match &last.kind {
            StmtKind::Extract { header: extracted, bits } if extracts(&last.kind) => {
                extracted.range() == slots
                    && bits.is_multiple_of(8)
                    && matches!(state.transition, Transition::Direct(Next::Accept))
            }
            _ => true,
        };
        whole && !before.iter().any(|stmt| extracts(&stmt.kind))
    };
    let mut clean = body.states.iter().all(ends);
    visit::unit_lists(parser).into_iter().for_each(|list| {
        visit::statements(list, &mut |stmt| clean &= !writes(stmt));
    });
    clean && body.init.iter().all(|stmt| !extracts(&stmt.kind))
}

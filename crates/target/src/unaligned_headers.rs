//! Headers that are not whole bytes, which no switch can extract.
//!
//! Uses the IR's layouts. The width is that of the declared fields: a field of variable size counts
//! with its maximum length. Must not depend on an architecture.

use sojourn_p4::ir::{Program, StmtKind, UnitId};
use sojourn_p4::source::Span;
use sojourn_p4::types::Type;
use sojourn_p4::visit;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A header type whose fields do not add up to whole bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnalignedHeader {
    /// Its name.
    pub name: Arc<str>,
    /// Bits of its fields.
    pub bits: u32,
    /// True if it or a part is `@flexible`: the compiler fills it up.
    pub flexible: bool,
    /// Span of the declaration.
    pub span: Span,
}

/// The unaligned headers among the parameters of a program's blocks and the headers that its
/// parsers extract.
pub fn unaligned_headers(program: &Program) -> Vec<UnalignedHeader> {
    let mut found = BTreeMap::new();
    for (index, unit) in program.units.iter().enumerate() {
        unit.params.iter().for_each(|param| collect_unaligned(&param.ty, &mut found));
        visit::unit_statements(program, UnitId(index as u32), &mut |stmt| {
            if let StmtKind::Extract { header, .. } | StmtKind::ExtractVar { header, .. } =
                &stmt.kind
                && let sojourn_p4::ir::Layout::Header { ty, .. } = header
            {
                collect_unaligned(ty, &mut found);
            }
        });
    }
    found.into_values().collect()
}

fn collect_unaligned(ty: &Type, found: &mut BTreeMap<u32, UnalignedHeader>) {
    match ty {
        Type::Struct(of) | Type::HeaderUnion(of) => {
            of.fields.iter().for_each(|field| collect_unaligned(&field.ty, found));
        }
        Type::Stack(element, _) => collect_unaligned(element, found),
        Type::Header(of) => {
            let bits = of.fields.iter().fold(0, |sum, field| width(&field.ty).saturating_add(sum));
            if !bits.is_multiple_of(8) {
                found.entry(of.span.start).or_insert_with(|| UnalignedHeader {
                    name: of.name.clone(),
                    bits,
                    flexible: of.is_flexible(),
                    span: of.span,
                });
            }
        }
        _ => {}
    }
}

fn width(ty: &Type) -> u32 {
    match ty {
        Type::Bool => 1,
        Type::Bit(width) | Type::Int(width) | Type::VarBit(width) => *width,
        Type::Error | Type::Enum(_) => 32,
        Type::SerializableEnum(of) => of.underlying.as_ref().map_or(0, width),
        Type::New(of) => width(&of.target),
        Type::Struct(of) => {
            of.fields.iter().fold(0, |sum, field| width(&field.ty).saturating_add(sum))
        }
        _ => 0,
    }
}

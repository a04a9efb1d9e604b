//! Headers with type parameters (T0810): `width_bits()` in p4c's `ir/type.cpp` fails for the type of
//! a field that is a parameter. Uses the IR's types; structs may have parameters.

use crate::rules;
use sojourn_p4::diagnostic::Diagnostic;
use sojourn_p4::ir::{Layout, Program, StmtKind, UnitId};
use sojourn_p4::types::{FieldsType, Type};
use sojourn_p4::visit;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Refuses the headers with type arguments that blocks are given, extracted or copied.
pub fn check(program: &Program, found: &mut Vec<Diagnostic>) {
    let mut headers = BTreeMap::new();
    for (index, unit) in program.units.iter().enumerate() {
        unit.params.iter().for_each(|param| collect(&param.ty, &mut headers));
        visit::unit_statements(program, UnitId(index as u32), &mut |stmt| match &stmt.kind {
            StmtKind::Extract { header: Layout::Header { ty, .. }, .. } => {
                collect(ty, &mut headers);
            }
            StmtKind::Call(call) => call.type_args.iter().for_each(|ty| collect(ty, &mut headers)),
            _ => {}
        });
    }
    for header in headers.into_values() {
        let message = format!("the header `{}` has type parameters", header.name);
        found.push(rules::GENERIC_HEADER.refuse(header.span, message).into());
    }
}

/// Notes the generic headers in a type, by their declarations.
fn collect(ty: &Type, found: &mut BTreeMap<u32, Arc<FieldsType>>) {
    match ty {
        Type::Struct(of) | Type::HeaderUnion(of) => {
            of.fields.iter().for_each(|field| collect(&field.ty, found));
        }
        Type::Stack(element, _) => collect(element, found),
        Type::Header(of) if !of.args.is_empty() => {
            found.entry(of.span.start).or_insert_with(|| of.clone());
        }
        _ => {}
    }
}

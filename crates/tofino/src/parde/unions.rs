//! Header unions (T0809), which the compiler refuses wherever one is declared and used, after
//! `bf-p4c/midend/desugar_varbit_extract.cpp`.

use crate::rules;
use sojourn_p4::diagnostic::Diagnostic;
use sojourn_p4::ir::{Program, UnitId};
use sojourn_p4::types::Type;

/// Refuses each header union in the parameters of the blocks of a pipeline.
pub fn check(program: &Program, blocks: [UnitId; 6], found: &mut Vec<Diagnostic>) {
    let mut named = Vec::new();
    for block in blocks {
        let params = &program.units[block.index()].params;
        params.iter().for_each(|param| collect(&param.ty, &mut named, found));
    }
}

fn collect(ty: &Type, named: &mut Vec<u32>, found: &mut Vec<Diagnostic>) {
    match ty {
        Type::Struct(of) => of.fields.iter().for_each(|field| collect(&field.ty, named, found)),
        Type::Stack(element, _) => collect(element, named, found),
        Type::HeaderUnion(of) if !named.contains(&of.span.start) => {
            named.push(of.span.start);
            let message = format!("`{}` is a header union", of.name);
            found.push(rules::HEADER_UNION.refuse(of.span, message).into());
        }
        _ => {}
    }
}

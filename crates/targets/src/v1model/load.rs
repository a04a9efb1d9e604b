//! From the IR of a v1model program to a data plane, or to diagnostics.

use super::arithmetic;
use super::blocks::Block;
use super::field_list;
use super::pipeline::{Blocks, V1Model};
use super::profile_defaults;
use super::rules::{self, Refusal};
use super::runtime;
use crate::guards;
use crate::load::LoadOptions;
use sojourn_p4::diagnostic::Diagnostic;
use sojourn_p4::interp::Interpreter;
use sojourn_p4::ir::{Body, Package, PackageArg, Program, UnitId};
use sojourn_p4::source::Span;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Makes a data plane of an elaborated program; none if an error was found.
pub fn build(
    mut program: Program,
    options: &LoadOptions,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<V1Model> {
    diagnostics.extend(profile_defaults::take_away(&mut program));
    diagnostics.extend(arithmetic::check(&program));
    if diagnostics.iter().any(Diagnostic::is_error) {
        return None;
    }
    let units = match find_units(&program) {
        Ok(units) => units,
        Err(refused) => {
            diagnostics.push(refused.into());
            return None;
        }
    };
    let interpreter = Interpreter::new(Arc::new(program));
    let blocks = Blocks::new(units.map(|unit| Block::new(&interpreter, unit)));
    let program = interpreter.program();
    let metadata = program.units[units[2].index()].params.get(1);
    let lists = metadata.map_or_else(
        || Ok(BTreeMap::new()),
        |metadata| field_list::annotated(&metadata.layout, &blocks.ingress, &program.constants),
    );
    let lists = match lists {
        Ok(lists) => lists,
        Err(mut refused) => {
            diagnostics.append(&mut refused);
            return None;
        }
    };
    match runtime::prepare(program, &blocks, lists, options.seed) {
        Ok(runtime) => {
            let guarded = Interpreter::new(Arc::new(guards::with_guards(program)));
            Some(V1Model::new(guarded, runtime, blocks))
        }
        Err(mut refused) => {
            diagnostics.append(&mut refused);
            None
        }
    }
}

/// The six blocks, in the order of `V1Switch`'s parameters.
fn find_units(program: &Program) -> Result<[UnitId; 6], Refusal> {
    let Some(main) = &program.main else {
        return Err(rules::PACKAGE.refuse(Span::DUMMY, "the program has no `main`"));
    };
    let units = main.args.iter().filter_map(|(_, arg)| match arg {
        PackageArg::Unit(unit) => Some(*unit),
        _ => None,
    });
    let units: Vec<UnitId> = units.collect();
    let units = <[UnitId; 6]>::try_from(units).map_err(|units| {
        let message = format!("a `V1Switch` of {} blocks", units.len());
        rules::PACKAGE.refuse(main.span, message)
    })?;
    for (at, unit) in units.iter().enumerate() {
        check_unit(program, *unit, at == 0, main)?;
    }
    Ok(units)
}

fn check_unit(
    program: &Program,
    unit: UnitId,
    is_parser: bool,
    main: &Package,
) -> Result<(), Refusal> {
    let unit = &program.units[unit.index()];
    if matches!(unit.body, Body::Parser(_)) == is_parser {
        return Ok(());
    }
    let message = format!("`{}` cannot stand at this place of a V1Switch", unit.name);
    Err(rules::PACKAGE.refuse(main.span, message).with_place(unit.span, "declared here"))
}

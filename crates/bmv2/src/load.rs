//! Loading: from the IR of a v1model program to a data plane, or to diagnostics.

use super::blocks::{Block, Blocks};
use super::field_list;
use super::fused_pass;
use super::pipeline::V1Model;
use super::restrictions;
use super::rules;
use super::runtime;
use sojourn_p4::diagnostic::Diagnostic;
use sojourn_p4::interp::{Executor, Interpreter};
use sojourn_p4::ir::Program;
use sojourn_target::arithmetic::{self, ArithmeticRules};
use sojourn_target::load::LoadOptions;
use sojourn_target::package::blocks;
use sojourn_target::profile_defaults;
use sojourn_target::unaligned_headers::unaligned_headers;
use sojourn_target::validity_checks;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Builds a data plane of an elaborated program; `None` if there is an error.
pub fn build(
    mut program: Program,
    options: &LoadOptions,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<V1Model> {
    let profile_default = &rules::PROFILE_DEFAULT;
    diagnostics.extend(profile_defaults::take_away(
        &mut program,
        runtime::is_profile,
        profile_default,
    ));
    let (division, shift_count) = (&rules::DIVISION, &rules::SHIFT_COUNT);
    diagnostics.extend(arithmetic::check(&program, ArithmeticRules { division, shift_count }));
    diagnostics.extend(unaligned_headers(&program).into_iter().map(|header| {
        let message = format!("the header `{}` has {} bits", header.name, header.bits);
        rules::HEADER_BYTES.refuse(header.span, message).into()
    }));
    if diagnostics.iter().any(Diagnostic::is_error) {
        return None;
    }
    let units = match blocks(&program, &rules::PACKAGE) {
        Ok((_, units)) => units,
        Err(refused) => {
            diagnostics.push(refused.into());
            return None;
        }
    };
    diagnostics.extend(restrictions::check(&program, units));
    if diagnostics.iter().any(Diagnostic::is_error) {
        return None;
    }
    // Used for analysis only: the guarded program is executed.
    let interpreter = Interpreter::with_executor(Arc::new(program), Executor::Tree);
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
    let within =
        metadata.map(|metadata| field_list::headers_within(&metadata.layout, &blocks.ingress));
    match runtime::prepare(program, &blocks, lists, options) {
        Ok(mut runtime) => {
            runtime.headers_within = within.unwrap_or_default();
            let guarded = options.interpreter(validity_checks::with_guards(program));
            let mut interpreter = guarded.with_calls(&runtime);
            let joined = fused_pass::join(&mut interpreter, &blocks, &runtime);
            Some(V1Model::new(interpreter, runtime, blocks, joined))
        }
        Err(mut refused) => {
            diagnostics.append(&mut refused);
            None
        }
    }
}

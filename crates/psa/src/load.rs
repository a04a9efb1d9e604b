//! Loading: from the IR of a PSA program to a data plane, or to diagnostics.

use super::blocks::{self, Block, control, egress_deparser, parser};
use super::metadata::{Input, Output};
use super::pipeline::{Pass, Psa};
use super::rules;
use super::runtime::{is_direct, is_profile, prepare};
use sojourn_p4::diagnostic::Diagnostic;
use sojourn_p4::interp::Interpreter;
use sojourn_p4::ir::{ExternCall, Program, StmtKind, UnitId};
use sojourn_p4::visit;
use sojourn_target::applied_tables::shared_objects;
use sojourn_target::arithmetic::{self, ArithmeticRules};
use sojourn_target::common_limits::{self, CommonRules};
use sojourn_target::load::LoadOptions;
use sojourn_target::unaligned_headers::unaligned_headers;
use sojourn_target::{profile_defaults, validity_checks};

/// The rules of limits that v1model has too.
const COMMON: CommonRules = CommonRules {
    apply_order: &rules::APPLY_ORDER,
    one_successor: &rules::ONE_SUCCESSOR,
    for_in: &rules::FOR_IN,
    one_lpm: &rules::ONE_LPM,
    action_data: &rules::ACTION_DATA,
    one_varbit: &rules::ONE_VARBIT,
    exit_once: &rules::EXIT_ONCE,
};

/// Builds a data plane of an elaborated program; `None` if there is an error.
pub(crate) fn build(
    mut program: Program,
    options: &LoadOptions,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<Psa> {
    let default = &rules::PROFILE_DEFAULT;
    diagnostics.extend(profile_defaults::take_away(&mut program, is_profile, default));
    diagnostics.extend(check(&program));
    let units = match blocks::units(&program) {
        Ok(units) => units,
        Err(refused) => {
            diagnostics.push(refused.into());
            return None;
        }
    };
    let [_, ingress, first, _, egress, second] = units;
    diagnostics.extend(check_deparser(&program, first, true));
    diagnostics.extend(check_deparser(&program, second, false));
    diagnostics.extend(common_limits::check(&program, &[ingress, egress], COMMON));
    let runtime = match prepare(&program, options) {
        Ok(runtime) => runtime,
        Err(mut refused) => {
            diagnostics.append(&mut refused);
            return None;
        }
    };
    if diagnostics.iter().any(Diagnostic::is_error) {
        return None;
    }
    let interpreter = options.interpreter(validity_checks::with_guards(&program));
    let [a, b, c, d, e, f] = units;
    let passes =
        [pass(&interpreter, [a, b, c], "ingress"), pass(&interpreter, [d, e, f], "egress")];
    let deparser_input = input(&interpreter, f, egress_deparser::INPUT, "egress");
    Some(Psa::new(interpreter, runtime, passes, deparser_input))
}

/// Errors of arithmetic, headers and direct objects.
fn check(program: &Program) -> Vec<Diagnostic> {
    let (division, shift_count) = (&rules::DIVISION, &rules::SHIFT_COUNT);
    let mut found = arithmetic::check(program, ArithmeticRules { division, shift_count });
    found.extend(unaligned_headers(program).into_iter().map(|header| {
        let message = format!("the header `{}` has {} bits", header.name, header.bits);
        Diagnostic::from(rules::HEADER_BYTES.refuse(header.span, message))
    }));
    found.extend(shared_objects(program, is_direct).into_iter().map(|shared| {
        let message = format!("the {} `{}` is of two tables", shared.object.of, shared.object.name);
        let refused = rules::DIRECT_OF_ONE.refuse(shared.other.span, message);
        Diagnostic::from(refused.with_place(shared.owner.span, "the other table"))
    }));
    found
}

/// Externs that a deparser may call; digests in that of ingress only.
const OF_DEPARSERS: [&str; 2] = ["Checksum", "InternetChecksum"];

/// Errors of tables and externs that belong into a control.
fn check_deparser(program: &Program, unit: UnitId, digests: bool) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    visit::unit_statements(program, unit, &mut |stmt| {
        let message = match &stmt.kind {
            StmtKind::Apply { table, .. } => {
                format!("the table `{}` in a deparser", program.tables[table.index()].name)
            }
            StmtKind::Call(ExternCall { object: Some(object), name, .. }) => {
                let of = &*program.objects[object.index()].of;
                if OF_DEPARSERS.contains(&of) || (digests && of == "Digest") {
                    return;
                }
                format!("{of}.{name} in a deparser")
            }
            _ => return,
        };
        found.push(rules::DEPARSER.refuse(stmt.span, message).into());
    });
    found
}

fn pass(interpreter: &Interpreter, units: [UnitId; 3], name: &str) -> Pass {
    let output = blocks::parameters(interpreter.program(), units[1]).nth(control::OUTPUT);
    let output = output.map(Output::new).unwrap_or_default();
    let parser_input = input(interpreter, units[0], parser::INPUT, name);
    let control_input = input(interpreter, units[1], control::INPUT, name);
    let [parser, control, deparser] = units.map(|unit| Block::new(interpreter, unit));
    Pass { parser, control, deparser, parser_input, input: control_input, output }
}

fn input(interpreter: &Interpreter, unit: UnitId, parameter: usize, pass: &str) -> Input {
    let layout = blocks::parameters(interpreter.program(), unit).nth(parameter);
    layout.map(|layout| Input::new(layout, pass)).unwrap_or_default()
}

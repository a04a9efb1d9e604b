//! Blocks and arguments of extern calls that p4c enforces for bmv2 (V0203, V0214, V0215, V0218,
//! V0222), after `backends/bmv2/simple_switch/simpleSwitch.cpp` and `common/parser.cpp`.
//!
//! Uses the IR; must not depend on how a call runs.

use super::rules;
use sojourn_p4::diagnostic::Diagnostic;
use sojourn_p4::ir::{Arg, Expr, ExprKind, ExternCall, Program, StmtKind, UnitId, Value};
use sojourn_p4::source::Span;
use sojourn_p4::types::Type;
use sojourn_p4::visit;
use sojourn_target::common_limits::is_number;

/// Checks the calls of the parser, of ingress and egress, and the objects of the program.
pub(super) fn check(
    program: &Program,
    parser: UnitId,
    [ingress, egress]: [UnitId; 2],
    found: &mut Vec<Diagnostic>,
) {
    parser_calls(program, parser, found);
    for (unit, pass) in [(ingress, Pass::Ingress), (egress, Pass::Egress)] {
        visit::unit_statements(program, unit, &mut |stmt| {
            if let StmtKind::Call(call) = &stmt.kind {
                checksums(call, found);
                copies(call, pass, found);
                hash_input(call, found);
            }
        });
    }
    for object in program.objects.iter().filter(|object| &*object.of == "register") {
        if !object.type_args.first().is_none_or(is_number) {
            let message = format!("`{}` holds no numbers", object.name);
            found.push(rules::REGISTER_CELL.refuse(object.span, message).into());
        }
    }
}

/// A pass of the switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pass {
    Ingress,
    Egress,
}

/// A parser calls `log_msg` alone.
fn parser_calls(program: &Program, parser: UnitId, found: &mut Vec<Diagnostic>) {
    visit::unit_statements(program, parser, &mut |stmt| {
        for expr in visit::expressions(stmt) {
            if let Some(span) = packet_length(expr) {
                let message = "the length of the packet in a parser";
                found.push(rules::CALL_BLOCK.refuse(span, message).into());
            }
        }
        let StmtKind::Call(call) = &stmt.kind else { return };
        if &*call.name != "log_msg" {
            let message = format!("`{}` in a parser", call.name);
            found.push(rules::CALL_BLOCK.refuse(call.span, message).into());
        }
    });
}

fn packet_length(expr: &Expr) -> Option<Span> {
    match expr.kind {
        ExprKind::PacketLength => Some(expr.span),
        _ => visit::operands(expr).into_iter().find_map(packet_length),
    }
}

/// Copies, further passes and digests of a control.
fn copies(call: &ExternCall, pass: Pass, found: &mut Vec<Diagnostic>) {
    if call.object.is_some() {
        return;
    }
    let (right, list) = match &*call.name {
        "clone" => (of_clone(call), None),
        "clone_preserving_field_list" => (of_clone(call), Some(2)),
        "resubmit_preserving_field_list" => (Some(Pass::Ingress), Some(0)),
        "recirculate_preserving_field_list" => (Some(Pass::Egress), Some(0)),
        "digest" => {
            if matches!(call.type_args.first(), Some(Type::Header(_))) {
                let message = "a digest of a header";
                found.push(rules::DIGEST_STRUCT.refuse(call.span, message).into());
            }
            return;
        }
        _ => return,
    };
    if right.is_some_and(|right| right != pass) {
        let message = match pass {
            Pass::Ingress => format!("`{}` of egress in ingress", call.name),
            Pass::Egress => format!("`{}` of ingress in egress", call.name),
        };
        found.push(rules::CALL_BLOCK.refuse(call.span, message).into());
    }
    if let Some(number) = list.and_then(|at| scalar(call, at))
        && !matches!(number.kind, ExprKind::Const(_))
    {
        let message = "the number of a field list is no constant";
        found.push(rules::FIELD_LIST.refuse(number.span, message).into());
    }
}

/// Checksums, which have controls of their own.
fn checksums(call: &ExternCall, found: &mut Vec<Diagnostic>) {
    let name = call.name.strip_suffix("_with_payload").unwrap_or(&call.name);
    if call.object.is_none() && matches!(name, "verify_checksum" | "update_checksum") {
        let message = format!("`{}` outside of the controls of checksums", call.name);
        found.push(rules::CHECKSUM_BLOCK.refuse(call.span, message).into());
    }
}

/// The data of a hash: p4c makes a list of the fields of a struct, header or tuple.
fn hash_input(call: &ExternCall, found: &mut Vec<Diagnostic>) {
    if call.object.is_none()
        && &*call.name == "hash"
        && let Some(data) = scalar(call, 3)
    {
        let message = "a hash of one value that is no list";
        found.push(rules::HASH_LIST.refuse(data.span, message).into());
    }
}

/// The pass whose packets a `clone` copies.
fn of_clone(call: &ExternCall) -> Option<Pass> {
    match scalar(call, 0)?.kind {
        ExprKind::Const(0) => Some(Pass::Ingress),
        ExprKind::Const(1) => Some(Pass::Egress),
        _ => None,
    }
}

fn scalar(call: &ExternCall, at: usize) -> Option<&Expr> {
    match call.args.get(at)? {
        Arg::In(Value::Scalar(expr)) => Some(expr),
        _ => None,
    }
}

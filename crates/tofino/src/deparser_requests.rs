//! Limits on the copies that a deparser requests: `Mirror`, `Resubmit`, `Digest` (rules T0903,
//! T0904).
//!
//! An object is constructed with the type of its copies, or without. The deparser chooses by type
//! alone. With a type, the call may be anywhere, and a condition around it must hold wherever the
//! type is selected. Without a type, a condition must state the type.
//!
//! Depends on the IR of a deparser. The forms are those that the open-source Tofino back end
//! accepts (`parde/extract_deparser.cpp`, `midend/simplify_nested_if.cpp`); forms that it may
//! rewrite into one of them are accepted. Lengths are checked where the runtime is prepared.

use super::arguments;
use super::fit::{Place, header_fields, shifted};
use super::parde::{Known, computed};
use super::rules;
use sojourn_p4::diagnostic::Diagnostic;
use sojourn_p4::ir::{
    Arg, Binary, Body, Expr, ExprKind, ExternCall, Object, ObjectArg, Program, Scalar, Stmt,
    StmtKind, Unary, Unit, UnitId, Value,
};
use sojourn_p4::source::Span;
use sojourn_p4::visit;

/// Bits of the largest container.
const CONTAINER_BITS: u32 = 32;

/// A condition that holds or does not hold on the way to a statement.
type Condition<'p> = (&'p Expr, bool);

/// Diagnostics about the copies that a deparser makes.
///
/// `untyped` says whether the compiler adds mirrors without a type there, beside which it refuses typed
/// ones; none if it takes both.
pub fn check(program: &Program, deparser: UnitId, untyped: Option<bool>) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let unit = &program.units[deparser.index()];
    if let Some(untyped) = untyped {
        check_mirrors(program, deparser, untyped, &mut found);
    }
    if let Body::Control { stmts, .. } = &unit.body {
        walk((program, unit), stmts, &mut Known::default(), &mut Vec::new(), &mut found);
    }
    found
}

/// Refuses mirrors that are constructed for a type beside others.
fn check_mirrors(program: &Program, deparser: UnitId, added: bool, found: &mut Vec<Diagnostic>) {
    let (mut typed, mut untyped) = (Vec::new(), added);
    visit::unit_statements(program, deparser, &mut |stmt| {
        if let StmtKind::Call(call) = &stmt.kind
            && let Some(object) = call.object.map(|id| &program.objects[id.index()])
            && &*object.of == "Mirror"
        {
            match type_of(object) {
                Some(of) => typed.push((call.span, of)),
                None => untyped = true,
            }
        }
    });
    for (span, of) in typed.into_iter().filter(|_| untyped) {
        let place = if added { "in the deparser of ingress" } else { "beside one without" };
        let message = format!("a mirror constructed for the type {of} {place}");
        found.push(rules::COPY_CONDITION.refuse(span, message).into());
    }
}

fn walk<'p>(
    (program, unit): (&Program, &Unit),
    stmts: &'p [Stmt],
    known: &mut Known,
    conditions: &mut Vec<Condition<'p>>,
    found: &mut Vec<Diagnostic>,
) {
    for stmt in stmts {
        match &stmt.kind {
            StmtKind::If { condition, then, otherwise } => {
                for (list, truth) in [(then, true), (otherwise, false)] {
                    conditions.push((condition, truth));
                    walk((program, unit), list, &mut known.clone(), conditions, found);
                    conditions.pop();
                }
                known.forget_written(std::slice::from_ref(stmt));
            }
            StmtKind::Call(call) => {
                if let Some(of) = copy(program, call) {
                    match (combined(conditions), of) {
                        (Some(condition), _) => refuse_condition(condition, call, found),
                        (None, Some(of)) => check_typed(call, of, conditions, found),
                        (None, None) => check_conditions(unit, call, conditions, found),
                    }
                    check_arguments(unit, call, known, found);
                }
            }
            _ => {
                for list in visit::inner_lists(stmt) {
                    walk((program, unit), list, known, conditions, found);
                }
            }
        }
        known.step(stmt);
    }
}

/// The type of the copies that an object makes, if it was built with one.
pub fn type_of(object: &Object) -> Option<u8> {
    let number = object.args.iter().find_map(|(_, arg)| match arg {
        ObjectArg::Const(value) => arguments::number(value),
        _ => None,
    })?;
    u8::try_from(number).ok()
}

/// If a call makes a copy: for which type its object is.
fn copy(program: &Program, call: &ExternCall) -> Option<Option<u8>> {
    let object = &program.objects[call.object?.index()];
    let makes = [("Mirror", "emit"), ("Resubmit", "emit"), ("Digest", "pack")];
    makes.contains(&(&*object.of, &*call.name)).then(|| type_of(object))
}

/// The condition right around a copy if it is neither an equality with a constant nor a truth value
/// (`DoSimplifyNestedIf::addInArray`); outer ones may be.
fn combined<'p>(conditions: &[Condition<'p>]) -> Option<&'p Expr> {
    let (condition, true) = conditions.last()? else { return None };
    let inner = match &condition.kind {
        ExprKind::Unary(Unary::Not, inner) => &**inner,
        ExprKind::Binary(Binary::Eq, a, b) if is_selector(a, b) => return None,
        _ => *condition,
    };
    matches!(inner.kind, ExprKind::Binary(..)).then_some(*condition)
}

fn refuse_condition(condition: &Expr, call: &ExternCall, found: &mut Vec<Diagnostic>) {
    let message = "this condition decides about a copy and is no `type == constant`";
    let refused = rules::COPY_CONDITION.refuse(condition.span, message);
    found.push(refused.with_place(call.span, "the copy").into());
}

/// A copy for the type `of` is made wherever that is the type, so no condition may keep it away.
fn check_typed(
    call: &ExternCall,
    of: u8,
    conditions: &[Condition<'_>],
    found: &mut Vec<Diagnostic>,
) {
    let wrong = conditions.iter().find(|(condition, truth)| !holds(condition, *truth, of));
    if let Some((condition, _)) = wrong {
        let message =
            format!("this condition decides nothing: the copy is made where the type is {of}");
        let refused = rules::COPY_CONDITION.refuse(condition.span, message);
        found.push(refused.with_place(call.span, "the copy").into());
    }
}

/// True if a condition comes to `truth` wherever the type is `of`.
fn holds(condition: &Expr, truth: bool, of: u8) -> bool {
    match &condition.kind {
        ExprKind::Binary(Binary::Eq, a, b) | ExprKind::Binary(Binary::Ne, a, b) => {
            let Some(constant) = constant(a).or_else(|| constant(b)) else { return false };
            let is_equality = matches!(condition.kind, ExprKind::Binary(Binary::Eq, ..));
            (constant == u128::from(of)) == (is_equality == truth)
        }
        ExprKind::Binary(Binary::And, a, b) if truth => holds(a, true, of) && holds(b, true, of),
        ExprKind::Binary(Binary::Or, a, b) if truth => holds(a, true, of) || holds(b, true, of),
        ExprKind::Unary(Unary::Not, inner) => holds(inner, !truth, of),
        _ => false,
    }
}

fn check_conditions(
    unit: &Unit,
    call: &ExternCall,
    conditions: &[Condition<'_>],
    found: &mut Vec<Diagnostic>,
) {
    if conditions.is_empty() {
        let message = "a copy that is made for every packet";
        found.push(rules::COPY_CONDITION.refuse(call.span, message).into());
        return;
    }
    let several = conditions.len() > 1;
    let wrong = conditions.iter().find(|(condition, truth)| !allowed(condition, *truth, several));
    if let Some((condition, _)) = wrong {
        return refuse_condition(condition, call, found);
    }
    if let Some((condition, _)) = conditions.first()
        && !conditions.iter().any(|(condition, _)| names_type(unit, condition))
    {
        let message = "this condition decides about a copy and names no type";
        let refused = rules::COPY_CONDITION.refuse(condition.span, message);
        found.push(refused.with_place(call.span, "the copy").into());
    }
}

/// True for a condition on `mirror_type` or its like.
fn names_type(unit: &Unit, condition: &Expr) -> bool {
    match condition.kind {
        ExprKind::Slot(slot) => {
            unit.slots.get(slot.index()).is_some_and(|info| info.name.ends_with("_type"))
        }
        _ => visit::operands(condition).into_iter().any(|part| names_type(unit, part)),
    }
}

/// True for conditions that become a lookup by type; `several` if there are further conditions.
fn allowed(condition: &Expr, truth: bool, several: bool) -> bool {
    match &condition.kind {
        ExprKind::Binary(Binary::Eq, a, b) => is_selector(a, b),
        ExprKind::Binary(Binary::Ne, a, b) => (several || !truth) && is_selector(a, b),
        ExprKind::Binary(Binary::And, a, b) => allowed(a, truth, true) && allowed(b, truth, true),
        ExprKind::Unary(Unary::Not, inner) => allowed(inner, !truth, several),
        ExprKind::Slot(_) | ExprKind::Const(_) => condition.scalar == Scalar::Bool,
        _ => false,
    }
}

/// True for a field and a constant.
fn is_selector(a: &Expr, b: &Expr) -> bool {
    let is_constant = |expr| constant(expr).is_some();
    is_constant(b) && computed(a).is_none() || is_constant(a) && computed(b).is_none()
}

fn constant(expr: &Expr) -> Option<u128> {
    match &expr.kind {
        ExprKind::Const(value) => Some(*value),
        ExprKind::Cast(inner) | ExprKind::Slice(inner, _) => constant(inner),
        _ => None,
    }
}

/// Refuses computed or constant fields of a copy, and such a session of a mirror.
fn check_arguments(unit: &Unit, call: &ExternCall, known: &Known, found: &mut Vec<Diagnostic>) {
    if let [Arg::In(Value::Scalar(session))] = &call.args[..] {
        return check_lone_session(&known.resolved(session), session.span, found);
    }
    for (at, arg) in call.args.iter().enumerate() {
        let Arg::In(value) = arg else { continue };
        match value {
            // The compiler makes a slice of the low bits of a shift.
            Value::Scalar(session) if at == 0 && call.args.len() > 1 => {
                let session = known.resolved(session);
                check_width(&session, found);
                check_field(shifted(&session).unwrap_or(&session), known, found);
            }
            _ => check_fields(value, known, found),
        }
        if &*call.name == "emit" && at + 1 == call.args.len() {
            check_bytes(unit, value, known, found);
        }
    }
}

/// The session of a copy without further fields: the compiler takes a field or a constant there.
fn check_lone_session(session: &Expr, span: Span, found: &mut Vec<Diagnostic>) {
    match constant(session) {
        Some(0) => {}
        Some(_) => {
            let message = "the compiler takes a constant for zeros: the copy goes to session 0";
            found.push(rules::COPY_CONSTANT.warning(span, message));
        }
        None if !matches!(session.kind, ExprKind::Slot(_)) => {
            let message = "a session that is no whole field, in a copy of no other field";
            found.push(rules::COPY_CONSTANT.refuse(span, message).into());
        }
        None => {}
    }
}

/// Refuses a session from bits of a field that is larger than a container: the field of a session is
/// not divided.
fn check_width(session: &Expr, found: &mut Vec<Diagnostic>) {
    let mut field = session;
    while let ExprKind::Slice(inner, _) | ExprKind::Cast(inner) = &field.kind {
        field = inner;
    }
    let width = field.scalar.width();
    if matches!(field.kind, ExprKind::Slot(_)) && width > CONTAINER_BITS {
        let message = format!("a session from a field of {width} bits");
        found.push(rules::COPY_CONSTANT.refuse(session.span, message).into());
    }
}

/// Refuses slices of metadata that begin or end within a byte and are made wider or put together: the
/// compiler places metadata of a mirrored or resubmitted header in whole containers. A digest takes
/// any slice.
fn check_bytes(unit: &Unit, value: &Value, known: &Known, found: &mut Vec<Diagnostic>) {
    match value {
        Value::Scalar(part) if combines_cut(unit, &known.resolved(part)) => {
            let message = "bits of metadata that are no whole bytes among the fields of a copy";
            found.push(rules::COPY_CONSTANT.refuse(part.span, message).into());
        }
        Value::Header { fields: parts, .. } | Value::Struct { fields: parts, .. } => {
            parts.iter().for_each(|part| check_bytes(unit, part, known, found));
        }
        _ => {}
    }
}

fn combines_cut(unit: &Unit, part: &Expr) -> bool {
    !matches!(part.kind, ExprKind::Slice(..)) && cuts_byte(unit, part)
}

fn cuts_byte(unit: &Unit, part: &Expr) -> bool {
    match &part.kind {
        ExprKind::Slice(inner, low) => {
            let ExprKind::Slot(slot) = inner.kind else { return false };
            let end = low + part.scalar.width();
            let ends_within = end < inner.scalar.width() && !end.is_multiple_of(8);
            let mut headers = unit.params.iter().flat_map(|param| header_fields(&param.layout));
            let is_header = headers.any(|field| field == Place::Narrow(slot));
            !is_header && (!low.is_multiple_of(8) || ends_within)
        }
        _ => visit::operands(part).into_iter().any(|operand| cuts_byte(unit, operand)),
    }
}

fn check_fields(value: &Value, known: &Known, found: &mut Vec<Diagnostic>) {
    match value {
        Value::Scalar(part) => check_field(&known.resolved(part), known, found),
        Value::Header { fields: parts, .. } | Value::Struct { fields: parts, .. } => {
            parts.iter().for_each(|part| check_fields(part, known, found));
        }
        _ => {}
    }
}

fn check_field(part: &Expr, known: &Known, found: &mut Vec<Diagnostic>) {
    let message = match part.kind {
        ExprKind::Const(0) => return,
        ExprKind::Const(constant) => format!("the constant {constant} among the fields of a copy"),
        _ if computed(part).is_some() || known.reads_computed(part) => {
            "a computed value among the fields of a copy".to_owned()
        }
        _ => return,
    };
    found.push(rules::COPY_CONSTANT.refuse(part.span, message).into());
}

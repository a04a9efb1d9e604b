//! Arithmetic that p4c does not support for bmv2's switches: division and remainder by anything but
//! a power of two, shifts by a wide count.
//!
//! Must not depend on an architecture, which passes its own rules.

use crate::rule::Rule;
use sojourn_p4::diagnostic::Diagnostic;
use sojourn_p4::ir::{Binary, Body, Expr, ExprKind, Program, Transition, UnitId};
use sojourn_p4::visit;

/// Bits of a count.
const COUNT_BITS: u32 = 8;

/// The largest constant count.
const LARGEST_COUNT: u128 = 1 << COUNT_BITS;

/// The rules that such operations break.
#[derive(Clone, Copy, Debug)]
pub struct ArithmeticRules {
    /// On divisions and remainders.
    pub division: &'static Rule,
    /// On the counts of shifts.
    pub shift_count: &'static Rule,
}

/// A diagnostic for each such operation.
pub fn check(program: &Program, rules: ArithmeticRules) -> Vec<Diagnostic> {
    let mut found = Found { rules, diagnostics: Vec::new() };
    for index in 0..program.units.len() {
        visit::unit_statements(program, UnitId(index as u32), &mut |stmt| {
            visit::expressions(stmt).into_iter().for_each(|expr| found.operations(expr));
        });
    }
    let keys = program.tables.iter().flat_map(|table| &table.keys).map(|key| &key.expr);
    keys.chain(selected(program)).for_each(|expr| found.operations(expr));
    found.diagnostics
}

/// The expressions by which parser states select the next.
fn selected(program: &Program) -> impl Iterator<Item = &Expr> {
    let parsers = program.units.iter().filter_map(|unit| match &unit.body {
        Body::Parser(parser) => Some(parser),
        Body::Control { .. } => None,
    });
    parsers.flat_map(|parser| &parser.states).flat_map(|state| match &state.transition {
        Transition::Select { keys, .. } => keys.as_slice(),
        _ => &[],
    })
}

/// Rules, and the diagnostics about them.
struct Found {
    rules: ArithmeticRules,
    diagnostics: Vec<Diagnostic>,
}

impl Found {
    fn operations(&mut self, expr: &Expr) {
        self.division(expr);
        self.shift(expr);
        visit::operands(expr).into_iter().for_each(|operand| self.operations(operand));
    }

    fn add(&mut self, refused: Diagnostic) {
        if !self.diagnostics.contains(&refused) {
            self.diagnostics.push(refused);
        }
    }

    /// A shift by a count of more bits than p4c gives bmv2. A constant without a width has 8 bits,
    /// or what it needs.
    fn shift(&mut self, expr: &Expr) {
        let ExprKind::Binary(Binary::Shl | Binary::Shr, what, by) = &expr.kind else { return };
        let message = match &by.kind {
            ExprKind::Const(count) if *count > LARGEST_COUNT => format!("a shift by {count}"),
            ExprKind::Const(LARGEST_COUNT) if by.scalar.width() == COUNT_BITS + 1 => return,
            _ if matches!(what.kind, ExprKind::Const(0)) || by.scalar.width() <= COUNT_BITS => {
                return;
            }
            _ => format!("a shift by a count of {} bits", by.scalar.width()),
        };
        self.add(self.rules.shift_count.refuse(by.span, message).into());
    }

    fn division(&mut self, expr: &Expr) {
        // p4c folds `0 / x` and `0 % x` to 0.
        if let ExprKind::Binary(op @ (Binary::Div | Binary::Mod), what, by) = &expr.kind
            && !matches!(what.kind, ExprKind::Const(0))
            && !matches!(by.kind, ExprKind::Const(by) if by.is_power_of_two())
        {
            let what = if *op == Binary::Div { "a division" } else { "a remainder" };
            self.add(self.rules.division.refuse(expr.span, what).into());
        }
    }
}

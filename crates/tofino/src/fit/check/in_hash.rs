//! Assignments under `@in_hash`, which asks the compiler to have the hash unit compute them, after
//! `bf-p4c/mau/instruction_selection.cpp`.
//!
//! The hash unit brings bits of fields together and XORs them, any number in one stage. What it cannot
//! compute stays an instruction: the annotation then has no effect. Must not depend on a rule.

use super::instruction::is_field;
use super::values::Evaluated;
use crate::fit::bits::is_constant;
use sojourn_p4::ast::Annotation;
use sojourn_p4::ir::{Binary, Expr, ExprKind, Program, Slot, Unary};
use sojourn_p4::source::Span;
use sojourn_p4::visit;
use std::collections::HashSet;

/// Name of the annotation.
const IN_HASH: &str = "in_hash";

/// The blocks of a program that have the annotation.
pub struct Blocks(Vec<Span>);

impl Blocks {
    /// Those of all controls.
    pub fn new(program: &Program) -> Blocks {
        let has = |annotation: &Annotation| &*annotation.name.text == IN_HASH;
        let blocks = program.declared.annotated_blocks.iter();
        Blocks(blocks.filter(|block| block.annotations.iter().any(has)).map(|b| b.span).collect())
    }

    /// True if the hash unit computes an expression.
    pub fn compute(&self, evaluated: &Evaluated) -> bool {
        let at = evaluated.at;
        let within = |block: &Span| block.start <= at.start && at.end <= block.end;
        self.0.iter().any(within)
            && is_linear(&evaluated.expr)
            && !reads(&evaluated.expr, &evaluated.data)
    }
}

/// True for bits of fields that are moved, inverted, masked by constants and XOR-ed.
fn is_linear(expr: &Expr) -> bool {
    is_field(expr)
        || match &expr.kind {
            ExprKind::Cast(a) | ExprKind::Slice(a, _) | ExprKind::Unary(Unary::Complement, a) => {
                is_linear(a)
            }
            ExprKind::Binary(Binary::Concat | Binary::BitXor, a, b) => is_linear(a) && is_linear(b),
            ExprKind::Binary(Binary::BitAnd | Binary::BitOr, a, b) => {
                is_constant(a) && is_linear(b) || is_constant(b) && is_linear(a)
            }
            _ => false,
        }
}

/// True if an expression reads action data, which no hash unit is given.
fn reads(expr: &Expr, data: &HashSet<Slot>) -> bool {
    matches!(expr.kind, ExprKind::Slot(slot) if data.contains(&slot))
        || visit::operands(expr).into_iter().any(|operand| reads(operand, data))
}

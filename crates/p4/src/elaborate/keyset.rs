//! Elaboration of keysets: the keysets of `select` and of table entries become patterns.

use super::constant::Constant;
use super::value::{binary, constant};
use super::{Elaborator, value};
use crate::hir::{self, Keyset};
use crate::interp::arith;
use crate::ir::{Binary, Expr, ExprKind, Next, Pattern, Scalar, SelectCase, Transition};
use crate::source::Span;
use crate::types::Type;
use num_bigint::BigUint;

/// Number of scalars of a key of this type.
fn columns(ty: &Type) -> usize {
    let types = super::components::part_types(ty);
    match super::plain(ty) {
        Type::Struct(_) | Type::Tuple(_) | Type::Header(_) | Type::Stack(..) => {
            (0..).map_while(&types).take(1024).map(|ty| columns(&ty)).sum()
        }
        _ => 1,
    }
}

impl Elaborator<'_> {
    /// One keyset as patterns, one per scalar of a key of type `ty`. `None` if it is not known.
    pub(super) fn patterns(&mut self, keyset: &Keyset, ty: &Type) -> Option<Vec<Pattern>> {
        let scalars = |this: &Self, expr: &hir::Expr| -> Option<Vec<BigUint>> {
            let mut found = Vec::new();
            this.known(expr)?.patterns(ty, &mut found);
            Some(found)
        };
        Some(match keyset {
            Keyset::Any => vec![Pattern::Any; columns(ty)],
            Keyset::Value(expr) => scalars(self, expr)?.into_iter().map(Pattern::Value).collect(),
            Keyset::Mask(expr, mask) => {
                let pairs = scalars(self, expr)?.into_iter().zip(scalars(self, mask)?);
                pairs.map(|(value, mask)| Pattern::Mask(value & &mask, mask)).collect()
            }
            Keyset::Range(low, high) => {
                let pairs = scalars(self, low)?.into_iter().zip(scalars(self, high)?);
                pairs.map(|(low, high)| Pattern::Range(low, high)).collect()
            }
            Keyset::ValueSet(id) => {
                let id = self.value_set(*id)?;
                let mut patterns = vec![Pattern::Any; columns(ty)];
                if let Some(first) = patterns.first_mut() {
                    *first = Pattern::ValueSet(id);
                }
                patterns
            }
        })
    }

    /// `select`
    pub(super) fn select(
        &mut self,
        keys: &[hir::Expr],
        cases: &[hir::SelectCase],
        span: Span,
        next: &dyn Fn(hir::StateRef) -> Next,
    ) -> Transition {
        let types: Vec<&Type> = keys.iter().map(|key| &key.ty).collect();
        let values = self.values(&keys.iter().collect::<Vec<_>>());
        let mut scalars = Vec::new();
        for value in &values {
            value::any_leaf(value, &mut |leaf| {
                scalars.push(leaf.clone());
                false
            });
        }
        let mut lowered = Vec::new();
        for case in cases {
            match self.case_patterns(case, &types) {
                Some(mut patterns) => {
                    patterns.resize(scalars.len(), Pattern::Any);
                    lowered.push(SelectCase { patterns, next: next(case.next) });
                }
                None => return self.computed_select(scalars, cases, &types, span, next),
            }
        }
        Transition::Select { keys: scalars, cases: lowered, span }
    }

    fn case_patterns(&mut self, case: &hir::SelectCase, types: &[&Type]) -> Option<Vec<Pattern>> {
        // A set of tuples covers all keys by itself; so does `_`.
        if let ([keyset @ (Keyset::ValueSet(_) | Keyset::Any)], true) =
            (&case.keysets[..], types.len() > 1)
        {
            return self.patterns(keyset, types[0]);
        }
        let mut patterns = Vec::new();
        for (keyset, ty) in case.keysets.iter().zip(types) {
            patterns.extend(self.patterns(keyset, ty)?);
        }
        Some(patterns)
    }

    /// A `select` whose keysets are computed: the number of the case is computed first.
    fn computed_select(
        &mut self,
        keys: Vec<Expr>,
        cases: &[hir::SelectCase],
        types: &[&Type],
        span: Span,
        next: &dyn Fn(hir::StateRef) -> Next,
    ) -> Transition {
        let number = Scalar::Bit(32);
        let keys: Vec<Expr> = keys.into_iter().map(|key| self.saved(key)).collect();
        let mut chosen = constant(cases.len() as u128, number, span);
        for (at, case) in cases.iter().enumerate().rev() {
            let mut holds = value::truth(true, case.span);
            let mut keys = keys.iter();
            for (keyset, ty) in case.keysets.iter().zip(types) {
                let keys: Vec<&Expr> = keys.by_ref().take(columns(ty)).collect();
                let here = self.keyset_holds(keyset, &keys, case.span);
                holds = binary(Binary::And, holds, here, Scalar::Bool, case.span);
            }
            let at = constant(at as u128, number, case.span);
            let kind = ExprKind::Mux(Box::new(holds), Box::new(at), Box::new(chosen));
            chosen = Expr { kind, scalar: number, span };
        }
        let cases = cases.iter().enumerate().map(|(at, case)| SelectCase {
            patterns: vec![Pattern::Value(BigUint::from(at))],
            next: next(case.next),
        });
        Transition::Select { keys: vec![chosen], cases: cases.collect(), span }
    }

    fn keyset_holds(&mut self, keyset: &Keyset, keys: &[&Expr], span: Span) -> Expr {
        let leaves = |this: &mut Self, expr: &hir::Expr| {
            let value = this.value(expr);
            let mut found = Vec::new();
            value::any_leaf(&value, &mut |leaf| {
                found.push(leaf.clone());
                false
            });
            found
        };
        let truth = Scalar::Bool;
        let and = |a, b| binary(Binary::And, a, b, truth, span);
        let parts: Vec<Expr> = match keyset {
            Keyset::Any => Vec::new(),
            Keyset::ValueSet(_) => {
                let message = "a value set beside keysets that are computed is not supported";
                self.error("E1306", span, message);
                Vec::new()
            }
            Keyset::Value(expr) => {
                let values = leaves(self, expr).into_iter().zip(keys);
                values.map(|(v, key)| binary(Binary::Eq, (*key).clone(), v, truth, span)).collect()
            }
            Keyset::Mask(expr, mask) => {
                let masks = leaves(self, mask);
                let values = leaves(self, expr).into_iter().zip(masks).zip(keys);
                let masked = |a: Expr, mask: &Expr| {
                    let scalar = a.scalar;
                    binary(Binary::BitAnd, a, mask.clone(), scalar, span)
                };
                let equal = |((value, mask), key): ((Expr, Expr), &&Expr)| {
                    let (a, b) = (masked((*key).clone(), &mask), masked(value, &mask));
                    binary(Binary::Eq, a, b, truth, span)
                };
                values.map(equal).collect()
            }
            Keyset::Range(low, high) => {
                let highs = leaves(self, high);
                let ends = leaves(self, low).into_iter().zip(highs).zip(keys);
                let between = |((low, high), key): ((Expr, Expr), &&Expr)| {
                    let above = binary(Binary::Ge, (*key).clone(), low, truth, span);
                    and(above, binary(Binary::Le, (*key).clone(), high, truth, span))
                };
                ends.map(between).collect()
            }
        };
        parts.into_iter().reduce(and).unwrap_or_else(|| value::truth(true, span))
    }

    /// The patterns of a table's entry; an error if they are not known.
    pub(super) fn entry_patterns(
        &mut self,
        keysets: &[Keyset],
        types: &[&Type],
        span: Span,
    ) -> Option<Vec<Pattern>> {
        let mut patterns = Vec::new();
        for (keyset, ty) in keysets.iter().zip(types) {
            match self.patterns(keyset, ty) {
                Some(found) => patterns.extend(found),
                None => {
                    self.error(
                        "E1305",
                        span,
                        "the entries of a table must be known when the program is loaded",
                    );
                    return None;
                }
            }
        }
        Some(patterns)
    }

    /// Action data as bit patterns; an error if they are not known.
    pub(super) fn action_data(&mut self, data: &[hir::Expr]) -> Option<Vec<BigUint>> {
        let mut patterns = Vec::new();
        for expr in data {
            match self.must_know(expr, "an action's argument")? {
                Constant::Int(number) if super::components::scalar(&expr.ty).is_none() => {
                    patterns.push(arith::pattern(&number, 128));
                }
                known => known.patterns(&expr.ty, &mut patterns),
            }
        }
        Some(patterns)
    }
}

//! Calls that a register action may make: MathUnit.execute, RegisterParam.read, min, max,
//! predicate, address, searches.

use super::{Body, Result};
use crate::register_action::term::{Operation, SearchTerm, Term, TermKind};
use crate::rules;
use sojourn_p4::ir::{Arg, Expr, ExprKind, ExternCall, Layout, Value};
use sojourn_p4::types::Type;
use sojourn_p4::visit;

impl<'p> Body<'_, 'p> {
    pub(super) fn call(&mut self, call: &'p ExternCall) -> Result<()> {
        let term = self.call_result(call)?;
        let Some(Layout::Narrow(slot, scalar)) = &call.result else { return Ok(()) };
        self.put(*slot, Term { width: scalar.width(), ..term }, call.span)
    }

    fn call_result(&mut self, call: &'p ExternCall) -> Result<Term> {
        let object = call.object.map(|id| (id, &self.program.objects[id.index()]));
        let of = object.map_or("", |(_, object)| &*object.of);
        let width = self.shape.width.bits();
        let kind = match (of, &*call.name, object) {
            ("MathUnit", "execute", Some((id, _))) => {
                TermKind::Math(id, Box::new(self.argument(call, 0)?))
            }
            ("RegisterParam", "read", Some((id, _))) => TermKind::Parameter(id),
            ("", name @ ("min" | "max"), None) => {
                let (a, b) = (self.argument(call, 0)?, self.argument(call, 1)?);
                let signed = matches!(call.returns, Type::Int(_));
                let operation = if name == "min" {
                    Operation::Min { signed }
                } else {
                    Operation::Max { signed }
                };
                TermKind::Operation(operation, Box::new(a), Box::new(b))
            }
            (_, "predicate", Some((id, _))) if id == self.action => {
                self.predicate_arguments(call)?;
                TermKind::Predicate
            }
            (_, "address", Some((id, _))) if id == self.action => self.address(call)?,
            (_, name @ ("min8" | "max8" | "min16" | "max16"), Some((id, _)))
                if id == self.action =>
            {
                let found = Box::new(self.search(call, name)?);
                if let Some(Arg::Out(Layout::Narrow(index, scalar))) = call.args.get(2) {
                    let kind = TermKind::ExtremeIndex(found.clone());
                    let term = Term { kind, width: scalar.width(), span: call.span };
                    self.put(*index, term, call.span)?;
                }
                TermKind::Extreme(found)
            }
            _ => {
                let message = format!("a register action cannot call `{}`", call.name);
                return Err(rules::CALL.refuse(call.span, message));
            }
        };
        Ok(Term { kind, width, span: call.span })
    }

    /// `this.address()`; the address of the second half of an entry is not simulated.
    fn address(&mut self, call: &'p ExternCall) -> Result<TermKind> {
        let second = match call.args.first() {
            Some(Arg::In(Value::Scalar(Expr { kind: ExprKind::Const(half), .. }))) => *half != 0,
            _ => false,
        };
        if second {
            let message = "the address of the second half of an entry is not simulated";
            return Err(rules::UNSUPPORTED.refuse(call.span, message));
        }
        Ok(TermKind::Address)
    }

    /// `this.min8(value, mask, index, change)` and the like.
    fn search(&mut self, call: &'p ExternCall, name: &str) -> Result<SearchTerm> {
        let is_entry = match call.args.first() {
            Some(Arg::In(value)) => {
                let mut found = Vec::new();
                visit::value_expressions(value, &mut found);
                found.iter().all(
                    |expr| matches!(&expr.kind, ExprKind::Slot(slot) if self.memory.contains(slot)),
                )
            }
            _ => false,
        };
        if !is_entry {
            let message = format!("`{name}` of something else than the entry");
            return Err(rules::SEARCH.refuse(call.span, message));
        }
        let mask = self.argument(call, 1)?;
        let change = match call.args.get(3) {
            Some(Arg::In(_)) => Some(self.argument(call, 3)?),
            _ => None,
        };
        let (largest, wide) = (name.starts_with("max"), name.ends_with("16"));
        Ok(SearchTerm { largest, wide, mask, change })
    }

    fn argument(&mut self, call: &'p ExternCall, index: usize) -> Result<Term> {
        match call.args.get(index) {
            Some(Arg::In(Value::Scalar(value))) => self.term(value),
            _ => Err(rules::CALL.refuse(call.span, "this argument is no single value")),
        }
    }

    /// Notes what the conditions of `predicate` are in the outcome that is walked.
    fn predicate_arguments(&mut self, call: &'p ExternCall) -> Result<()> {
        for (index, arg) in call.args.iter().enumerate() {
            let Arg::In(Value::Scalar(condition)) = arg else { continue };
            let holds = self.truth(condition)?;
            if !matches!(condition.kind, ExprKind::Const(_)) {
                self.predicates.push((index, holds, self.outcome, condition.span));
            }
        }
        Ok(())
    }

    /// The conditions of `predicate` must be what the units of those names decide, in
    /// every outcome that reaches the call.
    pub(super) fn check_predicates(&self) -> Result<()> {
        for (index, holds, outcome, span) in &self.predicates {
            if *holds != (outcome >> index & 1 == 1) {
                let message = format!(
                    "argument {} of predicate() is not the {} comparison of this action",
                    index + 1,
                    ["first", "second", "third", "fourth"][(*index).min(3)]
                );
                return Err(rules::PREDICATE_FIRST.refuse(*span, message));
            }
        }
        Ok(())
    }
}

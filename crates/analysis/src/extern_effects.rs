//! Effects on state of calls of registers, register actions and other externs.

use super::access_steps::{Kind, StateAccess};
use super::dependencies::{Cell, ValueDependencies, Walk, cells};
use super::variable_set::VariableSet;
use sojourn_p4::ir::{Arg, Expr, ExternCall, Layout, Method, Value};
use std::ops::Range;

impl Walk<'_> {
    /// A call of an external function or method.
    pub fn call(&mut self, call: &ExternCall) {
        let state = call.object.and_then(|object| {
            let range = self.variables.behind(self.program, object)?;
            Some((range, &self.program.objects[object.index()].methods))
        });
        match state {
            // A call of `this` inside the body, such as `predicate`, does not run the body again.
            Some((range, methods)) if !methods.is_empty() && call.name.starts_with("execute") => {
                self.action(call, range, methods);
            }
            Some((range, _)) if &*call.name == "read" => self.read_register(call, range),
            Some((range, _)) if &*call.name == "write" => self.write_register(call, range),
            Some((range, _)) if matches!(&*call.name, "test_and_add" | "compare_and_swap") => {
                self.exchange(call, range);
            }
            _ => self.unknown(call),
        }
    }

    /// `register.read(index)`, or `register.read(result, index)`.
    fn read_register(&mut self, call: &ExternCall, range: Range<usize>) {
        let mut step = StateAccess::new(Kind::Do, call.span, self.depth);
        self.inputs(&mut step, call);
        let outputs = outputs(call);
        // Each field's cells depend on that field, and all on the index.
        let index = step.depends();
        for layout in &outputs {
            for (at, cell) in leaves(layout, range.len()) {
                let value = VariableSet::single(range.start + at).union(&index);
                self.env.insert(cell, ValueDependencies { value, context: self.condition() });
            }
        }
        for variable in range {
            step.reads.union_with(&VariableSet::single(variable));
        }
        self.found.steps.push(step);
    }

    /// `register.write(index, value)`
    fn write_register(&mut self, call: &ExternCall, range: Range<usize>) {
        let mut step = StateAccess::new(Kind::Do, call.span, self.depth);
        let values = call.args.iter().filter_map(|arg| match arg {
            Arg::In(value) => Some(value),
            _ => None,
        });
        let values: Vec<&Value> = values.collect();
        let Some((value, index)) = values.split_last() else { return };
        let mut asked = StateAccess::new(Kind::Do, call.span, self.depth);
        index.iter().for_each(|value| self.read_value(&mut asked, value));
        let always = asked.depends().union(&self.condition());
        let parts = match value {
            Value::Struct { fields, .. } if fields.len() == range.len() => fields.iter().collect(),
            _ => vec![*value; range.len()],
        };
        for (variable, part) in range.zip(parts) {
            let mut own = StateAccess::new(Kind::Do, call.span, self.depth);
            self.read_value(&mut own, part);
            step.uses.union_with(&own.uses);
            let depends = own.depends().union(&always);
            self.flow(&depends, variable, call.span);
            step.writes.push((variable, depends));
        }
        self.found.steps.push(step);
    }

    /// `memory.test_and_add(index, value)`, `memory.compare_and_swap(index, expected, value)`: the
    /// result is the previous value; the new value depends on it and on all arguments.
    fn exchange(&mut self, call: &ExternCall, range: Range<usize>) {
        let mut step = StateAccess::new(Kind::Do, call.span, self.depth);
        self.inputs(&mut step, call);
        let given = step.depends().union(&self.condition());
        let index = match call.args.first() {
            Some(Arg::In(value)) => {
                let mut asked = StateAccess::new(Kind::Do, call.span, self.depth);
                self.read_value(&mut asked, value);
                asked.depends()
            }
            _ => VariableSet::default(),
        };
        for layout in &outputs(call) {
            for (at, cell) in leaves(layout, range.len()) {
                let value = VariableSet::single(range.start + at).union(&index);
                self.env.insert(cell, ValueDependencies { value, context: self.condition() });
            }
        }
        for variable in range {
            step.reads.union_with(&VariableSet::single(variable));
            let depends = given.union(&VariableSet::single(variable));
            self.flow(&depends, variable, call.span);
            step.writes.push((variable, depends));
        }
        self.found.steps.push(step);
    }

    /// A register action: its body operates on the memory.
    fn action(&mut self, call: &ExternCall, range: Range<usize>, methods: &[Method]) {
        let mut step = StateAccess::new(Kind::If, call.span, self.depth);
        self.inputs(&mut step, call);
        let outer = self.context.clone();
        self.context.union_with(&step.depends());
        step.kind = Kind::Do;
        let at = self.found.steps.list.len();
        self.found.steps.list.push(step);
        self.depth += 1;
        let memory = std::mem::take(&mut self.memory);
        let mut results = Vec::new();
        for method in methods {
            let Some((value, outs)) = method.params.split_first() else { continue };
            self.memory = leaves(&value.layout, range.len())
                .map(|(at, cell)| (cell, range.start + at))
                .collect();
            let known: Vec<(Cell, usize)> = self.memory.iter().map(|(c, v)| (*c, *v)).collect();
            for (cell, variable) in known {
                let known = ValueDependencies {
                    value: VariableSet::single(variable),
                    context: VariableSet::default(),
                };
                self.env.insert(cell, known);
            }
            self.list(&method.body);
            let layouts = outs.iter().map(|param| &param.layout).chain(&method.returns);
            results.push(layouts.flat_map(cells).collect::<Vec<Cell>>());
        }
        self.memory = memory;
        self.depth -= 1;
        // The result is the first of the cells that the body returns.
        let handed: Vec<Cell> = results.into_iter().flatten().collect();
        let handed: Vec<VariableSet> = handed.iter().map(|cell| self.known(*cell)).collect();
        let all = handed.iter().fold(VariableSet::default(), |all, set| all.union(set));
        self.context = outer;
        for (number, cell) in outputs(call).iter().flat_map(cells).enumerate() {
            let value = handed.get(number).unwrap_or(&all).clone();
            self.env.insert(cell, ValueDependencies { value, context: self.condition() });
        }
        self.found.steps.close(at);
    }

    /// Any other extern: its outputs depend on its inputs.
    fn unknown(&mut self, call: &ExternCall) {
        let mut step = StateAccess::new(Kind::Do, call.span, self.depth);
        self.inputs(&mut step, call);
        if call.object.is_none() && matches!(&*call.name, "mark_to_drop" | "drop_packet") {
            step.drops = true;
        }
        let into: Vec<Cell> = outputs(call).iter().flat_map(cells).collect();
        self.assign(step, &into, true);
    }

    fn inputs(&self, step: &mut StateAccess, call: &ExternCall) {
        for arg in &call.args {
            match arg {
                Arg::In(value) => self.read_value(step, value),
                Arg::InOut(layout) => {
                    cells(layout).for_each(|cell| self.read_cell(step, cell));
                }
                _ => {}
            }
        }
    }

    fn known(&self, cell: Cell) -> VariableSet {
        self.env
            .get(&cell)
            .map_or_else(VariableSet::default, |known| known.value.union(&known.context))
    }

    fn read_value(&self, step: &mut StateAccess, value: &Value) {
        scalars(value, &mut |expr| self.read(step, expr));
    }
}

/// Destinations of a call's results.
fn outputs(call: &ExternCall) -> Vec<Layout> {
    let args = call.args.iter().filter_map(|arg| match arg {
        Arg::Out(layout) | Arg::InOut(layout) => Some(layout),
        _ => None,
    });
    call.result.iter().chain(args).cloned().collect()
}

/// Cells of a value, each with the index of its field.
fn leaves(layout: &Layout, fields: usize) -> impl Iterator<Item = (usize, Cell)> {
    let parts: Vec<Layout> = match layout {
        Layout::Struct { fields: parts, .. } if parts.len() == fields => parts.clone(),
        _ => vec![layout.clone()],
    };
    let numbered = parts.into_iter().enumerate();
    numbered.flat_map(|(at, part)| cells(&part).map(move |cell| (at, cell)).collect::<Vec<_>>())
}

fn scalars<'e>(value: &'e Value, see: &mut dyn FnMut(&'e Expr)) {
    match value {
        Value::Scalar(expr) => see(expr),
        Value::VarBit(length, bits) => {
            see(length);
            see(bits);
        }
        Value::Header { valid, fields, .. } => {
            see(valid);
            fields.iter().for_each(|field| scalars(field, see));
        }
        Value::Union { members: parts, .. } | Value::Struct { fields: parts, .. } => {
            parts.iter().for_each(|part| scalars(part, see));
        }
        Value::Stack { next, elements, .. } => {
            see(next);
            elements.iter().for_each(|element| scalars(element, see));
        }
        Value::String(_) => {}
    }
}

//! From the statements of a control to nodes, one for each statement that does something.
//!
//! Control flow becomes arms of branches and guards. Copies of parameters that inlining makes are
//! seen through. Which nodes are needed is decided later (`live`), and which of them share a table
//! after that (`merge`).

use super::bits::{
    Bits, Copies, Place, condition_steps, halves, is_condition, is_linear, is_plain, steps,
};
use super::decided;
use super::live::{header_fields, places};
use super::merge::same_text;
use super::node::{Access, Arm, Kind, Node, Read, Reader, Write};
use super::resources;
use crate::register_action::is_action;
use sojourn_p4::ir::{
    Arg, Body, Expr, ExprKind, ExternCall, Label, Layout, ObjectId, Program, Slot, Stmt, StmtKind,
    TableId, Unit, UnitId, Value, WideSlot,
};
use sojourn_p4::source::{SourceMap, Span};
use sojourn_p4::visit;
use std::collections::{HashMap, HashSet};

/// The nodes of a control, in the order of the program.
pub fn nodes(program: &Program, unit: UnitId, sources: &SourceMap) -> Vec<Node> {
    let control = &program.units[unit.index()];
    let Body::Control { stmts, .. } = &control.body else { return Vec::new() };
    let params = control.params.iter().flat_map(|param| places(&param.layout)).collect();
    let headers = control.params.iter().flat_map(|param| header_fields(&param.layout)).collect();
    let mut walk = Walk {
        program,
        unit: control,
        sources,
        params,
        headers,
        nodes: Vec::new(),
        copies: Copies::default(),
        hashed: HashMap::new(),
        outcomes: HashMap::new(),
        results: HashMap::new(),
        path: Vec::new(),
        guard: None,
        in_loop: false,
        in_table: false,
        list: 0,
        lists: 0,
        branches: 0,
    };
    walk.list(stmts);
    walk.nodes
}

struct Walk<'p> {
    program: &'p Program,
    unit: &'p Unit,
    sources: &'p SourceMap,
    /// Variables that others than this control see.
    params: HashSet<Place>,
    /// Fields of headers among them.
    headers: HashSet<Place>,
    nodes: Vec<Node>,
    copies: Copies,
    /// Local variables that hold a hash.
    hashed: HashMap<Slot, Hashed>,
    /// Temporaries that hold a table's result.
    outcomes: HashMap<Slot, usize>,
    /// Temporaries that hold the result of a call.
    results: HashMap<Slot, usize>,
    path: Vec<Arm>,
    guard: Option<usize>,
    in_loop: bool,
    /// True in an action of a table, which is one action.
    in_table: bool,
    list: u32,
    lists: u32,
    branches: u32,
}

/// A hash in a local variable.
#[derive(Clone)]
struct Hashed {
    /// The node that computes it.
    node: usize,
    /// What is hashed.
    inputs: Vec<Bits>,
}

impl Walk<'_> {
    fn list(&mut self, stmts: &[Stmt]) {
        let outer = self.list;
        self.lists += 1;
        self.list = self.lists;
        for stmt in stmts {
            self.statement(stmt);
        }
        self.list = outer;
    }

    fn statement(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::If { condition, then, otherwise } => {
                self.branch_on(condition, &[then, otherwise]);
            }
            StmtKind::Switch { subject, cases, default } => {
                let arms: Vec<&[Stmt]> =
                    cases.iter().map(|(_, body)| body.as_slice()).chain([&default[..]]).collect();
                self.switch(subject, stmt.span, &arms);
            }
            StmtKind::Block { body, .. } => {
                let (path, guard) = (self.path.clone(), self.guard);
                self.list(body);
                (self.path, self.guard) = (path, guard);
            }
            StmtKind::Loop { body, .. } => {
                let outer = std::mem::replace(&mut self.in_loop, true);
                self.list(body);
                self.in_loop = outer;
            }
            StmtKind::Apply { table, hit, action } => self.apply(*table, *hit, *action, stmt.span),
            StmtKind::Call(call) => self.call(call),
            StmtKind::Set(slot, value) => self.set(Bits::whole(self.unit, *slot), value, stmt.span),
            StmtKind::SetWide(slot, value) => {
                self.set(Bits::whole_wide(self.unit, *slot), value, stmt.span);
            }
            StmtKind::SetSlice { target, high, low, value } => {
                let bits = Bits { place: Place::Narrow(*target), low: *low, high: *high };
                self.set(bits, value, stmt.span);
            }
            StmtKind::SetWideSlice { target, high, low, value } => {
                let bits = Bits { place: Place::Wide(*target), low: *low, high: *high };
                self.set(bits, value, stmt.span);
            }
            _ => self.other(stmt),
        }
    }

    /// The arms of an `if`, behind a gateway unless its condition is a table's outcome.
    fn branch_on(&mut self, condition: &Expr, arms: &[&[Stmt]]) {
        if let Some(taken) = decided::outcome(condition) {
            return self.list(arms[usize::from(!taken)]);
        }
        if let ExprKind::Slot(flag) = condition.kind
            && self.unit.slots.get(flag.index()).is_some_and(|info| &*info.name == "$exit$")
        {
            return self.list(arms[0]);
        }
        let guard = match self.outcome(condition) {
            Some(table) => table,
            None => {
                let name = match (&condition.kind, self.text(condition.span)) {
                    // The place of `header.isValid()` is that of the header.
                    (ExprKind::Slot(slot), _) => Bits::whole(self.unit, *slot).name(self.unit),
                    (_, text) => text,
                };
                let name = format!("if ({name})");
                let mut node = Node::new(Kind::Gateway, name, condition.span);
                self.read(&mut node, condition, Reader::Gateway);
                node.range_bits = super::check::range_bits(condition);
                node.extra = condition_steps(condition);
                self.push(node)
            }
        };
        self.arms(guard, arms);
    }

    fn switch(&mut self, subject: &Expr, span: Span, arms: &[&[Stmt]]) {
        let guard = match self.outcome(subject) {
            Some(table) => table,
            None => {
                let name = format!("switch ({})", self.text(subject.span));
                let mut node = Node::new(Kind::Switch, name, span);
                self.read(&mut node, subject, Reader::Match);
                node.extra = steps(subject);
                self.push(node)
            }
        };
        self.arms(guard, arms);
    }

    /// Arms of which one runs; behind an arm that is left for good, the others go on.
    fn arms(&mut self, guard: usize, arms: &[&[Stmt]]) {
        let branch = self.branches;
        self.branches += 1;
        let (before, outer) = (self.copies.clone(), self.guard);
        let known = (self.hashed.clone(), self.results.clone());
        let depth = self.path.len();
        for (at, arm) in arms.iter().enumerate() {
            self.copies = before.clone();
            self.path.push((branch, at as u32));
            self.guard = Some(guard);
            self.list(arm);
            self.path.truncate(depth);
        }
        self.guard = outer;
        self.copies = before;
        (self.hashed, self.results) = known;
        let written: Vec<Bits> = self.nodes[guard + 1..]
            .iter()
            .flat_map(|node| node.writes.iter().map(|write| write.bits))
            .collect();
        written.iter().for_each(|bits| self.forget(bits));
        let staying: Vec<usize> = (0..arms.len()).filter(|at| !always_leaves(arms[*at])).collect();
        if let ([only], true) = (&staying[..], arms.len() > 1) {
            self.path.push((branch, *only as u32));
            self.guard = Some(guard);
        }
    }

    /// The table whose outcome an expression is.
    fn outcome(&self, expr: &Expr) -> Option<usize> {
        match &expr.kind {
            ExprKind::Slot(slot) => self.outcomes.get(slot).copied(),
            ExprKind::Unary(_, inner) | ExprKind::Cast(inner) => self.outcome(inner),
            _ => None,
        }
    }

    fn apply(&mut self, id: TableId, hit: Option<Slot>, action: Option<Slot>, span: Span) {
        let table = &self.program.tables[id.index()];
        let short = table.name.rsplit('.').next().unwrap_or_default().to_owned();
        let mut node = Node::new(Kind::Table(id), short, table.span);
        let mut before: u32 = 0;
        for key in &table.keys {
            self.read(&mut node, &key.expr, Reader::Match);
            before = before.max(steps(&key.expr));
        }
        if resources::has_alpm(self.program, table) {
            let part = self.partition(id, &node);
            node.reads.push(Read { bits: part, by: Reader::Match, of: None });
        }
        let mut extra = 0;
        for action in &table.actions {
            let data: HashSet<Place> =
                action.data.iter().flat_map(|(_, layout)| places(layout)).collect();
            let inner = self.inner(&action.body);
            node.words.push(inner.iter().flat_map(|part| &part.writes).map(|w| w.bits).collect());
            let depth = chain(&inner);
            extra = extra.max(depth);
            for part in inner {
                let fields = |bits: &Bits| !data.contains(&bits.place);
                node.reads.extend(part.reads.into_iter().filter(|read| fields(&read.bits)));
                node.writes.extend(part.writes);
                node.registers.extend(part.registers);
                node.accesses.extend(part.accesses);
                node.objects.extend(part.objects);
            }
        }
        node.registers.sort();
        node.registers.dedup();
        for (_, property) in &table.properties {
            if let sojourn_p4::ir::ObjectArg::Object(object) = property {
                node.objects.push(*object);
            }
        }
        node.extra = before + extra;
        // The compiler places the table in the stage that `@stage` names, or behind.
        let named = resources::annotated_number(&table.annotations, "stage");
        node.first_stage = named.and_then(|stage| stage.try_into().ok()).unwrap_or(0);
        node.span = span;
        let at = self.push(node);
        self.outcomes.extend([hit, action].into_iter().flatten().map(|slot| (slot, at)));
    }

    /// The table that the compiler puts in front of one with `Alpm`; the answer is its result.
    fn partition(&mut self, id: TableId, table: &Node) -> Bits {
        let name = format!("{}: partition", table.name);
        let mut node = Node::new(Kind::Partition(id), name, table.span);
        node.reads.clone_from(&table.reads);
        let result = Place::Wide(WideSlot(u32::MAX - id.index() as u32));
        let bits = Bits { place: result, low: 0, high: 15 };
        let span = table.span;
        node.writes.push(Write { bits, span, copied: false, folds: false, of: None });
        self.push(node);
        bits
    }

    /// The nodes of an action's body, apart from those of the control.
    fn inner(&mut self, body: &[Stmt]) -> Vec<Node> {
        let outer = std::mem::take(&mut self.nodes);
        let (copies, guard, path) = (self.copies.clone(), self.guard.take(), self.path.clone());
        let hashed = std::mem::take(&mut self.hashed);
        let outside = std::mem::replace(&mut self.in_table, true);
        self.copies = Copies::default();
        self.list(body);
        (self.copies, self.guard, self.path) = (copies, guard, path);
        (self.hashed, self.in_table) = (hashed, outside);
        std::mem::replace(&mut self.nodes, outer)
    }

    fn set(&mut self, target: Bits, value: &Expr, span: Span) {
        if self.is_declaration(target, value, span) {
            return;
        }
        if self.set_by_call(target, value, span) || self.set_by_outcome(target, value, span) {
            return;
        }
        if !self.in_action(span)
            && let Some((high, low)) = halves(value)
        {
            let middle = target.low + low.scalar.width();
            self.set(Bits { low: middle, ..target }, &high, span);
            return self.set(Bits { high: middle - 1, ..target }, low, span);
        }
        let name = target.name(self.unit);
        let short = name.rsplit('.').next().unwrap_or_default();
        let name = if name.ends_with("isValid()") {
            name.replace("isValid", "setValid")
        } else {
            short.to_owned()
        };
        let mut node = Node::new(Kind::Action, name, span);
        let by = if is_condition(value) { Reader::Gateway } else { Reader::Action };
        self.read(&mut node, value, by);
        node.extra = steps(value).saturating_sub(1);
        node.data_bytes = constant_bytes(value);
        if self.headers.contains(&target.place) && target != target.variable(self.unit) {
            node.in_part.push(target.whole_bytes());
        }
        node.writes.push(Write {
            bits: target,
            span,
            copied: is_plain(value),
            folds: is_linear(value),
            of: None,
        });
        self.push(node);
        if let Place::Narrow(slot) = target.place
            && !self.params.contains(&target.place)
            && target == Bits::whole(self.unit, slot)
        {
            match &value.kind {
                ExprKind::Const(_) => self.copies.learn(slot, value.clone()),
                ExprKind::Slot(from) => {
                    let from = self.copies.get(*from).unwrap_or(value).clone();
                    self.copies.learn(slot, from);
                }
                _ => {}
            }
        }
    }

    /// A local variable that begins as 0: the chip clears the containers before the packet comes.
    fn is_declaration(&self, target: Bits, value: &Expr, span: Span) -> bool {
        let declared = match target.place {
            Place::Narrow(slot) => self.unit.slots.get(slot.index()),
            Place::Wide(slot) => self.unit.wide_slots.get(slot.index()),
        };
        let zero = matches!(&value.kind, ExprKind::Const(0));
        let here = declared.is_some_and(|info| {
            let inside =
                |part: Span, whole: Span| whole.start <= part.start && part.end <= whole.end;
            inside(span, info.span) || inside(info.span, span)
        });
        zero && here && !self.params.contains(&target.place)
    }

    /// A result that is cut or combined with one more operand on its way out of the call.
    fn set_by_call(&mut self, target: Bits, value: &Expr, span: Span) -> bool {
        let Some(result) = self.results.keys().copied().find(|slot| visit::reads(value, *slot))
        else {
            return false;
        };
        let at = self.results[&result];
        if at + 1 != self.nodes.len() || steps(value) > 1 || is_condition(value) {
            return false;
        }
        let Some(mut node) = self.nodes.pop() else { return false };
        let is_result = |write: &Write| write.bits.place == Place::Narrow(result);
        let of = node.writes.iter().find(|write| is_result(write)).and_then(|write| write.of);
        node.writes.retain(|write| !is_result(write));
        let mut others = Node::new(Kind::Action, String::new(), span);
        self.read(&mut others, value, Reader::Action);
        let mine = |read: &Read| read.bits.place != Place::Narrow(result);
        node.reads.extend(others.reads.into_iter().filter(mine));
        node.writes.push(Write { bits: target, span, copied: false, folds: false, of });
        self.forget(&target);
        self.nodes.push(node);
        true
    }

    /// `x = table.apply().hit`
    fn set_by_outcome(&mut self, target: Bits, value: &Expr, span: Span) -> bool {
        let Some(table) = self.outcome(value) else { return false };
        let mut node = Node::new(Kind::Action, target.name(self.unit), span);
        node.guard = Some(table);
        node.words = vec![vec![target]; 2];
        node.writes.push(Write { bits: target, span, copied: true, folds: false, of: None });
        self.push(node);
        true
    }

    fn call(&mut self, call: &ExternCall) {
        let object = call.object.map(|id| &self.program.objects[id.index()]);
        let of = object.map_or("", |object| &*object.of);
        let short = object.map_or(&*call.name, |o| o.name.rsplit('.').next().unwrap_or_default());
        let mut node = Node::new(Kind::Action, short.to_owned(), call.span);
        let by = match of {
            "Hash" => Reader::Hash,
            of if is_action(of) => Reader::Index,
            "Register" | "DirectRegister" | "Counter" | "Meter" | "DirectMeter" | "Lpf"
            | "Wred" => Reader::Index,
            _ => Reader::Action,
        };
        node.calls = u32::from(by != Reader::Hash);
        for arg in &call.args {
            self.argument(&mut node, arg, by);
        }
        let register = match of {
            of if is_action(of) => object.and_then(crate::arguments::first_object),
            "Register" | "DirectRegister" => call.object,
            _ => None,
        };
        node.reads.iter_mut().for_each(|read| read.of = register);
        node.registers.extend(register);
        if let (Some(register), Some(action)) = (register, call.object) {
            node.accesses.push(Access { register, action, span: call.span });
        }
        match of {
            of if is_action(of) => self.stateful(call, register, &mut node),
            "Counter" | "DirectCounter" | "Meter" | "DirectMeter" | "Lpf" | "Wred" => {
                node.objects.extend(call.object);
            }
            _ => {}
        }
        if let Some(result) = &call.result {
            for place in places(result) {
                let bits = self.whole(place);
                node.data_bytes += bits.bytes();
                node.writes.push(Write {
                    bits,
                    span: call.span,
                    copied: false,
                    folds: false,
                    of: register,
                });
            }
        }
        let inputs: Vec<Bits> = node.reads.iter().map(|read| read.bits).collect();
        if of == "Register" && &*call.name == "write" && self.write_back(&node) {
            return;
        }
        let at = self.push(node);
        if let Some(Layout::Narrow(slot, _)) = call.result {
            if by == Reader::Hash && !self.params.contains(&Place::Narrow(slot)) {
                self.hashed.insert(slot, Hashed { node: at, inputs });
            }
            if self.unit.slots.get(slot.index()).is_some_and(|info| info.temporary) {
                self.results.insert(slot, at);
            }
        }
    }

    /// A `write` right behind the `read` of its register is part of the same access.
    fn write_back(&mut self, write: &Node) -> bool {
        let Some(read) = self.nodes.last_mut() else { return false };
        let same = read.kind == Kind::Action
            && read.list == self.list
            && !read.registers.is_empty()
            && read.registers == write.registers;
        if same {
            let own: Vec<Bits> = read.writes.iter().map(|write| write.bits).collect();
            let others = |read: &&Read| !own.iter().any(|bits| bits.overlap(&read.bits));
            read.reads.extend(write.reads.iter().filter(others));
        }
        same
    }

    fn argument(&mut self, node: &mut Node, arg: &Arg, by: Reader) {
        match arg {
            Arg::In(value) => {
                let mut exprs = Vec::new();
                visit::value_expressions(value, &mut exprs);
                if matches!(value, Value::String(_)) {
                    return;
                }
                for expr in exprs {
                    self.read(node, expr, by);
                }
            }
            Arg::Out(layout) | Arg::InOut(layout) => {
                for place in places(layout) {
                    let bits = self.whole(place);
                    if matches!(arg, Arg::InOut(_)) {
                        node.reads.push(Read { bits, by, of: None });
                    }
                    node.writes.push(Write {
                        bits,
                        span: node.span,
                        copied: false,
                        folds: false,
                        of: None,
                    });
                }
            }
            Arg::Object(object) => node.objects.push(*object),
            Arg::Packet | Arg::Absent => {}
        }
    }

    /// The register behind a register action, and the fields that its body reads.
    fn stateful(&mut self, call: &ExternCall, register: Option<ObjectId>, node: &mut Node) {
        let Some(id) = call.object else { return };
        let object = &self.program.objects[id.index()];
        if let Some(register) = register {
            let name = &self.program.objects[register.index()].name;
            node.name = name.rsplit('.').next().unwrap_or_default().to_owned();
        }
        for method in &object.methods {
            let mut own: HashSet<Place> =
                method.params.iter().flat_map(|param| places(&param.layout)).collect();
            own.extend(method.returns.iter().flat_map(places));
            visit::statements(&method.body, &mut |stmt| {
                visit::written(stmt, &mut |slot| {
                    own.insert(Place::Narrow(slot));
                });
            });
            let none = Copies::default();
            visit::statements(&method.body, &mut |stmt| {
                for expr in visit::expressions(stmt) {
                    none.read_all(expr, &mut |bits| {
                        if !own.contains(&bits.place) {
                            node.reads.push(Read { bits, by: Reader::Stateful, of: register });
                        }
                    });
                }
            });
        }
    }

    /// Everything else that writes: copies of structs, elements, stacks.
    fn other(&mut self, stmt: &Stmt) {
        let mut node = Node::new(Kind::Action, String::new(), stmt.span);
        for expr in visit::expressions(stmt) {
            self.read(&mut node, expr, Reader::Action);
        }
        let mut writes: Vec<Bits> = Vec::new();
        visit::written(stmt, &mut |slot| writes.push(Bits::whole(self.unit, slot)));
        let mut copied = false;
        if let StmtKind::Copy { narrow: (from, _, count), wide: (wide, to, wides) } = &stmt.kind {
            copied = true;
            let narrow = (0..*count).map(|at| Bits::whole(self.unit, Slot(from.0 + at)));
            let wide = (0..*wides).map(|at| Bits::whole_wide(self.unit, WideSlot(wide.0 + at)));
            let reads = narrow.chain(wide).map(|bits| Read { bits, by: Reader::Action, of: None });
            node.reads.extend(reads);
            writes.extend((0..*wides).map(|at| Bits::whole_wide(self.unit, WideSlot(to.0 + at))));
        }
        if writes.is_empty() {
            return;
        }
        let name = writes[0].name(self.unit);
        node.name = name.rsplit_once('.').map_or(name.as_str(), |(header, _)| header).to_owned();
        let span = stmt.span;
        node.writes.extend(writes.into_iter().map(|bits| Write {
            bits,
            span,
            copied,
            folds: false,
            of: None,
        }));
        self.push(node);
    }

    fn read(&self, node: &mut Node, expr: &Expr, by: Reader) {
        self.copies.read_all(expr, &mut |bits| {
            let hashed = match bits.place {
                Place::Narrow(slot) if by == Reader::Index => self.hashed.get(&slot),
                _ => None,
            };
            match hashed.filter(|hashed| self.in_one_action(hashed.node, node)) {
                Some(hashed) => {
                    let hash = |bits: &Bits| Read { bits: *bits, by: Reader::Hash, of: None };
                    node.reads.extend(hashed.inputs.iter().map(hash));
                }
                None => node.reads.push(Read { bits, by, of: None }),
            }
        });
    }

    /// True if a statement is in an action, not in the control itself.
    fn in_action(&self, span: Span) -> bool {
        self.in_table || self.program.declared.in_actions.contains_key(&span)
    }

    /// True if `next` becomes one action with the node `first` and all behind that.
    fn in_one_action(&self, first: usize, next: &Node) -> bool {
        let beside =
            |node: &Node| node.kind == Kind::Action && node.list == self.list && node.calls == 0;
        let Some(nodes) = self.nodes.get(first..).filter(|nodes| !nodes.is_empty()) else {
            return false;
        };
        self.in_table
            || nodes.iter().all(beside) && same_text(nodes[0].span, next.span, self.sources)
    }

    fn push(&mut self, mut node: Node) -> usize {
        node.list = self.list;
        node.in_loop = self.in_loop;
        node.in_action = self.in_action(node.span);
        node.path = self.path.clone();
        node.guard = node.guard.or(self.guard);
        let written: Vec<Bits> = node.writes.iter().map(|write| write.bits).collect();
        written.iter().for_each(|bits| self.forget(bits));
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    fn forget(&mut self, written: &Bits) {
        self.copies.forget(written);
        let Place::Narrow(slot) = written.place else { return };
        self.hashed.remove(&slot);
        let stays = |bits: &Bits| bits.place != written.place;
        self.hashed.retain(|_, hashed| hashed.inputs.iter().all(stays));
        self.outcomes.remove(&slot);
        self.results.remove(&slot);
    }

    fn whole(&self, place: Place) -> Bits {
        match place {
            Place::Narrow(slot) => Bits::whole(self.unit, slot),
            Place::Wide(slot) => Bits::whole_wide(self.unit, slot),
        }
    }

    /// The source text of an expression, on one line.
    fn text(&self, span: Span) -> String {
        self.sources.text(span).split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

/// True if the code behind the list is unreachable from it.
fn always_leaves(stmts: &[Stmt]) -> bool {
    fn leaves(stmts: &[Stmt], inside: &mut Vec<Label>) -> bool {
        stmts.iter().any(|stmt| match &stmt.kind {
            StmtKind::Leave(label) => !inside.contains(label),
            StmtKind::If { then, otherwise, .. } => {
                leaves(then, inside) && leaves(otherwise, inside)
            }
            StmtKind::Block { label, body } => {
                inside.push(*label);
                let left = leaves(body, inside);
                inside.pop();
                left
            }
            _ => false,
        })
    }
    leaves(stmts, &mut Vec::new())
}

/// Bytes of constants that instructions cannot hold themselves (immediates are -8..7).
fn constant_bytes(expr: &Expr) -> u32 {
    match &expr.kind {
        ExprKind::Const(value) if *value > 7 => expr.scalar.width().div_ceil(8).min(4),
        _ => visit::operands(expr).into_iter().map(constant_bytes).sum(),
    }
}

/// Number of instructions of an action that wait for others of it, beyond the first.
fn chain(nodes: &[Node]) -> u32 {
    let mut depth = vec![0; nodes.len()];
    for (at, node) in nodes.iter().enumerate() {
        let waits = |earlier: &Node| {
            let reads = |write: &Write| {
                let mut fields = node.reads.iter().filter(|read| read.by == Reader::Action);
                fields.any(|read| read.bits.overlap(&write.bits))
            };
            earlier.writes.iter().any(|write| !write.copied && reads(write))
        };
        let before = (0..at).filter(|earlier| waits(&nodes[*earlier]));
        let first = before.map(|earlier| depth[earlier] + 1 + nodes[earlier].extra).max();
        depth[at] = first.unwrap_or(0);
    }
    let ends = nodes.iter().zip(&depth).map(|(node, depth)| node.extra + depth);
    ends.max().unwrap_or(0)
}

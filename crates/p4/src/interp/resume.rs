//! Suspension and resumption of a control at a call: many threads on one program.
//!
//! The walk of `exec.rs` uses the caller's stack. A waiting thread stores the path down to its call
//! instead, a few numbers; the rest of its state is its frame. Statements are executed by the same
//! code; this module handles only those that contain others. Must not depend on threads or time.

use super::bytecode::ResumePoint;
use super::context::{Context, Externs};
use super::exec::{Applied, Flow, Step};
use super::trap::Halt;
use crate::ir::{Label, Slot, Stmt, StmtKind, TableId};

/// Position of a suspended control; the default is its beginning.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Position {
    /// From the innermost outwards: index of the statement in its list, and index of the list in a
    /// statement that has several. Empty unless the control is being resumed.
    way: Vec<usize>,
    /// Tables whose actions are on the path, in the same order.
    applied: Vec<Applied>,
    /// Position in bytecode, which has no lists.
    pub(super) place: ResumePoint,
    /// Loop iterations so far.
    pub(super) steps: u64,
}

impl Position {
    /// Resets the position to the beginning.
    pub fn restart(&mut self) {
        self.way.clear();
        self.applied.clear();
        self.place = ResumePoint::default();
        self.steps = 0;
    }
}

/// Progress of a control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Reached its end.
    Ended,
    /// Suspended at a call that is repeated on resumption.
    Suspended,
}

impl Context<'_> {
    /// Runs statements from a position on.
    pub(super) fn resume<E: Externs + ?Sized>(
        &mut self,
        stmts: &[Stmt],
        position: &mut Position,
        externs: &mut E,
    ) -> Step {
        let mut at = position.way.pop().unwrap_or(0);
        while let Some(stmt) = stmts.get(at) {
            match self.resume_step(stmt, position, externs) {
                Ok(Flow::Next) => at += 1,
                Err(Halt::Suspended) => {
                    position.way.push(at);
                    return Err(Halt::Suspended);
                }
                other => return other,
            }
        }
        Ok(Flow::Next)
    }

    fn resume_step<E: Externs + ?Sized>(
        &mut self,
        stmt: &Stmt,
        position: &mut Position,
        externs: &mut E,
    ) -> Step {
        match &stmt.kind {
            StmtKind::If { condition, then, otherwise } => {
                let list = position.way.pop();
                let list = list.unwrap_or_else(|| usize::from(self.eval(condition) == 0));
                let body = if list == 0 { then } else { otherwise };
                self.resume_list(list, body, position, externs)
            }
            StmtKind::Switch { subject, cases, default } => {
                let list = position.way.pop();
                let list = list.unwrap_or_else(|| self.case(subject, cases));
                let body = cases.get(list).map_or(default, |(_, body)| body);
                self.resume_list(list, body, position, externs)
            }
            StmtKind::Block { label, body } => {
                Ok(self.resume(body, position, externs)?.arrive(*label))
            }
            StmtKind::Loop { label, body } => self.resume_loop(*label, body, position, externs),
            StmtKind::Apply { table, hit, action } => {
                self.resume_apply(*table, (*hit, *action), position, externs)
            }
            _ => self.step(stmt, externs),
        }
    }

    /// A list of a statement that has several.
    fn resume_list<E: Externs + ?Sized>(
        &mut self,
        list: usize,
        body: &[Stmt],
        position: &mut Position,
        externs: &mut E,
    ) -> Step {
        let step = self.resume(body, position, externs);
        if step == Err(Halt::Suspended) {
            position.way.push(list);
        }
        step
    }

    fn resume_loop<E: Externs + ?Sized>(
        &mut self,
        label: Label,
        body: &[Stmt],
        position: &mut Position,
        externs: &mut E,
    ) -> Step {
        loop {
            if position.way.is_empty() {
                self.spend_step()?;
            }
            match self.resume(body, position, externs)? {
                Flow::Next => {}
                other => return Ok(other.arrive(label)),
            }
        }
    }

    fn resume_apply<E: Externs + ?Sized>(
        &mut self,
        table: TableId,
        (hit, action): (Option<Slot>, Option<Slot>),
        position: &mut Position,
        externs: &mut E,
    ) -> Step {
        let taken_up = if position.way.is_empty() { None } else { position.applied.pop() };
        let applied = match taken_up {
            Some(applied) => applied,
            None => match self.look_up(table, externs)? {
                Some(applied) => applied,
                None => return Ok(Flow::Next),
            },
        };
        self.matched = Some(applied.matched);
        let step = match self.body(&applied) {
            Some(body) => self.resume(body, position, externs),
            None => Ok(Flow::Next),
        };
        match step {
            Ok(_) => self.after_action(&applied, hit, action),
            Err(Halt::Suspended) => position.applied.push(applied),
            Err(_) => {}
        }
        step
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::compile_with;
    use crate::interp::{Executor, Externs, Interpreter, Tables};
    use crate::ir::{Arg, ExternCall, UnitId};
    use crate::preprocess::{MemoryLoader, PreprocessOptions};

    /// Suspends at each call, and returns ten times its argument when the call is repeated.
    #[derive(Default)]
    struct Waits {
        waited: bool,
        requested: Vec<u128>,
    }

    impl Externs for Waits {
        fn call(&mut self, call: &ExternCall, ctx: &mut Context<'_>) -> Result<(), Halt> {
            if !std::mem::replace(&mut self.waited, true) {
                return Err(Halt::Suspended);
            }
            self.waited = false;
            let Some(Arg::In(value)) = call.args.first() else { return Ok(()) };
            let value = ctx.eval_value(value);
            self.requested.push(value);
            if let Some(result) = &call.result {
                ctx.set(result, 10 * value);
            }
            Ok(())
        }
    }

    const PROGRAM: &str = "
        match_kind { exact }
        extern bit<32> ask(in bit<32> x);
        control C(inout bit<32> a, inout bit<32> b) {
            action none() {}
            action add(bit<32> more) { b = b + ask(more); b = b + ask(b); }
            table t { key = { a : exact; } actions = { add; none; }
                      default_action = none();
                      const entries = { 30 : add(7); 1 : add(9); } }
            apply {
                a = ask(3);
                if (t.apply().hit) { b = b + ask(1); }
                for (bit<32> i = 0; i < 3; i = i + 1) {
                    if (i == 1) { a = a + ask(i); continue; }
                    switch (i) { 0: { a = a + ask(100); } default: { a = a + ask(a); } }
                }
                b = b + 1;
            }
        }
        control Any(inout bit<32> a, inout bit<32> b);
        package P(Any c);
        P(C()) main;";

    fn interpreter(executor: Executor) -> Interpreter {
        let loader = MemoryLoader::new().with("waits.p4", PROGRAM);
        let compiled = compile_with(&loader, "waits.p4".as_ref(), &PreprocessOptions::default())
            .expect("it compiles");
        Interpreter::with_executor(compiled.program, executor)
    }

    /// Final frame of a thread that waits at each call, and the number of waits.
    fn waiting(executor: Executor) -> (Vec<u128>, Vec<u128>, usize) {
        let interpreter = interpreter(executor);
        let tables = Tables::new(interpreter.program().clone());
        let mut frame = interpreter.frame(UnitId(0));
        let (mut position, mut externs, mut times) = (Position::default(), Waits::default(), 0);
        loop {
            let progress = interpreter
                .resume_control(UnitId(0), &mut frame, &tables, &mut externs, &mut position)
                .expect("it runs");
            if progress == Progress::Ended {
                return (frame.narrow[..2].to_vec(), externs.requested, times);
            }
            times += 1;
        }
    }

    #[test]
    fn suspension_at_each_call_does_not_change_a_controls_result() {
        does_the_same(Executor::Flat);
        does_the_same(Executor::Tree);
    }

    fn does_the_same(executor: Executor) {
        let (left, requested, times) = waiting(executor);
        assert_eq!(requested, [3, 7, 70, 1, 100, 1, 1040]);
        assert_eq!(times, requested.len());
        assert_eq!(left, [11_440, 781]);
        let interpreter = interpreter(executor);
        let tables = Tables::new(interpreter.program().clone());
        let mut frame = interpreter.frame(UnitId(0));
        let mut externs = Never(Vec::new());
        interpreter.run_control(UnitId(0), &mut frame, None, &tables, &mut externs).expect("runs");
        assert_eq!((frame.narrow[..2].to_vec(), externs.0), (left, requested));
    }

    /// Answers at once.
    struct Never(Vec<u128>);

    impl Externs for Never {
        fn call(&mut self, call: &ExternCall, ctx: &mut Context<'_>) -> Result<(), Halt> {
            let mut waits = Waits { waited: true, ..Waits::default() };
            waits.call(call, ctx)?;
            self.0.extend(waits.requested);
            Ok(())
        }
    }
}

//! The interpreter: runs the units of an elaborated program on frames.
//!
//! Uses the IR only. The driver owns one [`Frame`] per unit, copies parameters between them and
//! implements [`Externs`]; the interpreter must not depend on an architecture. In the narrow path
//! (values of at most 128 bits) nothing is allocated per packet.
//!
//! ```text
//! PacketIn -> run_parser -> frame -> copy_layout -> frame -> run_control -> ... -> PacketOut
//!                                        |  apply: Tables  |  call: Externs
//! ```

pub mod arith;
mod bytecode;
mod context;
mod eval;
mod exec;
mod frame;
mod invalid_reads;
pub mod jit_tier;
mod packet;
mod parser;
mod resume;
pub mod tables;
pub mod trace;
mod trap;
mod unit_chain;

pub use self::exec::NO_ACTION_RAN;
pub use bytecode::{Assembler, Calls, FieldList, NoCode};
pub use context::{Access, ActionRun, Choice, Context, Externs, Matched, Moment, NoExterns};
pub use frame::{Frame, SlotRange, copy_layout, copy_range};
pub use invalid_reads::InvalidRead;
pub use packet::{PacketIn, PacketOut};
pub use resume::{Position, Progress};
pub use tables::{EntryHandle, Tables};
pub use trap::Halt;
pub use unit_chain::{Chain, Link, Plan, Stopped};

use crate::ir::{Body, Program, Slot, UnitId};
use bytecode::{Direct, End, ResumePoint};
use serde::{Deserialize, Serialize};
use std::cell::Cell;
use std::sync::Arc;

/// Error values that the language's own operations raise, looked up by name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)] // They are named for the errors of core.p4.
pub struct CoreErrors {
    pub no_error: u32,
    pub packet_too_short: u32,
    pub no_match: u32,
    pub stack_out_of_bounds: u32,
    pub header_too_short: u32,
    pub parser_timeout: u32,
    pub parser_invalid_argument: u32,
}

impl CoreErrors {
    /// Looks them up among a program's errors. An undeclared one gets a value that no error has.
    pub fn new(errors: &[Arc<str>]) -> CoreErrors {
        let find = |name: &str| {
            errors.iter().position(|error| &**error == name).map_or(u32::MAX, |at| at as u32)
        };
        CoreErrors {
            no_error: errors.iter().position(|error| &**error == "NoError").unwrap_or(0) as u32,
            packet_too_short: find("PacketTooShort"),
            no_match: find("NoMatch"),
            stack_out_of_bounds: find("StackOutOfBounds"),
            header_too_short: find("HeaderTooShort"),
            parser_timeout: find("ParserTimeout"),
            parser_invalid_argument: find("ParserInvalidArgument"),
        }
    }
}

/// Result of a parser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parsed {
    /// True if it reached `accept`.
    pub accepted: bool,
    /// Its error: an index into [`Program::errors`].
    pub error: u32,
    /// Bits consumed; the rest of the packet is payload.
    pub consumed: u64,
}

/// Executor of a program's statements. All have the same results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Executor {
    /// Machine code of frequently run units, compiled from bytecode, if there is a
    /// [`jit_tier::Compiler`].
    #[default]
    Native,
    /// Bytecode, generated when the program is loaded.
    #[serde(rename = "interpreter")]
    Flat,
    /// The tree walk: slower, and the reference for the others.
    Tree,
}

/// A unit's bytecode, with its machine code if there is any.
type Code<'a> = (&'a bytecode::UnitCode, Option<&'a dyn jit_tier::MachineCode>);

/// Result of a run of code, and the bits of its packet consumed.
struct Ran {
    end: Result<End, Halt>,
    consumed: u64,
}

impl Ran {
    /// The same for a parser.
    #[inline]
    fn parsed(self, of: &Interpreter) -> Result<Parsed, Halt> {
        let Ran { end, consumed } = self;
        match end {
            Ok(End::Reject(error)) => Ok(Parsed { accepted: false, error, consumed }),
            Ok(End::Accept | End::Done) => {
                Ok(Parsed { accepted: true, error: of.errors.no_error, consumed })
            }
            Err(halt) => Err(of.completed(halt)),
        }
    }
}

/// A program ready to run. Has no mutable state of its own: frames, tables and externs are the
/// caller's.
#[derive(Clone, Debug)]
pub struct Interpreter {
    program: Arc<Program>,
    /// Bytecode by unit; `None` where the tree is walked.
    code: Arc<[Option<jit_tier::Unit>]>,
    chains: Arc<Vec<unit_chain::Joined>>,
    compiler: Option<&'static dyn jit_tier::Compiler>,
    errors: CoreErrors,
    step_limit: u64,
}

impl Interpreter {
    /// Default limit of loop iterations and parser states for one run of a unit.
    pub const STEP_LIMIT: u64 = 100_000;

    /// Prepares a program.
    pub fn new(program: Arc<Program>) -> Interpreter {
        Interpreter::with_executor(program, Executor::default())
    }

    /// [`Interpreter::new`] with a chosen executor.
    pub fn with_executor(program: Arc<Program>, executor: Executor) -> Interpreter {
        let errors = CoreErrors::new(&program.errors);
        let code = match executor {
            Executor::Flat | Executor::Native => {
                let units = bytecode::build(&program, &NoCode).into_iter();
                units.map(|code| code.map(jit_tier::Unit::new)).collect()
            }
            Executor::Tree => program.units.iter().map(|_| None).collect(),
        };
        let step_limit = Interpreter::STEP_LIMIT;
        let chains = Arc::default();
        Interpreter { program, code, chains, compiler: None, errors, step_limit }
    }

    /// The same with code for calls. Resets all settings of units and all chains.
    #[must_use]
    pub fn with_calls(mut self, calls: &dyn Calls) -> Interpreter {
        if self.code.iter().any(Option::is_some) {
            let units = bytecode::build(&self.program, calls).into_iter();
            self.code = units.map(|code| code.map(jit_tier::Unit::new)).collect();
        }
        self
    }

    /// Enables machine code for frequently run units.
    pub fn compile_by(&mut self, compiler: &'static dyn jit_tier::Compiler) {
        self.compiler = Some(compiler);
    }

    /// Compiles all units and chains at once; returns the number of those with machine code.
    pub fn compile_all(&self) -> usize {
        let Some(compiler) = self.compiler else { return 0 };
        let chains = self.chains.iter().map(|chain| &chain.unit);
        let all = self.code.iter().flatten().chain(chains);
        all.filter(|unit| unit.compiled(compiler).is_some()).count()
    }

    /// The same with another limit of loop iterations and parser states per run of a unit.
    #[must_use]
    pub fn with_step_limit(mut self, limit: u64) -> Interpreter {
        self.step_limit = limit;
        self
    }

    /// Declares that these slots of a parser are never read, neither by the parser itself nor by
    /// later users of its frame: their value after an `extract` is undefined from here on.
    pub fn leave_unread(&mut self, unit: UnitId, unread: impl Fn(Slot) -> bool) {
        if let Some(Some(code)) = Arc::make_mut(&mut self.code).get_mut(unit.index()) {
            code.code.leave_unread(unread);
        }
    }

    /// The program.
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// The error values of core.p4 in this program.
    pub fn errors(&self) -> &CoreErrors {
        &self.errors
    }

    /// Number of slots that a run of a unit may use: those of units, and temporaries behind them.
    pub fn slots(&self, unit: UnitId) -> usize {
        let own = self.program.units[unit.index()].slots.len();
        self.code[unit.index()].as_ref().map_or(own, |unit| unit.code.slots.max(own))
    }

    /// A frame for a unit.
    pub fn frame(&self, unit: UnitId) -> Frame {
        Frame::new(&self.program.units[unit.index()])
    }

    #[inline]
    fn context<'a>(
        &'a self,
        frame: &'a mut Frame,
        tables: &'a Tables,
        packet: Option<PacketIn<'a>>,
        out: Option<&'a mut PacketOut>,
    ) -> Context<'a> {
        Context {
            program: &self.program,
            errors: &self.errors,
            tables,
            frame,
            packet,
            out,
            matched: None,
            failed: Cell::new(None),
            invalid: invalid_reads::InvalidReads::default(),
            steps: self.step_limit,
        }
    }

    /// Bytecode of a unit, unless the run is traced: only the tree has steps to trace.
    #[inline]
    fn code<E: Externs + ?Sized>(&self, unit: UnitId, externs: &mut E) -> Option<Code<'_>> {
        let code = self.code.get(unit.index())?.as_ref()?;
        match externs.trace() {
            Some(Some(_)) => None,
            _ => Some((&code.code, code.machine(self.compiler))),
        }
    }

    /// Runs a control, or a deparser if there is a packet to write. The caller has filled the slots
    /// of its `in` and `inout` parameters, and reads the others afterwards.
    ///
    /// # Errors
    /// [`Halt`]: the step limit, a unit that is not a control, or what an extern answers.
    pub fn run_control<E: Externs + ?Sized>(
        &self,
        unit: UnitId,
        frame: &mut Frame,
        out: Option<&mut PacketOut>,
        tables: &Tables,
        externs: &mut E,
    ) -> Result<(), Halt> {
        let Some(code) = self.code(unit, externs).filter(|code| !code.0.is_parser) else {
            return self.walk_control(unit, frame, out, tables, externs);
        };
        match self.run(code, frame, (None, out), tables, externs, Some(unit)).end {
            Ok(_) => Ok(()),
            Err(halt) => Err(self.completed(halt)),
        }
    }

    /// Runs code from its beginning. `noted` is the unit that may read invalid headers, if any.
    #[inline]
    fn run<'p, E: Externs + ?Sized>(
        &'p self,
        code: Code<'_>,
        frame: &'p mut Frame,
        (mut packet, mut out): (Option<PacketIn<'p>>, Option<&'p mut PacketOut>),
        tables: &'p Tables,
        externs: &mut E,
        noted: Option<UnitId>,
    ) -> Ran {
        let mut place = ResumePoint::default();
        if let (code, Some(machine)) = code {
            if frame.narrow.len() < code.slots {
                frame.narrow.resize(code.slots, 0);
            }
            let room = out.as_ref().map_or(0, |_| machine.room());
            let inline_cache = context::unheard(tables, externs);
            let mut direct = Direct { code, machine, frame: &mut *frame, tables };
            let run = |ends: &mut jit_tier::Ends<'_>| direct.run(ends, &mut place, externs);
            let ends =
                packet::move_ends(packet.as_mut(), (out.as_deref_mut(), room), inline_cache, run);
            if let Some(end) = ends {
                return Ran {
                    end: Ok(end),
                    consumed: packet.map_or(0, |packet| packet.position()),
                };
            }
        }
        let context = self.context(frame, tables, packet, out);
        self.go_on(code, context, &mut place, externs, noted)
    }

    #[inline(never)]
    fn go_on<E: Externs + ?Sized>(
        &self,
        code: Code<'_>,
        mut context: Context<'_>,
        place: &mut ResumePoint,
        externs: &mut E,
        noted: Option<UnitId>,
    ) -> Ran {
        let end = context.execute(code, place, externs);
        if let Some(unit) = noted {
            context.invalid.report(&self.program, unit, externs);
        }
        Ran { end, consumed: context.packet.as_ref().map_or(0, PacketIn::position) }
    }

    /// [`Interpreter::run_control`] by the tree.
    #[inline(never)]
    fn walk_control<E: Externs + ?Sized>(
        &self,
        unit: UnitId,
        frame: &mut Frame,
        out: Option<&mut PacketOut>,
        tables: &Tables,
        externs: &mut E,
    ) -> Result<(), Halt> {
        let declared = &self.program.units[unit.index()];
        let Body::Control { stmts, .. } = &declared.body else {
            return Err(Halt::WrongUnit { name: declared.name.clone(), expected: "control" });
        };
        // A leave of the exit label, which encloses everything, ends here.
        let mut context = self.context(frame, tables, None, out);
        let ended = match externs.trace().and_then(Option::take) {
            Some(trace) => context.follow_control(declared, stmts, trace, externs),
            None => context.run(stmts, externs),
        };
        context.invalid.report(&self.program, unit, externs);
        ended.map(|_| ()).map_err(|halt| self.completed(halt))
    }

    /// Runs a control from a position on, to its end or to a call whose extern returns
    /// [`Halt::Suspended`]. That call is repeated when the control is resumed with the same frame
    /// and position.
    ///
    /// # Errors
    /// As for [`Interpreter::run_control`].
    pub fn resume_control<E: Externs + ?Sized>(
        &self,
        unit: UnitId,
        frame: &mut Frame,
        tables: &Tables,
        externs: &mut E,
        position: &mut Position,
    ) -> Result<Progress, Halt> {
        let declared = &self.program.units[unit.index()];
        let Body::Control { stmts, .. } = &declared.body else {
            return Err(Halt::WrongUnit { name: declared.name.clone(), expected: "control" });
        };
        let mut context = self.context(frame, tables, None, None);
        context.steps = self.step_limit.saturating_sub(position.steps);
        let run = match &self.code[unit.index()] {
            Some(unit) => {
                let code = (&unit.code, unit.machine(self.compiler));
                context.execute(code, &mut position.place, externs).map(|_| ())
            }
            None => context.resume(stmts, position, externs).map(|_| ()),
        };
        position.steps = self.step_limit - context.steps;
        context.invalid.report(&self.program, unit, externs);
        match run {
            Ok(()) => Ok(Progress::Ended),
            Err(Halt::Suspended) => Ok(Progress::Suspended),
            Err(halt) => Err(self.completed(halt)),
        }
    }

    /// Runs a parser on a packet from its cursor on.
    ///
    /// # Errors
    /// As for [`Interpreter::run_control`]. A parser that rejects is not an error.
    pub fn run_parser<E: Externs + ?Sized>(
        &self,
        unit: UnitId,
        frame: &mut Frame,
        packet: PacketIn<'_>,
        tables: &Tables,
        externs: &mut E,
    ) -> Result<Parsed, Halt> {
        let Some(code) = self.code(unit, externs).filter(|code| code.0.is_parser) else {
            return self.walk_parser(unit, frame, packet, tables, externs);
        };
        self.run(code, frame, (Some(packet), None), tables, externs, Some(unit)).parsed(self)
    }

    /// [`Interpreter::run_parser`] by the tree.
    #[inline(never)]
    fn walk_parser<E: Externs + ?Sized>(
        &self,
        unit: UnitId,
        frame: &mut Frame,
        packet: PacketIn<'_>,
        tables: &Tables,
        externs: &mut E,
    ) -> Result<Parsed, Halt> {
        let declared = &self.program.units[unit.index()];
        let Body::Parser(body) = &declared.body else {
            return Err(Halt::WrongUnit { name: declared.name.clone(), expected: "parser" });
        };
        let mut context = self.context(frame, tables, Some(packet), None);
        let ended = match externs.trace().and_then(Option::take) {
            Some(trace) => context.follow_parser(declared, body, trace, externs),
            None => context.parse(body, externs),
        };
        context.invalid.report(&self.program, unit, externs);
        ended.map_err(|halt| self.completed(halt))
    }

    /// Adds the step limit, which is not known at the point of the error.
    #[cold]
    fn completed(&self, halt: Halt) -> Halt {
        match halt {
            Halt::StepLimit { .. } => Halt::StepLimit { limit: self.step_limit },
            other => other,
        }
    }
}

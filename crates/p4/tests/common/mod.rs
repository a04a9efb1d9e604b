//! Shared test support: programs from text, runs of them, externs that record their calls.

#![allow(dead_code)] // Each test file uses its part.

use sojourn_p4::interp::{Context, Externs, Frame, Halt, Interpreter, Parsed};
use sojourn_p4::interp::{NoExterns, PacketIn, PacketOut, Tables};
use sojourn_p4::ir::{ExternCall, Layout, Program, UnitId};
use sojourn_p4::preprocess::{MemoryLoader, PreprocessOptions};
use sojourn_p4::{CompileError, compile_with};
use std::path::Path;
use std::sync::Arc;

/// Compiles a program that may include `core.p4`.
pub fn try_compile(text: &str) -> Result<Arc<Program>, CompileError> {
    let core = include_str!("../../../../p4/include/core.p4");
    let loader = MemoryLoader::new().with("test.p4", text).with("include/core.p4", core);
    let include_paths = vec!["include".into()];
    let options = PreprocessOptions { include_paths, ..PreprocessOptions::default() };
    compile_with(&loader, Path::new("test.p4"), &options).map(|compiled| compiled.program)
}

/// The same for a program that has no errors.
pub fn compile(text: &str) -> Arc<Program> {
    try_compile(text).unwrap_or_else(|error| panic!("{error}"))
}

/// A program with state around it.
pub struct Machine {
    pub interpreter: Interpreter,
    pub tables: Tables,
    pub frames: Vec<Frame>,
}

impl Machine {
    pub fn new(text: &str) -> Machine {
        Machine::from_program(compile(text))
    }

    pub fn from_program(program: Arc<Program>) -> Machine {
        let interpreter = Interpreter::new(program.clone());
        let frames = program.units.iter().map(Frame::new).collect();
        Machine { interpreter, tables: Tables::new(program), frames }
    }

    pub fn program(&self) -> &Program {
        self.interpreter.program()
    }

    /// The narrow slot with this name in a unit.
    fn slot(&self, unit: usize, name: &str) -> usize {
        let slots = &self.program().units[unit].slots;
        let found = slots.iter().position(|slot| &*slot.name == name);
        found.unwrap_or_else(|| {
            let known: Vec<&str> = slots.iter().map(|slot| &*slot.name).collect();
            panic!("no slot `{name}` among {known:?}")
        })
    }

    pub fn get(&self, unit: usize, name: &str) -> u128 {
        self.frames[unit].narrow[self.slot(unit, name)]
    }

    pub fn set(&mut self, unit: usize, name: &str, value: u128) {
        let slot = self.slot(unit, name);
        self.frames[unit].narrow[slot] = value;
    }

    pub fn control_with<E: Externs>(&mut self, unit: usize, externs: &mut E) -> Result<(), Halt> {
        let frame = &mut self.frames[unit];
        self.interpreter.run_control(UnitId(unit as u32), frame, None, &self.tables, externs)
    }

    /// Runs a control.
    pub fn control(&mut self, unit: usize) {
        self.control_with(unit, &mut NoExterns).expect("the control runs to its end");
    }

    /// Runs a parser.
    pub fn parse(&mut self, unit: usize, packet: &[u8], zeros: u32) -> Parsed {
        let packet = PacketIn::new(packet, zeros);
        let frame = &mut self.frames[unit];
        self.interpreter
            .run_parser(UnitId(unit as u32), frame, packet, &self.tables, &mut NoExterns)
            .expect("a parser comes to an end")
    }

    /// Runs a deparser.
    pub fn deparse(&mut self, unit: usize) -> Vec<u8> {
        let mut out = PacketOut::new();
        let (id, frame) = (UnitId(unit as u32), &mut self.frames[unit]);
        self.interpreter
            .run_control(id, frame, Some(&mut out), &self.tables, &mut NoExterns)
            .expect("the deparser runs to its end");
        out.take()
    }

    pub fn error(&self, parsed: Parsed) -> String {
        self.program().errors[parsed.error as usize].to_string()
    }
}

/// Externs that write down their calls; each call gives 100 more than the one before.
#[derive(Default)]
pub struct Recorder {
    pub calls: Vec<String>,
    results: u128,
}

impl Externs for Recorder {
    fn call(&mut self, call: &ExternCall, ctx: &mut Context<'_>) -> Result<(), Halt> {
        use sojourn_p4::ir::Arg;
        let mut words = vec![call.name.to_string()];
        let mut outs: Vec<&Layout> = Vec::new();
        for arg in &call.args {
            match arg {
                Arg::In(value) => words.push(ctx.eval_value(value).to_string()),
                Arg::InOut(layout) => {
                    words.push(ctx.get(layout).to_string());
                    outs.push(layout);
                }
                Arg::Out(layout) => outs.push(layout),
                Arg::Object(id) => words.push(ctx.object(*id).name.to_string()),
                Arg::Packet | Arg::Absent => words.push("-".into()),
            }
        }
        self.calls.push(words.join(" "));
        if &*call.name == "run" {
            let object = ctx.object(call.object.expect("a method"));
            return ctx.run_method(&object.methods[0], self);
        }
        for layout in outs.into_iter().chain(&call.result) {
            self.results += 100;
            ctx.set(layout, self.results);
        }
        Ok(())
    }
}

//! Instruction listing of a program's register actions: `instructions PROGRAM.p4 [-I FOLDER]...`
//!
//! Prints the stateful-ALU instruction of every action, or the reason why the program cannot be
//! loaded.

use sojourn_p4::diagnostic::{RenderOptions, render_all};
use sojourn_p4::preprocess::FileLoader;
use sojourn_tofino::{LoadOptions, load_with};
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut options = LoadOptions::default();
    let mut program = None;
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "-I" => options.include_paths.extend(args.next().map(Into::into)),
            _ => program = Some(arg),
        }
    }
    let Some(program) = program else {
        eprintln!("usage: instructions PROGRAM.p4 [-I FOLDER]...");
        return ExitCode::from(2);
    };
    match load_with(&FileLoader, &program, &options) {
        Ok(loaded) => {
            print!("{}", render_all(&loaded.warnings, &loaded.sources, &RenderOptions::default()));
            for register in loaded.plane.registers() {
                println!("{}", register.describe());
            }
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprint!("{}", error.render(&RenderOptions::default()));
            ExitCode::from(2)
        }
    }
}

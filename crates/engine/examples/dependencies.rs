//! Prints the state variables of a program and their dependencies: `dependencies PROGRAM.p4
//! [INCLUDE_FOLDER]...`

use sojourn_p4::diagnostic::RenderOptions;
use sojourn_target::{LoadOptions, Program};
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let Some(program) = args.next() else {
        eprintln!("usage: dependencies PROGRAM.p4 [INCLUDE_FOLDER]...");
        return ExitCode::FAILURE;
    };
    let include_paths = args.map(Into::into).collect();
    let options = LoadOptions { include_paths, ..sojourn_engine::builtin::load_options() };
    match Program::read(program, &options) {
        Ok(program) => {
            print!("{}", program.dependencies().render());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprint!("{}", error.render(&RenderOptions::default()));
            ExitCode::FAILURE
        }
    }
}

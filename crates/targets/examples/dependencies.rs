//! Prints the state variables of a program and what depends on what:
//! `dependencies PROGRAM.p4 [INCLUDE_FOLDER]...`

use sojourn_targets::state;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let Some(program) = args.next() else {
        eprintln!("usage: dependencies PROGRAM.p4 [INCLUDE_FOLDER]...");
        return ExitCode::FAILURE;
    };
    match state::of_file(program.as_ref(), args.map(Into::into).collect(), Vec::new()) {
        Ok(found) => {
            print!("{}", found.render());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprint!("{error}");
            ExitCode::FAILURE
        }
    }
}

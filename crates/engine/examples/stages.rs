//! Prints the stage estimate of a TNA program: `stages PROGRAM.p4 [INCLUDE_FOLDER]...`

use sojourn_p4::diagnostic::{RenderOptions, render_all};
use sojourn_p4::preprocess::FileLoader;
use sojourn_tofino::{LoadOptions, fit, load_with};
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let Some(program) = args.next() else {
        eprintln!("usage: stages PROGRAM.p4 [INCLUDE_FOLDER]...");
        return ExitCode::FAILURE;
    };
    let include_paths = args.map(Into::into).collect();
    let options =
        LoadOptions { include_paths, check_only: true, ..sojourn_engine::builtin::load_options() };
    let rendering = RenderOptions::default();
    match load_with(&FileLoader, program, &options) {
        Ok(loaded) => {
            print!("{}", render_all(&loaded.warnings, &loaded.sources, &rendering));
            print!("{}", fit::estimate(&loaded).render());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprint!("{}", error.render(&rendering));
            ExitCode::FAILURE
        }
    }
}

//! Elaborates P4 programs: `elaborate [-I DIR]... [-D NAME[=VALUE]]... FILE...`.
//!
//! One line per program: its size, or the stage that rejected it. Exit status 0 if no program that
//! passes the checker fails in elaboration.

use sojourn_p4::diagnostic::{RenderOptions, render_all};
use sojourn_p4::elaborate::elaborate;
use sojourn_p4::preprocess::{FileLoader, PreprocessOptions};
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut options = PreprocessOptions::default();
    let mut files = Vec::new();
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "-I" => options.include_paths.extend(args.next().map(Into::into)),
            "-D" => {
                let define = args.next().unwrap_or_default();
                let (name, value) = define.split_once('=').unwrap_or((&define, "1"));
                options.defines.push((name.to_string(), value.to_string()));
            }
            _ => files.push(arg),
        }
    }
    let (mut refused, mut failed, mut done) = (0, 0, 0);
    for file in &files {
        let checked = sojourn_p4::check_program(&FileLoader, Path::new(file), &options);
        let Ok((typed, sources, _)) = checked else {
            refused += 1;
            println!("{file}: refused by the front end or the checker");
            continue;
        };
        match elaborate(&typed) {
            Ok(program) => {
                done += 1;
                let slots: usize = program.units.iter().map(|unit| unit.slots.len()).sum();
                let (units, tables) = (program.units.len(), program.tables.len());
                let objects = program.objects.len();
                println!(
                    "{file}: {units} units, {slots} slots, {tables} tables, {objects} objects"
                );
            }
            Err(diagnostics) => {
                failed += 1;
                println!("{file}: not elaborated");
                print!("{}", render_all(&diagnostics, &sources, &RenderOptions::default()));
            }
        }
    }
    println!("{done} elaborated, {failed} not elaborated, {refused} refused before");
    ExitCode::from(u8::from(failed > 0))
}

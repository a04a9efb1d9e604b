//! Checks a P4 program: `check [-I DIR]... [-D NAME[=VALUE]]... FILE`.
//!
//! Prints what the front end and the checker say; exit status 0 if there is no error.

use sojourn_p4::diagnostic::{Diagnostic, RenderOptions, render_all};
use sojourn_p4::preprocess::PreprocessOptions;
use sojourn_p4::{check, parse, preprocess};
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut options = PreprocessOptions::default();
    let mut file = None;
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "-I" => options.include_paths.extend(args.next().map(Into::into)),
            "-D" => {
                let define = args.next().unwrap_or_default();
                let (name, value) = define.split_once('=').unwrap_or((&define, "1"));
                options.defines.push((name.to_string(), value.to_string()));
            }
            _ => file = Some(arg),
        }
    }
    let Some(file) = file else {
        eprintln!("usage: check [-I DIR]... [-D NAME[=VALUE]]... FILE");
        return ExitCode::from(2);
    };
    let loader = preprocess::FileLoader;
    let (program, sources, mut diagnostics) = parse::parse_program(&loader, &file, &options);
    if !diagnostics.iter().any(Diagnostic::is_error) {
        diagnostics.extend(check::check(&program, &sources).1);
    }
    print!("{}", render_all(&diagnostics, &sources, &RenderOptions::default()));
    ExitCode::from(u8::from(diagnostics.iter().any(Diagnostic::is_error)))
}

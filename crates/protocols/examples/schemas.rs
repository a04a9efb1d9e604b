//! Writes the schemas of many programs, for comparison with those of other tools.
//!
//! Usage: `schemas OUT -I FOLDER... PROGRAM...`. For each program OUT gets `NAME.p4info.txtpb` and
//! `NAME.bfrt.json`, or `NAME.error` with the compiler's errors; also `NAME.refused` if the
//! program's target refuses it.

use sojourn_protocols::{bfrt, p4info, p4info_text};
use sojourn_target::{LoadOptions, Program};
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let mut args = env::args_os().skip(1);
    let out = PathBuf::from(args.next().unwrap_or_default());
    let (mut include_paths, mut programs) = (Vec::new(), Vec::new());
    while let Some(arg) = args.next() {
        match arg.to_str() {
            Some("-I") => include_paths.extend(args.next().map(PathBuf::from)),
            _ => programs.push(PathBuf::from(arg)),
        }
    }
    fs::create_dir_all(&out)?;
    let options = LoadOptions { include_paths, ..sojourn_engine::builtin::load_options() };
    for path in programs {
        write(&path, &out, &options)?;
    }
    Ok(())
}

fn write(path: &Path, out: &Path, options: &LoadOptions) -> io::Result<()> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let program = match Program::read(path, options) {
        Ok(program) => program,
        Err(error) => {
            return fs::write(out.join(format!("{name}.error")), error.render(&Default::default()));
        }
    };
    let schema = program.schema();
    let checked = program.check();
    if let Some(first) = checked.diagnostics.iter().find(|found| found.is_error()) {
        fs::write(out.join(format!("{name}.refused")), &*first.message)?;
    }
    fs::write(out.join(format!("{name}.bfrt.json")), bfrt::text(&schema))?;
    fs::write(out.join(format!("{name}.p4info.txtpb")), p4info_text(&p4info(&schema)))
}

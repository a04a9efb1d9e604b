//! Loads each program named on the command line, or all programs in a folder, and prints its
//! errors. `-IDIR` adds a folder to search for included files. The last line is the number of
//! programs that load.

use sojourn_p4::diagnostic::RenderOptions;
use sojourn_target::{LoadOptions, load};
use std::path::{Path, PathBuf};

fn main() {
    let p4 = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../p4/include");
    let (include, names): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|argument| argument.starts_with("-I"));
    let include = include.iter().map(|argument| PathBuf::from(&argument["-I".len()..]));
    let include_paths = std::iter::once(p4).chain(include).collect();
    let options = LoadOptions { include_paths, ..sojourn_engine::builtin::load_options() };
    let brief = std::env::var_os("BRIEF").is_some();
    let (mut loaded, mut refused) = (0, 0);
    for path in names.iter().flat_map(|name| programs(Path::new(name))) {
        match load(&path, &options) {
            Ok(_) => loaded += 1,
            Err(error) => {
                refused += 1;
                if brief {
                    println!("{}: {error}", path.display());
                } else {
                    println!("{}", error.render(&RenderOptions::default()));
                }
            }
        }
    }
    println!("{loaded} loaded, {refused} refused");
}

fn programs(path: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(path) else { return vec![path.to_owned()] };
    let paths = entries.filter_map(|entry| entry.ok().map(|entry| entry.path()));
    let mut programs: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|ending| ending == "p4")).collect();
    programs.sort();
    programs
}

//! Copies the built-in programs, scenarios and hardware modules to the folder that the wheel's
//! builder packages.
//!
//! `pyproject.toml` takes `OUT_DIR/_data` into the package as `sojourn/_data`. A clone does not need
//! the copies: there, the package reads `p4/`, `scenarios/` and `hardware/` in place.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

const SHIPPED: [&str; 3] = ["p4", "scenarios", "hardware"];

fn main() -> io::Result<()> {
    let root = Path::new("../..");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR")).join("_data");
    if out.exists() {
        fs::remove_dir_all(&out)?;
    }
    for folder in SHIPPED {
        println!("cargo::rerun-if-changed={}", root.join(folder).display());
        copy(&root.join(folder), &out.join(folder))?;
    }
    Ok(())
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        // Benchmarks and scripts are for a clone only.
        if target.extension().is_some_and(|extension| extension == "py" || extension == "pyc") {
            continue;
        }
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

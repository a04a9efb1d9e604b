//! Prints the page about the rules, `docs/rules.md`. The severity of each rule is determined by its
//! own program.

use sojourn_p4::diagnostic::{Diagnostic, Severity};
use sojourn_p4::preprocess::FileLoader;
use sojourn_tofino::rules::{Rule, page};
use sojourn_tofino::{LoadOptions, load_with};
use std::path::Path;

fn main() {
    print!("{}", page(severity));
}

fn severity(rule: &Rule) -> Severity {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let options = LoadOptions {
        include_paths: vec![crate_folder.join("../../p4/include")],
        defines: vec![("BROKEN".to_owned(), "1".to_owned())],
        ..LoadOptions::default()
    };
    let program = crate_folder.join("rules").join(format!("{}.p4", rule.code));
    let found = match load_with(&FileLoader, program, &options) {
        Ok(loaded) => loaded.warnings,
        Err(error) => error.diagnostics,
    };
    found.iter().map(|diagnostic: &Diagnostic| diagnostic.severity).max().unwrap_or(Severity::Note)
}

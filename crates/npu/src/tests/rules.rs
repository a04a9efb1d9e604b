//! Each rule's program breaks that rule only, and none in its corrected variant.

use super::p4_folder;
use crate::rules;
use sojourn_p4::preprocess::FileLoader;
use sojourn_target::load::{LoadOptions, load_with};
use std::path::Path;

fn codes(name: &str, broken: bool) -> Vec<&'static str> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("rules");
    let options = LoadOptions {
        targets: sojourn_target::Targets(&[&crate::NetworkProcessor]),
        include_paths: vec![p4_folder().join("include")],
        defines: broken.then(|| ("BROKEN".to_owned(), "1".to_owned())).into_iter().collect(),
        ..LoadOptions::default()
    };
    let found = match load_with(&FileLoader, folder.join(format!("{name}.p4")), &options) {
        Ok(loaded) => loaded.warnings,
        Err(error) => error.diagnostics,
    };
    found.into_iter().map(|diagnostic| diagnostic.code).collect()
}

#[test]
fn every_rule_has_a_program_that_breaks_it_and_nothing_else() {
    for rule in rules::ALL {
        assert_eq!(codes(rule.code, true), [rule.code]);
        assert!(codes(rule.code, false).is_empty(), "{} mended", rule.code);
        assert!(rule.program.starts_with(&format!("//! {}: {}", rule.code, rule.title)));
    }
}

//! Test of the permitted dependencies between crates.
//!
//! The table below states the crates that each crate may name, as in ARCHITECTURE.md. Cargo's
//! dependencies and every path that begins with `sojourn_` are compared with it, including those of
//! tests, examples and benches.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// A crate and its permitted dependencies. Architecture and network crates do not name each other.
const FLOORS: [(&str, &[&str]); 19] = [
    ("packet", &[]),
    ("p4", &[]),
    ("jit", &["p4"]),
    ("externs", &["packet", "p4"]),
    ("analysis", &["p4"]),
    ("control", &["packet", "p4", "externs"]),
    ("target", &["packet", "p4", "analysis", "control"]),
    ("tofino", &["packet", "p4", "jit", "externs", "control", "target"]),
    ("bmv2", &["packet", "p4", "externs", "control", "target"]),
    ("npu", &["packet", "p4", "externs", "control", "target"]),
    ("psa", &["packet", "p4", "externs", "control", "target"]),
    ("switch", &["packet"]),
    ("net", &["packet", "switch"]),
    (
        "engine",
        &[
            "packet", "p4", "jit", "externs", "analysis", "control", "target", "tofino", "bmv2",
            "npu", "psa", "switch", "net",
        ],
    ),
    ("live", &["packet", "switch"]),
    ("verilog", &["packet", "switch"]),
    ("protocols", &["packet", "p4", "externs", "control", "target", "switch", "engine"]),
    (
        "py",
        &[
            "packet",
            "p4",
            "control",
            "target",
            "tofino",
            "switch",
            "net",
            "engine",
            "live",
            "verilog",
            "protocols",
        ],
    ),
    ("bench", &["packet", "p4", "control", "target", "switch", "net", "engine"]),
];

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn allowed(name: &str, other: &str) -> bool {
    let floor = FLOORS.iter().find(|(known, _)| *known == name);
    name == other || floor.is_some_and(|(_, below)| below.contains(&other))
}

fn rust_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder of the repository") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            rust_files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// The workspace crates that a text names: the words behind `sojourn_` in paths.
fn named(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (number, line) in text.lines().enumerate() {
        for (at, _) in line.match_indices("sojourn_") {
            let rest = &line[at + "sojourn_".len()..];
            let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            let (name, behind) = rest.split_at(end.unwrap_or(rest.len()));
            let starts = line[..at].chars().last().is_none_or(|c| !c.is_alphanumeric() && c != '_');
            if starts && (behind.starts_with("::") || behind.starts_with(';')) {
                found.push((number + 1, name.to_owned()));
            }
        }
    }
    found
}

#[test]
fn every_crate_of_the_workspace_has_its_floor() {
    let manifest = fs::read_to_string(crates().join("../Cargo.toml")).expect("the workspace");
    let manifest: toml::Table = manifest.parse().expect("TOML");
    let members = manifest["workspace"]["members"].as_array().expect("members");
    let members: Vec<_> = members.iter().filter_map(|m| m.as_str()).collect();
    for member in &members {
        let name = member.strip_prefix("crates/").expect("all crates are in crates/");
        assert!(FLOORS.iter().any(|(known, _)| *known == name), "{name} has no floor in this test");
    }
    assert_eq!(members.len(), FLOORS.len());
}

#[test]
fn no_dependency_looks_up_or_across() {
    for (name, _) in FLOORS {
        let text = fs::read_to_string(crates().join(name).join("Cargo.toml")).expect("a manifest");
        let manifest: toml::Table = text.parse().expect("TOML");
        for section in ["dependencies", "dev-dependencies", "build-dependencies"] {
            let Some(section) = manifest.get(section).and_then(|s| s.as_table()) else { continue };
            for other in section.keys().filter_map(|key| key.strip_prefix("sojourn-")) {
                assert!(allowed(name, other), "crates/{name} depends on {other}");
            }
        }
    }
}

#[test]
fn no_path_in_the_code_looks_up_or_across() {
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    for (name, _) in FLOORS {
        let mut files = Vec::new();
        rust_files(&crates().join(name), &mut files);
        for file in files {
            let text = fs::read_to_string(&file).expect("a source file");
            for (line, other) in named(&text) {
                assert!(allowed(name, &other), "{}:{line} names {other}", file.display());
                *seen.entry(name).or_default() += 1;
            }
        }
    }
    // The search found files that certainly exist.
    assert!(seen["net"] > 20 && seen["switch"] > 10 && seen["engine"] > 10, "{seen:?}");
}

#[test]
fn a_path_to_a_crate_is_found_wherever_it_stands() {
    let text = "use sojourn_p4::ir;\nlet x = sojourn_net::Simulation::new(); // my_sojourn_x::y\n";
    assert_eq!(named(text), [(1, "p4".to_owned()), (2, "net".to_owned())]);
}

#[test]
fn the_network_tower_has_no_word_of_p4() {
    for name in ["packet", "switch", "net"] {
        let mut files = Vec::new();
        rust_files(&crates().join(name).join("src"), &mut files);
        for file in files {
            let text = fs::read_to_string(&file).expect("a source file");
            for (number, line) in text.lines().enumerate() {
                // Comments are for readers; names in code are dependencies.
                let code = line.split("//").next().unwrap_or_default();
                let word = code.split(|c: char| !c.is_alphanumeric()).find(|word| {
                    let word = word.to_ascii_lowercase();
                    ["p4", "tofino", "v1model", "tna", "bmv2"].contains(&word.as_str())
                });
                let place = format!("{}:{}", file.display(), number + 1);
                assert_eq!(word, None, "{place} names what only the other tower knows");
            }
        }
    }
}

/// The files that may name an architecture outside its crate.
const NAMED: [(&str, &str); 4] = [
    ("engine/src/builtin.rs", "the table of targets"),
    ("py/src/tofino.rs", "the stateful ALU on raw vectors"),
    ("py/src/rules.rs", "the list of the chip's rules"),
    ("py/src/lib.rs", "the list of modules"),
];

/// Crates that serve every architecture.
const SHARED: [&str; 8] =
    ["externs", "analysis", "control", "target", "jit", "engine", "protocols", "py"];

#[test]
fn an_architecture_is_named_in_its_crate_and_in_the_table() {
    let words = [
        "Tofino",
        "TofinoTarget",
        "TOFINO1",
        "TOFINO2",
        "V1Model",
        "Bmv2",
        "NetworkProcessor",
        "PsaSwitch",
        "tna",
        "v1model",
    ];
    let words = words.into_iter().chain(["tofino", "bmv2", "npu", "psa"]).collect::<Vec<_>>();
    let mut read = 0;
    for name in SHARED {
        let mut files = Vec::new();
        rust_files(&crates().join(name).join("src"), &mut files);
        for file in files {
            let shown = file.strip_prefix(crates()).expect("below crates/").to_string_lossy();
            let test = shown.ends_with("tests.rs") || shown.contains("/tests/");
            if test || NAMED.iter().any(|(known, _)| *known == shown) {
                continue;
            }
            read += 1;
            let text = fs::read_to_string(&file).expect("a source file");
            for (number, line) in text.lines().enumerate() {
                // Comments and messages are for readers; only code is a dependency.
                let code = line.split("//").next().unwrap_or_default();
                let code: String = code.split('"').step_by(2).collect::<Vec<_>>().join(" ");
                let named = code.split(|c: char| !c.is_alphanumeric() && c != '_');
                let word = named.into_iter().find(|word| words.contains(word));
                assert_eq!(word, None, "{shown}:{} names an architecture", number + 1);
            }
        }
    }
    assert!(read > 100, "the search has read {read} files");
}

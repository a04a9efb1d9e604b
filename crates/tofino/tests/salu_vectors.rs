//! The stateful ALU against the chip vendor's design-verification vectors, bit by bit.
//!
//! Their folder comes from `SOJOURN_SALU_VECTORS`: files `*.json.gz`, each a list of groups with a
//! `setup` and its `cases`. Without the variable the test says that it was skipped.

use flate2::read::GzDecoder;
use serde_json::Value;
use sojourn_tofino::salu::run_salu_json;
use std::fs::File;
use std::path::{Path, PathBuf};

const VARIABLE: &str = "SOJOURN_SALU_VECTORS";

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder)
        .unwrap_or_else(|why| panic!("{VARIABLE}={}: {why}", folder.display()));
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.expect("a readable folder").path())
        .filter(|path| path.to_string_lossy().ends_with(".json.gz"))
        .collect();
    files.sort();
    assert!(!files.is_empty(), "{VARIABLE}={}: no *.json.gz in it", folder.display());
    files
}

/// True if word and output are those that the case expects.
fn passes(setup: &Value, case: &Value) -> bool {
    let (word, output) = run_salu_json(setup, case).expect("a vector that can be run");
    let hex = |value: &Value| u32::from_str_radix(value.as_str().unwrap(), 16).unwrap();
    let expected = case["expect_word"].as_object().unwrap();
    let word_agrees = expected
        .iter()
        .all(|(bit, value)| (word >> bit.parse::<u32>().unwrap()) as u32 == hex(value));
    let expected = &case["expect_output"];
    word_agrees && (expected.is_null() || output == hex(expected))
}

#[test]
fn every_design_verification_vector_is_reproduced_bit_by_bit() {
    let Some(folder) = std::env::var_os(VARIABLE) else {
        println!("SKIPPED: {VARIABLE} is not set; it names the folder of the vectors");
        return;
    };
    let (mut run, mut wrong) = (0, Vec::new());
    for path in files(Path::new(&folder)) {
        let file = GzDecoder::new(File::open(&path).expect("a readable file"));
        let groups: Vec<Value> = serde_json::from_reader(file).expect("valid JSON");
        for group in &groups {
            for (number, case) in group["cases"].as_array().unwrap().iter().enumerate() {
                run += 1;
                if !passes(&group["setup"], case) {
                    wrong.push(format!("{} case {number}", path.display()));
                }
            }
        }
    }
    println!("{run} vectors, {} mismatches", wrong.len());
    assert!(run > 0, "the files hold no case");
    assert!(wrong.is_empty(), "{} of {run} differ, first: {}", wrong.len(), wrong[0]);
}

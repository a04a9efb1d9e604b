//! The estimate of `sojourn check`: the program fits.

use super::rig::p4_folder;
use sojourn_p4::preprocess::FileLoader;
use sojourn_tofino::{LoadOptions, fit, load_with};

fn estimate(define: Option<(&str, &str)>) -> fit::Fit {
    let folder = p4_folder();
    let options = LoadOptions {
        include_paths: vec![folder.join("include")],
        defines: define.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect(),
        ..LoadOptions::default()
    };
    let loaded = load_with(&FileLoader, folder.join("tna/codel_exact.p4"), &options).unwrap();
    assert!(loaded.warnings.is_empty(), "{:?}", loaded.warnings);
    fit::estimate(&loaded)
}

#[test]
fn with_and_without_marks_it_takes_ten_stages_of_egress_and_one_of_ingress() {
    for define in [None, Some(("CODEL_ECN", "1"))] {
        let fit = estimate(define);
        assert!(fit.fits);
        assert_eq!(fit.passes.each_ref().map(|pass| pass.stages), [1, 10]);
    }
}

#[test]
fn an_interval_whose_sixteenfold_exceeds_the_clock_is_refused() {
    let folder = p4_folder();
    let options = LoadOptions {
        include_paths: vec![folder.join("include")],
        defines: vec![("INTERVAL".to_owned(), "130000000".to_owned())],
        ..LoadOptions::default()
    };
    let refused = load_with(&FileLoader, folder.join("tna/codel_exact.p4"), &options);
    let error = refused.expect_err("INTERVAL is too long").to_string();
    assert!(error.contains("use at most 110000000"), "{error}");
}

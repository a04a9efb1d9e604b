//! Fuzz target: for any bytes as a P4 program, the preprocessor, the parser, the checker,
//! elaboration and the messages of all of them must return without a panic, an overflow of the
//! stack or a hang.
#![no_main]

use sojourn_p4::diagnostic::{RenderOptions, render_all, to_json_string};
use sojourn_p4::preprocess::{MemoryLoader, PreprocessOptions};
use std::path::Path;

/// Text of the core library, for `#include`.
const CORE: &str = include_str!("../../../../p4/include/core.p4");

libfuzzer_sys::fuzz_target!(|source: &[u8]| {
    let loader = MemoryLoader::new().with("/include/core.p4", CORE).with("/fuzz.p4", source);
    let options = PreprocessOptions {
        include_paths: vec!["/include".into()],
        ..PreprocessOptions::default()
    };
    if let Err(error) = sojourn_p4::compile_with(&loader, Path::new("/fuzz.p4"), &options) {
        render_all(&error.diagnostics, &error.sources, &RenderOptions::default());
        to_json_string(&error.diagnostics, &error.sources);
    }
});

//! The inputs that fuzzing found worth keeping, replayed with the stable compiler.
//!
//! `fuzz/` holds the target that found them (`cargo +nightly fuzz run compile`); this test drives the
//! same stages, so that what once broke or nearly broke the language floor never does again.

use flate2::read::GzDecoder;
use sojourn_p4::diagnostic::{RenderOptions, render_all, to_json_string};
use sojourn_p4::preprocess::{MemoryLoader, PreprocessOptions};
use std::io::Read;
use std::path::Path;
use tar::Archive;

/// A file an input: `fuzz/README.md` says how it is unpacked and made.
const CORPUS: &[u8] = include_bytes!("../fuzz/corpus.tar.gz");
const CORE: &str = include_str!("../../../p4/include/core.p4");

#[test]
fn every_input_of_the_corpus_is_compiled_or_refused_with_messages() {
    let options = PreprocessOptions {
        include_paths: vec!["/include".into()],
        ..PreprocessOptions::default()
    };
    let (mut accepted, mut refused) = (0, 0);
    let mut corpus = Archive::new(GzDecoder::new(CORPUS));
    for input in corpus.entries().expect("a tar file") {
        let mut source = Vec::new();
        input.expect("a whole archive").read_to_end(&mut source).expect("a whole input");
        let loader = MemoryLoader::new().with("/include/core.p4", CORE).with("/fuzz.p4", source);
        match sojourn_p4::compile_with(&loader, Path::new("/fuzz.p4"), &options) {
            Ok(_) => accepted += 1,
            Err(error) => {
                refused += 1;
                let text =
                    render_all(&error.diagnostics, &error.sources, &RenderOptions::default());
                assert!(text.contains("error"), "refused without an error:\n{text}");
                let json = to_json_string(&error.diagnostics, &error.sources);
                assert!(json.starts_with('['), "{json}");
            }
        }
    }
    assert!(accepted > 10 && refused > 100, "{accepted} accepted, {refused} refused");
}

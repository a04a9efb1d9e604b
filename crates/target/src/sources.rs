//! The text that a program was compiled from: every file, byte by byte, with its SHA-256.
//!
//! A text can be compiled again, on this machine or another, without its original files. Must not
//! depend on P4.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use sojourn_p4::preprocess::{MemoryLoader, SourceLoader};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

/// One file of a program.
///
/// ```
/// use sojourn_target::SourceText;
/// let empty = SourceText { path: "empty.p4".into(), bytes: Vec::new() };
/// assert!(empty.sha256().starts_with("e3b0c442"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceText {
    /// Path of the file.
    pub path: PathBuf,
    /// Contents.
    pub bytes: Vec<u8>,
}

impl SourceText {
    /// The SHA-256 of its bytes, in hexadecimal digits.
    pub fn sha256(&self) -> String {
        hexadecimal(&Sha256::digest(&self.bytes))
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The files that a program was compiled from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sources {
    /// In the order of their paths.
    pub files: Vec<SourceText>,
    /// Paths that were tried without finding a file.
    missing: Vec<PathBuf>,
}

impl Sources {
    /// The SHA-256 of all of them, together with the other inputs that determine their meaning.
    pub fn digest(&self, others: &[&str]) -> String {
        let mut all = Sha256::new();
        let mut add = |part: &[u8]| {
            all.update((part.len() as u64).to_le_bytes());
            all.update(part);
        };
        for text in &self.files {
            add(text.path.to_string_lossy().as_bytes());
            add(&text.bytes);
        }
        others.iter().for_each(|other| add(other.as_bytes()));
        hexadecimal(&all.finalize())
    }

    /// Whether `loader` still provides the same files, and no other file takes precedence.
    pub fn are_in(&self, loader: &dyn SourceLoader) -> bool {
        let same = |text: &SourceText| loader.load(&text.path).is_ok_and(|b| b == text.bytes);
        self.files.iter().all(same) && self.missing.iter().all(|path| loader.load(path).is_err())
    }

    /// The same files as a loader.
    pub fn loader(&self) -> MemoryLoader {
        self.files.iter().fold(MemoryLoader::new(), |loader, text| {
            loader.with(text.path.clone(), text.bytes.clone())
        })
    }
}

/// A program as text, complete for compilation elsewhere.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProgramText {
    /// The path of the program among `files`.
    pub program: String,
    /// Contents of each file, by path.
    pub files: BTreeMap<String, String>,
    /// Search path of `#include`, as paths among `files`.
    #[serde(default)]
    pub include_paths: Vec<String>,
    /// Macros defined before the first line.
    #[serde(default)]
    pub defines: BTreeMap<String, String>,
}

impl ProgramText {
    /// Its files as a loader.
    pub fn loader(&self) -> MemoryLoader {
        self.files.iter().fold(MemoryLoader::new(), |loader, (path, text)| {
            loader.with(path.as_str(), text.as_bytes())
        })
    }
}

/// A loader that records the files it returns.
pub struct Recorder<'l> {
    loader: &'l dyn SourceLoader,
    read: RefCell<BTreeMap<PathBuf, Vec<u8>>>,
    missing: RefCell<BTreeSet<PathBuf>>,
}

impl<'l> Recorder<'l> {
    pub fn new(loader: &'l dyn SourceLoader) -> Recorder<'l> {
        Recorder { loader, read: RefCell::default(), missing: RefCell::default() }
    }

    /// Takes the files recorded so far.
    pub fn take(&self) -> Sources {
        let text = |(path, bytes)| SourceText { path, bytes };
        Sources {
            files: self.read.take().into_iter().map(text).collect(),
            missing: self.missing.take().into_iter().collect(),
        }
    }
}

impl SourceLoader for Recorder<'_> {
    fn load(&self, path: &Path) -> io::Result<Vec<u8>> {
        match self.loader.load(path) {
            Ok(bytes) => {
                let mut read = self.read.borrow_mut();
                read.entry(path.to_path_buf()).or_insert_with(|| bytes.clone());
                Ok(bytes)
            }
            Err(error) => {
                self.missing.borrow_mut().insert(path.to_path_buf());
                Err(error)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_current_until_a_file_changes_or_one_comes_before_it() {
        let before = MemoryLoader::new().with("a.p4", "1").with("include/b.p4", "2");
        let recorder = Recorder::new(&before);
        assert!(recorder.load(Path::new("a.p4")).is_ok());
        assert!(recorder.load(Path::new("b.p4")).is_err());
        assert!(recorder.load(Path::new("include/b.p4")).is_ok());
        let sources = recorder.take();
        assert!(sources.are_in(&before) && sources.are_in(&sources.loader()));
        assert!(!sources.are_in(&before.clone().with("a.p4", "changed")));
        assert!(!sources.are_in(&before.clone().with("b.p4", "2")));
        assert!(!sources.are_in(&MemoryLoader::new()));
    }

    #[test]
    fn a_file_has_the_sha_256_that_others_compute() {
        let text = SourceText { path: "a".into(), bytes: b"abc".to_vec() };
        // FIPS 180-2, appendix B.1.
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(text.sha256(), expected);
    }
}

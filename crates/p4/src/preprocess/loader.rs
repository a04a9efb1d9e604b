//! Sources of program text: a folder, or a table in memory.
//!
//! Loaders return bytes; the preprocessor searches paths and decodes text.

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
};

/// Files larger than this are refused, in bytes: no program is, and a device may be endless.
const MAX_FILE: u64 = 1 << 28;

/// A source of files.
pub trait SourceLoader {
    /// The bytes of the file at `path`.
    ///
    /// # Errors
    /// [`io::ErrorKind::NotFound`] lets the search go on in the next folder; any other error ends
    /// it and is shown to the user.
    fn load(&self, path: &Path) -> io::Result<Vec<u8>>;
}

/// Files of the file system.
#[derive(Clone, Copy, Debug, Default)]
pub struct FileLoader;

impl SourceLoader for FileLoader {
    fn load(&self, path: &Path) -> io::Result<Vec<u8>> {
        let meta = std::fs::metadata(path).map_err(|error| match error.kind() {
            io::ErrorKind::NotADirectory => io::ErrorKind::NotFound.into(),
            _ => error,
        })?;
        if meta.is_dir() {
            return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder"));
        }
        if !meta.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
        }
        if meta.len() > MAX_FILE {
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, "it is larger than 256 MiB"));
        }
        std::fs::read(path)
    }
}

/// Files that exist only in memory, for tests and for programs made on the fly.
#[derive(Clone, Debug, Default)]
pub struct MemoryLoader {
    files: BTreeMap<PathBuf, Vec<u8>>,
}

impl MemoryLoader {
    /// Creates a loader without files.
    pub fn new() -> MemoryLoader {
        MemoryLoader::default()
    }

    /// Adds a file or replaces it.
    #[must_use]
    pub fn with(mut self, path: impl Into<PathBuf>, bytes: impl Into<Vec<u8>>) -> MemoryLoader {
        self.files.insert(path.into(), bytes.into());
        self
    }
}

/// Some files in memory, in front of those of the file system.
#[derive(Clone, Debug, Default)]
pub struct OverlayLoader(pub MemoryLoader);

impl SourceLoader for OverlayLoader {
    fn load(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.0.load(path).or_else(|_| FileLoader.load(path))
    }
}

impl SourceLoader for MemoryLoader {
    fn load(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.files.get(path).cloned().ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

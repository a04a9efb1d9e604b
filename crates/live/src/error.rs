//! Errors that prevent a live switch from starting.

use std::io;

/// Reason why a live switch could not be started.
#[derive(Debug, thiserror::Error)]
pub enum LiveError {
    /// There is no such interface.
    #[error("there is no interface named `{0}` here; `ip link` lists those that there are")]
    NoInterface(String),
    /// The name is not valid for an interface.
    #[error("`{0}` is no interface's name: 1 to 15 bytes without `/` and spaces")]
    Name(String),
    /// The process has no permission to open it.
    #[error(
        "interface `{name}`: {what} is not permitted; it takes root, or a user namespace of one's own"
    )]
    Permission {
        /// The interface.
        name: String,
        /// Operation that failed.
        what: &'static str,
    },
    /// The kernel refused.
    #[error("interface `{name}`: {what}: {error}")]
    Interface {
        /// The interface.
        name: String,
        /// Operation that failed.
        what: &'static str,
        /// Error of the kernel.
        error: io::Error,
    },
    /// The text is not a prefix.
    #[error("`{0}` is no prefix; write an address and how much of it: 10.0.0.0/9, fd00::/64")]
    Prefix(String),
    /// The thread could not be started.
    #[error("a thread cannot be started: {0}")]
    Thread(io::Error),
}

impl LiveError {
    pub(crate) fn refused(name: &str, what: &'static str, error: io::Error) -> LiveError {
        let name = name.to_owned();
        match error.raw_os_error() {
            Some(libc::EPERM | libc::EACCES) => LiveError::Permission { name, what },
            Some(libc::ENODEV) => LiveError::NoInterface(name),
            _ => LiveError::Interface { name, what, error },
        }
    }
}

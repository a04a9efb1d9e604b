//! Behaviour of diagnostics as a reader sees it.

//! The checker on small programs.

//! Behaviour of the preprocessor, on programs in memory.

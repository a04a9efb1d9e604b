//! Behaviour of the parser, on small programs of our own.

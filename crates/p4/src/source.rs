//! Source text and places in it: one numbering of bytes for all files of a program.
//!
//! Every file that a program includes gets its own stretch of one 32-bit space, in the order of
//! reading; a [`Span`] is a range of that space, small enough to sit in every token and tree node.
//! This file must not know what the text means, nor how places are printed (`diagnostic` does).

use std::fmt;

/// A range of bytes `start..end` in the space that a source map hands out.
///
/// Offset 0 belongs to no file, so that [`Span::DUMMY`] is never a real place.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The span of things that come from no source text.
    pub const DUMMY: Span = Span { start: 0, end: 0 };

    /// The bytes `start..end`.
    pub const fn new(start: u32, end: u32) -> Span {
        Span { start, end }
    }

    /// The smallest span that holds both; a dummy span adds nothing.
    pub fn to(self, other: Span) -> Span {
        if self.is_dummy() {
            other
        } else if other.is_dummy() {
            self
        } else {
            Span { start: self.start.min(other.start), end: self.end.max(other.end) }
        }
    }

    /// The empty span just behind this one: where something is missing.
    pub const fn after(self) -> Span {
        Span { start: self.end, end: self.end }
    }

    /// True for [`Span::DUMMY`].
    pub const fn is_dummy(self) -> bool {
        self.start == 0 && self.end == 0
    }
}

impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..{}", self.start, self.end)
    }
}

//! Fields of the chip's intrinsic header that a program never looks at.
//!
//! Most programs want one or two of the fields in front of each packet; the others need not be taken
//! out of it. Only that header is looked at: of the program's own, what is not read is sent on.

use super::gress::Gress;
use super::metadata::Role;
use sojourn_p4::ir::{Layout, Program, Slot};
use sojourn_target::def_use::read_by;
use std::collections::HashSet;

/// The slots of a pass's parser that hold such fields, which no block of the pass reads.
pub fn intrinsic_fields(program: &Program, gress: &Gress) -> HashSet<Slot> {
    let Some(header @ Layout::Header { valid, .. }) = gress.parser.params.get(&Role::Intrinsic)
    else {
        return HashSet::new();
    };
    let mine = header.range();
    let mut unread: HashSet<Slot> = mine.narrow().map(|at| Slot(at as u32)).collect();
    unread.remove(valid);
    for block in [&gress.parser, &gress.control, &gress.deparser] {
        let Some(theirs) = block.params.get(&Role::Intrinsic).map(Layout::range) else { continue };
        let read = read_by(program, block.unit);
        // The same fields, somewhere else in its frame.
        let there = |slot: &Slot| Slot(slot.0 - mine.narrow_start.0 + theirs.narrow_start.0);
        unread.retain(|slot| !read.contains(&there(slot)));
    }
    unread
}

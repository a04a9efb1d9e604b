//! How a block of a pass comes to what the block before it has left.
//!
//! The chip has one set of containers for a pass. Here one frame goes from block to block: what two
//! blocks share mostly lies at the same slots in both, and the rest is moved to its place. Where
//! that cannot be, each block keeps its frame, and what they share is copied. It must not know what
//! the parameters mean.

use super::framed::Block;
use super::metadata::Role;
use sojourn_p4::interp::{Frame, SlotRange, copy_range};
use sojourn_p4::ir::Slot;
use std::ops::Range;

/// The slots of a parameter in the block before and in the block behind.
type Shared = (SlotRange, SlotRange);

/// From one block to the next.
#[derive(Clone, Debug)]
pub enum Handover {
    /// The frame goes on.
    Frame {
        /// Slots to move, in this order.
        moves: Vec<(Range<usize>, usize)>,
        /// Slots that the block behind has for itself.
        cleared: Vec<Range<usize>>,
        /// The same of wide ones.
        cleared_wide: Vec<Range<usize>>,
    },
    /// Slots to copy to the frame of the block behind.
    Copies(Vec<Shared>),
}

fn shared(from: &Block, to: &Block) -> Vec<Shared> {
    let roles = from.params.iter().filter(|(role, _)| **role != Role::Packet);
    roles
        .filter_map(|(role, layout)| Some((layout.range(), to.params.get(role)?.range())))
        .collect()
}

impl Handover {
    /// The parameters that both have, copied.
    pub fn copies(from: &Block, to: &Block) -> Handover {
        Handover::Copies(shared(from, to))
    }

    /// With one frame for both if that is possible.
    pub fn new(from: &Block, to: &Block) -> Handover {
        let shared = shared(from, to);
        let moved: Vec<Shared> = shared.iter().copied().filter(|(a, b)| a != b).collect();
        // A move must not overwrite what is moved after it.
        let in_order = |(at, (_, target)): (usize, &Shared)| {
            moved[at + 1..].iter().all(|(source, _)| !source.overlaps(target))
        };
        let narrow = moved.iter().all(|(source, _)| source.wide_len == 0);
        if !narrow || !moved.iter().enumerate().all(in_order) {
            return Handover::Copies(shared);
        }
        let targets = shared.iter().map(|(_, target)| target);
        let own = targets.clone().filter(|target| target.narrow_len > 0).map(SlotRange::narrow);
        let own_wide = targets.filter(|target| target.wide_len > 0).map(SlotRange::wide);
        Handover::Frame {
            moves: moved.iter().map(|(a, b)| (a.narrow(), b.narrow().start)).collect(),
            cleared: gaps(own.collect(), to.frame.narrow.len()),
            cleared_wide: gaps(own_wide.collect(), to.frame.wide.len()),
        }
    }

    /// True if the block behind needs a clean frame before the pass.
    pub fn wants_reset(&self) -> bool {
        matches!(self, Handover::Copies(_))
    }

    /// Slots of the block behind that start without a value of their own, out of `invalid`.
    pub fn unshared(&self, invalid: &[Slot]) -> Vec<Slot> {
        let Handover::Frame { cleared, .. } = self else { return Vec::new() };
        let is_cleared = |slot: &&Slot| cleared.iter().any(|range| range.contains(&slot.index()));
        invalid.iter().filter(is_cleared).copied().collect()
    }

    /// Hands on. If the frame goes on, `from` is of no use behind it.
    pub fn run(&self, from: &mut Frame, to: &mut Frame) {
        match self {
            Handover::Frame { moves, cleared, cleared_wide } => {
                std::mem::swap(&mut from.narrow, &mut to.narrow);
                if !to.wide.is_empty() {
                    std::mem::swap(&mut from.wide, &mut to.wide);
                }
                for (source, target) in moves {
                    to.narrow.copy_within(source.clone(), *target);
                }
                cleared.iter().for_each(|range| to.clear_slots(range.clone()));
                cleared_wide.iter().for_each(|range| to.clear_wide_slots(range.clone()));
            }
            Handover::Copies(shared) => {
                shared.iter().for_each(|(source, target)| copy_range(from, *source, to, *target));
            }
        }
    }
}

/// What the ranges leave of the numbers up to `end`.
fn gaps(mut ranges: Vec<Range<usize>>, end: usize) -> Vec<Range<usize>> {
    ranges.sort_by_key(|range| range.start);
    let mut gaps = Vec::new();
    let mut at = 0;
    for range in ranges {
        gaps.push(at..range.start);
        at = range.end;
    }
    gaps.push(at..end);
    gaps.retain(|gap| !gap.is_empty());
    gaps
}

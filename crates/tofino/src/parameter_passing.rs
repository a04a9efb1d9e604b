//! Parameter passing between the blocks of a pass.
//!
//! The chip has one set of containers for a pass. Here one frame passes from block to block: most
//! shared fields lie at the same slots in both blocks, and the others are moved. If that is
//! impossible, each block has its own frame, and the shared fields are copied. This module must not
//! depend on the meaning of the parameters.

use super::block_frame::Block;
use super::metadata::Role;
use sojourn_p4::interp::{Frame, SlotRange, copy_range};
use sojourn_p4::ir::Slot;
use std::collections::HashSet;
use std::ops::Range;

/// The slots of a parameter in the block before and in the block behind.
type Shared = (SlotRange, SlotRange);

/// From one block to the next.
#[derive(Clone, Debug)]
pub enum Handover {
    /// The frame goes on.
    Frame {
        /// Slots to move, from and to, in this order.
        moves: Vec<(Slot, Slot)>,
        /// Slots that the block behind has for itself.
        own: Vec<Slot>,
        /// Those of them that are to be made zero.
        cleared: Vec<Slot>,
        /// Wide ones.
        cleared_wide: Vec<Range<usize>>,
    },
    /// Slots to copy to the frame of the block behind.
    Copies(Vec<Shared>),
}

/// Layouts of the parameters that two blocks share.
pub fn shared(from: &Block, to: &Block) -> Vec<Shared> {
    let roles = from.params.iter().filter(|(role, _)| **role != Role::Packet);
    roles
        .filter_map(|(role, layout)| Some((layout.range(), to.params.get(role)?.range())))
        .collect()
}

impl Handover {
    /// One frame for both if that is possible. Only the `needed` slots of the later block need
    /// correct values. `dirty` lists the slots that may not be zero.
    pub fn new(
        from: &Block,
        to: &Block,
        needed: &HashSet<Slot>,
        dirty: impl Fn(Slot) -> bool,
    ) -> Handover {
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
        let moves = moved.iter().flat_map(|(a, b)| one_by_one(a.narrow(), b.narrow()));
        let gaps_of_own = gaps(own.collect(), to.size.0).into_iter().flatten();
        let own = gaps_of_own.map(|slot| Slot(slot as u32));
        let own: Vec<Slot> = own.filter(|slot| needed.contains(slot)).collect();
        Handover::Frame {
            moves: moves.filter(|(_, to)| needed.contains(to)).collect(),
            cleared: own.iter().copied().filter(|slot| dirty(*slot)).collect(),
            own,
            cleared_wide: gaps(own_wide.collect(), to.size.1),
        }
    }

    /// True if the block behind has a frame of its own.
    pub fn copied(&self) -> bool {
        matches!(self, Handover::Copies(_))
    }

    /// Slots of the block behind that start without a value of their own, out of `invalid`.
    pub fn unshared(&self, invalid: &[Slot]) -> Vec<Slot> {
        let Handover::Frame { own, .. } = self else { return Vec::new() };
        invalid.iter().filter(|slot| own.contains(slot)).copied().collect()
    }

    /// Makes a frame that goes on the one of the block behind.
    pub fn go_on(&self, frame: &mut Frame) {
        let Handover::Frame { moves, cleared, cleared_wide, .. } = self else { return };
        let slots = &mut *frame.narrow;
        for (source, target) in moves {
            slots[target.index()] = slots[source.index()];
        }
        cleared.iter().for_each(|slot| slots[slot.index()] = 0);
        cleared_wide.iter().for_each(|range| frame.clear_wide_slots(range.clone()));
    }

    /// Copies what both have to the frame of the block behind.
    pub fn copy(&self, from: &Frame, to: &mut Frame) {
        let Handover::Copies(shared) = self else { return };
        shared.iter().for_each(|(source, target)| copy_range(from, *source, to, *target));
    }
}

/// The moves of a range's slots; in an order in which none is overwritten that is still to be moved.
fn one_by_one(from: Range<usize>, to: Range<usize>) -> Vec<(Slot, Slot)> {
    let up = to.start < from.start;
    let mut moves: Vec<_> =
        from.zip(to).map(|(from, to)| (Slot(from as u32), Slot(to as u32))).collect();
    if !up {
        moves.reverse();
    }
    moves
}

/// Numbers up to `end` outside the ranges.
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

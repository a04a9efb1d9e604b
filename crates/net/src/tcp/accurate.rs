//! Accurate ECN feedback (RFC 9768), by the field in the header alone: each end counts the marked packets
//! that reach it, and every segment of its tells the counter's last three bits (ACE).
//!
//! The option with the counters of bytes is not spoken. Knows no connection.

use crate::wire::{Ecn, TcpFlags};

/// Where counters begin (section 3.2.1).
const FIRST: u32 = 5;
/// What the field can tell of a counter.
const MASK: u32 = 7;
/// So many marks are told at once (section 3.2.2.5.1).
const AT_ONCE: u32 = 2;
/// Where the field's lowest bit lies among the flags.
const SHIFT: u32 = 6;

/// The counters of one end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Accurate {
    /// r.cep: marked packets that arrived.
    received: u32,
    /// s.cep: those that the peer has told of.
    told: u32,
    /// Marks since a segment went out.
    unsaid: u32,
    /// The last packet was marked.
    marked: bool,
}

impl Accurate {
    pub(crate) fn new() -> Accurate {
        Accurate { received: FIRST, told: FIRST, unsaid: 0, marked: false }
    }

    /// A packet arrived; true if its acknowledgement must go at once: the first of several marked ones,
    /// and every second one.
    pub(crate) fn arrived(&mut self, marked: bool) -> bool {
        let first = marked && !self.marked;
        self.marked = marked;
        if marked {
            self.received = self.received.wrapping_add(1);
            self.unsaid += 1;
        }
        first || self.unsaid >= AT_ONCE
    }

    /// The field of a segment that goes out.
    pub(crate) fn tell(&mut self) -> TcpFlags {
        self.unsaid = 0;
        field(self.received)
    }

    /// Marks that a segment tells of, modulo eight.
    pub(crate) fn heard(&mut self, flags: TcpFlags) -> u32 {
        let more = value(flags).wrapping_sub(self.told) & MASK;
        self.told = self.told.wrapping_add(more);
        more
    }
}

/// How many of `delivered` segments were marked, if the counter has moved by `more` modulo eight: as many
/// as may be (section 3.2.2.5.2). If it has not moved, none: the peer tells every second mark at once, so
/// no eight pass unseen.
pub(crate) fn most(more: u32, delivered: u64) -> u64 {
    let more = u64::from(more);
    if more == 0 || delivered <= more {
        return more;
    }
    delivered - ((delivered - more) & u64::from(MASK))
}

/// The codepoint of the packet that is answered, in the handshake (tables 2 and 3).
pub(crate) fn answer_to(ecn: Ecn) -> TcpFlags {
    field(match ecn {
        Ecn::NotEct => 0b010,
        Ecn::Ect1 => 0b011,
        Ecn::Ect0 => 0b100,
        Ecn::Ce => 0b110,
    })
}

/// Whether a SYN-ACK is such an answer.
pub(crate) fn is_answer(flags: TcpFlags) -> bool {
    matches!(value(flags), 0b010 | 0b011 | 0b100 | 0b110)
}

fn field(counter: u32) -> TcpFlags {
    TcpFlags(((counter & MASK) << SHIFT) as u16)
}

fn value(flags: TcpFlags) -> u32 {
    u32::from(flags.0 >> SHIFT) & MASK
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_end_counts_the_other_hears_across_the_wrap() {
        let (mut receiver, mut sender) = (Accurate::new(), Accurate::new());
        let mut heard = 0;
        for marks in [0, 1, 2, 7, 0, 5, 3] {
            for _ in 0..marks {
                receiver.arrived(true);
            }
            receiver.arrived(false);
            heard += sender.heard(receiver.tell());
        }
        assert_eq!(heard, 18);
    }

    #[test]
    fn the_first_mark_and_every_second_are_told_at_once() {
        let mut receiver = Accurate::new();
        assert!(!receiver.arrived(false));
        assert!(receiver.arrived(true), "the first");
        receiver.tell();
        assert!(!receiver.arrived(true));
        assert!(receiver.arrived(true), "two since");
    }

    #[test]
    fn more_segments_than_the_field_counts_are_taken_for_marked_as_far_as_may_be() {
        assert_eq!(most(3, 4), 3);
        assert_eq!(most(0, 20), 0);
        // Three, eleven or nineteen of twenty.
        assert_eq!(most(3, 20), 19);
    }

    #[test]
    fn the_answer_of_a_handshake_tells_the_codepoint_and_is_never_a_classic_one() {
        for ecn in [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce] {
            assert!(is_answer(answer_to(ecn)));
        }
        assert!(!is_answer(TcpFlags::ECE) && !is_answer(TcpFlags::default()));
    }
}

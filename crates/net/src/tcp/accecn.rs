//! Accurate ECN feedback (RFC 9768).
//!
//! Each end counts the marked packets that reach it. Every segment carries the counter's last three
//! bits (ACE). Segments without data also carry an option with the bytes received per codepoint.
//! The module must not depend on connections.

use crate::wire::{AccEcn, Ecn, TcpFlags};

/// Initial value of the counters (section 3.2.1).
const FIRST: u32 = 5;
/// Mask of a counter in the field.
const MASK: u32 = 7;
/// Number of marks that are reported at once (section 3.2.2.5.1).
const AT_ONCE: u32 = 2;
/// Position of the field's lowest bit among the flags.
const SHIFT: u32 = 6;
/// Initial values of the byte counters: not 0, which a middlebox might have written (section
/// 3.2.1).
const FIRST_BYTES: EcnBytes = EcnBytes { ect0: 1, ce: 0, ect1: 1 };
/// A segment of less than this part of a full one is thought unlikely (appendix A.2.1).
const SAFETY_FACTOR: u64 = 2;

/// Bytes of payload that arrived, by codepoint, modulo 2^24.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct EcnBytes {
    ect0: u32,
    ce: u32,
    ect1: u32,
}

/// The marks that one incoming segment reports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct AccEcnFeedback {
    /// Marked packets since the segment before, modulo eight.
    pub(crate) packets: u32,
    /// Marked bytes since the option before; `None` without the option.
    pub(crate) bytes: Option<u32>,
}

/// The AccECN counters of one end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AccEcnCounters {
    /// r.cep: marked packets that arrived.
    received: u32,
    /// s.cep: marked packets that the peer has reported.
    reported: u32,
    /// Marks since a segment went out.
    unreported: u32,
    /// The last packet was marked.
    marked: bool,
    /// r.e0b, r.ceb and r.e1b.
    bytes: EcnBytes,
    /// s.ceb: marked bytes that the peer has reported.
    reported_bytes: u32,
}

impl AccEcnCounters {
    pub(crate) fn new() -> AccEcnCounters {
        AccEcnCounters {
            received: FIRST,
            reported: FIRST,
            unreported: 0,
            marked: false,
            bytes: FIRST_BYTES,
            reported_bytes: FIRST_BYTES.ce,
        }
    }

    /// A packet arrived; true if its acknowledgement must go at once: the first of several marked ones,
    /// and every second one.
    pub(crate) fn arrived(&mut self, ecn: Ecn, payload: u32) -> bool {
        let marked = ecn == Ecn::Ce;
        let counter = match ecn {
            Ecn::NotEct => None,
            Ecn::Ect0 => Some(&mut self.bytes.ect0),
            Ecn::Ce => Some(&mut self.bytes.ce),
            Ecn::Ect1 => Some(&mut self.bytes.ect1),
        };
        if let Some(counter) = counter {
            *counter = counter.wrapping_add(payload) & AccEcn::MASK;
        }
        let first = marked && !self.marked;
        self.marked = marked;
        if marked {
            self.received = self.received.wrapping_add(1);
            self.unreported += 1;
        }
        first || self.unreported >= AT_ONCE
    }

    /// The field of a segment that goes out.
    pub(crate) fn feedback(&mut self) -> TcpFlags {
        self.unreported = 0;
        field(self.received)
    }

    /// Option of a segment without data with `room` bytes left for it: complete, without the
    /// counter that a flow of ECT(1) does not use, or none (section 3.2.3.3: SACK has priority).
    pub(crate) fn option(&self, room: usize) -> Option<AccEcn> {
        byte_option(self.bytes, room)
    }

    /// The marks that one incoming segment reports.
    pub(crate) fn on_feedback(
        &mut self,
        flags: TcpFlags,
        option: Option<AccEcn>,
    ) -> AccEcnFeedback {
        let packets = value(flags).wrapping_sub(self.reported) & MASK;
        self.reported = self.reported.wrapping_add(packets);
        let bytes = option.and_then(|option| option.ce).map(|ce| {
            let more = ce.wrapping_sub(self.reported_bytes) & AccEcn::MASK;
            // An option that was overtaken reports less.
            if more > AccEcn::MASK / 2 {
                return 0;
            }
            self.reported_bytes = ce;
            more
        });
        AccEcnFeedback { packets, bytes }
    }
}

/// The option of a SYN-ACK: counters as they begin.
pub(crate) fn first_option(room: usize) -> Option<AccEcn> {
    byte_option(FIRST_BYTES, room)
}

fn byte_option(bytes: EcnBytes, room: usize) -> Option<AccEcn> {
    let some = AccEcn { ect1: Some(bytes.ect1), ce: Some(bytes.ce), ect0: None };
    let whole = AccEcn { ect0: Some(bytes.ect0), ..some };
    [whole, some].into_iter().find(|option| option.len() <= room)
}

impl AccEcnFeedback {
    /// Number of marked ones among `delivered` segments of at most `mss` bytes. The counter is
    /// reported modulo eight, so the result is the maximum (section 3.2.2.5.2), unless the marked
    /// bytes show fewer (appendix A.2.1). Without the option an unchanged counter means none: the
    /// peer reports every second mark at once, so eight do not go unnoticed.
    pub(crate) fn marked(self, delivered: u64, mss: u32) -> u64 {
        let least = u64::from(self.packets);
        if delivered <= least || (least == 0 && self.bytes.is_none()) {
            return least;
        }
        let most = delivered - ((delivered - least) & u64::from(MASK));
        match self.bytes.map(u64::from) {
            Some(0) => least,
            Some(bytes) if bytes <= least * u64::from(mss) => {
                let too_small = bytes * SAFETY_FACTOR < most * u64::from(mss);
                if too_small { least } else { most }
            }
            _ => most,
        }
    }
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

/// Whether a SYN-ACK is such an answer; 0b101 is one of a later version (table 2).
pub(crate) fn is_answer(flags: TcpFlags) -> bool {
    matches!(value(flags), 0b010..=0b110)
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

    const MSS: u32 = 1_448;

    fn on_feedback(packets: u32, bytes: Option<u32>) -> AccEcnFeedback {
        AccEcnFeedback { packets, bytes }
    }

    #[test]
    fn counters_of_one_end_reach_the_other_across_the_wrap() {
        let (mut receiver, mut sender) = (AccEcnCounters::new(), AccEcnCounters::new());
        let mut packets = 0;
        let mut bytes = 0;
        for marks in [0, 1, 2, 7, 0, 5, 3] {
            for _ in 0..marks {
                receiver.arrived(Ecn::Ce, 1_000_000);
            }
            receiver.arrived(Ecn::Ect1, MSS);
            let reported = sender.on_feedback(receiver.feedback(), receiver.option(40));
            packets += reported.packets;
            bytes += reported.bytes.unwrap();
        }
        // More bytes than 2^24, where the counter begins anew.
        assert_eq!((packets, bytes), (18, 18_000_000));
    }

    #[test]
    fn an_overtaken_accecn_option_is_ignored() {
        let (mut receiver, mut sender) = (AccEcnCounters::new(), AccEcnCounters::new());
        let before = receiver.option(40);
        receiver.arrived(Ecn::Ce, MSS);
        assert_eq!(sender.on_feedback(TcpFlags::default(), receiver.option(40)).bytes, Some(MSS));
        assert_eq!(sender.on_feedback(TcpFlags::default(), before).bytes, Some(0));
        assert_eq!(sender.on_feedback(TcpFlags::default(), receiver.option(40)).bytes, Some(0));
    }

    #[test]
    fn the_option_leaves_out_what_does_not_fit() {
        let counters = AccEcnCounters::new();
        assert_eq!(counters.option(12).unwrap().ect0, Some(1));
        assert_eq!(counters.option(11).unwrap().ect0, None);
        assert_eq!(counters.option(7), None);
    }

    #[test]
    fn the_first_mark_and_every_second_are_reported_at_once() {
        let mut receiver = AccEcnCounters::new();
        assert!(!receiver.arrived(Ecn::Ect1, MSS));
        assert!(receiver.arrived(Ecn::Ce, MSS), "the first");
        receiver.feedback();
        assert!(!receiver.arrived(Ecn::Ce, MSS));
        assert!(receiver.arrived(Ecn::Ce, MSS), "two since");
    }

    #[test]
    fn more_segments_than_the_field_counts_are_taken_for_marked_as_far_as_may_be() {
        assert_eq!(on_feedback(3, None).marked(4, MSS), 3);
        assert_eq!(on_feedback(0, None).marked(20, MSS), 0);
        // Three, eleven or nineteen of twenty.
        assert_eq!(on_feedback(3, None).marked(20, MSS), 19);
    }

    #[test]
    fn marked_bytes_say_whether_the_field_has_gone_round() {
        let marked = |packets, bytes| on_feedback(packets, Some(bytes)).marked(20, MSS);
        assert_eq!(marked(3, 3 * MSS), 3);
        assert_eq!(marked(3, 19 * MSS), 19);
        assert_eq!(marked(0, 0), 0);
        assert_eq!(marked(0, 16 * MSS), 16, "twice round");
    }

    #[test]
    fn the_syn_ack_reports_the_codepoint_and_is_never_classic() {
        for ecn in [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce] {
            assert!(is_answer(answer_to(ecn)));
        }
        assert!(is_answer(TcpFlags::AE | TcpFlags::ECE), "reserved");
        assert!(!is_answer(TcpFlags::ECE) && !is_answer(TcpFlags::default()));
        assert!(!is_answer(TcpFlags::AE | TcpFlags::CWR | TcpFlags::ECE), "the SYN's own bits");
    }
}

//! Output of an open connection: the headers of its segments.

use super::{Connection, Segments};
use crate::tcp::accecn;
use crate::tcp::sender::Outgoing;
use crate::wire::{Ecn, PredictedHeader, SackBlocks, TcpFlags, TcpOptions, TcpSegment, Timestamps};
use smallvec::SmallVec;
use sojourn_packet::Time;

/// Control bits of a data segment, independent of its other fields.
#[inline(always)]
fn flags_of(outgoing: &Outgoing) -> TcpFlags {
    let bits = |holds: bool, flag: TcpFlags| if holds { flag.0 } else { 0 };
    TcpFlags(bits(outgoing.push, TcpFlags::PSH) | bits(outgoing.fin, TcpFlags::FIN))
}

impl Connection {
    /// Emits an acknowledgement, which contains everything owed to the peer.
    #[inline(always)]
    pub(super) fn emit(&mut self, now: Time, to: &mut impl Segments) {
        let plain = self.receiver.reports_nothing();
        if !self.says_little() || !(plain || self.negotiated.sack) {
            return to.take(&self.full_acknowledgement(now));
        }
        let sack = if plain { None } else { Some(self.reported_blocks()) };
        to.take_usual(&self.plain_acknowledgement(now), sack.as_ref());
    }

    /// Emits a data segment, which contains everything owed to the peer.
    #[inline(always)]
    pub(super) fn tell_data(&mut self, now: Time, outgoing: &Outgoing, to: &mut impl Segments) {
        if self.says_little() && self.receiver.reports_nothing() {
            to.take_usual(&self.plain_data(now, outgoing), None);
        } else {
            to.take(&self.full_data(now, outgoing));
        }
    }

    /// True if only arrivals and timestamps need to be reported, as usual.
    #[inline(always)]
    fn says_little(&self) -> bool {
        self.negotiated.timestamps && !self.negotiated.ecn
    }

    #[inline(always)]
    fn plain_data(&mut self, now: Time, outgoing: &Outgoing) -> PredictedHeader {
        let acknowledgement = self.plain_acknowledgement(now);
        self.receiver.data_sent(now);
        PredictedHeader {
            seq: self.local.number_of(outgoing.start),
            payload: outgoing.payload,
            flags: acknowledgement.flags | flags_of(outgoing),
            ..acknowledgement
        }
    }

    #[inline(always)]
    fn plain_acknowledgement(&mut self, now: Time) -> PredictedHeader {
        let path = self.path();
        let window = self.receiver.acknowledged(now, &path, self.negotiated.own_shift);
        self.last_ack_sent = self.receiver.next();
        PredictedHeader {
            seq: self.local.number_of(self.sender.next()),
            ack: self.remote.number_of(self.receiver.next()),
            flags: TcpFlags::ACK,
            window,
            timestamps: Timestamps { value: self.config.timestamp(now), echo: self.ts_recent },
            ..PredictedHeader::default()
        }
    }

    #[inline(never)]
    fn full_data(&mut self, now: Time, outgoing: &Outgoing) -> TcpSegment {
        let mut segment = self.full_acknowledgement(now);
        segment.seq = self.local.number_of(outgoing.start);
        segment.payload = outgoing.payload;
        // A full segment has no room for it.
        segment.options.acc_ecn = None;
        self.receiver.data_sent(now);
        segment.flags = segment.flags | flags_of(outgoing);
        if outgoing.cwr && self.negotiated.ecn && !self.negotiated.accurate {
            segment.flags = segment.flags | TcpFlags::CWR;
        }
        if self.negotiated.accurate {
            segment.ecn = Ecn::Ect1;
            return segment;
        }
        // Retransmissions are not ECN-capable (RFC 3168 section 6.1.5).
        if self.negotiated.ecn && (!outgoing.retransmission || self.uses_dctcp_echo()) {
            segment.ecn = Ecn::Ect0;
        }
        segment
    }

    /// The timestamps of a segment sent now.
    #[inline]
    fn timestamps(&self, now: Time) -> Option<Timestamps> {
        let value = self.config.timestamp(now);
        self.negotiated.timestamps.then_some(Timestamps { value, echo: self.ts_recent })
    }

    /// An acknowledgement with ranges or with what it says of marks.
    #[inline(never)]
    pub(super) fn full_acknowledgement(&mut self, now: Time) -> TcpSegment {
        let ranges = self.ranges();
        let path = self.path();
        let window = self.receiver.acknowledged(now, &path, self.negotiated.own_shift);
        self.bare(now, &ranges, window)
    }

    /// The ranges that an acknowledgement reports.
    #[inline]
    fn ranges(&self) -> SmallVec<[(u64, u64); 4]> {
        // Nearly always there are none.
        if self.receiver.reports_nothing() {
            return SmallVec::new();
        }
        self.receiver.reported().take(4).collect()
    }

    /// A report of these ranges; what else is owed to the peer stays so.
    pub(super) fn report(&mut self, now: Time, ranges: &[(u64, u64)]) -> TcpSegment {
        let window = self.receiver.announced(self.negotiated.own_shift);
        self.bare(now, ranges, window)
    }

    /// An acknowledgement of what arrived before the last packet; what is owed to the peer stays so.
    pub(super) fn early(&mut self, now: Time, next: u64, marked: bool) -> TcpSegment {
        let ranges = self.ranges();
        let mut segment = self.report(now, &ranges);
        segment.ack = self.remote.number_of(next);
        segment.flags = if marked { TcpFlags::ACK | TcpFlags::ECE } else { TcpFlags::ACK };
        segment
    }

    /// Blocks that arrived behind a gap or twice, in addition to timestamps.
    #[inline(never)]
    fn reported_blocks(&self) -> SackBlocks {
        self.blocks(self.receiver.reported().take(SackBlocks::BESIDE_TIMESTAMPS))
    }

    #[inline]
    fn blocks(&self, ranges: impl Iterator<Item = (u64, u64)>) -> SackBlocks {
        let mut sack = SackBlocks::default();
        for (start, end) in ranges {
            sack.push(self.remote.number_of(start), self.remote.number_of(end));
        }
        sack
    }

    fn bare(&mut self, now: Time, ranges: &[(u64, u64)], window: u16) -> TcpSegment {
        let timestamps = self.timestamps(now);
        let room = match (self.negotiated.sack, timestamps) {
            (false, _) => 0,
            (true, Some(_)) => SackBlocks::BESIDE_TIMESTAMPS,
            (true, None) => 4,
        };
        let sack = self.blocks(ranges.iter().take(room).copied());
        let mut options = TcpOptions { timestamps, sack, ..TcpOptions::default() };
        let mut flags = TcpFlags::ACK;
        if let Some(own) = &mut self.accurate {
            options.acc_ecn = own.option(options.room());
            let flag_counter = own.feedback();
            flags = flags | self.answered.take().map_or(flag_counter, accecn::answer_to);
        } else if self.negotiated.ecn && self.receiver.echoes_mark() {
            flags = flags | TcpFlags::ECE;
        }
        self.last_ack_sent = self.receiver.next();
        TcpSegment {
            seq: self.local.number_of(self.sender.next()),
            ack: self.remote.number_of(self.receiver.next()),
            flags,
            window,
            options,
            payload: 0,
            // RFC 8257 section 3: acknowledgements of a flow with exact feedback may be marked,
            // too.
            ecn: if self.uses_dctcp_echo() { Ecn::Ect0 } else { Ecn::NotEct },
        }
    }
}

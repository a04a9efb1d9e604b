//! Processing of segments that arrive on an open connection.

use super::{Connection, State};
use crate::tcp::receiver::Incoming;
use crate::tcp::sender::{Acknowledgement, FIRST_BYTE};
use crate::tcp::timestamp_clock::Echo;
use crate::wire::{
    AbstractSegment, AccEcn, Ecn, PredictedHeader, SackBlocks, TcpFlags, TcpOptions, TcpSegment,
    Timestamps,
};
use smallvec::SmallVec;
use sojourn_packet::Time;

/// The fields of an incoming segment that a connection reads.
#[derive(Clone, Copy, Debug)]
pub struct Arrival<'a> {
    seq: u32,
    ack: u32,
    flags: TcpFlags,
    window: u16,
    payload: u32,
    ecn: Ecn,
    timestamps: Option<Timestamps>,
    sack: Option<&'a SackBlocks>,
    acc_ecn: Option<AccEcn>,
}

/// A segment that header prediction reads, with its SACK blocks.
#[derive(Clone, Copy, Debug)]
pub struct PredictedSegment<'a>(pub &'a PredictedHeader, pub Option<&'a SackBlocks>);

/// A form in which segments arrive.
pub trait SegmentForm: Copy {
    /// Fields that an open connection reads.
    fn arrival(&self) -> Arrival<'_>;

    /// The same with all that a handshake asks for.
    fn whole(&self) -> TcpSegment;
}

impl SegmentForm for &TcpSegment {
    #[inline(always)]
    fn arrival(&self) -> Arrival<'_> {
        let TcpSegment { seq, ack, flags, window, payload, ecn, ref options } = **self;
        let TcpOptions { timestamps, acc_ecn, .. } = *options;
        let sack = Some(&options.sack);
        Arrival { seq, ack, flags, window, payload, ecn, timestamps, sack, acc_ecn }
    }

    fn whole(&self) -> TcpSegment {
        **self
    }
}

/// Fields of a segment of the usual form that a connection reads.
#[inline(always)]
fn arrival_of<'a>(segment: &PredictedHeader, sack: Option<&'a SackBlocks>) -> Arrival<'a> {
    let PredictedHeader { seq, ack, flags, window, payload, ecn, timestamps, .. } = *segment;
    let timestamps = Some(timestamps);
    Arrival { seq, ack, flags, window, payload, ecn, timestamps, sack, acc_ecn: None }
}

/// Taken apart where it is read.
impl SegmentForm for &AbstractSegment {
    #[inline(always)]
    fn arrival(&self) -> Arrival<'_> {
        arrival_of(&self.read(), None)
    }

    fn whole(&self) -> TcpSegment {
        self.read().with_ranges(None)
    }
}

impl SegmentForm for PredictedSegment<'_> {
    #[inline(always)]
    fn arrival(&self) -> Arrival<'_> {
        arrival_of(self.0, self.1)
    }

    fn whole(&self) -> TcpSegment {
        self.0.with_ranges(self.1)
    }
}

const PLAIN: Acknowledgement = Acknowledgement::PLAIN;

impl Connection {
    /// A segment arrived.
    #[inline(always)]
    pub fn receive(&mut self, now: Time, segment: impl SegmentForm) {
        if self.state == State::Established || self.opens(now, &segment.whole()) {
            self.on_segment(now, &segment.arrival());
        }
    }

    /// A segment on an open connection.
    #[inline(always)]
    fn on_segment(&mut self, now: Time, segment: &Arrival) {
        let Some(start) = self.remote.offset_of(segment.seq, self.receiver.next()) else { return };
        let timestamps = segment.timestamps.filter(|_| self.negotiated.timestamps);
        if segment.flags.contains(TcpFlags::SYN) || !self.accept_timestamp(timestamps, start) {
            self.receiver.acknowledge_at_once();
            return;
        }
        let at_once =
            self.accurate.as_mut().is_some_and(|own| own.arrived(segment.ecn, segment.payload));
        let echo = timestamps.map(|timestamps| self.config.echo_of(timestamps.echo));
        self.on_acknowledgement(now, segment, echo);
        let fin = segment.flags.contains(TcpFlags::FIN);
        if segment.payload > 0 || fin {
            let classic = self.negotiated.ecn && self.accurate.is_none();
            let incoming = Incoming {
                start,
                payload: segment.payload,
                fin,
                push: segment.flags.contains(TcpFlags::PSH),
                marked: classic && segment.ecn == Ecn::Ce,
                capable: classic && segment.ecn != Ecn::NotEct,
                cwr: !self.negotiated.accurate && segment.flags.contains(TcpFlags::CWR),
                echo,
            };
            let path = self.path();
            self.receiver.on_data(now, &incoming, &path);
            if at_once {
                self.receiver.acknowledge_at_once();
            }
        }
    }

    /// PAWS and TS.Recent (RFC 7323 sections 5.3 and 4.3); false if the segment is an old one.
    fn accept_timestamp(&mut self, timestamps: Option<Timestamps>, start: u64) -> bool {
        let Some(timestamps) = timestamps else { return true };
        let older = (timestamps.value.wrapping_sub(self.ts_recent) as i32) < 0;
        if !older && start <= self.last_ack_sent {
            self.ts_recent = timestamps.value;
        }
        !older
    }

    #[inline(always)]
    fn on_acknowledgement(&mut self, now: Time, segment: &Arrival, echo: Option<Echo>) {
        let Some(ack) = self.acknowledged_offset(segment.flags, segment.ack) else { return };
        let window = u64::from(segment.window) << self.negotiated.peer_shift;
        let ece = self.negotiated.ecn && segment.flags.contains(TcpFlags::ECE);
        let has_ranges = segment.sack.is_some_and(|sack| !sack.is_empty());
        if has_ranges || ece || self.accurate.is_some() {
            let carries_data = segment.payload > 0;
            let plain = Acknowledgement { ack, window, echo, ece, carries_data, ..PLAIN };
            self.hear_more(now, segment, plain);
        } else if !self.sender.hears_at_rest(ack, window) {
            self.sender.on_plain_ack(now, (ack, window), echo, segment.payload > 0);
        }
    }

    /// An acknowledgement with ranges, or one that counts marks.
    #[inline(never)]
    fn hear_more(&mut self, now: Time, segment: &Arrival, plain: Acknowledgement) {
        let mut blocks = SmallVec::<[(u64, u64); 4]>::new();
        for (left, right) in segment.sack.map_or(&[][..], SackBlocks::as_slice) {
            let near = |number| self.local.offset_of(number, plain.ack);
            if let (Some(start), Some(end)) = (near(*left), near(*right)) {
                blocks.push((start, end));
            }
        }
        // The last segment of the handshake reports the SYN-ACK instead of the counter.
        let of_handshake = self.sender.next() == FIRST_BYTE && !plain.carries_data;
        let counted = self.accurate.as_mut().filter(|_| !of_handshake);
        let counted = counted.map(|own| own.on_feedback(segment.flags, segment.acc_ecn));
        let ece = match counted {
            Some(feedback) => feedback.packets > 0,
            None => plain.ece && !self.negotiated.accurate,
        };
        let info = Acknowledgement { sack: &blocks, ece, counted, ..plain };
        self.sender.on_ack(now, &info);
    }
}

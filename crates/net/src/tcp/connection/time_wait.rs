//! TIME-WAIT: an end of which both directions are closed.
//!
//! It acknowledges what still arrives, such as a FIN whose acknowledgement was lost (RFC 9293 section
//! 3.10.7.4). As in Linux (`struct tcp_timewait_sock`) it has a tenth of the size of a connection, and
//! neither a congestion control nor ranges. It must not depend on frames.

use super::{Connection, SegmentForm, State};
use crate::wire::{Ecn, TcpFlags, TcpOptions, TcpSegment, Timestamps};
use sojourn_packet::Time;

/// An end that only acknowledges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TimeWait {
    seq: u32,
    ack: u32,
    window: u16,
    /// TS.Recent and the timestamp clock's value at time zero, if both ends have timestamps.
    timestamps: Option<(u32, u32)>,
    /// Of its acknowledgements.
    ecn: Ecn,
    owes: bool,
    linger: Time,
}

impl Connection {
    /// How long the end stays as it is once both directions are closed and nothing is left to do: three and
    /// a half retransmission timeouts, as Linux's `tcp_time_wait` has it. Nothing while it is open.
    pub(crate) fn linger(&self) -> Option<Time> {
        let over = self.state == State::Established
            && self.receiver.is_finished()
            && self.sender.is_over()
            && !self.is_preempted()
            && self.next_timer().is_none();
        over.then(|| self.lingering_time())
    }

    fn lingering_time(&self) -> Time {
        Time(self.sender.rtt().rto().0 / 2 * 7)
    }

    /// What remains of an end that is over.
    pub(crate) fn into_time_wait(mut self) -> TimeWait {
        let recent = (self.ts_recent, self.config.timestamp_offset);
        TimeWait {
            seq: self.local.number_of(self.sender.next()),
            ack: self.remote.number_of(self.receiver.next()),
            window: self.receiver.announced(self.negotiated.own_shift),
            timestamps: self.negotiated.timestamps.then_some(recent),
            ecn: if self.uses_dctcp_echo() { Ecn::Ect0 } else { Ecn::NotEct },
            owes: false,
            linger: self.lingering_time(),
        }
    }
}

impl TimeWait {
    /// A segment arrived. Data, a SYN or a FIN are acknowledged, an acknowledgement is not.
    pub(crate) fn receive(&mut self, segment: &impl SegmentForm) {
        let segment = segment.whole();
        if let (Some((recent, _)), Some(arrived)) =
            (&mut self.timestamps, segment.options.timestamps)
            && arrived.value.wrapping_sub(*recent) as i32 >= 0
        {
            *recent = arrived.value;
        }
        let flags = segment.flags;
        self.owes |=
            segment.payload > 0 || flags.contains(TcpFlags::FIN) || flags.contains(TcpFlags::SYN);
    }

    /// The acknowledgement that is owed.
    pub(crate) fn poll_transmit(&mut self, now: Time) -> Option<TcpSegment> {
        let timestamps = self.timestamps.map(|(echo, offset)| Timestamps {
            value: offset.wrapping_add((now.0 / 1_000_000) as u32),
            echo,
        });
        std::mem::take(&mut self.owes).then_some(TcpSegment {
            seq: self.seq,
            ack: self.ack,
            flags: TcpFlags::ACK,
            window: self.window,
            options: TcpOptions { timestamps, ..TcpOptions::default() },
            payload: 0,
            ecn: self.ecn,
        })
    }

    /// [`Connection::linger`] of what it was.
    pub(crate) fn linger(&self) -> Time {
        self.linger
    }
}

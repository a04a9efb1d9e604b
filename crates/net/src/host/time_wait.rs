//! The host of a transfer that is over: TIME-WAIT with its addresses. Must not depend on a connection's life.

use super::FrameSink;
use super::tcp::{Socket, send_whole};
use crate::tcp::{SegmentForm, TimeWait};
use crate::wire::{FrameDetail, FrameTemplate};
use sojourn_packet::Time;

/// The end of a connection that is closed in both directions.
pub(crate) struct ClosedEnd {
    time_wait: TimeWait,
    template: FrameTemplate,
    /// Ours and the peer's.
    ports: (u16, u16),
}

impl ClosedEnd {
    pub(super) fn new(socket: Socket) -> ClosedEnd {
        let Socket { connection, template, ports, .. } = socket;
        ClosedEnd { time_wait: connection.into_time_wait(), template, ports }
    }

    pub(super) fn receive(&mut self, ports: (u16, u16), segment: impl SegmentForm) -> bool {
        let mine = ports == (self.ports.1, self.ports.0);
        if mine {
            self.time_wait.receive(&segment);
        }
        mine
    }

    pub(super) fn transmit(&mut self, now: Time, written: FrameDetail, out: &mut impl FrameSink) {
        if let Some(segment) = self.time_wait.poll_transmit(now) {
            send_whole(&mut self.template, self.ports, &segment, written, out);
        }
    }

    pub(super) fn linger(&self) -> Time {
        self.time_wait.linger()
    }
}

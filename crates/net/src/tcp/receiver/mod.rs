//! The receiving half of a connection: what has arrived, what is missing, what to tell the sender.
//!
//! The application takes data as it arrives, so the window never closes. Works in 64-bit offsets;
//! must not know wire formats, nor the sending half.

mod delayed_ack;

use crate::tcp::ranges::RangeSet;
use delayed_ack::DelayedAck;
use smallvec::SmallVec;
use sojourn_packet::Time;

/// A segment of data, in offsets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Incoming {
    pub(crate) start: u64,
    pub(crate) payload: u32,
    pub(crate) fin: bool,
    /// The packet carries a congestion mark.
    pub(crate) marked: bool,
    /// The sender says that it has reduced its window.
    pub(crate) cwr: bool,
}

/// The receiving half.
#[derive(Clone, Debug)]
pub struct Receiver {
    /// Next offset expected (RCV.NXT).
    next: u64,
    out_of_order: RangeSet,
    /// Ranges to report, the one that changed last first (RFC 2018 section 4).
    recent: SmallVec<[(u64, u64); 4]>,
    acks: DelayedAck,
    /// A mark arrived and the sender has not yet answered it (RFC 3168 section 6.1.3).
    echo_mark: bool,
    fin: Option<u64>,
}

impl Receiver {
    /// A receiver that expects the first byte; an acknowledgement waits for at most `delay`.
    pub(crate) fn new(delay: Time) -> Receiver {
        Receiver {
            next: super::sender::FIRST_BYTE,
            out_of_order: RangeSet::default(),
            recent: SmallVec::new(),
            acks: DelayedAck::new(delay),
            echo_mark: false,
            fin: None,
        }
    }

    /// Next offset expected.
    pub(crate) fn next(&self) -> u64 {
        self.next
    }

    /// Payload bytes handed to the application.
    pub fn delivered(&self) -> u64 {
        self.next - super::sender::FIRST_BYTE - u64::from(self.is_finished())
    }

    /// True if everything up to the sender's FIN has arrived.
    pub fn is_finished(&self) -> bool {
        self.fin.is_some_and(|fin| self.next > fin)
    }

    /// True if acknowledgements must carry ECE.
    pub(crate) fn echoes_mark(&self) -> bool {
        self.echo_mark
    }

    /// A segment with data or FIN arrived.
    pub(crate) fn on_data(&mut self, now: Time, incoming: &Incoming) {
        if incoming.cwr {
            self.echo_mark = false;
        }
        self.echo_mark |= incoming.marked;
        let data_end = incoming.start + u64::from(incoming.payload);
        if incoming.fin {
            self.fin = Some(data_end);
        }
        let end = data_end + u64::from(incoming.fin);
        if end <= self.next {
            self.acks.at_once(); // A duplicate: the sender lacks our acknowledgement.
        } else if incoming.start > self.next {
            let merged = self.out_of_order.insert(incoming.start, end);
            self.report(merged);
            self.acks.at_once();
        } else if self.out_of_order.is_empty() && !incoming.fin {
            self.next = end;
            self.acks.on_data(now, incoming.payload);
        } else {
            self.fill(end);
            self.acks.at_once();
        }
    }

    /// The data up to `end` have arrived, and perhaps close a gap.
    fn fill(&mut self, end: u64) {
        self.next = end;
        if let Some((start, range_end)) = self.out_of_order.iter().next()
            && start <= end
        {
            self.next = range_end.max(end);
        }
        let next = self.next;
        self.out_of_order.remove_below(next);
        self.recent.retain(|(_, end)| *end > next);
    }

    fn report(&mut self, merged: (u64, u64)) {
        self.recent.retain(|(start, end)| *end < merged.0 || merged.1 < *start);
        self.recent.truncate(3);
        self.recent.insert(0, merged);
    }

    /// The ranges to report, most recent first.
    pub(crate) fn reported(&self) -> &[(u64, u64)] {
        &self.recent
    }

    /// An acknowledgement is owed at once, whatever arrived.
    pub(crate) fn acknowledge_at_once(&mut self) {
        self.acks.at_once();
    }

    /// An acknowledgement went out.
    pub(crate) fn acknowledged(&mut self) {
        self.acks.sent();
    }

    /// True if an acknowledgement must go out now.
    pub(crate) fn owes_acknowledgement(&self, now: Time) -> bool {
        self.acks.is_due(now)
    }

    /// When an acknowledgement must go out.
    pub(crate) fn deadline(&self) -> Option<Time> {
        self.acks.deadline()
    }
}

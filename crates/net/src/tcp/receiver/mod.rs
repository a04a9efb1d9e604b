//! Receiving half of a connection: received data, missing data, and the feedback to the sender.
//!
//! The application takes data as soon as they are in order. Data out of order occupy the buffer.
//! The receiver works in 64-bit offsets. It must not depend on wire formats, nor on the sending
//! half.

mod delayed_ack;
mod window;

use crate::tcp::Hz;
use crate::tcp::ranges::RangeSet;
use crate::tcp::timestamp_clock::Echo;
use delayed_ack::DelayedAck;
pub(crate) use delayed_ack::Path;
use smallvec::SmallVec;
use sojourn_packet::Time;
use window::{OutOfOrder, ReceiveWindow};

/// A segment of data, in offsets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Incoming {
    pub(crate) start: u64,
    pub(crate) payload: u32,
    pub(crate) fin: bool,
    /// The sender pushes: nothing may follow.
    pub(crate) push: bool,
    /// The packet carries a congestion mark, or could have; always neither without ECN.
    pub(crate) marked: bool,
    /// See `marked`.
    pub(crate) capable: bool,
    /// The sender says that it has reduced its window.
    pub(crate) cwr: bool,
    /// The millisecond of ours that the sender echoes, with timestamps.
    pub(crate) echo: Option<Echo>,
}

/// The receiving half.
#[derive(Clone, Debug)]
pub struct Receiver {
    /// Next offset expected (RCV.NXT).
    next: u64,
    out_of_order: RangeSet,
    /// Bytes in it.
    waiting: u64,
    /// Ranges to report, the one that changed last first (RFC 2018 section 4).
    recent: SmallVec<[(u64, u64); 4]>,
    /// Ranges of a report that must go before anything else is said.
    overdue: Option<Box<[(u64, u64)]>>,
    /// Range that arrived twice last, until it is reported (D-SACK, RFC 2883).
    duplicate: Option<(u64, u64)>,
    acks: DelayedAck,
    window: ReceiveWindow,
    /// A mark arrived and the sender has not yet answered it (RFC 3168 section 6.1.3).
    echo_mark: bool,
    /// A packet was capable of a mark.
    seen_capable: bool,
    /// State of the DCTCP echo (RFC 8257 section 3.2); `None` with the echo of RFC 3168.
    dctcp_echo: Option<DctcpEcho>,
    /// An acknowledgement that must go before anything else is said: what was expected, and the echo.
    early: Option<(u64, bool)>,
    fin: Option<u64>,
    /// The window as announced last with its shift, if nothing has arrived since.
    announced: Option<(u8, u16)>,
}

/// State of the ECN echo of RFC 8257 section 3.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct DctcpEcho {
    /// The last packet was marked.
    marked: bool,
    /// Offset expected next.
    next: u64,
}

impl Receiver {
    /// A receiver that expects the first byte and announces `window` bytes, and segments of `mss`
    /// bytes, options included. `delayed_ack` has the kernel's ticks, and the
    /// longest delay of acknowledgements.
    pub(crate) fn new(window: u64, mss: u32, delayed_ack: (Hz, Option<Time>)) -> Receiver {
        Receiver {
            next: super::sender::FIRST_BYTE,
            out_of_order: RangeSet::default(),
            waiting: 0,
            recent: SmallVec::new(),
            overdue: None,
            duplicate: None,
            acks: DelayedAck::new(window, delayed_ack),
            window: ReceiveWindow::new(window, mss, super::sender::FIRST_BYTE),
            echo_mark: false,
            seen_capable: false,
            dctcp_echo: None,
            early: None,
            fin: None,
            announced: None,
        }
    }

    /// The connection is open: full segments carry `payload` bytes.
    pub(crate) fn open(&mut self, now: Time, payload: u32) {
        self.announced = None;
        self.window.open(now, payload);
    }

    /// Enables the ECN echo of DCTCP: acknowledgements of marked packets carry ECE, and no others.
    pub(crate) fn enable_dctcp_echo(&mut self) {
        self.dctcp_echo = Some(DctcpEcho { marked: false, next: self.next });
    }

    /// Next offset expected.
    pub(crate) fn next(&self) -> u64 {
        self.next
    }

    /// Payload bytes delivered to the application.
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
    #[inline(always)]
    pub(crate) fn on_data(&mut self, now: Time, incoming: &Incoming, path: &Path) {
        self.duplicate = None;
        self.announced = None;
        let data_end = incoming.start + u64::from(incoming.payload);
        if incoming.fin {
            self.fin = Some(data_end);
        }
        let end = data_end + u64::from(incoming.fin);
        self.window.on_echo(now, incoming.echo);
        if incoming.cwr {
            self.echo_mark = false;
            // The sender's window may be a single segment.
            self.acks.at_once();
        }
        if end <= self.next {
            self.duplicate = Some((incoming.start, end));
            self.acks.on_duplicate();
        } else if incoming.start > self.next {
            self.process_ecn(incoming, self.next);
            self.store(incoming.start, end);
            self.report(now, path, (incoming.start, end));
            self.grow(incoming.payload, false);
        } else {
            if incoming.start < self.next {
                self.duplicate = Some((incoming.start, self.next));
            }
            self.acks.on_data(now, incoming.payload, path);
            self.process_ecn(incoming, end);
            self.window.on_progress(now, end);
            self.grow(incoming.payload, true);
            self.take(end, incoming);
            self.window.on_read(now, end);
        }
        let gap = (!self.out_of_order.is_empty()).then_some(self.next);
        self.acks.decide(now, path, gap);
    }

    /// RFC 3168 section 6.1.3; the first mark, and a segment without ECN among others, which is
    /// probably a retransmission, are acknowledged quickly.
    ///
    /// `next` is what is expected behind the packet.
    #[inline]
    fn process_ecn(&mut self, incoming: &Incoming, next: u64) {
        if incoming.marked | incoming.capable | self.seen_capable {
            self.process_codepoint(incoming.marked, incoming.capable, next);
        }
    }

    #[cold]
    #[inline(never)]
    fn process_codepoint(&mut self, marked: bool, capable: bool, next: u64) {
        if capable && self.dctcp_echo.is_some() {
            self.update_dctcp_echo(marked, next);
        }
        if marked && !self.echo_mark {
            self.acks.on_mark();
        }
        if !capable && self.seen_capable {
            self.acks.on_mark();
        }
        if self.dctcp_echo.is_none() {
            self.echo_mark |= marked;
        }
        self.seen_capable |= capable;
    }

    /// RFC 8257 section 3.2: an acknowledgement speaks for packets that were all marked or all not. One
    /// that waits goes at once, for those before this packet; then one for this packet.
    fn update_dctcp_echo(&mut self, marked: bool, next: u64) {
        let Some(before) = self.dctcp_echo.replace(DctcpEcho { marked, next }) else { return };
        if before.marked != marked {
            if self.acks.waits() {
                self.early = Some((before.next, before.marked));
            }
            self.acks.at_once();
        }
        self.echo_mark = marked;
    }

    /// While the window grows, every segment is acknowledged.
    #[inline(always)]
    fn grow(&mut self, payload: u32, in_order: bool) {
        if self.window.on_segment(payload, self.buffered(), in_order) {
            self.acks.on_growth();
        }
    }

    /// Data that wait for missing ones.
    fn buffered(&self) -> OutOfOrder {
        OutOfOrder { bytes: self.waiting, ranges: self.out_of_order.len() as u64 }
    }

    /// True if something must go before anything else is said.
    #[inline]
    pub(crate) fn is_urgent(&self) -> bool {
        self.early.is_some() | self.overdue.is_some()
    }

    /// The acknowledgement that must go before anything else is said: up to where, and whether it
    /// echoes a mark.
    pub(crate) fn take_early(&mut self) -> Option<(u64, bool)> {
        self.early.take()
    }

    /// The report that must go before anything else is said.
    pub(crate) fn take_overdue(&mut self) -> Option<Box<[(u64, u64)]>> {
        self.overdue.take()
    }

    /// The segment `[start, end)` waits for what is missing before it.
    #[inline(never)]
    fn store(&mut self, start: u64, end: u64) {
        if self.out_of_order.covers(start, end) {
            self.duplicate = Some((start, end));
        } else {
            self.out_of_order.for_each_gap(start, end, |from, to| self.waiting += to - from);
        }
        self.out_of_order.insert(start, end);
        self.acks.on_gap();
    }

    /// The data up to `end` are next.
    fn take(&mut self, end: u64, incoming: &Incoming) {
        if self.out_of_order.is_empty() {
            self.next = end;
            if incoming.push {
                self.acks.on_push();
            }
        } else {
            self.fill(end);
            if self.out_of_order.is_empty() {
                // RFC 5681 section 4.2: the gap is closed.
                self.acks.at_once();
            }
        }
        if incoming.fin {
            self.acks.at_once();
        }
    }

    /// The data up to `end` have arrived, and perhaps close a gap.
    #[inline(never)]
    fn fill(&mut self, end: u64) {
        self.next = end;
        if let Some((start, range_end)) = self.out_of_order.iter().next()
            && start <= end
        {
            self.next = range_end.max(end);
        }
        let next = self.next;
        self.waiting -= self.out_of_order.remove_below(next);
        self.recent.retain(|(_, end)| *end > next);
    }

    /// Adds the range of these data to the ranges to report. As in Linux (`tcp_sack_new_ofo_skb`)
    /// only those few are stored: a segment between two others that are not among them is a range
    /// of its own, where RFC 2018 would have the three as one.
    ///
    /// An acknowledgement has space for three ranges. Linux relies on two, since acknowledgements
    /// may be lost: if reports wait and these data are in neither of the two that changed last, the
    /// pending report goes first, and these data are not reported before more arrive.
    fn report(&mut self, now: Time, path: &Path, data: (u64, u64)) {
        const EXPECTED: usize = 2;
        let known = self.recent.iter_mut().position(|range| extend(range, data));
        if known.unwrap_or(self.recent.len()) >= EXPECTED && self.acks.flush(now, path) {
            self.overdue = Some(self.reported().collect());
            self.duplicate = None;
        }
        match known {
            Some(place) => {
                self.recent[..=place].rotate_right(1);
                self.coalesce();
            }
            None => {
                self.recent.truncate(3);
                self.recent.insert(0, data);
            }
        }
    }

    /// The range that has just grown takes up those that it reaches.
    fn coalesce(&mut self) {
        let mut first = self.recent[0];
        let mut place = 1;
        while place < self.recent.len() {
            if extend(&mut first, self.recent[place]) {
                self.recent.remove(place);
            } else {
                place += 1;
            }
        }
        self.recent[0] = first;
    }

    /// True if there are none to report.
    #[inline]
    pub(crate) fn reports_nothing(&self) -> bool {
        self.duplicate.is_none() && self.recent.is_empty()
    }

    /// The ranges to report: what arrived twice, then the most recent first.
    pub(crate) fn reported(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.duplicate.iter().chain(&self.recent).copied()
    }

    /// An acknowledgement is owed at once, whatever arrived.
    pub(crate) fn acknowledge_at_once(&mut self) {
        self.acks.at_once();
    }

    /// An acknowledgement goes out; the window that it announces, in units of `2^shift` bytes.
    pub(crate) fn acknowledged(&mut self, now: Time, path: &Path, shift: u8) -> u16 {
        self.duplicate = None;
        self.acks.sent(now, path);
        self.announced(shift)
    }

    /// The window to announce now.
    #[inline]
    pub(crate) fn announced(&mut self, shift: u8) -> u16 {
        if let Some((known, window)) = self.announced
            && known == shift
        {
            return window;
        }
        self.announce(shift)
    }

    /// The same after something has arrived.
    #[inline(never)]
    fn announce(&mut self, shift: u8) -> u16 {
        let (unit, most) = (1 << shift, u64::from(u16::MAX) << shift);
        let window = (self.window.announce(self.next, self.buffered(), unit, most) >> shift) as u16;
        self.announced = Some((shift, window));
        window
    }

    /// Data go out.
    pub(crate) fn data_sent(&mut self, now: Time) {
        self.acks.data_sent(now);
    }

    /// True if an acknowledgement must go out now.
    pub(crate) fn owes_acknowledgement(&self, now: Time) -> bool {
        self.acks.is_due(now)
    }

    /// Time at which an acknowledgement must go out; [`Time::MAX`] if none is owed.
    pub(crate) fn deadline(&self) -> Time {
        self.acks.deadline()
    }
}

/// True if the ranges overlap or touch; the first is then both.
fn extend(range: &mut (u64, u64), other: (u64, u64)) -> bool {
    let touches = other.0 <= range.1 && range.0 <= other.1;
    if touches {
        *range = (range.0.min(other.0), range.1.max(other.1));
    }
    touches
}

//! Transmission: selects the next segment to send (RFC 6675 section 5, `NextSeg`).
//!
//! Lost segments precede new data. The windows, pacing and segmentation offload limit both.

use super::app_limited::Burst;
use super::offload::Partial;
use super::recovery::Retransmit;
use super::retransmission_timeout::{Forced, LossProbe};
use super::timer::Alarm;
use super::{Outgoing, Sender};
use crate::config::SegmentationOffload;
use crate::tcp::congestion::State;
use crate::tcp::timestamp_clock::milliseconds;
use sojourn_packet::Time;

impl Sender {
    /// The next segment that may be sent now.
    pub(crate) fn poll_transmit(&mut self, now: Time) -> Option<Outgoing> {
        if self.is_at_rest() { None } else { self.poll_busy(now) }
    }

    /// The same of a sender that is not at rest.
    #[inline(always)]
    pub(crate) fn poll_busy(&mut self, now: Time) -> Option<Outgoing> {
        self.pacing.ask_again();
        if self.sends_new_alone()
            && let Some(outgoing) = self.send_new(now)
        {
            self.sent_since_poll = true;
            return Some(outgoing);
        }
        self.poll_others(now)
    }

    /// The next segment where no new one goes as usual.
    #[inline(never)]
    fn poll_others(&mut self, now: Time) -> Option<Outgoing> {
        let mut outgoing = if self.sends_new_alone() { None } else { self.send_unusual(now) };
        if outgoing.is_none() && self.write_more() {
            outgoing = self.send_unusual(now);
        }
        match outgoing {
            Some(_) => self.sent_since_poll = true,
            None => self.end_burst(now),
        }
        outgoing
    }

    /// True if nothing is to be sent again.
    #[inline(always)]
    fn sends_new_alone(&self) -> bool {
        self.forced.is_none() && self.retransmit == Retransmit::Nothing
    }

    /// The next segment, whatever is to be considered.
    #[inline(never)]
    fn send_unusual(&mut self, now: Time) -> Option<Outgoing> {
        let forced = self.forced.take().and_then(|forced| self.send_forced(now, forced));
        forced.or_else(|| self.send_allowed(now))
    }

    #[cold]
    fn send_forced(&mut self, now: Time, forced: Forced) -> Option<Outgoing> {
        match forced {
            Forced::Oldest => {
                let (start, end) = self.scoreboard.front().map(|sent| (sent.start, sent.end))?;
                Some(self.resend(now, start, end))
            }
            Forced::Probe => self.send_probe(now),
        }
    }

    /// New data if the peer's window lets them, whatever the congestion window; else the last
    /// segment once more (RFC 8985 section 7.3).
    fn send_probe(&mut self, now: Time) -> Option<Outgoing> {
        let probe = if self.has_new_data() && self.next_new(false).is_some() {
            let paced = self.pacing.may_send(now);
            let (payload, fin) = self.next_new(false).filter(|_| paced)?;
            self.pacing.sent(now, u64::from(payload), self.transmissions());
            Some(self.send(now, payload, fin))
        } else {
            let (start, end) = self.scoreboard.back().map(|sent| (sent.start, sent.end))?;
            let snapshot = self.rate.sent(now, false);
            self.scoreboard.resend(now, start, snapshot);
            Some(self.repeated(now, start, end))
        };
        let retransmission = probe.is_some_and(|probe| probe.retransmission);
        self.probe = Some(LossProbe { end: self.scoreboard.next(), retransmission });
        self.statistics.probes += 1;
        self.timer.set(Alarm::Timeout, now, self.rto());
        self.probe_sent = true;
        probe
    }

    fn send_allowed(&mut self, now: Time) -> Option<Outgoing> {
        match self.retransmit {
            Retransmit::Nothing => self.send_new(now),
            Retransmit::Lost => self.send_lost(now).or_else(|| self.send_new(now)),
            Retransmit::AfterNew => self.send_new(now).or_else(|| {
                self.retransmit = Retransmit::Nothing;
                if self.scoreboard.next() > self.episode_end {
                    return None;
                }
                self.frto = false;
                self.retransmit = Retransmit::Lost;
                self.send_lost(now)
            }),
        }
    }

    fn has_room(&self) -> bool {
        self.scoreboard.in_flight() < self.window.cwnd
    }

    /// `NextSeg` rule 1: the first lost segment that was not sent again.
    #[inline(never)]
    fn send_lost(&mut self, now: Time) -> Option<Outgoing> {
        let (start, end) = self.scoreboard.next_lost().filter(|_| self.has_room())?;
        if !self.pacing.may_send(now) {
            return None;
        }
        let outgoing = self.resend(now, start, end);
        if self.state.is_reducing() {
            self.reduction.on_sent();
        }
        if start == self.scoreboard.una() && self.timer.alarm() != Some(Alarm::Reordering) {
            // The timer is for the oldest segment, which has just been sent.
            let wait =
                self.rto() + self.pacing.delay(now).map_or(Time::ZERO, |held| self.hz.coarse(held));
            self.timer.set(Alarm::Timeout, now, wait);
        }
        Some(outgoing)
    }

    fn resend(&mut self, now: Time, start: u64, end: u64) -> Outgoing {
        let snapshot = self.rate.sent(now, false);
        self.scoreboard.resend(now, start, snapshot);
        self.undo.resent(milliseconds(now));
        self.pacing.sent(now, end - start, self.transmissions());
        self.repeated(now, start, end)
    }

    fn repeated(&mut self, now: Time, start: u64, end: u64) -> Outgoing {
        self.statistics.retransmits += 1;
        self.last_sent = now;
        let fin = end > self.buffer.written();
        let payload = (end - start - u64::from(fin)) as u32;
        let push = self.buffer.is_pushed(start, start + u64::from(payload));
        Outgoing { start, payload, fin, push, retransmission: true, cwr: false }
    }

    /// True if nothing is out, nothing is left to be written or sent, and nothing of a burst is to be
    /// settled: the other end sends, and this one only receives.
    #[inline(always)]
    pub(crate) fn is_at_rest(&self) -> bool {
        if self.buffer.is_untouched() && !self.closing {
            return true; // As all of an end that never sends.
        }
        self.scoreboard.outstanding() == 0
            && !self.has_unsent()
            && self.forced.is_none()
            && !self.sent_since_poll
            && !self.deferred
            && !self.buffer.waits()
            && self.pacing.deadline() == Time::MAX
    }

    /// True if its FIN, and so all before it, has been acknowledged and nothing is left to do.
    pub(crate) fn is_over(&self) -> bool {
        self.closing && self.scoreboard.next() > self.buffer.written() && self.is_at_rest()
    }

    /// True if there are data, or a FIN, that were never sent.
    fn has_unsent(&self) -> bool {
        let next = self.scoreboard.next();
        next < self.buffer.written() || self.is_fin_next()
    }

    /// True if there are new data, or a FIN, that the peer's window lets go.
    pub(super) fn has_new_data(&self) -> bool {
        let next = self.scoreboard.next();
        next < self.buffer.written().min(self.window_edge) || self.is_fin_next()
    }

    /// True if all data were sent, and a FIN follows that was not.
    fn is_fin_next(&self) -> bool {
        self.closing && self.buffer.has_all() && self.scoreboard.next() == self.buffer.written()
    }

    /// Payload and FIN of the next new segment. A segment that does not fit the peer's window waits
    /// for it to open (RFC 9293 section 3.8.6.2.1), as long as something is outstanding. With `nagle`, a segment that is not full waits while
    /// another one that was not is outstanding (RFC 9293 section 3.7.4, with Minshall's
    /// modification), unless it is the last.
    fn next_new(&self, nagle: bool) -> Option<(u32, bool)> {
        let (start, written) = (self.scoreboard.next(), self.buffer.written());
        let full = start + u64::from(self.mss);
        if full < written && full <= self.window_edge {
            return Some((self.mss, false)); // As nearly always.
        }
        if start > written {
            return None; // The FIN is out.
        }
        let available = written.min(self.window_edge).saturating_sub(start);
        let payload = available.min(u64::from(self.mss)) as u32;
        let cut = u64::from(payload) < (written - start).min(u64::from(self.mss));
        if cut && self.scoreboard.outstanding() > 0 {
            return None;
        }
        let last = self.buffer.has_all() && start + u64::from(payload) == written;
        let fin = self.closing && last;
        let small_out = self.last_small > self.scoreboard.una();
        let waits = nagle && payload < self.mss && small_out && !fin;
        (!waits && (payload > 0 || fin)).then_some((payload, fin))
    }

    /// `NextSeg` rule 2: new data.
    #[inline(always)]
    fn send_new(&mut self, now: Time) -> Option<Outgoing> {
        let (payload, fin) = self.next_new(true)?;
        if self.burst_left == 0 {
            let in_flight = self.scoreboard.in_flight();
            if in_flight == 0 {
                self.note_idle(now);
            }
            // A FIN alone does not wait for the window.
            if payload > 0 && in_flight >= self.window.cwnd {
                return None;
            }
            if !self.pacing.may_send(now) {
                return None;
            }
            self.burst_left = match self.offload {
                SegmentationOffload::Off => 1,
                _ => self.next_burst(now, payload)?,
            };
            let bytes = u64::from(self.burst_left) * u64::from(payload);
            self.pacing.sent(now, bytes, self.transmissions());
        }
        self.burst_left -= 1;
        let outgoing = self.send(now, payload, fin);
        if self.state.is_reducing() {
            self.reduction.on_sent();
        }
        Some(outgoing)
    }

    /// Number of segments in the next burst; `None` if it is better to wait for more space.
    #[inline(never)]
    fn next_burst(&mut self, now: Time, payload: u32) -> Option<u32> {
        let full = self.offload.burst(
            self.pacing.rate().bytes_per_second(),
            self.rtt.min(),
            self.mss,
            self.control.least_burst(),
        );
        if full <= 1 {
            return Some(1);
        }
        let window = self.window.cwnd.saturating_sub(self.scoreboard.in_flight());
        let next = self.scoreboard.next();
        let bytes = self.buffer.written().min(self.window_edge).saturating_sub(next);
        let segments = (bytes / u64::from(payload.max(1))).min(u64::from(u32::MAX)) as u32;
        let partial = Partial {
            now,
            state: self.state,
            last: self.pacing.next(),
            room: window.min(segments),
            cwnd: self.window.cwnd,
            oldest: self.scoreboard.front().map(|oldest| oldest.at),
            srtt: self.rtt.srtt(),
        };
        if segments > 1 && partial.waits(full) {
            self.deferred = true;
            return None;
        }
        // Two bursts at least fit the window.
        Some(full.min(window.min(self.window.cwnd / 2)).min(segments).max(1))
    }

    #[inline(always)]
    fn send(&mut self, now: Time, payload: u32, fin: bool) -> Outgoing {
        let start = self.scoreboard.next();
        let idle = self.scoreboard.outstanding() == 0;
        let snapshot = self.rate.sent(now, idle);
        self.scoreboard.send(now, start + u64::from(payload) + u64::from(fin), snapshot);
        if payload < self.mss {
            self.last_small = start + u64::from(payload);
        }
        self.statistics.segments += 1;
        self.last_sent = now;
        let cwr = std::mem::take(&mut self.cwr_pending);
        let push = self.buffer.is_pushed(start, start + u64::from(payload));
        self.write_more();
        Outgoing { start, payload, fin, push, retransmission: false, cwr }
    }

    fn transmissions(&self) -> u64 {
        self.statistics.segments + self.statistics.retransmits
    }

    /// Before the first segment after an idle time: RFC 5681 section 4.1 and RFC 2861, halving the
    /// window for each timeout that has passed.
    fn note_idle(&mut self, now: Time) {
        if ![Time::ZERO, now].contains(&self.last_sent) {
            self.begin_anew(now);
        }
    }

    #[inline(never)]
    fn begin_anew(&mut self, now: Time) {
        let idle = self.hz.coarse(now).saturating_sub(self.hz.coarse(self.last_sent));
        let rto = self.rto();
        if self.scoreboard.outstanding() == 0 && idle > rto && !self.pacing.is_by_control() {
            self.window.ssthresh = self.window.remembered_threshold();
            let floor = self.initial_window.min(self.window.cwnd);
            let halvings = ((idle.0 - 1) / rto.0).min(31) as u32;
            self.window.cwnd = (self.window.cwnd >> halvings).max(floor);
        }
        let flow = self.flow(now);
        self.control.on_transmit_start(&mut self.window, &flow, idle);
        if let Some(rate) = self.control.pacing_rate() {
            self.pacing.set_rate(rate);
        }
        self.last_sent = now;
    }

    /// Nothing more goes now.
    #[inline(always)]
    fn end_burst(&mut self, now: Time) {
        self.burst_left = 0;
        let sent = std::mem::take(&mut self.sent_since_poll);
        let limited = !self.has_room() || std::mem::take(&mut self.deferred);
        let more = self.has_unsent();
        if sent || (limited && more) {
            let burst = Burst {
                now,
                una: self.scoreboard.una(),
                next: self.scoreboard.next(),
                outstanding: self.scoreboard.outstanding(),
                limited,
            };
            self.usage.sent(&burst, &self.window);
            if !more && self.state == State::Open && !self.pacing.is_by_control() {
                let rto = self.rto();
                self.usage.decay((self.hz, now), rto, self.initial_window, &mut self.window);
            }
        }
        if sent && !std::mem::take(&mut self.probe_sent) {
            self.set_timer_after_send(now);
        }
    }
}

//! Processing of acknowledgements, in Linux's order.
//!
//! The steps are: SACK blocks, cumulative acknowledgement, round-trip time, losses and state,
//! timer, delivery rate, window.

use super::prr::Progress;
use super::rate::AckDelivery;
use super::recovery::Retransmit;
use super::{Acknowledgement, Sender};
use crate::tcp::congestion::{
    Ack, EcnFeedback, Flow, Marked, Measured, RateSample, RttSample, State,
};
use crate::tcp::timestamp_clock::{Echo, milliseconds};
use crate::wire::Telemetry;
use sojourn_packet::Time;

/// Contents of an acknowledgement that was read.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct AckOutcome {
    /// SND.UNA before, and whether it has advanced.
    pub(super) old_una: u64,
    pub(super) advanced: bool,
    /// Segments done, and whether any was newly selectively acknowledged.
    acked: u32,
    pub(super) sacked: bool,
    /// A segment of before the episode, never sent again, has arrived.
    pub(super) original_arrived: bool,
    /// True if it acknowledges retransmitted segments.
    retransmitted: bool,
    /// A duplicate was reported, and it was the loss probe.
    dsack: bool,
    probe_dsack: bool,
    pub(super) ece: bool,
    /// Segments that it counts as marked, where marks are counted.
    marked: u32,
    /// It says nothing new: a duplicate acknowledgement.
    pub(super) duplicate: bool,
    /// Send times of the first and the last of the segments that were never retransmitted.
    acked_span: Option<(Time, Time)>,
    sacked_span: Option<(Time, Time)>,
    /// Timestamp clock at the sending of the echoed timestamp.
    pub(super) echo: Option<u64>,
    /// The receiver may have delayed it.
    delayed: bool,
    /// Round-trip time of the newest segment.
    rtt: Option<Time>,
    /// The timer starts anew.
    pub(super) set_timer: bool,
    delivery: AckDelivery,
}

/// True if what is echoed was sent in an earlier millisecond than `at`.
#[cold]
fn is_older(echo: Option<Echo>, now: Time, at: Time) -> bool {
    echo.is_some_and(|echo| echo.millisecond(now) < milliseconds(at))
}

/// The counters of outstanding segments before an acknowledgement.
#[derive(Clone, Copy, Debug)]
struct FlightSnapshot {
    in_flight: u32,
    /// Segments found lost so far.
    lost: u64,
}

fn widen(span: &mut Option<(Time, Time)>, at: Time) {
    *span = Some((span.map_or(at, |(first, _)| first), at));
}

impl Sender {
    /// Processes an acknowledgement without ranges; true if no segment is outstanding and no more
    /// is to be done: this end only receives.
    #[inline]
    pub(crate) fn hears_at_rest(&mut self, ack: u64, window: u64) -> bool {
        let is_at_rest = self.scoreboard.outstanding() == 0
            && ack == self.scoreboard.next()
            && self.probe.is_none();
        if is_at_rest {
            self.read_window(ack, window);
            self.retransmit = Retransmit::Nothing;
        }
        is_at_rest
    }

    /// Any acknowledgement arrived.
    #[inline(never)]
    pub(crate) fn on_ack(&mut self, now: Time, info: &Acknowledgement) {
        if info.ack > self.scoreboard.next() {
            return;
        }
        let old = info.ack < self.scoreboard.una();
        let window_moved = self.read_window(info.ack, info.window);
        self.retransmit = Retransmit::Nothing;
        let was_idle = self.scoreboard.outstanding() == 0;
        if was_idle && !old && info.sack.is_empty() && self.probe.is_none() {
            // No segment is outstanding: this end only receives.
            return;
        }
        let before = FlightSnapshot {
            in_flight: self.scoreboard.in_flight(),
            lost: self.scoreboard.lost_total(),
        };
        let mut outcome = AckOutcome {
            old_una: self.scoreboard.una(),
            advanced: info.ack > self.scoreboard.una(),
            ece: info.ece,
            ..AckOutcome::default()
        };
        self.read(now, info, &mut outcome);
        let not_duplicate = outcome.acked > 0 || info.carries_data || window_moved;
        outcome.duplicate = !(outcome.advanced || not_duplicate || outcome.dsack || old);
        if !was_idle && !old {
            self.rack.adapt(outcome.delivery.prior_delivered(), self.rate.delivered());
        }
        if self.probe.is_some_and(|probe| info.ack >= probe.end) {
            self.end_probe(info.ack, &outcome, not_duplicate);
        }
        let dubious = !not_duplicate || outcome.sacked || outcome.ece || outcome.dsack;
        if old || was_idle {
            if outcome.sacked || outcome.dsack {
                self.reconsider(now, info.echo, &mut outcome);
            }
            return;
        }
        if dubious || self.state != State::Open {
            self.reconsider(now, info.echo, &mut outcome);
        }
        if outcome.set_timer {
            self.set_timer(now);
        }
        self.rate.settle(now, &outcome.delivery);
        if self.pacing.is_by_control() {
            self.control_rate(now, &outcome, before);
        } else {
            self.control_window(now, &outcome, before);
        }
        if self.ecn_feedback == EcnFeedback::AccEcn {
            self.report_marks(now, info.ack);
        }
    }

    /// Not all is well: what that means for the state.
    fn reconsider(&mut self, now: Time, echo: Option<Echo>, outcome: &mut AckOutcome) {
        outcome.echo = echo.map(|echo| echo.millisecond(now));
        self.change_state(now, outcome);
    }

    /// The peer's window (RFC 9293 section 3.10.7.4): a later acknowledgement or a larger window
    /// counts. A smaller one with an earlier acknowledgement is outdated.
    #[inline(always)]
    pub(super) fn read_window(&mut self, ack: u64, window: u64) -> bool {
        let moved = ack > self.scoreboard.una() || window > self.peer_window;
        if moved {
            self.peer_window = window;
            self.buffer.see_window(window);
            self.window_edge = self.window_edge.max(ack + window);
        }
        moved
    }

    fn read(&mut self, now: Time, info: &Acknowledgement, outcome: &mut AckOutcome) {
        if outcome.advanced {
            self.timeouts_in_row = 0;
            self.buffer.acknowledged(info.ack);
        }
        let highest = self.scoreboard.highest_sacked();
        let had_sacked = self.scoreboard.sacked_out() > 0;
        let delivered = self.rate.delivered();
        if !info.sack.is_empty() {
            self.read_blocks(now, info, highest, outcome);
        }
        if self.ecn_feedback != EcnFeedback::Classic {
            self.read_marked(now, info, (highest, delivered), outcome);
        } else {
            self.read_cumulative(now, info, highest, outcome);
        }
        if !had_sacked {
            let quiet = !(outcome.sacked || outcome.ece || outcome.dsack);
            let runt = outcome.acked == 1 && self.is_runt(outcome.old_una, &outcome.delivery);
            outcome.delayed = quiet && runt;
        }
        self.measure(now, info.echo, outcome);
    }

    /// Reads the marks of a cumulative acknowledgement for a control with exact feedback; before
    /// the acknowledgement `delivered` segments were delivered.
    #[inline(never)]
    fn read_marked(
        &mut self,
        now: Time,
        info: &Acknowledgement,
        (highest, delivered): (u64, u64),
        outcome: &mut AckOutcome,
    ) {
        // Linux counts what is selectively acknowledged before, and the rest behind.
        self.delivered_marked += self.under_echo(info, delivered);
        if self.ecn_feedback == EcnFeedback::Dctcp {
            self.report_marks(now, info.ack);
        }
        let rest = self.rate.delivered();
        self.read_cumulative(now, info, highest, outcome);
        self.delivered_marked += match info.counted {
            Some(feedback) => {
                let marked = feedback.marked(self.rate.delivered() - delivered, self.mss);
                outcome.marked = u32::try_from(marked).unwrap_or(u32::MAX);
                marked
            }
            None => self.under_echo(info, rest),
        };
    }

    /// Segments delivered since there were `before`, if the acknowledgement says that they were marked.
    fn under_echo(&self, info: &Acknowledgement, before: u64) -> u64 {
        if info.ece && info.counted.is_none() { self.rate.delivered() - before } else { 0 }
    }

    /// Passes the counts of delivered and of marked segments to the control.
    fn report_marks(&mut self, now: Time, ack: u64) {
        let seen = Marked {
            now,
            una: ack.max(self.scoreboard.una()),
            next: self.scoreboard.next(),
            delivered: self.rate.delivered(),
            marked: self.delivered_marked,
        };
        self.control.on_marked(&self.window, &seen);
    }

    #[inline(never)]
    fn read_blocks(
        &mut self,
        now: Time,
        info: &Acknowledgement,
        highest: u64,
        outcome: &mut AckOutcome,
    ) {
        let mut blocks = info.sack;
        if let Some((first, rest)) = blocks.split_first()
            && (first.0 < info.ack
                || rest.first().is_some_and(|next| next.0 <= first.0 && first.1 <= next.1))
        {
            self.read_duplicate(info.ack, *first, outcome);
            blocks = rest;
        }
        let min_rtt = self.rtt.min();
        let (end, rack, rate) = (self.episode_end, &mut self.rack, &mut self.rate);
        let mut overtaken = u64::MAX;
        for (start, block_end) in blocks {
            self.scoreboard.sack(*start, *block_end, |sent| {
                outcome.sacked = true;
                rack.arrived(now, sent, min_rtt);
                rate.arrived(sent, &mut outcome.delivery);
                if !sent.retransmitted {
                    if sent.start < highest {
                        overtaken = overtaken.min(sent.start);
                    }
                    outcome.original_arrived |= sent.end <= end;
                    widen(&mut outcome.sacked_span, sent.at);
                }
            });
        }
        if overtaken < u64::MAX && (self.state != State::Loss || self.undo.is_possible()) {
            self.rack.reordered(overtaken, self.scoreboard.highest_sacked(), self.mss);
        }
    }

    /// A D-SACK block (RFC 2883): the receiver got these data twice. Believed only for as many
    /// segments as were sent again.
    #[cold]
    fn read_duplicate(&mut self, ack: u64, (start, end): (u64, u64), outcome: &mut AckOutcome) {
        if start >= end {
            return;
        }
        let segments = (end - start).div_ceil(u64::from(self.mss)) as u32;
        let is_probe = segments == 1 && self.probe.is_some_and(|probe| probe.end == end);
        self.duplicates += u64::from(segments);
        if self.duplicates > self.statistics.retransmits {
            return;
        }
        outcome.dsack = true;
        outcome.probe_dsack = is_probe;
        if !is_probe {
            self.rack.duplicate();
        }
        self.rate.arrived_again(segments, &mut outcome.delivery);
        if end <= ack {
            self.undo.explain(end, segments);
        } else {
            let explained = self.scoreboard.arrived_twice(start, end);
            self.undo.explain(end, explained);
        }
    }

    fn read_cumulative(
        &mut self,
        now: Time,
        info: &Acknowledgement,
        highest: u64,
        outcome: &mut AckOutcome,
    ) {
        let mut lowest = u64::MAX;
        let min_rtt = self.rtt.min();
        let (end, rack, rate) = (self.episode_end, &mut self.rack, &mut self.rate);
        if let Some(run) = self.scoreboard.plain_run(info.ack) {
            outcome.acked = run.segments;
            outcome.acked_span = Some((run.first.at, run.last.at));
            outcome.original_arrived |= run.first.end <= end;
            lowest = run.first.start;
            rate.arrived_with(run.segments, run.last, &mut outcome.delivery);
            rack.arrived(now, run.last, min_rtt);
            self.scoreboard.take(outcome.acked);
        }
        self.scoreboard.acknowledge(info.ack, |sent| {
            outcome.acked += 1;
            if sent.retransmitted {
                outcome.retransmitted = true;
            } else if !sent.sacked {
                widen(&mut outcome.acked_span, sent.at);
                lowest = lowest.min(sent.start);
                outcome.original_arrived |= sent.end <= end;
            }
            if !sent.sacked {
                rate.arrived(sent, &mut outcome.delivery);
                if !(sent.retransmitted && is_older(info.echo, now, sent.at)) {
                    rack.arrived(now, sent, min_rtt);
                }
            }
        });
        self.scoreboard.advance(info.ack);
        if lowest < highest {
            self.rack.reordered(lowest, self.scoreboard.highest_sacked(), self.mss);
        }
    }

    /// A lone runt, acknowledged alone: the receiver has probably waited for a second segment.
    #[inline(always)]
    pub(super) fn is_runt(&self, old_una: u64, delivery: &AckDelivery) -> bool {
        self.scoreboard.una() - old_una < u64::from(self.mss)
            && delivery.prior_delivered() + 1 == self.rate.delivered()
    }

    /// The round-trip time (RFC 6298 section 3, RFC 7323 section 4): of segments sent once, else by
    /// the timestamp if data were acknowledged.
    fn measure(&mut self, now: Time, echo: Option<Echo>, outcome: &mut AckOutcome) {
        let since = |at: Time| now.saturating_sub(at);
        let acked = outcome.acked_span.filter(|_| !outcome.retransmitted);
        let mut newest = acked.map(|(_, last)| since(last));
        if let Some((_, last)) = outcome.sacked_span {
            newest = Some(since(last));
        }
        let sacked = outcome.sacked_span.map(|(first, _)| since(first));
        let mut oldest = acked.map(|(first, _)| since(first)).or(sacked);
        if oldest.is_none() && outcome.acked > 0 {
            oldest = echo.map(|echo| echo.since(now));
            newest = oldest;
        }
        if let (Some(oldest), Some(newest)) = (oldest, newest) {
            outcome.rtt = Some(newest);
            self.take_rtt(now, (oldest, newest), outcome.delayed);
        }
        let front = self.scoreboard.front();
        // A block for what was sent after the oldest segment was sent last says nothing of it.
        let older = front.zip(sacked).is_some_and(|(front, sacked)| sacked > since(front.at));
        outcome.set_timer = outcome.acked > 0 || older;
    }

    #[inline(always)]
    pub(super) fn take_rtt(&mut self, now: Time, (oldest, newest): (Time, Time), delayed: bool) {
        if !delayed || newest <= self.rtt.min() {
            self.rtt.see_min(now, newest);
        }
        let (una, next) = (self.scoreboard.una(), self.scoreboard.next());
        self.rtt.sample(oldest, una, next);
        self.timer.forget_backoff();
        let pacing_rate = self.pacing.rate();
        let sample = RttSample { now, rtt: newest, srtt: self.rtt.srtt(), una, next, pacing_rate };
        self.control.on_rtt(&mut self.window, &sample);
    }

    /// An acknowledgement of all that a loss probe ends (RFC 8985 section 7.4).
    #[cold]
    fn end_probe(&mut self, ack: u64, outcome: &AckOutcome, not_duplicate: bool) {
        let Some(probe) = self.probe else { return };
        if !probe.retransmission || outcome.probe_dsack {
            // New data have arrived, or both the original and the probe: nothing was lost.
            self.probe = None;
        } else if ack > probe.end {
            // The probe has repaired a loss, which must be answered.
            self.begin_reduction();
            self.state = State::Cwr;
            self.end_reduction();
            self.keep_open();
        } else if !(outcome.advanced || not_duplicate || outcome.sacked) {
            self.probe = None;
        }
    }

    /// Information about the flow for a control.
    pub(super) fn flow(&self, now: Time) -> Flow {
        Flow {
            now,
            mss: self.mss,
            delivered: self.rate.delivered(),
            delivered_at: self.rate.delivered_at(),
            lost: self.scoreboard.lost_total(),
            in_flight: self.scoreboard.in_flight(),
            srtt: self.rtt.measured(),
            state: self.state,
            next_departure: self.pacing.next(),
            app_limited: self.rate.is_app_limited(),
        }
    }

    /// A control that sets its rate, and with it the window, by each acknowledgement.
    #[inline(never)]
    fn control_rate(&mut self, now: Time, outcome: &AckOutcome, before: FlightSnapshot) {
        let sample = RateSample {
            rtt: outcome.rtt,
            lost: (self.scoreboard.lost_total() - before.lost) as u32,
            prior_in_flight: before.in_flight,
            ack_delayed: outcome.delayed,
            ..RateSample::default()
        };
        let sample = self.rate.sample(now, &outcome.delivery, self.rtt.min(), sample);
        let flow = self.flow(now);
        let verdict = self.control.on_rate(&mut self.window, &flow, &sample);
        if verdict.unwrap_or_default().ignore_flight {
            self.rate.limit(self.scoreboard.in_flight());
        }
        if let Some(rate) = self.control.pacing_rate() {
            self.pacing.set_rate(rate);
        }
    }

    /// The telemetry of a data segment was returned.
    #[cold]
    pub(crate) fn on_telemetry(&mut self, telemetry: &Telemetry) {
        let (una, next) = (self.scoreboard.una(), self.scoreboard.next());
        let seen = Measured { telemetry: *telemetry, una, next };
        self.control.on_telemetry(&mut self.window, &seen);
        if let Some(rate) = self.control.pacing_rate() {
            self.pacing.set_rate(rate);
        }
    }

    fn control_window(&mut self, now: Time, outcome: &AckOutcome, before: FlightSnapshot) {
        let spread = self.state != State::Cwr || !self.control.reduces_at_once();
        if self.state.is_reducing() && spread {
            let progress = Progress {
                delivered: outcome.delivery.delivered,
                lost: (self.scoreboard.lost_total() - before.lost) as u32,
                advanced: outcome.advanced,
                in_flight: self.scoreboard.in_flight(),
                ssthresh: self.window.ssthresh,
            };
            if let Some(cwnd) = self.reduction.on_ack(&progress) {
                self.window.cwnd = cwnd;
            }
        } else if outcome.acked > 0 || (self.rack.is_reordered() && outcome.sacked) {
            // Where marks are counted, marked segments do not grow the window.
            self.grow(now, outcome.delivery.delivered.saturating_sub(outcome.marked));
        }
        self.follow_window();
    }

    /// Passes arrived segments to the control.
    #[inline(always)]
    pub(super) fn grow(&mut self, now: Time, acked: u32) {
        let window_limited = self.usage.is_limited(&self.window);
        self.control.on_ack(&mut self.window, &Ack { now, acked, window_limited });
        self.usage.touched(now);
    }

    /// The rate is what the window makes it.
    #[inline(always)]
    pub(super) fn follow_window(&mut self) {
        let outstanding = self.scoreboard.outstanding();
        self.pacing.follow(&self.window, outstanding, self.mss, self.rtt.srtt());
    }
}

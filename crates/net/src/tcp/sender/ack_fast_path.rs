//! Acknowledgement fast path, in analogy to header prediction.
//!
//! Nearly all acknowledgements carry neither SACK ranges nor marks, and cover whole segments that
//! were sent once. They also find a sender whose window is not being reduced. The path computes the
//! same result as `acknowledge.rs`, which is the reference and handles all other cases.

use super::rate::AckDelivery;
use super::recovery::Retransmit;
use super::{Acknowledgement, Sender};
use crate::tcp::congestion::{EcnFeedback, State};
use crate::tcp::timestamp_clock::Echo;
use sojourn_packet::Time;

impl Sender {
    /// An acknowledgement without ranges and marks arrived.
    #[inline(never)]
    pub(crate) fn on_plain_ack(
        &mut self,
        now: Time,
        (ack, window): (u64, u64),
        echo: Option<Echo>,
        carries_data: bool,
    ) {
        if ack > self.scoreboard.next() {
            return;
        }
        let run = if self.is_calm() { self.scoreboard.plain_run(ack) } else { None };
        let Some(run) = run.filter(|run| !run.goes_on) else {
            let plain =
                Acknowledgement { ack, window, echo, carries_data, ..Acknowledgement::PLAIN };
            self.on_ack(now, &plain);
            return;
        };
        let since = |at: Time| now.saturating_sub(at);
        let (segments, round_trips) = (run.segments, (since(run.first.at), since(run.last.at)));
        let mut gathered = AckDelivery::default();
        self.rate.arrived_with(segments, run.last, &mut gathered);
        self.rack.arrived(now, run.last, self.rtt.min());
        let old_una = self.scoreboard.una();
        self.read_window(ack, window);
        self.retransmit = Retransmit::Nothing;
        self.timeouts_in_row = 0;
        self.buffer.acknowledged(ack);
        self.scoreboard.take(segments);
        self.scoreboard.advance(ack);
        let delayed = segments == 1 && self.is_runt(old_una, &gathered);
        self.take_rtt(now, round_trips, delayed);
        self.rack.adapt(gathered.prior_delivered(), self.rate.delivered());
        self.set_timer(now);
        self.rate.settle(now, &gathered);
        self.grow(now, segments);
        self.follow_window();
    }

    /// True if nothing is lost, out of order or being probed for, and a window is what holds back.
    #[inline(always)]
    fn is_calm(&self) -> bool {
        self.state == State::Open
            && self.probe.is_none()
            && self.scoreboard.is_in_order()
            && self.ecn_feedback == EcnFeedback::Classic
            && !self.pacing.is_by_control()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{CongestionControlName, PacingSetting, SegmentationOffload};
    use crate::tcp::sender::{Outgoing, SenderSettings};
    use proptest::prelude::*;

    const MSS: u64 = 1000;
    const WINDOW: u64 = 1 << 20;

    /// One that always has something to send.
    fn sender() -> Sender {
        let mut sender = Sender::new(&SenderSettings {
            now: Time::ZERO,
            mss: MSS as u32,
            control: CongestionControlName::default(),
            initial_window: 10,
            min_rto: Time::from_millis(200),
            hz: crate::tcp::Hz::default(),
            base_rtt: None,
            rtt: Some(Time::from_millis(20)),
            peer_window: WINDOW,
            sack: true,
            offload: SegmentationOffload::Off,
            pacing: PacingSetting::Control,
            seed: 0,
        });
        sender.set_written(u64::MAX);
        sender
    }

    fn poll(sender: &mut Sender, now: Time) -> Vec<Outgoing> {
        sender.on_timer(now);
        std::iter::from_fn(|| sender.poll_transmit(now)).collect()
    }

    #[derive(Clone, Copy, Debug)]
    enum Step {
        /// So many segments more are acknowledged.
        Segments(u64),
        /// A segment is acknowledged in part.
        Part,
        /// The segments from so many behind the oldest on have arrived out of order.
        OutOfOrder(u64, u64),
        Nothing,
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            12 => (0u64..5).prop_map(Step::Segments),
            1 => Just(Step::Part),
            2 => (1u64..6, 1u64..4).prop_map(|(from, len)| Step::OutOfOrder(from, len)),
            1 => Just(Step::Nothing),
        ]
    }

    proptest! {
        #[test]
        fn a_predicted_acknowledgement_does_what_any_does(
            steps in proptest::collection::vec((step(), 1u64..300), 1..120)
        ) {
            let (mut predicted, mut any) = (sender(), sender());
            let mut now = Time::ZERO;
            for (step, tenths) in steps {
                now += Time::from_micros(100 * tenths);
                let (una, next) = (any.scoreboard.una(), any.scoreboard.next());
                let behind = |segments: u64| (una + segments * MSS).min(next);
                let info = Acknowledgement { window: WINDOW, ..Acknowledgement::PLAIN };
                let ack = match step {
                    Step::Segments(segments) => Some(behind(segments)),
                    Step::Part => Some((una + MSS / 2).min(next)),
                    Step::OutOfOrder(from, len) => {
                        let sack = [(behind(from), behind(from + len))];
                        let info = Acknowledgement { ack: una, sack: &sack, ..info };
                        predicted.on_ack(now, &info);
                        any.on_ack(now, &info);
                        None
                    }
                    Step::Nothing => None,
                };
                if let Some(ack) = ack {
                    predicted.on_plain_ack(now, (ack, WINDOW), None, false);
                    any.on_ack(now, &Acknowledgement { ack, ..info });
                }
                prop_assert_eq!(format!("{:?}", predicted), format!("{:?}", any));
                prop_assert_eq!(poll(&mut predicted, now), poll(&mut any, now));
            }
        }
    }
}

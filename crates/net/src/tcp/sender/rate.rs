//! Delivery rate estimator: one sample per acknowledgement (Linux's `tcp_rate.c`;
//! draft-cheng-iccrg-delivery-rate-estimation).
//!
//! Each segment records the amount delivered when it was sent. The rate is the amount delivered
//! since then, divided by the longer of the send interval and the acknowledgement interval. It
//! depends on segments, not on congestion controls.

use super::scoreboard::Sent;
use crate::tcp::congestion::RateSample;
use sojourn_packet::Time;

/// State of delivery at a segment's transmission.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Snapshot {
    /// Twice the segments delivered, one more if the application limited the rate: a segment is to fit a
    /// line of the processor's cache.
    delivered: u64,
    /// Time of the last delivery.
    delivered_at: Time,
    /// Send time of the segment whose delivery was the last known.
    first_sent: Time,
}

impl Snapshot {
    fn delivered(&self) -> u64 {
        self.delivered >> 1
    }

    fn is_app_limited(&self) -> bool {
        self.delivered & 1 == 1
    }
}

/// The deliveries that one acknowledgement reports.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct AckDelivery {
    /// Of the newest segment delivered.
    newest: Option<NewestDelivery>,
    /// Segments delivered.
    pub(crate) delivered: u32,
}

/// The newest segment that an acknowledgement delivers.
#[derive(Clone, Copy, Debug)]
struct NewestDelivery {
    snapshot: Snapshot,
    transmission: u64,
    /// From the first to the last transmission that it covers.
    sending: Time,
}

impl AckDelivery {
    /// Segments delivered when the newest segment was sent; 0 if there were none.
    pub(crate) fn prior_delivered(&self) -> u64 {
        self.newest.map_or(0, |newest| newest.snapshot.delivered())
    }
}

/// The flow's deliveries.
#[derive(Clone, Debug)]
pub(crate) struct DeliveryRate {
    delivered: u64,
    delivered_at: Time,
    first_sent: Time,
    /// Until so many segments are delivered, the application limits the rate.
    app_limited: Option<u64>,
}

impl DeliveryRate {
    /// Nothing delivered but the SYN.
    pub(crate) fn new() -> DeliveryRate {
        DeliveryRate {
            delivered: 1,
            delivered_at: Time::ZERO,
            first_sent: Time::ZERO,
            app_limited: None,
        }
    }

    pub(crate) fn delivered(&self) -> u64 {
        self.delivered
    }

    pub(crate) fn delivered_at(&self) -> Time {
        self.delivered_at
    }

    pub(crate) fn is_app_limited(&self) -> bool {
        self.app_limited.is_some()
    }

    /// Snapshot for a segment sent now; `idle` if nothing is outstanding.
    pub(crate) fn sent(&mut self, now: Time, idle: bool) -> Snapshot {
        if idle {
            self.first_sent = now;
            self.delivered_at = now;
        }
        Snapshot {
            delivered: self.delivered << 1 | u64::from(self.app_limited.is_some()),
            delivered_at: self.delivered_at,
            first_sent: self.first_sent,
        }
    }

    /// A segment has arrived.
    pub(crate) fn arrived(&mut self, sent: &Sent, delivery: &mut AckDelivery) {
        self.arrived_with(1, sent, delivery);
    }

    /// So many segments have arrived, of which `sent` was the last to be sent.
    #[inline(always)]
    pub(crate) fn arrived_with(&mut self, segments: u32, sent: &Sent, delivery: &mut AckDelivery) {
        self.delivered += u64::from(segments);
        delivery.delivered += segments;
        let newer = delivery.newest.is_none_or(|newest| sent.transmission > newest.transmission);
        if newer {
            self.first_sent = sent.at;
            delivery.newest = Some(NewestDelivery {
                snapshot: sent.snapshot,
                transmission: sent.transmission,
                sending: sent.at.saturating_sub(sent.snapshot.first_sent),
            });
        }
    }

    /// The receiver has got `segments` that it had already.
    pub(crate) fn arrived_again(&mut self, segments: u32, delivery: &mut AckDelivery) {
        self.delivered += u64::from(segments);
        delivery.delivered += segments;
    }

    /// An acknowledgement is read.
    #[inline(always)]
    pub(crate) fn settle(&mut self, now: Time, delivery: &AckDelivery) {
        if self.app_limited.is_some_and(|until| self.delivered > until) {
            self.app_limited = None;
        }
        if delivery.delivered > 0 {
            self.delivered_at = now;
        }
    }

    /// Delivery rate by an acknowledgement.
    pub(crate) fn sample(
        &self,
        now: Time,
        delivery: &AckDelivery,
        min_rtt: Time,
        sample: RateSample,
    ) -> RateSample {
        let rate = delivery.newest.and_then(|newest| {
            let acknowledging = now.saturating_sub(newest.snapshot.delivered_at);
            let interval = newest.sending.max(acknowledging);
            // Shorter than any round trip: a segment sent twice was delivered by its first
            // transmission.
            let plausible = interval >= min_rtt && interval > Time::ZERO;
            plausible.then(|| (self.delivered - newest.snapshot.delivered(), interval))
        });
        RateSample {
            prior_delivered: delivery.prior_delivered(),
            rate,
            acked: delivery.delivered,
            app_limited: delivery.newest.is_some_and(|newest| newest.snapshot.is_app_limited()),
            ..sample
        }
    }

    /// Whatever is in flight says nothing about the path: the application has paused, or a control
    /// holds the window down.
    pub(crate) fn limit(&mut self, in_flight: u32) {
        self.app_limited = Some(self.delivered + u64::from(in_flight));
    }
}

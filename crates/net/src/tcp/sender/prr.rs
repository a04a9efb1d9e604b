//! The window during a reduction: proportional rate reduction (RFC 6937) as Linux 6.1 has it, with
//! packet conservation where more was lost than the threshold asks for, and slow start back up to
//! the threshold as long as the recovery makes progress.

/// One reduction, in segments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reduction {
    /// The window when it began.
    prior: u32,
    /// prr_delivered and prr_out: delivered and sent since.
    delivered: u32,
    out: u32,
}

/// Contents of an acknowledgement in a reduction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Progress {
    pub(crate) delivered: u32,
    /// Found lost by it.
    pub(crate) lost: u32,
    /// It acknowledges what was oldest.
    pub(crate) advanced: bool,
    pub(crate) in_flight: u32,
    pub(crate) ssthresh: u32,
}

impl Reduction {
    pub(crate) fn new(cwnd: u32) -> Reduction {
        Reduction { prior: cwnd.max(1), delivered: 0, out: 0 }
    }

    /// The window before the reduction.
    pub(crate) fn prior(&self) -> u32 {
        self.prior
    }

    /// The window after an acknowledgement; unchanged if nothing was delivered.
    pub(crate) fn on_ack(&mut self, progress: &Progress) -> Option<u32> {
        if progress.delivered == 0 {
            return None;
        }
        self.delivered += progress.delivered;
        let sent_less = self.delivered.saturating_sub(self.out);
        let mut allowance = if progress.in_flight > progress.ssthresh {
            let share = u64::from(self.delivered) * u64::from(progress.ssthresh);
            (share.div_ceil(u64::from(self.prior)) as u32).saturating_sub(self.out)
        } else {
            let growing = progress.advanced && progress.lost == 0;
            let bound = sent_less.max(progress.delivered) + u32::from(growing);
            bound.min(progress.ssthresh - progress.in_flight)
        };
        if self.out == 0 {
            // The first retransmission is always sent.
            allowance = allowance.max(1);
        }
        Some(progress.in_flight + allowance)
    }

    pub(crate) fn on_sent(&mut self) {
        self.out += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An acknowledgement that delivers `delivered`; what the window allows is sent.
    fn step(reduction: &mut Reduction, flight: &mut u32, progress: Progress) -> u32 {
        *flight -= progress.delivered;
        let progress = Progress { in_flight: *flight, ..progress };
        let window = reduction.on_ack(&progress).expect("something was delivered");
        let sent = window.saturating_sub(*flight);
        (0..sent).for_each(|_| reduction.on_sent());
        *flight += sent;
        sent
    }

    const ONE: Progress =
        Progress { delivered: 1, lost: 0, advanced: false, in_flight: 0, ssthresh: 10 };

    #[test]
    fn half_a_window_is_sent_during_the_recovery_one_segment_every_other_acknowledgement() {
        // 20 segments outstanding, the first lost, threshold 10: RFC 6937's proportional part.
        let mut reduction = Reduction::new(20);
        let mut flight = 19;
        let mut sent = vec![step(&mut reduction, &mut flight, Progress { delivered: 3, ..ONE })];
        (0..16).for_each(|_| sent.push(step(&mut reduction, &mut flight, ONE)));
        assert_eq!(sent.iter().sum::<u32>(), 10);
        assert!(sent.iter().all(|n| *n <= 2), "{sent:?}");
        assert_eq!(flight, 10);
    }

    #[test]
    fn a_begun_segment_of_the_share_is_sent_at_once() {
        // RFC 6937 section 3, sndcnt = CEIL(prr_delivered * ssthresh / RecoverFS) - prr_out: of a
        // window of 20 with CUBIC's threshold, seven segments go for ten that were delivered. The
        // shares are 0.7, 1.4, 2.1, 2.8, 3.5, 4.2, 4.9, 5.6, 6.3 and 7.
        let mut reduction = Reduction::new(20);
        let mut flight = 200;
        let cubic = Progress { ssthresh: 14, ..ONE };
        let sent: Vec<u32> = (0..10).map(|_| step(&mut reduction, &mut flight, cubic)).collect();
        assert_eq!(sent, [1, 1, 1, 0, 1, 1, 0, 1, 1, 0]);
        // A whole share is not exceeded: rounding up is not one more.
        assert_eq!(reduction.out, 7);
    }

    #[test]
    fn after_heavy_losses_as_much_is_sent_as_is_delivered_and_one_more_when_it_advances() {
        let mut reduction = Reduction::new(20);
        let mut flight = 5;
        assert_eq!(step(&mut reduction, &mut flight, Progress { delivered: 3, lost: 9, ..ONE }), 3);
        assert_eq!(step(&mut reduction, &mut flight, ONE), 1);
        assert_eq!(step(&mut reduction, &mut flight, Progress { advanced: true, ..ONE }), 2);
        let lost_more = Progress { advanced: true, lost: 1, ..ONE };
        assert_eq!(step(&mut reduction, &mut flight, lost_more), 1);
    }

    #[test]
    fn the_first_retransmission_is_sent_even_if_the_share_is_nothing() {
        let mut reduction = Reduction::new(100);
        let mut flight = 90;
        assert_eq!(step(&mut reduction, &mut flight, Progress { ssthresh: 0, ..ONE }), 1);
    }
}

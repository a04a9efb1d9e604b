//! The window during a recovery: proportional rate reduction (RFC 6937), with its slow-start
//! reduction bound.

/// Why the window is being reduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    /// Segments are lost (fast recovery).
    Loss,
    /// A congestion mark came back (RFC 3168 section 6.1.2).
    Mark,
}

/// One recovery, from the loss or mark to the acknowledgement of what was outstanding then.
#[derive(Clone, Debug)]
pub(crate) struct Recovery {
    cause: Cause,
    /// SND.NXT when it began.
    end: u64,
    ssthresh: u64,
    /// RecoverFS: bytes outstanding when it began.
    flight: u64,
    /// prr_delivered: bytes delivered since.
    delivered: u64,
    /// prr_out: bytes sent since.
    out: u64,
    window: u64,
}

impl Recovery {
    pub(crate) fn new(cause: Cause, end: u64, ssthresh: u64, flight: u64) -> Recovery {
        let flight = flight.max(1);
        Recovery { cause, end, ssthresh, flight, delivered: 0, out: 0, window: 0 }
    }

    /// True if an acknowledgement up to `una` ends it. After a mark something sent behind it must
    /// have arrived, so that the receiver has seen CWR and stopped to echo the mark.
    pub(crate) fn ends_at(&self, una: u64) -> bool {
        match self.cause {
            Cause::Loss => una >= self.end,
            Cause::Mark => una > self.end,
        }
    }

    /// A loss was found in a reduction for a mark: it becomes a loss recovery without a second
    /// reduction.
    pub(crate) fn found_loss(&mut self, next: u64) {
        if self.cause == Cause::Mark {
            self.cause = Cause::Loss;
            self.end = next;
        }
    }

    /// An acknowledgement delivered `delivered` bytes and left `pipe` in flight (RFC 6937
    /// section 3).
    pub(crate) fn on_ack(&mut self, delivered: u64, pipe: u64, mss: u32) {
        self.delivered += delivered;
        let mut allowance = if pipe > self.ssthresh {
            let share = u128::from(self.delivered) * u128::from(self.ssthresh);
            (share.div_ceil(u128::from(self.flight)) as u64).saturating_sub(self.out)
        } else {
            let bound = self.delivered.saturating_sub(self.out).max(delivered) + u64::from(mss);
            bound.min(self.ssthresh - pipe)
        };
        if self.out == 0 {
            // The first retransmission is always sent.
            allowance = allowance.max(u64::from(mss));
        }
        self.window = pipe + allowance;
    }

    pub(crate) fn on_sent(&mut self, bytes: u64) {
        self.out += bytes;
    }

    /// The window in bytes.
    pub(crate) fn window(&self) -> u64 {
        self.window
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u32 = 1000;

    /// Sends what the window allows and returns how many segments that was.
    fn send(recovery: &mut Recovery, pipe: &mut u64) -> u64 {
        let mut sent = 0;
        while *pipe + 1000 <= recovery.window() {
            *pipe += 1000;
            recovery.on_sent(1000);
            sent += 1;
        }
        sent
    }

    #[test]
    fn half_a_window_is_sent_during_the_recovery_one_segment_every_other_acknowledgement() {
        // 20 segments outstanding, the first lost, threshold 10: RFC 6937's proportional part.
        let mut recovery = Recovery::new(Cause::Loss, 20_000, 10_000, 20_000);
        let mut pipe = 16_000;
        recovery.on_ack(3_000, pipe, MSS);
        let mut sent = vec![send(&mut recovery, &mut pipe)];
        for _ in 0..16 {
            pipe -= 1000;
            recovery.on_ack(1_000, pipe, MSS);
            sent.push(send(&mut recovery, &mut pipe));
        }
        assert_eq!(sent.iter().sum::<u64>(), 10);
        assert!(sent.iter().all(|n| *n <= 1 || *n == sent[0]), "{sent:?}");
        assert_eq!(pipe, 10_000);
    }

    #[test]
    fn after_heavy_losses_the_window_grows_back_to_the_threshold_as_in_slow_start() {
        let mut recovery = Recovery::new(Cause::Loss, 20_000, 10_000, 20_000);
        let mut pipe = 2_000;
        recovery.on_ack(3_000, pipe, MSS);
        assert_eq!(send(&mut recovery, &mut pipe), 4, "what was delivered and one more");
        pipe -= 1000;
        recovery.on_ack(1_000, pipe, MSS);
        assert_eq!(send(&mut recovery, &mut pipe), 2);
    }

    #[test]
    fn a_mark_is_answered_until_something_sent_behind_it_has_arrived() {
        let recovery = Recovery::new(Cause::Mark, 20_000, 10_000, 20_000);
        assert!(!recovery.ends_at(20_000));
        assert!(recovery.ends_at(21_000));
    }
}

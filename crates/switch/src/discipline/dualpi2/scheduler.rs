//! Scheduler between the L4S and the Classic queue of DualPI2, RFC 9332 section 4.2.2.
//!
//! Strict priority is ruled out there: L4S overload would starve Classic traffic. The two that remain differ in
//! what Classic is guaranteed: a latest time, or a share of the link. The scheduler must not know why a packet is
//! signalled.

use sojourn_packet::{Bytes, Time};

/// One million: the whole link.
const WHOLE_PPM: i64 = 1_000_000;

/// Scheduler of a queue, as configured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheduler {
    /// Time-shifted FIFO: the L4S head is served as if it had arrived this much earlier.
    TimeShifted(Time),
    /// Weighted round robin with this share of the link, in millionths, for Classic while both queues hold packets.
    Weighted(u64),
}

/// Queue that is served next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// L4S.
    L4s,
    /// Classic.
    Classic,
}

/// Credit of Classic in the weighted round robin, in bytes times [`WHOLE_PPM`]. Classic is served while it is
/// positive. Linux's `sch_dualpi2` keeps the same account with weights in percent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Credit(i64);

impl Credit {
    /// Credit of an idle queue: a full frame behind, so that L4S is first.
    pub fn idle(classic_ppm: u64, frame: Bytes) -> Credit {
        Credit(frame.0 as i64 * (2 * classic_ppm as i64 - WHOLE_PPM))
    }

    /// True if Classic is next although L4S waits.
    pub fn favours_classic(self) -> bool {
        self.0 > 0
    }

    /// Accounts for a packet that is sent while the other queue waits.
    pub fn charge(&mut self, classic_ppm: u64, turn: Turn, size: Bytes) {
        let classic = classic_ppm as i64;
        let weight = match turn {
            Turn::L4s => classic,
            Turn::Classic => classic - WHOLE_PPM,
        };
        self.0 += weight * size.0 as i64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRAME: Bytes = Bytes(1514);

    /// Classic's share of the bytes that are sent while both queues always wait.
    fn share(classic_ppm: u64, l4s_size: u64, classic_size: u64) -> f64 {
        let mut credit = Credit::idle(classic_ppm, FRAME);
        let (mut classic, mut all) = (0, 0);
        for _ in 0..200_000 {
            let (turn, size) = match credit.favours_classic() {
                true => (Turn::Classic, classic_size),
                false => (Turn::L4s, l4s_size),
            };
            credit.charge(classic_ppm, turn, Bytes(size));
            classic += if turn == Turn::Classic { size } else { 0 };
            all += size;
        }
        classic as f64 / all as f64
    }

    #[test]
    fn classic_gets_its_share_of_the_bytes_whatever_the_sizes_are() {
        for ppm in [62_500, 100_000, 500_000] {
            for (l4s, classic) in [(1514, 1514), (64, 1514), (1514, 64)] {
                let found = share(ppm, l4s, classic);
                assert!(
                    (found - ppm as f64 / 1e6).abs() < 1e-3,
                    "{ppm} ppm, {l4s}/{classic}: {found}"
                );
            }
        }
    }

    #[test]
    fn the_first_packet_after_idleness_is_an_l4s_one_below_a_half() {
        assert!(!Credit::idle(100_000, FRAME).favours_classic());
        assert!(!Credit::idle(500_000, FRAME).favours_classic());
    }
}

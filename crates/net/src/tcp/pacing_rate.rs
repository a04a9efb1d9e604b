//! Lazily computed pacing rate: every acknowledgement changes it, and few callers read it.

use sojourn_packet::Time;

/// A second, divided by the hundred of a per cent.
const PERCENT_OF_SECOND: u64 = 10_000_000;

/// Payload bytes per second.
///
/// ```
/// use sojourn_net::tcp::PacingRate;
/// use sojourn_packet::Time;
/// assert_eq!(PacingRate::new(125_000_000).bytes_per_second(), 125_000_000);
/// let of_window = PacingRate::default().following(10_000, 120, Time::from_millis(12));
/// assert_eq!(of_window.bytes_per_second(), 1_000_000);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacingRate {
    /// Hundredths of bytes, and the time that they take in ns, which is not zero.
    amount: u64,
    span: u64,
    /// The most that it may be.
    limit: u64,
}

impl Default for PacingRate {
    fn default() -> PacingRate {
        PacingRate::new(0)
    }
}

impl PacingRate {
    /// A rate that is known.
    pub fn new(rate: u64) -> PacingRate {
        PacingRate { amount: rate, span: PERCENT_OF_SECOND, limit: u64::MAX }
    }

    /// The same, but not above that.
    #[must_use]
    pub fn limited(self, limit: Option<u64>) -> PacingRate {
        PacingRate { limit: limit.unwrap_or(u64::MAX), ..self }
    }

    /// So many per cent of `bytes` in a round-trip time, with the limit that there is.
    #[inline(always)]
    #[must_use]
    pub fn following(self, bytes: u64, percent: u64, srtt: Time) -> PacingRate {
        PacingRate { amount: bytes.saturating_mul(percent), span: srtt.0.max(1), ..self }
    }

    /// Another rate, with the limit that there is.
    #[must_use]
    pub fn set(self, rate: u64) -> PacingRate {
        PacingRate { limit: self.limit, ..PacingRate::new(rate) }
    }

    /// The rate.
    pub fn bytes_per_second(self) -> u64 {
        let rate = match self.amount.checked_mul(PERCENT_OF_SECOND) {
            Some(amount) => amount / self.span,
            None => {
                let amount = u128::from(self.amount) * u128::from(PERCENT_OF_SECOND);
                u64::try_from(amount / u128::from(self.span)).unwrap_or(u64::MAX)
            }
        };
        rate.min(self.limit)
    }
}

//! Configuration of a link that loses, delays, reorders and duplicates frames at random, in the
//! terms of Linux's `netem`.
//!
//! The types are plain data with their checks. The algorithm is `crate::link_netem`. This file must
//! not depend on the simulation.

use super::ConfigError;
use super::validate::{invalid, within};
use serde::{Deserialize, Serialize};

/// A probability of one, in the unit of all probabilities here: parts in 10^9.
pub const CERTAIN: u32 = 1_000_000_000;
/// The longest jitter of a link, 100 s.
const LONGEST_JITTER: u64 = 100_000_000_000;
/// The largest distance of two reordered frames.
const MOST_GAP: u32 = 1_000_000;

/// Random loss, jitter, reordering and duplication of one direction of a link. Probabilities and
/// correlations are parts in 10^9.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkNetem {
    /// The probability that a frame is lost.
    #[serde(default)]
    pub loss: u32,
    /// The weight of the previous random number in the next one, as netem has it.
    #[serde(default)]
    pub loss_correlation: u32,
    /// The probability that a frame arrives twice.
    #[serde(default)]
    pub duplicate: u32,
    /// As `loss_correlation`.
    #[serde(default)]
    pub duplicate_correlation: u32,
    /// The probability that a frame at the end of a gap takes no delay and overtakes others.
    #[serde(default)]
    pub reorder: u32,
    /// As `loss_correlation`.
    #[serde(default)]
    pub reorder_correlation: u32,
    /// A frame is reordered at the earliest this many frames after the last one; from 1.
    #[serde(default = "one")]
    pub gap: u32,
    /// The spread of the delay in ns: half the width of a uniform distribution, or the standard
    /// deviation of a normal one.
    #[serde(default)]
    pub jitter: u64,
    /// As `loss_correlation`.
    #[serde(default)]
    pub jitter_correlation: u32,
    /// The distribution of the delay around its mean.
    #[serde(default)]
    pub distribution: DelayDistribution,
}

/// The distribution of a delay around its mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DelayDistribution {
    /// Each delay in mean ± jitter is as likely.
    #[default]
    Uniform,
    /// Normal, with `jitter` as its standard deviation, cut off at 3.7 of them.
    Normal,
}

impl Default for LinkNetem {
    /// Nothing happens to any frame.
    fn default() -> Self {
        LinkNetem {
            loss: 0,
            loss_correlation: 0,
            duplicate: 0,
            duplicate_correlation: 0,
            reorder: 0,
            reorder_correlation: 0,
            gap: one(),
            jitter: 0,
            jitter_correlation: 0,
            distribution: DelayDistribution::Uniform,
        }
    }
}

impl LinkNetem {
    /// True if a frame can overtake another one.
    pub fn reorders(&self) -> bool {
        self.reorder > 0 || self.jitter > 0
    }

    /// True if it does nothing to any frame.
    pub fn is_idle(&self) -> bool {
        self.loss == 0 && self.duplicate == 0 && !self.reorders()
    }

    /// Checks the ranges. `delayed` is true if the direction ever has a delay; reordering needs one.
    ///
    /// # Errors
    /// A value is not allowed; the message begins with `key`.
    pub(super) fn check(&self, key: &str, delayed: bool) -> Result<(), ConfigError> {
        let key = |name: &str| format!("{key}.{name}");
        let shares = [
            ("loss", self.loss),
            ("loss_correlation", self.loss_correlation),
            ("duplicate", self.duplicate),
            ("duplicate_correlation", self.duplicate_correlation),
            ("reorder", self.reorder),
            ("reorder_correlation", self.reorder_correlation),
            ("jitter_correlation", self.jitter_correlation),
        ];
        for (name, share) in shares {
            within(&key(name), share.into(), 0..=CERTAIN.into())?;
        }
        within(&key("gap"), self.gap.into(), 1..=MOST_GAP.into())?;
        within(&key("jitter"), self.jitter, 0..=LONGEST_JITTER)?;
        if self.reorder > 0 && !delayed {
            let allowed = "reordering needs a delay of this direction of the link, which reordered \
                           packets do not take";
            return Err(invalid(&key("reorder"), "given", allowed));
        }
        Ok(())
    }
}

fn one() -> u32 {
    1
}

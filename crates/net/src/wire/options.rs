//! TCP options: MSS, window scale, SACK permitted, SACK blocks, timestamps, accurate ECN.
//!
//! Laid out as Linux lays them out, so that captures look familiar (RFC 9293 section 3.2,
//! RFC 2018, RFC 7323, RFC 9768). Unknown options are stepped over; a broken list is refused.

use super::error::WireError;

const END: u8 = 0;
pub(super) const NOP: u8 = 1;
const MSS: u8 = 2;
const WINDOW_SCALE: u8 = 3;
const SACK_PERMITTED: u8 = 4;
const SACK: u8 = 5;
pub(super) const TIMESTAMPS: u8 = 8;
const ACCECN0: u8 = 172;
const ACCECN1: u8 = 174;
/// All options of a segment together (RFC 9293 section 3.1).
const MOST: usize = 40;

/// The options of one segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpOptions {
    /// Maximum segment size; only with SYN.
    pub mss: Option<u16>,
    /// Shift of the window field; only with SYN (RFC 7323 section 2).
    pub window_scale: Option<u8>,
    /// The sender of this SYN understands SACK (RFC 2018 section 2).
    pub sack_permitted: bool,
    /// TSval and TSecr (RFC 7323 section 3).
    pub timestamps: Option<Timestamps>,
    /// Blocks received above the acknowledgement (RFC 2018 section 3).
    pub sack: SackBlocks,
    /// Bytes that arrived, by codepoint (RFC 9768 section 3.2.3).
    pub acc_ecn: Option<AccEcn>,
}

/// The AccECN option: counters of payload bytes by the codepoint that they arrived under, modulo 2^24. One
/// that the option leaves out is `None`; what is written has CE and ECT(1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AccEcn {
    /// EE0B.
    pub ect0: Option<u32>,
    /// ECEB.
    pub ce: Option<u32>,
    /// EE1B.
    pub ect1: Option<u32>,
}

impl AccEcn {
    /// The bits of a counter.
    pub const MASK: u32 = (1 << 24) - 1;

    /// Bytes that it takes, padding included.
    pub fn len(&self) -> usize {
        if self.ect0.is_some() { 12 } else { 8 }
    }

    /// True if it has no counter.
    pub fn is_empty(&self) -> bool {
        *self == AccEcn::default()
    }

    /// In the order that has ECT(1) first.
    fn write(&self, mut put: impl FnMut(&[u8])) {
        let counters = [self.ect1, self.ce, self.ect0];
        if self.ect0.is_some() {
            put(&[NOP]);
        }
        let count = if self.ect0.is_some() { 3 } else { 2 };
        put(&[ACCECN1, 2 + 3 * count as u8]);
        for counter in &counters[..count] {
            put(&counter.unwrap_or_default().to_be_bytes()[1..]);
        }
    }

    fn read(kind: u8, body: &[u8]) -> AccEcn {
        let mut fields = body.chunks_exact(3).map(|b| u32::from_be_bytes([0, b[0], b[1], b[2]]));
        let (first, ce, last) = (fields.next(), fields.next(), fields.next());
        let (ect0, ect1) = if kind == ACCECN0 { (first, last) } else { (last, first) };
        AccEcn { ect0, ce, ect1 }
    }
}

/// The timestamps option.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timestamps {
    /// TSval: the sender's clock.
    pub value: u32,
    /// TSecr: the peer's clock, echoed; meaningless without ACK.
    pub echo: u32,
}

/// At most four blocks of sequence numbers, `[left, right)`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackBlocks {
    blocks: [(u32, u32); 4],
    len: u8,
}

impl SackBlocks {
    /// Number of blocks that fit together with the timestamps option.
    pub const BESIDE_TIMESTAMPS: usize = 3;

    /// Appends a block; ignored if there are four already.
    pub fn push(&mut self, left: u32, right: u32) {
        if let Some(slot) = self.blocks.get_mut(usize::from(self.len)) {
            *slot = (left, right);
            self.len += 1;
        }
    }

    /// True if there is none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The blocks in the order of the option.
    pub fn as_slice(&self) -> &[(u32, u32)] {
        &self.blocks[..usize::from(self.len)]
    }
}

impl TcpOptions {
    /// Bytes that the options take, padding included.
    pub fn len(&self) -> usize {
        let sack = match self.sack.len {
            0 => 0,
            n => 4 + 8 * usize::from(n),
        };
        let timestamps = if self.timestamps.is_some() { 12 } else { 0 };
        // SACK permitted takes the place of the two NOPs in front of the timestamps.
        let permitted = if self.sack_permitted && self.timestamps.is_none() { 4 } else { 0 };
        4 * usize::from(self.mss.is_some())
            + permitted
            + timestamps
            + 4 * usize::from(self.window_scale.is_some())
            + sack
            + self.acc_ecn.map_or(0, |counters| counters.len())
    }

    /// The timestamps, if there is nothing else.
    #[inline]
    pub(super) fn timestamps_alone(&self) -> Option<Timestamps> {
        // All at once, since hardly ever is there any.
        let others = self.mss.is_some()
            | self.window_scale.is_some()
            | self.sack_permitted
            | (self.sack.len > 0)
            | self.acc_ecn.is_some();
        self.timestamps.filter(|_| !others)
    }

    /// Bytes that are left for others.
    pub fn room(&self) -> usize {
        MOST.saturating_sub(self.len())
    }

    /// True if there is no option at all.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Writes the options to the front of `out`, which must have room for [`TcpOptions::len`] bytes.
    pub(super) fn write(&self, out: &mut [u8]) {
        let mut at = 0;
        let mut put = |bytes: &[u8]| {
            out[at..at + bytes.len()].copy_from_slice(bytes);
            at += bytes.len();
        };
        if let Some(mss) = self.mss {
            let [a, b] = mss.to_be_bytes();
            put(&[MSS, 4, a, b]);
        }
        if self.sack_permitted {
            put(&[SACK_PERMITTED, 2]);
        }
        if self.sack_permitted != self.timestamps.is_some() {
            put(&[NOP, NOP]);
        }
        if let Some(timestamps) = self.timestamps {
            let ([a, b, c, d], [e, f, g, h]) =
                (timestamps.value.to_be_bytes(), timestamps.echo.to_be_bytes());
            put(&[TIMESTAMPS, 10, a, b, c, d, e, f, g, h]);
        }
        if let Some(shift) = self.window_scale {
            put(&[NOP, WINDOW_SCALE, 3, shift]);
        }
        if self.sack.len > 0 {
            put(&[NOP, NOP, SACK, 2 + 8 * self.sack.len]);
            for (left, right) in self.sack.as_slice() {
                put(&left.to_be_bytes());
                put(&right.to_be_bytes());
            }
        }
        if let Some(counters) = self.acc_ecn {
            counters.write(put);
        }
    }

    pub(super) fn read(mut bytes: &[u8]) -> Result<TcpOptions, WireError> {
        let mut options = TcpOptions::default();
        loop {
            match bytes {
                [] | [END, ..] => return Ok(options),
                // As almost every segment has them (RFC 7323 appendix A).
                [NOP, NOP, TIMESTAMPS, 10, rest @ ..] if rest.len() >= 8 => {
                    let (value, echo) = (word(rest, 0), word(rest, 4));
                    options.timestamps = Some(Timestamps { value, echo });
                    bytes = &rest[8..];
                }
                [NOP, rest @ ..] => bytes = rest,
                [kind, len, ..] => {
                    let body = bytes.get(2..usize::from(*len)).ok_or(WireError::Options)?;
                    options.read_one(*kind, body)?;
                    bytes = &bytes[usize::from(*len)..];
                }
                [_] => return Err(WireError::Options),
            }
        }
    }

    fn read_one(&mut self, kind: u8, body: &[u8]) -> Result<(), WireError> {
        match (kind, body) {
            (MSS, [a, b]) => self.mss = Some(u16::from_be_bytes([*a, *b])),
            (WINDOW_SCALE, [shift]) => self.window_scale = Some(*shift),
            (SACK_PERMITTED, []) => self.sack_permitted = true,
            (TIMESTAMPS, body) if body.len() == 8 => {
                self.timestamps = Some(Timestamps { value: word(body, 0), echo: word(body, 4) });
            }
            (SACK, body) if body.len().is_multiple_of(8) && body.len() <= 32 => {
                for block in body.chunks_exact(8) {
                    self.sack.push(word(block, 0), word(block, 4));
                }
            }
            (ACCECN0 | ACCECN1, body) if body.len().is_multiple_of(3) && body.len() <= 9 => {
                self.acc_ecn = Some(AccEcn::read(kind, body));
            }
            (MSS | WINDOW_SCALE | SACK_PERMITTED | TIMESTAMPS | SACK | ACCECN0 | ACCECN1, _) => {
                return Err(WireError::Options);
            }
            _ => {}
        }
        Ok(())
    }
}

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

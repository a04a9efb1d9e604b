//! TCP options: MSS, window scale, SACK permitted, SACK blocks, timestamps.
//!
//! Laid out as Linux lays them out, so that captures look familiar (RFC 9293 section 3.2,
//! RFC 2018, RFC 7323). Unknown options are stepped over; a broken list is refused.

use super::error::WireError;

const END: u8 = 0;
const NOP: u8 = 1;
const MSS: u8 = 2;
const WINDOW_SCALE: u8 = 3;
const SACK_PERMITTED: u8 = 4;
const SACK: u8 = 5;
const TIMESTAMPS: u8 = 8;

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
    /// How many blocks fit beside the timestamps option.
    pub const BESIDE_TIMESTAMPS: usize = 3;

    /// Appends a block; ignored if there are four already.
    pub fn push(&mut self, left: u32, right: u32) {
        if let Some(slot) = self.blocks.get_mut(usize::from(self.len)) {
            *slot = (left, right);
            self.len += 1;
        }
    }

    /// The blocks in the order in which they stand in the option.
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
            (MSS | WINDOW_SCALE | SACK_PERMITTED | TIMESTAMPS | SACK, _) => {
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

//! A packet's way through the parser, the control and the deparser of a pass.
//!
//! Blocks that share one frame run as one chain of code, which returns after the packet is written.
//! Otherwise, and when a parser rejects or a packet is traced step by step, the blocks run one by
//! one. This module must not depend on the source or the destination of packets.

use super::gress::{Gress, Joined};
use super::runtime::Runtime;
use sojourn_p4::interp::{Frame, Halt, Interpreter, PacketIn, PacketOut, Parsed, Stopped, Tables};
use sojourn_p4::ir::Slot;
use sojourn_packet::Packet;
use std::sync::Arc;

/// Bits of `parser_err` for the errors of the language and of TNA.
#[derive(Clone, Debug)]
pub struct ParserErrors(Vec<u16>);

impl ParserErrors {
    /// Of the errors that a program declares.
    pub fn new(names: &[Arc<str>]) -> ParserErrors {
        let bit = |name: &Arc<str>| match &**name {
            "NoError" => 0,
            "NoMatch" => 0x0001,
            // A missing header is noticed when it is requested, and again when it is extracted.
            "PacketTooShort" | "HeaderTooShort" => 0x0022,
            "CounterRange" => 0x0004,
            "Timeout" => 0x0008,
            "ParserTimeout" => 0x0010,
            "StackOutOfBounds" | "IbufOverflow" | "IbufUnderflow" => 0x0020,
            "PhvOwner" => 0x0080,
            "MultiWrite" => 0x0100,
            _ => 0x0040,
        };
        ParserErrors(names.iter().map(bit).collect())
    }

    /// Bits of `parser_err` for an error.
    pub fn bits(&self, error: u32) -> u16 {
        self.0.get(error as usize).copied().unwrap_or(0)
    }
}

/// Context of a pass.
#[derive(Debug)]
pub struct Pass<'a> {
    /// Runs the blocks.
    pub interpreter: &'a Interpreter,
    /// Their tables.
    pub tables: &'a Tables,
    /// Runtime of their calls.
    pub runtime: &'a mut Runtime,
    /// Output of the deparser.
    pub written: &'a mut PacketOut,
    /// Bits of errors.
    pub errors: &'a ParserErrors,
    /// The chip's clock.
    pub tstamp: u64,
}

impl Pass<'_> {
    /// Runs a pass as one chain on a packet with the chip's words in front, up to the point at
    /// which its frame holds the control's decision; [`Pass::finish`] completes it. Returns the
    /// number of bits of the packet itself that the written headers replace.
    ///
    /// # Errors
    /// Returns the position at which it stopped, for [`Pass::rest`]; `None` if that is not
    /// possible, without an effect.
    #[inline(always)]
    pub fn run_at_once(
        &mut self,
        gress: &mut Gress,
        front: impl Fn(u8) -> u64,
        packet: &Packet,
    ) -> Result<u64, Option<Stopped>> {
        let Some((joined, frame)) = gress.joined_frame() else { return Err(None) };
        let Some((words, mut wanted)) = joined.chain.front else { return Err(None) };
        if self.runtime.trace.is_some() {
            return Err(None);
        }
        self.written.clear();
        frame.set(joined.chain.input, self.tstamp.into());
        while wanted != 0 {
            let word = wanted.trailing_zeros() as u8;
            frame.set(Slot(words.0 + u32::from(word)), front(word).into());
            wanted &= wanted - 1;
        }
        let out = joined.whole.then_some(&mut *self.written);
        let ends = (PacketIn::new(&packet.bytes, packet.zeros), out);
        let (chain, runtime) = (&joined.chain, &mut *self.runtime);
        self.interpreter.run_fronted(chain, frame, ends, self.tables, runtime)
    }

    /// Runs what was left of what runs at once; none if it has not begun, or has stopped in the parser.
    pub fn rest(
        &mut self,
        ran: Result<u64, Option<Stopped>>,
        gress: &mut Gress,
        packet: &Packet,
    ) -> Result<Option<u64>, Halt> {
        let stopped = match ran {
            Ok(consumed) => return Ok(Some(consumed)),
            Err(None) => return Ok(None),
            Err(Some(stopped)) => stopped,
        };
        let Some((joined, frame)) = gress.joined_frame() else { return Ok(None) };
        let out = joined.whole.then_some(&mut *self.written);
        let ends = (PacketIn::new(&packet.bytes, packet.zeros), out);
        let (chain, runtime) = (&joined.chain, &mut *self.runtime);
        self.interpreter
            .go_on_fronted(chain, stopped, frame, ends, self.tables, runtime)
            .transpose()
    }

    /// Runs the deparser, if it was not in what ran at once.
    #[inline(always)]
    pub fn finish(&mut self, gress: &mut Gress) -> Result<(), Halt> {
        if gress.is_whole() { Ok(()) } else { self.run_deparser(gress) }
    }

    /// Runs a pass on a packet with these bytes in front of it, and says the same; none if it is dropped at
    /// the parser.
    #[inline(never)]
    pub fn run_behind(
        &mut self,
        front: &mut Vec<u8>,
        gress: &mut Gress,
        packet: &Packet,
        answers: impl FnOnce(&Frame),
    ) -> Result<Option<u64>, Halt> {
        let length = front.len();
        front.extend_from_slice(&packet.bytes);
        let ran = self.run(gress, PacketIn::new(front, packet.zeros), answers)?;
        Ok(ran.map(|consumed| {
            let bytes = consumed.div_ceil(8) as usize;
            if let Some(left) = front.get(bytes..length) {
                self.written.cut();
                self.written.append_bytes(left);
            }
            8 * bytes.saturating_sub(length) as u64
        }))
    }

    /// Runs a pass on a packet with what the chip puts in front of it. Says how many bits were parsed, with
    /// `answers` having seen the frame behind the control; none if the packet is dropped at the parser.
    fn run(
        &mut self,
        gress: &mut Gress,
        packet: PacketIn<'_>,
        answers: impl FnOnce(&Frame),
    ) -> Result<Option<u64>, Halt> {
        self.written.clear();
        if let Some(joined) = gress.joined
            && self.runtime.trace.is_none()
        {
            let parsed = self.run_joined(&joined, gress, packet)?;
            if parsed.accepted {
                answers(gress.control_frame());
                if !joined.whole {
                    self.run_deparser(gress)?;
                }
                return Ok(Some(parsed.consumed));
            }
            return self.behind_parser(gress, parsed, answers);
        }
        gress.reset();
        let front = packet.bytes();
        let (unit, frame) = (gress.parser.unit, gress.parser_frame());
        let parsed =
            self.interpreter.run_parser(unit, frame, packet, self.tables, &mut *self.runtime)?;
        settle(gress, self.runtime, front, &parsed);
        self.behind_parser(gress, parsed, answers)
    }

    /// Runs what is joined of a pass.
    fn run_joined(
        &mut self,
        joined: &Joined,
        gress: &mut Gress,
        packet: PacketIn<'_>,
    ) -> Result<Parsed, Halt> {
        let (chain, frame) = (&joined.chain, gress.parser_frame());
        frame.set(chain.input, self.tstamp.into());
        let ends = (Some(packet), joined.whole.then_some(&mut *self.written));
        self.interpreter.run_chain(chain, frame, ends, self.tables, &mut *self.runtime)
    }

    /// Goes on, block by block.
    fn behind_parser(
        &mut self,
        gress: &mut Gress,
        parsed: Parsed,
        answers: impl FnOnce(&Frame),
    ) -> Result<Option<u64>, Halt> {
        let error = self.errors.bits(parsed.error);
        if !parsed.accepted && !gress.goes_on(error) {
            return Ok(None);
        }
        gress.parsed();
        gress.set_both(gress.fields.tstamp, self.tstamp.into());
        gress.set_both(gress.fields.parser_err, error.into());
        let (unit, frame) = (gress.control.unit, gress.control_frame());
        self.interpreter.run_control(unit, frame, None, self.tables, &mut *self.runtime)?;
        answers(gress.control_frame());
        self.run_deparser(gress)?;
        Ok(Some(parsed.consumed))
    }

    /// Runs the deparser behind the control.
    #[inline(always)]
    fn run_deparser(&mut self, gress: &mut Gress) -> Result<(), Halt> {
        self.runtime.pass.copies = gress.chosen_copies();
        gress.controlled();
        let (unit, frame) = (gress.deparser.unit, gress.deparser_frame());
        let out = Some(&mut *self.written);
        self.interpreter.run_control(unit, frame, out, self.tables, &mut *self.runtime)
    }
}

/// Stores residual checksums now that it is known what else the parser has extracted.
fn settle(gress: &mut Gress, runtime: &Runtime, front: &[u8], parsed: &Parsed) {
    for deposit in &runtime.pass.deposits {
        let range = (deposit.from / 8) as usize..(parsed.consumed / 8) as usize;
        let mut sum = deposit.sum.aligned();
        sum.subtract(front.get(range).unwrap_or_default());
        gress.parser_frame().set(deposit.slot, sum.sum().into());
    }
}

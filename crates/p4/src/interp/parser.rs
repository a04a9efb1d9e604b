//! Parsers: the state machine, extraction, and the errors of specification chapter 13.

use super::arith;
use super::context::{Context, Externs, Moment};
use super::exec::Flow;
use super::trap::Halt;
use super::{Parsed, tables};
use crate::ir::{Expr, Layout, Next, ParserBody, Pattern, SelectCase, Slot};
use crate::ir::{Stmt, StmtKind, Transition};
use num_bigint::BigUint;
use smallvec::SmallVec;

impl Context<'_> {
    /// Runs a parser from its start state.
    pub(super) fn parse<E: Externs + ?Sized>(
        &mut self,
        body: &ParserBody,
        externs: &mut E,
    ) -> Result<Parsed, Halt> {
        if let Flow::Reject(error) = self.run(&body.init, externs)? {
            return Ok(self.parsed(false, error));
        }
        let mut current = body.start;
        // An endless loop of a parser is the packet's fault, not the run's.
        while self.spend_step().is_ok() {
            let Some(state) = body.states.get(current.index()) else { break };
            externs.follow(Moment::State(state), self);
            if let Flow::Reject(error) = self.run(&state.body, externs)? {
                return Ok(self.parsed(false, error));
            }
            let next = self.transition(&state.transition);
            externs.follow(Moment::Goes(&state.transition, next), self);
            match next {
                Ok(Next::State(next)) => current = next,
                Ok(Next::Accept) => return Ok(self.parsed(true, self.errors.no_error)),
                Ok(Next::Reject) => return Ok(self.parsed(false, self.errors.no_error)),
                Err(error) => return Ok(self.parsed(false, error)),
            }
        }
        Ok(self.parsed(false, self.errors.parser_timeout))
    }

    pub(super) fn parsed(&self, accepted: bool, error: u32) -> Parsed {
        let consumed = self.packet.as_ref().map_or(0, super::PacketIn::position);
        Parsed { accepted, error, consumed }
    }

    fn transition(&mut self, transition: &Transition) -> Result<Next, u32> {
        match transition {
            Transition::Direct(next) => Ok(*next),
            Transition::Select { keys, cases, .. } => self.choose_wide(keys, cases),
        }
    }

    /// Next state of a select on keys of any width, or the error that ends the parser.
    pub(super) fn choose_wide(&mut self, keys: &[Expr], cases: &[SelectCase]) -> Result<Next, u32> {
        let next = self.select(keys, cases);
        match self.failed.take() {
            Some(error) => Err(error),
            None => next.ok_or(self.errors.no_match),
        }
    }

    fn select(&self, keys: &[Expr], cases: &[SelectCase]) -> Option<Next> {
        let values: Vec<BigUint> = keys.iter().map(|key| self.eval_wide(key)).collect();
        let matches = |case: &&SelectCase| {
            case.patterns.iter().enumerate().all(|(at, pattern)| match pattern {
                Pattern::Any => true,
                Pattern::Value(value) => *value == values[at],
                Pattern::Mask(value, mask) => (&values[at] & mask) == (value & mask),
                Pattern::Range(low, high) => {
                    let number = |pattern| arith::number(keys[at].scalar, pattern);
                    let value = number(&values[at]);
                    number(low) <= value && value <= number(high)
                }
                Pattern::ValueSet(id) => {
                    let mut limbs = SmallVec::<[u128; 8]>::new();
                    for (value, key) in values[at..].iter().zip(&keys[at..]) {
                        tables::push_limbs(value, key.scalar, &mut limbs);
                    }
                    self.tables.value_set(*id).is_some_and(|set| set.contains(&limbs))
                }
            })
        };
        cases.iter().find(matches).map(|case| case.next)
    }

    /// Executes statements that only parsers have.
    pub(super) fn parser_step(&mut self, stmt: &Stmt) -> Flow {
        match &stmt.kind {
            StmtKind::ExtractVar { header, bits } => self.extract_var(header, bits),
            StmtKind::ExtractNext { stack } => self.extract_next(stack),
            StmtKind::Skip { bits, .. } => self.skip((*bits).into()),
            StmtKind::Advance { bits } => {
                let bits = self.eval(bits);
                self.skip(u64::try_from(bits).unwrap_or(u64::MAX))
            }
            StmtKind::Verify { condition, error } => {
                let holds = self.eval(condition) != 0;
                let error = self.eval(error) as u32;
                match self.after_failure() {
                    Flow::Next if !holds => Flow::Reject(error),
                    flow => flow,
                }
            }
            StmtKind::CheckStack { next, count, last } => self.check_stack(*next, *count, *last),
            _ => Flow::Next,
        }
    }

    pub(super) fn skip(&mut self, bits: u64) -> Flow {
        if self.packet.as_mut().is_some_and(|packet| packet.advance(bits)) {
            Flow::Next
        } else {
            Flow::Reject(self.errors.packet_too_short)
        }
    }

    fn check_stack(&self, next: Slot, count: u32, last: bool) -> Flow {
        let next = self.frame.get(next);
        let exists =
            if last { (1..=u128::from(count)).contains(&next) } else { next < u128::from(count) };
        if exists { Flow::Next } else { Flow::Reject(self.errors.stack_out_of_bounds) }
    }

    /// Extracts a header of `bits` bits.
    pub(super) fn extract(&mut self, header: &Layout, bits: u64) -> Flow {
        let Layout::Header { valid, fields, .. } = header else { return Flow::Next };
        let Some(packet) = &mut self.packet else { return Flow::Next };
        if packet.remaining() < bits {
            return Flow::Reject(self.errors.packet_too_short);
        }
        let mut offset = 0;
        for field in fields {
            read_field(packet, self.frame, field, &mut offset, 0);
        }
        packet.advance(bits);
        self.frame.set(*valid, 1);
        Flow::Next
    }

    fn extract_var(&mut self, header: &Layout, bits: &Expr) -> Flow {
        let Layout::Header { valid, fields, .. } = header else { return Flow::Next };
        let wanted = u64::try_from(self.eval(bits)).unwrap_or(u64::MAX);
        if let Flow::Reject(error) = self.after_failure() {
            return Flow::Reject(error);
        }
        // Specification 12.8.2 allows a target to reject an incomplete byte; all of ours do, as
        // bmv2 does.
        if !wanted.is_multiple_of(8) {
            return Flow::Reject(self.errors.parser_invalid_argument);
        }
        let total = header.wire_bits(None).saturating_add(wanted);
        // The present length does not count before the extraction, so only the maximum is checked.
        let max = fields.iter().find_map(|field| match field {
            Layout::VarBit { max, .. } => Some(u64::from(*max)),
            _ => None,
        });
        let Some(packet) = &mut self.packet else { return Flow::Next };
        if packet.remaining() < total {
            return Flow::Reject(self.errors.packet_too_short);
        }
        if wanted > max.unwrap_or(0) {
            return Flow::Reject(self.errors.header_too_short);
        }
        let mut offset = 0;
        for field in fields {
            read_field(packet, self.frame, field, &mut offset, wanted as u32);
        }
        packet.advance(total);
        self.frame.set(*valid, 1);
        Flow::Next
    }

    fn extract_next(&mut self, stack: &Layout) -> Flow {
        let Layout::Stack { next, elements, .. } = stack else { return Flow::Next };
        let index = self.frame.get(*next);
        let Some(element) = usize::try_from(index).ok().and_then(|index| elements.get(index))
        else {
            return Flow::Reject(self.errors.stack_out_of_bounds);
        };
        let flow = self.extract(element, element.wire_bits(None));
        if flow == Flow::Next {
            self.frame.set(*next, index + 1);
        }
        flow
    }
}

/// Reads a field `offset` bits behind the cursor; `varbits` is the length of a variable-size field.
#[inline]
fn read_field(
    packet: &super::PacketIn<'_>,
    frame: &mut super::Frame,
    field: &Layout,
    offset: &mut u64,
    varbits: u32,
) {
    match field {
        Layout::Narrow(slot, scalar) => {
            frame.set(*slot, packet.peek(*offset, scalar.width()));
            *offset += u64::from(scalar.width());
        }
        Layout::Wide(slot, scalar) => {
            frame.set_wide(*slot, packet.peek_wide(*offset, scalar.width()));
            *offset += u64::from(scalar.width());
        }
        Layout::VarBit { length, value, .. } => {
            frame.set(*length, varbits.into());
            frame.set_wide(*value, packet.peek_wide(*offset, varbits));
            *offset += u64::from(varbits);
        }
        Layout::Struct { fields, .. } => {
            fields.iter().for_each(|field| read_field(packet, frame, field, offset, varbits));
        }
        _ => {}
    }
}

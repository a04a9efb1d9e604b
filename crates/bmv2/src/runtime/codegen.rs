//! Code generation for extern calls: registers of numbers, `mark_to_drop`, and checksums of a
//! header's fields.
//!
//! The generated code has the same effects as the calls. A checksum over more than words of fields
//! remains a call. So does a failed verification, since the switch must be notified, which code
//! cannot do.

use super::{Runtime, Site, out};
use crate::standard_metadata::DROP_PORT;
use sojourn_externs::checksum_code;
use sojourn_externs::field_input::Input;
use sojourn_externs::hash::Algorithm;
use sojourn_p4::interp::jit_tier::{At, Cells, Op, To};
use sojourn_p4::interp::{Assembler, Calls, arith};
use sojourn_p4::ir::{Arg, Expr, ExternCall, Layout, Slot, Value};
use sojourn_target::def_use::read_by_call;
use std::collections::HashSet;

impl Calls for Runtime {
    fn code(&self, call: &ExternCall, to: &mut Assembler<'_, '_>) -> Option<()> {
        match *self.sites.get(call.site.index())? {
            Site::ReadRegister(register) => {
                read(self.registers.get(register as usize)?.words()?, call, to)
            }
            Site::WriteRegister(register) => {
                write(self.registers.get(register as usize)?.words()?, call, to)
            }
            Site::MarkToDrop { spec, group } => {
                to.push(Op::Set { to: at(spec)?, value: DROP_PORT as u64 });
                if let Some(group) = group {
                    to.push(Op::Set { to: at(group)?, value: 0 });
                }
                Some(())
            }
            Site::VerifyChecksum { input, target, payload: false } => {
                self.verify(input, target, call, to)
            }
            Site::UpdateChecksum { input, payload: false } => self.update(input, call, to),
            Site::Clone { .. } | Site::Resubmit { .. } | Site::Recirculate { .. } => {
                to.call_rarely(call);
                Some(())
            }
            _ => None,
        }
    }

    fn reads(&self, call: &ExternCall) -> Option<Vec<Slot>> {
        Some(self.read_by(call).into_iter().collect())
    }
}

fn at(slot: Slot) -> Option<At> {
    At::try_from(slot.0).ok()
}

/// Slot of an argument of at most 64 bits.
fn argument(call: &ExternCall, index: usize, to: &mut Assembler<'_, '_>) -> Option<At> {
    match call.args.get(index)? {
        Arg::In(Value::Scalar(expr)) => word(expr, to),
        _ => None,
    }
}

fn word(expr: &Expr, to: &mut Assembler<'_, '_>) -> Option<At> {
    (expr.scalar.width() <= 64).then(|| to.slot_of(expr))?
}

/// `register.read(result, index)`
fn read(cells: &Cells, call: &ExternCall, to: &mut Assembler<'_, '_>) -> Option<()> {
    let index = argument(call, 1, to)?;
    let Layout::Narrow(result, scalar) = out(call, 0)? else { return None };
    let cells = to.cells(cells);
    let (loaded, beyond) = (to.temporary()?, to.label());
    to.push(Op::Load { to: loaded, a: index, cells, beyond });
    let mask = arith::mask(scalar.width().min(64)) as u64;
    to.push(Op::AndConst { to: at(*result)?, a: loaded, value: mask });
    to.place(beyond);
    Some(())
}

/// `register.write(index, value)`
fn write(cells: &Cells, call: &ExternCall, to: &mut Assembler<'_, '_>) -> Option<()> {
    let (a, b) = (argument(call, 0, to)?, argument(call, 1, to)?);
    let cells = to.cells(cells);
    to.push(Op::Store { a, b, cells });
    Some(())
}

impl Runtime {
    /// Slots read by a call: those of its arguments, and of the validity of their headers.
    pub fn read_by(&self, call: &ExternCall) -> HashSet<Slot> {
        let mut read = read_by_call(call);
        let input = match self.sites.get(call.site.index()) {
            Some(Site::VerifyChecksum { input, target, .. }) => {
                read.extend(target);
                Some(input)
            }
            Some(Site::UpdateChecksum { input, .. } | Site::Digest { input, .. }) => Some(input),
            Some(Site::Hash(input) | Site::Sum(input)) => Some(input),
            _ => None,
        };
        let input = input.and_then(|input| self.inputs.get(*input as usize));
        read.extend(input.into_iter().flat_map(Input::groups).filter_map(|(valid, _)| valid));
        read
    }

    /// True if the program may request a copy of a packet, or a further pass.
    pub fn makes_copies(&self) -> bool {
        let copies = |site: &Site| {
            matches!(site, Site::Clone { .. } | Site::Resubmit { .. } | Site::Recirculate { .. })
        };
        self.sites.iter().any(copies)
    }

    /// `verify_checksum(condition, data, checksum, algorithm)`
    fn verify(
        &self,
        input: u32,
        target: Option<Slot>,
        call: &ExternCall,
        to: &mut Assembler<'_, '_>,
    ) -> Option<()> {
        let right = to.label();
        if let Some(valid) = target {
            to.push(Op::JumpUnless { a: at(valid)?, to: right });
        }
        let applies = argument(call, 0, to)?;
        to.push(Op::JumpUnless { a: applies, to: right });
        let (expected, wrong) = (argument(call, 2, to)?, to.label());
        let found = self.checksum(input, wrong, to)?;
        to.push(Op::JumpEqual { a: found, b: expected, to: right });
        to.place(wrong);
        to.call_rarely(call);
        to.place(right);
        Some(())
    }

    /// `update_checksum(condition, data, checksum, algorithm)`
    fn update(&self, input: u32, call: &ExternCall, to: &mut Assembler<'_, '_>) -> Option<()> {
        let Layout::Narrow(checksum, scalar) = out(call, 2)? else { return None };
        let (applies, called, end) = (argument(call, 0, to)?, to.label(), to.label());
        to.push(Op::JumpUnless { a: applies, to: end });
        let found = self.checksum(input, called, to)?;
        let mask = arith::mask(scalar.width().min(64)) as u64;
        to.push(Op::AndConst { to: at(*checksum)?, a: found, value: mask });
        to.push(Op::Jump { to: end });
        to.place(called);
        to.call_rarely(call);
        to.place(end);
        Some(())
    }

    /// Slot of the Internet checksum of some fields; jumps to `other` if the input has more than
    /// words of fields.
    fn checksum(&self, input: u32, other: To, to: &mut Assembler<'_, '_>) -> Option<At> {
        let input = self.inputs.get(input as usize)?;
        let Algorithm::Checksum = self.algorithms.get(input.algorithm as usize)? else {
            return None;
        };
        for (valid, fields) in input.groups() {
            if fields.is_none() {
                to.push(Op::JumpIf { a: at(valid?)?, to: other });
            }
        }
        let (sum, mut most) = (to.temporary()?, 0_u64);
        to.push(Op::Set { to: sum, value: 0 });
        for (valid, fields) in input.groups() {
            let Some(fields) = fields else { continue };
            let behind = to.label();
            if let Some(valid) = valid {
                to.push(Op::JumpUnless { a: at(valid)?, to: behind });
            }
            most = most.checked_add(checksum_code::add(fields, sum, to)?)?;
            to.place(behind);
        }
        checksum_code::complement(sum, most, to)?;
        Some(sum)
    }
}

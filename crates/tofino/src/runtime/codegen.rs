//! Code generation for extern calls: the instructions of registers, and checksums that deparsers
//! write.
//!
//! The generated code has the same effects as the calls. Only calls detect a second access to a
//! register within a pass. A user of generated register code must therefore ensure that no path
//! contains one.

use super::{Runtime, Site, salu_code};
use sojourn_externs::checksum_code::{self, WORD};
use sojourn_p4::interp::jit_tier::{At, Op};
use sojourn_p4::interp::{Assembler, Calls};
use sojourn_p4::ir::{Arg, ExprKind, ExternCall, Layout, Slot, Value};

impl Calls for Runtime {
    fn code(&self, call: &ExternCall, to: &mut Assembler<'_, '_>) -> Option<()> {
        match *self.sites.get(call.site.index())? {
            Site::Execute { register, action } => {
                salu_code::execute(self, (register, action), call, to)
            }
            Site::ChecksumUpdate { .. } => {
                let known = self.prepared.get(call.site.index())?;
                known.data.as_ref()?;
                update(&known.slots, call, to)
            }
            _ => None,
        }
    }
}

/// The same without registers.
pub struct Stateless<'r>(pub &'r Runtime);

impl Calls for Stateless<'_> {
    fn code(&self, call: &ExternCall, to: &mut Assembler<'_, '_>) -> Option<()> {
        match self.0.sites.get(call.site.index())? {
            Site::Execute { .. } => None,
            _ => self.0.code(call, to),
        }
    }
}

/// `checksum.update(data, zeros_as_ones)`
fn update(fields: &[(Slot, u32)], call: &ExternCall, to: &mut Assembler<'_, '_>) -> Option<()> {
    let bits: u32 = fields.iter().map(|(_, width)| width).sum();
    let zeros_as_ones = match call.args.get(1) {
        None | Some(Arg::Absent) => false,
        Some(Arg::In(Value::Scalar(expr))) => match &expr.kind {
            ExprKind::Const(number) => *number != 0,
            _ => return None,
        },
        Some(_) => return None,
    };
    let Layout::Narrow(result, scalar) = call.result.as_ref()? else { return None };
    if !bits.is_multiple_of(WORD) || scalar.width() != WORD {
        return None;
    }
    let sum = to.temporary()?;
    to.push(Op::Set { to: sum, value: 0 });
    let most = checksum_code::add(fields, sum, to)?;
    checksum_code::complement(sum, most, to)?;
    if zeros_as_ones {
        let behind = to.label();
        to.push(Op::JumpNotEqualConst { a: sum, to: behind, value: 0 });
        to.push(Op::Set { to: sum, value: u16::MAX.into() });
        to.place(behind);
    }
    to.push(Op::Move { to: At::try_from(result.0).ok()?, a: sum });
    Some(())
}

//! Precomputed form of an extern call: the slots of its operands and its result.
//!
//! Nearly all operands are slots or constants. A call with other operands has no precomputed form;
//! the file of that call then evaluates them at run time.

use super::{RegisterState, Site, value};
use crate::register_action::OutputFormat;
use sojourn_p4::interp::{FieldList, Frame, arith};
use sojourn_p4::ir::{Arg, Expr, ExprKind, ExternCall, Layout, Slot, Value};

/// A call, as far as it is known.
#[derive(Clone, Debug, Default)]
pub(super) struct Prepared {
    /// The fields of its first argument, in whole bytes.
    pub data: Option<FieldList>,
    /// Their slots, each with its width.
    pub slots: Vec<(Slot, u32)>,
    /// Of an identity hash: its input as one number.
    pub joined: Option<Joined>,
    /// It runs an instruction of a register.
    pub execution: Option<Execution>,
}

/// A call of a register's instruction.
#[derive(Clone, Debug)]
pub(super) struct Execution {
    pub index: Operand,
    /// The packet fields, which are cut to the register's width.
    pub fields: [Operand; 2],
    pub format: OutputFormat,
    /// Destination of its result, with its mask.
    pub result: Option<(Slot, u128)>,
}

/// Fields joined to one number of at most 128 bits, the first most significant.
#[derive(Clone, Debug)]
pub(super) struct Joined(Box<[(Operand, u32)]>);

impl Joined {
    fn new(value: &Value) -> Option<Joined> {
        let mut parts = Vec::new();
        Joined::add(value, &mut parts)?;
        let bits: u32 = parts.iter().map(|(_, width)| width).sum();
        // A field of as many bits as there are would be shifted by all of them.
        (bits < 128).then(|| Joined(parts.into()))
    }

    fn add(value: &Value, parts: &mut Vec<(Operand, u32)>) -> Option<()> {
        match value {
            Value::Scalar(expr) => {
                parts.push((Operand::new(expr)?, expr.scalar.width()));
                Some(())
            }
            Value::Struct { fields, .. } | Value::Header { fields, .. } => {
                fields.iter().try_for_each(|field| Joined::add(field, parts))
            }
            _ => None,
        }
    }

    /// Their number now.
    #[inline]
    pub fn get(&self, frame: &Frame) -> u128 {
        let join =
            |number, (part, width): &(Operand, u32)| number << width | u128::from(part.get(frame));
        self.0.iter().fold(0, join)
    }
}

/// A value of at most 64 bits.
#[derive(Clone, Copy, Debug)]
pub(super) enum Operand {
    Slot(Slot),
    Const(u64),
}

impl Operand {
    fn new(expr: &Expr) -> Option<Operand> {
        match &expr.kind {
            ExprKind::Slot(slot) if expr.scalar.width() <= 64 => Some(Operand::Slot(*slot)),
            ExprKind::Const(value) => Some(Operand::Const(u64::try_from(*value).ok()?)),
            _ => None,
        }
    }

    /// Its value now.
    #[inline(always)]
    pub fn get(self, frame: &Frame) -> u64 {
        match self {
            Operand::Slot(slot) => frame.get(slot) as u64,
            Operand::Const(value) => value,
        }
    }
}

impl Prepared {
    /// Prepared form of a call at a site.
    pub fn new(call: &ExternCall, site: Site, registers: &[RegisterState]) -> Prepared {
        let mut slots = Vec::new();
        let data = value(call, 0).and_then(|value| {
            slots_of(value, &mut slots)?;
            FieldList::new(&slots)
        });
        let execution = match site {
            Site::Execute { register, action } => {
                Execution::new(call, registers.get(register as usize), action)
            }
            _ => None,
        };
        let joined = match site {
            Site::Hash { symmetric: None, .. } => value(call, 0).and_then(Joined::new),
            _ => None,
        };
        Prepared { data, slots, joined, execution }
    }
}

impl Execution {
    fn new(call: &ExternCall, register: Option<&RegisterState>, action: u32) -> Option<Execution> {
        let Arg::In(Value::Scalar(index)) = call.args.first()? else { return None };
        let state = register?;
        if !state.is_ready(action) {
            return None;
        }
        let register = &state.compiled;
        let action = register.actions.get(action as usize)?;
        let field = |at: usize| match action.input(&register.fields, at) {
            Some(field) => Operand::new(field),
            None => Some(Operand::Const(0)),
        };
        let result = match &call.result {
            None => None,
            Some(Layout::Narrow(slot, scalar)) => Some((*slot, arith::mask(scalar.width()))),
            Some(_) => return None,
        };
        Some(Execution {
            index: Operand::new(index)?,
            fields: [field(0)?, field(1)?],
            format: *action.formats.first()?,
            result,
        })
    }

    /// Stores the result.
    #[inline(always)]
    pub fn answer(&self, output: u32, frame: &mut Frame) {
        if let Some((slot, mask)) = self.result {
            frame.set(slot, u128::from(output) & mask);
        }
    }
}

/// The slots of a value's fields, each with its width; none if there is anything else in it.
fn slots_of(value: &Value, found: &mut Vec<(Slot, u32)>) -> Option<()> {
    match value {
        Value::Scalar(Expr { kind: ExprKind::Slot(slot), scalar, .. }) if scalar.is_narrow() => {
            found.push((*slot, scalar.width()));
            Some(())
        }
        Value::Header { fields: parts, .. }
        | Value::Union { members: parts, .. }
        | Value::Struct { fields: parts, .. }
        | Value::Stack { elements: parts, .. } => {
            parts.iter().try_for_each(|part| slots_of(part, found))
        }
        Value::Scalar(_) | Value::VarBit(..) | Value::String(_) => None,
    }
}

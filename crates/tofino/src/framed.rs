//! A block of a pass: how large a frame it runs on, and where its parameters lie there.

use super::metadata::{IntrinsicField, Role, fields_with_valid_bit};
use super::validity::INVALID;
use sojourn_p4::interp::{Frame, Interpreter};
use sojourn_p4::ir::{Layout, Slot, UnitId};
use sojourn_target::uses::{read_by, written_by};
use std::collections::{BTreeMap, HashSet};

/// A block of a pass.
#[derive(Clone, Debug)]
pub struct Block {
    /// The unit.
    pub unit: UnitId,
    /// Slots of its own, narrow and wide.
    pub(super) size: (usize, usize),
    /// Where its parameters lie.
    pub params: BTreeMap<Role, Layout>,
    /// Slots that start without a value of their own.
    pub(super) invalid: Vec<Slot>,
    /// Slots that it reads, and that it may write.
    pub(super) read: HashSet<Slot>,
    written: HashSet<Slot>,
    /// Its own slots, and those behind them in which it computes.
    used: usize,
}

impl Block {
    /// A block of the program.
    pub fn new(interpreter: &Interpreter, unit: UnitId) -> Block {
        let program = interpreter.program();
        let mut params = BTreeMap::new();
        let mut own = [Role::Headers, Role::Metadata].into_iter();
        for param in &program.units[unit.index()].params {
            let role = match (&param.layout, Role::of_type(&param.ty)) {
                (Layout::Object, _) => Some(Role::Packet),
                (_, Some(role)) => Some(role),
                (_, None) => own.next(),
            };
            params.extend(role.map(|role| (role, param.layout.clone())));
        }
        let invalid = params.values().flat_map(fields_with_valid_bit).collect();
        let Frame { narrow, wide } = interpreter.frame(unit);
        let (read, written) = (read_by(program, unit), written_by(program, unit));
        let (size, used) = ((narrow.len(), wide.len()), interpreter.slots(unit));
        Block { unit, size, params, invalid, read, written, used }
    }

    /// True if a slot may be other than zero behind it where its frame began with zeros.
    pub(super) fn leaves_something(&self, slot: Slot) -> bool {
        let beyond = (self.size.0..self.used).contains(&slot.index());
        beyond || self.written.contains(&slot) || self.invalid.contains(&slot)
    }

    /// Slots that it may write.
    pub(super) fn written(&self) -> impl Iterator<Item = Slot> {
        self.written.iter().copied()
    }

    /// Makes a frame ready for a packet.
    pub fn reset(&self, frame: &mut Frame) {
        frame.clear();
        for slot in &self.invalid {
            frame.set(*slot, INVALID);
        }
    }

    /// A field that the chip reads behind it; none if the block leaves it as it is, which is empty.
    pub fn answer(&self, role: Role, name: &str) -> IntrinsicField {
        let IntrinsicField(slot) = self.field(role, name);
        IntrinsicField(slot.filter(|slot| self.written.contains(slot)))
    }

    /// The slots of parameters in which it can tell the chip something.
    pub fn answers(&self) -> impl Iterator<Item = Slot> {
        let roles = [Role::ForDeparser, Role::ForTrafficManager, Role::ForPort];
        let layouts = roles.into_iter().filter_map(|role| self.params.get(&role));
        let slots = layouts.flat_map(|layout| layout.range().narrow());
        slots.map(|slot| Slot(slot as u32)).filter(|slot| self.written.contains(slot))
    }

    /// A field of a parameter.
    pub fn field(&self, role: Role, name: &str) -> IntrinsicField {
        IntrinsicField::new(self.params.get(&role), name)
    }
}

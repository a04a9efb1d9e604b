//! A block of a pass: how large a frame it runs on, and where its parameters lie there.

use super::metadata::{IntrinsicField, Role, fields_with_valid_bit};
use super::parameter_passing::shared;
use super::validity::INVALID;
use sojourn_p4::interp::{Frame, Interpreter};
use sojourn_p4::ir::{Layout, Slot, UnitId};
use sojourn_target::def_use::{read_by, written_by};
use std::collections::{BTreeMap, HashSet};

/// A block of a pass.
#[derive(Clone, Debug)]
pub struct Block {
    /// The unit.
    pub unit: UnitId,
    /// Slots of its own, narrow and wide.
    pub(super) size: (usize, usize),
    /// Layouts of its parameters.
    pub params: BTreeMap<Role, Layout>,
    /// Slots that start without a value of their own.
    pub(super) invalid: Vec<Slot>,
    /// Slots that it reads, and that it may write.
    pub(super) read: HashSet<Slot>,
    written: HashSet<Slot>,
    /// Slots of its parameters that the block in front may have written.
    given: HashSet<Slot>,
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
        let given = HashSet::new();
        Block { unit, size, params, invalid, read, written, given, used }
    }

    /// The block behind `front`, whose values it starts with.
    #[must_use]
    pub fn behind(self, front: &Block) -> Block {
        let slots = shared(front, &self).into_iter();
        let both = slots.flat_map(|(theirs, mine)| theirs.narrow().zip(mine.narrow()));
        let set = both.filter(|(theirs, _)| front.written.contains(&Slot(*theirs as u32)));
        let given = set.map(|(_, mine)| Slot(mine as u32)).collect();
        Block { given, ..self }
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

    /// A field that the chip reads behind it; none if neither this block nor the one in front sets it.
    pub fn answer(&self, role: Role, name: &str) -> IntrinsicField {
        let IntrinsicField(slot) = self.field(role, name);
        IntrinsicField(slot.filter(|slot| self.is_set(*slot)))
    }

    fn is_set(&self, slot: Slot) -> bool {
        self.written.contains(&slot) || self.given.contains(&slot)
    }

    /// The slots of parameters that the chip reads behind it and that may have been set.
    pub fn answers(&self) -> impl Iterator<Item = Slot> {
        let roles = [Role::ForDeparser, Role::ForTrafficManager, Role::ForPort];
        let layouts = roles.into_iter().filter_map(|role| self.params.get(&role));
        let slots = layouts.flat_map(|layout| layout.range().narrow());
        slots.map(|slot| Slot(slot as u32)).filter(|slot| self.is_set(*slot))
    }

    /// A field of a parameter.
    pub fn field(&self, role: Role, name: &str) -> IntrinsicField {
        IntrinsicField::new(self.params.get(&role), name)
    }
}

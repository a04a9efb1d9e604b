//! A block of a pass with the frame that it runs on, and where its parameters lie there.

use super::metadata::{IntrinsicField, Role, fields_with_valid_bit};
use super::validity::INVALID;
use sojourn_p4::interp::{Frame, Interpreter};
use sojourn_p4::ir::{Layout, Slot, UnitId};
use std::collections::BTreeMap;

/// A block of a pass.
#[derive(Clone, Debug)]
pub struct Block {
    /// The unit.
    pub unit: UnitId,
    /// The frame it runs on, once the block before it has handed on.
    pub frame: Frame,
    /// Where its parameters lie.
    pub params: BTreeMap<Role, Layout>,
    /// Slots that start without a value of their own.
    pub(super) invalid: Vec<Slot>,
}

impl Block {
    /// A block of the program, with a frame that no packet has used.
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
        Block { unit, frame: interpreter.frame(unit), params, invalid }
    }

    /// Makes the frame ready for a packet.
    pub fn reset(&mut self) {
        self.frame.clear();
        for slot in &self.invalid {
            self.frame.set(*slot, INVALID);
        }
    }

    /// A field of a parameter.
    pub fn field(&self, role: Role, name: &str) -> IntrinsicField {
        IntrinsicField::new(self.params.get(&role), name)
    }
}

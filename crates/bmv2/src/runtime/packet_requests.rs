//! Requests of a program for its packet after the pass: drop, clone, resubmit, recirculate, digest.
//!
//! A call records its request in the pass; among several of one kind the last counts. The pipeline
//! reads the requests when the control has ended.

use super::{CloneRequest, Fields, Runtime};
use crate::standard_metadata::DROP_PORT;
use sojourn_control::digest::Digest;
use sojourn_externs::call::scalar;
use sojourn_p4::interp::Context;
use sojourn_p4::ir::{ExternCall, Slot};

/// Bits of a session's number.
const SESSION_MASK: u128 = 0x7fff;

/// `mark_to_drop(standard_metadata)`
pub(super) fn mark_to_drop(spec: Slot, group: Option<Slot>, ctx: &mut Context<'_>) {
    ctx.frame_mut().set(spec, DROP_PORT);
    if let Some(group) = group {
        ctx.frame_mut().set(group, 0);
    }
}

impl Runtime {
    /// Field list of a call; a number without fields is an empty list.
    pub(super) fn list(&self, fields: Fields, call: &ExternCall, ctx: &Context<'_>) -> u32 {
        match fields {
            Fields::List(list) => list,
            Fields::Argument(index) => {
                let number = scalar(call, index as usize, ctx) as u8;
                self.list_numbers.get(&number).copied().unwrap_or(0)
            }
        }
    }

    /// `clone(type, session)` and its variants. The pass determines the packet that is cloned.
    pub(super) fn request_clone(&mut self, fields: Fields, call: &ExternCall, ctx: &Context<'_>) {
        let session = (scalar(call, 1, ctx) & SESSION_MASK) as u16;
        self.pass.clone = Some(CloneRequest { session, fields: self.list(fields, call, ctx) });
    }

    /// `digest(receiver, data)`
    pub(super) fn digest(&mut self, input: u32, name: u32, ctx: &Context<'_>) {
        self.inputs[input as usize].write(ctx, &mut self.scratch);
        let name = self.digest_names[name as usize].clone();
        let bytes = self.scratch.bytes().into();
        self.pass.digest = Some(Digest { name, at: self.pass.now, bytes });
    }
}

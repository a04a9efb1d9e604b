//! Externs of the deparsers that make copies: `Mirror`, `Resubmit`, `Digest`.

use super::{Runtime, scalar, value};
use crate::calls::value_bits;
use crate::digest::Digest;
use smallvec::SmallVec;
use sojourn_p4::interp::Context;
use sojourn_p4::ir::ExternCall;

/// A mirrored copy that the deparser asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MirrorRequest {
    /// The session.
    pub session: u16,
    /// The mirror header.
    pub header: SmallVec<[u8; 32]>,
}

impl Runtime {
    /// `mirror.emit(session, header)`; the first request of a pass counts.
    pub(super) fn request_mirror(&mut self, bits: u32, call: &ExternCall, ctx: &Context<'_>) {
        let session = scalar(call, 0, ctx) as u16;
        if self.pass.mirror.is_some() {
            return;
        }
        let header = match value(call, 1) {
            Some(header) => SmallVec::from_slice(self.bytes_of(header, bits, ctx)),
            None => SmallVec::new(),
        };
        self.pass.mirror = Some(MirrorRequest { session, header });
    }

    /// `resubmit.emit(header)`; the bytes behind the header up to eight are zero.
    pub(super) fn request_resubmit(&mut self, call: &ExternCall, ctx: &Context<'_>) {
        let mut data: SmallVec<[u8; 8]> = match value(call, 0) {
            // The parser finds the first field at the front, whatever is left of the last byte.
            Some(header) => SmallVec::from_slice(self.bytes_from_front(header, ctx)),
            None => SmallVec::new(),
        };
        data.resize(8, 0);
        self.pass.resubmit.get_or_insert(data);
    }

    /// `digest.pack(data)`
    pub(super) fn pack_digest(&mut self, digest: u32, call: &ExternCall, ctx: &Context<'_>) {
        let Some(data) = value(call, 0) else { return };
        let bits = value_bits(data);
        let bytes = self.bytes_of(data, bits, ctx).into();
        let name = self.digest_names[digest as usize].clone();
        self.digests.push(Digest { name, at: self.pass.now, bytes });
    }
}

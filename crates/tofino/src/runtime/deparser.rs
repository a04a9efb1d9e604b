//! Externs of the deparsers that make copies: `Mirror`, `Resubmit`, `Digest`.

use super::{Runtime, scalar, value};
use smallvec::SmallVec;
use sojourn_control::digest::Digest;
use sojourn_externs::call::value_bits;
use sojourn_p4::interp::Context;
use sojourn_p4::ir::{ExternCall, Value};
use sojourn_p4::types::Type;
use sojourn_packet::MirrorOverrides;

/// Values of `mirror_type`, `resubmit_type` and `digest_type`; `None` where they are not valid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CopyTypes {
    pub mirror: Option<u8>,
    pub resubmit: Option<u8>,
    pub digest: Option<u8>,
    /// Fields of the mirror session that the packet overrides for its copy.
    pub overrides: MirrorOverrides,
    /// Whether the copy is of the packet as deparsed; by default it is in egress and not in
    /// ingress.
    pub as_deparsed: Option<bool>,
    /// The length in bytes that the deparser cuts the packet to.
    pub cut_to: Option<u16>,
    /// The word of advanced flow control.
    pub flow_control: Option<u32>,
}

/// True if the chip makes a copy of an object of the type `of` where `chosen` is the type: its
/// deparser looks up the fields of a copy by type. An object without one is in a condition that
/// states it.
fn is_chosen(of: Option<u8>, chosen: Option<u8>) -> bool {
    chosen.is_some_and(|chosen| of.is_none_or(|of| of == chosen))
}

/// A mirrored copy requested by the deparser.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MirrorRequest {
    /// The session.
    pub session: u16,
    /// The mirror header.
    pub header: SmallVec<[u8; 32]>,
}

impl Runtime {
    /// `mirror.emit(session, header)`; of two for one type the first counts.
    pub(super) fn request_mirror(
        &mut self,
        bits: u32,
        of: Option<u8>,
        call: &ExternCall,
        ctx: &Context<'_>,
    ) {
        if self.pass.mirror.is_some() || !is_chosen(of, self.pass.copies.mirror) {
            return;
        }
        let session = scalar(call, 0, ctx) as u16;
        let header = match value(call, 1) {
            Some(header) => SmallVec::from_slice(self.bytes_of(header, bits, ctx)),
            None => SmallVec::new(),
        };
        self.pass.mirror = Some(MirrorRequest { session, header });
        self.pass.asked = true;
    }

    /// `resubmit.emit(header)`; the bytes behind the header up to the end of the data are zero.
    pub(super) fn request_resubmit(
        &mut self,
        of: Option<u8>,
        call: &ExternCall,
        ctx: &Context<'_>,
    ) {
        if self.pass.resubmit.is_some() || !is_chosen(of, self.pass.copies.resubmit) {
            return;
        }
        let mut data: SmallVec<[u8; 16]> = match value(call, 0) {
            // The parser finds the first field at the front, whatever is left of the last byte.
            Some(header) => SmallVec::from_slice(self.bytes_from_front(header, ctx)),
            None => SmallVec::new(),
        };
        data.resize(self.resubmit_data, 0);
        self.pass.resubmit = Some(data);
        self.pass.asked = true;
    }

    /// `digest.pack(data)`
    pub(super) fn pack_digest(
        &mut self,
        digest: u32,
        of: Option<u8>,
        call: &ExternCall,
        ctx: &Context<'_>,
    ) {
        let chosen = is_chosen(of, self.pass.copies.digest);
        let Some(data) = value(call, 0).filter(|_| chosen) else { return };
        let data = declared(data);
        let bits = value_bits(&data);
        let bytes = self.bytes_of(&data, bits, ctx).into();
        let name = self.digest_names[digest as usize].clone();
        self.digests.push(Digest { name, at: self.pass.now, bytes });
    }
}

/// The declared fields of a program: a receiver of digests gets no padding.
fn declared(value: &Value) -> Value {
    let parts = |parts: &[Value]| parts.iter().map(declared).collect();
    match value {
        Value::Header { valid, fields, ty } => {
            let count = match ty {
                Type::Header(of) => of.fields.len().min(fields.len()),
                _ => fields.len(),
            };
            let fields = parts(&fields[..count]);
            Value::Header { valid: valid.clone(), fields, ty: ty.clone() }
        }
        Value::Struct { fields, ty } => Value::Struct { fields: parts(fields), ty: ty.clone() },
        other => other.clone(),
    }
}

//! Extern objects and functions of v1model at run time.
//!
//! [`Runtime`] implements the interpreter's [`Externs`]. Call sites are resolved when the program
//! is loaded (`prepare`); at run time one match selects a few lines. Must not depend on the source
//! of packets: a pass supplies time and length.

mod checksum;
mod codegen;
mod log;
mod packet_requests;
mod prepare;
mod registers;
mod state;

pub(super) use prepare::is_profile;
pub use prepare::prepare;

use super::field_list::FieldList;
use sojourn_control::digest::{Digest, Digests};
use sojourn_control::idle_timeout::LastHits;
use sojourn_control::profiles::Profiles;
use sojourn_externs::call::scalar;
use sojourn_externs::counter::Counter;
use sojourn_externs::field_input::Input;
use sojourn_externs::hash::Algorithm;
use sojourn_externs::meter::Meter;
use sojourn_externs::register::RegisterArray;
use sojourn_p4::interp::trace::Trace;
use sojourn_p4::interp::{
    Access, ActionRun, Context, Externs, Frame, Halt, InvalidRead, Matched, PacketOut,
};
use sojourn_p4::ir::{ExternCall, Layout, Slot, TableId};
use sojourn_packet::SplitMix64;
use sojourn_packet::{Packet, Time};
use sojourn_target::faults::Faults;
use sojourn_target::log::Log;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Resolved call site; numbers are indices into the lists of [`Runtime`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Site {
    /// No call that a pass makes.
    #[default]
    None,
    /// No operation (a direct counter counts when its table is hit).
    Nothing,
    ReadRegister(u32),
    WriteRegister(u32),
    Count(u32),
    Meter(u32),
    DirectMeter,
    Hash(u32),
    Sum(u32),
    VerifyChecksum {
        input: u32,
        target: Option<Slot>,
        payload: bool,
    },
    UpdateChecksum {
        input: u32,
        payload: bool,
    },
    Random,
    Digest {
        input: u32,
        name: u32,
    },
    MarkToDrop {
        spec: Slot,
        group: Option<Slot>,
    },
    Clone {
        fields: Fields,
    },
    Resubmit {
        fields: Fields,
    },
    Recirculate {
        fields: Fields,
    },
    Truncate,
    Assert,
    Log,
}

/// Field list of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fields {
    /// This list: index into [`Runtime::field_lists`].
    List(u32),
    /// The list whose number is this argument.
    Argument(u32),
}

/// Clone request of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CloneRequest {
    pub session: u16,
    pub fields: u32,
}

/// Requests of one pass so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pass {
    pub now: Time,
    /// Length of the packet at the start of ingress, for counters and meters.
    pub bytes: u64,
    pub clone: Option<CloneRequest>,
    pub resubmit: Option<u32>,
    pub recirculate: Option<u32>,
    pub truncate: Option<u32>,
    pub digest: Option<Digest>,
    pub checksum_error: bool,
    /// Slot that becomes 1 once the program requests a copy or a further pass.
    pub requested: Option<Slot>,
}

/// Direct counter and meter of a table.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Direct {
    pub counter: Option<u32>,
    pub meter: Option<u32>,
    /// Destination of the meter's colour, if an action reads it.
    pub color: Option<Slot>,
}

/// The state of all extern objects of a program.
#[derive(Debug)]
pub(crate) struct Runtime {
    pub sites: Vec<Site>,
    pub registers: Vec<RegisterArray>,
    pub counters: Vec<(Arc<str>, Counter)>,
    pub meters: Vec<(Arc<str>, Meter)>,
    /// By table; empty if no table has a direct counter or meter.
    pub direct: Vec<Direct>,
    /// By table, the time of each entry's last hit; empty unless hits are recorded.
    pub hits: LastHits,
    /// The colour of the last direct meter.
    pub color: u8,
    pub profiles: Profiles,
    pub inputs: Vec<Input>,
    pub algorithms: Vec<Algorithm>,
    pub random: SplitMix64,
    pub digest_names: Vec<Arc<str>>,
    pub digests: Digests,
    pub log: Log,
    pub field_lists: Vec<FieldList>,
    /// Index into `field_lists` by number.
    pub list_numbers: BTreeMap<u8, u32>,
    /// Headers inside the metadata, which bmv2 treats as headers.
    pub headers_within: FieldList,
    /// Index of `instance_type` in a packet header vector.
    pub instance_at: Option<u32>,
    /// Slot that becomes 1 after a failed checksum verification.
    pub wrong_at: Option<Slot>,
    /// True if some checksum covers the payload.
    pub wants_payload: bool,
    pub payload: Vec<u8>,
    pub payload_zeros: u32,
    pub pass: Pass,
    pub faults: Faults,
    /// Trace of the next pass, if that is to be traced.
    pub trace: Option<Box<Trace>>,
    pub scratch: PacketOut,
}

impl Runtime {
    /// Starts a pass of a packet with `bytes` bytes at the start of ingress.
    pub fn begin(&mut self, now: Time, bytes: u64) {
        self.pass = Pass { now, bytes, ..Pass::default() };
    }

    /// True for a counter whose cells belong to table entries.
    pub fn is_direct(&self, counter: usize) -> bool {
        self.direct.iter().any(|direct| direct.counter == Some(counter as u32))
    }

    /// Saves the payload of a packet, if a checksum covers it.
    pub fn keep_payload(&mut self, packet: &Packet, consumed: u64) {
        if !self.wants_payload {
            return;
        }
        let consumed = consumed.div_ceil(8) as usize;
        self.payload.clear();
        self.payload.extend_from_slice(packet.bytes.get(consumed..).unwrap_or_default());
        let taken = consumed.saturating_sub(packet.bytes.len()) as u32;
        self.payload_zeros = packet.zeros.saturating_sub(taken);
    }

    /// Sends the digest that ingress requested; of several, the last.
    pub fn send_digest(&mut self) {
        if let Some(digest) = self.pass.digest.take() {
            self.digests.push(digest);
        }
    }
}

impl Externs for Runtime {
    #[inline]
    fn call(&mut self, call: &ExternCall, ctx: &mut Context<'_>) -> Result<(), Halt> {
        let site = self.sites.get(call.site.index()).copied().unwrap_or_default();
        match site {
            Site::ReadRegister(register) => self.read_register(register, call, ctx),
            Site::WriteRegister(register) => self.write_register(register, call, ctx),
            Site::Count(counter) => self.count(counter, call, ctx),
            Site::Meter(meter) => self.meter(meter, call, ctx),
            Site::MarkToDrop { spec, group } => packet_requests::mark_to_drop(spec, group, ctx),
            Site::Hash(input) => self.hash(input, call, ctx),
            Site::Random => self.draw(call, ctx),
            Site::VerifyChecksum { input, target, payload } => {
                self.verify_checksum(input, target, payload, call, ctx);
            }
            Site::UpdateChecksum { input, payload } => {
                self.update_checksum(input, payload, call, ctx);
            }
            Site::Nothing => {}
            Site::None => {
                return Err(Halt::NotImplemented { name: call.name.clone(), span: call.span });
            }
            other => return self.rare(other, call, ctx),
        }
        Ok(())
    }

    fn select_action(
        &mut self,
        table: TableId,
        reference: u32,
        selector: &[u128],
        ctx: &mut Context<'_>,
    ) -> Result<Option<ActionRun>, Halt> {
        Ok(self.profiles.select(table, reference, selector, ctx))
    }

    #[inline]
    fn hears_lookups(&self) -> bool {
        !self.direct.is_empty() || self.hits.are_noted()
    }

    fn looked_up(&mut self, matched: &Matched, frame: &mut Frame) {
        let Some(entry) = matched.entry else { return };
        if let Some(direct) = self.direct.get(matched.table.index()).copied() {
            self.hit(direct, entry.index(), frame);
        }
        self.hits.note(matched, self.pass.now);
    }

    fn read_invalid(&mut self, read: &InvalidRead<'_>) {
        self.faults.invalid_read(read);
    }

    #[inline]
    fn trace(&mut self) -> Option<&mut Option<Box<Trace>>> {
        Some(&mut self.trace)
    }

    fn reached(&self, call: &ExternCall, ctx: &Context<'_>) -> Option<Access> {
        let (at, index) = match self.sites.get(call.site.index())? {
            Site::ReadRegister(at) => (*at, scalar(call, 1, ctx)),
            Site::WriteRegister(at) => (*at, scalar(call, 0, ctx)),
            _ => return None,
        };
        let register = self.registers.get(at as usize)?;
        let index = u64::try_from(index).ok()?;
        let words = register.get(usize::try_from(index).ok()?).unwrap_or_default();
        Some(Access { memory: register.name().into(), index, words, unit: Vec::new() })
    }
}

impl Runtime {
    fn note_asked(&self, ctx: &mut Context<'_>) {
        self.pass.requested.inspect(|requested| ctx.frame_mut().set(*requested, 1));
    }

    /// Calls that few packets make.
    fn rare(&mut self, site: Site, call: &ExternCall, ctx: &mut Context<'_>) -> Result<(), Halt> {
        match site {
            Site::DirectMeter => self.read_direct_meter(call, ctx),
            Site::Sum(input) => self.checksum16(input, call, ctx),
            Site::Digest { input, name } => self.digest(input, name, ctx),
            Site::Clone { fields } => {
                self.request_clone(fields, call, ctx);
                self.note_asked(ctx);
            }
            Site::Resubmit { fields } => self.pass.resubmit = Some(self.list(fields, call, ctx)),
            Site::Recirculate { fields } => {
                self.pass.recirculate = Some(self.list(fields, call, ctx));
                self.note_asked(ctx);
            }
            Site::Truncate => {
                let length = scalar(call, 0, ctx) as u32;
                let before = self.pass.truncate.unwrap_or(u32::MAX);
                self.pass.truncate = Some(before.min(length));
            }
            Site::Assert if scalar(call, 0, ctx) == 0 => {
                let message = format!("{} failed", call.name).into();
                return Err(Halt::Extern { message, span: call.span });
            }
            Site::Log => self.log(call, ctx),
            _ => {}
        }
        Ok(())
    }
}

/// Stores the colour or number that a call returns.
#[inline]
fn store(layout: &Layout, ctx: &mut Context<'_>, value: u128) {
    ctx.set(layout, value);
}

/// An output argument.
#[inline]
fn out(call: &ExternCall, index: usize) -> Option<&Layout> {
    use sojourn_p4::ir::Arg;
    match call.args.get(index) {
        Some(Arg::Out(layout) | Arg::InOut(layout)) => Some(layout),
        _ => None,
    }
}

//! Extern objects and functions of PSA at run time.
//!
//! [`Runtime`] implements the interpreter's [`Externs`]. Call sites are resolved when the program is
//! loaded (`prepare`). Must not depend on the source of packets: a pass supplies time and length.

mod call_site;
mod prepare;
mod state;
mod values;

pub(crate) use call_site::Site;
pub(crate) use prepare::{is_direct, is_profile, prepare};

use sojourn_control::digest::Digests;
use sojourn_control::idle_timeout::LastHits;
use sojourn_control::profiles::Profiles;
use sojourn_externs::call::scalar;
use sojourn_externs::checksum::OnesComplement;
use sojourn_externs::counter::Counter;
use sojourn_externs::field_input::Input;
use sojourn_externs::hash::Algorithm;
use sojourn_externs::meter::Meter;
use sojourn_externs::register::RegisterArray;
use sojourn_p4::interp::trace::Trace;
use sojourn_p4::interp::{
    Access, ActionRun, Context, Externs, Frame, Halt, InvalidRead, Matched, PacketOut,
};
use sojourn_p4::ir::{ExternCall, TableId};
use sojourn_packet::{SplitMix64, Time};
use sojourn_target::faults::Faults;
use std::sync::Arc;

/// A `Checksum` object.
#[derive(Clone, Debug)]
pub(crate) struct Checksum {
    pub algorithm: Algorithm,
    /// Everything since the last `clear`.
    pub bytes: Vec<u8>,
}

/// A `Random` object.
#[derive(Clone, Debug)]
pub(crate) struct RandomRange {
    pub least: u128,
    pub most: u128,
    pub generator: SplitMix64,
}

/// State of all extern objects of a program.
#[derive(Debug, Default)]
pub(crate) struct Runtime {
    pub sites: Vec<Site>,
    pub registers: Vec<RegisterArray>,
    pub counters: Vec<(Arc<str>, Counter)>,
    pub meters: Vec<(Arc<str>, Meter)>,
    /// Counters and meters whose cells belong to table entries.
    pub direct_counters: Vec<usize>,
    pub direct_meters: Vec<usize>,
    pub hashes: Vec<Algorithm>,
    pub checksums: Vec<Checksum>,
    pub sums: Vec<OnesComplement>,
    pub randoms: Vec<RandomRange>,
    pub digest_names: Vec<Arc<str>>,
    pub digests: Digests,
    pub profiles: Profiles,
    pub inputs: Vec<Input>,
    /// By table, the time of each entry's last hit; empty unless hits are recorded.
    pub hits: LastHits,
    /// Start of the pass, and the length of its packet then.
    pub now: Time,
    pub bytes: u64,
    pub faults: Faults,
    /// Trace of the next pass, if that is to be traced.
    pub trace: Option<Box<Trace>>,
    pub scratch: PacketOut,
}

impl Runtime {
    /// Starts a pass of a packet with `bytes` bytes.
    pub fn begin(&mut self, now: Time, bytes: u64) {
        (self.now, self.bytes) = (now, bytes);
    }

    /// Starts a block: its checksums are clear.
    pub fn begin_block(&mut self) {
        self.checksums.iter_mut().for_each(|checksum| checksum.bytes.clear());
        self.sums.fill(OnesComplement::new());
    }
}

impl Externs for Runtime {
    #[inline]
    fn call(&mut self, call: &ExternCall, ctx: &mut Context<'_>) -> Result<(), Halt> {
        let site = self.sites.get(call.site.index()).copied().unwrap_or_default();
        self.execute(site, call, ctx)
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
        self.hits.are_noted()
    }

    fn looked_up(&mut self, matched: &Matched, _: &mut Frame) {
        self.hits.note(matched, self.now);
    }

    fn read_invalid(&mut self, read: &InvalidRead<'_>) {
        self.faults.invalid_read(read);
    }

    #[inline]
    fn trace(&mut self) -> Option<&mut Option<Box<Trace>>> {
        Some(&mut self.trace)
    }

    fn reached(&self, call: &ExternCall, ctx: &Context<'_>) -> Option<Access> {
        let (Site::ReadRegister(at) | Site::WriteRegister(at)) =
            self.sites.get(call.site.index())?
        else {
            return None;
        };
        let register = self.registers.get(*at as usize)?;
        let index = u64::try_from(scalar(call, 0, ctx)).ok()?;
        let words = register.get(usize::try_from(index).ok()?).unwrap_or_default();
        Some(Access { memory: register.name().into(), index, words, unit: Vec::new() })
    }
}

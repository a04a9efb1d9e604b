//! Extern objects at run time: their state, and the effect of each call.
//!
//! [`Runtime`] implements the interpreter's [`Externs`]. Call sites are resolved when the program
//! is loaded (`prepare`); at run time one match selects a few lines in the extern's own file. Must
//! not depend on the source of packets: a pass supplies time and length.

mod arithmetic;
mod codegen;
mod constant_arguments;
mod deparser;
mod field_validity;
mod hashes;
mod mau_externs;
mod parser_externs;
mod prepare;
mod prepared;
mod registers;
mod salu_code;
mod symmetric_hash;

pub use codegen::Stateless;
pub use deparser::{CopyTypes, MirrorRequest};
pub(crate) use hashes::SettableHash;
pub use prepare::prepare;
use prepared::Prepared;
pub use registers::RegisterState;
use symmetric_hash::Pair;

use smallvec::SmallVec;
use sojourn_control::digest::Digests;
use sojourn_control::idle_timeout::LastHits;
use sojourn_control::profiles::{Hash, Profiles};
pub(crate) use sojourn_externs::call::{answer, scalar, value};
use sojourn_externs::checksum::OnesComplement;
use sojourn_externs::counter::Counter;
use sojourn_externs::filter::Filter;
use sojourn_externs::hash_setting::SetHash;
use sojourn_externs::meter::Meter;
use sojourn_externs::random::Random;
use sojourn_p4::interp::trace::Trace;
use sojourn_p4::interp::{
    Access, ActionRun, Context, Externs, Frame, Halt, InvalidRead, Matched, PacketOut,
};
use sojourn_p4::ir::{Expr, ExternCall, ObjectId, Slot, TableId, Value};
use sojourn_packet::Time;
use sojourn_target::faults::Faults;
use std::collections::HashSet;
use std::sync::Arc;

/// Resolved call site; numbers are indices into the lists of [`Runtime`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Site {
    /// Nothing that a pass would call.
    #[default]
    None,
    Execute {
        register: u32,
        action: u32,
    },
    ExecuteDirect {
        register: u32,
        action: u32,
    },
    ReadRegister {
        register: u32,
        direct: bool,
    },
    WriteRegister {
        register: u32,
        direct: bool,
    },
    ClearRegister(u32),
    Hash {
        hash: u32,
        bits: u32,
        symmetric: Option<u32>,
    },
    Random(u32),
    Count {
        counter: u32,
        direct: bool,
    },
    Meter {
        meter: u32,
        direct: bool,
        colored: bool,
    },
    Filter {
        filter: u32,
        direct: bool,
    },
    ChecksumAdd {
        checksum: u32,
        bits: u32,
    },
    ChecksumSubtract {
        checksum: u32,
        bits: u32,
    },
    ChecksumVerify(u32),
    ChecksumGet(u32),
    ChecksumDeposit(u32),
    ChecksumUpdate {
        bits: u32,
    },
    CounterSet,
    CounterAdd {
        negative: bool,
    },
    CounterIsZero,
    CounterIsNegative,
    Priority,
    /// Copies carry the type that their object was built with, if it was.
    Mirror {
        bits: u32,
        of: Option<u8>,
    },
    Resubmit {
        of: Option<u8>,
    },
    Digest {
        digest: u32,
        of: Option<u8>,
    },
    MinMax {
        min: bool,
    },
    FunnelShift,
    Invalidate,
    IsValid,
    PortMetadata {
        bytes: u32,
    },
}

/// A residual that a parser computes once its other extractions are known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ResidualChecksum {
    pub sum: OnesComplement,
    pub slot: Slot,
    /// Cursor at the request, in bits.
    pub from: u64,
}

/// Requests of one pass so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pass {
    /// Counts passes: registers remember the last one that used them.
    pub number: u64,
    pub now: Time,
    /// Length for counters and meters, frame check sequence included.
    pub bytes: u64,
    /// Copies for the deparser.
    pub copies: CopyTypes,
    /// True if one of the next three was requested.
    pub asked: bool,
    pub mirror: Option<MirrorRequest>,
    pub resubmit: Option<SmallVec<[u8; 16]>>,
    pub deposits: SmallVec<[ResidualChecksum; 2]>,
    pub parser_counter: i32,
    pub priority: u8,
}

impl Pass {
    /// Becomes the next pass.
    #[inline]
    fn begin(&mut self, now: Time, bytes: u64) {
        if self.asked {
            self.forget();
        }
        self.number += 1;
        (self.now, self.bytes) = (now, bytes);
        self.copies = CopyTypes::default();
        (self.parser_counter, self.priority) = (0, 0);
    }

    /// Resets the requests, which few passes make.
    #[cold]
    fn forget(&mut self) {
        self.asked = false;
        (self.mirror, self.resubmit) = (None, None);
        self.deposits.clear();
    }
}

/// The state of all extern objects of a program.
#[derive(Debug)]
pub struct Runtime {
    /// Bytes of resubmit data.
    resubmit_data: usize,
    /// As [`Chip::counter_mask_in_bits`](crate::chip::Chip::counter_mask_in_bits).
    counter_mask_in_bits: bool,
    pub(crate) sites: Vec<Site>,
    /// By site, what is worked out beforehand.
    prepared: Vec<Prepared>,
    pub(crate) registers: Vec<RegisterState>,
    pub(crate) hashes: Vec<Hash>,
    /// Control-plane settings of hashes, by their index.
    pub(crate) set_hashes: Vec<Option<Box<SetHash>>>,
    /// Hashes that it can make something of.
    pub(crate) settable: Vec<SettableHash>,
    /// The pairs of fields that calls of symmetric hashes exchange.
    pub(crate) symmetric: Vec<Vec<Pair>>,
    pub(crate) randoms: Vec<Random>,
    pub(crate) counters: Vec<(Arc<str>, Counter)>,
    pub(crate) meters: Vec<(Arc<str>, Meter)>,
    pub(crate) filters: Vec<(Arc<str>, Filter)>,
    pub(crate) checksums: Vec<OnesComplement>,
    pub(crate) digest_names: Vec<Arc<str>>,
    pub(crate) digests: Digests,
    pub(crate) profiles: Profiles,
    pub(crate) hits: LastHits,
    pub(crate) pass: Pass,
    pub(crate) faults: Faults,
    /// Trace of the next pass, if that is to be traced.
    pub(crate) trace: Option<Box<Trace>>,
    /// Error value of a parser counter loaded beyond its maximum.
    pub(crate) counter_range: u32,
    pub(crate) scratch: PacketOut,
    /// Registers with a second copy, for ghost and ingress in turn.
    pub(crate) duplicated: Vec<usize>,
}

impl Runtime {
    /// Gives registers a second copy.
    pub(crate) fn duplicate(&mut self, registers: &HashSet<ObjectId>) {
        let all = self.registers.iter_mut().enumerate();
        let chosen = all.filter(|(_, state)| registers.contains(&state.compiled.object));
        self.duplicated = chosen
            .map(|(at, state)| {
                state.duplicate();
                at
            })
            .collect();
    }

    /// Exchanges the copies of those registers: a pass on the second ones is between two calls.
    pub(crate) fn exchange_copies(&mut self) {
        self.duplicated.iter().for_each(|at| self.registers[*at].exchange());
    }

    /// Starts a pass of a packet of `bytes` bytes at `now`.
    #[inline]
    pub(crate) fn begin(&mut self, now: Time, bytes: u64) {
        self.pass.begin(now, bytes);
        if !self.checksums.is_empty() {
            self.checksums.fill(OnesComplement::new());
        }
    }

    /// The bytes of a call's first argument of `bits` bits, filled up with zeros in front.
    #[inline]
    pub(crate) fn bytes_of_first(
        &mut self,
        call: &ExternCall,
        bits: u32,
        ctx: &Context<'_>,
    ) -> Option<&[u8]> {
        if let Some(Prepared { data: Some(fields), .. }) = self.prepared.get(call.site.index()) {
            self.scratch.clear();
            fields.write(ctx.frame(), &mut self.scratch);
            return Some(self.scratch.bytes());
        }
        Some(self.bytes_of(value(call, 0)?, bits, ctx))
    }

    /// The bytes of a value of `bits` bits, filled up with zeros in front.
    pub(crate) fn bytes_of(&mut self, value: &Value, bits: u32, ctx: &Context<'_>) -> &[u8] {
        self.scratch.clear();
        self.scratch.append(0, bits.next_multiple_of(8) - bits);
        ctx.append_value(value, &mut self.scratch);
        self.scratch.align();
        self.scratch.bytes()
    }

    /// A value as bytes, filled up with zeros behind.
    pub(crate) fn bytes_from_front(&mut self, value: &Value, ctx: &Context<'_>) -> &[u8] {
        self.scratch.clear();
        ctx.append_value(value, &mut self.scratch);
        self.scratch.align();
        self.scratch.bytes()
    }
}

/// A packet field that a stateful ALU gets.
#[inline]
pub(crate) fn field(field: Option<&Expr>, ctx: &Context<'_>) -> u64 {
    field.map_or(0, |field| ctx.eval(field) as u64)
}

impl Externs for Runtime {
    #[inline]
    fn call(&mut self, call: &ExternCall, ctx: &mut Context<'_>) -> Result<(), Halt> {
        let site = self.sites.get(call.site.index()).copied().unwrap_or_default();
        match site {
            Site::Execute { register, action } => self.execute(register, action, call, ctx),
            Site::ExecuteDirect { register, action } => {
                self.execute_direct(register, action, call, ctx);
            }
            Site::ReadRegister { register, direct } => {
                self.read_register(register, direct, call, ctx);
            }
            Site::WriteRegister { register, direct } => {
                self.write_register(register, direct, call, ctx);
            }
            Site::ClearRegister(register) => self.clear_register(register, call, ctx),
            Site::Hash { hash, bits, symmetric } => self.hash(hash, bits, symmetric, call, ctx),
            Site::Random(random) => {
                let number = self.randoms[random as usize].get();
                answer(call, ctx, number);
            }
            Site::Count { counter, direct } => self.count(counter, direct, call, ctx),
            Site::Meter { meter, direct, colored } => {
                self.meter(meter, direct, colored, call, ctx);
            }
            Site::None => {
                return Err(Halt::NotImplemented { name: call.name.clone(), span: call.span });
            }
            other => self.rare(other, call, ctx),
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
        self.hits.are_noted()
    }

    #[inline]
    fn looked_up(&mut self, matched: &Matched, _: &mut Frame) {
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
        self.reached_register(call, ctx)
    }
}

impl Runtime {
    /// Calls of parsers, deparsers, filters and small functions.
    fn rare(&mut self, site: Site, call: &ExternCall, ctx: &mut Context<'_>) {
        match site {
            Site::Filter { filter, direct } => self.filter(filter, direct, call, ctx),
            Site::ChecksumAdd { checksum, bits } => self.sum(checksum, bits, false, call, ctx),
            Site::ChecksumSubtract { checksum, bits } => self.sum(checksum, bits, true, call, ctx),
            Site::ChecksumVerify(checksum) => {
                // The engine's result bit is set for an error.
                let error = !self.checksums[checksum as usize].verify();
                answer(call, ctx, error.into());
            }
            Site::ChecksumGet(checksum) => {
                let sum = self.checksums[checksum as usize].sum();
                answer(call, ctx, sum.into());
            }
            Site::ChecksumDeposit(checksum) => self.deposit_later(checksum, call, ctx),
            Site::ChecksumUpdate { bits } => self.update_checksum(bits, call, ctx),
            Site::CounterSet => self.set_parser_counter(call, ctx),
            Site::CounterAdd { negative } => self.add_to_parser_counter(negative, call, ctx),
            Site::CounterIsZero => {
                answer(call, ctx, u128::from(self.pass.parser_counter == 0));
            }
            Site::CounterIsNegative => {
                answer(call, ctx, u128::from(self.pass.parser_counter < 0));
            }
            Site::Priority => self.pass.priority = scalar(call, 0, ctx) as u8,
            Site::Mirror { bits, of } => self.request_mirror(bits, of, call, ctx),
            Site::Resubmit { of } => self.request_resubmit(of, call, ctx),
            Site::Digest { digest, of } => self.pack_digest(digest, of, call, ctx),
            Site::MinMax { min } => arithmetic::min_max(min, call, ctx),
            Site::FunnelShift => arithmetic::funnel_shift(call, ctx),
            Site::Invalidate => field_validity::invalidate(call, ctx),
            Site::IsValid => field_validity::is_validated(call, ctx),
            Site::PortMetadata { bytes } => parser_externs::port_metadata(bytes, call, ctx),
            _ => {}
        }
    }
}

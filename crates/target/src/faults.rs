//! Faults of a program while packets pass: operations beyond the target's capabilities, and
//! violated claims of the program itself.
//!
//! Depends on the positions that the interpreter's halts and calls carry. It must not decide about
//! a packet and must not depend on its readers.

use sojourn_p4::interp::{Halt, InvalidRead};
use sojourn_p4::source::{SourceMap, Span};
pub use sojourn_packet::FaultReport;
use std::sync::Arc;

/// Faults of one kind: how many, and the first of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fault {
    /// Number of occurrences.
    pub count: u64,
    /// Message of the first.
    pub first: Option<Arc<str>>,
    /// Source span of the first, if known.
    pub place: Option<Span>,
}

impl Fault {
    /// Counts one; the first one's details are recorded.
    fn add(&mut self, place: Option<Span>, text: impl FnOnce() -> Arc<str>) {
        self.add_many(1, place, text);
    }

    /// Counts so many, of which the first is described.
    fn add_many(&mut self, count: u64, place: Option<Span>, text: impl FnOnce() -> Arc<str>) {
        self.count += count;
        if self.first.is_none() {
            (self.first, self.place) = (Some(text()), place);
        }
    }
}

/// Counters of requests by the program that the target cannot fulfil.
///
/// ```
/// use sojourn_target::{Fault, FaultKind, Faults};
/// let overruns = Fault { count: 3, first: Some("no thread was free".into()), place: None };
/// let faults = Faults { overruns, ..Faults::default() };
/// assert_eq!(faults.report(None)[0].kind, FaultKind::Overrun.name());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// A packet accessed a register a second time in one pass; the access did nothing (T0705).
    pub second_accesses: Fault,
    /// A field of a header was read that was not valid; the value is what the target says it is.
    pub invalid_reads: Fault,
    /// `assert` or `assume` did not hold; the packet was dropped.
    pub failed_claims: Fault,
    /// A thread wrote what it had made of a value that another one has changed since.
    pub lost_updates: Fault,
    /// A thread would have waited for itself; its packet was dropped.
    pub deadlocks: Fault,
    /// A packet came while no thread was free and the input buffer was full; it was dropped.
    pub overruns: Fault,
    /// A pass was ended because the program went round a loop too often, or called something that
    /// is not there; the packet was dropped.
    pub halted: Fault,
}

impl Faults {
    /// A pass was ended.
    pub fn halted(&mut self, halt: &Halt) {
        let kind = match halt {
            // Only a claim of the program's own ends a pass by an extern.
            Halt::Extern { .. } => &mut self.failed_claims,
            _ => &mut self.halted,
        };
        kind.add(halt.span(), || halt.to_string().into());
    }

    /// A packet accessed the register `name` once more at `place`.
    #[cold]
    pub fn second_access(&mut self, name: &str, place: Span) {
        let text = || format!("the register `{name}` is accessed a second time").into();
        self.second_accesses.add(Some(place), text);
    }

    /// A run of a block has read fields of invalid headers.
    #[cold]
    pub fn invalid_read(&mut self, read: &InvalidRead<'_>) {
        let text = || format!("`{}` is read while its header is invalid", read.field).into();
        self.invalid_reads.add_many(read.count, Some(read.place), text);
    }

    /// Records a hash at `place` over fields of an invalid header, `field` the first of them.
    #[cold]
    pub fn invalid_hash(&mut self, field: &str, place: Span) {
        let text = || format!("a hash wants `{field}` while its header is invalid").into();
        self.invalid_reads.add(Some(place), text);
    }

    /// The thread at `place` has written over a change of the memory `name`.
    pub fn lost_update(&mut self, name: &str, place: Span) {
        let text =
            || format!("`{name}` was changed between this thread's read and its write").into();
        self.lost_updates.add(Some(place), text);
    }

    /// The thread at `place` would have waited for itself.
    #[cold]
    pub fn deadlock(&mut self, place: Span) {
        let text = || "the lock is held by a thread that waits for this one".into();
        self.deadlocks.add(Some(place), text);
    }

    /// A packet found no room.
    pub fn overrun(&mut self) {
        self.overruns.add(None, || "all threads were at work and the input buffer was full".into());
    }

    /// The first fault that dropped a packet.
    pub fn first_drop(&self) -> Option<&Arc<str>> {
        let dropping = [&self.halted, &self.failed_claims, &self.deadlocks, &self.overruns];
        dropping.into_iter().find_map(|fault| fault.first.as_ref())
    }

    /// The kinds that happened, for a run's counters; places are looked up in `sources`.
    pub fn report(&self, sources: Option<&SourceMap>) -> Vec<FaultReport> {
        let kinds = [
            (FaultKind::SecondAccess, &self.second_accesses),
            (FaultKind::InvalidRead, &self.invalid_reads),
            (FaultKind::FailedClaim, &self.failed_claims),
            (FaultKind::LostUpdate, &self.lost_updates),
            (FaultKind::Deadlock, &self.deadlocks),
            (FaultKind::Overrun, &self.overruns),
            (FaultKind::Halted, &self.halted),
        ];
        let happened = kinds.into_iter().filter(|(_, fault)| fault.count > 0);
        let report = |(kind, fault): (FaultKind, &Fault)| FaultReport {
            kind: kind.name(),
            count: fault.count,
            first: fault.first.as_deref().unwrap_or_default().to_owned(),
            place: fault.place.and_then(|at| Some(sources?.location(at)?.to_string())),
        };
        happened.map(report).collect()
    }
}

/// Kind of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// A register was accessed twice in one pass; the second access did nothing.
    SecondAccess,
    /// A field of an invalid header was read.
    InvalidRead,
    /// `assert` or `assume` did not hold; the packet was dropped.
    FailedClaim,
    /// A thread wrote over what another one had changed.
    LostUpdate,
    /// A thread would have waited for itself; the packet was dropped.
    Deadlock,
    /// No thread and no room for a packet; it was dropped.
    Overrun,
    /// A pass could not be ended; the packet was dropped.
    Halted,
}

impl FaultKind {
    /// As a run's counters call it.
    pub const fn name(self) -> &'static str {
        match self {
            FaultKind::SecondAccess => "second_access",
            FaultKind::InvalidRead => "invalid_read",
            FaultKind::FailedClaim => "failed_claim",
            FaultKind::LostUpdate => "lost_update",
            FaultKind::Deadlock => "deadlock",
            FaultKind::Overrun => "overrun",
            FaultKind::Halted => "halted",
        }
    }
}

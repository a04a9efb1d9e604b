//! Faults of a program at run time: operations beyond the target's capabilities, and violated
//! assertions of the program.
//!
//! Depends on the positions in the interpreter's halts and calls. Must not decide about a packet,
//! nor depend on its readers.

use sojourn_p4::interp::{Halt, InvalidRead};
use sojourn_p4::source::{SourceMap, Span};
pub use sojourn_packet::FaultReport;
use std::sync::Arc;

/// Faults of one kind: their number, and the first of them.
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

    /// Counts `count` faults, of which the first is described.
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
    /// A read of a field of an invalid header; the target defines the value.
    pub invalid_reads: Fault,
    /// `assert` or `assume` did not hold; the packet was dropped.
    pub failed_claims: Fault,
    /// A thread wrote a result of a value that another thread had changed since.
    pub lost_updates: Fault,
    /// A thread would have waited for itself; its packet was dropped.
    pub deadlocks: Fault,
    /// A packet arrived while all threads were busy and the input buffer was full; it was dropped.
    pub overruns: Fault,
    /// A pass was stopped because the program exceeded the limit of loop iterations, or called an
    /// unknown function; the packet was dropped.
    pub halted: Fault,
}

impl Faults {
    /// Records a stopped pass.
    pub fn halted(&mut self, halt: &Halt) {
        let kind = match halt {
            // Only an assertion of the program ends a pass by an extern.
            Halt::Extern { .. } => &mut self.failed_claims,
            _ => &mut self.halted,
        };
        kind.add(halt.span(), || halt.to_string().into());
    }

    /// Records a second access to the register `name` at `place`.
    #[cold]
    pub fn second_access(&mut self, name: &str, place: Span) {
        let text = || format!("the register `{name}` is accessed a second time").into();
        self.second_accesses.add(Some(place), text);
    }

    /// Records reads of fields of invalid headers in a run of a block.
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

    /// Records that the thread at `place` has overwritten a change of the memory `name`.
    pub fn lost_update(&mut self, name: &str, place: Span) {
        let text =
            || format!("`{name}` was changed between this thread's read and its write").into();
        self.lost_updates.add(Some(place), text);
    }

    /// Records that the thread at `place` would have waited for itself.
    #[cold]
    pub fn deadlock(&mut self, place: Span) {
        let text = || "the lock is held by a thread that waits for this one".into();
        self.deadlocks.add(Some(place), text);
    }

    /// Records a packet dropped for lack of a buffer.
    pub fn overrun(&mut self) {
        self.overruns.add(None, || "all threads were at work and the input buffer was full".into());
    }

    /// The first fault that dropped a packet.
    pub fn first_drop(&self) -> Option<&Arc<str>> {
        let dropping = [&self.halted, &self.failed_claims, &self.deadlocks, &self.overruns];
        dropping.into_iter().find_map(|fault| fault.first.as_ref())
    }

    /// The kinds that occurred, for a run's counters; positions are looked up in `sources`.
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
    /// A thread overwrote another thread's change.
    LostUpdate,
    /// A thread would have waited for itself; the packet was dropped.
    Deadlock,
    /// No thread and no buffer was free for a packet; it was dropped.
    Overrun,
    /// A pass was stopped; the packet was dropped.
    Halted,
}

impl FaultKind {
    /// Name in a run's counters.
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

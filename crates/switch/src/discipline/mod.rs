//! Native queue disciplines, one file each, as references to hold P4 programs against.
//!
//! A [`Discipline`] owns the packets of one queue and decides about order, drops and marks. It uses
//! the packets' enqueue times and headers; must not depend on ports, rates, shapers or cells. To
//! add one, write its file and add one line to [`REGISTRY`]; a crate of its own calls
//! [`Registry::add`].
//!
//! There is no timer for disciplines: one that works periodically (PIE, PI2) does what has become
//! due before each enqueue and dequeue, which comes to the same, because between those two nothing
//! that it reads changes except time.

pub mod aifo;
mod backlog;
pub mod cake;
pub mod cobalt;
pub mod codel;
pub mod codel_2021;
pub mod codel_linux;
pub mod controlled;
pub mod dualpi2;
pub mod fifo;
mod flow_hash;
pub mod fq_codel;
pub mod packs;
mod parameters;
pub mod pi2;
pub mod pie;
pub mod pie_linux;
pub mod pifo;
mod probability;
mod rank;
pub mod red;
pub mod sp_pifo;
#[cfg(test)]
mod testing;

pub use crate::tm::queued_packet::{Contents, Queued};
pub use backlog::{Backlog, QueueLength};
pub use flow_hash::flow_hash;
pub use parameters::{Allowed, Kind, Parameter, Settings};
use sojourn_packet::{Bytes, FaultReport, Named, Registry, Time};
use std::fmt;

/// Largest time that a parameter may be: an hour, so that no sum of times overflows.
pub const LONGEST: Time = Time::from_secs(3_600);
/// Size of a full Ethernet frame without FCS, which is how sizes are counted here.
pub const FULL_FRAME: Bytes = Bytes(1514);

/// Reason why a discipline drops a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropKind {
    /// There is no room for it.
    Tail,
    /// To signal congestion.
    Aqm,
}

/// List of the packets that a discipline drops, so that they are counted.
#[derive(Debug, Default)]
pub struct Drops {
    dropped: Vec<(Queued, DropKind)>,
    halted: Option<Box<str>>,
}

impl Drops {
    /// Drops a packet.
    pub fn push(&mut self, packet: Queued, kind: DropKind) {
        self.dropped.push((packet, kind));
    }

    /// Takes out what was dropped, in order; nothing once the run is to end.
    pub fn drain(&mut self) -> impl Iterator<Item = (Queued, DropKind)> + '_ {
        if self.halted.is_some() {
            self.dropped.clear();
        }
        self.dropped.drain(..)
    }

    /// Ends the run: the discipline cannot decide about its packets. The first reason counts.
    pub fn halt(&mut self, reason: String) {
        self.halted.get_or_insert(reason.into());
    }

    /// The reason to end the run, if a discipline has given one.
    pub fn halted(&self) -> Option<&str> {
        self.halted.as_deref()
    }

    /// Dropped packets, in order.
    pub fn iter(&self) -> impl Iterator<Item = &Queued> {
        self.dropped.iter().map(|(packet, _)| packet)
    }

    /// True if nothing was dropped.
    pub fn is_empty(&self) -> bool {
        self.dropped.is_empty()
    }
}

/// A queue with its management.
pub trait Discipline: Send + fmt::Debug {
    /// Takes a packet in; it, or others, may be dropped instead.
    fn enqueue(&mut self, now: Time, packet: Queued, drops: &mut Drops);

    /// Whether a packet that finds its queue's room used up comes in all the same, and others make
    /// room for it by [`Discipline::shed`]. Without, that packet is dropped.
    fn sheds(&self) -> bool {
        false
    }

    /// Drops some of what it holds, because that needs more room than there is.
    fn shed(&mut self, _drops: &mut Drops) {}

    /// The packet to be sent now; on the way to it, others may be dropped.
    fn dequeue(&mut self, now: Time, drops: &mut Drops) -> Option<Queued>;

    /// Its length.
    fn length(&self) -> QueueLength;

    /// Whether it reads more of a frame than its length and its ECN field. If none does, hosts need
    /// not write more.
    fn reads_frames(&self) -> bool {
        true
    }

    /// Whether it may mark packets.
    fn marks(&self) -> bool {
        true
    }

    /// Packets held.
    fn packets(&self) -> usize {
        self.length().packets
    }

    /// Bytes held.
    fn bytes(&self) -> Bytes {
        self.length().bytes
    }

    /// Its own counters, by name.
    fn counters(&self) -> Vec<(&'static str, u64)> {
        Vec::new()
    }

    /// Its decision about a packet that leaves an external queue: true if it is dropped. `backlog`
    /// remains behind the packet, which has `size` bytes. Most disciplines decide only about their
    /// own queue, and return `None`.
    fn decides(
        &mut self,
        _now: Time,
        _sojourn: Time,
        _backlog: Bytes,
        _size: Bytes,
    ) -> Option<bool> {
        None
    }

    /// Faults that did not end the run. Native disciplines have none; one that runs external code
    /// may.
    fn faults(&self) -> Vec<FaultReport> {
        Vec::new()
    }
}

/// Reason why a discipline could not be created.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
pub enum DisciplineError {
    /// No discipline of that name.
    #[error("no native discipline is named `{0}`")]
    Unknown(String),
    /// The discipline has no such parameter.
    #[error("{discipline} has no parameter `{parameter}`")]
    UnknownParameter {
        /// The discipline.
        discipline: &'static str,
        /// The parameter.
        parameter: String,
    },
    /// Code from outside failed while it made the discipline.
    #[error("{0}")]
    Made(String),
    /// A parameter's value is not allowed.
    #[error("{discipline}: `{parameter}` is {value}, allowed is {allowed}")]
    Value {
        /// The discipline.
        discipline: &'static str,
        /// The parameter.
        parameter: &'static str,
        /// Its value.
        value: u64,
        /// Allowed values.
        allowed: Allowed,
    },
}

/// A discipline that can be chosen by name.
#[derive(Clone, Copy)]
pub struct Registered {
    /// Name.
    pub name: &'static str,
    /// One line.
    pub summary: &'static str,
    /// Its parameters.
    pub parameters: &'static [Parameter],
    /// Makes one from the parameters that differ from the defaults; the names have been checked.
    pub build: fn(&Settings) -> Result<Box<dyn Discipline>, DisciplineError>,
}

/// The native disciplines: those of this crate, one line each, and what others add.
///
/// ```
/// use sojourn_switch::discipline::{self, Discipline, REGISTRY, Registered, fifo};
/// static MINE: Registered = Registered {
///     name: "mine",
///     summary: "drops from the tail",
///     ..fifo::REGISTRATION
/// };
/// REGISTRY.add(&MINE).expect("a new name");
/// assert_eq!(discipline::build("mine", &[]).expect("it is known").packets(), 0);
/// ```
pub static REGISTRY: Registry<Registered> = Registry::new(&[
    fifo::REGISTRATION,
    red::REGISTRATION,
    codel::REGISTRATION,
    codel_2021::REGISTRATION,
    codel_linux::REGISTRATION,
    fq_codel::REGISTRATION,
    cobalt::REGISTRATION,
    cake::REGISTRATION,
    pie::REGISTRATION,
    pie_linux::REGISTRATION,
    pi2::REGISTRATION,
    dualpi2::REGISTRATION,
    dualpi2::LINUX_REGISTRATION,
    pifo::REGISTRATION,
    sp_pifo::REGISTRATION,
    aifo::REGISTRATION,
    packs::REGISTRATION,
]);

impl Named for Registered {
    fn name(&self) -> &'static str {
        self.name
    }
}

/// Limits of a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Most bytes held. Default: no limit but the queue's share of the packet buffer.
    pub bytes: Option<Bytes>,
    /// Most packets held. Default: no limit.
    pub packets: Option<u64>,
}

impl Limits {
    /// True if a packet of `size` fits behind those that are held.
    pub fn have_room(&self, held: QueueLength, size: Bytes) -> bool {
        self.allow(QueueLength { packets: held.packets + 1, bytes: held.bytes + size })
    }

    /// True if a queue of this length is within the limits.
    pub fn allow(&self, length: QueueLength) -> bool {
        self.bytes.is_none_or(|limit| length.bytes <= limit)
            && self.packets.is_none_or(|limit| length.packets as u64 <= limit)
    }
}

const LIMIT_BYTES: Parameter = Parameter::off(
    "limit_bytes",
    Kind::Size,
    "most bytes held; without it, the queue's share of the buffer",
);
const LIMIT_PACKETS: Parameter =
    Parameter::off("limit_packets", Kind::Packets, "most packets held; without it, no limit");
const ECN: Parameter = Parameter::new(
    "ecn",
    Kind::Flag,
    0,
    "mark packets of ECN-capable transports instead of dropping",
);
/// The seed of a discipline's random numbers, or of its hash.
pub const SEED: Parameter = Parameter::new(
    "seed",
    Kind::Number,
    1,
    "seed of the random numbers; a run gives its own seed if this is not set",
);

/// Makes the discipline `name` with those parameters that differ from the defaults.
///
/// # Errors
/// If there is no such discipline or parameter, or a value is not allowed.
pub fn build(
    name: &str,
    parameters: &[(&str, u64)],
) -> Result<Box<dyn Discipline>, DisciplineError> {
    let found = REGISTRY.find(name).ok_or_else(|| DisciplineError::Unknown(name.to_owned()))?;
    for (parameter, _) in parameters {
        if !found.parameters.iter().any(|p| p.name == *parameter) {
            let parameter = (*parameter).to_owned();
            return Err(DisciplineError::UnknownParameter { discipline: found.name, parameter });
        }
    }
    (found.build)(&Settings {
        discipline: found.name,
        given: parameters,
        parameters: found.parameters,
    })
}

/// The same for a run: a discipline that draws random numbers draws them from `seed`, unless it was
/// given one of its own.
///
/// # Errors
/// As [`build`].
pub fn build_seeded(
    name: &str,
    parameters: &[(&str, u64)],
    seed: u64,
) -> Result<Box<dyn Discipline>, DisciplineError> {
    let takes_one = REGISTRY
        .find(name)
        .is_some_and(|found| found.parameters.iter().any(|parameter| parameter.name == SEED.name));
    let given = parameters.iter().any(|(parameter, _)| *parameter == SEED.name);
    if !takes_one || given {
        return build(name, parameters);
    }
    build(name, &[parameters, &[(SEED.name, seed)]].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_registered_discipline_can_be_made_with_its_defaults() {
        for registered in REGISTRY.all() {
            assert!(build(registered.name, &[]).is_ok(), "{}", registered.name);
        }
    }

    #[test]
    fn values_out_of_range_are_refused_with_the_allowed_range() {
        for (discipline, given, message) in [
            ("fifo", ("limit_packets", 0), "`limit_packets` is 0, allowed is 1 packets or more"),
            ("red", ("limit_bytes", 0), "`limit_bytes` is 0, allowed is 1 bytes or more"),
            ("red", ("max_th", 5), "`max_th` is 5, allowed is 6 to 1000000 packets"),
            ("codel", ("target", 0), "`target` is 0, allowed is 1 to 3600000000000 ns"),
            ("codel_linux", ("ce_threshold", 7), "is 7, allowed is 1024 to 100000000000 ns"),
            ("fq_codel", ("ce_threshold", 0), "is 0, allowed is 1 to 3600000000000 ns"),
            ("pie", ("mark_ecnth", 1_000_001), "allowed is 0 to 1000000 ppm"),
            (
                "cobalt",
                ("interval", 5_000_000_000),
                "is 5000000000, allowed is 1000 to 4294967295 ns",
            ),
            ("cake", ("memlimit", 0), "`memlimit` is 0, allowed is 1 bytes or more"),
            ("dualpi2", ("k", 0), "`k` is 0, allowed is 1 to 100"),
            ("pie", ("ecn", 2), "`ecn` is 2, allowed is 0 or 1"),
        ] {
            let error = build(discipline, &[given]).unwrap_err().to_string();
            assert!(error.starts_with(discipline) && error.ends_with(message), "{error}");
        }
    }

    #[test]
    fn times_beyond_linuxs_codel_clock_are_refused_where_it_is_used() {
        let hour = LONGEST.0;
        assert!(build("fq_codel", &[("interval", hour)]).is_ok());
        let error = build("fq_codel", &[("linux", 1), ("interval", hour)]).unwrap_err();
        assert!(error.to_string().ends_with("allowed is 1024 to 100000000000 ns"), "{error}");
    }

    #[test]
    fn unknown_names_are_refused() {
        assert_eq!(build("coddle", &[]).unwrap_err(), DisciplineError::Unknown("coddle".into()));
        let error = build("codel", &[("traget", 1)]).unwrap_err();
        assert_eq!(error.to_string(), "codel has no parameter `traget`");
    }
}

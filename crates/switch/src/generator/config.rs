//! Configuration of packet generators, as data, and the limits of the chip that it is held to.

use sojourn_packet::{PacketGenerator, PortId, Time};
use thiserror::Error;

/// Bytes of a line of the buffer, in multiples of which contents begin.
pub(super) const LINE: usize = 16;
/// The longest timer and gap: the hardware's registers count nanoseconds in 32 bits.
const LONGEST: Time = Time(u32::MAX as u64);

/// Trigger of an application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trigger {
    /// Once, so long after it is enabled.
    Once(Time),
    /// Again and again, first so long after it is enabled.
    Every(Time),
    /// A port of the pipe that goes down.
    PortDown,
    /// A packet that comes back through a port where patterns are looked for, and begins with these
    /// bits.
    Pattern {
        /// The leading bytes as a number, as many as the chip compares.
        value: u128,
        /// Mask of the bits that count.
        mask: u128,
    },
}

impl Default for Trigger {
    fn default() -> Trigger {
        Trigger::Once(Time::ZERO)
    }
}

/// An application, as a chip's registers have it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Application {
    /// Its trigger.
    pub trigger: Trigger,
    /// Bytes of its packets, without the header.
    pub length: u16,
    /// Offset of their contents in the buffer.
    pub offset: u16,
    /// The port that they come in by, in the pipe.
    pub source_port: u16,
    /// Each packet of a batch comes in by the next port.
    pub increments: bool,
    /// Batches of a trigger, less one.
    pub batches: u16,
    /// Packets of a batch, less one.
    pub packets: u16,
    /// From the start of a batch to that of the next.
    pub batch_gap: Time,
    /// From the start of a packet to that of the next.
    pub packet_gap: Time,
    /// It heeds its trigger.
    pub enabled: bool,
    /// Number of times it was triggered.
    pub triggered: u64,
    /// Batches that were begun.
    pub batches_made: u64,
    /// Packets that were made.
    pub packets_made: u64,
}

impl Application {
    /// Checks the application against the chip's limits. Contents and timers count once it is
    /// enabled.
    pub(super) fn check(&self, chip: &PacketGenerator) -> Result<(), GeneratorError> {
        let Application { length, offset, source_port, trigger, .. } = *self;
        let size = chip.buffer;
        if u32::from(offset) + u32::from(length) > u32::from(size) {
            return Err(GeneratorError::Beyond { offset, length: length.into(), size });
        }
        if !usize::from(offset).is_multiple_of(LINE) {
            return Err(GeneratorError::Line(offset));
        }
        let last = source_port.saturating_add(if self.increments { self.packets } else { 0 });
        if last >= chip.pipe_ports {
            return Err(GeneratorError::SourcePort { port: last, last: chip.pipe_ports - 1 });
        }
        if trigger == Trigger::PortDown && self.batches > 0 {
            return Err(GeneratorError::PortDownBatches(u32::from(self.batches) + 1));
        }
        if let Trigger::Pattern { value, mask } = trigger {
            let bits = 8 * chip.pattern_bytes as u32;
            if bits < u128::BITS && (value | mask) >> bits != 0 {
                return Err(GeneratorError::Pattern { bits });
            }
        }
        let (batch, packet) = (self.batch_gap, self.packet_gap);
        for (what, gap) in [("batch_gap", batch), ("packet_gap", packet)] {
            if gap > LONGEST {
                return Err(GeneratorError::LongGap { what, gap });
            }
        }
        if self.enabled { self.check_enabled(chip) } else { Ok(()) }
    }

    fn check_enabled(&self, chip: &PacketGenerator) -> Result<(), GeneratorError> {
        if self.length < chip.shortest {
            return Err(GeneratorError::Short { length: self.length, least: chip.shortest });
        }
        match self.trigger {
            Trigger::Every(Time::ZERO) => Err(GeneratorError::NoPeriod),
            Trigger::Every(timer) if timer > LONGEST => {
                Err(GeneratorError::LongTimer { what: "periodic", timer })
            }
            Trigger::Once(timer) if timer > LONGEST => {
                Err(GeneratorError::LongTimer { what: "one_shot", timer })
            }
            _ => Ok(()),
        }
    }
}

/// An application with all that it needs, for a caller who does not manage the buffer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GeneratorSetting {
    /// The pipe.
    pub pipe: u8,
    /// The application's number.
    pub number: u8,
    /// Its trigger.
    pub trigger: Trigger,
    /// Contents of its packets, for which a place in the buffer is found.
    pub contents: Vec<u8>,
    /// Batches of a trigger, 1 to 65,536.
    pub batches: u32,
    /// Packets of a batch, 1 to 65,536.
    pub packets: u32,
    /// From the start of a batch to that of the next.
    pub batch_gap: Time,
    /// From the start of a packet to that of the next.
    pub packet_gap: Time,
    /// The port of the pipe that generates and is searched for patterns; the chip's default if
    /// absent.
    pub port: Option<u16>,
    /// The port that the packets come in by, in the pipe; the one that generates if absent.
    pub source_port: Option<u16>,
    /// Each packet of a batch comes in by the next port.
    pub increments: bool,
    /// Ports of the pipe that trigger once when they go down; every one if empty.
    pub going_down: Vec<u16>,
}

impl GeneratorSetting {
    /// The application of this setting, with its contents at `offset`.
    pub(super) fn application(
        &self,
        chip: &PacketGenerator,
        offset: u16,
    ) -> Result<Application, GeneratorError> {
        let port = self.port.unwrap_or(chip.default_port);
        check_port(chip, port)?;
        let made = |what, count: u32| {
            let less_one = count.checked_sub(1).and_then(|less| u16::try_from(less).ok());
            less_one.ok_or(GeneratorError::Count { what, count })
        };
        if let Some(port) = self.going_down.iter().find(|port| **port >= chip.pipe_ports) {
            return Err(GeneratorError::DownPort { port: *port, last: chip.pipe_ports - 1 });
        }
        let application = Application {
            trigger: self.trigger,
            length: self.contents.len() as u16,
            offset,
            source_port: self.source_port.unwrap_or(port),
            increments: self.increments,
            batches: made("batches", self.batches)?,
            packets: made("packets", self.packets)?,
            batch_gap: self.batch_gap,
            packet_gap: self.packet_gap,
            enabled: true,
            ..Application::default()
        };
        application.check(chip)?;
        Ok(application)
    }
}

/// Checks that a port of a pipe can generate.
pub(super) fn check_port(chip: &PacketGenerator, port: u16) -> Result<(), GeneratorError> {
    let (first, last) = chip.ports;
    match chip.generates(port) {
        true => Ok(()),
        false => Err(GeneratorError::Port { port, first, last }),
    }
}

/// A change of a generator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GeneratorChange {
    /// Sets an application of a pipe.
    Application(u8, u8, Box<Application>),
    /// Writes into the buffer of a pipe.
    Buffer(u8, u16, Vec<u8>),
    /// Whether a port generates. A pipe generates if one of its ports does.
    Generates(PortId, bool),
    /// Whether packets that come back through a port are compared with patterns.
    Matches(PortId, bool),
    /// A port that goes down triggers once.
    Arm(PortId),
    /// Sets and enables an application, its contents and the ports that it needs.
    Whole(Box<GeneratorSetting>),
    /// Disables an application of a pipe.
    Disable(u8, u8),
}

/// Limit of a generator that a configuration exceeds.
///
/// ```
/// use sojourn_switch::GeneratorError;
/// let refused = GeneratorError::Application { number: 8, applications: 8 };
/// assert_eq!(refused.key(), "app");
/// assert_eq!(refused.to_string(), "a packet generator has applications 0 to 7, not 8");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum GeneratorError {
    /// The switch has none.
    #[error("this switch has no packet generator")]
    None,
    /// There is no such pipe.
    #[error("the switch has no pipe {pipe}; its pipes are 0 to {}", .pipes - 1)]
    Pipe {
        /// The pipe.
        pipe: u8,
        /// Number of pipes.
        pipes: u8,
    },
    /// There is no such application.
    #[error("a packet generator has applications 0 to {}, not {number}", .applications - 1)]
    Application {
        /// The application.
        number: u8,
        /// Number of applications.
        applications: u8,
    },
    /// Two settings of one application.
    #[error("application {number} of pipe {pipe} is set twice")]
    Twice {
        /// The pipe.
        pipe: u8,
        /// The application.
        number: u8,
    },
    /// A port that does not generate.
    #[error("port {port} is not the packet generator's; ports {first} to {last} of a pipe are")]
    Port {
        /// The port, in its pipe.
        port: u16,
        /// The first that can.
        first: u16,
        /// The last that can.
        last: u16,
    },
    /// A port that no pipe has.
    #[error("packets of a batch come in by port {port}; ports of a pipe are 0 to {last}")]
    SourcePort {
        /// The port, in its pipe.
        port: u16,
        /// The last port of a pipe.
        last: u16,
    },
    /// A port that no pipe has.
    #[error("port {port} cannot go down; ports of a pipe are 0 to {last}")]
    DownPort {
        /// The port, in its pipe.
        port: u16,
        /// The last port of a pipe.
        last: u16,
    },
    /// Contents do not lie in the buffer.
    #[error("{length} bytes at {offset} are not in a buffer of {size} bytes")]
    Beyond {
        /// Offset.
        offset: u16,
        /// Length.
        length: usize,
        /// Size of the buffer.
        size: u16,
    },
    /// The buffer has no room for contents.
    #[error(
        "a packet of {length} bytes; the buffer of a pipe has {size} bytes, and {room} in one \
         piece are free of other applications' packets"
    )]
    Full {
        /// Bytes of the contents.
        length: usize,
        /// The longest free piece.
        room: usize,
        /// Size of the buffer.
        size: u16,
    },
    /// Contents begin with a line.
    #[error("packets begin with a line of 16 bytes, not at {0}")]
    Line(u16),
    /// A period that is no time.
    #[error("a period of 0 ns; a periodic timer has 1 ns at least")]
    NoPeriod,
    /// A timer that its register cannot hold.
    #[error("{} ns; timers have 32 bits of nanoseconds, 4294967295 at most", .timer.0)]
    LongTimer {
        /// Kind of the timer.
        what: &'static str,
        /// Its time.
        timer: Time,
    },
    /// A gap that its register cannot hold.
    #[error("{} ns; gaps have 32 bits of nanoseconds, 4294967295 at most", .gap.0)]
    LongGap {
        /// Kind of the gap.
        what: &'static str,
        /// Its time.
        gap: Time,
    },
    /// Contents that are too short.
    #[error("a packet of {length} bytes; the generator makes {least} at least behind its header")]
    Short {
        /// Bytes.
        length: u16,
        /// The least that there can be.
        least: u16,
    },
    /// A number of batches or packets that its register cannot hold.
    #[error("{count}; it can be 1 to 65536")]
    Count {
        /// What is counted.
        what: &'static str,
        /// The number.
        count: u32,
    },
    /// Several batches where the header has no place for their numbers.
    #[error("{0} batches; a port that goes down makes one, as its number takes the batch's place")]
    PortDownBatches(u32),
    /// A pattern with more bits than are compared.
    #[error("the pattern has more bits than the {bits} that are compared")]
    Pattern {
        /// Compared bits.
        bits: u32,
    },
}

impl GeneratorError {
    /// Key of `[[pktgen]]` that the error is about; empty for the section.
    pub fn key(&self) -> &'static str {
        match self {
            GeneratorError::None => "",
            GeneratorError::Pipe { .. } => "pipe",
            GeneratorError::Application { .. } | GeneratorError::Twice { .. } => "app",
            GeneratorError::Port { .. } => "port",
            GeneratorError::SourcePort { .. } => "source_port",
            GeneratorError::DownPort { .. } => "trigger.port_down",
            GeneratorError::Beyond { .. }
            | GeneratorError::Full { .. }
            | GeneratorError::Line(_)
            | GeneratorError::Short { .. } => "packet",
            GeneratorError::NoPeriod => "trigger.periodic",
            GeneratorError::LongTimer { what: "one_shot", .. } => "trigger.one_shot",
            GeneratorError::LongTimer { .. } => "trigger.periodic",
            GeneratorError::LongGap { what, .. } | GeneratorError::Count { what, .. } => what,
            GeneratorError::PortDownBatches(_) => "batches",
            GeneratorError::Pattern { .. } => "trigger.pattern",
        }
    }
}

/// A setting among several that exceeds a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("pktgen[{at}]{}{}: {why}", if .why.key().is_empty() { "" } else { "." }, .why.key())]
pub struct SettingError {
    /// Its place, from 0.
    pub at: usize,
    /// The limit.
    pub why: GeneratorError,
}

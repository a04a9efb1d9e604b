//! Packet generators: a trigger, and then packets in batches, each with six bytes in front that say which.
//!
//! One in each pipe, with eight applications and a buffer that their packets lie in. A packet enters
//! ingress when its turn comes; between two there is the gap that is set, or the time that the
//! first takes on a path of 100 Gb/s if that is longer. Source: the vendor's public driver
//! (`pktgen_intf.h`), TNA's headers `pktgen_timer_header_t` and its like. What a trigger does while an
//! application is at work is nowhere said; here it waits its turn.

use super::{Event, Switch};
use sojourn_packet::{Packet, PacketMetadata, PortId, Time};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use thiserror::Error;

/// Applications of a pipe.
pub const APPLICATIONS: usize = 8;
/// Bytes of a pipe's buffer.
pub const BUFFER: usize = 16 * 1_024;
/// Bytes of a line of it, which packets begin with.
const LINE: usize = 16;
/// Ports of a pipe, as the chip numbers them.
const PIPE_PORTS: u16 = 128;
/// The port of a pipe that generates and is looked at for patterns, in the pipe.
pub const PORT: u16 = 68;
/// Triggers that may wait.
const WAITING: usize = 64;
/// Frame check, preamble and gap, in bytes.
const AROUND: u64 = 4 + 20;

/// Trigger of an application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trigger {
    /// Once, so long after it is enabled.
    Once(Time),
    /// Again and again, first so long after it is enabled.
    Every(Time),
    /// A port of the pipe that goes down.
    PortDown,
    /// A packet that comes back through the pipe's port 68 and begins with these 32 bits.
    Pattern {
        /// The bits.
        value: u32,
        /// Mask of the bits that count.
        mask: u32,
    },
}

impl Default for Trigger {
    fn default() -> Trigger {
        Trigger::Once(Time::ZERO)
    }
}

/// An application.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Application {
    /// Its trigger.
    pub trigger: Trigger,
    /// Bytes of its packets, without those in front.
    pub length: u16,
    /// Offset in the buffer.
    pub offset: u16,
    /// The port that they come in by, in the pipe.
    pub source_port: u16,
    /// Each comes in by the next port.
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

/// A change of a generator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GeneratorChange {
    /// Sets an application of a pipe.
    Application(u8, u8, Box<Application>),
    /// Writes into the buffer of a pipe.
    Buffer(u8, u16, Vec<u8>),
    /// Whether a pipe generates at all.
    Generates(u8, bool),
    /// Whether packets that come back in a pipe are looked at.
    Matches(u8, bool),
    /// A port that goes down triggers once.
    Arm(PortId),
}

/// Limit of a generator that a configuration exceeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum GeneratorError {
    /// There is no such application.
    #[error("a packet generator has applications 0 to 7, not {0}")]
    Application(u8),
    /// Packets do not lie in the buffer.
    #[error("{length} bytes at {offset} are not in a buffer of 16384 bytes")]
    Beyond {
        /// Offset.
        offset: u16,
        /// Length.
        length: usize,
    },
    /// Packets begin with a line.
    #[error("packets begin with a line of 16 bytes, not at {0}")]
    Line(u16),
    /// A timer that is no time.
    #[error("a timer of 0 ns")]
    Timer,
    /// Packets that are none.
    #[error("packets of 0 bytes")]
    Empty,
}

/// The generators of a switch.
///
/// ```
/// use sojourn_switch::Generators;
///
/// let generators = Generators::default();
/// // None is on until a control plane says so, and its buffer has zeros.
/// assert_eq!(generators.is_on(0), (false, false));
/// assert_eq!(generators.buffer(0, 16, 4), [0; 4]);
/// assert!(!generators.application(0, 7).enabled);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Generators {
    pipes: BTreeMap<u8, Generator>,
    /// Ports that trigger when they go down.
    armed: BTreeSet<PortId>,
}

impl Generators {
    /// An application as it is.
    pub fn application(&self, pipe: u8, number: u8) -> Application {
        let of = self.pipes.get(&pipe).and_then(|pipe| pipe.running.get(usize::from(number)));
        of.map_or_else(Application::default, |running| running.application)
    }

    /// Bytes of a pipe's buffer; zeros where nothing was written.
    pub fn buffer(&self, pipe: u8, offset: usize, length: usize) -> Vec<u8> {
        let bytes = self.pipes.get(&pipe).and_then(|pipe| pipe.buffer.get(offset..offset + length));
        bytes.map_or_else(|| vec![0; length], <[u8]>::to_vec)
    }

    /// Whether a pipe generates, and whether what comes back there is looked at.
    pub fn is_on(&self, pipe: u8) -> (bool, bool) {
        self.pipes.get(&pipe).map_or((false, false), |pipe| (pipe.generates, pipe.matches))
    }
}

/// Generator of a pipe.
#[derive(Clone, Debug)]
struct Generator {
    buffer: Vec<u8>,
    generates: bool,
    matches: bool,
    running: [Running; APPLICATIONS],
}

impl Default for Generator {
    fn default() -> Generator {
        let (buffer, running) = (vec![0; BUFFER], Default::default());
        Generator { buffer, generates: false, matches: false, running }
    }
}

/// An application and what it is at.
#[derive(Clone, Debug, Default)]
struct Running {
    application: Application,
    /// Counts the times that it was enabled: what was set in an earlier one is no longer due.
    time: u32,
    /// Contents of its packets, if it is active.
    work: Option<Work>,
    waiting: VecDeque<u32>,
}

#[derive(Clone, Copy, Debug)]
struct Work {
    /// The port or the bits that have triggered it.
    key: u32,
    batch: u16,
    packet: u16,
    batch_began: Time,
}

impl Switch {
    /// The packet generators.
    pub fn generators(&self) -> &Generators {
        &self.generators
    }

    /// A port's link has gone down at `now`.
    pub fn link_down(&mut self, now: Time, port: PortId) {
        self.advance(now);
        if self.generators.armed.remove(&port) {
            let pipe = (port.0 / PIPE_PORTS) as u8;
            self.trigger_all(pipe, u32::from(port.0), |trigger| trigger == Trigger::PortDown);
        }
        self.advance(now);
    }

    pub(super) fn change_generator(
        &mut self,
        change: &GeneratorChange,
    ) -> Result<Generators, GeneratorError> {
        let before = self.generators.clone();
        match change {
            GeneratorChange::Application(pipe, number, application) => {
                check(application)?;
                self.set_application(*pipe, *number, application)?;
            }
            GeneratorChange::Buffer(pipe, offset, bytes) => {
                let (offset, length) = (*offset, bytes.len());
                let place = usize::from(offset)..usize::from(offset) + length;
                let generator = self.generators.pipes.entry(*pipe).or_default();
                let place = generator.buffer.get_mut(place);
                place.ok_or(GeneratorError::Beyond { offset, length })?.copy_from_slice(bytes);
            }
            GeneratorChange::Generates(pipe, on) => {
                self.generators.pipes.entry(*pipe).or_default().generates = *on;
            }
            GeneratorChange::Matches(pipe, on) => {
                self.generators.pipes.entry(*pipe).or_default().matches = *on;
            }
            GeneratorChange::Arm(port) => {
                self.generators.armed.insert(*port);
            }
        }
        Ok(before)
    }

    /// An event scheduled by an undone change has a time that no application has.
    pub(super) fn restore_generators(&mut self, before: Generators) {
        self.generators = before;
    }

    fn set_application(
        &mut self,
        pipe: u8,
        number: u8,
        application: &Application,
    ) -> Result<(), GeneratorError> {
        let generator = self.generators.pipes.entry(pipe).or_default();
        let running = generator.running.get_mut(usize::from(number));
        let running = running.ok_or(GeneratorError::Application(number))?;
        let begins = application.enabled && !running.application.enabled;
        running.application = *application;
        if !application.enabled {
            (running.work, running.time) = (None, 0);
            running.waiting.clear();
        }
        if begins {
            self.generated += 1;
            running.time = self.generated;
            if let Trigger::Once(timer) | Trigger::Every(timer) = application.trigger {
                let event = Event::Trigger(pipe, number, running.time);
                self.events.set(self.now + timer, event);
            }
        }
        Ok(())
    }

    /// A timer is through.
    #[cold]
    pub(super) fn timer(&mut self, pipe: u8, number: u8, time: u32, at: Time) {
        let Some(running) = self.running(pipe, number, time) else { return };
        if let Trigger::Every(timer) = running.application.trigger {
            self.events.set(at + timer, Event::Trigger(pipe, number, time));
        }
        self.trigger(pipe, number, 0);
    }

    /// A packet has come back through a port.
    #[cold]
    pub(super) fn look_for_patterns(&mut self, port: PortId, packet: &Packet) {
        let pipe = (port.0 / PIPE_PORTS) as u8;
        if port.0 % PIPE_PORTS != PORT || !self.generators.is_on(pipe).1 {
            return;
        }
        let byte = |at: usize| packet.bytes.get(at).copied().unwrap_or(0);
        let first = u32::from_be_bytes(std::array::from_fn(byte));
        let matches = |trigger: Trigger| match trigger {
            Trigger::Pattern { value, mask } => (value ^ first) & mask == 0,
            _ => false,
        };
        self.trigger_all(pipe, first & 0xff_ffff, matches);
    }

    /// Whether anything is looked at that comes back.
    pub(super) fn looks_for_patterns(&self) -> bool {
        self.generators.pipes.values().any(|generator| generator.matches)
    }

    fn trigger_all(&mut self, pipe: u8, key: u32, of: impl Fn(Trigger) -> bool) {
        for number in 0..APPLICATIONS as u8 {
            let application = self.generators.application(pipe, number);
            if application.enabled && of(application.trigger) {
                self.trigger(pipe, number, key);
            }
        }
    }

    fn trigger(&mut self, pipe: u8, number: u8, key: u32) {
        let now = self.now;
        let Some(generator) = self.generators.pipes.get_mut(&pipe) else { return };
        if !generator.generates {
            return;
        }
        let running = &mut generator.running[usize::from(number)];
        if running.work.is_some() {
            if running.waiting.len() < WAITING {
                running.waiting.push_back(key);
            }
            return;
        }
        running.application.triggered += 1;
        running.work = Some(Work { key, batch: 0, packet: 0, batch_began: now });
        let time = running.time;
        self.events.set(now, Event::Generate(pipe, number, time));
    }

    /// The next packet of an application.
    #[cold]
    pub(super) fn generate(&mut self, pipe: u8, number: u8, time: u32) {
        let now = self.now;
        let Some(running) = self.running(pipe, number, time) else { return };
        let Some(mut work) = running.work else { return };
        let application = &mut running.application;
        if work.packet == 0 {
            application.batches_made += 1;
            work.batch_began = now;
        }
        application.packets_made += 1;
        let made = application.packets_made;
        let (app, on_path) = (*application, time_of(application.length));
        let second = match app.trigger {
            Trigger::Once(_) | Trigger::Every(_) => u32::from(work.batch),
            Trigger::PortDown | Trigger::Pattern { .. } => work.key,
        };
        let port = match app.increments {
            false => app.source_port,
            true => app.source_port.wrapping_add((made - 1) as u16),
        };
        let packet = work.packet;
        let (more, more_batches) = (work.packet < app.packets, work.batch < app.batches);
        let next = match (more, more_batches) {
            (true, _) => {
                work.packet += 1;
                Some(now + app.packet_gap.max(on_path))
            }
            (false, true) => {
                (work.packet, work.batch) = (0, work.batch + 1);
                Some((work.batch_began + app.batch_gap).max(now + on_path))
            }
            (false, false) => None,
        };
        running.work = next.map(|_| work);
        let next = next.or_else(|| {
            let key = running.waiting.pop_front()?;
            running.application.triggered += 1;
            let at = now + on_path;
            running.work = Some(Work { key, batch: 0, packet: 0, batch_began: at });
            Some(at)
        });
        if let Some(next) = next {
            self.events.set(next, Event::Generate(pipe, number, time));
        }
        let mut bytes = head(pipe, number, second, packet).to_vec();
        let (offset, length) = (usize::from(app.offset), usize::from(app.length));
        bytes.extend(self.generators.buffer(pipe, offset, length));
        let port = PortId(u16::from(pipe) * PIPE_PORTS + port % PIPE_PORTS);
        let packet = Packet { bytes, ..Packet::default() };
        self.enter(port, packet, PacketMetadata::default());
    }

    /// An application, unless it has been switched off since.
    fn running(&mut self, pipe: u8, number: u8, time: u32) -> Option<&mut Running> {
        let generator = self.generators.pipes.get_mut(&pipe).filter(|pipe| pipe.generates)?;
        let running = generator.running.get_mut(usize::from(number))?;
        (running.time == time && running.application.enabled).then_some(running)
    }
}

fn check(application: &Application) -> Result<(), GeneratorError> {
    let Application { offset, length, trigger, enabled, .. } = *application;
    let length = usize::from(length);
    if usize::from(offset) + length > BUFFER {
        return Err(GeneratorError::Beyond { offset, length });
    }
    if !usize::from(offset).is_multiple_of(LINE) {
        return Err(GeneratorError::Line(offset));
    }
    match trigger {
        _ if enabled && length == 0 => Err(GeneratorError::Empty),
        Trigger::Every(Time::ZERO) if enabled => Err(GeneratorError::Timer),
        _ => Ok(()),
    }
}

/// Header in front of a packet: pipe and application, 24 bits with a batch, a port or a key, and
/// the packet's number in its batch.
fn head(pipe: u8, application: u8, second: u32, packet: u16) -> [u8; 6] {
    let [_, a, b, c] = second.to_be_bytes();
    let [d, e] = packet.to_be_bytes();
    [pipe << 3 & 0x18 | application & 7, a, b, c, d, e]
}

/// Transmission time of a packet on a path of 100 Gb/s.
fn time_of(length: u16) -> Time {
    Time(((u64::from(length) + 6 + AROUND) * 8).div_ceil(100))
}

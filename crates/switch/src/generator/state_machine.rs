//! State machine of packet generators: `(time, input) → (packets, next instant)`.
//!
//! A packet is due when its turn comes. Between two there is the gap that is set, or the time that
//! the first takes on a path of 100 Gb/s if that is longer. No source states the effect of a
//! trigger on an active application; here the trigger waits its turn.

use super::config::{
    Application, GeneratorChange, GeneratorError, GeneratorSetting, LINE, SettingError, Trigger,
    check_port,
};
use sojourn_packet::{FlowId, GENERATED_HEADER, Packet, PacketGenerator, PacketId, PortId, Time};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

/// Triggers that may wait.
const WAITING: usize = 64;
/// Frame check, preamble and gap, in bytes.
const AROUND: usize = 4 + 20;
/// Bytes that a pattern compares at most.
const PATTERN: usize = 16;

/// The packet generators of a switch.
///
/// ```
/// use sojourn_packet::{PacketGenerator, Time};
/// use sojourn_switch::{GeneratorSetting, Generators, Trigger};
///
/// let chip = PacketGenerator {
///     application_bits: 3,
///     buffer: 16_384,
///     ports: (68, 71),
///     default_port: 68,
///     pipe_ports: 128,
///     shortest: 11,
///     pattern_bytes: 4,
///     repeats_pattern: false,
/// };
/// let setting = GeneratorSetting {
///     number: 5,
///     trigger: Trigger::Every(Time(1_000)),
///     contents: vec![0xff; 14],
///     batches: 1,
///     packets: 1,
///     ..GeneratorSetting::default()
/// };
/// let mut generators = Generators::with(Some(chip), 1, &[setting])?;
/// assert_eq!(generators.next(), Some(Time(1_000)), "the timer");
/// let (port, packet) = generators.step(Time(1_000)).expect("a packet");
/// assert_eq!((port.0, &packet.bytes[..7]), (68, &[5, 0, 0, 0, 0, 0, 0xff][..]));
/// # Ok::<(), sojourn_switch::SettingError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Generators {
    chip: Option<PacketGenerator>,
    /// Number of pipes.
    pipes: u8,
    running: BTreeMap<u8, Pipe>,
    /// Ports that trigger when they go down.
    armed: BTreeSet<PortId>,
    /// Ports that generate.
    generating: BTreeSet<PortId>,
    /// Ports that are searched for patterns.
    searched: BTreeSet<PortId>,
    /// The next one last.
    due: Vec<(Time, Due)>,
    /// Counts the times that applications were enabled.
    enablings: u32,
    /// Counts the packets.
    made: u64,
}

/// A pipe's applications and buffer.
#[derive(Clone, Debug)]
struct Pipe {
    /// Shared with copies of the state until one of them writes.
    buffer: Arc<Vec<u8>>,
    applications: Vec<Running>,
}

/// An application and what it is at.
#[derive(Clone, Debug, Default)]
struct Running {
    application: Application,
    /// Number of its last enabling; a `Due` of an earlier one is void.
    enabling: u32,
    /// Its work, if it is active.
    work: Option<Work>,
    waiting: VecDeque<Cause>,
}

impl Running {
    /// Begins the work of a trigger at an instant.
    fn begin(&mut self, cause: Cause, at: Time) {
        self.application.triggered += 1;
        self.work = Some(Work { cause, batch: 0, packet: 0, batch_began: at });
    }
}

#[derive(Clone, Copy, Debug)]
struct Work {
    cause: Cause,
    batch: u16,
    packet: u16,
    batch_began: Time,
}

/// The cause of a trigger.
#[derive(Clone, Copy, Debug)]
enum Cause {
    Timer,
    Port(PortId),
    /// The leading bytes of a packet that came back.
    Pattern([u8; PATTERN]),
}

/// Something of an application that happens at an instant.
#[derive(Clone, Copy, Debug)]
struct Due {
    pipe: u8,
    number: u8,
    enabling: u32,
    what: What,
}

#[derive(Clone, Copy, Debug)]
enum What {
    /// Its timer is through.
    Timer,
    /// Its next packet.
    Packet,
}

impl Generators {
    /// The generators of a switch with so many pipes; `None` for a chip without any.
    pub fn new(chip: Option<PacketGenerator>, pipes: u8) -> Generators {
        Generators { chip, pipes, ..Generators::default() }
    }

    /// The same, with applications enabled at time zero.
    ///
    /// # Errors
    /// The first setting that exceeds a limit, or sets an application that an earlier one sets.
    pub fn with(
        chip: Option<PacketGenerator>,
        pipes: u8,
        settings: &[GeneratorSetting],
    ) -> Result<Generators, SettingError> {
        let mut generators = Generators::new(chip, pipes);
        let mut set = BTreeSet::new();
        for (at, setting) in settings.iter().enumerate() {
            let (pipe, number) = (setting.pipe, setting.number);
            let done = match set.insert((pipe, number)) {
                true => generators.set_whole(Time::ZERO, setting),
                false => Err(GeneratorError::Twice { pipe, number }),
            };
            done.map_err(|why| SettingError { at, why })?;
        }
        Ok(generators)
    }

    /// The chip's numbers, if it generates.
    pub fn chip(&self) -> Option<&PacketGenerator> {
        self.chip.as_ref()
    }

    /// Number of applications of a pipe; 0 on a chip that does not generate.
    pub fn applications(&self) -> u8 {
        self.chip.map_or(0, |chip| chip.applications())
    }

    /// Number of packets so far.
    pub fn made(&self) -> u64 {
        self.made
    }

    /// Number of pipes.
    pub fn pipes(&self) -> u8 {
        self.pipes
    }

    /// An application as it is.
    pub fn application(&self, pipe: u8, number: u8) -> Application {
        let of = self.running.get(&pipe);
        let of = of.and_then(|pipe| pipe.applications.get(usize::from(number)));
        of.map_or_else(Application::default, |running| running.application)
    }

    /// Bytes of a pipe's buffer; zeros where nothing was written.
    pub fn buffer(&self, pipe: u8, offset: usize, length: usize) -> Vec<u8> {
        let bytes =
            self.running.get(&pipe).and_then(|pipe| pipe.buffer.get(offset..offset + length));
        bytes.map_or_else(|| vec![0; length], <[u8]>::to_vec)
    }

    /// Whether a port generates, and whether what comes back through it is searched for patterns.
    pub fn is_on(&self, port: PortId) -> (bool, bool) {
        (self.generating.contains(&port), self.searched.contains(&port))
    }

    /// Whether any port is searched for patterns.
    pub fn searches(&self) -> bool {
        !self.searched.is_empty()
    }

    /// The next instant at which [`Generators::step`] has something to do.
    pub fn next(&self) -> Option<Time> {
        self.due.last().map(|(at, _)| *at)
    }

    /// Works off what is due up to and including `now`, up to the next packet; returns that packet
    /// with the port that it comes in by.
    pub fn step(&mut self, now: Time) -> Option<(PortId, Packet)> {
        while self.next().is_some_and(|at| at <= now) {
            let (at, due) = self.due.pop()?;
            match due.what {
                What::Timer => self.timer(at, due),
                What::Packet => {
                    if let Some(made) = self.make(at, due) {
                        return Some(made);
                    }
                }
            }
        }
        None
    }

    /// Makes a change at `now`.
    ///
    /// # Errors
    /// It exceeds a limit of the chip; nothing has changed.
    pub fn change(&mut self, now: Time, change: &GeneratorChange) -> Result<(), GeneratorError> {
        let chip = self.chip.ok_or(GeneratorError::None)?;
        match change {
            GeneratorChange::Application(pipe, number, application) => {
                application.check(&chip)?;
                self.set_application(now, (*pipe, *number), application)?;
            }
            GeneratorChange::Buffer(pipe, offset, bytes) => self.write(*pipe, *offset, bytes)?,
            GeneratorChange::Generates(port, on) => {
                check_port(&chip, chip.local(*port))?;
                set(&mut self.generating, *port, *on);
            }
            GeneratorChange::Matches(port, on) => {
                check_port(&chip, chip.local(*port))?;
                set(&mut self.searched, *port, *on);
            }
            GeneratorChange::Arm(port) => set(&mut self.armed, *port, true),
            GeneratorChange::Whole(setting) => self.set_whole(now, setting)?,
            GeneratorChange::Disable(pipe, number) => self.disable(now, (*pipe, *number))?,
        }
        Ok(())
    }

    /// A port's link has gone down at `now`.
    pub fn link_down(&mut self, now: Time, port: PortId) {
        let Some(chip) = self.chip else { return };
        if self.armed.remove(&port) {
            self.trigger_all(now, chip.pipe(port), Cause::Port(port), |t| t == Trigger::PortDown);
        }
    }

    /// A packet has come back through a port at `now`.
    pub fn came_back(&mut self, now: Time, port: PortId, packet: &Packet) {
        let Some(chip) = self.chip.filter(|_| self.searched.contains(&port)) else { return };
        let count = chip.pattern_bytes;
        let byte = |at: usize| packet.bytes.get(at).copied().filter(|_| at < count).unwrap_or(0);
        let first: [u8; PATTERN] = std::array::from_fn(byte);
        let compared = u128::from_be_bytes(first) >> (8 * (PATTERN - count));
        let matches = |trigger: Trigger| match trigger {
            Trigger::Pattern { value, mask } => (value ^ compared) & mask == 0,
            _ => false,
        };
        self.trigger_all(now, chip.pipe(port), Cause::Pattern(first), matches);
    }
}

impl Generators {
    fn set_whole(&mut self, now: Time, setting: &GeneratorSetting) -> Result<(), GeneratorError> {
        let chip = self.chip.ok_or(GeneratorError::None)?;
        let (pipe, number) = (setting.pipe, setting.number);
        self.pipe(pipe, number)?;
        let offset = self.place(&chip, setting)?;
        let application = setting.application(&chip, offset)?;
        self.write(pipe, offset, &setting.contents)?;
        let port = |local: u16| chip.port(pipe, local);
        let own = port(setting.port.unwrap_or(chip.default_port));
        self.generating.insert(own);
        match setting.trigger {
            Trigger::Pattern { .. } => set(&mut self.searched, own, true),
            Trigger::PortDown if setting.going_down.is_empty() => {
                self.armed.extend((0..chip.pipe_ports).map(port));
            }
            Trigger::PortDown => self.armed.extend(setting.going_down.iter().copied().map(port)),
            Trigger::Once(_) | Trigger::Every(_) => {}
        }
        // An application that is set anew begins anew.
        self.disable(now, (pipe, number))?;
        self.set_application(now, (pipe, number), &application)
    }

    /// The first place in the buffer with room for a setting's contents between those of the other
    /// applications.
    fn place(
        &self,
        chip: &PacketGenerator,
        setting: &GeneratorSetting,
    ) -> Result<u16, GeneratorError> {
        let length = setting.contents.len();
        let others = (0..chip.applications()).filter(|other| *other != setting.number);
        let others = others.map(|other| self.application(setting.pipe, other));
        let mut taken: Vec<(usize, usize)> = others
            .filter(|other| other.length > 0)
            .map(|other| (usize::from(other.offset), usize::from(other.length)))
            .collect();
        taken.sort_unstable();
        taken.push((chip.buffer.into(), 0));
        let (mut free, mut room) = (0, 0);
        for (offset, used) in taken {
            let gap = offset.saturating_sub(free);
            if length <= gap {
                return Ok(free as u16);
            }
            room = room.max(gap);
            free = free.max((offset + used).next_multiple_of(LINE));
        }
        Err(GeneratorError::Full { length, room, size: chip.buffer })
    }

    fn write(&mut self, pipe: u8, offset: u16, bytes: &[u8]) -> Result<(), GeneratorError> {
        let size = self.chip.map_or(0, |chip| chip.buffer);
        let length = bytes.len();
        let of = self.pipe(pipe, 0)?;
        let place = usize::from(offset)..usize::from(offset) + length;
        if place.end > of.buffer.len() {
            return Err(GeneratorError::Beyond { offset, length, size });
        }
        Arc::make_mut(&mut of.buffer)[place].copy_from_slice(bytes);
        Ok(())
    }

    /// A pipe that has an application with this number.
    fn pipe(&mut self, pipe: u8, number: u8) -> Result<&mut Pipe, GeneratorError> {
        let chip = self.chip.ok_or(GeneratorError::None)?;
        let (pipes, applications) = (self.pipes, chip.applications());
        if pipe >= pipes {
            return Err(GeneratorError::Pipe { pipe, pipes });
        }
        if number >= applications {
            return Err(GeneratorError::Application { number, applications });
        }
        Ok(self.running.entry(pipe).or_insert_with(|| Pipe {
            buffer: Arc::new(vec![0; chip.buffer.into()]),
            applications: vec![Running::default(); applications.into()],
        }))
    }

    /// Disables an application.
    fn disable(&mut self, now: Time, (pipe, number): (u8, u8)) -> Result<(), GeneratorError> {
        let off = Application { enabled: false, ..self.application(pipe, number) };
        self.set_application(now, (pipe, number), &off)
    }

    fn set_application(
        &mut self,
        now: Time,
        (pipe, number): (u8, u8),
        application: &Application,
    ) -> Result<(), GeneratorError> {
        let enabling = self.enablings + 1;
        let running = &mut self.pipe(pipe, number)?.applications[usize::from(number)];
        let begins = application.enabled && !running.application.enabled;
        running.application = *application;
        if !application.enabled {
            (running.work, running.enabling) = (None, 0);
            running.waiting.clear();
        }
        if begins {
            running.enabling = enabling;
            self.enablings = enabling;
            if let Trigger::Once(timer) | Trigger::Every(timer) = application.trigger {
                self.set_due(now + timer, Due { pipe, number, enabling, what: What::Timer });
            }
        }
        Ok(())
    }

    /// Sets something that is due, behind what is due at the same instant.
    fn set_due(&mut self, at: Time, due: Due) {
        let place = self.due.partition_point(|other| other.0 > at);
        self.due.insert(place, (at, due));
    }
}

/// Working off what is due.
impl Generators {
    fn timer(&mut self, at: Time, due: Due) {
        let Some(running) = self.running(due) else { return };
        if let Trigger::Every(timer) = running.application.trigger {
            self.set_due(at + timer, due);
        }
        self.trigger(at, (due.pipe, due.number), Cause::Timer);
    }

    fn trigger_all(&mut self, now: Time, pipe: u8, cause: Cause, of: impl Fn(Trigger) -> bool) {
        for number in 0..self.applications() {
            let application = self.application(pipe, number);
            if application.enabled && of(application.trigger) {
                self.trigger(now, (pipe, number), cause);
            }
        }
    }

    fn trigger(&mut self, now: Time, (pipe, number): (u8, u8), cause: Cause) {
        if !self.generates(pipe) {
            return;
        }
        let Some(of) = self.running.get_mut(&pipe) else { return };
        let running = &mut of.applications[usize::from(number)];
        if running.work.is_some() {
            if running.waiting.len() < WAITING {
                running.waiting.push_back(cause);
            }
            return;
        }
        running.begin(cause, now);
        let due = Due { pipe, number, enabling: running.enabling, what: What::Packet };
        self.set_due(now, due);
    }

    /// The next packet of an application.
    fn make(&mut self, now: Time, due: Due) -> Option<(PortId, Packet)> {
        let chip = self.chip?;
        let running = self.running(due)?;
        let mut work = running.work?;
        let app = &mut running.application;
        if work.packet == 0 {
            app.batches_made += 1;
            work.batch_began = now;
        }
        app.packets_made += 1;
        let on_path = time_of(app, &chip);
        let made = (*app, work);
        let next = if work.packet < app.packets {
            work.packet += 1;
            Some(now + app.packet_gap.max(on_path))
        } else if work.batch < app.batches {
            (work.packet, work.batch) = (0, work.batch + 1);
            Some((work.batch_began + app.batch_gap).max(now + on_path))
        } else {
            None
        };
        running.work = next.map(|_| work);
        let next = next.or_else(|| {
            let cause = running.waiting.pop_front()?;
            let at = now + on_path;
            running.begin(cause, at);
            Some(at)
        });
        if let Some(next) = next {
            self.set_due(next, due);
        }
        Some(self.packet(&chip, due, made))
    }

    /// A packet of an application, and the port that it comes in by.
    fn packet(
        &mut self,
        chip: &PacketGenerator,
        Due { pipe, number, .. }: Due,
        (app, work): (Application, Work),
    ) -> (PortId, Packet) {
        let (batch, compared) = match work.cause {
            Cause::Port(port) => (port.0.into(), &[][..]),
            Cause::Pattern(ref first) if chip.repeats_pattern => {
                (work.batch.into(), &first[..chip.pattern_bytes])
            }
            Cause::Pattern([_, a, b, c, ..]) => (u32::from_be_bytes([0, a, b, c]), &[][..]),
            Cause::Timer => (work.batch.into(), &[][..]),
        };
        let mut bytes = chip.header(pipe, number, batch, work.packet).to_vec();
        bytes.extend_from_slice(compared);
        bytes.extend(self.buffer(pipe, app.offset.into(), app.length.into()));
        let id = PacketId::generated(self.made);
        self.made += 1;
        // A change of an active application can leave a packet's number beyond the new batch.
        let beyond = if app.increments { work.packet } else { 0 };
        let local = app.source_port.wrapping_add(beyond) % chip.pipe_ports;
        (chip.port(pipe, local), Packet { id, flow: FlowId::NONE, bytes, zeros: 0 })
    }

    fn generates(&self, pipe: u8) -> bool {
        let Some(chip) = self.chip else { return false };
        self.generating.iter().any(|port| chip.pipe(*port) == pipe)
    }

    /// An application, unless it has been disabled since.
    fn running(&mut self, due: Due) -> Option<&mut Running> {
        if !self.generates(due.pipe) {
            return None;
        }
        let of = self.running.get_mut(&due.pipe)?;
        let running = of.applications.get_mut(usize::from(due.number))?;
        (running.enabling == due.enabling && running.application.enabled).then_some(running)
    }
}

fn set(ports: &mut BTreeSet<PortId>, port: PortId, on: bool) {
    match on {
        true => ports.insert(port),
        false => ports.remove(&port),
    };
}

/// Transmission time of a packet on a path of 100 Gb/s.
fn time_of(application: &Application, chip: &PacketGenerator) -> Time {
    let repeated = match application.trigger {
        Trigger::Pattern { .. } if chip.repeats_pattern => chip.pattern_bytes,
        _ => 0,
    };
    let bytes = usize::from(application.length) + GENERATED_HEADER + repeated + AROUND;
    Time((bytes as u64 * 8).div_ceil(100))
}

//! A queue whose packets a hardware module decides about.
//!
//! The queue is ours and so is the time; the module is asked about the packet at the head and says
//! whether it is sent, marked or dropped. Its clock runs only while it is asked. What it does wrong,
//! hanging, answering by a bit that nobody has set, ending itself, does not end the run: the module
//! is not asked again, its packets are sent, and the counters tell.

use crate::library::{Answer, Library, LoadError, Module, Question};
use crate::stated_law;
use sojourn_packet::{Bytes, FaultReport, NameTaken, Time};
use sojourn_switch::discipline::codel::{INTERVAL_PARAMETER, REGISTRATION, TARGET_PARAMETER};
use sojourn_switch::discipline::{
    Backlog, Discipline, DisciplineError, DropKind, Drops, Held, Queued, REGISTER, Registered,
    Settings,
};
use sojourn_switch::ecn;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// Cycles within which a module has to answer: 5 us at 200 MHz, the time of four full frames at
/// 10 Gbit/s.
const WATCHDOG: u32 = 1_000;

static LIBRARIES: Mutex<BTreeMap<&'static str, Arc<Library>>> = Mutex::new(BTreeMap::new());

/// Why a module cannot be added.
#[derive(Debug, thiserror::Error)]
pub enum AddError {
    /// Its library.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// Something else has that name.
    #[error(transparent)]
    Name(#[from] NameTaken),
}

/// Adds the module that is compiled in the library at `path` to the register of disciplines, for as
/// long as the process lives. A module that is there already under `name` is kept.
///
/// ```
/// let refused = sojourn_verilog::add("mine", "no/such.so".as_ref()).unwrap_err();
/// assert!(refused.to_string().contains("no/such.so"));
/// ```
///
/// # Errors
/// If the library cannot be used or something that is no module has the name.
pub fn add(name: &str, path: &Path) -> Result<(), AddError> {
    let mut libraries = LIBRARIES.lock().unwrap_or_else(PoisonError::into_inner);
    if libraries.contains_key(name) {
        return Ok(());
    }
    let library = Arc::new(Library::load(path)?);
    if REGISTER.find(stated_law::REFERENCE.name).is_none() {
        REGISTER.add(&stated_law::REFERENCE)?;
    }
    // A register's names live as long as the process.
    let name: &'static str = name.to_owned().leak();
    let registered = Registered {
        name,
        summary: "a hardware module: SystemVerilog, run by Verilator",
        parameters: REGISTRATION.parameters,
        build,
    };
    REGISTER.add(Box::leak(Box::new(registered)))?;
    libraries.insert(name, library);
    Ok(())
}

fn build(settings: &Settings) -> Result<Box<dyn Discipline>, DisciplineError> {
    let libraries = LIBRARIES.lock().unwrap_or_else(PoisonError::into_inner);
    let unknown = || DisciplineError::Unknown(settings.discipline().to_owned());
    let library = libraries.get(settings.discipline()).ok_or_else(unknown)?;
    let word = |name| settings.within(name, 1..=u64::from(u32::MAX)).map(|value| value as u32);
    let maxpacket = settings.within("maxpacket", 0..=u64::from(u32::MAX))? as u32;
    let module = Module::new(Arc::clone(library)).ok_or_else(unknown)?;
    Ok(Box::new(Hardware {
        fixed: Question {
            target: word(TARGET_PARAMETER.name)?,
            interval: word(INTERVAL_PARAMETER.name)?,
            maxpacket,
            ecn: settings.switch("ecn")?.into(),
            ..Question::default()
        },
        module,
        backlog: Backlog::default(),
        counters: Counters::default(),
        broken: None,
    }))
}

#[derive(Clone, Copy, Debug, Default)]
struct Counters {
    drops: u64,
    marks: u64,
    questions: u64,
    cycles: u64,
    most_cycles: u64,
}

#[derive(Debug)]
struct Hardware {
    /// What is the same in every question.
    fixed: Question,
    module: Module,
    backlog: Backlog,
    counters: Counters,
    /// What it has done that a module must not do: it is not asked again.
    broken: Option<FaultReport>,
}

impl Hardware {
    /// Whether the packet is dropped, and whether it is marked.
    fn ask(
        &mut self,
        now: Time,
        enqueued: Time,
        backlog: Bytes,
        size: Bytes,
        capable: bool,
    ) -> (bool, bool) {
        if self.broken.is_some() {
            return (false, false);
        }
        let question = Question {
            now: now.0,
            enqueued: enqueued.0,
            backlog: backlog.0.min(u64::from(u32::MAX)) as u32,
            length: size.0.min(u64::from(u16::MAX)) as u16,
            capable: capable.into(),
            ..self.fixed
        };
        let (answer, cycles) = self.module.ask(&question, WATCHDOG);
        self.counters.questions += 1;
        self.counters.cycles += u64::from(cycles);
        self.counters.most_cycles = self.counters.most_cycles.max(u64::from(cycles));
        let (kind, said) = match answer {
            Answer::Verdict { drop, mark } => return (drop, mark),
            Answer::Hung => ("module_hung", format!("no answer within {WATCHDOG} cycles")),
            Answer::Unknown => {
                ("module_unknown", "a bit that nobody has set decides (an X)".to_owned())
            }
            Answer::Fatal => ("module_ended", self.module.said()),
        };
        let first = format!("question {} at {now}: {said}", self.counters.questions);
        self.broken = Some(FaultReport { kind, count: 1, first, place: None });
        (false, false)
    }
}

impl Discipline for Hardware {
    fn enqueue(&mut self, _now: Time, packet: Queued, _drops: &mut Drops) {
        self.backlog.push(packet);
    }

    fn dequeue(&mut self, now: Time, drops: &mut Drops) -> Option<Queued> {
        loop {
            let mut packet = self.backlog.pop()?;
            let capable = ecn::codepoint(&packet.packet) != ecn::NOT_ECT;
            let behind = self.backlog.bytes();
            let (drop, mark) = self.ask(now, packet.enqueued, behind, packet.size(), capable);
            if drop {
                self.counters.drops += 1;
                drops.push(packet, DropKind::Aqm);
                continue;
            }
            if mark {
                self.counters.marks += u64::from(ecn::mark(&mut packet.packet));
            }
            return Some(packet);
        }
    }

    fn held(&self) -> Held {
        self.backlog.held()
    }

    fn decides(&mut self, now: Time, sojourn: Time, backlog: Bytes, size: Bytes) -> Option<bool> {
        Some(self.ask(now, now.saturating_sub(sojourn), backlog, size, false).0)
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        let c = &self.counters;
        vec![
            ("drops", c.drops),
            ("marks", c.marks),
            ("questions", c.questions),
            ("cycles", c.cycles),
            ("most_cycles", c.most_cycles),
        ]
    }

    fn faults(&self) -> Vec<FaultReport> {
        self.broken.iter().cloned().collect()
    }
}

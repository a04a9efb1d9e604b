//! Device under test: one hardware module, with its answers, its cost in cycles and its violations.
//!
//! It must not depend on the code that stores the packets. A module may hang, answer with an
//! undefined bit, terminate itself or give an impossible answer. The run continues without further
//! queries to it, and the counters report the failure.

use crate::library::{Answer, Module, Question};
use sojourn_packet::{Bytes, FaultReport, Time};
use sojourn_switch::discipline::Queued;
use sojourn_switch::ecn;

/// Maximum number of cycles of a module's answer about one packet: 5 us at 200 MHz, the time of
/// four full frames at 10 Gbit/s.
const WATCHDOG: u32 = 1_000;

/// The same for a module that keeps the order: it may have to pass every flow, or to clear each of
/// them after its reset.
const WATCHDOG_OF_ORDER: u32 = 100_000;

/// Verdict of a module on a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Verdict {
    pub packet: u16,
    pub drop: bool,
    pub mark: bool,
}

/// A module, with the results of its requests.
#[derive(Debug)]
pub(crate) struct Dut {
    /// Constant part of every request.
    fixed: Question,
    module: Module,
    watchdog: u32,
    /// True if the last request is not completely answered.
    open: bool,
    /// Time of the request.
    now: Time,
    broken: Option<FaultReport>,
    pub drops: u64,
    pub marks: u64,
    questions: u64,
    cycles: u64,
    cycles_of_this: u64,
    most_cycles: u64,
}

impl Dut {
    pub fn new(fixed: Question, module: Module) -> Dut {
        let watchdog = if module.library().keeps_order() { WATCHDOG_OF_ORDER } else { WATCHDOG };
        Dut {
            fixed,
            module,
            watchdog,
            open: false,
            now: Time(0),
            broken: None,
            drops: 0,
            marks: 0,
            questions: 0,
            cycles: 0,
            cycles_of_this: 0,
            most_cycles: 0,
        }
    }

    /// A request, except for its kind and the packet's number.
    pub fn about(&self, now: Time, size: Bytes, capable: bool) -> Question {
        Question {
            now: now.0,
            length: size.0.min(u64::from(u16::MAX)) as u16,
            capable: capable.into(),
            ..self.fixed
        }
    }

    /// Sends a request. Further verdicts come from [`Dut::next`].
    pub fn ask(&mut self, question: &Question) -> Option<Verdict> {
        if self.broken.is_some() {
            return None;
        }
        self.questions += 1;
        self.now = Time(question.now);
        self.cycles_of_this = 0;
        self.open = true;
        let answer = self.module.ask(question, self.watchdog);
        self.took(answer)
    }

    /// Next verdict on another packet, until the request is complete.
    pub fn next(&mut self) -> Option<Verdict> {
        if !self.open {
            return None;
        }
        let answer = self.module.more(self.watchdog);
        self.took(answer)
    }

    fn took(&mut self, (answer, cycles): (Answer, u32)) -> Option<Verdict> {
        self.cycles += u64::from(cycles);
        self.cycles_of_this += u64::from(cycles);
        self.most_cycles = self.most_cycles.max(self.cycles_of_this);
        match answer {
            Answer::Of { packet, drop, mark, done } => {
                self.open = !done;
                return Some(Verdict { packet, drop, mark });
            }
            Answer::Done => self.open = false,
            Answer::Hung => {
                let within = self.watchdog;
                let said =
                    format!("no answer within {within} cycles: {} stays 0", self.module.message());
                self.is_wrong("module_hung", said);
            }
            Answer::Unknown => {
                let said =
                    format!("{} hangs on a bit that nobody has set (an X)", self.module.message());
                self.is_wrong("module_unknown", said);
            }
            Answer::Fatal => self.is_wrong("module_ended", self.module.message()),
        }
        None
    }

    /// Records a fault; the module is not used again.
    pub fn is_wrong(&mut self, kind: &'static str, said: String) {
        let first = format!("question {} at {}: {said}", self.questions, self.now);
        self.open = false;
        self.broken = Some(FaultReport { kind, count: 1, first, place: None });
    }

    /// Time of the last request.
    pub fn now(&self) -> Time {
        self.now
    }

    /// Whether the module is no longer used.
    pub fn is_broken(&self) -> bool {
        self.broken.is_some()
    }

    /// Faults of the module.
    pub fn faults(&self) -> Vec<FaultReport> {
        self.broken.iter().cloned().collect()
    }

    /// Whether it can shed packets.
    pub fn sheds(&self) -> bool {
        self.module.library().sheds()
    }

    pub fn counters(&self) -> Vec<(&'static str, u64)> {
        vec![
            ("drops", self.drops),
            ("marks", self.marks),
            ("questions", self.questions),
            ("cycles", self.cycles),
            ("most_cycles", self.most_cycles),
        ]
    }
}

/// Whether a packet's transport supports ECN.
pub(crate) fn is_capable(packet: &Queued) -> bool {
    ecn::codepoint(&packet.packet) != ecn::NOT_ECT
}

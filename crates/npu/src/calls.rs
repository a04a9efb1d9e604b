//! Conversion of a program's calls to requests, and of answers back to results.

use super::memory::Access;
use super::rules::{self, Refusal};
use sojourn_externs::call::{answer, scalar};
use sojourn_p4::interp::{Context, Externs, Halt, InvalidRead};
use sojourn_p4::ir::{ExternCall, ObjectId, Program};
use sojourn_p4::source::Span;
use sojourn_packet::Time;
use sojourn_target::faults::Faults;
use std::collections::BTreeMap;

/// Resolved call site; numbers are those of the memory or the mutex.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Site {
    /// No call that a pass makes.
    #[default]
    None,
    Now,
    Depth,
    Read(u32),
    Write(u32),
    TestAndAdd(u32),
    CompareAndSwap(u32),
    Lock(u32),
    Unlock(u32),
}

impl Site {
    /// Resolves a call; `places` has the numbers of memories and mutexes.
    pub fn new(
        call: &ExternCall,
        program: &Program,
        places: &BTreeMap<ObjectId, u32>,
    ) -> Result<Site, Refusal> {
        let Some(id) = call.object else {
            return match &*call.name {
                "now" => Ok(Site::Now),
                "queue_packets" => Ok(Site::Depth),
                name => {
                    let message = format!("the function {name} is not an extern of npu.p4");
                    Err(rules::UNKNOWN_EXTERN.refuse(call.span, message))
                }
            };
        };
        let of = &*program.objects[id.index()].of;
        let place = places.get(&id).copied().unwrap_or_default();
        Ok(match (of, &*call.name) {
            ("Memory", "read") => Site::Read(place),
            ("Memory", "write") => Site::Write(place),
            ("Memory", "test_and_add") => Site::TestAndAdd(place),
            ("Memory", "compare_and_swap") => Site::CompareAndSwap(place),
            ("Mutex", "lock") => Site::Lock(place),
            ("Mutex", "unlock") => Site::Unlock(place),
            (_, name) => {
                let message = format!("{of}.{name} is not an extern of npu.p4");
                return Err(rules::UNKNOWN_EXTERN.refuse(call.span, message));
            }
        })
    }

    /// Whether a thread waits for the answer.
    pub fn waits(self) -> bool {
        !matches!(self, Site::None | Site::Now)
    }
}

/// Request of a thread to an engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Request {
    pub what: EngineOperation,
    /// Source span of the call, for messages.
    pub span: Span,
}

/// The kinds of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EngineOperation {
    Cell { memory: u32, index: u64, access: Access },
    Depth { port: u16, queue: u8 },
    Lock { mutex: u32, index: u64 },
    Unlock { mutex: u32, index: u64 },
}

/// Externs of one run of a thread: the first call with a request suspends it, unless the answer has
/// arrived.
#[derive(Debug)]
pub(super) struct Run<'s> {
    pub sites: &'s [Site],
    pub now: Time,
    /// Answer to the call that suspended the thread.
    pub answer: Option<u64>,
    /// Request of a suspended thread.
    pub request: Option<Request>,
    pub faults: &'s mut Faults,
}

impl Externs for Run<'_> {
    fn call(&mut self, call: &ExternCall, ctx: &mut Context<'_>) -> Result<(), Halt> {
        let site = self.sites.get(call.site.index()).copied().unwrap_or_default();
        if site == Site::Now {
            answer(call, ctx, self.now.0.into());
            return Ok(());
        }
        if let Some(value) = self.answer.take() {
            answer(call, ctx, value.into());
            return Ok(());
        }
        let at = |index| scalar(call, index, ctx) as u64;
        let cell = |memory, access| EngineOperation::Cell { memory, index: at(0), access };
        let what = match site {
            Site::Read(memory) => cell(memory, Access::Read),
            Site::Write(memory) => cell(memory, Access::Write(at(1))),
            Site::TestAndAdd(memory) => cell(memory, Access::TestAndAdd(at(1))),
            Site::CompareAndSwap(memory) => {
                cell(memory, Access::CompareAndSwap { expected: at(1), value: at(2) })
            }
            Site::Depth => EngineOperation::Depth { port: at(0) as u16, queue: at(1) as u8 },
            Site::Lock(mutex) => EngineOperation::Lock { mutex, index: at(0) },
            Site::Unlock(mutex) => EngineOperation::Unlock { mutex, index: at(0) },
            Site::None | Site::Now => {
                return Err(Halt::NotImplemented { name: call.name.clone(), span: call.span });
            }
        };
        self.request = Some(Request { what, span: call.span });
        Err(Halt::Suspended)
    }

    fn read_invalid(&mut self, read: &InvalidRead<'_>) {
        self.faults.invalid_read(read);
    }
}

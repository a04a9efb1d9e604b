//! Overlapping passes: each thread has one, and waits for its requests to an engine.
//!
//! ```text
//! packet -> [input buffer] -> thread: parse, half its time | ingress ... | other half, deparse -> order
//!                                                       serve_request -> engine -> answer
//! ```
//!
//! All events have a virtual time, and events of equal time occur in the order in which they were
//! scheduled, so the same seed gives the same run.

use super::calls::Request;
use super::engine::Answer;
use super::mutex::ThreadId;
use super::plane::{Npu, Pass};
use sojourn_packet::dataplane::{IngressInput, IngressOutput};
use sojourn_packet::{Overlapping, Packet, PassId, QueueDepths, Time};
use sojourn_target::phv::PacketMetadata;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

/// Next action of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Run the ingress control until its next request.
    Runs,
    /// The request reaches the engine.
    Asks(Request),
    /// The pass ends.
    Ends,
}

/// A busy thread.
#[derive(Debug)]
struct Thread {
    id: PassId,
    pass: Pass,
    phase: Phase,
    answer: Option<u64>,
    /// Latency of the answer's way back.
    way_back: Time,
    /// Time of the pass after the ingress control.
    rest: Time,
}

impl Thread {
    fn new(id: PassId, pass: Pass, phase: Phase, rest: Time) -> Thread {
        Thread { id, pass, phase, answer: None, way_back: Time(0), rest }
    }
}

/// A packet waiting for a thread.
#[derive(Debug)]
struct Waiting {
    id: PassId,
    input: IngressInput,
    packet: Packet,
}

/// Threads of a processor, with the packets waiting before and after them.
#[derive(Debug, Default)]
pub(super) struct Threads {
    threads: Vec<Thread>,
    idle: Vec<ThreadId>,
    buffer: VecDeque<Waiting>,
    /// Time and thread of each pending event, with a sequence number that orders equal times.
    events: BinaryHeap<Reverse<(Time, u64, ThreadId)>>,
    set: u64,
    /// Passes in progress, in the order of their packets.
    order: VecDeque<PassId>,
    /// Completed passes that wait for earlier ones.
    ended: BTreeMap<PassId, IngressOutput>,
    ready: VecDeque<(PassId, IngressOutput)>,
    /// Every request, in the order of execution.
    #[cfg(test)]
    pub trace: Vec<Traced>,
}

/// An executed request, and the time at which the thread received its answer.
#[cfg(test)]
#[derive(Clone, Copy, Debug)]
pub(super) struct Traced {
    pub pass: PassId,
    pub request: Request,
    pub value: u64,
    pub answered: Time,
}

impl Threads {
    fn set(&mut self, at: Time, thread: ThreadId, phase: Phase) {
        self.threads[thread as usize].phase = phase;
        self.wake(at, thread);
    }

    /// Schedules the next phase of a thread.
    fn wake(&mut self, at: Time, thread: ThreadId) {
        self.events.push(Reverse((at, self.set, thread)));
        self.set += 1;
    }

    fn next_due(&mut self, now: Time) -> Option<(Time, ThreadId)> {
        let Reverse((at, _, thread)) = *self.events.peek()?;
        (at <= now).then(|| {
            self.events.pop();
            (at, thread)
        })
    }

    /// Completes a pass, and releases the packets that may leave.
    fn end(&mut self, id: PassId, out: IngressOutput, in_order: bool) {
        if !in_order {
            self.ready.push_back((id, out));
            return;
        }
        self.ended.insert(id, out);
        while let Some(first) = self.order.front().copied() {
            let Some(out) = self.ended.remove(&first) else { break };
            self.order.pop_front();
            self.ready.push_back((first, out));
        }
    }
}

impl Npu {
    /// Assigns a packet to a thread.
    fn start(&mut self, now: Time, waiting: Waiting) {
        let thread = match self.threads.idle.pop() {
            Some(thread) => thread,
            None => self.new_thread(),
        };
        let mut pass = std::mem::take(&mut self.threads.threads[thread as usize].pass);
        self.begin(now, &waiting.input, waiting.packet, &mut pass);
        let takes = self.processor.processing.draw(&mut self.random);
        let before = Time(takes.0 / 2);
        let rest = takes.saturating_sub(before);
        let phase = if pass.halted { Phase::Ends } else { Phase::Runs };
        self.threads.threads[thread as usize] = Thread::new(waiting.id, pass, phase, rest);
        self.threads.wake(now + before, thread);
    }

    fn new_thread(&mut self) -> ThreadId {
        let idle = Thread::new(PassId(0), Pass::default(), Phase::Ends, Time(0));
        self.threads.threads.push(idle);
        self.threads.threads.len() as ThreadId - 1
    }

    fn happens(&mut self, at: Time, thread: ThreadId, depths: &dyn QueueDepths) {
        match self.threads.threads[thread as usize].phase {
            Phase::Runs => self.run(at, thread),
            Phase::Asks(request) => self.serve_request(at, thread, request, depths),
            Phase::Ends => self.retire(at, thread),
        }
    }

    /// Runs a thread until its next request or its end.
    fn run(&mut self, at: Time, id: ThreadId) {
        let answer = self.threads.threads[id as usize].answer.take();
        let mut pass = std::mem::take(&mut self.threads.threads[id as usize].pass);
        match self.resume(&mut pass, at, answer) {
            Ok(Some(request)) => {
                let access = self.processor.access.draw(&mut self.random);
                let there = Time(access.0 / 2);
                self.threads.threads[id as usize].way_back = access.saturating_sub(there);
                self.threads.set(at + there, id, Phase::Asks(request));
            }
            Err(halt) => {
                self.shared.faults.halted(&halt);
                pass.halted = true;
                self.finish(at, id);
            }
            Ok(None) => self.finish(at, id),
        }
        self.threads.threads[id as usize].pass = pass;
    }

    /// Serves a thread's request at the engine.
    fn serve_request(
        &mut self,
        at: Time,
        id: ThreadId,
        request: Request,
        depths: &dyn QueueDepths,
    ) {
        let thread = &mut self.threads.threads[id as usize];
        match self.shared.execute(id, request, &mut thread.pass.seen, depths) {
            Answer::GoesOn { value, woken } => {
                thread.answer = Some(value);
                let back = at + thread.way_back;
                #[cfg(test)]
                self.threads.trace.push(Traced {
                    pass: self.threads.threads[id as usize].id,
                    request,
                    value,
                    answered: back,
                });
                self.threads.set(back, id, Phase::Runs);
                woken.into_iter().for_each(|woken| self.wake_up(at, woken));
            }
            Answer::Waits => {}
            Answer::Deadlock => {
                thread.pass.halted = true;
                self.finish(at, id);
            }
        }
    }

    /// Resumes a thread that has acquired its lock.
    fn wake_up(&mut self, at: Time, id: ThreadId) {
        let thread = &mut self.threads.threads[id as usize];
        thread.answer = Some(0);
        let back = at + thread.way_back;
        self.threads.set(back, id, Phase::Runs);
    }

    /// Handles the end of a thread's ingress control.
    fn finish(&mut self, at: Time, id: ThreadId) {
        for woken in self.shared.take_back(id) {
            self.wake_up(at, woken);
        }
        let rest = self.threads.threads[id as usize].rest;
        self.threads.set(at + rest, id, Phase::Ends);
    }

    /// Ends a pass: its thread takes the next packet.
    fn retire(&mut self, at: Time, id: ThreadId) {
        let thread = &mut self.threads.threads[id as usize];
        let (done, mut pass) = (thread.id, std::mem::take(&mut thread.pass));
        let out = self.end(at, &mut pass);
        self.threads.threads[id as usize].pass = pass;
        self.threads.end(done, out, self.processor.in_order);
        self.threads.idle.push(id);
        if let Some(waiting) = self.threads.buffer.pop_front() {
            self.start(at, waiting);
        }
    }

    fn has_a_thread(&self) -> bool {
        !self.threads.idle.is_empty() || self.threads.threads.len() < self.processor.threads
    }
}

impl Overlapping for Npu {
    fn submit(&mut self, id: PassId, input: &IngressInput, packet: Packet, _: PacketMetadata) {
        let waiting = Waiting { id, input: *input, packet };
        if self.processor.in_order {
            self.threads.order.push_back(id);
        }
        if self.has_a_thread() {
            self.start(input.now, waiting);
        } else if self.threads.buffer.len() < self.processor.input_buffer {
            self.threads.buffer.push_back(waiting);
        } else {
            self.shared.faults.overrun();
            self.threads.end(id, IngressOutput::default(), self.processor.in_order);
        }
    }

    fn next(&self) -> Option<Time> {
        if !self.threads.ready.is_empty() {
            return Some(Time(0));
        }
        self.threads.events.peek().map(|Reverse((at, _, _))| *at)
    }

    fn complete(&mut self, now: Time, depths: &dyn QueueDepths) -> Option<(PassId, IngressOutput)> {
        loop {
            if let Some(ready) = self.threads.ready.pop_front() {
                return Some(ready);
            }
            let (at, thread) = self.threads.next_due(now)?;
            self.happens(at, thread, depths);
        }
    }
}

//! A loaded program as a data plane: the processing of one packet, independent of its thread.
//!
//! ```text
//! packet -> parser -> ingress control, which waits and is taken up -> deparser -> queue
//! ```
//!
//! Parser and deparser run in one step; only the ingress control has a resumable position. There is
//! no processing behind the queue. `threads.rs` schedules the threads.

use super::calls::Request;
use super::engine::{Answer, Shared};
use super::memory::CellVersion;
use super::mutex::ThreadId;
use super::processor::Processor;
use super::threads::Threads;
use sojourn_control::profiles::Profiles;
use sojourn_p4::interp::{
    Frame, Halt, Interpreter, PacketIn, PacketOut, Position, Progress, SlotRange, Tables,
    copy_range,
};
use sojourn_p4::ir::{Layout, Slot, UnitId};
use sojourn_packet::dataplane::{
    Admission, DataPlane, EgressDecision, EgressFate, EgressInput, IngressDecision, IngressInput,
    IngressOutput, PortId,
};
use sojourn_packet::{Overlapping, Packet, QueueDepths, SplitMix64, Time};
use sojourn_target::deparser_output::deparse;
use sojourn_target::faults::Faults;
use sojourn_target::fields::field;
use sojourn_target::package::shared_parts;
use sojourn_target::phv::PacketMetadata;

/// `NPU_DROP_PORT`; also the default output port.
const DROP_PORT: u128 = 0xffff;

/// A unit with a frame, and the layouts of headers, metadata and `npu_metadata_t` in it.
#[derive(Clone, Debug)]
pub(super) struct Block {
    pub unit: UnitId,
    pub frame: Frame,
    parts: [Option<SlotRange>; 3],
    npu: Option<NpuMetadata>,
}

/// The fields of `npu_metadata_t`.
#[derive(Clone, Copy, Debug)]
struct NpuMetadata {
    ingress_port: Slot,
    arrived: Slot,
    packet_length: Slot,
    parser_error: Slot,
    egress_port: Slot,
    queue: Slot,
}

impl NpuMetadata {
    fn new(layout: &Layout) -> Option<NpuMetadata> {
        Some(NpuMetadata {
            ingress_port: field(layout, "ingress_port")?,
            arrived: field(layout, "arrived")?,
            packet_length: field(layout, "packet_length")?,
            parser_error: field(layout, "parser_error")?,
            egress_port: field(layout, "egress_port")?,
            queue: field(layout, "queue")?,
        })
    }
}

impl Block {
    /// The block of a unit whose parameters are an optional packet, headers, metadata, and the
    /// optional processor metadata.
    pub fn new(interpreter: &Interpreter, unit: UnitId) -> Block {
        let declared = &interpreter.program().units[unit.index()];
        let layouts = shared_parts(declared);
        Block {
            unit,
            frame: interpreter.frame(unit),
            parts: layouts.map(|layout| layout.map(Layout::range)),
            npu: layouts[2].and_then(NpuMetadata::new),
        }
    }

    /// Copies the parts shared with `from` to a frame of this block.
    fn take_over(&self, from: &Block, source: &Frame, target: &mut Frame) {
        for (a, b) in from.parts.into_iter().zip(self.parts) {
            if let (Some(a), Some(b)) = (a, b) {
                copy_range(source, a, target, b);
            }
        }
    }
}

/// One packet between parser and deparser.
#[derive(Clone, Debug, Default)]
pub(super) struct Pass {
    pub packet: Packet,
    /// Frame of the ingress control.
    pub frame: Frame,
    pub position: Position,
    /// Versions of the cells that it has read.
    pub seen: Vec<CellVersion>,
    /// Bits that the parser consumed.
    consumed: u64,
    parser_rejected: bool,
    /// True if it was stopped.
    pub halted: bool,
}

/// An NPU program, loaded: a [`DataPlane`] with its tables, memories and locks.
#[derive(Debug)]
pub struct Npu {
    pub(super) interpreter: Interpreter,
    pub(super) tables: Tables,
    pub(super) shared: Shared,
    pub(super) processor: Processor,
    pub(super) random: SplitMix64,
    pub(super) threads: Threads,
    /// Empty: there are no action profiles, but the control plane's interface has them.
    pub(super) profiles: Profiles,
    parser: Block,
    pub(super) ingress: Block,
    deparser: Block,
    /// Output of the deparser.
    written: PacketOut,
}

impl Npu {
    pub(super) fn new(
        interpreter: Interpreter,
        units: [UnitId; 3],
        shared: Shared,
        processor: Processor,
        seed: u64,
    ) -> Npu {
        let [parser, ingress, deparser] = units.map(|unit| Block::new(&interpreter, unit));
        Npu {
            tables: Tables::new(interpreter.program().clone()),
            interpreter,
            shared,
            processor,
            random: SplitMix64::new(seed),
            threads: Threads::default(),
            profiles: Profiles::default(),
            parser,
            ingress,
            deparser,
            written: PacketOut::new(),
        }
    }

    /// Requests that the processor cannot fulfil, and lost updates.
    pub fn faults(&self) -> &Faults {
        &self.shared.faults
    }

    /// Parses a packet and initialises `pass` for its ingress control.
    pub(super) fn begin(
        &mut self,
        now: Time,
        input: &IngressInput,
        packet: Packet,
        pass: &mut Pass,
    ) {
        let Block { unit, frame, npu, .. } = &mut self.parser;
        frame.clear();
        if let Some(npu) = npu {
            frame.set(npu.ingress_port, input.port.0.into());
            frame.set(npu.arrived, input.arrived.0.into());
            frame.set(npu.packet_length, packet.len().0.into());
            frame.set(npu.egress_port, DROP_PORT);
        }
        let front = PacketIn::new(&packet.bytes, packet.zeros);
        let mut externs = self.shared.externs(now, None);
        let parsed = self.interpreter.run_parser(*unit, frame, front, &self.tables, &mut externs);
        pass.halted = parsed.is_err();
        match parsed {
            Ok(parsed) => {
                if let Some(npu) = npu {
                    frame.set(npu.parser_error, parsed.error.into());
                }
                (pass.consumed, pass.parser_rejected) = (parsed.consumed, !parsed.accepted);
            }
            Err(halt) => self.shared.faults.halted(&halt),
        }
        pass.frame.clone_from(&self.ingress.frame);
        self.ingress.take_over(&self.parser, &self.parser.frame, &mut pass.frame);
        pass.packet = packet;
        pass.position.restart();
        pass.seen.clear();
    }

    /// Deparses a completed pass, and returns its packet's destination.
    pub(super) fn end(&mut self, now: Time, pass: &mut Pass) -> IngressOutput {
        let parser_rejected = pass.parser_rejected;
        let dropped = IngressOutput { parser_rejected, ..IngressOutput::default() };
        let Some(npu) = self.ingress.npu.filter(|_| !pass.halted) else { return dropped };
        let port = pass.frame.get(npu.egress_port);
        if port == DROP_PORT {
            return dropped;
        }
        let Block { unit, frame, .. } = &mut self.deparser;
        let (unit, mut frame) = (*unit, std::mem::take(frame));
        frame.clear();
        self.deparser.take_over(&self.ingress, &pass.frame, &mut frame);
        self.written.clear();
        let out = Some(&mut self.written);
        let mut externs = self.shared.externs(now, None);
        let run = self.interpreter.run_control(unit, &mut frame, out, &self.tables, &mut externs);
        self.deparser.frame = frame;
        if let Err(halt) = run {
            self.shared.faults.halted(&halt);
            return dropped;
        }
        self.written.align();
        let mut packet = std::mem::take(&mut pass.packet);
        deparse(&mut packet, &mut self.written, pass.consumed);
        let admission = Admission {
            unicast: Some(PortId(port as u16)),
            queue: pass.frame.get(npu.queue) as u8,
            ..Admission::default()
        };
        IngressOutput { packet: Some(packet), admission, ..dropped }
    }

    /// Resumes the ingress control of a pass with the answer to its last request, up to its next
    /// request or its end.
    ///
    /// # Errors
    /// Returns the halt that stopped it before its end.
    pub(super) fn resume(
        &mut self,
        pass: &mut Pass,
        now: Time,
        answer: Option<u64>,
    ) -> Result<Option<Request>, Halt> {
        let Pass { frame, position, .. } = pass;
        let mut run = self.shared.externs(now, answer);
        let (unit, tables) = (self.ingress.unit, &self.tables);
        match self.interpreter.resume_control(unit, frame, tables, &mut run, position)? {
            Progress::Ended => Ok(None),
            Progress::Suspended => Ok(run.request),
        }
    }
}

/// Queues of unknown depth.
struct NoQueues;

impl QueueDepths for NoQueues {
    fn packets(&self, _: PortId, _: u8) -> u64 {
        0
    }
}

/// Thread number of a pass that runs on its own; no other thread has it.
const ALONE: ThreadId = ThreadId::MAX;

impl DataPlane for Npu {
    /// Runs the pass on its own: no request takes time, and every queue is empty.
    fn ingress_pass(
        &mut self,
        input: &IngressInput,
        packet: &mut Packet,
        packet_metadata: &mut PacketMetadata,
    ) -> IngressDecision {
        let mut pass = Pass::default();
        let Packet { id, flow, .. } = *packet;
        self.begin(input.now, input, std::mem::take(packet), &mut pass);
        let mut answer = None;
        while !pass.halted {
            match self.resume(&mut pass, input.now, answer) {
                Ok(None) => break,
                Ok(Some(request)) => {
                    match self.shared.execute(ALONE, request, &mut pass.seen, &NoQueues) {
                        Answer::GoesOn { value, .. } => answer = Some(value),
                        Answer::Waits | Answer::Deadlock => pass.halted = true,
                    }
                }
                Err(halt) => {
                    self.shared.faults.halted(&halt);
                    pass.halted = true;
                }
            }
        }
        self.shared.take_back(ALONE);
        let (decision, left, goes_with) = self.end(input.now, &mut pass).into_decision();
        (*packet, *packet_metadata) = (Packet { id, flow, ..left }, goes_with);
        decision
    }

    fn egress_pass(
        &mut self,
        _: &EgressInput,
        _: &mut Packet,
        _: &mut PacketMetadata,
    ) -> EgressDecision {
        EgressFate::Sent.into()
    }

    fn overlapping(&mut self) -> Option<&mut dyn Overlapping> {
        Some(self)
    }
}

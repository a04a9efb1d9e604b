//! A loaded program as a data plane: the two passes of a packet through the chip.
//!
//! ```text
//! ingress   packet -> parser -> control -> deparser -> [resubmit] [mirror] [to the queues]
//! egress    packet -> parser -> control -> deparser -> [mirror] [to the port]
//! ```
//!
//! Parsers (TNA p. 22-29): a packet on which the ingress parser fails is dropped there, unless the
//! program looks at `parser_err`; the egress parser drops nothing, the program goes on with what
//! was extracted. An explicit `reject` drops in both.
//!
//! Deparsers (TNA p. 34-35): the packet is written first. Then a valid `mirror_type` makes a copy,
//! in egress unless bit 2 of `drop_ctl` is set: of the packet as received in ingress, as written in
//! egress. Then bit 0 of `drop_ctl` decides whether the packet itself goes on.

use super::chip::Chip;
use super::ghost::{GhostThread, ReportWord};
use super::gress::Gress;
use super::metadata::{FrontFields, IntrinsicField, Role};
use super::parse_depth::reads_ethernet_alone;
use super::pass::{ParserErrors, Pass};
use super::runtime::{RegisterState, Runtime};
use super::tm_metadata::Admitted;
use sojourn_control::digest::Digest;
use sojourn_control::fits;
use sojourn_control::snapshot::Snapshots;
use sojourn_externs::counter::Count;
use sojourn_p4::interp::{Frame, Halt, Interpreter, PacketOut, Stopped, Tables};
use sojourn_p4::ir::UnitId;
use sojourn_p4::source::SourceMap;
use sojourn_packet::dataplane::{
    Admission, DataPlane, DepthReport, EgressDecision, EgressFate, EgressInput, FlowControl,
    IngressDecision, IngressInput, Mirror, MirrorDirection, PortId,
};
use sojourn_packet::{Bytes, HEADER_ROOM, HeaderBytes, Packet, Time};
use sojourn_target::deparser_output::deparse;
use sojourn_target::faults::Faults;
use sojourn_target::phv::PacketMetadata;
use std::sync::Arc;

/// The frame check sequence, which the chip counts with the packet's length.
const FCS_BYTES: u64 = 4;

/// Numbers of ports have nine bits.
pub(super) const PORTS: usize = 512;

/// The passes of a pipeline.
#[derive(Debug)]
pub(super) struct Passes {
    pub ingress: Gress,
    pub egress: Gress,
    pub ghost: Option<Box<GhostThread>>,
}

/// A TNA program, loaded: a [`DataPlane`] with its tables and registers.
#[derive(Debug)]
pub struct Tofino {
    chip: &'static Chip,
    /// The program without guards of its reads: what the chip's compiler sees.
    elaborated: Arc<sojourn_p4::ir::Program>,
    interpreter: Interpreter,
    pub(super) tables: Tables,
    pub(super) runtime: Runtime,
    ingress: Gress,
    egress: Gress,
    /// The ghost thread, if the pipeline has one.
    ghost: Option<Box<GhostThread>>,
    admitted: Admitted,
    /// Drop and copy decision of egress.
    egress_drop: IntrinsicField,
    parser_errors: ParserErrors,
    fields: FrontFields,
    /// Both passes look at Ethernet headers and at nothing behind them.
    reads_ethernet_alone: bool,
    /// The program's text, once it is given.
    pub(super) sources: Option<Arc<SourceMap>>,
    /// Snapshots, once one was requested.
    pub(super) snapshots: Option<Box<Snapshots>>,
    /// Port metadata of packets from outside, by port.
    pub(super) port_metadata: Vec<u64>,
    /// Input of a parser: intrinsic header and the packet's real bytes.
    front: Vec<u8>,
    /// Output of a deparser.
    written: PacketOut,
}

impl Tofino {
    pub(super) fn new(
        chip: &'static Chip,
        elaborated: Arc<sojourn_p4::ir::Program>,
        interpreter: Interpreter,
        runtime: Runtime,
        Passes { ingress, egress, ghost }: Passes,
        fields: FrontFields,
    ) -> Tofino {
        let program = interpreter.program().clone();
        Tofino {
            chip,
            tables: Tables::new(program.clone()),
            admitted: Admitted::new(&ingress),
            reads_ethernet_alone: reads_ethernet_alone(
                &elaborated,
                &ingress,
                &egress,
                chip.front.bytes(),
            ),
            egress_drop: egress.control.answer(Role::ForDeparser, "drop_ctl"),
            parser_errors: ParserErrors::new(&program.errors),
            elaborated,
            interpreter,
            runtime,
            ingress,
            egress,
            ghost,
            fields,
            sources: None,
            snapshots: None,
            port_metadata: vec![0; PORTS],
            front: Vec::new(),
            written: PacketOut::new(),
        }
    }

    /// The program's registers, for control planes and tests.
    pub fn registers(&self) -> impl Iterator<Item = &RegisterState> {
        self.runtime.registers.iter()
    }

    /// The register whose name is, or ends in, `name`.
    pub fn register_mut(&mut self, name: &str) -> Option<&mut RegisterState> {
        self.runtime.registers.iter_mut().find(|register| fits(register.name(), name))
    }

    /// A cell of the counter whose name is, or ends in, `name`.
    pub fn counter(&self, name: &str, index: usize) -> Option<Count> {
        self.runtime.counters.iter().find(|(known, _)| fits(known, name))?.1.get(index)
    }

    /// Digests since the last call; the oldest are lost if there were too many.
    pub fn take_digests(&mut self) -> Vec<Digest> {
        self.runtime.digests.take()
    }

    /// Requests that the chip cannot fulfil.
    pub fn faults(&self) -> &Faults {
        &self.runtime.faults
    }

    /// The chip.
    pub(super) fn chip(&self) -> &'static Chip {
        self.chip
    }

    /// The program as it was elaborated, for whatever looks at it and does not run it.
    pub(super) fn elaborated(&self) -> &sojourn_p4::ir::Program {
        &self.elaborated
    }

    /// The program that was loaded.
    pub fn program(&self) -> &Arc<sojourn_p4::ir::Program> {
        self.interpreter.program()
    }

    /// The six blocks of its pipeline.
    pub(super) fn blocks(&self) -> [UnitId; 6] {
        let [ingress, egress] = [&self.ingress, &self.egress]
            .map(|gress| [gress.parser.unit, gress.control.unit, gress.deparser.unit]);
        [ingress[0], ingress[1], ingress[2], egress[0], egress[1], egress[2]]
    }

    /// The two passes of the ghost thread on a report.
    fn run_ghost(&mut self, report: &DepthReport) {
        let Some(ghost) = &mut self.ghost else { return };
        for ping_pong in [0, 1] {
            // Ghost uses the second copies at the first pass, ingress at the second.
            if ping_pong == 0 {
                self.runtime.exchange_copies();
            }
            self.runtime.begin(report.now, 0);
            let (unit, frame) = ghost.begin(ReportWord::new(self.chip, report, ping_pong));
            let (interpreter, tables) = (&self.interpreter, &self.tables);
            let ran = interpreter.run_control(unit, frame, None, tables, &mut self.runtime);
            if let Err(halt) = ran {
                self.runtime.faults.halted(&halt);
            }
            if ping_pong == 0 {
                self.runtime.exchange_copies();
            }
        }
    }

    /// An ingress pass with the word of the last report, on the copies that it selects.
    #[inline(never)]
    fn run_with_report(&mut self, input: &IngressInput, packet: &mut Packet) -> IngressDecision {
        let word = self.ghost.as_ref().map_or(ReportWord::default(), |ghost| ghost.last);
        self.ingress.set_report(word);
        if word.ping_pong == 0 {
            return self.run_ingress(input, packet);
        }
        self.runtime.exchange_copies();
        let decision = self.run_ingress(input, packet);
        self.runtime.exchange_copies();
        decision
    }

    /// The queue that a word of advanced flow control pauses or resumes: bit 31 is set, 30 to 29
    /// are the pipe, 28 to 25 the port group, 21 to 15 the queue of the group, 14 to 0 the credit,
    /// in mode XOFF 1 to pause and 0 to resume.
    fn flow_control(&self) -> Option<FlowControl> {
        let word = self.runtime.pass.copies.flow_control.filter(|word| word >> 31 == 1)?;
        let [pipe, group, queue] = [word >> 29 & 3, word >> 25 & 0xf, word >> 15 & 0x7f];
        let (chip, queue) = (self.chip, queue as u16);
        let port = pipe as u16 * chip.pipe_ports
            + group as u16 * chip.front.group_ports
            + queue / chip.front.group_queues.max(1);
        let queue = (queue % chip.front.group_queues.max(1)) as u8;
        Some(FlowControl { port: PortId(port), queue, pause: word & 0x7fff != 0 })
    }

    /// Context of a pass, with the remaining state.
    #[inline(always)]
    fn parts(&mut self, now: Time) -> (Pass<'_>, PassContext<'_>) {
        let pass = Pass {
            interpreter: &self.interpreter,
            tables: &self.tables,
            runtime: &mut self.runtime,
            written: &mut self.written,
            errors: &self.parser_errors,
            tstamp: self.fields.clock.global(now),
        };
        let context = PassContext {
            ingress: &mut self.ingress,
            egress: &mut self.egress,
            admitted: &self.admitted,
            fields: &self.fields,
            front: &mut self.front,
        };
        (pass, context)
    }

    /// An ingress pass.
    #[inline(always)]
    fn run_ingress(&mut self, input: &IngressInput, packet: &mut Packet) -> IngressDecision {
        self.runtime.begin(input.now, packet.len().0 + FCS_BYTES);
        let ran = self.ingress_at_once(input, packet);
        match ran {
            Ok(consumed) if self.ingress.is_whole() => {
                if self.runtime.pass.asked || self.admitted.copies() {
                    return self.ingress_with_copies(consumed, packet);
                }
                let admission = self.admitted.read_alone(self.ingress.control_frame());
                if !admission.is_nowhere() {
                    deparse(packet, &mut self.written, consumed);
                }
                // From registers: what is filled in piece by piece and then copied waits for the pieces.
                IngressDecision::admit(admission)
            }
            _ => self.ingress_otherwise(ran, input, packet),
        }
    }

    /// A pass that has run, of a packet that may not be the only one that goes on.
    #[inline(never)]
    fn ingress_with_copies(&mut self, consumed: u64, packet: &mut Packet) -> IngressDecision {
        let admission = self.admitted.read(self.ingress.control_frame());
        let mut out = IngressDecision::admit(admission);
        self.leave_ingress(&mut out, consumed, packet);
        out
    }

    /// As much of it as runs at once.
    #[inline(always)]
    fn ingress_at_once(
        &mut self,
        input: &IngressInput,
        packet: &Packet,
    ) -> Result<u64, Option<Stopped>> {
        if input.resubmitted {
            return Err(None);
        }
        let of_port = self.port_metadata_of(input);
        let (mut pass, PassContext { ingress, fields, .. }) = self.parts(input.now);
        let words = fields.ingress(input, of_port);
        pass.run_at_once(ingress, |word| words[usize::from(word & 3)], packet)
    }

    #[inline(always)]
    fn port_metadata_of(&self, input: &IngressInput) -> u64 {
        self.port_metadata.get(usize::from(input.port.0)).copied().unwrap_or(0)
    }

    /// A pass of which not all has run at once.
    #[inline(never)]
    fn ingress_otherwise(
        &mut self,
        ran: Result<u64, Option<Stopped>>,
        input: &IngressInput,
        packet: &mut Packet,
    ) -> IngressDecision {
        let mut out = IngressDecision::default();
        match self.rest_of_ingress(ran, input, packet, &mut out.admission) {
            Ok(Some(consumed)) => self.leave_ingress(&mut out, consumed, packet),
            Ok(None) => out.parser_rejected = true,
            Err(halt) => {
                self.runtime.faults.halted(&halt);
                out = IngressDecision::default();
            }
        }
        out
    }

    /// Runs the rest of the pass, up to the deparser's output; returns the number of bits of the
    /// packet that the output replaces, `None` if the parser drops it.
    fn rest_of_ingress(
        &mut self,
        ran: Result<u64, Option<Stopped>>,
        input: &IngressInput,
        packet: &Packet,
        admission: &mut Admission,
    ) -> Result<Option<u64>, Halt> {
        let of_port = self.port_metadata_of(input);
        let (mut pass, PassContext { ingress, admitted, fields, front, .. }) =
            self.parts(input.now);
        if let Some(consumed) = pass.rest(ran, ingress, packet)? {
            *admission = admitted.read(ingress.control_frame());
            pass.finish(ingress)?;
            return Ok(Some(consumed));
        }
        front.clear();
        fields.write_ingress(input, of_port, front);
        pass.run_behind(front, ingress, packet, |frame| *admission = admitted.read(frame))
    }

    /// Completes ingress after the deparser, whose output replaces `consumed` bits of the packet.
    fn leave_ingress(&mut self, out: &mut IngressDecision, consumed: u64, packet: &mut Packet) {
        out.flow_control = self.flow_control();
        if self.runtime.pass.asked && self.runtime.pass.copies.as_deparsed == Some(true) {
            return self.leave_ingress_as_deparsed(out, consumed, packet);
        }
        if self.runtime.pass.asked && self.asked_in_ingress(out, packet) {
            return;
        }
        if !out.admission.is_nowhere() {
            self.deparse(consumed, packet);
        }
    }

    /// The same where a copy is to be made of the packet as deparsed.
    #[inline(never)]
    fn leave_ingress_as_deparsed(
        &mut self,
        out: &mut IngressDecision,
        consumed: u64,
        packet: &mut Packet,
    ) {
        if self.runtime.pass.resubmit.is_none() {
            self.deparse(consumed, packet);
        }
        self.asked_in_ingress(out, packet);
    }

    /// Puts what the deparser wrote in front of a packet, and cuts it if the program asked for that.
    #[inline(always)]
    fn deparse(&mut self, consumed: u64, packet: &mut Packet) {
        deparse(packet, &mut self.written, consumed);
        if let Some(length) = self.runtime.pass.copies.cut_to {
            packet.truncate(Bytes(length.into()));
        }
    }

    /// Handles further requests of the program; true if one needs the packet again.
    #[inline(never)]
    fn asked_in_ingress(&mut self, out: &mut IngressDecision, packet: &mut Packet) -> bool {
        if let Some(data) = self.runtime.pass.resubmit.take() {
            (out.admission, out.resubmit) = (Admission::default(), true);
            *packet = with_front(&data, packet);
            return true;
        }
        out.mirror = requested_copy(&mut self.runtime, MirrorDirection::Ingress, packet);
        false
    }

    /// An egress pass.
    #[inline(always)]
    fn run_egress(&mut self, input: &EgressInput, packet: &mut Packet) -> EgressDecision {
        self.runtime.begin(input.now, u64::from(input.length));
        let (mut pass, PassContext { egress, fields, .. }) = self.parts(input.now);
        let ran = pass.run_at_once(egress, |word| fields.egress(input, word), packet);
        match ran {
            Ok(consumed) if self.egress.is_whole() => {
                let drop_ctl = self.egress_drop.or_zero(self.egress.control_frame()) as u8;
                self.leave_egress(drop_ctl, consumed, packet)
            }
            _ => self.egress_otherwise(ran, input, packet),
        }
    }

    /// A pass of which not all has run at once.
    #[inline(never)]
    fn egress_otherwise(
        &mut self,
        ran: Result<u64, Option<Stopped>>,
        input: &EgressInput,
        packet: &mut Packet,
    ) -> EgressDecision {
        match self.rest_of_egress(ran, input, packet) {
            Ok(Some((consumed, drop_ctl))) => self.leave_egress(drop_ctl, consumed, packet),
            Ok(None) => EgressDecision { parser_rejected: true, ..EgressDecision::default() },
            Err(halt) => {
                self.runtime.faults.halted(&halt);
                EgressDecision::default()
            }
        }
    }

    /// The rest of it, likewise, with the bits of `drop_ctl`.
    fn rest_of_egress(
        &mut self,
        ran: Result<u64, Option<Stopped>>,
        input: &EgressInput,
        packet: &Packet,
    ) -> Result<Option<(u64, u8)>, Halt> {
        let (drop, mut drop_ctl) = (self.egress_drop, 0);
        let (mut pass, PassContext { egress, fields, front, .. }) = self.parts(input.now);
        let mut answers = |frame: &Frame| drop_ctl = drop.or_zero(frame) as u8;
        let ran = match pass.rest(ran, egress, packet)? {
            Some(consumed) => {
                answers(egress.control_frame());
                pass.finish(egress)?;
                Some(consumed)
            }
            None => {
                front.clear();
                fields.write_egress(input, front);
                pass.run_behind(front, egress, packet, answers)?
            }
        };
        Ok(ran.map(|consumed| (consumed, drop_ctl)))
    }

    /// Completes egress after the deparser, whose output replaces `consumed` bits of the packet.
    #[inline(always)]
    fn leave_egress(&mut self, drop_ctl: u8, consumed: u64, packet: &mut Packet) -> EgressDecision {
        let mut out =
            EgressDecision { flow_control: self.flow_control(), ..EgressDecision::default() };
        let sent = drop_ctl & 1 == 0;
        let copied = drop_ctl & 4 == 0 && self.runtime.pass.asked;
        let as_received = copied && self.runtime.pass.copies.as_deparsed == Some(false);
        if as_received {
            out.mirror = requested_copy(&mut self.runtime, MirrorDirection::Egress, packet);
        }
        if sent || (copied && !as_received) {
            self.deparse(consumed, packet);
        }
        if copied && !as_received {
            out.mirror = requested_copy(&mut self.runtime, MirrorDirection::Egress, packet);
        }
        if sent {
            out.fate = EgressFate::Sent;
        }
        out
    }
}

/// The parts of a pipe that a pass reads apart from its own state.
struct PassContext<'a> {
    ingress: &'a mut Gress,
    egress: &'a mut Gress,
    admitted: &'a Admitted,
    fields: &'a FrontFields,
    front: &'a mut Vec<u8>,
}

impl DataPlane for Tofino {
    /// On Tofino, metadata from another pass are in front of the packet's bytes.
    fn ingress_pass(
        &mut self,
        input: &IngressInput,
        packet: &mut Packet,
        _: &mut PacketMetadata,
    ) -> IngressDecision {
        if self.snapshots.is_some() {
            return self.run_followed(false, |plane| plane.run_with_report(input, packet));
        }
        if self.ghost.is_some() {
            return self.run_with_report(input, packet);
        }
        self.run_ingress(input, packet)
    }

    fn egress_pass(
        &mut self,
        input: &EgressInput,
        packet: &mut Packet,
        _: &mut PacketMetadata,
    ) -> EgressDecision {
        if self.snapshots.is_some() {
            return self.run_followed(true, |plane| plane.run_egress(input, packet));
        }
        self.run_egress(input, packet)
    }

    fn takes_depth_reports(&self) -> bool {
        self.ghost.is_some()
    }

    fn depth_report(&mut self, report: &DepthReport) {
        self.run_ghost(report);
    }

    fn reads_ethernet_alone(&self) -> bool {
        self.reads_ethernet_alone
    }
}

/// The copy requested by the deparser, of the packet in its present state.
#[inline(never)]
fn requested_copy(
    runtime: &mut Runtime,
    direction: MirrorDirection,
    packet: &Packet,
) -> Option<Box<Mirror>> {
    let request = runtime.pass.mirror.take().filter(|request| request.session != 0)?;
    Some(Box::new(Mirror {
        session: request.session,
        direction,
        header_len: request.header.len() as u16,
        packet_metadata: PacketMetadata::default(),
        packet: with_front(&request.header, packet),
        overrides: runtime.pass.copies.overrides,
    }))
}

/// A copy of `packet` with some bytes in front.
fn with_front(front: &[u8], packet: &Packet) -> Packet {
    let mut bytes = HeaderBytes::with_capacity(HEADER_ROOM.max(front.len() + packet.bytes.len()));
    bytes.extend_from_slice(front);
    bytes.extend_from_slice(&packet.bytes);
    Packet { id: packet.id, flow: packet.flow, bytes, zeros: packet.zeros }
}

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

use super::gress::Gress;
use super::metadata::{Clock, IntrinsicField, Role, write_egress_header, write_ingress_header};
use super::runtime::{CopyTypes, RegisterState, Runtime};
use crate::control::fits;
use crate::dataplane::{
    Admission, DataPlane, EgressInput, EgressOutput, IngressInput, IngressOutput, Mirror,
    MirrorDirection, PortId, Replication,
};
use crate::deparsed::deparsed;
use crate::digest::Digest;
use crate::externs::counter::Count;
use crate::faults::Faults;
use crate::phv::Carried;
use sojourn_p4::interp::{Frame, Halt, Interpreter, PacketIn, PacketOut, Parsed, Tables};
use sojourn_packet::{HeaderBytes, Packet};
use std::sync::Arc;

/// The frame check sequence, which the chip counts with the packet's length.
const FCS_BYTES: u64 = 4;

/// Numbers of ports have nine bits.
pub(super) const PORTS: usize = 512;

/// Bits of `parser_err` for the errors of the language and of TNA.
#[derive(Clone, Debug)]
struct ParserErrors(Vec<u16>);

impl ParserErrors {
    fn new(names: &[Arc<str>]) -> ParserErrors {
        let bit = |name: &Arc<str>| match &**name {
            "NoError" => 0,
            "NoMatch" => 0x0001,
            // The header is missed where it is asked for, and again where it is extracted.
            "PacketTooShort" | "HeaderTooShort" => 0x0022,
            "CounterRange" => 0x0004,
            "Timeout" => 0x0008,
            "ParserTimeout" => 0x0010,
            "StackOutOfBounds" | "IbufOverflow" | "IbufUnderflow" => 0x0020,
            "PhvOwner" => 0x0080,
            "MultiWrite" => 0x0100,
            _ => 0x0040,
        };
        ParserErrors(names.iter().map(bit).collect())
    }

    fn bits(&self, error: u32) -> u16 {
        self.0.get(error as usize).copied().unwrap_or(0)
    }
}

/// Fields that the pipeline writes into or reads out of the ingress blocks' frames.
#[derive(Clone, Debug)]
struct IngressFields {
    tstamp: [IntrinsicField; 2],
    parser_err: [IntrinsicField; 2],
    unicast: IntrinsicField,
    bypass: IntrinsicField,
    cos: IntrinsicField,
    queue: IntrinsicField,
    color: IntrinsicField,
    groups: [IntrinsicField; 2],
    l1_exclusion: IntrinsicField,
    l2_exclusion: IntrinsicField,
    rid: IntrinsicField,
    copy_to_cpu: IntrinsicField,
    drop_ctl: IntrinsicField,
    copies: CopyFields,
}

impl IngressFields {
    fn new(gress: &Gress) -> IngressFields {
        let tm = |name| gress.control.answer(Role::ForTrafficManager, name);
        let deparser = |name| gress.control.answer(Role::ForDeparser, name);
        let both = |name| from_parser(gress, name);
        IngressFields {
            tstamp: both("global_tstamp"),
            parser_err: both("parser_err"),
            unicast: tm("ucast_egress_port"),
            bypass: tm("bypass_egress"),
            cos: tm("ingress_cos"),
            queue: tm("qid"),
            color: tm("packet_color"),
            groups: [tm("mcast_grp_a"), tm("mcast_grp_b")],
            l1_exclusion: tm("level1_exclusion_id"),
            l2_exclusion: tm("level2_exclusion_id"),
            rid: tm("rid"),
            copy_to_cpu: tm("copy_to_cpu"),
            drop_ctl: deparser("drop_ctl"),
            copies: CopyFields::new(gress),
        }
    }

    /// Where the traffic manager is told to send a packet.
    #[inline]
    fn admission(&self, frame: &Frame, drop: u128) -> Admission {
        let word = |field: IntrinsicField| field.or_zero(frame) as u16;
        let group = |field: IntrinsicField| field.get(frame).map(|id| id as u16);
        let groups = [group(self.groups[0]), group(self.groups[1])];
        // The first bit stops the packet and its copies, the second the copy for the processor.
        let copy_to_cpu = self.copy_to_cpu.or_zero(frame) != 0 && drop & 2 == 0;
        if drop & 1 != 0 {
            let replication =
                copy_to_cpu.then(|| Replication { copy_to_cpu, ..Replication::default() });
            return Admission { replication, ..Admission::default() };
        }
        let wanted = copy_to_cpu || groups.iter().any(Option::is_some);
        let replication = wanted.then(|| Replication {
            groups,
            copy_to_cpu,
            rid: word(self.rid),
            l1_exclusion: word(self.l1_exclusion),
            l2_exclusion: word(self.l2_exclusion),
        });
        Admission {
            unicast: self.unicast.get(frame).map(|port| PortId(port as u16)),
            queue: word(self.queue) as u8,
            cos: word(self.cos) as u8,
            color: word(self.color) as u8,
            bypass_egress: self.bypass.or_zero(frame) != 0,
            replication,
        }
    }
}

/// [`IngressFields`] for egress.
#[derive(Clone, Debug)]
struct EgressFields {
    tstamp: [IntrinsicField; 2],
    parser_err: [IntrinsicField; 2],
    drop_ctl: IntrinsicField,
    copies: CopyFields,
}

/// The fields that choose what the deparser copies.
#[derive(Clone, Copy, Debug)]
struct CopyFields {
    mirror: IntrinsicField,
    resubmit: IntrinsicField,
    digest: IntrinsicField,
}

impl CopyFields {
    fn new(gress: &Gress) -> CopyFields {
        let field = |name| gress.control.answer(Role::ForDeparser, name);
        CopyFields {
            mirror: field("mirror_type"),
            resubmit: field("resubmit_type"),
            digest: field("digest_type"),
        }
    }

    fn read(self, frame: &Frame) -> CopyTypes {
        let chosen = |field: IntrinsicField| field.get(frame).map(|value| value as u8);
        CopyTypes {
            mirror: chosen(self.mirror),
            resubmit: chosen(self.resubmit),
            digest: chosen(self.digest),
        }
    }
}

/// A field that the parser stage gives to control and deparser.
fn from_parser(gress: &Gress, name: &str) -> [IntrinsicField; 2] {
    [&gress.control, &gress.deparser].map(|block| block.field(Role::FromParser, name))
}

impl EgressFields {
    fn new(gress: &Gress) -> EgressFields {
        EgressFields {
            tstamp: from_parser(gress, "global_tstamp"),
            parser_err: from_parser(gress, "parser_err"),
            drop_ctl: gress.control.answer(Role::ForDeparser, "drop_ctl"),
            copies: CopyFields::new(gress),
        }
    }
}

/// A TNA program, loaded: a [`DataPlane`] with its tables and registers.
#[derive(Debug)]
pub struct Tofino {
    /// The program without guards of its reads: what the chip's compiler sees.
    elaborated: Arc<sojourn_p4::ir::Program>,
    interpreter: Interpreter,
    pub(super) tables: Tables,
    pub(super) runtime: Runtime,
    ingress: Gress,
    egress: Gress,
    ingress_fields: IngressFields,
    egress_fields: EgressFields,
    parser_errors: ParserErrors,
    clock: Clock,
    /// What is in front of packets from outside, by port.
    pub(super) port_metadata: Vec<u64>,
    /// What a parser reads: intrinsic header and the packet's real bytes.
    front: Vec<u8>,
    /// What a deparser writes.
    written: PacketOut,
}

impl Tofino {
    pub(super) fn new(
        elaborated: Arc<sojourn_p4::ir::Program>,
        interpreter: Interpreter,
        runtime: Runtime,
        ingress: Gress,
        egress: Gress,
        clock: Clock,
    ) -> Tofino {
        let program = interpreter.program().clone();
        Tofino {
            elaborated,
            tables: Tables::new(program.clone()),
            ingress_fields: IngressFields::new(&ingress),
            egress_fields: EgressFields::new(&egress),
            parser_errors: ParserErrors::new(&program.errors),
            interpreter,
            runtime,
            ingress,
            egress,
            clock,
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

    /// What the program did that the chip cannot do.
    pub fn faults(&self) -> &Faults {
        &self.runtime.faults
    }

    /// The program as it was elaborated, for whatever looks at it and does not run it.
    pub(super) fn elaborated(&self) -> &sojourn_p4::ir::Program {
        &self.elaborated
    }

    /// The program that was loaded.
    pub fn program(&self) -> &Arc<sojourn_p4::ir::Program> {
        self.interpreter.program()
    }

    fn run_ingress(
        &mut self,
        input: &IngressInput,
        packet: Packet,
        out: &mut IngressOutput,
    ) -> Result<(), Halt> {
        self.runtime.begin(input.now, packet.len().0 + FCS_BYTES);
        self.front.clear();
        let of_port = self.port_metadata.get(usize::from(input.port.0)).copied().unwrap_or(0);
        write_ingress_header(input, &self.clock, of_port, &mut self.front);
        self.front.extend_from_slice(&packet.bytes);
        let gress = &mut self.ingress;
        let front = PacketIn::new(&self.front, packet.zeros);
        let parsed = run_parser(&self.interpreter, gress, front, &self.tables, &mut self.runtime)?;
        let error = self.parser_errors.bits(parsed.error);
        if !parsed.accepted && (error == 0 || !gress.reads_parser_error) {
            out.parser_rejected = true;
            return Ok(());
        }
        gress.parsed();
        let fields = &self.ingress_fields;
        let tstamp = self.clock.global(input.now).into();
        gress.set_both(fields.tstamp, tstamp);
        gress.set_both(fields.parser_err, error.into());
        run_control(&self.interpreter, gress, &self.tables, &mut self.runtime)?;
        let frame = gress.control_frame();
        out.admission = fields.admission(frame, fields.drop_ctl.or_zero(frame));
        let (copies, written) = (fields.copies, &mut self.written);
        run_deparser(&self.interpreter, gress, copies, written, &self.tables, &mut self.runtime)?;
        if let Some(data) = self.runtime.pass.resubmit.take() {
            out.admission = Admission::default();
            out.resubmit = Some(with_front(&data, &packet));
            return Ok(());
        }
        if self.runtime.pass.mirror.is_some() {
            out.mirror = self.requested_copy(MirrorDirection::Ingress, &packet);
        }
        if out.admission.unicast.is_some() || out.admission.replication.is_some() {
            out.packet = Some(rewritten(packet, &mut self.written, &self.front, &parsed));
        }
        Ok(())
    }

    /// The copy that the deparser was asked for, of a packet as it is now.
    #[inline(never)]
    fn requested_copy(&mut self, direction: MirrorDirection, packet: &Packet) -> Option<Mirror> {
        let request = self.runtime.pass.mirror.take().filter(|request| request.session != 0)?;
        Some(Mirror {
            session: request.session,
            direction,
            header_len: request.header.len() as u16,
            carried: Carried::default(),
            packet: with_front(&request.header, packet),
        })
    }

    fn run_egress(
        &mut self,
        input: &EgressInput,
        packet: Packet,
        out: &mut EgressOutput,
    ) -> Result<(), Halt> {
        self.runtime.begin(input.now, u64::from(input.length));
        self.front.clear();
        write_egress_header(input, &self.clock, &mut self.front);
        self.front.extend_from_slice(&packet.bytes);
        let gress = &mut self.egress;
        let front = PacketIn::new(&self.front, packet.zeros);
        let parsed = run_parser(&self.interpreter, gress, front, &self.tables, &mut self.runtime)?;
        let error = self.parser_errors.bits(parsed.error);
        if !parsed.accepted && error == 0 {
            out.parser_rejected = true;
            return Ok(());
        }
        gress.parsed();
        let fields = &self.egress_fields;
        gress.set_both(fields.tstamp, self.clock.global(input.now).into());
        gress.set_both(fields.parser_err, error.into());
        run_control(&self.interpreter, gress, &self.tables, &mut self.runtime)?;
        let drop_ctl = fields.drop_ctl.or_zero(gress.control_frame());
        let (copies, written) = (fields.copies, &mut self.written);
        run_deparser(&self.interpreter, gress, copies, written, &self.tables, &mut self.runtime)?;
        if drop_ctl & 4 != 0 {
            self.runtime.pass.mirror = None;
        }
        let (sent, copied) = (drop_ctl & 1 == 0, self.runtime.pass.mirror.is_some());
        if !sent && !copied {
            return Ok(());
        }
        let packet = rewritten(packet, &mut self.written, &self.front, &parsed);
        if copied {
            out.mirror = self.requested_copy(MirrorDirection::Egress, &packet);
        }
        if sent {
            out.packet = Some(packet);
        }
        Ok(())
    }
}

impl DataPlane for Tofino {
    /// What a packet of Tofino brings from another pass is in front of its bytes.
    fn ingress_carrying(
        &mut self,
        input: &IngressInput,
        packet: Packet,
        _carried: Carried,
    ) -> IngressOutput {
        // Made where the caller wants it: it is a large one.
        let mut out = IngressOutput::default();
        if let Err(halt) = self.run_ingress(input, packet, &mut out) {
            self.runtime.faults.halted(&halt);
            out = IngressOutput::default();
        }
        out
    }

    fn egress_carrying(
        &mut self,
        input: &EgressInput,
        packet: Packet,
        _carried: Carried,
    ) -> EgressOutput {
        let mut out = EgressOutput::default();
        if let Err(halt) = self.run_egress(input, packet, &mut out) {
            self.runtime.faults.halted(&halt);
            out = EgressOutput::default();
        }
        out
    }
}

/// Begins a pass: runs the parser on the packet with what the chip puts in front of it.
fn run_parser(
    interpreter: &Interpreter,
    gress: &mut Gress,
    packet: PacketIn<'_>,
    tables: &Tables,
    runtime: &mut Runtime,
) -> Result<Parsed, Halt> {
    gress.reset();
    let front = packet.bytes();
    let unit = gress.parser.unit;
    let parsed = interpreter.run_parser(unit, gress.parser_frame(), packet, tables, runtime)?;
    settle(gress, runtime, front, &parsed);
    Ok(parsed)
}

/// Runs the control of a pass.
fn run_control(
    interpreter: &Interpreter,
    gress: &mut Gress,
    tables: &Tables,
    runtime: &mut Runtime,
) -> Result<(), Halt> {
    let unit = gress.control.unit;
    interpreter.run_control(unit, gress.control_frame(), None, tables, runtime)
}

/// Runs the deparser behind it.
fn run_deparser(
    interpreter: &Interpreter,
    gress: &mut Gress,
    copies: CopyFields,
    written: &mut PacketOut,
    tables: &Tables,
    runtime: &mut Runtime,
) -> Result<(), Halt> {
    runtime.pass.copies = copies.read(gress.control_frame());
    gress.controlled();
    written.clear();
    let unit = gress.deparser.unit;
    interpreter.run_control(unit, gress.deparser_frame(), Some(written), tables, runtime)
}

/// Stores residual checksums now that it is known what else the parser has extracted.
fn settle(gress: &mut Gress, runtime: &Runtime, front: &[u8], parsed: &Parsed) {
    for deposit in &runtime.pass.deposits {
        let range = (deposit.from / 8) as usize..(parsed.consumed / 8) as usize;
        let mut sum = deposit.sum.aligned();
        sum.subtract(front.get(range).unwrap_or_default());
        gress.parser_frame().set(deposit.slot, sum.sum().into());
    }
}

/// A copy of `packet` with some bytes in front.
fn with_front(front: &[u8], packet: &Packet) -> Packet {
    let mut bytes = HeaderBytes::with_capacity(front.len() + packet.bytes.len());
    bytes.extend_from_slice(front);
    bytes.extend_from_slice(&packet.bytes);
    Packet { id: packet.id, flow: packet.flow, bytes, zeros: packet.zeros }
}

/// What the deparser wrote, with what the parser left of the packet behind it, in the packet's buffer.
#[inline]
fn rewritten(packet: Packet, written: &mut PacketOut, front: &[u8], parsed: &Parsed) -> Packet {
    // What the chip has put in front of the packet is not in its buffer.
    let put = 8 * (front.len() - packet.bytes.len()) as u64;
    match parsed.consumed.checked_sub(put) {
        Some(consumed) => deparsed(packet, written.bytes(), consumed),
        None => with_unread_front(packet, written, front, parsed),
    }
}

/// The same of a parser that has not taken off all of what the chip puts in front.
#[cold]
fn with_unread_front(
    mut packet: Packet,
    written: &mut PacketOut,
    front: &[u8],
    parsed: &Parsed,
) -> Packet {
    let rest = front.get(parsed.consumed.div_ceil(8) as usize..).unwrap_or_default();
    packet.bytes.clear();
    packet.bytes.extend_from_slice(written.bytes());
    packet.bytes.extend_from_slice(rest);
    packet
}

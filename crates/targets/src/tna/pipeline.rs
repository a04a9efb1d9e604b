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
use super::metadata::{Clock, IntrinsicField, Role, egress_front, ingress_front};
use super::metadata::{write_egress_front, write_ingress_front};
use super::pass::{ParserErrors, Pass, PassFields};
use super::runtime::{RegisterState, Runtime};
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
use crate::snapshot::Snapshots;
use sojourn_p4::interp::{Frame, Halt, Interpreter, PacketIn, PacketOut, Parsed, Tables};
use sojourn_p4::ir::UnitId;
use sojourn_p4::source::SourceMap;
use sojourn_packet::{HeaderBytes, Packet};
use std::sync::Arc;

/// The frame check sequence, which the chip counts with the packet's length.
const FCS_BYTES: u64 = 4;

/// Numbers of ports have nine bits.
pub(super) const PORTS: usize = 512;

/// Fields that the pipeline writes into or reads out of the ingress blocks' frames.
#[derive(Clone, Debug)]
struct IngressFields {
    pass: PassFields,
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
}

impl IngressFields {
    fn new(gress: &Gress) -> IngressFields {
        let tm = |name| gress.control.answer(Role::ForTrafficManager, name);
        IngressFields {
            pass: PassFields::new(gress),
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
            drop_ctl: gress.control.answer(Role::ForDeparser, "drop_ctl"),
        }
    }

    /// Where the traffic manager is told to send a packet.
    #[inline]
    fn admission(&self, frame: &Frame) -> Admission {
        let drop = self.drop_ctl.or_zero(frame);
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
    pass: PassFields,
    drop_ctl: IntrinsicField,
}

impl EgressFields {
    fn new(gress: &Gress) -> EgressFields {
        EgressFields {
            pass: PassFields::new(gress),
            drop_ctl: gress.control.answer(Role::ForDeparser, "drop_ctl"),
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
    /// The program's text, once it is given.
    pub(super) sources: Option<Arc<SourceMap>>,
    /// Snapshots, once somebody has asked for one.
    pub(super) snapshots: Option<Box<Snapshots>>,
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

    /// The six blocks of its pipeline.
    pub(super) fn blocks(&self) -> [UnitId; 6] {
        let [ingress, egress] = [&self.ingress, &self.egress]
            .map(|gress| [gress.parser.unit, gress.control.unit, gress.deparser.unit]);
        [ingress[0], ingress[1], ingress[2], egress[0], egress[1], egress[2]]
    }

    fn run_ingress(
        &mut self,
        input: &IngressInput,
        packet: Packet,
        out: &mut IngressOutput,
    ) -> Result<(), Halt> {
        self.runtime.begin(input.now, packet.len().0 + FCS_BYTES);
        let of_port = self.port_metadata.get(usize::from(input.port.0)).copied().unwrap_or(0);
        let fields = &self.ingress_fields;
        let mut pass = Pass {
            interpreter: &self.interpreter,
            tables: &self.tables,
            runtime: &mut self.runtime,
            written: &mut self.written,
            errors: &self.parser_errors,
            fields: &fields.pass,
            tstamp: self.clock.global(input.now),
            goes_on: |gress, error| error != 0 && gress.reads_parser_error,
        };
        let answers = |frame: &Frame| fields.admission(frame);
        let at_once = if input.resubmitted {
            None
        } else {
            let front = ingress_front(input, &self.clock, of_port);
            let front = |word: u8| front[usize::from(word & 1)];
            pass.run_at_once(&mut self.ingress, front, &packet, answers)
        };
        let (parsed, admission, front) = match at_once {
            Some(ran) => {
                let (parsed, admission) = ran?;
                (parsed, admission, None)
            }
            None => {
                self.front.clear();
                write_ingress_front(input, &self.clock, of_port, &mut self.front);
                self.front.extend_from_slice(&packet.bytes);
                let front = PacketIn::new(&self.front, packet.zeros);
                let Some((parsed, admission)) = pass.run(&mut self.ingress, front, answers)? else {
                    out.parser_rejected = true;
                    return Ok(());
                };
                (parsed, admission, Some(&*self.front))
            }
        };
        out.admission = admission;
        if let Some(data) = self.runtime.pass.resubmit.take() {
            out.admission = Admission::default();
            out.resubmit = Some(with_front(&data, &packet));
            return Ok(());
        }
        if self.runtime.pass.mirror.is_some() {
            out.mirror = requested_copy(&mut self.runtime, MirrorDirection::Ingress, &packet);
        }
        if out.admission.unicast.is_some() || out.admission.replication.is_some() {
            out.packet = Some(rewritten(packet, &mut self.written, front, &parsed));
        }
        Ok(())
    }

    fn run_egress(
        &mut self,
        input: &EgressInput,
        packet: Packet,
        out: &mut EgressOutput,
    ) -> Result<(), Halt> {
        self.runtime.begin(input.now, u64::from(input.length));
        let fields = &self.egress_fields;
        let mut pass = Pass {
            interpreter: &self.interpreter,
            tables: &self.tables,
            runtime: &mut self.runtime,
            written: &mut self.written,
            errors: &self.parser_errors,
            fields: &fields.pass,
            tstamp: self.clock.global(input.now),
            goes_on: |_, error| error != 0,
        };
        let answers = |frame: &Frame| fields.drop_ctl.or_zero(frame);
        let front = |word: u8| egress_front(input, &self.clock, word);
        let (parsed, drop_ctl, front) =
            match pass.run_at_once(&mut self.egress, front, &packet, answers) {
                Some(ran) => {
                    let (parsed, drop_ctl) = ran?;
                    (parsed, drop_ctl, None)
                }
                None => {
                    self.front.clear();
                    write_egress_front(input, &self.clock, &mut self.front);
                    self.front.extend_from_slice(&packet.bytes);
                    let front = PacketIn::new(&self.front, packet.zeros);
                    let Some((parsed, drop_ctl)) = pass.run(&mut self.egress, front, answers)?
                    else {
                        out.parser_rejected = true;
                        return Ok(());
                    };
                    (parsed, drop_ctl, Some(&*self.front))
                }
            };
        if drop_ctl & 4 != 0 {
            self.runtime.pass.mirror = None;
        }
        let (sent, copied) = (drop_ctl & 1 == 0, self.runtime.pass.mirror.is_some());
        if !sent && !copied {
            return Ok(());
        }
        let packet = rewritten(packet, &mut self.written, front, &parsed);
        if copied {
            out.mirror = requested_copy(&mut self.runtime, MirrorDirection::Egress, &packet);
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
        let followed = self.follow(false);
        if let Err(halt) = self.run_ingress(input, packet, &mut out) {
            self.runtime.faults.halted(&halt);
            out = IngressOutput::default();
        }
        if let Some(followed) = followed {
            self.followed(false, followed);
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
        let followed = self.follow(true);
        if let Err(halt) = self.run_egress(input, packet, &mut out) {
            self.runtime.faults.halted(&halt);
            out = EgressOutput::default();
        }
        if let Some(followed) = followed {
            self.followed(true, followed);
        }
        out
    }
}

/// The copy that the deparser was asked for, of a packet as it is now.
#[inline(never)]
fn requested_copy(
    runtime: &mut Runtime,
    direction: MirrorDirection,
    packet: &Packet,
) -> Option<Mirror> {
    let request = runtime.pass.mirror.take().filter(|request| request.session != 0)?;
    Some(Mirror {
        session: request.session,
        direction,
        header_len: request.header.len() as u16,
        carried: Carried::default(),
        packet: with_front(&request.header, packet),
    })
}

/// A copy of `packet` with some bytes in front.
fn with_front(front: &[u8], packet: &Packet) -> Packet {
    let mut bytes = HeaderBytes::with_capacity(front.len() + packet.bytes.len());
    bytes.extend_from_slice(front);
    bytes.extend_from_slice(&packet.bytes);
    Packet { id: packet.id, flow: packet.flow, bytes, zeros: packet.zeros }
}

/// What the deparser wrote, with what the parser left of the packet behind it, in the packet's buffer.
/// What was parsed is the packet itself, or bytes that the chip has put together.
#[inline]
fn rewritten(
    mut packet: Packet,
    written: &mut PacketOut,
    front: Option<&[u8]>,
    parsed: &Parsed,
) -> Packet {
    let Some(front) = front else {
        return deparsed(packet, written.bytes(), parsed.consumed);
    };
    let consumed = parsed.consumed.div_ceil(8) as usize;
    let rest = front.get(consumed..).unwrap_or_default();
    packet.bytes.clear();
    packet.bytes.extend_from_slice(written.bytes());
    packet.bytes.extend_from_slice(rest);
    packet.zeros = packet.zeros.saturating_sub(consumed.saturating_sub(front.len()) as u32);
    packet
}

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

use super::admitted::Admitted;
use super::ethernet_alone::reads_ethernet_alone;
use super::gress::Gress;
use super::metadata::{Clock, IntrinsicField, Role, egress_front, ingress_front};
use super::metadata::{write_egress_front, write_ingress_front};
use super::pass::{ParserErrors, Pass};
use super::runtime::{RegisterState, Runtime};
use crate::control::fits;
use crate::dataplane::{
    Admission, DataPlane, EgressDecision, EgressFate, EgressInput, IngressDecision, IngressInput,
    Mirror, MirrorDirection,
};
use crate::deparsed::deparse;
use crate::digest::Digest;
use crate::externs::counter::Count;
use crate::faults::Faults;
use crate::phv::Carried;
use crate::snapshot::Snapshots;
use sojourn_p4::interp::{Frame, Halt, Interpreter, PacketOut, Tables};
use sojourn_p4::ir::UnitId;
use sojourn_p4::source::SourceMap;
use sojourn_packet::{HEADER_ROOM, HeaderBytes, Packet, Time};
use std::sync::Arc;

/// The frame check sequence, which the chip counts with the packet's length.
const FCS_BYTES: u64 = 4;

/// Numbers of ports have nine bits.
pub(super) const PORTS: usize = 512;

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
    admitted: Admitted,
    /// Which packets egress drops, and whose copies.
    egress_drop: IntrinsicField,
    parser_errors: ParserErrors,
    clock: Clock,
    /// Both passes look at Ethernet headers and at nothing behind them.
    reads_ethernet_alone: bool,
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
            tables: Tables::new(program.clone()),
            admitted: Admitted::new(&ingress),
            reads_ethernet_alone: reads_ethernet_alone(&elaborated, &ingress, &egress),
            egress_drop: egress.control.answer(Role::ForDeparser, "drop_ctl"),
            parser_errors: ParserErrors::new(&program.errors),
            elaborated,
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

    /// What a pass runs with, and what there is beside.
    #[inline(always)]
    fn parts(&mut self, now: Time) -> (Pass<'_>, Beside<'_>) {
        let pass = Pass {
            interpreter: &self.interpreter,
            tables: &self.tables,
            runtime: &mut self.runtime,
            written: &mut self.written,
            errors: &self.parser_errors,
            tstamp: self.clock.global(now),
        };
        let beside = Beside {
            ingress: &mut self.ingress,
            egress: &mut self.egress,
            admitted: &self.admitted,
            clock: &self.clock,
            front: &mut self.front,
        };
        (pass, beside)
    }

    /// An ingress pass up to what its deparser wrote: for how many bits of the packet that stands; none if
    /// the parser drops it.
    #[inline(always)]
    fn ingress_blocks(
        &mut self,
        input: &IngressInput,
        packet: &Packet,
        admission: &mut Admission,
    ) -> Result<Option<u64>, Halt> {
        self.runtime.begin(input.now, packet.len().0 + FCS_BYTES);
        let of_port = self.port_metadata.get(usize::from(input.port.0)).copied().unwrap_or(0);
        if !input.resubmitted {
            let (mut pass, Beside { ingress, admitted, clock, .. }) = self.parts(input.now);
            let words = ingress_front(input, clock, of_port);
            let words = |word: u8| words[usize::from(word & 1)];
            if let Some(consumed) = pass.run_at_once(ingress, words, packet)? {
                admitted.read(ingress.control_frame(), admission);
                pass.finish(ingress)?;
                return Ok(Some(consumed));
            }
        }
        self.ingress_behind(input, of_port, packet, admission)
    }

    /// The same with what the chip puts in front of the packet as bytes.
    #[inline(never)]
    fn ingress_behind(
        &mut self,
        input: &IngressInput,
        of_port: u64,
        packet: &Packet,
        admission: &mut Admission,
    ) -> Result<Option<u64>, Halt> {
        let (mut pass, Beside { ingress, admitted, clock, front, .. }) = self.parts(input.now);
        front.clear();
        write_ingress_front(input, clock, of_port, front);
        pass.run_behind(front, ingress, packet, |frame| admitted.read(frame, admission))
    }

    #[inline(always)]
    fn run_ingress(
        &mut self,
        input: &IngressInput,
        packet: &mut Packet,
        out: &mut IngressDecision,
    ) -> Result<(), Halt> {
        let Some(consumed) = self.ingress_blocks(input, packet, &mut out.admission)? else {
            out.parser_rejected = true;
            return Ok(());
        };
        if self.runtime.pass.asked {
            if let Some(data) = self.runtime.pass.resubmit.take() {
                (out.admission, out.resubmit) = (Admission::default(), true);
                *packet = with_front(&data, packet);
                return Ok(());
            }
            out.mirror = requested_copy(&mut self.runtime, MirrorDirection::Ingress, packet);
        }
        if !out.admission.is_nowhere() {
            deparse(packet, &mut self.written, consumed);
        }
        Ok(())
    }

    /// An egress pass, likewise, with the bits of `drop_ctl`.
    #[inline(always)]
    fn egress_blocks(
        &mut self,
        input: &EgressInput,
        packet: &Packet,
    ) -> Result<Option<(u64, u8)>, Halt> {
        self.runtime.begin(input.now, u64::from(input.length));
        let drop = self.egress_drop;
        let (mut pass, Beside { egress, clock, .. }) = self.parts(input.now);
        let words = |word: u8| egress_front(input, clock, word);
        let Some(consumed) = pass.run_at_once(egress, words, packet)? else {
            return self.egress_behind(input, packet);
        };
        let drop_ctl = drop.or_zero(egress.control_frame()) as u8;
        pass.finish(egress)?;
        Ok(Some((consumed, drop_ctl)))
    }

    /// The same with what the chip puts in front of the packet as bytes.
    #[inline(never)]
    fn egress_behind(
        &mut self,
        input: &EgressInput,
        packet: &Packet,
    ) -> Result<Option<(u64, u8)>, Halt> {
        let (drop, mut drop_ctl) = (self.egress_drop, 0);
        let (mut pass, Beside { egress, clock, front, .. }) = self.parts(input.now);
        front.clear();
        write_egress_front(input, clock, front);
        let answers = |frame: &Frame| drop_ctl = drop.or_zero(frame) as u8;
        let ran = pass.run_behind(front, egress, packet, answers)?;
        Ok(ran.map(|consumed| (consumed, drop_ctl)))
    }

    #[inline(always)]
    fn run_egress(
        &mut self,
        input: &EgressInput,
        packet: &mut Packet,
        out: &mut EgressDecision,
    ) -> Result<(), Halt> {
        let Some((consumed, drop_ctl)) = self.egress_blocks(input, packet)? else {
            out.parser_rejected = true;
            return Ok(());
        };
        let sent = drop_ctl & 1 == 0;
        let copied = drop_ctl & 4 == 0 && self.runtime.pass.asked;
        if !sent && !copied {
            return Ok(());
        }
        deparse(packet, &mut self.written, consumed);
        if copied {
            out.mirror = requested_copy(&mut self.runtime, MirrorDirection::Egress, packet);
        }
        if sent {
            out.fate = EgressFate::Sent;
        }
        Ok(())
    }
}

/// What is beside that with which a pass runs.
struct Beside<'a> {
    ingress: &'a mut Gress,
    egress: &'a mut Gress,
    admitted: &'a Admitted,
    clock: &'a Clock,
    front: &'a mut Vec<u8>,
}

impl DataPlane for Tofino {
    /// What a packet of Tofino brings from another pass is in front of its bytes.
    fn ingress_pass(
        &mut self,
        input: &IngressInput,
        packet: &mut Packet,
        _: &mut Carried,
    ) -> IngressDecision {
        let mut out = IngressDecision::default();
        let followed = self.follow(false);
        if let Err(halt) = self.run_ingress(input, packet, &mut out) {
            self.runtime.faults.halted(&halt);
            out = IngressDecision::default();
        }
        if let Some(followed) = followed {
            self.followed(false, followed);
        }
        out
    }

    fn egress_pass(
        &mut self,
        input: &EgressInput,
        packet: &mut Packet,
        _: &mut Carried,
    ) -> EgressDecision {
        let mut out = EgressDecision::default();
        let followed = self.follow(true);
        if let Err(halt) = self.run_egress(input, packet, &mut out) {
            self.runtime.faults.halted(&halt);
            out = EgressDecision::default();
        }
        if let Some(followed) = followed {
            self.followed(true, followed);
        }
        out
    }

    fn reads_ethernet_alone(&self) -> bool {
        self.reads_ethernet_alone
    }
}

/// The copy that the deparser was asked for, of a packet as it is now.
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
        carried: Carried::default(),
        packet: with_front(&request.header, packet),
    }))
}

/// A copy of `packet` with some bytes in front.
fn with_front(front: &[u8], packet: &Packet) -> Packet {
    let mut bytes = HeaderBytes::with_capacity(HEADER_ROOM.max(front.len() + packet.bytes.len()));
    bytes.extend_from_slice(front);
    bytes.extend_from_slice(&packet.bytes);
    Packet { id: packet.id, flow: packet.flow, bytes, zeros: packet.zeros }
}

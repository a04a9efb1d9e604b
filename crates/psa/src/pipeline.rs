//! A loaded program as a data plane: the two passes of a packet, and the actions after each.
//!
//! ```text
//! ingress   packet -> parser -> control -> deparser
//!                  -> [clone of the packet as received]
//!                     then one of: drop, resubmit as received, multicast, unicast
//! egress    packet -> parser -> control -> deparser
//!                  -> [clone of the packet as deparsed] then one of: drop, recirculate, send
//! ```
//!
//! The order of precedence is that of the PSA specification ("Behavior of packets after ingress /
//! egress processing is complete") and of `psa_switch`. A parser's error does not drop the packet:
//! the control reads it in `parser_error`. Between the passes a packet is its bytes, with the
//! metadata that the deparser wrote for the next parser.

use super::blocks::{Block, Saved, control, egress_deparser, ingress_deparser, parser};
use super::metadata::{Input, Output, PacketPath, RECIRCULATE, micros, program_port, switch_port};
use super::runtime::Runtime;
use super::target::QUEUES;
use sojourn_control::digest::Digest;
use sojourn_control::fits;
use sojourn_externs::counter::Count;
use sojourn_externs::register::RegisterArray;
use sojourn_p4::interp::{Halt, Interpreter, PacketIn, PacketOut, Parsed, Tables};
use sojourn_packet::dataplane::{
    Admission, DataPlane, EgressDecision, EgressFate, EgressInput, IngressDecision, IngressInput,
    Mirror, MirrorDirection, MirrorOverrides, Replication,
};
use sojourn_packet::{Packet, PacketMetadata};
use sojourn_target::deparser_output::deparse;
use sojourn_target::faults::Faults;

/// The blocks of a pass, and the fields of its metadata.
#[derive(Debug)]
pub(crate) struct Pass {
    pub parser: Block,
    pub control: Block,
    pub deparser: Block,
    /// Fields that the parser and the control read.
    pub parser_input: Input,
    pub input: Input,
    /// Fields of the control's output.
    pub output: Output,
}

/// Metadata that a packet carries from one pass to the next.
#[derive(Clone, Debug)]
struct Carried {
    path: PacketPath,
    value: Saved,
}

impl Carried {
    fn metadata(path: PacketPath, deparser: &Block, parameter: usize) -> PacketMetadata {
        PacketMetadata::from(Box::new(Carried { path, value: deparser.saved(parameter) }))
    }
}

/// A PSA program, loaded: a [`DataPlane`] with its tables, registers and counters.
#[derive(Debug)]
pub struct Psa {
    pub(super) interpreter: Interpreter,
    pub(super) tables: Tables,
    pub(super) runtime: Runtime,
    ingress: Pass,
    egress: Pass,
    /// `psa_egress_deparser_input_metadata_t`
    deparser_input: Input,
    /// Output of the deparser.
    written: PacketOut,
}

impl Psa {
    pub(super) fn new(
        interpreter: Interpreter,
        runtime: Runtime,
        passes: [Pass; 2],
        deparser_input: Input,
    ) -> Psa {
        let tables = Tables::new(interpreter.program().clone());
        let [ingress, egress] = passes;
        let written = PacketOut::new();
        Psa { interpreter, tables, runtime, ingress, egress, deparser_input, written }
    }

    /// The register with this name or suffix.
    pub fn register_mut(&mut self, name: &str) -> Option<&mut RegisterArray> {
        self.runtime.registers.iter_mut().find(|register| fits(register.name(), name))
    }

    /// A cell of the counter with this name or suffix; for a direct counter the cell of the entry
    /// with this handle.
    pub fn counter(&self, name: &str, index: usize) -> Option<Count> {
        self.runtime.counters.iter().find(|(known, _)| fits(known, name))?.1.get(index)
    }

    /// Digests since the last call; the oldest are lost if there were too many.
    pub fn take_digests(&mut self) -> Vec<Digest> {
        self.runtime.digests.take()
    }

    /// Requests that the switch cannot fulfil, including failed assertions.
    pub fn faults(&self) -> &Faults {
        &self.runtime.faults
    }

    fn run_ingress(
        &mut self,
        input: &IngressInput,
        packet: &mut Packet,
        packet_metadata: &mut PacketMetadata,
        out: &mut IngressDecision,
    ) -> Result<(), Halt> {
        self.runtime.begin(input.now, packet.len().0);
        let carried = std::mem::take(packet_metadata).take::<Carried>();
        let path = carried.as_ref().map_or(PacketPath::Normal, |carried| carried.path);
        let port = program_port(input.port);
        let pass = &mut self.ingress;
        pass.parser.reset();
        match carried.filter(|_| path == PacketPath::Resubmit || path == PacketPath::Recirculate) {
            Some(carried) if path == PacketPath::Resubmit => {
                pass.parser.restore(parser::RESUBMIT, &carried.value);
            }
            Some(carried) => pass.parser.restore(parser::RECIRCULATE, &carried.value),
            None => {}
        }
        let time = micros(input.now);
        let parsed = self.parse_and_control(true, (port, path, time), None, packet)?;
        out.parser_rejected = !parsed.accepted;
        let Pass { output, control, .. } = &self.ingress;
        let frame = &control.frame;
        let (dropped, clones) = (output.drop.is_set(frame), output.clone.is_set(frame));
        if dropped && !clones {
            return Ok(());
        }
        self.run_deparser(true)?;
        let Pass { output, control, deparser, .. } = &self.ingress;
        let frame = &control.frame;
        if clones {
            let carried =
                Carried::metadata(PacketPath::CloneI2E, deparser, ingress_deparser::CLONE_I2E);
            let session = output.clone_session_id.get(frame) as u16;
            out.mirror = Some(mirror(session, MirrorDirection::Ingress, packet, carried));
        }
        if dropped {
            return Ok(());
        }
        if output.resubmit.is_set(frame) {
            let parameter = ingress_deparser::RESUBMIT;
            *packet_metadata = Carried::metadata(PacketPath::Resubmit, deparser, parameter);
            out.resubmit = true;
            return Ok(());
        }
        let (admission, path) = destinations(output, control);
        (out.admission, *packet_metadata) =
            (admission, Carried::metadata(path, deparser, ingress_deparser::NORMAL));
        self.written.align();
        deparse(packet, &mut self.written, parsed.consumed);
        Ok(())
    }

    fn run_egress(
        &mut self,
        input: &EgressInput,
        packet: &mut Packet,
        packet_metadata: &mut PacketMetadata,
        out: &mut EgressDecision,
    ) -> Result<(), Halt> {
        self.runtime.begin(input.now, packet.len().0);
        let carried = std::mem::take(packet_metadata).take::<Carried>();
        let path = carried.as_ref().map_or(PacketPath::NormalUnicast, |carried| carried.path);
        let port = program_port(input.port);
        let pass = &mut self.egress;
        pass.parser.reset();
        if let Some(carried) = carried {
            let parameter = match path {
                PacketPath::CloneI2E => parser::CLONE_I2E,
                PacketPath::CloneE2E => parser::CLONE_E2E,
                _ => parser::NORMAL,
            };
            pass.parser.restore(parameter, &carried.value);
        }
        let time = micros(input.now);
        let parsed = self.parse_and_control(false, (port, path, time), Some(input), packet)?;
        out.parser_rejected = !parsed.accepted;
        let Pass { output, control, .. } = &self.egress;
        let frame = &control.frame;
        let (dropped, clones) = (output.drop.is_set(frame), output.clone.is_set(frame));
        if dropped && !clones {
            return Ok(());
        }
        let session = output.clone_session_id.get(frame) as u16;
        self.run_deparser(false)?;
        self.written.align();
        deparse(packet, &mut self.written, parsed.consumed);
        let deparser = &self.egress.deparser;
        if clones {
            let parameter = egress_deparser::CLONE_E2E;
            let carried = Carried::metadata(PacketPath::CloneE2E, deparser, parameter);
            out.mirror = Some(mirror(session, MirrorDirection::Egress, packet, carried));
        }
        if dropped {
            return Ok(());
        }
        out.fate = EgressFate::Sent;
        if input.port == RECIRCULATE {
            let parameter = egress_deparser::RECIRCULATE;
            *packet_metadata = Carried::metadata(PacketPath::Recirculate, deparser, parameter);
            out.fate = EgressFate::Recirculated;
        }
        Ok(())
    }

    /// Runs parser and control of a pass, whose parser has its carried metadata. `queued` is present
    /// in egress.
    fn parse_and_control(
        &mut self,
        is_ingress: bool,
        (port, path, time): (u128, PacketPath, u128),
        queued: Option<&EgressInput>,
        packet: &Packet,
    ) -> Result<Parsed, Halt> {
        let pass = if is_ingress { &mut self.ingress } else { &mut self.egress };
        let Pass { parser: block, control, parser_input, input, output, .. } = pass;
        parser_input.port.set(&mut block.frame, port);
        parser_input.packet_path.set(&mut block.frame, path as u128);
        let (tables, runtime) = (&self.tables, &mut self.runtime);
        runtime.begin_block();
        let front = PacketIn::new(&packet.bytes, packet.zeros);
        let frame = &mut block.frame;
        let parsed = self.interpreter.run_parser(block.unit, frame, front, tables, runtime)?;
        control.reset();
        control.take(control::HEADERS, block, parser::HEADERS);
        control.take(control::USER, block, parser::USER);
        let frame = &mut control.frame;
        input.port.set(frame, port);
        input.packet_path.set(frame, path as u128);
        input.timestamp.set(frame, time);
        input.parser_error.set(frame, parsed.error.into());
        match queued {
            Some(queued) => {
                input.class_of_service.set(frame, queued.cos.into());
                input.instance.set(frame, queued.rid.into());
            }
            None => output.drop.set(frame, 1),
        }
        runtime.begin_block();
        self.interpreter.run_control(control.unit, frame, None, tables, runtime)?;
        Ok(parsed)
    }

    /// Runs the deparser of a pass; `written` has its output.
    fn run_deparser(&mut self, is_ingress: bool) -> Result<(), Halt> {
        let pass = if is_ingress { &mut self.ingress } else { &mut self.egress };
        let Pass { parser: first, control, deparser, parser_input, .. } = pass;
        deparser.reset();
        let (headers, user, output) = match is_ingress {
            true => (ingress_deparser::HEADERS, ingress_deparser::USER, ingress_deparser::OUTPUT),
            false => (egress_deparser::HEADERS, egress_deparser::USER, egress_deparser::OUTPUT),
        };
        deparser.take(headers, control, control::HEADERS);
        deparser.take(user, control, control::USER);
        deparser.take(output, control, control::OUTPUT);
        if !is_ingress {
            let port = parser_input.port.get(&first.frame);
            self.deparser_input.port.set(&mut deparser.frame, port);
        }
        self.runtime.begin_block();
        self.written.clear();
        let (tables, runtime) = (&self.tables, &mut self.runtime);
        let (out, frame) = (Some(&mut self.written), &mut deparser.frame);
        self.interpreter.run_control(deparser.unit, frame, out, tables, runtime)
    }
}

/// Destinations of a packet that ingress neither drops nor resubmits. A group that no switch can have
/// has no copies.
fn destinations(output: &Output, control: &Block) -> (Admission, PacketPath) {
    let frame = &control.frame;
    let cos = output.class_of_service.get(frame) as u8;
    let admission = Admission { cos, queue: cos.min(QUEUES - 1), ..Admission::default() };
    let group = output.multicast_group.get(frame);
    if group != 0 {
        let replication = u16::try_from(group)
            .ok()
            .map(|group| Replication { groups: [Some(group), None], ..Replication::default() });
        return (Admission { replication, ..admission }, PacketPath::NormalMulticast);
    }
    let unicast = Some(switch_port(output.egress_port.get(frame)));
    (Admission { unicast, ..admission }, PacketPath::NormalUnicast)
}

fn mirror(
    session: u16,
    direction: MirrorDirection,
    packet: &Packet,
    packet_metadata: PacketMetadata,
) -> Box<Mirror> {
    Box::new(Mirror {
        session,
        direction,
        packet: packet.clone(),
        header_len: 0,
        packet_metadata,
        overrides: MirrorOverrides::default(),
    })
}

impl DataPlane for Psa {
    fn ingress_pass(
        &mut self,
        input: &IngressInput,
        packet: &mut Packet,
        packet_metadata: &mut PacketMetadata,
    ) -> IngressDecision {
        let mut out = IngressDecision::default();
        if let Err(halt) = self.run_ingress(input, packet, packet_metadata, &mut out) {
            self.runtime.faults.halted(&halt);
            out = IngressDecision::default();
        }
        out
    }

    fn egress_pass(
        &mut self,
        input: &EgressInput,
        packet: &mut Packet,
        packet_metadata: &mut PacketMetadata,
    ) -> EgressDecision {
        let mut out = EgressDecision::default();
        if let Err(halt) = self.run_egress(input, packet, packet_metadata, &mut out) {
            self.runtime.faults.halted(&halt);
            out = EgressDecision::default();
        }
        out
    }
}

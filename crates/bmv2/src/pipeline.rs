//! A loaded program as a data plane: the two passes of a packet, and the actions after each.
//!
//! ```text
//! ingress   packet -> parser -> verify checksums -> ingress control
//!                  -> [clone] [digest] then one of: resubmit, multicast, drop, unicast
//! egress    headers and metadata of the packet -> egress control
//!                  -> [clone] then one of: drop; update checksums -> deparser -> recirculate, send
//! ```
//!
//! The order of precedence is that of `simple_switch` (its documentation, "Pseudocode for what
//! happens at the end of ingress and egress processing"). A parser's error does not drop the
//! packet: ingress reads it in `parser_error` and continues with the extracted headers.

use super::blocks::Blocks;
use super::field_list::{FieldList, reset_metadata};
use super::fused_pass::{FusedChain, FusedPasses};
use super::runtime::{CloneRequest, Runtime};
use super::standard_metadata::{DROP_PORT, InstanceType};
use sojourn_control::digest::Digest;
use sojourn_control::fits;
use sojourn_externs::counter::Count;
use sojourn_externs::meter::Meter;
use sojourn_externs::register::RegisterArray;
use sojourn_p4::interp::{Halt, Interpreter, PacketIn, PacketOut, Parsed, Tables};
use sojourn_packet::dataplane::{
    DataPlane, EgressDecision, EgressFate, EgressInput, IngressDecision, IngressInput, Mirror,
    MirrorDirection, MirrorOverrides, PortId, Replication,
};
use sojourn_packet::{Bytes, Packet};
use sojourn_target::deparser_output::deparse;
use sojourn_target::faults::Faults;
use sojourn_target::log::ProgramLog;
use sojourn_target::phv::{PacketMetadata, Phv};

/// A v1model program, loaded: a [`DataPlane`] with its tables, registers and counters.
#[derive(Debug)]
pub struct V1Model {
    pub(super) interpreter: Interpreter,
    pub(super) tables: Tables,
    pub(super) runtime: Runtime,
    blocks: Blocks,
    joined: FusedPasses,
    /// Output of the deparser.
    written: PacketOut,
    /// Vectors of earlier packets, for reuse. They are boxed, as packets carry them through the
    /// traffic manager.
    #[expect(clippy::vec_box, reason = "taken out and put back whole, box and all")]
    spare: Vec<Box<Phv>>,
}

impl V1Model {
    pub(super) fn new(
        interpreter: Interpreter,
        mut runtime: Runtime,
        mut blocks: Blocks,
        joined: FusedPasses,
    ) -> V1Model {
        let chains = joined.ingress.iter().chain(&joined.egress);
        blocks.frames.make_room(chains.map(|joint| joint.chain.slots).max().unwrap_or(0));
        if joined.ingress.is_some() {
            runtime.wrong_at = blocks.ingress.standard.checksum_error.slot();
        }
        let tables = Tables::new(interpreter.program().clone());
        let (written, spare) = (PacketOut::new(), Vec::new());
        V1Model { interpreter, tables, runtime, blocks, joined, written, spare }
    }

    /// The program's registers.
    pub fn registers(&self) -> impl Iterator<Item = &RegisterArray> {
        self.runtime.registers.iter()
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

    /// The meter with this name or suffix; a direct meter's cells are its table's entries.
    pub fn meter_mut(&mut self, name: &str) -> Option<&mut Meter> {
        let meters = &mut self.runtime.meters;
        meters.iter_mut().find(|(known, _)| fits(known, name)).map(|(_, meter)| meter)
    }

    /// Digests since the last call; the oldest are lost if there were too many.
    pub fn take_digests(&mut self) -> Vec<Digest> {
        self.runtime.digests.take()
    }

    /// Requests that the switch cannot fulfil, including failed assertions.
    pub fn faults(&self) -> &Faults {
        &self.runtime.faults
    }

    /// Runs parser, checksum verification and ingress control as one chain, if there is one.
    /// Returns the parser's result; the rest has not run if the parser rejected.
    #[inline]
    fn run_ingress_chain(
        &mut self,
        input: &IngressInput,
        packet: &Packet,
    ) -> Option<Result<Parsed, Halt>> {
        let FusedChain { chain, inputs } = self.joined.ingress.as_ref()?;
        let length = packet.len().0;
        self.runtime.begin(input.now, length);
        let Blocks { ingress, frames, .. } = &mut self.blocks;
        let frame = frames.frame(ingress);
        inputs.set_ingress_inputs(input, length, frame);
        let ends = (Some(PacketIn::new(&packet.bytes, packet.zeros)), None);
        Some(self.interpreter.run_chain(chain, frame, ends, &self.tables, &mut self.runtime))
    }

    /// Runs the parser.
    fn parse(&mut self, packet: &Packet) -> Result<Parsed, Halt> {
        let Blocks { parser, frames, .. } = &mut self.blocks;
        let (tables, runtime) = (&self.tables, &mut self.runtime);
        let front = PacketIn::new(&packet.bytes, packet.zeros);
        let frame = frames.frame(parser);
        self.interpreter.run_parser(parser.unit, frame, front, tables, runtime)
    }

    /// Runs checksum verification and ingress control after the parser. Returns the parser's
    /// result, and the packet's length with its new headers.
    fn behind_parser(&mut self, packet: &Packet, parsed: Parsed) -> Result<(Parsed, u32), Halt> {
        let Blocks { parser, verify, ingress, frames, .. } = &mut self.blocks;
        let (tables, runtime) = (&self.tables, &mut self.runtime);
        let frame = frames.frame(parser);
        parser.standard.parser_error.set(frame, parsed.error.into());
        if !verify.idle {
            runtime.keep_payload(packet, parsed.consumed);
            frames.hand_over(parser, verify);
            let frame = frames.frame(verify);
            self.interpreter.run_control(verify.unit, frame, None, tables, runtime)?;
            frames.give_back(verify, parser);
            let failed = u64::from(runtime.pass.checksum_error);
            parser.standard.checksum_error.set(frames.frame(parser), failed);
        }
        frames.hand_over(parser, ingress);
        let frame = frames.frame(ingress);
        let before = if ingress.resizes { ingress.header_bytes(frame) } else { 0 };
        self.interpreter.run_control(ingress.unit, frame, None, tables, runtime)?;
        let after = if ingress.resizes { ingress.header_bytes(frame) } else { 0 };
        Ok((parsed, (packet.len().0 as u32 + after).saturating_sub(before)))
    }

    /// Initialises the parser's frame: with the data of another pass, or for a new packet.
    fn begin_ingress(
        &mut self,
        input: &IngressInput,
        packet: &Packet,
        packet_metadata: &mut PacketMetadata,
    ) {
        let length = packet.len().0;
        self.runtime.begin(input.now, length);
        let Blocks { parser, frames, .. } = &mut self.blocks;
        frames.reset(parser);
        let standard = &parser.standard;
        match std::mem::take(packet_metadata).take::<Phv>() {
            Some(mut phv) => {
                frames.restore(parser, &mut phv);
                frames.clear_own(parser);
                self.spare.push(phv);
            }
            None => standard.set_ingress_inputs(input, length, frames.frame(parser)),
        }
        standard.packet_length.set(frames.frame(parser), length);
    }

    fn run_ingress(
        &mut self,
        input: &IngressInput,
        packet: &Packet,
        packet_metadata: &mut PacketMetadata,
        out: &mut IngressDecision,
    ) -> Result<(), Halt> {
        // A chain cannot start with the metadata of another pass.
        let as_one = packet_metadata.is_empty() && self.runtime.trace.is_none();
        let ran = if as_one { self.run_ingress_chain(input, packet) } else { None };
        let arrived = packet.len().0 as u32;
        let (parsed, length) = match ran {
            Some(Ok(parsed)) if parsed.accepted => (parsed, arrived),
            Some(ran) => self.behind_parser(packet, ran?)?,
            None => {
                self.begin_ingress(input, packet, packet_metadata);
                let parsed = self.parse(packet)?;
                self.behind_parser(packet, parsed)?
            }
        };
        out.parser_rejected = !parsed.accepted;
        let mut phv = self.new_phv();
        phv.consumed = parsed.consumed;
        phv.ingress_length = arrived;
        phv.length = length;
        phv.truncated = self.runtime.pass.truncate;
        *packet_metadata = self.after_ingress(input, packet, phv, out)?;
        Ok(())
    }

    /// Completes a packet after the ingress control. Returns its metadata for the next pass.
    fn after_ingress(
        &mut self,
        input: &IngressInput,
        packet: &Packet,
        mut phv: Box<Phv>,
        out: &mut IngressDecision,
    ) -> Result<PacketMetadata, Halt> {
        let Blocks { ingress, frames, .. } = &mut self.blocks;
        let (standard, frame) = (&ingress.standard, frames.frame(ingress));
        let group = standard.mcast_grp.get(frame) as u16;
        let spec = standard.egress_spec.get(frame);
        let queue = standard.priority.get(frame) as u8;
        frames.take_along(ingress, &mut phv);
        if let Some(request) = self.runtime.pass.clone.take() {
            out.mirror = Some(self.clone_of_ingress(request, input, packet, &phv)?);
        }
        self.runtime.send_digest();
        if let Some(list) = self.runtime.pass.resubmit.take() {
            let preserved = self.preserved(&phv, list, InstanceType::Resubmitted);
            self.spare.push(phv);
            out.resubmit = true;
            return Ok(PacketMetadata::from(preserved));
        }
        if group == 0 && spec == DROP_PORT {
            self.spare.push(phv);
            return Ok(PacketMetadata::default());
        }
        let instance = if group == 0 { InstanceType::Normal } else { InstanceType::Replication };
        out.admission.queue = queue;
        if group == 0 {
            out.admission.unicast = Some(PortId(spec as u16));
            phv.recirculate = self.runtime.pass.recirculate;
        } else {
            out.admission.replication =
                Some(Replication { groups: [Some(group), None], ..Replication::default() });
        }
        self.set_instance(&mut phv, instance);
        Ok(PacketMetadata::from(phv))
    }

    /// Clone of a packet at the end of ingress: the packet as received, parsed again.
    fn clone_of_ingress(
        &mut self,
        request: CloneRequest,
        input: &IngressInput,
        packet: &Packet,
        original: &Phv,
    ) -> Result<Box<Mirror>, Halt> {
        let Blocks { parser, frames, .. } = &mut self.blocks;
        frames.reset(parser);
        let frame = frames.frame(parser);
        // The parser reads the port only, and its values of the standard metadata are discarded.
        parser.standard.ingress_port.set(frame, input.port.0.into());
        let front = PacketIn::new(&packet.bytes, packet.zeros);
        let (tables, runtime) = (&self.tables, &mut self.runtime);
        let parsed = self.interpreter.run_parser(parser.unit, frame, front, tables, runtime)?;
        let mut preserved = self.new_phv();
        let Blocks { parser, frames, .. } = &mut self.blocks;
        frames.take_along(parser, &mut preserved);
        self.keep_fields(original, &mut preserved, request.fields, InstanceType::IngressClone);
        preserved.consumed = parsed.consumed;
        preserved.length = original.ingress_length;
        preserved.ingress_length = original.ingress_length;
        Ok(Box::new(Mirror {
            session: request.session,
            direction: MirrorDirection::Ingress,
            packet: packet.clone(),
            header_len: 0,
            packet_metadata: PacketMetadata::from(preserved),
            overrides: MirrorOverrides::default(),
        }))
    }

    fn new_phv(&mut self) -> Box<Phv> {
        let mut phv = self.spare.pop().unwrap_or_default();
        (phv.truncated, phv.recirculate) = (None, None);
        phv
    }

    /// A vector with the headers of `phv` and zero metadata, except for a field list.
    fn preserved(&mut self, phv: &Phv, list: u32, instance: InstanceType) -> Box<Phv> {
        let mut preserved = self.new_phv();
        let Phv { narrow, wide, .. } = &mut *preserved;
        narrow.clone_from(&phv.narrow);
        wide.clone_from(&phv.wide);
        (preserved.consumed, preserved.length) = (phv.consumed, phv.length);
        preserved.ingress_length = phv.ingress_length;
        self.keep_fields(phv, &mut preserved, list, instance);
        preserved
    }

    /// Clears the metadata of `preserved`, except for a field list of `original`.
    fn keep_fields(&self, original: &Phv, preserved: &mut Phv, list: u32, instance: InstanceType) {
        reset_metadata(preserved, &self.blocks.ingress);
        let list: Option<&FieldList> = self.runtime.field_lists.get(list as usize);
        if let Some(list) = list {
            list.copy(original, preserved);
        }
        self.set_instance(preserved, instance);
    }

    fn set_instance(&self, phv: &mut Phv, instance: InstanceType) {
        if let Some(place) = self.runtime.instance_at.and_then(|at| phv.narrow.get_mut(at as usize))
        {
            *place = instance as u128;
        }
    }

    /// Moves a packet's headers and metadata to the egress control's frame.
    fn begin_egress(&mut self, input: &EgressInput, phv: &mut Phv) {
        self.runtime.begin(input.now, u64::from(phv.ingress_length));
        self.runtime.pass.truncate = phv.truncated;
        self.runtime.pass.recirculate = phv.recirculate;
        let Blocks { egress, frames, .. } = &mut self.blocks;
        frames.restore(egress, phv);
        let joint = self.joined.egress.as_ref().filter(|_| self.runtime.trace.is_none());
        let inputs = joint.map_or(&egress.standard, |joint| &joint.inputs);
        inputs.set_egress_inputs(input, phv.length, frames.frame(egress));
    }

    fn run_egress(
        &mut self,
        input: &EgressInput,
        packet: &mut Packet,
        packet_metadata: &mut PacketMetadata,
        out: &mut EgressDecision,
    ) -> Result<(), Halt> {
        // A packet without metadata has no headers that egress could know.
        let Some(mut phv) = std::mem::take(packet_metadata).take::<Phv>() else { return Ok(()) };
        self.begin_egress(input, &mut phv);
        let ran = if self.runtime.trace.is_none() { self.run_egress_chain() } else { None };
        let written = match ran {
            Some(written) => written?,
            None => {
                self.run_egress_control(&mut phv)?;
                false
            }
        };
        let Blocks { egress, frames, .. } = &mut self.blocks;
        let sent = egress.standard.egress_spec.get(frames.frame(egress)) != DROP_PORT;
        if let Some(request) = self.runtime.pass.clone.take() {
            self.clone_of_egress(request, packet, &mut phv, out);
        }
        if sent {
            out.fate = EgressFate::Sent;
            if let Some(preserved) = self.after_egress(packet, &mut phv, written)? {
                (out.fate, *packet_metadata) =
                    (EgressFate::Recirculated, PacketMetadata::from(preserved));
            }
        }
        self.spare.push(phv);
        Ok(())
    }

    /// Runs egress control, checksum update and deparser as one chain, if there is one. False if
    /// the program requested an operation in front of the checksum update, or dropped the packet;
    /// the update and the deparser have not run then.
    #[inline]
    fn run_egress_chain(&mut self) -> Option<Result<bool, Halt>> {
        let FusedChain { chain, .. } = self.joined.egress.as_ref()?;
        let Blocks { egress, frames, .. } = &mut self.blocks;
        let frame = frames.frame(egress);
        let pass = &mut self.runtime.pass;
        pass.requested = Some(chain.input);
        frame.set(chain.input, pass.recirculate.is_some().into());
        self.written.clear();
        let ends = (None, Some(&mut self.written));
        let ran = self.interpreter.run_chain(chain, frame, ends, &self.tables, &mut self.runtime);
        Some(ran.map(|_| frame.get(chain.input) == 0))
    }

    /// Runs the egress control alone.
    fn run_egress_control(&mut self, phv: &mut Phv) -> Result<(), Halt> {
        let Blocks { egress, frames, .. } = &mut self.blocks;
        frames.clear_own(egress);
        let frame = frames.frame(egress);
        let before = if egress.resizes { egress.header_bytes(frame) } else { 0 };
        let (tables, runtime) = (&self.tables, &mut self.runtime);
        self.interpreter.run_control(egress.unit, frame, None, tables, runtime)?;
        let after = if egress.resizes { egress.header_bytes(frame) } else { 0 };
        phv.length = (phv.length + after).saturating_sub(before);
        Ok(())
    }

    /// Clone of a packet at the end of egress, with the results of the pass.
    fn clone_of_egress(
        &mut self,
        request: CloneRequest,
        packet: &Packet,
        phv: &mut Phv,
        out: &mut EgressDecision,
    ) {
        let Blocks { egress, frames, .. } = &self.blocks;
        frames.save(egress, phv);
        let mut preserved = self.preserved(phv, request.fields, InstanceType::EgressClone);
        // It is not parsed again: all headers are the results of the pass.
        self.runtime.headers_within.copy(phv, &mut preserved);
        out.mirror = Some(Box::new(Mirror {
            session: request.session,
            direction: MirrorDirection::Egress,
            packet: packet.clone(),
            header_len: 0,
            packet_metadata: PacketMetadata::from(preserved),
            overrides: MirrorOverrides::default(),
        }));
    }

    /// Completes a packet that egress has not dropped; `written` is true if it is already deparsed.
    /// Returns its metadata for ingress, if it goes there.
    fn after_egress(
        &mut self,
        packet: &mut Packet,
        phv: &mut Phv,
        written: bool,
    ) -> Result<Option<Box<Phv>>, Halt> {
        let recirculate = self.runtime.pass.recirculate;
        if recirculate.is_some() {
            let Blocks { egress, frames, .. } = &self.blocks;
            frames.save(egress, phv);
        }
        if !written {
            self.deparse(packet, phv.consumed)?;
        }
        self.written.align();
        deparse(packet, &mut self.written, phv.consumed);
        if let Some(length) = self.runtime.pass.truncate {
            packet.truncate(Bytes(length.into()));
        }
        Ok(recirculate.map(|list| self.preserved(phv, list, InstanceType::Recirculated)))
    }

    /// Updates checksums and writes the headers.
    fn deparse(&mut self, packet: &Packet, consumed: u64) -> Result<(), Halt> {
        let Blocks { egress, compute, deparser, frames, .. } = &mut self.blocks;
        let (tables, runtime) = (&self.tables, &mut self.runtime);
        if !compute.idle {
            runtime.keep_payload(packet, consumed);
            frames.hand_over(egress, compute);
            let frame = frames.frame(compute);
            self.interpreter.run_control(compute.unit, frame, None, tables, runtime)?;
            frames.give_back(compute, egress);
        }
        frames.hand_over(egress, deparser);
        self.written.clear();
        let (out, frame) = (Some(&mut self.written), frames.frame(deparser));
        self.interpreter.run_control(deparser.unit, frame, out, tables, runtime)
    }
}

impl DataPlane for V1Model {
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

    fn take_log(&mut self) -> ProgramLog {
        self.runtime.log.take()
    }
}

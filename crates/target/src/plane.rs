//! A loaded program of any architecture, with its target.

use crate::faults::FaultReport;
use crate::log::ProgramLog;
use crate::observer::{Observer, Pass, PassInput, PassResult, SharedTrace, TraceRequest, hex};
use crate::phv::PacketMetadata;
use crate::target::{LoadedProgram, Target};
use sojourn_control::runtime_control::RuntimeControl;
use sojourn_control::{ControlError, ControlPlane};
use sojourn_p4::source::SourceMap;
use sojourn_packet::dataplane::{
    DataPlane, DepthReport, EgressDecision, EgressFate, EgressInput, IngressDecision, IngressInput,
    Mirror,
};
use sojourn_packet::{Overlapping, Packet, Time};
use std::any::Any;
use std::sync::Arc;

/// A loaded program.
#[derive(Debug)]
pub struct Plane {
    target: &'static dyn Target,
    loaded: Box<dyn LoadedProgram>,
    /// Programs in the chip's further pipes, each with tables and registers of its own, and their
    /// texts.
    further: Vec<(Box<dyn LoadedProgram>, Arc<SourceMap>)>,
    /// Index of each pipe's pipeline, counted across all programs.
    pipelines: Vec<usize>,
    /// Ports of a pipe.
    pipe_ports: u16,
    /// Text of the program, for the positions of faults.
    sources: Arc<SourceMap>,
    /// Observer, if observations are requested.
    observer: Option<Box<Observer>>,
}

impl Plane {
    /// Wraps a loaded program with its target and source text.
    pub fn new(
        target: &'static dyn Target,
        mut loaded: Box<dyn LoadedProgram>,
        sources: Arc<SourceMap>,
        pipeline: usize,
    ) -> Plane {
        loaded.keep_text(&sources);
        let (pipe_ports, pipelines) = (target.switch().pipe_ports, vec![pipeline]);
        Plane {
            target,
            loaded,
            further: Vec::new(),
            pipelines,
            pipe_ports,
            sources,
            observer: None,
        }
    }

    /// Adds a pipe that runs the program of another plane for the same target; its ports follow
    /// those of the existing pipes. `before` is the number of pipelines of earlier programs.
    /// Packets are traced, and registers observed, in the first pipe only.
    pub fn add_pipe(&mut self, plane: Plane, before: usize) {
        self.further.push((plane.loaded, plane.sources));
        self.pipelines.extend(plane.pipelines.into_iter().map(|own| before + own));
    }

    /// The pipes that run one of the pipelines: a bit for each.
    pub fn running(&self, pipeline: usize) -> u32 {
        let all = self.pipelines.iter().enumerate();
        all.filter(|(_, of)| **of == pipeline).map(|(pipe, _)| 1 << pipe).sum()
    }

    /// Number of pipes.
    pub fn pipes(&self) -> usize {
        1 + self.further.len()
    }

    /// Control-plane access to one pipe.
    pub fn control_of(&mut self, pipe: usize) -> Option<&mut dyn RuntimeControl> {
        match pipe {
            0 => Some(&mut *self.loaded),
            _ => self.further.get_mut(pipe - 1).map(|(loaded, _)| &mut **loaded as _),
        }
    }

    /// The program of another pipe than the first, if the port is in one.
    fn elsewhere(&mut self, port: u16) -> Option<&mut Box<dyn LoadedProgram>> {
        let pipe = usize::from(port / self.pipe_ports);
        let place = pipe.checked_sub(1)?;
        self.further.get_mut(place).map(|(loaded, _)| loaded)
    }

    /// Installs table entries, profiles, meters, value sets and register values. The items before a
    /// rejected one remain installed.
    ///
    /// # Errors
    /// Returns the first entry that does not fit the program, with table, action or key.
    pub fn configure(&mut self, control: &ControlPlane) -> Result<(), ControlError> {
        control.batch(self.loaded.program())?.install(&mut *self.loaded)
    }

    /// Target of the program.
    pub fn target(&self) -> &'static dyn Target {
        self.target
    }

    /// Control-plane access at run time.
    pub fn control(&mut self) -> &mut dyn RuntimeControl {
        &mut *self.loaded
    }

    /// The loaded program in its target's type.
    ///
    /// # Errors
    /// It is of another target; the plane is returned.
    pub fn into_loaded<L: LoadedProgram>(self) -> Result<Box<L>, Plane> {
        let any: &dyn Any = &*self.loaded;
        if !any.is::<L>() {
            return Err(self);
        }
        let any: Box<dyn Any> = self.loaded;
        match any.downcast() {
            Ok(loaded) => Ok(loaded),
            Err(_) => unreachable!("asked before"),
        }
    }

    /// Starts tracing packets and observing registers; the observations appear in the returned log.
    ///
    /// # Errors
    /// A register or a cell that does not exist, or a target whose passes cannot be traced.
    pub fn observe(&mut self, request: TraceRequest) -> Result<SharedTrace, ControlError> {
        let follows = request.every_packet || !request.packets.is_empty();
        if follows && self.loaded.trace().is_none() {
            let title = self.target.title();
            return Err(ControlError::Message(format!(
                "packets of a program for {title} cannot be followed step by step"
            )));
        }
        let (observer, seen) = Observer::new(request, &mut *self.loaded)?;
        self.observer = Some(Box::new(observer));
        Ok(seen)
    }

    /// The program's text, for the positions of observations.
    pub fn sources(&self) -> &Arc<SourceMap> {
        &self.sources
    }

    /// Ingress pass with several pipes or an observer.
    #[inline(never)]
    fn any_ingress(
        &mut self,
        input: &IngressInput,
        packet: &mut Packet,
        packet_metadata: &mut PacketMetadata,
    ) -> IngressDecision {
        if let Some(loaded) = self.elsewhere(input.port.0) {
            return loaded.ingress_pass(input, packet, packet_metadata);
        }
        match self.observer.take() {
            Some(observer) => self.watched_ingress(observer, input, packet, packet_metadata),
            None => self.loaded.ingress_pass(input, packet, packet_metadata),
        }
    }

    #[cold]
    fn watched_ingress(
        &mut self,
        mut observer: Box<Observer>,
        input: &IngressInput,
        packet: &mut Packet,
        packet_metadata: &mut PacketMetadata,
    ) -> IngressDecision {
        let pass = self.begin(&observer, packet, input.now, input.into());
        let out = self.loaded.ingress_pass(input, packet, packet_metadata);
        if let Some(pass) = pass {
            observer.passed(self.end(pass, ingress_result(&out, packet)));
        }
        observer.poll(input.now, &mut *self.loaded);
        self.observer = Some(observer);
        out
    }

    /// Egress pass with several pipes or an observer.
    #[inline(never)]
    fn any_egress(
        &mut self,
        input: &EgressInput,
        packet: &mut Packet,
        packet_metadata: &mut PacketMetadata,
    ) -> EgressDecision {
        if let Some(loaded) = self.elsewhere(input.port.0) {
            return loaded.egress_pass(input, packet, packet_metadata);
        }
        match self.observer.take() {
            Some(observer) => self.watched_egress(observer, input, packet, packet_metadata),
            None => self.loaded.egress_pass(input, packet, packet_metadata),
        }
    }

    #[cold]
    fn watched_egress(
        &mut self,
        mut observer: Box<Observer>,
        input: &EgressInput,
        packet: &mut Packet,
        packet_metadata: &mut PacketMetadata,
    ) -> EgressDecision {
        let pass = self.begin(&observer, packet, input.now, input.into());
        let out = self.loaded.egress_pass(input, packet, packet_metadata);
        if let Some(pass) = pass {
            observer.passed(self.end(pass, egress_result(&out, packet)));
        }
        observer.poll(input.now, &mut *self.loaded);
        self.observer = Some(observer);
        out
    }

    fn begin(
        &mut self,
        observer: &Observer,
        packet: &Packet,
        at: Time,
        pass_input: PassInput,
    ) -> Option<Pass> {
        let place = self.loaded.trace().filter(|_| observer.follows(packet))?;
        *place = Some(Box::default());
        let (bytes, zeros) = (packet.bytes.to_vec(), packet.zeros);
        let (steps, result) = (Vec::new(), PassResult::default());
        Some(Pass { at, packet: packet.id, bytes, zeros, pass_input, steps, result })
    }

    fn end(&mut self, pass: Pass, result: PassResult) -> Pass {
        let trace = self.loaded.trace().and_then(Option::take);
        Pass { steps: trace.map(|mut trace| trace.take()).unwrap_or_default(), result, ..pass }
    }

    /// The loaded program of a data plane, if it is one.
    pub fn downcast<'a>(plane: &'a mut (dyn DataPlane + 'static)) -> Option<&'a mut Plane> {
        let any: &mut dyn Any = plane;
        any.downcast_mut()
    }
}

impl DataPlane for Plane {
    fn ingress_pass(
        &mut self,
        input: &IngressInput,
        packet: &mut Packet,
        packet_metadata: &mut PacketMetadata,
    ) -> IngressDecision {
        if self.further.is_empty() && self.observer.is_none() {
            return self.loaded.ingress_pass(input, packet, packet_metadata);
        }
        self.any_ingress(input, packet, packet_metadata)
    }

    fn egress_pass(
        &mut self,
        input: &EgressInput,
        packet: &mut Packet,
        packet_metadata: &mut PacketMetadata,
    ) -> EgressDecision {
        if self.further.is_empty() && self.observer.is_none() {
            return self.loaded.egress_pass(input, packet, packet_metadata);
        }
        self.any_egress(input, packet, packet_metadata)
    }

    fn takes_depth_reports(&self) -> bool {
        let further = self.further.iter().map(|(one, _)| one);
        std::iter::once(&self.loaded).chain(further).any(|loaded| loaded.takes_depth_reports())
    }

    /// A report goes to all pipes, as the chip's does.
    fn depth_report(&mut self, report: &DepthReport) {
        self.loaded.depth_report(report);
        self.further.iter_mut().for_each(|(loaded, _)| loaded.depth_report(report));
        if let Some(mut observer) = self.observer.take() {
            observer.poll(report.now, &mut *self.loaded);
            self.observer = Some(observer);
        }
    }

    fn reads_ethernet_alone(&self) -> bool {
        let mut all = std::iter::once(&self.loaded).chain(self.further.iter().map(|(one, _)| one));
        self.observer.is_none() && all.all(|loaded| loaded.reads_ethernet_alone())
    }

    fn overlapping(&mut self) -> Option<&mut dyn Overlapping> {
        self.loaded.overlapping()
    }

    fn faults(&self) -> Vec<FaultReport> {
        let mut reports = self.loaded.counted().report(Some(&self.sources));
        for (loaded, sources) in &self.further {
            for more in loaded.counted().report(Some(sources)) {
                match reports.iter_mut().find(|report| report.kind == more.kind) {
                    Some(report) => report.count += more.count,
                    None => reports.push(more),
                }
            }
        }
        reports
    }

    fn take_log(&mut self) -> ProgramLog {
        let mut log = self.loaded.take_log();
        for more in self.further.iter_mut().map(|(loaded, _)| loaded.take_log()) {
            log.lost += more.lost;
            log.lines.extend(more.lines);
        }
        log
    }
}

/// Decision of an ingress pass about a packet, in words.
fn ingress_result(out: &IngressDecision, packet: &Packet) -> PassResult {
    let mut said = Vec::new();
    let admission = &out.admission;
    let goes_on = !out.resubmit && !admission.is_nowhere();
    if out.resubmit {
        said.push("resubmitted".to_owned());
    } else if !goes_on {
        let by = if out.parser_rejected { "dropped by the parser" } else { "dropped" };
        said.push(by.to_owned());
    }
    if goes_on {
        if let Some(port) = admission.unicast {
            let past = if admission.bypass_egress { ", past egress" } else { "" };
            said.push(format!("to port {}, queue {}{past}", port.0, admission.queue));
        }
        if let Some(replication) = admission.replication {
            let groups = replication.groups.iter().flatten().map(ToString::to_string);
            said.push(format!("to multicast group {}", groups.collect::<Vec<_>>().join(" and ")));
        }
    }
    PassResult { to: with_mirror(said, out.mirror.as_deref()), bytes: goes_on.then(|| hex(packet)) }
}

/// Decision of an egress pass about a packet, in words.
fn egress_result(out: &EgressDecision, packet: &Packet) -> PassResult {
    let what = match out.fate {
        EgressFate::Recirculated => "recirculated",
        EgressFate::Sent => "sent",
        EgressFate::Dropped if out.parser_rejected => "dropped by the parser",
        EgressFate::Dropped => "dropped",
    };
    let goes_on = out.fate != EgressFate::Dropped;
    PassResult {
        to: with_mirror(vec![what.to_owned()], out.mirror.as_deref()),
        bytes: goes_on.then(|| hex(packet)),
    }
}

fn with_mirror(mut said: Vec<String>, mirror: Option<&Mirror>) -> String {
    if let Some(mirror) = mirror {
        said.push(format!("a copy to mirror session {}", mirror.session));
    }
    said.join("; ")
}

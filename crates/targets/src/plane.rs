//! A loaded program of any architecture.
//!
//! Stands on the architectures' folders and adds nothing of its own.

use crate::control::{ControlError, ControlPlane};
use crate::dataplane::{
    Architecture, DataPlane, EgressInput, EgressOutput, IngressInput, IngressOutput,
};
use crate::faults::FaultReport;
use crate::log::ProgramLog;
use crate::phv::Carried;
use crate::runtime_control::RuntimeControl;
use crate::tna::Tofino;
use crate::v1model::V1Model;
use sojourn_p4::source::SourceMap;
use sojourn_packet::Packet;
use std::sync::Arc;

/// A loaded program.
#[derive(Debug)]
pub enum Plane {
    /// For Tofino 1.
    Tofino(Box<Tofino>),
    /// For bmv2's `simple_switch`.
    V1Model(Box<V1Model>),
}

impl Plane {
    /// Installs table entries, profiles, meters, value sets and register values. What is refused
    /// leaves the rest installed.
    ///
    /// # Errors
    /// The first entry that does not fit the program, naming table, action or key.
    pub fn configure(&mut self, control: &ControlPlane) -> Result<(), ControlError> {
        match self {
            Plane::Tofino(plane) => plane.configure(control),
            Plane::V1Model(plane) => plane.configure(control),
        }
    }

    /// Tells the program where its text is, so that faults are told with their place.
    pub(crate) fn keep_sources(&mut self, sources: &Arc<SourceMap>) {
        let kept = match self {
            Plane::Tofino(plane) => &mut plane.sources,
            Plane::V1Model(plane) => &mut plane.sources,
        };
        *kept = Some(sources.clone());
    }

    fn plane(&mut self) -> &mut dyn DataPlane {
        match self {
            Plane::Tofino(plane) => plane.as_mut(),
            Plane::V1Model(plane) => plane.as_mut(),
        }
    }
}

impl DataPlane for Plane {
    fn ingress(&mut self, input: &IngressInput, packet: Packet) -> IngressOutput {
        self.plane().ingress(input, packet)
    }

    fn egress(&mut self, input: &EgressInput, packet: Packet) -> EgressOutput {
        self.plane().egress(input, packet)
    }

    fn ingress_carrying(
        &mut self,
        input: &IngressInput,
        packet: Packet,
        carried: Carried,
    ) -> IngressOutput {
        self.plane().ingress_carrying(input, packet, carried)
    }

    fn egress_carrying(
        &mut self,
        input: &EgressInput,
        packet: Packet,
        carried: Carried,
    ) -> EgressOutput {
        self.plane().egress_carrying(input, packet, carried)
    }

    fn architecture(&self) -> Architecture {
        match self {
            Plane::Tofino(plane) => plane.architecture(),
            Plane::V1Model(plane) => plane.architecture(),
        }
    }

    fn faults(&self) -> Vec<FaultReport> {
        let (faults, sources) = match self {
            Plane::Tofino(plane) => (plane.faults(), &plane.sources),
            Plane::V1Model(plane) => (plane.faults(), &plane.sources),
        };
        faults.report(sources.as_deref())
    }

    fn take_log(&mut self) -> ProgramLog {
        self.plane().take_log()
    }

    fn control(&mut self) -> Option<&mut dyn RuntimeControl> {
        self.plane().control()
    }
}

//! A loaded program of any architecture.
//!
//! Stands on the architectures' folders and adds nothing of its own.

use crate::architecture::Architecture;
use crate::control::{ControlError, ControlPlane};
use crate::dataplane::{DataPlane, EgressInput, EgressOutput, IngressInput, IngressOutput};
use crate::faults::FaultReport;
use crate::log::ProgramLog;
use crate::phv::Carried;
use crate::runtime_control::RuntimeControl;
use crate::tna::Tofino;
use crate::v1model::V1Model;
use sojourn_p4::source::SourceMap;
use sojourn_packet::Packet;
use std::any::Any;
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

    /// Which architecture it is for.
    pub fn architecture(&self) -> Architecture {
        match self {
            Plane::Tofino(_) => Architecture::Tofino1,
            Plane::V1Model(_) => Architecture::V1Model,
        }
    }

    /// The way in for a control plane while packets pass.
    pub fn control(&mut self) -> &mut dyn RuntimeControl {
        match self {
            Plane::Tofino(plane) => plane.as_mut(),
            Plane::V1Model(plane) => plane.as_mut(),
        }
    }

    /// The loaded program behind a data plane, if it is one.
    pub fn of<'a>(plane: &'a mut (dyn DataPlane + 'static)) -> Option<&'a mut Plane> {
        let any: &mut dyn Any = plane;
        any.downcast_mut()
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
}

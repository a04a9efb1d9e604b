//! A loaded program of any architecture: its target, and what the target made of it.

use crate::control::{ControlError, ControlPlane};
use crate::dataplane::{DataPlane, EgressInput, EgressOutput, IngressInput, IngressOutput};
use crate::faults::FaultReport;
use crate::log::ProgramLog;
use crate::phv::Carried;
use crate::runtime_control::RuntimeControl;
use crate::target::{LoadedProgram, Target};
use sojourn_p4::source::SourceMap;
use sojourn_packet::{Overlapping, Packet};
use std::any::Any;
use std::sync::Arc;

/// A loaded program.
#[derive(Debug)]
pub struct Plane {
    target: &'static dyn Target,
    loaded: Box<dyn LoadedProgram>,
    /// The program's text, so that faults are told with their place.
    sources: Arc<SourceMap>,
}

impl Plane {
    pub(crate) fn new(
        target: &'static dyn Target,
        loaded: Box<dyn LoadedProgram>,
        sources: Arc<SourceMap>,
    ) -> Plane {
        Plane { target, loaded, sources }
    }

    /// Installs table entries, profiles, meters, value sets and register values. What is refused
    /// leaves the rest installed.
    ///
    /// # Errors
    /// The first entry that does not fit the program, naming table, action or key.
    pub fn configure(&mut self, control: &ControlPlane) -> Result<(), ControlError> {
        control.batch(self.loaded.program())?.install(&mut *self.loaded)
    }

    /// What it is for.
    pub fn target(&self) -> &'static dyn Target {
        self.target
    }

    /// The way in for a control plane while packets pass.
    pub fn control(&mut self) -> &mut dyn RuntimeControl {
        &mut *self.loaded
    }

    /// What its target made of it, for whoever knows the target.
    ///
    /// # Errors
    /// It is of another target; here it is again.
    pub fn into_loaded<L: LoadedProgram>(self) -> Result<Box<L>, Plane> {
        let Plane { target, loaded, sources } = self;
        let any: &dyn Any = &*loaded;
        if !any.is::<L>() {
            return Err(Plane { target, loaded, sources });
        }
        let any: Box<dyn Any> = loaded;
        match any.downcast() {
            Ok(loaded) => Ok(loaded),
            Err(_) => unreachable!("asked before"),
        }
    }

    /// The loaded program behind a data plane, if it is one.
    pub fn of<'a>(plane: &'a mut (dyn DataPlane + 'static)) -> Option<&'a mut Plane> {
        let any: &mut dyn Any = plane;
        any.downcast_mut()
    }
}

impl DataPlane for Plane {
    fn ingress_carrying(
        &mut self,
        input: &IngressInput,
        packet: Packet,
        carried: Carried,
    ) -> IngressOutput {
        self.loaded.ingress_carrying(input, packet, carried)
    }

    fn egress_carrying(
        &mut self,
        input: &EgressInput,
        packet: Packet,
        carried: Carried,
    ) -> EgressOutput {
        self.loaded.egress_carrying(input, packet, carried)
    }

    fn overlapping(&mut self) -> Option<&mut dyn Overlapping> {
        self.loaded.overlapping()
    }

    fn faults(&self) -> Vec<FaultReport> {
        self.loaded.counted().report(Some(&self.sources))
    }

    fn take_log(&mut self) -> ProgramLog {
        self.loaded.take_log()
    }
}

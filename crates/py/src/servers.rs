//! A live switch as the device of servers of control protocols.

use crate::errors::ConfigError;
use crate::live::LiveSwitch;
use crate::packet_switch::wrong;
use crate::program::Program;
use pyo3::prelude::*;
use sojourn_engine::{Aqm, FurtherProgram, P4Aqm, Programs, StandaloneConfig, standalone};
use sojourn_live::{CpuSender, LiveHandle, is_up};
use sojourn_protocols::device::{Device, Placed, Work};
use sojourn_protocols::p4runtime::pipeline::{KnownPrograms, Pipeline};
use sojourn_protocols::p4runtime::service::Settings;
use sojourn_protocols::serve::{Served, Serving, Tls, serve};
use sojourn_protocols::{bfrt, p4runtime};
use sojourn_switch::Switch;
use sojourn_target::Program as Compiled;
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::mpsc;

/// Maximum number of frames waiting for controllers.
const WAITING: usize = 4_096;

/// Destination of the controller port's frames, once a server runs.
pub type ToController = Arc<Mutex<Option<mpsc::Sender<Vec<u8>>>>>;

/// Certificate, key, and certificate authority of the clients.
type Pem = (Vec<u8>, Vec<u8>, Option<Vec<u8>>);

/// A live switch, as a server needs it.
#[derive(Clone)]
pub struct LiveDevice {
    /// Handle for requests to it.
    pub handle: LiveHandle,
    /// Sender into the controller's port.
    pub cpu: Option<CpuSender>,
    /// Its configuration.
    pub config: StandaloneConfig,
    /// The interface of each port.
    pub interfaces: BTreeMap<u16, String>,
}

impl Device for LiveDevice {
    fn submit(&self, work: Work) -> bool {
        self.handle.submit(work)
    }

    fn build(&self, programs: &[Placed]) -> Result<Switch, String> {
        let mut config = self.config.clone();
        let discipline = match &config.aqm {
            Aqm::P4(p4) => p4.discipline.clone(),
            Aqm::Native(_) => None,
        };
        let [first, beside @ ..] = programs else { return Err("no program".to_owned()) };
        config.aqm = Aqm::P4(Box::new(P4Aqm { discipline, ..p4_aqm(&first.program) }));
        let beside = beside.iter().map(|Placed { program, pipes }| FurtherProgram {
            pipes: pipes.clone(),
            p4: p4_aqm(program),
        });
        config.beside = beside.collect();
        let programs = Programs::new(programs.iter().map(|placed| placed.program.clone()));
        standalone(&config, &programs).map_err(|error| error.to_string())
    }

    fn packet_out(&self, frame: Vec<u8>) -> bool {
        self.cpu.as_ref().is_some_and(|cpu| cpu.send(frame))
    }

    fn down(&self) -> BTreeSet<u16> {
        let down = self.interfaces.iter().filter(|(_, name)| !is_up(name));
        down.map(|(port, _)| *port).collect()
    }
}

/// Configuration of a compiled program, without entries.
pub fn p4_aqm(program: &Compiled) -> P4Aqm {
    let shown = |path: &PathBuf| path.to_string_lossy().into_owned();
    let options = program.options();
    P4Aqm {
        program: program.path().to_string_lossy().into_owned(),
        include_paths: options.include_paths.iter().map(shown).collect(),
        defines: options.defines.iter().cloned().collect(),
        ..P4Aqm::default()
    }
}

/// A control server of a live switch, until it is closed.
#[pyclass(module = "sojourn._core", frozen)]
pub struct ControlServer {
    address: SocketAddr,
    /// Reason why there is no pipeline before a controller sets one.
    no_pipeline: Option<String>,
    missed: AtomicU64,
    serving: Mutex<Option<Serving>>,
}

pub fn refused(why: impl ToString) -> PyErr {
    ConfigError::new_err(why.to_string())
}

/// Starts a server on an address.
fn start(
    served: Served,
    address: SocketAddr,
    tls: Option<Pem>,
    open: bool,
) -> PyResult<ControlServer> {
    let tls = tls.map(|(certificate, key, clients)| Tls { certificate, key, clients });
    let serving = serve(served, address, tls.as_ref(), open).map_err(refused)?;
    let address = serving.address();
    let serving = Mutex::new(Some(serving));
    Ok(ControlServer { address, no_pipeline: None, missed: AtomicU64::new(0), serving })
}

pub fn read_address(text: &str) -> PyResult<SocketAddr> {
    text.parse().map_err(|_| refused(format!("{text} is no address and port")))
}

#[pymethods]
impl ControlServer {
    /// P4Runtime server. `tls` is certificate and key as PEM, and the certificate authority of the
    /// clients; without an authority the address must be a loopback one unless `open` is set.
    /// `programs` are those that controllers may name; the first is the running one, and its
    /// options apply to texts that controllers send.
    #[staticmethod]
    #[pyo3(signature = (switch, address, device, programs, cpu_port = None, tls = None, open = false))]
    #[expect(clippy::too_many_arguments, reason = "they are named where it is called")]
    fn p4runtime(
        py: Python<'_>,
        switch: &LiveSwitch,
        address: &str,
        device: u64,
        programs: Vec<PyRef<'_, Program>>,
        cpu_port: Option<u16>,
        tls: Option<Pem>,
        open: bool,
    ) -> PyResult<ControlServer> {
        let address = read_address(address)?;
        let (behind, to_controller) = switch.device().ok_or_else(|| wrong("the switch is gone"))?;
        let programs: Vec<_> = programs.iter().map(|program| program.program.clone()).collect();
        let options = programs.first().map(|first| first.options().clone()).unwrap_or_default();
        let known = KnownPrograms { programs, options };
        py.detach(|| {
            let (running, no_pipeline) = match known.programs.first().map(Pipeline::of_program) {
                Some(Ok(pipeline)) => (Some(pipeline), None),
                Some(Err(failure)) => (None, Some(failure.why)),
                None => (None, None),
            };
            let settings = Settings { device, cpu: cpu_port, known };
            let server = p4runtime::service::Server::new(Arc::new(behind), settings, running);
            let (sender, packets) = mpsc::channel(WAITING);
            *to_controller.lock().unwrap_or_else(PoisonError::into_inner) = Some(sender);
            let server = start(Served::p4runtime(server, packets), address, tls, open)?;
            Ok(ControlServer { no_pipeline, ..server })
        })
    }

    /// BfRt server for the running programs, each with its pipes if there are several; other
    /// arguments as for P4Runtime.
    #[staticmethod]
    #[pyo3(signature = (switch, address, device, programs, tls = None, open = false))]
    fn bfrt(
        py: Python<'_>,
        switch: &LiveSwitch,
        address: &str,
        device: u32,
        programs: Vec<(PyRef<'_, Program>, Vec<u16>)>,
        tls: Option<Pem>,
        open: bool,
    ) -> PyResult<ControlServer> {
        let address = read_address(address)?;
        let (behind, _) = switch.device().ok_or_else(|| wrong("the switch is gone"))?;
        let placed = |(program, pipes): &(PyRef<'_, Program>, Vec<u16>)| Placed {
            program: program.program.clone(),
            pipes: pipes.clone(),
        };
        let programs: Vec<_> = programs.iter().map(placed).collect();
        py.detach(|| {
            let server = bfrt::service::Server::new(Arc::new(behind), device, programs);
            start(Served::bfrt(server.map_err(refused)?), address, tls, open)
        })
    }

    /// Address on which the server listens.
    #[getter]
    fn address(&self) -> String {
        self.address.to_string()
    }

    /// Reason why P4Runtime has no pipeline before a controller sets one; `None` if it has one.
    #[getter]
    fn no_pipeline(&self) -> Option<&str> {
        self.no_pipeline.as_deref()
    }

    /// Packets, digests and notifications lost because controllers read too slowly.
    #[getter]
    fn missed(&self) -> u64 {
        match &*self.serving.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(serving) => serving.missed(),
            None => self.missed.load(Relaxed),
        }
    }

    /// Ends the server; calls in progress have a short time to finish.
    fn close(&self, py: Python<'_>) {
        let serving = self.serving.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(serving) = &serving {
            self.missed.store(serving.missed(), Relaxed);
        }
        py.detach(|| drop(serving));
    }
}

//! A server of a control protocol in front of a switch of a run, in virtual time.
//!
//! Requests wait until Python, which drives the run, admits them. All work on the switch is executed
//! by the driver, so that the run's clock stands while a request is executed.

use crate::packet_switch::wrong;
use crate::program::Program;
use crate::servers::{p4_aqm, read_address, refused};
use crate::simulation::Simulation;
use pyo3::prelude::*;
use sojourn_engine::config::RunConfig;
use sojourn_engine::{Programs, switch_with_program};
use sojourn_protocols::device::{Admission, Device, Placed, Work};
use sojourn_protocols::p4runtime::pipeline::{KnownPrograms, Pipeline};
use sojourn_protocols::p4runtime::service::Settings;
use sojourn_protocols::request_queue::{Agenda, Task};
use sojourn_protocols::serve::{Served, Serving, serve};
use sojourn_protocols::{bfrt, p4runtime};
use sojourn_switch::Switch;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

/// Frames for controllers that are sent before the server writes them.
const FRAMES: usize = 256;

/// A switch of a run, as a server needs it.
struct VirtualDevice {
    agenda: Arc<Agenda>,
    config: Arc<RunConfig>,
    place: u16,
    has_cpu_port: bool,
}

impl Device for VirtualDevice {
    fn submit(&self, work: Work) -> bool {
        self.agenda.put(Task::Switch(work))
    }

    fn build(&self, programs: &[Placed]) -> Result<Switch, String> {
        let [only] = programs else { return Err("a switch of a run has one program".to_owned()) };
        let compiled = Programs::new([only.program.clone()]);
        switch_with_program(&self.config, self.place, p4_aqm(&only.program), &compiled)
            .map_err(|error| error.to_string())
    }

    fn packet_out(&self, frame: Vec<u8>) -> bool {
        self.has_cpu_port && self.agenda.put(Task::Frame(frame))
    }

    fn down(&self) -> BTreeSet<u16> {
        BTreeSet::new()
    }

    fn admit(&self) -> Admission {
        let turn = self.agenda.request();
        Box::pin(async { turn.await.ok() })
    }

    fn is_in_real_time(&self) -> bool {
        false
    }
}

/// The server of a protocol.
#[derive(Clone)]
enum Service {
    P4Runtime(Arc<p4runtime::service::Server>),
    BfRt(Arc<bfrt::service::Server>),
}

impl Service {
    fn sent(&self) -> u64 {
        match self {
            Service::P4Runtime(server) => server.sent(),
            Service::BfRt(server) => server.sent(),
        }
    }

    /// Polls the switch. A switch of a run ends after its server.
    async fn poll(self) {
        match self {
            Service::P4Runtime(server) => drop(server.poll().await),
            Service::BfRt(server) => drop(server.poll().await),
        }
    }
}

/// A control server of a switch of a run, until it is closed.
#[pyclass(module = "sojourn._core", frozen)]
pub struct VirtualServer {
    address: String,
    place: u16,
    agenda: Arc<Agenda>,
    service: Service,
    serving: Mutex<Option<Serving>>,
}

impl VirtualServer {
    fn with<T>(&self, work: impl FnOnce(&Serving) -> T) -> Option<T> {
        self.serving.lock().unwrap_or_else(PoisonError::into_inner).as_ref().map(work)
    }

    /// Executes tasks on the switch until no request is admitted.
    fn execute_on(&self, run: &mut sojourn_net::Simulation) {
        self.agenda.execute(|task| match task {
            Task::Switch(work) => drop(run.with_switch(self.place, work)),
            Task::Frame(frame) => drop(run.packet_out(self.place, frame)),
        });
    }

    fn settle_inside(&self) {
        self.with(Serving::settle);
    }

    /// Hands the packets for controllers and the program's messages to the server.
    fn poll_inside(&self, run: &mut sojourn_net::Simulation) {
        let frames = run.take_controllers_packets(self.place);
        if let Service::P4Runtime(server) = &self.service {
            for some in frames.chunks(FRAMES) {
                for (_, packet) in some {
                    server.packet_in(&packet.clone().into_frame());
                }
                self.settle_inside();
            }
        }
        let (turn, service) = (self.agenda.begin(), self.service.clone());
        self.with(|serving| {
            serving.spawn(async move {
                service.poll().await;
                drop(turn);
            });
        });
        self.execute_on(run);
    }
}

#[pymethods]
impl VirtualServer {
    /// Serves `protocol`, `p4runtime` or `bfrt`, in front of switch `place` of a run, which runs
    /// `program`. The address has to be a loopback one.
    #[new]
    fn new(
        py: Python<'_>,
        simulation: &mut Simulation,
        place: u16,
        protocol: &str,
        address: &str,
        device: u32,
        program: PyRef<'_, Program>,
    ) -> PyResult<VirtualServer> {
        let address = read_address(address)?;
        let config = simulation.config().clone();
        let node = config.network.switches.get(usize::from(place));
        let cpu = node.ok_or_else(|| wrong(format!("there is no switch {place}")))?.cpu_port;
        let agenda = Arc::new(Agenda::default());
        let has_cpu_port = cpu.is_some();
        let behind = VirtualDevice { agenda: agenda.clone(), config, place, has_cpu_port };
        let program = program.program.clone();
        let is_bfrt = protocol == "bfrt";
        let run = simulation.run();
        py.detach(|| {
            let (service, served) = match is_bfrt {
                true => {
                    let programs = vec![Placed::everywhere(program)];
                    let server = bfrt::service::Server::new(Arc::new(behind), device, programs);
                    let server = server.map_err(refused)?;
                    (Service::BfRt(server.clone()), Served::bfrt(server))
                }
                false => {
                    let running = Pipeline::of_program(&program).map_err(|no| refused(no.why))?;
                    let options = program.options().clone();
                    let known = KnownPrograms { programs: vec![program], options };
                    let settings = Settings { device: device.into(), cpu, known };
                    let server =
                        p4runtime::service::Server::new(Arc::new(behind), settings, Some(running));
                    // Frames are handed over one by one.
                    let (_, frames) = tokio::sync::mpsc::channel(1);
                    (Service::P4Runtime(server.clone()), Served::p4runtime(server, frames))
                }
            };
            let serving = serve(served.in_virtual_time(), address, None, false).map_err(refused)?;
            let address = serving.address().to_string();
            let serving = Mutex::new(Some(serving));
            let server = VirtualServer { address, place, agenda, service, serving };
            server.execute_on(run);
            Ok(server)
        })
    }

    /// Address on which the server listens.
    #[getter]
    fn address(&self) -> &str {
        &self.address
    }

    /// Number of requests and messages of controllers so far, and of those that wait.
    #[getter]
    fn requests(&self) -> (u64, usize) {
        self.agenda.requests()
    }

    /// Number of messages sent to controllers.
    #[getter]
    fn sent(&self) -> u64 {
        self.service.sent()
    }

    /// Packets, digests and notifications lost because controllers read too slowly.
    #[getter]
    fn missed(&self) -> u64 {
        self.with(Serving::missed).unwrap_or_default()
    }

    /// Returns once the server has read what controllers have sent, and written its messages.
    fn settle(&self, py: Python<'_>) {
        py.detach(|| self.settle_inside());
    }

    /// Executes what controllers have done without a request: their packets.
    fn execute(&self, py: Python<'_>, simulation: &mut Simulation) {
        let run = simulation.run();
        py.detach(|| self.execute_on(run));
    }

    /// Executes the request that has waited longest on the run's switch now. False if none waits.
    fn admit(&self, py: Python<'_>, simulation: &mut Simulation) -> bool {
        let run = simulation.run();
        py.detach(|| {
            let admitted = self.agenda.admit_next();
            self.execute_on(run);
            admitted
        })
    }

    /// Sends packets, messages and idle entries of the run's switch to controllers.
    fn poll(&self, py: Python<'_>, simulation: &mut Simulation) {
        let run = simulation.run();
        py.detach(|| self.poll_inside(run));
    }

    /// Ends the server.
    fn close(&self, py: Python<'_>) {
        self.agenda.end();
        let serving = self.serving.lock().unwrap_or_else(PoisonError::into_inner).take();
        py.detach(|| drop(serving));
    }
}

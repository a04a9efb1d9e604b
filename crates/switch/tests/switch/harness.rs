//! A data plane made of closures, and a driver with a fake clock.

use sojourn_packet::{
    Admission, DataPlane, EgressDecision, EgressInput, EgressOutput, IngressDecision, IngressInput,
    IngressOutput, PacketGenerator, PortId,
};
use sojourn_packet::{Bytes, FlowId, Packet, PacketId, PacketMetadata, Rate, Time};
use sojourn_switch::{Disciplines, Observation, PortConfig, Switch, SwitchConfig, Transmit};
use std::sync::{Arc, Mutex};

pub const GIGABIT: u64 = 1_000_000_000;
pub const IN: PortId = PortId(1);
pub const OUT: PortId = PortId(2);
pub const LOOP: PortId = PortId(68);
/// The packet generator of Tofino 1.
pub const GENERATOR: PacketGenerator = PacketGenerator {
    application_bits: 3,
    buffer: 16_384,
    ports: (68, 71),
    default_port: 68,
    pipe_ports: 128,
    shortest: 11,
    pattern_bytes: 4,
    repeats_pattern: false,
};

type Ingress = Box<dyn FnMut(&IngressInput, Packet) -> IngressOutput + Send>;
type Egress = Box<dyn FnMut(&EgressInput, Packet) -> EgressOutput + Send>;
pub type Log<T> = Arc<Mutex<Vec<T>>>;

/// A data plane whose passes are closures; it notes what it was given.
pub struct Fake {
    ingress: Ingress,
    egress: Egress,
    pub ingress_log: Log<(IngressInput, Packet)>,
    pub egress_log: Log<(EgressInput, Packet)>,
}

impl Fake {
    /// Sends everything from ingress to port 2 and drops nothing.
    pub fn new() -> Fake {
        Fake {
            ingress: Box::new(|_, packet| to(OUT, 0, packet)),
            egress: Box::new(|_, packet| pass(packet)),
            ingress_log: Log::default(),
            egress_log: Log::default(),
        }
    }

    pub fn ingress(
        mut self,
        f: impl FnMut(&IngressInput, Packet) -> IngressOutput + Send + 'static,
    ) -> Fake {
        self.ingress = Box::new(f);
        self
    }

    pub fn egress(
        mut self,
        f: impl FnMut(&EgressInput, Packet) -> EgressOutput + Send + 'static,
    ) -> Fake {
        self.egress = Box::new(f);
        self
    }
}

impl DataPlane for Fake {
    fn ingress_pass(
        &mut self,
        input: &IngressInput,
        packet: &mut Packet,
        packet_metadata: &mut PacketMetadata,
    ) -> IngressDecision {
        self.ingress_log.lock().unwrap().push((*input, packet.clone()));
        let Packet { id, flow, .. } = *packet;
        let (decision, left, goes_with) =
            (self.ingress)(input, std::mem::take(packet)).into_decision();
        (*packet, *packet_metadata) = (Packet { id, flow, ..left }, goes_with);
        decision
    }

    fn egress_pass(
        &mut self,
        input: &EgressInput,
        packet: &mut Packet,
        packet_metadata: &mut PacketMetadata,
    ) -> EgressDecision {
        self.egress_log.lock().unwrap().push((*input, packet.clone()));
        let Packet { id, flow, .. } = *packet;
        let (decision, left, goes_with) =
            (self.egress)(input, std::mem::take(packet)).into_decision();
        (*packet, *packet_metadata) = (Packet { id, flow, ..left }, goes_with);
        decision
    }
}

/// An ingress decision: unicast.
pub fn to(port: PortId, queue: u8, packet: Packet) -> IngressOutput {
    let admission = Admission { unicast: Some(port), queue, ..Admission::default() };
    IngressOutput { packet: Some(packet), admission, ..IngressOutput::default() }
}

/// An egress decision: send.
pub fn pass(packet: Packet) -> EgressOutput {
    EgressOutput { packet: Some(packet), ..EgressOutput::default() }
}

/// A packet of `size` bytes.
pub fn packet(id: u64, size: u32) -> Packet {
    let bytes = vec![0; 14];
    let zeros = size - 14;
    Packet { id: PacketId(id), flow: FlowId(id as u32 % 4), bytes, zeros }
}

/// Ports 1 and 2 at 10 Gbit/s, port 68 at 100 Gbit/s; port 2 observed.
pub fn config() -> SwitchConfig {
    let out = PortConfig { observed: true, ..PortConfig::front(OUT, Rate(10 * GIGABIT)) };
    SwitchConfig {
        ports: vec![
            PortConfig::front(IN, Rate(10 * GIGABIT)),
            out,
            PortConfig::recirculation(LOOP, Rate(100 * GIGABIT), Time(400)),
        ],
        generator: Some(GENERATOR),
        ..SwitchConfig::default()
    }
}

/// A switch and everything that has come out of it.
pub struct Driver {
    pub switch: Switch,
    pub sent: Vec<Transmit>,
    pub observed: Vec<Observation>,
    pub ingress_log: Log<(IngressInput, Packet)>,
    pub egress_log: Log<(EgressInput, Packet)>,
}

impl Driver {
    pub fn p4(config: SwitchConfig, plane: Fake) -> Driver {
        let (ingress_log, egress_log) = (plane.ingress_log.clone(), plane.egress_log.clone());
        let driver = Driver::new(config, Box::new(plane));
        Driver { ingress_log, egress_log, ..driver }
    }

    pub fn new(config: SwitchConfig, plane: Box<dyn DataPlane>) -> Driver {
        Driver::with_disciplines(config, plane, Disciplines::new())
    }

    pub fn with_disciplines(
        config: SwitchConfig,
        plane: Box<dyn DataPlane>,
        disciplines: Disciplines,
    ) -> Driver {
        Driver {
            switch: Switch::with_disciplines(config, plane, disciplines).unwrap(),
            sent: Vec::new(),
            observed: Vec::new(),
            ingress_log: Log::default(),
            egress_log: Log::default(),
        }
    }

    pub fn receive(&mut self, at: u64, port: PortId, packet: Packet) {
        self.switch.receive(Time(at), port, packet);
        self.collect();
    }

    /// Advances from timer to timer until nothing is left or the next is after `end`.
    pub fn run_until(&mut self, end: u64) {
        while let Some(next) = self.switch.next_timer().filter(|t| t.0 <= end) {
            self.switch.advance(next);
            self.collect();
        }
    }

    /// Advances in one go.
    pub fn advance(&mut self, now: Time) {
        self.switch.advance(now);
        self.collect();
    }

    /// The switch's time.
    pub fn now(&self) -> Time {
        self.switch.statistics().now
    }

    /// Runs until nothing is due and collects what `receive_until` has sent without a timer.
    pub fn finish(&mut self) {
        self.run_until(u64::MAX);
        self.collect();
    }

    fn collect(&mut self) {
        self.sent.extend(self.switch.take_transmits());
        self.observed.extend(self.switch.take_observations());
    }

    /// (packet, start) of everything sent.
    pub fn departures(&self) -> Vec<(u64, u64)> {
        self.sent.iter().map(|t| (t.packet.id.0, t.start.0)).collect()
    }

    /// Rows only.
    pub fn rows(&self) -> Vec<sojourn_switch::PacketObservation> {
        let row = |o: &Observation| match o {
            Observation::Packet(row) => Some(*row),
            _ => None,
        };
        self.observed.iter().filter_map(row).collect()
    }

    pub fn bytes_sent(&self) -> Bytes {
        self.sent.iter().fold(Bytes(0), |sum, t| sum + t.packet.len())
    }
}

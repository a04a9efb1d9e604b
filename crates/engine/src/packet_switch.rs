//! A switch without connections: the caller injects packets and collects all output.
//!
//! The switch is the one of every run, driven in virtual time with nothing at its ports, so
//! mirroring, multicast, resubmission and recirculation behave as in a run. The caller checks the
//! packets.

use crate::RunError;
use crate::control::{self, BatchError, OperationError};
use crate::load::Watched;
use crate::switch_setup;
use sojourn_control::commands::{Question, Request, Session};
use sojourn_control::stf::Statement;
use sojourn_control::{ControlPlane, RuntimeControl, describe};
use sojourn_control::{Operation, Query, Reply};
use sojourn_externs::meter::MeterSpec;
use sojourn_packet::{DataPlane, FaultReport};
use sojourn_packet::{Packet, PacketId, Rate, Time};
use sojourn_switch::{
    ConfigError, PortConfig, PortId, QueueConfig, Switch, SwitchConfig, Transmit,
};
use sojourn_target::Plane;
use sojourn_target::observer::TraceRequest;
use sojourn_target::target::{Copies, SwitchTraits, Target};

/// Configuration of the switch: all ports that its programs can name.
#[derive(Clone, Debug)]
pub struct PacketSwitchConfig {
    /// Switch properties of its target.
    pub traits: SwitchTraits,
}

impl PacketSwitchConfig {
    /// The switch of a target's programs.
    pub fn new(target: &dyn Target) -> PacketSwitchConfig {
        PacketSwitchConfig { traits: target.switch() }
    }

    /// The same with `count` queues at each port, if given; a higher number is served first.
    ///
    /// # Errors
    /// The target's switch has no priority queues.
    pub fn with_priority_queues(
        mut self,
        target: &dyn Target,
        queues: Option<u8>,
    ) -> Result<PacketSwitchConfig, RunError> {
        match queues {
            None => {}
            Some(queues) if self.traits.queues_chosen => self.traits.queues = queues,
            Some(_) => return Err(RunError::NoPriorityQueues { found: target.title() }),
        }
        Ok(self)
    }
}

/// Speed of every port: queues build up only if a test sends faster.
const SPEED: Rate = Rate(100_000_000_000);

/// Delay from a recirculation port's egress to ingress.
const LOOP: Time = Time(400);
/// Generated packets for which a switch is waited for: a fast generator never lets it rest.
const MOST_GENERATED: u64 = 1_000;

/// A switch and the packets that have left it.
///
/// ```
/// use sojourn_engine::{PacketSwitch, PacketSwitchConfig};
/// use sojourn_packet::{PortId, Time};
/// use sojourn_target::{LoadOptions, Program};
/// # let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
/// let options = LoadOptions { include_paths: vec![root.join("p4/include")], ..sojourn_engine::builtin::load_options() };
/// let program = Program::read(root.join("tests/stf/v1model/wire.p4"), &options)?;
/// let config = PacketSwitchConfig::new(program.target());
/// let mut switch = PacketSwitch::new(program.instantiate(1)?, &config)?;
/// switch.command("table_add forward send 1 => 2")?;
/// switch.receive(PortId(1), &[0; 60]);
/// switch.settle(Time::from_millis(1));
/// assert_eq!(switch.take()[0].port, PortId(2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct PacketSwitch {
    switch: Switch,
    now: Time,
    packets: u64,
    sent: Vec<Transmit>,
    /// Session of the command lines so far.
    session: Option<Session>,
}

impl PacketSwitch {
    /// Creates an idle switch that runs `plane`.
    ///
    /// # Errors
    /// The configuration is inconsistent.
    pub fn new(plane: Plane, config: &PacketSwitchConfig) -> Result<PacketSwitch, ConfigError> {
        PacketSwitch::running(Box::new(plane), config)
    }

    /// Creates an idle switch that runs any data plane.
    fn running(
        plane: Box<dyn DataPlane>,
        config: &PacketSwitchConfig,
    ) -> Result<PacketSwitch, ConfigError> {
        let traits = &config.traits;
        let port = |number: u16| PortConfig {
            queues: vec![QueueConfig::default(); traits.queues.into()],
            recirculation: traits.recirculating.contains(&number).then_some(LOOP),
            ..PortConfig::front(PortId(number), SPEED)
        };
        let mut switch = SwitchConfig {
            ports: (0..traits.ports).map(port).collect(),
            ..SwitchConfig::default()
        };
        if traits.copies == Copies::Unlimited {
            switch_setup::unlimited(&mut switch, traits);
        }
        switch_setup::adopt(&mut switch, traits);
        if traits.queues_chosen {
            switch_setup::priority_queues(&mut switch, traits.queues);
        }
        let switch = Switch::new(switch, plane)?;
        Ok(PacketSwitch { switch, now: Time::ZERO, packets: 0, sent: Vec::new(), session: None })
    }

    /// Current virtual time.
    pub fn now(&self) -> Time {
        self.now
    }

    /// Injects a frame at `port` now; its processing needs [`PacketSwitch::settle`].
    pub fn receive(&mut self, port: PortId, frame: &[u8]) {
        self.packets += 1;
        let bytes = frame.to_vec();
        let packet = Packet { id: PacketId(self.packets), bytes, ..Packet::default() };
        self.switch.receive(self.now, port, packet);
        self.collect();
    }

    /// Runs until no event is pending but those of packet generators, for at most `limit` and
    /// 1,000 generated packets; false if one is.
    pub fn settle(&mut self, limit: Time) -> bool {
        let end = self.now + limit;
        let most = self.switch.generators().made() + MOST_GENERATED;
        while let Some(due) = self.switch.next_timer().filter(|_| !self.switch.rests()) {
            if self.switch.generators().made() > most {
                return false;
            }
            if due > end {
                self.now = end;
                return false;
            }
            self.advance_to(due);
        }
        true
    }

    /// Time of the next event.
    pub fn next_timer(&self) -> Option<Time> {
        self.switch.next_timer()
    }

    /// Advances the time by `span`.
    pub fn wait(&mut self, span: Time) {
        self.advance_to(self.now + span);
    }

    /// All packets that have left since the last call, in the order of departure.
    pub fn take(&mut self) -> Vec<Transmit> {
        std::mem::take(&mut self.sent)
    }

    /// The switch, for its sessions, groups and queues.
    pub fn switch(&mut self) -> &mut Switch {
        &mut self.switch
    }

    /// Applies a batch of operations now, all of it or nothing; returns for each the handle of the
    /// entry that it added, if any.
    ///
    /// # Errors
    /// Returns the first rejected operation.
    pub fn apply(&mut self, batch: &[Operation]) -> Result<Vec<Option<u32>>, BatchError> {
        let done = control::apply(&mut self.switch, batch, self.now);
        self.collect();
        done
    }

    /// Executes a line of `simple_switch_CLI` now; returns its output, if it only reads.
    ///
    /// # Errors
    /// Returns an error for an invalid line, or if program or switch reject it.
    pub fn command(&mut self, line: &str) -> Result<Vec<String>, OperationError> {
        let mut answers = Vec::new();
        for asked in self.session()?.run(line)? {
            match asked {
                Request::Operation(operation) => {
                    self.apply(&[operation]).map_err(|refused| refused.error)?;
                }
                Request::Question(question) => answers.push(self.answer(question)?),
            }
        }
        Ok(answers)
    }

    /// Operation of an STF statement.
    ///
    /// # Errors
    /// Returns an error if the statement does not fit the program.
    pub fn operation_of(&mut self, statement: &Statement) -> Result<Operation, OperationError> {
        Ok(statement.operation(self.session()?.program())?)
    }

    fn session(&mut self) -> Result<&mut Session, OperationError> {
        match &mut self.session {
            Some(session) => Ok(session),
            none => {
                let program = control::program(&mut self.switch)?.program();
                Ok(none.insert(Session::new(describe(program))))
            }
        }
    }

    fn answer(&mut self, question: Question) -> Result<String, OperationError> {
        let program = control::program(&mut self.switch)?;
        let mut register = |name: &str, cell| {
            let words = program.read_register(name, cell)?;
            let words: Vec<String> = words.iter().map(ToString::to_string).collect();
            Ok::<String, OperationError>(words.join(" "))
        };
        Ok(match question {
            Question::Register(name, Ok(cell)) => {
                format!("{name}[{cell}] = {}", register(&name, cell)?)
            }
            Question::Register(name, Err(size)) => {
                let cells: Result<Vec<_>, _> =
                    (0..size).map(|cell| register(&name, cell)).collect();
                format!("{name} = {}", cells?.join(", "))
            }
            Question::Counter(name, cell) => {
                let count = program.read_counter(&name, cell)?;
                format!("{name}[{cell}]: {} packets, {} bytes", count.packets, count.bytes)
            }
            Question::Meter(name, index) => {
                let meter = Query::Meter { name: name.clone(), index };
                let Reply::Meter(spec) = self.read(&meter)? else { return Ok(String::new()) };
                let MeterSpec { cir, cbs, pir, pbs } = spec;
                format!("{name}[{index}]: {cir}/s, bursts of {cbs}; peak {pir}/s, bursts of {pbs}")
            }
            Question::Session(number, leads) => format!("mirror session {number}: {leads}"),
        })
    }

    /// Answers a query to the program.
    ///
    /// # Errors
    /// It has no such object or no such cell.
    pub fn read(&mut self, query: &Query) -> Result<Reply, OperationError> {
        control::read(&mut self.switch, query)
    }

    /// Faults of the program so far, by kind.
    pub fn faults(&mut self) -> Vec<FaultReport> {
        self.switch.faults()
    }

    /// Applies a control plane to program and switch now.
    ///
    /// # Errors
    /// Returns an error if an entry does not fit; the ones before it remain.
    pub fn configure(&mut self, given: &ControlPlane) -> Result<(), OperationError> {
        let program = control::program(&mut self.switch)?;
        let batch = given.batch(program.program())?;
        batch.install(program)?;
        let generators = self.switch.generators();
        let (chip, pipes) = (generators.chip().copied(), generators.pipes());
        switch_setup::generators(&given.pktgen, chip, pipes)?;
        let of_switch = batch.operations().filter(|one| control::is_of_the_switch(one));
        let of_switch: Vec<Operation> = of_switch.cloned().collect();
        self.apply(&of_switch).map(|_| ()).map_err(|refused| refused.error)
    }

    /// Enables tracing of all later packets, pass by pass.
    ///
    /// # Errors
    /// The switch runs no program, or one whose passes cannot be traced.
    pub fn follow(&mut self) -> Result<Watched, OperationError> {
        let plane = Plane::downcast(self.switch.data_plane()).ok_or(OperationError::NoProgram)?;
        let seen = plane.observe(TraceRequest { every_packet: true, ..TraceRequest::default() })?;
        Ok(Watched { sources: plane.sources().clone(), seen })
    }

    /// Control-plane access to the program.
    pub fn control(&mut self) -> Option<&mut dyn RuntimeControl> {
        Plane::downcast(self.switch.data_plane()).map(Plane::control)
    }

    fn advance_to(&mut self, due: Time) {
        self.now = self.now.max(due);
        self.switch.advance(self.now);
        self.collect();
    }

    fn collect(&mut self) {
        self.sent.extend(self.switch.take_transmits());
        drop(self.switch.take_observations());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_packet::{
        Admission, EgressDecision, EgressFate, EgressInput, IngressDecision, IngressInput, Packet,
        PacketMetadata,
    };

    /// Forwards from port `n` to port `n + 1`, and from 68 to port 2.
    struct Next;

    impl DataPlane for Next {
        fn ingress_pass(
            &mut self,
            input: &IngressInput,
            _: &mut Packet,
            _: &mut PacketMetadata,
        ) -> IngressDecision {
            let port = if input.port == PortId(68) { 2 } else { input.port.0 + 1 };
            let admission = Admission { unicast: Some(PortId(port)), ..Admission::default() };
            IngressDecision::admit(admission)
        }

        fn egress_pass(
            &mut self,
            _: &EgressInput,
            _: &mut Packet,
            _: &mut PacketMetadata,
        ) -> EgressDecision {
            EgressFate::Sent.into()
        }
    }

    fn bench() -> PacketSwitch {
        let first = crate::builtin::TARGETS.iter().next().unwrap();
        PacketSwitch::running(Box::new(Next), &PacketSwitchConfig::new(first)).unwrap()
    }

    #[test]
    fn a_packet_leaves_by_the_port_that_the_program_chooses() {
        let mut bench = bench();
        bench.receive(PortId(4), &[1, 2, 3]);
        assert!(bench.settle(Time(10_000)));
        let sent: Vec<_> = bench.take().into_iter().map(|t| (t.port.0, t.packet.bytes)).collect();
        assert_eq!(sent, [(5, vec![1, 2, 3])]);
        assert!(bench.take().is_empty());
    }

    #[test]
    fn a_recirculated_packet_leaves_behind_its_second_pass() {
        let mut bench = bench();
        bench.receive(PortId(67), &[9; 64]);
        assert!(bench.settle(Time(100_000)));
        assert_eq!(bench.take()[0].port, PortId(2));
    }

    #[test]
    fn a_delay_beyond_the_limit_is_not_settled() {
        let mut bench = bench();
        bench.receive(PortId(67), &[9; 64]);
        assert!(!bench.settle(Time(1)));
        assert_eq!(bench.now(), Time(1));
    }
}

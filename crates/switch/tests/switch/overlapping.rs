//! Data planes whose ingress passes take time: threads that share memory and overlap.

use crate::harness::*;
use sojourn_packet::{
    Bytes, DataPlane, EgressDecision, EgressFate, EgressInput, IngressDecision, IngressInput,
    IngressOutput, Overlapping, Packet, PacketId, PacketMetadata, PassId, QueueDepths, Rate, Time,
};
use sojourn_switch::{PortConfig, ShaperConfig, SwitchConfig};
use std::collections::{BTreeMap, VecDeque};

/// Two threads; a pass takes as many microseconds as its packet has payload bytes and reads the
/// depth of the queue behind port 2 when it ends.
#[derive(Default)]
struct Threads {
    running: BTreeMap<(Time, PassId), Packet>,
    waiting: VecDeque<(PassId, Packet)>,
    depths: Log<(Time, u64)>,
}

const COUNT: usize = 2;

impl Threads {
    fn start(&mut self, now: Time, pass: PassId, packet: Packet) {
        let end = now + Time(u64::from(packet.zeros) * 1_000);
        self.running.insert((end, pass), packet);
    }
}

impl DataPlane for Threads {
    fn ingress_pass(
        &mut self,
        _: &IngressInput,
        _: &mut Packet,
        _: &mut PacketMetadata,
    ) -> IngressDecision {
        unreachable!("passes are submitted")
    }

    fn egress_pass(
        &mut self,
        _: &EgressInput,
        _: &mut Packet,
        _: &mut PacketMetadata,
    ) -> EgressDecision {
        EgressFate::Sent.into()
    }

    fn overlapping(&mut self) -> Option<&mut dyn Overlapping> {
        Some(self)
    }
}

impl Overlapping for Threads {
    fn submit(&mut self, pass: PassId, input: &IngressInput, packet: Packet, _: PacketMetadata) {
        if self.running.len() < COUNT {
            self.start(input.now, pass, packet);
        } else {
            self.waiting.push_back((pass, packet));
        }
    }

    fn next(&self) -> Option<Time> {
        self.running.keys().next().map(|(end, _)| *end)
    }

    fn complete(&mut self, now: Time, depths: &dyn QueueDepths) -> Option<(PassId, IngressOutput)> {
        let first = self.running.first_entry().filter(|entry| entry.key().0 <= now)?;
        let ((end, pass), packet) = first.remove_entry();
        self.depths.lock().unwrap().push((end, depths.packets(OUT, 0)));
        if let Some((pass, packet)) = self.waiting.pop_front() {
            self.start(end, pass, packet);
        }
        Some((pass, to(OUT, 0, packet)))
    }
}

fn taking(id: u64, microseconds: u32) -> Packet {
    packet(id, 14 + microseconds)
}

fn at_once() -> SwitchConfig {
    SwitchConfig { ingress_latency: Time::ZERO, egress_latency: Time::ZERO, ..config() }
}

#[test]
fn a_pass_that_takes_longer_is_overtaken_and_one_too_many_waits_for_a_thread() {
    let mut driver = Driver::new(at_once(), Box::new(Threads::default()));
    driver.receive(0, IN, taking(1, 100));
    driver.receive(1_000, IN, taking(2, 20));
    driver.receive(2_000, IN, taking(3, 20));
    assert_eq!(driver.switch.statistics().held, 3, "all three are inside");
    driver.finish();
    assert_eq!(driver.departures(), [(2, 21_000), (3, 41_000), (1, 100_000)]);
    assert_eq!(driver.switch.statistics().held, 0);
}

#[test]
fn a_pass_reads_how_deep_a_queue_is_when_it_looks_and_not_when_its_packet_came() {
    let plane = Threads::default();
    let depths = plane.depths.clone();
    let mut config = at_once();
    config.ports[1] = PortConfig {
        shaper: Some(ShaperConfig::bits(Rate(1_000_000), 64)),
        ..config.ports[1].clone()
    };
    let mut driver = Driver::new(config, Box::new(plane));
    for number in 0..6 {
        driver.receive(number, IN, taking(number, 100));
    }
    driver.advance(Time(400_000));
    // The first goes out at once, and the queue fills behind it.
    let read: Vec<_> = depths.lock().unwrap().iter().map(|(_, depth)| *depth).collect();
    assert_eq!(read, [0, 0, 1, 2, 3, 4]);
    driver.finish();
    assert_eq!(driver.sent.len(), 6);
    let sent = driver.sent.iter().map(|transmit| transmit.packet.len());
    assert!(sent.into_iter().all(|size| size == Bytes(114)), "bytes come out as they went in");
    let ids: Vec<_> = driver.sent.iter().map(|transmit| transmit.packet.id).collect();
    assert_eq!(ids, (0..6).map(PacketId).collect::<Vec<_>>());
}

/// Says that something is due now and never does anything.
struct Stuck(Option<Time>);

impl DataPlane for Stuck {
    fn ingress_pass(
        &mut self,
        _: &IngressInput,
        _: &mut Packet,
        _: &mut PacketMetadata,
    ) -> IngressDecision {
        unreachable!("passes are submitted")
    }

    fn egress_pass(
        &mut self,
        _: &EgressInput,
        _: &mut Packet,
        _: &mut PacketMetadata,
    ) -> EgressDecision {
        EgressFate::Sent.into()
    }

    fn overlapping(&mut self) -> Option<&mut dyn Overlapping> {
        Some(self)
    }
}

impl Overlapping for Stuck {
    fn submit(&mut self, _: PassId, input: &IngressInput, _: Packet, _: PacketMetadata) {
        self.0 = Some(input.now);
    }

    fn next(&self) -> Option<Time> {
        self.0
    }

    fn complete(&mut self, _: Time, _: &dyn QueueDepths) -> Option<(PassId, IngressOutput)> {
        None
    }
}

#[test]
fn a_data_plane_that_never_completes_a_pass_does_not_hold_time_up() {
    let mut driver = Driver::new(at_once(), Box::new(Stuck(None)));
    driver.receive(5, IN, packet(1, 100));
    driver.advance(Time(1_000));
    assert_eq!(driver.switch.statistics().held, 1);
    assert!(driver.sent.is_empty());
}

//! Packets per second through the traffic manager with a data plane that decides nothing.
//!
//! `cargo bench -p sojourn-bench --features criterion --bench switch`: one shaped and congested bottleneck port as in the shipped
//! scenarios, once forwarded natively (fifo, CoDel), once through a trivial program, and once with
//! every packet mirrored to the recirculation port.

// The macros below make a public function without a comment.
#![allow(missing_docs)]

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use sojourn_packet::{
    Admission, DataPlane, EgressDecision, EgressFate, EgressInput, IngressDecision, IngressInput,
    Mirror, MirrorDirection, MirrorOverrides, PacketMetadata,
};
use sojourn_packet::{FlowId, Packet, PacketId, Rate, Time};
use sojourn_switch::{
    CrossConnect, MirrorSession, PortConfig, PortId, ShaperConfig, Switch, SwitchConfig, discipline,
};
use std::collections::BTreeMap;
use std::hint::black_box;

const PACKETS: u64 = 100_000;

struct Trivial {
    mirroring: bool,
}

impl DataPlane for Trivial {
    fn ingress_pass(
        &mut self,
        input: &IngressInput,
        _: &mut Packet,
        _: &mut PacketMetadata,
    ) -> IngressDecision {
        let unicast = (input.port == PortId(1)).then_some(PortId(2));
        let admission = Admission { unicast, ..Admission::default() };
        IngressDecision::admit(admission)
    }

    fn egress_pass(
        &mut self,
        input: &EgressInput,
        packet: &mut Packet,
        _: &mut PacketMetadata,
    ) -> EgressDecision {
        let copy = || Mirror {
            session: 1,
            direction: MirrorDirection::Egress,
            packet: packet.clone(),
            header_len: 0,
            packet_metadata: PacketMetadata::default(),
            overrides: MirrorOverrides::default(),
        };
        let mirror = (self.mirroring && !input.mirrored).then(|| Box::new(copy()));
        EgressDecision { fate: EgressFate::Sent, mirror, ..EgressDecision::default() }
    }
}

fn config() -> SwitchConfig {
    let gigabit = 1_000_000_000;
    let session = MirrorSession { max_length: 100, ..MirrorSession::egress(1, PortId(68), 0) };
    let mut config = SwitchConfig::default();
    config.mirror.sessions.push(session);
    config.ports = vec![
        PortConfig::front(PortId(1), Rate(10 * gigabit)),
        PortConfig {
            shaper: Some(ShaperConfig::bits(Rate(gigabit), 1600)),
            observed: true,
            ..PortConfig::front(PortId(2), Rate(10 * gigabit))
        },
        PortConfig::recirculation(PortId(68), Rate(100 * gigabit), Time(400)),
    ];
    config
}

fn native(name: &str) -> Switch {
    let wire = Box::new(CrossConnect::from(BTreeMap::from([(PortId(1), PortId(2))])));
    let discipline = discipline::build(name, &[]).expect(name);
    let disciplines = BTreeMap::from([((PortId(2), 0), discipline)]);
    Switch::with_disciplines(config(), wire, disciplines).expect("a switch")
}

/// Offers a packet each 12 us to a port that needs 12.3 us for one, and takes what comes out.
fn run(mut switch: Switch, packet: &Packet) -> u64 {
    let mut out = 0;
    for i in 0..PACKETS {
        let at = Time(i * 12_000);
        while let Some(timer) = switch.next_timer().filter(|&t| t <= at) {
            switch.advance(timer);
        }
        let packet = Packet { id: PacketId(i), ..packet.clone() };
        switch.receive(at, PortId(1), packet);
        for transmit in switch.take_transmits() {
            out += black_box(transmit).end.0 & 1;
        }
        for row in switch.take_observations() {
            black_box(row);
        }
    }
    out
}

fn through_the_traffic_manager(c: &mut Criterion) {
    let bytes = vec![0; 66];
    let packet = Packet { flow: FlowId(1), bytes, zeros: 1448, ..Packet::default() };
    let mut group = c.benchmark_group("switch");
    group.throughput(Throughput::Elements(PACKETS)).sample_size(20);
    let plane =
        |mirroring| Switch::new(config(), Box::new(Trivial { mirroring })).expect("a switch");
    type Program<'a> = (&'a str, Box<dyn Fn() -> Switch>);
    let programs: [Program; 4] = [
        ("native fifo", Box::new(|| native("fifo"))),
        ("native codel", Box::new(|| native("codel"))),
        ("trivial program", Box::new(move || plane(false))),
        ("every packet mirrored", Box::new(move || plane(true))),
    ];
    for (name, program) in programs {
        group.bench_function(name, |b| {
            b.iter_batched(&program, |switch| run(switch, &packet), BatchSize::LargeInput);
        });
    }
    group.finish();
}

criterion_group!(benches, through_the_traffic_manager);
criterion_main!(benches);

//! DualPI2 in P4 against the native discipline: same packets, same random numbers, decision by decision.
//!
//! The native discipline serves two queues that constant loads fill, so that its probability passes through all regimes.
//! Each packet that it sends or drops goes to the program at the same instant with the sojourn time that it had. The
//! program's text differs from the shipped one only in its random numbers, which it takes from the packet's
//! addresses. Nothing reacts to a decision of the program.
//!
//! `cargo test -p sojourn-engine --test engine dualpi2 -- --nocapture` prints the figures of `docs/l4s.md`.

use oorandom::Rand64;
use sojourn_control::ControlPlane;
use sojourn_packet::{
    DataPlane, EgressInput, IngressInput, OnesComplementSum, Packet, PacketId, PacketMetadata,
    PortId, Time,
};
use sojourn_switch::discipline::dualpi2::{DualPi2, Params, Scheduler};
use sojourn_switch::discipline::{Discipline, Drops, Queued};
use sojourn_switch::ecn;
use sojourn_target::{Plane, load};
use std::collections::VecDeque;
use std::path::{Path, PathBuf};

/// A full frame each millisecond.
const SLOT: u64 = 1_000_000;
const T_UPDATE: u64 = 16_000_000;
const SEED: u64 = 7;
const NOT_ECT: u8 = 0;
const ECT_0: u8 = 2;
const BOTTLENECK: PortId = PortId(2);
/// Cells of 80 bytes of a full frame with its bridge header.
const FRAME_CELLS: u32 = 20;

/// Decision about a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Sent,
    Marked,
    Dropped,
}

/// A packet that joins its queue.
#[derive(Clone, Copy, Debug)]
struct Joining {
    codepoint: u8,
    at: u64,
    /// The two random numbers of its decision, of 60 bits.
    numbers: [u64; 2],
}

/// The head of a queue that leaves it.
#[derive(Clone, Copy, Debug)]
struct Leaving {
    l4s: bool,
    now: u64,
    /// Packets behind it in its queue.
    behind: usize,
    native: Fate,
}

/// An event of the trace.
enum Event {
    Joins(Joining),
    Leaves(Leaving),
    /// An update at an instant, with the age of the older head before and the native probability after it.
    Update {
        at: u64,
        delay: u64,
        p: f64,
    },
}

/// Arrivals in a slot, in packets: L4S, Classic that is ECN-capable, Classic that is not.
type Load = [f64; 3];

/// Loads of a second each: both queues below and above the link, Classic alone, L4S alone, overload, silence.
const MIXED: [Load; 8] = [
    [0.4, 0.3, 0.35],
    [0.5, 0.2, 0.4],
    [0.0, 0.5, 0.54],
    [0.6, 0.0, 0.3],
    [0.9, 0.3, 0.3],
    [0.2, 0.2, 0.2],
    [0.0, 0.0, 0.0],
    [0.5, 0.3, 0.25],
];
/// Classic alone, so often that its queue is never empty.
const CLASSIC: [Load; 5] =
    [[0.0, 0.6, 0.45], [0.0, 0.5, 0.51], [0.0, 0.7, 0.31], [0.0, 0.9, 0.4], [0.0, 0.7, 0.32]];

/// The native discipline's course, slot by slot.
struct Course {
    native: DualPi2,
    drops: Drops,
    /// Enqueue times of both queues, L4S and Classic, and the places of these events.
    queues: [VecDeque<(u64, usize)>; 2],
    /// The numbers that the native discipline draws.
    mirror: Rand64,
    events: Vec<Event>,
}

impl Course {
    fn run(params: Params, loads: &[Load]) -> Vec<Event> {
        let mut course = Course {
            native: DualPi2::new(Params { random: Some(SEED), ..params }),
            drops: Drops::default(),
            queues: Default::default(),
            mirror: Rand64::new(SEED.into()),
            events: Vec::new(),
        };
        let mut due: Load = [0.0; 3];
        for slot in 1..=loads.len() as u64 * 1_000 {
            for (kind, codepoint) in [ecn::ECT_1, ECT_0, NOT_ECT].into_iter().enumerate() {
                due[kind] += loads[(slot - 1) as usize / 1_000][kind];
                while due[kind] >= 1.0 {
                    due[kind] -= 1.0;
                    // Somewhere in the slot before, on whole microseconds.
                    course.arrive(slot * SLOT - (kind as u64 + 1) * 217_000, codepoint);
                }
            }
            course.serve(slot * SLOT);
        }
        course.events
    }

    fn arrive(&mut self, at: u64, codepoint: u8) {
        let packet = Queued::new(frame(codepoint, [0; 2]), Time(at));
        self.native.enqueue(Time(at), packet, &mut self.drops);
        self.queues[usize::from(codepoint != ecn::ECT_1)].push_back((at, self.events.len()));
        self.events.push(Event::Joins(Joining { codepoint, at, numbers: [0; 2] }));
    }

    fn serve(&mut self, now: u64) {
        let age = |queue: &VecDeque<(u64, usize)>| queue.front().map_or(0, |(at, _)| now - at);
        let delay = age(&self.queues[0]).max(age(&self.queues[1]));
        let at = self.events.len();
        let sent = self.native.dequeue(Time(now), &mut self.drops);
        let dropped: Vec<_> = self.drops.drain().map(|(packet, _)| packet).collect();
        for (packet, fate) in
            dropped.into_iter().map(|packet| (packet, Fate::Dropped)).chain(sent.map(|packet| {
                let marked = ecn::is_marked(&packet.packet);
                (packet, if marked { Fate::Marked } else { Fate::Sent })
            }))
        {
            let l4s = self.queues[0].front().is_some_and(|(at, _)| *at == packet.enqueued.0);
            let queue = &mut self.queues[usize::from(!l4s)];
            let (enqueued, place) = queue.pop_front().expect("it was there");
            assert_eq!(enqueued, packet.enqueued.0);
            let behind = queue.len();
            if let Event::Joins(joining) = &mut self.events[place] {
                joining.numbers = [(); 2].map(|()| self.mirror.rand_u64() >> 4);
            }
            self.events.push(Event::Leaves(Leaving { l4s, now, behind, native: fate }));
        }
        if now.is_multiple_of(T_UPDATE) {
            let p = self.native.state().p.raw() as f64 / (1u64 << 60) as f64;
            self.events.insert(at, Event::Update { at: now, delay, p });
        }
    }
}

/// A frame from 10.0.0.1 to 10.128.0.1, but for the numbers that its addresses have.
fn frame(codepoint: u8, numbers: [u64; 2]) -> Packet {
    let [one, other] = [(numbers[0] >> 28) as u32, 0x0a80_0000 | (numbers[1] >> 37) as u32];
    let mut packet = Packet { id: PacketId(1), ..Packet::default() };
    packet.bytes.extend_from_slice(&[0, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x08, 0x00]);
    packet.bytes.extend_from_slice(&[0x45, codepoint, 5, 220, 0, 0, 0, 0, 64, 17, 0, 0]);
    packet.bytes.extend_from_slice(&one.to_be_bytes());
    packet.bytes.extend_from_slice(&other.to_be_bytes());
    let sum = OnesComplementSum::default().bytes(&packet.bytes[14..34]);
    let checksum = sum.checksum().to_be_bytes();
    packet.bytes[24..26].copy_from_slice(&checksum);
    packet.bytes.extend_from_slice(&[0, 9, 0, 9, 5, 200, 0, 0]);
    packet.zeros = 1_514 - packet.bytes.len() as u32;
    packet
}

fn p4() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../p4")
}

/// A shipped program whose random numbers are in its packets.
fn program(folder: &str, numbers: &[(&str, &str)]) -> Plane {
    let shipped = p4().join(folder).join("dualpi2.p4");
    let mut text = std::fs::read_to_string(&shipped).expect("it is shipped");
    for (drawn, given) in numbers {
        assert!(text.contains(drawn), "{drawn}");
        text = text.replace(drawn, given);
    }
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("dualpi2_{folder}.p4"));
    std::fs::write(&place, text).expect("a folder for tests");
    let options = sojourn_target::LoadOptions {
        include_paths: vec![p4().join("include"), p4().join(folder), p4().join("tna")],
        ..sojourn_engine::builtin::load_options()
    };
    let mut plane = load(&place, &options).unwrap_or_else(|error| panic!("{error:?}"));
    let control = std::fs::read_to_string(shipped.with_extension("toml")).expect("it is shipped");
    let control: ControlPlane = toml::from_str(&control).expect("a control plane");
    plane.configure(&control).expect("entries that fit the program");
    plane
}

/// Counts of a program's decisions on a trace, compared with those of the native discipline.
#[derive(Debug, Default)]
struct Outcome {
    packets: usize,
    signals: usize,
    /// Packets with another fate than by the native discipline.
    differ: usize,
    updates: usize,
    /// Largest distance of the probability from the native one, as a part of it, where that is above 1 %.
    error: f64,
    /// The same as a difference, over all updates.
    distance: f64,
    highest: f64,
}

struct Judged {
    plane: Plane,
    /// What ingress passed on of the packets in the queues, L4S and Classic, with their times.
    queues: [VecDeque<(Time, Packet, PacketMetadata)>; 2],
    outcome: Outcome,
}

impl Judged {
    fn new(plane: Plane) -> Judged {
        Judged { plane, queues: Default::default(), outcome: Outcome::default() }
    }

    fn joins(&mut self, joining: &Joining) {
        let arrived = Time(joining.at);
        let input = IngressInput { port: PortId(1), arrived, now: arrived, resubmitted: false };
        let admitted = self.plane.ingress(&input, frame(joining.codepoint, joining.numbers));
        let l4s = joining.codepoint == ecn::ECT_1;
        assert_eq!(admitted.admission.unicast, Some(BOTTLENECK));
        assert_eq!(admitted.admission.queue, u8::from(l4s));
        let packet = admitted.packet.expect("forwarded");
        self.queues[usize::from(!l4s)].push_back((arrived, packet, admitted.packet_metadata));
    }

    fn leaves(&mut self, leaving: &Leaving) {
        let Leaving { l4s, now, behind, native } = *leaving;
        let (enqueued, packet, metadata) =
            self.queues[usize::from(!l4s)].pop_front().expect("it has joined");
        let input = EgressInput {
            port: BOTTLENECK,
            queue: u8::from(l4s),
            enqueued,
            dequeued: Time(now),
            now: Time(now),
            dequeue_depth: behind as u32 * FRAME_CELLS,
            dequeue_packets: behind as u32,
            ..EgressInput::default()
        };
        let out = self.plane.egress_carrying(&input, packet, metadata);
        let fate = match out.packet {
            None => Fate::Dropped,
            Some(packet) if ecn::is_marked(&packet) => Fate::Marked,
            Some(_) => Fate::Sent,
        };
        self.outcome.packets += 1;
        self.outcome.signals += usize::from(native != Fate::Sent);
        self.outcome.differ += usize::from(fate != native);
    }

    fn probability(&mut self, native: f64, found: f64) {
        let outcome = &mut self.outcome;
        outcome.updates += 1;
        outcome.distance = outcome.distance.max((found - native).abs());
        outcome.highest = outcome.highest.max(native);
        if native > 0.01 {
            outcome.error = outcome.error.max((found / native - 1.0).abs());
        }
    }

    fn register(&mut self, name: &str) -> u64 {
        let words = self.plane.control().read_register(name, BOTTLENECK.0.into());
        u64::try_from(&words.expect("the program has it")[0]).expect("a word")
    }
}

/// An update on Tofino: a generated packet that waited in the Classic queue.
fn update(judged: &mut Judged, at: u64, delay: u64) {
    let mut packet = Packet { id: PacketId(1), ..Packet::default() };
    packet.bytes.extend_from_slice(&[1, 0, 0, 0, 0, 0, 0, BOTTLENECK.0 as u8]);
    packet.zeros = 58;
    let arrived = Time(at - delay);
    let input = IngressInput { port: PortId(68), arrived, now: arrived, resubmitted: false };
    let admitted = judged.plane.ingress(&input, packet);
    assert_eq!((admitted.admission.unicast, admitted.admission.queue), (Some(BOTTLENECK), 0));
    let (now, enqueued) = (Time(at), arrived);
    let input = EgressInput { port: BOTTLENECK, enqueued, now, ..EgressInput::default() };
    let packet = admitted.packet.expect("forwarded");
    let out = judged.plane.egress_carrying(&input, packet, admitted.packet_metadata);
    assert!(out.packet.is_none(), "it ends in egress");
}

/// The native discipline with the gains of the program, in mHz, and its ramp.
fn params(beta: u64, range: Time) -> Params {
    Params {
        t_update: Time(T_UPDATE),
        gains: (160, beta),
        range,
        scheduler: Scheduler::Weighted(62_500),
        ..Params::default()
    }
}

#[test]
fn on_tofino_the_native_disciplines_packets_are_marked_and_dropped() {
    let plane = program(
        "tna",
        &[
            ("random_one.get()", "hdr.ipv4.source"),
            ("random_other.get()", "hdr.ipv4.destination << 9"),
        ],
    );
    let mut judged = Judged::new(plane);
    for event in Course::run(params(3_201, Time(1 << 19)), &MIXED) {
        match event {
            Event::Joins(joining) => judged.joins(&joining),
            Event::Leaves(leaving) => judged.leaves(&leaving),
            Event::Update { at, delay, p } => {
                update(&mut judged, at, delay);
                let word = judged.register("base") as u32 ^ 1 << 31;
                judged.probability(p, f64::from(word) / f64::from(u32::MAX));
            }
        }
    }
    let Outcome { packets, signals, differ, updates, error, distance, highest } = judged.outcome;
    println!(
        "tna: {packets} packets, {signals} signalled, {differ} differ; {updates} updates, p' up to {highest:.3}"
    );
    println!("tna: p' within {:.3} % of it above 0.01, within {distance:.6}", error * 100.0);
    assert!(packets > 5_000 && signals > 1_500 && updates == 500 && highest > 0.5);
    assert!(error < 0.01 && distance < 0.005);
    assert!(differ * 500 < packets, "{differ} of {packets}");
}

const BMV2_NUMBERS: [(&str, &str); 2] = [
    ("random(one, 0, DUALPI2_ONE - 1)", "one = hdr.ipv4.source ++ 8w0"),
    ("random(other, 0, DUALPI2_ONE - 1)", "other = hdr.ipv4.destination[22:0] ++ 17w0"),
];

fn on_bmv2(loads: &[Load]) -> Outcome {
    let mut judged = Judged::new(program("v1model", &BMV2_NUMBERS));
    let mut pending = None;
    for event in Course::run(params(3_200, Time::from_micros(400)), loads) {
        match event {
            Event::Update { p, .. } => pending = Some(p),
            Event::Joins(joining) => judged.joins(&joining),
            Event::Leaves(leaving) => {
                judged.leaves(&leaving);
                // The first packet of the slot has made the update.
                if let Some(p) = pending.take() {
                    let word = judged.register("p_of");
                    judged.probability(p, word as f64 / (1u64 << 40) as f64);
                }
            }
        }
    }
    judged.outcome
}

#[test]
fn on_bmv2_the_native_disciplines_packets_are_marked_and_dropped() {
    for (name, loads, least) in
        [("Classic", &CLASSIC[..], (4_000, 100, 250)), ("both", &MIXED[..], (5_000, 1_500, 400))]
    {
        let Outcome { packets, signals, differ, updates, error, distance, highest } =
            on_bmv2(loads);
        println!(
            "v1model, {name}: {packets} packets, {signals} signalled, {differ} differ; {updates} updates, p' up to {highest:.3}"
        );
        println!(
            "v1model, {name}: p' within {:.4} % of it above 0.01, within {distance:.6}",
            error * 100.0
        );
        assert!(packets > least.0 && signals > least.1 && updates > least.2);
        assert!(error < 0.01 && distance < 0.0001);
        assert_eq!(differ, 0);
    }
}

#[test]
fn on_bmv2_packets_that_found_the_queue_full_do_not_age() {
    let mut judged = Judged::new(program("v1model", &BMV2_NUMBERS));
    for at in [SLOT, SLOT + 1_000, SLOT + 2_000] {
        judged.joins(&Joining { codepoint: ECT_0, at, numbers: [0; 2] });
    }
    let leaving = |l4s, now| Leaving { l4s, now, behind: 0, native: Fate::Sent };
    judged.leaves(&leaving(false, 2 * SLOT));
    // The two others never come.
    judged.queues[1].clear();
    for slot in 3..1_000 {
        let numbers = [u64::MAX >> 4; 2];
        judged.joins(&Joining { codepoint: ecn::ECT_1, at: slot * SLOT - 1_000, numbers });
        judged.leaves(&leaving(true, slot * SLOT));
        assert_eq!(judged.register("p_of"), 0, "at {slot} ms");
    }
    assert_eq!(judged.outcome.differ, 0);
}

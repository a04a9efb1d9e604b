//! Tests that every replay must pass: copies arrive in time, order is preserved, and the accounts
//! of a synthetic queue are correct.

use super::*;
use crate::config::P4Aqm;
use sojourn_control::ControlPlane;
use sojourn_control::{MirrorSession, SessionDirection};
use sojourn_net::config::NativeAqm;
use sojourn_packet::{
    Admission, DataPlane, EgressDecision, EgressFate, EgressInput, IngressDecision, IngressInput,
    Mirror, MirrorDirection, MirrorOverrides, PacketMetadata, PortId,
};
use sojourn_packet::{Bytes, Packet, Time};
use sojourn_target::target::Target;
use std::sync::{Arc, Mutex};

/// Drops every third packet and requests a copy of it; records the time of each pass.
#[derive(Clone, Default)]
struct EveryThird {
    seen: u64,
    forwards: bool,
    /// Time from which ingress drops, ns; never if it is 0.
    drops_from: u64,
    copies: Arc<Mutex<Vec<(u64, u64)>>>,
    sojourns: Arc<Mutex<Vec<u64>>>,
}

impl DataPlane for EveryThird {
    fn ingress_pass(
        &mut self,
        input: &IngressInput,
        _: &mut Packet,
        _: &mut PacketMetadata,
    ) -> IngressDecision {
        let passes = self.drops_from == 0 || input.now.0 < self.drops_from;
        let unicast = (self.forwards && passes).then_some(PortId(2));
        let admission = Admission { unicast, ..Admission::default() };
        IngressDecision::admit(admission)
    }

    fn egress_pass(
        &mut self,
        input: &EgressInput,
        packet: &mut Packet,
        _: &mut PacketMetadata,
    ) -> EgressDecision {
        if input.mirrored {
            assert_eq!((input.port, packet.len()), (PortId(68), Bytes(100)));
            self.copies.lock().unwrap().push((input.now.0, self.seen));
            return EgressFate::Dropped.into();
        }
        self.sojourns.lock().unwrap().push(input.now.0 - input.enqueued.0);
        self.seen += 1;
        if !self.seen.is_multiple_of(3) {
            return EgressFate::Sent.into();
        }
        let mirror = Some(Box::new(Mirror {
            session: 100,
            direction: MirrorDirection::Egress,
            packet: packet.clone(),
            header_len: 0,
            packet_metadata: PacketMetadata::default(),
            overrides: MirrorOverrides::default(),
        }));
        EgressDecision { mirror, ..EgressDecision::default() }
    }
}

/// The replay of a data plane whose copies return after `latency`.
fn replay_of(plane: EveryThird, latency: u64) -> Replay {
    let session = MirrorSession {
        session: 100,
        direction: SessionDirection::Egress,
        port: Some(68),
        group: None,
        queue: 0,
        max_length: Some(100),
    };
    let control = ControlPlane { mirror_sessions: vec![session], ..ControlPlane::default() };
    let program = Program::new(Box::new(plane), control.mirror_sessions, Time(latency));
    Replay::from_subject(Subject::Program(Box::new(program)))
}

fn row(time: u64) -> Dequeue {
    Dequeue { time: Time(time), sojourn: Time(7), size: 1514, ..Dequeue::default() }
}

fn native(name: &str, parameters: &[(&str, u64)]) -> ReplayConfig {
    let parameters = parameters.iter().map(|(name, value)| ((*name).into(), *value)).collect();
    let aqm = Aqm::Native(NativeAqm { name: name.into(), parameters });
    ReplayConfig { aqm, seed: 1, recirculation_latency: 0 }
}

#[test]
fn a_copy_returns_after_the_latency_and_before_a_packet_of_the_same_instant() {
    let plane = EveryThird { forwards: true, ..EveryThird::default() };
    let (copies, sojourns) = (plane.copies.clone(), plane.sojourns.clone());
    let mut replay = replay_of(plane, 250);
    let decisions: Vec<_> = (1..=7).map(|i| replay.decide(&row(i * 100)).unwrap().bits()).collect();
    // The third packet, at 300, is dropped; its copy comes at 550, so 400 and 500 are early. The
    // sixth is dropped, too.
    let (dropped, early) = (DECISION_DROPPED, DECISION_UNSYNCHRONISED);
    assert_eq!(decisions, [0, 0, dropped, early, early, dropped, early]);
    assert_eq!(*copies.lock().unwrap(), [(550, 5)]);
    assert_eq!(*sojourns.lock().unwrap(), [7; 7]);

    let plane = EveryThird { forwards: true, ..EveryThird::default() };
    let copies = plane.copies.clone();
    let mut replay = replay_of(plane, 200);
    let decisions: Vec<_> = (1..=5).map(|i| replay.decide(&row(i * 100)).unwrap().bits()).collect();
    assert_eq!(decisions, [0, 0, dropped, early, 0]);
    assert_eq!(*copies.lock().unwrap(), [(500, 4)]);
    assert_eq!(replay.copies(), Copies { requested: 1, no_session: 0, passes: 1 });
}

#[test]
fn generated_packets_take_their_passes_between_the_packets_of_the_trace() {
    let plane = EveryThird { forwards: true, ..EveryThird::default() };
    let sojourns = plane.sojourns.clone();
    let applications = serde_json::json!([
        {"app": 7, "trigger": {"periodic": 100}, "packet": "00112233445566778899aa"},
    ]);
    let applications: Vec<_> = serde_json::from_value(applications).unwrap();
    let chip = sojourn_tofino::TOFINO1.switch().packet_generator;
    let generators = switch_setup::generators(&applications, chip, 1).unwrap();
    let program = Program::new(Box::new(plane), Vec::new(), Time(250));
    let program = Box::new(program.with_generators(generators, Vec::new()));
    let mut replay = Replay::from_subject(Subject::Program(program));
    // The generator's packets enter ingress at 100 and 200, and egress at 350 and 450, where their
    // time in the queue is 0.
    let mut seen = |time| {
        replay.decide(&row(time)).unwrap();
        sojourns.lock().unwrap().clone()
    };
    assert_eq!(seen(50), [7]);
    assert_eq!(seen(349), [7, 7]);
    assert_eq!(seen(449), [7, 7, 0, 7]);
    assert_eq!(seen(450), [7, 7, 0, 7, 0, 7]);
    // The limit of copies of copies does not count them: 5,000 follow, all before the next packet.
    assert_eq!(seen(500_450).len(), 6 + 5_000 + 1);
}

#[test]
fn packet_generators_of_a_program_with_a_ghost_thread_are_refused() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../p4");
    let replay = |applications: serde_json::Value| {
        let control = serde_json::json!({ "pktgen": applications });
        let p4 = P4Aqm {
            program: format!("{root}/t2na/ghost_codel.p4"),
            include_paths: vec![format!("{root}/include")],
            control: serde_json::from_value(control).unwrap(),
            ..P4Aqm::default()
        };
        Replay::new(&ReplayConfig { aqm: Aqm::P4(Box::new(p4)), seed: 1, recirculation_latency: 0 })
    };
    assert!(replay(serde_json::json!([])).is_ok());
    let periodic = serde_json::json!([
        {"app": 1, "trigger": {"periodic": 1_000}, "packet": "00".repeat(60)},
    ]);
    let error = replay(periodic).err().expect("it is refused").to_string();
    let reason = "a replay of a program with a ghost thread has no packet generator; a run has one";
    assert_eq!(error, format!("control plane: pktgen[0]: {reason}"));
}

#[test]
fn a_program_that_forwards_nothing_is_an_error_and_not_a_drop() {
    let mut replay = replay_of(EveryThird::default(), 0);
    assert_eq!(replay.decide(&row(100)), Err(ReplayError::NotForwarded { packet: 0 }));
}

#[test]
fn a_program_that_drops_a_later_packet_in_ingress_is_refused_as_deciding_before_the_queue() {
    let plane = EveryThird { forwards: true, drops_from: 300, ..EveryThird::default() };
    let mut replay = replay_of(plane, 0);
    assert!(replay.decide(&row(100)).is_ok());
    assert!(replay.decide(&row(200)).is_ok());
    let error = replay.decide(&row(310)).unwrap_err();
    assert_eq!(error, ReplayError::DecidesBeforeQueue { packet: 2 });
    assert!(!error.to_string().contains("tables"), "{error}");
}

#[test]
fn a_trace_does_not_go_back_in_time() {
    let mut replay = Replay::new(&native("codel", &[])).unwrap();
    replay.decide(&row(100)).unwrap();
    replay.decide(&row(100)).unwrap();
    assert_eq!(replay.decide(&row(99)), Err(ReplayError::Order { packet: 2 }));
}

#[test]
fn only_codel_has_a_law_apart_from_its_queue() {
    let error = Replay::new(&native("pie", &[])).err().unwrap().to_string();
    assert!(error.starts_with("aqm.name = `pie`: allowed is `codel`"), "{error}");
    assert!(Replay::new(&native("codel", &[("ecn", 1)])).is_err());
}

#[test]
fn the_law_drops_at_the_times_of_the_rfc() {
    // A packet a millisecond, each with a sojourn time of 20 ms, from 1000 ms on: the drops of the
    // discipline's own test of constant overload, computed by hand there.
    let ms = 1_000_000;
    let mut replay = Replay::new(&native("codel", &[])).unwrap();
    let mut drops = Vec::new();
    for now in 1000..1602 {
        let row = Dequeue {
            time: Time(now * ms),
            sojourn: Time(20 * ms),
            backlog: Bytes(10_000),
            cells: 130,
            packets: 7,
            size: 1514,
        };
        if replay.decide(&row).unwrap().dropped {
            drops.push(now);
        }
    }
    assert_eq!(drops, [1100, 1200, 1271, 1329, 1379, 1424, 1464, 1502, 1538, 1571]);
}

fn synthetic(profile: Profile, rate: u64, duration: u64) -> SyntheticConfig {
    SyntheticConfig {
        profile,
        rate,
        duration,
        seed: 3,
        start: 3_500_000_000,
        interval: 100_000_000,
        target: 5_000_000,
        packet_size: None,
    }
}

#[test]
fn a_synthetic_queue_is_first_in_first_out_and_never_faster_than_its_line() {
    use Profile::{Bursts, Flicker, Gaps, Pauses, Rates, Wander};
    for profile in [Wander, Bursts, Gaps, Rates, Pauses, Flicker] {
        let rows: Vec<_> =
            Synthetic::new(synthetic(profile, 1_000_000_000, 2_000_000_000)).unwrap().collect();
        assert!(rows.len() > 5_000, "{profile:?}: {}", rows.len());
        for pair in rows.windows(2) {
            // 38 bytes of preamble, FCS and gap, one bit a nanosecond.
            let on_wire = u64::from(pair[0].size.max(60) + 24) * 8;
            assert!(pair[1].time.0 + 1 >= pair[0].time.0 + on_wire);
            let arrived = |row: &Dequeue| row.time - row.sojourn;
            assert!(arrived(&pair[1]) >= arrived(&pair[0]));
        }
        let sizes: std::collections::BTreeSet<_> = rows.iter().map(|row| row.size).collect();
        assert_eq!(sizes.into_iter().collect::<Vec<_>>(), [54, 590, 1514, 4014, 9014]);
    }
}

#[test]
fn the_backlog_is_arrivals_minus_departures() {
    let rows: Vec<_> =
        Synthetic::new(synthetic(Profile::Bursts, 100_000_000, 500_000_000)).unwrap().collect();
    // The followers of the last packets are not in the trace.
    for (i, row) in rows.iter().enumerate().take(rows.len() / 2) {
        let behind = rows[i + 1..].iter().take_while(|next| (next.time - next.sojourn) <= row.time);
        let (bytes, cells) = behind.fold((0, 0), |(bytes, cells), next| {
            (bytes + u64::from(next.size), cells + (next.size + 4).div_ceil(80))
        });
        assert_eq!((row.backlog.0, row.cells), (bytes, cells), "row {i}");
    }
}

#[test]
fn a_flickering_queue_crosses_target_again_and_again() {
    // The load fills the queue up to TARGET first, at a tenth of the line's rate.
    let config = synthetic(Profile::Flicker, 10_000_000_000, 100_000_000);
    let above = Synthetic::new(config).unwrap().map(|row| row.sojourn >= Time::from_millis(5));
    let above: Vec<_> = above.skip_while(|above| !above).collect();
    let crossings = above.windows(2).filter(|pair| pair[0] != pair[1]).count();
    assert!(above.len() > 5_000 && crossings * 100 > above.len(), "{crossings} of {}", above.len());
}

#[test]
fn a_flood_never_lets_the_queue_empty() {
    for profile in [Profile::Flood, Profile::SlowFlood] {
        let rows = Synthetic::new(synthetic(profile, 10_000_000, 20_000_000_000)).unwrap();
        let filled: Vec<_> = rows.skip_while(|row| row.sojourn < Time::from_millis(20)).collect();
        assert!(filled.len() > 500, "{profile:?}: {}", filled.len());
        let low = filled.iter().map(|row| row.sojourn).min().unwrap();
        assert!(low >= Time::from_millis(5), "{profile:?}: {low:?}");
    }
}

#[test]
fn a_queue_of_small_packets_is_held_at_a_part_of_a_full_frame() {
    for (profile, level) in [(Profile::SubMtu, 1_211), (Profile::AroundMtu, 1_900)] {
        let rows: Vec<_> =
            Synthetic::new(synthetic(profile, 2_000_000, 20_000_000_000)).unwrap().collect();
        assert!(rows.iter().all(|row| row.size <= 104));
        let mean = rows.iter().map(|row| row.backlog.0).sum::<u64>() / rows.len() as u64;
        assert!(mean.abs_diff(level) < 350, "{profile:?}: {mean} bytes");
        // More cells than a full frame takes, in fewer bytes than it has.
        let few = rows.iter().filter(|row| row.backlog.0 <= 1_514 && row.cells > 20).count();
        assert!(few * 10 > rows.len(), "{profile:?}: {few} of {}", rows.len());
    }
}

#[test]
fn a_synthetic_trace_depends_on_its_seed_and_on_nothing_else() {
    let config = synthetic(Profile::Wander, 100_000_000, 100_000_000);
    let trace =
        |config: &SyntheticConfig| -> Vec<_> { Synthetic::new(config.clone()).unwrap().collect() };
    assert_eq!(trace(&config), trace(&config));
    assert_ne!(trace(&config), trace(&SyntheticConfig { seed: 4, ..config.clone() }));
}

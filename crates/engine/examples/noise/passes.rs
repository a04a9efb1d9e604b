//! Robustness run of a program: frame after frame through its passes, with the requests that they
//! make.
//!
//! Between the passes a random model replaces the traffic manager: waiting times and depths are
//! drawn, with calm and congested periods, so that an AQM reaches all of its states. Copies,
//! resubmitted and recirculated packets are processed again; a packet with too many passes is
//! dropped.

use super::entries;
use super::frames::{below, frame};
use sojourn_p4::preprocess::{FileLoader, PreprocessOptions, preprocess};
use sojourn_packet::SplitMix64;
use sojourn_packet::{
    DataPlane, EgressInput, IngressInput, IngressOutput, Mirror, PacketMetadata, PortId,
};
use sojourn_packet::{Packet, Time};
use sojourn_target::{Executor, FaultKind, LoadOptions, Plane, load};
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

/// Maximum number of passes caused by one frame.
const PASSES: u32 = 12;
/// Number of frames of one period: calm, or congested.
const MOOD: u64 = 2_000;

/// Results of the frames.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Number of frames sent.
    pub frames: u64,
    /// Number of passes.
    pub passes: u64,
    /// Number of packets sent by egress.
    pub sent: u64,
    /// Requested copies.
    pub copies: u64,
    /// Number of parsers that ended in an error.
    pub parser_errors: u64,
    /// Number of failed assertions of the program.
    pub failed_claims: u64,
    /// The first read of a field of an invalid header, if there was one.
    pub invalid_read: Option<String>,
    /// Digest of all output, the remaining state, faults and logs.
    pub digest: u64,
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Tally { frames, passes, sent, copies, parser_errors, failed_claims, .. } = self;
        write!(
            f,
            "{frames} frames in {passes} passes: {sent} packets out, {copies} copies, \
             {parser_errors} parser errors, {failed_claims} failed claims"
        )?;
        self.invalid_read.iter().try_for_each(|read| write!(f, "; {read}"))
    }
}

enum Turn {
    Ingress { packet: Packet, packet_metadata: PacketMetadata, resubmitted: bool },
    Egress { packet: Packet, packet_metadata: PacketMetadata, port: PortId, mirrored: bool },
}

struct Fire {
    plane: Plane,
    random: SplitMix64,
    now: Time,
    tally: Tally,
    /// Present if digests are compared.
    digest: Option<DefaultHasher>,
}

/// The folder of the repository with this name.
pub fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name)
}

/// The programs in a folder, in the order of their names; included files are left out.
pub fn programs(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let is_program = |path: &PathBuf| path.extension().is_some_and(|e| e == "p4") && has_main(path);
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(is_program).collect();
    found.sort();
    found
}

/// True if a file, with its includes, ends in an instance of a package called `main`.
fn has_main(path: &Path) -> bool {
    let include_paths = vec![folder("p4/include")];
    let options = PreprocessOptions { include_paths, ..PreprocessOptions::default() };
    let tokens = preprocess(&FileLoader, path, &options).tokens;
    tokens.windows(2).any(|pair| pair[0].spelling() == "main" && pair[1].spelling() == ";")
}

/// Sends `frames` frames into the program in the file `program`.
///
/// # Panics
/// The program, or its executor, fails in a way that no frame may cause.
#[allow(dead_code)] // The example always compares.
pub fn withstand(program: &Path, frames: u64, seed: u64) -> Tally {
    send(program, frames, seed, Executor::default(), None)
}

/// [`withstand`] with a chosen executor, and a digest, which is the same for all of them.
///
/// # Panics
/// As [`withstand`].
pub fn withstand_by(program: &Path, frames: u64, seed: u64, executor: Executor) -> Tally {
    send(program, frames, seed, executor, Some(DefaultHasher::new()))
}

fn send(
    program: &Path,
    frames: u64,
    seed: u64,
    executor: Executor,
    digest: Option<DefaultHasher>,
) -> Tally {
    let include_paths = vec![folder("p4/include")];
    let options =
        LoadOptions { include_paths, seed, executor, ..sojourn_engine::builtin::load_options() };
    let plane = load(program, &options).unwrap_or_else(|error| panic!("{error}"));
    let mut fire = Fire {
        plane,
        random: SplitMix64::new(seed),
        now: Time::from_secs(1),
        tally: Tally::default(),
        digest,
    };
    entries::install(&mut fire.plane, program, &mut fire.random);
    for number in 0..frames {
        fire.frame(number);
    }
    fire.judge(program)
}

impl Fire {
    fn below(&mut self, end: u64) -> u64 {
        below(&mut self.random, end)
    }

    fn frame(&mut self, number: u64) {
        let congested = (number / MOOD) % 2 == 1;
        self.tally.frames += 1;
        let longest = if self.below(64) == 0 { 200_000_000 } else { 100_000 };
        let pause = self.below(longest);
        self.now += Time(pause);
        let packet = frame(&mut self.random);
        let port = PortId(self.below(if number.is_multiple_of(2) { 4 } else { 512 }) as u16);
        let mut turns = vec![Turn::Ingress {
            packet,
            packet_metadata: PacketMetadata::default(),
            resubmitted: false,
        }];
        for _ in 0..PASSES {
            let Some(turn) = turns.pop() else { return };
            self.tally.passes += 1;
            match turn {
                Turn::Ingress { packet, packet_metadata, resubmitted } => {
                    self.ingress(port, packet, packet_metadata, resubmitted, &mut turns);
                }
                Turn::Egress { packet, packet_metadata, port, mirrored } => {
                    let input = self.leaving(port, &packet, mirrored, congested);
                    self.egress(&input, packet, packet_metadata, &mut turns);
                }
            }
        }
    }

    fn ingress(
        &mut self,
        port: PortId,
        packet: Packet,
        packet_metadata: PacketMetadata,
        resubmitted: bool,
        turns: &mut Vec<Turn>,
    ) {
        let arrived = self.now;
        self.now += Time(600);
        let input = IngressInput { port, arrived, now: self.now, resubmitted };
        let out = self.plane.ingress_carrying(&input, packet, packet_metadata);
        let IngressOutput {
            packet,
            admission,
            mirror,
            resubmit,
            packet_metadata,
            parser_rejected,
            ..
        } = out;
        // The metadata of a packet is visible in the next pass, as far as it is read.
        self.note(&(&packet, admission, &resubmit, parser_rejected));
        self.tally.parser_errors += u64::from(parser_rejected);
        self.copy(mirror, turns);
        if let Some(packet) = resubmit {
            turns.push(Turn::Ingress { packet, packet_metadata, resubmitted: true });
        } else if let Some(packet) = packet {
            let port = admission.unicast.unwrap_or(PortId(1));
            turns.push(Turn::Egress { packet, packet_metadata, port, mirrored: false });
        }
    }

    fn copy(&mut self, mirror: Option<Mirror>, turns: &mut Vec<Turn>) {
        if let Some(Mirror { session, direction, packet, header_len, packet_metadata, .. }) = mirror
        {
            self.note(&(session, direction, &packet, header_len));
            self.tally.copies += 1;
            let port = PortId(if self.below(2) == 0 { 68 } else { 3 });
            turns.push(Turn::Egress { packet, packet_metadata, port, mirrored: true });
        }
    }

    /// Output of the traffic manager model.
    fn leaving(
        &mut self,
        port: PortId,
        packet: &Packet,
        mirrored: bool,
        congested: bool,
    ) -> EgressInput {
        let wait = if congested { 10_000_000 + self.below(90_000_000) } else { self.below(4_000) };
        let enqueued = self.now.saturating_sub(Time(wait));
        let turn = self.below(2_000);
        self.now += Time(turn);
        let depth = if congested { 1_000 + self.below(20_000) } else { self.below(4) } as u32;
        EgressInput {
            port,
            queue: self.below(8) as u8,
            enqueued,
            dequeued: self.now,
            now: self.now,
            enqueue_depth: depth,
            dequeue_depth: self.below(u64::from(depth) + 1) as u32,
            enqueue_packets: depth / 8,
            dequeue_packets: depth / 9,
            rid: self.below(4) as u16,
            length: packet.len().0 as u32 + 4,
            mirrored,
            ..EgressInput::default()
        }
    }

    fn egress(
        &mut self,
        input: &EgressInput,
        packet: Packet,
        packet_metadata: PacketMetadata,
        turns: &mut Vec<Turn>,
    ) {
        let out = self.plane.egress_carrying(input, packet, packet_metadata);
        self.note(&(&out.packet, out.recirculate, out.parser_rejected));
        self.tally.parser_errors += u64::from(out.parser_rejected);
        self.copy(out.mirror, turns);
        let Some(packet) = out.packet else { return };
        self.tally.sent += 1;
        if out.recirculate || input.port == PortId(68) {
            turns.push(Turn::Ingress {
                packet,
                packet_metadata: out.packet_metadata,
                resubmitted: false,
            });
        }
    }

    /// Checks the results; a program may fail its own assertions and read fields of invalid
    /// headers, but have no other faults.
    fn judge(mut self, program: &Path) -> Tally {
        self.what_is_left();
        for fault in self.plane.faults() {
            if fault.kind == FaultKind::InvalidRead.name() {
                let place = fault.place.unwrap_or_default();
                let said =
                    format!("{} invalid reads, the first: {} at {place}", fault.count, fault.first);
                self.tally.invalid_read = Some(said);
                continue;
            }
            assert_eq!(
                fault.kind,
                FaultKind::FailedClaim.name(),
                "{}: {fault:?}",
                program.display()
            );
            self.tally.failed_claims += fault.count;
        }
        self.tally
    }

    /// Adds a value to the digest.
    fn note(&mut self, out: &dyn fmt::Debug) {
        self.digest.iter_mut().for_each(|digest| format!("{out:?}").hash(digest));
    }

    /// Adds the state of registers and counters, and the log, to the digest.
    fn what_is_left(&mut self) {
        let Fire { plane, digest: Some(digest), .. } = self else { return };
        for register in plane.control().registers() {
            (0..register.cells()).for_each(|cell| register.read(cell).hash(digest));
        }
        format!("{:?}", plane.control().parts().counters).hash(digest);
        format!("{:?} {:?}", plane.faults(), plane.take_log()).hash(digest);
        self.tally.digest = digest.finish();
    }
}

//! The shipped program with its control plane, driven packet by packet, its copies carried round.
//!
//! A packet is one ingress pass at its arrival and one egress pass at its departure. A copy returns
//! to egress a microsecond after the pass that requested it, unless it is lost.

use super::rfc8289::{INTERVAL, spacing};
use serde_json::{Value, json};
use sojourn_control::RuntimeControl;
use sojourn_packet::{DataPlane, EgressInput, IngressInput, PortId};
use sojourn_packet::{Packet, Time};
use sojourn_tofino::{Clock, ControlPlane, LoadOptions, Tofino, load};
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Latency of a copy, ns.
pub const RECIRCULATION: i64 = 1_000;
/// The first instant of all tests, far enough from 0 for any sojourn time.
pub const START: i64 = 10_000_000_000;

const RECIRCULATION_PORT: PortId = PortId(68);

/// Fate of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Sent,
    Marked,
    Dropped,
}

/// A packet as it leaves the queue.
#[derive(Clone, Copy, Debug)]
pub struct Departure {
    pub now: i64,
    pub sojourn: i64,
    /// Cells of 80 bytes behind it.
    pub cells: u32,
    pub port: u16,
    pub queue: u8,
    /// Its ECN field.
    pub ecn: u8,
    pub ipv6: bool,
    /// Bytes behind its 60 bytes of headers.
    pub payload: u32,
}

impl Default for Departure {
    fn default() -> Departure {
        Departure {
            now: START,
            sojourn: 0,
            cells: 1_000,
            port: 2,
            queue: 0,
            ecn: 0,
            ipv6: false,
            payload: 1_440,
        }
    }
}

/// RFC 8289's variables as the program has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// The low 32 bits.
    pub drop_next: u32,
    pub count: u32,
    pub last_count: u32,
}

pub struct Rig {
    pub plane: Tofino,
    copies: VecDeque<(i64, Packet)>,
    /// Selects the lost copies, by the number of earlier copies.
    pub lose: Box<dyn FnMut(u64) -> bool>,
    pub sent_copies: u64,
    pub lost: u64,
}

impl Rig {
    pub fn new() -> Rig {
        Rig::with(&[], 0)
    }

    /// The program with macros defined, the chip's clock at `offset` when time is 0.
    pub fn with(defines: &[(&str, &str)], offset: u64) -> Rig {
        let folder = p4_folder();
        let options = LoadOptions {
            include_paths: vec![folder.join("include")],
            defines: defines.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect(),
            clock: Clock { offset: Time(offset), timestamp_shift: 0 },
            ..LoadOptions::default()
        };
        let loaded = load(folder.join("tna/codel_exact.p4"), &options);
        let mut plane = loaded.unwrap_or_else(|error| panic!("{}", error.render(&<_>::default())));
        plane.configure(control_plane()).expect("the control plane fits");
        Rig { plane, copies: VecDeque::new(), lose: Box::new(|_| false), sent_copies: 0, lost: 0 }
    }

    /// Lets a packet leave.
    pub fn leave(&mut self, packet: Departure) -> Verdict {
        self.pass(packet).map_or(Verdict::Dropped, |frame| match ecn_of(&frame) {
            3 if packet.ecn != 3 => Verdict::Marked,
            _ => Verdict::Sent,
        })
    }

    /// The same, with the frame that was sent.
    pub fn pass(&mut self, packet: Departure) -> Option<Packet> {
        self.deliver_until(packet.now);
        let arrival = Time((packet.now - packet.sojourn) as u64);
        let input =
            IngressInput { port: PortId(1), arrived: arrival, now: arrival, resubmitted: false };
        let queued = self.plane.ingress(&input, frame(&packet)).packet.expect("a route");
        let input = EgressInput {
            port: PortId(packet.port),
            queue: packet.queue,
            now: Time(packet.now as u64),
            dequeue_depth: packet.cells,
            length: queued.len().0 as u32 + 4,
            ..EgressInput::default()
        };
        let out = self.plane.egress(&input, queued);
        if let Some(mirror) = out.mirror {
            if (self.lose)(self.sent_copies) {
                self.lost += 1;
            } else {
                self.copies.push_back((packet.now + RECIRCULATION, mirror.packet));
            }
            self.sent_copies += 1;
        }
        out.packet
    }

    /// Lets the copies come back that are due by `now`.
    pub fn deliver_until(&mut self, now: i64) {
        while self.copies.front().is_some_and(|(due, _)| *due <= now) {
            let Some((due, copy)) = self.copies.pop_front() else { return };
            let input = EgressInput {
                port: RECIRCULATION_PORT,
                now: Time(due as u64),
                length: copy.len().0 as u32 + 4,
                mirrored: true,
                ..EgressInput::default()
            };
            let out = self.plane.egress(&input, copy);
            assert!(out.packet.is_none() && out.mirror.is_none(), "a copy ends in egress");
        }
    }

    /// The program's state of a queue.
    pub fn memory(&mut self, port: u16, queue: u8) -> Memory {
        let mut words =
            |name| self.plane.read_register(name, cell(port, queue)).expect("a register");
        let word = |word| u32::try_from(word).expect("32 bits");
        let (schedule, last_count) = (words("schedule"), words("last_count"));
        Memory {
            drop_next: word(&schedule[0]),
            // Both registers hold one more than the RFC's variables, and 0 before the first cycle.
            count: word(&schedule[1]).saturating_sub(1),
            last_count: word(&last_count[0]).saturating_sub(1),
        }
    }

    /// Whether the last packet of a queue was above TARGET, with more than one packet behind it.
    pub fn above(&mut self, port: u16, queue: u8) -> bool {
        self.plane.read_register("above", cell(port, queue)).expect("a register")[0] == 1u32.into()
    }

    /// Sets drop_next and count.
    pub fn set_schedule(&mut self, port: u16, queue: u8, drop_next: u32, count: u32) {
        let words = [drop_next.into(), (count + 1).into()];
        self.plane.write_register("schedule", Some(cell(port, queue)), &words).expect("a register");
    }

    /// Copies that were sent and never came back, as an operator reads it.
    pub fn lost_copies(&mut self, port: u16, queue: u8) -> u64 {
        let mut count = |name| self.plane.read_counter(name, cell(port, queue)).unwrap().packets;
        count("copies_sent") - count("copies_used")
    }
}

pub fn p4_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../p4")
}

fn cell(port: u16, queue: u8) -> usize {
    usize::from(port) << 5 | usize::from(queue)
}

/// The shipped control plane, its control law computed here by other means than shipped.
fn control_plane() -> &'static ControlPlane {
    static CONTROL: OnceLock<ControlPlane> = OnceLock::new();
    CONTROL.get_or_init(|| {
        let text = std::fs::read_to_string(p4_folder().join("tna/codel_exact.toml")).unwrap();
        let mut control: Value = toml::from_str(&text).unwrap();
        for table in control["tables"].as_array_mut().unwrap() {
            let table = table.as_object_mut().unwrap();
            if table.remove("entries_from").is_none() {
                continue;
            }
            let beyond = table["name"].as_str().unwrap().ends_with("beyond");
            table.insert("entries".into(), if beyond { law_beyond() } else { law() });
        }
        serde_json::from_value(control).unwrap()
    })
}

fn law() -> Value {
    let entry = |count| {
        json!({"match": {"md.count": count}, "action": "set_spacing",
               "args": {"ns": spacing(count)}})
    };
    (1..16_384).map(entry).collect()
}

fn law_beyond() -> Value {
    let octave = |exponent: u32| {
        (0..256u64).map(move |i| {
            let group = 1u64 << (exponent - 8);
            let low = (1u64 << exponent) + i * group;
            let middle = (low as f64 * (low + group - 1) as f64).sqrt();
            let ns = (INTERVAL as f64 / middle.sqrt()).round() as u64;
            json!({"match": {"md.count": {"value": low, "mask": (1u64 << 32) - group}},
                   "action": "set_rough_spacing", "args": {"ns": ns}})
        })
    };
    (14..32).flat_map(octave).collect()
}

/// A frame from a client to a server.
fn frame(packet: &Departure) -> Packet {
    let mut bytes = vec![0; 12];
    if packet.ipv6 {
        bytes.extend([0x86, 0xdd, 0x60, packet.ecn << 4, 0, 0, 5, 0, 6, 64]);
        bytes.extend([0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
        bytes.extend([0xfd, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1]);
    } else {
        let at = bytes.len() + 2;
        bytes.extend([0x08, 0x00, 0x45, packet.ecn, 5, 0xdc, 0, 1, 0x40, 0, 64, 6, 0, 0]);
        bytes.extend([10, 0, 0, 1, 10, 128, 0, 1]);
        let sum = !ones_complement_sum(&bytes[at..at + 20]);
        bytes[at + 10..at + 12].copy_from_slice(&sum.to_be_bytes());
    }
    bytes.extend([0; 26]);
    Packet { bytes, zeros: packet.payload, ..Packet::default() }
}

/// The ECN field of a frame that came out.
fn ecn_of(frame: &Packet) -> u8 {
    match frame.bytes[12] {
        0x86 => frame.bytes[15] >> 4 & 3,
        _ => frame.bytes[15] & 3,
    }
}

/// RFC 1071. An IPv4 header is intact if it comes to 0xffff.
pub fn ones_complement_sum(bytes: &[u8]) -> u16 {
    let words = bytes.chunks(2).map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]])));
    let sum: u32 = words.sum();
    let folded = (sum & 0xffff) + (sum >> 16);
    ((folded & 0xffff) + (folded >> 16)) as u16
}

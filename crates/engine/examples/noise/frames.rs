//! Frames for robustness tests: noise, and valid frames with a fault.
//!
//! Uses a random number generator only; must not depend on the program that receives the frame.

use sojourn_packet::Packet;
use sojourn_packet::SplitMix64;

/// Maximum size of a frame: a jumbo frame.
const LONGEST: usize = 9_000;

/// A number below `end`.
pub fn below(random: &mut SplitMix64, end: u64) -> u64 {
    random.next() % end
}

/// One frame: real bytes, sometimes followed by counted zeros.
pub fn frame(random: &mut SplitMix64) -> Packet {
    let mut bytes = match below(random, 4) {
        0 => noise(random),
        _ => valid(random),
    };
    for _ in 0..below(random, 4) {
        disturb(random, &mut bytes);
    }
    let zeros = if below(random, 2) == 0 { 0 } else { below(random, 1_500) as u32 };
    Packet { bytes, zeros, ..Packet::default() }
}

fn noise(random: &mut SplitMix64) -> Vec<u8> {
    let most = if below(random, 100) == 0 { LONGEST as u64 } else { 128 };
    let length = below(random, most + 1);
    (0..length).map(|_| random.next() as u8).collect()
}

fn bytes_of(random: &mut SplitMix64, count: usize) -> Vec<u8> {
    (0..count).map(|_| random.next() as u8).collect()
}

/// Ethernet, perhaps with VLAN tags, and a valid header behind it.
fn valid(random: &mut SplitMix64) -> Vec<u8> {
    let mut frame = bytes_of(random, 12);
    for _ in 0..below(random, 8).saturating_sub(5) {
        frame.extend([0x81, 0x00, 0x00, random.next() as u8]);
    }
    match below(random, 8) {
        0..=3 => ipv4(random, &mut frame),
        4..=5 => ipv6(random, &mut frame),
        6 => {
            frame.extend([0x08, 0x06, 0, 1, 8, 0, 6, 4, 0, 1]);
            frame.extend(bytes_of(random, 20));
        }
        _ => frame.extend(bytes_of(random, 48)),
    }
    frame
}

fn ipv4(random: &mut SplitMix64, frame: &mut Vec<u8>) {
    let options = if below(random, 4) == 0 { below(random, 11) as usize } else { 0 };
    let (protocol, segment) = segment(random);
    let total = (20 + 4 * options + segment.len()) as u16;
    frame.extend([0x08, 0x00]);
    let begin = frame.len();
    frame.extend([0x45 + options as u8, random.next() as u8]);
    frame.extend(total.to_be_bytes());
    frame.extend([0, 0, 0x40, 0, below(random, 4) as u8 * 21, protocol, 0, 0]);
    // 10/8, which the built-in programs route, half of the time.
    let network = if below(random, 2) == 0 { 10 } else { random.next() as u8 };
    frame.extend([10, 0, 0, 1, network, random.next() as u8, 0, 1]);
    frame.extend(bytes_of(random, 4 * options));
    let sum = checksum(&frame[begin..]);
    frame[begin + 10..begin + 12].copy_from_slice(&sum.to_be_bytes());
    frame.extend(segment);
}

/// The Internet checksum (RFC 1071) of whole words.
fn checksum(bytes: &[u8]) -> u16 {
    let words = bytes.chunks_exact(2).map(|word| u32::from(u16::from_be_bytes([word[0], word[1]])));
    let sum: u32 = words.sum();
    let sum = (sum & 0xffff) + (sum >> 16);
    !((sum & 0xffff) + (sum >> 16)) as u16
}

fn ipv6(random: &mut SplitMix64, frame: &mut Vec<u8>) {
    let (protocol, segment) = segment(random);
    frame.extend([0x86, 0xdd, 0x60, random.next() as u8, 0, 0]);
    frame.extend((segment.len() as u16).to_be_bytes());
    frame.extend([protocol, below(random, 4) as u8 * 21]);
    for _ in 0..2 {
        frame.extend([0xfd, 0, 0, 0, 0, 0, 0, below(random, 2) as u8]);
        frame.extend(bytes_of(random, 8));
    }
    frame.extend(segment);
}

/// A protocol's number, and its header with some payload.
fn segment(random: &mut SplitMix64) -> (u8, Vec<u8>) {
    let payload = below(random, 64) as usize;
    match below(random, 4) {
        0 | 1 => {
            let options = below(random, 11) as usize;
            let mut tcp = bytes_of(random, 20 + 4 * options + payload);
            tcp[12] = (5 + options as u8) << 4;
            (6, tcp)
        }
        2 => {
            let mut udp = bytes_of(random, 8 + payload);
            udp[4..6].copy_from_slice(&(8 + payload as u16).to_be_bytes());
            (17, udp)
        }
        _ => (random.next() as u8, bytes_of(random, payload)),
    }
}

/// Introduces one fault: a bit, a length, the end, the middle, the size.
fn disturb(random: &mut SplitMix64, frame: &mut Vec<u8>) {
    let at = below(random, frame.len() as u64 + 1) as usize;
    match below(random, 8) {
        0 => frame.truncate(at),
        1 | 2 => {
            if let Some(byte) = frame.get_mut(at) {
                *byte ^= 1 << below(random, 8);
            }
        }
        // Offsets of the lengths of IPv4, IPv6, TCP and UDP, if present.
        3 | 4 => {
            let places = [14, 16, 17, 18, 19, 23, 38, 39, 46];
            let place = places[below(random, places.len() as u64) as usize];
            if let Some(byte) = frame.get_mut(place) {
                *byte = random.next() as u8;
            }
        }
        5 => {
            let count = below(random, 8) as usize;
            let extra = bytes_of(random, count);
            frame.splice(at..at, extra);
        }
        6 => {
            let end = (at + below(random, 8) as usize).min(frame.len());
            frame.drain(at..end);
        }
        _ if below(random, 50) == 0 => frame.resize(LONGEST, random.next() as u8),
        _ => frame.extend([random.next() as u8]),
    }
}

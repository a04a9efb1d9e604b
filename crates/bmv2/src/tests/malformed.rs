//! Packets that are too short, too long, or inconsistent: parser errors of v1model, and no panic.

use super::{Parts, frame};
use sojourn_packet::Packet;

const NOTE: &str = "h.note.setValid(); h.note.d = (bit<32>) errors(s.parser_error);";

/// The errors of the language as numbers that a test can read.
const TYPES: &str = "
error { Odd }
header tag_t { bit<15> value; bit<1> last; }
header options_t { bit<8> length; varbit<128> data; }
bit<8> errors(in error e) {
    if (e == error.NoError) { return 0; }
    if (e == error.PacketTooShort) { return 1; }
    if (e == error.StackOutOfBounds) { return 2; }
    if (e == error.HeaderTooShort) { return 3; }
    if (e == error.NoMatch) { return 4; }
    if (e == error.Odd) { return 5; }
    return 99;
}";

fn parts() -> Parts<'static> {
    Parts {
        types: TYPES,
        headers: "tag_t[3] tags; options_t options;",
        parser: "transition select(h.eth.kind) {
            0x8100: tag; 0x1111: options; 0x2222: odd; 0x3333: none; default: accept; }",
        states: "
            state tag {
                p.extract(h.tags.next);
                transition select(h.tags.last.last) { 0: tag; 1: accept; }
            }
            state options {
                p.extract(h.options, (bit<32>) p.lookahead<bit<8>>() * 8);
                transition accept;
            }
            state odd { verify(p.lookahead<bit<1>>() == 0, error.Odd); transition accept; }
            state none { transition select(h.eth.dst) { 5: accept; } }",
        ingress: ("", NOTE),
        emit: "p.emit(h.tags); p.emit(h.options);",
        ..Parts::default()
    }
}

/// The error's number, and the bytes sent behind the note.
fn parsed(packet: &[u8]) -> (u64, Vec<u8>) {
    let sent = parts().load().both(packet).expect("no error drops a packet");
    // The note follows Ethernet, if that was parsed.
    let at = if packet.len() >= 14 { 14 } else { 0 };
    let number = sent[at + 4..at + 8].iter().fold(0, |n, byte| n << 8 | u64::from(*byte));
    (number, sent[at + 14..].to_vec())
}

#[test]
fn a_parser_error_is_reported_to_ingress_and_the_packet_goes_on() {
    let cases: [(&str, Vec<u8>, u64); 6] = [
        ("nothing wrong", frame(0x800, &[1, 2, 3]), 0),
        ("a tag that is cut off", frame(0x8100, &[0, 0, 7]), 1),
        ("four tags for a stack of three", frame(0x8100, &[0, 2, 0, 4, 0, 6, 0, 9]), 2),
        ("17 bytes of options for a field of 16", frame(0x1111, &[17; 30]), 3),
        ("verify that fails", frame(0x2222, &[0x80]), 5),
        ("no case of the select", frame(0x3333, &[]), 4),
    ];
    for (what, packet, error) in cases {
        assert_eq!(parsed(&packet).0, error, "{what}");
    }
}

#[test]
fn unparsed_bytes_are_payload() {
    // Two tags are extracted, the third is truncated: its one byte is payload.
    let (_, rest) = parsed(&frame(0x8100, &[0, 2, 0, 4, 9]));
    assert_eq!(rest, [0, 2, 0, 4, 9]);
}

#[test]
fn a_packet_shorter_than_its_first_header_is_payload_as_a_whole() {
    for length in 0..14 {
        let (error, rest) = parsed(&[7; 14][..length]);
        assert_eq!((error, rest), (1, vec![7; length]));
    }
}

#[test]
fn a_length_that_lies_about_the_packet_is_too_short() {
    assert_eq!(parsed(&frame(0x1111, &[16, 1, 2, 3])).0, 1);
}

#[test]
fn a_frame_of_9000_bytes_passes_with_its_payload() {
    let mut pass = parts().load();
    let bytes = frame(0x800, &[3; 100]);
    let jumbo = Packet { bytes, zeros: 9_000 - 114, ..Packet::default() };
    let out = pass.ingress_again(jumbo, Default::default());
    let sent = pass.egress(out).packet.unwrap();
    assert_eq!(sent.len().0, 9_000 + 14);
    assert_eq!(sent.zeros, 9_000 - 114);
}

/// Frames of any length whose types reach every state; none may panic, be dropped or halt.
#[test]
fn random_frames_pass_without_a_panic() {
    let mut pass = parts().load();
    let mut random = sojourn_packet::SplitMix64::new(7);
    let kinds = [0x8100u16, 0x1111, 0x2222, 0x3333, 0x800];
    for round in 0..100_000u32 {
        let length = random.up_to(64) as usize;
        let mut packet: Vec<u8> = (0..length).map(|_| random.next() as u8).collect();
        if length >= 14 {
            let kind = kinds[round as usize % kinds.len()];
            packet[12..14].copy_from_slice(&kind.to_be_bytes());
        }
        assert!(pass.both(&packet).is_some(), "{packet:?}");
    }
    assert_eq!(pass.plane.faults().halted.count, 0);
}

//! `verify_checksum` and `update_checksum`, with and without the payload.

use super::{Parts, frame};

/// IPv4 without options, parsed behind Ethernet.
const TYPES: &str = "header ip_t {
    bit<4> version; bit<4> ihl; bit<8> tos; bit<16> len; bit<16> id; bit<3> flags; bit<13> off;
    bit<8> ttl; bit<8> proto; bit<16> sum; bit<32> src; bit<32> dst; }
header udp_t { bit<16> sport; bit<16> dport; bit<16> len; bit<16> sum; }";
const FIELDS: &str = "{ h.ip.version, h.ip.ihl, h.ip.tos, h.ip.len, h.ip.id, h.ip.flags, h.ip.off,
    h.ip.ttl, h.ip.proto, h.ip.src, h.ip.dst }";

/// The header of RFC 1071's usual example: its checksum is 0xb861.
const IP: [u8; 20] = [
    0x45, 0, 0, 0x73, 0, 0, 0x40, 0, 0x40, 0x11, 0xb8, 0x61, 0xc0, 0xa8, 0, 1, 0xc0, 0xa8, 0, 0xc7,
];

fn parts<'t>(verify: &'t str, compute: &'t str, ingress: &'t str) -> Parts<'t> {
    Parts {
        types: TYPES,
        headers: "ip_t ip; udp_t udp;",
        parser: "transition select(h.eth.kind) { 0x800: ip; default: accept; }",
        states: "state ip { p.extract(h.ip); transition select(p.lookahead<bit<8>>()) {
                     0xff: accept; default: udp; } }
                 state udp { p.extract(h.udp); transition accept; }",
        verify,
        ingress: ("", ingress),
        compute,
        emit: "p.emit(h.ip); p.emit(h.udp);",
        ..Parts::default()
    }
}

const NOTE: &str = "h.note.setValid(); h.note.a = (bit<8>) s.checksum_error;";

#[test]
fn a_wrong_checksum_is_reported_to_ingress_and_drops_nothing() {
    let verify = format!("verify_checksum(true, {FIELDS}, h.ip.sum, HashAlgorithm.csum16);");
    let mut pass = parts(&verify, "", NOTE).load();
    let mut packet = frame(0x800, &[IP.as_slice(), &[0xff; 8]].concat());
    assert_eq!(pass.note(&packet)[0], 0);
    packet[14 + 8] -= 1;
    assert_eq!(pass.note(&packet)[0], 1);
    packet[14 + 8] += 1;
    assert_eq!(pass.note(&packet)[0], 0, "the next packet begins without the error");
}

#[test]
fn a_condition_that_does_not_hold_and_a_header_that_is_not_there_verify() {
    let sum = format!("{FIELDS}, h.ip.sum, HashAlgorithm.csum16");
    let never = format!("verify_checksum(h.ip.ttl == 0, {sum});");
    let always = format!("verify_checksum(true, {sum});");
    let mut wrong = frame(0x800, &[IP.as_slice(), &[0xff; 8]].concat());
    wrong[24] = 0;
    assert_eq!(parts(&never, "", NOTE).load().note(&wrong)[0], 0);
    assert_eq!(parts(&always, "", NOTE).load().note(&frame(0x806, &[7; 28]))[0], 0);
    assert_eq!(parts(&always, "", NOTE).load().note(&wrong)[0], 1);
}

#[test]
fn an_update_writes_the_checksum_of_the_fields_as_egress_has_left_them() {
    let compute =
        format!("update_checksum(h.ip.isValid(), {FIELDS}, h.ip.sum, HashAlgorithm.csum16);");
    let mut packet = frame(0x800, &[IP.as_slice(), &[0xff; 8]].concat());
    (packet[24], packet[25]) = (0, 0);
    let sent = parts("", &compute, "").load().both(&packet).unwrap();
    assert_eq!(sent[24..26], [0xb8, 0x61]);
    // A TTL lower by one raises the checksum's upper byte by one (RFC 1141).
    let sent = parts("", &compute, "h.ip.ttl = h.ip.ttl - 1;").load().both(&packet).unwrap();
    assert_eq!(sent[24..26], [0xb9, 0x61]);
}

/// Source, destination, protocol and length as UDP's pseudo header, then UDP without its checksum.
const UDP: &str = "{ h.ip.src, h.ip.dst, 8w0, h.ip.proto, h.udp.len, h.udp.sport, h.udp.dport,
    h.udp.len }";

/// The Internet checksum by another method: 16-bit words added up in 64 bits, folded at the end.
fn internet_checksum(bytes: &[u8]) -> u16 {
    let words = bytes
        .chunks(2)
        .map(|pair| u64::from(pair[0]) << 8 | u64::from(pair.get(1).copied().unwrap_or(0)));
    let mut sum: u64 = words.sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

#[test]
fn a_checksum_with_payload_covers_everything_behind_the_last_parsed_bit() {
    let compute = format!(
        "update_checksum_with_payload(h.udp.isValid(), {UDP}, h.udp.sum, HashAlgorithm.csum16);"
    );
    let verify = format!(
        "verify_checksum_with_payload(h.udp.isValid(), {UDP}, h.udp.sum, HashAlgorithm.csum16);"
    );
    for payload in [&b""[..], b"x", b"an odd payload!", b"an even payload!"] {
        let len = (8 + payload.len() as u16).to_be_bytes();
        let udp = [0x12, 0x34, 0x56, 0x78, len[0], len[1], 0, 0];
        let packet = frame(0x800, &[&IP, &udp[..], payload].concat());
        let pseudo = [&IP[12..], &[0, 0x11], &len[..], &udp, payload].concat();
        let want = internet_checksum(&pseudo).to_be_bytes();
        let sent = parts("", &compute, "").load().both(&packet).unwrap();
        assert_eq!(sent[40..42], want, "{payload:?}");
        assert_eq!(parts(&verify, "", NOTE).load().note(&sent)[0], 0);
        let mut wrong = sent.clone();
        *wrong.last_mut().unwrap() ^= 1;
        assert_eq!(parts(&verify, "", NOTE).load().note(&wrong)[0], 1, "{payload:?}");
    }
}

#[test]
fn payload_that_is_only_counted_gives_the_checksum_of_zeros() {
    for algorithm in ["csum16", "crc32", "crc16", "xor16"] {
        let compute = format!(
            "update_checksum_with_payload(true, {UDP}, h.udp.sum, HashAlgorithm.{algorithm});"
        );
        let udp = [1, 2, 3, 4, 5, 6, 0, 0];
        let whole = frame(0x800, &[&IP, &udp[..], &[0; 33]].concat());
        let mut pass = parts("", &compute, "").load();
        let sent = pass.both(&whole).unwrap();
        let mut counted = super::packet(&whole[..42]);
        counted.zeros = 33;
        let out = pass.ingress_again(counted, Default::default());
        let again = pass.egress(out).packet.unwrap();
        assert_eq!(super::bytes(&again), sent, "{algorithm}");
    }
}

#[test]
fn checksums_can_be_crcs() {
    // Check values of the CRC catalogue over "123456789".
    for (algorithm, want) in [("crc16", 0xbb3d_u16), ("crc32", 0x3926)] {
        let compute = format!(
            "update_checksum(true, {{ 72w0x313233343536373839 }}, h.eth.kind,
             HashAlgorithm.{algorithm});"
        );
        let sent = parts("", &compute, "").load().both(&frame(0x806, &[])).unwrap();
        assert_eq!(sent[12..14], want.to_be_bytes(), "{algorithm}");
    }
}

#[test]
fn the_older_checksum16_gives_the_internet_checksum() {
    let parts = Parts {
        ingress: (
            "Checksum16() sum;",
            "h.note.setValid(); h.note.c = sum.get({ 64w0x0001f203f4f5f6f7 });",
        ),
        ..Parts::default()
    };
    // RFC 1071 section 3: the sum is ddf2.
    assert_eq!(parts.load().note(&frame(0x806, &[]))[2], !0xddf2u16 as u64);
}

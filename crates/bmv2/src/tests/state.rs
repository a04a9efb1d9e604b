//! Registers, counters, meters, hashes and random numbers.

use super::{Parts, Pass, frame};
use num_bigint::BigUint;
use sojourn_control::runtime_control::RuntimeControl;
use sojourn_externs::counter::Count;
use sojourn_externs::meter::MeterSpec;
use sojourn_packet::Time;

fn ingress(types: &str, declared: &str, statements: &str) -> Pass {
    let statements = format!("h.note.setValid(); {statements}");
    Parts { types, ingress: (declared, &statements), ..Parts::default() }.load()
}

#[test]
fn a_register_keeps_what_is_written_from_packet_to_packet() {
    let mut pass = ingress(
        "",
        "register<bit<16>>(4) seen;",
        "bit<16> n; seen.read(n, 2); n = n + 1; seen.write(2, n); h.note.c = n;",
    );
    let seen: Vec<u64> = (0..3).map(|_| pass.note(&frame(0, &[]))[2]).collect();
    assert_eq!(seen, [1, 2, 3]);
    let values: Vec<_> = (0..5).map(|at| pass.plane.read_register("seen", at).ok()).collect();
    let number = |n: u32| Some(vec![BigUint::from(n)]);
    assert_eq!(values, [number(0), number(0), number(3), number(0), None]);
}

#[test]
fn an_index_beyond_a_register_reads_and_writes_nothing() {
    let mut pass = ingress(
        "",
        "register<bit<32>>(4) seen;",
        "bit<32> n = 77; seen.write(4, 5); seen.read(n, 4); h.note.d = n;",
    );
    assert_eq!(pass.note(&frame(0, &[]))[3], 77);
}

#[test]
fn a_control_plane_sets_what_registers_start_with() {
    let mut pass = ingress("", "register<bit<16>>(3) seen;", "seen.read(h.note.c, 1);");
    let control = r#"{ "registers": [{ "name": "seen", "value": 9 },
                                     { "name": "Ig.seen", "index": 1, "value": 65537 }] }"#;
    pass.plane.configure(&serde_json::from_str(control).unwrap()).unwrap();
    // Cut to the register's width.
    assert_eq!(pass.note(&frame(0, &[]))[2], 1);
    assert_eq!(pass.plane.read_register("seen", 2).unwrap(), [BigUint::from(9u8)]);
    let wrong = r#"{ "registers": [{ "name": "sen", "value": 9 }] }"#;
    let error = pass.plane.configure(&serde_json::from_str(wrong).unwrap()).unwrap_err();
    assert!(error.to_string().contains("there is no register `sen`"), "{error}");
}

#[test]
fn a_counter_counts_packets_and_the_bytes_they_came_with_whatever_its_kind() {
    let mut pass = ingress(
        "",
        "counter(4, CounterType.packets) packets; counter(4, CounterType.bytes) octets;",
        "packets.count(1); octets.count((bit<32>) h.eth.kind);",
    );
    pass.ingress(&frame(2, &[0; 46]));
    pass.ingress(&frame(2, &[0; 6]));
    pass.ingress(&frame(4, &[]));
    assert_eq!(pass.plane.counter("packets", 1), Some(Count { packets: 3, bytes: 60 + 20 + 14 }));
    assert_eq!(pass.plane.counter("octets", 2), Some(Count { packets: 2, bytes: 80 }));
    // The third packet's index is beyond the array.
    assert_eq!(pass.plane.counter("octets", 4), None);
}

/// A burst of two packets, one a second; twice that at most.
const SPEC: MeterSpec = MeterSpec { cir: 1, cbs: 2, pir: 2, pbs: 4 };

#[test]
fn a_meter_marks_green_yellow_and_red_and_recovers_with_time() {
    let mut pass = ingress(
        "",
        "meter(4, MeterType.packets) rate;",
        "h.note.a = 99; rate.execute_meter((bit<32>) h.eth.kind, h.note.a);",
    );
    assert_eq!(pass.note(&frame(1, &[]))[0], 0, "without rates everything is green");
    let now = pass.now;
    assert!(pass.plane.meter_mut("rate").unwrap().configure(1, SPEC, now));
    let colors: Vec<u64> = (0..5).map(|_| pass.note(&frame(1, &[]))[0]).collect();
    assert_eq!(colors, [0, 0, 1, 1, 2]);
    pass.now += Time::from_secs(1);
    let colors: Vec<u64> = (0..3).map(|_| pass.note(&frame(1, &[]))[0]).collect();
    assert_eq!(colors, [0, 1, 2]);
    assert_eq!(pass.note(&frame(4, &[]))[0], 99, "beyond the array nothing is written");
}

const HASHED: &str = "{ 72w0x313233343536373839 }";

#[test]
fn every_hash_algorithm_gives_its_published_value() {
    // The nine digits: check values of the CRC catalogue; the ones' complement sum and the XOR of
    // 3132 3334 3536 3738 3900; the first eight bytes.
    let sum = 0x3132u32 + 0x3334 + 0x3536 + 0x3738 + 0x3900;
    let folded = (sum & 0xffff) + (sum >> 16);
    let xored = 0x3132 ^ 0x3334 ^ 0x3536 ^ 0x3738 ^ 0x3900;
    for (algorithm, want) in [
        ("crc32", 0xcbf4_3926),
        ("crc32_custom", 0xcbf4_3926),
        ("crc16", 0xbb3d),
        ("crc16_custom", 0xbb3d),
        ("csum16", u64::from(!folded as u16)),
        ("xor16", xored),
        ("identity", 0x3132_3334_3536_3738),
    ] {
        let mut pass = ingress(
            "",
            "",
            &format!(
                "bit<64> r; hash(r, HashAlgorithm.{algorithm}, 64w0, {HASHED}, 64w0xffffffffffffffff);
                 h.note.d = r[31:0]; h.note.e = (bit<48>) r[63:32];"
            ),
        );
        let note = pass.note(&frame(0, &[]));
        assert_eq!(note[4] << 32 | note[3], want, "{algorithm}");
    }
}

#[test]
fn a_hash_is_base_plus_the_value_modulo_max_and_base_for_a_max_of_0() {
    let mut pass = ingress(
        "",
        "",
        &format!(
            "hash(h.note.c, HashAlgorithm.crc16, 16w100, {HASHED}, 32w10);
             hash(h.note.d, HashAlgorithm.crc16, 32w7, {HASHED}, 32w0);"
        ),
    );
    assert_eq!(pass.note(&frame(0, &[]))[2..4], [100 + 0xbb3d % 10, 7]);
}

#[test]
fn fields_of_a_header_that_is_not_valid_are_left_out_of_a_hash() {
    let both = "{ h.note.d, h.eth.kind }";
    let hash = |set: &str| {
        let text = format!(
            "bit<32> r; h.note.setInvalid(); {set}
             hash(r, HashAlgorithm.crc32, 32w0, {both}, 32w0xffffffff);
             h.note.setValid(); h.note.d = r;"
        );
        ingress("", "", &text).note(&frame(0x1234, &[]))[3]
    };
    let crc = |bytes: &[u8]| u64::from(crc::Crc::<u32>::new(&crc::CRC_32_ISO_HDLC).checksum(bytes));
    assert_eq!(hash(""), crc(&[0x12, 0x34]));
    assert_eq!(hash("h.note.setValid(); h.note.d = 1;"), crc(&[0, 0, 0, 1, 0x12, 0x34]));
}

#[test]
fn an_input_that_is_no_whole_number_of_bytes_is_filled_up_behind() {
    let mut pass =
        ingress("", "", "hash(h.note.d, HashAlgorithm.crc32, 32w0, { 12w0xabc }, 32w0xffffffff);");
    let crc = crc::Crc::<u32>::new(&crc::CRC_32_ISO_HDLC).checksum(&[0xab, 0xc0]);
    assert_eq!(pass.note(&frame(0, &[]))[3], u64::from(crc));
}

fn draws(seed: u64, bounds: &str) -> Vec<u64> {
    let text = format!("h.note.setValid(); h.note.c = 999; random(h.note.c, {bounds});");
    let parts = Parts { ingress: ("", &text), ..Parts::default() };
    let plane = parts.try_load(seed).unwrap_or_else(|error| panic!("{error}"));
    let mut pass = Pass { plane, now: Time::ZERO };
    (0..3_000).map(|_| pass.note(&frame(0, &[]))[2]).collect()
}

#[test]
fn random_numbers_fill_their_range_evenly_and_repeat_with_the_seed() {
    let drawn = draws(1, "10, 14");
    for value in 10..=14 {
        let times = drawn.iter().filter(|drawn| **drawn == value).count();
        assert!((500..700).contains(&times), "{value}: {times}");
    }
    assert!(drawn.iter().all(|value| (10..=14).contains(value)));
    assert_eq!(drawn, draws(1, "10, 14"));
    assert_ne!(drawn, draws(2, "10, 14"));
    assert!(draws(1, "0, 65535").iter().any(|value| *value > 60_000));
}

#[test]
fn a_range_without_numbers_leaves_the_result_as_it_is() {
    assert!(draws(1, "14, 10").iter().all(|value| *value == 999));
    assert!(draws(1, "5, 5").iter().all(|value| *value == 5));
}

#[test]
fn a_register_may_hold_words_of_any_width() {
    let mut pass = ingress(
        "",
        "register<bit<300>>(2) words;",
        "bit<300> w;
         words.read(w, 1);
         h.note.c = w[299:284];
         w = 300w0xbeef << 284;
         words.write(1, w);",
    );
    pass.note(&frame(0, &[]));
    assert_eq!(pass.note(&frame(0, &[]))[2], 0xbeef);
}

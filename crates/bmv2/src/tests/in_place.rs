//! Headers that are extracted last and emitted last: the output is the same whether they stay in
//! front of the payload or are written again.

use super::{Parts, frame};
use sojourn_packet::Packet;

fn parts(emit: &'static str) -> Parts<'static> {
    Parts {
        types: "header last_t { bit<16> x; bit<16> y; }",
        headers: "last_t last;",
        parser: "transition last;",
        states: "state last { p.extract(h.last); transition accept; }",
        emit,
        ..Parts::default()
    }
}

#[test]
fn an_unused_header_leaves_unchanged() {
    let mut passes = parts("p.emit(h.last);").load();
    let whole = frame(7, &[1, 2, 3, 4, 5, 6]);
    assert_eq!(passes.both(&whole), Some(whole));
}

#[test]
fn a_header_that_is_not_there_whole_is_an_error_of_the_parser() {
    let mut passes = parts("p.emit(h.last);").load();
    let short = frame(7, &[1, 2, 3]);
    let admitted = passes.ingress(&short);
    assert!(admitted.parser_rejected);
    assert_eq!(passes.egress(admitted).packet.expect("it goes on").bytes, short);
}

#[test]
fn a_header_may_reach_into_counted_zeros() {
    let mut passes = parts("p.emit(h.last);").load();
    let packet = Packet { bytes: frame(7, &[1, 2]), zeros: 9, ..Packet::default() };
    let admitted = passes.ingress_again(packet, <_>::default());
    assert!(!admitted.parser_rejected);
    let sent = passes.egress(admitted).packet.expect("a packet");
    assert_eq!((sent.bytes, sent.zeros), (frame(7, &[1, 2, 0, 0]), 7));
}

#[test]
fn a_header_that_is_emitted_twice_leaves_twice() {
    let mut passes = parts("p.emit(h.last); p.emit(h.last);").load();
    let sent = passes.both(&frame(7, &[1, 2, 3, 4, 5]));
    assert_eq!(sent, Some(frame(7, &[1, 2, 3, 4, 1, 2, 3, 4, 5])));
}

#[test]
fn a_header_that_is_written_leaves_with_what_was_written() {
    let egress = ("", "h.last.y = 9;");
    let mut passes = Parts { egress, ..parts("p.emit(h.last);") }.load();
    let sent = passes.both(&frame(7, &[1, 2, 3, 4, 5]));
    assert_eq!(sent, Some(frame(7, &[1, 2, 0, 9, 5])));
}

#[test]
fn a_dropped_packet_is_not_written_and_a_copied_one_is() {
    let egress =
        ("", "if (h.eth.kind == 1) { mark_to_drop(s); } else { clone(CloneType.E2E, 5); }");
    let mut passes = Parts { egress, ..parts("p.emit(h.last);") }.load();
    assert_eq!(passes.both(&frame(1, &[1, 2, 3, 4])), None);
    let whole = frame(2, &[1, 2, 3, 4]);
    let admitted = passes.ingress(&whole);
    let out = passes.egress(admitted);
    assert_eq!(out.packet.expect("it is sent").bytes, whole);
    let copy = passes.egress_of_copy(out.mirror.expect("a copy"));
    assert_eq!(copy.packet.expect("it is sent").bytes, whole);
}

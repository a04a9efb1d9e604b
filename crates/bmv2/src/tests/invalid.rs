//! Reads of fields of invalid headers: the reads that count, and their reported positions.

use super::{Parts, Pass, frame};

/// A program with these ingress statements; only frames of type 7 have a `note`.
fn ingress(declared: &'static str, does: &'static str) -> Pass {
    Parts {
        parser: "transition select(h.eth.kind) { 7: more; default: accept; }",
        states: "state more { p.extract(h.note); transition accept; }",
        ingress: (declared, does),
        ..Parts::default()
    }
    .load()
}

fn with_note() -> Vec<u8> {
    frame(7, &[5; 14])
}

/// Number of counted reads for one frame with a note and one without.
fn counted(declared: &'static str, does: &'static str) -> (u64, u64) {
    let mut pass = ingress(declared, does);
    pass.both(&with_note());
    let with = pass.plane.faults().invalid_reads.count;
    pass.both(&frame(8, &[]));
    (with, pass.plane.faults().invalid_reads.count - with)
}

#[test]
fn a_field_of_an_invalid_header_is_reported_by_name_and_place() {
    let mut pass = ingress("", "m.one = h.note.a;\n m.both = h.note.b + 1;");
    pass.both(&frame(8, &[]));
    let fault = pass.plane.faults().invalid_reads.clone();
    assert_eq!(fault.count, 2);
    assert_eq!(fault.first.as_deref(), Some("`h.note.a` is read while its header is invalid"));
    assert!(fault.place.is_some());
    assert_eq!(pass.plane.faults().report(None)[0].kind, "invalid_read");
}

#[test]
fn fields_of_an_invalid_header_keep_their_values_until_it_is_valid_again() {
    let does = "h.note.setInvalid(); m.one = h.note.a; h.note.setValid(); h.note.b = m.one;";
    let mut pass = ingress("", does);
    assert_eq!(pass.note(&with_note())[..2], [0, 5]);
    assert_eq!(pass.plane.faults().invalid_reads.count, 1);
}

#[test]
fn reads_behind_a_question_are_none_of_them() {
    for does in [
        "if (h.note.isValid()) { m.one = h.note.a; }",
        "if (h.note.isValid() && h.note.a == 5) { m.one = 1; }",
        "if (!h.note.isValid() || h.note.a == 5) { m.one = 1; }",
        "bool there = h.note.isValid(); if (there && h.note.a == 5) { m.one = 1; }",
        "m.one = h.note.isValid() ? h.note.a : 0;",
        "if (!h.note.isValid()) { return; } m.one = h.note.a;",
        "h.note.setValid(); m.one = h.note.a;",
        "if (h.eth.kind == 7) { m.one = h.note.a; }",
    ] {
        assert_eq!(counted("", does), (0, 0), "{does}");
    }
}

#[test]
fn reads_without_one_are() {
    for does in [
        "h.note.a = h.note.a - 1;",
        "if (h.note.isValid() || h.note.a == 5) { m.one = 1; }",
        "if (h.note.a == 5) { m.one = 1; }",
        "h.note.setValid(); h.note.setInvalid(); m.one = h.note.a;",
        "if (h.note.isValid()) { h.note.setInvalid(); } m.one = h.note.a;",
    ] {
        assert_eq!(counted("", does).1, 1, "{does}");
    }
}

#[test]
fn headers_that_are_copied_or_compared_whole_are_no_fields() {
    for does in [
        "note_t other = h.note; if (other == h.note) { m.one = 1; }",
        "note_t other; other = h.eth.kind == 9 ? h.note : h.note;",
        "headers_t all = h; h = all;",
    ] {
        assert_eq!(counted("", does), (0, 0), "{does}");
    }
}

#[test]
fn a_key_is_read_by_the_table_and_an_action_where_the_table_is_applied() {
    let table = "action mark() { h.note.b = h.note.b + 1; }
        table t { key = { h.note.a: exact; } actions = { mark; } default_action = mark(); }";
    assert_eq!(counted(table, "t.apply();"), (0, 2));
    assert_eq!(counted(table, "if (h.note.isValid()) { t.apply(); }"), (0, 0));
    assert_eq!(counted(table, "if (h.eth.kind == 8 || h.note.isValid()) { t.apply(); }"), (0, 2));
}

#[test]
fn a_key_that_distinguishes_the_cases_may_hold_the_fields_of_both() {
    let table = "table t {
        key = { h.note.isValid(): exact; h.note.a: ternary; }
        actions = { NoAction; } }";
    assert_eq!(counted(table, "t.apply();"), (0, 0));
}

#[test]
fn an_action_may_take_away_what_was_asked_for() {
    let table = "action strip() { h.note.setInvalid(); }
        table t { actions = { strip; NoAction; } default_action = strip(); }";
    assert_eq!(counted(table, "if (h.note.isValid()) { t.apply(); m.one = h.note.a; }"), (1, 0));
}

#[test]
fn a_hash_over_fields_of_an_invalid_header_is_reported() {
    let does =
        "hash(m.one, HashAlgorithm.crc16, (bit<8>) 0, { h.eth.kind, h.note.c }, (bit<16>) 9);";
    assert_eq!(counted("", does), (0, 1));
    let mut pass = ingress("", does);
    pass.both(&frame(8, &[]));
    let first = pass.plane.faults().invalid_reads.first.clone();
    assert_eq!(first.as_deref(), Some("a hash wants `h.note.c` while its header is invalid"));
}

#[test]
fn a_select_on_a_header_that_another_state_extracts_is_noticed() {
    let mut pass = Parts {
        parser: "transition select(h.eth.kind) { 7: more; default: look; }",
        states: "state more { p.extract(h.note); transition look; }
            state look { transition select(h.note.a) { 5: accept; default: accept; } }",
        ..Parts::default()
    }
    .load();
    pass.both(&with_note());
    assert_eq!(pass.plane.faults().invalid_reads.count, 0);
    pass.both(&frame(8, &[]));
    assert_eq!(pass.plane.faults().invalid_reads.count, 1);
}

#[test]
fn an_element_of_a_stack_is_asked_for_its_own_validity() {
    let mut pass = Parts {
        headers: "note_t[2] more;",
        parser: "p.extract(h.more.next); transition accept;",
        ingress: ("", "bit<8> at = h.eth.kind[7:0]; m.one = h.more[at].a;"),
        ..Parts::default()
    }
    .load();
    pass.both(&frame(0, &[5; 14]));
    assert_eq!(pass.plane.faults().invalid_reads.count, 0);
    pass.both(&frame(1, &[5; 14]));
    assert_eq!(pass.plane.faults().invalid_reads.count, 1);
}

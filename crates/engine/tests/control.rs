//! Control-plane operations on a running switch: the effect of each, atomic batches, and reads of
//! written state.

use serde_json::{Value, json};
use sojourn_control::{Operation, Query};
use sojourn_engine::{PacketSwitch, PacketSwitchConfig};
use sojourn_packet::{PortId, Time};
use sojourn_target::{LoadOptions, Program};
use std::path::Path;

fn switch(program: &str) -> PacketSwitch {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let options = LoadOptions {
        include_paths: vec![root.join("p4/include")],
        ..sojourn_engine::builtin::load_options()
    };
    let path = root.join("tests/stf/v1model").join(program);
    let program = Program::read(path, &options).expect("it compiles");
    let plane = program.instantiate(1).expect("it loads");
    let config = PacketSwitchConfig::new(plane.target());
    PacketSwitch::new(plane, &config).expect("a switch")
}

fn operations(of: Value) -> Vec<Operation> {
    serde_json::from_value(of).expect("operations")
}

fn ask(switch: &mut PacketSwitch, of: Value) -> Value {
    let query: Query = serde_json::from_value(of).expect("a question");
    serde_json::to_value(switch.read(&query).expect("an answer")).expect("JSON")
}

/// The note of the output for a frame of this kind and key.
fn note(switch: &mut PacketSwitch, kind: u8, key: u16) -> u8 {
    let [high, low] = key.to_be_bytes();
    switch.receive(PortId(1), &[kind, high, low, 5]);
    assert!(switch.settle(Time::from_millis(1)));
    switch.take()[0].packet.bytes[3]
}

fn add(table: &str, matched: Value, value: u8) -> Value {
    let entry = json!({"match": matched, "action": "note", "args": {"value": value}});
    json!({"op": "add_entry", "table": table, "entry": entry})
}

/// All readable state of tables and switch after the packets and operations so far.
fn everything(switch: &mut PacketSwitch) -> Vec<Value> {
    let tables = ["by_value", "by_mask", "by_prefix", "by_range", "by_choice", "fixed", "slices"];
    let mut all = Vec::new();
    for table in tables {
        all.push(ask(switch, json!({"read": "entries", "table": table})));
        all.push(ask(switch, json!({"read": "default", "table": table})));
    }
    all
}

#[test]
fn an_entry_of_every_match_kind_is_read_as_it_was_given() {
    let mut switch = switch("match_kinds.p4");
    let given = [
        ("by_value", json!({"hdr.frame.key": 7, "hdr.frame.$valid$": 1})),
        ("by_mask", json!({"hdr.frame.key": {"value": 0x1200, "mask": 0xff00}})),
        ("by_prefix", json!({"hdr.frame.key": {"value": 0x1200, "prefix": 7}})),
        ("by_range", json!({"hdr.frame.key": {"low": 3, "high": 9}})),
        ("by_choice", json!({"hdr.frame.note": 5})),
    ];
    for (table, matched) in given {
        let handles = switch.apply(&operations(json!([add(table, matched.clone(), 9)]))).unwrap();
        assert_eq!(handles, [Some(0)]);
        let read = ask(&mut switch, json!({"read": "entries", "table": table}));
        assert_eq!(read[0]["entry"]["match"], matched, "{table}");
        assert_eq!(read[0]["entry"]["args"]["value"], 9);
        assert_eq!((&read[0]["handle"], &read[0]["is_const"]), (&json!(0), &json!(false)));
    }
    let fixed = ask(&mut switch, json!({"read": "entries", "table": "fixed"}));
    assert_eq!(fixed.as_array().map(Vec::len), Some(3));
    assert_eq!(fixed[1]["entry"]["match"], json!({"hdr.frame.key": 0x1234}));
    assert_eq!(fixed[1]["is_const"], json!(true));
}

#[test]
fn entries_are_changed_and_deleted_by_handle_or_by_what_they_match() {
    let mut switch = switch("match_kinds.p4");
    let matched = json!({"hdr.frame.key": {"low": 3, "high": 9}});
    switch.apply(&operations(json!([add("by_range", matched.clone(), 1)]))).unwrap();
    assert_eq!((note(&mut switch, 4, 5), note(&mut switch, 4, 10)), (1, 0xff));
    let to = json!({"action": "note", "args": {"value": 2}});
    let by_match =
        json!({"op": "modify_entry", "table": "by_range", "at": {"match": matched}, "to": to});
    switch.apply(&operations(json!([by_match]))).unwrap();
    assert_eq!(note(&mut switch, 4, 5), 2);
    let by_handle = json!({"op": "delete_entry", "table": "by_range", "at": 0});
    switch.apply(&operations(json!([by_handle]))).unwrap();
    assert_eq!(note(&mut switch, 4, 5), 0xff);
    let missing = json!({"op": "delete_entry", "table": "by_range", "at": {"match": {"key": {"low": 3, "high": 9}}}});
    let refused = switch.apply(&operations(json!([missing]))).unwrap_err();
    assert!(refused.to_string().contains("no entry with this match"), "{refused}");
    let call = json!({"action": "note", "args": {"value": 3}});
    switch
        .apply(&operations(json!([{"op": "set_default", "table": "by_range", "call": call}])))
        .unwrap();
    assert_eq!(note(&mut switch, 4, 5), 3);
    switch.apply(&operations(json!([{"op": "reset_default", "table": "by_range"}]))).unwrap();
    assert_eq!(note(&mut switch, 4, 5), 0xff);
}

#[test]
fn a_batch_that_is_refused_at_its_end_leaves_tables_as_they_were() {
    let mut switch = switch("match_kinds.p4");
    let key = |value: u16| json!({"hdr.frame.key": {"value": value, "mask": 0xffff}});
    switch
        .apply(&operations(json!([add("by_mask", key(1), 1), add("by_mask", key(2), 2)])))
        .unwrap();
    let before = everything(&mut switch);
    let call = json!({"action": "note", "args": {"value": 3}});
    let batch = operations(json!([
        {"op": "delete_entry", "table": "by_mask", "at": 0},
        add("by_mask", key(3), 3),
        add("by_mask", key(4), 4),
        {"op": "modify_entry", "table": "by_mask", "at": 1, "to": call},
        {"op": "set_default", "table": "by_mask", "call": call},
        add("by_prefix", json!({"key": {"value": 0, "prefix": 4}}), 4),
        {"op": "clear_table", "table": "by_mask"},
        add("fixed", json!({}), 1),
    ]));
    let refused = switch.apply(&batch).unwrap_err();
    assert_eq!(refused.at, 7);
    assert!(refused.to_string().starts_with("operation 8: "), "{refused}");
    assert_eq!(everything(&mut switch), before);
    assert_eq!([1, 2, 3].map(|key| note(&mut switch, 2, key)), [1, 2, 0xff]);
    // The handle that the batch used is free again.
    let handles = switch.apply(&operations(json!([add("by_mask", key(3), 3)]))).unwrap();
    assert_eq!(handles, [Some(2)]);
}

#[test]
fn a_batch_that_is_refused_leaves_registers_counters_and_meters_as_they_were() {
    let mut switch = switch("state.p4");
    let spec = |rate: u64| json!({"cir": rate, "cbs": 1, "pir": rate, "pbs": 1});
    let state = |register: u64, packets: u64, rate: u64| {
        json!([
            {"op": "write_register", "name": "seen", "index": 2, "value": [register]},
            {"op": "write_counter", "name": "traffic", "index": 2, "packets": packets, "bytes": 9},
            {"op": "set_meter", "name": "rate", "index": 2, "spec": spec(rate)},
        ])
    };
    let read = |switch: &mut PacketSwitch| {
        ["register", "counter", "meter"]
            .into_iter()
            .zip(["seen", "traffic", "rate"])
            .map(|(what, name)| ask(switch, json!({"read": what, "name": name, "index": 2})))
            .collect::<Vec<_>>()
    };
    switch.apply(&operations(state(7, 3, 1_000))).unwrap();
    let before = read(&mut switch);
    assert_eq!(before, [json!([7]), json!({"packets": 3, "bytes": 9}), spec(1_000)]);
    let mut batch = operations(state(8, 4, 2_000));
    batch.extend(operations(json!([
        {"op": "write_register", "name": "seen", "value": [1]},
        {"op": "write_register", "name": "seen", "index": 16, "value": [1]},
    ])));
    let refused = switch.apply(&batch).unwrap_err();
    assert!(refused.at == 4 && refused.to_string().contains("no cell 16"), "{refused}");
    assert_eq!(read(&mut switch), before);
    batch.pop();
    switch.apply(&batch).unwrap();
    assert_ne!(read(&mut switch), before);
    assert_eq!(note(&mut switch, 3, 0), 1, "all cells were written");
}

#[test]
fn members_and_groups_are_set_read_and_taken_away() {
    let mut switch = switch("selectors.p4");
    let member = |id: u32| json!({"id": id, "action": "note", "args": {"value": id + 16}});
    let profile = json!({
        "op": "set_profile", "name": "by_crc16",
        "members": [member(0), member(1)], "groups": [[0, [[0, true], [1, false]]]],
    });
    let entry = json!({"match": {"hdr.text.kind": 1}, "group": 0});
    let first = json!({"op": "add_entry", "table": "first", "entry": entry});
    switch.apply(&operations(json!([profile, first]))).unwrap();
    let read = ask(&mut switch, json!({"read": "profile", "name": "by_crc16"}));
    assert_eq!(
        read["members"],
        json!([
            {"id": 0, "action": "TestIngress.note", "args": {"value": 16}},
            {"id": 1, "action": "TestIngress.note", "args": {"value": 17}},
        ])
    );
    assert_eq!(read["groups"], json!([[0, [[0, true], [1, false]]]]));
    let read = ask(&mut switch, json!({"read": "entries", "table": "first"}));
    assert_eq!(read[0]["entry"]["group"], 0);
    let batch = json!([
        {"op": "delete_member", "profile": "by_crc16", "member": 1},
        {"op": "delete_group", "profile": "by_crc16", "group": 0},
        {"op": "delete_group", "profile": "by_crc16", "group": 0},
    ]);
    assert_eq!(switch.apply(&operations(batch)).unwrap_err().at, 2);
    let again = ask(&mut switch, json!({"read": "profile", "name": "by_crc16"}));
    assert_eq!(again["members"].as_array().map(Vec::len), Some(2));
    assert_eq!(again["groups"].as_array().map(Vec::len), Some(1));
}

/// Number of frames that leave by each port when one enters by port 1.
fn sent(switch: &mut PacketSwitch) -> Vec<u16> {
    switch.receive(PortId(1), &[1; 64]);
    assert!(switch.settle(Time::from_secs(10)));
    let mut ports: Vec<u16> = switch.take().iter().map(|sent| sent.port.0).collect();
    ports.sort_unstable();
    ports
}

#[test]
fn sessions_groups_and_queues_of_a_refused_batch_are_as_they_were() {
    let mut switch = switch("state.p4");
    let group = |ports: &[u16]| json!({"op": "set_multicast_group", "id": 5, "nodes": [{"rid": 1, "ports": ports}]});
    let session = |port: u16| json!({"op": "set_mirror_session", "session": 9, "port": port});
    switch.apply(&operations(json!([group(&[2, 3]), session(4)]))).unwrap();
    let slow = json!({"op": "set_queue", "port": 9, "packets_per_second": 1});
    let batch = json!([
        group(&[7]), session(8), slow,
        {"op": "shape_port", "port": 9, "rate": 1_000_000, "burst": 1_600},
        {"op": "remove_mirror_session", "session": 9},
        {"op": "remove_multicast_group", "group": 5},
        {"op": "remove_multicast_group", "group": 5},
    ]);
    let refused = switch.apply(&operations(batch)).unwrap_err();
    assert!(refused.at == 6 && refused.to_string().contains("no multicast group 5"), "{refused}");
    // Session and group exist and can be removed; the port has its former speed.
    let began = switch.now();
    assert_eq!((sent(&mut switch), sent(&mut switch)), (vec![9], vec![9]));
    assert!(switch.now() - began < Time::from_millis(1));
    switch
        .apply(&operations(json!([
            {"op": "remove_mirror_session", "session": 9},
            {"op": "remove_multicast_group", "group": 5},
        ])))
        .unwrap();
}

#[test]
fn a_rate_or_a_pause_that_is_set_while_packets_wait_holds_from_then_on() {
    let mut switch = switch("state.p4");
    let rate = |pps: u64| json!([{"op": "set_queue", "port": 9, "packets_per_second": pps}]);
    switch.apply(&operations(rate(1))).unwrap();
    for _ in 0..4 {
        switch.receive(PortId(1), &[1; 64]);
    }
    switch.wait(Time::from_millis(1_500));
    assert_eq!(switch.take().len(), 2);
    switch.apply(&operations(rate(1_000))).unwrap();
    switch.wait(Time::from_millis(10));
    assert_eq!(switch.take().len(), 2);
    let paused = |paused: bool| json!([{"op": "set_queue", "port": 9, "paused": paused}]);
    switch.apply(&operations(paused(true))).unwrap();
    switch.receive(PortId(1), &[1; 64]);
    switch.wait(Time::from_millis(10));
    assert_eq!(switch.take().len(), 0);
    switch.apply(&operations(paused(false))).unwrap();
    switch.wait(Time::from_millis(10));
    assert_eq!(switch.take().len(), 1);
    let nowhere = json!([{"op": "set_queue", "port": 600, "depth": 1}]);
    let refused = switch.apply(&operations(nowhere)).unwrap_err();
    assert!(refused.to_string().contains("port 600"), "{refused}");
}

#[test]
fn an_operation_with_a_key_too_many_is_refused() {
    for text in [
        r#"{"op": "clear_table", "table": "t", "also": 1}"#,
        r#"{"op": "set_mirror_session", "session": 1, "prot": 2}"#,
        r#"{"op": "delete_entry", "table": "t", "at": {"match": {}, "prio": 1}}"#,
        r#"{"op": "no_such_thing"}"#,
    ] {
        assert!(serde_json::from_str::<Operation>(text).is_err(), "{text}");
    }
}

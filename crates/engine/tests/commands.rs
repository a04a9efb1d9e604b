//! Commands of `simple_switch_CLI`: each becomes the operation that bmv2 executes.

use sojourn_control::commands::{Request, Session};
use sojourn_control::{
    ActionCall, CommandFile, ControlPlane, MatchValue, MulticastNode, Number, Operation,
    QueueSetting, TableEntry,
};
use sojourn_target::{LoadOptions, Program};
use std::path::Path;

fn program(name: &str) -> Program {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let options = LoadOptions {
        include_paths: vec![root.join("p4/include")],
        ..sojourn_engine::builtin::load_options()
    };
    let path = root.join("tests/stf").join(name).with_extension("p4");
    Program::read(path, &options).unwrap_or_else(|error| panic!("{error}"))
}

/// Requests of the last of `lines`.
fn run(program: &str, lines: &[&str]) -> Result<Vec<Request>, String> {
    let mut session = Session::new(self::program(program).describe());
    let asked = lines.iter().map(|line| session.run(line).map_err(|error| error.to_string()));
    asked.last().expect("a line")
}

fn asked(program: &str, lines: &[&str]) -> Operation {
    match &run(program, lines).unwrap_or_else(|error| panic!("{error}"))[..] {
        [Request::Operation(operation)] => operation.clone(),
        other => panic!("{other:?}"),
    }
}

fn file(text: &str) -> ControlPlane {
    let commands = Some(CommandFile { name: "commands.txt".into(), text: text.into() });
    ControlPlane { commands, ..ControlPlane::default() }
}

fn n(value: u64) -> Number {
    Number::from(value)
}

#[test]
fn each_match_kind_is_written_as_bmv2_writes_it() {
    let ternary = MatchValue::Ternary { value: n(0x1200), mask: n(0xff00) };
    let written = [
        ("by_value", "0x1234", "", MatchValue::Exact(n(0x1234))),
        ("by_mask", "0x1200&&&0xff00", " 3", ternary),
        ("by_prefix", "0xab00/8", "", MatchValue::Prefix { value: n(0xab00), prefix: 8 }),
        ("by_range", "10->0x14", " 3", MatchValue::Range { low: n(10), high: n(20) }),
    ];
    for (table, text, priority, matched) in written {
        let line = format!("table_add {table} note {text} => 0x2a{priority}");
        let Operation::AddEntry { table: full, entry } = asked("tna/match_kinds", &[&line]) else {
            panic!("{line}")
        };
        assert_eq!(full, format!("Ingress.{table}"));
        let expected = TableEntry {
            matches: [("hdr.frame.key".into(), matched)].into(),
            action: Some("Ingress.note".into()),
            args: [("value".into(), n(42))].into(),
            priority: if priority.is_empty() { 0 } else { 3 },
            ..TableEntry::default()
        };
        assert_eq!(entry, expected);
    }
}

#[test]
fn an_error_in_a_line_shows_the_right_form() {
    for (line, message) in [
        ("tabel_add by_value note 1 => 1", "no command tabel_add; did you mean \"table_add\"?"),
        ("table_add by_valu note 1 => 1", "there is no table by_valu; did you mean \"by_value\"?"),
        ("table_add by_value nota 1 => 1", "has no action nota; did you mean \"note\"?"),
        ("table_add by_value note 1 1", "write table_add TABLE ACTION MATCH... => ARGUMENT..."),
        ("table_add by_value note 1 2 => 1", "has 1 keys, not 2: hdr.frame.key (exact)"),
        ("table_add by_value note 1 =>", "takes 1 arguments, not 0: value (8 bits)"),
        ("table_add by_value note 1 => 256", "256 does not fit 8 bits (largest is 255)"),
        ("table_add by_value note 65536 => 1", "65536 does not fit 16 bits"),
        ("table_add by_value note ten => 1", "ten is not a number"),
        ("table_add by_value note -1 => 1", "-1 is negative"),
        ("table_add by_mask note 1&&&1 =>", "a priority is missing"),
        ("table_add by_mask note 1 => 1 1", "is ternary: write VALUE&&&MASK, not 1"),
        ("table_add by_prefix note 1 => 1", "is lpm: write VALUE/LENGTH, not 1"),
        ("table_add by_prefix note 1/17 => 1", "prefix length 17 is too long"),
        ("table_add by_range note 9->3 => 1 1", "the range 9->3 is empty"),
        ("table_set_default by_value", "1 more expected; write table_set_default TABLE"),
        ("table_delete by_value first", "entry handle: first is not a number"),
        ("mirroring_add 5", "1 more expected; write mirroring_add SESSION PORT"),
        ("mc_mgrp_create 1 2", "2 is left over; write mc_mgrp_create GROUP"),
        ("mc_node_create 1 2 | 3", "link aggregation groups"),
        ("register_write seen 0 1", "there is no register seen"),
        ("act_prof_create_group fair", "there is no action profile fair"),
        ("table_set_timeout by_value 0 5", "is not supported: entries do not age here"),
    ] {
        let said = run("tna/match_kinds", &[line]).expect_err(line);
        assert!(said.contains(message), "{line}: {said}");
    }
}

#[test]
fn registers_and_meters_and_queues_are_set() {
    let write =
        |index, value| Operation::WriteRegister { name: "Ingress.seen".into(), index, value };
    assert_eq!(asked("tna/state", &["register_write seen 3 0x10"]), write(Some(3), vec![n(16)]));
    assert_eq!(asked("tna/state", &["register_reset seen"]), write(None, vec![n(0), n(0)]));
    let queue = |line: &str| match asked("tna/state", &[line]) {
        Operation::SetQueue(setting) => setting,
        other => panic!("{other:?}"),
    };
    let set = QueueSetting::default();
    let rate = QueueSetting { port: Some(1), packets_per_second: Some(2000), ..set.clone() };
    assert_eq!(queue("set_queue_rate 2000 1"), rate);
    let bits = QueueSetting { bits_per_second: Some(100_000_000), ..set.clone() };
    assert_eq!(queue("set_queue_bitrate 100000000"), bits);
    let depth = QueueSetting { port: Some(2), priority: Some(7), depth: Some(64), ..set.clone() };
    assert_eq!(queue("set_queue_depth 64 2 7"), depth);
    let paused = QueueSetting { paused: Some(true), ..set.clone() };
    assert_eq!(queue("pause_queue"), paused);
    let resumed = QueueSetting { port: Some(2), priority: Some(7), paused: Some(false), ..set };
    assert_eq!(queue("resume_queue 2 7"), resumed);
    let beyond = run("tna/state", &["register_write seen 16 1"]).unwrap_err();
    assert!(beyond.contains("has 16 cells, 0 to 15: there is no 16"), "{beyond}");
}

#[test]
fn multicast_nodes_have_handles_from_zero_in_their_order() {
    let lines = ["mc_mgrp_create 9", "mc_node_create 5 1 2", "mc_node_create 6 3"];
    let with = |last| [&lines[..], &[last]].concat();
    let Operation::SetMulticastGroup(group) = asked("tna/state", &with("mc_node_associate 9 1"))
    else {
        panic!("a group")
    };
    assert_eq!((group.id, group.nodes), (9, vec![MulticastNode { rid: 6, ports: vec![3] }]));
    let said = run("tna/state", &with("mc_node_associate 9 2")).unwrap_err();
    assert!(said.contains("no multicast node 2") && said.contains("so far: 0 to 1"), "{said}");
}

#[test]
fn comments_begin_with_a_sharp_or_with_two_slashes() {
    let text = "// routes\n\
                table_add by_prefix note 0xab00/8 => 2 // to the servers\n\
                \ttable_add by_value note 1 => 3# to the clients\n   // table_add by_value nonsense\n";
    let left = program("tna/match_kinds").expand_control_plane(file(text)).unwrap();
    let given = left.tables.iter().flat_map(|table| &table.entries);
    let given: Vec<_> = given.map(|entry| entry.args["value"].clone()).collect();
    assert_eq!(given, [n(2), n(3)]);
}

#[test]
fn every_wrong_line_of_a_file_is_reported_with_its_place() {
    let program = program("tna/match_kinds");
    let wrong =
        file("table_add by_value note 1 => 1\ntable_add no note 1 => 1\n\nmirroring_add 5\n");
    let said = program.expand_control_plane(wrong).unwrap_err().to_string();
    let lines: Vec<&str> = said.lines().map(|line| line.split(": ").next().unwrap()).collect();
    assert_eq!(lines, ["commands.txt:2", "commands.txt:4"]);
}

#[test]
fn a_repeated_command_has_the_same_meaning_as_alone() {
    let program = program("tna/match_kinds");
    let lines = [
        ("by_value", ["1 => 1", "0x12 => 0x2a", "070000 => 1", "70000 => 1", "x => 1", "2 3 => 1"]),
        ("by_value", ["1 => 1", "2 => 256", "2 =>", "2 => 1 1", "2 1", "2\t=>\t+3"]),
        (
            "by_mask",
            ["1&&&3 => 1 4", "2&&&0xf => 1 0", "2 => 1 4", "2&&&3 => 1", "2&&&3 => 1 x", ""],
        ),
        ("by_mask", ["1&&&3 => 1 0", "2&&&3 => 1 0", "3&&&3 => 1 7", "", "1&&& => 1 1", "=> 1 1"]),
        (
            "by_prefix",
            ["0xab00/8 => 1", "1/16 => 2", "1/17 => 2", "1/-1 => 2", "1 => 2", "1/ => 2"],
        ),
        ("by_range", ["1->2 => 1 1", "3->3 => 1 1", "3->2 => 1 1", "3 => 1 1", "5->9 => 1 2", ""]),
    ];
    let entries = |lines: &[String]| {
        let left =
            program.expand_control_plane(file(&lines.join("\n"))).map_err(|why| why.to_string())?;
        Ok::<_, String>(
            left.tables.iter().flat_map(|table| table.entries.clone()).collect::<Vec<_>>(),
        )
    };
    for (table, rests) in lines {
        let line = |rest: &&str| format!("table_add {table} note {rest}");
        let first = line(&rests[0]);
        let begun = entries(std::slice::from_ref(&first)).unwrap();
        for second in rests[1..].iter().map(line) {
            let alone = entries(&["".into(), second.clone()]);
            let expected = alone.map(|alone| [begun.clone(), alone].concat());
            assert_eq!(entries(&[first.clone(), second.clone()]), expected, "{second}");
        }
    }
}

#[test]
fn an_error_that_only_the_program_reveals_is_reported_with_its_line() {
    let like = "table_add by_value note 1 => 1\n# a comment\n\ntable_add by_value note 2 => 2\n\
                table_add by_value note 3 => 3\ntable_add by_value note 2 => 4\n";
    let said = program("tna/match_kinds").expand_control_plane(file(like)).unwrap_err().to_string();
    assert!(said.starts_with("commands.txt:6: ") && said.contains("Ingress.by_value"), "{said}");
    let twice = file("table_add by_value note 1 => 1\n\ntable_add by_value note 1 => 2\n");
    let said = program("tna/match_kinds").expand_control_plane(twice).unwrap_err().to_string();
    assert!(said.starts_with("commands.txt:3: ") && said.contains("Ingress.by_value"), "{said}");
}

#[test]
fn the_state_after_commands_equals_that_of_the_program() {
    let left = program("tna/match_kinds")
        .expand_control_plane(file(
            "table_add by_value note 1 => 1\n\
             table_add by_value note 2 => 2\n\
             table_modify by_value note 0 7\n\
             table_delete by_value 1\n\
             table_add by_value note 3 => 3\n\
             table_set_default by_value note 9\n\
             mirroring_add 5 1\nmirroring_add 6 2\nmirroring_delete 5\n",
        ))
        .unwrap_or_else(|error| panic!("{error}"));
    let [table] = &left.tables[..] else { panic!("{:?}", left.tables) };
    assert_eq!(table.name, "Ingress.by_value");
    let exact = |entry: &TableEntry| entry.matches["hdr.frame.key"].clone();
    let entries: Vec<_> =
        table.entries.iter().map(|e| (exact(e), e.args["value"].clone())).collect();
    assert_eq!(entries, [(MatchValue::Exact(n(1)), n(7)), (MatchValue::Exact(n(3)), n(3))]);
    let default =
        ActionCall { action: "Ingress.note".into(), args: [("value".into(), n(9))].into() };
    assert_eq!(table.default, Some(default.into()));
    assert_eq!(left.mirror_sessions.iter().map(|s| s.session).collect::<Vec<_>>(), [6]);
    assert!(left.commands.is_none());
}

#[test]
fn a_miss_leads_to_a_member_or_a_group() {
    let program = program("v1model/profiles");
    let described = program.describe();
    let profile = described.objects.iter().find(|o| o.of == "action_profile").unwrap();
    let uses = |table: &&sojourn_control::describe::TableDescription| {
        table.implementation.as_deref() == Some(&*profile.name)
    };
    let table = described.tables.iter().find(uses).unwrap();
    let action = table.actions.iter().find(|action| !action.parameters.is_empty()).unwrap();
    let arguments = vec!["1"; action.parameters.len()].join(" ");
    let (profile, table, action) = (&profile.name, &table.name, &action.name);
    let lines = [
        format!("act_prof_create_member {profile} {action} {arguments}"),
        format!("table_indirect_set_default {table} 0"),
        format!("act_prof_create_group {profile}"),
        format!("table_indirect_set_default_with_group {table} 0"),
    ];
    let mut session = Session::new(described.clone());
    let asked = lines.map(|line| session.run(&line).unwrap_or_else(|error| panic!("{error}")));
    let led = [1, 3].map(|at| match &asked[at][0] {
        Request::Operation(Operation::SetDefault { call, .. }) => (call.member, call.group),
        other => panic!("{other:?}"),
    });
    assert_eq!(led, [(Some(0), None), (None, Some(0))]);
}

#[test]
fn rates_per_microsecond_are_exact_to_the_last_digit() {
    let spec = |rates: &str| {
        let line = format!("meter_set_rates rate 0 {rates}");
        match run("v1model/state", &[&line]).map_err(|said| panic!("{said}")).unwrap()[0] {
            Request::Operation(Operation::SetMeter { spec, .. }) => (spec.cir, spec.pir),
            _ => panic!("{rates}"),
        }
    };
    assert_eq!(spec("0.000001:1 2:1"), (1, 2_000_000));
    // Halfway between two numbers, the even one.
    assert_eq!(spec("0.0000005:1 0.0000015:1"), (0, 2));
    assert!(run("v1model/state", &["meter_set_rates rate 0 1:1 0.5:1"]).is_err());
}

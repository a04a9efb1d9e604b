//! Malformed and unusual frames: no built-in program or packet test may stop on one.
//!
//! Some thousands of frames for each; `examples/noise` sends any number.

#[path = "../examples/noise/entries.rs"]
mod entries;
#[path = "../examples/noise/frames.rs"]
mod frames;
#[path = "../examples/noise/passes.rs"]
mod passes;

use passes::{folder, programs, withstand, withstand_by};
use sojourn_control::ControlPlane;
use sojourn_control::describe::describe;
use sojourn_control::{Number, TableEntries, TableEntry};
use sojourn_packet::SplitMix64;
use sojourn_target::{Executor, LoadOptions, Plane, load};

/// Packet tests with a TARGET of 0 on bmv2: every packet that has waited may be dropped, so few are
/// sent.
const ALWAYS_ABOVE_TARGET: [&str; 2] =
    ["tests/stf/v1model/codel_act.p4", "tests/stf/v1model/codel_act_slides.p4"];

/// Runs all programs of a folder; each is reached beyond its parser, and beyond its drops. Returns
/// those that read a field of an invalid header.
fn all_withstand(name: &str, frames: u64) -> Vec<String> {
    let programs = programs(&folder(name));
    assert!(!programs.is_empty(), "{name}");
    let mut invalid_reads = Vec::new();
    for program in programs {
        let tally = withstand(&program, frames, 7);
        let few = ALWAYS_ABOVE_TARGET.iter().any(|name| program.ends_with(name));
        let least = if few { 0 } else { frames / 100 };
        assert!(tally.sent > least, "{}: {tally}", program.display());
        assert!(tally.parser_errors + tally.failed_claims > 0, "{}: {tally}", program.display());
        invalid_reads
            .extend(tally.invalid_read.map(|read| format!("{}: {read}", program.display())));
    }
    invalid_reads
}

#[test]
fn no_frame_stops_a_shipped_program_for_tofino() {
    assert_eq!(all_withstand("p4/tna", 20_000), [""; 0]);
}

#[test]
fn no_frame_stops_a_shipped_program_for_bmv2() {
    assert_eq!(all_withstand("p4/v1model", 10_000), [""; 0]);
}

#[test]
fn no_frame_stops_a_shipped_program_for_psa() {
    assert_eq!(all_withstand("p4/psa", 10_000), [""; 0]);
}

#[test]
fn no_frame_stops_a_shipped_program_for_the_network_processor() {
    for program in programs(&folder("p4/npu")) {
        let tally = withstand(&program, 10_000, 7);
        assert!(tally.sent > 100, "{}: {tally}", program.display());
        assert!(tally.invalid_read.is_none(), "{}: {tally}", program.display());
    }
}

#[test]
fn no_frame_stops_a_program_of_the_packet_tests() {
    all_withstand("tests/stf/tna", 5_000);
    all_withstand("tests/stf/v1model", 5_000);
}

#[test]
fn the_same_seed_sends_the_same_frames() {
    let (mut one, mut two) = (SplitMix64::new(3), SplitMix64::new(3));
    for _ in 0..100 {
        assert_eq!(frames::frame(&mut one), frames::frame(&mut two));
    }
}

#[test]
fn machine_code_flat_code_and_tree_do_the_same_to_every_frame() {
    let folders = ["p4/tna", "p4/v1model", "p4/npu", "p4/psa"];
    let tests = ["tests/stf/tna", "tests/stf/v1model", "tests/stf/psa"];
    for name in folders.into_iter().chain(tests) {
        for program in programs(&folder(name)) {
            let digest = |by| withstand_by(&program, 1_500, 11, by).digest;
            let tree = digest(Executor::Tree);
            assert_eq!(digest(Executor::Flat), tree, "{}", program.display());
            assert_eq!(digest(Executor::Native), tree, "{}", program.display());
        }
    }
}

fn plane(program: &str) -> Plane {
    let options = LoadOptions {
        include_paths: vec![folder("p4/include")],
        ..sojourn_engine::builtin::load_options()
    };
    load(folder(program), &options).unwrap_or_else(|error| panic!("{error}"))
}

/// The program's rejection of this entry, if any.
fn refusal(plane: &mut Plane, table: &str, entry: TableEntry) -> Option<String> {
    let tables = vec![TableEntries {
        name: table.to_owned(),
        entries: vec![entry],
        ..TableEntries::default()
    }];
    let control = ControlPlane { tables, ..ControlPlane::default() };
    plane.configure(&control).err().map(|error| error.to_string())
}

#[test]
fn entries_that_do_not_fit_are_refused_by_name_and_leave_the_table_as_it_was() {
    for program in ["tests/stf/v1model/match_kinds.p4", "tests/stf/tna/match_kinds.p4"] {
        let mut plane = plane(program);
        let mut random = SplitMix64::new(5);
        let described = describe(plane.control().program());
        let open = |table: &&_| {
            let table: &sojourn_control::describe::TableDescription = table;
            !table.const_entries && !table.keys.is_empty()
        };
        for table in described.tables.iter().filter(open) {
            let good = entries::entry(table, &mut random);
            let wide = |width: u32| Number(num_bigint::BigUint::from(1u8) << width);
            let mut wrong = Vec::new();
            for key in &table.keys {
                let mut entry = good.clone();
                let value = sojourn_control::MatchValue::Exact(wide(key.width));
                entry.matches.insert(key.name.clone(), value);
                wrong.push((entry, key.name.clone()));
            }
            let unknown = TableEntry { action: Some("nobody".into()), ..good.clone() };
            wrong.push((unknown, "nobody".to_owned()));
            let mut extra = good.clone();
            extra.args.insert("surplus".into(), Number::from(1));
            wrong.push((extra, "surplus".to_owned()));
            for (entry, named) in wrong {
                let said = refusal(&mut plane, &table.name, entry);
                let said = said.unwrap_or_else(|| panic!("{program}: {} {named}", table.name));
                assert!(said.contains(&named) || said.contains(&table.name), "{named}: {said}");
            }
            assert_eq!(refusal(&mut plane, &table.name, good.clone()), None, "{}", table.name);
            let twice = refusal(&mut plane, &table.name, good);
            assert!(twice.is_some_and(|said| said.contains(&table.name)), "{}", table.name);
        }
        let said = refusal(&mut plane, "nowhere", TableEntry::default()).unwrap();
        assert!(said.contains("nowhere"), "{said}");
    }
}

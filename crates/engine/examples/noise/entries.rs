//! Control plane for any program: the file next to it, and random entries for every table.
//!
//! Uses the description of the program. Entries that a file computes by name (`entries_from`) are
//! not supported here: random ones take their place.

use super::frames::below;
use num_bigint::BigUint;
use sojourn_control::ControlPlane;
use sojourn_control::describe::{ActionDescription, KeyDescription, TableDescription, describe};
use sojourn_control::{MatchValue, Number, TableEntries, TableEntry};
use sojourn_packet::SplitMix64;
use sojourn_target::Plane;
use std::path::Path;

/// Number of random entries of a table without its own.
const ENTRIES: u64 = 24;

/// Installs the control plane of the program, then random entries; rejected ones are ignored.
pub fn install(plane: &mut Plane, program: &Path, random: &mut SplitMix64) {
    plane.configure(&control_plane(program)).unwrap_or_else(|error| panic!("{program:?}: {error}"));
    let control = plane.control();
    let tables = describe(control.program()).tables;
    for table in tables.iter().filter(|table| !table.const_entries) {
        for _ in 0..ENTRIES {
            let entries = vec![entry(table, random)];
            let tables =
                vec![TableEntries { name: table.name.clone(), entries, ..TableEntries::default() }];
            // An entry may exist already, or exceed the table's size.
            let _ = plane.configure(&ControlPlane { tables, ..ControlPlane::default() });
        }
    }
}

/// The control plane in the file next to a program, or of the built-in program of its name, which a
/// packet test includes; empty if there is none.
fn control_plane(program: &Path) -> ControlPlane {
    let own = program.with_extension("toml");
    let folder = program.parent().and_then(Path::file_name).unwrap_or_default();
    let name = own.file_name().unwrap_or_default();
    let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../p4").join(folder).join(name);
    let Ok(text) = std::fs::read_to_string(own).or_else(|_| std::fs::read_to_string(shipped))
    else {
        return ControlPlane::default();
    };
    let mut document: toml::Table = text.parse().expect("a control plane in TOML");
    if let Some(tables) = document.get_mut("tables").and_then(|tables| tables.as_array_mut()) {
        tables.iter_mut().for_each(|table| add_route(table).unwrap_or_default());
        tables.retain(|table| table.get("entries_from").is_none());
    }
    document.try_into().expect("a control plane")
}

/// Puts a route for 10.0.0.0/8 in the place of those that a network would give.
fn add_route(table: &mut toml::Value) -> Option<()> {
    let table = table.as_table_mut()?;
    let routes = table.get("entries_from")?.get("routes")?.clone();
    let name = |key: &str| routes.get(key).and_then(toml::Value::as_str);
    let mut args = routes.get("args").and_then(toml::Value::as_table).cloned().unwrap_or_default();
    args.insert(name("port")?.into(), 2.into());
    if let Some(rate) = name("rate") {
        args.insert(rate.into(), 1_000.into());
    }
    let (key, action) = (name("key")?, name("action")?);
    let text = format!(
        "match = {{ \"{key}\" = {{ value = \"0x0a000000\", prefix = 8 }} }}\naction = \"{action}\""
    );
    let mut entry: toml::Table = text.parse().ok()?;
    entry.insert("args".into(), toml::Value::Table(args));
    table.remove("entries_from");
    table.insert("entries".into(), vec![toml::Value::Table(entry)].into());
    Some(())
}

/// A random number of `width` bits, often a small one.
fn number(width: u32, random: &mut SplitMix64) -> Number {
    let mut value = BigUint::ZERO;
    for _ in 0..width.div_ceil(64) {
        value = (value << 64) + random.next();
    }
    let bits = if below(random, 2) == 0 { width.min(4) } else { width };
    Number(value % (BigUint::from(1u8) << bits))
}

/// An entry that fits the table.
pub fn entry(table: &TableDescription, random: &mut SplitMix64) -> TableEntry {
    let matches = table.keys.iter().filter(|key| key.match_kind != "selector");
    let matches = matches.map(|key| (key.name.clone(), matched(key, random))).collect();
    let actions: Vec<&ActionDescription> =
        table.actions.iter().filter(|action| !action.default_only).collect();
    let Some(action) = actions.get(below(random, actions.len().max(1) as u64) as usize) else {
        return TableEntry { matches, ..TableEntry::default() };
    };
    let args = action.parameters.iter();
    let args = args.map(|given| (given.name.clone(), number(given.width, random))).collect();
    TableEntry {
        matches,
        action: Some(action.name.clone()),
        args,
        priority: below(random, 100) as u32,
        ..TableEntry::default()
    }
}

fn matched(key: &KeyDescription, random: &mut SplitMix64) -> MatchValue {
    let value = number(key.width, random);
    match &*key.match_kind {
        "ternary" => {
            let mask = number(key.width, random);
            MatchValue::Ternary { value: Number(&value.0 & &mask.0), mask }
        }
        "lpm" => {
            let prefix = below(random, u64::from(key.width) + 1) as u32;
            let rest = key.width - prefix;
            MatchValue::Prefix { value: Number(value.0 >> rest << rest), prefix }
        }
        "range" => {
            let other = number(key.width, random);
            let (low, high) = if value.0 <= other.0 { (value, other) } else { (other, value) };
            MatchValue::Range { low, high }
        }
        _ => MatchValue::Exact(value),
    }
}

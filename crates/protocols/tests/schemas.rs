//! Schemas of programs: the whole schema of one with every feature, and the validity of every
//! built-in program's.

use prost::Message;
use sojourn_control::Schema;
use sojourn_protocols::wire::p4::config::v1 as p4;
use sojourn_protocols::{bfrt, p4info, p4info_bytes, p4info_text};
use sojourn_target::{LoadOptions, Program};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn schema(path: &Path) -> Schema {
    let include_paths = vec![root().join("p4/include"), path.with_file_name("common")];
    let options = LoadOptions { include_paths, ..sojourn_engine::builtin::load_options() };
    match Program::read(path, &options) {
        Ok(program) => program.schema(),
        Err(error) => panic!("{}: {}", path.display(), error.render(&Default::default())),
    }
}

fn shipped() -> Vec<PathBuf> {
    let folders =
        ["tna", "v1model", "npu", "psa", "plain"].map(|folder| root().join("p4").join(folder));
    let files = folders.iter().filter_map(|folder| fs::read_dir(folder).ok()).flatten();
    let files = files.filter_map(|entry| Some(entry.ok()?.path()));
    files.filter(|path| path.extension().is_some_and(|extension| extension == "p4")).collect()
}

/// Compares with the expectation in a file next to the test; `SCHEMAS=write` rewrites it for
/// review.
fn expect(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs").join(name);
    if std::env::var("SCHEMAS").is_ok_and(|value| value == "write") {
        fs::write(&path, text).expect("a place to write to");
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    assert!(expected == text, "{name} is not what the program gives now: {text}");
}

#[test]
fn a_program_with_everything_has_the_schemas_that_are_written_next_to_it() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/annotated.p4");
    let schema = schema(&path);
    expect("annotated.p4info.txtpb", &p4info_text(&p4info(&schema)));
    expect("annotated.bf-rt.json", &bfrt::text(&schema));
}

/// The values are those of p4c 1.2.5 for the annotation of the table; elsewhere they are the same
/// by specification 20.2: a number without a width, a text or a truth value.
#[test]
fn every_value_of_a_structured_annotation_is_folded_wherever_it_stands() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/structured.p4");
    let info = p4info(&schema(&path));
    let table = info.tables[0].preamble.as_ref().expect("a table has one");
    let [list, pairs] = &table.structured_annotations[..] else { panic!("{table:?}") };
    let values = "1 false false true false true false 3 -4 11 t 9 -2 x_y true";
    assert_eq!(shown(list), values);
    assert_eq!(shown(pairs), "a=false b=false c=true d=false e=4");
    let key = &info.tables[0].match_fields[0].structured_annotations;
    let reference = &info.tables[0].action_refs[0].structured_annotations;
    let action = info.actions.iter().find(|one| !one.params.is_empty()).expect("there is one");
    let parameter = &action.params[0].structured_annotations;
    for found in [key, reference, parameter] {
        assert_eq!(shown(&found[0]), "3 true", "{found:?}");
    }
}

/// The values of a structured annotation, in sequence.
fn shown(annotation: &p4::StructuredAnnotation) -> String {
    use p4::expression::Value;
    use p4::structured_annotation::Body;
    let one = |value: &Option<p4::Expression>| match value.as_ref().and_then(|v| v.value.as_ref()) {
        Some(Value::StringValue(text)) => text.clone(),
        Some(Value::Int64Value(number)) => number.to_string(),
        Some(Value::BoolValue(truth)) => truth.to_string(),
        None => "nothing".to_string(),
    };
    let words: Vec<String> = match &annotation.body {
        Some(Body::ExpressionList(list)) => {
            list.expressions.iter().map(|value| one(&Some(value.clone()))).collect()
        }
        Some(Body::KvPairList(list)) => {
            list.kv_pairs.iter().map(|pair| format!("{}={}", pair.key, one(&pair.value))).collect()
        }
        None => Vec::new(),
    };
    words.join(" ")
}

#[test]
fn the_binary_form_of_a_p4info_is_the_message_itself() {
    for path in shipped() {
        let info = p4info(&schema(&path));
        let read = p4::P4Info::decode(&p4info_bytes(&info)[..]).expect("what was just written");
        assert_eq!(read, info, "{}", path.display());
    }
}

#[test]
fn every_number_of_a_shipped_program_is_its_own_and_leads_somewhere() {
    let programs = shipped();
    assert!(programs.len() > 15, "{programs:?}");
    for path in programs {
        let info = p4info(&schema(&path));
        let tables: Vec<&p4::Preamble> =
            info.tables.iter().filter_map(|t| t.preamble.as_ref()).collect();
        let actions: Vec<&p4::Preamble> =
            info.actions.iter().filter_map(|a| a.preamble.as_ref()).collect();
        let registers = info.registers.iter().filter_map(|r| r.preamble.as_ref());
        let all: Vec<&p4::Preamble> =
            tables.iter().copied().chain(actions.iter().copied()).chain(registers).collect();
        let ids: BTreeSet<u32> = all.iter().map(|preamble| preamble.id).collect();
        assert_eq!(ids.len(), all.len(), "{}", path.display());
        assert!(all.iter().all(|p| p.name.ends_with(&p.alias)), "{}", path.display());
        let known: BTreeSet<u32> = actions.iter().map(|preamble| preamble.id).collect();
        for table in &info.tables {
            let default = table.initial_default_action.as_ref().map(|call| call.action_id);
            let listed: BTreeSet<u32> = table.action_refs.iter().map(|listed| listed.id).collect();
            assert!(listed.is_subset(&known), "{}: {table:?}", path.display());
            assert!(default.is_none_or(|id| listed.contains(&id)), "{}", path.display());
        }
    }
}

#[test]
fn the_tables_of_both_schemas_are_the_same() {
    for path in shipped() {
        let schema = schema(&path);
        let info = p4info(&schema);
        let document = bfrt::bfrt(&schema);
        let tables = document["tables"].as_array().expect("tables");
        let named: BTreeSet<&str> =
            tables.iter().filter_map(|table| table["name"].as_str()).collect();
        let ids: BTreeSet<u64> = tables.iter().filter_map(|table| table["id"].as_u64()).collect();
        assert_eq!(ids.len(), tables.len(), "{}", path.display());
        let preambles = info.tables.iter().filter_map(|table| table.preamble.as_ref());
        let registers = info.registers.iter().filter_map(|register| register.preamble.as_ref());
        for preamble in preambles.chain(registers) {
            let name = format!("pipe.{}", preamble.name);
            assert!(named.contains(&*name), "{}: {name}", path.display());
        }
    }
}

//! Programs of `p4/t2na` on Tofino 2: they load with this chip's declarations, and its numbers hold.

use sojourn_p4::preprocess::FileLoader;
use sojourn_target::{Program, Target, Targets};
use sojourn_tofino::{LoadError, LoadOptions, TOFINO1, TOFINO2, TOFINO2M, fit, load_with};
use std::path::{Path, PathBuf};

static CHIPS: Targets = Targets(&[&TOFINO1 as &dyn Target, &TOFINO2, &TOFINO2M]);

fn p4() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../p4")
}

fn options(target: Option<&'static dyn Target>) -> LoadOptions {
    let include_paths = vec![p4().join("include"), p4().join("tna")];
    LoadOptions { include_paths, targets: CHIPS, target, ..LoadOptions::default() }
}

fn compiled(program: &str, target: Option<&'static dyn Target>) -> Result<Program, LoadError> {
    Program::read(p4().join(program), &options(target))
}

fn stages(program: &str, target: Option<&'static dyn Target>) -> serde_json::Value {
    let checked = compiled(program, target).expect("it is P4").check();
    assert!(checked.ok, "{program}: {:?}", checked.diagnostics);
    serde_json::from_str(&checked.stages.expect("the chip has stages").json).expect("JSON")
}

#[test]
fn each_program_of_t2na_is_for_tofino_2_and_fits_its_20_stages() {
    let files = std::fs::read_dir(p4().join("t2na")).expect("the folder");
    let names = files.map(|file| file.expect("a file").file_name().into_string().expect("UTF-8"));
    let programs: Vec<String> = names.filter(|name| name.ends_with(".p4")).collect();
    assert!(programs.len() >= 7, "{programs:?}");
    for program in programs {
        let program = format!("t2na/{program}");
        assert_eq!(compiled(&program, None).expect("it is P4").target().name(), "tofino2");
        let stages = stages(&program, None);
        assert_eq!(
            (&stages["chip"], &stages["stages_available"]),
            (&"Tofino 2".into(), &20.into())
        );
        assert_eq!(stages["fits"], true, "{program}");
    }
}

#[test]
fn the_program_of_the_first_chip_compiles_for_the_second_where_the_caller_says_so() {
    let of = |target| compiled("tna/codel_exact.p4", target).expect("it is P4").target().name();
    assert_eq!(
        [of(None), of(Some(&TOFINO1)), of(Some(&TOFINO2))],
        ["tofino1", "tofino1", "tofino2"]
    );
    assert_eq!(of(Some(&TOFINO2M)), "tofino2m");
    assert_eq!(stages("tna/codel_exact.p4", Some(&TOFINO2M))["stages_available"], 12);
}

#[test]
fn declarations_of_the_other_chip_are_one_error_with_the_cure() {
    let error = |program, target| {
        let error = compiled(program, target).expect_err("the other chip's declarations");
        let errors: Vec<String> = error
            .diagnostics
            .iter()
            .filter(|diagnostic| diagnostic.is_error())
            .map(|diagnostic| diagnostic.message.clone())
            .collect();
        assert_eq!(errors.len(), 1, "{errors:?}");
        errors[0].clone()
    };
    let told = error("t2na/codel_exact.p4", Some(&TOFINO1 as &dyn Target));
    assert!(told.contains("t2na.p4 is for Tofino 2") && told.contains("include tna.p4"), "{told}");
    let told = error("plain/codel_rfc8289.p4", Some(&TOFINO2 as &dyn Target));
    assert!(told.contains("tna.p4 is for Tofino 1") && told.contains("include t2na.p4"), "{told}");
}

#[test]
fn the_switch_of_tofino_2_has_larger_cells_and_recirculates_at_its_first_ports() {
    let traits = TOFINO2.switch();
    let manager = traits.traffic_manager.expect("a chip has one");
    assert_eq!((manager.cell.0, manager.cells), (176, 256_000));
    assert_eq!(traits.recirculating[..9], [0, 1, 2, 3, 4, 5, 6, 7, 128]);
    assert_eq!(manager.mirror_sessions, (1, 239));
}

#[test]
fn load_takes_the_chip_from_the_program_s_package() {
    let loaded = load_with(&FileLoader, p4().join("t2na/red.p4"), &options(None));
    let loaded = loaded.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(fit::estimate(&loaded).stages_available, 20);
}

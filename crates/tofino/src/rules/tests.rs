//! The rules' programs: each breaks its rule only, and none in its corrected variant. The snapshots
//! contain the diagnostics for them and for the papers' programs.

use super::{all, find, list, page};
use crate::load::{LoadOptions, load_with};
use crate::testing::p4_folder;
use sojourn_p4::diagnostic::{Diagnostic, RenderOptions, render_all};
use sojourn_p4::preprocess::FileLoader;
use sojourn_p4::source::SourceMap;
use std::path::Path;
use std::sync::Arc;

/// Diagnostics of a program of the folder `rules`.
fn diagnostics(name: &str, broken: bool) -> (Vec<Diagnostic>, Arc<SourceMap>) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("rules");
    let defines = broken.then(|| ("BROKEN".to_owned(), "1".to_owned())).into_iter().collect();
    let options = LoadOptions {
        include_paths: vec![p4_folder().join("include")],
        defines,
        ..LoadOptions::default()
    };
    match load_with(&FileLoader, folder.join(format!("{name}.p4")), &options) {
        Ok(loaded) => (loaded.warnings, loaded.sources),
        Err(error) => (error.diagnostics, error.sources),
    }
}

fn text(name: &str, broken: bool) -> String {
    let (found, sources) = diagnostics(name, broken);
    let text = render_all(&found, &sources, &RenderOptions::default());
    // The folder of a checkout says nothing.
    text.replace(&format!("{}/", env!("CARGO_MANIFEST_DIR")), "")
}

#[test]
fn every_rule_has_a_program_that_breaks_it_and_nothing_else() {
    let mut wrong = String::new();
    for rule in all() {
        let (found, _) = diagnostics(rule.code, true);
        if found.is_empty() || found.iter().any(|d| d.code != rule.code) {
            wrong += &format!("---- {}\n{}\n", rule.code, text(rule.code, true));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn the_same_program_mended_is_accepted_without_a_word() {
    let mut wrong = String::new();
    for rule in all() {
        if !diagnostics(rule.code, false).0.is_empty() {
            wrong += &format!("---- {}\n{}\n", rule.code, text(rule.code, false));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn a_program_begins_with_its_rule() {
    for rule in all() {
        let first = rule.program.lines().next();
        assert_eq!(first, Some(&*format!("//! {}: {}.", rule.code, rule.title)));
    }
}

#[test]
fn codes_are_unique_and_in_order() {
    let codes: Vec<&str> = all().map(|rule| rule.code).collect();
    assert!(codes.is_sorted_by(|a, b| a < b), "{codes:?}");
}

#[test]
fn no_sentence_of_a_rule_ends_in_a_stop() {
    for rule in all() {
        for text in [rule.title, rule.reason, rule.cure] {
            assert!(!text.is_empty() && !text.ends_with('.'), "{}", rule.code);
        }
    }
}

#[test]
fn a_rule_is_found_by_its_code_in_either_case() {
    assert_eq!(find("t1101").map(|rule| rule.code), Some("T1101"));
    assert!(find("T9999").is_none());
}

#[test]
fn the_list_names_every_rule_once() {
    let list = list();
    for rule in all() {
        assert_eq!(list.matches(rule.code).count(), 1, "{}", rule.code);
    }
}

#[test]
fn explanations_fit_100_columns_and_show_both_variants() {
    for rule in all() {
        let text = rule.explanation();
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{}", rule.code);
        assert_ne!(rule.example(true), rule.example(false), "{}", rule.code);
        assert!(!text.contains("BROKEN") && !text.contains("#else"), "{text}");
    }
}

/// Compares with the file of this name in the folder `snapshots`.
fn compare(name: &str, text: &str) {
    insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_snapshot!(name, text);
    });
}

#[test]
fn diagnostics_of_every_rule_equal_the_stored_ones() {
    for rule in all() {
        compare(rule.code, &text(rule.code, true));
    }
}

#[test]
fn the_page_about_the_rules_is_up_to_date() {
    let severity = |rule: &super::Rule| {
        diagnostics(rule.code, true).0.iter().map(|d| d.severity).max().unwrap()
    };
    let path = p4_folder().join("../docs/rules.md");
    let written = std::fs::read_to_string(path).unwrap_or_default();
    let command = "cargo run -p sojourn-tofino --example rules > docs/rules.md";
    assert!(page(severity) == written, "docs/rules.md is old: {command}");
}

// ---- The programs of the CoDel-ACT paper (2024), section IV.A ---------------------------------

/// The code of each error about a program, with the places that it marks in their order.
fn marked(name: &str) -> Vec<(&'static str, Vec<String>)> {
    let (found, sources) = diagnostics(name, false);
    let text = |span| sources.text(span).to_owned();
    let marks = |d: &Diagnostic| {
        let spans = d.labels.iter().map(|label| label.span).chain([d.primary]);
        let mut spans: Vec<_> = spans.collect();
        spans.sort_by_key(|span| span.start);
        spans.into_iter().map(text).collect()
    };
    found.iter().map(|d| (d.code, marks(d))).collect()
}

#[test]
fn two_registers_in_two_orders_are_refused_as_in_figure_9() {
    compare("figure_9", &text("papers/figure_9", false));
    let codes: Vec<&str> = marked("papers/figure_9").iter().map(|(code, _)| *code).collect();
    assert_eq!(codes, ["T1102", "T1102"], "one for each register");
}

#[test]
fn a_register_read_under_two_conditions_is_refused_as_in_figure_10() {
    compare("figure_10", &text("papers/figure_10", false));
    let read = "R1_read.execute(eg.egress_port)".to_owned();
    assert_eq!(marked("papers/figure_10"), [("T0705", vec![read.clone(), read])]);
}

#[test]
fn codel_as_the_rfc_has_it_is_refused_for_the_papers_two_reasons() {
    compare("codel_rfc", &text("papers/codel_rfc", false));
    let found = marked("papers/codel_rfc");
    let of = |code: &'static str| {
        found.iter().filter(move |(known, _)| *known == code).map(|(_, lines)| lines)
    };
    // Reason 1: codel_init and codel_update share count and drop_next, and meet them in the
    // opposite order.
    let marks = |lines: &Vec<String>, init: &str, update: &str| {
        [init, update].iter().all(|name| lines.iter().any(|line| line.starts_with(name)))
    };
    let [count, drop_next] = of("T1102").collect::<Vec<_>>()[..] else { panic!("{found:?}") };
    assert!(marks(count, "read_count", "increment_count"), "{count:?}");
    assert!(marks(drop_next, "read_drop_next", "write_drop_next"), "{drop_next:?}");
    // Reason 2: codel_init reads count and writes it later.
    let read_then_written =
        |lines: &&Vec<String>| lines[0].contains("read_count") && lines[1].contains("write_count");
    assert_eq!(of("T0701").filter(read_then_written).count(), 1);
    assert!(found.iter().all(|(code, _)| ["T0701", "T1102"].contains(code)));
}

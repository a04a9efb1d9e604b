//! List of all rules for a terminal, and the Markdown page `docs/rules.md`.

use super::{Rule, all};
use sojourn_p4::diagnostic::Severity;

/// Meaning of a code's first digits.
const GROUPS: [(&str, &str); 13] = [
    ("T01", "entries of registers"),
    ("T02", "comparisons in register actions"),
    ("T03", "updates in register actions"),
    ("T04", "outputs of register actions"),
    ("T05", "what the actions of a register share"),
    ("T06", "statements of register actions"),
    ("T07", "accesses to registers"),
    ("T08", "the program as a whole"),
    ("T09", "deparsers"),
    ("T10", "conditions, actions and keys"),
    ("T11", "stages"),
    ("T12", "accepted, but probably not meant"),
    ("T13", "parsers"),
];

/// All rules, one a line, under the headings of their groups.
pub fn list() -> String {
    let mut text = String::new();
    for (prefix, heading) in GROUPS {
        let gap = if text.is_empty() { "" } else { "\n" };
        text.push_str(&format!("{gap}{prefix}  {heading}\n"));
        for rule in all().filter(|rule| rule.code.starts_with(prefix)) {
            text.push_str(&format!("  {}  {}\n", rule.code, rule.title));
        }
    }
    text
}

/// The page about all rules as Markdown; `severity` says how bad it is to break one.
pub fn page(severity: impl Fn(&Rule) -> Severity) -> String {
    let mut text = PAGE_HEAD.to_owned();
    for (prefix, heading) in GROUPS {
        text.push_str(&format!("\n## {prefix}: {heading}\n"));
        for rule in all().filter(|rule| rule.code.starts_with(prefix)) {
            let mark = match severity(rule) {
                Severity::Error => String::new(),
                other => format!(" ({other})"),
            };
            text.push_str(&format!("\n### {}: {}{mark}\n\n", rule.code, rule.title));
            let shown = [
                ("text", format!("src/rules/snapshots/{}.snap", rule.code), 4),
                ("p4", format!("rules/{}.p4", rule.code), 3),
            ];
            for (language, file, first) in shown {
                text.push_str(&format!(
                    "```{{literalinclude}} ../crates/tofino/{file}\n:language: {language}\n:lines: {first}-\n```\n"
                ));
            }
        }
    }
    text
}

/// Text of the page before the rules.
const PAGE_HEAD: &str = "\
# The rules of Tofino

Each rule of `sojourn check` with what it prints for its example: the fault, the reason on the chip and
what to write instead. `sojourn check --explain CODE` prints one, `--explain` lists the codes.

An error is a program that the chip cannot run, or would run otherwise than its text says; a warning,
which its heading names, one whose author probably means something else, or of which only the compiler
knows whether it fits.

[Messages of the Tofino compiler](compiler-messages.md) names the rules for what the compiler refuses.

The example of a rule is one program, `crates/tofino/rules/CODE.p4`: with `-D BROKEN` it breaks its
rule and no other, without it keeps all. This page is written by

    cargo run -p sojourn-tofino --example rules > docs/rules.md
";

//! Limits of table keys (T1010, T1017, T1024), after `bf-p4c/mau/resource_estimate.cpp`,
//! `bf-p4c/midend/check_unsupported.cpp` and `bf-p4c/mau/handle_assign.cpp`.

use super::condition::field_width;
use crate::rules;
use sojourn_p4::diagnostic::Diagnostic;
use sojourn_p4::ir::{ObjectArg, Program, Table};

/// Bits of a range key: five nibbles.
const RANGE_KEY_BITS: u32 = 20;

/// Checks the keys of a table.
pub fn check(program: &Program, table: &Table, found: &mut Vec<Diagnostic>) {
    for key in table.keys.iter().filter(|key| &*key.match_kind == "range") {
        let width = field_width(&key.expr);
        if width > RANGE_KEY_BITS {
            let message = format!("a range key of {width} bits");
            found.push(rules::RANGE_KEY.refuse(key.expr.span, message).into());
        }
    }
    check_prefixes(table, found);
    check_selector(program, table, found);
}

/// A selector chooses by a hash of keys.
fn check_selector(program: &Program, table: &Table, found: &mut Vec<Diagnostic>) {
    let selector = table.properties.iter().find_map(|(name, value)| match value {
        ObjectArg::Object(id) if &**name == "implementation" => {
            let object = &program.objects[id.index()];
            (&*object.of == "ActionSelector").then_some(object)
        }
        _ => None,
    });
    let has_key = table.keys.iter().any(|key| &*key.match_kind == "selector");
    if let Some(selector) = selector.filter(|_| !has_key) {
        let message = format!("`{}` gives `{}` no selector key", table.name, selector.name);
        let refused = rules::SELECTOR_KEY.refuse(table.span, message);
        found.push(refused.with_place(selector.span, "the selector").into());
    }
}

/// One prefix, and no mask or range with it.
fn check_prefixes(table: &Table, found: &mut Vec<Diagnostic>) {
    let of_kind = |kind: &str| table.keys.iter().filter(|key| &*key.match_kind == kind).collect();
    let [prefixes, masks, ranges]: [Vec<_>; 3] = ["lpm", "ternary", "range"].map(of_kind);
    let Some(prefix) = prefixes.first() else { return };
    let others = [
        (prefixes.get(1), "a second lpm key"),
        (masks.first(), "a ternary key with an lpm key"),
        (ranges.first(), "a range key with an lpm key"),
    ];
    for (key, message) in others {
        if let Some(key) = key {
            let refused = rules::ONE_LPM.refuse(key.span, message);
            found.push(refused.with_place(prefix.span, "the lpm key").into());
        }
    }
}

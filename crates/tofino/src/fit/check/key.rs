//! Limits of table keys (T1010, T1017), after `bf-p4c/mau/resource_estimate.cpp` and
//! `bf-p4c/midend/check_unsupported.cpp`.

use super::condition::field_width;
use crate::rules;
use sojourn_p4::diagnostic::Diagnostic;
use sojourn_p4::ir::Table;

/// Bits of a range key: five nibbles.
const RANGE_KEY_BITS: u32 = 20;

/// Checks the keys of a table.
pub fn check(table: &Table, found: &mut Vec<Diagnostic>) {
    for key in table.keys.iter().filter(|key| &*key.match_kind == "range") {
        let width = field_width(&key.expr);
        if width > RANGE_KEY_BITS {
            let message = format!("a range key of {width} bits");
            found.push(rules::RANGE_KEY.refuse(key.expr.span, message).into());
        }
    }
    check_prefixes(table, found);
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

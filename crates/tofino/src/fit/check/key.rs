//! What a table can match (T1010): `bf-p4c/mau/resource_estimate.cpp` has the rule.

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
}

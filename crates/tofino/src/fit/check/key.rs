//! Limits of table keys and sizes (T1010, T1017, T1032, T1033), after
//! `bf-p4c/mau/resource_estimate.cpp`, `bf-p4c/mau/table_layout.cpp`,
//! `bf-p4c/phv/table_phv_constraints.h` and `bf-p4c/midend/check_unsupported.cpp`.

use super::condition::field_width;
use crate::chip::Chip;
use crate::fit::resources::{Resource, TCAM_BITS, TCAM_WORDS, entries};
use crate::rules;
use sojourn_p4::diagnostic::Diagnostic;
use sojourn_p4::ir::Table;

/// Bits of a range key: five nibbles.
const RANGE_KEY_BITS: u32 = 20;
/// Bits of the keys of a table with ternary keys: what a stage's crossbar brings to its TCAM.
const TERNARY_BITS: u32 = Resource::TernaryCrossbarBytes.limit() * 8 - 4;

/// Checks the keys of a table.
pub fn check(chip: &Chip, table: &Table, found: &mut Vec<Diagnostic>) {
    for key in table.keys.iter().filter(|key| &*key.match_kind == "range") {
        let width = field_width(&key.expr);
        if width > RANGE_KEY_BITS {
            let message = format!("a range key of {width} bits");
            found.push(rules::RANGE_KEY.refuse(key.expr.span, message).into());
        }
    }
    check_prefixes(table, found);
    check_tcam(chip, table, found);
    if table.size == Some(0) {
        let message = format!("`{}` has a size of 0", table.name);
        found.push(rules::TABLE_SIZE.refuse(table.span, message).into());
    }
}

/// The bits of a table with ternary keys.
fn check_tcam(chip: &Chip, table: &Table, found: &mut Vec<Diagnostic>) {
    let width = |ternary_alone: bool| -> u32 {
        let keys = table.keys.iter().filter(|key| match &*key.match_kind {
            "ternary" => true,
            "selector" => false,
            _ => !ternary_alone,
        });
        keys.map(|key| key.expr.scalar.width()).sum()
    };
    let ternary = width(true);
    if ternary == 0 {
        return;
    }
    let all = width(false);
    let stage = u64::from(Resource::TcamBlocks.limit()) * TCAM_WORDS * u64::from(TCAM_BITS);
    let (size, most) = (entries(table), stage * u64::from(chip.stages));
    let message = if all > TERNARY_BITS {
        format!("the keys of `{}` have {all} bits", table.name)
    } else if u64::from(ternary).saturating_mul(size) > most {
        format!("`{}` has {size} entries with {ternary} bits of ternary keys", table.name)
    } else {
        return;
    };
    found.push(rules::TERNARY_SIZE.refuse(table.span, message).into());
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

//! CoDel's control law as table entries: INTERVAL / sqrt(count) for every count a key can be.
//!
//! Uses integers only, so that the entries are equal on every machine: RFC 8289 section 5.6,
//! rounded to the nearest nanosecond. The interval is a constant of the program, not a number in
//! the document, so that program and table cannot differ. Must not depend on the switch in which a
//! count is looked up.

use crate::runtime_control::LAST_HANDLE;
use serde_json::Value;
use sojourn_p4::diagnostic::near_name;
use sojourn_p4::interp::tables::{EntryTemplate, Form, Rows};
use sojourn_p4::ir::{Key, Layout, Program, Table};
use std::collections::BTreeMap;

/// Significant bits of a large count, its leading one included: accurate to 0.1 %.
const LEADING_BITS: u32 = 9;

/// Bits behind the binary point of a square root.
const FRACTION: u32 = 32;

/// Computed entries, by the generator's name and its options.
pub(super) type EntriesFrom = BTreeMap<String, Value>;

/// An interval from which entries are computed, and the first and the last count.
struct ControlLaw {
    interval: u128,
    first: u64,
    last: u64,
}

/// Computes the entries that `from` describes for a table of a program.
///
/// # Errors
/// Returns an error that says what is wrong with `from`.
pub(super) fn entries(
    from: &EntriesFrom,
    table: &Table,
    program: &Program,
) -> Result<Rows, String> {
    let mut named = from.iter();
    let (Some((generator, options)), None) = (named.next(), named.next()) else {
        return Err("entries_from names one generator, as in entries_from = { control_law = { \
                    interval = \"INTERVAL\", counts = [1, 1023] } }"
            .into());
    };
    match generator.as_str() {
        "control_law" => control_law(&law(options, program)?, table),
        "queue_delay" => super::queue_delay_entries::entries(options, table, program),
        other => {
            let near = hint(other, ["control_law", "queue_delay"]);
            Err(format!("entries_from: no generator \"{other}\"{near}"))
        }
    }
}

fn hint<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    near_name(name, known).map_or_else(String::new, |n| format!("; did you mean \"{n}\"?"))
}

fn law(options: &Value, program: &Program) -> Result<ControlLaw, String> {
    let keys = |map: &serde_json::Map<String, Value>| map.keys().all(|k| OPTIONS.contains(&&**k));
    let Some(options) = options.as_object().filter(|map| map.len() == 2 && keys(map)) else {
        return Err(
            "control_law takes interval, a constant's name, and counts, like { interval = \
                    \"INTERVAL\", counts = [1, 1023] }"
                .into(),
        );
    };
    let (interval, counts) = (&options["interval"], &options["counts"]);
    let interval = constant(program, "interval", interval)?;
    let ends = ends(counts).filter(|(first, _)| *first > 0);
    let (first, last) = ends.ok_or("counts are the first and the last count, like [1, 1023]")?;
    Ok(ControlLaw { interval: interval.into(), first, last })
}

/// The first and the last number of an option, in their order.
pub(super) fn ends(given: &Value) -> Option<(u64, u64)> {
    let [first, last] = &given.as_array()?[..] else { return None };
    let (first, last) = (first.as_u64()?, last.as_u64()?);
    (first <= last).then_some((first, last))
}

/// The value of the constant that an option of a generator names, below 2^60.
pub(super) fn constant(program: &Program, option: &str, given: &Value) -> Result<u64, String> {
    let Some(name) = given.as_str().filter(|name| is_identifier(name)) else {
        return Err(format!(
            "{option} = {given}: name a constant of the program, so that the table and the \
             program cannot have different ones"
        ));
    };
    let known = || program.constants.keys().map(|known| &**known);
    let Some(value) = program.constants.get(name) else {
        return Err(format!("the program has no constant \"{name}\"{}", hint(name, known())));
    };
    // Four times the square fits; 2^60 ns are 36 years.
    let number = value.to_string().parse::<u64>().ok().filter(|value| value >> 60 == 0);
    number.ok_or_else(|| format!("the constant {name} is {value}, which is no {option}"))
}

/// Options of the control law.
const OPTIONS: [&str; 2] = ["interval", "counts"];

fn is_identifier(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// A table with an exact key gets an entry for each count, one with a ternary key an entry for each
/// pattern of leading bits.
fn control_law(law: &ControlLaw, table: &Table) -> Result<Rows, String> {
    let (key, action, parameter) = one_parameter("control_law", table)?;
    let width = width_for("counts", law.last, key)?;
    let rows_by = |form| {
        let (keys, args) = (vec![(key.name.to_string(), form)], vec![parameter.clone()]);
        Rows::new(EntryTemplate { keys, action: action.clone(), args, prioritised: false })
    };
    match &*key.match_kind {
        "exact" => {
            let mut rows = rows_by(Form::Exact);
            rows.reserve(room("counts", (law.first, law.last), table)?);
            for count in law.first..=law.last {
                rows.push([count.into(), spacing(law, count)]);
            }
            Ok(rows)
        }
        "ternary" => {
            let top = 1u64.checked_shl(width).map_or(u64::MAX, |end| end - 1);
            if !law.first.is_power_of_two() || law.last != top || width > 63 {
                let range = format!("counts go from a power of two to {top}");
                return Err(format!("for a ternary key {range}"));
            }
            let mut rows = rows_by(Form::Ternary);
            by_leading_bits(law, width).for_each(|row| rows.push(row));
            Ok(rows)
        }
        kind => Err(format!("control_law has no entries for a {kind} key")),
    }
}

/// The key of a table of one field, and its one action with its one parameter.
pub(super) fn one_parameter<'t>(
    generator: &str,
    table: &'t Table,
) -> Result<(&'t Key, String, String), String> {
    let [key] = &table.keys[..] else {
        let keys = table.keys.len();
        return Err(format!("{generator} wants a key of one field, not of {keys}"));
    };
    let one_action = || format!("{generator} wants a table with one action with one parameter");
    let actions: Vec<_> = table.actions.iter().filter(|action| !action.default_only).collect();
    let [action] = actions[..] else { return Err(one_action()) };
    let [(parameter, Layout::Narrow(..) | Layout::Wide(..))] = &action.data[..] else {
        return Err(one_action());
    };
    Ok((key, action.name.to_string(), parameter.to_string()))
}

/// Bits of a key that can hold the last number of an option.
pub(super) fn width_for(option: &str, last: u64, key: &Key) -> Result<u32, String> {
    let width = key.expr.scalar.width();
    match width < 64 && last >> width != 0 {
        true => Err(format!("{option} end at {last}, but the key has {width} bits")),
        false => Ok(width),
    }
}

/// Number of keys from the first to the last, if the table has space for an entry for each.
pub(super) fn room(what: &str, (first, last): (u64, u64), table: &Table) -> Result<usize, String> {
    let counts = u128::from(last - first) + 1;
    let most = table.size.unwrap_or(u64::MAX).min(LAST_HANDLE as u64 + 1);
    match usize::try_from(counts) {
        Ok(counts) if counts as u64 <= most => Ok(counts),
        _ => Err(format!(
            "{what} = [{first}, {last}] are {counts} entries, but the table holds at most {most}"
        )),
    }
}

/// INTERVAL / sqrt(count), rounded to the nearest, halves up.
///
/// With x = interval / sqrt(count), floor(2 x) is the integer square root of the integer quotient 4
/// interval^2 / count: no square lies between a number and its integer part.
fn spacing(law: &ControlLaw, count: u64) -> u128 {
    let square = 4 * law.interval * law.interval;
    // Native words where they are wide enough: every interval up to 2.1 s.
    match u64::try_from(square) {
        Ok(square) => (square / count).isqrt().div_ceil(2).into(),
        Err(_) => (square / u128::from(count)).isqrt().div_ceil(2),
    }
}

/// Pattern, mask and value for each pattern of leading bits of a count of `width` bits.
///
/// The value for a group of counts minimises the largest relative error, the harmonic mean of the
/// group's ends: at most 1 / 2^(bits + 1), and the half nanosecond of rounding.
fn by_leading_bits(law: &ControlLaw, width: u32) -> impl Iterator<Item = [u128; 3]> {
    (law.first.ilog2()..width).flat_map(move |exponent| {
        let group = 1u64 << exponent.saturating_sub(LEADING_BITS - 1);
        let mask = (1u64 << width) - group;
        let lows = (1u64 << exponent..2 << exponent).step_by(group as usize);
        lows.map(move |low| {
            let datum = between(law, low, low + (group - 1));
            [low.into(), mask.into(), datum]
        })
    })
}

/// 2 interval / (sqrt(low) + sqrt(high)), rounded to the nearest.
fn between(law: &ControlLaw, low: u64, high: u64) -> u128 {
    let root = |of: u64| (u128::from(of) << (2 * FRACTION)).isqrt();
    (((4 * law.interval) << FRACTION) / (root(low) + root(high))).div_ceil(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn law_of(interval: u128) -> ControlLaw {
        ControlLaw { interval, first: 1, last: 9 }
    }

    #[test]
    fn the_ends_of_an_option_are_two_numbers_in_their_order() {
        let of = |text: &str| ends(&serde_json::from_str(text).unwrap());
        assert_eq!(of("[1, 1023]"), Some((1, 1023)));
        assert_eq!(of("[0, 0]"), Some((0, 0)));
        for text in ["[2, 1]", "[1]", "[1, 2, 3]", "[1, \"x\", 3]", "[1.5, 3]", "[-1, 3]", "7"] {
            assert_eq!(of(text), None, "{text}");
        }
    }

    #[test]
    fn a_spacing_is_rounded_half_up() {
        // 3 / sqrt(4) = 1.5 and 1 / sqrt(4) = 0.5
        assert_eq!((spacing(&law_of(3), 4), spacing(&law_of(1), 4)), (2, 1));
        // RFC 8289, section 5.6, for 100 ms.
        let ms_100 = law_of(100_000_000);
        assert_eq!([1, 2, 3].map(|n| spacing(&ms_100, n)), [100_000_000, 70_710_678, 57_735_027]);
    }

    #[test]
    fn a_group_of_one_count_has_the_spacing_of_that_count() {
        let law = law_of(100_000_000);
        for count in 1..=1_000 {
            assert_eq!(between(&law, count, count), spacing(&law, count), "{count}");
        }
    }

    #[test]
    fn every_count_is_in_one_group_and_within_a_thousandth_of_the_law() {
        let law = ControlLaw { interval: 100_000_000, first: 1024, last: (1 << 20) - 1 };
        let groups: Vec<_> = by_leading_bits(&law, 20).collect();
        for count in (1024..1u64 << 20).step_by(997) {
            let matching: Vec<_> = groups
                .iter()
                .filter(|[value, mask, _]| u128::from(count) & mask == *value)
                .collect();
            let [[_, _, given]] = matching[..] else {
                panic!("{count}: {} groups", matching.len())
            };
            let exact = 1e8 / (count as f64).sqrt();
            assert!((*given as f64 - exact).abs() <= exact / 1_000.0 + 1.0, "{count}: {given}");
        }
    }
}

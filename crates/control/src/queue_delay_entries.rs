//! Delays of a queue as table entries: the time that a packet waits behind each depth.
//!
//! delay = (ahead + depth x unit) / rate, rounded to the nearest nanosecond; 0 for depth 0. The
//! three numbers are constants of the program, as for the control law. Must not depend on the
//! switch that reports a depth.

use super::codel_entries::{constant, ends, one_parameter, room, width_for};
use serde_json::Value;
use sojourn_p4::interp::tables::{EntryTemplate, Form, Rows};
use sojourn_p4::ir::{Program, Table};

/// Options of the generator.
const FORM: &str = "queue_delay takes rate, unit and ahead, names of constants in bit/s, bits and \
                    bits, and depths, like { rate = \"LINK_RATE\", unit = \"CELL_BITS\", ahead = \
                    \"BITS_AHEAD\", depths = [0, 8191] }";

/// Computes the entries for the depths that `options` name.
///
/// # Errors
/// Returns an error that says what is wrong with the options or the table.
pub(super) fn entries(options: &Value, table: &Table, program: &Program) -> Result<Rows, String> {
    let names = ["rate", "unit", "ahead"];
    let map = options.as_object().filter(|map| {
        let known = |key: &String| names.contains(&&**key) || key == "depths";
        map.len() == 4 && map.keys().all(known)
    });
    let map = map.ok_or(FORM)?;
    let number = |name: &str| constant(program, name, &map[name]);
    let [rate, unit, ahead] = [number("rate")?, number("unit")?, number("ahead")?];
    if rate == 0 {
        return Err("the constant for rate is 0; it must be at least 1 bit/s".into());
    }
    let depths = ends(&map["depths"]);
    let (first, last) = depths.ok_or("depths are the first and the last depth, like [0, 8191]")?;
    let (key, action, parameter) = one_parameter("queue_delay", table)?;
    if &*key.match_kind != "exact" {
        return Err(format!("queue_delay has no entries for a {} key", key.match_kind));
    }
    width_for("depths", last, key)?;
    let (keys, args) = (vec![(key.name.to_string(), Form::Exact)], vec![parameter]);
    let mut rows = Rows::new(EntryTemplate { keys, action, args, prioritised: false });
    rows.reserve(room("depths", (first, last), table)?);
    for depth in first..=last {
        rows.push([depth.into(), delay([rate, unit, ahead].map(u128::from), depth)]);
    }
    Ok(rows)
}

/// Nanoseconds, at most half of what 32 bits hold.
fn delay([rate, unit, ahead]: [u128; 3], depth: u64) -> u128 {
    if depth == 0 {
        return 0;
    }
    // Three numbers below 2^60 and a depth below 2^64 can exceed 128 bits.
    let bits = u128::from(depth).saturating_mul(unit).saturating_add(ahead);
    let scaled = bits.saturating_mul(1_000_000_000).saturating_add(rate / 2);
    (scaled / rate).min(1 << 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delay_is_the_time_of_the_bits_in_front_and_an_empty_queue_has_none() {
        let of = |depth| delay([100_000_000, 2734, 6835], depth);
        assert_eq!([of(0), of(1)], [0, 95_690]);
        assert_eq!(of(9), (9 * 2734 + 6835) * 10);
        assert_eq!(delay([1, 1 << 59, 0], u64::MAX), 1 << 31);
    }
}

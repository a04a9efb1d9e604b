//! Commands about the state of externs and parsers: registers, counters, meters, value sets.

use super::super::value_parser::{index, number, place};
use super::super::{ControlError, MatchValue, Number, Operation};
use super::session::{
    CommandError, Outcome, Question, Request, Session, first, misfit, one, take, these,
};
use crate::describe::ObjectDescription;
use sojourn_externs::meter::MeterSpec;

fn object<'s>(
    session: &'s Session,
    kind: &'static str,
    name: &str,
) -> Result<&'s ObjectDescription, ControlError> {
    session.program.object(kind, name)
}

fn query_request(question: Question) -> Outcome {
    Ok(vec![Request::Question(question)])
}

/// `register_read REGISTER [INDEX]`
pub(super) fn register_read(words: &[&str], session: &mut Session) -> Outcome {
    let words = take(words, 1, 2)?;
    let register = object(session, "register", words[0])?;
    let cell = match words.get(1) {
        Some(cell) => Ok(place(cell)?),
        None => Err(register.size.unwrap_or(0) as usize),
    };
    query_request(Question::Register(register.name.clone(), cell))
}

/// `register_write REGISTER INDEX VALUE`
pub(super) fn register_write(words: &[&str], session: &mut Session) -> Outcome {
    let [name, cell, value] = these(words)?;
    let register = object(session, "register", name)?;
    let at = cell_of("register", register, cell)?;
    let value = vec![number(value, "value", None)?];
    one(Operation::WriteRegister { name: register.name.clone(), index: Some(at), value })
}

/// `register_reset REGISTER`
pub(super) fn register_reset(words: &[&str], session: &mut Session) -> Outcome {
    let [name] = these(words)?;
    let name = object(session, "register", name)?.name.clone();
    // Of a register of pairs, both halves.
    let value = vec![Number::from(0); 2];
    one(Operation::WriteRegister { name, index: None, value })
}

/// `counter_read COUNTER INDEX`
pub(super) fn counter_read(words: &[&str], session: &mut Session) -> Outcome {
    let [name, cell] = these(words)?;
    let name = object(session, "counter", name)?.name.clone();
    query_request(Question::Counter(name, place(cell)?))
}

/// `counter_write COUNTER INDEX PACKETS BYTES`
pub(super) fn counter_write(words: &[&str], session: &mut Session) -> Outcome {
    let [name, cell, packets, bytes] = these(words)?;
    let counter = object(session, "counter", name)?;
    let (name, at) = (counter.name.clone(), cell_of("counter", counter, cell)?);
    let packets = index(packets, "packets", u64::MAX)?;
    let bytes = index(bytes, "bytes", u64::MAX)?;
    one(Operation::WriteCounter { name, index: Some(at), packets, bytes })
}

/// `counter_reset COUNTER`
pub(super) fn counter_reset(words: &[&str], session: &mut Session) -> Outcome {
    let [name] = these(words)?;
    let name = object(session, "counter", name)?.name.clone();
    one(Operation::WriteCounter { name, index: None, packets: 0, bytes: 0 })
}

/// `meter_set_rates METER INDEX RATE:BURST RATE:BURST`
pub(super) fn meter_set_rates(words: &[&str], session: &mut Session) -> Outcome {
    let ([name, cell], rates) = first(words)?;
    let meter = object(session, "meter", name)?;
    let (name, index) = (meter.name.clone(), cell_of("meter", meter, cell)?);
    one(Operation::SetMeter { name, index, spec: spec(rates)? })
}

/// `meter_array_set_rates METER RATE:BURST RATE:BURST`
pub(super) fn meter_array_set_rates(words: &[&str], session: &mut Session) -> Outcome {
    let ([name], rates) = first(words)?;
    let meter = object(session, "meter", name)?;
    let Some(size) = meter.size else {
        let name = &meter.name;
        return misfit(format!("meter {name} belongs to a table: set the rates of each entry"));
    };
    let spec = spec(rates)?;
    let cell =
        |index| Request::Operation(Operation::SetMeter { name: meter.name.clone(), index, spec });
    Ok((0..size as usize).map(cell).collect())
}

/// `meter_get_rates METER INDEX`
pub(super) fn meter_get_rates(words: &[&str], session: &mut Session) -> Outcome {
    let [name, cell] = these(words)?;
    let name = object(session, "meter", name)?.name.clone();
    query_request(Question::Meter(name, place(cell)?))
}

/// `pvs_add VALUE_SET VALUE`
pub(super) fn value_set_add(words: &[&str], _: &mut Session) -> Outcome {
    let [name, value] = these(words)?;
    let member = vec![MatchValue::Exact(number(value, "value", None)?)];
    one(Operation::AddToValueSet { name: name.to_owned(), member })
}

/// `pvs_clear VALUE_SET`
pub(super) fn value_set_clear(words: &[&str], _: &mut Session) -> Outcome {
    let [name] = these(words)?;
    one(Operation::ClearValueSet { name: name.to_owned() })
}

fn cell_of(what: &str, of: &ObjectDescription, text: &str) -> Result<usize, ControlError> {
    let at = place(text)?;
    match of.size {
        Some(size) if at as u64 >= size => Err(ControlError::Message(format!(
            "{what} {} has {size} cells, 0 to {}: there is no {at}",
            of.name,
            size.saturating_sub(1)
        ))),
        _ => Ok(at),
    }
}

/// Committed rate and burst, peak rate and burst, per second; bmv2's are per microsecond.
fn spec(words: &[&str]) -> Result<MeterSpec, CommandError> {
    let [committed, peak] = words else {
        let count = words.len();
        let why = format!("2 rates expected (committed, then peak), not {count}");
        return Err(CommandError::Form(why));
    };
    let ((cir, cbs), (pir, pbs)) = (rate(committed)?, rate(peak)?);
    if pir < cir {
        return misfit(format!("the peak rate {peak} is below the committed rate {committed}"));
    }
    Ok(MeterSpec { cir, cbs, pir, pbs })
}

fn rate(word: &str) -> Result<(u64, u64), CommandError> {
    let parts = word.split_once(':');
    let Some((rate, burst)) = parts.and_then(|(rate, burst)| Some((per_second(rate)?, burst)))
    else {
        let why = format!("{word} is not RATE:BURST (units per microsecond : units)");
        return Err(CommandError::Form(why));
    };
    Ok((rate, index(burst, "burst", u64::MAX)?))
}

/// A decimal number times 1,000,000, rounded to the nearest, a half to the even one.
fn per_second(text: &str) -> Option<u64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let is_number = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if whole.len() + fraction.len() == 0 || !is_number(whole) || !is_number(fraction) {
        return None;
    }
    let kept: String = fraction.chars().chain("000000".chars()).take(6).collect();
    let rest = fraction.get(6..).unwrap_or("").trim_end_matches('0');
    let below = format!("{whole}{kept}").parse::<u64>().ok()?;
    let up = match rest.as_bytes() {
        [] => false,
        [b'5'] => below % 2 == 1,
        [first, ..] => *first >= b'5',
    };
    below.checked_add(up.into())
}

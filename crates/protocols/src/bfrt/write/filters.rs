//! Cells of low-pass filters and of random early detection.

use super::{Verb, Writer};
use crate::bfrt::bfrt_json::field;
use crate::bfrt::fields::{Datum, Row, number_in};
use crate::bfrt::schema::Table;
use crate::failure::Failure;
use crate::wire::bfrt_proto as bfrt;
use sojourn_control::{Operation, Query, Reply};
use sojourn_externs::filter::{FilterSpec, Filtering, LpfSpec, WredSpec};

impl Writer<'_> {
    pub(super) fn filter(
        &mut self,
        table: &Table,
        verb: Verb,
        entry: &bfrt::TableEntry,
    ) -> Result<(), Failure> {
        self.reset_or_set(
            (table, verb, entry),
            |name, index| Operation::ResetFilter { name, index },
            |writer, index, row| writer.set_filter(&table.inner, index, row),
        )
    }

    /// Sets the given parts of a cell.
    pub(super) fn set_filter(
        &mut self,
        name: &str,
        index: usize,
        row: &Row,
    ) -> Result<(), Failure> {
        let query = Query::Filter { name: name.to_owned(), index };
        let Reply::Filter(before) = self.batch.read(&query)? else {
            return Err(Failure::invalid(format!("`{name}` is no filter")));
        };
        let spec = changed(before, row);
        let name = name.to_owned();
        self.apply(&Operation::SetFilter { name, index, spec }).map(drop)
    }
}

/// A cell with the given parts replaced.
fn changed(before: FilterSpec, row: &Row) -> FilterSpec {
    let fraction = |id, before| match row.get(&id) {
        Some(Datum::Float(value)) => f64::from(*value),
        _ => before,
    };
    let number = |id, before| number_in(row, id).map_or(before, |value| value as u32);
    match before {
        FilterSpec::Lpf(before) => FilterSpec::Lpf(LpfSpec {
            filtering: match row.get(&field::LPF_TYPE) {
                Some(Datum::Text(kind)) if kind == "RATE" => Filtering::Rate,
                Some(_) => Filtering::Sample,
                None => before.filtering,
            },
            gain: fraction(field::LPF_GAIN, before.gain),
            decay: fraction(field::LPF_DECAY, before.decay),
            scale: u8::try_from(number(field::LPF_SCALE, before.scale.into())).unwrap_or(u8::MAX),
        }),
        FilterSpec::Wred(before) => FilterSpec::Wred(WredSpec {
            time_constant: fraction(field::WRED_TIME, before.time_constant),
            min: number(field::WRED_MIN, before.min),
            max: number(field::WRED_MAX, before.max),
            probability: fraction(field::WRED_PROBABILITY, before.probability),
        }),
    }
}

/// True for ids of fields of filters.
pub(super) fn is_filter(id: u32) -> bool {
    (field::LPF_TYPE..=field::WRED_PROBABILITY).contains(&id)
}

/// Readable form of a cell.
pub fn filter_read(spec: &FilterSpec) -> Row {
    let float = |value: f64| Datum::Float(value as f32);
    match spec {
        FilterSpec::Lpf(spec) => {
            let kind = match spec.filtering {
                Filtering::Rate => "RATE",
                Filtering::Sample => "SAMPLE",
            };
            Row::from([
                (field::LPF_TYPE, Datum::text(kind)),
                (field::LPF_GAIN, float(spec.gain)),
                (field::LPF_DECAY, float(spec.decay)),
                (field::LPF_SCALE, Datum::number(spec.scale)),
            ])
        }
        FilterSpec::Wred(spec) => Row::from([
            (field::WRED_TIME, float(spec.time_constant)),
            (field::WRED_MIN, Datum::number(spec.min)),
            (field::WRED_MAX, Datum::number(spec.max)),
            (field::WRED_PROBABILITY, float(percent(spec.probability))),
        ]),
    }
}

/// A probability as the vendor's driver reads it: from the threshold of the random byte, in single
/// precision, in whole percents.
fn percent(probability: f64) -> f64 {
    let compared = f64::from((probability * 255.0) as f32);
    (compared * 100.0 / 255.0).floor() / 100.0
}

//! Reads of meters: the configuration of a cell.

use super::Reader;
use crate::failure::Failure;
use crate::wire::p4::v1 as p4;
use sojourn_control::{Query, Reply};
use sojourn_engine::control;
use tonic::Code;

impl Reader<'_> {
    /// Configuration of a meter's cell, if it is set.
    pub(super) fn meter(
        &mut self,
        name: &str,
        index: usize,
    ) -> Result<Option<p4::MeterConfig>, Failure> {
        let query = Query::Meter { name: name.to_owned(), index };
        let number = |value| i64::try_from(value).unwrap_or(i64::MAX);
        match control::read(self.switch, &query).map_err(Failure::from) {
            Ok(Reply::Meter(spec)) => Ok(Some(p4::MeterConfig {
                cir: number(spec.cir),
                cburst: number(spec.cbs),
                pir: number(spec.pir),
                pburst: number(spec.pbs),
                eburst: 0,
            })),
            // A cell that was never configured has no configuration.
            Err(failure) if failure.code == Code::OutOfRange => Ok(None),
            Ok(_) => Ok(None),
            Err(failure) => Err(failure),
        }
    }
}

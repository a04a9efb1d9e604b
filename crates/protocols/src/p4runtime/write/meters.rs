//! Updates of meters: the rates and bursts of a cell (`MeterEntry`, and `DirectMeterEntry` by `direct`).

use super::Writer;
use super::counters_registers::cell;
use crate::failure::Failure;
use crate::wire::p4::config::v1::meter_spec;
use crate::wire::p4::v1 as p4;
use sojourn_control::Operation;
use sojourn_externs::meter::MeterSpec;

impl Writer<'_> {
    /// An update of a meter.
    pub(super) fn meter(&mut self, given: &p4::MeterEntry) -> Result<(), Failure> {
        if given.counter_data.is_some() {
            return Err(Failure::unimplemented("meters do not count by colour"));
        }
        let missing = || Failure::no("meter", given.meter_id);
        let known = self.schema.meters.get(&given.meter_id).ok_or_else(missing)?;
        if known.table.is_some() {
            return Err(missing());
        }
        let cells = match cell(given.index.as_ref(), known.size)? {
            Some(index) => index..index + 1,
            None => 0..known.size as usize,
        };
        for index in cells {
            self.meter_cell(given.meter_id, index, given.config.as_ref())?;
        }
        Ok(())
    }

    /// Configures a cell of a meter; without a configuration all packets are green.
    pub(super) fn meter_cell(
        &mut self,
        meter: u32,
        index: usize,
        config: Option<&p4::MeterConfig>,
    ) -> Result<(), Failure> {
        let schema = self.schema;
        let known = schema.meters.get(&meter).ok_or_else(|| Failure::no("meter", meter))?;
        let name = known.name.clone();
        let operation = match config {
            None => Operation::ResetMeter { name, index: Some(index) },
            Some(config) => {
                let spec = spec(known.meter, config)?;
                Operation::SetMeter { name, index, spec }
            }
        };
        self.apply(&operation).map(|_| ())
    }
}

/// Rates and bursts that a meter of this type may have.
fn spec(kind: meter_spec::Type, config: &p4::MeterConfig) -> Result<MeterSpec, Failure> {
    let p4::MeterConfig { cir, cburst, pir, pburst, eburst } = *config;
    let two_rates = kind == meter_spec::Type::TwoRateThreeColor;
    if !two_rates && (pir != cir || pburst != cburst) {
        return Err(Failure::invalid("a meter of one rate has the same peak as committed rate"));
    }
    if kind != meter_spec::Type::SingleRateThreeColor && eburst != 0 {
        return Err(Failure::invalid("only a single-rate three-colour meter has an excess burst"));
    }
    if eburst != 0 {
        return Err(Failure::unimplemented("the target's meter has no excess burst"));
    }
    let number = |value: i64| {
        u64::try_from(value).map_err(|_| Failure::invalid("a rate or burst that is negative"))
    };
    Ok(MeterSpec {
        cir: number(cir)?,
        cbs: number(cburst)?,
        pir: number(pir)?,
        pbs: number(pburst)?,
    })
}

//! Updates of cells of counters, meters and registers, of value sets, and of digest configurations.

use super::Writer;
use crate::failure::Failure;
use crate::p4runtime::entry;
use crate::wire::p4::config::v1::meter_spec;
use crate::wire::p4::v1 as p4;
use crate::wire::p4::v1::update::Type;
use sojourn_control::{Number, Operation};
use sojourn_externs::meter::MeterSpec;
use tonic::Code;

/// Cell of an index in an array of `size`; `None` for all.
///
/// # Errors
/// It is negative, or beyond the array.
pub fn cell(index: Option<&p4::Index>, size: u64) -> Result<Option<usize>, Failure> {
    let Some(index) = index else { return Ok(None) };
    match u64::try_from(index.index) {
        Err(_) => Err(Failure::invalid(format!("the index {} is negative", index.index))),
        Ok(index) if index >= size => {
            let why = format!("there are {size} cells: none has the index {index}");
            Err(Failure::new(Code::OutOfRange, why))
        }
        Ok(index) => Ok(Some(index as usize)),
    }
}

impl Writer<'_> {
    /// An update of a counter.
    pub(super) fn counter(&mut self, given: &p4::CounterEntry) -> Result<(), Failure> {
        let missing = || Failure::no("counter", given.counter_id);
        let known = self.schema.counters.get(&given.counter_id).ok_or_else(missing)?;
        if known.table.is_some() {
            return Err(missing());
        }
        let index = cell(given.index.as_ref(), known.size)?;
        match &given.data {
            Some(data) => self.count(given.counter_id, index, data),
            None => Ok(()),
        }
    }

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

    /// An update of a register.
    pub(super) fn register(&mut self, given: &p4::RegisterEntry) -> Result<(), Failure> {
        let schema = self.schema;
        let known = schema.registers.get(&given.register_id);
        let known = known.ok_or_else(|| Failure::no("register", given.register_id))?;
        let index = cell(given.index.as_ref(), known.size)?;
        let mut numbers = Vec::new();
        known.leaf.decode(given.data.as_ref(), &mut numbers)?;
        let value = numbers.into_iter().map(Number).collect();
        let name = known.name.clone();
        self.apply(&Operation::WriteRegister { name, index, value }).map(|_| ())
    }

    /// An update of a value set: replaces its members.
    pub(super) fn value_set(&mut self, given: &p4::ValueSetEntry) -> Result<(), Failure> {
        let schema = self.schema;
        let set = schema.value_sets.get(&given.value_set_id);
        let set = set.ok_or_else(|| Failure::no("value set", given.value_set_id))?;
        if given.members.len() > set.size {
            let why = format!("value set `{}` has room for {} members", set.name, set.size);
            return Err(Failure::new(Code::ResourceExhausted, why));
        }
        let mut members = Vec::with_capacity(given.members.len());
        for member in &given.members {
            let member = entry::columns_of(&set.columns, &member.r#match, &set.name, self.store)?;
            if members.contains(&member) {
                let why = format!("value set `{}`: a member twice", set.name);
                return Err(Failure::new(Code::AlreadyExists, why));
            }
            members.push(member);
        }
        let name = set.name.clone();
        self.apply(&Operation::ClearValueSet { name: name.clone() })?;
        for member in members {
            self.apply(&Operation::AddToValueSet { name: name.clone(), member })?;
        }
        let members = (!given.members.is_empty()).then(|| given.members.clone());
        self.store.set_value_set(given.value_set_id, members);
        Ok(())
    }

    /// Sets or removes the configuration of a digest.
    pub(super) fn digest(&mut self, kind: Type, given: &p4::DigestEntry) -> Result<(), Failure> {
        let id = given.digest_id;
        if !self.schema.digests.contains_key(&id) {
            return Err(Failure::no("digest", id));
        }
        let is_there = self.store.digests.contains_key(&id);
        if kind == Type::Insert && is_there {
            return Err(Failure::new(Code::AlreadyExists, "this digest is wanted already"));
        }
        if kind != Type::Insert && !is_there {
            return Err(Failure::new(Code::NotFound, "this digest is not wanted: insert it"));
        }
        if kind == Type::Delete {
            self.store.set_digest(id, None);
            return Ok(());
        }
        let config = given.config.unwrap_or_default();
        if config.max_timeout_ns < 0 || config.max_list_size < 0 || config.ack_timeout_ns < 0 {
            return Err(Failure::invalid("a timeout or a size that is negative"));
        }
        self.store.set_digest(id, Some(config));
        Ok(())
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

//! Packet generators: their applications, their buffers and the ports that trigger them.

use super::ports::{find_port, only_modify, recirculates};
use super::{Verb, Writer, key, must_delete};
use crate::bfrt::device_tables::{Fixed, field};
use crate::bfrt::fields::{Datum, Row, exact_key, is_set, number_in, numbers_in, row};
use crate::bfrt::schema::{Field, Table};
use crate::failure::Failure;
use crate::wire::bfrt_proto as bfrt;
use sojourn_engine::control::Pipes;
use sojourn_packet::Time;
use sojourn_switch::{Application, Change, GeneratorChange, Generators, PortId, Trigger};

/// State of a deleted application, as in the vendor's driver.
const EMPTY: Application = Application {
    trigger: Trigger::Once(Time::ZERO),
    length: 60,
    offset: 0,
    source_port: 0,
    increments: false,
    batches: 0,
    packets: 0,
    batch_gap: Time::ZERO,
    packet_gap: Time::ZERO,
    enabled: false,
    triggered: 0,
    batches_made: 0,
    packets_made: 0,
};

impl Writer<'_> {
    /// Updates an entry of a generator table.
    pub(super) fn generator(
        &mut self,
        table: &Table,
        fixed: Fixed,
        verb: Verb,
        entry: &bfrt::TableEntry,
    ) -> Result<(), Failure> {
        let Some(given) = key(entry)? else {
            must_delete(table, verb)?;
            if fixed == Fixed::GeneratorBuffer {
                return Err(Failure::invalid(format!("`{}` is written with a key", table.name)));
            }
            let applications = self.batch.switch().generators().applications();
            return (0..applications).try_for_each(|number| {
                self.in_pipes(|_, pipe| {
                    Ok(GeneratorChange::Application(pipe, number, Box::new(EMPTY)))
                })
            });
        };
        only_modify(table, verb)?;
        let key = exact_key(table, given)?;
        let data = entry.data.clone().unwrap_or_default();
        let action = match data.action_id {
            0 => None,
            id => Some(table.action(id)?),
        };
        let own = action.map_or(&[][..], |action| &action.fields);
        let fields: Vec<&Field> = own.iter().chain(&table.fields).collect();
        let given = row(&table.name, &fields, &data.fields)?;
        let first = key.first().copied().unwrap_or(0);
        if fixed == Fixed::GeneratorBuffer {
            let offset = u16::try_from(first).map_err(Failure::invalid)?;
            let bytes: Vec<u8> =
                numbers_in(&given, field::BUFFER).into_iter().map(|byte| byte as u8).collect();
            let size = key.get(1).copied().unwrap_or(0);
            if bytes.len() as u64 != size {
                let why =
                    format!("`buffer` has {} bytes, `pkt_buffer_size` is {size}", bytes.len());
                return Err(Failure::invalid(why));
            }
            return self
                .in_pipes(|_, pipe| Ok(GeneratorChange::Buffer(pipe, offset, bytes.clone())));
        }
        let number = u8::try_from(first).map_err(Failure::invalid)?;
        let action = action.map(|action| action.id);
        self.in_pipes(|generators, pipe| {
            let mut application = generators.application(pipe, number);
            set(generators, &mut application, action, &given)?;
            Ok(GeneratorChange::Application(pipe, number, Box::new(application)))
        })
    }

    /// Changes the generator of each addressed pipe.
    fn in_pipes(
        &mut self,
        mut change: impl FnMut(&Generators, u8) -> Result<GeneratorChange, Failure>,
    ) -> Result<(), Failure> {
        for pipe in self.pipes.numbers(self.count.max(1)) {
            let change = change(self.batch.switch().generators(), pipe as u8)?;
            self.batch.change(&Change::Generator(change))?;
        }
        Ok(())
    }

    /// Configures a port for the packet generators, and whether it recirculates.
    pub(super) fn generator_port(
        &mut self,
        verb: Verb,
        key: &[u64],
        given: &Row,
    ) -> Result<(), Failure> {
        let port = find_port(self.batch.switch(), key)?.port.0;
        if matches!(verb, Verb::Delete | Verb::Reset) || given.is_empty() {
            return Err(Failure::invalid("what a port is to the packet generators is modified"));
        }
        let is_loop = recirculates(port, &self.schema.chip);
        if is_set(given, field::RECIRCULATES).is_some_and(|wanted| wanted != is_loop) {
            let why = match is_loop {
                true => format!("port {port} recirculates on this switch, whatever is asked"),
                false => {
                    let all = &self.schema.chip.recirculating;
                    let mine = |other: &&u16| **other & !0x7f == port & !0x7f;
                    let mut of_pipe = all.iter().filter(mine);
                    let first = of_pipe.next().copied().unwrap_or_default();
                    let last = of_pipe.next_back().copied().unwrap_or(first);
                    format!("port {port} does not recirculate on this switch; {first} to {last} do")
                }
            };
            return Err(Failure::unimplemented(why));
        }
        let chip = self.batch.switch().generators().chip();
        let is_its = chip.is_some_and(|chip| chip.generates(chip.local(PortId(port))));
        let mut changes = Vec::new();
        let made = [
            (field::GENERATES, GeneratorChange::Generates as fn(PortId, bool) -> GeneratorChange),
            (field::MATCHES, GeneratorChange::Matches),
        ];
        for (id, make) in made {
            // A port that cannot generate does not.
            if let Some(on) = is_set(given, id).filter(|on| *on || is_its) {
                changes.push(make(PortId(port), on));
            }
        }
        if is_set(given, field::CLEAR_DOWN) == Some(true) {
            changes.push(GeneratorChange::Arm(PortId(port)));
        }
        for change in changes {
            self.batch.change(&Change::Generator(change))?;
        }
        Ok(())
    }
}

/// Sets the given parts of an application.
fn set(
    generators: &Generators,
    application: &mut Application,
    action: Option<u32>,
    given: &Row,
) -> Result<(), Failure> {
    let number = |id: u32| number_in(given, id);
    let time = |id: u32| number(id).map(Time);
    for (id, name) in [(field::BATCH_JITTER, "ibg_jitter"), (field::PACKET_JITTER, "ipg_jitter")] {
        if number(id).is_some_and(|jitter| jitter > 0) {
            // Its distribution is undocumented.
            return Err(Failure::unimplemented(format!("`{name}` other than 0")));
        }
    }
    if let Some(action) = action {
        let needed = |id: u32, name: &str| {
            number(id).ok_or_else(|| Failure::invalid(format!("`{name}` is not given")))
        };
        application.trigger = match action {
            field::ONCE => Trigger::Once(Time(needed(field::TIMER, "timer_nanosec")?)),
            field::EVERY => Trigger::Every(Time(needed(field::TIMER, "timer_nanosec")?)),
            field::PORT_DOWN => Trigger::PortDown,
            _ => Trigger::Pattern {
                value: pattern(generators, given, field::PATTERN, "pattern_value")?,
                mask: pattern(generators, given, field::PATTERN_MASK, "pattern_mask")?,
            },
        };
    }
    // All of these fields have 16 bits; ports have 32.
    let small = |id: u32, to: &mut u16| {
        if let Some(value) = number(id) {
            *to = u16::try_from(value).map_err(Failure::invalid)?;
        }
        Ok::<(), Failure>(())
    };
    small(field::PACKET_LENGTH, &mut application.length)?;
    small(field::PACKET_OFFSET, &mut application.offset)?;
    small(field::SOURCE_PORT, &mut application.source_port)?;
    small(field::BATCHES, &mut application.batches)?;
    small(field::PACKETS, &mut application.packets)?;
    application.increments = is_set(given, field::INCREMENT).unwrap_or(application.increments);
    application.batch_gap = time(field::BATCH_GAP).unwrap_or(application.batch_gap);
    application.packet_gap = time(field::PACKET_GAP).unwrap_or(application.packet_gap);
    application.triggered = number(field::TRIGGERED).unwrap_or(application.triggered);
    application.batches_made = number(field::BATCHES_MADE).unwrap_or(application.batches_made);
    application.packets_made = number(field::PACKETS_MADE).unwrap_or(application.packets_made);
    application.enabled = is_set(given, field::APP_ENABLE).unwrap_or(application.enabled);
    Ok(())
}

/// A pattern's bytes: as many as the chip compares, which a client gives as a number of all of them.
fn pattern(generators: &Generators, given: &Row, id: u32, name: &str) -> Result<u128, Failure> {
    let Some(Datum::Number(value)) = given.get(&id) else {
        return Err(Failure::invalid(format!("`{name}` is not given")));
    };
    let mut digits = value.iter_u64_digits();
    let [low, high] = [(); 2].map(|()| u128::from(digits.next().unwrap_or(0)));
    let (compared, value) = (compared(generators), high << 64 | low);
    match value.checked_shr(8 * compared as u32) {
        Some(above) if above > 0 => Err(Failure::invalid(format!(
            "`{name}` has more than the {compared} bytes of a pattern"
        ))),
        _ => Ok(value),
    }
}

/// Bytes that the chip compares with a pattern.
fn compared(generators: &Generators) -> usize {
    generators.chip().map_or(0, |chip| chip.pattern_bytes)
}

/// Readable form of an application: the first pipe's, with the counts of all.
pub fn application_read(
    generators: &Generators,
    pipes: Pipes,
    count: usize,
    number: u8,
) -> (u32, Row) {
    let all: Vec<Application> =
        pipes.numbers(count).map(|pipe| generators.application(pipe as u8, number)).collect();
    let first = all.first().copied().unwrap_or(EMPTY);
    let sum = |of: fn(&Application) -> u64| Datum::number(all.iter().map(of).sum::<u64>());
    let mut row = Row::from([
        (field::APP_ENABLE, Datum::Bool(first.enabled)),
        (field::PACKET_LENGTH, Datum::number(first.length)),
        (field::PACKET_OFFSET, Datum::number(first.offset)),
        (field::SOURCE_PORT, Datum::number(first.source_port)),
        (field::INCREMENT, Datum::Bool(first.increments)),
        (field::BATCHES, Datum::number(first.batches)),
        (field::PACKETS, Datum::number(first.packets)),
        (field::BATCH_GAP, Datum::number(first.batch_gap.0)),
        (field::BATCH_JITTER, Datum::number(0_u32)),
        (field::PACKET_GAP, Datum::number(first.packet_gap.0)),
        (field::PACKET_JITTER, Datum::number(0_u32)),
        (field::BATCHES_MADE, sum(|one| one.batches_made)),
        (field::PACKETS_MADE, sum(|one| one.packets_made)),
        (field::TRIGGERED, sum(|one| one.triggered)),
    ]);
    let action = match first.trigger {
        Trigger::Once(timer) => {
            row.insert(field::TIMER, Datum::number(timer.0));
            field::ONCE
        }
        Trigger::Every(timer) => {
            row.insert(field::TIMER, Datum::number(timer.0));
            field::EVERY
        }
        Trigger::PortDown => field::PORT_DOWN,
        Trigger::Pattern { value, mask } => {
            let bits = |number: u128| Datum::number(number);
            row.insert(field::PATTERN, bits(value));
            row.insert(field::PATTERN_MASK, bits(mask));
            field::BY_PATTERN
        }
    };
    (action, row)
}

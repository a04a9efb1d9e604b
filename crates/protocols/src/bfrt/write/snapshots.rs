//! Updates of snapshots: the stages of a pass, and the trigger.
//!
//! The settings give the stages; a snapshot is armed when its trigger is enabled, in each pipe of
//! the settings. Two snapshots must not overlap, in either pass: on the chip they use the same
//! registers.

use super::{Verb, Writer, key, must_delete};
use crate::bfrt::bfrt_json::snapshots::{MASK, number};
use crate::bfrt::fields::{Datum, Row, exact_key, is_set, number_in, row};
use crate::bfrt::schema::{Field, Part, Table};
use crate::bfrt::store::Snapshot;
use crate::failure::Failure;
use crate::wire::bfrt_proto as bfrt;
use sojourn_control::snapshot::{SnapshotSetting, TriggerField};
use sojourn_control::{Number, Operation, Query, Reply};
use sojourn_engine::control::{self, Pipes};
use tonic::Code;

/// The last stage, and the default end of a snapshot.
const LAST: u64 = 11;

impl Writer<'_> {
    pub(super) fn snapshot(
        &mut self,
        table: &Table,
        part: Part,
        verb: Verb,
        entry: &bfrt::TableEntry,
    ) -> Result<(), Failure> {
        let fields: Vec<&Field> = table.fields.iter().collect();
        let data = entry.data.as_ref().map_or(&[][..], |data| &data.fields);
        let given = row(&table.name, &fields, data)?;
        let pipe = (self.pipes != Pipes::ALL).then(|| self.first_pipe());
        match part {
            Part::Settings => self.settings(table, verb, (pipe, key(entry)?), &given),
            Part::Trigger { egress } => {
                let Some(given_key) = key(entry)? else {
                    must_delete(table, verb)?;
                    let mine = |known: &Snapshot| known.egress == egress && known.pipe == pipe;
                    return self.each_snapshot(table, mine, Writer::reset_trigger);
                };
                let stage = exact_key(table, given_key)?[0];
                let is_it = |known: &Snapshot| {
                    let place = (known.egress, u64::from(known.first), known.pipe);
                    known.pipeline == table.pipeline && place == (egress, stage, pipe)
                };
                let at = self.store.snapshots.iter().position(is_it);
                let at = at.ok_or_else(|| {
                    let why = format!("no snapshot of these pipes begins with stage {stage}");
                    Failure::new(Code::NotFound, why)
                })?;
                self.trigger(table, at, verb, &given)
            }
            Part::Seen { .. } | Part::Stages { .. } => {
                Err(Failure::invalid(format!("`{}` can only be read", table.name)))
            }
        }
    }

    fn settings(
        &mut self,
        table: &Table,
        verb: Verb,
        (pipe, key): (Option<u32>, Option<&bfrt::TableKey>),
        given: &Row,
    ) -> Result<(), Failure> {
        let Some(key) = key else {
            must_delete(table, verb)?;
            // As in the vendor's driver: in all pipes, with their triggers.
            self.each_snapshot(table, |_| true, Writer::reset_trigger)?;
            self.store.snapshots.retain(|known| known.pipeline != table.pipeline);
            return Ok(());
        };
        let [first, last] = stages(table, key)?;
        let is_it = |known: &Snapshot| {
            known.pipeline == table.pipeline
                && (known.first, known.last, known.pipe) == (first, last, pipe)
        };
        let at = self.store.snapshots.iter().position(is_it);
        match verb {
            Verb::Delete | Verb::Reset => {
                return at.map_or(Ok(()), |at| self.remove_snapshot(table, at));
            }
            Verb::Add | Verb::Remove => {
                return Err(Failure::invalid("snapshots are added, modified or deleted"));
            }
            Verb::Insert | Verb::Modify | Verb::Set => {}
        }
        verb.check(at.is_some(), || format!("snapshot of stages {first} to {last}"))?;
        check_settings(given)?;
        let egress = match (text(given, number::THREAD), at) {
            (Some("INGRESS"), _) => false,
            (Some("EGRESS"), _) => true,
            (None, Some(at)) => self.store.snapshots[at].egress,
            _ => return Err(Failure::invalid("`thread` is INGRESS or EGRESS")),
        };
        let timer = number_in(given, number::TIMER_VALUE);
        if let Some(at) = at {
            let known = &mut self.store.snapshots[at];
            if known.egress != egress {
                return Err(Failure::invalid("a snapshot stays in its pass"));
            }
            known.timer = timer.unwrap_or(known.timer);
            return Ok(());
        }
        let overlaps = |known: &&Snapshot| {
            let apart = known.pipe.zip(pipe).is_some_and(|(one, other)| one != other);
            // A pipe runs only one pipeline.
            !apart && known.pipeline == table.pipeline && known.first <= last && first <= known.last
        };
        if let Some(known) = self.store.snapshots.iter().find(overlaps) {
            let (begin, end) = (known.first, known.last);
            let why = format!("there is a snapshot of stages {begin} to {end} already");
            return Err(Failure::unimplemented(why));
        }
        let (pipeline, timer) = (table.pipeline, timer.unwrap_or(0));
        let (trigger, enabled) = (Row::new(), false);
        let made = Snapshot { pipeline, pipe, first, last, egress, timer, trigger, enabled };
        self.store.snapshots.push(made);
        Ok(())
    }

    fn remove_snapshot(&mut self, table: &Table, at: usize) -> Result<(), Failure> {
        if !self.store.snapshots[at].trigger.is_empty() {
            return Err(Failure::invalid("the snapshot has a trigger, which goes first"));
        }
        self.disarm(table, at)?;
        self.store.snapshots.remove(at);
        Ok(())
    }

    fn trigger(
        &mut self,
        table: &Table,
        at: usize,
        verb: Verb,
        given: &Row,
    ) -> Result<(), Failure> {
        match verb {
            Verb::Delete | Verb::Reset => return self.reset_trigger(table, at),
            Verb::Add | Verb::Remove => {
                return Err(Failure::invalid("triggers are added, modified or deleted"));
            }
            // As in the vendor's driver, the trigger exists as soon as the snapshot does.
            Verb::Insert | Verb::Modify | Verb::Set => {}
        }
        let snapshot = self.store.snapshots[at].clone();
        let mut trigger = snapshot.trigger.clone();
        for field in table.fields.iter().filter(|field| field.id < MASK) {
            // A field needs both its value and its mask.
            let both = given.get(&field.id).zip(given.get(&(field.id + MASK)));
            if let Some((value, mask)) = both {
                self.must_be_seen(&snapshot, field)?;
                trigger.insert(field.id, value.clone());
                trigger.insert(field.id + MASK, mask.clone());
            }
        }
        let enabled = is_set(given, number::ENABLE).unwrap_or(false);
        if enabled {
            let setting = SnapshotSetting {
                egress: snapshot.egress,
                first: snapshot.first,
                last: snapshot.last,
                trigger: conditions(table, &trigger),
            };
            self.apply_where_it_runs(table, &Operation::ArmSnapshot(setting))?;
        } else {
            self.disarm(table, at)?;
        }
        let kept = &mut self.store.snapshots[at];
        (kept.trigger, kept.enabled) = (trigger, enabled);
        Ok(())
    }

    /// Checks that the first stage of a snapshot sees a field.
    fn must_be_seen(&mut self, snapshot: &Snapshot, field: &Field) -> Result<(), Failure> {
        let (egress, first) = (snapshot.egress, snapshot.first);
        let query = Query::FieldStages { egress, field: field.inner.clone() };
        let pipe = self.program_pipes().0.trailing_zeros() as usize;
        match control::read_of(self.batch.switch(), pipe, &query)? {
            Reply::Stages(stages) if stages.contains(&first) => Ok(()),
            _ => Err(Failure::invalid(format!("stage {first} does not see `{}`", field.inner))),
        }
    }

    fn reset_trigger(&mut self, table: &Table, at: usize) -> Result<(), Failure> {
        self.disarm(table, at)?;
        let kept = &mut self.store.snapshots[at];
        (kept.trigger, kept.enabled) = (Row::new(), false);
        Ok(())
    }

    fn disarm(&mut self, table: &Table, at: usize) -> Result<(), Failure> {
        let Snapshot { egress, first, pipe, .. } = self.store.snapshots[at];
        let meant = self.pipes;
        self.choose(pipe.map_or(Pipes::ALL, |pipe| Pipes(1 << pipe)));
        let done = self.apply_where_it_runs(table, &Operation::DisarmSnapshot { egress, first });
        self.choose(meant);
        done
    }

    /// Executes work for each snapshot of a pipeline that satisfies a predicate.
    fn each_snapshot(
        &mut self,
        table: &Table,
        is_meant: impl Fn(&Snapshot) -> bool,
        work: fn(&mut Self, &Table, usize) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        for at in 0..self.store.snapshots.len() {
            let known = &self.store.snapshots[at];
            if known.pipeline == table.pipeline && is_meant(known) {
                work(self, table, at)?;
            }
        }
        Ok(())
    }
}

/// First and last stage of a key, either of which may be missing.
fn stages(table: &Table, given: &bfrt::TableKey) -> Result<[u32; 2], Failure> {
    let mut whole = given.clone();
    for (id, default) in [(number::START_STAGE, 0), (number::END_STAGE, LAST)] {
        if !whole.fields.iter().any(|field| field.field_id == id) {
            let value = (default as u32).to_be_bytes().to_vec();
            let value = bfrt::key_field::Exact { value };
            let match_type = Some(bfrt::key_field::MatchType::Exact(value));
            whole.fields.push(bfrt::KeyField { field_id: id, match_type });
        }
    }
    let [first, last] = exact_key(table, &whole)?[..] else {
        return Err(Failure::invalid(format!("`{}` has a key of two stages", table.name)));
    };
    if first > last || last > LAST {
        let why = format!("a snapshot of stages {first} to {last}: there are 0 to {LAST}");
        return Err(Failure::invalid(why));
    }
    Ok([first as u32, last as u32])
}

fn conditions(table: &Table, trigger: &Row) -> Vec<TriggerField> {
    let number = |id: u32| match trigger.get(&id) {
        Some(Datum::Number(value)) => Some(Number(value.clone())),
        _ => None,
    };
    let asked = table.fields.iter().filter(|field| field.id < MASK).filter_map(|field| {
        let (value, mask) = number(field.id).zip(number(field.id + MASK))?;
        Some(TriggerField { field: field.inner.clone(), value, mask })
    });
    asked.collect()
}

fn text(row: &Row, id: u32) -> Option<&str> {
    match row.get(&id) {
        Some(Datum::Text(text)) => Some(text),
        _ => None,
    }
}

/// Refuses settings that no source describes or that the chip does not have.
fn check_settings(given: &Row) -> Result<(), Failure> {
    if is_set(given, number::TIMER_ENABLE) == Some(true) {
        let why =
            "`timer_enable`: which packet a snapshot shows whose time is over is nowhere said";
        return Err(Failure::unimplemented(why));
    }
    if text(given, number::INGRESS_MODE).is_some_and(|mode| mode != "INGRESS") {
        return Err(Failure::invalid("`ingress_trigger_mode`: this chip has `INGRESS` only"));
    }
    Ok(())
}

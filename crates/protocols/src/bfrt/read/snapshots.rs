//! Reads of snapshots: settings, triggers, captured stages, and the stages that see a field.

use super::handles::handle_outside;
use super::messages::{absent, entry_message, shown};
use super::{EntryQuery, Reader};
use crate::bfrt::bfrt_json::snapshots::number;
use crate::bfrt::fields::{Datum, Row, exact_key, row_read};
use crate::bfrt::pipe_scope::pipe_of;
use crate::bfrt::schema::{Kind, Part, Table};
use crate::bfrt::store::{Entry, Snapshot};
use crate::failure::Failure;
use crate::wire::bfrt_proto as bfrt;
use crate::wire::bfrt_proto::key_field::MatchType;
use crate::wire::bfrt_proto::table_entry::Value;
use sojourn_control::snapshot::{SnapshotRead, SnapshotState, StageSeen, StepName};
use sojourn_control::{Query, Reply};
use sojourn_engine::control::{self, Pipes};
use tonic::Code;

/// The vendor driver's name for the absence of a next table.
const NO_NEXT: &str = "NO_NEXT_TABLE";
const NO_TABLE: &str = "NO_TABLE";

impl Reader<'_> {
    pub(super) fn snapshots(
        &mut self,
        table: &Table,
        part: Part,
        asked: &bfrt::TableEntry,
        query_of: &EntryQuery<'_>,
        out: &mut Vec<bfrt::Entity>,
    ) -> Result<(), Failure> {
        let target = asked.entry_tgt.as_ref().unwrap_or(self.target);
        let pipe = pipe_of(target, self.count)?;
        if let Part::Stages { egress } = part {
            return self.liveness(table, egress, asked, query_of, out);
        }
        let keys = match &asked.value {
            Some(Value::Key(key)) => vec![exact_key(table, key)?],
            Some(Value::HandleId(handle)) => vec![self.snapshot_key(table, part, *handle)?],
            None => self.snapshot_keys(table, part, pipe)?,
        };
        for key in keys {
            let row = match part {
                Part::Settings => self.settings_row(table, &key, pipe)?,
                Part::Trigger { egress } => self.trigger_row(table, egress, &key, pipe)?,
                _ => self.seen_row(table, part, &key, pipe)?,
            };
            out.push(shown(table, &key, &Entry { action: 0, row }, query_of));
        }
        Ok(())
    }

    /// Handle of the snapshot with this key.
    pub(super) fn snapshot_handle(
        &self,
        table: &Table,
        part: Part,
        key: &bfrt::TableKey,
    ) -> Result<u32, Failure> {
        let pipe = pipe_of(self.target, self.count)?;
        let key = exact_key(table, key)?;
        Ok(match part {
            Part::Settings => handle_of(self.with_key(table, &key, pipe)?),
            Part::Trigger { egress } => handle_of(self.with_trigger(table, egress, &key, pipe)?),
            // Stages are their own handles.
            _ => key[0] as u32,
        })
    }

    /// Key of a handle.
    fn snapshot_key(&self, table: &Table, part: Part, handle: u32) -> Result<Vec<u64>, Failure> {
        if matches!(part, Part::Seen { .. }) {
            return Ok(vec![handle.into()]);
        }
        let mut all = self.mine(table);
        let found = all.find(|known| handle_of(known) == handle).ok_or_else(|| absent(table))?;
        Ok(key_of(part, found))
    }

    /// Keys of the table's entries for one pipe, or for any.
    pub(super) fn snapshot_keys(
        &self,
        table: &Table,
        part: Part,
        pipe: Option<u32>,
    ) -> Result<Vec<Vec<u64>>, Failure> {
        let is_meant = |known: &&Snapshot| match part {
            Part::Settings => is_of(known, pipe),
            Part::Trigger { egress } | Part::Seen { egress } => {
                known.egress == egress && is_of(known, pipe)
            }
            Part::Stages { .. } => false,
        };
        let found = self.mine(table).filter(is_meant);
        let mut keys: Vec<Vec<u64>> = match part {
            Part::Seen { .. } => {
                if pipe.is_none() {
                    return Err(one_pipe(table));
                }
                let stages = found.flat_map(|known| known.first..=known.last);
                stages.map(|stage| vec![stage.into()]).collect()
            }
            _ => found.map(|known| key_of(part, known)).collect(),
        };
        keys.sort_unstable();
        keys.dedup();
        Ok(keys)
    }

    fn mine(&self, table: &Table) -> impl Iterator<Item = &Snapshot> {
        self.store.snapshots.iter().filter(|known| known.pipeline == table.pipeline)
    }

    fn with_key(
        &self,
        table: &Table,
        key: &[u64],
        pipe: Option<u32>,
    ) -> Result<&Snapshot, Failure> {
        let mut all = self.mine(table);
        let found = all.find(|known| key_of(Part::Settings, known) == key && is_of(known, pipe));
        found.ok_or_else(|| absent(table))
    }

    fn with_trigger(
        &self,
        table: &Table,
        egress: bool,
        key: &[u64],
        pipe: Option<u32>,
    ) -> Result<&Snapshot, Failure> {
        let is_it = |known: &&Snapshot| {
            known.egress == egress && u64::from(known.first) == key[0] && is_of(known, pipe)
        };
        self.mine(table).find(is_it).ok_or_else(|| absent(table))
    }

    fn settings_row(
        &mut self,
        table: &Table,
        key: &[u64],
        pipe: Option<u32>,
    ) -> Result<Row, Failure> {
        let known = self.with_key(table, key, pipe)?.clone();
        let (thread, captured) = match known.egress {
            true => ("EGRESS", number::EGRESS_CAPTURE),
            false => ("INGRESS", number::INGRESS_CAPTURE),
        };
        let mut row = Row::from([
            (number::THREAD, Datum::text(thread)),
            (number::TIMER_ENABLE, Datum::Bool(false)),
            (number::TIMER_VALUE, Datum::number(known.timer)),
            (number::INGRESS_MODE, Datum::text("INGRESS")),
        ]);
        let states = self.states(&known)?;
        let full = (0..).zip(states).filter(|(_, state)| *state == SnapshotState::Full);
        let full: Vec<u32> = full.map(|(pipe, _)| pipe).collect();
        if !full.is_empty() {
            row.insert(captured, Datum::Numbers(full));
        }
        Ok(row)
    }

    fn trigger_row(
        &mut self,
        table: &Table,
        egress: bool,
        key: &[u64],
        pipe: Option<u32>,
    ) -> Result<Row, Failure> {
        let known = self.with_trigger(table, egress, key, pipe)?.clone();
        let states = self.states(&known)?.into_iter().map(|state| {
            let name = match state {
                SnapshotState::Passive => "PASSIVE",
                SnapshotState::Armed => "ARMED",
                SnapshotState::Full => "FULL",
            };
            name.to_owned()
        });
        let states: Vec<String> = match pipe {
            Some(pipe) => states.skip(pipe as usize).take(1).collect(),
            None => states.collect(),
        };
        let mut row = known.trigger;
        row.insert(number::ENABLE, Datum::Bool(known.enabled));
        row.insert(number::TRIGGER_STATE, Datum::Texts(states));
        Ok(row)
    }

    /// State of a snapshot in each pipe.
    fn states(&mut self, known: &Snapshot) -> Result<Vec<SnapshotState>, Failure> {
        let pipes = known.pipe.map_or(Pipes::ALL, |pipe| Pipes(1 << pipe));
        let pipes = Pipes(pipes.0 & self.running_in(known.pipeline).0);
        let mut states = vec![SnapshotState::Passive; self.count.max(1)];
        for pipe in pipes.numbers(self.count.max(1)) {
            states[pipe] = self.in_pipe(pipe, known)?.state;
        }
        Ok(states)
    }

    /// The pipes of the program that run one of its pipelines.
    fn running_in(&mut self, pipeline: Option<usize>) -> Pipes {
        let pipes = self.schema.pipes;
        let Some(pipeline) = pipeline else { return pipes };
        Pipes(pipes.0 & control::running(self.switch, self.schema.before + pipeline).0)
    }

    fn in_pipe(&mut self, pipe: usize, known: &Snapshot) -> Result<SnapshotRead, Failure> {
        let query = Query::Snapshot { egress: known.egress, first: known.first };
        match control::read_of(self.switch, pipe, &query)? {
            Reply::Snapshot(read) => Ok(read),
            _ => Ok(SnapshotRead::default()),
        }
    }

    /// Field values and results of a stage, with their snapshot.
    fn stage(
        &mut self,
        known: &Snapshot,
        stage: u32,
        pipe: u32,
    ) -> Result<Option<StageSeen>, Failure> {
        let read = self.in_pipe(pipe as usize, known)?;
        Ok(read.stages.into_iter().find(|seen| seen.stage == stage))
    }

    fn seen_row(
        &mut self,
        table: &Table,
        part: Part,
        key: &[u64],
        pipe: Option<u32>,
    ) -> Result<Row, Failure> {
        let pipe = pipe.ok_or_else(|| one_pipe(table))?;
        let stage = u32::try_from(key[0]).map_err(|_| absent(table))?;
        let is_it = |known: &&Snapshot| {
            let is_there = known.first <= stage && stage <= known.last;
            is_there && is_of(known, Some(pipe)) && part == (Part::Seen { egress: known.egress })
        };
        let known = self.mine(table).find(is_it).cloned().ok_or_else(|| absent(table))?;
        let seen = self.stage(&known, stage, pipe)?.ok_or_else(|| {
            let why =
                format!("the snapshot of stage {stage} has not met its packet in pipe {pipe}");
            Failure::new(Code::NotFound, why)
        })?;
        let is_first = stage == known.first;
        let next = seen.next.as_ref().map_or(NO_NEXT.to_owned(), |next| self.full_name(next));
        let mut row = Row::from([
            (number::PREVIOUS_TRIGGER, Datum::Bool(!is_first)),
            (number::TIMER_TRIGGER, Datum::Bool(false)),
            (number::LOCAL_TRIGGER, Datum::Bool(is_first)),
            (number::NEXT_TABLE, Datum::Text(next)),
        ]);
        let of_table = |name: String, handle: u32, hit: bool, executed: bool| {
            Row::from([
                (number::TABLE_NAME, Datum::Text(name)),
                (number::HIT_HANDLE, Datum::number(handle)),
                (number::TABLE_HIT, Datum::Bool(hit)),
                (number::TABLE_INHIBITED, Datum::Bool(false)),
                (number::TABLE_EXECUTED, Datum::Bool(executed)),
            ])
        };
        let mut tables = Vec::new();
        for step in &seen.steps {
            let first = self.first_of(&step.step, pipe)?;
            let handle = step.entry.map_or(0, |entry| handle_outside(first, entry));
            tables.push(of_table(self.full_name(&step.step), handle, step.hit, step.executed));
        }
        if tables.is_empty() {
            tables.push(of_table(NO_TABLE.to_owned(), 0, false, false));
        }
        row.insert(number::TABLE_INFO, Datum::Rows(tables));
        for field in &table.fields {
            if let Some(value) = seen.fields.get(&field.inner) {
                row.insert(field.id, Datum::Number(value.0.clone()));
            }
        }
        Ok(row)
    }

    /// The table of a step, by its name in the program.
    fn table_of(&self, step: &StepName) -> Option<&Table> {
        let mut all = self.schema.tables.values().filter(|_| step.is_table);
        all.find(|table| matches!(table.kind, Kind::Match { .. }) && table.inner == step.name)
    }

    /// Clients' name of a step.
    fn full_name(&self, step: &StepName) -> String {
        self.table_of(step).map_or(&step.name, |table| &table.name).clone()
    }

    /// First of the pipes that share the entries of a step's table with `pipe`.
    fn first_of(&self, step: &StepName, pipe: u32) -> Result<u32, Failure> {
        match self.table_of(step) {
            Some(table) => Ok(self.scope(table)?.first(pipe)),
            None => Ok(0),
        }
    }

    fn liveness(
        &mut self,
        table: &Table,
        egress: bool,
        asked: &bfrt::TableEntry,
        query_of: &EntryQuery<'_>,
        out: &mut Vec<bfrt::Entity>,
    ) -> Result<(), Failure> {
        let named = |field: &bfrt::KeyField| match &field.match_type {
            Some(MatchType::Exact(exact)) if field.field_id == number::FIELD_NAME => {
                String::from_utf8(exact.value.clone()).ok()
            }
            _ => None,
        };
        let Some(Value::Key(key)) = &asked.value else {
            return Err(Failure::invalid(format!(
                "`{}` is read with the name of a field",
                table.name
            )));
        };
        let name = key.fields.iter().find_map(named);
        let name = name.ok_or_else(|| Failure::invalid("`field_name` is a text"))?;
        let mut all = self.schema.tables.values().filter(|known| {
            known.pipeline == table.pipeline && known.kind == Kind::Snapshot(Part::Seen { egress })
        });
        let field = all.find_map(|seen| seen.fields.iter().find(|field| field.name == name));
        let unknown = || {
            let why = format!("`{}` knows no field `{name}`", table.name);
            Failure::new(Code::NotFound, why)
        };
        let field = field.ok_or_else(unknown)?.inner.clone();
        let pipe = self.running_in(table.pipeline).0.trailing_zeros() as usize;
        let query = Query::FieldStages { egress, field };
        let Reply::Stages(stages) = control::read_of(self.switch, pipe, &query)? else {
            return Err(unknown());
        };
        let row = Row::from([(number::VALID_STAGES, Datum::Numbers(stages))]);
        let data = row_read(&table.fields, &row, &query_of.fields);
        out.push(entry_message(table, key.clone(), 0, data, query_of));
        Ok(())
    }

    /// Stages of a pipe with snapshots.
    pub(super) fn stages_with_snapshots(&mut self) -> Vec<Vec<u64>> {
        let found = self.of_pipe(self.first_pipe());
        let stages = found.into_iter().flat_map(|known| known.first..=known.last);
        let mut stages: Vec<Vec<u64>> = stages.map(|stage| vec![stage.into()]).collect();
        stages.sort_unstable();
        stages
    }

    /// Snapshots of a pipe's program.
    fn of_pipe(&mut self, pipe: u32) -> Vec<Snapshot> {
        let mut all = self.store.snapshots.clone();
        all.retain(|known| {
            is_of(known, Some(pipe)) && self.running_in(known.pipeline).0 >> pipe & 1 == 1
        });
        all
    }

    /// Contents of a stage's containers.
    pub(super) fn containers(&mut self, table: &Table, key: &[u64]) -> Result<Row, Failure> {
        if self.pipes == Pipes::ALL {
            return Err(one_pipe(table));
        }
        let pipe = self.first_pipe();
        let stage = key.first().and_then(|stage| u32::try_from(*stage).ok());
        let stage = stage.ok_or_else(|| absent(table))?;
        let mut all = self.of_pipe(pipe).into_iter();
        let known = all.find(|known| known.first <= stage && stage <= known.last);
        let known = known.ok_or_else(|| absent(table))?;
        let seen = self.stage(&known, stage, pipe)?.unwrap_or_default();
        let held = seen.containers.into_iter();
        Ok(held.map(|(number, value)| (u32::from(number), Datum::number(value))).collect())
    }
}

/// Whether a snapshot belongs to a pipe: its own, or one of all pipes. Without a pipe, only the
/// latter.
fn is_of(known: &Snapshot, pipe: Option<u32>) -> bool {
    known.pipe.is_none() || known.pipe == pipe
}

fn key_of(part: Part, known: &Snapshot) -> Vec<u64> {
    match part {
        Part::Settings => vec![known.first.into(), known.last.into()],
        _ => vec![known.first.into()],
    }
}

/// Snapshots of a pipe do not overlap, so their first stages identify them.
fn handle_of(known: &Snapshot) -> u32 {
    known.pipe.map_or(0, |pipe| pipe + 1) << 8 | known.first
}

fn one_pipe(table: &Table) -> Failure {
    Failure::invalid(format!("`{}` is read of one pipe: name it", table.name))
}

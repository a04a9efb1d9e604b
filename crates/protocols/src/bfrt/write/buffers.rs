//! Updates of the packet buffer: its pools, the cells of queues, the queue of deflected packets.
//!
//! A queue's cells are those of the switch; the store has only what they were before the first
//! write, for a reset.

use super::ports::{no_queue, only_modify, port_and_queue};
use super::{Verb, Writer};
use crate::bfrt::device_tables::{FACTORS, field};
use crate::bfrt::fields::{Datum, Row, is_set, number_in, numbers_in};
use crate::bfrt::schema::Table;
use crate::bfrt::store::Entry;
use crate::failure::Failure;
use sojourn_control::{BufferPool, DeflectionQueue, Multiple, Operation, QueueSetting};
use sojourn_switch::{MOST_POOLS, PortId, Reserve, ShareRule};

/// Place of the first pool of queues among the pools of the chip.
const FIRST_POOL: u64 = 4;
/// Field of a stored row with the cells of a queue before the first write.
const BEFORE: u32 = 0;

/// The pool of queues of a key.
///
/// # Errors
/// It is one of the chip's other pools.
pub fn pool_of(key: &[u64]) -> Result<u8, Failure> {
    let pools = FIRST_POOL..FIRST_POOL + MOST_POOLS as u64;
    let found = key.first().filter(|pool| pools.contains(pool));
    found.map(|pool| (pool - FIRST_POOL) as u8).ok_or_else(|| {
        let why = "the pools of this switch are EG_APP_POOL_0 to EG_APP_POOL_3: packets are \
                   admitted to queues, not at ports";
        Failure::unimplemented(why)
    })
}

/// Cells of a queue as its table has them: action and data.
pub fn buffer_read(rule: &ShareRule) -> Entry {
    let reserve = rule.reserve;
    let mut row = Row::from([
        (field::GUARANTEED_CELLS, Datum::number(reserve.guaranteed)),
        (field::HYSTERESIS, Datum::number(0_u32)),
        (field::TAIL_DROP, Datum::Bool(true)),
    ]);
    if !is_shared(rule) {
        return Entry { action: field::BUFFER_ONLY, row };
    }
    let factor = |alpha: u32| {
        let below = FACTORS.iter().rev().find(|(_, factor)| *factor <= alpha);
        below.unwrap_or(&FACTORS[0]).0
    };
    let pool = format!("EG_APP_POOL_{}", reserve.pool);
    row.insert(field::POOL, Datum::Text(pool));
    row.insert(field::POOL_MOST, Datum::number(most(rule)));
    row.insert(field::POOL_FACTOR, Datum::text(rule.alpha.map_or("DISABLE", factor)));
    Entry { action: field::SHARED_POOL, row }
}

/// Whether a queue may hold cells of a pool.
fn is_shared(rule: &ShareRule) -> bool {
    rule.alpha.is_some() || rule.limit > rule.reserve.guaranteed
}

/// Cells of its pool that a queue may hold whatever the pool has free.
fn most(rule: &ShareRule) -> u32 {
    match rule.alpha {
        Some(_) => rule.floor,
        None => rule.limit.saturating_sub(rule.reserve.guaranteed),
    }
}

/// A queue's rule after a write.
///
/// # Errors
/// The switch has no such setting.
fn rule(now: &ShareRule, action: u32, given: &Row) -> Result<ShareRule, Failure> {
    if number_in(given, field::HYSTERESIS).is_some_and(|cells| cells > 0) {
        let why = "`hysteresis_cells` is 0 on this switch: a queue takes packets as soon as it has \
                   room";
        return Err(Failure::unimplemented(why));
    }
    if is_set(given, field::TAIL_DROP) == Some(false) {
        let why = "`tail_drop_enable` is true on this switch: queues drop from the tail";
        return Err(Failure::unimplemented(why));
    }
    let cells = |id: u32| number_in(given, id).map(|cells| cells as u32);
    let mut rule = *now;
    let guaranteed = cells(field::GUARANTEED_CELLS).unwrap_or(now.reserve.guaranteed);
    rule.reserve.guaranteed = guaranteed;
    let shared = match action {
        0 => is_shared(now),
        action => action == field::SHARED_POOL,
    };
    if let Some(Datum::Text(pool)) = given.get(&field::POOL) {
        let number = pool.bytes().last().unwrap_or_default();
        rule.reserve.pool = number.saturating_sub(b'0');
    }
    match given.get(&field::POOL_FACTOR) {
        Some(Datum::Text(name)) => {
            let found = FACTORS.iter().find(|(factor, _)| factor == name);
            rule.alpha = found.map(|(_, alpha)| *alpha);
        }
        _ if !shared => rule.alpha = None,
        _ => {}
    }
    let most = cells(field::POOL_MOST).unwrap_or_else(|| most(now));
    (rule.limit, rule.floor) = match (shared, rule.alpha) {
        (false, _) => (guaranteed, 0),
        (true, None) => (guaranteed.saturating_add(most), 0),
        // Another limit stays until the threshold is written.
        (true, Some(_)) if now.alpha == rule.alpha => (now.limit, most),
        (true, Some(_)) => (u32::MAX, most),
    };
    Ok(rule)
}

fn setting(port: u16, queue: u8, rule: &ShareRule) -> Operation {
    let Reserve { pool, guaranteed, headroom } = rule.reserve;
    Operation::SetQueue(QueueSetting {
        port: Some(port),
        priority: Some(queue),
        limit_cells: Some(rule.limit),
        alpha: Some(Multiple(rule.alpha.unwrap_or(0))),
        base_cells: Some(rule.floor),
        pool: Some(pool),
        guaranteed_cells: Some(guaranteed),
        headroom_cells: Some(headroom),
        ..QueueSetting::default()
    })
}

/// A rule as numbers of a stored row.
fn stored(rule: &ShareRule) -> Row {
    let Reserve { pool, guaranteed, headroom } = rule.reserve;
    let alpha = rule.alpha.unwrap_or(0);
    let numbers = vec![rule.limit, alpha, rule.floor, pool.into(), guaranteed, headroom];
    Row::from([(BEFORE, Datum::Numbers(numbers))])
}

impl Writer<'_> {
    /// Sets the cells of a pool; a deleted setting leaves the first pool the rest of the buffer and
    /// another one nothing.
    pub(super) fn pool(
        &mut self,
        table: &Table,
        verb: Verb,
        key: &[u64],
        given: &Row,
    ) -> Result<(), Failure> {
        let pool = pool_of(key)?;
        let cells = if matches!(verb, Verb::Delete | Verb::Reset) {
            None
        } else {
            only_modify(table, verb)?;
            let Some(cells) = number_in(given, field::POOL_SIZE) else { return Ok(()) };
            Some(cells as u32)
        };
        self.apply(&Operation::SetBufferPool(BufferPool { pool, cells })).map(drop)
    }

    /// Deletes the settings of all pools.
    pub(super) fn clear_pools(&mut self) -> Result<(), Failure> {
        (0..MOST_POOLS as u8).try_for_each(|pool| {
            self.apply(&Operation::SetBufferPool(BufferPool { pool, cells: None })).map(drop)
        })
    }

    /// Sets the cells of a queue, or gives it those of the start.
    pub(super) fn queue_buffer(
        &mut self,
        table: &Table,
        verb: Verb,
        key: Vec<u64>,
        action: u32,
        given: &Row,
    ) -> Result<(), Failure> {
        let (port, queue) = self.queue_of(&key)?;
        let now = self.batch.switch().queue_settings(PortId(port), queue);
        let now = now.ok_or_else(|| no_queue(&key))?.share;
        let before = self.store.entry(table.id, &key);
        if matches!(verb, Verb::Delete | Verb::Reset) {
            let before = before.map(|entry| numbers_in(&entry.row, BEFORE)).unwrap_or_default();
            let [limit, alpha, floor, pool, guaranteed, headroom] = before[..] else {
                return Ok(());
            };
            let reserve = Reserve { pool: pool as u8, guaranteed, headroom };
            let alpha = (alpha > 0).then_some(alpha);
            let rule = ShareRule { limit, alpha, floor, reserve, ..now };
            self.apply(&setting(port, queue, &rule))?;
            self.keep(table, key, None);
            return Ok(());
        }
        only_modify(table, verb)?;
        let is_first = before.is_none();
        self.apply(&setting(port, queue, &rule(&now, action, given)?))?;
        if is_first {
            self.keep(table, key, Some(stored(&now)));
        }
        Ok(())
    }

    /// Gives all queues the cells of the start.
    pub(super) fn clear_buffers(&mut self, table: &Table) -> Result<(), Failure> {
        let keys = self.store.keys(table.id);
        keys.into_iter()
            .try_for_each(|key| self.queue_buffer(table, Verb::Reset, key, 0, &Row::new()))
    }

    /// Sets the queue of deflected packets of the addressed pipes.
    pub(super) fn pipe_config(
        &mut self,
        table: &Table,
        verb: Verb,
        mut given: Row,
    ) -> Result<(), Failure> {
        let own = [field::DROPS_GROUP, field::DROPS_QUEUE];
        let chosen: Row = own.iter().filter_map(|id| given.remove_entry(id)).collect();
        if let Some(mode) = given.remove(&field::REPORT_MODE) {
            self.report_mode(&mode)?;
        }
        self.assumed(table, verb, given)?;
        if chosen.is_empty() {
            return Ok(());
        }
        let count = self.count.max(1);
        for pipe in self.pipes.numbers(count) {
            let mut ports = self.batch.switch().statistics().ports;
            ports.retain(|port| count == 1 || usize::from(port.port.0 >> 7) == pipe);
            let row = self.merged(table, &[pipe as u64], chosen.clone());
            let key = own.map(|id| number_in(&row, id).unwrap_or(0));
            let found = port_and_queue(&ports, &key, &self.schema.chip);
            let (port, queue) = found.ok_or_else(|| no_queue(&key))?;
            self.apply(&Operation::SetDeflection(DeflectionQueue { port, queue }))?;
            self.keep(table, vec![pipe as u64], Some(row));
        }
        Ok(())
    }
}

//! Pools of the packet buffer and the shares of queues, while packets are in them.
//!
//! The cells of queues and of pools together never exceed the buffer: a change that would is refused
//! before it has an effect. The first pool has the rest, unless its cells are set. Must not
//! depend on the caller.

use super::Switch;
use super::reconfigure::QueueChange;
use crate::config::{ColorLimits, ConfigError, MOST_POOLS, carve};
use crate::tm::buffer_cells::{Pool, ShareRule};
use crate::tm::queue::Queue;
use sojourn_packet::PortId;

/// Changes of a queue's part of the packet buffer; what is absent stays as it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ShareChange {
    /// Tail-drop limit in cells.
    pub limit: Option<u32>,
    /// Millionths of the pool's free cells that it may hold; `Some(None)` ends the dynamic threshold.
    pub alpha: Option<Option<u32>>,
    /// Cells of the pool that a dynamic threshold leaves it.
    pub floor: Option<u32>,
    /// Its pool.
    pub pool: Option<u8>,
    /// Cells that it finds whatever others hold.
    pub guaranteed: Option<u32>,
    /// Cells for packets beyond its limit.
    pub headroom: Option<u32>,
    /// Lower limits for yellow and red packets; `Some(None)` takes them away.
    pub colors: Option<Option<ColorLimits>>,
}

impl ShareChange {
    /// The rule after the change.
    pub(super) fn applied_to(&self, mut rule: ShareRule) -> ShareRule {
        rule.limit = self.limit.unwrap_or(rule.limit);
        rule.alpha = self.alpha.unwrap_or(rule.alpha);
        rule.colors = self.colors.unwrap_or(rule.colors);
        rule.floor = self.floor.unwrap_or(rule.floor);
        let reserve = &mut rule.reserve;
        reserve.pool = self.pool.unwrap_or(reserve.pool);
        reserve.guaranteed = self.guaranteed.unwrap_or(reserve.guaranteed);
        reserve.headroom = self.headroom.unwrap_or(reserve.headroom);
        rule
    }
}

/// Place of a queue among the others, and its part of the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueSettings {
    /// Strict priority for bandwidth beyond the guaranteed rate, 0 to 7.
    pub level: u8,
    /// Weight among queues of equal priority.
    pub weight: u16,
    /// The control plane has paused it.
    pub paused: bool,
    /// Its scheduler node, where the chip has some.
    pub node: Option<u8>,
    /// It reports its depth.
    pub reports: bool,
    /// Cells that it may hold.
    pub share: ShareRule,
}

impl Switch {
    /// The pools of the packet buffer.
    ///
    /// ```
    /// use sojourn_packet::{Rate, Time};
    /// use sojourn_switch::{Change, CrossConnect, PortConfig, PortId, Switch, SwitchConfig};
    /// let mut config = SwitchConfig::default();
    /// config.ports = [1, 2].map(|port| PortConfig::front(PortId(port), Rate(1_000_000_000))).to_vec();
    /// let mut switch = Switch::new(config, Box::new(CrossConnect::between(PortId(1), PortId(2))))?;
    /// switch.change(Time::ZERO, &Change::Pool(1, Some(400)))?;
    /// assert_eq!(switch.pools().map(|pool| pool.size), [102_000, 400, 0, 0]);
    /// # Ok::<(), sojourn_switch::ConfigError>(())
    /// ```
    pub fn pools(&self) -> [Pool; MOST_POOLS] {
        *self.buffer.pools()
    }

    /// Bytes of a cell of the buffer.
    pub fn cell_bytes(&self) -> u32 {
        self.buffer.cell()
    }

    /// Settings of a queue, if there is one.
    pub fn queue_settings(&self, port: PortId, queue: u8) -> Option<QueueSettings> {
        let (port, queue) = (&self.ports[self.find_port(port)?], usize::from(queue));
        let found = port.queues.get(queue)?;
        Some(QueueSettings {
            level: port.level(queue),
            weight: port.weight(queue),
            paused: found.disabled,
            node: self.node_of(port, queue),
            reports: found.reports,
            share: found.share.rule(),
        })
    }

    /// Sets the cells of a pool; those that were set.
    pub(super) fn set_pool(
        &mut self,
        pool: u8,
        cells: Option<u32>,
    ) -> Result<Option<u32>, ConfigError> {
        let mut set = self.pools;
        let place = set.get_mut(usize::from(pool)).ok_or(ConfigError::NoPool(pool))?;
        let before = std::mem::replace(place, cells);
        let sizes = carve(self.buffer.total(), self.reserved(|_, _| ShareChange::default()), &set)?;
        self.pools = set;
        self.buffer.resize_pools(&sizes);
        Ok(before)
    }

    /// Checks that a change of queues leaves the buffer large enough.
    pub(super) fn check_shares(&self, change: &QueueChange) -> Result<(), ConfigError> {
        let share = change.share;
        let (port, queue) = (change.port.unwrap_or(PortId(0)), change.queue.unwrap_or(0));
        Queue::check_share(port, queue.into(), share.pool.unwrap_or(0), share.alpha.flatten())?;
        Queue::check_colors(port, queue.into(), share.colors.flatten())?;
        let changed = |port: PortId, queue: usize| {
            let is_wanted = change.port.is_none_or(|only| only == port)
                && change.queue.is_none_or(|only| usize::from(only) == queue);
            if is_wanted { share } else { ShareChange::default() }
        };
        carve(self.buffer.total(), self.reserved(changed), &self.pools).map(drop)
    }

    /// Gives a queue another rule.
    pub(super) fn set_rule(&mut self, port: usize, queue: usize, rule: ShareRule) {
        self.ports[port].queues[queue].share.set_rule(&mut self.buffer, rule);
    }

    /// Gives the pools their cells after a change that passed the check.
    pub(super) fn restore_pools(&mut self) {
        let reserved = self.reserved(|_, _| ShareChange::default());
        if let Ok(sizes) = carve(self.buffer.total(), reserved, &self.pools) {
            self.buffer.resize_pools(&sizes);
        }
    }

    /// Cells of the queues' own after a change of each.
    fn reserved(&self, changed: impl Fn(PortId, usize) -> ShareChange) -> u64 {
        let of_port = |port: &crate::tm::port::Port| {
            let queues = port.queues.iter().enumerate();
            let own = |(number, queue): (usize, &Queue)| {
                changed(port.id, number).applied_to(queue.share.rule()).reserve.cells()
            };
            queues.map(own).sum::<u64>()
        };
        self.ports.iter().map(of_port).sum()
    }
}

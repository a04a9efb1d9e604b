//! One queue: its discipline, its share of the buffer, its shapers and its counters.
//!
//! Uses the discipline for order and drops, and cells for space. Must not depend on the other
//! queues of its port, nor on the consumer of its packets.

use crate::config::{ColorLimits, ConfigError, MOST_ALPHA, MOST_POOLS, QueueConfig};
use crate::discipline::fifo::Fifo;
use crate::discipline::{Discipline, DropKind, Drops};
use crate::statistics::QueueStatistics;
use crate::tm::buffer_cells::{Buffer, Share, ShareRule};
use crate::tm::queue_pacing::Pace;
use crate::tm::queued_packet::{EnqueueRecord, Queued, counted_length};
use crate::tm::shaper::{TokenBucket, Unencodable};
use sojourn_packet::{Bytes, Packet, Time};
use sojourn_packet::{PortId, ShaperRegisters};

/// A queue of a port.
#[derive(Debug)]
pub(crate) struct Queue {
    pub discipline: Box<dyn Discipline>,
    /// The discipline is more than tail drop.
    pub managed: bool,
    pub share: Share,
    congestion: Option<[u32; 3]>,
    pub min_shaper: Option<TokenBucket>,
    pub max_shaper: Option<TokenBucket>,
    pub pace: Pace,
    pub packet_limit: Option<u32>,
    /// Advanced flow control has paused it.
    pub paused: bool,
    /// The control plane has paused it.
    pub disabled: bool,
    /// It reports its depth.
    pub reports: bool,
    /// Packets that the discipline holds.
    packets: u32,
    pub statistics: QueueStatistics,
}

/// The space that an arriving packet finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum QueueSpace {
    None,
    Free,
    /// Others are to be dropped for it.
    OfOthers,
}

impl Queue {
    /// Queue `number` of a port.
    pub fn new(
        number: u8,
        config: &QueueConfig,
        discipline: Option<Box<dyn Discipline>>,
        shapers: ShaperRegisters,
    ) -> Result<Queue, Unencodable> {
        let bucket = |c: &Option<_>| c.as_ref().map(|c| TokenBucket::new(c, shapers)).transpose();
        Ok(Queue {
            managed: discipline.is_some(),
            discipline: discipline.unwrap_or_else(|| Box::new(Fifo::default())),
            share: Share::with_rule(ShareRule {
                limit: config.limit,
                colors: config.colors,
                alpha: config.alpha,
                floor: config.floor,
                reserve: config.reserve,
                class: config.active.then_some(number),
            }),
            congestion: config.congestion,
            min_shaper: bucket(&config.min_shaper)?,
            max_shaper: bucket(&config.max_shaper)?,
            pace: Pace::new(config.packet_pace, config.bit_pace),
            packet_limit: config.packet_limit,
            paused: false,
            disabled: config.paused,
            reports: config.reports,
            packets: 0,
            statistics: QueueStatistics::default(),
        })
    }

    /// Checks a strict priority.
    pub fn check_level(
        port: PortId,
        queue: usize,
        what: &'static str,
        level: u8,
    ) -> Result<(), ConfigError> {
        let (value, allowed) = (u64::from(level), "0 to 7");
        if level <= 7 {
            return Ok(());
        }
        Err(ConfigError::QueueValue { port, queue, what, value, allowed })
    }

    /// Checks the values of a configuration that have a range.
    pub fn check(port: PortId, queue: usize, config: &QueueConfig) -> Result<(), ConfigError> {
        let refused = |what, value, allowed| {
            Err(ConfigError::QueueValue { port, queue, what, value, allowed })
        };
        Queue::check_level(port, queue, "priority", config.priority)?;
        Queue::check_level(port, queue, "min_priority", config.min_priority)?;
        if config.packet_pace == Some(0) {
            return refused("rate in packets/s", 0, "1 or more");
        }
        if config.bit_pace.is_some_and(|rate| rate.0 == 0) {
            return refused("rate in bit/s", 0, "1 or more");
        }
        Queue::check_share(port, queue, config.reserve.pool, config.alpha)?;
        Queue::check_colors(port, queue, config.colors)?;
        Queue::check_weight(port, queue, config.weight)?;
        if let Some([red, yellow, green]) = config.congestion
            && (red > yellow || yellow > green)
        {
            return refused("congestion threshold", u64::from(yellow), "an ascending list");
        }
        Ok(())
    }

    /// Checks limits by colour.
    pub fn check_colors(
        port: PortId,
        queue: usize,
        colors: Option<ColorLimits>,
    ) -> Result<(), ConfigError> {
        let of_colors = colors.map(|colors| [colors.yellow, colors.red]);
        for eighths in of_colors.into_iter().flatten() {
            if !(1..=8).contains(&eighths) {
                let (what, value) = ("colour limit", u64::from(eighths));
                let allowed = "1 to 8 eighths";
                return Err(ConfigError::QueueValue { port, queue, what, value, allowed });
            }
        }
        Ok(())
    }

    /// Checks the pool and the multiple of a dynamic threshold.
    pub fn check_share(
        port: PortId,
        queue: usize,
        pool: u8,
        alpha: Option<u32>,
    ) -> Result<(), ConfigError> {
        let refused = |what, value: u64, allowed| {
            Err(ConfigError::QueueValue { port, queue, what, value, allowed })
        };
        if usize::from(pool) >= MOST_POOLS {
            return refused("pool", pool.into(), "0 to 3");
        }
        match alpha {
            Some(alpha) if alpha > MOST_ALPHA => {
                refused("alpha in millionths", alpha.into(), "up to 1024 times the free cells")
            }
            _ => Ok(()),
        }
    }

    /// Checks a weight.
    pub fn check_weight(port: PortId, queue: usize, weight: u16) -> Result<(), ConfigError> {
        if weight > 1023 {
            let (what, value, allowed) = ("weight", u64::from(weight), "0 to 1023");
            return Err(ConfigError::QueueValue { port, queue, what, value, allowed });
        }
        Ok(())
    }

    /// Congestion status at the present depth: 0 below red, 1 below yellow, 2 below green, 3 above
    /// (TNA p. 30).
    pub fn congestion(&self) -> u8 {
        let Some(thresholds) = self.congestion else { return 0 };
        let depth = self.share.usage().cells;
        thresholds.iter().filter(|&&t| depth >= t).count() as u8
    }

    /// True if the scheduler must not take its packets.
    pub fn is_paused(&self) -> bool {
        self.paused || self.disabled
    }

    pub fn is_empty(&self) -> bool {
        self.packets == 0
    }

    /// Packets in it.
    pub fn packets(&self) -> u32 {
        self.packets
    }

    /// True if nothing but the port's scheduler decides when its packets go.
    pub fn is_unshaped(&self) -> bool {
        self.min_shaper.is_none() && self.max_shaper.is_none() && self.pace.is_none()
    }

    /// Takes a packet in and out of an empty queue without management; false, and nothing has
    /// happened, if there is no room for it.
    #[inline]
    pub fn pass_through(&mut self, packet: &Packet, color: u8, buffer: &mut Buffer) -> bool {
        debug_assert!(self.is_empty() && !self.managed);
        let cells = buffer.cells_of(counted_length(packet));
        if self.packet_limit == Some(0) || !self.share.admit(buffer, cells, color) {
            return false;
        }
        self.share.release(buffer, cells);
        self.statistics.enqueued.add(packet.len());
        self.statistics.dequeued.add(packet.len());
        true
    }

    /// The same of a packet for an egress pass, in which is noted down what it has found.
    #[inline]
    pub fn note_passage(&mut self, now: Time, packet: &mut Queued, buffer: &mut Buffer) -> bool {
        let (depth, packets, congestion) = (self.share.usage().cells, 0, self.congestion());
        packet.enqueued = now;
        packet.noted = EnqueueRecord { depth, packets, congestion, ..packet.noted };
        self.pass_through(&packet.packet, packet.noted.color, buffer)
    }

    /// Finds room for a packet that comes, and notes down in it what it has found.
    #[inline(always)]
    pub fn find_room(&mut self, now: Time, packet: &mut Queued, buffer: &mut Buffer) -> QueueSpace {
        let cells = buffer.cells_of(packet.length());
        packet.enqueued = now;
        packet.noted.depth = self.share.usage().cells;
        packet.noted.packets = self.packets;
        packet.noted.congestion = self.congestion();
        let full = self.packet_limit.is_some_and(|limit| packet.noted.packets >= limit);
        let color = packet.noted.color;
        let room = if !full && self.share.admit(buffer, cells, color) {
            QueueSpace::Free
        } else if self.discipline.sheds() && self.share.admit_beyond(buffer, cells, color) {
            QueueSpace::OfOthers
        } else {
            return QueueSpace::None;
        };
        packet.noted.cells = cells;
        self.statistics.enqueued.add(packet.size());
        room
    }

    /// The discipline has taken in a packet that had room, and may have dropped it or others into
    /// `drops`; where it has the room of others, they go now. Room is given back when drops are settled.
    #[inline]
    pub fn enqueued(&mut self, room: QueueSpace, drops: &mut Drops) {
        while room == QueueSpace::OfOthers && self.is_over(drops) {
            self.discipline.shed(drops);
        }
        self.count(drops, self.packets + 1);
    }

    /// Notes how many packets it has: `expected`, unless the discipline has dropped some.
    #[inline]
    fn count(&mut self, drops: &Drops, expected: u32) {
        let untouched = drops.is_empty();
        self.packets = if untouched { expected } else { self.discipline.packets() as u32 };
        debug_assert_eq!(self.packets as usize, self.discipline.packets());
    }

    /// Whether it holds more than there is room for, without what `drops` will give back.
    fn is_over(&self, drops: &Drops) -> bool {
        let given_back: u32 = drops.iter().map(|packet| packet.noted.cells).sum();
        let held = self.discipline.packets();
        let over = self.packet_limit.is_some_and(|limit| held > limit as usize);
        held > 0 && (over || self.share.excess() > given_back)
    }

    /// The discipline has given the next packet to be sent, or none. Drops that it made on the way are
    /// in `drops`; they happen before transmission and hold neither tokens nor the wire, unlike those of
    /// a P4 program in egress.
    #[inline]
    pub fn dequeued(&mut self, packet: Option<&Queued>, buffer: &mut Buffer, drops: &Drops) {
        self.count(drops, self.packets - u32::from(packet.is_some()));
        if let Some(packet) = packet {
            self.share.release(buffer, packet.noted.cells);
            self.statistics.dequeued.add(packet.size());
        }
    }

    /// Gives the room of a dropped packet back and counts it.
    pub fn settle(&mut self, dropped: &Queued, kind: DropKind, buffer: &mut Buffer) {
        let size: Bytes = dropped.size();
        let had_room = dropped.noted.cells > 0;
        if had_room {
            self.share.release(buffer, dropped.noted.cells);
        }
        match kind {
            DropKind::Tail => {
                // Refused by the discipline after room had been found: it never was in the queue.
                if had_room {
                    self.statistics.enqueued.packets -= 1;
                    self.statistics.enqueued.bytes -= size.0;
                }
                self.statistics.tail_drops.add(size);
            }
            DropKind::Aqm => self.statistics.discipline_drops.add(size),
        }
    }
}
